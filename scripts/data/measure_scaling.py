"""Measure how the loss of lecture 7 scales with size and data: course_lib/data/scaling.json.

    OMP_NUM_THREADS=1 python scripts/data/measure_scaling.py

Decoders of five sizes train on all towns but the validation ones, on a quarter of them and on a
sixteenth, two seeds each. A share 1/k of the towns is used for 4 sqrt(k) epochs, so fewer towns
mean fewer steps but more epochs; the learning rate is 0.03 / sqrt(d_model). Of four checkpoints,
the best on 750 validation towns is evaluated on the 1,500 held-out towns. scaling.md describes the
file.
"""

import json
import math
import time
from collections.abc import Iterator

import torch
from provenance import provenance
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode
from train_name_decoder import ALPHABET, ASIDE, BATCH, TOWNS, batches, bits_a_letter

from course_lib.models.stored import DATA
from course_lib.models.words.name_decoder import LONGEST, UNASKED
from course_lib.support.training import parameter_count, seed
from course_lib.transformer import Decoder

RESULTS = DATA / "scaling.json"
SIZES = ((8, 2, 1), (16, 2, 2), (32, 2, 2), (48, 2, 3), (64, 2, 4))  # width, heads, layers
SHARES = (1, 4, 16)
SEEDS = (0, 1)
EPOCHS, LOOKS, RATE, CLIP = 4, 4, 0.03, 1.0
HELD_ASIDE, LEARNED = TOWNS.seen[:ASIDE], TOWNS.seen[ASIDE:]


def empty(size: tuple[int, int, int]) -> Decoder:
    """An untrained decoder of this width, with these numbers of heads and layers."""
    return Decoder(len(ALPHABET), *size, tokens=LONGEST, position="rotary")


def nats(model: Decoder, rows: Tensor) -> Tensor:
    """The mean of -log P over all letters of the rows."""
    logits = model(rows[:, :-1].clamp(min=0))
    return F.cross_entropy(logits.mT, rows[:, 1:], ignore_index=UNASKED)


def counted_flops(size: tuple[int, int, int]) -> list[int]:
    """FLOPs of a step on a text of each length: matrix products, forward and backward."""
    model, counts = empty(size), [0]
    for length in range(1, LONGEST + 1):
        # The counter does not support fused CPU operators.
        with FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH):
            nats(model, torch.zeros(BATCH, length + 1, dtype=torch.long)).backward()
        counts.append(counter.get_total_flops() // BATCH)
    return counts


def measured(size: tuple[int, int, int], share: int, start: int) -> dict:
    """Train one decoder; return its bits per letter and its cost."""
    random, began = seed(start), time.process_time()
    model, texts = empty(size), LEARNED[: len(LEARNED) // share]
    epochs = round(EPOCHS * math.sqrt(share))
    groups: Iterator[Tensor] = (rows for _ in range(epochs) for rows in batches(texts, random))
    steps = epochs * math.ceil(len(texts) / BATCH)
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE / math.sqrt(size[0]), fused=True)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    counts, taken, letters, flops = counted_flops(size), 0, 0, 0
    best, best_step, weights = math.inf, 0, torch.empty(0)
    for taken, rows in enumerate(groups, start=1):
        loss = nats(model, rows)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        optimizer.step()
        schedule.step()
        letters += int((rows[:, 1:] != UNASKED).sum())
        flops += len(rows) * counts[rows.shape[1] - 1]
        if taken * LOOKS // steps > (taken - 1) * LOOKS // steps:
            aside = bits_a_letter(model, HELD_ASIDE)
            if aside < best:
                best, best_step = aside, taken
                weights = nn.utils.parameters_to_vector(model.parameters()).detach()
    if taken != steps:
        raise RuntimeError(f"{taken} steps were taken; expected {steps}; correct the schedule")
    nn.utils.vector_to_parameters(weights, model.parameters())
    parameters = parameter_count(model)
    return {
        "d_model": size[0],
        "layers": size[2],
        "parameters": parameters,
        "towns": len(texts),
        "letters": sum(len(text) + 1 for text in texts),
        "epochs": epochs,
        "steps": steps,
        "seed": start,
        "best_step": best_step,
        "bits_aside": round(best, 4),
        "bits_held_out": round(bits_a_letter(model, TOWNS.unseen), 4),
        "letters_trained": letters,
        "flops_6nd": 6 * parameters * letters,
        "flops_counted": flops,
        "processor_seconds": round(time.process_time() - began, 1),
    }


def main() -> None:
    """Make the missing runs, and write after each."""
    torch.set_num_threads(1)
    rows = json.loads(RESULTS.read_text())["rows"] if RESULTS.exists() else []
    done = {(row["d_model"], row["towns"], row["seed"]) for row in rows}
    for start in SEEDS:
        for share in reversed(SHARES):
            for size in SIZES:
                if (size[0], len(LEARNED) // share, start) in done:
                    continue
                rows.append(measured(size, share, start))
                record = provenance() | {
                    "epochs": f"{EPOCHS} sqrt(k) for the share 1/k of the towns",
                    "optimizer": {"name": "AdamW", "rate": f"{RATE} / sqrt(d_model)", "clip": CLIP},
                    "batch": BATCH,
                    "processor_seconds": round(sum(row["processor_seconds"] for row in rows)),
                    "rows": rows,
                }
                RESULTS.write_text(json.dumps(record, indent=1) + "\n")
                print(json.dumps(rows[-1]), flush=True)


if __name__ == "__main__":
    main()
