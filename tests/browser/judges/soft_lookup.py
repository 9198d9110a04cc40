"""SoftLookup: compare its display with course_lib."""

import pytest
import torch
from playwright.sync_api import Locator
from reading import assert_column, state_of
from torch import Tensor
from torch.nn import functional as F

from course_lib.attention import attention, attention_weights

from .scraped import assert_said


def displayed(widget: Locator) -> None:
    state = state_of(widget)
    query, key, value = state["query"][None], state["key_points"], state["values"]
    temperature = state["temperature"]
    # Softmax takes no notice of what is the same for all keys, so |q|² may be left out.
    bias = None
    if state["similarity"] == "distance":
        score = -(torch.cdist(query, key, compute_mode="donot_use_mm_for_euclid_dist") ** 2)
        factor, bias = 2, -(key**2).sum(-1)[None] / temperature
    elif state["similarity"] == "cosine":
        query, key = F.normalize(query, dim=-1, eps=1e-8), F.normalize(key, dim=-1, eps=1e-8)
        score, factor = query @ key.mT, 1
    else:
        score, factor = query @ key.mT, 1
    scale = factor / temperature
    weights = attention_weights(query, key, bias=bias, scale=scale)[0]
    answer = attention(query, key, value[:, None], bias=bias, scale=scale)[0, 0]

    names = widget.locator(".cw-weights tbody th").all_text_contents()
    assert names == state["names"]
    assert_column(widget, ".cw-weights tbody td:nth-child(2)", value)
    assert_column(widget, ".cw-weights tbody td:nth-child(3)", score[0])
    assert_column(widget, ".cw-weights tbody td:nth-child(4)", weights)
    assert_column(widget, ".cw-readout strong", answer[None])
    bars = widget.locator(".cw-bar").evaluate_all(
        "bars => bars.map((bar) => Number(bar.style.getPropertyValue('--cw-length')))"
    )
    assert bars == pytest.approx(weights.tolist(), abs=1e-6)
    assert_picture(widget, value, weights, answer)


def assert_picture(widget: Locator, value: Tensor, weights: Tensor, answer: Tensor) -> None:
    """Assert values at their keys and the answer at the query; the beam balances at the answer."""
    written = widget.locator(".cw-plane .cw-lookup-value").all_text_contents()
    assert_said(written, [*value, answer])
    # A weight of less than a hundredth is no thread at all.
    threads = widget.locator(".cw-plane line").count()
    assert threads == int((12 * weights >= 0.1).sum())
    places, balls, fulcrum = widget.locator(".cw-lookup-beam").evaluate(
        """(svg) => [
          [...svg.querySelectorAll("circle")].map((e) => Number(e.getAttribute("cx"))),
          [...svg.querySelectorAll("circle")].map((e) => Number(e.getAttribute("r")) ** 2),
          Number(svg.querySelector(".cw-lookup-answer").getAttribute("d").match(/M([-\\d.e]+)/)[1]),
        ]"""
    )
    assert [r / 14**2 for r in balls] == pytest.approx(weights.tolist(), abs=1e-6)
    # The moments about the fulcrum cancel.
    turns = weights @ (torch.tensor(places, dtype=torch.float64) - fulcrum)
    assert float(turns) == pytest.approx(0, abs=1e-6)
