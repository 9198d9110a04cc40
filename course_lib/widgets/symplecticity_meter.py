"""SymplecticityMeter: swap the formula of symplectic attention, and see what breaks."""

from __future__ import annotations

from course_lib.widgets.base import Widget
from course_lib.widgets.traits import Array, Choice, Data, Number


class SymplecticityMeter(Widget):
    r"""Is a formula for symplectic attention a gradient, and what does it do to the energy?

    With $C = Z A Z^\top$ the reader chooses the softmax that makes $S$, a symmetric or a general
    $A$, and the force: $S Z A^\top + S^\top Z A$, the gradient of the potential, or the shortcut
    $2 S^\top Z A$, twice standard attention. The widget shows the asymmetry
    $\|M - M^\top\| / \|M\|$ of the force's Jacobian $M$, the symplecticity error of one kick, and
    the energy $|p|^2/2 + |q|^2/2 + \Sigma(q)$ along ``steps`` steps of Störmer–Verlet that start
    at rest in ``z``.

    ``z`` is the window ``(tokens, d)``, ``A`` the matrix ``(d, d)``; "symmetric" stands for the
    symmetric part of ``A``.

    Traits, synced both ways: ``softmax``, ``matrix``, ``formula``, ``dt``. Raises ``TypeError`` and
    ``ValueError`` for data that cannot be drawn. Source: Brantner and Kraus (2024).
    """

    _module = "symplecticity_meter.js"

    z = Array("tokens", "d", most={"tokens d": 24}, read_only=True)
    A = Array("d", "d", read_only=True)
    steps = Data(2_000)
    softmax = Choice("vector", "matrix", default="vector")
    matrix = Choice("symmetric", "general", default="symmetric")
    formula = Choice("full", "shortcut", default="shortcut")
    dt = Number(0.01, 0.3, default=0.05)

    def describe(self) -> str:
        """Which formula is on trial."""
        tokens, d = self.z.shape
        force = "S Z Aᵀ + Sᵀ Z A" if self.formula == "full" else "2 Sᵀ Z A"
        return (
            f"Symplecticity meter for a window of {tokens} tokens with {d} features: is {force} "
            f"with the {self.softmax} softmax and a {self.matrix} A the gradient of a potential?"
        )
