"""A piece of the library as a page lists it: found by its name in the text of its file.

A listing carries the address of what it shows, so whoever writes the page can list it anew, with
the comments and docstrings of today. That needs the text alone: nothing is imported or run.
"""

import ast
import functools
import html
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

REPOSITORY = Path(__file__).resolve().parent.parent
LISTING = re.compile(
    r'<div class="library-source" data-source="(?P<file>[^":]*):(?P<name>[^"]*)">'
    r".*?</pre></div>\n</div>",
    re.DOTALL,
)
DEFINITION = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def listing(file: str, name: str) -> str:
    """The source of the function, class or method ``name`` of a ``file`` of this repository.

    Raises ``ValueError`` if the file defines no such name, or two of it.
    """
    code = highlight(source(REPOSITORY / file, name), PythonLexer(), HtmlFormatter(wrapcode=True))
    address = html.escape(f"{file}:{name}")
    return (
        f'<div class="library-source" data-source="{address}">'
        f"<p><code>{html.escape(file)}</code></p>{code}</div>"
    )


def with_current_source(body: str, complain: Callable[[str], object]) -> str:
    """A page's ``body`` in which every listing shows the library of today.

    A listing whose source is gone says so in its place; ``complain`` gets the same sentence.
    """

    def current(old: re.Match[str]) -> str:
        file, name = html.unescape(old["file"]), html.unescape(old["name"])
        try:
            return listing(file, name)
        except ValueError as error:
            complain(f"the source of {name} cannot be listed: {error}")
            alert = html.escape(f"The source of {name} cannot be listed: {error}.")
            return f'<div class="library-source"><p role="alert">{alert}</p></div>'

    return LISTING.sub(current, body)


def source(path: Path, name: str) -> str:
    """The lines of a definition in a file, from its first decorator on."""
    if not path.is_file():
        raise ValueError(f"there is no file {path.name} to list {name!r} from")
    text = path.read_text(encoding="utf-8")
    found: list[ast.AST] = [_tree(text)]
    for part in name.split("."):
        found = [it for outer in found for it in _definitions(outer) if it.name == part]
    if len(found) != 1:
        count = "no" if not found else len(found)
        raise ValueError(f"{path.name} has {count} definitions of {name!r}, and one can be listed")
    [node] = found
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    return "\n".join(text.split("\n")[first - 1 : node.end_lineno]) + "\n"


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
