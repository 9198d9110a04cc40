"""TinyGPT, LetterHider and GateExplorer, run in Chromium, against PyTorch and course_lib."""

import itertools
import math
import re
from typing import Any

import numpy as np
import pytest
import torch
from in_the_page import Javascript, Twice, alike, tensor, uniform
from seeded_tensors import perturbed
from torch.nn import functional as F

from course_lib.generation import next_token_probabilities
from course_lib.transformer import Decoder
from course_lib.widgets import TinyGPT
from course_lib.widgets.gate_explorer.gate_explorer import KINDS
from course_lib.widgets.kit.packed_weights import pack
from course_lib.widgets.tiny_gpt.tiny_gpt import decoder_of

GENERATION, TRANSFORMER = "maths/generation.js", "maths/transformer.js"
RECURRENT = "maths/recurrent.js"
ALPHABET = "abc·defgh"
Random = np.random.Generator


def tiny_gpt(**options: object) -> TinyGPT:
    """A small decoder with parameters so large that every part matters."""
    torch.manual_seed(0)
    model = Decoder(len(ALPHABET), 12, 3, 2, tokens=10, **options)
    return TinyGPT(perturbed(model, 0.5), ALPHABET, start="·", stop="·")


# Decoders, as they travel with so many bits a parameter.
KINDS_OF_DECODERS = [
    ({"position": "none"}, 16),
    ({"position": "sinusoidal", "tied": False}, 11),
    ({"position": "learned", "norm": "post"}, 13),
    ({"position": "rotary"}, 16),
]


def texts_for(options: dict[str, Any], bits: int) -> list[Any]:
    widget = tiny_gpt(**options)
    weights = pack(widget._original, most_bytes=10**6, fewest_bits=bits, most_bits=bits)
    random = np.random.default_rng(bits)
    texts = [random.integers(9, size=size).tolist() for size in (1, 10, 7, 10)]
    # Earlier readings do not change later ones, even with a shared cache.
    texts[2] = texts[1][:5] + texts[2][:4]
    return [widget.facts, weights, texts]


@torch.no_grad()
def read(facts: dict[str, Any], weights: Any, texts: list[list[int]]) -> list[Any]:
    model, runs = decoder_of(facts, weights).double(), []
    for ids in map(torch.tensor, texts):
        logits, seen = model(ids), model.attention_weights(ids)
        runs.append(
            [
                {"logits": row, "own": row.softmax(-1), "attention": seen[:, :, t, : t + 1]}
                for t, row in enumerate(logits)
            ]
        )
    return runs


def choices(random: Random) -> list[Any]:
    count = int(random.integers(1, 12))
    logits = random.normal(scale=3, size=count)
    logits = logits if random.uniform() < 0.5 else logits.round()  # integers make ties
    temperature = float(np.exp(random.uniform(math.log(0.1), math.log(5))))
    top_p = float(random.choice([0.05, 0.25, 0.5, 0.75, 1.0, random.uniform(0.01, 1)]))
    return [logits, temperature, int(random.integers(1, count + 1)), top_p]


def chosen(logits: Any, temperature: float, top_k: int, top_p: float) -> dict[str, Any]:
    logits = tensor(logits)
    probability = next_token_probabilities(
        logits, temperature=temperature, top_k=top_k, top_p=top_p
    )
    # A probability may underflow even in float64.
    left = top_k if top_p == 1 else int(probability.count_nonzero())
    order = logits.sort(descending=True, stable=True).indices
    return {
        "probability": probability,
        "cut": (probability == 0).tolist(),
        "order": order,
        "leftByK": top_k,
        "leftByP": left,
    }


CHOOSE = """(...given) => {
  const found = chooseAmong(...given);
  return { ...found, cut: [...found.probability].map((p) => p === 0) };
}"""


def shares(random: Random) -> list[Any]:
    return [random.dirichlet(np.full(9, 0.3)), random.uniform()]


def drawn(row: Any, u: float) -> int:
    reached = int((tensor(row).cumsum(0) <= u).sum())
    return min(reached, int(tensor(row).nonzero().max()))


