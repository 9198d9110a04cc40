r"""A decoder of names of towns, trained offline, and its training data.

A text is a country and a name, as ``"fi Lappajärvi"``. :func:`load_towns` divides the texts into a
fixed training and held-out set; :func:`town_rows` encodes them as ids, with the mark :data:`END` at
both ends; :func:`town_batches` and :func:`town_surprise` train a decoder on them, :func:`town_bits`
evaluates it. :func:`load_name_decoder` loads the decoder that
``scripts/data/train_name_decoder.py`` trained; ``data/name_decoder.md`` describes its file.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from course_lib.models.stored import DATA, load
from course_lib.models.words.spelling import check_letters
from course_lib.transformer import Decoder

END = "\n"
"""The mark in front of every text and after it."""

SHOWN = ("fi Lappajärvi", "jp Kurashiki", "de Heidelberg", "gb Huddersfield")
"""Always held out, since lectures show them as unseen towns."""

LANDS = {
    "Germany": "de",
    "Spain": "es",
    "Finland": "fi",
    "France": "fr",
    "Britain": "gb",
    "Greece": "gr",
    "Italy": "it",
    "Japan": "jp",
    "Poland": "pl",
    "Turkey": "tr",
}
"""The letters of each country that a text begins with."""

HELD_OUT = 1500
LONGEST = 22
"""The mark in front, two letters for the country, a blank, a name of up to 18 letters."""

UNASKED = -100  # what PyTorch's cross-entropy leaves out


class Towns(NamedTuple):
    """Texts held out, texts for training, and the letters of both, :data:`END` first."""

    unseen: list[str]
    seen: list[str]
    alphabet: str


def load_towns() -> Towns:
    """All towns of ``data/places.txt``: :data:`HELD_OUT` are held out, drawn at random with seed 0.

    The four of :data:`SHOWN` are the first of them.
    """
    lines = (DATA / "places.txt").read_text(encoding="utf-8").splitlines()
    texts = {line for line in lines if not line.startswith("#")}
    others = sorted(texts - set(SHOWN))
    order = torch.randperm(len(others), generator=torch.Generator().manual_seed(0))
    all_towns = [*SHOWN, *(others[i] for i in order.tolist())]
    alphabet = END + "".join(sorted(set("".join(texts))))
    return Towns(all_towns[:HELD_OUT], all_towns[HELD_OUT:], alphabet)


def town_rows(texts: Sequence[str], alphabet: str) -> Int[Tensor, "texts letters"]:
    """Encode each text as a row: the mark, its letters, the mark, and -100 up to the longest text.

    Raises ``ValueError`` for no texts and for a letter outside ``alphabet``.
    """
    check_letters(texts, alphabet)
    longest = max(map(len, texts))
    place = {letter: number for number, letter in enumerate(alphabet)}
    mark = place[END]
    return torch.tensor(
        [
            [mark, *map(place.__getitem__, text), mark, *[UNASKED] * (longest - len(text))]
            for text in texts
        ]
    )


def town_batches(
    texts: Sequence[str], alphabet: str, *, size: int, steps: int, generator: torch.Generator
) -> Iterator[Int[Tensor, "size letters"]]:
    """Batches of random texts of about one length, so that little is padded."""
    while steps > 0:
        draw = [texts[i] for i in torch.randperm(len(texts), generator=generator)[: 8 * size]]
        draw.sort(key=len)
        groups = [draw[first : first + size] for first in range(0, len(draw), size)]
        for i in torch.randperm(len(groups), generator=generator)[:steps]:
            yield town_rows(groups[i], alphabet)
        steps -= len(groups)


def town_surprise(model: nn.Module, rows: Int[Tensor, "texts letters"]) -> Float[Tensor, ""]:
    r"""The mean of $-\log P(x_t \mid x_{<t})$ over all letters of the rows, in nats: the loss."""
    logits = model(rows[:, :-1].clamp(min=0))
    return F.cross_entropy(logits.mT, rows[:, 1:], ignore_index=UNASKED)


@torch.no_grad()
def town_bits(
    model: nn.Module, rows: Int[Tensor, "texts letters"]
) -> Float[Tensor, "texts letters_but_one"]:
    r"""$-\log_2 P(x_t \mid x_{<t})$ of each letter but the mark in front; nan after the end.

    ``rows`` are those of :func:`town_rows`. Runs in evaluation mode and restores the mode of the
    model.
    """
    was_training = model.training
    model.eval()
    try:
        logits = model(rows[:, :-1].clamp(min=0))
    finally:
        model.train(was_training)
    asked = rows[:, 1:]
    nats = F.cross_entropy(logits.mT, asked, reduction="none", ignore_index=UNASKED)
    return (nats / math.log(2)).masked_fill(asked == UNASKED, math.nan)


def empty_name_decoder(letters: int, *, dropout: float | int = 0.0) -> Decoder:
    """The decoder of :func:`load_name_decoder` before training: rotary positions, tied readout."""
    return Decoder(letters, 64, 2, 3, tokens=LONGEST, position="rotary", dropout=dropout)


def load_name_decoder() -> Decoder:
    """The trained decoder, in evaluation mode; its ids are those of ``load_towns().alphabet``.

    Raises ``ValueError`` if the bundled weights are of another alphabet than the bundled towns.
    """

    def fresh(about: dict[str, Any]) -> Decoder:
        alphabet, now = about["alphabet"], load_towns().alphabet
        if alphabet != now:
            raise ValueError(
                f"the weights are for letters {alphabet!r} and the towns have {now!r}; expected "
                "the same; run scripts/data/train_name_decoder.py again"
            )
        return empty_name_decoder(len(alphabet))

    return load("name_decoder.npz", fresh)[0]
