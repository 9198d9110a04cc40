"""Evidence of lecture 14: filling in hidden nights, uncertainties, and classifying stars.

make evidence N=14
"""

import math
import sys
import warnings
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import torch
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, ExpSineSquared
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from torch import Tensor
from torch.nn import functional as F

from course_lib.light_curves import (
    Astromer,
    LightCurves,
    StarClassifier,
    empty_astromer,
    find_period,
    fit_harmonics,
    frequency_grid,
    hide_nights,
    lomb_scargle,
    negative_log_likelihood,
    reconstruction_error,
)
from course_lib.models.stars import (
    CLASSES,
    DAYS,
    FASTEST,
    LARGEST_ERROR,
    NIGHTS,
    Stars,
    harmonic_variance,
    likeliest_jitter,
    likely_frequencies,
    load_astromer,
    load_macho,
    load_stars,
    mixed,
    observe,
    posterior_at_period,
    posterior_over_periods,
    seasons,
)
from course_lib.support.evidence import Row, compute, experiment
from course_lib.support.training import fit, one_cycle, seed
from course_lib.widgets.star_explorer.watched_stars import ECLIPSING, ROUGH

FREQUENCY = frequency_grid(DAYS, highest=FASTEST)
FINE = frequency_grid(DAYS, highest=FASTEST, oversampling=16)  # to average over
Belief = tuple[Tensor, Tensor | None]
"""The prediction for every night, and the standard deviation of the light, if there is one."""

catalogue, macho, trained = cache(load_stars), cache(load_macho), cache(load_astromer)


@cache
def real_nights() -> LightCurves:
    """Every season of MACHO."""
    return seasons(list(macho().values()))


@cache
def prior() -> Tensor:
    """The prior variances of the harmonics, from training stars."""
    return harmonic_variance(catalogue().where("train"))


def columns_of(curves: LightCurves) -> tuple[Tensor, Tensor, Tensor]:
    """Dates, magnitudes and errors."""
    return curves.time, curves.magnitude, curves.error


def period_of(curves: LightCurves, hidden: Tensor) -> Tensor:
    """The period of each star found from its visible nights."""
    return find_period(*columns_of(curves), FREQUENCY, seen=curves.valid & ~hidden)


def test_stars(count: int, value: int) -> tuple[Stars, LightCurves, torch.Generator]:
    """Some stars of the test side, and a season of each."""
    random = seed(value)
    test = catalogue().where("test")
    stars = test[torch.randperm(len(test), generator=random)[:count]]
    return stars, observe(stars, real_nights(), generator=random), random


def of_kind(kind: str) -> list[str]:
    """The real curves of eclipsing binaries, or of the RR Lyrae star, in both bands."""
    blue = [name for name in ROUGH if (name in ECLIPSING) == (kind == "binary")]
    return [f"{name.removesuffix('B')}{band}" for name in blue for band in "BR"]


# Nights and periods ----------------------------------------------------------------------------


def least_apart(names: list[str]) -> int:
    """The largest number of disjoint seasons in some curves: each ends as early as possible."""
    ends = []
    for name in names:
        curve = macho()[name]
        time = curve.time[0, (curve.error <= LARGEST_ERROR)[0]]
        runs = time.unfold(0, NIGHTS, 1) if len(time) >= NIGHTS else time.new_zeros(0, NIGHTS)
        ends += [(run[-1].item(), run[0].item()) for run in runs if run[-1] - run[0] <= DAYS]
    count, latest = 0, -math.inf
    for last, first in sorted(ends):
        if first > latest:
            count, latest = count + 1, last
    return count


@experiment()
def macho_nights() -> Row:
    """The number of disjoint seasons, and how errors of an RR Lyrae star depend on its light."""
    fields: dict[str, list[str]] = {}
    for name in macho():  # names begin with the field, whose objects share their dates
        fields.setdefault(name.partition(".")[0], []).append(name)
    both = of_kind("rr")
    curve, kept = macho()[both[0]], macho()[both[0]].error <= LARGEST_ERROR
    errors = torch.cat([macho()[name].error[0] for name in both])
    return {
        "seasons": len(real_nights()),
        "seasons_apart": sum(map(least_apart, fields.values())),
        "rr_apart": least_apart(both),
        "rr_fainter": (curve.magnitude[~kept].mean() - curve.magnitude[kept].mean()).item(),
        "error_pool": real_nights().error.median().item(),
        "error_rr": errors.median().item(),
        "error_cut": (errors > LARGEST_ERROR).double().mean().item(),
    }


