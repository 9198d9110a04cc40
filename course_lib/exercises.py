"""The checkers of the exercises: ``from course_lib.exercises import check``, ``check.softmax(fn)``.

An attempt gets a result that is true or false and shows the smallest counterexample and a hint.
How to add a checker: see :mod:`course_lib.checker`.
"""

import math
from collections.abc import Callable
from functools import cache, wraps

import torch
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional as F

from course_lib.checker import Exercise, Result, check, close
from course_lib.mechanics import (
    CoupledOscillators,
    HamiltonianSystem,
    HarmonicOscillator,
    Pendulum,
)

__all__ = ["check"]

Attempt = Callable[..., Tensor]

NUMBERS = (0.0, 1.0, -1.0, 2.0, -2.0, 3.0)  # the simplest first, where shrinking leads
SIZES = st.sampled_from((1, 2, 3))


@st.composite
def tensors(draw: Callable, *shape: int, numbers: tuple = NUMBERS) -> Tensor:
    """Draw a float32 tensor of few, round numbers."""
    return torch.tensor(draw(_lists(math.prod(shape), numbers))).reshape(shape)


@cache
def _lists(count: int, numbers: tuple) -> st.SearchStrategy[list]:
    return st.lists(st.sampled_from(numbers), min_size=count, max_size=count)


# Lecture 1: soft lookup ----------------------------------------------------------------------


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
    return _within(attempt(query, keys, values), values)


