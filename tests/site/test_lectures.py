"""The contract of lectures, as far as a program can check it."""

import ast
import importlib
import inspect
import pkgutil
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

import nbformat
import pytest
import yaml
from nbformat import NotebookNode

import course_lib
from course_lib import widgets

ROOT = Path(__file__).resolve().parents[2]
LECTURES = sorted((ROOT / "lectures").glob("*.ipynb"))
DRAW = re.compile(r"(?:torch|np\.random|random)\.(?:rand|normal|perm|shuffle|choice)")
SLIDE_TYPES = {"slide", "subslide", "fragment", "skip", "notes", "-"}
CLAIM = re.compile(r"^`{3,}\{prf:(?:property|theorem|lemma|proposition|corollary)\}", re.MULTILINE)
CITATION = re.compile(r"\{cite(?::\w+)?\}`([^`]+)`")
FORMULA = re.compile(r"^\$\$|^`{3,}\{math\}", re.MULTILINE)
EXERCISE = r"^`{3,}\{exercise(?:-start)?\}.*?\n(?:\s*:\w+:.*\n)*?\s*:label:\s*(\S+)"
# Not topics of the course.
SERVICES = re.compile(r"course_lib\.(support|exercises|widgets|kernels)\b")


@pytest.fixture(params=LECTURES or [Path("lectures/none.ipynb")], ids=lambda path: path.stem)
def path(request: pytest.FixtureRequest) -> Path:
    return request.param


@pytest.fixture
def lecture(path: Path) -> NotebookNode:
    return nbformat.read(path, as_version=4)


def prose(lecture: NotebookNode) -> str:
    return "\n\n".join(cell.source for cell in lecture.cells if cell.cell_type == "markdown")


def section(lecture: NotebookNode, title: str) -> str:
    """The prose below the heading of level two that begins with ``title``, up to the next one."""
    found = re.search(rf"^## {title}[^\n]*\n(.*?)(?=^## |\Z)", prose(lecture), re.M | re.S)
    assert found is not None, f"there is no section '## {title}'"
    return found[1].strip()


def code_cells(lecture: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in lecture.cells if cell.cell_type == "code"]


def tags(cell: NotebookNode) -> set[str]:
    return set(cell.metadata.get("tags", []))


def tree(cell: NotebookNode) -> ast.Module:
    """The syntax tree of a code cell, without its IPython commands."""
    lines = [line for line in cell.source.splitlines() if not line.lstrip().startswith(("%", "!"))]
    return ast.parse("\n".join(lines))


def calls(cell: NotebookNode) -> list[ast.Call]:
    return [node for node in ast.walk(tree(cell)) if isinstance(node, ast.Call)]


def name_called(call: ast.Call) -> str:
    return ast.unparse(call.func)


# The file --------------------------------------------------------------------------------------


def test_a_lecture_is_a_valid_notebook_with_the_common_kernel(lecture: NotebookNode):
    nbformat.validate(lecture)
    assert lecture.metadata.kernelspec.name == "python3"
    assert lecture.metadata.kernelspec.display_name == "Python 3"
    assert "widgets" not in lecture.metadata


def test_outputs_are_stripped_except_checked_ones(lecture: NotebookNode):
    for cell in code_cells(lecture):
        if "nbval-check-output" in tags(cell):
            assert cell.outputs, f"no output to check against:\n{cell.source}"
            kinds = {output.output_type for output in cell.outputs}
            assert kinds <= {"stream", "execute_result"}, "only printed results can be compared"
        else:
            assert cell.outputs == [], f"an output was committed:\n{cell.source}"
            assert cell.execution_count is None


def test_every_cell_has_a_slide_type(lecture: NotebookNode):
    kinds = [cell.metadata.get("slideshow", {}).get("slide_type") for cell in lecture.cells]
    assert [kind for kind in kinds if kind not in SLIDE_TYPES] == []
    assert kinds[0] == "slide"
    assert kinds.count("slide") >= 4


