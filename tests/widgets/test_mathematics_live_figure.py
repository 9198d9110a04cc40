"""Drawings of live figures beyond their readings, run in Chromium, against course_lib."""

import torch
from in_the_page import Javascript, Twice, alike
from live_figures import graph_of, make, number_words, translation
from num2words import num2words
from torch import Tensor


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
        "maths/listening.js",
        """(layer, rounds, listener) => {
          const { places, edges } = graphOf("tree");
          return alongEdges(layer, places.length, edges, rounds, listener);
        }""",
        along_edges,
        cases=[[layer, 5, 8] for layer in ("neighbours", "sum", "normalized")],
    ),
    Twice(
        "maths/translator.js",
        "(network, words) => translate(unpackTranslator(network), words)",
        translation,
        cases=[
            [make("translator").network, number_words().english[n - 1]]
            for n in (7, 12, 43, 1000, 1111, 7543)
        ],
    ),
)


def test_the_page_knows_the_words_of_all_numbers(javascript: Javascript):
    told = "(n) => [inEnglish(n), inGerman(n), ENGLISH, GERMAN]"
    found = javascript("maths/number_words.js", told, [[n] for n in range(1, 10_000)])
    words = number_words()
    assert [english for english, *_ in found] == words.english
    assert [german for _, german, *_ in found] == [
        num2words(n, lang="de") for n in range(1, 10_000)
    ]
    assert found[0][2:] == [words.english_words, words.german_pieces]
