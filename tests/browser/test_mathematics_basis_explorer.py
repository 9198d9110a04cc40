"""The mathematics of BasisExplorer's JavaScript, run in Chromium, against course_lib."""

from functools import partial

import numpy as np
import pytest
import torch
from in_the_page import Javascript, assert_close, tensor, uniform

from course_lib.basis import hat, interpolate, softmax_basis
from course_lib.elliptic import CosineSeries, random_series, solve
from course_lib.rod_field import load_rod_field
from course_lib.widgets import BasisExplorer
from course_lib.widgets.basis_explorer import MOST, read_off

BASIS, ROD = "js/maths/basis.js", "js/maths/rod.js"
pytestmark = pytest.mark.usefixtures("plain_calls")


def random_nodes(random: np.random.Generator, most: int = 12) -> list[float]:
    inner = random.uniform(0.01, 0.99, size=int(random.integers(1, most)))
    return [0.0, *np.unique(inner).tolist(), 1.0]


def test_hats_and_softmax_are_those_of_course_lib(
    javascript: Javascript, random: np.random.Generator
):
    cases = []
    for _ in range(50):
        nodes = random_nodes(random)
        cases.append([[*random.uniform(size=5).tolist(), *nodes], nodes])
    for (x, nodes), rows in zip(cases, javascript(BASIS, "hats", cases), strict=True):
        assert_close(rows, hat(tensor(x), tensor(nodes)))
    warm = [[*case, 10 ** random.uniform(-5, 1)] for case in cases]
    for (x, nodes, t), rows in zip(warm, javascript(BASIS, "softmaxBasis", warm), strict=True):
        assert_close(rows, softmax_basis(tensor(x), tensor(nodes), t))


def test_a_line_between_nodes_is_the_interpolant_of_hats(
    javascript: Javascript, random: np.random.Generator
):
    cases = []
    for _ in range(50):
        nodes = random_nodes(random)
        x = float(random.choice([random.uniform(), *nodes]))
        cases.append([x, nodes, random.normal(size=len(nodes)).tolist()])
    expected = [interpolate(tensor([x]), tensor(n), tensor(v)).item() for x, n, v in cases]
    assert_close(javascript(BASIS, "between", cases), expected)


def test_nodes_read_the_same_function_off_in_the_page_and_in_python(javascript: Javascript):
    for count in (3, 6, 16):
        [nodes] = javascript(BASIS, "even", [[count]])
        assert_close(nodes, np.linspace(0, 1, count))
        assert_close(javascript(BASIS, "readOff", [[nodes]])[0], read_off(np.array(nodes)))


def test_weights_of_n_equal_nodes_are_shared_by_n(javascript: Javascript):
    rows = [[0, 1, 0], [0.5, 0.5, 0], [0.25] * 4, [0.8, 0.2]]
    assert_close(javascript(BASIS, "shared", [[row] for row in rows]), [1, 2, 4, 1 / 0.68])


def test_a_rod_is_solved_by_the_finite_elements_of_course_lib(
    javascript: Javascript, random: np.random.Generator
):
    cases = []
    for _ in range(20):
        places = random_nodes(random)
        curves = random.normal(scale=1.5, size=(2, len(places))).tolist()
        cases.append([random_nodes(random, 30), places, *curves])
    found = javascript(ROD, "solveRod", cases)
    for (nodes, places, logarithm, load), u in zip(cases, found, strict=True):
        k, f = (
            partial(interpolate, nodes=tensor(places), values=tensor(v)) for v in (logarithm, load)
        )
        expected = solve(lambda x, k=k: k(x).exp(), f, tensor(nodes))
        assert_close(u, expected)
        assert u[0] == u[-1] == 0


