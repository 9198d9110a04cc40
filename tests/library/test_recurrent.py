"""RNN, GRU and LSTM against PyTorch's own and plain loops; linear recurrence and its scan."""

import math
import runpy
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from seeded_tensors import assert_close, randn
from torch import Tensor, nn

from course_lib.recurrent import (
    GRU,
    LSTM,
    RNN,
    MinGRU,
    gru_gates,
    gru_step,
    linear_recurrence,
    lstm_gates,
    lstm_step,
    parallel_scan,
    rnn_step,
)

PAIRS = [(RNN, nn.RNN), (GRU, nn.GRU), (LSTM, nn.LSTM)]
CELLS = [ours for ours, _ in PAIRS]
PARAMETERS = ["weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"]

pairs = pytest.mark.parametrize(("ours", "theirs"), PAIRS, ids=lambda cell: cell.__name__)


def tensors(state: object) -> tuple[Tensor, ...]:
    """The parts of a state, one for RNN and GRU, two for LSTM."""
    return state if isinstance(state, tuple) else (state,)


def made(cell: type, d_in: int = 3, d_hidden: int = 4) -> nn.Module:
    torch.manual_seed(0)
    return cell(d_in, d_hidden).double()


def made_state(cell: type, *shape: int) -> object:
    state = tuple(randn(*shape, seed=seed) for seed in (5, 6))
    return state if cell is LSTM else state[0]


@pairs
@pytest.mark.parametrize(
    ("shape", "d_hidden", "large"), [((1, 1), 1, 1), ((3, 9, 2), 5, 30), ((1, 7, 4), 3, None)]
)
def test_outputs_states_and_gradients_are_those_of_torch(
    ours: type, theirs: type, shape: tuple[int, ...], d_hidden: int, large: int | None
) -> None:
    model = made(ours, shape[-1], d_hidden)
    reference = theirs(shape[-1], d_hidden, batch_first=True).double()
    reference.load_state_dict(model.state_dict())
    x, state, layered = ((large or 1) * randn(*shape)).requires_grad_(), None, None
    inputs = [x]
    if large:
        state = made_state(ours, *shape[:-2], d_hidden)
        inputs += [part.requires_grad_() for part in tensors(state)]
        # PyTorch's state has an axis of layers in front.
        layered = tuple(part[None] for part in tensors(state))
        layered = layered if ours is LSTM else layered[0]

    outputs, after = model(x, state)
    expected, expected_after = reference(x, layered)
    found = [outputs, *tensors(after)]
    wanted = [expected, *(part[0] for part in tensors(expected_after))]
    assert_close(found, wanted)

    # Fixed random covectors: a plain sum would hide errors that cancel.
    covectors = [randn(*part.shape, seed=3) for part in found]
    slopes, expected_slopes = (
        torch.autograd.grad(results, [*inputs, *map(net.get_parameter, PARAMETERS)], covectors)
        for net, results in ((model, found), (reference, wanted))
    )
    assert_close(slopes, expected_slopes)


def test_a_seed_gives_the_parameters_that_torch_draws_from_it() -> None:
    for ours, theirs in PAIRS:
        torch.manual_seed(4)
        model = ours(3, 5)
        torch.manual_seed(4)
        reference = theirs(3, 5)
        for name in PARAMETERS:
            assert torch.equal(getattr(model, name), getattr(reference, name))


def sigma(number: float) -> float:
    return 1 / (1 + math.exp(-number))


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


def test_steps_have_right_gradients() -> None:
    for stacked, step in ((2, rnn_step), (6, gru_step), (8, lstm_step)):
        inputs = [randn(stacked, seed=1), randn(stacked, seed=2), randn(2, seed=3)]
        inputs = inputs[: 2 if step is rnn_step else 3]
        assert torch.autograd.gradcheck(step, [x.requires_grad_() for x in inputs])


