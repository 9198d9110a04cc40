r"""The numbers below 10,000 in English and German, to train a translator.

An English token is a word such as ``forty``, a German one a piece such as ``drei``, ``und`` or
``vierzig``. :func:`load_number_words` encodes all numbers and splits them;
:func:`translation_surprise` trains an :class:`course_lib.transformer.EncoderDecoder` on them, and
:func:`translated` returns its translations.
"""

import itertools
import re
from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence

from course_lib.generation import generate
from course_lib.transformer import EncoderDecoder

TRAINED = 2000
HIDDEN_ENDINGS = 8
SHOWN_ENDING = (4, 3)


class NumberWords(NamedTuple):
    """Row ``n - 1`` belongs to the number ``n``; ids are indices into the two vocabularies."""

    english: list[list[str]]
    german: list[list[str]]
    english_words: list[str]
    german_pieces: list[str]
    source: Int[Tensor, "numbers words"]
    target: Int[Tensor, "numbers pieces"]
    trained: Int[Tensor, "trained"]
    fresh: Int[Tensor, "fresh"]
    strange: Int[Tensor, "strange"]


def load_number_words(generator: torch.Generator) -> NumberWords:
    """All numbers below 10,000, split into training, validation and unseen endings.

    The unseen endings are pairs of tens and units that occur in no training number: 43 and seven
    random pairs.
    """
    from num2words import num2words

    numbers = range(1, 10_000)
    english = [re.split("[ -]", num2words(n).replace(",", "")) for n in numbers]
    atoms = {num2words(n, lang="de") for n in (*range(1, 13), *range(20, 100, 10))}
    atoms |= {"ein", "und", "zehn", "sech", "sieb", "hundert", "tausend"}
    piece = re.compile("|".join(sorted(atoms, key=len, reverse=True)))
    german = [piece.findall(num2words(n, lang="de")) for n in numbers]

    endings = [(tens, units) for tens in range(2, 10) for units in range(1, 10)]
    drawn = [endings[i] for i in torch.randperm(len(endings), generator=generator)]
    hidden = [*dict.fromkeys([SHOWN_ENDING, *drawn])][:HIDDEN_ENDINGS]
    order = torch.randperm(len(numbers), generator=generator)
    strange = torch.tensor([divmod((n + 1) % 100, 10) in hidden for n in order.tolist()])
    trained, fresh = order[~strange][:TRAINED], order[~strange][TRAINED:]

    english_words, source = _numbered(english)
    german_pieces, target = _numbered(german)
    target = F.pad(target, (0, 1))  # room for the mark that ends the longest
    tokens = english, german, english_words, german_pieces
    return NumberWords(*tokens, source, target, trained, fresh, order[strange])


def translation_surprise(
    model: EncoderDecoder,
    batch: tuple[Int[Tensor, "numbers words"], Int[Tensor, "numbers pieces"]],
) -> Float[Tensor, ""]:
    r"""The mean of $-\log P(y_i \mid y_{<i}, x)$ over all pieces and the marks that end numbers."""
    x, y = batch
    begun = F.pad(y[:, :-1], (1, 0))  # the piece before each piece; 0 is the mark in front
    asked = F.pad(y[:, :-1] > 0, (1, 0), value=True)  # up to the mark that ends the number
    return F.cross_entropy(model(x, begun, source_mask=x > 0)[asked], y[asked])


@torch.no_grad()
def translated(
    model: EncoderDecoder, source: Int[Tensor, "numbers words"], *, steps: int
) -> Int[Tensor, "numbers {steps}"]:
    """Translate greedily, the most probable piece each time, padded with 0."""
    valid, start = source > 0, torch.zeros(len(source), 1, dtype=torch.long)
    read = {"context": model.encode(source, source_mask=valid)}
    read["context_mask"] = valid[:, None, None, :]
    written = generate(model.decoder, start, steps=steps, top_k=1, stop=0, **read)[:, 1:]
    return F.pad(written, (0, steps - written.shape[1]))


def _numbered(rows: Sequence[Sequence[str]]) -> tuple[list[str], Tensor]:
    """All tokens of the rows, and the rows as ids, padded with 0."""
    tokens = ["·", *sorted(set(itertools.chain(*rows)))]
    place = {token: number for number, token in enumerate(tokens)}
    ids = [torch.tensor([place[token] for token in row]) for row in rows]
    return tokens, pad_sequence(ids, batch_first=True)
