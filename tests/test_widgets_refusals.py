"""What a widget refuses: in its constructor, on assignment, and from the page. A table for all."""

import inspect
import json

import numpy as np
import pytest
import torch
import traitlets
from small_widgets import (
    ARGUMENTS,
    BESIDE,
    QUERY,
    TABLE,
    UNIFORM,
    astromer,
    basis_field,
    decoder,
    encoder,
    ethanol,
    jets,
    make,
    molecule_network,
    particle_transformer,
    seeded,
    style_vae,
    swing,
    typefaces,
    watched_stars,
)
from torch import nn

from course_lib import mechanics, widgets
from course_lib.autoencoder import VAE
from course_lib.graph import GraphConv
from course_lib.molecule_network import MoleculeNetwork
from course_lib.symplectic import SympNet
from course_lib.transformer import Decoder, Encoder
from course_lib.widgets.basis_explorer import read_off
from course_lib.widgets.drawings import drawing_of
from course_lib.widgets.traits import Array

# Widgets check what they are given themselves, and their messages are what is tested here.
pytestmark = pytest.mark.usefixtures("plain_calls")

LONG = "x" * 81
LOST = swing()._replace(energy=torch.full((101,), torch.nan))


def off(amount: float) -> np.ndarray:
    weights = UNIFORM.copy()
    weights[1, 0, 2, 0] += amount
    return weights


def diverged(model: nn.Module) -> nn.Module:
    with torch.no_grad():
        next(model.parameters()).view(-1)[0] = torch.nan
    return model


def unmeasured() -> nn.Module:
    model = particle_transformer()
    model.standard.scale[3] = torch.inf
    return model


def cell(kind: str = "LSTM", letters: int = 5, units: int = 4, **options: object) -> nn.Module:
    return seeded(getattr(nn, kind), letters, units, **options)


def drawing(**changes: object) -> dict:
    return drawing_of(ethanol()) | changes


