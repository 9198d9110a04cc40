"""The checkers of the exercises: ``from course_lib.exercises import check``, ``check.softmax(fn)``.

An attempt gets a result that is true or false and shows the smallest counterexample and a hint.
Each lecture has a module of its own here, and being here adds its checkers to ``check``. How to
add one: see :mod:`course_lib.exercises._checker`.
"""

from importlib import import_module
from pkgutil import iter_modules

from course_lib.exercises._checker import check

__all__ = ["check"]

for found in iter_modules(__path__, f"{__name__}."):
    import_module(found.name)
