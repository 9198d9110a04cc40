import math

import numpy as np
import pytest
import scipy.linalg
import torch
from seeded import assert_close, randn

from course_lib.graph import Graph, GraphConv, MessagePassing, NormalizedGraphConv, edge_softmax
from course_lib.graph_dynamics import (
    SOLVERS,
    Diffusion,
    DoubleBracketFlow,
    HamiltonianFlow,
    WaveEquation,
    attention_metric,
    dirichlet_energy,
    divergence,
    eigenmodes,
    energy,
    equilibrium,
    euler_step,
    evolve,
    gradient,
    hodge_decomposition,
    inner,
    laplacian,
    spectral_gap,
)
from course_lib.mechanics import (
    STEPPERS,
    explicit_euler,
    implicit_midpoint,
    integrate,
    stoermer_verlet,
    symplectic_euler,
    symplecticity_error,
)

# A square with a diagonal, a pair with a loop, and a node alone: three components, four cycles.
PAIRS = torch.tensor([[0, 1, 2, 3, 0, 4, 5], [1, 2, 3, 0, 2, 5, 5]])
NODES, COUNT = 7, 7
BOTH = torch.cat([PAIRS, PAIRS.flip(0)[:, :-1]], dim=1)
METRIC = {"node_weights": randn(NODES, seed=1).exp(), "edge_weights": randn(COUNT, seed=2).exp()}
CONNECTED = PAIRS[:, :5]
FLOWS = (HamiltonianFlow, DoubleBracketFlow)
TIMES = torch.tensor([0.0, 0.4, 1.0]).double()
by_flow = pytest.mark.parametrize("kind", FLOWS, ids=lambda kind: kind.__name__)


def state(d=2, seed=10):
    return randn(NODES, d, seed=seed), randn(COUNT, d, seed=seed + 1)


def anharmonic(q, p):
    """An energy that couples everything and is no square of a norm."""
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


# Diffusion ------------------------------------------------------------------------------------


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


def test_with_attention_diffusion_is_that_of_a_stochastic_matrix():
    h, alpha = randn(NODES, 2), attention_weights()
    A = torch.zeros(NODES, NODES).double().index_put((BOTH[1], BOTH[0]), alpha)
    A[-1, -1] = 1  # the node alone
    generator = A.numpy() - np.eye(NODES)
    for t, h_t in zip(TIMES, evolve(Diffusion(BOTH, weights=alpha), h, TIMES), strict=True):
        assert_close(
            h_t, torch.from_numpy(scipy.linalg.expm(t.item() * generator) @ h.numpy()), 1e-6
        )


def test_with_symmetric_scores_diffusion_is_the_laplacian_of_the_attention_metric():
    score, h = randn(COUNT, seed=4), randn(NODES, 2)
    alpha = edge_softmax(torch.cat([score, score[:-1]]), BOTH[1], NODES)
    m, w = attention_metric(score, PAIRS, NODES)
    adjoint = divergence(gradient(h, PAIRS), PAIRS, NODES, node_weights=m, edge_weights=w)
    assert_close(Diffusion(BOTH, weights=alpha).velocity(h), -adjoint)


def test_diffusion_ends_in_the_mean_of_each_component_at_the_rate_of_the_second_eigenvalue():
    pairs, nodes = torch.tensor([[0, 1, 2], [1, 2, 3]]), 4
    score = randn(3, seed=4)
    m, w = attention_metric(score, pairs, nodes)
    both = torch.cat([pairs, pairs.flip(0)], dim=1)
    heat = Diffusion(both, weights=edge_softmax(score.repeat(2), both[1], nodes))
    t = torch.linspace(0, 20, 4).double()
    h = evolve(heat, randn(nodes, 1), t, tolerance=1e-11)
    end = equilibrium(h[0], pairs, node_weights=m)
    distance = torch.stack([inner(x - end, x - end, weights=m).sqrt() for x in h])
    rate = -(distance[3] / distance[2]).log() / (t[3] - t[2])
    gap = spectral_gap(pairs, nodes, node_weights=m, edge_weights=w)
    assert_close(rate, gap, 1e-4)
    assert ((distance / distance[0]).log() <= -gap * t + 1e-9).all()


