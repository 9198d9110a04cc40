import torch
from torch import Tensor
from torch.nn.functional import leaky_relu

from course_lib.graph import Graph


def by_adjacency(x: Tensor, edges: Tensor, own: Tensor, neighbours: Tensor) -> Tensor:
    return x @ own + Graph(x, edges).adjacency() @ x @ neighbours


def concatenated(
    x: Tensor, edges: Tensor, weight: Tensor, a_target: Tensor, a_source: Tensor
) -> Tensor:
    said = x @ weight
    pair = torch.cat([said[edges[1]], said[edges[0]]], dim=1)
    return leaky_relu(pair @ torch.cat([a_target, a_source]), 0.2)


RIGHT = {
    "graph_convolution": [by_adjacency],
    "gat_scores": [concatenated],
}


def both_ways(x: Tensor, edges: Tensor, own: Tensor, neighbours: Tensor) -> Tensor:
    adjacency = Graph(x, edges).adjacency()
    return x @ own + (adjacency + adjacency.T) @ x @ neighbours


WRONG = {
    "graph_convolution": ["own nothing", both_ways, "neighbours doubled"],
    "gat_scores": [
        lambda *given: concatenated(*given) - concatenated(*given).mean(),
        "x reversed",
        "a_source one more",
        "weight doubled",
    ],
}