def test_a_series_and_its_deviations_are_those_of_course_lib(
    javascript: Javascript, random: np.random.Generator
):
    x = np.linspace(0, 1, 21)
    coefficients = random.normal(size=(5, 16))
    found = javascript(ROD, "cosineSeries", [[row.tolist(), x.tolist()] for row in coefficients])
    assert_close(found, CosineSeries(tensor(coefficients))(tensor(x)))
    drawn = random_series(1, generator=torch.Generator().manual_seed(3)).coefficients
    generator = torch.Generator().manual_seed(3)
    noise = torch.randn(1, 16, dtype=torch.float64, generator=generator)
    [deviations] = javascript(ROD, "deviations", [[]])
    assert_close(deviations, (drawn / noise)[0])
    # A rod of a seed: a normal number for each mode.
    [seventh] = javascript(ROD, "randomCoefficients", [[7]])
    first = (-2 * np.log(1 - uniform(7, 0))) ** 0.5 * np.cos(2 * np.pi * uniform(7, 1))
    assert_close(np.ravel(seventh)[0] / deviations[0], first)
    [rod] = javascript(ROD, "randomRod", [[7, x.tolist()]])
    assert_close(rod, CosineSeries(tensor(seventh))(tensor(x)).clamp(-MOST, MOST))


def test_a_stroke_ends_where_the_hand_drew_it_however_often_the_hand_was_seen(
    javascript: Javascript, random: np.random.Generator
):
    places = np.linspace(0, 1, 101)
    for events in (2, 20):
        curve = random.normal(scale=0.5, size=101).clip(-1, 1)
        hand = [[x, 1.5] for x in np.linspace(0.3, 0.7, events).tolist()]
        for start, end in zip([hand[0], *hand], hand, strict=False):
            [curve] = javascript(ROD, "pulled", [[list(curve), places.tolist(), start, end]])
        stroke = np.array(curve)[(places > 0.299) & (places < 0.701)]
        assert_close(stroke, np.full(len(stroke), 1.5))
        assert max(curve) < 1.5 + 1e-9
    for start, end in (([0.2, -1.0], [0.6, 3.0]), ([0.6, 3.0], [0.2, -1.0])):
        [found] = javascript(ROD, "pulled", [[[0.0] * 101, places.tolist(), start, end]])
        assert_close(found[20:61], np.linspace(-1, 3, 41))


def test_a_flame_warms_the_rod_where_it_is_and_nowhere_beyond_what_can_be_drawn(
    javascript: Javascript, random: np.random.Generator
):
    places = np.linspace(0, 1, 101)
    load = random.normal(scale=2, size=101)
    at = random.uniform(-0.2, 1.2, size=40)
    cases = [[load.tolist(), places.tolist(), x] for x in at.tolist()]
    flames = 2.5 * np.exp(-(((places - at[:, None]) / 0.07) ** 2) / 2)
    assert_close(javascript(ROD, "warmedAt", cases), (load + flames).clip(-MOST, MOST))
    assert_close(javascript(ROD, "pluggedAt", cases), (load - flames).clip(-MOST, MOST))


def test_the_field_answers_as_in_course_lib_with_the_weights_that_travel(
    javascript: Javascript, random: np.random.Generator
):
    shown = BasisExplorer(*load_rod_field())
    model = shown.field.double()
    count = shown.facts["sensors"]
    place, z = np.linspace(0, 1, count), random.normal(size=(20, count, 2))
    x = random.uniform(size=(20, 7))
    cases = [
        [shown.facts, shown.weights, *(given.tolist() for given in (x[i], place, z[i]))]
        for i in range(20)
    ]
    found = javascript("js/maths/neural_field.js", "fieldAnswer", cases)
    arguments = tensor(x), tensor(place).expand(20, -1), tensor(z)
    with torch.no_grad():
        assert_close([answer["u"] for answer in found], model(*arguments))
        assert_close([answer["weights"] for answer in found], model.weights(*arguments))
        assert_close([answer["values"] for answer in found], model.values(*arguments[1:]))


def test_an_error_is_a_share_of_the_solution_and_no_number_where_that_is_0(javascript: Javascript):
    found = javascript(ROD, "relativeError", [[[3, 4], [3, 4]], [[0, 0], [3, 4]], [[3, 9], [3, 4]]])
    assert_close(found, [0, 1, 1])
    [nothing] = javascript(ROD, "relativeError", [[[1, 1], [0, 0]]])
    assert nothing is None or np.isnan(nothing)
