import numpy as np
import pytest
import torch
from small_widgets import make

from course_lib.basis import random_rods
from course_lib.widgets.basis_explorer.basis_explorer import DRAWN, MOST, STEPS, Curve, read_off


def test_the_first_state_is_a_curve_and_a_rod_of_the_family():
    widget = make("BasisExplorer")
    np.testing.assert_allclose(widget.points, read_off(np.linspace(0, 1, 6)), atol=1e-6)
    rod = random_rods(1, generator=torch.Generator().manual_seed(0))
    place = torch.linspace(0, 1, DRAWN, dtype=torch.float64)
    for shown, curve in ((widget.log_conductivity, rod.log_conductivity), (widget.load, rod.load)):
        expected = curve(place)[0].clamp(-MOST, MOST)
        np.testing.assert_allclose(shown, expected, rtol=0, atol=0.5 / STEPS + 1e-6)


def test_a_drawn_curve_is_rounded_to_steps_and_sent_rounded():
    drawn = np.random.default_rng(3).uniform(-MOST, MOST, DRAWN).astype(np.float32)
    widget = make("BasisExplorer", load=drawn)
    assert 0 < np.abs(widget.load - drawn).max() <= 0.5 / STEPS
    travelled = widget.page_state()["load"]
    assert (Curve._decode(travelled, None) == widget.load).all()
    # The page sends the same text, so that Python sends nothing back.
    widget.set_state({"load": travelled})
    assert widget.page_state()["load"] == travelled
    with pytest.raises(ValueError, match="came from the page"):
        widget.set_state({"load": {"shape": [DRAWN], "base64": ""}})
