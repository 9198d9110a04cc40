"""The mathematics of GateExplorer's JavaScript, run in Chromium, against PyTorch and course_lib."""

import itertools
import math
import re

import numpy as np
import pytest
import torch
from in_the_page import DRAWS, Javascript, assert_close, tensor
from torch import nn

from course_lib import recurrent
from course_lib.widgets.gate_explorer import KINDS, PARAMETERS, Rows

READINGS = 40
LAYERS = {"RNN": nn.RNN, "GRU": nn.GRU, "LSTM": nn.LSTM}


def random_cell(random: np.random.Generator, kind: str) -> tuple[int, int, list[list[float]]]:
    """How many letters and units, and the parameters side by side as the page has them."""
    letters, units = random.integers(1, 9, size=2).tolist()
    shape = (KINDS[kind].sums * units, letters + units + 2)
    return letters, units, random.normal(scale=1.5, size=shape).tolist()


def loaded(layer: nn.Module, letters: int, units: int, rows: list[list[float]]) -> nn.Module:
    """A layer, in float64, with the parameters of the page."""
    parts = tensor(rows).split([letters, units, 1, 1], dim=1)
    layer = layer.double()
    layer.load_state_dict(
        {
            name: part.reshape(layer.state_dict()[name].shape)
            for name, part in zip(PARAMETERS, parts, strict=True)
        }
    )
    return layer.requires_grad_(requires_grad=False)


@pytest.mark.parametrize("kind", KINDS)
def test_reading_a_text_in_the_page_is_that_of_torch_and_of_course_lib(
    javascript: Javascript, random: np.random.Generator, kind: str
):
    cells = [random_cell(random, kind) for _ in range(READINGS)]
    places = [
        random.integers(0, letters, size=random.integers(1, 25)).tolist() for letters, _, _ in cells
    ]
    runs = javascript(
        "js/maths/recurrent.js",
        "readText",
        [
            [kind, rows, letters, units, text]
            for (letters, units, rows), text in zip(cells, places, strict=True)
        ],
    )
    for run, cell, text in zip(runs, cells, places, strict=True):
        letters, units, _ = cell
        x = nn.functional.one_hot(torch.tensor(text), letters).double()
        found = [step["hidden"] for step in run]
        for layer in (LAYERS[kind](letters, units), getattr(recurrent, kind)(letters, units)):
            outputs, state = loaded(layer, *cell)(x)
            assert_close(found, outputs)
        if kind == "LSTM":
            assert_close(run[-1]["cell"], state[1])
        assert_close(run[0]["before"]["hidden"], np.zeros(units))
        for before, after in itertools.pairwise(run):
            assert after["before"]["hidden"] == before["hidden"]


@pytest.mark.parametrize("kind", KINDS)
def test_the_sums_and_the_gates_of_a_step_are_those_of_course_lib(
    javascript: Javascript, random: np.random.Generator, kind: str
):
    cells = [random_cell(random, kind) for _ in range(READINGS)]
    states = [random.normal(size=(2, units)) for _, units, _ in cells]
    texts = [int(random.integers(letters)) for letters, _, _ in cells]
    cases = [
        [rows, letters, text, {"hidden": state[0].tolist(), "cell": state[1].tolist()}]
        for (letters, _, rows), state, text in zip(cells, states, texts, strict=True)
    ]
    if kind == "RNN":
        steps = javascript("js/maths/recurrent.js", "rnnStep", cases)
    elif kind == "GRU":
        steps = javascript("js/maths/recurrent.js", "gruStep", cases)
    else:
        steps = javascript("js/maths/recurrent.js", "lstmStep", cases)
    sums = javascript(
        "js/maths/recurrent.js", "gateSums", [[*case[:3], case[3]["hidden"]] for case in cases]
    )
    for step, both, cell, state, text in zip(steps, sums, cells, states, texts, strict=True):
        letters, units, _ = cell
        layer = loaded(getattr(recurrent, kind)(letters, units), *cell)
        hidden, memory = tensor(state)
        a = layer.from_input(torch.eye(letters, dtype=torch.float64)[text][None])[0]
        b = layer.from_hidden(hidden)
        for found in (step, both):
            assert_close(found["a"], a)
            assert_close(found["b"], b)
        if kind == "RNN":
            expected = {"hidden": recurrent.rnn_step(a, b)}
        elif kind == "GRU":
            gates = recurrent.gru_gates(a, b)._asdict()
            expected = {**gates, "hidden": recurrent.gru_step(a, b, hidden)}
        else:
            after = recurrent.lstm_step(a, b, memory)
            gates = recurrent.lstm_gates(a, b)._asdict()
            expected = {**gates, "hidden": after[0], "cell": after[1]}
        assert set(expected) == set(KINDS[kind].quantities)
        for name, value in expected.items():
            assert_close(step[name], value)


