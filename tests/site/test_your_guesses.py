"""The page of the reader's guesses, and the questions on the built pages that fill it."""

import json
import re
from collections.abc import Callable

import pytest
from browser_fixtures import Folder
from course_site import SITE, pages
from playwright.sync_api import Page, expect

GUESSES = "book/your_guesses.html"
HOSTILE = "<img src=x onerror=\"document.title='owned'\">"
# Blocked only for the page's own script, since the theme does not handle it.
FORBIDDEN = """const { get } = Object.getOwnPropertyDescriptor(window, "localStorage");
Object.defineProperty(window, "localStorage", { get() {
  if (new Error().stack.includes("your_guesses.js")) throw new DOMException("", "SecurityError");
  return get.call(window);
} });"""
ASKS = re.compile(r"data-widget=\"?Prediction")
ASKING = [
    page
    for page in pages(with_widgets=True)
    if page.startswith("lectures/") and ASKS.search((SITE / page).read_text(encoding="utf-8"))
]


def answer_all(page: Page) -> None:
    for question in page.locator(".cw-host[data-widget=Prediction]").all():
        question.get_by_role("button", name="Show me").click()
        expect(question.get_by_role("button", name="Guess again")).to_be_visible()


def poll(page: Page, holds: Callable[[], bool]) -> None:
    """Reload the page until something holds."""
    for _ in range(10):
        if holds():
            return
        page.reload()
    assert holds()


FIGURE = ".cw-host[data-widget=LiveFigure]"
# Figures start only after the page was looked at.
LOOK_FIRST = """addEventListener("DOMContentLoaded", () => {
  const next = document.querySelector(".cell:has([data-widget=Prediction]) + *");
  globalThis.blurAtFirst = getComputedStyle(next).filter;
});
const { text } = Response.prototype;
Response.prototype.text = async function () {
  while (!globalThis.blurAtFirst) await new Promise(requestAnimationFrame);
  return text.call(this);
};"""


@pytest.mark.parametrize(
    ("lecture", "kind"),
    [("/01_", ".proof"), ("/13_", ".pst-scrollable-table-container"), ("/03_", FIGURE)],
)
def test_what_gives_the_answer_is_hidden_until_the_guess(
    lecture: str, kind: str, site: Folder, open_page: Callable[..., Page]
):
    [path, *_] = [path for path in ASKING if lecture in path]
    page = open_page(site.url(path), formulas=False, init=LOOK_FIRST)
    assert page.evaluate("blurAtFirst").startswith("blur")
    waiting = page.locator("[inert], .guess-waits, .guess-hides, .guess-fog")
    assert page.locator("p.guess-hides").count() >= 1
    if kind == FIGURE:
        veiled = page.locator(f".guess-waits {kind}").first
        links = page.locator(f".guess-hides a[href^='#{veiled.get_attribute('id')}?']").all()
        focused = "(link) => { link.focus(); return document.activeElement === link; }"
        assert len(links) >= 2
        assert not any(link.evaluate(focused) for link in links)
    else:
        assert page.locator(f"{kind}.guess-hides").count() >= 1
    assert page.locator(".guess-waits").count() >= 1
    answer_all(page)
    expect(waiting).to_have_count(0)
    page.reload()
    expect(page.locator(".cw-p-answer").first).to_be_visible()
    expect(waiting).to_have_count(0)


def test_only_its_button_marks_a_lecture_as_read_and_confirms_if_a_question_is_open(
    site: Folder, open_page: Callable[..., Page]
):
    path = min(ASKING, key=lambda p: len(ASKS.findall((SITE / p).read_text(encoding="utf-8"))))
    # As files, as in a downloaded copy of the book.
    lecture, guesses = (site.url(p, scheme="file") for p in (path, GUESSES))
    page = open_page(lecture, formulas=False)
    button = page.locator(".read-mark button")
    number = button.get_attribute("data-lecture")
    entry = page.locator(f".bd-links a[data-lecture='{number}']").first
    answer_all(page)
    # Showing every answer does not count as reading.
    expect(entry).not_to_have_attribute("data-read", "")
    button.click()
    expect(entry).to_have_attribute("data-read", "")
    # Equations are glued in a question.
    question = page.locator(".cw-host[data-widget=Prediction] .cw-p-question").first.inner_text()
    page.goto(guesses)
    waiting = page.locator(f".guess-waiting a[href$='{path}']")
    # Chromium passes what one file has stored to the next in its own time.
    poll(page, lambda: waiting.count() == 0)
    link = page.locator("#guess-cards .guess-list a").first
    assert link.inner_text() == " ".join(question.removeprefix("Guess first").split())
    link.click()
    page.wait_for_url(f"**/{path}#*")
    again = page.get_by_role("button", name="Guess again").first
    expect(again).to_be_in_viewport()
    again.click()
    # A mark stays when a question is open again, and a removed one stays removed.
    expect(entry).to_have_attribute("data-read", "")
    button.click()
    page.reload()
    expect(entry).not_to_have_attribute("data-read", "")
    page.goto(guesses)
    poll(page, lambda: waiting.count() == 1)


