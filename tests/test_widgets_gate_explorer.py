import json
import re

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from torch import nn

from course_lib import recurrent
from course_lib.widgets import GateExplorer
from course_lib.widgets.gate_explorer import KINDS, MOST_LETTERS, PARAMETERS, Rows

# The widget checks what it is given itself, and its messages are what is tested here.
pytestmark = pytest.mark.usefixtures("plain_calls")

ALPHABET = "abcde"
LAYERS = [
    pytest.param(module, kind, id=f"{module.__name__}.{kind}")
    for module in (nn, recurrent)
    for kind in KINDS
]


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


# What is drawn -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("module", "kind"), LAYERS)
def test_a_cell_of_torch_or_of_the_course_arrives_with_its_parameters_side_by_side(module, kind):
    layer = cell(kind, module=module)
    widget = explorer(layer)
    assert widget.kind == kind
    parameters = dict(layer.named_parameters())
    columns = [parameters[name].detach().reshape(len(widget.gates), -1) for name in PARAMETERS]
    np.testing.assert_array_equal(widget.gates, torch.cat(columns, dim=1))


def test_a_subclass_of_a_cell_and_double_precision_are_taken_too():
    class Mine(recurrent.GRU):
        pass

    torch.manual_seed(0)
    assert explorer(Mine(5, 4).double()).kind == "GRU"


@pytest.mark.parametrize(
    ("kind", "quantities", "orders"),
    [
        ("RNN", ["hidden"], ["number", "value"]),
        ("GRU", ["reset", "update", "candidate", "hidden"], ["number", "value", "memory"]),
        (
            "LSTM",
            ["forget", "input", "candidate", "cell", "output", "hidden"],
            ["number", "value", "memory"],
        ),
    ],
)
def test_each_kind_of_cell_offers_its_own_quantities_and_orders(kind, quantities, orders):
    widget = GateExplorer(cell(kind), ALPHABET, text="bead")
    assert widget.quantities == quantities
    assert widget.orders == orders


def test_units_have_votes_where_there_are_two_labels_and_only_there():
    assert explorer().quantities[-1] == "vote"
    three = explorer(readout=linear(labels=3), labels=["a", "b", "c"])
    assert "vote" not in three.quantities
    assert "vote" not in explorer(readout=None, labels=None).quantities


def test_a_readout_travels_with_its_bias_or_with_zeros_for_it():
    readout = linear()
    widget = explorer(readout=readout)
    np.testing.assert_array_equal(widget.readout[:, :-1], readout.weight.detach())
    np.testing.assert_array_equal(widget.readout[:, -1], readout.bias.detach())
    bare = explorer(readout=linear(bias=False))
    np.testing.assert_array_equal(bare.readout[:, -1], [0, 0])


def test_the_last_letter_is_chosen_first():
    assert explorer().letter == 3
    assert explorer(letter=1).letter == 1


@pytest.mark.parametrize(("module", "kind"), LAYERS)
def test_the_description_says_what_torch_makes_of_the_text(module, kind):
    layer, readout = cell(kind, module=module), linear()
    text = explorer(layer, readout=readout).describe()
    places = torch.tensor([ALPHABET.index(letter) for letter in "bead"])
    with torch.no_grad():
        outputs, _ = layer(nn.functional.one_hot(places, 5).float())
        share = float(readout(outputs[-1]).softmax(-1)[0])
    assert float(re.search(r"one (\d\.\d+)", text)[1]) == pytest.approx(share, abs=1.5e-3)
    assert "“bead”" in text
    assert kind in text


def test_the_description_of_a_cell_without_readout_has_no_opinion():
    text = explorer(readout=None, labels=None).describe()
    assert "the model says" not in text
    assert "forget" in text


def test_making_and_describing_a_widget_draws_no_random_numbers():
    layer, readout = cell(), linear()
    before = torch.get_rng_state()
    explorer(layer, readout=readout).describe()
    assert torch.equal(torch.get_rng_state(), before)


def test_training_the_cell_further_does_not_reach_the_widget():
    layer = cell()
    widget = explorer(layer)
    before = widget.gates.copy()
    with torch.no_grad():
        layer.weight_hh_l0.zero_()
    np.testing.assert_array_equal(widget.gates, before)


# The journey of the weights ----------------------------------------------------------------------


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


@pytest.mark.parametrize(("module", "kind"), LAYERS)
def test_a_cell_that_travelled_reads_as_it_did_before(module, kind):
    layer = cell(kind, letters=28, units=32, module=module)
    there = cell(kind, letters=28, units=32, module=module, seed=9)
    alphabet = "abcdefghijklmnopqrstuvwxyz-'"
    state = GateExplorer(layer, alphabet, text="a").page_state()
    rows = torch.from_numpy(Rows.exactly(state["gates"])).float()
    parts = rows.split([28, 32, 1, 1], dim=1)
    there.load_state_dict(
        {
            name: part.reshape(dict(layer.named_parameters())[name].shape)
            for name, part in zip(PARAMETERS, parts, strict=True)
        }
    )
    x = nn.functional.one_hot(torch.randint(28, (MOST_LETTERS,)), 28).float()
    with torch.no_grad():
        assert torch.allclose(there(x)[0], layer(x)[0], rtol=0, atol=1e-3)


def test_an_lstm_of_28_letters_and_32_units_weighs_less_than_sixty_kilobytes():
    alphabet = "abcdefghijklmnopqrstuvwxyz-'"
    widget = GateExplorer(
        cell(letters=28, units=32),
        alphabet,
        text="maria",
        readout=linear(32),
        labels=["one", "two"],
    )
    assert len(widget.static_html().encode()) < 60_000


# Traits ------------------------------------------------------------------------------------------


def test_a_new_text_is_read_and_the_letter_stays_within_it():
    widget = explorer()
    widget.text = "ab"
    assert widget.letter == 1
    assert "“ab”" in widget.describe()


# Data that cannot be drawn -----------------------------------------------------------------------


def test_a_cell_with_a_parameter_of_another_shape_is_refused():
    layer = recurrent.GRU(5, 4)
    layer.bias_hh_l0 = nn.Parameter(torch.zeros(4))
    with pytest.raises(ValueError, match=r"cell.bias_hh_l0 has shape \(4,\); expected \(12,\)"):
        explorer(layer)
