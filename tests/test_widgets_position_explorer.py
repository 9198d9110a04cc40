import numpy as np
import pytest
import torch
from traitlets import TraitError

from course_lib.position import LearnedPosition, rotary, sinusoidal
from course_lib.widgets.position_explorer import PositionExplorer

RANDOM = np.random.default_rng(5)
TABLE = RANDOM.normal(size=(10, 6))


def explorer(**given) -> PositionExplorer:
    return PositionExplorer(**{"tokens": 8, "d_model": 6, **given})


def test_the_explorer_needs_no_data():
    found = PositionExplorer()
    assert (found.tokens, found.d_model, found.kind) == (32, 16, "sinusoidal")
    assert found.kinds == ["none", "sinusoidal", "rotary"]


def test_a_learned_table_is_offered_once_it_is_given():
    found = explorer(learned=TABLE)
    assert found.kinds == ["none", "sinusoidal", "learned", "rotary"]
    assert found.kind == "sinusoidal"


def test_a_longer_table_is_shown_up_to_the_number_of_tokens():
    np.testing.assert_allclose(explorer(learned=TABLE).learned, TABLE[:8], rtol=1e-6)


def test_the_weight_of_a_learned_position_is_taken_as_it_is():
    position = LearnedPosition(8, 6)
    found = explorer(learned=position.weight, kind="learned")
    np.testing.assert_array_equal(found.learned, position.weight.detach().numpy())


def test_a_query_and_a_key_that_are_not_given_are_drawn_from_the_seed():
    first, again, other = explorer(seed=3), explorer(seed=3), explorer(seed=4)
    np.testing.assert_array_equal(first.query, again.query)
    np.testing.assert_array_equal(first.key, again.key)
    assert not np.array_equal(first.query, other.query)
    assert not np.array_equal(first.query, first.key)


def test_a_query_that_is_given_is_kept():
    np.testing.assert_array_equal(explorer(query=[1, 0, 2, 0, 3, 0]).query, [1, 0, 2, 0, 3, 0])


@pytest.mark.parametrize(("tokens", "d_model"), [(2, 2), (48, 32)])
def test_the_smallest_and_the_largest_explorer_start_within_themselves(tokens: int, d_model: int):
    found = PositionExplorer(tokens=tokens, d_model=d_model)
    assert 0 <= found.query_position < tokens
    assert 0 <= found.key_position < tokens
    assert 0 <= found.pair < d_model // 2


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


@pytest.mark.parametrize("kind", ["none", "sinusoidal", "learned", "rotary"])
def test_the_description_tells_the_score_and_the_scores_of_the_same_difference(kind: str):
    text = explorer(learned=TABLE, kind=kind, query_position=5, key_position=2).describe()
    queries, keys = sides(kind)
    score = [[float(q @ k) for k in keys] for q in queries]
    alike = [score[t + 3][t] for t in range(5)]
    assert f"query at 5 and the key at 2 have the score {score[5][2]:.2f}." in text
    assert f"the difference 3 lie between {min(alike):.2f} and {max(alike):.2f}." in text


def test_the_largest_explorer_weighs_less_than_60_kb_in_the_page():
    table = RANDOM.normal(size=(48, 32))
    found = PositionExplorer(tokens=48, d_model=32, learned=table)
    assert len(found.static_html().encode()) < 60_000


@pytest.mark.usefixtures("plain_calls")
@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"d_model": 5}, ValueError, "d_model is 5; expected an even number"),
        ({"d_model": 0}, ValueError, "d_model is 0; expected 2 or more"),
        ({"d_model": 34}, ValueError, "d_model is 34; expected 32 at most"),
        ({"tokens": 1}, ValueError, "tokens is 1; expected 2 or more"),
        ({"tokens": 49}, ValueError, "tokens is 49; expected 48 at most"),
        ({"tokens": 8.0}, TypeError, "tokens is 8.0.*expected an integer"),
        ({"kind": "relative"}, ValueError, "kind must be one of none, sinusoidal, learned, rotary"),
        ({"kind": "learned"}, ValueError, 'kind is "learned", but no table was given'),
        ({"learned": np.ones(6)}, ValueError, r"learned needs the axes \(tokens, d_model\)"),
        ({"learned": np.ones((8, 4))}, ValueError, r"\(8, 4\); expected d_model = 6 columns"),
        ({"learned": np.ones((7, 6))}, ValueError, r"\(7, 6\); expected a row for each of 8"),
        ({"learned": np.full((8, 6), np.nan)}, ValueError, "learned holds NaN"),
        ({"query": [np.inf] * 6}, ValueError, "query holds NaN or infinite"),
        ({"query": [1.0, 2.0]}, ValueError, "query has 2 entries; expected d_model = 6"),
        ({"key": [["a"]]}, TypeError, "key needs the axes"),
        ({"base": 0.5}, ValueError, r"base is 0.5; expected a finite number in \[1, "),
        ({"base": "ten"}, TypeError, "base is a str; expected a number"),
        ({"seed": -1}, ValueError, "seed is -1"),
        ({"query_position": 8}, ValueError, "query_position must lie between 0 and 7"),
        ({"key_position": -1}, ValueError, "key_position must lie between 0 and 7"),
        ({"pair": 3}, ValueError, "pair must lie between 0 and 2.*number of pairs is 3"),
        ({"pair": 1.0}, TypeError, "pair must be an integer"),
    ],
)
def test_what_cannot_be_drawn_is_refused_with_a_reason(given, error, message):
    with pytest.raises(error, match=message):
        explorer(**given)


def test_a_trait_set_later_is_checked_too():
    found = explorer()
    with pytest.raises(ValueError, match="kind must be one of none, sinusoidal, rotary"):
        found.kind = "learned"
    with pytest.raises(ValueError, match="query_position must lie between 0 and 7"):
        found.query_position = 99
    with pytest.raises(TraitError):
        found.tokens = 9
