"""The mathematics of LatentExplorer's JavaScript, run in Chromium, against course_lib and SciPy."""

import math

import numpy as np
import pytest
import torch
from in_the_page import DRAWS, Javascript, assert_close, tensor, uniform
from playwright.sync_api import Page
from scipy.stats import chi2
from small_widgets import BESIDE, style_vae, typefaces

from course_lib.typeface_vae import load_typeface_vae
from course_lib.typefaces import LETTERS, SIZE, load_typefaces
from course_lib.widgets import LatentExplorer
from course_lib.widgets.modules import module_source

pytestmark = pytest.mark.usefixtures("plain_calls")

LATENT = "js/maths/latent.js"
LETTER = 6
SIZES = (2, 3, 5, 16)
DECODE = """async ([address, facts, weights, codes]) => {
  const maths = await import(address);
  const decoder = maths.unpackDecoder(facts, weights);
  const ink = codes.map((z) => [...maths.decodeAlphabet(decoder, z)]);
  return { ink, letter: [...maths.decodeLetter(decoder, LETTER, codes)] };
}""".replace("LETTER", str(LETTER))


def decoded(page: Page, widget: LatentExplorer, codes: np.ndarray) -> np.ndarray:
    source = module_source(LATENT)
    address = page.evaluate(
        "text => URL.createObjectURL(new Blob([text], { type: 'text/javascript' }))", source
    )
    told = page.evaluate(DECODE, [address, widget.facts, widget.weights, codes.tolist()])
    ink, letter = np.array(told["ink"]), np.array(told["letter"])
    one = ink.reshape(len(codes), 26, -1)[:, LETTER]
    np.testing.assert_array_equal(letter.reshape(one.shape), one)
    return ink


def expected(widget: LatentExplorer, codes: np.ndarray) -> np.ndarray:
    with torch.no_grad():
        return widget.decoder.double()(tensor(codes)).numpy()


@pytest.mark.parametrize("sizes", [(2, 1, 1), (3, 5, 6), (7, 4, 9)], ids=str)
def test_letters_are_those_of_the_decoder_that_travelled(
    blank: Page, random: np.random.Generator, sizes: tuple[int, int, int]
):
    d_z, d_letter, d_hidden = sizes
    vae = style_vae(d_z, d_letter=d_letter, d_hidden=d_hidden)
    widget = LatentExplorer(vae, typefaces(), beside=BESIDE)
    codes = np.concatenate([np.zeros((1, d_z)), random.normal(scale=3, size=(6, d_z))])
    found = decoded(blank, widget, codes)
    np.testing.assert_allclose(found, expected(widget, codes), rtol=1e-6, atol=0)
    assert found.std(axis=0).max() > 1e-3, "the letters of all codes are the same"


def test_the_trained_decoder_in_the_page_agrees_with_that_of_course_lib(
    blank: Page, random: np.random.Generator
):
    widget = LatentExplorer(load_typeface_vae()[0], load_typefaces())
    codes = np.concatenate([random.normal(size=(4, 16)), widget.codes[:2].numpy()])
    found = decoded(blank, widget, codes)
    np.testing.assert_allclose(found, expected(widget, codes), rtol=1e-6, atol=0)


def test_codes_arrive_as_they_were_sent(javascript: Javascript):
    widget = LatentExplorer(style_vae(), typefaces(), beside=BESIDE)
    given = [widget.faces["codes"], len(widget.faces["names"]), 3]
    [found] = javascript(LATENT, "unpackCodes", [given])
    np.testing.assert_array_equal(np.float32(found), widget.codes.numpy())


def test_a_walk_is_straight_and_arithmetic_goes_number_by_number(
    javascript: Javascript, random: np.random.Generator
):
    cases = [[*random.normal(size=(2, 5)).tolist(), random.uniform()] for _ in range(DRAWS)]
    for found, (start, end, share) in zip(javascript(LATENT, "between", cases), cases, strict=True):
        assert_close(found, torch.lerp(tensor(start), tensor(end), share))
    cases = [[random.normal(size=(3, 5)).tolist()] for _ in range(DRAWS)]
    for found, [codes] in zip(javascript(LATENT, "arithmetic", cases), cases, strict=True):
        regular, bold, italic = tensor(codes)
        assert_close(found, bold - regular + italic)


def test_the_nearest_code_is_that_of_least_distance(
    javascript: Javascript, random: np.random.Generator
):
    cases = [
        [random.normal(size=(7, 4)).tolist(), random.normal(size=4).tolist()] for _ in range(DRAWS)
    ]
    found = javascript(LATENT, "nearest", cases)
    far = [np.linalg.norm(np.subtract(codes, z), axis=1) for codes, z in cases]
    assert found == [int(row.argmin()) for row in far]
    apart = javascript(LATENT, "distance", [[codes[0], z] for codes, z in cases])
    assert_close(apart, [row[0] for row in far])


