"""Attempts at the exercises of lecture 9, right and wrong."""

import torch
from torch import Tensor

from course_lib import graph_dynamics as library


def by_matrix(f: Tensor, edges: Tensor) -> Tensor:
    one = torch.eye(len(f))
    return (one[edges[1]] - one[edges[0]]) @ f


def transposed(g: Tensor, edges: Tensor, nodes: int, node_weights: Tensor, edge_weights: Tensor):
    D = by_matrix(torch.eye(nodes), edges)
    return torch.diag(1 / node_weights) @ D.T @ torch.diag(edge_weights) @ g


RIGHT = {
    "graph_gradient": [library.gradient, by_matrix],
    "graph_divergence": [
        lambda g, edges, nodes, m, w: library.divergence(
            g, edges, nodes, node_weights=m, edge_weights=w
        ),
        transposed,
    ],
    "double_bracket": [
        lambda slope, J: J @ slope + J @ (J @ slope),
        lambda slope, J: J @ slope - J.T @ J @ slope,
    ],
}


WRONG = {
    "graph_gradient": ["answer without sign"],
    "graph_divergence": ["node_weights one"],
    "double_bracket": [
        lambda slope, J: J @ slope,
        lambda slope, J: (
            J @ slope - slope * (J @ slope).square().sum() / slope.square().sum().clamp(min=1)
        ),
        "J transposed",
    ],
}
