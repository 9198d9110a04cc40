r"""Position: giving attention the order of its tokens.

Attention is permutation equivariant, so order has to be put in. Four ways, in the order of
lecture 5: sinusoids give every position a fingerprint, to be added to the token; a learned table
does the same with parameters; rotary positions turn queries and keys instead, so that their scores
depend on differences alone; and a bias adds a number for each difference to the scores.

Positions count from 0. Where a function takes a ``position``, it is a tensor ``(tokens,)`` with the
position of each token, so that a sequence can begin anywhere. Features go in pairs,
$(x_0, x_1), (x_2, x_3), \dots$, and pair $i$ of $d$ features has the frequency
$\omega_i = \mathrm{base}^{-2i/d}$. Angles are computed in float64, so that far positions lose no
digits. Bad input raises ``TypeError`` or ``ValueError`` with what was given, what was expected and
what to do.
"""

import math
from typing import Annotated

import torch
from jaxtyping import Float, Int, Real
from torch import Tensor, nn

from course_lib.support.contracts import Between, Count, Positive, Size, checked

# Sinusoids: added to the token ----------------------------------------------------------------


@checked
def sinusoidal(
    tokens: Count,
    d_model: Size,
    *,
    base: Positive = 10_000,
    dtype: torch.dtype | None = None,
    device: torch.device | str | None = None,
) -> Float[Tensor, "tokens d_model"]:
    r"""The sinusoids of positions 0 to ``tokens`` - 1, one row for each.

    Row $t$ is $(\sin\omega_0 t, \cos\omega_0 t, \sin\omega_1 t, \cos\omega_1 t, \dots)$. ``dtype``
    is PyTorch's default unless given. Raises ``ValueError`` for an odd ``d_model``, since sine and
    cosine come in pairs. Source: Vaswani et al. (2017), section 3.5.
    """
    position = torch.arange(tokens, dtype=torch.float64, device=device)
    table = sinusoidal_at(position, d_model, base=base)
    return table.to(torch.get_default_dtype() if dtype is None else dtype)


@checked
def sinusoidal_at(
    position: Real[Tensor, "*batch tokens"], d_model: Size, *, base: Positive = 10_000
) -> Float[Tensor, "*batch tokens d_model"]:
    r"""The sinusoids of any positions: fractions, dates of measurements, negative numbers.

    The result has the dtype of ``position``, or PyTorch's default if that is an integer, and can be
    differentiated in it. All else is as in :func:`sinusoidal`.
    """
    angle = _angles(position, d_model, "d_model", base)
    table = torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(-2)
    floating = position.is_floating_point()
    return table.to(position.dtype if floating else torch.get_default_dtype())


@checked
def shift_matrix(
    offset: float,
    d_model: Size,
    *,
    base: Positive = 10_000,
    dtype: torch.dtype | None = None,
    device: torch.device | str | None = None,
) -> Float[Tensor, "d_model d_model"]:
    r"""The one matrix $M_k$ that shifts all sinusoids by ``offset`` $k$: $p_{t+k} = M_k\, p_t$.

    It turns each pair $(\sin\omega t, \cos\omega t)$ by the angle $\omega k$, so that it is
    orthogonal and $M_j M_k = M_{j+k}$. With tokens as rows, ``sinusoidal(...) @ M.T``.
    Source: Vaswani et al. (2017), section 3.5, who state that it exists.
    """
    position = torch.tensor([offset], dtype=torch.float64, device=device)
    (angle,) = _angles(position, d_model, "d_model", base)
    sine, cosine = angle.sin(), angle.cos()
    turn = torch.stack([cosine, sine, -sine, cosine], dim=-1).reshape(-1, 2, 2)
    return torch.block_diag(*turn).to(torch.get_default_dtype() if dtype is None else dtype)


# A learned table: added to the token ----------------------------------------------------------


