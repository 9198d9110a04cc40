"""The topic modules work on a bare machine: a GPU and PyTorch, no notebook and no plots."""

import pkgutil
import subprocess
import sys

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
# What the lectures need besides the topics. Any other module has to do without its libraries.
MORE = {"checker", "data", "exercises", "figures", "kernels", "widgets"}
TOPICS = [
    found.name for found in pkgutil.iter_modules(course_lib.__path__) if found.name not in MORE
]


@pytest.mark.slow
def test_topic_modules_need_torch_einops_and_jaxtyping_alone() -> None:
    imports = "\n".join(f"import course_lib.{topic}" for topic in TOPICS)
    assert "import course_lib.attention\n" in imports
    subprocess.run([sys.executable, "-c", PROGRAM + imports], check=True, timeout=500)