def test_heat_never_gains_dirichlet_energy_and_keeps_its_weighted_mean():
    h = evolve(Diffusion(BOTH), randn(NODES, 2), torch.linspace(0, 3, 20).double(), tolerance=1e-10)
    energy = torch.stack([dirichlet_energy(x, PAIRS) for x in h])
    assert (energy.diff() < 0).all()
    assert_close(equilibrium(h[-1], PAIRS), equilibrium(h[0], PAIRS), 1e-8)


# Brackets -------------------------------------------------------------------------------------


def test_poisson_is_the_dense_matrix_and_skew_in_the_metric():
    x, y = state(), state(seed=20)
    system = HamiltonianFlow(PAIRS, NODES, **METRIC)
    assert_close(torch.cat(system.poisson(x)), torch.from_numpy(J @ joined(x)))
    turned = MASS[:, None] * J
    np.testing.assert_allclose(turned, -turned.T)
    assert_close(system.inner(system.poisson(x), y), -system.inner(x, system.poisson(y)), 1e-10)


@by_flow
def test_the_gradient_is_that_of_the_metric(kind):
    system = kind(PAIRS, NODES, **METRIC, hamiltonian=anharmonic)
    (q, p), (dq, dp), step = state(), state(seed=20), 1e-5
    ahead, behind = (anharmonic(q + s * dq, p + s * dp) for s in (step, -step))
    slope = (ahead - behind) / (2 * step)
    assert_close(system.inner(system.energy_gradient((q, p)), (dq, dp)), slope, 1e-7)


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


@by_flow
def test_the_velocity_is_the_generator_times_the_gradient(kind):
    q, p = state()
    slopes = joined(anharmonic_slopes(q, p)) / MASS[:, None]
    velocity = kind(PAIRS, NODES, **METRIC, hamiltonian=anharmonic).velocity((q, p))
    assert_close(torch.cat(velocity), torch.from_numpy(GENERATOR[kind] @ slopes), 1e-10)


@by_flow
def test_under_the_default_energy_the_flow_is_the_exponential_of_the_generator(kind):
    x = state()
    q, p = evolve(kind(PAIRS, NODES, **METRIC), x, TIMES, tolerance=1e-9)
    for k, t in enumerate(TIMES.tolist()):
        expected = scipy.linalg.expm(t * GENERATOR[kind]) @ joined(x)
        assert_close(torch.cat([q[k], p[k]]), torch.from_numpy(expected), 1e-6)


def test_the_square_of_j_is_minus_its_adjoint_times_itself():
    adjoint = np.diag(1 / MASS) @ J.T @ np.diag(MASS)
    np.testing.assert_allclose(J @ J, -adjoint @ J)


def rates(kind, energy=anharmonic):
    """The rate of the energy, by the system and as a difference along a tiny piece of the flow."""
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


class Unweighted(HamiltonianFlow):
    def poisson(self, x):
        return HamiltonianFlow(PAIRS, NODES).poisson(x)


class Euclidean(HamiltonianFlow):
    def energy_gradient(self, state):
        return anharmonic_slopes(*state)


class Plus(HamiltonianFlow):
    def poisson(self, x):
        a, b = super().poisson(x)
        return -a, b


@pytest.mark.parametrize("wrong", [Unweighted, Euclidean, Plus], ids=lambda wrong: wrong.__name__)
def test_a_flow_with_a_wrong_metric_or_sign_does_not_keep_its_energy(wrong):
    *_, measured = rates(wrong)
    assert measured.abs() > 0.1


