from torch import Tensor

from course_lib.symplectic import symplectic_attention


def slope_of_units(q: Tensor, p: Tensor, K: Tensor, a: Tensor, b: Tensor) -> Tensor:
    return q + K.T @ (a * (K @ p + b).tanh())


RIGHT = {
    "gradient_layer": [slope_of_units],
    "vector_softmax_gradient": [lambda z, A: symplectic_attention(z, A, softmax="vector")],
}


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
        "p rounded",
        "b one more",
        "a doubled",
    ],
    "vector_softmax_gradient": [
        without_the_one,
        "answer averaged",
        lambda z, A: symplectic_attention(z, A, softmax="matrix"),
        "A transposed",
        overflowing,
    ],
}
