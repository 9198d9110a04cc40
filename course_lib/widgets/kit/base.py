"""One JavaScript module, two hosts: a Jupyter kernel, or a page that has none.

In Jupyter a widget is an ordinary ``anywidget``, whose traits are synchronised with the kernel. A
static page has no kernel, so the widget also writes itself as ``text/html``: its state as data, its
module and style as deflated text, and a model object that keeps the state in the page. The page
sends no request. It works over http, from ``file://``, in ``nbconvert`` and in slides.

To write a widget, subclass :class:`Widget` beside its JavaScript module, declare its traits with
the types of ``traits.py``, hand their values to ``super().__init__``, and say in
:meth:`Widget.describe` what the picture shows. The module exports its mathematics as pure functions
and, by default, ``{ render({ model, el }) }``.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Any, ClassVar

import anywidget
import ipywidgets
import traitlets

from course_lib.widgets.kit import page
from course_lib.widgets.kit.modules import module_source, stylesheet
from course_lib.widgets.kit.traits import Switch, Trait, WrongValueError


def _signature(arguments: Iterable[inspect.Parameter | None]) -> inspect.Signature:
    return inspect.Signature(sorted(filter(None, arguments), key=lambda argument: argument.kind))


class _Constructor:
    """The signature of a widget's constructor, as help shows it: its own arguments and its traits.

    The arguments that a subclass names in its own constructor come first; it passes on the rest.
    """

    def __get__(self, _widget: object, kind: type[Widget]) -> inspect.Signature:
        passed = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        own = list(inspect.signature(kind.__init__).parameters.values())[1:]
        own = {argument.name: argument for argument in own if argument.kind not in passed}
        written = bool(own)
        for trait in kind._declared().values():
            if (a := trait.argument) and a.name not in own:
                own[a.name] = a.replace(kind=a.KEYWORD_ONLY) if written else a
        return _signature(own.values())


class Widget(anywidget.AnyWidget):
    """A widget of this course: an ``anywidget`` that is also alive without a kernel.

    Its JavaScript file stands beside it under the same name. A style sheet of that name, if there
    is one, is added to ``widgets.css``. The constructor takes the traits as arguments. A value that
    cannot be drawn raises ``TypeError`` or ``ValueError`` in the constructor, on assignment and in
    a message of the page.
    """

    _module: ClassVar[str]  # its JavaScript file, from course_lib/widgets
    __signature__ = _Constructor()

    # The name by which links of the notebook find the figure, and the limits of what they may set.
    _figure = traitlets.Dict().tag(sync=True)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        for name, attribute in vars(cls).items():
            if isinstance(attribute, traitlets.TraitType) and hasattr(anywidget.AnyWidget, name):
                raise TypeError(f"{cls.__name__}: ipywidgets needs {name!r}; rename the trait")
        super().__init_subclass__(**kwargs)
        *_, folder, file = ["", *cls.__module__.split(".")]
        if folder == file:
            cls._module = f"{folder}/{file}.js"

    def __init__(self, *by_place: Any, **given: Any) -> None:
        arguments = _signature(trait.argument for trait in self._declared().values())
        inherited = ipywidgets.DOMWidget.class_traits().keys() - arguments.parameters
        dom = {name: given.pop(name) for name in inherited & given.keys()}
        try:
            values = arguments.bind(*by_place, **given).arguments
        except TypeError as error:
            kind = type(self).__name__
            raise TypeError(f"{error}; expected {kind}{self.__signature__}") from None
        for name, trait in self._declared().items():
            if trait.called in values and not (values[trait.called] is None and trait.dynamic):
                self.set_trait(name, values[trait.called])
        self._esm, self._css = module_source(self._module), stylesheet(self._module)
        super().__init__(**dom)

    def set_state(self, sync_data: dict[str, Any]) -> None:
        """Take all that the page sends, or nothing; then tell the page why.

        The page gets the valid state, then the custom message ``{"refused": why}``.
        """
        try:
            for name, trait in self._declared().items():
                if name in sync_data and trait.read_only:
                    raise WrongValueError(
                        f"{name} came from the page, which cannot change it; make another widget"
                    )
            super().set_state(self._in_order(sync_data))
        except (TypeError, ValueError, traitlets.TraitError) as error:
            self.send_state([name for name in sync_data if name in self.keys])
            self.send({"refused": str(error)})
            raise

    def describe(self) -> str:
        """What the picture shows, in words, for a page without scripts and for printing."""
        raise TypeError(f"{type(self).__name__} must say in describe() what it shows")

    def page_state(self) -> dict[str, Any]:
        """The traits that the subclass declared, as they travel to JavaScript."""
        inherited = ipywidgets.DOMWidget.class_trait_names(sync=True)
        names = [name for name in self.trait_names(sync=True) if name not in inherited]
        return self.get_state([name for name in names if not name.startswith("_")])

    def limits(self) -> dict[str, Any]:
        """The limits that the page checks for each trait that an address may set."""
        declared = self._declared().items()
        found = {name: trait.limits(self) for name, trait in declared if not trait.read_only}
        return {name: limits for name, limits in found.items() if limits}

    @classmethod
    def _declared(cls) -> dict[str, Trait]:
        """The traits of the course's own types, in the order of their declaration."""
        items = (item for base in reversed(cls.__mro__) for item in vars(base).items())
        declared = [(name, trait) for name, trait in items if isinstance(trait, Trait)]
        # `moving`, which most widgets share, comes after the arguments of this one.
        return dict(sorted(declared, key=lambda item: item[0] == "moving"))

    def _in_order(self, values: dict[str, Any]) -> dict[str, Any]:
        """The values in the order of declaration, since a trait may depend on earlier ones."""
        return {name: values[name] for name in [*self._declared(), *values] if name in values}

    @traitlets.observe(traitlets.All)
    def _settle(self, change: dict[str, Any]) -> None:
        """Adjust the traits that depend on one that has changed."""
        declared = self._declared()
        if change["name"] not in declared:
            return
        for name, trait in declared.items():
            if name != change["name"] and not trait.read_only and self.trait_has_value(name):
                value = getattr(self, name)
                if (settled := trait.settle(self, value)) is not value:
                    setattr(self, name, settled)

    def static_html(self) -> str:
        """The widget as a piece of any web page: needs no kernel, no network and no other file."""
        return page.static_html(
            type(self).__name__, self._module, self.describe(), self.page_state(), self.limits()
        )

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        self._figure = {"name": page.figure_id(self._module), "limits": self.limits()}
        live = super()._repr_mimebundle_(**kwargs)
        data, metadata = live if isinstance(live, tuple) else (live, {})
        static = {"text/plain": self.describe(), "text/html": self.static_html()}
        return {**data, **static}, metadata


class MovingWidget(Widget):
    """A widget that begins to move once the reader sees it, if ``moving``.

    It stands still for readers who asked for less motion. Its module says in ``atSight`` how.
    """

    moving = Switch(default=True, read_only=True)
