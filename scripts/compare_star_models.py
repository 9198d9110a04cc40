"""Measure what lecture 14 compares, with five seeds: files course_lib/data/star_*.json.

    OMP_NUM_THREADS=1 python scripts/compare_star_models.py filling
    OMP_NUM_THREADS=1 python scripts/compare_star_models.py filling prior
    OMP_NUM_THREADS=1 python scripts/compare_star_models.py filling bands
    OMP_NUM_THREADS=1 python scripts/compare_star_models.py filling averaged
    OMP_NUM_THREADS=1 python scripts/compare_star_models.py filling jitter
    OMP_NUM_THREADS=1 python scripts/compare_star_models.py filling matched
    OMP_NUM_THREADS=1 python scripts/compare_star_models.py filling modes
    OMP_NUM_THREADS=1 python scripts/compare_star_models.py filling fewer
    OMP_NUM_THREADS=1 python scripts/compare_star_models.py filling fewer control
    OMP_NUM_THREADS=1 python scripts/compare_star_models.py naming turns
    OMP_NUM_THREADS=1 python scripts/compare_star_models.py naming days
    OMP_NUM_THREADS=1 python scripts/compare_star_models.py naming period
    OMP_NUM_THREADS=1 python scripts/compare_star_models.py naming longer
    OMP_NUM_THREADS=1 python scripts/compare_star_models.py naming epochs
    OMP_NUM_THREADS=1 python scripts/compare_star_models.py naming epochs scratch
    OMP_NUM_THREADS=1 python scripts/compare_star_models.py naming macho

*Filling*: nights are hidden and filled in, of stars of the test side and of the real curves of
MACHO, which nothing here has learned from. Everybody sees the same nights; a series with a prior,
told the period that was found or averaged over all, stands in a file of its own. *Bands* asks all
who say how far off they may be whether they are right, and *averaged* lets the network in turns
doubt its period as the series may, or tells it the one that the series finds likeliest. *Jitter*
lets the series find out how much more noise there is than is stated, and *matched* lets the network
borrow the periods that are likely with this noise, and the noise. *Modes* sorts the stars by how
many they have, and wrong periods by what was found instead. *Fewer* trains networks in turns anew,
with few nights visible or many, and asks what they make of few; its *control* trains them with as
many as the bundled one. *Naming*:
the class of a star, from few labels. Networks start from the bundled weights or from random ones,
and learn by one recipe whose rate is chosen on the validation side with 100 labels of each class,
as the numbers of harmonics and peaks are. A class with fewer stars than labels asked for gives all
that it has. A forest that is told the period alone shows how much of a name is the period, and
networks in turns that learn three times as long, whether they had learned enough. Networks that see
every star in every batch from another epoch, and without some of its nights, show what the others
had to find out by themselves: that it does not matter when a turn begins. What is in the files is
told beside them, in star_models.md.
"""

import json
import math
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np
import sklearn
import torch
from provenance import provenance
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, ExpSineSquared, Kernel, Matern
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from torch import Tensor, nn
from torch.nn import functional as F
from train_astromer import BATCH as AT_ONCE
from train_astromer import RATE, descend
from train_astromer import STEPS as TRAINED_FOR

from course_lib.astromer import (
    CLOCKS,
    DATA,
    Astromer,
    StarClassifier,
    empty_astromer,
    hide_nights,
    load_astromer,
    negative_log_likelihood,
)
from course_lib.light_curves import LightCurves
from course_lib.periodogram import HarmonicFit, find_period, fit_harmonics, frequency_grid
from course_lib.star_prior import (
    harmonic_variance,
    likeliest_jitter,
    likely_frequencies,
    mixed,
    posterior_at_period,
    posterior_over_periods,
)
from course_lib.training import seed
from course_lib.variable_stars import (
    CLASSES,
    DAYS,
    FASTEST,
    Stars,
    load_macho,
    load_stars,
    observe,
    seasons,
)
from course_lib.widgets.watched_stars import ROUGH

SEEDS = range(5)
FREQUENCY = frequency_grid(DAYS, highest=FASTEST)
STARS = load_stars()
MACHO = load_macho()
NIGHTS = seasons(list(MACHO.values()))
TRAINED = {clock: load_astromer(clock)[0] for clock in CLOCKS}

Filled = Callable[[LightCurves, Tensor], Tensor]
"""From curves and what is hidden of them to a magnitude for every night."""
Believed = Callable[[LightCurves, Tensor], tuple[Tensor, Tensor]]
"""The same, and a standard deviation for each, of the light itself."""


# Filling in -----------------------------------------------------------------------------------

WATCHED = 200  # stars of the test side for each seed
FROM_EACH = 12  # seasons of each curve of MACHO for each seed
HARMONICS, PEAKS = (1, 2, 3, 4), (1, 5, 10)


def searched(
    curves: LightCurves, hidden: Tensor, *, harmonics: int = 3, peaks: int = 5
) -> HarmonicFit:
    """The best period of the visible nights, and its series."""
    columns = (curves.time, curves.magnitude, curves.error)
    seen = curves.real & ~hidden
    options = {"harmonics": harmonics, "seen": seen}
    period = find_period(*columns, FREQUENCY, candidates=peaks, **options)
    return fit_harmonics(*columns, 1 / period, **options)


def as_mean(curves: LightCurves, hidden: Tensor) -> Tensor:
    """The mean of visible nights, for all."""
    visible = curves.real & ~hidden
    mean = (curves.magnitude * visible).sum(1, keepdim=True) / visible.sum(1, keepdim=True)
    return mean.expand_as(hidden)