# Of each rule one case. What a trait's type asks of its values is tested in test_traits.py; here
# stands which trait has which bounds, and what goes together.
REFUSED = [
    ("AttentionExplorer", "tokens", []),
    ("AttentionExplorer", "tokens", ["x"] * 65),
    ("AttentionExplorer", "tokens", [LONG, "b", "c"]),
    ("AttentionExplorer", "weights", UNIFORM[0]),
    ("AttentionExplorer", "weights", UNIFORM[None]),
    ("AttentionExplorer", "weights", np.full((1, 1, 3, 4), 0.25)),
    ("AttentionExplorer", "weights", np.full((1, 1, 4, 4), 0.25)),
    ("AttentionExplorer", "weights", off(0.25)),
    ("AttentionExplorer", "weights", off(2e-3)),
    ("AttentionExplorer", "weights", off(-2e-3)),
    ("AttentionExplorer", "weights", off(-0.5)),
    ("AttentionExplorer", "steps", [0, 1]),
    ("AttentionExplorer", "steps", []),
    ("AttentionExplorer", "steps", 5),
    ("AttentionExplorer", "steps", "ab"),
    ("AttentionExplorer", "attention", 3),
    ("AttentionExplorer", "layer", 2),
    ("AttentionExplorer", "head", 3),
    ("AttentionExplorer", "query", 3),
    ("AttentionExplorer", "step", 1),
    ("AttentionExplorer", "step", None),
    ("AttentionExplorer", "temperature", 0.09),
    ("AttentionExplorer", "guesses", [[1.0]] * 3),
    ("AttentionExplorer", "losses", [[1.0]]),
    ("AttentionExplorer", "vocabulary", ["a", "a"]),
    ("AttentionExplorer", "vocabulary", list(map(str, range(257)))),
    ("EnergyDrift", "system", mechanics.RigidBody()),
    ("BasisExplorer", "field", nn.Linear(5, 4)),
    ("BasisExplorer", "field", basis_field(d_z=1)[0]),
    ("BasisExplorer", "field", basis_field(18, heads=9)[0]),
    ("BasisExplorer", "field", basis_field(64, d_hidden=256)[0]),
    ("BasisExplorer", "field", diverged(basis_field()[0])),
    ("BasisExplorer", "about", None),
    ("BasisExplorer", "about", {"seed": 0}),
    ("BasisExplorer", "about", {"sensors": 2}),
    ("BasisExplorer", "about", {"sensors": 65}),
    ("BasisExplorer", "mode", "hats"),
    ("BasisExplorer", "points", [[0, 0], [0.5, 0]]),
    ("BasisExplorer", "points", [[0, 0], [0.6, 0], [0.5, 0], [1, 0]]),
    ("BasisExplorer", "points", [[0, 0], [0.005, 0], [1, 0]]),
    ("BasisExplorer", "points", [[0, 0], [1, 2]]),
    ("BasisExplorer", "points", [[0], [1]]),
    ("BasisExplorer", "points", read_off(np.linspace(0, 1, 17))),
    ("BasisExplorer", "points", [[0, 0]]),
    ("BasisExplorer", "temperature", 0.0),
    ("BasisExplorer", "query", 1.1),
    ("BasisExplorer", "log_conductivity", np.zeros(124)),
    ("BasisExplorer", "log_conductivity", np.full(125, 3.6)),
    ("BasisExplorer", "load", np.full(125, -3.6)),
    ("BasisExplorer", "head", 2),
    ("BreakIt", "claim", "softmax"),
    ("BreakIt", "bend", 1.5),
    ("BreakIt", "seed", -1),
    ("EnergyDrift", "system", "Kepler"),
    ("EnergyDrift", "q", [1.0]),
    ("EnergyDrift", "q", [1e38, 0]),
    ("EnergyDrift", "p", [0, 1e38]),
    ("EnergyDrift", "q", [0, 0]),
    ("EnergyDrift", "dt", 0.0),
    ("EnergyDrift", "steps", 99),
    ("EnergyDrift", "steps", 1e3),
    ("EnergyDrift", "plane", 3),
    ("EnergyDrift", "methods", ["leapfrog"]),
    ("EnergyDrift", "methods", "explicit_euler"),
    ("EnergyDrift", "methods", []),
    ("EnergyDrift", "steppers", [len]),
    ("EnergyDrift", "steppers", {"mine": 3}),
    ("EnergyDrift", "rollouts", [1]),
    ("EnergyDrift", "rollouts", {"mine": 3}),
    ("EnergyDrift", "rollouts", {LONG: swing()}),
    ("EnergyDrift", "rollouts", {1: swing()}),
    ("EnergyDrift", "rollouts", dict.fromkeys(map(str, range(1300)), 1)),
    ("EnergyDrift", "rollouts", dict.fromkeys("abcdef", 1)),
    ("EnergyDrift", "rollouts", {"r": swing()}),
    ("EnergyDrift", "rollouts", {"r": swing(5, (3, 1))}),
    ("GateExplorer", "alphabet", ""),
    ("GateExplorer", "alphabet", "abcda"),
    ("GateExplorer", "alphabet", list("abcde")),
    ("GateExplorer", "alphabet", "abcdef"),
    ("GateExplorer", "text", ""),
    ("GateExplorer", "text", "a" * 25),
    ("GateExplorer", "text", "aXb"),
    ("GateExplorer", "text", None),
    ("GateExplorer", "quantity", "reset"),
    ("GateExplorer", "order", "fame"),
    ("GateExplorer", "unit", 4),
    ("GateExplorer", "letter", 4),
    ("GateExplorer", "cell", nn.Linear(5, 4)),
    ("GateExplorer", "cell", "LSTM"),
    ("GateExplorer", "cell", nn.LSTMCell(5, 4)),
    ("GateExplorer", "cell", cell(num_layers=2)),
    ("GateExplorer", "cell", cell(bidirectional=True)),
    ("GateExplorer", "cell", cell(proj_size=2)),
    ("GateExplorer", "cell", cell("RNN", nonlinearity="relu")),
    ("GateExplorer", "cell", cell(bias=False)),
    ("GateExplorer", "cell", cell(units=65)),
    ("GateExplorer", "cell", diverged(cell())),
    ("GateExplorer", "labels", None),
    ("GateExplorer", "readout", None),
    ("GateExplorer", "labels", ["f"]),
    ("GateExplorer", "labels", list("abcdefg")),
    ("GateExplorer", "labels", ["f", "f"]),
    ("GateExplorer", "labels", ["a", "b", "c"]),
    ("GateExplorer", "labels", []),
    ("GateExplorer", "labels", ["f", LONG]),
    ("GateExplorer", "readout", nn.Linear(5, 2)),
    ("GateExplorer", "readout", torch.ones(2, 4)),
    ("GraphDrum", "graph", "harp"),
    ("GraphDrum", "start", "kick"),
    ("GraphDrum", "node", 99),
    ("GraphDrum", "mode", -1),
    ("GraphDrum", "height", 1.5),
    ("GraphDrum", "seed", -1),
    ("GraphDrum", "stir", 2.0),
    ("GraphDrum", "stiffness", 0.0),
    ("GraphPlayground", "molecules", []),
    ("GraphPlayground", "molecules", [ethanol()] * 2),
    ("GraphPlayground", "molecules", [ethanol("")]),
    ("GraphPlayground", "molecules", [ethanol("wax", 24)]),
    ("GraphPlayground", "molecules", ["CCO"]),
    ("GraphPlayground", "network", nn.Linear(5, 4)),
    ("GraphPlayground", "network", MoleculeNetwork(lambda d: GraphConv(d, d))),
    ("GraphPlayground", "network", molecule_network(d=64)),
    ("GraphPlayground", "network", diverged(molecule_network())),
    ("GraphPlayground", "drawing", 3),
    ("GraphPlayground", "drawing", {"name": "x"}),
    ("GraphPlayground", "drawing", drawing(name=LONG)),
    ("GraphPlayground", "drawing", drawing(element=["C", "C", "X"])),
    ("GraphPlayground", "drawing", drawing(charge=[0, 0])),
    ("GraphPlayground", "drawing", drawing(charge=[0, 0, 2])),
    ("GraphPlayground", "drawing", drawing(hydrogens=[0, 0, 9])),
    ("GraphPlayground", "drawing", drawing(place=[[0, 9]] * 3)),
    ("GraphPlayground", "drawing", drawing(bonds=[[0, 3, 1]])),
    ("GraphPlayground", "drawing", drawing(bonds=[[1, 0, 1]])),
    ("GraphPlayground", "drawing", drawing(bonds=[[0, 1, 5]])),
    ("GraphPlayground", "drawing", drawing(bonds=[[0, 1, 1]] * 2)),
    ("GraphPlayground", "rounds", 7),
    ("GraphPlayground", "layer", "max"),
    ("GraphPlayground", "atom", 3),
    ("GraphPlayground", "partner", 3),
    ("GraphPlayground", "other", 2),
    ("GraphPlayground", "drag", "turns"),
    ("JetExplorer", "model", nn.Linear(3, 2)),
    ("JetExplorer", "model", particle_transformer(classes=4)),
    ("JetExplorer", "model", particle_transformer(d_pair_features=3)),
    ("JetExplorer", "model", particle_transformer(64, layers=4)),
    ("JetExplorer", "model", diverged(particle_transformer())),
    ("JetExplorer", "model", unmeasured()),
    ("JetExplorer", "jets", [1, 2]),
    ("JetExplorer", "jets", jets()[:0]),
    ("JetExplorer", "jets", jets((49,), places=50)),
    ("JetExplorer", "jet", 3),
    ("JetExplorer", "kept", 0),
    ("JetExplorer", "kept", 8),
    ("JetExplorer", "gone", [7]),
    ("JetExplorer", "gone", [1, 1]),
    ("JetExplorer", "particle", 7),
    ("JetExplorer", "layer", 2),
    ("JetExplorer", "head", 2),
    ("LatentExplorer", "vae", nn.Linear(3, 2)),
    ("LatentExplorer", "vae", VAE(4, 2)),
    ("LatentExplorer", "vae", style_vae(1)),
    ("LatentExplorer", "vae", diverged(style_vae())),
    ("LatentExplorer", "vae", style_vae(d_hidden=600)),
    ("LatentExplorer", "typefaces", ["Sans"]),
    ("LatentExplorer", "typefaces", typefaces((*BESIDE, LONG))),
    ("LatentExplorer", "typefaces", typefaces((*BESIDE, ""))),
    ("LatentExplorer", "beside", "Sans Bold"),
    ("LatentExplorer", "beside", [1, 2]),
    ("LatentExplorer", "beside", ["Sans Bold", "Sand"]),
    ("LatentExplorer", "beside", ["Sans Bold"]),
    ("LatentExplorer", "beside", ["Sans Bold"] * 2),
    ("LatentExplorer", "z", [1.0, 2.0]),
    ("LatentExplorer", "z", [0.0, 0.0, np.nan]),
    ("LatentExplorer", "z", [0.0, 0.0, 1001.0]),
    ("LatentExplorer", "word", ""),
    ("LatentExplorer", "word", "a1c"),
    ("LatentExplorer", "word", "a" * 15),
    ("LatentExplorer", "plane", 4),
    ("LatentExplorer", "tool", "flight"),
    ("LatentExplorer", "start", 8),
    ("LatentExplorer", "end", -1),
    ("LatentExplorer", "share", 1.5),
    ("LatentExplorer", "family", 2),
    ("LetterHider", "alphabet", "ab·cda"),
    ("LetterHider", "alphabet", "ab·cd"),
    ("LetterHider", "mask", "X"),
    ("LetterHider", "mask", "ab"),
    ("LetterHider", "mask", 2),
    ("LetterHider", "word", ""),
    ("LetterHider", "word", "aXb"),
    ("LetterHider", "word", "a·"),
    ("LetterHider", "word", "abcdeabcd"),
    ("LetterHider", "word", None),
    ("LetterHider", "hidden", [4]),
    ("LetterHider", "hidden", 1),
    ("LetterHider", "hidden", "b"),
    ("LetterHider", "hidden", [True]),
    ("LetterHider", "place", 4),
    ("LetterHider", "option", 6),
    ("LetterHider", "option", 2),
    ("LetterHider", "words", "bead"),
    ("LetterHider", "words", ["bead", 3]),
    ("LetterHider", "words", ["b"] * 9),
    ("LetterHider", "words", ["bead", "X"]),
    ("LetterHider", "model", nn.Linear(5, 4)),
    ("LetterHider", "model", Decoder(6, 8, 2, 1, tokens=8)),
    ("LetterHider", "model", encoder(6, 40)),
    ("LetterHider", "model", encoder(tokens=25)),
    ("LetterHider", "model", encoder(heads=8, layers=3)),
    ("LetterHider", "model", encoder(65)),
    ("LetterHider", "model", encoder(6, 2, d_hidden=5_380, layers=1)),
    ("LetterHider", "model", diverged(encoder())),
    ("MechanicsStage", "system", mechanics.HenonHeiles()),
    ("MechanicsStage", "system", mechanics.RigidBody(weights=(1.0, 2.0, 1.0))),
    ("LiveFigure", "figure", "root"),
    ("LiveFigure", "figure", ["root-d"]),
    ("LiveFigure", "dimension", 0),
    ("LiveFigure", "power", 1.5),
    ("LiveFigure", "seed", -1),
    ("MechanicsStage", "z", [1.0, 2.0]),
    ("MechanicsStage", "z", [0, 0, 1, 1]),
    ("MechanicsStage", "z", [1, 0, 0, 1e6]),
    ("MechanicsStage", "dt", 0.001),
    ("MechanicsStage", "methods", ["leapfrog"]),
    ("MechanicsStage", "methods", "explicit_euler"),
    ("MechanicsStage", "methods", []),
    (
        "MechanicsStage",
        "methods",
        ["explicit_euler", "stoermer_verlet", "runge_kutta_4", "implicit_midpoint"],
    ),
    ("MechanicsStage", "networks", [1]),
    ("MechanicsStage", "networks", {"mine": nn.Linear(4, 4)}),
    ("MechanicsStage", "networks", {"mine": nn.Sequential(nn.Linear(4, 4), nn.Tanh())}),
    (
        "MechanicsStage",
        "networks",
        {"mine": nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 2))},
    ),
    ("MechanicsStage", "networks", {"mine": SympNet(3)}),
    ("MechanicsStage", "networks", {"mine": SympNet(2, width=90)}),
    ("MechanicsStage", "networks", {"mine": diverged(SympNet(2))}),
    ("MechanicsStage", "networks", {name: SympNet(2) for name in "abc"}),
    ("MechanicsStage", "rollouts", [1]),
    ("MechanicsStage", "rollouts", {"mine": 3}),
    ("MechanicsStage", "rollouts", {LONG: swing()}),
    ("MechanicsStage", "rollouts", {"r": swing()}),
    ("PartyMemory", "images", np.zeros((3, 8))),
    ("PartyMemory", "images", np.full((3, 2, 4), 2)),
    ("PartyMemory", "images", np.zeros((9, 2, 4))),
    ("PartyMemory", "images", np.zeros((3, 28, 28))),
    ("PartyMemory", "names", ["Ada", "Ben"]),
    ("PartyMemory", "names", [1, 2, 3]),
    ("PartyMemory", "names", ["Ada", "Ben", LONG]),
    ("PartyMemory", "score", [1.0, 2.0]),
    ("PartyMemory", "score", [1.0, 2.0, 1e39]),
    ("PartyMemory", "gate", [1.0]),
    ("PartyMemory", "keys", [[1.0, 2.0]]),
    ("PartyMemory", "keys", None),
    ("PartyMemory", "queries", None),
    ("PartyMemory", "queries", [[1.0, 0.0]]),
    ("PartyMemory", "queries", {}),
    ("PartyMemory", "queries", {1: [1.0, 0.0]}),
    ("PartyMemory", "queries", {"Who?": [1.0]}),
    ("PartyMemory", "queries", {"Who?": [np.nan, 1]}),
    ("PartyMemory", "queries", {LONG: [1.0, 0.0]}),
    ("PartyMemory", "mode", "telepathy"),
    ("PartyMemory", "decay", 1.5),
    ("PartyMemory", "door", np.nan),
    ("PartyMemory", "temperature", 0.0),
    ("PartyMemory", "question", 2),
    ("PartyMemory", "question", "Who drives?"),
    ("PartyMemory", "question", 0.5),
    ("PartyMemory", "arrived", -1),
    ("PositionExplorer", "tokens", 49),
    ("PositionExplorer", "d_model", 34),
    ("PositionExplorer", "d_model", 5),
    ("PositionExplorer", "kind", "relative"),
    ("PositionExplorer", "kind", "learned"),
    ("PositionExplorer", "learned", TABLE[:, :4]),
    ("PositionExplorer", "learned", TABLE[:7]),
    ("PositionExplorer", "query", [1.0, 2.0]),
    ("PositionExplorer", "key", [np.inf] * 6),
    ("PositionExplorer", "base", 0.5),
    ("PositionExplorer", "seed", -1),
    ("PositionExplorer", "query_position", 8),
    ("PositionExplorer", "key_position", -1),
    ("PositionExplorer", "pair", 3),
    ("Prediction", "kind", "draw"),
    ("Prediction", "question", ""),
    ("Prediction", "answer", "x" * 301),
    ("Prediction", "across", (4, 1)),
    ("Prediction", "across", (2, 4)),
    ("Prediction", "up", (0, 0.5)),
    ("Prediction", "x", [1, 1, 2]),
    ("Prediction", "x", None),
    ("Prediction", "x", [1, 2]),
    ("Prediction", "guess", [0.5] * 24),
    ("Prediction", "guess", [0.5] * 26),
    ("Prediction", "guess", [1.5] * 25),
    ("Prediction", "guess", ["low"] * 25),
    ("SoftLookup", "names", ["Ada"]),
    ("SoftLookup", "names", ["Ada", LONG]),
    ("SoftLookup", "keys", [[0, 0, 0], [1, 1, 1]]),
    ("SoftLookup", "keys", [[0, 0], [1, 2]]),
    ("SoftLookup", "keys", np.zeros((10_000, 2))),
    ("SoftLookup", "values", [1, 2, 3]),
    ("SoftLookup", "unit", LONG),
    ("SoftLookup", "query", [0, 9]),
    ("SoftLookup", "query", [0, 0, 0]),
    ("SoftLookup", "temperature", 0),
    ("SoftLookup", "similarity", "euclid"),
    ("StarExplorer", "stars", ["Mira"]),
    ("StarExplorer", "stars", watched_stars(tuple("abcdefghijklmnopq"), nights=(9,) * 17)),
    ("StarExplorer", "stars", watched_stars(("Mira",) * 3)),
    ("StarExplorer", "stars", watched_stars(("", "a", "b"))),
    ("StarExplorer", "stars", watched_stars((LONG, "a", "b"))),
    ("StarExplorer", "stars", watched_stars(nights=(7, 20, 20))),
    ("StarExplorer", "stars", watched_stars(nights=(9, 121, 20))),
    ("StarExplorer", "stars", watched_stars(days=450)),
    ("StarExplorer", "astromer", nn.Linear(5, 4)),
    ("StarExplorer", "astromer", diverged(astromer())),
    ("StarExplorer", "astromer", astromer(256, d_hidden=1024)),
    ("StarExplorer", "clock", "weeks"),
    ("StarExplorer", "star", 3),
    ("StarExplorer", "period", 0.19),
    ("StarExplorer", "night", 20),
    ("StarExplorer", "hidden", [14]),
    ("StarExplorer", "hidden", list(range(13))),
    ("SymplecticityMeter", "z", np.ones((7, 2))),
    ("SymplecticityMeter", "z", np.ones((3, 4))),
    ("SymplecticityMeter", "z", np.full((3, 2), 3.0)),
    ("SymplecticityMeter", "A", np.eye(3)),
    ("SymplecticityMeter", "A", 200 * np.eye(2)),
    ("SymplecticityMeter", "loop", np.ones((201, 2))),
    ("SymplecticityMeter", "loop", np.ones((4, 2))),
    ("SymplecticityMeter", "loop", 3 * np.eye(2)),
    ("SymplecticityMeter", "softmax", "row"),
    ("SymplecticityMeter", "formula", "2SZA"),
    ("SymplecticityMeter", "experiment", "fall"),
    ("TileStepper", "query", np.ones((10, 4))),
    ("TileStepper", "value", np.ones((11, 3))),
    ("TileStepper", "query", np.ones((25, 3))),
    ("TileStepper", "query", np.ones((10, 9))),
    ("TileStepper", "scale", 0.0),
    ("TileStepper", "bytes_each", 3),
    ("TileStepper", "chip_bytes", 0),
    ("TileStepper", "query_tile", 0),
    ("TileStepper", "key_tile", 13),
    ("TileStepper", "step", 10),
    ("TinyGPT", "alphabet", "·abcd"),
    ("TinyGPT", "start", "X"),
    ("TinyGPT", "stop", 0),
    ("TinyGPT", "prompt", "aXb"),
    ("TinyGPT", "prompt", "a·"),
    ("TinyGPT", "prompt", "abcdeabc"),
    ("TinyGPT", "prompt", None),
    ("TinyGPT", "written", "X"),
    ("TinyGPT", "beginnings", {"x": "X"}),
    ("TinyGPT", "beginnings", {"x": "abcdeabc"}),
    ("TinyGPT", "beginnings", {"x": "a·"}),
    ("TinyGPT", "beginnings", {LONG: "a"}),
    ("TinyGPT", "beginnings", ["a"]),
    ("TinyGPT", "beginnings", dict.fromkeys(map(str, range(13)), "a")),
    ("TinyGPT", "written", "·a"),
    ("TinyGPT", "written", "abcdea"),
    ("TinyGPT", "temperature", 0.0),
    ("TinyGPT", "top_k", 7),
    ("TinyGPT", "top_p", 1.01),
    ("TinyGPT", "seed", -1),
    ("TinyGPT", "draws", -1),
    ("TinyGPT", "place", 8),
    ("TinyGPT", "option", 6),
    ("TinyGPT", "order", "fame"),
    ("TinyGPT", "model", nn.Linear(5, 4)),
    ("TinyGPT", "model", Encoder(8, 2, 1)),
    ("TinyGPT", "model", decoder(cross=True)),
    ("TinyGPT", "model", decoder(kv_heads=1)),
    ("TinyGPT", "model", decoder(6, 64, layers=3)),
    ("TinyGPT", "model", decoder(tokens=65)),
    ("TinyGPT", "model", decoder(heads=8, layers=4)),
    ("TinyGPT", "model", decoder(97)),
    ("TinyGPT", "model", decoder(6, 2, d_hidden=18_000, layers=1)),
    ("TinyGPT", "model", diverged(decoder())),
]
TOGETHER = [
    ("Prediction", {"up": (0.0, 1.0), "ylog": True}),
    ("AttentionExplorer", {"weights": UNIFORM[None], "steps": [0, 1]}),
    ("AttentionExplorer", {"weights": off(1)[None], "steps": [0]}),
    ("BreakIt", {"claim": "softmax-shares", "bend": 0.5}),
    ("AttentionExplorer", {"weights": UNIFORM[None], "steps": [0], "losses": [1.0, 2.0]}),
    ("AttentionExplorer", {"vocabulary": ["a", "b"], "guesses": [[0.5, 0.75]] * 3}),
    ("AttentionExplorer", {"vocabulary": ["a", "b"], "guesses": [[0.5, 0.5]] * 2}),
    ("EnergyDrift", {"system": None, "rollouts": {"lost": LOST}}),
    ("GateExplorer", {"cell": cell("RNN"), "order": "memory"}),
    ("GraphPlayground", {"network": None, "rings": "parts"}),
    ("MechanicsStage", {"system": mechanics.RigidBody(), "networks": {"mine": SympNet(3)}}),
    ("MechanicsStage", {"system": mechanics.RigidBody(), "methods": ["stoermer_verlet"]}),
    ("MechanicsStage", {"system": None, "rollouts": {"short": swing(0)}}),
    ("MechanicsStage", {"system": None, "rollouts": dict.fromkeys("abcd", swing())}),
    ("LatentExplorer", {"beside": ["Sans Bold", "Odd Black"], "tool": "arithmetic"}),
    ("PartyMemory", {"mode": "softmax", "score": None}),
    ("PartyMemory", {"mode": "gate", "score": None}),
    ("PartyMemory", {"mode": "query", "keys": None, "queries": None}),
    ("PartyMemory", {"question": "Who?", "keys": None, "queries": None}),
    ("Prediction", {"kind": "place", "x": None}),
    ("Prediction", {"kind": "place", "x": None, "truth": [5.0]}),
    ("Prediction", {"kind": "choose", "x": None, "options": ["a", "b", "c"], "guess": [0.5]}),
    ("TileStepper", {"query": np.ones((12, 3)), "key": QUERY, "value": QUERY, "causal": True}),
    ("TinyGPT", {"prompt": "", "start": None}),
]


