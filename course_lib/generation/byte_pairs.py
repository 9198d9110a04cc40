"""Byte pair encoding: join the most frequent pair of neighbours, again and again.

:func:`learn_merges` learns from words which pieces to join, :func:`encode` cuts a text into the
pieces that these merges make, and :func:`decode` puts pieces together. The first pieces are
letters, as in Sennrich, Haddow and Birch (2016); a mark at the end of a word is a letter like any
other, so include it in the words.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise

from course_lib.support.contracts import Count, checked

Pair = tuple[str, str]


@checked
def learn_merges(words: Iterable[str], count: Count) -> list[Pair]:
    """The ``count`` pairs of pieces to join, in the order in which to join them.

    Each is the most frequent pair of neighbours in ``words`` at its time, where repeated words
    count each time; ties go to the first in alphabetical order. Fewer than ``count`` if every word
    has become one piece. Raises ``TypeError`` for one string in place of many.
    Source: Sennrich, Haddow and Birch (2016), algorithm 1.
    """
    if isinstance(words, str):
        raise TypeError("words is a str; expected many; pass a list of words")
    often = Counter(words)
    cut = {word: list(word) for word in often}
    together: Counter[Pair] = Counter()
    holders: defaultdict[Pair, set[str]] = defaultdict(set)
    for word, pieces in cut.items():
        for pair in pairwise(pieces):
            together[pair] += often[word]
            holders[pair].add(word)
    merges: list[Pair] = []
    while len(merges) < count and together:
        best = min(together, key=lambda pair: (-together[pair], pair))
        merges.append(best)
        for word in holders.pop(best):
            for pair in pairwise(cut[word]):
                together[pair] -= often[word]
            cut[word] = _joined(cut[word], best)
            for pair in pairwise(cut[word]):
                together[pair] += often[word]
                holders[pair].add(word)
        together = +together
    return merges


@checked
def encode(text: str, merges: Sequence[Pair]) -> list[str]:
    """The pieces of ``text``: its letters, with each of ``merges`` done once, in their order.

    So the words that ``merges`` were learned from are cut as they were in learning. Letters that
    no word had stay alone.
    """
    pieces, done = list(text), -1
    rank = {pair: place for place, pair in enumerate(merges)}
    while possible := [r for pair in pairwise(pieces) if (r := rank.get(pair, done)) > done]:
        done = min(possible)
        pieces = _joined(pieces, merges[done])
    return pieces


@checked
def decode(pieces: Iterable[str]) -> str:
    """The text that the pieces make."""
    return "".join(pieces)


def _joined(pieces: list[str], pair: Pair) -> list[str]:
    """The pieces with every ``pair`` made one, from left to right."""
    joined: list[str] = []
    for piece in pieces:
        # A piece that was just made is longer than pair[0], so it is not joined twice.
        if joined and (joined[-1], piece) == pair:
            joined[-1] += piece
        else:
            joined.append(piece)
    return joined
