"""The checkers of lecture 15: a step of the online softmax, merging reports, counting bytes."""

import math
from collections.abc import Callable

import torch
from hypothesis import strategies as st
from torch import Tensor

from course_lib.exercises._checker import Attempt, Exercise, close, recognised
from course_lib.exercises._inputs import SIZES, tensors

NOTHING = (torch.tensor(-math.inf), torch.tensor(0.0))  # the maximum and the total of no score


def _seen(score: Tensor) -> tuple[Tensor, Tensor]:
    """The maximum and the total of these scores."""
    return score.max(), (score - score.max()).exp().sum()


# A step of the online softmax --------------------------------------------------------------------


@st.composite
def _steps(draw: Callable) -> tuple[Tensor, Tensor, Tensor]:
    maximum, total = _seen(draw(tensors(draw(SIZES))))
    return maximum, total, draw(tensors(draw(SIZES)))


@st.composite
def _first_steps(draw: Callable) -> tuple[Tensor, Tensor, Tensor]:
    return *NOTHING, draw(tensors(draw(SIZES)))


@st.composite
def _large_steps(draw: Callable) -> tuple[Tensor, Tensor, Tensor]:
    maximum, total, score = draw(_steps())
    return 1000 + maximum, total, 1000 + score


online_softmax = Exercise(
    "online_softmax",
    "online_softmax(maximum, total, score): the maximum of all scores so far and their total, the "
    "sum of exponentials of score − maximum, once the scores of a new tile, of shape (keys,), have "
    "come. The answer is one tensor, (maximum, total).",
    inputs=_steps(),
    shape=lambda maximum, total, score: (2,),  # noqa: ARG005 - shown by name
)


@online_softmax.property(
    "at the start, with maximum = -inf and total = 0, only the new scores count",
    hint="The exponential of -inf is 0. Is there a difference of two infinities in your formula?",
    inputs=_first_steps(),
)
def _(attempt: Attempt, maximum: Tensor, total: Tensor, score: Tensor) -> bool:
    return close(attempt(maximum, total, score), torch.stack(_seen(score)))


@online_softmax.property(
    "the new maximum is the larger one of the old maximum and all new scores",
    hint="A tile may hold nothing larger than what you have seen before. What stays then?",
)
def _(attempt: Attempt, maximum: Tensor, total: Tensor, score: Tensor) -> bool:
    return close(attempt(maximum, total, score)[0], torch.maximum(maximum, score.amax()))


@online_softmax.property(
    "the total is the sum over old and new scores, each minus the new maximum",
    hint="Take two scores, one in each tile, and work out the total by hand.",
)
def _(attempt: Attempt, maximum: Tensor, total: Tensor, score: Tensor) -> bool | str:
    found = attempt(maximum, total, score)
    higher = torch.maximum(maximum, score.amax())
    new = (score - higher).exp().sum()
    true = (maximum - higher).exp() * total + new
    return close(found[1], true) or recognised(
        found[1],
        {
            "The old total was added up with the old maximum. In which unit are the terms that "
            "you add to it?": total + new,
            "Your total holds the new scores alone. What became of the old ones?": new,
            "The new scores seem to be taken relative to the maximum of their own tile.": (
                (maximum - higher).exp() * total + (score - score.amax()).exp().sum()
            ),
            "Your factor for the old total is upside down: that can only shrink.": (
                (higher - maximum).exp() * total + new
            ),
            "You rescale the sum of both, and the new scores need no factor.": (
                (maximum - higher).exp() * (total + new)
            ),
        },
    )


@online_softmax.property(
    "scores of a thousand do not overflow",
    hint="No exponent may be above 0. Which of yours is?",
    inputs=_large_steps(),
)
def _(attempt: Attempt, maximum: Tensor, total: Tensor, score: Tensor) -> bool:
    smaller = attempt(maximum - 1000, total, score - 1000)
    return close(attempt(maximum, total, score), smaller + torch.tensor([1000.0, 0.0]))


# Merging two reports -----------------------------------------------------------------------------


