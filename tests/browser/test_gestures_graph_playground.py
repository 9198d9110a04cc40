"""GraphPlayground by hand: bonds drawn, atoms added and deleted, messages that travel."""

import itertools
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bare import bare_page
from clock import rests, turn
from displayed import agrees_with_course_lib
from hands import centre, open_folds, widgets
from kinds.graph_playground import acid, bicyclopentyl, decalin, network
from playwright.sync_api import Locator, Page, expect
from reading import eventually, state_of

from course_lib.molecules import Molecule
from course_lib.widgets import GraphPlayground

pytestmark = pytest.mark.usefixtures("plain_calls")

Shown = Callable[..., Locator]
CLOCK = {"clock": True}
PLACES = """(el) => [...el.querySelectorAll(".cw-g-message")].map((dot) =>
  dot.getAttribute("transform"))"""
CLICK_AND_CHOOSE = """(el, clicked) => {
  const atoms = el.querySelectorAll(".cw-g-atom");
  for (const i of clicked) atoms[i].focus();
  const order = el.querySelector("[data-trait=order]");
  order.selectedIndex = [...order.options].findIndex((option) => option.text === "double");
  order.dispatchEvent(new Event("change"));
}"""


@pytest.fixture
def shown(open_page: Callable[..., Page], tmp_path: Path) -> Shown:
    """Opens a page with one GraphPlayground, made of what is given, and gives that widget."""

    def shown(*molecules: Molecule, page: dict[str, Any] | None = None, **given: Any) -> Locator:
        listed = molecules or (acid("acid"), decalin(), bicyclopentyl())
        widget = GraphPlayground(listed, **{"network": network(), "moving": False} | given)
        found = widgets(open_page(bare_page(tmp_path, widget), **page or {}))[0]
        open_folds(found)
        centre(found.locator("[data-flight]"))
        return found

    return shown


def atoms(widget: Locator) -> list[Locator]:
    return widget.locator(".cw-g-atom").all()


def drawn(widget: Locator) -> dict[str, Any]:
    return state_of(widget)["drawing"]


def order_of(widget: Locator, i: int, j: int) -> int:
    return next((order for a, b, order in drawn(widget)["bonds"] if (a, b) == (i, j)), 0)


def drag(widget: Locator, start: tuple[float, float], end: tuple[float, float]) -> None:
    mouse = widget.page.mouse
    mouse.move(*start)
    mouse.down()
    mouse.move(*end, steps=4)
    mouse.up()


def spot(widget: Locator, atom: int) -> tuple[float, float]:
    """The middle of an atom; the picture stays where it is."""
    return middle(atoms(widget)[atom].locator("circle").first)


def middle(element: Locator) -> tuple[float, float]:
    box = element.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def corner(widget: Locator) -> tuple[float, float]:
    """A point of the picture where nothing is drawn."""
    box = widget.locator("[data-flight]").bounding_box()
    return box["x"] + 0.95 * box["width"], box["y"] + 0.06 * box["height"]


def test_a_line_from_atom_to_atom_is_a_bond_and_again_a_higher_one(shown: Shown):
    widget = shown(drag="bonds")
    for order in (1, 2, 3, 4, 1):
        drag(widget, spot(widget, 0), spot(widget, 3))
        eventually(widget, lambda order=order: assert_order(widget, order))
        agrees_with_course_lib(widget)
    assert widget.locator("[data-bond='0 3']").count() == 1
    before, (x, y) = drawn(widget), spot(widget, 2)
    drag(widget, (x, y), (x + 3, y + 3))
    agrees_with_course_lib(widget)
    assert drawn(widget) == before  # a line that ends where it began changes nothing


def assert_order(widget: Locator, order: int) -> None:
    assert order_of(widget, 0, 3) == order


def test_a_line_into_the_open_ends_in_a_new_atom_and_a_click_makes_a_lone_one(shown: Shown):
    widget = shown(drag="bonds")
    drag(widget, spot(widget, 0), corner(widget))
    eventually(widget, lambda: assert_atoms(widget, 7))
    assert order_of(widget, 0, 6) == 1
    assert drawn(widget)["hydrogens"][6] == 3
    agrees_with_course_lib(widget)
    x, y = corner(widget)
    widget.page.mouse.click(x, y + 120)
    eventually(widget, lambda: assert_atoms(widget, 8))
    assert drawn(widget)["hydrogens"][7] == 4
    agrees_with_course_lib(widget)


