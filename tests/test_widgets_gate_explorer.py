import json
import re

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from torch import nn

from course_lib import recurrent
from course_lib.widgets import GateExplorer
from course_lib.widgets.gate_explorer import KINDS, PARAMETERS, Rows

pytestmark = pytest.mark.usefixtures("plain_calls")

ALPHABET = "abcde"
LAYERS = [(module, kind) for module in (nn, recurrent) for kind in KINDS]


def cell(kind="LSTM", letters=5, units=4, module=nn, seed=0, **options):
    """A layer whose parameters are large enough for its gates to open and close."""
    torch.manual_seed(seed)
    layer = getattr(module, kind)(letters, units, **options)
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.mul_(3)
    return layer


def linear(units=4, labels=2, seed=1, **options):
    torch.manual_seed(seed)
    return nn.Linear(units, labels, **options)


def explorer(layer=None, alphabet=ALPHABET, **options):
    arguments = {"text": "bead", "readout": linear(), "labels": ["one", "two"]} | options
    return GateExplorer(cell() if layer is None else layer, alphabet, **arguments)


def test_a_cell_of_torch_or_of_the_course_arrives_with_its_parameters_side_by_side():
    for module, kind in LAYERS:
        layer = cell(kind, module=module)
        widget = explorer(layer)
        assert widget.kind == kind
        parameters = dict(layer.named_parameters())
        columns = [parameters[name].detach().reshape(len(widget.gates), -1) for name in PARAMETERS]
        np.testing.assert_array_equal(widget.gates, torch.cat(columns, dim=1))

    class Mine(recurrent.GRU):
        pass

    assert explorer(Mine(5, 4).double()).kind == "GRU"


def test_each_kind_of_cell_offers_its_own_quantities_and_orders():
    for kind, quantities in (
        ("RNN", ["hidden"]),
        ("GRU", ["reset", "update", "candidate", "hidden"]),
        ("LSTM", ["forget", "input", "candidate", "cell", "output", "hidden"]),
    ):
        widget = GateExplorer(cell(kind), ALPHABET, text="bead")
        assert widget.quantities == quantities
        assert widget.orders == ["number", "value", "memory"][: 2 if kind == "RNN" else 3]
        assert explorer(cell(kind)).quantities == [*quantities, "vote"]
    three = explorer(readout=linear(labels=3), labels=["a", "b", "c"])
    assert "vote" not in three.quantities


def test_a_readout_travels_with_its_bias_or_with_zeros_for_it():
    readout = linear()
    widget = explorer(readout=readout)
    np.testing.assert_array_equal(widget.readout[:, :-1], readout.weight.detach())
    np.testing.assert_array_equal(widget.readout[:, -1], readout.bias.detach())
    bare = explorer(readout=linear(bias=False))
    np.testing.assert_array_equal(bare.readout[:, -1], [0, 0])


def test_a_new_text_is_read_and_the_letter_stays_within_it():
    widget = explorer()
    assert (widget.letter, explorer(letter=1).letter) == (3, 1)
    widget.text = "ab"
    assert widget.letter == 1
    assert "“ab”" in widget.describe()


def test_the_description_says_what_torch_makes_of_the_text():
    x = nn.functional.one_hot(torch.tensor([ALPHABET.index(c) for c in "bead"]), 5).float()
    for module, kind in LAYERS:
        layer, readout = cell(kind, module=module), linear()
        text = explorer(layer, readout=readout).describe()
        with torch.no_grad():
            share = float(readout(layer(x)[0][-1]).softmax(-1)[0])
        assert float(re.search(r"one (\d\.\d+)", text)[1]) == pytest.approx(share, abs=1.5e-3)
        assert "“bead”" in text
        assert kind in text
    text = explorer(readout=None, labels=None).describe()
    assert "the model says" not in text
    assert "forget" in text


@settings(max_examples=15)
@given(
    hnp.arrays(
        np.float32,
        hnp.array_shapes(min_dims=2, max_dims=2, max_side=6),
        elements=st.floats(-1e3, 1e3, width=32),
    )
)
def test_sixteen_bits_miss_an_entry_by_at_most_half_a_step_of_its_row(matrix):
    there = Rows.exactly(json.loads(json.dumps(Rows._encode(matrix, None))))
    step = np.abs(matrix).max(axis=1, keepdims=True).astype(np.float64) / 32767
    assert (np.abs(there - matrix) <= 0.5001 * step + 1e-40).all()
