r"""A network that reads a molecule: atoms talk along bonds, and one number comes out.

:class:`MoleculeNetwork` takes graphs of :mod:`course_lib.molecules` and any layer of
:mod:`course_lib.graph`. With :class:`BondConv`, a convolution whose messages depend on the bond
that they travel along, it computes, for atoms $x_u$ and bonds $e_{vu}$,

- $h_u = E x_u + b$ for every atom (``embed``);
- three times $h_u \leftarrow h_u + \mathrm{ReLU}\big(W_1 h_u + b_1 +
  \sum_{v \in \mathcal{N}(u)} (W_2 h_v + b_2) \odot B e_{vu}\big)$ (``layers``, in each of which
  $W_1, b_1$ are ``own``, $W_2, b_2$ ``neighbours`` and $B$ ``bond``);
- $p$, the sum of $h_u$ over all atoms divided by 10, and after it their mean;
- $\mu + s\,\big(w^\top \mathrm{ReLU}(R p + r) + c\big)$, the logarithm of the solubility
  (``readout``, with ``mean`` $\mu$ and ``scale`` $s$ those of what it learned from).

:func:`train_network` trains it; :func:`trained` brings the networks of lecture 8, which
``scripts/data/train_molecules.py`` trained, one for each kind of layer in :data:`LAYERS` and each
seed.
"""

from collections.abc import Callable, Iterable
from pathlib import Path

import torch
from einops import rearrange
from jaxtyping import Float
from torch import Tensor, nn
from torch.optim import AdamW

from course_lib.checks import check_choice, check_shapes
from course_lib.graph import (
    Graph,
    GraphAttention,
    GraphConv,
    MessagePassing,
    NormalizedGraphConv,
    mean_pool,
    sum_pool,
)
from course_lib.molecules import ATOM_FEATURES, BOND_FEATURES
from course_lib.support.contracts import Count, Size, checked
from course_lib.training import fit_one_cycle

DATA = Path(__file__).parent / "data" / "molecule_networks.npz"

ATOMS = 10.0
"""The sum over atoms is divided by this, about their number, so that it is as large as the mean."""


class BondConv(nn.Module):
    r"""A convolution that hears which bond a message came along.

    $x_u \mapsto W_1 x_u + b_1 + \sum_{v \in \mathcal{N}(u)} (W_2 x_v + b_2) \odot B e_{vu}$, a case
    of :class:`~course_lib.graph.MessagePassing`. Where all rows of $B^\top$ are ones, as they are
    in the beginning, all bonds are alike. Without edge features it raises ``ValueError``.
    The product of a message with what its edge says is that of Schütt et al. (2017).
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
        """Send along every bond, add up, and add what the atom makes of itself."""
        if graph.edge_features is None:
            raise ValueError(
                f"the graph has no edge features; expected {self.bond.in_features} for each edge; "
                "give the graph edge_features, or take GraphConv"
            )
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
    r"""Molecules in, one number each out: embed, ``layers`` rounds of messages, pool, read out.

    ``layer(d)`` makes a layer from ``d`` features to ``d``, such as
    ``lambda d: GraphConv(d, d)``; :class:`BondConv` unless given. The formula stands at the top of
    this module. ``mean`` and ``scale`` turn the answer into the unit of what is predicted:
    :meth:`answers_like` sets them.
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
        """Itself, with the mean and the standard deviation of ``measured`` for its answers."""
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
        """What the atoms know: after the embedding, and after each layer."""
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
    r"""No messages: every node looks at itself, $x_u \mapsto W x_u + b$."""

    def __init__(self, d_in: int, d_out: int) -> None:
        super().__init__()
        self.own = nn.Linear(d_in, d_out)

    def forward(self, graph: Graph) -> Float[Tensor, "nodes d_out"]:
        """Every node for itself."""
        return self.own(graph.x)


LAYERS: dict[str, Callable[[int], nn.Module]] = {
    "alone": lambda d: Alone(d, d),
    "convolution": lambda d: GraphConv(d, d),
    "normalized": lambda d: NormalizedGraphConv(d, d),
    "attention 1": lambda d: GraphAttention(d, d, 4, version=1),
    "attention 2": lambda d: GraphAttention(d, d, 4, version=2),
    "attention 2, bonds": lambda d: GraphAttention(d, d, 4, version=2, d_edge=len(BOND_FEATURES)),
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

    A batch is a graph and what was measured of each molecule in it. The learning rate rises to
    ``learning_rate`` in the first third and falls to 0 in the rest (Smith and Topin, 2019).
    """
    optimizer = AdamW(network.parameters(), lr=learning_rate, foreach=True)

    def loss(network: MoleculeNetwork, batch: tuple[Graph, Tensor]) -> Tensor:
        graph, measured = batch
        return ((network(graph) - measured) / network.scale).square().mean()

    return fit_one_cycle(
        network, loss, batches, steps=steps, optimizers=[optimizer], progress=progress
    )


def trained(kind: str = "convolution, bonds", seed: int = 0) -> MoleculeNetwork:
    """The network with layers of ``kind``, a name in :data:`LAYERS`, trained from ``seed``.

    ``scripts/data/train_molecules.py`` made it, and ``data/molecule_networks.md`` says how. Raises
    ``ValueError`` for another kind, and for a seed that was not trained.
    """
    import numpy as np

    check_choice("kind", kind, LAYERS)
    with np.load(DATA) as stored:
        check_choice("seed", str(seed), [str(known) for known in stored["seeds"]])
        weights = torch.from_numpy(stored[f"{kind} {seed}"]).float()
        mean, scale = torch.from_numpy(stored["mean_and_scale"])
    network = MoleculeNetwork(LAYERS[kind])
    nn.utils.vector_to_parameters(weights, network.parameters())
    network.mean.copy_(mean)
    network.scale.copy_(scale)
    return network.eval()
