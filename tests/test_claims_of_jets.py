"""Each claim of lecture 13 holds for the library and falls to an implementation that is wrong."""

import math
from collections.abc import Callable
from functools import wraps

import pytest
import torch
from claims import check, claims
from torch import Tensor, nn

from course_lib import four_momenta as library
from course_lib import particle_transformer as network
from course_lib import transformer_parts
from course_lib.jets import SMALLEST, pairwise_features

LECTURE = "13_jets"
CLAIMS = claims(LECTURE)
Network = network.ParticleTransformer


# Wrong implementations ------------------------------------------------------------------------


def euclidean(momenta: Tensor) -> Tensor:
    """E² + |p|²."""
    return momenta.square().sum(dim=-1)


def transverse(momenta: Tensor) -> Tensor:
    """E² - pT²."""
    return momenta[..., 0].square() - momenta[..., 1:3].square().sum(dim=-1)


def root_of(square: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    return lambda momenta: square(momenta).clamp(min=0).sqrt()


def galilean(momenta: Tensor, velocity: tuple) -> Tensor:
    """The momentum of the past: what moves adds its velocity, and energy stays."""
    beta = torch.tensor(velocity, dtype=momenta.dtype)
    return torch.cat([momenta[..., :1], momenta[..., 1:] + beta * momenta[..., :1]], dim=-1)


def as_it_is(momenta: Tensor, _: object) -> Tensor:
    """No boost and no turn: nothing changes, and so nothing is shown."""
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


def pairs_by(change: Callable[[Tensor, Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """The features of pairs with something put wrong: ``change(features, momenta)``."""

    # The lecture lists the source, which is that of the library whatever is put wrong.
    @wraps(pairwise_features)
    def wrong(momenta: Tensor) -> Tensor:
        return change(pairwise_features(momenta).clone(), momenta)

    return wrong


def of_who_asks(found: Tensor, momenta: Tensor) -> Tensor:
    pt = library.transverse_momentum(momenta)
    found[..., 1] = (pt[..., :, None] * found[..., 0].exp()).log()
    return found


def with_energies(found: Tensor, momenta: Tensor) -> Tensor:
    energy = momenta[..., 0]
    both = energy[..., :, None] + energy[..., None, :]
    found[..., 2] = (torch.minimum(energy[..., :, None], energy[..., None, :]) / both).log()
    return found


def with_eta(found: Tensor, momenta: Tensor) -> Tensor:
    distance = by_pseudorapidity(momenta[..., :, None, :], momenta[..., None, :, :])
    found[..., 0] = distance.clamp(min=SMALLEST).log()
    return found


def of_the_mass(found: Tensor, _: Tensor) -> Tensor:
    found[..., 3] = found[..., 3] / 2
    return found


def twice_as_far(found: Tensor, _: Tensor) -> Tensor:
    """Every Δ doubled, and so every k_T."""
    found[..., :2] += math.log(2)
    return found


def in_another_order(found: Tensor, _: Tensor) -> Tensor:
    return found.roll(1, dims=-1)


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
    """Weights that do not sum to 1: as many times the mean as there are particles."""
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
    "who asks counts": pairs_by(of_who_asks),
    "energies in z": pairs_by(with_energies),
    "Δ by pseudorapidity": pairs_by(with_eta),
    "m for m²": pairs_by(of_the_mass),
    "Δ doubled": pairs_by(twice_as_far),
    "columns": pairs_by(in_another_order),
}
NAMES = {
    ("prop-mass", "mass_squared"): {"E² + p²": euclidean, "E² - pT²": transverse},
    ("prop-mass", "invariant_mass"): {
        "of E² + p²": root_of(euclidean),
        "of E² - pT²": root_of(transverse),
    },
    ("prop-mass", "boosted"): {"Galilean": galilean, "none": as_it_is},
    ("prop-rapidity", "rapidity"): {"pseudorapidity": pseudorapidity, "no half": without_half},
    ("prop-rapidity", "delta_r"): {
        "by pseudorapidity": by_pseudorapidity,
        "the long way": the_long_way,
        "squared": lambda first, second: library.delta_r(first, second).square(),
    },
    ("prop-rapidity", "rotated_about_beam"): {"none": as_it_is},
    ("prop-rapidity", "boosted_along_beam"): {
        "the other way": lambda p, shift: library.boosted_along_beam(p, -shift),
        "none": as_it_is,
    },
    ("prop-pair-features", "pairwise_features"): PAIRS,
    ("prop-pair-features", "boosted"): {"Galilean": galilean, "none": as_it_is},
    ("prop-pair-features", "boosted_along_beam"): {"none": as_it_is},
    ("prop-pair-features", "rotated_about_beam"): {"none": as_it_is},
    ("prop-authors", "pairwise_features"): {
        name: PAIRS[name] for name in ("who asks counts", "energies in z", "m for m²", "columns")
    },
}
ATTENTION = transformer_parts.BlockAttention
ATTRIBUTES = {
    ("prop-authors", Network, "bias"): {"half the bias": halved_bias},
    ("prop-authors", network.ParticleAttentionBlock, "forward"): {"post-norm": post_norm},
    ("prop-authors", ATTENTION, "forward"): {"no mask": deaf_to_masks},
    ("prop-jet-set", Network, "bias"): {"a bias by place": bias_by_place},
    ("prop-jet-set", ATTENTION, "forward"): {"positions": with_position},
    ("prop-empty", ATTENTION, "forward"): {"no mask": deaf_to_masks},
    ("prop-count", ATTENTION, "forward"): {"a sum for a mean": summed},
    ("prop-count", ATTENTION, "weights"): {"squared weights": unscaled_weights},
}
WRONG_NAMES = {
    f"{label}: {name}, {case}": (label, name, wrong)
    for (label, name), cases in NAMES.items()
    for case, wrong in cases.items()
}
WRONG_ATTRIBUTES = {
    f"{label}: {place.__name__}.{name}, {case}": (label, place, name, wrong)
    for (label, place, name), cases in ATTRIBUTES.items()
    for case, wrong in cases.items()
}


@pytest.mark.parametrize("label", CLAIMS)
def test_a_claim_holds_for_the_library(label: str) -> None:
    check(LECTURE, label, {})


@pytest.mark.parametrize("case", WRONG_NAMES)
def test_a_claim_falls_to_a_wrong_function(case: str) -> None:
    label, name, wrong = WRONG_NAMES[case]
    with pytest.raises(AssertionError):
        check(LECTURE, label, {name: wrong})


@pytest.mark.parametrize("case", WRONG_ATTRIBUTES)
def test_a_claim_falls_to_a_wrong_network(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    label, place, name, wrong = WRONG_ATTRIBUTES[case]
    monkeypatch.setattr(place, name, wrong)
    with pytest.raises(AssertionError):
        check(LECTURE, label, {})


def test_every_claim_falls_to_something() -> None:
    cases = [*WRONG_NAMES.values(), *WRONG_ATTRIBUTES.values()]
    assert {label for label, *_ in cases} == set(CLAIMS)
