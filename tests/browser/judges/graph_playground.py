import torch
from in_the_page import tensor
from reading import NUMBER
from torch import Tensor

from course_lib.graph import GATConv, GCNConv, Graph, GraphConv, weisfeiler_lehman
from course_lib.models.molecules import ELEMENTS, Molecule
from course_lib.widgets.graph_playground.graph_playground import network_of

from .scraped import Found, assert_said, near, scraper

READ = scraper("""return {
  flight: dataOf("flight"),
  rings: all(".cw-g-atom", (atom) =>
    [...atom.querySelectorAll("[data-share]")].map((part) => Number(part.dataset.share))),
  colours: all(".cw-g-atom", (atom) => Number(/colour ([0-9]+)/.exec(atom.ariaLabel)?.[1] ?? 0)),
  strips: all(".cw-g-strip", (strip) => [...strip.querySelectorAll("b")].map(textOf).map(Number)),
  slider: Number(one("[data-trait=rounds]").value),
  known: all(".cw-weights .cw-number"),
  both: one(".cw-g-both")?.textContent,
  answers: all("[data-logarithm=answer]"),
  adds: all(".cw-g-without, .cw-g-adds"),
};""")


def graph_of(drawing: Found) -> Graph:
    """The graph before messages, with the element of each atom as features."""
    x = torch.eye(len(ELEMENTS), dtype=torch.float64)
    places = [ELEMENTS.index(symbol) for symbol in drawing["element"]]
    pairs = torch.tensor([bond[:2] for bond in drawing["bonds"]], dtype=torch.int64)
    return Graph.undirected(x[places], pairs.reshape(-1, 2).T)


def layer_of(name: str) -> torch.nn.Module:
    """A layer of course_lib whose matrices are the identity."""
    d = len(ELEMENTS)
    kind, *options = {"sum": [GraphConv], "normalized": [GCNConv], "attention": [GATConv, 1]}[name]
    layer = kind(d, d, *options).double()
    state = {
        key: torch.eye(d) if key.endswith("weight") else torch.zeros_like(value)
        for key, value in layer.state_dict().items()
    }
    if name == "attention":
        state["score.source"] = torch.tensor([[0.0, *[2.0] * (d - 1)]])
    layer.load_state_dict(state)
    return layer


def known_after(graph: Graph, layer: str, rounds: int) -> Tensor:
    for _ in range(rounds):
        graph = graph.with_features(layer_of(layer)(graph).detach())
    return graph.x


def canonical(colours: list[int]) -> list[int]:
    """The same partition, its classes numbered by first occurrence."""
    return [list(dict.fromkeys(colours)).index(colour) for colour in colours]


def molecule_of(drawing: Found) -> Molecule:
    given = {part: drawing[part] for part in ("name", "charge", "hydrogens")}
    bonds = [tuple(bond) for bond in drawing["bonds"]]
    return Molecule.drawn(drawing["element"], bonds, **given)


def assert_answers(state: Found, found: Found) -> None:
    model = network_of(state["facts"], state["weights"]).double()
    molecule, atom, other = molecule_of(state["drawing"]), state["atom"], state["other"]
    count = len(molecule.symbols)

    def answer_of(molecule: Molecule) -> float:
        with torch.no_grad():
            return model(molecule.graph().to(dtype=torch.float64)).item()

    answer = answer_of(molecule)
    if found["both"]:
        another = answer_of(molecule_of(state["molecules"][other]["drawing"]))
        assert_said(NUMBER.findall(found["both"]), [answer, another])
    if other >= 0:
        return
    assert_said(found["answers"], [answer] * len(found["answers"]))
    if count == 1:
        return
    adds = tensor([answer - answer_of(molecule.without(i)) for i in range(count)])
    without = answer - adds[atom]
    assert_said([text.removeprefix("+") for text in found["adds"]], [without, adds[atom]])
    if state["rings"] == "parts":
        arcs = [ring[0] for ring in found["rings"]]
        near(arcs, adds.abs() / adds.abs().max())


def displayed(state: Found, found: Found) -> None:
    rounds, atom, other = (state[name] for name in ("rounds", "atom", "other"))
    assert found["slider"] == rounds
    graph = graph_of(state["drawing"])
    known = known_after(graph, state["layer"], rounds)[:, graph.x.sum(0) > 0]
    if atom >= 0 and other < 0:
        assert_said(found["known"], known[atom])
    if state["rings"] == "known" and found["flight"] == 0:
        for ring, row in zip(found["rings"], known, strict=True):
            near(ring, (row / row.sum())[row > 0], 1e-7)
    if state["facts"] is not None and graph.nodes:
        assert_answers(state, found)
    drawn = [graph] + [graph_of(state["molecules"][other]["drawing"])] * (other >= 0)
    both = Graph.batched(drawn)
    colours = weisfeiler_lehman(both, max(both.nodes, rounds))[rounds]
    if state["rings"] == "colours":
        here = colours[: graph.nodes].tolist()
        assert canonical(found["colours"]) == canonical(here)
    for n, strip in enumerate(found["strips"]):
        counts = torch.bincount(colours[both.batch == n])
        assert sorted(strip) == sorted(counts[counts > 0].tolist())
