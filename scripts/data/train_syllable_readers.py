"""Train the readers of lecture 4: course_lib/data/syllable_readers.npz and syllable_readers.json.

    OMP_NUM_THREADS=1 python scripts/data/train_syllable_readers.py

Recurrent networks predict the number of syllables after the last letter of an English word. LSTM,
GRU and plain network of 32 units, and a plain network of 64 units, which has about as many
parameters as the GRU: three seeds each, all with the same words, steps and learning rate. Baselines
are the strongest rules and tables that we found, for the same words: a rule for vowels and a silent
e; a table of groups of vowels and the last four letters or fewer; and a linear regression on all
pieces of up to four or five letters, whose strength was chosen on 4,000 of the training words.
syllable_readers.md describes the files.
"""

import json
import math
import re
import time
from collections import Counter
from string import ascii_uppercase

import numpy as np
import sklearn
import torch
from provenance import provenance
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import Ridge
from torch import Tensor, nn
from torch.nn import functional as F

from course_lib.models.stored import DATA
from course_lib.models.words.syllables import (
    BLANK,
    HELD_OUT_WORDS,
    MOST_SYLLABLES,
    syllable_words,
    syllables_by_rule,
)
from course_lib.support.training import parameter_count, seed

NETWORKS = (("LSTM", 32), ("GRU", 32), ("RNN", 32), ("RNN", 64))
SEEDS, STEPS, BATCH, RATE = 3, 5000, 256, 1e-2
STRENGTHS, PIECES = (1.0, 3.0, 10.0, 30.0), (4, 5)
FORGET_BIAS = 1.0

WORDS = syllable_words()
SPELLED, COUNTS = list(WORDS), np.array(list(WORDS.values()))


def by_length(words: list[str], counts: np.ndarray) -> list[tuple[Tensor, Tensor]]:
    """Letters and answers of the words of each length, so that nothing is padded."""
    groups = []
    for length in sorted({len(word) for word in words}):
        chosen = [i for i, word in enumerate(words) if len(word) == length]
        ids = torch.tensor([[*map(ascii_uppercase.index, words[i])] for i in chosen])
        groups.append((ids, torch.from_numpy(counts[chosen]) - 1))
    return groups


TEST = by_length(SPELLED[:HELD_OUT_WORDS], COUNTS[:HELD_OUT_WORDS])
TRAIN = by_length(SPELLED[HELD_OUT_WORDS:], COUNTS[HELD_OUT_WORDS:])


class Reader(nn.Module):
    """A PyTorch cell, which is faster than ours, and a readout after the last letter."""

    def __init__(self, kind: str, units: int) -> None:
        super().__init__()
        self.cell = getattr(nn, kind)(BLANK, units, batch_first=True)
        self.readout = nn.Linear(units, MOST_SYLLABLES)
        if kind == "LSTM":
            with torch.no_grad():
                self.cell.bias_ih_l0[units : 2 * units] += FORGET_BIAS

    def forward(self, ids: Tensor) -> Tensor:
        """Logits for one to five syllables."""
        return self.readout(self.cell(F.one_hot(ids, BLANK).float())[0][:, -1])


def tested(reader: Reader) -> tuple[float, float]:
    """The accuracy on the held-out words, and the mean cross-entropy in nats."""
    right = surprise = 0.0
    with torch.no_grad():
        for ids, answer in TEST:
            logits = reader(ids)
            right += (logits.argmax(-1) == answer).sum().item()
            surprise += F.cross_entropy(logits, answer, reduction="sum").item()
    return right / HELD_OUT_WORDS, surprise / HELD_OUT_WORDS


def train(kind: str, units: int, number: int) -> Reader:
    """Train with AdamW, with warm-up for a twentieth of the steps and a cosine schedule."""
    generator = seed(number)
    reader = Reader(kind, units)
    parameters = list(reader.parameters())
    optimizer = torch.optim.AdamW(parameters)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, STEPS, pct_start=0.05)
    shares = torch.tensor([float(len(ids)) for ids, _ in TRAIN])
    lengths = torch.multinomial(shares, STEPS, replacement=True, generator=generator)
    for length in lengths:
        ids, answer = TRAIN[length]
        batch = torch.randint(len(ids), (BATCH,), generator=generator)
        loss = F.cross_entropy(reader(ids[batch]), answer[batch])
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        schedule.step()
    return reader


