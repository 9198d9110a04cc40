"""A widget as a piece of any web page: its state, its code, and the kernel's stand-in.

A piece is complete in itself, so it works wherever the output of a cell is shown. A book passes the
pieces of a page through :func:`with_current_code`: the page then has the current code, once for
each kind of figure, so no lecture runs again when only the code of a figure changes; and each
figure has an id, by which a link can set it.
"""

from __future__ import annotations

import base64
import functools
import html
import json
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import minify
import zopfli.zlib

from course_lib.widgets.kit.modules import HERE, module_source, stylesheet

FORMAT = 2
"""The version of a piece's format; increased when older outputs can no longer be read."""

MODULE = re.compile(r"(?:\w+/)*\w+\.js")
PIECE = re.compile(
    r'<div class="cw-host" data-widget="(?P<kind>[^"]*)"(?: id="[^"]*")?>'
    r"(?P<words><p>[^<]*</p>)</div>"
    r'(?:<script type="application/json">(?P<payload>[^<]*)</script>'
    r"<script>.*?</script>)?",
    re.DOTALL,
)
CONTAINER = re.compile(r"(@container[^{]*\{)((?:[^{}]*\{[^{}]*\})*)\s*\}")
START = "courseFigure(document.currentScript);\n"


@functools.cache
def packed_code(module: str) -> str:
    """The style and the module as deflated text, with a zero between them."""
    return packed(f"{_style(module)}\0{_script(module)}")


def packed(text: str) -> str:
    """Deflated text."""
    return in_base85(zopfli.zlib.compress(text.encode()))


def in_base85(data: bytes) -> str:
    """Bytes as text, shorter than base64 by a sixteenth; a dot stands for "<"."""
    return base64.b85encode(data).decode().replace("<", ".")


def from_base85(text: str) -> bytes:
    """The inverse of :func:`in_base85`."""
    return base64.b85decode(text.replace(".", "<"))


def static_html(
    kind: str, module: str, description: str, state: dict[str, Any], limits: dict[str, Any]
) -> str:
    """A widget of a ``kind`` with its ``state``: needs no kernel, no network and no other file."""
    words = f"<p>{html.escape(description)}</p>"
    payload = {"format": FORMAT, "module": module, "state": state, "limits": limits}
    return _piece(_opening(kind), words, payload | {"code": packed_code(module)}, _host() + START)


def with_current_code(body: str, complain: Callable[[str], object]) -> str:
    """A page's ``body`` in which every widget has the current code.

    The first widget of a kind carries its code, and the first of all also the code that replaces
    the kernel. A widget that cannot start says so in place of its figure, above its description;
    ``complain`` gets the same sentence.
    """
    carried: Counter[str] = Counter()

    def current(piece: re.Match[str]) -> str:
        kind, words = piece["kind"], piece["words"]
        try:
            payload = _payload(piece["payload"])
            module = payload["module"]
            code = {} if module in carried else {"code": packed_code(module)}
        except ValueError as error:
            complain(f"the figure {kind} could not start: {error}")
            alert = f'<p role="alert">{html.escape(f"This figure could not start: {error}.")}</p>'
            return f"{_opening(kind)}{alert}{words}</div>"
        script = START if carried else _host() + START
        carried[module] += 1
        opening = _opening(kind, figure_id(module, carried[module]))
        return _piece(opening, words, payload | code, script)

    return PIECE.sub(current, body)


def figure_id(module: str, count: int = 1) -> str:
    """The name of a figure in addresses: that of its module, and which of its kind it is."""
    path = re.sub(r"^(\w+)/(?=\1\.js)|\.js$", "", module)
    name = f"fig-{re.sub('[/_]', '-', path)}"
    return name if count == 1 else f"{name}-{count}"


def _host() -> str:
    # A block, since a page of a notebook may hold it several times.
    return f"{{{_script('kit/host.js')}}}\n"


def _style(module: str) -> str:
    def inner(block: re.Match[str]) -> str:
        return f"{block[1]}{minify.string('text/css', block[2])}}}"

    # The minifier does not minify the inside of a @container block.
    return CONTAINER.sub(inner, minify.string("text/css", stylesheet(module)))


def _script(module: str) -> str:
    try:
        return minify.string("text/javascript", module_source(module))
    except minify.MinifyError as error:
        raise ValueError(f"{module} does not parse: {error}") from error


def _opening(kind: str, name: str = "") -> str:
    return f'<div class="cw-host" data-widget="{kind}"' + (f' id="{name}">' if name else ">")


def _piece(opening: str, words: str, payload: dict[str, Any], script: str) -> str:
    # Within <script> only "<" can begin markup; JSON lets it be written as an escape.
    data = json.dumps(payload, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    data = data.replace("<", "\\u003c")
    return (
        f"{opening}{words}</div>"
        f'<script type="application/json">{data}</script>'
        f"<script>{script}</script>"
    )


def _payload(text: str | None) -> dict[str, Any]:
    """The data of a piece without its code; ``ValueError`` if this version cannot show it."""
    again = "run its notebook again (make clean book)"
    try:
        payload = json.loads(text or "")
    except ValueError as error:
        raise ValueError(f"its output is not whole; {again}") from error
    found = payload.get("format", 1) if isinstance(payload, dict) else None
    if found != FORMAT:
        raise ValueError(
            f"its output has the format {found}, and this version reads {FORMAT}; {again}"
        )
    module = payload.get("module")
    if not isinstance(module, str) or not MODULE.fullmatch(module) or not (HERE / module).is_file():
        raise ValueError(f"course_lib.widgets has no module {module!r} any more; {again}")
    payload.pop("code", None)
    return payload
