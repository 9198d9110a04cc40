"""The molecules of lecture 8 are what their description says, and drawings follow chemistry."""

import torch

from course_lib.models.molecules import (
    ATOM_FEATURES,
    BOND_FEATURES,
    ELEMENTS,
    Molecule,
    free_valence,
    load_molecules,
)

MOLECULES = load_molecules()
BY_NAME = {molecule.name: molecule for molecule in MOLECULES}
CAFFEINE = BY_NAME["caffeine"]
RING = [(i, (i + 1) % 6, 4) for i in range(6)]


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


def test_hydrogens_fill_the_usual_valence() -> None:
    for element, charge, orders, hydrogens in [
        ("C", 0, [], 4),
        ("C", 0, [4, 4], 1),
        ("C", 0, [4, 4, 4], 0),
        ("C", 0, [4], 2),
        ("N", 1, [1], 3),
        ("O", -1, [1], 0),
        ("S", 0, [1, 2, 2], 1),
        ("S", 0, [4, 4], 0),
        ("P", 0, [1, 1, 1, 2], 0),
        ("Cl", 0, [], 1),
        ("F", 0, [1, 1], 0),
    ]:
        assert free_valence(element, charge, orders) == hydrogens


def test_an_atom_rubbed_out_opens_its_ring_and_frees_its_neighbours() -> None:
    cyclohexane = Molecule.drawn("CCCCCC", [(a, b, 1) for a, b, _ in RING])
    pentane = cyclohexane.without(2)
    assert pentane.hydrogens.tolist() == [2, 3, 3, 2, 2]
    assert not pentane.in_ring.any()
    assert cyclohexane.in_ring.all()


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