class LearnedPosition(nn.Module):
    r"""A vector of parameters for each position, added to the token there: $x_t + P_t$.

    ``forward`` takes sequences of at most ``tokens`` tokens, the first at position 0 unless
    ``position`` is given, and raises ``ValueError`` where the table has no row: nothing was
    learned about it. The table is ``.weight``, ``(tokens, d_model)``; its entries begin small
    (standard deviation 0.02), so that tokens outweigh them at first.
    Source: Gehring et al. (2017), section 3.1.
    """

    @checked
    def __init__(self, tokens: Size, d_model: Size) -> None:
        super().__init__()
        self.d_model = d_model
        self.weight = nn.Parameter(0.02 * torch.randn(tokens, d_model))

    @checked
    def forward(
        self,
        x: Float[Tensor, "*batch tokens d_model"],
        *,
        position: Int[Tensor, "tokens"] | None = None,
    ) -> Float[Tensor, "*batch tokens d_model"]:
        """The tokens, each with the vector of its position added."""
        rows, tokens = len(self.weight), x.shape[-2]
        if position is None:
            if tokens > rows:
                raise ValueError(
                    f"x has {tokens} tokens; expected {rows} at most, the positions that this "
                    "table has; shorten the sequence, or build a LearnedPosition with more tokens"
                )
            return x + self.weight[:tokens]
        outside = position[(position < 0) | (position >= rows)]
        if len(outside):
            raise ValueError(
                f"position holds {outside[0].item()}; expected 0 to {rows - 1}, the rows of this "
                "table; shorten the sequence, or build a LearnedPosition with more tokens"
            )
        return x + self.weight[position]


# Rotary: turning queries and keys -------------------------------------------------------------


@checked
def rotary(
    x: Float[Tensor, "*batch tokens d"],
    *,
    position: Real[Tensor, "tokens"] | None = None,
    base: Positive = 10_000,
) -> Float[Tensor, "*batch tokens d"]:
    r"""Turn each pair of features of token $t$ by its angle $\omega_i t$.

    $(x_{2i}, x_{2i+1}) \mapsto (x_{2i}\cos\omega_i t - x_{2i+1}\sin\omega_i t,\;
    x_{2i}\sin\omega_i t + x_{2i+1}\cos\omega_i t)$. Do it to queries and to keys: lengths stay, and
    the score of a query at $s$ with a key at $t$ depends on $s - t$ alone. ``position`` is 0, 1, 2,
    … unless given. Raises ``ValueError`` for an odd ``d``. Source: Su et al. (2021), eq. 34.
    """
    if position is None:
        position = torch.arange(x.shape[-2], device=x.device)
    angle = _angles(position, x.shape[-1], "d, the number of features of x,", base)
    cosine, sine = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    first, second = x.unflatten(-1, (-1, 2)).unbind(-1)
    turned = first * cosine - second * sine, first * sine + second * cosine
    return torch.stack(turned, dim=-1).flatten(-2)


# A bias: added to the scores ------------------------------------------------------------------


@checked
def alibi_bias(
    tokens: Count,
    heads: Size,
    *,
    dtype: torch.dtype | None = None,
    device: torch.device | str | None = None,
) -> Float[Tensor, "heads tokens tokens"]:
    r"""Attention with linear biases (ALiBi): penalize distance, $-m_h\,\lvert s - t \rvert$.

    Head $h = 1, \dots, H$ has the slope $m_h = 2^{-8h/H}$, which is not learned. The source uses it
    with a causal mask, where $s - t \ge 0$; without one it cannot tell left from right.
    ``dtype`` is PyTorch's default unless given. Raises ``ValueError`` for no
    heads. Source: Press, Smith and Lewis (2022), section 3.
    """
    dtype = torch.get_default_dtype() if dtype is None else dtype
    slope = 2.0 ** (-8 * torch.arange(1, heads + 1, dtype=dtype, device=device) / heads)
    position = torch.arange(tokens, device=device)
    return slope[:, None, None] * -(position[:, None] - position).abs()


