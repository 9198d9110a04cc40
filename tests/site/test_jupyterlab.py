"""JupyterLab opens and runs a lecture; widgets and Python's traits are synchronised."""

import json
import os
import re
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest
from browser_fixtures import Watch
from clock import PATIENCE, observed
from course_site import LECTURES, ROOT, SITE
from playwright.sync_api import Browser, Locator, Page, expect
from reading import agrees

TOKEN = "of-this-test-alone"
START, RUN = 150, 420
UNTOUCHED = re.compile(r"\[ \]:")
NUMBERED = re.compile(r"\[\d+\]:")

# anywidget gives a model two seconds to start, and afterwards lets it follow Python no more. A
# machine that runs other tests as well may need longer, and the page is not wrong for it.
UNHURRIED = """
const timeout = AbortSignal.timeout.bind(AbortSignal);
AbortSignal.timeout = (milliseconds) => timeout(30 * milliseconds);
"""

# JupyterLab asks for the list of kernels every few seconds. Jupyter's server answers with an error
# while one of them is starting (enterprise_gateway, issue 1395), and JupyterLab asks again.
LIST_OF_KERNELS = "/api/kernels?"

# MyST's renderer warns of links to figures, since it has no such ids; figures follow them anyway.
LINKS_TO_FIGURES = 'No target for internal reference "#fig-'

# Added to the copy of the lecture. Python reports each change in a file, which is whole whenever it
# is read, and answers one with another change, so that the page must follow Python too.
PROBE = """
import json
from pathlib import Path

from course_lib.widgets import SoftLookup

probe = SoftLookup(["west", "east"], [[-1.0, 0.0], [1.0, 0.0]], [10.0, 20.0], temperature=0.3)


def report(change):
    if change["name"] == "similarity":
        probe.temperature = 2.5
    seen = {name: getattr(probe, name) for name in ("temperature", "similarity")}
    Path("written.json").write_text(json.dumps(seen | {"query": probe.query.tolist()}))
    Path("written.json").replace("seen.json")


probe.observe(report, ["temperature", "similarity", "query"])
probe
"""

PLUGGED = """
import numpy as np

from course_lib.widgets import AttentionExplorer


def mirror(tokens):
    return np.eye(len(tokens))[::-1][None, None]


AttentionExplorer(["a", "b"], mirror(["a", "b"]), attention=mirror)
"""


