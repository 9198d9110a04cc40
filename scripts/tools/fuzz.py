"""Call every checked function of the library with one bad argument, and report obscure failures.

Valid arguments are drawn from the annotations, or come from a recipe where annotations do not say
enough; then one of them is replaced. The call may return, or raise a ``TypeError`` or
``ValueError`` that says what was expected. Anything else is a fault: another exception, an obscure
message, nan from finite arguments, no answer in five seconds of processor time. ``make fuzz`` runs
it, and so does::

    python scripts/tools/fuzz.py --calls 20000 --seed 1 --only course_lib.attention
"""

import argparse
import importlib
import inspect
import math
import os
import pkgutil
import random
import re
import signal
import types
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import torch
from fuzz_recipes import RECIPES
from jaxtyping import AbstractArray
from torch import Tensor, nn

import course_lib
from course_lib.graph_dynamics import Diffusion, HamiltonianFlow
from course_lib.graph_dynamics.flows import Flow
from course_lib.support.contracts import Above, Between
from course_lib.transformer import Decoder

SKIPPED = ("widgets", "exercises", "data")
# Decomposes a matrix of 1,797 by 1,797 at each call.
TOO_SLOW = "course_lib.models.digit_graph.digit_graph"
SECONDS = 5
MOSTLY = 0.8
PYTHONS_OWN = (
    "argument",
    "unexpected keyword",
    "abstract",
    "has no gradient",
    "iterable",
    "iteration",
    "Half",
)


class NoValueError(Exception):
    """An annotation from which no value can be drawn, such as a function of the caller's."""


def callables() -> dict[str, tuple[type | None, Callable]]:
    """Every checked function and method of the library: its class, if any, and itself."""
    found = {}
    for module in pkgutil.walk_packages(course_lib.__path__, "course_lib."):
        if module.name.split(".")[1] in SKIPPED:
            continue
        home = importlib.import_module(module.name)
        for name, thing in vars(home).items():
            if name.startswith("_") or getattr(thing, "__module__", "") != module.name:
                continue
            if inspect.isclass(thing):
                for method, function in vars(thing).items():
                    if is_checked(function) and (method[0] != "_" or method == "__init__"):
                        found[f"{module.name}.{name}.{method}"] = thing, function
            elif is_checked(thing):
                found[f"{module.name}.{name}"] = None, thing
    return found


def is_checked(thing: object) -> bool:
    """Whether a function is ``@checked``."""
    return inspect.isfunction(thing) and thing.__code__.co_name == "door"


