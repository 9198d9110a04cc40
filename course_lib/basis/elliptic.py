r"""Heat through a random rod: $-(k u')' + q u = f$, solved by finite elements.

$k > 0$ is the conductivity, $f$ the heat put in at each place, and $u$ the temperature of a rod
whose ends are kept at 0. The rate at which it loses heat to the air is $q \ge 0$, 0 by default.
:func:`solve` is the method of finite elements with the hats of
:func:`course_lib.basis.hat`. :func:`random_rods` draws the family of rods that lecture 3 learns.
Functions of a place are callables that take ``(points,)`` and return ``(*batch, points)``, so that
many rods are solved at once. Bad input raises ``TypeError`` or ``ValueError`` with what was given,
what was expected and what to do.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from einops import einsum
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from course_lib.basis.hats import check_nodes
from course_lib.support.checks import check_finite, check_floating, check_shapes
from course_lib.support.contracts import NotNegative, Positive, Size, checked

Function = Callable[[Tensor], Tensor]

# The three points and weights of Gauss and Legendre on [-1, 1]: exact for polynomials of degree 5.
GAUSS = ((-math.sqrt(3 / 5), 0.0, math.sqrt(3 / 5)), (5 / 9, 8 / 9, 5 / 9))


# Finite elements ------------------------------------------------------------------------------


@checked
def solve(
    k: Function, f: Function, nodes: Float[Tensor, "nodes"], *, q: NotNegative = 0
) -> Float[Tensor, "*batch nodes"]:
    r"""The nodal values of the finite-element solution of $-(k u')' + q u = f$, 0 at both ends.

    Among all $u_h = \sum_i u_i \phi_i$ the one with $\int k\,u_h'\,\phi_i' + q\,u_h\,\phi_i =
    \int f \phi_i$ for every inner node $i$: a system with three diagonals, solved by SciPy.
    ``interpolate(x, nodes, u)`` is the solution everywhere; its error falls as $h^2$, that of its
    slope as $h$. For a constant $k$ and $q = 0$ nodal values are exact, up to the integral on the
    right. Integrals are Gauss sums of three points an element. Raises ``ValueError`` for fewer than
    three nodes, nodes that do not increase, and a conductivity that is not positive.
    Source: Strang and Fix (1973), section 1.5.
    """
    check_nodes(nodes, minimum=3)
    width = nodes.diff()
    conductivity, to_left, to_right = _integrals(k, f, nodes)
    stiffness = conductivity / width
    # On an element, the square of a hat has the integral width / 3, two hats' product width / 6.
    own, mixed = stiffness + q * width / 3, q * width / 6 - stiffness
    # The ends have equations of their own, u = 0.
    diagonal = F.pad(own[..., :-1] + own[..., 1:], (1, 1), value=1)
    above = F.pad(mixed[..., 1:-1], (2, 1))
    right_side = F.pad(to_right[..., :-1] + to_left[..., 1:], (1, 1))
    return _solve_symmetric(torch.stack([above, diagonal], dim=-2), right_side)


# Random rods ----------------------------------------------------------------------------------


@checked
@dataclass(frozen=True)
class CosineSeries:
    r"""Smooth functions on [0, 1]: $c_0 + \sqrt 2\,\sum_{j \ge 1} c_j \cos(j \pi x)$.

    ``coefficients`` is ``(*batch, modes)``. The functions 1 and $\sqrt 2 \cos(j \pi x)$ are
    orthonormal, so that $\int g^2 = \sum_j c_j^2$ for each $g$ of the batch.
    """

    coefficients: Float[Tensor, "*batch modes"]

    @checked
    def __call__(self, x: Float[Tensor, "points"]) -> Float[Tensor, "*batch points"]:
        """The values of all functions at the points ``x``."""
        check_floating(coefficients=self.coefficients, x=x)
        mode = torch.arange(self.coefficients.shape[-1], dtype=x.dtype, device=x.device)
        norm = torch.where(mode > 0, 2, 1).to(x.dtype).sqrt()
        cosine = norm[:, None] * torch.cos(math.pi * mode[:, None] * x)
        return einsum(self.coefficients, cosine, "... modes, modes points -> ... points")


@dataclass(frozen=True)
class Rods:
    """Random rods: the logarithms of their conductivities, and the heat put into each."""

    log_conductivity: CosineSeries
    load: CosineSeries

    @checked
    def conductivity(self, x: Float[Tensor, "points"]) -> Float[Tensor, "*batch points"]:
        """The conductivities at the points ``x``, positive by their exponential."""
        return self.log_conductivity(x).exp()

    @checked
    def solve(
        self, nodes: Float[Tensor, "nodes"], *, q: NotNegative = 0
    ) -> Float[Tensor, "*batch nodes"]:
        """The temperatures at the nodes of a mesh of [0, 1], by :func:`solve`."""
        return solve(self.conductivity, self.load, nodes, q=q)


@checked
def random_rods(
    rods: Size, *, length: Positive = 0.1, modes: Size = 16, generator: torch.Generator
) -> Rods:
    """Draw rods whose log-conductivity and load are two independent :func:`random_series`."""
    log_conductivity, load = (
        random_series(rods, length=length, modes=modes, generator=generator) for _ in range(2)
    )
    return Rods(log_conductivity, load)


@checked
def random_series(
    samples: Size, *, length: Positive = 0.1, modes: Size = 16, generator: torch.Generator
) -> CosineSeries:
    r"""Smooth Gaussian random fields on [0, 1], with mean 0 and, on average over $x$, variance 1.

    Coefficients are independent, and the variance of $c_j$ is proportional to $\exp(-(\pi j
    \ell)^2/2)$: the Karhunen-Loève expansion of a field whose correlation falls as
    $\exp(-r^2/2\ell^2)$, away from the ends, where $\ell$ is ``length``. In float64.
    Source: Lord, Powell and Shardlow (2014), section 5.4.
    """
    mode = torch.arange(modes, dtype=torch.float64, device=generator.device)
    deviation = torch.exp(-((math.pi * length * mode) ** 2) / 4)
    noise = torch.randn(
        samples, modes, dtype=torch.float64, device=generator.device, generator=generator
    )
    return CosineSeries(noise * deviation / deviation.norm())


def _integrals(k: Function, f: Function, nodes: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """On each element: the mean of k, and the integrals of f times its left and its right hat."""
    point, weight = (nodes.new_tensor(numbers) for numbers in GAUSS)
    width, right_hat = nodes.diff(), (1 + point) / 2
    inside = (nodes[:-1, None] + width[:, None] * right_hat).flatten()
    conductivity, load = _at("k", k, inside), _at("f", f, inside)
    if not (conductivity > 0).all():
        raise ValueError(
            f"k falls to {conductivity.min().item():g}; expected a positive conductivity; "
            "take the exponential of a field that may be negative"
        )
    conductivity, load = (
        values.unflatten(-1, (len(width), len(point))) * weight / 2
        for values in torch.broadcast_tensors(conductivity, load)
    )
    to_left, to_right = (
        einsum(load, share, "... elements gauss, gauss -> ... elements") * width
        for share in (1 - right_hat, right_hat)
    )
    return conductivity.sum(-1), to_left, to_right


def _solve_symmetric(bands: Tensor, right_side: Tensor) -> Tensor:
    from scipy.linalg import solveh_banded

    found = solveh_banded(bands.cpu().numpy(), right_side.cpu().numpy()[..., None])
    return torch.as_tensor(found[..., 0]).to(right_side)


def _at(name: str, function: Function, x: Float[Tensor, "points"]) -> Tensor:
    """The values of a caller's function, checked."""
    values = function(x)
    check_floating(nodes=x, **{name: values})
    check_shapes(**{name: (values, f"*batch {len(x)}")})
    check_finite(**{name: values})
    return values
