r"""What a learned operator has to beat: the solver itself, and ridge regression with a kernel.

Inputs are what sensors at ``place``, ``(sensors,)``, measured of many rods: ``z``, ``(rods,
sensors, 2)``, holds the logarithm of the conductivity and the load. A
:class:`course_lib.basis.CrossAttentionField` takes the same inputs.
"""

from collections.abc import Callable
from functools import partial

import torch
from einops import einsum
from jaxtyping import Float
from torch import Tensor

from course_lib.basis.elliptic import solve
from course_lib.basis.hats import hat, interpolate
from course_lib.support.contracts import NotNegative, Positive, checked

Kernel = Callable[[Tensor, Tensor], Float[Tensor, "_ rods"]]
ELEMENTS = 256


@checked
def solve_from_sensors(
    x: Float[Tensor, "points"],
    place: Float[Tensor, "sensors"],
    z: Float[Tensor, "rods sensors 2"],
    basis: Callable[[Tensor, Tensor], Float[Tensor, "_ sensors"]] = hat,
    *,
    q: NotNegative = 0,
) -> Float[Tensor, "rods points"]:
    """Finite elements at the points, for measurements that ``basis`` interpolates.

    The mesh has 256 elements over the sensors' interval. ``q`` is that of
    :func:`course_lib.basis.solve`.
    """
    nodes = torch.linspace(place[0].item(), place[-1].item(), ELEMENTS + 1).to(place)
    log_conductivity, load = z.unbind(-1)
    u = solve(
        lambda p: (log_conductivity @ basis(p, place).T).exp(),
        lambda p: load @ basis(p, place).T,
        nodes,
        q=q,
    )
    return interpolate(x, nodes, u.T).T


@checked
def gaussian(
    a: Float[Tensor, "rods sensors d_z"],
    b: Float[Tensor, "others sensors d_z"],
    *,
    length: Positive,
) -> Float[Tensor, "rods others"]:
    r"""The Gaussian kernel $e^{-\lVert a - b \rVert^2 / 2 \ell^2}$, with a mean over sensors."""
    sensors = a.shape[1]
    distance = torch.cdist(a.flatten(1), b.flatten(1))
    return torch.exp(-distance.square() / (2 * sensors * length**2))


@checked
def near_and_linear_in_load(
    a: Float[Tensor, "rods sensors 2"],
    b: Float[Tensor, "others sensors 2"],
    *,
    length: Positive,
) -> Float[Tensor, "rods others"]:
    """:func:`gaussian` in conductivity, times a kernel linear in the load, as solutions are."""
    similar = gaussian(a[..., :1], b[..., :1], length=length)
    return similar * einsum(a[..., 1], b[..., 1], "rods sensors, others sensors -> rods others")


@checked
def kernel_regression(
    asked: Float[Tensor, "asked sensors d_z"],
    z: Float[Tensor, "rods sensors d_z"],
    u: Float[Tensor, "rods points"],
    kernel: Kernel,
    *,
    strength: Positive,
) -> Float[Tensor, "asked points"]:
    r"""Ridge regression with a kernel: $K_* (K + \lambda D)^{-1} u$.

    The diagonal $D$ is the mean square of each solution, over that of all, times the mean of $K$'s
    diagonal, so that every rod counts as its relative error does. ``strength`` is $\lambda$.
    """
    inner = kernel(z, z)
    size = u.square().mean(dim=-1) / u.square().mean()
    weights = torch.linalg.solve(inner + torch.diag(strength * inner.diagonal().mean() * size), u)
    return kernel(asked, z) @ weights


@checked
def ridge_kernels(length: Positive) -> dict[str, Kernel]:
    """Both kernels of one length, by name."""
    return {
        "kernel ridge": partial(gaussian, length=length),
        "kernel ridge, linear in f": partial(near_and_linear_in_load, length=length),
    }
