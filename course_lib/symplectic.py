r"""Symplectic attention: attention as the gradient of its own energy, in symplectic maps.

The module reads in the order of lecture 12. First the potential, a log-partition function of
attention scores, and its gradient. Then the layers: each adds a gradient in q to p, or one in p to
q, so each is symplectic and has an exact inverse. Then the networks, which are stacks of these.
Where there are no canonical pairs, maps keep volume, and attention mixes the tokens orthogonally;
last come turns of a rigid body, which keep its Poisson structure.

``q`` and ``p`` are windows ``(*batch, tokens, d)``, where ``d`` counts the features of ``q``, half
of phase space. Symplectic is meant in the product space of the window's tokens, as
:func:`course_lib.mechanics.symplecticity_error` measures it. Without pairs a state is ``z``, and
every layer has Jacobian determinant 1 and an exact inverse. Bad input raises ``TypeError`` or
``ValueError`` with what was given, what was expected and what to do.
"""

import math
from collections.abc import Collection, Iterable
from importlib.util import find_spec
from typing import Annotated, Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from course_lib.support.checks import check_shapes
from course_lib.support.contracts import Between, Count, Size, checked

Softmax = Literal["matrix", "vector"]
Update = Literal["q", "p"]
Context = tuple[Float[Tensor, "*batch prompt d"], Float[Tensor, "*batch prompt d"]]

KERNEL_DTYPES = (torch.float16, torch.bfloat16, torch.float32)
KERNEL_FEATURES = 256


# Attention from a potential -------------------------------------------------------------------


@checked
def attention_potential(
    z: Float[Tensor, "*batch tokens d"], A: Float[Tensor, "d d"], *, softmax: Softmax = "matrix"
) -> Float[Tensor, "*batch"]:
    r"""Attention's energy, the log-partition function of its scores $C = Z A Z^\top$.

    $\log(1 + \sum_{mn} e^{C_{mn}})$ for ``softmax`` ``"matrix"``, where all pairs of tokens share
    one distribution, and $\sum_n \log(1 + \sum_m e^{C_{mn}})$ for ``"vector"``, where each column
    has its own. Right for scores of any size. Source: Brantner and Kraus, GeometricMachineLearning
    (2024); Ramsauer et al. (2021) for the energy.
    """
    return _log_partition(z @ A @ z.mT, softmax).sum(dim=(-2, -1))


@checked
def symplectic_attention(
    z: Float[Tensor, "*batch tokens d"],
    A: Float[Tensor, "d d"],
    *,
    softmax: Softmax = "matrix",
    symmetric: bool = False,
    backend: Literal["auto", "reference", "triton"] = "auto",
) -> Float[Tensor, "*batch tokens d"]:
    r"""The gradient of :func:`attention_potential` in $Z$: $S Z A^\top + S^\top Z A$.

    $S = e^C / (1 + \sum e^C)$, the sum over all entries or over each column. A symmetric $A$ makes
    it $(S + S^\top) Z A$. With the matrix softmax $S$ is symmetric too, and that is
    $2 S^\top Z A$. With the vector softmax and two tokens or more, neither term alone is the
    gradient of anything. ``symmetric`` states that ``A`` is, unchecked, and saves two of five
    products. Source: as for the potential.

    ``backend`` is ``"reference"`` (the formula), ``"triton"`` (our kernel for the vector softmax,
    :func:`course_lib.kernels.symplectic_flash`) or ``"auto"``: the kernel on a CUDA device for
    what it takes, the formula for all else.
    """
    if backend == "triton" or (backend == "auto" and _kernel_takes(z, softmax)):
        return _in_tiles(z, A, softmax, symmetric=symmetric)
    zA = z @ A
    score = zA @ z.mT
    # The difference is never above 0, so the exponential cannot overflow.
    S = (score - _log_partition(score, softmax)).exp()
    if symmetric:
        return (S + S.mT) @ zA
    return S @ (z @ A.mT) + S.mT @ zA


