"""Write the built book as one PDF with an outline and links between pages.

Usage: python scripts/site/pdf.py SITE OUTPUT [PAGE…]

Chromium prints each page, as a reader's browser would. Without PAGEs, such as
``lectures/05_position``, all pages of the table of contents are printed, in its order.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import unquote

import chromium
import yaml
from playwright.sync_api import Page, sync_playwright
from pypdf import PdfReader, PdfWriter
from pypdf.generic import ArrayObject, DictionaryObject, NameObject, NullObject, TextStringObject

ROOT = Path(__file__).resolve().parents[2]
LONGEST = 120_000  # milliseconds for one page
READY = """async () => {
  await window.MathJax?.startup?.promise;
  return [...document.querySelectorAll(".cw-host")].every((e) => e.dataset.alive === "true");
}"""


def table_of_contents() -> list[str]:
    """The pages of the book, in order."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    chapters = [chapter["file"] for part in toc["parts"] for chapter in part["chapters"]]
    return [toc["root"], *chapters]


def printed(page: Page, address: str, path: Path, titles: dict[str, str]) -> PdfReader:
    """Print a page of the site; ``titles`` maps titles without spaces to titles with them."""
    page.goto(address)
    page.wait_for_function(READY)
    headings = page.locator(":is(h1, h2, h3, h4)").all_inner_texts()
    titles |= {"".join(text.split()): " ".join(text.split()) for text in headings}
    page.pdf(path=path, prefer_css_page_size=True, format="A4", outline=True, tagged=True)
    return PdfReader(path)


def entries(of: DictionaryObject) -> Iterator[DictionaryObject]:
    """All entries of an outline."""
    entry = of.get("/First")
    while entry:
        yield entry.get_object()
        yield from entries(entry.get_object())
        entry = entry.get_object().get("/Next")


def annotations(writer: PdfWriter) -> Iterator[tuple[Any, DictionaryObject]]:
    """Each link of the PDF, with the number of its sheet."""
    for sheet in writer.pages:
        for annotation in list(sheet.get("/Annots") or []):
            yield sheet, annotation.get_object()


def joined(readers: dict[str, PdfReader], titles: dict[str, str]) -> PdfWriter:
    """Join printed pages, given by address, to one PDF."""
    writer, places, owner = PdfWriter(), {}, {}
    for address, reader in readers.items():
        first = len(writer.pages)
        writer.append(reader)
        owner |= dict.fromkeys(range(first, len(writer.pages)), address)
        places[address] = [writer.pages[first].indirect_reference, NameObject("/Fit")]
        for name, target in reader.named_destinations.items():
            sheet = writer.pages[first + reader.get_destination_page_number(target)]
            where = [NameObject("/XYZ"), target.left, target.top, NullObject()]
            places[f"{address}#{unquote(name).removeprefix('/')}"] = [
                sheet.indirect_reference,
                *where,
            ]
    # Chromium drops the space at a line break in a title, and lists a title twice that is moved to
    # the next sheet.
    for entry in entries(writer.get_outline_root()):
        title = "".join(entry["/Title"].split())
        half = title[: len(title) // 2]
        said = titles.get(half if title == 2 * half else title, entry["/Title"])
        entry[NameObject("/Title")] = TextStringObject(said)
    for sheet, link in annotations(writer):
        action = link.get("/A", {})
        target = unquote(action.get("/URI", ""))
        if "/Dest" in link:
            target = f"{owner[sheet.page_number]}#{unquote(str(link['/Dest'])).removeprefix('/')}"
        elif not target.startswith("file:"):
            continue
        place = places.get(target) or places.get(target.partition("#")[0])
        link.pop("/A", None)
        link.pop("/Dest", None)
        if place:
            link[NameObject("/Dest")] = ArrayObject(place)
    return writer


def main() -> None:
    """Print the pages that the command line names."""
    site, output, *pages = sys.argv[1:]
    path = chromium.installed() or chromium.playwrights_own()
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = browser.new_page()
        page.set_default_timeout(LONGEST)
        addresses = [
            (Path(site).resolve() / f"{name}.html").as_uri()
            for name in pages or table_of_contents()
        ]
        titles: dict[str, str] = {}
        readers = {
            address: printed(page, address, Path(folder, f"{number}.pdf"), titles)
            for number, address in enumerate(addresses)
        }
        joined(readers, titles).write(output)
    print(f"Open {output}.")


if __name__ == "__main__":
    main()
