"""RNN, GRU and LSTM against PyTorch's own, against plain loops, and on bad input."""

import math
import runpy
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from course_lib.recurrent import (
    GRU,
    LSTM,
    RNN,
    GRUGates,
    LSTMGates,
    gru_gates,
    gru_step,
    lstm_gates,
    lstm_step,
    rnn_step,
)

PAIRS = [(RNN, nn.RNN), (GRU, nn.GRU), (LSTM, nn.LSTM)]
CELLS = [ours for ours, _ in PAIRS]
PARAMETERS = ["weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"]

pairs = pytest.mark.parametrize(("ours", "theirs"), PAIRS, ids=lambda cell: cell.__name__)
cells = pytest.mark.parametrize("cell", CELLS)


def randn(*shape: int, dtype: torch.dtype = torch.float64, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed + 1000 * len(shape) + sum(shape))
    return torch.randn(shape, dtype=dtype, generator=generator)


def assert_close(actual: object, expected: object, *, tolerance: float = 1e-10) -> None:
    torch.testing.assert_close(actual, expected, rtol=tolerance, atol=tolerance)


def tensors(state: object) -> tuple[Tensor, ...]:
    """The parts of a state, one for RNN and GRU, two for LSTM."""
    return state if isinstance(state, tuple) else (state,)


def made(cell: type, d_in: int = 3, d_hidden: int = 4) -> nn.Module:
    torch.manual_seed(0)
    return cell(d_in, d_hidden).double()


def made_state(cell: type, *shape: int) -> object:
    state = tuple(randn(*shape, seed=seed) for seed in (5, 6))
    return state if cell is LSTM else state[0]


# Against PyTorch -----------------------------------------------------------------------------


@st.composite
def situations(draw: st.DrawFn) -> dict:
    size = st.integers(1, 5)
    return {
        "batch": draw(st.sampled_from([(), (1,), (3,)])),
        "tokens": draw(st.integers(1, 9)),
        "d_in": draw(size),
        "d_hidden": draw(size),
        "with_state": draw(st.booleans()),
        "large": draw(st.sampled_from([1.0, 30.0])),
    }


@pairs
@given(situation=situations())
def test_outputs_states_and_gradients_are_those_of_torch(
    ours: type, theirs: type, situation: dict
) -> None:
    batch, tokens, large = situation["batch"], situation["tokens"], situation["large"]
    d_in, d_hidden = situation["d_in"], situation["d_hidden"]
    model = made(ours, d_in, d_hidden)
    reference = theirs(d_in, d_hidden, batch_first=True).double()
    reference.load_state_dict(model.state_dict())
    x = (large * randn(*batch, tokens, d_in)).requires_grad_()
    given_state = made_state(ours, *batch, d_hidden) if situation["with_state"] else None
    inputs = [x]
    their_state = None
    if given_state is not None:
        inputs += [part.requires_grad_() for part in tensors(given_state)]
        # Theirs has an axis of layers in front.
        layered = tuple(part[None] for part in tensors(given_state))
        their_state = layered if ours is LSTM else layered[0]

    outputs, state = model(x, given_state)
    expected, expected_state = reference(x, their_state)
    assert_close(outputs, expected)
    parts = tensors(state)
    expected_parts = tuple(part[0] for part in tensors(expected_state))
    assert_close(parts, expected_parts)

    # Fixed random covectors: a plain sum would hide errors that cancel.
    covectors = [randn(*part.shape, seed=3) for part in (outputs, *parts)]
    found = torch.autograd.grad(
        [outputs, *parts], [*inputs, *(getattr(model, name) for name in PARAMETERS)], covectors
    )
    wanted = torch.autograd.grad(
        [expected, *expected_parts],
        [*inputs, *(getattr(reference, name) for name in PARAMETERS)],
        covectors,
    )
    assert_close(found, wanted)


@pairs
def test_gradients_along_a_long_sequence_are_those_of_torch(ours: type, theirs: type) -> None:
    model, reference = made(ours, 8, 16), theirs(8, 16, batch_first=True).double()
    reference.load_state_dict(model.state_dict())
    x = randn(4, 200, 8)
    for layer in (model, reference):
        layer(x)[0].square().sum().backward()
    for name in PARAMETERS:
        found, wanted = getattr(model, name).grad, getattr(reference, name).grad
        assert_close(found / wanted.norm(), wanted / wanted.norm())