def test_the_energy_of_a_double_bracket_falls_at_every_time():
    system = DoubleBracketFlow(PAIRS, NODES, **METRIC, hamiltonian=anharmonic)
    with torch.no_grad():
        path = zip(*evolve(system, state(), torch.linspace(0, 1, 20).double()), strict=True)
    energy = torch.stack([system.energy(x) for x in path])
    assert (energy.diff() < 0).all()


@by_flow
def test_means_of_components_and_cycles_are_kept_whatever_the_energy(kind):
    system = kind(PAIRS, NODES, **METRIC, hamiltonian=anharmonic)
    with torch.no_grad():
        q, p = evolve(system, state(), TIMES[:2], tolerance=1e-9)

    def kept(q, p):
        _, cycles = hodge_decomposition(p, PAIRS, NODES, edge_weights=METRIC["edge_weights"])
        return equilibrium(q, PAIRS, node_weights=METRIC["node_weights"]), cycles

    assert (q[-1] - q[0]).abs().max() > 0.1
    for start, end in zip(kept(q[0], p[0]), kept(q[-1], p[-1]), strict=True):
        assert start.abs().max() > 0.1
        assert_close(end, start, 1e-6)


@pytest.mark.parametrize("k", [1, 3])
def test_a_mode_of_the_double_bracket_swings_and_fades_as_fast_as_heat(k):
    metric = {name: weights[: 5 - (name[0] == "n")] for name, weights in METRIC.items()}
    values, modes = eigenmodes(CONNECTED, 4, **metric)
    rate, mode = values[k], modes[:, k : k + 1]
    q, _ = evolve(
        DoubleBracketFlow(CONNECTED, 4, **metric),
        (mode, torch.zeros(5, 1).double()),
        TIMES,
        tolerance=1e-9,
    )
    swing = (-rate * TIMES).exp() * (rate.sqrt() * TIMES).cos()
    assert_close(q, swing[:, None, None] * mode, 1e-6)


def test_energies_can_be_learned_through_a_velocity():
    strength = torch.tensor(0.7).double().requires_grad_()

    def speed(strength):
        def energy(q, p):
            return strength * (q**4).sum() + p.cosh().sum()

        system = DoubleBracketFlow(PAIRS, NODES, **METRIC, hamiltonian=energy)
        return torch.cat(system.velocity(state())).square().sum()

    assert torch.autograd.gradcheck(speed, (strength,))


# Waves by symplectic steps --------------------------------------------------------------------

WAVE = WaveEquation(PAIRS, NODES, **METRIC)


def test_the_gradients_of_the_wave_are_those_of_autograd():
    q, p = randn(3, 2, NODES).requires_grad_(), randn(3, 2, NODES, seed=1).requires_grad_()
    slope_q, slope_p = torch.autograd.grad(WAVE.energy(q, p).sum(), (q, p))
    assert_close(WAVE.grad_q(q, p), slope_q)
    assert_close(WAVE.grad_p(q, p), slope_p)


def test_both_forms_of_the_wave_have_one_energy_and_one_motion():
    m = METRIC["node_weights"]
    u, rate = randn(2, NODES), randn(2, NODES, seed=1)
    system, x = HamiltonianFlow(PAIRS, NODES, **METRIC), (rate.T, gradient(u.T, PAIRS))
    assert_close(WAVE.energy(u, m * rate).sum(), system.energy(x))
    q, p = evolve(system, x, torch.tensor([0.0, 1.0]).double(), tolerance=1e-10)
    orbit = integrate(WAVE, u, m * rate, dt=5e-3, steps=200)
    assert_close(orbit.p[:, -1].T / m[:, None], q[-1], 1e-3)
    assert_close(gradient(orbit.q[:, -1].T, PAIRS), p[-1], 1e-3)


