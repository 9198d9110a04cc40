"""The typefaces of lecture 10, and the formulas of their VAE."""

import pytest
import torch
from seeded_tensors import assert_close, randn, randomized

from course_lib.models.typefaces import (
    PAPER,
    PIXELS,
    SHARPNESS,
    SIDES,
    AlphabetDecoder,
    StyleEncoder,
    Typefaces,
    ink_distance,
    load_typefaces,
)


@pytest.fixture(scope="module")
def typefaces() -> Typefaces:
    return load_typefaces()


@pytest.mark.slow
def test_no_family_is_on_two_sides_of_the_split(typefaces):
    sides = {}
    for family, side in zip(typefaces.family, typefaces.side, strict=True):
        sides.setdefault(family, set()).add(side)
    assert len(sides) == 95
    assert all(len(there) == 1 for there in sides.values())
    counts = {side: len(typefaces.where(side)) for side in SIDES}
    assert counts == {"train": 695, "validation": 157, "test": 132}


def test_the_distance_is_the_ink_to_move_over_the_ink_there():
    x, y = randn(3, 7).abs(), randn(4, 7, seed=1).abs()
    expected = [[(a - b).abs().sum() / min(a.sum(), b.sum()) for b in y] for a in x]
    assert_close(ink_distance(x, y), torch.tensor(expected, dtype=torch.float64))
    assert_close(ink_distance(x, y), ink_distance(y, x).T)
    assert_close(ink_distance(x, x).diag(), torch.zeros(3).double())


def silu(x):
    return x / (1 + (-x).exp())


def test_the_decoder_is_its_formula():
    torch.manual_seed(0)
    decoder = randomized(AlphabetDecoder(3, d_letter=4, d_hidden=5), scale=0.5)
    z = randn(2, 3)
    drawn = decoder(z).reshape(2, 26, PIXELS)
    for i in range(2):
        for letter in (0, 7, 25):
            first = silu(decoder.style[letter] @ z[i] + decoder.letter[letter])
            second = silu(decoder.hidden.weight @ first + decoder.hidden.bias)
            ink = decoder.pixels.weight @ second + decoder.pixels.bias
            assert_close(drawn[i, letter], (SHARPNESS * ink + PAPER).sigmoid())


def test_the_encoder_averages_over_letters():
    torch.manual_seed(0)
    encoder = randomized(StyleEncoder(2, d_hidden=3), scale=0.1).eval()
    x = randn(26, PIXELS).abs()
    seen = sum(
        silu(
            encoder.hidden.weight
            @ silu(encoder.pixels.weight @ x[i] + encoder.pixels.bias + encoder.letter[i])
            + encoder.hidden.bias
        )
        for i in range(26)
    )
    style = silu(encoder.style.weight @ seen / 26 + encoder.style.bias)
    expected = encoder.code.weight @ style + encoder.code.bias
    assert_close(encoder(x.flatten()), expected, 1e-10)
    encoder.train()  # in training, letters are hidden at random
    assert not torch.equal(encoder(x.flatten()), encoder(x.flatten()))
