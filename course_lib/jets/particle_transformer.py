r"""Particle Transformer: attention among particles, with features of each pair in the scores.

A jet is a set, so nothing here depends on order. Particles look at each other with scores to which
the pairwise features are added, embedded once for all blocks and one number for each head:
$\mathrm{softmax}(QK^\top/\sqrt d + U)\,V$. Then a class token looks at the particles, and its
vector is read out as the class of the jet.

Source: Qu, Li and Qian (2022), arXiv 2202.03772; the blocks are those of NormFormer (Shleifer,
Weston and Ott, 2021), class attention is that of Touvron et al. (2021). The authors' code is
``weaver-core`` on PyPI.
"""

import torch
from einops import rearrange
from jaxtyping import Bool, Float, Real
from torch import Tensor, nn

from course_lib.attention import zero_where_unseen
from course_lib.jets.features import FEATURES, PAIR_FEATURES, check_valid
from course_lib.support.checks import check_broadcasts, check_not_empty
from course_lib.support.contracts import Size, UnitInterval, checked
from course_lib.transformer import BlockAttention

Mask = Bool[Tensor, "#particles #particles"] | Bool[Tensor, "*#batch #heads #particles #particles"]
Bias = (
    Float[Tensor, "#particles #particles"] | Float[Tensor, "*#batch #heads #particles #particles"]
)

D_FEATURES, D_PAIR_FEATURES = len(FEATURES), len(PAIR_FEATURES)
ROUNDINGS = 4  # a column whose deviation is no larger is constant


class Standardization(nn.Module):
    r"""$(x - \mu) / \sigma$ in each of ``d`` columns, after :meth:`learn`; $x$ before."""

    @checked
    def __init__(self, d: Size) -> None:
        super().__init__()
        self.d = d
        self.register_buffer("mean", torch.zeros(d))
        self.register_buffer("scale", torch.ones(d))

    @checked
    def learn(self, x: Float[Tensor, "rows d"]) -> None:
        """Take mean and standard deviation from the rows of ``x``; a constant column keeps 1."""
        check_not_empty("x", x, axis=0)
        deviation, rounding = (
            x.std(dim=0, correction=min(1, len(x) - 1)),
            torch.finfo(x.dtype).eps * x.abs().amax(dim=0),
        )
        self.mean.copy_(x.mean(dim=0))
        self.scale.copy_(torch.where(deviation > ROUNDINGS * rounding, deviation, 1))

    @checked
    def forward(self, x: Float[Tensor, "*batch d"]) -> Float[Tensor, "*batch d"]:
        """Every column with mean 0 and standard deviation 1, if distributed as in :meth:`learn`."""
        return (x - self.mean) / self.scale


class ParticleAttentionBlock(nn.Module):
    r"""Attention, then an MLP of each particle, with four norms instead of two.

    $a = x + \mathrm{LN}(\mathrm{attention}(\mathrm{LN}(x)))$ and
    $a + W_2\,\mathrm{LN}(\mathrm{GELU}(W_1\,\mathrm{LN}(a) + b_1)) + b_2$, where the MLP is
    ``d_hidden`` wide, 4 ``d_model`` by default. ``dropout`` acts on weights, hidden features and
    what is added. Equal to ``Block`` of ``weaver-core`` 0.5.3 without its learned scales of the
    heads, which the output projection can learn as well, and of the residual (``scale_heads`` and
    ``scale_resids``, which the paper does not mention).
    Source: Qu, Li and Qian (2022), figure 3b.
    """

    @checked
    def __init__(
        self,
        d_model: Size,
        heads: Size,
        *,
        d_hidden: Size | None = None,
        dropout: UnitInterval = 0.0,
    ) -> None:
        super().__init__()
        d_hidden = 4 * d_model if d_hidden is None else d_hidden
        self.d_model, self.heads = d_model, heads
        self.norm = nn.LayerNorm(d_model)
        self.attention = BlockAttention(d_model, heads, dropout=dropout)
        self.attended = nn.Sequential(nn.LayerNorm(d_model), nn.Dropout(dropout))
        self.mlp = nn.Sequential(
            nn.LayerNorm(d_model),
            nn.Linear(d_model, d_hidden),
            nn.GELU(),
            nn.Dropout(dropout),
            nn.LayerNorm(d_hidden),
            nn.Linear(d_hidden, d_model),
            nn.Dropout(dropout),
        )

    @checked
    def forward(
        self,
        x: Float[Tensor, "*batch particles d_model"],
        *,
        mask: Mask | None = None,
        bias: Bias | None = None,
    ) -> Float[Tensor, "*batch particles d_model"]:
        """Attention, then the MLP. ``mask`` and ``bias`` go to the attention."""
        x = x + self.attended(self.attention(self.norm(x), mask=mask, bias=bias))
        return x + self.mlp(x)