def as_line(curves: LightCurves, hidden: Tensor) -> Tensor:
    """Straight lines from visible night to visible night, level before the first and after."""
    rows = []
    for time_, magnitude, hid in zip(curves.time, curves.magnitude, hidden, strict=True):
        rows.append(np.interp(time_.numpy(), time_[~hid].numpy(), magnitude[~hid].numpy()))
    return torch.tensor(np.array(rows), dtype=curves.time.dtype)


def by_process(kernel_of: Callable[[float], Kernel]) -> Filled:
    """A Gaussian process for each star, its kernel fitted to the visible nights."""
    return lambda curves, hidden: belief_of_process(kernel_of)(curves, hidden)[0]


def belief_of_process(kernel_of: Callable[[float], Kernel]) -> Believed:
    """The same, and how far off it may be."""

    def believed(curves: LightCurves, hidden: Tensor) -> tuple[Tensor, Tensor]:
        period = 1 / searched(curves, hidden).frequency
        rows = []
        for star in range(len(curves)):
            seen = ~hidden[star].numpy()
            dates = curves.time[star].double().numpy()[:, None]
            magnitude = curves.magnitude[star].double().numpy()
            mean = magnitude[seen].mean()
            noise = curves.error[star].double().numpy()[seen] ** 2
            process = GaussianProcessRegressor(kernel_of(period[star].item()), alpha=noise)
            with warnings.catch_warnings():  # a bound of the kernel was met
                warnings.simplefilter("ignore", ConvergenceWarning)
                process.fit(dates[seen], magnitude[seen] - mean)
            said, spread = process.predict(dates, return_std=True)
            rows.append((mean + said, spread))
        said, spread = torch.tensor(np.array(rows), dtype=curves.time.dtype).unbind(1)
        return said, spread

    return believed


def smooth(_: float) -> Kernel:
    """Near in time is alike."""
    return ConstantKernel(0.04, (1e-5, 10)) * Matern(3.0, (0.02, 300), nu=1.5)


def periodic(period: float) -> Kernel:
    """Near in phase is alike, at the period of the periodogram."""
    wave = ExpSineSquared(1.0, period, (0.1, 10), periodicity_bounds="fixed")
    return ConstantKernel(0.04, (1e-5, 10)) * wave


def by_series(**options: int) -> Filled:
    """The series of the best period."""
    return lambda curves, hidden: searched(curves, hidden, **options).at(curves.time)


@torch.no_grad()
def by_days(curves: LightCurves, hidden: Tensor) -> Tensor:
    """The model whose time runs in days."""
    return TRAINED["days"](curves, hidden=hidden)


@torch.no_grad()
def by_turns(curves: LightCurves, hidden: Tensor) -> Tensor:
    """The model whose time runs in turns of the best period."""
    period = 1 / searched(curves, hidden).frequency
    return TRAINED["turns"](curves.in_turns(period), hidden=hidden)


def with_period(period: Tensor) -> dict[str, Filled]:
    """The two that search, told the true period instead."""

    def series(curves: LightCurves, hidden: Tensor) -> Tensor:
        columns = (curves.time, curves.magnitude, curves.error)
        return fit_harmonics(*columns, 1 / period, seen=~hidden).at(curves.time)

    @torch.no_grad()
    def turns(curves: LightCurves, hidden: Tensor) -> Tensor:
        return TRAINED["turns"](curves.in_turns(period), hidden=hidden)

    return {"series, true period": series, "astromer turns, true period": turns}


def figures(filled: Tensor, curves: LightCurves, hidden: Tensor) -> dict[str, float]:
    """Root mean square over all hidden nights, and the median over stars of that of a star."""
    square = (filled - curves.magnitude).square() * hidden
    each = (square.sum(1) / hidden.sum(1)).sqrt()
    return {
        "error": (square.sum() / hidden.sum()).sqrt().item(),
        "median": each.median().item(),
    }


def chosen_series() -> dict:
    """How many harmonics and peaks err least on the validation side."""
    random = seed(100)
    stars = STARS.where("validation")
    curves = observe(stars, NIGHTS, generator=random)
    hidden = hide_nights(curves, generator=random)
    tried = []
    for harmonics, peaks in product(HARMONICS, PEAKS):
        filled = by_series(harmonics=harmonics, peaks=peaks)(curves, hidden)
        error = figures(filled, curves, hidden)["error"]
        tried.append({"harmonics": harmonics, "peaks": peaks, "error": error})
    best = min(tried, key=lambda row: row["error"])
    return {"harmonics": best["harmonics"], "peaks": best["peaks"], "tried": tried}


def subjects(value: int) -> Iterator[tuple[str, LightCurves, Tensor, Stars | None]]:
    """What is to be filled in with a seed: stars of the test side, then each curve of MACHO."""
    random = seed(value)
    test = STARS.where("test")
    stars = test[torch.randperm(len(test), generator=random)[:WATCHED]]
    curves = observe(stars, NIGHTS, generator=random)
    yield "stars", curves, hide_nights(curves, generator=random), stars
    for name, curve in MACHO.items():
        try:
            runs = seasons([curve])
        except ValueError:  # too few nights for a season
            continue
        few = runs[torch.randperm(len(runs), generator=random)[:FROM_EACH]]
        yield name, few, hide_nights(few, generator=random), None


