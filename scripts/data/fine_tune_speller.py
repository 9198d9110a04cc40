"""Fine-tune the encoder of lecture 6 on few labels and write course_lib/data/syllables.json.

    OMP_NUM_THREADS=1 python scripts/data/fine_tune_speller.py

The label of a word is the number of its syllables. The encoder of course_lib.models.words.spelling
gets a linear map on top, summed over the letters, and all is trained further with Adam on the mean
squared error, 700 batches of 16 words of one length, at a rate that falls from 1e-3 along a cosine.
Three draws of labelled words for each number of labels are trained together. The same network is
also trained from scratch, in as many steps. The file holds the accuracy of each draw on 1,000
held-out words.
"""

import json
import math
import time
from collections.abc import Iterator
from itertools import product

import torch
from provenance import provenance
from torch import Tensor, nn
from torch.nn import functional as F

from course_lib.models.stored import DATA
from course_lib.models.words.spelling import (
    HELD_OUT,
    dictionary_words,
    ids_of_words,
    large_speller,
    load_speller,
    syllables,
)
from course_lib.support.training import fit_side_by_side
from course_lib.transformer import MaskedLanguageModel

RESULTS = DATA / "syllables.json"
STARTS = {"pre-trained": load_speller, "scratch": large_speller}
LABELS, DRAWS, STEPS, BATCH, RATE, TEST = (150, 1000), 3, 700, 16, 1e-3, 1000


class SyllableCounter(nn.Module):
    """A number for each letter, summed over the word.

    Ids are embedded unchecked, since torch.func.vmap allows no check of the data.
    """

    def __init__(self, model: MaskedLanguageModel) -> None:
        super().__init__()
        self.letters = model.embedding.token
        self.encoder = model.encoder
        self.readout = nn.Linear(self.letters.embedding_dim, 1)
        nn.init.zeros_(self.readout.weight)
        nn.init.constant_(self.readout.bias, 1 / 3)  # starts at three letters a syllable

    def forward(self, ids: Tensor) -> Tensor:
        """The number of syllables of each of these words of one length."""
        x = math.sqrt(self.letters.embedding_dim) * self.letters(ids)
        output = self.encoder(x, position=torch.arange(ids.shape[-1]))
        return self.readout(output)[..., 0].sum(-1)


WORDS = dictionary_words()
IDS, REAL = ids_of_words(WORDS)
LENGTHS = REAL.sum(-1)
SYLLABLES = torch.tensor([float(syllables(word)) for word in WORDS])


def batches_of(few: list[Tensor]) -> Iterator[tuple[Tensor, Tensor]]:
    """For each draw labelled words of one length, drawn by its frequency."""
    generator = torch.Generator().manual_seed(0)
    groups = [{n: own[LENGTHS[own] == n] for n in LENGTHS[own].unique().tolist()} for own in few]
    shared = sorted(set.intersection(*map(set, groups)))
    chances = torch.tensor([float(sum(len(group[n]) for group in groups)) for n in shared])
    for _ in range(STEPS):
        n = shared[torch.multinomial(chances, 1, generator=generator)]
        picks = torch.stack(
            [
                group[n][torch.randint(len(group[n]), (BATCH,), generator=generator)]
                for group in groups
            ]
        )
        yield IDS[picks, :n], SYLLABLES[picks]


def shares(start: str, labels: int) -> list[float]:
    """For each draw of labels, the accuracy on the held-out words."""
    few = []
    for value in range(DRAWS):
        generator = torch.Generator().manual_seed(value)
        order = torch.randperm(len(WORDS) - HELD_OUT, generator=generator)
        few.append(HELD_OUT + order[:labels])
    torch.manual_seed(0)
    counters = [SyllableCounter(STARTS[start]()) for _ in range(DRAWS)]
    fit_side_by_side(
        counters,
        lambda counter, batch: F.mse_loss(counter(batch[0]), batch[1]),
        batches_of(few),
        steps=STEPS,
        learning_rate=RATE,
    )
    right = torch.zeros(DRAWS)
    with torch.no_grad():
        for n in LENGTHS[:TEST].unique().tolist():
            rows = (LENGTHS[:TEST] == n).nonzero()[:, 0]
            for place, counter in enumerate(counters):
                right[place] += (counter(IDS[rows, :n]).round() == SYLLABLES[rows]).sum()
    return (right / TEST).tolist()


def main() -> None:
    """Train from every start and write the results."""
    torch.set_num_threads(1)
    began, rows = time.process_time(), []
    for start, labels in product(STARTS, LABELS):
        rows.append({"start": start, "labels": labels, "right": shares(start, labels)})
        print(rows[-1], round(time.process_time() - began), "s", flush=True)
    measured = provenance() | {
        "seconds": round(time.process_time() - began),
        "steps": STEPS,
        "rate": RATE,
        "rows": rows,
    }
    RESULTS.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
