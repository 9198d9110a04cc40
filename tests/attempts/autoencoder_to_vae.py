"""Attempts at the exercises of lecture 10, right and wrong."""

import math
from collections.abc import Callable

import torch
from torch import Tensor
from torch.distributions import Normal, kl_divergence

from course_lib import autoencoder as library


def kl_by_torch(mean: Tensor, log_variance: Tensor) -> Tensor:
    prior = Normal(torch.zeros_like(mean), torch.ones_like(mean))
    return kl_divergence(Normal(mean, (log_variance / 2).exp()), prior).sum(-1)


def draw_by_torch(mean: Tensor, log_variance: Tensor, noise: Tensor) -> Tensor:
    # The quantile of the cloud at the place where the noise stands in its own distribution.
    place = Normal(0.0, 1.0).cdf(noise.double())
    return Normal(mean.double(), (log_variance.double() / 2).exp()).icdf(place)


def elbo_by_torch(x: Tensor, decoded: Tensor, mean: Tensor, log_variance: Tensor) -> Tensor:
    return Normal(decoded, 1.0).log_prob(x).sum(-1) - kl_by_torch(mean, log_variance)


RIGHT = {
    "divergence of the library": ("kl_to_standard_normal", library.kl_to_standard_normal),
    "divergence of torch": ("kl_to_standard_normal", kl_by_torch),
    "draw of the library": (
        "reparameterize",
        lambda mean, log_variance, noise: library.reparameterize(mean, log_variance, noise=noise),
    ),
    "draw by quantiles": ("reparameterize", draw_by_torch),
    "bound of torch": ("elbo", elbo_by_torch),
}


def cost(
    *,
    factor: float = 0.5,
    together: Callable = torch.sum,
    terms: Callable = lambda m, v: m.square() + v.exp() - v - 1,
) -> Callable[[Tensor, Tensor], Tensor]:
    return lambda mean, log_variance: factor * together(terms(mean, log_variance), -1)


def drawn(
    *,
    deviation: Callable = lambda v: (v / 2).exp(),
    used: Callable = lambda noise: noise,
) -> Callable[[Tensor, Tensor, Tensor], Tensor]:
    return lambda mean, log_variance, noise: mean + deviation(log_variance) * used(noise)


def bound(
    *,
    error: Callable = lambda square: square.sum(-1) / 2,
    constant: float = math.log(2 * math.pi) / 2,
    kl: Callable = library.kl_to_standard_normal,
    signs: tuple[int, int] = (-1, -1),
) -> Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]:
    def attempt(x: Tensor, decoded: Tensor, mean: Tensor, log_variance: Tensor) -> Tensor:
        reconstruction = error((x - decoded).square())
        clouds = kl(mean, log_variance)
        return signs[0] * reconstruction + signs[1] * clouds - constant * x.shape[-1]

    return attempt


# What was tried, and the property that refuses it.
WRONG = {
    "without the one": (
        "kl_to_standard_normal",
        cost(terms=lambda m, v: m.square() + v.exp() - v),
        "the prior itself costs nothing",
    ),
    "as the paper prints it": ("kl_to_standard_normal", cost(factor=-0.5), "less than nothing"),
    "one divergence for the batch": (
        "kl_to_standard_normal",
        lambda mean, log_variance: kl_by_torch(mean, log_variance).sum(),
        "the right kind and shape",
    ),
    "without the half": (
        "kl_to_standard_normal",
        cost(factor=1.0),
        "half the square of its distance",
    ),
    "the logarithm of the deviation": (
        "kl_to_standard_normal",
        cost(terms=lambda m, v: m.square() + (2 * v).exp() - 2 * v - 1),
        "the spread of a cloud costs",
    ),
    "noise left out": (
        "reparameterize",
        lambda mean, log_variance, noise: mean,  # noqa: ARG005 - what the exercise hands over
        "noise of its own",
    ),
    "noise of its own making": (
        "reparameterize",
        lambda mean, log_variance, noise: drawn()(mean, log_variance, torch.randn_like(noise)),
        "the draw is the mean",
    ),
    "noise of the shape of the batch": (
        "reparameterize",
        drawn(used=lambda noise: noise[:, 0]),
        "the right kind and shape",
    ),
    "the exponential of the deviation": (
        "reparameterize",
        drawn(deviation=lambda v: (v / 2).exp().exp()),
        "passes the noise on",
    ),
    "always as wide": ("reparameterize", drawn(deviation=torch.ones_like), "doubles the noise"),
    "a loss": ("elbo", lambda *given: -elbo_by_torch(*given), "a worse picture has a lower bound"),
    "the divergence added": ("elbo", bound(signs=(-1, 1)), "a cloud off the prior"),
    "mean over the pixels": ("elbo", bound(error=lambda square: square.mean(-1) / 2), "half a nat"),
    "divergence without the half": (
        "elbo",
        bound(kl=cost(factor=1.0)),
        "its divergence from the prior",
    ),
    "without the constant": ("elbo", bound(constant=0.0), "0.9189 nats"),
}