def _report(score: Tensor, value: Tensor) -> Tensor:
    """Maximum, total and blend of these keys; of none, -inf and zeros."""
    if not len(score):
        return torch.cat([torch.stack(NOTHING), torch.zeros(value.shape[1])])
    weight = (score - score.amax()).exp()
    return torch.cat([score.amax()[None], weight.sum()[None], weight @ value])


@st.composite
def _reports(draw: Callable, *, keys: tuple = (1, 2, 3), offset: float | int = 0) -> tuple:
    d = draw(SIZES)
    counts = (draw(st.sampled_from(keys)) for _ in range(2))
    return tuple(_report(offset + draw(tensors(n)), draw(tensors(n, d))) for n in counts)


merge_partials = Exercise(
    "merge_partials",
    "merge_partials(first, second): one report on all keys from reports on two parts of them. A "
    "report is a tensor of shape (2 + d,): the maximum m of the scores, the sum of their weights, "
    "which are the exponentials of score − m, and the sum of the values times these weights.",
    inputs=_reports(),
    shape=lambda first, second: first.shape,  # noqa: ARG005 - shown by name
)


@merge_partials.property(
    "the maximum is the larger one of both",
    hint="Look at the first number of each report, and at yours.",
)
def _(attempt: Attempt, first: Tensor, second: Tensor) -> bool:
    return close(attempt(first, second)[0], torch.maximum(first[0], second[0]))


@merge_partials.property(
    "the order of the two does not matter",
    hint="The first may have the larger maximum, or the second. Which of them did you have in "
    "mind?",
)
def _(attempt: Attempt, first: Tensor, second: Tensor) -> bool:
    return close(attempt(first, second), attempt(second, first))


@merge_partials.property(
    "the sum of weights is that over all keys, relative to the new maximum",
    hint="Let one maximum be 0 and the other 1, and both sums 1. Work out the new sum by hand.",
)
def _(attempt: Attempt, first: Tensor, second: Tensor) -> bool | str:
    found, (left, right) = attempt(first, second)[1], _sums(first, second)
    return close(found, (left + right)[0]) or recognised(
        found,
        {
            "The sums seem to be added as they are. Each is written in the unit of its own "
            "maximum; what is the unit of your answer?": first[1] + second[1]
        },
    )


@merge_partials.property(
    "the blend of values is that over all keys, with the same weights",
    hint="Values come with the weights of the sum. What is done to a weight is done to its value.",
)
def _(attempt: Attempt, first: Tensor, second: Tensor) -> bool | str:
    found, (left, right) = attempt(first, second)[2:], _sums(first, second)
    mean = (left[1:] + right[1:]) / (left + right)[0]
    return close(found, (left + right)[1:]) or recognised(
        found,
        {
            "The blends seem to be added as they are, though the sums are not.": (
                first[2:] + second[2:]
            ),
            "You have divided already. Can two quotients still be merged with a third?": mean,
        },
    )


@merge_partials.property(
    "scores of a thousand do not overflow",
    hint="No exponent may be above 0. Which of yours is?",
    inputs=_reports(offset=1000.0),
)
def _(attempt: Attempt, first: Tensor, second: Tensor) -> bool:
    left, right = _sums(first, second)
    return close(attempt(first, second)[1:], left + right)


@merge_partials.property(
    "a report on no keys, (-inf, 0, 0, …), changes nothing",
    hint="If both have seen nothing, what is the difference of their maxima? And what would you "
    "like the answer to be?",
    inputs=_reports(keys=(0, 1)),
)
def _(attempt: Attempt, first: Tensor, second: Tensor) -> bool:
    found = attempt(first, second)
    one = second if first[0] == -math.inf else first
    return -math.inf not in {first[0].item(), second[0].item()} or close(found, one)


def _sums(first: Tensor, second: Tensor) -> tuple[Tensor, Tensor]:
    """The sums of each report in the unit of the larger maximum."""
    maximum = torch.maximum(first[0], second[0])
    return (first[0] - maximum).exp() * first[1:], (second[0] - maximum).exp() * second[1:]


# Counting bytes ----------------------------------------------------------------------------------


