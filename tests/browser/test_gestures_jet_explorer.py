"""JetExplorer by hand: particles taken away and put back, guesses, the film."""

import re
from collections.abc import Callable

import pytest
import torch
from bare import Alone
from clock import rests, turn
from displayed import agrees_with_course_lib
from playwright.sync_api import Locator, expect
from reading import NOTE_VALUES, VALUES, eventually, state_of
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


def opened(widget: Locator) -> Locator:
    """The widget once it shows what the network says."""
    widget.get_by_role("button", name="Show", exact=True).click()
    agrees_with_course_lib(widget)
    return widget


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


def test_on_a_telephone_the_mass_and_the_controls_stand_by_the_drawing(shown: Shown):
    widget = shown(PHONE)
    drawing = jet(widget).bounding_box()
    mass = widget.locator(".cw-j-mass").bounding_box()
    names = [button.bounding_box() for button in widget.locator(".cw-j-classes .cw-button").all()]
    assert 0 <= mass["y"] - (drawing["y"] + drawing["height"]) < 20
    assert len(names) == 5
    controls = widget.locator(".cw-j-transport").bounding_box()
    assert 0 <= controls["y"] - (mass["y"] + mass["height"]) < 60
    assert min(name["y"] for name in names) > controls["y"] + controls["height"]
    assert min(name["height"] for name in names) >= 32
    assert widget.bounding_box()["height"] < 900


def test_the_names_of_the_axes_stand_below_the_picture_and_within_it(shown: Shown):
    for width in (390, 1280):
        widget = shown({"width": width, "height": 1200})
        ground = widget.locator(".cw-j-axes rect").first.bounding_box()
        box = jet(widget).bounding_box()
        name = widget.locator(".cw-j-axes text", has_text="Δη").bounding_box()
        assert name["y"] >= ground["y"] + ground["height"]
        assert name["x"] >= box["x"]
        assert name["x"] + name["width"] <= box["x"] + box["width"] + 1


def test_arrow_keys_go_from_particle_to_particle_and_enter_takes_away(shown: Shown):
    widget = opened(shown())
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
    widget = opened(shown(jet=2))
    hardest = widget.get_by_role("button", name="Take hardest away")
    for taken in ([0], [0, 1], [0, 1, 2]):
        hardest.click()
        holds(widget, lambda taken=taken: gone(widget) == taken)
        expect(widget.locator(".cw-j-transport output")).to_have_text(f"{3 - len(taken)} of 3")
    assert hardest.is_disabled()
    assert widget.locator(".cw-j-mass").inner_text().endswith("none")
    widget.get_by_role("button", name="All back").click()
    holds(widget, lambda: gone(widget) == [])


def test_of_particles_too_soft_to_be_kept_a_key_brings_all(shown: Shown):
    widget = shown(kept=2, particle=5)
    jet(widget).focus()
    widget.page.keyboard.press("Enter")
    holds(widget, lambda: kept(widget) == 7)


def test_truth_and_network_wait_for_a_guess_which_moves_nothing(shown: Shown):
    widget = shown(jet=1)
    verdict, said = widget.locator(".cw-j-verdict"), widget.locator(".cw-j-classes")
    assert verdict.text_content().strip() == ""
    assert "✓" not in said.inner_text()
    agrees_with_course_lib(widget)
    height = widget.bounding_box()["height"]

    def guess(name: str) -> None:
        said.get_by_role("button", name=name, exact=True).click()

    def tells(*parts: str) -> None:
        text = re.sub(r"\s+", " ", widget.inner_text())
        for part in parts:
            assert part in text

    guess("W")
    eventually(
        widget,
        lambda: tells("✗ It was gluon. You: W.", "The network says ", "You 0 of 1, network "),
    )
    agrees_with_course_lib(widget)
    for name, sign in (("gluon", "✓"), ("W", "✗"), ("top", "")):
        [row] = [row for row in said.locator("tr").all() if row.locator("th").inner_text() == name]
        assert row.locator(".cw-j-truth").inner_text() == sign
    assert outcome(widget) == "bad"
    assert widget.bounding_box()["height"] == height
    for later in ("gluon", "top"):
        guess(later)
        eventually(widget, lambda later=later: tells(f"It was gluon. You: W, then {later}."))
    assert widget.bounding_box()["height"] == height
    widget.get_by_role("button", name="Next").click()
    eventually(widget, lambda: hidden(verdict))
    guess("W")
    eventually(widget, lambda: tells("✓ Right: it was W.", "You 1 of 2, network "))
    assert outcome(widget) == "good"
    guess("top")
    eventually(widget, lambda: tells("✓ Right: it was W. Then: top.", "You 1 of 2, network "))
    assert widget.bounding_box()["height"] == height


def outcome(widget: Locator) -> str | None:
    return widget.locator(".cw-j-result").get_attribute("data-outcome")


def test_whoever_has_the_answer_shown_is_neither_right_nor_wrong(shown: Shown):
    widget = opened(shown(jet=1))
    assert outcome(widget) == "open"
    assert "You 0" not in widget.inner_text()