# Symplectic layers ----------------------------------------------------------------------------


class SymplecticMap(nn.Module):
    """A map of windows ``(q, p)``, of the shapes ``axes``, to windows of the same shape.

    ``context`` is a prompt, a window ``(q, p)`` that is attended to and not moved. For every
    fixed context the map is symplectic and has an inverse. Layers without attention ignore it.
    """

    axes: Collection[str] = ("*axes d",)

    @checked
    def forward(
        self,
        q: Float[Tensor, "*axes d"],
        p: Float[Tensor, "*axes d"],
        *,
        context: Context | None = None,
    ) -> tuple[Float[Tensor, "*axes d"], Float[Tensor, "*axes d"]]:
        """Apply the map."""
        self._check(q, context)
        return self._apply_map(q, p, context, 1)

    @checked
    def inverse(
        self,
        q: Float[Tensor, "*axes d"],
        p: Float[Tensor, "*axes d"],
        *,
        context: Context | None = None,
    ) -> tuple[Float[Tensor, "*axes d"], Float[Tensor, "*axes d"]]:
        """Undo the map, exactly but for rounding."""
        self._check(q, context)
        return self._apply_map(q, p, context, -1)

    def _check(self, q: Tensor, context: Context | None) -> None:
        for axes in self.axes:
            check_shapes(q=(q, axes))
        if context is not None:
            check_shapes(q=(q, "*batch tokens d"), context=(context[0], "*batch prompt d"))


class SymplecticLayer(SymplecticMap):
    r"""The exact flow, for a unit of time, of a Hamiltonian in ``p`` alone or in ``q`` alone.

    ``update="q"`` is $q \mathrel{+}= \nabla F(p)$ and ``update="p"`` is $p \mathrel{-}= \nabla
    F(q)$. Both are shears, symplectic for every $F$, and undone by the opposite sign. A subclass
    defines ``potential`` and ``gradient``. Source: HLW (2006), section VI.4; Jin et al. (2020).
    """

    @checked
    def __init__(self, update: Update = "q") -> None:
        super().__init__()
        self.update = update

    def potential(self, x: Float[Tensor, "*axes d"]) -> Tensor:
        """The function $F$ whose gradient the layer adds."""
        raise NotImplementedError(f"{type(self).__name__} has no potential; write potential(x)")

    def gradient(self, x: Float[Tensor, "*axes d"]) -> Float[Tensor, "*axes d"]:
        r"""$\nabla F(x)$, in closed form."""
        raise NotImplementedError(f"{type(self).__name__} has no gradient; write gradient(x)")

    def _gradient_beside(self, x: Tensor, context: Tensor | None) -> Tensor:  # noqa: ARG002 - most ignore it
        return self.gradient(x)

    def _apply_map(
        self, q: Tensor, p: Tensor, context: tuple[Tensor, Tensor] | None, sign: int
    ) -> tuple[Tensor, Tensor]:
        context_q, context_p = (None, None) if context is None else context
        if self.update == "q":
            return q + sign * self._gradient_beside(p, context_p), p
        return q, p - sign * self._gradient_beside(q, context_q)


