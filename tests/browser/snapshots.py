"""Snapshots of attention as a page has them."""

import base64
from typing import Any

import numpy as np
import torch
from torch import Tensor

from course_lib.widgets.kit.traits import Array


def weights_of(travelled: Tensor | dict[str, Any]) -> Tensor:
    """Snapshots as in a page: the last exact, the others in 1/255, without one entry per row."""
    if isinstance(travelled, Tensor):
        return travelled if travelled.dim() == 5 else travelled[None]
    shape = travelled["shape"]
    queries, count = shape[-2:]
    kept = np.tri(count, k=-1, dtype=bool)
    if not travelled["causal"]:
        kept = np.broadcast_to(np.arange(count) < count - 1, (queries, count))
    levels = np.zeros([shape[0] - 1, *shape[1:]])
    film = np.frombuffer(base64.b64decode(travelled["film"]), dtype=np.uint8)
    levels[..., kept] = film.reshape(*levels.shape[:-2], kept.sum())
    ends = np.arange(count) if travelled["causal"] else np.full(queries, count - 1)
    levels[..., np.arange(queries), ends] = 255 - levels.sum(-1)
    exact = np.zeros([1, *shape[1:]])
    seen = np.tri(count, dtype=bool) if travelled["causal"] else np.ones(shape[-2:], dtype=bool)
    exact[..., seen] = Array._decode(travelled["last"], None)
    return torch.from_numpy(np.concatenate([levels / 255, exact]))


def expected_next(travelled: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """The most probable ids at each snapshot and place, then rivals, and their probabilities."""
    ids, shares = (
        np.frombuffer(base64.b64decode(travelled[name]), dtype=np.uint8).reshape(travelled["shape"])
        for name in ("ids", "shares")
    )
    return ids, shares / 255
