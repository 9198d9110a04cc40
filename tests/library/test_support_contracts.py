"""A checked function refuses what its annotations do not allow, and is otherwise unchanged."""

import inspect
import math
import pkgutil
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

import pytest
import torch
from fuzz import is_checked
from jaxtyping import Bool, Float, Int
from seeded_tensors import randn
from torch import Tensor, nn

import course_lib
from course_lib.support import contracts
from course_lib.support.contracts import Positive, Size, UnitInterval, checked

X = randn(2, 3, 4)
SEES = torch.ones(3, 3, dtype=torch.bool)


@checked
def scores(
    query: Float[Tensor, "*batch query d"],
    key: Float[Tensor, "*batch key d"],
    mask: Bool[Tensor, "*#batch #query #key"] | None = None,
    *,
    scale: Positive | None = None,
    backend: Literal["plain", "fused"] = "plain",
    copies: Size = 1,
    share: UnitInterval = 0.0,
    shift: float = 0,
    first: tuple[Int[Tensor, "query"], Float[Tensor, "d"]] | None = None,
    widths: Sequence[int] = (),
) -> Float[Tensor, "*batch query key"]:
    """The products of queries and keys."""
    del mask, scale, backend, copies, share, shift, first, widths
    return query @ key.mT


class Layer(nn.Module):
    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.d_model = d_model
        self.linear = nn.Linear(d_model, d_model)

    @checked
    def forward(self, x: Float[Tensor, "*batch tokens d_model"]) -> Tensor:
        return self.linear(x)


@checked
@dataclass
class Cloud:
    points: Float[Tensor, "points 2"]
    weights: Float[Tensor, "points"]


# Public, with arguments, and unchecked: their checks stand in their bodies, or in what they call.
UNCHECKED = """
visible_keys where_visible zero_unweighted zero_where_unseen zero_unseen_keys finite_where_unseen
for_all_heads check_even kept_entries ContinuousBernoulli Rods relu_network train_operator
exact_distribution class_number HarmonicFit IntegrationError by_distance by_both_ends
TrigonometricPolynomial SymplecticStack InvertibleStack
"""


@pytest.mark.parametrize(
    ("given", "named", "error", "message"),
    [
        (([1.0], X), {}, TypeError, "query is a list; expected a torch.Tensor"),
        ((X.long(), X), {}, TypeError, "query has dtype torch.int64; expected floating point"),
        ((X, X.float()), {}, TypeError, "key has dtype torch.float32 and query has torch.float64"),
        ((X, X.to("meta")), {}, ValueError, "key is on meta and query on cpu"),
        ((X[0, 0], X), {}, ValueError, "expected (*batch, query, d), at least 2 axes"),
        ((X, X[..., :3]), {}, ValueError, "d = 4, as in query of shape (2, 3, 4); got 3"),
        ((X, X[:1]), {}, ValueError, "*batch = (2,), as in query"),
        ((X, X, X), {}, TypeError, "mask has dtype torch.float64; expected torch.bool"),
        ((X, X, SEES[:2]), {}, ValueError, "query = 3, as in query of shape (2, 3, 4); got 2"),
        ((X, X, SEES.expand(3, 3, 3)), {}, ValueError, "*batch = (2,)"),
        ((X, X, SEES.expand(2, 2, 3, 3)), {}, ValueError, "*batch = (2,)"),
        ((X, X), {"scale": 0}, ValueError, "scale is 0; expected a finite number above 0"),
        ((X, X), {"scale": "1"}, TypeError, "scale is '1', a str; expected a number"),
        ((X, X), {"backend": "jax"}, ValueError, "backend is 'jax'; expected one of 'plain'"),
        ((X, X), {"copies": 0}, ValueError, "copies is 0; expected an integer of 1 or more"),
        ((X, X), {"copies": True}, TypeError, "copies is True, a bool; expected an integer"),
        ((X, X), {"copies": 1.0}, TypeError, "copies is 1.0, a float; expected an integer"),
        ((X, X), {"share": 1.1}, ValueError, "share is 1.1; expected a finite number in [0, 1]"),
        ((X, X), {"shift": math.nan}, ValueError, "shift is nan; expected a finite number"),
        ((X, X), {"copies": 2**40}, ValueError, "expected an integer of 1 or more and in"),
        ((X, X), {"first": X}, TypeError, "first is a torch.Tensor; expected a tuple of 2"),
        ((X, X), {"first": (X[0], X)}, TypeError, "first[0] has dtype"),
        ((X, X), {"first": (torch.arange(3),)}, TypeError, "a tuple of 1; expected a tuple of 2"),
        ((X, X), {"first": (torch.arange(3).char(), X[0, 0])}, TypeError, "expected integers"),
        ((X, X), {"backend": X}, ValueError, "expected one of 'plain'"),
        ((X, X), {"widths": 3}, TypeError, "widths is a int; expected a"),
        ((X, X), {"widths": [1, "2"]}, TypeError, "widths[1] is '2', a str; expected an integer"),
        ((X,), {}, TypeError, "missing 1 required positional argument"),
    ],
)
def test_what_does_not_fit_is_refused(
    given: tuple, named: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=re.escape(message)):
        scores(*given, **named)