of_every_kind = pytest.mark.parametrize("kind", ARGUMENTS)
# What a message says of an argument in the place of its name.
MODEL = dict.fromkeys(("astromer", "cell", "field", "model", "network", "networks", "vae"), "model")
IN_ITS_PLACE = MODEL | {"beginnings": "prompt", "beside": "name", "z": "q"}


def named(argument: str) -> str:
    """A pattern of what a message must hold."""
    return rf"{argument.rstrip('s')}|\b{IN_ITS_PLACE.get(argument, argument)}\b"


@of_every_kind
def test_a_constructor_refuses_what_cannot_be_drawn_and_names_it(kind):
    for argument, value in [row[1:] for row in REFUSED if row[0] == kind]:
        with pytest.raises((TypeError, ValueError), match=named(argument)):
            make(kind, **{argument: value})
    for changes in [row[1] for row in TOGETHER if row[0] == kind]:
        with pytest.raises(ValueError, match="|".join(name.rstrip("s") for name in changes)):
            make(kind, **changes)
    with pytest.raises(TypeError, match=rf"'temprature'; expected {kind}\("):
        make(kind, temprature=1.0)


# Traits of a widget that is there ----------------------------------------------------------------


def mutable(widget) -> dict:
    return {name: trait for name, trait in widget._declared().items() if not trait.read_only}


