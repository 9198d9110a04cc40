"""PartyMemory: compare its display with course_lib."""

import pytest
import torch
from playwright.sync_api import Locator
from reading import agrees, assert_column, state_of
from torch import Tensor

from course_lib.attention import attention, composite_memory, gated_memory, pooled_memory

from .scraped import assert_said

# From here on numbers are written with a power of ten.
HUGE = 1e9
READ_INK = """(el) => {
  const pixels = (canvas) => [...canvas.getContext("2d")
    .getImageData(0, 0, canvas.width, canvas.height).data];
  const style = getComputedStyle(el.querySelector(".cw"));
  const hex = style.getPropertyValue("--cw-ink").trim();
  return [[...el.querySelectorAll("canvas.cw-picture")].map(pixels),
    [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16))];
}"""


def displayed(widget: Locator) -> None:
    state = state_of(widget)
    arrived, temperature = state["arrived"], state["temperature"]
    images = state["images"].flatten(1)[:arrived]
    score, gate, key = (state[name][:arrived] for name in ("score", "gate", "guest_keys"))

    def asked(x: Tensor) -> Tensor:
        query = state["queries"][state["questions"].index(state["question"])]
        return attention(query[None], key, x, scale=1 / temperature)[0]

    remember = {
        "composite": lambda x: composite_memory(x, 1),
        "forgetting": lambda x: composite_memory(x, state["decay"]),
        "gate": lambda x: gated_memory(x, gate + state["door"]),
        "softmax": lambda x: pooled_memory(x, score / temperature),
        "query": asked,
    }[state["mode"]]
    # What each guest adds to the memory is the memory of the unit vectors.
    unit = torch.eye(arrived, dtype=torch.float64)
    # There is no distribution over no guests; the memory of an empty room is empty.
    weights, picture = (remember(x) if arrived else x.sum(0) for x in (unit, images))
    total = weights.sum()

    assert widget.locator(".cw-guest-name").all_text_contents() == state["names"]
    texts = widget.locator(".cw-guest-weight").all_text_contents()
    assert texts[arrived:] == ["not yet here"] * (len(texts) - arrived)
    assert [t for t, w in zip(texts, weights, strict=False) if not agrees(t, w)] == []
    assert_column(widget, ".cw-readout strong", total[None])
    threads = widget.locator(".cw-threads path").evaluate_all(
        "paths => paths.map((path) => Number(path.getAttribute('stroke-width')))"
    )
    absent = [0.0] * (len(texts) - arrived)
    assert [t / 22 for t in threads] == pytest.approx([*weights.tolist(), *absent], abs=3e-4)
    drawn = torch.cat([state["images"].flatten(1), picture[None] / total.clamp(min=1)])
    assert_ink(widget, drawn)

    said = widget.locator(".cw-guest-evidence").all_text_contents()[:arrived]
    evidence = {"gate": gate, "softmax": score}.get(state["mode"])
    if state["mode"] == "query":
        evidence = key @ state["queries"][state["questions"].index(state["question"])]
    if evidence is not None and evidence.abs().max() >= HUGE:
        assert all("·10" in s for s, e in zip(said, evidence, strict=True) if abs(e) >= HUGE)
    elif state["mode"] == "forgetting":
        assert said == [f"{age} ago" for age in range(arrived - 1, -1, -1)]
    elif evidence is not None:
        assert_said([text.partition("= ")[2] for text in said], evidence)


def assert_ink(widget: Locator, expected: Tensor) -> None:
    """Assert the ink of each picture, the memory last, pixel by pixel.

    A canvas keeps eight bits of it, and rounds its colour once more with them.
    """
    pixels, ink = widget.evaluate(READ_INK)
    found = torch.tensor(pixels, dtype=torch.float64).reshape(*expected.shape, 4)
    share = found[..., 3] / 255
    assert share.numpy() == pytest.approx(expected.numpy(), abs=0.6 / 255)
    off = (found[..., :3] - torch.tensor(ink)).abs().amax(-1)
    assert (off * share <= 1).all()
