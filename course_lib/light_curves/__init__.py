"""Light curves, lecture 14: sampling, periodogram, ASTROMER."""

from course_lib.light_curves.astromer import (
    BRIGHTNESS,
    CLOCKS,
    PRECISION,
    Astromer,
    StarClassifier,
    empty_astromer,
    hide_nights,
    negative_log_likelihood,
    reconstruction_error,
    visible_nights,
)
from course_lib.light_curves.periodogram import (
    OVERSAMPLING,
    HarmonicFit,
    find_period,
    fit_harmonics,
    frequency_grid,
    lomb_scargle,
)
from course_lib.light_curves.sampling import (
    LightCurves,
    cosine_series,
    frequency_ladder,
    phase,
    time_sinusoids,
)

__all__ = [
    "BRIGHTNESS",
    "CLOCKS",
    "OVERSAMPLING",
    "PRECISION",
    "Astromer",
    "HarmonicFit",
    "LightCurves",
    "StarClassifier",
    "cosine_series",
    "empty_astromer",
    "find_period",
    "fit_harmonics",
    "frequency_grid",
    "frequency_ladder",
    "hide_nights",
    "lomb_scargle",
    "negative_log_likelihood",
    "phase",
    "reconstruction_error",
    "time_sinusoids",
    "visible_nights",
]
