"""The mathematics of the widgets' JavaScript, run in Chromium, against course_lib and PyTorch.

Each test draws its cases from a seeded generator, computes all of them in one call to the browser,
and compares to 1e-6. Arguments go through JSON in double precision.
"""

import dataclasses
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest
import torch
from displayed import CHECKS, shortcut_force
from playwright.sync_api import Browser, Page
from torch.nn import functional as F

from course_lib import mechanics, symplectic, widgets
from course_lib.attention import (
    attention,
    attention_weights,
    causal_mask,
    composite_memory,
    gated_memory,
    pooled_memory,
)
from course_lib.widgets.base import HERE, Array, module_source
from course_lib.widgets.energy_drift import METHODS

DRAWS = 200
CALL = """async ([address, name, cases]) => {
  const module = await import(address);
  return cases.map((given) => module[name](...given));
}"""

Javascript = Callable[[str, str, list[list[Any]]], list[Any]]


@pytest.fixture(scope="module")
def blank(browser: Browser) -> Iterator[Page]:
    context = browser.new_context()
    yield context.new_page()
    context.close()


@pytest.fixture
def javascript(blank: Page) -> Javascript:
    """Calls a function that a module exports, once for each list of arguments."""

    def call(module: str, name: str, cases: list[list[Any]]) -> list[Any]:
        address = f"data:text/javascript;charset=utf-8,{quote(module_source(module))}"
        return blank.evaluate(CALL, [address, name, cases])

    return call


@pytest.fixture
def random() -> np.random.Generator:
    return np.random.default_rng(20_17)


def tensor(numbers: Any) -> torch.Tensor:
    return torch.as_tensor(numbers, dtype=torch.float64)


def assert_close(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=1e-6, atol=1e-6)


# The shared helpers ----------------------------------------------------------------------------


def test_softmax_is_that_of_torch(javascript: Javascript, random: np.random.Generator):
    cases = [
        [
            random.normal(scale=10 ** random.uniform(-2, 3), size=random.integers(1, 12)).tolist(),
            10 ** random.uniform(-2, 1),
        ]
        for _ in range(DRAWS)
    ]
    for found, (score, temperature) in zip(
        javascript("js/numerics.js", "softmax", cases), cases, strict=True
    ):
        assert_close(found, torch.softmax(tensor(score) / temperature, -1))


def test_softmax_without_a_temperature_has_temperature_one(javascript: Javascript):
    [found] = javascript("js/numerics.js", "softmax", [[[0.0, math.log(3)]]])
    assert_close(found, [0.25, 0.75])


def test_sigmoid_is_that_of_torch_however_far_out(
    javascript: Javascript, random: np.random.Generator
):
    points = [*random.normal(scale=5, size=DRAWS).tolist(), 0.0, -745.0, 745.0, -1e9, 1e9]
    found = javascript("js/numerics.js", "sigmoid", [[x] for x in points])
    assert_close(found, torch.sigmoid(tensor(points)))


def test_dot_and_blend_are_matrix_products(javascript: Javascript, random: np.random.Generator):
    weights = [random.normal(size=random.integers(1, 9)) for _ in range(DRAWS)]
    rows = [random.normal(size=(len(w), random.integers(1, 7))) for w in weights]
    blends = javascript(
        "js/numerics.js",
        "blend",
        [[w.tolist(), r.tolist()] for w, r in zip(weights, rows, strict=True)],
    )
    dots = javascript(
        "js/numerics.js",
        "dot",
        [[w.tolist(), r[:, 0].tolist()] for w, r in zip(weights, rows, strict=True)],
    )
    for blend, dot, w, r in zip(blends, dots, weights, rows, strict=True):
        assert_close(blend, w @ r)
        assert_close(dot, (w @ r)[0])