def test_a_lecture_is_numbered_and_listed_in_the_book(path: Path, lecture: NotebookNode):
    assert re.fullmatch(r"\d\d_[a-z_]+", path.stem)
    contents = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    chapters = [chapter for part in contents["parts"] for chapter in part["chapters"]]
    assert f"lectures/{path.stem}" in [chapter["file"] for chapter in chapters]
    assert lecture.cells[0].source.startswith("# ")
    assert len(re.findall(r"^# ", prose(lecture), re.MULTILINE)) == 1


# 1. The opening --------------------------------------------------------------------------------


def test_the_opening_asks_and_states_goals_minutes_and_prerequisites(lecture: NotebookNode):
    assert "?" in lecture.cells[0].source
    text = re.split(r"^## ", prose(lecture), maxsplit=1, flags=re.MULTILINE)[0]
    goals = re.search(r"(?:you can|you will|be able to)[^\n]*:?\n+((?:[-*] .*(?:\n|\Z))+)", text)
    assert goals is not None, "the opening lists no objectives"
    assert len(re.findall(r"^[-*] ", goals[1], re.MULTILINE)) >= 3
    assert re.search(r"\b\d+ (?:minutes|hours?)\b", text)
    assert re.search(r"\b(?:You need|You should know|Know first|Before you start)\b", text)


# 2. Something to play with ---------------------------------------------------------------------


def test_something_to_play_with_comes_before_any_derivation(lecture: NotebookNode):
    names = set(widgets.__all__) - {"Widget"}
    first = None
    for place, cell in enumerate(lecture.cells):
        if first is None and cell.cell_type == "code":
            shown = {name_called(call).rpartition(".")[2] for call in calls(cell)}
            first = place if shown & names else None
        derives = FORMULA.search(cell.source) or CLAIM.search(cell.source)
        if cell.cell_type == "markdown" and derives:
            assert first is not None, f"a derivation before any widget:\n{cell.source[:200]}"
            return
    pytest.fail("the lecture derives nothing")


# 3. Code of the library is imported ------------------------------------------------------------


@cache
def public_api() -> set[str]:
    """The functions and classes that the topic modules of course_lib define."""
    found = set()
    for module in pkgutil.walk_packages(course_lib.__path__, "course_lib."):
        if SERVICES.match(module.name):
            continue
        loaded = importlib.import_module(module.name)
        found |= {
            name
            for name, value in vars(loaded).items()
            if not name.startswith("_")
            and (inspect.isfunction(value) or inspect.isclass(value))
            and value.__module__ == loaded.__name__
        }
    return found


