"""Each claim of lecture 10 holds for the library and falls to an implementation that is wrong."""

import math
from collections.abc import Callable
from functools import cache
from itertools import combinations, pairwise

import nbformat
import numpy as np
import pytest
import torch
from claims import COMMON, LECTURES, claims, holds_and_falls
from torch import Tensor
from torch.distributions import MultivariateNormal, Normal, kl_divergence

from course_lib import autoencoder as library
from course_lib.models.typefaces import LETTERS, load_typefaces

pytestmark = pytest.mark.slow

LECTURE = "10_autoencoder_to_vae"
TORCH = {"MultivariateNormal": MultivariateNormal, "Normal": Normal, "kl_divergence": kl_divergence}
BEFORE = COMMON | TORCH | {"np": np, "combinations": combinations, "pairwise": pairwise}


@cache
def shared_source() -> str:
    """Source that the checks share: linear VAEs with their evidence, and their training."""
    cells = nbformat.read(LECTURES / f"{LECTURE}.ipynb", as_version=4).cells
    linear = next(cell.source for cell in cells if "def linear_vae" in cell.source)
    trained, _, _ = claims(LECTURE)["prop-collapse"].partition("for s2, d_z in")
    return f"{linear}\n{trained}"


@cache
def letters() -> tuple[Tensor, Tensor]:
    """Eighty letters *g* and their labels."""
    g = LETTERS.index("g")
    return load_typefaces().picture[:80, g].flatten(1), torch.full((80,), g)


def known() -> dict[str, object]:
    torch.manual_seed(0)
    x, letter = letters()
    names = BEFORE | vars(library) | {"random": torch.Generator().manual_seed(1)}
    exec(shared_source(), names)  # noqa: S102
    return names | {"x": x, "letter": letter}


# Wrong implementations ------------------------------------------------------------------------

kl = library.kl_to_standard_normal
draw = library.reparameterize
log_likelihood = library.VAE.log_likelihood
solved = library.probabilistic_pca
bound = library.elbo


def without_constant(model: library.VAE, x: Tensor, z: Tensor, *_: None) -> Tensor:
    if model.likelihood != "gaussian":
        return log_likelihood(model, x, z)
    return -(x - model.decode(z)).square().sum(-1) / (2 * model.log_noise_variance.exp())


def mean_over_pixels(model: library.VAE, x: Tensor, z: Tensor, *_: None) -> Tensor:
    return log_likelihood(model, x, z) / x.shape[-1]


def ink_is_paper(model: library.VAE, x: Tensor, z: Tensor, *_: None) -> Tensor:
    """The cross-entropy without its term for white pixels."""
    if model.likelihood == "gaussian":
        return log_likelihood(model, x, z)
    return (x * model.decode(z).log()).sum(-1)


def weighted(combine: Callable[[Tensor], Tensor], q: float = 1.0) -> Callable:
    """An importance-weighted bound that combines its weights wrongly."""

    def importance_bound(model: library.VAE, x: Tensor, **chosen: object) -> Tensor:
        cloud = Normal(*spread(*model.encode(x)))
        noise = library._noise(cloud.mean, **DRAWS | chosen)
        z = cloud.mean + cloud.stddev * noise
        ratio = Normal(0.0, 1.0).log_prob(z) - q * cloud.log_prob(z)
        return combine(model.log_likelihood(x.expand(len(z), *x.shape), z) + ratio.sum(-1))

    return importance_bound


DRAWS = {"noise": None, "generator": None}


def spread(mean: Tensor, log_variance: Tensor) -> tuple[Tensor, Tensor]:
    return mean, (log_variance / 2).exp()


def log_mean(weight: Tensor) -> Tensor:
    return weight.logsumexp(0) - math.log(len(weight))


def changed(change: Callable[[library.VAE, int], None]) -> Callable:
    """The solved VAE with a change."""

    def probabilistic_pca(x: Tensor, d_z: int) -> library.VAE:
        model = solved(x, d_z)
        with torch.no_grad():
            change(model, d_z)
        return model

    return probabilistic_pca


def of_a_sample(model: library.VAE, _: int) -> None:
    """The eigenvalues of the covariance that divides by n - 1."""
    pictures = len(letters()[0])
    model.log_noise_variance += math.log(pictures / (pictures - 1))


def with_clouds_of_the_prior(model: library.VAE, d_z: int) -> None:
    model.encoder[0].bias[d_z:] = 0


def of_squared_beta(*args: object, beta: float = 1.0, **chosen: object) -> library.Elbo:
    return bound(*args, beta=beta**2, **chosen)


def beta_on_both(*args: object, beta: float = 1.0, **chosen: object) -> library.Elbo:
    parts = bound(*args, beta=beta, **chosen)
    return parts._replace(value=beta * (parts.reconstruction - parts.kl))


def plus_kl(*args: object, **chosen: object) -> library.Elbo:
    parts = bound(*args, **chosen)
    return parts._replace(value=parts.reconstruction + parts.kl)


HALF = {"kl without its half": lambda m, v: 2 * kl(m, v)}
KL = {
    "kl of log σ": lambda m, v: kl(m, 2 * v),
    "kl the other way round": lambda m, v: ((m**2 + 1) / v.exp() + v - 1).sum(-1) / 2,
}
DRAW = {
    "a draw with σ² for σ": lambda m, v, **chosen: draw(m, 2 * v, **chosen),
    "a draw with σ = 1": lambda m, v, **chosen: draw(m, 0 * v, **chosen),
}
PCA = {
    "pca with n - 1": changed(of_a_sample),
    "pca with clouds of the prior": changed(with_clouds_of_the_prior),
}
IMPORTANCE = {
    "mean of the logarithms": weighted(lambda weight: weight.mean(0)),
    "weights without q": weighted(log_mean, q=0.0),
}
BETA = {"β squared": of_squared_beta, "β on both parts": beta_on_both}
PIXELS = {
    "no constant": without_constant,
    "a mean over pixels": mean_over_pixels,
}
PLACES = [
    ((library, "kl_to_standard_normal"), KL, ("prop-gap", "prop-kl")),
    ((library, "kl_to_standard_normal"), HALF, ("prop-collapse",)),
    ((library, "elbo"), {"kl added": plus_kl}, ("prop-gap",)),
    ((library.VAE, "log_likelihood"), PIXELS, ("prop-gap", "prop-likelihood")),
    ((library.VAE, "log_likelihood"), {"no paper": ink_is_paper}, ("prop-likelihood",)),
    ((library, "reparameterize"), DRAW, ("prop-reparameterized",)),
    ((library, "probabilistic_pca"), PCA, ("prop-linear",)),
    ((library, "elbo"), BETA, ("prop-beta",)),
    ((library, "importance_bound"), IMPORTANCE, ("prop-importance",)),
]
WRONG = {
    f"{label}: {case}": (label, {place: wrong})
    for place, cases, labels in PLACES
    for label in labels
    for case, wrong in cases.items()
}


@pytest.mark.parametrize("label", claims(LECTURE))
def test_a_claim_holds_for_the_library_and_falls_to_a_wrong_implementation(label: str) -> None:
    holds_and_falls(LECTURE, label, WRONG, known)
