"""SymplecticityMeter: swap the formula of symplectic attention, and see what breaks."""

from __future__ import annotations

from typing import Any

import traitlets
from numpy.typing import ArrayLike

from course_lib.widgets.base import Widget
from course_lib.widgets.traits import Array, finite_array, number_between, one_of

SOFTMAXES = ("vector", "matrix")
MATRICES = ("symmetric", "general")
FORMULAS = ("full", "shortcut")
SHORTEST, LONGEST = 0.01, 0.3
MOST_ENTRIES = 24


class SymplecticityMeter(Widget):
    r"""Is a formula for symplectic attention a gradient, and what does it do to the energy?

    With $C = Z A Z^\top$ the reader chooses the softmax that makes $S$, a symmetric or a general
    $A$, and the force: $S Z A^\top + S^\top Z A$, the gradient of the potential, or the shortcut
    $2 S Z A$. The widget shows the asymmetry $\|M - M^\top\| / \|M\|$ of the force's Jacobian $M$,
    the symplecticity error of one kick, and the energy $|p|^2/2 + |q|^2/2 + \Sigma(q)$ along
    ``steps`` steps of Störmer–Verlet that start at rest in ``z``.

    ``z`` is the window ``(tokens, d)``, ``A`` the matrix ``(d, d)``; "symmetric" stands for the
    symmetric part of ``A``.

    Traits, synced both ways: ``softmax``, ``matrix``, ``formula``, ``dt``. Raises ``TypeError`` and
    ``ValueError`` for data that cannot be drawn. Source: Brantner and Kraus (2024), corrected.
    """

    _module = "symplecticity_meter.js"

    z = Array(read_only=True)
    A = Array(read_only=True)
    steps = traitlets.Int(2_000, read_only=True).tag(sync=True)

    softmax = traitlets.Enum(SOFTMAXES).tag(sync=True)
    matrix = traitlets.Enum(MATRICES).tag(sync=True)
    formula = traitlets.Enum(FORMULAS).tag(sync=True)
    dt = traitlets.Float(min=SHORTEST, max=LONGEST).tag(sync=True)

    def __init__(
        self,
        z: ArrayLike,
        A: ArrayLike,
        *,
        softmax: str = "vector",
        matrix: str = "symmetric",
        formula: str = "shortcut",
        dt: float = 0.05,
        **dom: Any,
    ) -> None:
        window = finite_array("z", z, ("tokens", "d"))
        square = finite_array("A", A, ("d", "d"))
        d = window.shape[1]
        if square.shape != (d, d):
            raise ValueError(
                f"A has the shape {square.shape}; z has {d} features, so A must be ({d}, {d})"
            )
        if window.size > MOST_ENTRIES:
            raise ValueError(
                f"z has {window.size} entries; the meter draws at most {MOST_ENTRIES}; "
                "give fewer tokens or features"
            )
        self.set_trait("z", window)
        self.set_trait("A", square)
        super().__init__(
            softmax=one_of("softmax", softmax, SOFTMAXES),
            matrix=one_of("matrix", matrix, MATRICES),
            formula=one_of("formula", formula, FORMULAS),
            dt=number_between("dt", dt, SHORTEST, LONGEST),
            **dom,
        )

    def describe(self) -> str:
        """Which formula is on trial."""
        tokens, d = self.z.shape
        force = "S Z Aᵀ + Sᵀ Z A" if self.formula == "full" else "2 S Z A"
        return (
            f"Symplecticity meter for a window of {tokens} tokens with {d} features: is {force} "
            f"with the {self.softmax} softmax and a {self.matrix} A the gradient of a potential?"
        )
