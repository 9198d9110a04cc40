r"""Masked language modelling: hide tokens, and learn to predict them from the others.

:func:`hide` masks a sequence, :class:`MaskedLanguageModel` predicts the hidden tokens, and
:func:`masked_loss` is its mean surprise at them. A prediction may use both sides, unlike that of a
decoder, which predicts the next token. Source: Devlin et al. (2019), section 3.1.

Sequences are ids ``(*batch, tokens)``. In a padded batch ``valid`` is True at the tokens of a
sequence and False where it is padded. Bad input raises ``TypeError`` or ``ValueError`` with what
was given, what was expected and what to do.
"""

from typing import Annotated

import torch
from einops import rearrange
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from course_lib.generation.sampling import check_ids
from course_lib.support.contracts import Above, Between, Count, Size, UnitInterval, checked
from course_lib.transformer.blocks import Encoder
from course_lib.transformer.parts import Norm, Position, TokenEmbedding

MASKED, RANDOM = 0.8, 0.1  # what becomes of the chosen tokens; the rest stay as they are


class MaskedLanguageModel(nn.Module):
    r"""Ids in, and for each place the logits of the id that belongs there: $f(X) E^\top$.

    A :class:`~course_lib.transformer.TokenEmbedding` with the matrix $E$, then an
    :class:`~course_lib.transformer.Encoder` $f$ of ``layers`` blocks, and the embedding again to
    read out. ``tokens`` is the longest sequence; ``position`` is one of ``"learned"``,
    ``"sinusoidal"``, ``"rotary"`` and ``"none"``. Source: Devlin et al. (2019), without the further
    layer and the bias of their readout.
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
        d_hidden: Size | None = None,
        dropout: UnitInterval = 0.0,
        norm: Norm = "pre",
        position: Position = "learned",
    ) -> None:
        super().__init__()
        self.vocabulary_size = vocabulary_size
        self.d_model = d_model
        self.embedding = TokenEmbedding(
            vocabulary_size, d_model, tokens=tokens, dropout=dropout, position=position
        )
        self.encoder = Encoder(
            d_model, heads, layers, d_hidden=d_hidden, dropout=dropout, norm=norm
        )

    @checked
    def forward(
        self,
        ids: Int[Tensor, "*batch tokens"],
        *,
        valid: Bool[Tensor, "*batch tokens"] | None = None,
    ) -> Float[Tensor, "*batch tokens vocabulary"]:
        """The logits of every id at every place; those at padded places mean nothing."""
        return self.encode(ids, valid=valid) @ self.embedding.token.weight.T

    @checked
    def encode(
        self,
        ids: Int[Tensor, "*batch tokens"],
        *,
        valid: Bool[Tensor, "*batch tokens"] | None = None,
    ) -> Float[Tensor, "*batch tokens d_model"]:
        """A vector for every token that depends on all; to fine-tune for other tasks.

        Raises ``ValueError`` for an empty sequence or one of padding alone, an id outside the
        vocabulary, and a sequence longer than ``tokens``.
        """
        return self.encoder(**self._seen(ids, valid))

    @checked
    def logit_lens(
        self,
        ids: Int[Tensor, "*batch tokens"],
        *,
        valid: Bool[Tensor, "*batch tokens"] | None = None,
    ) -> Float[Tensor, "readings *batch tokens vocabulary"]:
        r"""The residual stream read out before the first block and after each: $f_0(x_k) E^\top$.

        $f_0$ is the norm at the top, or nothing after post-norm blocks. Reading $k$ is what the
        model would answer if all blocks after block $k$ were pre-norm and added nothing; the last
        reading is its answer. Source: nostalgebraist (2020).
        """
        return self.encoder.norm(self.stream(ids, valid=valid)) @ self.embedding.token.weight.T

    @checked
    def stream(
        self,
        ids: Int[Tensor, "*batch tokens"],
        *,
        valid: Bool[Tensor, "*batch tokens"] | None = None,
    ) -> Float[Tensor, "readings *batch tokens d_model"]:
        """Every token before the first block and after each, not yet normed: its residual stream.

        Source of the name: Elhage et al. (2021).
        """
        given = self._seen(ids, valid)
        tokens = [given.pop("x")]
        for block in self.encoder.blocks:
            tokens.append(block(tokens[-1], **given))
        return torch.stack(tokens)

    @checked
    def attention_weights(
        self,
        ids: Int[Tensor, "*batch tokens"],
        *,
        valid: Bool[Tensor, "*batch tokens"] | None = None,
    ) -> Float[Tensor, "layers *batch heads tokens tokens"]:
        """How much each token looks at each other in every block."""
        return self.encoder.attention_weights(**self._seen(ids, valid))

    def _seen(self, ids: Tensor, valid: Tensor | None) -> dict[str, Tensor | None]:
        """What the encoder gets: vectors, their positions if rotary, and a mask over keys."""
        _check_valid(valid)
        return {
            "x": self.embedding(ids),
            "mask": None if valid is None else rearrange(valid, "... key -> ... 1 1 key"),
            "position": self.embedding.positions(ids),
        }


@checked
def hide(
    ids: Int[Tensor, "*batch tokens"],
    *,
    mask: Count,
    vocabulary_size: Annotated[int, Between(2)],
    share: Annotated[float, Above(0), Between(0, 1)] = 0.15,
    valid: Bool[Tensor, "*batch tokens"] | None = None,
    generator: torch.Generator | None = None,
) -> tuple[Int[Tensor, "*batch tokens"], Bool[Tensor, "*batch tokens"]]:
    r"""Choose tokens to be guessed: what the model sees instead, and where they are.

    Of the $n$ real tokens of a sequence, ``share`` $\cdot\, n$ are chosen, rounded, and one at
    least. Of the chosen, 80 % become the id ``mask``, 10 % an id drawn from all others, which may
    be the one that they had, and 10 % stay: the model cannot trust any token that it sees. Raises
    ``ValueError`` for a share outside (0, 1].
    Source: Devlin et al. (2019), section 3.1.
    """
    check_ids("ids", ids, vocabulary_size)
    check_ids("mask", torch.tensor([mask]), vocabulary_size)
    _check_valid(valid)
    if valid is None:
        valid = torch.ones_like(ids, dtype=torch.bool)
    count = (share * valid.sum(dim=-1, keepdim=True)).round().clamp(min=1)

    def drawn() -> Tensor:
        return torch.rand(ids.shape, generator=generator, device=ids.device)

    # Shuffled places, padding last: the first `count` are chosen.
    rank = drawn().masked_fill(~valid, 2.0).argsort(dim=-1).argsort(dim=-1)
    hidden = rank < count
    fate = drawn()
    other = torch.randint(vocabulary_size - 1, ids.shape, generator=generator, device=ids.device)
    other = (other + (other >= mask)).to(ids.dtype)  # every id but the mask
    seen = ids.masked_fill(hidden & (fate < MASKED), mask)
    return torch.where(hidden & (fate > 1 - RANDOM), other, seen), hidden


@checked
def masked_loss(
    logits: Float[Tensor, "*batch tokens vocabulary"],
    ids: Int[Tensor, "*batch tokens"],
    hidden: Bool[Tensor, "*batch tokens"],
) -> Float[Tensor, ""]:
    r"""Mean surprise at the hidden tokens: $-\frac1n \sum_{\mathrm{hidden}\ t} \log p_t(x_t)$.

    ``ids`` are the true ones. Logits elsewhere do not count. Raises ``ValueError`` if nothing is
    hidden.
    """
    check_ids("ids", ids, logits.shape[-1])
    if not hidden.any():
        raise ValueError(
            "hidden is False everywhere, so there is nothing to guess; expected True at one token "
            "at least; choose some with hide(...)"
        )
    return F.cross_entropy(logits[hidden], ids[hidden].long())


def _check_valid(valid: Tensor | None) -> None:
    if valid is not None and not (some := valid.any(dim=-1)).all():
        sequence = tuple((~some).nonzero()[0].tolist())
        raise ValueError(
            f"valid is False at every token of sequence {sequence}; expected True at one at least; "
            "leave sequences of padding alone out of the batch"
        )
