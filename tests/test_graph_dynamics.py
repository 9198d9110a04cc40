import torch
from seeded import assert_close, randn

from course_lib.graph_dynamics import (
    DoubleBracketFlow,
    HamiltonianFlow,
    divergence,
    gradient,
    inner,
)

EDGES = torch.tensor([[0, 1, 2, 3, 0, 2], [1, 2, 3, 0, 2, 2]])
NODES = 5
M, W = randn(NODES, seed=1).exp(), randn(6, seed=2).exp()


def test_the_divergence_is_the_adjoint_of_the_gradient_in_every_metric():
    f, g = randn(NODES, 3), randn(6, 3, seed=3)
    adjoint = divergence(g, EDGES, NODES, node_weights=M, edge_weights=W)
    assert_close(inner(gradient(f, EDGES), g, weights=W), inner(f, adjoint, weights=M))


def test_a_hamiltonian_flow_keeps_its_energy_and_a_double_bracket_loses_it():
    state = randn(NODES, 3), randn(6, 3, seed=3)

    def energy(q, p):
        return q.cosh().sum() + (p.square().sum() * q.square().sum()).sqrt()

    for flow in (HamiltonianFlow, DoubleBracketFlow):
        system = flow(EDGES, NODES, node_weights=M, edge_weights=W, hamiltonian=energy)
        turned = system.poisson(system.energy_gradient(state))
        lost = system.inner(turned, turned) if flow is DoubleBracketFlow else torch.zeros(())
        assert_close(system.energy_rate(state), -lost.double(), tolerance=1e-10)
