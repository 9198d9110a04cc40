"""Evidence of lecture 5: readers with six kinds of position encodings.

make evidence N=05
"""

import math
import sys
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from course_lib.attention import causal_mask
from course_lib.models.words.name_reader import (
    EIGHT,
    HIDDEN,
    LETTERS,
    LONG,
    SHORT,
    Reader,
    asked_windows,
    learn,
    learn_to_guess,
    learn_to_judge,
    names_and_shuffles,
    names_of_eight,
    near,
    rows,
    surprise,
)
from course_lib.position import alibi_bias, relative_buckets, rotary, sinusoidal
from course_lib.support.evidence import Row, compute, experiment
from course_lib.support.training import parameter_count, seed
from course_lib.widgets import PositionExplorer

LENGTHS = (8, 16, 32, 64, 128)
ADDED = ("none", "learned", "sinusoidal", "rotary")
ALL = (*ADDED, "ALiBi", "T5")
SEEDS = (0, 1)
REACH = 8
RESONANT = 63  # positions after which two rotary pairs have made whole turns


@experiment([{"kind": kind} for kind in ("none", "sinusoidal", "rotary")])
def orders(*, kind: str) -> Row:
    """The attention score of BITES and DOG in each order of the words, as in the first figure."""
    explorer = PositionExplorer(tokens=32, d_model=16, kind="rotary", seed=141)
    if kind == "sinusoidal":
        table = sinusoidal(3, 16, dtype=torch.float64)
        scores = table @ table.T
    else:
        q, k = (torch.from_numpy(x).double().repeat(3, 1) for x in (explorer.query, explorer.key))
        scores = q @ k.T if kind == "none" else rotary(q) @ rotary(k).T
    places = [(1, 0), (1, 2), (0, 1), (0, 2), (2, 1), (2, 0)]  # of BITES and DOG in each order
    found = [scores[s, t].item() for s, t in places]
    return {"scores": found, "different": len({round(x, 9) for x in found})}


@experiment(
    [{"kind": kind, "causal": False} for kind in ADDED] + [{"kind": "none", "causal": True}],
    within=0.03,
)
def judging(*, kind: str, causal: bool) -> Row:
    """The accuracy of a reader that distinguishes surnames from shuffled letters."""
    words, _ = names_and_shuffles(names_of_eight()[0], torch.Generator().manual_seed(1))
    right = learn_to_judge(kind, causal_mask(EIGHT) if causal else None)
    return {"right": right, "words": len(words)}


# Train short, read long ------------------------------------------------------------------------


@torch.no_grad()
def bits(reader: nn.Module, tokens: int = LONG, mask: Tensor | None = None) -> float:
    """The bits of a hidden letter in windows of ``tokens`` letters."""
    return surprise(reader, asked_windows(tokens), mask=mask).item() / math.log(2)


def by_length(reader: nn.Module, reach: int | None = None) -> list[float]:
    """The bits in windows of each length; with a ``reach``, no letter attends farther."""
    return [bits(reader, n, None if reach is None else near(n, reach)) for n in LENGTHS]


@experiment([{"kind": kind, "value": value} for kind in ALL for value in SEEDS], within=0.05)
def guessing(*, kind: str, value: int) -> Row:
    """Bits for a hidden letter by length, with attention everywhere and within a window."""
    reader = learn_to_guess(kind, value)
    answers = []
    for tokens in (SHORT, LONG):
        ids, hidden = asked_windows(tokens)
        with torch.no_grad():
            said = reader(ids.masked_fill(hidden, HIDDEN), mask=near(tokens, REACH))
        answers.append(said.reshape(-1, SHORT, len(LETTERS))[:, REACH - 1 : 1 - REACH])
    return {
        "bits": by_length(reader),
        "windowed": by_length(reader, REACH),
        "inside_apart": (answers[0] - answers[1]).abs().max().item(),
    }