def test_a_packed_matrix_of_python_is_the_same_matrix_in_javascript(
    javascript: Javascript, random: np.random.Generator
):
    matrices = [
        (random.normal(size=random.integers(1, 9, size=2)) * 10 ** random.uniform(-3, 3)).astype(
            np.float32
        )
        for _ in range(DRAWS)
    ]
    matrices.append(np.zeros((2, 3), dtype=np.float32))
    packed = [Rows._encode(matrix, None) for matrix in matrices]
    for there, sent in zip(
        javascript("gate_explorer.js", "unpackRows", [[p] for p in packed]), packed, strict=True
    ):
        np.testing.assert_array_equal(there, Rows.exactly(sent))


def test_an_opinion_is_the_softmax_of_the_readout(
    javascript: Javascript, random: np.random.Generator
):
    shapes = [(random.integers(2, 7), random.integers(1, 9)) for _ in range(DRAWS)]
    readouts = [random.normal(scale=3, size=(labels, units + 1)) for labels, units in shapes]
    hidden = [random.uniform(-1, 1, size=units) for _, units in shapes]
    cases = [[r.tolist(), h.tolist()] for r, h in zip(readouts, hidden, strict=True)]
    opinions = javascript("js/maths/recurrent.js", "opinion", cases)
    for found, (readout, state) in zip(opinions, cases, strict=True):
        linear = nn.Linear(len(state), len(readout)).double()
        linear.load_state_dict({"weight": tensor(readout)[:, :-1], "bias": tensor(readout)[:, -1]})
        assert_close(found, linear(tensor(state)).softmax(-1).detach())


def test_votes_and_bias_add_up_to_the_log_odds(javascript: Javascript, random: np.random.Generator):
    units = [int(random.integers(1, 9)) for _ in range(DRAWS)]
    cases = [
        [random.normal(size=(2, count + 1)).tolist(), random.uniform(-1, 1, size=count).tolist()]
        for count in units
    ]
    for found, opinion, (readout, _) in zip(
        javascript("js/maths/recurrent.js", "votes", cases),
        javascript("js/maths/recurrent.js", "opinion", cases),
        cases,
        strict=True,
    ):
        odds = math.log(opinion[0] / opinion[1])
        assert_close(sum(found) + readout[0][-1] - readout[1][-1], odds)


def test_the_model_changes_its_mind_where_another_label_takes_the_lead(javascript: Javascript):
    one, two, unsure = [0.9, 0.1], [0.2, 0.8], [0.5, 0.5]
    cases = [
        [[one]],
        [[one, one]],
        [[one, two]],
        [[two, one, one, two]],
        [[unsure, two, unsure]],
        [[[0.2, 0.3, 0.5], [0.3, 0.4, 0.3], [0.5, 0.4, 0.1]]],
    ]
    found = javascript("js/maths/recurrent.js", "mindChanges", cases)
    assert found == [[], [], [1], [1, 3], [1, 2], [1, 2]]


def test_what_a_unit_keeps_at_each_letter_multiplies_to_what_it_keeps_of_the_text(
    javascript: Javascript, random: np.random.Generator
):
    gates = [random.uniform(size=random.integers(1, 25)).tolist() for _ in range(DRAWS)]
    shares = javascript("js/maths/recurrent.js", "keptShare", [[g] for g in gates])
    halves = javascript("js/maths/recurrent.js", "halfLife", [[share] for share in shares])
    for share, half, gate in zip(shares, halves, gates, strict=True):
        assert_close(share ** len(gate), math.prod(gate))
        assert_close(share**half, 0.5)


def test_what_keeps_all_lasts_forever_and_what_keeps_nothing_is_gone_at_once(
    javascript: Javascript,
):
    assert javascript("js/maths/recurrent.js", "halfLife", [[1], [0]]) == [math.inf, 0]


