"""Live figures of the course: each is alive in JupyterLab and on a page without a kernel.

A figure has a folder here, with its class, its JavaScript and its style. It is exported by being
there, and imported when it is asked for. ``kit`` has what all figures share, ``maths`` the
mathematics of pages.
"""

import re
from importlib import import_module
from pathlib import Path

CLASS = re.compile(r"^class (\w+)\(\w*Widget\):", re.MULTILINE)
MODULES = {"Widget": "kit.base"} | {
    found[1]: f"{path.parent.name}.{path.stem}"
    for path in sorted(Path(__file__).parent.glob("*/*.py"))
    if path.parent.name != "kit" and (found := CLASS.search(path.read_text(encoding="utf-8")))
}
__all__ = sorted(MODULES)  # noqa: PLE0605 - found, not listed


def __getattr__(name: str) -> type:
    if name not in MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{MODULES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
