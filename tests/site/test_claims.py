"""The check of each claim of a lecture passes, and falls to a wrong implementation."""

import inspect
import math
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import partial, wraps

import pytest
import torch
from claims import LECTURES, check, claims, names_in
from torch import Tensor, nn

from course_lib.attention import MultiHeadAttention
from course_lib.autoencoder import VAE
from course_lib.generation import byte_pairs
from course_lib.graph import GATConv, Graph
from course_lib.light_curves import BRIGHTNESS, Astromer, LightCurves
from course_lib.mechanics import Pendulum, runge_kutta_4, stoermer_verlet
from course_lib.models import deep_stacks
from course_lib.models.words.name_decoder import load_name_decoder
from course_lib.support.evidence import Evidence
from course_lib.symplectic import SymplecticAttention
from course_lib.tiled_attention import Partial, attention_flops
from course_lib.transformer import (
    EncoderBlock,
    MaskedLanguageModel,
    RMSNorm,
    masked,
    parts,
)

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    if not torch.cuda.is_available():
        monkeypatch.setenv("TRITON_INTERPRET", "1")
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)  # of the reader's shell; IPython warns


# Wrong results of any function, class or model of the library ----------------------------------

CHANGES: tuple[Callable[[Tensor], Tensor], ...] = (
    lambda x: 1.1 * x,
    lambda x: x.roll(1, -2) if x.dim() > 1 else x,
    lambda x: x + 0.1,
    lambda x: -x,
)


def after(change: Callable[[Tensor], Tensor], result: object) -> object:
    """A result in which every floating-point number is changed."""
    if isinstance(result, tuple):
        changed = [after(change, part) for part in result]
        return type(result)(*changed) if hasattr(result, "_fields") else tuple(changed)
    if isinstance(result, float):
        return change(torch.tensor(result, dtype=torch.float64)).item()
    is_real = isinstance(result, Tensor) and result.is_floating_point()
    return change(result) if is_real else result


def wrong(change: Callable[[Tensor], Tensor], thing: object) -> object:
    """A function, a network or a class of networks whose results are changed."""
    if isinstance(thing, nn.Module):
        model = deepcopy(thing)
        model.register_forward_hook(lambda _, __, result: after(change, result))
        return model
    function = thing.forward if inspect.isclass(thing) else thing

    @wraps(function)
    def changed(*given: object, **named: object) -> object:
        return after(change, function(*given, **named))

    return (
        type(thing.__name__, (thing,), {"forward": changed}) if function is not thing else changed
    )


def of_the_library(names: dict[str, object]) -> Iterator[str]:
    for name, thing in names.items():
        kind = type(thing) if isinstance(thing, nn.Module) else thing
        computes = inspect.isfunction(kind) or (
            inspect.isclass(kind) and issubclass(kind, nn.Module)
        )
        if computes and kind.__module__.startswith("course_lib"):
            yield name


# Claims that need a mistake of their own ------------------------------------------------------


GAT_WEIGHTS, ATTEND = GATConv.weights, parts.BlockAttention.forward


class WithoutBias(MultiHeadAttention):
    def __init__(self, d_model: int, heads: int) -> None:
        super().__init__(d_model, heads, bias=False)


class ProjectsTwice(MultiHeadAttention):
    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x) + 0 * self.query(x)


class Unbiased(EncoderBlock):
    def __init__(self, *sizes: int, **options: object) -> None:
        super().__init__(*sizes, **options)
        self.mlp.expand.bias = None


class SeesPadding(MaskedLanguageModel):
    def forward(self, ids: Tensor, *, valid: Tensor | None = None) -> Tensor:  # noqa: ARG002
        return super().forward(ids)


class WithMean(RMSNorm):
    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x - x.mean(-1, keepdim=True))


def always_masked(ids: Tensor, **options: object) -> tuple[Tensor, Tensor]:
    _, hidden = masked.hide(ids, **options)
    return ids.masked_fill(hidden, options["mask"]), hidden


