"""Downloads: each lecture as a notebook that runs on its own, and the library.

The first cell of a downloaded notebook says how to install the library. Numbers in its prose are
filled in, since a notebook alone does not know the role ``glue``; speaker notes are left out. The
library is a wheel.
"""

import ast
import json
import re
import tomllib
from pathlib import Path
from typing import Any

from flit_core.wheel import WheelBuilder
from sphinx.application import Sphinx
from sphinx.config import Config

from course_lib.support.listings import REPOSITORY

EPOCH = (1980, 1, 1, 0, 0, 0)
"""The date of all files in the wheel, so that equal files give equal bytes."""


GLUED = re.compile(r"\{glue:text\}`([^`]+)`")
"""A number in prose that a cell computes."""

NO_REPOSITORY = {"", "https://github.com/executablebooks/jupyter-book"}
"""The repository that Jupyter Book assumes for a book that names none."""

PLACES_TO_RUN = {
    "binderhub_url": "https://mybinder.org",
    "colab_url": "https://colab.research.google.com",
}


def project() -> dict[str, Any]:
    """The metadata of the library in pyproject.toml."""
    return tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def wheel_name() -> str:
    """The file name of the library's wheel."""
    given = project()
    return f"{given['name']}-{given['version']}-py3-none-any.whl"


def write_wheel(folder: Path) -> Path:
    """Write the library as a wheel into a folder."""
    wheel = folder / wheel_name()
    with wheel.open("wb") as file:
        builder = WheelBuilder.from_ini_path(REPOSITORY / "pyproject.toml", file)
        builder.source_time_stamp = EPOCH
        builder.build()
    return wheel


def without_notes(notebook: dict[str, Any]) -> dict[str, Any]:
    """A notebook without speaker notes."""
    cells = [
        cell
        for cell in notebook["cells"]
        if cell["cell_type"] != "markdown"
        or cell["metadata"].get("slideshow", {}).get("slide_type") != "notes"
    ]
    return notebook | {"cells": cells}


def with_numbers(notebook: dict[str, Any], numbers: dict[str, str]) -> dict[str, Any]:
    """A notebook whose prose has its numbers, by name, instead of roles that stand for them."""

    def filled(cell: dict[str, Any]) -> dict[str, Any]:
        lines = [GLUED.sub(lambda role: numbers[role[1]], line) for line in cell["source"]]
        return cell | {"source": lines}

    cells = [
        filled(cell) if cell["cell_type"] == "markdown" else cell for cell in notebook["cells"]
    ]
    return notebook | {"cells": cells}


def numbers_of(app: Sphinx, docname: str) -> dict[str, str]:
    """The numbers that the prose of a page names, as the book shows them."""
    kept = Path(app.outdir).parent / "jupyter_execute" / f"{docname}.glue.json"
    glued = json.loads(kept.read_text(encoding="utf-8"))
    return {name: ast.literal_eval(one["data"]["text/plain"]) for name, one in glued.items()}


def on_its_own(notebook: dict[str, Any], site: str) -> dict[str, Any]:
    """A notebook for download: no notes, and a first cell that says how to install the library.

    ``site`` is the address of the book; if it is empty, the wheel is beside the notebook.
    """
    place = f"{site.rstrip('/')}/_static/{wheel_name()}" if site else f"./{wheel_name()}"
    library = f'"course_lib[lectures] @ {place}"' if site else f'"{place}[lectures]"'
    saved = "" if site else "save the library from the menu in which you found it, "
    source = (
        f"To run this notebook on its own, {saved}install the library of the course, then reload "
        f"the page: `%pip install {library} jupyterlab_myst`."
    )
    first = {"cell_type": "markdown", "id": "install", "metadata": {}, "source": [source]}
    kept = without_notes(notebook)
    return kept | {"cells": [first, *kept["cells"]]}


def offer_library(
    app: Sphinx, pagename: str, _template: str, context: dict[str, Any], _doctree: object
) -> None:
    """Put the library into the download menu of each lecture."""
    if not app.env.doc2path(pagename).endswith(".ipynb"):
        return
    for group in context.get("header_buttons", []):
        if group.get("label") == "download-buttons":
            button = {
                "type": "link",
                "url": context["pathto"](f"_static/{wheel_name()}", 1),
                "text": ".whl",
                "tooltip": "The library that the notebook needs",
                "icon": "fas fa-cube",
                "label": "download-library-button",
            }
            group["buttons"].insert(1, button)


def write_downloads(app: Sphinx, fault: Exception | None) -> None:
    """Write the wheel and the notebooks for download."""
    if fault is not None or app.builder.name != "html":
        return
    folder = Path(app.outdir)
    write_wheel(folder / "_static")
    for copy in (folder / "_sources" / "lectures").glob("*.ipynb"):
        source = Path(app.srcdir) / "lectures" / copy.name
        if source.is_file():
            notebook = json.loads(source.read_text(encoding="utf-8"))
            numbers = numbers_of(app, f"lectures/{source.stem}")
            taken = on_its_own(with_numbers(notebook, numbers), app.config.html_baseurl)
            copy.write_text(json.dumps(taken, ensure_ascii=False, indent=1), encoding="utf-8")


def offer_places_to_run(_app: Sphinx, config: Config) -> None:
    """Add buttons to run and to report if the configuration names a repository."""
    options = config.html_theme_options
    if options.get("repository_url", "") not in NO_REPOSITORY:
        named = {name: url for name, url in options.get("launch_buttons", {}).items() if url}
        options["launch_buttons"] = PLACES_TO_RUN | named | {"notebook_interface": "jupyterlab"}
        options["use_issues_button"] = True


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx, after the theme has made its menu."""
    app.connect("config-inited", offer_places_to_run)
    app.connect("html-page-context", offer_library, priority=902)
    app.connect("build-finished", write_downloads)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