class SymplecticAttention(SymplecticLayer):
    r"""A shear by :func:`symplectic_attention`, in which every token sees every other.

    ``d`` is the number of features of q. $A$ is the symmetric part of ``weight``, or all of it
    with ``symmetric=False``. The tokens of a context are seen but not moved: the gradient is that
    of the potential of all tokens, in those of the window alone.
    Source: Brantner and Kraus, GeometricMachineLearning (2024); the context is added here.
    """

    @checked
    def __init__(
        self, d: Size, *, update: Update = "q", softmax: Softmax = "matrix", symmetric: bool = True
    ) -> None:
        super().__init__(update)
        self.d = d
        self.axes = (f"*batch tokens {d}",)
        self.softmax = softmax
        self.symmetric = symmetric
        self.weight = nn.Parameter(torch.randn(d, d) / (4 * math.sqrt(d)))

    @property
    def A(self) -> Float[Tensor, "d d"]:  # noqa: N802 - the matrix of the formula
        r"""The matrix of the scores $Z A Z^\top$."""
        return (self.weight + self.weight.mT) / 2 if self.symmetric else self.weight

    @checked
    def potential(self, x: Float[Tensor, "*batch tokens d"]) -> Float[Tensor, "*batch"]:
        """See :func:`attention_potential`."""
        return attention_potential(x, self.A, softmax=self.softmax)

    @checked
    def gradient(self, x: Float[Tensor, "*batch tokens d"]) -> Float[Tensor, "*batch tokens d"]:
        """See :func:`symplectic_attention`."""
        return symplectic_attention(x, self.A, softmax=self.softmax, symmetric=self.symmetric)

    def _gradient_beside(self, x: Tensor, context: Tensor | None) -> Tensor:
        if context is None:
            return self.gradient(x)
        return self.gradient(torch.cat([context, x], dim=-2))[..., context.shape[-2] :, :]


class LinearSymplecticAttention(SymplecticLayer):
    r"""Mix the tokens by a fixed symmetric matrix: $F = \frac12\mathrm{Tr}(Z^\top A Z)$.

    Its gradient is $A Z$, with a tokens × tokens $A$, the symmetric part of ``weight``; so the
    window has exactly ``tokens`` tokens. Source: Brantner and Kraus, GeometricMachineLearning
    (2024).
    """

    @checked
    def __init__(self, tokens: Size, *, update: Update = "q") -> None:
        super().__init__(update)
        self.tokens = tokens
        self.axes = (f"*batch {tokens} d",)
        self.weight = nn.Parameter(torch.randn(tokens, tokens) / (4 * math.sqrt(tokens)))

    @property
    def A(self) -> Float[Tensor, "tokens tokens"]:  # noqa: N802 - the matrix of the formula
        """The symmetric matrix that mixes the tokens."""
        return (self.weight + self.weight.mT) / 2

    @checked
    def potential(self, x: Float[Tensor, "*batch tokens d"]) -> Float[Tensor, "*batch"]:
        r"""$\frac12\mathrm{Tr}(Z^\top A Z)$."""
        return (x * self.gradient(x)).sum(dim=(-2, -1)) / 2

    @checked
    def gradient(self, x: Float[Tensor, "*batch tokens d"]) -> Float[Tensor, "*batch tokens d"]:
        """$A Z$."""
        return self.A @ x


class GradientLayer(SymplecticLayer):
    r"""A layer of a G-SympNet: $\nabla F(x) = K^\top\,\mathrm{diag}(a)\tanh(Kx + b)$ of each token.

    Here $F(x) = \sum_i a_i \log\cosh(Kx + b)_i$ over ``width`` units. Takes any number of axes
    before the features. Such layers in turn approximate every symplectic map.
    Source: Jin, Zhang, Zhu, Tang and Karniadakis (2020).
    """

    @checked
    def __init__(self, d: Size, *, width: Size = 16, update: Update = "q") -> None:
        super().__init__(update)
        self.d, self.width = d, width
        self.axes = (f"*axes {d}",)
        self.K = nn.Parameter(torch.randn(width, d) / math.sqrt(d))
        self.a = nn.Parameter(torch.randn(width) / (4 * width))
        self.b = nn.Parameter(torch.randn(width) / 2)

    @checked
    def potential(self, x: Float[Tensor, "*axes d"]) -> Float[Tensor, "*axes"]:
        r"""$\sum_i a_i \log\cosh(Kx + b)_i$, of each token."""
        u = F.linear(x, self.K, self.b)
        # log cosh u, without a cosh that could overflow.
        return (F.softplus(-2 * u) + u - math.log(2)) @ self.a

    @checked
    def gradient(
        self, x: Float[Tensor, "*axes d"], a: Float[Tensor, "*#axes width"] | None = None
    ) -> Float[Tensor, "*axes d"]:
        r"""$K^\top\,\mathrm{diag}(a)\tanh(Kx + b)$, by default with its own ``a``."""
        a = self.a if a is None else a
        return (a * F.linear(x, self.K, self.b).tanh()) @ self.K