def crossing(*places: tuple[int, int]) -> Callable[[Tensor], Tensor]:
    """Cross-attention of thirteen pieces to six words."""

    def looks(which: Tensor) -> Tensor:
        weights = torch.zeros(len(which), 13, 6)
        for piece, word in places:
            weights[:, piece, word] = 1
        return weights

    return looks


def dealt_in_turn(layer: GATConv, graph: Graph) -> tuple[Tensor, Tensor]:
    edges, weights = GAT_WEIGHTS(layer, graph)
    return edges, weights.roll(1, 0)


def counts_rings(graph: Graph) -> Tensor:
    return graph.x.sum(0, keepdim=True) + graph.adjacency().matrix_power(5).trace()


def deaf_to_masks(layer: nn.Module, *given: Tensor, mask: Tensor, **others: object) -> Tensor:  # noqa: ARG001
    return ATTEND(layer, *given, **others)


def summed(layer: nn.Module, x: Tensor, context: Tensor | None = None, **chosen: object) -> Tensor:
    return ATTEND(layer, x, context, **chosen) * (x if context is None else context).shape[-2]


def with_position(layer: nn.Module, x: Tensor, *others: Tensor, **chosen: object) -> Tensor:
    return ATTEND(layer, x + 0.1 * torch.arange(x.shape[-2])[:, None].to(x), *others, **chosen)


def never_subtracted(query: Tensor, key: Tensor, value: Tensor) -> Partial:
    weight = (query @ key.mT / math.sqrt(query.shape[-1])).exp()
    return Partial(0 * weight[:, 0], weight.sum(-1), weight @ value)


class Untrained(Evidence):
    def row(self, experiment: str, **_: object) -> dict:
        return self.rows(experiment)[0]


class PushedUphill(Pendulum):
    def field(self, q: Tensor, p: Tensor) -> tuple[Tensor, Tensor]:
        return self.grad_p(q, p), self.grad_q(q, p)


class Silent(SymplecticAttention):
    def gradient(self, x: Tensor) -> Tensor:
        return 0 * super().gradient(x)


