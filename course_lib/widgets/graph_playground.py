"""GraphPlayground: a molecule in the hand, and messages that travel along its bonds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import torch

from course_lib.molecules import ELEMENTS, ORDERS, Molecule
from course_lib.widgets.base import Widget
from course_lib.widgets.traits import Choice, Data, Index, Integer, Text, Trait, brief

MOST_ATOMS = 24  # a ring each that a finger can take, in a picture of 300 pixels
MOST_MOLECULES = 12
MOST_ROUNDS = 6
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
        "place": ((place - (low + high) / 2) * min(room, usual)).numpy().round(3).tolist(),
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
                    f"course_lib.molecules.Molecule, or a dict of {', '.join(PARTS)}"
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
            "hydrogens": [self._whole("hydrogens", n, 0, 8) for n in value["hydrogens"]],
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


class GraphPlayground(Widget):
    r"""A molecule, or a graph of one's own, on which messages travel along the bonds.

    ``molecules`` are up to 12 of :class:`course_lib.molecules.Molecule`, of at most 24 atoms, to
    choose from; the first is shown unless ``drawing`` is given, a molecule or a dict.
    In round $k + 1$ each atom makes $h_u^{k+1} = w_{uu} h_u^k + \sum_{v \in N(u)} w_{uv} h_v^k$,
    where $h^0$ says which element it is, and ``layer`` where the weights come from: 1 in ``"sum"``
    (:class:`course_lib.graph.GraphConv`), $1/\sqrt{\hat d_u \hat d_v}$ in ``"normalized"``
    (:class:`~course_lib.graph.NormalizedGraphConv`), a softmax in ``"attention"``
    (:class:`~course_lib.graph.GraphAttention`, whose score is 2 for what is no carbon), all with
    the identity for a matrix.

    Traits, synced both ways: ``drawing``, ``layer``, ``rounds`` (0 to 6), ``rings`` (what the ring
    about each atom shows: ``"known"`` elements or ``"colours"`` of Weisfeiler and Lehman),
    ``atom`` (whose receptive field is shown; -1 for none), ``partner`` (an atom to bond it with),
    ``other`` (the molecule whose colours are compared; -1 for none) and ``drag`` (what dragging an
    atom does: it ``"moves"`` or ``"bonds"``). Raises ``TypeError`` and ``ValueError`` for what
    cannot be drawn. Sources: Morris et al. (2019), eq. 1; Kipf and Welling (2017), eq. 2;
    Velickovic et al. (2018), eqs. 1 to 4; Weisfeiler and Lehman (1968).
    """

    _module = "graph_playground.js"

    molecules = Data()
    drawing = Drawing(default=lambda self: self.molecules[0]["drawing"])
    layer = Choice("sum", "normalized", "attention", default="sum")
    rounds = Integer(0, MOST_ROUNDS, default=1)
    rings = Choice("known", "colours", default="known")
    atom = Index(of=lambda self: len(self.drawing["element"]), unset=True, default=0)
    partner = Index(of=lambda self: len(self.drawing["element"]), unset=True)
    other = Index(of=lambda self: len(self.molecules), unset=True)
    drag = Choice("moves", "bonds", default="moves")

    def __init__(self, molecules: Iterable[Molecule], **given: Any) -> None:
        listed = list(molecules)
        if not 1 <= len(listed) <= MOST_MOLECULES:
            raise ValueError(
                f"molecules has {len(listed)} entries; expected 1 to {MOST_MOLECULES}, among which "
                "a reader can choose; show fewer"
            )
        drawn = Drawing(called="molecules")
        entries = [
            {
                "drawing": drawn.validate(self, molecule),
                "solubility": None if math.isnan(s := float(molecule.solubility)) else s,
                "test": bool(molecule.test),
            }
            for molecule in listed
        ]
        names = [entry["drawing"]["name"] for entry in entries]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"molecules has {brief(twice[0])} twice; give each once")
        self.set_trait("molecules", entries)
        super().__init__(**given)

    def describe(self) -> str:
        """Which molecule is drawn, and what can be done with it."""
        drawing = self.drawing
        kinds = {e: drawing["element"].count(e) for e in ELEMENTS if e in drawing["element"]}
        made_of = ", ".join(f"{count} {element}" for element, count in kinds.items())
        names = ", ".join(entry["drawing"]["name"] for entry in self.molecules)
        return (
            f"Graph playground: {drawing['name'] or 'a graph'} of {len(drawing['element'])} atoms "
            f"({made_of}) and {len(drawing['bonds'])} bonds, along which atoms tell each other "
            f"what they know, round by round. To choose from: {names}."
        )
