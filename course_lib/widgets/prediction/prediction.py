"""Prediction: a question that keeps its answer until the reader has guessed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from course_lib.widgets.kit.base import Widget
from course_lib.widgets.kit.traits import Array, Choice, Number, Several, Switch, Text, brief

KNOTS = 25  # of a sketched curve: as many as a finger tells apart on a telephone
MOST_OPTIONS = 8
WHOLE_FROM = 1000  # as the page shows numbers
LONGEST = 300
LINES = {"shortest": 1, "longest": LONGEST}


class Prediction(Widget):
    r"""A question, the reader's guess, and then the truth laid over it.

    Make one with :meth:`sketch` (draw a curve), :meth:`choose` (one of a few) or :meth:`place` (a
    number on a line). The truth is not drawn before the reader asks for it. Then a sentence tells
    how far off the guess was, and ``answer`` why it is so. On a page the guess is kept in the
    reader's browser, and nowhere else.

    Traits, synced both ways: ``guess``, a list that is empty at first: the heights of a curve at
    25 places equally far apart on the axis, the place of the chosen option, or the number; and
    ``revealed``. :meth:`off` says how far off the guess is. Raises ``TypeError`` and
    ``ValueError`` for what cannot be asked or drawn.
    """

    kind = Choice("sketch", "choose", "place", default="place", read_only=True)
    question = Text(**LINES, read_only=True)
    answer = Text(**LINES, read_only=True)
    across = Array("ends=2", default=(0.0, 1.0), read_only=True)
    up = Array("ends=2", default=(0.0, 1.0), read_only=True)
    xlog = Switch(default=False, read_only=True)
    ylog = Switch(default=False, read_only=True)
    xlabel = Text(default="", read_only=True)
    ylabel = Text(default="", read_only=True)
    unit = Text(default="", read_only=True)
    step = Number(0, np.inf, default=0.0, read_only=True)
    options = Several(
        Text(shortest=1), "points", most=MOST_OPTIONS, distinct=True, default=(), read_only=True
    )
    wanted = Choice("largest", "smallest", default="largest", read_only=True)
    x = Array("points", optional=True, read_only=True)
    truth = Array("points", read_only=True)
    guess = Several(
        Number(-np.inf, np.inf), most=KNOTS, default=(), rule=lambda self, guess: self._held(guess)
    )
    revealed = Switch(default=False)

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        # Options stand on no axis: theirs are bars.
        for name, log in (("across", self.xlog and not self.options), ("up", self.ylog)):
            low, high = getattr(self, name)
            if not (0 if log else -np.inf) < low < high:
                raise ValueError(
                    f"{name} reaches from {low:g} to {high:g}; expected the lower end first"
                    + (", and above zero on a logarithmic axis" if log else "")
                )
        if self.kind == "choose" and not self.options:
            raise ValueError("options is empty; give each a name and its number")
        if self.kind == "choose" and self.xlog and not self.truth.min() > 0:
            raise ValueError(
                f"options has the number {self.truth.min():g}; expected numbers above zero, for "
                "bars on a logarithmic axis"
            )
        if self.kind == "place" and len(self.truth) > 1:
            raise ValueError(f"truth has {len(self.truth)} numbers; expected one to be placed")
        if self.kind == "sketch" and not ((self.x[1:] > self.x[:-1]).all() and len(self.x) > 1):
            raise ValueError(f"x is {brief(self.x)}; expected two numbers or more that rise")
        drawn = {"sketch": [("x", "across"), ("truth", "up")], "place": [("truth", "across")]}
        for name, axis in drawn.get(self.kind, []):
            values, (low, high) = getattr(self, name), getattr(self, axis)
            if not low <= values.min() <= values.max() <= high:
                raise ValueError(
                    f"{name} reaches from {values.min():g} to {values.max():g}, beyond the axis "
                    f"from {low:g} to {high:g}; widen {axis}"
                )

    @classmethod
    def sketch(
        cls,
        question: str,
        *,
        x: ArrayLike,
        truth: ArrayLike,
        up: tuple[float, float],
        answer: str,
        across: tuple[float, float] | None = None,
        **labels: Any,
    ) -> Prediction:
        """Draw a curve: ``truth`` at the places ``x``, on an axis ``up`` that tells nothing of it.

        ``labels`` are ``xlabel``, ``ylabel``, ``unit``, ``xlog`` and ``ylog``.
        """
        if across is None:
            places = np.asarray(x, dtype=np.float32)
            across = (float(places.min()), float(places.max()))
        curve = {"x": x, "truth": truth, "across": across, "up": up}
        return cls(kind="sketch", question=question, answer=answer, **curve, **labels)

    @classmethod
    def choose(
        cls,
        question: str,
        *,
        options: Mapping[str, float],
        answer: str,
        log: bool = False,
        **labels: Any,
    ) -> Prediction:
        """Choose one of ``options``: each has a name and a number, and the ``wanted`` one is right.

        ``labels`` are ``wanted``, ``"largest"`` or ``"smallest"``, and ``unit``. With ``log`` the
        bars are logarithmic.
        """
        truth = np.array([float(value) for value in options.values()])
        chosen = {"options": list(options), "truth": truth, "xlog": log}
        return cls(kind="choose", question=question, answer=answer, **chosen, **labels)

    @classmethod
    def place(
        cls,
        question: str,
        *,
        truth: float,
        between: tuple[float, float],
        answer: str,
        log: bool = False,
        **labels: Any,
    ) -> Prediction:
        """Put a number on a line from one end of ``between`` to the other.

        ``labels`` are ``unit`` and ``step``, in which the guess moves, if not in hundredths.
        """
        line = {"truth": [float(truth)], "across": between, "xlog": log}
        return cls(kind="place", question=question, answer=answer, **line, **labels)

    def off(self) -> float | None:
        """How far off the guess is, or ``None`` without one.

        Of a number, the distance of guess and truth; of a choice, that of their numbers; of a
        curve, the mean distance at the places ``x``. On a logarithmic axis it is a factor, the
        geometric mean of those at ``x`` for a curve.
        """
        if not self.guess:
            return None
        if self.kind == "choose":
            best, chosen = (float(self.truth[i]) for i in (self.right, int(self.guess[0])))
            return max(best, chosen) / min(best, chosen) if self.xlog else abs(best - chosen)
        log = self.ylog if self.kind == "sketch" else self.xlog
        bent = np.log if log else np.asarray
        said = self._curve(self.x) if self.kind == "sketch" else np.array(self.guess)
        distance = float(np.abs(bent(said) - bent(self.truth.astype(float))).mean())
        return float(np.exp(distance)) if log else distance

    @property
    def right(self) -> int:
        """The place of the option that is right: the first of equals."""
        return int(self.truth.argmax() if self.wanted == "largest" else self.truth.argmin())

    def limits(self) -> dict[str, Any]:
        """None: a guess is the reader's own, and no address carries it."""
        return {}

    def describe(self) -> str:
        """The question, and the answer."""
        if self.kind == "choose":
            found = ", ".join(
                f"{name} {self._said(value)}"
                for name, value in zip(self.options, self.truth, strict=True)
            )
            found = f"{self.options[self.right]} ({found})"
        elif self.kind == "place":
            found = self._said(self.truth[0])
        else:
            ends = [f"{self._said(self.truth[i])} at {self.x[i]:g}" for i in (0, -1)]
            found = f"The curve runs from {ends[0]} to {ends[1]}"
        return f"A question to guess at. {self.question} Answer: {found}. {self.answer}"

    def _said(self, value: float) -> str:
        """A number with the digits that the page shows, at most three."""
        if self.kind == "place" and self.step and not self.xlog:
            # No more of them than the steps have in which a reader guesses.
            value = round(float(value), max(0, math.ceil(-math.log10(self.step / 2) - 1e-9)))
        digits = ".3g" if abs(value) < WHOLE_FROM else ".0f"
        return f"{value:{digits}} {self.unit}".strip()

    def _curve(self, x: NDArray[np.float32]) -> NDArray[np.float64]:
        """The sketched curve at ``x``: straight from knot to knot, as it is drawn."""
        along, height = (np.log if log else np.asarray for log in (self.xlog, self.ylog))
        low, high = along(self.across.astype(float))
        found = np.interp(
            along(x.astype(float)), np.linspace(low, high, KNOTS), height(np.array(self.guess))
        )
        return np.exp(found) if self.ylog else found

    def _held(self, guess: list[float]) -> list[float]:
        if not guess:
            return guess
        if len(guess) != (count := KNOTS if self.kind == "sketch" else 1):
            raise ValueError(
                f"guess has {len(guess)} numbers; expected none, or {count} for {self.kind!r}"
            )
        options = np.array([0, len(self.options) - 1])
        low, high = {"sketch": self.up, "place": self.across, "choose": options}[self.kind]
        if not low <= min(guess) <= max(guess) <= high:
            raise ValueError(
                f"guess reaches from {min(guess):g} to {max(guess):g}; expected numbers between "
                f"{low:g} and {high:g}, where they can be drawn"
            )
        if self.kind == "choose" and not guess[0].is_integer():
            raise ValueError(f"guess is {guess[0]:g}; expected the place of an option, from 0")
        return guess
