"""The checkers of lecture 1: softmax, soft lookup, hard lookup."""

import math
from collections.abc import Callable

import torch
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional as F

from course_lib.exercises._checker import Attempt, Exercise, close, recognised, within
from course_lib.exercises._inputs import NUMBERS, SIZES, tensors


@st.composite
def _scores(draw: Callable, numbers: tuple = NUMBERS) -> tuple[Tensor]:
    rows = (draw(SIZES),) if draw(st.booleans()) else ()
    return (draw(tensors(*rows, draw(SIZES), numbers=numbers)),)


softmax = Exercise(
    "softmax",
    "softmax(score): weights along the last axis, from scores of shape (n,) or (rows, n).",
    inputs=_scores(),
    shape=lambda score: score.shape,
)


@softmax.property(
    "no weight is negative",
    hint="A score may be negative, a weight may not. Which function makes any number positive?",
)
def _(attempt: Attempt, score: Tensor) -> bool:
    return bool((attempt(score) >= 0).all())


@softmax.property(
    "the weights along the last axis sum to one",
    hint="Which total do you divide by? Is it that of the last axis, one for each row?",
)
def _(attempt: Attempt, score: Tensor) -> bool:
    total = attempt(score).sum(dim=-1)
    return close(total, torch.ones_like(total))


@softmax.property(
    "adding the same number to all scores changes no weight",
    hint="Only differences between scores may count. Where else does the size of a score enter?",
)
def _(attempt: Attempt, score: Tensor) -> bool:
    return close(attempt(score), attempt(score + 1))


@softmax.property(
    "a score that is ln 2 = 0.6931 above another weighs twice as much",
    hint="Differences of scores become ratios of weights. Which function turns + into ×, "
    "and to which base?",
    inputs=_scores(numbers=(0.0, math.log(2), 2 * math.log(2))),
)
def _(attempt: Attempt, score: Tensor) -> bool:
    return close(attempt(score), F.softmax(score, dim=-1))


@softmax.property(
    "scores as large as 10,000 give weights, not nan",
    hint="exp(10,000) is too large for a float. An earlier property says what you may do to all "
    "scores of a row at once without changing any weight.",
    inputs=_scores(numbers=(0.0, 1e4, -1e4)),
)
def _(attempt: Attempt, score: Tensor) -> bool:
    return close(attempt(score), F.softmax(score, dim=-1))


@st.composite
def _lookups(draw: Callable, *, keys: int | None = None) -> tuple[Tensor, Tensor, Tensor]:
    d, count, d_value = draw(SIZES), keys or draw(SIZES), draw(SIZES)
    return draw(tensors(d)), draw(tensors(count, d)), draw(tensors(count, d_value))


def _lookup_shape(query: Tensor, keys: Tensor, values: Tensor) -> tuple[int, ...]:  # noqa: ARG001
    return values.shape[1:]


soft_lookup = Exercise(
    "soft_lookup",
    "soft_lookup(query, keys, values): blend the values, weighing each by the softmax of the dot "
    "product of its key with the query, not scaled. Shapes: (d,), (n, d), (n, d_value) to "
    "(d_value,).",
    inputs=_lookups(),
    shape=_lookup_shape,
)
hard_lookup = Exercise(
    "hard_lookup",
    "hard_lookup(query, keys, values): the value whose key has the largest dot product with the "
    "query. Shapes: (d,), (n, d), (n, d_value) to (d_value,).",
    inputs=_lookups(),
    shape=_lookup_shape,
)


@hard_lookup.property(
    "with one key, its value comes back",
    hint="There is nothing to choose from. Do you return a value, or a key, or a score?",
    inputs=_lookups(keys=1),
)
@soft_lookup.property(
    "with one key, its value comes back",
    hint="Weights sum to one, so a single key gets all of it. What do you blend, and over what?",
    inputs=_lookups(keys=1),
)
def _(attempt: Attempt, query: Tensor, keys: Tensor, values: Tensor) -> bool:
    return close(attempt(query, keys, values), values[0])