@pytest.mark.parametrize("method", STEPPERS, ids=lambda method: method.__name__)
def test_every_stepper_takes_the_wave(method):
    u, v = randn(2, NODES), randn(2, NODES, seed=1)
    generator = np.zeros((2 * NODES, 2 * NODES))
    m, L = METRIC["node_weights"].numpy(), laplacian(PAIRS, NODES, **METRIC).numpy()
    generator[:NODES, NODES:] = np.diag(1 / m)
    generator[NODES:, :NODES] = -np.diag(m) @ L
    orbit = integrate(WAVE, u, v, dt=1e-3, steps=20, method=method)
    expected = scipy.linalg.expm(0.02 * generator) @ torch.cat([u, v], dim=1).T.numpy()
    end = torch.cat([orbit.q[:, -1], orbit.p[:, -1]], dim=1)
    assert_close(end, torch.from_numpy(expected.T.copy()), 1e-3)


def test_symplectic_steps_are_symplectic_on_the_wave_and_explicit_euler_is_not():
    u, v = randn(NODES), randn(NODES, seed=1)
    for method in (symplectic_euler, stoermer_verlet, implicit_midpoint):
        assert symplecticity_error(lambda q, p, m=method: m(WAVE, q, p, 0.1), u, v) < 1e-13
    assert symplecticity_error(lambda q, p: explicit_euler(WAVE, q, p, 0.1), u, v) > 1e-3


@pytest.mark.usefixtures("plain_calls")
def test_a_symplectic_step_keeps_the_energy_of_the_wave_where_explicit_euler_gains():
    u, v = randn(NODES), randn(NODES, seed=1)
    dt = 0.2 / eigenmodes(PAIRS, NODES, **METRIC)[0][-1].sqrt().item()
    orbit = integrate(WAVE, u, v, dt=dt, steps=2000)
    drift = (orbit.energy / orbit.energy[0] - 1).abs()
    assert drift.max() < 0.02
    assert drift[1000:].max() < 1.1 * drift[:1000].max()
    orbit = integrate(WAVE, u, v, dt=dt, steps=300, method=explicit_euler)
    assert orbit.energy[-1] > 10 * orbit.energy[0]


# A graph network is an Euler step -------------------------------------------------------------


def network_graph():
    return Graph.undirected(randn(NODES, 3), PAIRS)


def with_parameters(layer, **parameters):
    layer = layer.double()
    with torch.no_grad():
        for name, value in parameters.items():
            layer.get_parameter(name.replace("__", ".")).copy_(value)
    return layer


def test_message_passing_is_an_euler_step_of_diffusion_on_any_graph():
    graph, dt, alpha = network_graph(), 0.3, attention_weights()
    layer = MessagePassing(
        lambda to, sent, _: alpha[:, None] * (sent - to), lambda x, m: x + dt * m
    )
    assert torch.equal(graph.edges, BOTH)
    assert_close(layer(graph), euler_step(Diffusion(BOTH, weights=alpha), graph.x, dt))


def test_a_convolution_is_an_euler_step_where_all_degrees_are_equal():
    nodes, dt = 6, 0.2
    circle = torch.stack([torch.arange(nodes), (torch.arange(nodes) + 1) % nodes])
    graph = Graph.undirected(randn(nodes, 3), circle)
    one = torch.eye(3).double()
    layer = with_parameters(
        GraphConv(3, 3), own__weight=(1 - 2 * dt) * one, own__bias=0, neighbours__weight=dt * one
    )
    assert_close(layer(graph), euler_step(Diffusion(graph.edges), graph.x, dt))
    layer = with_parameters(NormalizedGraphConv(3, 3), linear__weight=one, linear__bias=0)
    assert_close(layer(graph), euler_step(Diffusion(graph.edges), graph.x, 1 / 3))


