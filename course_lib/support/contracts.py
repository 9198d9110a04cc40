"""The signature of a public function is its contract: :func:`checked` refuses what does not fit.

Shapes and values raise ``ValueError``, types and dtypes ``TypeError``. Each message says what was
given, what was expected and what to do. Nothing is converted, truncated or broadcast.
"""

import functools
import inspect
import math
import reprlib
import types
from collections.abc import Callable, Hashable, Iterable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

import torch
from jaxtyping import AbstractArray, Float, Int, Shaped
from torch import Tensor, nn


@dataclass(frozen=True)
class Between:
    """From ``low`` to ``high``, both included."""

    low: float
    high: float = math.inf

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def __str__(self) -> str:
        return f"in [{self.low}, {self.high}]" if self.high < math.inf else f"of {self.low} or more"


@dataclass(frozen=True)
class Above:
    """Larger than ``low``."""

    low: float

    def __contains__(self, value: float) -> bool:
        return value > self.low

    def __str__(self) -> str:
        return f"above {self.low}"


LARGEST, LARGEST_EXACT = 2**31 - 1, 2**53
"""No integer is larger unless its annotation says so, since no memory holds as many numbers."""

Size = Annotated[int, Between(1)]
Count = Annotated[int, Between(0)]
Positive = Annotated[float, Above(0)]
NotNegative = Annotated[float, Between(0)]
UnitInterval = Annotated[float, Between(0, 1)]

DTYPES = {
    "Bool": ("torch.bool", "{}.bool(), which is True for all but 0"),
    "Float": ("floating point", "{}.float()"),
    "Real": ("numbers", "{}.float()"),
}
"""The dtypes that an annotation expects, and how to convert."""

options: dict[str, bool] = {"check_returned": False}
"""The tests set it, to check results as well."""

_inside = ContextVar("inside", default=False)


def checked(function: Callable | None = None, *, calls_back: bool = False) -> Callable:
    """Refuse arguments that do not fit the annotations of a function, method or dataclass.

    Checked are arrays as ``Float[Tensor, "*batch query d"]``, ``int``, ``float`` (a finite number;
    an ``int`` is one too), ``Literal``, classes, unions, and limits as ``Annotated[float,
    Between(0, 1)]``. An axis has one size in all arguments; where an integer argument or attribute
    of ``self`` has its name, that integer; ``graph.nodes`` is an attribute of an argument. ``#``
    lets it be 1, a star stands for any number of axes. What is annotated as ``Float`` has one
    dtype, except under ``torch.autocast``; all tensors are on one device; the parameters of a
    module count. Of an argument that is a function whose result is annotated as an array, each
    result is checked too.

    Only calls from outside are checked: not those that a checked function makes in turn, nor those
    that ``torch.compile`` traces. ``calls_back`` is for a function that runs code of its caller, as
    a training loop does: calls from that code are checked.
    """
    if function is None:
        return functools.partial(checked, calls_back=calls_back)
    if isinstance(function, type):
        function.__init__ = checked(function.__init__)
        return function
    by_position = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = inspect.signature(function).parameters.values()
    names = [parameter.name for parameter in parameters if parameter.kind in by_position]
    owned = names[:1] == ["self"] and function.__name__ != "__init__"

    @functools.cache
    def contract() -> dict[str, _Test]:
        hints = get_type_hints(function, include_extras=True)
        # Axes that may be 1 come last, when the sizes of the others are known.
        in_turn = sorted(hints, key=lambda name: "#" in str(hints[name]))
        return {name: test_of(hints[name]) for name in in_turn}

    @functools.cache
    def tests_of_results() -> dict[str, _Test]:
        hints = get_type_hints(function, include_extras=True)
        return {name: test_of(get_args(it)[1]) for name, it in hints.items() if _gives_array(it)}

    @functools.wraps(function)
    def door(*given: Any, **named: Any) -> Any:
        if torch.compiler.is_compiling() or _inside.get():
            return function(*given, **named)
        arguments = dict(zip(names, given, strict=False)) | named
        call = Call(arguments, arguments.get("self") if owned else None)
        for name, test in contract().items():
            if name in arguments:
                test(call, name, arguments[name])
        if tests_of_results():
            for name in tests_of_results().keys() & arguments.keys():
                test = tests_of_results()[name]
                arguments[name] = _with_checked_results(call, name, arguments[name], test)
            given = *(arguments[name] for name in names[: len(given)]), *given[len(names) :]
            named = {name: arguments[name] for name in named}
        outside = _inside.set(not calls_back)
        try:
            result = function(*given, **named)
        finally:
            _inside.reset(outside)
        if options["check_returned"] and "return" in contract():
            call.is_over = True
            contract()["return"](call, f"the result of {function.__qualname__}", result)
        return result

    return door


