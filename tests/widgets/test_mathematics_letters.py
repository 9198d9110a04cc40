"""TinyGPT, LetterHider and GateExplorer, run in Chromium."""

import itertools
import math
import re

import numpy as np
import pytest
from in_the_page import Javascript, Twice, alike

from course_lib.widgets.gate_explorer.gate_explorer import KINDS

RECURRENT = "maths/recurrent.js"
Random = np.random.Generator

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


def test_what_is_kept_for_ever_has_no_half_life(javascript: Javascript):
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
