r"""Dynamics on graphs: heat, waves and double brackets.

All are made of the gradient along edges and its adjoint, see
:mod:`course_lib.graph_dynamics.calculus`. A field on nodes is ``(nodes, d)``, one on edges
``(E, d)``. Waves and brackets take an undirected graph with **each
pair once**, in either direction. :class:`Diffusion` alone takes directed edges, so both directions
of each pair, since attention from i to j and from j to i may differ. Bad input raises ``TypeError``
or ``ValueError`` with what was given, what was expected and what to do.
"""

import math
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, Protocol, get_args, runtime_checkable

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from course_lib.graph.structure import check_node_numbers
from course_lib.graph_dynamics.calculus import (
    check_metric,
    divergence,
    gradient,
    inner,
)
from course_lib.mechanics import HamiltonianSystem
from course_lib.support.checks import check_floating, check_shapes
from course_lib.support.contracts import Count, Positive, checked

Field = Float[Tensor, "nodes d"]
Pair = tuple[Float[Tensor, "nodes d"], Float[Tensor, "E d"]]
Fields = Float[Tensor, "time nodes d"]
Pairs = tuple[Float[Tensor, "time nodes d"], Float[Tensor, "time E d"]]

# The solvers of torchdiffeq that need no options: adaptive ones, then those whose steps are ``t``.
Solver = Literal["dopri5", "dopri8", "bosh3", "adaptive_heun", "euler", "midpoint", "rk4"]
SOLVERS = get_args(Solver)


# Flows ----------------------------------------------------------------------------------------


@runtime_checkable
class Flow(Protocol):
    r"""What :func:`evolve` takes: its ``velocity(state)`` is $\dot x$."""

    velocity: Callable[[Any], Any]


@checked
@dataclass(frozen=True, eq=False)
class Diffusion:
    r"""Heat: $\dot h_i = \sum_{j \to i} \alpha_{ij}(h_j - h_i)$, over the **directed** edges.

    The state is one field ``(nodes, d)``. ``weights`` are $\alpha \ge 0$, one for each edge, 1 if
    left out; attention's, by ``edge_softmax``, make it GRAND. An undirected graph needs both
    directions here. Source: Chamberlain et al. (2021), section 4.
    """

    edges: Int64[Tensor, "2 E"]
    _: KW_ONLY
    weights: Float[Tensor, "E"] | None = None

    def __post_init__(self) -> None:
        check_node_numbers("edges", self.edges, None)
        weights = self.weights
        if weights is not None and not (weights.isfinite() & (weights >= 0)).all():
            raise ValueError(
                "weights hold a negative number, nan or inf, where heat would flow from cold "
                "to warm; expected 0 or more; take the softmax or exp of scores"
            )

    @checked
    def velocity(self, h: Float[Tensor, "nodes d"]) -> Float[Tensor, "nodes d"]:
        r"""$\dot h$: each edge pulls its target towards its source."""
        check_floating(h=h)  # a pair is refused: evolve() takes pairs too
        pull = -gradient(h, self.edges)
        if self.weights is not None:
            check_floating(h=h, weights=self.weights)
            pull = self.weights[:, None] * pull
        return torch.zeros_like(h).index_add(0, self.edges[1], pull)


@checked
def energy(
    q: Float[Tensor, "nodes d"],
    p: Float[Tensor, "E d"],
    *,
    node_weights: Float[Tensor, "nodes"] | None = None,
    edge_weights: Float[Tensor, "E"] | None = None,
) -> Float[Tensor, ""]:
    r"""$E = \frac12\|q\|^2 + \frac12\|p\|^2$ in the metric: kinetic plus potential energy."""
    return inner(q, q, weights=node_weights) / 2 + inner(p, p, weights=edge_weights) / 2