def records() -> dict[str, str]:
    place = {"page": "lectures/01_soft_lookup.html", "title": "Soft lookup"}
    told = {"truth": "3 %", "off": "7 percentage points", "answer": "It was halved."}
    first = {"slug": "how-much", "question": "How much?", "guess": [10], "said": "10 %"}
    return {
        "attention-course:guess:a#1": json.dumps(
            place | first | told | {"order": 1, "revealed": True}
        ),
        "attention-course:guess:a#2": json.dumps(
            place | first | {"order": 0, "question": HOSTILE, "revealed": False}
        ),
        "attention-course:guess:b#1": json.dumps(
            first | told | {"page": "javascript:alert(1)", "title": HOSTILE, "revealed": True}
        ),
        "attention-course:guess:c#1": "{",
        "theme": "dark",
    }


def put(page: Page, kept: dict[str, str]) -> None:
    page.evaluate(
        "(kept) => { for (const key in kept) localStorage.setItem(key, kept[key]); }", kept
    )
    page.reload()


def test_guesses_are_shown_with_the_truth_as_text_and_picture_and_counted(
    site: Folder, open_page: Callable[..., Page]
):
    page = open_page(site.url(GUESSES))
    links = page.locator(".guess-waiting a").evaluate_all("all => all.map((a) => a.pathname)")
    assert sorted(link.lstrip("/") for link in links) == sorted(ASKING)
    put(page, records())
    cards = page.locator("#guess-cards .guess-list > li")
    assert [part for part in cards.first.inner_text().split("\n") if part] == [
        "How much?", "You", "10 %", "Truth", "3 %", "Off by", "7 percentage points",
        "It was halved.",
    ]  # fmt: skip
    assert "Not compared with the truth yet." in cards.nth(1).inner_text()
    assert HOSTILE in cards.nth(1).inner_text()
    assert cards.locator("a").count() == 2
    kept = json.loads(records()["attention-course:guess:a#1"])
    scale = {"kind": "place", "ends": ["0 %", HOSTILE], "guessAt": 0.1, "truthAt": 0.03}
    far = kept | scale | {"hit": False, "near": False, "far": 0.07}
    near = far | {"question": "And now?", "guessAt": 0.04, "near": True, "far": 0.01}
    chosen = kept | {"kind": "choose", "said": "the mean", "off": "1.96", "far": 0.7, "hit": False}
    put(page, {
        "attention-course:guess:a#1": json.dumps(far),
        "attention-course:guess:a#2": json.dumps(near),
        "attention-course:guess:a#3": json.dumps(far | {"guessAt": "1e999"}),
        "attention-course:guess:b#1": json.dumps(chosen),
    })  # fmt: skip
    assert "1 of 4 were right or close" in page.locator(".guess-nearness").inner_text()
    pictures = page.locator(".guess-list svg")
    assert pictures.count() == 2
    places = pictures.first.locator("circle").evaluate_all(
        "all => all.map((circle) => Number(circle.getAttribute('cx')))"
    )
    assert places[0] > places[1]
    assert HOSTILE in pictures.first.locator("text").last.text_content()
    # A wrong choice has no distance.
    assert "✗ You chose another" in cards.last.inner_text()
    assert "1.96" not in page.locator("#guess-cards").text_content()
    assert page.locator("#guess-cards img").count() == 0


def test_guesses_can_be_saved_as_a_file_and_erased_after_confirmation(
    site: Folder, open_page: Callable[..., Page]
):
    page = open_page(site.url(GUESSES))
    put(page, records())
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as a file").click()
    found = json.loads(download.value.path().read_text(encoding="utf-8"))
    # As in the course, whatever the order of the keys.
    assert [one.get("order") for one in found] == [None, 0, 1]
    assert found[0]["guess"] == [10]
    erase, cards = page.get_by_role("button", name="Erase all"), page.locator("#guess-cards li")
    page.once("dialog", lambda dialog: dialog.dismiss())
    erase.click()
    assert cards.count() > 0
    page.once("dialog", lambda dialog: dialog.accept())
    erase.click()
    page.reload()
    assert page.locator("#guess-cards .guess-list > li").count() == 0
    assert page.evaluate("() => Object.keys(localStorage).includes('theme')")


def test_without_storage_or_scripts_the_page_says_so(site: Folder, open_page: Callable[..., Page]):
    for options, told in [({"init": FORBIDDEN}, "keeps nothing"), ({"scripts": False}, "no guess")]:
        page = open_page(site.url(GUESSES), **options)
        assert told in page.locator("#guess-cards").inner_text()