test_tiny_gpt_reads_and_draws_letters_as_in_course_lib = alike(
    Twice(
        GENERATION,
        "readTexts",
        read,
        cases=[texts_for(*kind) for kind in KINDS_OF_DECODERS],
        rtol=0,
        atol=1e-10,
    ),
    Twice(
        TRANSFORMER,
        "gelu",
        lambda x: F.gelu(tensor(x)),
        lambda random: [random.normal(scale=3)],
        cases=[[x] for x in (0.0, 1e-300, 5.9, 6.1, -6.1, 40.0, -40.0)],
        rtol=1e-12,
        atol=1e-14,
    ),
    Twice(
        GENERATION,
        CHOOSE,
        chosen,
        choices,
        cases=[
            # Equal shares whose sum reaches p, or falls just short by rounding.
            *([[0.0] * n, 1.0, n, k / n] for n in range(2, 13) for k in range(1, n + 1)),
            [[1e4, 0.0, -1e4], 0.1, 3, 0.05],
            [[3.0, 1.0, 2.0], 1.0, 1, 1.0],
        ],
        rtol=1e-10,
        atol=1e-15,
    ),
    Twice(
        GENERATION,
        "uniform",
        uniform,
        lambda random: random.integers(2**32, size=2).tolist(),
        cases=[[0, 0], [2**32 - 1, 2**32 - 2]],
        rtol=0,
        atol=0,
    ),
    # The ends of the unit interval draw letters of positive probability.
    Twice(
        GENERATION,
        "drawFrom",
        drawn,
        shares,
        cases=[*([[0.0, 0.3, 0.7 - 1e-12, 0.0], u] for u in (0.0, 1 - 2**-32, 1 - 1e-16))],
    ),
)

test_gate_explorer_counts_what_is_kept_as_python_does = alike(
    # The product of a unit's shares kept at each letter is the share kept of the text.
    Twice(
        RECURRENT,
        "keptShare",
        lambda gates: gates.log().mean().exp(),
        lambda random: [random.uniform(size=random.integers(1, 25))],
    ),
    Twice(RECURRENT, "halfLife", lambda share: math.log(0.5, share), lambda r: [r.uniform()]),
)


def test_the_label_of_gate_explorer_changes_where_another_one_leads(javascript: Javascript):
    one, two, unsure = [0.9, 0.1], [0.2, 0.8], [0.5, 0.5]
    cases = [[[one]], [[two, one, one, two]], [[unsure, two, unsure]]]
    assert javascript(RECURRENT, "mindChanges", cases) == [[], [1, 3], [1, 2]]
    assert javascript(RECURRENT, "halfLife", [[1], [0]]) == [math.inf, 0]


@pytest.mark.parametrize("kind", KINDS)
def test_an_equation_of_gate_explorer_in_numbers_is_correct(
    javascript: Javascript, random: Random, kind: str
):
    letters, units = random.integers(1, 9, size=2).tolist()
    rows = random.normal(scale=1.5, size=(KINDS[kind].sums * units, letters + units + 2))
    given = [kind, rows.tolist(), letters, units, random.integers(letters, size=9).tolist()]
    [run] = javascript(RECURRENT, "readText", [given])
    told = KINDS[kind].quantities
    cases = [[kind, *case] for case in itertools.product(told, run, range(units))]
    names = {"σ": lambda x: 1 / (1 + math.exp(-x)), "tanh": math.tanh}
    for found, (_, name, step, unit) in zip(
        javascript(RECURRENT, "equation", cases), cases, strict=True
    ):
        assert found["value"] == step[name][unit]
        assert re.fullmatch(r"(?:σ|tanh|[\d.()·+− ])+", found["numbers"])
        text = found["numbers"].replace("·", "*").replace("−", "-")
        # Each number is rounded to two digits; the cell is a sum of two products of such numbers.
        doubt = 4 + max(map(abs, step["before"].get("cell", [0.0]))) + max(map(abs, step["b"]))
        comes_to = eval(text, {"__builtins__": {}}, names)  # noqa: S307 - matched above
        assert comes_to == pytest.approx(found["value"], abs=0.005 * doubt)


WORDS = "letter_hider/words.js", "tiny_gpt/words.js"
READABLE = [
    ("gate_explorer/gate_explorer.js", ["", "ab ", 5], "at least one letter"),
    ("gate_explorer/gate_explorer.js", ["a</b>", "ab ", 5], "never seen <, /, >. It knows a b ␣"),
    ("gate_explorer/gate_explorer.js", ["ababab", "ab ", 5], "6 letters; 5 fit"),
    (WORDS[0], ["abab", "·ab <", 0, 4], ""),
    (WORDS[0], ["a·", "·ab <", 0, 4], "· stands for a hidden letter"),
    (WORDS[1], ["", "·ab <", 0, 0, 5], ""),
    (WORDS[1], ["", "·ab <", -1, 0, 5], "Type at least one letter"),
    # A start takes the room of a letter.
    (WORDS[1], ["ababa", "·ab <", 0, 0, 5], "5 letters; the model has room for 4."),
    (WORDS[1], ["ababa", "·ab <", -1, 0, 5], ""),
]


def test_an_unreadable_text_gets_a_reason(javascript: Javascript):
    for module, case, reason in READABLE:
        [said] = javascript(module, "proofread", [case])
        assert reason in said
        assert bool(said) == bool(reason)
