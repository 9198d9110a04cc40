"""Fine-tune the encoder of lecture 6 on few labels and write course_lib/data/syllables.json.

    OMP_NUM_THREADS=1 python scripts/fine_tune_speller.py

The label of a word is the number of its syllables. The encoder of course_lib.spelling, trained or
fresh, gets one linear map on top whose answers are added up over the letters; all is trained with
Adam on the mean squared error, 700 batches of 16, at a rate that falls along a cosine. Five draws
of labelled words for each number of labels, side by side. Of three rates the best for each start is
taken: the one with the most right answers with 150 labels of two other draws, on the second half
of the held-out words. The file holds, for each draw, the share of the first half that is right.
"""

import datetime as dt
import json
import math
import platform
import sys
import time
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from course_lib.spelling import (
    HELD_OUT,
    LONGEST,
    dictionary_words,
    ids_of_words,
    large_speller,
    syllables,
    trained_speller,
)
from course_lib.training import fit_side_by_side

DATA = Path(__file__).parents[1] / "course_lib" / "data" / "syllables.json"
LABELS, DRAWS, STEPS, BATCH, RATES = (30, 150, 1000), 5, 700, 16, (3e-4, 1e-3, 3e-3)
TRIAL = 150
STARTS = {"pre-trained": trained_speller, "from scratch": large_speller}


class SyllableCounter(nn.Module):
    """A number for each letter, added up over the word.

    Padding is hidden by a bias and ids are embedded unchecked, since torch.func.vmap lets no check
    look at the data.
    """

    def __init__(self, start: str) -> None:
        super().__init__()
        model = STARTS[start]()
        self.letters = model.embedding.token
        self.encoder = model.encoder
        self.readout = nn.Linear(self.letters.embedding_dim, 1)
        nn.init.zeros_(self.readout.weight)
        nn.init.constant_(self.readout.bias, 1 / 3)  # three letters a syllable, to begin with

    def forward(self, ids: Tensor, real: Tensor) -> Tensor:
        """How many syllables each word has."""
        x = math.sqrt(self.letters.embedding_dim) * self.letters(ids)
        bias = torch.where(real, 0.0, -1e9)[..., None, None, :]
        output = self.encoder(x, bias=bias, position=torch.arange(LONGEST))
        return (self.readout(output)[..., 0] * real).sum(-1)


WORDS = dictionary_words()
IDS, REAL = ids_of_words(WORDS)
SYLLABLES = torch.tensor([float(syllables(word)) for word in WORDS])
HALVES = {"test": slice(0, HELD_OUT // 2), "trial": slice(HELD_OUT // 2, HELD_OUT)}


def shares(start: str, labels: int, rate: float, *, draws: range, half: str) -> list[float]:
    """For each draw of labels, the share of the words of this half that are counted right."""
    few, picks = [], []
    for value in draws:
        generator = torch.Generator().manual_seed(value)
        order = torch.randperm(len(WORDS) - HELD_OUT, generator=generator)
        few.append(HELD_OUT + order[:labels])
        picks.append(torch.randint(labels, (STEPS, BATCH), generator=generator))
    torch.manual_seed(0)
    counters = [SyllableCounter(start) for _ in draws]
    batches = torch.stack([own[pick] for own, pick in zip(few, picks, strict=True)], dim=1)
    fit_side_by_side(
        counters,
        lambda counter, batch: F.mse_loss(counter(batch[0], batch[1]), batch[2]),
        ((IDS[batch], REAL[batch], SYLLABLES[batch]) for batch in batches),
        steps=STEPS,
        learning_rate=rate,
    )
    part = HALVES[half]
    with torch.no_grad():
        counts = [counter(IDS[part], REAL[part]).round() for counter in counters]
    return [(count == SYLLABLES[part]).double().mean().item() for count in counts]


def main() -> None:
    """Choose the rates, train, and write what came out."""
    torch.set_num_threads(1)
    began, rows, rates = time.process_time(), [], {}
    for start in STARTS:
        trials = {
            rate: sum(shares(start, TRIAL, rate, draws=range(DRAWS, DRAWS + 2), half="trial"))
            for rate in RATES
        }
        rates[start] = max(trials, key=trials.get)
        print(start, trials, round(time.process_time() - began), "s", flush=True)
        for labels in LABELS:
            right = shares(start, labels, rates[start], draws=range(DRAWS), half="test")
            rows.append({"start": start, "labels": labels, "right": right})
            print(rows[-1], round(time.process_time() - began), "s", flush=True)
    measured = {
        "device": platform.machine(),
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
        "versions": {"python": platform.python_version(), "torch": torch.__version__},
        "command": " ".join(
            ["OMP_NUM_THREADS=1 python scripts/fine_tune_speller.py", *sys.argv[1:]]
        ),
        "seconds": round(time.process_time() - began),
        "steps": STEPS,
        "rates": rates,
        "rows": rows,
    }
    DATA.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
