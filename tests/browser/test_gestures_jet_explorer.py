"""JetExplorer by hand: particles taken away and put back, guesses, the film."""

import re
from collections.abc import Callable

import pytest
import torch
from bare import Alone
from displayed import agrees_with_course_lib
from frames import COUNT_FRAMES, FRAMES_WHILE_IDLE
from playwright.sync_api import Locator
from reading import eventually, state_of
from small_widgets import make, particle_transformer

from course_lib.jet_tagging import jet_inputs, logits_of

pytestmark = pytest.mark.usefixtures("plain_calls")

Shown = Callable[..., Locator]
CENTRE = """(el, i) => {
  const box = el.querySelector(`[data-particle="${i}"] path`).getBoundingClientRect();
  return [box.x + box.width / 2, box.y + box.height / 2];
}"""
PHONE = {"width": 390, "height": 1200, "touch": True}
# Which particle stands alone, so that a hand can take just this one.
LONE = """(el) => {
  const at = [...el.querySelectorAll("[data-particle] > path:first-of-type")].map((e) => {
    const box = e.getBoundingClientRect();
    return [box.x + box.width / 2, box.y + box.height / 2];
  });
  const far = at.map(([x, y], i) => Math.min(...at.map(([u, v], j) =>
    i === j ? Infinity : Math.hypot(x - u, y - v))));
  return far.indexOf(Math.max(...far));
}"""


@pytest.fixture
def shown(alone: Alone) -> Shown:
    """Opens a page with one JetExplorer, and gives that widget in the middle of the window."""

    def shown(page: dict[str, object] | None = None, **given: object) -> Locator:
        widget = alone(make("JetExplorer", **given), **page or {})
        jet(widget).scroll_into_view_if_needed()
        return widget

    return shown


def jet(widget: Locator) -> Locator:
    return widget.get_by_role("listbox")


def gone(widget: Locator) -> list[int]:
    return state_of(widget)["gone"]


def pointed(widget: Locator) -> int:
    return int(jet(widget).get_attribute("data-pointed"))


def holds(widget: Locator, claim: Callable[[], bool]) -> None:
    def asserted() -> None:
        assert claim()

    eventually(widget, asserted)
    agrees_with_course_lib(widget)


def test_a_mouse_shows_whom_a_particle_attends_to_and_a_click_takes_it_away(shown: Shown):
    widget = shown(particle=-1)
    assert pointed(widget) == -1
    lone = widget.evaluate(LONE)
    widget.page.mouse.move(*widget.evaluate(CENTRE, lone))
    holds(widget, lambda: pointed(widget) == lone)
    assert state_of(widget)["particle"] == -1
    assert widget.locator("[data-to]").count() == 7
    widget.page.mouse.down()
    widget.page.mouse.up()
    holds(widget, lambda: gone(widget) == [lone])
    assert widget.locator("[data-to]").count() == 0
    assert "taken away" in widget.locator(".cw-j-title").inner_text()
    widget.page.mouse.down()
    widget.page.mouse.up()
    holds(widget, lambda: gone(widget) == [])
    widget.page.mouse.move(2, 2)
    holds(widget, lambda: pointed(widget) == lone)


def test_a_tap_points_at_a_particle_and_another_takes_it_away(shown: Shown):
    widget = shown(PHONE, particle=-1)
    lone = widget.evaluate(LONE)
    widget.page.touchscreen.tap(*widget.evaluate(CENTRE, lone))
    holds(widget, lambda: state_of(widget)["particle"] == lone)
    assert gone(widget) == []
    widget.page.touchscreen.tap(*widget.evaluate(CENTRE, lone))
    holds(widget, lambda: gone(widget) == [lone])


def test_a_click_far_from_all_particles_changes_nothing(shown: Shown):
    widget = shown()
    box = jet(widget).bounding_box()
    before = state_of(widget)
    widget.page.mouse.click(box["x"] + 0.97 * box["width"], box["y"] + 0.03 * box["height"])
    agrees_with_course_lib(widget)
    after = state_of(widget)
    assert {name: after[name] for name in ("gone", "particle", "kept")} == {
        name: before[name] for name in ("gone", "particle", "kept")
    }


def test_arrow_keys_go_from_particle_to_particle_and_enter_takes_away(shown: Shown):
    widget = shown()
    jet(widget).focus()
    keys = widget.page.keyboard
    for key, at in (("ArrowRight", 1), ("ArrowDown", 2), ("ArrowLeft", 1), ("End", 6), ("Home", 0)):
        keys.press(key)
        holds(widget, lambda at=at: pointed(widget) == at)
        named = jet(widget).get_attribute("aria-activedescendant")
        label = widget.locator(f"[id='{named}']").get_attribute("aria-label")
        assert label.startswith(f"particle {at + 1}, ")
    keys.press("Enter")
    holds(widget, lambda: gone(widget) == [0])
    option = widget.locator('[data-particle="0"]')
    assert option.get_attribute("aria-selected") == "false"
    assert "taken away" in option.get_attribute("aria-label")
    keys.press("Space")
    holds(widget, lambda: gone(widget) == [])


