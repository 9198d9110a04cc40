"""The error of each claim of BreakIt on a case with its assumption bent, by course_lib."""

from collections.abc import Callable
from functools import reduce
from itertools import combinations
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from in_the_page import tensor
from torch import Tensor
from torch.distributions import Normal, kl_divergence
from torch.nn import functional as F

from course_lib import mechanics, symplectic
from course_lib.attention import attention, attention_weights, causal_mask, gated_memory
from course_lib.autoencoder import kl_to_standard_normal
from course_lib.basis import softmax_basis
from course_lib.graph import neighbour_sum
from course_lib.graph_dynamics import divergence, gradient
from course_lib.jets import SMALLEST, boosted_along_beam, delta_phi, measured, pairwise_features
from course_lib.light_curves import phase
from course_lib.position import rotary, sinusoidal
from course_lib.recurrent import RNN

Case = SimpleNamespace
PLACES = {"order", "cut", "edges", "from", "text"}


def error_of(claim: str, case: dict[str, Any], bend: float) -> float:
    given = {n: torch.tensor(v).long() if n in PLACES else tensor(v) for n, v in case.items()}
    if "edges" in given:
        given["edges"] = given["edges"].reshape(-1, 2).T
    return float(globals()[claim.replace("-", "_")](Case(**given), bend))


def apart(one: Tensor, other: Tensor) -> Tensor:
    return (one - other).abs().max()


def softmax_shares(case: Case, _bend: float) -> Tensor:
    one = torch.eye(len(case.score), dtype=torch.float64)
    gates = (gated_memory(one, score) for score in (case.score + case.shift, case.score))
    return apart(*(gate / gate.sum() for gate in gates))


def equal_lengths(case: Case, bend: float) -> Tensor:
    length, scale = 1 + 0.9 * bend * case.length, 2 / case.temperature.item()
    key = length[:, None] * torch.stack([case.angle.cos(), case.angle.sin()], -1)
    bias = -key.square().sum(-1)[None] / case.temperature
    by_distance = attention_weights(case.query[None], key, scale=scale, bias=bias)
    return apart(by_distance, attention_weights(case.query[None], key, scale=scale))


def attended(x: Tensor, mask: Tensor | None = None) -> Tensor:
    return attention(x, x, x, mask=mask)


def reordered(case: Case, layer: Callable[[Tensor], Tensor]) -> Tensor:
    return apart(layer(case.x[case.order]), layer(case.x)[case.order])


def causal_past(case: Case, bend: float) -> Tensor:
    t = int(case.t) + 1
    mask = torch.ones(len(case.x), len(case.x), dtype=torch.bool).tril(int(bend))
    changed = torch.cat([case.x[:t], case.other[t:]])
    return apart(attended(case.x, mask)[:t], attended(changed, mask)[:t])


def any_order(case: Case, bend: float) -> Tensor:
    mask = causal_mask(len(case.x)) if bend else None
    return reordered(case, lambda x: attended(x, mask))


def places_do_not_matter(case: Case, bend: float) -> Tensor:
    place = bend * sinusoidal(len(case.x), 2, dtype=torch.float64)[:, : case.x.shape[1]]
    return reordered(case, lambda x: attended(x + place))


def difference_alone(case: Case, bend: float) -> Tensor:
    by = tensor([0, case.move])
    queries = rotary(case.q.flatten().expand(2, -1), position=(1 + bend) * (case.s + by))
    keys = rotary(case.k.flatten().expand(2, -1), position=case.t + by)
    return apart(*(queries * keys).sum(-1))


def cache_pieces(case: Case, bend: float) -> Tensor:
    second, kept = case.x[case.cut :], case.x[int(bend) :]
    mask = torch.ones(len(second), len(kept), dtype=torch.bool).tril(len(kept) - len(second))
    pieces = attention(second, kept, kept, mask=mask)
    return apart(attended(case.x, causal_mask(len(case.x)))[case.cut :], pieces)


def draft_and_judge(case: Case, bend: float) -> Tensor:
    p, q = case.p / case.p.sum(), case.q / case.q.sum()
    kept = q * (p / q + bend).clamp(max=1)
    left = (p - q).clamp(min=0)
    return apart(kept + (1 - kept.sum()) * (left / left.sum() if left.sum() > 0 else left), p)


def hats_are_straight(case: Case, _bend: float) -> Tensor:
    basis = softmax_basis(case.x[None], case.nodes, case.nodes.diff().mean().item() ** 2)
    return apart(basis @ case.y, tensor(np.interp(case.x, case.nodes, case.y)))


