"""The lectures as reveal.js slides that carry their live figures and ask no other host.

``jupyter-book build . --builder custom --custom-builder slides`` writes them from what it read for
the book, so nothing runs twice. A cell's ``slideshow.slide_type`` says where it stands, and a mark
that pages do not show says where it ends. Solutions stay out of slides.
"""

import html
import json
import re
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import sphinx_revealjs
from docutils import nodes
from docutils.nodes import Element
from site_extension import mend_page
from sphinx.application import Sphinx
from sphinx.builders.html import StandaloneHTMLBuilder
from sphinx.errors import NoUri
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.writers.html5 import HTML5Translator
from sphinx_exercise.nodes import solution_node

ASSETS = Path(__file__).parent / "slides_static"
REVEAL = ("dist/reset.css", "dist/reveal.css", "dist/reveal.js", "plugin/notes/notes.js")
END = re.compile("<!--end of a cell: (.*?)-->")
# What slides leave out of a cell that a page folds.
HIDDEN = {
    "input": ["cell_code_source"],
    "output": ["cell_code_output"],
    "all": ["cell_code_source", "cell_code_output"],
}
LINK = re.compile(r'(<a [^>]*?) href="#([^"?]*)[^"]*"')


def slide_type(metadata: dict[str, Any]) -> str:
    """Where a cell stands among the slides; one that does not say so joins the cell before it."""
    return metadata.get("slideshow", {}).get("slide_type") or "-"


def mark_prose(app: Sphinx, docname: str, source: list[str]) -> None:
    """End each prose cell with its slide type; notes to the speaker are for slides alone."""
    if not app.env.doc2path(docname).endswith(".ipynb"):
        return
    notebook = json.loads(source[0])
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            kind, text = slide_type(cell["metadata"]), "".join(cell["source"])
            if kind == "notes":
                text = f"::::::::{{only}} slides\n{text}\n::::::::"
            cell["source"] = f"{text}\n\n+++ {kind}"
    source[0] = json.dumps(notebook)


class CellsOfSlides(SphinxPostTransform):
    """Leave out solutions, and of a code cell what a page folds; mark its end."""

    default_priority = 198  # just before the notebook extension folds cells its way
    builders = ("slides",)

    def run(self, **_: Any) -> None:
        """Change one lecture."""
        for solution in list(self.document.findall(solution_node)):
            solution.parent.remove(solution)
        for cell in list(self.document.findall(is_code_cell)):
            hidden = HIDDEN.get(cell.attributes.pop("hide_mode", None), [])
            cell.children = [
                part for part in cell.children if part.children and part["nb_element"] not in hidden
            ]
            end = nodes.comment("", slide_type(cell["cell_metadata"]), classes=["block_break"])
            cell.parent.replace(cell, [cell, end] if cell.children else [end])


def is_code_cell(node: nodes.Node) -> bool:
    """Whether a node is a code cell with its outputs."""
    return isinstance(node, nodes.container) and node.get("nb_element") == "cell_code"


class Translator(HTML5Translator):
    """Writes no sections, since slides are cut between cells, and headings of one rank."""

    def visit_section(self, _node: Element) -> None:
        """Go one level down."""
        self.section_level += 1

    def depart_section(self, _node: Element) -> None:
        """Go one level up."""
        self.section_level -= 1

    def visit_title(self, node: Element) -> None:
        """Begin a heading: a slide stands alone, so it is of one rank, whatever its size."""
        if not isinstance(node.parent, nodes.section):
            super().visit_title(node)
            return
        level, ids = f"level-{self.section_level}", node.parent["ids"]
        self.body.append(self.starttag(node, "h2", "", CLASS=level, ids=ids))
        self.context.append("</h2>\n")

    def visit_comment(self, node: Element) -> None:
        """Write where a cell ends."""
        if "block_break" in node["classes"]:
            self.body.append(f"<!--end of a cell: {node.astext()}-->")
        raise nodes.SkipNode


def slides_html(cells: Iterable[tuple[str, str]]) -> str:
    """The sections of reveal.js: a column for each slide, a section in it for each subslide.

    Each cell comes as its HTML and its slide type. One of type "-" joins the cell before it, also
    within a fragment.
    """
    columns: list[list[list[str]]] = []
    for text, kind in cells:
        if kind == "skip":
            continue
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


class SlidesBuilder(StandaloneHTMLBuilder):
    """Writes a file for each lecture, a page that lists them, and what they need beside them."""

    name = "slides"
    default_translator_class = Translator
    search = False
    add_permalinks = False

    def get_outdated_docs(self) -> list[str]:
        """All lectures, since half a second writes one."""
        return sorted(name for name in self.env.found_docs if name.startswith("lectures/"))

    def get_target_uri(self, docname: str, typ: str | None = None) -> str:
        """The file of a lecture; no other page of the book has slides."""
        if not docname.startswith("lectures/"):
            raise NoUri(docname, typ)
        return f"{Path(docname).name}.html"

    def title_of(self, docname: str) -> str:
        """The title of a lecture as HTML."""
        return html.escape(self.env.titles[docname].astext())

    def get_doc_context(self, _docname: str, body: str, _metatags: str) -> dict[str, Any]:
        """What a lecture is written from: no page stands around it."""
        return {"body": body}

    def write(self, *_: Any) -> None:
        """Write the lectures, and not the page of contents, which Sphinx would add."""
        lectures = self.get_outdated_docs()
        self.prepare_writing(set(lectures))
        for docname in lectures:
            doctree = self.env.get_and_resolve_doctree(docname, self)
            self.write_doc_serialized(docname, doctree)
            self.write_doc(docname, doctree)

    def handle_page(self, pagename: str, addctx: dict[str, Any], *_: Any, **__: Any) -> None:
        """Cut a lecture into slides, and write them."""
        mend_page(self.app, pagename, "", addctx, None)
        parts = END.split(addctx["body"])
        body = slides_html(zip(parts[::2], parts[1::2], strict=False))
        body = body.replace("<details ", "<details open ")
        there = set(re.findall(r' id="([^"]*)"', body))
        body = LINK.sub(lambda link: link[0] if link[2] in there else link[1], body)
        name = self.get_target_uri(pagename)
        self.fill("lecture.html", name, title=self.title_of(pagename), slides=body)

    def fill(self, template: str, name: str, **given: str) -> None:
        """Write a file from one of ours that names what is given in double braces."""
        text = (ASSETS / template).read_text(encoding="utf-8")
        text = re.sub(r"{{ (\w+) }}", lambda gap: given[gap[1]], text)
        Path(self.outdir, name).write_text(text, encoding="utf-8")

    def finish(self) -> None:
        """List the lectures, and copy their pictures, reveal.js and our style."""
        listed = (
            f'<li><a href="{self.get_target_uri(docname)}">{self.title_of(docname)}</a></li>'
            for docname in self.get_outdated_docs()
        )
        self.fill("index.html", "index.html", lectures="\n".join(listed))
        self.copy_image_files()
        static = Path(self.outdir, "_static")
        static.mkdir(exist_ok=True)
        reveal = Path(sphinx_revealjs.__file__).parent / "_static" / "revealjs"
        for name in REVEAL:
            shutil.copy(reveal / name, static)
        for name in ("slides.css", "slides.js"):
            shutil.copy(ASSETS / name, static)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.add_builder(SlidesBuilder)
    app.add_post_transform(CellsOfSlides)
    app.connect("source-read", mark_prose)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
