"""Every kind of widget, found by itself: a small one of it, and what it displays.

A module here has the name of the widget's own. Its ``make()`` gives a small widget, and takes a
name to show if the widget shows names; its ``displayed(widget)`` reads the widget's state from the
page, computes with course_lib what follows from it, and compares that with what stands in the page.
"""

import importlib
import inspect
from pathlib import Path
from types import ModuleType

from course_lib import widgets


def _module_of(kind: str) -> ModuleType:
    name = Path(getattr(widgets, kind)._module).stem
    return importlib.import_module(f"kinds.{name}")


WIDGETS = {kind: _module_of(kind) for kind in widgets.__all__ if kind != "Widget"}
TAKE_TEXT = [kind for kind, tests in WIDGETS.items() if inspect.signature(tests.make).parameters]
