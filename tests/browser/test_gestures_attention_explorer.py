"""What AttentionExplorer does besides its controls: theme, odd tokens, a function of Python."""

import numpy as np
import pytest
from bare import Alone
from clock import turn
from displayed import agrees_with_course_lib
from kinds.attention_explorer import displayed, make
from looks import SPILLED
from playwright.sync_api import expect
from reading import NOTE_VALUES, VALUES, eventually, state_of

from course_lib.widgets import AttentionExplorer

pytestmark = pytest.mark.usefixtures("plain_calls")
DARK = "() => { document.documentElement.dataset.theme = 'dark'; }"
# The colour of the first cell of the map, and that which the theme says it should be.
INKS = """(el) => {
  const probe = document.createElement("canvas").getContext("2d");
  const root = getComputedStyle(el.querySelector(".cw"));
  probe.fillStyle = root.getPropertyValue("--cw-accent");
  probe.fillRect(0, 0, 1, 1);
  const ink = (context) => [...context.getImageData(0, 0, 1, 1).data.slice(0, 3)];
  return [ink(el.querySelector(".cw-heat canvas").getContext("2d")), ink(probe)];
}"""
SET = "(el, [name, value]) => el.courseModel.set(name, value)"


def equal_weights(tokens: int) -> np.ndarray:
    return np.full((1, 1, tokens, tokens), 1 / tokens)


def test_the_map_takes_the_ink_of_another_theme_at_once(alone: Alone):
    widget = alone(make())
    light, _ = widget.evaluate(INKS)
    widget.evaluate(DARK)

    def follows() -> None:
        ink, wanted = widget.evaluate(INKS)
        # A canvas keeps colours multiplied by their opacity, so a faint one is a little off.
        assert np.abs(np.subtract(ink, wanted)).max() <= 3
        assert ink != light

    eventually(widget, follows)


def test_tokens_may_be_called_as_what_every_object_has(alone: Alone):
    tokens = ["__proto__", "constructor", "toString", " "]
    widget = alone(AttentionExplorer(tokens, equal_weights(4)))
    agrees_with_course_lib(widget)
    named = widget.locator(".cw-top-keys tbody th").all_inner_texts()
    assert named == ["__proto__", "constructor", "toString", "␣"]


def test_many_long_tokens_fit_a_narrow_window(alone: Alone):
    tokens = [f"{'Donaudampfschiff' * 4}{i}" for i in range(64)]
    widget = alone(AttentionExplorer(tokens, equal_weights(64)), width=200)
    assert widget.evaluate(SPILLED) == []
    sizes = widget.locator("svg rect").evaluate_all("all => all.map((e) => e.width.baseVal.value)")
    assert min(sizes) > 0
    agrees_with_course_lib(widget)


def test_tokens_that_arrive_before_their_weights_leave_the_picture_as_it_is(
    alone: Alone,
):
    widget = alone(make())
    before = state_of(widget)["tokens"]
    other = AttentionExplorer(["x", "y"], equal_weights(2), layer=0).page_state()
    widget.evaluate(SET, ["layer", 1])
    widget.evaluate(SET, ["tokens", other["tokens"]])
    cells = widget.locator(".cw-heat canvas")
    eventually(widget, lambda: expect(cells).to_have_attribute("width", str(len(before))))
    expect(widget.locator(".cw-top-tables > table caption")).to_contain_text("Ada")
    for name in ("steps", "losses", "guesses", "weights"):
        widget.evaluate(SET, [name, other[name]])
    expect(cells).to_have_attribute("width", "2")
    # There is one layer now: it is drawn until Python says which one was meant.
    expect(widget.locator(".cw-top-tables > table caption")).to_contain_text("Layer 1")


def test_a_question_to_python_is_awaited_until_it_is_answered(alone: Alone):
    widget = alone(make())
    widget.evaluate(SET, ["plugged", True])
    field, said = widget.get_by_label("Your tokens"), widget.locator(".cw-message")
    expect(field).to_have_value("Ada b c b c")
    field.fill("boom")
    field.press("Enter")
    assert state_of(widget)["typed"] == "boom"
    expect(said).to_have_text("Python is computing…")
    widget.evaluate(SET, ["error", "not for mirrors"])
    expect(said).to_have_text("Python is computing…")
    widget.evaluate(SET, ["answers", 1])
    expect(said).to_have_text("not for mirrors")
    expect(field).to_have_value("boom")
    field.fill("")
    widget.get_by_role("button", name="Ask Python").click()
    assert state_of(widget)["typed"] == " "
    eventually(widget, lambda: displayed(widget))


