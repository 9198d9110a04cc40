"""The readings of each live figure by course_lib, by name."""

import dataclasses
import functools
import math
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from in_the_page import tensor, uniform
from seeded_tensors import perturbed
from torch import Tensor, nn
from torch.nn import functional as F

from course_lib import mechanics
from course_lib.attention import attention_weights
from course_lib.autoencoder import kl_to_standard_normal
from course_lib.basis import hat, interpolate, softmax_basis
from course_lib.generation import next_token_probabilities
from course_lib.graph import GCNConv, Graph, GraphConv
from course_lib.jets import boosted, boosted_along_beam, delta_r, pairwise_features
from course_lib.models import deep_stacks
from course_lib.models.digit_graph import FLOWS, time_filter
from course_lib.models.words.number_words import NumberWords, load_number_words, translated
from course_lib.recurrent import rnn_step
from course_lib.symplectic import SymplecticAttention
from course_lib.tiled_attention import (
    attention_flops,
    decoding_bytes,
    naive_bytes,
    tile_plan,
    tiled_bytes,
)
from course_lib.transformer import EncoderDecoder
from course_lib.widgets import LiveFigure
from course_lib.widgets.kit.packed_weights import with_weights
from course_lib.widgets.live.live_figure import FIGURES

Readings = dict[str, float]


@functools.cache
def normals(count: int, seed: int) -> Tensor:
    """Draws of N(0, 1), as the page draws them."""
    pairs = [(uniform(seed, 2 * i), uniform(seed, 2 * i + 1)) for i in range(count)]
    return tensor([math.sqrt(-2 * math.log(1 - u)) * math.cos(2 * math.pi * v) for u, v in pairs])


def root_d(state: dict[str, Any]) -> Readings:
    d, tokens = state["dimension"], 16
    scale = d ** -state["power"]
    draws = normals(2 * tokens * d, state["seed"]).view(d, 2 * tokens).T
    query, key = draws.split(tokens)
    weights = attention_weights(query[:1], key, scale=scale)[0]
    slopes = weights.diag() - weights[:, None] * weights
    return {"largest": weights.max().item(), "gradient": slopes.norm().item()}


def spectral_radius(state: dict[str, Any]) -> Readings:
    matrix = turning(state["radius"], state["angle"], state["stretch"])
    start = tensor([0.8, 0.4])
    slopes = torch.autograd.functional.jacobian(
        lambda h: run(matrix, h, steps=40, tanh=state["tanh"]), start
    )
    told = {"norm": matrix} if state["stretch"] > 1 else {}
    return {
        name: torch.linalg.matrix_norm(of, 2).item()
        for name, of in (told | {"gradient": slopes}).items()
    }


def turning(radius: float, degrees: float, stretch: float) -> Tensor:
    angle = tensor(math.radians(degrees))
    turn = torch.stack([angle.cos(), -angle.sin(), angle.sin(), angle.cos()]).view(2, 2)
    stretched = torch.diag(tensor([stretch, 1.0]))
    return radius * stretched @ turn @ stretched.inverse()


def run(matrix: Tensor, state: Tensor, *, steps: int, tanh: bool) -> Tensor:
    """The last state of a network without input."""
    for _ in range(steps):
        state = matrix @ state
        state = rnn_step(torch.zeros_like(state), state) if tanh else state
    return state


def roofline(state: dict[str, Any]) -> Readings:
    size = (state["query_count"], state["key_count"], state["features"])
    flops = attention_flops(*size)
    formula = flops / naive_bytes(*size)
    tiled = flops / tiled_bytes(*size, query_tile=state["tile"])
    return {
        "formula": formula,
        "formula-bound": min(state["peak"], formula * state["bandwidth"]),
        "tiled": tiled,
        "tiled-bound": min(state["peak"], tiled * state["bandwidth"]),
    }


def polygon_area(points: Tensor) -> float:
    q, p = points.unbind(-1)
    return 0.5 * abs((q * p.roll(-1) - q.roll(-1) * p).sum().item())