class Draw:
    """Arguments for one call; axes of the same name have the same size."""

    def __init__(self, chance: random.Random, owner: object = None) -> None:
        self.chance, self.owner = chance, owner
        self.sizes: dict[str, Any] = {}
        self.drawn: dict[str, Any] = {}
        # The kernels take single precision, layers that were drawn take double.
        self.dtype = chance.choice([torch.float32, torch.float64, torch.float64])
        self.simple: dict[Any, Callable[[], Any]] = {
            types.NoneType: lambda: None,
            int: lambda: chance.randint(0, 5),
            float: lambda: chance.uniform(-1, 1),
            bool: self.coin,
            str: lambda: "anna",
            torch.Generator: lambda: torch.Generator().manual_seed(chance.randrange(100)),
            Sequence[int]: lambda: [0, 1],
            Flow: lambda: self.instance(chance.choice([Diffusion, HamiltonianFlow])),
        }

    def coin(self) -> bool:
        """True or False with even chances."""
        return bool(self.chance.getrandbits(1))

    def arguments(self, function: Callable) -> dict[str, Any]:
        """Keyword arguments that fit the annotations, each optional one with even chances."""
        hints = get_type_hints(inspect.unwrap(function), include_extras=True)
        drawn = self.drawn
        parameters = [
            parameter
            for parameter in inspect.signature(function).parameters.values()
            if parameter.name not in {"self", "device", "dtype"}
            and parameter.kind not in {parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD}
        ]
        # Integers set sizes of axes, so they are drawn before tensors.
        for parameter in sorted(parameters, key=lambda it: "Tensor" in str(hints.get(it.name))):
            optional = parameter.default is not parameter.empty
            if optional and self.coin():
                continue
            try:
                hint = hints.get(parameter.name, Any)
                is_model = (parameter.name, hint) == ("model", nn.Module)
                drawn[parameter.name] = self.value(Decoder if is_model else hint)
            except NoValueError:
                if not optional:
                    raise
            if type(drawn.get(parameter.name)) is int:
                self.sizes[parameter.name] = drawn[parameter.name]
        return drawn

    def value(self, annotation: Any) -> Any:
        """A value that fits an annotation. Raises ``NoValueError`` where none can be drawn."""
        kind, parts = get_origin(annotation), get_args(annotation)
        if kind in {Union, types.UnionType}:
            return self.one_of(list(parts))
        if kind is Annotated:
            return self.number(parts[0], parts[1:])
        if kind is Literal:
            return self.chance.choice(parts)
        if annotation in self.simple:
            return self.simple[annotation]()
        if kind is tuple and ... not in parts:
            return tuple(self.value(part) for part in parts)
        if kind in {tuple, list, Sequence, Iterable}:
            several = [self.value(parts[0])] * self.chance.randint(1, 3)
            return tuple(several) if kind is tuple else several
        if inspect.isclass(annotation) and issubclass(annotation, AbstractArray):
            return self.array(annotation)
        if inspect.isclass(annotation) and annotation.__module__.startswith("course_lib."):
            return self.instance(annotation)
        raise NoValueError(annotation)

    def number(self, kind: type, limits: tuple[Between | Above, ...]) -> float:
        """A number within limits, close to the lower one."""
        low = max(limit.low for limit in limits)
        high = min(getattr(limit, "high", math.inf) for limit in limits)
        if kind is int:
            above = any(isinstance(limit, Above) for limit in limits)
            return self.chance.randint(low + above, int(min(high, low + 5)))
        return self.chance.uniform(low + 1e-3, min(high, low + 2))

    def one_of(self, parts: list[Any]) -> Any:
        """A value that fits one of several annotations."""
        self.chance.shuffle(parts)
        for part in parts:
            try:
                return self.value(part)
            except NoValueError:
                continue
        raise NoValueError(parts)

    def array(self, annotation: type[AbstractArray]) -> Tensor:
        """A tensor of small numbers, or a mask that is mostly True."""
        shape = []
        for axis in annotation.dim_str.split():
            name = axis.replace("#", "")
            if name not in self.sizes:
                of_owner = getattr(self.owner, name, None)
                if "." in name.strip("."):
                    argument, attribute = name.split(".")
                    of_owner = getattr(self.drawn[argument], attribute)
                starred = tuple(self.chance.choices([1, 2, 3], k=self.chance.choice([0, 1, 2])))
                one = int(name) if name.isdigit() else self.chance.choice([1, 2, 3, 4, 6])
                size = of_owner if type(of_owner) is int else starred if name[0] in "*." else one
                self.sizes[name] = size
            size = self.sizes[name]
            shape += (
                size if isinstance(size, tuple) else [1 if "#" in axis and self.coin() else size]
            )
        seeded = torch.Generator().manual_seed(self.chance.randrange(2**31))
        match annotation.dtype.__name__:
            case "Bool":
                return torch.rand(shape, generator=seeded) < MOSTLY
            case "Int" | "Int64" | "Integer":
                return torch.randint(0, 4, shape, generator=seeded)
            case _:
                return torch.randn(shape, generator=seeded, dtype=self.dtype).abs()

    def instance(self, kind: type) -> object:
        """An object of a class of the library, of random size."""
        if inspect.isabstract(kind) or not is_checked(kind.__init__):
            below = [it for it in descendants(kind) if is_checked(it.__init__)]
            if not below:
                raise NoValueError(kind)
            kind = self.chance.choice(below)
        for _ in range(30):
            try:
                made = kind(**Draw(self.chance).arguments(kind.__init__))
            except Exception:  # noqa: BLE001, S112 - reported when the class itself is called
                continue
            return made.double().eval() if isinstance(made, nn.Module) else made
        raise NoValueError(kind)


def descendants(kind: type) -> list[type]:
    """All classes below a class that can be made."""
    below = [it for child in kind.__subclasses__() for it in (child, *descendants(child))]
    return [it for it in below if not inspect.isabstract(it)]


def spoiled(value: Any, chance: random.Random) -> Any:
    """A bad value in place of an argument."""
    others = [None, "text", 3.7, -1, 0, 2**62, math.nan, math.inf, True, [], torch.zeros(2)]
    if isinstance(value, Tensor):
        others = [
            *others[:-1],
            value.tolist(),
            value[None],
            value.new_zeros(()),
            value.new_zeros([0] * value.dim()),
            torch.cat([value, value], -1) if value.dim() else value,
            torch.cat([value, value], 0) if value.dim() else value,
            value.to(torch.complex64),
            value.half(),
            value.long() - 7,
            value.bool(),
            value.double() * math.nan,
            value.double() / 0,
            value.double() * 1e12,
        ]
    elif callable(value):
        others = [
            *others,
            lambda *_, **__: None,
            lambda *_, **__: torch.zeros(2, 7),
            lambda: torch.zeros(2, 7),
        ]
    return chance.choice(others)


