"""The source of a definition for a page: found by its name in the text of its file.

A listing contains the address of its source, so that the build of a page can update it with the
current comments and docstrings. That needs the text alone: nothing is imported or run. The first
paragraph of a docstring and its formulas stand above the code. The rest is folded, and so is long
code.
"""

import ast
import copy
import functools
import html
import re
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

REPOSITORY = Path(__file__).resolve().parents[2]
LISTING = re.compile(
    r'<div class="library-source" data-source="(?P<file>[^":]*):(?P<name>[^"]*)"'
    r'(?: data-first="(?P<first>[^"]*)" data-last="(?P<last>[^"]*)")?>'
    r".*?</pre></div>\n(?:</details>)?</div>",
    re.DOTALL,
)
MARKUP = re.compile(
    r"\$(?P<formula>[^$]+)\$|``(?P<code>.+?)``|(?::\w+:)?`~?(?P<name>[^`]+)`",
    re.DOTALL,
)
DISPLAY = re.compile(r"\$\$(.+)\$\$", re.DOTALL)
LONG = 12
"""Code of more lines than this is folded."""
LONG_FORMULA = 45
"""A formula of more letters of TeX than this may be wider than a telephone."""
DEFINITION = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def listing(file: str, name: str) -> str:
    """The source of the function, class or method ``name`` of a ``file`` of this repository.

    Raises ``ValueError`` if the file defines no such name, or two of it.
    """
    caption = f"<p><code>{html.escape(file)}</code></p>"
    address = f'data-source="{html.escape(f"{file}:{name}")}"'
    code = textwrap.dedent(source_of(REPOSITORY / file, name))
    [definition] = ast.parse(code).body
    prose, notes = _prose(definition)
    shown = _block(_signature(definition), _without_docstrings(code, definition), notes)
    return f'<div class="library-source" {address}>{caption}{prose}{shown}</div>'


def excerpt(file: str, name: str, first: str, last: str) -> str:
    """Lines of a definition, from one that begins with ``first`` to one with ``last``.

    Raises ``ValueError`` if there is no such definition, or no such line in it.
    """
    lines = source_of(REPOSITORY / file, name).split("\n")
    start = _line(lines, first, 0, name)
    shown = lines[start : _line(lines, last, start, name) + 1]
    address = " ".join(
        f'data-{what}="{html.escape(value)}"'
        for what, value in (("source", f"{file}:{name}"), ("first", first), ("last", last))
    )
    shown = _block(shown[0].strip(), textwrap.dedent("\n".join(shown)))
    caption = f"<p>in <code>{html.escape(name)}</code></p>"
    return f'<div class="library-source" {address}>{caption}{shown}</div>'


def with_current_source(body: str, complain: Callable[[str], object]) -> str:
    """A page's ``body`` in which every listing shows the current library.

    A message replaces a listing whose source is missing; ``complain`` gets the same sentence.
    """

    def current(old: re.Match[str]) -> str:
        given = {key: html.unescape(it) for key, it in old.groupdict().items() if it is not None}
        try:
            return excerpt(**given) if "first" in given else listing(**given)
        except ValueError as error:
            fault = f"the source of {given['name']} cannot be listed: {error}"
            complain(fault)
            alert = html.escape(f"{fault[0].upper()}{fault[1:]}.")
            return f'<div class="library-source"><p role="alert">{alert}</p></div>'

    return LISTING.sub(current, body)


def source_of(path: Path, name: str) -> str:
    """The lines of a definition in a file, from its first decorator on, without ``@checked``."""
    if not path.is_file():
        raise ValueError(f"there is no file {path.name} to list {name!r} from")
    text = path.read_text(encoding="utf-8")
    try:
        found: list[ast.AST] = [_tree(text)]
    except SyntaxError as error:
        raise ValueError(f"{path.name} is no Python: {error.msg}, line {error.lineno}") from error
    for part in name.split("."):
        found = [it for outer in found for it in _definitions(outer) if it.name == part]
    if len(found) != 1:
        count = "no" if not found else len(found)
        raise ValueError(f"{path.name} has {count} definitions of {name!r}, and one can be listed")
    [node] = found
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    lines = text.split("\n")[first - 1 : node.end_lineno]
    return "\n".join(line for line in lines if not line.strip().startswith("@checked")) + "\n"


