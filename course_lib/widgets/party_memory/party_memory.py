"""PartyMemory: guests arrive one after the other; the reader chooses how to remember them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from course_lib.widgets.kit.base import MovingWidget
from course_lib.widgets.kit.traits import (
    Array,
    Choice,
    Data,
    Integer,
    Number,
    Several,
    Switch,
    Text,
    brief,
    finite_array,
    named,
)

MODES = ("composite", "forgetting", "gate", "softmax", "query")
MOST = {"guests": 8, "height width": 256}
NEEDS = {"gate": "score or gate", "softmax": "score", "query": "keys and queries"}


class PartyMemory(MovingWidget):
    r"""Five ways to remember a sequence of pictures in a single one, $\sum_i w_i x_i$.

    - ``composite``: $w_i = 1$.
    - ``forgetting``: $w_i = \gamma^{T-i}$, with $\gamma$ the ``decay``.
    - ``gate``: $w_i = \sigma(g_i + b)$, with $b$ the ``door``.
    - ``softmax``: $w = \mathrm{softmax}(s / \tau)$, with $\tau$ the ``temperature``.
    - ``query``: $w = \mathrm{softmax}(K q / \tau)$, with $q$ the query of the chosen ``question``.

    $T$ is the number of guests who have ``arrived``; later ones weigh nothing. With ``moving`` they
    begin to arrive as soon as the party is in sight. ``images``
    ``(guests, height, width)`` are the pictures, 0 for paper and 1 for ink, and ``names`` their
    guests. ``score`` ``(guests,)`` is $s$. ``gate`` ``(guests,)`` is $g$, and is ``score`` unless
    given. ``guest_keys`` ``(guests, d)`` is $K$, and ``queries`` maps each question to its query
    ``(d,)``. A way of remembering whose numbers are missing is not offered. ``fits`` maps each
    question to the names of those who answer it, of whom none need have come; with it the memory
    says whether it has looked at one of them.

    Traits, synced both ways: ``mode``, ``decay``, ``door``, ``temperature``, ``question``,
    ``arrived``. Raises ``TypeError`` and ``ValueError`` for data that cannot be drawn.
    Sources: Galton (1878); Hochreiter and Schmidhuber (1997) for the gate; Vaswani et al. (2017),
    eq. 1.
    """

    images = Array("guests", "height", "width", within=(0, 1), most=MOST, read_only=True)
    names = Several(Text(), "guests", read_only=True)
    score = Array("guests", optional=True, read_only=True)
    gate = Array("guests", optional=True, default=lambda self: self._any_score(), read_only=True)
    guest_keys = Array("guests", "d", optional=True, read_only=True, called="keys")
    queries = Array("questions", "d", optional=True, read_only=True)
    fits = Array("questions", "guests", within=(0, 1), optional=True, read_only=True)
    questions = Data(lambda self: self._questions)
    modes = Data(lambda self: self._offered())
    mode = Choice(*MODES, offered=lambda self: self.modes, needs=NEEDS, default="composite")
    decay = Number(0.0, 1.0, default=0.5)
    door = Number(-8.0, 8.0, default=0.0)
    temperature = Number(0.05, 20.0, default=1.0)
    question = Choice(offered=lambda self: self.questions or [""])
    arrived = Integer(0, lambda self: len(self.names), default=lambda self: len(self.names))
    moving = Switch(default=False, read_only=True)

    def __init__(
        self,
        images: ArrayLike,
        names: list[str],
        *,
        keys: ArrayLike | None = None,
        queries: Mapping[str, ArrayLike] | None = None,
        fits: Mapping[str, Collection[str]] | None = None,
        question: str | int = 0,
        **given: Any,
    ) -> None:
        if (keys is None) != (queries is None):
            there, missing = ("queries", "keys") if keys is None else ("keys", "queries")
            raise ValueError(
                f"{there} were given without {missing}; a lookup needs both, or neither"
            )
        table = named("queries", queries)
        rows = [finite_array(f"queries[{name!r}]", row, ("d",)) for name, row in table.items()]
        self._questions = list(table)
        if fits is not None:
            given["fits"] = _fitting(fits, self._questions, names)
        super().__init__(
            images,
            names,
            keys=keys,
            queries=None if queries is None else rows,
            question=_text_of(question, self._questions),
            **given,
        )

    def describe(self) -> str:
        """Who comes to the party, in which order, and what can be done."""
        return (
            f"A party with {len(self.names)} guests, who arrive in this order: "
            f"{', '.join(self.names)}. Their pictures are blended into a single one, the memory. "
            f"The ways to weigh them: {', '.join(self.modes)}."
        )

    def _any_score(self) -> NDArray[np.float32] | None:
        return self.score if self.score.size else None

    def _offered(self) -> list[str]:
        there = (True, True, self.gate.size, self.score.size, self.questions)
        return [mode for mode, numbers in zip(MODES, there, strict=True) if numbers]


def _fitting(
    fits: Mapping[str, Collection[str]], questions: list[str], names: list[str]
) -> NDArray[np.float32]:
    """For each question, 1 at each guest who answers it."""
    if list(fits) != questions:
        raise ValueError(f"fits has the questions {brief(list(fits))}; expected {brief(questions)}")
    strange = [who for asked in fits.values() for who in asked if who not in names]
    if strange:
        raise ValueError(f"fits names {brief(strange[0])}, who is none of the guests")
    rows = [[name in fits[question] for name in names] for question in questions]
    return np.array(rows, dtype=np.float32)


def _text_of(question: str | int, questions: list[str]) -> str:
    """The question as text; an index stands for the question at that place."""
    if not questions:
        if question not in (0, ""):
            raise ValueError(
                f"question is {brief(question)}, but there are no queries; pass queries"
            )
        return ""
    if isinstance(question, int) and not isinstance(question, bool):
        if not 0 <= question < len(questions):
            raise ValueError(
                f"question is {question}; expected 0 to {len(questions) - 1}, or the text of one"
            )
        return questions[question]
    if not isinstance(question, str):
        raise TypeError(f"question must be its text or its index, but was given {question!r}")
    return question
