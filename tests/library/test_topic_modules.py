"""The topic modules need only a GPU machine with PyTorch, no notebook or plotting libraries."""

import subprocess
import sys
from pathlib import Path

import pytest

import course_lib

PROGRAM = """
import importlib.abc, sys
class Refuse(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.split(".")[0] in {"beartype", "hypothesis", "IPython", "anywidget", "ipywidgets",
                                  "matplotlib", "tqdm", "triton", "scipy", "sklearn",
                                  "torchdiffeq"}:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Refuse())
"""
# The packages of the lectures. All other modules must not import their libraries.
MORE = {"exercises", "kernels", "widgets", "figures.py"}
LIBRARY = Path(course_lib.__file__).parent
TOPICS = [
    ".".join(("course_lib", *path.relative_to(LIBRARY).with_suffix("").parts))
    for path in LIBRARY.rglob("*.py")
    if not MORE & {*path.relative_to(LIBRARY).parts}
]


@pytest.mark.slow
def test_topic_modules_need_torch_einops_and_jaxtyping_alone() -> None:
    imports = "\n".join(f"import {topic}" for topic in TOPICS)
    assert "import course_lib.attention\n" in imports
    subprocess.run([sys.executable, "-c", PROGRAM + imports], check=True, timeout=500)