def test_what_fits_is_taken() -> None:
    everything = {"scale": 1, "backend": "fused", "copies": 2, "first": (torch.arange(3), X[0, 0])}
    for mask in (None, SEES, SEES[:1], SEES[None], SEES.expand(2, 3, 3)):
        assert torch.equal(scores(X, X, mask, **everything), X @ X.mT)
    with torch.autocast("cpu", torch.bfloat16):
        assert scores(X.bfloat16(), X.float()).dtype == torch.bfloat16


def test_a_module_has_a_say_in_sizes_and_dtypes() -> None:
    layer = Layer(4).double()
    assert layer(X).shape == X.shape
    with pytest.raises(ValueError, match=r"d_model = 4, as in this Layer; got 3"):
        layer(X[..., :3])
    with pytest.raises(TypeError, match=r"x has dtype torch.float32 and parameters has"):
        layer(X.float())


def test_the_fields_of_a_dataclass_are_checked() -> None:
    with pytest.raises(ValueError, match="points = 3"):
        Cloud(X[0, :, :2], X[0, :2, 0])
    with pytest.raises(ValueError, match="2 axes"):
        Cloud(X[..., :2], X[0, :, 0])


def test_what_a_checked_function_calls_is_not_checked_again() -> None:
    @checked
    def trusting(key: Tensor) -> Tensor:
        return scores(key, key[:1])

    @checked(calls_back=True)
    def calling(function: Callable[[], Tensor]) -> Tensor:
        return function()

    assert trusting(X).shape == (2, 3, 3)
    with pytest.raises(ValueError, match="batch"):
        calling(lambda: scores(X, X[:1]))
    with pytest.raises(ValueError, match="batch"):
        scores(X, X[:1])


@checked
def blended(
    x: Float[Tensor, "points"], basis: Callable[[Tensor], Float[Tensor, "points nodes"]]
) -> Tensor:
    return basis(x).sum(-1)


@pytest.mark.parametrize("returned", [None, 1.0, torch.zeros(2), torch.zeros(2, 4)])
def test_what_a_function_of_the_caller_returns_is_checked(returned: object) -> None:
    assert blended(X[0, 0], basis=lambda x: x[:, None]).shape == (4,)
    with pytest.raises((TypeError, ValueError), match="the result of basis"):
        blended(X[0, 0], lambda _: returned)


def test_a_result_is_checked_where_the_tests_ask_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def large() -> tuple[int, float]:
        return 2**40, math.inf

    @checked
    def flat(x: Float[Tensor, "tokens d"]) -> Float[Tensor, "d tokens"]:
        return x

    with pytest.raises(ValueError, match=r"the result of .*flat has shape \(3, 4\)"):
        flat(X[0])
    assert checked(large)() == (2**40, math.inf)
    monkeypatch.setattr(contracts, "options", {"check_returned": False})
    assert flat(X[0]) is not None


def test_pytorch_sees_through_the_check() -> None:
    compiled = torch.compile(scores, fullgraph=True, backend="eager")
    assert torch.equal(compiled(X, X), X @ X.mT)
    assert torch.equal(torch.func.vmap(scores)(X, X), X @ X.mT)
    assert torch.autograd.gradcheck(scores, (X.clone().requires_grad_(), X))
    assert list(inspect.signature(scores).parameters)[:2] == ["query", "key"]
    assert scores.__doc__ == "The products of queries and keys."


def test_every_public_function_constructor_and_forward_is_checked() -> None:
    library = [module.name for module in pkgutil.iter_modules(course_lib.__path__)]
    topics = {*library} - {"data", "exercises", "kernels", "models", "support", "widgets"}
    found = set()
    for topic in map(import_module, (f"course_lib.{name}" for name in topics)):
        public = getattr(topic, "__all__", None) or [name for name in vars(topic) if name[0] != "_"]
        for name in public:
            thing = getattr(topic, name)
            if not getattr(thing, "__module__", "").startswith(topic.__name__):
                continue
            of_class = [vars(thing).get(it) for it in ("__init__", "forward")]
            for function in of_class if inspect.isclass(thing) else [thing]:
                unchecked = inspect.isfunction(function) and not is_checked(function)
                if unchecked and {*inspect.signature(function).parameters} - {"self"}:
                    found.add(name)
    assert found == set(UNCHECKED.split())
