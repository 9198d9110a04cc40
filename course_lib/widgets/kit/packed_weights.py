"""Pack the weights of a trained network into a page, where JavaScript computes with them.

They are rounded: a parameter is an integer of a few bits times the step of its row, a bfloat16.
``maths/transformer.js`` unpacks them; :func:`unpack` does the same in Python, so that a lecture has
exactly the model with which the page computes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from itertools import starmap
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from course_lib.models.stored import built
from course_lib.transformer import TokenEmbedding
from course_lib.widgets.kit.base import MovingWidget
from course_lib.widgets.kit.page import from_base85, in_base85
from course_lib.widgets.kit.traits import Data, Text, Trait, brief, finite_array

MOST_BITS = 16
SMALLEST_STEP = 2.0**-100
Model = TypeVar("Model", bound=nn.Module)
Shapes = dict[str, tuple[int, int]]
SIZES = ("vocabulary", "d_model", "heads", "layers")


def pack(
    weights: nn.Module | dict[str, Tensor],
    *,
    most_bytes: int,
    fewest_bits: int,
    most_bits: int = MOST_BITS,
) -> dict[str, Any]:
    """Quantize each row with its own step, as fine as ``most_bytes`` of base85 allow.

    ``weights`` are a network or tensors by name; their first axis counts rows, and a vector is one
    row. A step is the upper half of a float32, with 8 significant bits; times an integer of 16 bits
    it is again a float32, so the page need not round. Raises ``ValueError`` for NaN and infinity,
    and for a model that would get less than ``fewest_bits`` for a parameter.
    """
    tensors = dict(weights.named_parameters()) if isinstance(weights, nn.Module) else weights
    matrices = [
        finite_array(f"model.{name}", value.detach().reshape(_rows(value)), ("rows", "columns"))
        for name, value in tensors.items()
    ]
    numbers, rows = sum(m.size for m in matrices), sum(len(m) for m in matrices)
    bits = min(most_bits, (most_bytes * 4 // 5 - 2 * rows) * 8 // numbers)
    if bits < fewest_bits:
        raise ValueError(
            f"model has {numbers:,} parameters in {rows:,} rows, which would weigh more than "
            f"{most_bytes:,} bytes in the page; train one with wider or fewer layers"
        )
    limit = 2 ** (bits - 1) - 1
    counts, halves = [], []
    for matrix in matrices:
        fine = np.maximum(np.abs(matrix).max(axis=1) / np.float32(limit), np.float32(SMALLEST_STEP))
        half = ((fine.view(np.uint32) + 0xFFFF) >> 16).astype("<u2")
        step = (half.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
        nearest = np.rint(matrix / step[:, None]).clip(-limit, limit)
        counts.append(nearest.astype(np.int64).ravel() + 2 ** (bits - 1))
        halves.append(half)
    stream = (np.concatenate(counts)[:, None] >> np.arange(bits - 1, -1, -1)) & 1
    return {
        "bits": bits,
        "steps": in_base85(np.concatenate(halves).tobytes()),
        "numbers": in_base85(np.packbits(stream.astype(np.uint8)).tobytes()),
    }


def unpack(packed: dict[str, Any], shapes: Iterable[tuple[int, int]]) -> list[NDArray[np.float32]]:
    """The rounded matrices that :func:`pack` packed, in their order."""
    bits, shapes = packed["bits"], list(shapes)
    stream = np.unpackbits(np.frombuffer(from_base85(packed["numbers"]), dtype=np.uint8))
    sizes = list(starmap(np.multiply, shapes))
    weights = 1 << np.arange(bits - 1, -1, -1)
    counts = stream[: sum(sizes) * bits].reshape(-1, bits) @ weights - 2 ** (bits - 1)
    halves = np.frombuffer(from_base85(packed["steps"]), dtype="<u2")
    steps = (halves.astype(np.uint32) << 16).view(np.float32)
    matrices, row = [], 0
    for count, (rows, columns) in zip(np.split(counts, np.cumsum(sizes)[:-1]), shapes, strict=True):
        step = steps[row : row + rows, None]
        matrices.append(count.reshape(rows, columns).astype(np.float32) * step)
        row += rows
    return matrices


def with_weights(build: Callable[[], Model], packed: dict[str, Any]) -> Model:
    """The model that ``build`` makes, in float32 and evaluation mode, with the packed weights."""
    model = built(build)
    parameters = list(model.parameters())
    with torch.no_grad():
        matrices = unpack(packed, map(_rows, parameters))
        for parameter, matrix in zip(parameters, matrices, strict=True):
            parameter.copy_(torch.from_numpy(matrix).reshape(parameter.shape))
    return model.eval()


def _rows(parameter: Tensor) -> tuple[int, int]:
    rows = len(parameter) if parameter.dim() > 1 else 1
    return rows, parameter.numel() // rows


class WeightsWidget(MovingWidget):
    """A widget whose page computes with trained weights.

    ``facts`` are what has to be known of the network besides its ``weights``, which :func:`pack`
    made; both are ``None`` in a figure that is shown without its network.
    """

    facts = Data()
    weights = Data()

    @property
    def bits(self) -> int | None:
        """How many bits a parameter has in the page."""
        return self.weights and self.weights["bits"]


class Network(Trait):
    """A trained network of a ``kind``: its ``facts`` and its rounded weights."""

    def __init__(
        self,
        kind: type[Model],
        facts: Callable[[Model], dict[str, Any]],
        *,
        most_bytes: int,
        fewest_bits: int,
    ) -> None:
        super().__init__(read_only=True)
        self.kind, self.facts = kind, facts
        self.room = {"most_bytes": most_bytes, "fewest_bits": fewest_bits}

    def _check(self, _widget: Any, value: Any) -> dict[str, Any]:
        if not isinstance(value, self.kind):
            kind = self.kind.__name__
            raise TypeError(f"{self.called} is {brief(value)}; expected a trained {kind}")
        return self.facts(value) | {"weights": pack(value, **self.room)}


# Transformers -----------------------------------------------------------------------------------


def transformer_facts(
    embedding: TokenEmbedding, blocks: nn.ModuleList, *, tied: bool
) -> dict[str, Any]:
    """The sizes and options of an encoder or a decoder, all but its weights."""
    block = blocks[0]
    return {
        "vocabulary": embedding.vocabulary_size,
        "d_model": embedding.token.embedding_dim,
        "heads": block.attention.heads,
        "layers": len(blocks),
        "tokens": embedding.tokens,
        "d_hidden": block.mlp.expand.out_features,
        "position": embedding.kind,
        "norm": "pre" if block.mlp_residual.pre else "post",
        "tied": tied,
    }


def transformer_shapes(facts: dict[str, Any], *, stack: str = "") -> Shapes:
    """The shape of every parameter, in the order in which they are packed and unpacked.

    The blocks and the last norm are named as parts of ``stack``, such as ``"encoder."``. The
    head is a parameter of its own unless ``facts["tied"]``.
    """
    d, hidden = facts["d_model"], facts["d_hidden"]

    def affine(name: str, rows: int, columns: int) -> Shapes:
        return {f"{name}.weight": (rows, columns), f"{name}.bias": (1, rows)}

    shapes = {"embedding.token.weight": (facts["vocabulary"], d)}
    if facts["position"] == "learned":
        shapes["embedding.learned.weight"] = (facts["tokens"], d)
    for layer in range(facts["layers"]):
        block = f"{stack}blocks.{layer}"
        for part in ("query", "key", "value", "output"):
            shapes |= affine(f"{block}.attention.{part}", d, d)
        shapes |= {f"{block}.attention_residual.norm.{part}": (1, d) for part in ("weight", "bias")}
        shapes |= affine(f"{block}.mlp.expand", hidden, d)
        shapes |= affine(f"{block}.mlp.contract", d, hidden)
        shapes |= {f"{block}.mlp_residual.norm.{part}": (1, d) for part in ("weight", "bias")}
    if facts["norm"] == "pre":
        shapes |= {f"{stack}norm.weight": (1, d), f"{stack}norm.bias": (1, d)}
    if not facts["tied"]:
        shapes["lm_head.weight"] = (facts["vocabulary"], d)
    return shapes


def model_of(
    kind: type[Model],
    facts: dict[str, Any],
    packed: dict[str, Any],
    *,
    stack: str = "",
    leave_out: tuple[str, ...] = (),
) -> Model:
    """The model of a ``kind``, in evaluation mode, with the packed weights.

    ``leave_out`` names the facts that its constructor does not take.
    """
    options = {name: facts[name] for name in facts if name not in (*SIZES, *leave_out)}
    model = built(lambda: kind(*(facts[name] for name in SIZES), **options))
    there, shapes = model.state_dict(), transformer_shapes(facts, stack=stack)
    state = {
        name: torch.from_numpy(matrix).reshape(there[name].shape)
        for name, matrix in zip(shapes, unpack(packed, shapes.values()), strict=True)
    }
    # A head tied to the embedding is one parameter with two names; it is packed once.
    model.load_state_dict(state, strict=not facts["tied"])
    return model.eval()


class Limits(NamedTuple):
    """The largest model that a page can carry and its picture can show."""

    parameters: int
    tokens: int
    letters: int
    heads: int
    weight_bytes: int
    bits: int


def _a_character_for_each_id(widget: Any, alphabet: str) -> str:
    if len(alphabet) != (ids := widget.facts["vocabulary"]):
        raise ValueError(
            f"alphabet has {len(alphabet)} characters and model {ids} ids; expected one character "
            "for each id, marks such as that of a start included"
        )
    return alphabet


class ModelWidget(WeightsWidget):
    """A widget whose page runs a trained transformer.

    A subclass sets its ``_limits``, its ``model``, made of the packed weights, and the ``_stack``
    in which :func:`transformer_shapes` finds the blocks.
    """

    _limits: ClassVar[Limits]
    _stack: ClassVar[str] = ""

    alphabet = Text(
        shortest=1,
        longest=math.inf,
        distinct=True,
        rule=_a_character_for_each_id,
        read_only=True,
    )
    weights = Data(lambda self: self._packed())

    def __init__(
        self, model: nn.Module, facts: dict[str, Any], alphabet: str, **given: Any
    ) -> None:
        shapes = transformer_shapes(facts, stack=self._stack)
        self._check_size(facts, shapes)
        state = model.state_dict()
        # A copy of every parameter, so that further training does not change the widget.
        self._original = {name: state[name].detach().clone() for name in shapes}
        self.set_trait("facts", facts)
        super().__init__(alphabet=alphabet, **given)

    def _packed(self) -> dict[str, Any]:
        limits = self._limits
        return pack(self._original, most_bytes=limits.weight_bytes, fewest_bits=limits.bits)

    def _both(self) -> tuple[nn.Module, nn.Module]:
        """The model before and after rounding, in float64."""
        before, after = self.model.double(), self.model.double()
        before.load_state_dict(self._original, strict=False)
        return before, after

    def _size(self) -> str:
        shapes = transformer_shapes(self.facts, stack=self._stack)
        count = sum(rows * columns for rows, columns in shapes.values())
        layers, heads = self.facts["layers"], self.facts["heads"]
        return f"{count:,} parameters, {layers} layers of {heads} heads each"

    def _check_size(self, facts: dict[str, Any], shapes: Shapes) -> None:
        parameters = sum(rows * columns for rows, columns in shapes.values())
        if parameters > self._limits.parameters:
            raise ValueError(
                f"model has {parameters:,} parameters; expected {self._limits.parameters:,} at "
                "most, which a page can carry; train a smaller one"
            )
        for name, count, most in (
            ("positions", facts["tokens"], self._limits.tokens),
            ("letters", facts["vocabulary"], self._limits.letters),
            ("heads in all layers", facts["heads"] * facts["layers"], self._limits.heads),
        ):
            if count > most:
                raise ValueError(
                    f"model has {count} {name}; expected {most} at most, which the picture can "
                    "show; train a smaller one"
                )
