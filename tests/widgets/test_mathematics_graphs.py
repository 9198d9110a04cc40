"""GraphDrum and GraphPlayground, run in Chromium, against course_lib."""

from typing import Any

import numpy as np
import pytest
import torch
from in_the_page import Javascript, Twice, alike, assert_close, tensor
from judges.graph_playground import known_after
from torch import Tensor

from course_lib.graph import Graph
from course_lib.graph_dynamics import eigenmodes, gradient, hodge_decomposition, laplacian
from course_lib.models.molecules import ELEMENTS, Molecule, free_valence, load_molecules
from course_lib.widgets.drawings import MOST_ATOMS, drawing_of

DYNAMICS, MOLECULE = "js/maths/graph_dynamics.js", "js/maths/molecule.js"
EDITING = "js/graph_playground/editing.js"
Random = np.random.Generator

# GraphDrum ---------------------------------------------------------------------------------------


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


def test_eigenvalues_of_graph_drum_that_coincide_have_orthogonal_vectors(
    javascript: Javascript, random: Random
):
    turn, _ = np.linalg.qr(random.normal(size=(9, 9)))
    values = [-2.0, -2.0, -2.0, 0.0, 0.0, 1e-3, 5.0, 5.0, 5.0]
    matrix = turn @ np.diag(values) @ turn.T
    [found] = javascript(DYNAMICS, "eigen", [[((matrix + matrix.T) / 2).tolist()]])
    vectors = np.array(found["vectors"])
    assert_close(found["values"], values)
    assert_close(vectors @ vectors.T, np.eye(9))
    assert_close(vectors.T @ np.diag(values) @ vectors, matrix)


# GraphPlayground ---------------------------------------------------------------------------------


def messages(random: Random) -> list[Any]:
    nodes, pairs, _ = drums(random)
    edges, d = pairs + [[j, i] for i, j in pairs], len(ELEMENTS)
    layer = str(random.choice(["sum", "normalized", "attention"]))
    return [layer, random.normal(size=(nodes, d)), edges, [0.0] + [2.0] * (d - 1), 3]


def passed(layer: str, x: Tensor, edges: list[list[int]], _: Any, rounds: int) -> Tensor:
    graph = Graph.undirected(x, edges_of(edges[: len(edges) // 2]))
    return known_after(graph, layer, rounds)


def atoms(random: Random) -> list[Any]:
    orders = random.integers(1, 5, size=int(random.integers(0, 5))).tolist()
    return [
        {
            "element": [str(random.choice(ELEMENTS)), *"C" * len(orders)],
            "charge": [int(random.integers(-1, 2)), *[0] * len(orders)],
            "bonds": [[0, i + 1, order] for i, order in enumerate(orders)],
        },
        0,
    ]


def left_over(drawing: dict[str, Any], atom: int) -> int:
    orders = [order for *_, order in drawing["bonds"]]
    return free_valence(drawing["element"][atom], drawing["charge"][atom], orders)


test_what_circles_in_graph_drum_is_what_hodge_leaves = alike(
    Twice(
        DYNAMICS,
        """(nodes, pairs, currents) =>
          inModes(laplacianModes(nodes, pairs), Array(nodes).fill(0), currents).circling""",
        circling,
        drums,
        draws=10,
        cases=SPECIAL,
    ),
)

test_layers_and_valences_of_graph_playground_are_those_of_course_lib = alike(
    Twice(
        "js/maths/graph_layers.js",
        "(...given) => passed(...given).known.at(-1)",
        passed,
        messages,
        draws=60,
    ),
    Twice(MOLECULE, "freeValence", left_over, atoms, draws=50, rtol=0),
)


@pytest.fixture(scope="module")
def molecules() -> list[Molecule]:
    """Random molecules, among them some with charges and with hydrogens outside the rule."""
    small = [m for m in load_molecules() if len(m.element) <= MOST_ATOMS]
    return small[:: len(small) // 60]


def test_a_molecule_of_graph_playground_is_what_it_is_in_course_lib_and_what_chemistry_allows(
    javascript: Javascript, random: Random, molecules: list[Molecule]
):
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
    radii = javascript(EDITING, "radiusOf", sizes)
    for (drawing, _, width), parted, radius in zip(cases, found, radii, strict=True):
        place = tensor(parted["place"])
        assert (place.abs() <= tensor([4.0, 3.0])).all()
        if len(place) > 1:
            assert torch.pdist(place).min() * width / 8 > 2 * radius - 1e-6
        assert parted["bonds"] == drawing["bonds"]
