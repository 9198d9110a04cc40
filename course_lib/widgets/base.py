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

from typing import Any, ClassVar

import anywidget
import ipywidgets
import traitlets

from course_lib.widgets import page
from course_lib.widgets.modules import module_source, stylesheet


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
        return page.static_html(
            type(self).__name__, self._module, self.describe(), self.page_state()
        )

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        live = super()._repr_mimebundle_(**kwargs)
        data, metadata = live if isinstance(live, tuple) else (live, {})
        static = {"text/plain": self.describe(), "text/html": self.static_html()}
        return {**data, **static}, metadata
