r"""Attention: compare, weigh, blend.

The module reads in the order of the course. First the ladder of lecture 1, three ways to keep a
sequence in one vector, each of which mends a fault of the one before. Then attention itself, which
lets a query decide what to remember. Last, lecture 2: many heads.

Sequences are rows, ``(*batch, tokens, d)``. A mask is ``True`` where a query may look. Bad input
raises ``TypeError`` or ``ValueError`` with what was given, what was expected and what to do. Only
``mask`` and ``bias`` are broadcast.

A token that no query may look at has no effect: nan and infinities there reach no output and no
gradient. Nan at a token that some query sees may reach every query of its sequence.
"""

import math
from typing import Literal

import torch
from einops import einsum, rearrange, repeat
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional as F

from course_lib.support.checks import (
    check_broadcasts,
    check_divides,
    check_head_axis,
    check_scores,
    check_size,
    check_visible,
    wants_gradient,
)
from course_lib.support.contracts import Count, Positive, Size, UnitInterval, checked

Mask = Bool[Tensor, "*#batch #query #key"]
Bias = Float[Tensor, "*#batch #query #key"]
HeadMask = Bool[Tensor, "#query #key"] | Bool[Tensor, "*#batch #heads #query #key"]
HeadBias = Float[Tensor, "#query #key"] | Float[Tensor, "*#batch #heads #query #key"]


# Lecture 1: a memory of fixed size -----------------------------------------------------------


@checked
def composite_memory(
    x: Float[Tensor, "*batch tokens d"], decay: UnitInterval
) -> Float[Tensor, "*batch d"]:
    r"""Add up all tokens, the older with less weight: $\sum_i \gamma^{T-i} x_i$.

    A ``decay`` $\gamma$ of 1 forgets nothing and gives Galton's composite photograph; 0 keeps the
    last token alone. Raises ``ValueError`` for a decay outside [0, 1]. Source: Galton (1878).
    """
    age = torch.arange(x.shape[-2] - 1, -1, -1, dtype=x.dtype, device=x.device)
    weight = decay**age
    return einsum(weight, zero_unweighted(x, weight), "tokens, ... tokens d -> ... d")


@checked
def gated_memory(
    x: Float[Tensor, "*batch tokens d"], gate: Float[Tensor, "*batch tokens"]
) -> Float[Tensor, "*batch d"]:
    r"""Weight each token by a gate of its own: $\sum_i \sigma(g_i)\, x_i$.

    ``gate`` holds the logits $g_i$. The gates do not compete: all may open at once. Source: the
    logistic gate of Hochreiter and Schmidhuber (1997).
    """
    weight = gate.sigmoid()
    return einsum(weight, zero_unweighted(x, weight), "... tokens, ... tokens d -> ... d")


@checked
def pooled_memory(
    x: Float[Tensor, "*batch tokens d"], score: Float[Tensor, "*batch tokens"]
) -> Float[Tensor, "*batch d"]:
    r"""Share one unit of attention among the tokens: $\sum_i \mathrm{softmax}(s)_i\, x_i$.

    Raises ``ValueError`` where every score is -inf or there is no token, since no distribution over
    nothing exists. Source: Bahdanau, Cho and Bengio (2015), eqs. 5 and 6.
    """
    check_scores(score=score)
    check_visible(score > -math.inf, tuple(score.shape))
    weight = score.softmax(dim=-1)
    return einsum(weight, zero_unweighted(x, weight), "... tokens, ... tokens d -> ... d")


# Attention: a query decides what to remember -------------------------------------------------


@checked
def attention_weights(
    query: Float[Tensor, "*batch query d"],
    key: Float[Tensor, "*batch key d"],
    *,
    mask: Mask | None = None,
    bias: Bias | None = None,
    scale: Positive | None = None,
) -> Float[Tensor, "*batch query key"]:
    r"""How much each query looks at each key: $\mathrm{softmax}(QK^\top/\sqrt d + B)$.

    Every row sums to one. ``mask`` is True where a query may look, ``bias`` $B$ is added to the
    scores, ``scale`` (above 0) takes the place of $1/\sqrt d$. Raises ``ValueError`` for a query
    that may look at nothing, since no distribution over no keys exists.
    Source: Vaswani et al. (2017), eq. 1.
    """
    (key,) = zero_unseen_keys(visible_keys(query, key, mask, bias), key)
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    score = einsum(scale * query, key, "... query d, ... key d -> ... query key")
    if bias is not None:
        score = score + bias
    if mask is not None:
        score = score.masked_fill(~mask, -math.inf)
    return score.softmax(dim=-1)


