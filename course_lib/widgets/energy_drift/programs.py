"""A stepper as a page can run it without Python: the sums, products and gradients it is made of.

The stepper is called once with stand-ins for the system, the state and the step, which write down
what is done with them. What cannot be written down so, such as a loop that looks at the numbers,
is no program; nor is what does not do the same again.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from numbers import Real
from typing import Any

import torch
from torch import Tensor

from course_lib.mechanics import HamiltonianSystem

Stepper = Callable[..., tuple[Tensor, Tensor]]

FIRST = 3  # registers: of q, of p and of dt
LONGEST = 400  # lines
TRIED = 4  # steps, by which a program is compared with its stepper
SUMS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}


class _Register:
    """A number, or a vector, that a program has when it runs."""

    __array_ufunc__ = None  # an array of NumPy does not calculate with it
    __hash__ = None

    def __init__(self, lines: list[list[Any]], at: int) -> None:
        self.lines, self.at = lines, at

    def _with(self, sign: str, other: Any, *, turned: bool = False) -> Any:
        if not isinstance(other, (_Register, Real)):
            return NotImplemented
        parts = [self.at, other.at if isinstance(other, _Register) else {"number": float(other)}]
        return _written(self.lines, [sign, *(reversed(parts) if turned else parts)])

    def __add__(self, other: Any) -> Any:
        return self._with("+", other)

    def __radd__(self, other: Any) -> Any:
        return self._with("+", other, turned=True)

    def __sub__(self, other: Any) -> Any:
        return self._with("-", other)

    def __rsub__(self, other: Any) -> Any:
        return self._with("-", other, turned=True)

    def __mul__(self, other: Any) -> Any:
        return self._with("*", other)

    def __rmul__(self, other: Any) -> Any:
        return self._with("*", other, turned=True)

    def __truediv__(self, other: Any) -> Any:
        return self._with("/", other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._with("/", other, turned=True)

    def __neg__(self) -> Any:
        return self._with("*", -1)

    def __bool__(self) -> bool:
        raise TypeError("what a program does depends on no number")

    def __eq__(self, other: object) -> bool:
        raise TypeError("what a program does depends on no number")


def _written(lines: list[list[Any]], line: list[Any]) -> _Register:
    if len(lines) >= LONGEST:
        raise ValueError(f"a program has {LONGEST} lines at most")
    lines.append(line)
    return _Register(lines, FIRST + len(lines) - 1)


class _StandIn:
    """For a system of which only the gradients are known."""

    def __init__(self, lines: list[list[Any]]) -> None:
        self._lines = lines

    def grad_q(self, q: _Register, p: _Register) -> _Register:
        return _written(self._lines, ["grad_q", q.at, p.at])

    def grad_p(self, q: _Register, p: _Register) -> _Register:
        return _written(self._lines, ["grad_p", q.at, p.at])

    def field(self, q: _Register, p: _Register) -> tuple[_Register, _Register]:
        return self.grad_p(q, p), -self.grad_q(q, p)


def program_of(
    stepper: Stepper, system: HamiltonianSystem, q: Tensor, p: Tensor, dt: float
) -> dict[str, Any] | None:
    """The program of a stepper, if it has one; tried against the stepper for some steps from here.

    Its ``lines`` fill one register after the other, behind those of q, p and dt: an operation, and
    the two registers or numbers that it takes. ``q`` and ``p`` are where the next state stands.
    """
    lines: list[list[Any]] = []
    state = [_Register(lines, at) for at in range(FIRST)]
    try:
        ends = stepper(_StandIn(lines), *state)
        program = {"lines": lines, "q": ends[0].at, "p": ends[1].at}
        for _ in range(TRIED):
            other = run_program(program, system, q, p, dt)
            q, p = stepper(system, q, p, dt)
            if not all(torch.allclose(x, y, atol=0) for x, y in zip(other, (q, p), strict=True)):
                return None
    except Exception:  # noqa: BLE001 - a reader's function may raise anything where it is no program
        return None
    return program


def run_program(
    program: dict[str, Any], system: HamiltonianSystem, q: Tensor, p: Tensor, dt: float
) -> tuple[Tensor, Tensor]:
    """One step of a program, as the page takes it."""
    registers: list[Any] = [q, p, dt]
    for name, *parts in program["lines"]:
        a, b = (x["number"] if isinstance(x, dict) else registers[x] for x in parts)
        registers.append(SUMS[name](a, b) if name in SUMS else getattr(system, name)(a, b))
    return registers[program["q"]], registers[program["p"]]
