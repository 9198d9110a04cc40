"""The mathematics of LatentExplorer's JavaScript, run in Chromium, against course_lib and SciPy."""

import math

import numpy as np
import pytest
import torch
from in_the_page import DRAWS, Javascript, assert_close, tensor, uniform
from playwright.sync_api import Page
from scipy.stats import chi2
from small_widgets import BESIDE, style_vae, typefaces

from course_lib.typefaces import LETTERS, SIZE
from course_lib.widgets import LatentExplorer
from course_lib.widgets.modules import module_source

pytestmark = pytest.mark.usefixtures("plain_calls")

LATENT = "js/maths/latent.js"
LETTER = 6
DECODE = """async ([source, facts, weights, codes]) => {
  const text = new Blob([source], { type: "text/javascript" });
  const maths = await import(URL.createObjectURL(text));
  const decoder = maths.unpackDecoder(facts, weights);
  const ink = codes.map((z) => [...maths.decodeAlphabet(decoder, z)]);
  return [ink, [...maths.decodeLetter(decoder, LETTER, codes)]];
}""".replace("LETTER", str(LETTER))


def test_codes_and_letters_are_those_of_the_decoder_that_travelled(
    blank: Page, javascript: Javascript, random: np.random.Generator
):
    for d_z, d_letter, d_hidden in [(2, 1, 1), (7, 4, 9)]:
        vae = style_vae(d_z, d_letter=d_letter, d_hidden=d_hidden)
        widget = LatentExplorer(vae, typefaces(), beside=BESIDE)
        codes = np.concatenate([np.zeros((1, d_z)), random.normal(scale=3, size=(2, d_z))])
        given = [module_source(LATENT), widget.facts, widget.weights, codes.tolist()]
        ink, letter = map(np.array, blank.evaluate(DECODE, given))
        with torch.no_grad():
            expected = widget.decoder.double()(tensor(codes))
        np.testing.assert_allclose(ink, expected, rtol=1e-6, atol=0)
        assert ink.std(axis=0).max() > 1e-3, "the letters of all codes are the same"
        one = ink.reshape(len(codes), 26, -1)[:, LETTER]
        np.testing.assert_array_equal(letter.reshape(one.shape), one)
        given = [widget.faces["codes"], len(widget.faces["names"]), d_z]
        [found] = javascript(LATENT, "unpackCodes", [given])
        np.testing.assert_array_equal(np.float32(found), widget.codes.numpy())


def test_ways_sums_and_distances_of_codes_are_those_of_vectors(
    javascript: Javascript, random: np.random.Generator
):
    draws = [(*random.normal(size=(3, 5)), random.normal(size=(7, 5))) for _ in range(DRAWS)]
    cases = [[a.tolist(), b.tolist(), random.uniform()] for a, b, *_ in draws]
    expected = [torch.lerp(tensor(a), tensor(b), share) for a, b, share in cases]
    assert_close(javascript(LATENT, "between", cases), torch.stack(expected))
    sums = javascript(LATENT, "arithmetic", [[[x.tolist() for x in draw[:3]]] for draw in draws])
    assert_close(sums, [b - a + c for a, b, c, _ in draws])
    far = [np.linalg.norm(codes - a, axis=1) for a, _, _, codes in draws]
    cases = [[codes.tolist(), a.tolist()] for a, _, _, codes in draws]
    assert javascript(LATENT, "nearest", cases) == [int(row.argmin()) for row in far]
    found = javascript(LATENT, "distance", [[codes[0], z] for codes, z in cases])
    assert_close(found, [row[0] for row in far])
    cases = [[a.tolist(), random.uniform(0.1, 10)] for a, *_ in draws]
    found = javascript(LATENT, "atDistance", [*cases, [[0, 0, 0, 0, 0], 2]])
    expected = [np.multiply(z, radius / np.linalg.norm(z)) for z, radius in cases]
    assert_close(found, [*expected, [2, 0, 0, 0, 0]])


def test_a_point_moves_in_its_plane_alone(javascript: Javascript, random: np.random.Generator):
    cases = []
    for size in (2, 3, 16) * 20:
        # Two orthogonal directions of length 1 each.
        plane = np.linalg.qr(random.normal(size=(size, 2)))[0].T.tolist()
        cases.append([random.normal(size=size).tolist(), plane, random.normal(size=2).tolist()])
    moved = javascript(LATENT, "movedTo", cases)
    on_plane = [[z, plane] for z, (_, plane, _) in zip(moved, cases, strict=True)]
    fallen = javascript(LATENT, "projected", on_plane)
    for found, place, (z, plane, wanted) in zip(moved, fallen, cases, strict=True):
        assert_close(place, wanted)
        directions, step = np.array(plane), np.subtract(found, z)
        assert_close(directions.T @ (directions @ step), step)


def test_the_prior_is_normal_and_the_share_within_a_radius_is_that_of_chi_squared(
    javascript: Javascript,
):
    radii = [0.0, 1e-3, 0.1, 1.0, 2.5, 3.9, 5.66, 8.0, 12.0, 20.0]
    for size in (1, 2, 3, 16, 17, 64):
        found = javascript(LATENT, "shareWithin", [[radius, size] for radius in radii])
        np.testing.assert_allclose(found, chi2.cdf(np.square(radii), size), rtol=1e-9, atol=0)
    for seed, found in zip((0, 7), javascript(LATENT, "normals", [[16, 0], [16, 7]]), strict=True):
        radius = [math.sqrt(-2 * math.log(1 - uniform(seed, 2 * i))) for i in range(16)]
        angle = [2 * math.pi * uniform(seed, 2 * i + 1) for i in range(16)]
        assert_close(found, np.multiply(radius, np.cos(angle)))


# How a word is set -------------------------------------------------------------------------------


def inks(columns: list[list[float]]) -> list[float]:
    """An alphabet whose first letters have so much ink in each column, in one row of it."""
    ink = np.zeros((len(LETTERS), SIZE, SIZE))
    for letter, column in enumerate(columns):
        ink[letter, 9] = np.pad(column, (0, SIZE - len(column)))
    return ink.flatten().tolist()


def test_a_letter_reaches_as_far_as_its_ink_and_moves_with_it(javascript: Javascript):
    cases = [[inks([[0, 0, grey, 1, 1, 0]]), 0] for grey in np.linspace(0, 1, 6)]
    spans = np.array(javascript(LATENT, "inkSpan", cases))
    assert 2 <= spans[-1, 0] < spans[-1, 1] <= 5
    assert (spans[:, 1] == spans[-1, 1]).all()
    assert spans[0, 0] > spans[-1, 0] + 0.9
    assert np.diff(spans[:, 0]).max() <= 1e-9, "more ink on the left moves the left end to the left"
    assert np.diff(spans[:, 0]).min() > -0.7, "it never leaps"
    [[from_, to]] = javascript(LATENT, "inkSpan", [[inks([]), 3]])
    assert to > from_


def test_letters_of_a_word_stand_one_gap_apart(javascript: Javascript, random):
    sizes = random.integers(1, 9, size=(26, 2))
    ink = inks([[0.0] * start + [1.0] * wide for start, wide in sizes])
    for word in ([0], [3, 3], random.integers(26, size=9).tolist()):
        [found] = javascript(LATENT, "spaced", [[ink, word, 2.0]])
        spans = javascript(LATENT, "inkSpan", [[ink, letter] for letter in word])
        begins, ends = (np.array(spans) + np.array(found["places"])[:, None]).T
        assert_close(begins[0], 0)
        assert_close(ends[-1], found["width"])
        assert_close(begins[1:] - ends[:-1], [2.0] * (len(word) - 1))
