"""Attempts at the exercises of lecture 12, right and wrong."""

import numpy as np
import torch
from torch import Tensor

from course_lib.symplectic import GradientLayer, attention_potential, symplectic_attention


def slope_of_units(q: Tensor, p: Tensor, K: Tensor, a: Tensor, b: Tensor) -> Tensor:
    return q + K.T @ (a * (K @ p + b).tanh())


def by_the_library(q: Tensor, p: Tensor, K: Tensor, a: Tensor, b: Tensor) -> Tensor:
    layer = GradientLayer(len(q), width=len(a))
    with torch.no_grad():
        for parameter, value in ((layer.K, K), (layer.a, a), (layer.b, b)):
            parameter.copy_(value)
        return layer(q, p)[0]


def layer_by_autograd(q: Tensor, p: Tensor, K: Tensor, a: Tensor, b: Tensor) -> Tensor:
    p = p.clone().requires_grad_()
    potential = (a * (K @ p + b).cosh().log()).sum()
    return q + torch.autograd.grad(potential, p)[0]


def two_terms(z: Tensor, A: Tensor) -> Tensor:
    score = z @ A @ z.T
    S = (score - torch.logaddexp(score.logsumexp(0), torch.zeros(len(z)))).exp()
    return S @ z @ A.T + S.T @ z @ A


def attention_by_autograd(z: Tensor, A: Tensor) -> Tensor:
    z = z.clone().requires_grad_()
    return torch.autograd.grad(attention_potential(z, A, softmax="vector"), z)[0]


def in_numpy(z: Tensor, A: Tensor) -> np.ndarray:
    z, A = z.double().numpy(), A.double().numpy()
    score = z @ A @ z.T
    largest = np.maximum(score.max(axis=0), 0)
    S = np.exp(score - largest) / (np.exp(-largest) + np.exp(score - largest).sum(axis=0))
    return S @ z @ A.T + S.T @ z @ A


RIGHT = {
    "gradient_layer": [
        slope_of_units,
        by_the_library,
        layer_by_autograd,
        lambda q, p, K, a, b: slope_of_units(q, p, K, a, b).numpy(),
    ],
    "vector_softmax_gradient": [
        two_terms,
        attention_by_autograd,
        in_numpy,
        lambda z, A: symplectic_attention(z, A, softmax="vector"),
    ],
}


def shares(z: Tensor, A: Tensor) -> Tensor:
    score = z @ A @ z.T
    return (score - torch.logaddexp(score.logsumexp(0), torch.zeros(len(z)))).exp()


def overflowing(z: Tensor, A: Tensor) -> Tensor:
    weight = (z @ A @ z.T).exp()
    S = weight / (1 + weight.sum(0))
    return S @ z @ A.T + S.T @ z @ A


def without_the_one(z: Tensor, A: Tensor) -> Tensor:
    S = (z @ A @ z.T).softmax(0)
    return S @ z @ A.T + S.T @ z @ A


WRONG = {
    "gradient_layer": [
        lambda q, p, K, a, b: slope_of_units(q, p + q, K, a, b),
        lambda q, p, K, a, b: q + (a * (K @ p + b).tanh()).sum(),
        lambda q, p, K, a, b: q + K.T @ (a / (K @ p + b).cosh() ** 2),
        "a doubled",
    ],
    "vector_softmax_gradient": [
        without_the_one,
        lambda z, A: 2 * shares(z, A).T @ z @ A,
        lambda z, A: symplectic_attention(z, A, softmax="matrix"),
        "A transposed",
        overflowing,
    ],
}
