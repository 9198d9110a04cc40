"""Each claim of lecture 5 holds for the library and falls to an implementation that is wrong."""

from collections.abc import Callable
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


def frequency_for_each_feature(tokens: int, d_model: int, **options: object) -> Tensor:
    feature = torch.arange(d_model, dtype=torch.float64)
    angle = torch.arange(tokens)[:, None] * 10_000 ** (-feature / d_model)
    return torch.where(feature % 2 == 0, angle.sin(), angle.cos()).to(options["dtype"])


def without_cosines(tokens: int, d_model: int, **options: object) -> Tensor:
    table = library.sinusoidal(tokens, d_model, **options)
    return table[:, ::2].repeat_interleave(2, dim=1)


def shift_back(offset: int, d_model: int, **options: object) -> Tensor:
    return library.shift_matrix(offset, d_model, **options).T


def shift_and_stretch(offset: int, d_model: int, **options: object) -> Tensor:
    return 1.1 * library.shift_matrix(offset, d_model, **options)


def turned(change: Callable[[Tensor], Tensor]) -> Callable:
    """Rotary positions that stand elsewhere."""

    def rotary(x: Tensor, *, position: Tensor | None = None, base: float = 10_000) -> Tensor:
        place = torch.arange(x.shape[-2]) if position is None else position
        return library.rotary(x, position=change(place.double()), base=base)

    return rotary


def pairs_in_halves(x: Tensor, *, position: Tensor, base: float = 10_000) -> Tensor:
    mixed = x.unflatten(-1, (2, -1)).mT.flatten(-2)
    return library.rotary(mixed, position=position, base=base).unflatten(-1, (-1, 2)).mT.flatten(-2)


def added(x: Tensor, *, position: Tensor, base: float = 10_000) -> Tensor:
    return x + library.sinusoidal_at(position.double(), x.shape[-1], base=base).to(x)


class Unmoved(TokenEmbedding):
    """Every text begins at place 0."""

    def forward(self, ids: Tensor, *, start: int = 0) -> Tensor:  # noqa: ARG002
        return super().forward(ids)


class Numbered(TokenEmbedding):
    """A token knows its place, whatever was asked."""

    def forward(self, ids: Tensor, *, start: int = 0) -> Tensor:
        x = super().forward(ids, start=start)
        return x + library.sinusoidal(*x.shape[-2:]).to(x)


class Placeless(TokenEmbedding):
    """A token does not know its place, whatever was asked."""

    def forward(self, ids: Tensor, *, start: int = 0) -> Tensor:  # noqa: ARG002
        return self.token(ids)


# Wrong biases -----------------------------------------------------------------------------------


def signed(tokens: int, heads: int) -> Tensor:
    place = torch.arange(tokens)
    return library.alibi_bias(2, heads)[:, :1, 1:] * (place[:, None] - place)


def by_place_of_the_key(tokens: int, heads: int) -> Tensor:
    return library.alibi_bias(tokens, heads)[:, :1].expand(-1, tokens, -1)


def costless(tokens: int, heads: int) -> Tensor:
    return 0 * library.alibi_bias(tokens, heads)


class OneSided(library.BucketedBias):
    """Its buckets count the distance alone."""

    def forward(self, tokens: int) -> Tensor:
        bias = super().forward(tokens)
        return bias.triu() + bias.triu(1).mT


class Mute(library.BucketedBias):
    def forward(self, tokens: int) -> Tensor:
        return 0 * super().forward(tokens)


# What was tried, the claim, the names of the lecture that are wrong, and those of the encoder.
WRONG = {
    "numbered tokens": ("prop-bag", {"TokenEmbedding": Numbered}, {}),
    "positions left out": ("prop-bag", {"TokenEmbedding": Placeless}, {}),
    "nothing turned": ("prop-bag", {}, {"rotary": turned(lambda place: 0 * place)}),
    "a frequency a feature": ("prop-shift", {"sinusoidal": frequency_for_each_feature}, {}),
    "sines alone": ("prop-shift", {"sinusoidal": without_cosines}, {}),
    "a shift back": ("prop-shift", {"shift_matrix": shift_back}, {}),
    "a shift that stretches": ("prop-shift", {"shift_matrix": shift_and_stretch}, {}),
    "scores of sines alone": ("prop-difference", {"sinusoidal": without_cosines}, {}),
    "scores of frequencies a feature": (
        "prop-difference",
        {"sinusoidal": frequency_for_each_feature},
        {},
    ),
    "another base": ("prop-difference", {"sinusoidal": partial(library.sinusoidal, base=1000)}, {}),
    "sines alone under a map": ("prop-mixed", {"sinusoidal": without_cosines}, {}),
    "one place for all": (
        "prop-mixed",
        {
            "sinusoidal": lambda tokens, d, **more: library.sinusoidal(1, d, **more).repeat(
                tokens, 1
            )
        },
        {},
    ),
    "the other way round": ("prop-rotary", {"rotary": turned(lambda place: -place)}, {}),
    "squares of places": ("prop-rotary", {"rotary": turned(lambda place: place**2)}, {}),
    "pairs in halves": ("prop-rotary", {"rotary": pairs_in_halves}, {}),
    "added, not turned": ("prop-rotary", {"rotary": added}, {}),
    "an encoder with squares": ("prop-nowhere", {}, {"rotary": turned(lambda place: place**2)}),
    "an encoder that adds": ("prop-nowhere", {}, {"rotary": added}),
    "always at place 0": ("prop-nowhere", {"TokenEmbedding": Unmoved}, {}),
    "a cost with a sign": ("prop-mirror", {"alibi_bias": signed}, {}),
    "a cost of the key's place": ("prop-mirror", {"alibi_bias": by_place_of_the_key}, {}),
    "no cost": ("prop-mirror", {"alibi_bias": costless}, {}),
    "buckets without sides": ("prop-mirror", {"BucketedBias": OneSided}, {}),
    "buckets unheard": ("prop-mirror", {"BucketedBias": Mute}, {}),
    "a window with squares": ("prop-window", {}, {"rotary": turned(lambda place: place**2)}),
    "a window too wide": ("prop-window", {"near": lambda t, reach: near(t, reach + 1)}, {}),
    "a window over placeless tokens": ("prop-window", {"TokenEmbedding": Placeless}, {}),
}


@pytest.mark.parametrize("label", claims(LECTURE))
def test_a_claim_holds_for_the_library(label: str) -> None:
    check_with(label, {})


@pytest.mark.parametrize("case", WRONG)
def test_a_claim_falls_to_a_wrong_implementation(
    case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    label, wrong, inside = WRONG[case]
    for name, value in inside.items():
        monkeypatch.setattr(transformer_parts, name, value)
    with pytest.raises(AssertionError):
        check_with(label, wrong)


def test_every_claim_falls_to_something() -> None:
    assert {label for label, _, _ in WRONG.values()} == set(claims(LECTURE))
