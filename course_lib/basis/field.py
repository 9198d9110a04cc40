r"""A conditional neural field: one network for the solutions $u(x \mid z)$ to all inputs $z$.

The input is a function, or a few, measured at sensors. Each sensor is a token made of its place
and what was measured there. A point $x$ is a query of cross-attention, so that a solution can
be sampled anywhere, at the nodes of any mesh. The symbols are those of
:mod:`course_lib.basis.hats`.
"""

from typing import Annotated

from einops import einsum, rearrange
from jaxtyping import Float
from torch import Tensor, nn

from course_lib.attention import attention_weights
from course_lib.position import check_even, sinusoidal_at
from course_lib.support.checks import check_size
from course_lib.support.contracts import Between, Size, UnitInterval, checked
from course_lib.transformer import MLP, Encoder

INNER = tuple(
    f"{part}.weight"
    for part in ("expand", "contract", "query", "key", "attention.value", "attention.output")
)
"""Endings of the names of a field's inner matrices, which neither take nor return numbers."""


class CrossAttentionField(nn.Module):
    r"""Learned weights and learned nodal values: $u(x \mid z) = \sum_{h,i} \alpha_{hi}\, c_{hi}$.

    The tokens $t_i$ are an :class:`course_lib.transformer.Encoder`'s view, ``layers`` deep, of all
    sensors: their places as sinusoids, and ``d_z`` numbers measured at each. Every head $h$ weighs
    them for a point: $\alpha_h(x \mid z)$ is :func:`course_lib.attention.attention_weights` of a
    query made from $x$ alone, and :meth:`weights` returns it. The output is linear in the heads, so
    that :meth:`values`, the numbers $c_{hi}(z)$, do not depend on $x$: a basis for every input,
    where finite elements have one for all. The order of the sensors does not matter, and their
    number and places may change from call to call.

    ``finest`` is the highest angular frequency of the sinusoids, ``d_model / 2`` of them from there
    down to nearly 1: about $\pi$ divided by the shortest distance that matters. Raises
    ``ValueError`` for an odd ``d_model`` and unless ``heads`` divides it. Source: points
    as queries, Jaegle et al. (2022), section 3; learned values blended by a softmax, Kissas et
    al. (2022), where the weights depend on $x$ alone.
    """

    @checked
    def __init__(
        self,
        d_model: Size,
        heads: Size,
        layers: Size,
        *,
        d_z: Size = 1,
        d_hidden: Size | None = None,
        dropout: UnitInterval = 0.0,
        finest: Annotated[float, Between(1)] = 64,
    ) -> None:
        super().__init__()
        check_even("d_model", d_model)
        d_hidden = 4 * d_model if d_hidden is None else d_hidden
        self.d_model, self.d_z = d_model, d_z
        self.heads, self.finest = heads, finest
        self.measured = nn.Linear(d_z, d_model)
        self.encoder = Encoder(d_model, heads, layers, d_hidden=d_hidden, dropout=dropout)
        self.point = MLP(d_model, d_hidden)
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, d_model)
        self.value = nn.Linear(d_model, heads)

    @checked
    def forward(
        self,
        x: Float[Tensor, "*batch points"],
        place: Float[Tensor, "*batch sensors"],
        z: Float[Tensor, "*batch sensors d_z"],
    ) -> Float[Tensor, "*batch points"]:
        """The solution at the points ``x``, for what was measured at each ``place``."""
        token = self._tokens(place, z)
        weights, values = self._weights(x, token), self.value(token)
        return einsum(weights, values, "... h points sensors, ... sensors h -> ... points")

    @checked
    def weights(
        self,
        x: Float[Tensor, "*batch points"],
        place: Float[Tensor, "*batch sensors"],
        z: Float[Tensor, "*batch sensors d_z"],
    ) -> Float[Tensor, "*batch heads points sensors"]:
        r"""The learned basis $\alpha_{hi}(x \mid z)$; its rows are not negative and sum to one."""
        return self._weights(x, self._tokens(place, z))

    @checked
    def values(
        self, place: Float[Tensor, "*batch sensors"], z: Float[Tensor, "*batch sensors d_z"]
    ) -> Float[Tensor, "*batch heads sensors"]:
        r"""The learned nodal values $c_{hi}(z)$."""
        return self.value(self._tokens(place, z)).mT

    def _tokens(self, place: Tensor, z: Tensor) -> Float[Tensor, "*batch sensors d_model"]:
        check_size("the number of sensors in place", place.shape[-1])
        return self.encoder(self.measured(z) + self._place(place))

    def _weights(self, x: Tensor, token: Tensor) -> Float[Tensor, "*batch heads points sensors"]:
        query, key = (
            rearrange(tokens, "... tokens (h d) -> ... h tokens d", h=self.heads)
            for tokens in (self.query(self.point(self._place(x))), self.key(token))
        )
        return attention_weights(query, key)

    def _place(self, x: Tensor) -> Float[Tensor, "*batch points d_model"]:
        return sinusoidal_at(self.finest * x, self.d_model, base=self.finest)