@experiment(within=1e-4)
def frequency() -> Row:
    """Bits for a letter by its frequency, and the buckets that occur in training."""
    held_out, seen = rows()
    share = F.one_hot(seen, len(LETTERS)).double().mean(0)
    bucket = relative_buckets(LONG)
    met = set(bucket[:SHORT, :SHORT].flatten().tolist())
    return {
        "by_frequency": -share[held_out].log2().mean().item(),
        "buckets_met": len(met),
        "buckets_unmet": len(set(bucket.flatten().tolist()) - met),
    }


@experiment([{"value": value} for value in SEEDS], within=0.05)
def rotation(*, value: int) -> Row:
    """Why rotation fails in long texts, and what scaling the positions or the base changes."""
    reader = learn_to_guess("rotary", value)
    distance = (torch.arange(LONG)[:, None] - torch.arange(LONG)).abs()
    resonant = (distance - RESONANT).abs() <= 6
    others = (distance >= SHORT) & ~resonant
    attention = reader.encoder.blocks[0].attention
    ids, hidden = asked_windows(LONG)
    ids = ids.masked_fill(hidden, HIDDEN)

    @torch.no_grad()
    def looked(base: int) -> Tensor:
        """The mean weight by distance of the key, if the hands have this base."""
        attention.base = base
        rotated = reader.embedding.positions(ids)
        weights = reader.encoder.attention_weights(reader.embedding(ids), position=rotated)
        attention.base = 10_000
        return weights[0].mean((0, 1))

    def by_distance(weights: Tensor) -> list[float]:
        sides = [(weights.diagonal(k), weights.diagonal(-k)) for k in range(LONG)]
        return [torch.cat(side).mean().item() for side in sides]

    weights = looked(10_000)
    stretch, d = LONG // SHORT, 8
    found = {
        "looked": by_distance(weights),
        "elsewhere": by_distance(looked(12_000)),
        "far_share": (weights * (distance >= SHORT)).sum(-1).mean().item(),
        "without_resonant": bits(reader, mask=~resonant),
        "without_others": bits(reader, mask=~others),
    }
    attention.base = 10_000 * stretch ** (d / (d - 2))  # NTK-aware
    found["raised"] = by_length(reader)
    attention.base = 10_000
    reader.embedding.positions = lambda ids, **_: torch.arange(ids.shape[-1]) / stretch
    return found | {"squeezed": by_length(reader)}


@experiment([{"value": value} for value in SEEDS], within=0.05)
def distances(*, value: int) -> Row:
    """At 128 letters: untrained rows and buckets filled, a bounded bias, far keys hidden."""
    learned = learn_to_guess("learned", value)
    learned.embedding.learned.weight.data[SHORT:] = 0
    bucket = relative_buckets(LONG)
    met = set(bucket[:SHORT, :SHORT].flatten().tolist())
    buckets = learn_to_guess("T5", value)
    numbers = buckets.bias.weight.data
    unmet = sorted(set(bucket.flatten().tolist()) - met)
    found = {
        "zeroed": bits(learned),
        "unmet_moved": numbers[unmet].abs().max().item(),
        "met_moved": numbers[list(met)].abs().amax(-1).min().item(),
        "without_far": bits(buckets, mask=near(LONG, SHORT)),
    }
    for side in (range(16), range(16, 32)):
        numbers[list(set(side) - met)] = numbers[max(met & set(side))].clone()
    costly = learn_to_guess("ALiBi", value)
    costly.bias = lambda tokens: alibi_bias(tokens, 4).maximum(alibi_bias(SHORT, 4)[:, :1, -1:])
    return found | {"filled": bits(buckets), "stopping": bits(costly)}


def steep(tokens: int, *, sides: bool = True) -> Tensor:
    """ALiBi with slopes 1 and ¼; two heads attend only backwards and two only forwards."""
    position = torch.arange(tokens)
    ahead = position - position[:, None]
    cost = torch.tensor([1, 1 / 4, 1, 1 / 4])[:, None, None] * -ahead.abs()
    hidden = torch.stack([ahead > 0, ahead > 0, ahead < 0, ahead < 0])
    return cost.masked_fill(hidden, -math.inf) if sides else cost


