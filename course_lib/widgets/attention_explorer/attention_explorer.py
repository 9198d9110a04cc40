"""AttentionExplorer: who looks at whom, layer by layer and head by head."""

from __future__ import annotations

import base64
import math
import traceback
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import traitlets
from numpy.typing import ArrayLike, NDArray

from course_lib.models.words.induction import LETTERS, TOKENS, StringReader
from course_lib.widgets.kit.base import MovingWidget
from course_lib.widgets.kit.packed_weights import pack
from course_lib.widgets.kit.traits import (
    Array,
    Data,
    Index,
    Number,
    Several,
    Switch,
    Text,
    brief,
)

AXES = ("layers", "heads", "query", "key")
LEVELS = 255
GUESSED = 3  # of the tokens that may come next, the most probable
TOLERANCE = 1e-3
READER_BYTES, READER_BITS = 20_000, 7
SIGN = "has the weight {:g}; weights must not be negative; apply softmax to scores first"
SUM = (
    "sums to {:.4g}; each row of weights must sum to one over the keys (the last axis); apply "
    "softmax, or divide each row by its sum"
)


def _whole(explorer: Any, guesses: NDArray[np.float32]) -> NDArray[np.float32]:
    """The guesses, if each is a distribution over the vocabulary."""
    if guesses.size and not explorer.vocabulary:
        raise ValueError("guesses were given without vocabulary; name what may come next")
    if guesses.size and (guesses.min() < 0 or abs(guesses.sum(-1) - 1).max() > TOLERANCE):
        raise ValueError(
            "guesses have a row that is no distribution over the vocabulary (the last axis); "
            "apply softmax"
        )
    return guesses


def _softmaxed(_widget: Any, weights: NDArray[np.float32]) -> NDArray[np.float32]:
    """The weights, if each row is a distribution over the keys."""
    least, sums = weights.min(axis=-1), weights.sum(axis=-1, dtype=np.float64)
    for rows, given, said in ((least < 0, least, SIGN), (abs(sums - 1) > TOLERANCE, sums, SUM)):
        for place in map(tuple, np.argwhere(rows)[:1]):
            names = ("snapshot", "layer", "head", "row")[-len(place) :]
            row = ", ".join(f"{name} {i}" for name, i in zip(names, place, strict=True))
            raise ValueError(f"{row} {said.format(given[place])}")
    return weights


def _uncut(explorer: Any, causal: bool) -> bool:  # noqa: FBT001 - the value of a switch
    if causal and explorer.context:
        raise ValueError(
            "causal is True beside a context, whose places are those of another text; expected "
            "causal=False; mask the scores before softmax"
        )
    return causal


