"""LetterHider: a small one, what it displays, and what course_lib says it should."""

import re
from typing import Any

import pytest
import torch
from playwright.sync_api import Locator
from reading import agrees, state_of
from reading_letters import READ_LETTERS
from torch import Tensor

from course_lib.masked_language_model import MaskedLanguageModel
from course_lib.widgets import LetterHider
from course_lib.widgets.folding import folded
from course_lib.widgets.letter_hider import expected_letters, masked_model_of

READ = (
    f"(el) => {{{READ_LETTERS}"
    """
  const text = (selector) => el.querySelector(selector).textContent;
  const variable = (e, name) => e.style.getPropertyValue(name);
  const list = el.querySelector("[role=listbox]");
  return {
    tiles: [...list.children].map((tile) => ({
      id: tile.id,
      letter: tile.querySelector("b").textContent,
      hidden: tile.getAttribute("aria-selected") === "true",
      looksHidden: tile.classList.contains("cw-h-hidden"),
      here: tile.classList.contains("cw-h-here"),
      guesses: [...tile.querySelectorAll("span")].map((line) => ({
        name: line.firstChild.textContent,
        share: line.lastChild.textContent,
        bar: variable(line, "--share"),
        true: line.classList.contains("cw-h-true"),
      })),
      verdict: tile.querySelector("em").textContent,
      right: tile.querySelector("em").classList.contains("cw-h-right"),
      spoken: tile.getAttribute("aria-label"),
    })),
    active: list.getAttribute("aria-activedescendant"),
    score: text(".cw-h-score"),
    heading: text(".cw-l-heading"),
    ...bars,
    readout: el.querySelector(".cw-l-readout")?.textContent,
    covered: list.dataset.covered === "true",
    keys: chart.querySelector(".cw-l-keys") !== null,
    verdict: text(".cw-h-verdict"),
    you: [...chart.querySelectorAll(".cw-h-you text")].map((e) => numberOf(e, "x")),
    cards,
    typed: el.querySelector("input[type=text]").value,
    message: text(".cw-complaint"),
  };
}"""
)


def make() -> LetterHider:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(10)
        model = MaskedLanguageModel(8, 8, 2, 2, tokens=9)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(2)
    words = ["cab", "deface", "bead"]
    hidden = {"word": "badface", "hidden": [2, 5]}
    return LetterHider(model, "·abcde<f", mask="·", words=words, moving=False, **hidden)


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

    covered = [t for t in hidden if page["tiles"][t]["spoken"].endswith("waits for yours")]
    assert page["covered"] == bool(covered)
    locked = place in covered
    assert page["keys"] == locked
    assert not page["covered"] or (state["guess_first"] and hidden)
    assert_tiles(page, state, ids, expected, place)
    assert_score(page, ids, expected, hidden)
    at = f"{''.join(seen)}. As letter {place + 1} it"
    if locked:
        sight = "".join(seen)
        ending = f"What does it expect as letter {place + 1}?"
        assert page["heading"] == f"The model sees {sight}. {ending}"
    elif place in hidden:
        assert page["heading"] == f"The model sees {at} expects:"
    else:
        true = spelled(word[place])
        assert page["heading"] == f"Were {true} hidden, it would see {at} would expect:"
    if locked:
        assert_keys(page, letters, mask)
    else:
        assert_bars(page, state, expected[place], blind, int(ids[place]))
        assert_verdict(page, letters, expected[place])
    if state["heads"]:
        assert_heads(page, seen, attention)
    else:
        assert page["cards"] == []
    if page["typed"] == word:
        assert page["message"] == ""
    elif folded(page["typed"], letters) == word:
        assert page["message"] == f"Read as {''.join(map(spelled, word))}."


def spelled(letter: str) -> str:
    return {" ": "␣", "\n": "⏎"}.get(letter, letter)


def unsure(distributions: Tensor) -> float:
    """The exponential of the mean entropy."""
    return torch.special.entr(distributions).sum(-1).mean().exp().item()


def rank_of(shares: Tensor, id_: int) -> int:
    return shares.argsort(descending=True, stable=True).tolist().index(id_) + 1


def assert_tiles(
    page: dict[str, Any], state: dict[str, Any], ids: Tensor, expected: Tensor, place: int
) -> None:
    """A tile for each letter; at a hidden one the first guesses, and which guess is true."""
    letters, hidden, tiles = state["alphabet"], state["hidden"], page["tiles"]
    assert len(tiles) == len(ids)
    assert [t for t, tile in enumerate(tiles) if tile["hidden"]] == hidden
    assert [t for t, tile in enumerate(tiles) if tile["looksHidden"]] == hidden
    assert [t for t, tile in enumerate(tiles) if tile["here"]] == [place]
    assert page["active"] == tiles[place]["id"]
    for t, tile in enumerate(tiles):
        true = spelled(state["word"][t])
        assert tile["spoken"].startswith(f"letter {t + 1}, {true}, ")
        assert tile["letter"] == ("?" if t in hidden else true)
        waits = tile["spoken"].endswith("waits for yours")
        if t not in hidden or waits:
            assert "".join(line["name"] + line["share"] for line in tile["guesses"]) == ""
            assert tile["verdict"] == ""
            assert waits == (t in hidden)
            assert waits or tile["spoken"].endswith(", shown")
            continue
        shares = expected[t].sort(descending=True, stable=True)
        lines = [line for line in tile["guesses"] if line["name"]]
        assert len(lines) == min(3, len(letters) - 1)
        best = zip(shares.values.tolist(), shares.indices.tolist(), strict=True)
        for line, (share, id_) in zip(lines, best, strict=False):
            assert line["name"] == spelled(letters[id_])
            assert agrees(line["share"], share)
            assert float(line["bar"]) == pytest.approx(share, abs=1e-4)
            assert line["true"] == (id_ == int(ids[t]))
            assert f"{line['name']} {line['share']}" in tile["spoken"]
        rank = rank_of(expected[t], int(ids[t]))
        assert tile["right"] == (rank == 1)
        assert re.fullmatch(rf"{'✓' if rank == 1 else '✗'} {rank}(st|nd|rd|th)", tile["verdict"])
        assert tile["spoken"].endswith(f"{tile['verdict'][2:]} guess")


