r"""Attention as a basis: what do attention and finite elements have in common?

Both blend values by weights that are not negative and sum to one, so that a function is written as
$u(x) = \sum_i \alpha_i(x)\, y_i$: the query is the point $x$, the keys are the nodes $x_i$, the
values are the nodal values $y_i$. The module reads in the order of lecture 3. First the weights:
:func:`hat` of the finite elements, :func:`softmax_basis` of attention, and :func:`sparsemax_basis`,
which is both. Then :func:`interpolate`; the network that is piecewise linear too,
:func:`relu_nodes`; and :func:`dropout`. The weights that are learned, with a basis for every input,
are :class:`course_lib.basis.CrossAttentionField`.

Points and nodes are numbers on a line, ``(points,)`` and ``(nodes,)``, and weights are ``(points,
nodes)``, so that rows attend. Bad input raises ``TypeError`` or ``ValueError`` with what was given,
what was expected and what to do.
"""

import math
from collections.abc import Callable
from itertools import pairwise

import torch
from jaxtyping import Float
from torch import Tensor, nn

from course_lib.support.checks import (
    check_finite,
    check_not_empty,
    check_scores,
    check_size,
    check_visible,
)
from course_lib.support.contracts import Positive, UnitInterval, checked

# The weights ----------------------------------------------------------------------------------


@checked
def hat(x: Float[Tensor, "points"], nodes: Float[Tensor, "nodes"]) -> Float[Tensor, "points nodes"]:
    r"""The hat functions of any increasing nodes, each 1 at its own node and 0 at all others.

    Between two neighbours, $\phi_i(x) = (x_{i+1} - x)/(x_{i+1} - x_i)$ and $\phi_{i+1}(x) = 1 -
    \phi_i(x)$; all other weights are exactly 0. Can be differentiated in both arguments. Raises
    ``ValueError`` for fewer than two nodes, nodes that do not increase, and a point outside them,
    where hats do not sum to one. Source: Strang and Fix (1973), section 1.5.
    """
    check_nodes(nodes)
    outside = x[~((nodes[0] <= x) & (x <= nodes[-1]))]
    if len(outside):
        raise ValueError(
            f"x holds {outside[0].item():g}; expected points in [{nodes[0].item():g}, "
            f"{nodes[-1].item():g}], between the first node and the last, since hats do not sum to "
            "one outside; move the point, or add a node beyond it"
        )
    right = torch.searchsorted(nodes.detach(), x.detach(), right=True).clamp(max=len(nodes) - 1)
    left = right - 1
    share = (x - nodes[left]) / (nodes[right] - nodes[left])
    both = torch.stack([left, right], dim=-1)
    empty = x.new_zeros(len(x), len(nodes))
    return empty.scatter(1, both, torch.stack([1 - share, share], dim=-1))


@checked
def softmax_basis(
    x: Float[Tensor, "points"], nodes: Float[Tensor, "nodes"], temperature: Positive
) -> Float[Tensor, "points nodes"]:
    r"""Weights of attention by distance: $\mathrm{softmax}_i\bigl(-|x - x_i|^2/\tau\bigr)$.

    ``temperature`` $\tau$ is an area, twice the variance of the Gaussian around each node. Since
    $x^2$ is in every score of a row, these are exactly
    :func:`course_lib.attention.attention_weights` with query $x$, key $x_i$, scale $2/\tau$ and
    bias $-x_i^2/\tau$. All weights are positive up to rounding; nodes may come in any order, and
    points may lie outside them. As $\tau \to 0$ the nearest node gets all, or the nearest share
    equally; as $\tau \to \infty$ every node gets the same.

    A blend by these weights does not pass through its values. For nodes at equal distances $h$ it
    is off by the blur $\tfrac{\tau}{4} u''$, by ripples as high as $2\pi\,\tfrac{\tau}{h}\,
    e^{-\pi^2\tau/h^2}\,u'$, and, near the ends, by up to $\sqrt{\tau/\pi}\,u'$, each to leading
    order and once $\tau$ is not much smaller than $h^2$.
    Source: Nadaraya (1964) and Watson (1964), kernel regression with a Gaussian kernel.
    """
    return _closeness(x, nodes, temperature).softmax(dim=-1)


@checked
def sparsemax_basis(
    x: Float[Tensor, "points"], nodes: Float[Tensor, "nodes"], temperature: Positive
) -> Float[Tensor, "points nodes"]:
    r"""The scores of :func:`softmax_basis` under :func:`sparsemax`, so that far nodes get nothing.

    For nodes at equal distances $h$ and $\tau = h^2$ these are the hats, which then are exactly
    attention weights; :func:`hat_keys` has the scores for any nodes. A larger $\tau$ gives more
    nodes a weight.
    """
    return sparsemax(_closeness(x, nodes, temperature))


