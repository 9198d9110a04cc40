"""Evidence of lecture 11: integrators, beyond the orders that its page measures."""

import math
import sys
from collections.abc import Callable
from functools import cache
from itertools import pairwise

import numpy as np
import torch
from scipy.integrate import solve_ivp
from torch import Tensor

from course_lib.mechanics import (
    CoupledOscillators,
    HamiltonianSystem,
    HarmonicOscillator,
    HenonHeiles,
    Kepler,
    LogarithmicHamiltonian,
    Pendulum,
    Trajectory,
    by_both_ends,
    by_distance,
    explicit_euler,
    implicit_midpoint,
    integrate,
    modified_pendulum,
    runge_kutta_4,
    stoermer_verlet,
    symplectic_euler,
)
from course_lib.support.evidence import Row, compute, experiment

STEPPERS = {
    "explicit Euler": explicit_euler,
    "symplectic Euler": symplectic_euler,
    "Störmer–Verlet": stoermer_verlet,
    "Runge–Kutta 4": runge_kutta_4,
    "implicit midpoint": implicit_midpoint,
}
FORCES = {"explicit Euler": 1, "symplectic Euler": 1, "Störmer–Verlet": 1, "Runge–Kutta 4": 4}
BUDGET, YEARS = 200, 1000
METHODS = ("Störmer–Verlet", "DOP853")
REVOLUTIONS = np.unique(np.geomspace(1, YEARS, 80).round().astype(int))
Step = tuple[Tensor, Tensor]


def state(*numbers: float) -> Tensor:
    """A state in double precision."""
    return torch.tensor(numbers, dtype=torch.float64)


SUN, CLOCK, GALAXY = Kepler(), LogarithmicHamiltonian(Kepler()), HenonHeiles()
PLANET = state(0.4, 0.0), state(0.0, 2.0)
COMET = state(0.1, 0.0), state(0.0, math.sqrt(19))
STAR = state(0.0, -0.25), state(math.sqrt(2 / 8 - 0.25**2 - 2 * 0.25**3 / 3), 0.0)


def off(quantity: Tensor) -> Tensor:
    """The relative error at each time."""
    return (quantity / quantity[..., :1] - 1).abs()


def varies(quantity: Tensor) -> float:
    """The largest relative error."""
    return off(quantity).max().item()


def spread(energy: Tensor) -> float:
    """Largest minus smallest."""
    return (energy.max() - energy.min()).item()


def swing(angle: float, **options: object) -> Trajectory:
    """A pendulum that starts at rest from an angle."""
    return integrate(Pendulum(), state(angle), state(0.0), **options)


def over_the_top(run: Trajectory) -> int:
    """The first step at which a pendulum is upside down, or beyond."""
    return int((run.q[:, 0].abs() > math.pi).long().argmax())


def one_digit(number: float) -> str:
    """Format with one digit, such as 4e-3."""
    return f"{number:.0e}".replace("e-0", "e-")


@experiment()
def over_it_goes() -> Row:
    """Explicit Euler takes a pendulum over the top with local errors below 1 %."""
    fall = swing(1.2, dt=0.1, steps=1000, method=explicit_euler)
    over = over_the_top(fall)
    before = fall.q[:over], fall.p[:over]
    exact = integrate(Pendulum(), *before, dt=0.01, steps=10, method=runge_kutta_4)
    missed = torch.cat([exact.q[:, -1] - fall.q[1:][:over], exact.p[:, -1] - fall.p[1:][:over]], 1)
    most = (missed.norm(dim=1) / torch.cat(before, 1).norm(dim=1)).max().item()
    rough = swing(1.2, dt=0.5, steps=10_000, method=symplectic_euler)
    return {
        "over_the_top": over,
        "glass": fall.energy[:over].max().item(),
        "local_error": math.ceil(1000 * most) / 1000,
        "euler_off": varies(rough.energy),
    }


