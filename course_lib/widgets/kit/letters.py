"""Traits of single letters, and marks for letters that cannot be seen."""

from __future__ import annotations

from typing import Any

import traitlets

from course_lib.widgets.kit.traits import Trait, brief


class Mark(Trait):
    """A character of the widget's ``alphabet``, kept as its id; ``optional``, -1 for ``None``."""

    def __init__(self, *, optional: bool = False) -> None:
        super().__init__(
            default=(lambda _: None) if optional else traitlets.Undefined, read_only=True
        )
        self.optional = optional

    def _check(self, widget: Any, value: Any) -> int:
        if value is None and self.optional:
            return -1
        others = ", or None" if self.optional else ""
        given, alphabet = f"{self.called} is {brief(value)}", widget.alphabet
        if not isinstance(value, str):
            raise TypeError(f"{given}; expected a character of the alphabet{others}")
        if len(value) != 1 or value not in alphabet:
            raise ValueError(
                f"{given}; expected one character of the alphabet {alphabet!r}{others}"
            )
        return alphabet.index(value)


def visible(text: str) -> str:
    """The text with marks for spaces and line breaks."""
    return text.replace(" ", "␣").replace("\n", "⏎")
