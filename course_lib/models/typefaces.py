r"""Typefaces: the lower-case alphabet in 984 designs, and a distance between alphabets.

Lecture 10 trains on them. Pictures and metadata are in ``course_lib/data/typefaces.npz``;
``course_lib/data/typefaces.md`` says where they come from, and ``scripts/data/make_typefaces.py``
makes them. A family is a design with all its weights and widths; families that copy each other
count as one. No family is on two sides of the split, so that held-out typefaces are new designs.

Then comes a VAE of whole typefaces: one code $z$ for the style of an alphabet, 26 letters drawn
from it. Its picture $x$ is a whole alphabet, ``(*batch, 26 · 784)``, letter after letter. The
decoder is given which letter to draw, $\hat x_\ell = d(z, \ell)$, and draws all 26 in the same
style. The encoder averages its features over all letters. ``scripts/data/train_typefaces.py``
trained the one that :func:`load_typeface_vae` returns.
"""

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import torch
from einops import einsum, rearrange
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from course_lib.autoencoder import VAE
from course_lib.models.stored import contents, load
from course_lib.support.contracts import Size, checked

LETTERS = "abcdefghijklmnopqrstuvwxyz"
SIZE = 28  # pixels, down and across
LEVELS = 16  # of grey; 0 is paper, 15 is ink
Side = Literal["train", "validation", "test"]
SIDES = get_args(Side)


@checked
@dataclass(frozen=True)
class Typefaces:
    """Pictures of alphabets in [0, 1], 1 is ink, each with its name, its family and its side.

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
        """The typefaces of one side of the split."""
        return self._chosen([i for i, own in enumerate(self.side) if own == side])

    def named(self, name: str) -> Float[Tensor, "26 28 28"]:
        """The alphabet of that name. Raises ``ValueError`` for an unknown name."""
        if name not in self.name:
            words = set(name.lower().split())
            alike = [own for own in self.name if words & set(own.lower().split())]
            listed = ", ".join(repr(own) for own in (alike or self.name)[:5])
            raise ValueError(
                f"name is {name!r}; expected one of {len(self)} typefaces, such as {listed}; "
                "see .name for all"
            )
        return self.picture[self.name.index(name)]

    def _chosen(self, rows: list[int]) -> "Typefaces":
        words = (self.name, self.family, self.side, self.package)
        return Typefaces(self.picture[rows], *(tuple(w[row] for row in rows) for w in words))


def load_typefaces() -> Typefaces:
    """All bundled typefaces, ordered by package, family and name."""
    found = contents("typefaces.npz")
    level = torch.from_numpy(unpacked(found["picture"].numpy()))
    words = (tuple(found[key]) for key in ("name", "family", "side", "package"))
    return Typefaces(level.float() / (LEVELS - 1), *words)


def packed(level: np.ndarray) -> np.ndarray:
    """Pack two grey levels, of 4 bits each, into a byte, along the last axis."""
    return level[..., 0::2] << 4 | level[..., 1::2]


def unpacked(pairs: np.ndarray) -> np.ndarray:
    """The inverse of :func:`packed`."""
    return np.stack([pairs >> 4, pairs & 15], axis=-1).reshape(*pairs.shape[:-1], -1)


@checked
def ink_distance(x: Float[Tensor, "n d_x"], y: Float[Tensor, "m d_x"]) -> Float[Tensor, "n m"]:
    r"""The share of ink that differs: $\sum|x - y| \,/\, \min(\sum x, \sum y)$.

    0 for equal pictures, and 2 for two of equal weight that share no inked pixel, since moved ink
    counts twice. Pictures are rows: letters or whole alphabets.
    """
    return torch.cdist(x, y, p=1) / torch.minimum(x.sum(dim=-1)[:, None], y.sum(dim=-1))


PIXELS = SIZE**2
SHARPNESS = 4  # of the step from paper to ink: how much one unit of the last layer moves a logit
PAPER = -2.0  # the logit of a pixel before training, since most of a picture is paper


class StyleEncoder(nn.Module):
    """Encode all letters of a typeface as 2 ``d_z`` numbers, from the mean over letters.

    In training a letter is hidden with probability ``hidden``, so that the encoder cannot identify
    a typeface by a few letters.
    """

    def __init__(self, d_z: int, *, d_hidden: int = 128, hidden: float = 0.5) -> None:
        super().__init__()
        self.hide = nn.Dropout1d(hidden)
        self.pixels = nn.Linear(PIXELS, d_hidden)
        self.letter = nn.Parameter(0.1 * torch.randn(len(LETTERS), d_hidden))
        self.hidden = nn.Linear(d_hidden, d_hidden)
        self.style = nn.Linear(d_hidden, 2 * d_hidden)
        self.code = nn.Linear(2 * d_hidden, 2 * d_z)

    def forward(self, x: Float[Tensor, "*batch d_x"]) -> Float[Tensor, "*batch codes"]:
        """Mean and log variance of the code of each alphabet."""
        letters = rearrange(x, "... (letter pixel) -> ... letter pixel", letter=len(LETTERS))
        seen = F.silu(self.hidden(F.silu(self.pixels(letters) + self.letter)))
        kept = self.hide(seen.reshape(-1, *seen.shape[-2:])).reshape(seen.shape)
        return self.code(F.silu(self.style(kept.mean(dim=-2))))


class AlphabetDecoder(nn.Module):
    r"""Decode a style to 26 letters: $\hat x_\ell = \sigma(W_3\, s(W_2\, s(A_\ell z + a_\ell)))$.

    $s$ is SiLU. Only $A_\ell$ and $a_\ell$ belong to one letter; hidden layer and pixels, both with
    biases, are shared.
    """

    def __init__(self, d_z: int, *, d_letter: int = 96, d_hidden: int = 128) -> None:
        super().__init__()
        self.style = nn.Parameter(torch.randn(len(LETTERS), d_letter, d_z) / d_z**0.5)
        self.letter = nn.Parameter(torch.zeros(len(LETTERS), d_letter))
        self.hidden = nn.Linear(d_letter, d_hidden)
        self.pixels = nn.Linear(d_hidden, PIXELS)

    def forward(self, z: Float[Tensor, "*batch d_z"]) -> Float[Tensor, "*batch d_x"]:
        """The alphabet of each style, pixels in (0, 1)."""
        drawn = einsum(self.style, z, "letter d z, ... z -> ... letter d") + self.letter
        ink = self.pixels(F.silu(self.hidden(F.silu(drawn))))
        return rearrange(
            (SHARPNESS * ink + PAPER).sigmoid(), "... letter pixel -> ... (letter pixel)"
        )


@checked
def typeface_vae(d_z: Size) -> VAE:
    """A fresh VAE of whole typefaces, with ``d_z`` numbers for a style."""
    return VAE(
        len(LETTERS) * PIXELS,
        d_z,
        noise_variance=0.02,
        encoder=StyleEncoder(d_z),
        decoder=AlphabetDecoder(d_z),
    )


def load_typeface_vae() -> tuple[VAE, dict[str, Any]]:
    """The trained VAE, in evaluation mode, and a record of its training.

    That is the ``command``, its ``seed``, ``steps``, ``beta`` and ``seconds`` of processor time,
    and ``elbo``, the final ELBO of a typeface in nats on each side, the mean over typefaces and
    without the factor beta.
    """
    return load("typeface_vae.npz", lambda about: typeface_vae(about["d_z"]))
