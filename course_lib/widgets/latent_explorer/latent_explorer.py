"""LatentExplorer: a map of typefaces, and the alphabet that a decoder draws at any point of it."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from scipy.special import chdtri
from torch import Tensor

from course_lib.autoencoder import VAE, kl_to_standard_normal
from course_lib.models.typefaces import LETTERS, LEVELS, SIZE, AlphabetDecoder, Typefaces, packed
from course_lib.widgets.kit.packed_weights import WeightsWidget, pack, unpack, with_weights
from course_lib.widgets.kit.traits import Array, Choice, Data, Index, Number, Text
from course_lib.widgets.latent_explorer.typeface_map import (
    KINDS,
    families_of,
    kind_of,
    named_beside,
    others_of_each_family,
    planes_of,
)

MOST_BYTES = 250_000
CODE_BYTES = 27_000  # of the page, for the widget's own code and what holds it
WEIGHT_BITS, CODE_BITS = 8, 10
FEWEST_BITS = 4
FEWEST_CODES = 2  # the map is a plane
EDGE = 0.99  # of the prior's draws lie within the edge
FARTHEST = 1000  # that a coordinate of a code may lie from the middle
MOST_AXES = 4


class LatentExplorer(WeightsWidget):
    r"""A VAE's map of typefaces; at any point of it the decoder draws all 26 letters, in the page.

    ``vae`` has an :class:`course_lib.models.typefaces.AlphabetDecoder`, as that of
    :func:`course_lib.models.typefaces.load_typeface_vae`, and ``typefaces`` are
    :class:`course_lib.models.typefaces.Typefaces`. The map shows the codes (the means of the
    clouds) of those named in ``beside``, whose real letters the page carries too, and of up to
    three more of each family, on a ``plane``: that of the mean steps from regular to bold and to
    italic, if there are families that have all three, or that of two principal components of these
    codes. The circle is the outline of the ball that holds 99 % of the prior's draws, $\|z\|^2 \sim
    \chi^2_d$.

    Weights and codes travel rounded, as :func:`~course_lib.widgets.kit.packed_weights.pack` says;
    the weights have the most bits, 8 at most, that fit into 250 kB with all else: ``widget.bits``.
    ``widget.decoder`` is the decoder with just these weights, ``widget.codes`` are these codes, and
    ``widget.alphabet()`` is what the page draws.

    Traits, synced both ways: ``z`` (the code that is drawn), ``word`` (1 to 14 small letters),
    ``plane`` (a place in
    ``facts["planes"]``), ``tool`` ("walk", "hand", "arithmetic" or "axes": what moves the point),
    ``start`` and ``end`` of the walk (places in ``beside``) and the ``share`` of the way,
    ``family`` (a place in ``families``, those of ``beside`` that have a regular, a bold and an
    italic). The walk is ``moving`` at once, unless the reader has asked for less motion or you for
    none. Raises ``TypeError`` and ``ValueError`` for a VAE that the page cannot run, and for names
    that are not among the typefaces. Source: Kingma and Welling (2014), figure 4; Radford,
    Metz and Chintala (2016), sections 6.1 and 6.3.2, for walks and arithmetic.
    """

    faces = Data()
    families = Data()
    z = Array(
        lambda self: (f"code={self.facts['d_z']}",),
        within=FARTHEST,
        default=lambda self: self._walked(),
    )
    word = Text(alphabet=lambda _: LETTERS, shortest=1, longest=14, default="hamburgefonts")
    plane = Index(of=lambda self: len(self.facts["planes"]))
    tool = Choice(
        *("walk", "hand", "axes", "arithmetic"),
        offered=lambda self: ["walk", "hand", "axes", "arithmetic"][: 4 if self.families else 3],
        needs={"arithmetic": "beside with a regular, a bold and an italic of one family"},
        default="walk",
    )
    start = Index(of=lambda self: self.facts["real"])
    end = Index(of=lambda self: self.facts["real"], default=1)
    share = Number(0.0, 1.0, default=0.0)
    family = Index(of=lambda self: max(1, len(self.families)))

    def __init__(
        self,
        vae: VAE,
        typefaces: Typefaces,
        *,
        beside: Sequence[str] | None = None,
        **given: Any,
    ) -> None:
        # A copy, to read the codes with no letter hidden and in single precision.
        vae = deepcopy(_checked(vae)).float().eval()
        decoder: AlphabetDecoder = vae.decoder
        real = named_beside(typefaces, beside)
        with torch.no_grad():
            mean, log_variance = vae.encode(typefaces.picture.float().flatten(1))
        rows = [typefaces.name.index(name) for name in real]
        rows += others_of_each_family(typefaces, rows)
        called = Text(shortest=1, called="typefaces.name")
        names = [called.validate(self, typefaces.name[row]) for row in rows]
        faces = {
            "names": names,
            "held": "".join(str(int(typefaces.side[row] != "train")) for row in rows),
            "kinds": "".join(str(kind_of(name)) for name in names),
            "codes": _packed_codes(mean[rows]),
            "pictures": _deflated(typefaces.picture[rows[: len(real)]]),
        }
        self.set_trait("faces", faces)
        self.set_trait("families", families_of(real))
        facts = {
            "d_z": vae.d_z,
            "d_letter": decoder.letter.shape[1],
            "d_hidden": decoder.hidden.out_features,
            "real": len(real),
            "typefaces": len(typefaces),
            "edge": float(chdtri(vae.d_z, 1 - EDGE) ** 0.5),
            "kinds": [kind for kind, _ in KINDS],
            "planes": planes_of(_codes(faces, vae.d_z), mean, typefaces.name),
            **_costs(mean, log_variance),
        }
        self.set_trait("facts", facts)
        left = MOST_BYTES - CODE_BYTES - len(json.dumps([faces, facts, self.families]))
        self.set_trait(
            "weights",
            pack(decoder, most_bytes=left, fewest_bits=FEWEST_BITS, most_bits=WEIGHT_BITS),
        )
        super().__init__(**given)

    @property
    def decoder(self) -> AlphabetDecoder:
        """The decoder with the weights that travel, in float32, which holds them exactly."""
        return decoder_of(self.facts, self.weights)

    @property
    def codes(self) -> Float[Tensor, "faces d_z"]:
        """The codes on the map, as they travel, in the order of ``faces["names"]``."""
        return _codes(self.faces, self.facts["d_z"])

    def alphabet(self) -> Float[Tensor, "26 28 28"]:
        """What the page draws: the letters of ``z``, in float64."""
        with torch.no_grad():
            drawn = self.decoder.double()(torch.from_numpy(self.z).double())
        return drawn.reshape(len(LETTERS), SIZE, SIZE)

    def describe(self) -> str:
        """How many typefaces are on the map, and between which two the walk goes."""
        names = self.faces["names"]
        return (
            f"Map of {len(names)} typefaces in the {self.facts['d_z']} numbers of a VAE's code. At "
            "any point of it the decoder draws an alphabet. The walk goes from "
            f"{names[self.start]} to {names[self.end]}."
        )

    def _walked(self) -> np.ndarray:
        start, end = self.codes[[self.start, self.end]]
        return torch.lerp(start, end, self.share).numpy()


def decoder_of(facts: dict[str, Any], weights: dict[str, Any]) -> AlphabetDecoder:
    """The decoder, in float32 and in evaluation mode, whose weights travel as ``weights``."""
    sizes = {name: facts[name] for name in ("d_letter", "d_hidden")}
    return with_weights(lambda: AlphabetDecoder(facts["d_z"], **sizes), weights)


def _checked(vae: object) -> VAE:
    decoder = getattr(vae, "decoder", None)
    if not isinstance(vae, VAE) or not isinstance(decoder, AlphabetDecoder):
        given = type(vae if decoder is None else decoder).__name__
        raise TypeError(
            f"vae is or has a {given}; expected a course_lib.autoencoder.VAE with an "
            "AlphabetDecoder, which the page can compute; take that of load_typeface_vae()"
        )
    if vae.d_z < FEWEST_CODES:
        raise ValueError(
            f"vae has d_z {vae.d_z}; expected {FEWEST_CODES} at least, for the map is a plane; "
            "train one with more"
        )
    if not all(parameter.isfinite().all() for parameter in vae.parameters()):
        raise ValueError(
            "vae has weights that are NaN or infinite; expected finite ones; train it with smaller "
            "steps"
        )
    return vae


def _packed_codes(codes: Tensor) -> dict[str, Any]:
    rows = {"codes": codes}
    return pack(rows, most_bytes=MOST_BYTES, fewest_bits=CODE_BITS, most_bits=CODE_BITS)


def _codes(faces: dict[str, Any], d_z: int) -> Float[Tensor, "faces d_z"]:
    [codes] = unpack(faces["codes"], [(len(faces["names"]), d_z)])
    return torch.from_numpy(codes)


def _deflated(pictures: Tensor) -> str:
    """Grey levels, two in a byte, as the page inflates them."""
    level = packed((pictures * (LEVELS - 1)).round().to(torch.uint8).numpy())
    return base64.b64encode(zlib.compress(level.tobytes(), 9)).decode("ascii")


def _costs(mean: Tensor, log_variance: Tensor) -> dict[str, Any]:
    """The axes of the code that cost most, with their mean KL in nats, and that of all."""
    nats = kl_to_standard_normal(mean[..., None], log_variance[..., None]).mean(dim=0)
    if not nats.isfinite().all():
        raise ValueError(
            "vae encodes typefaces with infinite variances; expected finite ones; train it with "
            "smaller steps"
        )
    order = nats.argsort(descending=True, stable=True)[:MOST_AXES].tolist()
    return {"axes": [[axis, float(nats[axis])] for axis in order], "nats": float(nats.sum())}