def test_a_lecture_imports_the_library_and_never_redefines_it(lecture: NotebookNode):
    """No function of the library is defined again, and no imported name is reassigned."""
    api, modules, imported = public_api(), set(), set()
    defined, assigned = set(), set()
    exercises = False
    for cell in lecture.cells:
        exercises = exercises or cell.source.startswith("## Exercises")
        if cell.cell_type != "code":
            continue
        for node in ast.walk(tree(cell)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("course_lib"):
                imported |= {alias.name for alias in node.names}
                modules.add(importlib.import_module(node.module))
            elif isinstance(node, ast.FunctionDef | ast.ClassDef) and not exercises:
                defined.add(node.name)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and not exercises:
                assigned.add(node.id)
    near = {name for name in api if any(hasattr(module, name) for module in modules)}
    redefined = defined & api | assigned & near
    assert not redefined, f"{', '.join(redefined)} belongs to course_lib; import it"
    assert imported & api, "the lecture uses nothing of course_lib"


def test_the_source_of_the_library_is_shown_in_the_page(lecture: NotebookNode):
    shown = [name_called(call) for cell in code_cells(lecture) for call in calls(cell)]
    assert {"figures.source", "source"} & set(shown)


# 4. Claims -------------------------------------------------------------------------------------


def test_every_claim_is_followed_by_a_cell_that_checks_it(lecture: NotebookNode):
    open_claim, checked = None, 0
    for cell in lecture.cells:
        if cell.cell_type == "markdown":
            found = CLAIM.findall(cell.source)
            assert len(found) <= 1, f"one claim a cell:\n{cell.source}"
            if found or re.search(r"^#+ ", cell.source, re.MULTILINE):
                assert open_claim is None, f"nothing checks this claim:\n{open_claim}"
            open_claim = cell.source if found else open_claim
        elif "claim" in tags(cell):
            assert open_claim is not None, f"this cell checks no stated claim:\n{cell.source}"
            open_claim, checked = None, checked + 1
    assert open_claim is None, f"nothing checks this claim:\n{open_claim}"
    assert checked >= 1


def test_every_claim_has_a_title_and_a_label_of_its_own(lecture: NotebookNode):
    opened = re.findall(r"^`{3,}\{prf:property\}.*\n.*", prose(lecture), re.MULTILINE)
    for block in opened:
        title, label = block.split("\n", 1)
        assert title.partition("}")[2].strip(), f"a claim without a title: {block}"
        assert re.fullmatch(r":label: prop-[\w-]+", label.strip()), f"no label: {block}"
    assert len(set(opened)) == len(opened)


def test_no_two_lectures_share_a_label():
    places = defaultdict(list)
    for path in LECTURES:
        for label in re.findall(
            r"^(?::label: *|\()([\w-]+)(?:\)=)?$", prose(nbformat.read(path, 4)), re.M
        ):
            places[label].append(path.stem)
    assert {label: stems for label, stems in places.items() if len(stems) > 1} == {}


# 5. The experiment -----------------------------------------------------------------------------


def test_a_lecture_sets_its_seed_before_it_draws_anything_random(lecture: NotebookNode):
    seeded = False
    for cell in code_cells(lecture):
        for call in sorted(calls(cell), key=lambda call: (call.lineno, call.col_offset)):
            name = name_called(call)
            seeded = (
                seeded
                or name in {"seed", "torch.manual_seed"}
                or (name.endswith("default_rng") and bool(call.args))
            )
            draws = DRAW.match(name)
            assert seeded or not draws, f"{name} is called before any seed is set"
    assert seeded
    legacy = re.compile(r"np\.random\.(?!default_rng|Generator)\w+")
    assert [cell.source for cell in code_cells(lecture) if legacy.search(cell.source)] == []


# 6. Exercises ----------------------------------------------------------------------------------


def test_there_are_three_exercises_or_more_each_with_a_folded_solution(lecture: NotebookNode):
    exercises = re.findall(EXERCISE, prose(lecture), re.MULTILINE)
    assert len(set(exercises)) == len(exercises) >= 3
    solution = r"^`{3,}\{solution(?:-start)?\} (\S+)\n((?::.*\n)*)"
    solutions = dict(re.findall(solution, prose(lecture), re.MULTILINE))
    assert set(solutions) == set(exercises)
    unfolded = [name for name, options in solutions.items() if ":class: dropdown" not in options]
    assert unfolded == []


def test_at_least_one_exercise_is_code_with_a_checker(lecture: NotebookNode):
    checked = [
        name_called(call)
        for cell in code_cells(lecture)
        for call in calls(cell)
        if name_called(call).startswith("check.")
    ]
    assert checked
    from course_lib.exercises import check

    assert [name for name in checked if not hasattr(check, name.removeprefix("check."))] == []


# 7. The end ------------------------------------------------------------------------------------


def test_the_end_says_in_three_sentences_what_to_remember_and_what_comes_next(
    lecture: NotebookNode,
):
    text = section(lecture, "What to remember")
    assert len(re.findall(r"[.!?](?=\s+[A-Z*$]|\s*\Z)", text)) == 3
    assert len(section(lecture, "(?:What comes next|Next)").split()) >= 10


def test_sources_are_entries_of_the_bibliography(lecture: NotebookNode):
    entries = (ROOT / "book" / "references.bib").read_text(encoding="utf-8")
    known = set(re.findall(r"^@\w+\{([^,\s]+),", entries, re.MULTILINE))
    cited = {key.strip() for keys in CITATION.findall(prose(lecture)) for key in keys.split(",")}
    assert cited - known == set()
    sources = section(lecture, "Sources")
    assert CITATION.search(sources)
    assert "{bibliography}" in sources
    assert not re.search(r"https?://", sources), "name a bibliography entry, not a bare link"
