"""Graph layers against PyTorch Geometric with the same parameters, plain loops and NetworkX."""

import dataclasses
import math
import runpy
from collections.abc import Callable
from pathlib import Path

import networkx as nx
import pytest
import torch
import torch_geometric.nn as pyg
from hypothesis import given, settings
from hypothesis import strategies as st
from seeded_tensors import assert_close, randn, randomized
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from course_lib.graph import (
    GATConv,
    GATv2Conv,
    GCNConv,
    Graph,
    GraphConv,
    MessagePassing,
    aggregate,
    edge_softmax,
    max_pool,
    mean_pool,
    neighbour_sum,
    sum_pool,
    weisfeiler_lehman,
)

D_IN, D_OUT, HEADS, D_EDGE = 5, 6, 2, 3


def integers(*rows: list[int]) -> Tensor:
    return torch.tensor(rows, dtype=torch.int64)


def made(nodes: int, edges: Tensor, *, seed: int = 0) -> Graph:
    x, features = randn(nodes, D_IN, seed=seed), randn(edges.shape[1], D_EDGE, seed=seed + 1)
    return Graph(x, edges, edge_features=features)


def drawn(nodes: int, edges: int, *, seed: int = 0) -> Graph:
    generator = torch.Generator().manual_seed(seed)
    return made(nodes, torch.randint(nodes, (2, edges), generator=generator), seed=seed)


NO_EDGES = torch.zeros(2, 0, dtype=torch.int64)
# Small graphs, each with something that a layer may get wrong.
GRAPHS = {
    "directed": made(4, integers([0, 1, 2, 0], [1, 2, 3, 2])),
    "isolated node": made(4, integers([0, 1], [1, 0])),
    "loops": made(3, integers([0, 1, 1, 2], [0, 0, 1, 1])),
    "multi-edges": made(3, integers([0, 0, 0, 1], [1, 1, 2, 0])),
    "a loop twice": made(2, integers([0, 0, 0, 1], [0, 0, 1, 0])),
    "no edges": made(3, NO_EDGES),
    "one node": made(1, NO_EDGES),
    "one node and its loop": made(1, integers([0], [0])),
    "batch": Graph.batched([drawn(4, 6, seed=2), made(1, NO_EDGES), drawn(3, 7, seed=3)]),
    "many": drawn(30, 200),
}


# Against PyTorch Geometric --------------------------------------------------------------------


