"""Each claim of lecture 1 holds for the library and falls to an implementation that is wrong."""

import pytest
from claims import claims, holds_and_falls
from torch import Tensor
from torch.nn import functional as F

from course_lib import attention as library

pytestmark = pytest.mark.slow
LECTURE = "01_soft_lookup"


def averaged(x: Tensor, decay: float) -> Tensor:
    return library.composite_memory(x, decay) / x.shape[-2]


def competing_gate(x: Tensor, gate: Tensor) -> Tensor:
    return (gate.softmax(-1)[..., None, :] @ x)[..., 0, :]


def oldest_first(x: Tensor, decay: float) -> Tensor:
    return library.composite_memory(x.flip(-2), decay)


def divided_by_scale(query: Tensor, key: Tensor, *, scale: float) -> Tensor:
    return library.attention_weights(query, key, scale=1 / scale)


def cosine(query: Tensor, key: Tensor, *, scale: float) -> Tensor:
    return library.attention_weights(query, F.normalize(key, dim=-1), scale=scale)


def without_bias(query: Tensor, key: Tensor, value: Tensor, **options: Tensor) -> Tensor:
    return library.attention(query, key, value, **options | {"bias": None})


WRONG = {
    "a mean for the sum": ("prop-composite", {"composite_memory": averaged}),
    "the oldest first": ("prop-forgetting", {"composite_memory": oldest_first}),
    "gates that compete": ("prop-gate", {"gated_memory": competing_gate}),
    "no choice at all": ("prop-threshold", {"pooled_memory": library.gated_memory}),
    "another temperature": (
        "prop-softmax",
        {"pooled_memory": lambda x, s: library.pooled_memory(x, s / 2)},
    ),
    "a composite inside": ("prop-hull", {"composite_memory": averaged}),
    "temperature for its inverse": ("prop-hard", {"attention_weights": divided_by_scale}),
    "attention by cosine": ("prop-similarity", {"attention_weights": cosine}),
    "no bias": ("prop-kernel", {"attention": without_bias}),
}


@pytest.mark.parametrize("label", claims(LECTURE))
def test_a_claim_holds_for_the_library_and_falls_to_a_wrong_implementation(label: str) -> None:
    holds_and_falls(LECTURE, label, WRONG)
