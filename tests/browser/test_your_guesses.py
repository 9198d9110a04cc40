"""The page of the reader's guesses, and the questions on the built pages that fill it."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Folder
from course_site import SITE, pages
from playwright.sync_api import Dialog, Page, expect

GUESSES = "book/your_guesses.html"
HOSTILE = "<img src=x onerror=\"document.title='owned'\">"
# To the page's own script alone: the theme has not thought of it.
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


def asked(page: Page, path: str) -> str:
    """Have the first question of a page show its truth; returns the question."""
    question = page.locator(".cw-host[data-widget=Prediction]").first
    question.get_by_role("button", name="Show me").click()
    expect(question.get_by_role("button", name="Guess again")).to_be_visible()
    assert path in page.url
    text = question.locator(".cw-p-question").inner_text()
    return " ".join(text.removeprefix("Guess first").split())  # equations are glued there


@pytest.mark.parametrize("scheme", ["http", "file"])
def test_a_question_of_a_lecture_appears_on_the_page_and_the_link_leads_back(
    site: Folder, open_page: Callable[..., Page], scheme: str
):
    path = ASKING[0]
    page = open_page(site.url(path, scheme=scheme), formulas=False)
    question = asked(page, path)
    page.goto(site.url(GUESSES, scheme=scheme))
    link = page.locator("#guess-cards .guess-list a")
    assert link.inner_text() == question
    assert "no guess" in page.locator("#guess-cards .guess-list > li").inner_text()
    link.click()
    page.wait_for_url(f"**/{path}#*")
    host = page.locator(".cw-host[data-widget=Prediction]").first
    expect(host.get_by_role("button", name="Guess again")).to_be_in_viewport()


@pytest.mark.parametrize("path", ASKING)
def test_the_picture_that_tells_the_answer_waits_for_the_guess(
    site: Folder, open_page: Callable[..., Page], path: str
):
    page = open_page(site.url(path), formulas=False)
    waiting = page.locator(".guess-waits")
    before = waiting.count()
    assert before >= 1
    for question in page.locator(".cw-host[data-widget=Prediction]").all():
        question.get_by_role("button", name="Show me").click()
    expect(waiting).to_have_count(0)
    page.reload()
    expect(page.locator(".cw-p-answer").first).to_be_visible()
    expect(waiting).to_have_count(0)


@pytest.mark.parametrize("path", [p for p in ASKING if re.search("/(03|06)_", p)])
def test_a_figure_that_would_tell_the_answer_waits_with_the_text_that_belongs_to_it(
    site: Folder, open_page: Callable[..., Page], path: str
):
    page = open_page(site.url(path), formulas=False)
    veiled = page.locator(".guess-waits .cw-host[data-widget=LiveFigure]")
    assert veiled.count() >= 1
    links = page.locator(f".guess-hides a[href^='#{veiled.first.get_attribute('id')}?']")
    assert links.count() >= 2
    focused = "(link) => { link.focus(); return document.activeElement === link; }"
    assert not any(link.evaluate(focused) for link in links.all())
    for question in page.locator(".cw-host[data-widget=Prediction]").all():
        question.get_by_role("button", name="Show me").click()
    expect(veiled).to_have_count(0)
    expect(page.locator("[inert], .guess-hides, .guess-waits, .guess-fog")).to_have_count(0)


def test_text_tables_and_claims_after_a_question_wait_too(
    site: Folder, open_page: Callable[..., Page]
):
    page = open_page(site.url("lectures/13_jets.html"), formulas=False)
    for kind in ("p", ".pst-scrollable-table-container", ".proof"):
        assert page.locator(f"{kind}.guess-hides").count() >= 1, kind
    for question in page.locator(".cw-host[data-widget=Prediction]").all():
        question.get_by_role("button", name="Show me").click()
    expect(page.locator(".guess-hides")).to_have_count(0)


def test_a_lecture_is_marked_as_read_by_its_button_alone(
    site: Folder, open_page: Callable[..., Page]
):
    asking = {p: len(ASKS.findall((SITE / p).read_text(encoding="utf-8"))) for p in ASKING}
    path = min(asking, key=asking.get)
    page = open_page(site.url(path), formulas=False)
    button = page.locator(".read-mark button")
    entry = page.locator(
        f".bd-links a[data-lecture='{button.get_attribute('data-lecture')}']"
    ).first
    # Who has every truth shown has not read a word.
    for question in page.locator(".cw-host[data-widget=Prediction]").all():
        question.get_by_role("button", name="Show me").click()
        expect(question.get_by_role("button", name="Guess again")).to_be_visible()
    expect(entry).not_to_have_attribute("data-read", "")
    expect(button).to_contain_text("Mark this lecture as read")
    button.click()
    expect(entry).to_have_attribute("data-read", "")
    expect(button).to_contain_text("take the mark away")
    # A mark stays when a question is open again, and one that the reader took away stays away.
    page.get_by_role("button", name="Guess again").first.click()
    expect(entry).to_have_attribute("data-read", "")
    button.click()
    page.reload()
    expect(button).to_contain_text("Mark this lecture as read")
    expect(entry).not_to_have_attribute("data-read", "")


def test_a_lecture_whose_question_is_open_again_asks_once_more(
    site: Folder, open_page: Callable[..., Page]
):
    asking = {p: len(ASKS.findall((SITE / p).read_text(encoding="utf-8"))) for p in ASKING}
    path = min(asking, key=asking.get)
    page = open_page(site.url(path), formulas=False)
    # A mark of the reader's own says nothing of the questions.
    page.locator(".read-mark button").click()
    shown = page.locator(".cw-host[data-widget=Prediction]").all()
    for question in shown:
        question.get_by_role("button", name="Show me").click()
        expect(question.get_by_role("button", name="Guess again")).to_be_visible()
    waiting = "all => all.map((a) => a.pathname)"
    page.goto(site.url(GUESSES))
    links = page.locator(".guess-waiting a")
    assert f"/{path}" not in links.evaluate_all(waiting)
    page.goto(site.url(path))
    page.get_by_role("button", name="Guess again").first.click()
    page.goto(site.url(GUESSES))
    assert f"/{path}" in links.evaluate_all(waiting)


def records() -> dict[str, str]:
    place = {"page": "lectures/01_soft_lookup.html", "title": "Soft lookup"}
    told = {"truth": "3 %", "off": "7 percentage points", "answer": "It was halved."}
    first = {"slug": "how-much", "question": "How much?", "guess": [10], "said": "10 %"}
    return {
        "attention-course:guess:a#1": json.dumps(place | first | told | {"revealed": True}),
        "attention-course:guess:a#2": json.dumps(
            place | first | {"question": HOSTILE, "revealed": False}
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


def test_guesses_stand_beside_the_truth_as_text(site: Folder, open_page: Callable[..., Page]):
    page = open_page(site.url(GUESSES))
    put(page, records())
    assert page.locator("article h1").inner_text().startswith("Your guesses")
    cards = page.locator("#guess-cards .guess-list > li").all_inner_texts()
    assert len(cards) == 3
    assert [part for part in cards[0].split("\n") if part] == [
        "How much?", "You", "10 %", "Truth", "3 %", "Off by", "7 percentage points",
        "It was halved.",
    ]  # fmt: skip
    assert "Not compared with the truth yet." in cards[1]
    assert HOSTILE in cards[1]
    assert page.locator("#guess-cards img").count() == 0
    assert page.locator("#guess-cards .guess-list a").count() == 2


def test_a_guess_is_drawn_beside_the_truth_and_counted_among_the_near_ones(
    site: Folder, open_page: Callable[..., Page]
):
    kept = json.loads(records()["attention-course:guess:a#1"])
    scale = {"kind": "place", "ends": ["0 %", HOSTILE], "guessAt": 0.1, "truthAt": 0.03}
    told = {"hit": False, "near": False, "far": 0.07}
    near = {**kept, "question": "And now?", **scale, "guessAt": 0.04, "near": True, "far": 0.01}
    page = open_page(site.url(GUESSES))
    put(page, {
        "attention-course:guess:a#1": json.dumps(kept | scale | told),
        "attention-course:guess:a#2": json.dumps(near | {"hit": False}),
        "attention-course:guess:a#3": json.dumps(kept | scale | told | {"guessAt": "1e999"}),
    })  # fmt: skip
    assert "1 of 3 were right or close" in page.locator(".guess-nearness").inner_text()
    pictures = page.locator(".guess-list svg")
    assert pictures.count() == 2
    ends = pictures.first.locator("circle").evaluate_all(
        "all => all.map((circle) => Number(circle.getAttribute('cx')))"
    )
    assert ends[0] > ends[1]
    assert HOSTILE in pictures.first.locator("text").last.text_content()
    assert page.locator("#guess-cards img").count() == 0


def test_of_a_wrong_choice_no_number_says_how_far_off_it_was(
    site: Folder, open_page: Callable[..., Page]
):
    kept = json.loads(records()["attention-course:guess:a#1"])
    chosen = {"kind": "choose", "said": "the mean", "off": "1.96", "far": 0.7, "revealed": True}
    page = open_page(site.url(GUESSES))
    put(page, {
        "attention-course:guess:a#1": json.dumps(kept | chosen | {"hit": False}),
        "attention-course:guess:a#2": json.dumps(
            kept | chosen | {"hit": True, "off": "You hit it", "far": 0}
        ),
    })  # fmt: skip
    told = page.locator("#guess-cards")
    assert "1.96" not in (told.text_content() or "")
    cards = told.locator(".guess-list > li").all_inner_texts()
    assert "✗ You chose another" in cards[0]
    assert "✓ You hit it" in cards[1]


NAVIGATION = """<nav class="bd-links"><a data-lecture="1" href="lectures/01_soft_lookup.html"> 1 ·
Soft lookup </a><a data-lecture="2" data-read href="lectures/02_self_attention.html">2 ·
Self-attention</a><a data-lecture="3" href="lectures/03_attention_as_a_basis.html">3 · A basis</a>
</nav>"""


def test_lectures_that_still_ask_are_listed_with_what_was_guessed_there(
    open_page: Callable[..., Page], tmp_path: Path
):
    script = (Path(__file__).parents[2] / "book/_static/your_guesses.js").read_text("utf-8")
    path = tmp_path / "guesses.html"
    path.write_text(
        f"<!doctype html><title>Guesses</title>{NAVIGATION}"
        f'<div id="guess-cards"></div><script>{script}</script>',
        encoding="utf-8",
    )
    page = open_page(path.as_uri())
    put(page, {"attention-course:answered": '["3"]'})
    entries = page.locator(".guess-waiting li")
    assert entries.all_inner_texts() == [
        "1 · Soft lookup: no guess yet",
        "2 · Self-attention: no guess yet",
    ]
    put(page, records())
    assert entries.all_inner_texts() == [
        "1 · Soft lookup: 2 guesses, 1 not compared with the truth yet",
        "2 · Self-attention: no guess yet",
    ]
    links = entries.locator("a").evaluate_all("all => all.map((a) => a.getAttribute('href'))")
    assert [link.rpartition("/")[2] for link in links] == [
        "01_soft_lookup.html",
        "02_self_attention.html",
    ]


def test_every_lecture_of_the_menu_asks_and_is_linked_until_it_is_answered(
    site: Folder, open_page: Callable[..., Page]
):
    page = open_page(site.url(GUESSES))
    links = page.locator(".guess-waiting a").evaluate_all("all => all.map((a) => a.pathname)")
    assert sorted(link.lstrip("/") for link in links) == sorted(ASKING)


def test_the_reader_takes_the_guesses_along_as_a_file(site: Folder, open_page: Callable[..., Page]):
    page = open_page(site.url(GUESSES))
    put(page, records())
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as a file").click()
    assert download.value.suggested_filename == "your_guesses.json"
    found = json.loads(download.value.path().read_text(encoding="utf-8"))
    assert [one["question"] for one in found] == ["How much?", HOSTILE, "How much?"]
    assert found[0]["guess"] == [10]


def test_guesses_are_erased_only_when_the_reader_says_so_twice(
    site: Folder, open_page: Callable[..., Page]
):
    page = open_page(site.url(GUESSES))
    put(page, records())
    said = []

    def dismiss(dialog: Dialog) -> None:
        said.append(dialog.message)
        dialog.dismiss()

    page.once("dialog", dismiss)
    page.get_by_role("button", name="Erase all").click()
    assert said == ["Erase your 4 answers? Nobody else has a copy."]
    assert page.locator("#guess-cards .guess-list > li").count() == 3
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Erase all").click()
    assert "You have not guessed yet." in page.locator("#guess-cards").inner_text()
    assert page.evaluate("() => Object.keys(localStorage).includes('theme')")
    page.reload()
    assert page.locator("#guess-cards .guess-list > li").count() == 0


def test_where_the_browser_keeps_nothing_the_page_says_so(
    site: Folder, open_page: Callable[..., Page]
):
    page = open_page(site.url(GUESSES), init=FORBIDDEN)
    assert "keeps nothing" in page.locator("#guess-cards").inner_text()


def test_without_scripts_the_page_says_what_it_is_for(site: Folder, open_page: Callable[..., Page]):
    page = open_page(site.url(GUESSES), scripts=False)
    assert "no guess is kept" in page.locator("#guess-cards").inner_text()
