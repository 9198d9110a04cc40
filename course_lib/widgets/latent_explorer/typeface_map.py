"""Which typefaces stand on the map of LatentExplorer, what their names say, and its planes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import torch
from torch import Tensor

from course_lib.models.typefaces import Typefaces
from course_lib.widgets.kit.traits import Array, brief

FEWEST_BESIDE, MOST_BESIDE = 2, 32
OF_A_FAMILY = 3  # on the map, besides those whose letters are shown
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


def named_beside(typefaces: Typefaces, names: Sequence[str] | None) -> list[str]:
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


def others_of_each_family(typefaces: Typefaces, taken: list[int]) -> list[int]:
    """Up to three more of each family, evenly from first to last."""
    members: dict[str, list[int]] = {}
    for row, family in enumerate(typefaces.family):
        members.setdefault(family, []).extend([] if row in taken else [row])
    return [row for own in members.values() for row in own[:: -(-len(own) // OF_A_FAMILY) or 1]]


def kind_of(name: str) -> int:
    """What the name says of the style, as a place in ``KINDS``."""
    return next(i for i, (_, words) in enumerate(KINDS) if re.search(words, name, re.IGNORECASE))


def families_of(names: list[str]) -> list[dict[str, Any]]:
    """Those with a regular, a bold and an italic: their places, and that of bold italic, or -1."""
    places = {name: i for i, name in enumerate(names)}

    def place(title: str, styles: Sequence[str]) -> int:
        named = [f"{title} {style}" for style in styles]
        return next((places[name] for name in named if name in places), -1)

    titles = [n.removesuffix(f" {s}") for n in names for s in STYLES[0] if n.endswith(f" {s}")]
    found = [
        {"title": title, "places": [place(title, s) for s in STYLES], "both": place(title, BOTH)}
        for title in dict.fromkeys(titles)
    ]
    return [family for family in found if -1 not in family["places"]]


def planes_of(codes: Tensor, mean: Tensor, names: Sequence[str]) -> list[dict[str, Any]]:
    """The planes of the map: two orthogonal directions each, and what a reader is told of them."""
    planes = []
    if places := [family["places"] for family in families_of(list(names))]:
        regular, bold, italic = mean[torch.tensor(places).T].double().mean(dim=1)
        across, up = bold - regular, italic - regular
        told = (
            "the mean step from regular to bold (across) and, at right angles to it, that to "
            "italic (up)"
        )
        orthogonal, along = torch.linalg.qr(torch.stack([across, up], dim=1))
        upright = torch.where(along.diagonal() < 0, -1, 1)
        planes.append(("bold, italic", told, (orthogonal * upright).T))
    centred = codes.double() - codes.double().mean(dim=0)
    components = torch.linalg.svd(centred, full_matrices=False)[2]
    for i, j in combinations(range(min(MOST_COMPONENTS, len(components))), 2):
        title = f"components {i + 1}, {j + 1}"
        planes.append((title, f"principal {title} of these codes", components[[i, j]]))
    return [
        {
            "title": title,
            "told": told,
            "directions": Array._encode(rows.float().numpy(), None),
        }
        for title, told, rows in planes
    ]
