import itertools

import numpy as np
import pytest
import scipy.linalg
import torch
from seeded_tensors import assert_close, randn

from course_lib.graph import edge_softmax
from course_lib.graph_dynamics import (
    SOLVERS,
    Diffusion,
    DoubleBracketFlow,
    HamiltonianFlow,
    WaveEquation,
    energy,
    euler_step,
    evolve,
    laplacian,
)
from course_lib.mechanics import stoermer_verlet

# A square with a diagonal, a pair with a loop, and a node alone: three components, four cycles.
PAIRS = torch.tensor([[0, 1, 2, 3, 0, 4, 5], [1, 2, 3, 0, 2, 5, 5]])
NODES, COUNT = 7, 7
BOTH = torch.cat([PAIRS, PAIRS.flip(0)[:, :-1]], dim=1)
METRIC = {"node_weights": randn(NODES, seed=1).exp(), "edge_weights": randn(COUNT, seed=2).exp()}
FLOWS = (HamiltonianFlow, DoubleBracketFlow)
TIMES = torch.tensor([0.0, 0.4, 1.0]).double()
by_flow = pytest.mark.parametrize("kind", FLOWS, ids=lambda kind: kind.__name__)


def state(d=2, seed=10):
    return randn(NODES, d, seed=seed), randn(COUNT, d, seed=seed + 1)


def anharmonic(q, p):
    """An energy that couples all coordinates and is not quadratic."""
    return (q**4).sum() / 4 + p.cosh().sum() + q.mean() * p.square().sum()


def anharmonic_slopes(q, p):
    """Its partial derivatives, by hand."""
    return q**3 + p.square().sum() / q.numel(), p.sinh() + 2 * q.mean() * p


def joined(pair):
    return torch.cat(pair).numpy()


def dense_poisson(node_weights, edge_weights):
    """J as one matrix, its blocks from the incidence matrix."""
    D = np.zeros((COUNT, NODES))
    for e, (source, target) in enumerate(PAIRS.T.tolist()):
        D[e, source] -= 1
        D[e, target] += 1
    adjoint = np.diag(1 / node_weights.numpy()) @ D.T @ np.diag(edge_weights.numpy())
    zeros = np.zeros
    return np.block([[zeros((NODES, NODES)), -adjoint], [D, zeros((COUNT, COUNT))]])


J = dense_poisson(**METRIC)
MASS = torch.cat([METRIC["node_weights"], METRIC["edge_weights"]]).numpy()
GENERATOR = {HamiltonianFlow: J, DoubleBracketFlow: J + J @ J}


def attention_weights():
    score = randn(BOTH.shape[1], seed=4)
    return edge_softmax(score, BOTH[1], NODES)


def test_diffusion_pulls_every_node_towards_its_neighbours():
    h, alpha = randn(NODES, 2), attention_weights()
    by_hand = torch.zeros_like(h)
    for weight, (j, i) in zip(alpha, BOTH.T, strict=True):
        by_hand[i] += weight * (h[j] - h[i])
    assert_close(Diffusion(BOTH, weights=alpha).velocity(h), by_hand)
    assert_close(Diffusion(BOTH).velocity(h), -laplacian(PAIRS, NODES, dtype=h.dtype) @ h)


def test_poisson_is_the_dense_matrix_and_skew_in_the_metric():
    x, y = state(), state(seed=20)
    system = HamiltonianFlow(PAIRS, NODES, **METRIC)
    assert_close(torch.cat(system.poisson(x)), torch.from_numpy(J @ joined(x)))
    turned = MASS[:, None] * J
    np.testing.assert_allclose(turned, -turned.T)
    assert_close(system.inner(system.poisson(x), y), -system.inner(x, system.poisson(y)), 1e-10)


@by_flow
def test_the_default_energy_is_half_the_square_of_the_norm_and_its_gradient_the_state(kind):
    m, w = (weights[:, None] for weights in METRIC.values())

    def half_square(q, p):
        return ((m * q * q).sum() + (w * p * p).sum()) / 2

    x, plain = state(), kind(PAIRS, NODES, **METRIC)
    by_autograd = kind(PAIRS, NODES, **METRIC, hamiltonian=half_square)
    assert_close(plain.energy(x), half_square(*x))
    assert_close(energy(*x, **METRIC), half_square(*x))
    for left, right in zip(plain.velocity(x), by_autograd.velocity(x), strict=True):
        assert_close(left, right)


def test_the_velocity_is_the_generator_times_the_gradient():
    for kind in FLOWS:
        q, p = state()
        slopes = joined(anharmonic_slopes(q, p)) / MASS[:, None]
        velocity = kind(PAIRS, NODES, **METRIC, hamiltonian=anharmonic).velocity((q, p))
        assert_close(torch.cat(velocity), torch.from_numpy(GENERATOR[kind] @ slopes), 1e-10)


def test_under_the_default_energy_the_flow_is_the_exponential_of_the_generator():
    for kind in FLOWS:
        x = state()
        q, p = evolve(kind(PAIRS, NODES, **METRIC), x, TIMES, tolerance=1e-9)
        for k, t in enumerate(TIMES.tolist()):
            expected = scipy.linalg.expm(t * GENERATOR[kind]) @ joined(x)
            assert_close(torch.cat([q[k], p[k]]), torch.from_numpy(expected), 1e-6)


def rates(kind, energy=anharmonic):
    """The rate of the energy, by the system and as a finite difference along the flow."""
    system, x, step = kind(PAIRS, NODES, **METRIC, hamiltonian=energy), state(), 1e-6
    v = system.velocity(x)
    ahead, behind = (
        system.energy(tuple(a + s * b for a, b in zip(x, v, strict=True))) for s in (step, -step)
    )
    return system, x, system.energy_rate(x), (ahead - behind) / (2 * step)


