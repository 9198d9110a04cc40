"""The words of lecture 6, and the encoder that has learned to spell them."""

import torch

from course_lib.masked_language_model import hide, masked_loss
from course_lib.spelling import (
    HELD_OUT,
    HOLE,
    LETTERS,
    LONGEST,
    SHOWN,
    dictionary_words,
    ids_of_words,
    syllables,
    trained_speller,
)


def test_the_words_are_distinct_and_those_that_are_shown_are_held_out() -> None:
    words = dictionary_words()
    assert len(set(words)) == len(words) > 100_000
    assert tuple(words[: len(SHOWN)]) == SHOWN
    assert all(word.isascii() and word.isalpha() and word.islower() for word in words)
    assert {len(word) for word in words} == set(range(3, LONGEST + 1))
    assert words[len(SHOWN) : HELD_OUT] != sorted(words[len(SHOWN) : HELD_OUT])
    assert dictionary_words() == words


def test_a_word_becomes_ids_with_holes_after_it() -> None:
    ids, real = ids_of_words(["abc", "zebra"])
    assert "".join(LETTERS[i] for i in ids[1].tolist()) == "zebra" + "_" * (LONGEST - 5)
    assert real.sum(-1).tolist() == [3, 5]
    assert not real[0, 3:].any()


def test_syllables_are_vowels_that_are_heard() -> None:
    for word, count in [("rhythm", 2), ("silence", 2), ("knight", 1), ("pharmacy", 3)]:
        assert syllables(word) == count


def test_the_encoder_has_learned_what_held_out_words_look_like() -> None:
    ids, real = ids_of_words(dictionary_words()[:300])
    random = torch.Generator().manual_seed(0)
    seen, hidden = hide(ids, mask=HOLE, vocabulary=len(LETTERS), real=real, generator=random)
    share = torch.bincount(ids[real], minlength=len(LETTERS)) / real.sum()
    by_frequency = -share[ids[hidden]].log().mean()
    with torch.no_grad():
        assert masked_loss(trained_speller()(seen, real=real), ids, hidden) < by_frequency - 1
