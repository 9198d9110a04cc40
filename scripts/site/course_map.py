"""Orientation for readers: numbers and minutes of lectures, their list, links between lectures.

A lecture's number is in its title and its minutes below; both are in the menu. "Lecture 4" in the
prose is a link. ``{{ plan }}`` on the first page is the list of all lectures.
"""

import functools
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import nbformat
import yaml
from captions import with_captions
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

MINUTES = re.compile(r"\btakes about (\d+) minutes")
MENTION = re.compile(r"\b[Ll]ectures?[ \n]\d+(?:(?:, | and | or | to |–)\d+)*")
NUMBER = re.compile(r"\d+")
ENTRY = re.compile(
    r'<a class="(?P<kinds>[^"]*)" href="(?P<to>[^"]*)">\s*(?P<number>\d+) · (?P<title>[^<]*)</a>'
)


class Lecture(NamedTuple):
    """What a menu shows of a lecture."""

    number: int
    docname: str
    minutes: int


@functools.cache
def lectures(folder: Path) -> dict[int, Lecture]:
    """The lectures of a book by number; the text of each states its minutes."""
    found = {}
    for path in sorted((folder / "lectures").glob("[0-9]*")):
        minutes = MINUTES.search(path.read_text(encoding="utf-8"))
        number = int(path.name.partition("_")[0])
        if path.suffix in {".ipynb", ".md"}:
            found[number] = Lecture(
                number, f"lectures/{path.stem}", int(minutes[1]) if minutes else 0
            )
    return found


def lecture_of(app: Sphinx, docname: str) -> Lecture | None:
    """The lecture of a page, if it is one."""
    known = lectures(Path(app.srcdir)).values()
    return next((lecture for lecture in known if lecture.docname == docname), None)


def with_plan(app: Sphinx, docname: str, source: list[str]) -> None:
    """Write the list of lectures into the first page: by part, each with its question."""
    if "{{ plan }}" in source[0] and docname == app.config.root_doc:
        source[0] = source[0].replace("{{ plan }}", plan(app.srcdir))
        for path in Path(app.srcdir, "lectures").glob("*.ipynb"):
            app.env.note_dependency(str(path))


def plan(folder: Path) -> str:
    """The list in Markdown, from ``_toc.yml`` and the metadata of the notebooks."""
    toc = yaml.safe_load((folder / "_toc.yml").read_text(encoding="utf-8"))
    lines = []
    for part in toc["parts"]:
        files = [chapter["file"] for chapter in part["chapters"]]
        entries = [
            f"{int(NUMBER.search(file)[0])} · {{doc}}`/{file}`\n: {question}\n"
            for file in files
            if (question := question_of(folder / f"{file}.ipynb"))
        ]
        if entries:
            lines += [f"### {part['caption']}\n", *entries]
    return "\n".join(lines)


def question_of(path: Path) -> str | None:
    """The question of a notebook that the list shows."""
    if not path.is_file():
        return None
    return nbformat.read(path, as_version=nbformat.NO_CONVERT).metadata.get("question")


class LinkLectures(SphinxPostTransform):
    """Make each "lecture 4" in the prose a link, except to the page itself."""

    default_priority = 190
    formats = ("html",)
    no_links_in = (nodes.reference, nodes.title, nodes.literal, nodes.FixedTextElement, nodes.raw)

    def run(self, **_: Any) -> None:
        """Link the mentions of one page."""
        known = lectures(Path(self.app.srcdir))
        here = self.env.docname

        def address(number: str) -> str | None:
            lecture = known.get(int(number))
            if lecture is None or lecture.docname == here:
                return None
            return self.app.builder.get_relative_uri(here, lecture.docname)

        for text in list(self.document.findall(nodes.Text)):
            if not self._is_in(text) and MENTION.search(text):
                text.parent.replace(text, list(linked(text, address)))

    def _is_in(self, node: nodes.Node) -> bool:
        while node.parent is not None:
            node = node.parent
            if isinstance(node, self.no_links_in):
                return True
        return False


def linked(text: str, address: Callable[[str], str | None]) -> list[nodes.Node]:
    """Split a ``text`` into nodes; lectures with an ``address`` become links."""
    spans = []
    for mention in MENTION.finditer(text):
        numbers = [number.span() for number in NUMBER.finditer(text, *mention.span())]
        spans += [mention.span()] if len(numbers) == 1 else numbers
    pieces: list[nodes.Node] = []
    last = 0
    for start, end in spans:
        to = address(NUMBER.search(text, start, end)[0])
        if to is not None:
            shown = nodes.Text(text[start:end])
            link = nodes.reference("", "", shown, refuri=to, internal=True)
            pieces += [nodes.Text(text[last:start]), link]
            last = end
    return [*pieces, nodes.Text(text[last:])]


def with_whereabouts(
    app: Sphinx, pagename: str, _template: str, context: dict[str, Any], _doctree: object
) -> None:
    """Write number, minutes and links to the neighbours into a page, and minutes into its menu."""
    known = lectures(Path(app.srcdir))
    lecture = lecture_of(app, pagename)
    menu = context.get("generate_toctree_html")
    if menu is not None:
        context["generate_toctree_html"] = lambda *given, **options: with_minutes(
            str(menu(*given, **options)), known
        )
    if lecture is None:
        return
    body = context["body"]
    body = re.sub(
        "<h1>", f'<h1><span class="lecture-number">{lecture.number}</span> ', body, count=1
    )
    body = re.sub("</h1>", f"</h1>{ways_on(context, lecture)}", body, count=1)
    button = (
        f'<p class="read-mark"><button class="btn" data-lecture="{lecture.number}" hidden>'
        "Mark this lecture as read</button></p>"
    )
    context["body"] = with_captions(body, lecture.number) + button


def with_minutes(menu: str, known: dict[int, Lecture]) -> str:
    """Add the minutes to the lectures of a menu."""

    def entry(found: re.Match[str]) -> str:
        lecture = known.get(int(found["number"]))
        if lecture is None or not lecture.minutes:
            return found[0]
        return (
            f'<a class="{found["kinds"]}" href="{found["to"]}" data-lecture="{lecture.number}">'
            f"{found['number']} · {found['title']}"
            f' <span class="minutes">{lecture.minutes} min</span></a>'
        )

    return ENTRY.sub(entry, menu)


def ways_on(context: dict[str, Any], lecture: Lecture) -> str:
    """The line below a title: minutes, previous and next lecture."""
    links = [
        f'<a href="{context[way]["link"]}" rel="{way}">{begin}{context[way]["title"]}{end}</a>'
        for way, begin, end in (("prev", "← ", ""), ("next", "", " →"))
        if context.get(way)
    ]
    time = f"<span>{lecture.minutes} minutes</span>" if lecture.minutes else ""
    return f'<p class="ways-on">{time}{"".join(links)}</p>'


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx, after the theme has found the neighbours of a page."""
    app.add_post_transform(LinkLectures)
    app.connect("source-read", with_plan)
    app.connect("html-page-context", with_whereabouts, priority=901)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
