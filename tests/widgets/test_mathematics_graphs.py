"""GraphDrum and GraphPlayground, run in Chromium, against course_lib."""

from typing import Any

import numpy as np
import torch
from in_the_page import Javascript, Twice, alike, assert_close, tensor
from torch import Tensor

from course_lib.graph_dynamics import eigenmodes, gradient, hodge_decomposition, laplacian
from course_lib.models.molecules import load_molecules
from course_lib.widgets.graph_playground.drawings import MOST_ATOMS, drawing_of

DYNAMICS, MOLECULE = "maths/graph_dynamics.js", "maths/molecule.js"
EDITING = "graph_playground/editing.js"
Random = np.random.Generator


def drums(random: Random) -> list[Any]:
    """A random graph, in several pieces too, and a current on each of its edges."""
    nodes = int(random.integers(2, 16))
    pairs = np.argwhere(np.triu(random.random((nodes, nodes)) < random.uniform(0.05, 0.5), 1))
    return [nodes, random.permuted(pairs, axis=1).tolist(), random.normal(size=len(pairs))]


RING = [[i, (i + 1) % 6] for i in range(6)]
SPECIAL = [[1, [], []], [5, [], []], [6, RING, [1.0, 0, 0, 2, 0, 0]]]


def edges_of(pairs: list[list[int]]) -> Tensor:
    return torch.tensor(pairs, dtype=torch.int64).reshape(-1, 2).T


def circling(nodes: int, pairs: list[list[int]], currents: Any) -> Tensor:
    return hodge_decomposition(tensor(currents)[:, None], edges_of(pairs), nodes)[1][:, 0]


def test_modes_of_graph_drum_are_those_of_the_laplacian(javascript: Javascript, random: Random):
    graphs = [*(drums(random)[:2] for _ in range(4)), *(graph[:2] for graph in SPECIAL)]
    found_all = javascript(DYNAMICS, "laplacianModes", graphs)
    for found, (nodes, pairs) in zip(found_all, graphs, strict=True):
        edges = edges_of(pairs)
        L = laplacian(edges, nodes, dtype=torch.float64)
        values, modes = tensor(found["values"]), tensor(found["nodes"]).T
        assert_close(values, eigenmodes(edges, nodes, dtype=torch.float64)[0])
        assert_close(L @ modes, modes * values)
        assert_close(modes.T @ modes, torch.eye(nodes))
        for value, mode, current in zip(values, modes.T, found["currents"], strict=True):
            assert (current is None) == (value == 0)
            if current is not None:
                assert_close(current, gradient(mode[:, None], edges)[:, 0] / value.sqrt())


test_what_circles_in_graph_drum_is_what_hodge_leaves = alike(
    Twice(
        DYNAMICS,
        """(nodes, pairs, currents) =>
          inModes(laplacianModes(nodes, pairs), Array(nodes).fill(0), currents).circling""",
        circling,
        drums,
        cases=SPECIAL,
    ),
)


def test_a_molecule_of_graph_playground_is_what_it_is_in_course_lib_and_what_chemistry_allows(
    javascript: Javascript, random: Random
):
    # Among them some with charges and with hydrogens outside the rule.
    small = [m for m in load_molecules() if len(m.element) <= MOST_ATOMS]
    molecules = small[:: len(small) // 60]
    drawings = [[drawing_of(molecule)] for molecule in molecules]
    found = javascript(MOLECULE, "atomFeatures", drawings)
    assert_close(found, [molecule.graph().x for molecule in molecules])
    weights = javascript(MOLECULE, "molarMass", drawings)
    np.testing.assert_allclose(weights, [molecule.weight for molecule in molecules], rtol=1e-4)
    assert not any(javascript(MOLECULE, "forbidden", drawings))
    bonds = [[0, i, 1] for i in range(1, 6)]
    star = {"element": ["C"] * 6, "charge": [0] * 6, "bonds": bonds}
    assert javascript(MOLECULE, "forbidden", [[star]]) == [[{"i": 0, "given": 5, "most": 4}]]

    gone = [int(random.integers(len(molecule.element))) for molecule in molecules]
    cases = [[drawing, atom] for [drawing], atom in zip(drawings, gone, strict=True)]
    found = javascript(MOLECULE, "without", cases)
    features = javascript(MOLECULE, "atomFeatures", [[drawing] for drawing in found])
    for molecule, atom, drawing, rows in zip(molecules, gone, found, features, strict=True):
        left = molecule.without(atom)
        assert_close(rows, left.graph().x)
        assert sorted(drawing["bonds"]) == sorted(drawing_of(left)["bonds"])


def test_atoms_of_graph_playground_part_until_no_two_are_nearer_than_a_diameter(
    javascript: Javascript, random: Random
):
    cases = []
    for _ in range(50):
        count, width = int(random.integers(1, MOST_ATOMS + 1)), float(random.uniform(300, 600))
        spread = random.uniform(0, 2)
        place = np.clip(spread * random.normal(size=(count, 2)), -2.4, 2.4).round(3)
        drawing = {"place": place.tolist(), "bonds": [[i, i + 1, 1] for i in range(count - 1)]}
        cases.append([drawing, int(random.integers(count)), width])
    found = javascript(EDITING, "apart", cases)
    sizes = [[drawing, width] for drawing, (_, _, width) in zip(found, cases, strict=True)]
    for (drawing, width), radius in zip(sizes, javascript(EDITING, "radiusOf", sizes), strict=True):
        place = tensor(drawing["place"])
        assert (place.abs() <= tensor([4.0, 3.0])).all()
        assert (torch.pdist(place) * width / 8 > 2 * radius - 1e-6).all()