def both_attentions(version: int, d_edge: int | None) -> tuple[Callable, Callable]:
    ours, theirs = [(GATConv, pyg.GATConv), (GATv2Conv, pyg.GATv2Conv)][version - 1]
    return (
        lambda: ours(D_IN, D_OUT, HEADS, d_edge=d_edge),
        lambda: theirs(D_IN, D_OUT // HEADS, HEADS, edge_dim=d_edge),
    )


LAYERS = {
    "convolution": (lambda: GraphConv(D_IN, D_OUT), lambda: pyg.GraphConv(D_IN, D_OUT)),
    "normalized": (lambda: GCNConv(D_IN, D_OUT), lambda: pyg.GCNConv(D_IN, D_OUT)),
    "attention 1": both_attentions(1, None),
    "attention 1, edges": both_attentions(1, D_EDGE),
    "attention 2": both_attentions(2, None),
    "attention 2, edges": both_attentions(2, D_EDGE),
}
# Our parameters, and the equivalent ones of PyTorch Geometric.
NAMES = {
    "convolution": "own.weight=lin_root.weight own.bias=lin_rel.bias "
    "neighbours.weight=lin_rel.weight",
    "normalized": "linear.weight=lin.weight linear.bias=bias",
    "attention 1": "source.weight=lin.weight score.source=att_src score.target=att_dst bias=bias",
    "attention 2": "source.weight=lin_l.weight source.bias=lin_l.bias target.weight=lin_r.weight "
    "target.bias=lin_r.bias score.pair=att bias=bias",
}
NAMES["attention 1, edges"] = (
    NAMES["attention 1"] + " edge.weight=lin_edge.weight score.edge=att_edge"
)
NAMES["attention 2, edges"] = NAMES["attention 2"] + " edge.weight=lin_edge.weight"
layers = pytest.mark.parametrize("name", LAYERS)


def layer_and_reference(name: str) -> tuple[nn.Module, nn.Module, list[tuple[str, str]]]:
    make, refer = LAYERS[name]
    layer, reference = randomized(make()), refer().double()
    names = dict(pair.split("=") for pair in NAMES[name].split())
    assert set(names) == set(dict(layer.named_parameters()))
    assert set(names.values()) == set(dict(reference.named_parameters()))
    with torch.no_grad():
        for ours, theirs in names.items():
            target = reference.get_parameter(theirs)
            target.copy_(layer.get_parameter(ours).reshape(target.shape))
    return layer, reference, list(names.items())


def theirs(name: str, reference: nn.Module, graph: Graph) -> Tensor:
    features = (graph.edge_features,) if name.endswith(", edges") else ()
    return reference(graph.x, graph.edges, *features)


@layers
def test_outputs_and_gradients_are_those_of_pytorch_geometric(name: str) -> None:
    for graph in GRAPHS.values():
        layer, reference, names = layer_and_reference(name)
        x = graph.x.clone().requires_grad_()
        features = graph.edge_features.clone().requires_grad_()
        followed = dataclasses.replace(graph, x=x, edge_features=features)
        output, expected = layer(followed), theirs(name, reference, followed)
        assert_close(output, expected, 1e-10)

        # A fixed random covector: a plain sum would hide errors that cancel.
        covector = randn(*output.shape, seed=9)
        ours = [layer.get_parameter(mine) for mine, _ in names]
        others = [reference.get_parameter(other) for _, other in names]
        inputs = [x, features] if name.endswith(", edges") else [x]
        found = torch.autograd.grad(output, [*inputs, *ours], covector)
        wanted = torch.autograd.grad(expected, [*inputs, *others], covector)
        for mine, other in zip(found, wanted, strict=True):
            assert_close(mine, other.reshape(mine.shape), 1e-10)


def test_attention_weights_are_those_of_pytorch_geometric() -> None:
    for version in [1, 2]:
        for graph in GRAPHS.values():
            layer, reference, _ = layer_and_reference(f"attention {version}, edges")
            edges, weights = layer.weights(graph)
            _, (their_edges, expected) = reference(
                graph.x, graph.edges, graph.edge_features, return_attention_weights=True
            )
            assert torch.equal(edges, their_edges)
            assert_close(weights, expected)
            assert_close(
                aggregate(weights, edges[1], graph.nodes), torch.ones_like(graph.x[:, :HEADS])
            )


def test_pools_are_those_of_pytorch_geometric() -> None:
    for how in ["sum", "mean", "max"]:
        for graph in GRAPHS.values():
            ours = {"sum": sum_pool, "mean": mean_pool, "max": max_pool}[how]
            expected = {
                "sum": "global_add_pool",
                "mean": "global_mean_pool",
                "max": "global_max_pool",
            }
            assert_close(ours(graph), getattr(pyg, expected[how])(graph.x, graph.batch))


# Against plain loops --------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["sum", "mean", "max"])
def test_message_passing_follows_its_formula(how: str) -> None:
    d = 2 * D_IN + D_EDGE
    message = randomized(nn.Linear(d, 4))
    update = randomized(nn.Linear(D_IN + 4, D_OUT))
    layer = MessagePassing(
        lambda to, sent_from, edge: message(torch.cat([to, sent_from, edge], dim=1)).tanh(),
        lambda x, arrived: update(torch.cat([x, arrived], dim=1)),
        how,
    )
    for graph in GRAPHS.values():
        rows = []
        for u in range(graph.nodes):
            messages = [
                message(torch.cat([graph.x[u], graph.x[source], graph.edge_features[e]])).tanh()
                for e, (source, target) in enumerate(graph.edges.T.tolist())
                if target == u
            ]
            arrived = graph.x.new_zeros(4)
            if messages:
                stacked = torch.stack(messages)
                arrived = {
                    "sum": stacked.sum(dim=0),
                    "mean": stacked.mean(dim=0),
                    "max": stacked.max(dim=0).values,
                }[how]
            rows.append(update(torch.cat([graph.x[u], arrived])))
        assert_close(layer(graph), torch.stack(rows))


# Aggregation -------------------------------------------------------------------------------------


def test_a_maximum_of_zero_gets_its_whole_gradient() -> None:
    message = torch.tensor([[0.0], [-1.0], [-2.0]], requires_grad=True)
    aggregate(message, torch.tensor([0, 0, 1]), 3, "max").sum().backward()
    assert message.grad.tolist() == [[1.0], [0.0], [1.0]]


@pytest.mark.parametrize("name", ["multi-edges", "loops", "no edges"])
def test_a_sum_over_neighbours_adds_up_messages_and_has_right_gradients(name: str) -> None:
    graph = GRAPHS[name]
    x = randn(graph.nodes, 2, 3).requires_grad_()
    weight = randn(graph.edges.shape[1], 2, seed=1).requires_grad_()

    def blended(x: Tensor, weight: Tensor) -> Tensor:
        return neighbour_sum(x, graph.edges, weight=weight)

    messages = x[graph.source] * weight[..., None]
    assert_close(blended(x, weight), aggregate(messages, graph.target, graph.nodes))
    assert torch.autograd.gradcheck(blended, (x, weight))
    assert torch.autograd.gradgradcheck(blended, (x, weight))
    assert torch.autograd.gradcheck(lambda x: neighbour_sum(x, graph.edges), (x,))


def test_an_edge_softmax_is_a_softmax_over_each_nodes_edges() -> None:
    for graph in GRAPHS.values():
        score = 5 * randn(graph.edges.shape[1], HEADS)
        weight = edge_softmax(score, graph.target, graph.nodes)
        for u in range(graph.nodes):
            mine = graph.target == u
            assert_close(weight[mine], score[mine].softmax(dim=0))


def test_an_edge_softmax_survives_large_scores_and_hides_edges() -> None:
    score = torch.tensor([1000.0, 1001.0, -1000.0, 5.0, -math.inf])
    weight = edge_softmax(score, torch.tensor([0, 0, 1, 2, 2]), 4)
    assert_close(weight, torch.tensor([0.2689414, 0.7310586, 1.0, 1.0, 0.0]), 1e-6)


# Graphs ---------------------------------------------------------------------------------------


def test_a_node_of_70000_neighbours_is_right_in_half_precision() -> None:
    many = 70_000
    edges = torch.stack([torch.arange(1, many + 1), torch.zeros(many, dtype=torch.int64)])
    star = Graph(torch.ones(many + 1, 2), edges)
    half = star.to(dtype=torch.float16)
    torch.manual_seed(0)
    for layer in (GCNConv(2, 4), GATConv(2, 4, 2), mean_pool):
        wanted = layer(star)
        found = (layer.half() if isinstance(layer, nn.Module) else layer)(half)
        torch.testing.assert_close(found.float(), wanted, rtol=5e-3, atol=5e-3)


def test_degrees_are_row_sums_of_the_adjacency_matrix() -> None:
    for graph in GRAPHS.values():
        assert torch.equal(graph.degree(), graph.adjacency().sum(dim=1).long())
        assert graph.degree().dtype == torch.int64


def test_an_undirected_graph_has_every_pair_both_ways_and_a_loop_once() -> None:
    features = torch.tensor([[0.0], [1.0], [2.0]])
    graph = Graph.undirected(
        torch.zeros(3, 1), integers([0, 1, 2], [1, 1, 0]), edge_features=features
    )
    assert graph.edges.tolist() == [[0, 1, 2, 1, 0], [1, 1, 0, 0, 2]]
    assert graph.edge_features.flatten().tolist() == [0, 1, 2, 0, 2]
    assert torch.equal(graph.adjacency(), graph.adjacency().T)


def test_a_batch_lays_graphs_side_by_side() -> None:
    one, two = GRAPHS["directed"], GRAPHS["loops"]
    batch = Graph.batched([one, two])
    assert batch.batch.tolist() == [0, 0, 0, 0, 1, 1, 1]
    assert batch.graphs == 2
    assert_close(batch.adjacency(), torch.block_diag(one.adjacency(), two.adjacency()))
    assert_close(batch.edge_features, torch.cat([one.edge_features, two.edge_features]))


def test_graphs_without_nodes_keep_their_place_in_a_batch() -> None:
    nothing = Graph(torch.zeros(0, 2), NO_EDGES)
    one = Graph(torch.ones(1, 2), NO_EDGES)
    batch = Graph.batched([nothing, one, nothing])
    assert batch.graphs == 3
    assert sum_pool(batch).tolist() == [[0, 0], [1, 1], [0, 0]]
    again = batch.with_features(randn(1, 4)).permuted(torch.tensor([0])).to(dtype=torch.float32)
    assert again.graphs == 3


def test_a_graph_without_nodes_passes_a_layer() -> None:
    for name in LAYERS:
        nothing = made(0, NO_EDGES)
        assert randomized(LAYERS[name][0]())(nothing).shape == (0, D_OUT)


def test_a_change_of_dtype_applies_to_all_features() -> None:
    graph = GRAPHS["batch"].to("cpu", dtype=torch.float32)
    parts = graph.x, graph.edge_features, graph.edges, graph.batch
    assert [part.dtype for part in parts] == [torch.float32] * 2 + [torch.int64] * 2


# Symmetry -------------------------------------------------------------------------------------


@st.composite
def situations(draw: st.DrawFn) -> tuple[int, list[tuple[int, int]], int]:
    nodes = draw(st.integers(1, 6))
    node = st.integers(0, nodes - 1)
    return nodes, draw(st.lists(st.tuples(node, node), max_size=12)), draw(st.integers(0, 5))


def built(situation: tuple[int, list[tuple[int, int]], int]) -> Graph:
    nodes, edges, seed = situation
    return made(nodes, integers(*zip(*edges, strict=True)) if edges else NO_EDGES, seed=seed)


EVERY_LAYER = {name: make for name, (make, _) in LAYERS.items()} | {
    f"message passing, {how}": lambda how=how: MessagePassing(
        lambda to, sent_from, edge: torch.cat([to * sent_from, edge], dim=1).tanh(),
        lambda x, arrived: torch.cat([x, arrived], dim=1),
        how,
    )
    for how in ("sum", "mean", "max")
}


@settings(max_examples=20)
@given(situation=situations(), data=st.data())
def test_a_layer_is_permutation_equivariant(situation: tuple, data: st.DataObject) -> None:
    for name in EVERY_LAYER:
        graph = built(situation)
        order = torch.tensor(data.draw(st.permutations(range(graph.nodes))))
        layer = randomized(EVERY_LAYER[name]())
        assert_close(layer(graph.permuted(order)), layer(graph)[order])


@settings(max_examples=20)
@given(several=st.lists(situations(), min_size=1, max_size=3))
def test_a_batch_gives_what_each_graph_gives_alone(several: list[tuple]) -> None:
    for name in EVERY_LAYER:
        layer = randomized(EVERY_LAYER[name]())
        alone = [built(situation) for situation in several]
        together = Graph.batched(alone)
        assert_close(layer(together), torch.cat([layer(graph) for graph in alone]))
        for pool in (sum_pool, mean_pool, max_pool):
            assert_close(pool(together), torch.cat([pool(graph) for graph in alone]))


# The colours of Weisfeiler and Lehman ---------------------------------------------------------


def partition(names: list) -> list[int]:
    """For each node, the first one of its colour."""
    return [names.index(name) for name in names]


@given(situation=situations(), kinds=st.integers(1, 3), data=st.data())
def test_colours_partition_nodes_as_in_networkx(
    situation: tuple, kinds: int, data: st.DataObject
) -> None:
    graph = built(situation)
    simple = {(min(edge), max(edge)) for edge in graph.edges.T.tolist() if edge[0] != edge[1]}
    pairs = integers(*zip(*sorted(simple), strict=True)) if simple else NO_EDGES
    kind = st.integers(0, kinds - 1)
    atoms = data.draw(st.lists(kind, min_size=graph.nodes, max_size=graph.nodes))
    bonds = data.draw(st.lists(kind, min_size=len(simple), max_size=len(simple)))
    ours = Graph.undirected(
        torch.tensor(atoms).double()[:, None],
        pairs,
        edge_features=torch.tensor(bonds).double().reshape(-1, 1),
    )
    other = nx.Graph()
    other.add_nodes_from((u, {"atom": str(atom)}) for u, atom in enumerate(atoms))
    other.add_edges_from(
        (u, v, {"bond": str(bond)}) for (u, v), bond in zip(pairs.T.tolist(), bonds, strict=True)
    )
    hashes = nx.weisfeiler_lehman_subgraph_hashes(
        other, edge_attr="bond", node_attr="atom", iterations=3
    )
    colours = weisfeiler_lehman(ours, 3)
    for t in range(3):
        expected = [hashes[u][t] for u in range(graph.nodes)]
        assert partition(colours[t + 1].tolist()) == partition(expected)


def test_a_round_of_colours_follows_directed_edges() -> None:
    for name in ["directed", "multi-edges", "loops", "many"]:
        graph = GRAPHS[name].with_features(torch.ones(GRAPHS[name].nodes, 1, dtype=torch.float64))
        graph = dataclasses.replace(graph, edge_features=None)
        names = [[0] * graph.nodes]
        for _ in range(3):
            around = [
                (own, sorted(names[-1][s] for s, t in graph.edges.T.tolist() if t == u))
                for u, own in enumerate(names[-1])
            ]
            names.append(partition(around))
        colours = weisfeiler_lehman(graph, 3)
        assert [partition(row) for row in colours.tolist()] == names


# Time and memory grow with edges --------------------------------------------------------------


class LargestTensor(TorchDispatchMode):
    """Records the largest tensor that any operation returns, also in a backward pass."""

    largest = 0

    def __torch_dispatch__(
        self, function: Callable, types: object, args: tuple = (), kwargs: dict | None = None
    ) -> object:
        returned = function(*args, **(kwargs or {}))
        for part in returned if isinstance(returned, (tuple, list)) else [returned]:
            if isinstance(part, Tensor):
                self.largest = max(self.largest, part.untyped_storage().nbytes())
        return returned


NODES, EDGES = 2_000, 10_000


def test_no_layer_makes_a_tensor_larger_than_edges_times_features() -> None:
    for name in EVERY_LAYER:
        graph = drawn(NODES, EDGES).to(dtype=torch.float32)
        layer = EVERY_LAYER[name]()
        x = graph.x.requires_grad_()
        with LargestTensor() as watched:
            layer(dataclasses.replace(graph, x=x)).square().sum().backward()
        assert x.grad.isfinite().all()
        widest = max(D_OUT, D_IN + D_EDGE)
        assert watched.largest <= max(4 * widest, 2 * 8) * (EDGES + NODES)


def test_the_benchmark_compares_two_layers_that_agree() -> None:
    program = Path(__file__).parents[2] / "benchmarks" / "graph.py"
    benchmark = runpy.run_path(str(program))
    graph = Graph(randn(20, 8).float(), drawn(20, 50).edges)
    for name, pair in benchmark["pairs"](8, 2).items():
        row = {"layer": name, **benchmark["measure"](*pair, graph, graph.edges, rounds=2)}
        assert row["forward"]["ratio"] > 0
        assert row["training"]["ours_seconds"] > 0
        assert name in benchmark["table"]([row]).splitlines()[-1]


def test_a_complete_graph_joins_every_node_to_every_other() -> None:
    for nodes in [0, 1, 2, 5]:
        graph = Graph.complete(randn(nodes, 2))
        assert torch.equal(graph.adjacency(), 1 - torch.eye(nodes, dtype=torch.float64))
