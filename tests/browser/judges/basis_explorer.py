from collections.abc import Callable
from functools import partial

import torch
from in_the_page import tensor
from torch import Tensor

from course_lib.basis import hat, interpolate, softmax_basis, solve
from course_lib.widgets.basis_explorer.basis_explorer import DRAWN, MOST, field_of, read_off

from .scraped import Found, assert_said, near, scraper

Basis = Callable[..., Tensor]
SWING = 50.0
FLAME = 2.5
READ = scraper("""
  const pointsOf = (e) =>
    e.getAttribute("d").slice(1).split("L").map((at) => at.split(",").map(Number));
  return {
    flame: dataOf("flame"),
    warmth: dataOf("warmth"),
    here: all("[data-reading=here] strong"),
    error: all("[data-reading=error] strong"),
    keeps: one(".cw-verdict")?.dataset.outcome,
    shared: all("[data-basis] p", (p) => p.textContent.replace(/.*shared by /s, "")),
    at: all(".cw-b-at strong"),
    most: all("[data-most]", (e) => Number(e.dataset.most)),
    tall: one("[data-measure=load] svg")?.viewBox.baseVal.height,
    lines: Object.fromEntries(all("[data-line]", (e) => [e.dataset.line, pointsOf(e)])),
  };
""")


def grid(places: int) -> Tensor:
    return torch.linspace(0, 1, places, dtype=torch.float64)


def expected(state: Found, softmax: Basis) -> Found:
    """The expected nodes: the weights at the query, and each line at its points."""
    query = tensor([state["query"]])
    nodes, values = state["points"].T.contiguous()
    x = torch.cat([grid(249), nodes]).unique()
    wanted = tensor(read_off(x.numpy())[:, 1])
    bases = {"hats": hat, "softmax": softmax}
    lines = {name: interpolate(x, nodes, values, basis) for name, basis in bases.items()}
    return {
        "x": x,
        "lines": {"wanted": wanted, **lines},
        "weights": [basis(query, nodes)[0] for basis in bases.values()],
        "error": [(line - wanted).abs().max().item() for line in lines.values()],
        "here": [interpolate(query, nodes, values, basis) for basis in bases.values()],
    }


def expected_rod(state: Found, softmax: Basis) -> Found:
    model = field_of(state["facts"], state["weights"]).double()
    query, x, sensors = tensor([state["query"]]), grid(DRAWN), grid(state["facts"]["sensors"])
    drawn = [state["log_conductivity"], state["load"]]
    told = [interpolate(sensors, x, curve) for curve in drawn]

    def solution(mesh: Tensor, places: Tensor, curves: list[Tensor]) -> Tensor:
        k, f = (partial(interpolate, nodes=places, values=curve) for curve in curves)
        return solve(lambda at: k(at).exp(), f, mesh)

    wanted = solution(grid(2 * DRAWN - 1), x, drawn)[::2]
    nodal, z = solution(sensors, sensors, told), torch.stack(told, dim=-1)
    with torch.no_grad():
        lines = {
            "hats": interpolate(x, sensors, nodal),
            "softmax": interpolate(x, sensors, nodal, softmax),
            "learned": model(x, sensors, z),
        }
        head = model.weights(query, sensors, z)[state["head"], 0]
    return {
        "x": x,
        "lines": {"wanted": wanted, **lines},
        "weights": [hat(query, sensors)[0], softmax(query, sensors)[0], head],
        "error": [100 * ((y - wanted).norm() / wanted.norm()).item() for y in lines.values()],
        "here": [],
    }


def warmed(load: Tensor, share: float) -> Tensor:
    """The load with a flame at a share of its way, which Python does not have."""
    away = grid(DRAWN) - (1.3 * share - 0.15)
    return (load + FLAME * (-((away / 0.07) ** 2) / 2).exp()).clamp(-MOST, MOST)


def displayed(state: Found, found: Found) -> None:
    flame, warmth, of_rod = found["flame"], found["warmth"], state["mode"] == "rod"
    if 0 < flame <= 1:
        state["load"] = warmed(state["load"], flame)
    elif flame:
        # The plug takes from the logarithm of k what the flame has added to the heat.
        state["log_conductivity"] = -warmed(-state["log_conductivity"], flame - 1)
    assert 1 / (1.01 * SWING) < warmth / state["temperature"] < 1.01 * SWING
    softmax = partial(softmax_basis, temperature=warmth)
    said = (expected_rod if of_rod else expected)(state, softmax)
    near(found["most"], [weights.max() for weights in said["weights"]])
    assert_said(found["shared"], (1 / weights.square().sum() for weights in said["weights"]))
    assert_said(found["error"], said["error"])
    assert_said(found["at"], (state["query"], warmth))
    assert_said(found["here"], said["here"])
    assert_lines(found["lines"], said["x"], said["lines"])
    if of_rod:
        # Both curves are as drawn, with zero at the middle of their panel.
        half = found["tall"] / 2
        for name in ("log_conductivity", "load"):
            up = half - tensor(found["lines"][name])[:, 1]
            near(up, state[name] * half / 3.8, atol=0.06)
        usual = state["facts"]["error"]
        kept = usual is not None and said["error"][2] <= 100 * 2 * usual
        assert found["keeps"] == (None if usual is None else "good" if kept else "bad")


def assert_lines(found: Found, x: Tensor, lines: dict[str, Tensor]) -> None:
    """Assert that all lines share one scale, which the lowest and the highest point determine.

    Points less far from each other, such as those of a line that is nearly flat, would stretch
    the rounding of the page to pixels.
    """
    drawn = [tensor(found[name]) for name in lines]
    value, pixel = torch.cat([*lines.values()]), torch.cat([points[:, 1] for points in drawn])
    low, high = int(value.argmin()), int(value.argmax())
    if value[high] - value[low] < 1e-9:
        return
    rate = (pixel[high] - pixel[low]) / (value[high] - value[low])
    assert rate < 0
    near(pixel, pixel[low] + rate * (value - value[low]), atol=0.2)
    for points in drawn:
        across = points[:, 0] - points[0, 0]
        near(across / across[-1], x, atol=1e-3)