def trait_of(widget, argument: str) -> str | None:
    return next((n for n, trait in mutable(widget).items() if trait.called == argument), None)


def state_of(widget) -> dict:
    return json.loads(json.dumps(widget.get_state(list(widget._declared()))))


def sent_by_page(widget, name: str, value: object) -> object:
    trait = widget.traits()[name]
    if isinstance(trait, Array):
        return trait._encode(np.array(value, dtype=np.float32), None)
    return value


WIDGETS = {kind: make(kind) for kind in ARGUMENTS}
# What the constructor makes of an argument before the trait has it.
BEFORE = {
    ("EnergyDrift", "system"),
    ("MechanicsStage", "system"),
    ("PartyMemory", "question"),
    ("TinyGPT", "beginnings"),
}
LATER = [
    (kind, argument, value)
    for kind, argument, value in REFUSED
    if trait_of(WIDGETS[kind], argument)
    and (kind, argument) not in BEFORE
    and (argument, value) != ("methods", [])  # all may be switched off, but not from the start
]


@of_every_kind
def test_an_assignment_and_a_page_are_refused_alike_and_change_nothing(kind, monkeypatch):
    widget = make(kind)
    before, sent, heard = state_of(widget), [], []
    monkeypatch.setattr(widget, "send", sent.append)
    widget.observe(heard.append, list(widget._declared()))
    for argument, value in [row[1:] for row in LATER if row[0] == kind]:
        name = trait_of(widget, argument)
        with pytest.raises((TypeError, ValueError), match=named(argument)):
            setattr(widget, name, value)
        with pytest.raises((TypeError, ValueError)) as caught:
            widget.set_state({name: sent_by_page(widget, name, value)})
        assert sent.pop() == {"refused": str(caught.value)}
    assert state_of(widget) == before
    assert sent == heard == []


