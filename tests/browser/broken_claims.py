"""The error of each claim of BreakIt on a case, by course_lib."""

from collections.abc import Callable
from functools import partial, reduce
from itertools import combinations
from typing import Any

import numpy as np
import torch
from in_the_page import tensor
from torch import Tensor
from torch.distributions import Normal, kl_divergence
from torch.nn import functional as F

from course_lib import mechanics, symplectic
from course_lib.attention import attention, attention_weights, causal_mask, gated_memory
from course_lib.autoencoder import kl_to_standard_normal
from course_lib.basis import hat, softmax_basis
from course_lib.generation import accept_or_replace, exact_distribution
from course_lib.graph import neighbour_sum
from course_lib.graph_dynamics import divergence, gradient
from course_lib.jets import SMALLEST, boosted_along_beam, delta_phi, measured, pairwise_features
from course_lib.light_curves import phase
from course_lib.position import rotary, sinusoidal
from course_lib.recurrent import RNN, linear_recurrence, parallel_scan
from course_lib.tiled_attention import finish, merge, partial_attention

Case = dict[str, Any]
RESIDUALS: dict[str, Callable[[Case, float], Tensor | float]] = {}


def residual(claim: str, case: Case, bend: float) -> float:
    """The error of a claim on a case, with its assumption bent."""
    return float(RESIDUALS[claim](case, bend))


def of(claim: str) -> Callable[[Any], Any]:
    def known(function: Any) -> Any:
        RESIDUALS[claim] = function
        return function

    return known


# Lecture 1 ---------------------------------------------------------------------------------------


@of("softmax-shares")
def _(case: Case, bend: float) -> Tensor:
    def shares(score: Tensor) -> Tensor:
        if not bend:
            return attention_weights(score.new_ones(1, 1), score[:, None], scale=1.0)[0]
        gates = gated_memory(torch.eye(len(score), dtype=score.dtype), score)
        return gates / gates.sum()

    score = tensor(case["score"])
    return (shares(score + case["shift"]) - shares(score)).abs().max()


@of("equal-lengths")
def _(case: Case, bend: float) -> Tensor:
    query, angle, temperature = tensor([case["query"]]), tensor(case["angle"]), case["temperature"]
    length = 1 + 0.9 * bend * tensor(case["length"])
    key = length[:, None] * torch.stack([angle.cos(), angle.sin()], -1)
    square = key.square().sum(-1)[None]
    by_distance = attention_weights(query, key, scale=2 / temperature, bias=-square / temperature)
    return (by_distance - attention_weights(query, key, scale=2 / temperature)).abs().max()


# Lectures 2, 5 and 7: self-attention of tokens that are query, key and value at once --------------


def attended(x: Tensor, mask: Tensor | None = None) -> Tensor:
    return attention(x, x, x, mask=mask)


def reordered(case: Case, layer: Callable[[Tensor], Tensor]) -> Tensor:
    x, order = tensor(case["x"]), case["order"]
    return (layer(x[order]) - layer(x)[order]).abs().max()


@of("causal-past")
def _(case: Case, bend: float) -> Tensor:
    x, t = tensor(case["x"]), case["t"] + 1
    mask = torch.ones(len(x), len(x), dtype=torch.bool).tril(int(bend))
    changed = torch.cat([x[:t], tensor(case["other"])[t:]])
    return (attended(x, mask) - attended(changed, mask))[:t].abs().max()


@of("any-order")
def _(case: Case, bend: float) -> Tensor:
    mask = causal_mask(len(case["x"])) if bend else None
    return reordered(case, lambda x: attended(x, mask))


@of("places-do-not-matter")
def _(case: Case, bend: float) -> Tensor:
    def told(x: Tensor) -> Tensor:
        return attended(x + bend * sinusoidal(len(x), 2, dtype=x.dtype)[:, : x.shape[1]])

    return reordered(case, told)


@of("difference-alone")
def _(case: Case, bend: float) -> Tensor:
    q, k = tensor(case["q"]).reshape(1, -1), tensor(case["k"]).reshape(1, -1)
    by = tensor([0, case["move"]])
    queries = rotary(q.expand(2, -1), position=(1 + bend) * (case["s"] + by))
    keys = rotary(k.expand(2, -1), position=case["t"] + by)
    here, there = (queries * keys).sum(-1)
    return (here - there).abs()


@of("cache-pieces")
def _(case: Case, bend: float) -> Tensor:
    x, cut = tensor(case["x"]), case["cut"]
    second, kept = x[cut:], x[int(bend) :]
    mask = torch.ones(len(second), len(kept), dtype=torch.bool).tril(len(kept) - len(second))
    pieces = attention(second, kept, kept, mask=mask)
    return (attended(x, causal_mask(len(x)))[cut:] - pieces).abs().max()