def _rounded(rows: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Rows of weights in steps of 1/255: they still sum to one, and no weight errs by a step."""
    ends = np.rint(LEVELS * np.cumsum(rows, axis=-1, dtype=np.float64)).clip(0, LEVELS)
    return np.diff(ends, axis=-1, prepend=0).astype(np.uint8)


def _packed(numbers: NDArray[Any]) -> str:
    return base64.b64encode(numbers.tobytes()).decode("ascii")


def _filmed(weights: NDArray[np.float32]) -> dict[str, Any]:
    """Snapshots for a page: the last as it is, those before it rounded.

    What follows from the rest stays at home: the zeros above the diagonal, if all look back only,
    and of each row the last weight that is left.
    """
    queries, count = weights.shape[-2:]
    causal = queries == count and not np.triu(weights, 1).any()
    seen = np.tri(count, dtype=bool) if causal else np.ones((queries, count), dtype=bool)
    kept = seen & ~np.eye(count, dtype=bool) if causal else seen & (np.arange(count) < count - 1)
    film = _rounded(weights[:-1])[..., kept]
    last = Array._encode(weights[-1][..., seen], None)
    return {"shape": list(weights.shape), "film": _packed(film), "causal": causal, "last": last}


def _foremost(guesses: NDArray[np.float32], others: list[int]) -> dict[str, Any]:
    """Of each distribution for a page the most probable first, then ``others``, to 1/255."""
    ids = np.argsort(-guesses, axis=-1, kind="stable")[..., :GUESSED]
    ids = np.concatenate([ids, np.broadcast_to(others, (*ids.shape[:-1], len(others)))], axis=-1)
    ids = ids.astype(int)
    shares = np.rint(LEVELS * np.take_along_axis(guesses, ids, axis=-1)).astype(np.uint8)
    shape, places = list(ids.shape), ids.astype(np.uint8)
    return {"shape": shape, "ids": _packed(places), "shares": _packed(shares)}


def _one_for_each_id(_explorer: Any, vocabulary: list[str]) -> list[str]:
    if len(vocabulary) > LEVELS + 1:
        raise ValueError(
            f"vocabulary has {len(vocabulary)} entries; expected {LEVELS + 1} at most; leave out "
            "what is never guessed"
        )
    return vocabulary


def _guessable(explorer: Any, rivals: list[str]) -> list[str]:
    for name in rivals:
        if name not in explorer.vocabulary:
            raise ValueError(f"rivals has {name!r}, which vocabulary lacks; name what may come")
    return rivals


class AttentionExplorer(MovingWidget):
    r"""The weights of attention as links between tokens and as a heat map.

    ``tokens`` is a list of up to 64 strings and ``weights`` has the axes ``(layers, heads, query,
    key)``; each row is non-negative and sums to one. In cross-attention the keys are other tokens,
    up to 64 of a ``context``; they stand before the queries. A fifth axis in front, ``(steps,
    layers, heads, query, key)``, holds snapshots taken while a model learned; ``steps`` names them.
    Then the figure plays the training, at once unless the reader has asked for less motion or you
    for none (``moving=False``). Beside it may run the ``losses``, one a snapshot. In a page without
    a kernel the weights of all snapshots but the last are rounded to 1/255; rows still sum to one.

    ``guesses`` are what the model expects to come next, probabilities with the axes ``(query,
    vocabulary)``, or ``(steps, query, vocabulary)``; ``vocabulary`` names its last axis. The page
    shows the three most probable, rounded to 1/255. Without ``steps`` the figure then reads the
    text under the same conditions, from where a token first comes back. Temperature and mask change
    no guess. With a ``reader``, a ``StringReader`` whose letters are the ``vocabulary``, the page
    reads letters that are typed there, and the temperature of a layer reaches the guesses. A
    ``question`` stands above it. ``rivals`` are tokens of which one may come after the
    last: the page then says what each gets, and draws the other heads of the layer, in grey.

    Temperature and causal mask act in the page, on the weights alone. For $w =
    \mathrm{softmax}(s)$ the scores are known up to a constant, $s = \log w + c$, so

    $$\mathrm{softmax}(s / \tau)_k = \frac{w_k^{1/\tau}}{\sum_j w_j^{1/\tau}}, \qquad
    \mathrm{softmax}(s + \mathrm{mask})_k = \frac{w_k [k \le q]}{\sum_{j \le q} w_j}.$$

    A weight of zero stays zero: a mask that shaped ``weights`` cannot be lifted. One layer is
    changed, not the layers above it, which were computed without the change.

    ``attention`` is a function from a list of tokens to weights; it takes no ``context``. While a
    kernel runs, a text field appears; the words typed there, separated by spaces, go to the
    function and its weights are drawn, under its name; for the tokens that were given the page says
    what has changed most, and shows the ``weights`` for comparison. What it raises, or what is
    wrong with what it returns, is shown in the widget. Reset in the page brings the tokens and
    weights back that were there before the first such question.

    Traits, synced both ways: ``layer``, ``head``, ``query`` and ``step``, which count from 0 as
    Python does (the page counts from 1), ``temperature`` in [0.1, 10] and ``causal``. ``tokens``,
    ``weights`` and ``steps`` change together, by :meth:`replace`. Raises ``TypeError`` and
    ``ValueError`` for data that cannot be drawn.
    Sources: Vaswani et al. (2017), eq. 1; Hinton, Vinyals and Dean (2015), eq. 1, for temperature.
    """

    tokens = Several(Text(), least=1, most=64, read_only=True)
    context = Several(Text(), optional=True, most=64, read_only=True)
    steps = Several(Text(), read_only=True)
    weights = Array(lambda self: self._axes(), rule=_softmaxed, read_only=True)
    losses = Array(lambda self: (f"steps={len(self.steps)}",), optional=True, read_only=True)
    vocabulary = Several(
        Text(), "vocabulary", optional=True, distinct=True, rule=_one_for_each_id, read_only=True
    )
    guesses = Array(lambda self: self._guessed_axes(), optional=True, rule=_whole, read_only=True)
    question = Text(default="", read_only=True)
    rivals = Several(Text(), optional=True, distinct=True, rule=_guessable, read_only=True)
    layer = Index(of=lambda self: self.weights.shape[-4])
    head = Index(of=lambda self: self.weights.shape[-3])
    query = Index(of=lambda self: len(self.tokens))
    step = Index(of=lambda self: max(1, len(self.steps)))
    temperature = Number(0.1, 10.0, default=1.0)
    causal = Switch(default=False, rule=_uncut)
    plugged = Data(lambda self: self._attention is not None)
    typed = Text(default="", longest=math.inf)
    answers = Data(0)
    error = Data("")
    source = Data("")
    reader = Data(lambda self: self._reader)
    given = Data(None)

    def __init__(
        self,
        tokens: list[str],
        weights: ArrayLike,
        *,
        attention: Callable[[list[str]], ArrayLike] | None = None,
        steps: Iterable[object] | None = None,
        reader: StringReader | None = None,
        **given: Any,
    ) -> None:
        if attention is not None and not callable(attention):
            raise TypeError(
                "attention must be a function from a list of tokens to weights with the axes "
                f"({', '.join(AXES)}), but was given {brief(attention)}"
            )
        if attention is not None and given.get("context"):
            raise ValueError(
                "attention was given beside a context, of which the function would not know; "
                "expected one of the two; leave the other out"
            )
        self._attention = attention
        self._reader = reader and _packed_reader(reader, given.get("vocabulary"))
        self._before_any_question: dict[str, Any] | None = None
        super().__init__(tokens=tokens, steps=_names(steps), weights=weights, **given)

    def replace(
        self,
        tokens: list[str],
        weights: ArrayLike,
        *,
        context: list[str] | None = None,
        steps: Iterable[object] | None = None,
        losses: ArrayLike | None = None,
        guesses: ArrayLike | None = None,
    ) -> None:
        """Draw other tokens and weights, checked as in the constructor; a context ends the mask.

        Layer, head, query and step stay where they are, or move to the last that there is.
        """
        if context:
            self.causal = False
        self._draw(
            tokens=tokens,
            context=context,
            steps=_names(steps),
            weights=weights,
            losses=losses,
            guesses=guesses,
        )
        self._before_any_question = None

    def _draw(self, **drawn: Any) -> None:
        with self.hold_sync(), self.hold_trait_notifications():
            # What belonged to other tokens must not stand in the way of these.
            for name in ("context", "losses", "guesses", "given"):
                self.set_trait(name, None)
            self.set_trait("source", "")
            for name, value in drawn.items():
                self.set_trait(name, value)

    def set_state(self, sync_data: dict[str, Any]) -> None:
        """Take what the page sends; no typed words, as after Reset, bring the first tokens back."""
        if sync_data.get("typed") == "" and self._before_any_question:
            # They come first: what the page chose among them may not be there among others.
            self._draw(**self._before_any_question)
            self._before_any_question = None
        super().set_state(sync_data)

    def describe(self) -> str:
        """How many tokens, layers and heads, and where the chosen query looks most."""
        row = self._snapshots()[self.step, self.layer, self.head, self.query]
        best = int(row.argmax())
        layers, heads = self.weights.shape[-4:-2]
        tokens = " ".join(self.tokens)
        if self.context:
            tokens += f", which look at {' '.join(self.context)}"
        return (
            f"Attention among {len(self.tokens)} tokens, {_count(layers, 'layer')} of "
            f"{_count(heads, 'head')}: {tokens}. In layer {self.layer + 1}, "
            f"head {self.head + 1}, the query {self.tokens[self.query]} (place {self.query + 1}) "
            f"looks most at {(self.context or self.tokens)[best]} (place {best + 1}), with weight "
            f"{row[best]:.3f}.{self._guess_in_words()}"
        )

    def _guess_in_words(self) -> str:
        if not self.guesses.size:
            return ""
        row = (self.guesses[self.step] if self.steps else self.guesses)[self.query]
        best = int(row.argmax())
        expected = f"{self.vocabulary[best]} to come next, with probability {row[best]:.2f}"
        others = [name for name in self._rivals() if name != self.vocabulary[best]]
        shares = (f"; {name} has {row[self.vocabulary.index(name)]:.2f}" for name in others)
        return f" It expects {expected}{''.join(shares)}."

    def _rivals(self) -> list[str]:
        """Those who may come next: after the last token, or nobody."""
        return self.rivals if self.query == len(self.tokens) - 1 else []

    def page_state(self) -> dict[str, Any]:
        """As it stands now, without the field in which new tokens are typed."""
        # A page has no kernel to ask, so it shows no field to type in.
        state = super().page_state() | {"plugged": False, "typed": "", "error": ""}
        if self.steps:
            state["weights"] = _filmed(self.weights)
        if self.guesses.size:
            others = [self.vocabulary.index(name) for name in self.rivals]
            state["guesses"] = _foremost(self.guesses, others)
        return state

    def limits(self) -> dict[str, Any]:
        """As of any widget, without what only a kernel answers, and a mask beside a context."""
        left_out = {"typed", "causal"} if self.context else {"typed"}
        return {name: limit for name, limit in super().limits().items() if name not in left_out}

    def _snapshots(self) -> NDArray[np.float32]:
        return self.weights if self.weights.ndim > len(AXES) else self.weights[None]

    def _axes(self) -> tuple[str, ...]:
        keys = self.context or self.tokens
        snapshots = (f"steps={len(self.steps)}",) if self.steps else ()
        return (*snapshots, "layers", "heads", f"query={len(self.tokens)}", f"key={len(keys)}")

    def _guessed_axes(self) -> tuple[str, ...]:
        snapshots = (f"steps={len(self.steps)}",) if self.steps else ()
        return (*snapshots, f"query={len(self.tokens)}", "vocabulary")

    @traitlets.observe("typed")
    def _recompute(self, change: dict[str, Any]) -> None:
        words = change["new"].split()
        if self._attention is None:
            return
        if not change["new"]:
            self.set_trait("error", "")
            return
        with self.hold_sync():
            self.set_trait("error", self._ask(words))
            self.set_trait("answers", self.answers + 1)

    def _ask(self, words: list[str]) -> str:
        """Draw what the plugged-in function answers; return what went wrong, or nothing."""
        if not words:
            return "Type at least one token; spaces separate tokens."
        try:
            words = self.traits()["tokens"].validate(self, words)
        except (TypeError, ValueError) as error:
            return str(error)
        try:
            weights = self._attention(list(words))
        except Exception as error:  # noqa: BLE001 - whatever it raises, its author wants to read it
            where = traceback.extract_tb(error.__traceback__)[-1]
            return f"{type(error).__name__} in {where.name}, line {where.lineno}: {error}"
        try:
            snapshots = self.steps if _depth(weights) == len(AXES) + 1 else []
            before = {name: getattr(self, name) for name in ("tokens", "steps", "weights")}
            for name in ("losses", "guesses"):
                before[name] = x if len(x := getattr(self, name)) else None
            none = {"losses": None, "guesses": None}
            self._draw(tokens=words, steps=snapshots, weights=weights, **none)
        except (TypeError, ValueError) as error:
            return f"The function returned something that cannot be drawn: {error}"
        self._before_any_question = self._before_any_question or before
        self._compare_with(self._before_any_question)
        return ""

    def _compare_with(self, first: dict[str, Any]) -> None:
        """Tell the page whose weights are drawn and, if they are of the same tokens, the first."""
        name = getattr(self._attention, "__name__", type(self._attention).__name__)
        weights = first["weights"]
        same = first["tokens"] == self.tokens and weights.shape == self.weights.shape
        self.set_trait("source", name)
        self.set_trait("given", Array._encode(weights, None) if same else None)


def _packed_reader(reader: StringReader, vocabulary: list[str] | None) -> dict[str, Any]:
    """A reader for a page, its weights rounded."""
    if type(reader) is not StringReader or len(vocabulary or []) != LETTERS:
        raise ValueError(
            f"reader is {brief(reader)}; expected a StringReader, and a vocabulary that names its "
            f"{LETTERS} letters"
        )
    weights = pack(reader, most_bytes=READER_BYTES, fewest_bits=READER_BITS, most_bits=READER_BITS)
    sizes = {"letters": LETTERS, "tokens": TOKENS, "d": reader.letter.embedding_dim}
    heads, layers = reader.layers[0].heads, len(reader.layers)
    return sizes | {"heads": heads, "layers": layers, "weights": weights}


def _names(steps: Iterable[object] | None) -> list[str]:
    """What the snapshots are called; nothing if there are none."""
    if steps is None:
        return []
    if isinstance(steps, str) or not isinstance(steps, Iterable):
        raise TypeError(f"steps must be a list with a name for each snapshot; given {brief(steps)}")
    if not (names := [str(step) for step in steps]):
        raise ValueError("steps is empty; give a name for each snapshot, or leave steps out")
    return names


def _depth(weights: ArrayLike) -> int:
    """How many axes an array has, or how deep lists are nested, ragged or not."""
    if hasattr(weights, "ndim"):
        return weights.ndim
    return 1 + _depth(weights[0]) if isinstance(weights, list | tuple) and weights else 0


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
