r"""Backward error analysis: the Hamiltonian that a symplectic step nearly follows, term by term.

A kick and a drift, $h$ each, are the flows of $V(q)$ and $T(p)$. The Baker–Campbell–Hausdorff
series (BCH) writes one after the other as the flow of
$\tilde H = H + h H_2 + h^2 H_3 + \dots$, whose terms are brackets of $T$ and $V$. The series
diverges in general, so that it serves only when it is cut. HLW is Hairer, Lubich and Wanner,
Geometric Numerical Integration, 2nd edition (2006).
"""

import math
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from course_lib.support.contracts import Size, checked

T = TypeVar("T")


class TrigonometricPolynomial:
    r"""$\sum_{a,k} c_{ak}\, p^a e^{\mathrm i k q}$ on one pair $(q, p)$, closed under the bracket.

    ``coefficients`` has a row for each power $a = 0, 1, \dots$ of $p$ and a column for each
    frequency $k = -K, \dots, K$. Called on ``q`` and ``p`` of shape ``(*batch, 1)``, it gives its
    real part, ``(*batch,)``, as an energy does.
    """

    def __init__(self, coefficients: Any) -> None:
        self.coefficients = np.asarray(coefficients, dtype=complex)
        match self.coefficients.shape:
            case (powers, frequencies) if powers and frequencies % 2:
                return
        raise ValueError(
            f"coefficients has shape {self.coefficients.shape}; expected (powers, frequencies) "
            "with an odd number of frequencies; fill up with zeros from -K to K"
        )

    def __add__(self, other: "TrigonometricPolynomial") -> "TrigonometricPolynomial":
        powers, frequencies = np.maximum(self.coefficients.shape, other.coefficients.shape)
        total = np.zeros((powers, frequencies), dtype=complex)
        for part in (self.coefficients, other.coefficients):
            left = (frequencies - part.shape[1]) // 2
            total[: part.shape[0], left : left + part.shape[1]] += part
        return TrigonometricPolynomial(total)

    def __mul__(self, factor: float) -> "TrigonometricPolynomial":
        return TrigonometricPolynomial(factor * self.coefficients)

    __rmul__ = __mul__

    @checked
    def __call__(
        self, q: Float[Tensor, "*batch 1"], p: Float[Tensor, "*batch 1"]
    ) -> Float[Tensor, "*batch"]:
        """The value at each state."""
        c = torch.from_numpy(self.coefficients).to(q.device)
        k = torch.arange(c.shape[1], device=q.device) - c.shape[1] // 2
        waves = torch.exp(1j * q.double() * k)
        powers = p.double() ** torch.arange(c.shape[0], device=q.device)
        return ((powers.to(c) @ c) * waves).sum(dim=-1).real.to(q.dtype)

    def d_q(self) -> "TrigonometricPolynomial":
        """The derivative in q."""
        frequencies = self.coefficients.shape[1]
        return TrigonometricPolynomial(
            1j * (np.arange(frequencies) - frequencies // 2) * self.coefficients
        )

    def d_p(self) -> "TrigonometricPolynomial":
        """The derivative in p."""
        powers = np.arange(1, len(self.coefficients))[:, None]
        slopes = powers * self.coefficients[1:]
        return TrigonometricPolynomial(slopes if len(slopes) else 0 * self.coefficients)

    def _times(self, other: "TrigonometricPolynomial") -> "TrigonometricPolynomial":
        from scipy.signal import convolve2d

        return TrigonometricPolynomial(convolve2d(self.coefficients, other.coefficients))


@checked
def poisson_bracket(
    f: TrigonometricPolynomial, g: TrigonometricPolynomial
) -> TrigonometricPolynomial:
    r"""$\{f, g\} = f_q\, g_p - f_p\, g_q$: how fast $f$ changes along the flow of $g$.

    Source: HLW (2006), section VII.2.
    """
    product = f.d_q()._times(g.d_p()) + -1 * f.d_p()._times(g.d_q())
    rows = product.coefficients.any(axis=1).nonzero()[0]
    return TrigonometricPolynomial(product.coefficients[: rows[-1] + 1 if len(rows) else 1])


@checked(calls_back=True)
def bch(X: T, Y: T, order: Size, *, bracket: Callable[[T, T], T]) -> list[T]:
    r"""The first ``order`` terms $Z_n$ of $\log(e^{tX} e^{tY}) = tZ_1 + t^2 Z_2 + \dots$ (BCH).

    For all that has a sum, multiples and a ``bracket``: matrices, functions on phase space.

    $(n + 1) Z_{n+1} = \frac12 [X - Y, Z_n] + \sum_{j \ge 2} \frac{B_j}{j!} \sum_{k_1 + \dots + k_j
    = n} [Z_{k_1}, [\dots [Z_{k_j}, X + Y] \dots]]$ over even $j$, with the Bernoulli numbers $B_j$.
    Source: Varadarajan (1984), Lie Groups, Lie Algebras, and Their Representations, section 2.15.
    """
    from scipy.special import bernoulli

    total, difference, B = X + Y, X + -1 * Y, bernoulli(order + 1)
    Z = [total]
    # nested[j][n] is the inner sum: j brackets whose indices add up to n.
    nested: list[dict[int, T]] = [{0: total}] + [{} for _ in range(order)]
    for n in range(1, order):
        for j in range(1, n + 1):
            deeper = nested[j - 1]
            terms = [bracket(Z[k - 1], deeper[n - k]) for k in range(1, n + 1) if n - k in deeper]
            nested[j][n] = sum(terms[1:], start=terms[0])
        new = 0.5 * bracket(difference, Z[n - 1])
        for j in range(2, n + 1, 2):
            new = new + float(B[j]) / math.factorial(j) * nested[j][n]
        Z.append(1 / (n + 1) * new)
    return Z


@checked
def modified_pendulum(order: Size) -> list[TrigonometricPolynomial]:
    r"""$H, H_2, \dots, H_N$ for a unit pendulum by symplectic Euler, up to ``order`` $N$.

    One kick and one drift of length $h$ follow $\tilde H_N = \sum_n h^{n-1} H_n$ up to an error of
    order $h^{N+1}$, with $H_2 = -\frac12 H_q H_p$. In this case the step is Chirikov's standard
    map with $K = h^2$. Source: HLW (2006), sections III.5 and IX.3.
    """
    kinetic = TrigonometricPolynomial([[0], [0], [0.5]])
    potential = TrigonometricPolynomial([[-0.5, 1, -0.5]])
    # Of two flows the operator of the first stands on the left, and [V, T] is that of {T, V}.
    return bch(potential, kinetic, order, bracket=lambda f, g: poisson_bracket(g, f))
