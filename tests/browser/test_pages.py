"""Every page of the built book, and every widget on it before a hand touches it."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import axe_playwright_python
import pytest
from addresses import is_in_an_address
from clock import observed
from conftest import Folder
from course_site import SITE, pages
from displayed import agrees_with_course_lib
from hands import CONTROLS, widgets
from looks import SPILLED
from playwright.sync_api import Page, expect
from reading import state_of

AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text(encoding="utf-8")
KILOBYTE = 1000
MOST = 60 * KILOBYTE
CARRY_A_MODEL = ("TinyGPT", "LatentExplorer", "BasisExplorer", "JetExplorer", "StarExplorer")
MORE = dict.fromkeys(CARRY_A_MODEL, 250 * KILOBYTE)

# Ended and not waited for: a window that paints no frame ends no transition. One may begin another.
END_TRANSITIONS = """() => {
  const running = () => document.getAnimations().filter((a) => a instanceof CSSTransition);
  for (let round = 0; round < 10 && running().length; round += 1) {
    for (const transition of running()) transition.finish();
  }
  return running().length;
}"""

# A formula in a line of text cannot be scrolled. Folds are opened for the look.
FORMULAS_CUT_OR_APART = """async () => {
  await window.MathJax?.startup?.promise;
  const folded = [...document.querySelectorAll("article details:not([open])")];
  for (const e of folded) e.open = true;
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
  try {
    const formulas = [...document.querySelectorAll("span.math")];
    return formulas.filter((span) => span.checkVisibility()).flatMap(outOfLine);
  } finally {
    for (const e of folded) e.open = false; // other tests look at this window too
  }
}"""

# All controls of a widget in one go: between two of them a page of many pixels would be painted.
COVERED = """(host, controls) => [...host.querySelectorAll(controls)].filter((el) => {
  if (!el.checkVisibility({ visibilityProperty: true }) || el.matches(":disabled")) return false;
  el.scrollIntoView({ block: "center", behavior: "instant" });
  const { x, y, width, height } = el.getBoundingClientRect();
  return !host.contains(document.elementFromPoint(x + width / 2, y + height / 2));
}).map((el) => el.getAttribute("aria-label") ?? el.outerHTML.slice(0, 120))"""

of_every_page = pytest.mark.parametrize("page_path", pages())
LECTURES = [path for path in pages() if path.startswith("lectures/")] or pages()
of_every_lecture = pytest.mark.parametrize("page_path", LECTURES)
of_every_page_with_widgets = pytest.mark.parametrize("page_path", pages(with_widgets=True))


# Six of ten elements of a lecture are words and lines of code. Of those of a page that look alike
# on the same ground, one is left. Of the others, words become text of their line, and a line that
# holds nothing else goes. All are looked at before one is changed.
EACH_LOOK_OF_CODE_ONCE = """() => {
  const blocks = [...document.querySelectorAll("pre")];
  const before = blocks.map((block) => block.innerHTML);
  const grounds = new Map();
  // All that lies below a text, and all that dims it: axe mixes it into one colour.
  const ground = (e) => {
    if (!e) return "";
    if (!grounds.has(e)) {
      const { backgroundColor, backgroundImage, opacity, filter, mixBlendMode }
        = getComputedStyle(e);
      const own = [backgroundColor, backgroundImage, opacity, filter, mixBlendMode].join();
      const clear = own === "rgba(0, 0, 0, 0),none,1,none,normal";
      grounds.set(e, ground(e.parentElement) + (clear ? "" : `/${own}`));
    }
    return grounds.get(e);
  };
  const look = (e) => {
    const { color, fontSize, fontWeight, textShadow } = getComputedStyle(e);
    // axe passes over what is hidden, and over a single letter.
    const judged = e.checkVisibility() && e.textContent.trim().length > 1;
    return [color, fontSize, fontWeight, textShadow, ground(e), judged].join();
  };
  const repeated = (elements) => {
    const looks = new Set();
    return new Set(elements.filter((e) => looks.size === looks.add(look(e)).size));
  };
  const all = (parts) => blocks.flatMap((block) => [...block.querySelectorAll(parts)]);
  const words = repeated(all("span:not([id], .line)"));
  const empty = (line) => [...line.querySelectorAll("*")].every((e) => words.has(e));
  const lines = [...repeated(all(".line:not([id])"))].filter(empty);
  for (const word of words) word.replaceWith(...word.childNodes);
  for (const line of lines) line.remove();
  return () => blocks.forEach((block, i) => { block.innerHTML = before[i]; });
}"""


def violations(page: Page) -> list[str]:
    """What axe-core finds: rule, why it matters, and where. No rule is left out, and no look."""
    page.evaluate(AXE)
    found: list[dict[str, Any]] = page.evaluate(
        # To preload would be to fetch the stylesheets again, and to trip over what they import.
        f"""async () => {{
          const folded = [...document.querySelectorAll("article details:not([open])")];
          for (const e of folded) e.open = true;
          const restore = ({EACH_LOOK_OF_CODE_ONCE})();
          const options = {{ resultTypes: ["violations"], preload: false }};
          try {{
            return (await axe.run(document, options)).violations;
          }} finally {{
            restore(); // other tests look at this window too
            for (const e of folded) e.open = false;
          }}
        }}"""
    )
    return [
        f"{violation['id']}: {violation['help']}: {node['html'][:160]} {node['target']}"
        for violation in found
        for node in violation["nodes"]
    ]


@of_every_page
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_in_either_theme(
    site: Folder, look_at: Callable[..., Page], page_path: str, theme: str
):
    # A formula has the colour of its text, and many elements: looked at once, in the light.
    page = look_at(site.url(page_path), theme=theme, formulas=theme == "light")
    assert page.evaluate("() => document.documentElement.dataset.theme") == theme
    assert page.evaluate(END_TRANSITIONS) == 0
    assert violations(page) == []


@pytest.mark.parametrize("part", ["pre .k", "pre .line"], ids=["word", "line"])
def test_axe_sees_a_single_word_or_line_of_code_that_is_too_pale(
    site: Folder, open_page: Callable[..., Page], part: str
):
    page = open_page(site.url("book/instructors.html"), formulas=False)
    assert page.locator(part).count() > 1
    assert violations(page) == []
    page.locator(part).last.evaluate("(part) => { part.style.color = '#999'; }")
    assert any(found.startswith("color-contrast") for found in violations(page))


@of_every_page
@pytest.mark.parametrize("width", [390, 1920])
def test_a_page_fits_the_window(
    site: Folder, look_at: Callable[..., Page], page_path: str, width: int
):
    page = look_at(site.url(page_path), width=width, touch=width < 600)
    assert page.evaluate("() => document.scrollingElement.scrollWidth") <= width


@of_every_page
def test_on_a_telephone_a_formula_in_a_line_is_whole_and_keeps_the_comma_behind_it(
    site: Folder, look_at: Callable[..., Page], page_path: str
):
    page = look_at(site.url(page_path), width=390, touch=True)
    assert page.evaluate(FORMULAS_CUT_OR_APART) == []


@of_every_page
def test_a_page_opens_from_a_file(site: Folder, look_at: Callable[..., Page], page_path: str):
    page = look_at(site.url(page_path, scheme="file"))
    assert page.locator("main h1:visible").first.inner_text().strip()


def payloads(page: Page) -> list[tuple[str, int]]:
    """The bytes of each widget of the page: its state, its module and the stylesheet."""
    texts = page.locator(".cw-host").evaluate_all(
        "hosts => hosts.map((el) => [el.dataset.widget, el.nextElementSibling.textContent])"
    )
    return [(kind, len(text.encode())) for kind, text in texts]


@of_every_page
def test_a_page_weighs_less_than_a_megabyte_and_a_widget_less_than_60_kilobytes(
    site: Folder, look_at: Callable[..., Page], page_path: str
):
    page = look_at(site.url(page_path))
    figures = page.locator("main img").evaluate_all("images => images.map((i) => i.currentSrc)")
    drawn = {SITE / urlsplit(src).path.lstrip("/") for src in figures if site.host in src}
    assert sum(path.stat().st_size for path in {SITE / page_path, *drawn}) < 1000 * KILOBYTE
    heavy = [(kind, size) for kind, size in payloads(page) if size >= MORE.get(kind, MOST)]
    assert heavy == []


def test_the_root_leads_to_the_first_page(site: Folder, open_page: Callable[..., Page]):
    page = open_page(site.url(""))
    page.wait_for_url("**/book/index.html")
    assert page.locator("main h1:visible").first.inner_text().startswith("Attention")


def test_the_reader_can_search(site: Folder, open_page: Callable[..., Page]):
    page = open_page(site.url("search.html?q=softmax"))
    page.locator("#search-results li a").first.wait_for()
    assert page.locator("#search-results li a").count() >= 2


def test_the_search_finds_the_first_lecture_first_and_leads_to_the_first_match(
    site: Folder, open_page: Callable[..., Page]
):
    page = open_page(site.url("search.html?q=softmax"))
    first = page.locator("#search-results li > a").first
    expect(first).to_have_attribute("href", "lectures/01_soft_lookup.html?sought=softmax")
    first.click()
    page.wait_for_url("**/01_soft_lookup.html?sought=softmax")
    page.wait_for_function("() => CSS.highlights.get('sought')?.size > 0")
    observed(page)
    top = page.evaluate(
        "() => [...CSS.highlights.get('sought')][0].getBoundingClientRect().top / innerHeight"
    )
    assert 0.05 < top < 0.95
    assert page.evaluate("() => scrollY") > 0


@pytest.mark.parametrize(
    ("sought", "lectures"),
    [("attention", "01|02"), ("LSTM", "04"), ("Störmer", "11"), ("induction head", "02")],
)
def test_the_search_finds_the_lecture_that_tells_of_it_and_the_phrase_in_it(
    site: Folder, open_page: Callable[..., Page], sought: str, lectures: str
):
    page = open_page(site.url(f"search.html?q={sought}"))
    first = page.locator("#search-results li > a").first
    expect(first).to_have_attribute("href", re.compile(rf"lectures/({lectures})_"))
    first.click()
    page.wait_for_function("() => CSS.highlights.get('sought')?.size > 0")
    observed(page)
    text, top = page.evaluate(
        """() => {
          const [first] = CSS.highlights.get("sought");
          return [first.toString(), first.getBoundingClientRect().top / innerHeight];
        }"""
    )
    assert text.lower() == sought.lower()
    assert 0.05 < top < 0.95


def test_the_theme_chosen_stays_chosen_on_the_next_page(
    site: Folder, open_page: Callable[..., Page]
):
    page = open_page(site.url("book/index.html"), theme="light")
    for _ in range(3):
        page.locator(".theme-switch-button").first.click()
        if page.evaluate("() => document.documentElement.dataset.theme") == "dark":
            break
    page.goto(site.url("book/notation.html"))
    assert page.evaluate("() => document.documentElement.dataset.theme") == "dark"


def test_on_paper_a_dark_page_is_light_and_its_code_is_whole(
    site: Folder, open_page: Callable[..., Page]
):
    page = open_page(site.url(pages(with_widgets=True)[-1]), theme="dark")
    theme = "() => document.documentElement.dataset.theme"
    page.emulate_media(media="print")
    page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate(theme) == "light"
    cut = """() => [...document.querySelectorAll("pre")]
      .filter((e) => e.checkVisibility() && e.scrollWidth > e.clientWidth + 1)
      .map((e) => e.textContent)"""
    assert page.evaluate(cut) == []
    page.emulate_media(media="screen")
    page.evaluate("() => dispatchEvent(new Event('afterprint'))")
    assert page.evaluate(theme) == "dark"


CODE_CUT = """() => {
  const folded = [...document.querySelectorAll("article details:not([open])")];
  for (const e of folded) e.open = true;
  const code = "article :is(.cell_input, .library-source, .highlight-python) pre";
  const cut = [...document.querySelectorAll(code)]
    .filter((e) => e.checkVisibility() && e.scrollWidth > e.clientWidth + 1);
  for (const e of folded) e.open = false;
  return cut.map((e) => e.textContent);
}"""

# Of drawings and of live figures; an exponent has a size of its own.
SMALL_LETTERS = """() => [...document.querySelectorAll(
    "article :is(figure svg, .cw) :is(text, tspan), .cw :not(svg *, .cw-announcer, option)")]
  .filter((e) => [...e.childNodes].some((n) => n.nodeType === Node.TEXT_NODE && n.data.trim()))
  .filter((e) => e.checkVisibility())
  .filter((e) => {
    const place = e.getScreenCTM?.();
    const scale = place ? Math.sqrt(Math.abs(place.a * place.d - place.b * place.c)) : 1;
    const least = e.closest(".drawing.smaller") ? 9.8 : 9.99;
    return parseFloat(getComputedStyle(e).fontSize) * scale < least;
  })
  .map((e) => `${e.closest(".cw-host")?.dataset.widget ?? "still"}: ${e.textContent}`)"""

OPEN_FOLDS = """() => {
  for (const fold of document.querySelectorAll("article details:not(.cw-host *, [open])")) {
    fold.open = true;
    fold.dataset.looked = "";
  }
}"""
CLOSE_THEM = """() => { // other tests look at this window too
  for (const fold of document.querySelectorAll("details[data-looked]")) {
    fold.open = false;
    delete fold.dataset.looked;
  }
}"""
# What scrolls sideways: whether it says so, whether the keyboard reaches it, and whether it hides
# more than a drawing can do without.
SCROLLERS = """async () => {
  await window.MathJax?.startup?.promise;
  const boxes = ".drawing, mjx-container[display=true], .math.wide mjx-container," +
    ".pst-scrollable-table-container";
  return [...document.querySelectorAll(`article :is(${boxes})`)]
    .filter((e) => e.checkVisibility() && e.scrollWidth > e.clientWidth + 1)
    .map((e) => [getComputedStyle(e, "::before").content.includes("Scroll sideways"), e.tabIndex,
      !e.matches(".drawing") || e.scrollWidth >= e.clientWidth + 6]);
}"""


@of_every_page
@pytest.mark.parametrize("width", [390, 1280])
def test_no_line_of_code_is_cut_and_no_letter_of_a_still_figure_is_too_small(
    site: Folder, look_at: Callable[..., Page], page_path: str, width: int
):
    page = look_at(site.url(page_path), width=width, touch=width < 600)
    assert page.evaluate(CODE_CUT) == []
    assert page.evaluate(SMALL_LETTERS) == []


@of_every_page
def test_on_a_telephone_what_scrolls_says_so_and_the_keyboard_reaches_it(
    site: Folder, look_at: Callable[..., Page], page_path: str
):
    page = look_at(site.url(page_path), width=390, touch=True)
    observed(page)
    assert all(scroller == [True, 0, True] for scroller in page.evaluate(SCROLLERS))
    page.evaluate(OPEN_FOLDS)
    observed(page)
    scrollers = page.evaluate(SCROLLERS)
    page.evaluate(CLOSE_THEM)
    assert all(scroller == [True, 0, True] for scroller in scrollers)


@of_every_page
def test_a_formula_that_fits_is_no_stop_of_the_tab_key(
    site: Folder, look_at: Callable[..., Page], page_path: str
):
    page = look_at(site.url(page_path))
    stops = page.locator("mjx-container").evaluate_all(
        "all => all.filter((e) => e.tabIndex >= 0 && e.scrollWidth <= e.clientWidth + 1).length"
    )
    assert stops == 0


# What has the focus when the Tab key has been pressed: something to use, or something that scrolls.
IDLE_STOP = """() => {
  const at = document.activeElement;
  const scrolls = at.scrollWidth > at.clientWidth + 1 || at.scrollHeight > at.clientHeight + 1;
  const used = at.matches("a[href], button, input, select, summary, .cw [tabindex]");
  const named = at.textContent.trim() || at.getAttribute("aria-label") || at.labels?.length;
  const formula = at.closest("mjx-container, .math");
  const idle = formula ? "formula" : used ? !named && "nameless" : !scrolls && "idle";
  return at === document.body ? null : [idle && `${idle}: ${at.outerHTML.slice(0, 200)}`];
}"""


def test_each_stop_of_the_tab_key_is_of_use_and_none_is_a_formula(
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


def test_a_lecture_that_is_marked_as_read_is_ticked_in_the_menu_of_each_page(
    site: Folder, open_page: Callable[..., Page]
):
    page = open_page(site.url(pages(with_widgets=True)[-1]), formulas=False)
    button = page.locator(".read-mark button")
    number = button.get_attribute("data-lecture")
    entry = page.locator(f".bd-links a[data-lecture='{number}']").first
    button.click()
    expect(entry).to_have_attribute("data-read", "")
    page.goto(site.url("book/notation.html"))
    expect(entry).to_have_attribute("data-read", "")
    page.go_back()
    button.click()
    expect(entry).not_to_have_attribute("data-read", "")


def test_a_lecture_says_its_number_and_minutes_and_leads_to_its_neighbours(
    site: Folder, look_at: Callable[..., Page]
):
    path = pages(with_widgets=True)[-1]
    page = look_at(site.url(path))
    number = int(path.removeprefix("lectures/").partition("_")[0])
    assert page.locator("article h1").inner_text().startswith(f"{number} ")
    line = page.locator("article .ways-on")
    minutes = line.inner_text().split()[0]
    assert f"takes about {minutes} minutes" in page.locator("article").inner_text()
    entry = page.locator(f".bd-links a[data-lecture='{number}']").first
    assert f"{minutes} min" in entry.text_content()
    assert line.locator("a").count() == 2
    assert line.bounding_box()["y"] < 300


# Folds: here, so that they are looked at in the windows of the other tests of their page --------

SOLUTIONS = "article details.fold.solution"

OPENING = """() => {
  const [figure, fold] = ["output", "fold"].map((name) => {
    const found = document.querySelector(`article .cell .${name}, article .cell > .${name}`);
    return found.getBoundingClientRect();
  });
  return { top: figure.top, end: figure.bottom, fold: fold.top };
}"""

# The word and the box of a title, and what in it would lead away.
TITLES = """(solutions) => solutions.map((solution) => {
  const title = solution.querySelector("summary");
  const box = solution.getBoundingClientRect();
  const text = document.createRange();
  text.selectNodeContents(title);
  const inside = [...text.getClientRects(), title.getBoundingClientRect()].every((it) =>
    it.left >= box.left && it.right <= box.right && it.top >= box.top && it.bottom <= box.bottom);
  return { inside, lines: new Set([...text.getClientRects()].map((it) => it.top)).size,
    links: title.querySelectorAll("a, button").length };
})"""


# A figure off the screen rests: it stands as wide as the window once it was seen.
HEIGHTS = """async () => {
  const found = [];
  for (const e of document.querySelectorAll(".cw-host:not([data-widget=BreakIt])")) {
    e.scrollIntoView({ behavior: "instant" });
    for (let n = 0; n < 4; n += 1) await new Promise(requestAnimationFrame);
    found.push([e.id, e.querySelector(".cw").getBoundingClientRect().height]);
  }
  return found;
}"""
HIGHEST_ON_A_TELEPHONE = 1100


@of_every_lecture
def test_the_opening_figure_stands_in_the_first_screen_and_its_code_below_it(
    site: Folder, look_at: Callable[..., Page], page_path: str
):
    page = look_at(site.url(page_path), width=1366, height=768)
    if not page.locator("article .cell").count():
        pytest.skip("a lecture of which only the prose was built")
    found = page.evaluate(f"() => {{ scrollTo(0, 0); return ({OPENING})(); }}")
    assert found["top"] < 768 / 2
    assert 768 - found["top"] > 0.6 * (found["end"] - found["top"])
    assert found["fold"] >= found["end"]


@pytest.mark.parametrize("page_path", pages(with_widgets=True))
def test_the_opening_figure_is_at_most_600_pixels_high(
    site: Folder, look_at: Callable[..., Page], page_path: str
):
    page = look_at(site.url(page_path), width=1280)
    name, height = page.evaluate(HEIGHTS)[0]
    assert height <= 600, name


@pytest.mark.parametrize("page_path", pages(with_widgets=True))
def test_on_a_telephone_no_figure_is_much_higher_than_the_screen(
    site: Folder, look_at: Callable[..., Page], page_path: str
):
    page = look_at(site.url(page_path), width=390, height=844, touch=True)
    observed(page)
    high = [at for at in page.evaluate(HEIGHTS) if at[1] > HIGHEST_ON_A_TELEPHONE]
    assert high == []


@of_every_lecture
@pytest.mark.parametrize("width", [390, 768, 1280])
def test_the_title_of_a_solution_lies_in_its_box_and_leads_nowhere(
    site: Folder, look_at: Callable[..., Page], page_path: str, width: int
):
    page = look_at(site.url(page_path), width=width)
    titles = page.locator(SOLUTIONS).evaluate_all(TITLES)
    assert [title for title in titles if title["links"] or not title["inside"]] == []


def test_on_a_telephone_the_title_of_some_solution_takes_two_lines(
    site: Folder, look_at: Callable[..., Page]
):
    page = look_at(site.url(pages(with_widgets=True)[-1]), width=390)
    titles = page.locator(SOLUTIONS).evaluate_all(TITLES)
    assert any(title["lines"] > 1 for title in titles)


# Widgets ---------------------------------------------------------------------------------------


@of_every_page_with_widgets
@pytest.mark.parametrize("scheme", ["http", "file"])
def test_every_widget_is_alive_and_displays_what_course_lib_computes(
    site: Folder, open_page: Callable[..., Page], page_path: str, scheme: str
):
    # What walks by itself stands, so that its picture and its numbers are of one moment.
    page = open_page(site.url(page_path, scheme=scheme), reduced_motion=True, formulas=False)
    for widget in widgets(page):
        expect(widget).to_have_attribute("data-alive", "true")
        agrees_with_course_lib(widget)


@pytest.mark.parametrize("page_path", [path for path in LECTURES if "04_recurrence" in path])
def test_the_text_below_a_prediction_has_its_numbers(
    site: Folder, open_page: Callable[..., Page], page_path: str
):
    page = open_page(site.url(page_path), reduced_motion=True, formulas=False)
    asked = page.locator("[data-widget=Prediction]", has_text="recalls the first letter")
    asked.get_by_role("button", name="Show me").click()
    revealed = asked.locator(".cw-p-number")
    expect(revealed).to_have_count(5)
    told = page.locator(
        "main p", has_text=re.compile("Rings stand|The GRU needs")
    ).all_inner_texts()
    tenths = re.findall(r"[\d.]+\.\d %", " ".join(told).replace("\u00a0", " "))
    assert sorted(tenths) == sorted(revealed.all_inner_texts())


@of_every_page_with_widgets
@pytest.mark.parametrize("width", [390, 1920])
def test_widgets_fit_the_window_and_their_controls_are_within_reach(
    site: Folder, look_at: Callable[..., Page], page_path: str, width: int
):
    page = look_at(site.url(page_path), width=width, touch=width < 600)
    for widget in widgets(page):
        widget.scroll_into_view_if_needed()
        observed(page)  # what was out of sight when the window changed follows now
        kind = widget.get_attribute("data-widget")
        assert widget.evaluate(SPILLED) == [], f"{kind} reaches out of its frame"
        frame = widget.locator(".cw").bounding_box()
        assert frame["x"] >= 0
        assert frame["x"] + frame["width"] <= width, f"{kind} reaches out of the window"
        assert widget.evaluate(COVERED, CONTROLS) == [], f"{kind}: cannot be touched"
        if kind == "Prediction":  # what waits for it comes next
            widget.get_by_role("button", name="Show me").click()


@of_every_page_with_widgets
def test_a_widget_follows_the_theme_button_at_once(
    site: Folder, open_page: Callable[..., Page], page_path: str
):
    page = open_page(site.url(page_path), theme="light", formulas=False)
    paper = "el => getComputedStyle(el.querySelector('.cw')).backgroundColor"
    before = [widget.evaluate(paper) for widget in widgets(page)]
    for _ in range(3):
        page.locator(".theme-switch-button").first.click()
        if page.evaluate("() => document.documentElement.dataset.theme") == "dark":
            break
    after = [widget.evaluate(paper) for widget in widgets(page)]
    assert all(a != b for a, b in zip(after, before, strict=True))


@of_every_page_with_widgets
def test_a_page_without_scripts_says_what_each_widget_shows(
    site: Folder, open_page: Callable[..., Page], page_path: str
):
    page = open_page(site.url(page_path), scripts=False)
    for widget in widgets(page):
        words = widget.locator("p")
        assert words.is_visible()
        assert len(words.inner_text().split()) >= 8


@of_every_page_with_widgets
def test_every_link_to_a_figure_sets_it(
    site: Folder, open_page: Callable[..., Page], page_path: str
):
    page = open_page(site.url(page_path), formulas=False)
    for link in page.locator("a[href^='#fig-']").all():
        address = link.get_attribute("href")
        link.evaluate("(link) => link.click()")
        widget = page.locator(address.partition("?")[0])
        assert page.evaluate("() => location.hash") == address
        # An address is followed from the figure's first state on, and what it asks for is no news.
        expect(widget).to_be_in_viewport()
        assert widget.get_by_role("alert").all_inner_texts() == []
        state = state_of(widget)
        for name, asked in parse_qsl(address.partition("?")[2]):
            assert is_in_an_address(state[name], asked), f"{address} leaves {name} {state[name]}"
        agrees_with_course_lib(widget)
