"""Time our graph layers relative to PyTorch Geometric's, with equal parameters.

Time of a forward pass and of a training step (forward, and backward to parameters and features) of
a convolution, the normalized convolution and graph attention in both versions, on one random graph
with unsorted edges. Time is processor time on one thread, so that waiting for other programs does
not count. Rounds of the two alternate, and a ratio is the median over rounds. The program exits
with 1 if a training step takes more than ``BUDGET`` times that of PyTorch Geometric.

PyTorch Geometric runs as PyPI installs it, without its optional compiled packages. It can also take
edges that were sorted once, both ways, as an ``EdgeIndex``, which speeds up its plain convolution;
ours sorts in each pass. That is measured too, without a budget. Run from the root of the project,
with torch_geometric installed::

    OMP_NUM_THREADS=1 python -m benchmarks.graph [--rounds 7]
"""

import argparse
import statistics
import sys
import time
import warnings
from collections.abc import Callable

import torch
from torch import Tensor, nn

from benchmarks.report import write
from course_lib.graph import GATConv, GATv2Conv, GCNConv, Graph, GraphConv

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it calls deprecated and beta functions of PyTorch
    import torch_geometric
    from torch_geometric import EdgeIndex
    from torch_geometric import nn as pyg

NODES = 100_000
EDGES = 1_000_000
FEATURES = 64
HEADS = 4
BUDGET = 1.0


def forward(layer: Callable[[], Tensor], inputs: list[Tensor]) -> list[Tensor]:  # noqa: ARG001
    """The output, without a graph for gradients."""
    with torch.no_grad():
        return [layer()]


def training(layer: Callable[[], Tensor], inputs: list[Tensor]) -> list[Tensor]:
    """The gradient of a loss on all outputs in the features and all parameters."""
    return list(torch.autograd.grad(layer().square().mean(), inputs))


def seconds(ways: dict[str, Callable[[], object]], rounds: int) -> dict[str, list[float]]:
    """The processor time of a call of each function, in rounds, after one warm-up round."""
    times = {way: [] for way in ways}
    for _ in range(rounds + 1):
        for way, run in ways.items():
            begin = time.process_time()
            run()
            times[way].append(time.process_time() - begin)
    return {way: taken[1:] for way, taken in times.items()}


def pairs(features: int, heads: int) -> dict[str, tuple[nn.Module, nn.Module, dict[str, str]]]:
    """Our layer, theirs, and the name of each of our parameters in theirs."""
    return {
        "GraphConv": (
            GraphConv(features, features),
            pyg.GraphConv(features, features),
            {
                "own.weight": "lin_root.weight",
                "own.bias": "lin_rel.bias",
                "neighbours.weight": "lin_rel.weight",
            },
        ),
        "GCNConv": (
            GCNConv(features, features),
            pyg.GCNConv(features, features),
            {"linear.weight": "lin.weight", "linear.bias": "bias"},
        ),
        "GATConv": (
            GATConv(features, features, heads),
            pyg.GATConv(features, features // heads, heads),
            {
                "source.weight": "lin.weight",
                "score.source": "att_src",
                "score.target": "att_dst",
                "bias": "bias",
            },
        ),
        "GATv2Conv": (
            GATv2Conv(features, features, heads),
            pyg.GATv2Conv(features, features // heads, heads),
            {
                "source.weight": "lin_l.weight",
                "source.bias": "lin_l.bias",
                "target.weight": "lin_r.weight",
                "target.bias": "lin_r.bias",
                "score.pair": "att",
                "bias": "bias",
            },
        ),
    }


def measure(
    ours: nn.Module,
    theirs: nn.Module,
    names: dict[str, str],
    graph: Graph,
    edges: Tensor,
    *,
    rounds: int,
) -> dict:
    """One row of the table, forward and in training, after checking that both agree."""
    with torch.no_grad():
        for mine, other in names.items():
            copy = theirs.get_parameter(other)
            copy.copy_(ours.get_parameter(mine).reshape(copy.shape))
    x = graph.x.clone().requires_grad_()
    graph = graph.with_features(x)
    calls = {"ours": lambda: ours(graph), "pyg": lambda: theirs(x, edges)}
    inputs = {
        "ours": [x, *map(ours.get_parameter, names)],
        "pyg": [x, *map(theirs.get_parameter, names.values())],
    }
    row = {}
    for what in (forward, training):
        ways = {way: lambda w=way, what=what: what(calls[w], inputs[w]) for way in calls}
        for mine, other in zip(ways["ours"](), ways["pyg"](), strict=True):
            torch.testing.assert_close(mine, other.reshape(mine.shape), rtol=1e-3, atol=1e-5)
        times = seconds(ways, rounds)
        row[what.__name__] = {
            # The fastest round is the least disturbed.
            "ours_seconds": min(times["ours"]),
            "pyg_seconds": min(times["pyg"]),
            "ratio": statistics.median(
                mine / other for mine, other in zip(times["ours"], times["pyg"], strict=True)
            ),
        }
    return row


def table(rows: list[dict]) -> str:
    """The rows in columns: milliseconds of both, and ours as a multiple of theirs."""
    lines = [
        "                                  forward                forward and backward",
        "layer                             ours ms   PyG ms ratio  ours ms   PyG ms ratio",
    ]
    for row in rows:
        columns = [
            f"{1e3 * row[what]['ours_seconds']:8.0f} {1e3 * row[what]['pyg_seconds']:8.0f} "
            f"{row[what]['ratio']:5.2f}"
            for what in ("forward", "training")
        ]
        lines.append(f"{row['layer']:33} {' '.join(columns)}")
    return "\n".join(lines)


def main() -> None:
    """Measure, print the table, write it with the settings to repeat it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    torch.set_num_threads(1)
    torch.manual_seed(0)
    sizes = {"nodes": NODES, "edges": EDGES, "features": FEATURES, "heads": HEADS}
    graph = Graph(torch.randn(NODES, FEATURES), torch.randint(NODES, (2, EDGES)))
    layers = pairs(FEATURES, HEADS)
    rows = []
    for name, pair in layers.items():
        row = measure(*pair, graph, graph.edges, rounds=rounds)
        rows.append({"layer": name, "budget_ratio": BUDGET, **row})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        presorted = EdgeIndex(graph.edges, sparse_size=(NODES, NODES)).sort_by("col").values
        presorted.fill_cache_()
        row = measure(*layers["GraphConv"], graph, presorted, rounds=rounds)
    rows.append({"layer": "GraphConv, theirs sorted before", "budget_ratio": None, **row})
    print(table(rows))
    write(
        "graph-cpu",
        "graph",
        **sizes,
        dtype="float32",
        clock="processor time of one thread",
        torch_geometric=torch_geometric.__version__,
        rows=rows,
    )
    slow = [
        row["layer"]
        for row in rows
        if row["budget_ratio"] is not None and row["training"]["ratio"] > row["budget_ratio"]
    ]
    if slow:
        sys.exit(f"{', '.join(slow)} missed the budget of {BUDGET} times PyTorch Geometric")


if __name__ == "__main__":
    main()
