import torch
from reading import agrees
from snapshots import expected_next, weights_of
from torch import Tensor

from course_lib.attention import causal_mask
from course_lib.models.words.induction import StringReader
from course_lib.widgets.kit.packed_weights import with_weights

from .scraped import Found, assert_said, near, scraper

READ = scraper("""
  const numbered = (row) => [...row.querySelectorAll("th, .cw-number")].map(textOf);
  return {
    place: numberOf(one("[role=slider]"), "aria-valuenow"),
    links: all("[role=slider] path:not(.cw-wrong, .cw-elsewhere *)",
      (path) => numberOf(path, "stroke-width") / 13),
    alpha: opaque(one(".cw-heat canvas")),
    lines: [...one(".cw-top-keys table").querySelectorAll("tbody tr")].map(numbered),
    next: all(".cw-next tbody tr", numbered),
    guessed: all("[role=slider] .cw-guess"),
    loss: one(".cw-film-loss b")?.textContent,
    typed: one(".cw-ask input")?.value,
  };
""")


def retempered_rows(state: Found) -> Tensor:
    """Queries by keys, as AttentionExplorer should show them; NaN for a query with no mass left."""
    weights = weights_of(state["weights"])[state["step"], state["layer"], state["head"]]
    if state["causal"]:
        weights = weights * causal_mask(len(weights))
    return (weights.log() / state["temperature"]).softmax(-1)


def displayed(state: Found, page: Found) -> None:
    if state["reader"] and page["typed"] != "".join(state["tokens"]):
        state = typed_in_the_page(state, page["typed"])
    rows = retempered_rows(state)
    # The query shown is the chosen one, or the one under the mouse.
    query = page["place"] - 1
    row = rows[query]
    near(page["links"], row.nan_to_num(0), atol=1e-5)
    near(page["alpha"], (255 * rows.nan_to_num(0).sqrt()).flatten(), atol=0.51)
    if isinstance(state["guesses"], dict):
        assert_predictions(page, state, query)
    if row.isnan().any():
        assert page["lines"] == []
        return
    places = [int(place) - 1 for _, place, _ in page["lines"]]
    assert len(set(places)) == min(3 if page["next"] else 5, len(row))
    assert_said([text for *_, text in page["lines"]], row[places])
    # They are the largest, in their order.
    near(row[places], row.sort(descending=True).values[: len(places)], atol=2e-6)


@torch.no_grad()
def typed_in_the_page(state: Found, letters: str) -> Found:
    """The state with letters that only the page knows, and what its reader makes of them."""
    reader = with_weights(StringReader, state["reader"]["weights"])
    weights = reader.weights(torch.tensor([state["vocabulary"].index(it) for it in letters]))
    given = {"weights": weights[None], "steps": [], "step": 0, "rivals": [], "own": True}
    return state | given | {"tokens": list(letters)}


@torch.no_grad()
def read_in_the_page(state: Found) -> tuple[Tensor, Tensor]:
    """What the reader expects with its layer heated: the foremost ids, then those of the rivals."""
    reader = with_weights(StringReader, state["reader"]["weights"])
    # Scores are linear in the query.
    reader.layers[state["layer"]].query.weight /= state["temperature"]
    letters = [state["vocabulary"].index(letter) for letter in state["tokens"]]
    shares = reader(torch.tensor(letters)).softmax(-1)
    rivals = torch.tensor([state["vocabulary"].index(name) for name in state["rivals"]]).long()
    ids = torch.cat([shares.topk(3).indices, rivals.expand(len(shares), -1)], dim=-1)
    return ids, shares.gather(-1, ids)


def assert_predictions(page: Found, state: Found, query: int) -> None:
    ids, probabilities = expected_next(state["guesses"])
    if state["steps"]:
        ids, probabilities = ids[state["step"]], probabilities[state["step"]]
        assert agrees(page["loss"], state["losses"][state["step"]])
    filmed = state["step"] < len(state["steps"]) - 1
    if state["reader"] and (state.get("own") or state["temperature"] != 1) and not filmed:
        ids, probabilities = read_in_the_page(state)
    names = [[state["vocabulary"][i] for i in places] for places in ids]
    assert page["guessed"] == [best for best, *_ in names]
    truth = [*state["tokens"], None][query + 1]
    listed = [*dict.fromkeys(names[query] if truth is None else names[query][:3])]
    signs = [" ✓" if name == truth else "" for name in listed]
    if truth not in (None, listed[0]):
        signs[0] = " ✗"
    told, numbers = zip(*page["next"], strict=True)
    assert list(told) == [name + sign for name, sign in zip(listed, signs, strict=True)]
    share = dict(zip(names[query], 100 * probabilities[query], strict=True))
    assert_said(numbers, [share[name] for name in listed])
