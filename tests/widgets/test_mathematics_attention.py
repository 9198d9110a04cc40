"""SoftLookup, PartyMemory and AttentionExplorer, run in Chromium, against course_lib."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from in_the_page import Javascript, Twice, alike, assert_close, tensor
from scipy.interpolate import CubicHermiteSpline
from torch import Tensor

from course_lib.attention import attention_weights, causal_mask

WEIGHTS, TOUR = "js/maths/weights.js", "js/maths/tour.js"
LABELS = "js/maths/labels.js"
Random = np.random.Generator

# SoftLookup --------------------------------------------------------------------------------------


def tours(random: Random) -> list[Any]:
    count = random.integers(1, 8)
    return [random.uniform(-1.5, 1.5, size=(count, 2)), random.choice([0, 1, random.uniform()])]


def on_spline(stops: Tensor, share: float) -> np.ndarray:
    """A closed Catmull-Rom spline, at the pace of its chords."""
    stops = stops.numpy()
    count, closed = len(stops), np.concatenate([stops, stops[:1]])
    ends = np.concatenate([[0], np.linalg.norm(np.diff(closed, axis=0), axis=1).cumsum()])
    slopes = (np.roll(stops, -1, 0) - np.roll(stops, 1, 0)) / 2
    spline = CubicHermiteSpline(np.arange(count + 1), closed, np.concatenate([slopes, slopes[:1]]))
    return spline(np.interp(share * ends[-1], ends, range(count + 1)))


def boxes(random: Random, count: int) -> list[dict[str, int]]:
    corners = random.integers(0, 30, size=(count, 2)).tolist()
    return [{"x": x, "y": y, "width": 8, "height": 8} for x, y in corners]


def clearest(places: list[dict[str, int]], taken: list[dict[str, int]]) -> dict[str, int]:
    def common(a: dict[str, int], b: dict[str, int]) -> int:
        return max(0, 8 - abs(a["x"] - b["x"])) * max(0, 8 - abs(a["y"] - b["y"]))

    return min(places, key=lambda place: sum(common(place, one) for one in taken))


# PartyMemory -------------------------------------------------------------------------------------


def test_party_memory_has_weights_for_scores_as_large_as_a_float32(javascript: Javascript):
    huge = float(np.finfo(np.float32).max)
    party = {"guests": 3, "arrived": 3, "decay": 0.5, "door": 0, "temperature": 0.05}
    scores = {(huge, -huge, huge): [1, 0, 1], (-huge, -huge, huge): [0, 0, 1]}
    for mode in ("gate", "softmax", "query"):
        for score, expected in scores.items():
            numbers = {"score": score, "gate": score, "keys": [[s] for s in score], "query": [huge]}
            [weights] = javascript("js/maths/memory.js", "memoryWeights", [[mode, party | numbers]])
            assert_close(weights, tensor(expected) / (1 if mode == "gate" else sum(expected)))


def test_pixels_of_party_memory_leave_after_the_start_and_land_by_the_end(
    javascript: Javascript,
):
    shares = np.linspace(0, 1, 101).tolist()
    for j in range(0, 24, 5):
        cases = [[j, 24, 4, share] for share in shares]
        found = javascript("js/party_memory/flight.js", "landed", cases)
        assert found == sorted(found)
        assert (found[0], found[-1]) == (0, 1)


# AttentionExplorer -------------------------------------------------------------------------------


def weights(random: Random) -> np.ndarray:
    """A row that sums to one, some of whose weights are zero."""
    score = tensor(random.normal(scale=random.uniform(0.1, 8), size=random.integers(1, 12)))
    hidden = torch.from_numpy(random.uniform(size=len(score)) < random.choice([0, 0.4]))
    hidden[random.integers(len(score))] = False
    return score.masked_fill(hidden, -torch.inf).softmax(-1).numpy()


def rows_and_temperatures(random: Random) -> list[Any]:
    return [weights(random), 10 ** random.uniform(-1, 1)]


def rows_and_queries(random: Random) -> list[Any]:
    row = weights(random)
    return [row, int(random.integers(len(row)))]


def masked(row: Tensor, query: int) -> Tensor | None:
    if row[: query + 1].sum() == 0:
        return None
    nothing = torch.zeros(len(row), 1, dtype=torch.float64)
    mask = causal_mask(len(row))[query : query + 1]
    return attention_weights(nothing[:1], nothing, bias=row.log()[None], mask=mask)[0]


def two_films(random: Random) -> list[Any]:
    before, after = random.random((2, *random.integers(1, 4, size=random.integers(4, 6))))
    return [{"shape": before.shape, "values": before.ravel()}, {"values": after.ravel()}]


def largest_change(before: dict[str, Any], after: dict[str, Any]) -> dict[str, float]:
    shape, values = before["shape"], before["values"]
    flat = int((after["values"] - values).abs().argmax())
    axes = ("step", "layer", "head", "query", "key")[-len(shape) :]
    place = map(int, np.unravel_index(flat, shape))
    ends = {"from": values[flat], "to": after["values"][flat]}
    return {"step": 0} | dict(zip(axes, place, strict=True)) | ends


test_soft_lookup_walks_and_labels_as_in_python = alike(
    Twice(TOUR, "alongTour", on_spline, tours),
    Twice(LABELS, "clearest", clearest, lambda random: [boxes(random, 5), boxes(random, 4)]),
)

test_attention_explorer_weighs_as_in_course_lib = alike(
    Twice(
        WEIGHTS,
        "retempered",
        lambda row, temperature: torch.softmax(row.log() / temperature, -1),
        rows_and_temperatures,
    ),
    Twice(WEIGHTS, "masked", masked, rows_and_queries),
    # Of equal weights the earlier comes first.
    Twice(
        WEIGHTS,
        "largestFirst",
        lambda row, count: row.argsort(descending=True, stable=True)[:count],
        lambda random: [random.integers(0, 4, size=9), 5],
    ),
    Twice(WEIGHTS, "largestChange", largest_change, two_films, draws=20, rtol=0, atol=0),
)


# The walk of a query, and labels -----------------------------------------------------------------


def test_a_tour_of_soft_lookup_passes_close_to_the_nearest_keys(
    javascript: Javascript, random: Random
):
    cases = [
        [random.uniform(-1.5, 1.5, size=2).tolist(), random.uniform(-1.5, 1.5, (keys, 2)).tolist()]
        for keys in random.integers(1, 25, size=50)
    ]
    for stops, (start, keys) in zip(javascript(TOUR, "stopsOf", cases), cases, strict=True):
        nearest = sorted(keys, key=lambda key: math.dist(key, start))[:6]
        short = [0.85 * np.array(key) + 0.15 * np.array(start) for key in nearest]
        assert stops[0] == start
        assert np.array(sorted(stops[1:])) == pytest.approx(
            np.array(sorted(stop.tolist() for stop in short))
        )
        about = np.array(stops) - np.mean(stops, axis=0)
        turns = np.arctan2(about[:, 1], about[:, 0])
        assert (np.diff((turns - turns[0]) % (2 * np.pi)) > 0).all()


def test_labels_of_soft_lookup_are_within_the_square_and_beside_their_marks(
    javascript: Javascript, random: Random
):
    marks = random.uniform(0, 320, size=(50, 2)).tolist()
    found = javascript(LABELS, "placesAbout", [[mark, 10, 70, 17, 320] for mark in marks])
    for (x, y), places in zip(marks, found, strict=True):
        corners = np.array([[box["x"], box["y"]] for box in places])
        assert (corners >= 4).all()
        assert (corners <= [316 - 70, 316 - 17]).all()
        if max(abs(x - 160), abs(y - 160)) < 70:
            away = abs(corners + np.array([35, 8.5]) - [x, y])
            assert (away >= [45 - 1e-9, 18.5 - 1e-9]).any(1).all()
