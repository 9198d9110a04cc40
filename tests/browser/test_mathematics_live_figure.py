"""The mathematics of the live figures, run in Chromium, against course_lib."""

import itertools
import math

import numpy as np
import torch
from in_the_page import DRAWS, Javascript, assert_close, tensor
from live_figures import (
    KINDS_OF_STACKS,
    SHAPES,
    coupled,
    errors_of_blend,
    filled_stack,
    graph_of,
    normals,
    run,
    shares_heard,
    through_stack,
    turn_of,
    turning,
    with_edge,
)

from course_lib.attention import attention_weights
from course_lib.symplectic import SymplecticAttention
from course_lib.tiled_attention import attention_flops, naive_bytes, tiled_bytes

DISCS = "js/maths/discs.js"
INTERPOLATION = "js/maths/interpolation.js"
SPECTRAL = "js/maths/spectral.js"
SCALING = "js/maths/scaling.js"
LISTENING = "js/maths/listening.js"
SYMPLECTIC = "js/maths/symplectic_attention.js"
ROOFLINE = "js/maths/roofline.js"
DEEP_STACK = "js/maths/deep_stack.js"


def test_scores_of_random_vectors_by_their_first_features(javascript: Javascript):
    dimensions, count = [1, 2, 5, 40], 3
    for seed, tables in zip(
        range(5),
        javascript(SCALING, "randomScores", [[seed, count, dimensions] for seed in range(5)]),
        strict=True,
    ):
        draws = normals(2 * count * max(dimensions), seed).view(-1, 2 * count)
        for d, scores in zip(dimensions, tables, strict=True):
            query, key = draws[:d].T.split(count)
            assert_close(scores, query @ key.T)


def test_the_gradient_that_comes_through_a_softmax(javascript: Javascript):
    random = torch.Generator().manual_seed(0)
    size = torch.logspace(-2, 2, DRAWS)[:, None]
    scores = (size * torch.randn(DRAWS, 7, generator=random)).double()

    def weights(score: torch.Tensor) -> torch.Tensor:
        return attention_weights(score.new_ones(1, 1), score[:, None], scale=1.0)[0]

    found = javascript(SCALING, "gradientThrough", [[weights(s).tolist()] for s in scores])
    exact = [torch.autograd.functional.jacobian(weights, s).norm().item() for s in scores]
    assert_close(found, exact)
    assert max(exact) > 0.1
    assert min(exact) < 1e-6


def test_the_nearest_number_is_nearest_in_ratio(javascript: Javascript):
    cases = [[[1.0, 2.0, 4.0, 64.0], value] for value in (0.1, 1.41, 1.42, 2.9, 15.9, 16.1, 900)]
    assert javascript(SCALING, "nearestRatio", cases) == [0, 0, 1, 2, 2, 3, 3]


def test_the_matrix_of_a_pair_of_eigenvalues_and_its_norm(javascript: Javascript):
    cases = [[r, a, s] for r in (0.0, 0.5, 1.3) for a in (0, 30, 90, 180) for s in (1.0, 4.0)]
    matrices = [turning(*case) for case in cases]
    assert_close(javascript(SPECTRAL, "matrixOf", cases), torch.stack(matrices))
    norms = [torch.linalg.matrix_norm(matrix, 2) for matrix in matrices]
    found = javascript(SPECTRAL, "spectralNorm", [[matrix.tolist()] for matrix in matrices])
    assert_close(found, torch.stack(norms))


def test_states_and_gradients_of_a_network_of_two_units(javascript: Javascript):
    random = torch.Generator().manual_seed(1)
    drawn = torch.randn(20, 3, 2, generator=random).double()
    for tanh in (False, True):
        cases = [[case[:2].tolist(), case[2].tolist(), 12, tanh] for case in drawn]
        for case, found in zip(drawn, javascript(SPECTRAL, "runOf", cases), strict=True):
            matrix, start = case[:2], case[2]
            assert_close(found["states"], run(matrix, start, steps=12, tanh=tanh))
            assert found["gradient"][0] == 1
            for lag, gradient in enumerate(found["gradient"][1:], start=1):
                slopes = torch.autograd.functional.jacobian(
                    lambda h, lag=lag, m=matrix, t=tanh: run(m, h, steps=lag, tanh=t)[-1], start
                )
                assert_close(gradient, torch.linalg.matrix_norm(slopes, 2))


def test_what_attention_costs(javascript: Javascript):
    sizes = [(1, 4096, 64), (100, 77, 128), (8192, 8192, 256), (3, 1, 64)]
    flops = [attention_flops(*size) for size in sizes]
    assert javascript(ROOFLINE, "attentionFlops", [list(size) for size in sizes]) == flops
    for each in (2, 4):
        naive = [naive_bytes(*size, bytes_each=each) for size in sizes]
        assert javascript(ROOFLINE, "naiveBytes", [[*size, each] for size in sizes]) == naive
        for tile in (1, 7, 128):
            tiled = [tiled_bytes(*size, query_tile=tile, bytes_each=each) for size in sizes]
            cases = [[*size, tile, each] for size in sizes]
            assert javascript(ROOFLINE, "tiledBytes", cases) == tiled


