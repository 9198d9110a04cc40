"""The MyST prose of a lecture as HTML for slides: directives, roles, citations and glued numbers.

The book leaves this to Sphinx. Slides need a small part of it; a directive or role outside that
part raises ``ValueError``, so that nothing is dropped in silence.
"""

import base64
import html
import mimetypes
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.amsmath import amsmath_plugin
from mdit_py_plugins.attrs import attrs_plugin
from mdit_py_plugins.colon_fence import colon_fence_plugin
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.myst_blocks import myst_block_plugin
from mdit_py_plugins.myst_role import myst_role_plugin
from pybtex.database import BibliographyData, Entry, Person, parse_file
from pybtex.richtext import Text
from pygments import highlight as pygments_highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name

BOXES = {
    "admonition", "attention", "caution", "danger", "dropdown", "error", "hint", "important",
    "margin", "note", "seealso", "sidebar", "tip", "topic", "warning",
}  # fmt: skip
UNSEEN = {"contents", "solution", "solution-start", "solution-end", "tableofcontents"}
LABELLED = re.compile(
    r"^[`:]{3,}\{(?P<kind>prf:\w+|exercise)\}[ ]*(?P<title>[^\n]*)\n(?:\s*:\w+:[^\n]*\n)*?"
    r"\s*:label:[ ]*(?P<label>\S+)",
    re.MULTILINE,
)
TARGET = re.compile(r"^\((?P<label>[\w-]+)\)=\n+#+ (?P<title>[^\n]+)", re.MULTILINE)
NAMED = re.compile(r"^(?P<text>.*?)\s*<(?P<target>[^>]+)>$", re.DOTALL)


def highlight(source: str, language: str) -> str:
    """Source code in colour, as HTML; a language that Pygments does not know as plain text."""
    lexer = get_lexer_by_name(language or "text")
    return pygments_highlight(source.rstrip() + "\n", lexer, HtmlFormatter())


def directive_parts(content: str) -> tuple[dict[str, str], str]:
    """A directive's options and its body: ``:name: value`` lines, or a YAML block, come first."""
    if content.startswith("---\n"):
        block, body = content[4:].split("---\n", 1)
        return {name: str(value) for name, value in yaml.safe_load(block).items()}, body
    lines = content.splitlines(keepends=True)
    options = {}
    while lines and (match := re.match(r"\s*:([\w-]+):\s*(.*)", lines[0])):
        options[match[1]] = match[2].strip()
        lines.pop(0)
    return options, "".join(lines)