@pairs
def test_the_same_parameters_load_both_ways(ours: type, theirs: type) -> None:
    model, reference = ours(3, 4), theirs(3, 4, batch_first=True)
    assert list(model.state_dict()) == PARAMETERS == list(reference.state_dict())
    model.load_state_dict(reference.state_dict())
    again = theirs(3, 4)
    again.load_state_dict(model.state_dict())
    for name in PARAMETERS:
        assert torch.equal(getattr(again, name), getattr(reference, name))


@pairs
def test_a_seed_gives_the_parameters_that_torch_draws_from_it(ours: type, theirs: type) -> None:
    torch.manual_seed(4)
    model = ours(3, 5)
    torch.manual_seed(4)
    reference = theirs(3, 5)
    for name in PARAMETERS:
        assert torch.equal(getattr(model, name), getattr(reference, name))


@pairs
def test_float32_agrees_with_torch(ours: type, theirs: type) -> None:
    model, reference = ours(3, 4), theirs(3, 4, batch_first=True)
    reference.load_state_dict(model.state_dict())
    x = randn(2, 30, 3, dtype=torch.float32)
    outputs, _ = model(x)
    assert outputs.dtype == torch.float32
    assert_close(outputs, reference(x)[0], tolerance=1e-5)


# One step, against its formula number by number ----------------------------------------------


def sigma(number: float) -> float:
    return 1 / (1 + math.exp(-number))


def test_a_step_of_the_plain_network_is_the_tanh_of_its_two_sums() -> None:
    from_input, from_hidden = randn(2, 3), randn(2, 3, seed=1)
    expected = [
        [math.tanh(a + b) for a, b in zip(*rows, strict=True)]
        for rows in zip(from_input.tolist(), from_hidden.tolist(), strict=True)
    ]
    assert_close(rnn_step(from_input, from_hidden).tolist(), expected)


def test_a_step_of_a_gru_follows_its_formula() -> None:
    from_input, from_hidden, hidden = randn(6), randn(6, seed=1), randn(2, seed=2)
    a, b, h = from_input.tolist(), from_hidden.tolist(), hidden.tolist()
    gates = gru_gates(from_input, from_hidden)
    after = gru_step(from_input, from_hidden, hidden)
    for i in range(2):
        reset, update = sigma(a[i] + b[i]), sigma(a[2 + i] + b[2 + i])
        candidate = math.tanh(a[4 + i] + reset * b[4 + i])
        assert_close([gate[i].item() for gate in gates], [reset, update, candidate])
        assert_close(after[i].item(), (1 - update) * candidate + update * h[i])


def test_a_step_of_an_lstm_follows_its_formula() -> None:
    from_input, from_hidden, cell = randn(8), randn(8, seed=1), randn(2, seed=2)
    total, c = (from_input + from_hidden).tolist(), cell.tolist()
    gates = lstm_gates(from_input, from_hidden)
    hidden, after = lstm_step(from_input, from_hidden, cell)
    for i in range(2):
        let_in, keep, show = (sigma(total[start + i]) for start in (0, 2, 6))
        candidate = math.tanh(total[4 + i])
        assert_close([gate[i].item() for gate in gates], [let_in, keep, candidate, show])
        expected = keep * c[i] + let_in * candidate
        assert_close(after[i].item(), expected)
        assert_close(hidden[i].item(), show * math.tanh(expected))


def test_gates_are_named_in_the_order_of_their_sums() -> None:
    assert GRUGates._fields == ("reset", "update", "candidate")
    assert LSTMGates._fields == ("input", "forget", "candidate", "output")
    only_forget = torch.tensor([-50.0, 50.0, 0.0, -50.0], dtype=torch.float64)
    gates = lstm_gates(only_forget, torch.zeros_like(only_forget))
    assert_close(torch.cat(gates), torch.tensor([0.0, 1.0, 0.0, 0.0], dtype=torch.float64))


def test_gates_of_a_whole_sequence_are_the_gates_of_its_steps() -> None:
    model, x = made(LSTM), randn(2, 5, 3)
    outputs, _ = model(x)
    before = torch.cat([torch.zeros(2, 1, 4, dtype=torch.float64), outputs[:, :-1]], dim=1)
    together = lstm_gates(model.from_input(x), model.from_hidden(before))
    for t in range(5):
        step = lstm_gates(model.from_input(x)[:, t], model.from_hidden(before[:, t]))
        assert_close(tuple(gate[:, t] for gate in together), tuple(step))


def test_steps_have_right_gradients() -> None:
    for stacked, step in ((2, rnn_step), (6, gru_step), (8, lstm_step)):
        inputs = [randn(stacked, seed=1), randn(stacked, seed=2), randn(2, seed=3)]
        inputs = inputs[: 2 if step is rnn_step else 3]
        assert torch.autograd.gradcheck(step, [x.requires_grad_() for x in inputs])


