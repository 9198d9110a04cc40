r"""Message passing: aggregated messages, softmax over incoming edges, sums over neighbours.

These are the formulas that the layers of :mod:`course_lib.graph` are made of. A message goes from
the source of its edge to the target. Nothing here makes a matrix of nodes by nodes;
:func:`neighbour_sum` does not even make the messages.
"""

import math
from typing import Any, Literal

import torch
from einops import einsum
from jaxtyping import Float, Int64
from torch import Tensor
from torch.nn import functional as F

from course_lib.graph.structure import check_node_numbers
from course_lib.support.checks import check_scores
from course_lib.support.contracts import Count, checked

Aggregate = Literal["sum", "mean", "max"]
PRODUCT = "edges heads d, edges heads d -> edges heads"
AT_ONCE = 2**14  # edges, few enough for their messages to stay in a processor's cache


@checked
def aggregate(
    message: Float[Tensor, "edges *features"],
    target: Int64[Tensor, "edges"],
    nodes: Count,
    how: Aggregate = "sum",
) -> Float[Tensor, "nodes *features"]:
    r"""Aggregate the messages at each node: $\bigoplus_{e:\,\mathrm{target}(e) = u} m_e$.

    ``how`` is ``"sum"``, ``"mean"`` or ``"max"`` ($\oplus$), none of which depends on the order of
    the edges. A node that nothing reaches gets 0, also from mean and max, as in PyTorch Geometric.
    """
    check_node_numbers("target", target, nodes)
    shape = (nodes, *message.shape[1:])
    across = (-1, *[1] * (message.dim() - 1))
    if how == "max":
        # Not from zeros: they would get a share of the gradient of a maximum that is 0.
        lowest = message.new_full(shape, -math.inf)
        index = target.reshape(across).expand_as(message)
        largest = lowest.scatter_reduce(0, index, message, "amax")
        unreached = torch.bincount(target, minlength=nodes) == 0
        return largest.masked_fill(unreached.reshape(across), 0)
    wide = _wide(message)
    total = wide.new_zeros(shape).index_add(0, target, wide)
    if how == "mean":
        total = total / torch.bincount(target, minlength=nodes).clamp(min=1).reshape(across)
    return total.to(message.dtype)


@checked
def edge_softmax(
    score: Float[Tensor, "edges *heads"], target: Int64[Tensor, "edges"], nodes: Count
) -> Float[Tensor, "edges *heads"]:
    r"""The softmax over the edges that end at the same node: $e^{s_e} / \sum_{e'} e^{s_{e'}}$.

    The weights that reach a node sum to one, if any edge does. A score may be -inf, which hides its
    edge. Raises ``ValueError`` for nan and +inf, and where all edges of a node are hidden.
    Source: Veličković et al. (2018), eq. 2.
    """
    check_node_numbers("target", target, nodes)
    check_scores(score=score)
    # Softmax does not change with a shift; below their largest, no score overflows.
    wide = _wide(score)
    largest = aggregate(wide.detach(), target, nodes, "max")
    if (hidden := largest == -math.inf).any():
        raise ValueError(
            f"all edges that end at node {int(hidden.nonzero()[0, 0])} have score -inf; expected "
            "one visible edge at least; show one, or drop them all"
        )
    weight = (wide - largest.index_select(0, target)).exp()
    total = aggregate(weight, target, nodes)
    return (weight / total.index_select(0, target)).to(score.dtype)


@checked
def neighbour_sum(
    x: Float[Tensor, "nodes *heads d"],
    edges: Int64[Tensor, "2 edges"],
    *,
    weight: Float[Tensor, "edges *heads"] | None = None,
) -> Float[Tensor, "nodes *heads d"]:
    r"""Sum the features of a node's neighbours: $y_u = \sum_{e = (v, u)} w_e\, x_v$.

    ``weight`` $w$ is 1 for every edge if it is not given; with one more axis there is a weight for
    each head. The same as :func:`aggregate` of ``x[source]`` times ``weight``, but no message is
    made: memory grows with the nodes alone, beyond the weights.
    """
    check_node_numbers("edges", edges, len(x))
    heads = x.shape[1:-1]
    if weight is not None:
        # Under autocast a softmax stays in float32, though x need not.
        weight = weight.reshape(edges.shape[1], heads.numel()).to(x.dtype)
    # Without weights all heads are one wide head.
    split = (1, x.shape[1:].numel()) if weight is None else (heads.numel(), x.shape[-1])
    return _NeighbourSum.apply(x.reshape(-1, *split), weight, *edges).reshape(x.shape)


class _NeighbourSum(torch.autograd.Function):
    """The weighted sum over neighbours, and its gradient: the same sum along reversed edges."""

    generate_vmap_rule = True

    @staticmethod
    def forward(
        x: Float[Tensor, "nodes heads d"],
        weight: Float[Tensor, "edges heads"] | None,
        source: Int64[Tensor, "edges"],
        target: Int64[Tensor, "edges"],
    ) -> Float[Tensor, "nodes heads d"]:
        """Sum the neighbours of a node as a bag of rows of ``x``, by ``embedding_bag``."""
        order = target.argsort()
        bags, count = source.index_select(0, order), torch.bincount(target, minlength=len(x))
        begins = count.cumsum(0) - count
        # A head is summed several times faster where its rows are contiguous.
        rows = x.transpose(0, 1).contiguous()
        weights = [None] * len(rows)
        if weight is not None:
            weights = weight.index_select(0, order).T.contiguous()
        heads = [
            F.embedding_bag(bags, of_head, begins, mode="sum", per_sample_weights=weight_of_head)
            for of_head, weight_of_head in zip(rows, weights, strict=True)
        ]
        return torch.stack(heads, dim=1)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple, output: Tensor) -> None:  # noqa: ARG004
        """Keep the inputs: the sum is linear in each of two."""
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        """For ``x``, sum along reversed edges; for a weight, multiply with its message."""
        x, weight, source, target = ctx.saved_tensors
        by_x = by_weight = None
        if ctx.needs_input_grad[0]:
            by_x = _NeighbourSum.apply(grad, weight, target, source)
        if ctx.needs_input_grad[1]:
            by_weight = _edge_products(grad, x, source, target)
        return by_x, by_weight, None, None


def _edge_products(
    at_target: Float[Tensor, "nodes heads d"],
    at_source: Float[Tensor, "nodes heads d"],
    source: Int64[Tensor, "edges"],
    target: Int64[Tensor, "edges"],
) -> Float[Tensor, "edges heads"]:
    """The inner product of the features at the two ends of each edge, head by head."""
    some_edges = zip(source.split(AT_ONCE), target.split(AT_ONCE), strict=True)
    products = [
        einsum(at_target.index_select(0, ends), at_source.index_select(0, begins), PRODUCT)
        for begins, ends in some_edges
    ]
    return torch.cat(products)


def _wide(x: Tensor) -> Tensor:
    """In float32 at least: in half precision 2048 + 1 is 2048, and 70,000 is infinite."""
    return x.to(torch.promote_types(x.dtype, torch.float32))
