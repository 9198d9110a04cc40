"""A judge for each kind of widget.

A module here has the name of the widget's own. Its script ``READ`` reads the page, and
``displayed(state, page)`` compares that with what course_lib computes from the widget's state.
"""

import importlib
from pathlib import Path
from types import ModuleType

from course_lib import widgets


def _module_of(kind: str) -> ModuleType:
    name = Path(getattr(widgets, kind)._module).stem
    return importlib.import_module(f"judges.{name}")


WIDGETS = {kind: _module_of(kind) for kind in widgets.__all__ if kind != "Widget"}
