"""LiveFigure's Python side: the knobs, the module and the page of each figure."""

import re
from pathlib import Path

import pytest
from live_figures import EXPECTED, make

from course_lib import widgets
from course_lib.widgets import LiveFigure
from course_lib.widgets.live.live_figure import FIGURES

HEAVIEST = 60_000
MODULES = Path(widgets.__file__).parent / "live"


def test_exactly_the_figures_have_a_module_and_a_judge():
    names = {path.stem.replace("_", "-") for path in MODULES.glob("*.js")} - {"live-figure"}
    assert names == FIGURES.keys() == EXPECTED.keys()


@pytest.mark.parametrize("name", FIGURES)
def test_a_page_has_the_code_of_one_figure_is_light_and_an_address_sets_every_knob_and_no_data(
    name: str,
):
    figure = make(name)
    assert figure._module == f"live/{name.replace('-', '_')}.js"
    assert len(figure.static_html().encode()) < HEAVIEST
    assert len(re.findall("^export default", str(figure._esm), re.MULTILINE)) == 1
    assert figure.limits().keys() == FIGURES[name].knobs.keys()
    assert all(figure.traits()[data].read_only for data in FIGURES[name].data)


def test_the_knobs_of_a_figure_are_its_arguments_and_traits():
    figure = LiveFigure("root-d", dimension=128)
    assert figure.dimension == 128
    assert not hasattr(LiveFigure, "dimension")
    with pytest.raises(TypeError, match=r"expected LiveFigure\(figure, \*, .*dimension=1024"):
        LiveFigure("root-d", radius=1.0)