class Prose:
    """Renders the Markdown of one lecture."""

    def __init__(
        self,
        *,
        folder: Path,
        references: Path,
        titles: dict[str, str],
        labels: dict[str, str],
        glued: dict[str, dict[str, str]],
    ) -> None:
        self.folder = folder
        self.titles = titles
        self.label_texts = labels
        self.glued = glued
        self.bibliography: BibliographyData = parse_file(references)
        self.cited: list[str] = []
        self.markdown = (
            MarkdownIt("commonmark", {"html": True})
            .enable(["table", "strikethrough"])
            .use(dollarmath_plugin, allow_labels=True, double_inline=False)
            .use(amsmath_plugin)
            .use(myst_block_plugin)
            .use(myst_role_plugin)
            .use(colon_fence_plugin)
            .use(deflist_plugin)
            .use(attrs_plugin)
        )
        for name in ("fence", "colon_fence", "myst_role", "math_inline", "math_block", "amsmath"):
            self.markdown.add_render_rule(name, self._rule(name))
        for name in ("math_block_label", "math_inline_double", "image", "link_open"):
            self.markdown.add_render_rule(name, self._rule(name))
        for name in ("heading_open", "heading_close"):
            self.markdown.add_render_rule(name, self._rule(name))
        for name in ("myst_target", "myst_line_comment", "myst_block_break"):
            self.markdown.add_render_rule(name, lambda *_: "")

    @staticmethod
    def labels(sources: Iterable[str]) -> dict[str, str]:
        """What a reference to each label reads: the kind and title of what carries it."""
        found = {}
        for source in sources:
            for match in LABELLED.finditer(source):
                kind = match["kind"].removeprefix("prf:").capitalize()
                found[match["label"]] = f"{kind} “{match['title']}”" if match["title"] else kind
            for match in TARGET.finditer(source):
                found[match["label"]] = match["title"]
        return found

    def render(self, source: str) -> str:
        """MyST Markdown as HTML."""
        return self.markdown.render(source)

    def _rule(self, name: str) -> Any:
        """A render rule of markdown-it that calls the method of the token's name."""
        method = getattr(self, f"_{name}")

        def rule(_renderer: Any, tokens: list[Token], index: int, _options: Any, _env: Any) -> str:
            return method(tokens[index])

        return rule

    # A slide stands alone, so its heading is of one rank, whatever its size.

    def _heading_open(self, token: Token) -> str:
        return f'<h2 class="level-{token.tag[1:]}">'

    def _heading_close(self, _token: Token) -> str:
        return "</h2>\n"

    # Formulas go to MathJax between its own delimiters.

    def _math_inline(self, token: Token) -> str:
        return rf"\({html.escape(token.content)}\)"

    def _math_inline_double(self, token: Token) -> str:
        return rf"\[{html.escape(token.content)}\]"

    def _math_block(self, token: Token) -> str:
        return rf"<p>\[{html.escape(token.content.strip())}\]</p>"

    def _math_block_label(self, token: Token) -> str:
        return self._numbered(token.content, token.info)

    def _amsmath(self, token: Token) -> str:
        return f"<p>{html.escape(token.content)}</p>"

    def _numbered(self, formula: str, label: str) -> str:
        formula = html.escape(formula.strip())
        return rf"<p>\begin{{equation}}\label{{{label}}}{formula}\end{{equation}}</p>"

    # Links and pictures must work from the folder of slides alone.

    def _link_open(self, token: Token) -> str:
        address = str(token.attrGet("href") or "")
        if "://" in address or address.startswith("#"):
            return f'<a href="{html.escape(address)}">'
        stem = Path(address.partition("#")[0]).stem
        return f'<a href="{stem}.html">' if stem in self.titles else "<a>"

    def _image(self, token: Token) -> str:
        return self._picture(str(token.attrGet("src")), token.content)

    def _picture(self, address: str, alt: str) -> str:
        path = self.folder / address
        kind = mimetypes.guess_type(path.name)[0]
        data = base64.b64encode(path.read_bytes()).decode()
        return f'<img alt="{html.escape(alt)}" src="data:{kind};base64,{data}">'

    # Directives

    def _colon_fence(self, token: Token) -> str:
        return self._fence(token)

    def _fence(self, token: Token) -> str:
        match = re.fullmatch(r"\{([\w:-]+)\}\s*(.*)", token.info.strip(), re.DOTALL)
        if match is None:
            return highlight(token.content, token.info.strip().split(" ")[0])
        options, body = directive_parts(token.content)
        return self._directive(match[1], match[2].strip(), options, body)

    def _directive(self, name: str, argument: str, options: dict[str, str], body: str) -> str:
        if name in UNSEEN:
            return ""
        if name.startswith("prf:") or name == "exercise":
            return self._box(name.removeprefix("prf:"), argument, body)
        if name in BOXES:
            title = argument if name in {"admonition", "dropdown", "sidebar", "topic"} else ""
            inner = body if title else "\n".join([argument, body]).strip()
            return self._box(name, title, inner)
        match name:
            case "math":
                formula = "\n".join([argument, body]).strip()
                if "label" in options:
                    return self._numbered(formula, options["label"])
                return rf"<p>\[{html.escape(formula)}\]</p>"
            case "div" | "container" | "rst-class":
                return f'<div class="{html.escape(argument)}">{self.render(body)}</div>'
            case "code" | "code-block":
                return highlight(body, argument)
            case "image" | "figure":
                picture = self._picture(argument, options.get("alt", ""))
                return f"<figure>{picture}<figcaption>{self.render(body)}</figcaption></figure>"
            case "bibliography":
                return self._sources()
            case "glue" | "glue:any" | "glue:figure":
                return self._glued_output(argument)
        raise ValueError(
            f"slides do not know the directive {{{name}}}; teach it to "
            "scripts/site/slides_prose.py, or set the cell's slide type to skip"
        )

    def _box(self, kind: str, title: str, body: str) -> str:
        heading = f"<strong>{kind.capitalize()}</strong>"
        if title:
            heading += f" · {self.markdown.renderInline(title)}"
        return f'<div class="box {kind}"><p>{heading}</p>{self.render(body)}</div>'

    # Roles

    def _myst_role(self, token: Token) -> str:
        name, content = token.meta["name"], token.content
        if name.startswith(("cite", "footcite")):
            return self._citation(name, content)
        if name.startswith("glue"):
            return self._glued_text(content)
        named = NAMED.match(content)
        text, target = (named["text"], named["target"]) if named else ("", content)
        match name:
            case "math":
                return rf"\({html.escape(content)}\)"
            case "eq":
                return rf"\eqref{{{content}}}"
            case "prf:ref" | "ref" | "numref":
                return html.escape(text or self.label_texts.get(target, target))
            case "doc":
                stem = Path(target).stem
                text = html.escape(text or self.titles.get(stem, stem))
                return f'<a href="{stem}.html">{text}</a>' if stem in self.titles else text
            case "kbd" | "sub" | "sup" | "code":
                return f"<{name}>{html.escape(content)}</{name}>"
            case "term" | "abbr" | "download" | "guilabel" | "menuselection":
                return html.escape(text or content)
        raise ValueError(
            f"slides do not know the role {{{name}}}; teach it to scripts/site/slides_prose.py"
        )

    # Numbers and pictures that cells glued

    def _stored(self, name: str) -> dict[str, str]:
        if name not in self.glued:
            raise ValueError(f"the prose shows {name!r}, but no cell glues a value of that name")
        return self.glued[name]

    def _glued_text(self, content: str) -> str:
        name, _, spec = content.partition(":")
        text = self._stored(name)["text/plain"].strip("'\"")
        return html.escape(format(float(text), spec) if spec else text)

    def _glued_output(self, name: str) -> str:
        stored = self._stored(name)
        if "image/png" in stored and "text/html" not in stored:
            return f'<img alt="" src="data:image/png;base64,{stored["image/png"].strip()}">'
        return stored.get("text/html") or f"<p>{html.escape(stored['text/plain'])}</p>"

    # Citations, by author and year

    def _entry(self, key: str) -> Entry:
        if key not in self.bibliography.entries:
            raise ValueError(f"{key!r} is cited, but book/references.bib has no such entry")
        if key not in self.cited:
            self.cited.append(key)
        return self.bibliography.entries[key]

    def _citation(self, role: str, content: str) -> str:
        entries = [self._entry(key.strip()) for key in content.split(",")]
        if role.endswith((":t", ":ts", ":ct")):
            return ", ".join(f"{_authors(it)} ({_field(it, 'year')})" for it in entries)
        inside = "; ".join(f"{_authors(it)}, {_field(it, 'year')}" for it in entries)
        return f"({inside})"

    def _sources(self) -> str:
        items = [
            f"<li>{_authors(it)} ({_field(it, 'year')}). <i>{_field(it, 'title')}</i>.</li>"
            for it in (self.bibliography.entries[key] for key in sorted(self.cited))
        ]
        return f'<ul class="sources">{"".join(items)}</ul>'


def _plain(latex: str) -> str:
    return html.escape(str(Text.from_latex(latex)))


def _field(entry: Entry, name: str) -> str:
    return _plain(entry.fields.get(name, ""))


def _authors(entry: Entry) -> str:
    people: list[Person] = entry.persons.get("author", [])
    names = [_plain(" ".join([*it.prelast_names, *it.last_names])) for it in people]
    if len(names) > 2:  # noqa: PLR2004  three and more are "et al."
        return f"{names[0]} et al."
    return " and ".join(names)
