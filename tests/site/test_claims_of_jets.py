"""Each claim of lecture 13 holds for the library and falls to an implementation that is wrong."""

from collections.abc import Callable
from functools import wraps

import pytest
import torch
from claims import claims, holds_and_falls
from torch import Tensor, nn

from course_lib.jets import SMALLEST, pairwise_features
from course_lib.jets import kinematics as library
from course_lib.jets import particle_transformer as network
from course_lib.transformer import parts as transformer_parts

pytestmark = pytest.mark.slow

LECTURE = "13_jets"
Network = network.ParticleTransformer


# Wrong implementations ------------------------------------------------------------------------


def euclidean(momenta: Tensor) -> Tensor:
    """The Euclidean square: E² + |p|²."""
    return momenta.square().sum(dim=-1)


def galilean(momenta: Tensor, velocity: tuple) -> Tensor:
    """A Galilean boost: velocities add, and energy stays."""
    beta = torch.tensor(velocity, dtype=momenta.dtype)
    return torch.cat([momenta[..., :1], momenta[..., 1:] + beta * momenta[..., :1]], dim=-1)


def as_it_is(momenta: Tensor, _: object) -> Tensor:
    """No boost and no rotation."""
    return momenta


def pseudorapidity(momenta: Tensor) -> Tensor:
    return library.measured(momenta).eta


def without_half(momenta: Tensor) -> Tensor:
    return 2 * library.rapidity(momenta)


def by_pseudorapidity(first: Tensor, second: Tensor) -> Tensor:
    turn = library.delta_phi(*(library.measured(p).phi for p in (first, second)))
    return torch.hypot(pseudorapidity(first) - pseudorapidity(second), turn)


def the_long_way(first: Tensor, second: Tensor) -> Tensor:
    turn = library.measured(first).phi - library.measured(second).phi
    return torch.hypot(library.rapidity(first) - library.rapidity(second), turn)


def both_summed(first: Tensor, second: Tensor) -> Tensor:
    turn = library.delta_phi(*(library.measured(p).phi for p in (first, second)))
    return (library.rapidity(first) - library.rapidity(second)).abs() + turn.abs()


def pairs_by(change: Callable[[Tensor, Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """The features of pairs after ``change(features, momenta)``."""

    # The lecture lists the source, which stays that of the library.
    @wraps(pairwise_features)
    def wrong(momenta: Tensor) -> Tensor:
        return change(pairwise_features(momenta).clone(), momenta)

    return wrong


def with_eta(found: Tensor, momenta: Tensor) -> Tensor:
    distance = by_pseudorapidity(momenta[..., :, None, :], momenta[..., None, :, :])
    found[..., 0] = distance.clamp(min=SMALLEST).log()
    return found


def of_the_mass(found: Tensor, _: Tensor) -> Tensor:
    found[..., 3] = found[..., 3] / 2
    return found


bias = Network.bias
forward = transformer_parts.BlockAttention.forward
weights = transformer_parts.BlockAttention.weights


def halved_bias(model: nn.Module, pairs: Tensor | None, *, like: Tensor) -> Tensor | None:
    found = bias(model, pairs, like=like)
    return None if found is None else found / 2


def bias_by_place(model: nn.Module, pairs: Tensor | None, *, like: Tensor) -> Tensor | None:
    found = bias(model, pairs, like=like)
    return None if found is None else found + torch.arange(found.shape[-1])


def deaf_to_masks(layer: nn.Module, *given: Tensor, mask: Tensor, **others: object) -> Tensor:  # noqa: ARG001
    return forward(layer, *given, **others)


def summed(layer: nn.Module, x: Tensor, context: Tensor | None = None, **chosen: object) -> Tensor:
    """Weights that do not sum to 1: the sum instead of the mean over particles."""
    found = forward(layer, x, context, **chosen)
    seen = x if context is None else context
    return found * seen.shape[-2]


def with_position(layer: nn.Module, x: Tensor, *others: Tensor, **chosen: object) -> Tensor:
    step = 0.1 * torch.arange(x.shape[-2], dtype=x.dtype)[:, None]
    return forward(layer, x + step, *others, **chosen)


def post_norm(layer: nn.Module, x: Tensor, *, mask: Tensor = None, bias: Tensor = None) -> Tensor:
    x = layer.norm(x + layer.attended(layer.attention(x, mask=mask, bias=bias)))
    return x + layer.mlp(x)


def unscaled_weights(layer: nn.Module, *given: Tensor, **chosen: object) -> Tensor:
    return weights(layer, *given, **chosen).square()


PAIRS = {
    "Δ by pseudorapidity": pairs_by(with_eta),
    "m for m²": pairs_by(of_the_mass),
}
ATTENTION = transformer_parts.BlockAttention
# For each claim a name in the lecture, or a module of the library and a name in it.
TABLE = {
    ("prop-mass", "mass_squared"): {"E² + p²": euclidean},
    ("prop-mass", "boosted"): {"Galilean": galilean, "none": as_it_is},
    ("prop-rapidity", "rapidity"): {
        "no half": without_half,
        "7 more": lambda momenta: library.rapidity(momenta) + 7,
    },
    ("prop-rapidity", "delta_r"): {
        "the long way": the_long_way,
        "squared": lambda first, second: library.delta_r(first, second).square(),
        "nothing": lambda first, second: 0 * library.delta_r(first, second),
        "L1": both_summed,
    },
    ("prop-rapidity", "rotated_about_beam"): {
        "none": as_it_is,
        "the other way": lambda p, angle: library.rotated_about_beam(p, -angle),
        "upside down": lambda p, angle: (
            library.rotated_about_beam(p, angle) * torch.tensor([1.0, 1, 1, -1])
        ),
    },
    ("prop-rapidity", "boosted_along_beam"): {
        "the other way": lambda p, shift: library.boosted_along_beam(p, -shift),
        "none": as_it_is,
    },
    ("prop-pair-features", "pairwise_features"): PAIRS,
    ("prop-pair-features", "boosted"): {"Galilean": galilean, "none": as_it_is},
    ("prop-pair-features", "boosted_along_beam"): {"none": as_it_is},
    ("prop-pair-features", "rotated_about_beam"): {"none": as_it_is},
    ("prop-authors", "pairwise_features"): {"m for m²": PAIRS["m for m²"]},
    ("prop-authors", (Network, "bias")): {"half the bias": halved_bias},
    ("prop-authors", (network.ParticleAttentionBlock, "forward")): {"post-norm": post_norm},
    ("prop-authors", (ATTENTION, "forward")): {"no mask": deaf_to_masks},
    ("prop-jet-set", (Network, "bias")): {"a bias by place": bias_by_place},
    ("prop-jet-set", (ATTENTION, "forward")): {"positions": with_position},
    ("prop-empty", (ATTENTION, "forward")): {"no mask": deaf_to_masks},
    ("prop-count", (ATTENTION, "forward")): {"a sum for a mean": summed},
    ("prop-count", (ATTENTION, "weights")): {"squared weights": unscaled_weights},
}
WRONG = {
    f"{label}, {name}: {case}": (label, {name: wrong})
    for (label, name), cases in TABLE.items()
    for case, wrong in cases.items()
}


@pytest.mark.parametrize("label", claims(LECTURE))
def test_a_claim_holds_for_the_library_and_falls_to_what_is_wrong(label: str) -> None:
    holds_and_falls(LECTURE, label, WRONG)