def planes(random: np.random.Generator, size: int, count: int) -> list[list[list[float]]]:
    """Two orthogonal directions of length 1 each."""
    return [np.linalg.qr(random.normal(size=(size, 2)))[0].T.tolist() for _ in range(count)]


@pytest.mark.parametrize("size", SIZES)
def test_a_point_moves_in_its_plane_alone(
    javascript: Javascript, random: np.random.Generator, size: int
):
    cases = [
        [random.normal(size=size).tolist(), plane, random.normal(scale=3, size=2).tolist()]
        for plane in planes(random, size, 30)
    ]
    moved = javascript(LATENT, "movedTo", cases)
    on_plane = [[z, plane] for z, (_, plane, _) in zip(moved, cases, strict=True)]
    fallen = javascript(LATENT, "projected", on_plane)
    for found, place, (z, plane, wanted) in zip(moved, fallen, cases, strict=True):
        assert_close(place, wanted)
        directions = np.array(plane)
        step = np.subtract(found, z)
        assert_close(directions.T @ (directions @ step), step)


def test_a_code_goes_out_on_its_own_ray(javascript: Javascript, random: np.random.Generator):
    cases = [[random.normal(size=6).tolist(), random.uniform(0.1, 10)] for _ in range(DRAWS)]
    for found, (z, radius) in zip(javascript(LATENT, "atDistance", cases), cases, strict=True):
        assert_close(found, np.multiply(z, radius / np.linalg.norm(z)))
    assert javascript(LATENT, "atDistance", [[[0, 0, 0], 2]]) == [[2, 0, 0]]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 16, 17, 64])
def test_the_share_of_the_prior_within_a_radius_is_that_of_chi_squared(
    javascript: Javascript, size: int
):
    radii = [0.0, 1e-3, 0.1, 1.0, 2.5, 3.9, 5.66, 8.0, 12.0, 20.0]
    found = javascript(LATENT, "shareWithin", [[radius, size] for radius in radii])
    np.testing.assert_allclose(found, chi2.cdf(np.square(radii), size), rtol=1e-9, atol=0)


def test_draws_of_the_prior_are_normal_and_those_of_their_seed(javascript: Javascript):
    draws = javascript(LATENT, "normals", [[16, seed] for seed in range(400)])
    for seed in (0, 7):
        radius = [math.sqrt(-2 * math.log(1 - uniform(seed, 2 * i))) for i in range(16)]
        angle = [2 * math.pi * uniform(seed, 2 * i + 1) for i in range(16)]
        assert_close(draws[seed], np.multiply(radius, np.cos(angle)))
    numbers = np.array(draws)
    assert abs(numbers.mean()) < 4 / numbers.size**0.5
    assert numbers.std() == pytest.approx(1, abs=0.05)
    within = np.mean(np.square(numbers).sum(axis=1) < chi2.ppf(0.5, 16))
    assert within == pytest.approx(0.5, abs=0.1)


# How a word is set -------------------------------------------------------------------------------


def inks(columns: list[list[float]]) -> list[float]:
    """An alphabet whose first letters have so much ink in each column, in one row of it."""
    ink = np.zeros((len(LETTERS), SIZE, SIZE))
    for letter, column in enumerate(columns):
        ink[letter, 9] = np.pad(column, (0, SIZE - len(column)))
    return ink.flatten().tolist()


def test_a_letter_reaches_as_far_as_its_ink_and_moves_with_it(javascript: Javascript):
    full = [0, 0, 1, 1, 1, 0]
    [span] = javascript(LATENT, "inkSpan", [[inks([full]), 0]])
    assert 2 <= span[0] < span[1] <= 5
    ends = []
    for grey in np.linspace(0, 1, 41):
        [found] = javascript(LATENT, "inkSpan", [[inks([[0, 0, grey, 1, 1, 0]]), 0]])
        ends.append(found[0])
        assert found[1] == span[1]
    assert ends[0] > ends[-1] + 0.9
    assert np.diff(ends).max() <= 1e-9, "more ink on the left moves the left end to the left"
    assert np.abs(np.diff(ends)).max() < 0.1, "it never leaps"


def test_a_letter_without_ink_still_has_a_width(javascript: Javascript):
    [[from_, to]] = javascript(LATENT, "inkSpan", [[inks([]), 3]])
    assert to > from_


def test_letters_of_a_word_stand_one_gap_apart(javascript: Javascript, random):
    columns = [
        np.concatenate([np.zeros(start), np.ones(wide)]).tolist()
        for start, wide in random.integers(1, 9, size=(26, 2))
    ]
    ink, gap = inks(columns), 2.0
    for word in ([0], [3, 3], random.integers(26, size=9).tolist()):
        [found] = javascript(LATENT, "spaced", [[ink, word, gap]])
        spans = javascript(LATENT, "inkSpan", [[ink, letter] for letter in word])
        begins, ends = (np.array(spans) + np.array(found["places"])[:, None]).T
        assert_close(begins[0], 0)
        assert_close(ends[-1], found["width"])
        assert_close(begins[1:] - ends[:-1], [gap] * (len(word) - 1))
