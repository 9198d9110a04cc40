import html
import inspect
import re
from pathlib import Path

import pytest

from course_lib import attention, mechanics, recurrent, symplectic
from course_lib.generation import KeyValueCache
from course_lib.support import listings

LIBRARY = '''"""A library."""

import os

if os.name:

    def chosen(x):
        # of two
        return x

else:

    def other(x):
        return -x


@property
def decorated(x):
    """First."""
    return x


class Twice:
    def same(self):
        return 1

    def same(self):
        return 2


async def later():
    deep = "</pre></div>"
    if deep:
        return deep
'''


@pytest.fixture
def library(tmp_path, monkeypatch):
    monkeypatch.setattr(listings, "REPOSITORY", tmp_path)
    path = tmp_path / "library.py"
    path.write_text(LIBRARY, encoding="utf-8")
    return path


def text_of(page):
    return html.unescape(re.sub(r"<[^>]+>", "", page))


def bound(page):
    faults = []
    return listings.with_current_source(page, faults.append), faults


def test_the_source_found_in_the_text_is_what_python_finds():
    for piece in (
        attention.attention,
        mechanics.stoermer_verlet,
        recurrent.RNN.forward,
        symplectic.SymplecticAttention,
        KeyValueCache.extend,
    ):
        unwrapped = inspect.unwrap(piece)
        path = Path(inspect.getsourcefile(unwrapped))
        source = inspect.getsource(unwrapped)
        hidden = re.sub(r"^ *@checked.*\n", "", source, flags=re.MULTILINE)
        assert listings.source_of(path, piece.__qualname__) == hidden


def test_a_definition_is_found_wherever_it_stands_and_refused_if_there_is_not_just_one(library):
    for name, first, last in (
        ("chosen", "    def chosen", "        return x"),
        ("other", "    def other", "        return -x"),
        ("decorated", "@property", "    return x"),
        ("later", "async def", "        return deep"),
        ("Twice", "class Twice", "        return 2"),
    ):
        found = listings.source_of(library, name)
        assert found.startswith(first)
        assert found.endswith(f"{last}\n")
    for name, message in {
        "gone": "library.py has no definitions of 'gone'",
        "chosen.inner": "no definitions of 'chosen.inner'",
        "Twice.same": "2 definitions of 'Twice.same'",
    }.items():
        with pytest.raises(ValueError, match=message):
            listings.source_of(library, name)


def test_a_listing_shows_the_comments_and_docstrings_of_the_day_the_page_is_written(library):
    page = "<p>before</p>".join(
        [
            listings.listing("library.py", "decorated"),
            listings.excerpt("library.py", "later", "deep =", "if deep"),
            listings.listing("library.py", "chosen"),
        ]
    )
    assert bound(page) == (page, [])
    today = LIBRARY.replace("First.", "Second.").replace("# of two", "# of <b>three</b>")
    library.write_text(today.replace("if deep:", "if deep:  # down"), encoding="utf-8")
    written, faults = bound(page)
    assert faults == []
    assert "<b>" not in written
    assert text_of(written) == text_of(page).replace("First.", "Second.").replace(
        "# of two", "# of <b>three</b>"
    ).replace("if deep:", "if deep:  # down")


def test_a_listing_whose_source_is_gone_says_so_in_its_place(library):
    listed = listings.listing("library.py", "decorated")
    for source, message in {
        None: "there is no file library.py",
        "def (": "library.py is no Python: ",
        "": "library.py has no definitions of",
    }.items():
        library.unlink(missing_ok=True)
        if source is not None:
            library.write_text(source, encoding="utf-8")
        written, [fault] = bound(f"<p>before</p>{listed}<p>after</p>")
        assert f"cannot be listed: {message}" in fault
        assert fault[1:] in text_of(written)
        assert written.startswith('<p>before</p><div class="library-source"><p role="alert">')
        assert written.endswith("</p></div><p>after</p>")


DOCUMENTED = r'''
def long(x, *, y: int = 1):
    r"""Add $x < y$, as :func:`other` does with ``y``.

    $$x + y$$
    """

    def inner():
        """Inside."""
        return 1

''' + "".join(f"    x += {n}\n" for n in range(12))


def test_a_docstring_begins_above_the_code_and_long_code_is_folded_with_its_notes(library):
    library.write_text(DOCUMENTED, encoding="utf-8")
    page = listings.listing("library.py", "long")
    prose, code = page.split("<details", 1)
    formula = '<span class="math notranslate nohighlight">'
    assert f"<p>Add {formula}\\(x &lt; y\\)</span>, as <code>other</code> does with" in prose
    assert '<div class="math notranslate nohighlight">\\[x + y\\]</div>' in prose
    notes, code = code.split("<pre>")
    assert "<p><code>inner</code>: Inside.</p>" in notes
    assert "Inside" not in code
    assert "$" not in code
    assert '<summary><code class="first-line">def long(x, *, y=1)</code>' in page
    lines = text_of(code).strip().split("\n")
    assert f"{len(lines)} lines of code" in notes
    library.write_text("def short(x):\n" + "    x += 1\n" * 11, encoding="utf-8")
    assert "<details" not in listings.listing("library.py", "short")