@dataclass
class Lab:
    """A running JupyterLab, its folder of notebooks, and its address."""

    folder: Path
    host: str


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=60) as answer:
            return answer.status == 200
    except OSError:
        return False


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Lab]:
    """JupyterLab as `make lab` starts it, with nothing of the reader's own settings."""
    del browser  # skips before starting if there is no Chromium
    home = tmp_path_factory.mktemp("lab")
    folders = {
        name: home / name.lower()
        for name in (
            "IPYTHONDIR",
            "JUPYTER_CONFIG_DIR",
            "JUPYTER_DATA_DIR",
            "JUPYTER_RUNTIME_DIR",
            "JUPYTERLAB_SETTINGS_DIR",
            "JUPYTERLAB_WORKSPACES_DIR",
        )
    }
    for folder in [*folders.values(), home / "lectures"]:
        folder.mkdir()
    settings = folders["JUPYTERLAB_SETTINGS_DIR"] / "@jupyterlab" / "notebook-extension"
    settings.mkdir(parents=True)
    # Every cell is in the page, also those far below the window.
    (settings / "tracker.jupyterlab-settings").write_text('{"windowingMode": "none"}')
    log = home / "log.txt"
    with log.open("w") as output:
        server = subprocess.Popen(
            [
                *(sys.executable, "-m", "jupyterlab", "--no-browser"),
                f"--config={ROOT / 'scripts' / 'tools' / 'jupyter_lab_config.py'}",
                f"--ServerApp.root_dir={home / 'lectures'}",
                *("--ServerApp.ip=127.0.0.1", "--ServerApp.port=0", "--allow-root"),
                f"--IdentityProvider.token={TOKEN}",
            ],
            cwd=home,
            env=os.environ | {name: str(folder) for name, folder in folders.items()},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        yield Lab(home / "lectures", started(server, folders["JUPYTER_RUNTIME_DIR"], log))
    finally:
        server.terminate()
        try:
            server.wait(timeout=20)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def started(server: subprocess.Popen, runtime: Path, log: Path) -> str:
    """The host and port of the server, once it responds."""
    deadline = time.monotonic() + START
    while time.monotonic() < deadline:
        if server.poll() is not None:
            break
        for written in runtime.glob("jpserver-*.json"):
            text = written.read_text()
            port = json.loads(text)["port"] if text.endswith("}") else 0
            if port and answers(f"http://127.0.0.1:{port}/api/status?token={TOKEN}"):
                return f"127.0.0.1:{port}"
        time.sleep(0.1)
    pytest.fail(f"JupyterLab did not start:\n{log.read_text()}", pytrace=False)


@pytest.fixture(scope="module")
def running(lab: Lab, browser: Browser) -> Iterator[Page]:
    """The first lecture, with two more cells, open in JupyterLab and run from its menu."""
    lecture = nbformat.read(LECTURES[0], as_version=4)
    lecture.cells += [nbformat.v4.new_code_cell(cell) for cell in (PROBE, PLUGGED)]
    nbformat.write(lecture, lab.folder / LECTURES[0].name)

    watch = Watch(allowed={lab.host}, expected_errors=(LIST_OF_KERNELS, LINKS_TO_FIGURES))
    context = browser.new_context(viewport={"width": 1400, "height": 1000}, color_scheme="light")
    context.set_default_timeout(60_000)
    page = context.new_page()
    page.add_init_script(UNHURRIED)
    watch.attach(page)
    page.goto(f"http://{lab.host}/lab/tree/{LECTURES[0].name}?token={TOKEN}&reset")
    run_all_cells(page)
    yield page
    context.close()
    watch.verdict()


def run_all_cells(page: Page) -> None:
    page.locator(".jp-KernelName", has_text="Python 3").wait_for()
    page.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]").wait_for()
    prompts = page.locator(".jp-Notebook .jp-CodeCell .jp-InputArea-prompt")
    for _ in range(10):
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.locator("[data-command='runmenu:run-all']").click()
        try:
            expect(prompts.first).not_to_have_text(UNTOUCHED)
            break
        except AssertionError:
            # The page ignores Run while it still connects to its kernel. Run it again.
            continue
    try:
        # The last cell has its number once all before it have run.
        expect(prompts.last).to_have_text(NUMBERED, timeout=RUN * 1000)
    except AssertionError:
        pytest.fail(f"the notebook did not finish: {errors_of(page)}", pytrace=False)


def errors_of(page: Page) -> list[str]:
    return page.locator("[data-mime-type='application/vnd.jupyter.error']").all_inner_texts()


def widget_of_cell(page: Page, place: int) -> Locator:
    """The widget in the output of a code cell, by index."""
    widget = page.locator(".jp-Notebook .jp-CodeCell").nth(place).locator(".cw")
    widget.wait_for()
    widget.scroll_into_view_if_needed()
    return widget


@pytest.fixture
def probe(running: Page) -> Locator:
    return widget_of_cell(running, -2)


def seen_by_python(lab: Lab, page: Page, name: str, expected: Callable[[object], bool]) -> object:
    """Python's last report of one trait, once it is as expected."""
    path = lab.folder / "seen.json"
    value = None
    deadline = time.monotonic() + PATIENCE / 1000
    while time.monotonic() < deadline:
        if path.exists():
            value = json.loads(path.read_text())[name]
            if expected(value):
                return value
        observed(page)
    pytest.fail(f"Python saw {name} = {value!r} last")


CORNER = "(e) => [...e.getContext('2d').getImageData(0, 0, 1, 1).data].slice(0, 3)"


def test_a_lecture_runs_in_jupyterlab_and_every_figure_of_it_is_alive(
    running: Page, probe: Locator
):
    assert errors_of(running) == []
    on_the_page = (SITE / "lectures" / LECTURES[0].with_suffix(".html").name).read_text()
    expected = on_the_page.count("data-widget=") + len(("probe", "plugged"))
    expect(running.locator(".jp-OutputArea-output .cw")).to_have_count(expected)
    observed(running)
    red, _, blue = probe.locator("canvas").evaluate(CORNER)
    assert red < blue, "the colour of the key in the west is blue"