def least_about(curves: LightCurves, frequency: Tensor) -> Tensor:
    """The least residual of a sinusoid within a peak's width of each frequency."""
    near = frequency[..., None] + torch.linspace(-0.5, 0.5, 11, dtype=torch.float64) / DAYS
    trial = near.flatten(1).clamp(min=0.5 / DAYS)
    wide = [part[:, None].double().expand(-1, trial.shape[1], -1) for part in columns_of(curves)]
    return fit_harmonics(*wide, trial, harmonics=1).chi_square.unflatten(1, (-1, 11)).amin(2)


def beaten_by_an_alias(stars: Stars, *, noise: float) -> int:
    """The number of stars with an alias higher than their own frequency."""
    nights = replace(real_nights(), error=noise * real_nights().error)
    curves = observe(stars, nights, generator=seed(2))
    own, whole = 1 / stars.period[:, :1].double(), torch.tensor([1.0, 2.0], dtype=torch.float64)
    other = torch.cat([(whole - own).abs(), whole + own], 1)
    # Aliases outside the search, or on the peak of the star itself, do not count.
    apart = (other > 1 / DAYS) & (other < FASTEST) & ((other - own).abs() > 2 / DAYS)
    return ((least_about(curves, other) < least_about(curves, own)) & apart).any(1).sum().item()


@experiment([{"stars": 50}, {"stars": 400}])
def aliases(*, stars: int) -> Row:
    """Aliases exceed the star's own frequency because a star is not a sinusoid."""
    some = test_stars(stars, 0)[0]
    one_wave, one_mode = torch.tensor([1.0, 0, 0]), torch.tensor([1.0, 0])
    wave = replace(some, ratio=some.ratio * one_wave, amplitude=some.amplitude * one_mode)
    return {
        "alias_real": beaten_by_an_alias(some, noise=1),
        "alias_quiet": beaten_by_an_alias(some, noise=1e-6),
        "alias_sinusoid": beaten_by_an_alias(wave, noise=1),
    }


@experiment([{"count": 50}, {"count": 1000}])
def noise_alone(*, count: int) -> Row:
    """The highest peak of noise, the share of stars with a higher one, and the window."""
    _, curves, random = test_stars(count, 1)
    seen = ~hide_nights(curves, generator=random)
    noise = torch.randn(curves.time.shape, generator=random)
    of_noise, of_stars = (
        lomb_scargle(curves.time, light, curves.error, FREQUENCY, seen=seen).amax(dim=1)
        for light in (noise * curves.error, curves.magnitude)
    )
    level = of_noise.quantile(0.99)
    one_a_day = torch.polar(torch.ones_like(curves.time), 2 * math.pi * curves.time)
    elsewhere = torch.polar(torch.ones_like(curves.time), 2 * math.pi * 0.37 * curves.time)
    return {
        "noise_median": of_noise.median().item(),
        "noise_level": level.item(),
        "above_level": (of_stars > level).double().mean().item(),
        "window_day": one_a_day.mean(dim=1).abs().square().mean().item(),
        "window_elsewhere": elsewhere.mean(dim=1).abs().square().mean().item(),
    }


# Filling in ------------------------------------------------------------------------------------


def by_process(curves: LightCurves, hidden: Tensor, period: Tensor) -> Belief:
    """A Gaussian process for each star: nights close in phase are correlated."""
    rows = []
    for star in range(len(curves)):
        seen = (curves.valid & ~hidden)[star].numpy()
        dates, light, error = (part[star].double().numpy() for part in columns_of(curves))
        mean, dates = light[seen].mean(), dates[:, None]
        wave = ExpSineSquared(1.0, period[star].item(), (0.1, 10), periodicity_bounds="fixed")
        kernel = ConstantKernel(0.04, (1e-5, 10)) * wave
        process = GaussianProcessRegressor(kernel, alpha=error[seen] ** 2)
        with warnings.catch_warnings():  # the kernel reached a bound
            warnings.simplefilter("ignore", ConvergenceWarning)
            process.fit(dates[seen], light[seen] - mean)
        said, spread = process.predict(dates, return_std=True)
        rows.append((mean + said, spread))
    said, spread = torch.tensor(np.array(rows), dtype=curves.time.dtype).unbind(1)
    return said, spread


