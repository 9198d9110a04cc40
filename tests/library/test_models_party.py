"""The guests are those of their names, and each picture is in one part."""

import torch

from course_lib.models.party import GUESTS, load_party

PARTY = load_party(torch.Generator().manual_seed(0))


def test_the_guests_are_those_of_their_names() -> None:
    assert [*GUESTS] == ["seven", "three", "one", "eight", "four"]
    assert PARTY.label[PARTY.guests].tolist() == [7, 3, 1, 8, 4]


def test_each_picture_is_in_one_part_and_is_ink_on_paper() -> None:
    parts = torch.cat(PARTY[2:])
    assert sorted(parts.tolist()) == list(range(1797))
    assert [len(part) for part in PARTY[2:]] == [5, 1000, 392, 400]
    assert PARTY.picture.shape == (1797, 64)
    assert PARTY.picture.min() == 0
    assert PARTY.picture.max() == 1