def by_table() -> float:
    """The commonest count for the same vowel groups and the same, longest known, ending."""
    seen: dict[tuple[int, str], Counter] = {}

    def endings(word: str) -> list[tuple[int, str]]:
        groups = len(re.findall("[AEIOUY]+", word))
        return [(groups, word[max(len(word) - n, 0) :]) for n in (4, 3, 2, 1, 0)]

    for word, count in zip(SPELLED[HELD_OUT_WORDS:], COUNTS[HELD_OUT_WORDS:].tolist(), strict=True):
        for ending in endings(word):
            seen.setdefault(ending, Counter())[count] += 1
    said = [
        next(seen[ending].most_common(1)[0][0] for ending in endings(word) if ending in seen)
        for word in SPELLED[:HELD_OUT_WORDS]
    ]
    return float(np.mean(said == COUNTS[:HELD_OUT_WORDS]))


def by_pieces(longest: int) -> dict[str, float | int]:
    """Ridge regression of the count on the counts of pieces in the word, rounded."""

    def pieces(word: str) -> list[str]:
        word = f"<{word}>"
        return [word[i : i + n] for n in range(1, longest + 1) for i in range(len(word) - n + 1)]

    found = CountVectorizer(analyzer=pieces, min_df=2).fit(SPELLED[2 * HELD_OUT_WORDS :])
    table = found.transform(SPELLED)

    def right(start: int, rows: slice, strength: float) -> float:
        model = Ridge(alpha=strength, solver="sparse_cg").fit(table[start:], COUNTS[start:])
        said = np.clip(np.rint(model.predict(table[rows])), 1, MOST_SYLLABLES)
        return float(np.mean(said == COUNTS[rows]))

    validation = slice(HELD_OUT_WORDS, 2 * HELD_OUT_WORDS)
    strength = max(STRENGTHS, key=lambda s: right(2 * HELD_OUT_WORDS, validation, s))
    return {
        "longest": longest,
        "parameters": table.shape[1] + 1,
        "strength": strength,
        "test": right(HELD_OUT_WORDS, slice(HELD_OUT_WORDS), strength),
    }


def main() -> None:
    """Evaluate rules and tables, train the networks, and write the results."""
    start = time.perf_counter()
    by_rule = np.mean(
        [syllables_by_rule(w) for w in SPELLED[:HELD_OUT_WORDS]] == COUNTS[:HELD_OUT_WORDS]
    )
    rules = {"rule": float(by_rule), "table": by_table()}
    rules["pieces"] = [by_pieces(longest) for longest in PIECES]
    print(rules, flush=True)
    rows = []
    for kind, units in NETWORKS:
        for number in range(SEEDS):
            reader = train(kind, units, number)
            right, surprise = tested(reader)
            if (kind, number) == ("LSTM", 0):
                flat = torch.cat([p.detach().flatten() for p in reader.parameters()])
                np.savez_compressed(DATA / "syllable_readers.npz", LSTM=flat.numpy())
            row = {"kind": kind, "units": units, "seed": number}
            row |= {"parameters": parameter_count(reader), "test": right, "surprise": surprise}
            rows.append(row)
            print(rows[-1], f"{time.perf_counter() - start:.0f} s", flush=True)
    report = provenance(sklearn) | {
        "seconds": math.ceil(time.perf_counter() - start),
        "words": {"trained": len(SPELLED) - HELD_OUT_WORDS, "held out": HELD_OUT_WORDS},
        "training": {"steps": STEPS, "batch": BATCH, "rate": RATE},
        "rules": rules,
        "rows": rows,
    }
    path = DATA / "syllable_readers.json"
    path.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