def averaged(curves: LightCurves, hidden: Tensor, likely: list[tuple[Tensor, Tensor]]) -> Belief:
    """ASTROMER in turns, averaged over all likely periods by their probability."""
    model, beliefs = trained("turns")[0], []
    for star, (trial, share) in enumerate(likely):
        same = torch.full_like(trial, star, dtype=torch.long)
        clocked = curves[same].in_turns((1 / trial).to(curves.time.dtype))
        said = model(clocked, hidden=hidden[same]), model.spread(clocked, hidden=hidden[same])
        beliefs.append(mixed(*(part.double() for part in said), share))
    said, spread = (torch.stack(part).to(curves.time.dtype) for part in zip(*beliefs, strict=True))
    return said, spread


@cache
def library() -> Tensor:
    """One turn of 1,000 training stars, in 480 steps; only the first mode of two."""
    train = catalogue().where("train")
    some = train[torch.randperm(len(train), generator=torch.Generator().manual_seed(0))[:1000]]
    first = torch.tensor([1.0, 0.0])
    still = replace(some, amplitude=some.amplitude * first, magnitude=0 * some.magnitude)
    return still.light(torch.arange(480) / 480 * some.period[:, :1]).float()


def by_shapes(
    curves: LightCurves, hidden: Tensor, likely: list[tuple[Tensor, Tensor]]
) -> tuple[Tensor, Tensor]:
    """The mean of a library of shapes, each at 48 phases, weighted by the visible nights.

    Template fitting as a prior: each shape has a fitted constant. The mean is averaged over the
    100 likeliest periods by their probability.
    """
    begins, rows = torch.arange(48) * 10, []
    for star, (trial, share) in enumerate(likely):
        chance, best = share.topk(min(100, len(share)))
        weight = (~hidden[star]) / curves.error[star].square()
        weight = weight / (total := weight.sum())
        beliefs = []
        for frequency in trial[best]:
            place = (curves.time[star] * frequency % 1 * 480).long() % 480
            light = library()[:, (place + begins[:, None]) % 480].flatten(0, 1)
            off = curves.magnitude[star] - light
            mean = off @ weight
            fits = (-total * ((off - mean[:, None]).square() @ weight) / 2).softmax(dim=0)
            beliefs.append(mixed(light + mean[:, None], torch.zeros_like(light), fits))
        each = (torch.stack(part).double() for part in zip(*beliefs, strict=True))
        rows.append(mixed(*each, chance / chance.sum()))
    said, spread = (torch.stack(part).to(curves.time.dtype) for part in zip(*rows, strict=True))
    return said, spread


@torch.no_grad()
def beliefs(curves: LightCurves, hidden: Tensor, period: Tensor) -> dict[str, Belief]:
    """The predictions of each method, from the visible nights and the period found in them.

    Series and network are averaged over the same periods, with the same jitter.
    """
    visible, columns = curves.valid & ~hidden, columns_of(curves)
    mean = (curves.magnitude * visible).sum(1, keepdim=True) / visible.sum(1, keepdim=True)
    rows = zip(curves.time.numpy(), curves.magnitude.numpy(), visible.numpy(), strict=True)
    lines = [np.interp(time, time[seen], light[seen]) for time, light, seen in rows]
    options = {"variance": prior(), "hidden": hidden}
    jitter = likeliest_jitter(curves, period, **options)[:, None]
    noisier = replace(curves, error=torch.hypot(curves.error, jitter))
    series, spread = posterior_over_periods(noisier, FINE, curves.time, **options)
    likely = likely_frequencies(noisier, FINE, **options)
    network, doubt = averaged(curves, hidden, likely)
    shape, unsure = by_shapes(noisier, hidden, likely)
    (days, _), (turns, about) = trained("days"), trained("turns")
    clocked = curves.in_turns(period)
    said = turns(clocked, hidden=hidden)
    return {
        "mean": (mean.expand_as(hidden), None),
        "lines": (torch.tensor(np.array(lines), dtype=curves.time.dtype), None),
        "process": by_process(curves, hidden, period),
        "series": (fit_harmonics(*columns, 1 / period, seen=visible).at(curves.time), None),
        "prior": (series, torch.hypot(spread, jitter)),
        "library": (shape, torch.hypot(unsure, jitter)),
        "days": (days(curves, hidden=hidden), days.spread(curves, hidden=hidden)),
        "turns": (said, turns.spread(clocked, hidden=hidden)),
        "constant": (said, torch.full_like(said, about["doubt"]["constant"])),
        "averaged": (network, torch.hypot(doubt, jitter)),
    }


