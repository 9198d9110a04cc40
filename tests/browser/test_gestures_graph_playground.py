"""GraphPlayground by hand: bonds drawn, atoms added and deleted, messages that travel."""

import itertools
import math
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
from playwright.sync_api import Locator, Page
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
CENTRES = """(el) => {
  const svg = el.querySelector("[data-flight]");
  const reach = ([...svg.querySelectorAll(".cw-g-atom")].map((atom) =>
    atom.getAttribute("transform").match(/[\\d.-]+/g).map(Number)));
  const radii = [...svg.querySelectorAll(".cw-g-atom")].map((atom) =>
    Number(atom.querySelectorAll("circle")[1].getAttribute("r")));
  return [reach, Math.max(...radii)];
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


def test_more_atoms_than_fit_are_refused_with_words(shown: Shown):
    chain = Molecule.drawn("C" * 24, [(i, i + 1, 1) for i in range(23)], name="wax")
    widget = shown(chain)
    widget.get_by_role("button", name="Add an atom").click()
    eventually(widget, lambda: assert_said(widget, "24 atoms are all that fit"))
    assert_atoms(widget, 24)


def test_a_click_into_an_empty_field_makes_an_atom_and_a_line_a_bond(shown: Shown):
    widget = shown()
    graph = widget.get_by_label("Graph", exact=True)
    graph.select_option(label="a new one")
    eventually(widget, lambda: assert_atoms(widget, 0))
    centre(widget.locator("[data-flight]"))
    x, y = corner(widget)
    widget.page.mouse.click(x - 60, y + 60)
    eventually(widget, lambda: assert_atoms(widget, 1))
    drag(widget, spot(widget, 0), (x - 200, y + 60))
    eventually(widget, lambda: assert_atoms(widget, 2))
    assert order_of(widget, 0, 1) == 1
    graph.select_option(label="decalin")
    eventually(widget, lambda: assert_atoms(widget, 10))
    assert state_of(widget)["drag"] == "moves"


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


def test_a_touch_while_the_oxygen_lands_puts_it_where_it_belongs_and_tells_the_answer(
    shown: Shown,
):
    widget = shown(decalin(), rounds=0, moving=True, page=CLOCK)
    turn(widget, 1)
    assert_atoms(widget, 11)
    atoms(widget)[4].focus()
    assert rests(widget)
    assert_rounds(widget, 0)
    agrees_with_course_lib(widget)
    assert widget.locator("[data-amount=before]").count() == 1
    x, y = (float(part) for part in spot_of(atoms(widget)[10]))
    place = drawn(widget)["place"][10]
    box = widget.locator("[data-flight]").bounding_box()
    assert x == pytest.approx((place[0] + 4) * box["width"] / 8, abs=1)
    assert y == pytest.approx((3 - place[1]) * box["height"] / 6, abs=1)


def spot_of(atom: Locator) -> list[str]:
    return re.findall(r"[\d.-]+", atom.get_attribute("transform"))


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


def test_atoms_give_way_to_one_that_is_dragged_over_them(shown: Shown):
    widget = shown(decalin())
    end = spot(widget, 5)
    drag(widget, spot(widget, 0), end)
    eventually(widget, lambda: assert_apart(widget))
    assert spot(widget, 0) == pytest.approx(end, abs=1)
    assert math.dist(spot(widget, 5), end) < 50
    for _ in range(12):
        atoms(widget)[5].press("ArrowUp")
    agrees_with_course_lib(widget)
    assert_apart(widget)


def assert_apart(widget: Locator) -> None:
    places, radius = widget.evaluate(CENTRES)
    assert min(math.dist(a, b) for a, b in itertools.combinations(places, 2)) > 2 * radius - 0.1


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


def test_the_figure_says_what_the_chosen_atom_hears_while_it_travels(shown: Shown):
    widget = shown(rounds=0, atom=1, page=CLOCK | {"reduced_motion": True})
    tale = widget.locator(".cw-g-tale")
    assert tale.inner_text().startswith("Each atom knows only what it is.")
    widget.get_by_role("button", name="Step").click()
    said = "C2 hears 1 × carbon, 1 × nitrogen, 1 × fluorine from N1, C3, F6."
    turn(widget, 0.6)
    assert_told(tale, said)
    turn(widget, 1)
    assert_rounds(widget, 1)
    widget.get_by_role("button", name="Step").click()
    # Of carbon: C2 itself by way of N1, C3 and F6, and C3 once; of oxygen: both beyond C3.
    said = "C2 hears 4 × carbon, 2 × oxygen, 1 × nitrogen, 1 × fluorine from N1, C3, F6, once for"
    turn(widget, 0.6)
    assert_told(tale, said)


def assert_told(tale: Locator, said: str) -> None:
    assert said in tale.inner_text().replace("\u00a0", " ")


def test_where_no_further_step_is_possible_the_page_says_so(shown: Shown):
    widget = shown(rounds=5)
    most = widget.get_by_text("6 rounds are the most.")
    assert most.count() == 0
    widget.get_by_role("button", name="Step").click()
    eventually(widget, lambda: assert_rounds(widget, 6))
    assert most.is_visible()
    assert widget.get_by_role("button", name="Step").is_disabled()


def assert_rounds(widget: Locator, rounds: int) -> None:
    assert state_of(widget)["rounds"] == rounds
    assert widget.get_by_role("button", name=re.compile("Play")).is_visible()


def test_the_receptive_field_grows_by_one_bond_a_round(shown: Shown):
    widget = shown(rounds=0, atom=0)
    for rounds, heard in enumerate([1, 2, 4, 6, 6]):
        widget.evaluate("(el, rounds) => el.courseModel.set('rounds', rounds)", rounds)
        caption = widget.locator("caption")
        eventually(widget, lambda h=heard, c=caption: assert_heard(c, h))
        field = widget.locator(".cw-g-field").get_attribute("d")
        assert field.count("h0.01") == heard


def assert_heard(caption: Locator, heard: int) -> None:
    assert f"{heard} of 6 atoms" in caption.inner_text()


def test_decalin_and_bicyclopentyl_have_the_same_colours_and_a_bond_tells_them_apart(shown: Shown):
    widget = shown(drawing=decalin(), other=2, rounds=0)
    verdict = widget.locator(".cw-g-verdict")
    for rounds in (0, 1, 2):  # in round 2 the last new colour comes, which round 3 shows
        go_to(widget, rounds)
        eventually(widget, lambda: assert_open(widget))
        agrees_with_course_lib(widget)
    for rounds in (3, 6):
        go_to(widget, rounds)
        eventually(widget, lambda: assert_alike(widget))
        agrees_with_course_lib(widget)
    widget.get_by_role("button", name="Delete atom").click()
    eventually(widget, lambda: assert_told_apart(verdict))
    agrees_with_course_lib(widget)


def go_to(widget: Locator, rounds: int) -> None:
    widget.evaluate("(el, rounds) => el.courseModel.set('rounds', rounds)", rounds)
    told = f"After {rounds} round"
    verdict = widget.locator(".cw-g-verdict")
    eventually(widget, lambda: assert_begins(verdict, told))


def assert_begins(verdict: Locator, told: str) -> None:
    assert verdict.inner_text().startswith(told)


def assert_open(widget: Locator) -> None:
    """That the page leaves to the reader what later rounds will show."""
    assert widget.locator(".cw-g-verdict").inner_text().endswith("bicyclopentyl, so far.")
    assert widget.locator(".cw-g-both").count() == 0


def assert_alike(widget: Locator) -> None:
    assert "no message passing" in widget.locator(".cw-g-verdict").inner_text()
    assert widget.locator(".cw-g-both").is_visible()


def assert_told_apart(verdict: Locator) -> None:
    assert "told apart" in verdict.inner_text()
