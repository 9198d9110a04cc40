r"""The transformer block as large language models have it today.

Each part takes the place of one of :mod:`course_lib.transformer.parts`: :class:`RMSNorm` that of
layer norm, :class:`SwiGLU` that of the MLP, and :class:`MixtureOfExperts` that of one MLP for every
token. :class:`ModernBlock` puts them together, with rotary positions and grouped queries.

Tokens are rows, ``(*batch, d)``, and sequences ``(*batch, tokens, d_model)``. Bad input raises
``TypeError`` or ``ValueError`` with what was given, what was expected and what to do.
"""

import torch
from einops import rearrange
from jaxtyping import Bool, Float, Real
from torch import Tensor, nn
from torch.nn import functional as F

from course_lib.attention import HeadMask
from course_lib.position import check_even
from course_lib.support.checks import check_divides
from course_lib.support.contracts import Positive, Size, checked
from course_lib.transformer.parts import BlockAttention


class RMSNorm(nn.Module):
    r"""Divide a token by its root mean square: $x / \sqrt{\frac1d\sum_i x_i^2 + \epsilon} \odot w$.

    Layer norm without subtracting the mean, so the direction of a token stays.
    The small $\epsilon$, not in the paper, prevents a division by zero. Equal to
    ``torch.nn.RMSNorm`` with ``eps=epsilon``. Source: Zhang and Sennrich (2019), eq. 4.
    """

    @checked
    def __init__(self, d: Size, *, epsilon: Positive = 1e-6) -> None:
        super().__init__()
        self.d = d
        self.epsilon = epsilon
        self.weight = nn.Parameter(torch.ones(d))

    @checked
    def forward(self, x: Float[Tensor, "*batch d"]) -> Float[Tensor, "*batch d"]:
        """The token at a length of about the root of ``d``, each feature times its weight."""
        # In half precision the square of 256 is infinite.
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        mean_square = wide.square().mean(dim=-1, keepdim=True)
        return (wide / (mean_square + self.epsilon).sqrt() * self.weight).to(x.dtype)


class SwiGLU(nn.Module):
    r"""An MLP whose hidden features are gated: $W_2\,(\mathrm{silu}(W_1 x) \odot W_3 x)$.

    $\mathrm{silu}(a) = a\,\sigma(a)$, and there are no biases. Three matrices instead of two: with
    ``d_hidden`` $= \frac83 d$ there are as many numbers as in an MLP of width $4d$.
    Source: Shazeer (2020), eq. 6, where the matrices are $W$, $V$ and $W_2$.
    """

    @checked
    def __init__(self, d: Size, d_hidden: Size) -> None:
        super().__init__()
        self.d = d
        self.gate = nn.Linear(d, d_hidden, bias=False)
        self.expand = nn.Linear(d, d_hidden, bias=False)
        self.contract = nn.Linear(d_hidden, d, bias=False)

    @checked
    def forward(self, x: Float[Tensor, "*batch d"]) -> Float[Tensor, "*batch d"]:
        """Expand twice, gate one by the other, contract."""
        return self.contract(F.silu(self.gate(x)) * self.expand(x))