def filling() -> Iterator[dict]:
    """A row for each seed, subject and method."""
    tuned = chosen_series()
    yield {"tuned": tuned}
    options = {name: tuned[name] for name in ("harmonics", "peaks")}
    methods: dict[str, Filled] = {
        "mean": as_mean,
        "linear interpolation": as_line,
        "Gaussian process": by_process(smooth),
        "Gaussian process, periodic": by_process(periodic),
        "series": by_series(**options),
        "astromer days": by_days,
        "astromer turns": by_turns,
    }
    for value in SEEDS:
        for name, curves, hidden, stars in subjects(value):
            told = {} if stars is None else with_period(stars.period[:, 0].float())
            noise = curves.error[hidden].square().mean().sqrt().item()
            for method, fill in (methods | told).items():
                began = time.process_time()
                filled = fill(curves, hidden)
                row = {"seed": value, "subject": name, "method": method, "noise": noise}
                row |= figures(filled, curves, hidden)
                row["seconds"] = round(time.process_time() - began, 2)
                if stars is not None:
                    row["classes"] = {
                        kind: figures(filled[of], curves[of], hidden[of])["error"]
                        for i, kind in enumerate(CLASSES)
                        if (of := stars.kind == i).any()
                    }
                yield {"row": row}


FIVE_PEAKS = {"harmonics": 3, "peaks": 5}  # as many as ASTROMER in turns is told the best of
PERIODIC = {f"{name.removesuffix('B')}{band}" for name in ROUGH for band in "BR"}
PERIOD_STEPS = 16  # trial frequencies in the width of a peak, over which a series is averaged
RIGHT, DEVIATIONS = 0.01, 2
LEVELS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.68, 0.8, 0.9, 0.95, 0.99)


def by_prior(curves: LightCurves, hidden: Tensor) -> tuple[Tensor, Tensor]:
    """The series with a prior of the period that is found, and how sure it is."""
    period = 1 / searched(curves, hidden).frequency
    variance = harmonic_variance(STARS.where("train"))
    return posterior_at_period(curves, period, curves.time, variance=variance, hidden=hidden)


def by_average(curves: LightCurves, hidden: Tensor) -> tuple[Tensor, Tensor]:
    """The series with a prior, averaged over its period, and how sure it is."""
    variance = harmonic_variance(STARS.where("train"))
    frequency = frequency_grid(DAYS, highest=FASTEST, oversampling=PERIOD_STEPS)
    return posterior_over_periods(curves, frequency, curves.time, variance=variance, hidden=hidden)


def with_jitter(curves: LightCurves, hidden: Tensor, period: Tensor) -> tuple[LightCurves, Tensor]:
    """The curves with the errors that are likeliest at a period, and what they have in excess."""
    variance = harmonic_variance(STARS.where("train"))
    jitter = likeliest_jitter(curves, period, variance=variance, hidden=hidden)[:, None]
    return replace(curves, error=torch.hypot(curves.error, jitter)), jitter


def by_jitter(*, averaged: bool) -> Believed:
    """The series with a prior and an excess noise, at the period that is found, or over all.

    The noise is chosen at the period that is found in either case. It belongs to what the series
    says of the light: a hidden night has it too.
    """

    def believed(curves: LightCurves, hidden: Tensor) -> tuple[Tensor, Tensor]:
        period = 1 / searched(curves, hidden).frequency
        variance = harmonic_variance(STARS.where("train"))
        noisier, jitter = with_jitter(curves, hidden, period)
        said, spread = (
            by_average(noisier, hidden)
            if averaged
            else posterior_at_period(noisier, period, curves.time, variance=variance, hidden=hidden)
        )
        return said, torch.hypot(spread, jitter)

    return believed


def by_astromer(clock: str, constant: float | None = None) -> Believed:
    """A model in days, or in turns of the best period; or its guess, and one deviation for all."""

    @torch.no_grad()
    def believed(curves: LightCurves, hidden: Tensor) -> tuple[Tensor, Tensor]:
        clocked = curves
        if clock == "turns":
            clocked = curves.in_turns(1 / searched(curves, hidden).frequency)
        said = TRAINED[clock](clocked, hidden=hidden)
        if constant is not None:
            return said, torch.full_like(said, constant)
        return said, TRAINED[clock].spread(clocked, hidden=hidden)

    return believed


Likely = list[tuple[Tensor, Tensor]]
"""For each star, frequencies and the weight of each."""


def likely_periods(curves: LightCurves, hidden: Tensor) -> Likely:
    """What the series with a prior finds likely of its period."""
    frequency = frequency_grid(DAYS, highest=FASTEST, oversampling=PERIOD_STEPS)
    variance = harmonic_variance(STARS.where("train"))
    return likely_frequencies(curves, frequency, variance=variance, hidden=hidden)


def likeliest(likely: Likely) -> Likely:
    """The same without doubt: of each star the one frequency that weighs most."""
    return [(trial[share.argmax()][None], share.new_ones(1)) for trial, share in likely]


@torch.no_grad()
def by_astromer_averaged(
    curves: LightCurves, hidden: Tensor, likely: Likely | None = None
) -> tuple[Tensor, Tensor]:
    """The model in turns, asked at every period that the series finds likely, and averaged.

    Weights are the evidence of the series: a network that is told a period has none of its own.
    """
    beliefs = []
    for star, (trial, share) in enumerate(likely or likely_periods(curves, hidden)):
        same = torch.full_like(trial, star, dtype=torch.long)
        clocked = curves[same].in_turns((1 / trial).to(curves.time.dtype))
        said = TRAINED["turns"](clocked, hidden=hidden[same])
        spread = TRAINED["turns"].spread(clocked, hidden=hidden[same])
        beliefs.append(mixed(said.double(), spread.double(), share))
    said, spread = (torch.stack(part).to(curves.time.dtype) for part in zip(*beliefs, strict=True))
    return said, spread