def my_own(tokens: list[str]) -> np.ndarray:
    weights = equal_weights(len(tokens)).repeat(2, axis=0)
    weights[1, 0, -1] = np.eye(len(tokens))[0]
    return weights


def test_a_function_of_the_reader_is_named_with_what_it_changed_most(alone: Alone):
    shown = AttentionExplorer(["a", "b", "c"], equal_weights(3).repeat(2, axis=0), attention=my_own)
    shown.typed = "a b c"
    widget = alone(shown)
    said = widget.locator(".cw-drawn-by")
    expect(said).to_contain_text("Drawn: your function my_own.")
    expect(said).to_contain_text("layer 2, head 1, c (place 3) to a (place 1), 0.333 → 1.000.")
    said.get_by_role("button", name="Look there").click()
    state = state_of(widget)
    assert (state["layer"], state["head"], state["query"]) == (1, 0, 2)
    agrees_with_course_lib(widget)
    weight = widget.locator(".cw-top-keys tbody tr").first.locator(".cw-number").last
    expect(weight).to_have_text("1.000")
    said.get_by_label("Show the weights given").check()
    expect(weight).to_have_text("0.333")
    said.get_by_label("Show the weights given").uncheck()
    agrees_with_course_lib(widget)
    shown.typed = "x y"
    other = alone(shown)
    expect(other.locator(".cw-hint").first).to_contain_text("Ask for the first tokens again")


WIDTHS = """(el) => [...el.querySelectorAll(".cw-film :not(b)")].map((part) => {
  const { x, y, width, height } = part.getBoundingClientRect();
  const { y: top } = part.closest(".cw-film").getBoundingClientRect();
  return part.closest("svg") ? 0 : [x, y - top, width, height].map(Math.round).join();
}).join(" ")"""


@pytest.mark.parametrize("width", [390, 704])
def test_nothing_but_the_picture_moves_while_the_training_plays(alone: Alone, width: int):
    weights = np.eye(3)[None, None, None].repeat(12, axis=0)
    steps = [10**i for i in range(12)]
    losses = [10 / (1 + i) for i in range(12)]
    shown = AttentionExplorer(["a", "b", "c"], weights, steps=steps, losses=losses, moving=False)
    widget = alone(shown, width=width, clock=True)
    boxes = set()
    for name in (*["Step"] * 12, "Watch it learn"):
        widget.get_by_role("button", name=name).click()
        turn(widget, 0.1)
        boxes.add(widget.evaluate(WIDTHS))
    assert widget.get_by_role("button", name="Pause").is_visible()
    assert len(boxes) == 1


FRAMES = 12


def filmed(*, moving: bool = True) -> AttentionExplorer:
    weights = np.eye(3)[None, None, None].repeat(FRAMES, axis=0)
    return AttentionExplorer(
        ["a", "b", "c"], weights, steps=range(FRAMES), step=FRAMES - 1, moving=moving
    )


def test_the_training_plays_once_when_the_page_opens_and_reset_leads_to_its_end(alone: Alone):
    widget = alone(filmed(), clock=True)
    turn(widget, 1)
    assert widget.get_by_role("button", name="Pause").is_visible()
    assert 0 < state_of(widget)["step"] < FRAMES - 1
    turn(widget, 1)
    assert widget.get_by_role("button", name="Watch it learn").is_visible()
    assert state_of(widget)["step"] == FRAMES - 1
    widget.get_by_role("button", name="Step").click()
    assert state_of(widget)["step"] == 0
    widget.get_by_role("button", name="Reset").click()
    assert state_of(widget)["step"] == FRAMES - 1


def test_the_training_stands_at_its_end_for_readers_who_asked_for_less_motion(alone: Alone):
    widget = alone(filmed(), reduced_motion=True)
    assert state_of(widget)["step"] == FRAMES - 1
    for frame in (0, 1):
        widget.get_by_role("button", name="Step").click()
        assert state_of(widget)["step"] == frame
    expect(widget.get_by_role("button", name="Watch it learn")).to_be_visible()


def readable(**changes: object) -> AttentionExplorer:
    causal = np.tril(np.ones((4, 4))) / np.arange(1, 5)[:, None]
    guesses = np.eye(4)[[1, 2, 0, 3]]
    letters = ["a", "b", "c", "d"]
    options = {"guesses": guesses, "vocabulary": letters, "query": 2} | changes
    return AttentionExplorer(letters, causal[None, None], **options)


