"""Six ways to put a layer into a stack."""

import pytest
import torch
from torch.nn import functional as F

from course_lib.deep_stacks import KINDS, StackedLayer, deep_stack, middle_letter_model


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


@pytest.mark.parametrize("kind", KINDS)
def test_a_layer_is_its_formula(kind: str) -> None:
    torch.manual_seed(0)
    layer, x = StackedLayer(kind, 6), 3 * torch.randn(5, 6)
    torch.testing.assert_close(layer(x), FORMULAS[kind](layer.f, x))


@pytest.mark.parametrize("kind", KINDS)
def test_a_stack_puts_its_layers_one_upon_the_other(kind: str) -> None:
    torch.manual_seed(0)
    stack, x = deep_stack(kind, 3, 4), torch.randn(2, 4)
    torch.testing.assert_close(stack(x), stack[2](stack[1](stack[0](x))))


def test_tuned_weights_keep_differences_through_sixty_layers_and_usual_ones_do_not() -> None:
    torch.manual_seed(0)
    x = torch.randn(64, 64)
    kept = {}
    for kind in ("bare", "bare, tuned"):
        with torch.no_grad():
            top = deep_stack(kind, 60, 64)(x)
        kept[kind] = ((top - top.mean(0)).norm() / top.norm()).item()
    assert kept["bare"] < 1e-3
    assert kept["bare, tuned"] > 0.3


def test_the_model_of_middle_letters_has_a_logit_for_each_letter() -> None:
    assert middle_letter_model("pre-norm", 2, 8)(torch.zeros(5, 104)).shape == (5, 26)


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="kind is 'sideways'"):
        StackedLayer("sideways", 4)
