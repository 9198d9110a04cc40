r"""Handwritten digits as nodes of a graph, smoothed by flows and then classified.

A flow that is linear multiplies each mode of the graph by a number: it is a filter. Ridge
regression predicts the classes from filtered pixels.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

import torch
from jaxtyping import Float, Float64, Int
from torch import Tensor
from torch.nn import functional as F

from course_lib.graph_dynamics import attention_metric, eigenmodes, equilibrium, gradient
from course_lib.support.checks import check_finite, check_index, check_some
from course_lib.support.contracts import Count, Size, checked

Flow = Literal["heat", "wave", "bracket"]
FLOWS = get_args(Flow)
RIDGES = tuple(10.0**power for power in range(-6, 2))
VALIDATION = 300
"""The number of digits in every draw that are for validation."""

Split = tuple[Int[Tensor, "draws labels"], Int[Tensor, "draws validation"]]


@dataclass(frozen=True)
class DigitGraph:
    """Digits, the graph that joins each to its nearest neighbours, its metric, and its modes."""

    pixels: Float[Tensor, "nodes 64"]
    digit: Int[Tensor, "nodes"]
    pairs: Int[Tensor, "2 pairs"]
    metric: dict[str, Tensor]
    rate: Float[Tensor, "nodes"]
    modes: Float[Tensor, "nodes nodes"]

    @property
    def nodes(self) -> int:
        """The number of digits."""
        return len(self.digit)

    @cached_property
    def x(self) -> Float[Tensor, "nodes 64"]:
        """The pixels less their mean, which no flow changes."""
        middle = equilibrium(self.pixels, self.pairs, node_weights=self.metric["node_weights"])
        return self.pixels - middle

    @checked
    def spectrum(self, field: Float[Tensor, "nodes d"]) -> Float[Tensor, "nodes d"]:
        """The coefficient of each mode in a field."""
        return self.modes.T @ (self.metric["node_weights"][:, None] * field)

    @cached_property
    def _own(self) -> Float[Tensor, "nodes 64"]:
        return self.spectrum(self.x)

    @checked
    def through(self, factor: Float[Tensor, "nodes"]) -> Float[Tensor, "nodes 64"]:
        """The centred pixels after a filter that multiplies each mode by a factor."""
        return self.modes @ (factor[:, None] * self._own)


@checked
def digit_graph(neighbours: Size = 8) -> DigitGraph:
    r"""Join each of the 1,797 digits to those whose pixels are nearest; attention is the metric.

    The scores are $-\lVert x_i - x_j \rVert^2 / \tau$ with half the median squared distance as
    $\tau$.
    """
    from sklearn.datasets import load_digits
    from sklearn.neighbors import kneighbors_graph

    pixels, digit = (torch.from_numpy(array) for array in load_digits(return_X_y=True))
    pixels = pixels / 16
    nearest = kneighbors_graph(pixels, neighbours).tocoo()
    found = torch.stack([torch.from_numpy(end).long() for end in (nearest.row, nearest.col)])
    pairs = found.sort(dim=0).values.unique(dim=1)
    distance = gradient(pixels, pairs).square().sum(1)
    weights = attention_metric(-distance / (distance.median() / 2), pairs, len(pixels))
    metric = dict(zip(("node_weights", "edge_weights"), weights, strict=True))
    rate, modes = eigenmodes(pairs, len(pixels), **metric)
    return DigitGraph(pixels, digit, pairs, metric, rate.clamp(min=0), modes)


@checked
def layer_filter(
    flow: Flow, rate: Float[Tensor, "modes"], layers: Count, step: float
) -> Float[Tensor, "modes"]:
    """The factor by which ``layers`` steps of a flow multiply the mode of each eigenvalue.

    Heat and bracket take explicit Euler steps, the wave Störmer–Verlet steps, which are stable up
    to a step of 2 over the largest frequency. Raises ``ValueError`` for a longer one.
    """
    frequency = _frequency(rate)
    if flow == "wave" and (abs(step) * frequency > 2).any():  # noqa: PLR2004 - the limit of stability
        raise ValueError(
            f"step is {step}; expected {2 / frequency.max():.3g} at most, beyond which the waves "
            "of this graph grow; choose a shorter one"
        )
    match flow:
        case "heat":
            return (1 - step * rate) ** layers
        case "wave":
            return torch.cos(2 * layers * torch.arcsin(step * frequency / 2))
        case _:
            return (torch.complex(1 - step * rate, step * frequency) ** layers).real


@checked
def time_filter(flow: Flow, rate: Float[Tensor, "modes"], time: float) -> Float[Tensor, "modes"]:
    """The same factor for the exact flow after a time."""
    fade, swing = torch.exp(-time * rate), torch.cos(time * _frequency(rate))
    return {"heat": fade, "wave": swing, "bracket": fade * swing}[flow]


def _frequency(rate: Tensor) -> Tensor:
    """How fast waves oscillate in each mode; the rates are eigenvalues of a Laplacian."""
    if (rate < 0).any():
        raise ValueError(
            f"rate has {rate.min():.3g}; expected eigenvalues of 0 or more; pass those of "
            "eigenmodes, with rate.clamp(min=0) where rounding left them below"
        )
    return rate.sqrt()


@checked
def draw_labels(digit: Int[Tensor, "nodes"], count: Size, draws: Sequence[int]) -> Split:
    """For each draw a split: equally many labels of each class, and validation digits."""
    check_some(draws=draws)
    known, validation = [], []
    for value in draws:
        order = torch.randperm(len(digit), generator=torch.Generator().manual_seed(value))
        others = order[VALIDATION:]
        known.append(torch.cat([others[digit[others] == k][: count // 10] for k in range(10)]))
        validation.append(order[:VALIDATION])
    return torch.stack(known), torch.stack(validation)


@checked
def accuracies(
    answers: Int[Tensor, "draws nodes"], digit: Int[Tensor, "nodes"], split: Split
) -> tuple[Float64[Tensor, "draws"], Float64[Tensor, "draws"]]:
    """The accuracy of each draw on its validation digits and on its test digits."""
    known, validation = split
    check_index("split", torch.cat([known, validation], dim=1), len(digit), "the digits")
    right = (answers == digit).double()
    tested = right.new_ones(len(known), len(digit)).scatter(1, known, 0).scatter(1, validation, 0)
    return right.gather(1, validation).mean(1), (right * tested).sum(1) / tested.sum(1)


@checked
def read_out(
    h: Float[Tensor, "nodes d"],
    digit: Int[Tensor, "nodes"],
    split: Split,
    ridges: Sequence[float] = RIDGES,
) -> tuple[Float64[Tensor, "draws"], Float64[Tensor, "draws"]]:
    """Ridge regression from features to classes; validation digits choose the ridge of every draw.

    Returns :func:`accuracies`.
    """
    known, validation = split
    check_some(ridges=ridges)
    check_index("split", torch.cat([known, validation], dim=1), len(digit), "the digits")
    check_index("digit", digit, 10, "the ten digits")
    check_finite(h=h)
    onehot = F.one_hot(digit, 10).to(h)
    middle, target = h[known].mean(1, keepdim=True), onehot[known].mean(1, keepdim=True)
    seen, shown = h[known] - middle, h[validation] - middle
    values, vectors = torch.linalg.eigh(seen @ seen.mT)
    values = values.clamp(min=0)
    fitted = vectors.mT @ (onehot[known] - target)
    size = values.mean(-1, keepdim=True)
    damped = [vectors @ (fitted / (values + ridge * size)[..., None]) for ridge in ridges]
    weights = seen.mT @ torch.stack(damped)
    liked = (torch.einsum("bvf,rbfc->rbvc", shown, weights) + target).argmax(-1)
    best = (liked == digit[validation]).double().mean(-1).argmax(0)
    chosen = weights[best, torch.arange(len(known))]
    answers = torch.einsum("nf,bfc->bnc", h, chosen) + target - middle @ chosen
    return accuracies(answers.argmax(-1), digit, split)


@checked
def gap(one: Float[Tensor, "draws"], other: Float[Tensor, "draws"]) -> tuple[float, float]:
    """The mean difference of two accuracies over the draws, in points, and its standard error."""
    difference = 100 * (one - other)
    return difference.mean().item(), (difference.std() / len(difference) ** 0.5).item()
