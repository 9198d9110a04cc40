import numpy as np
import pytest

from course_lib.widgets.symplecticity_meter import SymplecticityMeter

WINDOW = np.arange(6.0).reshape(3, 2) / 10
MATRIX = np.eye(2)


def test_the_loop_is_a_circle_about_the_last_token_within_the_picture():
    loop = SymplecticityMeter(WINDOW, MATRIX).loop
    assert np.linalg.norm(loop - WINDOW[-1], axis=-1) == pytest.approx(1.5, abs=1e-6)
    loop = SymplecticityMeter([[0.0, 0.0], [2.5, -2.5]], MATRIX).loop
    assert loop.mean(axis=0) == pytest.approx([1, -1], abs=1e-6)
    assert np.abs(loop).max() <= 2.5
