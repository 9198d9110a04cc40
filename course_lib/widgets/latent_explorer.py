"""LatentExplorer: a map of typefaces, and the alphabet that a decoder draws at any point of it."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Sequence
from copy import deepcopy
from itertools import combinations
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from scipy.stats import chi2
from torch import Tensor
from torch.nn import functional as F

from course_lib.autoencoder import VAE, kl_to_standard_normal
from course_lib.typeface_vae import AlphabetDecoder
from course_lib.typefaces import LETTERS, LEVELS, SIZE, Typefaces, packed
from course_lib.widgets.base import Widget
from course_lib.widgets.packed_weights import pack, unpack
from course_lib.widgets.traits import Array, Choice, Data, Index, Number, Switch, Text, brief

MOST_BYTES = 250_000
CODE_BYTES = 27_000  # of the page, for the widget's own code and what holds it
WEIGHT_BITS, CODE_BITS = 8, 10
FEWEST_BITS = 4
FEWEST_BESIDE, MOST_BESIDE = 2, 32
FEWEST_CODES = 2  # the map is a plane
OF_A_FAMILY = 3  # on the map, besides those whose letters are shown
EDGE = 0.99  # of the prior's draws lie within the edge
FARTHEST = 1000  # that a coordinate of a code may lie from the middle
MOST_AXES = 4
MOST_COMPONENTS = 3
KINDS = (
    ("fixed width", r"mono|typewriter|courier|code"),
    ("bold italic", r"(bold|black|heavy).*(italic|oblique)"),
    ("bold", r"bold|black|heavy"),
    ("italic", r"italic|oblique"),
    ("other", r""),
)
STYLES = (("Regular", "Roman", "Book"), ("Bold",), ("Italic", "Oblique"))
BOTH = ("Bold Italic", "Bold Oblique", "BoldItalic")
BESIDE = (
    "JetBrains Mono Regular",
    "Vollkorn Bold Italic",
    *("JetBrains Mono Bold", "JetBrains Mono Italic", "JetBrains Mono Bold Italic"),
    *("Roboto Regular", "Roboto Bold", "Roboto Italic", "Roboto Bold Italic"),
    *("Vollkorn Regular", "Vollkorn Bold", "Vollkorn Italic"),
    *("STIXGeneral Regular", "STIXGeneral Bold", "STIXGeneral Italic", "STIXGeneral Bold Italic"),
    *("Comic Neue Regular", "Lobster Two Regular", "OpenDyslexic Bold", "Noto Serif Regular"),
)


class LatentExplorer(Widget):
    r"""A VAE's map of typefaces; at any point of it the decoder draws all 26 letters, in the page.

    ``vae`` has an :class:`course_lib.typeface_vae.AlphabetDecoder`, as that of
    :func:`course_lib.typeface_vae.load_typeface_vae`, and ``typefaces`` are
    :class:`course_lib.typefaces.Typefaces`. The map shows the codes (the means of the clouds) of
    those named in ``beside``, whose real letters the page carries too, and of up to three more of
    each family, on a ``plane``: that of the mean steps from regular to bold and to italic, if there
    are families that have all three, or that of two principal components of these codes. The circle
    is where the plane through ``z`` leaves the ball that holds 99 % of the prior's draws,
    $\|z\|^2 \sim \chi^2_d$.

    Weights and codes travel rounded, as :func:`~course_lib.widgets.packed_weights.pack` says; the
    weights have the most bits, 8 at most, that fit into 250 kB with all else: ``widget.bits``.
    ``widget.decoder`` is the decoder with just these weights, ``widget.codes`` are these codes, and
    ``widget.alphabet()`` is what the page draws.

    Traits, synced both ways: ``z`` (the code that is drawn), ``word`` (1 to 14 small letters),
    ``plane`` (a place in
    ``facts["planes"]``), ``tool`` ("walk", "arithmetic" or "axes": what stands below the map),
    ``start`` and ``end`` of the walk (places in ``beside``) and the ``share`` of the way,
    ``family`` (a place in ``families``, those of ``beside`` that have a regular, a bold and an
    italic). The walk is ``moving`` at once, unless the reader has asked for less motion or you for
    none. Raises ``TypeError`` and ``ValueError`` for a VAE that the page cannot run, and for names
    that are not among the typefaces. Source: Kingma and Welling (2014), figure 4; White (2016) for
    walks and arithmetic.
    """

    _module = "latent_explorer.js"

    facts = Data()
    faces = Data()
    families = Data()
    weights = Data()
    z = Array(
        lambda self: (f"code={self.facts['d_z']}",),
        within=FARTHEST,
        default=lambda self: self._walked(),
    )
    word = Text(alphabet=lambda _: LETTERS, shortest=1, longest=14, default="hamburgefonts")
    plane = Index(of=lambda self: len(self.facts["planes"]))
    tool = Choice(
        *("walk", "arithmetic", "axes"),
        offered=lambda self: ["walk", "axes", *(["arithmetic"] if self.families else [])],
        needs={"arithmetic": "beside with a regular, a bold and an italic of one family"},
        default="walk",
    )
    start = Index(of=lambda self: self.facts["real"])
    end = Index(of=lambda self: self.facts["real"], default=1)
    share = Number(0.0, 1.0, default=0.0)
    family = Index(of=lambda self: max(1, len(self.families)))
    moving = Switch(default=True, read_only=True)

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
        real = _beside(typefaces, beside)
        with torch.no_grad():
            mean, log_variance = vae.encode(typefaces.picture.float().flatten(1))
        rows = [typefaces.name.index(name) for name in real]
        rows += _others(typefaces, rows)
        called = Text(shortest=1, called="typefaces.name")
        names = [called.validate(self, typefaces.name[row]) for row in rows]
        faces = {
            "names": names,
            "held": "".join(str(int(typefaces.side[row] != "train")) for row in rows),
            "kinds": "".join(str(_kind(name)) for name in names),
            "codes": _packed_codes(mean[rows]),
            "pictures": _deflated(typefaces.picture[rows[: len(real)]]),
        }
        self.set_trait("faces", faces)
        self.set_trait("families", _families(real))
        facts = {
            "d_z": vae.d_z,
            "d_letter": decoder.letter.shape[1],
            "d_hidden": decoder.hidden.out_features,
            "real": len(real),
            "typefaces": len(typefaces),
            "edge": float(chi2.ppf(EDGE, vae.d_z) ** 0.5),
            "kinds": [kind for kind, _ in KINDS],
            "planes": _planes(_codes(faces, vae.d_z), mean, typefaces.name),
            **_costs(mean, log_variance),
        }
        self.set_trait("facts", facts)
        left = MOST_BYTES - CODE_BYTES - len(json.dumps([faces, facts, self.families]))
        self.set_trait(
            "weights",
            pack(
                _rows_of(decoder),
                most_bytes=left,
                fewest_bits=FEWEST_BITS,
                most_bits=WEIGHT_BITS,
            ),
        )
        super().__init__(**given)

    @property
    def bits(self) -> int:
        """How many bits a weight has on its way to the page."""
        return self.weights["bits"]

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
    # A network begins with random weights, which are replaced at once: nobody's draws are used up.
    with torch.random.fork_rng(devices=[]):
        decoder = AlphabetDecoder(
            facts["d_z"], d_letter=facts["d_letter"], d_hidden=facts["d_hidden"]
        )
    shapes = [tuple(rows.shape) for rows in _rows_of(decoder).values()]
    parameters = dict(decoder.named_parameters())
    with torch.no_grad():
        for parameter, matrix in zip(parameters.values(), unpack(weights, shapes), strict=True):
            parameter.copy_(torch.from_numpy(matrix).reshape(parameter.shape))
    return decoder.eval()


def _rows_of(decoder: AlphabetDecoder) -> dict[str, Tensor]:
    """Every parameter as the rows that get a step each; of the style, a row is a whole letter."""
    parameters = {name: p.detach() for name, p in decoder.named_parameters()}
    return {
        name: p.reshape(len(LETTERS), -1) if name == "style" else p.reshape(-1, p.shape[-1])
        for name, p in parameters.items()
    }


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


def _beside(typefaces: Typefaces, names: Sequence[str] | None) -> list[str]:
    """The names of those whose real letters the page carries."""
    if not isinstance(typefaces, Typefaces):
        raise TypeError(
            f"typefaces is a {type(typefaces).__name__}; expected Typefaces; take load_typefaces()"
        )
    if names is None:
        known = [name for name in BESIDE if name in typefaces.name]
        names = known if len(known) > 1 else typefaces.name[:: -(-len(typefaces) // len(BESIDE))]
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"beside is {brief(names)}; expected a list of names of typefaces")
    for name in names:
        typefaces.named(name)
    if not FEWEST_BESIDE <= len(set(names)) == len(names) <= MOST_BESIDE:
        raise ValueError(
            f"beside has {len(names)} names, {len(set(names))} of them different; expected 2 to "
            f"{MOST_BESIDE} different ones, whose letters the page can carry; give more or fewer"
        )
    return list(names)


def _others(typefaces: Typefaces, taken: list[int]) -> list[int]:
    """Up to three more of each family, evenly from first to last."""
    members: dict[str, list[int]] = {}
    for row, family in enumerate(typefaces.family):
        members.setdefault(family, []).extend([] if row in taken else [row])
    return [row for own in members.values() for row in own[:: -(-len(own) // OF_A_FAMILY) or 1]]


def _kind(name: str) -> int:
    """What the name says of the style, as a place in ``KINDS``."""
    return next(i for i, (_, words) in enumerate(KINDS) if re.search(words, name, re.IGNORECASE))


def _families(names: list[str]) -> list[dict[str, Any]]:
    """Those with a regular, a bold and an italic: their places, and that of bold italic, or -1."""

    def place(title: str, styles: Sequence[str]) -> int:
        return next((i for i, name in enumerate(names) if name in styled(title, styles)), -1)

    def styled(title: str, styles: Sequence[str]) -> list[str]:
        return [f"{title} {style}" for style in styles]

    titles = [n.removesuffix(f" {s}") for n in names for s in STYLES[0] if n.endswith(f" {s}")]
    found = [
        {"title": title, "places": [place(title, s) for s in STYLES], "both": place(title, BOTH)}
        for title in dict.fromkeys(titles)
    ]
    return [family for family in found if -1 not in family["places"]]


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


def _planes(codes: Tensor, mean: Tensor, names: Sequence[str]) -> list[dict[str, Any]]:
    """The planes of the map: two orthogonal directions each, and what a reader is told of them."""
    planes = []
    if places := [family["places"] for family in _families(list(names))]:
        regular, bold, italic = mean[torch.tensor(places).T].double().mean(dim=1)
        across, up = bold - regular, italic - regular
        cosine = float(F.cosine_similarity(across, up, dim=0))
        told = (
            f"Across: the mean step from regular to bold, of {len(places)} designs that have "
            "regular, bold and italic. Up: that from regular to italic, less what it has of the "
            f"first; their cosine is {cosine:.2f}.".replace("-", "−")
        )
        orthogonal, along = torch.linalg.qr(torch.stack([across, up], dim=1))
        upright = torch.where(along.diagonal() < 0, -1, 1)
        planes.append(("bold, italic", told, (orthogonal * upright).T))
    centred = codes.double() - codes.double().mean(dim=0)
    components = torch.linalg.svd(centred, full_matrices=False)[2]
    for i, j in combinations(range(min(MOST_COMPONENTS, len(components))), 2):
        title = f"components {i + 1}, {j + 1}"
        planes.append((title, f"Principal {title} of these codes.", components[[i, j]]))
    variance = centred.square().sum().clamp(min=1e-12)
    return [
        {
            "title": title,
            "told": told,
            "directions": Array._encode(rows.float().numpy(), None),
            "share": float((centred @ rows.T).square().sum() / variance),
        }
        for title, told, rows in planes
    ]


def _costs(mean: Tensor, log_variance: Tensor) -> dict[str, Any]:
    """The axes of the code that cost most, with their mean KL in nats, and that of all."""
    nats = kl_to_standard_normal(mean[..., None], log_variance[..., None]).mean(dim=0)
    order = nats.argsort(descending=True, stable=True)[:MOST_AXES].tolist()
    return {"axes": [[axis, float(nats[axis])] for axis in order], "nats": float(nats.sum())}