def test_a_contour_crosses_each_edge_of_the_grid_where_the_field_does(
    javascript: Javascript, random: np.random.Generator
):
    cases = []
    for _ in range(DRAWS):
        rows, columns = random.integers(2, 8, size=2).tolist()
        cases.append([random.normal(size=rows * columns).tolist(), rows, columns, random.normal()])
    for segments, (values, rows, columns, level) in zip(
        javascript("js/contour.js", "contourSegments", cases), cases, strict=True
    ):
        field = np.reshape(values, (rows, columns)) - level
        expected = []
        # A zero on each edge whose ends differ in sign; an inner edge belongs to two cells.
        for row in range(rows):
            for column in range(columns):
                a = field[row, column]
                if column + 1 < columns and (a > 0) != (field[row, column + 1] > 0):
                    place = (column + a / (a - field[row, column + 1]), row)
                    expected += [place] * (2 if 0 < row < rows - 1 else 1)
                if row + 1 < rows and (a > 0) != (field[row + 1, column] > 0):
                    place = (column, row + a / (a - field[row + 1, column]))
                    expected += [place] * (2 if 0 < column < columns - 1 else 1)
        found = [tuple(end) for s in segments for end in (s[:2], s[2:])]
        assert len(found) == len(expected)
        assert_close(sorted(np.round(found, 9).tolist()), sorted(np.round(expected, 9).tolist()))
        # Each segment stays within one cell.
        for x0, y0, x1, y1 in segments:
            assert math.floor(min(x0, x1)) >= math.ceil(max(x0, x1)) - 1
            assert math.floor(min(y0, y1)) >= math.ceil(max(y0, y1)) - 1


@pytest.mark.parametrize("shape", [(1,), (7,), (3, 5), (2, 3, 4, 4)], ids=str)
def test_an_array_of_python_is_the_same_array_in_javascript(
    javascript: Javascript, random: np.random.Generator, shape: tuple[int, ...]
):
    sent = random.normal(size=shape).astype(np.float32)
    [there] = javascript("js/array.js", "decodeArray", [[Array._encode(sent, None)]])
    assert there["shape"] == list(shape)
    np.testing.assert_array_equal(np.float32(there["values"]).reshape(shape), sent)
    [back] = javascript("js/array.js", "encodeArray", [[list(shape), there["values"]]])
    np.testing.assert_array_equal(Array._decode(back, None), sent)


def test_a_matrix_of_python_arrives_row_by_row(javascript: Javascript):
    matrix = np.arange(6, dtype=np.float32).reshape(2, 3)
    [rows] = javascript("js/array.js", "decodeRows", [[Array._encode(matrix, None)]])
    assert rows == matrix.tolist()


# SoftLookup ------------------------------------------------------------------------------------


def soft_lookups(random: np.random.Generator, similarity: str) -> list[list[Any]]:
    cases = []
    for _ in range(DRAWS):
        keys, d = random.integers(1, 9), random.integers(1, 5)
        query = random.uniform(-1.5, 1.5, size=d)
        cases.append(
            [
                query.tolist(),
                random.uniform(-1.5, 1.5, size=(keys, d)).tolist(),
                random.normal(scale=20, size=keys).tolist(),
                similarity,
                10 ** random.uniform(math.log10(0.02), 1),
            ]
        )
    return cases


@pytest.mark.parametrize("similarity", ["distance", "dot", "cosine"])
def test_a_soft_lookup_is_attention_with_its_similarity_as_score(
    javascript: Javascript, random: np.random.Generator, similarity: str
):
    cases = soft_lookups(random, similarity)
    answers = javascript("soft_lookup.js", "softLookup", cases)
    scores = javascript("soft_lookup.js", "lookupScores", [[q, k, s] for q, k, _, s, _ in cases])
    for answer, score, (*given, _, temperature) in zip(answers, scores, cases, strict=True):
        query, key, value = tensor(given[0])[None], tensor(given[1]), tensor(given[2])[:, None]
        bias = None
        if similarity == "distance":
            expected = -((query - key) ** 2).sum(-1)
            scale, bias = 2 / temperature, -(key**2).sum(-1)[None] / temperature
        elif similarity == "cosine":
            expected = F.cosine_similarity(query, key)
            query, key, scale = F.normalize(query), F.normalize(key), 1 / temperature
        else:
            expected, scale = (query @ key.mT)[0], 1 / temperature
        assert_close(score, expected)
        assert_close(answer["weights"], attention_weights(query, key, scale=scale, bias=bias)[0])
        assert_close(answer["value"], attention(query, key, value, scale=scale, bias=bias)[0, 0])


def test_the_cosine_with_a_query_of_no_length_is_zero_and_not_nan(javascript: Javascript):
    [found] = javascript("soft_lookup.js", "lookupScores", [[[0, 0], [[1, 0], [0, 0]], "cosine"]])
    assert found == [0, 0]


