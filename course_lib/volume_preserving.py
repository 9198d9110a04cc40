r"""Maps that keep volume where there are no canonical pairs: attention turns, layers shear.

States are ``z``, windows ``(*batch, tokens, d)``. Every layer has Jacobian determinant 1 and an
exact inverse. Determinant 1 bounds nothing by itself, as lecture 12 shows. Bad input raises
``TypeError`` or ``ValueError`` with what was given, what was expected and what to do.
"""

import math
from collections.abc import Iterable
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from course_lib.support.contracts import Count, Size, checked


class VolumePreservingAttention(nn.Module):
    r"""Turn the tokens into one another: $Z \mapsto \Lambda Z$, $\Lambda = (1 + C)^{-1}(1 - C)$.

    $C$ is the skew part of the scores $Z A Z^\top$, so its Cayley transform $\Lambda$ is
    orthogonal, for windows of any length. The whole map, in which $\Lambda$ depends on $Z$, has
    Jacobian determinant 1. ``d`` is the number of features of a state, canonical or not. Only the
    skew part of $A$ enters; ``skew=True`` stores no other, ``skew=False`` a full matrix.
    Source: Brantner, de Romemont, Kraus and Li (2024).
    """

    @checked
    def __init__(self, d: Size, *, skew: bool = True) -> None:
        super().__init__()
        self.d = d
        self.skew = skew
        entries = d * (d - 1) // 2 if skew else d * d
        self.weight = nn.Parameter(torch.randn(entries) / (4 * math.sqrt(d)))

    @property
    def A(self) -> Float[Tensor, "d d"]:  # noqa: N802 - the matrix of the formula
        r"""The matrix of the scores $Z A Z^\top$."""
        if not self.skew:
            return self.weight.unflatten(0, (self.d, self.d))
        row, column = torch.triu_indices(self.d, self.d, offset=1, device=self.weight.device)
        upper = self.weight.new_zeros(self.d, self.d).index_put((row, column), self.weight)
        return upper - upper.mT

    @checked
    def forward(self, z: Float[Tensor, "*batch tokens d"]) -> Float[Tensor, "*batch tokens d"]:
        r"""$\Lambda Z$."""
        one, C = self._scores(z)
        return _solve(one + C, z - C @ z)

    @checked
    def inverse(self, z: Float[Tensor, "*batch tokens d"]) -> Float[Tensor, "*batch tokens d"]:
        r"""$\Lambda^\top Z$: $\Lambda$ commutes with $C$, so $Z$ and $\Lambda Z$ share one $C$."""
        one, C = self._scores(z)
        return _solve(one - C, z + C @ z)

    def _scores(self, z: Tensor) -> tuple[Tensor, Tensor]:
        score = z @ self.A @ z.mT
        return torch.eye(z.shape[-2], dtype=z.dtype, device=z.device), (score - score.mT) / 2


def _solve(matrix: Tensor, right: Tensor) -> Tensor:
    """In float32 at least, since no solver knows half precision."""
    wide = torch.promote_types(right.dtype, torch.float32)
    try:
        return torch.linalg.solve(matrix.to(wide), right.to(wide)).to(right.dtype)
    except torch.linalg.LinAlgError as error:
        raise ValueError(
            "the scores of z are too large beside 1, or not finite; expected a solution of "
            "(1 + C) x = (1 - C) z; scale z down"
        ) from error


class VolumePreservingLayer(nn.Module):
    r"""Token by token, $z \mathrel{+}= a\tanh(Lz + b)$ with a strictly triangular $L$.

    ``triangle`` is ``"lower"``, where each coordinate moves by those before it, or ``"upper"``.
    The Jacobian is triangular with ones on its diagonal, so its determinant is 1.
    Source: Brantner, de Romemont, Kraus and Li (2024); the amplitude $a$ is added here.
    """

    @checked
    def __init__(self, d: Size, *, triangle: Literal["lower", "upper"] = "lower") -> None:
        super().__init__()
        self.d = d
        self.triangle = triangle
        self.weight = nn.Parameter(torch.randn(d, d) / math.sqrt(d))
        self.a = nn.Parameter(torch.randn(d) / 4)
        self.b = nn.Parameter(torch.zeros(d))

    @checked
    def forward(self, z: Float[Tensor, "*axes d"]) -> Float[Tensor, "*axes d"]:
        r"""$z + a\tanh(Lz + b)$."""
        return z + self._move(z)

    @checked
    def inverse(self, z: Float[Tensor, "*axes d"]) -> Float[Tensor, "*axes d"]:
        """Substitution: each round sets one more coordinate right, so ``d`` rounds are exact."""
        start = z
        for _ in range(z.shape[-1]):
            start = z - self._move(start)
        return start

    def _move(self, z: Tensor) -> Tensor:
        L = self.weight.tril(-1) if self.triangle == "lower" else self.weight.triu(1)
        return self.a * F.linear(z, L, self.b).tanh()


class InvertibleStack(nn.Module):
    """Invertible layers one after the other, on states ``z`` that need no canonical pairs.

    What a state may be, its layers say, each at its own door.
    """

    def __init__(self, layers: Iterable[nn.Module]) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)

    def forward(self, z: Float[Tensor, "*axes d"]) -> Float[Tensor, "*axes d"]:
        """One layer after the other."""
        for layer in self.layers:
            z = layer(z)
        return z

    def inverse(self, z: Float[Tensor, "*axes d"]) -> Float[Tensor, "*axes d"]:
        """The inverse of each layer, the last one first."""
        for layer in reversed(self.layers):
            z = layer.inverse(z)
        return z


class VolumePreservingTransformer(InvertibleStack):
    """Blocks of volume-preserving attention, then ``layers`` pairs of triangular layers.

    ``d`` counts the features of a state ``(*batch, tokens, d)``. The Jacobian determinant is 1.
    Source: Brantner, de Romemont, Kraus and Li (2024).
    """

    @checked
    def __init__(self, d: Size, *, blocks: Size = 3, layers: Count = 2, skew: bool = True) -> None:
        pair = ("lower", "upper")
        super().__init__(
            layer
            for _ in range(blocks)
            for layer in (
                VolumePreservingAttention(d, skew=skew),
                *(VolumePreservingLayer(d, triangle=pair[i % 2]) for i in range(2 * layers)),
            )
        )
