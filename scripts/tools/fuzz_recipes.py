"""Valid calls of what ``fuzz.py`` cannot call from annotations alone.

These take functions of the caller's, or arguments that depend on each other in a way that no
annotation says. A recipe draws from PyTorch's global generator, which is seeded for each call.
"""

import importlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from course_lib import generation, mechanics, tiled_attention
from course_lib.basis import baselines, elliptic, hats, operators
from course_lib.graph import Graph, MessagePassing
from course_lib.jets import FEATURES, JetStream
from course_lib.light_curves import LightCurves, fit_harmonics
from course_lib.mechanics.backward_error import bch, modified_pendulum, poisson_bracket
from course_lib.models import stars, tagging
from course_lib.models.digit_graph import DigitGraph
from course_lib.models.molecules import BondConv, Molecule, MoleculeNetwork
from course_lib.models.words.syllables import BLANK, SyllableReader
from course_lib.support.training import fit, fit_side_by_side
from course_lib.transformer import Residual

Call = tuple[Callable, dict[str, Any]]


def call(function: Callable, **arguments: Any) -> Call:
    """A function and its arguments by name."""
    return function, arguments


def size(most: int = 4, least: int = 1) -> int:
    """A size of an axis."""
    return int(torch.randint(least, most + 1, ()))


def doubles(*shape: int) -> Tensor:
    """Positive numbers in double precision."""
    return torch.rand(shape, dtype=torch.float64) + 0.1


def nodes(count: int) -> Tensor:
    """Places that grow from 0 to 1."""
    return torch.linspace(0, 1, count, dtype=torch.float64)


def graph(atoms: int, d: int, d_edge: int | None = None) -> Graph:
    """A ring of atoms."""
    own = torch.arange(atoms)
    features = None if d_edge is None else torch.rand(atoms, d_edge)
    return Graph(torch.rand(atoms, d), torch.stack([own, own.roll(1)]), edge_features=features)


def molecule() -> Molecule:
    """A chain of carbon atoms."""
    atoms = size(least=2)
    return Molecule.drawn(["C"] * atoms, [(i, i + 1, 1) for i in range(atoms - 1)])


def curves() -> LightCurves:
    """Two stars of eight nights."""
    time = doubles(2, 8).cumsum(1)
    return LightCurves(time, doubles(2, 8), doubles(2, 8), torch.ones(2, 8, dtype=torch.bool))


def jets() -> tagging.Inputs:
    """Four jets of three particles, without features of pairs."""
    features, label = torch.rand(4, 3, len(FEATURES)), torch.tensor([0, 1, 0, 1])
    return tagging.Inputs(features, None, torch.ones(4, 3, dtype=torch.bool), label)


def digits() -> DigitGraph:
    """A graph of four digits."""
    modes = torch.eye(4, dtype=torch.float64)
    pairs = torch.tensor([[0, 1, 2], [1, 2, 3]])
    metric = {"node_weights": doubles(4), "edge_weights": doubles(3)}
    return DigitGraph(doubles(4, 64), torch.arange(4), pairs, metric, doubles(4), modes)


def report(queries: int, d: int) -> tiled_attention.Partial:
    """The state of attention after some keys."""
    return tiled_attention.Partial(doubles(queries), doubles(queries), doubles(queries, d))


def flash(module: str, queries: int) -> Call:
    """A call of a kernel whose query heads share one head of keys."""
    # Kernels learn where they run when they are imported.
    kernel = getattr(importlib.import_module(f"course_lib.kernels.{module}"), module)
    query, key, value = (torch.rand(1, heads, n, 16) for heads, n in ((2, queries), (1, 5), (1, 5)))
    return call(kernel, query=query, key=key, value=value)


def logits(ids: Tensor) -> Tensor:
    """A language model of five symbols, each of which follows the one before it."""
    return 3 * F.one_hot((ids + 1) % 5, 5).double()


def loss(model: nn.Module, _: Any) -> Tensor:
    """A loss of any network of three inputs, for any batch."""
    return model(torch.ones(2, 3)).square().mean()


def extended(method: str) -> Call:
    """A method of the logarithmic Hamiltonian at a bound state of Kepler's problem."""
    system = mechanics.LogarithmicHamiltonian(mechanics.Kepler())
    q, p = system.extended(doubles(2) + 1, doubles(2) * 0.1)
    return call(getattr(system, method), q=q, p=p)


def rods() -> elliptic.Rods:
    """Two rods."""
    series = elliptic.CosineSeries(doubles(2, size()))
    return elliptic.Rods(series, series)


def operator() -> operators.FourierOperator:
    """A neural operator on what five sensors measure."""
    return operators.FourierOperator(nodes(5), width=4, modes=3, layers=1, grid=8).double()


