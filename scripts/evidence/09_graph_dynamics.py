"""Evidence of lecture 9: flows on the graph of digits, beyond the experiment of its page."""

import json
import sys
from functools import cache

import torch
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.semi_supervised import LabelSpreading
from sklearn.svm import SVC
from torch import Tensor
from torch.nn import functional as F

from course_lib.graph import GATConv, GCNConv, Graph, edge_softmax
from course_lib.graph_dynamics import (
    Diffusion,
    DoubleBracketFlow,
    WaveEquation,
    attention_metric,
    eigenmodes,
    equilibrium,
    euler_step,
    hodge_decomposition,
    laplacian,
)
from course_lib.mechanics import stoermer_verlet
from course_lib.models.digit_graph import (
    FLOWS,
    Split,
    accuracies,
    digit_graph,
    draw_labels,
    gap,
    layer_filter,
    read_out,
    time_filter,
)
from course_lib.models.stored import DATA
from course_lib.support.evidence import Row, compute, experiment

DEPTHS, STEP = (1, 2, 4, 8, 16, 32, 64), 0.5
TIMES = tuple(2.0**k for k in range(-2, 13))
ALPHAS = (0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 0.999)
GRID = (1, 2, 4, 8, 16, 32, 64, 128, 192)
LITTLE, LEARNED = 1e-3, 0.01
EACH_FLOW = [{"flow": flow} for flow in FLOWS]
Tested = tuple[Tensor, Tensor]

digits = cache(digit_graph)


def split_of(count: int = 20, draws: range = range(20)) -> Split:
    """The label splits of the page."""
    return draw_labels(digits().digit, count, draws)


def behind(factor: Tensor, ridges: tuple[float, ...] | None = None) -> Tensor:
    """Test accuracies after a filter, in the splits of the page."""
    options = {} if ridges is None else {"ridges": ridges}
    return read_out(digits().through(factor), digits().digit, split_of(), **options)[1]


def percent(tested: list[Tensor]) -> Row:
    """Mean and spread over the draws of each list of accuracies."""
    values = 100 * torch.stack(tested)
    return {"mean": values.mean(1).tolist(), "std": values.std(1).tolist()}


def over_layers(flow: str, layers: int, step: float) -> Tensor:
    """The mean of a filter over the layers 1 to the last."""
    rate = digits().rate
    return sum(layer_filter(flow, rate, layer, step) for layer in range(1, layers + 1)) / layers


def choose(candidates: list[Tested]) -> Tensor:
    """For every draw the test accuracy of the candidate with the best validation accuracy."""
    validated, tested = (torch.stack(column) for column in zip(*candidates, strict=True))
    return tested.gather(0, validated.argmax(0, keepdim=True))[0]


def spread_labels(split: Split) -> list[Tested]:
    """Label spreading, (1 - αS)⁻¹ on the labels, solved in the modes of the same metric."""
    graph, (known, _) = digits(), split
    given = torch.zeros(len(known), len(graph.digit), 10).double()
    onehot = F.one_hot(graph.digit, 10).double()
    given.scatter_(1, known[..., None].expand(-1, -1, 10), onehot[known])
    m = graph.metric["node_weights"].sqrt()[:, None]
    coordinates = graph.modes.T @ (m * given)
    found = []
    for alpha in ALPHAS:
        spread = graph.modes @ (coordinates / (1 - alpha + alpha * graph.rate)[:, None])
        found.append(accuracies(spread.argmax(-1), graph.digit, split))
        # Class mass normalization: as much of each class in all.
        mass = (m * spread).sum(1, keepdim=True)
        found.append(accuracies((spread / mass).argmax(-1), graph.digit, split))
    return found


@cache
def spread_on_twenty() -> Tensor:
    """The accuracy of label spreading with the labels of the page."""
    return choose(spread_labels(split_of()))


def fitted_to_pixels(model: object, split: Split, rows: Tensor | None = None) -> Tested:
    """A scikit-learn model of pixels alone, fitted to the labels or to other rows."""
    graph = digits()
    rows = split[0] if rows is None else rows
    answers = [model.fit(graph.pixels[row], graph.digit[row]).predict(graph.pixels) for row in rows]
    return accuracies(torch.stack(list(map(torch.from_numpy, answers))), graph.digit, split)


