r"""The transformer: attention and an MLP with residual connections, stacked.

The module reads in the order of lectures 6 and 7: the encoder's block and the encoder, the
decoder's block and the decoder, and the two joined for translation. The parts of a block are in
:mod:`course_lib.transformer.parts`; how a model writes is in :mod:`course_lib.generation`.

Sequences are rows, ``(*batch, tokens, d_model)``, or ids ``(*batch, tokens)``. A mask is ``True``
where a query may look. Bad input raises ``TypeError`` or ``ValueError`` with what was given, what
was expected and what to do.
"""

from collections.abc import Callable, Iterable

import torch
from einops import rearrange
from jaxtyping import Bool, Float, Int, Real
from torch import Tensor, nn

from course_lib.attention import HeadBias, HeadMask, finite_where_unseen
from course_lib.generation import KeyValueCache
from course_lib.support.checks import check_broadcasts, check_divides, check_not_empty
from course_lib.support.contracts import Size, UnitInterval, checked
from course_lib.transformer.parts import (
    MLP,
    BlockAttention,
    Norm,
    Position,
    Residual,
    TokenEmbedding,
)

ContextMask = Bool[Tensor, "#query #source"] | Bool[Tensor, "*#batch #heads #query #source"]


# Lecture 6: the encoder -----------------------------------------------------------------------


class EncoderBlock(nn.Module):
    """Attention, then an MLP of each token, both with a residual connection.

    ``d_hidden`` is the width of the MLP, 4 ``d_model`` by default. Equal to
    ``torch.nn.TransformerEncoderLayer`` with the same parameters and ``activation="gelu"``.
    :class:`Encoder` puts 0 for nan in padding; a block takes its padding as it is.
    Source: Vaswani et al. (2017), section 3.1.
    """

    @checked
    def __init__(
        self,
        d_model: Size,
        heads: Size,
        *,
        d_hidden: Size | None = None,
        dropout: UnitInterval = 0.0,
        norm: Norm = "pre",
    ) -> None:
        super().__init__()
        d_hidden = 4 * d_model if d_hidden is None else d_hidden
        self.d_model = d_model
        self.attention = BlockAttention(d_model, heads, dropout=dropout)
        self.attention_residual = Residual(d_model, dropout=dropout, norm=norm)
        self.mlp = MLP(d_model, d_hidden, dropout=dropout)
        self.mlp_residual = Residual(d_model, dropout=dropout, norm=norm)

    @checked
    def forward(
        self,
        x: Float[Tensor, "*batch tokens d_model"],
        *,
        mask: HeadMask | None = None,
        bias: HeadBias | None = None,
        position: Real[Tensor, "tokens"] | None = None,
    ) -> Float[Tensor, "*batch tokens d_model"]:
        """Attention, then the MLP. ``mask``, ``bias`` and ``position`` go to the attention."""
        x = self.attention_residual(x, self.attention, mask=mask, bias=bias, position=position)
        return self.mlp_residual(x, self.mlp)


class Encoder(nn.Module):
    """A stack of :class:`EncoderBlock`; after pre-norm blocks, one norm at the end.

    Takes tokens that are vectors already, from :class:`TokenEmbedding` or from a detector. Where
    order matters, add positions to them, or pass ``position`` to turn queries and keys by
    :func:`course_lib.position.rotary` in every block.
    """

    @checked
    def __init__(
        self,
        d_model: Size,
        heads: Size,
        layers: Size,
        *,
        d_hidden: Size | None = None,
        dropout: UnitInterval = 0.0,
        norm: Norm = "pre",
    ) -> None:
        super().__init__()
        self.d_model = d_model
        self.blocks = nn.ModuleList(
            EncoderBlock(d_model, heads, d_hidden=d_hidden, dropout=dropout, norm=norm)
            for _ in range(layers)
        )
        self.norm = nn.LayerNorm(d_model) if norm == "pre" else nn.Identity()

    @checked
    def forward(
        self,
        x: Float[Tensor, "*batch tokens d_model"],
        *,
        mask: HeadMask | None = None,
        bias: HeadBias | None = None,
        position: Real[Tensor, "tokens"] | None = None,
    ) -> Float[Tensor, "*batch tokens d_model"]:
        """A vector for every token that depends on all.

        ``mask`` and ``bias`` are those of :class:`course_lib.attention.MultiHeadAttention`; for a
        padded batch, with ``valid`` True at tokens, the mask is ``valid[:, None, None, :]``.
        """
        check_not_empty("x", x, axis=-2)
        x, _ = finite_where_unseen(x, None, mask, bias)
        for block in self.blocks:
            x = block(x, mask=mask, bias=bias, position=position)
        return self.norm(x)

    @checked
    def attention_weights(
        self,
        x: Float[Tensor, "*batch tokens d_model"],
        *,
        mask: HeadMask | None = None,
        bias: HeadBias | None = None,
        position: Real[Tensor, "tokens"] | None = None,
    ) -> Float[Tensor, "layers *batch heads tokens tokens"]:
        """How much each token looks at each other in every block."""
        return _weights_of(
            [block.attention for block in self.blocks],
            lambda: self(x, mask=mask, bias=bias, position=position),
        )


