"""A widget as a piece of any web page: its state, its code, and the kernel's stand-in."""

from __future__ import annotations

import base64
import functools
import html
import json
import zlib
from typing import Any

from course_lib.widgets.modules import module_source, stylesheet


@functools.cache
def packed_code(module: str) -> str:
    """The module and its style for a page, which carries both once for each widget: deflated."""
    code = json.dumps({"module": module_source(module), "css": stylesheet(module)})
    return base64.b64encode(zlib.compress(code.encode(), level=9)).decode("ascii")


def static_html(kind: str, module: str, description: str, state: dict[str, Any]) -> str:
    """A widget of a ``kind`` with its ``state``: needs no kernel, no network and no other file."""
    payload = {"code": packed_code(module), "state": state}
    # Within <script> only "<" can begin markup; JSON lets it be written as an escape.
    data = json.dumps(payload, ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")
    host = module_source("js/host.js")
    return (
        f'<div class="cw-host" data-widget="{kind}">'
        f"<p>{html.escape(description)}</p></div>"
        f'<script type="application/json">{data}</script>'
        f"<script>{host}</script>"
    )
