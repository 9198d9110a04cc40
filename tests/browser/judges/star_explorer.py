"""StarExplorer: compare its display with course_lib."""

import re
from typing import Any

import numpy as np
import pytest
import torch
from in_the_page import tensor
from playwright.sync_api import Locator
from reading import agrees, state_of
from torch import Tensor

from course_lib.light_curves import (
    HarmonicFit,
    LightCurves,
    fit_harmonics,
    frequency_grid,
    lomb_scargle,
    phase,
    reconstruction_error,
)
from course_lib.models.stars import posterior_at_period
from course_lib.widgets.star_explorer import astromer_of, believed

from .scraped import assert_said, scraper

REACH = 1.96  # deviations, within which a normal variable lies in 95 % of cases
PIXEL = 0.06  # half a tenth of a pixel, to which paths are rounded, and a little

READ = scraper(r"""
  const path = (name, selector) =>
    one(`[data-measure=${name}] ${selector}`)?.getAttribute("d") ?? "";
  const panel = (name) => ({
    frame: numbersOf(one(`[data-measure=${name}] clipPath rect`), "x", "y", "width", "height"),
    seen: path(name, ".cw-s-seen"),
    hidden: path(name, ".cw-s-hidden"),
    guesses: Object.fromEntries(all(`[data-measure=${name}] .cw-s-guess`, (guess) =>
      [guess.dataset.way, guess.getAttribute("d")])),
  });
  return {
    time: panel("time"),
    phase: panel("phase"),
    period: dataOf("period"),
    marks: all(".cw-s-mark", (mark) => Number(mark.dataset.frequency)),
    explained: dataOf("explained"),
    errors: Object.fromEntries(all("td[data-way]", (cell) => [cell.dataset.way, cell.textContent])),
    names: all("[data-measure=power] .cw-s-small"),
    told: one(".cw-s-told").textContent.replace(/\s+/g, " ").trim(),
    band: path("phase", ".cw-s-band[data-way=waves]"),
    doubt: path("phase", ".cw-s-band[data-way=astromer]"),
    held: Object.fromEntries(all("td[data-held]", (cell) => [cell.dataset.held, cell.textContent])),
    turn: dataOf("turn"),
  };
""")


def curve_of(state: dict[str, Any]) -> LightCurves:
    """The star that is shown, from the traits of the page."""
    star, nights = state["star"], state["nights"][state["star"]]
    rows = (state[name][star : star + 1, :nights] for name in ("time", "magnitude", "error"))
    return light_curve(*rows)


def light_curve(*columns: Tensor) -> LightCurves:
    """A curve without hidden nights."""
    return LightCurves(*columns, torch.ones(columns[0].shape, dtype=torch.bool))


def points_of(path: str) -> np.ndarray:
    """The start of each piece of a path, in pixels."""
    return np.array(re.findall(r"M(-?[\d.]+) (-?[\d.]+)", path), dtype=float).reshape(-1, 2)


def assert_places(
    panel: dict[str, Any], what: np.ndarray, x: Tensor, y: Tensor, ends: tuple[float, float]
) -> None:
    """Assert that the drawing has dates ``x``, within its ends, and magnitudes ``y``."""
    left, top, width, height = panel["frame"]
    low, high = ends
    bright, faint = panel["ends"]
    across = left + width * (x.numpy() - low) / (high - low)
    down = top + height * (y.numpy() - bright) / (faint - bright)
    np.testing.assert_allclose(what, np.stack([across, down], axis=1), rtol=0, atol=PIXEL)


def between_neighbours(curve: LightCurves, hidden: Tensor) -> Tensor:
    time, magnitude = curve.time[0].numpy(), curve.magnitude[0].numpy()
    seen = ~hidden[0].numpy()
    return torch.from_numpy(np.interp(time, time[seen], magnitude[seen]))[None]


def displayed(widget: Locator) -> None:
    state, page = state_of(widget), widget.evaluate(READ)
    curve, period = curve_of(state), page["period"]
    count = curve.time.shape[1]
    hidden = torch.zeros(1, count, dtype=torch.bool)
    hidden[0, state["hidden"]] = True
    columns = curve.time, curve.magnitude, curve.error
    turns = phase(curve.time, tensor([period]))

    fit = fit_harmonics(*columns, tensor([1 / period]), seen=~hidden)
    guesses = {"line": between_neighbours(curve, hidden), "waves": fit.at(curve.time)}
    guesses |= astromers(page, state, curve, hidden)

    bright, faint = curve.magnitude.min(), curve.magnitude.max()
    room = 0.06 * float(faint - bright)
    ends = float(bright) - room, float(faint) + room
    days = float(curve.time[0, -1])
    for name, x, span in (
        ("time", curve.time[0], (-0.02 * days, 1.02 * days)),
        ("phase", torch.cat([turns[0], turns[0] + 1]), (0.0, 2.0)),
    ):
        page[name]["ends"] = ends
        panel, copies = page[name], 1 if name == "time" else 2
        magnitude, away = curve.magnitude[0].repeat(copies), hidden[0].repeat(copies)
        assert_places(panel, points_of(panel["seen"]), x[~away], magnitude[~away], span)
        assert_places(panel, points_of(panel["hidden"]), x[away], magnitude[away], span)
        for way, path in panel["guesses"].items():
            # A diamond begins at its left corner, a dash at its upper one.
            shift = {"astromer": (4.5, 0.0), "line": (5.0, 1.2)}[way]
            guessed = guesses[way][0].repeat(copies)[away]
            assert_places(panel, points_of(path) + shift, x[away], guessed, span)
        assert set(panel["guesses"]) == (guesses.keys() - {"waves"} if hidden.any() else set())

    # The highest peak is hidden until it was found.
    assert bool(page["marks"]) == bool(page["names"])
    if page["marks"]:
        assert_peak(page["marks"], state, columns, ~hidden)
    assert page["errors"].keys() == (guesses.keys() if hidden.any() else set())
    for way, text in page["errors"].items():
        assert agrees(text, reconstruction_error(guesses[way], curve.magnitude, hidden))
    share = explained_by(fit, columns, ~hidden)
    np.testing.assert_allclose(page["explained"], share, rtol=0, atol=1e-4)
    assert_night(page["told"], state, curve, turns)
    assert_believed(page, state, curve, hidden)