# Lecture 7: the decoder -----------------------------------------------------------------------


class DecoderBlock(nn.Module):
    """An encoder block whose tokens never see their future, and, if ``cross``, look at a context.

    ``kv_heads`` is that of :class:`course_lib.attention.MultiHeadAttention`, for both attentions.
    With ``cross``, equal to ``torch.nn.TransformerDecoderLayer`` with the same parameters,
    ``activation="gelu"`` and the causal mask. Source: Vaswani et al. (2017), section 3.1.
    """

    @checked
    def __init__(
        self,
        d_model: Size,
        heads: Size,
        *,
        kv_heads: Size | None = None,
        d_hidden: Size | None = None,
        dropout: UnitInterval = 0.0,
        norm: Norm = "pre",
        cross: bool = False,
    ) -> None:
        super().__init__()
        d_hidden = 4 * d_model if d_hidden is None else d_hidden
        self.d_model = d_model
        self.cross = cross
        self.attention = BlockAttention(d_model, heads, kv_heads=kv_heads, dropout=dropout)
        self.attention_residual = Residual(d_model, dropout=dropout, norm=norm)
        if cross:
            self.cross_attention = BlockAttention(
                d_model, heads, kv_heads=kv_heads, dropout=dropout
            )
            self.cross_residual = Residual(d_model, dropout=dropout, norm=norm)
        self.mlp = MLP(d_model, d_hidden, dropout=dropout)
        self.mlp_residual = Residual(d_model, dropout=dropout, norm=norm)

    @checked
    def forward(
        self,
        x: Float[Tensor, "*batch tokens d_model"],
        context: Float[Tensor, "*batch source d_model"] | None = None,
        *,
        mask: HeadMask | None = None,
        context_mask: ContextMask | None = None,
        position: Real[Tensor, "tokens"] | None = None,
        cache: KeyValueCache | None = None,
    ) -> Float[Tensor, "*batch tokens d_model"]:
        """Attention to the past, attention to the context if there is one, then the MLP.

        ``mask`` hides further keys; with a ``cache``, its keys begin with the cached ones.
        """
        _check_context(context, cross=self.cross)
        before = 0 if cache is None else cache.length(self.attention)
        mask = _past(x, before, self.attention.heads, mask)
        x = self.attention_residual(x, self.attention, mask=mask, position=position, cache=cache)
        if self.cross:
            x = self.cross_residual(
                x, self.cross_attention, context=context, mask=context_mask, cache=cache
            )
        return self.mlp_residual(x, self.mlp)


