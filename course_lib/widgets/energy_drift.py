"""EnergyDrift: what ten thousand steps of an integrator do to the energy."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
import traitlets
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from course_lib import mechanics
from course_lib.mechanics import HamiltonianSystem, IntegrationError, Trajectory
from course_lib.widgets.base import Widget
from course_lib.widgets.traits import Array, finite_array, number_between, texts

METHODS = {
    "explicit_euler": "explicit Euler",
    "symplectic_euler": "symplectic Euler",
    "stoermer_verlet": "Störmer–Verlet",
    "runge_kutta_4": "Runge–Kutta 4",
    "implicit_midpoint": "implicit midpoint",
}
SHORTEST, LONGEST = 0.001, 1.0
FEWEST, MOST = 100, 20_000
# What a rollout weighs in the page: stretches of its energy error, numbers of its states.
BINS = 160
NUMBERS = 800
ALL_NUMBERS = 1200  # of all rollouts together, so that the page stays light

PENDULUM_PLANE = {"x": 0, "y": 1, "labels": ["angle q", "momentum p"]}
ONE_PLANE = {"x": 0, "y": 1, "labels": ["position q", "momentum p"]}
TWO_PLANES = (
    {"x": 0, "y": 1, "labels": ["q₁", "q₂"]},
    {"x": 0, "y": 2, "labels": ["q₁", "p₁"]},
    {"x": 1, "y": 3, "labels": ["q₂", "p₂"]},
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Scene:
    """How a system is drawn: a start, a step, the half-width of the picture for each coordinate."""

    q: tuple[float, ...]
    p: tuple[float, ...]
    dt: float
    reach: tuple[float, ...]
    planes: tuple[dict[str, Any], ...]
    period: float = 0.0


SCENES = {
    "HarmonicOscillator": Scene(q=(1.0,), p=(0.0,), dt=0.1, reach=(2.5, 2.5), planes=(ONE_PLANE,)),
    "Pendulum": Scene(
        q=(1.2,),
        p=(0.0,),
        dt=0.1,
        reach=(math.pi, 3.0),
        planes=(PENDULUM_PLANE,),
        period=2 * math.pi,
    ),
    "CoupledOscillators": Scene(
        q=(1.0, 0.5), p=(0.0, 0.5), dt=0.1, reach=(2.5, 2.5, 2.5, 2.5), planes=TWO_PLANES[1:]
    ),
    "Kepler": Scene(
        q=(0.6, 0.0), p=(0.0, 1.5), dt=0.02, reach=(2.0, 2.0, 2.5, 2.5), planes=TWO_PLANES
    ),
    "HenonHeiles": Scene(
        q=(0.1, 0.2), p=(0.3, 0.1), dt=0.1, reach=(1.0, 1.0, 1.0, 1.0), planes=TWO_PLANES
    ),
}


class EnergyDrift(Widget):
    r"""Phase portrait and energy error $|H_n - H_0| / |H_0|$ of several integrators, side by side.

    The page integrates by itself: ``steps`` steps of every integrator that is on, again at each
    move of a slider. ``system`` is one of the canonical systems of ``course_lib.mechanics``, with
    its parameters; the reader may choose the others too, with their defaults.

    ``steppers`` maps names to functions ``(system, q, p, dt) -> (q, p)`` of your own. With a
    kernel, Python runs them again at every change. ``rollouts`` maps names to trajectories that
    were computed before, of a learned model, say; they start where the widget starts and are shown
    until the reader leaves that setting.

    Traits, synced both ways: ``system``, ``dt``, ``q``, ``p``, ``methods``, ``plane``.
    Raises ``TypeError`` and ``ValueError`` for what cannot be integrated or drawn.
    Source: Hairer, Lubich and Wanner (2006), section I.2 to I.4.
    """

    _module = "energy_drift.js"

    systems = traitlets.List(traitlets.Dict(), read_only=True).tag(sync=True)
    method_names = traitlets.List(traitlets.List(), read_only=True).tag(sync=True)
    steps = traitlets.Int(10_000, read_only=True).tag(sync=True)
    rollouts = traitlets.List(traitlets.Dict()).tag(sync=True)
    rollouts_follow = traitlets.Bool(default_value=False).tag(sync=True)

    system = traitlets.Enum(tuple(SCENES)).tag(sync=True)
    plane = traitlets.Int(0, min=0).tag(sync=True)
    dt = traitlets.Float(min=SHORTEST, max=LONGEST).tag(sync=True)
    q = Array()
    p = Array()
    methods = traitlets.List(traitlets.Enum(tuple(METHODS))).tag(sync=True)

    def __init__(
        self,
        system: HamiltonianSystem | None = None,
        *,
        q: ArrayLike | tuple | None = None,
        p: ArrayLike | tuple | None = None,
        dt: float | None = None,
        steps: int = 10_000,
        methods: list[str] | tuple[str, ...] = ("explicit_euler", "stoermer_verlet"),
        steppers: Mapping[str, Callable[..., tuple[Tensor, Tensor]]] | None = None,
        rollouts: Mapping[str, Trajectory] | None = None,
        **dom: Any,
    ) -> None:
        chosen = mechanics.Pendulum() if system is None else system
        name = type(chosen).__name__
        if name not in SCENES:
            raise TypeError(
                f"system is {name}; expected one of {', '.join(SCENES)} from course_lib.mechanics"
            )
        scene = SCENES[name]
        if not isinstance(steps, int) or not FEWEST <= steps <= MOST:
            raise ValueError(f"steps is {steps!r}; expected an integer from {FEWEST} to {MOST}")
        for label, table in (("steppers", steppers), ("rollouts", rollouts)):
            if table is not None and not isinstance(table, Mapping):
                raise TypeError(
                    f"{label} is a {type(table).__name__}; expected a dict; give each a name, "
                    f"as in {label}={{'mine': ...}}"
                )
        for title, stepper in (steppers or {}).items():
            if not callable(stepper):
                raise TypeError(
                    f"the stepper {title!r} is {stepper!r}; expected a function "
                    "(system, q, p, dt) -> (q, p)"
                )
        named = texts("methods", methods) if methods or not (steppers or rollouts) else []
        unknown = [method for method in named if method not in METHODS]
        if unknown:
            raise ValueError(f"methods holds {unknown[0]!r}; expected some of {', '.join(METHODS)}")
        self._systems = {kind: getattr(mechanics, kind)() for kind in SCENES} | {name: chosen}
        self._steppers = dict(steppers or {})
        self._numbers = min(
            NUMBERS, ALL_NUMBERS // max(1, len(rollouts or {}) + len(self._steppers))
        )
        self._given = [
            _rollout(title, run, chosen, numbers=self._numbers)
            for title, run in (rollouts or {}).items()
        ]
        self.set_trait("systems", [_spec(kind, item) for kind, item in self._systems.items()])
        self.set_trait("method_names", [list(pair) for pair in METHODS.items()])
        self.set_trait("steps", steps)
        start_q = _state("q", scene.q if q is None else q, chosen.dim)
        start_p = _state("p", scene.p if p is None else p, chosen.dim)
        chosen.check_start(torch.from_numpy(start_q), torch.from_numpy(start_p))
        super().__init__(
            system=name,
            q=start_q,
            p=start_p,
            dt=number_between("dt", scene.dt if dt is None else dt, SHORTEST, LONGEST),
            methods=list(methods),
            **dom,
        )
        self.observe(self._enter_scene, names="system")
        self._run_steppers()
        if self._steppers:
            self.observe(self._run_steppers, names=["system", "q", "p", "dt"])

    def describe(self) -> str:
        """Which system is integrated, and how."""
        methods = ", ".join(METHODS[method] for method in self.methods)
        return (
            f"Phase portrait and relative energy error. {self._systems[self.system].name}: "
            f"{self.steps} steps of {self.dt:g}, by {methods}."
        )

    def page_state(self) -> dict[str, Any]:
        """As it stands now; without a kernel nothing runs Python's own steppers again."""
        return super().page_state() | {"rollouts_follow": False}

    @traitlets.validate("q", "p")
    def _finite(self, proposal: Any) -> NDArray[np.float32]:
        if not np.isfinite(proposal.value).all():
            raise traitlets.TraitError(f"{proposal.trait.name} holds NaN or infinite values")
        return proposal.value

    def _enter_scene(self, _change: Any) -> None:
        """Start where the new system's scene does, unless the state fits it as it is."""
        scene = SCENES[self.system]
        if len(self.q) == len(self.p) == len(scene.q):
            return
        with self.hold_sync(), self.hold_trait_notifications():
            self.q, self.p = (_state(name, getattr(scene, name), len(scene.q)) for name in "qp")
            self.dt = scene.dt
            self.plane = min(self.plane, len(scene.planes) - 1)

    def _run_steppers(self, _change: Any = None) -> None:
        system = self._systems[self.system]
        if len(self.q) != system.dim or len(self.p) != system.dim:
            # A new system comes first, and its state right after.
            return
        q, p = (torch.from_numpy(state.astype(np.float64)) for state in (self.q, self.p))
        runs = []
        for title, stepper in self._steppers.items():
            try:
                run = mechanics.integrate(
                    system, q, p, dt=self.dt, steps=self.steps, method=stepper
                )
            except IntegrationError as error:
                run = error.trajectory
            runs.append(_rollout(title, run, system, self.steps, numbers=self._numbers))
        self.rollouts = [*self._given, *runs]
        self.rollouts_follow = bool(self._steppers) and not self._given


