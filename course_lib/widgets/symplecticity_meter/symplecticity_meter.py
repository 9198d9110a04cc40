"""SymplecticityMeter: carry a token round a loop, and see what is left of the work."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from course_lib.widgets.kit.base import MovingWidget
from course_lib.widgets.kit.traits import Array, Choice

REACH = 2.5  # half of the width of the picture
CORNERS = 96
RADIUS = 1.5
SMALLEST_LOOP = 0.01


def _circle(meter: SymplecticityMeter) -> NDArray[np.float64]:
    """A circle about the last token's place, or as near as the picture has room for it."""
    turn = np.linspace(0, 2 * np.pi, CORNERS, endpoint=False)
    middle = np.clip(meter.z[-1], RADIUS - REACH, REACH - RADIUS)
    return middle + RADIUS * np.stack([np.cos(turn), np.sin(turn)], axis=-1)


def _closed(_meter: SymplecticityMeter, loop: NDArray[np.float32]) -> NDArray[np.float32]:
    if np.ptp(loop, axis=0).max() < SMALLEST_LOOP:
        raise ValueError(
            f"loop stays within {SMALLEST_LOOP} of {loop[0].tolist()}; expected a way round, with "
            "three corners or more; give places that differ"
        )
    return loop


class SymplecticityMeter(MovingWidget):
    r"""Is a force of attention the gradient of an energy? A token goes round a loop and finds out.

    With $C = Z A Z^\top$ and weights $S$ that the ``softmax`` makes of $C$, by columns ("vector")
    or over all pairs ("matrix"), the force on the window is $-(S Z A^\top + S^\top Z A)$ with the
    ``formula`` "full", the negative gradient of the potential, or $-2 S^\top Z A$ with "shortcut",
    twice standard attention. In the ``experiment`` "loop" the last token is a bead on the closed
    wire ``loop``, driven by that force alone while the others are held: the work $\oint F \cdot
    \mathrm dz$ of a round is zero for a gradient, and all that a force gains on a round it gains on
    each. In "free" all tokens are let go from rest, with the energy $|p|^2/2 + |q|^2/2 + \Sigma(q)$
    in 2,000 steps of Störmer–Verlet.

    ``z`` is the window ``(tokens, 2)``, ``A`` the matrix ``(2, 2)``, ``loop`` ``(corners, 2)``; by
    default a circle about the last token. It is ``moving`` at once, unless the reader asked for
    less motion or you for none.

    Traits, synced both ways: ``z``, ``loop``, ``softmax``, ``formula``, ``experiment``. Raises
    ``TypeError`` and ``ValueError`` for data that cannot be drawn. Source: Brantner and Kraus
    (2024); HLW (2006), section VI.2.
    """

    z = Array("tokens", "xy=2", within=REACH, most={"tokens": 6})
    A = Array("xy=2", "xy=2", within=100, read_only=True)
    loop = Array(
        "corners", "xy=2", within=REACH, most={"corners": 200}, default=_circle, rule=_closed
    )
    softmax = Choice("vector", "matrix", default="vector")
    formula = Choice("full", "shortcut", default="shortcut")
    experiment = Choice("loop", "free", default="loop")

    def describe(self) -> str:
        """Which force is on trial, and how."""
        pulled = "both tokens of a pair" if self.formula == "full" else "only the token that looks"
        shared = "by each token" if self.softmax == "vector" else "over all pairs at once"
        deed = (
            f"Token {len(self.z)} goes round a closed loop, and the work of the force is summed"
            if self.experiment == "loop"
            else "All are let go, and their energy is watched"
        )
        return (
            f"{len(self.z)} tokens that pull at each other by attention, shared out {shared}; a "
            f"pull moves {pulled}. {deed}."
        )
