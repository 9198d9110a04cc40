import numpy as np
import pytest
import torch
from agreement import agrees_with_course_lib, has
from clock import CLOCK, observed, plays, rests, turn
from gestures import Finger, Mouse, Point, press, spot
from judges.latent_explorer import SIDE, codes_of, directions_of, place_of
from judges.scraped import scraper
from playwright.sync_api import Locator, expect
from reading import state_of
from small_widgets import BESIDE, SERIF
from torch import Tensor
from widget_page import Shown, shows

shown = shows("LatentExplorer", start=0, end=1, share=0.0)


def z_of(widget: Locator) -> Tensor:
    return state_of(widget)["z"]


def code(widget: Locator, name: str) -> Tensor:
    state = state_of(widget)
    return codes_of(state)[state["faces"]["names"].index(name)]


def on_map(widget: Locator, z: Tensor) -> Point:
    x, y = place_of(state_of(widget), z)
    return spot(widget.locator(".cw-x-hand"), x / SIDE, y / SIDE)


def free_place(widget: Locator) -> Point:
    """A point of the map far from all dots, in its lower left corner."""
    return spot(widget.locator(".cw-x-map"), 0.04, 0.96)


def is_at(widget: Locator, expected: Tensor) -> None:
    has(widget, z=pytest.approx(expected.tolist(), abs=1e-5))


def test_a_drag_moves_the_point_in_the_plane_alone_and_is_no_jump_to_a_dot(shown: Shown):
    widget = shown(z=[0.0, 0.0, 1.5])
    directions = directions_of(state_of(widget))
    before, dot = z_of(widget), code(widget, "Odd Black")
    end = on_map(widget, dot)
    Mouse(widget.page).drag(on_map(widget, before), end)
    agrees_with_course_lib(widget)
    after = z_of(widget)
    assert on_map(widget, after) == pytest.approx(end, abs=1)
    step = after - before
    torch.testing.assert_close(directions.T @ (directions @ step), step, rtol=0, atol=1e-5)
    assert (after - dot).norm() > 0.1
    widget.page.mouse.click(*free_place(widget))
    agrees_with_course_lib(widget)
    assert on_map(widget, z_of(widget)) == pytest.approx(free_place(widget), abs=1)


def test_a_dot_has_a_name_and_a_click_or_the_list_jumps_to_it(shown: Shown):
    widget = shown()
    name, target = widget.locator(".cw-x-name"), code(widget, "Odd Black")
    widget.page.mouse.move(*on_map(widget, target))
    expect(name).to_have_text("Odd Black")
    widget.page.mouse.click(*on_map(widget, target))
    is_at(widget, target)
    widget.page.mouse.move(0, 0)
    expect(name).to_have_count(0)
    widget.get_by_label("Go to").select_option(label="Mono Bold")
    # Every plane shows the same code.
    for plane in range(len(state_of(widget)["facts"]["planes"])):
        widget.get_by_label("Map", exact=True).select_option(index=plane)
        has(widget, plane=plane)
        is_at(widget, code(widget, "Mono Bold"))


def test_a_finger_taps_a_dot_drags_by_the_ring_and_scrolls_the_page_elsewhere(shown: Shown):
    page = {"width": 390, "height": 500, "touch": True, "below": '<div style="height: 200vh">'}
    widget = shown(page=page)
    finger, target = Finger(widget.page), code(widget, "Odd Black")
    x, y = on_map(widget, target)
    widget.page.touchscreen.tap(x, y)
    is_at(widget, target)
    finger.drag((x, y), (x - 30, y - 20))
    agrees_with_course_lib(widget)
    after = z_of(widget)
    assert not torch.equal(after, target)
    x, y = free_place(widget)
    scrolled = widget.page.evaluate("() => scrollY")
    finger.drag((x + 5, y), (x + 5, y - 150))
    widget.page.wait_for_function("(before) => scrollY > before", arg=scrolled)
    assert torch.equal(z_of(widget), after)


def test_the_norm_goes_out_on_a_ray_beyond_the_prior_and_draws_of_it_differ(shown: Shown):
    widget = shown(z=[0.6, 0.0, 0.8], tool="hand")
    slider = widget.get_by_role("slider", name="‖z‖")
    for key, size in (("End", 10), ("Home", 0.1)):
        slider.press(key)
        is_at(widget, size * torch.tensor([0.6, 0.0, 0.8]).double())
    drawn = []
    for _ in range(2):
        press(widget, "Draw from the prior")
        agrees_with_course_lib(widget)
        drawn.append(z_of(widget))
    assert (drawn[0] - drawn[1]).norm() > 0.1
    press(widget, "Reset")
    press(widget, "Draw from the prior")
    is_at(widget, drawn[0])


