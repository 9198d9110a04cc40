"""Pre-train the models of lecture 14: course_lib/data/astromer_days.npz and astromer_turns.npz.

    OMP_NUM_THREADS=1 python scripts/data/train_astromer.py days
    OMP_NUM_THREADS=1 python scripts/data/train_astromer.py turns

Each on one core. Both models see the same seasons of the same stars, with 6 to 34 nights visible.
One measures time in days, the other in turns of a period. If half of the nights or more are
visible, a periodogram finds the period, right or wrong, from visible nights only. Fewer nights do
not suffice for that, and the model is given the true period. Then the second readout learns the
error of the first one, on new seasons of the same stars, while all else is frozen. Nothing was
tuned; the test side is used once, at the end. astromer.md describes the files.
"""

import argparse
import json
import time
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import torch
from provenance import provenance
from torch import Tensor, nn

from course_lib.light_curves import (
    CLOCKS,
    Astromer,
    LightCurves,
    empty_astromer,
    find_period,
    frequency_grid,
    negative_log_likelihood,
    reconstruction_error,
)
from course_lib.models.stars import (
    ASTROMERS,
    DAYS,
    FASTEST,
    NIGHTS,
    SIDES,
    load_macho,
    load_stars,
    observe,
    seasons,
)
from course_lib.models.stored import DATA
from course_lib.support.training import fit, parameter_count, seed, warmed_up

SEED, SEASONS, STEPS, BATCH = 0, 4, 7500, 64
VISIBLE = (6, 34)  # nights of a season of forty
ENOUGH = NIGHTS // 2  # visible nights in which a period can be found
IN_LECTURE = (28, 28)  # visible nights in the lecture, for the errors in the file
RATE, DECAY, CLIP = 2e-3, 0.01, 1.0
REPORT = 500
DOUBT_SEED, DOUBT_ROUNDS = 2, 200


def watched(
    side: str,
    clock: str,
    *,
    times: int = 1,
    value: int = SEED,
    visible: tuple[int, int] = VISIBLE,
) -> tuple[LightCurves, Tensor]:
    """Every star of a side for some seasons, and the hidden nights; ``clock`` is the unit of time.

    The number of visible nights of each season is drawn between the two numbers in ``visible``.
    """
    random = torch.Generator().manual_seed(value)
    stars = load_stars().where(side)
    stars = stars[torch.arange(len(stars)).repeat(times)]
    curves = observe(stars, seasons(list(load_macho().values())), generator=random)
    least, most = visible
    kept = torch.randint(least, most + 1, (len(stars), 1), generator=random)
    order = torch.rand(curves.valid.shape, generator=random).argsort(dim=1).argsort(dim=1)
    hidden = order >= kept
    if clock == "turns":
        period, enough = stars.period[:, 0].float(), kept[:, 0] >= ENOUGH
        period[enough] = found_period(curves[enough], ~hidden[enough])
        curves = curves.in_turns(period)
    return curves, hidden


def found_period(curves: LightCurves, seen: Tensor) -> Tensor:
    """The period that the periodogram finds from the visible nights."""
    frequency = frequency_grid(DAYS, highest=FASTEST)
    return find_period(curves.time, curves.magnitude, curves.error, frequency, seen=seen)


def error_at_hidden(model: Astromer, batch: tuple[LightCurves, Tensor]) -> Tensor:
    """The loss of some seasons at their hidden nights."""
    curves, hidden = batch
    return reconstruction_error(model(curves, hidden=hidden), curves.magnitude, hidden)


def error_of(model: Astromer, curves: LightCurves, hidden: Tensor) -> float:
    """The reconstruction error of a side."""
    model.eval()
    with torch.no_grad():
        parts = [
            model(curves[rows], hidden=hidden[rows])
            for rows in torch.arange(len(curves)).split(512)
        ]
    model.train()
    return reconstruction_error(torch.cat(parts), curves.magnitude, hidden).item()


def train(clock: str, steps: int, largest: float) -> tuple[Astromer, dict]:
    """The model, and the record of its training."""
    began, processor = time.monotonic(), time.process_time()
    random = seed(SEED)
    model = empty_astromer(clock)
    curves, hidden = watched("train", clock, times=SEASONS)
    aside = watched("validation", clock)
    print(f"{len(curves)} seasons after {time.process_time() - processor:.0f} s", flush=True)
    drawn = (torch.randint(len(curves), (BATCH,), generator=random) for _ in range(steps))
    batches = ((curves[rows], hidden[rows]) for rows in drawn)
    recent, curve = [], []

    def report(step: int, loss: float) -> None:
        recent.append(loss)
        if not (step + 1) % REPORT:
            found = {
                "step": step + 1,
                "train": round(float(np.mean(recent)), 5),
                "validation": round(error_of(model, *aside), 5),
            }
            curve.append(found)
            recent.clear()
            print(f"{time.process_time() - processor:.0f} s", json.dumps(found), flush=True)

    fit(
        model,
        error_at_hidden,
        batches,
        steps=steps,
        learning_rate=largest,
        optimizer=partial(torch.optim.AdamW, weight_decay=DECAY, fused=True),
        schedule=warmed_up,
        clip=CLIP,
        progress=False,
        callback=report,
    )
    told = {
        "steps": steps,
        "seed": SEED,
        "seconds": round(time.monotonic() - began),
        "processor_seconds": round(time.process_time() - processor),
        "curve": curve,
    }
    return model, told


