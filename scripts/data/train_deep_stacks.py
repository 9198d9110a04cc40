"""Train the deep stacks of lecture 6 and write course_lib/data/deep_stacks.json.

    OMP_NUM_THREADS=1 python scripts/data/train_deep_stacks.py

Stacks of 60 layers of four kinds of course_lib.models.deep_stacks, and pre-norm stacks of 2,
predict the letter in the middle from two letters on each side: 1,800 batches of 128, Adam, a rate
that falls from 2e-3 along a cosine, for post-norm also after a warm-up of 300 batches. Three seeds
each, trained together. The file holds, for each seed, the loss on the held-out words, in nats.
"""

import json
import time

import torch
from provenance import provenance
from torch import Tensor
from torch.nn import functional as F

from course_lib.models.deep_stacks import middle_letter_model
from course_lib.models.stored import DATA
from course_lib.models.words.spelling import HELD_OUT, dictionary_words, ids_of_words
from course_lib.support.training import fit_side_by_side, seed

RESULTS = DATA / "deep_stacks.json"
WARM_UP = 300
STACKS = (
    ("pre-norm", 2, 0),
    ("pre-norm", 60, 0),
    ("way around only", 60, 0),
    ("post-norm", 60, WARM_UP),
    ("post-norm", 60, 0),
    ("bare, tuned", 60, 0),
)
WIDTH, STEPS, BATCH, SEEDS, RATE = 16, 1800, 128, 3, 2e-3


def middles(words: list[str]) -> tuple[Tensor, Tensor]:
    """Of words of five letters or more: one-hot letters 1, 2, 4 and 5, and the third."""
    ids, valid = ids_of_words(words)
    five = ids[valid[:, 4]][:, :5]
    return F.one_hot(five[:, [0, 1, 3, 4]], 26).flatten(-2).float(), five[:, 2]


def main() -> None:
    """Train every kind, or those that are named, and write the losses."""
    torch.set_num_threads(1)
    began = time.process_time()
    words = dictionary_words()
    around, middle = middles(words[HELD_OUT:])
    x, y = middles(words[:HELD_OUT])
    rows = []
    for kind, layers, warm_up in STACKS:
        generator = seed(0)
        models = [middle_letter_model(kind, layers, WIDTH) for _ in range(SEEDS)]
        picks = torch.randint(len(middle), (STEPS, SEEDS, BATCH), generator=generator)
        fit_side_by_side(
            models,
            lambda model, batch: F.cross_entropy(model(batch[0]), batch[1]),
            ((around[pick], middle[pick]) for pick in picks),
            steps=STEPS,
            learning_rate=RATE,
            warm_up=warm_up,
        )
        with torch.no_grad():
            loss = [F.cross_entropy(model(x), y).item() for model in models]
        rows.append({"kind": kind, "layers": layers, "warm_up": warm_up, "loss": loss})
        print(rows[-1], round(time.process_time() - began), "s", flush=True)
    measured = provenance() | {
        "steps": STEPS,
        "rate": RATE,
        "width": WIDTH,
        "rows": rows,
    }
    RESULTS.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
