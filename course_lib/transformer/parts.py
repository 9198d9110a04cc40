r"""The parts that transformer blocks are made of.

:class:`TokenEmbedding` turns ids into vectors, :class:`BlockAttention` is attention with positions
and a cache, :class:`MLP` acts on each token alone, and :class:`Residual` adds the output of a layer
to its input. :mod:`course_lib.transformer` puts them together.
"""

import math
from collections.abc import Callable
from typing import Any, Literal

import torch
from einops import rearrange
from jaxtyping import Float, Int, Real
from torch import Tensor, nn
from torch.nn import functional as F

from course_lib.attention import (
    HeadBias,
    HeadMask,
    MultiHeadAttention,
    attention,
    attention_weights,
    for_all_heads,
)
from course_lib.generation import KeyValueCache
from course_lib.generation.sampling import check_ids
from course_lib.position import LearnedPosition, check_even, rotary, sinusoidal_at
from course_lib.support.contracts import Count, Size, UnitInterval, checked

Norm = Literal["pre", "post"]
Position = Literal["learned", "sinusoidal", "rotary", "none"]


class TokenEmbedding(nn.Module):
    r"""From ids to vectors with positions: $\sqrt{d}\,E_{\mathrm{id}} + p_t$.

    ``position`` names $p$: ``"learned"``, ``"sinusoidal"``, or 0 for ``"rotary"``, which acts
    in the attention, and for ``"none"``. ``tokens`` is the longest sequence. The rows of $E$ begin
    small (standard deviation 0.02) and $\sqrt{d}$ scales them to the size of positions, so that $E$
    can be the readout too. Source: Vaswani et al. (2017), section 3.4.
    """

    @checked
    def __init__(
        self,
        vocabulary_size: Size,
        d_model: Size,
        *,
        tokens: Size,
        dropout: UnitInterval = 0.0,
        position: Position = "learned",
    ) -> None:
        super().__init__()
        if position == "sinusoidal":
            check_even("d_model", d_model)
        self.vocabulary_size = vocabulary_size
        self.d_model = d_model
        self.tokens = tokens
        self.kind = position
        self.token = nn.Embedding(vocabulary_size, d_model)
        nn.init.normal_(self.token.weight, std=0.02)
        self.learned = LearnedPosition(tokens, d_model) if position == "learned" else None
        self.dropout = nn.Dropout(dropout)

    @checked
    def forward(
        self, ids: Int[Tensor, "*batch length"], *, start: Count = 0
    ) -> Float[Tensor, "*batch length d_model"]:
        """The vectors of ``ids``, whose first stands at position ``start``.

        Raises ``ValueError`` for an empty sequence, an id outside the vocabulary, and a sequence
        that ends beyond ``tokens``.
        """
        check_ids("ids", ids, self.vocabulary_size)
        if (end := start + ids.shape[-1]) > self.tokens:
            raise ValueError(
                f"the sequence has {end} tokens, {start} of them read before; expected "
                f"{self.tokens} at most, the positions that the model has; shorten the sequence, "
                "or build the model with more tokens"
            )
        x = math.sqrt(self.d_model) * self.token(ids)
        position = torch.arange(start, end, device=ids.device)
        if self.kind == "learned":
            x = self.learned(x, position=position)
        elif self.kind == "sinusoidal":
            x = x + sinusoidal_at(position.double(), self.d_model).to(x.dtype)
        return self.dropout(x)

    def positions(
        self, ids: Int[Tensor, "*batch length"], *, start: Count = 0
    ) -> Int[Tensor, "length"] | None:
        """The ``position`` that blocks have to be given: ``None`` unless it is rotary."""
        end = start + ids.shape[-1]
        return torch.arange(start, end, device=ids.device) if self.kind == "rotary" else None