# PartyMemory -----------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["composite", "forgetting", "gate", "softmax", "query"])
def test_each_way_of_remembering_a_party_is_that_of_course_lib(
    javascript: Javascript, random: np.random.Generator, mode: str
):
    parties, pictures = [], []
    for _ in range(DRAWS):
        guests, d = random.integers(1, 9), random.integers(1, 5)
        parties.append(
            {
                "guests": int(guests),
                "arrived": int(random.integers(1, guests + 1)),
                "decay": random.choice([0.0, 1.0, random.uniform()]),
                "door": random.uniform(-8, 8),
                "temperature": 10 ** random.uniform(-1, 1),
                "score": random.normal(scale=3, size=guests).tolist(),
                "gate": random.normal(scale=3, size=guests).tolist(),
                "keys": random.normal(size=(guests, d)).tolist(),
                "query": random.normal(size=d).tolist(),
            }
        )
        pictures.append(random.uniform(size=(guests, 16)).tolist())
    weights = javascript("party_memory.js", "memoryWeights", [[mode, party] for party in parties])
    memories = javascript(
        "party_memory.js", "remember", [list(case) for case in zip(weights, pictures, strict=True)]
    )
    for weight, memory, party, picture in zip(weights, memories, parties, pictures, strict=True):
        arrived, temperature = party["arrived"], party["temperature"]
        x, score, gate, key = (
            tensor(numbers)[:arrived]
            for numbers in (picture, party["score"], party["gate"], party["keys"])
        )
        query = tensor(party["query"])[None]
        expected = {
            "composite": lambda x: composite_memory(x, 1),
            "forgetting": lambda x, party=party: composite_memory(x, party["decay"]),
            "gate": lambda x, gate=gate, party=party: gated_memory(x, gate + party["door"]),
            "softmax": lambda x, s=score, t=temperature: pooled_memory(x, s / t),
            "query": lambda x, q=query, k=key, t=temperature: attention(q, k, x, scale=1 / t)[0],
        }[mode]
        assert_close(memory, expected(x))
        assert_close(weight[:arrived], expected(torch.eye(arrived, dtype=torch.float64)))
        assert weight[arrived:] == [0] * (party["guests"] - arrived)


# AttentionExplorer -----------------------------------------------------------------------------


def rows_of_weights(random: np.random.Generator) -> list[list[float]]:
    """Rows that sum to one, some of whose weights are zero."""
    rows = []
    for _ in range(DRAWS):
        score = tensor(random.normal(scale=random.uniform(0.1, 8), size=random.integers(1, 12)))
        hidden = torch.from_numpy(random.uniform(size=len(score)) < random.choice([0, 0.4]))
        hidden[random.integers(len(score))] = False
        rows.append(score.masked_fill(hidden, -torch.inf).softmax(-1).tolist())
    return rows


def test_retempered_weights_are_the_softmax_of_the_score_over_the_temperature(
    javascript: Javascript, random: np.random.Generator
):
    cases = [[row, 10 ** random.uniform(-1, 1)] for row in rows_of_weights(random)]
    found = javascript("attention_explorer.js", "retempered", cases)
    for weights, (row, temperature) in zip(found, cases, strict=True):
        assert_close(weights, torch.softmax(tensor(row).log() / temperature, -1))


def test_masked_weights_are_attention_under_the_causal_mask(
    javascript: Javascript, random: np.random.Generator
):
    cases = [[row, int(random.integers(len(row)))] for row in rows_of_weights(random)]
    found = javascript("attention_explorer.js", "masked", cases)
    for weights, (row, query) in zip(found, cases, strict=True):
        if sum(row[: query + 1]) == 0:
            assert weights is None
            continue
        nothing = torch.zeros(len(row), 1, dtype=torch.float64)
        expected = attention_weights(
            nothing[:1],
            nothing,
            bias=tensor(row).log()[None],
            mask=causal_mask(len(row))[query : query + 1],
        )
        assert_close(weights, expected[0])


def test_the_largest_weights_come_first_and_of_equals_the_earlier(
    javascript: Javascript, random: np.random.Generator
):
    cases = [[random.integers(0, 4, size=9).tolist(), 5] for _ in range(DRAWS)]
    found = javascript("attention_explorer.js", "largestFirst", cases)
    for order, (weights, count) in zip(found, cases, strict=True):
        assert order == np.argsort(-np.array(weights), kind="stable")[:count].tolist()


# EnergyDrift -----------------------------------------------------------------------------------

