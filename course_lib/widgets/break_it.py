"""BreakIt: random cases against a claim, whose assumption the reader bends until it breaks."""

from __future__ import annotations

import dataclasses
from typing import Any

from course_lib.widgets.base import Widget
from course_lib.widgets.modules import module_source, stylesheet
from course_lib.widgets.traits import Choice, Data, Integer, Number, Switch


@dataclasses.dataclass(frozen=True, kw_only=True)
class Claim:
    """What a claim says, what the reader bends, and which error is more than rounding.

    ``lecture`` names the module of JavaScript that tries it.
    """

    lecture: str
    says: str
    bend: str
    switch: bool = False
    tolerance: float = 1e-9


CLAIMS = {
    "softmax-shares": Claim(
        lecture="soft_lookup",
        says="adding one constant to all scores changes no weight",
        bend="Gates in place of the softmax, divided by their sum",
        switch=True,
    ),
    "equal-lengths": Claim(
        lecture="soft_lookup",
        says="among keys of equal length, distance and dot product give the same weights",
        bend="Lengths differ by",
    ),
    "step-areas": Claim(
        lecture="hamiltonian_mechanics",
        says="a step of Störmer–Verlet keeps every small area",
        bend="Friction",
        tolerance=1e-7,
    ),
    "there-and-back": Claim(
        lecture="hamiltonian_mechanics",
        says="a step of Störmer–Verlet with the momentum reversed leads back",
        bend="Symplectic Euler in its place",
        switch=True,
    ),
}


def _on_or_off(widget: Any, bend: float) -> float:
    if CLAIMS[widget.claim].switch and bend not in (0, 1):
        raise ValueError(f"bend of {widget.claim} must be 0 or 1, a switch, but was given {bend}")
    return bend


class BreakIt(Widget):
    """Random cases fly by, until the reader bends what a ``claim`` assumes.

    Each case leaves a dot at its error, on a logarithmic scale with the tolerance drawn. ``bend``
    is how far the assumption is bent, from 0 to 1; for a switch it is one of the two. Then a case
    breaks the claim, and is made smaller for as long as it does: fewer entries, plainer numbers.
    The cases of a ``seed`` are the same whenever they are drawn. They come by themselves while the
    strip is in view, unless the reader has asked for less motion or you for none with ``moving``.

    Traits, synced both ways: ``bend``, ``seed``. Raises ``TypeError`` and ``ValueError`` for a
    claim that is not there and a bend that cannot be. Source of the shrinking: MacIver et al. (2019).
    """

    _module = "break_it.js"

    claim = Choice(*CLAIMS, read_only=True)
    about = Data(lambda self: dataclasses.asdict(CLAIMS[self.claim]))
    bend = Number(0.0, 1.0, default=0.0, rule=_on_or_off)
    seed = Integer(0, 2**31 - 1, default=0)
    moving = Switch(default=True, read_only=True)

    def __init__(self, claim: str, **given: Any) -> None:
        if isinstance(claim, str) and claim in CLAIMS:
            # A page carries the claims of its own lecture alone.
            self._module = f"js/break_it/{CLAIMS[claim].lecture}.js"
            self._esm, self._css = module_source(self._module), stylesheet(self._module)
        super().__init__(claim=claim, **given)

    def describe(self) -> str:
        """Which claim is on trial, and what can be bent."""
        about = CLAIMS[self.claim]
        return (
            f"Break it: random cases against the claim that {about.says}. The reader can bend it: "
            f"{about.bend}."
        )
