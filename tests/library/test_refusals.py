"""The library refuses bad arguments, and the message names the bad one."""

import math
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from seeded_tensors import randn
from torch import Tensor, nn

from course_lib import attention as att
from course_lib import (
    autoencoder,
    basis,
    generation,
    graph,
    graph_dynamics,
    jets,
    light_curves,
    mechanics,
    position,
    recurrent,
    symplectic,
    tiled_attention,
    transformer,
)
from course_lib.jets import jetclass
from course_lib.models import molecules, stars, sympnets, tagging, typefaces
from course_lib.models.words import name_decoder, spelling, syllables
from course_lib.support import training

V, T = ValueError, TypeError
Rows = list[tuple[Callable[[], object], type[Exception], str]]
X = randn(2, 3, 4)
MASK = torch.ones(3, 3, dtype=torch.bool)
IDS = torch.tensor([[1, 2, 3], [4, 5, 6]])
NO_EDGES = torch.zeros(2, 0, dtype=torch.int64)
GENERATOR = torch.Generator()


def of_attention() -> Rows:
    hides = torch.tensor([0, 0, -math.inf], dtype=torch.float64)[None]
    many = att.MultiHeadAttention
    return [
        (lambda: att.attention(X, X, X, mask=MASK.triu(), bias=hides), V, "row (2,)"),
        (lambda: att.attention(X, *[X[[0, 0, 0]]] * 2, grouped=True), V, "kv_heads"),
        (lambda: att.attention(X, X[:, :0], X[:, :0]), V, "(2, 3, 0)"),
        (lambda: att.attention(X, X, X, backend="triton", mask=MASK.T.triu()), V, "mask"),
        (lambda: att.attention(X, X, X, backend="triton", bias=X[..., :3]), V, "bias"),
        (lambda: att.attention(X, X, X, backend="triton", dropout=0.1), V, "dropout"),
        (lambda: att.pooled_memory(X, X[..., 0] / 0), V, "score"),
        (lambda: att.pooled_memory(X, -X[..., 0].abs() / 0), V, "row (0,)"),
        (lambda: many(8, 3), V, "heads"),
        (lambda: many(8, 4, kv_heads=3), V, "kv_heads"),
        (lambda: many(4, 2, d_context=5).double()(X), V, "context"),
        (lambda: many(4, 2).double()(X, mask=MASK.expand(2, 3, 3)), V, "mask"),
    ]


def of_kernels() -> Rows:
    from interpreted_kernels import ON_GPU, decoding, flash, symplectic

    device = "cuda" if ON_GPU else "cpu"
    one = torch.ones(1, 2, 4, 16, device=device)
    far = torch.ones((), device=device).expand(1, 1, 2**27, 16)
    near, z, A = one[:1, :1, :1], one[0], torch.ones(16, 16, device=device)
    attend, decode = flash.flash_attention, decoding.flash_decoding
    field = symplectic.symplectic_flash

    def shaped(*shape: int) -> Tensor:
        return torch.ones(shape, device=device)

    return [
        (lambda: attend(far, near, near), V, "134217728 tokens"),
        (lambda: attend(*[shaped(1, 1, 4, 257)] * 3), V, "257 features"),
        (lambda: attend(*[one.double()] * 3), T, "torch.float64"),
        (lambda: attend(one, one[:, :, :0], one[:, :, :0]), V, "key"),
        (lambda: attend(shaped(1, 3, 4, 16), one, one), V, "kv_heads"),
        (lambda: attend(shaped(1, 2, 5, 16), one, one, causal=True), V, "look at nothing"),
        (lambda: decode(one[:, :, :1], one.clone().requires_grad_(), one), V, "gradient"),
        (lambda: field(shaped(3, 257), shaped(257, 257)), V, "257 features"),
        (lambda: field(z[:, :0], A), V, "z"),
    ]


