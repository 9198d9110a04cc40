"""Wrap long lines of code with a hanging indent.

A line wider than its column would be cut, and phones show no scroll bar.
"""

import html
import re

NARROW = 32
"""Lines of up to this many letters fit the narrowest column, that of a phone."""

CODE = re.compile(
    r"(?<=<pre><span></span><code>).*?(?=</code></pre>)|"
    r'(?<=<div class="highlight-ipython3 notranslate"><div class="highlight"><pre>).*?(?=</pre>)|'
    r'(?<=<div class="highlight-python notranslate"><div class="highlight"><pre>).*?(?=</pre>)',
    re.DOTALL,
)
TAG = re.compile(r"<[^>]*>")


def with_hanging_lines(body: str) -> str:
    """Wrap each long Python line in the ``body`` of a page in an element with its indent."""
    return CODE.sub(lambda code: "".join(map(_line, code[0].splitlines(keepends=True))), body)


def _line(line: str) -> str:
    text = html.unescape(TAG.sub("", line))
    if len(text.rstrip()) <= NARROW:
        return line
    indent = len(text) - len(text.lstrip())
    return f'<span class="line" style="--indent:{indent}">{line}</span>'
