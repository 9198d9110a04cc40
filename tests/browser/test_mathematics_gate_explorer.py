"""The mathematics of GateExplorer's JavaScript, run in Chromium, against PyTorch and course_lib."""

import itertools
import math
import re

import numpy as np
import pytest
import torch
from in_the_page import DRAWS, Javascript, assert_close, tensor
from kinds.gate_explorer import quantities
from torch import nn

from course_lib.widgets.gate_explorer import KINDS, PARAMETERS, Rows

RECURRENT = "js/maths/recurrent.js"
of_every_kind = pytest.mark.parametrize("kind", KINDS)


def random_cell(random: np.random.Generator, kind: str) -> tuple[int, int, list[list[float]]]:
    """How many letters and units, and the parameters side by side as the page has them."""
    letters, units = random.integers(1, 9, size=2).tolist()
    shape = (KINDS[kind].sums * units, letters + units + 2)
    return letters, units, random.normal(scale=1.5, size=shape).tolist()


@of_every_kind
def test_reading_a_text_in_the_page_is_that_of_torch_with_the_gates_of_course_lib(
    javascript: Javascript, random: np.random.Generator, kind: str
):
    cases, packed = [], []
    for _ in range(20):
        letters, units, rows = random_cell(random, kind)
        text = random.integers(0, letters, size=random.integers(1, 25)).tolist()
        packed.append(Rows._encode(np.float32(rows), None))
        cases.append([kind, Rows.exactly(packed[-1]).tolist(), letters, units, text])
    runs = javascript(RECURRENT, "readText", cases)
    for run, gates, case in zip(runs, packed, cases, strict=True):
        _, rows, letters, units, text = case
        layer = getattr(nn, kind)(letters, units).double().requires_grad_(requires_grad=False)
        parts = tensor(rows).split([letters, units, 1, 1], dim=1)
        for name, part in zip(PARAMETERS, parts, strict=True):
            getattr(layer, name).copy_(part.reshape(getattr(layer, name).shape))
        outputs, _ = layer(nn.functional.one_hot(torch.tensor(text), letters).double())
        assert_close([step["hidden"] for step in run], outputs)
        alphabet = "abcdefgh"[:letters]
        read = {"alphabet": alphabet, "text": [alphabet[i] for i in text], "quantities": []}
        for name, expected in quantities({"kind": kind, "gates": gates} | read).items():
            assert_close([step[name] for step in run], expected)
        assert_close(run[0]["before"]["hidden"], np.zeros(units))
        for before, after in itertools.pairwise(run):
            assert after["before"]["hidden"] == before["hidden"]


@of_every_kind
def test_an_equation_in_numbers_comes_to_what_it_says(
    javascript: Javascript, random: np.random.Generator, kind: str
):
    letters, units, rows = random_cell(random, kind)
    text = random.integers(0, letters, size=9).tolist()
    [run] = javascript(RECURRENT, "readText", [[kind, rows, letters, units, text]])
    told = KINDS[kind].quantities
    cases = [[kind, name, step, u] for step in run for name in told for u in range(units)]
    names = {"σ": lambda x: 1 / (1 + math.exp(-x)), "tanh": math.tanh}
    for found, (_, name, step, unit) in zip(
        javascript(RECURRENT, "equation", cases), cases, strict=True
    ):
        assert found["value"] == step[name][unit]
        assert re.fullmatch(r"(?:σ|tanh|[\d.()·+− ])+", found["numbers"])
        text = found["numbers"].replace("·", "*").replace("−", "-")
        # Each number is rounded to two digits; the cell is a sum of two products of such numbers.
        doubt = 4 + max(map(abs, step["before"].get("cell", [0.0]))) + max(map(abs, step["b"]))
        comes_to = eval(text, {"__builtins__": {}}, names)  # noqa: S307 - matched above
        assert comes_to == pytest.approx(found["value"], abs=0.005 * doubt)


