"""MechanicsStage: pendulum, springs, planet and rigid body; one start, several ways to go on."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
import traitlets
from numpy.typing import NDArray
from torch import Tensor, nn

from course_lib import mechanics
from course_lib.mechanics import HamiltonianSystem, RigidBody, Trajectory
from course_lib.symplectic import SympNet
from course_lib.widgets.kit.base import MovingWidget
from course_lib.widgets.kit.runs import FARTHEST, METHODS, REACH, numbers_of, system_of
from course_lib.widgets.kit.traits import (
    Array,
    Choice,
    Data,
    Number,
    Several,
    finite_array,
    named,
)

MOST_STAGES = 3  # side by side, each still large
ALL_NUMBERS = 1500  # of all rollouts together, so that the page stays light
MOST_PARAMETERS = 2000  # of a network, which takes all its steps while a hand moves
STEPS, PACE = 500, 50  # of networks, whose errors are small and add up; and so many a second
BOOK = RigidBody(inertia=(1.6, 1.0, 0.8))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Scene:
    """What a system is called, where it starts, its step, how long it is watched, how quickly."""

    title: str
    z: tuple[float, ...]
    dt: float
    span: float
    pace: float


# The planet falls towards the sun from where it is farthest: the trial comes within seconds. The
# body turns about its middle axis, where no spin lasts.
SCENES = {
    "Pendulum": Scene(title="Pendulum", z=(1.2, 0.0), dt=0.1, span=80.0, pace=6.0),
    "HarmonicOscillator": Scene(title="Spring", z=(1.0, 0.0), dt=0.1, span=30.0, pace=3.0),
    "CoupledOscillators": Scene(
        title="Two springs", z=(1.0, 0.5, 0.0, 0.5), dt=0.1, span=40.0, pace=4.0
    ),
    "Kepler": Scene(title="Planet", z=(1.6, 0.0, 0.0, 0.5), dt=0.08, span=25.0, pace=1.25),
    "RigidBody": Scene(title="Rigid body", z=(0.05, 1.0, 0.05), dt=0.3, span=60.0, pace=4.0),
}


def _startable(stage: Any, z: NDArray[np.float32]) -> NDArray[np.float32]:
    system, state = stage._chosen(), torch.from_numpy(z)
    system.check_start(state[: system.dim], state[system.dim :])
    return z


def _room(stage: Any, methods: list[str]) -> list[str]:
    if (count := len(methods) + stage._taken) > MOST_STAGES:
        learned = ", networks with the true motion" if stage._learned else ""
        raise ValueError(
            f"methods and rollouts{learned} are {count} together; expected {MOST_STAGES} at most, "
            "for which there is room side by side; show fewer"
        )
    return methods


def _as_learned(name: str) -> Any:
    """A rule: networks know one system and one step, those with which the stage is made."""

    def rule(stage: Any, value: Any) -> Any:
        if stage._learned and stage.trait_has_value(name) and value != getattr(stage, name):
            raise ValueError(
                f"{name} is {value}, but the networks have learned {getattr(stage, name)}; make "
                "another stage"
            )
        return value

    return rule


class MechanicsStage(MovingWidget):
    r"""A body on a stage for each integrator: it moves, and its energy is water in a glass.

    All stages share the start ``z``, positions and then momenta, the step ``dt`` and the clock. The
    flow of a Hamiltonian system keeps $H$, so the water should stay at its mark. The rim of the
    glass is the energy with which a pendulum goes over the top, a planet leaves its sun; elsewhere
    it is twice that of the start. The reader takes a body with the hand and lets it go, and throws
    a planet.

    ``system`` is ``HarmonicOscillator``, ``Pendulum``, ``CoupledOscillators``, ``Kepler`` or a
    ``RigidBody`` with weights of 1, whose ``z`` is its angular momentum; the reader may choose the
    others too. What is drawn between two steps lies on the straight line from one to the other.

    ``networks`` maps names to maps of a state to that after ``dt``. They run in the page, from
    every start, beside the true motion: that of Runge and Kutta, with steps a tenth as long. Each
    is a ``SympNet``, or a perceptron that gives the *change* of $(q, p)$: an ``nn.Sequential`` of
    ``Linear`` layers with ``Tanh`` between them. The weights travel as float32. With networks,
    ``system`` and ``dt`` stay as they are. ``trained_on``, the states (q, p) that they were shown,
    lets the stage say when a start has more energy than any of those. ``rollouts`` maps names to
    trajectories that were computed before; they are shown until the reader leaves their start.

    All together are three at most. A run is watched for a while and then begins again. It is
    ``moving`` at once, unless the reader has asked for less motion or you for none.

    Traits, synced both ways: ``system``, ``z``, ``dt``, ``methods``.
    Raises ``TypeError`` and ``ValueError`` for what cannot be integrated or drawn.
    Source: Hairer, Lubich and Wanner (2006), sections I.1, I.2 and VII.5.
    """

    systems = Data(lambda self: [_spec(*item) | self._watched() for item in self._systems.items()])
    method_names = Data([list(pair) for pair in METHODS.items()])
    system = Choice(*SCENES, rule=_as_learned("system"))
    z = Array(
        lambda self: (f"coordinates={_size(self._chosen())}",),
        within=FARTHEST,
        default=lambda self: self._scene().z,
        rule=_startable,
    )
    dt = Number(0.01, 1.0, default=lambda self: self._scene().dt, rule=_as_learned("dt"))
    methods = Several(
        Choice(offered=lambda self: _methods(self._chosen())),
        default=lambda self: _first_methods(self._chosen())[: max(0, MOST_STAGES - self._taken)],
        rule=_room,
    )
    rollouts = Data(lambda self: self._given)
    trained = Data(lambda self: self._trained)
    networks = Data(
        lambda self: [each | {"system": self.system, "dt": self.dt} for each in self._learned]
    )

    def __init__(
        self,
        system: HamiltonianSystem | RigidBody | None = None,
        *,
        methods: list[str] | tuple[str, ...] | None = None,
        networks: Mapping[str, nn.Module] | None = None,
        trained_on: tuple[Tensor, Tensor] | None = None,
        rollouts: Mapping[str, Trajectory] | None = None,
        **given: Any,
    ) -> None:
        name, chosen = system_of(system, SCENES)
        self._trained = None if trained_on is None else _most_energy(chosen, *trained_on)
        if isinstance(chosen, RigidBody) and set(chosen.weights) != {1.0}:
            raise ValueError(
                f"system has the weights {chosen.weights}; expected ones, for a body in stretched "
                "coordinates has no shape; pass RigidBody(inertia=...)"
            )
        # The body that the course computes with is no body that could be built, so none to look at.
        others = {kind: getattr(mechanics, kind)() for kind in SCENES} | {"RigidBody": BOOK}
        self._systems = others | {name: chosen}
        runs = named("rollouts", rollouts)
        self._given = [
            _rollout(title, run, chosen, ALL_NUMBERS // len(runs)) for title, run in runs.items()
        ]
        self._learned = [
            _network(title, network, chosen)
            for title, network in named("networks", networks).items()
        ]
        # The true motion stands beside networks.
        self._taken = len(runs) + (len(self._learned) and len(self._learned) + 1)
        if methods is not None and not (methods or self._taken):
            raise ValueError(f"methods is empty; give at least one of {', '.join(METHODS)}")
        super().__init__(system=name, methods=methods, **given)

    def describe(self) -> str:
        """Which system moves, and how."""
        names = ["the true motion"] if self._learned else []
        names += [network["name"] for network in self._learned]
        names += [METHODS[name] for name in self.methods] + [run["name"] for run in self._given]
        return (
            f"{self._scene().title}: it moves on a stage for each of: {', '.join(names)}. Steps of "
            f"{self.dt:g}. Its energy stands as water in a glass beside it; the true motion keeps "
            "the level."
        )

    def _chosen(self) -> HamiltonianSystem | RigidBody:
        return self._systems[self.system]

    def _scene(self) -> Scene:
        return SCENES[self.system]

    def _watched(self) -> dict[str, float]:
        return {"span": STEPS * self.dt, "pace": PACE * self.dt} if self._learned else {}

    @traitlets.observe("system")
    def _enter_scene(self, _change: Any) -> None:
        """Start where the new system's scene does, unless it can start from the state as it is."""
        scene, system = self._scene(), self._chosen()
        with self.hold_sync(), self.hold_trait_notifications():
            try:
                self.traits()["z"].validate(self, self.z)
            except ValueError:
                self.z, self.dt = scene.z, scene.dt
            self.methods = [name for name in self.methods if name in _methods(system)]


