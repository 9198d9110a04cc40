"""The checkers of lecture 5: sinusoids, and rotary positions."""

from collections.abc import Callable

import torch
from hypothesis import strategies as st
from torch import Tensor

from course_lib import position as library
from course_lib.exercises._checker import Attempt, Exercise, close, recognised
from course_lib.exercises._inputs import SIZES, tensors

PAIRS = st.sampled_from((1, 2, 3))


def _by_hand(tokens: int, frequency: Tensor) -> Tensor:
    """Sine and cosine in turn, of the angle of each position at each frequency."""
    angle = torch.arange(float(tokens))[:, None] * frequency
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(-2)


sinusoidal = Exercise(
    "sinusoidal",
    "sinusoidal(tokens, d_model): the sinusoids of the positions 0, 1, 2, … with base 10,000, of "
    "shape (tokens, d_model). d_model is even; sine and cosine take turns, the sine first.",
    inputs=st.tuples(st.integers(1, 5), PAIRS.map(lambda pairs: 2 * pairs)),
    shape=lambda tokens, d_model: (tokens, d_model),
)


@sinusoidal.property(
    "at position 0 every hand has sine 0 and cosine 1",
    hint="Positions count from 0, and the sine of a pair stands before its cosine. What are sine "
    "and cosine of an angle of 0?",
)
def _(attempt: Attempt, tokens: int, d_model: int) -> bool:
    return close(attempt(tokens, d_model)[0], torch.tensor([0.0, 1.0]).repeat(d_model // 2))


@sinusoidal.property(
    "every pair of features is a hand of length 1",
    hint="Sine and cosine of one and the same angle make a hand. Do both features of a pair turn "
    "with one frequency in your table?",
)
def _(attempt: Attempt, tokens: int, d_model: int) -> bool:
    hands = attempt(tokens, d_model).unflatten(-1, (-1, 2))
    return close(hands.square().sum(-1), torch.ones(tokens, d_model // 2))


@sinusoidal.property(
    "the first hand turns by 1 radian from each position to the next",
    hint="What is 10,000 to the power of 0, and which pair is that?",
)
def _(attempt: Attempt, tokens: int, d_model: int) -> bool:
    return close(attempt(tokens, d_model)[:, :2], _by_hand(tokens, torch.ones(1)))


@sinusoidal.property(
    "each hand turns at the frequency of its pair",
    hint="Write down the frequencies of this table, one a pair. By what factor does each differ "
    "from the one before?",
)
def _(attempt: Attempt, tokens: int, d_model: int) -> bool | str:
    answer = attempt(tokens, d_model)
    pair = torch.arange(d_model // 2)
    return close(answer, library.sinusoidal(tokens, d_model)) or recognised(
        answer,
        {
            "Your hands get faster from pair to pair. Which sign does the exponent have?": _by_hand(
                tokens, 10_000.0 ** (2 * pair / d_model)
            ),
            "Your frequencies fall half as fast as they should: pair i begins at feature 2i.": (
                _by_hand(tokens, 10_000.0 ** (-pair / d_model))
            ),
            "All your hands turn alike. Where does the pair enter your angle?": _by_hand(
                tokens, torch.ones(d_model // 2)
            ),
        },
    )


@st.composite
def _placed(draw: Callable, *, start: bool = False) -> tuple[Tensor, Tensor]:
    """Tokens of one to three pairs, and where each of them stands."""
    tokens, pairs = draw(SIZES), draw(PAIRS)
    place = st.just(0) if start else st.sampled_from((0, 1, 2, 5))
    position = draw(st.lists(place, min_size=tokens, max_size=tokens))
    return draw(tensors(tokens, 2 * pairs)), torch.tensor(position)


rotary = Exercise(
    "rotary",
    "rotary(x, position): each pair of features of each token, turned by the angle of its pair at "
    "the position of the token, with base 10,000. Shapes: (tokens, d) and (tokens,) to "
    "(tokens, d); d is even, and a pair is two neighbours.",
    inputs=_placed(),
    shape=lambda x, position: x.shape,  # noqa: ARG005 - shown by name
)


def _turned(x: Tensor, position: Tensor, frequency: Tensor) -> Tensor:
    """The pairs of x as complex numbers, each times a number of length 1."""
    angle = position[:, None] * frequency
    hands = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
    return torch.view_as_real(hands * torch.polar(torch.ones_like(angle), angle)).flatten(-2)


@rotary.property(
    "a token turns by its position, not by its row",
    hint="Give all tokens the same position, and reverse the rows. What should happen to the "
    "answer?",
)
def _(attempt: Attempt, x: Tensor, position: Tensor) -> bool:
    return close(attempt(x, position).flip(0), attempt(x.flip(0), position.flip(0)))


@rotary.property(
    "a token at position 0 stays as it is",
    hint="The angle is a product with the position. Which angle is that at 0? And does what you "
    "took apart come together again in the same order?",
    inputs=_placed(start=True),
)
def _(attempt: Attempt, x: Tensor, position: Tensor) -> bool:
    return close(attempt(x, position), x)


@rotary.property(
    "every token keeps its length",
    hint="A turn makes nothing longer or shorter. Both new features of a pair come from the two "
    "old ones: are these still the old ones when you use them? And do both products have the "
    "same sign in both lines?",
)
def _(attempt: Attempt, x: Tensor, position: Tensor) -> bool:
    return close(attempt(x, position).norm(dim=-1), x.norm(dim=-1))


@rotary.property(
    "all scores stay when all tokens move on by 1",
    hint="The score of two tokens must not change when both get the same additional turn. Is one "
    "position always worth the same angle?",
)
def _(attempt: Attempt, x: Tensor, position: Tensor) -> bool:
    here, there = attempt(x, position), attempt(x, position + 1)
    return close(here @ here.T, there @ there.T)


@rotary.property(
    "each pair turns by its frequency times the position, from the first feature to the second",
    hint="Take the token (1, 0) at position 1 and turn it by hand. Then a token with more pairs: "
    "which frequency has each?",
)
def _(attempt: Attempt, x: Tensor, position: Tensor) -> bool | str:
    answer, d = attempt(x, position), x.shape[1]
    pair = torch.arange(d // 2)
    right = 10_000.0 ** (-2 * pair / d)
    halves = torch.cat([x[:, : d // 2, None], x[:, d // 2 :, None]], dim=-1).flatten(-2)
    apart = _turned(halves, position, right).unflatten(-1, (-1, 2)).mT.flatten(-2)
    return close(answer, library.rotary(x, position=position)) or recognised(
        answer,
        {
            "You turn the other way round.": library.rotary(x, position=-position),
            "You pair a feature with the one half the features away. Some libraries do, and it "
            "works as well, but here a pair is two neighbours.": apart,
            "All your pairs turn alike. Where does the pair enter your angle?": _turned(
                x, position, torch.ones(d // 2)
            ),
            "Your hands get faster from pair to pair. Which sign does the exponent have?": _turned(
                x, position, 10_000.0 ** (2 * pair / d)
            ),
            "Your frequencies fall half as fast as they should: pair i begins at feature 2i.": (
                _turned(x, position, 10_000.0 ** (-pair / d))
            ),
        },
    )