@experiment()
def steps_of_runge_kutta() -> Row:
    """Runge–Kutta 4 loses energy in the long run; single steps on a pendulum gain or lose."""
    ringing = integrate(
        HarmonicOscillator(), state(1.0), state(0.0), dt=0.2, steps=100_000, method=runge_kutta_4
    )
    left = (ringing.energy[-1] / ringing.energy[0]).item()
    each = 1 - 0.2**6 / 72 + 0.2**8 / 576
    swings = swing(1.2, dt=0.2, steps=300, method=runge_kutta_4)
    lost = swings.energy[0] - swings.energy[-1]
    random = torch.Generator().manual_seed(0)
    starts = 3 * (2 * torch.rand(2, 200, 1, generator=random, dtype=torch.float64) - 1)
    many = integrate(Pendulum(), *starts, dt=0.2, steps=1000, method=runge_kutta_4).energy
    return {
        "rk4_left": left,
        "formula_off": abs(left / each**100_000 - 1),
        "lost_a_step": 1 - each,
        "rk4_up": (swings.energy.diff() > 0).sum().item(),
        "rk4_down": (swings.energy.diff() < 0).sum().item(),
        "least_lost": min((many[:, 0] - many[:, -1]).min().item(), lost.item()),
    }


def polygon_area(q: Tensor, p: Tensor) -> float:
    """The area within a closed polygon, by the shoelace formula."""
    return 0.5 * abs((q * p.roll(-1) - q.roll(-1) * p).sum().item())


@experiment()
def any_skew_matrix() -> Row:
    """A skew matrix times a gradient is orthogonal to the gradient."""
    random, gained = torch.Generator().manual_seed(0), 0.0
    for size in (2, 5, 8):
        a = torch.randn(size, size, generator=random, dtype=torch.float64)
        gradient = torch.randn(size, generator=random, dtype=torch.float64)
        gained = max(gained, abs(gradient @ (a - a.T) @ gradient).item())
    return {"gained": gained}


@experiment([{"h": 0.25}, {"h": 0.5}])
def disc_of_pendulums(*, h: float) -> Row:
    """Symplectic Euler preserves the area of a disc, not its shape; explicit Euler neither."""
    turn = torch.arange(200, dtype=torch.float64) * math.tau / 200
    rim = 0.45 * turn.cos()[:, None], 1.3 + 0.45 * turn.sin()[:, None]
    ways = {"flow": (runge_kutta_4, 50), "explicit": (explicit_euler, 1)}
    row, shapes = {}, {}
    for title, (step, parts) in (ways | {"symplectic": (symplectic_euler, 1)}).items():
        run = integrate(Pendulum(), *rim, dt=h / parts, steps=18 * parts, method=step)
        shapes[title] = torch.stack([run.q[:, -1, 0], run.p[:, -1, 0]])
        area = polygon_area(*shapes[title]) / polygon_area(rim[0][:, 0], rim[1][:, 0])
        row[f"{title}_off"] = abs(area - 1)
    apart = (shapes["symplectic"] - shapes["flow"]).norm(dim=0).max().item()
    return row | {"apart": apart}


SYSTEMS = {
    "pendulum": (Pendulum(), state(1.2), state(0.0)),
    "springs": (CoupledOscillators(), state(1.0, 0.5), state(0.0, 0.5)),
    "galaxy": (HenonHeiles(), state(0.1, 0.2), state(0.3, 0.1)),
}


@experiment([{"system": name} for name in SYSTEMS])
def over_a_fixed_time(*, system: str) -> Row:
    """Over a time of 200 the energy changes by O(h), its corrected energy by O(h²)."""
    on, *start = SYSTEMS[system]
    spreads = []
    for h in (0.02, 0.01, 0.005):
        run = integrate(on, *start, dt=h, steps=round(200 / h), method=symplectic_euler)
        product = (on.grad_q(run.q, run.p) * on.grad_p(run.q, run.p)).sum(-1)
        spreads.append((spread(run.energy), spread(run.energy - h / 2 * product)))
    orders = torch.tensor(spreads).log2().diff(dim=0).neg()
    plain, corrected = (orders - torch.tensor([1, 2])).abs().amax(0).tolist()
    return {"order_off": plain, "corrected_order_off": corrected}