def _most_energy(system: HamiltonianSystem | RigidBody, q: Tensor, p: Tensor) -> float:
    """The largest energy of the states that networks were shown."""
    if q.shape != p.shape or q.shape[-1] != system.dim or not q.numel():
        raise ValueError(
            f"trained_on has q of {tuple(q.shape)} and p of {tuple(p.shape)}; expected states "
            f"(..., {system.dim}), the same for both"
        )
    return float(system.energy(q.detach().double(), p.detach().double()).max())


def _size(system: HamiltonianSystem | RigidBody) -> int:
    """Of a state: pairs, or the three coordinates of a rigid body."""
    return 2 * system.dim if system.canonical else system.dim


def _methods(system: HamiltonianSystem | RigidBody) -> list[str]:
    """Those that take the system: some need pairs."""
    return [m for m in METHODS if system.canonical or not getattr(mechanics, m).needs_pairs]


def _first_methods(system: HamiltonianSystem | RigidBody) -> list[str]:
    return ["explicit_euler", "stoermer_verlet" if system.canonical else "implicit_midpoint"]


def _spec(kind: str, system: HamiltonianSystem | RigidBody) -> dict[str, Any]:
    scene = dataclasses.asdict(SCENES[kind])
    reach = REACH.get(kind, (2.0,) * system.dim)
    return scene | {
        "name": kind,
        "parameters": dataclasses.asdict(system),
        "reach": list(reach),
        "z": list(scene["z"]),
        "methods": _methods(system),
        "first": _first_methods(system),
    }


