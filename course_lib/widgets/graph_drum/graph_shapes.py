"""Small graphs with a place in the plane for each node: the drums that GraphDrum brings along."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Shape = tuple[NDArray[Any], NDArray[Any]]  # places (nodes, 2) and pairs of nodes (P, 2)


def circle(count: int) -> NDArray[Any]:
    """Points on the unit circle, ``(count, 2)``."""
    angle = 2 * math.pi * np.arange(count) / count
    return np.stack((np.cos(angle), np.sin(angle)), axis=1)


def _joined(places: NDArray[Any]) -> Shape:
    """Points, and all pairs of them at the distance 1."""
    apart = np.linalg.norm(places[:, None] - places[None], axis=-1)
    return places, np.argwhere(np.triu(np.isclose(apart, 1.0, atol=1e-6)))


def _disc(radius: int) -> NDArray[Any]:
    """The points of a triangular lattice within a hexagon, row by row."""
    reach = range(-radius, radius + 1)
    cells = [(a, b) for b in reach for a in reach if abs(a + b) <= radius]
    return np.array([(a + b / 2, b * math.sqrt(3) / 2) for a, b in cells])


def _drum() -> Shape:
    return _joined(_disc(4))


def _path() -> Shape:
    line = np.arange(36.0)
    return _joined(np.stack((line, np.zeros_like(line)), axis=1))


def _ring() -> Shape:
    line = np.arange(36)
    return circle(36), np.stack((line, (line + 1) % 36), axis=1)


def _dumbbell() -> Shape:
    bridge = np.array([(-0.5, 0.0), (0.5, 0.0)])
    clubs = [_disc(2) + np.array([side, 0.0]) for side in (-3.5, 3.5)]
    return _joined(np.concatenate((clubs[0], bridge, clubs[1])))


def _coronene() -> Shape:
    """The carbon atoms of coronene, the corners of seven hexagons."""
    corners = circle(6)[:, ::-1]
    centres = math.sqrt(3) * _disc(1)
    return _joined(np.unique((centres[:, None] + corners).reshape(-1, 2).round(9), axis=0))


def _tree() -> Shape:
    """A binary tree, its root in the middle."""
    nodes = np.arange(1, 32)
    level = np.floor(np.log2(nodes))
    angle = 2 * math.pi * (nodes - 2**level + 0.5) / 2**level
    places = level[:, None] * np.stack((np.cos(angle), np.sin(angle)), axis=1)
    return places, np.stack((nodes[1:] // 2 - 1, nodes[1:] - 1), axis=1)


SHAPES: dict[str, tuple[str, Callable[[], Shape]]] = {
    "drum": ("Drum", _drum),
    "path": ("Path", _path),
    "ring": ("Ring", _ring),
    "dumbbell": ("Two clubs and a bridge", _dumbbell),
    "molecule": ("Molecule (coronene)", _coronene),
    "tree": ("Tree", _tree),
}
