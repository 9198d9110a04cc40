r"""Particle Transformer: attention among particles that hears what every two have in common.

A jet is a set, so nothing here knows an order. Particles look at each other with scores to which
the pairwise features are added, embedded once for all blocks and one number for each head:
$\mathrm{softmax}(QK^\top/\sqrt d + U)\,V$. Then a class token looks at the particles, and its
vector is read out as the class of the jet.

Source: Qu, Li and Qian (2022), arXiv 2202.03772; the blocks are those of NormFormer (Shleifer,
Weston and Ott, 2021), class attention is that of Touvron et al. (2021). The authors' code is
``weaver-core`` on PyPI.
"""

import torch
from einops import rearrange
from jaxtyping import Bool, Float
from torch import Tensor, nn

from course_lib.attention import zero_where_unseen
from course_lib.checks import check_floating, check_shapes, check_size
from course_lib.jets import FEATURES, PAIR_FEATURES, check_real
from course_lib.transformer_parts import BlockAttention

ROUNDINGS = 4  # a column that varies by no more is constant


class Standardization(nn.Module):
    r"""$(x - \mu) / \sigma$ in each of ``d`` columns, with what :meth:`learn` saw; $x$ before."""

    def __init__(self, d: int) -> None:
        super().__init__()
        check_size("d", d)
        self.register_buffer("mean", torch.zeros(d))
        self.register_buffer("scale", torch.ones(d))

    def learn(self, x: Float[Tensor, "rows d"]) -> None:
        """Take mean and standard deviation from the rows of ``x``; a constant column keeps 1."""
        check_shapes(x=(x, f"rows {len(self.mean)}"))
        deviation, rounding = x.std(dim=0), torch.finfo(x.dtype).eps * x.abs().amax(dim=0)
        self.mean.copy_(x.mean(dim=0))
        self.scale.copy_(torch.where(deviation > ROUNDINGS * rounding, deviation, 1))

    def forward(self, x: Float[Tensor, "*batch d"]) -> Float[Tensor, "*batch d"]:
        """Every column with mean 0 and standard deviation 1, if it is like those seen."""
        return (x - self.mean) / self.scale


class ParticleAttentionBlock(nn.Module):
    r"""Look at the other particles, then think alone, with four norms instead of two.

    $a = x + \mathrm{LN}(\mathrm{attention}(\mathrm{LN}(x)))$ and
    $a + W_2\,\mathrm{LN}(\mathrm{GELU}(W_1\,\mathrm{LN}(a) + b_1)) + b_2$, where the MLP is
    ``d_hidden`` wide, 4 ``d_model`` by default. ``dropout`` hides weights, hidden features and
    what is added. Equal to ``Block`` of ``weaver-core`` 0.5.3 without its learned scales of the
    heads, which the output projection can learn as well, and of the residual (``scale_heads`` and
    ``scale_resids``, which the paper does not mention).
    Source: Qu, Li and Qian (2022), figure 3b.
    """

    def __init__(
        self,
        d_model: int,
        heads: int,
        *,
        d_hidden: int | None = None,
        dropout: float | int = 0.0,
    ) -> None:
        super().__init__()
        d_hidden = 4 * d_model if d_hidden is None else d_hidden
        check_size("d_hidden", d_hidden)
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

    def forward(
        self,
        x: Float[Tensor, "*batch particles d_model"],
        *,
        mask: Bool[Tensor, "... #particles #particles"] | None = None,
        bias: Float[Tensor, "... #particles #particles"] | None = None,
    ) -> Float[Tensor, "*batch particles d_model"]:
        """Attention, then the MLP. ``mask`` and ``bias`` go to the attention."""
        x = x + self.attended(self.attention(self.norm(x), mask=mask, bias=bias))
        return x + self.mlp(x)


class ClassAttentionBlock(ParticleAttentionBlock):
    r"""A class token looks at itself and at all particles, which stay as they are.

    As :class:`ParticleAttentionBlock`, with $\mathrm{attention}(c, \mathrm{LN}[c, x])$: only the
    token asks, and, as in the authors' code, it asks without a norm.
    Source: Qu, Li and Qian (2022), figure 3c; Touvron et al. (2021), section 3.
    """

    def forward(
        self,
        token: Float[Tensor, "*batch 1 d_model"],
        x: Float[Tensor, "*batch particles d_model"],
        *,
        mask: Bool[Tensor, "... 1 #seen"] | None = None,
    ) -> Float[Tensor, "*batch 1 d_model"]:
        """The token, having looked. ``mask`` counts the token as the first of what is seen."""
        seen = self.norm(torch.cat([token, x], dim=-2))
        token = token + self.attended(self.attention(token, seen, mask=mask))
        return token + self.mlp(token)


