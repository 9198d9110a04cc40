import numpy as np
import pytest
from small_widgets import make

from course_lib.widgets import PartyMemory


def test_every_memory_is_offered_once_its_numbers_are_given():
    gate = [0.0, 1.0, 2.0, 3.0]
    for changed, offered in (
        ({}, ["gate", "softmax", "query"]),
        ({"score": None}, ["query"]),
        ({"score": None, "gate": gate}, ["gate", "query"]),
        ({"keys": None, "queries": None}, ["gate", "softmax"]),
    ):
        widget = make("PartyMemory", **changed)
        assert widget.modes == ["composite", "forgetting", *offered]
        given = changed.get("gate", widget.score)
        assert np.array_equal(widget.gate, np.float32(given).reshape(widget.gate.shape))
    bare = PartyMemory(np.ones((3, 2, 4)), ["Ada", "Ben", "Cleo"])
    assert (bare.modes, bare.arrived) == (["composite", "forgetting"], 3)


def test_a_question_is_chosen_by_text_or_index_and_has_query_and_right_guests():
    queries = {"Who sings?": [2.0, 0.0, 0.0], "Who cooks?": [0.0, 2.0, 0.0]}
    fits = {"Who sings?": ["Cleo", "Ada"], "Who cooks?": []}
    for question in ("Who cooks?", 1):
        widget = make("PartyMemory", queries=queries, fits=fits, question=question)
        assert (widget.questions, widget.question) == ([*queries], "Who cooks?")
        assert np.array_equal(widget.queries, np.float32([*queries.values()]))
        assert np.array_equal(widget.fits, np.float32([[1, 0, 1, 0], [0, 0, 0, 0]]))
    for wrong in ({"Who sings?": ["Ada"]}, fits | {"Who cooks?": ["Eve"]}):
        with pytest.raises(ValueError, match="fits"):
            make("PartyMemory", queries=queries, fits=wrong)
