"""A lecture's number and minutes, the links between lectures, the captions of figures."""

import re

import nbformat
import pytest
from captions import caption_of, with_captions
from code_lines import with_hanging_lines
from course_map import Lecture, lectures, linked, plan, with_minutes

from course_lib.support import figures
from course_lib.widgets import LiveFigure, Prediction, SoftLookup


@pytest.fixture
def book(tmp_path):
    folder = tmp_path / "lectures"
    folder.mkdir()
    (folder / "04_recurrence.md").write_text("It takes about 80 minutes.", encoding="utf-8")
    (folder / "15_gpu.ipynb").write_text("...", encoding="utf-8")
    return tmp_path


def address(number):
    return {"4": "four.html", "5": "five.html"}.get(number)


def links(text):
    return [(node.astext(), node["refuri"]) for node in linked(text, address) if node.children]


def test_number_and_minutes_of_a_lecture_are_found(book):
    assert lectures(book) == {
        4: Lecture(4, "lectures/04_recurrence", 80),
        15: Lecture(15, "lectures/15_gpu", 0),
    }


def test_the_first_page_lists_lectures_that_have_a_question(book):
    (book / "_toc.yml").write_text(
        "parts: [{caption: One, chapters: [{file: lectures/04_a}, {file: lectures/05_b}]},"
        " {caption: Reference, chapters: [{file: book/notation}]}]",
        encoding="utf-8",
    )
    for name, metadata in {"04_a": {"question": "Why?"}, "05_b": {}}.items():
        notebook = nbformat.v4.new_notebook(metadata=metadata)
        nbformat.write(notebook, book / "lectures" / f"{name}.ipynb")
    assert plan(book) == "### One\n\n4 · {doc}`/lectures/04_a`\n: Why?\n"


def test_a_mention_of_a_lecture_is_a_link_where_there_is_one():
    for text, found in {
        "as lecture 4 says": [("lecture 4", "four.html")],
        "Lecture 5.": [("Lecture 5", "five.html")],
        "lectures 3, 4 and 5": [("4", "four.html"), ("5", "five.html")],
        "lecture 40, lecture IV, a lecturer, 4": [],
    }.items():
        assert links(text) == found
        assert "".join(node.astext() for node in linked(text, address)) == text


def test_the_menu_shows_the_minutes(book):
    menu = '<a class="reference internal" href="#">4 · Recurrence</a><a href="x">Notation</a>'
    written = with_minutes(menu, lectures(book))
    assert 'data-lecture="4">4 · Recurrence <span class="minutes">80 min</span></a>' in written
    assert written.endswith('<a href="x">Notation</a>')


def test_a_caption_is_the_first_words_of_a_description():
    for description, caption in {
        "The loss: 1, 2, 3. Then more.": "The loss.",
        "Errors &lt; 1 of two rods. More.": "Errors &lt; 1 of two rods.",
        "Left: one. Right: two.": "",
    }.items():
        assert caption_of(description) == caption


def test_figures_are_numbered_and_their_letters_can_be_read(monkeypatch):
    shown = []
    monkeypatch.setattr(figures, "display", lambda piece: shown.append(piece.data))
    for words in ("A curve.", "Left: nothing."):
        figures.show(figures.new(width=7.0)[0], alt=words)
    question = Prediction.place("How much?", truth=1, between=(0, 2), answer="One.")
    lookup = SoftLookup(["a", "b"], [[0, 0], [1, 1]], [0, 1])
    live = [it.static_html() for it in (question, lookup, LiveFigure("root-d"))]
    page = with_captions("".join([shown[0], *live, shown[1]]), 7)
    assert "<figcaption><b>Figure 7.1</b> A curve.</figcaption>" in page
    assert re.findall('<p class="figcaption"><b>(.*?)</b> (.*?)</p>', page) == [
        ("Figure 7.2", "Soft lookup: drag the query among the keys."),
        ("Figure 7.3", "Why divide by √d?"),
    ]
    assert "<figcaption><b>Figure 7.4</b></figcaption>" in page
    # Its ticks have 12 points at 504 points of width.
    assert page.count("max-width:504pt;min-width:420px") == 2
    assert page.count('role="img"') == 2


def test_an_exponent_of_a_figure_can_be_read_and_its_letters_stay_apart(monkeypatch):
    shown = []
    monkeypatch.setattr(figures, "display", lambda piece: shown.append(piece.data))
    figure, ax = figures.new(width=7.0)
    ax.loglog([1e-10, 1e-3], [1, 2])
    figures.show(figure, alt="A curve.")
    page = with_captions(shown[0], 7)
    # An exponent has 10.2 points beside letters of 12, so the drawing has 504 / 1.02 pixels.
    assert "max-width:504pt;min-width:495px" in page
    assert "font-size: 8.4px" in shown[0]
    assert "font-size: 8.4px" not in page

    def places(text):
        [label] = [it for it in re.findall("<text>.*?</text>", text, re.DOTALL) if ">9<" in it]
        return [float(x) for x in re.findall(r'tspan x="([-\d.]+)"', label)]

    before, after = places(shown[0]), places(page)
    gaps = [
        (b - a, d - c) for a, b, c, d in zip(before, before[1:], after, after[1:], strict=False)
    ]
    assert all(new == pytest.approx(old, abs=0.01) for old, new in gaps[:2])
    assert all(new == pytest.approx(old * 0.85 / 0.7, abs=0.01) for old, new in gaps[2:])
    assert (after[0] + after[-1]) / 2 == pytest.approx((before[0] + before[-1]) / 2, abs=0.01)


def test_a_long_line_of_code_has_a_hanging_indent_and_the_same_text():
    short, long = "<span>x</span> = 1\n", f"    <span>y</span> = {'z' * 40}\n"
    page = f"<pre><span></span><code>{short}{long}</code></pre><pre>{long}</pre>"
    written = with_hanging_lines(page)
    line = f'<span class="line" style="--indent:4">{long}</span>'
    assert written == page.replace(f"{short}{long}", f"{short}{line}", 1)
    assert re.sub("<[^>]*>", "", written) == re.sub("<[^>]*>", "", page)
