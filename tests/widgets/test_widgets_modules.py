"""Bundling of a widget's JavaScript."""

import re
from pathlib import Path

import pytest

from course_lib import widgets
from course_lib.widgets.kit import modules
from course_lib.widgets.kit.modules import module_source, stylesheet


@pytest.mark.parametrize("kind", sorted({*widgets.__all__} - {"Widget"}))
def test_a_module_as_text_asks_no_other_host(kind: str):
    module = getattr(widgets, kind)._module
    text = module_source(module) + stylesheet(module)
    assert set(re.findall(r"https?://[\w.]+", text)) <= {"http://www.w3.org"}  # a name of a format
    assert not re.findall(r"\b(?:src|href)=|url\((?!#)|@import|fetch\(|XMLHttpRequest", text)


def rule(selector: str) -> str:
    return f"{selector} {{\ncolor: red;\n}}\n"


def test_rules_for_what_a_widget_never_draws_stay_behind_and_those_of_helpers_come_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    kept = [
        ".cw-drawn p",
        ".cw-drawn",
        ".cw-drawn :is(.cw-other, .cw-drawn)",
        ".cw-drawn:not(:is(.cw-other, a), :hover)",
        ".cw-x-made",
        "svg",
    ]
    gone = [".cw-other", ".cw-drawn .cw-other", ".cw-other :is(.cw-drawn, svg)"]
    # Of two that share a rule, the one in use.
    given = [*kept, *gone, ".cw-other,.cw-drawn"]
    drawn = '["cw-drawn", `cw-x-${a}`]'
    for name, text in {
        "widget.js": f'import {{ a }} from "./helper.js";\nexport default {drawn};\n',
        "helper.js": "export const a = 1;\n",
        "widget.css": f"{''.join(map(rule, given))}@media print {{\n{rule('.cw-other')}}}\n",
        "helper.css": rule("p"),
        "kit/widgets.css": rule("a"),
        "another.css": rule("b"),
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.setattr(modules, "HERE", tmp_path)
    stronger = [f".cw {selector}" for selector in kept[:-1]]
    expected = "".join(map(rule, ["a", "p", *stronger, "svg", ".cw .cw-drawn"]))
    found = stylesheet.__wrapped__("widget.js")
    assert found.replace("\n\n", "\n") == f"{expected}@media print {{}}\n"
