"""One JavaScript module, two hosts: a Jupyter kernel, or a page that has none.

In Jupyter a widget is an ordinary ``anywidget``: its traits travel over the kernel's comm, both
ways. On a static page there is no kernel, so the widget also writes itself as ``text/html``: its
state as data, its module and style as deflated text, and a model object that keeps the state in the
page. The page asks nobody for anything. It works over http, from ``file://``, in ``nbconvert`` and
in slides.

To write a widget, subclass :class:`Widget`, name its module, declare its traits, and say in
:meth:`Widget.describe` what the picture shows. The module exports its mathematics as pure
functions and, by default, ``{ render({ model, el }) }``.
"""

from __future__ import annotations

import base64
import functools
import html
import json
import re
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar

import anywidget
import ipywidgets
import numpy as np
import traitlets
from numpy.typing import ArrayLike, NDArray

HERE = Path(__file__).parent
IMPORT = re.compile(r'^import \{[^}]*\} from "\./((?:js/)?\w+\.js)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?!default)", re.MULTILINE)
# A page carries the module once for each widget; comments and indentation stay in the repository.
UNREAD = re.compile(r"^[ ]*(?:/\*\*.*?\*/\n|//[^\n]*\n)|^[ ]+", re.MULTILINE | re.DOTALL)


@functools.cache
def module_source(name: str) -> str:
    """The widget module ``name`` with the helpers that it imports written into it.

    A browser cannot resolve ``import "./js/dom.js"`` in a module that came as text, so each helper
    stands once, before its first use. Names are unique over all helpers; a browser refuses the
    module otherwise.
    """
    written: list[Path] = []

    def inline(path: Path) -> str:
        text = path.read_text(encoding="utf-8")
        helpers = []
        for match in IMPORT.finditer(text):
            helper = (path.parent / match[1]).resolve()
            if helper not in written:
                written.append(helper)
                helpers.append(EXPORT.sub("", inline(helper)))
        return "".join([*helpers, IMPORT.sub("", text)])

    return UNREAD.sub("", inline((HERE / name).resolve()))


@functools.cache
def stylesheet(module: str) -> str:
    """What all widgets share, in the light or dark theme of their host, and what one adds to it."""
    own = (HERE / module).with_suffix(".css")
    sheets = [HERE / "widgets.css", *([own] if own.is_file() else [])]
    return "".join(UNREAD.sub("", sheet.read_text(encoding="utf-8")) for sheet in sheets)


@functools.cache
def packed_code(module: str) -> str:
    """The module and its style for a page, which carries both once for each widget: deflated."""
    code = json.dumps({"module": module_source(module), "css": stylesheet(module)})
    return base64.b64encode(zlib.compress(code.encode(), level=9)).decode("ascii")


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


class Widget(anywidget.AnyWidget):
    """A widget of this course: an ``anywidget`` that is also alive without a kernel.

    A subclass sets ``_module``, the name of its JavaScript file beside this one. A style sheet of
    the same name, if there is one, is added to ``widgets.css``.
    """

    _module: ClassVar[str]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        for name, attribute in vars(cls).items():
            if isinstance(attribute, traitlets.TraitType) and hasattr(anywidget.AnyWidget, name):
                raise TypeError(f"{cls.__name__}: ipywidgets needs {name!r}; rename the trait")
        # anywidget derives a class of its own from each instance's class; that one has no module.
        if "_module" in vars(cls):
            cls._esm = module_source(cls._module)
            cls._css = stylesheet(cls._module)
        super().__init_subclass__(**kwargs)

    def describe(self) -> str:
        """What the picture shows, in words: for a page without scripts, and for printing."""
        raise TypeError(f"{type(self).__name__} must say in describe() what it shows")

    def page_state(self) -> dict[str, Any]:
        """The traits that the subclass declared, as they travel to JavaScript."""
        inherited = ipywidgets.DOMWidget.class_trait_names(sync=True)
        names = [name for name in self.trait_names(sync=True) if name not in inherited]
        return self.get_state([name for name in names if not name.startswith("_")])

    def static_html(self) -> str:
        """The widget as a piece of any web page: needs no kernel, no network and no other file."""
        payload = {"code": packed_code(self._module), "state": self.page_state()}
        # Within <script> only "<" can begin markup; JSON lets it be written as an escape.
        data = json.dumps(payload, ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")
        host = module_source("js/host.js")
        return (
            f'<div class="cw-host" data-widget="{type(self).__name__}">'
            f"<p>{html.escape(self.describe())}</p></div>"
            f'<script type="application/json">{data}</script>'
            f"<script>{host}</script>"
        )

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        live = super()._repr_mimebundle_(**kwargs)
        data, metadata = live if isinstance(live, tuple) else (live, {})
        static = {"text/plain": self.describe(), "text/html": self.static_html()}
        return {**data, **static}, metadata
