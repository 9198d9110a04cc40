import html
import inspect
import re
from pathlib import Path

import pytest

from course_lib import attention, listings, mechanics, recurrent, symplectic
from course_lib.masked_language_model import MaskedLanguageModel
from course_lib.transformer_parts import KeyValueCache

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


@pytest.mark.parametrize(
    "piece",
    [
        attention.attention,
        attention.MultiHeadAttention,
        mechanics.stoermer_verlet,
        recurrent.RNN.forward,
        symplectic.SymplecticAttention,
        MaskedLanguageModel.forward,
        KeyValueCache.extend,
    ],
    ids=lambda piece: piece.__qualname__,
)
def test_the_source_found_in_the_text_is_what_python_finds(piece):
    piece = inspect.unwrap(piece)
    found = listings.source_of(Path(inspect.getsourcefile(piece)), piece.__qualname__)
    assert found == inspect.getsource(piece)


@pytest.mark.parametrize(
    ("name", "first", "last"),
    [
        ("chosen", "    def chosen", "        return x"),
        ("other", "    def other", "        return -x"),
        ("decorated", "@property", "    return x"),
        ("later", "async def", "        return deep"),
        ("Twice", "class Twice", "        return 2"),
    ],
)
def test_a_definition_is_found_wherever_it_stands(library, name, first, last):
    found = listings.source_of(library, name)
    assert found.startswith(first)
    assert found.endswith(f"{last}\n")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("gone", "library.py has no definitions of 'gone'"),
        ("chosen.inner", "no definitions of 'chosen.inner'"),
        ("Twice.same", "2 definitions of 'Twice.same'"),
        ("os", "no definitions of 'os'"),
    ],
)
def test_what_cannot_be_found_once_is_refused(library, name, message):
    with pytest.raises(ValueError, match=message):
        listings.source_of(library, name)


@pytest.mark.usefixtures("library")
def test_an_excerpt_is_the_lines_between_two_at_the_margin():
    page = listings.excerpt("library.py", "later", "deep =", "if deep")
    assert text_of(page) == 'deep = "</pre></div>"\nif deep:\n\n'


@pytest.mark.usefixtures("library")
def test_an_excerpt_from_a_line_that_is_gone_is_refused():
    with pytest.raises(ValueError, match="no line of 'later' begins with 'shallow' any more"):
        listings.excerpt("library.py", "later", "shallow", "if deep")
    with pytest.raises(ValueError, match="no line of 'later' begins with 'deep ='"):
        listings.excerpt("library.py", "later", "if deep", "deep =")


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


@pytest.mark.parametrize(
    "page",
    [
        lambda: listings.listing("library.py", "decorated"),
        lambda: listings.excerpt("library.py", "later", "deep =", "if deep"),
    ],
    ids=["listing", "excerpt"],
)
@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (Path.unlink, "there is no file library.py"),
        (lambda path: path.write_text("def ("), "library.py is no Python: "),
        (lambda path: path.write_text(""), "library.py has no definitions of"),
    ],
    ids=["gone", "broken", "empty"],
)
def test_a_listing_whose_source_is_gone_says_so_in_its_place(library, page, spoil, message):
    page = page()
    spoil(library)
    written, faults = bound(f"<p>before</p>{page}<p>after</p>")
    assert len(faults) == 1
    assert f"cannot be listed: {message}" in faults[0]
    assert faults[0][1:] in text_of(written)
    assert written.startswith('<p>before</p><div class="library-source"><p role="alert">')
    assert written.endswith("</p></div><p>after</p>")


def test_a_listing_that_bears_no_address_stays_as_it_is():
    page = '<div class="library-source"><div class="highlight"><pre>1</pre></div>\n</div>'
    assert bound(page) == (page, [])


DOCUMENTED = r'''
def long(x, *, y: int = 1):
    r"""Add $x < y$, as :func:`other` does with ``y``.

    $$x + y$$
    """

    def inner():
        """Inside."""
        return 1

''' + "".join(f"    x += {n}\n" for n in range(12))


def test_docstrings_are_prose_with_formulas_above_the_code(library):
    library.write_text(DOCUMENTED, encoding="utf-8")
    page = listings.listing("library.py", "long")
    prose, code = page.split("<details", 1)
    formula = '<span class="math notranslate nohighlight">'
    assert f"<p>Add {formula}\\(x &lt; y\\)</span>, as <code>other</code> does with" in prose
    assert '<div class="math notranslate nohighlight">\\[x + y\\]</div>' in prose
    assert "<p><code>inner</code>: Inside.</p>" in prose
    assert "Inside" not in code
    assert "$" not in code
    assert text_of(code).count("return 1") == 1


def test_long_code_is_folded_behind_the_names_that_it_takes(library):
    library.write_text(DOCUMENTED, encoding="utf-8")
    page = listings.listing("library.py", "long")
    assert '<summary><code class="first-line">def long(x, *, y=1)</code>' in page
    lines = text_of(page.partition("<pre>")[2]).strip().split("\n")
    assert f"{len(lines)} lines of code" in page
    assert len(lines) > listings.LONG
    short = "def short(x):\n" + "    x += 1\n" * 11
    library.write_text(short, encoding="utf-8")
    assert "<details" not in listings.listing("library.py", "short")


def test_a_folded_listing_is_listed_anew_and_what_follows_stays(library):
    library.write_text(DOCUMENTED, encoding="utf-8")
    page = f"{listings.listing('library.py', 'long')}<p>after</p>" * 2
    assert bound(page) == (page, [])
