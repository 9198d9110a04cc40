"""The words of lecture 6, their ids and batches."""

import pytest
import torch

from course_lib.models.words.spelling import (
    HOLE,
    LONGEST,
    batches_of_one_length,
    ids_of_words,
)

pytestmark = pytest.mark.slow


def test_a_batch_holds_words_of_one_length_which_is_as_frequent_as_among_the_words() -> None:
    ids, _ = ids_of_words(["one", "two", "ten", "three"])
    random = torch.Generator().manual_seed(0)
    batches = list(batches_of_one_length(ids, steps=400, size=5, generator=random))
    rows = {tuple(row) for row in ids.tolist()}
    for batch in batches:
        assert len(batch) == 5
        assert {(*row, *[HOLE] * (LONGEST - len(row))) for row in batch.tolist()} <= rows
    short = sum(batch.shape[1] == 3 for batch in batches)
    assert abs(short - 300) < 4 * (400 * 0.75 * 0.25) ** 0.5
