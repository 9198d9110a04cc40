"""Widgets outside the book: in the HTML of nbconvert, and in slides."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from agreement import agrees_with_course_lib
from browser_fixtures import Folder, Watch
from course_site import LECTURES, ROOT
from gestures import Keyboard, operate_every_control, widgets
from playwright.sync_api import Page, expect
from small_widgets import make
from widget_page import bare_page

NBCONVERT = [sys.executable, "-m", "nbconvert", "--to", "html"]
SLIDES = [Path(sys.executable).with_name("jupyter-book"), "build", "-q", "-W", "--keep-going", "-n"]
SLIDES += ["--builder", "custom", "--custom-builder", "slides"]


def run(command: list) -> None:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_widget_is_alive_in_the_html_that_nbconvert_writes(
    open_page: Callable[..., Page], watch: Watch, tmp_path: Path
):
    path = tmp_path / "small.ipynb"
    cell = nbformat.v4.new_code_cell(
        "from course_lib.widgets import SoftLookup\n"
        'SoftLookup(["a", "b"], [[0.0, 0.6], [0.9, -0.5]], [1.0, 2.0], query=[-0.5, -0.5])',
    )
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    nbformat.write(nbformat.v4.new_notebook(cells=[cell], metadata=kernel), path)
    # Where a notebook holds widget state, nbconvert prefers a widget manager from a CDN to the
    # widget's own HTML; a setting in .venv, put there with the requirements, keeps it out.
    run([*NBCONVERT, "--execute", path])
    # nbconvert's template loads require.js and MathJax. The widget must work without them.
    watch.allowed.add("cdnjs.cloudflare.com")
    watch.expected_errors = ("net::ERR_NAME_NOT_RESOLVED",)
    page = open_page(path.with_suffix(".html").as_uri())
    [widget] = widgets(page)
    operate_every_control(widget, Keyboard(page))


LAID_OUT = {
    "flex row": "<div style='display: flex'>{}</div>",
    "grid": "<div style='display: grid; grid-template-columns: auto auto'>{}</div>",
    "table": "<table><tr><td>{}</td></tr></table>",
    "float": "<div style='float: left'>{}</div>",
    "inline block": "<div style='display: inline-block'>{}</div>",
    "right to left": "<div dir='rtl'>{}</div>",
}


@pytest.mark.parametrize("width", [390, 1280])
def test_a_figure_has_full_width_in_every_page_layout(
    open_page: Callable[..., Page], tmp_path: Path, width: int
):
    shown = make("SoftLookup").static_html()
    page = open_page(bare_page(tmp_path, below="".join(LAID_OUT.values()).format(*[shown] * 6)))
    page.set_viewport_size({"width": width, "height": 800})
    for layout, figure in zip(LAID_OUT, page.locator(".cw").all(), strict=True):
        assert min(0.9 * width, 600) < figure.bounding_box()["width"] < width, layout
        assert figure.evaluate("(el) => getComputedStyle(el).direction") == "ltr"


def test_a_figure_that_a_page_lets_run_no_code_says_why_in_one_sentence(
    open_page: Callable[..., Page], tmp_path: Path, watch: Watch
):
    policy = "script-src 'unsafe-inline'"
    forbid = f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    path = tmp_path / "strict.html"
    path.write_text(f"<!doctype html>{forbid}{make('SoftLookup').static_html()}", encoding="utf-8")
    page = open_page("about:blank")
    page.goto(path.as_uri())
    said = page.get_by_role("alert")
    expect(said).to_contain_text("could not start")
    assert len(said.text_content()) < 200
    watch.errors.clear()


@pytest.fixture(scope="module")
def slides(serve: Callable[[Path], Folder], site: Folder) -> Folder:
    run([*SLIDES, site.path.parents[1]])
    return serve(site.path.parent / "slides")


@pytest.mark.parametrize(("scheme", "lecture"), [("http", LECTURES[0]), ("file", LECTURES[-1])])
def test_every_widget_is_alive_in_the_slides(
    slides: Folder, open_page: Callable[..., Page], scheme: str, lecture: Path
):
    page = open_page(slides.url(f"{lecture.stem}.html", scheme=scheme), width=1280, height=800)
    for widget in widgets(page):
        go_to_slide_of(page, widget)
        assert widget.is_visible()
        agrees_with_course_lib(widget)


def go_to_slide_of(page: Page, widget: object) -> None:
    indices = widget.evaluate(
        """(el) => {
          const { h, v } = Reveal.getIndices(el.closest("section"));
          Reveal.slide(h, v);
          while (el.closest(".fragment:not(.visible)")) Reveal.nextFragment();
          return [h, v];
        }"""
    )
    page.wait_for_function(
        "([h, v]) => Reveal.getIndices().h === h && Reveal.getIndices().v === v", arg=indices
    )


def test_the_arrow_keys_belong_to_the_widget_and_not_to_the_slides(
    slides: Folder, open_page: Callable[..., Page]
):
    page = open_page(slides.url(f"{LECTURES[0].stem}.html"), width=1280, height=800)
    widget = widgets(page)[0]
    go_to_slide_of(page, widget)
    before = page.evaluate("() => JSON.stringify(Reveal.getIndices())")
    slider = widget.locator("input[type=range]:visible").first
    value = slider.input_value()
    Keyboard(page).slide(slider)
    assert slider.input_value() != value
    assert page.evaluate("() => JSON.stringify(Reveal.getIndices())") == before
