"""The Sphinx extension of this site.

Citations are in round brackets, a list of sources is marked up as a list, a comma stays with the
formula before it, a link that sets a figure stays as it is, and the kernel's widget state, which
only scripts from a CDN read, is left out. Lectures run in parallel, and only if their imports have
changed; figures and listings get the current code when a page is written.
"""

import re
import shutil
from pathlib import Path
from typing import Any

import minify
from code_lines import with_hanging_lines
from depends_on import everything
from docutils import nodes
from sphinx import search
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util import logging
from sphinxcontrib.bibtex.plugin import register_plugin
from sphinxcontrib.bibtex.style.referencing import BracketStyle
from sphinxcontrib.bibtex.style.referencing.author_year import AuthorYearReferenceStyle
from todays_code import with_todays_code

from course_lib.support.listings import REPOSITORY

LOGGER = logging.getLogger(__name__)

WIDGET_STATE = "application/vnd.jupyter.widget-state+json"
SOURCE_NUMBER = re.compile(r'<span class="label"><span class="fn-bracket">.*?</span></span>\n')
FORMULA_AND_PUNCTUATION = re.compile(
    r'<span class="math notranslate nohighlight(?: wide)?">[^<]*</span>[,.;:!?)\]’”]+'
)


class RoundAuthorYear(AuthorYearReferenceStyle):
    """Cite as Watson (1964) in a sentence, as (Watson, 1964) beside it."""

    def __init__(self) -> None:
        round_brackets = BracketStyle(left="(", right=")")
        super().__init__(
            bracket_parenthetical=round_brackets,
            bracket_textual=round_brackets,
            bracket_author=round_brackets,
            bracket_label=round_brackets,
            bracket_year=round_brackets,
        )


class LinksToFigures(SphinxTransform):
    """Hide links such as ``#fig-soft-lookup?temperature=0.05`` from MyST, which has no such id.

    ``check_site.py`` checks that the page has the figure.
    """

    default_priority = 878  # just before MyST's ResolveAnchorIds

    def apply(self, **_options: Any) -> None:
        """Make links to figures plain links."""
        for link in self.document.findall(nodes.reference):
            if link.get("refuri", "").startswith("#fig-"):
                link.attributes.pop("id_link", None)


def mend_page(
    _app: Sphinx, pagename: str, _template: str, context: dict[str, Any], _doctree: object
) -> None:
    """Drop the widget state, insert the current code, and correct Sphinx's HTML.

    A list of sources gets the roles that a screen reader knows. A browser may break a line after
    any formula, even before a comma, unless a style forbids it.
    """
    context["script_files"] = [
        script
        for script in context.get("script_files", [])
        if getattr(script, "attributes", {}).get("type") != WIDGET_STATE
    ]
    body = with_todays_code(
        context.get("body", ""), lambda fault: LOGGER.warning("%s", fault, location=pagename)
    )
    body = with_hanging_lines(body)
    body = SOURCE_NUMBER.sub("", body)
    body = FORMULA_AND_PUNCTUATION.sub(r'<span class="unbroken">\g<0></span>', body)
    body = body.replace('role="doc-biblioentry"', 'role="listitem"')
    context["body"] = body


class ProseCollector(search.WordCollector):
    """Leave code out of the index of the search: each lecture imports what another one teaches."""

    def dispatch_visit(self, node: nodes.Node) -> None:
        """Collect the words of a node."""
        first_line = isinstance(node, nodes.literal) and "first-line" in node["classes"]
        if first_line or isinstance(node, nodes.literal_block):
            raise nodes.SkipNode
        super().dispatch_visit(node)


def write_small(app: Sphinx) -> None:
    """Drop the spaces, quotes and end tags that browsers do not need from every page."""
    if app.builder.format != "html":
        return
    render = app.builder.templates.render
    app.builder.templates.render = lambda template, context: minify.string(
        "text/html", render(template, context)
    )


def leave_out_unused_mathjax(app: Sphinx, _error: Exception | None) -> None:
    """Delete MathJax's other bundles, 20 of its 24 MB: pages load one and its parts, slides one."""
    bundle = "tex-svg.js" if app.builder.name == "slides" else "tex-chtml.js"
    loaded = {bundle, "input", "output"}
    for path in Path(app.outdir, "_static", "mathjax").glob("*"):
        if path.is_dir() and path.name not in loaded:
            shutil.rmtree(path)
        elif path.name not in loaded:
            path.unlink()


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx; pages are corrected after all other extensions.

    Sphinx rebuilds a page when its text changes. Files that all pages read or contain are settings
    too, so that their change reads or writes all pages again.
    """
    source, here = Path(app.srcdir), "scripts/site"
    read = everything(source, f"{here}/site_extension.py", f"{here}/slides.py")
    app.add_config_value("pages_read_by", read, "env")
    written = everything(REPOSITORY, "course_lib") + everything(
        source,
        *("book/_static", "book/root", f"{here}/folds.py", f"{here}/course_map.py"),
        *(f"{here}/code_lines.py", f"{here}/captions.py", f"{here}/downloads.py"),
    )
    app.add_config_value("pages_written_with", written, "html")
    app.setup_extension("lecture_outputs")
    app.setup_extension("folds")
    app.setup_extension("course_map")
    app.setup_extension("downloads")
    app.setup_extension("slides")
    register_plugin("sphinxcontrib.bibtex.style.referencing", "round_author_year", RoundAuthorYear)
    app.add_transform(LinksToFigures)
    search.WordCollector = ProseCollector
    app.connect("builder-inited", write_small)
    app.connect("build-finished", leave_out_unused_mathjax)
    app.connect("html-page-context", mend_page, priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
