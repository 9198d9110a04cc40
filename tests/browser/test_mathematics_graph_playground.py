"""The mathematics of GraphPlayground's JavaScript, run in Chromium, against course_lib."""

from typing import Any

import numpy as np
import pytest
import torch
from in_the_page import Javascript, assert_close, tensor
from kinds.graph_playground import canonical, layer_of, network

from course_lib.graph import Graph, weisfeiler_lehman
from course_lib.molecules import ELEMENTS, Molecule, free_valence, load_molecules
from course_lib.widgets import GraphPlayground
from course_lib.widgets.drawings import MOST_ATOMS, drawing_of

MOLECULE = "js/maths/molecule.js"


def random_pairs(random: np.random.Generator, nodes: int) -> list[list[int]]:
    """Some of all pairs, the smaller number first."""
    pairs = [[i, j] for j in range(nodes) for i in range(j)]
    return [pair for pair in pairs if random.uniform() < random.uniform(0.1, 0.6)]


def undirected(x: Any, pairs: list[list[int]]) -> Graph:
    return Graph.undirected(tensor(x), torch.tensor(pairs, dtype=torch.int64).reshape(-1, 2).T)


@pytest.fixture(scope="module")
def molecules() -> list[Molecule]:
    """As many as are drawn, those with charges and hydrogens that no rule finds among them."""
    small = [m for m in load_molecules() if len(m.element) <= MOST_ATOMS]
    return small[:: len(small) // 60]


def test_a_round_is_a_layer_of_course_lib(javascript: Javascript, random: np.random.Generator):
    d, rounds, cases = len(ELEMENTS), 3, []
    for layer in 20 * ["sum", "normalized", "attention"]:
        nodes = int(random.integers(1, 12))
        pairs = random_pairs(random, nodes)
        edges = [[i, j] for i, j in pairs] + [[j, i] for i, j in pairs]
        x = random.normal(size=(nodes, d)).tolist()
        cases.append([layer, x, edges, [0.0] + [2.0] * (d - 1), rounds])
    found = javascript("js/maths/graph_layers.js", "passed", cases)
    for (layer, x, edges, _, _), answer in zip(cases, found, strict=True):
        graph = undirected(x, edges[: len(edges) // 2])
        for known in answer["known"]:
            assert_close(known, graph.x)
            graph = graph.with_features(layer_of(layer)(graph).detach())


def test_colours_part_nodes_as_those_of_course_lib_do(
    javascript: Javascript, random: np.random.Generator
):
    cases, graphs = [], []
    for _ in range(50):
        nodes = int(random.integers(1, 14))
        pairs, labels = random_pairs(random, nodes), random.integers(0, 2, size=nodes).tolist()
        around = [[[i + j - u] for i, j in pairs if u in (i, j)] for u in range(nodes)]
        cases.append([list(map(str, labels)), around])
        graphs.append(undirected([[label] for label in labels], pairs))
    found = javascript("js/maths/weisfeiler_lehman.js", "weisfeilerLehman", cases)
    for graph, rows in zip(graphs, found, strict=True):
        expected = weisfeiler_lehman(graph, len(rows)).tolist()
        # The last round, which tells no more apart, is left out in the page.
        assert [canonical(row) for row in [*rows, rows[-1]]] == list(map(canonical, expected))


def test_features_and_weights_of_molecules_are_those_of_course_lib(
    javascript: Javascript, molecules: list[Molecule]
):
    drawings = [[drawing_of(molecule)] for molecule in molecules]
    found = javascript(MOLECULE, "atomFeatures", drawings)
    for molecule, features in zip(molecules, found, strict=True):
        assert_close(features, molecule.graph().x)
    weights = javascript(MOLECULE, "molarMass", drawings)
    np.testing.assert_allclose(weights, [molecule.weight for molecule in molecules], rtol=1e-4)


def test_hydrogens_fill_the_valence_as_in_course_lib(
    javascript: Javascript, random: np.random.Generator
):
    cases, expected = [], []
    for _ in range(50):
        element = str(random.choice(ELEMENTS))
        charge, orders = int(random.integers(-1, 2)), random.integers(1, 5, size=4).tolist()
        orders = orders[: int(random.integers(0, 5))]
        bonds = [[0, i + 1, order] for i, order in enumerate(orders)]
        atoms = {"element": [element, *"CCCC"], "charge": [charge, 0, 0, 0, 0], "bonds": bonds}
        cases.append([atoms, 0])
        expected.append(free_valence(element, charge, orders))
    assert javascript(MOLECULE, "freeValence", cases) == expected


def test_what_chemistry_allows_is_not_marked_and_what_it_forbids_is(
    javascript: Javascript, molecules: list[Molecule]
):
    real = javascript(MOLECULE, "forbidden", [[drawing_of(m)] for m in molecules])
    assert not any(real)
    bonds = [[0, i, 1] for i in range(1, 6)]
    star = {"element": ["C"] * 6, "charge": [0] * 6, "bonds": bonds}
    assert javascript(MOLECULE, "forbidden", [[star]]) == [[{"i": 0, "given": 5, "most": 4}]]


def test_an_atom_is_deleted_as_course_lib_rubs_it_out(
    javascript: Javascript, random: np.random.Generator, molecules: list[Molecule]
):
    atoms = [int(random.integers(len(molecule.element))) for molecule in molecules]
    cases = [[drawing_of(m), atom] for m, atom in zip(molecules, atoms, strict=True)]
    found = javascript(MOLECULE, "without", cases)
    left = [m.without(atom) for m, atom in zip(molecules, atoms, strict=True)]
    features = javascript(MOLECULE, "atomFeatures", [[drawing] for drawing in found])
    for molecule, drawing, rows in zip(left, found, features, strict=True):
        assert_close(rows, molecule.graph().x)
        expected = drawing_of(molecule)
        assert sorted(drawing["bonds"]) == sorted(expected["bonds"])


def test_a_network_answers_as_in_course_lib_and_so_does_what_each_atom_adds(
    javascript: Javascript, molecules: list[Molecule]
):
    shown = GraphPlayground(molecules[:1], network=network())
    model, path = shown.network.double(), "js/maths/molecule_network.js"
    [unpacked] = javascript(path, "unpackNetwork", [[shown.facts, shown.weights]])

    def answer(molecule: Molecule) -> float:
        with torch.no_grad():
            return model(molecule.graph().to(dtype=torch.float64)).item()

    cases = [[unpacked, drawing_of(molecule)] for molecule in molecules]
    assert_close(javascript(path, "answer", cases), [answer(molecule) for molecule in molecules])
    found = javascript(path, "contributions", cases[:15])
    for molecule, adds in zip(molecules[:15], found, strict=True):
        without = [answer(molecule.without(i)) for i in range(len(molecule.element))]
        assert_close(adds, answer(molecule) - tensor(without))


def test_atoms_part_until_no_two_are_nearer_than_a_diameter(
    javascript: Javascript, random: np.random.Generator
):
    editing, cases = "js/graph_playground/editing.js", []
    for _ in range(50):
        atoms, width = int(random.integers(1, MOST_ATOMS + 1)), float(random.uniform(300, 600))
        spread = random.uniform(0, 2)
        place = np.clip(spread * random.normal(size=(atoms, 2)), -2.4, 2.4).round(3)
        drawing = {"place": place.tolist(), "bonds": [[i, i + 1, 1] for i in range(atoms - 1)]}
        cases.append([drawing, int(random.integers(atoms)), width])
    found = javascript(editing, "apart", cases)
    radii = javascript(
        editing, "radiusOf", [[d, w] for d, (_, _, w) in zip(found, cases, strict=True)]
    )
    for (drawing, _, width), parted, radius in zip(cases, found, radii, strict=True):
        place = torch.tensor(parted["place"], dtype=torch.float64)
        assert (place.abs() <= torch.tensor([4.0, 3.0])).all()
        if len(place) > 1:
            assert torch.pdist(place).min() * width / 8 > 2 * radius - 1e-6
        assert parted["bonds"] == drawing["bonds"]