@torch.no_grad()
def asked(model: Astromer, curves: LightCurves, hidden: Tensor) -> dict[str, Tensor]:
    """The hidden nights of all stars in one row: tokens, predictions, magnitudes and errors."""
    rows = torch.arange(len(curves)).split(512)
    became = [model.encode(curves[few], hidden=hidden[few])[hidden[few]] for few in rows]
    said = [model(curves[few], hidden=hidden[few])[hidden[few]] for few in rows]
    return {
        "tokens": torch.cat(became)[None],
        "said": torch.cat(said)[None],
        "magnitude": curves.magnitude[hidden][None],
        "error": curves.error[hidden][None],
    }


def loss_of(spread: Tensor, nights: dict[str, Tensor]) -> Tensor:
    """The negative log likelihood of the nights, with their errors added to the deviation."""
    deviation = torch.hypot(spread, nights["error"])
    everywhere = torch.ones_like(deviation, dtype=torch.bool)
    return negative_log_likelihood(nights["said"], deviation, nights["magnitude"], everywhere)


def fit_exactly(parameters: list[Tensor], loss: Callable[[], Tensor]) -> None:
    """Minimise a deterministic loss."""
    options = {"max_iter": DOUBT_ROUNDS, "line_search_fn": "strong_wolfe"}
    descent = torch.optim.LBFGS(parameters, **options)

    def once() -> Tensor:
        descent.zero_grad()
        value = loss()
        value.backward()
        return value

    descent.step(once)


def learn_doubt(model: Astromer, clock: str) -> dict:
    """Fit the second readout and, for comparison, one deviation for all nights."""
    nights = asked(model, *watched("train", clock, value=DOUBT_SEED))
    nights = {name: part.double() for name, part in nights.items()}
    model.doubt.double()  # a fit to convergence needs the precision
    fit_exactly(
        list(model.doubt.parameters()), lambda: loss_of(model.spread_of(nights["tokens"]), nights)
    )
    model.doubt.half().float()  # stored weights are rounded
    constant = torch.zeros((), dtype=torch.float64, requires_grad=True)
    everywhere = torch.ones_like(nights["said"])
    fit_exactly([constant], lambda: loss_of(constant.exp() * everywhere, nights))
    told = {"seed": DOUBT_SEED, "nights": nights["said"].numel(), "rounds": DOUBT_ROUNDS}
    return told | {"constant": constant.exp().item()}


@torch.no_grad()
def losses(
    model: Astromer, clock: str, constant: float, *, sides: Sequence[str] = SIDES
) -> dict[str, dict[str, float]]:
    """The negative log likelihood of each side, with the readout and with the one deviation."""
    found: dict[str, dict[str, float]] = {"loss": {}, "constant_loss": {}}
    for side in sides:
        nights = asked(model, *watched(side, clock, value=1, visible=IN_LECTURE))
        spread = model.spread_of(nights["tokens"])
        found["loss"][side] = loss_of(spread, nights).item()
        found["constant_loss"][side] = loss_of(torch.full_like(spread, constant), nights).item()
    return found


def trained(clock: str, steps: int, largest: float) -> tuple[Astromer, dict]:
    """Round the weights of a model; return it and the entries of its file, except its doubt."""
    model, told = train(clock, steps, largest)
    # Stored weights are rounded, so the errors are those of the rounded model.
    weights = nn.utils.parameters_to_vector(model.parameters()).detach().half()
    nn.utils.vector_to_parameters(weights.float(), model.parameters())
    about = provenance() | told
    about |= {
        "clock": clock,
        "seasons": SEASONS,
        "batch": BATCH,
        "optimizer": {"name": "AdamW", "rate": largest, "decay": DECAY, "clip": CLIP},
        "visible": VISIBLE,
        "error": {
            side: error_of(model, *watched(side, clock, value=1, visible=IN_LECTURE))
            for side in SIDES
        },
    }
    return model.eval(), about


def main() -> None:
    """Train, write the weights, and print the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("clock", choices=CLOCKS)
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--rate", type=float, default=RATE)
    parser.add_argument("--only-try", action="store_true", help="write nothing")
    given = parser.parse_args()
    torch.set_num_threads(1)
    model, about = trained(given.clock, given.steps, given.rate)
    told = learn_doubt(model, given.clock)
    about["parameters"] = parameter_count(model)
    about["doubt"] = provenance() | told | losses(model, given.clock, told["constant"])
    print(json.dumps(about, indent=2))
    if given.only_try:
        return
    weights = nn.utils.parameters_to_vector(model.parameters()).detach().half().numpy()
    about_text = np.array(json.dumps(about))
    np.savez_compressed(DATA / ASTROMERS[given.clock], weights=weights, about=about_text)


if __name__ == "__main__":
    main()
