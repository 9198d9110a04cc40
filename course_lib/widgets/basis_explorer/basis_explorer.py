"""BasisExplorer: hats, a softmax and learned attention weights, as three bases for one function."""

from __future__ import annotations

import base64
import math
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from course_lib.basis import CrossAttentionField, random_rods
from course_lib.support.checks import check_size
from course_lib.widgets.kit.packed_weights import WeightsWidget, pack, with_weights
from course_lib.widgets.kit.traits import Array, Choice, Index, Number, brief

MEASURED = 2  # numbers at a sensor: log k and f
FEWEST_BITS, DATA_BYTES = 6, 33_500
MOST_NODES, MOST_SENSORS, MOST_HEADS = 16, 64, 8
HIGHEST = 1.5  # of a value
CLOSEST = 0.01  # that two nodes can stand and be told apart
DRAWN = 125  # places of a curve that is drawn by hand
MOST = 3.5  # of a logarithm of the conductivity, or of the heat
STEPS = 8192  # of a drawn curve in 1: MOST is 28,672 of them, and two bytes hold 32,767
NODES = 6
FIRST_ROD = 0  # a seed


def read_off(nodes: NDArray[Any]) -> NDArray[Any]:
    r"""Nodes and the values there of the function to be blended, $\sin 2\pi x^2$."""
    return np.stack([nodes, np.sin(2 * math.pi * nodes**2)], axis=1)


def _increasing(_widget: Any, points: NDArray[np.float32]) -> NDArray[np.float32]:
    nodes = points[:, 0]
    if (nodes[0], nodes[-1]) != (0, 1):
        raise ValueError(
            f"points run from x = {nodes[0]:g} to {nodes[-1]:g}; expected 0 to 1, since hats do "
            "not sum to one beyond the last node; add a node at each end"
        )
    if (gap := np.diff(nodes).min()) < CLOSEST * (1 - 1e-4):
        raise ValueError(
            f"points have two nodes {gap:g} apart; expected increasing nodes, {CLOSEST:g} apart at "
            "least; sort them, or drop one of two"
        )
    return points


class Curve(Array):
    """Heights at even places, in steps of 1/8192; one travels as the two bytes of its step."""

    def _check(self, widget: Any, value: Any) -> NDArray[np.float32]:
        # Rounded here, Python and the page hold the same curve.
        return np.rint(super()._check(widget, value) * STEPS) / STEPS

    @staticmethod
    def _encode(value: NDArray[np.float32], _widget: Any) -> dict[str, Any]:
        steps = (value * STEPS).astype("<i2")
        return {"int16": base64.b64encode(steps.tobytes()).decode("ascii")}

    @staticmethod
    def _decode(encoded: dict[str, Any], _widget: Any) -> NDArray[np.float32]:
        steps = np.frombuffer(base64.b64decode(encoded["int16"]), dtype="<i2")
        return steps.astype(np.float32) / STEPS


