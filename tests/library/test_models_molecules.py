"""The molecules of lecture 8, their drawings and their network match their description."""

import numpy as np
import pytest
import torch
from torch import Tensor

from course_lib.graph import Graph
from course_lib.models.molecules import (
    ATOM_FEATURES,
    BOND_FEATURES,
    ELEMENTS,
    Molecule,
    MoleculeNetwork,
    load_molecule_network,
    load_molecules,
    train_network,
)
from course_lib.support.training import seed

MOLECULES = load_molecules()
BY_NAME = {molecule.name: molecule for molecule in MOLECULES}
CAFFEINE = BY_NAME["caffeine"]


def redrawn(molecule: Molecule, *, hydrogens: bool) -> Molecule:
    return Molecule.drawn(
        molecule.symbols,
        list(zip(*molecule.bonds.tolist(), molecule.orders.tolist(), strict=True)),
        charge=molecule.charge.tolist(),
        hydrogens=molecule.hydrogens.tolist() if hydrogens else None,
    )


def test_rings_and_aromatic_atoms_of_a_drawing_are_those_of_rdkit() -> None:
    for molecule in MOLECULES[::10]:
        drawing = redrawn(molecule, hydrogens=True)
        assert torch.equal(drawing.in_ring, molecule.in_ring)
        assert torch.equal(drawing.aromatic, molecule.aromatic)
        assert torch.equal(drawing.graph().x, molecule.graph().x)


def test_the_valence_rule_finds_all_hydrogens_but_those_of_pyrroles() -> None:
    for molecule in MOLECULES[::10]:
        drawing = redrawn(molecule, hydrogens=False)
        missed = drawing.hydrogens != molecule.hydrogens
        pyrrole = molecule.aromatic & (molecule.element == ELEMENTS.index("N"))
        assert not (missed & ~pyrrole).any()
        assert (molecule.hydrogens[missed] == 1).all()


def test_a_graph_has_the_columns_that_the_module_names() -> None:
    graph = CAFFEINE.graph()
    assert graph.x.shape == (14, len(ATOM_FEATURES))
    assert graph.edge_features.shape == (2 * CAFFEINE.bonds.shape[1], len(BOND_FEATURES))
    column = dict(zip(ATOM_FEATURES, graph.x.T, strict=True))
    assert torch.equal(column["degree"], graph.degree().float())
    assert column["O"].nonzero()[:, 0].tolist() == [
        i for i, symbol in enumerate(CAFFEINE.symbols) if symbol == "O"
    ]
    assert torch.equal(column["hydrogens"], CAFFEINE.hydrogens.float())
    assert torch.equal(column["in ring"], CAFFEINE.in_ring.float())
    assert torch.equal(graph.edge_features.argmax(1) + 1, CAFFEINE.orders.repeat(2))


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


def test_a_network_learns() -> None:
    seed(0)
    few = batch(MOLECULES[:32])
    network = MoleculeNetwork().answers_like(few[1])
    history = train_network(network, [few], steps=60, progress=False)
    assert len(history) == 60
    assert history[-1] < 0.3 * history[0]
