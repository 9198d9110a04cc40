from collections.abc import Callable

from torch import Tensor
from torch.nn import functional as F


def normed(x: Tensor) -> Tensor:
    return F.layer_norm(x, x.shape[-1:])


def stack(step: Callable[[Tensor, Tensor], Tensor]) -> Callable[[Tensor, Tensor], Tensor]:
    def attempt(x: Tensor, weight: Tensor) -> Tensor:
        for matrix in weight:
            x = step(x, matrix)
        return x

    return attempt


RIGHT = {
    "layer_norm": [lambda x, weight, bias: weight * normed(x) + bias],
    "pre_norm_stack": [stack(lambda x, matrix: x + normed(x) @ matrix)],
}

WRONG = {
    "layer_norm": [
        "answer averaged",
        "weight squared",
        lambda x, weight, bias: F.layer_norm(x, x.shape[-1:], weight, bias, eps=0.0),
    ],
    "pre_norm_stack": [
        stack(lambda x, matrix: normed(x) @ matrix),
        stack(lambda x, matrix: x + x @ matrix),
        "weight reversed",
    ],
}