def assert_atoms(widget: Locator, count: int) -> None:
    assert len(drawn(widget)["element"]) == count
    assert len(atoms(widget)) == count


def test_two_atoms_that_are_clicked_bear_their_names_and_are_bonded_by_the_list_of_orders(
    shown: Shown,
):
    widget = shown()
    order = widget.get_by_label("Its order")
    (x, y), (u, v) = spot(widget, 2), spot(widget, 3)
    widget.page.mouse.click((x + u) / 2, (y + v) / 2)  # a bond
    eventually(widget, lambda: assert_chosen(widget, 3, 2))
    assert order.evaluate("el => el.selectedOptions[0].text") == "double"
    for i in (0, 5):
        atoms(widget)[i].click()
    eventually(widget, lambda: assert_chosen(widget, 5, 0))
    for label, bonds in (("double", 2), ("none", 0)):
        order.select_option(label=label)
        agrees_with_course_lib(widget)
        assert order_of(widget, 0, 5) == bonds
    # An order may be chosen before the next frame.
    widget.evaluate(CLICK_AND_CHOOSE, [0, 5])
    agrees_with_course_lib(widget)
    assert order_of(widget, 0, 5) == 2


def test_a_tap_on_a_short_bond_chooses_the_bond_and_a_tap_on_an_atom_the_atom(shown: Shown):
    widget = shown(decalin(), atom=7, page={"width": 390, "height": 844, "touch": True})
    (x, y), (u, v) = spot(widget, 3), spot(widget, 4)
    for share in (0.4, 0.6):
        atoms(widget)[7].focus()
        widget.page.touchscreen.tap(x + share * (u - x), y + share * (v - y))
        eventually(widget, lambda: assert_chosen(widget, 4, 3))
    widget.page.touchscreen.tap(x, y)
    eventually(widget, lambda: assert_chosen(widget, 3, 4))


def assert_chosen(widget: Locator, atom: int, partner: int) -> None:
    state = state_of(widget)
    assert (state["atom"], state["partner"]) == (atom, partner)
    assert_tags(widget, atom_name(state, atom), atom_name(state, partner))


def atom_name(state: dict[str, Any], atom: int) -> str:
    return f"{state['drawing']['element'][atom]}{atom + 1}"


def tags(widget: Locator) -> list[str]:
    return widget.locator(".cw-g-tag").all_text_contents()


def assert_tags(widget: Locator, *names: str) -> None:
    assert tags(widget) == list(names)


def test_what_chemistry_forbids_is_marked_and_not_refused(shown: Shown):
    widget = shown(atom=1)
    add = widget.get_by_role("button", name="Add an atom")
    for _ in range(3):
        add.click()
        atoms(widget)[1].click()
    eventually(widget, lambda: assert_said(widget, "C2 has 6 bonds of 4."))
    assert widget.locator("[stroke='var(--cw-warm)']").count() == 1
    agrees_with_course_lib(widget)


def assert_said(widget: Locator, words: str) -> None:
    assert words in widget.locator(".cw-message").inner_text()


def test_one_press_puts_an_oxygen_on_the_chosen_atom_and_its_effect_is_told(shown: Shown):
    widget = shown(decalin())
    result = widget.locator(".cw-g-result")
    assert result.get_attribute("data-outcome") == "open"
    widget.get_by_role("button", name="Put an oxygen on it").click()
    eventually(widget, lambda: assert_atoms(widget, 11))
    assert drawn(widget)["element"][10] == "O"
    assert order_of(widget, 0, 10) == 1
    agrees_with_course_lib(widget)
    before, after = (
        widget.locator(f"[data-amount={kind}]").inner_text() for kind in ("before", "answer")
    )
    assert result.inner_text().splitlines()[0].endswith(f": {before} → {after}")
    assert result.get_attribute("data-outcome") in ("more", "less")


def test_messages_travel_and_land_with_the_next_round(shown: Shown):
    widget, seen = shown(rounds=0, page=CLOCK), []
    widget.get_by_role("button", name="Step").click()
    for _ in range(3):
        turn(widget, 0.3)
        seen.append(widget.evaluate(PLACES))
        slider = widget.get_by_role("slider", name="Rounds")
        assert (state_of(widget)["rounds"], slider.input_value()) == (0, "0")
    assert [len(set(places)) for places in seen] == [10] * 3  # five bonds, both ways
    assert all(set(one).isdisjoint(other) for one, other in itertools.pairwise(seen))
    turn(widget, 0.5)
    assert rests(widget)
    assert_rounds(widget, 1)
    assert slider.input_value() == "1"
    assert widget.evaluate(PLACES) == []
    agrees_with_course_lib(widget)
    for _ in range(9):
        widget.get_by_role("button", name="Step").click()
    turn(widget, 4)
    assert_rounds(widget, 6)