def disc_of_pendulums(state: dict[str, Any]) -> Readings:
    if state["method"] in ("symplectic_euler", "stoermer_verlet"):
        return {"area": 1.0}
    turn = torch.arange(10_000, dtype=torch.float64) * math.tau / 10_000
    q, p = state["angle"] + 0.45 * turn.cos(), state["momentum"] + 0.45 * turn.sin()

    steps = state["steps"]
    method = getattr(mechanics, state["method"])
    given = {"dt": state["dt"], "steps": max(1, steps), "method": method}
    run = mechanics.integrate(mechanics.Pendulum(), q[:, None], p[:, None], **given)
    first, last = (torch.stack([run.q[:, n, 0], run.p[:, n, 0]], dim=-1) for n in (0, steps))
    return {"area": polygon_area(last) / polygon_area(first)}


def shadow_energy(state: dict[str, Any]) -> Readings:
    h, turn = state["dt"], math.radians(state["angle"])
    q, p = tensor([math.cos(turn)]), tensor([math.sin(turn)])
    given = {"dt": h, "steps": 60, "method": mechanics.symplectic_euler}
    energy = mechanics.integrate(mechanics.HarmonicOscillator(), q, p, **given).energy
    # The shadow energy over the true one has its extremes along its axes.
    along = torch.linalg.eigvalsh(tensor([[1, -h / 2], [-h / 2, 1]]))
    allowed = (1 - h * q * p) / along
    allowed = allowed[allowed > 0]
    high = {"high": allowed.max().item()} if h < 2 else {}
    return {"low": allowed.min().item()} | high | {"most": (energy / energy[0]).max().item()}


def digits_by_time() -> dict[str, Any]:
    recognised = 75 + 20 * torch.sin(torch.arange(45) / 4).view(3, 15)
    return {
        "rates": [0.001, 0.004, 0.02, 0.1, 0.5, 1.6],
        "slow": 3,
        "recognised": recognised,
        "spread": 2 + recognised / 50,
        "times": [[0.5, 2, 4], [4, 16, 32]],
        "layered": 90 + normals(18, 4).view(6, 3),
    }


def fading_modes(state: dict[str, Any]) -> Readings:
    left = time_filter(state["flow"], state["rates"].double(), 2.0 ** state["power"]).abs()
    return {
        "slow": round(100 * left[: state["slow"]].mean().item(), 2),
        "fast": round(100 * left[state["slow"] :].mean().item(), 2),
        "right": state["recognised"][FLOWS.index(state["flow"]), state["power"] + 2].item(),
    }


def codes_that_die(state: dict[str, Any]) -> Readings:
    values, level = state["eigenvalues"], state["beta"] * state["noise"]
    alive = values[values > level]
    # The best posterior of a code: its mean has the variance above the noise, its width the rest.
    mean, log_variance = (1 - level / alive).sqrt(), (level / alive).log()
    return {
        "alive": float(len(alive)),
        "lost": 100 * (values.clamp(max=level).sum() / values.sum()).item(),
        "paid": kl_to_standard_normal(mean, log_variance).item(),
    }


SHAPES: dict[str, Callable[[Tensor], Tensor]] = {
    "wave": lambda x: torch.sin(7 * x) + x,
    "square": lambda x: x**2,
    "root": torch.sqrt,
}


def errors_of_blend(
    shape: str, count: int, ratio: float, fineness: int, *, reflected: bool
) -> Tensor:
    """A blend of even nodes less the function, by hats if the ratio of τ to h² is 0."""
    u, h = SHAPES[shape], 1 / count
    nodes = torch.linspace(0, 1, count + 1, dtype=torch.float64)
    values = u(nodes)
    if reflected:
        left, right = 2 * values[0] - values.flip(0)[:-1], 2 * values[-1] - values.flip(0)[1:]
        nodes = torch.cat([nodes[:-1] - 1, nodes, nodes[1:] + 1])
        values = torch.cat([left, values, right])
    basis = partial(softmax_basis, temperature=ratio * h**2) if ratio else hat
    x = torch.linspace(0, 1, count * fineness + 1, dtype=torch.float64)
    # All weights at once would fill the memory.
    return torch.cat([interpolate(some, nodes, values, basis) - u(some) for some in x.split(500)])


