"""The text of a widget's JavaScript and of its style, as they travel into a page or a notebook."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent

# A page carries comments and indentation for nobody, but the licence of what others wrote.
UNREAD = re.compile(r"^[ ]*(?:/\*\*(?:(?!\*/).)*\*/\n|//[^\n]*\n)|^[ ]+", re.MULTILINE | re.DOTALL)
IMPORT = re.compile(r'\bimport\s*\{([^}]*)\}\s*from\s*"(\.{1,2}/[\w./-]+\.js)";?\n?')
EXPORT = re.compile(r"^export (?=(?:async )?function\b|const\b|class\b)", re.MULTILINE)
EXPORTED = re.compile(r"^export (?:async )?(?:function|const|class) (\w+)", re.MULTILINE)
EXPORT_LIST = re.compile(r"\bexport\s*\{([^}]*)\};?\n?")
LEFT_OVER = re.compile(r"^(?:import|export)\b[^\n]{0,80}", re.MULTILINE)


class Module(NamedTuple):
    """One JavaScript file: what it says, what it offers by which name, what it takes from whom."""

    text: str
    offers: dict[str, str]
    takes: list[tuple[Path, dict[str, str]]]


@functools.cache
def module_source(name: str) -> str:
    """The widget module ``name`` with the helpers that it imports written into it.

    A browser cannot resolve ``import "./js/text.js"`` in a module that came as text, so each helper
    stands once, before its first use, in a scope of its own. Raises ``ValueError`` for what cannot
    be written so: a helper that is not there or imports itself, a name that it does not export,
    any other form of import or export.
    """
    written: dict[Path, str] = {}
    entry = HERE / name
    text = _behind_its_helpers(entry, written, ())
    _refuse_what_is_left(entry, EXPORT.sub("", text.replace("export default ", "")))
    return "".join(written.values()) + text


def _read(path: Path) -> Module:
    text = UNREAD.sub("", path.read_text(encoding="utf-8"))
    offers = {name: name for name in EXPORTED.findall(text)}
    for listed in EXPORT_LIST.findall(text):
        offers |= {public: own for own, public in _pairs(listed).items()}
    takes = [
        ((path.parent / address).resolve(), _pairs(listed))
        for listed, address in IMPORT.findall(text)
    ]
    return Module(IMPORT.sub("", text), offers, takes)


def _pairs(listed: str) -> dict[str, str]:
    """``a, b as c`` as ``{"a": "a", "b": "c"}``."""
    items = [item.split() for item in listed.split(",") if item.strip()]
    return {item[0]: item[-1] for item in items}


def _behind_its_helpers(path: Path, written: dict[Path, str], chain: tuple[Path, ...]) -> str:
    """The text of a module behind the names that it takes; its helpers go into ``written``."""
    name, module = path.relative_to(HERE), _read(path)
    taken = []
    for helper, names in module.takes:
        if helper in (path, *chain):
            raise ValueError(f"{name} imports {helper.name}, which leads back to it; part the two")
        if not helper.is_file():
            raise ValueError(f"{name} imports {helper.name}, which is not there; mend the import")
        offers = _read(helper).offers
        if missing := sorted(names.keys() - offers.keys()):
            raise ValueError(
                f"{name} imports {', '.join(missing)} from {helper.name}, which exports "
                f"{', '.join(sorted(offers)) or 'nothing'}; mend the import"
            )
        if helper not in written:
            written[helper] = _in_a_scope(helper, written, (path, *chain))
        taken.append(f"const {{ {_renamed(names)} }} = {_scope(helper)};\n")
    return "".join(taken) + module.text


def _in_a_scope(helper: Path, written: dict[Path, str], chain: tuple[Path, ...]) -> str:
    """A helper as one constant that holds what it exports; its other names are its own."""
    text = _behind_its_helpers(helper, written, chain)
    text = EXPORT_LIST.sub("", EXPORT.sub("", text)).rstrip()
    _refuse_what_is_left(helper, text)
    offers = _renamed(_read(helper).offers)
    return f"const {_scope(helper)} = (() => {{\n{text}\nreturn {{ {offers} }};\n}})();\n"


def _refuse_what_is_left(path: Path, text: str) -> None:
    if left := LEFT_OVER.search(text):
        raise ValueError(
            f"{path.name} says {left[0]!r}; expected imports of names from files, and exported "
            "functions, constants and classes"
        )


def _scope(helper: Path) -> str:
    return "$" + re.sub(r"\W", "_", str(helper.relative_to(HERE).with_suffix("")))


def _renamed(names: dict[str, str]) -> str:
    """``{"a": "a", "b": "c"}`` as ``a, b: c``."""
    return ", ".join(a if a == b else f"{a}: {b}" for a, b in names.items())


@functools.cache
def stylesheet(module: str) -> str:
    """What all widgets share, in the light or dark theme of their host, and what one adds to it."""
    own = (HERE / module).with_suffix(".css")
    sheets = [HERE / "widgets.css", *([own] if own.is_file() else [])]
    return "".join(UNREAD.sub("", sheet.read_text(encoding="utf-8")) for sheet in sheets)
