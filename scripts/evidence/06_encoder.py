"""Evidence of lecture 6: deep stacks, models that fill in letters, and few labels.

make evidence N=06
"""

import json
import math
import re
import sys
from collections.abc import Callable
from functools import cache

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from course_lib.models.deep_stacks import KINDS, birth, deep_stack
from course_lib.models.stored import DATA, contents
from course_lib.models.words.spelling import (
    HELD_OUT,
    HOLE,
    LETTERS,
    LONGEST,
    at_holes,
    dictionary_words,
    ids_of_words,
    load_speller,
    syllables,
)
from course_lib.support.evidence import Row, compute, experiment
from course_lib.support.training import parameter_count, seed

TEST = 1000  # of the held-out words
ALPHABET = 26
REACH = 4  # neighbours on either side
NEAR_FIRST = ((-1, 1, -2, 2, -3, 3), (1, -1, 2, -2, 3, -3), (-1, 1, -2, -3, -4), (1, -1, 2, 3, 4))
DRAWS = range(3)


def share(right: Tensor) -> float:
    """The share that is right."""
    return right.double().mean().item()


# Untrained deep stacks ---------------------------------------------------------------------------


def new_stack(kind: str, layers: int) -> nn.Sequential:
    """A stack of layers of width 32, from seed 0."""
    seed(0)
    return deep_stack(kind, layers, 32)


@experiment([{"kind": kind} for kind in KINDS])
def births(*, kind: str) -> Row:
    """How far tokens differ after 1 to 60 layers, and the gradient at the first layer."""
    depths = (1, 2, 4, 8, 15, 30, 60)
    spread, gradient = np.array([birth(new_stack(kind, layers)) for layers in depths]).T
    return {
        "depths": list(depths),
        "spread": spread.tolist(),
        "left": (spread / spread[0]).tolist(),
        "gradient": (gradient / gradient[0]).tolist(),
    }


def begun_anew(begin: Callable[[Tensor], Tensor], layers: int = 60) -> nn.Sequential:
    """A bare stack with matrices initialized by ``begin`` and zero biases, in double precision."""
    stack = new_stack("bare", layers).double()
    for layer in stack:
        for linear in (layer.f.expand, layer.f.contract):
            begin(linear.weight)
            nn.init.zeros_(linear.bias)
    return stack


@experiment()
def first_weights() -> Row:
    """Signals through 60 layers: orthogonal, variance 1/d or 2/d, or five times as large."""

    def of_variance(factor: float) -> Callable[[Tensor], Tensor]:
        return lambda weight: nn.init.normal_(weight, std=math.sqrt(factor / weight.shape[1]))

    def gain(factor: float) -> float:
        deep, one = (birth(begun_anew(of_variance(factor), layers))[1] for layers in (60, 1))
        return deep / one

    def five_times_as_loud(layers: int) -> float:
        stack = new_stack("post-norm", layers)
        with torch.no_grad():
            for layer in stack:
                layer.f.contract.weight.mul_(5)
                layer.f.contract.bias.mul_(5)
        return birth(stack)[1]

    token = torch.randn(256, 32, generator=seed(1))
    left, gradient = birth(begun_anew(nn.init.orthogonal_))
    x = torch.randn(256, 32, dtype=torch.float64, generator=seed(0))
    shrunk = begun_anew(nn.init.orthogonal_)(x).norm() / x.norm()
    return {
        "spread_norm": birth(new_stack("norm only", 60))[0],
        "spread_pre": birth(new_stack("pre-norm", 60))[0],
        "spread_orthogonal": left,
        "orthogonal_gradient": gradient / birth(new_stack("bare", 1))[1],
        "orthogonal_shrinks": shrunk.item(),
        "double": gain(2),
        "single": gain(1),
        "quiet": (new_stack("bare", 1)(token).norm() / token.norm()).item(),
        "loud_post": five_times_as_loud(60) / five_times_as_loud(1),
    }