CHANGED = {
    "AttentionExplorer": {"layer": 1, "head": 2, "query": 1, "temperature": 2.0, "causal": True},
    "BasisExplorer": {
        "mode": "rod", "points": [[0, 1], [0.5, 0], [1, 1]], "temperature": 1.0, "query": 0.0,
        "log_conductivity": np.ones(125), "load": np.zeros(125), "head": 1,
    },
    "BreakIt": {"bend": 0.5, "seed": 7},
    "EnergyDrift": {
        "system": "Pendulum", "dt": 0.5, "q": np.array([0.5]), "p": np.array([1.0]),
        "plane": 0, "methods": ["runge_kutta_4"],
    },
    "GateExplorer": {
        "text": "a", "letter": 0, "unit": 3, "quantity": "vote", "order": "memory",
        "all_units": True,
    },
    "GraphDrum": {
        "graph": "drum", "start": "random", "node": 60, "height": -0.5, "mode": 60, "seed": 7,
        "stir": 0.5, "stiffness": 1.0,
    },
    "GraphPlayground": {
        "drawing": drawing(bonds=[[0, 2, 2]]), "layer": "attention", "rounds": 5, "rings": "parts",
        "atom": 2, "partner": 1, "other": 1, "drag": "bonds",
    },
    "JetExplorer": {
        "jet": 1, "kept": 4, "gone": [2, 0], "particle": 3, "layer": 1, "head": 1,
    },
    "LatentExplorer": {
        "z": np.array([1.0, -2.0, 0.5]), "word": "zoo", "plane": 2, "tool": "arithmetic",
        "start": 3, "end": 7, "share": 0.5, "family": 1,
    },
    "LetterHider": {
        "word": "beaded", "hidden": [0, 5], "place": 5, "option": 0, "guess_first": False,
        "heads": True,
    },
    "LiveFigure": {"dimension": 200, "power": 0.5, "seed": 7},
    "MechanicsStage": {
        "system": "RigidBody", "z": np.array([1.0, 0.5, 0.25]), "dt": 0.5,
        "methods": ["runge_kutta_4"],
    },
    "PartyMemory": {
        "mode": "query", "decay": 0.1, "door": 1.0, "temperature": 3.0, "question": "Who cooks?",
        "arrived": 1,
    },
    "PositionExplorer": {
        "kind": "rotary", "query_position": 0, "key_position": 7, "pair": 2, "everything": True,
    },
    "Prediction": {"guess": [0.25] * 25, "revealed": True},
    "SoftLookup": {
        "query": np.array([1.0, 1.0]), "key_points": np.ones((2, 2)), "temperature": 1.0,
        "similarity": "dot",
    },
    "StarExplorer": {"star": 1, "period": 2.5, "night": 19, "hidden": [4, 17]},
    "SymplecticityMeter": {
        "z": np.ones((3, 2)), "loop": np.eye(2), "softmax": "matrix", "formula": "full",
        "experiment": "free",
    },
    "TileStepper": {"query_tile": 1, "key_tile": 1, "step": 120, "causal": False},
    "TinyGPT": {
        "prompt": "abcdeab", "written": "", "temperature": 1.5, "top_k": 2, "top_p": 0.5, "seed": 9,
        "draws": 4, "place": 3, "option": 2, "order": "alphabet",
    },
}  # fmt: skip