def test_python_receives_changes_made_in_the_page(lab: Lab, running: Page, probe: Locator):
    slider = probe.locator("input[data-trait=temperature]")
    before = float(slider.get_attribute("aria-valuetext"))
    slider.focus()
    running.keyboard.press("ArrowRight")
    warmer = seen_by_python(lab, running, "temperature", lambda value: value > before)
    assert agrees(probe.locator("output").inner_text(), warmer)

    probe.locator(".cw-query").focus()
    running.keyboard.press("ArrowUp")
    [_, y] = seen_by_python(lab, running, "query", lambda query: query[1] > 0)
    assert y == pytest.approx(0.05)


def test_the_page_follows_changes_made_in_python(lab: Lab, running: Page, probe: Locator):
    # The added observer sets the temperature when similarity changes.
    slider = probe.locator("input[data-trait=temperature]")
    before = slider.input_value()
    probe.get_by_label("cosine").check()
    expect(probe.locator("output")).to_have_text("2.50")
    assert slider.input_value() != before
    assert float(slider.get_attribute("aria-valuetext")) == 2.5
    assert seen_by_python(lab, running, "similarity", lambda value: value == "cosine")


def test_arrow_keys_in_a_widget_leave_the_notebook_where_it_is(running: Page, probe: Locator):
    slider = probe.locator("input[data-trait=temperature]")
    slider.focus()
    here = "() => document.querySelector('.jp-Cell.jp-mod-active').dataset.windowedListIndex"
    before, value = running.evaluate(here), slider.input_value()
    for _ in range(3):
        running.keyboard.press("ArrowDown")
    assert slider.input_value() != value
    assert running.evaluate(here) == before
    assert slider.evaluate("el => el === document.activeElement")


def test_words_typed_in_the_page_are_passed_to_a_python_function(running: Page):
    explorer = widget_of_cell(running, -1)
    first = explorer.locator(".cw-top-keys tbody tr").first.locator("th, .cw-number")
    field = explorer.get_by_label("Your tokens")
    field.fill("x y </script>")
    field.press("Enter")
    expect(first.first).to_have_text("</script>")
    assert first.all_inner_texts() == ["</script>", "3", "1.000"]


def test_a_link_of_the_lecture_sets_its_figure_and_that_one_alone(running: Page):
    [first, second] = running.locator(".jp-Notebook .cw-party").all()
    opened = second.locator("input[name$=mode]:checked").input_value()
    for mode in ("query", "forgetting", "gate"):
        running.locator(f"a[href^='#fig-party-memory?mode={mode}']").first.click()
        expect(first.locator(f"input[value={mode}]")).to_be_checked()
    assert second.locator("input[name$=mode]:checked").input_value() == opened


def test_a_widget_follows_the_dark_theme_of_jupyterlab(running: Page, probe: Locator):
    paper = "el => getComputedStyle(el).backgroundColor"
    light = probe.evaluate(paper)
    running.get_by_role("menuitem", name="Settings", exact=True).click()
    running.locator(".lm-Menu-item", has_text="Theme").first.hover()
    running.locator(".lm-Menu-item", has_text="JupyterLab Dark").first.click()
    running.locator("body[data-jp-theme-light=false]").wait_for(state="attached")
    assert probe.evaluate(paper) != light


def test_a_notebook_that_is_opened_again_shows_its_figures_without_a_kernel(
    running: Page, lab: Lab
):
    figures = running.locator(".jp-Notebook .cw")
    count = figures.count()
    with running.expect_response(lambda answer: answer.request.method == "PUT"):
        running.keyboard.press("Control+s")
    api = f"http://{lab.host}/api/kernels"
    for kernel in running.request.get(f"{api}?token={TOKEN}").json():
        running.request.delete(f"{api}/{kernel['id']}?token={TOKEN}")
    running.goto(f"http://{lab.host}/lab/tree/{LECTURES[0].name}?token={TOKEN}&reset")
    expect(figures).to_have_count(count)
    assert errors_of(running) == []