def surprise_anywhere(reader: nn.Module, batch: tuple[Tensor, Tensor]) -> Tensor:
    """The loss when every batch starts at a random position."""
    return surprise(reader, batch, start=torch.randint(LONG - SHORT + 1, ()).item())


@experiment([{"what": what} for what in ("unsided", "sided", "patient", "anywhere")], within=0.05)
def variants(*, what: str) -> Row:
    """ALiBi with steeper slopes, and with sides; sinusoids with more steps or random starts."""
    train: dict[str, Callable[[], Reader]] = {
        "unsided": lambda: learn_to_guess("ALiBi", 0, bias=partial(steep, sides=False)),
        "sided": lambda: learn_to_guess("ALiBi", 0, bias=steep),
        "patient": lambda: learn_to_guess("sinusoidal", 0, steps=900),
        "anywhere": lambda: learn_to_guess("sinusoidal", 0, loss=surprise_anywhere, steps=600),
    }
    reader = train[what]()
    return {"bits": by_length(reader), "windowed": by_length(reader, REACH)}


# Who bit whom? -----------------------------------------------------------------------------------

CREATURES = (
    "dog man cat fox hen cow boy girl wolf goat bear frog duck fish bird horse hare owl bee ox"
)
VERBS = "bites sees chases fears follows bitten seen chased feared followed is by"
WORDS = [*CREATURES.split(), *VERBS.split()]
BITES, BITTEN, IS, BY = (WORDS.index(word) for word in ("bites", "bitten", "is", "by"))
ROLES = (0, 4)  # index of the agent, in the active and in the passive voice


def couples() -> tuple[Tensor, Tensor]:
    """Pairs of creatures in both roles: 40 for the test, and 150 for training."""
    pairs = torch.combinations(torch.arange(BITES))
    pairs = pairs[torch.randperm(len(pairs), generator=torch.Generator().manual_seed(0))]
    both = torch.stack([pairs, pairs.flip(-1)], dim=1)
    return both[:40].flatten(0, 1), both[40:].flatten(0, 1)


def sentences(couple: Tensor, verb: Tensor) -> tuple[Tensor, Tensor]:
    """What the first did to the second, in the active and in the passive voice."""
    (who, whom), constant = couple.unbind(-1), torch.ones_like(verb)
    active = torch.stack([who, BITES + verb, whom], dim=-1)
    passive = torch.stack([whom, IS * constant, BITTEN + verb, BY * constant, who], dim=-1)
    return active, passive


def blame(reader: nn.Module, batch: tuple[Tensor, Tensor]) -> Tensor:
    """The cross-entropy of the word for the agent, summed over both voices."""
    places = [torch.full((len(ids),), place) for ids, place in zip(batch, ROLES, strict=True)]
    scores = [reader(ids)[..., 0] for ids in batch]
    return sum(F.cross_entropy(*pair) for pair in zip(scores, places, strict=True))


@experiment([{"kind": kind, "value": value} for kind in ALL for value in SEEDS], within=0.1)
def who_did_it(*, kind: str, value: int) -> Row:
    """The share of unseen sentences, active and passive, whose agent the reader finds."""
    random = seed(value)
    asked, told = couples()
    reader = Reader(kind, 1, tokens=64, vocabulary_size=len(WORDS))
    draws = [torch.randint(len(told), (64,), generator=random) for _ in range(50)]
    batches = [sentences(told[d], torch.randint(5, (64,), generator=random)) for d in draws]
    learn(reader, blame, batches)
    unseen = sentences(asked.repeat(5, 1), torch.arange(5).repeat_interleave(len(asked)))

    @torch.no_grad()
    def right(start: int) -> list[float]:
        found = [reader(ids, start=start)[..., 0].argmax(-1) for ids in unseen]
        return [
            (place == role).double().mean().item() for place, role in zip(found, ROLES, strict=True)
        ]

    counts = {"told": len(told), "asked": len(asked), "parameters": parameter_count(reader)}
    return {f"from_{start}": right(start) for start in (0, 40, 44)} | counts


if __name__ == "__main__":
    compute(__file__, globals(), sys.argv[1:])
