import numpy as np
import pytest
from small_widgets import make


def test_the_loop_is_a_circle_about_the_last_token_within_the_picture():
    shown = make("SymplecticityMeter")
    assert np.linalg.norm(shown.loop - shown.z[-1], axis=-1) == pytest.approx(1.5, abs=1e-6)
    loop = make("SymplecticityMeter", z=[[0.0, 0.0], [2.5, -2.5]]).loop
    assert loop.mean(axis=0) == pytest.approx([1, -1], abs=1e-6)
    assert np.abs(loop).max() <= 2.5