def test_on_opening_an_oxygen_lands_and_the_answer_changes_when_its_news_has_travelled(
    shown: Shown,
):
    widget = shown(decalin(), rounds=0, moving=True, atom=1, page=CLOCK)
    result = widget.locator(".cw-g-result")
    turn(widget, 1)
    assert_atoms(widget, 11)
    assert drawn(widget)["element"][10] == "O"
    assert order_of(widget, 1, 10) == 1
    turn(widget, 9)
    assert_rounds(widget, 4)
    assert rests(widget)
    agrees_with_course_lib(widget)
    assert result.get_attribute("data-outcome") in ("more", "less")
    assert chosen_graph(widget) == "your own"
    widget.get_by_role("button", name="Reset").click()
    turn(widget, 0.1)
    assert_atoms(widget, 10)
    assert chosen_graph(widget) == "decalin"
    agrees_with_course_lib(widget)


def chosen_graph(widget: Locator) -> str:
    graph = widget.get_by_label("Graph", exact=True)
    return graph.evaluate("el => el.selectedOptions[0].text")


def test_a_molecule_that_is_changed_or_rubbed_out_no_longer_bears_its_name(shown: Shown):
    widget = shown()
    assert chosen_graph(widget) == "acid"
    atoms(widget)[0].press("ArrowUp")
    agrees_with_course_lib(widget)
    assert chosen_graph(widget) == "acid"  # drawn otherwise, it is the same
    delete = widget.get_by_role("button", name="Delete atom")
    for count in range(5, 0, -1):
        delete.click()
        eventually(widget, lambda count=count: assert_atoms(widget, count))
        agrees_with_course_lib(widget)
        assert chosen_graph(widget) == "your own"
    delete.click()
    eventually(widget, lambda: assert_atoms(widget, 0))
    assert chosen_graph(widget) == "a new one"
    assert "NaN" not in widget.inner_html()
    assert drawn(widget)["name"] == ""
    widget.get_by_role("button", name="Add an atom").click()
    eventually(widget, lambda: assert_atoms(widget, 1))
    assert widget.locator("[data-amount=before]").count() == 0
    widget.get_by_label("Graph", exact=True).select_option(label="decalin")
    eventually(widget, lambda: assert_atoms(widget, 10))
    assert chosen_graph(widget) == "decalin"


def test_a_paused_film_tells_the_answer_to_nobody_before_its_news_has_come(shown: Shown):
    widget = shown(decalin(), rounds=0, moving=True, page=CLOCK)
    turn(widget, 1)
    widget.get_by_role("button", name="Pause").click()
    assert rests(widget)
    heard = widget.locator(".cw-announcer")
    assert "Your own, from decalin." in heard.text_content()
    assert "The network expects" not in heard.text_content()
    assert widget.locator("[data-amount=awaited]").inner_text() == "?"
    for rounds in range(state_of(widget)["facts"]["layers"]):
        assert_rounds(widget, rounds)
        assert widget.locator("[data-amount=answer]").count() == 0
        widget.get_by_role("button", name="Step").click()
        turn(widget, 2)
    assert "The network expects a solubility of" in heard.text_content()
    agrees_with_course_lib(widget)


def assert_rounds(widget: Locator, rounds: int) -> None:
    assert state_of(widget)["rounds"] == rounds
    assert widget.get_by_role("button", name=re.compile("Play")).is_visible()


def test_decalin_and_bicyclopentyl_have_the_same_colours_and_a_bond_tells_them_apart(shown: Shown):
    widget = shown(drawing=decalin(), other=2, rounds=0)
    verdict = widget.locator(".cw-g-verdict")
    # In round 2 the last new colour comes, which round 3 shows.
    for rounds, said in ((0, "so far."), (2, "so far."), (3, "no message passing")):
        widget.evaluate("(el, rounds) => el.courseModel.set('rounds', rounds)", rounds)
        expect(verdict).to_contain_text(f"After {rounds} round")
        expect(verdict).to_contain_text(said)
        expect(widget.locator(".cw-g-both")).to_have_count(int(rounds == 3))
        agrees_with_course_lib(widget)
    widget.get_by_role("button", name="Delete atom").click()
    expect(verdict).to_contain_text("told apart")
    agrees_with_course_lib(widget)