@experiment()
def sixty_layers() -> Row:
    """Losses of trained stacks, from ``scripts/data/train_deep_stacks.py``, beside frequencies."""
    trained = json.loads((DATA / "deep_stacks.json").read_text(encoding="utf-8"))
    rows = trained["rows"][::-1]
    bare, post, warmed, around, pre, two = (row["loss"] for row in rows)
    _, ids, valid = dictionary()
    middle, asked = (
        ids[part][valid[part, 4], 2] for part in (slice(HELD_OUT, None), slice(HELD_OUT))
    )
    shares = torch.bincount(middle, minlength=ALPHABET) / len(middle)
    return {
        "kinds": [row["kind"] for row in rows],
        "stacks": [
            f"{row['kind']}, {row['layers']}{', warm-up' * (row['warm_up'] > 0)}" for row in rows
        ],
        "loss": [bare, post, warmed, around, pre, two],
        "final_pre": np.mean(pre).item(),
        "final_two": np.mean(two).item(),
        "final_warmed": np.mean(warmed).item(),
        "final_around": np.mean(around).item(),
        "final_post": f"{min(post):.2f} to {max(post):.2f}",
        "by_frequency": -shares[asked].log().mean().item(),
        "deep_steps": trained["steps"],
        "warm_up": max(row["warm_up"] for row in rows),
        "made": f"{trained['device']}, {trained['date']}: {trained['command']}",
    }


# Models that fill in letters ---------------------------------------------------------------------


@cache
def dictionary() -> tuple[list[str], Tensor, Tensor]:
    """The words, their letters, and which are valid; the first words are held out."""
    words = dictionary_words()
    return words, *ids_of_words(words)


@cache
def neighbourhoods(held_out: bool) -> Tensor:  # noqa: FBT001 - one of two parts
    """A row for each letter of the words, with its neighbours before and after it."""
    _, ids, valid = dictionary()
    part = slice(TEST) if held_out else slice(HELD_OUT, None)
    framed = F.pad(torch.where(valid[part], ids[part], HOLE), (REACH, REACH), value=HOLE)
    return framed.unfold(1, 2 * REACH + 1, 1)[valid[part]]


def by_frequency() -> Tensor:
    """The frequencies of letters, a row for each letter to be predicted."""
    letter = neighbourhoods(held_out=False)[:, REACH]
    found = torch.bincount(letter, minlength=ALPHABET) / len(letter)
    return found.double().expand(len(neighbourhoods(held_out=True)), ALPHABET)


def backing_off(neighbours: tuple[int, ...], discount: float = 0.75) -> Tensor:
    """Absolute discounting: n - D for each pair seen, the rest by fewer neighbours."""
    learned, asked = neighbourhoods(held_out=False), neighbourhoods(held_out=True)
    letter = learned[:, REACH]
    probability = by_frequency()
    here, there = torch.zeros_like(letter), torch.zeros_like(asked[:, REACH])
    for offset in neighbours:
        here = 27 * here + learned[:, REACH + offset]
        there = 27 * there + asked[:, REACH + offset]
        contexts = there.unique()
        place = torch.searchsorted(contexts, here).clamp(max=len(contexts) - 1)
        known = contexts[place] == here
        seen = ALPHABET * place[known] + letter[known]
        count = torch.bincount(seen, minlength=ALPHABET * len(contexts)).view(-1, ALPHABET)
        count = count[torch.searchsorted(contexts, there)].double()
        total = count.sum(-1, keepdim=True)
        saved = discount * (count > 0).sum(-1, keepdim=True) * probability
        found = ((count - discount).clamp(min=0) + saved) / total.clamp(min=1)
        probability = torch.where(total > 0, found, probability)
    return probability


def truth(part: slice) -> Tensor:
    """The letters in the order of ``at_holes``."""
    _, ids, valid = dictionary()
    return torch.cat([ids[part][valid[part, t], t] for t in range(LONGEST)])


@cache
def streams(part: str) -> Tensor:
    """The residual stream of the larger encoder at each hidden letter, after each block."""
    _, ids, valid = dictionary()
    chosen = slice(TEST) if part == "test" else slice(HELD_OUT, HELD_OUT + 1500)
    return at_holes(load_speller().stream, ids[chosen], valid[chosen])


def readings() -> Tensor:
    """The logits that the lens reads from each stream."""
    large = load_speller()
    embedding = large.embedding.token.weight.detach()
    return (large.encoder.norm(streams("test")).detach() @ embedding.T)[..., :ALPHABET]


