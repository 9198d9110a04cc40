import numpy as np
import torch
from small_widgets import ethanol, make

from course_lib.models.molecules import Molecule, load_molecules
from course_lib.widgets.graph_playground.drawings import MOST_ATOMS, REACH, drawing_of


def test_every_drawing_fits_the_field_and_keeps_its_shape_or_is_a_circle():
    small = [m for m in load_molecules() if len(m.element) <= MOST_ATOMS]
    for molecule in small[::7]:
        place = np.array(drawing_of(molecule)["place"])
        assert (np.abs(place) <= REACH).all()
        drawn = torch.pdist(torch.tensor(place))
        given = torch.pdist(molecule.place.double())
        # Two places are rounded to a hundredth, each by half of that along both axes.
        assert (drawn - given * (drawn.sum() / given.sum())).abs().max() < 0.03
    place = np.array(drawing_of(Molecule.drawn("CCCCC", [(0, 1, 1)], name="x"))["place"])
    from_middle = np.linalg.norm(place - place.mean(axis=0), axis=1)
    np.testing.assert_allclose(from_middle, from_middle[0], atol=0.02)


def test_a_molecule_may_be_shown_that_cannot_be_chosen_even_one_of_no_atoms():
    widget = make("GraphPlayground", drawing=ethanol("hexanol", 6), atom=6, partner=5)
    assert widget.drawing["element"] == [*"CCCCCC", "O"]
    assert "hexanol of 7 atoms (6 C, 1 O) and 6 bonds" in widget.describe()
    assert "Ada, decalin, bicyclopentyl" in widget.describe()
    widget.drawing = ethanol()
    assert (widget.atom, widget.partner) == (-1, -1)
    widget.drawing = Molecule.drawn("C", [], name="methane")
    assert widget.drawing["hydrogens"] == [4]
    widget.drawing = Molecule.drawn("", [])
    assert (widget.atom, widget.describe().count(" 0 atoms")) == (-1, 1)
