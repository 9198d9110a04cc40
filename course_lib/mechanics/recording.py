"""The long loop without PyTorch: one step recorded as plain arithmetic, then repeated.

Calls of PyTorch take many times longer than the few operations of a step. So the stepper runs
once, on symbols, and torch.fx records what it computes. The formulas are those
of :mod:`course_lib.mechanics.steppers` and :mod:`course_lib.mechanics.systems`, and so are the
numbers, up to rounding.
"""

import functools
import importlib.util
import inspect
import math
import operator
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

import torch
from torch import Tensor, fx, nn

from course_lib.mechanics.steppers import STEPPERS, newton, settle, sweep
from course_lib.mechanics.systems import HamiltonianSystem
from course_lib.mechanics.time_transformation import LogarithmicHamiltonian
from course_lib.support.checks import wants_gradient

# Other systems, subclasses of these among them, run in PyTorch.
OWN = {HamiltonianSystem.__module__, LogarithmicHamiltonian.__module__}


def record(system: Any, method: Any, dt: float, q: Tensor, p: Tensor) -> Any:
    """One step as plain arithmetic on the coordinates, or ``None`` where that is not possible.

    The stepper runs once, on symbols that torch.fx records. One trajectory in float64 then
    runs on Python's floats, a batch on NumPy arrays, one for each coordinate.
    """
    fits = q.device.type == "cpu" and q.dtype in (torch.float32, torch.float64)
    own = type(system).__module__ in OWN and method in STEPPERS
    if wants_gradient(q, p) or not (fits and own) or importlib.util.find_spec("numpy") is None:
        return None
    import numpy as np

    one = q.dim() == 1 and q.dtype == torch.float64
    functions, everywhere = (math, bool) if one else (np, np.all)
    graph = fx.Graph()
    tracer = _Tracer(graph)
    tracer.functions = functions

    def symbols(name: str, size: int) -> Any:
        return _Vector(tracer.proxy(graph.placeholder(f"{name}{i}")) for i in range(size))

    arguments = [symbols("q", q.shape[-1]), symbols("p", p.shape[-1]), dt]
    if method.implicit:
        arguments += [symbols("q_new", q.shape[-1]), symbols("p_new", p.shape[-1])]
    formula = inspect.unwrap(method)
    if not method.implicit:
        return _written(graph, *formula(system, *arguments))
    new, moved = sweep(formula, torch.finfo(q.dtype).eps, system, *arguments)
    settled = functools.reduce(operator.and_, [part <= 0 for both in moved for part in both])
    recorded = _written(graph, *new, [settled])

    def step(*old: Any) -> tuple:
        if new := settle(functools.partial(recorded, *old), old, everywhere):
            return new
        # In PyTorch: few steps need it.
        state = torch.from_numpy(np.stack(old, axis=-1)).split([q.shape[-1], p.shape[-1]], -1)
        new = torch.cat(newton(formula, system, *state, dt), dim=-1).movedim(-1, 0)
        return tuple(new.tolist() if one else new.numpy())

    return step


def _written(graph: fx.Graph, *parts: Iterable) -> Callable:
    graph.output(tuple(symbol.node for part in parts for symbol in part))
    return fx.GraphModule(nn.Module(), graph).forward


def replay(step: Callable, q: Tensor, p: Tensor, steps: int) -> tuple[Tensor, Tensor, str]:
    """The loop without PyTorch: ``step`` takes and gives the coordinates one by one."""
    import numpy as np

    start = torch.cat([q, p], dim=-1).detach().movedim(-1, 0).numpy()
    states = np.full((steps + 1, *start.shape), np.nan, dtype=start.dtype)
    states[0] = start
    state, reason = tuple(start.tolist() if start.ndim == 1 else start), ""
    with np.errstate(all="ignore"):
        try:
            for i in range(1, steps + 1):
                state = step(*state)
                states[i] = state
        # Python's floats fail where NumPy and PyTorch give inf or nan.
        except (ArithmeticError, ValueError) as error:
            reason = str(error)
    # (time, dim, *batch) to (*batch, time, dim)
    result = torch.from_numpy(states).movedim((0, 1), (-2, -1))
    return result[..., : q.shape[-1]].clone(), result[..., q.shape[-1] :].clone(), reason


# Symbols in place of tensors ------------------------------------------------------------------


class _Tracer(fx.proxy.GraphAppendingTracer):
    """Records arithmetic on symbols; ``functions`` is the module to take functions from."""

    functions: ModuleType

    def proxy(self, node: fx.Node) -> "_Symbol":
        return _Symbol(node, self)


class _Symbol(fx.Proxy):
    """One coordinate, or a number computed from some."""

    def __getitem__(self, index: tuple) -> "_Vector":
        return _Vector([self])  # x[..., None]

    @classmethod
    def __torch_function__(cls, function: Any, _types: Any, given: tuple, named: Any = None) -> Any:
        return _called(function, given[0])


class _Vector(tuple):
    """A row of symbols, on which arithmetic works one by one."""

    __slots__ = ()
    __torch_function__ = _Symbol.__torch_function__

    def __getitem__(self, index: tuple) -> Any:
        part = tuple(self)[index[1]]  # x[..., :-1] or x[..., -1]
        return _Vector(part) if isinstance(part, tuple) else part

    def unbind(self, _dim: int) -> tuple[_Symbol, ...]:
        return tuple(self)

    def sum(self, _dim: int) -> _Symbol:
        return functools.reduce(operator.add, self)

    def _with(self, operation: Callable, *other: Any) -> "_Vector":
        rows = [tuple(row) if isinstance(row, _Vector) else (row,) for row in (self, *other)]
        length = max(map(len, rows)) if all(rows) else 0
        columns = zip(*(row if len(row) == length else row * length for row in rows), strict=True)
        return _Vector(operation(*column) for column in columns)

    def _from(self, operation: Callable, other: Any) -> "_Vector":
        return self._with(lambda one, first: operation(first, one), other)

    __abs__ = functools.partialmethod(_with, operator.abs)
    __neg__ = functools.partialmethod(_with, operator.neg)
    __add__ = functools.partialmethod(_with, operator.add)
    __sub__ = functools.partialmethod(_with, operator.sub)
    __mul__ = functools.partialmethod(_with, operator.mul)
    __truediv__ = functools.partialmethod(_with, operator.truediv)
    __radd__ = functools.partialmethod(_from, operator.add)
    __rsub__ = functools.partialmethod(_from, operator.sub)
    __rmul__ = functools.partialmethod(_from, operator.mul)
    __rtruediv__ = functools.partialmethod(_from, operator.truediv)


def _called(function: Callable, x: Any) -> Any:
    """Record a function of PyTorch as that of the same name of another module."""
    if function is torch.stack:
        return _Vector(x)
    if function is torch.cat:
        return _Vector(symbol for part in x for symbol in part)
    if isinstance(x, _Vector):
        return _Vector(_called(function, symbol) for symbol in x)
    instead = getattr(x.tracer.functions, function.__name__)
    return x.tracer.create_proxy("call_function", instead, (x,), {})
