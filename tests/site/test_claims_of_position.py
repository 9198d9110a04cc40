"""Each claim of lecture 5 holds for the library and falls to an implementation that is wrong."""

from functools import partial

import pytest
import torch
from claims import claims, holds_and_falls
from torch import Tensor

from course_lib import position as library
from course_lib.models.words import name_reader
from course_lib.transformer import TokenEmbedding
from course_lib.transformer import parts as transformer_parts

pytestmark = pytest.mark.slow

LECTURE = "05_position"


def same_along_diagonals(scores: Tensor) -> bool:
    return torch.allclose(scores[1:, 1:], scores[:-1, :-1])


def known() -> dict[str, object]:
    """Names from the cells before a claim."""
    torch.manual_seed(0)
    return {
        **vars(library),
        **vars(name_reader),
        "KINDS": ("none", "learned", "sinusoidal", "rotary"),
        "DOUBLE": {"dtype": torch.float64},
        "d": 16,
        "same_along_diagonals": same_along_diagonals,
        "held_out": torch.randint(26, (name_reader.LONG,)),
    }


# Wrong tables and turns -------------------------------------------------------------------------


def without_cosines(tokens: int, d_model: int, **options: object) -> Tensor:
    table = library.sinusoidal(tokens, d_model, **options)
    return table[:, ::2].repeat_interleave(2, dim=1)


def shift_back(offset: int, d_model: int, **options: object) -> Tensor:
    return library.shift_matrix(offset, d_model, **options).T


def added(x: Tensor, *, position: Tensor, base: float = 10_000) -> Tensor:
    return x + library.sinusoidal_at(position.double(), x.shape[-1], base=base).to(x)


class Placeless(TokenEmbedding):
    """Ignores the position encoding."""

    def forward(self, ids: Tensor, *, start: int = 0) -> Tensor:  # noqa: ARG002
        return self.token(ids)


# Wrong biases -----------------------------------------------------------------------------------


def by_place_of_the_key(tokens: int, heads: int) -> Tensor:
    return library.alibi_bias(tokens, heads)[:, :1].expand(-1, tokens, -1)


def too_wide(tokens: int, reach: int) -> Tensor:
    return name_reader.near(tokens, reach + 1)


WRONG = {
    "positions left out": ("prop-bag", {(name_reader, "TokenEmbedding"): Placeless}),
    "a shift back": ("prop-shift", {"shift_matrix": shift_back}),
    "another base": ("prop-difference", {"sinusoidal": partial(library.sinusoidal, base=1000)}),
    "sines alone under a map": ("prop-mixed", {"sinusoidal": without_cosines}),
    "added, not turned": ("prop-rotary", {"rotary": added}),
    "an encoder that adds": ("prop-nowhere", {(transformer_parts, "rotary"): added}),
    "a cost of the key's place": (
        "prop-mirror",
        {(name_reader, "alibi_bias"): by_place_of_the_key},
    ),
    "a window too wide": ("prop-window", {"near": too_wide}),
}


@pytest.mark.parametrize("label", claims(LECTURE))
def test_a_claim_holds_for_the_library_and_falls_to_a_wrong_implementation(label: str) -> None:
    holds_and_falls(LECTURE, label, WRONG, known)