def test_the_verdict_says_first_what_the_bars_show(shown: Shown):
    widget = opened(shown())
    verdict = widget.locator(".cw-j-verdict")
    whole = verdict.inner_text()
    assert " from " not in whole
    for left in (6, 5, 4, 3, 2, 1):
        widget.get_by_role("button", name="Take hardest away").click()
        agrees_with_course_lib(widget)
        now = widget.locator(".cw-j-best th").inner_text()
        some = "1 particle" if left == 1 else f"{left} particles"
        assert f"Network, from {some}: {now}; from all 7: " in verdict.inner_text()
        assert re.search(r"from all 7: .+ [✓✗]\.$", verdict.inner_text().strip())
    widget.get_by_role("button", name="All back").click()
    eventually(widget, lambda: told(verdict, whole))


def told(verdict: Locator, text: str) -> None:
    assert verdict.inner_text() == text


def hidden(verdict: Locator) -> None:
    assert verdict.text_content().strip() == ""


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
    widget = opened(shown(model=model, kept=few))
    assert widget.locator(".cw-j-best th").inner_text() == answers[few]
    verdict = widget.locator(".cw-j-verdict").inner_text()
    told = f"Network, from {few} particles: {answers[few]}; from all 7: {answers[7]} "
    assert told in verdict


def test_the_jet_comes_in_by_itself_the_hardest_first_and_once(shown: Shown):
    widget = shown({"clock": True}, moving=True)
    assert kept(widget) == 1
    widget.evaluate(NOTE_VALUES, "kept")
    turn(widget, 8)
    assert widget.evaluate(VALUES) == [2, 3, 4, 5, 6, 7]
    assert rests(widget)
    agrees_with_course_lib(widget)
    widget.get_by_role("button", name="Play").click()
    turn(widget, 3)
    assert 1 < kept(widget) < 7
    widget.get_by_role("button", name="Stop").click()
    assert rests(widget)
    agrees_with_course_lib(widget)


def test_after_a_guess_the_jet_comes_in_once_more(shown: Shown):
    widget = shown({"reduced_motion": True, "clock": True}, moving=True)
    widget.page.emulate_media(reduced_motion="no-preference")
    widget.get_by_role("button", name="W", exact=True).click()
    for seconds, there in ((0.1, 1), (8, 7)):
        turn(widget, seconds)
        assert kept(widget) == there
        agrees_with_course_lib(widget)


def kept(widget: Locator) -> int:
    return state_of(widget)["kept"]


def test_a_hand_on_a_particle_ends_the_film_and_has_the_whole_jet(shown: Shown):
    widget = shown({"clock": True}, moving=True)
    turn(widget, 3)
    assert kept(widget) < 7
    jet(widget).focus()
    widget.page.keyboard.press("ArrowRight")
    turn(widget, 0.1)
    assert kept(widget) == 7
    agrees_with_course_lib(widget)
    assert widget.get_by_role("button", name="Play").is_visible()


def test_for_readers_who_asked_for_less_motion_the_jet_is_there_at_once(shown: Shown):
    widget = shown({"reduced_motion": True, "clock": True}, moving=True)
    assert rests(widget)
    assert kept(widget) == 7
    agrees_with_course_lib(widget)


HARDEST = '<p style="margin-top: 200vh"><a href="#fig-jet-explorer?kept=2">the hardest</a></p>'


def test_a_link_that_sets_the_figure_leaves_the_guess_and_reset_does_not(shown: Shown):
    widget = shown({"below": HARDEST}, jet=1)
    whole = state_of(widget)["kept"]
    said, told = widget.locator(".cw-j-classes"), widget.locator(".cw-j-told")
    said.get_by_role("button", name="W", exact=True).click()
    expect(told).to_have_text("✗ It was gluon. You: W.")
    for _ in range(2):
        widget.page.get_by_role("link", name="the hardest").click()
        holds(widget, lambda: kept(widget) == 2)
        expect(told).to_have_text("✗ It was gluon. You: W.")
        expect(widget.locator(".cw-j-verdict")).to_contain_text("You 0 of 1, network ")
        assert outcome(widget) == "bad"
    widget.get_by_role("button", name="Reset").click()
    expect(told).to_have_text("What left it? Guess.")
    holds(widget, lambda: kept(widget) == whole > 2)


def test_a_link_opens_no_jet_that_nobody_has_guessed(shown: Shown):
    widget = shown({"below": HARDEST})
    widget.page.get_by_role("link", name="the hardest").click()
    holds(widget, lambda: kept(widget) == 2)
    expect(widget.locator(".cw-j-told")).to_have_text("What left it? Guess.")


def test_an_address_that_asks_for_a_particle_that_is_not_there_is_refused(shown: Shown):
    widget = shown()
    identifier = widget.get_attribute("id")
    widget.page.evaluate("(hash) => { location.hash = hash; }", f"{identifier}?jet=2&particle=4")
    alert = widget.get_by_role("alert")
    alert.wait_for()
    assert "do not fit together" in alert.inner_text()
    assert state_of(widget)["jet"] == 0
    widget.page.evaluate("(hash) => { location.hash = hash; }", f"{identifier}?jet=2")
    holds(widget, lambda: kept(widget) == 3)
