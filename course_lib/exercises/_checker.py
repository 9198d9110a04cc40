"""The search behind the exercise checkers: find the smallest input that breaks a property.

A checker tries properties one after the other, from the plain to the subtle, on small inputs that
Hypothesis generates and shrinks. It shows the first property that breaks, with the smallest input
that breaks it and a hint, never the solution. The same attempt always gets the same answer.

To add a checker to ``course_lib.exercises``, state what goes in and what shape comes out, then the
properties in the order in which they teach::

    doubled = Exercise(
        "doubled",
        "doubled(x): each number of x, of shape (n,), times two.",
        inputs=st.tuples(tensors(3)),
        shape=lambda x: x.shape,
    )


    @doubled.property("zero stays zero", hint="What is twice nothing?", inputs=st.just((ZERO,)))
    def _(attempt, x):
        return close(attempt(x), x)

The function below a property gets the attempt and the inputs, calls the attempt as often as it
likes, and returns True if the property holds, else False or a hint that fits this mistake better.
Every call is watched: an exception, a wrong type, shape or dtype, nan, a changed input or setting,
and a call that does not return break the property too. From then on ``check.doubled(fn)`` exists.
"""

import inspect
import os
import reprlib
import signal
import textwrap
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from tempfile import TemporaryDirectory
from threading import current_thread, main_thread

import numpy as np
import torch
from hypothesis import HealthCheck, Phase, find, settings
from hypothesis.configuration import set_hypothesis_home_dir
from hypothesis.errors import Flaky, NoSuchExample
from hypothesis.strategies import SearchStrategy
from torch import Tensor

EXAMPLES = 30  # a property; few suffice, since inputs are small and their numbers round
SECONDS = 5.0  # of processor time a check; all take one or less, unless an attempt is very slow
PATIENCE = 5.0  # seconds of the clock for one call, of milliseconds; three times that for all

Attempt = Callable[..., Tensor]
Holds = Callable[..., bool | str]


@dataclass(frozen=True)
class Result:
    """The answer to an attempt: true if it passed, and able to show itself, here or in a page."""

    attempt: str
    passed: bool
    summary: str
    transcript: str = ""
    hint: str = ""

    def __bool__(self) -> bool:
        return self.passed

    def __repr__(self) -> str:
        hint = f"Hint: {self.hint}" if self.hint else ""
        return "\n".join(part for part in (self._headline(), self.transcript, hint) if part)

    def _repr_html_(self) -> str:
        colour = "#009E73" if self.passed else "#D55E00"
        html = f"<strong>{escape(self._headline())}</strong>"
        if self.transcript:
            # Wrapped rather than scrolled: a region that scrolls would need a keyboard's focus.
            plain = (
                "background:none;border:0;color:inherit;margin:.5rem 0;overflow:visible;padding:0"
            )
            html += f'<pre style="{plain};white-space:pre-wrap">{escape(self.transcript)}</pre>'
        if self.hint:
            html += f'<p style="margin:0">Hint: {escape(self.hint)}</p>'
        box = f"border-left:.25rem solid {colour};padding:.25rem .75rem"
        return f'<div class="check-result" style="{box}">{html}</div>'

    def _headline(self) -> str:
        return f"{'✓' if self.passed else '✗'} {self.attempt}: {self.summary}"


class Checkers:
    """The namespace ``check``: one checker an exercise."""

    def __getattr__(self, name: str) -> "Exercise":
        listed = ", ".join(sorted(vars(self)))
        raise AttributeError(f"there is no checker {name!r}; choose one of {listed}")


check = Checkers()


@dataclass(frozen=True)
class Property:
    """A sentence that is true of every right attempt, and how to test it."""

    sentence: str
    hint: str
    inputs: SearchStrategy[tuple]
    holds: Holds
    # What a right attempt was tried on. Every attempt is tried on the same inputs, so they are
    # drawn once: drawing takes several times longer than trying.
    drawn: list[tuple] = field(default_factory=list)