class Decoder(nn.Module):
    """A language model: ids in, and for each the logits of the id that comes next.

    Token embedding, a stack of :class:`DecoderBlock`, a norm after pre-norm blocks, and an
    ``lm_head`` that is the embedding again if ``tied``. ``tokens`` is the longest sequence,
    ``position`` one of ``"learned"``, ``"sinusoidal"``, ``"rotary"`` and ``"none"``, and
    ``kv_heads`` the heads of keys and values, which a cache holds. Source: Radford et al. (2018),
    and (2019) for norms before the layers and at the end; Press and Wolf (2017) for the tied head.
    """

    @checked
    def __init__(
        self,
        vocabulary_size: Size,
        d_model: Size,
        heads: Size,
        layers: Size,
        *,
        tokens: Size,
        kv_heads: Size | None = None,
        d_hidden: Size | None = None,
        dropout: UnitInterval = 0.0,
        norm: Norm = "pre",
        position: Position = "learned",
        tied: bool = True,
        cross: bool = False,
    ) -> None:
        super().__init__()
        _check_rotary(position, d_model, heads)
        self.vocabulary_size = vocabulary_size
        self.d_model = d_model
        self.tokens = tokens
        self.embedding = TokenEmbedding(
            vocabulary_size, d_model, tokens=tokens, dropout=dropout, position=position
        )
        self.blocks = nn.ModuleList(
            DecoderBlock(
                d_model,
                heads,
                kv_heads=kv_heads,
                d_hidden=d_hidden,
                dropout=dropout,
                norm=norm,
                cross=cross,
            )
            for _ in range(layers)
        )
        self.norm = nn.LayerNorm(d_model) if norm == "pre" else nn.Identity()
        self.lm_head = nn.Linear(d_model, vocabulary_size, bias=False)
        if tied:
            self.lm_head.weight = self.embedding.token.weight

    @checked
    def forward(
        self,
        ids: Int[Tensor, "*batch length"],
        cache: KeyValueCache | None = None,
        *,
        context: Float[Tensor, "*batch source d_model"] | None = None,
        context_mask: ContextMask | None = None,
    ) -> Float[Tensor, "*batch length vocabulary"]:
        """The logits of the token after each of ``ids``.

        With a ``cache``, ``ids`` are the tokens after those that it holds, and are added to it; the
        logits are those that the whole sequence would give. With cross-attention, ``context`` holds
        the tokens to look at, the same tensor in every call.
        """
        start = 0 if cache is None else cache.tokens
        if cache is not None:
            cache.check_reader([block.attention for block in self.blocks])
        x, position = self.embedding(ids, start=start), self.embedding.positions(ids, start=start)
        for block in self.blocks:
            x = block(x, context, context_mask=context_mask, position=position, cache=cache)
        return self.lm_head(self.norm(x))

    @checked
    def attention_weights(
        self,
        ids: Int[Tensor, "*batch length"],
        *,
        context: Float[Tensor, "*batch source d_model"] | None = None,
        context_mask: ContextMask | None = None,
    ) -> Float[Tensor, "layers *batch heads length length"]:
        """How much each token looks at itself and at those before it in every block."""
        return _weights_of(
            [block.attention for block in self.blocks],
            lambda: self(ids, context=context, context_mask=context_mask),
        )

    @checked
    def cross_attention_weights(
        self,
        ids: Int[Tensor, "*batch length"],
        *,
        context: Float[Tensor, "*batch source d_model"],
        context_mask: ContextMask | None = None,
    ) -> Float[Tensor, "layers *batch heads length source"]:
        """How much each token looks at each token of the context in every block."""
        return _weights_of(
            [block.cross_attention for block in self.blocks if block.cross],
            lambda: self(ids, context=context, context_mask=context_mask),
        )


