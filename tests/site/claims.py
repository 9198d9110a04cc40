"""Run the cells of a lecture that check its claims, with right and wrong implementations.

Only those statements of earlier cells are run that bind a name which the cell needs.
"""

import ast
import symtable
from collections.abc import Callable
from functools import cache
from pathlib import Path

import nbformat
import torch

LECTURES = Path(__file__).resolve().parents[2] / "lectures"
SURE = (ast.Assign, ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.For, ast.With)
SILENT = {"glue": lambda *_, **__: None}


@cache
def _cells(stem: str) -> list[tuple[str, str]]:
    """The code cells of a lecture, each with the label of its claim, or with ''."""
    found, label = [], ""
    for cell in nbformat.read(LECTURES / f"{stem}.ipynb", as_version=4).cells:
        if cell.cell_type == "markdown" and ":label: prop-" in cell.source:
            label = "prop-" + cell.source.split(":label: prop-")[1].split()[0]
        elif cell.cell_type == "code":
            claim = "claim" in cell.metadata.get("tags", [])
            found.append((label if claim else "", cell.source))
    return found


def claims(stem: str) -> dict[str, str]:
    """The cell that checks each claim, by the label of the claim."""
    return {label: source for label, source in _cells(stem) if label}


def names_in(stem: str, label: str) -> list[str]:
    """The names in the cell of a claim, in order."""
    nodes = ast.walk(ast.parse(claims(stem)[label]))
    return list(dict.fromkeys(node.id for node in nodes if isinstance(node, ast.Name)))


def check(
    stem: str,
    label: str,
    given: dict[str, object],
    changed: dict[str, Callable[[object], object]] | None = None,
) -> dict[str, object]:
    """Run the cell of a claim, and return its names.

    ``given`` names stand in place of the lecture's, and each ``changed`` name becomes what its
    function makes of it. Raises ``AssertionError`` if the claim fails, ``RuntimeError`` if
    something fails before it.
    """
    threads, dtype, left = torch.get_num_threads(), torch.get_default_dtype(), changed or {}
    torch.manual_seed(0)
    names: dict[str, object] = {"__name__": stem}
    fixed: dict[str, object] = SILENT | given
    try:
        for statement in _needed(stem, label, frozenset(given)):
            exec(compile(ast.Module([statement], []), stem, "exec"), names)  # noqa: S102
            fixed |= {
                name: left[name](names[name])
                for name in (left.keys() & names.keys()) - fixed.keys()
            }
            names |= fixed
        before = dict(names)
    except AssertionError as error:
        raise RuntimeError(f"this falls before {label}: {ast.unparse(statement)}") from error
    else:
        exec(claims(stem)[label], names)  # noqa: S102
        return before
    finally:
        torch.set_num_threads(threads)
        torch.set_default_dtype(dtype)


@cache
def _needed(stem: str, label: str, given: frozenset[str]) -> list[ast.stmt]:
    """The statements before the cell of a claim that it depends on, directly or not."""
    kept: list[ast.stmt] = []
    wanted, _ = _flow(ast.parse(claims(stem)[label]).body)
    wanted -= given
    before = _cells(stem)[: [found for found, _ in _cells(stem)].index(label)]
    for statement in reversed([one for _, source in before for one in ast.parse(source).body]):
        reads, binds = _names(statement)
        if binds & wanted or _changed(statement) & wanted:
            kept.append(statement)
            wanted = wanted - binds | reads if isinstance(statement, SURE) else wanted | reads
            wanted -= given
    return kept[::-1]


def _flow(body: list[ast.stmt]) -> tuple[set[str], set[str]]:
    """The global names that a sequence of statements reads, and those that it binds."""
    outside, bound = set(), set()
    for statement in reversed(body):
        reads, binds = _names(statement)
        outside = outside - binds | reads if isinstance(statement, SURE) else outside | reads
        bound |= binds
    return outside, bound


def _either(*ways: list[ast.stmt]) -> tuple[set[str], set[str]]:
    reads, binds = zip(*map(_flow, ways), strict=True)
    return set().union(*reads), set().union(*binds)


def _names(statement: ast.stmt) -> tuple[set[str], set[str]]:
    """The global names that a statement reads, and those that it binds."""
    match statement:
        case ast.For(target=target, iter=source, body=body):
            return _flow([ast.Assign([target], source), *body])
        case ast.With(items=items, body=body):
            opened = [
                ast.Assign([item.optional_vars], item.context_expr)
                if item.optional_vars
                else ast.Expr(item.context_expr)
                for item in items
            ]
            return _flow([*opened, *body])
        case (
            ast.If(test=test, body=body, orelse=orelse)
            | ast.While(test=test, body=body, orelse=orelse)
        ):
            return _either([ast.Expr(test)], body, orelse)
        case ast.Try(body=body, handlers=handlers, orelse=orelse):
            return _either(body, orelse, *(handler.body for handler in handlers))
        case ast.Delete():
            return set(), set()
    table = symtable.symtable(ast.unparse(ast.fix_missing_locations(statement)), "", "exec")
    symbols = table.get_symbols()
    reads = {one.get_name() for one in symbols if one.is_referenced()}
    binds = {one.get_name() for one in symbols if one.is_assigned() or one.is_imported()}
    if isinstance(statement, ast.AugAssign):
        reads |= binds
    inner = table.get_children()
    while inner:
        scope = inner.pop()
        inner += scope.get_children()
        reads |= {one.get_name() for one in scope.get_symbols() if one.is_global()}
    return reads, binds


def _changed(statement: ast.stmt) -> set[str]:
    """The objects that a method call or an item may change, as in ``model.eval()``."""
    called = getattr(getattr(statement, "value", None), "func", None)
    places = [called] if isinstance(statement, ast.Expr) else []
    for node in ast.walk(statement):
        places += node.targets if isinstance(node, ast.Assign) else []
    inside = [place for place in places if isinstance(place, ast.Attribute | ast.Subscript)]
    bases = [next(node for node in ast.walk(it) if not hasattr(node, "value")) for it in inside]
    return {base.id for base in bases if isinstance(base, ast.Name)}