def baselines(split: Split) -> dict[str, Tensor]:
    """Nearest neighbours and logistic regression, each tuned in every draw."""
    votes = [KNeighborsClassifier(k, weights="distance") for k in (1, 3, 5)]
    regressions = [LogisticRegression(C=C, max_iter=500) for C in (0.1, 1, 10)]
    return {
        "nearest_labels": choose([fitted_to_pixels(model, split) for model in votes]),
        "logistic_regression": choose([fitted_to_pixels(model, split) for model in regressions]),
    }


@experiment()
def round_a_triangle() -> Row:
    """Attention is a metric if its weights have the same product both ways round each triangle."""
    random, seen = torch.Generator().manual_seed(1), torch.manual_seed(1)
    ring = torch.tensor([[0, 1, 2, 1, 2, 0], [1, 2, 0, 0, 1, 2]])

    def turn(alpha: Tensor) -> float:
        return (alpha[:3].prod() / alpha[3:6].prod()).log().item()

    general, off, broken = [], [], 0
    for _ in range(20):
        score = torch.randn(6, generator=random).double()
        general.append(turn(edge_softmax(score, ring[1], 3)))
        there, back = score.chunk(2)
        _, turning = hodge_decomposition((there - back)[:, None], ring[:, :3], 3)
        off.append(abs(general[-1] - turning.sum().item()))
        x = torch.randn(3, 3, generator=seen).double()
        _, alpha = GATConv(3, 3, heads=1).double().weights(Graph(x, ring))
        broken += abs(turn(alpha[:, 0])) > LITTLE
    asked, asks = torch.randn(2, 3, generator=random).double()
    additive = turn(edge_softmax(asked[ring[1]] + asks[ring[0]], ring[1], 3))
    least = min(map(abs, general))
    return {"least": least, "off": max(off), "additive": abs(additive), "broken": broken}


@experiment()
def classes_are_slow() -> Row:
    """The share of the class differences, and of pixels, in the 20 slowest modes, in %."""
    graph = digits()
    shares = {}
    for name, field in (("slow", F.one_hot(graph.digit, 10).double()), ("pixel", graph.pixels)):
        m = graph.metric["node_weights"]
        middle = equilibrium(field, graph.pairs, node_weights=m)
        by_mode = graph.spectrum(field - middle).square().sum(1)
        shares[f"{name}_share"] = 100 * (by_mode[:20].sum() / by_mode.sum()).item()
    alike = (graph.digit[graph.pairs[0]] == graph.digit[graph.pairs[1]]).double()
    return {"alike": 100 * alike.mean().item(), **shares}


@experiment()
def layers_are_filters() -> Row:
    """Eight layers match the formulas, and a bracket grows only beyond its longest stable step."""
    graph = digits()
    nodes, still = len(graph.digit), torch.zeros(graph.pairs.shape[1], 64).double()
    edges = torch.cat([graph.pairs, graph.pairs.flip(0)], dim=1)
    m, w = graph.metric.values()
    heat_layer = Diffusion(edges, weights=w.repeat(2) / m[edges[1]])
    bracket_layer = DoubleBracketFlow(graph.pairs, nodes, **graph.metric)
    wave_layer = WaveEquation(graph.pairs, nodes, **graph.metric)
    heat, bracket, wave = graph.x, (graph.x, still), (graph.x.T, 0 * graph.x.T)
    for _ in range(8):
        heat = euler_step(heat_layer, heat, STEP)
        bracket = euler_step(bracket_layer, bracket, STEP)
        wave = stoermer_verlet(wave_layer, *wave, STEP)
    row = {}
    for flow, state in (("heat", heat), ("bracket", bracket[0]), ("wave", wave[0].T)):
        expected = graph.through(layer_filter(flow, graph.rate, 8, STEP))
        row[f"{flow}_off"] = (state - expected).abs().max().item()
    row["longest"] = 2 / (1 + graph.rate[-1].item())
    for name, share in (("below", 0.999), ("above", 1.001)):
        step = share * row["longest"]
        size = torch.complex(1 - step * graph.rate, step * graph.rate.sqrt()).abs()
        row[f"growth_{name}"] = size.max().item() - 1
    return row


