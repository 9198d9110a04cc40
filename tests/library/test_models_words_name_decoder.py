"""The split of the towns is fixed, and bits are those of every letter."""

import math

import pytest
import torch

from course_lib.models.words.name_decoder import (
    END,
    HELD_OUT,
    LANDS,
    LONGEST,
    SHOWN,
    load_towns,
    town_bits,
    town_rows,
)
from course_lib.transformer import Decoder


def test_no_town_is_both_held_out_and_for_training() -> None:
    towns = load_towns()
    assert towns == load_towns()
    assert len(towns.unseen) == HELD_OUT
    assert tuple(towns.unseen[: len(SHOWN)]) == SHOWN
    assert not set(towns.unseen) & set(towns.seen)
    assert len(set(towns.unseen + towns.seen)) == len(towns.unseen) + len(towns.seen) == 13_061
    assert towns.alphabet[0] == END
    assert set("".join(towns.unseen + towns.seen)) == set(towns.alphabet[1:])
    countries = {town[:2] for town in towns.unseen}
    assert countries == {town[:2] for town in towns.seen} == set(LANDS.values())
    assert sorted(countries) == [*LANDS.values()]


def test_rows_are_the_letters_between_two_marks() -> None:
    assert town_rows(["ab", "b"], "\nab").tolist() == [[0, 1, 2, 0], [0, 2, 0, -100]]
    towns = load_towns()
    assert town_rows(towns.seen, towns.alphabet).shape[1] <= LONGEST + 1


def test_bits_are_those_of_every_letter_by_itself() -> None:
    torch.manual_seed(0)
    model = Decoder(3, 8, 2, 1, tokens=5, dropout=0.5)
    rows = town_rows(["ab", "b"], "\nab")
    bits = town_bits(model, rows)
    assert model.training
    model.eval()
    for row, text in enumerate([[0, 1, 2, 0], [0, 2, 0]]):
        for place in range(1, len(text)):
            bet = model(torch.tensor(text[:place]))[-1].softmax(-1)[text[place]].item()
            assert bits[row, place - 1].item() == pytest.approx(-math.log2(bet), abs=1e-5)
    assert bits.isnan().tolist() == [[False, False, False], [False, False, True]]