terms = cache(modified_pendulum)


def cut(count: int, h: float, q: Tensor, p: Tensor) -> Tensor:
    """Modified energies with 1, 2, 3, … terms, one below the other."""
    each = [h**n * term(q, p) for n, term in enumerate(terms(20)[:count])]
    return torch.stack(each).cumsum(0)


@experiment([{"h": h} for h in (1.0, 0.8, 0.6, 0.4)], within=0.01)
def cut_series(*, h: float) -> Row:
    """The variation of each modified energy along 2,000 steps, and the best number of terms."""
    run = swing(1.2, dt=h, steps=2000, method=symplectic_euler)
    wavers = [spread(energy) for energy in cut(20, h, run.q, run.p)]
    least = min(wavers)
    best = wavers.index(least) + 1
    return {"wavers": wavers, "best": best, "least": least}


@experiment(within=0.01)
def series_compared() -> Row:
    """The best number of terms at h = 1 and 0.6; at 0.6 the variation stays in 100,000 steps."""
    long, short = cut_series(h=1.0), cut_series(h=0.6)
    run = swing(1.2, dt=0.6, steps=100_000, method=symplectic_euler)
    later = spread(cut(short["best"], 0.6, run.q[::20], run.p[::20])[-1])
    return {
        "best_long": long["best"],
        "best_short": short["best"],
        "waver_long": one_digit(long["least"]),
        "waver_short": one_digit(short["least"]),
        "diverged": long["wavers"][-1] / long["least"],
        "gained_by_step": long["least"] / short["least"],
        "later": later / short["least"],
    }


@experiment()
def two_near_the_top() -> Row:
    """Two pendulums that start 1e-10 apart near the top separate soon: the map is chaotic there."""
    top = state(3.0, 3.0 + 1e-10)[:, None]
    pair = integrate(Pendulum(), top, 0 * top, dt=1.0, steps=100, method=symplectic_euler)
    apart = (pair.q[0] - pair.q[1]).abs()[:, 0]
    return {"apart_by": int((apart > 0.5).long().argmax()), "apart": apart.max().item()}


def heun(system: HamiltonianSystem, q: Tensor, p: Tensor, dt: float) -> Step:
    """Heun's method, the control of the page: order two, not symplectic."""
    q_dot, p_dot = system.field(q, p)
    q_next, p_next = system.field(q + dt * q_dot, p + dt * p_dot)
    return q + dt / 2 * (q_dot + q_next), p + dt / 2 * (p_dot + p_next)


@experiment()
def a_million_steps() -> Row:
    """The energy of Störmer–Verlet is off by no more in a million steps than in a thousand."""
    error = off(swing(1.2, dt=0.1, steps=1_000_000).energy)
    by_heun, by_verlet = (
        swing(1.2, dt=0.2, steps=2000, method=step).energy for step in (heun, stoermer_verlet)
    )
    return {
        "million": error.max().item(),
        "thousand": error[:1000].max().item(),
        "heun_off": varies(by_heun),
        "verlet_off": varies(by_verlet),
    }


@experiment(within=0.01)
def from_close_to_the_top() -> Row:
    """The amplitude of a pendulum from the angle 3 at the end of 10,000 steps of 0.5."""
    runs = {name: swing(3.0, dt=0.5, steps=10_000, method=step) for name, step in STEPPERS.items()}
    late = {name: run.q[-400:].abs().max().item() for name, run in runs.items()}
    kept = [late[name] for name in ("symplectic Euler", "Störmer–Verlet", "implicit midpoint")]
    return {
        "high_euler": over_the_top(runs["explicit Euler"]),
        "high_kutta": late["Runge–Kutta 4"],
        "narrowest": min(kept),
        "widest": max(kept),
    }


def by_sun(x: float, y: float) -> tuple[float, float]:
    """The gradient of Kepler's potential, on plain numbers, which is ten times faster in SciPy."""
    cubed = math.hypot(x, y) ** 3
    return x / cubed, y / cubed


