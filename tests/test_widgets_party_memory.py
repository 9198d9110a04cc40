import json
import re

import numpy as np
import pytest
import torch
import traitlets
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from course_lib.widgets import PartyMemory
from course_lib.widgets.traits import Array

GUESTS, HEIGHT, WIDTH = 3, 2, 4
NAMES = ["Ada", "Ben", "Cleo"]


def pictures(guests=GUESTS, height=HEIGHT, width=WIDTH):
    return np.linspace(0, 1, guests * height * width).reshape(guests, height, width)


def party(**changed):
    """A party that is right in every way but what was changed."""
    given_ = {
        "images": pictures(),
        "names": NAMES,
        "score": [1.0, -1.0, 0.5],
        "keys": [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]],
        "queries": {"Who sings?": [2.0, 0.0], "Who cooks?": [0.0, 2.0]},
    } | changed
    return PartyMemory(given_.pop("images"), given_.pop("names"), **given_)


def payload(widget):
    script = re.search(r'<script type="application/json">(.*?)</script>', widget.static_html())
    return json.loads(script[1])


def test_a_party_without_numbers_can_only_add_and_forget():
    widget = PartyMemory(pictures(), NAMES)
    assert widget.modes == ["composite", "forgetting"]
    assert widget.arrived == GUESTS


def test_every_way_of_remembering_is_offered_once_its_numbers_are_there():
    assert party().modes == ["composite", "forgetting", "gate", "softmax", "query"]
    assert party(score=None).modes == ["composite", "forgetting", "query"]
    assert party(score=None, gate=[0.0, 1.0, 2.0]).modes == [
        "composite",
        "forgetting",
        "gate",
        "query",
    ]
    assert "query" not in party(keys=None, queries=None).modes


def test_the_gate_is_the_score_unless_it_is_given():
    assert np.array_equal(party().gate, party().score)
    assert np.array_equal(party(gate=[3.0, 2.0, 1.0]).gate, np.float32([3, 2, 1]))


def test_tensors_and_nested_lists_are_taken_like_arrays():
    from_tensor = party(images=torch.tensor(pictures(), requires_grad=True))
    from_lists = party(images=pictures().tolist())
    assert np.array_equal(from_tensor.images, from_lists.images)


@given(hnp.arrays(np.float32, (GUESTS, HEIGHT, WIDTH), elements=st.floats(0, 1, width=32)))
def test_pictures_arrive_on_the_page_bit_by_bit(images):
    travelled = Array._decode(payload(party(images=images))["state"]["images"], None)
    assert np.array_equal(travelled, images)


def test_queries_keep_the_order_of_their_questions():
    widget = party(question="Who cooks?")
    assert widget.questions == ["Who sings?", "Who cooks?"]
    assert np.array_equal(widget.queries, np.float32([[2, 0], [0, 2]]))


def test_a_question_is_chosen_by_its_text_or_its_place():
    assert party(question=1).question == "Who cooks?"
    widget = party()
    widget.question = "Who cooks?"
    assert widget.question == "Who cooks?"


def test_names_that_look_like_markup_stay_data():
    evil = "</script><img onerror=alert(1)>"
    page = party(names=[evil, "Ben", "Cleo"], queries={evil: [1.0, 0.0]}, question=0).static_html()
    assert "<img" not in page
    assert page.count("</script>") == 2


def test_the_words_name_every_guest_and_every_way():
    words = party().describe()
    for word in [*NAMES, "composite", "forgetting", "gate", "softmax", "query"]:
        assert word in words


def test_a_party_of_digits_weighs_under_60_kilobytes():
    generator = np.random.default_rng(0)
    queries = {f"Who is number {i}?": generator.normal(size=64) for i in range(13)}
    widget = PartyMemory(
        generator.uniform(size=(5, 8, 8)),
        list("abcde"),
        score=generator.normal(size=5),
        keys=generator.normal(size=(5, 64)),
        queries=queries,
    )
    assert len(widget.static_html().encode()) < 60_000


