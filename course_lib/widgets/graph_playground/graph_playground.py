"""GraphPlayground: a molecule in the hand, and messages that travel along its bonds."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import Any

from course_lib.models.molecules import ATOM_FEATURES, ELEMENTS, BondConv, Molecule, MoleculeNetwork
from course_lib.widgets.graph_playground.drawings import Drawing
from course_lib.widgets.kit.packed_weights import WeightsWidget, pack, with_weights
from course_lib.widgets.kit.traits import Choice, Data, Index, Integer, brief

MOST_MOLECULES = 8
MOST_ROUNDS = 6
FEWEST_BITS = 8
DATA_BYTES = 21_600  # of molecules and weights together, so that the page stays below 60 kB


class GraphPlayground(WeightsWidget):
    r"""A molecule, or a graph of one's own, on which messages travel along the bonds.

    ``molecules`` are up to eight of :class:`course_lib.models.molecules.Molecule`, of at most 24
    atoms, to choose from; the first is shown unless ``drawing`` is given, a molecule or a dict. In
    round $k + 1$ each atom makes $h_u^{k+1} = w_{uu} h_u^k + \sum_{v \in N(u)} w_{uv} h_v^k$, where
    $h^0$ says which element it is, and ``layer`` where the weights come from: 1 in ``"sum"``
    (:class:`course_lib.graph.GraphConv`), $1/\sqrt{\hat d_u \hat d_v}$ in ``"normalized"``
    (:class:`~course_lib.graph.GCNConv`), a softmax in ``"attention"``
    (:class:`~course_lib.graph.GATConv`, whose score is 2 for what is no carbon), all with
    the identity for a matrix.

    ``network`` is a trained :class:`course_lib.models.molecules.MoleculeNetwork` with
    :class:`~course_lib.models.molecules.BondConv` layers. Its answer, and what each atom adds (the
    answer less that of ``molecule.without(atom)``), are computed in the page, in double precision.
    The weights travel rounded, as :func:`~course_lib.widgets.kit.packed_weights.pack` says:
    ``widget.bits`` is 8 to 16, as many as the molecules leave room for. ``widget.network`` is the
    network with just these weights.

    Traits, synced both ways: ``drawing``, ``layer``, ``rounds`` (0 to 6), ``rings`` (what the ring
    about each atom shows: ``"known"`` elements, ``"colours"`` of Weisfeiler and Lehman or, with a
    network, the atom's ``"parts"`` in its answer),
    ``atom`` (whose receptive field is shown; -1 for none), ``partner`` (an atom to bond it with),
    ``other`` (the molecule whose colours are compared; -1 for none) and ``drag`` (what dragging an
    atom does: it ``"moves"`` or ``"bonds"``). If it is ``moving``, it shows by itself what it is
    about, not for readers who asked for less motion: with a network, an oxygen atom lands on
    ``atom`` if that has room for it; then the first rounds of messages travel, and once there were
    as many as the network has layers, its new answer stands beside the old one. Raises
    ``TypeError`` and ``ValueError`` for what cannot be drawn. Sources: Morris et al. (2019), eq. 1;
    Kipf and Welling (2017), eq. 2; Velickovic et al. (2018), eqs. 1 to 4; Weisfeiler and Lehman
    (1968).
    """

    molecules = Data()
    drawing = Drawing(default=lambda self: self.molecules[0]["drawing"])
    layer = Choice("sum", "normalized", "attention", default="sum")
    rounds = Integer(0, MOST_ROUNDS, default=1)
    rings = Choice(
        *("known", "colours", "parts"),
        offered=lambda self: ["known", "colours", "parts"][: 3 if self.facts else 2],
        needs={"parts": "network"},
        default="known",
    )
    atom = Index(of=lambda self: len(self.drawing["element"]), unset=True, default=0)
    partner = Index(of=lambda self: len(self.drawing["element"]), unset=True)
    other = Index(of=lambda self: len(self.molecules), unset=True)
    drag = Choice("moves", "bonds", default="moves")

    def __init__(
        self,
        molecules: Iterable[Molecule],
        *,
        network: MoleculeNetwork | None = None,
        **given: Any,
    ) -> None:
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
        if "" in names:
            raise ValueError("a molecule of molecules has no name; give it one to choose it by")
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"molecules has {brief(twice[0])} twice; give each once")
        self.set_trait("molecules", entries)
        self.set_trait("facts", None if network is None else _facts_of(network))
        left = DATA_BYTES - len(json.dumps(entries, separators=(",", ":")))
        packed = network and pack(network, most_bytes=left, fewest_bits=FEWEST_BITS)
        self.set_trait("weights", packed)
        super().__init__(**given)

    @property
    def network(self) -> MoleculeNetwork | None:
        """The network with the weights that travel, in float32, which holds them exactly."""
        return None if self.facts is None else network_of(self.facts, self.weights)

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


def network_of(facts: dict[str, Any], packed: dict[str, Any]) -> MoleculeNetwork:
    """The network, in float32 and in evaluation mode, whose weights travel as ``packed``."""
    network = with_weights(lambda: MoleculeNetwork(d=facts["d"], layers=facts["layers"]), packed)
    network.mean.fill_(facts["mean"])
    network.scale.fill_(facts["scale"])
    return network


def _facts_of(network: object) -> dict[str, Any]:
    """All that has to be known of a network besides its weights."""
    if not isinstance(network, MoleculeNetwork):
        raise TypeError(
            f"network is a {type(network).__name__}; expected a "
            "course_lib.models.molecules.MoleculeNetwork"
        )
    others = [type(layer).__name__ for layer in network.layers if not isinstance(layer, BondConv)]
    if others:
        raise TypeError(
            f"network has a layer {others[0]}; expected BondConv layers alone, which the page can "
            "compute; make it with MoleculeNetwork(d=..., layers=...)"
        )
    return {
        "features": len(ATOM_FEATURES),
        "d": network.embed.out_features,
        "layers": len(network.layers),
        "mean": network.mean.item(),
        "scale": network.scale.item(),
    }
