"""Measure the built book: sizes, time until its figures are alive, and time from input to frame.

Usage, after ``make book``::

    python -m benchmarks.pages                    # the pages
    python -m benchmarks.pages --build --tests    # also the build, cold and warm, and the tests

It prints each measurement with its budget, writes ``benchmarks/results/pages.json`` and the table
in ``benchmarks/README.md``, and exits with 1 if a budget is missed. How things are measured:

- *Page weight*: the bytes of the HTML, which carries widgets and drawings, and of the pictures that
  stand in its main part. Shared files (theme, MathJax) are reported separately, without a budget: a
  browser fetches them once.
- *Widget weight*: the bytes of one widget's payload: its state, its module and the stylesheet.
- *Alive*: from the start of the navigation to the moment at which the last widget of the page has
  drawn itself; the median of several openings, each in a window with an empty cache.
- *Input to frame*: the mouse drags the finest slider of each widget through 200 moves, which
  Chromium delivers at the start of a frame. A widget that has no slider gets 200 keys in its row of
  letters; without a row, 200 arrow keys on a handle; else 200 presses of its switch, or of its
  options in turn. The clock runs from the delivery to the first task after the frame, and so covers
  the handler, the drawing, style, layout and painting on the main thread, but not the screen. Keys
  and presses come at any time: the idle wait for the next frame is subtracted, and reported
  separately. The part spent in handlers is reported too.
- *Cold build*: ``make book`` without ``_build``. *Warm build*: ``make book`` after one line of
  prose was added to a page and removed again. Both without installation.
"""

import argparse
import datetime as dt
import functools
import http.server
import itertools
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Locator, Page, sync_playwright

from scripts.site.chromium import WHAT_TO_DO, installed

ROOT = Path(__file__).resolve().parent.parent
SITE = ROOT / "_build" / "html"
RESULT = Path(__file__).parent / "results" / "pages.json"
README = Path(__file__).parent / "README.md"
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
PROSE = ROOT / "book" / "how_to_use.md"
OPENINGS, MOVES = 7, 200
CARRY_A_MODEL = {
    *("BasisExplorer", "JetExplorer", "LatentExplorer", "LetterHider", "StarExplorer", "TinyGPT"),
}

# The largest allowed value of each result, in the unit at the end of its name.
BUDGETS = {
    "page_kB": 1000,
    "widget_kB": 60,
    "widget_with_model_kB": 250,
    "alive_ms": 1000,
    "input_to_frame_p95_ms": 16,
    "foreign_requests": 0,
    "lecture_s": 60,
    "cold_build_s": 600,
    "warm_build_s": 20,
    "tests_s": 720,
}

WHEN_ALIVE = """
  window.courseAlive = new Promise((resolve) => {
    let last = 0;
    const look = (changes) => {
      if (changes.some((change) => change.attributeName)) last = performance.now();
      const hosts = [...document.querySelectorAll(".cw-host")];
      // The last widget is known only when the whole page is read.
      if (document.readyState === "loading" || hosts.some((el) => !el.dataset.alive)) return;
      observer.disconnect();
      resolve(last);
    };
    const observer = new MutationObserver(look);
    const alive = { attributes: true, attributeFilter: ["data-alive"] };
    observer.observe(document, { subtree: true, childList: true, ...alive });
    document.addEventListener("DOMContentLoaded", () => look(observer.takeRecords()));
  });
"""

# One sample for each `input` event that the slider delivers. The first task after a frame is the
# message that the frame's own callback posts.
WATCH_INPUT = """(control, kind) => {
  window.courseSamples = [];
  let from = 0;
  let handlers = 0;
  let idle = 0;
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    window.courseSamples.push({ total: performance.now() - from - idle, handlers, idle });
    from = 0;
  };
  window.addEventListener(kind, (event) => {
    if (!control.contains(event.target) || from) return;
    from = performance.now();
    // Requested before the widget does, so it runs first in the frame.
    if (kind !== "input") requestAnimationFrame(() => {
      idle = performance.now() - from - handlers;
    });
  }, true);
  window.addEventListener(kind, (event) => {
    if (!control.contains(event.target)) return;
    handlers = performance.now() - from;
    requestAnimationFrame(() => port2.postMessage(null));
  });
}"""
NEXT_SAMPLE = """async (seen) => {
  for (let frame = 0; frame < 10 && courseSamples.length <= seen; frame += 1) {
    await new Promise(requestAnimationFrame);
  }
  return courseSamples.length;
}"""


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    """Serves files without logging."""

    def log_message(self, *_: object) -> None:
        """Log nothing: the output is for results."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a folder that is served from this machine."""
    handler = functools.partial(QuietHandler, directory=folder)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def pages_with_widgets() -> list[str]:
    """The built pages that hold a widget, and every lecture."""
    paths = [path for path in SITE.rglob("*.html") if "_static" not in path.parts]
    held = [path for path in paths if "data-widget=" in path.read_text(encoding="utf-8")]
    return sorted(path.relative_to(SITE).as_posix() for path in held)