@of_every_kind
def test_what_runs_out_and_what_comes_in_make_the_state(
    javascript: Javascript, random: np.random.Generator, kind: str
):
    letters, units, rows = random_cell(random, kind)
    text = random.integers(0, letters, size=6).tolist()
    [run] = javascript(RECURRENT, "readText", [[kind, rows, letters, units, text]])
    for before, step in itertools.pairwise(run):
        held = "cell" if kind == "LSTM" else "hidden"
        flows = javascript(RECURRENT, "exchange", [[kind, step, unit] for unit in range(units)])
        column = {name: tensor([flow[name] for flow in flows]) for name in flows[0]}
        assert_close(column["before"], before[held])
        assert_close(column["state"], step[held])
        kept = column["keep"] * column["before"]
        assert_close(kept + column["gate"] * column["written"], step[held])
        if kind == "LSTM":
            assert_close(column["shown"], step["hidden"])
        for share, expected in ((0, before[held]), (0.5, kept), (1, step[held])):
            levels = javascript(RECURRENT, "levelAt", [[flow, share] for flow in flows])
            assert_close(levels, expected)


def test_a_packed_matrix_of_python_is_the_same_matrix_in_javascript(
    javascript: Javascript, random: np.random.Generator
):
    sizes = [random.integers(1, 9, size=2) for _ in range(40)]
    matrices = [random.normal(size=size) * 10 ** random.uniform(-3, 3) for size in sizes]
    packed = [Rows._encode(np.float32(m), None) for m in (*matrices, np.zeros((2, 3)))]
    there = javascript("gate_explorer.js", "unpackRows", [[p] for p in packed])
    for found, sent in zip(there, packed, strict=True):
        np.testing.assert_array_equal(found, Rows.exactly(sent))


def test_an_opinion_is_the_softmax_of_the_readout_and_votes_add_up_to_its_log_odds(
    javascript: Javascript, random: np.random.Generator
):
    cases = []
    for labels in (2, 3, 6) * 20:
        units = int(random.integers(1, 9))
        readout = random.normal(scale=2, size=(labels, units + 1))
        cases.append([readout.tolist(), random.uniform(-1, 1, size=units).tolist()])
    opinions = javascript(RECURRENT, "opinion", cases)
    for found, (readout, state) in zip(opinions, cases, strict=True):
        weight, bias = tensor(readout)[:, :-1], tensor(readout)[:, -1]
        assert_close(found, (weight @ tensor(state) + bias).softmax(-1))
    votes = javascript(RECURRENT, "votes", cases[::3])
    for found, opinion, (readout, _) in zip(votes, opinions[::3], cases[::3], strict=True):
        odds = math.log(opinion[0] / opinion[1])
        assert_close(sum(found) + readout[0][-1] - readout[1][-1], odds)
    one, two, unsure = [0.9, 0.1], [0.2, 0.8], [0.5, 0.5]
    cases = [[[one]], [[one, two]], [[two, one, one, two]], [[unsure, two, unsure]]]
    assert javascript(RECURRENT, "mindChanges", cases) == [[], [1], [1, 3], [1, 2]]


def test_what_a_unit_keeps_at_each_letter_multiplies_to_what_it_keeps_of_the_text(
    javascript: Javascript, random: np.random.Generator
):
    gates = [random.uniform(size=random.integers(1, 25)).tolist() for _ in range(DRAWS)]
    shares = javascript(RECURRENT, "keptShare", [[g] for g in gates])
    halves = javascript(RECURRENT, "halfLife", [[share] for share in shares])
    for share, half, gate in zip(shares, halves, gates, strict=True):
        assert_close(share ** len(gate), math.prod(gate))
        assert_close(share**half, 0.5)
    assert javascript(RECURRENT, "halfLife", [[1], [0]]) == [math.inf, 0]


def test_units_are_sorted_with_the_largest_first_and_equals_in_their_order(
    javascript: Javascript, random: np.random.Generator
):
    values = [random.integers(0, 4, size=random.integers(1, 12)).tolist() for _ in range(DRAWS)]
    expected = [tensor(v).argsort(descending=True, stable=True).tolist() for v in values]
    assert javascript(RECURRENT, "descending", [[v] for v in values]) == expected


def test_a_text_that_the_model_cannot_read_is_told_why(javascript: Javascript):
    reasons = {
        "ab a": "",
        "": "at least one letter",
        "a</b>": "never seen <, /, >. It knows a b ␣",
        "ä🙂b": "never seen ä, 🙂.",
        "ababa": "",
        "ababab": "6 letters; 5 fit",
    }
    cases = [[text, "ab ", 5] for text in reasons]
    found = javascript("gate_explorer.js", "proofread", cases)
    for words, reason in zip(found, reasons.values(), strict=True):
        assert reason in words
        assert bool(words) == bool(reason)
