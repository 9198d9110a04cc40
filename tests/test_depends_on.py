import pytest
from depends_on import fingerprint

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
    "course_lib/widgets/__init__.py": (
        '"""All widgets."""\n\nfrom course_lib.widgets.hard import Hard\n'
        "from course_lib.widgets.soft import Soft\n\n"
        '__all__ = ["Hard", "Soft"]\n'
    ),
    "course_lib/widgets/base.py": "class Widget:\n    pass\n",
    "course_lib/widgets/hard.py": "from course_lib.widgets.base import Widget\nHard = Widget\n",
    "course_lib/widgets/soft.py": "from course_lib.widgets.base import Widget\nSoft = Widget\n",
    "course_lib/widgets/soft.js": "export default 1;",
    "course_lib/widgets/widgets.css": ".cw {}",
    "course_lib/exercises/__init__.py": (
        "from course_lib.checks import checked as check\n"
        "from course_lib.exercises import decoder, encoder\n"
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


def holds_after(library, cells, name, text):
    """Whether the outputs of a notebook with these cells still hold if one file reads ``text``."""
    before = fingerprint(library, cells)
    (library / name).write_text(text, encoding="utf-8")
    return fingerprint(library, cells) == before


OUTPUTS_FOLLOW = [
    ("from course_lib.attention import weights", "course_lib/attention.py"),
    ("def f():\n    from course_lib import attention", "course_lib/attention.py"),
    ("%time 1\nfrom course_lib import attention", "course_lib/attention.py"),
    ("from course_lib import attention", "course_lib/__init__.py"),
    ("from course_lib import attention", "course_lib/checks.py"),
    ("from course_lib import attention", "course_lib/kernels/flash.py"),
    ("from course_lib import relative", "course_lib/position.py"),
    ("from course_lib import by_name", "course_lib/checks.py"),
    ("from course_lib.widgets import Soft", "course_lib/widgets/base.py"),
    ("from course_lib import widgets\nwidgets.Soft()", "course_lib/widgets/soft.py"),
    ("from course_lib.widgets import *", "course_lib/widgets/hard.py"),
    (CHECKED, "course_lib/exercises/decoder.py"),
    ("from course_lib import places", "course_lib/data/places.txt"),
    ("(root / 'data' / 'benchmarks').glob('*.json')", "course_lib/data/benchmarks/new.json"),
    ("1 + 1", "requirements.txt"),
    ("this is no Python", "course_lib/position.py"),
]
OUTPUTS_STAY = [
    ("from course_lib import attention", "course_lib/position.py"),
    ("from course_lib import places", "course_lib/data/other.txt"),
    ("from course_lib.widgets import Soft", "course_lib/widgets/hard.py"),
    ("from course_lib.widgets import Soft", "course_lib/widgets/soft.js"),
    (CHECKED, "course_lib/exercises/encoder.py"),
]


def test_outputs_depend_on_what_their_notebook_imports_or_reads_and_on_nothing_else(library):
    for holds, table in ((False, OUTPUTS_FOLLOW), (True, OUTPUTS_STAY)):
        for cell, name in table:
            text = LIBRARY.get(name, "")
            found = holds_after(library, [cell], name, f"{text}\nchanged = 1\n")
            assert found == holds, (cell, name)
            (library / name).write_text(text, encoding="utf-8")


def test_a_new_widget_leaves_the_outputs_of_others(library):
    cells = ["from course_lib.widgets import Soft"]
    before = fingerprint(library, cells)
    (library / "course_lib/widgets/newest.py").write_text("class Newest:\n    pass\n")
    index = library / "course_lib/widgets/__init__.py"
    index.write_text(index.read_text() + "from course_lib.widgets.newest import Newest\n")
    assert fingerprint(library, cells) == before


def test_a_comment_or_docstring_is_no_part_of_the_outputs(library):
    name = "course_lib/attention.py"
    text = LIBRARY[name].replace("Weigh.", "Weigh!").replace("# softly", "# hard")
    assert holds_after(library, ["from course_lib import attention"], name, text)


def test_a_notebook_that_looks_at_source_itself_depends_on_every_letter(library):
    name = "course_lib/attention.py"
    cells = ["from course_lib import attention", "import inspect\ninspect.getsource(f)"]
    assert not holds_after(library, cells, name, LIBRARY[name].replace("Weigh.", "Weigh!"))


def test_a_module_that_does_not_parse_is_a_change_and_no_error(library):
    cells = ["from course_lib import attention"]
    assert not holds_after(library, cells, "course_lib/attention.py", "def (")
    assert not holds_after(library, cells, "course_lib/attention.py", "def [")


def test_a_string_that_is_no_docstring_is_part_of_the_outputs(library):
    name = "course_lib/checks.py"
    (library / name).write_text('def checked(x):\n    return "one"\n')
    text = 'def checked(x):\n    return "two"\n'
    assert not holds_after(library, ["from course_lib import attention"], name, text)
