"""Each claim of lecture 12 holds for the library and falls to an implementation that is wrong."""

import pytest
import torch
from claims import check, claims
from torch import Tensor, nn

from course_lib import attention as lookups
from course_lib import mechanics
from course_lib import prompted_sympnet as prompts
from course_lib import symplectic as library

# As in a lecture, no shape is checked: couplings of several strengths go side by side there.
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("plain_calls")]
LECTURE = "12_symplectic_attention"
TRAINS = {"prop-runaway"}  # for ten seconds; the notebook itself is run by the tests of lectures


def always_symplectic(*_: object) -> float:
    return 0.0


def half(z: Tensor, A: Tensor, softmax: str) -> Tensor:
    """The second of the two terms, doubled."""
    score = z @ A @ z.mT
    total = score.logsumexp((-2, -1) if softmax == "matrix" else -2, keepdim=True)
    S = (score - torch.logaddexp(total, torch.zeros_like(total))).exp()
    return 2 * S.mT @ z @ A


# Layers ------------------------------------------------------------------------------------------


class Idle(library.GradientLayer):
    def gradient(self, x: Tensor, a: Tensor | None = None) -> Tensor:
        return 0 * super().gradient(x, a)


class Doubled(library.GradientLayer):
    def gradient(self, x: Tensor, a: Tensor | None = None) -> Tensor:
        return 2 * super().gradient(x, a)


class Perceptron(library.GradientLayer):
    """It goes out by another matrix than it came in by."""

    def gradient(self, x: Tensor, a: Tensor | None = None) -> Tensor:
        del a
        return (self.a * nn.functional.linear(x, self.K, self.b).tanh()) @ self.K.flip(-1)


class OneTerm(library.SymplecticAttention):
    def gradient(self, x: Tensor) -> Tensor:
        return half(x, self.A, self.softmax)


class Deaf(library.SymplecticAttention):
    """Each token is a window of its own."""

    def gradient(self, x: Tensor) -> Tensor:
        return super().gradient(x[..., None, :])[..., 0, :]


class Silent(library.SymplecticAttention):
    def gradient(self, x: Tensor) -> Tensor:
        return 0 * super().gradient(x)


class Rubbing(library.SymplecticAttention):
    """Its force is turned by one token: no gradient."""

    def gradient(self, x: Tensor) -> Tensor:
        return super().gradient(x).roll(1, -2)


class Lopsided(library.LinearSymplecticAttention):
    """It mixes tokens by a matrix that is not symmetric."""

    @property
    def A(self) -> Tensor:  # noqa: N802 - the matrix of the formula
        return self.weight


def of(layer: type) -> type:
    """A SympNet of other layers."""

    class Net(library.SympNet):
        def __init__(self, d: int, *, layers: int) -> None:
            super().__init__(d, layers=layers)
            for each in self.layers:
                each.__class__ = layer

    return Net


def with_attention(layer: type) -> type:
    """A transformer whose attention is another."""

    class Net(library.SymplecticTransformer):
        def __init__(self, d: int, **options: object) -> None:
            super().__init__(d, **options)
            for each in self.layers:
                if isinstance(each, library.SymplecticAttention):
                    each.__class__ = layer

    return Net


def undone_from_the_first(net: type) -> type:
    """An inverse that undoes the first layer first."""

    class Net(net):
        def _apply_map(self, q: Tensor, p: Tensor, context: object, sign: int) -> tuple:
            for layer in self.layers:
                q, p = layer._apply_map(q, p, context, sign)
            return q, p

    return Net


# Attention as a gradient -------------------------------------------------------------------------


def one_term(z: Tensor, A: Tensor, *, softmax: str) -> Tensor:
    return half(z, A, softmax)


def transpose_forgotten(z: Tensor, A: Tensor, *, softmax: str) -> Tensor:
    """Right for a symmetric matrix."""
    return (library.symplectic_attention(z, A, softmax=softmax) + half(z, A, softmax)) / 2


def one_forgotten(z: Tensor, A: Tensor, *, softmax: str) -> Tensor:
    """A potential without the 1 in its logarithm."""
    axes = (-2, -1) if softmax == "matrix" else -2
    return (z @ A @ z.mT).logsumexp(axes).sum()


def other_softmax(z: Tensor, A: Tensor, *, softmax: str) -> Tensor:
    other = {"matrix": "vector", "vector": "matrix"}[softmax]
    return library.symplectic_attention(z, A, softmax=other)


def scaled(query: Tensor, key: Tensor, value: Tensor, *, scale: float) -> Tensor:
    del scale
    return lookups.attention(query, key, value)


def repelled(query: Tensor, key: Tensor, value: Tensor, *, scale: float) -> Tensor:
    return lookups.attention(-query, key, value, scale=scale)


