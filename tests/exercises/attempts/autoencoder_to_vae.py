import torch
from torch import Tensor
from torch.distributions import Normal, kl_divergence

from course_lib import autoencoder as library


def kl_by_torch(mean: Tensor, log_variance: Tensor) -> Tensor:
    prior = Normal(torch.zeros_like(mean), torch.ones_like(mean))
    return kl_divergence(Normal(mean, (log_variance / 2).exp()), prior).sum(-1)


def elbo_by_torch(x: Tensor, decoded: Tensor, mean: Tensor, log_variance: Tensor) -> Tensor:
    return Normal(decoded, 1.0).log_prob(x).sum(-1) - kl_by_torch(mean, log_variance)


RIGHT = {
    "kl_to_standard_normal": [library.kl_to_standard_normal, kl_by_torch],
    "reparameterize": [
        lambda mean, log_variance, noise: library.reparameterize(mean, log_variance, noise=noise),
    ],
    "elbo": [elbo_by_torch],
}


WRONG = {
    "kl_to_standard_normal": ["mean squared", "log_variance doubled"],
    "reparameterize": ["noise nothing", "noise doubled", "log_variance nothing"],
    "elbo": ["mean nothing", "log_variance doubled"],
}