def error_of_blends(state: dict[str, Any]) -> Readings:
    count, factor = state["intervals"], state["factor"]

    def ratio_at(count: int) -> float:
        return {
            "fixed": factor / 1000 * count**2,
            "ratio": factor,
            "logarithm": factor * math.log(count) / math.pi**2,
        }[state["law"]]

    def off(count: int, ratio: float) -> float:
        fineness = 3 * math.ceil(192 / count) if ratio > 4 else 12 * math.ceil(48 / count)
        reflected = state["where"] == "reflected"
        errors = errors_of_blend(state["shape"], count, ratio, fineness, reflected=reflected).abs()
        end = len(errors) - 1
        if state["where"] == "middle":
            errors = errors[math.ceil(end / 4) : 3 * end // 4 + 1]
        return errors.max().item()

    half = (count + 1) // 2
    softmax, hats = off(count, ratio_at(count)), off(count, 0)
    halving = math.log(count / half)
    return {
        "hats": hats,
        "softmax": softmax,
        "softmax-power": math.log(off(half, ratio_at(half)) / softmax) / halving,
    }


KINDS_OF_STACKS = {
    "bare": "bare",
    "norm": "norm only",
    "around": "way around only",
    "post": "post-norm",
    "pre": "pre-norm",
}


def filled_stack(
    kind: str, draws: Tensor, *, layers: int, d: int, gain: float, biases: bool
) -> nn.Sequential:
    """A stack of course_lib with these draws as parameters, layer by layer."""
    stack = deep_stacks.deep_stack(KINDS_OF_STACKS[kind], layers, d).double()
    linears = [linear for layer in stack for linear in (layer.f.expand, layer.f.contract)]
    with torch.no_grad():
        for linear in linears:
            bias = biases / math.sqrt(3 * linear.in_features)
            for part, scale in (
                (linear.weight, gain / math.sqrt(linear.in_features)),
                (linear.bias, bias),
            ):
                part.copy_(scale * draws[: part.numel()].view_as(part))
                draws = draws[part.numel() :]
    return stack


def through_stack(
    stack: nn.Sequential, tokens: Tensor, covectors: Tensor
) -> dict[str, list[float]]:
    """After each layer: the remaining differences, the norm, and the gradient by autograd."""
    floors = [tokens.clone().requires_grad_()]
    for layer in stack:
        floors.append(layer(floors[-1]))
    gradients = torch.autograd.grad((floors[-1] * covectors).sum(), floors)
    return {
        "left": [((x - x.mean(0)).norm() / x.norm()).item() for x in floors],
        "loud": [x.square().mean().sqrt().item() for x in floors],
        "gradient": [(g.norm() / covectors.norm()).item() for g in gradients],
    }


def deep_stack(state: dict[str, Any]) -> Readings:
    d, tokens, deepest = 16, 2, 60
    vectors, draws = normals(2 * tokens * d + deepest * 1072, state["seed"]).tensor_split(
        [2 * tokens * d]
    )
    size = {"layers": state["depth"], "d": d, "gain": state["gain"], "biases": state["biases"]}
    run = through_stack(filled_stack(state["kind"], draws, **size), *vectors.view(2, tokens, d))
    at = min(state["layer"], state["depth"])
    return {"left": run["left"][at], "loud": run["loud"][at], "first": run["gradient"][0]}


@functools.cache
def number_words() -> NumberWords:
    return load_number_words(torch.Generator())


def untrained_translator() -> dict[str, Any]:
    torch.manual_seed(1)
    words = number_words()
    sizes = len(words.english_words), len(words.german_pieces), 32, 1, 1
    return {"network": perturbed(EncoderDecoder(*sizes, tokens=12), 0.3)}


def translation(network: dict[str, Any], read: list[str]) -> dict[str, Any]:
    """The pieces that the rounded network writes, and how much each looks at each word."""
    words, names = number_words(), ("d_model", "heads", "layers")
    sizes = len(words.english_words), len(words.german_pieces), *(network[name] for name in names)
    build = partial(EncoderDecoder, *sizes, tokens=network["tokens"])
    model = with_weights(build, network["weights"]).double()
    source = torch.tensor([[words.english_words.index(word) for word in read]])
    written = translated(model, source, steps=words.target.shape[1])
    with torch.no_grad():
        looks = model.cross_attention_weights(source, F.pad(written[:, :-1], (1, 0)))
    pieces = min(written.shape[1], int((written > 0).sum()) + 1)
    return {
        "pieces": [words.german_pieces[piece] for piece in written[0, :pieces]],
        "looks": looks.mean((0, 2))[0, :pieces],
    }


def translator(state: dict[str, Any]) -> Readings:
    words = number_words().english[state["number"] - 1]
    looks = translation(state["network"], words)["looks"]
    return {"most": looks[min(state["place"], len(looks) - 1)].max().item()}


def beginnings() -> dict[str, Any]:
    return {
        "beginnings": ["fi Lapp", "gb "],
        "letters": [*"\n abcdefghijklmnopqrst"],
        "logits": 2 * normals(2 * 22, 4).view(2, 22),
    }


def next_letter(state: dict[str, Any]) -> Readings:
    logits = state["logits"][min(state["after"], len(state["beginnings"]) - 1)].double()
    options = {name: state[name] for name in ("temperature", "top_p")}
    options["top_k"] = min(state["top_k"], len(logits))
    drawn = next_token_probabilities(logits, **options)
    return {
        "kept": float((drawn > 0).sum()),
        "largest": drawn.max().item(),
        "entropy": -torch.xlogy(drawn, drawn).sum().item() / math.log(2),
    }


def names_of_towns() -> dict[str, Any]:
    return {
        "countries": ["fi", "jp", "gb"],
        "towns": [10.0, 20.0, 5.0],
        "names": ["Lahti", "Kobe"],
        "truth": [0, 1],
        "logs": -normals(2 * 3 * 5, 5).view(2, 3, 5).abs(),
    }


def which_country(state: dict[str, Any]) -> Readings:
    which = min(state["name"], len(state["names"]) - 1)
    read = min(state["place"], len(state["names"][which]))
    prior = state["towns"] if state["prior"] == "towns" else torch.ones(len(state["countries"]))
    joint = prior.double() * state["logs"][which, :, :read].double().sum(-1).exp()
    return {"truth": 100 * (joint / joint.sum())[int(state["truth"][which])].item()}


def kept_columns() -> dict[str, Any]:
    keys, values = normals(2 * 6 * 3, 6).view(2, 6, 3)
    return {"text": [*"⏎Lahti"], "key_rows": keys, "value_rows": values, "layers": 2, "width": 12}


def kv_cache(state: dict[str, Any]) -> Readings:
    """What is counted when the rows of a causal mask are computed one by one, or all each time."""
    n = min(state["written"], len(state["text"]))
    sizes = range(1, n + 1)
    per_letter = 2 * state["layers"] * state["width"] * torch.finfo(torch.float32).bits // 8
    return {
        "tokens": float(n if state["cached"] else sum(sizes)),
        "scores": float(sum(sizes) if state["cached"] else sum(size**2 for size in sizes)),
        "bytes": float(n * per_letter if state["cached"] else 0),
    }


def drafted_texts() -> dict[str, Any]:
    return {
        "texts": ["fi Lahti⏎", "jp Kobe⏎"],
        "drafts": ["Lohi|ahki|hki⏎|tai⏎|i⏎|⏎", "Tobe|obe⏎|be⏎|e⏎|⏎"],
        "p": [[0.3, 0.5, 0.4, 0.1, 0.9, 0.8], [0.2, 0.4, 0.6, 0.7, 0.9, 0.0]],
        "q": [[0.4, 0.3, 0.3, 0.5, 0.8, 0.9], [0.6, 0.5, 0.5, 0.5, 0.9, 0.0]],
        "u": [[0.2, 0.9, 0.1, 0.7, 0.3, 0.5], [0.8, 0.1, 0.9, 0.5, 0.2, 0.0]],
    }


def drafts(state: dict[str, Any]) -> Readings:
    """Calls by the rule of accept_or_replace, with the draws of the data."""

    def calls_of(which: int) -> list[tuple[int, int]]:
        """For each call how many letters it has written, and how many were drafted in vain."""
        end, place, calls = len(state["texts"][which]) - 3, 0, []
        offered = state["drafts"][which].split("|")
        while place < end:
            drafted, start, kept = offered[place][: state["ahead"]], place, True
            for _ in drafted:
                p, q, u = (state[name][which, place] for name in "pqu")
                kept = bool(u < min(1, p / q))
                place += 1
                if not kept:
                    break
            place = min(end, place + kept)  # one more where all are kept
            stayed = place - start - 1 if not kept else len(drafted)
            calls.append((place - start, len(drafted) - stayed))
        return calls

    all_calls = [calls_of(which) for which in range(len(state["texts"]))]
    here = all_calls[min(state["town"], len(all_calls) - 1)]
    made = here[: min(state["call"], len(here))]
    every = [written for calls in all_calls for written, _ in calls]
    return {
        "letters": sum(written for written, _ in made) / len(made),
        "average": sum(every) / len(every),
        "wasted": float(sum(vain for _, vain in made)),
    }


def two_gradients(state: dict[str, Any]) -> Readings:
    d, centre = state["dimension"], state["centre"]
    noise = normals(300 * d, state["seed"]).view(300, d)
    z = noise.clone()
    z[:, 0] += centre
    z.requires_grad_()
    bowl = state["shape"] == "bowl"
    f = z.square().sum(1) / 2 if bowl else torch.sin(8 * z[:, 0])
    [slope] = torch.autograd.grad(f.sum(), z)
    left = math.exp(-32)  # of a wave in the mean over the cloud
    level = (d + centre**2) / 2 if bowl else left * math.sin(8 * centre)
    score = (f.detach() - state["baseline"] * level) * noise[:, 0]
    return {
        "truth": centre if bowl else 8 * left * math.cos(8 * centre),
        "path": slope[:, 0].std(correction=0).item(),
        "score": score.std(correction=0).item(),
    }


def shared_keys(state: dict[str, Any]) -> Readings:
    heads, parts, size = state["heads"], state["parts"], (1, state["key_count"], state["features"])
    read = torch.zeros(state["multiprocessors"])
    for program, keys in enumerate(torch.arange(size[1]).tensor_split(parts) * heads):
        read[program % len(read)] += len(keys)
    moved = [decoding_bytes(*size, parts=n) for n in (1, parts)]
    return {
        "programs": float(heads * parts),
        "busiest": read.max().item(),
        "even": float(round(read.mean().item())),
        "more": 100 * (moved[1] / moved[0] - 1),
    }


def programs(state: dict[str, Any]) -> Readings:
    """Where the mask of a program's queries stops to show all keys, and where any."""
    queries, tile = state["query_count"], state["tile"]
    keys = queries + state["ahead"]
    seen = torch.ones(queries, keys).tril(keys - queries if state["causal"] else keys).bool()
    rows = seen.split(tile)[min(state["program"], (queries - 1) // tile)]
    plan = tile_plan(queries, keys, query_tile=tile, key_tile=tile, causal=state["causal"])
    return {
        "cut": float(int(rows[0].sum()) // tile * tile),
        "end": float(rows[-1].sum()),
        "visited": float(sum(len(columns) for _, columns in plan)),
    }


def nights_of_a_star() -> dict[str, Any]:
    time = [0.0, 0.9, 2.1, 3.0, 4.4, 9.2]
    return {
        "time": time,
        "magnitude": [18.2, 18.6, 18.4, 18.7, 18.3, 18.5],
        "error": [0.02, 0.05, 0.03, 0.02, 0.06, 0.03],
        "period": 0.571,
        "own_period": 0.57,
        "light": 18.4 + 0.3 * torch.sin(torch.arange(16) * math.pi / 8),
        "ways": ["mean", "line", "series"],
        "said": 18.4 + 0.1 * normals(18, 5).view(3, 6),
    }


def hidden_night(state: dict[str, Any]) -> Readings:
    """How far off the guess and each way are, once the night is shown."""
    if not state["asked"]:
        return {}
    magnitude, error = (state[name].double() for name in ("magnitude", "error"))
    bright, faint = (magnitude - error).min(), (magnitude + error).max()
    room = 0.06 * (faint - bright)
    guess = faint + room - state["guess"] * (faint - bright + 2 * room)
    night = min(state["night"], len(magnitude) - 1)
    off = [guess, *state["said"][:, night].double()]
    names = ["you", *(f"way{i + 1}" for i in range(len(state["ways"])))]
    return {name: abs(m - magnitude[night]).item() for name, m in zip(names, off, strict=True)}


def bands_of_two_ways() -> dict[str, Any]:
    level = torch.arange(1, 100) / 100
    return {
        "ways": ["series", "network"],
        "widths": torch.special.ndtri((1 + level) / 2),
        "held": torch.stack([level**power for power in (1, 2, 1, 0.5, 3, 2)]).round(decimals=2),
        "off": 0.1 * normals(60, 8).view(6, 10),
        "deviation": 0.05 + 0.1 * normals(60, 9).view(6, 10).abs(),
    }


def stated_bands(state: dict[str, Any]) -> Readings:
    group = ["all", "right", "wrong"].index(state["period"]) * len(state["ways"])
    row = group + min(state["way"], len(state["ways"]) - 1)
    normal = torch.distributions.Normal(0.0, state["deviation"][row].double())
    level = 2 * normal.cdf(state["off"][row].double().abs()) - 1
    return {
        "held": 100 * state["held"][row, state["stated"] - 1].item(),
        "inside": float((level < state["stated"] / 100).sum()),
    }


def folded_stars() -> dict[str, Any]:
    draws = normals(2 * 2 * 2 * 9, 6).view(8, 9)
    return {
        "stars": ["RRab", "Cepheid F"],
        "counts": [2, 4],
        "ways": ["library", "network"],
        "phases": [[0.1, 0.7, 0.4, 0.9], [0.3, 0.2, 0.8, 0.6]],
        "magnitude": 18 + 0.3 * normals(8, 7).view(2, 4),
        "error": [[0.02] * 4, [0.05] * 4],
        "light": 18 + 0.3 * draws[:2],
        "said": 18 + 0.3 * draws,
        "errors": [[0.1, 0.05], [0.2, 0.04]],
        "spreads": [[0.01, 0.01], [0.02, 0.01]],
    }


def few_nights(state: dict[str, Any]) -> Readings:
    star = min(state["star"], len(state["stars"]) - 1)
    said = state["said"].double().unflatten(0, (len(state["stars"]), -1, len(state["ways"])))
    off = (said[star, state["step"]] - state["light"][star].double()).square().mean(1).sqrt()
    return {f"way{i}": value for i, value in enumerate(off.tolist())}


def turn_of(count: int, apart: float) -> Tensor:
    return 1.2 + apart * (torch.arange(count) - (count - 1) / 2).double()


@functools.cache  # cached, since a run is long and used until the page has drawn it
@torch.no_grad()
def energies_of(q: tuple[float, ...], p: tuple[float, ...], epsilon: float, apart: float) -> Tensor:
    """Of oscillators that rotate, and then interact by attention of weight epsilon."""
    couple = SymplecticAttention(1, update="p").double()
    couple.load_state_dict({"weight": tensor([[epsilon]])})
    z, states = torch.complex(tensor(q), tensor(p)), []
    for _ in range(4000):
        states.append(z)
        z = z * torch.exp(-1j * turn_of(len(q), apart))
        z = torch.complex(*(part[:, 0] for part in couple(z.real[:, None], z.imag[:, None])))
    return torch.stack(states).abs().square() / 2


def resonance(state: dict[str, Any]) -> Readings:
    q, p = (tensor(state[name])[state["start"]] for name in ("q", "p"))
    if state["placed"]:
        q, p = tensor(state["placed"]).view(2, 4)
    if state["alike"]:
        q, p = q[:1].expand(4), p[:1].expand(4)
    energies = energies_of(*map(tuple, (q.tolist(), p.tolist())), state["epsilon"], state["apart"])
    whole = energies.sum(1)
    return {
        "swing": 100 * (energies.amax(0) - energies.amin(0)).max().item() / whole[0].item(),
        "total": 100 * (whole / whole[0] - 1).abs().max().item(),
    }


def graph_of(name: str) -> Graph:
    if name == "grid":
        at = torch.arange(49).view(7, 7)
        across, down = (at[:, :-1], at[:, 1:]), (at[:-1], at[1:])
        pairs = [torch.stack([a.flatten(), b.flatten()]) for a, b in (across, down)]
        return Graph.undirected(torch.eye(49).double(), torch.cat(pairs, dim=1))
    count = {"row": 33, "ring": 32, "tree": 63}[name]
    node = torch.arange(1, count)
    pairs = torch.stack([(node - 1) // 2 if name == "tree" else node - 1, node])
    if name == "ring":
        pairs = torch.cat([pairs, torch.tensor([[count - 1], [0]])], dim=1)
    return Graph.undirected(torch.eye(count).double(), pairs)


@torch.no_grad()
def shares_heard(graph: Graph, layer: str, rounds: int) -> Tensor:
    """The share of v in the messages to u, by course_lib's convolutions with weights of one."""
    n = graph.nodes
    conv = (GCNConv if layer == "normalized" else GraphConv)(n, n).double()
    own = {"own.weight": torch.eye(n) * (layer == "sum"), "own.bias": torch.zeros(n)}
    plain = {"linear.weight": torch.eye(n), "linear.bias": torch.zeros(n)}
    conv.load_state_dict(
        plain if layer == "normalized" else own | {"neighbours.weight": torch.eye(n)}
    )
    heard = graph.x
    for _ in range(rounds):
        heard = conv(graph.with_features(heard))
    return heard / heard.sum(dim=1, keepdim=True)


def steps_from(graph: Graph, start: int) -> Tensor:
    far = torch.full((graph.nodes,), graph.nodes)
    reached = graph.x[start]
    for step in range(graph.nodes):
        far[(reached > 0) & (far > step)] = step
        reached = (reached > 0).double() @ (graph.adjacency() + torch.eye(graph.nodes))
    return far


def listening(state: dict[str, Any]) -> Readings:
    graph = graph_of(state["graph"])
    at = min(state["listener"], graph.nodes - 1)
    far = steps_from(graph, at)
    there = far == min(state["rounds"], int(far.max()))
    if state["joined"]:
        there = far.argmax()
        more = torch.tensor([[at, there], [there, at]])
        graph = dataclasses.replace(graph, edges=torch.cat([graph.edges, more], dim=1))
        far = steps_from(graph, at)
    heard = shares_heard(graph, state["layer"], state["rounds"])
    return {
        "share": 100 * heard[at, there].mean().item(),
        "common": 100 * torch.minimum(heard[at], heard[far.argmax()]).sum().item(),
    }


def jet_with_bias() -> dict[str, Any]:
    pt, y, phi, noise = normals(4 * 6, 7).view(4, 6)
    pt, (y, phi) = 10 * pt.exp(), (0.5 + 0.3 * y, 3.1 + 0.3 * phi)
    momenta = torch.stack([(1 + pt**2).sqrt() * y.cosh(), pt * phi.cos(), pt * phi.sin()], -1)
    momenta = torch.cat([momenta, ((1 + pt**2).sqrt() * y.sinh())[:, None]], -1)
    return {"momenta": momenta, "bias": noise * torch.stack([y, phi])[..., None]}


def features_of_pair(state: dict[str, Any], momenta: Tensor) -> tuple[Readings, int, int]:
    count = len(momenta)
    first, second = state["first"], state["second"]
    second = (first + 1) % count if first == second else second
    four = pairwise_features(momenta)[first, second].exp().tolist()
    return dict(zip(("distance", "kt", "z", "m2"), four, strict=True)), first, second


def boosted_jet(state: dict[str, Any]) -> Readings:
    momenta = tensor(state["momenta"])
    jet = momenta.sum(0)[1:]
    velocity = -math.tanh(state["shift"]) * jet / jet.norm()
    moved = (
        boosted_along_beam(momenta, state["shift"])
        if state["direction"] == "beam"
        else boosted(momenta, tuple(velocity.tolist()))
    )
    return features_of_pair(state, moved)[0]


def pair_bias(state: dict[str, Any]) -> Readings:
    momenta = tensor(state["momenta"])
    readings, first, second = features_of_pair(state, momenta)
    bias = tensor(state["bias"])[state["head"] - 1]
    rows, columns = torch.tril_indices(len(momenta), len(momenta), -1)
    distance = delta_r(momenta[rows], momenta[columns])
    ranks = torch.stack([x.argsort().argsort().double() for x in (distance, bias[rows, columns])])
    return readings | {
        "bias": bias[first, second].item(),
        "rank": torch.corrcoef(ranks)[0, 1].item(),
    }


EXPECTED: dict[str, Callable[[dict[str, Any]], Readings]] = {
    name: globals()[name.replace("-", "_")] for name in FIGURES
}
DATA: dict[str, Callable[[], dict[str, Any]]] = {
    "roofline": lambda: {
        "peak": 1000.0,
        "bandwidth": 3.0,
        "ways": ["formula", "in tiles"],
        "speeds": [139.0, 646.0],
    },
    "resonance": lambda: {
        "q": normals(40, 1).view(10, 4),
        "p": normals(40, 2).view(10, 4),
    },
    "codes-that-die": lambda: {
        "eigenvalues": [6.0, 3.5, 2.0, 0.9, 0.4, 0.1, 0.02],
        "levels": [0.1, 0.8, 6.0],
        "redrawn": [[0.0, 1.0, 0.2, 0.8], [0.2, 0.8, 0.4, 0.6], [0.6, 0.4, 1.0, 0.0]],
        "letter": [0.0, 1.0, 0.0, 1.0],
    },
    "fading-modes": digits_by_time,
    "translator": untrained_translator,
    "next-letter": beginnings,
    "which-country": names_of_towns,
    "kv-cache": kept_columns,
    "drafts": drafted_texts,
    "shared-keys": lambda: {"multiprocessors": 20},
    "hidden-night": nights_of_a_star,
    "few-nights": folded_stars,
    "stated-bands": bands_of_two_ways,
    "boosted-jet": lambda: {"momenta": jet_with_bias()["momenta"]},
    "pair-bias": jet_with_bias,
}


def make(figure: str, *, moving: bool = False, **knobs: Any) -> LiveFigure:
    return LiveFigure(figure, moving=moving, **DATA.get(figure, dict)(), **knobs)
