"""Checks that every topic module shares. Each names what was given, what was expected, what to do.

Values and shapes raise ``ValueError``, types and dtypes ``TypeError``. Nothing is converted,
truncated or broadcast behind the caller's back: a check returns nothing and changes nothing
(``check_shapes`` returns the sizes that it found, ``check_mask_and_bias`` what may be seen;
``wants_gradient`` only asks). Names are those that the caller wrote::

    check_floating(query=query, key=key)
    sizes = check_shapes(query=(query, "*batch query d"), key=(key, "*batch key d"))
    check_mask(mask, (*sizes["*batch"], sizes["query"], sizes["key"]), query=query)
"""

import math
from collections.abc import Collection
from numbers import Integral, Real

import torch
from torch import Tensor


def check_tensor(**tensors: object) -> None:
    """Raise ``TypeError`` for whatever is not a ``torch.Tensor``."""
    for name, value in tensors.items():
        if not isinstance(value, Tensor):
            raise TypeError(
                f"{name} is a {_kind(value)}; expected a torch.Tensor; "
                f"convert it with torch.as_tensor({name})"
            )


def check_floating(**tensors: object) -> None:
    """Raise ``TypeError`` unless all are floating point and share one dtype and one device.

    A device that differs is a ``ValueError``. Under ``torch.autocast`` dtypes may differ, since
    mixing them is then PyTorch's business.
    """
    check_tensor(**tensors)
    for name, tensor in tensors.items():
        if not tensor.is_floating_point():
            raise TypeError(
                f"{name} has dtype {tensor.dtype}; expected floating point; "
                f"convert it with {name}.float()"
            )
    (first, reference), *others = tensors.items()
    for name, tensor in others:
        if tensor.dtype != reference.dtype and not _autocasts(reference.device.type):
            raise TypeError(
                f"{name} has dtype {tensor.dtype} and {first} has {reference.dtype}; "
                f"expected one dtype; convert with {name}.to({reference.dtype})"
            )
        _check_device(name, tensor, first, reference)


def _autocasts(device: str) -> bool:
    """Whether autocast is on; asked only where dtypes differ, for compilers cannot follow it."""
    return torch.amp.is_autocast_available(device) and torch.is_autocast_enabled(device)


def check_shapes(**tensors: tuple[Tensor, str]) -> dict[str, int | tuple[int, ...]]:
    """Raise ``ValueError`` unless all tensors agree on the sizes of the axes that they share.

    Each argument is ``(tensor, axes)``, where ``axes`` names the axes, as ``"*batch query d"``. A
    first name with a star stands for any number of axes, equal in all tensors; a number stands for
    itself. Returns the size of each name, a tuple for the starred one.
    """
    sizes: dict[str, int | tuple[int, ...]] = {}
    source: dict[str, str] = {}
    for name, (tensor, axes) in tensors.items():
        shape, names = tuple(tensor.shape), axes.split()
        layout = "(" + ", ".join(names) + ("," if len(names) == 1 else "") + ")"
        starred = bool(names) and names[0].startswith("*")
        fixed = names[1:] if starred else names
        leading = len(shape) - len(fixed)
        if leading < 0 or (leading > 0 and not starred):
            least = "at least " if starred else ""
            raise ValueError(
                f"{name} has shape {shape}; expected {layout}, {least}{len(fixed)} axes; "
                f"add or remove axes with {name}.reshape(...)"
            )
        found = [(names[0], shape[:leading])] if starred else []
        found += zip(fixed, shape[leading:], strict=True)
        for axis, size in found:
            source.setdefault(axis, f"{name} of shape {shape}")
            expected = int(axis) if axis.isdigit() else sizes.setdefault(axis, size)
            if size != expected:
                reason = (
                    "" if axis.isdigit() else f" with {axis} = {expected}, as in {source[axis]}"
                )
                raise ValueError(
                    f"{name} has shape {shape}; expected {layout}{reason}; got {size}; "
                    "make the two equal, nothing is broadcast here"
                )
    return sizes


def check_mask(mask: object, shape: tuple[int, ...], **like: Tensor) -> None:
    """Raise unless ``mask`` is boolean, broadcasts to ``shape``, and shares the device of ``like``.

    ``shape`` is ``(*batch, query, key)``; ``like`` is one tensor under its own name. A mask of
    numbers is a ``TypeError``: it may mean a bias, or the opposite convention.
    """
    check_tensor(mask=mask)
    if mask.dtype != torch.bool:
        raise TypeError(
            f"mask has dtype {mask.dtype}; expected torch.bool, True where a query may look; "
            "convert it with mask.bool(), or pass numbers to add to the scores as bias"
        )
    check_broadcasts("mask", mask, shape)
    _check_device("mask", mask, *next(iter(like.items())))