def opened(browser: Browser, url: str, visit: Callable[[Page], Any]) -> Any:
    """The result of ``visit`` on a page opened with an empty cache, once it is alive."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.add_init_script(WHEN_ALIVE)
    page = context.new_page()
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto(url, wait_until="load")
    page.evaluate("() => courseAlive")
    page.wait_for_load_state("networkidle")
    result = visit(page) | {"requests": requests}
    context.close()
    return result


def measure_page(browser: Browser, address: str, path: str) -> dict[str, Any]:
    """All measurements of one page."""
    url = f"{address}/{path}"
    first = opened(browser, url, lambda page: {"weights": weights(page), "input": inputs(page)})
    alive = [
        opened(browser, url, lambda page: {"alive": page.evaluate("() => courseAlive")})["alive"]
        for _ in range(OPENINGS)
    ]
    hosts = [urlsplit(asked).netloc for asked in first["requests"]]
    foreign = [host for host in hosts if host and host != urlsplit(address).netloc]
    pictures = sum(
        (SITE / urlsplit(src).path.lstrip("/")).stat().st_size
        for src in first["weights"]["pictures"]
    )
    shared = {urlsplit(asked).path.lstrip("/") for asked in first["requests"]} - {path}
    return {
        "page_kB": ((SITE / path).stat().st_size + pictures) / 1000,
        "shared_kB": sum(
            (SITE / name).stat().st_size for name in shared if name and (SITE / name).is_file()
        )
        / 1000,
        "widgets": [
            {"kind": kind, "widget_kB": size / 1000, **timing}
            for (kind, size), timing in zip(
                first["weights"]["widgets"], first["input"], strict=True
            )
        ],
        "alive_ms": statistics.median(alive),
        "foreign_requests": len(foreign),
    }


def weights(page: Page) -> dict[str, Any]:
    """Each widget's name and bytes, and the addresses of the pictures of this page alone."""
    return page.evaluate(
        """() => ({
          widgets: [...document.querySelectorAll(".cw-host")].map((el) =>
            [el.dataset.widget, new Blob([el.nextElementSibling.textContent]).size]),
          pictures: [...document.querySelectorAll("main img")].map((img) => img.currentSrc)
            .filter((src, i, all) => src.startsWith(location.origin) && all.indexOf(src) === i),
        })"""
    )


REVEAL = """() => document.querySelectorAll(".cw-host[data-widget=Prediction]")
  .forEach(({ courseModel }) => courseModel.set("revealed", true))"""


def inputs(page: Page) -> list[dict[str, float]]:
    """Times from input to frame of each widget."""
    widgets = page.locator(".cw-host").all()
    asks = [widget.get_attribute("data-widget") == "Prediction" for widget in widgets]
    measured = {}
    for questions in (True, False):
        for i, widget in enumerate(widgets):
            if asks[i] == questions:
                measured[i] = from_input_to_frame(page, widget)
        # Figures that would tell an answer are covered until the questions are answered.
        page.evaluate(REVEAL)
    return [measured[i] for i in range(len(widgets))]


def from_input_to_frame(page: Page, widget: Locator) -> dict[str, float]:
    """Drag the finest slider; without one use a row of letters, a handle, or a switch."""
    slider = finest_slider(widget)
    row = widget.locator("[role=listbox], [role=slider]")
    handle = widget.locator(".cw-handle[tabindex='0']")
    if slider is not None:
        return drag(page, slider)
    if row.count():
        return walk(page, row.first, keys_along(row.first))
    if handle.count():
        return walk(page, handle.first, ["ArrowUp", "ArrowRight", "ArrowDown", "ArrowLeft"])
    return press(page, widget)


def keys_along(row: Locator) -> list[str]:
    """The keys that move along a row of letters and toggle them."""
    if row.get_attribute("role") == "slider":
        return ["Home", *["ArrowRight"] * row.evaluate("el => el.ariaValueMax - el.ariaValueMin")]
    return ["Home", *["Space", "ArrowRight"] * (row.get_by_role("option").count() - 1), "Space"]