@dataclass(frozen=True, eq=False)
class _BracketFlow:
    """What waves and double brackets share: the graph, the metric, the energy and the map J."""

    edges: Int64[Tensor, "2 E"]
    nodes: Count
    _: KW_ONLY
    node_weights: Float[Tensor, "nodes"] | None = None
    edge_weights: Float[Tensor, "E"] | None = None
    hamiltonian: Callable[[Tensor, Tensor], Tensor] | None = None

    def __post_init__(self) -> None:
        check_node_numbers("edges", self.edges, self.nodes)
        check_metric(**_metric(self))

    def velocity(self, state: Pair) -> Pair:
        r"""The velocity $\dot x$."""
        raise NotImplementedError(f"{type(self).__name__} has no velocity; write velocity(state)")

    @checked
    def energy(self, state: Pair) -> Float[Tensor, ""]:
        """The energy $E(q, p)$."""
        self._check(state)
        if self.hamiltonian is None:
            return energy(*state, **_metric(self))
        value = self.hamiltonian(*state)
        if not isinstance(value, Tensor) or value.dim():
            raise ValueError(
                f"hamiltonian returns {getattr(value, 'shape', value)}; expected one number, the "
                "energy of the whole state; sum over nodes, edges and features"
            )
        return value

    @checked
    def energy_gradient(self, state: Pair) -> Pair:
        r"""$\nabla E$ in the metric: partial derivatives, divided by the weights."""
        self._check(state)
        if self.hamiltonian is None:
            return state
        wanted = torch.is_grad_enabled()
        with torch.enable_grad():
            state = tuple(x if x.requires_grad else x.detach().requires_grad_() for x in state)
            slopes = torch.autograd.grad(
                self.energy(state), state, create_graph=wanted, materialize_grads=True
            )
        weights = (self.node_weights, self.edge_weights)
        dq, dp = (s if w is None else s / w[:, None] for s, w in zip(slopes, weights, strict=True))
        return dq, dp

    @checked
    def poisson(self, x: Pair) -> Pair:
        r"""$J$ applied to a pair: $(a, b) \mapsto (-\delta_0^* b,\ \delta_0 a)$."""
        self._check(x)
        a, b = x
        adjoint = divergence(b, self.edges, self.nodes, **_metric(self))
        return -adjoint, gradient(a, self.edges)

    @checked
    def inner(self, x: Pair, y: Pair) -> Float[Tensor, ""]:
        r"""$\langle x, y\rangle$: that of the nodes plus that of the edges."""
        self._check(x)
        (a, b), (c, d) = x, y
        return inner(a, c, weights=self.node_weights) + inner(b, d, weights=self.edge_weights)

    @checked
    def energy_rate(self, state: Pair) -> Float[Tensor, ""]:
        r"""$\dot E = \langle\nabla E, \dot x\rangle$ along the flow."""
        return self.inner(self.energy_gradient(state), self.velocity(state))

    def _check(self, state: Pair) -> None:
        """Raise unless a pair fits the graph and its metric, as no annotation can check."""
        q, p = state
        check_floating(q=q, p=p, **_metric(self))
        check_shapes(q=(q, f"{self.nodes} d"), p=(p, f"{self.edges.shape[1]} d"))


@checked
@dataclass(frozen=True, eq=False)
class HamiltonianFlow(_BracketFlow):
    r"""Waves: $\dot x = J\nabla E$ with $J(a, b) = (-\delta_0^* b,\ \delta_0 a)$.

    The state is a pair, ``q`` on nodes ``(nodes, d)`` and ``p`` on edges ``(E, d)``, each pair of
    neighbours once. ``hamiltonian(q, p)`` is the energy $E$, a scalar that autograd can
    differentiate; left out, it is :func:`energy`, and the flow the wave equation
    $\ddot q = -\delta_0^*\delta_0 q$. The gradient is that of the metric,
    $\langle\nabla E, x\rangle = dE(x)$: partial derivatives over weights. $J$ is skew in the
    metric, so $\dot E = \langle\nabla E, J\nabla E\rangle = 0$. A velocity keeps the graph of
    derivatives of ``hamiltonian``, for training; without it, use ``torch.no_grad()``. Raises
    ``ValueError`` for weights that are not positive and an energy that is not one number.
    Source: Gruber, Lee and Trask (2023), section 4.
    """

    @checked
    def velocity(self, state: Pair) -> Pair:
        r"""$J\nabla E$."""
        return self.poisson(self.energy_gradient(state))


@checked
@dataclass(frozen=True, eq=False)
class DoubleBracketFlow(_BracketFlow):
    r"""Waves that lose energy: $\dot x = J\nabla E + J^2\nabla E$.

    $J^\top = -J$ in the metric, so $J^2 = -J^\top J$ and $\dot E = -\|J\nabla E\|^2 \le 0$. What
    lies in the kernel of $J$ is kept for every $E$: the weighted mean of ``q`` on each
    component, and the part of ``p`` that runs in cycles, $\delta_0^* p = 0$. Under the default
    energy a mode of $\delta_0^*\delta_0$ with eigenvalue $\lambda$ swings at $\sqrt\lambda$ and
    fades like $e^{-\lambda t}$, as fast as heat. State and arguments are those of
    :class:`HamiltonianFlow`. Source: Gruber, Lee and Trask (2023), section 4.
    """

    @checked
    def velocity(self, state: Pair) -> Pair:
        r"""$J\nabla E + J(J\nabla E)$."""
        turned = self.poisson(self.energy_gradient(state))
        again = self.poisson(turned)
        return turned[0] + again[0], turned[1] + again[1]