@checked
def attention(
    query: Float[Tensor, "*batch query d"],
    key: Float[Tensor, "*shared key d"],
    value: Float[Tensor, "*shared key d_value"],
    *,
    mask: Mask | None = None,
    bias: Bias | None = None,
    scale: Positive | None = None,
    grouped: bool = False,
    dropout: UnitInterval = 0.0,
    backend: Literal["reference", "torch", "triton"] = "reference",
) -> Float[Tensor, "*batch query d_value"]:
    r"""Blend the values by the weights: $\mathrm{softmax}(QK^\top/\sqrt d + B)\,V$.

    All three have the same batch axes. With ``grouped`` the last of them counts heads, and keys and
    values may have fewer: each serves several query heads in a row (grouped-query attention).
    ``dropout`` drops each weight with this probability and scales up the others, for training.
    ``backend`` is ``"reference"`` (the formula), ``"torch"`` (PyTorch's fused operator) or
    ``"triton"`` (our kernels on a GPU, with no mask or the causal one, no bias and no dropout:
    :func:`course_lib.kernels.flash_attention`, and for a single query without a gradient
    :func:`course_lib.kernels.flash_decoding`). All else, errors included, is as in
    :func:`attention_weights`.
    Source: Vaswani et al. (2017), eq. 1; Ainslie et al. (2023), section 2.2, for the groups.
    """
    _check_groups(query, key, grouped=grouped)
    if backend != "reference":
        fused = _in_pytorch if backend == "torch" else _in_tiles
        return fused(query, key, value, mask=mask, bias=bias, scale=scale, dropout=dropout)
    if grouped:
        key, value = (for_all_heads(x, query.shape[-3]) for x in (key, value))
    weights = attention_weights(query, key, mask=mask, bias=bias, scale=scale)
    (value,) = zero_unseen_keys(where_visible(mask, bias), value)
    return einsum(
        F.dropout(weights, dropout), value, "... query key, ... key d_value -> ... query d_value"
    )


@checked
def causal_mask(
    tokens: Count, *, device: torch.device | str | None = None
) -> Bool[Tensor, "tokens tokens"]:
    r"""The mask under which no token sees its future: query $i$ may look at key $j$ if $j \le i$.

    Raises ``ValueError`` for fewer than 0 tokens. Source: Vaswani et al. (2017), section 3.2.3.
    """
    position = torch.arange(tokens, device=device)
    return position[:, None] >= position[None, :]


# Lecture 2: many heads ------------------------------------------------------------------------


