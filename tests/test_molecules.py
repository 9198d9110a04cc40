"""The molecules of lecture 8 are what their description says, and drawings follow chemistry."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch

from course_lib.graph import Graph, weisfeiler_lehman
from course_lib.molecules import (
    ATOM_FEATURES,
    BOND_FEATURES,
    DATA,
    ELEMENTS,
    Molecule,
    free_valence,
    load_molecules,
)

ROOT = Path(__file__).resolve().parents[1]
MOLECULES = load_molecules()
BY_NAME = {molecule.name: molecule for molecule in MOLECULES}
CAFFEINE = BY_NAME["caffeine"]
RING = [(i, (i + 1) % 6, 4) for i in range(6)]
DECALIN = [(i, i + 1, 1) for i in range(9)] + [(9, 0, 1), (0, 5, 1)]
BICYCLOPENTYL = [(0, 1, 1), (1, 2, 1), (2, 3, 1), (3, 4, 1), (4, 0, 1), (0, 5, 1)]
BICYCLOPENTYL += [(5, 6, 1), (6, 7, 1), (7, 8, 1), (8, 9, 1), (9, 5, 1)]


# What the file holds ----------------------------------------------------------------------------


def test_there_are_as_many_molecules_as_published_and_no_test_is_learned_from() -> None:
    assert len(MOLECULES) == 1273
    tests = {molecule.smiles for molecule in MOLECULES if molecule.test}
    others = {molecule.smiles for molecule in MOLECULES if not molecule.test}
    assert len(tests) == 253
    assert len(others) == 1020
    assert tests.isdisjoint(others)


def test_the_file_is_described_beside_it_and_made_by_a_script() -> None:
    told = DATA.with_suffix(".md").read_text(encoding="utf-8")
    with np.load(DATA) as arrays:
        assert [name for name in arrays.files if f"`{name}`" not in told] == []
    assert "Hou" in told
    assert "licence" in told
    assert "scripts/make_molecules.py" in told
    assert (ROOT / "scripts" / "make_molecules.py").exists()


def test_caffeine_is_what_a_chemist_knows() -> None:
    assert CAFFEINE.solubility == pytest.approx(-0.97)
    assert CAFFEINE.weight == pytest.approx(194.19, abs=0.01)
    counts = {symbol: CAFFEINE.symbols.count(symbol) for symbol in set(CAFFEINE.symbols)}
    assert counts == {"C": 8, "N": 4, "O": 2}
    assert CAFFEINE.hydrogens.sum() == 10
    assert CAFFEINE.in_ring.sum() == 9


def test_log_p_weight_and_aromatic_share_miss_the_tests_by_0_91() -> None:
    features = torch.tensor(
        [[1.0, m.logp, m.weight, m.aromatic.float().mean()] for m in MOLECULES]
    ).double()
    solubility = torch.tensor([m.solubility for m in MOLECULES]).double()
    test = torch.tensor([m.test for m in MOLECULES])
    fit = torch.linalg.lstsq(features[~test], solubility[~test, None]).solution[:, 0]
    error = (features[test] @ fit - solubility[test]).square().mean().sqrt()
    assert error.item() == pytest.approx(0.91, abs=0.005)


def test_the_weight_of_a_molecule_is_that_of_its_atoms() -> None:
    masses = dict(zip(ELEMENTS, (12.011, 14.007, 15.999, 18.998, 30.974, 32.067), strict=False))
    masses |= {"Cl": 35.453, "Br": 79.904, "I": 126.904}
    for molecule in MOLECULES:
        heavy = sum(masses[symbol] for symbol in molecule.symbols)
        hydrogen = 1.008 * molecule.hydrogens.sum().item()
        assert heavy + hydrogen == pytest.approx(molecule.weight, abs=0.05)


def test_bonds_are_drawn_about_one_and_a_half_long() -> None:
    lengths = torch.cat(
        [(m.place[m.bonds[0]] - m.place[m.bonds[1]]).norm(dim=-1) for m in MOLECULES]
    )
    assert lengths.median() == pytest.approx(1.5, abs=0.01)
    assert ((lengths > 1) & (lengths < 2.5)).double().mean() > 0.99


# Drawings: the same atoms as RDKit found ---------------------------------------------------------


def redrawn(molecule: Molecule, *, hydrogens: bool) -> Molecule:
    return Molecule.drawn(
        molecule.symbols,
        list(zip(*molecule.bonds.tolist(), molecule.orders.tolist(), strict=True)),
        charge=molecule.charge.tolist(),
        hydrogens=molecule.hydrogens.tolist() if hydrogens else None,
    )


@pytest.mark.slow
def test_rings_and_aromatic_atoms_of_a_drawing_are_those_of_rdkit() -> None:
    for molecule in MOLECULES:
        drawing = redrawn(molecule, hydrogens=True)
        assert torch.equal(drawing.in_ring, molecule.in_ring)
        assert torch.equal(drawing.aromatic, molecule.aromatic)
        assert torch.equal(drawing.graph().x, molecule.graph().x)


@pytest.mark.slow
def test_the_valence_rule_finds_all_hydrogens_but_those_of_pyrroles() -> None:
    for molecule in MOLECULES:
        drawing = redrawn(molecule, hydrogens=False)
        missed = drawing.hydrogens != molecule.hydrogens
        pyrrole = molecule.aromatic & (molecule.element == ELEMENTS.index("N"))
        assert not (missed & ~pyrrole).any()
        assert (molecule.hydrogens[missed] == 1).all()


@pytest.mark.parametrize(
    ("element", "charge", "orders", "hydrogens"),
    [
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
    ],
)
def test_hydrogens_fill_the_usual_valence(
    element: str, charge: int, orders: list[int], hydrogens: int
) -> None:
    assert free_valence(element, charge, orders) == hydrogens


def test_without_its_oxygen_phenol_is_benzene() -> None:
    phenol = Molecule.drawn([*"CCCCCC", "O"], [*RING, (0, 6, 1)])
    benzene = Molecule.drawn("CCCCCC", RING)
    left = phenol.without(6)
    assert torch.equal(left.graph().x, benzene.graph().x)
    assert torch.equal(left.bonds, benzene.bonds)
    assert math.isnan(left.solubility)


def test_an_atom_rubbed_out_opens_its_ring_and_frees_its_neighbours() -> None:
    cyclohexane = Molecule.drawn("CCCCCC", [(a, b, 1) for a, b, _ in RING])
    pentane = cyclohexane.without(2)
    assert pentane.hydrogens.tolist() == [2, 3, 3, 2, 2]
    assert not pentane.in_ring.any()
    assert cyclohexane.in_ring.all()


def test_an_atom_rubbed_out_leaves_far_hydrogens_alone() -> None:
    left = CAFFEINE.without(0)
    assert left.hydrogens.sum() == CAFFEINE.hydrogens.sum() - 3
    assert left.hydrogens[0] == 0  # the nitrogen, in an aromatic ring: the rule gives it none
    assert torch.equal(left.place, CAFFEINE.place[1:])


def test_an_atom_in_the_middle_leaves_pieces() -> None:
    left = Molecule.drawn("CCC", [(0, 1, 1), (1, 2, 1)]).without(1)
    assert left.hydrogens.tolist() == [4, 4]
    assert left.bonds.shape == (2, 0)
    assert left.graph().nodes == 2


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


def test_two_molecules_that_weisfeiler_and_lehman_cannot_tell_apart() -> None:
    decalin = Molecule.drawn("C" * 10, DECALIN)
    bicyclopentyl = Molecule.drawn("C" * 10, BICYCLOPENTYL)
    for molecule in (decalin, bicyclopentyl):
        assert molecule.hydrogens.sum() == 18
    both = Graph.batched([decalin.graph(), bicyclopentyl.graph()])
    colours = weisfeiler_lehman(both, 10).unflatten(1, (2, 10)).sort(-1).values
    assert torch.equal(colours[:, 0], colours[:, 1])


# Bad input --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("atoms", "bonds", "told"),
    [
        (["C", "Xx"], [], "element is 'Xx'; expected one of 'C'"),
        ("CC", [(0, 2, 1)], "joins 0 and 2; expected two different atoms from 0 to 1"),
        ("CC", [(1, 1, 1)], "joins 1 and 1"),
        ("CC", [(-1, 0, 1)], "joins -1 and 0"),
        ("CC", [(0, 1, 1), (1, 0, 2)], "given twice"),
        ("CC", [(0, 1, 5)], "of 0 and 1 is 5; expected 1 single"),
    ],
)
def test_a_drawing_that_is_none_is_refused(atoms: list, bonds: list, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        Molecule.drawn(atoms, bonds)


def test_an_atom_that_is_not_there_cannot_be_rubbed_out() -> None:
    with pytest.raises(ValueError, match="atom is 14, and the molecule has 14; expected 0 to 13"):
        CAFFEINE.without(14)
