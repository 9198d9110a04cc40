import numpy as np
import pytest
from small_widgets import payload

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


def test_queries_keep_the_order_of_their_questions():
    widget = party(question="Who cooks?")
    assert widget.questions == ["Who sings?", "Who cooks?"]
    assert np.array_equal(widget.queries, np.float32([[2, 0], [0, 2]]))


def test_a_question_is_chosen_by_its_text_or_its_place():
    assert party(question=1).question == "Who cooks?"
    widget = party()
    widget.question = "Who cooks?"
    assert widget.question == "Who cooks?"


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


@pytest.mark.parametrize(("height", "width"), [(1, 1), (1, 8), (8, 1), (1, 256)])
def test_pictures_may_have_one_row_or_one_column(height, width):
    images = np.ones((GUESTS, height, width))
    widget = party(images=images)
    state = payload(widget)["state"]
    np.testing.assert_array_equal(Array._decode(state["images"], None), images)
    assert "3 guests" in widget.describe()


@pytest.mark.parametrize("score", [0.0, -0.0, 1e-45, 3e38, -3e38])
def test_scores_may_be_nothing_or_as_huge_as_float32_holds(score):
    state = payload(party(score=[score, 0.0, -score], gate=[score] * GUESTS))["state"]
    assert Array._decode(state["score"], None)[0] == np.float32(score)
    assert {"gate", "softmax"} <= set(state["modes"])


def test_who_fits_a_question_stands_beside_it_and_nobody_may():
    widget = party(fits={"Who sings?": ["Cleo", "Ada"], "Who cooks?": []})
    assert np.array_equal(widget.fits, np.float32([[1, 0, 1], [0, 0, 0]]))


@pytest.mark.parametrize(
    ("fits", "said"),
    [
        ({"Who sings?": ["Ada"]}, "fits has the questions"),
        ({"Who sings?": ["Dora"], "Who cooks?": []}, "'Dora', who is none of the guests"),
    ],
)
def test_only_guests_fit_and_for_every_question_it_is_said_who(fits: dict, said: str):
    with pytest.raises(ValueError, match=said):
        party(fits=fits)
