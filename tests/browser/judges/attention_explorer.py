"""AttentionExplorer: compare its display with course_lib."""

from typing import Any

import pytest
import torch
from playwright.sync_api import Locator
from reading import agrees, state_of
from snapshots import expected_next, weights_of
from torch import Tensor

from course_lib.attention import attention_weights, causal_mask

from .scraped import assert_said, scraper

READ = scraper("""
  const numbered = (row) => [...row.querySelectorAll("th, .cw-number")].map(textOf);
  return {
    place: numberOf(one("[role=slider]"), "aria-valuenow"),
    links: all("[role=slider] path:not(.cw-wrong, .cw-elsewhere *)",
      (path) => numberOf(path, "stroke-width")),
    alpha: opaque(one(".cw-heat canvas")),
    lines: [...one(".cw-top-keys table").querySelectorAll("tbody tr")].map(numbered),
    next: all(".cw-next tbody tr", numbered),
    guessed: all("[role=slider] .cw-guess", (guess) => guess.textContent.trim()),
    loss: one(".cw-film-loss b")?.textContent,
  };
""")


def retempered_rows(state: dict[str, Any]) -> Tensor:
    """Queries by keys, as AttentionExplorer should show them; NaN for a query with no mass left."""
    snapshots = weights_of(state["weights"])
    score = snapshots[state["step"], state["layer"], state["head"]].log()
    mask = causal_mask(len(score)) if state["causal"] else torch.ones_like(score, dtype=torch.bool)
    alive = (mask & (score > -torch.inf)).any(-1)
    nothing = torch.zeros(len(score), 1, dtype=torch.float64)
    rows = torch.full_like(score, torch.nan)
    rows[alive] = attention_weights(
        nothing[alive], nothing, bias=score[alive] / state["temperature"], mask=mask[alive]
    )
    return rows


def displayed(widget: Locator) -> None:
    state = state_of(widget)
    rows, tokens = retempered_rows(state), state["tokens"]
    page = widget.evaluate(READ)
    # The query shown is the chosen one, or the one under the mouse.
    query = page["place"] - 1
    row = rows[query]
    shown_weights = row.nan_to_num(0)
    assert page["links"] == pytest.approx((13 * shown_weights).tolist(), abs=1e-4)
    depth = (255 * rows.nan_to_num(0).sqrt()).flatten()
    assert page["alpha"] == pytest.approx(depth.tolist(), abs=0.51)

    if isinstance(state["guesses"], dict):
        ids, probabilities = expected_next(state["guesses"])
        if state["steps"]:
            ids, probabilities = ids[state["step"]], probabilities[state["step"]]
        names = [[state["vocabulary"][i] for i in places] for places in ids]
        truth = tokens[query + 1] if query + 1 < len(tokens) else None
        listed = names[query] if truth is None else names[query][:3]
        listed = list(dict.fromkeys(listed))
        marked = [f"{name} ✓" if name == truth else name for name in listed]
        if truth not in (None, names[query][0]):
            marked[0] += " ✗"
        assert [name for name, _ in page["next"]] == marked
        share = dict(zip(names[query], 100 * probabilities[query], strict=True))
        assert_said([text for _, text in page["next"]], [share[name] for name in listed])
        assert page["guessed"] == [one[0] for one in names]
        if state["steps"]:
            assert agrees(page["loss"], state["losses"][state["step"]])

    if row.isnan().any():
        assert page["lines"] == []
        return
    places = [int(place) - 1 for _, place, _ in page["lines"]]
    assert len(set(places)) == min(3 if page["next"] else 5, len(tokens))
    listed = row[places]
    assert_said([text for *_, text in page["lines"]], listed)
    assert (listed.diff() <= 2e-6).all()
    others = [w for key, w in enumerate(row.tolist()) if key not in places]
    assert max(others, default=0) <= listed.min() + 2e-6
