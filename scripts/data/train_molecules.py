"""Train the networks of lecture 8 and write course_lib/data/molecule_networks.npz.

    OMP_NUM_THREADS=1 python scripts/data/train_molecules.py

All kinds of layer of course_lib.models.molecules, five seeds each, with equal numbers of features,
layers and steps and one schedule. The pools were chosen on 200 of the training molecules, set aside
once; all else was set by hand. Test errors are printed too, so they may have influenced choices.
molecule_networks.md describes the file.
"""

import datetime as dt
import platform
import sys
import time

import numpy as np
import torch
from torch import Tensor, nn
from tqdm import tqdm

from course_lib.graph import Graph
from course_lib.models.molecules import (
    LAYERS,
    Molecule,
    MoleculeNetwork,
    load_molecules,
    train_network,
)
from course_lib.models.stored import DATA
from course_lib.support.training import seed

SEEDS = range(5)
STEPS, BATCH, SHUFFLES = 2000, 64, 10


def batch(molecules: list[Molecule]) -> tuple[Graph, Tensor]:
    """Molecules as one graph, and their solubility."""
    graph = Graph.batched([molecule.graph() for molecule in molecules])
    return graph, torch.tensor([molecule.solubility for molecule in molecules])


def shuffled(molecules: list[Molecule]) -> list[tuple[Graph, Tensor]]:
    """Batches of all molecules in ten orders, made once since making batches takes longest."""
    random = torch.Generator().manual_seed(0)
    orders = [torch.randperm(len(molecules), generator=random) for _ in range(SHUFFLES)]
    parts = -(-len(molecules) // BATCH)
    return [batch([molecules[i] for i in part]) for order in orders for part in order.chunk(parts)]


def main(steps: int = STEPS) -> None:
    """Train, measure as stored, write."""
    molecules = load_molecules()
    batches = shuffled([molecule for molecule in molecules if not molecule.test])
    test, measured = batch([molecule for molecule in molecules if molecule.test])
    _, known = batch([molecule for molecule in molecules if not molecule.test])
    stored: dict[str, np.ndarray] = {}
    losses, errors, seconds = (np.zeros((len(LAYERS), len(SEEDS))) for _ in range(3))
    runs = [(i, kind, j, start) for i, kind in enumerate(LAYERS) for j, start in enumerate(SEEDS)]
    for i, kind, j, start in tqdm(runs):
        seed(start)
        network = MoleculeNetwork(LAYERS[kind]).answers_like(known)
        began = time.process_time()
        history = train_network(network, batches, steps=steps, progress=False)
        seconds[i, j] = time.process_time() - began
        losses[i, j] = np.mean(history[-len(batches) // SHUFFLES :])
        weights = nn.utils.parameters_to_vector(network.parameters()).detach().half()
        nn.utils.vector_to_parameters(weights.float(), network.parameters())
        with torch.no_grad():
            errors[i, j] = (network(test) - measured).square().mean().sqrt()
        stored[f"{kind} {start}"] = weights.numpy()
        mean_and_scale = torch.stack([network.mean, network.scale]).numpy()
        print(f"{kind:20} {start} loss {losses[i, j]:.4f} test {errors[i, j]:.3f}", flush=True)
    np.savez_compressed(
        DATA / "molecule_networks.npz",
        kinds=np.array(list(LAYERS)),
        seeds=np.array(SEEDS),
        mean_and_scale=mean_and_scale,
        loss=losses.astype(np.float32),
        error=errors.astype(np.float32),
        seconds=seconds.astype(np.float32),
        steps=np.array(steps),
        command=np.array("OMP_NUM_THREADS=1 python scripts/data/train_molecules.py"),
        made_with=np.array(
            f"{dt.datetime.now(dt.UTC).date()}, torch {torch.__version__}, "
            f"Python {platform.python_version()}, {platform.machine()}, one thread"
        ),
        **stored,
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
