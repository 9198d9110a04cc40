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
    "gradient layer": ("gradient_layer", slope_of_units),
    "gradient layer of the library": ("gradient_layer", by_the_library),
    "gradient layer by autograd": ("gradient_layer", layer_by_autograd),
    "gradient layer in numpy": (
        "gradient_layer",
        lambda q, p, K, a, b: slope_of_units(q, p, K, a, b).numpy(),
    ),
    "two terms": ("vector_softmax_gradient", two_terms),
    "vector softmax by autograd": ("vector_softmax_gradient", attention_by_autograd),
    "vector softmax in numpy": ("vector_softmax_gradient", in_numpy),
    "vector softmax of the library": (
        "vector_softmax_gradient",
        lambda z, A: symplectic_attention(z, A, softmax="vector"),
    ),
}


def shares(z: Tensor, A: Tensor) -> Tensor:
    score = z @ A @ z.T
    return (score - torch.logaddexp(score.logsumexp(0), torch.zeros(len(z)))).exp()


def along_rows(z: Tensor, A: Tensor) -> Tensor:
    """Both terms, with the sums along the other axis of the scores."""
    score = z @ A @ z.T
    total = torch.logaddexp(score.logsumexp(1, keepdim=True), torch.zeros(len(z), 1))
    S = (score - total).exp()
    return S @ z @ A.T + S.T @ z @ A


def overflowing(z: Tensor, A: Tensor) -> Tensor:
    weight = (z @ A @ z.T).exp()
    S = weight / (1 + weight.sum(0))
    return S @ z @ A.T + S.T @ z @ A


def without_the_one(z: Tensor, A: Tensor) -> Tensor:
    S = (z @ A @ z.T).softmax(0)
    return S @ z @ A.T + S.T @ z @ A


# What was tried, what it breaks, the smallest input, and a word of the hint.
WRONG = {
    "units that all push alike": (
        "gradient_layer",
        lambda q, p, K, a, b: q + (a * (K @ p + b).tanh()).sum(),
        "a push that belongs to a potential is reciprocal",
        "q = tensor([0., 0.])",
        "Through which matrix does p go in",
    ),
    "another matrix on the way out": (
        "gradient_layer",
        lambda q, p, K, a, b: q + K.roll(1, 1).T @ (a * (K @ p + b).tanh()),
        "a push that belongs to a potential is reciprocal",
        "p = tensor([-0.0156,  0.0000])",
        "the two are one mixed derivative",
    ),
    "the push alone": (
        "gradient_layer",
        lambda q, p, K, a, b: slope_of_units(q, p, K, a, b) - q,
        "with a = 0 the potential is zero",
        "returned tensor([0.])",
        "What does the layer return?",
    ),
    "q in the slope": (
        "gradient_layer",
        lambda q, p, K, a, b: slope_of_units(q, p + q, K, a, b),
        "how far q moves does not depend on q",
        "a = tensor([1.])",
        "Where does q come into your slope?",
    ),
    "downhill": (
        "gradient_layer",
        lambda q, p, K, a, b: 2 * q - slope_of_units(q, p, K, a, b),
        "q moves by the slope of the potential",
        "q = tensor([0.])",
        "You go down the slope",
    ),
    "no bias": (
        "gradient_layer",
        lambda q, p, K, a, b: slope_of_units(q, p, K, a, 0 * b),
        "q moves by the slope of the potential",
        "b = tensor([1.])",
        "Without b",
    ),
    "no amplitude": (
        "gradient_layer",
        lambda q, p, K, a, b: slope_of_units(q, p, K, torch.sign(a), b),
        "q moves by the slope of the potential",
        "a = tensor([0.5000])",
        "its own a",
    ),
    "the slope of the hyperbolic tangent": (
        "gradient_layer",
        lambda q, p, K, a, b: q + K.T @ (a / (K @ p + b).cosh() ** 2),
        "q moves by the slope of the potential",
        "returned tensor([1.])",
        "its antiderivative",
    ),
    "logistic units": (
        "gradient_layer",
        lambda q, p, K, a, b: q + K.T @ (a * (K @ p + b).sigmoid()),
        "q moves by the slope of the potential",
        "returned tensor([0.5000])",
        "pencil and paper",
    ),
    "standard attention, doubled": (
        "vector_softmax_gradient",
        lambda z, A: 2 * shares(z, A).T @ z @ A,
        "what token 1 does to token 2 is what token 2 does to token 1",
        "A = tensor([[1.]])",
        "Who pulls at those it asked?",
    ),
    "the other term, doubled": (
        "vector_softmax_gradient",
        lambda z, A: 2 * shares(z, A) @ z @ A,
        "what token 1 does to token 2 is what token 2 does to token 1",
        "A = tensor([[1.]])",
        "Who pulls at the one that asks?",
    ),
    "sums along the rows": (
        "vector_softmax_gradient",
        along_rows,
        "for an A that is not symmetric, too",
        "A = tensor([[0., 0.]",
        "or you sum along the rows",
    ),
    "the score without its derivative": (
        "vector_softmax_gradient",
        lambda z, A: shares(z, A) @ z,
        "with A = 0 all scores are zero",
        "A = tensor([[0.]])",
        "neither does the potential",
    ),
    "half of it": (
        "vector_softmax_gradient",
        lambda z, A: two_terms(z, A) / 2,
        "one token of one feature",
        "z = tensor([[1.]])",
        "the product rule",
    ),
    "an ordinary softmax": (
        "vector_softmax_gradient",
        without_the_one,
        "one token of one feature",
        "returned tensor([[2.]])",
        "Where is the 1",
    ),
    "the force instead of the gradient": (
        "vector_softmax_gradient",
        lambda z, A: -two_terms(z, A),
        "one token of one feature",
        "z = tensor([[1.]])",
        "the wrong way round",
    ),
    "the matrix softmax": (
        "vector_softmax_gradient",
        lambda z, A: symplectic_attention(z, A, softmax="matrix"),
        "for a symmetric A it is the gradient",
        "A = tensor([[1.]])",
        "each column has a sum of its own",
    ),
    "right for symmetric A": (
        "vector_softmax_gradient",
        lambda z, A: (shares(z, A) + shares(z, A).T) @ z @ A,
        "for an A that is not symmetric, too",
        "[1., 0.]",
        "right for symmetric A alone",
    ),
    "the matrices swapped": (
        "vector_softmax_gradient",
        lambda z, A: shares(z, A) @ z @ A + shares(z, A).T @ z @ A.T,
        "for an A that is not symmetric, too",
        "returned tensor([[",
        "beside the wrong half",
    ),
    "exponentials that overflow": (
        "vector_softmax_gradient",
        overflowing,
        "scores in the thousands do no harm",
        "tensor([[60.]])",
        "more than a float can hold",
    ),
}
