"""A page on paper: whole, light, with folds in an appendix; afterwards the page is as before."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from browser_fixtures import Folder
from clock import observed
from course_site import ROOT, pages
from playwright.sync_api import Page, expect
from pypdf import PdfReader

of_several_pages = pytest.mark.parametrize("page_path", pages(with_widgets=True)[::8])

PRINT = "() => dispatchEvent(new Event('beforeprint'))"
PRINTED = "() => dispatchEvent(new Event('afterprint'))"
WIDTH = 698  # pixels between the margins of a sheet of A4 that browsers take

# Elements outside the sheet, or outside a box that would scroll. The assistive copy of a formula
# has no width on the page.
CUT = """(width) => {
  const unseen = "mjx-assistive-mml, .cw-announcer, defs, script, style, mjx-ext, svg *";
  const seen = (e) => !e.closest(unseen) && e.checkVisibility();
  const all = [...document.querySelectorAll("article *")].filter(seen);
  const right = (e) => e.getBoundingClientRect().right;
  const clips = (e) => {
    const { overflowX, display } = getComputedStyle(e);
    return overflowX !== "visible" && display !== "inline" && e.clientWidth > 3;
  };
  const cut = (e) => [...e.querySelectorAll("*")].some((c) => seen(c) && right(c) > right(e) + 4);
  return all.filter((e) => right(e) > width + 1 || (clips(e) && cut(e)))
    .map((e) => e.outerHTML.slice(0, 200));
}"""
# A select shows its choice on paper too.
PRESSED = """() => [...document.querySelectorAll("article :is(button, select, input)")]
  .filter((e) => e.checkVisibility())
  .filter((e) => !e.matches(".cw-p-option, th > button, [type=radio], [type=checkbox]"))
  .map((e) => e.outerHTML.slice(0, 200))"""
ASKED = """() => [...document.querySelectorAll(".cw-host[data-widget=Prediction]")]
  .map((e) => e.courseModel).filter((it) => !it.get("revealed")).map((it) => it.get("answer"))"""
# Code that goes to the next sheet as a whole.
UNBROKEN = """() => [...document.querySelectorAll(
    "article pre:not(.cw-host *, .proof *, .exercise *)")].filter((e) => {
    for (let at = e; !at.matches("article"); at = at.parentElement) {
      const { overflowY, breakInside, display } = getComputedStyle(at);
      if (overflowY !== "visible" || breakInside !== "auto" || display === "flex") return true;
    }
    return false;
  }).map((e) => e.parentElement.outerHTML.slice(0, 200))"""
CONTENTS = """() => [...document.querySelectorAll("article details > :not(summary)")]
  .map((e) => e.checkVisibility())"""
STRUCTURE = """() => [...document.querySelectorAll("article *:not(.cw-host *)")]
  .map((e) => e.localName + (e.open ?? "")).join()"""


@of_several_pages
def test_on_paper_a_page_is_whole_and_light_and_has_no_buttons(
    site: Folder, open_page: Callable[..., Page], page_path: str
):
    page = open_page(site.url(page_path), theme="dark")
    page.evaluate("async () => { await window.MathJax?.startup?.promise; }")
    before = page.evaluate(STRUCTURE)
    page.emulate_media(media="print")
    page.evaluate(PRINT)
    page.set_viewport_size({"width": WIDTH, "height": 1000})
    observed(page)
    assert page.evaluate("() => document.documentElement.dataset.theme") == "light"
    assert page.locator("article details:not([open], .cw-host *)").count() == 0
    assert page.evaluate(CUT, WIDTH) == []
    assert page.evaluate(PRESSED) == []
    assert page.evaluate(UNBROKEN) == []
    answers = page.locator("article .appendix").all_text_contents()
    for answer in page.evaluate(ASKED):
        assert answer in answers[0]
    for link in page.locator(".in-appendix a").all():
        expect(page.locator(link.get_attribute("href"))).to_have_count(1)
    page.evaluate(PRINTED)
    assert page.evaluate(STRUCTURE) == before
    assert page.evaluate("() => document.documentElement.dataset.theme") == "dark"


@pytest.fixture
def lecture(site: Folder) -> str:
    return site.url(pages(with_widgets=True)[-1])


def test_the_appendix_has_each_solution_and_opened_folds_stay_in_place(
    lecture: str, open_page: Callable[..., Page]
):
    page = open_page(lecture, formulas=False)
    solutions = page.locator("article details.solution")
    count = solutions.count()
    solutions.first.evaluate("(fold) => { fold.open = true; }")
    page.evaluate(PRINT)
    assert page.locator("article .appendix details.solution").count() == count - 1 > 0
    page.evaluate(PRINTED)
    assert page.locator("article .appendix").count() == 0
    assert page.locator("article details[open]").count() == 1


def test_without_scripts_a_fold_is_open_on_paper_in_place(
    lecture: str, open_page: Callable[..., Page]
):
    page = open_page(lecture, scripts=False)
    assert not any(page.evaluate(CONTENTS))
    page.emulate_media(media="print")
    found = page.evaluate(CONTENTS)
    assert len(found) > 10
    assert all(found)
    questions = page.locator(".cw-host[data-widget=Prediction] p")
    assert questions.count() > 0
    assert all("Answer: " in words for words in questions.all_inner_texts())


def test_the_book_is_one_pdf_with_an_outline_and_links_lead_from_page_to_page(
    site: Folder, chromium: str, tmp_path: Path
):
    output, names = tmp_path / "course.pdf", ["book/index", "book/how_to_use"]
    command = [sys.executable, "scripts/site/pdf.py", site.path, output, *names]
    environment = os.environ | {"CHROME_PATH": chromium}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    pdf = PdfReader(output)
    chapters = [entry for entry in pdf.outline if not isinstance(entry, list)]
    assert [chapter.title for chapter in chapters] == [
        "Attention: from memory to mechanics",
        "How to use this course",
    ]
    second = pdf.get_destination_page_number(chapters[1])
    links = [
        (sheet, link.get_object()) for sheet in pdf.pages for link in sheet.get("/Annots") or []
    ]
    assert not any("file:" in str(link.get("/A")) for _, link in links)
    leads = {
        (sheet.page_number, pdf.get_page_number(link["/Dest"][0].get_object()))
        for sheet, link in links
        if "/Dest" in link
    }
    assert any(start < second <= end for start, end in leads)
    assert any(start >= second and end >= second for start, end in leads)
