"""Linear recurrence against its own definition, a closed form, and the gates of lecture 4."""

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from course_lib.recurrent import GRU, MinGRU, linear_recurrence, parallel_scan


def randn(*shape: int, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed + 1000 * len(shape) + sum(shape))
    return torch.randn(shape, dtype=torch.float64, generator=generator)


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