@pytest.mark.usefixtures("plain_calls")
@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        ({"images": [[[0.1], [0.2]], [[0.3]]]}, ValueError, "images .* differ in length"),
        ({"images": np.zeros((3, 8))}, ValueError, r"axes \(guests, height, width\)"),
        ({"images": np.zeros((0, 2, 4))}, ValueError, "at least one entry"),
        ({"images": np.full((3, 2, 4), np.nan)}, ValueError, "images holds NaN"),
        ({"images": [[["a"]]] * 3}, TypeError, "images .* real numbers"),
        ({"images": 2 * pictures()}, ValueError, "between 0 .* and 1"),
        ({"images": -pictures()}, ValueError, "between 0 .* and 1"),
        ({"images": pictures(9), "names": list("abcdefghi")}, ValueError, "room for 8"),
        ({"images": pictures(3, 28, 28)}, ValueError, "28 × 28"),
        ({"names": ["Ada", "Ben"]}, ValueError, "names holds 2 strings, but 3"),
        ({"names": "Ada"}, TypeError, "names must be a list of strings"),
        ({"names": [1, 2, 3]}, TypeError, "names must be a list of strings"),
        ({"score": [1.0, 2.0]}, ValueError, "score holds 2 numbers for 3 guests"),
        ({"score": [1.0, np.inf, 0.0]}, ValueError, "score holds NaN or infinite"),
        ({"score": [[1.0], [2.0], [3.0]]}, ValueError, r"score needs the axes \(guests\)"),
        ({"score": ["1", "2", "3"]}, TypeError, "score .* real numbers"),
        ({"gate": [1.0]}, ValueError, "gate holds 1 numbers for 3 guests"),
        ({"keys": [[1.0, 0.0]]}, ValueError, "keys holds 1 rows for 3 guests"),
        ({"keys": [[1.0], [0.0, 1.0], [1.0]]}, ValueError, "keys .* differ in length"),
        ({"keys": None}, ValueError, "queries were given without keys"),
        ({"queries": None}, ValueError, "keys were given without queries"),
        ({"queries": [[1.0, 0.0]]}, TypeError, "queries is a list; expected a dict"),
        ({"queries": {}}, ValueError, "queries is empty"),
        ({"queries": {1: [1.0, 0.0]}}, TypeError, "queries must be a list of strings"),
        ({"queries": {"Who?": [1.0]}}, ValueError, r"queries\['Who\?'\] has 1 entries, .* 2"),
        ({"queries": {"Who?": [np.nan, 0.0]}}, ValueError, r"queries\['Who\?'\] holds NaN"),
        ({"mode": "telepathy"}, ValueError, "mode must be one of composite"),
        ({"mode": 3}, ValueError, "mode must be one of composite"),
        ({"mode": "softmax", "score": None}, ValueError, "mode 'softmax' needs score"),
        ({"mode": "gate", "score": None}, ValueError, "mode 'gate' needs score or gate"),
        (
            {"mode": "query", "keys": None, "queries": None},
            ValueError,
            "mode 'query' needs keys and queries",
        ),
        ({"decay": 1.5}, ValueError, "decay must lie between 0.0 and 1.0"),
        ({"decay": "half"}, TypeError, "decay must be a number"),
        ({"door": np.nan}, ValueError, "door must lie between"),
        ({"temperature": 0.0}, ValueError, "temperature must lie between 0.05"),
        ({"temperature": True}, TypeError, "temperature must be a number"),
        ({"question": 2}, ValueError, "question is 2; expected 0 to 1"),
        ({"question": -1}, ValueError, "question is -1; expected 0 to 1"),
        ({"question": "Who drives?"}, ValueError, "question must be one of Who sings"),
        ({"question": 0.5}, TypeError, "question must be its text or its index"),
        (
            {"question": "Who?", "keys": None, "queries": None},
            ValueError,
            "there are no queries; pass queries",
        ),
        ({"arrived": 0}, ValueError, "arrived must lie between 1 and 3"),
        ({"arrived": 4}, ValueError, "arrived must lie between 1 and 3"),
        ({"arrived": 2.0}, TypeError, "arrived must be an integer"),
    ],
)
def test_data_that_cannot_be_drawn_is_refused_with_advice(changed, error, message):
    with pytest.raises(error, match=message):
        party(**changed)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("mode", "telepathy"),
        ("question", "Who drives?"),
        ("arrived", 0),
        ("arrived", 4),
        ("decay", 1.1),
        ("door", 99.0),
        ("temperature", 0.0),
    ],
)
def test_a_trait_keeps_its_value_when_it_is_set_to_nonsense(name, value):
    widget = party()
    before = getattr(widget, name)
    with pytest.raises((ValueError, traitlets.TraitError)):
        setattr(widget, name, value)
    assert getattr(widget, name) == before


def test_the_guests_cannot_be_exchanged_behind_the_picture():
    with pytest.raises(traitlets.TraitError):
        party().images = pictures().astype(np.float32)


def test_python_hears_what_the_page_chooses():
    widget = party()
    heard = []
    widget.observe(lambda change: heard.append((change.name, change.new)), ["mode", "arrived"])
    widget.set_state({"mode": "query", "arrived": 2})
    assert sorted(heard) == [("arrived", 2), ("mode", "query")]
