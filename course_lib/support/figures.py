"""Still figures of the lectures: legible from the back row, in light and in dark.

A figure is shown as SVG inside the page. Its text, axes and ticks have the colour of the text
around it, so it follows the theme. Its data have colours that stand apart in every common form of
colour blindness, and on white as on black.
"""

from __future__ import annotations

import html
import inspect
import io
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from IPython.display import HTML, display
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.legend import Legend
from matplotlib.text import Text
from myst_nb import glue
from numpy.typing import ArrayLike

from course_lib.support import listings
from course_lib.support.evidence import Evidence
from course_lib.support.listings import REPOSITORY

PALETTE = ("#2b83c6", "#d9650b", "#12976f", "#b8649f", "#a77b00", "#6d7a88")
"""Blue, orange, green, purple, ochre, grey: after Okabe and Ito (2008), darkened for white."""

INK = "#010203"
"""Stands for the colour of the surrounding text until the SVG is written."""

STYLE = {
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.labelsize": 13,
    "axes.prop_cycle": mpl.cycler(color=PALETTE),
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 14,
    "figure.constrained_layout.use": True,
    "font.family": "sans-serif",
    # Every text in the SVG repeats this list; Matplotlib's own, of ten families, costs bytes.
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial"],
    "font.size": 13,
    "legend.frameon": False,
    "lines.linewidth": 2.2,
    "svg.fonttype": "none",
    "svg.hashsalt": "attention",
    "text.color": INK,
    "xtick.color": INK,
    "xtick.labelsize": 12,
    "ytick.color": INK,
    "ytick.labelsize": 12,
}

SHEET = re.compile(r"<style[^>]*>\*\{stroke-linejoin: round; stroke-linecap: butt\}</style>\s*")
LINES = "stroke-linejoin:round;stroke-linecap:butt"
"""Matplotlib's style sheet for all lines, and its content."""

PLACES = re.compile(r' (?:d|points|transform|x|y)="[^"]*"')
DIGITS = re.compile(r"(\.\d\d)\d+")
"""A hundredth of a point is finer than any screen; further digits cost bytes."""


def new(
    columns: int = 1, rows: int = 1, *, width: float = 7.0, height: float = 3.2, **options: Any
) -> tuple[Figure, Any]:
    """A figure in the style of the course, and its axes as ``Figure.subplots`` returns them.

    ``width`` and ``height`` are in inches; ``options`` go to ``Figure.subplots``.
    """
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(width, height), facecolor="none")
        axes = figure.subplots(rows, columns, subplot_kw={"facecolor": "none"}, **options)
    return figure, axes


def heatmap(
    axes: Axes,
    matrix: ArrayLike,
    *,
    xlabel: str = "key",
    ylabel: str = "query",
    columns: Sequence[str] | None = None,
    rows: Sequence[str] | None = None,
    largest: float | None = None,
) -> AxesImage:
    """Draws a matrix of weights: the deeper the colour, the larger the weight.

    Zero is transparent, so the map belongs to either theme. ``largest`` is the weight drawn
    deepest (the largest of the matrix by default).
    """
    values = np.asarray(matrix, dtype=float)
    if values.ndim != len(("row", "column")):
        raise ValueError(f"matrix needs the axes (row, column), but has the shape {values.shape}")
    with mpl.rc_context(STYLE):
        image = axes.imshow(
            values,
            cmap=mpl.colors.LinearSegmentedColormap.from_list(
                "weights", [(*mpl.colors.to_rgb(PALETTE[0]), opacity) for opacity in (0, 1)]
            ),
            vmin=0.0,
            vmax=largest,
            interpolation="nearest",
        )
        axes.set(xlabel=xlabel, ylabel=ylabel)
        axes.spines[:].set_visible(True)
        if columns is not None:
            axes.set_xticks(range(len(columns)), columns)
        if rows is not None:
            axes.set_yticks(range(len(rows)), rows)
    return image


def svg(figure: Figure) -> str:
    """The figure as SVG whose ink is ``currentColor``."""
    # Text and legends that were added after `new` have the colours of Matplotlib's own style.
    for text in figure.findobj(Text):
        if mpl.colors.same_color(text.get_color(), "black"):
            text.set_color(INK)
    for legend in figure.findobj(Legend):
        legend.set_frame_on(False)
    buffer = io.StringIO()
    with mpl.rc_context(STYLE):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    drawing = buffer.getvalue()
    drawing = drawing[drawing.index("<svg") :]
    # A fixed width in points would overflow a telephone; the proportions give the height, also
    # before a browser has drawn the content.
    width, height = (re.search(rf'{side}="([\d.]+)pt"', drawing)[1] for side in ("width", "height"))
    drawing = re.sub(r' (?:width|height)="[\d.]+pt"', "", drawing, count=2)
    style = f"width:100%;max-width:{width}pt;aspect-ratio:{width}/{height};{LINES}"
    drawing = drawing.replace("<svg ", f'<svg style="{style}" ', 1)
    # A style sheet in the picture would apply to the whole page; lines inherit its content here.
    drawing = SHEET.sub("", drawing, count=1)
    drawing = PLACES.sub(lambda match: DIGITS.sub(r"\1", match[0]), drawing)
    return drawing.replace(INK, "currentColor")


