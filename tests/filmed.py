"""Snapshots of attention as a page has them."""

import base64
from typing import Any

import numpy as np
import torch
from torch import Tensor

from course_lib.widgets.traits import Array


def weights_of(travelled: Tensor | dict[str, Any]) -> Tensor:
    """Snapshots as a page has them: all but the last in steps of 1/255, of a row all but one."""
    if isinstance(travelled, Tensor):
        return travelled if travelled.dim() == 5 else travelled[None]
    shape = travelled["shape"]
    count = shape[-1]
    kept = np.tri(count, k=-1, dtype=bool)
    if not travelled["causal"]:
        kept = np.broadcast_to(np.arange(count) < count - 1, (count, count))
    levels = np.zeros(shape)
    film = np.frombuffer(base64.b64decode(travelled["film"]), dtype=np.uint8)
    levels[..., kept] = film.reshape(*shape[:-2], -1)
    ends = np.arange(count) if travelled["causal"] else np.full(count, count - 1)
    levels[..., np.arange(count), ends] = 255 - levels.sum(-1)
    weights = torch.from_numpy(levels / 255)
    weights[-1] = torch.from_numpy(Array._decode(travelled["last"], None)).double()
    return weights


def expected_next(travelled: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """The most probable ids at each snapshot and place, and their probabilities."""
    ids, shares = (
        np.frombuffer(base64.b64decode(travelled[name]), dtype=np.uint8).reshape(travelled["shape"])
        for name in ("ids", "shares")
    )
    return ids, shares / 255
