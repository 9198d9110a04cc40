"""Every page of the built book, and every widget on it in its first state."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import axe_playwright_python
import pytest
from addresses import is_in_an_address
from agreement import agrees_with_course_lib
from appearance import FAINT_TEXTS, SMALL_LETTERS, SPILLED
from browser_fixtures import Folder
from clock import observed
from course_site import OPEN_APPENDICES, SITE, pages
from gestures import CONTROLS, widgets
from playwright.sync_api import Page, expect
from reading import state_of, unread

AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text(encoding="utf-8")
KILOBYTE = 1000
MOST = 60 * KILOBYTE
CARRY_A_MODEL = ("TinyGPT", "LatentExplorer", "BasisExplorer", "JetExplorer", "StarExplorer")
MORE = dict.fromkeys(CARRY_A_MODEL, 250 * KILOBYTE)

# A formula in a line of text cannot be scrolled.
FORMULAS_CUT_OR_APART = """async () => {
  await window.MathJax?.startup?.promise;
  const outOfLine = (span) => {
    const formula = span.querySelector("mjx-container").getBoundingClientRect();
    const after = span.nextSibling;
    const found = [];
    if (formula.right > span.getBoundingClientRect().right + 1) found.push("cut");
    if (after instanceof Text && /^[,.;:!?)]/.test(after.data)) {
      const mark = document.createRange();
      mark.setStart(after, 0);
      mark.setEnd(after, 1);
      const apart = mark.getBoundingClientRect().left < formula.right - 1;
      if (apart) found.push(`apart from ${after.data[0]}`);
    }
    return found.map((what) => `${what}: ${span.textContent}`);
  };
  const formulas = [...document.querySelectorAll("span.math")];
  return formulas.filter((span) => span.checkVisibility()).flatMap(outOfLine);
}"""

# In one call: between two calls a large page would be painted.
COVERED = """(hosts, controls) => hosts.flatMap((host) => [...host.querySelectorAll(controls)]
  .filter((el) => {
    if (!el.checkVisibility({ visibilityProperty: true }) || el.matches(":disabled")) return false;
    el.scrollIntoView({ block: "center", behavior: "instant" });
    const { x, y, width, height } = el.getBoundingClientRect();
    return !host.contains(document.elementFromPoint(x + width / 2, y + height / 2));
  }).map((el) => [host.dataset.widget, el.getAttribute("aria-label") ?? el.outerHTML]))"""

of_every_page = pytest.mark.parametrize("page_path", pages())
LECTURES = [path for path in pages() if path.startswith("lectures/")] or pages()
of_every_page_with_widgets = pytest.mark.parametrize("page_path", pages(with_widgets=True))

# appearance.py checks the contrast of texts, ten times as fast. A link in a text must differ not
# only by its colour, so its colours need no comparison either.
AXE_FINDS = """async () => {
  axe.configure({ rules: [{ id: "link-in-text-block", any: ["link-in-text-block-style"] }] });
  const { violations } = await axe.run(document, {
    rules: { "color-contrast": { enabled: false } },
    resultTypes: ["violations"],
    preload: false, // it would fetch the stylesheets again, and trip over what they import
  });
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, target }) => `${id}: ${help}: ${html.slice(0, 160)} ${target}`));
}"""


def violations(page: Page) -> list[str]:
    """What axe-core finds: rule, why it matters, and where."""
    page.evaluate(AXE)
    return page.evaluate(AXE_FINDS)


def faint_texts(page: Page) -> list[Any]:
    """Texts that are too pale, except single characters, which may be marks, as in axe-core."""
    return [found for found in page.locator("body").evaluate(FAINT_TEXTS) if len(found[0]) > 1]


@of_every_page
def test_a_page_on_a_wide_screen_in_light_and_dark(
    site: Folder, open_page: Callable[..., Page], page_path: str
):
    page = open_page(site.url(page_path), reduced_motion=True)
    assert page.locator("main h1:visible").first.inner_text().strip()
    found = {
        "too heavy": overweight(site, page, page_path),
        "opening figure higher than 600 px": page.evaluate(TOO_HIGH, [600, 1]),
        "marks in another style than the figure's": page.evaluate(OVERRULED),
        "small letters": page.evaluate(SMALL_LETTERS, 11.9),
    }
    if page_path in LECTURES and page.locator("article .cell").count():
        page.set_viewport_size({"width": 1366, "height": 768})
        observed(page)
        found["opening figure out of the first screen"] = page.evaluate(OPENING_OUT_OF_SIGHT)
    page.set_viewport_size({"width": 1920, "height": 900})
    observed(page)
    found["wider than the window"] = page.evaluate(BEYOND)
    found["widgets at 1920 px"] = out_of_the_frame(page)
    page.set_viewport_size({"width": 1280, "height": 900})
    page.evaluate(OPEN_FOLDS)
    observed(page)
    found |= {
        "axe": violations(page),
        "cut code": page.evaluate(CODE_CUT),
        "formulas that fit and are a stop of the Tab key": page.evaluate(FORMULAS_TABBED),
        "titles of solutions": page.locator(SOLUTIONS).evaluate_all(BAD_TITLES),
        "faint": faint_texts(page),
    }
    page.emulate_media(color_scheme="dark")
    observed(page)
    assert page.evaluate("() => document.documentElement.dataset.theme") == "dark"
    found["faint in the dark"] = faint_texts(page)
    assert {what: faults for what, faults in found.items() if faults} == {}


@of_every_page
def test_a_page_on_a_telephone(site: Folder, open_page: Callable[..., Page], page_path: str):
    page = open_page(site.url(page_path), width=390, height=844, touch=True, reduced_motion=True)
    observed(page)
    found = {
        "wider than the window": page.evaluate(BEYOND),
        "too high": page.evaluate(TOO_HIGH, [HIGHEST_ON_A_TELEPHONE, None]),
        "drawings that tremble": page.evaluate(TREMBLING),
        "widgets": out_of_the_frame(page),
        "controls that cannot be touched": covered(page),
    }
    page.evaluate(OPEN_FOLDS)
    observed(page)
    found |= {
        "formulas in a line": page.evaluate(FORMULAS_CUT_OR_APART),
        "cut code": page.evaluate(CODE_CUT),
        "small letters": page.evaluate(SMALL_LETTERS, 10),
        "titles of solutions": page.locator(SOLUTIONS).evaluate_all(BAD_TITLES),
        "scrolls and does not say so": page.evaluate(SILENT_SCROLLERS),
    }
    assert {what: faults for what, faults in found.items() if faults} == {}


def turn_dark(page: Page) -> None:
    """Press the theme button until the page is dark: it also has a system setting."""
    for _ in range(3):
        page.locator(".theme-switch-button").first.click()
        if page.evaluate("() => document.documentElement.dataset.theme") == "dark":
            return
    pytest.fail("the theme button does not lead to the dark theme")


def overweight(site: Folder, page: Page, page_path: str) -> list[object]:
    """A page of a megabyte or more, and widgets with more bytes than their kind may have."""
    figures = page.locator("main img").evaluate_all("images => images.map((i) => i.currentSrc)")
    drawn = {SITE / urlsplit(src).path.lstrip("/") for src in figures if site.host in src}
    size = sum(path.stat().st_size for path in {SITE / page_path, *drawn})
    heavy = [(kind, size) for kind, size in payloads(page) if size >= MORE.get(kind, MOST)]
    return [*heavy, *([size] if size >= 1000 * KILOBYTE else [])]


def out_of_the_frame(page: Page) -> list[object]:
    """Parts of widgets outside their frame or the window."""
    faults = []
    width = page.viewport_size["width"]
    for widget in page.locator(".cw-host").all():
        widget.evaluate("(el) => el.scrollIntoView({ block: 'center', behavior: 'instant' })")
        observed(page)  # figures that were out of sight follow the new window size now
        kind = widget.get_attribute("data-widget")
        frame = widget.locator(".cw").bounding_box()
        if frame["x"] < 0 or frame["x"] + frame["width"] > width:
            faults.append((kind, frame))
        faults += [(kind, what) for what in widget.evaluate(SPILLED)]
    return faults


def covered(page: Page) -> list[object]:
    """The controls of all widgets that something covers, once all questions are answered."""
    for button in page.locator("[data-widget=Prediction] button", has_text="Show me").all():
        button.evaluate("(button) => button.click()")
    observed(page)
    return page.locator(".cw-host").evaluate_all(COVERED, CONTROLS)


def payloads(page: Page) -> list[tuple[str, int]]:
    """The bytes of each widget of the page: its state, its module and the stylesheet."""
    texts = page.locator(".cw-host").evaluate_all(
        "hosts => hosts.map((el) => [el.dataset.widget, el.nextElementSibling.textContent])"
    )
    return [(kind, len(text.encode())) for kind, text in texts]


def test_the_root_leads_to_the_first_page(site: Folder, open_page: Callable[..., Page]):
    page = open_page(site.url(""))
    page.wait_for_url("**/book/index.html")
    assert page.locator("main h1:visible").first.inner_text().startswith("Attention")


def test_the_search_finds_the_right_lecture_and_links_to_the_phrase_in_its_prose(
    site: Folder, open_page: Callable[..., Page]
):
    page = open_page(site.url("search.html"), formulas=False)
    for sought, (lecture, phrase) in SOUGHT.items():
        page.goto(site.url(f"search.html?q={sought}"))
        first = page.locator("#search-results li").first
        expect(first.locator("a")).to_have_attribute("href", re.compile(rf"lectures/{lecture}_"))
        excerpt = first.locator(".context").inner_text()
        assert re.search(phrase.replace(" ", r"\s"), excerpt, re.IGNORECASE), excerpt
        assert "import " not in excerpt
        first.locator("a").click()
        page.wait_for_function("() => CSS.highlights.get('sought')?.size > 0")
        observed(page)
        text, within, top = page.evaluate(FIRST_MATCH)
        assert text.lower() == phrase.lower()
        assert within == "prose"
        assert 0.05 < top < 0.95


def test_what_the_search_takes_for_a_term_stands_in_a_lecture(
    site: Folder, open_page: Callable[..., Page]
):
    texts = [(SITE / path).read_text(encoding="utf-8") for path in LECTURES]
    for term in open_page(site.url("search.html"), formulas=False).evaluate(
        "() => Object.keys(ALSO_CALLED)"
    ):
        words = r"\W{1,3}".join(re.findall(r"\w+", term))
        assert any(re.search(rf"\b{words}", text, re.IGNORECASE) for text in texts), term


SOUGHT = {
    "softmax": ("01", "softmax"),
    "LSTM": ("04", "LSTM"),
    "induction head": ("02", "induction head"),
    "dropout": ("03", "dropout"),
    "GAT": ("08", "graph attention"),
    "skip connections": ("06", "residual connection"),
    "leapfrog": ("11", "Störmer–Verlet"),
}
FIRST_MATCH = """() => {
  const [first] = CSS.highlights.get("sought");
  const within = first.startContainer.parentElement.closest("pre, summary") ? "code" : "prose";
  return [first.toString(), within, first.getBoundingClientRect().top / innerHeight];
}"""


def test_a_figure_follows_the_theme_button_and_so_does_the_next_page(
    site: Folder, open_page: Callable[..., Page]
):
    page = open_page(site.url("book/index.html"), theme="light")
    paper = "el => getComputedStyle(el.querySelector('.cw')).backgroundColor"
    light = widgets(page)[0].evaluate(paper)
    turn_dark(page)
    assert widgets(page)[0].evaluate(paper) != light
    page.goto(site.url("book/notation.html"))
    assert page.evaluate("() => document.documentElement.dataset.theme") == "dark"


CODE_CUT = """() => [...document.querySelectorAll(
    "article :is(.cell_input, .library-source, .highlight-python) pre")]
  .filter((e) => e.checkVisibility() && e.scrollWidth > e.clientWidth + 1)
  .map((e) => e.textContent)"""

OPEN_FOLDS = """() => {
  for (const fold of document.querySelectorAll("article details")) fold.open = true;
}"""
# A box that scrolls sideways indicates it, can be focused, and hides more than a margin of a
# drawing.
SILENT_SCROLLERS = """async () => {
  await window.MathJax?.startup?.promise;
  const boxes = ".drawing, mjx-container[display=true], .math.wide mjx-container," +
    ".pst-scrollable-table-container";
  return [...document.querySelectorAll(`article :is(${boxes})`)]
    .filter((e) => e.checkVisibility() && e.scrollWidth > e.clientWidth + 1)
    .filter((e) => !getComputedStyle(e, "::before").content.includes("Scroll sideways")
      || e.tabIndex !== 0 || (e.matches(".drawing") && e.scrollWidth < e.clientWidth + 6))
    .map((e) => e.outerHTML.slice(0, 160));
}"""
TREMBLING = """async () => {
  const drawings = [...document.querySelectorAll("article .drawing")];
  const heights = drawings.map(() => new Set());
  for (let frame = 0; frame < 4; frame += 1) {
    await new Promise(requestAnimationFrame);
    drawings.forEach((e, i) => heights[i].add(e.getBoundingClientRect().height));
  }
  return drawings.filter((_, i) => heights[i].size > 1).map((e) => e.ariaLabel);
}"""
BEYOND = """() => {
  const { scrollWidth } = document.scrollingElement;
  return scrollWidth > innerWidth ? [scrollWidth] : [];
}"""
FORMULAS_TABBED = """() => [...document.querySelectorAll("mjx-container")]
  .filter((e) => e.tabIndex >= 0 && e.scrollWidth <= e.clientWidth + 1)
  .map((e) => e.outerHTML.slice(0, 160))"""


# The element with the focus after the Tab key: a control, or a box that scrolls.
IDLE_STOP = """() => {
  const at = document.activeElement;
  const scrolls = at.scrollWidth > at.clientWidth + 1 || at.scrollHeight > at.clientHeight + 1;
  const used = at.matches("a[href], button, input, select, summary, .cw [tabindex]");
  const named = at.textContent.trim() || at.getAttribute("aria-label") || at.labels?.length;
  const formula = at.closest("mjx-container, .math");
  const idle = formula ? "formula" : used ? !named && "nameless" : !scrolls && "idle";
  return at === document.body ? null : [idle && `${idle}: ${at.outerHTML.slice(0, 200)}`];
}"""


def test_each_tab_stop_is_useful_and_none_is_a_formula(
    site: Folder, open_page: Callable[..., Page]
):
    page = open_page(site.url(pages(with_widgets=True)[-1]), reduced_motion=True)
    page.evaluate("async () => { await window.MathJax?.startup?.promise; }")
    observed(page)
    stops = []
    while len(stops) < 400:
        page.keyboard.press("Tab")
        if (stop := page.evaluate(IDLE_STOP)) is None:
            break
        stops += stop
    assert 50 < len(stops) < 400
    assert [stop for stop in stops if stop] == []


def test_a_lecture_shows_its_number_and_minutes_and_links_to_its_neighbours(
    site: Folder, open_page: Callable[..., Page]
):
    path = pages(with_widgets=True)[-1]
    page = open_page(site.url(path), formulas=False)
    number = int(path.removeprefix("lectures/").partition("_")[0])
    assert page.locator("article h1").inner_text().startswith(f"{number} ")
    line = page.locator("article .ways-on")
    minutes = line.inner_text().split()[0]
    assert f"takes about {minutes} minutes" in page.locator("article").inner_text()
    entry = page.locator(f".bd-links a[data-lecture='{number}']").first
    assert f"{minutes} min" in entry.text_content()
    assert line.locator("a").count() == 2
    assert line.bounding_box()["y"] < 300
    page.locator(".btn-fullscreen-button").click()
    expect(entry).to_be_hidden()


SOLUTIONS = "article details.fold.solution"
OPENING_OUT_OF_SIGHT = """() => {
  scrollTo({ top: 0, behavior: "instant" });
  const [output, figure, fold] = [".output", ".cw-host", ".fold"].map((name) =>
    document.querySelector(`article .cell ${name}`).getBoundingClientRect());
  const begins = output.top < innerHeight / 2;
  const shows = innerHeight - figure.top > 0.6 * figure.height;
  return begins && shows && fold.top >= figure.bottom ? [] : [figure, fold];
}"""
# Titles whose words leave their box, or that contain a link.
BAD_TITLES = """(solutions) => solutions.filter((solution) => {
  const title = solution.querySelector("summary");
  const box = solution.getBoundingClientRect();
  const text = document.createRange();
  text.selectNodeContents(title);
  const inside = [...text.getClientRects(), title.getBoundingClientRect()].every((it) =>
    it.left >= box.left && it.right <= box.right && it.top >= box.top && it.bottom <= box.bottom);
  return !inside || title.querySelectorAll("a, button").length;
}).map((solution) => solution.outerHTML.slice(0, 160))"""
# Figures that are higher than `most` among the first `count`. One off the screen rests: it stands
# as wide as the window once it was seen.
TOO_HIGH = """async ([most, count]) => {
  const found = [];
  const figures = [...document.querySelectorAll(".cw-host:not([data-widget=BreakIt])")];
  for (const e of figures.slice(0, count ?? figures.length)) {
    e.scrollIntoView({ behavior: "instant" });
    for (let n = 0; n < 4; n += 1) await new Promise(requestAnimationFrame);
    const { height } = e.querySelector(".cw").getBoundingClientRect();
    if (height > most) found.push([e.id, height]);
  }
  return found;
}"""
HIGHEST_ON_A_TELEPHONE = 844  # of the window, so that a hand and what it changes are both in it
# A stylesheet of the page that paints the marks of live figures, as one of a still picture did.
OVERRULED = """() => {
  const marks = [...document.querySelectorAll(".cw-host svg *")];
  const rules = (list) => [...list].flatMap((rule) => [rule, ...rules(rule.cssRules ?? [])]);
  return [...document.styleSheets].flatMap((sheet) => rules(sheet.cssRules))
    .filter(({ selectorText, style }) => selectorText && !selectorText.includes("cw")
      && [...style].some((name) => /^(stroke|fill|marker)/.test(name)))
    .filter(({ selectorText }) => marks.some((mark) => mark.matches(selectorText)))
    .map((rule) => rule.cssText);
}"""


def test_a_page_without_scripts_describes_each_widget(site: Folder, open_page: Callable[..., Page]):
    page = open_page(site.url(pages(with_widgets=True)[-1]), scripts=False)
    for widget in widgets(page):
        words = widget.locator("p")
        assert words.is_visible()
        assert len(words.inner_text().split()) >= 8
    answer = page.locator(".cell:has([data-widget=Prediction]) ~ p").first
    expect(answer).to_have_css("filter", "none")


OUTSIDE_FORMULAS = """(link) => [...link.childNodes]
  .filter((part) => !part.classList?.contains("math")).map((part) => part.textContent).join(" ")"""


@of_every_page_with_widgets
def test_from_a_file_every_widget_shows_what_course_lib_computes_and_every_link_sets_its_figure(
    site: Folder, open_page: Callable[..., Page], page_path: str
):
    # Animations stand still, so that picture and numbers are of one moment.
    url = site.url(page_path, scheme="file")
    page = open_page(url, formulas=False, reduced_motion=True)
    # A figure in a shut appendix shows no text.
    page.evaluate(OPEN_APPENDICES)
    for widget in widgets(page):
        agrees_with_course_lib(widget)
    for link in page.locator("a[href^='#fig-']").all():
        address = link.get_attribute("href")
        link.evaluate("(link) => link.click()")
        widget = page.locator(address.partition("?")[0])
        assert unquote(page.evaluate("() => location.hash")) == address
        # An address starts from the figure's first state, and must ask for a change.
        expect(widget).to_be_in_viewport()
        assert widget.get_by_role("alert").all_inner_texts() == []
        state = state_of(widget)
        for name, asked in parse_qsl(address.partition("?")[2]):
            assert is_in_an_address(state[name], asked), f"{address} leaves {name} {state[name]}"
        agrees_with_course_lib(widget)
        # The numbers in a link are readings of the figure that it sets, or what it sets it to.
        said = link.evaluate(OUTSIDE_FORMULAS)
        assert unread(said, widget, address) == [], f"{address} does not show {said}"
