"""PartyMemory: guests arrive one after the other; the reader chooses how to remember them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import traitlets
from numpy.typing import ArrayLike, NDArray

from course_lib.widgets.base import Widget
from course_lib.widgets.traits import Array, finite_array, number_between, one_of, texts

MODES = ("composite", "forgetting", "gate", "softmax", "query")
MOST_GUESTS = 8
MOST_PIXELS = 256
LOWEST_TEMPERATURE, HIGHEST_TEMPERATURE = 0.05, 20.0
WIDEST_DOOR = 8.0


class PartyMemory(Widget):
    r"""Five ways to remember a sequence of pictures in a single one, $\sum_i w_i x_i$.

    - ``composite``: $w_i = 1$.
    - ``forgetting``: $w_i = \gamma^{T-i}$, with $\gamma$ the ``decay``.
    - ``gate``: $w_i = \sigma(g_i + b)$, with $b$ the ``door``.
    - ``softmax``: $w = \mathrm{softmax}(s / \tau)$, with $\tau$ the ``temperature``.
    - ``query``: $w = \mathrm{softmax}(K q / \tau)$, with $q$ the query of the chosen ``question``.

    $T$ is the number of guests who have ``arrived``; later ones weigh nothing. ``images``
    ``(guests, height, width)`` are the pictures, 0 for paper and 1 for ink, and ``names`` their
    guests. ``score`` ``(guests,)`` is $s$. ``gate`` ``(guests,)`` is $g$, and is ``score`` unless
    given. ``guest_keys`` ``(guests, d)`` is $K$, and ``queries`` maps each question to its query
    ``(d,)``. A way of remembering whose numbers are missing is not offered.

    Traits, synced both ways: ``mode``, ``decay``, ``door``, ``temperature``, ``question``,
    ``arrived``. Raises ``TypeError`` and ``ValueError`` for data that cannot be drawn.
    Sources: Galton (1878); Hochreiter and Schmidhuber (1997) for the gate; Vaswani et al. (2017),
    eq. 1.
    """

    _module = "party_memory.js"

    images = Array(read_only=True)
    names = traitlets.List(traitlets.Unicode(), read_only=True).tag(sync=True)
    score = Array(read_only=True)
    gate = Array(read_only=True)
    guest_keys = Array(read_only=True)
    queries = Array(read_only=True)
    questions = traitlets.List(traitlets.Unicode(), read_only=True).tag(sync=True)
    modes = traitlets.List(traitlets.Unicode(), read_only=True).tag(sync=True)

    mode = traitlets.Unicode().tag(sync=True)
    decay = traitlets.Float(min=0.0, max=1.0).tag(sync=True)
    door = traitlets.Float(min=-WIDEST_DOOR, max=WIDEST_DOOR).tag(sync=True)
    temperature = traitlets.Float(1.0, min=LOWEST_TEMPERATURE, max=HIGHEST_TEMPERATURE).tag(
        sync=True
    )
    question = traitlets.Unicode().tag(sync=True)
    arrived = traitlets.Int(1).tag(sync=True)

    def __init__(
        self,
        images: ArrayLike,
        names: list[str],
        *,
        score: ArrayLike | None = None,
        gate: ArrayLike | None = None,
        keys: ArrayLike | None = None,
        queries: Mapping[str, ArrayLike] | None = None,
        mode: str = "composite",
        decay: float = 0.5,
        door: float = 0.0,
        temperature: float = 1.0,
        question: str | int = 0,
        arrived: int | None = None,
        **dom: Any,
    ) -> None:
        pictures = _pictures(images)
        guests = len(pictures)
        score_array = _per_guest("score", score, guests)
        gate_array = _per_guest("gate", score if gate is None else gate, guests)
        key_array, query_array, questions = _lookup(keys, queries, guests)
        possible = (True, True, gate_array.size > 0, score_array.size > 0, bool(questions))
        offered = [name for name, offer in zip(MODES, possible, strict=True) if offer]

        self.set_trait("images", pictures)
        self.set_trait("names", texts("names", names, guests))
        self.set_trait("score", score_array)
        self.set_trait("gate", gate_array)
        self.set_trait("guest_keys", key_array)
        self.set_trait("queries", query_array)
        self.set_trait("questions", questions)
        self.set_trait("modes", offered)
        super().__init__(
            mode=_offered_mode(mode, offered),
            decay=number_between("decay", decay, 0.0, 1.0),
            door=number_between("door", door, -WIDEST_DOOR, WIDEST_DOOR),
            temperature=number_between(
                "temperature", temperature, LOWEST_TEMPERATURE, HIGHEST_TEMPERATURE
            ),
            question=_chosen_question(question, questions),
            arrived=_arrivals(guests if arrived is None else arrived, guests),
            **dom,
        )

    @traitlets.validate("mode")
    def _check_mode(self, proposal: dict[str, Any]) -> str:
        return _offered_mode(proposal["value"], self.modes)

    @traitlets.validate("question")
    def _check_question(self, proposal: dict[str, Any]) -> str:
        return _chosen_question(proposal["value"], self.questions)

    @traitlets.validate("arrived")
    def _check_arrived(self, proposal: dict[str, Any]) -> int:
        return _arrivals(proposal["value"], len(self.names))

    def describe(self) -> str:
        """Who comes to the party, in which order, and what can be done."""
        return (
            f"A party with {len(self.names)} guests, who arrive in this order: "
            f"{', '.join(self.names)}. Their pictures are blended into a single one, the memory. "
            f"The ways to weigh them: {', '.join(self.modes)}."
        )


def _pictures(images: ArrayLike) -> NDArray[np.float32]:
    pictures = finite_array("images", images, ("guests", "height", "width"))
    guests, height, width = pictures.shape
    if guests > MOST_GUESTS:
        raise ValueError(
            f"images holds {guests} guests; the party has room for {MOST_GUESTS}; choose fewer"
        )
    if height * width > MOST_PIXELS:
        raise ValueError(
            f"images are {height} × {width} pixels; at most {MOST_PIXELS} pixels are drawn; "
            "shrink them"
        )
    if pictures.min() < 0 or pictures.max() > 1:
        raise ValueError(
            "images must lie between 0 (paper) and 1 (ink), but reach from "
            f"{pictures.min():g} to {pictures.max():g}; rescale them"
        )
    return pictures


def _per_guest(name: str, value: ArrayLike | None, guests: int) -> NDArray[np.float32]:
    """One number for each guest, or none at all for ``None``."""
    if value is None:
        return np.zeros(0, dtype=np.float32)
    numbers = finite_array(name, value, ("guests",))
    if len(numbers) != guests:
        raise ValueError(f"{name} holds {len(numbers)} numbers for {guests} guests; give one each")
    return numbers


def _lookup(
    keys: ArrayLike | None, queries: Mapping[str, ArrayLike] | None, guests: int
) -> tuple[NDArray[np.float32], NDArray[np.float32], list[str]]:
    """Keys, queries and questions, all empty if there are none."""
    if (keys is None) != (queries is None):
        given, missing = ("queries", "keys") if keys is None else ("keys", "queries")
        raise ValueError(f"{given} were given without {missing}; a lookup needs both, or neither")
    if keys is None:
        return np.zeros((0, 0), dtype=np.float32), np.zeros((0, 0), dtype=np.float32), []
    key_array = finite_array("keys", keys, ("guests", "d"))
    if len(key_array) != guests:
        raise ValueError(f"keys holds {len(key_array)} rows for {guests} guests; give one each")
    if not isinstance(queries, Mapping):
        raise TypeError(
            f"queries is a {type(queries).__name__}; expected a dict from question to query"
        )
    questions = texts("queries", list(queries))
    rows = [
        finite_array(f"queries[{question!r}]", queries[question], ("d",)) for question in queries
    ]
    for question, row in zip(questions, rows, strict=True):
        if len(row) != key_array.shape[1]:
            raise ValueError(
                f"queries[{question!r}] has {len(row)} entries, but keys have "
                f"{key_array.shape[1]}; a dot product needs as many"
            )
    return key_array, np.stack(rows), questions


def _offered_mode(mode: str, offered: list[str]) -> str:
    one_of("mode", mode, MODES)
    if mode not in offered:
        needed = {"query": "keys and queries", "gate": "score or gate"}.get(mode, "score")
        raise ValueError(f"mode {mode!r} needs {needed}; pass {needed} when the party is made")
    return mode


def _chosen_question(question: str | int, questions: list[str]) -> str:
    """The question as text; an index stands for the question at that place."""
    if not questions:
        if question not in (0, ""):
            raise ValueError(f"question is {question!r}, but there are no queries; pass queries")
        return ""
    if isinstance(question, int) and not isinstance(question, bool):
        if not 0 <= question < len(questions):
            raise ValueError(
                f"question is {question}; expected 0 to {len(questions) - 1}, or the text of one"
            )
        return questions[question]
    if not isinstance(question, str):
        raise TypeError(f"question must be its text or its index, but was given {question!r}")
    return one_of("question", question, tuple(questions))


def _arrivals(arrived: int, guests: int) -> int:
    if isinstance(arrived, bool) or not isinstance(arrived, int | np.integer):
        raise TypeError(f"arrived must be an integer, but was given {arrived!r}")
    if not 1 <= arrived <= guests:
        raise ValueError(f"arrived must lie between 1 and {guests}, but was given {arrived}")
    return int(arrived)
