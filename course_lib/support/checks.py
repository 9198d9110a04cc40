"""Checks that no annotation can make, one line each where a formula needs them.

Each names what was given, what was expected and what to do; values and shapes raise ``ValueError``,
types and dtypes ``TypeError``. Names are those that the caller wrote::

    check_floating(query=query, key=key)
    check_shapes(query=(query, "*batch query d"), key=(key, "*batch key d"))
"""

import math
from collections.abc import Collection
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

from course_lib.support.contracts import (
    LARGEST,
    Between,
    Call,
    axes_of,
    broadcasts,
    number_within,
    same_sizes,
    test_of,
)

_floating = test_of(Float[Tensor, "..."])


def check_floating(**tensors: object) -> None:
    """Raise unless all are floating-point tensors of one dtype, on one device."""
    call = Call()
    for name, tensor in tensors.items():
        _floating(call, name, tensor)


def check_shapes(**tensors: tuple[Tensor, str]) -> None:
    """Raise ``ValueError`` unless all tensors agree on the sizes of the axes that they share.

    Each argument is ``(tensor, axes)``, the axes as in an annotation: ``"*batch query d"``.
    """
    call = Call()
    for name, (tensor, axes) in tensors.items():
        same_sizes(axes_of(axes), call, name, tuple(tensor.shape))


def check_size(name: str, value: object, *, minimum: int = 1) -> None:
    """Raise unless ``value`` is an integer of at least ``minimum``."""
    if type(value) is int and minimum <= value <= LARGEST:  # the answer to nearly every call
        return
    number_within(int, (Between(minimum),), Call(), name, value)


def check_choice(name: str, value: object, choices: Collection[str]) -> None:
    """Raise ``ValueError`` unless ``value`` is one of ``choices``."""
    test_of(Literal[tuple(choices)])(Call(), name, value)


def check_not_empty(name: str, x: Tensor, *, axis: int) -> None:
    """Raise ``ValueError`` where there is nothing along an axis, as in a sequence of no tokens."""
    if x.shape[axis] == 0:
        raise ValueError(
            f"{name} has shape {tuple(x.shape)}, with nothing along axis {axis}; expected one "
            "entry at least; pass what it should hold"
        )


def check_some(**several: Collection[object]) -> None:
    """Raise ``ValueError`` for a list without entries."""
    for name, entries in several.items():
        if not entries:
            raise ValueError(f"{name} is empty; expected one entry at least; pass one")


def check_index(name: str, index: Tensor, size: int, of: str) -> None:
    """Raise ``ValueError`` for a number outside 0 to ``size`` - 1; ``of`` names what they count."""
    if len(outside := index[(index < 0) | (index >= size)]):
        raise ValueError(
            f"{name} holds {outside[0].item()}; expected 0 to {size - 1}, {of}; "
            "leave all others out, or replace them"
        )


def check_finite(**tensors: Tensor) -> None:
    """Raise ``ValueError`` for nan and infinity."""
    for name, tensor in tensors.items():
        if not tensor.isfinite().all():
            raise ValueError(
                f"{name} holds nan or inf; expected finite numbers; "
                f"find them with {name}.isfinite()"
            )


def check_scores(**tensors: Tensor) -> None:
    """Raise ``ValueError`` for nan and +inf, which spoil a softmax; -inf may stay."""
    for name, tensor in tensors.items():
        if not (tensor < math.inf).all():
            raise ValueError(
                f"{name} holds nan or +inf; expected finite numbers, or -inf to hide a key; "
                f"find them with {name}.isfinite()"
            )


def check_broadcasts(name: str, tensor: Tensor, shape: tuple[int, ...]) -> None:
    """Raise ``ValueError`` unless ``tensor`` has two axes or more and broadcasts to ``shape``."""
    given = tuple(tensor.shape)
    if len(given) < len(("query", "key")) or not broadcasts(given, shape):
        raise ValueError(
            f"{name} has shape {given}; expected one that broadcasts to (*batch, query, key) = "
            f"{shape}, with two axes at least; an axis of size 1 counts for all, so insert one "
            f"with {name}.unsqueeze(axis) where it is missing"
        )


def check_visible(visible: Tensor | None, shape: tuple[int, ...]) -> None:
    """Raise ``ValueError`` if a row has nothing to look at: no distribution over nothing exists.

    ``visible`` is boolean and broadcasts to ``shape``, whose last axis is softmax's; ``None`` shows
    everything. Without rows it never raises.
    """
    if 0 in shape[:-1]:
        return
    if shape[-1] == 0:
        raise ValueError(
            f"the scores have shape {shape}, so a query may look at nothing; "
            "expected one key at least; pass one"
        )
    if visible is not None and not (seen := visible.any(dim=-1)).all():
        row = tuple((~seen).nonzero()[0].tolist())
        raise ValueError(
            f"a query may look at nothing: in row {row} every key is hidden, its mask False or its "
            "score -inf; expected one visible key at least; show one, or drop the query"
        )


def check_causal(queries: int, keys: int, *, causal: bool) -> None:
    """Raise ``ValueError`` if the causal mask, whose last query sees all keys, leaves one none."""
    if causal and queries > keys:
        raise ValueError(
            f"a query may look at nothing: there are {queries} queries and {keys} keys, and the "
            "last query sees the last key; expected a key for each query at least; drop the first "
            "queries, or pass causal=False"
        )


def check_head_axis(x: Tensor, **tensors: Tensor | None) -> None:
    """Raise ``ValueError`` unless each is ``(query, key)`` or has one axis more than ``x``.

    ``x`` is ``(*batch, query, d)``. One axis too few would silently broadcast batch against heads.
    """
    for name, tensor in tensors.items():
        if isinstance(tensor, Tensor) and tensor.dim() not in (2, x.dim() + 1):
            raise ValueError(
                f"{name} has shape {tuple(tensor.shape)}, {tensor.dim()} axes, and x has shape "
                f"{tuple(x.shape)}; expected 2 axes, (query, key), or {x.dim() + 1}, "
                f"(*batch, head, query, key); insert a head axis with {name}.unsqueeze(-3)"
            )


def check_divides(name: str, divisor: int, whole_name: str, whole: int) -> None:
    """Raise ``ValueError`` unless ``divisor`` divides ``whole``; the message lists what would."""
    check_size(name, divisor)
    check_size(whole_name, whole)
    if whole % divisor:
        fitting = ", ".join(str(n) for n in range(1, whole + 1) if whole % n == 0)
        raise ValueError(
            f"{name} is {divisor}, which does not divide {whole_name} = {whole}; "
            f"expected a divisor; choose {name} from {fitting}"
        )


def wants_gradient(*tensors: Tensor) -> bool:
    """Whether PyTorch will differentiate what is computed from these."""
    return torch.is_grad_enabled() and any(x.requires_grad for x in tensors)
