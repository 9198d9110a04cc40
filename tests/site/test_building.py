"""What a page of the book or of the slides becomes when it is written."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
import site_extension
import slides
from code_lines import with_hanging_lines

from course_lib.support import listings
from course_lib.widgets import SoftLookup

LISTED = listings.listing("course_lib/attention.py", "causal_mask")


def figure():
    return SoftLookup(["Ada", "Ben"], [[0.0, 0.5], [1.0, -1.0]], [1.0, 2.0]).static_html()


def of_yesterday(page):
    """Outputs as they were before the code of figures and listings changed."""
    page = re.sub(r'"code": "[^"]*"', '"code": "b2xk"', page)
    return page.replace("courseFigure=", "yesterday=").replace(">return</span>", ">yield</span>")


def of_an_older_format(page):
    return page.replace('"format":2', '"format":1')


@pytest.fixture
def written(monkeypatch):
    """Writes a page as the book does; what Sphinx would warn of is in ``warned``."""
    warned = []

    def warning(message, *values, location):
        warned.append(f"{location}: {message % values}")

    monkeypatch.setattr(site_extension.LOGGER, "warning", warning)

    def write(body):
        context = {"body": body}
        site_extension.mend_page(None, "lectures/01", "page.html", context, None)
        return context["body"]

    write.warned = warned
    return write


@pytest.fixture
def presented(monkeypatch, tmp_path):
    """Writes slides of a lecture whose one output is given; its text."""
    monkeypatch.setattr(slides, "copy_assets", lambda output: output.mkdir())

    def present(body):
        output = nbformat.v4.new_output("display_data", {"text/html": body})
        cells = [
            nbformat.v4.new_markdown_cell("# A lecture"),
            nbformat.v4.new_code_cell("figure()", outputs=[output]),
        ]
        lectures = tmp_path / "lectures"
        lectures.mkdir()
        nbformat.write(nbformat.v4.new_notebook(cells=cells), lectures / "01_a.ipynb")
        monkeypatch.setattr(slides, "executed", lambda path, _cache: nbformat.read(path, 4))
        slides.write_slides(lectures, tmp_path / "cache", tmp_path / "slides")
        return (tmp_path / "slides" / "01_a.html").read_text(encoding="utf-8")

    return present


def codes(page):
    found = re.findall(r'<script type="application/json">([^<]*)</script>', page)
    return [json.loads(payload).get("code") for payload in found]


def test_a_page_of_the_book_gets_the_code_of_today(written):
    page = written(of_yesterday(figure() + figure() + LISTED))
    assert written.warned == []
    assert codes(page) == [*codes(figure()), None]
    assert page.count("courseFigure=") == 1
    assert with_hanging_lines(LISTED).rpartition('<div class="highlight">')[2] in page


def test_slides_get_the_code_of_today(presented):
    page = presented(of_yesterday(figure() + figure() + LISTED))
    assert codes(page) == [*codes(figure()), None]
    assert page.count("courseFigure=") == 1
    assert LISTED in page


def test_a_page_with_an_output_of_an_older_format_says_so_and_warns(written):
    page = written(of_an_older_format(figure()))
    assert 'role="alert"' in page
    [warning] = written.warned
    assert warning.startswith("lectures/01: the figure SoftLookup could not start: ")
    assert "the format 1, and this version reads 2" in warning


def test_slides_with_an_output_of_an_older_format_are_refused(presented):
    with pytest.raises(
        SystemExit, match=r"01_a: the figure SoftLookup could not start: .*format 1"
    ):
        presented(of_an_older_format(figure()))


def test_what_pages_are_written_with_counts_every_letter_of_the_library(tmp_path):
    (tmp_path / "course_lib").mkdir()
    script = tmp_path / "course_lib" / "soft_lookup.js"
    found = set()
    for text in ("1", "1;", "1; // one"):
        script.write_text(text)
        found.add(site_extension.everything(tmp_path, "course_lib"))
    script.rename(Path(script.parent, "other.js"))
    found.add(site_extension.everything(tmp_path, "course_lib"))
    assert len(found) == 4


class Words(HTMLParser):
    """What a page says, its runs of white space as one, but as they are in code and payloads."""

    def __init__(self, page):
        super().__init__()
        self.said, self.as_it_is = [], False
        self.feed(page)

    def handle_starttag(self, tag, _attrs):
        self.as_it_is = tag in ("pre", "script")

    def handle_data(self, data):
        self.said += [data] if self.as_it_is else data.split()


def test_a_page_is_written_small_and_says_what_it_said():
    page = f"""<!doctype html><html lang="en"><head><title>One</title></head>
    <body>
      <p class="a">Two   <b>three</b> <i>four</i> \\(a &lt; b\\)</p>

      <pre>if a:
    <span>five</span></pre>
      {figure()}
    </body></html>"""
    templates = SimpleNamespace(render=lambda template, _context: {"page": page}[template])
    builder = SimpleNamespace(format="html", templates=templates)
    site_extension.write_small(SimpleNamespace(builder=builder))
    small = builder.templates.render("page", {})
    assert len(small) < len(page) - 80
    said = Words(small).said
    assert said[:7] == ["One", "Two", "three", "four", "\\(a", "<", "b\\)"]
    assert "if a:\n    " in said
    assert json.loads(next(it for it in said if it.startswith("{"))) == json.loads(
        next(it for it in Words(page).said if it.startswith("{"))
    )
