"""The text of a widget's JavaScript and of its style, as they travel into a page or a notebook."""

from __future__ import annotations

import functools
import re
from pathlib import Path

HERE = Path(__file__).parent
IMPORT = re.compile(r'^import \{[^}]*\} from "\./((?:js/)?\w+\.js)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?!default)", re.MULTILINE)
# A page carries the module once for each widget; comments and indentation stay in the repository.
UNREAD = re.compile(r"^[ ]*(?:/\*\*.*?\*/\n|//[^\n]*\n)|^[ ]+", re.MULTILINE | re.DOTALL)


@functools.cache
def module_source(name: str) -> str:
    """The widget module ``name`` with the helpers that it imports written into it.

    A browser cannot resolve ``import "./js/dom.js"`` in a module that came as text, so each helper
    stands once, before its first use. Names are unique over all helpers; a browser refuses the
    module otherwise.
    """
    written: list[Path] = []

    def inline(path: Path) -> str:
        text = path.read_text(encoding="utf-8")
        helpers = []
        for match in IMPORT.finditer(text):
            helper = (path.parent / match[1]).resolve()
            if helper not in written:
                written.append(helper)
                helpers.append(EXPORT.sub("", inline(helper)))
        return "".join([*helpers, IMPORT.sub("", text)])

    return UNREAD.sub("", inline((HERE / name).resolve()))


@functools.cache
def stylesheet(module: str) -> str:
    """What all widgets share, in the light or dark theme of their host, and what one adds to it."""
    own = (HERE / module).with_suffix(".css")
    sheets = [HERE / "widgets.css", *([own] if own.is_file() else [])]
    return "".join(UNREAD.sub("", sheet.read_text(encoding="utf-8")) for sheet in sheets)
