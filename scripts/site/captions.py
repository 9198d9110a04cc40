"""Number figures and add captions; keep still ones large enough to read."""

import html
import json
import math
import re
from itertools import accumulate, count

from course_lib.widgets.kit.modules import HERE
from course_lib.widgets.kit.page import PIECE

SMALLEST = 10
"""The least size of letters in pixels; a figure that gets too wide scrolls."""

FIGURE = re.compile(
    r'<figure class="(?P<layout>single|side-by-side)" role="img" aria-label="(?P<alt>[^"]*)"'
    r"(?P<style>[^>]*)>(?P<drawing><svg.*?</svg>)\s*</figure>"
    rf"|{PIECE.pattern}",
    re.DOTALL,
)
WIDTH = re.compile(r"width:100%;max-width:(?P<points>[\d.]+)pt")
LETTERS = re.compile(r"<(?:text|tspan) [^>]*?font(?:-size)?: (?P<size>[\d.]+)px")
FORMULA = re.compile(r"<text>\s*<tspan.*?</text>", re.DOTALL)
LETTER = re.compile(
    r'(?P<begin><tspan x=")(?P<x>[-\d.]+)(?P<style>"[^>]*?font-size: )(?P<size>[\d.]+)(?=px)'
)
EXPONENT = 0.85
"""The size of exponents relative to the base; Matplotlib's 0.7 is too small."""
# "Left: …" describes a part of a figure, and is no caption of the whole.
PART = re.compile(r"(?:Left|Above)\b")
SENTENCE_END = re.compile(r"(?<=[.?!])\s")
FIRST_WORDS = re.compile(rf"{SENTENCE_END.pattern}|[:;]\s")
LABEL = re.compile(r'widget\(\{\n  label: "(.*)",')


def with_captions(body: str, lecture: int) -> str:
    """Number the still and live figures of a page, and add captions. A question is no figure."""
    number = count(1)

    def caption(words: str) -> str:
        return f"<b>Figure {lecture}.{next(number)}</b> {words}".strip()

    def captioned(figure: re.Match[str]) -> str:
        if figure["kind"] == "Prediction":
            return figure[0]
        if figure["kind"]:
            return f'{figure[0]}<p class="figcaption">{caption(title_of(figure))}</p>'
        return (
            f'<figure class="{figure["layout"]}"{figure["style"]}>'
            f'<div class="drawing" role="img" aria-label="{figure["alt"]}">'
            f"{legible(figure['drawing'])}</div>"
            f"<figcaption>{caption(caption_of(figure['alt']))}</figcaption></figure>"
        )

    return FIGURE.sub(captioned, body)


def caption_of(description: str) -> str:
    """The first words of an escaped description, if they describe the whole figure."""
    if PART.match(description):
        return ""
    first = FIRST_WORDS.split(html.unescape(description), maxsplit=1)[0]
    return html.escape(f"{first.rstrip('.')}.")


def title_of(figure: re.Match[str]) -> str:
    """What a live figure is called: by its module, else by the first sentence of its description.

    What else its description says may change in the reader's hand.
    """
    module = HERE / json.loads(figure["payload"])["module"]
    if label := LABEL.search(module.read_text(encoding="utf-8")):
        return label[1] if label[1].endswith("?") else f"{label[1]}."
    return SENTENCE_END.split(figure["words"][len("<p>") : -len("</p>")], maxsplit=1)[0]


def legible(drawing: str) -> str:
    """Widen a drawing until its smallest letters are legible."""
    drawing = FORMULA.sub(with_larger_exponents, drawing)
    sizes = [float(size) for size in LETTERS.findall(drawing)]
    width = WIDTH.search(drawing)
    if not sizes or width is None:
        return drawing
    least = SMALLEST * float(width["points"]) / min(sizes)
    return WIDTH.sub(rf"\g<0>;min-width:{math.ceil(least)}px", drawing, count=1)


def with_larger_exponents(formula: re.Match[str]) -> str:
    """Enlarge the exponents and indices of a formula, and keep it centred."""
    letters = list(LETTER.finditer(formula[0]))
    places = [float(letter["x"]) for letter in letters]
    sizes = [float(letter["size"]) for letter in letters]
    larger = [max(size, EXPONENT * max(sizes)) for size in sizes]
    gaps = [
        (right - left) * new / old
        for left, right, old, new in zip(places, places[1:], sizes, larger, strict=False)
    ]
    grown = sum(gaps) - (places[-1] - places[0]) if letters else 0
    moved = iter(accumulate(gaps, initial=places[0] - grown / 2) if letters else [])
    sized = iter(larger)
    return LETTER.sub(
        lambda letter: f"{letter['begin']}{next(moved):.5g}{letter['style']}{next(sized):g}",
        formula[0],
    )
