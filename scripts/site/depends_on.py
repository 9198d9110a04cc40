"""Hash all that a notebook's outputs depend on besides its own code.

The hash covers the modules of ``course_lib`` that its cells import, directly or not, the data and
measurements that these name, and the pinned versions. Comments, docstrings, and a widget's
JavaScript and style are left out: pages get those anew whenever they are written.
"""

import ast
import functools
import hashlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from IPython.core.inputtransformer2 import TransformerManager

LIBRARY = "course_lib"
VERSIONS = ("requirements.txt", "constraints.txt")
DATA = "course_lib/data"
# Packages whose modules are exported by being there: how they look for them.
FOUND_BY = {
    "iter_modules(__path__": "[!_]*.py",
    "Path(__file__).parent.glob('*/*.py')": "*/*.py",
}
MODULE = re.compile(rf"{LIBRARY}(?:\.\w+)+")
SHOWS_TEXT = {"getsource", "getsourcelines", "getdoc", "__doc__"}
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


class Import(NamedTuple):
    """A module, the names imported from it, and their local names."""

    module: str
    names: frozenset[str] = frozenset()
    here: frozenset[str] = frozenset()


class Code:
    """The imports of a piece of Python from the library, and its names and strings."""

    def __init__(self, text: str, *, package: str = "") -> None:
        tree = ast.parse(text)
        nodes = list(ast.walk(tree))
        for node in nodes:
            if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
                del node.body[0]
        self.meaning = ast.dump(tree)
        self.strings = {
            node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        }
        self.attributes = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
        self.imports = [found for node in nodes for found in _imports(node, package)]
        self.imports += [Import(text) for text in self.strings if MODULE.fullmatch(text)]
        self.defined = {
            name
            for node in tree.body
            for name in [getattr(node, "name", ""), *_assigned(node)]
            if name
        }
        loops = [
            ast.unparse(node.iter)
            for node in nodes
            if isinstance(node, ast.For | ast.comprehension)
        ]
        self.finds = [
            files for way, files in FOUND_BY.items() if any(way in loop for loop in loops)
        ]
        self.only_gathers = bool(self.finds) or all(
            isinstance(node, ast.Import | ast.ImportFrom) or _assigned(node) == ["__all__"]
            for node in tree.body
        )


def _assigned(node: ast.AST) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _imports(node: ast.AST, package: str) -> Iterator[Import]:
    """The imports of a statement; for ``from x import y``, x and possibly a module x.y."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield Import(alias.name)
    if isinstance(node, ast.ImportFrom):
        above = package.split(".")[: len(package.split(".")) - node.level + 1]
        parts = [*(above if node.level else []), *([node.module] if node.module else [])]
        module = ".".join(parts)
        for alias in node.names:
            here = frozenset([alias.asname or alias.name])
            yield Import(module, frozenset([alias.name]), here)
            yield Import(f"{module}.{alias.name}", here=here)


def file_of(root: Path, module: str) -> Path | None:
    """The file of a module of the library, or None if the library has no such module."""
    if module.partition(".")[0] != LIBRARY:
        return None
    path = root.joinpath(*module.split("."))
    choices = (path / "__init__.py", path.with_name(f"{path.name}.py"))
    return next((choice for choice in choices if choice.is_file()), None)


@functools.cache
def _code(text: str, package: str) -> Code:
    try:
        return Code(text, package=package)
    except SyntaxError:  # the import itself will fail
        unread = Code("")
        unread.meaning = text
        return unread


def code_of(path: Path, module: str) -> Code:
    """The parsed file of a module of the library."""
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    return _code(path.read_text(encoding="utf-8"), package)


def _wanted(root: Path, package: str, index: Code, names: frozenset[str]) -> Iterator[str]:
    """The modules behind some names of a package that only re-exports names.

    Such a package imports all of its modules, but those that a notebook does not name do not change
    its outputs. A module that is imported whole counts for each name that it defines, since
    checkers are reached as ``check.softmax``.
    """
    imports = index.imports
    folder = root.joinpath(*package.split("."))
    for pattern in index.finds:
        found = sorted(path.relative_to(folder).with_suffix("") for path in folder.glob(pattern))
        imports = [*imports, *(Import(".".join([package, *path.parts])) for path in found)]
    for module, taken, here in imports:
        path = file_of(root, module)
        if path is None:
            continue
        offered = here if taken else here | code_of(path, module).defined
        if "*" in names or offered & names:
            yield module


def modules_behind(root: Path, code: Code) -> dict[Path, Code]:
    """The files of the library that ``code`` imports, directly or indirectly."""
    found: dict[Path, Code] = {}
    done = set()
    todo = [(it.module, it.names | code.attributes) for it in code.imports]
    while todo:
        module, names = todo.pop()
        path = file_of(root, module)
        if path is None or (module, names) in done:
            continue
        done.add((module, names))
        if "." in module:
            todo.append((module.rpartition(".")[0], names))
        inner = code_of(path, module)
        if path.name == "__init__.py" and inner.only_gathers:
            todo += [(name, names) for name in _wanted(root, module, inner, names)]
        elif path not in found:
            found[path] = inner
            todo += [(it.module, it.names | inner.attributes) for it in inner.imports]
    return found


def data_behind(root: Path, codes: Iterable[Code]) -> set[Path]:
    """The bundled data and measurements that the code names, by file or folder."""
    named = {part for code in codes for text in code.strings for part in text.split("/")}
    files = [path for path in (root / DATA).rglob("*") if path.is_file()]
    return {path for path in files if path.suffix not in {".py", ".pyc"} and _names(path) & named}


def _names(path: Path) -> set[str]:
    """The names by which code reads a file; evidence has the name of its lecture."""
    if path.parent.name == "evidence":
        return {path.stem}
    folder = {path.parent.name} - {Path(DATA).name}
    return {path.name, path.stem} | folder


def everything(root: Path, *folders: str) -> str:
    """A hash of the names and contents of files, given as files or folders."""
    digest = hashlib.sha256()
    for folder in folders:
        for path in sorted([root / folder, *(root / folder).rglob("*")]):
            if path.is_file() and "__pycache__" not in path.parts:
                digest.update(f"{path.relative_to(root)}\0".encode())
                digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def fingerprint(root: Path, cells: Iterable[str]) -> str:
    """A hash of all that the outputs of a notebook with these code cells depend on.

    A notebook that shows source with ``inspect`` depends on the whole text of what it imports, and
    one that is not Python on everything.
    """
    try:
        code = Code("\n".join(TransformerManager().transform_cell(cell) for cell in cells))
    except SyntaxError:
        return everything(root, *VERSIONS, LIBRARY)
    modules = modules_behind(root, code)
    shows_text = SHOWS_TEXT & (code.attributes | {n for it in code.imports for n in it.names})
    lines = [everything(root, *VERSIONS)]
    for path, inner in sorted(modules.items()):
        text = path.read_text(encoding="utf-8") if shows_text else inner.meaning
        lines.append(f"{path.relative_to(root)} {hashlib.sha256(text.encode()).hexdigest()}")
    data = sorted(data_behind(root, [code, *modules.values()]))
    lines.append(everything(root, *(str(path.relative_to(root)) for path in data)))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
