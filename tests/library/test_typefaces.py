"""The typefaces of lecture 10 are there, and each family on one side."""

import numpy as np
import pytest
import torch
from seeded import assert_close, randn

from course_lib.models.typefaces import (
    SIDES,
    Typefaces,
    ink_distance,
    load_typefaces,
    packed,
    unpacked,
)

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def typefaces() -> Typefaces:
    return load_typefaces()


def test_there_are_26_letters_of_984_typefaces_in_grey_from_paper_to_ink(typefaces):
    assert typefaces.picture.shape == (984, 26, 28, 28)
    assert typefaces.picture.dtype == torch.float32
    assert set((15 * typefaces.picture).unique().tolist()) == set(map(float, range(16)))
    assert len(set(typefaces.name)) == len(typefaces) == 984


def test_no_family_stands_on_two_sides(typefaces):
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


def test_two_pixels_travel_in_a_byte():
    level = np.arange(24, dtype=np.uint8).reshape(2, 3, 4) % 16
    assert packed(level).shape == (2, 3, 2)
    assert np.array_equal(unpacked(packed(level)), level)
