from string import ascii_lowercase

import numpy as np
import torch
from agreement import agrees_with_course_lib, has
from clock import plays, turn
from gestures import press, spot
from playwright.sync_api import expect
from reading import NOTE_VALUES, VALUES, send, state_of
from small_widgets import distributions, make, seeded
from widget_page import Alone

from course_lib.models.words.induction import StringReader
from course_lib.widgets import AttentionExplorer
from course_lib.widgets.kit.packed_weights import with_weights


def equal_weights(tokens: int) -> np.ndarray:
    return np.full((1, 1, tokens, tokens), 1 / tokens)


def test_pointing_at_a_row_of_the_map_previews_its_query_and_a_click_keeps_it(alone: Alone):
    widget = alone(make("AttentionExplorer"))
    mouse, slider = widget.page.mouse, widget.get_by_role("slider", name="Query token")
    row = spot(widget.locator(".cw-heat canvas"), down=3.5 / 5)
    for act, kept in ((mouse.move, 0), (mouse.click, 3)):
        act(*row)
        expect(slider).to_have_attribute("aria-valuenow", "4")
        has(widget, query=kept)
        mouse.move(0, 0)
        expect(slider).to_have_attribute("aria-valuenow", str(kept + 1))


def test_tokens_that_arrive_before_their_weights_leave_the_picture_as_it_is(alone: Alone):
    widget = alone(make("AttentionExplorer"))
    before = state_of(widget)["tokens"]
    other = AttentionExplorer(["x", " "], equal_weights(2), layer=0).page_state()
    send(widget, layer=1)
    send(widget, tokens=other["tokens"])
    cells = widget.locator(".cw-heat canvas")
    expect(cells).to_have_attribute("width", str(len(before)))
    send(widget, **{name: other[name] for name in ("steps", "losses", "guesses", "weights")})
    expect(cells).to_have_attribute("width", "2")
    # There is one layer now, which is drawn until Python selects one.
    expect(widget.locator(".cw-top-tables > table caption")).to_contain_text("Layer 1")
    expect(widget.locator(".cw-top-keys tbody th").last).to_have_text("␣")


def test_a_request_to_python_is_pending_until_it_is_answered(alone: Alone):
    widget = alone(make("AttentionExplorer"))
    send(widget, plugged=True)
    field, said = widget.get_by_label("Your tokens"), widget.locator(".cw-message")
    expect(field).to_have_value("Ada b c b c")
    field.fill("boom")
    field.press("Enter")
    has(widget, typed="boom")
    send(widget, error="not for mirrors")
    expect(said).to_have_text("Python is computing…")
    send(widget, answers=1)
    expect(said).to_have_text("not for mirrors")
    expect(field).to_have_value("boom")
    field.fill("")
    press(widget, "Ask Python")
    has(widget, typed=" ")


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
    has(widget, layer=1, head=0, query=2)
    weight = widget.locator(".cw-top-keys tbody tr").first.locator(".cw-number").last
    expect(weight).to_have_text("1.000")
    said.get_by_label("Show the weights given").check()
    expect(weight).to_have_text("0.333")
    said.get_by_label("Show the weights given").uncheck()
    agrees_with_course_lib(widget)


def test_a_text_is_read_once_token_by_token_until_a_hand_chooses_one(alone: Alone):
    letters, causal = list("abcd"), np.tril(np.ones((4, 4))) / np.arange(1, 5)[:, None]
    told = {"guesses": np.eye(4)[[1, 2, 0, 3]], "vocabulary": letters, "query": 2}
    widget = alone(AttentionExplorer(letters, causal[None, None], **told), clock=True)
    widget.evaluate(NOTE_VALUES, "query")
    seen = widget.locator(".cw-guess")
    assert (state_of(widget)["query"], seen.count()) == (0, 1)
    turn(widget, 5)
    assert not plays(widget)
    assert widget.evaluate(VALUES) == [1, 2, 3, 2]
    assert seen.count() == 4
    agrees_with_course_lib(widget)
    press(widget, "Read it")
    turn(widget, 1)
    widget.get_by_role("slider", name="Query token").press("Home")
    turn(widget, 2)
    assert not plays(widget)
    has(widget, query=0)
    # Predictions do not follow from a head with a changed temperature.
    said = widget.locator(".cw .cw-hint")
    assert said.count() == 0
    send(widget, temperature=5)
    turn(widget, 0.1)
    assert said.count() == 1


def test_letters_typed_in_the_page_are_read_there_and_heat_reaches_the_guess(alone: Alone):
    reader, letters = seeded(StringReader), list(ascii_lowercase)
    given = {"guesses": distributions(2, 26), "vocabulary": letters, "reader": reader}
    shown = AttentionExplorer(list("ab"), equal_weights(2), moving=False, **given)
    read = with_weights(StringReader, shown.reader["weights"])
    widget = alone(shown)
    widget.get_by_label("Type letters").fill("Queue!")
    ids = torch.tensor([letters.index(letter) for letter in "queue"])
    for heat in (1, 10):
        with torch.no_grad():
            read.layers[0].query.weight /= heat
            [share], [best] = read(ids)[-1].softmax(-1).topk(1)
        send(widget, temperature=heat)
        line = widget.locator(".cw-next tbody tr").first
        expect(line).to_contain_text(f"{letters[best]}{100 * share:.0f}")
    expect(widget.get_by_label("Type letters")).to_have_value("queue")


def test_queries_look_at_a_context_in_cross_attention(alone: Alone):
    shown = AttentionExplorer(
        ["x", "y"],
        distributions(2, 2, 2, 4),
        context=list("abcd"),
        guesses=distributions(2, 3),
        vocabulary=["x", "y", "z"],
        moving=False,
    )
    widget = alone(shown)
    agrees_with_course_lib(widget)
    *keys, x, y = widget.locator(".cw-token-row g[opacity]:not(.cw-guess) > rect").all()
    for pressed, query in ((y, 1), (keys[2], 1), (x, 0)):
        widget.page.mouse.click(*spot(pressed))
        has(widget, query=query)
        agrees_with_course_lib(widget)
    widget.page.mouse.move(*spot(keys[2]))
    said = widget.locator(".cw-message")
    expect(said).to_contain_text("x (place 1) looks at c (place 3) with weight")
    expect(widget.get_by_label("Causal mask")).to_have_count(0)
    heat = widget.locator(".cw-heat canvas")
    assert heat.evaluate("(el) => [el.width, el.height]") == [4, 2]