@soft_lookup.property(
    "a query of zeros, which prefers no key, gets the mean of the values",
    hint="Equal scores make equal weights, one for each key. Along which axis do they sum to one?",
)
def _(attempt: Attempt, query: Tensor, keys: Tensor, values: Tensor) -> bool:
    return close(attempt(torch.zeros_like(query), keys, values), values.mean(dim=0))


@soft_lookup.property(
    "the answer lies between the smallest and the largest value",
    hint="Weights that are not negative and sum to one cannot leave the range of the values.",
)
def _(attempt: Attempt, query: Tensor, keys: Tensor, values: Tensor) -> bool:
    return within(attempt(query, keys, values), values)


@soft_lookup.property(
    "reversing the order of keys and values together changes nothing",
    hint="A lookup goes by the numbers of a key, not by its place. What depends on the place?",
)
def _(attempt: Attempt, query: Tensor, keys: Tensor, values: Tensor) -> bool:
    return close(attempt(query, keys, values), attempt(query, keys.flip(0), values.flip(0)))


@soft_lookup.property(
    "the weights are the softmax of the dot products of query and keys",
    hint="Look at the scores alone: print them for this input, and work one out by hand.",
)
def _(attempt: Attempt, query: Tensor, keys: Tensor, values: Tensor) -> bool | str:
    answer, score = attempt(query, keys, values), keys @ query

    def blended(score: Tensor) -> Tensor:
        return score.softmax(dim=0) @ values

    return close(answer, blended(score)) or recognised(
        answer,
        {
            "A key twice as long has twice the dot product with the query. Does yours, or does "
            "the length of the key cancel?": blended(_cosine(query, keys)),
            "Your scores seem to be scaled by the number of features. Lecture 2 does that; here "
            "the dot product is taken as it is.": blended(score / len(query) ** 0.5),
            "Your scores seem to be distances. Of two keys that point the query's way, the longer "
            "has the larger dot product.": blended(-_distance(query, keys)),
            "The keys that fit worst weigh the most. Look at the sign of the scores.": blended(
                -score
            ),
        },
    )


@hard_lookup.property(
    "the answer is one of the values, as it stands",
    hint="A hard lookup blends nothing: it finds one place, and returns what is there.",
)
def _(attempt: Attempt, query: Tensor, keys: Tensor, values: Tensor) -> bool:
    answer = attempt(query, keys, values)
    return any(close(answer, value) for value in values)


@hard_lookup.property(
    "a key equal to the query wins over a key of zeros",
    hint="You seem to pick the key that fits worst. Look at the sign of the scores.",
    inputs=_lookups(keys=2),
)
def _(attempt: Attempt, query: Tensor, keys: Tensor, values: Tensor) -> bool:
    keys = torch.stack([torch.zeros_like(query), query])
    return not query.any() or close(attempt(query, keys, values), values[1])


@hard_lookup.property(
    "twice the query, as a key, wins over the query itself",
    hint="Of two keys that point the query's way, the longer has the larger dot product. Does its "
    "length cancel in your scores, or do you pick the nearest?",
    inputs=_lookups(keys=2),
)
def _(attempt: Attempt, query: Tensor, keys: Tensor, values: Tensor) -> bool:
    keys = torch.stack([query, 2 * query])
    return not query.any() or close(attempt(query, keys, values), values[1])


@hard_lookup.property(
    "no other key has a larger dot product with the query",
    hint="Look at the scores alone: print them for this input, and see which one you pick.",
)
def _(attempt: Attempt, query: Tensor, keys: Tensor, values: Tensor) -> bool:
    answer, score = attempt(query, keys, values), keys @ query
    best = values[score == score.max()]  # on a tie, any of the best will do
    return any(close(answer, value) for value in best)


def _cosine(query: Tensor, keys: Tensor) -> Tensor:
    return F.cosine_similarity(query, keys, dim=-1)


def _distance(query: Tensor, keys: Tensor) -> Tensor:
    return (keys - query).square().sum(dim=-1)