class BasisExplorer(WeightsWidget):
    r"""Nodes under the hand, or a rod drawn by hand: $u(x) = \sum_i \alpha_i(x)\,y_i$ either way.

    In the ``mode`` ``"nodes"`` the reader moves ``points``, ``(2 to 16, 2)``, nodes in [0, 1], both
    ends among them, and values within ±1.5. Below stand :func:`course_lib.basis.hat` and
    :func:`~course_lib.basis.softmax_basis` at a ``temperature`` $\tau$, and above what each blends.
    All weights belong to one ``query``, a point $x$ in [0, 1].

    In the mode ``"rod"`` the reader draws the logarithm of a conductivity and a heat, each
    ``(125,)`` values at even places, to 1/8192. ``field`` answers in the page, told both at
    ``about["sensors"]`` even places, as :func:`course_lib.models.rods.load_rod_field` returns them.
    Its weights stand beside hats and softmax, one ``head`` at a time, and its answer beside
    :func:`course_lib.basis.solve`, once with every place that was drawn, once with no more than
    the sensors tell. The weights of the field travel rounded, in ``widget.bits`` bits;
    ``widget.field`` is the field with just these weights.

    The temperature is ``moving`` at once, and a flame and a plug once along the first rod, which
    its curves do not hear of; unless the reader has asked for less motion or you for none. Traits,
    synced both ways: ``mode``, ``points``, ``temperature``, ``query``, ``log_conductivity``,
    ``load``, ``head``. Raises ``TypeError`` and ``ValueError`` for what cannot be drawn.
    """

    mode = Choice("nodes", "rod", default="nodes")
    points = Array(
        *("node", "xy=2"),
        within=HIGHEST,
        most={"node": MOST_NODES},
        rule=_increasing,
        default=lambda _: read_off(np.linspace(0, 1, NODES)).astype(np.float32),
    )
    # Here the softmax of the first nodes is as near to their hats as it gets.
    temperature = Number(1e-5, 10.0, default=0.014)
    # Between two of the first nodes, and nearer to one of them, so that their weights differ.
    query = Number(0.0, 1.0, default=0.45)
    log_conductivity = Curve(f"place={DRAWN}", within=MOST, default=lambda _: _first_rod()[0])
    load = Curve(f"place={DRAWN}", within=MOST, default=lambda _: _first_rod()[1])
    head = Index(of=lambda self: self.facts["heads"])

    def __init__(self, field: CrossAttentionField, about: dict[str, Any], **given: Any) -> None:
        self.set_trait("facts", _facts_of(field, about))
        packed = pack(field, most_bytes=DATA_BYTES, fewest_bits=FEWEST_BITS)
        self.set_trait("weights", packed)
        super().__init__(**given)

    @property
    def field(self) -> CrossAttentionField:
        """The field with the weights that travel, in float32, which holds them exactly."""
        return field_of(self.facts, self.weights)

    def limits(self) -> dict[str, Any]:
        """Those of all traits but the drawn curves, which are too long for an address."""
        drawn = ("log_conductivity", "load")
        return {name: found for name, found in super().limits().items() if name not in drawn}

    def describe(self) -> str:
        """What is blended by which weights, and what can be done with it."""
        if self.mode == "rod":
            return (
                "Basis explorer: a rod whose conductivity and heat are drawn by hand. A trained "
                f"field with {self.facts['heads']} heads gives its temperature from "
                f"{self.facts['sensors']} sensors, beside two finite-element solutions."
            )
        return (
            f"Basis explorer: {len(self.points)} nodes with a value each, blended by hats and by "
            f"a softmax at temperature {self.temperature:g}. Nodes, values and temperature can be "
            "moved; a second mode shows the learned weights of a trained field."
        )


def field_of(facts: dict[str, Any], packed: dict[str, Any]) -> CrossAttentionField:
    """The field, in float32 and in evaluation mode, whose weights travel as ``packed``."""
    sizes = {name: facts[name] for name in ("d_model", "heads", "layers", "d_hidden", "finest")}
    return with_weights(lambda: CrossAttentionField(**sizes, d_z=MEASURED), packed)


def _facts_of(field: object, about: object) -> dict[str, Any]:
    """All that has to be known of a field besides its weights."""
    if not isinstance(field, CrossAttentionField):
        raise TypeError(
            f"field is a {type(field).__name__}; expected a course_lib.basis.CrossAttentionField"
        )
    if field.measured.in_features != MEASURED:
        raise ValueError(
            f"field takes {field.measured.in_features} numbers a sensor; expected 2, the "
            "logarithm of the conductivity and the heat; make it with d_z=2"
        )
    if field.heads > MOST_HEADS:
        raise ValueError(f"field has {field.heads} heads; expected {MOST_HEADS} at most")
    if not isinstance(about, dict) or "sensors" not in about:
        raise TypeError(
            f"about is {brief(about)}; expected a dict with the number of sensors as 'sensors', as "
            "load_rod_field() returns it"
        )
    check_size("about['sensors']", about["sensors"], minimum=3)
    if about["sensors"] > MOST_SENSORS:
        raise ValueError(f"about has {about['sensors']} sensors; expected {MOST_SENSORS} at most")
    return {
        "d_model": field.query.in_features,
        "heads": field.heads,
        "layers": len(field.encoder.blocks),
        "d_hidden": field.point.expand.out_features,
        "finest": float(field.finest),
        "sensors": about["sensors"],
        "error": about.get("error"),
    }


def _first_rod() -> NDArray[np.float32]:
    """The logarithm of a conductivity and a heat, as they may have come in training."""
    rods = random_rods(1, generator=torch.Generator().manual_seed(FIRST_ROD))
    place = torch.linspace(0, 1, DRAWN, dtype=torch.float64)
    curves = torch.cat([rods.log_conductivity(place), rods.load(place)])
    return curves.clamp(-MOST, MOST).float().numpy()
