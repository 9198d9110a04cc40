import base64
import json
import zlib
from html.parser import HTMLParser

import numpy as np
import pytest
import torch
import traitlets

from course_lib.widgets import SoftLookup, traits
from course_lib.widgets.base import Widget
from course_lib.widgets.modules import module_source, stylesheet
from course_lib.widgets.traits import Array

# Widgets check what they are given themselves, and their messages are what is tested here.
pytestmark = pytest.mark.usefixtures("plain_calls")

HOSTILE = "</script><img src=x onerror=alert(1)><!-- ]]>"


class Counter(Widget):
    """The smallest widget: one of each kind of trait."""

    _module = "soft_lookup.js"

    count = traitlets.Int(3).tag(sync=True)
    label = traitlets.Unicode("steps").tag(sync=True)
    table = Array()
    _hidden = traitlets.Int(7).tag(sync=True)
    only_in_python = traitlets.Int(5)

    def describe(self) -> str:
        return f"A counter of {self.label}."


@pytest.fixture
def counter():
    return Counter(table=np.eye(2, dtype=np.float32))


def soft_lookup(**changes):
    """A small valid SoftLookup, but for the arguments that the test changes."""
    arguments = {
        "names": ["Ada", "Ben"],
        "keys": [[0.0, 0.5], [1.0, -1.0]],
        "values": [1.0, 2.0],
    }
    return SoftLookup(**arguments | changes)