class Call:
    """The sizes, dtype and device that the arguments of a call have in common so far."""

    def __init__(self, arguments: dict[str, Any] | None = None, owner: object = None) -> None:
        self.arguments, self.owner = arguments or {}, owner
        self.is_over = False  # True for a test of the result, which may be inf, or large
        self.sizes: dict[str, tuple[Any, str]] = {}
        self.open: set[str] = set()  # axes that only broadcasting arguments have had so far
        self.first: tuple[str, Tensor] | None = None
        self.floating: tuple[str, Tensor] | None = None
        for name, module in self.arguments.items():
            if isinstance(module, nn.Module) and (name != "self" or module is owner):
                title = "parameters" if module is owner else f"the parameters of {name}"
                self._settle_by(title, module)

    def _settle_by(self, name: str, module: nn.Module) -> None:
        for parameter in module.parameters():
            self.first = self.first or (name, parameter)
            if parameter.is_floating_point():
                self.floating = self.floating or (name, parameter)
                return

    def size(self, axis: str) -> tuple[Any, str] | None:
        """The size of an axis and where it was found, ``None`` if it is free."""
        if axis.isdigit():
            return int(axis), ""
        if axis not in self.sizes:
            argument, _, attribute = axis.partition(".")
            size, source = self.arguments.get(argument), "the arguments"
            if attribute:
                size, source = getattr(size, attribute, None), argument
            elif (of_owner := getattr(self.owner, axis, None)) is not None:
                size, source = of_owner, f"this {type(self.owner).__name__}"
            if type(size) is int:
                self.sizes[axis] = size, source
        return self.sizes.get(axis)


_Test = Callable[[Call, str, Any], None]


def test_of(annotation: Any) -> _Test:
    """The test of one annotation, which raises for a value that does not fit."""
    kind, parts = get_origin(annotation), get_args(annotation)
    if kind in {Union, types.UnionType}:
        nothing_first = sorted(parts, key=lambda part: part is not types.NoneType)
        return functools.partial(_one_of, [test_of(part) for part in nothing_first])
    if kind is Annotated:
        return functools.partial(number_within, parts[0], parts[1:])
    if kind is Literal:
        return functools.partial(_choice, parts)
    if annotation in {int, float}:
        return functools.partial(number_within, annotation, ())
    if isinstance(annotation, type) and issubclass(annotation, AbstractArray):
        return functools.partial(_array, annotation, axes_of(annotation.dim_str))
    expected = kind or annotation
    if (
        expected is Any
        or not isinstance(expected, type)
        or (getattr(expected, "_is_protocol", False) and not expected._is_runtime_protocol)
    ):
        return _anything
    if expected is Iterable:  # a for loop takes other classes too
        return _anything
    if kind is tuple and parts and ... not in parts:
        return functools.partial(_tuple, [test_of(part) for part in parts])
    plain = parts and isinstance(parts[0], type) and not issubclass(parts[0], AbstractArray)
    if plain and issubclass(expected, Sequence):
        return functools.partial(_each, expected, test_of(parts[0]))
    return functools.partial(_instance, expected)


def _gives_array(annotation: Any) -> bool:
    result = get_args(annotation)[1] if get_origin(annotation) is Callable else None
    return isinstance(result, type) and issubclass(result, AbstractArray)


