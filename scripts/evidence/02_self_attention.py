"""Evidence of lecture 2 beyond its page: other seeds, other readers, running times."""

import math
import sys
import time
from collections.abc import Callable
from functools import cache

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from course_lib.attention import MultiHeadAttention, attention
from course_lib.models.words.induction import (
    TOKENS,
    StringReader,
    Strings,
    ToldReader,
    head_scores,
    reader_accuracy,
    reader_loss,
    returning_strings,
    train_reader,
)
from course_lib.support.evidence import Row, compute, experiment
from course_lib.support.training import fit, seed


class Wide(nn.Module):
    """One head whose queries and keys have 128 features, with a given scale."""

    def __init__(self, d: int, scale: float | None) -> None:
        super().__init__()
        self.scale = scale
        self.query, self.key = nn.Linear(d, 128, bias=False), nn.Linear(d, 128, bias=False)
        self.value, self.output = nn.Linear(d, d, bias=False), nn.Linear(d, d, bias=False)

    def forward(self, x: Tensor, *, mask: Tensor) -> Tensor:
        """The output of the head."""
        read = attention(self.query(x), self.key(x), self.value(x), mask=mask, scale=self.scale)
        return self.output(read)


ROOT = 1 / math.sqrt(128)
WIDE = {
    "divided by √d": {"scale": None},
    "not divided": {},
    "not divided, a third of the learning rate": {"rate": 1e-3},
    "not divided, W_Q starts smaller by √d": {"start": ROOT},
    "not divided, W_Q moves less by √d": {"step": ROOT},
}


@experiment(
    [{"steps": 20, "how": "divided by √d"}] + [{"steps": 400, "how": how} for how in WIDE],
    within=0.02,
)
def wide(steps: int, how: str) -> Row:
    """A reader with wide heads learns with scores divided by √d, but not in four other ways."""
    options = {"scale": 1.0, "start": 1.0, "step": 1.0, "rate": 3e-3} | WIDE[how]
    torch.set_flush_denormal(True)  # saturated weights are denormal numbers, which are slow
    random = seed(0)
    reader = StringReader()
    reader.layers = nn.ModuleList(Wide(32, options["scale"]) for _ in range(2))
    asking = [layer.query.weight for layer in reader.layers]
    with torch.no_grad():
        for weight in asking:
            weight.mul_(options["start"])

    def optimizer(parameters: list[Tensor], lr: float) -> torch.optim.Optimizer:
        others = [p for p in parameters if all(p is not weight for weight in asking)]
        groups = [{"params": others, "lr": lr}, {"params": asking, "lr": options["step"] * lr}]
        return torch.optim.AdamW(groups)

    batches = [returning_strings(32, random) for _ in range(steps)]
    training = {"learning_rate": options["rate"], "clip": 1.0, "optimizer": optimizer}
    fit(reader, reader_loss, batches, steps=steps, progress=False, **training)
    right = reader_accuracy(reader, returning_strings(500, torch.Generator().manual_seed(1)))
    torch.set_flush_denormal(False)
    return {"right": right}


@experiment(within=1000.0)  # seconds are those of the machine
def clock() -> Row:
    """Twice the tokens take more than twice as long, in milliseconds of one processor."""
    random = seed(0)
    layer = MultiHeadAttention(64, 1)

    @torch.no_grad()
    def least(tokens: int) -> float:
        """The least processor time of several runs, to exclude other programs."""
        x, times = torch.randn(tokens, 64, generator=random), []
        for _ in range(7):
            start = time.thread_time()
            layer(x)
            times.append(1000 * (time.thread_time() - start))
        return min(times)

    tokens = [2**n for n in range(5, 12)]
    times = [least(n) for n in tokens]
    return {"tokens": tokens, "milliseconds": times, "doubling": times[-1] / times[-2]}


def smooth(losses: list[float]) -> np.ndarray:
    """Means of ten losses each."""
    return np.convolve(losses, np.ones(10) / 10, mode="valid")


@cache
def trained(
    make: Callable[[], StringReader], number: int, steps: int
) -> tuple[StringReader, list[float]]:
    """A reader, and its loss at each step."""
    random = seed(number)
    reader = make()
    return reader, train_reader(reader, random, steps=steps, progress=False)


def one_layer() -> StringReader:
    """A reader of one layer, which cannot compose two heads."""
    return StringReader(layers=1)


@cache
def fresh() -> Strings:
    """Strings outside all training."""
    return returning_strings(2000, torch.Generator().manual_seed(99))


