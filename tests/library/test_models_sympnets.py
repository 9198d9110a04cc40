import pytest
import torch
from seeded_tensors import assert_close, randn, randomized

from course_lib.mechanics import CoupledOscillators, integrate, symplecticity_error
from course_lib.models.sympnets import (
    STEP,
    Perceptron,
    PromptedSympNet,
    PromptEncoder,
    StandardTransformer,
    comes_next,
    learn,
    pieces,
    reference,
    roll_out,
)

D = 2
NETWORKS = {
    pool: randomized(PromptedSympNet(D, encoder=PromptEncoder(D, pool=pool)), 0.3)
    for pool in ("attention", "mean")
}
by_network = pytest.mark.parametrize("network", NETWORKS.values(), ids=NETWORKS)


def prompt(*batch, states=8, seed=5):
    return randn(*batch, states, D, seed=seed), randn(*batch, states, D, seed=seed + 1)


@by_network
@pytest.mark.parametrize("states", [2, 8])
def test_the_map_of_the_state_is_symplectic_for_every_prompt(network, states):
    context = prompt(states=states)
    q, p = randn(D), randn(D, seed=1)
    assert symplecticity_error(lambda q, p: network(q, p, context=context), q, p) < 1e-12


def test_the_inverse_undoes_the_step_given_the_same_prompt():
    for network in NETWORKS.values():
        for batch in [(), (3,), (2, 3)]:
            q, p, context = randn(*batch, D), randn(*batch, D, seed=1), prompt(*batch)
            there = network(q, p, context=context)
            assert_close(network.inverse(*there, context=context), (q, p))
            assert (there[0] - q).norm() > 1e-3


def test_each_of_a_batch_follows_its_own_prompt():
    for network in NETWORKS.values():
        q, p, context = randn(3, D), randn(3, D, seed=1), prompt(3)
        together = network(q, p, context=context)
        alone = network(q[1], p[1], context=(context[0][1], context[1][1]))
        assert_close((together[0][1], together[1][1]), alone)
        others = network(q, p, context=(context[0].roll(1, 0), context[1].roll(1, 0)))
        assert (others[0] - together[0]).norm() > 1e-3


def test_a_stepper_given_a_prompt_reads_it_once_and_steps_like_the_network():
    network, context = NETWORKS["attention"], prompt(3)
    q, p = randn(3, D), randn(3, D, seed=1)
    with torch.no_grad():
        run = integrate(CoupledOscillators(), q, p, dt=1, steps=2, method=network.given(*context))
        by_hand = network(*network(q, p, context=context), context=context)
    assert_close((run.q[:, 2], run.p[:, 2]), by_hand)


@pytest.fixture(scope="module")
def data():
    return reference(6, 20, torch.Generator().manual_seed(3))


def test_pieces_are_windows_and_their_shifted_windows(data):
    i, t = torch.tensor([0, 5]), torch.tensor([3, 1])
    before, after = pieces(data, i, t, tokens=4, shift=2)
    for part, whole in enumerate(data):
        assert torch.equal(before[part][1], whole[5, 1:5])
        assert torch.equal(after[part][0], whole[0, 5:9])
    assert torch.equal(pieces(data, i, t)[1][0], data[0][i, t + 1])


@pytest.mark.parametrize(("kind", "sizes"), [(Perceptron, [2]), (StandardTransformer, [2, 4])])
def test_training_lowers_the_loss_and_is_reproducible(kind, sizes, data):
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