def test_the_normalized_convolution_is_an_euler_step_between_two_scalings():
    pairs = PAIRS[:, :-1]
    graph = Graph.undirected(randn(NODES, 3), pairs)
    one = torch.eye(3).double()
    layer = with_parameters(NormalizedGraphConv(3, 3), linear__weight=one, linear__bias=0)
    degree = 1 + graph.degree().double()
    heat = Diffusion(graph.edges, weights=1 / degree[graph.target])
    root = degree.sqrt()[:, None]
    assert_close(layer(graph), root * euler_step(heat, graph.x / root, 1.0))


def test_an_euler_step_of_a_pair_moves_both_halves():
    system, x = HamiltonianFlow(PAIRS, NODES, **METRIC), state()
    expected = joined(x) + 0.1 * J @ joined(x)
    assert_close(torch.cat(euler_step(system, x, 0.1)), torch.from_numpy(expected))


# Solvers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", SOLVERS)
def test_every_solver_follows_the_exponential(method):
    t = torch.linspace(0, 0.5, 51).double()
    h = randn(NODES, 2)
    end = evolve(Diffusion(BOTH), h, t, method=method, tolerance=1e-5)[-1]
    expected = scipy.linalg.expm(-0.5 * laplacian(PAIRS, NODES, dtype=h.dtype).numpy()) @ h.numpy()
    assert_close(end, torch.from_numpy(expected), 0.05 if method == "euler" else 1e-3)


def test_a_fixed_euler_solver_is_the_euler_step_repeated():
    system, h = Diffusion(BOTH), randn(NODES, 2)
    solved = evolve(system, h, torch.tensor([0, 0.1, 0.2], dtype=h.dtype), method="euler")
    assert_close(solved[-1], euler_step(system, euler_step(system, h, 0.1), 0.1))


def test_a_flow_starts_where_it_is_told_and_keeps_shape_and_dtype():
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


@pytest.mark.parametrize("nodes", [1, 3])
@by_flow
def test_without_edges_nothing_moves(kind, nodes):
    edges = torch.zeros(2, 0, dtype=torch.int64)
    q, p = torch.ones(nodes, 2), torch.ones(0, 2)
    for moved, start in zip(evolve(kind(edges, nodes), (q, p), TIMES.float()), (q, p), strict=True):
        assert torch.equal(moved[-1], start)
    assert torch.equal(Diffusion(edges).velocity(q), 0 * q)
    wave = WaveEquation(edges, nodes)
    assert torch.equal(stoermer_verlet(wave, q.T, q.T, 0.5)[0], 1.5 * q.T)


# Bad input ------------------------------------------------------------------------------------