@checked
def sparsemax(score: Float[Tensor, "*batch key"]) -> Float[Tensor, "*batch key"]:
    r"""The distribution nearest to the scores: $\arg\min_{p} \lVert p - s\rVert^2$.

    $p$ is not negative and sums to one, as after a softmax, but low scores get exactly 0: $p_i =
    \max(s_i - \theta, 0)$ with the one $\theta$ for which they sum to one. Raises ``ValueError``
    where every score is -inf or there is no key. Source: Martins and Astudillo (2016), eqs. 2, 3.
    """
    check_not_empty("score", score, axis=-1)
    check_scores(score=score)
    check_visible(score > -math.inf, tuple(score.shape))
    # Lower scores get weight 0 anyway, and would only cost the sums digits.
    score = (score - score.amax(dim=-1, keepdim=True)).clamp(min=-1)
    falling = score.sort(dim=-1, descending=True).values
    surplus = falling.cumsum(dim=-1) - 1
    count = torch.arange(1, score.shape[-1] + 1, dtype=score.dtype, device=score.device)
    kept = (count * falling > surplus).sum(dim=-1, keepdim=True)
    threshold = surplus.gather(-1, kept - 1) / kept
    return (score - threshold).clamp(min=0)


@checked
def hat_keys(
    nodes: Float[Tensor, "nodes"],
) -> tuple[Float[Tensor, "nodes"], Float[Tensor, "nodes"]]:
    r"""Keys $k_i$ and biases $b_i$ whose attention weights are the hats, for any nodes.

    $\phi_i(x) = \mathrm{sparsemax}_i(k_i x + b_i)$ with $k_{i+1} - k_i = 2/(x_{i+1} - x_i)$ and
    $b_{i+1} - b_i = -(x_{i+1} + x_i)/(x_{i+1} - x_i)$, both from 0. Neighbours' scores then differ
    by $\phi_{i+1} - \phi_i$, as the weights of two under sparsemax do, and any third is too low to
    get a weight. Raises ``ValueError`` for nodes that do not increase.
    """
    check_nodes(nodes)
    width = nodes.diff()
    steps = torch.stack([2 / width, -(nodes[1:] + nodes[:-1]) / width])
    key, bias = torch.cat([steps.new_zeros(2, 1), steps.cumsum(dim=-1)], dim=-1)
    return key, bias


# The blend ------------------------------------------------------------------------------------


@checked
def interpolate(
    x: Float[Tensor, "points"],
    nodes: Float[Tensor, "nodes"],
    values: Float[Tensor, "nodes"] | Float[Tensor, "nodes d"],
    basis: Callable[[Tensor, Tensor], Float[Tensor, "points nodes"]] = hat,
) -> Float[Tensor, "points"] | Float[Tensor, "points d"]:
    r"""Blend the nodal values by the weights of a basis: $u(x) = \sum_i \alpha_i(x)\, y_i$.

    This is ``basis(x, nodes) @ values``, the second half of
    :func:`course_lib.attention.attention`. A basis with a temperature comes as
    ``partial(softmax_basis, temperature=0.01)``. With hats it passes through all values; a blend
    that is smoother does not.
    """
    return basis(x, nodes) @ values


# The network that is piecewise linear ---------------------------------------------------------


def relu_network(*widths: int) -> nn.Sequential:
    """A random network from numbers to numbers with ReLU layers of these widths, in float64."""
    layers: list[nn.Module] = []
    for before, after in pairwise((1, *widths)):
        layers += [nn.Linear(before, after), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(widths[-1], 1)).double()


@checked
def relu_nodes(network: nn.Sequential, low: float, high: float) -> Float[Tensor, "nodes"]:
    r"""Where a ReLU network from numbers to numbers can bend on [``low``, ``high``], ends included.

    Between these ``(nodes,)`` the network is linear, so that it equals
    ``interpolate(x, nodes, network(nodes[:, None]), hat)``. A unit of the first layer bends at
    $x = -b_j/w_j$. Each unit of a deeper layer is piecewise linear before its ReLU, and bends where
    it crosses zero between two nodes found so far. ``network`` is an ``nn.Sequential`` of
    ``nn.Linear`` and ``nn.ReLU`` with one number as its input; in float64 (``network.double()``)
    nodes are exact to 15 digits. Raises ``TypeError`` for other layers and ``ValueError`` unless
    ``low < high``. Source: He, Li, Xu and Zheng (2020).
    """
    if not low < high:
        raise ValueError(
            f"low is {low} and high is {high}; expected low < high; swap them or move one"
        )
    nodes = _check_network(network).new_tensor([low, high])
    with torch.no_grad():
        signal = nodes[:, None]
        for layer in network:
            if isinstance(layer, nn.ReLU):
                coarse, nodes = nodes, torch.cat([nodes, _crossings(nodes, signal)]).unique()
                signal = interpolate(nodes, coarse, signal)
            signal = layer(signal)
    return nodes


