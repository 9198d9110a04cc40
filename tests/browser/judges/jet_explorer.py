"""JetExplorer: compare its display with course_lib."""

import functools
import json
from typing import Any

import pytest
import torch
from playwright.sync_api import Locator
from reading import agrees, assert_column, shown, state_of
from torch import Tensor

from course_lib.jets import (
    Jets,
    ParticleTransformer,
    delta_phi,
    delta_r,
    invariant_mass,
    measured,
    pairwise_features,
    particle_features,
)
from course_lib.widgets.jet_explorer import jet_of, network_of

from .scraped import scraper

MOST_MASS, ENDS = 220, 10
ROWS = 4

READ = scraper("""return {
  particles: all("[data-particle]", (e) => ({
    at: movedBy(e), radius: Number(e.dataset.radius), there: e.dataset.there === "true",
  })),
  side: numberOf(one(".cw-j-axes rect"), "width"),
  links: all("[data-to]", (e) =>
    [Number(e.dataset.to), Number(e.dataset.weight), numberOf(e, "stroke-width")]),
  table: all(".cw-j-links tbody tr", (row) => cellsOf(row).map((cell) => cell.trim())),
  best: all(".cw-j-best th", (e) => e.textContent.trim()),
  mass: dataOf("mass"),
  massSaid: one(".cw-j-mass strong")?.textContent ?? "",
  marker: Number(/M([0-9.]+)/.exec(one(".cw-j-marker").getAttribute("d"))[1]),
  wide: Number(one("[data-mass]").getAttribute("viewBox").split(" ")[2]),
  open: one(".cw-j-result button").ariaDisabled === "true",
  pointed: Number(one("[role=listbox]").dataset.pointed),
  verdict: one(".cw-j-verdict")?.textContent ?? "",
};""")


@functools.lru_cache(maxsize=8)
def network_that_travelled(facts: str, weights: str) -> ParticleTransformer:
    return network_of(json.loads(facts), json.loads(weights)).double()


def attention_weights_of(model: ParticleTransformer, features: Tensor, pairs: Tensor) -> Tensor:
    """The attention weights: layers, jets, heads, queries, keys."""
    weights = []
    hooks = [
        block.attention.register_forward_pre_hook(
            lambda attention, inputs, given: weights.append(attention.weights(*inputs, **given)),
            with_kwargs=True,
        )
        for block in model.blocks
    ]
    model(features, pairs)
    for hook in hooks:
        hook.remove()
    return torch.stack(weights)


def displayed(widget: Locator) -> None:
    state, page = state_of(widget), widget.evaluate(READ)
    entry = state["jets"][state["jet"]]
    count = len(entry["kind"])
    whole = jet_of(entry, list(range(count)))
    there = [i for i in range(state["kept"]) if i not in state["gone"]]
    assert [i for i, one in enumerate(page["particles"]) if one["there"]] == there
    assert_places(page, whole)
    if not (there and page["open"]):
        empty = "–" if page["open"] else "?"
        assert widget.locator(".cw-j-classes .cw-number").all_inner_texts() == [empty] * 5
        assert page["best"] == []
    if not there:
        assert page["links"] == []
        return
    jet = jet_of(entry, there)
    model = network_that_travelled(*(json.dumps(state[name]) for name in ("facts", "weights")))
    features, pairs = particle_features(jet).double(), pairwise_features(jet.momenta)
    with torch.no_grad():
        said = model(features, pairs).softmax(dim=-1)[0]
        attention = attention_weights_of(model, features, pairs)[state["layer"], 0]
    if page["open"]:
        assert_column(widget, ".cw-j-classes .cw-number", 100 * said)
        best = state["facts"]["classes"][int(said.argmax())]
        assert page["best"] == [best]
        if len(there) == count:
            sign = "✓" if int(said.argmax()) == entry["label"] else "✗"
            assert page["verdict"].strip().startswith(f"The network says {best} {sign}.")

    mass = float(invariant_mass(jet.total)[0])
    assert page["mass"] == pytest.approx(mass, rel=1e-6, abs=1e-4)
    assert agrees(page["massSaid"], page["mass"])
    share = min(mass, MOST_MASS) / MOST_MASS
    assert page["marker"] == pytest.approx(ENDS + share * (page["wide"] - 2 * ENDS), abs=0.01)

    look = attention.mean(dim=0) if state["head"] < 0 else attention[state["head"]]
    assert_links(page, jet, there, look)


def assert_places(page: dict[str, Any], jet: Jets) -> None:
    """Assert the position of each particle, the hardest the largest."""
    axis = measured(jet.total)
    away = torch.stack([jet.eta.double() - axis.eta, delta_phi(jet.phi.double(), axis.phi)], -1)[0]
    at = torch.tensor([one["at"] for one in page["particles"]]).double()
    at[:, 1] *= -1
    middle = torch.tensor([[page["side"] / 2, -page["side"] / 2]]).double()
    drawn = at - middle
    # Both axes have the same scale for all, so only one shift remains.
    unit = torch.linalg.lstsq(
        (away - away.mean(0)).reshape(-1, 1), (drawn - drawn.mean(0)).reshape(-1, 1)
    ).solution.item()
    shift = drawn - unit * away
    assert (shift - shift[:1]).abs().max() < 0.01
    order = [one["radius"] for one in page["particles"]]
    assert order == sorted(order, reverse=True)


def assert_links(page: dict[str, Any], jet: Jets, there: list[int], look: Tensor) -> None:
    """Assert lines as thick as weights, and the strongest with the features of its pair."""
    if page["pointed"] not in there:
        assert page["links"] == []
        assert not any(page["table"][0][1:])
        return
    row = there.index(page["pointed"])
    expected = look[row]
    found = {to: weight for to, weight, _ in page["links"]}
    assert sorted(found) == there
    weights = torch.tensor([found[i] for i in there]).double()
    torch.testing.assert_close(weights, expected, rtol=1e-4, atol=1e-6)
    for _, weight, width in page["links"]:
        assert width == pytest.approx(max(0.5, 24 * weight), rel=1e-6)
    order = sorted(there, key=lambda i: -found[i])[:ROWS]
    rows = [cells for cells in page["table"] if any(cells)]
    for cells, to in zip(rows, order, strict=True):
        assert cells[0] == ("itself" if to == page["pointed"] else str(to + 1))
        assert shown(cells[1].removesuffix(" %")) == pytest.approx(100 * found[to], abs=0.51)
        distance = delta_r(jet.momenta[0, row], jet.momenta[0, there.index(to)])
        assert agrees(cells[2], distance)
