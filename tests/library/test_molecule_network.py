"""The network of lecture 8 computes what its formula says, and its weights are those described."""

import numpy as np
import pytest
import torch
from torch import Tensor

from course_lib.graph import Graph
from course_lib.models.molecules import (
    LAYERS,
    MoleculeNetwork,
    load_molecule_network,
    load_molecules,
    train_network,
)
from course_lib.models.stored import contents
from course_lib.support.training import seed

MOLECULES = load_molecules()
TESTS = [molecule for molecule in MOLECULES if molecule.test]


def batch(molecules: list) -> tuple[Graph, Tensor]:
    graph = Graph.batched([molecule.graph() for molecule in molecules])
    return graph, torch.tensor([molecule.solubility for molecule in molecules])


def by_hand(network: MoleculeNetwork, molecule: object) -> np.ndarray:
    """The formula at the top of the module, atom by atom, in NumPy."""
    weights = {name: value.double().numpy() for name, value in network.state_dict().items()}
    graph = molecule.graph()
    h = graph.x.double().numpy() @ weights["embed.weight"].T + weights["embed.bias"]
    for n in range(len(network.layers)):
        part = {
            key.removeprefix(f"layers.{n}."): value
            for key, value in weights.items()
            if key.startswith(f"layers.{n}.")
        }
        new = h @ part["own.weight"].T + part["own.bias"]
        said = h @ part["neighbours.weight"].T + part["neighbours.bias"]
        for (v, u), e in zip(graph.edges.T.tolist(), graph.edge_features.numpy(), strict=True):
            new[u] += said[v] * (part["bond.weight"] @ e)
        h = h + np.maximum(new, 0)
    pooled = np.concatenate([h.sum(0) / 10, h.mean(0)])
    hidden = np.maximum(weights["readout.0.weight"] @ pooled + weights["readout.0.bias"], 0)
    answer = weights["readout.2.weight"] @ hidden + weights["readout.2.bias"]
    return weights["mean"] + weights["scale"] * answer[0]


def test_the_network_computes_its_formula() -> None:
    network = load_molecule_network().double()
    for molecule in TESTS[:20]:
        answer = network(molecule.graph().to(dtype=torch.float64)).item()
        assert answer == pytest.approx(by_hand(network, molecule), abs=1e-10)


def test_molecules_in_a_batch_do_not_hear_each_other() -> None:
    network = load_molecule_network().double()
    graphs = [molecule.graph().to(dtype=torch.float64) for molecule in TESTS[:10]]
    alone = torch.cat([network(graph) for graph in graphs])
    assert torch.allclose(network(Graph.batched(graphs)), alone, atol=1e-10)


@pytest.mark.slow
def test_the_stored_weights_have_the_error_that_stands_beside_them() -> None:
    for kind in LAYERS:
        stored = contents("molecule_networks.npz")
        assert stored["kinds"] == list(LAYERS)
        told = stored["error"][list(LAYERS).index(kind)].tolist()
        seeds = stored["seeds"].tolist()
        graph, measured = batch(TESTS)
        with torch.no_grad():
            found = [
                (load_molecule_network(kind, s)(graph) - measured).square().mean().sqrt().item()
                for s in seeds
            ]
        assert found == pytest.approx(told, abs=1e-3)
        assert len(set(found)) == len(seeds) == 5


def test_a_network_learns() -> None:
    seed(0)
    few = batch(MOLECULES[:32])
    network = MoleculeNetwork().answers_like(few[1])
    history = train_network(network, [few], steps=60, progress=False)
    assert len(history) == 60
    assert history[-1] < 0.3 * history[0]
