"""LatentExplorer by hand: the point dragged, typefaces jumped to, a walk, a sum, a word."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from bare import Alone
from clock import observed, rests, turn
from displayed import agrees_with_course_lib
from hands import Finger, Mouse, Point, open_folds
from kinds.latent_explorer import SIDE, codes_of
from playwright.sync_api import Locator, expect
from reading import decoded, eventually, state_of
from small_widgets import BESIDE, SERIF, TYPEFACES, style_vae, typefaces
from torch import Tensor

from course_lib.widgets import LatentExplorer

pytestmark = pytest.mark.usefixtures("plain_calls")

Shown = Callable[..., Locator]


@pytest.fixture
def shown(alone: Alone) -> Shown:
    """Opens a page with one LatentExplorer, still unless told otherwise, and gives that widget."""

    def shown(*, page: dict[str, Any] | None = None, d_z: int = 3, **given: Any) -> Locator:
        options = {"beside": BESIDE, "moving": False, "word": "abz"} | given
        found = alone(LatentExplorer(style_vae(d_z), typefaces(), **options), **page or {})
        open_folds(found)
        return found

    return shown


def z_of(widget: Locator) -> Tensor:
    return state_of(widget)["z"]


def code(widget: Locator, name: str) -> Tensor:
    state = state_of(widget)
    return codes_of(state)[state["faces"]["names"].index(name)]


def place_of(widget: Locator, z: Tensor) -> Point:
    """Where a code stands on the map, in the window."""
    state = state_of(widget)
    directions = decoded(state["facts"]["planes"][state["plane"]]["directions"])
    codes = codes_of(state) @ directions.T
    reach = max(1.12 * state["facts"]["edge"], 1.05 * float(codes.abs().max()))
    x, y = (directions @ z / reach).tolist()
    picture = widget.locator(".cw-x-hand")
    picture.evaluate("el => el.scrollIntoView({ block: 'center', behavior: 'instant' })")
    box = picture.bounding_box()
    side = box["width"] / SIDE
    return box["x"] + SIDE / 2 * (1 + x) * side, box["y"] + SIDE / 2 * (1 - y) * side


def free_place(widget: Locator) -> Point:
    """A place of the map far from all dots, in its lower left corner."""
    box = widget.locator(".cw-x-map").bounding_box()
    return box["x"] + 12, box["y"] + box["height"] - 12


def is_at(widget: Locator, expected: Tensor, tolerance: float = 1e-5) -> None:
    def holds() -> None:
        torch.testing.assert_close(z_of(widget), expected, rtol=0, atol=tolerance)

    eventually(widget, holds)
    agrees_with_course_lib(widget)


def walks(widget: Locator, *, on: bool = True) -> None:
    turn(widget, 0.1)
    assert widget.get_by_role("button", name="Pause").is_visible() == on


# The map -----------------------------------------------------------------------------------------


def test_a_drag_moves_the_point_in_the_plane_and_leaves_what_is_across(shown: Shown):
    widget = shown(z=[0.3, -0.4, 0.8])
    mouse, before = Mouse(widget.page), z_of(widget)
    x, y = place_of(widget, before)
    mouse.drag((x, y), (x + 40, y - 30))
    agrees_with_course_lib(widget)
    state = state_of(widget)
    directions = decoded(state["facts"]["planes"][0]["directions"])
    step = state["z"] - before
    across, up = directions @ step
    assert across > 0.2
    assert up > 0.2
    torch.testing.assert_close(directions.T @ (directions @ step), step, rtol=0, atol=1e-5)
    assert place_of(widget, state["z"]) == pytest.approx((x + 40, y - 30), abs=1)


@pytest.mark.parametrize("name", ["Odd Black", "Serif Bold"])
def test_a_click_on_a_dot_jumps_to_that_typeface(shown: Shown, name: str):
    widget = shown()
    target = code(widget, name)
    widget.page.mouse.move(*place_of(widget, target))
    expect(widget.locator(".cw-x-name")).to_have_text(name)
    widget.page.mouse.click(*place_of(widget, target))
    is_at(widget, target)
    expect(widget.locator(".cw-x-said p").first).to_contain_text(name)
    widget.page.mouse.move(0, 0)
    expect(widget.locator(".cw-x-name")).to_have_count(0)


def test_a_click_where_no_dot_is_takes_the_point_there(shown: Shown):
    widget = shown()
    widget.page.mouse.click(*free_place(widget))
    agrees_with_course_lib(widget)
    assert place_of(widget, z_of(widget)) == pytest.approx(free_place(widget), abs=1)


def test_a_drag_that_ends_on_a_dot_is_no_jump(shown: Shown):
    widget = shown(z=[0.0, 0.0, 1.5])
    end = place_of(widget, code(widget, "Odd Black"))
    Mouse(widget.page).drag(place_of(widget, z_of(widget)), end)
    agrees_with_course_lib(widget)
    assert place_of(widget, z_of(widget)) == pytest.approx(end, abs=1)
    assert (z_of(widget) - code(widget, "Odd Black")).norm() > 0.1


def test_a_finger_drags_by_the_ring_and_scrolls_the_page_elsewhere(shown: Shown):
    widget = shown(
        page={"width": 390, "height": 500, "touch": True, "below": '<div style="height: 200vh">'}
    )
    finger, before = Finger(widget.page), z_of(widget)
    x, y = place_of(widget, before)
    finger.drag((x, y), (x + 30, y + 20))
    agrees_with_course_lib(widget)
    after = z_of(widget)
    assert not torch.equal(after, before)
    x, y = free_place(widget)
    scrolled = widget.page.evaluate("() => scrollY")
    finger.drag((x + 5, y), (x + 5, y - 150))
    widget.page.wait_for_function("(before) => scrollY > before", arg=scrolled)
    assert torch.equal(z_of(widget), after)


def test_a_tap_on_a_dot_jumps_to_it(shown: Shown):
    widget = shown(page={"width": 390, "touch": True})
    target = code(widget, "Odd Black")
    widget.page.touchscreen.tap(*place_of(widget, target))
    is_at(widget, target)


def test_arrow_keys_move_the_point_and_shift_takes_larger_steps(shown: Shown):
    widget = shown(z=[0.0, 0.0, 0.0])
    widget.locator(".cw-handle").focus()
    directions = decoded(state_of(widget)["facts"]["planes"][0]["directions"])
    for key, across, up in [
        ("ArrowRight", 0.2, 0.0),
        ("ArrowUp", 0.2, 0.2),
        ("Shift+ArrowLeft", -0.8, 0.2),
        ("ArrowDown", -0.8, 0.0),
    ]:
        widget.page.keyboard.press(key)
        is_at(widget, torch.tensor([across, up]).double() @ directions)


def test_the_point_stays_on_the_map_however_far_it_is_pushed(shown: Shown):
    widget = shown()
    widget.locator(".cw-handle").focus()
    for _ in range(30):
        widget.page.keyboard.press("Shift+ArrowRight")
    agrees_with_course_lib(widget)
    map_, ring = (widget.locator(s).bounding_box() for s in (".cw-x-map", ".cw-handle"))
    middle = ring["x"] + ring["width"] / 2
    assert middle == pytest.approx(map_["x"] + map_["width"], abs=1)


def test_every_plane_shows_the_same_code(shown: Shown):
    widget, drawn = shown(z=[0.5, 1.0, -1.5]), None
    for plane in range(len(state_of(widget)["facts"]["planes"])):
        widget.get_by_label("Map", exact=True).select_option(index=plane)
        agrees_with_course_lib(widget)
        assert state_of(widget)["plane"] == plane
        assert torch.equal(z_of(widget), drawn if drawn is not None else z_of(widget))
        drawn = z_of(widget)


@pytest.mark.parametrize("name", TYPEFACES)
def test_the_list_goes_to_every_typeface_by_keyboard_too(shown: Shown, name: str):
    widget = shown(z=[9.0, 9.0, 9.0])
    widget.get_by_label("Go to").select_option(label=name)
    is_at(widget, code(widget, name))
    assert widget.get_by_label("Go to").evaluate("el => el.selectedOptions[0].text") == name


# The prior ---------------------------------------------------------------------------------------


def test_the_slider_of_the_norm_goes_out_on_a_ray_beyond_the_edge_of_the_prior(shown: Shown):
    widget = shown(z=[0.6, 0.0, 0.8])
    slider = widget.get_by_role("slider", name="‖z‖")
    slider.press("End")
    is_at(widget, torch.tensor([6.0, 0.0, 8.0]).double())
    expect(widget.locator(".cw-readout")).to_contain_text("more than 99.99 %")
    slider.press("Home")
    is_at(widget, torch.tensor([0.06, 0.0, 0.08]).double())
    expect(widget.locator(".cw-readout")).to_contain_text("0.03 %")


def test_the_ring_is_orange_beyond_the_prior_and_the_circle_stays(shown: Shown):
    widget = shown(z=[9.0, 9.0, 9.0])
    point, radius = widget.locator(".cw-x-point"), widget.locator(".cw-x-edge").get_attribute("r")
    expect(point).to_have_attribute("stroke", "var(--cw-warm)")
    agrees_with_course_lib(widget)
    widget.get_by_role("slider", name="‖z‖").press("Home")
    expect(point).to_have_attribute("stroke", "var(--cw-ink)")
    expect(widget.locator(".cw-x-edge")).to_have_attribute("r", radius)
    agrees_with_course_lib(widget)


def test_each_draw_from_the_prior_is_another_and_reset_begins_them_anew(shown: Shown):
    widget = shown(d_z=16, tool="hand")
    draw = widget.get_by_role("button", name="Draw from the prior")
    drawn = []
    for _ in range(3):
        draw.click()
        agrees_with_course_lib(widget)
        drawn.append(z_of(widget))
    assert min(float((a - b).norm()) for a in drawn for b in drawn if a is not b) > 1
    assert min(float(z.norm()) for z in drawn) > 1.5
    widget.get_by_role("button", name="Reset").click()
    draw.click()
    is_at(widget, drawn[0])


@pytest.mark.parametrize("tool", ["walk", "hand", "axes", "arithmetic"])
def test_on_a_telephone_a_tool_and_what_it_draws_are_seen_at_once(shown: Shown, tool: str):
    widget = shown(page={"width": 390}, tool=tool, word="hamburgefonts")
    drawn, tools = (
        widget.locator(place).first.bounding_box() for place in (".cw-x-word", ".cw-x-panel")
    )
    assert 0 < tools["y"] + tools["height"] - drawn["y"] < 640


def test_paper_bears_nothing_to_press_or_to_type_in(shown: Shown):
    widget = shown(tool="arithmetic")
    hands = widget.locator("input, select, button")
    assert hands.first.is_visible()
    widget.page.emulate_media(media="print")
    assert [hand.evaluate("el => el.outerHTML") for hand in hands.all() if hand.is_visible()] == []
    expect(widget.locator("legend")).to_be_hidden()
    expect(widget.locator(".cw-x-word").first).to_be_visible()


# The walk ----------------------------------------------------------------------------------------


def test_on_opening_it_walks_there_and_back_until_the_reader_takes_the_point(shown: Shown):
    widget = shown(moving=True, share=0.5, page={"clock": True})
    for seconds, share in ((1.5, 5 / 7), (3, 6 / 7), (7, 1 / 7), (3, 4 / 7)):
        turn(widget, seconds)
        assert state_of(widget)["share"] == pytest.approx(share, abs=0.02)
    agrees_with_course_lib(widget)
    walks(widget)
    widget.page.mouse.click(*free_place(widget))
    walks(widget, on=False)
    assert rests(widget)
    agrees_with_course_lib(widget)


def test_the_walk_keeps_to_the_straight_way_between_its_ends(shown: Shown):
    widget = shown(moving=True, start=0, end=6, page={"clock": True})
    start, end = code(widget, BESIDE[0]), code(widget, BESIDE[6])
    for _ in range(4):
        turn(widget, 1)
        state = state_of(widget)
        on_way = torch.lerp(start, end, state["share"])
        torch.testing.assert_close(state["z"], on_way, rtol=0, atol=1e-5)
    widget.get_by_role("button", name="Pause").click()
    walks(widget, on=False)
    agrees_with_course_lib(widget)
    assert 0 < state_of(widget)["share"] < 1


def test_both_ends_stand_beside_a_walk_until_a_hand_takes_the_point(shown: Shown):
    widget = shown(start=0, end=6, share=0.5)
    expect(widget.locator(".cw-x-ends canvas")).to_have_count(2)
    widget.locator(".cw-handle").press("ArrowUp")
    expect(widget.locator(".cw-x-beside")).to_contain_text("Nearest large dot")
    expect(widget.locator(".cw-x-ends canvas")).to_have_count(0)
    agrees_with_course_lib(widget)


def test_readers_who_asked_for_less_motion_find_it_still_and_walk_themselves(shown: Shown):
    widget = shown(moving=True, page={"reduced_motion": True, "clock": True})
    assert rests(widget)
    assert state_of(widget)["share"] == 0
    widget.get_by_role("slider", name="Way").press("End")
    is_at(widget, code(widget, BESIDE[1]))
    widget.get_by_role("button", name="Walk").click()
    walks(widget)


@pytest.mark.parametrize(
    "touch",
    {
        "a key on the point": lambda el: el.locator(".cw-handle").press("ArrowUp"),
        "the norm": lambda el: el.get_by_role("slider", name="‖z‖").press("ArrowRight"),
        "another tool": lambda el: el.get_by_label("a sum").click(),
        "the way": lambda el: el.get_by_role("slider", name="Way").press("Home"),
        "an end": lambda el: el.get_by_label("From", exact=True).select_option(index=3),
    }.items(),
    ids=lambda item: item[0],
)
def test_whatever_takes_the_point_ends_the_walk(shown: Shown, touch: tuple[str, Any]):
    widget = shown(moving=True, start=1, end=2, page={"clock": True})
    walks(widget)
    touch[1](widget)
    walks(widget, on=False)
    assert rests(widget)
    agrees_with_course_lib(widget)


def test_other_ends_begin_another_walk_at_the_same_share(shown: Shown):
    widget = shown(share=0.5)
    widget.get_by_label("From", exact=True).select_option(label="Serif Italic")
    widget.get_by_label("to", exact=True).select_option(label="Mono Regular")
    is_at(widget, (code(widget, "Serif Italic") + code(widget, "Mono Regular")) / 2)


# Arithmetic and axes -----------------------------------------------------------------------------


def test_arithmetic_draws_the_sum_beside_the_real_bold_italic(shown: Shown):
    widget = shown()
    widget.get_by_label("a sum").click()
    regular, bold, italic = (
        code(widget, f"Sans {style}") for style in ("Regular", "Bold", "Italic")
    )
    is_at(widget, bold - regular + italic)
    agrees_with_course_lib(widget)
    widget.get_by_label("Family").select_option(label="Serif")
    is_at(widget, code(widget, "Serif Bold") - code(widget, SERIF[0]) + code(widget, SERIF[2]))


@pytest.mark.parametrize("tool", ["walk", "arithmetic"])
def test_a_hand_takes_the_point_from_a_tool_and_the_tool_takes_it_back(shown: Shown, tool: str):
    widget = shown(share=0.5)
    chosen, hand = (widget.locator(f"[value={name}]") for name in (tool, "hand"))
    hand.click()
    chosen.click()
    agrees_with_course_lib(widget)
    before = z_of(widget)
    widget.page.mouse.click(*free_place(widget))
    expect(hand).to_be_checked()
    agrees_with_course_lib(widget)
    assert not torch.equal(z_of(widget), before)
    chosen.click()
    is_at(widget, before)


def test_without_a_family_of_three_there_is_no_arithmetic(shown: Shown):
    widget = shown(beside=["Sans Regular", "Odd Black"])
    agrees_with_course_lib(widget)
    assert widget.get_by_role("radio").count() == 3


def test_an_axis_changes_its_own_number_alone(shown: Shown):
    widget = shown(z=[0.1, 0.2, 0.3], tool="axes")
    axis = state_of(widget)["facts"]["axes"][1][0]
    widget.get_by_role("slider", name=f"z{axis + 1},").press("End")
    expected = torch.tensor([0.1, 0.2, 0.3]).double()
    expected[axis] = 4.0
    is_at(widget, expected)


# A word ------------------------------------------------------------------------------------------

INKED_COLUMNS = """(el) => {
  const canvas = el.querySelector("[data-measure=word] canvas");
  const { data, width, height } = canvas.getContext("2d")
    .getImageData(0, 0, canvas.width, canvas.height);
  return Array.from({ length: width }, (_, x) => Math.max(
    ...Array.from({ length: height }, (_, y) => data[4 * (y * width + x) + 3])));
}"""


def inked(widget: Locator) -> np.ndarray:
    observed(widget.page)
    return np.flatnonzero(np.array(widget.evaluate(INKED_COLUMNS)) > 60)


@pytest.mark.parametrize("width", [390, 1920])
def test_a_word_is_set_in_the_letters_of_the_point_as_wide_as_there_is_room(
    shown: Shown, width: int
):
    widget = shown(word="ab", page={"width": width})
    short = inked(widget)
    field = widget.get_by_label("Your word")
    field.fill("abababababab")
    agrees_with_course_lib(widget)
    long = inked(widget)
    assert len(short) < len(long)
    canvas = widget.locator("[data-measure=word] canvas").first
    frame = widget.locator(".cw").bounding_box()
    box = canvas.bounding_box()
    assert frame["x"] < box["x"]
    assert box["x"] + box["width"] < frame["x"] + frame["width"]
    assert long.max() < canvas.evaluate("el => el.width")
    before = widget.evaluate(INKED_COLUMNS)
    widget.locator(".cw-handle").press("Shift+ArrowUp")
    observed(widget.page)
    assert widget.evaluate(INKED_COLUMNS) != before


def test_capitals_and_accents_are_read_as_letters_that_it_draws(shown: Shown):
    widget = shown()
    field = widget.get_by_label("Your word")
    for typed, read in (("Åbo", "abo"), ("STRAUß", "strauss")):
        field.fill(typed)
        assert state_of(widget)["word"] == read
        assert field.input_value() == typed
        expect(widget.locator(".cw-complaint")).to_have_text(f"Read as {read}.")
        agrees_with_course_lib(widget)


def test_what_is_no_letter_is_left_out_and_said_and_moves_nothing(shown: Shown):
    widget = shown()
    field = widget.get_by_label("Your word")
    height = widget.bounding_box()["height"]
    for typed, read, lost in (
        ("Hello Anna 7", "helloanna", "7"),
        ("Ärger 42", "arger", "4, 2"),
        ("A1 李", "a", "1, 李"),
        ("<img src=x>", "imgsrcx", "<, =, >"),
    ):
        field.fill(typed)
        said = f"Read as {read}. Left out: {lost}."
        expect(widget.locator(".cw-complaint")).to_have_text(said)
        assert state_of(widget)["word"] == read
        assert widget.bounding_box()["height"] == height
        agrees_with_course_lib(widget)


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("", "Type one letter at least, of a to z."),
        ("1 李", "Type one letter at least, of a to z."),
        ("abcdefghijklmno", "There is room for 14 letters."),
    ],
)
def test_what_cannot_be_set_is_refused_in_words_and_the_old_word_stays(
    shown: Shown, typed: str, words: str
):
    widget = shown()
    field = widget.get_by_label("Your word")
    field.fill(typed)
    expect(widget.locator(".cw-complaint")).to_contain_text(words)
    expect(widget.locator(".cw-complaint")).to_contain_text("You still see abz.")
    assert state_of(widget)["word"] == "abz"
    field.fill("zz")
    expect(widget.locator(".cw-complaint")).to_have_text("")
    assert state_of(widget)["word"] == "zz"
    agrees_with_course_lib(widget)


def test_a_point_at_rest_asks_for_no_frame(shown: Shown):
    widget = shown(page={"clock": True})
    widget.page.mouse.click(*free_place(widget))
    agrees_with_course_lib(widget)
    assert rests(widget)
