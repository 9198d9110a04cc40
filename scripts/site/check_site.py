"""Fail if a built page would send a request to another host, or links to a missing page.

Usage: python scripts/site/check_site.py FOLDER
"""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# Attributes that a browser loads by itself, by element. Plain links are not among them.
LOADED = {
    "audio": ("src",),
    "embed": ("src",),
    "iframe": ("src",),
    "image": ("href",),
    "img": ("src", "srcset"),
    "input": ("src",),
    "link": ("href",),
    "object": ("data",),
    "script": ("src",),
    "source": ("src", "srcset"),
    "track": ("src",),
    "use": ("href", "xlink:href"),
    "video": ("src", "poster"),
}
# A link element of these kinds names an address without loading it.
NAMED_ONLY = {"author", "canonical", "help", "index", "license", "next", "prev", "search"}
CSS_LOADS = re.compile(r"""(?:url\(\s*|@import\s+)["']?((?:https?:)?//[^"')\s]+)""", re.IGNORECASE)


class Page(HTMLParser):
    """The addresses that a page loads, the targets of its links, and its anchors."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.in_style = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect the addresses and anchors of one element."""
        given = {name: value or "" for name, value in attrs}
        self.in_style = tag == "style"
        if "id" in given:
            self.anchors.add(given["id"])
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag == "link" and NAMED_ONLY & set(given.get("rel", "").split()):
            return
        self.loads += [given[name] for name in LOADED.get(tag, ()) if name in given]
        self.loads += CSS_LOADS.findall(given.get("style", ""))

    def handle_data(self, data: str) -> None:
        """Collect what a style element loads."""
        if self.in_style:
            self.loads += CSS_LOADS.findall(data)


def is_foreign(address: str) -> bool:
    """Whether an address names another host."""
    parts = urlsplit(address.strip())
    return parts.scheme in {"http", "https"} or bool(parts.netloc)


def faults(site: Path) -> list[str]:
    """All foreign requests and dead links of the site, one per line."""
    found = []
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
    pages = {path: page for path, page in pages.items() if "_static" not in path.parts}
    for path, page in sorted(pages.items()):
        name = path.relative_to(site)
        found += [f"{name} loads {address}" for address in page.loads if is_foreign(address)]
        local = [a for a in page.loads + page.links if not urlsplit(a).scheme and not is_foreign(a)]
        for address in sorted(set(local)):
            parts = urlsplit(address)
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path.resolve()
            if not target.exists():
                found.append(f"{name} links to {address}, which is not there")
                continue
            anchors = pages[target].anchors if target in pages else set()
            # The part after a question mark sets the state of a figure.
            anchor = unquote(parts.fragment).partition("?")[0]
            if parts.fragment and target in pages and anchor not in anchors:
                found.append(f"{name} links to {address}, which has no such anchor")
    for path in sorted(site.rglob("*.css")):
        for address in CSS_LOADS.findall(path.read_text(encoding="utf-8")):
            found.append(f"{path.relative_to(site)} loads {address}")
    return found


def main() -> None:
    """Check the site named on the command line."""
    site = Path(sys.argv[1]).resolve()
    found = faults(site)
    if found:
        sys.exit("\n".join([f"The built site in {site} has faults:", *found]))


if __name__ == "__main__":
    main()
