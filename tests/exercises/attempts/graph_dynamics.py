"""Attempts at the exercises of lecture 9, right and wrong."""

import torch
from torch import Tensor

from course_lib import graph_dynamics as library


def by_matrix(f: Tensor, edges: Tensor) -> Tensor:
    one = torch.eye(len(f))
    return (one[edges[1]] - one[edges[0]]) @ f


def edge_by_edge(f: Tensor, edges: Tensor) -> Tensor:
    return torch.stack([f[j] - f[i] for i, j in edges.T])


def transposed(g: Tensor, edges: Tensor, nodes: int, node_weights: Tensor, edge_weights: Tensor):
    D = by_matrix(torch.eye(nodes), edges)
    return torch.diag(1 / node_weights) @ D.T @ torch.diag(edge_weights) @ g


def one_by_one(g: Tensor, edges: Tensor, nodes: int, node_weights: Tensor, edge_weights: Tensor):
    answer = torch.zeros(nodes, g.shape[1])
    for e, (i, j) in enumerate(edges.T.tolist()):
        answer[j] += edge_weights[e] / node_weights[j] * g[e]
        answer[i] -= edge_weights[e] / node_weights[i] * g[e]
    return answer


RIGHT = {
    "graph_gradient": [library.gradient, by_matrix, edge_by_edge],
    "graph_divergence": [
        lambda g, edges, nodes, m, w: library.divergence(
            g, edges, nodes, node_weights=m, edge_weights=w
        ),
        transposed,
        one_by_one,
    ],
    "double_bracket": [
        lambda slope, J: J @ slope + J @ (J @ slope),
        lambda slope, J: J @ slope - J.T @ J @ slope,
    ],
}


def written_not_added(g: Tensor, edges: Tensor, nodes: int, m: Tensor, w: Tensor) -> Tensor:
    answer = torch.zeros(nodes, g.shape[1])
    answer[edges[1]] += w[:, None] * g
    answer[edges[0]] -= w[:, None] * g
    return answer / m[:, None]


WRONG = {
    "graph_gradient": ["answer without sign", lambda f, edges: f[edges[1]]],
    "graph_divergence": [written_not_added, "node_weights one", "edge_weights one"],
    "double_bracket": [
        lambda slope, J: J @ slope,
        lambda slope, J: (
            J @ slope - slope * (J @ slope).square().sum() / slope.square().sum().clamp(min=1)
        ),
        "J transposed",
    ],
}
