"""AttentionExplorer: who looks at whom, layer by layer and head by head."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import traitlets
from numpy.typing import ArrayLike, NDArray

from course_lib.widgets.base import Widget
from course_lib.widgets.traits import Array, finite_array, number_between, texts

AXES = ("layers", "heads", "query", "key")
MOST_TOKENS = 64
COLDEST, HOTTEST = 0.1, 10.0
TOLERANCE = 1e-3


class AttentionExplorer(Widget):
    r"""The weights of attention as links between tokens and as a heat map.

    ``tokens`` is a list of up to 64 strings and ``weights`` has the axes ``(layers, heads, query,
    key)``; each row is non-negative and sums to one. A fifth axis in front, ``(steps, layers,
    heads, query, key)``, holds snapshots taken while a model learned; ``steps`` names them.

    Temperature and causal mask act in the page, on the weights alone. For $w =
    \mathrm{softmax}(s)$ the scores are known up to a constant, $s = \log w + c$, so

    $$\mathrm{softmax}(s / \tau)_k = \frac{w_k^{1/\tau}}{\sum_j w_j^{1/\tau}}, \qquad
    \mathrm{softmax}(s + \mathrm{mask})_k = \frac{w_k [k \le q]}{\sum_{j \le q} w_j}.$$

    A weight of zero stays zero: a mask that shaped ``weights`` cannot be lifted. One layer is
    changed, not the layers above it, which were computed without the change.

    ``attention`` is a function from a list of tokens to weights. While a kernel runs, a text field
    appears; the words typed there, separated by spaces, go to the function and its weights are
    drawn. What it raises, or what is wrong with what it returns, is shown in the widget.

    Traits, synced both ways: ``layer``, ``head``, ``query`` and ``step``, which count from 0 as
    Python does (the page counts from 1), ``temperature`` in [0.1, 10] and ``causal``. ``tokens``,
    ``weights`` and ``steps`` change together, by :meth:`replace`. Raises ``TypeError`` and
    ``ValueError`` for data that cannot be drawn.
    Sources: Vaswani et al. (2017), eq. 1; Hinton, Vinyals and Dean (2015), eq. 1, for temperature.
    """

    _module = "attention_explorer.js"

    tokens = traitlets.List(traitlets.Unicode(), read_only=True).tag(sync=True)
    weights = Array(read_only=True)
    steps = traitlets.List(traitlets.Unicode(), read_only=True).tag(sync=True)
    layer = traitlets.Int().tag(sync=True)
    head = traitlets.Int().tag(sync=True)
    query = traitlets.Int().tag(sync=True)
    step = traitlets.Int().tag(sync=True)
    temperature = traitlets.Float(1.0).tag(sync=True)
    causal = traitlets.Bool(default_value=False).tag(sync=True)
    plugged = traitlets.Bool(default_value=False, read_only=True).tag(sync=True)
    typed = traitlets.Unicode().tag(sync=True)
    answers = traitlets.Int(read_only=True).tag(sync=True)
    error = traitlets.Unicode(read_only=True).tag(sync=True)

    def __init__(
        self,
        tokens: list[str],
        weights: ArrayLike,
        *,
        attention: Callable[[list[str]], ArrayLike] | None = None,
        steps: Iterable[object] | None = None,
        layer: int = 0,
        head: int = 0,
        query: int = 0,
        step: int = 0,
        temperature: float = 1.0,
        causal: bool = False,
        **dom: Any,
    ) -> None:
        if attention is not None and not callable(attention):
            raise TypeError(
                "attention must be a function from a list of tokens to weights with the axes "
                f"({', '.join(AXES)}), but was given {attention!r}"
            )
        if not isinstance(causal, bool):
            raise TypeError(f"causal must be True or False, but was given {causal!r}")
        places = {"layer": layer, "head": head, "query": query, "step": step}
        for name, place in places.items():
            if isinstance(place, bool) or not isinstance(place, int):
                raise TypeError(f"{name} must be an integer that counts from 0; given {place!r}")
        words, array, names = _drawable(tokens, weights, steps)
        self._attention = attention
        self.set_trait("tokens", words)
        self.set_trait("weights", array)
        self.set_trait("steps", names)
        self.set_trait("plugged", attention is not None)
        super().__init__(
            **places,
            temperature=number_between("temperature", temperature, COLDEST, HOTTEST),
            causal=causal,
            **dom,
        )

    def replace(
        self, tokens: list[str], weights: ArrayLike, *, steps: Iterable[object] | None = None
    ) -> None:
        """Draw other tokens and weights, checked as in the constructor.

        Layer, head, query and step stay where they are, or move to the last that there is.
        """
        words, array, names = _drawable(tokens, weights, steps)
        with self.hold_sync():
            self.set_trait("tokens", words)
            self.set_trait("weights", array)
            self.set_trait("steps", names)
            for name, size in self._sizes().items():
                setattr(self, name, min(getattr(self, name), size - 1))

    def describe(self) -> str:
        """How many tokens, layers and heads, and where the chosen query looks most."""
        row = self._snapshots()[self.step, self.layer, self.head, self.query]
        best = int(row.argmax())
        layers, heads = self.weights.shape[-4:-2]
        return (
            f"Attention among {len(self.tokens)} tokens, {_count(layers, 'layer')} of "
            f"{_count(heads, 'head')}: {' '.join(self.tokens)}. In layer {self.layer + 1}, head "
            f"{self.head + 1}, the query {self.tokens[self.query]} (place {self.query + 1}) looks "
            f"most at {self.tokens[best]} (place {best + 1}), with weight {row[best]:.3f}."
        )

    def page_state(self) -> dict[str, Any]:
        """As it stands now, without the field in which new tokens are typed."""
        # A page has no kernel to ask, so it shows no field to type in.
        return {**super().page_state(), "plugged": False, "typed": "", "error": ""}

    def _snapshots(self) -> NDArray[np.float32]:
        return self.weights if self.weights.ndim > len(AXES) else self.weights[None]

    def _sizes(self) -> dict[str, int]:
        step, layer, head, query, _ = self._snapshots().shape
        return {"step": step, "layer": layer, "head": head, "query": query}

    @traitlets.validate("step", "layer", "head", "query")
    def _within(self, proposal: dict[str, Any]) -> int:
        name, value = proposal["trait"].name, proposal["value"]
        size = self._sizes()[name]
        if not 0 <= value < size:
            raise ValueError(
                f"{name} must lie between 0 and {size - 1}, since it counts from 0 and there "
                f"{'is' if size == 1 else 'are'} {size}, but was given {value}"
            )
        return value

    @traitlets.validate("temperature")
    def _lukewarm(self, proposal: dict[str, Any]) -> float:
        return number_between("temperature", proposal["value"], COLDEST, HOTTEST)

    @traitlets.observe("typed")
    def _recompute(self, change: dict[str, Any]) -> None:
        words = change["new"].split()
        if self._attention is None or not change["new"]:
            return
        with self.hold_sync():
            self.set_trait("error", self._ask(words))
            self.set_trait("answers", self.answers + 1)

    def _ask(self, words: list[str]) -> str:
        """Draw what the plugged-in function answers; return what went wrong, or nothing."""
        if not words:
            return "Type at least one token; spaces separate tokens."
        try:
            weights = self._attention(list(words))
        except Exception as error:  # noqa: BLE001 - whatever it raises, its author wants to read it
            where = traceback.extract_tb(error.__traceback__)[-1]
            return f"{type(error).__name__} in {where.name}, line {where.lineno}: {error}"
        try:
            snapshots = self.steps if _axes(weights) == len(AXES) + 1 else None
            self.replace(words, weights, steps=snapshots)
        except (TypeError, ValueError) as error:
            return f"The function returned something that cannot be drawn: {error}"
        return ""


def _drawable(
    tokens: list[str], weights: ArrayLike, steps: Iterable[object] | None
) -> tuple[list[str], NDArray[np.float32], list[str]]:
    """Tokens, weights and names of the snapshots, once they fit together."""
    words = texts("tokens", tokens)
    if len(words) > MOST_TOKENS:
        raise ValueError(
            f"tokens holds {len(words)} strings, but at most {MOST_TOKENS} can be read in a "
            "picture; show a part of the sequence"
        )
    if steps is None:
        array, names = finite_array("weights", weights, AXES), []
    else:
        if isinstance(steps, str) or not isinstance(steps, Iterable):
            raise TypeError(f"steps must be a list with a name for each snapshot; given {steps!r}")
        array = finite_array("weights", weights, ("steps", *AXES))
        names = [str(step) for step in steps]
        if len(names) != len(array):
            raise ValueError(
                f"steps names {len(names)} snapshots, but weights holds {len(array)}; name each"
            )
    if array.shape[-2:] != (len(words), len(words)):
        raise ValueError(
            f"{len(words)} tokens need weights of {len(words)} queries by {len(words)} keys, but "
            f"weights has the shape {array.shape}"
        )
    _check_rows(array)
    return words, array, names


def _axes(weights: ArrayLike) -> int:
    """How many axes an array has, or how deep lists are nested, ragged or not."""
    if hasattr(weights, "ndim"):
        return weights.ndim
    return 1 + _axes(weights[0]) if isinstance(weights, list | tuple) and weights else 0


def _check_rows(weights: NDArray[np.float32]) -> None:
    if (weights < 0).any():
        place = tuple(int(i) for i in np.argwhere(weights < 0)[0])
        raise ValueError(
            f"{_place(place)} has the weight {weights[place]:g} for key {place[-1]}; weights must "
            "not be negative; apply softmax to scores first"
        )
    sums = weights.sum(axis=-1, dtype=np.float64)
    wrong = np.argwhere(np.abs(sums - 1) > TOLERANCE)
    if len(wrong):
        place = tuple(int(i) for i in wrong[0])
        raise ValueError(
            f"{_place((*place, 0))} sums to {sums[place]:.4g}; each row of weights must sum to one "
            "over the keys (the last axis); apply softmax, or divide each row by its sum"
        )


def _place(index: tuple[int, ...]) -> str:
    *snapshot, layer, head, query, _ = index
    first = f"snapshot {snapshot[0]}, " if snapshot else ""
    return f"{first}layer {layer}, head {head}, row {query}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