# Networks -------------------------------------------------------------------------------------


class SymplecticStack(SymplecticMap):
    """Symplectic layers one after the other: symplectic again, and undone in reverse order."""

    def __init__(self, layers: Iterable[SymplecticLayer]) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)
        # Every layer keeps the shape, so one check before the first serves them all.
        self.axes = {axes for layer in self.layers for axes in layer.axes}

    def _apply_map(
        self, q: Tensor, p: Tensor, context: tuple[Tensor, Tensor] | None, sign: int
    ) -> tuple[Tensor, Tensor]:
        for layer in self.layers if sign > 0 else reversed(self.layers):
            q, p = layer._apply_map(q, p, context, sign)
        return q, p


class SympNet(SymplecticStack):
    """A G-SympNet: ``layers`` gradient layers that move q and p in turn, each token by itself.

    Takes single states ``(*batch, d)`` as well as windows.
    Source: Jin, Zhang, Zhu, Tang and Karniadakis (2020).
    """

    @checked
    def __init__(self, d: Size, *, layers: Size = 8, width: Size = 16) -> None:
        super().__init__(GradientLayer(d, width=width, update="qp"[i % 2]) for i in range(layers))


class SymplecticTransformer(SymplecticStack):
    """Blocks of symplectic attention, in q and in p, followed by ``layers`` gradient layers.

    Attention takes ``softmax`` and ``symmetric`` as in :class:`SymplecticAttention`. With
    ``tokens`` it is linear instead, for windows of exactly that length.
    Source: Brantner and Kraus, GeometricMachineLearning (2024).
    """

    @checked
    def __init__(
        self,
        d: Size,
        *,
        blocks: Size = 2,
        layers: Count = 4,
        width: Size = 16,
        softmax: Softmax = "matrix",
        symmetric: bool = True,
        tokens: Size | None = None,
    ) -> None:
        def attention(update: Update) -> SymplecticLayer:
            if tokens is not None:
                return LinearSymplecticAttention(tokens, update=update)
            return SymplecticAttention(d, update=update, softmax=softmax, symmetric=symmetric)

        super().__init__(
            layer
            for _ in range(blocks)
            for layer in (
                *(attention(update) for update in "qp"),
                *(GradientLayer(d, width=width, update="qp"[i % 2]) for i in range(layers)),
            )
        )


# Without canonical pairs -----------------------------------------------------------------------


class VolumePreservingAttention(nn.Module):
    r"""Mix the tokens orthogonally: $Z \mapsto \Lambda Z$, $\Lambda = (1 + C)^{-1}(1 - C)$.

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
    """In float32 at least, since no solver takes half precision."""
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

    Each layer checks its own input.
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


# What the functions above share ---------------------------------------------------------------


def _log_partition(score: Tensor, softmax: str) -> Tensor:
    r"""$\log(1 + \sum e^C)$ over all scores or over each column, with the summed axes kept."""
    axes = (-2, -1) if softmax == "matrix" else -2
    total = score.logsumexp(dim=axes, keepdim=True)
    return torch.logaddexp(total, torch.zeros_like(total))


def _kernel_takes(z: Tensor, softmax: str) -> bool:
    fits = z.dtype in KERNEL_DTYPES and 0 < z.shape[-1] <= KERNEL_FEATURES and z.numel() > 0
    return softmax == "vector" and z.is_cuda and fits and find_spec("triton") is not None


def _in_tiles(z: Tensor, A: Tensor, softmax: str, *, symmetric: bool) -> Tensor:
    if softmax != "vector":
        raise ValueError(
            f"backend 'triton' with softmax {softmax!r}; expected 'vector', which the kernel is "
            "made for; use backend 'reference'"
        )
    from course_lib.kernels import symplectic_flash

    return symplectic_flash(z, A, symmetric=symmetric)