@of("draft-and-judge")
def _(case: Case, bend: float) -> Tensor:
    p, q = (tensor(case[name]) / sum(case[name]) for name in "pq")
    if not bend:
        outcomes = exact_distribution(
            lambda choose: accept_or_replace(int(choose(q)), p, q, choose=choose)[0]
        )
        found = tensor([outcomes.get(v, 0.0) for v in range(len(p))])
    else:
        kept = q * (p / q + bend).clamp(max=1)
        left = (p - q).clamp(min=0)
        found = kept + (1 - kept.sum()) * (left / left.sum() if left.sum() > 0 else left)
    return (found - p).abs().max()


# Lecture 3 ---------------------------------------------------------------------------------------


@of("hats-are-straight")
def _(case: Case, bend: float) -> Tensor:
    nodes, y, x = (tensor(case[name]) for name in ("nodes", "y", "x"))
    basis = partial(softmax_basis, temperature=nodes.diff().mean().item() ** 2) if bend else hat
    return (basis(x[None], nodes) @ y - np.interp(x, nodes, y)).abs().max()


@of("basis-is-attention")
def _(case: Case, bend: float) -> Tensor:
    x, nodes, temperature = tensor([case["x"]]), tensor(case["nodes"]), case["temperature"]
    weights = attention_weights(
        x[:, None],
        nodes[:, None],
        scale=2 / temperature,
        bias=-(1 - bend) * nodes.square()[None] / temperature,
    )
    return (weights - softmax_basis(x, nodes, temperature)).abs().max()


# Lecture 4 ---------------------------------------------------------------------------------------


@of("read-in-pieces")
def _(case: Case, bend: float) -> Tensor:
    network, rows = RNN(2, 2).double(), tensor(case["rows"])
    parts = rows[:, :2], rows[:, 2:4], rows[:, 4], rows[:, 5]
    names = "weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"
    network.load_state_dict(dict(zip(names, parts, strict=True)))
    x, cut = torch.eye(2, dtype=rows.dtype)[case["text"]], case["cut"]
    with torch.no_grad():
        _, between = network(x[:cut])
        _, found = network(x[cut:], (1 - bend) * between)
        return (found - network(x)[1]).abs().max()