ORBITS = {
    # Regular orbits: in a chaotic one, rounding alone parts two computations.
    "HarmonicOscillator": (mechanics.HarmonicOscillator(mass=1.3, stiffness=0.7), [1.0], [0.2]),
    "Pendulum": (mechanics.Pendulum(mass=0.8, length=1.2, gravity=1.5), [1.2], [-0.3]),
    "CoupledOscillators": (mechanics.CoupledOscillators(), [1.0, 0.5], [0.0, 0.5]),
    "Kepler": (mechanics.Kepler(mass=1.1, gravity=0.9), [0.8, 0.1], [0.1, 1.2]),
    "HenonHeiles": (mechanics.HenonHeiles(strength=0.9), [0.1, 0.05], [0.1, 0.1]),
}


@pytest.mark.parametrize("method", sorted(METHODS))
@pytest.mark.parametrize("system", sorted(ORBITS))
def test_a_thousand_steps_in_the_page_are_those_of_course_lib(
    javascript: Javascript, system: str, method: str
):
    kind, q, p = ORBITS[system]
    dt, steps = 0.02, 1000
    given = {"system": system, "parameters": dataclasses.asdict(kind), "method": method}
    given |= {"q": q, "p": p, "dt": dt, "steps": steps}
    [found] = javascript("energy_drift.js", "energyDrift", [[given]])
    stepper = getattr(mechanics, method)
    run = mechanics.integrate(kind, tensor(q), tensor(p), dt=dt, steps=steps, method=stepper)
    assert found["taken"] == steps
    assert_close(np.reshape(found["q"], (-1, kind.dim)), run.q)
    assert_close(np.reshape(found["p"], (-1, kind.dim)), run.p)
    assert_close(found["energy"], run.energy)
    assert_close(found["error"], ((run.energy - run.energy[0]) / run.energy[0]).abs())


def test_a_run_in_the_page_stops_where_the_state_stops_being_finite(javascript: Javascript):
    star, q, p, dt = mechanics.HenonHeiles(), [0.0, 2.0], [0.0, 1.0], 0.5
    given = {"system": "HenonHeiles", "parameters": dataclasses.asdict(star), "steps": 100}
    given |= {"method": "explicit_euler", "q": q, "p": p, "dt": dt}
    [found] = javascript("energy_drift.js", "energyDrift", [[given]])
    with pytest.raises(mechanics.IntegrationError) as escaped:
        mechanics.integrate(
            star, tensor(q), tensor(p), dt=dt, steps=100, method=mechanics.explicit_euler
        )
    # The energy overflows some steps before the state does.
    energy = escaped.value.trajectory.energy
    assert found["taken"] == int(energy.isfinite().long().cumprod(0).sum()) - 1
    assert found["taken"] < escaped.value.step
    assert np.isfinite(found["error"]).all()


