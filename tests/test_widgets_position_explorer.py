from functools import partial

import numpy as np
import torch
from small_widgets import TABLE, make

from course_lib.position import LearnedPosition, rotary, sinusoidal
from course_lib.widgets.position_explorer import PositionExplorer

explorer = partial(make, "PositionExplorer")


def test_a_learned_table_is_offered_once_it_is_given_and_shown_up_to_the_number_of_tokens():
    bare = PositionExplorer()
    assert bare.kinds == ["none", "sinusoidal", "rotary"]
    found = explorer(learned=TABLE)
    assert found.kinds == ["none", "sinusoidal", "learned", "rotary"]
    assert bare.kind == found.kind == "sinusoidal"
    np.testing.assert_allclose(found.learned, TABLE[:8], rtol=1e-6)
    weight = LearnedPosition(8, 6).weight
    found = explorer(learned=weight, kind="learned")
    np.testing.assert_array_equal(found.learned, weight.detach().numpy())


def test_a_query_and_a_key_that_are_not_given_are_drawn_from_the_seed():
    first, again, other = explorer(seed=3), explorer(seed=3), explorer(seed=4)
    np.testing.assert_array_equal(first.query, again.query)
    np.testing.assert_array_equal(first.key, again.key)
    assert not np.array_equal(first.query, other.query)
    assert not np.array_equal(first.query, first.key)
    np.testing.assert_array_equal(explorer(query=[1, 0, 2, 0, 3, 0]).query, [1, 0, 2, 0, 3, 0])


def test_the_smallest_and_the_largest_explorer_start_within_themselves():
    for tokens, d_model in ((2, 2), (48, 32)):
        found = PositionExplorer(tokens=tokens, d_model=d_model)
        assert min(found.query_position, found.key_position, found.pair) >= 0
        assert max(found.query_position, found.key_position) < tokens
        assert found.pair < d_model // 2


def sides(kind: str) -> tuple[torch.Tensor, torch.Tensor]:
    found = explorer(learned=TABLE)
    query, key = (torch.tensor(x).double().repeat(8, 1) for x in (found.query, found.key))
    table = torch.tensor(TABLE[:8])
    fixed = sinusoidal(8, 6, dtype=torch.float64)
    return {
        "none": (query, key),
        "sinusoidal": (fixed, fixed),
        "learned": (table, table),
        "rotary": (rotary(query), rotary(key)),
    }[kind]


def test_the_description_tells_the_score_and_the_scores_of_the_same_difference():
    for kind in ("none", "sinusoidal", "learned", "rotary"):
        text = explorer(learned=TABLE, kind=kind, query_position=5, key_position=2).describe()
        queries, keys = sides(kind)
        score = [[float(q @ k) for k in keys] for q in queries]
        alike = [score[t + 3][t] for t in range(5)]
        assert f"query at 5 and the key at 2 have the score {score[5][2]:.2f}." in text
        assert f"the difference 3 lie between {min(alike):.2f} and {max(alike):.2f}." in text