def _with_checked_results(call: Call, name: str, function: Callable, test: _Test) -> Callable:
    @functools.wraps(function, updated=())  # the attributes of a module are not a function's
    def watched(*given: Any, **named: Any) -> Any:
        result = function(*given, **named)
        test(call, f"the result of {name}", result)
        return result

    return watched


def _anything(_: Call, name: str, value: object) -> None:
    """Accept any value."""


def _one_of(tests: list[_Test], call: Call, name: str, value: object) -> None:
    refusals = []
    for test in tests:
        before = call.sizes.copy(), call.first, call.floating
        try:
            return test(call, name, value)
        except (TypeError, ValueError) as refusal:
            refusals.append(refusal)
            call.sizes, call.first, call.floating = before
    # Raise for the option that fits best: by its type, then by its number of axes.
    fits = [(isinstance(error, ValueError), "; got " in str(error)) for error in refusals]
    raise refusals[max(range(len(fits)), key=lambda option: (fits[option], option))]


def _tuple(tests: list[_Test], call: Call, name: str, value: object) -> None:
    if not isinstance(value, tuple) or len(value) != len(tests):
        held = f" of {len(value)}" if isinstance(value, tuple) else ""
        raise TypeError(
            f"{name} is a {_kind(value)}{held}; expected a tuple of {len(tests)}; pass one"
        )
    for position, (test, part) in enumerate(zip(tests, value, strict=True)):
        test(call, f"{name}[{position}]", part)


def _each(kind: type, test: _Test, call: Call, name: str, value: object) -> None:
    _instance(kind, call, name, value)
    for position, entry in enumerate(value):
        test(call, f"{name}[{position}]", entry)


def number_within(
    kind: type, limits: tuple[Between | Above, ...], call: Call, name: str, value: object
) -> None:
    """Raise unless ``value`` is a number of this kind, within the limits."""
    if isinstance(value, bool) or not isinstance(value, Integral if kind is int else Real):
        expected, do = (
            ("an integer", "round it yourself, nothing is truncated here")
            if kind is int
            else ("a number", f"convert it with float({name})")
        )
        shown = f"{reprlib.repr(value)}, a {_kind(value)}"  # short for large values too
        raise TypeError(f"{name} is {shown}; expected {expected}; {do}")
    if isinstance(value, Integral) and all(map(_is_open, limits)) and not call.is_over:
        largest = LARGEST if kind is int else LARGEST_EXACT
        limits = (*limits, Between(-largest, largest)) if abs(value) > largest else limits
    finite = -math.inf < value < math.inf or call.is_over
    if not finite or any(value not in limit for limit in limits):
        expected = "an integer" if kind is int else "a finite number"
        wanted = " and".join(f" {limit}" for limit in limits)
        raise ValueError(f"{name} is {value}; expected {expected}{wanted}; choose another value")


def _is_open(limit: Between | Above) -> bool:
    return getattr(limit, "high", math.inf) == math.inf


def _choice(choices: tuple[Hashable, ...], _: Call, name: str, value: object) -> None:
    if not isinstance(value, tuple(map(type, choices))) or value not in choices:
        listed = ", ".join(map(repr, choices))
        shown = reprlib.repr(value)
        raise ValueError(f"{name} is {shown}; expected one of {listed}; choose one of these")


def _instance(expected: type, call: Call, name: str, value: object) -> None:
    if not isinstance(value, expected):
        raise TypeError(
            f"{name} is a {_kind(value)}; expected a {_title(expected)}; "
            + (f"convert it with torch.as_tensor({name})" if expected is Tensor else "pass one")
        )
    if isinstance(value, Tensor):
        _same_device(call, name, value)


class _Axis(NamedTuple):
    name: str
    """With its star; ``...`` and ``_`` stand for any size."""
    may_be_1: bool


def axes_of(layout: str) -> list[_Axis]:
    """The axes that a layout such as ``"*batch #query d"`` names."""
    return [_Axis(axis.replace("#", ""), "#" in axis) for axis in layout.split()]


