"""What course_lib says of a case of BreakIt: by how much it misses the claim."""

from collections.abc import Callable
from typing import Any

import torch
from in_the_page import tensor
from torch import Tensor

from course_lib import mechanics
from course_lib.attention import attention_weights, gated_memory

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