def test_a_text_is_read_once_token_by_token_and_stands_at_the_end_where_it_stood(alone: Alone):
    widget = alone(readable(), clock=True)
    widget.evaluate(NOTE_VALUES, "query")
    seen = widget.locator(".cw-guess")
    assert (state_of(widget)["query"], seen.count()) == (0, 1)
    turn(widget, 5)
    assert widget.get_by_role("button", name="Read it").is_visible()
    assert widget.evaluate(VALUES) == [1, 2, 3, 2]
    assert seen.count() == 4
    agrees_with_course_lib(widget)


def test_whoever_chooses_a_token_ends_the_reading(alone: Alone):
    widget = alone(readable(), clock=True)
    turn(widget, 1)
    widget.get_by_role("slider", name="Query token").press("Home")
    turn(widget, 2)
    assert widget.get_by_role("button", name="Read it").is_visible()
    assert state_of(widget)["query"] == 0
    agrees_with_course_lib(widget)


def test_a_text_is_read_by_hand_for_readers_who_asked_for_less_motion(alone: Alone):
    widget = alone(readable(), reduced_motion=True)
    for query in (3, 0, 1):
        widget.get_by_role("button", name="Next letter").click()
        assert state_of(widget)["query"] == query


def test_a_head_that_a_hand_has_heated_says_so_and_that_no_guess_follows(alone: Alone):
    widget = alone(readable(moving=False))
    said = widget.locator(".cw > .cw-hint, .cw .cw-hint")
    expect(said).to_have_count(0)
    widget.evaluate(SET, ["temperature", 5])
    expect(said).to_have_text(
        "This head is drawn at τ = 5.00. What the model expects follows from τ = 1."
    )
    agrees_with_course_lib(widget)


def of_two_heads(count: int) -> AttentionExplorer:
    """Two heads that share their looks among the same tokens, with guesses and rivals."""
    looks = np.zeros((1, 2, count, count))
    looks[:, :, :, 0] = 1
    looks[0, :, -1] = 0
    looks[0, 0, -1, -5:] = [0.3, 0.22, 0.2, 0.16, 0.12]
    looks[0, 1, -1, -5:] = [0.12, 0.16, 0.2, 0.22, 0.3]
    return AttentionExplorer(
        list("maxmaymaxmaym"[:count]),
        looks,
        guesses=np.full((count, 4), 0.25),
        vocabulary=["m", "a", "x", "y"],
        query=count - 1,
        question="x or y?",
        rivals=["x", "y"],
        moving=False,
    )


# The pairs of texts above and below the tokens that lie on each other.
OVERLAID = """(row) => {
  const texts = [...row.querySelectorAll(".cw-own, .cw-others, .cw-guesses-named, .cw-guess text")];
  const boxes = texts.map((e) => [e.textContent, e.getBBox()]);
  return boxes.flatMap(([one, a], i) => boxes.slice(i + 1)
    .filter(([, b]) => Math.abs(a.x + a.width / 2 - b.x - b.width / 2) < (a.width + b.width) / 2 - 1
      && Math.abs(a.y - b.y) < 11)
    .map(([other]) => [one, other]));
}"""


@pytest.mark.parametrize("width", [390, 704])
def test_the_numbers_of_the_chosen_head_lie_beside_each_other(alone: Alone, width: int):
    widget = alone(of_two_heads(8), width=width)
    row = widget.locator(".cw-token-row")
    numbers = row.locator(".cw-own")
    assert sorted(numbers.all_text_contents()) == ["0.120", "0.160", "0.200", "0.220", "0.300"]
    assert row.evaluate(OVERLAID) == []


def test_where_the_hand_points_the_other_head_has_its_number_too(alone: Alone):
    widget = alone(of_two_heads(8))
    row, cells = widget.locator(".cw-token-row"), widget.locator(".cw-heat canvas")
    assert row.locator(".cw-others").count() == 0
    box = cells.bounding_box()
    x, y = box["x"] + box["width"] * 6.5 / 8, box["y"] + box["height"] * 7.5 / 8
    widget.page.mouse.move(x, y)
    expect(row.locator(".cw-others")).to_have_text(["0.220"])
    assert row.evaluate(OVERLAID) == []


@pytest.mark.parametrize(("count", "width"), [(13, 390), (8, 390), (13, 704)])
def test_the_row_of_guesses_has_its_name_at_every_width(alone: Alone, count: int, width: int):
    row = alone(of_two_heads(count), width=width).locator(".cw-token-row")
    assert row.locator(".cw-guesses-named").all_text_contents() == ["grey: head 2", "guess"]
    assert row.evaluate(OVERLAID) == []
