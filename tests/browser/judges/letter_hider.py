"""LetterHider: compare its display with course_lib."""

import re
from typing import Any

import torch
from playwright.sync_api import Locator
from reading import agrees, state_of
from reading_letters import READ_LETTERS
from torch import Tensor

from course_lib.widgets.letter_hider import expected_letters, masked_model_of

from .letters import assert_heads, assert_heights, spelled

READ = (
    f"(el) => {{{READ_LETTERS}"
    """
  const text = (selector) => el.querySelector(selector).textContent;
  const list = el.querySelector("[role=listbox]");
  return {
    tiles: [...list.children].map((tile) => ({
      letter: tile.querySelector("b").textContent,
      hidden: tile.getAttribute("aria-selected") === "true",
      here: tile.classList.contains("cw-h-here"),
      guesses: [...tile.querySelectorAll("span")].filter((line) => line.textContent)
        .map((line) => [line.firstChild.textContent, line.lastChild.textContent]),
      verdict: tile.querySelector("em").textContent,
      waits: tile.getAttribute("aria-label").endsWith("waits for yours"),
    })),
    score: text(".cw-h-score"),
    ...bars,
    readout: el.querySelector(".cw-l-readout")?.textContent,
    covered: list.dataset.covered === "true",
    verdict: text(".cw-h-verdict"),
    cards,
  };
}"""
)


def displayed(widget: Locator) -> None:
    state, page = state_of(widget), widget.evaluate(READ)
    letters, mask, word = state["alphabet"], state["mask"], state["word"]
    ids = torch.tensor([letters.index(letter) for letter in word])
    hidden = state["hidden"]
    assert hidden == sorted(set(hidden))
    assert set(hidden) <= set(range(len(word)))
    place = state["place"] if state["place"] >= 0 else (hidden or [0])[0]

    model = masked_model_of(state["facts"], state["weights"]).double()
    expected = expected_letters(model, ids, hidden=hidden, mask=mask)
    blind = expected_letters(model, ids, hidden=range(len(word)), mask=mask)[place]
    sight = [mask if t in hidden or t == place else int(id_) for t, id_ in enumerate(ids)]
    with torch.no_grad():
        attention = model.attention_weights(torch.tensor(sight))[:, :, place]
    seen = ["?" if id_ == mask else spelled(letters[id_]) for id_ in sight]

    covered = [t for t in hidden if page["tiles"][t]["waits"]]
    assert page["covered"] == bool(covered)
    assert not covered or state["guess_first"]
    assert_tiles(page, state, ids, expected, place)
    if hidden and not covered:
        right = int((expected[hidden].argmax(-1) == ids[hidden]).sum())
        assert page["score"].startswith(f"{right} of {len(hidden)} first guesses ")
        unsure = torch.special.entr(expected[hidden]).sum(-1).mean().exp()
        assert agrees(page["score"].partition("between ")[2], unsure)
    if place in covered:
        # Nothing shows what the model expects.
        assert not any(column["fill"] + column["outline"] for column in page["columns"])
        assert page["readout"] is None
    else:
        assert_bars(page, state, expected[place], blind, int(ids[place]))
        assert_verdict(page, letters, expected[place])
    # Each head has the letters of the model, as blue as its weights.
    assert_heads(page, seen, attention if state["heads"] else attention[:0])


def rank_of(shares: Tensor, id_: int) -> int:
    return shares.argsort(descending=True, stable=True).tolist().index(id_) + 1


def assert_tiles(
    page: dict[str, Any], state: dict[str, Any], ids: Tensor, expected: Tensor, place: int
) -> None:
    """Assert a tile for each letter; at a hidden one the first guesses, and the true one."""
    letters, hidden, tiles = state["alphabet"], state["hidden"], page["tiles"]
    assert [t for t, tile in enumerate(tiles) if tile["hidden"]] == hidden
    assert [t for t, tile in enumerate(tiles) if tile["here"]] == [place]
    assert [tile["letter"] for tile in tiles] == [
        "?" if t in hidden else spelled(letter) for t, letter in enumerate(state["word"])
    ]
    for t, tile in enumerate(tiles):
        if t not in hidden or tile["waits"]:
            assert tile["guesses"] == []
            assert tile["verdict"] == ""
            continue
        shares = expected[t].sort(descending=True, stable=True)
        names = [spelled(letters[id_]) for id_ in shares.indices[: min(3, len(letters) - 1)]]
        assert [name for name, _ in tile["guesses"]] == names
        for (_, told), share in zip(tile["guesses"], shares.values, strict=False):
            assert agrees(told, share)
        rank = rank_of(expected[t], int(ids[t]))
        assert re.fullmatch(rf"{'✓' if rank == 1 else '✗'} {rank}(st|nd|rd|th)", tile["verdict"])


def assert_verdict(page: dict[str, Any], letters: str, here: Tensor) -> None:
    """Assert that the reader's guess is shown with its rank by the model."""
    found = re.match(r"You: (\S+), its (\d+)(?:st|nd|rd|th) guess\.", page["verdict"])
    assert bool(found) == bool(page["verdict"])
    if found:
        names = [spelled(letter) for letter in letters]
        assert int(found[2]) == rank_of(here, names.index(found[1]))


def assert_bars(
    page: dict[str, Any], state: dict[str, Any], here: Tensor, blind: Tensor, true: int
) -> None:
    """Assert filled bars of the model's probabilities, outlined ones without any context."""
    letters, mask, columns = state["alphabet"], state["mask"], page["columns"]
    ids = [id_ for id_ in range(len(letters)) if id_ != mask]
    assert [column["name"] for column in columns] == [spelled(letters[id_]) for id_ in ids]
    assert_heights(page, "outline", blind[ids])
    assert_heights(page, "fill", here[ids])
    assert [i for i, column in enumerate(columns) if column["chosen"]] == [ids.index(true)]
    # The option is the chosen one, or the one under the mouse.
    [i] = [i for i, column in enumerate(columns) if column["ring"]]
    name, _, numbers = page["readout"].partition(": ")
    assert name == spelled(letters[ids[i]]) + (", the true letter" if ids[i] == true else "")
    share, rank, _, unseen = re.fullmatch(
        r"(\S+), guess (\d+) of (\d+); with every letter hidden (\S+)\.", numbers
    ).groups()
    assert agrees(share, here[ids[i]])
    assert int(rank) == rank_of(here, ids[i])
    assert agrees(unseen, blind[ids[i]])