def _rollout(
    title: str, run: Trajectory, system: HamiltonianSystem | RigidBody, numbers: int
) -> dict[str, Any]:
    """A trajectory as it is played: its step, and as many of its states as travel lightly."""
    _, states = numbers_of(title, run, system)
    largest = np.finfo(np.float32).max
    finite = (np.abs(states) <= largest).all(axis=1)
    kept = len(states) if finite.all() else int(finite.argmin())
    if kept < 2:  # noqa: PLR2004 - a step leads from one state to another
        raise ValueError(
            f"the rollout {title!r} has {kept} finite states; expected two or more, for something "
            "has to move"
        )
    shown = min(kept, max(2, numbers // states.shape[1]))
    return {
        "name": title,
        "dt": float(run.t[1] - run.t[0]),
        "states": Array._encode(states[:shown].astype(np.float32), None),
        "lost": shown == kept < len(states),
    }


def _network(
    title: str, network: nn.Module, system: HamiltonianSystem | RigidBody
) -> dict[str, Any]:
    """A network as it travels: for each layer a row a unit, of its weights, then its bias.

    A unit of a SympNet has its factor behind them.
    """
    if isinstance(network, SympNet):
        kind, sizes = "SympNet", [system.dim]
        layers = [torch.cat([x.K, x.b[:, None], x.a[:, None]], dim=1) for x in network.layers]
        found = [network.layers[0].K.shape[1]]
    elif _is_perceptron(network):
        kind, sizes = "perceptron", [2 * system.dim] * 2
        layers = [torch.cat([x.weight, x.bias[:, None]], dim=1) for x in network[::2]]
        found = [network[0].in_features, network[-1].out_features]
    else:
        raise TypeError(
            f"the network {title!r} is a {type(network).__name__}; expected a SympNet, or an "
            "nn.Sequential of Linear layers with Tanh between them that gives the change of (q, p)"
        )
    if not system.canonical or found != sizes:
        pairs = f"{system.dim} pairs (q, p)" if system.canonical else "no pairs (q, p)"
        raise ValueError(
            f"the network {title!r} has the sizes {found}, but {type(system).__name__} has "
            f"{pairs}; expected {sizes} for so many; train one on states of the system"
        )
    if (count := sum(layer.numel() for layer in layers)) > MOST_PARAMETERS:
        raise ValueError(
            f"the network {title!r} has {count:,} parameters; expected {MOST_PARAMETERS:,} at "
            "most, with which a page can keep up; train a smaller one"
        )
    return {
        "name": title,
        "kind": kind,
        "layers": [
            Array._encode(finite_array(f"the network {title!r}", layer, ("units", "numbers")), None)
            for layer in layers
        ],
    }


def _is_perceptron(network: nn.Module) -> bool:
    kinds = [type(layer) for layer in network] if isinstance(network, nn.Sequential) else []
    expected = [nn.Tanh if i % 2 else nn.Linear for i in range(len(kinds) | 1)]
    return kinds == expected and all(layer.bias is not None for layer in network[::2])
