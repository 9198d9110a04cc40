"""What course_lib says of a case of BreakIt: by how much it misses the claim."""

from collections.abc import Callable
from functools import reduce
from typing import Any

import torch
from in_the_page import tensor
from torch import Tensor

from course_lib import mechanics, symplectic
from course_lib.attention import attention, attention_weights, causal_mask, gated_memory
from course_lib.position import rotary, sinusoidal
from course_lib.speculative_decoding import accept_or_replace, law_of
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
        outcomes = law_of(lambda choose: accept_or_replace(int(choose(q)), p, q, choose=choose)[0])
        found = tensor([outcomes.get(v, 0.0) for v in range(len(p))])
    else:
        kept = q * (p / q + bend).clamp(max=1)
        left = (p - q).clamp(min=0)
        found = kept + (1 - kept.sum()) * (left / left.sum() if left.sum() > 0 else left)
    return (found - p).abs().max()


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


def shortcut_force(z: Tensor, A: Tensor, softmax: str) -> Tensor:
    weights = (z @ A @ z.mT).exp()
    total = weights.sum() if softmax == "matrix" else weights.sum(0)
    return 2 * (weights / (1 + total)).mT @ z @ A


def asymmetry(force: Callable[[Tensor], Tensor], z: Tensor) -> float:
    M = torch.autograd.functional.jacobian(force, z).reshape(z.numel(), z.numel())
    return float((M - M.mT).norm() / (M.norm() or 1))


@of("symmetric-matrix")
def _(case: Case, bend: float) -> float:
    A = tensor(case["A"])
    A = (A + A.mT) / 2 + bend * (A - A.mT) / 2

    def force(z: Tensor) -> Tensor:
        if bend:
            return shortcut_force(z, A, "matrix")
        return symplectic.symplectic_attention(z, A, softmax="matrix")

    return asymmetry(force, tensor(case["z"]))


@of("both-terms")
def _(case: Case, bend: float) -> float:
    A = tensor(case["A"])

    def force(z: Tensor) -> Tensor:
        if bend:
            return shortcut_force(z, A, "vector")
        return symplectic.symplectic_attention(z, A, softmax="vector")

    return asymmetry(force, tensor(case["z"]))


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
