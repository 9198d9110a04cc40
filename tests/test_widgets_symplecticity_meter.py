import numpy as np

from course_lib.widgets.symplecticity_meter import SymplecticityMeter

WINDOW = np.arange(12.0).reshape(3, 4) / 10
MATRIX = np.eye(4)


def test_the_meter_puts_the_shortcut_on_trial_first():
    meter = SymplecticityMeter(WINDOW, MATRIX)
    assert (meter.softmax, meter.matrix, meter.formula) == ("vector", "symmetric", "shortcut")


def test_the_description_names_the_formula_and_the_window():
    text = SymplecticityMeter(WINDOW, MATRIX, formula="full", softmax="matrix").describe()
    assert "S Z Aᵀ + Sᵀ Z A" in text
    assert "3 tokens with 4 features" in text
    assert "matrix softmax" in text
    assert "2 Sᵀ Z A" in SymplecticityMeter(WINDOW, MATRIX).describe()


def test_the_meter_weighs_less_than_60_kb_in_the_page():
    assert len(SymplecticityMeter(WINDOW, MATRIX).static_html().encode()) < 60_000


def test_a_matrix_of_zeros_is_a_formula_like_any_other():
    meter = SymplecticityMeter(np.zeros((2, 2)), np.zeros((2, 2)))
    assert not meter.A.any()
    assert "2 tokens" in meter.describe()