class EncoderDecoder(nn.Module):
    """Reads one sequence, then writes another while looking at the first: translation.

    ``layers`` blocks on each side. ``source_mask`` is True at the tokens of a source, False where
    it is padded. To write::

        context = model.encode(source)
        generate(model.decoder, start, steps=20, stop=end, context=context)

    Source: Vaswani et al. (2017), section 3.
    """

    @checked
    def __init__(
        self,
        source_vocabulary_size: Size,
        vocabulary_size: Size,
        d_model: Size,
        heads: Size,
        layers: Size,
        *,
        tokens: Size,
        d_hidden: Size | None = None,
        dropout: UnitInterval = 0.0,
        norm: Norm = "pre",
        position: Position = "learned",
        tied: bool = True,
    ) -> None:
        super().__init__()
        _check_rotary(position, d_model, heads)
        shared = {"d_hidden": d_hidden, "dropout": dropout, "norm": norm}
        self.embedding = TokenEmbedding(
            source_vocabulary_size, d_model, tokens=tokens, dropout=dropout, position=position
        )
        self.encoder = Encoder(d_model, heads, layers, **shared)
        self.decoder = Decoder(
            vocabulary_size,
            d_model,
            heads,
            layers,
            tokens=tokens,
            position=position,
            tied=tied,
            cross=True,
            **shared,
        )

    @checked
    def forward(
        self,
        source: Int[Tensor, "*batch source"],
        ids: Int[Tensor, "*batch length"],
        *,
        source_mask: Bool[Tensor, "*batch source"] | None = None,
    ) -> Float[Tensor, "*batch length vocabulary"]:
        """The logits of the token after each of ``ids``, given the source."""
        context = self.encode(source, source_mask=source_mask)
        return self.decoder(ids, context=context, context_mask=_keys(source_mask))

    @checked
    def encode(
        self,
        source: Int[Tensor, "*batch source"],
        *,
        source_mask: Bool[Tensor, "*batch source"] | None = None,
    ) -> Float[Tensor, "*batch source d_model"]:
        """The encoder's output for the source: the context of the decoder."""
        x, position = self.embedding(source), self.embedding.positions(source)
        return self.encoder(x, mask=_keys(source_mask), position=position)

    @checked
    def cross_attention_weights(
        self,
        source: Int[Tensor, "*batch source"],
        ids: Int[Tensor, "*batch length"],
        *,
        source_mask: Bool[Tensor, "*batch source"] | None = None,
    ) -> Float[Tensor, "layers *batch heads length source"]:
        """How much each token of ``ids`` looks at each token of the source in every block."""
        context = self.encode(source, source_mask=source_mask)
        return self.decoder.cross_attention_weights(
            ids, context=context, context_mask=_keys(source_mask)
        )


# What the classes above share -----------------------------------------------------------------


def _check_context(context: Tensor | None, *, cross: bool) -> None:
    if cross and context is None:
        raise ValueError(
            "a decoder with cross-attention got no context; expected one; pass the encoder's "
            "output for the source as context"
        )
    if context is not None and not cross:
        raise ValueError(
            "context was given to a decoder without cross-attention; expected none; leave it out, "
            "or build the decoder with cross=True"
        )


def _past(
    x: Tensor, before: int, heads: int, mask: Tensor | None
) -> Bool[Tensor, "... #tokens #seen"] | None:
    """Each token of ``x`` sees the ``before`` tokens before ``x``, and in ``x`` up to itself."""
    tokens = x.shape[-2]
    if mask is not None:
        check_broadcasts("mask", mask, (*x.shape[:-2], heads, tokens, before + tokens))
    if tokens == 1:
        return mask
    past = torch.ones(tokens, before + tokens, dtype=torch.bool, device=x.device).tril(before)
    return past if mask is None else past & mask


def _keys(source_mask: Tensor | None) -> Tensor | None:
    """A mask over tokens as a mask over keys, for every head and every query."""
    return None if source_mask is None else rearrange(source_mask, "... key -> ... 1 1 key")


def _weights_of(
    attentions: Iterable[BlockAttention], run: Callable[[], object]
) -> Float[Tensor, "layers *batch heads query key"]:
    """The weights of each attention during ``run()``."""
    weights = []

    def look(attention: BlockAttention, inputs: tuple, given: dict) -> None:
        shown = {name: value for name, value in given.items() if name != "cache"}
        weights.append(attention.weights(*inputs, **shown))

    hooks = [layer.register_forward_pre_hook(look, with_kwargs=True) for layer in attentions]
    try:
        run()
    finally:
        for hook in hooks:
            hook.remove()
    return torch.stack(weights)


def _check_rotary(position: str, d_model: int, heads: int) -> None:
    check_divides("heads", heads, "d_model", d_model)
    if position == "rotary" and (d_model // heads) % 2:
        raise ValueError(
            f"a head has d_model / heads = {d_model // heads} features; expected an even number "
            "for rotary positions, which turn them in pairs; choose another d_model or heads"
        )