@checked
def relative_buckets(
    tokens: Count,
    *,
    buckets: Annotated[int, Between(4)] = 32,
    farthest: Size = 128,
    device: torch.device | str | None = None,
) -> Int[Tensor, "tokens tokens"]:
    r"""The bucket of each pair of positions: fine for neighbours, coarse far away.

    Of the $b$ = ``buckets``, half are for keys before the query and for itself, half for keys after
    it. Within a half, with $e = b / 4$ and the distance $n = \lvert s - t \rvert$, the bucket is
    $n$ itself if $n < e$, and otherwise

    $$\min\left(e + \left\lfloor e\,\frac{\log(n / e)}{\log(f / e)} \right\rfloor,\; 2e - 1
    \right),$$

    so that all keys at the distance $f$ = ``farthest`` or beyond share the last. Raises
    ``ValueError`` unless 4 divides ``buckets`` and $f > e$.
    Source: Raffel et al. (2020), section 2.1, and their code, from which the formula is taken.
    """
    exact, rest = divmod(buckets, 4)
    if rest:
        raise ValueError(
            f"buckets is {buckets}; expected a multiple of 4, since each of two directions has as "
            f"many fine buckets as coarse ones; choose {4 * exact} or {4 * exact + 4}"
        )
    if farthest <= exact:
        raise ValueError(
            f"farthest is {farthest}; expected more than buckets / 4 = {exact}, the distances that "
            "have a bucket of their own; choose a larger one, or fewer buckets"
        )
    position = torch.arange(tokens, device=device)
    ahead = position - position[:, None]
    distance = ahead.abs()
    octave = (distance.clamp(min=exact).double() / exact).log() / math.log(farthest / exact)
    coarse = (exact + (exact * octave).floor().long()).clamp(max=2 * exact - 1)
    return torch.where(distance < exact, distance, coarse) + 2 * exact * (ahead > 0)


class BucketedBias(nn.Module):
    r"""A learned number for each head and each bucket of distances, added to the scores.

    ``forward`` gives the bias of ``tokens`` tokens, $B_{h,s,t} = w_{\beta(s,t),\,h}$, with the
    bucket $\beta$ of :func:`relative_buckets`, whose errors it raises. The numbers are ``.weight``,
    ``(buckets, heads)``, and begin at zero, so that no distance is preferred.
    Source: Raffel et al. (2020), section 2.1.
    """

    @checked
    def __init__(
        self, heads: Size, *, buckets: Annotated[int, Between(4)] = 32, farthest: Size = 128
    ) -> None:
        super().__init__()
        relative_buckets(0, buckets=buckets, farthest=farthest)
        self.heads = heads
        self.buckets = buckets
        self.farthest = farthest
        self.weight = nn.Parameter(torch.zeros(buckets, heads))

    @checked
    def forward(self, tokens: Count) -> Float[Tensor, "heads tokens tokens"]:
        """The bias of every head for every pair of positions."""
        bucket = relative_buckets(
            tokens, buckets=self.buckets, farthest=self.farthest, device=self.weight.device
        )
        return self.weight[bucket].permute(2, 0, 1)


# What the functions above share ---------------------------------------------------------------


def check_even(name: str, d: int) -> None:
    """Raise ``ValueError`` for a number of features that do not make pairs."""
    if d <= 0 or d % 2:
        raise ValueError(
            f"{name} is {d}; expected an even number above 0, since features turn in pairs; "
            f"choose {max(d - 1, 2)} or {max(d + 1, 4)}"
        )


def _angles(
    position: Tensor, d: int, name: str, base: float
) -> Float[Tensor, "*batch tokens pair"]:
    """The angle of each pair of features at each position, in float64."""
    check_even(name, d)
    pair = torch.arange(0, d, 2, dtype=torch.float64, device=position.device)
    return position.double()[..., None] * base ** (-pair / d)
