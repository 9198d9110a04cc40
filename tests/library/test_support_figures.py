import re

import numpy as np
import pytest

from course_lib.attention import attention_weights
from course_lib.support import figures
from course_lib.support.evidence import Evidence


def displayed_html(monkeypatch, show):
    shown = []
    monkeypatch.setattr(figures, "display", lambda piece: shown.append(piece.data))
    show()
    return "".join(shown)


def test_a_figure_takes_its_ink_from_the_page():
    figure, axes = figures.new()
    axes.plot([0, 1], [0, 1], label="loss")
    axes.set(xlabel="lag (tokens)", ylabel="weight")
    axes.text(0.5, 0.5, "here")
    axes.legend()
    drawing = figures.svg(figure)
    assert figures.INK not in drawing
    assert "#000000" not in drawing
    for words in ("lag \\(tokens\\)", "loss", "here"):
        assert re.search(rf"<text [^>]*currentColor[^>]*>{words}</text>", drawing)
    assert "#ffffff" not in drawing


def test_the_same_figure_is_written_the_same_way_twice():
    def draw():
        figure, axes = figures.new(2)
        axes[0].plot([0, 1, 2], [0, 1, 4])
        figures.heatmap(axes[1], np.eye(3))
        return figures.svg(figure)

    assert draw() == draw()


def test_a_figure_fits_a_narrow_screen():
    opening = re.match(r"<svg [^>]*>", figures.svg(figures.new(width=9.0)[0]))[0]
    assert "width:100%" in opening
    assert "max-width:648pt" in opening
    assert "aspect-ratio:648/230.4" in opening
    assert 'width="' not in opening


def test_places_are_rounded_and_printed_numbers_are_not():
    figure, axes = figures.new()
    axes.plot(np.linspace(0, 1, 50), np.sin(np.linspace(0, 7, 50)))
    axes.set_title("g = 9.80665")
    drawing = figures.svg(figure)
    paths = re.findall(r' d="([^"]*)"', drawing)
    assert paths
    assert not any(re.search(r"\.\d{3}", path) for path in paths)
    assert "g = 9.80665" in drawing


def test_show_carries_the_escaped_alt_text(monkeypatch):
    figure, _ = figures.new()
    page = displayed_html(monkeypatch, lambda: figures.show(figure, alt='a "<b>" curve'))
    assert 'aria-label="a &quot;&lt;b&gt;&quot; curve"' in page


def test_show_says_whether_axes_stand_side_by_side(monkeypatch):
    for rows, columns, arrangement in ((2, 1, "single"), (2, 3, "side-by-side")):
        figure, _ = figures.new(columns, rows)
        page = displayed_html(monkeypatch, lambda: figures.show(figure, alt="nothing yet"))  # noqa: B023
        assert page.startswith(f'<figure class="{arrangement}" ')


def test_a_figure_without_alt_text_and_a_heatmap_of_no_matrix_are_refused():
    figure, axes = figures.new()
    with pytest.raises(ValueError, match="say in a sentence"):
        figures.show(figure, alt="  ")
    with pytest.raises(ValueError, match=r"\(row, column\).*\(3,\)"):
        figures.heatmap(axes, [1.0, 2.0, 3.0])


def test_source_shows_the_library_and_names_the_file(monkeypatch):
    page = displayed_html(monkeypatch, lambda: figures.source(attention_weights))
    assert "course_lib/attention.py" in page
    text = re.sub(r"<[^>]+>", "", page)
    assert "def attention_weights(" in text
    assert "wrapped_fn" not in text


def test_numbers_appear_in_the_prose_as_formatted(monkeypatch):
    glued = {}
    monkeypatch.setattr(figures, "glue", lambda name, text, **_: glued.update({name: text}))
    found = {"share": 0.874, "loss": -1.25, "count": 12_000, "word": "well-known", "five": [1, 3]}
    figures.say(found, ".0%", "share")
    figures.say(found, ".1f", "loss")
    figures.say(found, ",d", "count")
    figures.say({"word": found["word"]}, "")
    figures.say(found, "±.1f", "five")
    assert glued.pop("five") == "2.0 ±\N{NO-BREAK SPACE}1.4"
    figures.say(found, ".1f", "five")
    assert glued.pop("five") == "2.0"
    assert glued == {
        "share": "87\N{NO-BREAK SPACE}%",
        "loss": "−1.2",
        "count": "12,000",
        "word": "well-known",
    }
    with pytest.raises(ValueError, match=r"'lost'.*'share'"):
        figures.say(found, ".0f", "lost")


def test_a_fold_says_how_numbers_came_about(monkeypatch):
    page = displayed_html(
        monkeypatch, lambda: figures.how_we_know(Evidence("04_recurrence"), "tagging")
    )
    assert "python scripts/evidence/04_recurrence.py tagging" in page
    assert "2 cases" in page
    assert "def tagging(" in re.sub(r"<[^>]+>", "", page)
