import functools
import json

import torch
from in_the_page import assert_close, tensor
from torch import Tensor

from course_lib import mechanics

from .scraped import Found, near, number_in, scraper

READ = scraper("""
  const cursor = one(".cw-cursor");
  return {
    time: dataOf("time"),
    cursor: (Number(/^M([^ ]+) /.exec(cursor.getAttribute("d"))[1]) - 66)
      / (cursor.ownerSVGElement.viewBox.baseVal.width - 76),
    moments: all(".cw-moment", (dot) => numbersOf(dot, "cx", "cy")),
    bodies: Object.fromEntries(all(".cw-body", (body) => [body.dataset.run,
      [...body.querySelectorAll("circle")].map((e) => numbersOf(e, "cx", "cy"))])),
    rows: all(".cw-drift-list tbody tr:not(.cw-drift-off)", cellsOf),
    "so far": all(".cw-drift-list th").some((text) => text.endsWith("so far")),
  };
""")


# Cached, since most operations change few runs.
@functools.cache
def trajectory(
    *,
    system: str,
    parameters: str,
    q: tuple[float, ...],
    p: tuple[float, ...],
    dt: float,
    steps: int,
    method: str,
) -> tuple[Tensor, Tensor]:
    """States and relative energy errors of a run; the system's ``parameters`` are JSON."""
    try:
        run = mechanics.integrate(
            getattr(mechanics, system)(**json.loads(parameters)),
            tensor(q),
            tensor(p),
            dt=dt,
            steps=steps,
            method=getattr(mechanics, method),
        )
    except mechanics.IntegrationError as error:
        run = error.trajectory
    kept = int(run.energy.isfinite().long().cumprod(0).sum())
    energy = run.energy[:kept]
    error = (energy - energy[0]).abs() / (energy[0].abs() or 1)
    return torch.cat((run.q, run.p), -1)[:kept], error


def parts_of(text: str) -> float:
    """The error in per cent that ``text`` contains: 62 %, 7,600 %, 2.5·10⁻⁴ %, > 10⁶ %."""
    assert text.endswith((" %", "\xa0%"))
    return 1e4 if text.startswith(">") else number_in(text) / 100


def displayed(state: Found, motion: Found) -> None:
    spec = next(spec for spec in state["systems"] if spec["name"] == state["system"])
    run = {name: state[name] for name in ("system", "dt", "steps")}
    run["parameters"] = json.dumps(spec["parameters"])
    end = state["dt"] * state["steps"]
    assert 0 <= motion["time"] <= end
    near(motion["cursor"], motion["time"] / end)
    names, told = dict(state["method_names"]), dict(motion["rows"])
    methods = [method for method in names if method in state["methods"]]
    assert [*told][: len(methods)] == [names[method] for method in methods]
    for method in methods:
        # In a chaotic orbit rounding decides; a slightly moved start shows the significant digits.
        starts = [{n: tuple((state[n] * (1 + by)).tolist()) for n in "qp"} for by in (0, 1e-13)]
        errors, others = (trajectory(**run, **start, method=method)[1] for start in starts)
        largest = told[names[method]]
        if motion["so far"]:
            if not largest.startswith(">"):
                seen = errors[: int(motion["time"] / state["dt"] + 1e-6) + 1]
                assert parts_of(largest) >= 0.949 * float(seen.max())
        elif len(errors) < state["steps"] + 1 or largest.startswith("lost"):
            assert largest.startswith("lost at")
            lost = int(largest.removeprefix("lost at "))
            # Rounding slightly changes the rate of unbounded growth.
            slack = 2 + 0.01 * lost + 10 * abs(len(errors) - len(others))
            assert abs(lost - min(len(errors), len(others))) <= slack
        elif largest.startswith(">"):
            assert errors.max() > 1e4
        elif len(others) == len(errors):
            doubt = 1e-12 + 100 * abs(float(errors.max() - others.max()))
            assert_close(parts_of(largest), errors.max(), rtol=0.051, atol=doubt)
