"""GateExplorer: type a name, and watch the gates and the memory of a trained network."""

from __future__ import annotations

import base64
import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import torch
import traitlets
from numpy.typing import ArrayLike, NDArray
from torch import Tensor, nn

from course_lib.recurrent import gru_step, lstm_step, rnn_step
from course_lib.widgets.base import Widget
from course_lib.widgets.traits import Array, finite_array, one_of, texts

MOST_UNITS = 64
MOST_LETTERS = 24
MOST_LABELS = 6
FINEST = 32767
VOTE = "vote"
PARAMETERS = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")


class Kind(NamedTuple):
    """How many sums a unit needs at each letter, and what can be looked at, in order of flow."""

    sums: int
    quantities: tuple[str, ...]


KINDS = {
    "RNN": Kind(1, ("hidden",)),
    "GRU": Kind(3, ("reset", "update", "candidate", "hidden")),
    "LSTM": Kind(4, ("forget", "input", "candidate", "cell", "output", "hidden")),
}
ORDERS = ("number", "value", "memory")


class Rows(Array):
    """A matrix that travels in 16 bits an entry: each row in steps of its own size.

    The largest entry of a row is 32767 steps from zero, so an entry is off by at most 1/65534 of
    it. Half of float32's bytes then carry a trained network faithfully to four digits.
    """

    @staticmethod
    def _encode(value: NDArray[np.float32], _widget: Any) -> dict[str, Any]:
        step = (np.abs(value).max(axis=1) / FINEST).astype(np.float32)
        step[step == 0] = 1
        counts = np.rint(value.astype(np.float64) / step[:, None]).astype("<i2")
        return {
            "shape": list(value.shape),
            "steps": Array._encode(step, None),
            "base64": base64.b64encode(counts.tobytes()).decode("ascii"),
        }

    @staticmethod
    def _decode(encoded: dict[str, Any], _widget: Any) -> NDArray[np.float32]:
        return Rows.exactly(encoded).astype(np.float32)

    @staticmethod
    def exactly(encoded: dict[str, Any]) -> NDArray[np.float64]:
        """The numbers with which the page computes, in double precision as there."""
        counts = np.frombuffer(base64.b64decode(encoded["base64"]), dtype="<i2")
        step = Array._decode(encoded["steps"], None).astype(np.float64)
        return counts.reshape(encoded["shape"]) * step[:, None]