@cache
def guesses() -> dict[str, tuple[Tensor, Tensor]]:
    """The probabilities of each model but the encoder of the page, and the right letters."""
    answer = neighbourhoods(held_out=True)[:, REACH]
    mixed = torch.stack([backing_off(order) for order in NEAR_FIRST]).mean(0)
    return {
        "by frequency": (by_frequency(), answer),
        "counts, two on the left": (backing_off((-1, -2)), answer),
        "counts, one on each side": (backing_off((-1, 1)), answer),
        "counts that back off, mixed": (mixed, answer),
        "the larger encoder": (readings()[-1].softmax(-1), truth(slice(TEST))),
    }


@experiment(
    [
        {"who": who}
        for who in (
            *("by frequency", "counts, two on the left", "counts, one on each side"),
            *("counts that back off, mixed", "the larger encoder"),
        )
    ]
)
def filling(*, who: str) -> Row:
    """Top-1 and top-3 accuracy and bits per letter, each letter hidden in turn."""
    probability, right = guesses()[who]
    best = probability.topk(3).indices == right[:, None]
    bits = -probability.gather(1, right[:, None]).log2().mean().item()
    return {"first": share(best[:, 0]), "three": share(best.any(-1)), "bits": bits}


ENDINGS = ("", "s", "es", "ed", "d", "ing", "er", "ers", "ly", "y", "e", "al", "ness", "ment")


@experiment()
def relatives() -> Row:
    """Top-1 accuracy in words that differ from a training word by an ending, and in others."""
    words, _, valid = dictionary()
    to_learn_from = set(words[HELD_OUT:])

    def has_relative(word: str) -> bool:
        stems = {word.removesuffix(ending) for ending in ENDINGS}
        return any(stem + ending in to_learn_from for stem in stems for ending in ENDINGS)

    related = torch.tensor([has_relative(word) for word in words[:TEST]])
    by_word = related[:, None].expand(-1, LONGEST)
    (mixed, answer), (large, right) = (
        guesses()[who] for who in ("counts that back off, mixed", "the larger encoder")
    )
    tables, network = mixed.argmax(-1) == answer, large.argmax(-1) == right
    of_tables, of_network = by_word[valid[:TEST]], by_word.T[valid[:TEST].T]
    found = {
        "tables_related": share(tables[of_tables]),
        "tables_alone": share(tables[~of_tables]),
        "large_related": share(network[of_network]),
        "large_alone": share(network[~of_network]),
    }
    gains = {f"{w}_gain": found[f"{w}_related"] - found[f"{w}_alone"] for w in ("tables", "large")}
    return {"related": share(related), **found, **gains}


@experiment()
def larger_encoder() -> Row:
    """The training data of the larger encoder and of the tables, and the size of the encoder."""
    words = set(dictionary()[0][HELD_OUT:])
    stored = contents("speller.npz")
    steps, batch = int(stored["steps"]), int(stored["batch"])
    made = f"{stored['made_with']}: {stored['command']}"
    return {
        "large_size": parameter_count(load_speller()),
        "large_steps": steps,
        "times_seen": round(steps * batch / len(words)),
        "made": made,
        "letters_read": len(neighbourhoods(held_out=False)),
        "trained_on": len(words),
        "held_out": TEST,
    }


def readout_of_its_own(x: Tensor, right: Tensor, steps: int) -> Callable[[Tensor], Tensor]:
    """A linear map and biases from the stream to letters, fitted by L-BFGS with a little decay."""
    scale = x.std()
    weight = torch.zeros(x.shape[-1] + 1, ALPHABET, requires_grad=True)
    rows = torch.cat([x / scale, torch.ones(len(x), 1)], -1)
    descent = torch.optim.LBFGS([weight], max_iter=steps, line_search_fn="strong_wolfe")

    def loss() -> Tensor:
        descent.zero_grad()
        value = F.cross_entropy(rows @ weight, right) + 1e-4 * weight.square().sum()
        value.backward()
        return value

    descent.step(loss)
    return lambda x: torch.cat([x / scale, torch.ones(len(x), 1)], -1) @ weight.detach()