@of("any-grouping")
def _(case: Case, bend: float) -> Tensor:
    keep, add = (tensor(case[name])[:, None] for name in ("keep", "add"))
    if not bend:
        return (linear_recurrence(keep, add) - parallel_scan(keep, add)).abs().max()

    def join(first: tuple[Tensor, Tensor], second: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        return second[0] * first[0], (second[0] * first[1] + second[1]).tanh()

    steps = list(zip(keep, add, strict=True))
    from_left = reduce(join, steps)[1]
    from_right = reduce(lambda later, earlier: join(earlier, later), steps[::-1])[1]
    return (from_left - from_right).abs().max()


# Lecture 6 ---------------------------------------------------------------------------------------


@of("padding")
def _(case: Case, bend: float) -> Tensor:
    x, padding = tensor(case["x"]), tensor(case["padding"])
    valid = torch.arange(len(x) + len(padding)) < len(x) + bend * len(padding)
    beside = attended(torch.cat([x, padding]), valid.expand(len(valid), -1))
    return (beside[: len(x)] - attended(x)).abs().max()


@of("all-paths")
def _(case: Case, bend: float) -> Tensor:
    layers = tensor(case["layers"])

    def stack(x: Tensor) -> Tensor:
        for J in layers:
            x = (1 - bend) * x + J @ x
        return x

    eye = torch.eye(layers.shape[1], dtype=layers.dtype)
    paths = sum(
        reduce(lambda path, J: J @ path, chosen, eye)
        for size in range(len(layers) + 1)
        for chosen in combinations(layers, size)
    )
    return (torch.autograd.functional.jacobian(stack, eye[0]) - paths).abs().max()


# Lectures 8 and 9 --------------------------------------------------------------------------------


def edges_of(case: Case) -> Tensor:
    return torch.tensor(case["edges"], dtype=torch.int64).reshape(-1, 2).T


def rounds_of(x: Tensor, edges: Tensor, rounds: int) -> Tensor:
    for _ in range(rounds):
        x = x + neighbour_sum(x, torch.cat([edges, edges.flip(0)], 1))
    return x


@of("renumbered")
def _(case: Case, bend: float) -> Tensor:
    x, edges, order = tensor(case["x"]), edges_of(case), torch.tensor(case["order"])

    def layer(x: Tensor, edges: Tensor) -> Tensor:
        number = torch.zeros_like(x)
        number[:, 0] = bend * torch.arange(len(x))
        return rounds_of(x + number, edges, 1)

    return (layer(x[order], order.argsort()[edges]) - layer(x, edges)[order]).abs().max()


@of("two-rounds")
def _(case: Case, bend: float) -> Tensor:
    x, edges, start = tensor(case["x"]), edges_of(case), case["from"]
    nodes = len(x)
    walks = rounds_of(torch.eye(nodes, dtype=x.dtype), edges, 2)
    if bend:
        x = torch.cat([x, torch.zeros_like(x[:1])])
        hub = torch.stack([torch.arange(nodes), torch.full((nodes,), nodes)])
        edges = torch.cat([edges, hub], 1)
    nudged = x.clone()
    nudged[start] += 1
    moved = (rounds_of(nudged, edges, 2) - rounds_of(x, edges, 2))[:nodes]
    far = walks[:, start] == 0
    return moved[far].abs().max() if far.any() else tensor(0.0)


@of("adjoint")
def _(case: Case, bend: float) -> Tensor:
    f, g = tensor(case["f"])[:, None], tensor(case["g"])
    edges = torch.triu_indices(len(f), len(f), 1)
    flow = g[*edges][:, None]
    inflow = divergence(flow, edges, len(f))
    inflow = inflow - bend * torch.zeros_like(inflow).index_add(0, edges[1], flow)
    return ((f * inflow).sum() - (gradient(f, edges) * flow).sum()).abs()


@of("wave-energy")
def _(case: Case, bend: float) -> Tensor:
    q, edges = tensor(case["q"]), edges_of(case)
    d = gradient(torch.eye(len(q), dtype=q.dtype), edges)
    size = len(q) + len(d)
    J = torch.zeros(size, size, dtype=q.dtype)
    J[: len(q), len(q) :], J[len(q) :, : len(q)] = -d.T, d
    law = J + J @ J if bend else J
    start = torch.cat([q, q.new_zeros(len(d))])
    end = torch.linalg.matrix_exp(case["t"] * law) @ start
    return (end @ end - start @ start).abs() / 2


# Lecture 10 --------------------------------------------------------------------------------------


@of("price-of-a-cloud")
def _(case: Case, bend: float) -> Tensor:
    mean, sigma = tensor(case["mean"]), tensor(case["sigma"])
    price = kl_to_standard_normal(mean, (1 if bend else 2) * sigma.log())
    exact = kl_divergence(Normal(mean, sigma), Normal(torch.zeros_like(mean), 1.0)).sum()
    return (price - exact).abs()


@of("beta-is-noise")
def _(case: Case, bend: float) -> Tensor:
    x, guess, kl = (tensor(case[name]) for name in ("x", "guess", "kl"))
    variance, beta = case["variance"], case["beta"]

    def gain(noise: float, weight: float) -> Tensor:
        one, other = Normal(guess, noise**0.5).log_prob(x).sum(-1) - weight * kl
        return one - other

    noise = variance if bend else beta * variance
    return (gain(variance, beta) - beta * gain(noise, 1.0)).abs()


# Lecture 11 --------------------------------------------------------------------------------------


def swing(case: Case) -> tuple[mechanics.Pendulum, Tensor, Tensor]:
    return mechanics.Pendulum(), tensor([case["q"]]), tensor([case["p"]])


@of("step-areas")
def _(case: Case, bend: float) -> float:
    pendulum, q, p = swing(case)

    def with_friction(q: Tensor, p: Tensor) -> tuple[Tensor, Tensor]:
        q, p = mechanics.stoermer_verlet(pendulum, q, p, case["h"])
        return q, p * (1 - bend * case["h"])

    return mechanics.symplecticity_error(with_friction, q, p)


@of("there-and-back")
def _(case: Case, bend: float) -> Tensor:
    pendulum, q, p = swing(case)
    step = mechanics.symplectic_euler if bend else mechanics.stoermer_verlet
    there, momentum = step(pendulum, q, p, case["h"])
    back, reversed_momentum = step(pendulum, there, -momentum, case["h"])
    return torch.cat([back - q, -reversed_momentum - p]).abs().max()


# Lecture 12 --------------------------------------------------------------------------------------


Force = Callable[[Tensor], Tensor]


def shortcut_force(z: Tensor, A: Tensor, softmax: str) -> Tensor:
    """2 Sᵀ Z A, twice standard attention, which course_lib does not contain."""
    C = z @ A @ z.mT
    scores = C.flatten(-2)[..., None] if softmax == "matrix" else C
    partition = torch.logsumexp(F.pad(scores, (0, 0, 1, 0)), dim=-2, keepdim=True)
    return 2 * (C - partition).exp().mT @ z @ A


def force_of(A: Tensor, softmax: str, formula: str) -> Force:
    """The force on the tokens of a window."""
    if formula == "full":
        return lambda z: -symplectic.symplectic_attention(z, A, softmax=softmax)
    return lambda z: -shortcut_force(z, A, softmax)


def asymmetry(force: Force, z: Tensor) -> float:
    M = torch.autograd.functional.jacobian(force, z).reshape(z.numel(), z.numel())
    return float((M - M.mT).norm() / (M.norm() or 1))


@of("symmetric-matrix")
def _(case: Case, bend: float) -> float:
    A = tensor(case["A"])
    A = (A + A.mT) / 2 + bend * (A - A.mT) / 2
    return asymmetry(force_of(A, "matrix", "shortcut" if bend else "full"), tensor(case["z"]))


@of("both-terms")
def _(case: Case, bend: float) -> float:
    force = force_of(tensor(case["A"]), "vector", "shortcut" if bend else "full")
    return asymmetry(force, tensor(case["z"]))


# Lecture 13 --------------------------------------------------------------------------------------


@of("pairs-boosted")
def _(case: Case, bend: float) -> Tensor:
    pt, y, phi, mass = (tensor(case[name]) for name in ("pt", "y", "phi", "mass"))
    transverse = torch.hypot(pt, mass)
    sides = (transverse * y.cosh(), pt * phi.cos(), pt * phi.sin(), transverse * y.sinh())
    momenta = torch.stack(sides, dim=-1)

    def features(momenta: Tensor) -> Tensor:
        known = pairwise_features(momenta)[0, 1].clone()
        if bend:
            eta = measured(momenta).eta
            distance = torch.hypot(eta[0] - eta[1], delta_phi(phi[0], phi[1]))
            floor = torch.tensor([SMALLEST], dtype=pt.dtype)
            known[0] = torch.maximum(distance, floor).log()
            known[1] = torch.maximum(pt.min() * distance, floor).log()
        return known

    moved = boosted_along_beam(momenta, case["shift"])
    return (features(moved) - features(momenta)).abs().max()


@of("jet-order")
def _(case: Case, bend: float) -> Tensor:
    x, pairs, order = tensor(case["x"]), tensor(case["pairs"]), torch.tensor(case["order"])

    def pooled(x: Tensor, pairs: Tensor) -> Tensor:
        return attention(x, x, x, bias=pairs).mean(0)

    moved = pairs if bend else pairs[order][:, order]
    return (pooled(x[order], moved) - pooled(x, pairs)).abs().max()


# Lecture 14 --------------------------------------------------------------------------------------


@of("same-phase")
def _(case: Case, bend: float) -> Tensor:
    period = tensor(case["period"])
    nights = tensor([case["night"], case["night"] + case["turns"] * case["period"]])
    one, other = phase(nights, period * (1 + bend / 10))
    off = (one - other).abs()
    return torch.minimum(off, 1 - off)


@of("hidden-stay-hidden")
def _(case: Case, bend: float) -> Tensor:
    visible = tensor(case["visible"])
    seen = (torch.arange(len(visible) + 1) < len(visible)).expand(len(visible) + 1, -1)

    def said(magnitude: float) -> Tensor:
        tokens = torch.cat([visible, tensor([[case["date"], bend * magnitude]])])
        return (tokens + attended(tokens, seen))[:, 1]

    return (said(case["after"]) - said(case["before"])).abs().max()


# Lecture 15 --------------------------------------------------------------------------------------


def asked(case: Case) -> tuple[Tensor, Tensor, Tensor]:
    return tensor([case["query"]]), tensor(case["key"]), tensor(case["value"])


@of("order-of-tiles")
def _(case: Case, bend: float) -> Tensor:
    query, key, value = asked(case)
    reports = [partial_attention(query, key[[j]], value[[j]], scale=1.0) for j in case["order"]]
    found = finish(reduce(merge, reports))
    if bend:
        found = sum(report.output for report in reports) / len(reports)
    return (found - attention(query, key, value, scale=1.0)).abs().max()


@of("keys-shared-out")
def _(case: Case, bend: float) -> Tensor:
    query, key, value = asked(case)
    parts = [
        partial_attention(query, key[part], value[part], scale=1.0)
        for part in (slice(case["cut"]), slice(case["cut"], None))
    ]
    found = finish(merge(*parts))
    if bend:
        found = (finish(parts[0]) + finish(parts[1])) / 2
    return (found - attention(query, key, value, scale=1.0)).abs().max()
