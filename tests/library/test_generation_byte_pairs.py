"""Merges against a recount of all words before each of them."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from course_lib.generation import decode, encode, learn_merges

WORDS = st.lists(st.text("ab", max_size=7) | st.text("abc", max_size=5), max_size=8)


def merged(pieces: list[str], pair: tuple[str, str]) -> list[str]:
    out, i = [], 0
    while i < len(pieces):
        both = tuple(pieces[i : i + 2]) == pair
        out.append("".join(pieces[i : i + 2]) if both else pieces[i])
        i += 2 if both else 1
    return out


def recounted(words: list[str], count: int) -> tuple[list[tuple[str, str]], list[list[str]]]:
    cut, merges = [list(word) for word in words], []
    for _ in range(count):
        pairs = Counter((p[i], p[i + 1]) for p in cut for i in range(len(p) - 1))
        if not pairs:
            break
        most = max(pairs.values())
        merges.append(min(pair for pair, often in pairs.items() if often == most))
        cut = [merged(pieces, merges[-1]) for pieces in cut]
    return merges, cut


@given(WORDS, st.integers(0, 12))
def test_merges_are_those_of_a_recount_and_cut_the_words_as_they_were_learned(
    words: list[str], count: int
) -> None:
    merges, cut = recounted(words, count)
    assert learn_merges(words, count) == merges
    assert [encode(word, merges) for word in words] == cut


@given(WORDS, st.text("abcd", max_size=12))
def test_pieces_join_to_the_text_and_follow_from_the_merges_in_order(
    words: list[str], text: str
) -> None:
    merges, pieces = learn_merges(words, 8), list(text)
    for pair in merges:
        pieces = merged(pieces, pair)
    assert encode(text, merges) == pieces
    assert decode(pieces) == text