def by_astromer_matched(curves: LightCurves, hidden: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The same with the periods and weights of the series with jitter; and the jitter.

    The network itself sees the errors that are stated, as it has learned.
    """
    noisier, jitter = with_jitter(curves, hidden, 1 / searched(curves, hidden).frequency)
    return *by_astromer_averaged(curves, hidden, likely_periods(noisier, hidden)), jitter


def calibration(
    filled: Tensor, spread: Tensor, curves: LightCurves, hidden: Tensor
) -> dict[str, float | dict[str, float]]:
    """How likely hidden nights are, how many a band of each level holds, and how wide it is.

    The nights' own errors are added to each deviation. A band of a level goes as far to each side
    as a normal variable does with that probability. ``width`` is that of the band of 68 %, from
    the middle to one side: one deviation, its mean over hidden nights.
    """
    deviation = torch.hypot(spread, curves.error)
    off = ((filled - curves.magnitude).abs() / deviation)[hidden].double()
    level = torch.erf(off / math.sqrt(2))  # of the narrowest band that holds a night
    return {
        "likelihood": -negative_log_likelihood(filled, deviation, curves.magnitude, hidden).item(),
        "held": {str(share): (level < share).double().mean().item() for share in LEVELS},
        "width": deviation[hidden].mean().item(),
    }


def filling_bands() -> Iterator[dict]:
    """A row for each seed, subject and method that says how far off it may be."""
    methods: dict[str, Believed] = {
        "Gaussian process": belief_of_process(smooth),
        "Gaussian process, periodic": belief_of_process(periodic),
        "series with a prior": by_prior,
        "series with a prior, period averaged": by_average,
    }
    for clock in CLOCKS:
        constant = load_astromer(clock)[1]["doubt"]["constant"]
        methods[f"astromer {clock}"] = by_astromer(clock)
        methods[f"astromer {clock}, constant"] = by_astromer(clock, constant)
    for value in SEEDS:
        for name, curves, hidden, stars in subjects(value):
            if stars is None and name not in PERIODIC:
                continue
            for method, believe in methods.items():
                filled, spread = believe(curves, hidden)
                row = {"seed": value, "subject": name, "method": method}
                row |= calibration(filled, spread, curves, hidden)
                if stars is not None:
                    for told, of in by_found(curves, hidden, stars).items():
                        few = filled[of], spread[of], curves[of], hidden[of]
                        row[told] = {"stars": of.sum().item()} | calibration(*few)
                yield {"row": row}


def by_found(curves: LightCurves, hidden: Tensor, stars: Stars) -> dict[str, Tensor]:
    """Of which stars the period that is found is right, and of which it is wrong."""
    found = 1 / searched(curves, hidden).frequency
    right = (found / stars.period[:, 0] - 1).abs() < RIGHT
    return {"right": right, "wrong": ~right}


def held(filled: Tensor, spread: Tensor, curves: LightCurves, hidden: Tensor) -> float:
    """The share of hidden nights within two deviations, the nights' own errors added."""
    off = (filled - curves.magnitude).abs() / (spread.square() + curves.error.square()).sqrt()
    return (off[hidden] < DEVIATIONS).double().mean().item()


def filling_by_prior() -> Iterator[dict]:
    """A row for each seed and method, of the made stars and of the periodic curves of MACHO.

    The series without a prior is here once more, of a period from as few peaks as the others'.
    """
    for value in SEEDS:
        for name, curves, hidden, stars in subjects(value):
            if stars is None and name not in PERIODIC:
                continue
            for method, fill in (
                ("series with a prior", by_prior),
                ("series with a prior, period averaged", by_average),
            ):
                began = time.process_time()
                filled, spread = fill(curves, hidden)
                row = {"seed": value, "subject": name, "method": method}
                row |= figures(filled, curves, hidden)
                row["held"] = held(filled, spread, curves, hidden)
                row["seconds"] = round(time.process_time() - began, 2)
                if stars is not None:
                    for told, of in by_found(curves, hidden, stars).items():
                        few = curves[of], hidden[of]
                        row[told] = {
                            "stars": of.sum().item(),
                            "error": figures(filled[of], *few)["error"],
                            "held": held(filled[of], spread[of], *few),
                        }
                yield {"row": row}
            filled = by_series(**FIVE_PEAKS)(curves, hidden)
            row = {"seed": value, "subject": name, "method": "series, five peaks"}
            yield {"row": row | figures(filled, curves, hidden)}


def judged(
    believed: tuple[Tensor, Tensor], curves: LightCurves, hidden: Tensor, stars: Stars | None
) -> dict:
    """How far off, and how rightly sure; of made stars also by whether their period was found."""
    row = figures(believed[0], curves, hidden) | calibration(*believed, curves, hidden)
    if stars is not None:
        for told, of in by_found(curves, hidden, stars).items():
            row[told] = judged_of(of, believed, curves, hidden)
    return row


def judged_of(
    of: Tensor, believed: tuple[Tensor, Tensor], curves: LightCurves, hidden: Tensor
) -> dict:
    """The same of some stars, with their number."""
    filled, spread = (part[of] for part in believed)
    few = curves[of], hidden[of]
    count = {"stars": of.sum().item()}
    return count | figures(filled, *few) | calibration(filled, spread, *few)


def filling_averaged() -> Iterator[dict]:
    """A row for each seed and subject: the network averaged over its period, or told the likeliest.

    Each has what those of *filling prior* and of *filling bands* have, of the same nights.
    """
    for value in SEEDS:
        for name, curves, hidden, stars in subjects(value):
            if stars is None and name not in PERIODIC:
                continue
            likely = likely_periods(curves, hidden)
            for method, periods in (
                ("astromer turns, period averaged", likely),
                ("astromer turns, likeliest period", likeliest(likely)),
            ):
                believed = by_astromer_averaged(curves, hidden, periods)
                row = {"seed": value, "subject": name, "method": method}
                yield {"row": row | judged(believed, curves, hidden, stars)}


def filling_jitter() -> Iterator[dict]:
    """A row for each seed and subject: the series with excess noise, told a period or averaged."""
    methods = {
        "series with jitter": by_jitter(averaged=False),
        "series with jitter, period averaged": by_jitter(averaged=True),
    }
    for value in SEEDS:
        for name, curves, hidden, stars in subjects(value):
            if stars is None and name not in PERIODIC:
                continue
            for method, believe in methods.items():
                row = {"seed": value, "subject": name, "method": method}
                yield {"row": row | judged(believe(curves, hidden), curves, hidden, stars)}


def filling_matched() -> Iterator[dict]:
    """A row for each seed and subject: the network that borrows what the series with jitter finds.

    Its deviation is its own, or has the jitter besides, as that of the series has.
    """
    for value in SEEDS:
        for name, curves, hidden, stars in subjects(value):
            if stars is None and name not in PERIODIC:
                continue
            said, spread, jitter = by_astromer_matched(curves, hidden)
            method = "astromer turns, period averaged with jitter"
            for told, doubt in (
                (f"{method}, own spread", spread),
                (method, torch.hypot(spread, jitter)),
            ):
                row = {"seed": value, "subject": name, "method": told}
                yield {"row": row | judged((said, doubt), curves, hidden, stars)}


DRIFT = 0.2  # of a turn in a season: a period that is off by less is the right one


def periods_found(curves: LightCurves, hidden: Tensor, stars: Stars) -> dict[str, int]:
    """What the period found is, of how many stars; each stands where it fits first.

    A frequency is that of a mode if its phase drifts by less than ``DRIFT`` in a season, and stands
    on the peak of a mode if it drifts by less than one turn. Aliases and harmonics are those of
    either mode, and as near.
    """
    found = searched(curves, hidden).frequency.double()[:, None]
    own = torch.where(stars.period > 0, 1 / stars.period.double(), torch.nan)

    def turns(other: Tensor) -> Tensor:
        return ((found - other).abs() * DAYS).nan_to_num(torch.inf)

    whole = torch.tensor([-2.0, -1, 1, 2], dtype=torch.float64)
    aliases = (own[..., None] + whole).abs().flatten(1)
    harmonic = (own[..., None] * torch.tensor([0.5, 2, 3, 1 / 3], dtype=torch.float64)).flatten(1)
    kinds = {
        "first mode": turns(own[:, :1]).amin(1) < DRIFT,
        "second mode": turns(own[:, 1:]).amin(1) < DRIFT,
        "peak of a mode": turns(own).amin(1) < 1,
        "alias": turns(aliases).amin(1) < 1,
        "harmonic": turns(harmonic).amin(1) < 1,
        "another": torch.ones(len(stars), dtype=torch.bool),
    }
    counted, left = {}, kinds["another"].clone()
    for kind, of in kinds.items():
        counted[kind] = (of & left).sum().item()
        left &= ~of
    return counted


def filling_modes() -> Iterator[dict]:
    """A row for each seed and method, of made stars with one mode and with two.

    And, of each seed, what was found of those whose period counts as wrong elsewhere.
    """
    methods = {"series with a prior": by_prior, "series with jitter": by_jitter(averaged=False)}
    for value in SEEDS:
        _, curves, hidden, stars = next(subjects(value))
        two = stars.period[:, 1] > 0
        for method, believe in methods.items():
            filled, spread = believe(curves, hidden)
            square = (filled - curves.magnitude).square() * hidden
            row = {"seed": value, "subject": "stars", "method": method}
            for told, of in {"one mode": ~two, "two modes": two}.items():
                row[told] = judged_of(of, (filled, spread), curves, hidden)
                row[told]["share"] = (square[of].sum() / square.sum()).item()
            yield {"row": row}
        wrong = by_found(curves, hidden, stars)["wrong"]
        row = {"seed": value, "subject": "stars", "method": "period found"}
        row["wrong"] = periods_found(curves[wrong], hidden[wrong], stars[wrong])
        yield {"row": row}


VISIBLE = (28, 20, 14, 10, 8, 6)  # nights of forty, that everybody is asked with
FEWER_STARS, FEWER_SEEDS = 400, range(3)


def fresh_seasons(
    counts: tuple[int, int], random: torch.Generator
) -> Iterator[tuple[LightCurves, Tensor]]:
    """Batches in turns of true periods; how many nights of each are visible is drawn for it."""
    train = STARS.where("train")
    least, most = counts
    for _ in range(TRAINED_FOR):
        stars = train[torch.randint(len(train), (AT_ONCE,), generator=random)]
        curves = observe(stars, NIGHTS, generator=random).in_turns(stars.period[:, 0])
        visible = torch.randint(least, most + 1, (), generator=random).item()
        share = 1 - visible / curves.real.shape[1]
        yield curves, hide_nights(curves, share=share, generator=random)


def trained_with(counts: tuple[int, int], value: int) -> Astromer:
    """A network by the recipe of the bundled one, but for seasons and visible nights."""
    random = seed(value)
    model = empty_astromer("turns")
    for _ in descend(model, fresh_seasons(counts, random), TRAINED_FOR, RATE):
        pass
    return model.eval()


def few_visible(value: int) -> Iterator[tuple[int, LightCurves, Tensor, Tensor]]:
    """Test stars of a seed, and how many of their nights are visible: all, with the periods."""
    random = seed(value)
    test = STARS.where("test")
    stars = test[torch.randperm(len(test), generator=random)[:FEWER_STARS]]
    curves = observe(stars, NIGHTS, generator=random)
    for visible in VISIBLE:
        share = 1 - visible / curves.real.shape[1]
        yield (
            visible,
            curves,
            hide_nights(curves, share=share, generator=random),
            stars.period[:, 0].float(),
        )


@torch.no_grad()
def told_the_period(
    curves: LightCurves, hidden: Tensor, period: Tensor, networks: dict[str, Astromer]
) -> dict[str, float]:
    """How far off each is at hidden nights, told the true period.

    The series without a prior is the best of one, two and three harmonics.
    """
    columns = (curves.time, curves.magnitude, curves.error)
    variance = harmonic_variance(STARS.where("train"))
    options = {"variance": variance, "hidden": hidden}
    filled = {"series with a prior": posterior_at_period(curves, period, curves.time, **options)[0]}
    clocked = curves.in_turns(period)
    filled |= {name: model(clocked, hidden=hidden) for name, model in networks.items()}
    error = {name: figures(said, curves, hidden)["error"] for name, said in filled.items()}
    waves = [
        fit_harmonics(*columns, 1 / period, harmonics=count, seen=~hidden).at(curves.time)
        for count in (1, 2, 3)
    ]
    error["series"] = min(figures(said, curves, hidden)["error"] for said in waves)
    return error


def filling_fewer(counts: tuple[int, int]) -> Iterator[dict]:
    """A row for each seed of training, draw of stars and number of visible nights."""
    yield {"visible_in_training": counts, "steps": TRAINED_FOR, "batch": AT_ONCE}
    for trained in FEWER_SEEDS:
        networks = {
            "astromer turns": TRAINED["turns"],
            "astromer turns, anew": trained_with(counts, trained),
        }
        for value in SEEDS:
            for visible, *asked in few_visible(value):
                row = {"trained": trained, "seed": value, "visible": visible}
                yield {"row": row | {"error": told_the_period(*asked, networks)}}


# Naming ---------------------------------------------------------------------------------------

STEPS = {20: 150, 100: 250, 500: 400}  # for so many labels of each class
BATCH, TREES = 32, 300
RATES, HEAD_RATE = (3e-4, 1e-3), 1e-2
TUNED_WITH, TUNING_SEED = 100, 500
LEAVES = (1, 3, 10, 30)  # stars that a leaf has at least, in a forest that knows the period alone
TIMES_LONGER = 3
DROPPED = 0.3  # of the nights of a batch, at most
ALIKE = (  # labels, and what changes from batch to batch
    (20, "epochs"),
    (20, "epochs and nights"),
    (500, "epochs and nights"),
    (20, "nights"),
)
ALIKE_FROM_SCRATCH = ((20, "epochs and nights"), (500, "epochs and nights"))
LONGER = ((20, "pre-trained"), (20, "scratch"), (500, "pre-trained"))


def described(stars: Stars, value: int) -> dict[str, Tensor | LightCurves]:
    """A season of each star: its nights, its period as found, its features, its class."""
    return told_of(observe(stars, NIGHTS, generator=seed(value))) | {"kind": stars.kind}


def told_of(curves: LightCurves) -> dict[str, Tensor | LightCurves]:
    """What is known of a season: its nights, its period as found, its features."""
    fit = searched(curves, torch.zeros_like(curves.real))
    period = 1 / fit.frequency
    wave = fit.coefficient[:, 1:].unflatten(1, (-1, 2))
    size = wave.norm(dim=-1)
    angle = torch.atan2(wave[..., 0], wave[..., 1])  # cos(x - angle), so shifts are negative
    order = torch.arange(1, wave.shape[1] + 1)
    shift = (order * angle[:, :1] - angle)[:, 1:]
    turn = torch.linspace(0, 1, 50).expand(len(curves), -1) * period[:, None]
    extent = fit.at(turn).amax(1) - fit.at(turn).amin(1)
    nights = curves.real.sum(1)
    left = (fit.chi_square / nights).log()
    log_period = period.log()[:, None]
    features = [
        log_period,
        extent.log()[:, None],
        size[:, 1:] / size[:, :1],
        shift.cos(),
        shift.sin(),
        left[:, None],
    ]
    return {
        "days": curves,
        "turns": curves.in_turns(period),
        "period": log_period,
        "features": torch.cat(features, dim=1),
    }


def labelled(labels: int, value: int) -> Stars:
    """So many stars of each class from the train side, or all that it has."""
    random = torch.Generator().manual_seed(value)
    train = STARS.where("train")
    rows = []
    for kind in range(len(CLASSES)):
        of_kind = (train.kind == kind).nonzero()[:, 0]
        rows.append(of_kind[torch.randperm(len(of_kind), generator=random)[:labels]])
    return train[torch.cat(rows)]


def answers(model: StarClassifier, clock: str, stars: dict) -> np.ndarray:
    """The class that the model finds likeliest."""
    model.eval()
    with torch.no_grad():
        parts = [
            model(stars[clock][rows], _extra(clock, stars, rows)).argmax(1)
            for rows in torch.arange(len(stars["kind"])).split(512)
        ]
    model.train()
    return torch.cat(parts).numpy()


def _extra(clock: str, stars: dict, rows: Tensor) -> Tensor | None:
    return stars["period"][rows] if clock == "turns" else None


class AnyEpoch(Astromer):
    """While it learns, turns of each star begin at another epoch in every batch."""

    def _tokens(self, since: Tensor, value: Tensor, visible: Tensor) -> Tensor:
        if self.training:
            since = since + torch.rand(len(since), 1)
        return super()._tokens(since, value, visible)


def without_some(curves: LightCurves) -> LightCurves:
    """The same stars without some of their nights: as many as chance says, up to a share."""
    share = DROPPED * (1 - torch.rand(1).item())  # above 0, as a share has to be
    dropped = hide_nights(curves, share=share)
    return LightCurves(curves.time, curves.magnitude, curves.error, curves.real & ~dropped)


def learned(
    clock: str, start: str, stars: dict, *, rate: float, steps: int, value: int, alike: str = ""
) -> StarClassifier:
    """A classifier that has learned from these stars, every class as often as the others.

    Its head, which is new in any case, learns faster than its body. ``alike`` says what changes
    from batch to batch, so that a star in other guises is the same star: its "epochs", its
    "nights".
    """
    random = seed(value)
    body = load_astromer(clock)[0] if start == "pre-trained" else empty_astromer(clock)
    if "epochs" in alike:
        weights = body.state_dict()
        body = AnyEpoch(body.frequency)
        body.load_state_dict(weights)
    model = StarClassifier(body, len(CLASSES), extras=int(clock == "turns")).train()
    rates = {rate: body.parameters(), HEAD_RATE: model.head.parameters()}
    descent = torch.optim.AdamW([{"params": part} for part in rates.values()], fused=True)
    plan = torch.optim.lr_scheduler.OneCycleLR(descent, list(rates), total_steps=steps + 1)
    share = 1 / torch.bincount(stars["kind"])[stars["kind"]]
    for _ in range(steps):
        rows = torch.multinomial(share, BATCH, replacement=True, generator=random)
        few = stars[clock][rows]
        if "nights" in alike:
            few = without_some(few)
        logits = model(few, _extra(clock, stars, rows))
        loss = F.cross_entropy(logits, stars["kind"][rows])
        descent.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        descent.step()
        plan.step()
    return model


@torch.no_grad()
def embedded(clock: str, stars: dict) -> np.ndarray:
    """What the bundled model makes of stars, and their period."""
    parts = [
        torch.cat([TRAINED[clock].embed(stars[clock][rows]), stars["period"][rows]], dim=1)
        for rows in torch.arange(len(stars["kind"])).split(512)
    ]
    return torch.cat(parts).numpy()


def scored(found: np.ndarray, stars: dict) -> dict:
    """How often a class is named, the mean over stars and over classes."""
    truth = stars["kind"].numpy()
    recall = [(found[truth == i] == i).mean() for i in range(len(CLASSES))]
    return {
        "balanced accuracy": np.mean(recall),
        "accuracy": (found == truth).mean(),
        "recall": dict(zip(CLASSES, recall, strict=True)),
    }


def simple(few: dict, test: dict, value: int) -> Iterator[tuple[str, np.ndarray]]:
    """A forest and a linear classifier, each of features and of the frozen embedding."""
    kind = few["kind"].numpy()
    inputs = {
        "features": [stars["features"].numpy() for stars in (few, test)],
        "astromer turns": [embedded("turns", stars) for stars in (few, test)],
    }
    for name, (known, asked) in inputs.items():
        forest = RandomForestClassifier(TREES, class_weight="balanced", random_state=value)
        yield f"{name}, forest", forest.fit(known, kind).predict(asked)
        linear = LogisticRegression(max_iter=2000, class_weight="balanced")
        line = make_pipeline(StandardScaler(), linear).fit(known, kind)
        yield f"{name}, linear", line.predict(asked)


def tuned_rates(clock: str) -> dict[str, dict]:
    """Balanced accuracy on the validation side with each rate, for both starts."""
    aside = described(STARS.where("validation"), TUNING_SEED + 1)
    few = described(labelled(TUNED_WITH, TUNING_SEED), TUNING_SEED)
    tried: dict[str, dict] = {}
    for start, rate in product(("pre-trained", "scratch"), RATES):
        options = {"rate": rate, "steps": STEPS[TUNED_WITH], "value": TUNING_SEED}
        found = answers(learned(clock, start, few, **options), clock, aside)
        tried.setdefault(start, {})[rate] = scored(found, aside)["balanced accuracy"]
    return tried


def naming(clock: str) -> Iterator[dict]:
    """A row for each seed, number of labels and method; what has no clock goes with turns."""
    tried = tuned_rates(clock)
    yield {"tuned": tried}
    test = described(STARS.where("test"), 1000)
    for labels, value in product(STEPS, SEEDS):
        few = described(labelled(labels, value), value)
        row = {"labels": labels, "seed": value, "stars": len(few["kind"])}
        if clock == "turns":
            for method, found in simple(few, test, value):
                yield {"row": row | {"method": method} | scored(found, test)}
        for start, rates in tried.items():
            rate = max(rates, key=rates.get)
            options = {"rate": rate, "steps": STEPS[labels], "value": value}
            found = answers(learned(clock, start, few, **options), clock, test)
            told = {"method": f"astromer {clock}, {start}", "rate": rate}
            yield {"row": row | told | scored(found, test)}


def by_period(few: dict, asked: dict, leaf: int, value: int) -> np.ndarray:
    """What a forest says that is told nothing but the logarithm of the period."""
    options = {"class_weight": "balanced", "min_samples_leaf": leaf, "random_state": value}
    forest = RandomForestClassifier(TREES, **options)
    forest.fit(few["period"].numpy(), few["kind"].numpy())
    return forest.predict(asked["period"].numpy())


def naming_by_period() -> Iterator[dict]:
    """A row for each seed and number of labels; each number has the leaf that is best for it."""
    aside = described(STARS.where("validation"), TUNING_SEED + 1)
    tried: dict[int, dict] = {}
    for labels in STEPS:
        few = described(labelled(labels, TUNING_SEED), TUNING_SEED)
        for leaf in LEAVES:
            found = by_period(few, aside, leaf, TUNING_SEED)
            tried.setdefault(labels, {})[leaf] = scored(found, aside)["balanced accuracy"]
    yield {"tuned": tried}
    test = described(STARS.where("test"), 1000)
    for labels, value in product(STEPS, SEEDS):
        few = described(labelled(labels, value), value)
        leaf = max(tried[labels], key=tried[labels].get)
        row = {"labels": labels, "seed": value, "stars": len(few["kind"])}
        row |= {"method": "period, forest", "leaf": leaf}
        yield {"row": row | scored(by_period(few, test, leaf, value), test)}


def naming_for_longer() -> Iterator[dict]:
    """Rows of networks in turns that learn three times as long, with the rates of the others."""
    told = json.loads((DATA / "star_naming_turns.json").read_text())
    rates = {start: float(max(rates, key=rates.get)) for start, rates in told["tuned"].items()}
    yield {"tuned": told["tuned"]}
    test = described(STARS.where("test"), 1000)
    for (labels, start), value in product(LONGER, SEEDS):
        few = described(labelled(labels, value), value)
        steps = TIMES_LONGER * STEPS[labels]
        model = learned("turns", start, few, rate=rates[start], steps=steps, value=value)
        row = {"labels": labels, "seed": value, "stars": len(few["kind"]), "steps": steps}
        row |= {"method": f"astromer turns, {start}, longer", "rate": rates[start]}
        yield {"row": row | scored(answers(model, "turns", test), test)}


def naming_alike(start: str, todo: tuple[tuple[int, str], ...]) -> Iterator[dict]:
    """Rows of networks in turns that see a star in many guises, for as long as those above."""
    told = json.loads((DATA / "star_naming_turns.json").read_text())["tuned"]
    rate = float(max(told[start], key=told[start].get))
    yield {"tuned": told}
    test = described(STARS.where("test"), 1000)
    for (labels, alike), value in product(todo, SEEDS):
        few = described(labelled(labels, value), value)
        steps = TIMES_LONGER * STEPS[labels]
        options = {"rate": rate, "steps": steps, "value": value, "alike": alike}
        model = learned("turns", start, few, **options)
        row = {"labels": labels, "seed": value, "stars": len(few["kind"]), "steps": steps}
        row |= {"method": f"astromer turns, {start}, {alike}", "rate": rate}
        yield {"row": row | scored(answers(model, "turns", test), test)}


def naming_macho() -> Iterator[dict]:
    """Rows of what the forest on features calls MACHO's periodic objects, season for season.

    It has met eight classes of pulsating stars, and must choose one, whatever it is shown.
    """
    for value in SEEDS:
        few = described(labelled(max(STEPS), value), value)
        forest = RandomForestClassifier(TREES, class_weight="balanced", random_state=value)
        forest.fit(few["features"].numpy(), few["kind"].numpy())
        for name in sorted(PERIODIC):
            runs = seasons([MACHO[name]])
            runs = runs[torch.randperm(len(runs), generator=seed(value))[:FROM_EACH]]
            share = forest.predict_proba(told_of(runs)["features"].numpy())
            found = share.argmax(1)
            row = {"seed": value, "subject": name, "seasons": len(runs)}
            row["called"] = {kind: int((found == i).sum()) for i, kind in enumerate(CLASSES)}
            yield {"row": row | {"sure": float(share.max(1).mean())}}
        test = described(STARS.where("test"), 1000)
        sure = forest.predict_proba(test["features"].numpy()).max(1)
        yield {"row": {"seed": value, "subject": "test", "sure": float(sure.mean())}}


# All ------------------------------------------------------------------------------------------

PARTS = {
    "filling": filling,
    "filling prior": filling_by_prior,
    "filling bands": filling_bands,
    "filling averaged": filling_averaged,
    "filling jitter": filling_jitter,
    "filling matched": filling_matched,
    "filling modes": filling_modes,
    "filling fewer": partial(filling_fewer, (min(VISIBLE), max(VISIBLE))),
    "filling fewer control": partial(filling_fewer, (max(VISIBLE), max(VISIBLE))),
    "naming turns": partial(naming, "turns"),
    "naming days": partial(naming, "days"),
    "naming period": naming_by_period,
    "naming longer": naming_for_longer,
    "naming macho": naming_macho,
    "naming epochs": partial(naming_alike, "pre-trained", ALIKE),
    "naming epochs scratch": partial(naming_alike, "scratch", ALIKE_FROM_SCRATCH),
}


def main() -> None:
    """Measure one part and write what was measured, each time something is."""
    part = " ".join(sys.argv[1:])
    result = DATA / f"star_{part.replace(' ', '_')}.json"
    torch.set_num_threads(1)
    began = time.process_time()
    measured = provenance(sklearn) | {"rows": []}
    for found in PARTS[part]():
        if "row" in found:
            measured["rows"].append(found["row"])
        else:
            measured |= found
        measured["processor_seconds"] = round(time.process_time() - began)
        result.write_text(json.dumps(measured, indent=1) + "\n")
        print(measured["processor_seconds"], "s:", json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
