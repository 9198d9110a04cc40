"""Bundling of a widget's JavaScript."""

import re
from collections.abc import Callable
from pathlib import Path

import minify
import pytest

from course_lib.widgets import modules
from course_lib.widgets.modules import HERE, module_source, stylesheet


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Writes files into a new folder of widgets, and returns the bundle of its ``widget.js``."""

    def written(sheets: dict[str, str] | None = None, **files: str) -> str:
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        for ending, texts in (("css", sheets or {}), ("js", files)):
            for name, text in texts.items():
                (folder / f"{name}.{ending}").write_text(text, encoding="utf-8")
        monkeypatch.setattr(modules, "HERE", folder)
        return module_source("widget.js")

    return written


@pytest.mark.parametrize("module", sorted(path.name for path in HERE.glob("*.js")))
def test_a_module_as_text_asks_no_other_host(module: str):
    text = module_source(module) + stylesheet(module)
    assert set(re.findall(r"https?://[\w.]+", text)) <= {"http://www.w3.org"}  # a name of a format
    assert not re.findall(r"\b(?:src|href)=|url\((?!#)|@import|fetch\(|XMLHttpRequest", text)


def test_each_helper_stands_once_before_what_uses_it_with_what_is_needed_of_it_alone(
    written: Callable[..., str],
):
    text = written(
        widget='import { a } from "./left.js";\nimport { b } from "./right.js";\n'
        "export default a + b;\n",
        left='import { one, far } from "./deep.js";\n/** As `far` as it goes. */\n'
        "const [two, three] = [1, 2];\nconst four = 3;\nconst seen = new Set();\n"
        "export function a() {\n  return one + two;\n}\n"
        "export const c = () => four + far;\nseen.add(a);\n",
        right='import { other } from "./deep.js";\nexport const b = other;\n',
        deep="export const one = 1;\nexport const other = 2;\nexport const far = 3;\n",
    )
    declared = re.findall(r"^(?:const|function) (\[[^=]*\]|\w+)", text, re.MULTILINE)
    kept = ["one", "other", "[two, three]", "seen", "a", "b"]
    assert [name for name in declared if not name.startswith("$")] == kept
    assert text.count("const one = 1;") == 1
    assert "seen.add(a);" in text
    for offered in ("one, other", "a", "b"):
        assert f"return {{ {offered} }};" in text
    assert text.index("const b =") < text.index("default a + b")


@pytest.fixture
def styled(written: Callable[..., str]) -> Callable[..., str]:
    """Writes style sheets, and returns that of a widget with ``code`` and a helper."""

    def styled(code: str, **sheets: str) -> str:
        use = f'import {{ a }} from "./helper.js";\nexport default [a, {code}];\n'
        written({"widgets": ""} | sheets, widget=use, helper="export const a = 1;\n")
        return stylesheet.__wrapped__("widget.js")

    return styled


def test_the_style_of_a_helper_travels_with_it_and_comes_before_the_widget_s_own(
    styled: Callable[..., str],
):
    names = ("widget", "helper", "another", "widgets")
    sheets = {name: f"/* {name} */\np {{\n  --for: {name};\n}}\n" for name in names}
    order = [f"p{{--for:{name}}}" for name in ("widgets", "helper", "widget")]
    assert minify.string("text/css", styled("0", **sheets)) == "".join(order)


def test_rules_for_what_a_widget_never_draws_stay_behind(styled: Callable[..., str]):
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
    print_ = "@media print {\n.cw-other {\ncolor: red;\n}\n}\n"
    rules = "".join(f"{selector} {{\ncolor: red;\n}}\n" for selector in given)
    found = styled('"cw-drawn", `cw-x-${a}`', widget=rules + print_)
    expected = "".join(f"{selector} {{\ncolor: red;\n}}\n" for selector in [*kept, ".cw-drawn"])
    assert found == f"{expected}@media print {{}}\n"