def _array(
    annotation: type[AbstractArray], axes: list[_Axis], call: Call, name: str, value: object
) -> None:
    _instance(Tensor, call, name, value)
    dtype = str(value.dtype).removeprefix("torch.")
    # PyTorch takes no shorter integers as an index.
    dtypes = ("int32", "int64") if annotation.dtype is Int else annotation.dtypes
    if annotation.dtype is not Shaped and dtype not in dtypes:
        expected, do = DTYPES.get(annotation.dtype.__name__, ("integers", "{}.long()"))
        raise TypeError(
            f"{name} has dtype {value.dtype}; expected {expected}; "
            f"convert it with {do.format(name)}"
        )
    if annotation.dtype is Float:
        _same_dtype(call, name, value)
    same_sizes(axes, call, name, tuple(value.shape))


def same_sizes(axes: list[_Axis], call: Call, name: str, shape: tuple[int, ...]) -> None:
    """Raise ``ValueError`` unless a shape has these axes, of sizes that the call has settled."""
    layout = "(" + ", ".join(axis.name for axis in axes) + ("," if len(axes) == 1 else "") + ")"
    star = next((i for i, axis in enumerate(axes) if axis.name[0] in "*."), None)
    spare = len(shape) - len(axes) + (star is not None)
    if spare < 0 or (spare > 0 and star is None):
        count = f"{len(axes)} axes" if star is None else f"at least {len(axes) - 1} axes"
        raise ValueError(
            f"{name} has shape {shape}; expected {layout}, {count}; "
            f"add or remove axes with {name}.reshape(...)"
        )
    found = list(shape)
    if star is not None:
        found[star : star + spare] = [shape[star : star + spare]]
    for axis, size in zip(axes, found, strict=True):
        if axis.name in {"...", "_"}:
            continue
        settled = call.size(axis.name)
        if settled is None:
            if not (axis.may_be_1 and size == 1):
                call.sizes[axis.name] = size, f"{name} of shape {shape}"
            if axis.may_be_1 and axis.name[0] == "*":
                call.open.add(axis.name)
        elif axis.name in call.open and (both := _broadcast(settled[0], size)):
            call.sizes[axis.name] = both, f"{name} of shape {shape}"
        elif size != settled[0] and not (axis.may_be_1 and broadcasts(size, settled[0])):
            expected, source = settled
            reason = f" with {axis.name} = {expected}, as in {source}" if source else ""
            remedy = "or 1 for all" if axis.may_be_1 else "nothing is broadcast here"
            raise ValueError(
                f"{name} has shape {shape}; expected {layout}{reason}; got {size}; "
                f"make the two equal, {remedy}"
            )


def _broadcast(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...] | None:
    try:
        return tuple(torch.broadcast_shapes(one, other))
    except RuntimeError:
        return None


def broadcasts(size: int | tuple[int, ...], wanted: int | tuple[int, ...]) -> bool:
    """Whether axes of ``size`` broadcast to axes of the size ``wanted``."""
    if isinstance(size, int):
        return size in {1, wanted}
    return len(size) <= len(wanted) and all(
        mine in {1, its} for mine, its in zip(reversed(size), reversed(wanted), strict=False)
    )


def _same_dtype(call: Call, name: str, value: Tensor) -> None:
    call.floating = call.floating or (name, value)
    first, reference = call.floating
    if value.dtype != reference.dtype and not _autocasts(reference.device.type):
        raise TypeError(
            f"{name} has dtype {value.dtype} and {first} has {reference.dtype}; "
            f"expected one dtype; convert with {name}.to({reference.dtype})"
        )


def _autocasts(device: str) -> bool:
    return torch.amp.is_autocast_available(device) and torch.is_autocast_enabled(device)


def _same_device(call: Call, name: str, value: Tensor) -> None:
    call.first = call.first or (name, value)
    first, reference = call.first
    if value.device != reference.device:
        raise ValueError(
            f"{name} is on {value.device} and {first} on {reference.device}; expected one device; "
            f"move it with {name}.to({str(reference.device)!r})"
        )


def _kind(value: object) -> str:
    return _title(type(value))


def _title(kind: type) -> str:
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