class GateExplorer(Widget):
    r"""What a trained recurrent network remembers of a name, letter by letter.

    ``cell`` is a single-layer ``RNN``, ``GRU`` or ``LSTM`` of ``course_lib.recurrent`` or of
    ``torch.nn``. Letters go in one-hot over ``alphabet``, a string of distinct characters, and the
    state starts at zero. The page itself computes every gate and state of every unit, from the
    trained weights rounded to 16 bits (see :class:`Rows`). An LSTM unit, for instance, computes

    $$i, f, o = \sigma(a + b), \quad g = \tanh(a + b), \quad c = f c_- + i g, \quad h = o \tanh c$$

    where $a$ comes from the letter and $b$ from the hidden state before it.

    ``readout`` is an ``nn.Linear`` from the hidden state to one logit for each of ``labels`` (2 to
    6); its softmax after each letter is shown as the model's opinion so far. With two labels a unit
    has a vote, $(w_0 - w_1)_u h_u$: votes and bias add up to the log-odds of the first label.

    Traits, synced both ways: ``text`` (1 to 24 letters of the alphabet), ``quantity`` (what the map
    shows), ``order`` of the units (``"number"``, by ``"value"`` at the chosen letter, or by
    ``"memory"``, the geometric mean of forget or update gate over the text), and the chosen
    ``unit`` and ``letter``, which count from 0 as Python does (the page counts from 1). Raises
    ``TypeError`` and ``ValueError`` for what cannot be read or drawn.
    Sources: Elman (1990); Gers, Schmidhuber and Cummins (2000); Cho et al. (2014), eqs. 5 to 8.
    """

    _module = "gate_explorer.js"

    kind = traitlets.Unicode(read_only=True).tag(sync=True)
    alphabet = traitlets.Unicode(read_only=True).tag(sync=True)
    longest = traitlets.Int(MOST_LETTERS, read_only=True).tag(sync=True)
    gates = Rows(read_only=True)
    labels = traitlets.List(traitlets.Unicode(), read_only=True).tag(sync=True)
    readout = Array(read_only=True)
    quantities = traitlets.List(traitlets.Unicode(), read_only=True).tag(sync=True)
    orders = traitlets.List(traitlets.Unicode(), read_only=True).tag(sync=True)
    text = traitlets.Unicode().tag(sync=True)
    quantity = traitlets.Unicode().tag(sync=True)
    order = traitlets.Unicode("number").tag(sync=True)
    unit = traitlets.Int().tag(sync=True)
    letter = traitlets.Int().tag(sync=True)

    def __init__(
        self,
        cell: nn.Module,
        alphabet: str,
        *,
        text: str,
        readout: nn.Linear | None = None,
        labels: Iterable[str] | None = None,
        quantity: str | None = None,
        order: str = "number",
        unit: int = 0,
        letter: int | None = None,
        **dom: Any,
    ) -> None:
        kind, rows = _rows(cell, _distinct(alphabet))
        units = len(rows) // KINDS[kind].sums
        names, weights = _readout(readout, labels, units)
        voting = (VOTE,) if len(names) == len(("for", "against")) else ()
        self.set_trait("kind", kind)
        self.set_trait("alphabet", alphabet)
        self.set_trait("gates", rows)
        self.set_trait("labels", names)
        self.set_trait("readout", weights)
        self.set_trait("quantities", [*KINDS[kind].quantities, *voting])
        # A plain network keeps no share of its state, so it has no memory to sort by.
        self.set_trait("orders", [name for name in ORDERS if name != "memory" or kind != "RNN"])
        first = "cell" if kind == "LSTM" else "hidden"
        text = _readable(text, alphabet)
        super().__init__(
            text=text,
            quantity=first if quantity is None else quantity,
            order=order,
            unit=_integer("unit", unit),
            letter=len(text) - 1 if letter is None else _integer("letter", letter),
            **dom,
        )

    def describe(self) -> str:
        """The network, the text, what can be looked at, and what the model thinks of the text."""
        kind = {"RNN": "a plain RNN", "GRU": "a GRU", "LSTM": "an LSTM"}[self.kind]
        seen = ", ".join(self.quantities)
        said = (
            f"Gates and memory of {kind} with {self._units()} units while it reads “{self.text}” "
            f"letter by letter: {seen} of every unit."
        )
        if not self.labels:
            return said
        opinion = self._opinion()
        shares = ", ".join(
            f"{label} {share:.3f}" for label, share in zip(self.labels, opinion, strict=True)
        )
        return f"{said} After the last letter the model says: {shares}."

    def _units(self) -> int:
        return len(self.gates) // KINDS[self.kind].sums

    def _opinion(self) -> list[float]:
        """The softmax of the readout after the last letter, with the weights that travel."""
        letters, units = len(self.alphabet), self._units()
        rows = torch.from_numpy(Rows.exactly(Rows._encode(self.gates, self)))
        weight_ih, weight_hh, bias_ih, bias_hh = rows.split([letters, units, 1, 1], dim=1)
        hidden = cell = torch.zeros(units, dtype=torch.float64)
        for letter in self.text:
            from_input = weight_ih[:, self.alphabet.index(letter)] + bias_ih[:, 0]
            from_hidden = weight_hh @ hidden + bias_hh[:, 0]
            if self.kind == "RNN":
                hidden = rnn_step(from_input, from_hidden)
            elif self.kind == "GRU":
                hidden = gru_step(from_input, from_hidden, hidden)
            else:
                hidden, cell = lstm_step(from_input, from_hidden, cell)
        readout = torch.from_numpy(self.readout).double()
        logits = readout[:, :-1] @ hidden + readout[:, -1]
        return logits.softmax(0).tolist()

    @traitlets.validate("text")
    def _known(self, proposal: dict[str, Any]) -> str:
        return _readable(proposal["value"], self.alphabet)

    @traitlets.validate("quantity", "order")
    def _offered(self, proposal: dict[str, Any]) -> str:
        name = proposal["trait"].name
        offered = self.quantities if name == "quantity" else self.orders
        return one_of(name, proposal["value"], tuple(offered))

    @traitlets.validate("unit", "letter")
    def _within(self, proposal: dict[str, Any]) -> int:
        name, value = proposal["trait"].name, proposal["value"]
        size = self._units() if name == "unit" else len(self.text)
        if not 0 <= value < size:
            raise ValueError(
                f"{name} must lie between 0 and {size - 1}, since it counts from 0 and there "
                f"{'is' if size == 1 else 'are'} {size}, but was given {value}"
            )
        return value

    @traitlets.observe("text")
    def _stay_within(self, change: dict[str, Any]) -> None:
        self.letter = min(self.letter, len(change["new"]) - 1)


def _distinct(alphabet: object) -> str:
    """The alphabet, if it is a string of one or more characters, no two alike."""
    if not isinstance(alphabet, str):
        raise TypeError(
            f"alphabet is {alphabet!r}; expected a string of distinct characters; "
            "join a list of letters with ''.join(letters)"
        )
    if not alphabet:
        raise ValueError("alphabet is empty; expected the letters that the cell was trained on")
    repeated = [letter for letter in dict.fromkeys(alphabet) if alphabet.count(letter) > 1]
    if repeated:
        raise ValueError(
            f"alphabet repeats {', '.join(map(repr, repeated))}; expected distinct characters, "
            "since the place of a letter says which entry of the one-hot vector is one"
        )
    return alphabet


