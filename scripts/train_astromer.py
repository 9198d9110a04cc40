"""Pre-train the models of lecture 14: course_lib/data/astromer_days.npz and astromer_turns.npz.

    OMP_NUM_THREADS=1 python scripts/train_astromer.py days
    OMP_NUM_THREADS=1 python scripts/train_astromer.py turns

Each on one core. Both models see the same seasons of the same stars, with the same nights hidden.
To one, time runs in days. To the other it runs in turns of the period that a periodogram finds in
the visible nights, right or wrong; what is hidden is hidden from the periodogram too. Nothing was
tuned; the test side is looked at once, when all is done. What is in the files is told beside
them, in astromer.md.
"""

import argparse
import json
import math
import time

import numpy as np
import torch
from provenance import provenance
from torch import Tensor, nn

from course_lib.astromer import (
    CLOCKS,
    Astromer,
    empty_astromer,
    hide_nights,
    reconstruction_error,
    weights_path,
)
from course_lib.light_curves import LightCurves
from course_lib.periodogram import find_period, frequency_grid
from course_lib.training import parameter_count, seed
from course_lib.variable_stars import DAYS, FASTEST, SIDES, load_macho, load_stars, observe, seasons

SEED, SEASONS, STEPS, BATCH = 0, 2, 2500, 64
RATE, DECAY, WARM_UP, CLIP = 2e-3, 0.01, 100, 1.0
REPORT = 250


def watched(
    side: str, clock: str, *, times: int = 1, value: int = SEED
) -> tuple[LightCurves, Tensor]:
    """Every star of a side for some seasons, and what is hidden; time runs as the clock says."""
    random = torch.Generator().manual_seed(value)
    stars = load_stars().where(side)
    nights = seasons(list(load_macho().values()))
    chosen = torch.arange(len(stars)).repeat(times)
    curves = observe(stars[chosen], nights, generator=random)
    hidden = hide_nights(curves, generator=random)
    if clock == "turns":
        curves = curves.in_turns(found_period(curves, ~hidden))
    return curves, hidden


def found_period(curves: LightCurves, seen: Tensor) -> Tensor:
    """What the periodogram makes of the nights that may be seen."""
    frequency = frequency_grid(DAYS, highest=FASTEST)
    return find_period(curves.time, curves.magnitude, curves.error, frequency, seen=seen)


def rate(step: int, steps: int) -> float:
    """The learning rate of a step, as a share of the largest: up in a line, down in a cosine."""
    return min(1, (step + 1) / WARM_UP) * (1 + math.cos(math.pi * step / steps)) / 2


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
    """The model, and what became of it on the way."""
    began, processor = time.monotonic(), time.process_time()
    random = seed(SEED)
    model = empty_astromer(clock)
    curves, hidden = watched("train", clock, times=SEASONS)
    aside = watched("validation", clock)
    print(f"{len(curves)} seasons after {time.process_time() - processor:.0f} s", flush=True)
    descent = torch.optim.AdamW(model.parameters(), lr=largest, weight_decay=DECAY, fused=True)
    plan = torch.optim.lr_scheduler.LambdaLR(descent, lambda step: rate(step, steps))
    recent, curve = [], []
    for step in range(steps):
        rows = torch.randint(len(curves), (BATCH,), generator=random)
        few, hid = curves[rows], hidden[rows]
        loss = reconstruction_error(model(few, hidden=hid), few.magnitude, hid)
        descent.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        descent.step()
        plan.step()
        recent.append(loss.item())
        if not (step + 1) % REPORT:
            found = {
                "step": step + 1,
                "train": round(float(np.mean(recent)), 5),
                "validation": round(error_of(model, *aside), 5),
            }
            curve.append(found)
            recent = []
            print(f"{time.process_time() - processor:.0f} s", json.dumps(found), flush=True)
    told = {
        "steps": steps,
        "seed": SEED,
        "seconds": round(time.monotonic() - began),
        "processor_seconds": round(time.process_time() - processor),
        "curve": curve,
    }
    return model, told


def main() -> None:
    """Train, write the weights, and say what came out."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("clock", choices=CLOCKS)
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--rate", type=float, default=RATE)
    parser.add_argument("--only-try", action="store_true", help="write nothing")
    given = parser.parse_args()
    torch.set_num_threads(1)
    model, told = train(given.clock, given.steps, given.rate)
    if given.only_try:
        return
    # What travels is rounded, so the errors are those of the rounded model.
    weights = nn.utils.parameters_to_vector(model.parameters()).detach().half()
    nn.utils.vector_to_parameters(weights.float(), model.parameters())
    about = provenance() | told
    about |= {
        "clock": given.clock,
        "seasons": SEASONS,
        "batch": BATCH,
        "optimizer": {"name": "AdamW", "rate": given.rate, "decay": DECAY, "clip": CLIP},
        "parameters": parameter_count(model),
        "error": {side: error_of(model, *watched(side, given.clock, value=1)) for side in SIDES},
    }
    about_text = np.array(json.dumps(about))
    np.savez_compressed(weights_path(given.clock), weights=weights.numpy(), about=about_text)
    print(json.dumps(about, indent=2))


if __name__ == "__main__":
    main()
