"""The words of lecture 6, their ids and batches."""

import pytest
import torch

from course_lib.models.words.spelling import (
    HELD_OUT,
    HOLE,
    LETTERS,
    LONGEST,
    SHOWN,
    batches_of_one_length,
    dictionary_words,
    ids_of_words,
    syllables,
)

pytestmark = pytest.mark.slow


def test_the_words_are_distinct_and_those_that_are_shown_are_held_out() -> None:
    words = dictionary_words()
    assert len(set(words)) == len(words) > 100_000
    assert tuple(words[: len(SHOWN)]) == SHOWN
    assert all(word.isascii() and word.isalpha() and word.islower() for word in words)
    assert {len(word) for word in words} == set(range(3, LONGEST + 1))
    assert words[len(SHOWN) : HELD_OUT] != sorted(words[len(SHOWN) : HELD_OUT])
    assert dictionary_words() == words


def test_a_word_becomes_ids_with_holes_after_it() -> None:
    ids, valid = ids_of_words(["abc", "zebra"])
    assert "".join(LETTERS[i] for i in ids[1].tolist()) == "zebra" + "_" * (LONGEST - 5)
    assert valid.sum(-1).tolist() == [3, 5]
    assert not valid[0, 3:].any()


def test_syllables_are_vowels_that_are_heard() -> None:
    for word, count in [("rhythm", 2), ("silence", 2), ("knight", 1), ("pharmacy", 3)]:
        assert syllables(word) == count


def test_a_batch_holds_words_of_one_length_which_is_as_frequent_as_among_the_words() -> None:
    ids, _ = ids_of_words(["one", "two", "ten", "three"])
    random = torch.Generator().manual_seed(0)
    batches = list(batches_of_one_length(ids, steps=400, size=5, generator=random))
    rows = {tuple(row) for row in ids.tolist()}
    for batch in batches:
        assert len(batch) == 5
        assert {(*row, *[HOLE] * (LONGEST - len(row))) for row in batch.tolist()} <= rows
    short = sum(batch.shape[1] == 3 for batch in batches)
    assert abs(short - 300) < 4 * (400 * 0.75 * 0.25) ** 0.5