@experiment([{"steps": 5}, {"steps": 60}], within=0.02)
def lens(*, steps: int) -> Row:
    """Top-1 accuracy after each block: by the lens, and by a readout fitted to the block."""
    right = truth(slice(TEST))
    read = readings()
    learned = truth(slice(HELD_OUT, HELD_OUT + 1500))
    own = [
        share(readout_of_its_own(x, learned, steps)(asked).argmax(-1) == right)
        for x, asked in zip(streams("train"), streams("test"), strict=True)
    ]
    word = ids_of_words(["question"])[0][0, : len("question")]
    with torch.no_grad():
        seen = word.repeat(len(word), 1).fill_diagonal_(HOLE)
        chances = load_speller().logit_lens(seen)[..., :ALPHABET].softmax(-1)
    best = chances.diagonal(dim1=1, dim2=2).mT.max(-1)  # (reading, letter of the word)
    settled = (read.argmax(-1) == read[-1].argmax(-1)).flip(0).cumprod(0).sum(0)
    by_lens = [share(reading.argmax(-1) == right) for reading in read]
    return {
        "sure": best.values.tolist(),
        "guessed": ["".join(LETTERS[i] for i in row) for row in best.indices],
        "lens": by_lens,
        "own": own,
        "lens_two": by_lens[2],
        "own_two": own[2],
        "own_none": own[0],
        "settled_last": share(settled == 1),
        "settled_two": share(settled > 4),
        "most_frequent": LETTERS[by_frequency()[0].argmax()],
    }


@experiment()
def neighbours() -> Row:
    """The overlap of the neighbour distributions of two letters, for all pairs."""
    near = neighbourhoods(held_out=False)[:, REACH - 1 : REACH + 2]
    before, letter, behind = near.T
    counts = torch.zeros(ALPHABET, 27 * 27).double()
    ones = torch.ones(len(letter)).double()
    counts.index_put_((letter, 27 * before + behind), ones, accumulate=True)
    shares = (counts / counts.sum(1, keepdim=True)).sqrt()
    pair = torch.triu_indices(ALPHABET, ALPHABET, 1).unbind()
    return {"similar": (shares @ shares.T)[pair].tolist()}


# Few labels ------------------------------------------------------------------------------------


def rule_of_thumb(word: str) -> int:
    """Groups of vowels, less a silent e at the end."""
    groups = len(re.findall("[aeiouy]+", word))
    return groups - (groups > 1 and word.endswith("e"))


def careful_rule(word: str) -> int:
    """The rule of thumb, with exceptions for some endings and some separate vowels."""
    groups = len(re.findall("[aeiouy]+", word))
    if groups > 1:
        silent = "([^aeiouyl]|[aeiouyr]l)e$|[^aeiouytd]ed$|[^aeiouysxzcgh]es$"
        groups -= bool(re.search(silent, word))
    apart = "i[ao](?!u)|eo|ua|[^q]uo|ying|sm$"
    return groups + len(re.findall(apart, word)) - len(re.findall("[tsc]i[ao]n?", word))


@cache
def labels_of_all() -> Tensor:
    """The syllables of every word."""
    return torch.tensor([float(syllables(word)) for word in dictionary()[0]])


def few_words(labels: int, value: int) -> Tensor:
    """``labels`` training words, drawn anew for each seed."""
    order = torch.randperm(len(dictionary()[0]) - HELD_OUT, generator=seed(value))
    return HELD_OUT + order[:labels]


def ridge(rows: Tensor, right: Tensor, test: Tensor) -> Tensor:
    """Least squares with the penalty, of seven, that errs least on rows left out one by one."""
    mean, offset = rows.mean(0), right.mean()
    X = (rows - mean).double()
    values, U = torch.linalg.eigh(X @ X.T)
    values, part = values.clamp(min=0), U.T @ (right - offset).double()
    best = math.inf, None
    for penalty in values.max() * torch.logspace(-6, 0, 7):
        leverage = (U**2 * values / (values + penalty)).sum(-1) + 1 / len(X)
        missed = right - offset - U @ (values / (values + penalty) * part)
        error = (missed / (1 - leverage)).square().mean().item()
        if error < best[0]:
            best = error, X.T @ U @ (part / (values + penalty))
    return ((test - mean).double() @ best[1] + offset).round()