@st.composite
def _sizes(
    draw: Callable, *, tiles: tuple | None = None, keys: tuple = (1, 2, 5), d: tuple = (1, 2, 3)
) -> tuple[int, int, int, int]:
    query_tile = draw(st.sampled_from((1, 2, 3, 4)))
    if tiles is None:
        queries = draw(st.sampled_from(range(1, 10)))
    else:
        queries = query_tile * draw(st.sampled_from(tiles))
    return queries, draw(st.sampled_from(keys)), draw(st.sampled_from(d)), query_tile


attention_bytes = Exercise(
    "attention_bytes",
    "attention_bytes(query, key, d, query_tile): the bytes that attention moves in half precision, "
    "by the formula and in tiles, from the numbers of queries, keys, features and of queries in a "
    "tile. The answer is one floating-point tensor, (formula, tiles).",
    inputs=_sizes(),
    shape=lambda query, key, d, query_tile: (2,),  # noqa: ARG005 - shown by name
)


@attention_bytes.property(
    "in one tile, every query, key, value and output moves exactly once",
    hint="Count the numbers of the four arrays that come in or go out. And how many bytes has a "
    "number in half precision?",
    inputs=_sizes(tiles=(1,)),
)
def _(attempt: Attempt, query: int, key: int, d: int, query_tile: int) -> bool | str:
    found = attempt(query, key, d, query_tile)[1]
    numbers = torch.tensor(2.0 * (query + key) * d)
    return close(found, 2 * numbers) or recognised(
        found,
        {
            "These are numbers, not bytes.": numbers,
            "These would be bytes in single precision.": 4 * numbers,
            "One of the four arrays seems to be missing: that of queries, or the output.": (
                2 * numbers - 2.0 * query * d
            ),
        },
    )


@attention_bytes.property(
    "every tile of queries fetches all keys and values once more",
    hint="A tile of queries cannot use what another one has fetched. How many tiles are there?",
    inputs=_sizes(tiles=(2, 3)),
)
def _(attempt: Attempt, query: int, key: int, d: int, query_tile: int) -> bool | str:
    found = attempt(query, key, d, query_tile)[1]
    tiles = query // query_tile
    return close(found, _in_tiles(query, key, d, tiles)) or recognised(
        found,
        {
            "Your queries come again with every tile. Each belongs to one tile only.": (
                torch.tensor(4.0 * (query + key) * d * tiles)
            ),
            "Your keys and values come once in all. Where would they wait for the next tile? "
            "There is no cache here.": _in_tiles(query, key, d, 1),
        },
    )


@attention_bytes.property(
    "a last tile that is not full is a tile too",
    hint="Three queries in tiles of two: how many tiles, and how often do the keys come?",
)
def _(attempt: Attempt, query: int, key: int, d: int, query_tile: int) -> bool:
    tiles = math.ceil(query / query_tile)
    return close(attempt(query, key, d, query_tile)[1], _in_tiles(query, key, d, tiles))


@attention_bytes.property(
    "by the formula, each operator reads what it needs and writes what it makes",
    hint="Write down the three operators. Which arrays does each read, and which does it write?",
    inputs=_sizes(keys=(3, 5), d=(2,)),  # where no two mistakes give the same number
)
def _(attempt: Attempt, query: int, key: int, d: int, query_tile: int) -> bool | str:
    found = attempt(query, key, d, query_tile)[0]
    small, table = (torch.tensor(x) for x in (4.0 * (query + key) * d, 2.0 * query * key))
    one_way = "Scores and weights have the same size. Which operator writes each, which reads it?"
    return close(found, small + 4 * table) or recognised(
        found,
        {
            one_way: small + 2 * table,
            "You count three trips of the large array. Scores make two; and weights?": (
                small + 3 * table
            ),
            "You count one trip of a large array; there are more.": small + table,
            "These are the trips of the large arrays. The small ones travel too.": 4 * table,
        },
    )


def _in_tiles(query: int, key: int, d: int, tiles: int) -> Tensor:
    return torch.tensor(4.0 * (query + key * tiles) * d)