def _spec(kind: str, system: HamiltonianSystem) -> dict[str, Any]:
    scene = dataclasses.asdict(SCENES[kind])
    title = system.name[0].upper() + system.name[1:]
    return {"name": kind, "title": title, "parameters": dataclasses.asdict(system)} | {
        key: list(value) if isinstance(value, tuple) else value for key, value in scene.items()
    }


def _state(name: str, value: ArrayLike | tuple, dim: int) -> NDArray[np.float32]:
    state = finite_array(
        name, list(value) if isinstance(value, tuple) else value, (f"{dim} coordinates",)
    )
    if len(state) != dim:
        raise ValueError(f"{name} has {len(state)} coordinates; the system has {dim}; give {dim}")
    return state


def _rollout(
    title: str,
    run: Trajectory,
    system: HamiltonianSystem,
    steps: int | None = None,
    *,
    numbers: int,
) -> dict[str, Any]:
    """A trajectory as it is drawn: the envelope of its energy error, and some of its points."""
    if not isinstance(run, Trajectory):
        raise TypeError(
            f"the rollout {title!r} is a {type(run).__name__}; expected a Trajectory, as integrate "
            "returns it, of t, q, p and energy"
        )
    energy = run.energy.detach().double().numpy()
    if energy.ndim != 1 or run.q.shape[-1] != system.dim:
        raise ValueError(
            f"the rollout {title!r} has energies of shape {energy.shape} and states of "
            f"{tuple(run.q.shape)}; expected one trajectory, (steps + 1,) and (steps + 1, "
            f"{system.dim})"
        )
    states = torch.cat((run.q, run.p), dim=-1).detach().double().numpy()
    finite = np.isfinite(energy) & np.isfinite(states).all(axis=1)
    if not finite[0]:
        raise ValueError(f"the rollout {title!r} does not start from a finite state and energy")
    total = (steps or len(energy) - 1) + 1
    # A run that is lost on the way ends where its energy or its state stops being finite.
    kept = len(energy) if finite.all() else int(finite.argmin())
    energy, states = energy[:kept], states[:kept]
    error = np.abs(energy - energy[0]) / (abs(energy[0]) or 1.0)
    bins = min(BINS, total)
    edges = np.arange(kept) * bins // total
    starts = np.flatnonzero(np.diff(edges, prepend=-1))
    # The page draws all bins, over the whole of the axis, up to the first that is infinite.
    low, high = np.full((2, bins), np.inf, dtype=np.float32)
    largest = np.finfo(np.float32).max
    drawn = error.clip(max=largest)
    low[edges[starts]] = np.minimum.reduceat(drawn, starts)
    high[edges[starts]] = np.maximum.reduceat(drawn, starts)
    every = math.ceil(kept * states.shape[1] / numbers)
    points = states[::every].clip(-largest, largest).astype(np.float32)
    encode = Array._encode
    return {
        "name": title,
        "low": encode(low, None),
        "high": encode(high, None),
        "points": encode(points, None),
        "largest": float(error.max()),
        "last": float(error[-1]),
        "taken": len(error) - 1,
    }
