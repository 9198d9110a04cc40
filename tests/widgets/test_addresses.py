"""Figures and the address of their page: links, the reader's hand, and what is not followed."""

from collections.abc import Callable
from pathlib import Path

from addresses import go_to, in_an_address
from agreement import has
from clock import turn
from gestures import Keyboard, widgets
from in_the_page import Javascript
from playwright.sync_api import Locator, Page, expect
from reading import state_of
from small_widgets import make
from test_widgets_refusals import LATER, trait_of
from widget_page import Alone, bare_page

from course_lib.widgets.kit.modules import module_source

LINK = '<p style="margin-top: 200vh"><a href="#fig-soft-lookup?temperature=0.05">cold</a></p>'
# Values that depend on other controls or on special rules need the whole figure.
BY_THE_FIGURE = {
    "BasisExplorer": ["points=0,0;0.5,0", "points=0,0;0.6,0;0.5,0;1,0"],
    "EnergyDrift": ["plane=3", "q=1,2,3", "system=Kepler&q=0,0"],
    "GateExplorer": ["letter=20", "text=a&letter=1"],
    "GraphPlayground": ["drawing=unobtainium", "partner=99"],
    "LetterHider": ["hidden=20", "word=a&place=1"],
    "MechanicsStage": ["system=Kepler&z=0,0,1e-99,1"],
    "SymplecticityMeter": ["loop=0,0"],
    "TinyGPT": ["written=abcdeabcdeabcde"],
}
PLANETS = {"EnergyDrift", "MechanicsStage"}


def temperature(widget: Locator) -> float:
    return state_of(widget)["temperature"]


def test_a_link_sets_the_figure_brings_it_into_view_and_works_again(alone: Alone):
    widget = alone(make("SoftLookup"), below=LINK)
    page, slider = widget.page, widget.locator("input[type=range]")
    for _ in range(2):
        page.get_by_role("link", name="cold").click()
        expect(slider).to_be_in_viewport()
        assert temperature(widget) == 0.05
        # Moved by the page's own code, so the address does not follow.
        widget.evaluate("el => el.courseModel.set('temperature', 1)")


def test_the_address_follows_the_controls_and_the_history_does_not_grow(alone: Alone):
    widget = alone(make("SoftLookup"), clock=True)
    page = widget.page
    before = page.evaluate("() => history.length")
    for _ in range(2):
        Keyboard(page).slide(widget.locator("input[type=range]"))
        turn(page, 1)
        assert page.url.endswith(f"#fig-soft-lookup?temperature={temperature(widget)}")
    assert page.evaluate("() => history.length") == before


def test_the_figure_that_was_used_last_sets_the_address(
    open_page: Callable[..., Page], tmp_path: Path
):
    shown = [make(kind) for kind in ("SoftLookup", "SoftLookup", "PositionExplorer")]
    page = open_page(bare_page(tmp_path, *shown), clock=True)
    names = ["fig-soft-lookup", "fig-soft-lookup-2", "fig-position-explorer"]
    assert [widget.get_attribute("id") for widget in widgets(page)] == names
    for widget, name in reversed(list(zip(widgets(page), names, strict=True))):
        Keyboard(page).slide(widget.locator("input[type=range]").first)
        turn(page, 1)
        assert f"#{name}?" in page.url
    go_to(page, "fig-soft-lookup-2?temperature=0.05")
    page.wait_for_function(
        "() => document.querySelectorAll('.cw-host')[1].courseModel.get('temperature') === 0.05"
    )
    assert temperature(widgets(page)[0]) != 0.05


def test_faults_in_an_address_are_reported_and_the_rest_is_applied(alone: Alone):
    hostile = "%3Cimg%20src=x%20onerror=%22document.title='owned'%22%3E"
    widget = alone(make("SoftLookup"))
    first = state_of(widget)
    asked = f"temperature=0.05&similarity={hostile}&query=1&{hostile}=1&__proto__=1&%E0%A4=1"
    go_to(widget.page, f"fig-soft-lookup?{asked}")
    alert = widget.get_by_role("alert")
    expect(alert).to_contain_text("“query” is “1”: expected 2 numbers")
    expect(alert).to_contain_text("“<img src=x onerror=")
    assert str(state_of(widget)) == str(first | {"temperature": 0.05})
    assert widget.page.locator("img").count() == 0
    Keyboard(widget.page).slide(widget.locator("input[type=range]"))
    expect(alert).to_have_count(0)


def test_the_address_refuses_what_python_refuses(javascript: Javascript):
    rows, cases = [], []
    made = {kind: make(kind) for kind in {row[0] for row in LATER}}
    known = {kind: widget.limits() for kind, widget in made.items()}
    for kind, argument, value in LATER:
        name = trait_of(made[kind], argument)
        bounds = [known[kind].get(name) or {}, known[kind].get(name, {}).get("each") or {}]
        ruled = made[kind].traits()[name].rule or any(b.get("high", 0) is None for b in bounds)
        if bounds[0] and value is not None and not ruled:
            rows.append((kind, name, value))
            cases.append([f"{name}={in_an_address(value)}", known[kind]])
    assert len(rows) > 40
    found = javascript("kit/address.js", "understood", cases)
    # Addresses are text: 1 is no valid switch, but "1.0" is a number.
    followed = [row for row, answer in zip(rows, found, strict=True) if not answer["faults"]]
    assert followed == []


def test_inconsistent_values_change_no_figure_and_names_are_folded(
    open_page: Callable[..., Page], tmp_path: Path
):
    kinds = list(BY_THE_FIGURE)
    page = open_page(bare_page(tmp_path, *map(make, kinds)), height=20_000)
    for kind, widget in zip(kinds, widgets(page), strict=True):
        before, name = str(state_of(widget)), widget.get_attribute("id")
        for query in BY_THE_FIGURE[kind]:
            go_to(page, f"{name}?{query}")
            told = widget.get_by_role("alert")
            sun = kind in PLANETS and ",0" in query
            expect(told).to_contain_text("the sun itself" if sun else "Not all of the address was")
            assert str(state_of(widget)) == before, query
            widget.get_by_role("button", name="Reset").click()
            expect(told).to_have_count(0)
        for trait in {"LetterHider": ["word"], "TinyGPT": ["prompt"]}.get(kind, []):
            go_to(page, f"{name}?{trait}=D%C3%A9B")
            has(widget, **{trait: "deb"})


MOUNT_WITH_A_KERNEL = """async ([module, state]) => {
  location.hash = "fig-soft-lookup?temperature=0.05";
  const model = { get: (name) => state[name], set: (name, value) => { state[name] = value; },
    save_changes: () => {}, on: () => {}, off: () => {} };
  const el = document.createElement("div");
  document.body.append(el);
  const widget = await import(`data:text/javascript,${encodeURIComponent(module)}`);
  widget.default.render({ model, el });
  const slider = el.querySelector("input[type=range]");
  slider.value = slider.max;
  slider.dispatchEvent(new Event("input", { bubbles: true }));
  return () => [state.temperature, location.hash];
}"""


def test_with_a_kernel_the_address_is_ignored(open_page: Callable[..., Page], tmp_path: Path):
    page, widget = open_page(bare_page(tmp_path), clock=True), make("SoftLookup")
    given = [module_source(widget._module), widget.page_state()]
    seen = page.evaluate_handle(MOUNT_WITH_A_KERNEL, given)
    turn(page, 1)
    assert seen.evaluate("(seen) => seen()") == [10, "#fig-soft-lookup?temperature=0.05"]
