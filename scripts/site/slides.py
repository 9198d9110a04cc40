"""Turn the lectures into reveal.js slides that carry their live figures and ask no other host.

Usage: python scripts/site/slides.py lectures --cache _build/.jupyter_cache --output _build/slides

The outputs are those of the book, from its cache, so nothing runs twice; a notebook that the cache
does not know is executed. Figures and listings get the code of today. A cell's
``slideshow.slide_type`` says where it stands. Solutions stay out of slides.
"""

import argparse
import html
import shutil
import sys
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path

import nbformat
import sphinx_revealjs
from jupyter_cache import get_cache
from nbclient import NotebookClient
from nbconvert.filters import ansi2html
from nbformat import NotebookNode
from pygments.formatters import HtmlFormatter
from slides_prose import Prose, highlight
from todays_code import with_todays_code

HERE = Path(__file__).parent
ASSETS = HERE / "slides_static"
GLUE = "application/papermill.record/"
STYLES = {"light": "a11y-high-contrast-light", "dark": "a11y-high-contrast-dark"}
# What an output is shown as, best first: our widgets and figures come as text/html.
SHOWN = ("text/html", "image/svg+xml", "image/png", "text/latex", "text/markdown", "text/plain")


def executed(path: Path, cache: Path) -> NotebookNode:
    """The notebook with its outputs: from the book's cache, or else by running it."""
    notebook = nbformat.read(path, as_version=4)
    try:
        return get_cache(cache).merge_match_into_notebook(notebook)[1]
    except KeyError:
        print(f"Running {path.name}, whose outputs the book has not cached.")
        client = NotebookClient(
            notebook, timeout=180, resources={"metadata": {"path": path.parent}}
        )
        return client.execute()


def glued(notebook: NotebookNode) -> dict[str, dict[str, str]]:
    """What ``glue`` stored, by name: the output's data by mime type."""
    stored = {}
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            name = output.get("metadata", {}).get("scrapbook", {}).get("name")
            if name is not None:
                stored[name] = {mime.removeprefix(GLUE): it for mime, it in output.data.items()}
    return stored


def output_html(output: NotebookNode, prose: Prose) -> str:
    """One output as HTML; progress bars and glued values, which the page does not show, as none."""
    if output.output_type == "stream":
        return f"<pre>{ansi2html(output.text)}</pre>" if output.name == "stdout" else ""
    if output.output_type == "error":
        raise RuntimeError(f"a cell failed: {output.ename}: {output.evalue}")
    for mime in SHOWN:
        if mime not in output.data:
            continue
        value = output.data[mime]
        match mime:
            case "text/html" | "image/svg+xml":
                return value
            case "image/png":
                alt = html.escape(output.metadata.get(mime, {}).get("alt", ""))
                return f'<img alt="{alt}" src="data:image/png;base64,{value.strip()}">'
            case "text/latex" | "text/markdown":
                return prose.render(value)
            case _:
                return f"<pre>{ansi2html(value)}</pre>"
    return ""


def code_html(cell: NotebookNode, prose: Prose) -> str:
    """A code cell and its outputs, as far as its tags let them be seen."""
    tags = set(cell.metadata.get("tags", []))
    parts = []
    if cell.source.strip() and not tags & {"remove-input", "hide-input", "hide-cell"}:
        parts.append(highlight(cell.source, "python"))
    if not tags & {"remove-output", "hide-output", "hide-cell"}:
        shown = [output_html(output, prose) for output in cell.outputs]
        parts += [f'<div class="output" data-prevent-swipe>{it}</div>' for it in shown if it]
    return "\n".join(parts)


def cells_html(notebook: NotebookNode, prose: Prose) -> Iterator[tuple[str, str]]:
    """Each cell that slides show, as its slide type and its HTML."""
    for cell in notebook.cells:
        kind = cell.metadata.get("slideshow", {}).get("slide_type", "-") or "-"
        if kind == "skip" or "remove-cell" in cell.metadata.get("tags", []):
            continue
        if cell.cell_type == "markdown":
            yield kind, prose.render(cell.source)
        elif cell.cell_type == "code":
            yield kind, code_html(cell, prose)


