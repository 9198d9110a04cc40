"""Fold parts of a page to one line.

These are code that a reader may skip, passed checks, attempts at exercises, solutions, appendices,
and lists of sources.
A fold is the browser's own ``<details>``: it works with mouse and keyboard, without scripts, and
opens for a search in the page. A figure is above the code that drew it.
"""

from typing import Any

from docutils import nodes
from docutils.nodes import Element
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.writers.html5 import HTML5Translator

LONG = 12
"""A block of code with more lines than this is folded behind its first."""

CHECKED = "✓ checked when this page was built"
PICTURES = ("<svg", "cw-host", "<img")


class Fold(nodes.General, nodes.Element):
    """A line, and the content that opens below it."""


class FoldLine(nodes.TextElement):
    """The line that opens a fold."""


def fold(line: list[nodes.Node], content: list[nodes.Node], *classes: str) -> Fold:
    """Fold ``content`` below a ``line``."""
    folded = Fold(classes=["fold", *classes])
    folded += FoldLine("", "", *line)
    folded += content
    return folded


def first_line(code: str) -> list[nodes.Node]:
    """The summary of folded code: its first line, and the number of lines."""
    lines = code.strip("\n").split("\n")
    return [
        nodes.literal("", lines[0], classes=["first-line"]),
        nodes.inline("", f"{len(lines)} lines of code", classes=["line-count"]),
    ]


class FoldCells(SphinxPostTransform):
    """Fold cells before the notebook extension would, and after titles are known."""

    default_priority = 198
    builders = ("html",)

    def run(self, **_: Any) -> None:
        """Fold the cells, dropdowns, appendices and sources of one page."""
        for cell in list(self.document.findall(is_code_cell)):
            fold_cell(cell)
        for dropdown in list(self.document.findall(is_dropdown)):
            fold_dropdown(dropdown)
        for section in list(self.document.findall(is_appendix)):
            fold_appendix(section)
        if sources := list(self.document.findall(nodes.citation)):
            fold_sources(sources)


def is_code_cell(node: nodes.Node) -> bool:
    """Whether a node is a code cell that shows its code."""
    return (
        isinstance(node, nodes.container)
        and node.get("nb_element") == "cell_code"
        and bool(node.children)
        and node.children[0].get("nb_element") == "cell_code_source"
    )


def is_attempt(cell: Element) -> bool:
    """Whether a cell belongs to an exercise."""
    section = cell.parent
    return isinstance(section, nodes.section) and section.children[0].astext() == "Exercises"


def fold_cell(cell: Element) -> None:
    """Fold an attempt, and the code of a cell if it is long, a check, or marked to be hidden."""
    code, *output = cell.children
    text = code.astext()
    if is_attempt(cell):
        cell.children = []
        cell += fold(first_line(text), [code, *output])
        return
    hidden = cell.get("hide_mode") == "input"
    if cell.get("hide_mode") == "output" and output:
        output = [fold([nodes.Text("Output of this cell")], output)]
        cell["hide_mode"] = None
    if "tag_claim" in cell["classes"]:
        folded = fold([nodes.Text(CHECKED)], [code], "checked")
    elif hidden and output:
        folded = fold([nodes.Text(name_of_code(output))], [code], "below")
    elif hidden or len(text.strip("\n").split("\n")) > LONG:
        folded = fold(first_line(text), [code])
    else:
        folded = code
    if hidden:
        cell["hide_mode"] = None
    cell.children = []
    cell += [*output, folded] if hidden else [folded, *output]


def name_of_code(output: list[nodes.Node]) -> str:
    """The summary of the code below an output."""
    raw = "".join(node.astext() for part in output for node in part.findall(nodes.raw))
    drawn = any(mark in raw for mark in PICTURES)
    return "Code of this figure" if drawn else "Code of this result"


def is_dropdown(node: nodes.Node) -> bool:
    """Whether a node is an admonition that its author asked to be folded."""
    return isinstance(node, nodes.Admonition) and "dropdown" in node["classes"]


def fold_dropdown(node: Element) -> None:
    """Fold an admonition behind its title, whose links would compete with the opening."""
    title, *content = node.children
    for link in list(title.findall(nodes.reference)):
        link.replace_self(link.children)
    classes = [name for name in node["classes"] if name != "dropdown"]
    folded = fold(title.children, content, "admonition", *classes)
    folded["ids"] = node["ids"]
    folded[0]["classes"] = ["admonition-title"]
    node.parent.replace(node, folded)


def is_appendix(node: nodes.Node) -> bool:
    """Whether a node is a section that the question of its lecture does not need."""
    return isinstance(node, nodes.section) and node.children[0].astext().startswith("Appendix: ")


def fold_appendix(section: Element) -> None:
    """Fold an appendix below its heading and its first paragraph, which says what it answers."""
    shown = 1 + next(i for i, part in enumerate(section) if isinstance(part, nodes.paragraph))
    content = section.children[shown:]
    section.children = section.children[:shown]
    section += fold([nodes.Text("Open this appendix")], content, "section")


def fold_sources(sources: list[Element]) -> None:
    """Fold the list of a page's sources."""
    listed = sources[0].parent
    start = listed.index(sources[0])
    listed.children = [it for it in listed.children if it not in sources]
    listed.insert(start, fold([nodes.Text(f"{len(sources)} sources")], sources, "section"))


def visit_fold(self: HTML5Translator, node: Element) -> None:
    """Begin a fold."""
    self.body.append(self.starttag(node, "details"))


def depart_fold(self: HTML5Translator, _node: Element) -> None:
    """End a fold."""
    self.body.append("</details>\n")


def visit_fold_line(self: HTML5Translator, node: Element) -> None:
    """Begin the line of a fold."""
    self.body.append(self.starttag(node, "summary", ""))


def depart_fold_line(self: HTML5Translator, _node: Element) -> None:
    """End the line of a fold."""
    self.body.append("</summary>\n")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.add_node(Fold, html=(visit_fold, depart_fold))
    app.add_node(FoldLine, html=(visit_fold_line, depart_fold_line))
    app.add_post_transform(FoldCells)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
