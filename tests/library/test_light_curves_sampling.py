"""Series and their amplitude, folding, sinusoids of dates."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from seeded_tensors import assert_close, randn

from course_lib.light_curves import (
    LightCurves,
    cosine_series,
    frequency_ladder,
    phase,
    time_sinusoids,
)
from course_lib.position import sinusoidal, sinusoidal_at

RATIO = torch.tensor([1.0, 0.47, 0.32], dtype=torch.float64)
SHIFT = torch.tensor([0.0, 4.5, 2.8], dtype=torch.float64)


def curves(*rows: list[float], lengths: list[int] | None = None) -> LightCurves:
    time = torch.tensor(rows, dtype=torch.float64)
    lengths = [len(row) for row in rows] if lengths is None else lengths
    valid = torch.arange(time.shape[1]) < torch.tensor(lengths)[:, None]
    return LightCurves(time, time.cos(), torch.full_like(time, 0.01), valid)


def test_a_series_is_its_formula():
    turn = randn(7)
    series = [
        sum(
            RATIO[k - 1].item() * math.cos(2 * math.pi * k * x + SHIFT[k - 1].item())
            for k in (1, 2, 3)
        )
        for x in turn.tolist()
    ]
    found = cosine_series(turn, torch.tensor(0.6, dtype=torch.float64), RATIO, SHIFT)
    # All are divided by the range of the sum.
    ratio = found / torch.tensor(series, dtype=torch.float64)
    assert_close(ratio, ratio[0].expand(7))


@settings(max_examples=20)
@given(
    st.floats(0.01, 2),
    st.floats(0, 1),
    st.floats(0, 2 * math.pi),
    st.floats(0, 1),
    st.floats(0, 2 * math.pi),
)
def test_from_its_faintest_to_its_brightest_a_series_has_its_amplitude(a, r2, s2, r3, s3):
    ratio, shift = torch.tensor([1.0, r2, r3]).double(), torch.tensor([0.0, s2, s3]).double()

    turn = torch.arange(4000, dtype=torch.float64) / 4000
    light = cosine_series(turn, torch.tensor(a).double(), ratio, shift)
    assert (light.max() - light.min()).item() == pytest.approx(a, rel=2e-3)


@settings(max_examples=20)
@given(st.floats(-5e4, 5e4), st.floats(0.2, 200), st.integers(-50, 50), st.floats(-100, 100))
def test_phases_drop_whole_turns(time, period, turns, epoch):
    times = torch.tensor([[time, time + turns * period]], dtype=torch.float64)
    found = phase(times, torch.tensor([period], dtype=torch.float64), epoch=epoch)
    assert ((found >= 0) & (found < 1)).all()
    apart = (found[0, 0] - found[0, 1]).abs().item()
    assert min(apart, 1 - apart) < 1e-6
    angle = 2 * math.pi * (time - epoch) / period
    back = 2 * math.pi * found[0, 0].item()
    assert math.cos(angle) == pytest.approx(math.cos(back), abs=1e-6)


def test_a_date_of_nan_has_no_phase():
    assert phase(torch.tensor([[math.nan]]), torch.ones(1)).isnan().all()


def test_time_sinusoids_on_a_regular_grid_are_those_of_positions():
    for base in [10_000, 50]:
        ladder = frequency_ladder(8, shortest=2 * math.pi, longest=2 * math.pi * base)
        time = torch.arange(30, dtype=torch.float64)
        expected = sinusoidal(30, 16, base=base, dtype=torch.float64)
        assert_close(time_sinusoids(time, ladder), expected, 1e-10)
        irregular = 100 * randn(3, 5)
        assert_close(
            time_sinusoids(irregular, ladder), sinusoidal_at(irregular, 16, base=base), 1e-9
        )


def test_large_dates_keep_their_precision():
    date, ladder = torch.tensor([51546.325]), torch.tensor([5.0])
    angle = 2 * math.pi * 5.0 * float(date)
    found = time_sinusoids(date, ladder)[0]
    assert found.dtype == torch.float32
    assert found.tolist() == pytest.approx([math.sin(angle), math.cos(angle)], abs=1e-6)


def test_the_periods_of_a_ladder_grow_by_one_factor():
    period = 1 / frequency_ladder(5, shortest=0.2, longest=200)
    assert period[0].item() == pytest.approx(0.2)
    assert_close(period[1:] / period[:-1], torch.full((4,), 1000 ** (1 / 5)).double(), 1e-6)


def test_padding_fills_up_short_curves_and_may_hold_anything():
    both = LightCurves.padded([curves([1.0, 2.0, 5.0]), curves([0.5, 0.7])])
    assert both.valid.tolist() == [[True] * 3, [True, True, False]]
    assert both.time[1, :2].tolist() == [0.5, 0.7]
    nonsense = torch.tensor([[0.0, 1.0, math.nan], [2.0, 3.0, -1.0]])
    valid = torch.tensor([[True, True, False]]).expand(2, 3)
    made = LightCurves(nonsense, nonsense, torch.ones(2, 3), valid)
    assert len(made) == 2
    assert len(made[:1]) == 1


def test_in_turns_a_period_is_one():
    turned = curves([1.0, 2.0, 5.0]).in_turns(torch.tensor([2.0]))
    assert turned.time.tolist() == [[0.5, 1.0, 2.5]]
