"""Each claim of lecture 12 holds for the library and falls to an implementation that is wrong."""

import pytest
from claims import claims, holds_and_falls
from torch import Tensor

from course_lib import attention as lookups
from course_lib import symplectic as library
from course_lib.mechanics import RigidBody
from course_lib.models import sympnets as prompts
from course_lib.support.evidence import Evidence

# As in a lecture, shapes are not checked, to batch couplings of several strengths.
pytestmark = pytest.mark.slow
LECTURE = "12_symplectic_attention"


class Silent(library.SymplecticAttention):
    def gradient(self, x: Tensor) -> Tensor:
        return 0 * super().gradient(x)


class Lopsided(library.LinearSymplecticAttention):
    """Mixes tokens by a matrix that is not symmetric."""

    @property
    def A(self) -> Tensor:  # noqa: N802 - the matrix of the formula
        return self.weight


def other_softmax(z: Tensor, A: Tensor, *, softmax: str) -> Tensor:
    other = {"matrix": "vector", "vector": "matrix"}[softmax]
    return library.symplectic_attention(z, A, softmax=other)


def repelled(query: Tensor, key: Tensor, value: Tensor, *, scale: float) -> Tensor:
    return lookups.attention(-query, key, value, scale=scale)


class Unprompted(prompts.PromptedSympNet):
    def amplitudes(self, *context: Tensor) -> Tensor:
        return 0 * super().amplitudes(*context) + 0.1


class Unhalved(library.VolumePreservingAttention):
    def _scores(self, z: Tensor) -> tuple[Tensor, Tensor]:
        one, C = super()._scores(z)
        return one, 2 * C


class Untrained(Evidence):
    """Results after very short training."""

    def row(self, experiment: str, **_: object) -> dict:
        return self.rows(experiment)[0]


class Lighter(RigidBody):
    def energy(self, z: Tensor) -> Tensor:
        return super().energy(z) / 2


WRONG = {
    "all is symplectic": ("prop-gradient-layer", {"symplecticity_error": lambda *_: 0.0}),
    "the other softmax": ("prop-attention-gradient", {"symplectic_attention": other_softmax}),
    "both softmaxes exchanged": ("prop-shortcut", {"symplectic_attention": other_softmax}),
    "scores of another sign": ("prop-standard", {"attention": repelled}),
    "a lopsided mixture": ("prop-transformer", {"LinearSymplecticAttention": Lopsided}),
    "no coupling": ("prop-product-space", {"SymplecticAttention": Silent}),
    "a prompt that nobody reads": ("prop-prompt", {"PromptedSympNet": Unprompted}),
    "scores not halved": ("prop-volume-attention", {"VolumePreservingAttention": Unhalved}),
    "no training": ("prop-runaway", {"Evidence": Untrained}),
    "another energy": ("prop-runaway", {"RigidBody": Lighter}),
}


@pytest.mark.parametrize("label", claims(LECTURE))
def test_a_claim_holds_for_the_library_and_falls_to_a_wrong_implementation(label: str) -> None:
    holds_and_falls(LECTURE, label, WRONG)