@experiment(within=0.01)
def others_on_twenty_labels() -> Row:
    """Accuracies of label spreading, a vote and a regression with the labels of the page, in %."""
    tested = {"label_spreading": spread_on_twenty()} | baselines(split_of())
    return {name: 100 * values.mean().item() for name, values in tested.items()}


@experiment(within=0.01)
def spreading_of_scikit_learn() -> Row:
    """Label spreading of scikit-learn, on the same graph, gives the same answers as ours."""
    graph, split = digits(), split_of(draws=range(1))
    nodes, m = len(graph.digit), graph.metric["node_weights"]
    affinity = -m[:, None] * laplacian(graph.pairs, nodes, **graph.metric)
    affinity.fill_diagonal_(0)
    given = torch.full((nodes,), -1).scatter(0, split[0][0], graph.digit[split[0][0]])
    theirs = LabelSpreading(kernel=lambda *_: affinity.numpy(), alpha=0.9, max_iter=500, tol=1e-6)
    answers = torch.from_numpy(theirs.fit(graph.pixels, given).transduction_)[None]
    ours = spread_labels(split)[2 * ALPHAS.index(0.9)]
    return {
        "theirs": 100 * accuracies(answers, graph.digit, split)[1].item(),
        "ours": 100 * ours[1].item(),
    }


@experiment(EACH_FLOW, within=0.01)
def for_a_time(*, flow: str) -> Row:
    """Accuracy in % after a flow, and after 8 and 64 layers of the same total time."""
    rate = digits().rate
    tested = [behind(time_filter(flow, rate, time)) for time in TIMES]
    row = {"times": TIMES, **percent(tested), "off": 0.0}
    for depth in (8, 64):
        times = [depth * step for step in (1 / 16, 1 / 4, 1 / 2)]
        layered = [behind(layer_filter(flow, rate, depth, time / depth)) for time in times]
        row |= {f"times_{depth}": times, f"layers_{depth}": percent(layered)["mean"]}
        for time, found in zip(times, row[f"layers_{depth}"], strict=True):
            row["off"] = max(row["off"], abs(found - row["mean"][TIMES.index(time)]))
    named = dict(zip(TIMES, row["mean"], strict=True))
    row |= {f"{flow}_{time}": named[time] for time in (128, 1024, 4096)}
    row |= {"best": max(named.values()), "worst_at": min(named, key=named.get)}
    late, early = tested[TIMES.index(1024.0)], tested[TIMES.index(64.0)]
    return row | {"late_less_early": gap(late, early)[0]}


@experiment([{"time": 256}, {"time": 1024}], within=0.01)
def heat_in_steps(*, time: int) -> Row:
    """The step length does not matter: accuracy of heat after a fixed time, in %."""
    steps = (1, 1 / 2, 1 / 8)
    rate = digits().rate
    factors = [layer_filter("heat", rate, round(time / step), step) for step in steps]
    found = percent([behind(factor) for factor in factors])["mean"]
    return {"steps": steps, "mean": found, "least": min(found), "most": max(found)}


@experiment([{"time": 1024}, {"time": 4096}], within=0.01)
def heat_with_a_lower_ridge(*, time: int) -> Row:
    """With ridges down to 1e-16 late heat is more accurate, in %, than with 1e-6."""
    ridges = tuple(10.0**power for power in range(-16, 2))
    tested = behind(time_filter("heat", digits().rate, time), ridges)
    return {f"lowered_{time}": 100 * tested.mean().item()}