# State of the page alone, such as the time of an animation, is cheaper to change than a trait.
MOVES_A_TRAIT = """(el) =>
  el.closest(".cw-host").courseModel.get(el.dataset.trait) !== undefined"""


def finest_slider(widget: Locator) -> Locator | None:
    """The trait's slider with the most places; choices are made in turn until one has 50."""
    places = "el => (el.max - el.min) / el.step"
    best, most = None, 0.0
    for choice in [None, *widget.locator("input[type=radio]").all()]:
        if choice is not None:
            choice.check()
        for slider in widget.locator("input[type=range]").all():
            bound = slider.is_visible() and slider.evaluate(MOVES_A_TRAIT)
            if bound and slider.evaluate(places) > most:
                best, most = slider, slider.evaluate(places)
        if most > 50:  # noqa: PLR2004 - fine enough for the mouse to find a new place each time
            break
    return best


def drag(page: Page, slider: Locator) -> dict[str, float]:
    """Drag the slider back and forth until 200 moves have been answered."""
    slider.evaluate("el => el.scrollIntoView({ block: 'center', behavior: 'instant' })")
    slider.evaluate(WATCH_INPUT, "input")
    box = slider.bounding_box()
    middle, reach = box["x"] + box["width"] / 2, 0.4 * box["width"]
    page.mouse.move(middle, box["y"] + box["height"] / 2)
    page.mouse.down()
    seen = step = 0
    while seen < MOVES:
        step += 1
        if step > 3 * MOVES:
            raise RuntimeError(f"the slider answered {seen} of {step} moves")
        # A triangle wave whose period shares no factor with the number of places.
        phase = (step * 0.0737) % 2
        share = 2 * (phase if phase < 1 else 2 - phase) - 1
        page.mouse.move(middle + share * reach, box["y"] + box["height"] / 2)
        seen = page.evaluate(NEXT_SAMPLE, seen)
    page.mouse.up()
    return summary(page)


def walk(page: Page, control: Locator, keys: list[str]) -> dict[str, float]:
    """Press the keys on a control in turn, 200 times."""
    control.evaluate("el => el.scrollIntoView({ block: 'center', behavior: 'instant' })")
    control.evaluate(WATCH_INPUT, "keydown")
    control.focus()
    seen = 0
    for key in itertools.islice(itertools.cycle(keys), MOVES):
        page.keyboard.press(key)
        before, seen = seen, page.evaluate(NEXT_SAMPLE, seen)
        if seen == before:
            raise RuntimeError(f"the control did not answer {key}, after {seen} keys")
    return summary(page)


def press(page: Page, widget: Locator) -> dict[str, float]:
    """Press the switch of a trait, or the options in turn, 200 times."""
    widget.evaluate("el => el.scrollIntoView({ block: 'center', behavior: 'instant' })")
    widget.evaluate(WATCH_INPUT, "click")
    controls = widget.locator("input[type=checkbox][data-trait], button[aria-pressed]").all()
    seen = 0
    for control in itertools.islice(itertools.cycle(controls), MOVES):
        control.press("Space")
        before, seen = seen, page.evaluate(NEXT_SAMPLE, seen)
        if seen == before:
            raise RuntimeError(f"the control did not answer, after {seen} presses")
    return summary(page)


def summary(page: Page) -> dict[str, float]:
    """Median and 95th percentile of the samples."""
    samples = page.evaluate("() => courseSamples")[:MOVES]
    total = sorted(sample["total"] for sample in samples)
    return {
        "input_to_frame_median_ms": statistics.median(total),
        "input_to_frame_p95_ms": statistics.quantiles(total, n=20)[-1],
        "handlers_median_ms": statistics.median(sample["handlers"] for sample in samples),
        "idle_median_ms": statistics.median(sample["idle"] for sample in samples),
    }


def lecture_times() -> dict[str, float]:
    """Seconds that each lecture ran when the book was built, from its cache."""
    from jupyter_cache import get_cache

    records = get_cache(ROOT / "_build" / ".jupyter_cache").list_cache_records()
    times = {}
    for record in sorted(records, key=lambda record: record.created):
        path = Path(record.uri)
        if path.suffix == ".ipynb" and "execution_seconds" in record.data:
            times[path.stem] = record.data["execution_seconds"]
    return times


