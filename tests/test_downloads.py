"""What a reader takes along: notebooks without notes, and a wheel that pip understands."""

import base64
import hashlib
import json
import subprocess
import sys
import zipfile
from types import SimpleNamespace

import downloads
import pytest
from downloads import REPOSITORY

LECTURE = REPOSITORY / "lectures" / "01_soft_lookup.ipynb"
NOTES = {"slide_type": "notes"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return downloads.write_wheel(tmp_path_factory.mktemp("wheel"))


def test_the_record_of_the_wheel_names_each_file_with_its_digest(wheel):
    with zipfile.ZipFile(wheel) as archive:
        [record] = [name for name in archive.namelist() if name.endswith("/RECORD")]
        lines = [line.rsplit(",", 2) for line in archive.read(record).decode().splitlines()]
        assert sorted(name for name, _, _ in lines) == sorted(archive.namelist())
        for name, digest, size in lines:
            if name != record:
                data = archive.read(name)
                found = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=")
                assert digest == f"sha256={found.decode()}"
                assert int(size) == len(data)


def test_pip_installs_the_wheel_and_the_library_can_be_imported_from_there(wheel, tmp_path):
    pip = [sys.executable, "-m", "pip", "install", "--no-index", "--no-deps", "--target"]
    subprocess.run([*pip, tmp_path / "there", wheel], check=True, capture_output=True)
    code = "from course_lib.widgets.modules import module_source as it; print(it('soft_lookup.js'))"
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


@pytest.mark.parametrize(
    ("site", "says"),
    [
        ("", "./course_lib-0.1.0-py3-none-any.whl[lectures]"),
        ("https://a.example/", "https://a.example/_static/course_lib-0.1.0-py3-none-any.whl"),
    ],
)
def test_a_notebook_to_download_says_in_one_line_how_to_install_and_has_no_notes(site, says):
    notebook = json.loads(LECTURE.read_text(encoding="utf-8"))
    assert any(cell["metadata"].get("slideshow") == NOTES for cell in notebook["cells"])
    first, *cells = downloads.on_its_own(notebook, site)["cells"]
    [line] = first["source"]
    assert "%pip install" in line
    assert says in line
    assert cells == [
        cell for cell in notebook["cells"] if cell["metadata"].get("slideshow") != NOTES
    ]


@pytest.mark.parametrize("url", ["", "https://github.com/executablebooks/jupyter-book"])
def test_without_a_repository_no_button_runs_a_lecture_elsewhere(url):
    config = SimpleNamespace(html_theme_options={"repository_url": url})
    downloads.offer_places_to_run(None, config)
    assert "launch_buttons" not in config.html_theme_options


def test_with_a_repository_binder_colab_and_a_hub_that_is_named_have_buttons():
    hub = {"jupyterhub_url": "https://hub.example", "thebe": ""}
    options = {"repository_url": "https://github.com/a/course", "launch_buttons": hub}
    downloads.offer_places_to_run(None, SimpleNamespace(html_theme_options=options))
    assert options["launch_buttons"] == {
        "binderhub_url": "https://mybinder.org",
        "colab_url": "https://colab.research.google.com",
        "jupyterhub_url": "https://hub.example",
        "notebook_interface": "jupyterlab",
    }