@settings(max_examples=6)
@given(cut=st.integers(1, 6))
def test_a_sequence_may_be_read_in_two_pieces(cut: int) -> None:
    for cell in CELLS:
        model, x = made(cell), randn(2, 7, 3)
        outputs, state = model(x)
        first, between = model(x[:, :cut])
        second, after = model(x[:, cut:], between)
        assert_close(torch.cat([first, second], dim=1), outputs)
        assert_close(after, state)


def test_every_batch_axis_is_kept() -> None:
    for cell in CELLS:
        for batch in [(), (2, 3), (2, 0)]:
            model, x = made(cell), randn(*batch, 5, 3)
            outputs, state = model(x)
            assert outputs.shape == (*batch, 5, 4)
            assert all(part.shape == (*batch, 4) for part in tensors(state))
            flat, _ = model(x.reshape(math.prod(batch), 5, 3))
            assert_close(outputs.reshape(flat.shape), flat)


def test_the_benchmark_compares_the_two_layers() -> None:
    for ours, theirs in PAIRS:
        program = Path(__file__).parents[2] / "benchmarks" / "recurrent.py"
        benchmark = runpy.run_path(str(program))
        row = benchmark["measure"](ours, theirs, batch=2, tokens=3, features=4, rounds=2)
        assert row["cell"] == ours.__name__
        for what in ("forward", "training"):
            assert row[what]["ratio"] > 0
            assert row[what]["ours_seconds"] > 0
        assert ours.__name__ in benchmark["table"]([row]).splitlines()[-1]


def test_states_are_sums_of_what_was_added_times_all_that_was_kept_since() -> None:
    for scan in (linear_recurrence, parallel_scan):
        keep, add = randn(2, 6, 3), randn(2, 6, 3, seed=1)
        states = scan(keep, add)
        for t in range(6):
            closed = sum(add[:, s] * keep[:, s + 1 : t + 1].prod(1) for s in range(t + 1))
            torch.testing.assert_close(states[:, t], closed)


@given(tokens=st.integers(1, 40), seed=st.integers(0, 100))
def test_the_scan_gives_the_states_of_the_loop(tokens: int, seed: int) -> None:
    keep, add = randn(2, tokens, 3, seed=seed), randn(2, tokens, 3, seed=seed + 1)
    torch.testing.assert_close(parallel_scan(keep, add), linear_recurrence(keep, add))


def test_the_scan_is_right_where_a_product_of_many_is_infinite() -> None:
    add, keep = torch.zeros(129, 1), torch.full((129, 1), 2.0)
    assert not parallel_scan(keep, add).any()
    keep[:], keep[-1], add[-1] = 3.0, 0.0, 1.0
    assert torch.equal(parallel_scan(keep, add), add)


def test_gradients_of_the_scan_are_those_of_the_loop() -> None:
    keep, add = randn(9, 2).requires_grad_(), randn(9, 2, seed=1).requires_grad_()
    mix = randn(9, 2, seed=2)
    found, wanted = (
        torch.autograd.grad((scan(keep, add) * mix).sum(), (keep, add))
        for scan in (parallel_scan, linear_recurrence)
    )
    torch.testing.assert_close(found, wanted)


def test_a_min_gru_is_a_gru_whose_gates_see_the_input_alone() -> None:
    ours, gru = MinGRU(4, 3).double(), GRU(4, 3).double()
    nn.init.zeros_(gru.weight_hh_l0)
    nn.init.zeros_(gru.bias_hh_l0)
    with torch.no_grad():
        gru.weight_ih_l0[3:] = 1e-4 * torch.cat([1e4 * ours.update.weight, ours.candidate.weight])
        gru.bias_ih_l0[3:] = 1e-4 * torch.cat([1e4 * ours.update.bias, ours.candidate.bias])
    x = randn(2, 7, 4)
    # So small a candidate passes the tanh of a GRU unchanged, up to a third power.
    torch.testing.assert_close(1e4 * gru(x)[0], ours(x), rtol=1e-6, atol=1e-6)
