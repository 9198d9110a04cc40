"""Pages of the book and of the slides as they are written."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import pytest
import site_extension
from code_lines import with_hanging_lines
from docutils import nodes
from slides import SlidesBuilder, slides_html

from course_lib.support import listings
from course_lib.widgets import SoftLookup

LISTED = listings.listing("course_lib/attention.py", "causal_mask")


def figure():
    return SoftLookup(["Ada", "Ben"], [[0.0, 0.5], [1.0, -1.0]], [1.0, 2.0]).static_html()


def of_yesterday(page):
    """Outputs from before a change of the code of figures and listings."""
    page = re.sub(r'"code": "[^"]*"', '"code": "b2xk"', page)
    return page.replace("courseFigure=", "yesterday=").replace(">return</span>", ">yield</span>")


def of_an_older_format(page):
    return page.replace('"format":2', '"format":1')


@pytest.fixture(params=["page", "slides"])
def written(monkeypatch, tmp_path, request):
    """Writes a lecture as a page or as slides; ``warned`` has the warnings."""
    warned = []

    def warning(message, *values, location):
        warned.append(f"{location}: {message % values}")

    monkeypatch.setattr(site_extension.LOGGER, "warning", warning)

    def page(body):
        context = {"body": body}
        site_extension.mend_page(None, "lectures/01_a", "page.html", context, None)
        return context["body"]

    def presented(body):
        builder = object.__new__(SlidesBuilder)
        builder.app, builder.outdir = None, tmp_path
        builder.env = SimpleNamespace(titles={"lectures/01_a": nodes.title("", "A lecture")})
        builder.handle_page("lectures/01_a", {"body": f"{body}<!--end of a cell: slide-->"})
        return (tmp_path / "01_a.html").read_text(encoding="utf-8")

    write = {"page": page, "slides": presented}[request.param]
    return SimpleNamespace(write=write, warned=warned)


def codes(page):
    found = re.findall(r'<script type="application/json">([^<]*)</script>', page)
    return [json.loads(payload).get("code") for payload in found]


def test_a_lecture_gets_the_current_code(written):
    page = written.write(of_yesterday(figure() + figure() + LISTED))
    assert written.warned == []
    assert codes(page) == [*codes(figure()), None]
    assert page.count("courseFigure=") == 1
    assert with_hanging_lines(LISTED).rpartition('<div class="highlight">')[2] in page


def test_a_lecture_with_an_output_of_an_older_format_says_so_and_warns(written):
    page = written.write(of_an_older_format(figure()))
    assert 'role="alert"' in page
    [warning] = written.warned
    assert warning.startswith("lectures/01_a: the figure SoftLookup could not start: ")
    assert "the format 1, and this version reads 2" in warning


def test_slides_begin_where_cells_say_so():
    kinds = ["slide", "-", "skip", "notes", "subslide", "fragment", "-", "slide", "subslide"]
    cells = zip("abcdefg h", kinds, strict=True)
    assert slides_html(cells).split() == [
        "<section><section>ab<aside",
        'class="notes">d</aside></section><section>e<div',
        'class="fragment">fg</div></section></section>',
        "<section><section>h</section></section>",
    ]


def test_any_change_of_the_library_writes_pages_again(tmp_path):
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
    """The text of a page with collapsed white space, except in code and payloads."""

    def __init__(self, page):
        super().__init__()
        self.said, self.as_it_is = [], False
        self.feed(page)

    def handle_starttag(self, tag, _attrs):
        self.as_it_is = tag in ("pre", "script")

    def handle_data(self, data):
        self.said += [data] if self.as_it_is else data.split()


def test_a_page_is_minified_without_changing_its_text():
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
