"""Folds of a page: pictures before their code, checks and solutions in one line."""

from collections.abc import Callable

import pytest
from browser_fixtures import Folder
from course_site import pages
from playwright.sync_api import Page, expect

FOLDS = "article details.fold"


@pytest.fixture
def lecture(site: Folder) -> str:
    return site.url(pages(with_widgets=True)[-1])


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_a_fold_opens_by_mouse_and_keyboard_also_without_scripts(
    lecture: str,
    open_page: Callable[..., Page],
    scripts: bool,  # noqa: FBT001 - a parameter of pytest
):
    page = open_page(lecture, formulas=False, scripts=scripts)
    for kind in ("checked", "below", "solution"):
        fold = page.locator(f"{FOLDS}.{kind}").first
        line, content = fold.locator("> summary"), fold.locator("> :not(summary)").first
        expect(content).not_to_be_visible()
        line.click()
        expect(content).to_be_visible()
        line.press("Enter")
        expect(content).not_to_be_visible()


def test_each_claim_of_a_lecture_has_its_check_folded_to_one_line(
    lecture: str, open_page: Callable[..., Page]
):
    page = open_page(lecture)
    claims = page.locator("article .cell.tag_claim")
    lines = claims.locator("> details.checked > summary")
    assert lines.count() == claims.count() > 0
    assert set(lines.all_text_contents()) == {"✓ checked when this page was built"}
