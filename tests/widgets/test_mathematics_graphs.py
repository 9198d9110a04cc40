import numpy as np
import torch
from in_the_page import Javascript, tensor

from course_lib.models.molecules import load_molecules
from course_lib.widgets.graph_playground.drawings import MOST_ATOMS, drawing_of

MOLECULE, EDITING = "maths/molecule.js", "graph_playground/editing.js"
Random = np.random.Generator


def test_a_molecule_of_graph_playground_has_its_mass_and_the_bonds_that_chemistry_allows(
    javascript: Javascript,
):
    # Among them some with charges and with hydrogens outside the rule.
    small = [m for m in load_molecules() if len(m.element) <= MOST_ATOMS]
    molecules = small[:: len(small) // 60]
    drawings = [[drawing_of(molecule)] for molecule in molecules]
    weights = javascript(MOLECULE, "molarMass", drawings)
    np.testing.assert_allclose(weights, [molecule.weight for molecule in molecules], rtol=1e-4)
    assert not any(javascript(MOLECULE, "forbidden", drawings))


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