def narrowest(belief: Belief, curves: LightCurves, hidden: Tensor) -> Tensor:
    """The level of the narrowest band that contains each hidden night."""
    said, spread = belief
    off = (said - curves.magnitude).abs() / torch.hypot(spread, curves.error)
    return torch.erf(off[hidden].double() / math.sqrt(2))


def judged(belief: Belief, curves: LightCurves, hidden: Tensor) -> Row:
    """Error, log likelihood, coverage of the bands and width of the bands."""
    said, spread = belief
    found = {"error": reconstruction_error(said, curves.magnitude, hidden).item()}
    if spread is None:
        return found
    deviation = torch.hypot(spread, curves.error)
    off = ((said - curves.magnitude).abs() / deviation)[hidden].double()
    level = narrowest(belief, curves, hidden)
    return found | {
        "likely": -negative_log_likelihood(said, deviation, curves.magnitude, hidden).item(),
        "held68": (level < 0.68).double().mean().item(),
        "held95": (level < 0.95).double().mean().item(),
        "width": deviation[hidden].mean().item(),
        "pull": off.square().mean().sqrt().item(),
    }


ERRS_LESS = (
    "library prior",
    "library averaged",
    "prior averaged",
    "averaged prior",
    "averaged turns",
)
IS_LIKELIER = ("prior averaged", "turns constant")


def gather(row: Row, numbers: Row) -> None:
    """Append each number of a draw to those of the earlier draws."""
    for name, number in numbers.items():
        row.setdefault(name, []).append(number)


def with_leads(row: Row, *groups: str) -> Row:
    """Add the leads of one method over another, in error and in likelihood, for each draw."""
    for pair, group in product(ERRS_LESS, groups):
        ahead, behind = (np.array(row[f"{group}{way}_error"]) for way in pair.split())
        row[f"{group}{'_before_'.join(pair.split())}"] = (behind - ahead).tolist()
    for pair, group in product(IS_LIKELIER, groups):
        ahead, behind = (np.array(row[f"{group}{way}_likely"]) for way in pair.split())
        row[f"{group}{'_likelier_'.join(pair.split())}"] = (ahead - behind).tolist()
    return row


@experiment([{"stars": 20, "draws": 1}, {"stars": 200, "draws": 5}])
def filling(*, stars: int, draws: int) -> Row:
    """Hidden nights of test stars: every method, over all stars, and by the period found."""
    row: Row = {}
    for value in range(draws):
        some, curves, random = test_stars(stars, value)
        hidden = hide_nights(curves, generator=random)
        period, true = period_of(curves, hidden), some.period[:, 0]
        right = (period / true - 1).abs() < 0.01
        off_by_days = [(1 / period - (k + s / true)).abs() for k in (-2, -1, 1, 2) for s in (1, -1)]
        alias = ~right & (torch.stack(off_by_days).amin(0) < 1 / DAYS)
        own_peak = ~right & ((1 / period - 1 / true).abs() < 1 / DAYS)
        count = {"wrong": ~right, "alias": alias, "own_peak": own_peak}
        gather(row, {name: of.sum().item() for name, of in count.items()})
        gather(row, {"noise": curves.error[hidden].square().mean().sqrt().item()})
        said = beliefs(curves, hidden, period)
        groups = {"": torch.ones_like(right), "right_": right, "wrong_": ~right}
        for (way, belief), (group, of) in product(said.items(), groups.items()):
            few = tuple(None if part is None else part[of] for part in belief)
            found = judged(few, curves[of], hidden[of])
            gather(row, {f"{group}{way}_{name}": number for name, number in found.items()})
    return with_leads(row, "", "right_", "wrong_")


