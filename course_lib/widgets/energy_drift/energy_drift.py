"""EnergyDrift: what ten thousand steps of an integrator do to the energy."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
import traitlets
from numpy.typing import NDArray
from torch import Tensor

from course_lib import mechanics
from course_lib.mechanics import HamiltonianSystem, IntegrationError, Trajectory
from course_lib.widgets.energy_drift.programs import program_of
from course_lib.widgets.kit.base import MovingWidget
from course_lib.widgets.kit.runs import FARTHEST, METHODS, REACH, numbers_of, system_of
from course_lib.widgets.kit.traits import (
    Array,
    Choice,
    Data,
    Index,
    Integer,
    Number,
    Several,
    Text,
    brief,
    named,
)

MOST_RUNS = 5  # rollouts and steppers, which their colours tell apart
# What a rollout weighs in the page: stretches of its energy error, numbers of its states.
BINS = 128
NUMBERS = 800
ALL_NUMBERS = 1350  # of all rollouts together, so that the page stays light
EARLY = 5  # of the states that travel, one in so many is early in the run, where most are kept
CALM, RUSH = 5.0, 100.0  # units of time a second, with which a run begins
LONGEST_QUESTION = 90

PENDULUM_PLANE = {"x": 0, "y": 1, "labels": ["angle q", "momentum p"]}
ONE_PLANE = {"x": 0, "y": 1, "labels": ["position q", "momentum p"]}
TWO_PLANES = (
    {"x": 0, "y": 1, "labels": ["q₁", "q₂"]},
    {"x": 0, "y": 2, "labels": ["q₁", "p₁"]},
    {"x": 1, "y": 3, "labels": ["q₂", "p₂"]},
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Scene:
    """How a system is drawn: a start, a step, the planes to choose from."""

    q: tuple[float, ...]
    p: tuple[float, ...]
    dt: float
    planes: tuple[dict[str, Any], ...]
    period: float = 0.0


SCENES = {
    "HarmonicOscillator": Scene(q=(1.0,), p=(0.0,), dt=0.1, planes=(ONE_PLANE,)),
    "Pendulum": Scene(q=(1.2,), p=(0.0,), dt=0.1, planes=(PENDULUM_PLANE,), period=2 * math.pi),
    "CoupledOscillators": Scene(q=(1.0, 0.5), p=(0.0, 0.5), dt=0.1, planes=TWO_PLANES[1:]),
    "Kepler": Scene(q=(0.6, 0.0), p=(0.0, 1.5), dt=0.02, planes=TWO_PLANES),
    "HenonHeiles": Scene(q=(0.1, 0.2), p=(0.3, 0.1), dt=0.1, planes=TWO_PLANES),
}


def _coordinates(drift: Any) -> tuple[str]:
    return (f"coordinates={drift._canonical().dim}",)


def _startable(drift: Any, q: NDArray[np.float32]) -> NDArray[np.float32]:
    start = torch.from_numpy(q)
    drift._canonical().check_start(start, torch.zeros_like(start))
    return q


class EnergyDrift(MovingWidget):
    r"""Phase portrait and energy error $|H_n - H_0| / |H_0|$ of several integrators, side by side.

    The page integrates by itself: ``steps`` steps of every integrator that is on, again at each
    move of a slider. ``system`` is one of the canonical systems of ``course_lib.mechanics``, with
    its parameters; the reader may choose the others too, with their defaults.

    ``steppers`` maps names to functions ``(system, q, p, dt) -> (q, p)`` of your own. With a
    kernel, Python runs them again at every change; without one the page does, if a step is made of
    sums, products and gradients. ``rollouts`` maps names to trajectories that were computed before,
    of a learned model, say; they start where the widget starts and stand greyed where the reader
    leaves that start. Both together are five at most. A start lies within ±1000,
    and a run whose numbers are lost on the way is told by the step at which they are. It is
    ``moving`` at once and to its end, unless the reader has asked for less motion or you for none:
    with ``calm`` units of time a second at first, and then ever faster. Until the run was seen a
    ``question`` of yours stands over it, and then who has kept the energy.

    Traits, synced both ways: ``system``, ``dt``, ``q``, ``p``, ``methods``, ``plane``.
    Raises ``TypeError`` and ``ValueError`` for what cannot be integrated or drawn.
    Source: Hairer, Lubich and Wanner (2006), section I.2 to I.4.
    """

    systems = Data(lambda self: [_spec(*item) for item in self._systems.items()])
    method_names = Data([list(pair) for pair in METHODS.items()])
    steps = Integer(100, 20_000, default=10_000, read_only=True)
    system = Choice(*SCENES)
    plane = Index(of=lambda self: len(self._scene().planes))
    dt = Number(0.001, 1.0, default=lambda self: self._scene().dt)
    q = Array(_coordinates, within=FARTHEST, default=lambda self: self._scene().q, rule=_startable)
    p = Array(_coordinates, within=FARTHEST, default=lambda self: self._scene().p)
    methods = Several(Choice(*METHODS))
    rollouts = Data(lambda self: self._runs())
    rollouts_follow = Data(lambda self: bool(self._steppers) and not self._given)
    programs = Data(lambda self: self._programs())
    calm = Number(0.5, RUSH, default=CALM, read_only=True)
    question = Text(longest=LONGEST_QUESTION, default="", read_only=True)

    def __init__(
        self,
        system: HamiltonianSystem | None = None,
        *,
        methods: list[str] | tuple[str, ...] = ("explicit_euler", "stoermer_verlet"),
        steppers: Mapping[str, Callable[..., tuple[Tensor, Tensor]]] | None = None,
        rollouts: Mapping[str, Trajectory] | None = None,
        **given: Any,
    ) -> None:
        name, chosen = system_of(system, SCENES)
        self._systems = {kind: getattr(mechanics, kind)() for kind in SCENES} | {name: chosen}
        self._steppers, runs = named("steppers", steppers), named("rollouts", rollouts)
        if not (methods or self._steppers or runs):
            raise ValueError(f"methods is empty; give at least one of {', '.join(METHODS)}")
        if (count := len(self._steppers) + len(runs)) > MOST_RUNS:
            raise ValueError(
                f"{count} steppers and rollouts were given; expected {MOST_RUNS} at most, whose "
                "colours can be told apart; show fewer"
            )
        for title, stepper in self._steppers.items():
            if not callable(stepper):
                raise TypeError(
                    f"the stepper {title!r} is {brief(stepper)}; expected a function "
                    "(system, q, p, dt) -> (q, p)"
                )
        self._numbers = min(NUMBERS, ALL_NUMBERS // max(1, count))
        self._given = [
            _rollout(title, run, chosen, numbers=self._numbers) for title, run in runs.items()
        ]
        super().__init__(system=name, methods=methods, **given)
        if self._steppers:
            self.observe(self._run_again, names=["system", "q", "p", "dt"])

    def describe(self) -> str:
        """Which system is integrated, and how."""
        methods = ", ".join(METHODS[method] for method in self.methods)
        lost = [run for run in self.rollouts if run["lost"]]
        told = "".join(f" {run['name']} is lost at step {run['taken'] + 1}." for run in lost)
        return (
            f"Phase portrait and relative energy error. {self._canonical().name}: "
            f"{self.steps} steps of {self.dt:g}, by {methods}.{told}"
        )

    def page_state(self) -> dict[str, Any]:
        """As it stands now; without a kernel nothing runs Python's own steppers again."""
        return super().page_state() | {"rollouts_follow": False}

    def _canonical(self) -> HamiltonianSystem:
        return self._systems[self.system]

    def _scene(self) -> Scene:
        return SCENES[self.system]

    @traitlets.observe("system")
    def _enter_scene(self, _change: Any) -> None:
        """Start where the new system's scene does, unless it can start from the state as it is."""
        try:
            self.traits()["q"].validate(self, self.q)
        except ValueError:
            scene = self._scene()
            with self.hold_sync(), self.hold_trait_notifications():
                self.q, self.p, self.dt = scene.q, scene.p, scene.dt

    def _programs(self) -> list[dict[str, Any]]:
        """Of the reader's own steppers those that the page can run by itself."""
        start = (torch.from_numpy(state.astype(np.float64)) for state in (self.q, self.p))
        setting = (self._canonical(), *start, self.dt)
        known = {run["name"] for run in self._given}
        found = {
            name: program_of(stepper, *setting)
            for name, stepper in self._steppers.items()
            if name not in known
        }
        return [{"name": name} | program for name, program in found.items() if program]

    def _run_again(self, _change: Any) -> None:
        self.set_trait("rollouts", self._runs())

    def _runs(self) -> list[dict[str, Any]]:
        """The rollouts that were given, and those of the reader's own steppers from here."""
        q, p = (torch.from_numpy(state.astype(np.float64)) for state in (self.q, self.p))
        runs = []
        for title, stepper in self._steppers.items():
            try:
                run = mechanics.integrate(
                    self._canonical(), q, p, dt=self.dt, steps=self.steps, method=stepper
                )
            except IntegrationError as error:
                run = error.trajectory
            runs.append(_rollout(title, run, self._canonical(), self.steps, numbers=self._numbers))
        return [*self._given, *runs]


