"""The text of a widget's JavaScript and of its style, as they travel into a page or a notebook."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parents[1]

# Comments and indentation are removed, except for licences.
COMMENT = re.compile(r"^[ ]*(?:/\*[^!](?:(?!\*/).)*\*/\n|//[^\n]*\n)", re.MULTILINE | re.DOTALL)
INDENTATION = re.compile(r"^[ ]+|^\n", re.MULTILINE)
IMPORT = re.compile(r'\bimport\s*\{([^}]*)\}\s*from\s*"(\.{1,2}/[\w./-]+\.js)";?\n?')
EXPORT = re.compile(r"^export (?=(?:async )?function\b|const\b|class\b)", re.MULTILINE)
EXPORTED = re.compile(r"^export (?:async )?(?:function|const|class) (\w+)", re.MULTILINE)
DEFAULT = re.compile(r"^export default [^\n]*\n", re.MULTILINE)
EXPORT_LIST = re.compile(r"\bexport\s*\{([^}]*)\};?\n?")
STATEMENT = re.compile(r"^(?=[A-Za-z_$])", re.MULTILINE)
DECLARED = re.compile(
    r"(?:export )?(?:(?:async )?function\*? ?|class |const |let )(\w+|[\[{][^=]*[\]}])"
)
WORD = re.compile(r"[\w$]+")
RULE = re.compile(r"([^{}@]+)\{[^{}]*\}\n")
BRACKETS = re.compile(r"\([^()]*\)")
CLASS = re.compile(r"\.(cw[\w-]*)")
ROOT = re.compile(r'\bname: "(cw-[\w-]+)')
LEFT_OVER = re.compile(r"^(?:import|export)\b[^\n]{0,80}", re.MULTILINE)


class Module(NamedTuple):
    """One JavaScript file: its text, its exports by name, and its imports by file."""

    text: str
    offers: dict[str, str]
    takes: list[tuple[Path, dict[str, str]]]


def module_source(name: str) -> str:
    """The widget module ``name`` with the helpers that it imports written into it.

    A browser cannot resolve ``import "../kit/text.js"`` in a module that came as text, so each
    helper stands once, before its first use, in a scope of its own, and without the functions,
    constants and classes that this widget does not need. Raises ``ValueError`` for what cannot be
    written so: a helper that is not there or imports itself, a name that it does not export, any
    other form of import or export.
    """
    helpers, text = _with_helpers(HERE / name)
    return "".join(helpers.values()) + text


@functools.cache
def _with_helpers(entry: Path) -> tuple[dict[Path, str], str]:
    """The helpers of a module, each before its first use, and its own text."""
    written: dict[Path, str] = {}
    text = _behind_its_helpers(entry, _wanted(entry), written, ())
    _refuse_what_is_left(entry, EXPORT.sub("", text.replace("export default ", "")))
    return written, text


def _wanted(entry: Path) -> dict[Path, frozenset[str]]:
    """The names that are imported from each helper of a module, direct or not."""
    wanted: dict[Path, frozenset[str]] = {}
    waiting = [entry]
    while waiting:
        path = waiting.pop()
        for helper, names in _read(path, wanted.get(path)).takes:
            known = wanted.get(helper, frozenset())
            if helper.is_file() and not names.keys() <= known:
                wanted[helper] = known.union(names)
                waiting.append(helper)
    return wanted


# Cached, since many widgets import the same names from the same helper.
@functools.cache
def _read(path: Path, wanted: frozenset[str] | None = None) -> Module:
    """A file, whole, or what of it is ``wanted``."""
    text = COMMENT.sub("", path.read_text(encoding="utf-8"))
    offers = {name: name for name in EXPORTED.findall(text)}
    for listed in EXPORT_LIST.findall(text):
        offers |= {public: own for own, public in _pairs(listed).items()}
    imports = IMPORT.findall(text)
    text = IMPORT.sub("", text)
    # Vendored modules declare several names in one statement and end with a list of exports.
    if wanted is not None and not EXPORT_LIST.search(text):
        # Imports are by name, so nobody needs the default export.
        text = _used(DEFAULT.sub("", text), wanted)
        offers = {public: own for public, own in offers.items() if public in wanted}
    words = set(WORD.findall(text))
    takes = []
    for listed, address in imports:
        names = _pairs(listed)
        if wanted is not None:
            names = {public: own for public, own in names.items() if own in words}
        if names:
            takes.append(((path.parent / address).resolve(), names))
    return Module(INDENTATION.sub("", text), offers, takes)


@functools.cache
def _statements(text: str) -> list[tuple[set[str], set[str], str]]:
    """For each statement: the names that it declares, the words in it, and its text."""
    statements = []
    for statement in STATEMENT.split(text):
        declared = DECLARED.match(statement)
        names = set(WORD.findall(declared[1])) if declared else set()
        statements.append((names, set(WORD.findall(statement)), statement))
    return statements


def _used(text: str, wanted: frozenset[str]) -> str:
    """The statements that declare a wanted name or what it needs, and those that declare none.

    A statement begins at the left margin; a word that it holds is taken for a name that it needs.
    """
    statements = _statements(text)
    needed, known = set(wanted), -1
    while len(needed) > known:
        known = len(needed)
        for names, words, _ in statements:
            if not names or names & needed:
                needed |= words
    return "".join(text for names, _, text in statements if not names or names & needed)


def _pairs(listed: str) -> dict[str, str]:
    """``a, b as c`` as ``{"a": "a", "b": "c"}``."""
    items = [item.split() for item in listed.split(",") if item.strip()]
    return {item[0]: item[-1] for item in items}


def _behind_its_helpers(
    path: Path,
    wanted: dict[Path, frozenset[str]],
    written: dict[Path, str],
    chain: tuple[Path, ...],
) -> str:
    """The text of a module after its imports; the text of its helpers goes into ``written``."""
    name, module = path.relative_to(HERE), _read(path, wanted.get(path))
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
            text = _behind_its_helpers(helper, wanted, written, (path, *chain))
            offers = _renamed(_read(helper, wanted[helper]).offers)
            scope = f"const ${len(written)} = (() => {{\n{_closed(helper, text)}\n"
            written[helper] = f"{scope}return {{ {offers} }};\n}})();\n"
        taken.append(f"const {{ {_renamed(names)} }} = ${list(written).index(helper)};\n")
    return "".join(taken) + module.text


def _closed(helper: Path, text: str) -> str:
    """The text of a helper without ``export``: its scope returns its names instead."""
    text = EXPORT_LIST.sub("", EXPORT.sub("", text)).rstrip()
    _refuse_what_is_left(helper, text)
    return text


def _refuse_what_is_left(path: Path, text: str) -> None:
    if left := LEFT_OVER.search(text):
        raise ValueError(
            f"{path.name} says {left[0]!r}; expected imports of names from files, and exported "
            "functions, constants and classes"
        )


def _renamed(names: dict[str, str]) -> str:
    """``{"a": "a", "b": "c"}`` as ``a, b: c``."""
    return ", ".join(a if a == b else f"{a}: {b}" for a, b in names.items())


@functools.cache
def stylesheet(module: str) -> str:
    """The style of a widget, in the light or dark theme of its host.

    It has ``widgets.css``, then the style sheets beside the helpers of the module, then its own;
    and of these the rules whose classes its code names. Several figures of a page each bring the
    rules of the kit, so a figure's own rules get one class more than those.
    """
    helpers, own = _with_helpers(HERE / module)
    beside = [path.with_suffix(".css") for path in (*helpers, HERE / module)]
    sheets = [HERE / "kit/widgets.css", *(sheet for sheet in beside if sheet.is_file())]
    code = "".join(helpers.values()) + own
    roots = ["cw", *ROOT.findall(code)]

    def rules_of(sheet: Path) -> str:
        of_kit = sheet.parent == HERE / "kit"

        def kept(rule: re.Match[str]) -> str:
            drawn = [
                selector if of_kit else _stronger(selector, roots)
                for selector, needed in _selectors(rule[1])
                if all(_is_named(name, code) for name in needed)
            ]
            return f"{','.join(drawn)}{rule[0][len(rule[1]) :]}" if drawn else ""

        text = COMMENT.sub("", sheet.read_text(encoding="utf-8"))
        return RULE.sub(kept, INDENTATION.sub("", text))

    return "".join(map(rules_of, sheets))


def _stronger(selector: str, roots: list[str]) -> str:
    """The selector with the class of the root once more."""
    for root in roots:
        if found := re.search(rf"\.{root}(?![\w-])", selector):
            return f"{selector[: found.start()]}.cw{selector[found.start() :]}"
    return f".cw {selector.lstrip()}" if CLASS.search(selector) else selector


def _selectors(rule: str) -> Iterator[tuple[str, list[str]]]:
    """The selectors of a rule, each with its classes; without those in parentheses."""
    outside, nested = rule, 1
    while nested:
        outside, nested = BRACKETS.subn(lambda found: " " * len(found[0]), outside)
    begun = 0
    for part in outside.split(","):
        yield rule[begun : begun + len(part)], CLASS.findall(part)
        begun += len(part) + 1


def _is_named(name: str, code: str) -> bool:
    """Whether the code has the class ``cw-a-b``, or builds names that begin with ``cw-a-``."""
    beginnings = [name[: dash.end()] for dash in re.finditer("-", name)][1:]
    made = (begun + end for begun in beginnings for end in ("${", '"'))
    return name in code or any(text in code for text in made)