def _crossings(nodes: Float[Tensor, "nodes"], signal: Float[Tensor, "nodes d"]) -> Tensor:
    """Where any of the piecewise linear functions passes from one sign to the other."""
    before, after = signal[:-1], signal[1:]
    interval, unit = (before.sign() * after.sign() < 0).nonzero(as_tuple=True)
    before, after = before[interval, unit], after[interval, unit]
    left, right = nodes[interval], nodes[interval + 1]
    return torch.lerp(left, right, before / (before - after))


# Dropout --------------------------------------------------------------------------------------


@checked
def dropout(
    x: Float[Tensor, "*shape"], p: UnitInterval, *, generator: torch.Generator
) -> Float[Tensor, "*shape"]:
    r"""Drop each number with probability $p$, scale up the others: $x\,\varepsilon/(1 - p)$.

    $\varepsilon \in \{0, 1\}$ is independent for each number, and 1 with probability $1 - p$. The
    mean of the result is $x$, so that nothing has to be changed when dropout is switched off, and
    its variance is $x^2\,p/(1 - p)$. Raises ``ValueError`` for $p$ outside $[0, 1)$.
    Source: Srivastava et al. (2014), section 10, where $p$ is the share that stays.
    """
    if p == 1:
        raise ValueError(
            f"p is {p}; expected a probability in [0, 1), since where all is dropped nothing is "
            "left to keep the mean; choose another value"
        )
    kept = torch.rand(x.shape, dtype=x.dtype, device=x.device, generator=generator) >= p
    return torch.where(kept, x / (1 - p), 0)


# What the functions above share ---------------------------------------------------------------


def check_nodes(nodes: Float[Tensor, "nodes"], *, minimum: int = 2) -> None:
    """Raise ``ValueError`` unless nodes are finite, ``minimum`` at least, and increase."""
    check_finite(nodes=nodes)
    check_size("the number of nodes", len(nodes), minimum=minimum)
    stuck = (nodes.diff() <= 0).nonzero()
    if len(stuck):
        i = int(stuck[0])
        left, right = nodes[i].item(), nodes[i + 1].item()
        fault = "repeated" if left == right else "out of order"
        raise ValueError(
            f"nodes are {fault}: node {i + 1} is {right:g}, after {left:g}; expected increasing "
            "numbers; pass nodes.unique(), with the values in the same order"
        )


def _closeness(x: Tensor, nodes: Tensor, temperature: float) -> Tensor:
    r"""$(|x - x_n|^2 - |x - x_i|^2)/\tau$, with $x_n$ the nearest node of each point $x$."""
    check_finite(x=x, nodes=nodes)
    check_size("the number of nodes", len(nodes))
    if temperature < (least := torch.finfo(x.dtype).tiny):
        raise ValueError(
            f"temperature is {temperature}; expected {least} at least, the smallest number of "
            f"{x.dtype} with all its digits; choose a higher one"
        )
    nearest = nodes[(x[:, None] - nodes).abs().argmin(dim=-1), None]
    # a² − b² as (a − b)(a + b): the nearest node gets 0, however far away, at any temperature.
    return (nodes - nearest) * (2 * x[:, None] - nodes - nearest) / temperature


def _check_network(network: nn.Sequential) -> Tensor:
    """Raise unless a network is made as :func:`relu_nodes` needs it; return its first weight."""
    expected = "expected an nn.Sequential of nn.Linear and nn.ReLU that begins with nn.Linear(1, …)"
    other = [layer for layer in network if not isinstance(layer, nn.Linear | nn.ReLU)]
    if other:
        raise TypeError(
            f"network has a layer {type(other[0]).__name__}; {expected}; "
            "replace it, since it would not be piecewise linear"
        )
    first = network[0] if len(network) else None
    if not isinstance(first, nn.Linear) or first.in_features != 1:
        raise ValueError(f"network begins with {first}; {expected}; change its first layer")
    return first.weight
