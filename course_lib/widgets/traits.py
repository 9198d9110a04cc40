"""Traits of widgets, and the checks that they and the widgets' constructors share."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import Any

import numpy as np
import traitlets
from numpy.typing import ArrayLike, NDArray


def finite_array(name: str, value: ArrayLike, axes: tuple[str, ...]) -> NDArray[np.float32]:
    """``value`` as float32 with one axis for each name in ``axes``.

    Takes NumPy arrays, tensors and nested lists. Raises ``TypeError`` for what holds no real
    numbers, ``ValueError`` for ragged lists, another number of axes, an empty axis, or values that
    are not finite.
    """
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        value = (value.double() if value.is_floating_point() else value).numpy()
    expected = f"{name} needs the axes ({', '.join(axes)})"
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise ValueError(f"{expected}, but its rows differ in length; pad or cut them") from error
    if array.dtype == bool or not np.issubdtype(array.dtype, np.number) or np.iscomplexobj(array):
        raise TypeError(f"{expected} with real numbers, but was given {array.dtype} values")
    if array.ndim != len(axes):
        raise ValueError(f"{expected}, but was given the shape {array.shape}")
    if array.size == 0:
        raise ValueError(f"{expected}, each of at least one entry; given the shape {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} holds NaN or infinite values; a picture needs finite numbers")
    largest = float(np.abs(array).max())
    if largest > float(np.finfo(np.float32).max):
        raise ValueError(f"{name} reaches {largest:g}, which float32 cannot hold; rescale it")
    # A copy: what the caller does to the array later must not reach the widget.
    return np.array(array, dtype=np.float32, order="C")


def texts(name: str, value: Any, count: int | None = None) -> list[str]:
    """``value`` as a list of strings, ``count`` of them if given; errors as in ``finite_array``."""
    listed = isinstance(value, Iterable) and not isinstance(value, str)
    if not listed or not all(isinstance(text, str) for text in value):
        raise TypeError(f"{name} must be a list of strings, but was given {value!r}")
    if not value:
        raise ValueError(f"{name} is empty; give at least one string")
    if count is not None and len(value) != count:
        raise ValueError(f"{name} holds {len(value)} strings, but {count} are needed")
    return list(value)


def number_between(name: str, value: float, low: float, high: float) -> float:
    """``value`` as a float, which must lie in ``[low, high]``."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        raise TypeError(f"{name} must be a number, but was given {value!r}")
    if not low <= value <= high:
        raise ValueError(f"{name} must lie between {low} and {high}, but was given {value}")
    return float(value)


def one_of(name: str, value: str, options: tuple[str, ...]) -> str:
    """``value``, which must be one of ``options``."""
    if value not in options:
        raise ValueError(f"{name} must be one of {', '.join(options)}, but was given {value!r}")
    return value


class Array(traitlets.TraitType):
    """A float32 array. It travels as its shape and the base64 of its little-endian bytes."""

    info_text = "a float32 NumPy array"

    def __init__(self, *, read_only: bool = False) -> None:
        super().__init__(read_only=read_only, allow_none=False)
        self.tag(sync=True, to_json=self._encode, from_json=self._decode)

    def validate(self, obj: traitlets.HasTraits, value: Any) -> NDArray[np.float32]:
        """``value``, if it is a float32 array; ``TraitError`` otherwise."""
        if not isinstance(value, np.ndarray) or value.dtype != np.float32:
            self.error(obj, value)
        return value

    @staticmethod
    def _encode(value: NDArray[np.float32], _widget: Any) -> dict[str, Any]:
        return {
            "shape": list(value.shape),
            "base64": base64.b64encode(value.astype("<f4").tobytes()).decode("ascii"),
        }

    @staticmethod
    def _decode(encoded: dict[str, Any], _widget: Any) -> NDArray[np.float32]:
        flat = np.frombuffer(base64.b64decode(encoded["base64"]), dtype="<f4")
        return flat.reshape(encoded["shape"]).astype(np.float32)
