from pathlib import Path

import pytest
from depends_on import fingerprint

ROOT = Path(__file__).resolve().parents[2]

LIBRARY = {
    "requirements.txt": "torch==1\n",
    "constraints.txt": "numpy==1\n",
    "course_lib/data/benchmarks/gpu.json": "1",
    "course_lib/__init__.py": '"""A library."""\n\n__version__ = "1"\n',
    "course_lib/attention.py": (
        '"""Attention."""\n\nfrom course_lib.checks import checked\n\n\n'
        'def weights(x):\n    """Weigh."""\n    # softly\n    return checked(x)\n\n\n'
        "def fast(x):\n    from course_lib.kernels import flash\n\n    return flash(x)\n"
    ),
    "course_lib/checks.py": "def checked(x):\n    return x\n",
    "course_lib/kernels/__init__.py": "import os\n\nSLOW = os.name\nfrom .flash import flash\n",
    "course_lib/kernels/flash.py": "def flash(x):\n    return x\n",
    "course_lib/position.py": "def sinusoidal(x):\n    return x\n",
    "course_lib/relative.py": "from . import checks\nfrom .position import sinusoidal\n",
    "course_lib/by_name.py": 'import importlib\nimportlib.import_module("course_lib.checks")\n',
    "course_lib/places.py": 'def places(folder):\n    return folder / "places.txt"\n',
    "course_lib/data/places.txt": "Oslo",
    "course_lib/data/other.txt": "none",
    "course_lib/widgets/__init__.py": (ROOT / "course_lib/widgets/__init__.py").read_text(),
    "course_lib/widgets/kit/base.py": "class Widget:\n    pass\n",
    "course_lib/widgets/hard/hard.py": (
        "from course_lib.widgets.kit.base import Widget\nclass Hard(Widget):\n    pass\n"
    ),
    "course_lib/widgets/soft/soft.py": (
        "from course_lib.widgets.kit.base import Widget\nclass Soft(Widget):\n    pass\n"
    ),
    "course_lib/widgets/soft/soft.js": "export default 1;",
    "course_lib/widgets/kit/widgets.css": ".cw {}",
    "course_lib/exercises/__init__.py": (
        "from importlib import import_module\nfrom pkgutil import iter_modules\n\n"
        "from course_lib.checks import checked as check\n\n"
        "for found in iter_modules(__path__):\n    import_module(found.name)\n"
    ),
    "course_lib/exercises/encoder.py": "layer_norm = 1\n",
    "course_lib/exercises/decoder.py": "top_p = 1\n",
}
CHECKED = "from course_lib.exercises import check\ncheck.top_p(1)"


@pytest.fixture
def library(tmp_path):
    for name, text in LIBRARY.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


ATTENTION = "from course_lib import attention"
SOURCE = f"{ATTENTION}\nimport inspect\ninspect.getsource(f)"
LATER = ("", "\nchanged = 1\n")
# A cell, a file of the library, and a replacement in that file.
OUTPUTS_FOLLOW = [
    ("from course_lib.attention import weights", "course_lib/attention.py", LATER),
    ("def f():\n    from course_lib import attention", "course_lib/attention.py", LATER),
    (f"%time 1\n{ATTENTION}", "course_lib/attention.py", LATER),
    (ATTENTION, "course_lib/__init__.py", LATER),
    (ATTENTION, "course_lib/checks.py", LATER),
    (ATTENTION, "course_lib/checks.py", ("return x", 'return "x"')),
    (ATTENTION, "course_lib/kernels/flash.py", LATER),
    (ATTENTION, "course_lib/attention.py", ("def weights(x)", "def (")),
    (SOURCE, "course_lib/attention.py", ("Weigh.", "Weigh!")),
    ("from course_lib import relative", "course_lib/position.py", LATER),
    ("from course_lib import by_name", "course_lib/checks.py", LATER),
    ("from course_lib.widgets import Soft", "course_lib/widgets/kit/base.py", LATER),
    ("from course_lib import widgets\nwidgets.Soft()", "course_lib/widgets/soft/soft.py", LATER),
    ("from course_lib.widgets import *", "course_lib/widgets/hard/hard.py", LATER),
    (CHECKED, "course_lib/exercises/decoder.py", LATER),
    ("from course_lib import places", "course_lib/data/places.txt", LATER),
    ("(root / 'data' / 'benchmarks').glob('*.json')", "course_lib/data/benchmarks/new.json", LATER),
    ("1 + 1", "requirements.txt", LATER),
    ("this is no Python", "course_lib/position.py", LATER),
]
OUTPUTS_STAY = [
    (ATTENTION, "course_lib/position.py", LATER),
    (ATTENTION, "course_lib/attention.py", ("Weigh.", "Weigh!")),
    (ATTENTION, "course_lib/attention.py", ("# softly", "# hard")),
    ("from course_lib import places", "course_lib/data/other.txt", LATER),
    ("from course_lib.widgets import Soft", "course_lib/widgets/hard/hard.py", LATER),
    ("from course_lib.widgets import Soft", "course_lib/widgets/soft/soft.js", LATER),
    ("from course_lib.widgets import Soft", "course_lib/widgets/newest/newest.py", LATER),
    (CHECKED, "course_lib/exercises/encoder.py", LATER),
]


def test_outputs_depend_on_what_their_notebook_imports_or_reads_and_on_nothing_else(library):
    for holds, table in ((False, OUTPUTS_FOLLOW), (True, OUTPUTS_STAY)):
        for cell, name, (old, new) in table:
            before, text = fingerprint(library, [cell]), LIBRARY.get(name, "")
            changed = text.replace(old, new) if old else text + new
            (library / name).parent.mkdir(exist_ok=True)
            (library / name).write_text(changed, encoding="utf-8")
            assert (fingerprint(library, [cell]) == before) == holds, (cell, name)
            (library / name).write_text(text, encoding="utf-8")
