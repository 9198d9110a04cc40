"""How a widget's JavaScript becomes one text."""

import re
from collections.abc import Callable
from pathlib import Path

import minify
import pytest

from course_lib.widgets import modules
from course_lib.widgets.modules import HERE, module_source, stylesheet


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Writes files into a new folder of widgets, and gives the text of ``widget.js`` there."""

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


def test_each_helper_stands_once_before_what_uses_it_with_what_two_need_of_it(
    written: Callable[..., str],
):
    text = written(
        widget='import { a } from "./left.js";\nimport { b } from "./right.js";\n'
        "export default a + b;\n",
        left='import { one } from "./deep.js";\nexport const a = one;\n',
        right='import { two } from "./deep.js";\nexport const b = two;\n',
        deep="export const one = 1;\nexport const two = 2;\nexport const three = 3;\n",
    )
    assert text.count("const one = 1;") == 1
    assert "return { one, two };" in text
    assert "three" not in text
    places = [text.index(part) for part in ("one = 1", "const a =", "const b =", "default a + b")]
    assert places == sorted(places)


def test_a_widget_carries_of_its_helpers_only_what_it_needs_and_what_they_do_when_read(
    written: Callable[..., str],
):
    text = written(
        widget='import { a } from "./helper.js";\nexport default a;\n',
        helper='import { near, nearer } from "./deep.js";\n/** As `far` as it goes. */\n'
        "const [one, two] = [1, 2];\nconst three = 3;\nconst seen = new Set();\n"
        "export function a() {\n  return one + near;\n}\n"
        "export const b = () => three + nearer;\nseen.add(a);\n",
        deep="export const near = 4;\nexport const nearer = 5;\n",
    )
    declared = re.findall(r"^(?:const|function) (\[[^=]*\]|\w+)", text, re.MULTILINE)
    kept = ["near", "[one, two]", "seen", "a"]
    assert [name for name in declared if not name.startswith("$")] == kept
    assert "seen.add(a);" in text
    assert "return { a };" in text


@pytest.fixture
def styled(written: Callable[..., str]) -> Callable[..., str]:
    """Writes style sheets, and gives that of a widget that draws ``code`` and has a helper."""

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
    # Of two that share a rule, the one that is drawn.
    given = [*kept, *gone, ".cw-other,.cw-drawn"]
    print_ = "@media print {\n.cw-other {\ncolor: red;\n}\n}\n"
    rules = "".join(f"{selector} {{\ncolor: red;\n}}\n" for selector in given)
    found = styled('"cw-drawn", `cw-x-${a}`', widget=rules + print_)
    expected = "".join(f"{selector} {{\ncolor: red;\n}}\n" for selector in [*kept, ".cw-drawn"])
    assert found == f"{expected}@media print {{}}\n"


def test_what_cannot_be_written_into_one_text_is_refused(written: Callable[..., str]):
    use = {"widget": 'import { a } from "./b.js";\n'}
    other = {"widget": 'import { x, y } from "./b.js";\n', "b": "export const x = 1;\n"}
    back = 'import { a } from "./b.js";\nexport const c = a;\n'
    circle = {"b": 'import { c } from "./c.js";\nexport const a = c;\n', "c": back}
    for files, message in (
        (use, "widget.js imports b.js, which is not there"),
        (other, "imports y from b.js, which exports x"),
        (use | circle, "c.js imports b.js, which leads back to it"),
        (
            use | {"b": 'export const a = 1;\nexport * from "./c.js";\n'},
            "expected imports of names",
        ),
        ({"widget": 'import * as all from "./b.js";\n'}, "expected imports of names"),
    ):
        with pytest.raises(ValueError, match=message):
            written(**files)
