import torch
from agreement import has
from clock import CLOCK, rests, turn
from gestures import press, spot
from playwright.sync_api import Locator, expect
from reading import NOTE_VALUES, VALUES, state_of
from small_widgets import make, particle_transformer
from widget_page import Shown, shows

from course_lib.models.tagging import jet_inputs, logits_of

shown = shows("JetExplorer", folded=True)
# The middles of all particles.
PLACES = """(el) => [...el.querySelectorAll("[data-particle] > path:first-of-type")].map((e) => {
  const box = e.getBoundingClientRect();
  return [box.x + box.width / 2, box.y + box.height / 2];
})"""


def jet(widget: Locator) -> Locator:
    return widget.get_by_role("listbox")


def pointed(widget: Locator, particle: int) -> None:
    expect(jet(widget)).to_have_attribute("data-pointed", str(particle))


def test_pointing_shows_the_attention_of_a_particle_and_a_click_removes_it(shown: Shown):
    widget = shown(particle=-1)
    mouse, looks = widget.page.mouse, widget.locator("[data-to]")
    mouse.click(*spot(jet(widget), 0.97, 0.03))
    # A click far from all particles changes nothing.
    has(widget, gone=[], particle=-1)
    pointed(widget, -1)
    places = widget.evaluate(PLACES)
    # One far from others can be clicked alone.
    apart = torch.cdist(*2 * [torch.tensor(places)]).fill_diagonal_(torch.inf)
    lone = int(apart.amin(0).argmax())
    mouse.move(*places[lone])
    pointed(widget, lone)
    has(widget, particle=-1)
    assert looks.count() == 7
    for taken in ([lone], []):
        mouse.down()
        mouse.up()
        has(widget, gone=taken)
        assert looks.count() == (0 if taken else 7)


def test_a_jet_without_particles_has_no_answer_until_one_is_back(shown: Shown):
    widget = shown(jet=2)
    hardest = widget.get_by_role("button", name="hardest")
    press(widget, "Show", exact=True)
    # Showing the answer counts as neither right nor wrong.
    has(widget, gone=[])
    assert outcome(widget) == "open"
    for end, taken in (("softest", [2]), ("hardest", [2, 0]), ("hardest", [2, 0, 1])):
        press(widget, end)
        has(widget, gone=taken)
    assert hardest.is_disabled()
    assert widget.locator(".cw-j-mass").inner_text().endswith("none")
    press(widget, "All back")
    has(widget, gone=[])


def outcome(widget: Locator) -> str | None:
    return widget.locator(".cw-j-result").get_attribute("data-outcome")


def test_truth_and_network_are_hidden_until_a_guess_which_moves_nothing(shown: Shown):
    widget = shown(jet=1)
    verdict = widget.locator(".cw-j-verdict")
    expect(verdict).to_have_text("")
    height = widget.bounding_box()["height"]

    def tells(*parts: str) -> None:
        for part in parts:
            expect(widget.locator(".cw-j-result")).to_contain_text(part)
        assert widget.bounding_box()["height"] == height

    press(widget, "W", exact=True)
    tells("✗ It was gluon. You: W.", "The network says ", "You 0 of 1, network ")
    assert outcome(widget) == "bad"
    press(widget, "Next")
    expect(verdict).to_have_text("")
    for guess, told in (("W", "✓ Right: it was W."), ("top", "✓ Right: it was W. Then: top.")):
        press(widget, guess, exact=True)
        tells(told, "You 1 of 2, network ")
        assert outcome(widget) == "good"


def test_the_verdict_is_about_the_whole_jet(shown: Shown):
    few, model, answers = 2, particle_transformer(), {}
    parts = [jet_inputs(make("JetExplorer", kept=kept).there) for kept in (few, 7)]
    with torch.no_grad():
        model.read[1].weight.mul_(20)
        # Now evidence for a class in one of the two is evidence against it in the other.
        model.read[1].bias.sub_(sum(logits_of(model, part)[0] for part in parts) / 2)
    for kept in (few, 7):
        made = make("JetExplorer", model=model, kept=kept)
        answers[kept] = made.facts["classes"][int(made.probabilities().argmax())]
    assert answers[few] != answers[7]
    widget = shown(model=model, kept=few)
    press(widget, "Show", exact=True)
    has(widget, kept=few)
    assert widget.locator(".cw-j-best th").inner_text() == answers[few]
    told = f"Network, from {few} particles: {answers[few]}; from all 7: {answers[7]} "
    assert told in widget.locator(".cw-j-verdict").inner_text()


def test_particles_appear_hardest_first_until_the_reader_stops_the_film(shown: Shown):
    widget = shown(page=CLOCK, moving=True)
    has(widget, kept=1)
    widget.evaluate(NOTE_VALUES, "kept")
    turn(widget, 8)
    assert widget.evaluate(VALUES) == [2, 3, 4, 5, 6, 7]
    assert rests(widget)
    press(widget, "Play")
    turn(widget, 3)
    assert 1 < state_of(widget)["kept"] < 7
    jet(widget).press("ArrowRight")
    turn(widget, 0.1)
    has(widget, kept=7)
    assert rests(widget)
    # After a guess the animation starts again.
    press(widget, "W", exact=True)
    for seconds, there in ((0.1, 1), (8, 7)):
        turn(widget, seconds)
        has(widget, kept=there)


def test_a_zoom_keeps_the_chosen_particle_in_place_and_a_drag_shows_another_part(shown: Shown):
    widget = shown(particle=1)
    before = widget.evaluate(PLACES)
    press(widget, "Zoom in")
    has(widget, zoom=2)
    after = widget.evaluate(PLACES)
    torch.testing.assert_close(after[1], before[1], rtol=0, atol=0.1)
    apart = before[2][0] - before[1][0]
    assert abs(after[2][0] - after[1][0] - 2 * apart) < 0.1
    mouse, (x, y) = widget.page.mouse, spot(jet(widget), 0.5, 0.5)
    mouse.move(x, y)
    mouse.down()
    mouse.move(x - 20, y, steps=4)
    mouse.up()
    # A drag takes no particle away.
    has(widget, gone=[], zoom=2)
    assert abs(widget.evaluate(PLACES)[1][0] - after[1][0] + 20) < 1
    for key, zoom in (("+", 4), ("-", 2), ("-", 1)):
        jet(widget).press(key)
        has(widget, zoom=zoom)
    has(widget, eta=0, phi=0)
