"""Graphs and networks on them, lecture 8: structure, messages, layers and pools."""

from course_lib.graph.layers import (
    GATConv,
    GATv2Conv,
    GCNConv,
    GraphConv,
    MessagePassing,
    max_pool,
    mean_pool,
    sum_pool,
    weisfeiler_lehman,
)
from course_lib.graph.messages import aggregate, edge_softmax, neighbour_sum
from course_lib.graph.structure import Graph

__all__ = [
    "GATConv",
    "GATv2Conv",
    "GCNConv",
    "Graph",
    "GraphConv",
    "MessagePassing",
    "aggregate",
    "edge_softmax",
    "max_pool",
    "mean_pool",
    "neighbour_sum",
    "sum_pool",
    "weisfeiler_lehman",
]