@experiment(within=0.01)
def averages() -> Row:
    """Accuracy in % after powers of Kipf and Welling's average, without weights."""
    graph, times = digits(), (2, 32, 64, 256, 1024, 2048)
    joined = Graph.undirected(graph.x, graph.pairs)
    hat = joined.adjacency().double() + torch.eye(len(graph.digit)).double()
    S = hat / (hat.sum(0) * hat.sum(1)[:, None]).sqrt()
    convolution = GCNConv(64, 64).double()
    with torch.no_grad():
        convolution.linear.weight.copy_(torch.eye(64))
        off = (S @ graph.x - convolution(joined)).abs().max().item()
    values, modes = torch.linalg.eigh(S)
    tested = [
        read_out(modes @ (values[:, None] ** k * (modes.T @ graph.x)), graph.digit, split_of())[1]
        for k in times
    ]
    found = dict(zip(times, percent(tested)["mean"], strict=True))
    row = {f"plain_{k}": mean for k, mean in found.items()} | {"off_the_layer": off}
    for k, each in zip(times[:2], tested, strict=False):
        first = 100 * each[:5]
        row |= {f"averages_{k}": first.mean().item(), f"spread_{k}": first.std().item()}
    return row


@experiment(EACH_FLOW, within=0.01)
def mean_over_layers(*, flow: str) -> Row:
    """Accuracy in % of a readout from the mean of all layers."""
    tested = [behind(over_layers(flow, depth, STEP)) for depth in DEPTHS]
    lead, _ = gap(tested[-1], spread_on_twenty())
    row = {**percent(tested), "less_spreading": lead}
    return row | {f"read_{flow}": row["mean"][-1]}


@experiment([{"flow": "wave"}, {"flow": "heat"}], within=0.01)
def mean_over_a_long_time(*, flow: str) -> Row:
    """Accuracy in % from the mean of a flow over a time of 4,096."""
    rate, floor = digits().rate, 1e-9
    faded = -torch.expm1(-4096 * rate) / (4096 * rate).clamp(min=floor)
    means = {
        "wave": torch.sinc(4096 * rate.sqrt() / torch.pi),
        "heat": torch.where(rate < floor, 1, faded),
    }
    return {f"long_{flow}": 100 * behind(means[flow]).mean().item()}


@cache
def candidates(flow: str) -> list[Tensor]:
    """Features after 256 layers: for each time of the grid, the last layer and the mean."""
    graph = digits()
    return [
        graph.through(factor)
        for time in GRID
        for factor in (
            layer_filter(flow, graph.rate, 256, time / 256),
            over_layers(flow, 256, time / 256),
        )
    ]


@experiment(
    [{"labels": 10, "draws": 2}, *({"labels": labels, "draws": 60} for labels in (10, 20, 50))],
    within=0.03,
)
def all_tuned(*, labels: int, draws: int) -> Row:
    """Each flow and each other method tuned: accuracy in %, and the leads between them."""
    drawn = split_of(labels, range(1000, 1000 + draws))
    few = tuple(rows[:20] for rows in drawn)
    digit = digits().digit
    tested = {flow: choose([read_out(h, digit, drawn) for h in candidates(flow)]) for flow in FLOWS}
    tested["label_spreading"] = choose(spread_labels(drawn))
    tested |= baselines(few)
    tested["all_labels"] = fitted_to_pixels(SVC(C=10), few, torch.cat(few, dim=1))[1]
    row = {}
    for name, values in tested.items():
        row[name], row[f"{name}_std"] = 100 * values.mean().item(), 100 * values.std().item()
    behind_all = []
    for name in FLOWS:
        lead, error = gap(tested[name], tested["label_spreading"])
        row[f"{name}_lead"], row[f"{name}_lead_in_errors"] = lead, lead / error
        behind_all.append(gap(tested["all_labels"], tested[name][: len(few[0])]))
    ahead = [
        gap(tested[name][: len(few[0])], tested[weak])
        for name in (*FLOWS, "label_spreading")
        for weak in ("nearest_labels", "logistic_regression")
    ]
    for name, gaps in (("graph_lead", ahead), ("all_lead", behind_all)):
        leads = [lead for lead, _ in gaps]
        row |= {f"{name}_least": min(leads), f"{name}_most": max(leads)}
        row[f"{name}_in_errors"] = min(lead / error for lead, error in gaps)
    return row


KINDS = {
    "usual": "as usual",
    "alone": "without the graph",
    "identity": "from the identity",
    "neither": "identity, no graph",
}
CASES = [{"kind": kind, "layers": layers} for layers in (2, 32) for kind in KINDS]