@contextmanager
def answered_in_time() -> Iterator[None]:
    """Raise ``TimeoutError`` in a call that computes for too long, on a busy machine too."""

    def late(*_: object) -> None:
        raise TimeoutError(f"no answer in {SECONDS} s")

    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def end_of(call: Callable[[], Any], *, finite: bool) -> str:
    """How a call ends: ``answered``, ``refused``, or a description of the fault."""
    try:
        with answered_in_time():
            result = call()
    except (TypeError, ValueError, ArithmeticError, OSError, NotImplementedError) as refusal:
        said = str(refusal)
        clear = "expected" in said or any(words in said for words in PYTHONS_OWN)
        return "refused" if clear else f"{type(refusal).__name__}: {said}"
    except Exception as other:  # noqa: BLE001 - every exception is reported
        clear = "Half" in str(other)  # in PyTorch's message about a missing half precision
        return "refused" if clear else f"{type(other).__name__}: {other}"
    if finite and isinstance(result, Tensor) and result.isnan().any():
        return "nan"
    return "answered"


def shown(arguments: dict[str, Any]) -> str:
    """Arguments as text, tensors by dtype and shape."""

    def one(value: Any) -> str:
        if isinstance(value, Tensor):
            return f"{str(value.dtype)[6:]}{list(value.shape)}"
        return repr(value)[:40].replace("\n", " ")

    return ", ".join(f"{name}={one(value)}" for name, value in arguments.items())


def is_finite(value: Any) -> bool:
    """Whether an argument holds neither nan nor infinity."""
    if isinstance(value, Tensor):
        return bool(value.isfinite().all())
    return not isinstance(value, float) or math.isfinite(value)


def faults(calls: int, seed: int, only: str = "") -> tuple[Counter[str], dict[str, str], set[str]]:
    """Counts of faults, the smallest call of each, and callables with no valid call."""
    chance = random.Random(seed)  # noqa: S311 - no cryptography
    chosen = {name: it for name, it in callables().items() if only in name and name != TOO_SLOW}
    found: Counter[str] = Counter()
    smallest: dict[str, str] = {}
    unreached = set(chosen)

    def tell(name: str, wrong: str, end: str, arguments: dict[str, Any]) -> None:
        told = f"{name}, {wrong}: {re.sub(r'[0-9]+', '#', end.splitlines()[0])[:110]}"
        found[told] += 1
        written = f"{name}({shown(arguments)})"
        if len(written) < len(smallest.get(told, written + " ")):
            smallest[told] = written

    for number in range(calls):
        name = list(chosen)[number % len(chosen)]
        torch.manual_seed(chance.randrange(2**31))
        end = ""
        for _ in range(40):
            try:
                bound, arguments = drawn(name, *chosen[name], chance)
            except NoValueError:
                break
            end = end_of(lambda: bound(**arguments), finite=True)  # noqa: B023 - called at once
            if end == "answered":
                break
            if end != "refused":
                tell(name, "nothing wrong", end, arguments)
        if end != "answered" or not arguments:
            continue
        unreached.discard(name)
        wrong = chance.choice(list(arguments))
        arguments[wrong] = spoiled(arguments[wrong], chance)
        finite = all(map(is_finite, arguments.values()))
        end = end_of(lambda: bound(**arguments), finite=finite)  # noqa: B023
        if end not in {"answered", "refused"}:
            tell(name, wrong, end, arguments)
    return found, smallest, unreached


def drawn(
    name: str, kind: type | None, function: Callable, chance: random.Random
) -> tuple[Callable, dict]:
    """A callable, and arguments that fit its annotations or come from its recipe."""
    if recipe := RECIPES.get(name.removeprefix("course_lib.")):
        return recipe()
    if kind is None or function.__name__ == "__init__":
        return kind or function, Draw(chance).arguments(function)
    owner = Draw(chance).instance(kind)
    return getattr(owner, function.__name__), Draw(chance, owner).arguments(function)


def main() -> None:
    """Fuzz, and print what was found."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--calls", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="call functions with this in their names")
    given = parser.parse_args()
    os.environ.setdefault("TRITON_INTERPRET", "1")  # read when the kernels are first imported
    found, smallest, unreached = faults(given.calls, given.seed, given.only)
    for told, times in found.most_common():
        print(f"{times} x {told}\n    {smallest[told]}")
    print(f"{found.total()} faults of {len(found)} kinds; no valid call drawn of {len(unreached)}:")
    print(*sorted(unreached), sep="\n")


if __name__ == "__main__":
    main()