def test_on_opening_it_walks_back_and_forth_until_the_reader_moves_the_point(shown: Shown):
    widget = shown(moving=True, share=0.5, start=0, end=6, page=CLOCK)
    ends = code(widget, BESIDE[0]), code(widget, BESIDE[6])
    for seconds, share in ((1.5, 5 / 7), (3, 6 / 7), (7, 1 / 7), (3, 4 / 7)):
        turn(widget, seconds)
        state = state_of(widget)
        assert state["share"] == pytest.approx(share, abs=0.02)
        torch.testing.assert_close(state["z"], torch.lerp(*ends, state["share"]), rtol=0, atol=1e-5)
    agrees_with_course_lib(widget)
    widget.get_by_role("slider", name="Way").press("ArrowLeft")
    turn(widget, 0.1)
    assert not plays(widget)
    press(widget, "Walk")
    turn(widget, 0.1)
    assert plays(widget)
    widget.page.mouse.click(*free_place(widget))
    assert rests(widget)
    agrees_with_course_lib(widget)


def test_a_sum_an_axis_and_new_ends_of_a_walk_move_the_point(shown: Shown):
    widget = shown(share=0.5)
    widget.get_by_label("From", exact=True).select_option(label="Serif Italic")
    widget.get_by_label("to", exact=True).select_option(label="Mono Regular")
    is_at(widget, (code(widget, "Serif Italic") + code(widget, "Mono Regular")) / 2)
    widget.get_by_label("a sum").click()
    widget.get_by_label("Family").select_option(label="Serif")
    summed = code(widget, "Serif Bold") - code(widget, SERIF[0]) + code(widget, SERIF[2])
    is_at(widget, summed)
    # The reader moves the point, and then the tool does.
    widget.page.mouse.click(*free_place(widget))
    expect(widget.locator("[value=hand]")).to_be_checked()
    agrees_with_course_lib(widget)
    assert not torch.equal(z_of(widget), summed)
    widget.get_by_label("a sum").click()
    is_at(widget, summed)
    widget.locator("[value=axes]").click()
    axis = state_of(widget)["facts"]["axes"][1][0]
    widget.get_by_role("slider", name=f"z{axis + 1},").press("End")
    summed[axis] = 4.0
    is_at(widget, summed)


def test_without_a_family_of_three_there_is_no_arithmetic(shown: Shown):
    widget = shown(beside=["Sans Regular", "Odd Black"])
    agrees_with_course_lib(widget)
    assert widget.get_by_role("radio").count() == 3


INK = scraper(
    "const canvas = one('[data-measure=word] canvas'); return [canvas.width, opaque(canvas)];"
)


def test_a_word_is_set_in_the_letters_of_the_point_as_wide_as_there_is_room(shown: Shown):
    widget = shown(word="ab", page={"width": 390})

    def inks() -> np.ndarray:
        observed(widget.page)
        width, ink = widget.evaluate(INK)
        return np.reshape(ink, (-1, width)).max(axis=0)

    short = inks()
    widget.get_by_label("Your word").fill("abababababab")
    agrees_with_course_lib(widget)
    long = inks()
    assert (short > 60).sum() < (long > 60).sum()
    widget.locator(".cw-handle").press("Shift+ArrowUp")
    assert (inks() != long).any()


def test_a_word_is_read_without_what_is_no_letter_or_refused(shown: Shown):
    widget = shown()
    field, said = widget.get_by_label("Your word"), widget.locator(".cw-complaint")
    for typed, read, told in (
        ("1 李", "abz", "You still see abz."),
        ("abcdefghijklmno", "abz", "You still see abz."),
        ("STRAUß", "strauss", "Read as strauss."),
        ("Hello Anna 7", "helloanna", "Read as helloanna. Left out: 7."),
        ("<img src=x>", "imgsrcx", "Read as imgsrcx. Left out: <, =, >."),
        ("", "imgsrcx", "You still see imgsrcx."),
    ):
        field.fill(typed)
        expect(said).to_contain_text(told)
        has(widget, word=read)
