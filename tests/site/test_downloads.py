"""Downloads: notebooks without notes, and a wheel for pip."""

import ast
import json
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import downloads
import pytest
from depends_on import Code
from downloads import REPOSITORY
from IPython.core.inputtransformer2 import TransformerManager

pytestmark = pytest.mark.slow

LECTURE = REPOSITORY / "lectures" / "01_soft_lookup.ipynb"
NOTES = {"slide_type": "notes"}
LECTURES = sorted((REPOSITORY / "lectures").glob("*.ipynb"))
LIBRARY = "\n".join(
    path.read_text(encoding="utf-8") for path in (REPOSITORY / "course_lib").rglob("*.py")
)
FILE = re.compile(r"[\w/-]+\.(?:csv|json|npz|svg|txt)")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return downloads.write_wheel(tmp_path_factory.mktemp("wheel"))


def test_pip_installs_the_wheel_and_the_library_can_be_imported_from_there(wheel, tmp_path):
    pip = [sys.executable, "-m", "pip", "install", "--no-index", "--no-deps", "--target"]
    subprocess.run([*pip, tmp_path / "there", wheel], check=True, capture_output=True)
    code = (
        "from course_lib.widgets.kit.modules import module_source; "
        "print(module_source('soft_lookup/soft_lookup.js'))"
    )
    run = [sys.executable, "-c", code]
    done = subprocess.run(
        run,
        check=True,
        env={"PYTHONPATH": str(tmp_path / "there")},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert "export" in done.stdout


def test_a_downloaded_notebook_has_one_line_to_install_and_no_notes():
    notebook = json.loads(LECTURE.read_text(encoding="utf-8"))
    without = [cell for cell in notebook["cells"] if cell["metadata"].get("slideshow") != NOTES]
    assert len(without) < len(notebook["cells"])
    for site, says in {
        "": "./course_lib-0.1.0-py3-none-any.whl[lectures]",
        "https://a.example/": "https://a.example/_static/course_lib-0.1.0-py3-none-any.whl",
    }.items():
        first, *cells = downloads.on_its_own(notebook, site)["cells"]
        [line] = first["source"]
        assert "%pip install" in line
        assert says in line
        assert cells == without


def test_numbers_in_the_prose_of_a_download_are_filled_in():
    prose = {
        "cell_type": "markdown",
        "source": ["It keeps {glue:text}`first` of {glue:text}`b`.\n"],
    }
    code = {"cell_type": "code", "source": ["'{glue:text}`first`'"]}
    taken = downloads.with_numbers({"cells": [prose, code]}, {"first": "3.2\xa0%", "b": "9"})
    assert taken["cells"] == [prose | {"source": ["It keeps 3.2\xa0% of 9.\n"]}, code]


def test_with_a_repository_binder_colab_and_a_hub_that_is_named_have_buttons():
    hub = {"jupyterhub_url": "https://hub.example", "thebe": ""}
    options = {"repository_url": "https://github.com/a/course", "launch_buttons": hub}
    downloads.offer_places_to_run(None, SimpleNamespace(html_theme_options=options))
    assert options["use_issues_button"]
    assert options["launch_buttons"] == {
        "binderhub_url": "https://mybinder.org",
        "colab_url": "https://colab.research.google.com",
        "jupyterhub_url": "https://hub.example",
        "notebook_interface": "jupyterlab",
    }
    config = SimpleNamespace(html_theme_options={"repository_url": ""})
    downloads.offer_places_to_run(None, config)
    assert "launch_buttons" not in config.html_theme_options


def code_of(lecture: Path) -> str:
    cells = json.loads(lecture.read_text(encoding="utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    return "\n".join(TransformerManager().transform_cell(cell) for cell in code)


def plain(name: str) -> str:
    return re.split(r"[^\w.-]", name)[0].lower().replace("_", "-")


@pytest.fixture(scope="module")
def installed() -> set[str]:
    """The packages that pip installs with the wheel and its extra for lectures."""
    given = downloads.project()
    todo = [*given["dependencies"], *given["optional-dependencies"]["lectures"]]
    found = {plain(given["name"])}
    while todo:
        name = plain(todo.pop())
        if name not in found:
            found.add(name)
            try:
                needs = metadata.requires(name) or []
            except metadata.PackageNotFoundError:
                continue  # for another system or another Python
            todo += [needed for needed in needs if "extra ==" not in needed]
    sources = metadata.packages_distributions()
    return {
        module for module, names in sources.items() if {plain(name) for name in names} & found
    } | {given["name"], *sys.stdlib_module_names}


def test_what_lectures_and_the_library_import_is_installed_with_the_wheel(installed):
    for text in [*map(code_of, LECTURES), LIBRARY]:
        imported = {it.module.partition(".")[0] for it in Code(text).imports}
        assert imported - installed - {""} == set()


def paths_in(text: str) -> Iterator[str]:
    """Files that a lecture names; paths from the folder of the library start with a slash."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and FILE.fullmatch(str(node.value)):
            yield node.value
        place, parts = node, []
        while isinstance(place, ast.BinOp) and isinstance(place.op, ast.Div):
            parts.insert(0, str(getattr(place.right, "value", "")))
            place = place.left
        if parts and getattr(place, "attr", "") == "REPOSITORY":
            yield "/" + "/".join(parts)


def missing(wheel: Path, text: str) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        names = [f"/{name}" for name in archive.namelist()]
    return {
        path
        for path in paths_in(text)
        if not any(it.startswith(path) or it.endswith(f"/{path}") for it in names)
    }


def test_each_file_that_a_lecture_names_is_in_the_wheel(wheel):
    assert [missing(wheel, code_of(lecture)) for lecture in LECTURES] == [set()] * len(LECTURES)
    code = 'figures.REPOSITORY / "benchmarks" / "results"\nfiles("course_lib") / "data/no.json"'
    assert missing(wheel, code) == {"/benchmarks", "/benchmarks/results", "data/no.json"}