def astromers(
    page: dict[str, Any], state: dict[str, Any], curve: LightCurves, hidden: Tensor
) -> dict[str, Tensor]:
    """ASTROMER's prediction, if there is one, and its number of right hidden nights."""
    if not state["facts"]:
        return {}
    model = astromer_of(state["facts"], state["weights"])
    unit = tensor([page["period"] if state["clock"] == "turns" else 1.0])
    clocked = curve.in_turns(unit)
    belief = believed(model, clocked, clocked.time, hidden=hidden)
    if hidden.any():
        assert page["held"]["doubt"] == held_by(belief, curve, hidden)
    return {"astromer": belief[0]}


def held_by(belief: tuple[Tensor, Tensor], curve: LightCurves, hidden: Tensor) -> str:
    """The number of hidden nights within 1.96 deviations, with their own errors added."""
    said, spread = belief
    off = (said - curve.magnitude).abs() / (spread.square() + curve.error.square()).sqrt()
    return f"{int((off[hidden] < REACH).sum())} of {int(hidden.sum())}"


def assert_believed(
    page: dict[str, Any], state: dict[str, Any], curve: LightCurves, hidden: Tensor
) -> None:
    """Assert that the waves' band over two turns is 1.96 deviations wide on each side."""
    assert bool(page["band"]) == bool(state["prior"])
    if not state["prior"]:
        return
    period = tensor([page["period"]])
    options = {"variance": tensor(state["prior"]), "hidden": hidden}
    turns = torch.linspace(0, 2, 121, dtype=torch.float64)
    around = posterior_at_period(curve, period, turns[None] * period, **options)
    said, spread = (part[0] for part in around)
    edge = torch.cat([said - REACH * spread, (said + REACH * spread).flip(0)])
    drawn = np.array(re.findall(r"(-?[\d.]+) (-?[\d.]+)", page["band"]), dtype=float)
    assert_places(page["phase"], drawn, torch.cat([turns, turns.flip(0)]), edge, (0.0, 2.0))
    if hidden.any():
        belief = posterior_at_period(curve, period, curve.time, **options)
        assert page["held"]["band"] == held_by(belief, curve, hidden)


def explained_by(fit: HarmonicFit, columns: tuple[Tensor, ...], seen: Tensor) -> float:
    """The share of the weighted variance that a fit explains."""
    _, magnitude, error = (column[seen] for column in columns)
    weight = error**-2
    mean = (weight * magnitude).sum() / weight.sum()
    return 1 - (fit.chi_square / (weight * (magnitude - mean).square()).sum()).item()


def assert_peak(
    marks: list[float], state: dict[str, Any], columns: tuple[Tensor, ...], seen: Tensor
) -> None:
    """Assert that the mark is near the highest trial frequency, and its aliases a day away."""
    *aliases, highest = marks
    within = state["within"]
    days = float(columns[0][0, -1])
    grid = frequency_grid(days, highest=within["highest"], oversampling=within["oversampling"])
    best = grid[lomb_scargle(*columns, grid, seen=seen)[0].argmax()]
    assert abs(highest - best) <= float(grid[1] - grid[0])
    expected = [abs(1 - highest), 1 + highest, abs(2 - highest), 2 + highest]
    assert aliases == pytest.approx([f for f in expected if 0 < f < within["highest"]])


def assert_night(told: str, state: dict[str, Any], curve: LightCurves, turns: Tensor) -> None:
    """Assert that the described night is in the data."""
    found = re.match(
        r"Night (\d+) of \d+(, hidden)?: day (\S+), phase (\S+), (\S+) ± (\S+) mag", told
    )
    if not found:
        assert state["night"] < 0
        return
    night = int(found[1]) - 1
    assert bool(found[2]) == (night in state["hidden"])
    columns = curve.time, turns, curve.magnitude, curve.error
    assert_said(found.groups()[2:], [values[0, night] for values in columns])