class ClassAttentionBlock(ParticleAttentionBlock):
    r"""A class token looks at itself and at all particles, which stay as they are.

    As :class:`ParticleAttentionBlock`, with $\mathrm{attention}(c, \mathrm{LN}[c, x])$: the only
    query is the token, without a norm as in the authors' code.
    Source: Qu, Li and Qian (2022), figure 3c; Touvron et al. (2021), section 3.
    """

    @checked
    def forward(
        self,
        token: Float[Tensor, "*batch 1 d_model"],
        x: Float[Tensor, "*batch particles d_model"],
        *,
        mask: Bool[Tensor, "1 seen"] | Bool[Tensor, "*#batch #heads 1 seen"] | None = None,
    ) -> Float[Tensor, "*batch 1 d_model"]:
        """The new token. The first key of ``mask`` is the token itself."""
        seen = self.norm(torch.cat([token, x], dim=-2))
        if mask is not None:
            check_broadcasts("mask", mask, (*x.shape[:-2], self.heads, 1, seen.shape[-2]))
        token = token + self.attended(self.attention(token, seen, mask=mask))
        return token + self.mlp(token)


class ParticleTransformer(nn.Module):
    r"""Jets in, a logit for each class out.

    ``layers`` particle attention blocks and ``class_layers`` class attention blocks, ``d_model``
    wide, with ``heads`` heads; the MLP that embeds pairs is ``d_pair`` wide. ``dropout`` acts among
    the particles alone. Particles have ``d_features`` numbers, pairs ``d_pair_features``.

    In training and evaluation the standardisation is the same, see :meth:`standardized_like`; the
    authors normalise each batch in training, and have an affine map at inference. Particles are
    embedded by two layers and pairs by three, theirs by three and four. Equal to
    ``ParticleTransformer`` of ``weaver-core`` 0.5.3 with the same parameters, as many layers, and
    blocks as :class:`ParticleAttentionBlock` says.
    """

    @checked
    def __init__(
        self,
        n_classes: Size,
        d_model: Size,
        heads: Size,
        layers: Size,
        class_layers: Size,
        *,
        d_pair: Size = 16,
        dropout: UnitInterval = 0.0,
        d_features: Size = D_FEATURES,
        d_pair_features: Size = D_PAIR_FEATURES,
    ) -> None:
        super().__init__()
        self.n_classes, self.d_model, self.heads = n_classes, d_model, heads
        self.class_layers = class_layers
        self.d_features, self.d_pair_features = d_features, d_pair_features
        self.blocks = nn.ModuleList(
            ParticleAttentionBlock(d_model, heads, dropout=dropout) for _ in range(layers)
        )
        self.class_blocks = nn.ModuleList(
            ClassAttentionBlock(d_model, heads) for _ in range(class_layers)
        )
        self.embed = nn.Sequential(
            nn.LayerNorm(d_features),
            nn.Linear(d_features, 2 * d_model),
            nn.GELU(),
            nn.LayerNorm(2 * d_model),
            nn.Linear(2 * d_model, d_model),
            nn.GELU(),
        )
        self.embed_pairs = nn.Sequential(
            nn.Linear(d_pair_features, d_pair),
            nn.GELU(),
            nn.Linear(d_pair, d_pair),
            nn.GELU(),
            nn.Linear(d_pair, heads),
        )
        self.class_token = nn.Parameter(0.02 * torch.randn(1, d_model))
        self.read = nn.Sequential(nn.LayerNorm(d_model), nn.Linear(d_model, n_classes))
        self.standard = Standardization(d_features)
        self.standard_pairs = Standardization(d_pair_features)

    @checked
    def standardized_like(
        self,
        features: Float[Tensor, "jets particles d_features"],
        pairs: Real[Tensor, "jets particles particles d_pair_features"] | None = None,
        *,
        valid: Bool[Tensor, "jets particles"],
    ) -> "ParticleTransformer":
        """This model, which now standardizes features by the mean and deviation of such jets."""
        self.standard.learn(features[valid])
        if pairs is not None:
            real_pairs = pairs[valid[:, :, None] & valid[:, None, :]]
            self.standard_pairs.learn(real_pairs.to(features.dtype))
        return self

    @checked
    def forward(
        self,
        features: Float[Tensor, "*batch particles d_features"],
        pairs: Real[Tensor, "*batch particles particles d_pair_features"] | None = None,
        *,
        valid: Bool[Tensor, "*batch particles"] | None = None,
    ) -> Float[Tensor, "*batch n_classes"]:
        """The logits; without ``pairs`` nothing is added to the scores.

        ``valid`` is True where a particle is, everywhere by default. ``pairs`` may be of another
        dtype. Raises ``ValueError`` for a jet without particles.
        """
        valid = torch.ones_like(features[..., 0], dtype=torch.bool) if valid is None else valid
        check_valid(valid)
        x = self.embed(self.standard(zero_where_unseen(features, valid)))
        mask = valid[..., None, None, :]
        if pairs is not None:
            pairs = zero_where_unseen(pairs, valid[..., None] & valid[..., None, :])
        bias = self.bias(pairs, like=x)
        for block in self.blocks:
            x = block(x, mask=mask, bias=bias)
        token = self.class_token.expand(*x.shape[:-2], -1, -1)
        with_token = torch.cat([torch.ones_like(mask[..., :1]), mask], dim=-1)
        for block in self.class_blocks:
            token = block(token, x, mask=with_token)
        return self.read(token[..., 0, :])

    @checked
    def bias(
        self,
        pairs: Real[Tensor, "*batch particles particles d_pair_features"] | None,
        *,
        like: Float[Tensor, "*batch particles d_model"],
    ) -> Float[Tensor, "*batch heads particles particles"] | None:
        """What the features of each pair add to the scores of each head, in the dtype ``like``."""
        if pairs is None:
            return None
        embedded = self.embed_pairs(self.standard_pairs(pairs.to(like.dtype)))
        return rearrange(embedded, "... i j heads -> ... heads i j")

    @checked
    def class_weights(
        self,
        features: Float[Tensor, "*batch particles d_features"],
        pairs: Real[Tensor, "*batch particles particles d_pair_features"] | None = None,
        *,
        valid: Bool[Tensor, "*batch particles"] | None = None,
    ) -> Float[Tensor, "class_layers *batch heads seen"]:
        """How much the class token looks at itself, which is first, and at each particle."""
        weights: list[Tensor] = []

        def look(attention: BlockAttention, inputs: tuple, given: dict) -> None:
            weights.append(attention.weights(*inputs, **given)[..., 0, :])

        hooks = [
            block.attention.register_forward_pre_hook(look, with_kwargs=True)
            for block in self.class_blocks
        ]
        try:
            self(features, pairs, valid=valid)
        finally:
            for hook in hooks:
                hook.remove()
        return torch.stack(weights)


@checked
def without_itself(model: ParticleTransformer) -> ParticleTransformer:
    """The same network, changed: its class token may look at the particles alone."""

    def hide(attention: BlockAttention, given: tuple, named: dict) -> tuple:  # noqa: ARG001
        mask = named["mask"].clone()
        mask[..., 0] = False
        return given, named | {"mask": mask}

    for block in model.class_blocks:
        block.attention.register_forward_pre_hook(hide, with_kwargs=True)
    return model
