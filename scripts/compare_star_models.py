"""Measure what lecture 14 compares, with five seeds: three files course_lib/data/star_*.json.

    OMP_NUM_THREADS=1 python scripts/compare_star_models.py filling
    OMP_NUM_THREADS=1 python scripts/compare_star_models.py naming turns
    OMP_NUM_THREADS=1 python scripts/compare_star_models.py naming days

*Filling*: nights are hidden and filled in, of stars of the test side and of the real curves of
MACHO, which nothing here has learned from. Everybody sees the same nights. *Naming*: the class of a
star, from few labels. Networks start from the bundled weights or from random ones, and learn by one
recipe whose rate is chosen on the validation side with 100 labels of each class, as the numbers of
harmonics and peaks are. A class with fewer stars than labels asked for gives all that it has. What
is in the files is told beside them, in star_models.md.
"""

import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator
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

from course_lib.astromer import (
    CLOCKS,
    DATA,
    StarClassifier,
    empty_astromer,
    hide_nights,
    load_astromer,
)
from course_lib.light_curves import LightCurves
from course_lib.periodogram import HarmonicFit, find_period, fit_harmonics, frequency_grid
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

SEEDS = range(5)
FREQUENCY = frequency_grid(DAYS, highest=FASTEST)
STARS = load_stars()
MACHO = load_macho()
NIGHTS = seasons(list(MACHO.values()))
TRAINED = {clock: load_astromer(clock)[0] for clock in CLOCKS}

Filled = Callable[[LightCurves, Tensor], Tensor]
"""From curves and what is hidden of them to a magnitude for every night."""


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
    """The weighted mean of visible nights, for all."""
    weight = (curves.real & ~hidden) / curves.error.square()
    mean = (weight * curves.magnitude).sum(1, keepdim=True) / weight.sum(1, keepdim=True)
    return mean.expand_as(hidden)


def as_line(curves: LightCurves, hidden: Tensor) -> Tensor:
    """Straight lines from visible night to visible night, level before the first and after."""
    rows = []
    for time_, magnitude, hid in zip(curves.time, curves.magnitude, hidden, strict=True):
        rows.append(np.interp(time_.numpy(), time_[~hid].numpy(), magnitude[~hid].numpy()))
    return torch.tensor(np.array(rows), dtype=curves.time.dtype)


def by_process(kernel_of: Callable[[float], Kernel]) -> Filled:
    """A Gaussian process for each star, its kernel fitted to the visible nights."""

    def filled(curves: LightCurves, hidden: Tensor) -> Tensor:
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
            rows.append(mean + process.predict(dates))
        return torch.tensor(np.array(rows), dtype=curves.time.dtype)

    return filled


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


# Naming ---------------------------------------------------------------------------------------

STEPS = {20: 150, 100: 250, 500: 400}  # for so many labels of each class
BATCH, TREES = 32, 300
RATES, HEAD_RATE = (3e-4, 1e-3), 1e-2
TUNED_WITH, TUNING_SEED = 100, 500


def described(stars: Stars, value: int) -> dict[str, Tensor | LightCurves]:
    """A season of each star: its nights, its period as found, its features, its class."""
    curves = observe(stars, NIGHTS, generator=seed(value))
    fit = searched(curves, torch.zeros_like(curves.real))
    period = 1 / fit.frequency
    wave = fit.coefficient[:, 1:].unflatten(1, (-1, 2))
    size = wave.norm(dim=-1)
    angle = torch.atan2(wave[..., 0], wave[..., 1])  # cos(x - angle), so shifts are negative
    order = torch.arange(1, wave.shape[1] + 1)
    shift = (order * angle[:, :1] - angle)[:, 1:]
    turn = torch.linspace(0, 1, 50).expand(len(stars), -1) * period[:, None]
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
        "kind": stars.kind,
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


def learned(
    clock: str, start: str, stars: dict, *, rate: float, steps: int, value: int
) -> StarClassifier:
    """A classifier that has learned from these stars, every class as often as the others.

    Its head, which is new in any case, learns faster than its body.
    """
    random = seed(value)
    body = load_astromer(clock)[0] if start == "pre-trained" else empty_astromer(clock)
    model = StarClassifier(body, len(CLASSES), extras=int(clock == "turns")).train()
    rates = {rate: body.parameters(), HEAD_RATE: model.head.parameters()}
    descent = torch.optim.AdamW([{"params": part} for part in rates.values()], fused=True)
    plan = torch.optim.lr_scheduler.OneCycleLR(descent, list(rates), total_steps=steps + 1)
    share = 1 / torch.bincount(stars["kind"])[stars["kind"]]
    for _ in range(steps):
        rows = torch.multinomial(share, BATCH, replacement=True, generator=random)
        logits = model(stars[clock][rows], _extra(clock, stars, rows))
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
    """What a forest makes of features, and a linear classifier of the frozen embedding."""
    kind = few["kind"].numpy()
    forest = RandomForestClassifier(TREES, class_weight="balanced", random_state=value)
    forest.fit(few["features"].numpy(), kind)
    yield "features, forest", forest.predict(test["features"].numpy())
    linear = LogisticRegression(max_iter=2000, class_weight="balanced")
    line = make_pipeline(StandardScaler(), linear).fit(embedded("turns", few), kind)
    yield "astromer turns, frozen", line.predict(embedded("turns", test))


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


# Both -----------------------------------------------------------------------------------------


def main() -> None:
    """Measure one part and write what was measured, each time something is."""
    part, *clock = sys.argv[1:]
    result = DATA / f"{'_'.join(['star', part, *clock])}.json"
    torch.set_num_threads(1)
    began = time.process_time()
    measured = provenance(sklearn) | {"rows": []}
    for found in {"filling": filling, "naming": naming}[part](*clock):
        if "row" in found:
            measured["rows"].append(found["row"])
        else:
            measured |= found
        measured["processor_seconds"] = round(time.process_time() - began)
        result.write_text(json.dumps(measured, indent=1) + "\n")
        print(measured["processor_seconds"], "s:", json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
