from typing import Any

from agreement import agrees_with_course_lib, has
from clock import CLOCK, plays, rests, turn
from gestures import Mouse, Point, press, spot
from playwright.sync_api import Locator, expect
from reading import send, state_of
from small_widgets import acid, bicyclopentyl, decalin, molecule_network
from widget_page import Shown, shows

from course_lib.models.molecules import Molecule
from course_lib.widgets import GraphPlayground

PLACES = """(el) => [...el.querySelectorAll(".cw-g-message")].map((dot) =>
  dot.getAttribute("transform"))"""
CLICK_AND_CHOOSE = """(el, clicked) => {
  const atoms = el.querySelectorAll(".cw-g-atom");
  for (const i of clicked) atoms[i].focus();
  const order = el.querySelector("[data-trait=order]");
  order.selectedIndex = [...order.options].findIndex((option) => option.text === "double");
  order.dispatchEvent(new Event("change"));
}"""


def playground(*molecules: Molecule, **given: Any) -> GraphPlayground:
    listed = molecules or (acid("acid"), decalin(), bicyclopentyl())
    return GraphPlayground(listed, **{"network": molecule_network(), "moving": False} | given)


shown = shows(playground)


def atoms(widget: Locator) -> list[Locator]:
    return widget.locator(".cw-g-atom").all()


def drawn(widget: Locator) -> dict[str, Any]:
    return state_of(widget)["drawing"]


def middle(widget: Locator, atom: int) -> Point:
    """The middle of an atom; scrolls the picture into view first."""
    spot(widget.locator("[data-flight]"))
    return spot(atoms(widget)[atom].locator("circle").first)


def corner(widget: Locator, down: float = 0.06) -> Point:
    return spot(widget.locator("[data-flight]"), 0.95, down)


def bonded(widget: Locator, i: int, j: int, order: int) -> None:
    """Assert that two atoms have a bond of this order, or none for order 0."""
    agrees_with_course_lib(widget)
    assert [k for a, b, k in drawn(widget)["bonds"] if (a, b) == (i, j)] == [order][: order > 0]


def counts(widget: Locator, expected: int) -> None:
    agrees_with_course_lib(widget)
    assert len(drawn(widget)["element"]) == len(atoms(widget)) == expected


def chosen(widget: Locator, atom: int, partner: int) -> None:
    has(widget, atom=atom, partner=partner)
    element = drawn(widget)["element"]
    named = [f"{element[i]}{i + 1}" for i in (atom, partner)]
    assert widget.locator(".cw-g-tag").all_text_contents() == named


def chosen_graph(widget: Locator) -> str:
    graph = widget.get_by_label("Graph", exact=True)
    return graph.evaluate("el => el.selectedOptions[0].text")


def test_a_line_from_atom_to_atom_is_a_bond_and_into_the_open_it_ends_in_a_new_atom(shown: Shown):
    widget = shown(drag="bonds")
    hand = Mouse(widget.page)
    for order in (1, 2, 3, 4, 1):
        hand.drag(middle(widget, 0), middle(widget, 3))
        bonded(widget, 0, 3, order)
    before, (x, y) = drawn(widget), middle(widget, 2)
    hand.drag((x, y), (x + 3, y + 3))
    has(widget, drawing=before)  # a line that ends at its start changes nothing
    hand.drag(middle(widget, 1), corner(widget))
    counts(widget, 7)
    bonded(widget, 1, 6, 1)
    widget.page.mouse.click(*corner(widget, 0.4))
    counts(widget, 8)
    assert drawn(widget)["hydrogens"][6:] == [3, 4]


def test_two_clicked_atoms_are_named_and_the_list_of_orders_bonds_them(shown: Shown):
    widget = shown()
    order = widget.get_by_label("Its order")
    (x, y), (u, v) = middle(widget, 2), middle(widget, 3)
    widget.page.mouse.click((x + u) / 2, (y + v) / 2)  # a bond
    chosen(widget, 3, 2)
    assert order.evaluate("el => el.selectedOptions[0].text") == "double"
    for i in (0, 5):
        atoms(widget)[i].click()
    chosen(widget, 5, 0)
    for label, bonds in (("double", 2), ("none", 0)):
        order.select_option(label=label)
        bonded(widget, 0, 5, bonds)
    # An order may be chosen before the next frame.
    widget.evaluate(CLICK_AND_CHOOSE, [0, 5])
    bonded(widget, 0, 5, 2)