def _block(first_line: str, code: str, notes: str = "") -> str:
    shown = highlight(code, PythonLexer(), HtmlFormatter(wrapcode=True))
    lines = len(code.strip("\n").split("\n"))
    if lines <= LONG:
        return f"{_folded('Notes', notes)}{shown}" if notes else shown
    line = (
        f'<code class="first-line">{html.escape(first_line)}</code>'
        f'<span class="line-count">{lines} lines of code</span>'
    )
    return _folded(line, notes + shown)


def _folded(line: str, content: str) -> str:
    return f'<details class="fold"><summary>{line}</summary>{content}</details>'


def _signature(definition: DEFINITION) -> str:
    """A function with the names of its arguments, or the name of a class."""
    if isinstance(definition, ast.ClassDef):
        return f"class {definition.name}"
    given = copy.deepcopy(definition.args)
    for argument in ast.walk(given):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    return f"def {definition.name}({ast.unparse(given)})"


def _documented(definition: DEFINITION) -> list[DEFINITION]:
    """The definition and those inside it that have a docstring and other code."""
    nodes = [node for node in ast.walk(definition) if isinstance(node, DEFINITION)]
    return [node for node in nodes if ast.get_docstring(node) and len(node.body) > 1]


def _without_docstrings(code: str, definition: DEFINITION) -> str:
    lines: list[str | None] = [*code.split("\n")]
    for node in _documented(definition):
        docstring = node.body[0]
        blank = docstring.end_lineno < len(lines) and not lines[docstring.end_lineno].strip()
        for number in range(docstring.lineno - 1, docstring.end_lineno + blank):
            lines[number] = None
    return "\n".join(line for line in lines if line is not None)


def _prose(definition: DEFINITION) -> tuple[str, str]:
    """The first paragraph and the formulas of a docstring, and its notes.

    Docstrings of inner definitions are notes that begin with a name.
    """
    prose, notes = [], []
    for node in _documented(definition):
        first, *more = ast.get_docstring(node).split("\n\n")
        if node is definition:
            prose.append(f"<p>{_marked_up(first)}</p>")
        else:
            notes.append(f"<p><code>{html.escape(node.name)}</code>: {_marked_up(first)}</p>")
        for text in more:
            at_the_surface = node is definition and DISPLAY.fullmatch(text.strip())
            (prose if at_the_surface else notes).append(_paragraph(text))
    return _docstring(prose), _docstring(notes)


def _docstring(paragraphs: list[str]) -> str:
    return f'<div class="docstring">{"".join(paragraphs)}</div>' if paragraphs else ""


def _paragraph(text: str) -> str:
    # A formula on lines of its own may scroll, so it is not put in a paragraph.
    alone = DISPLAY.fullmatch(text.strip())
    if alone is None:
        return f"<p>{_marked_up(text)}</p>"
    formula = html.escape(alone[1], quote=False)
    return rf'<div class="math notranslate nohighlight">\[{formula}\]</div>'


def _marked_up(text: str) -> str:
    """A docstring's text as HTML, with formulas and code marked up."""

    def piece(found: re.Match[str]) -> str:
        kind, value = next((kind, it) for kind, it in found.groupdict().items() if it)
        value = html.escape(value, quote=False)
        if kind in ("code", "name"):
            return f"<code>{value}</code>"
        wide = " wide" if len(value) > LONG_FORMULA else ""
        return rf'<span class="math notranslate nohighlight{wide}">\({value}\)</span>'

    shown, last = [], 0
    for found in MARKUP.finditer(text):
        shown += [html.escape(text[last : found.start()], quote=False), piece(found)]
        last = found.end()
    return "".join([*shown, html.escape(text[last:], quote=False)])


def _line(lines: list[str], begins: str, after: int, name: str) -> int:
    for number, line in enumerate(lines[after:], start=after):
        if line.strip().startswith(begins):
            return number
    raise ValueError(f"no line of {name!r} begins with {begins!r} any more")


@functools.lru_cache(maxsize=8)
def _tree(text: str) -> ast.Module:
    return ast.parse(text)


def _definitions(outer: ast.AST) -> Iterator[DEFINITION]:
    """What a module or class defines, also under an ``if`` or ``try``."""
    for node in ast.iter_child_nodes(outer):
        if isinstance(node, DEFINITION):
            yield node
        elif isinstance(node, ast.stmt | ast.ExceptHandler):
            yield from _definitions(node)
