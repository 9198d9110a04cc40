"""What was measured of sizes and amounts of data is complete and agrees with itself."""

import json
import math
from itertools import pairwise
from statistics import mean

import pytest

from course_lib.name_decoder import LONGEST, WEIGHTS, load_towns
from course_lib.training import parameter_count
from course_lib.transformer import Decoder

RECORD = json.loads(WEIGHTS.with_name("scaling.json").read_text())
ROWS = RECORD["rows"]


def test_every_size_met_every_amount_with_every_seed() -> None:
    kinds = {(row["parameters"], row["towns"], row["seed"]) for row in ROWS}
    sizes, amounts, seeds = (sorted({kind[i] for kind in kinds}) for i in range(3))
    assert len(sizes) * len(amounts) * len(seeds) == len(kinds) == len(ROWS)
    assert (len(sizes), len(amounts), len(seeds)) == (5, 3, 2)


def test_sizes_and_steps_are_those_that_the_rule_gives() -> None:
    towns = load_towns()
    for row in ROWS:
        model = Decoder(
            len(towns.alphabet), row["d_model"], 2, row["layers"], tokens=LONGEST, position="rotary"
        )
        assert row["parameters"] == parameter_count(model)
        assert row["steps"] == row["epochs"] * math.ceil(row["towns"] / RECORD["batch"])
        assert row["letters_trained"] == row["epochs"] * row["letters"]
        assert row["flops_6nd"] == 6 * row["parameters"] * row["letters_trained"]
    all_of_them = max(row["towns"] for row in ROWS)
    for row in ROWS:
        share = round(all_of_them / row["towns"])
        assert row["epochs"] == round(4 * math.sqrt(share))


def test_counted_operations_are_a_little_more_than_6nd() -> None:
    for row in ROWS:
        assert 1 < row["flops_counted"] / row["flops_6nd"] < 1.25


@pytest.mark.parametrize(("along", "fixed"), [("parameters", "towns"), ("towns", "parameters")])
def test_more_of_either_gives_fewer_bits(along: str, fixed: str) -> None:
    for value in {row[fixed] for row in ROWS}:
        rows = [row for row in ROWS if row[fixed] == value]
        bits = [
            mean(row["bits_held_out"] for row in rows if row[along] == amount)
            for amount in sorted({row[along] for row in rows})
        ]
        assert all(more > less for more, less in pairwise(bits))
