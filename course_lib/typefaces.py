r"""Typefaces: the lower-case alphabet in 984 designs, and how far two alphabets are apart.

Lecture 10 learns from them what letters look like. The pictures and all that is known of them are
in ``course_lib/data/typefaces.npz``; ``course_lib/data/typefaces.md`` says where they come from,
and ``scripts/data/make_typefaces.py`` makes them. A family is a design with all its weights and
widths; families that copy each other count as one. None stands on two sides of the split, so that a
held-out typeface is new in more than its name.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from course_lib.support.contracts import checked

LETTERS = "abcdefghijklmnopqrstuvwxyz"
SIZE = 28  # pixels, down and across
LEVELS = 16  # of grey; 0 is paper, 15 is ink
Side = Literal["train", "validation", "test"]
SIDES = get_args(Side)
DATA = Path(__file__).parent / "data" / "typefaces.npz"


@checked
@dataclass(frozen=True)
class Typefaces:
    """Pictures of alphabets in [0, 1], 1 is ink; of each, its name, its family and its side.

    ``side`` is ``"train"``, ``"validation"`` or ``"test"``, ``package`` the Debian package of the
    font.
    """

    picture: Float[Tensor, "typefaces 26 28 28"]
    name: tuple[str, ...]
    family: tuple[str, ...]
    side: tuple[str, ...]
    package: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.name)

    @checked
    def where(self, side: Side) -> "Typefaces":
        """Those of one side."""
        return self._chosen([i for i, own in enumerate(self.side) if own == side])

    def named(self, name: str) -> Float[Tensor, "26 28 28"]:
        """The alphabet of that name. Raises ``ValueError`` for one that is not among these."""
        if name not in self.name:
            words = set(name.lower().split())
            alike = [own for own in self.name if words & set(own.lower().split())]
            listed = ", ".join(repr(own) for own in (alike or self.name)[:5])
            raise ValueError(
                f"name is {name!r}; expected one of {len(self)} typefaces, such as {listed}; "
                "look into .name for all"
            )
        return self.picture[self.name.index(name)]

    def _chosen(self, rows: list[int]) -> "Typefaces":
        words = (self.name, self.family, self.side, self.package)
        return Typefaces(self.picture[rows], *(tuple(w[row] for row in rows) for w in words))


def load_typefaces() -> Typefaces:
    """All typefaces that the course has, ordered by package, family and name."""
    with np.load(DATA) as data:
        level = unpacked(data["picture"])
        words = (tuple(data[key].tolist()) for key in ("name", "family", "side", "package"))
        return Typefaces(torch.from_numpy(level).float() / (LEVELS - 1), *words)


def packed(level: np.ndarray) -> np.ndarray:
    """Two grey levels, each of 4 bits, in a byte, along the last axis."""
    return level[..., 0::2] << 4 | level[..., 1::2]


def unpacked(pairs: np.ndarray) -> np.ndarray:
    """The grey levels that :func:`packed` put together."""
    return np.stack([pairs >> 4, pairs & 15], axis=-1).reshape(*pairs.shape[:-1], -1)


@checked
def ink_distance(x: Float[Tensor, "n d_x"], y: Float[Tensor, "m d_x"]) -> Float[Tensor, "n m"]:
    r"""How much ink is wrong between two pictures: $\sum|x - y| \,/\, \min(\sum x, \sum y)$.

    0 for equal pictures, and 2 for two of equal weight that share no inked pixel: ink that has
    moved is wrong where it was and where it is. Pictures are rows: of letters, or of whole
    alphabets.
    """
    return torch.cdist(x, y, p=1) / torch.minimum(x.sum(dim=-1)[:, None], y.sum(dim=-1))
