"""AttentionExplorer: a small one, what it displays, and what course_lib says it should."""

from typing import Any

import numpy as np
import pytest
import torch
from playwright.sync_api import Locator
from reading import agrees, state_of
from torch import Tensor

from course_lib.attention import (
    attention_weights,
    causal_mask,
)
from course_lib.widgets import AttentionExplorer


def retempered_rows(state: dict[str, Any]) -> Tensor:
    """Queries by keys, as AttentionExplorer should show them; NaN for a query with no mass left."""
    snapshots = state["weights"] if state["weights"].dim() == 5 else state["weights"][None]
    score = snapshots[state["step"], state["layer"], state["head"]].log()
    mask = causal_mask(len(score)) if state["causal"] else torch.ones_like(score, dtype=torch.bool)
    alive = (mask & (score > -torch.inf)).any(-1)
    nothing = torch.zeros(len(score), 1, dtype=torch.float64)
    rows = torch.full_like(score, torch.nan)
    rows[alive] = attention_weights(
        nothing[alive], nothing, bias=score[alive] / state["temperature"], mask=mask[alive]
    )
    return rows


def make(name: str = "Ada") -> AttentionExplorer:
    logits = np.random.default_rng(4).normal(size=(2, 3, 5, 5))
    weights = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    return AttentionExplorer([name, "b", "c", "b", "c"], weights)


def displayed(widget: Locator) -> None:
    state = state_of(widget)
    rows, tokens = retempered_rows(state), state["tokens"]
    page = widget.evaluate(
        """(el) => {
          const slider = el.querySelector("[role=slider]");
          const canvas = el.querySelector(".cw-heat canvas");
          const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
          const table = el.querySelector(".cw-top-keys table");
          const lines = [...table.querySelectorAll("tbody tr")];
          return {
            place: Number(slider.getAttribute("aria-valuenow")),
            said: slider.getAttribute("aria-valuetext"),
            links: [...slider.querySelectorAll("path")]
              .map((path) => path.getAttribute("stroke-width")),
            alpha: [...pixels.data].filter((_, i) => i % 4 === 3),
            lines: lines.map((line) => [...line.querySelectorAll("th, .cw-number")]
              .map((cell) => cell.textContent)),
            title: table.caption.textContent,
          };
        }"""
    )
    # The query shown is the one that was chosen, or the one at which the mouse points.
    query = page["place"] - 1
    row = rows[query]
    shown_weights = row.nan_to_num(0)
    assert [float(width) for width in page["links"]] == pytest.approx(
        (13 * shown_weights).tolist(), abs=1e-4
    )
    depth = (255 * rows.nan_to_num(0).sqrt()).flatten()
    assert page["alpha"] == pytest.approx(depth.tolist(), abs=0.51)
    head = f"Layer {state['layer'] + 1}, head {state['head'] + 1}:"
    assert page["title"].startswith(head)
    assert f"(place {query + 1})" in page["title"]

    if row.isnan().any():
        assert page["lines"] == []
        assert page["said"].endswith("nothing to look at")
        return
    places = [int(place) - 1 for _, place, _ in page["lines"]]
    assert len(set(places)) == min(5, len(tokens))
    listed = row[places]
    assert all(agrees(text, w) for (_, _, text), w in zip(page["lines"], listed, strict=True))
    assert (listed.diff() <= 2e-6).all()
    others = [w for key, w in enumerate(row.tolist()) if key not in places]
    assert max(others, default=0) <= listed.min() + 2e-6
    assert f"place {places[0] + 1}, weight " in page["said"]
    assert agrees(page["said"].rpartition("weight ")[2], row.max())
