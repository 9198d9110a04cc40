"""Number still figures, add captions, and keep them large enough to read."""

import html
import math
import re
from itertools import accumulate

SMALLEST = 10
"""The least size of letters in pixels; a figure that gets too wide scrolls."""

FIGURE = re.compile(
    r'<figure class="(?P<kind>single|side-by-side)" role="img" aria-label="(?P<alt>[^"]*)"'
    r"(?P<style>[^>]*)>(?P<drawing><svg.*?</svg>)\s*</figure>",
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
FIRST_WORDS = re.compile(r"(?<=[.?!])\s|[:;]\s")


def with_captions(body: str, lecture: int) -> str:
    """Number the still figures of a page, each with the first words of its description."""
    number = 0

    def captioned(figure: re.Match[str]) -> str:
        nonlocal number
        number += 1
        caption = f"<b>Figure {lecture}.{number}</b> {caption_of(figure['alt'])}".strip()
        return (
            f'<figure class="{figure["kind"]}"{figure["style"]}>'
            f'<div class="drawing" role="img" aria-label="{figure["alt"]}">'
            f"{legible(figure['drawing'])}</div><figcaption>{caption}</figcaption></figure>"
        )

    return FIGURE.sub(captioned, body)


def caption_of(description: str) -> str:
    """The first words of an escaped description, if they describe the whole figure."""
    if PART.match(description):
        return ""
    first = FIRST_WORDS.split(html.unescape(description), maxsplit=1)[0]
    return html.escape(f"{first.rstrip('.')}.")


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