RECIPES: dict[str, Callable[[], Call]] = {
    "basis.baselines.kernel_regression": lambda: call(
        baselines.kernel_regression,
        kernel=partial(baselines.gaussian, length=1.0),
        asked=doubles(2, 3, 1),
        z=doubles(4, 3, 1),
        u=doubles(4, 5),
        strength=0.1,
    ),
    "basis.elliptic.solve": lambda: call(
        elliptic.solve, k=torch.exp, f=torch.sin, nodes=nodes(size(6, 3)), q=0.5
    ),
    "basis.elliptic.Rods.conductivity": lambda: call(rods().conductivity, x=nodes(size())),
    "basis.elliptic.Rods.solve": lambda: call(rods().solve, nodes=nodes(size(6, 3)), q=0.5),
    "basis.hats.relu_nodes": lambda: call(
        hats.relu_nodes,
        network=nn.Sequential(nn.Linear(1, 3), nn.ReLU(), nn.Linear(3, 1)),
        low=-1.0,
        high=1.0,
    ),
    "basis.operators.FourierOperator.forward": lambda: call(
        operator().forward,
        x=doubles(2, 3).clamp(max=1),
        place=nodes(5).expand(2, 5),
        z=doubles(2, 5, 1),
    ),
    "basis.operators.muon_and_adamw": lambda: call(
        operators.muon_and_adamw,
        network=nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1)),
        inner=("1.weight",),
    ),
    "generation.speculative.speculative_decoding": lambda: call(
        generation.speculative_decoding,
        target=logits,
        draft=logits,
        prompt=torch.tensor([1, 2]),
        ahead=size(),
        tokens=size(),
        stop=4,
    ),
    "graph.layers.MessagePassing.__init__": lambda: call(
        MessagePassing,
        message=lambda _, sent_from, __: sent_from,
        update=torch.add,
        aggregate="max",
    ),
    "graph.layers.MessagePassing.forward": lambda: call(
        MessagePassing(lambda _, sent_from, __: sent_from, torch.add).forward,
        graph=graph(size(), 3),
    ),
    "jets.jetclass.JetStream.__init__": lambda: call(
        JetStream, files=[Path(__file__)], batch=2, particles=4, rank=0, ranks=1, seed=1
    ),
    "jets.jetclass.JetStream.set_epoch": lambda: call(
        JetStream(__file__, batch=2).set_epoch, epoch=size()
    ),
    "kernels.flash_attention.flash_attention": lambda: flash("flash_attention", size(6)),
    "kernels.flash_decoding.flash_decoding": lambda: flash("flash_decoding", 1),
    "light_curves.periodogram.HarmonicFit.at": lambda: call(
        fit_harmonics(doubles(9).cumsum(0), doubles(9), doubles(9), doubles()).at,
        time=doubles(size()),
    ),
    # Of X, Y and the bracket it asks for sums and multiples alone.
    "mechanics.backward_error.bch": lambda: call(
        partial(bch, doubles(2, 2), doubles(2, 2), bracket=lambda X, Y: X @ Y - Y @ X),
        order=size(),
    ),
    "mechanics.backward_error.poisson_bracket": lambda: call(
        poisson_bracket, **dict(zip("fg", modified_pendulum(2), strict=True))
    ),
    **{
        f"mechanics.time_transformation.LogarithmicHamiltonian.{method}": partial(extended, method)
        for method in ("energy", "grad_q", "grad_p")
    },
    "mechanics.trajectories.symplecticity_error": lambda: call(
        mechanics.symplecticity_error, flow=lambda q, p: (q + p, p), q=doubles(2), p=doubles(2)
    ),
    "models.digit_graph.DigitGraph.spectrum": lambda: call(digits().spectrum, field=doubles(4, 2)),
    "models.digit_graph.DigitGraph.through": lambda: call(digits().through, factor=doubles(4)),
    "models.molecules.Molecule.without": lambda: call(molecule().without, atom=0),
    "models.molecules.BondConv.forward": lambda: call(
        BondConv(3, 2, 2).forward, graph=graph(size(), 3, 2)
    ),
    **{
        f"models.molecules.MoleculeNetwork.{method}": lambda method=method: call(
            getattr(MoleculeNetwork(d=4, layers=size()), method), graph=molecule().graph()
        )
        for method in ("forward", "after_each_layer")
    },
    "models.stars.posterior_at_period": lambda: call(
        stars.posterior_at_period,
        curves=curves(),
        period=doubles(2),
        time=doubles(2, size()),
        variance=doubles(2 * size() + 1),
        hidden=torch.rand(2, 8).round().bool(),
    ),
    "models.stars.seasons": lambda: call(
        stars.seasons, curves=[curves()[:1]], nights=size(8, 2), days=75.0, largest_error=2.0
    ),
    "models.tagging.logits_of": lambda: call(
        tagging.logits_of, model=tagging.DeepSet(2, d_hidden=4), inputs=jets(), batch=size()
    ),
    "models.tagging.mirrored": lambda: call(
        tagging.mirrored,
        features=jets().features,
        random=torch.Generator().manual_seed(size()),
    ),
    "models.tagging.train_tagger": lambda: call(
        tagging.train_tagger,
        model=tagging.DeepSet(2, d_hidden=4),
        inputs=jets(),
        epochs=1,
        batch=size(),
        progress=False,
        callback=lambda *_: None,
    ),
    "models.words.syllables.SyllableReader.forward": lambda: call(
        SyllableReader(size()).forward, ids=torch.randint(BLANK, (size(), size()))
    ),
    "support.training.fit": lambda: call(
        fit,
        model=nn.Linear(3, 1),
        loss=loss,
        batches=[torch.rand(2, 3)],
        steps=2,
        progress=False,
        optimizer=torch.optim.SGD,
        clip=1.0,
    ),
    "support.training.fit_side_by_side": lambda: call(
        fit_side_by_side,
        models=[nn.Linear(3, 1), nn.Linear(3, 1)],
        loss=loss,
        batches=[torch.rand(2, 3)],
        steps=2,
        warm_up=1,
    ),
    "tiled_attention.finish": lambda: call(tiled_attention.finish, partial=report(size(), 2)),
    "tiled_attention.merge": lambda: call(
        tiled_attention.merge, first=report(3, 2), second=report(3, 2)
    ),
    "transformer.parts.Residual.forward": lambda: call(
        Residual(4).forward, x=torch.rand(size(), 4), layer=nn.Linear(4, 4)
    ),
}
