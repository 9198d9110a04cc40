"""What learns the motion of two springs: its data, its losses, its training and its rollouts."""

import pytest
import torch

from course_lib.mechanics import integrate, stoermer_verlet
from course_lib.models.sympnets import (
    STEP,
    SYSTEM,
    Perceptron,
    StandardTransformer,
    comes_next,
    learn,
    missed,
    pieces,
    reference,
    roll_out,
)


@pytest.fixture(scope="module")
def data():
    return reference(6, 20, torch.Generator().manual_seed(3))


def test_states_lie_a_step_apart_on_the_true_motion(data):
    q, p = data
    fine = {"dt": STEP / 300, "steps": 300, "method": stoermer_verlet}
    run = integrate(SYSTEM, q[:, 4], p[:, 4], **fine)
    assert (run.q[:, -1] - q[:, 5]).abs().max() < 1e-3
    assert q[:, 0].abs().max() <= 1
    assert (q[:, 5] - q[:, 4]).abs().max() > 0.1


def test_pieces_are_windows_and_the_windows_so_much_later(data):
    i, t = torch.tensor([0, 5]), torch.tensor([3, 1])
    before, after = pieces(data, i, t, tokens=4, shift=2)
    for part, whole in enumerate(data):
        assert torch.equal(before[part][1], whole[5, 1:5])
        assert torch.equal(after[part][0], whole[0, 5:9])
    assert torch.equal(pieces(data, i, t)[1][0], data[0][i, t + 1])


def test_the_loss_is_zero_for_what_comes_next_alone(data):
    picked = torch.tensor([0, 5]), torch.tensor([3, 1])
    _, after = pieces(data, *picked)
    assert missed(lambda *_: after, (after, after)) == 0
    stands_still = comes_next(data)(lambda q, p: (q, p), picked)
    before = pieces(data, *picked)[0]
    gaps = [(a - b).square().mean() for a, b in zip(before, after, strict=True)]
    assert stands_still == pytest.approx(sum(gaps).item())


@pytest.mark.parametrize(("kind", "sizes"), [(Perceptron, [2]), (StandardTransformer, [2, 4])])
def test_training_lowers_the_loss_and_repeats_itself(kind, sizes, data):
    def make():
        return kind(*sizes)

    tokens = 4 if kind is StandardTransformer else 1
    loss = comes_next(data, tokens=tokens, shift=tokens)
    options = {"last": 20 - 2 * tokens, "updates": 40, "trajectories": 6, "progress": False}
    torch.manual_seed(0)
    fresh, (first, second) = make().double(), (learn(make, loss, **options) for _ in range(2))
    picked = torch.arange(6), torch.arange(6)
    assert loss(first, picked) < loss(fresh, picked) / 2
    assert loss(first, picked) == loss(second, picked)


def test_a_rollout_feeds_a_map_with_its_output_and_stops_before_it_overflows(data):
    start = data[0][:, 0], data[1][:, 0]
    run = roll_out(lambda q, p: (q + 1, p), *start, shift=2, steps=6)
    torch.testing.assert_close(run.q[:, -1], start[0] + 3)
    torch.testing.assert_close(run.t[-1].item(), 6 * STEP)
    burst = roll_out(lambda q, p: (q * 1e200, p), *start, steps=6)
    assert burst.q.shape[1] < 6
    assert burst.q.isfinite().all()