@cache
def trained() -> dict[tuple[str, int, int], dict[str, Tensor]]:
    """Results of scripts/data/train_deep_networks.py in five draws, by kind, layers and steps."""
    return {
        (row["kind"], row["layers"], row["steps"]): {
            name: torch.tensor(value) for name, value in row.items() if isinstance(value, list)
        }
        for row in json.loads((DATA / "deep_networks.json").read_text())["rows"]
    }


@experiment(CASES)
def deep_networks(*, kind: str, layers: int) -> Row:
    """Means over five draws of the results of scripts/data/train_deep_networks.py."""
    found = {steps: trained()[KINDS[kind], layers, steps] for steps in (60, 600, 1200)}
    row = {"called": KINDS[kind]}
    for steps, measured in found.items():
        right = 100 * measured["accuracy"]
        row |= {f"right_{steps}": right.mean().item(), f"spread_{steps}": right.std().item()}
    last = found[1200]
    learned = last["loss"] < LEARNED
    means = {name: last[name].mean() for name in ("loss", "cosine_before", "roughness_before")}
    return row | {
        "least_loss_60": found[60]["loss"].min().item(),
        "loss_60": found[60]["loss"].mean().item(),
        "learned": learned.sum().item(),
        "best_learned": 100 * (last["accuracy"] * learned).max().item(),
        "cosine_most": last["cosine_before"].max().item(),
        **{name.removesuffix("_before"): value.item() for name, value in means.items()},
    }


@experiment()
def deep_networks_draw_by_draw() -> Row:
    """The least lead of one deep network over another in five draws, in points."""

    def right(kind: str, layers: int) -> Tensor:
        return 100 * trained()[KINDS[kind], layers, 1200]["accuracy"]

    pairs = {
        "two_layers": (right("usual", 2), right("usual", 32)),
        "graph": (right("usual", 32), right("alone", 32)),
        "graph_from_identity": (right("identity", 32), right("neither", 32)),
        "identity": (right("identity", 32), right("usual", 2)),
    }
    return {name: (one - other).min().item() for name, (one, other) in pairs.items()}


@experiment([{"shape": "path"}, {"shape": "triangle"}])
def three_nodes(*, shape: str) -> Row:
    """The time for heat on three nodes to come within 1 % of its first distance from the mean."""
    edges = {"path": [[0, 1], [1, 2]], "triangle": [[0, 1, 2], [1, 2, 0]]}[shape]
    rates, shapes = eigenmodes(torch.tensor(edges), 3, node_weights=torch.ones(3).double())
    start = shapes.T @ torch.tensor([1.0, 0.0, 0.0]).double()
    t = torch.linspace(0, 10, 100_001).double()
    far = (torch.exp(-rates[1:, None] * t) * start[1:, None]).norm(dim=0)
    return {"eigenvalues": rates.tolist(), "time": t[(far < 0.01 * far[0]).nonzero()[0, 0]].item()}


@experiment([{"time": 4}, {"time": 16}, {"time": 64}], within=0.05)
def rewound(*, time: int) -> Row:
    """The error of the pixels after heat and the same time backwards, as a power of ten."""
    graph = digits()
    coordinates = graph.spectrum(graph.through(time_filter("heat", graph.rate, time)))
    again = graph.modes @ (torch.exp(time * graph.rate)[:, None] * coordinates)
    return {"power": ((again - graph.x).norm() / graph.x.norm()).log10().item()}


@experiment()
def neighbours_that_differ() -> Row:
    """The alternating field on a ring after steps of heat, and the largest eigenvalue."""
    ring = torch.stack([torch.arange(20), (torch.arange(20) + 1) % 20])
    both = torch.cat([ring, ring.flip(0)], dim=1)
    heat = Diffusion(both, weights=edge_softmax(torch.zeros(40).double(), both[1], 20))
    field = ((-1.0) ** torch.arange(20).double())[:, None]
    weights = attention_metric(torch.zeros(20).double(), ring, 20)
    rates, _ = eigenmodes(ring, 20, node_weights=weights[0], edge_weights=weights[1])
    left = {step: (euler_step(heat, field, step) * field).mean().item() for step in (0.5, 1.0)}
    return {"half": left[0.5], "whole": left[1.0], "largest": rates[-1].item()}


if __name__ == "__main__":
    compute(__file__, globals(), sys.argv[1:])
