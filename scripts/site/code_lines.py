"""Long lines of code, each wrapped so that its rest hangs below its beginning.

A line that is wider than its column would be cut, and a telephone shows no scroll bar.
"""

import html
import re

NARROW = 32
"""Lines of so many letters fit the narrowest column, a telephone's."""

CODE = re.compile(
    r"(?<=<pre><span></span><code>).*?(?=</code></pre>)|"
    r'(?<=<div class="highlight-ipython3 notranslate"><div class="highlight"><pre>).*?(?=</pre>)|'
    r'(?<=<div class="highlight-python notranslate"><div class="highlight"><pre>).*?(?=</pre>)',
    re.DOTALL,
)
TAG = re.compile(r"<[^>]*>")


def with_hanging_lines(body: str) -> str:
    """The ``body`` of a page, each long line of its Python in an element that knows its indent."""
    return CODE.sub(lambda code: "".join(map(_line, code[0].splitlines(keepends=True))), body)


def _line(line: str) -> str:
    text = html.unescape(TAG.sub("", line))
    if len(text.rstrip()) <= NARROW:
        return line
    indent = len(text) - len(text.lstrip())
    return f'<span class="line" style="--indent:{indent}">{line}</span>'
