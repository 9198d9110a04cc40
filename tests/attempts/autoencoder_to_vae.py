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


# What was tried, what it breaks, the smallest input, and a word of the hint.
WRONG = {
    "without the one": (
        "kl_to_standard_normal",
        cost(terms=lambda m, v: m.square() + v.exp() - v),
        "the prior itself costs nothing",
        "mean = tensor([[0.]])",
        "each of your terms",
    ),
    "as the paper prints it": (
        "kl_to_standard_normal",
        cost(factor=-0.5),
        "less than nothing",
        "log_variance = tensor([[1.]])",
        "wrong sign",
    ),
    "the sign of the logarithm": (
        "kl_to_standard_normal",
        cost(terms=lambda m, v: m.square() + v.exp() + v - 1),
        "less than nothing",
        "log_variance = tensor([[-1.]])",
        "wrong sign",
    ),
    "one divergence for the batch": (
        "kl_to_standard_normal",
        lambda mean, log_variance: kl_by_torch(mean, log_variance).sum(),
        "the right kind and shape",
        "instead of (1,)",
        "shape",
    ),
    "without the half": (
        "kl_to_standard_normal",
        cost(factor=1.0),
        "half the square of its distance",
        "mean = tensor([[1.]])",
        "factor is missing",
    ),
    "mean over the codes": (
        "kl_to_standard_normal",
        cost(together=torch.mean),
        "half the square of its distance",
        "mean = tensor([[0., 1.]])",
        "their mean",
    ),
    "mean over the codes without the half": (
        "kl_to_standard_normal",
        cost(factor=1.0, together=torch.mean),
        "half the square of its distance",
        "mean = tensor([[1.]])",
        "factor is missing",
    ),
    "the logarithm of the deviation": (
        "kl_to_standard_normal",
        cost(terms=lambda m, v: m.square() + (2 * v).exp() - 2 * v - 1),
        "the spread of a cloud costs",
        "log_variance = tensor([[1.]])",
        "of the deviation squared",
    ),
    "half the logarithm": (
        "kl_to_standard_normal",
        cost(terms=lambda m, v: m.square() + v.exp() - v / 2 - 1),
        "the spread of a cloud costs",
        "log_variance = tensor([[1.]])",
        "from its variance",
    ),
    "noise left out": (
        "reparameterize",
        lambda mean, log_variance, noise: mean,  # noqa: ARG005 - what the exercise hands over
        "noise of its own",
        "noise = tensor([[1.]])",
        "one number of the draw",
    ),
    "noise of its own making": (
        "reparameterize",
        lambda mean, log_variance, noise: drawn()(mean, log_variance, torch.randn_like(noise)),
        "the draw is the mean",
        "noise = tensor([[0.]])",
        "the one that you are given",
    ),
    "one number of noise a picture": (
        "reparameterize",
        drawn(used=lambda noise: noise[:, :1]),
        "noise of its own",
        "noise = tensor([[0., 1.]])",
        "what is their shape",
    ),
    "the noise of the first picture": (
        "reparameterize",
        drawn(used=lambda noise: noise[:1]),
        "noise of its own",
        "[1.]])",
        "what is their shape",
    ),
    "noise of the shape of the batch": (
        "reparameterize",
        drawn(used=lambda noise: noise[:, 0]),
        "the right kind and shape",
        "noise = tensor([[0.]",
        "",
    ),
    "away from the noise": (
        "reparameterize",
        drawn(used=lambda noise: -noise),
        "noise of its own",
        "noise = tensor([[1.]])",
        "Which sign",
    ),
    "the logarithm for the deviation": (
        "reparameterize",
        drawn(deviation=lambda v: v),
        "noise of its own",
        "noise = tensor([[1.]])",
        "one number of the draw",
    ),
    "the exponential of the deviation": (
        "reparameterize",
        drawn(deviation=lambda v: (v / 2).exp().exp()),
        "passes the noise on",
        "noise = tensor([[1.]])",
        "undone twice",
    ),
    "the variance for the deviation": (
        "reparameterize",
        drawn(deviation=torch.exp),
        "doubles the noise",
        "log_variance = tensor([[1.3863]])",
        "not by the deviation",
    ),
    "narrower for wider": (
        "reparameterize",
        drawn(deviation=lambda v: (-v / 2).exp()),
        "doubles the noise",
        "log_variance = tensor([[1.3863]])",
        "shrink",
    ),
    "always as wide": (
        "reparameterize",
        drawn(deviation=torch.ones_like),
        "doubles the noise",
        "log_variance = tensor([[1.3863]])",
        "Where does it enter",
    ),
    "a loss": (
        "elbo",
        lambda *given: -elbo_by_torch(*given),
        "a worse picture has a lower bound",
        "x = tensor([[1.]])",
        "a loss is the negative",
    ),
    "the error added": (
        "elbo",
        bound(signs=(1, -1)),
        "a worse picture has a lower bound",
        "x = tensor([[1.]])",
        "squared error",
    ),
    "the divergence added": (
        "elbo",
        bound(signs=(-1, 1)),
        "a cloud off the prior",
        "mean = tensor([[1.]])",
        "Which sign has a cost",
    ),
    "mean over the pixels": (
        "elbo",
        bound(error=lambda square: square.mean(-1) / 2),
        "half a nat",
        "x = tensor([[0., 1.]])",
        "their mean",
    ),
    "error without the half": (
        "elbo",
        bound(error=lambda square: square.sum(-1)),
        "half a nat",
        "x = tensor([[1.]])",
        "count twice",
    ),
    "mean squared error": (
        "elbo",
        bound(error=lambda square: square.mean(-1)),
        "half a nat",
        "x = tensor([[1.]])",
        "count twice",
    ),
    "error without the square": (
        "elbo",
        bound(error=lambda square: square.sqrt().sum(-1)),
        "half a nat",
        "x = tensor([[1.]])",
        "count twice",
    ),
    "divergence without the half": (
        "elbo",
        bound(kl=cost(factor=1.0)),
        "its divergence from the prior",
        "log_variance = tensor([[1.]])",
        "factor is missing",
    ),
    "mean of the divergence": (
        "elbo",
        bound(kl=cost(together=torch.mean)),
        "its divergence from the prior",
        "log_variance = tensor([[0., 1.]])",
        "their mean",
    ),
    "divergence of another deviation": (
        "elbo",
        bound(kl=cost(terms=lambda m, v: m.square() + (2 * v).exp() - 2 * v - 1)),
        "its divergence from the prior",
        "log_variance = tensor([[1.]])",
        "of the deviation squared",
    ),
    "without the constant": (
        "elbo",
        bound(constant=0.0),
        "0.9189 nats",
        "x = tensor([[0.]])",
        "leave out",
    ),
}