class BlockAttention(MultiHeadAttention):
    """:class:`course_lib.attention.MultiHeadAttention` as a block needs it.

    The result is the same; PyTorch's fused operator does the work unless dropout has to hide
    weights. ``position`` turns queries and keys of self-attention by
    :func:`course_lib.position.rotary` with ``base``, an attribute, so that a trained model can be
    read with another. With a ``cache``, keys and values of earlier calls stand before those of
    ``x``; it holds those of ``kv_heads`` heads.
    """

    base: float = 10_000

    @checked
    def forward(
        self,
        x: Float[Tensor, "*batch query d_model"],
        context: Float[Tensor, "*batch key d_context"] | None = None,
        *,
        mask: HeadMask | None = None,
        bias: HeadBias | None = None,
        position: Real[Tensor, "query"] | None = None,
        cache: KeyValueCache | None = None,
    ) -> Float[Tensor, "*batch query d_model"]:
        """Project, rotate, extend the cache, attend, join the heads, project."""
        self._check(x, context, mask=mask, bias=bias)
        query, key, value = self._projected(x, context, position, cache)
        if cache is not None and context is None:
            key, value = cache.extend(self, key, value)
        hidden = self.dropout.p if self.training else 0.0
        backend = "torch" if hidden == 0 else "reference"
        blended = attention(
            query, key, value, mask=mask, bias=bias, grouped=True, dropout=hidden, backend=backend
        )
        return self.output(rearrange(blended, "... h query d -> ... query (h d)"))

    @checked
    def weights(
        self,
        x: Float[Tensor, "*batch query d_model"],
        context: Float[Tensor, "*batch key d_context"] | None = None,
        *,
        mask: HeadMask | None = None,
        bias: HeadBias | None = None,
        position: Real[Tensor, "query"] | None = None,
    ) -> Float[Tensor, "*batch heads query key"]:
        """How much each query of each head looks at each key, before dropout."""
        self._check(x, context, mask=mask, bias=bias)
        query, key, _ = self._projected(x, context, position, None)
        return attention_weights(query, for_all_heads(key, self.heads), mask=mask, bias=bias)

    def _projected(
        self,
        x: Tensor,
        context: Tensor | None,
        position: Tensor | None,
        cache: KeyValueCache | None,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Query, key and value of every head, of keys and values as many as there are."""
        if context is not None and position is not None:
            raise ValueError(
                "position was given with a context; expected it in self-attention alone, where "
                "queries and keys stand in one sequence; leave position out"
            )
        seen = x if context is None else context

        def key_and_value() -> tuple[Tensor, Tensor]:
            return self._split(self.key(seen)), self._split(self.value(seen))

        query = self._split(self.query(x))
        if context is not None and cache is not None:
            return query, *cache.once(self, context, key_and_value)
        key, value = key_and_value()
        if position is not None:
            both = rotary(torch.cat([query, key], dim=-3), position=position, base=self.base)
            query, key = both.split([self.heads, self.kv_heads], dim=-3)
        return query, key, value


class MLP(nn.Module):
    r"""The MLP of each token: $W_2\,\mathrm{GELU}(W_1 x + b_1) + b_2$.

    $\mathrm{GELU}(a) = a\,\Phi(a)$ with the normal distribution function $\Phi$. Source: Vaswani et
    al. (2017), section 3.3, with the nonlinearity of Hendrycks and Gimpel (2016).
    """

    @checked
    def __init__(self, d_model: Size, d_hidden: Size, *, dropout: UnitInterval = 0.0) -> None:
        super().__init__()
        self.d_model = d_model
        self.expand = nn.Linear(d_model, d_hidden)
        self.contract = nn.Linear(d_hidden, d_model)
        self.dropout = nn.Dropout(dropout)

    @checked
    def forward(self, x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch d_model"]:
        """Expand, GELU, contract."""
        return self.contract(self.dropout(F.gelu(self.expand(x))))


class Residual(nn.Module):
    r"""A residual connection: a layer $f$ adds to its input instead of replacing it.

    ``norm="pre"`` gives $x + f(\mathrm{LayerNorm}(x))$, an identity path through any number
    of blocks; ``"post"`` gives $\mathrm{LayerNorm}(x + f(x))$, as in the first transformer.
    ``dropout`` acts on what $f$ adds. Source: He et al. (2016); Vaswani et al. (2017), section 3.1,
    for post; Xiong et al. (2020) for pre.
    """

    @checked
    def __init__(self, d_model: Size, *, dropout: UnitInterval = 0.0, norm: Norm = "pre") -> None:
        super().__init__()
        self.d_model = d_model
        self.pre = norm == "pre"
        self.norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    @checked
    def forward(
        self,
        x: Float[Tensor, "*batch d_model"],
        layer: Callable[..., Float[Tensor, "*batch d_model"]],
        **options: Any,
    ) -> Float[Tensor, "*batch d_model"]:
        """The token, and what the layer adds to it; ``options`` go to the layer."""
        if self.pre:
            return x + self.dropout(layer(self.norm(x), **options))
        return self.norm(x + self.dropout(layer(x, **options)))
