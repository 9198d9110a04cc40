"""Compare networks with and without messages by folds; write course_lib/data/molecule_folds.npz.

    OMP_NUM_THREADS=1 python scripts/data/cross_validate_molecules.py

Three folds of the training molecules, three seeds: the network without messages, the one with
attention of version 2, and the same one with every bond erased. The layer was chosen by its error
on the test set, which is not used here. Seed 0 was run first; no setting was changed after it.
molecule_folds.md describes the file.
"""

import datetime as dt
import platform

import numpy as np
import torch
from sklearn.model_selection import KFold
from torch import Tensor
from train_molecules import batch, shuffled

from course_lib.graph import Graph
from course_lib.models.molecules import (
    LAYERS,
    Molecule,
    MoleculeNetwork,
    load_molecules,
    train_network,
)
from course_lib.models.stored import DATA
from course_lib.support.training import parameter_count, seed

TARGET = DATA / "molecule_folds.npz"
COMPARED = {
    "alone": ("alone", True),
    "attention 2": ("attention 2", True),
    "attention 2, no bonds": ("attention 2", False),
}
SEEDS, FOLDS, STEPS = range(3), 3, 1000


def without_bonds(graph: Graph) -> Graph:
    """The same atoms, with their degrees as features, without bonds."""
    return Graph(graph.x, graph.edges[:, :0], batch=graph.batch, graphs=graph.graphs)


def out_of_fold(
    kind: str, start: int, learned: list[Molecule], asked: list[Molecule], *, bonds: bool
) -> tuple[Tensor, int]:
    """The predictions for ``asked`` after training on ``learned``; the number of parameters."""
    heard = (lambda graph: graph) if bonds else without_bonds
    batches = [(heard(graph), measured) for graph, measured in shuffled(learned)]
    seed(start)
    network = MoleculeNetwork(LAYERS[kind]).answers_like(batch(learned)[1])
    train_network(network, batches, steps=STEPS, progress=False)
    with torch.no_grad():
        return network(heard(batch(asked)[0])), parameter_count(network)


def main() -> None:
    """Train on two thirds, predict the last, write."""
    torch.set_num_threads(1)
    molecules = [molecule for molecule in load_molecules() if not molecule.test]
    folds = list(KFold(FOLDS, shuffle=True, random_state=0).split(molecules))
    answers = np.zeros((len(COMPARED), len(SEEDS), len(molecules)), np.float32)
    parameters = np.zeros(len(COMPARED), int)
    _, measured = batch(molecules)
    for j, start in enumerate(SEEDS):
        for k, (name, (kind, bonds)) in enumerate(COMPARED.items()):
            for learned, asked in folds:
                parts = ([molecules[i] for i in part] for part in (learned, asked))
                given, parameters[k] = out_of_fold(kind, start, *parts, bonds=bonds)
                answers[k, j, asked] = given
            error = np.sqrt(np.mean((answers[k, j] - measured.numpy()) ** 2))
            print(f"{name:24} seed {start} error {error:.3f}", flush=True)
    np.savez_compressed(
        TARGET,
        compared=np.array(list(COMPARED)),
        answers=answers,
        parameters=parameters,
        folds=np.array(FOLDS),
        steps=np.array(STEPS),
        command=np.array("OMP_NUM_THREADS=1 python scripts/data/cross_validate_molecules.py"),
        made_with=np.array(
            f"{dt.datetime.now(dt.UTC).date()}, torch {torch.__version__}, "
            f"Python {platform.python_version()}, {platform.machine()}, one thread"
        ),
    )


if __name__ == "__main__":
    main()