def check_bias(bias: object, shape: tuple[int, ...], **like: Tensor) -> None:
    """Raise unless ``bias`` has the dtype and device of ``like`` and broadcasts to ``shape``.

    Its entries may be -inf, which hides a key; +inf and nan are a ``ValueError``.
    """
    check_tensor(bias=bias)
    if bias.dtype == torch.bool:
        raise TypeError(
            "bias has dtype torch.bool; expected numbers to add to the scores; "
            "pass it as mask, True where a query may look"
        )
    check_floating(**like, bias=bias)
    check_broadcasts("bias", bias, shape)
    check_scores(bias=bias)


def check_not_empty(name: str, x: Tensor, *, axis: int) -> None:
    """Raise ``ValueError`` where there is nothing along an axis, as in a sequence of no tokens."""
    if x.shape[axis] == 0:
        raise ValueError(
            f"{name} has shape {tuple(x.shape)}, with nothing along axis {axis}; expected one "
            "entry at least; pass what it should hold"
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
    pairs = zip(reversed(given), reversed(shape), strict=False)
    fits = all(size in (1, wanted) for size, wanted in pairs)
    if not fits or len(given) not in range(2, len(shape) + 1):
        raise ValueError(
            f"{name} has shape {given}; expected one that broadcasts to (*batch, query, key) = "
            f"{shape}, with two axes at least; an axis of size 1 counts for all, so insert one "
            f"with {name}.unsqueeze(axis) where it is missing"
        )


def check_mask_and_bias(
    mask: object, bias: object, shape: tuple[int, ...], **like: Tensor
) -> Tensor | None:
    """Check both, each of which may be ``None``, and that together they leave every query a key.

    Returns where a query may look, a boolean that broadcasts to ``shape``; ``None`` is everywhere.
    """
    if mask is not None:
        check_mask(mask, shape, **like)
    if bias is not None:
        check_bias(bias, shape, **like)
    # Each alone may leave a query a key where both together leave it none.
    shown = None if bias is None else bias > -math.inf
    visible = shown if mask is None else mask if shown is None else mask & shown
    check_visible(visible, shape)
    return visible


def check_visible(visible: Tensor | None, shape: tuple[int, ...]) -> None:
    """Raise ``ValueError`` if a row has nothing to look at: no distribution over nothing exists.

    ``visible`` is boolean and broadcasts to ``shape``, whose last axis is softmax's; ``None`` shows
    everything. Without rows there is nothing to refuse.
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


def check_head_axis(x: Tensor, **tensors: Tensor | None) -> None:
    """Raise ``ValueError`` unless each is ``(query, key)`` or has one axis more than ``x``.

    ``x`` is ``(*batch, query, d)``. One axis too few would broadcast batch against heads unseen.
    """
    for name, tensor in tensors.items():
        if isinstance(tensor, Tensor) and tensor.dim() not in (2, x.dim() + 1):
            raise ValueError(
                f"{name} has shape {tuple(tensor.shape)}, {tensor.dim()} axes, and x has shape "
                f"{tuple(x.shape)}; expected 2 axes, (query, key), or {x.dim() + 1}, "
                f"(*batch, head, query, key); insert a head axis with {name}.unsqueeze(-3)"
            )


def check_number(
    name: str,
    value: object,
    *,
    minimum: float | int = -math.inf,
    maximum: float | int = math.inf,
    positive: bool = False,
) -> None:
    """Raise unless ``value`` is a finite real number in [minimum, maximum], above 0 if asked."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(
            f"{name} is a {_kind(value)}; expected a number; convert it with float({name})"
        )
    inside = minimum <= value <= maximum and (value > 0 or not positive)
    if not (math.isfinite(value) and inside):
        wanted = "a finite number" + (" above 0" if positive else "")
        if math.isfinite(minimum) or math.isfinite(maximum):
            wanted += f" in [{minimum}, {maximum}]"
        raise ValueError(f"{name} is {value}; expected {wanted}; choose another value")


def check_size(name: str, value: object, *, minimum: int = 1) -> None:
    """Raise unless ``value`` is an integer (and no bool) of at least ``minimum``."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(
            f"{name} is {value!r}, a {_kind(value)}; expected an integer; "
            f"round it yourself, nothing is truncated here"
        )
    if value < minimum:
        raise ValueError(f"{name} is {value}; expected {minimum} or more; choose a larger value")


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


def check_choice(name: str, value: object, choices: Collection[str]) -> None:
    """Raise ``ValueError`` unless ``value`` is one of ``choices``."""
    if value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} is {value!r}; expected one of {listed}; choose one of these")


def wants_gradient(*tensors: Tensor) -> bool:
    """Whether PyTorch will differentiate what is computed from these."""
    return torch.is_grad_enabled() and any(x.requires_grad for x in tensors)


def _check_device(name: str, tensor: Tensor, first: str, reference: Tensor) -> None:
    if tensor.device != reference.device:
        raise ValueError(
            f"{name} is on {tensor.device} and {first} on {reference.device}; expected one device; "
            f"move it with {name}.to({str(reference.device)!r})"
        )


def _kind(value: object) -> str:
    kind = type(value)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
