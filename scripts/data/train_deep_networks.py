"""Train the deep graph networks of lecture 9 and write course_lib/data/deep_networks.json.

    OMP_NUM_THREADS=1 python scripts/data/train_deep_networks.py

Stacks of 2 and 32 layers, h <- relu(S h W), on the digits of the lecture, with twenty labels. Four
kinds: with the S of Kipf and Welling (2017) or with S = 1, and with matrices initialized at random,
of He's size, or as the identity. Five draws of labels and weights for each. The file holds, after
each number of steps, the accuracy on the test digits and the loss on the labels, and, before and
after the training, two measures of smoothness: the roughness 1 - <h, Sh> / |h|^2, and the mean
cosine between the features of two nodes.
"""

import json
import math
import sys
import time

import numpy as np
import scipy
import sklearn
import torch
from provenance import provenance
from scipy.sparse import csr_array
from sklearn.datasets import load_digits
from sklearn.neighbors import kneighbors_graph
from torch import Tensor
from torch.nn import functional as F

from course_lib.models.stored import DATA

RESULTS = DATA / "deep_networks.json"
DRAWS, WIDTH, RATE, DECAY = 5, 16, 1e-3, 5e-4
REPORTS = (60, 600, 1200)
KINDS = {
    "as usual": {"averaged": True, "identity": False},
    "without the graph": {"averaged": False, "identity": False},
    "from the identity": {"averaged": True, "identity": True},
    "identity, no graph": {"averaged": False, "identity": True},
}


def digits() -> tuple[Tensor, Tensor, csr_array]:
    """Centred pixels, classes, and S of the graph that joins each digit to its eight nearest."""
    pixels, digit = (torch.from_numpy(array) for array in load_digits(return_X_y=True))
    pixels = (pixels / 16).float()
    nearest = csr_array(kneighbors_graph(pixels, 8))
    hat = ((nearest + nearest.T) > 0).astype(np.float32) + scipy.sparse.eye_array(len(pixels))
    scale = scipy.sparse.diags_array(1 / np.sqrt(hat.sum(axis=1)))
    return pixels - pixels.mean(0), digit, csr_array(scale @ hat @ scale, dtype=np.float32)


def splits(digit: Tensor) -> tuple[Tensor, Tensor]:
    """For each draw two labelled digits of each class, and a mask of its test digits.

    As in the lecture, 300 digits of each draw are for validation, and not used here.
    """
    known, test = [], torch.ones(DRAWS, len(digit), dtype=torch.bool)
    for value in range(DRAWS):
        order = torch.randperm(len(digit), generator=torch.Generator().manual_seed(value))
        others = order[300:]
        known.append(torch.cat([others[digit[others] == k][:2] for k in range(10)]))
        test[value, order[:300]] = False
        test[value, known[-1]] = False
    return torch.stack(known), test


PIXELS, DIGIT, S = digits()
NODES = len(DIGIT)
KNOWN, TEST = splits(DIGIT)


class Averaged(torch.autograd.Function):
    """S h; as S is symmetric, the gradient is multiplied by S too."""

    @staticmethod
    def forward(_: object, h: Tensor) -> Tensor:
        """Average."""
        return torch.from_numpy(S @ h.numpy())

    @staticmethod
    def backward(_: object, above: Tensor) -> Tensor:
        """Average the derivatives."""
        return torch.from_numpy(S @ above.numpy())


def roughness(h: Tensor) -> list[float]:
    """1 - <h, Sh> / |h|^2 for each draw: 0 where neighbours agree, up to their degrees."""
    smooth = (h * Averaged.apply(h)).view(NODES, DRAWS, WIDTH).sum((0, 2))
    return (1 - smooth / h.view(NODES, DRAWS, WIDTH).square().sum((0, 2))).tolist()


def mean_cosine(h: Tensor) -> list[float]:
    """The mean cosine between the features of two different nodes, for each draw."""
    direction = F.normalize(h.view(NODES, DRAWS, WIDTH).double(), dim=-1)
    own = direction.square().sum((0, 2))
    return ((direction.sum(0).square().sum(-1) - own) / (NODES * (NODES - 1))).tolist()


def train(layers: int, *, averaged: bool, identity: bool, reports: tuple[int, ...]) -> list[dict]:
    """Train one network for each draw together; a row for each number of steps."""
    torch.manual_seed(0)
    encoder = torch.randn(64, DRAWS * WIDTH) / 8
    matrices = math.sqrt(2 / WIDTH) * torch.randn(layers, DRAWS, WIDTH, WIDTH)
    if identity:
        matrices = torch.eye(WIDTH).expand_as(matrices).clone()
    decoder = torch.randn(DRAWS, WIDTH, 10) / math.sqrt(WIDTH)
    parameters = [tensor.requires_grad_() for tensor in (encoder, matrices, decoder)]
    optimizer = torch.optim.AdamW(parameters, lr=RATE, weight_decay=DECAY)
    each = torch.arange(DRAWS)[:, None]

    def features() -> Tensor:
        h = PIXELS @ encoder
        for matrix in matrices:
            h = Averaged.apply(h) if averaged else h
            mixed = torch.einsum("nbw,bwv->nbv", h.view(NODES, DRAWS, WIDTH), matrix)
            h = mixed.reshape(NODES, -1).relu()
        return h

    def losses(h: Tensor) -> Tensor:
        rows = h.view(NODES, DRAWS, WIDTH)[KNOWN, each] @ decoder
        each_loss = F.cross_entropy(rows.mT, DIGIT[KNOWN], reduction="none")
        return each_loss.mean(1)

    with torch.no_grad():
        start = features()
        before = {"roughness_before": roughness(start), "cosine_before": mean_cosine(start)}
    rows = []
    for step in range(1, max(reports) + 1):
        optimizer.zero_grad()
        losses(features()).sum().backward()
        optimizer.step()
        if step not in reports:
            continue
        with torch.no_grad():
            h = features()
            answers = torch.einsum("nbw,bwc->bnc", h.view(NODES, DRAWS, WIDTH), decoder).argmax(-1)
            right = ((answers == DIGIT) & TEST).sum(1) / TEST.sum(1)
            after = {"roughness_after": roughness(h), "cosine_after": mean_cosine(h)}
            tested, loss = right.tolist(), losses(h).tolist()
        rows.append({"steps": step, "accuracy": tested, "loss": loss, **before, **after})
    return rows


def main(*reports: int) -> None:
    """Train every kind at both depths and write the results."""
    torch.set_num_threads(1)
    began, rows = time.perf_counter(), []
    for layers in (2, 32):
        for kind, options in KINDS.items():
            for row in train(layers, **options, reports=reports):
                rows.append({"kind": kind, "layers": layers, **row})
                right, loss = torch.tensor(row["accuracy"]).mean(), torch.tensor(row["loss"]).mean()
                print(
                    f"{kind:18} {layers:2} layers {row['steps']:4} steps: {100 * right:.1f} %, "
                    f"loss {loss:.3f} after {time.perf_counter() - began:.0f} s",
                    flush=True,
                )
    measured = provenance(scipy, sklearn) | {
        "seconds": round(time.perf_counter() - began),
        "optimizer": {"name": "AdamW", "rate": RATE, "decay": DECAY},
        "width": WIDTH,
        "draws": DRAWS,
        "rows": rows,
    }
    RESULTS.write_text(json.dumps(measured, indent=1) + "\n")


if __name__ == "__main__":
    main(*(map(int, sys.argv[1:]) if len(sys.argv) > 1 else REPORTS))
