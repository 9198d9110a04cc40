"""The checkers of lecture 7: the mask behind a cache, and top-p."""

from collections.abc import Callable
from itertools import product

import torch
from hypothesis import strategies as st
from torch import Tensor

from course_lib.exercises._checker import Attempt, Exercise, close

cached_mask = Exercise(
    "cached_mask",
    "cached_mask(tokens, before): a boolean matrix of shape (tokens, before + tokens), True where "
    "the query of the row may look at the key of the column. The queries are the new tokens. The "
    "keys are first those of the `before` tokens in the cache, then those of the new tokens.",
    inputs=st.tuples(st.integers(1, 4), st.integers(0, 4)),
    shape=lambda tokens, before: (tokens, before + tokens),
    boolean=True,
)


@cached_mask.property(
    "every new token may look at itself",
    hint="In which column does the key of the first new token stand, when the cache holds one "
    "token? When it holds two?",
)
def _(attempt: Attempt, tokens: int, before: int) -> bool:
    mask = attempt(tokens, before)
    return all(bool(mask[new, before + new]) for new in range(tokens))


@cached_mask.property(
    "every new token may look at all that the cache holds",
    hint="What is in the cache was read before. Where do its keys stand, and is any of it the "
    "future of a new token?",
)
def _(attempt: Attempt, tokens: int, before: int) -> bool:
    return bool(attempt(tokens, before)[:, :before].all())


@cached_mask.property(
    "every new token may look at the new tokens before it",
    hint="New tokens that come in one call have a past in that same call. Which new tokens may "
    "the last one see?",
)
def _(attempt: Attempt, tokens: int, before: int) -> bool:
    mask = attempt(tokens, before)
    return all(bool(mask[new, before : before + new].all()) for new in range(tokens))


@cached_mask.property(
    "no new token may look at a token after it",
    hint="Several tokens may come in one call, as those of a prompt do. Read the first row: which "
    "of its keys belong to tokens that come later?",
)
def _(attempt: Attempt, tokens: int, before: int) -> bool:
    mask = attempt(tokens, before)
    return not any(bool(mask[new, before + new + 1 :].any()) for new in range(tokens))


# Shares in eighths, whose sums float32 holds exactly: no rounding decides what is kept.
EIGHTHS = 8
SHARES = tuple(
    shares
    for letters in (1, 2, 3, 4)
    for shares in product(range(EIGHTHS + 1), repeat=letters)
    if sum(shares) == EIGHTHS
)
NO_TWO_ALIKE = tuple(shares for shares in SHARES if len(set(shares)) == len(shares))


@st.composite
def _cut(draw: Callable, *, shares: tuple) -> tuple[Tensor, float]:
    """A distribution over one to four letters, and how much of it is to be reached."""
    p = draw(st.integers(1, 2 * EIGHTHS)) / (2 * EIGHTHS)
    return torch.tensor(draw(st.sampled_from(shares))) / EIGHTHS, p


top_p = Exercise(
    "top_p",
    "top_p(probability, p): the distribution cut down to the smallest set of most probable letters "
    "that have p or more together, 0 < p ≤ 1, and rescaled. Shapes: (letters,), a number to "
    "(letters,).",
    inputs=_cut(shares=SHARES),
    shape=lambda probability, p: probability.shape,  # noqa: ARG005 - shown by name
)


@top_p.property(
    "what comes out sums to one",
    hint="A distribution of which a part was cut away no longer sums to one. And was anything "
    "left at all?",
)
def _(attempt: Attempt, probability: Tensor, p: float) -> bool:
    return close(attempt(probability, p).sum(), torch.tensor(1.0))


@top_p.property(
    "the same numbers in reversed order give the same answer in reversed order",
    hint="Sorting moves letters away from their places. Does each come back to its own?",
    inputs=_cut(shares=NO_TWO_ALIKE),
)
def _(attempt: Attempt, probability: Tensor, p: float) -> bool:
    return close(attempt(probability.flip(0), p), attempt(probability, p).flip(0))


@top_p.property(
    "what is kept keeps its proportions",
    hint="Divide each number that you return by the one that came in. For letters that are kept, "
    "this should be the same number.",
)
def _(attempt: Attempt, probability: Tensor, p: float) -> bool:
    answer = attempt(probability, p)
    kept = answer > 0
    return close(answer, probability * kept / (probability * kept).sum())


@top_p.property(
    "what is kept had p or more together",
    hint="Add up, of the distribution that came in, the letters that you keep. Is the one that "
    "crosses the line among them?",
)
def _(attempt: Attempt, probability: Tensor, p: float) -> bool:
    return bool(probability[attempt(probability, p) > 0].sum() >= p)


@top_p.property(
    "no smaller set would do",
    hint="Leave the least probable of the letters that you keep out: do the others have p together "
    "already?",
)
def _(attempt: Attempt, probability: Tensor, p: float) -> bool:
    ranked = probability.sort(descending=True).values
    fewest = 1 + int((ranked.cumsum(0)[:-1] < p).sum())
    return int((attempt(probability, p) > 0).sum()) <= fewest