@soft_lookup.property(
    "reversing the order of keys and values together changes nothing",
    hint="A lookup goes by what a key says, not by where it stands. What depends on the place?",
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

    return close(answer, blended(score)) or _recognised(
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


# Lecture 2: self-attention and many heads ----------------------------------------------------


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
    return _within(attempt(query, key, value), value)


@attention.property(
    "reversing the order of the queries reverses the answers",
    hint="Each query is answered for itself. What does one query know of the others?",
)
def _(attempt: Attempt, query: Tensor, key: Tensor, value: Tensor) -> bool:
    return close(attempt(query, key, value).flip(0), attempt(query.flip(0), key, value))


@attention.property(
    "reversing the order of keys and values together changes nothing",
    hint="Attention goes by what a key says, not by where it stands. What depends on the place?",
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
    return close(answer, blended(score / d**0.5)) or _recognised(
        answer,
        {
            f"Your scores seem not to be scaled: {spread}": blended(score),
            f"Your scores seem to be divided by d: {spread}": blended(score / d),
            f"Your scores seem to be multiplied by a scale: {spread}": blended(score * d**0.5),
            "Which length belongs in the scale: that of the vectors in the dot product, or that "
            "of the values?": blended(score / value.shape[1] ** 0.5),
            "Your scale goes by the number of keys. What does the spread of one dot product know "
            "of them?": blended(score / len(key) ** 0.5),
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
    "order of memory, and knows nothing of tokens.",
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


# What the properties share -------------------------------------------------------------------


def _within(answer: Tensor, values: Tensor) -> bool:
    low, high = values.amin(dim=0) - 1e-4, values.amax(dim=0) + 1e-4
    return bool(((low <= answer) & (answer <= high)).all())


def _recognised(answer: Tensor, mistakes: dict[str, Tensor]) -> bool | str:
    """The hint whose typical mistake gives this very answer, or False."""
    return next((hint for hint, wrong in mistakes.items() if close(answer, wrong)), False)


def _cosine(query: Tensor, keys: Tensor) -> Tensor:
    return F.cosine_similarity(query, keys, dim=-1)


def _distance(query: Tensor, keys: Tensor) -> Tensor:
    return (keys - query).square().sum(dim=-1)


# Lecture 11: Hamiltonian mechanics -----------------------------------------------------------


class _Stepping(Exercise):
    """A checker whose attempts answer with a pair, q and p, here one above the other."""

    def __call__(self, attempt: object) -> Result:
        if self._misuse(attempt):
            return super().__call__(attempt)

        # A wrong pair fails in the first line, which is then shown as the line that failed.
        @wraps(attempt)
        def paired(system: object, q: Tensor, p: Tensor, dt: float) -> Tensor:
            q, p = attempt(system, q, p, dt)
            return torch.stack([torch.as_tensor(q), torch.as_tensor(p)])

        paired.__name__ = getattr(attempt, "__name__", type(attempt).__name__)
        return super().__call__(paired)


STEPS = (0.5, 1.0, 0.25)
TINY = 0.001
LEEWAY = 50 * TINY  # a step of order one misses by a few times dt, float32 by less
SHORT = 1 / 512


@st.composite
def _moving(
    draw: Callable,
    *systems: HamiltonianSystem,
    states: int = 0,
    steps: tuple = STEPS,
    numbers: tuple = NUMBERS,
) -> tuple[HamiltonianSystem, Tensor, Tensor, float]:
    """Draw a system, a state or several of them, and a step."""
    system = draw(st.sampled_from(systems))
    shape = (states, system.dim) if states else (system.dim,)
    q, p = (draw(tensors(*shape, numbers=numbers)) for _ in "qp")
    return system, q, p, draw(st.sampled_from(steps))


@st.composite
def _corners(
    draw: Callable, *systems: HamiltonianSystem, side: float = 1.0
) -> tuple[HamiltonianSystem, Tensor, Tensor, float]:
    """Draw a state and the ends of two arrows from it, as a batch of three states."""
    system, q, p, dt = draw(_moving(*systems, states=3))
    q[1:], p[1:] = q[0] + side * q[1:], p[0] + side * p[1:]
    return system, q, p, dt


symplectic_stepper = _Stepping(
    "symplectic_stepper",
    "symplectic_stepper(system, q, p, dt): one step of length dt, as the pair q, p, symplectic for "
    "every system of the form H = T(p) + V(q). Shapes: (*batch, dim), as they came. The system "
    "offers grad_q(q, p) and grad_p(q, p).",
    inputs=_moving(HarmonicOscillator(), Pendulum(), CoupledOscillators()),
    shape=lambda system, q, p, dt: (2, *q.shape),  # noqa: ARG005 - shown by name
)


@symplectic_stepper.property(
    "a tiny step goes where the field points",
    hint="Compare the change of q with dt times grad_p, and the change of p with dt times grad_q. "
    "Are the signs those of Hamilton's equations?",
    # Nothing is at rest, so that a missing drift or kick does not hide behind a zero.
    inputs=_moving(
        HarmonicOscillator(),
        Pendulum(),
        CoupledOscillators(),
        steps=(TINY,),
        numbers=(1.0, -1.0, 2.0),
    ),
)
def _(attempt: Attempt, system: HamiltonianSystem, q: Tensor, p: Tensor, dt: float) -> bool | str:
    q_dot, p_dot = system.field(q, p)
    went = (attempt(system, q, p, dt) - torch.stack([q, p])) / dt

    def along(q_dot: Tensor, p_dot: Tensor) -> bool:
        return bool(((went - torch.stack([q_dot, p_dot])).abs() <= LEEWAY).all())

    if along(q_dot, p_dot):
        return True
    for hint, wrong in {
        "You stay where you are. Do the new q and p leave your function?": (0 * q_dot, 0 * p_dot),
        "You follow the motion backwards. Look at both signs.": (-q_dot, -p_dot),
        "The force pushes the wrong way: which of Hamilton's two equations has a minus?": (
            q_dot,
            -p_dot,
        ),
        "You arrive twice as far as you should. How often do you drift and kick, and for how "
        "long each time?": (2 * q_dot, 2 * p_dot),
        "You arrive half as far as you should. Do your parts of a step add up to dt?": (
            q_dot / 2,
            p_dot / 2,
        ),
    }.items():
        if along(*wrong):
            return hint
    return False


@symplectic_stepper.property(
    "each state of a batch moves as it would alone",
    hint="Only the last axis belongs to one state. Where do states of a batch meet in your step?",
    inputs=_moving(Pendulum(), CoupledOscillators(), states=2),
)
def _(attempt: Attempt, system: HamiltonianSystem, q: Tensor, p: Tensor, dt: float) -> bool:
    together = attempt(system, q, p, dt)
    alone = [attempt(system, one_q, one_p, dt) for one_q, one_p in zip(q, p, strict=True)]
    return close(together, torch.stack(alone, dim=1))


@symplectic_stepper.property(
    "a parallelogram of states of the oscillator keeps its oriented area",
    hint="",
    inputs=_corners(HarmonicOscillator()),
)
def _(attempt: Attempt, system: HamiltonianSystem, q: Tensor, p: Tensor, dt: float) -> bool | str:
    return _keeps_area(attempt(system, q, p, dt), torch.stack([q, p]), slack=1e-4)


@symplectic_stepper.property(
    "a small parallelogram of states of the pendulum keeps its oriented area",
    hint="",
    inputs=_corners(Pendulum(), side=SHORT),
)
def _(attempt: Attempt, system: HamiltonianSystem, q: Tensor, p: Tensor, dt: float) -> bool | str:
    return _keeps_area(attempt(system, q, p, dt), torch.stack([q, p]), slack=0.01)


@symplectic_stepper.property(
    "with two pairs, the oriented areas in both planes keep their sum",
    hint="",
    inputs=_corners(CoupledOscillators(), side=SHORT),
)
def _(attempt: Attempt, system: HamiltonianSystem, q: Tensor, p: Tensor, dt: float) -> bool | str:
    return _keeps_area(attempt(system, q, p, dt), torch.stack([q, p]), slack=0.01)


def _keeps_area(after: Tensor, before: Tensor, *, slack: float) -> bool | str:
    """Whether the two arrows between three states span the area that they spanned before."""

    def area(states: Tensor) -> float:
        (u_q, v_q), (u_p, v_p) = (part[1:] - part[0] for part in states.double())
        return float((u_q * v_p - u_p * v_q).sum())

    def length(states: Tensor) -> float:
        return float((states[:, 1:] - states[:, :1]).double().square().sum())

    old, new = area(before), area(after)
    if abs(new - old) <= slack * (length(before) + length(after)):
        return True
    return (
        f"The three states are a corner and its two neighbours. The area was {old:.4g} and "
        f"becomes {new:.4g}. Which line of your step changes q by something that depends on q, "
        "or p by something that depends on p? Mind the old values, too."
    )