# Properties of a layer -----------------------------------------------------------------------


@cells
@given(cut=st.integers(1, 6))
def test_a_sequence_may_be_read_in_two_pieces(cell: type, cut: int) -> None:
    model, x = made(cell), randn(2, 7, 3)
    outputs, state = model(x)
    first, between = model(x[:, :cut])
    second, after = model(x[:, cut:], between)
    assert_close(torch.cat([first, second], dim=1), outputs)
    assert_close(after, state)


@cells
def test_the_last_output_is_the_hidden_state(cell: type) -> None:
    outputs, state = made(cell)(randn(2, 7, 3))
    assert torch.equal(outputs[:, -1], tensors(state)[0])


@cells
def test_an_output_depends_on_nothing_that_comes_later(cell: type) -> None:
    model, x = made(cell), randn(7, 3)
    changed = x.clone()
    changed[4:] += 1
    before, after = model(x)[0], model(changed)[0]
    assert torch.equal(before[:4], after[:4])
    assert (before[4:] != after[4:]).all()


@cells
@pytest.mark.parametrize("batch", [(), (1,), (2, 3), (0,), (2, 0)])
def test_every_batch_axis_is_kept(cell: type, batch: tuple[int, ...]) -> None:
    model, x = made(cell), randn(*batch, 5, 3)
    outputs, state = model(x)
    assert outputs.shape == (*batch, 5, 4)
    assert all(part.shape == (*batch, 4) for part in tensors(state))
    flat, _ = model(x.reshape(math.prod(batch), 5, 3))
    assert_close(outputs.reshape(flat.shape), flat)


@cells
def test_a_given_state_is_left_as_it_was(cell: type) -> None:
    state = made_state(cell, 2, 4)
    before = [part.clone() for part in tensors(state)]
    made(cell)(randn(2, 5, 3), state)
    assert all(torch.equal(a, b) for a, b in zip(before, tensors(state), strict=True))


def test_a_gru_with_open_update_gate_keeps_its_state() -> None:
    model = made(GRU)
    with torch.no_grad():
        model.bias_ih_l0[4:8] = 100
    state = made_state(GRU, 2, 4)
    assert_close(model(randn(2, 50, 3), state)[1], state)


def test_an_lstm_with_open_forget_and_closed_input_gate_keeps_its_cell() -> None:
    model = made(LSTM)
    with torch.no_grad():
        model.bias_ih_l0[:4] = -100
        model.bias_ih_l0[4:8] = 100
    state = made_state(LSTM, 2, 4)
    assert_close(model(randn(2, 50, 3), state)[1][1], state[1])


@cells
def test_a_layer_tells_its_sizes(cell: type) -> None:
    assert repr(cell(3, 4)) == f"{cell.__name__}(d_in=3, d_hidden=4)"


@cells
def test_a_layer_runs_under_autocast(cell: type) -> None:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        outputs, _ = cell(3, 4)(randn(2, 5, 3, dtype=torch.float32))
    assert outputs.isfinite().all()


# Bad input -----------------------------------------------------------------------------------

BAD_INPUT = {
    "empty sequence": (lambda: randn(2, 0, 3), ValueError, "tokens, the length of the sequence x"),
    "wrong features": (lambda: randn(2, 5, 4), ValueError, r"x has shape \(2, 5, 4\).*got 4"),
    "other dtype": (
        lambda: randn(2, 5, 3, dtype=torch.float32),
        TypeError,
        r"x has dtype torch.float32 and parameters has torch.float64.*x\.to\(torch.float64\)",
    ),
}


@cells
@pytest.mark.parametrize("case", BAD_INPUT)
@pytest.mark.usefixtures("plain_calls")
def test_bad_input_is_named(cell: type, case: str) -> None:
    x, error, message = BAD_INPUT[case]
    with pytest.raises(error, match=f"(?s){message}"):
        made(cell)(x())


BAD_STATE = {
    "wrong size": (lambda: randn(2, 3), ValueError, r"\(2, 3\); expected .* = \(2, 4\) for x of"),
    "wrong batch": (lambda: randn(3, 4), ValueError, r"\(3, 4\); expected .* = \(2, 4\) for x of"),
    "one for the whole batch": (lambda: randn(4), ValueError, r"\(4,\); expected .* = \(2, 4\)"),
    "torch's": (lambda: randn(1, 2, 4), ValueError, r"\(1, 2, 4\).*torch.nn.*\.squeeze\(0\)"),
    "other dtype": (
        lambda: randn(2, 4, dtype=torch.float32),
        TypeError,
        r"has dtype torch.float32 and x has torch.float64",
    ),
}