def show(figure: Figure, *, alt: str) -> None:
    """Displays a figure. ``alt`` describes it to readers who cannot see it.

    Axes in several columns are marked as ``side-by-side``: on a telephone the page scrolls such a
    figure, whose text would be too small to read were it made to fit.

    Raises ``ValueError`` for an empty ``alt``.
    """
    specs = [axes.get_subplotspec() for axes in figure.axes]
    columns = max((spec.get_gridspec().ncols for spec in specs if spec), default=1)
    _display(svg(figure), "side-by-side" if columns > 1 else "single", alt)


def drawing(name: str) -> None:
    """Displays ``course_lib/data/drawings/<name>.svg``, whose ``<desc>`` says what it shows."""
    picture = (REPOSITORY / f"course_lib/data/drawings/{name}.svg").read_text(encoding="utf-8")
    _display(picture, "side-by-side", re.search(r"<desc>(.*?)</desc>", picture, re.DOTALL)[1])


def _display(picture: str, arrangement: str, alt: str) -> None:
    if not alt.strip():
        raise ValueError("alt is empty; say in a sentence what the figure shows")
    picture = picture.replace("<svg ", '<svg aria-hidden="true" focusable="false" ', 1)
    display(
        HTML(
            f'<figure class="{arrangement}" role="img" aria-label="{html.escape(alt)}" '
            f'style="margin:1rem 0;text-align:center">{picture}</figure>'
        )
    )


def source(*pieces: Callable[..., Any] | type | str) -> None:
    """Shows the source of functions and classes as it stands in the library, with its file.

    What the page shows is what the notebook runs: nothing is copied by hand. A piece may be named
    as ``"course_lib/kernels/tiles.py::deal"`` where it cannot be imported everywhere.
    """
    display(HTML("".join(listings.listing(*_address(piece)) for piece in pieces)))


def excerpt(piece: Callable[..., Any] | type | str, first: str, last: str) -> None:
    """Shows lines of a long function, from one that begins with ``first`` to one with ``last``."""
    display(HTML(listings.excerpt(*_address(piece), first, last)))


def say(numbers: Mapping[str, Any], form: str, names: str = "") -> None:
    """Glues numbers into the prose under their names: ``say(row, ".2f", "early late")``.

    All of them without ``names``. ``form`` is a format as in an f-string; a share in ``".0%"``
    becomes ``87 %``. A string has the format ``""``. A list becomes its mean, in the format
    ``"±.2f"`` with its standard deviation; a ``{"mean": …, "error": …}`` becomes both.

    Raises ``ValueError`` for a name that is not in ``numbers``.
    """
    chosen = names.split() or list(numbers)
    if unknown := [name for name in chosen if name not in numbers]:
        raise ValueError(f"there is no number {unknown}; expected some of {list(numbers)}")
    for name in chosen:
        parts = [numbers[name]]
        if isinstance(numbers[name], dict):
            parts = [numbers[name]["mean"], numbers[name]["error"]]
        elif isinstance(numbers[name], list):
            parts = [np.mean(numbers[name])]
            parts += [np.std(numbers[name], ddof=1)] if form.startswith("±") else []
        text = " ±\N{NO-BREAK SPACE}".join(format(part, form.removeprefix("±")) for part in parts)
        if form.endswith("%"):
            text = text.replace("% ±", " ±").replace("%", "\N{NO-BREAK SPACE}%")
        glue(name, text.replace("-", "−") if form else text, display=False)


def how_we_know(evidence: Evidence, *names: str) -> None:
    """Shows, behind a fold, how the numbers of experiments were computed, and their source.

    ``names`` may hold other definitions of the script; without it, all experiments are listed.
    """
    script = f"scripts/evidence/{evidence.lecture}.py"
    parts = []
    for name in names or evidence.about:
        if name in evidence.about:
            about, rows = evidence.about[name], evidence.rows(name)
            seconds = sum(row["seconds"] for row in rows)
            cases = f"{len(rows)} cases" if len(rows) > 1 else "one case"
            parts.append(
                f"<p><code>{html.escape(about['command'])}</code>: {cases} on {about['date']}, "
                f"{seconds:.1f} s of processor time with PyTorch {about['versions']['torch']}.</p>"
            )
        parts.append(listings.listing(script, name))
    display(HTML(f"<details><summary>How do we know?</summary>{''.join(parts)}</details>"))


def _address(piece: Callable[..., Any] | type | str) -> tuple[str, str]:
    if isinstance(piece, str):
        file, name = piece.split("::")
        return file, name
    original = inspect.unwrap(piece)
    file = Path(inspect.getsourcefile(original)).resolve().relative_to(REPOSITORY)
    return file.as_posix(), original.__qualname__