def slides_html(cells: Iterator[tuple[str, str]]) -> str:
    """The sections of reveal.js: a column for each slide, a section in it for each subslide.

    A cell with no slide type of its own joins the cell before it, also within a fragment.
    """
    columns: list[list[list[str]]] = []
    for kind, text in cells:
        if kind == "slide" or not columns:
            columns.append([[]])
        elif kind == "subslide":
            columns[-1].append([])
        parts = columns[-1][-1]
        if kind == "notes":
            parts.append(f'<aside class="notes">{text}</aside>')
        elif kind == "fragment" and text.strip():
            parts.append(f'<div class="fragment">{text}</div>')
        elif kind == "-" and parts and parts[-1].startswith('<div class="fragment">'):
            parts[-1] = parts[-1].removesuffix("</div>") + text + "</div>"
        else:
            parts.append(text)
    stacks = [["".join(parts) for parts in column] for column in columns]
    stacks = [[text for text in stack if text.strip()] for stack in stacks]
    return "\n".join(
        "<section>" + "".join(f"<section>{text}</section>" for text in stack) + "</section>"
        for stack in stacks
        if stack
    )


def title_of(notebook: NotebookNode) -> str:
    """The first heading of the notebook."""
    for cell in notebook.cells:
        for line in cell.source.splitlines():
            if cell.cell_type == "markdown" and line.startswith("# "):
                return line.removeprefix("# ").strip()
    raise ValueError("a lecture starts with a heading, '# …', but this one has none")


def copy_assets(output: Path) -> None:
    """Copy reveal.js, MathJax and our style, so that the folder is complete in itself."""
    static = output / "static"
    static.mkdir(parents=True, exist_ok=True)
    reveal = Path(sphinx_revealjs.__file__).parent / "_static" / "revealjs"
    for name in ("dist/reset.css", "dist/reveal.css", "dist/reveal.js", "plugin/notes/notes.js"):
        shutil.copy(reveal / name, static)
    mathjax = distribution("sphinx-mathjax-offline").locate_file("sphinx-mathjax-offline")
    shutil.copy(Path(mathjax) / "static" / "mathjax" / "tex-svg.js", static)
    for name in ("slides.css", "slides.js"):
        shutil.copy(ASSETS / name, static)
    colours = [
        HtmlFormatter(style=style).get_style_defs(f'html[data-theme="{theme}"] .highlight')
        for theme, style in STYLES.items()
    ]
    (static / "code.css").write_text("\n".join(colours), encoding="utf-8")


def write_slides(lectures: Path, cache: Path, output: Path) -> None:
    """Write the slides of every lecture and a page that lists them."""
    copy_assets(output)
    paths = sorted(lectures.glob("*.ipynb"))
    notebooks = {path.stem: executed(path, cache) for path in paths}
    titles = {stem: title_of(notebook) for stem, notebook in notebooks.items()}
    labels = Prose.labels(cell.source for nb in notebooks.values() for cell in nb.cells)
    page = (ASSETS / "lecture.html").read_text(encoding="utf-8")
    for stem, notebook in notebooks.items():
        faults: list[str] = []
        prose = Prose(
            folder=lectures,
            references=HERE.parents[1] / "book" / "references.bib",
            titles=titles,
            labels=labels,
            glued=glued(notebook),
        )
        body = with_todays_code(slides_html(cells_html(notebook, prose)), faults.append)
        if faults:
            sys.exit("\n".join(f"{stem}: {fault}" for fault in faults))
        body = body.replace('<details class="fold">', '<details class="fold" open>')
        text = page.replace("{{ title }}", html.escape(titles[stem])).replace("{{ slides }}", body)
        (output / f"{stem}.html").write_text(text, encoding="utf-8")
    listed = "\n".join(
        f'<li><a href="{stem}.html">{html.escape(title)}</a></li>' for stem, title in titles.items()
    )
    index = (ASSETS / "index.html").read_text(encoding="utf-8")
    (output / "index.html").write_text(index.replace("{{ lectures }}", listed), encoding="utf-8")


def main() -> None:
    """Read the command line and write the slides."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("lectures", type=Path)
    parser.add_argument("--cache", type=Path, required=True, help="cache of the book's outputs")
    parser.add_argument("--output", type=Path, required=True, help="folder to write")
    given = parser.parse_args()
    write_slides(given.lectures, given.cache, given.output)


if __name__ == "__main__":
    main()