def test_a_hamiltonian_flow_keeps_any_energy():
    system, x, rate, measured = rates(HamiltonianFlow)
    size = system.inner(system.velocity(x), system.velocity(x))
    assert rate.abs() < 1e-12 * size
    assert measured.abs() < 1e-6 * size


def test_a_double_bracket_loses_energy_as_fast_as_the_square_of_the_turned_gradient():
    system, x, rate, measured = rates(DoubleBracketFlow)
    turned = system.poisson(system.energy_gradient(x))
    assert_close(rate, -system.inner(turned, turned), 1e-10)
    assert_close(measured, rate, 1e-6)
    assert rate < -1


WAVE = WaveEquation(PAIRS, NODES, **METRIC)


def test_the_gradients_of_the_wave_are_those_of_autograd():
    q, p = randn(3, 2, NODES).requires_grad_(), randn(3, 2, NODES, seed=1).requires_grad_()
    slope_q, slope_p = torch.autograd.grad(WAVE.energy(q, p).sum(), (q, p))
    assert_close(WAVE.grad_q(q, p), slope_q)
    assert_close(WAVE.grad_p(q, p), slope_p)


def test_every_solver_follows_the_exponential():
    for method in SOLVERS:
        t = torch.linspace(0, 0.5, 51).double()
        h = randn(NODES, 2)
        end = evolve(Diffusion(BOTH), h, t, method=method, tolerance=1e-5)[-1]
        expected = (
            scipy.linalg.expm(-0.5 * laplacian(PAIRS, NODES, dtype=h.dtype).numpy()) @ h.numpy()
        )
        assert_close(end, torch.from_numpy(expected), 0.05 if method == "euler" else 1e-3)


def test_no_flow_depends_on_the_unit_of_a_feature():
    """One feature is constant, one is 0, and one a pulse in any unit."""
    path = torch.tensor([[0, 1, 2], [1, 2, 3]])
    heat = Diffusion(torch.cat([path, path.flip(0)], dim=1))
    flows = [kind(path, 4) for kind in FLOWS]
    for dtype, size in itertools.product((torch.float32, torch.float64), (1e-12, 1e-3, 1e12)):
        h, t = torch.zeros(4, 3, dtype=dtype), torch.tensor([0.0, 1.0], dtype=dtype)
        h[:, 0], h[0, 2] = 1, 1
        scaled, rest = h * torch.tensor([1, 1, size]), torch.zeros_like(h[:3])
        pairs = [(evolve(heat, scaled, t)[-1], evolve(heat, h, t)[-1])]
        for flow in flows:
            ends = (evolve(flow, (start, rest), t) for start in (scaled, h))
            pairs += [(one[-1], other[-1]) for one, other in zip(*ends, strict=True)]
        for end, expected in pairs:
            assert_close(end[:, 2] / size, expected[:, 2], 1e-3)
    exact = scipy.linalg.expm(-laplacian(path, 4, dtype=torch.float64).numpy())[:, 0]
    assert_close(evolve(heat, h, t)[-1, :, 2], torch.from_numpy(exact), 1e-6)


def test_a_flow_starts_at_its_initial_state_and_keeps_shape_and_dtype():
    x = tuple(part.float() for part in state(d=3))
    metric = {name: weights.float() for name, weights in METRIC.items()}
    system = DoubleBracketFlow(PAIRS, NODES, **metric)
    q, p = evolve(system, x, TIMES.float())
    assert (q.shape, p.shape) == ((3, NODES, 3), (3, COUNT, 3))
    assert q.dtype == p.dtype == torch.float32
    assert torch.equal(q[0], x[0])
    exact, _ = evolve(DoubleBracketFlow(PAIRS, NODES, **METRIC), state(d=3), TIMES)
    assert_close(q.double(), exact, 5e-3)
    assert evolve(system, x, torch.tensor([2.0]))[0].shape == (1, NODES, 3)


def test_a_flow_passes_derivatives_to_the_weights():
    h, count, step = randn(NODES, 1), BOTH.shape[1], 1e-4
    weights, direction = randn(count).exp().requires_grad_(), randn(count, seed=1)

    def end(weights):
        return evolve(Diffusion(BOTH, weights=weights), h, TIMES, method="rk4")[-1, 0, 0]

    (slope,) = torch.autograd.grad(end(weights), weights)
    ahead, behind = (end(weights.detach() + s * direction) for s in (step, -step))
    assert_close(slope @ direction, (ahead - behind) / (2 * step), 1e-6)


def test_without_edges_nothing_moves():
    for nodes in [1, 3]:
        for kind in FLOWS:
            edges = torch.zeros(2, 0, dtype=torch.int64)
            q, p = torch.ones(nodes, 2), torch.ones(0, 2)
            for moved, start in zip(
                evolve(kind(edges, nodes), (q, p), TIMES.float()), (q, p), strict=True
            ):
                assert torch.equal(moved[-1], start)
            assert torch.equal(Diffusion(edges).velocity(q), 0 * q)
            wave = WaveEquation(edges, nodes)
            assert torch.equal(stoermer_verlet(wave, q.T, q.T, 0.5)[0], 1.5 * q.T)


def test_an_euler_step_of_a_pair_moves_both_halves():
    system, x = HamiltonianFlow(PAIRS, NODES, **METRIC), state()
    expected = joined(x) + 0.1 * J @ joined(x)
    assert_close(torch.cat(euler_step(system, x, 0.1)), torch.from_numpy(expected))