def _readable(text: object, alphabet: str) -> str:
    """The text, if the network can read it and the page can show it."""
    if not isinstance(text, str):
        raise TypeError(f"text is {text!r}; expected a string of letters of the alphabet")
    if not text:
        raise ValueError("text is empty; expected one letter at least")
    if len(text) > MOST_LETTERS:
        raise ValueError(
            f"text has {len(text)} letters, but at most {MOST_LETTERS} fit into the picture; "
            "show a part of it"
        )
    strange = [letter for letter in dict.fromkeys(text) if letter not in alphabet]
    if strange:
        raise ValueError(
            f"text {text!r} holds {', '.join(map(repr, strange))}, which the alphabet "
            f"{alphabet!r} does not have; write it with letters of the alphabet"
        )
    return text


def _integer(name: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be an integer that counts from 0; given {value!r}")
    return value


def _rows(cell: object, alphabet: str) -> tuple[str, NDArray[np.float32]]:
    """The kind of a cell, and its parameters side by side: letters, units, and two biases."""
    mro = type(cell).__mro__
    kind = next((base.__name__ for base in mro if base.__name__ in KINDS), None)
    if kind is None or not isinstance(cell, nn.Module):
        raise TypeError(
            f"cell is a {type(cell).__name__}; expected an RNN, GRU or LSTM of "
            "course_lib.recurrent or torch.nn"
        )
    parameters = dict(cell.named_parameters())
    _check_plain(cell, parameters)
    missing = [name for name in PARAMETERS if name not in parameters]
    if missing:
        raise ValueError(
            f"cell has no parameter {', '.join(missing)}; expected all of {', '.join(PARAMETERS)}"
            "; make the cell with its biases"
        )
    sums, letters = KINDS[kind].sums, len(alphabet)
    given = [parameters[name] for name in PARAMETERS]
    units, d_in = math.ceil(given[0].shape[0] / sums), given[0].shape[-1]
    if d_in != letters:
        raise ValueError(
            f"cell takes {d_in} features, but the alphabet has {letters} letters; expected one "
            "feature for each letter, since letters go in one-hot"
        )
    if units > MOST_UNITS:
        raise ValueError(
            f"cell has {units} units, but at most {MOST_UNITS} can be told apart in the picture; "
            "train a smaller one"
        )
    shapes = [(sums * units, letters), (sums * units, units), (sums * units,), (sums * units,)]
    for name, parameter, shape in zip(PARAMETERS, given, shapes, strict=True):
        if tuple(parameter.shape) != shape:
            raise ValueError(
                f"cell.{name} has shape {tuple(parameter.shape)}; expected {shape}, as in "
                f"torch.nn.{kind} with {letters} letters and {units} units"
            )
    wide = [parameter if parameter.dim() > 1 else parameter[:, None] for parameter in given]
    return kind, finite_array("cell", torch.cat(wide, dim=1), ("sums", "terms"))


def _check_plain(cell: nn.Module, parameters: dict[str, Tensor]) -> None:
    """Raise for what ``torch.nn`` offers beyond one layer that reads forwards."""
    if any(name.endswith("_reverse") for name in parameters):
        raise ValueError(
            "cell is bidirectional; expected one that reads forwards, since while you type the "
            "letters to come are not known; make it with bidirectional=False"
        )
    if any("_l1" in name for name in parameters):
        raise ValueError(
            "cell has more than one layer; expected a single layer, whose input is the letter; "
            "make it with num_layers=1"
        )
    if any(name.startswith("weight_hr") for name in parameters):
        raise ValueError("cell projects its hidden state; make it without proj_size")
    if getattr(cell, "nonlinearity", "tanh") != "tanh":
        raise ValueError(f"cell uses {cell.nonlinearity}; expected an RNN with tanh")


def _readout(
    readout: object, labels: Iterable[str] | None, units: int
) -> tuple[list[str], NDArray[np.float32]]:
    """The labels and, for each, its weights and its bias; none without a readout."""
    if (readout is None) != (labels is None):
        given, absent = ("labels", "readout") if readout is None else ("readout", "labels")
        raise ValueError(f"{given} was given without {absent}; give both, or neither")
    if readout is None:
        return [], np.zeros((0, units + 1), dtype=np.float32)
    names = texts("labels", labels)
    if not 1 < len(names) <= MOST_LABELS:
        raise ValueError(
            f"labels holds {len(names)} strings; expected 2 to {MOST_LABELS}, which colours tell "
            "apart"
        )
    if len(set(names)) < len(names):
        raise ValueError(f"labels repeats a string in {names}; expected distinct labels")
    if not isinstance(readout, nn.Linear):
        raise TypeError(f"readout is a {type(readout).__name__}; expected a torch.nn.Linear")
    if tuple(readout.weight.shape) != (len(names), units):
        raise ValueError(
            f"readout takes {readout.in_features} features to {readout.out_features}; expected "
            f"nn.Linear({units}, {len(names)}), from the hidden state to the labels"
        )
    bias = readout.weight.new_zeros(len(names)) if readout.bias is None else readout.bias
    weights: ArrayLike = torch.cat([readout.weight, bias[:, None]], dim=1)
    return names, finite_array("readout", weights, ("labels", "units and bias"))
