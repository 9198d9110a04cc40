import numpy as np
import pytest
import torch
from traitlets import TraitError

from course_lib.widgets.symplecticity_meter import SymplecticityMeter

WINDOW = np.arange(12.0).reshape(3, 4) / 10
MATRIX = np.eye(4)


def test_the_meter_takes_arrays_tensors_and_lists():
    meter = SymplecticityMeter(torch.tensor(WINDOW), MATRIX.tolist())
    np.testing.assert_allclose(meter.z, WINDOW, rtol=1e-6)
    np.testing.assert_allclose(meter.A, MATRIX)


def test_the_meter_puts_the_shortcut_of_the_notes_on_trial_first():
    meter = SymplecticityMeter(WINDOW, MATRIX)
    assert (meter.softmax, meter.matrix, meter.formula) == ("vector", "symmetric", "shortcut")


def test_the_description_names_the_formula_and_the_window():
    text = SymplecticityMeter(WINDOW, MATRIX, formula="full", softmax="matrix").describe()
    assert "S Z Aᵀ + Sᵀ Z A" in text
    assert "3 tokens with 4 features" in text
    assert "matrix softmax" in text


def test_the_meter_weighs_less_than_60_kb_in_the_page():
    assert len(SymplecticityMeter(WINDOW, MATRIX).static_html().encode()) < 60_000


@pytest.mark.usefixtures("plain_calls")
@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"z": [[1.0], [2.0, 3.0]]}, ValueError, "z needs the axes"),
        ({"z": [1.0, 2.0]}, ValueError, r"\(tokens, d\)"),
        ({"z": np.full((3, 4), np.nan)}, ValueError, "NaN or infinite"),
        ({"z": [["a", "b"]]}, TypeError, "real numbers"),
        ({"z": np.ones((7, 4))}, ValueError, "at most 24"),
        ({"A": np.eye(3)}, ValueError, r"z has 4 features, so A must be \(4, 4\)"),
        ({"A": np.ones((4, 3))}, ValueError, r"must be \(4, 4\)"),
        ({"softmax": "row"}, ValueError, "softmax must be one of vector, matrix"),
        ({"matrix": "skew"}, ValueError, "matrix must be one of symmetric, general"),
        ({"formula": "2SZA"}, ValueError, "formula must be one of full, shortcut"),
        ({"dt": 0.0}, ValueError, "dt must lie between 0.01 and 0.3"),
        ({"dt": "fast"}, TypeError, "dt must be a number"),
    ],
)
def test_what_cannot_be_drawn_is_refused_with_a_reason(given, error, message):
    with pytest.raises(error, match=message):
        SymplecticityMeter(**{"z": WINDOW, "A": MATRIX, **given})


def test_a_trait_set_later_is_checked_too():
    meter = SymplecticityMeter(WINDOW, MATRIX)
    with pytest.raises(TraitError):
        meter.formula = "guess"
    with pytest.raises(TraitError):
        meter.z = meter.z