def test_the_area_within_a_curve_through_points_at_uneven_shares(
    javascript: Javascript, random: np.random.Generator
):
    cases, exact = [], []
    for _ in range(20):
        shares = np.sort(np.concatenate([[0], np.linspace(0.01, 0.99, 200)]) % 1)
        shares[1:] += random.uniform(0, 0.004, size=200)
        a, b, bend = random.uniform(0.2, 3), random.uniform(0.2, 3), random.uniform(-1, 1)
        x, y = a * np.cos(math.tau * shares), b * np.sin(math.tau * shares)
        # A shear bends an ellipse and keeps its area.
        cases.append([np.stack([x, y + bend * x**2], axis=1).tolist(), shares.tolist()])
        exact.append(math.pi * a * b)
    np.testing.assert_allclose(javascript(DISCS, "areaWithin", cases), exact, rtol=1e-5)


def test_the_errors_of_hats_and_of_a_softmax(javascript: Javascript):
    ratios = (0, 0.05, 0.5, 3.9, 40.0)
    cases = list(itertools.product(SHAPES, (2, 7, 32), ratios, (False, True)))
    found_all = javascript(INTERPOLATION, "errorsOf", [list(case) for case in cases])
    for (shape, count, ratio, reflected), found in zip(cases, found_all, strict=True):
        fineness = (len(found) - 1) // count
        exact = errors_of_blend(shape, count, ratio, fineness, reflected=reflected)
        assert_close(found, exact)
        assert exact.abs().max() > 1e-4


def test_tokens_and_gradients_through_stacks_of_every_kind(javascript: Javascript):
    d, tokens, layers = 4, 3, 6
    vectors = normals(2 * tokens * d, 1).view(2, tokens, d)
    draws = normals(layers * (4 * d * d + 3 * d), 2)
    sizes = [
        {"layers": layers, "d": d, "gain": gain, "biases": biases}
        for gain, biases in ((0.5, True), (1.4, False))
    ]
    cases = [(kind, size) for kind in KINDS_OF_STACKS for size in sizes]
    filled = javascript(DEEP_STACK, "layersOf", [[draws.tolist(), size] for _, size in cases])
    given = [
        [kind, stack, *vectors.tolist()] for (kind, _), stack in zip(cases, filled, strict=True)
    ]
    for (kind, size), found in zip(
        cases, javascript(DEEP_STACK, "throughStack", given), strict=True
    ):
        expected = through_stack(filled_stack(kind, draws, **size), *vectors)
        for name, each in expected.items():
            torch.testing.assert_close(tensor(found[name]), tensor(each), rtol=1e-6, atol=1e-13)


def test_oscillators_that_attention_couples(javascript: Javascript):
    draws = normals(8, 5).view(2, 4)
    cases = [
        [*draws.tolist(), epsilon, apart, 300] for epsilon in (0.003, 0.1) for apart in (0, 0.1)
    ]
    for case, found in zip(cases, javascript(SYMPLECTIC, "coupledOscillators", cases), strict=True):
        q, p = coupled(*draws, *case[2:])
        assert_close(found["q"], q.flatten())
        assert_close(found["p"], p.flatten())
        assert_close(found["energies"], (q.square() + p.square()).flatten() / 2)
        couple = SymplecticAttention(1, update="p").double()
        couple.load_state_dict({"weight": tensor([[case[2]]])})
        turned = torch.complex(q, p)[:-1] * torch.exp(-1j * turn_of(4, case[3]))
        moved = couple(turned.real[..., None], turned.imag[..., None])
        assert_close([part.detach()[..., 0] for part in moved], torch.stack([q[1:], p[1:]]))


def test_shares_that_a_node_hears(javascript: Javascript):
    names, layers, rounds = ["row", "ring", "tree", "grid"], ["neighbours", "sum", "normalized"], 3
    shapes = javascript(LISTENING, "graphOf", [[name] for name in names])
    cases, expected = [], []
    for (name, shape), layer in itertools.product(zip(names, shapes, strict=True), layers):
        graph = with_edge(graph_of(name), 3, 17)
        cases.append([layer, graph.nodes, [*shape["edges"], [3, 17]], rounds])
        expected.append([shares_heard(graph, layer, heard) for heard in (1, rounds)])
    for found, shares in zip(javascript(LISTENING, "sharesHeard", cases), expected, strict=True):
        for one, exact in zip([found[1], found[rounds]], shares, strict=True):
            assert_close(one, exact)


def test_what_is_heard_has_come_along_edges(javascript: Javascript):
    graph, rounds, listener = graph_of("tree"), 5, 8
    layers = ("neighbours", "sum", "normalized")
    (shape,) = javascript(LISTENING, "graphOf", [["tree"]])
    given = [[layer, graph.nodes, shape["edges"], rounds, listener] for layer in layers]
    for layer, found in zip(layers, javascript(LISTENING, "alongEdges", given), strict=True):
        rows = graph.adjacency() + (layer != "neighbours") * torch.eye(graph.nodes)
        degree = rows.sum(dim=1) if layer == "normalized" else torch.ones(graph.nodes)
        rows = (rows / (degree[:, None] * degree).sqrt()).double()
        power = [torch.linalg.matrix_power(rows, k) for k in range(rounds + 1)]
        held = [p.sum(dim=1) for p in power]
        # Entry (t, s): what goes from s to t in any of the rounds and is heard in the end.
        gone = sum(
            power[rounds - k][listener, :, None] * rows * held[k - 1] for k in range(1, rounds + 1)
        ) / (rounds * held[rounds][listener])
        assert_close(found, [(gone[i, j] + gone[j, i]).item() for i, j in shape["edges"]])
        assert_close([gone.sum().item()], [1.0])