def assert_score(page: dict[str, Any], ids: Tensor, expected: Tensor, hidden: list[int]) -> None:
    score = page["score"]
    if not hidden:
        assert score == "No letter is hidden. Click one."
        return
    if page["covered"]:
        assert re.fullmatch(r"Its guess( for letter \d+)? waits for yours\.", score)
        return
    right = int((expected[hidden].argmax(-1) == ids[hidden]).sum())
    assert score.startswith(f"{right} of {len(hidden)} first guesses ")
    assert agrees(score.partition("between ")[2], unsure(expected[hidden]))


def assert_keys(page: dict[str, Any], letters: str, mask: int) -> None:
    """Letters to press, and nothing that gives away what the model expects."""
    columns = page["columns"]
    names = [spelled(letter) for id_, letter in enumerate(letters) if id_ != mask]
    assert [column["name"] for column in columns] == names
    assert {column["fill"] for column in columns} == {0}
    assert {column["outline"] for column in columns} == {0}
    assert not any(column["chosen"] or column["cut"] for column in columns)
    assert page["readout"] is None
    assert page["you"] == []


def assert_verdict(page: dict[str, Any], letters: str, here: Tensor) -> None:
    """What the reader foretold stands above its bar, with its rank among what the model expects."""
    found = re.match(r"You: (\S+), its (\d+)(?:st|nd|rd|th) guess\.", page["verdict"])
    assert len(page["you"]) == (found is not None)
    if found is None:
        assert page["verdict"] == ""
        return
    names = [spelled(letter) for letter in letters]
    guess = names.index(found[1])
    assert int(found[2]) == rank_of(here, guess)
    [at] = [column["at"][0] for column in page["columns"] if column["name"] == found[1]]
    assert page["you"] == pytest.approx([at], abs=0.1)
    first = f"Its first is {names[int(here.argmax())]}."
    assert (first in page["verdict"]) == (found[2] != "1")


def assert_bars(
    page: dict[str, Any], state: dict[str, Any], here: Tensor, blind: Tensor, true: int
) -> None:
    """Filled what the model expects, outlined what it expects when it sees nothing."""
    letters, mask, columns = state["alphabet"], state["mask"], page["columns"]
    ids = [id_ for id_ in range(len(letters)) if id_ != mask]
    assert [column["name"] for column in columns] == [spelled(letters[id_]) for id_ in ids]
    height = torch.tensor([column["scale"] for column in columns], dtype=torch.float64)
    assert page["top"] >= max(here.max(), blind.max()) - 1e-6
    for name, expected in (("outline", blind), ("fill", here)):
        found = torch.tensor([column[name] for column in columns], dtype=torch.float64)
        shares = (found / height * page["top"]).tolist()
        assert shares == pytest.approx(expected[ids].tolist(), abs=1e-4)
    in_order = sorted(range(len(ids)), key=lambda i: columns[i]["at"][::-1])
    assert in_order == list(range(len(ids)))
    assert page["captions"] == []
    assert [i for i, column in enumerate(columns) if column["chosen"]] == [ids.index(true)]
    # The option is the one that was chosen, or the one at which the mouse points.
    [i] = [i for i, column in enumerate(columns) if column["ring"]]
    option = ids[i]
    assert page["rank"] == i + 1
    name, _, numbers = page["readout"].partition(": ")
    assert name == spelled(letters[option]) + (", the true letter" if option == true else "")
    found = re.fullmatch(
        r"(\S+), guess (\d+) of (\d+); with every letter hidden (\S+)\.", numbers
    ).groups()
    assert agrees(found[0], here[option])
    assert [int(found[1]), int(found[2])] == [rank_of(here, option), len(ids)]
    assert agrees(found[3], blind[option])


def assert_heads(page: dict[str, Any], seen: list[str], attention: Tensor) -> None:
    """What the model sees once for each head, as blue as the head looks at it."""
    assert len(page["cards"]) == attention.shape[0] * attention.shape[1]
    for card, row in zip(page["cards"], attention.flatten(0, 1), strict=True):
        assert card["letters"] == seen
        weights = [float(weight) for weight in card["weights"]]
        assert weights == pytest.approx(row.sqrt().tolist(), abs=1e-4)
        assert agrees(card["most"].rpartition(" ")[2], row.max())
