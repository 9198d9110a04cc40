"""Six ways to stack layers."""

import torch
from torch.nn import functional as F

from course_lib.models.deep_stacks import KINDS, StackedLayer


def normed(x: torch.Tensor) -> torch.Tensor:
    return F.layer_norm(x, x.shape[-1:])


FORMULAS = {
    "bare": lambda f, x: f(x),
    "bare, tuned": lambda f, x: f(x),
    "norm only": lambda f, x: f(normed(x)),
    "way around only": lambda f, x: x + f(x),
    "post-norm": lambda f, x: normed(x + f(x)),
    "pre-norm": lambda f, x: x + f(normed(x)),
}


def test_a_layer_is_its_formula() -> None:
    for kind in KINDS:
        torch.manual_seed(0)
        layer, x = StackedLayer(kind, 6), 3 * torch.randn(5, 6)
        torch.testing.assert_close(layer(x), FORMULAS[kind](layer.f, x))