def basis_is_attention(case: Case, bend: float) -> Tensor:
    x, nodes, temperature = case.x[None], case.nodes, case.temperature.item()
    bias = -(1 - bend) * nodes.square()[None] / temperature
    weights = attention_weights(x[:, None], nodes[:, None], scale=2 / temperature, bias=bias)
    return apart(weights, softmax_basis(x, nodes, temperature))


@torch.no_grad()
def read_in_pieces(case: Case, bend: float) -> Tensor:
    network = RNN(2, 2).double()
    parts = case.rows[:, :2], case.rows[:, 2:4], case.rows[:, 4], case.rows[:, 5]
    names = "weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"
    network.load_state_dict(dict(zip(names, parts, strict=True)))
    x = torch.eye(2, dtype=torch.float64)[case.text]
    between = network(x[: case.cut])[1]
    return apart(network(x[case.cut :], (1 - bend) * between)[1], network(x)[1])


def any_grouping(case: Case, _bend: float) -> Tensor:
    def join(first: tuple[Tensor, Tensor], second: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        return second[0] * first[0], (second[0] * first[1] + second[1]).tanh()

    steps = list(zip(case.keep, case.add, strict=True))
    from_right = reduce(lambda later, earlier: join(earlier, later), steps[::-1])
    return apart(reduce(join, steps)[1], from_right[1])


def padding(case: Case, bend: float) -> Tensor:
    x, padding = case.x, case.padding
    valid = torch.arange(len(x) + len(padding)) < len(x) + bend * len(padding)
    beside = attended(torch.cat([x, padding]), valid.expand(len(valid), -1))
    return apart(beside[: len(x)], attended(x))


def all_paths(case: Case, bend: float) -> Tensor:
    eye = torch.eye(case.layers.shape[1], dtype=torch.float64)
    paths = sum(
        reduce(lambda path, J: J @ path, chosen, eye)
        for size in range(len(case.layers) + 1)
        for chosen in combinations(case.layers, size)
    )
    return apart(reduce(lambda so_far, J: ((1 - bend) * eye + J) @ so_far, case.layers, eye), paths)


def rounds_of(x: Tensor, edges: Tensor, rounds: int) -> Tensor:
    for _ in range(rounds):
        x = x + neighbour_sum(x, torch.cat([edges, edges.flip(0)], 1))
    return x


def renumbered(case: Case, bend: float) -> Tensor:
    def layer(x: Tensor, edges: Tensor) -> Tensor:
        number = torch.zeros_like(x)
        number[:, 0] = bend * torch.arange(len(x))
        return rounds_of(x + number, edges, 1)

    edges, order = case.edges, case.order
    return apart(layer(case.x[order], order.argsort()[edges]), layer(case.x, edges)[order])


def two_rounds(case: Case, _bend: float) -> Tensor:
    edges, start, nodes = case.edges, vars(case)["from"], len(case.x)
    far = rounds_of(torch.eye(nodes, dtype=torch.float64), edges, 2)[:, start] == 0
    # All nodes are joined to a hub.
    hub = torch.stack([torch.arange(nodes), torch.full((nodes,), nodes)])
    nudge = torch.zeros(nodes + 1, 1, dtype=torch.float64)
    nudge[start] = 1
    moved = rounds_of(nudge, torch.cat([edges, hub], 1), 2)[:nodes][far]
    return moved.abs().max() if far.any() else tensor(0.0)


def adjoint(case: Case, bend: float) -> Tensor:
    f, edges = case.f[:, None], torch.triu_indices(len(case.f), len(case.f), 1)
    flow = case.g[*edges][:, None]
    inflow = divergence(flow, edges, len(f))
    inflow = inflow - bend * torch.zeros_like(inflow).index_add(0, edges[1], flow)
    return apart((f * inflow).sum(), (gradient(f, edges) * flow).sum())


def wave_energy(case: Case, _bend: float) -> Tensor:
    q = case.q
    d = gradient(torch.eye(len(q), dtype=q.dtype), case.edges)
    size = len(q) + len(d)
    J = torch.zeros(size, size, dtype=q.dtype)
    J[: len(q), len(q) :], J[len(q) :, : len(q)] = -d.T, d
    start = torch.cat([q, q.new_zeros(len(d))])
    end = torch.linalg.matrix_exp(case.t * (J + J @ J)) @ start
    return apart(end @ end, start @ start) / 2


def price_of_a_cloud(case: Case, _bend: float) -> Tensor:
    posterior, prior = Normal(case.mean, case.sigma), Normal(torch.zeros_like(case.mean), 1.0)
    price = kl_to_standard_normal(case.mean, case.sigma.log())
    return apart(price, kl_divergence(posterior, prior).sum())


def beta_is_noise(case: Case, _bend: float) -> Tensor:
    def gain(weight: Any) -> Tensor:
        likelihood = Normal(case.guess, case.variance.sqrt()).log_prob(case.x).sum(-1)
        one, other = likelihood - weight * case.kl
        return one - other

    return apart(gain(case.beta), case.beta * gain(1.0))


def swing(case: Case) -> tuple[mechanics.Pendulum, Tensor, Tensor, float]:
    return mechanics.Pendulum(), case.q[None], case.p[None], case.h.item()


def step_areas(case: Case, bend: float) -> float:
    pendulum, *start, h = swing(case)

    def with_friction(q: Tensor, p: Tensor) -> tuple[Tensor, Tensor]:
        q, p = mechanics.stoermer_verlet(pendulum, q, p, h)
        return q, p * (1 - bend * h)

    return mechanics.symplecticity_error(with_friction, *start)


def there_and_back(case: Case, _bend: float) -> Tensor:
    pendulum, q, p, h = swing(case)
    there, momentum = mechanics.symplectic_euler(pendulum, q, p, h)
    back, reversed_momentum = mechanics.symplectic_euler(pendulum, there, -momentum, h)
    return apart(torch.cat([back, reversed_momentum]), torch.cat([q, -p]))


Force = Callable[[Tensor], Tensor]


def shortcut_force(z: Tensor, A: Tensor, softmax: str) -> Tensor:
    """2 Sᵀ Z A, twice standard attention, which course_lib does not contain."""
    C = z @ A @ z.mT
    scores = C.flatten(-2)[..., None] if softmax == "matrix" else C
    partition = torch.logsumexp(F.pad(scores, (0, 0, 1, 0)), dim=-2, keepdim=True)
    return 2 * (C - partition).exp().mT @ z @ A


def force_of(A: Tensor, softmax: str, formula: str) -> Force:
    if formula == "full":
        return lambda z: -symplectic.symplectic_attention(z, A, softmax=softmax)
    return lambda z: -shortcut_force(z, A, softmax)


def asymmetry(force: Force, z: Tensor) -> float:
    M = torch.autograd.functional.jacobian(force, z).reshape(z.numel(), z.numel())
    return float((M - M.mT).norm() / (M.norm() or 1))


def symmetric_matrix(case: Case, bend: float) -> float:
    A = (case.A + case.A.mT) / 2 + bend * (case.A - case.A.mT) / 2
    return asymmetry(force_of(A, "matrix", "shortcut"), case.z)


def both_terms(case: Case, _bend: float) -> float:
    return asymmetry(force_of(case.A, "vector", "shortcut"), case.z)


def pairs_boosted(case: Case, _bend: float) -> Tensor:
    pt, y, phi = case.pt, case.y, case.phi
    transverse = torch.hypot(pt, case.mass)
    sides = (transverse * y.cosh(), pt * phi.cos(), pt * phi.sin(), transverse * y.sinh())
    momenta = torch.stack(sides, dim=-1)

    def features(momenta: Tensor) -> Tensor:
        eta = measured(momenta).eta
        distance = torch.hypot(eta[0] - eta[1], delta_phi(phi[0], phi[1]))
        by_eta = torch.stack([distance, pt.min() * distance]).clamp(min=SMALLEST).log()
        return torch.cat([by_eta, pairwise_features(momenta)[0, 1, 2:]])

    return apart(features(boosted_along_beam(momenta, case.shift.item())), features(momenta))


def jet_order(case: Case, _bend: float) -> Tensor:
    def pooled(x: Tensor) -> Tensor:
        return attention(x, x, x, bias=case.pairs).mean(0)

    return apart(pooled(case.x[case.order]), pooled(case.x))


def same_phase(case: Case, bend: float) -> Tensor:
    nights = torch.stack([case.night, case.night + case.turns * case.period])
    off = apart(*phase(nights[None], case.period[None] * (1 + bend / 10))[0])
    return torch.minimum(off, 1 - off)


def hidden_stay_hidden(case: Case, bend: float) -> Tensor:
    visible = case.visible
    seen = (torch.arange(len(visible) + 1) < len(visible)).expand(len(visible) + 1, -1)

    def said(magnitude: Tensor) -> Tensor:
        tokens = torch.cat([visible, tensor([[case.date, bend * magnitude]])])
        return (tokens + attended(tokens, seen))[:, 1]

    return apart(said(case.after), said(case.before))


def order_of_tiles(case: Case, _bend: float) -> Tensor:
    whole = attention(case.query[None], case.key, case.value, scale=1.0)
    return apart(case.value.mean(0), whole)


def keys_shared_out(case: Case, _bend: float) -> Tensor:
    def read(part: slice) -> Tensor:
        return attention(case.query[None], case.key[part], case.value[part], scale=1.0)

    return apart((read(slice(case.cut)) + read(slice(case.cut, None))) / 2, read(slice(None)))