def test_units_are_sorted_with_the_largest_first_and_equals_in_their_order(
    javascript: Javascript, random: np.random.Generator
):
    values = [random.integers(0, 4, size=random.integers(1, 12)).tolist() for _ in range(DRAWS)]
    for found, value in zip(
        javascript("js/maths/recurrent.js", "descending", [[v] for v in values]),
        values,
        strict=True,
    ):
        assert found == torch.argsort(tensor(value), descending=True, stable=True).tolist()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ab a", ""),
        ("", "at least one letter"),
        ("aXb", "never seen X"),
        ("a</b>", "never seen <, /, >. It knows a b ␣"),
        ("ä🙂b", "never seen ä, 🙂."),
        ("AB", "never seen A, B."),
        ("ababa", ""),
        ("ababab", "6 letters; 5 fit"),
    ],
)
def test_a_text_that_the_model_cannot_read_is_told_why(
    javascript: Javascript, text: str, said: str
):
    [found] = javascript("gate_explorer.js", "proofread", [[text, "ab ", 5]])
    assert said in found
    assert bool(found) == bool(said)


@pytest.mark.parametrize("kind", KINDS)
def test_an_equation_in_numbers_comes_to_what_it_says(
    javascript: Javascript, random: np.random.Generator, kind: str
):
    cells = [random_cell(random, kind) for _ in range(30)]
    texts = [random.integers(0, letters, size=4).tolist() for letters, _, _ in cells]
    runs = javascript(
        "js/maths/recurrent.js",
        "readText",
        [[kind, rows, n, u, text] for (n, u, rows), text in zip(cells, texts, strict=True)],
    )
    cases = [
        [kind, name, step, int(random.integers(units))]
        for run, (_, units, _) in zip(runs, cells, strict=True)
        for step in run
        for name in KINDS[kind].quantities
    ]
    names = {"σ": lambda x: 1 / (1 + math.exp(-x)), "tanh": math.tanh}
    for found, (_, name, step, unit) in zip(
        javascript("js/maths/recurrent.js", "equation", cases), cases, strict=True
    ):
        assert found["value"] == step[name][unit]
        assert re.fullmatch(r"(?:σ|tanh|[\d.()·+− ])+", found["numbers"])
        text = found["numbers"].replace("·", "*").replace("−", "-")
        # Each number is rounded to two digits; the cell is a sum of two products of such numbers.
        doubt = 0.005 * (4 + max(map(abs, step["before"].get("cell", [0.0]))))
        assert eval(text, {"__builtins__": {}}, names) == pytest.approx(  # noqa: S307 - matched
            found["value"], abs=doubt + 0.005 * max(map(abs, step["b"]))
        )
        assert re.match(r"[a-z] = ", found["symbols"])


@pytest.mark.parametrize("kind", KINDS)
def test_what_runs_out_and_what_comes_in_make_the_state_that_course_lib_computes(
    javascript: Javascript, random: np.random.Generator, kind: str
):
    letters, units, rows = random_cell(random, kind)
    text = random.integers(0, letters, size=6).tolist()
    [run] = javascript("js/maths/recurrent.js", "readText", [[kind, rows, letters, units, text]])
    layer = loaded(getattr(recurrent, kind)(letters, units), letters, units, rows)
    state = (torch.zeros(1, units).double(),) * (2 if kind == "LSTM" else 1)
    one_hot = nn.functional.one_hot(torch.tensor(text), letters).double()
    for step, token in zip(run, one_hot, strict=True):
        before = state[-1][0]
        given = state if kind == "LSTM" else state[0]
        _, after = layer(token[None, None], given)
        state = after if kind == "LSTM" else (after,)
        flows = javascript(
            "js/maths/recurrent.js", "exchange", [[kind, step, unit] for unit in range(units)]
        )
        column = {name: tensor([flow[name] for flow in flows]) for name in flows[0]}
        assert_close(column["before"], before)
        assert_close(column["state"], state[-1][0])
        kept = column["keep"] * column["before"]
        assert_close(kept + column["gate"] * column["written"], state[-1][0])
        if kind == "LSTM":
            assert_close(column["shown"], state[0][0])
        for share, expected in ((0, before), (0.5, kept), (1, state[-1][0])):
            levels = javascript(
                "js/maths/recurrent.js", "levelAt", [[flow, share] for flow in flows]
            )
            assert_close(levels, expected)
