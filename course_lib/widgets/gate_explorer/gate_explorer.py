"""GateExplorer: type a word, and watch a trained network pour its letters into its memory."""

from __future__ import annotations

import base64
import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from course_lib.recurrent import gru_step, lstm_step, rnn_step
from course_lib.widgets.kit.base import MovingWidget
from course_lib.widgets.kit.traits import Array, Choice, Data, Index, Several, Switch, Text

MOST_UNITS = 64
MOST_LETTERS = 24
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
        counts = np.rint(value.astype(np.float64) / step[:, None]).clip(-FINEST, FINEST)
        return {
            "shape": list(value.shape),
            "steps": Array._encode(step, None),
            "base64": base64.b64encode(counts.astype("<i2").tobytes()).decode("ascii"),
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


class GateExplorer(MovingWidget):
    r"""What a trained recurrent network remembers of a word, letter by letter.

    ``cell`` is a single-layer ``RNN``, ``GRU`` or ``LSTM`` of ``course_lib.recurrent`` or of
    ``torch.nn``. Letters go in one-hot over ``alphabet``, a string of distinct characters, and the
    state starts at zero. The page itself computes every gate and state of every unit, from the
    trained weights rounded to 16 bits (see :class:`Rows`). An LSTM unit, for instance, computes

    $$i, f, o = \sigma(a + b), \quad g = \tanh(a + b), \quad c = f c_- + i g, \quad h = o \tanh c$$

    where $a$ comes from the letter and $b$ from the hidden state before it.

    ``readout`` is an ``nn.Linear`` from the hidden state to one logit for each of ``labels`` (2 to
    6); its softmax after each letter is shown as the model's opinion so far, of what is ``counted``
    (say "Syllables"). With two labels a unit
    has a vote, $(w_0 - w_1)_u h_u$: votes and bias add up to the log-odds of the first label.

    Traits, synced both ways: ``text`` (1 to 24 letters of the alphabet), ``quantity`` (what the map
    shows), ``order`` of the units (``"number"``, by ``"value"`` at the chosen letter, or by
    ``"memory"``, the geometric mean of forget or update gate over the text), and the chosen
    ``unit`` and ``letter``, which count from 0 as Python does (the page counts from 1). One unit is
    shown as a glass that fills and empties; ``all_units`` adds the map of all, and the equations.
    Letters pour in by themselves from the start if it is ``moving``, not for readers who asked for
    less motion. Raises ``TypeError`` and ``ValueError`` for what cannot be read or drawn.
    Sources: Elman (1990); Gers, Schmidhuber and Cummins (2000); Cho et al. (2014), eqs. 5 to 8.
    """

    kind = Data()
    alphabet = Text(shortest=1, longest=math.inf, distinct=True, read_only=True)
    longest = Data(MOST_LETTERS)
    gates = Rows("sums", "terms", read_only=True, called="cell")
    labels = Several(
        Text(), "labels", least=2, most=6, distinct=True, optional=True, read_only=True
    )
    counted = Text(default="Opinion", read_only=True)
    readout = Array("labels", "units and bias", optional=True, read_only=True)
    quantities = Data(lambda self: self._quantities())
    # A plain network keeps no share of its state, so it has no memory to sort by.
    orders = Data(lambda self: [name for name in ORDERS if name != "memory" or self.kind != "RNN"])
    text = Text(alphabet=lambda self: self.alphabet, shortest=1, longest=MOST_LETTERS)
    quantity = Choice(
        offered=lambda self: self.quantities,
        default=lambda self: "cell" if self.kind == "LSTM" else "hidden",
    )
    order = Choice(offered=lambda self: self.orders, default="number")
    unit = Index(of=lambda self: self._units())
    letter = Index(of=lambda self: len(self.text), default=lambda self: len(self.text) - 1)
    all_units = Switch(default=False)

    def __init__(
        self,
        cell: nn.Module,
        alphabet: str,
        *,
        readout: nn.Linear | None = None,
        labels: Iterable[str] | None = None,
        **given: Any,
    ) -> None:
        self.set_trait("alphabet", alphabet)
        self.set_trait("kind", _kind_of(cell))
        rows = _rows(cell, self.kind, self.alphabet)
        weights = _readout(readout, labels, len(rows) // KINDS[self.kind].sums)
        super().__init__(alphabet, rows, labels=labels, readout=weights, **given)

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
        return f"{said} {self.counted} after the last letter, as the model says: {shares}."

    def _units(self) -> int:
        return len(self.gates) // KINDS[self.kind].sums

    def _quantities(self) -> list[str]:
        voting = [VOTE] if len(self.labels) == len(("for", "against")) else []
        return [*KINDS[self.kind].quantities, *voting]

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


def _kind_of(cell: object) -> str:
    kind = next((base.__name__ for base in type(cell).__mro__ if base.__name__ in KINDS), None)
    if kind is None or not isinstance(cell, nn.Module):
        raise TypeError(
            f"cell is a {type(cell).__name__}; expected an RNN, GRU or LSTM of "
            "course_lib.recurrent or torch.nn"
        )
    return kind


def _rows(cell: nn.Module, kind: str, alphabet: str) -> Tensor:
    """The parameters of a cell side by side: those of letters, of units, and two biases."""
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
    return torch.cat(wide, dim=1)


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


def _readout(readout: object, labels: Iterable[str] | None, units: int) -> Tensor | None:
    """For each label its weights and its bias; none without a readout."""
    if (readout is None) != (labels is None):
        given, absent = ("labels", "readout") if readout is None else ("readout", "labels")
        raise ValueError(f"{given} was given without {absent}; give both, or neither")
    if readout is None:
        return None
    if not isinstance(readout, nn.Linear):
        raise TypeError(f"readout is a {type(readout).__name__}; expected a torch.nn.Linear")
    if readout.in_features != units:
        raise ValueError(
            f"readout takes {readout.in_features} features; expected {units}, the units of the "
            f"hidden state; make it as nn.Linear({units}, ...)"
        )
    bias = readout.weight.new_zeros(len(readout.weight)) if readout.bias is None else readout.bias
    return torch.cat([readout.weight, bias[:, None]], dim=1)