class Page(HTMLParser):
    """What a browser's parser finds in a piece of HTML: its tags, its text, its scripts' text."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.scripts, self.text = [], [], ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):  # noqa: ARG002 - the parser hands them over
        self.tags.append(tag)
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data):
        if self.tags[-1] == "script":
            self.scripts[-1] += data
        else:
            self.text += data


# Arrays ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(1,), (3,), (2, 3), (2, 2, 5, 5)], ids=str)
def test_an_array_survives_the_journey_to_javascript_and_back(shape):
    sent = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    encoded = json.loads(json.dumps(Array._encode(sent, None)))
    received = Array._decode(encoded, None)
    assert received.dtype == np.float32
    np.testing.assert_array_equal(received, sent)


def test_an_array_travels_as_little_endian_float32():
    encoded = Array._encode(np.array([1.0, -2.5], dtype=">f4"), None)
    assert encoded["shape"] == [2]
    assert base64.b64decode(encoded["base64"]) == b"\x00\x00\x80\x3f\x00\x00\x20\xc0"


def test_an_array_that_came_from_javascript_may_be_written_to():
    encoded = Array._encode(np.zeros(3, dtype=np.float32), None)
    received = Array._decode(encoded, None)
    received[0] = 1
    assert received[0] == 1


@pytest.mark.parametrize("value", [[1.0, 2.0], np.zeros(2), np.zeros(2, dtype=int), "ab", None])
def test_an_array_trait_takes_nothing_but_float32_arrays(counter, value):
    with pytest.raises(traitlets.TraitError, match="float32"):
        counter.table = value


def test_a_state_that_comes_from_javascript_reaches_python_observers(counter):
    seen = []
    counter.observe(lambda change: seen.append(change["new"]), "count")
    counter.set_state({"count": 8, "table": Array._encode(np.ones(1, dtype=np.float32), None)})
    assert seen == [8]
    np.testing.assert_array_equal(counter.table, np.ones(1, dtype=np.float32))


# The state of a page ---------------------------------------------------------------------------


def test_the_page_state_holds_the_declared_traits_and_nothing_else(counter):
    assert set(counter.page_state()) == {"count", "label", "table"}


def test_the_page_state_follows_the_traits(counter):
    counter.count = 4
    assert counter.page_state()["count"] == 4


def test_each_widget_has_its_own_state(counter):
    other = Counter(table=np.zeros(1, dtype=np.float32), count=9)
    assert counter.page_state()["count"] == 3
    assert other.page_state()["count"] == 9


# Static HTML -----------------------------------------------------------------------------------


def test_static_html_is_one_placeholder_and_two_scripts(counter):
    page = Page(counter.static_html())
    assert page.tags == ["div", "p", "script", "script"]
    payload = json.loads(page.scripts[0])
    assert payload["state"] == counter.page_state()
    code = json.loads(zlib.decompress(base64.b64decode(payload["code"])))
    assert code["module"] == module_source("soft_lookup.js")
    assert code["css"] == stylesheet("soft_lookup.js")


def test_static_html_says_in_words_what_the_widget_shows(counter):
    assert "A counter of steps." in Page(counter.static_html()).text


def test_markup_in_the_state_stays_text(counter):
    counter.label = HOSTILE
    page = Page(counter.static_html())
    assert page.tags == ["div", "p", "script", "script"]
    assert json.loads(page.scripts[0])["state"]["label"] == HOSTILE
    assert f"A counter of {HOSTILE}." in page.text


@pytest.mark.parametrize(
    "hostile", [HOSTILE, "<!--<script>", "\u2028\u2029\x00", '"\\', "&lt;/script&gt;"]
)
def test_a_state_of_any_text_comes_back_as_it_went_in(hostile):
    widget = soft_lookup(names=[hostile, "Ben"], unit=hostile)
    payload = Page(widget.static_html()).scripts[0]
    assert "<" not in payload
    assert json.loads(payload)["state"]["names"] == [hostile, "Ben"]
    assert json.loads(payload)["state"]["unit"] == hostile


def test_a_state_that_is_not_finite_is_refused():
    class Measured(Counter):
        level = traitlets.Float(float("nan")).tag(sync=True)

    with pytest.raises(ValueError, match="JSON"):
        Measured(table=np.eye(1, dtype=np.float32)).static_html()


def test_an_output_offers_the_live_view_the_page_and_the_words(counter):
    data, _ = counter._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in data
    assert data["text/html"] == counter.static_html()
    assert data["text/plain"] == "A counter of steps."


# Mistakes of a widget's author -----------------------------------------------------------------


@pytest.mark.parametrize("name", ["keys", "layout", "send", "comm", "observe"])
def test_a_trait_may_not_take_a_name_that_ipywidgets_needs(name):
    with pytest.raises(TypeError, match=f"{name}.*rename"):
        type("Bad", (Widget,), {"_module": "soft_lookup.js", name: traitlets.Int().tag(sync=True)})


def test_a_widget_must_describe_itself():
    class Silent(Widget):
        _module = "soft_lookup.js"

    with pytest.raises(TypeError, match=r"Silent must say in describe\(\)"):
        Silent().static_html()


# Bad data --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [
        [[1, 2], [3, 4]],
        ((1.0, 2.0), (3.0, 4.0)),
        np.array([[1, 2], [3, 4]]),
        np.array([[1, 2], [3, 4]], dtype=np.float16),
        torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True),
        torch.tensor([[1, 2], [3, 4]]),
        torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.bfloat16),
        np.array([[1.0, 3.0], [2.0, 4.0]]).T,
    ],
    ids=["lists", "tuples", "integers", "half", "gradient", "tensor", "bfloat16", "transposed"],
)
def test_data_may_be_any_array_of_real_numbers(value):
    array = traits.finite_array("data", value, ("rows", "columns"))
    assert array.dtype == np.float32
    assert array.flags.c_contiguous
    np.testing.assert_array_equal(array, [[1, 2], [3, 4]])


def test_a_widget_keeps_its_data_when_the_caller_changes_theirs():
    values = np.array([1.0, 2.0], dtype=np.float32)
    widget = soft_lookup(values=values)
    values[0] = 9
    assert widget.values[0] == 1


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        ([[1, 2], [3]], ValueError, "differ in length"),
        ([1, 2], ValueError, r"axes \(rows, columns\).*shape \(2,\)"),
        ([[]], ValueError, "at least one"),
        ([[1, np.nan]], ValueError, "NaN or infinite"),
        ([[1, -np.inf]], ValueError, "NaN or infinite"),
        ([[1, 1e300]], ValueError, "float32"),
        ([[True, False]], TypeError, "bool"),
        ([["a", "b"]], TypeError, "real numbers"),
        ([[1, None]], TypeError, "real numbers"),
        ([[1j, 2]], TypeError, "complex"),
        (None, TypeError, "real numbers"),
    ],
    ids=[
        "ragged", "flat", "empty", "nan", "infinite", "too large",
        "boolean", "text", "hole", "complex", "nothing",
    ],
)  # fmt: skip
def test_data_that_cannot_be_drawn_is_refused(value, error, message):
    with pytest.raises(error, match=message) as caught:
        traits.finite_array("data", value, ("rows", "columns"))
    assert "data" in str(caught.value)


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        ("Ada", TypeError, "list of strings"),
        ([1, 2], TypeError, "list of strings"),
        (5, TypeError, "list of strings"),
        (None, TypeError, "list of strings"),
        ([], ValueError, "empty"),
        (["Ada"], ValueError, "1 strings?, but 2"),
    ],
    ids=str,
)
def test_names_that_cannot_be_shown_are_refused(value, error, message):
    with pytest.raises(error, match=message) as caught:
        traits.texts("names", value, 2)
    assert "names" in str(caught.value)


@pytest.mark.parametrize(
    ("value", "error"),
    [(-0.1, ValueError), (2, ValueError), (np.nan, ValueError), ("1", TypeError), (True, TypeError),
     (None, TypeError)],
    ids=str,
)  # fmt: skip
def test_a_number_outside_its_range_is_refused(value, error):
    with pytest.raises(error, match="level must"):
        traits.number_between("level", value, 0.0, 1.0)


def test_the_ends_of_a_range_belong_to_it():
    assert traits.number_between("level", 0, 0.0, 1.0) == 0.0
    assert traits.number_between("level", np.float32(1), 0.0, 1.0) == 1.0


@pytest.mark.parametrize("value", ["euclid", None, ["dot"], 3], ids=str)
def test_a_choice_that_is_not_offered_is_refused(value):
    with pytest.raises(ValueError, match="similarity must be one of distance, dot"):
        traits.one_of("similarity", value, ("distance", "dot"))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"keys": [[0, 0, 0], [1, 1, 1]]}, "points of the plane"),
        ({"keys": [[0, 0], [1, 2]]}, "within"),
        ({"query": [0, 9]}, "within"),
        ({"query": [0, 0, 0]}, "points of the plane"),
        ({"values": [1, 2, 3]}, "2 keys were given but 3 values"),
        ({"names": ["Ada"]}, "names holds 1"),
        ({"temperature": 0}, "temperature must lie between"),
        ({"similarity": "euclid"}, "similarity must be one of"),
        ({"values": [1, np.nan]}, "NaN"),
        ({"keys": [[0, 0], [1]]}, "differ in length"),
    ],
    ids=lambda changes: next(iter(changes)) if isinstance(changes, dict) else changes[:12],
)
def test_a_soft_lookup_refuses_what_it_cannot_draw(changes, message):
    with pytest.raises(ValueError, match=message):
        soft_lookup(**changes)
