"""What a page folds: the picture before its code, checks and solutions in one line that opens."""

from collections.abc import Callable

import pytest
from conftest import Folder
from course_site import pages
from frames import SOME_FRAMES
from playwright.sync_api import Page, expect

LECTURES = [path for path in pages() if path.startswith("lectures/")] or pages()
FOLDS = "article details.fold"
SOLUTIONS = f"{FOLDS}.solution"

of_every_lecture = pytest.mark.parametrize("page_path", LECTURES)

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


@pytest.fixture
def lecture(site: Folder) -> str:
    return site.url(pages(with_widgets=True)[-1])


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
# Eight heads and two rows of bars; curves of five integrators with their table; and all that the
# last figure keeps behind a switch.
LONG_ON_A_TELEPHONE = {
    "fig-tiny-gpt": 1350,
    "fig-energy-drift": 1800,
    "fig-energy-drift-2": 1800,
    "fig-position-explorer-2": 2300,
}


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
    page.evaluate(SOME_FRAMES)
    high = [at for at in page.evaluate(HEIGHTS) if at[1] > LONG_ON_A_TELEPHONE.get(at[0], 1100)]
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
    lecture: str, look_at: Callable[..., Page]
):
    page = look_at(lecture, width=390)
    titles = page.locator(SOLUTIONS).evaluate_all(TITLES)
    assert any(title["lines"] > 1 for title in titles)


@pytest.mark.parametrize("options", [{}, {"scripts": False}], ids=["scripts", "no scripts"])
@pytest.mark.parametrize("kind", ["checked", "below", "solution"])
def test_a_fold_opens_by_hand_and_by_keyboard_also_without_scripts(
    lecture: str, open_page: Callable[..., Page], kind: str, options: dict[str, bool]
):
    page = open_page(lecture, formulas=False, **options)
    fold = page.locator(f"{FOLDS}.{kind}").first
    line, content = fold.locator("> summary"), fold.locator("> :not(summary)").first
    expect(content).not_to_be_visible()
    line.click()
    expect(content).to_be_visible()
    line.press("Enter")
    expect(content).not_to_be_visible()
    line.press("Space")
    expect(content).to_be_visible()


def test_each_claim_of_a_lecture_has_its_check_folded_to_one_line(
    lecture: str, look_at: Callable[..., Page]
):
    page = look_at(lecture)
    claims = page.locator("article .cell.tag_claim")
    lines = claims.locator("> details.checked > summary")
    assert lines.count() == claims.count() > 0
    assert set(lines.all_inner_texts()) == {"✓ checked when this page was built"}


def test_on_paper_every_fold_is_open(lecture: str, open_page: Callable[..., Page]):
    page = open_page(lecture, formulas=False)
    shut = page.locator(f"{FOLDS}:not([open])")
    before = shut.count()
    assert before > 0
    page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    assert shut.count() == 0
    page.evaluate("() => dispatchEvent(new Event('afterprint'))")
    assert shut.count() == before