def by_galaxy(x: float, y: float) -> tuple[float, float]:
    """The gradient of the potential of Hénon and Heiles."""
    return x + 2 * x * y, y + x * x - y * y


def dop853(
    system: HamiltonianSystem, start: Step, *, time: float, rtol: float, atol: float = 1e-13
) -> tuple[Trajectory, int]:
    """The states at the steps that DOP853 chooses, and its number of evaluations."""
    slope = {Kepler: by_sun, HenonHeiles: by_galaxy}[type(system)]

    def field(_: float, z: np.ndarray) -> tuple[float, float, float, float]:
        x, y, p_x, p_y = z.tolist()
        slope_x, slope_y = slope(x, y)
        return p_x, p_y, -slope_x, -slope_y

    run = solve_ivp(
        field, (0, time), torch.cat(start).numpy(), method="DOP853", rtol=rtol, atol=atol
    )
    q, p = torch.from_numpy(run.y.T).chunk(2, dim=-1)
    return Trajectory(torch.from_numpy(run.t), q, p, system.energy(q, p)), run.nfev


def angular_momentum(run: Trajectory) -> Tensor:
    """The angular momentum, which a central force conserves."""
    return run.q[..., 0] * run.p[..., 1] - run.q[..., 1] * run.p[..., 0]


@cache
def orbit(method: str) -> tuple[Trajectory, float]:
    """The planet over a thousand revolutions, and the force evaluations per revolution."""
    if method == "DOP853":
        run, asked = dop853(SUN, PLANET, time=math.tau * YEARS, rtol=2e-5)
        return run, asked / YEARS
    steps = BUDGET // FORCES[method]
    options = {"dt": math.tau / steps, "method": STEPPERS[method]}
    return integrate(SUN, *PLANET, steps=steps * YEARS, **options), BUDGET


def worst_of_each(run: Trajectory, quantity: Tensor) -> np.ndarray:
    """The largest relative error within each revolution."""
    revolution = (run.t / math.tau - 1e-9).clamp(0, YEARS - 1e-6).long().numpy()
    worst = np.zeros(YEARS)
    np.maximum.at(worst, revolution, off(quantity).numpy())
    return worst


@experiment([{"method": method} for method in (*FORCES, "DOP853")], within=0.05)
def planet(*, method: str) -> Row:
    """A thousand revolutions of 200 force evaluations each: the largest error in each."""
    run, forces = orbit(method)
    energy = worst_of_each(run, run.energy)
    momentum = worst_of_each(run, angular_momentum(run))
    return {
        "forces": forces,
        "energy": energy[REVOLUTIONS - 1].tolist(),
        "angular momentum": momentum[REVOLUTIONS - 1].tolist(),
        "revolutions": REVOLUTIONS.tolist(),
        "most": energy.max().item(),
        "momentum_most": momentum.max().item(),
        "grown": (energy.max() / energy[0]).item(),
    }


@experiment(within=0.05)
def rich_planet() -> Row:
    """With 1,600 forces per revolution, over 100 revolutions, the higher order is more accurate."""
    dop, asked = dop853(SUN, PLANET, time=100 * math.tau, rtol=1e-12)
    runs = {"rich_dop": dop}
    for name, method in (("rich_kutta", "Runge–Kutta 4"), ("rich_verlet", "Störmer–Verlet")):
        steps = 1600 // FORCES[method]
        options = {"dt": math.tau / steps, "method": STEPPERS[method]}
        runs[name] = integrate(SUN, *PLANET, steps=100 * steps, **options)
    errors = [varies(run.energy) for run in runs.values()]
    misses = [(run.q[-1] - PLANET[0]).norm().item() for run in runs.values()]
    return {
        "rich_forces": asked / 100,
        **{name: one_digit(error) for name, error in zip(runs, errors, strict=True)},
        "energy_won": min(worse / better for better, worse in pairwise(errors)),
        "position_won": min(worse / better for better, worse in pairwise(misses)),
    }