@cells
@pytest.mark.parametrize("case", BAD_STATE)
@pytest.mark.usefixtures("plain_calls")
def test_a_bad_state_is_named(cell: type, case: str) -> None:
    state, error, message = BAD_STATE[case]
    model, x = made(cell), randn(2, 5, 3)
    if cell is not LSTM:
        with pytest.raises(error, match=f"(?s)state.*{message}"):
            model(x, state())
        return
    for part in (0, 1):
        pair = [randn(2, 4), randn(2, 4)]
        pair[part] = state()
        with pytest.raises(error, match=rf"(?s)state\[{part}\].*{message}"):
            model(x, tuple(pair))


@pytest.mark.parametrize(
    ("state", "named"),
    [(randn(2, 4), "Tensor"), ([randn(2, 4)] * 2, "list"), ((randn(2, 4),), "tuple of 1")],
    ids=["tensor", "list", "one"],
)
@pytest.mark.usefixtures("plain_calls")
def test_the_state_of_an_lstm_is_a_pair(state: object, named: str) -> None:
    with pytest.raises(TypeError, match=f"state is a {named}; expected a tuple of 2.*as forward"):
        made(LSTM)(randn(2, 5, 3), state)


@pytest.mark.usefixtures("plain_calls")
def test_the_state_of_a_gru_is_no_pair() -> None:
    with pytest.raises(TypeError, match="state is a tuple; expected"):
        made(GRU)(randn(2, 5, 3), made_state(LSTM, 2, 4))


BAD_STEPS = {
    "sums that differ": (
        lambda: rnn_step(randn(2, 3), randn(3)),
        ValueError,
        r"from_hidden has shape \(3,\)",
    ),
    "sums of two dtypes": (
        lambda: rnn_step(randn(3), randn(3).float()),
        TypeError,
        "from_hidden has dtype torch.float32 and from_input has torch.float64",
    ),
    "no three sums": (
        lambda: gru_gates(randn(2, 4), randn(2, 4)),
        ValueError,
        r"\(2, 4\); expected \(\*batch, 3 \* d_hidden\), the sums of reset, update, candidate",
    ),
    "no four sums": (
        lambda: lstm_gates(randn(2, 6), randn(2, 6)),
        ValueError,
        r"\(2, 6\); expected \(\*batch, 4 \* d_hidden\), the sums of input, forget, candidate",
    ),
    "gates of two shapes": (
        lambda: lstm_gates(randn(2, 8), randn(8)),
        ValueError,
        r"from_hidden has shape \(8,\)",
    ),
    "a state that would broadcast": (
        lambda: gru_step(randn(2, 6), randn(2, 6), randn(2)),
        ValueError,
        r"hidden has shape \(2,\).* = \(2, 2\) for from_input of shape \(2, 6\)",
    ),
    "a cell that would broadcast": (
        lambda: lstm_step(randn(2, 8), randn(2, 8), randn(2, 1)),
        ValueError,
        r"cell has shape \(2, 1\).* = \(2, 2\) for from_input of shape \(2, 8\)",
    ),
    "integers": (
        lambda: lstm_step(randn(8), randn(8), torch.zeros(2).long()),
        TypeError,
        "cell has dtype torch.int64",
    ),
}


@pytest.mark.parametrize("case", BAD_STEPS)
@pytest.mark.usefixtures("plain_calls")
def test_a_bad_step_is_named(case: str) -> None:
    call, error, message = BAD_STEPS[case]
    with pytest.raises(error, match=f"(?s){message}"):
        call()


@cells
@pytest.mark.parametrize(
    ("sizes", "error", "message"),
    [
        ((0, 4), ValueError, "d_in is 0; expected 1 or more"),
        ((3, -1), ValueError, "d_hidden is -1; expected 1 or more"),
    ],
    ids=["d_in", "d_hidden"],
)
@pytest.mark.usefixtures("plain_calls")
def test_bad_sizes_are_named(cell: type, sizes: tuple, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        cell(*sizes)


@pairs
def test_the_benchmark_compares_the_two_layers(ours: type, theirs: type) -> None:
    program = Path(__file__).parents[1] / "benchmarks" / "recurrent.py"
    benchmark = runpy.run_path(str(program))
    row = benchmark["measure"](ours, theirs, batch=2, tokens=3, features=4, rounds=2)
    assert row["cell"] == ours.__name__
    for what in ("forward", "training"):
        assert row[what]["ratio"] > 0
        assert row[what]["ours_seconds"] > 0
    assert ours.__name__ in benchmark["table"]([row]).splitlines()[-1]
