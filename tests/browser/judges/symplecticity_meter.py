import numpy as np
import pytest
import torch
from broken_claims import Force, asymmetry, force_of
from in_the_page import assert_close, tensor
from reading import agrees
from torch import Tensor

from course_lib import symplectic

from .scraped import Found, assert_said, near, scraper

DT = 0.02

READ = scraper("""return {
  ...one(".cw-meter-stage").dataset,
  told: all(".cw-readout output"),
  readings: readings(),
  outcome: one("[data-outcome]").dataset.outcome,
  title: one("[data-outcome] strong").textContent,
};""")


def windows(z: Tensor, places: Tensor) -> Tensor:
    path = z.repeat(len(places), 1, 1)
    path[:, -1] = places
    return path


def work_along(force: Force, path: Tensor) -> Tensor:
    r"""The work up to each point of a path of straight pieces, by 8 Gauss–Legendre nodes."""
    nodes, weights = map(torch.tensor, np.polynomial.legendre.leggauss(8))
    piece = path.diff(dim=0)
    at = path[:-1] + ((nodes + 1) / 2).reshape(-1, *[1] * path.ndim) * piece
    work = weights @ (force(at) * piece).flatten(2).sum(-1) / 2
    return torch.cat([work.new_zeros(1), work.cumsum(0)])


def round_trip(force: Force, z: Tensor, corners: Tensor) -> Tensor:
    """The work up to each corner of a closed loop of the last token, and on closing it."""
    return work_along(force, windows(z, torch.cat([corners, corners[:1]])))


def ride_to(corners: Tensor, travelled: float) -> tuple[Tensor, int]:
    """The path from the first corner to the last token, and the full rounds before it."""
    ring = torch.cat([corners, corners[:1]])
    far = torch.cat([torch.zeros(1), ring.diff(dim=0).norm(dim=-1).cumsum(0)])
    rounds = int(travelled // far[-1])
    rest = travelled - rounds * far[-1]
    last = int((far[1:-1] <= rest).sum())
    share = (rest - far[last]) / (far[last + 1] - far[last])
    end = ring[last] + share * (ring[last + 1] - ring[last])
    return torch.cat([ring[: last + 1], end[None]]), rounds


def pairs(text: str) -> Tensor:
    return tensor([float(x) for x in text.split()]).reshape(-1, 2)


def displayed(state: Found, found: Found) -> None:
    force = force_of(state["A"], state["softmax"], state["formula"])
    assert agrees(found["readings"]["asymmetry"], asymmetry(force, state["z"]))
    places = pairs(found["places"])
    near(pairs(found["forces"]), force(places))
    (loop_displayed if state["experiment"] == "loop" else free_displayed)(state, found, force)


def loop_displayed(state: Found, found: Found, force: Force) -> None:
    z, loop, travelled = state["z"], state["loop"], float(found["travelled"])
    start = (loop - pairs(found["start"])).norm(dim=-1).argmin()
    corners = loop.roll(-int(start), 0)
    works = round_trip(force, z, corners)
    needs = [-works.diff().roll(-other).cumsum(0).min() for other in range(len(loop))]
    assert max(0, needs[0]) <= max(0, min(needs)) + 1e-6
    way, rounds = ride_to(corners, travelled)
    work = rounds * works[-1] + work_along(force, windows(z, way))[-1]
    length = (corners.roll(-1, 0) - corners).norm(dim=-1).sum()
    turns, told = found["told"]
    assert_said([turns, told.removeprefix("+")], [abs(travelled / length), work])
    near(pairs(found["places"]), windows(z, way[-1:])[0])
    if found["outcome"] != "open":
        closes = bool(works[-1].abs() <= 1e-7 * works.diff().abs().sum())
        assert found["outcome"] == ("good" if closes else "bad")


def free_displayed(state: Found, found: Found, force: Force) -> None:
    q, p, energies = state["z"], torch.zeros_like(state["z"]), []
    for n in range(int(float(found["time"]) / DT + 1e-6) + 1):
        if n:
            p = p + DT / 2 * (force(q) - q)
            q = q + DT * p
            p = p + DT / 2 * (force(q) - q)
        potential = symplectic.attention_potential(q, state["A"], softmax=state["softmax"])
        energies.append((p.square().sum() + q.square().sum()) / 2 + potential)
    share = torch.stack(energies) / energies[0]
    assert agrees(found["told"][0], 100 * share[-1])
    assert_close(pairs(found["places"]), q, rtol=1e-5, atol=1e-5)
    off = float((share - 1).abs().max())
    if off < 0.009 or off > 0.011:
        assert (found["outcome"] == "bad") == (off > 0.01)
    if found["outcome"] == "bad":
        assert float(found["title"].split()[-2]) == pytest.approx(100 * off, abs=0.51)