class Tied(nn.Module):
    """Self-attention that is a gradient."""

    def __init__(self, d: int, heads: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(library.SymplecticAttention(d) for _ in range(heads))

    def forward(self, z: Tensor) -> Tensor:
        return sum(layer.gradient(z) for layer in self.layers)


# Prompts -----------------------------------------------------------------------------------------


class Unprompted(prompts.PromptedSympNet):
    def amplitudes(self, *context: Tensor) -> Tensor:
        return 0 * super().amplitudes(*context) + 0.1


class LooksAtTheState(prompts.PromptedSympNet):
    """The moving state joins the prompt."""

    def forward(self, q: Tensor, p: Tensor, *, context: tuple) -> tuple:
        beside = (torch.cat([old, new[None]]) for old, new in zip(context, (q, p), strict=True))
        return super().forward(q, p, context=tuple(beside))


class Undone(prompts.PromptedSympNet):
    """Its inverse takes the layers in the order of the map."""

    def inverse(self, q: Tensor, p: Tensor, *, context: tuple) -> tuple:
        amplitudes = self.amplitudes(*context).unbind(-2)
        for layer, a in zip(self.sympnet.layers, amplitudes, strict=True):
            if layer.update == "q":
                q = q - layer.gradient(p, a)
            else:
                p = p + layer.gradient(q, a)
        return q, p


# Volume ------------------------------------------------------------------------------------------


class Triangle(library.VolumePreservingAttention):
    """A triangle of the scores and its negative mirror image."""

    def _scores(self, z: Tensor) -> tuple[Tensor, Tensor]:
        lower = (z @ self.A @ z.mT).tril(-1)
        return torch.eye(len(z)).to(z), lower - lower.mT


class Unhalved(library.VolumePreservingAttention):
    def _scores(self, z: Tensor) -> tuple[Tensor, Tensor]:
        one, C = super()._scores(z)
        return one, 2 * C


class AllScores(library.VolumePreservingAttention):
    """The scores as they are, skew or not."""

    def _scores(self, z: Tensor) -> tuple[Tensor, Tensor]:
        return super()._scores(z)[0], z @ self.A @ z.mT


class TurnsOn(library.VolumePreservingAttention):
    """Its inverse turns the same way once more."""

    def inverse(self, z: Tensor) -> Tensor:
        return self(z)


class Fat(mechanics.RigidBody):
    """Energies of another body."""

    def energy(self, z: Tensor) -> Tensor:
        return 1.01 * super().energy(z)


def untrained(make: object, *_: object, **__: object) -> nn.Module:
    return make().double()


def learned(model: object) -> dict[str, object]:
    """This model takes the place of a trained one."""
    return {"learn": lambda *_, **__: model, "step_miss": {"volume_test": 0.0}}


WRONG = {
    "no gradient": ("prop-gradient-layer", {"GradientLayer": Idle}),
    "twice the gradient": ("prop-gradient-layer", {"GradientLayer": Doubled}),
    "a net of perceptrons": ("prop-gradient-layer", {"SympNet": of(Perceptron)}),
    "undone from the first": (
        "prop-gradient-layer",
        {"SympNet": undone_from_the_first(library.SympNet)},
    ),
    "all is symplectic": ("prop-gradient-layer", {"symplecticity_error": always_symplectic}),
    "one term": ("prop-attention-gradient", {"symplectic_attention": one_term}),
    "no transpose": ("prop-attention-gradient", {"symplectic_attention": transpose_forgotten}),
    "the other softmax": ("prop-attention-gradient", {"symplectic_attention": other_softmax}),
    "no one": ("prop-attention-gradient", {"attention_potential": one_forgotten}),
    "one term for both": ("prop-shortcut", {"symplectic_attention": one_term}),
    "both softmaxes exchanged": ("prop-shortcut", {"symplectic_attention": other_softmax}),
    "a scale in attention": ("prop-shortcut", {"attention": scaled}),
    "attention that is a gradient": ("prop-standard", {"MultiHeadAttention": Tied}),
    "a scale in tied attention": ("prop-standard", {"attention": scaled}),
    "scores of another sign": ("prop-standard", {"attention": repelled}),
    "a kick is symplectic": ("prop-standard", {"symplecticity_error": always_symplectic}),
    "a transformer of one term": (
        "prop-transformer",
        {"SymplecticTransformer": with_attention(OneTerm)},
    ),
    "tokens that do not hear": (
        "prop-transformer",
        {"SymplecticTransformer": with_attention(Deaf)},
    ),
    "a transformer undone from the first": (
        "prop-transformer",
        {"SymplecticTransformer": undone_from_the_first(library.SymplecticTransformer)},
    ),
    "a lopsided mixture": ("prop-transformer", {"LinearSymplecticAttention": Lopsided}),
    "no coupling": ("prop-product-space", {"SymplecticAttention": Silent}),
    "a force that is no gradient": ("prop-product-space", {"SymplecticAttention": Rubbing}),
    "a prompt that nobody reads": ("prop-prompt", {"PromptedSympNet": Unprompted}),
    "a state in the prompt": ("prop-prompt", {"PromptedSympNet": LooksAtTheState}),
    "a step undone from the first": ("prop-prompt", {"PromptedSympNet": Undone}),
    "a triangle of scores": ("prop-volume-attention", {"VolumePreservingAttention": Triangle}),
    "scores not halved": ("prop-volume-attention", {"VolumePreservingAttention": Unhalved}),
    "scores not skew": ("prop-volume-attention", {"VolumePreservingAttention": AllScores}),
    "an inverse that turns on": ("prop-volume-attention", {"VolumePreservingAttention": TurnsOn}),
    "another energy": ("prop-runaway", {"RigidBody": Fat, "learn": untrained}),
    "no training": ("prop-runaway", {"learn": untrained}),
    "a determinant of one": ("prop-runaway", {"determinant": lambda *_: 1.0, "learn": untrained}),
    "a model that grows": ("prop-runaway", learned(lambda z: 1.001 * z)),
    "a model that stays": ("prop-runaway", learned(lambda z: 1 * z)),
}


@pytest.mark.parametrize("label", sorted(claims(LECTURE).keys() - TRAINS))
def test_a_claim_holds_for_the_library(label: str) -> None:
    check(LECTURE, label, {})


@pytest.mark.parametrize("case", WRONG)
def test_a_claim_falls_to_a_wrong_implementation(case: str) -> None:
    label, wrong = WRONG[case]
    with pytest.raises(AssertionError):
        check(LECTURE, label, wrong)


def test_every_claim_falls_to_something() -> None:
    assert {label for label, _ in WRONG.values()} == set(claims(LECTURE))