@of_every_kind
def test_every_state_returns_to_the_first_in_one_message_of_any_order(kind):
    widget = make(kind)
    first = {name: value for name, value in state_of(widget).items() if name in mutable(widget)}
    there = {n: sent_by_page(widget, n, value) for n, value in CHANGED[kind].items()}
    for seed in range(2):
        for message in (there, first):
            names = list(message)
            np.random.default_rng(seed).shuffle(names)
            widget.set_state({name: message[name] for name in names})
            state = state_of(widget)
            wanted = {name: sorted(x) if name == "hidden" else x for name, x in message.items()}
            assert {name: state[name] for name in wanted} == wanted


@of_every_kind
def test_a_message_with_nonsense_in_it_is_refused_as_a_whole(kind):
    widget = make(kind)
    good = {n: sent_by_page(widget, n, value) for n, value in CHANGED[kind].items()}
    before = state_of(widget)
    for argument, value in [row[1:] for row in LATER if row[0] == kind]:
        name = trait_of(widget, argument)
        if name in {"letter", "plane", "place", "step", "written", "q", "p", "hidden"}:
            continue  # whether it is nonsense depends on what comes with it
        bad = {name: sent_by_page(widget, name, value)}
        with pytest.raises((TypeError, ValueError)):
            widget.set_state(good | bad)
        assert state_of(widget) == before


