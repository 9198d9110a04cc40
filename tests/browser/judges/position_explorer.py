import re

import torch
from in_the_page import tensor
from reading import NUMBER, agrees
from torch import Tensor

from course_lib.position import rotary, sinusoidal

from .scraped import Found, assert_said, near, scraper

READ = scraper("""
  const orders = one(".cw-pos-orders [role=slider]");
  const signed = (canvas) => {
    const { width, height } = canvas;
    const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
    const at = (i) => (data[4 * i] >= data[4 * i + 2] ? 1 : -1) * data[4 * i + 3];
    return Array.from({ length: height }, (_, y) =>
      Array.from({ length: width }, (_, x) => at(y * width + x)));
  };
  return {
    readings: readings(),
    shift: ["value", "max"].map((end) => Number(one("[data-trait=shift]")[end])),
    way: Number(one("[data-reading=momentary]")?.dataset.way ?? 1),
    words: all(".cw-pos-word", (tile) => [tile.dataset.word, movedBy(tile)[0]]),
    ranks: all("[data-score]", (bar) => Number(bar.dataset.score)),
    order: orders && [orders.getAttribute("aria-valuetext"), orders.getAttribute("aria-valuenow")],
    pairHands: all(".cw-pos-pair line[stroke-width='5']:not([stroke-dasharray])",
      (line) => [numberOf(line, "x2"), -numberOf(line, "y2")]),
    everything: one(".cw-pos-product") && {
      layers: Object.fromEntries(all("canvas", (canvas) => [canvas.dataset.layer, signed(canvas)])),
      pair: numberOf(one(".cw-pos-clocks [role=slider]"), "aria-valuenow"),
    },
  };
""")
ORDERS = {
    "DOG BITES MAN": (1, 0),
    "MAN BITES DOG": (1, 2),
    "BITES DOG MAN": (0, 1),
    "BITES MAN DOG": (0, 2),
    "MAN DOG BITES": (2, 1),
    "DOG MAN BITES": (2, 0),
}


def sides_of(state: Found) -> tuple[Tensor, Tensor]:
    """The factors of the score, for the query and for the key, computed by course_lib."""
    tokens, base = state["tokens"], state["base"]
    if state["kind"] == "sinusoidal":
        table = sinusoidal(tokens, state["d_model"], base=base, dtype=torch.float64)
        return table, table
    if state["kind"] == "learned":
        table = moments_of(state)[state["stage"]]
        return table, table
    query, key = (state[name].expand(tokens, -1) for name in ("query", "key"))
    if state["kind"] == "none":
        return query, key
    return rotary(query, base=base), rotary(key, base=base)


def moments_of(state: Found) -> list[Tensor]:
    """The learned table from the first moment of its training to the last."""
    return [*state["before"], state["learned"]]


def displayed(state: Found, page: Found) -> None:
    queries, keys = sides_of(state)
    score = queries @ keys.mT
    s, t, pair = (state[name] for name in ("query_position", "key_position", "pair"))
    readings = page["readings"]
    # On its way the score is no entry of the table; it is looked at when the words have arrived.
    assert page["way"] == 1
    assert_sentence(page, state, score)
    both = torch.stack([hands(queries[s])[pair], hands(keys[t])[pair]])
    share = both[0] @ both[1]
    assert_said(NUMBER.findall(readings["adds"])[-2:], [share, score[s, t]])
    assert agrees(readings["share"], share)
    reach = hands(torch.cat([queries, keys]))[:, pair].norm(dim=-1).max()
    near(page["pairHands"], 42 * both / reach, atol=2e-3)
    assert (page["everything"] is not None) == state["everything"]
    if state["everything"]:
        assert agrees(readings["score"], score[s, t])
        assert page["everything"]["pair"] == pair
        assert_matrices(page["everything"]["layers"], state, (queries, keys, score))


def assert_sentence(page: Found, state: Found, score: Tensor) -> None:
    s, t, tokens = state["query_position"], state["key_position"], state["tokens"]
    (low, last), readings = page["shift"], page["readings"]
    if tokens < 3:
        assert page["words"] == []
        return
    assert agrees(readings["momentary"], score[s, t])
    order = " ".join(word for word, _ in sorted(page["words"], key=lambda spot: spot[1]))
    together = len(page["words"]) == 3
    assert together == (0 < abs(s - t) < 3)
    if together:
        assert page["order"] == [order, str(list(ORDERS).index(order) + 1)]
        query, key = ORDERS[order]
        assert (s, t, last) == (low + query, low + key, tokens - 3)
    else:
        assert (low, last) == (min(s, t), tokens - 1 - abs(s - t))
    first = low if together else min(low, tokens - 3)
    ranks = [score[first + query, first + key] for query, key in ORDERS.values()]
    near(page["ranks"], ranks, atol=2e-6)
    if moved := re.search(r"Was ([−\d.]+\d), is ([−\d.]+\d)", readings["moved"]):
        assert agrees(moved[2], score[s, t])
        assert ("the same" in readings["moved"]) <= (moved[1] == moved[2])


def assert_matrices(layers: Found, state: Found, told: tuple[Tensor, Tensor, Tensor]) -> None:
    """Assert that each pixel has the depth of its entry and the colour of its sign.

    The deepest is the largest entry of all moments of the training.
    """
    queries, keys, score = told
    learned = state["kind"] == "learned"
    tables = moments_of(state) if learned else [torch.cat([queries, keys])]
    products = [table @ table.mT for table in tables] if learned else [score]
    table, most = (max(float(x.abs().max()) for x in each) for each in (tables, products))
    matrices = {"queries": queries / table, "keys": keys.mT / table, "scores": score / most}
    for name, matrix in matrices.items():
        depth, expected = tensor(layers[name]), 255 * matrix
        near(depth.abs(), expected.abs(), atol=0.51)
        assert (depth.sign() == expected.sign())[expected.abs() > 40].all()


def hands(row: Tensor) -> Tensor:
    return row.unflatten(-1, (-1, 2))