class Exercise:
    """A checker: call it with an attempt, get a :class:`Result`.

    ``inputs`` draws the arguments, ``shape`` gives the shape of the answer from them, and its
    parameters name them. The answer is floating point, or bool if ``boolean``.
    """

    def __init__(
        self,
        name: str,
        task: str,
        *,
        inputs: SearchStrategy[tuple],
        shape: Callable[..., tuple[int, ...]],
        boolean: bool = False,
    ) -> None:
        self.name, self.task, self.inputs = name, task, inputs
        self.shape, self.boolean = shape, boolean
        self.arguments = tuple(inspect.signature(shape).parameters)
        self.__doc__ = f"Check {task}"
        self.properties: list[Property] = []
        self.property("it answers, with a tensor of the right kind and shape", hint="")(_answers)
        setattr(check, name, self)

    def property(
        self, sentence: str, *, hint: str, inputs: SearchStrategy[tuple] | None = None
    ) -> Callable[[Holds], Holds]:
        """Add the decorated function as the next property; ``inputs`` replaces the usual ones."""

        def add(holds: Holds) -> Holds:
            drawn = self.inputs if inputs is None else inputs
            self.properties.append(Property(sentence, hint, drawn, holds))
            return holds

        return add

    def __call__(self, attempt: object) -> Result:
        """Try every property on ``attempt``, in order, up to the first that breaks."""
        name = getattr(attempt, "__name__", type(attempt).__name__)
        if misuse := self._misuse(attempt):
            return Result(name, passed=False, summary=misuse, hint=f"The task is {self.task}")
        out_of_time = _stopwatch()
        tried = 0
        with _alone():
            for property_ in self.properties:
                search = _Search(self, property_, attempt, name, out_of_time)
                broken = search.run()
                if broken is not None:
                    return broken
                tried += search.tried
        summary = f"{len(self.properties)} properties hold on all {tried} inputs tried."
        if out_of_time():
            summary += f" These are few: your function is slow, and I stopped after {SECONDS:g} s."
        return Result(name, passed=True, summary=summary)

    def _misuse(self, attempt: object) -> str:
        if not callable(attempt):
            return (
                f"this is {reprlib.repr(attempt)}, not a function. Pass the function itself, "
                f"without calling it: check.{self.name}(my_function)."
            )
        try:
            inspect.signature(attempt).bind(*self.arguments)
        except TypeError as error:
            return f"it cannot be called as {self.name}({', '.join(self.arguments)}): {error}."
        except ValueError:  # a builtin may have no signature; the first call checks it
            return ""
        return ""


class _Broken(Exception):  # noqa: N818 - a verdict on the attempt, not an error of ours
    """A call went wrong in a way that breaks any property; the message is a hint."""


class _OutOfTime(BaseException):
    """Ends a call or a search; Hypothesis would take an ``Exception`` for a failed test."""


def _stopwatch() -> Callable[[], bool]:
    """A function: has this thread computed, or waited, for too long since?"""
    computed, waited = time.thread_time(), time.monotonic()
    return lambda: (
        time.thread_time() - computed > SECONDS or time.monotonic() - waited > 3 * PATIENCE
    )


@contextmanager
def _interrupted_after(seconds: float) -> Iterator[None]:
    """Raise ``_OutOfTime`` after so many seconds, and again, if it is caught.

    Does nothing on Windows and outside the main thread, which get no signals.
    """
    if not hasattr(signal, "setitimer") or current_thread() is not main_thread():
        yield
        return

    def interrupt(*_: object) -> None:
        raise _OutOfTime

    handler = signal.signal(signal.SIGALRM, interrupt)
    timer = signal.setitimer(signal.ITIMER_REAL, seconds, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, *timer)
        signal.signal(signal.SIGALRM, handler)


