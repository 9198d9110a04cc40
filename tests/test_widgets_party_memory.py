from functools import partial

import numpy as np
import pytest
from small_widgets import make, payload

from course_lib.widgets import PartyMemory
from course_lib.widgets.traits import Array

party = partial(make, "PartyMemory")


def test_every_way_of_remembering_is_offered_once_its_numbers_are_there():
    gate = [0.0, 1.0, 2.0]
    for changed, offered in (
        ({}, ["gate", "softmax", "query"]),
        ({"score": None}, ["query"]),
        ({"score": None, "gate": gate}, ["gate", "query"]),
        ({"keys": None, "queries": None}, ["gate", "softmax"]),
    ):
        assert party(**changed).modes == ["composite", "forgetting", *offered]
    bare = PartyMemory(np.ones((3, 2, 4)), ["Ada", "Ben", "Cleo"])
    assert (bare.modes, bare.arrived) == (["composite", "forgetting"], 3)
    assert np.array_equal(party().gate, party().score)
    assert np.array_equal(party(gate=gate).gate, np.float32(gate))


def test_a_question_is_chosen_by_its_text_or_its_place_and_has_its_query():
    widget = party(question="Who cooks?")
    assert widget.questions == ["Who sings?", "Who cooks?"]
    assert np.array_equal(widget.queries, np.float32([[2, 0], [0, 2]]))
    assert party(question=1).question == "Who cooks?"


def test_pictures_may_have_one_row_and_scores_may_be_as_huge_as_float32_holds():
    for height, width in ((1, 1), (1, 8), (8, 1), (1, 256)):
        images = np.ones((3, height, width))
        widget = party(images=images)
        np.testing.assert_array_equal(
            Array._decode(payload(widget)["state"]["images"], None), images
        )
        assert "3 guests" in widget.describe()
    for score in (0.0, 1e-45, 3e38, -3e38):
        state = payload(party(score=[score, 0.0, -score], gate=[score] * 3))["state"]
        assert Array._decode(state["score"], None)[0] == np.float32(score)
        assert {"gate", "softmax"} <= set(state["modes"])


def test_who_fits_a_question_stands_beside_it_and_nobody_may():
    fits = {"Who sings?": ["Cleo", "Ada"], "Who cooks?": []}
    assert np.array_equal(party(fits=fits).fits, np.float32([[1, 0, 1], [0, 0, 0]]))
    for wrong in ({"Who sings?": ["Ada"]}, fits | {"Who cooks?": ["Dora"]}):
        with pytest.raises(ValueError, match="fits"):
            party(fits=wrong)
