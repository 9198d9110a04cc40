"""The numbers in words are those of ``num2words``, split as in the lecture."""

import pytest
import torch
from num2words import num2words

from course_lib.models.words.number_words import load_number_words

pytestmark = pytest.mark.slow

WORDS = load_number_words(torch.Generator().manual_seed(0))


def test_the_tokens_together_are_the_words() -> None:
    for n in (1, 12, 17, 43, 100, 2024, 7543, 9999):
        assert "".join(WORDS.german[n - 1]) == num2words(n, lang="de")
        assert " ".join(WORDS.english[n - 1]) == num2words(n).replace(",", "").replace("-", " ")
    assert WORDS.german[42] == ["drei", "und", "vierzig"]
    assert all("".join(row) == num2words(n, lang="de") for n, row in enumerate(WORDS.german, 1))


def test_unseen_endings_are_in_no_training_number() -> None:
    parts = [{(n + 1) % 100 for n in part.tolist()} for part in WORDS[-3:]]
    assert 43 in parts[2]
    assert len(parts[2]) == 8
    assert not parts[2] & (parts[0] | parts[1])
    assert sorted(torch.cat(WORDS[-3:]).tolist()) == list(range(9999))