def test_a_tap_on_a_short_bond_chooses_the_bond_and_a_tap_on_an_atom_the_atom(shown: Shown):
    widget = shown(decalin(), atom=7, page={"width": 390, "height": 844, "touch": True})
    (x, y), (u, v) = middle(widget, 3), middle(widget, 4)
    for share in (0.4, 0.6):
        atoms(widget)[7].focus()
        widget.page.touchscreen.tap(x + share * (u - x), y + share * (v - y))
        chosen(widget, 4, 3)
    widget.page.touchscreen.tap(x, y)
    chosen(widget, 3, 4)


def test_what_chemistry_forbids_is_marked_and_not_refused(shown: Shown):
    widget = shown(atom=1)
    for _ in range(3):
        press(widget, "Add an atom")
        atoms(widget)[1].click()
    expect(widget.locator(".cw-message")).to_contain_text("C2 has 6 bonds of 4.")
    assert widget.locator("[stroke='var(--cw-warm)']").count() == 1
    agrees_with_course_lib(widget)


def test_one_press_adds_an_oxygen_to_the_chosen_atom_and_describes_its_effect(shown: Shown):
    widget = shown(decalin())
    result = widget.locator(".cw-g-result")
    assert result.get_attribute("data-outcome") == "open"
    press(widget, "Put an oxygen on it")
    counts(widget, 11)
    bonded(widget, 0, 10, 1)
    before, after = (
        widget.locator(f"[data-amount={kind}]").inner_text() for kind in ("before", "answer")
    )
    assert result.inner_text().splitlines()[0].endswith(f": {before} → {after}")
    assert result.get_attribute("data-outcome") in ("more", "less")


def test_messages_travel_and_land_with_the_next_round(shown: Shown):
    widget, seen = shown(rounds=0, page=CLOCK), []
    press(widget, "Step")
    for _ in range(3):
        turn(widget, 0.3)
        seen.append(set(widget.evaluate(PLACES)))
        assert state_of(widget)["rounds"] == 0
    assert [len(places) for places in seen] == [10] * 3  # five bonds, both ways
    assert len(set.union(*seen)) == 30
    turn(widget, 0.5)
    assert rests(widget)
    assert widget.evaluate(PLACES) == []
    has(widget, rounds=1)


def test_on_opening_an_oxygen_lands_and_the_answer_waits_for_its_messages(shown: Shown):
    widget = shown(decalin(), rounds=0, moving=True, page=CLOCK)
    heard = widget.locator(".cw-announcer")
    turn(widget, 1)
    assert drawn(widget)["element"][10] == "O"
    press(widget, "Pause")
    assert rests(widget)
    assert "The network expects" not in heard.text_content()
    assert widget.locator("[data-amount=awaited]").inner_text() == "?"
    for _ in range(state_of(widget)["facts"]["layers"]):
        assert widget.locator("[data-amount=answer]").count() == 0
        press(widget, "Step")
        turn(widget, 2)
    assert not plays(widget)
    assert "The network expects a solubility of" in heard.text_content()
    press(widget, "Reset")
    counts(widget, 10)


def test_a_molecule_that_is_changed_or_rubbed_out_no_longer_bears_its_name(shown: Shown):
    widget = shown()
    assert chosen_graph(widget) == "acid"
    atoms(widget)[0].press("ArrowUp")
    agrees_with_course_lib(widget)
    assert chosen_graph(widget) == "acid"  # another drawing of the same molecule
    for count in range(5, -1, -1):
        press(widget, "Delete atom")
        counts(widget, count)
        assert chosen_graph(widget) == ("your own" if count else "a new one")
    assert drawn(widget)["name"] == ""
    press(widget, "Add an atom")
    counts(widget, 1)
    assert widget.locator("[data-amount=before]").count() == 0


def test_decalin_and_bicyclopentyl_have_the_same_colours_until_a_bond_is_added(shown: Shown):
    widget = shown(drawing=decalin(), other=2, rounds=0)
    verdict = widget.locator(".cw-g-verdict")
    # The last new colour appears in round 2, and round 3 shows it.
    for rounds, said in ((0, "so far."), (2, "so far."), (3, "no message passing")):
        send(widget, rounds=rounds)
        expect(verdict).to_contain_text(f"After {rounds} round")
        expect(verdict).to_contain_text(said)
        expect(widget.locator(".cw-g-both")).to_have_count(int(rounds == 3))
        agrees_with_course_lib(widget)
    press(widget, "Delete atom")
    expect(verdict).to_contain_text("told apart")
    agrees_with_course_lib(widget)
