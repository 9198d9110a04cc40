"""One small widget of each kind, and a page that holds nothing else."""

from pathlib import Path

import numpy as np
import torch

from course_lib import mechanics
from course_lib.widgets import (
    AttentionExplorer,
    EnergyDrift,
    PartyMemory,
    SoftLookup,
    SymplecticityMeter,
    Widget,
)


def soft_lookup(name: str = "Ada") -> Widget:
    return SoftLookup(
        names=[name, "Ben", "Cleo"],
        keys=[[-0.9, 0.8], [1.0, 0.4], [0.2, -1.0]],
        values=[3.0, 40.0, 12.5],
        query=[-0.2, 0.1],
        unit=name,
    )


def party_memory(name: str = "Ada") -> Widget:
    random = np.random.default_rng(3)
    return PartyMemory(
        images=random.uniform(size=(4, 6, 5)),
        names=[name, "Ben", "Cleo", "Dora"],
        score=random.normal(size=4),
        keys=random.normal(size=(4, 3)),
        queries={name: random.normal(size=3), "Who is fun?": random.normal(size=3)},
        arrived=3,
    )


def attention_explorer(name: str = "Ada") -> Widget:
    logits = np.random.default_rng(4).normal(size=(2, 3, 5, 5))
    weights = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    return AttentionExplorer([name, "b", "c", "b", "c"], weights)


def energy_drift(name: str = "Ada") -> Widget:
    pendulum = mechanics.Pendulum()
    q, p = torch.tensor([1.2], dtype=torch.float64), torch.tensor([0.0], dtype=torch.float64)
    run = mechanics.integrate(pendulum, q, p, dt=0.1, steps=500)
    return EnergyDrift(pendulum, q=q, p=p, dt=0.1, steps=500, rollouts={name: run})


def symplecticity_meter(name: str = "Ada") -> Widget:  # noqa: ARG001 - it takes numbers alone
    random = np.random.default_rng(5)
    return SymplecticityMeter(random.normal(size=(3, 2)), random.normal(size=(2, 2)))


MAKERS = {
    "AttentionExplorer": attention_explorer,
    "EnergyDrift": energy_drift,
    "PartyMemory": party_memory,
    "SoftLookup": soft_lookup,
    "SymplecticityMeter": symplecticity_meter,
}

TAKE_TEXT = sorted(MAKERS.keys() - {"SymplecticityMeter"})


def bare_page(folder: Path, *shown: Widget, below: str = "") -> str:
    """A page that holds the widgets and nothing else but what comes ``below``; its address."""
    parts = "".join(widget.static_html() for widget in shown) + below
    path = folder / "bare.html"
    path.write_text(
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>bare</title></head>'
        f"<body><main><h1>bare</h1>{parts}</main></body></html>",
        encoding="utf-8",
    )
    return path.as_uri()