@experiment(within=0.05)
def planet_compared() -> Row:
    """Runge–Kutta's planet spirals in and escapes; DOP853's error passes Störmer–Verlet's."""
    run, _ = orbit("Runge–Kutta 4")
    energy, a_year = run.energy, BUDGET // FORCES["Runge–Kutta 4"]
    lost, deepest = int((energy / energy[0] > 1.1).nonzero()[0]), int(energy.argmin())
    thrown = int((energy > 0).long().argmax())
    euler, verlet, dop = (planet(method=it) for it in ("symplectic Euler", *METHODS))
    eighth, second = (worst_of_each(it, it.energy) for it, _ in map(orbit, reversed(METHODS)))
    crossed = int((eighth > second).argmax())
    return {
        "kepler_kutta": lost / a_year,
        "kutta_deepest": (energy[deepest] / energy[0]).item(),
        "deepest_at": deepest / a_year,
        "kutta_thrown": math.ceil(thrown / a_year),
        "bound_after": (energy[thrown:] <= 0).sum().item(),
        "kepler_euler": euler["most"],
        "euler_grown": euler["grown"],
        "kepler_verlet": verlet["most"],
        "verlet_grown": verlet["grown"],
        "momentum": verlet["momentum_most"],
        "forces": dop["forces"],
        "crossed": crossed,
        "crossed_for_good": (eighth[crossed + 100 :] / second[crossed + 100 :]).min().item(),
        "dop_first": eighth[0].item(),
        "dop_last": eighth[-1].item(),
    }


@experiment([{"steps": steps} for steps in (200, 400, 800)])
def perihelion(*, steps: int) -> Row:
    """The spurious perihelion shift of Störmer–Verlet, in degrees per revolution."""
    run = integrate(SUN, *PLANET, dt=math.tau / steps, steps=100 * steps)
    L = angular_momentum(run)
    out = run.q / run.q.norm(dim=-1, keepdim=True)
    angle = torch.atan2(-run.p[:, 0] * L - out[:, 1], run.p[:, 1] * L - out[:, 0])
    return {"turn": np.degrees(np.unwrap(angle.numpy()))[-1].item() / 100}


COMETS = ("1,000 equal steps", "200 by ε|q|", "200 by both ends", "200 by another clock", "kutta")


@cache
def comet_run(choice: str, revolutions: int) -> tuple[Tensor, int]:
    """The largest energy error of a comet in each revolution, and how often it passed the sun."""
    steps = {"1,000 equal steps": 1000, "kutta": 50}.get(choice, 200)
    options = {"dt": math.tau / steps, "steps": steps * revolutions}
    passed = revolutions
    if choice in {"200 by another clock", "kutta"}:
        method = runge_kutta_4 if choice == "kutta" else stoermer_verlet
        run = integrate(CLOCK, *CLOCK.extended(*COMET), method=method, **options)
        energy = SUN.energy(run.q[:, :2], run.p[:, :2])
    else:
        methods = {"200 by ε|q|": by_distance, "200 by both ends": by_both_ends}
        run = integrate(SUN, *COMET, method=methods.get(choice, stoermer_verlet), **options)
        energy, r = run.energy, run.q.norm(dim=-1)
        passed = ((r[1:-1] < r[:-2]) & (r[1:-1] <= r[2:])).sum().item()
    return off(energy)[1:].reshape(revolutions, -1).amax(dim=1), passed


@experiment(
    [
        {"choice": "200 by another clock", "revolutions": 5},
        *({"choice": choice, "revolutions": 100} for choice in COMETS[:-1]),
    ]
)
def comet(*, choice: str, revolutions: int) -> Row:
    """The largest energy error of a comet in each revolution, by how its steps are chosen."""
    return {"worst": comet_run(choice, revolutions)[0].tolist()}


