"""GraphPlayground: compare its display with course_lib."""

from typing import Any

import torch
from in_the_page import tensor
from playwright.sync_api import Locator
from reading import NUMBER, agrees, assert_column, state_of

from course_lib.graph import (
    GATConv,
    GCNConv,
    Graph,
    GraphConv,
    weisfeiler_lehman,
)
from course_lib.models.molecules import ELEMENTS, Molecule
from course_lib.widgets.graph_playground import network_of

from .scraped import assert_said, scraper

READ = scraper("""return {
  flight: dataOf("flight"),
  rings: all(".cw-g-atom", (atom) =>
    [...atom.querySelectorAll("[data-share]")].map((part) => Number(part.dataset.share))),
  colours: all(".cw-g-atom", (atom) =>
    Number(/colour ([0-9]+)/.exec(atom.getAttribute("aria-label"))?.[1] ?? 0)),
  strips: all(".cw-g-strip", (strip) => [...strip.querySelectorAll("b")].map(textOf).map(Number)),
  slider: Number(one("[data-trait=rounds]").value),
};""")


def graph_of(drawing: dict[str, Any]) -> Graph:
    """The graph before messages, with the element of each atom as features."""
    x = torch.eye(len(ELEMENTS), dtype=torch.float64)
    places = [ELEMENTS.index(symbol) for symbol in drawing["element"]]
    pairs = torch.tensor([bond[:2] for bond in drawing["bonds"]], dtype=torch.int64)
    return Graph.undirected(x[places], pairs.reshape(-1, 2).T)


def layer_of(name: str) -> torch.nn.Module:
    """A layer of course_lib whose matrices are the identity."""
    d = len(ELEMENTS)
    layer = {
        "sum": GraphConv,
        "normalized": GCNConv,
        "attention": lambda *sizes: GATConv(*sizes, 1),
    }[name](d, d).double()
    state = {
        key: torch.eye(d) if key.endswith("weight") else torch.zeros_like(value)
        for key, value in layer.state_dict().items()
    }
    if name == "attention":
        state["score.source"] = torch.tensor([[0.0, *[2.0] * (d - 1)]])
    layer.load_state_dict(state)
    return layer


def known_after(graph: Graph, layer: str, rounds: int) -> torch.Tensor:
    for _ in range(rounds):
        graph = graph.with_features(layer_of(layer)(graph).detach())
    return graph.x


def canonical(colours: list[int]) -> list[int]:
    """The same partition, its classes numbered by first occurrence."""
    return [list(dict.fromkeys(colours)).index(colour) for colour in colours]


def molecule_of(drawing: dict[str, Any]) -> Molecule:
    """The molecule of the page, with its number of hydrogens."""
    given = {part: drawing[part] for part in ("name", "charge", "hydrogens")}
    bonds = [tuple(bond) for bond in drawing["bonds"]]
    return Molecule.drawn(drawing["element"], bonds, **given)


def assert_answers(widget: Locator, state: dict[str, Any], found: dict[str, Any]) -> None:
    """Assert that the solubility, and what atoms add to it, are those of the network."""
    if state["facts"] is None:
        return
    model = network_of(state["facts"], state["weights"]).double()
    molecule, atom = molecule_of(state["drawing"]), state["atom"]
    if not molecule.symbols:
        return
    with torch.no_grad():
        answer = model(molecule.graph().to(dtype=torch.float64)).item()
        if widget.locator(".cw-g-both").count():
            another = molecule_of(state["molecules"][state["other"]]["drawing"])
            both = [answer, model(another.graph().to(dtype=torch.float64)).item()]
            texts = NUMBER.findall(widget.locator(".cw-g-both").inner_text())
            assert_said(texts, both)
        if state["other"] >= 0:
            return
        for told in widget.locator("[data-logarithm=answer]").all_inner_texts():
            assert agrees(told, answer)
        if len(molecule.symbols) == 1:
            return
        adds = [
            answer - model(molecule.without(i).graph().to(dtype=torch.float64)).item()
            for i in range(len(molecule.symbols))
        ]
    assert agrees(widget.locator(".cw-g-adds").text_content().removeprefix("+"), adds[atom])
    assert agrees(widget.locator(".cw-g-without").text_content(), answer - adds[atom])
    if state["rings"] == "parts":
        arcs = torch.tensor([ring[0] for ring in found["rings"]]).double()
        sizes = tensor(adds).abs()
        torch.testing.assert_close(arcs, sizes / sizes.max(), rtol=1e-6, atol=1e-6)


def displayed(widget: Locator) -> None:
    state, found = state_of(widget), widget.evaluate(READ)
    assert found["slider"] == state["rounds"]
    graph, atom = graph_of(state["drawing"]), state["atom"]
    present = graph.x.sum(0) > 0
    known = known_after(graph, state["layer"], state["rounds"])[:, present]
    if atom >= 0 and state["other"] < 0:
        assert_column(widget, ".cw-weights .cw-number", known[atom])
    if state["rings"] == "known" and found["flight"] == 0:
        for ring, row in zip(found["rings"], known, strict=True):
            expected = (row / row.sum())[row > 0]
            torch.testing.assert_close(torch.tensor(ring).double(), expected)

    assert_answers(widget, state, found)
    other = state["other"]
    drawn = [graph] + [graph_of(state["molecules"][other]["drawing"])] * (other >= 0)
    both = Graph.batched(drawn)
    rounds = state["rounds"]
    colours = weisfeiler_lehman(both, max(both.nodes, rounds))
    if state["rings"] == "colours":
        here = colours[rounds][: graph.nodes].tolist()
        assert canonical(found["colours"]) == canonical(here)
    for n, strip in enumerate(found["strips"]):
        counts = torch.bincount(colours[rounds][both.batch == n])
        assert sorted(strip) == sorted(counts[counts > 0].tolist())