class MixtureOfExperts(nn.Module):
    r"""Many MLPs, of which each token goes through few: $\sum_{e \in \text{top}} s_e\,f_e(x)$.

    A router gives the experts $f_e$, each a :class:`SwiGLU`, the probabilities
    $p = \mathrm{softmax}(W_r x)$. The ``active`` most probable ones work, and their shares $s_e$
    are their $p_e$ over the sum of these. So parameters grow with ``experts``, but work for a token
    with ``active``. With one active expert its share is always 1, so the router does not learn
    from the output. Raises ``ValueError`` if more experts shall be active than there are.
    Source: Shazeer et al. (2017), section 2.1, without their noise; Jiang et al. (2024),
    section 2.1.
    """

    @checked
    def __init__(self, d: Size, d_hidden: Size, experts: Size, active: Size) -> None:
        super().__init__()
        if active > experts:
            raise ValueError(
                f"active is {active} and experts is {experts}; expected as many experts at least; "
                "choose fewer active ones, or more experts"
            )
        self.d = d
        self.active = active
        self.router = nn.Linear(d, experts, bias=False)
        self.experts = nn.ModuleList(SwiGLU(d, d_hidden) for _ in range(experts))

    @checked
    def forward(self, x: Float[Tensor, "*batch d"]) -> Float[Tensor, "*batch d"]:
        """What the active experts make of each token, blended by their shares."""
        shares, tokens = (rearrange(rows, "... d -> (...) d") for rows in (self.shares(x), x))
        blended = torch.zeros_like(tokens)
        for share, expert in zip(shares.unbind(-1), self.experts, strict=True):
            (sent,) = share.nonzero(as_tuple=True)
            part = share[sent, None] * expert(tokens[sent])
            blended = blended.index_add(0, sent, part.to(x.dtype))  # autocast may change it
        return blended.reshape(x.shape)

    @checked
    def shares(self, x: Float[Tensor, "*batch d"]) -> Float[Tensor, "*batch experts"]:
        """How much each expert counts for each token: sum 1, and 0 for all that are not active."""
        probability = self.router(x).softmax(dim=-1)
        chosen = torch.where(self._chosen(probability), probability, 0)
        return chosen / chosen.sum(dim=-1, keepdim=True)

    def _chosen(self, probability: Tensor) -> Bool[Tensor, "*batch experts"]:
        """True at the most probable experts: exactly ``active``, also where some are equal."""
        best = probability.topk(self.active, dim=-1).indices
        return torch.zeros_like(probability, dtype=torch.bool).scatter(-1, best, value=True)


class ModernBlock(nn.Module):
    r"""Attention, then an MLP, both residual: $x + f(\mathrm{RMSNorm}(x))$.

    Queries and keys are turned by :func:`course_lib.position.rotary`; keys and values have
    ``kv_heads`` heads (:class:`course_lib.attention.MultiHeadAttention`). The MLP is a
    :class:`SwiGLU`, or with ``experts`` a :class:`MixtureOfExperts`. There are no biases. Raises
    ``ValueError`` for heads with an odd number of features, and where one of ``experts`` and
    ``active`` is given alone. Source: Touvron et al. (2023), section 2.2; Ainslie et al. (2023);
    Jiang et al. (2024) for experts.
    """

    @checked
    def __init__(
        self,
        d_model: Size,
        heads: Size,
        *,
        kv_heads: Size,
        d_hidden: Size,
        experts: Size | None = None,
        active: Size | None = None,
    ) -> None:
        super().__init__()
        check_divides("heads", heads, "d_model", d_model)
        check_even("d_model / heads, the features of a head,", d_model // heads)
        if (experts is None) != (active is None):
            raise ValueError(
                f"experts is {experts} and active is {active}; expected both or neither; "
                "for a mixture say how many experts there are and how many work on a token"
            )
        self.d_model = d_model
        self.attention_norm = RMSNorm(d_model)
        self.attention = BlockAttention(d_model, heads, kv_heads=kv_heads, bias=False)
        self.mlp_norm = RMSNorm(d_model)
        self.mlp = (
            SwiGLU(d_model, d_hidden)
            if experts is None
            else MixtureOfExperts(d_model, d_hidden, experts, active)
        )

    @checked
    def forward(
        self,
        x: Float[Tensor, "*batch tokens d_model"],
        *,
        mask: HeadMask | None = None,
        position: Real[Tensor, "tokens"] | None = None,
    ) -> Float[Tensor, "*batch tokens d_model"]:
        """Attention, then the MLP. ``mask`` goes to the attention; ``position`` is 0, 1, 2, …."""
        if position is None:
            position = torch.arange(x.shape[-2], device=x.device)
        x = x + self.attention(self.attention_norm(x), mask=mask, position=position)
        return x + self.mlp(self.mlp_norm(x))
