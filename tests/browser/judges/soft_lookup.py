import torch
from in_the_page import tensor
from torch.nn import functional as F

from course_lib.attention import attention, attention_weights

from .scraped import Found, assert_said, near, scraper

READ = scraper("""return {
  rows: all(".cw-weights tbody tr", cellsOf),
  answer: all(".cw-readout strong"),
  written: all(".cw-plane .cw-lookup-value"),
  bars: all(".cw-bar", (bar) => Number(bar.style.getPropertyValue("--cw-length"))),
  balls: all(".cw-lookup-beam circle", (ball) => numbersOf(ball, "cx", "r")),
  fulcrum: Number(one(".cw-lookup-beam .cw-lookup-answer").getAttribute("d")
    .match(/M([-\\d.e]+)/)[1]),
};""")


def displayed(state: Found, page: Found) -> None:
    query, key, value = state["query"][None], state["key_points"], state["values"]
    if state["similarity"] == "cosine":
        query, key = (F.normalize(x, dim=-1, eps=1e-8) for x in (query, key))
    score, options = query @ key.mT, {"scale": 1 / state["temperature"]}
    if state["similarity"] == "distance":
        score = -(torch.cdist(query, key, compute_mode="donot_use_mm_for_euclid_dist") ** 2)
        # Softmax takes no notice of what is the same for all keys, so |q|² may be left out.
        options["bias"] = -options["scale"] * key.square().sum(-1)[None]
        options["scale"] *= 2
    weights = attention_weights(query, key, **options)[0]
    answer = attention(query, key, value[:, None], **options)[0, 0]

    names, *columns = zip(*(row[:4] for row in page["rows"]), strict=True)
    assert list(names) == state["names"]
    for column, numbers in zip(columns, (value, score[0], weights), strict=True):
        assert_said(column, numbers)
    assert_said(page["answer"], [answer])
    assert_said(page["written"], [*value, answer])
    near(page["bars"], weights)
    # The balls on the beam have the areas of the weights, and balance about the answer.
    place, radius = tensor(page["balls"]).T
    near(radius**2 / 14**2, weights)
    near(weights @ (place - page["fulcrum"]), 0.0)
