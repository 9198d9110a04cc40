"""The checkers of lecture 2: causal mask, attention, splitting heads."""

from collections.abc import Callable

import torch
from hypothesis import strategies as st
from torch import Tensor

from course_lib.exercises._checker import Attempt, Exercise, close, recognised, within
from course_lib.exercises._inputs import SIZES, tensors

causal_mask = Exercise(
    "causal_mask",
    "causal_mask(tokens): a boolean matrix of shape (tokens, tokens), True where the query of the "
    "row may look at the key of the column.",
    inputs=st.tuples(st.integers(1, 6)),
    shape=lambda tokens: (tokens, tokens),
    boolean=True,
)


@causal_mask.property(
    "every token may look at itself",
    hint="True means: may look. Some libraries write it the other way round. And is the present "
    "part of the past here?",
)
def _(attempt: Attempt, tokens: int) -> bool:
    return bool(attempt(tokens).diagonal().all())


@causal_mask.property(
    "every token may look at the tokens before it",
    hint="Rows are queries and columns are keys. In which triangle does the past lie?",
)
def _(attempt: Attempt, tokens: int) -> bool:
    mask = attempt(tokens)
    return all(bool(mask[query, :query].all()) for query in range(tokens))


@causal_mask.property(
    "no token may look at a token after it",
    hint="Read the first row: the first token has no past. How many keys may it see?",
)
def _(attempt: Attempt, tokens: int) -> bool:
    mask = attempt(tokens)
    return not any(bool(mask[query, query + 1 :].any()) for query in range(tokens))


@st.composite
def _sequences(draw: Callable, *, keys: int | None = None) -> tuple[Tensor, Tensor, Tensor]:
    queries, count = draw(SIZES), keys or draw(SIZES)
    d, d_value = draw(SIZES), draw(SIZES)
    return draw(tensors(queries, d)), draw(tensors(count, d)), draw(tensors(count, d_value))


attention = Exercise(
    "attention",
    "attention(query, key, value): scaled dot-product attention, without a mask. Shapes: "
    "(queries, d), (keys, d), (keys, d_value) to (queries, d_value).",
    inputs=_sequences(),
    shape=lambda query, key, value: (len(query), value.shape[1]),  # noqa: ARG005 - shown by name
)


@attention.property(
    "with one key, every query gets its value",
    hint="The weights of a query sum to one, so a single key gets all of it. Over which axis does "
    "your softmax run?",
    inputs=_sequences(keys=1),
)
def _(attempt: Attempt, query: Tensor, key: Tensor, value: Tensor) -> bool:
    return close(attempt(query, key, value), value.expand(len(query), -1))


@attention.property(
    "queries of zeros, which prefer no key, get the mean of the values",
    hint="Equal scores make equal weights, one for each key. Over which axis does your softmax "
    "run?",
)
def _(attempt: Attempt, query: Tensor, key: Tensor, value: Tensor) -> bool:
    answer = attempt(torch.zeros_like(query), key, value)
    return close(answer, value.mean(dim=0).expand(len(query), -1))


@attention.property(
    "every answer lies between the smallest and the largest value",
    hint="Weights that are not negative and sum to one cannot leave the range of the values.",
)
def _(attempt: Attempt, query: Tensor, key: Tensor, value: Tensor) -> bool:
    return within(attempt(query, key, value), value)


@attention.property(
    "reversing the order of the queries reverses the answers",
    hint="Each query is answered for itself. Where do queries mix in your code?",
)
def _(attempt: Attempt, query: Tensor, key: Tensor, value: Tensor) -> bool:
    return close(attempt(query, key, value).flip(0), attempt(query.flip(0), key, value))


@attention.property(
    "reversing the order of keys and values together changes nothing",
    hint="Attention goes by the numbers of a key, not by its place. What depends on the place?",
)
def _(attempt: Attempt, query: Tensor, key: Tensor, value: Tensor) -> bool:
    return close(attempt(query, key, value), attempt(query, key.flip(0), value.flip(0)))


@attention.property(
    "the weights are the softmax of the scaled dot products of query and key",
    hint="Look at the scores alone: print them for this input, and work one out by hand.",
)
def _(attempt: Attempt, query: Tensor, key: Tensor, value: Tensor) -> bool | str:
    answer, score, d = attempt(query, key, value), query @ key.T, query.shape[1]

    def blended(score: Tensor) -> Tensor:
        return score.softmax(dim=-1) @ value

    spread = "how fast does the spread of a dot product of d random numbers grow with d?"
    return close(answer, blended(score / d**0.5)) or recognised(
        answer,
        {
            f"Your scores seem not to be scaled: {spread}": blended(score),
            f"Your scores seem to be divided by d: {spread}": blended(score / d),
            f"Your scores seem to be multiplied by a scale: {spread}": blended(score * d**0.5),
            "Which length belongs in the scale: that of the vectors in the dot product, or that "
            "of the values?": blended(score / value.shape[1] ** 0.5),
            "Your scale goes by the number of keys. Does the spread of one dot product depend on "
            "it?": blended(score / len(key) ** 0.5),
        },
    )


@st.composite
def _to_split(draw: Callable) -> tuple[Tensor, int]:
    batch, tokens, heads, d = (draw(SIZES) for _ in range(4))
    numbers = torch.arange(batch * tokens * heads * d, dtype=torch.float32)
    return numbers.reshape(batch, tokens, heads * d), heads


split_heads = Exercise(
    "split_heads",
    "split_heads(x, heads): give every head its block of the features. Shape: (batch, tokens, "
    "d_model) to (batch, heads, tokens, d_model / heads).",
    inputs=_to_split(),
    shape=lambda x, heads: (x.shape[0], heads, x.shape[1], x.shape[2] // heads),
)


@split_heads.property(
    "every number of x is there once",
    hint="Splitting only rearranges. Where do you repeat a number, or drop one?",
)
def _(attempt: Attempt, x: Tensor, heads: int) -> bool:
    return torch.equal(attempt(x, heads).flatten().sort().values, x.flatten())


@split_heads.property(
    "in every head, row t holds features of token t alone",
    hint="Follow the first token: where did its features go? Reshape reads the numbers in the "
    "order of memory, not token by token.",
)
def _(attempt: Attempt, x: Tensor, heads: int) -> bool:
    by_token = attempt(x, heads).transpose(1, 2).flatten(2)
    return torch.equal(by_token.sort(dim=-1).values, x)


@split_heads.property(
    "the first head holds the first features of each token, in order, and so on",
    hint="Take one token with features 0 1 2 3 and two heads. Which features does the first head "
    "get, and which did yours get?",
)
def _(attempt: Attempt, x: Tensor, heads: int) -> bool:
    return torch.equal(attempt(x, heads).transpose(1, 2).flatten(2), x)
