"""One small widget of each kind, and a page that holds nothing else."""

from pathlib import Path

import numpy as np
import torch

from course_lib import mechanics
from course_lib.masked_language_model import MaskedLanguageModel
from course_lib.transformer import Decoder
from course_lib.widgets import (
    AttentionExplorer,
    EnergyDrift,
    GateExplorer,
    LetterHider,
    PartyMemory,
    PositionExplorer,
    SoftLookup,
    SymplecticityMeter,
    TileStepper,
    TinyGPT,
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


def gate_explorer(name: str = "Ada") -> Widget:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(7)
        cell, readout = torch.nn.LSTM(6, 5), torch.nn.Linear(5, 2)
    with torch.no_grad():
        for parameter in (*cell.parameters(), *readout.parameters()):
            parameter.mul_(3)
    return GateExplorer(
        cell, "abcde ", text="bad cab", readout=readout, labels=[name, "b"], unit=2, letter=4
    )


def letter_hider(name: str = "Ada") -> Widget:  # noqa: ARG001 - it takes single letters alone
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(10)
        model = MaskedLanguageModel(8, 8, 2, 2, tokens=9)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(2)
    return LetterHider(
        model, "·abcde<f", mask="·", word="badface", hidden=[2, 5], words=["cab", "deface", "bead"]
    )


def position_explorer(name: str = "Ada") -> Widget:  # noqa: ARG001 - it takes numbers alone
    table = np.random.default_rng(8).normal(size=(24, 6))
    return PositionExplorer(tokens=24, d_model=6, learned=table, base=100)


def symplecticity_meter(name: str = "Ada") -> Widget:  # noqa: ARG001 - it takes numbers alone
    random = np.random.default_rng(5)
    return SymplecticityMeter(random.normal(size=(3, 2)), random.normal(size=(2, 2)))


def tile_stepper(name: str = "Ada") -> Widget:  # noqa: ARG001 - it takes numbers alone
    random = np.random.default_rng(6)
    query, key, value = random.normal(size=(10, 3)), *random.normal(size=(2, 11, 3))
    return TileStepper(query, key, value, query_tile=4, key_tile=3, causal=True, step=5)


def tiny_gpt(name: str = "Ada") -> Widget:  # noqa: ARG001 - it takes single letters alone
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(9)
        model = Decoder(7, 8, 2, 2, tokens=12)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(2)
    return TinyGPT(
        model, "·abcde<", prompt="bad", written="ce", start="·", stop="·", top_k=5, top_p=0.9
    )


MAKERS = {
    "AttentionExplorer": attention_explorer,
    "EnergyDrift": energy_drift,
    "GateExplorer": gate_explorer,
    "LetterHider": letter_hider,
    "PartyMemory": party_memory,
    "PositionExplorer": position_explorer,
    "SoftLookup": soft_lookup,
    "SymplecticityMeter": symplecticity_meter,
    "TileStepper": tile_stepper,
    "TinyGPT": tiny_gpt,
}

WITHOUT_TEXT = {"LetterHider", "PositionExplorer", "SymplecticityMeter", "TileStepper", "TinyGPT"}
TAKE_TEXT = sorted(MAKERS.keys() - WITHOUT_TEXT)


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
