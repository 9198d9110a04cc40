import numpy as np
import pytest
import torch
from small_widgets import make

from course_lib.elliptic import random_rods
from course_lib.rod_field import load_rod_field
from course_lib.widgets import BasisExplorer
from course_lib.widgets.basis_explorer import DRAWN, MOST, STEPS, Curve, read_off

pytestmark = pytest.mark.usefixtures("plain_calls")


def told_of(rods, about):
    place = torch.linspace(0, 1, about["sensors"], dtype=torch.float64)
    z = torch.stack([rods.log_conductivity(place), rods.load(place)], dim=-1)
    return place.float().expand(len(z), -1), z.float()


def test_rounding_changes_the_answers_of_the_field_by_little_beside_its_error():
    field, about = load_rod_field()
    rods = random_rods(200, generator=torch.Generator().manual_seed(2))
    x = torch.linspace(0, 1, 50).expand(200, -1)
    u = rods.solve(torch.linspace(0, 1, 491, dtype=torch.float64))[:, ::10].float()
    shown = BasisExplorer(field, about)
    with torch.no_grad():
        before, after = (model(x, *told_of(rods, about)) for model in (field, shown.field))
    errors = [((found - u).norm(dim=1) / u.norm(dim=1)).mean() for found in (before, after)]
    assert shown.bits == 8
    assert (after - before).abs().max() > 0
    assert errors[1] < 1.25 * errors[0]


def test_what_stands_there_at_first_is_read_off_a_curve_and_a_rod_of_the_family():
    widget = make("BasisExplorer")
    np.testing.assert_allclose(widget.points, read_off(np.linspace(0, 1, 6)), atol=1e-6)
    rod = random_rods(1, generator=torch.Generator().manual_seed(0))
    place = torch.linspace(0, 1, DRAWN, dtype=torch.float64)
    expected = rod.log_conductivity(place)[0].clamp(-MOST, MOST)
    half = 0.5 / STEPS + 1e-6
    np.testing.assert_allclose(widget.log_conductivity, expected, rtol=0, atol=half)
    np.testing.assert_allclose(
        widget.load, rod.load(place)[0].clamp(-MOST, MOST), rtol=0, atol=half
    )


def test_a_drawn_curve_is_kept_to_the_nearest_step_and_travels_as_it_is_kept():
    drawn = np.random.default_rng(3).uniform(-MOST, MOST, DRAWN).astype(np.float32)
    drawn[:2] = -MOST, MOST
    widget = make("BasisExplorer", load=drawn)
    assert 0 < np.abs(widget.load - drawn).max() <= 0.5 / STEPS
    assert (widget.load[:2] == [-MOST, MOST]).all()
    travelled = widget.page_state()["load"]
    assert (Curve._decode(travelled, None) == widget.load).all()
    # The page sends it in the same words, so that Python has nothing to send back.
    widget.set_state({"load": travelled})
    assert widget.page_state()["load"] == travelled
    with pytest.raises(ValueError, match="came from the page"):
        widget.set_state({"load": {"shape": [DRAWN], "base64": ""}})
