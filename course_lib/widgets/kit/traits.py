"""Traits of widgets: each is declared once, and checked alike wherever a value comes from.

Constructors, assignments and messages of the page all use :meth:`Trait.validate`, so a wrong value
gets the same error everywhere. A trait may depend on traits declared above it, as an index depends
on a text: the values of one message are set in the order of the declarations, and when the text
changes alone, :meth:`Trait.settle` moves the index into its new range.

A page without a kernel checks the values in its address by the :meth:`Trait.limits` of each trait.
"""

from __future__ import annotations

import base64
import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
import traitlets
from numpy.typing import ArrayLike, NDArray

from course_lib.widgets.kit.folding import folded

LONGEST_NAME = 80  # characters that can still be read as the name of something in a picture


class WrongTypeError(traitlets.TraitError, TypeError):
    """A value has the wrong type; traitlets undoes the other changes of the same message."""


class WrongValueError(traitlets.TraitError, ValueError):
    """A value is out of range; traitlets undoes the other changes of the same message."""


def brief(value: object) -> str:
    """``value`` as text for a message, cut if it is long."""
    text = repr(value)
    return text if len(text) <= LONGEST_NAME else f"{text[:LONGEST_NAME]}…"


def finite_array(name: str, value: ArrayLike | tuple, axes: tuple[str, ...]) -> NDArray[np.float32]:
    """``value`` as float32 with one axis for each name in ``axes``.

    Takes NumPy arrays, tensors and nested lists. Raises ``TypeError`` for values that are no real
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
    # A copy, so that the widget does not change when the caller changes the array later.
    return np.array(array, dtype=np.float32, order="C")


class Trait(traitlets.TraitType):
    """What all traits of widgets share.

    A trait without ``default`` is a positional argument of the constructor, one with it a keyword
    argument. ``default`` may be a function of the widget; the constructor then has ``None``.
    ``rule(widget, value)`` returns the value or raises an error, for checks beyond the type.
    ``called`` is the name of the constructor's argument, if it is not that of the trait.
    """

    def __init__(
        self,
        *,
        default: Any = traitlets.Undefined,
        read_only: bool = False,
        rule: Callable[[Any, Any], Any] | None = None,
        called: str = "",
    ) -> None:
        self.dynamic = default if callable(default) else None
        super().__init__(traitlets.Undefined if self.dynamic else default, read_only=read_only)
        self.rule, self.called = rule, called
        self.tag(sync=True)

    def class_init(self, cls: type[traitlets.HasTraits], name: str | None) -> None:
        """Learn the name of the trait from traitlets."""
        super().class_init(cls, name)
        self.called = self.called or str(name)

    @property
    def argument(self) -> inspect.Parameter | None:
        """The argument of the constructor for this trait, if there is one."""
        if self.dynamic is None and self.default_value is traitlets.Undefined:
            return inspect.Parameter(self.called, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        default = None if self.dynamic else self.default_value
        return inspect.Parameter(self.called, inspect.Parameter.KEYWORD_ONLY, default=default)

    def default(self, obj: Any = None) -> Any:
        """The value of a trait that was not given."""
        return self.dynamic(obj) if self.dynamic else self.default_value

    def validate(self, obj: Any, value: Any) -> Any:
        """``value`` as the trait keeps it. Raises errors that traitlets treats as its own."""
        try:
            value = self._check(obj, value)
            return self.rule(obj, value) if self.rule else value
        except TypeError as error:
            raise WrongTypeError(str(error)) from None
        except ValueError as error:
            raise WrongValueError(str(error)) from None

    def settle(self, widget: Any, value: Any) -> Any:  # noqa: ARG002 - most traits depend on none
        """The value after other traits have changed: ``value`` itself, if it is still valid."""
        return value

    def sizes(self, widget: Any, value: Any) -> list[tuple[str, str, int]]:  # noqa: ARG002 - the same
        """For each axis: its label, the name under which traits share its size, and the size."""
        return []

    def limits(self, widget: Any) -> dict[str, Any] | None:  # noqa: ARG002 - the same
        """What a page without a kernel checks; ``None`` if an address cannot set the trait."""
        return None

    def get(self, obj: Any, cls: Any = None) -> Any:
        """The value. Also records that it was read, so that `_unless_it_moves` can tell."""
        if not self.read_only:
            obj.__dict__.get("_asked_for", set()).add(self.name)
        return super().get(obj, cls)

    @staticmethod
    def _unless_it_moves(widget: Any, bound: Any) -> Any:
        """A bound, or ``None`` if it depends on traits that the reader changes."""
        if not callable(bound):
            return None if bound in {math.inf, -math.inf} else bound
        asked = widget.__dict__["_asked_for"] = set()
        value = bound(widget)
        del widget.__dict__["_asked_for"]
        return None if asked else value

    def _check(self, _widget: Any, value: Any) -> Any:
        return value

    def _check_sizes(self, widget: Any, value: Any) -> Any:
        known: dict[str, tuple[int, str]] = {}
        for name, trait in widget.traits().items():
            if isinstance(trait, Trait) and trait is not self and widget.trait_has_value(name):
                for _, axis, size in trait.sizes(widget, getattr(widget, name)):
                    known[axis] = size, f", as in {trait.called}"
        for label, axis, size in self.sizes(widget, value):
            same = (int(axis), "") if axis.isdigit() else known.setdefault(axis, (size, ""))
            if size != same[0]:
                raise ValueError(
                    f"{self.called} has the size {size} along {label}; expected {same[0]}{same[1]};"
                    " give as many entries"
                )
        return value


INK_LEVELS = 255


class Data(Trait):
    """Data that the widget computes for its page, in JSON; no argument of the constructor."""

    argument = None

    def __init__(self, default: Any = traitlets.Undefined) -> None:
        super().__init__(default=default, read_only=True)


class Switch(Trait):
    """True or False."""

    def limits(self, widget: Any) -> dict[str, Any]:  # noqa: ARG002 - as of any trait
        """One of the two."""
        return {"kind": "switch"}

    def _check(self, _widget: Any, value: Any) -> bool:
        if not isinstance(value, bool):
            raise TypeError(f"{self.called} must be True or False, but was given {brief(value)}")
        return value


class Number(Trait):
    """A real number in ``[low, high]``, kept as a float."""

    def __init__(self, low: float | int, high: float | int, **options: Any) -> None:
        super().__init__(**options)
        self.low, self.high = low, high

    def limits(self, widget: Any) -> dict[str, Any]:  # noqa: ARG002 - as of any trait
        """The two ends."""
        return {"kind": "number", "low": self.low, "high": self.high}

    def _check(self, _widget: Any, value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, Real):
            raise TypeError(f"{self.called} must be a number, but was given {brief(value)}")
        if not self.low <= value <= self.high:
            raise ValueError(
                f"{self.called} must lie between {self.low} and {self.high}, but was given {value}"
            )
        return float(value)


class Integer(Trait):
    """An integer in ``[low, high]``, where ``high`` may be a function of the widget.

    A read-only one is also the size of the axis of its name.
    """

    why = ""

    def __init__(self, low: int, high: int | Callable[[Any], int], **options: Any) -> None:
        super().__init__(**options)
        self.low, self.high = low, high

    def settle(self, widget: Any, value: int) -> int:
        """The nearest integer in the range."""
        return min(value, self._last(widget))

    def sizes(self, _widget: Any, value: int) -> list[tuple[str, str, int]]:
        """Its value, if it is read-only."""
        return [(self.called, self.called, value)] if self.read_only else []

    def limits(self, widget: Any) -> dict[str, Any]:
        """The two ends; the upper one only if the reader cannot change it."""
        high = self._unless_it_moves(widget, self.high)
        return {"kind": "integer", "low": self.low, "high": high}

    def _last(self, widget: Any) -> int:
        return self.high(widget) if callable(self.high) else self.high

    def _check(self, widget: Any, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, Integral):
            raise TypeError(f"{self.called} must be an integer, but was given {brief(value)}")
        last = self._last(widget)
        if not self.low <= value <= last:
            why = self.why.format(last + 1)
            raise ValueError(
                f"{self.called} must lie between {self.low} and {last}{why}, but was given {value}"
            )
        return int(value)


class Index(Integer):
    """The index of one of ``of(widget)`` things.

    ``unset`` also allows -1, for none. An index out of range becomes -1 if allowed, else the last.
    """

    why = ", since it counts from 0 and their number is {}"

    def __init__(self, *, of: Callable[[Any], int], unset: bool = False, **options: Any) -> None:
        first = -1 if unset else 0
        super().__init__(first, lambda widget: of(widget) - 1, **{"default": first} | options)

    def settle(self, widget: Any, value: int) -> int:
        """The index, if it is still in range."""
        last = self._last(widget)
        return value if value <= last else min(self.low, 0) or last


class Choice(Trait):
    """One of ``options``, or of those that the widget has ``offered``.

    ``needs`` says, for an option that may be missing, what the constructor needs to offer it.
    """

    def __init__(
        self,
        *options: Any,
        offered: Callable[[Any], Iterable[Any]] | None = None,
        needs: dict[str, str] | None = None,
        **traits: Any,
    ) -> None:
        super().__init__(**traits)
        self.options, self.offered, self.needs = options, offered, needs or {}

    def limits(self, widget: Any) -> dict[str, Any]:
        """What there is to choose from."""
        offered = self.offered(widget) if self.offered else self.options
        return {"kind": "choice", "options": list(offered)}

    def _check(self, widget: Any, value: Any) -> Any:
        offered = tuple(self.offered(widget)) if self.offered else self.options
        # True equals 1, but is not a number here.
        if not isinstance(value, bool) and any(
            isinstance(value, type(option)) and value == option for option in offered
        ):
            return value
        if isinstance(value, str) and value in self.needs:
            needed = self.needs[value]
            raise ValueError(
                f"{self.called} {value!r} needs {needed}; pass {needed} when the widget is made"
            )
        listed = ", ".join(map(str, self.options or offered)) or "none, for none is offered"
        raise ValueError(f"{self.called} must be one of {listed}, but was given {brief(value)}")


class Text(Trait):
    """A string of ``shortest`` to ``longest`` characters, of an ``alphabet`` if there is one.

    Capitals, accents and hyphens that the alphabet lacks are replaced by :func:`folded`.
    ``alphabet`` and ``longest`` may be functions of the widget; a text that has become too long
    becomes empty. No character of a ``distinct`` text occurs twice.
    """

    def __init__(
        self,
        *,
        alphabet: Callable[[Any], str] | None = None,
        shortest: int = 0,
        longest: float | int | Callable[[Any], int] = LONGEST_NAME,
        distinct: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self.alphabet, self.shortest, self.longest = alphabet, shortest, longest
        self.distinct = distinct

    def settle(self, widget: Any, value: str) -> str:
        """The text, or an empty one if it has become too long."""
        return value if len(value) <= self._room(widget) else ""

    def limits(self, widget: Any) -> dict[str, Any]:
        """Its least and largest length, and its alphabet."""
        return {
            "kind": "text",
            "low": self.shortest,
            "high": self._unless_it_moves(widget, self.longest),
            "alphabet": self.alphabet(widget) if self.alphabet else None,
        }

    def _room(self, widget: Any) -> float | int:
        return self.longest(widget) if callable(self.longest) else self.longest

    def _check(self, widget: Any, value: Any) -> str:
        if not isinstance(value, str):
            joined = "; join a list of letters with ''.join(letters)" if self.distinct else ""
            raise TypeError(f"{self.called} is {brief(value)}; expected a string{joined}")
        if any("\ud800" <= letter <= "\udfff" for letter in value):
            raise ValueError(
                f"{self.called} {brief(value)} holds half of a surrogate pair; expected text that "
                "UTF-8 can hold; decode it again with errors='replace'"
            )
        if self.alphabet:
            value = folded(value, self.alphabet(widget))
        if len(value) < self.shortest:
            raise ValueError(f"{self.called} is empty; expected one letter at least")
        given = f"{self.called} {brief(value)}"
        if len(value) > (room := self._room(widget)):
            raise ValueError(
                f"{given} has {len(value)} letters; expected {room} at most, for which there is "
                "room; shorten it"
            )
        letters = list(dict.fromkeys(value))
        if self.alphabet and (strange := set(value) - set(alphabet := self.alphabet(widget))):
            raise ValueError(
                f"{given} holds {', '.join(repr(x) for x in letters if x in strange)}, which the "
                f"alphabet {alphabet!r} does not have; write it with letters of the alphabet"
            )
        if self.distinct and len(letters) < len(value):
            repeated = ", ".join(repr(letter) for letter in letters if value.count(letter) > 1)
            raise ValueError(
                f"{self.called} repeats {repeated}; expected distinct characters, since the place "
                "of a letter is its id"
            )
        return value


def named(argument: str, table: Mapping[str, Any] | None) -> dict[str, Any]:
    """A dict whose keys are names that a picture can show; an empty one for ``None``."""
    if table is not None and not isinstance(table, Mapping):
        raise TypeError(
            f"{argument} is a {type(table).__name__}; expected a dict; give each a name, as in "
            f"{argument}={{'mine': ...}}"
        )
    name = Text(shortest=1, called=argument)
    return {name.validate(None, title): item for title, item in (table or {}).items()}


class Several(Trait):
    """A list of ``least`` to ``most`` values of the trait ``each``, one for each entry of ``axis``.

    With ``optional``, ``None`` is an empty list. Values that are no longer valid are removed.
    """

    def __init__(
        self,
        each: Trait,
        axis: str = "",
        *,
        least: int = 0,
        most: float | int = math.inf,
        distinct: bool = False,
        optional: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(**({"default": lambda _: None} if optional else {}) | options)
        self.each, self.axis, self.least, self.most = each, axis, least, most
        self.distinct, self.optional = distinct, optional

    def class_init(self, cls: type[traitlets.HasTraits], name: str | None) -> None:
        """As for any trait; errors of a single value name the list."""
        super().class_init(cls, name)
        self.each.called = self.called

    def settle(self, widget: Any, value: list[Any]) -> list[Any]:
        """The values that are still valid."""
        kept = [one for one in value if self.each.settle(widget, one) == one]
        return value if kept == value else kept

    def limits(self, widget: Any) -> dict[str, Any]:
        """How many there may be, and what each may be."""
        high = None if self.most == math.inf else self.most
        each = self.each.limits(widget)
        return {"kind": "several", "low": self.least, "high": high, "each": each}

    def sizes(self, _widget: Any, value: list[Any]) -> list[tuple[str, str, int]]:
        """How many there are."""
        return [(self.axis, self.axis, len(value))] if self.axis and value else []

    def _check(self, widget: Any, value: Any) -> list[Any]:
        if value is None and self.optional:
            return []
        if isinstance(value, str) or not isinstance(value, Iterable):
            kind = "strings" if isinstance(self.each, Text | Choice) else "integers"
            raise TypeError(f"{self.called} must be a list of {kind}, but was given {brief(value)}")
        values = [self.each.validate(widget, one) for one in value]
        if not values and self.least:
            raise ValueError(f"{self.called} is empty; give {self.least} at least")
        if not self.least <= len(values) <= self.most:
            raise ValueError(
                f"{self.called} has {len(values)} entries; expected {self.least} to {self.most}, "
                "which can be told apart; give more or fewer"
            )
        if self.distinct and len(set(values)) < len(values):
            raise ValueError(f"{self.called} repeats an entry in {brief(values)}; rename one")
        return self._check_sizes(widget, values)


class Array(Trait):
    """A float32 array. It travels as its shape and the base64 of its little-endian bytes.

    ``axes`` are the names of its axes, or a function of the widget that returns them. Axes of the
    same name have the same size in all traits of a widget; ``"key=tokens"`` is labelled key and has
    the size of tokens, ``"xy=2"`` has the size 2. Numbers lie ``within`` ±w, or between two ends.
    ``most`` maps an axis to its largest size, and ``"height width"`` to the largest product of two.
    With ``optional``, ``None`` is an array without entries.
    """

    def __init__(
        self,
        *axes: str | Callable[[Any], tuple[str, ...]],
        within: float | int | tuple[int, int] = math.inf,
        most: dict[str, int] | None = None,
        optional: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(**({"default": lambda _: None} if optional else {}) | options)
        self.axes, self.most, self.optional = axes, most or {}, optional
        self.low, self.high = within if isinstance(within, tuple) else (-within, within)
        self.tag(to_json=self._encode, from_json=self._received)

    def sizes(self, widget: Any, value: NDArray[np.float32]) -> list[tuple[str, str, int]]:
        """The size along each axis."""
        named = (axis.partition("=") for axis in self._axes(widget))
        shape = value.shape if value.size else ()
        return [
            (label, axis or label, n) for (label, _, axis), n in zip(named, shape, strict=False)
        ]

    def limits(self, widget: Any) -> dict[str, Any]:
        """The ends of its numbers; for each axis its size, if it is fixed, and its largest size."""
        still = {
            axis
            for trait in widget.traits().values()
            if isinstance(trait, Trait) and trait.read_only
            for _, axis, _ in trait.sizes(widget, getattr(widget, trait.name))
        }
        moves = self._unless_it_moves(widget, self._axes) is None
        labels = [axis.partition("=")[0] for axis in self._axes(widget)]
        return {
            "kind": "array",
            "low": None if self.low == -math.inf else self.low,
            "high": None if self.high == math.inf else self.high,
            "sizes": [
                size if not moves and (axis.isdigit() or axis in still) else None
                for _, axis, size in self.sizes(widget, getattr(widget, self.name))
            ],
            "most": [self.most.get(label) for label in labels],
        }

    def _axes(self, widget: Any) -> tuple[str, ...]:
        return self.axes[0](widget) if callable(self.axes[0]) else self.axes

    def _check(self, widget: Any, value: Any) -> NDArray[np.float32]:
        axes = self._axes(widget)
        none = np.zeros((0,) * len(axes), dtype=np.float32)
        # traitlets validates a held-back value again, in the form that validation returned.
        kept = isinstance(value, np.ndarray) and value.shape == none.shape
        if self.optional and (value is None or kept):
            return none
        labels = tuple(axis.partition("=")[0] for axis in axes)
        array = finite_array(self.called, value, labels)
        sizes = dict(zip(labels, array.shape, strict=True))
        for names, most in self.most.items():
            if (size := math.prod(sizes[name] for name in names.split())) > most:
                raise ValueError(
                    f"{self.called} has the size {size} along {names.replace(' ', ' times ')}; "
                    f"expected {most} at most, which can be told apart in the picture; show a part"
                )
        low, high = float(array.min()), float(array.max())
        if not self.low <= low <= high <= self.high:
            raise ValueError(
                f"{self.called} must lie within [{self.low:g}, {self.high:g}], but reaches from "
                f"{low:g} to {high:g}; rescale it"
            )
        return self._check_sizes(widget, array)

    def _received(self, encoded: Any, _widget: Any) -> NDArray[np.float32]:
        try:
            return self._decode(encoded, None)
        except (KeyError, TypeError, ValueError):
            raise WrongValueError(
                f"{self.called} came from the page as {brief(encoded)}; expected its shape and "
                "the base64 of its numbers"
            ) from None

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


class Ink(Array):
    """Grey values in [0, 1], such as pixels. Each travels as a byte, in steps of 1/255."""

    def __init__(self, *axes: str, **options: Any) -> None:
        super().__init__(*axes, within=(0, 1), **options)

    @staticmethod
    def _encode(value: NDArray[np.float32], _widget: Any) -> dict[str, Any]:
        levels = np.rint(INK_LEVELS * value).astype(np.uint8)
        text = base64.b64encode(levels.tobytes()).decode("ascii")
        return {"shape": list(value.shape), "base64": text, "levels": INK_LEVELS}

    @staticmethod
    def _decode(encoded: dict[str, Any], _widget: Any) -> NDArray[np.float32]:
        levels = np.frombuffer(base64.b64decode(encoded["base64"]), dtype=np.uint8)
        return (levels.reshape(encoded["shape"]) / encoded["levels"]).astype(np.float32)
