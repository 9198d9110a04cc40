"""The long loop without PyTorch: one step recorded as plain arithmetic, then repeated.

PyTorch takes many times longer to call than the few operations of a step take to run. So the
stepper runs once, on symbols, and what it did is written down by torch.fx. The formulas are those
of :mod:`course_lib.mechanics.steppers`, and so are the numbers, up to rounding.
"""

import functools
import importlib.util
import inspect
import math
import operator
from collections.abc import Callable
from types import ModuleType
from typing import Any

import torch
from torch import Tensor, fx, nn

from course_lib.mechanics.steppers import STEPPERS, newton, settle, sweep
from course_lib.mechanics.systems import Components, HamiltonianSystem, vector
from course_lib.mechanics.time_transformation import LogarithmicHamiltonian
from course_lib.support.checks import wants_gradient

# A system of the reader's own, or one that changes a formula of ours, runs in PyTorch.
OWN = {HamiltonianSystem.__module__, LogarithmicHamiltonian.__module__}


def record(system: Any, method: Any, dt: float, q: Tensor, p: Tensor) -> Any:
    """One step as plain arithmetic on the coordinates, or ``None`` where that cannot be had.

    The stepper runs once, on symbols that torch.fx writes down. One trajectory in float64 then
    runs on Python's own floats, a batch on NumPy arrays, one for each coordinate.
    """
    fits = q.device.type == "cpu" and q.dtype in (torch.float32, torch.float64)
    own = type(system).__module__ in OWN and method in STEPPERS
    if wants_gradient(q, p) or not (fits and own) or importlib.util.find_spec("numpy") is None:
        return None
    import numpy as np

    one = q.dim() == 1 and q.dtype == torch.float64
    functions, everywhere = (math, bool) if one else (np, np.all)
    graph = fx.Graph()

    def symbols(name: str, size: int) -> Components:
        return vector([fx.Proxy(graph.placeholder(f"{name}{i}")) for i in range(size)])

    arguments = [symbols("q", q.shape[-1]), symbols("p", p.shape[-1]), dt]
    if method.implicit:
        arguments += [symbols("q_new", q.shape[-1]), symbols("p_new", p.shape[-1])]
    formula, symbolic = inspect.unwrap(method), system._on_symbols(_Symbolic(functions))
    if not method.implicit:
        return _written(graph, *formula(symbolic, *arguments))
    new, moved = sweep(formula, torch.finfo(q.dtype).eps, symbolic, *arguments)
    settled = functools.reduce(operator.and_, [part <= 0 for both in moved for part in both])
    recorded = _written(graph, *new, [settled])

    def step(*old: Any) -> tuple:
        if new := settle(functools.partial(recorded, *old), old, everywhere):
            return new
        # In PyTorch: few steps are so long.
        state = torch.from_numpy(np.stack(old, axis=-1)).split([q.shape[-1], p.shape[-1]], -1)
        new = torch.cat(newton(formula, system, *state, dt), dim=-1).movedim(-1, 0)
        return tuple(new.tolist() if one else new.numpy())

    return step


def _written(graph: fx.Graph, *parts: Components) -> Callable:
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


class _Symbolic:
    """The functions of a module, called on symbols: each call is written down, not carried out."""

    def __init__(self, functions: ModuleType) -> None:
        self._functions = functions

    def __getattr__(self, name: str) -> Callable[[fx.Proxy], fx.Proxy]:
        function = getattr(self._functions, name)
        return lambda x: x.tracer.create_proxy("call_function", function, (x,), {})
