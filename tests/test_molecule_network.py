"""The network of lecture 8 computes what its formula says, and its weights are those described."""

import numpy as np
import pytest
import torch
from torch import Tensor

from course_lib.graph import Graph, GraphConv
from course_lib.molecule_network import (
    DATA,
    LAYERS,
    BondConv,
    MoleculeNetwork,
    train_network,
    trained,
)
from course_lib.molecules import load_molecules
from course_lib.training import seed

MOLECULES = load_molecules()
TESTS = [molecule for molecule in MOLECULES if molecule.test]


def batch(molecules: list) -> tuple[Graph, Tensor]:
    graph = Graph.batched([molecule.graph() for molecule in molecules])
    return graph, torch.tensor([molecule.solubility for molecule in molecules])


def by_hand(network: MoleculeNetwork, molecule: object) -> np.ndarray:
    """The formula at the top of the module, atom by atom, in NumPy."""
    weights = {name: value.double().numpy() for name, value in network.state_dict().items()}
    graph = molecule.graph()
    h = graph.x.double().numpy() @ weights["embed.weight"].T + weights["embed.bias"]
    for n in range(len(network.layers)):
        part = {
            key.removeprefix(f"layers.{n}."): value
            for key, value in weights.items()
            if key.startswith(f"layers.{n}.")
        }
        new = h @ part["own.weight"].T + part["own.bias"]
        said = h @ part["neighbours.weight"].T + part["neighbours.bias"]
        for (v, u), e in zip(graph.edges.T.tolist(), graph.edge_features.numpy(), strict=True):
            new[u] += said[v] * (part["bond.weight"] @ e)
        h = h + np.maximum(new, 0)
    pooled = np.concatenate([h.sum(0) / 10, h.mean(0)])
    hidden = np.maximum(weights["readout.0.weight"] @ pooled + weights["readout.0.bias"], 0)
    answer = weights["readout.2.weight"] @ hidden + weights["readout.2.bias"]
    return weights["mean"] + weights["scale"] * answer[0]


def test_the_network_computes_its_formula() -> None:
    network = trained().double()
    for molecule in TESTS[:20]:
        answer = network(molecule.graph().to(dtype=torch.float64)).item()
        assert answer == pytest.approx(by_hand(network, molecule), abs=1e-10)


def test_molecules_in_a_batch_do_not_hear_each_other() -> None:
    network = trained().double()
    graphs = [molecule.graph().to(dtype=torch.float64) for molecule in TESTS[:10]]
    alone = torch.cat([network(graph) for graph in graphs])
    assert torch.allclose(network(Graph.batched(graphs)), alone, atol=1e-10)


@pytest.mark.parametrize("kind", LAYERS)
def test_the_stored_weights_have_the_error_that_stands_beside_them(kind: str) -> None:
    with np.load(DATA) as stored:
        assert stored["kinds"].tolist() == list(LAYERS)
        told = stored["error"][list(LAYERS).index(kind)]
        seeds = stored["seeds"].tolist()
    graph, measured = batch(TESTS)
    with torch.no_grad():
        found = [(trained(kind, s)(graph) - measured).square().mean().sqrt().item() for s in seeds]
    assert found == pytest.approx(told, abs=1e-3)
    assert len(set(found)) == len(seeds) == 5


def test_the_file_of_weights_is_described_beside_it_and_says_how_it_was_made() -> None:
    told = DATA.with_suffix(".md").read_text(encoding="utf-8")
    with np.load(DATA) as stored:
        names = [name for name in stored.files if name.rpartition(" ")[0] not in LAYERS]
        assert [name for name in names if f"`{name}`" not in told] == []
        assert "train_molecules.py" in str(stored["command"])


def test_bonds_that_are_all_alike_make_a_graph_convolution() -> None:
    layer, plain = BondConv(14, 8, 4), GraphConv(14, 8)
    plain.load_state_dict(
        {
            "own.weight": layer.own.weight,
            "own.bias": layer.own.bias,
            "neighbours.weight": layer.neighbours.weight,
        }
    )
    torch.nn.init.zeros_(layer.neighbours.bias)
    graph = TESTS[0].graph()
    assert torch.allclose(layer(graph), plain(graph), atol=1e-5)


def test_a_bond_layer_asks_for_bonds() -> None:
    graph = Graph(torch.ones(2, 14), torch.tensor([[0], [1]]))
    with pytest.raises(ValueError, match="expected 4 for each edge; give the graph edge_features"):
        BondConv(14, 8, 4)(graph)


@pytest.mark.slow
@pytest.mark.parametrize("kind", LAYERS)
def test_every_kind_learns(kind: str) -> None:
    seed(0)
    few = batch(MOLECULES[:32])
    network = MoleculeNetwork(LAYERS[kind]).answers_like(few[1])
    history = train_network(network, [few], steps=60, progress=False)
    assert len(history) == 60
    assert history[-1] < 0.3 * history[0]


def test_answers_have_the_mean_and_the_scale_that_were_asked_for() -> None:
    measured = torch.tensor([1.0, 3.0, 8.0])
    network = MoleculeNetwork(layers=0).answers_like(measured)
    assert network.mean == measured.mean()
    assert network.scale == measured.std()


def test_a_kind_or_a_seed_that_was_not_trained_is_refused() -> None:
    with pytest.raises(ValueError, match="kind is 'telepathy'; expected one of 'alone'"):
        trained("telepathy")
    with pytest.raises(ValueError, match="seed is '99'; expected one of '0'"):
        trained(seed=99)


def test_the_folds_hold_one_answer_for_each_molecule_to_learn_from():
    learned = [molecule for molecule in MOLECULES if not molecule.test]
    with np.load(DATA.with_name("molecule_folds.npz")) as stored:
        kinds, seeds = len(stored["compared"]), 3
        assert stored["answers"].shape == (kinds, seeds, len(learned))
        assert "cross_validate_molecules.py" in str(stored["command"])
        measured = np.array([molecule.solubility for molecule in learned])
        better = (stored["answers"] - measured).std(2) < measured.std() / 2
    assert better.all()
