import numpy as np
import pytest
import torch
from small_widgets import make

from course_lib.position import LearnedPosition, rotary, sinusoidal
from course_lib.widgets.position_explorer.position_explorer import PositionExplorer


def test_a_learned_table_is_offered_once_it_is_given_and_shown_up_to_the_number_of_tokens():
    bare, weight = PositionExplorer(), LearnedPosition(12, 6).weight
    assert bare.kinds == ["none", "sinusoidal", "rotary"]
    found = PositionExplorer(tokens=8, d_model=6, learned=weight, kind="learned")
    assert found.kinds == ["none", "sinusoidal", "learned", "rotary"]
    np.testing.assert_array_equal(found.learned, weight[:8].detach().numpy())


@pytest.mark.parametrize("kind", ["none", "sinusoidal", "learned", "rotary"])
def test_the_description_has_the_score_and_the_scores_of_the_same_difference(kind):
    found = make("PositionExplorer", kind=kind, query_position=5, key_position=2)
    query, key = (torch.tensor(x).double().repeat(24, 1) for x in (found.query, found.key))
    queries, keys = {
        "none": (query, key),
        "sinusoidal": [sinusoidal(24, 6, base=100, dtype=torch.float64)] * 2,
        "learned": [torch.tensor(found.learned).double()] * 2,
        "rotary": (rotary(query, base=100), rotary(key, base=100)),
    }[kind]
    score = [[float(q @ k) for k in keys] for q in queries]
    alike = [score[t + 3][t] for t in range(21)]
    text = found.describe()
    assert f"query at 5 and the key at 2 have the score {score[5][2]:.2f}." in text
    assert f"the difference 3 lie between {min(alike):.2f} and {max(alike):.2f}." in text
