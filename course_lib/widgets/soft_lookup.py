"""SoftLookup: drag a query among keys in the plane, and watch the answer blend."""

from __future__ import annotations

from typing import Any

import numpy as np
import traitlets
from numpy.typing import ArrayLike, NDArray

from course_lib.widgets.base import Widget
from course_lib.widgets.traits import Array, finite_array, number_between, one_of, texts

SIMILARITIES = ("distance", "dot", "cosine")
REACH = 1.5
COLDEST, HOTTEST = 0.02, 10.0


class SoftLookup(Widget):
    r"""Soft lookup of a value among keys in the plane.

    The answer is $\sum_i w_i v_i$ with $w = \mathrm{softmax}(s / \tau)$. The score $s_i$ is minus
    the squared distance of query and key (Nadaraya–Watson), their dot product, or their cosine.
    Query and keys are dragged by hand; thin lines join the queries that get the same answer.

    ``names`` are the keys' labels, ``keys`` their points ``(keys, 2)`` within ±1.5, ``values`` the
    number ``(keys,)`` that each returns, ``unit`` what the numbers count.

    Traits, synced both ways: ``query`` (2,), ``key_points``, ``temperature``, ``similarity``.
    Raises ``TypeError`` and ``ValueError`` for data that cannot be drawn.
    Sources: Nadaraya (1964), eq. 1; Watson (1964), eq. 1.4; Vaswani et al. (2017), eq. 1.
    """

    _module = "soft_lookup.js"

    names = traitlets.List(traitlets.Unicode(), read_only=True).tag(sync=True)
    key_points = Array()
    values = Array(read_only=True)
    unit = traitlets.Unicode(read_only=True).tag(sync=True)
    query = Array()
    temperature = traitlets.Float(0.3, min=COLDEST, max=HOTTEST).tag(sync=True)
    similarity = traitlets.Enum(SIMILARITIES, default_value="distance").tag(sync=True)

    def __init__(
        self,
        names: list[str],
        keys: ArrayLike,
        values: ArrayLike,
        *,
        query: ArrayLike = (0.0, 0.0),
        temperature: float = 0.3,
        similarity: str = "distance",
        unit: str = "",
        **dom: Any,
    ) -> None:
        key_array = _points("keys", keys, ("keys", "2"))
        value_array = finite_array("values", values, ("keys",))
        if len(value_array) != len(key_array):
            raise ValueError(
                f"{len(key_array)} keys were given but {len(value_array)} values; "
                "each key needs one"
            )
        self.set_trait("names", texts("names", names, len(key_array)))
        self.set_trait("values", value_array)
        self.set_trait("unit", texts("unit", [unit])[0])
        super().__init__(
            key_points=key_array,
            query=_points("query", query, ("2",)),
            temperature=number_between("temperature", temperature, COLDEST, HOTTEST),
            similarity=one_of("similarity", similarity, SIMILARITIES),
            **dom,
        )

    @traitlets.validate("query")
    def _check_query(self, proposal: dict[str, Any]) -> NDArray[np.float32]:
        return _points("query", proposal["value"], ("2",))

    @traitlets.validate("key_points")
    def _check_key_points(self, proposal: dict[str, Any]) -> NDArray[np.float32]:
        points = _points("key_points", proposal["value"], ("keys", "2"))
        if len(points) != len(self.names):
            raise ValueError(
                f"key_points holds {len(points)} points, but there are {len(self.names)} keys; "
                "make another widget for other keys"
            )
        return points

    def describe(self) -> str:
        """The keys with their values, in words."""
        pairs = ", ".join(
            f"{name} returns {value:g}" for name, value in zip(self.names, self.values, strict=True)
        )
        return (
            "Soft lookup: a query is dragged among keys in the plane and gets a blend of their "
            f"values. {pairs} {self.unit}.".replace(" .", ".")
        )


def _points(name: str, value: ArrayLike, axes: tuple[str, ...]) -> NDArray[np.float32]:
    points = finite_array(name, value, axes)
    if points.shape[-1] != len(("x", "y")):
        raise ValueError(
            f"{name} must be points of the plane, but have {points.shape[-1]} coordinates; give two"
        )
    if np.abs(points).max() > REACH:
        raise ValueError(
            f"{name} must lie within ±{REACH}, but reach {np.abs(points).max():g}; rescale them"
        )
    return points
