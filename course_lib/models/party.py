"""The party of lecture 1: five handwritten digits are its guests; the others are training data."""

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

GUESTS = {"seven": 118, "three": 143, "one": 1585, "eight": 742, "four": 1171}
TRAIN, VALIDATION = 1000, 392


class Party(NamedTuple):
    """All pictures, 0 paper and 1 ink, their labels, and the indices of each part of the split."""

    picture: Float[Tensor, "pictures 64"]
    label: Int[Tensor, "pictures"]
    guests: Int[Tensor, "guests"]
    train: Int[Tensor, "train"]
    validation: Int[Tensor, "validation"]
    test: Int[Tensor, "test"]


def load_party(generator: torch.Generator) -> Party:
    """The 1,797 digits of scikit-learn, shuffled and divided; the guests are in no part."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    picture = torch.tensor(digits.images / 16, dtype=torch.float32).flatten(1)
    guests = torch.tensor([*GUESTS.values()])
    shuffled = torch.randperm(len(picture), generator=generator)
    parts = shuffled[~torch.isin(shuffled, guests)].tensor_split([TRAIN, TRAIN + VALIDATION])
    return Party(picture, torch.tensor(digits.target), guests, *parts)