@experiment([{"revolutions": 5}, {"revolutions": 100}])
def comet_compared(*, revolutions: int) -> Row:
    """The error grows if a step depends on its start alone, and for Runge–Kutta."""
    worst, passed = zip(*(comet_run(choice, revolutions) for choice in COMETS), strict=True)
    equal, naive, ends, clock, kutta = worst
    others = torch.stack([one / one[0] for one in (equal, ends, clock)])
    shown = {"equal": equal, "naive": naive, "ends": ends, "clock": clock, "kutta": kutta}
    return {
        **{f"{name}_first": one[0].item() for name, one in shown.items()},
        **{f"{name}_last": one[-1].item() for name, one in shown.items()},
        "fewest_passed": min(passed[1:3]),
        "most_passed": max(passed[1:3]),
        "least_of_others": others.min().item(),
        "most_of_others": others.max().item(),
        "naive_least": (naive.min() / naive[0]).item(),
        "naive_least_at": int(naive.argmin()),
        "naive_grown": (naive[-1] / naive[0]).item(),
        "kutta_grown": (kutta[-1] / kutta[0]).item(),
    }


@experiment()
def comet_in_equal_steps() -> Row:
    """With 200 equal steps per revolution the first ejects the comet; with 2,000 it stays bound."""
    escape = integrate(SUN, *COMET, dt=math.tau / 200, steps=200 * 100)
    fine = integrate(SUN, *COMET, dt=math.tau / 2000, steps=2000 * 20)
    return {
        "equal_fine": varies(fine.energy),
        "escape_from": escape.energy[0].item(),
        "escape_to": escape.energy[1].item(),
        "least_after": escape.energy[1:].min().item(),
        "least_way_out": escape.q.norm(dim=-1).diff().min().item(),
    }


JOURNEYS = [{"method": name, "duration": 20_000} for name in ("Störmer–Verlet", "Runge–Kutta 4")]


def section(run: Trajectory) -> Tensor:
    """The points (q₂, p₂) at which a star passes q₁ = 0 to the right."""
    q, p = run.q, run.p
    before = ((q[:-1, 0] < 0) & (q[1:, 0] >= 0)).nonzero()[:, 0]
    part = (-q[before, 0] / (q[before + 1, 0] - q[before, 0]))[:, None]
    pair = torch.stack([q[:, 1], p[:, 1]], -1)
    return pair[before].lerp(pair[before + 1], part)


@cache
def journey(method: str, duration: int) -> Trajectory:
    """A chaotic star at 16 force evaluations per unit of time."""
    often = {"Störmer–Verlet": 16, "Runge–Kutta 4": 4}[method]
    options = {"dt": 1 / often, "steps": often * duration, "method": STEPPERS[method]}
    return integrate(GALAXY, *STAR, **options)


@experiment([{"method": "Runge–Kutta 4", "duration": 100}, *JOURNEYS], within=0.01)
def star(*, method: str, duration: int) -> Row:
    """The section of a chaotic star, early and late."""
    points = section(journey(method, duration)).mul(1000).round().div(1000)
    quarter = len(points) // 4
    return {
        "first quarter": points[:quarter].T.tolist(),
        "last quarter": points[-quarter:].T.tolist(),
    }


def parted(q: Tensor, p: Tensor) -> float:
    """The distance of two stars at the time 1,000 that start 1e-10 apart."""
    both = torch.stack([q, q + 1e-10]), torch.stack([p, p])
    pair = integrate(GALAXY, *both, dt=1 / 16, steps=16_000)
    return (pair.q[0, -1] - pair.q[1, -1]).norm().item()


@experiment(within=0.05)
def star_compared() -> Row:
    """Runge–Kutta's star loses energy and its chaos; the energy errors of other methods."""
    verlet, kutta = (journey(method, 20_000) for method in ("Störmer–Verlet", "Runge–Kutta 4"))
    twice = integrate(GALAXY, *STAR, dt=1 / 8, steps=8 * 20_000, method=runge_kutta_4)
    eighth, asked = dop853(GALAXY, STAR, time=5000, rtol=1.5e-6, atol=1.5e-6)
    return {
        "journey_verlet": varies(verlet.energy),
        "journey_kutta": (kutta.energy[-1] / kutta.energy[0]).item(),
        "verlet_parted": parted(verlet.q[-1], verlet.p[-1]),
        "kutta_parted": parted(kutta.q[-1], kutta.p[-1]),
        "journey_twice": (twice.energy[-1] / twice.energy[0]).item(),
        "star_forces": asked / 5000,
        "journey_dop": 1 - (eighth.energy[-1] / eighth.energy[0]).item(),
    }