@experiment(
    [{"layers": 2, "seed": 0, "steps": 20}]
    + [{"layers": n, "seed": k, "steps": 500} for n, k in ((2, 0), (2, 1), (2, 2), (1, 0))],
    within=0.02,
)
def readers(layers: int, seed: int, steps: int) -> Row:
    """Two layers learn induction from three seeds, after a plateau; one layer does not."""
    reader, losses = trained(StringReader if layers == 2 else one_layer, seed, steps)
    right, mean = reader_accuracy(reader, fresh()), smooth(losses)
    high, low = np.flatnonzero(mean > 2.5), np.flatnonzero(mean < 1)
    back, found = head_scores(reader, fresh())

    def accuracy_without(output: Tensor) -> float:
        kept = output.clone()
        output.zero_()  # the heads still attend, but their output is dropped
        accuracy = reader_accuracy(reader, fresh())
        output.copy_(kept)
        return accuracy

    outputs = [layer.output.weight.data for layer in reader.layers]
    return {
        "right": right,
        "with_all_again": reader_accuracy(reader, fresh()),
        "losses": mean.tolist(),
        "cliff": int(low[0] - high[-1]) if len(low) else 0,
        "before": back.flatten().tolist(),
        "next": found.flatten().tolist(),
        "without": [accuracy_without(head) for output in outputs for head in output.split(16, 1)],
        "without_last_layer": accuracy_without(outputs[-1]),
    }


@experiment()
def chance() -> Row:
    """Picking any letter that was read just once is seldom right."""
    ids, known, _ = fresh()
    once = (F.one_hot(ids, 26).cumsum(1) == 1).sum(-1)[known]
    return {"any of 26 letters": 1 / 26, "any letter read once": (1 / once).mean().item()}


@experiment([{"steps": 20}, {"steps": 500}], within=0.02)
def idle(steps: int) -> Row:
    """Before any repetition, a head of layer 2 attends to many letters, not to the first."""
    ids, known, _ = fresh()
    with torch.no_grad():
        everywhere = trained(StringReader, 0, steps)[0].weights(ids)[:, 1]
    first_known = known.double().argmax(-1, keepdim=True)
    places = torch.arange(TOKENS)
    early = everywhere.transpose(1, 2)[(places >= 6) & (places < first_known)]
    entropy = -(early * early.clamp_min(1e-12).log()).sum(-1)
    return {"early_spread": entropy.exp().mean().item(), "on_first": early[..., 0].mean().item()}


@experiment([{"steps": 20}, {"steps": 500}], within=0.02)
def told(steps: int) -> Row:
    """A single layer that is given the previous letter learns the task, also after a plateau."""
    reader, losses = trained(ToldReader, 0, steps)
    high, low = np.flatnonzero(smooth(losses) > 2.5), np.flatnonzero(smooth(losses) < 1)
    return {
        "told_right": reader_accuracy(reader, fresh()),
        "told_flat": int(high[-1]),
        "told_below": int(low[0]) if len(low) else steps,
    }


EMBEDDINGS = ("letter", "place", "before")
QK = ("layers.0.query", "layers.0.key")
OV = ("layers.0.value", "layers.0.output", "next")
HEIRS = {
    "one layer, nothing": (ToldReader, (), 200),
    "one layer, embeddings": (ToldReader, EMBEDDINGS, 130),
    "one layer, embeddings and QK": (ToldReader, EMBEDDINGS + QK, 60),
    "one layer, embeddings and OV": (ToldReader, EMBEDDINGS + OV, 60),
    "two layers, embeddings": (StringReader, EMBEDDINGS, 220),
    "two layers, embeddings and layer 1": (StringReader, (*EMBEDDINGS, "layers.0"), 120),
}


@experiment(
    [{"heir": "one layer, nothing", "donor_steps": 10, "steps": 20}]
    + [{"heir": heir, "donor_steps": 500, "steps": HEIRS[heir][2]} for heir in HEIRS]
)
def waits(heir: str, donor_steps: int, steps: int) -> Row:
    """Starting with trained parts of another network shortens the plateau, three seeds each."""
    make, parts, _ = HEIRS[heir]
    donor, _ = trained(make, 0, donor_steps)
    given = {name: w for name, w in donor.state_dict().items() if name.startswith(parts)}
    counts = []
    for number in (1, 2, 3):
        random = seed(number)
        reader = make()
        reader.load_state_dict(given, strict=False)
        low = np.flatnonzero(smooth(train_reader(reader, random, steps=steps, progress=False)) < 1)
        counts.append(int(low[0]) if len(low) else steps)
    return {"waits": counts, "least": min(counts), "most": max(counts)}


@experiment([{"steps": 20}, {"steps": 500}], within=0.02)
def ambiguous(steps: int) -> Row:
    """Given two earlier successors, the reader predicts the first one, or the latest."""
    letters = torch.rand(4000, 26, generator=torch.Generator().manual_seed(7)).argsort(-1)
    (a, b, x, y), filler = letters[:, :4].T, letters[:, 4:]
    passages = [filler[:, 0], a, b, x, *filler[:, 1:4].T, a, b, y, *filler[:, 4:7].T, a, b]
    with torch.no_grad():
        answers = trained(StringReader, 0, steps)[0](torch.stack(passages, dim=1))[:, -1].argmax(-1)
    earliest, latest = ((answers == letter).double().mean().item() for letter in (x, y))
    return {"earliest": earliest, "latest": latest}


if __name__ == "__main__":
    compute(__file__, globals(), sys.argv[1:])