def of_transformer() -> Rows:
    torch.manual_seed(0)
    decoder = partial(transformer.Decoder, 11, 8, 2, 2, tokens=12)
    model, crossed = decoder().double(), decoder(cross=True).double()
    attention, x = transformer.BlockAttention(8, 2).double(), randn(2, 3, 8)

    def filled(model: nn.Module, *shape: int) -> generation.KeyValueCache:
        cache = generation.KeyValueCache()
        model(torch.zeros(shape, dtype=torch.int64), cache)
        return cache

    def broken_off(*, at: int) -> generation.KeyValueCache:
        """A cache after a first call and a second one that failed in one of the layers."""
        cache = filled(model, 2, 3) if at else generation.KeyValueCache()
        hook = model.blocks[1].register_forward_pre_hook(lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            model(IDS[:, :1], cache)
        hook.remove()
        return cache

    def second_context() -> None:
        cache = generation.KeyValueCache()
        for seed in range(2):
            crossed(IDS[:, :1], cache, context=randn(2, 3, 8, seed=seed))

    def another_dtype() -> None:
        other = decoder().double()
        cache = filled(other, 2, 3)
        other.float()(IDS, cache)

    return [
        (lambda: transformer.Decoder(5, 6, 2, 1, tokens=4, position="rotary"), V, "head"),
        (lambda: attention(x, x, position=torch.arange(3)), V, "position"),
        (lambda: model(IDS[:, :0]), V, "ids"),
        (lambda: model(IDS + 9), V, "ids"),
        (lambda: crossed(IDS), V, "context"),
        (lambda: model(IDS, context=x), V, "context"),
        (lambda: model(IDS, filled(model, 3, 2)), V, "cache"),
        (lambda: model(IDS, broken_off(at=0)), V, "cache"),
        (lambda: model(IDS, broken_off(at=3)), V, "cache"),
        (second_context, V, "context"),
        (another_dtype, T, "cache"),
    ]


def of_generation() -> Rows:
    torch.manual_seed(0)
    model, flat = transformer.Decoder(11, 8, 2, 1, tokens=12), torch.zeros(2, 5)
    translator = transformer.EncoderDecoder(7, 11, 8, 2, 1, tokens=9)
    odds, write = generation.next_token_probabilities, generation.generate
    speculate = partial(generation.speculative_decoding, prompt=IDS[0], ahead=2, tokens=3)
    bad = [("temperature", 0), ("top_k", 12), ("top_p", 0), ("top_p", 1.1)]
    return [
        *((partial(odds, flat, **{name: value}), V, name) for name, value in bad),
        *((partial(write, model, IDS, steps=3, **{name: value}), V, name) for name, value in bad),
        (lambda: odds(flat - math.inf), V, "logit"),
        (lambda: write(translator, IDS, steps=1), T, "model"),
        (lambda: write(model, IDS[:, :0], steps=1), V, "prompt"),
        (lambda: write(model, IDS + 9, steps=1), V, "prompt"),
        (lambda: write(model, IDS, steps=11), V, "steps"),
        (lambda: write(model, IDS, steps=1, stop=11), V, "stop"),
        (lambda: speculate(model, lambda _: None), T, "draft"),
        (lambda: speculate(lambda _: flat, model), V, "target"),
    ]


def of_masked_language_model() -> Rows:
    make = partial(transformer.MaskedLanguageModel, 11, 8, tokens=4)
    model, valid, logits = make(2, 2), IDS > 0, torch.zeros(2, 3, 11)
    hide = partial(transformer.hide, IDS, mask=4, vocabulary_size=11)
    loss = transformer.masked_loss
    return [
        (lambda: model(IDS[:, :0]), V, "ids"),
        (lambda: model(IDS.repeat(1, 2)), V, "6 tokens"),
        (lambda: model.attention_weights(IDS, valid=IDS > 3), V, "sequence (0,)"),
        (lambda: hide(mask=11), V, "mask"),
        (lambda: loss(logits, IDS, ~valid), V, "nothing to guess"),
    ]


def of_tiled_attention() -> Rows:
    q, k, v = randn(2, 3), randn(5, 3, seed=1), randn(5, 2, seed=2)
    tiled = partial(tiled_attention.tiled_attention, query_tile=2, key_tile=2)
    gradients = partial(tiled_attention.tiled_gradients, query_tile=2, key_tile=2)
    part = tiled_attention.partial_attention
    report = part(q, k, v)
    nothing = part(q, k, v, mask=torch.zeros(2, 5, dtype=torch.bool))
    flops = tiled_attention.attention_flops
    return [
        (lambda: flops(query=5, key=4, d=8, causal=True), V, "5 queries"),
        (lambda: tiled(k, q, v[:2], causal=True), V, "5 queries"),
        (lambda: gradients(q, k[:0], v[:0], q[:, :2]), V, "(2, 0)"),
        (lambda: tiled_attention.finish(nothing), V, "row (0,)"),
        (lambda: tiled_attention.merge(report, part(k, k, v)), V, "second.maximum"),
    ]


def of_position() -> Rows:
    def table(tokens: int) -> position.LearnedPosition:
        return position.LearnedPosition(tokens, 4).double()

    rotary, places = position.rotary, torch.arange
    return [
        (lambda: position.sinusoidal(3, 5), V, "d_model"),
        (lambda: rotary(X[..., :3]), V, "d"),
        (lambda: table(2)(X), V, "x"),
        (lambda: table(5)(X, position=places(3, 6)), V, "position"),
        (lambda: position.relative_buckets(3, buckets=10), V, "buckets"),
        (lambda: position.relative_buckets(3, farthest=8), V, "farthest"),
    ]


def of_recurrent() -> Rows:
    state, step = randn(2, 4), recurrent.lstm_step
    return [
        (lambda: recurrent.GRU(3, 4)(torch.zeros(2, 0, 3)), V, "x"),
        (lambda: recurrent.gru_gates(state, state), V, "3 * d_hidden"),
        (lambda: recurrent.lstm_gates(randn(2, 6), randn(2, 6)), V, "4 * d_hidden"),
        (lambda: step(randn(2, 8), randn(2, 8), randn(2, 1)), V, "cell"),
        (lambda: recurrent.linear_recurrence(randn(0, 2), randn(0, 2)), V, "length"),
        (lambda: recurrent.parallel_scan(randn(0, 2), randn(0, 2)), V, "length"),
    ]


def of_modern_block() -> Rows:
    x = randn(2, 3, 8)

    def block(d_model: int = 8, heads: int = 2, **more: object) -> transformer.ModernBlock:
        return transformer.ModernBlock(d_model, heads, **{"kv_heads": 1, "d_hidden": 4, **more})

    return [
        (lambda: transformer.MixtureOfExperts(8, 4, 3, 4), V, "active"),
        (lambda: block(6), V, "d_model"),
        (lambda: block(8, 3), V, "heads"),
        (lambda: block(experts=3), V, "active"),
        (lambda: block().double()(x, mask=x[0] > 0), V, "mask"),
    ]


def of_training() -> Rows:
    model, batches = nn.Linear(1, 1), [(torch.ones(4, 1), torch.zeros(4, 1))]

    def error(model: nn.Module, batch: tuple[Tensor, Tensor]) -> Tensor:
        return (model(batch[0]) - batch[1]).square().mean()

    def fit(loss: Callable = error, **more: object) -> object:
        return training.fit(model, loss, batches, **{"steps": 3, "progress": False, **more})

    beside = partial(training.fit_side_by_side, [model], batches=[torch.ones(1, 4, 1)], steps=1)
    return [
        (lambda: fit(lambda *_: 1.0), T, "loss"),
        (lambda: fit(lambda model, batch: model(batch[0])), V, "loss"),
        (lambda: fit(lambda *_: torch.zeros(())), V, "loss"),
        (lambda: fit(lambda *given: error(*given) / 0), FloatingPointError, "loss"),
        (lambda: fit(optimizer=lambda *_, **__: None), T, "optimizer"),
        (lambda: fit(schedule=lambda *_: None), T, "schedule"),
        (lambda: training.fit_side_by_side([], error, batches, steps=1), V, "models"),
        (lambda: beside(loss=error, warm_up=8), V, "warm_up"),
        (lambda: beside(loss=lambda *_: None), T, "loss"),
        (lambda: beside(loss=lambda model, batch: model(batch)), V, "loss"),
        (lambda: beside(loss=lambda *_: torch.zeros(())), V, "loss"),
        (lambda: beside(loss=lambda model, x: model(x).sum() / 0), FloatingPointError, "loss"),
    ]


def of_basis() -> Rows:
    nodes, x = torch.tensor([0.0, 1.0, 3.0]), torch.tensor([0.5, 2.0])
    hat, bends, drop = basis.hat, basis.relu_nodes, partial(basis.dropout, generator=GENERATOR)
    return [
        (lambda: hat(x, nodes.flip(0)), V, "nodes"),
        (lambda: hat(x, nodes[:1]), V, "nodes"),
        (lambda: hat(x + 2, nodes), V, "x"),
        (lambda: basis.hat_keys(nodes.flip(0)), V, "nodes"),
        (lambda: basis.sparsemax(nodes * math.nan), V, "score"),
        (lambda: basis.sparsemax(nodes - math.inf), V, "look"),
        (lambda: drop(nodes, 1), V, "p"),
        (lambda: bends(nn.Sequential(nn.Linear(2, 1)), 0, 1), V, "in_features=2"),
        (lambda: bends(nn.Sequential(nn.Linear(1, 1), nn.GELU()), 0, 1), T, "GELU"),
        (lambda: bends(nn.Sequential(nn.Linear(1, 1)), 1, 1), V, "low"),
    ]


def of_operators() -> Rows:
    nodes = torch.linspace(0, 1, 6, dtype=torch.float64)
    solve, one = basis.solve, torch.ones_like
    x, place, z = torch.rand(2, 5), torch.rand(2, 4), torch.rand(2, 4, 1)
    field, deep = basis.CrossAttentionField(8, 2, 1), basis.DeepONet(6, d_z=2, width=4)
    return [
        (lambda: solve(one, one, nodes.flip(0)), V, "nodes"),
        (lambda: solve(lambda x: -x, one, nodes), V, "k"),
        (lambda: solve(one, lambda x: x / 0, nodes), V, "f"),
        (lambda: field(x, place[:, :0], z[:, :0]), V, "place"),
        (lambda: basis.FourierOperator(nodes, modes=11, grid=16), V, "modes"),
        (lambda: basis.muon_and_adamw(deep, ("twig.weight",)), V, "inner"),
        (lambda: basis.spline_matrix(nodes, nodes[:3]), V, "nodes"),
        (lambda: basis.relative_errors(x, 0 * x), V, "truth"),
    ]


def of_graph() -> Rows:
    x, pair = randn(3, 2), torch.tensor([[0, 1], [1, 2]])
    features, make = randn(2, 4), graph.Graph
    plain = make(x, pair)
    hollow = make(x, NO_EDGES, batch=torch.tensor([0, 2, 2]))
    attend, passing, tensor = graph.GATConv, graph.MessagePassing, torch.tensor
    return [
        (lambda: make(x, tensor([[0, 1], [1, 3]])), V, "edges"),
        (lambda: make(x, NO_EDGES, batch=tensor([0, 1, 0])), V, "batch"),
        (lambda: make(x, NO_EDGES, batch=tensor([-1, 0, 1])), V, "batch"),
        (lambda: make(x, pair, batch=tensor([0, 0, 1])), V, "edges"),
        (lambda: make(x, NO_EDGES, batch=tensor([0, 1, 1]), graphs=1), V, "graphs"),
        (lambda: make.undirected(x, tensor([[0], [7]])), V, "pairs"),
        (lambda: make.batched([]), V, "graphs"),
        (lambda: make.batched([plain, make(randn(3, 4), pair)]), V, "graphs[1].x"),
        (lambda: make.batched([plain, make(x, pair, edge_features=features)]), V, "graphs[1]"),
        (lambda: plain.permuted(tensor([0, 1, 1])), V, "order"),
        (lambda: graph.GraphConv(4, 2).double()(plain), V, "x"),
        (lambda: graph.GCNConv(2, 2)(plain), T, "x"),
        (lambda: passing(lambda _, v, __: v[:1], lambda x, _: x)(plain), V, "message"),
        (lambda: passing(lambda _, v, __: v, lambda x, _: x.sum(0))(plain), V, "update"),
        (lambda: attend(2, 6, 4), V, "heads"),
        (lambda: attend(2, 6, 2, d_edge=4).double()(plain), V, "edge features"),
        (lambda: graph.aggregate(x, tensor([0, 2, 1]), 2), V, "target"),
        (lambda: graph.edge_softmax(x[:2] / 0 * 0, tensor([0, 0]), 1), V, "score"),
        (lambda: graph.edge_softmax(-x[0].abs() / 0, tensor([1, 1]), 2), V, "node 1"),
        (lambda: graph.mean_pool(hollow), V, "graph 1"),
    ]


def of_graph_dynamics() -> Rows:
    edges, h = torch.tensor([[0, 1, 2, 3, 0], [1, 2, 3, 0, 2]]), randn(4, 2)
    q, p, weights = h, randn(5, 2), torch.ones(5).double()
    both = torch.cat([edges, edges.flip(0)], dim=1)
    heat = graph_dynamics.Diffusion(both)
    times = torch.tensor([0.0, 1.0]).double()
    evolve, diverge = graph_dynamics.evolve, partial(graph_dynamics.divergence, p, edges, 4)
    flow, metric = graph_dynamics.HamiltonianFlow, graph_dynamics.attention_metric
    of_many_numbers = flow(edges, 4, hamiltonian=lambda q, _: q.sum(dim=0))
    logarithm = flow(edges, 4, hamiltonian=lambda q, p: (q.sum() + p.sum()).log())
    rows = []
    for kind in (flow, graph_dynamics.DoubleBracketFlow, graph_dynamics.WaveEquation):
        rows += [
            (partial(kind, edges, 4, edge_weights=0 * weights), V, "edge_weights"),
            (partial(kind, edges, 4, node_weights=-weights[:4]), V, "node_weights"),
            (partial(kind, edges, 3), V, "edges"),
        ]
    return [
        *rows,
        (lambda: graph_dynamics.gradient(h[:3], edges), V, "edges"),
        (lambda: diverge(node_weights=0 * weights[:4]), V, "node_weights"),
        (lambda: graph_dynamics.spectral_gap(edges, 6), V, "components"),
        (lambda: metric(-800 * weights.cumsum(0), edges, 4), V, "weighs 0"),
        (lambda: metric(weights / 0, edges, 4), V, "score"),
        (lambda: evolve(heat, h, times.flip(0)), V, "t"),
        (lambda: evolve(logarithm, (-q.abs() / 0, -p.abs() / 0), times), ArithmeticError, "dopri5"),
        (lambda: graph_dynamics.Diffusion(both, weights=-weights.repeat(2)), V, "weights"),
        (lambda: heat.velocity(h[:3]), V, "edges"),
        (lambda: flow(edges, 4).velocity((q, p[1:])), V, "p"),
        (lambda: of_many_numbers.velocity((q, p)), V, "hamiltonian"),
    ]


def of_mechanics() -> Rows:
    pendulum, kepler, q, one = mechanics.Pendulum(), mechanics.Kepler(), randn(2), randn(1)
    error, by = mechanics.symplecticity_error, partial(mechanics.integrate, dt=0.1, steps=1)
    turn = partial(by, mechanics.RigidBody(), randn(3))
    clock = mechanics.LogarithmicHamiltonian
    by_clock = clock(kepler).extended(q + 2, 0 * q)

    class Twisted(mechanics.HamiltonianSystem):
        name, dim = "twisted", 1

    return [
        (lambda: mechanics.stoermer_verlet(Twisted(), one, one, 0.1), V, "separable"),
        (lambda: by(pendulum, one), T, "p"),
        (lambda: by(kepler, 0 * q, q), V, "singular"),
        (lambda: by(pendulum, one, one / 0), V, "p"),
        (lambda: turn(method=mechanics.symplectic_euler), V, "implicit_midpoint"),
        (lambda: by(pendulum, one, one, method=lambda *_: None), T, "result of <lambda>"),
        (lambda: by(pendulum, one, one, method=lambda *_: (q, one)), V, "result of <lambda>"),
        (lambda: error(lambda q, p: (q.detach(), p.detach()), q, q), V, "detach()"),
        (lambda: error(lambda q, p: (q[:1], p[:1]), q, q), V, "new_q"),
        (lambda: clock(mechanics.HamiltonianSystem()), T, "system"),
        (lambda: by(clock(kepler), by_clock[0], -9 * by_clock[1]), V, "p_t"),
        (lambda: mechanics.TrigonometricPolynomial(np.zeros((3, 4))), V, "frequencies"),
    ]


def of_symplectic() -> Rows:
    z, A, q = randn(4, 3), randn(3, 3), randn(2)
    linear = symplectic.LinearSymplecticAttention(4).double()
    volume = symplectic.VolumePreservingTransformer(3).double()
    prompted = sympnets.PromptedSympNet(2).double()
    return [
        (lambda: volume(randn(4, 2)), V, "z"),
        (lambda: symplectic.symplectic_attention(z, A, backend="triton"), V, "softmax"),
        (lambda: linear(randn(5, 3), randn(5, 3)), V, "q"),
        (lambda: prompted(q, q, context=(randn(1, 2),) * 2), V, "prompt"),
    ]


def of_autoencoder() -> Rows:
    grey, tensor = torch.full((1, 6), 0.5), torch.tensor
    make, elbo = autoencoder.VAE, autoencoder.elbo
    plain, told = make(6, 2), make(6, 2, condition=3)
    black = make(6, 2, likelihood="bernoulli")
    grows = make(6, 2, likelihood="continuous_bernoulli")
    return [
        (lambda: elbo(black, 4 * grey), V, "x"),
        (lambda: elbo(black, grey), V, "grey pixel"),
        (lambda: grows.encode(4 * grey), V, "pixels"),
        (lambda: told.encode(grey), V, "condition"),
        (lambda: plain.encode(grey, tensor([1])), V, "condition"),
        (lambda: told.encode(grey, tensor([3])), V, "condition"),
        (lambda: autoencoder.probabilistic_pca(randn(4, 6), 3), V, "d_z"),
        (lambda: typefaces.load_typefaces().named("Lato Fat"), V, "Lato Black"),
    ]


def of_words() -> Rows:
    count = partial(generation.AbsoluteDiscounting, symbols=3, order=2)
    accept, p, q = generation.accept_or_replace, torch.ones(2) / 2, torch.eye(2)[0]
    return [
        (lambda: generation.learn_merges("abc", 2), T, "words"),
        (lambda: count([[0, 3]]), V, "sequences"),
        (lambda: count([[0]]).probabilities([5]), V, "context"),
        (lambda: count([[0]]).bits(["a"]), T, "sequences"),
        (lambda: accept(1, p, q), V, "drafted"),
        (lambda: name_decoder.town_rows(["ab", "ax"], "\nab"), V, "letters of"),
        (lambda: spelling.ids_of_words(["café"]), V, "letters of"),
        (lambda: spelling.ids_of_words(["antidisestablishment"]), V, "12 or fewer"),
        (lambda: syllables.spelled(["banana"]), V, "letters of"),
    ]


def of_molecules() -> Rows:
    drawn, caffeine = molecules.Molecule.drawn, "CCNC"
    bare = graph.Graph(torch.ones(2, 14), torch.tensor([[0], [1]]))
    return [
        (lambda: drawn(["C", "Xx"], []), V, "element"),
        (lambda: drawn("CC", [(0, 2, 1)]), V, "joins 0 and 2"),
        (lambda: drawn("CC", [(0, 1, 1), (1, 0, 2)]), V, "given twice"),
        (lambda: drawn(caffeine, []).without(4), V, "atom"),
        (lambda: molecules.BondConv(14, 8, 4)(bare), V, "edge_features"),
        (lambda: molecules.load_molecule_network("telepathy"), V, "kind"),
    ]


def of_jets() -> Rows:
    one, four, tensor = torch.ones(1), torch.ones(4), torch.tensor
    momenta = jets.four_momenta
    logits, label = torch.zeros(2, 5), tensor([0, 2])
    reject = partial(tagging.rejection, logits, label)

    def jet(**changed: Tensor) -> jets.Jets:
        floats, whole = torch.ones(1, 2), torch.zeros(1, 2, dtype=torch.int64)
        given = dict.fromkeys(("pt", "eta", "phi", "d0", "dz"), floats)
        given |= {"kind": whole, "charge": whole, "label": whole[:, 0], "size": whole[:, 0] + 2}
        return jets.Jets(**(given | changed))

    return [
        (lambda: momenta(-one, one, one, one), V, "pt"),
        (lambda: jets.boosted(four, (0.8, 0.6, 0.0)), V, "speed of light"),
        (lambda: jet(pt=tensor([[1.0, -2.0]])), V, "pt"),
        (lambda: jet(eta=tensor([[1.0, math.nan]])), V, "eta"),
        (lambda: jet(kind=tensor([[-1, -1]])), V, "jet (0,)"),
        (lambda: jet(kind=tensor([[0, 5]])), V, "kind"),
        (lambda: jets.pairwise_features(torch.full((2, 4), math.nan)), V, "momenta"),
        (lambda: jets.class_number("Z"), V, "class"),
        (lambda: jet(pt=torch.zeros(1, 2)), V, "pt"),
        (lambda: reject(signal="top"), V, "signal"),
        (lambda: reject(signal="W", background=("gluon",)), V, "background"),
        (lambda: reject(signal="Hbb", classes=jetclass.CLASSES), V, "classes"),
        (lambda: tagging.rejection(logits / 0, label, signal="W"), V, "jet 0"),
        (lambda: tagging.evaluate(logits / 0, label), V, "logits"),
        (lambda: jetclass.JetStream([Path(__file__)], batch=2, rank=2, ranks=2), V, "rank"),
        (lambda: jetclass.JetStream([Path(__file__)], batch=2, rank=0), V, "rank"),
        (lambda: next(iter(jets.JetStream([], batch=2))), V, "files"),
        (lambda: next(iter(jets.JetStream([Path("gone")], batch=2))), FileNotFoundError, "gone"),
        (lambda: jets.JetStream("gone", batch=2), FileNotFoundError, "gone"),
        (lambda: jets.JetStream(__file__, batch=2, columns={"px": "x"}), V, "columns"),
    ]


def of_stars() -> Rows:
    time = torch.arange(4.0).expand(2, 4)
    far = time + 58000
    ones, valid = torch.ones(2, 4), torch.ones(2, 4) > 0
    hidden = valid & (time > 2)
    everything = hidden | torch.tensor([[False], [True]])
    catalogue, frequency = stars.load_stars(), torch.linspace(0.1, 1, 5)
    power, seen = partial(light_curves.lomb_scargle, frequency=frequency), (time, ones, ones)

    def curves(**changed: Tensor) -> light_curves.LightCurves:
        given = {"time": time, "magnitude": ones, "error": ones, "valid": valid}
        return light_curves.LightCurves(**(given | changed))

    model = light_curves.Astromer(
        torch.tensor([1.0, 2.0]), d_model=8, heads=2, layers=1, d_hidden=8
    )
    surprise = light_curves.negative_log_likelihood
    periods = torch.ones(2)
    macho = list(stars.load_macho().values())
    seasons = stars.seasons(macho[:1])
    jitter = partial(stars.likeliest_jitter, curves(), periods, variance=torch.ones(3))
    nobody = torch.zeros(0, dtype=torch.int64)
    return [
        (lambda: curves(time=time / 0), V, "time"),
        (lambda: curves(time=time.flip(1)), V, "time"),
        (lambda: curves(valid=time < 1), V, "1 observation"),
        (lambda: curves().in_turns(torch.zeros(2)), V, "period"),
        (lambda: light_curves.frequency_ladder(5, shortest=3, longest=2), V, "shortest"),
        (lambda: power(time, ones, ones, seen=time < 1), V, "observation"),
        (lambda: power(time, ones, 0 * ones), V, "error"),
        (lambda: power(far, ones, ones), V, "float64"),
        (lambda: light_curves.lomb_scargle(*seen, frequency / 0), V, "frequency"),
        (lambda: light_curves.phase(far, periods), V, "float64"),
        (lambda: model(curves(time=far)), V, "float64"),
        (lambda: light_curves.fit_harmonics(far, ones, ones, periods), V, "float64"),
        (lambda: light_curves.find_period(*seen, frequency[:2]), V, "frequencies"),
        (lambda: light_curves.find_period(*seen, frequency), V, "star 0"),
        (lambda: light_curves.frequency_grid(1, highest=0.3), V, "highest"),
        (lambda: stars.observe(catalogue[nobody], seasons), V, "stars"),
        (lambda: stars.seasons(macho, days=1), V, "observations"),
        (lambda: jitter(jitters=(0.1, -0.1)), V, "jitters"),
        (lambda: model(curves(), hidden=everything), V, "star 1"),
        (lambda: model.at(curves(), time, hidden=everything), V, "star 1"),
        (lambda: model(curves(), hidden=hidden[:, :3]), V, "hidden"),
        (lambda: light_curves.reconstruction_error(ones, ones, ~valid), V, "hidden"),
        (lambda: surprise(ones, 0 * ones, ones, hidden), V, "deviation"),
        (lambda: light_curves.Astromer(torch.zeros(0)), V, "frequencies"),
    ]


GROUPS = [value for name, value in sorted(globals().items()) if name.startswith("of_")]


@pytest.mark.parametrize("rows", GROUPS, ids=lambda rows: rows.__name__)
def test_bad_arguments_are_refused_by_name(
    rows: Callable[[], Rows], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    wrong = []
    for number, (call, error, name) in enumerate(rows()):
        try:
            call()
        except error as refusal:
            if not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", str(refusal)):
                wrong.append(f"row {number} should name {name}: {refusal}")
        except Exception as other:  # noqa: BLE001 - the list reports it
            wrong.append(f"row {number}, {name}: {type(other).__name__}: {other}")
        else:
            wrong.append(f"row {number} should refuse {name}")
    assert not wrong, "\n".join(wrong)
