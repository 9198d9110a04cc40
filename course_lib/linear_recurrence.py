r"""Recurrence without a nonlinearity in the way: $h_t = a_t \odot h_{t-1} + b_t$.

When neither $a_t$ nor $b_t$ depends on the state, the steps of a sequence can be joined in any
grouping, since two of them are again one: $(a, b)$ and then $(a', b')$ is
$(a' \odot a,\; a' \odot b + b')$. So a sequence of $T$ tokens takes about $\log_2 T$ rounds instead
of $T$ steps.

Sequences are rows, ``(*batch, tokens, d)``, and states ``(*batch, d)``. Bad input raises
``TypeError`` or ``ValueError`` with what was given, what was expected and what to do.
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from course_lib.checks import check_size
from course_lib.support.contracts import Size, checked


@checked
def linear_recurrence(
    keep: Float[Tensor, "*batch tokens d"], add: Float[Tensor, "*batch tokens d"]
) -> Float[Tensor, "*batch tokens d"]:
    r"""The states $h_t = a_t \odot h_{t-1} + b_t$ from $h_0 = 0$, one after the other.

    ``keep`` is $a$ and ``add`` is $b$. Raises ``ValueError`` for an empty sequence.
    """
    check_size("tokens, the length of the sequence", add.shape[-2])
    state, states = torch.zeros_like(add[..., 0, :]), []
    for a, b in zip(keep.unbind(-2), add.unbind(-2), strict=True):
        state = a * state + b
        states.append(state)
    return torch.stack(states, dim=-2)


@checked
def parallel_scan(
    keep: Float[Tensor, "*batch tokens d"], add: Float[Tensor, "*batch tokens d"]
) -> Float[Tensor, "*batch tokens d"]:
    r"""The same states in $\lceil \log_2 T \rceil$ rounds, each of which joins all steps at once.

    After a round with the stride $s$ each place holds the joint step of the $2s$ tokens that end
    there. Where a product of many $a$ is infinite and the states need not be, they are computed one
    after the other. Errors are those of :func:`linear_recurrence`.
    Source: Hillis and Steele (1986); for recurrent networks, Martin and Cundy (2018).
    """
    check_size("tokens, the length of the sequence", add.shape[-2])
    stride, tokens, given = 1, keep.shape[-2], (keep, add)
    while stride < tokens:
        earlier = (0, 0, stride, -stride)
        add = keep * F.pad(add, earlier) + add
        keep = keep * F.pad(keep, earlier, value=1.0)
        stride *= 2
    return add if math.isfinite(add.detach().sum().item()) else linear_recurrence(*given)


class MinGRU(nn.Module):
    r"""A GRU whose gate and candidate see the token alone, and so can be scanned.

    $z_t = \sigma(W_z x_t + b_z)$, $n_t = W_n x_t + b_n$ and
    $h_t = (1 - z_t) \odot n_t + z_t \odot h_{t-1}$. As in :class:`course_lib.recurrent.GRU` an
    update gate of 1 keeps the state; the paper has $1 - z$ for our $z$. The state starts at 0.
    Raises ``ValueError`` for an empty sequence and for other features than ``d_in``.
    Source: Feng et al. (2024), section 3.1.
    """

    @checked
    def __init__(self, d_in: Size, d_hidden: Size) -> None:
        super().__init__()
        self.d_in, self.d_hidden = d_in, d_hidden
        self.update = nn.Linear(d_in, d_hidden)
        self.candidate = nn.Linear(d_in, d_hidden)

    @checked
    def forward(
        self, x: Float[Tensor, "*batch tokens d_in"]
    ) -> Float[Tensor, "*batch tokens d_hidden"]:
        """The state after every token."""
        update = self.update(x).sigmoid()
        return parallel_scan(update, (1 - update) * self.candidate(x))