class MultiHeadAttention(nn.Module):
    r"""Several attentions side by side, each in a subspace of its own.

    $\mathrm{head}_h = \mathrm{attention}(XW^Q_h, CW^K_h, CW^V_h)$, and the output is
    $[\mathrm{head}_1, \dots, \mathrm{head}_H]\,W^O$. The context $C$ is $X$ itself
    (self-attention) unless it is given (cross-attention); its features are ``d_context``,
    ``d_model`` by default. ``dropout`` hides weights while training. Equal to
    ``torch.nn.MultiheadAttention`` with the same parameters.

    With ``kv_heads`` below ``heads``, keys and values have fewer heads than queries, and each
    serves ``heads // kv_heads`` query heads in a row: grouped-query attention, or multi-query
    attention where it is 1. Raises ``ValueError`` unless ``heads`` divides ``d_model`` and
    ``kv_heads`` divides ``heads``. Source: Vaswani et al. (2017), section 3.2.2; Shazeer (2019) and
    Ainslie et al. (2023), section 2.2, for fewer keys and values.
    """

    @checked
    def __init__(
        self,
        d_model: Size,
        heads: Size,
        *,
        kv_heads: Size | None = None,
        d_context: Size | None = None,
        dropout: UnitInterval = 0.0,
        bias: bool = True,
    ) -> None:
        super().__init__()
        kv_heads = heads if kv_heads is None else kv_heads
        d_context = d_model if d_context is None else d_context
        check_divides("heads", heads, "d_model", d_model)
        check_divides("kv_heads", kv_heads, "heads", heads)
        self.d_model = d_model
        self.d_context = d_context
        self.heads = heads
        self.kv_heads = kv_heads
        self.d_head = d_model // heads
        self.query = nn.Linear(d_model, d_model, bias=bias)
        self.key = nn.Linear(d_context, kv_heads * self.d_head, bias=bias)
        self.value = nn.Linear(d_context, kv_heads * self.d_head, bias=bias)
        self.output = nn.Linear(d_model, d_model, bias=bias)
        self.dropout = nn.Dropout(dropout)

    @checked
    def forward(
        self,
        x: Float[Tensor, "*batch query d_model"],
        context: Float[Tensor, "*batch key d_context"] | None = None,
        *,
        mask: HeadMask | None = None,
        bias: HeadBias | None = None,
    ) -> Float[Tensor, "*batch query d_model"]:
        """Project, attend in every head, join the heads, project.

        ``mask`` and ``bias`` are ``(query, key)``, the same for all, or have exactly the axes
        ``(*batch, head, query, key)``, where an axis of size 1 is broadcast.
        """
        x, context = self._seen(x, context, mask, bias)
        query, key = self._split(self.query(x)), self._split(self.key(context))
        value = self._split(self.value(context))
        hidden = self.dropout.p if self.training else 0.0
        blended = attention(query, key, value, mask=mask, bias=bias, grouped=True, dropout=hidden)
        return self.output(rearrange(blended, "... h query d -> ... query (h d)"))

    @checked
    def weights(
        self,
        x: Float[Tensor, "*batch query d_model"],
        context: Float[Tensor, "*batch key d_context"] | None = None,
        *,
        mask: HeadMask | None = None,
        bias: HeadBias | None = None,
    ) -> Float[Tensor, "*batch heads query key"]:
        """How much each query of each head looks at each key, before dropout."""
        x, context = self._seen(x, context, mask, bias)
        query, key = self._split(self.query(x)), self._split(self.key(context))
        return attention_weights(query, for_all_heads(key, self.heads), mask=mask, bias=bias)

    def _seen(
        self, x: Tensor, context: Tensor | None, mask: Tensor | None, bias: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        self._check(x, context, mask=mask, bias=bias)
        return finite_where_unseen(x, context, mask, bias)

    def _check(self, x: Tensor, context: Tensor | None, **hiding: Tensor | None) -> None:
        check_head_axis(x, **hiding)
        if context is None and self.d_context != self.d_model:
            raise ValueError(
                f"no context was given; expected one of d_context = {self.d_context} features, "
                f"since x has d_model = {self.d_model}; pass the tokens to look at"
            )

    def _split(self, x: Float[Tensor, "*batch tokens features"]) -> Tensor:
        return rearrange(x, "... tokens (h d) -> ... h tokens d", d=self.d_head)


# What the functions above share ---------------------------------------------------------------


def visible_keys(
    query: Tensor, key: Tensor, mask: Tensor | None, bias: Tensor | None
) -> Tensor | None:
    """Where a query may look: where the mask is True and the bias above -inf; ``None``: everywhere.

    Raises ``ValueError`` for a query that may look at nothing, and for nan and +inf in the bias.
    """
    check_size("d, the number of features of query", query.shape[-1])
    shape = (*query.shape[:-1], key.shape[-2])
    if mask is not None:
        check_broadcasts("mask", mask, shape)
    if bias is not None:
        check_broadcasts("bias", bias, shape)
        check_scores(bias=bias)
    visible = where_visible(mask, bias)
    check_visible(visible, shape)
    return visible


def where_visible(mask: Tensor | None, bias: Tensor | None) -> Tensor | None:
    """:func:`visible_keys` of a mask and a bias that were checked."""
    finite = None if bias is None else bias > -math.inf
    return finite if mask is None else mask if finite is None else mask & finite


def _check_groups(query: Tensor, key: Tensor, *, grouped: bool) -> None:
    """Raise unless the batch axes fit, of which, if ``grouped``, the last counts heads."""
    batch, shared = query.shape[:-2], key.shape[:-2]
    if grouped and batch and shared and batch[:-1] == shared[:-1]:
        check_divides("kv_heads", shared[-1], "heads", batch[-1])
    elif grouped or batch != shared:
        raise ValueError(
            f"key has shape {tuple(key.shape)} and query {tuple(query.shape)}; expected the same "
            "batch axes, of which the last, with grouped=True, counts heads and may be shorter in "
            "key; repeat or drop batches or heads"
        )


def zero_unweighted(x: Tensor, weight: Tensor) -> Tensor:
    """The tokens, and 0 in place of those of weight 0: 0 times nan would be nan."""
    return x.masked_fill((weight == 0)[..., None], 0)


def zero_where_unseen(
    x: Float[Tensor, "*batch tokens d"], seen: Bool[Tensor, "*#batch tokens"]
) -> Float[Tensor, "*batch tokens d"]:
    """The tokens, and 0 for those not ``seen`` if any is nan or infinite, since 0 · nan is nan."""
    return x if _is_finite(x) else x.masked_fill(~seen[..., None], 0)


def zero_unseen_keys(visible: Tensor | None, *tokens: Tensor) -> tuple[Tensor, ...]:
    """Keys or values, :func:`zero_where_unseen` where any query may look."""
    # Under a causal mask the last query sees every key.
    if visible is None or visible[..., -1:, :].all() or all(map(_is_finite, tokens)):
        return tokens
    seen = visible.any(dim=-2)
    heads = tokens[0].shape[-3:-2]
    if seen.shape[-2:-1] not in {heads, (1,), ()}:  # grouped: more query heads than key heads
        seen = seen.unflatten(-2, (*heads, -1)).any(dim=-2)
    return tuple(zero_where_unseen(x, seen) for x in tokens)


def _is_finite(x: Tensor) -> bool:
    """Whether the sum is finite: never if a number is not, and faster than testing each."""
    return math.isfinite(x.detach().sum().item())


def finite_where_unseen(
    x: Tensor, context: Tensor | None, mask: Tensor | None, bias: Tensor | None
) -> tuple[Tensor, Tensor]:
    """``x`` and its context (itself by default), finite at tokens that no query may look at.

    There nan and infinities become 0, so that gradients of layers on all tokens stay finite.
    """
    seen = x if context is None else context
    visible = where_visible(mask, bias)
    if visible is None or _is_finite(seen):
        return x, seen
    anywhere = visible.any(dim=-2)
    anywhere = anywhere.any(dim=-2) if anywhere.dim() > 1 else anywhere
    seen = torch.where(anywhere[..., None], seen, seen.nan_to_num(0.0, 0.0, 0.0))
    return (seen if context is None else x), seen


def for_all_heads(
    x: Float[Tensor, "*batch kv_heads tokens d"], heads: int
) -> Float[Tensor, "*batch heads tokens d"]:
    """Repeat each head of keys or values for the query heads that share it."""
    share = heads // x.shape[-3]
    return x if share == 1 else repeat(x, "... h tokens d -> ... (h share) tokens d", share=share)


def _in_pytorch(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *,
    mask: Tensor | None,
    bias: Tensor | None,
    scale: float | None,
    dropout: float,
) -> Tensor:
    """PyTorch's fused operator, which takes mask and bias as one argument."""
    key, value = zero_unseen_keys(visible_keys(query, key, mask, bias), key, value)
    hidden = mask if bias is None else bias if mask is None else torch.where(mask, bias, -math.inf)
    grouped = query.shape[:-2] != key.shape[:-2]
    return F.scaled_dot_product_attention(
        query, key, value, hidden, dropout, scale=scale, enable_gqa=grouped
    )


def _in_tiles(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *,
    mask: Tensor | None,
    bias: Tensor | None,
    scale: float | None,
    dropout: float,
) -> Tensor:
    """Our kernels, for any number of batch axes; the last of them stands for its heads."""
    from course_lib.kernels import flash_attention, flash_decoding

    queries, keys = query.shape[-2], key.shape[-2]
    if mask is not None:
        causal = mask.new_ones(queries, keys).tril(keys - queries)
    if bias is not None or (mask is not None and not (mask == causal).all()):
        raise ValueError(
            f"backend 'triton' was given {'a mask' if bias is None else 'a bias'}; expected no "
            "bias, and no mask but the causal one; choose backend 'reference' or 'torch'"
        )
    if dropout > 0:
        raise ValueError(
            f"backend 'triton' was given dropout {dropout}; expected 0, since the kernels keep no "
            "weights to hide; choose backend 'reference' or 'torch'"
        )
    batch = math.prod(query.shape[:-3])
    inputs = [x.reshape(batch, *(1, *x.shape)[-3:]) for x in (query, key, value)]
    if queries == 1 and not wants_gradient(*inputs):
        output = flash_decoding(*inputs, scale=scale)
    else:
        output = flash_attention(*inputs, causal=mask is not None, scale=scale)
    return output.reshape(*query.shape[:-1], value.shape[-1])
