"""Load bundled data and trained networks."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import nn

DATA = Path(__file__).parents[1] / "data"
Network = TypeVar("Network", bound=nn.Module)


def contents(name: str) -> dict[str, Any]:
    """The arrays of a file in :data:`DATA`: numbers as tensors, text as strings or lists."""
    import numpy as np

    with np.load(DATA / name) as stored:
        return {
            key: value.tolist() if value.dtype.kind == "U" else torch.from_numpy(value)
            for key, value in stored.items()
        }


def load(
    name: str, build: Callable[[dict[str, Any]], Network], *, weights: str = "weights"
) -> tuple[Network, dict[str, Any]]:
    """A trained network, in evaluation mode, and what its file says about it.

    That is the file's ``about``, or all its other arrays, and ``build`` makes the network from it.
    All parameters are in one vector under ``weights``, or each part of the state under its name.
    """
    found = contents(name)
    row = found.pop(weights, None)
    about = json.loads(found.pop("about")) if "about" in found else found
    network = built(lambda: build(about))
    if row is None:
        network.load_state_dict(found)
    else:
        row = row.to(next(network.parameters()))
        nn.utils.vector_to_parameters(row, network.parameters())
    return network.eval(), about


def built(build: Callable[[], Network]) -> Network:
    """Call ``build`` without advancing the random state, since its weights are replaced anyway."""
    with torch.random.fork_rng(devices=[]):
        return build()
