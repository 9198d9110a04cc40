"""Each claim of lecture 5 holds for the library and falls to an implementation that is wrong."""

from functools import partial

import nbformat
import pytest
import torch
from claims import COMMON, LECTURES, check, claims
from torch import Tensor

from course_lib import position as library
from course_lib import transformer_parts
from course_lib.transformer import Encoder, TokenEmbedding

LECTURE = "05_position"
LONG = 128


def reader_with(names: dict[str, object]) -> type:
    """The reader of the lecture, whose cell may look names up in ``names``."""
    cells = nbformat.read(LECTURES / f"{LECTURE}.ipynb", as_version=4).cells
    (cell,) = (cell for cell in cells if "class Reader(" in cell.source)
    defined = {**COMMON, **names, "partial": partial}
    exec(cell.source, defined)  # noqa: S102
    return defined["Reader"]


def same_along_diagonals(scores: Tensor) -> bool:
    return torch.allclose(scores[1:, 1:], scores[:-1, :-1])


def near(tokens: int, reach: int) -> Tensor:
    place = torch.arange(tokens)
    return (place[:, None] - place).abs() < reach


def check_with(label: str, wrong: dict[str, object]) -> None:
    """Run the cell of a claim with what the cells before it define, and with these names wrong."""
    names = {
        **vars(library),
        "TokenEmbedding": TokenEmbedding,
        "Encoder": Encoder,
        "KINDS": ("none", "learned", "sinusoidal", "rotary"),
        "DOUBLE": {"dtype": torch.float64},
        "d": 16,
        "same_along_diagonals": same_along_diagonals,
        "near": near,
        "LONG": LONG,
        **wrong,
    }
    names["Reader"] = reader_with(names)
    torch.manual_seed(0)
    names["held_out"] = torch.randint(26, (LONG,))
    names["guessers"] = {
        (kind, 0): names["Reader"](kind, 27, tokens=LONG) for kind in ("rotary", "sinusoidal")
    }
    check(LECTURE, label, names)


# Wrong tables and turns -------------------------------------------------------------------------


def without_cosines(tokens: int, d_model: int, **options: object) -> Tensor:
    table = library.sinusoidal(tokens, d_model, **options)
    return table[:, ::2].repeat_interleave(2, dim=1)


def shift_back(offset: int, d_model: int, **options: object) -> Tensor:
    return library.shift_matrix(offset, d_model, **options).T


def added(x: Tensor, *, position: Tensor, base: float = 10_000) -> Tensor:
    return x + library.sinusoidal_at(position.double(), x.shape[-1], base=base).to(x)


class Placeless(TokenEmbedding):
    """A token does not know its place, whatever was asked."""

    def forward(self, ids: Tensor, *, start: int = 0) -> Tensor:  # noqa: ARG002
        return self.token(ids)


# Wrong biases -----------------------------------------------------------------------------------


def by_place_of_the_key(tokens: int, heads: int) -> Tensor:
    return library.alibi_bias(tokens, heads)[:, :1].expand(-1, tokens, -1)


# What was tried, the claim, the names of the lecture that are wrong, and those of the encoder.
WRONG = {
    "positions left out": ("prop-bag", {"TokenEmbedding": Placeless}, {}),
    "a shift back": ("prop-shift", {"shift_matrix": shift_back}, {}),
    "another base": ("prop-difference", {"sinusoidal": partial(library.sinusoidal, base=1000)}, {}),
    "sines alone under a map": ("prop-mixed", {"sinusoidal": without_cosines}, {}),
    "added, not turned": ("prop-rotary", {"rotary": added}, {}),
    "an encoder that adds": ("prop-nowhere", {}, {"rotary": added}),
    "a cost of the key's place": ("prop-mirror", {"alibi_bias": by_place_of_the_key}, {}),
    "a window too wide": ("prop-window", {"near": lambda t, reach: near(t, reach + 1)}, {}),
}


@pytest.mark.parametrize("label", claims(LECTURE))
def test_a_claim_holds_for_the_library_and_falls_to_a_wrong_implementation(
    label: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_with(label, {})
    wrong = [(names, inside) for claim, names, inside in WRONG.values() if claim == label]
    assert wrong
    for names, inside in wrong:
        with monkeypatch.context() as patch:
            for name, value in inside.items():
                patch.setattr(transformer_parts, name, value)
            with pytest.raises(AssertionError):
                check_with(label, names)
