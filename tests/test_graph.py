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
from seeded import assert_close, jacobian, randn, randomized
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from course_lib.graph import (
    Graph,
    GraphAttention,
    GraphConv,
    MessagePassing,
    NormalizedGraphConv,
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
# Small enough to read, and each with something that a layer may get wrong.
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
graphs = pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)


# Against PyTorch Geometric --------------------------------------------------------------------


def attention(version: int, d_edge: int | None) -> Callable[[], GraphAttention]:
    return lambda: GraphAttention(D_IN, D_OUT, HEADS, version=version, d_edge=d_edge)


def reference_conv() -> tuple[nn.Module, dict[str, str]]:
    names = {
        "own.weight": "lin_root.weight",
        "own.bias": "lin_rel.bias",
        "neighbours.weight": "lin_rel.weight",
    }
    return pyg.GraphConv(D_IN, D_OUT), names


def reference_normalized() -> tuple[nn.Module, dict[str, str]]:
    return pyg.GCNConv(D_IN, D_OUT), {"linear.weight": "lin.weight", "linear.bias": "bias"}


def reference_attention(version: int, d_edge: int | None) -> tuple[nn.Module, dict[str, str]]:
    layer = pyg.GATConv if version == 1 else pyg.GATv2Conv
    first = {
        "source.weight": "lin.weight",
        "score.source": "att_src",
        "score.target": "att_dst",
    }
    second = {
        "source.weight": "lin_l.weight",
        "source.bias": "lin_l.bias",
        "target.weight": "lin_r.weight",
        "target.bias": "lin_r.bias",
        "score.pair": "att",
    }
    names = {"bias": "bias"} | (first if version == 1 else second)
    if d_edge is not None:
        names["edge.weight"] = "lin_edge.weight"
        if version == 1:
            names["score.edge"] = "att_edge"
    return layer(D_IN, D_OUT // HEADS, HEADS, edge_dim=d_edge), names


LAYERS = {
    "convolution": (lambda: GraphConv(D_IN, D_OUT), reference_conv),
    "normalized": (lambda: NormalizedGraphConv(D_IN, D_OUT), reference_normalized),
    **{
        f"attention {version}, {'edges' if d_edge else 'no edges'}": (
            attention(version, d_edge),
            lambda version=version, d_edge=d_edge: reference_attention(version, d_edge),
        )
        for version in (1, 2)
        for d_edge in (None, D_EDGE)
    },
}
layers = pytest.mark.parametrize("name", LAYERS)


def layer_and_reference(name: str) -> tuple[nn.Module, nn.Module, list[tuple[str, str]]]:
    make, refer = LAYERS[name]
    layer, (reference, names) = randomized(make()), refer()
    assert set(names) == set(dict(layer.named_parameters()))
    assert set(names.values()) == set(dict(reference.named_parameters()))
    reference = reference.double()
    with torch.no_grad():
        for ours, theirs in names.items():
            target = reference.get_parameter(theirs)
            target.copy_(layer.get_parameter(ours).reshape(target.shape))
    return layer, reference, list(names.items())


def theirs(name: str, reference: nn.Module, graph: Graph) -> Tensor:
    features = (graph.edge_features,) if name.endswith(", edges") else ()
    return reference(graph.x, graph.edges, *features)


@layers
@graphs
def test_outputs_and_gradients_are_those_of_pytorch_geometric(name: str, graph: Graph) -> None:
    layer, reference, names = layer_and_reference(name)
    x = graph.x.clone().requires_grad_()
    features = graph.edge_features.clone().requires_grad_()
    graph = dataclasses.replace(graph, x=x, edge_features=features)
    output, expected = layer(graph), theirs(name, reference, graph)
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


@layers
def test_outputs_in_float32_are_those_of_pytorch_geometric(name: str) -> None:
    layer, reference, _ = layer_and_reference(name)
    graph = GRAPHS["many"].to(dtype=torch.float32)
    output = layer.float()(graph)
    assert output.dtype == torch.float32
    assert_close(output, theirs(name, reference.float(), graph), 1e-4)


@pytest.mark.parametrize("version", [1, 2])
@graphs
def test_attention_weights_are_those_of_pytorch_geometric(version: int, graph: Graph) -> None:
    layer, reference, _ = layer_and_reference(f"attention {version}, edges")
    edges, weights = layer.weights(graph)
    _, (their_edges, expected) = reference(
        graph.x, graph.edges, graph.edge_features, return_attention_weights=True
    )
    assert torch.equal(edges, their_edges)
    assert_close(weights, expected)
    assert_close(aggregate(weights, edges[1], graph.nodes), torch.ones_like(graph.x[:, :HEADS]))


@pytest.mark.parametrize("how", ["sum", "mean", "max"])
@graphs
def test_pools_are_those_of_pytorch_geometric(how: str, graph: Graph) -> None:
    ours = {"sum": sum_pool, "mean": mean_pool, "max": max_pool}[how]
    expected = {"sum": "global_add_pool", "mean": "global_mean_pool", "max": "global_max_pool"}
    assert_close(ours(graph), getattr(pyg, expected[how])(graph.x, graph.batch))


# Against plain loops --------------------------------------------------------------------------


@graphs
def test_a_convolution_follows_its_formula(graph: Graph) -> None:
    layer = randomized(GraphConv(D_IN, D_OUT))
    own, neighbours = layer.own.weight, layer.neighbours.weight
    rows = []
    for u in range(graph.nodes):
        row = own @ graph.x[u] + layer.own.bias
        for source, target in graph.edges.T.tolist():
            if target == u:
                row = row + neighbours @ graph.x[source]
        rows.append(row)
    assert_close(layer(graph), torch.stack(rows))


@graphs
def test_a_normalized_convolution_follows_its_formula(graph: Graph) -> None:
    layer = randomized(NormalizedGraphConv(D_IN, D_OUT))
    adjacency = graph.adjacency().fill_diagonal_(1)
    root = adjacency.sum(dim=1).rsqrt().diag()
    expected = root @ adjacency @ root @ graph.x @ layer.linear.weight.T + layer.linear.bias
    assert_close(layer(graph), expected)


@graphs
@pytest.mark.parametrize("how", ["sum", "mean", "max"])
def test_message_passing_follows_its_formula(how: str, graph: Graph) -> None:
    d = 2 * D_IN + D_EDGE
    message = randomized(nn.Linear(d, 4))
    update = randomized(nn.Linear(D_IN + 4, D_OUT))
    layer = MessagePassing(
        lambda to, sent_from, edge: message(torch.cat([to, sent_from, edge], dim=1)).tanh(),
        lambda x, arrived: update(torch.cat([x, arrived], dim=1)),
        how,
    )
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


def test_message_passing_without_edge_features_passes_none() -> None:
    seen = []
    layer = MessagePassing(
        lambda to, sent_from, edge: seen.append(edge) or sent_from - to, lambda _, arrived: arrived
    )
    layer(Graph(randn(3, 2), integers([0], [1])))
    assert seen == [None]


def test_a_convolution_is_a_case_of_message_passing() -> None:
    layer, graph = randomized(GraphConv(D_IN, D_OUT)), GRAPHS["many"]
    general = MessagePassing(
        lambda _, sent_from, __: layer.neighbours(sent_from),
        lambda x, arrived: layer.own(x) + arrived,
    )
    assert_close(general(graph), layer(graph))


def test_parameters_of_message_and_update_are_those_of_the_layer() -> None:
    class Message(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(D_IN, 4)

        def forward(self, to: Tensor, sent_from: Tensor, edge: Tensor) -> Tensor:  # noqa: ARG002
            return self.linear(sent_from)

    layer = MessagePassing(Message(), lambda _, arrived: arrived, "mean").double()
    layer(GRAPHS["many"]).square().sum().backward()
    found = {name: parameter.grad is not None for name, parameter in layer.named_parameters()}
    assert found == {"message.linear.weight": True, "message.linear.bias": True}


@layers
def test_a_layer_runs_under_autocast(name: str) -> None:
    graph = GRAPHS["many"].to(dtype=torch.float32)
    layer = randomized(LAYERS[name][0]()).float()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        output = layer(graph)
    expected = layer(graph)
    assert (output - expected).norm() < 0.05 * expected.norm()


# Isolated nodes, as documented ----------------------------------------------------------------


@pytest.mark.parametrize("how", ["sum", "mean", "max"])
def test_what_nothing_reaches_is_zero(how: str) -> None:
    message = -1 - randn(3, 2).abs()
    arrived = aggregate(message, torch.tensor([2, 0, 2]), 4, how)
    assert (arrived[[1, 3]] == 0).all()
    assert (arrived[[0, 2]] < -1).all()


def test_an_isolated_node_sees_itself_alone() -> None:
    graph = GRAPHS["isolated node"]
    conv = randomized(GraphConv(D_IN, D_OUT))
    assert_close(conv(graph)[2:], conv.own(graph.x)[2:])
    normalized = randomized(NormalizedGraphConv(D_IN, D_OUT))
    assert_close(normalized(graph)[2:], normalized.linear(graph.x)[2:])
    for version in (1, 2):
        attends = randomized(attention(version, D_EDGE)())
        assert_close(attends(graph)[2:], (attends.source(graph.x) + attends.bias)[2:])


# What reaches a node --------------------------------------------------------------------------


def test_a_maximum_of_zero_gets_its_whole_gradient() -> None:
    message = torch.tensor([[0.0], [-1.0], [-2.0]], requires_grad=True)
    aggregate(message, torch.tensor([0, 0, 1]), 3, "max").sum().backward()
    assert message.grad.tolist() == [[1.0], [0.0], [1.0]]


@graphs
@pytest.mark.parametrize("heads", [(), (2,)])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_sum_over_neighbours_adds_up_messages(
    graph: Graph, heads: tuple[int, ...], *, weighted: bool
) -> None:
    x = randn(graph.nodes, *heads, 3)
    weight = randn(graph.edges.shape[1], *heads, seed=1) if weighted else None
    message = x[graph.source] if weight is None else x[graph.source] * weight[..., None]
    expected = aggregate(message, graph.target, graph.nodes)
    assert_close(neighbour_sum(x, graph.edges, weight=weight), expected)


@pytest.mark.parametrize("name", ["directed", "multi-edges", "loops", "no edges"])
def test_a_sum_over_neighbours_has_right_gradients_of_both_orders(name: str) -> None:
    graph = GRAPHS[name]
    x = randn(graph.nodes, 2, 3).requires_grad_()
    weight = randn(graph.edges.shape[1], 2, seed=1).requires_grad_()

    def blended(x: Tensor, weight: Tensor) -> Tensor:
        return neighbour_sum(x, graph.edges, weight=weight)

    assert torch.autograd.gradcheck(blended, (x, weight))
    assert torch.autograd.gradgradcheck(blended, (x, weight))
    assert torch.autograd.gradcheck(lambda x: neighbour_sum(x, graph.edges), (x,))


@pytest.mark.filterwarnings("ignore:There is a performance drop")
def test_functional_jacobians_pass_a_sum_over_neighbours() -> None:
    graph = GRAPHS["multi-edges"]
    x, weight = randn(3, 2, 2), randn(4, 2, seed=1)

    def blended(x: Tensor, weight: Tensor) -> Tensor:
        return neighbour_sum(x, graph.edges, weight=weight)

    found = torch.func.jacrev(blended, argnums=(0, 1))(x, weight)
    expected = torch.autograd.functional.jacobian(blended, (x, weight))
    for mine, other in zip(found, expected, strict=True):
        assert_close(mine, other)


def test_without_weights_the_jacobian_of_a_sum_over_neighbours_is_the_adjacency_matrix() -> None:
    graph = GRAPHS["many"]
    found = jacobian(lambda x: neighbour_sum(x, graph.edges), randn(graph.nodes, 1))
    assert_close(found, graph.adjacency())


@graphs
def test_an_edge_softmax_is_a_softmax_over_each_nodes_edges(graph: Graph) -> None:
    score = 5 * randn(graph.edges.shape[1], HEADS)
    weight = edge_softmax(score, graph.target, graph.nodes)
    for u in range(graph.nodes):
        mine = graph.target == u
        assert_close(weight[mine], score[mine].softmax(dim=0))


def test_an_edge_softmax_survives_large_scores_and_hides_edges() -> None:
    score = torch.tensor([1000.0, 1001.0, -1000.0, 5.0, -math.inf])
    weight = edge_softmax(score, torch.tensor([0, 0, 1, 2, 2]), 4)
    assert_close(weight, torch.tensor([0.2689414, 0.7310586, 1.0, 1.0, 0.0]), 1e-6)


def test_an_edge_softmax_has_right_gradients() -> None:
    graph = GRAPHS["many"]
    score = randn(200, 1).requires_grad_()
    assert torch.autograd.gradcheck(lambda s: edge_softmax(s, graph.target, 30), (score,))


# Graphs ---------------------------------------------------------------------------------------


def test_a_row_of_the_adjacency_matrix_counts_the_sources_of_a_target() -> None:
    graph = GRAPHS["multi-edges"]
    assert graph.adjacency().tolist() == [[0, 1, 0], [2, 0, 0], [1, 0, 0]]
    assert graph.degree().tolist() == [1, 2, 1]


@graphs
def test_degrees_are_row_sums_of_the_adjacency_matrix(graph: Graph) -> None:
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


@pytest.mark.parametrize("nodes", [0, 1, 2, 5])
def test_a_complete_graph_joins_every_node_to_every_other(nodes: int) -> None:
    graph = Graph.complete(randn(nodes, 2))
    assert torch.equal(graph.adjacency(), 1 - torch.eye(nodes, dtype=torch.float64))


def test_a_batch_lays_graphs_side_by_side() -> None:
    one, two = GRAPHS["directed"], GRAPHS["loops"]
    batch = Graph.batched([one, two])
    assert batch.batch.tolist() == [0, 0, 0, 0, 1, 1, 1]
    assert batch.graphs == 2
    assert_close(batch.adjacency(), torch.block_diag(one.adjacency(), two.adjacency()))
    assert_close(batch.edge_features, torch.cat([one.edge_features, two.edge_features]))


def test_a_batch_of_batches_counts_on() -> None:
    batch = Graph.batched([GRAPHS["batch"], GRAPHS["directed"]])
    assert batch.graphs == 4
    assert batch.batch.unique_consecutive(return_counts=True)[1].tolist() == [4, 1, 3, 4]


def test_graphs_without_nodes_keep_their_place_in_a_batch() -> None:
    nothing = Graph(torch.zeros(0, 2), NO_EDGES)
    one = Graph(torch.ones(1, 2), NO_EDGES)
    batch = Graph.batched([nothing, one, nothing])
    assert batch.graphs == 3
    assert sum_pool(batch).tolist() == [[0, 0], [1, 1], [0, 0]]
    again = batch.with_features(randn(1, 4)).permuted(torch.tensor([0])).to(dtype=torch.float32)
    assert again.graphs == 3


@layers
def test_a_graph_without_nodes_passes_a_layer(name: str) -> None:
    nothing = made(0, NO_EDGES)
    assert randomized(LAYERS[name][0]())(nothing).shape == (0, D_OUT)


def test_a_graph_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        GRAPHS["directed"].x = randn(4, 2)


def test_other_features_leave_a_graph_as_it_was() -> None:
    graph = GRAPHS["batch"]
    before = graph.x.clone()
    after = graph.with_features(randn(graph.nodes, 2))
    assert after.x.shape == (8, 2)
    assert torch.equal(graph.x, before)
    assert torch.equal(after.edges, graph.edges)
    assert torch.equal(after.edge_features, graph.edge_features)
    assert torch.equal(after.batch, graph.batch)


def test_a_permuted_graph_has_a_permuted_adjacency_matrix() -> None:
    graph, order = GRAPHS["many"], torch.randperm(30, generator=torch.Generator().manual_seed(0))
    permuted = graph.permuted(order)
    assert_close(permuted.adjacency(), graph.adjacency()[order][:, order])
    assert_close(permuted.x, graph.x[order])


def test_another_dtype_is_that_of_all_features() -> None:
    graph = GRAPHS["batch"].to("cpu", dtype=torch.float32)
    parts = graph.x, graph.edge_features, graph.edges, graph.batch
    assert [part.dtype for part in parts] == [torch.float32] * 2 + [torch.int64] * 2


def test_a_graph_tells_its_sizes() -> None:
    assert repr(GRAPHS["batch"]) == "Graph(nodes=8, edges=13, d=5, d_edge=3, graphs=3)"
    assert repr(Graph(randn(2, 1), NO_EDGES)) == "Graph(nodes=2, edges=0, d=1, graphs=1)"


# Symmetry -------------------------------------------------------------------------------------


# Plain numbers, since beartype draws random ones when a strategy makes a graph.
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


@pytest.mark.parametrize("name", EVERY_LAYER)
@settings(max_examples=20)
@given(situation=situations(), data=st.data())
def test_a_layer_is_permutation_equivariant(
    name: str, situation: tuple, data: st.DataObject
) -> None:
    graph = built(situation)
    order = torch.tensor(data.draw(st.permutations(range(graph.nodes))))
    layer = randomized(EVERY_LAYER[name]())
    assert_close(layer(graph.permuted(order)), layer(graph)[order])


@pytest.mark.parametrize("name", EVERY_LAYER)
def test_a_layer_does_not_depend_on_the_order_of_edges(name: str) -> None:
    graph = GRAPHS["many"]
    order = torch.randperm(200, generator=torch.Generator().manual_seed(1))
    shuffled = Graph(graph.x, graph.edges[:, order], edge_features=graph.edge_features[order])
    layer = randomized(EVERY_LAYER[name]())
    assert_close(layer(shuffled), layer(graph))


@pytest.mark.parametrize("pool", [sum_pool, mean_pool, max_pool])
@given(situation=situations(), data=st.data())
def test_a_pool_is_permutation_invariant(
    pool: Callable, situation: tuple, data: st.DataObject
) -> None:
    graph = built(situation)
    order = torch.tensor(data.draw(st.permutations(range(graph.nodes))))
    assert_close(pool(graph.permuted(order)), pool(graph))


@pytest.mark.parametrize("name", EVERY_LAYER)
@settings(max_examples=20)
@given(several=st.lists(situations(), min_size=1, max_size=3))
def test_a_batch_gives_what_each_graph_gives_alone(name: str, several: list[tuple]) -> None:
    layer = randomized(EVERY_LAYER[name]())
    alone = [built(situation) for situation in several]
    together = Graph.batched(alone)
    assert_close(layer(together), torch.cat([layer(graph) for graph in alone]))
    for pool in (sum_pool, mean_pool, max_pool):
        assert_close(pool(together), torch.cat([pool(graph) for graph in alone]))


# Attention, static and not --------------------------------------------------------------------


def ranking(layer: GraphAttention, graph: Graph) -> Tensor:
    """Whom each node of a complete graph likes best, itself included, head by head."""
    edges, weights = layer.weights(graph)
    dense = weights.new_zeros(graph.nodes, graph.nodes, layer.heads)
    return dense.index_put((edges[1], edges[0]), weights).argmax(dim=1)


@given(seed=st.integers(0, 1000))
def test_in_version_1_everyone_likes_the_same_neighbour_best(seed: int) -> None:
    layer = randomized(GraphAttention(D_IN, D_OUT, HEADS), scale=1 + seed / 100)
    best = ranking(layer, Graph.complete(randn(6, D_IN, seed=seed)))
    assert (best == best[0]).all()


def test_in_version_2_everyone_may_like_itself_best() -> None:
    layer = GraphAttention(1, 2, 1, version=2).double()
    with torch.no_grad():
        # The score is the negative sum of two rectified differences, -0.8 |x_u - x_v|.
        layer.target.weight.copy_(torch.tensor([[1.0], [-1.0]]))
        layer.source.weight.copy_(torch.tensor([[-1.0], [1.0]]))
        layer.score["pair"].fill_(-1)
    best = ranking(layer, Graph.complete(randn(6, 1)))
    assert best.flatten().tolist() == [0, 1, 2, 3, 4, 5]


# The colours of Weisfeiler and Lehman ---------------------------------------------------------


def ring(*atoms: int) -> list[tuple[int, int]]:
    return list(zip(atoms, (*atoms[1:], atoms[0]), strict=True))


def carbons(bonds: list[tuple[int, int]]) -> Graph:
    nodes = 1 + max(max(bond) for bond in bonds)
    pairs = integers(*zip(*bonds, strict=True))
    return Graph.undirected(torch.ones(nodes, 1, dtype=torch.float64), pairs)


DECALIN = carbons([*ring(*range(10)), (0, 5)])
BICYCLOPENTYL = carbons([*ring(0, 1, 2, 3, 4), *ring(5, 6, 7, 8, 9), (0, 5)])


def partition(names: list) -> list[int]:
    """For each node, the first one that shares its name."""
    return [names.index(name) for name in names]


@given(situation=situations(), kinds=st.integers(1, 3), data=st.data())
def test_colours_part_nodes_as_networkx_parts_them(
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


@pytest.mark.parametrize("name", ["directed", "multi-edges", "loops", "many"])
def test_a_round_names_what_reaches_a_node_along_directed_edges(name: str) -> None:
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


@given(situation=situations(), data=st.data())
def test_colours_follow_their_nodes(situation: tuple, data: st.DataObject) -> None:
    graph = built(situation)
    order = torch.tensor(data.draw(st.permutations(range(graph.nodes))))
    coarse = dataclasses.replace(graph, x=graph.x.sign(), edge_features=graph.edge_features.sign())
    found = weisfeiler_lehman(coarse.permuted(order), 3)
    assert torch.equal(found, weisfeiler_lehman(coarse, 3)[:, order])
    assert found.dtype == torch.int64


def test_decalin_and_bicyclopentyl_have_the_same_colours() -> None:
    colours = weisfeiler_lehman(Graph.batched([DECALIN, BICYCLOPENTYL]), 10)
    for row in colours:
        assert torch.equal(row[:10].sort().values, row[10:].sort().values)
    assert [len(row.unique()) for row in colours[:4]] == [1, 2, 3, 3]


def test_a_ring_of_six_and_a_chain_of_six_differ_after_one_round() -> None:
    chain = carbons([(i, i + 1) for i in range(5)])
    colours = weisfeiler_lehman(Graph.batched([carbons(ring(*range(6))), chain]), 1)
    assert torch.equal(colours[0], torch.zeros(12, dtype=torch.int64))
    assert not torch.equal(colours[1, :6].sort().values, colours[1, 6:].sort().values)


@pytest.mark.parametrize("name", EVERY_LAYER)
def test_no_layers_tell_decalin_from_bicyclopentyl(name: str) -> None:
    batch = Graph.batched([DECALIN, BICYCLOPENTYL])
    bonds = torch.ones(batch.edges.shape[1], D_EDGE, dtype=torch.float64)
    graph = dataclasses.replace(batch, x=batch.x.expand(-1, D_IN), edge_features=bonds)
    for seed in range(4):
        layer = randomized(EVERY_LAYER[name]())
        back = randn(layer(graph).shape[1], D_IN, seed=seed)
        graph = graph.with_features((layer(graph) @ back).tanh())
        first, second = sum_pool(graph)
        assert_close(first, second, 1e-10)


@layers
def test_nodes_of_one_colour_get_the_same_from_every_layer(name: str) -> None:
    one, two = drawn(12, 30, seed=4), drawn(12, 30, seed=5)
    for graph in (one, two):
        pairs = graph.edges[:, graph.source != graph.target]
        coarse = Graph(
            graph.x[:, :1].sign().expand(-1, D_IN),
            pairs,
            edge_features=torch.ones(pairs.shape[1], D_EDGE, dtype=torch.float64),
        )
        colours = weisfeiler_lehman(coarse, 2)
        output = randomized(LAYERS[name][0]())(coarse)
        row = 2 if name == "normalized" else 1
        for colour in colours[row].unique():
            mine = output[colours[row] == colour]
            assert_close(mine, mine[:1].expand_as(mine), 1e-10)


# Time and memory grow with edges --------------------------------------------------------------


class LargestTensor(TorchDispatchMode):
    """Watches every operation, also of a backward pass, for the largest tensor it returns."""

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


def test_the_largest_tensor_is_seen() -> None:
    graph = drawn(NODES, EDGES).to(dtype=torch.float32)
    with LargestTensor() as watched:
        graph.adjacency()
    assert watched.largest == 4 * NODES**2


@pytest.mark.parametrize("name", EVERY_LAYER)
def test_no_layer_makes_a_tensor_larger_than_edges_times_features(name: str) -> None:
    graph = drawn(NODES, EDGES).to(dtype=torch.float32)
    layer = EVERY_LAYER[name]()
    x = graph.x.requires_grad_()
    with LargestTensor() as watched:
        layer(dataclasses.replace(graph, x=x)).square().sum().backward()
    assert x.grad.isfinite().all()
    widest = max(D_OUT, D_IN + D_EDGE)
    assert watched.largest <= max(4 * widest, 2 * 8) * (EDGES + NODES)


def test_convolutions_do_not_even_make_the_messages() -> None:
    graph = Graph(randn(NODES, 64), drawn(NODES, EDGES).edges)
    for layer in (GraphConv(64, 64), NormalizedGraphConv(64, 64)):
        with LargestTensor() as watched:
            layer.double()(graph).square().sum().backward()
        assert watched.largest < 8 * EDGES * 64 / 2


def test_the_benchmark_compares_two_layers_that_agree() -> None:
    program = Path(__file__).parents[1] / "benchmarks" / "graph.py"
    benchmark = runpy.run_path(str(program))
    graph = Graph(randn(20, 8).float(), drawn(20, 50).edges)
    for name, pair in benchmark["pairs"](8, 2).items():
        row = {"layer": name, **benchmark["measure"](*pair, graph, graph.edges, rounds=2)}
        assert row["forward"]["ratio"] > 0
        assert row["training"]["ours_seconds"] > 0
        assert name in benchmark["table"]([row]).splitlines()[-1]


# Bad input ------------------------------------------------------------------------------------

X = randn(3, 2)
PAIR = integers([0, 1], [1, 2])
FEATURES = randn(2, 4)
BAD_GRAPHS = {
    "an edge to a node that is not there": (
        lambda: Graph(X, integers([0, 1], [1, 3])),
        ValueError,
        r"edges\[:, 1\] is \[1, 3\], and there are 3 nodes; expected node numbers from 0 to 2",
    ),
    "a node counted from the end": (
        lambda: Graph(X, integers([-1], [0])),
        ValueError,
        r"edges\[:, 0\] is \[-1, 0\]",
    ),
    "float edges": (
        lambda: Graph(X, PAIR.double()),
        TypeError,
        r"edges has dtype torch.float64; expected torch.int64.*edges\.long\(\)",
    ),
    "edges as a list": (
        lambda: Graph(X, [[0], [1]]),
        TypeError,
        "edges is a list; expected a torch.Tensor",
    ),
    "edges in columns": (
        lambda: Graph(X, integers([0, 1], [1, 2], [0, 2])),
        ValueError,
        r"edges has shape \(3, 2\); expected \(2, edges\).*turn it with edges\.T",
    ),
    "edges in one row": (
        lambda: Graph(X, torch.tensor([0, 1])),
        ValueError,
        r"edges has shape \(2,\); expected \(2, edges\)",
    ),
    "features of one axis": (lambda: Graph(X[:, 0], PAIR), ValueError, r"x has shape \(3,\)"),
    "integer features": (lambda: Graph(X.long(), PAIR), TypeError, r"x has dtype torch.int64"),
    "too few edge features": (
        lambda: Graph(X, PAIR, edge_features=FEATURES[:1]),
        ValueError,
        r"edge_features has shape \(1, 4\).*edges = 2",
    ),
    "edge features of another dtype": (
        lambda: Graph(X, PAIR, edge_features=FEATURES.float()),
        TypeError,
        "edge_features has dtype torch.float32 and x has torch.float64",
    ),
    "a batch out of order": (
        lambda: Graph(X, NO_EDGES, batch=torch.tensor([0, 1, 0])),
        ValueError,
        "batch falls from 1 to 0 at node 2; expected numbers that never fall; sort the nodes",
    ),
    "a batch of wrong length": (
        lambda: Graph(X, NO_EDGES, batch=torch.tensor([0, 1])),
        ValueError,
        r"batch has shape \(2,\).*nodes = 3, as in x",
    ),
    "a batch of floats": (
        lambda: Graph(X, NO_EDGES, batch=torch.zeros(3)),
        TypeError,
        "batch has dtype torch.float32; expected torch.int64",
    ),
    "a batch below 0": (
        lambda: Graph(X, NO_EDGES, batch=torch.tensor([-1, 0, 0])),
        ValueError,
        "batch begins with -1; expected 0 or more",
    ),
    "an edge between two graphs": (
        lambda: Graph(X, PAIR, batch=torch.tensor([0, 0, 1])),
        ValueError,
        r"edges\[:, 1\] is \[1, 2\], from graph 0 to graph 1 of the batch; expected both ends",
    ),
    "fewer graphs than the batch has": (
        lambda: Graph(X, NO_EDGES, batch=torch.tensor([0, 1, 1]), graphs=1),
        ValueError,
        "graphs is 1; expected 2 or more",
    ),
    "undirected, a node that is not there": (
        lambda: Graph.undirected(X, integers([0], [7])),
        ValueError,
        r"pairs\[:, 0\] is \[0, 7\]",
    ),
    "undirected, too many edge features": (
        lambda: Graph.undirected(X, PAIR, edge_features=randn(4, 1)),
        ValueError,
        r"edge_features has shape \(4, 1\).*pairs = 2",
    ),
    "a batch of nothing": (lambda: Graph.batched([]), ValueError, "graphs is empty"),
    "a batch of two widths": (
        lambda: Graph.batched([Graph(X, PAIR), Graph(randn(3, 4), PAIR)]),
        ValueError,
        r"graphs\[1\]\.x has 4 columns and graphs\[0\]\.x 2; expected the same",
    ),
    "a batch of two dtypes": (
        lambda: Graph.batched([Graph(X, PAIR), Graph(X.float(), PAIR)]),
        TypeError,
        r"graphs\[1\]\.x has dtype torch.float32",
    ),
    "a batch where one has edge features": (
        lambda: Graph.batched([Graph(X, PAIR), Graph(X, PAIR, edge_features=FEATURES)]),
        ValueError,
        r"graphs\[1\] has edge features and graphs\[0\] has none; expected all or none",
    ),
    "a batch of two widths of edges": (
        lambda: Graph.batched(
            [Graph(X, PAIR, edge_features=FEATURES), Graph(X, PAIR, edge_features=FEATURES[:, :1])]
        ),
        ValueError,
        r"graphs\[1\]\.edge_features has 1 columns and graphs\[0\]\.edge_features 4",
    ),
    "a batch of tensors": (
        lambda: Graph.batched([X, X]),
        TypeError,
        r"graphs\[0\] is a Tensor; expected a course_lib.graph.Graph",
    ),
    "an order with a node twice": (
        lambda: Graph(X, PAIR).permuted(torch.tensor([0, 1, 1])),
        ValueError,
        r"order is .*\[0, 1, 1\]; expected each of the numbers 0 to 2 once",
    ),
    "an order of wrong length": (
        lambda: Graph(X, PAIR).permuted(torch.tensor([1, 0])),
        ValueError,
        r"order is a tensor of shape \(2,\)",
    ),
    "an order of floats": (
        lambda: Graph(X, PAIR).permuted(torch.tensor([0.0, 1.0, 2.0])),
        ValueError,
        r"order is .*dtype torch.float32.*as int64",
    ),
    "an order that tears a batch apart": (
        lambda: Graph(X, NO_EDGES, batch=torch.tensor([0, 0, 1])).permuted(torch.tensor([2, 0, 1])),
        ValueError,
        "batch falls from 1 to 0 at node 1",
    ),
    "features for other nodes": (
        lambda: Graph(X, PAIR).with_features(randn(4, 2)),
        ValueError,
        r"x has shape \(4, 2\); expected \(3, d\)",
    ),
    "features of another dtype than the edges'": (
        lambda: Graph(X, PAIR, edge_features=FEATURES).with_features(X.float()),
        TypeError,
        "edge_features has dtype torch.float64 and x has torch.float32",
    ),
}


@pytest.mark.parametrize("case", BAD_GRAPHS)
@pytest.mark.usefixtures("plain_calls")
def test_a_bad_graph_is_named(case: str) -> None:
    make, error, message = BAD_GRAPHS[case]
    with pytest.raises(error, match=f"(?s){message}"):
        make()


HOLLOW = Graph(X, NO_EDGES, batch=torch.tensor([0, 2, 2]))
BAD_USE = {
    "a tensor for a graph": (
        lambda: GraphConv(2, 2)(X),
        TypeError,
        "graph is a Tensor; expected a course_lib.graph.Graph; make one with Graph",
    ),
    "other features than the layer takes": (
        lambda: GraphConv(4, 2).double()(Graph(X, PAIR)),
        ValueError,
        r"x has shape \(3, 2\); expected \(nodes, 4\)",
    ),
    "another dtype than the layer has": (
        lambda: NormalizedGraphConv(2, 2)(Graph(X, PAIR)),
        TypeError,
        "x has dtype torch.float64 and parameters has torch.float32",
    ),
    "no features at all": (lambda: GraphConv(0, 2), ValueError, "d_in is 0; expected 1 or more"),
    "another aggregate": (
        lambda: MessagePassing(nn.Identity(), nn.Identity(), "median"),
        ValueError,
        "aggregate is 'median'; expected one of 'sum', 'mean', 'max'",
    ),
    "a message for half of the edges": (
        lambda: MessagePassing(lambda _, v, __: v[:1], lambda x, _: x)(Graph(X, PAIR)),
        ValueError,
        r"message returned \(1, 2\); expected a tensor of shape \(2, d\), a row for each edge",
    ),
    "an update that pools": (
        lambda: MessagePassing(lambda _, v, __: v, lambda x, _: x.sum(dim=0))(Graph(X, PAIR)),
        ValueError,
        r"update returned \(2,\); expected a tensor of shape \(3, d\), a row for each node",
    ),
    "an update that returns nothing": (
        lambda: MessagePassing(lambda _, v, __: v, lambda _, __: None)(Graph(X, PAIR)),
        ValueError,
        "update returned NoneType",
    ),
    "heads that do not divide": (
        lambda: GraphAttention(2, 6, 4),
        ValueError,
        "heads is 4, which does not divide d_out = 6",
    ),
    "a third version": (
        lambda: GraphAttention(2, 6, 2, version=3),
        ValueError,
        "version is 3; expected 1 or 2",
    ),
    "no edge features where they are needed": (
        lambda: GraphAttention(2, 6, 2, d_edge=4).double()(Graph(X, PAIR)),
        ValueError,
        "the graph has no edge features; expected 4 for each edge",
    ),
    "other edge features than the layer takes": (
        lambda: GraphAttention(2, 6, 2, d_edge=3).double()(Graph(X, PAIR, edge_features=FEATURES)),
        ValueError,
        r"edge_features has shape \(2, 4\); expected \(edges, 3\)",
    ),
    "another way to aggregate": (
        lambda: aggregate(X, torch.tensor([0, 0, 1]), 2, "min"),
        ValueError,
        "how is 'min'; expected one of",
    ),
    "too few targets": (
        lambda: aggregate(X, torch.tensor([0, 0]), 2),
        ValueError,
        r"target has shape \(2,\).*message has shape \(3, 2\); expected one node number",
    ),
    "a target that is not there": (
        lambda: aggregate(X, torch.tensor([0, 2, 1]), 2),
        ValueError,
        r"target\[1\] is 2, and there are 2 nodes; expected node numbers from 0 to 1",
    ),
    "float targets": (
        lambda: edge_softmax(X, torch.tensor([0.0, 0.0, 1.0]), 2),
        TypeError,
        "target has dtype torch.float32; expected torch.int64",
    ),
    "a score of nan": (
        lambda: edge_softmax(torch.tensor([0.0, math.nan]), torch.tensor([0, 0]), 1),
        ValueError,
        "score holds nan",
    ),
    "a node whose edges are all hidden": (
        lambda: edge_softmax(torch.full((2,), -math.inf), torch.tensor([1, 1]), 2),
        ValueError,
        "all edges that end at node 1 have score -inf",
    ),
    "a weight for each node": (
        lambda: neighbour_sum(X, PAIR, weight=randn(3)),
        ValueError,
        r"weight has shape \(3,\); expected \(edges, \*heads\) = \(2,\)",
    ),
    "a mean of nothing": (
        lambda: mean_pool(HOLLOW),
        ValueError,
        "graph 1 of the batch has no nodes; expected one at least.*use sum_pool",
    ),
    "a maximum of nothing": (
        lambda: max_pool(Graph(X[:0], NO_EDGES)),
        ValueError,
        "graph 0 of the batch has no nodes",
    ),
    "a pool of a tensor": (lambda: sum_pool(X), TypeError, "graph is a Tensor"),
    "rounds below 0": (
        lambda: weisfeiler_lehman(Graph(X, PAIR), -1),
        ValueError,
        "rounds is -1; expected 0 or more",
    ),
}


@pytest.mark.parametrize("case", BAD_USE)
@pytest.mark.usefixtures("plain_calls")
def test_bad_use_is_named(case: str) -> None:
    use, error, message = BAD_USE[case]
    with pytest.raises(error, match=f"(?s){message}"):
        use()
