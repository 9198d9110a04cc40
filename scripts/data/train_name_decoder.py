"""Train the decoder of lecture 7 offline and write course_lib/data/name_decoder.npz.

    OMP_NUM_THREADS=1 python scripts/data/train_name_decoder.py

Of the training towns, 750 are for validation of dropout and the number of epochs. With that choice,
a decoder then trains on all of them, as the tables of the lecture do. The 1,500 held-out towns are
used only at the end. Runs in name_decoder.json are not repeated; to start over, remove it.
name_decoder.md describes the files.
"""

import json
import time
from collections.abc import Iterator

import numpy as np
import torch
from provenance import provenance
from torch import Tensor, nn
from torch.nn import functional as F

from course_lib.models.stored import DATA
from course_lib.models.words.name_decoder import (
    UNASKED,
    empty_name_decoder,
    load_towns,
    town_bits,
    town_rows,
)
from course_lib.support.training import parameter_count, seed

WEIGHTS, RECORD = DATA / "name_decoder.npz", DATA / "name_decoder.json"
ASIDE, BATCH = 750, 64
TRIALS = ((0.1, 20), (0.2, 40))  # dropout and epochs
RATE, DECAY, WARM, CLIP = 3e-3, 0.1, 0.05, 1.0
LOOK = 5
TOWNS = load_towns()
ALPHABET = TOWNS.alphabet


def batches(texts: list[str], random: torch.Generator) -> Iterator[Tensor]:
    """The batches of one epoch, of texts of about one length, so that little is padded."""
    order = torch.randperm(len(texts), generator=random).tolist()
    drawn = [texts[i] for i in order]
    groups = []
    for first in range(0, len(drawn), 8 * BATCH):
        near = sorted(drawn[first : first + 8 * BATCH], key=len)
        groups += [near[i : i + BATCH] for i in range(0, len(near), BATCH)]
    for i in torch.randperm(len(groups), generator=random).tolist():
        yield town_rows(groups[i], ALPHABET)


def bits_a_letter(model: nn.Module, texts: list[str]) -> float:
    """The mean over all letters of all texts, with their end marks."""
    return town_bits(model, town_rows(texts, ALPHABET)).nanmean().item()


def train(dropout: float, epochs: int, texts: list[str], watched: list[str]) -> tuple[dict, Tensor]:
    """Train one decoder; return bits per letter of the ``watched`` texts, and the last weights."""
    random, began = seed(0), time.process_time()
    model = empty_name_decoder(len(ALPHABET), dropout=dropout)
    steps = epochs * sum(1 for _ in batches(texts, torch.Generator().manual_seed(0)))
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=DECAY, fused=True)
    warm = max(1, round(WARM * steps))
    schedule = torch.optim.lr_scheduler.SequentialLR(
        optimizer,
        [
            torch.optim.lr_scheduler.LinearLR(optimizer, 1 / warm, total_iters=warm),
            torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps - warm),
        ],
        [warm],
    )
    curve: list[tuple[int, float]] = []
    for epoch in range(1, epochs + 1):
        model.train()
        for rows in batches(texts, random):
            logits = model(rows[:, :-1].clamp(min=0))
            loss = F.cross_entropy(logits.mT, rows[:, 1:], ignore_index=UNASKED)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), CLIP)
            optimizer.step()
            schedule.step()
        if epoch % LOOK == 0 or epoch == epochs:
            curve.append((epoch, round(bits_a_letter(model, watched), 4)))
            print(f"dropout {dropout}, epoch {epoch}: {curve[-1][1]} bits", flush=True)
    seconds = round(time.process_time() - began)
    run = {"dropout": dropout, "epochs": epochs, "processor_seconds": seconds, "curve": curve}
    return run, nn.utils.parameters_to_vector(model.parameters()).detach().half()


def measured(weights: Tensor, sides: dict[str, list[str]]) -> dict:
    """Bits per letter of a decoder as stored, on each side, and its number of parameters."""
    model = empty_name_decoder(len(ALPHABET))
    nn.utils.vector_to_parameters(weights.float(), model.parameters())
    bits = {side: round(bits_a_letter(model, texts), 4) for side, texts in sides.items()}
    return {"parameters": parameter_count(model), "bits": bits}


def main() -> None:
    """Make the missing trials, choose, train on all, measure as stored, write."""
    torch.set_num_threads(1)
    aside, texts = TOWNS.seen[:ASIDE], TOWNS.seen[ASIDE:]
    trials = json.loads(RECORD.read_text())["trials"] if RECORD.exists() else []
    done = {(trial["dropout"], trial["epochs"]) for trial in trials}
    for dropout, epochs in TRIALS:
        if (dropout, epochs) not in done:
            trials.append(train(dropout, epochs, texts, aside)[0])
            RECORD.write_text(json.dumps({"trials": trials}, indent=1) + "\n")
    best = min(trials, key=lambda trial: trial["curve"][-1][1])
    chosen = {"dropout": best["dropout"], "epochs": best["epochs"]}
    final, weights = train(*chosen.values(), TOWNS.seen, aside)
    np.savez_compressed(WEIGHTS, weights=weights.numpy(), alphabet=np.array(ALPHABET))
    seconds = sum(run["processor_seconds"] for run in (*trials, final))
    record = provenance() | {
        "processor_seconds": seconds,
        "seed": 0,
        "optimizer": {"name": "AdamW", "rate": RATE, "decay": DECAY, "warm": WARM, "clip": CLIP},
        "batch": BATCH,
        "chosen": chosen,
        **measured(weights, {"held out": TOWNS.unseen, "learned from": TOWNS.seen}),
        "trials": trials,
    }
    RECORD.write_text(json.dumps(record, indent=1) + "\n")
    print(json.dumps(record["bits"]), flush=True)


if __name__ == "__main__":
    main()
