"""Molecules, and graphs of one's own, as a widget keeps and checks them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import torch

from course_lib.models.molecules import ELEMENTS, ORDERS, Molecule
from course_lib.widgets.kit.traits import Integer, Text, Trait, brief

MOST_ATOMS = 24  # a ring each that a finger can take, in a picture of 300 pixels
MOST_HYDROGENS = 8
MOST_CHARGE = 1
REACH = (4.0, 3.0)  # half-sides of the field in which atoms are placed
MARGIN = 0.5
LONGEST_BOND = 1.2
PARTS = ("name", "element", "hydrogens", "charge", "place", "bonds")


def drawing_of(molecule: Molecule) -> dict[str, Any]:
    """A molecule as the widget keeps it, in the middle of the field and as large as fits there.

    One whose atoms all stand at one place, for nobody has drawn it, is laid out in a circle.
    """
    place = molecule.place.double()
    if len(place) and (place == place[0]).all():
        angle = 2 * math.pi * torch.arange(len(place)) / len(place)
        place = torch.stack([angle.cos(), angle.sin()], dim=1)
    low, high = (place.amin(0), place.amax(0)) if len(place) else (torch.zeros(2),) * 2
    room = (2 * (torch.tensor(REACH) - MARGIN) / (high - low)).min()
    first, second = molecule.bonds
    lengths = (place[first] - place[second]).norm(dim=1)
    usual = LONGEST_BOND / lengths.median() if len(lengths) else LONGEST_BOND
    return {
        "name": molecule.name,
        "element": molecule.symbols,
        "hydrogens": molecule.hydrogens.tolist(),
        "charge": molecule.charge.tolist(),
        "place": ((place - (low + high) / 2) * min(room, usual)).numpy().round(2).tolist(),
        "bonds": [
            [min(i, j), max(i, j), order]
            for i, j, order in zip(*molecule.bonds.tolist(), molecule.orders.tolist(), strict=True)
        ],
    }


class Drawing(Trait):
    """A molecule or a graph of one's own: a dict of ``PARTS``, with an entry for each atom."""

    def _check(self, widget: Any, value: Any) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            if not isinstance(value, Molecule):
                raise TypeError(
                    f"{self.called} is {brief(value)}; expected a "
                    f"course_lib.models.molecules.Molecule, or a dict of {', '.join(PARTS)}"
                )
            value = drawing_of(value)
        if missing := [part for part in PARTS if part not in value]:
            raise ValueError(
                f"{self.called} lacks {', '.join(missing)}; give each an entry an atom"
            )
        atoms = len(value["element"])
        self._check_number(atoms, value["name"])
        drawing = {
            "name": Text(called=f"{self.called}['name']").validate(widget, value["name"]),
            "element": [self._one("element", e, ELEMENTS) for e in value["element"]],
            "hydrogens": [
                self._whole("hydrogens", n, 0, MOST_HYDROGENS) for n in value["hydrogens"]
            ],
            "charge": [
                self._whole("charge", q, -MOST_CHARGE, MOST_CHARGE) for q in value["charge"]
            ],
            "place": [self._placed(place) for place in value["place"]],
            "bonds": [self._bond(bond, atoms) for bond in value["bonds"]],
        }
        for part in PARTS[1:-1]:
            if len(drawing[part]) != atoms:
                raise ValueError(
                    f"{self.called}[{part!r}] has {len(drawing[part])} entries for {atoms} atoms; "
                    "give as many as element has"
                )
        ends = [tuple(bond[:2]) for bond in drawing["bonds"]]
        if twice := sorted({pair for pair in ends if ends.count(pair) > 1}):
            raise ValueError(f"{self.called} bonds the atoms {twice[0]} twice; give one order each")
        return drawing

    def _check_number(self, atoms: int, name: Any) -> None:
        if atoms > MOST_ATOMS:
            raise ValueError(
                f"{self.called} {brief(name)} has {atoms} atoms; expected {MOST_ATOMS} at most, "
                "which can be told apart in the picture; choose a smaller molecule"
            )

    def _one(self, part: str, value: Any, options: Iterable[Any]) -> Any:
        if value not in options:
            listed = ", ".join(map(str, options))
            raise ValueError(
                f"{self.called}[{part!r}] holds {brief(value)}; expected one of {listed}"
            )
        return value

    def _whole(self, part: str, value: Any, low: int, high: int) -> int:
        checked = Integer(low, high, called=f"{self.called}[{part!r}]")
        return checked.validate(None, value)

    def _placed(self, place: Any) -> list[float]:
        numbers = [float(part) for part in place]
        if len(numbers) != 2 or not all(  # noqa: PLR2004 - across and up
            abs(part) <= reach for part, reach in zip(numbers, REACH, strict=False)
        ):
            raise ValueError(
                f"{self.called}['place'] holds {brief(place)}; expected two numbers within "
                f"±{REACH[0]:g} and ±{REACH[1]:g}; rescale the drawing"
            )
        return numbers

    def _bond(self, bond: Any, atoms: int) -> list[int]:
        i, j, order = bond
        first, last = (self._whole("bonds", end, 0, atoms - 1) for end in (i, j))
        if first >= last:
            raise ValueError(
                f"{self.called}['bonds'] holds {brief(bond)}; expected two atoms, the smaller "
                "number first, and an order"
            )
        return [first, last, self._whole("bonds", order, 1, len(ORDERS))]
