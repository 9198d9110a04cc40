"""Drawings of live figures beyond their readings, run in Chromium, against course_lib."""

import itertools
import math
from typing import Any

import numpy as np
import torch
from in_the_page import Twice, alike, assert_close, tensor
from live_figures import (
    KINDS_OF_STACKS,
    coupled,
    filled_stack,
    graph_of,
    normals,
    run,
    through_stack,
    turn_of,
)
from torch import Tensor

from course_lib.symplectic import SymplecticAttention


def networks(random: np.random.Generator) -> list[Any]:
    return [random.normal(size=(2, 2)), random.normal(size=2), 12, bool(random.integers(2))]


def states_and_gradients(matrix: Tensor, start: Tensor, steps: int, tanh: Any) -> dict[str, Any]:
    def after(h: Tensor) -> Tensor:
        return run(matrix, h, steps=steps, tanh=tanh)

    slopes = torch.autograd.functional.jacobian(after, start)
    return {"states": after(start), "gradient": torch.linalg.matrix_norm(slopes, 2)}


TOKENS = normals(2 * 3 * 4, 1).view(2, 3, 4)
DRAWS_OF_A_STACK = normals(6 * (4 * 4 * 4 + 3 * 4), 2)
SIZES = [
    {"layers": 6, "d": 4, "gain": gain, "biases": biases}
    for gain, biases in ((0.5, True), (1.4, False))
]


def stacked(kind: str, draws: Tensor, size: dict[str, Any], *vectors: Tensor) -> dict[str, Any]:
    return through_stack(filled_stack(kind, draws, **size), *vectors)


def along_edges(layer: str, rounds: int, listener: int) -> Tensor:
    """The share of all messages that came along each edge of the tree."""
    graph = graph_of("tree")
    rows = graph.adjacency() + (layer != "neighbours") * torch.eye(graph.nodes)
    degree = rows.sum(dim=1) if layer == "normalized" else torch.ones(graph.nodes)
    rows = (rows / (degree[:, None] * degree).sqrt()).double()
    power = [torch.linalg.matrix_power(rows, k) for k in range(rounds + 1)]
    held = [p.sum(dim=1) for p in power]
    # Entry (t, s): messages from s to t in any round that arrive in the end.
    gone = sum(
        power[rounds - k][listener, :, None] * rows * held[k - 1] for k in range(1, rounds + 1)
    ) / (rounds * held[rounds][listener])
    node = torch.arange(1, graph.nodes)
    parent = (node - 1) // 2
    return gone[parent, node] + gone[node, parent]


test_what_live_figures_draw_is_what_course_lib_computes = alike(
    Twice(
        "js/maths/scaling.js",
        "(value) => nearestRatio([1, 2, 4, 64], value)",
        lambda value: abs(np.log([1, 2, 4, 64]) - math.log(value)).argmin(),
        lambda random: [10 ** random.uniform(-1, 3)],
    ),
    Twice("js/maths/spectral.js", "runOf", states_and_gradients, networks, draws=20),
    Twice(
        "js/maths/deep_stack.js",
        "(kind, draws, size, ...vectors) => throughStack(kind, layersOf(draws, size), ...vectors)",
        stacked,
        cases=[
            [kind, DRAWS_OF_A_STACK, size, *TOKENS]
            for kind, size in itertools.product(KINDS_OF_STACKS, SIZES)
        ],
        atol=1e-13,
    ),
    Twice(
        "js/maths/listening.js",
        """(layer, rounds, listener) => {
          const { places, edges } = graphOf("tree");
          return alongEdges(layer, places.length, edges, rounds, listener);
        }""",
        along_edges,
        cases=[[layer, 5, 8] for layer in ("neighbours", "sum", "normalized")],
    ),
)


def test_oscillators_rotate_and_then_interact_by_the_attention_of_course_lib():
    draws = normals(8, 5).view(2, 4)
    for epsilon, apart in itertools.product((0.003, 0.1), (0, 0.1)):
        q, p = coupled(*draws, epsilon, apart, 300)
        couple = SymplecticAttention(1, update="p").double()
        couple.load_state_dict({"weight": tensor([[epsilon]])})
        turned = torch.complex(q, p)[:-1] * torch.exp(-1j * turn_of(4, apart))
        moved = couple(turned.real[..., None], turned.imag[..., None])
        assert_close([part.detach()[..., 0] for part in moved], torch.stack([q[1:], p[1:]]))