class LeftInTheToken(Astromer):
    """Hidden magnitudes stay in their tokens, less the mean of visible nights."""

    def _inputs(self, curves: LightCurves, visible: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        since, value, mean = super()._inputs(curves, visible)
        light = (curves.magnitude - mean) / BRIGHTNESS
        return since, torch.stack([light, value[..., 1]], -1), mean

    def _tokens(self, since: Tensor, value: Tensor, visible: Tensor) -> Tensor:
        return super()._tokens(since, value, torch.ones_like(visible))


class CountsHiddenNights(Astromer):
    def forward(self, curves: LightCurves, *, hidden: Tensor | None = None) -> Tensor:
        return super().forward(curves, hidden=hidden) + 0.1 * hidden.sum(1, keepdim=True)

    def at(self, curves: LightCurves, time: Tensor, *, hidden: Tensor | None = None) -> Tensor:
        counted = 0 if hidden is None else 0.1 * hidden.sum(1, keepdim=True)
        return super().at(curves, time, hidden=hidden) + counted


class LooksAtPadding(Astromer):
    def _encoded(self, since: Tensor, value: Tensor, visible: Tensor) -> Tensor:
        return self.encoder(self._tokens(since, value, visible))


class AsksInDays(LightCurves):
    def in_turns(self, period: Tensor) -> LightCurves:  # noqa: ARG002
        return self


def without_constant(model: VAE, x: Tensor, z: Tensor, *_: None) -> Tensor:
    return -(x - model.decode(z)).square().sum(-1) / (2 * model.log_noise_variance.exp())


# By the label of a claim. Each replaces a name of the lecture, or a name in a place of the library.
OWN = {
    "prop-parameters": {"MultiHeadAttention": WithoutBias},
    "prop-cost": {"MultiHeadAttention": ProjectsTwice},
    "prop-nowhere": {(parts, "rotary"): lambda x, *, position, **_: x + position[:, None] / 1000},
    "prop-way-around": {
        "deep_stack": lambda _, layers, d: deep_stacks.deep_stack("bare", layers, d)
    },
    "prop-layer-norm": {
        (nn.functional, "layer_norm"): lambda x, *_, **__: x / x.std(-1, keepdim=True)
    },
    "prop-size": {"EncoderBlock": Unbiased},
    "prop-fate": {"hide": always_masked},
    "prop-both-sides": {"hide": lambda ids, **_: (ids, ids >= 0)},
    "prop-padding": {"MaskedLanguageModel": SeesPadding},
    "prop-modern": {"RMSNorm": WithMean},
    "prop-tokens": {
        "learn_merges": lambda words, count: byte_pairs.learn_merges(words, count)[::-1]
    },
    "prop-reversal": {"looks": crossing((10, 4), (11, 4), (12, 5))},
    "prop-static": {(GATConv, "weights"): dealt_in_turn},
    "prop-blind": {"sum_pool": counts_rings},
    "prop-likelihood": {(VAE, "log_likelihood"): without_constant},
    "prop-energy": {"Pendulum": PushedUphill},
    "prop-order": {"runge_kutta_4": stoermer_verlet},
    "prop-quadratic": {"implicit_midpoint": runge_kutta_4},
    "prop-product-space": {"SymplecticAttention": Silent},
    "prop-runaway": {"Evidence": Untrained},
    "prop-jet-set": {(parts.BlockAttention, "forward"): with_position},
    "prop-empty": {(parts.BlockAttention, "forward"): deaf_to_masks},
    "prop-count": {(parts.BlockAttention, "forward"): summed},
    "prop-hidden": {"Astromer": LeftInTheToken},
    "prop-anytime": {"Astromer": CountsHiddenNights},
    "prop-padded-nights": {"Astromer": LooksAtPadding},
    "prop-turns": {"LightCurves": AsksInDays},
    "prop-bounded": {"partial_attention": never_subtracted},
    "prop-intensity": {"attention_flops": lambda *n: attention_flops(*n) // 2},
}
# What earlier cells of the lecture would train, or draw from the same generator.
GIVEN: dict[str, Callable[[], dict[str, object]]] = {
    "prop-nucleus": lambda: {"writer": load_name_decoder()},
    "prop-reversal": lambda: {
        "fresh": torch.arange(20, 1020),
        "strange": torch.arange(1020, 1100),
        "source": torch.ones(1200, 6),
        "target": torch.ones(1200, 13),
        "looks": crossing((10, 5), (11, 4), (12, 4)),
    },
    "prop-reparameterized": lambda: {"random": torch.Generator().manual_seed(1)},
}


def falls(
    stem: str, label: str, replaced: dict, changed: dict[str, Callable] | None = None
) -> bool:
    by_name = {name: value for name, value in replaced.items() if isinstance(name, str)}
    with pytest.MonkeyPatch.context() as patch:
        for place in replaced.keys() - by_name.keys():
            patch.setattr(*place, replaced[place])
        try:
            check(stem, label, GIVEN.get(label, dict)() | by_name, changed)
        except AssertionError:
            return True
        except Exception:  # noqa: BLE001 - a crash is no answer of the check
            return False
    return False


@pytest.mark.parametrize(
    ("stem", "label"),
    [
        (path.stem, label)
        for path in sorted(LECTURES.glob("*.ipynb"))
        for label in claims(path.stem)
    ],
)
def test_a_claim_holds_for_the_library_and_falls_to_a_wrong_implementation(
    stem: str, label: str
) -> None:
    names = check(stem, label, GIVEN.get(label, dict)())
    if label in OWN:
        assert falls(stem, label, OWN[label])
    else:
        mine = {name: names[name] for name in names_in(stem, label) if name in names}
        assert any(
            falls(stem, label, {}, {name: partial(wrong, change)})
            for change in CHANGES
            for name in of_the_library(mine)
        )