@experiment([{"stars": 20, "draws": 1}, {"stars": 200, "draws": 5}])
@torch.no_grad()
def told_the_period(*, stars: int, draws: int) -> Row:
    """The stars of ``filling`` whose period was not found: errors if all are told the true one."""
    row: Row = {"of_two_modes": 0}
    for value in range(draws):
        some, curves, random = test_stars(stars, value)
        hidden = hide_nights(curves, generator=random)
        true = some.period[:, 0]
        wrong = (period_of(curves, hidden) / true - 1).abs() >= 0.01
        if not wrong.any():
            continue
        few, gone, told = curves[wrong], hidden[wrong], true[wrong].float()
        options = {"variance": prior(), "hidden": gone}
        jitter = likeliest_jitter(few, told, **options)[:, None]
        noisier = replace(few, error=torch.hypot(few.error, jitter))
        said = {
            "series": fit_harmonics(*columns_of(few), 1 / told, seen=few.valid & ~gone).at(
                few.time
            ),
            "prior": posterior_at_period(noisier, told, few.time, **options)[0],
            "turns": trained("turns")[0](few.in_turns(told), hidden=gone),
        }
        for way, guess in said.items():
            error = reconstruction_error(guess, few.magnitude, gone).item()
            gather(row, {f"told_{way}_error": error})
        gather(row, {"noise_where_wrong": few.error[gone].square().mean().sqrt().item()})
        row["of_two_modes"] += int((some.period[wrong][:, 1] > 0).sum())
    return row


STATED = torch.arange(1, 100) / 100


@experiment([{"stars": 20, "draws": 1, "shown": 2}, {"stars": 200, "draws": 5, "shown": 36}])
def bands(*, stars: int, draws: int, shown: int) -> Row:
    """The share of hidden nights that a band of each stated level holds, as in ``filling``.

    And some of these nights that stand for all: prediction less magnitude, and standard deviation.
    """
    ways, row = ("prior", "library", "process", "averaged", "turns", "constant"), {}
    nights: dict[tuple[str, str], list[Tensor]] = {}
    for value in range(draws):
        some, curves, random = test_stars(stars, value)
        hidden = hide_nights(curves, generator=random)
        period = period_of(curves, hidden)
        right = (period / some.period[:, 0] - 1).abs() < 0.01
        said = beliefs(curves, hidden, period)
        groups = {"all": torch.ones_like(right), "right": right, "wrong": ~right}
        for way, (group, of) in product(ways, groups.items()):
            belief, light = tuple(part[of] for part in said[way]), curves[of]
            level = narrowest(belief, light, hidden[of])
            share = (level[:, None] < STATED).double().mean(0)
            gather(row, {f"{group}_{way}": share})
            off, wide = belief[0] - light.magnitude, torch.hypot(belief[1], light.error)
            nights.setdefault((group, way), []).append(torch.stack([off, wide])[:, hidden[of]])
    for group, way in product(groups, ways):
        row[f"{group}_{way}"] = torch.stack(row[f"{group}_{way}"]).mean(0).tolist()
        off, wide = torch.cat(nights[group, way], dim=1)
        # As many of each size as among all nights, in the order in which they were drawn.
        middle = (torch.arange(shown) + 0.5) / shown * len(off)
        few = (off.abs() / wide).argsort()[middle.long()].sort().values
        row |= {f"off_{group}_{way}": off[few].tolist(), f"wide_{group}_{way}": wide[few].tolist()}
    return row


@experiment(
    {"visible": visible, "stars": stars}
    for stars, counts in ((5, (6,)), (200, (6, 10, 14, 20, 28)))
    for visible in counts
)
@torch.no_grad()
def few_nights(*, visible: int, stars: int) -> Row:
    """Given the true period, with few nights or many, five draws: a prior of shapes wins."""
    row: Row = {}
    model = trained("turns")[0]
    for value in range(5):
        some, curves, random = test_stars(stars, value)
        hidden = hide_nights(curves, share=1 - visible / NIGHTS, generator=random)
        period = some.period[:, 0].float()
        options = {"variance": prior(), "hidden": hidden}
        sure = [(frequency[None].double(), torch.ones(1).double()) for frequency in 1 / period]
        said = {
            "prior": posterior_at_period(curves, period, curves.time, **options)[0],
            "shapes": by_shapes(curves, hidden, sure)[0],
            "turns": model(curves.in_turns(period), hidden=hidden),
        }
        for way, guess in said.items():
            error = reconstruction_error(guess, curves.magnitude, hidden).item()
            gather(row, {f"{way}_with_{visible}": error})
    shapes, turns, ridge = (
        np.array(row[f"{way}_with_{visible}"]) for way in ("shapes", "turns", "prior")
    )
    leads = {"shapes_lead": turns - shapes, "turns_lead": ridge - turns}
    for name, lead in leads.items():
        row |= {f"{name}_{visible}": lead.tolist(), f"{name}_on_{visible}": int((lead > 0).sum())}
    return row