def timed_make(target: str) -> float:
    """Seconds that a target of the Makefile takes."""
    start = time.monotonic()
    done = subprocess.run(  # noqa: S603 - the target is one of ours
        ["make", target],  # noqa: S607 - whichever make the reader has
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"make {target} failed:\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
    return time.monotonic() - start


def build_times() -> dict[str, float]:
    """Cold and warm build times. The edited page is put back as it was."""
    timed_make("book")  # so that the installation is done
    shutil.rmtree(ROOT / "_build")
    cold = timed_make("book")
    prose = PROSE.read_text(encoding="utf-8")
    try:
        PROSE.write_text(f"{prose}\nOne sentence more.\n", encoding="utf-8")
        warm = timed_make("book")
    finally:
        PROSE.write_text(prose, encoding="utf-8")
    timed_make("book")
    return {"cold_build_s": cold, "warm_build_s": warm}


def device() -> dict[str, Any]:
    """The machine."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        lines = [line for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        model = lines[0].partition(": ")[2] if lines else model
    return {"processor": model, "cores": os.cpu_count(), "system": platform.platform()}


def rows(result: dict[str, Any]) -> Iterator[tuple[str, str, float]]:
    """Every measurement that has a budget: where, which, how much."""
    for path, page in result["pages"].items():
        for name in ("page_kB", "alive_ms", "foreign_requests"):
            yield path, name, page[name]
        for widget in page["widgets"]:
            where = f"{path} · {widget['kind']}"
            weight = "widget_with_model_kB" if widget["kind"] in CARRY_A_MODEL else "widget_kB"
            yield where, weight, widget["widget_kB"]
            yield where, "input_to_frame_p95_ms", widget["input_to_frame_p95_ms"]
    for lecture, seconds in result["lectures"].items():
        yield lecture, "lecture_s", seconds
    for name, seconds in result["make"].items():
        yield "make", name, seconds


def report(result: dict[str, Any]) -> bool:
    """Print the table; True if every budget is met."""
    met = True
    print(f"{'where':58} {'what':24} {'measured':>10} {'budget':>8}")
    for where, name, value in rows(result):
        fits = value <= BUDGETS[name]
        met &= fits
        print(f"{where:58} {name:24} {value:10.2f} {BUDGETS[name]:8} {'' if fits else ' MISSED'}")
    return met


def write_table(result: dict[str, Any]) -> None:
    """Write the measurements into the README, between its two marks."""
    machine, versions = result["device"], result["versions"]
    made = (
        f"`{result['command']}` on {result['date']}: {machine['processor']}, {machine['cores']} "
        f"cores, Chromium {versions['chromium']}, Python {versions['python']}."
    )
    lines = [made, "", "| where | what | measured | budget |", "| --- | --- | ---: | ---: |"]
    for where, name, value in rows(result):
        lines.append(f"| {where} | {name} | {value:.4g} | {BUDGETS[name]} |")
    begin, end = "<!-- pages: begin -->", "<!-- pages: end -->"
    before, _, rest = README.read_text(encoding="utf-8").partition(begin)
    after = rest.partition(end)[2]
    table = "\n".join([begin, "", *lines, "", end])
    README.write_text(before + table + after, encoding="utf-8")


def main() -> int:
    """Read the command line, measure, write and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", action="store_true", help="time the build, cold and warm")
    parser.add_argument("--tests", action="store_true", help="time make test")
    given = parser.parse_args()

    chromium = installed() or sys.exit(f"There is no Chromium; {WHAT_TO_DO}.")
    make = build_times() if given.build else {}
    if given.tests:
        make["tests_s"] = timed_make("test")
    if not SITE.is_dir():
        sys.exit(f"There is no book in {SITE}; run `make book` first.")
    with served(SITE) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        pages = {path: measure_page(browser, address, path) for path in pages_with_widgets()}
        chromium_version = browser.version
        browser.close()
    packages = ("jupyter-book", "anywidget", "torch", "playwright")
    result = {
        "command": " ".join(["python -m benchmarks.pages", *sys.argv[1:]]),
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
        "device": device(),
        "versions": {
            "python": platform.python_version(),
            "chromium": chromium_version,
            **{name: version(name) for name in packages},
        },
        "budgets": BUDGETS,
        "pages": pages,
        "lectures": lecture_times(),
        "make": make,
    }
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    write_table(result)
    return 0 if report(result) else 1


if __name__ == "__main__":
    sys.exit(main())