class ParticleTransformer(nn.Module):
    r"""Jets in, a logit for each class out.

    ``layers`` particle attention blocks and ``class_layers`` class attention blocks, ``d_model``
    wide, with ``heads`` heads; the MLP that embeds pairs is ``d_pair`` wide. ``dropout`` acts among
    the particles alone. Particles have ``d_features`` numbers, pairs ``d_pair_features``.

    In training mode and out of it the same standardisation holds, see :meth:`standardized_like`,
    where the authors normalise each batch; at inference theirs is an affine map too. Particles are
    embedded by two layers and pairs by three, theirs by three and four. Equal to
    ``ParticleTransformer`` of ``weaver-core`` 0.5.3 with the same parameters, as many layers, and
    blocks as :class:`ParticleAttentionBlock` says.
    """

    def __init__(
        self,
        classes: int,
        d_model: int,
        heads: int,
        layers: int,
        class_layers: int,
        *,
        d_pair: int = 16,
        dropout: float | int = 0.0,
        d_features: int = len(FEATURES),
        d_pair_features: int = len(PAIR_FEATURES),
    ) -> None:
        super().__init__()
        sizes = {"classes": classes, "layers": layers, "class_layers": class_layers}
        sizes |= {"d_pair": d_pair, "d_features": d_features, "d_pair_features": d_pair_features}
        for name, size in sizes.items():
            check_size(name, size)
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
        self.read = nn.Sequential(nn.LayerNorm(d_model), nn.Linear(d_model, classes))
        self.standard = Standardization(d_features)
        self.standard_pairs = Standardization(d_pair_features)

    def standardized_like(
        self,
        features: Float[Tensor, "jets particles d_features"],
        pairs: Float[Tensor, "jets particles particles d_pair_features"] | None = None,
        *,
        real: Bool[Tensor, "jets particles"],
    ) -> "ParticleTransformer":
        """Itself, to which the features of such jets have mean 0 and standard deviation 1."""
        self.standard.learn(features[real])
        if pairs is not None:
            self.standard_pairs.learn(pairs[real[:, :, None] & real[:, None, :]])
        return self

    def forward(
        self,
        features: Float[Tensor, "*batch particles d_features"],
        pairs: Float[Tensor, "*batch particles particles d_pair_features"] | None = None,
        *,
        real: Bool[Tensor, "*batch particles"] | None = None,
    ) -> Float[Tensor, "*batch classes"]:
        """The logits; without ``pairs`` nothing is added to the scores.

        ``real`` is True where a particle is, everywhere by default. ``pairs`` may be of another
        dtype. Raises ``ValueError`` for a jet without particles.
        """
        x, mask = self._embedded(features, real)
        if pairs is not None:
            pairs = zero_where_unseen(pairs, mask[..., 0, :] & mask[..., 0, :].mT)
        bias = self.bias(pairs, like=x)
        for block in self.blocks:
            x = block(x, mask=mask, bias=bias)
        token = self.class_token.expand(*x.shape[:-2], -1, -1)
        with_token = torch.cat([torch.ones_like(mask[..., :1]), mask], dim=-1)
        for block in self.class_blocks:
            token = block(token, x, mask=with_token)
        return self.read(token[..., 0, :])

    def bias(
        self,
        pairs: Float[Tensor, "*batch particles particles d_pair_features"] | None,
        *,
        like: Float[Tensor, "*batch particles d_model"],
    ) -> Float[Tensor, "*batch heads particles particles"] | None:
        """What the features of each pair add to the scores of each head, in the dtype ``like``."""
        if pairs is None:
            return None
        check_shapes(
            like=(like, "*batch particles d_model"),
            pairs=(pairs, f"*batch particles particles {len(self.standard_pairs.mean)}"),
        )
        embedded = self.embed_pairs(self.standard_pairs(pairs.to(like.dtype)))
        return rearrange(embedded, "... i j heads -> ... heads i j")

    def class_weights(
        self,
        features: Float[Tensor, "*batch particles d_features"],
        pairs: Float[Tensor, "*batch particles particles d_pair_features"] | None = None,
        *,
        real: Bool[Tensor, "*batch particles"] | None = None,
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
            self(features, pairs, real=real)
        finally:
            for hook in hooks:
                hook.remove()
        return torch.stack(weights)

    def _embedded(
        self, features: Tensor, real: Tensor | None
    ) -> tuple[Float[Tensor, "*batch particles d_model"], Bool[Tensor, "*batch 1 1 particles"]]:
        """The particles as vectors, and where a query may look."""
        check_floating(parameters=self.class_token, features=features)
        check_shapes(features=(features, f"*batch particles {len(self.standard.mean)}"))
        if real is None:
            real = torch.ones_like(features[..., 0], dtype=torch.bool)
        check_real(real, features)
        features = zero_where_unseen(features, real)
        return self.embed(self.standard(features)), real[..., None, None, :]


def without_itself(model: ParticleTransformer) -> ParticleTransformer:
    """The same network, changed: its class token may look at the particles alone."""

    def hide(attention: BlockAttention, given: tuple, named: dict) -> tuple:  # noqa: ARG001
        mask = named["mask"].clone()
        mask[..., 0] = False
        return given, named | {"mask": mask}

    for block in model.class_blocks:
        block.attention.register_forward_pre_hook(hide, with_kwargs=True)
    return model
