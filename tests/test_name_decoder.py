"""The towns are divided once and for all, and the trained decoder is what its file says."""

import json
import math

import pytest
import torch
from torch import nn

from course_lib import name_decoder
from course_lib.name_decoder import (
    END,
    HELD_OUT,
    LONGEST,
    SHOWN,
    WEIGHTS,
    load_name_decoder,
    load_towns,
    town_bits,
    town_rows,
)
from course_lib.ngrams import AbsoluteDiscounting
from course_lib.training import parameter_count
from course_lib.transformer import Decoder


def test_towns_are_held_out_once_and_nothing_is_on_both_sides() -> None:
    towns = load_towns()
    assert towns == load_towns()
    assert len(towns.unseen) == HELD_OUT
    assert tuple(towns.unseen[: len(SHOWN)]) == SHOWN
    assert not set(towns.unseen) & set(towns.seen)
    assert len(set(towns.unseen + towns.seen)) == len(towns.unseen) + len(towns.seen) == 13_061
    assert towns.alphabet[0] == END
    assert set("".join(towns.unseen + towns.seen)) == set(towns.alphabet[1:])
    countries = {town[:2] for town in towns.unseen}
    assert countries == {town[:2] for town in towns.seen}


def test_rows_are_the_letters_between_two_marks() -> None:
    assert town_rows(["ab", "b"], "\nab").tolist() == [[0, 1, 2, 0], [0, 2, 0, -100]]
    towns = load_towns()
    assert town_rows(towns.seen, towns.alphabet).shape[1] <= LONGEST + 1


def test_letters_outside_the_alphabet_and_no_texts_are_refused() -> None:
    with pytest.raises(ValueError, match="'ax' holds 'x'; expected the letters of alphabet"):
        town_rows(["ab", "ax"], "\nab")
    with pytest.raises(ValueError, match="texts is empty; expected one"):
        town_rows([], "\nab")


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


def test_the_decoder_is_small_and_does_what_its_record_says() -> None:
    record = json.loads(WEIGHTS.with_suffix(".json").read_text())
    towns, decoder = load_towns(), load_name_decoder()
    assert not decoder.training
    assert WEIGHTS.stat().st_size < 400_000
    assert parameter_count(decoder) == record["parameters"]
    bits = town_bits(decoder, town_rows(towns.unseen, towns.alphabet)).nanmean().item()
    assert bits == pytest.approx(record["bits"]["held out"], abs=1e-3)
    best = min(record["trials"], key=lambda trial: trial["curve"][-1][1])
    assert record["chosen"] == {name: best[name] for name in ("dropout", "epochs")}


def test_on_held_out_towns_it_stands_between_two_tables_of_counts() -> None:
    towns = load_towns()

    def ids(text: str) -> list[int]:
        return [*map(towns.alphabet.index, text + END)]

    seen, unseen = ([ids(text) for text in side] for side in (towns.seen, towns.unseen))
    discounting, kneser_ney = (
        AbsoluteDiscounting(
            seen,
            symbols=len(towns.alphabet),
            order=order,
            discount=0.9,
            keep=3,
            continuation=continuation,
        )
        .bits(unseen)
        .mean()
        .item()
        for order, continuation in ((5, False), (6, True))
    )
    rows = town_rows(towns.unseen, towns.alphabet)
    bits = town_bits(load_name_decoder(), rows).nanmean().item()
    assert kneser_ney + 0.05 < bits < discounting - 0.02


def test_weights_of_another_alphabet_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    towns = load_towns()
    monkeypatch.setattr(
        name_decoder, "load_towns", lambda: towns._replace(alphabet=towns.alphabet + "☃")
    )
    with pytest.raises(ValueError, match="expected the same; run scripts"):
        load_name_decoder()


def test_a_fresh_decoder_has_the_parameters_that_are_stored() -> None:
    import numpy as np

    with np.load(WEIGHTS) as stored:
        weights = stored["weights"]
    fresh = name_decoder.empty_name_decoder(len(load_towns().alphabet))
    assert nn.utils.parameters_to_vector(fresh.parameters()).shape == weights.shape
    assert weights.dtype == np.float16