def drift_then_kick(system: HamiltonianSystem, q: Tensor, p: Tensor, dt: float) -> Step:
    """The other symplectic Euler: drift, then kick."""
    q = q + dt * system.grad_p(q, p)
    return q, p - dt * system.grad_q(q, p)


def attempt(system: HamiltonianSystem, q: Tensor, p: Tensor, dt: float) -> Step:
    """The flawed stepper of the exercise: its last drift starts from the old position."""
    halfway = q + dt / 2 * system.grad_p(q, p)
    p = p - dt * system.grad_q(halfway, p)
    return q + dt * system.grad_p(q, p), p


def position_verlet(system: HamiltonianSystem, q: Tensor, p: Tensor, dt: float) -> Step:
    """Drift half a step, kick, and drift the other half."""
    q = q + dt / 2 * system.grad_p(q, p)
    p = p - dt * system.grad_q(q, p)
    return q + dt / 2 * system.grad_p(q, p), p


def fourth_order(system: HamiltonianSystem, q: Tensor, p: Tensor, dt: float) -> Step:
    """Three steps of Störmer–Verlet, the middle one backwards."""
    a = 1 / (2 - 2 ** (1 / 3))
    for part in (a, 1 - 2 * a, a):
        p = p - part * dt / 2 * system.grad_q(q, p)
        q = q + part * dt * system.grad_p(q, p)
        p = p - part * dt / 2 * system.grad_q(q, p)
    return q, p


def order_of(
    method: Callable[..., Step], start: Step, time: float, counts: tuple[int, int]
) -> float:
    """The order of a stepper on the pendulum, from two numbers of steps, one twice the other."""
    exact = integrate(Pendulum(), *start, dt=time / 10_000, steps=10_000, method=runge_kutta_4)
    few, many = (integrate(Pendulum(), *start, dt=time / n, steps=n, method=method) for n in counts)
    return ((few.q[-1] - exact.q[-1]) / (many.q[-1] - exact.q[-1])).abs().log2().item()


@experiment()
def solutions() -> Row:
    """Modified energies and orders for the solutions, and the comet's ellipse in its own time."""
    shadows = {
        drift_then_kick: lambda q, p: p**2 + q**2 + 0.7 * q * p,
        stoermer_verlet: lambda q, p: p**2 + (1 - 0.7**2 / 4) * q**2,
    }
    spring, shadow_off = (HarmonicOscillator(), state(1.0), state(0.5)), 0.0
    for step, kept_by in shadows.items():
        run = integrate(*spring, dt=0.7, steps=1000, method=step)
        shadow_off = max(shadow_off, varies(kept_by(run.q, run.p)[:, 0]))
    start = state(1.2), state(0.3)
    damped = integrate(Pendulum(), *start, dt=0.1, steps=2000, method=attempt).energy
    options = {"dt": math.tau / 200, "steps": 1000, "method": position_verlet}
    ellipse = integrate(CLOCK, *CLOCK.extended(*COMET), **options)
    return {
        "shadow_off": shadow_off,
        "attempt_order": order_of(attempt, start, 2, (200, 400)),
        "attempt_left": (damped[-1] / damped[0]).item(),
        "yoshida_order": order_of(fourth_order, (state(0.0), state(1.6)), 10, (100, 200)),
        "ellipse_off": varies(SUN.energy(ellipse.q[:, :2], ellipse.p[:, :2])),
        "late": ellipse.q[-1, 2].item() / (5 * math.tau) - 1,
    }


if __name__ == "__main__":
    compute(__file__, globals(), sys.argv[1:])
