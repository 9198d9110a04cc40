import re

import numpy as np
import torch
from in_the_page import tensor
from reading import agrees
from torch import Tensor

from course_lib.light_curves import (
    LightCurves,
    fit_harmonics,
    frequency_grid,
    lomb_scargle,
    phase,
    reconstruction_error,
)
from course_lib.models.stars import posterior_at_period
from course_lib.widgets.star_explorer.star_explorer import astromer_of, believed

from .scraped import Found, assert_said, near, scraper

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
  const cells = (name) => Object.fromEntries(
    all(`td[data-${name}]`, (cell) => [cell.dataset[name], cell.textContent]));
  return {
    time: panel("time"),
    phase: panel("phase"),
    period: dataOf("period"),
    marks: all(".cw-s-mark", (mark) => Number(mark.dataset.frequency)),
    explained: dataOf("explained"),
    errors: cells("way"),
    names: all("[data-measure=power] .cw-s-small"),
    told: one(".cw-s-told").textContent.replace(/\s+/g, " ").trim(),
    band: path("phase", ".cw-s-band[data-way=waves]"),
    doubt: path("phase", ".cw-s-band[data-way=astromer]"),
    held: cells("held"),
    turn: dataOf("turn"),
  };
""")


def light_curve(*columns: Tensor) -> LightCurves:
    return LightCurves(*columns, torch.ones(columns[0].shape, dtype=torch.bool))


def points_of(path: str) -> np.ndarray:
    """The start of each piece of a path, in pixels."""
    return np.array(re.findall(r"M(-?[\d.]+) (-?[\d.]+)", path), dtype=float).reshape(-1, 2)


def displayed(state: Found, page: Found) -> None:
    star, nights = state["star"], state["nights"][state["star"]]
    columns = [state[name][star : star + 1, :nights] for name in ("time", "magnitude", "error")]
    curve, period = light_curve(*columns), tensor([page["period"]])
    turns = phase(curve.time, period)
    hidden = torch.zeros(1, nights, dtype=torch.bool)
    hidden[0, state["hidden"]] = True

    fit = fit_harmonics(*columns, 1 / period, seen=~hidden)
    guesses = {"waves": fit.at(curve.time), "line": between_neighbours(curve, hidden)}
    beliefs = beliefs_of(state, curve, period, hidden)
    if "doubt" in beliefs:
        guesses["astromer"] = beliefs["doubt"][0]
    days, light, away = float(curve.time[0, -1]), curve.magnitude[0], hidden[0]
    for panel, x, ends in (
        (page["time"], curve.time[0], (-0.02 * days, 1.02 * days)),
        (page["phase"], torch.cat([turns[0], turns[0] + 1]), (0.0, 2.0)),
    ):
        panel |= {"ends": ends, "light": light}
        copies = len(x) // nights
        y, there = light.repeat(copies), away.repeat(copies)
        assert_places(panel, points_of(panel["seen"]), x[~there], y[~there])
        assert_places(panel, points_of(panel["hidden"]), x[there], y[there])
        drawn = {"astromer"} if panel is page["phase"] else {"astromer", "line"}
        assert panel["guesses"].keys() == (guesses.keys() & drawn if away.any() else set())
        for way, path in panel["guesses"].items():
            # A diamond begins at its left corner, a dash at its upper one.
            shift = {"astromer": (4.5, 0.0), "line": (5.0, 1.2)}[way]
            guessed = guesses[way][0].repeat(copies)[there]
            assert_places(panel, points_of(path) + shift, x[there], guessed)
    if state["prior"]:
        # The waves' band over two turns is 1.96 deviations wide on each side.
        around = torch.linspace(0, 2, 121, dtype=torch.float64)
        said, spread = (part[0] for part in waves_of(state, curve, period, around * period, hidden))
        edge = torch.cat([said - REACH * spread, (said + REACH * spread).flip(0)])
        drawn = points_of(page["band"].replace("L", "M"))
        assert_places(page["phase"], drawn, torch.cat([around, around.flip(0)]), edge)
    assert page["errors"].keys() == (guesses.keys() if hidden.any() else set())
    for way, text in page["errors"].items():
        assert agrees(text, reconstruction_error(guesses[way], curve.magnitude, hidden))
    assert bool(page["band"]) == bool(state["prior"])
    if hidden.any():
        for name, (said, spread) in beliefs.items():
            # The hidden nights within 1.96 deviations, with their own errors added.
            off = (said - curve.magnitude).abs() / (spread**2 + curve.error**2).sqrt()
            right = int((off[hidden] < REACH).sum())
            assert page["held"][name] == f"{right} of {int(hidden.sum())}"

    # The highest peak is hidden until it was found.
    assert bool(page["marks"]) == bool(page["names"])
    if page["marks"]:
        # Its mark is near the highest trial frequency; its aliases lie a day away.
        within = {name: state["within"][name] for name in ("highest", "oversampling")}
        grid = frequency_grid(float(curve.time[0, -1]), **within)
        best = grid[lomb_scargle(*columns, grid, seen=~hidden)[0].argmax()]
        *aliases, highest = page["marks"]
        near(highest, best, atol=float(grid[1] - grid[0]))
        expected = [abs(1 - highest), 1 + highest, abs(2 - highest), 2 + highest]
        near(aliases, [f for f in expected if 0 < f < within["highest"]], 1e-9)
    weight, seen = curve.error[~hidden] ** -2, curve.magnitude[~hidden]
    mean = (weight * seen).sum() / weight.sum()
    spread = (weight * (seen - mean) ** 2).sum()
    near(page["explained"], 1 - fit.chi_square[0] / spread, atol=1e-4)
    assert_night(page["told"], state, curve, turns)


def between_neighbours(curve: LightCurves, hidden: Tensor) -> Tensor:
    time, magnitude, seen = curve.time[0].numpy(), curve.magnitude[0].numpy(), ~hidden[0].numpy()
    return tensor(np.interp(time, time[seen], magnitude[seen]))[None]


def beliefs_of(
    state: Found, curve: LightCurves, period: Tensor, hidden: Tensor
) -> dict[str, tuple[Tensor, Tensor]]:
    """Expected magnitudes and their deviations, of ASTROMER and of the waves."""
    beliefs = {}
    if state["facts"]:
        model = astromer_of(state["facts"], state["weights"])
        clocked = curve.in_turns(period if state["clock"] == "turns" else tensor([1.0]))
        beliefs["doubt"] = believed(model, clocked, clocked.time, hidden=hidden)
    if state["prior"]:
        beliefs["band"] = waves_of(state, curve, period, curve.time[0], hidden)
    return beliefs


def waves_of(
    state: Found, curve: LightCurves, period: Tensor, time: Tensor, hidden: Tensor
) -> tuple[Tensor, Tensor]:
    variance = tensor(state["prior"])
    return posterior_at_period(curve, period, time[None], variance=variance, hidden=hidden)


def assert_places(panel: Found, drawn: np.ndarray, x: Tensor, y: Tensor) -> None:
    """Assert that the drawing has dates ``x`` and magnitudes ``y``, the brighter the higher."""
    left, top, width, height = panel["frame"]
    (low, high), light = panel["ends"], panel["light"]
    room = 0.06 * (light.max() - light.min())
    across = left + width * (x - low) / (high - low)
    down = top + height * (y - light.min() + room) / (light.max() - light.min() + 2 * room)
    near(drawn, torch.stack([across, down], dim=1), atol=PIXEL)


def assert_night(told: str, state: Found, curve: LightCurves, turns: Tensor) -> None:
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