def _spec(kind: str, system: HamiltonianSystem) -> dict[str, Any]:
    scene = dataclasses.asdict(SCENES[kind]) | {"reach": REACH[kind]}
    title = system.name[0].upper() + system.name[1:]
    return {"name": kind, "title": title, "parameters": dataclasses.asdict(system)} | {
        key: list(value) if isinstance(value, tuple) else value for key, value in scene.items()
    }


def _rollout(
    title: str,
    run: Trajectory,
    system: HamiltonianSystem,
    steps: int | None = None,
    *,
    numbers: int,
) -> dict[str, Any]:
    """A trajectory as it is drawn: the envelope of its energy error, and some of its points."""
    energy, states = numbers_of(title, run, system)
    with np.errstate(all="ignore"):
        error = np.abs(energy - energy[0]) / (abs(energy[0]) or 1.0)
    finite = np.isfinite(error) & np.isfinite(states).all(axis=1)
    if not finite[0]:
        raise ValueError(f"the rollout {title!r} does not start from a finite state and energy")
    total = (steps or len(energy) - 1) + 1
    # A run that is lost on the way ends where its energy or its state stops being finite.
    kept = len(error) if finite.all() else int(finite.argmin())
    error, states = error[:kept], states[:kept]
    starts = stretches(total)
    # The page draws all stretches, over the whole of the axis, up to the first that is infinite.
    low, high = np.full((2, len(starts)), np.inf, dtype=np.float32)
    largest = np.finfo(np.float32).max
    drawn = error.clip(max=largest)
    begun = starts[starts < kept]
    low[: len(begun)] = np.minimum.reduceat(drawn, begun)
    high[: len(begun)] = np.maximum.reduceat(drawn, begun)
    at = _some(kept, numbers // states.shape[1])
    points = states[at].clip(-largest, largest).astype(np.float32)
    encode = Array._encode
    return {
        "name": title,
        "low": encode(low, None),
        "high": encode(high, None),
        "points": encode(points, None),
        "at": encode(at.astype(np.float32), None),
        "largest": float(error.max()),
        "last": float(error[-1]),
        "taken": kept - 1,
        "lost": kept < total,
    }


def stretches(total: int, most: int = BINS) -> NDArray[np.int64]:
    """Where the stretches of an energy error begin: the page looks at early ones from near."""
    bins = min(most, total)
    k = np.arange(bins)
    return np.maximum(k, total * k * k // (bins * bins))


def _some(kept: int, count: int) -> NDArray[np.int64]:
    """Steps whose states travel: at first nearly all, then ever fewer, as the page plays faster."""
    early = count / EARLY
    spread = np.geomspace(early, early + kept - 1, min(count, kept)) - early
    return np.unique(np.rint(spread).astype(np.int64))