def test_an_envelope_holds_the_least_and_the_largest_of_each_stretch(
    javascript: Javascript, random: np.random.Generator
):
    cases = []
    for _ in range(DRAWS):
        bins = int(random.integers(1, 9))
        length = int(random.integers(bins, 60))
        cases.append([random.normal(size=length).tolist(), length, bins])
    for found, (values, length, bins) in zip(
        javascript("energy_drift.js", "envelope", cases), cases, strict=True
    ):
        for place in range(bins):
            stretch = [v for n, v in enumerate(values) if n * bins // length == place]
            assert found["low"][place] == min(stretch)
            assert found["high"][place] == max(stretch)


# SymplecticityMeter ----------------------------------------------------------------------------


def windows(random: np.random.Generator, *more: Any) -> list[list[Any]]:
    cases = []
    for _ in range(DRAWS):
        tokens, d = random.integers(1, 5, size=2)
        scale = random.choice([0.3, 1.0, 30.0])
        window, A = random.normal(scale=scale, size=(tokens, d)), random.normal(size=(d, d))
        cases.append([window.tolist(), A.tolist(), *more])
    return cases


def shortcut(z: torch.Tensor, A: torch.Tensor, softmax: str) -> torch.Tensor:
    """2 S Z A, with the S whose log-partition function is the potential, by autograd."""
    C = (z @ A @ z.mT).detach().requires_grad_()
    one = torch.zeros_like(C[:1])
    if softmax == "matrix":
        partition = torch.logsumexp(torch.cat([one[0, :1], C.flatten()]), 0)
    else:
        partition = torch.logsumexp(torch.cat([one, C]), 0).sum()
    [S] = torch.autograd.grad(partition, C)
    return 2 * S @ z @ A


@pytest.mark.parametrize("softmax", ["matrix", "vector"])
def test_potential_and_force_in_the_page_are_those_of_course_lib(
    javascript: Javascript, random: np.random.Generator, softmax: str
):
    cases = windows(random, softmax)
    potentials = javascript("symplecticity_meter.js", "attentionPotential", cases)
    full = [[*case, "full"] for case in cases]
    short = [[*case, "shortcut"] for case in cases]
    forces = javascript("symplecticity_meter.js", "attentionForce", full)
    shortcuts = javascript("symplecticity_meter.js", "attentionForce", short)
    for potential, force, cut, (window, A, _) in zip(
        potentials, forces, shortcuts, cases, strict=True
    ):
        z, matrix = tensor(window), tensor(A)
        assert_close(potential, symplectic.attention_potential(z, matrix, softmax=softmax))
        assert_close(
            [list(row) for row in force],
            symplectic.symplectic_attention(z, matrix, softmax=softmax),
        )
        assert_close([list(row) for row in cut], shortcut(z, matrix, softmax))


@pytest.mark.parametrize("formula", ["full", "shortcut"])
@pytest.mark.parametrize("softmax", ["matrix", "vector"])
def test_the_jacobian_in_the_page_is_that_of_autograd(
    javascript: Javascript, random: np.random.Generator, softmax: str, formula: str
):
    cases = [
        [random.normal(size=(3, 2)).tolist(), random.normal(size=(2, 2)).tolist(), softmax, formula]
        for _ in range(30)
    ]
    jacobians = javascript("symplecticity_meter.js", "forceJacobian", cases)
    jacobians = [[list(row) for row in M] for M in jacobians]
    asymmetries = javascript(
        "symplecticity_meter.js", "relativeAsymmetry", [[M] for M in jacobians]
    )
    step = 0.1
    errors = javascript(
        "symplecticity_meter.js", "kickSymplecticityError", [[M, step] for M in jacobians]
    )
    for found, asymmetry, error, (window, A, *_) in zip(
        jacobians, asymmetries, errors, cases, strict=True
    ):
        z, matrix = tensor(window), tensor(A)

        def force(z: torch.Tensor, matrix: torch.Tensor = matrix) -> torch.Tensor:
            if formula == "full":
                return symplectic.symplectic_attention(z, matrix, softmax=softmax)
            return shortcut_force(z, matrix, softmax)

        M = torch.autograd.functional.jacobian(force, z).reshape(z.numel(), z.numel())
        assert_close(found, M)
        assert_close(asymmetry, (M - M.mT).norm() / M.norm())

        def kick(
            q: torch.Tensor, p: torch.Tensor, force: Callable[..., torch.Tensor] = force
        ) -> tuple[torch.Tensor, torch.Tensor]:
            return q, p - step * force(q)

        assert_close(error, mechanics.symplecticity_error(kick, z, torch.zeros_like(z)))


@pytest.mark.parametrize("formula", ["full", "shortcut"])
def test_a_rollout_in_the_page_is_stoermer_verlet_with_the_chosen_force(
    javascript: Javascript, random: np.random.Generator, formula: str
):
    window, A = random.normal(size=(3, 2)), random.normal(size=(2, 2))
    dt, steps = 0.05, 200
    [found] = javascript(
        "symplecticity_meter.js",
        "attentionRollout",
        [[window.tolist(), A.tolist(), "vector", formula, dt, steps]],
    )
    q, p, matrix = tensor(window), torch.zeros(3, 2, dtype=torch.float64), tensor(A)
    energies = []
    for _ in range(steps + 1):
        potential = symplectic.attention_potential(q, matrix, softmax="vector")
        energies.append((p.square().sum() + q.square().sum()) / 2 + potential)
        for kick in (dt / 2, 0):
            force = (
                symplectic.symplectic_attention(q, matrix, softmax="vector")
                if formula == "full"
                else shortcut(q, matrix, "vector")
            )
            p = p - dt / 2 * (q + force)
            q = q + dt * p if kick else q
    assert_close(found["energy"], torch.stack(energies))


# All of them -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", CHECKS)
def test_no_function_that_a_widget_exports_is_left_untested(kind: str):
    module = getattr(widgets, kind)._module
    source = (HERE / module).read_text(encoding="utf-8")
    here = re.sub(r"\s+", "", Path(__file__).read_text(encoding="utf-8"))
    exported = re.findall(r"^export function (\w+)", source, re.MULTILINE)
    assert exported
    assert [name for name in exported if f'javascript("{module}","{name}",' not in here] == []