@torch.no_grad()
def summed(rows: Tensor) -> Tensor:
    """The outputs of the larger encoder, added up over each word."""
    _, ids, valid = dictionary()
    return (load_speller().encode(ids[rows], valid=valid[rows]) * valid[rows][..., None]).sum(1)


@cache
def by_letters(labels: int, value: int) -> tuple[Tensor, Tensor]:
    """Counts of the one to three letters in a row that occur in the labelled words."""
    words = dictionary()[0]
    few = few_words(labels, value).tolist()
    pieces = [
        [f"^{words[i]}$"[t : t + n] for n in (1, 2, 3) for t in range(len(words[i]) + 3 - n)]
        for i in [*few, *range(TEST)]
    ]
    met = sorted({piece for row in pieces[:labels] for piece in row})
    column = {piece: k for k, piece in enumerate(met)}
    counts = torch.zeros(len(pieces), len(column))
    for row, found in zip(counts, pieces, strict=True):
        for piece in found:
            if piece in column:
                row[column[piece]] += 1
    return counts[:labels], counts[labels:]


def by_rule(labels: int, value: int, rule: Callable[[str], int]) -> tuple[Tensor, Tensor]:
    """The same counts, and the prediction of the rule."""
    rows = torch.cat([few_words(labels, value), torch.arange(TEST)])
    said = torch.tensor([[float(rule(dictionary()[0][i]))] for i in rows])
    few, test = by_letters(labels, value)
    return torch.cat([few, said[:labels]], dim=1), torch.cat([test, said[labels:]], dim=1)


LEARNERS = {
    "probed": lambda labels, value: (summed(few_words(labels, value)), summed(torch.arange(TEST))),
    "letters in a row": by_letters,
    "rule and letters": lambda *given: by_rule(*given, rule_of_thumb),
    "careful rule and letters": lambda *given: by_rule(*given, careful_rule),
}


def fitted(who: str, labels: int) -> list[float]:
    """The test accuracy of a linear map, for each draw of labels."""
    shares = []
    for value in DRAWS:
        rows, test = LEARNERS[who](labels, value)
        said = ridge(rows, labels_of_all()[few_words(labels, value)], test)
        shares.append(share(said == labels_of_all()[:TEST]))
    return shares


def trained(who: str, labels: int) -> list[float]:
    """The same for networks, from ``scripts/data/fine_tune_speller.py``."""
    tuned = json.loads((DATA / "syllables.json").read_text(encoding="utf-8"))
    rows = {(row["start"], row["labels"]): row["right"] for row in tuned["rows"]}
    return rows["pre-trained" if who == "fine-tuned" else "scratch", labels]


NAMES = {
    "probed": "probed",
    "from scratch": "scratch",
    "fine-tuned": "tuned",
    "rule and letters": "ruled",
    "letters in a row": "letters",
    "careful rule and letters": "careful",
}


@experiment([{"who": who} for who in NAMES])
def few_labels(*, who: str) -> Row:
    """The accuracy of a model with 150 and with 1,000 labels: mean and deviation of draws."""
    name, learner = NAMES[who], fitted if who in LEARNERS else trained
    shares = {labels: learner(who, labels) for labels in (150, 1000)}
    means = [np.mean(some).item() for some in shares.values()]
    deviations = [np.std(some, ddof=1).item() for some in shares.values()]
    told = {
        f"{name}_{labels}": f"{100 * mean:.0f} ± {100 * deviation:.0f} %"
        for labels, mean, deviation in zip(shares, means, deviations, strict=True)
    }
    return {"name": name, "mean": means, "deviation": deviations, **told}


@experiment()
def rules() -> Row:
    """The test accuracy of rules, which need no training."""
    words = dictionary()[0][:TEST]
    return {
        name: float(np.mean([rule(word) == syllables(word) for word in words]))
        for name, rule in (("rule", rule_of_thumb), ("careful", careful_rule))
    }


if __name__ == "__main__":
    compute(__file__, globals(), sys.argv[1:])
