"""The mathematics of SoftLookup's JavaScript, run in Chromium, against course_lib."""

import math

import numpy as np
import pytest
from in_the_page import Javascript, assert_close, tensor
from scipy.interpolate import CubicHermiteSpline
from torch.nn import functional as F

from course_lib.attention import attention, attention_weights

LOOKUP = "js/maths/lookup.js"


@pytest.mark.parametrize("similarity", ["distance", "dot", "cosine"])
def test_a_soft_lookup_is_attention_with_its_similarity_as_score(
    javascript: Javascript, random: np.random.Generator, similarity: str
):
    cases = []
    for _ in range(100):
        keys, d = random.integers(1, 9), random.integers(1, 5)
        points = random.uniform(-1.5, 1.5, size=(keys + 1, d)).tolist()
        values = random.normal(scale=20, size=keys).tolist()
        temperature = 10 ** random.uniform(math.log10(0.02), 1)
        cases.append([points[0], points[1:], values, similarity, temperature])
    answers = javascript(LOOKUP, "softLookup", cases)
    scores = javascript(LOOKUP, "lookupScores", [[q, k, s] for q, k, _, s, _ in cases])
    for answer, score, (*given, _, temperature) in zip(answers, scores, cases, strict=True):
        query, key, value = tensor(given[0])[None], tensor(given[1]), tensor(given[2])[:, None]
        bias, scale = None, 1 / temperature
        if similarity == "distance":
            expected = -((query - key) ** 2).sum(-1)
            scale, bias = 2 / temperature, -(key**2).sum(-1)[None] / temperature
        elif similarity == "cosine":
            expected = F.cosine_similarity(query, key)
            query, key = F.normalize(query), F.normalize(key)
        else:
            expected = (query @ key.mT)[0]
        assert_close(score, expected)
        assert_close(answer["weights"], attention_weights(query, key, scale=scale, bias=bias)[0])
        assert_close(answer["value"], attention(query, key, value, scale=scale, bias=bias)[0, 0])
    # The cosine with a query of no length is zero and not NaN.
    assert javascript(LOOKUP, "lookupScores", [[[0, 0], [[1, 0], [0, 0]], "cosine"]]) == [[0, 0]]


# The walk of the query, and labels ---------------------------------------------------------------


def test_a_tour_goes_round_past_the_nearest_keys_a_little_short_of_each(
    javascript: Javascript, random: np.random.Generator
):
    cases = [
        [random.uniform(-1.5, 1.5, size=2).tolist(), random.uniform(-1.5, 1.5, (keys, 2)).tolist()]
        for keys in random.integers(1, 25, size=50)
    ]
    for stops, (start, keys) in zip(
        javascript("js/maths/tour.js", "stopsOf", cases), cases, strict=True
    ):
        nearest = sorted(keys, key=lambda key: math.dist(key, start))[:6]
        short = [0.85 * np.array(key) + 0.15 * np.array(start) for key in nearest]
        assert stops[0] == start
        assert np.array(sorted(stops[1:])) == pytest.approx(
            np.array(sorted(stop.tolist() for stop in short))
        )
        about = np.array(stops) - np.mean(stops, axis=0)
        turns = np.arctan2(about[:, 1], about[:, 0])
        assert (np.diff((turns - turns[0]) % (2 * np.pi)) > 0).all()


def test_a_tour_is_a_closed_catmull_rom_spline_at_the_pace_of_its_chords(
    javascript: Javascript, random: np.random.Generator
):
    shares = np.linspace(0, 1, 41)
    for count in (1, 2, 3, 7):
        stops = random.uniform(-1.5, 1.5, size=(count, 2))
        found = javascript(
            "js/maths/tour.js", "alongTour", [[stops.tolist(), share] for share in shares]
        )
        chords = np.linalg.norm(np.roll(stops, -1, 0) - stops, axis=1)
        ends = np.concatenate([[0], chords.cumsum()])
        slopes = (np.roll(stops, -1, 0) - np.roll(stops, 1, 0)) / 2
        closed, closing = np.concatenate([stops, stops[:1]]), np.concatenate([slopes, slopes[:1]])
        spline = CubicHermiteSpline(np.arange(count + 1), closed, closing)
        assert np.array(found) == pytest.approx(
            spline(np.interp(shares * ends[-1], ends, range(count + 1)))
        )
        assert found[0] == pytest.approx(stops[0])
        assert found[-1] == pytest.approx(stops[0])


def test_a_label_takes_the_first_place_that_covers_least_and_stays_within_its_square(
    javascript: Javascript, random: np.random.Generator
):
    def boxes(count: int) -> list[dict[str, int]]:
        corners = random.integers(0, 30, size=(count, 2)).tolist()
        return [{"x": x, "y": y, "width": 8, "height": 8} for x, y in corners]

    def common(a: dict[str, int], b: dict[str, int]) -> int:
        return max(0, 8 - abs(a["x"] - b["x"])) * max(0, 8 - abs(a["y"] - b["y"]))

    cases = [[boxes(5), boxes(4)] for _ in range(50)]
    for found, (places, taken) in zip(
        javascript("js/maths/labels.js", "clearest", cases), cases, strict=True
    ):
        assert found == min(places, key=lambda place: sum(common(place, one) for one in taken))
    marks = random.uniform(0, 320, size=(50, 2)).tolist()
    cases = [[mark, 10, 70, 17, 320] for mark in marks]
    for (x, y), boxes in zip(
        marks, javascript("js/maths/labels.js", "placesAbout", cases), strict=True
    ):
        corners = np.array([[box["x"], box["y"]] for box in boxes])
        assert (corners >= 4).all()
        assert (corners <= [316 - 70, 316 - 17]).all()
        if max(abs(x - 160), abs(y - 160)) < 70:
            away = abs(corners + np.array([35, 8.5]) - [x, y])
            assert (away >= [45 - 1e-9, 18.5 - 1e-9]).any(1).all()