@of_every_kind
def test_what_is_drawn_cannot_be_exchanged_in_python_or_by_the_page(kind):
    widget = make(kind)
    before = state_of(widget)
    fixed = before.keys() - mutable(widget).keys()
    assert fixed
    for name in fixed:
        with pytest.raises(traitlets.TraitError, match="read-only"):
            setattr(widget, name, getattr(widget, name))
        with pytest.raises(ValueError, match=f"{name} came from the page, which cannot change it"):
            widget.set_state({name: before[name]})
    assert state_of(widget) == before


@of_every_kind
def test_an_array_that_arrives_broken_is_refused(kind):
    widget = make(kind)
    arrays = [name for name, trait in mutable(widget).items() if isinstance(trait, Array)]
    good = Array._encode(np.zeros(2, dtype=np.float32), None)
    broken = [
        None, "AAAA", [1.0, 2.0], {}, {"shape": [2]}, good | {"shape": [3]}, good | {"base64": "A"},
        good | {"base64": "ä"}, good | {"shape": "2"},
        Array._encode(np.array([np.nan, np.inf], dtype=np.float32), None),
    ]  # fmt: skip
    for name in arrays:
        before = state_of(widget)
        for value in broken:
            with pytest.raises(ValueError, match=widget.traits()[name].called):
                widget.set_state({name: value})
        assert state_of(widget) == before


# Constructors ------------------------------------------------------------------------------------


def test_help_shows_what_a_constructor_takes():
    shown = inspect.signature(widgets.SoftLookup).parameters
    assert list(shown)[:3] == ["names", "keys", "values"]
    assert shown["temperature"].default == 0.3
    assert shown["temperature"].kind is inspect.Parameter.KEYWORD_ONLY


def test_an_argument_that_is_missing_is_named():
    with pytest.raises(TypeError, match="'values'; expected SoftLookup"):
        widgets.SoftLookup(["Ada"], [[0, 0]])


def test_what_every_widget_of_jupyter_takes_is_passed_on():
    assert make("SoftLookup", layout={"width": "30em"}).layout.width == "30em"