@checked
@dataclass(frozen=True, eq=False)
class WaveEquation(HamiltonianSystem):
    r"""The wave $\ddot u = -\delta_0^*\delta_0 u$ in canonical pairs, for the steppers.

    $H(u, v) = \frac12\sum_i v_i^2/m_i + \frac12\sum_e w_e (\delta_0 u)_e^2$ with displacements
    ``q`` $= u$ and momenta ``p`` $= v = m\dot u$, both ``(*batch, nodes)``: nodes are the last axis
    here, so pass features as rows. :class:`HamiltonianFlow` describes the same motion by
    $(\dot u, \delta_0 u)$. Explicit steppers need ``dt`` below $2/\sqrt{\lambda_{\max}}$.
    """

    name = "wave on a graph"
    separable = True
    edges: Int64[Tensor, "2 E"]
    nodes: Count
    _: KW_ONLY
    node_weights: Float[Tensor, "nodes"] | None = None
    edge_weights: Float[Tensor, "E"] | None = None

    def __post_init__(self) -> None:
        check_node_numbers("edges", self.edges, self.nodes)
        check_metric(**_metric(self))

    @property
    def dim(self) -> int:
        """The number of nodes."""
        return self.nodes

    @checked
    def energy(
        self, q: Float[Tensor, "*batch dim"], p: Float[Tensor, "*batch dim"]
    ) -> Float[Tensor, "*batch"]:
        """The kinetic energy of the nodes and the potential energy of the springs."""
        return (p * self.grad_p(q, p) + q * self.grad_q(q, p)).sum(dim=-1) / 2

    @checked
    def grad_q(
        self, q: Float[Tensor, "*batch dim"], p: Float[Tensor, "*batch dim"]
    ) -> Float[Tensor, "*batch dim"]:
        r"""The pull of the springs, sign reversed: $M\delta_0^*\delta_0 u$."""
        check_floating(q=q, p=p, **_metric(self))
        u = q.reshape(-1, self.nodes).T
        # Without the weights of the nodes the adjoint is that of partial derivatives.
        pull = divergence(
            gradient(u, self.edges), self.edges, self.nodes, edge_weights=self.edge_weights
        )
        return pull.T.reshape(q.shape)

    @checked
    def grad_p(
        self, q: Float[Tensor, "*batch dim"], p: Float[Tensor, "*batch dim"]
    ) -> Float[Tensor, "*batch dim"]:
        r"""The velocity $\dot u = v/m$."""
        check_floating(q=q, p=p, **_metric(self))
        return p if self.node_weights is None else p / self.node_weights


# Steps and solvers ----------------------------------------------------------------------------


@checked
def euler_step(system: Flow, state: Field | Pair, dt: Positive) -> Field | Pair:
    r"""$x + h\,\dot x$: the explicit Euler step, and one layer of a graph network."""
    velocity = system.velocity(state)
    if isinstance(state, Tensor):
        return state + dt * velocity
    return tuple(x + dt * v for x, v in zip(state, velocity, strict=True))


@checked
def evolve(
    system: Flow,
    state: Field | Pair,
    t: Float[Tensor, "time"],
    *,
    method: Solver = "dopri5",
    tolerance: Positive | None = None,
) -> Fields | Pairs:
    r"""The states at the times ``t``, by a solver of torchdiffeq; ``state`` is that at ``t[0]``.

    ``(nodes, d)`` becomes ``(time, nodes, d)``. ``method`` is one of ``SOLVERS``; ``euler``,
    ``midpoint`` and ``rk4`` step from one time to the next, the others choose their steps so that
    the error of each number stays below ``tolerance`` of its size and of the largest that its
    feature has at the start, by default the root of the rounding error. None is symplectic: for a
    wave over a long time take :class:`WaveEquation` and a stepper of :mod:`course_lib.mechanics`.
    Raises ``ValueError`` for times that are negative or do not increase, ``ArithmeticError`` where
    the solver cannot go on.
    """
    from torchdiffeq import odeint

    if not (len(t) and t.isfinite().all() and t[0] >= 0 and (t.diff() > 0).all()):
        raise ValueError(
            f"t is {t.tolist()}; expected times of 0 or more, each later than the one before; "
            "sort them, and start at the time of state"
        )
    if tolerance is None:
        tolerance = math.sqrt(torch.finfo(t.dtype).eps)
    system.velocity(state)  # raises for a wrong state
    parts = [part.detach() for part in ([state] if isinstance(state, Tensor) else state)]
    size = (
        torch.cat([*parts, torch.zeros_like(parts[0]).sum(dim=0, keepdim=True)]).abs().amax(dim=0)
    )
    size = torch.where(size > 0, size, size.sum().item() or 1.0)
    slack = [(tolerance * size).expand_as(part) for part in parts]
    slack = slack[0] if isinstance(state, Tensor) else [part.flatten() for part in slack]
    try:
        return odeint(
            lambda _, x: system.velocity(x), state, t, method=method, rtol=tolerance, atol=slack
        )
    except AssertionError as error:
        raise ArithmeticError(
            f"{method} stopped: {error}; expected a smooth, finite velocity; "
            "look at the velocity of the start, or ask for a larger tolerance"
        ) from error


def _metric(system: object) -> dict[str, Tensor]:
    """The weights that a system was given, by name."""
    names = ("node_weights", "edge_weights")
    return {name: getattr(system, name) for name in names if getattr(system, name) is not None}