COUNTS = (6, 10, 14, 20, 28)
SHOWN = ("RRab", "Cepheid F", "BL Herculis")


@experiment([{"kinds": 1}, {"kinds": 3}])
@torch.no_grad()
def curves_from_few(*, kinds: int) -> Row:
    """One turn of a star of some classes, from few nights or many, given the true period."""
    model, rows = trained("turns")[0], {"kind": list(SHOWN[:kinds])}
    test, phases = catalogue().where("test"), torch.arange(41) / 40
    for kind in rows["kind"]:
        of_kind = test.of(kind)
        middle = of_kind[of_kind.period[:, 0].argsort()[len(of_kind) // 2 :][:1]]
        period, random = middle.period[:, 0].float(), seed(3)
        season = real_nights()[torch.randint(len(real_nights()), (1,), generator=random)]
        noise = season.error * torch.randn(season.time.shape, generator=random)
        curves = replace(season, magnitude=middle.light(season.time) + noise)
        # Every phase is asked as a hidden night, whose magnitude and error do not matter.
        turn = phases * period[:, None]
        asked = turn + (1 + (curves.time.max() / period).floor()) * period
        spare = torch.ones_like(asked)
        columns = zip(columns_of(curves), (asked, spare, spare), strict=True)
        longer = LightCurves(*(torch.cat(c, 1) for c in columns), torch.ones(1, 81).bool())
        order = torch.randperm(NIGHTS, generator=random)
        options, sure = {"variance": prior()}, [(1 / period.double(), torch.ones(1).double())]
        said = []
        for count in COUNTS:
            hidden = torch.ones(1, 81, dtype=torch.bool)
            hidden[0, order[:count]] = False
            by_series = posterior_at_period(longer, period, asked, **options, hidden=hidden)[0]
            by_model = model(longer.in_turns(period), hidden=hidden)[:, NIGHTS:]
            said.append([by_shapes(longer, hidden, sure)[0][:, NIGHTS:], by_model, by_series])
        found = {
            "phase": curves.time[0, order] / period % 1,
            "magnitude": curves.magnitude[0, order],
            "error": curves.error[0, order],
            "light": middle.light(turn)[0],
            "said": torch.stack([torch.cat(ways) for ways in said]),
        }
        gather(rows, {name: part.tolist() for name, part in found.items()})
    return rows


@experiment()
@torch.no_grad()
def wrong_period() -> Row:
    """The error of ASTROMER in turns, given a period that is too long by a share."""
    stars, curves, random = test_stars(400, 0)
    hidden = hide_nights(curves, generator=random)
    row: Row = {}
    for name, off in (("off_none", 0), ("off_percent", 0.01), ("off_ten", 0.1)):
        clocked = curves.in_turns(stars.period[:, 0].float() * (1 + off))
        said = trained("turns")[0](clocked, hidden=hidden)
        row[name] = reconstruction_error(said, curves.magnitude, hidden).item()
    return row


@experiment(
    {"kind": kind, "count": count, "draws": draws}
    for count, draws in ((1, 1), (12, 5))
    for kind in ("rr", "binary")
)
def real_light(*, kind: str, count: int, draws: int) -> Row:
    """Hidden nights of real periodic objects: means over their curves of ``count`` seasons."""
    row: Row = {}
    for value in range(draws):
        of_curves: Row = {}
        for name in of_kind(kind):
            runs, random = seasons([macho()[name]]), seed(value)
            curves = runs[torch.randperm(len(runs), generator=random)[:count]]
            hidden = hide_nights(curves, generator=random)
            for way, belief in beliefs(curves, hidden, period_of(curves, hidden)).items():
                found = judged(belief, curves, hidden)
                gather(of_curves, {f"{kind}_{way}_{key}": n for key, n in found.items()})
        gather(row, {name: float(np.mean(numbers)) for name, numbers in of_curves.items()})
    return with_leads(row, f"{kind}_")


@experiment()
@torch.no_grad()
def no_period() -> Row:
    """On real objects without a known period the network errs more than the mean magnitude."""
    row: Row = {}
    model = trained("turns")[0]
    for name in sorted(set(macho()) - {*of_kind("binary"), *of_kind("rr")}):
        try:
            runs = seasons([macho()[name]])
        except ValueError:  # too few nights for a season
            continue
        random = seed(0)
        curves = runs[torch.randperm(len(runs), generator=random)[:60]]
        hidden = hide_nights(curves, generator=random)
        seen = (~hidden).float()
        mean = (curves.magnitude * seen).sum(1, keepdim=True) / seen.sum(1, keepdim=True)
        clocked = curves.in_turns(period_of(curves, hidden))
        for way, said in (
            ("mean", mean.expand_as(hidden)),
            ("turns", model(clocked, hidden=hidden)),
        ):
            error = reconstruction_error(said, curves.magnitude, hidden).item()
            gather(row, {f"{way}_no_period": error})
    return row


# Classification ----------------------------------------------------------------------------------

SEEDS, TREES, BATCH, HEAD_RATE = range(5), 300, 32, 1e-2
RATES = (3e-4, 1e-3)  # the validation side chooses among these


@cache
def described(side: str, labels: int, value: int) -> tuple[LightCurves, Tensor, Tensor]:
    """A season of some stars of each class in turns of the period found, features, class.

    Features are the logarithms of period, range and residual of three harmonics, two ratios of
    amplitudes and two shifts of phase (Simon and Lee, 1981), each shift as a cosine and a sine.
    """
    random = torch.Generator().manual_seed(value)
    stars = catalogue().where(side)
    of_kind = [(stars.kind == kind).nonzero()[:, 0] for kind in range(len(CLASSES))]
    rows = [few[torch.randperm(len(few), generator=random)[:labels]] for few in of_kind]
    stars = stars[torch.cat(rows)]
    curves = observe(stars, real_nights(), generator=random)
    period, features = features_of(curves)
    return curves.in_turns(period), features, stars.kind


def features_of(curves: LightCurves) -> tuple[Tensor, Tensor]:
    """The period found, and nine numbers."""
    period = find_period(*columns_of(curves), FREQUENCY, seen=curves.valid)
    fit = fit_harmonics(*columns_of(curves), 1 / period, seen=curves.valid)
    wave = fit.coefficient[:, 1:].unflatten(1, (-1, 2))
    size, angle = wave.norm(dim=-1), torch.atan2(wave[..., 0], wave[..., 1])
    shift = (torch.arange(1, 4) * angle[:, :1] - angle)[:, 1:]
    turn = fit.at(torch.linspace(0, 1, 50) * period[:, None])
    logs = [period, turn.amax(1) - turn.amin(1), fit.chi_square / curves.valid.sum(1)]
    parts = [torch.stack(logs, 1).log(), size[:, 1:] / size[:, :1], shift.cos(), shift.sin()]
    return period, torch.cat(parts, dim=1)


def balanced_accuracy(found: np.ndarray, kind: Tensor) -> float:
    """The mean over classes of the accuracy."""
    truth = kind.numpy()
    return float(np.mean([(found[truth == i] == i).mean() for i in np.unique(truth)]))


@experiment([{"labels": 5, "asked": 20}, *({"labels": n, "asked": 9999} for n in (20, 100, 500))])
def naming(*, labels: int, asked: int) -> Row:
    """Eight classes from features: a forest, a linear classifier, a forest of the period alone."""
    _, test, kind = described("test", asked, 1000)
    row: Row = {}
    for value in SEEDS if labels > 5 else SEEDS[:1]:
        _, features, known = described("train", labels, value)
        forest = {"n_estimators": TREES, "class_weight": "balanced", "random_state": value}
        linear = LogisticRegression(max_iter=2000, class_weight="balanced")
        tries = {
            "forest": (RandomForestClassifier(**forest), slice(None)),
            "linear": (make_pipeline(StandardScaler(), linear), slice(None)),
            "period": (RandomForestClassifier(**forest, min_samples_leaf=3), slice(1)),
        }
        for name, (model, some) in tries.items():
            found = model.fit(features[:, some], known).predict(test[:, some])
            gather(row, {f"{name}_{labels}": balanced_accuracy(found, kind)})
    return row


class AnyEpoch(Astromer):
    """In training the turns of each star start at a random epoch in every batch."""

    def _tokens(self, since: Tensor, value: Tensor, visible: Tensor) -> Tensor:
        since = since + torch.rand(len(since), 1) if self.training else since
        return super()._tokens(since, value, visible)


def named(model: StarClassifier, curves: LightCurves, features: Tensor) -> np.ndarray:
    """The most probable class, given the logarithm of the period as well."""
    rows = torch.arange(len(curves)).split(512)
    with torch.no_grad():
        return torch.cat([model(curves[r], features[r, :1]).argmax(1) for r in rows]).numpy()


def learned(
    start: str, labels: int, steps: int, rate: float, value: int, *, kind_of: type = AnyEpoch
) -> StarClassifier:
    """A classifier trained on balanced classes, and on every star from many epochs."""
    curves, features, kind = described("train", labels, value)
    random = seed(value)
    body = trained("turns")[0] if start == "pre-trained" else empty_astromer("turns")
    learner = kind_of(body.frequency)
    learner.load_state_dict(body.state_dict())
    model = StarClassifier(learner, len(CLASSES), extras=1).train()
    groups = [
        {"params": part.parameters(), "lr": lr}
        for part, lr in ((learner, rate), (model.head, HEAD_RATE))
    ]
    share = 1 / torch.bincount(kind)[kind]
    fit(
        model,
        lambda model, few: F.cross_entropy(model(curves[few], features[few, :1]), kind[few]),
        (share.multinomial(BATCH, replacement=True, generator=random) for _ in range(steps)),
        steps=steps,
        optimizer=lambda *_, **__: torch.optim.AdamW(groups, fused=True),
        schedule=one_cycle,
        clip=1.0,
        progress=False,
    )
    return model.eval()


def naming_cases() -> Iterator[Row]:
    """A few steps for a test; then with few labels and with many."""
    yield {"start": "scratch", "labels": 5, "steps": 3, "asked": 20}
    for labels, steps in ((20, 1000), (500, 3000)):
        for start in ("pre-trained", "scratch"):
            yield {"start": start, "labels": labels, "steps": steps, "asked": 9999}


@experiment(naming_cases(), within=0.02)
def naming_by_network(*, start: str, labels: int, steps: int, asked: int) -> Row:
    """Networks that see each star from many epochs; the rate chosen on the validation side."""
    row: Row = {"rate": [], "right": []}
    *aside, aside_kind = described("validation", asked, 1001)
    *test, kind = described("test", asked, 1000)
    for value in SEEDS[:3] if labels > 5 else SEEDS[:1]:
        tries = {rate: learned(start, labels, steps, rate, value) for rate in RATES}
        scores = {r: balanced_accuracy(named(m, *aside), aside_kind) for r, m in tries.items()}
        best = max(scores, key=scores.__getitem__)
        row["rate"].append(best)
        row["right"].append(balanced_accuracy(named(tries[best], *test), kind))
    return row


@experiment(
    [{"labels": 5, "steps": 3, "asked": 20}, {"labels": 20, "steps": 1000, "asked": 9999}],
    within=0.02,
)
def own_epoch(*, labels: int, steps: int, asked: int) -> Row:
    """The same networks with fixed epochs; the rate chosen on the test side itself."""
    row: Row = {}
    *test, kind = described("test", asked, 1000)
    for value in SEEDS[:3] if labels > 5 else SEEDS[:1]:
        for start in ("pre-trained", "scratch"):
            tries = [learned(start, labels, steps, rate, value, kind_of=Astromer) for rate in RATES]
            best = max(balanced_accuracy(named(model, *test), kind) for model in tries)
            gather(row, {f"own_epoch_{start}": best})
    return row


@experiment([{"labels": 5, "every": 20}, {"labels": 500, "every": 1}])
def called(*, labels: int, every: int) -> Row:
    """The classes that the forest, trained on eight, gives to the seasons of real objects."""
    _, features, kind = described("train", labels, 0)
    forest = RandomForestClassifier(TREES, class_weight="balanced", random_state=0)
    forest.fit(features, kind)
    row: Row = {}
    for group in ("binary", "rr"):
        curves = [seasons([macho()[name]])[::every] for name in of_kind(group)]
        found = forest.predict(torch.cat([features_of(few)[1] for few in curves]))
        share = np.bincount(found, minlength=len(CLASSES)) / len(found)
        row |= {f"{group}_called": share.max(), f"{group}_class": CLASSES[share.argmax()]}
    return row


if __name__ == "__main__":
    compute(__file__, globals(), sys.argv[1:])