class _Search:
    """The search for the smallest input on which one attempt breaks one property."""

    def __init__(
        self,
        exercise: Exercise,
        property_: Property,
        attempt: Callable,
        name: str,
        out_of_time: Callable[[], bool],
    ) -> None:
        self.exercise, self.property, self.attempt = exercise, property_, attempt
        self.name, self.out_of_time = name, out_of_time
        self.tried = 0
        self.calls: list[tuple[tuple, list]] = []
        self.found: Result | None = None

    def run(self) -> Result | None:
        """The result for the smallest input that breaks the property, None if none was found."""
        limits = settings(
            max_examples=EXAMPLES,
            derandomize=True,
            database=None,
            deadline=None,
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
        )
        drawn: list[tuple] = []

        def breaks(inputs: tuple) -> bool:
            drawn.append(inputs)
            return self.breaks(inputs)

        try:
            if self.property.drawn and not any(map(self.breaks, self.property.drawn)):
                return None
            find(self.property.inputs, breaks, settings=limits)
        except NoSuchExample:
            self.property.drawn[:] = drawn
        except (Flaky, _OutOfTime):
            # Flaky: the attempt is random. One failure is enough, and it was recorded.
            return self.found
        return self.found

    def breaks(self, inputs: tuple) -> bool:
        """Whether the property breaks on ``inputs``; Hypothesis tries the smallest last."""
        if self.tried and self.out_of_time():
            raise _OutOfTime
        self.tried += 1
        self.calls = []
        try:
            verdict = self.property.holds(self.watched, *inputs)
            hint = verdict if isinstance(verdict, str) else self.property.hint
        except _Broken as broken:
            verdict, hint = False, self.property.hint or str(broken)
        if verdict is True:
            return False
        sentence = f"this does not hold: {self.property.sentence}."
        self.found = Result(
            self.name,
            passed=False,
            summary=sentence,
            hint=hint,
            transcript="\n".join(self._written(*call) for call in self.calls),
        )
        return True

    def watched(self, *inputs: object) -> Tensor:
        """The answer of the attempt to ``inputs``, recorded and checked."""
        notes: list[tuple[str, object]] = []
        self.calls.append((inputs, notes))
        given = [value.clone() if isinstance(value, Tensor) else value for value in inputs]
        changed: list[str] = []
        # While the smallest input is sought, each call that does not return costs time.
        patience = PATIENCE / 10 if self.found else PATIENCE
        try:
            with _settings_restored(changed), _interrupted_after(patience):
                output = self.attempt(*given)
        except _OutOfTime as error:
            notes.append((f"did not return within {patience:g} s{_line(error)}",))
            raise _Broken("Which loop has no end on this input?") from None
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a function may raise anything
            notes.append((f"raised {type(error).__name__}: {error}{_line(error)}",))
            raise _Broken("Read the message, then make this very call yourself.") from None
        notes.append(("returned ", output))
        if changed:
            notes.append((f"and changed {' and '.join(changed)}",))
            raise _Broken("What holds for the whole session must be as before when you return.")
        for before, after in zip(inputs, given, strict=True):
            if isinstance(before, Tensor) and not torch.equal(before, after):
                notes.append(("and changed its input",))
                raise _Broken("Work in place, such as x -= 1 or x[0] = 1, writes into the input.")
        return self._inspected(output, tuple(self.exercise.shape(*inputs)), notes)

    def _inspected(self, output: object, shape: tuple[int, ...], notes: list) -> Tensor:
        if output is None:
            raise _Broken("A function without a return statement returns None.")
        if not isinstance(output, Tensor | np.ndarray | np.generic):
            raise _Broken("Return a PyTorch tensor or a NumPy array.")
        try:  # PyTorch refuses NumPy's reversed views, but takes a copy
            numbers = output if isinstance(output, Tensor) else np.array(output)
            answer = torch.as_tensor(numbers).detach().cpu()
        except (TypeError, RuntimeError):
            raise _Broken("PyTorch cannot read that as a tensor of numbers.") from None
        boolean = self.exercise.boolean
        if not (answer.dtype == torch.bool if boolean else answer.is_floating_point()):
            wanted = "torch.bool" if boolean else "floating point"
            notes.append((f"of dtype {answer.dtype} instead of {wanted}",))
            raise _Broken("A comparison gives bool, arithmetic gives numbers. Which one is wanted?")
        if tuple(answer.shape) != shape:
            notes.append((f"of shape {tuple(answer.shape)} instead of {shape}",))
            raise _Broken("Write down the shape of every intermediate result, line by line.")
        if answer.isnan().any():
            raise _Broken("nan comes from 0 / 0 and from inf - inf. What did you divide by?")
        return answer if boolean else answer.float()

    def _written(self, inputs: tuple, notes: list) -> str:
        names = self.exercise.arguments
        given = [(f"{name} = ", value) for name, value in zip(names, inputs, strict=True)]
        lines = [_labelled("  " + label, *value) for label, *value in (*given, *notes)]
        return "\n".join([f"{self.name}({', '.join(names)})", *lines])


SETTINGS = {
    "whether PyTorch records gradients": (torch.is_grad_enabled, torch.set_grad_enabled),
    "PyTorch's default dtype": (torch.get_default_dtype, torch.set_default_dtype),
    "PyTorch's number of threads": (torch.get_num_threads, torch.set_num_threads),
    "the working folder": (os.getcwd, os.chdir),
}


@contextmanager
def _settings_restored(changed: list[str]) -> Iterator[None]:
    """Restore the settings of the session, and add the changed ones to ``changed``."""
    before = {name: get() for name, (get, _) in SETTINGS.items()}
    try:
        yield
    finally:
        for name, (get, put) in SETTINGS.items():
            if get() != before[name]:
                put(before[name])
                changed.append(name)


@contextmanager
def _alone() -> Iterator[None]:
    """With one thread, fastest for tiny tensors, and a temporary folder for Hypothesis."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with TemporaryDirectory() as folder, torch.random.fork_rng(devices=[]):
        set_hypothesis_home_dir(folder)
        try:
            yield
        finally:
            set_hypothesis_home_dir(None)
            torch.set_num_threads(threads)


def _labelled(label: str, *value: object) -> str:
    text = "".join(
        repr(v) if isinstance(v, Tensor | np.ndarray) else reprlib.repr(v) for v in value
    )
    return label + textwrap.indent(text, " " * len(label)).lstrip()


def close(a: Tensor, b: Tensor) -> bool:
    """Equal up to the rounding of a few operations in float32."""
    return torch.allclose(a, b, rtol=1e-4, atol=1e-4)


def within(answer: Tensor, values: Tensor) -> bool:
    """Whether each feature lies between its least and its largest among the values."""
    low, high = values.amin(dim=0) - 1e-4, values.amax(dim=0) + 1e-4
    return bool(((low <= answer) & (answer <= high)).all())


def recognised(answer: Tensor, mistakes: dict[str, Tensor]) -> bool | str:
    """The hint whose typical mistake gives this very answer, or False."""
    return next((hint for hint, wrong in mistakes.items() if close(answer, wrong)), False)


def _answers(attempt: Callable[..., Tensor], *inputs: object) -> bool:
    attempt(*inputs)
    return True


def _line(error: BaseException) -> str:
    """The line of the attempt, the first frame below ours, in which an exception came up."""
    frames = traceback.extract_tb(error.__traceback__)[1:2]
    return "".join(f"\n  in the line {frame.line}" for frame in frames if frame.line)