@pytest.mark.usefixtures("plain_calls")
class TestBadInput:
    @pytest.mark.parametrize("dt", [0, -0.1, math.nan])
    def test_a_step_that_is_not_positive(self, dt):
        with pytest.raises(ValueError, match=r"dt is .* above 0"):
            euler_step(Diffusion(BOTH), randn(NODES, 1), dt)
        with pytest.raises(ValueError, match=r"dt is .* above 0"):
            integrate(WAVE, randn(NODES), randn(NODES), dt=dt, steps=1)

    @pytest.mark.parametrize(
        "t", [[], [-1.0, 0.0], [0.0, 0.0], [1.0, 0.5], [0.0, math.nan], [0.0, math.inf]], ids=str
    )
    def test_times_that_are_negative_or_do_not_increase(self, t):
        with pytest.raises(ValueError, match=r"t is \[.*expected times of 0 or more"):
            evolve(Diffusion(BOTH), randn(NODES, 1), torch.tensor(t).double())

    def test_times_solvers_and_tolerances_of_another_kind(self):
        system, h = Diffusion(BOTH), randn(NODES, 1)
        with pytest.raises(TypeError, match="t is a list"):
            evolve(system, h, [0.0, 1.0])
        with pytest.raises(TypeError, match=r"t has dtype torch.float32"):
            evolve(system, h, TIMES.float())
        with pytest.raises(ValueError, match=r"t has shape \(\)"):
            evolve(system, h, torch.tensor(1.0).double())
        with pytest.raises(
            ValueError, match="method is 'stoermer_verlet'; expected one of 'dopri5'"
        ):
            evolve(system, h, TIMES, method="stoermer_verlet")
        with pytest.raises(ValueError, match="tolerance is -1"):
            evolve(system, h, TIMES, tolerance=-1)

    def test_a_solver_that_cannot_go_on(self):
        system = HamiltonianFlow(PAIRS, NODES, hamiltonian=lambda q, p: (q.sum() + p.sum()).log())
        with torch.no_grad(), pytest.raises(ArithmeticError, match=r"dopri5 stopped: .*finite"):
            evolve(system, tuple(-x.abs() / 0 for x in state()), TIMES)

    @by_flow
    @pytest.mark.parametrize("name", METRIC)
    @pytest.mark.parametrize("value", [0.0, -1.0, math.inf])
    def test_a_singular_metric(self, kind, name, value):
        singular = {**METRIC, name: value * METRIC[name]}
        for make in (kind, WaveEquation):
            with pytest.raises(ValueError, match=f"{name} holds .*a singular metric"):
                make(PAIRS, NODES, **singular)

    def test_weights_of_diffusion_that_are_negative(self):
        with pytest.raises(ValueError, match="heat would flow from cold"):
            Diffusion(BOTH, weights=-attention_weights())
        with pytest.raises(ValueError, match=r"weights has shape \(12,\)"):
            Diffusion(BOTH, weights=attention_weights()[1:])
        with pytest.raises(TypeError, match=r"weights has dtype torch.float32"):
            Diffusion(BOTH, weights=attention_weights().float()).velocity(randn(NODES, 1))
        assert (
            Diffusion(BOTH, weights=0 * attention_weights()).velocity(randn(NODES, 1)).norm() == 0
        )

    def test_edges_that_lead_nowhere(self):
        for make in (HamiltonianFlow, DoubleBracketFlow, WaveEquation):
            with pytest.raises(
                ValueError, match=r"edges\[:, 5\] is \[4, 5\], and there are 5 nodes"
            ):
                make(PAIRS, 5)
            with pytest.raises(TypeError, match=r"edges has dtype torch.float32"):
                make(PAIRS.float(), NODES)
        with pytest.raises(ValueError, match=r"edges\[:, 0\] is \[-1, "):
            Diffusion(PAIRS - 1)
        with pytest.raises(ValueError, match=r"edges\[:, 5\] is \[4, 5\], and there are 5 nodes"):
            Diffusion(PAIRS).velocity(randn(5, 1))

    @by_flow
    def test_a_state_of_another_shape_or_dtype(self, kind):
        q, p = state()
        for system in (kind(PAIRS, NODES), kind(PAIRS, NODES, hamiltonian=anharmonic)):
            with pytest.raises(ValueError, match=r"p has shape \(6, 2\); expected \(7, d\)"):
                system.velocity((q, p[1:]))
            with pytest.raises(ValueError, match=r"p has shape \(7, 1\)"):
                system.energy((q, p[:, :1]))
            with pytest.raises(TypeError, match=r"p has dtype torch.float32"):
                system.velocity((q, p.float()))

    @by_flow
    def test_an_energy_that_is_not_one_number(self, kind):
        for wrong in (lambda q, _: q.sum(dim=0), lambda *_: 3.0):
            with pytest.raises(ValueError, match=r"hamiltonian returns .*expected one number"):
                kind(PAIRS, NODES, hamiltonian=wrong).velocity(state())

    def test_a_wave_of_another_shape_or_dtype(self):
        with pytest.raises(ValueError, match=r"q has shape \(7, 2\)"):
            WAVE.energy(randn(NODES, 2), randn(NODES, 2))
        with pytest.raises(TypeError, match=r"node_weights has dtype torch.float64"):
            WAVE.grad_p(randn(NODES).float(), randn(NODES).float())
