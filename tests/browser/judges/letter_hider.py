import re

import torch
from reading import agrees
from torch import Tensor

from course_lib.widgets.letter_hider.letter_hider import expected_letters, masked_model_of

from .letters import READ_LETTERS, assert_bars, assert_heads, spelled
from .scraped import Found, assert_said, scraper

READ = scraper(
    READ_LETTERS
    + """return {
  ...bars,
  cards,
  tiles: all("[role=option]", (tile) => ({
    letter: textOf(tile.querySelector("b")),
    hidden: tile.ariaSelected === "true",
    here: tile.classList.contains("cw-h-here"),
    names: [...tile.querySelectorAll("i")].map(textOf),
    shares: [...tile.querySelectorAll("small")].map(textOf),
    verdict: textOf(tile.querySelector("em")),
    waits: tile.ariaLabel.endsWith("waits for yours"),
  })),
  score: textOf(one(".cw-h-score")),
  covered: one("[role=listbox]").dataset.covered === "true",
  verdict: textOf(one(".cw-h-verdict")),
};"""
)


def displayed(state: Found, page: Found) -> None:
    letters, mask, word, hidden = (state[name] for name in ("alphabet", "mask", "word", "hidden"))
    names, ids = [*map(spelled, letters)], torch.tensor([*map(letters.index, word)])
    place = state["place"] if state["place"] >= 0 else (hidden or [0])[0]
    model = masked_model_of(state["facts"], state["weights"]).double()
    expected = expected_letters(model, ids, hidden=hidden, mask=mask)
    blind = expected_letters(model, ids, hidden=range(len(word)), mask=mask)[place]
    sight = [mask if t in hidden or t == place else int(id_) for t, id_ in enumerate(ids)]
    with torch.no_grad():
        attention = model.attention_weights(torch.tensor(sight))[:, :, place]

    covered = [t for t in hidden if page["tiles"][t]["waits"]]
    assert page["covered"] == bool(covered)
    assert not covered or state["guess_first"]
    assert [t for t, tile in enumerate(page["tiles"]) if tile["hidden"]] == hidden
    assert [t for t, tile in enumerate(page["tiles"]) if tile["here"]] == [place]
    for t, tile in enumerate(page["tiles"]):
        assert tile["letter"] == ("?" if t in hidden else names[ids[t]])
        if t in hidden and not tile["waits"]:
            assert_guesses(tile, names, expected[t], int(ids[t]))
        else:
            assert (tile["names"], tile["verdict"]) == ([], "")
    if hidden and not covered:
        right = int((expected[hidden].argmax(-1) == ids[hidden]).sum())
        assert page["score"].startswith(f"{right} of {len(hidden)} first guesses ")
        unsure = torch.special.entr(expected[hidden]).sum(-1).mean().exp()
        assert agrees(page["score"].partition("among ")[2], unsure)
    if place in covered:
        # Nothing shows what the model expects.
        assert not any(page["fill"] + page["outline"])
        assert page["readout"] is None
    else:
        assert_letters(page, names, mask, (expected[place], blind), int(ids[place]))
        if found := re.match(r"You: (\S+), its (\d+)(?:st|nd|rd|th) guess\.", page["verdict"]):
            assert int(found[2]) == rank_of(expected[place], names.index(found[1]))
        else:
            assert page["verdict"] == ""
    seen = ["?" if id_ == mask else names[id_] for id_ in sight]
    assert_heads(page, seen, attention if state["heads"] else attention[:0])


def rank_of(shares: Tensor, id_: int) -> int:
    return shares.argsort(descending=True, stable=True).tolist().index(id_) + 1


def assert_guesses(tile: Found, names: list[str], shares: Tensor, true: int) -> None:
    best = shares.argsort(descending=True, stable=True)[: min(3, len(names) - 1)]
    assert tile["names"] == [names[id_] for id_ in best]
    assert_said(tile["shares"], shares[best])
    rank = rank_of(shares, true)
    assert re.fullmatch(rf"{'✓' if rank == 1 else '✗'} {rank}(st|nd|rd|th)", tile["verdict"])


def assert_letters(
    page: Found, names: list[str], mask: int, shares: tuple[Tensor, Tensor], true: int
) -> None:
    """Assert filled bars of the model's probabilities, outlined ones without any context."""
    here, blind = shares
    ids = [id_ for id_ in range(len(names)) if id_ != mask]
    assert page["names"] == [names[id_] for id_ in ids]
    assert_bars(page, ids, blind, here, true)
    # The option is the chosen one, or the one under the mouse.
    option = ids[page["looked"]]
    share, rank, unseen = re.fullmatch(
        re.escape(names[option] + ", the true letter" * (option == true))
        + r": (\S+), guess (\d+) of \d+; with every letter hidden (\S+)\.",
        page["readout"],
    ).groups()
    assert int(rank) == rank_of(here, option)
    assert_said([share, unseen], [here[option], blind[option]])
