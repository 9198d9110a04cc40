r"""Maps that keep the Poisson structure of a rigid body: turns about its axes.

States are angular momenta ``z``, ``(*axes, 3)``. Each layer is the exact flow of a Hamiltonian that
depends on one coordinate, so it keeps $|z|$ and has an exact inverse. Bad input raises
``TypeError`` or ``ValueError`` with what was given, what was expected and what to do.
"""

from typing import Annotated

import torch
from jaxtyping import Float
from torch import Tensor, nn

from course_lib.support.contracts import Between, Size, checked
from course_lib.volume_preserving import InvertibleStack


class LiePoissonLayer(nn.Module):
    r"""The exact flow of a Hamiltonian $F(a \cdot z)$ on a rigid body: turn about the axis $a$.

    $\dot z = z \times \nabla H$ leaves $a \cdot z$ as it is, so $z$ turns at the constant rate
    $-F'(a \cdot z)$, here $F'(s) = \sum_i v_i \tanh(w_i s + b_i)$ over ``width`` units, for a unit
    of time. So the layer keeps $|z|$, volume and the Poisson structure. ``axis`` is 1, 2 or 3.
    Source: Eldred, Gay-Balmaz, Huraka and Putkaradze (2024).
    """

    @checked
    def __init__(self, axis: Annotated[int, Between(1, 3)], *, width: Size = 8) -> None:
        super().__init__()
        self.axis = axis
        self.w = nn.Parameter(torch.randn(width))
        self.b = nn.Parameter(torch.randn(width))
        self.v = nn.Parameter(torch.randn(width) / (4 * width))

    @checked
    def forward(self, z: Float[Tensor, "*axes 3"]) -> Float[Tensor, "*axes 3"]:
        """Turn by the angle that the coordinate along the axis sets."""
        return self._turn(z, 1)

    @checked
    def inverse(self, z: Float[Tensor, "*axes 3"]) -> Float[Tensor, "*axes 3"]:
        """Turn back: the angle is the same before and after."""
        return self._turn(z, -1)

    def _turn(self, z: Tensor, sign: int) -> Tensor:
        along, x, y = z.roll(1 - self.axis, dims=-1).unbind(-1)
        rate = (along[..., None] * self.w + self.b).tanh() @ self.v
        cos, sin = rate.cos(), -sign * rate.sin()
        turned = torch.stack([along, cos * x - sin * y, sin * x + cos * y], dim=-1)
        return turned.roll(self.axis - 1, dims=-1)


class LiePoissonNet(InvertibleStack):
    """``layers`` turns about the three axes in turn: for a rigid body what a SympNet is for pairs.

    Keeps $|z|$ and the Poisson structure, on states ``(*axes, 3)``.
    Source: Eldred, Gay-Balmaz, Huraka and Putkaradze (2024).
    """

    @checked
    def __init__(self, *, layers: Size = 9, width: Size = 8) -> None:
        super().__init__(LiePoissonLayer(1 + i % 3, width=width) for i in range(layers))
