"""StarExplorer: a small one, what it displays, and what course_lib says it should."""

import re
from typing import Any

import numpy as np
import torch
from in_the_page import tensor
from playwright.sync_api import Locator
from reading import agrees, state_of
from small_widgets import astromer, watched_stars
from torch import Tensor

from course_lib.astromer import reconstruction_error
from course_lib.light_curves import LightCurves, phase
from course_lib.periodogram import fit_harmonics, frequency_grid, lomb_scargle
from course_lib.widgets import StarExplorer
from course_lib.widgets.star_explorer import astromer_of, filled_in

PIXEL = 0.06  # half a tenth of a pixel, to which paths are rounded, and a little

READ = """(el) => {
  const frame = (name) => {
    const { x, y, width, height } = el.querySelector(`[data-measure=${name}] clipPath rect`);
    return [x, y, width, height].map((length) => length.baseVal.value);
  };
  const path = (name, selector) =>
    el.querySelector(`[data-measure=${name}] ${selector}`)?.getAttribute("d") ?? "";
  const panel = (name) => ({
    frame: frame(name), seen: path(name, ".cw-s-seen"), hidden: path(name, ".cw-s-hidden"),
    guesses: Object.fromEntries([...el.querySelectorAll(`[data-measure=${name}] .cw-s-guess`)].map(
      (path) => [path.dataset.way, path.getAttribute("d")])),
  });
  const disc = el.querySelector(".cw-s-disc");
  return {
    time: panel("time"),
    phase: panel("phase"),
    period: Number(el.querySelector("[data-period]").dataset.period),
    marks: [...el.querySelectorAll(".cw-s-mark")].map((mark) => Number(mark.dataset.frequency)),
    errors: Object.fromEntries([...el.querySelectorAll("td[data-way]")].map((cell) =>
      [cell.dataset.way, cell.textContent])),
    caption: el.querySelector(".cw-s-errors caption").textContent,
    told: el.querySelector(".cw-s-told").textContent,
    radius: Number(disc.getAttribute("r")),
    turn: Number(el.querySelector("[data-turn]").dataset.turn),
  };
}"""
LARGEST = 34


def make(name: str = "Ada") -> StarExplorer:
    return StarExplorer(
        watched_stars((name, "Algol", "Polaris")),
        astromer=astromer(),
        clock="turns",
        period=1.3,
        night=3,
        hidden=[2, 5, 6],
        moving=False,
    )


def curve_of(state: dict[str, Any]) -> LightCurves:
    """The star that is shown, from the traits of the page."""
    star, nights = state["star"], state["nights"][state["star"]]
    rows = (state[name][star : star + 1, :nights] for name in ("time", "magnitude", "error"))
    return LightCurves(*rows, torch.ones(1, nights, dtype=torch.bool))


def points_of(path: str) -> np.ndarray:
    """Where each piece of a path begins, in pixels."""
    return np.array(re.findall(r"M(-?[\d.]+) (-?[\d.]+)", path), dtype=float).reshape(-1, 2)


def assert_places(
    panel: dict[str, Any], what: np.ndarray, x: Tensor, y: Tensor, ends: tuple[float, float]
) -> None:
    """Assert that what is drawn stands at ``x`` within its ends and at magnitudes ``y``."""
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
    if state["facts"]:
        model = astromer_of(state["facts"], state["weights"])
        unit = tensor([period if state["clock"] == "turns" else 1.0])
        clocked = curve.in_turns(unit)
        guesses["astromer"] = filled_in(model, clocked, clocked.time, hidden=hidden)

    bright, faint = curve.magnitude.min(), curve.magnitude.max()
    room = 0.06 * float(faint - bright)
    ends = float(bright) - room, float(faint) + room
    days = float(curve.time[0, -1])
    for name, x, span in (
        ("time", curve.time[0], (-0.02 * days, 1.02 * days)),
        ("phase", torch.cat([turns[0], turns[0] + 1]), (0.0, 2.0)),
    ):
        panel, copies = page[name] | {"ends": ends}, 1 if name == "time" else 2
        magnitude, away = curve.magnitude[0].repeat(copies), hidden[0].repeat(copies)
        assert_places(panel, points_of(panel["seen"]), x[~away], magnitude[~away], span)
        assert_places(panel, points_of(panel["hidden"]), x[away], magnitude[away], span)
        for way, path in panel["guesses"].items():
            # A diamond begins at its left corner, a dash at its upper one.
            shift = {"astromer": (4.5, 0.0), "line": (5.0, 1.2)}[way]
            guessed = guesses[way][0].repeat(copies)[away]
            assert_places(panel, points_of(path) + shift, x[away], guessed, span)
        assert set(panel["guesses"]) == (guesses.keys() - {"waves"} if hidden.any() else set())

    assert_peak(page["marks"], state, columns, ~hidden)
    assert page["errors"].keys() == guesses.keys()
    for way, text in page["errors"].items():
        if not hidden.any():
            assert text == "–"
            continue
        assert agrees(text, reconstruction_error(guesses[way], curve.magnitude, hidden))
    if hidden.any():
        assert page["caption"].startswith(f"{int(hidden.sum())} of {count} nights hidden")
    assert_night(page["told"], state, curve, turns)
    shining = fit.at(tensor([[page["turn"] * period]])).clamp(bright, faint).item()
    area = 10 ** (-0.4 * (shining - float(bright)))
    np.testing.assert_allclose(page["radius"] ** 2, LARGEST**2 * area, rtol=1e-6)


def assert_peak(
    marks: list[float], state: dict[str, Any], columns: tuple[Tensor, ...], seen: Tensor
) -> None:
    """Assert that no trial frequency is higher than the mark, and that aliases lie a day away."""
    *aliases, highest = marks
    within = state["within"]
    days = float(columns[0][0, -1])
    grid = frequency_grid(days, highest=within["highest"], oversampling=within["oversampling"])
    trial = torch.cat([grid, tensor([highest])])
    power = lomb_scargle(*columns, trial, seen=seen)[0]
    assert power[-1] >= power[:-1].max() - 1e-9
    assert abs(grid - highest).min() <= float(grid[1] - grid[0]) / 2 + 1e-9
    expected = [f for f in (abs(1 - highest), 1 + highest) if 0 < f < within["highest"]]
    np.testing.assert_allclose(aliases, expected)


def assert_night(told: str, state: dict[str, Any], curve: LightCurves, turns: Tensor) -> None:
    """Assert that the night that is told of is one that was seen so."""
    if not (found := re.match(r"Night (\d+) of (\d+)(, hidden)?: day (\S+), phase (.*)", told)):
        assert state["night"] < 0
        return
    night = int(found[1]) - 1
    assert int(found[2]) == curve.time.shape[1]
    assert bool(found[3]) == (night in state["hidden"])
    assert agrees(found[4], curve.time[0, night])
    where, magnitude, error = re.fullmatch(r"(\S+), (\S+) ± (\S+) mag", found[5]).groups()
    for text, values in ((where, turns), (magnitude, curve.magnitude), (error, curve.error)):
        assert agrees(text, values[0, night])