def test_a_jet_without_particles_has_no_answer_until_one_is_back(shown: Shown):
    widget = shown(jet=2, gone=[0, 1])
    widget.get_by_role("button", name="Take away particle 1")
    jet(widget).focus()
    widget.page.keyboard.press("End")
    widget.page.keyboard.press("Enter")
    holds(widget, lambda: gone(widget) == [0, 1, 2])
    assert widget.locator(".cw-j-mass").inner_text().endswith("none")
    widget.get_by_role("button", name="All back").click()
    holds(widget, lambda: gone(widget) == [])


def test_of_particles_too_soft_to_be_kept_a_click_brings_all(shown: Shown):
    widget = shown(kept=2, particle=5)
    widget.get_by_role("button", name="particle 6").click()
    holds(widget, lambda: state_of(widget)["kept"] == 7)


def test_the_truth_is_told_after_a_guess_and_the_first_guess_counts(shown: Shown):
    widget = shown(jet=1)
    verdict, said = widget.locator(".cw-j-verdict"), widget.locator(".cw-j-classes")
    assert verdict.text_content() == ""
    assert "✓" not in said.inner_text()

    def guess(name: str) -> None:
        widget.locator(".cw-j-guess").get_by_role("button", name=name, exact=True).click()

    def tells(*parts: str) -> None:
        text = re.sub(r"\s+", " ", verdict.inner_text())
        for part in parts:
            assert part in text

    network = widget.locator(".cw-j-best th").inner_text()
    guess("W")
    says = f"the network, given all of it, says {network}."
    eventually(widget, lambda: tells("It was: gluon.", "You said W;", says))
    assert "gluon ✓" in said.inner_text()
    guess("gluon")
    eventually(widget, lambda: tells("You said W, then gluon;"))
    widget.get_by_role("button", name="Next").click()
    eventually(widget, lambda: hidden(verdict))
    guess("W")
    eventually(widget, lambda: tells("It was: W.", "you 1 of 2, the network"))


def hidden(verdict: Locator) -> None:
    assert verdict.text_content() == ""


def test_the_network_is_judged_by_the_whole_jet(shown: Shown):
    few, model = 2, particle_transformer()
    with torch.no_grad():
        model.read[1].weight.mul_(20)
        model.read[1].bias.zero_()
        parts = [jet_inputs(make("JetExplorer", kept=kept).there) for kept in (few, 7)]
        # Now what speaks for a class in one of the two speaks against it in the other.
        model.read[1].bias.copy_(-torch.cat([logits_of(model, part) for part in parts]).mean(dim=0))
    made, answers = make("JetExplorer", model=model), {}
    for kept in (few, 7):
        made.kept = kept
        answers[kept] = made.facts["classes"][int(made.probabilities().argmax())]
    assert answers[few] != answers[7]
    widget = shown(model=model, kept=few)
    assert widget.locator(".cw-j-best th").inner_text() == answers[few]
    widget.locator(".cw-j-guess").get_by_role("button").first.click()
    agrees_with_course_lib(widget)
    assert f"says {answers[7]}." in widget.locator(".cw-j-verdict").inner_text()


KEPT = """(el) => new Promise((done) => {
  const seen = [];
  el.courseModel.on("change:kept", () => {
    seen.push(el.courseModel.get("kept"));
    if (seen.at(-1) === 7) done(seen);
  });
})"""


def test_the_jet_comes_in_by_itself_the_hardest_first_and_once(shown: Shown):
    widget = shown({"init": COUNT_FRAMES}, moving=True)
    seen = widget.evaluate(KEPT)
    assert seen == sorted(seen)
    assert widget.page.evaluate(FRAMES_WHILE_IDLE) == 0
    agrees_with_course_lib(widget)
    widget.get_by_role("button", name="Play").click()
    eventually(widget, lambda: assert_kept(widget, 1))
    widget.get_by_role("button", name="Pause").click()
    agrees_with_course_lib(widget)


def assert_kept(widget: Locator, kept: int) -> None:
    assert state_of(widget)["kept"] == kept


def test_a_hand_on_a_particle_ends_the_film_and_has_the_whole_jet(shown: Shown):
    widget = shown(moving=True)
    eventually(widget, lambda: assert_kept(widget, 1))
    jet(widget).focus()
    widget.page.keyboard.press("ArrowRight")
    holds(widget, lambda: state_of(widget)["kept"] == 7)
    assert widget.get_by_role("button", name="Play").is_visible()


def test_for_readers_who_asked_for_less_motion_the_jet_is_there_at_once(shown: Shown):
    widget = shown({"reduced_motion": True, "init": COUNT_FRAMES}, moving=True)
    assert widget.page.evaluate(FRAMES_WHILE_IDLE) == 0
    assert_kept(widget, 7)
    agrees_with_course_lib(widget)


def test_an_address_that_asks_for_a_particle_that_is_not_there_is_refused(shown: Shown):
    widget = shown()
    identifier = widget.get_attribute("id")
    widget.page.evaluate("(hash) => { location.hash = hash; }", f"{identifier}?jet=2&particle=4")
    alert = widget.get_by_role("alert")
    alert.wait_for()
    assert "do not fit together" in alert.inner_text()
    assert state_of(widget)["jet"] == 0
    widget.page.evaluate("(hash) => { location.hash = hash; }", f"{identifier}?jet=2")
    holds(widget, lambda: state_of(widget)["kept"] == 3)
