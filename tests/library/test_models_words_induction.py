"""The strings are as described, and readers are causal."""

import torch

from course_lib.models.words.induction import (
    TOKENS,
    StringReader,
    ToldReader,
    head_scores,
    returning_strings,
)
from course_lib.support.training import seed

STRINGS = returning_strings(200, torch.Generator().manual_seed(0))


def test_predictable_letters_appeared_before_and_no_others_repeat() -> None:
    for ids, known, answer in zip(*(part.tolist() for part in STRINGS), strict=True):
        places = [i for i, may in enumerate(known) if may]
        assert 3 <= len(places) <= 7
        assert places == list(range(places[0], places[-1] + 1))
        for place in places:
            assert ids[answer[place]] == ids[place + 1]
            assert answer[place] <= places[0]
            assert ids[answer[place] - 1] == ids[place]
        assert len(set(ids)) == TOKENS - len(places) - 1


def test_a_reader_is_causal() -> None:
    seed(0)
    for reader in (StringReader(), ToldReader()):
        ids = STRINGS.ids[:4]
        other = ids.clone()
        other[:, 12:] = (other[:, 12:] + 1) % 26
        assert torch.allclose(reader(ids)[:, :12], reader(other)[:, :12], atol=1e-6)
        assert (reader.weights(ids).triu(1) == 0).all()
        assert torch.allclose(reader.weights(ids).sum(-1), torch.ones(()), atol=1e-5)


def test_a_told_reader_is_given_the_letter_before() -> None:
    seed(0)
    reader = ToldReader()
    ids = STRINGS.ids[:1].clone()
    there = reader.states(ids)[0]
    ids[0, 4] = (ids[0, 4] + 1) % 26
    changed = (reader.states(ids)[0] != there).any(-1)[0]
    assert changed.nonzero().flatten().tolist() == [4, 5]


def test_scores_of_heads_follow_from_the_weights() -> None:
    seed(0)
    reader = StringReader(layers=1)
    back, found = head_scores(reader, STRINGS)
    weights = reader.weights(STRINGS.ids)
    assert back.shape == found.shape == (1, 2)
    one_back = torch.stack([weights[..., i, i - 1] for i in range(1, TOKENS)]).mean((0, 1))
    assert torch.allclose(back, one_back, atol=1e-6)
    rows, places = STRINGS.known.nonzero(as_tuple=True)
    there = weights[rows, :, :, places, STRINGS.answer[rows, places]].mean(0)
    assert torch.allclose(found, there, atol=1e-6)
