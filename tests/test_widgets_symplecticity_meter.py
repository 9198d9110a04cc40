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


def test_the_description_names_the_force_and_the_experiment():
    text = SymplecticityMeter(WINDOW, MATRIX, formula="full", softmax="matrix").describe()
    assert "3 tokens" in text
    assert "both tokens of a pair" in text
    assert "over all pairs at once" in text
    assert "Token 3 goes round a closed loop" in text
    text = SymplecticityMeter(WINDOW, MATRIX, experiment="free").describe()
    assert "only the token that looks" in text
    assert "by each token" in text
    assert "All are let go" in text
