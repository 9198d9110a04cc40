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
    ("AttentionExplorer", "tokens", [], "tokens is empty; give 1 at least"),
    ("AttentionExplorer", "tokens", ["x"] * 65, "tokens has 65 entries; expected 1 to 64"),
    ("AttentionExplorer", "tokens", [LONG, "b", "c"], "has 81 letters; expected 80"),
    ("AttentionExplorer", "weights", UNIFORM[0], r"layers, heads, query, key.*\(3, 3, 3\)"),
    ("AttentionExplorer", "weights", UNIFORM[None], r"layers, heads, query, key.*\(1, 2, 3"),
    ("AttentionExplorer", "weights", np.full((1, 1, 3, 4), 0.25), "size 4 along key; expected 3"),
    ("AttentionExplorer", "weights", np.full((1, 1, 4, 4), 0.25), "size 4 along query; expected 3"),
    ("AttentionExplorer", "weights", off(0.25), r"layer 1, head 0, row 2 sums to 1\.25;.*softmax"),
    ("AttentionExplorer", "weights", off(2e-3), "must sum to one"),
    ("AttentionExplorer", "weights", off(-2e-3), "must sum to one"),
    ("AttentionExplorer", "weights", off(-0.5), r"layer 1, head 0, row 2 has the weight -0\.1"),
    ("AttentionExplorer", "steps", [0, 1], "weights needs the axes"),
    ("AttentionExplorer", "steps", [], "steps is empty"),
    ("AttentionExplorer", "steps", 5, TypeError("steps must be a list")),
    ("AttentionExplorer", "steps", "ab", TypeError("steps must be a list")),
    ("AttentionExplorer", "attention", 3, TypeError("attention must be a function")),
    ("AttentionExplorer", "layer", 2, "layer must lie between 0 and 1, since it counts from 0"),
    ("AttentionExplorer", "head", 3, "head must lie between 0 and 2"),
    ("AttentionExplorer", "query", 3, "query must lie between 0 and 2"),
    ("AttentionExplorer", "step", 1, "step must lie between 0 and 0"),
    ("AttentionExplorer", "step", None, TypeError("step must be an integer")),
    ("AttentionExplorer", "temperature", 0.09, "temperature must lie between 0.1 and 10"),
    ("AttentionExplorer", "causal", 1, TypeError("causal must be True or False")),
    ("AttentionExplorer", "guesses", [[1.0]] * 3, "guesses were given without vocabulary"),
    ("AttentionExplorer", "losses", [[1.0]], r"losses needs the axes \(steps\)"),
    ("AttentionExplorer", "vocabulary", ["a", "a"], "vocabulary repeats an entry"),
    (
        "AttentionExplorer",
        "vocabulary",
        list(map(str, range(257))),
        "has 257 entries; expected 256",
    ),
    ("AttentionExplorer", "moving", 1, TypeError("moving must be True or False")),
    (
        "EnergyDrift",
        "system",
        mechanics.RigidBody(),
        TypeError("system is RigidBody; expected one"),
    ),
    ("BasisExplorer", "field", nn.Linear(5, 4), TypeError("field is a Linear; expected a course")),
    ("BasisExplorer", "field", basis_field(d_z=1)[0], "field takes 1 numbers a sensor; expected 2"),
    (
        "BasisExplorer",
        "field",
        basis_field(18, heads=9)[0],
        "field has 9 heads; expected 8 at most",
    ),
    ("BasisExplorer", "field", basis_field(64, d_hidden=256)[0], "more than 33,500 bytes"),
    ("BasisExplorer", "field", diverged(basis_field()[0]), r"model\.measured\.weight holds NaN"),
    (
        "BasisExplorer",
        "about",
        None,
        TypeError("about is None; expected a dict with the number of"),
    ),
    ("BasisExplorer", "about", {"seed": 0}, TypeError("expected a dict with the number of sens")),
    ("BasisExplorer", "about", {"sensors": 2}, r"about\['sensors'\] is 2"),
    ("BasisExplorer", "about", {"sensors": 65}, "about has 65 sensors; expected 64 at most"),
    ("BasisExplorer", "mode", "hats", "mode must be one of nodes, rod"),
    (
        "BasisExplorer",
        "points",
        [[0, 0], [0.5, 0]],
        "points run from x = 0 to 0.5; expected 0 to 1",
    ),
    ("BasisExplorer", "points", [[0, 0], [0.6, 0], [0.5, 0], [1, 0]], "two nodes -0.1 apart"),
    ("BasisExplorer", "points", [[0, 0], [0.005, 0], [1, 0]], "two nodes 0.005 apart"),
    ("BasisExplorer", "points", [[0, 0], [1, 2]], r"must lie within \[-1.5, 1.5\]"),
    ("BasisExplorer", "points", [[0], [1]], "size 1 along xy; expected 2"),
    ("BasisExplorer", "points", read_off(np.linspace(0, 1, 17)), "size 17 along node; expected 16"),
    ("BasisExplorer", "points", [[0, 0]], "points run from x = 0 to 0; expected 0 to 1"),
    ("BasisExplorer", "temperature", 0.0, "temperature must lie between 1e-05 and 10"),
    ("BasisExplorer", "query", 1.1, "query must lie between 0.0 and 1.0"),
    ("BasisExplorer", "log_conductivity", np.zeros(124), "size 124 along place; expected 125"),
    ("BasisExplorer", "log_conductivity", np.full(125, 3.6), r"must lie within \[-3.5, 3.5\]"),
    ("BasisExplorer", "load", np.full(125, -3.6), r"must lie within \[-3.5, 3.5\]"),
    ("BasisExplorer", "head", 2, "head must lie between 0 and 1"),
    ("BasisExplorer", "moving", 1, TypeError("moving must be True or False")),
    ("BreakIt", "claim", "softmax", "claim must be one of softmax-shares, equal-lengths, "),
    ("BreakIt", "bend", 1.5, "bend must lie between 0.0 and 1.0"),
    ("BreakIt", "seed", -1, "seed must lie between 0"),
    ("BreakIt", "moving", 1, TypeError("moving must be True or False")),
    ("EnergyDrift", "system", "Kepler", TypeError("system is str; expected one of")),
    ("EnergyDrift", "q", [1.0], "q has the size 1 along coordinates; expected 2"),
    ("EnergyDrift", "q", [1e38, 0], r"q must lie within \[-1000, 1000\], but reaches"),
    ("EnergyDrift", "p", [0, 1e38], r"p must lie within \[-1000, 1000\]"),
    ("EnergyDrift", "q", [0, 0], r"q is \(0, 0\), the sun itself"),
    ("EnergyDrift", "dt", 0.0, "dt must lie between 0.001 and 1.0, but was given 0.0"),
    ("EnergyDrift", "steps", 99, "steps must lie between 100 and 20000"),
    ("EnergyDrift", "steps", 1e3, TypeError("steps must be an integer")),
    ("EnergyDrift", "plane", 3, "plane must lie between 0 and 2"),
    ("EnergyDrift", "methods", ["leapfrog"], "methods must be one of explicit_euler.*'leapfrog'"),
    ("EnergyDrift", "methods", "explicit_euler", TypeError("methods must be a list of strings")),
    ("EnergyDrift", "methods", [], "methods is empty"),
    ("EnergyDrift", "moving", 1, TypeError("moving must be True or False")),
    ("EnergyDrift", "steppers", [len], TypeError("steppers is a list; expected a dict")),
    ("EnergyDrift", "steppers", {"mine": 3}, TypeError("the stepper 'mine' is 3; expected a fun")),
    ("EnergyDrift", "rollouts", [1], TypeError("rollouts is a list; expected a dict")),
    (
        "EnergyDrift",
        "rollouts",
        {"mine": 3},
        TypeError("the rollout 'mine' is a int; expected a T"),
    ),
    ("EnergyDrift", "rollouts", {LONG: swing()}, "has 81 letters; expected 80"),
    ("EnergyDrift", "rollouts", {1: swing()}, TypeError("rollouts is 1; expected a string")),
    ("EnergyDrift", "rollouts", dict.fromkeys(map(str, range(1300)), 1), "1300 steppers and roll"),
    ("EnergyDrift", "rollouts", dict.fromkeys("abcdef", 1), "6 steppers and rollouts.*5 at most"),
    (
        "EnergyDrift",
        "rollouts",
        {"r": swing()},
        r"states of \(101, 1\); expected .*\(steps \+ 1, 2",
    ),
    ("EnergyDrift", "rollouts", {"r": swing(5, (3, 1))}, r"energies of shape \(3, 6\)"),
    ("GateExplorer", "alphabet", "", "alphabet is empty"),
    ("GateExplorer", "alphabet", "abcda", "alphabet repeats 'a'"),
    (
        "GateExplorer",
        "alphabet",
        list("abcde"),
        TypeError(r"alphabet is \['a'.*''.join\(letters\)"),
    ),
    ("GateExplorer", "alphabet", "abcdef", "cell takes 5 features, but the alphabet has 6 letters"),
    ("GateExplorer", "text", "", "text is empty; expected one letter at least"),
    ("GateExplorer", "text", "a" * 25, "text 'a*' has 25 letters; expected 24 at most"),
    ("GateExplorer", "text", "aXb", "'X', which the alphabet 'abcde' does not have"),
    ("GateExplorer", "text", None, TypeError("text is None; expected a string")),
    ("GateExplorer", "quantity", "reset", "quantity must be one of forget"),
    ("GateExplorer", "order", "fame", "order must be one of number, value, memory"),
    ("GateExplorer", "unit", 4, "unit must lie between 0 and 3"),
    ("GateExplorer", "letter", 4, "letter must lie between 0 and 3"),
    ("GateExplorer", "all_units", 1, TypeError("all_units must be True or False")),
    ("GateExplorer", "moving", 1, TypeError("moving must be True or False")),
    (
        "GateExplorer",
        "cell",
        nn.Linear(5, 4),
        TypeError("cell is a Linear; expected an RNN, GRU or"),
    ),
    ("GateExplorer", "cell", "LSTM", TypeError("cell is a str")),
    ("GateExplorer", "cell", nn.LSTMCell(5, 4), TypeError("cell is a LSTMCell")),
    ("GateExplorer", "cell", cell(num_layers=2), "more than one layer"),
    ("GateExplorer", "cell", cell(bidirectional=True), "cell is bidirectional"),
    ("GateExplorer", "cell", cell(proj_size=2), "projects its hidden state"),
    ("GateExplorer", "cell", cell("RNN", nonlinearity="relu"), "cell uses relu"),
    ("GateExplorer", "cell", cell(bias=False), "no parameter bias_ih_l0, bias_hh_l0"),
    ("GateExplorer", "cell", cell(units=65), "65 units, but at most 64"),
    ("GateExplorer", "cell", diverged(cell()), "cell holds NaN"),
    ("GateExplorer", "labels", None, "readout was given without labels"),
    ("GateExplorer", "readout", None, "labels was given without readout"),
    ("GateExplorer", "labels", ["f"], "labels has 1 entries; expected 2 to 6"),
    ("GateExplorer", "labels", list("abcdefg"), "labels has 7 entries; expected 2 to 6"),
    ("GateExplorer", "labels", ["f", "f"], r"labels repeats an entry in \['f', 'f'\]"),
    ("GateExplorer", "labels", ["a", "b", "c"], "readout has the size 2 along labels; expected 3"),
    ("GateExplorer", "labels", [], "labels is empty; give 2 at least"),
    ("GateExplorer", "labels", ["f", LONG], "has 81 letters; expected 80"),
    (
        "GateExplorer",
        "readout",
        nn.Linear(5, 2),
        r"readout takes 5 features; .*nn.Linear\(4, ...\)",
    ),
    (
        "GateExplorer",
        "readout",
        torch.ones(2, 4),
        TypeError("readout is a Tensor; expected a torch"),
    ),
    (
        "GraphDrum",
        "graph",
        "harp",
        "graph must be one of drum, path, ring, .*, but was given 'harp'",
    ),
    ("GraphDrum", "start", "kick", "start must be one of pluck, mode, random"),
    ("GraphDrum", "node", 99, "node must lie between 0 and 35, since it counts from 0"),
    ("GraphDrum", "mode", -1, "mode must lie between 0 and 35, since it counts from 0"),
    ("GraphDrum", "height", 1.5, "height must lie between -1.0 and 1.0, but was given 1.5"),
    ("GraphDrum", "seed", -1, "seed must lie between 0 and 2147483647"),
    ("GraphDrum", "stir", 2.0, "stir must lie between 0.0 and 1.0"),
    ("GraphDrum", "stiffness", 0.0, "stiffness must lie between 0.01 and 1.0"),
    ("GraphDrum", "moving", 1, TypeError("moving must be True or False")),
    ("GraphPlayground", "moving", 1, TypeError("moving must be True or False")),
    ("GraphPlayground", "molecules", [], "molecules has 0 entries; expected 1 to 8"),
    ("GraphPlayground", "molecules", [ethanol()] * 2, "molecules has 'ethanol' twice"),
    ("GraphPlayground", "molecules", [ethanol("")], "has no name; give it one"),
    ("GraphPlayground", "molecules", [ethanol("wax", 24)], "'wax' has 25 atoms; expected 24"),
    ("GraphPlayground", "molecules", ["CCO"], TypeError("molecules is 'CCO'; expected a course")),
    ("GraphPlayground", "network", nn.Linear(5, 4), TypeError("network is a Linear; expected a")),
    (
        "GraphPlayground",
        "network",
        MoleculeNetwork(lambda d: GraphConv(d, d)),
        TypeError("network has a layer GraphConv; expected BondConv"),
    ),
    ("GraphPlayground", "network", molecule_network(d=64), "26,433 parameters in 520 rows"),
    ("GraphPlayground", "network", diverged(molecule_network()), "embed.weight holds NaN"),
    ("GraphPlayground", "drawing", 3, TypeError("drawing is 3; expected a course_lib.molec")),
    ("GraphPlayground", "drawing", {"name": "x"}, "drawing lacks element, hydrogens"),
    ("GraphPlayground", "drawing", drawing(name=LONG), "has 81 letters; expected 80"),
    ("GraphPlayground", "drawing", drawing(element=["C", "C", "X"]), "'X'; expected one of C, N"),
    ("GraphPlayground", "drawing", drawing(charge=[0, 0]), "has 2 entries for 3 atoms"),
    ("GraphPlayground", "drawing", drawing(charge=[0, 0, 2]), "must lie between -1 and 1"),
    ("GraphPlayground", "drawing", drawing(hydrogens=[0, 0, 9]), "must lie between 0 and 8"),
    ("GraphPlayground", "drawing", drawing(place=[[0, 9]] * 3), r"two numbers within ±4 and ±3"),
    ("GraphPlayground", "drawing", drawing(bonds=[[0, 3, 1]]), "must lie between 0 and 2"),
    ("GraphPlayground", "drawing", drawing(bonds=[[1, 0, 1]]), "the smaller number first"),
    ("GraphPlayground", "drawing", drawing(bonds=[[0, 1, 5]]), "must lie between 1 and 4"),
    (
        "GraphPlayground",
        "drawing",
        drawing(bonds=[[0, 1, 1]] * 2),
        r"bonds the atoms \(0, 1\) twice",
    ),
    ("GraphPlayground", "rounds", 7, "rounds must lie between 0 and 6"),
    ("GraphPlayground", "layer", "max", "layer must be one of sum, normalized, attention"),
    ("GraphPlayground", "atom", 3, "atom must lie between -1 and 2"),
    ("GraphPlayground", "partner", 3, "partner must lie between -1 and 2"),
    ("GraphPlayground", "other", 2, "other must lie between -1 and 1"),
    ("GraphPlayground", "drag", "turns", "drag must be one of moves, bonds"),
    ("JetExplorer", "model", nn.Linear(3, 2), TypeError("model is a Linear; expected a course_l")),
    (
        "JetExplorer",
        "model",
        particle_transformer(classes=4),
        "model has 4 classes, 15 features a particle and 4 a pair; expected 5, 15 and 4",
    ),
    ("JetExplorer", "model", particle_transformer(d_pair_features=3), "and 3 a pair; expected 5,"),
    ("JetExplorer", "model", particle_transformer(64, layers=4), "more than 192,000 bytes"),
    ("JetExplorer", "model", diverged(particle_transformer()), r"model\.class_token holds NaN"),
    ("JetExplorer", "model", unmeasured(), r"model\.standard\.scale holds NaN or infinite"),
    ("JetExplorer", "jets", [1, 2], TypeError("jets is a list; expected course_lib.jets.Jets")),
    ("JetExplorer", "jets", jets()[:0], "jets has no jet; expected one at least"),
    ("JetExplorer", "jets", jets((49,), places=50), "jets has one of 49 particles; expected 48 at"),
    ("JetExplorer", "jet", 3, "jet must lie between 0 and 2"),
    ("JetExplorer", "kept", 0, "kept must lie between 1 and 7"),
    ("JetExplorer", "kept", 8, "kept must lie between 1 and 7"),
    ("JetExplorer", "gone", [7], "gone must lie between 0 and 6"),
    ("JetExplorer", "gone", [1, 1], "gone repeats an entry"),
    ("JetExplorer", "particle", 7, "particle must lie between -1 and 6"),
    ("JetExplorer", "layer", 2, "layer must lie between 0 and 1"),
    ("JetExplorer", "head", 2, "head must lie between -1 and 1"),
    ("JetExplorer", "moving", 1, TypeError("moving must be True or False")),
    ("LatentExplorer", "vae", nn.Linear(3, 2), TypeError("vae is or has a Linear; expected a cou")),
    ("LatentExplorer", "vae", VAE(4, 2), TypeError("vae is or has a Sequential; expected")),
    ("LatentExplorer", "vae", style_vae(1), "vae has d_z 1; expected 2 at least, for the map is a"),
    ("LatentExplorer", "vae", diverged(style_vae()), "vae has weights that are NaN or infinite"),
    (
        "LatentExplorer",
        "vae",
        style_vae(d_hidden=600),
        r"model has 47\d,\d+ parameters .* mor",
    ),
    ("LatentExplorer", "typefaces", ["Sans"], TypeError("typefaces is a list; expected Typefaces")),
    ("LatentExplorer", "typefaces", typefaces((*BESIDE, LONG)), "typefaces.name 'x*….* 81 letters"),
    ("LatentExplorer", "typefaces", typefaces((*BESIDE, "")), "typefaces.name is empty"),
    ("LatentExplorer", "beside", "Sans Bold", TypeError("beside is 'Sans Bold'; expected a list")),
    (
        "LatentExplorer",
        "beside",
        [1, 2],
        TypeError(r"beside is \[1, 2\]; expected a list of n"),
    ),
    ("LatentExplorer", "beside", ["Sans Bold", "Sand"], "name is 'Sand'; expected one of 11 typef"),
    (
        "LatentExplorer",
        "beside",
        ["Sans Bold"],
        "beside has 1 names, 1 of them different; expe",
    ),
    ("LatentExplorer", "beside", ["Sans Bold"] * 2, "2 names, 1 of them different; expected 2 to"),
    ("LatentExplorer", "z", [1.0, 2.0], "z has the size 2 along code; expected 3"),
    ("LatentExplorer", "z", [0.0, 0.0, np.nan], "z holds NaN or infinite values"),
    ("LatentExplorer", "z", [0.0, 0.0, 1001.0], r"z must lie within \[-1000, 1000\]"),
    ("LatentExplorer", "word", "", "word is empty; expected one letter at least"),
    ("LatentExplorer", "word", "a1c", "holds '1', which the alphabet 'abcdefghijklmnopqrstuvwxyz'"),
    ("LatentExplorer", "word", "a" * 15, "has 15 letters; expected 14 at most"),
    ("LatentExplorer", "plane", 4, "plane must lie between 0 and 3"),
    ("LatentExplorer", "tool", "flight", "tool must be one of walk, hand, axes, ar"),
    ("LatentExplorer", "start", 8, "start must lie between 0 and 7"),
    ("LatentExplorer", "end", -1, "end must lie between 0 and 7"),
    ("LatentExplorer", "share", 1.5, "share must lie between 0.0 and 1.0"),
    ("LatentExplorer", "family", 2, "family must lie between 0 and 1"),
    ("LatentExplorer", "moving", 1, TypeError("moving must be True or False")),
    ("LetterHider", "alphabet", "ab·cda", "alphabet repeats 'a'"),
    ("LetterHider", "alphabet", "ab·cd", "alphabet has 5 characters and model 6 ids"),
    ("LetterHider", "mask", "X", "mask is 'X'; expected one character of the alphabet 'ab·cde'"),
    ("LetterHider", "mask", "ab", "mask is 'ab'; expected one character"),
    ("LetterHider", "mask", 2, TypeError("mask is 2; expected a character of the alphabet")),
    ("LetterHider", "word", "", "word is empty; expected one letter at least"),
    ("LetterHider", "word", "aXb", "'X', which the alphabet 'ab·cde' does not have"),
    ("LetterHider", "word", "a·", "'·', which stands for a hidden letter; write the true letter"),
    ("LetterHider", "word", "abcdeabcd", "has 9 letters; expected 8 at most"),
    ("LetterHider", "word", None, TypeError("word is None; expected a string")),
    ("LetterHider", "hidden", [4], "hidden must lie between 0 and 3"),
    ("LetterHider", "hidden", 1, TypeError("hidden must be a list of integers")),
    ("LetterHider", "hidden", "b", TypeError("hidden must be a list of integers")),
    ("LetterHider", "hidden", [True], TypeError("hidden must be an integer")),
    ("LetterHider", "place", 4, "place must lie between -1 and 3"),
    ("LetterHider", "option", 6, "option must lie between -1 and 5"),
    ("LetterHider", "option", 2, "option is 2, the id of the mask; expected that of a letter"),
    ("LetterHider", "guess_first", 1, TypeError("guess_first must be True or False")),
    ("LetterHider", "heads", None, TypeError("heads must be True or False")),
    ("LetterHider", "words", "bead", TypeError("words must be a list of strings")),
    ("LetterHider", "words", ["bead", 3], TypeError("words is 3; expected a string")),
    ("LetterHider", "words", ["b"] * 9, "words has 9 entries; expected 0 to 8"),
    ("LetterHider", "words", ["bead", "X"], "words 'X' holds 'X', which the alphabet"),
    (
        "LetterHider",
        "model",
        nn.Linear(5, 4),
        TypeError("model is a Linear; expected a course_lib"),
    ),
    ("LetterHider", "model", Decoder(6, 8, 2, 1, tokens=8), TypeError("model is a Decoder")),
    ("LetterHider", "model", encoder(6, 40), "40,080 parameters; expected 27,000"),
    ("LetterHider", "model", encoder(tokens=25), "25 positions; expected 24 at most"),
    ("LetterHider", "model", encoder(heads=8, layers=3), "24 heads in all layers; expected 16"),
    ("LetterHider", "model", encoder(65), "65 letters; expected 64 at most"),
    ("LetterHider", "model", encoder(6, 2, d_hidden=5_380, layers=1), "more than 33,200 bytes"),
    ("LetterHider", "model", diverged(encoder()), r"model\.embedding\.token\.weight holds NaN"),
    (
        "MechanicsStage",
        "system",
        mechanics.HenonHeiles(),
        TypeError("system is HenonHeiles; expected one of Pendulum"),
    ),
    (
        "MechanicsStage",
        "system",
        mechanics.RigidBody(weights=(1.0, 2.0, 1.0)),
        "system has the weights .*; expected ones",
    ),
    ("LiveFigure", "figure", "root", "figure must be one of root-d, "),
    ("LiveFigure", "figure", ["root-d"], "figure must be one of root-d, "),
    ("LiveFigure", "dimension", 0, "dimension must lie between 1 and 1024, but was given 0"),
    ("LiveFigure", "power", 1.5, "power must lie between 0.0 and 1.0"),
    ("LiveFigure", "seed", -1, "seed must lie between 0 and 999"),
    ("MechanicsStage", "z", [1.0, 2.0], "z has the size 2 along coordinates; expected 4"),
    ("MechanicsStage", "z", [0, 0, 1, 1], r"q is \(0, 0\), the sun itself"),
    ("MechanicsStage", "z", [1, 0, 0, 1e6], r"z must lie within \[-1000, 1000\]"),
    ("MechanicsStage", "dt", 0.001, "dt must lie between 0.01 and 1.0"),
    ("MechanicsStage", "methods", ["leapfrog"], "methods must be one of explicit_euler.*leapfrog"),
    ("MechanicsStage", "methods", "explicit_euler", TypeError("methods must be a list of strings")),
    ("MechanicsStage", "methods", [], "methods is empty; give at least one"),
    (
        "MechanicsStage",
        "methods",
        ["explicit_euler", "stoermer_verlet", "runge_kutta_4", "implicit_midpoint"],
        "methods and rollouts are 4 together; expected 3 at most",
    ),
    ("MechanicsStage", "networks", [1], TypeError("networks is a list; expected a dict")),
    (
        "MechanicsStage",
        "networks",
        {"mine": nn.Linear(4, 4)},
        TypeError("the network 'mine' is a Linear; expected a SympNet, or an nn.Sequential"),
    ),
    (
        "MechanicsStage",
        "networks",
        {"mine": nn.Sequential(nn.Linear(4, 4), nn.Tanh())},
        TypeError("the network 'mine' is a Sequential; expected .* Tanh between them"),
    ),
    (
        "MechanicsStage",
        "networks",
        {"mine": nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 2))},
        r"has the sizes \[4, 2\], but Kepler has 2 pairs \(q, p\); expected \[4, 4\]",
    ),
    ("MechanicsStage", "networks", {"mine": SympNet(3)}, r"has the sizes \[3\].*expected \[2\]"),
    ("MechanicsStage", "networks", {"mine": SympNet(2, width=90)}, "has 2,880 parameters"),
    ("MechanicsStage", "networks", {"mine": diverged(SympNet(2))}, "network 'mine' holds NaN"),
    (
        "MechanicsStage",
        "networks",
        {name: SympNet(2) for name in "abc"},
        "networks with the true motion are 4 together; expected 3 at most",
    ),
    ("MechanicsStage", "rollouts", [1], TypeError("rollouts is a list; expected a dict")),
    (
        "MechanicsStage",
        "rollouts",
        {"mine": 3},
        TypeError("the rollout 'mine' is a int; expected a T"),
    ),
    ("MechanicsStage", "rollouts", {LONG: swing()}, "has 81 letters; expected 80"),
    (
        "MechanicsStage",
        "rollouts",
        {"r": swing()},
        r"states of \(101, 1\); expected .*\(steps \+ 1, 2",
    ),
    ("MechanicsStage", "moving", 1, TypeError("moving must be True or False")),
    ("PartyMemory", "images", np.zeros((3, 8)), r"axes \(guests, height, width\)"),
    ("PartyMemory", "images", np.full((3, 2, 4), 2), r"images must lie within \[0, 1\]"),
    ("PartyMemory", "images", np.zeros((9, 2, 4)), "size 9 along guests; expected 8 at most"),
    ("PartyMemory", "images", np.zeros((3, 28, 28)), "size 784 along height times width"),
    (
        "PartyMemory",
        "names",
        ["Ada", "Ben"],
        "names has the size 2 along guests; expected 3, as in",
    ),
    ("PartyMemory", "names", [1, 2, 3], TypeError("names is 1; expected a string")),
    ("PartyMemory", "names", ["Ada", "Ben", LONG], "has 81 letters; expected 80"),
    ("PartyMemory", "score", [1.0, 2.0], "score has the size 2 along guests; expected 3"),
    ("PartyMemory", "score", [1.0, 2.0, 1e39], r"score reaches 1e\+39, which float32 cannot hold"),
    ("PartyMemory", "gate", [1.0], "gate has the size 1 along guests; expected 3"),
    ("PartyMemory", "keys", [[1.0, 2.0]], "keys has the size 1 along guests; expected 3"),
    ("PartyMemory", "keys", None, "queries were given without keys"),
    ("PartyMemory", "queries", None, "keys were given without queries"),
    ("PartyMemory", "queries", [[1.0, 0.0]], TypeError("queries is a list; expected a dict")),
    ("PartyMemory", "queries", {}, "queries needs the axes"),
    ("PartyMemory", "queries", {1: [1.0, 0.0]}, TypeError("queries is 1; expected a string")),
    (
        "PartyMemory",
        "queries",
        {"Who?": [1.0]},
        "queries has the size 1 along d; expected 2, as in",
    ),
    ("PartyMemory", "queries", {"Who?": [np.nan, 1]}, r"queries\['Who\?'\] holds NaN"),
    ("PartyMemory", "queries", {LONG: [1.0, 0.0]}, "has 81 letters; expected 80"),
    ("PartyMemory", "mode", "telepathy", "mode must be one of composite"),
    ("PartyMemory", "decay", 1.5, "decay must lie between 0.0 and 1.0"),
    ("PartyMemory", "door", np.nan, "door must lie between -8.0 and 8.0"),
    ("PartyMemory", "temperature", 0.0, "temperature must lie between 0.05 and 20.0"),
    ("PartyMemory", "question", 2, "question is 2; expected 0 to 1"),
    ("PartyMemory", "question", "Who drives?", "question must be one of Who sings"),
    ("PartyMemory", "question", 0.5, TypeError("question must be its text or its index")),
    ("PartyMemory", "arrived", -1, "arrived must lie between 0 and 3"),
    ("PositionExplorer", "tokens", 49, "tokens must lie between 2 and 48"),
    ("PositionExplorer", "d_model", 34, "d_model must lie between 2 and 32"),
    ("PositionExplorer", "d_model", 5, "d_model is 5; expected an even number"),
    (
        "PositionExplorer",
        "kind",
        "relative",
        "kind must be one of none, sinusoidal, learned, rotary",
    ),
    (
        "PositionExplorer",
        "kind",
        "learned",
        "kind 'learned' needs a trained table as learned; pass",
    ),
    (
        "PositionExplorer",
        "learned",
        TABLE[:, :4],
        "size 4 along d_model; expected 6, as in d_model",
    ),
    ("PositionExplorer", "learned", TABLE[:7], r"\(7, 6\); expected a row for each of 8"),
    ("PositionExplorer", "query", [1.0, 2.0], "query has the size 2 along d_model; expected 6"),
    ("PositionExplorer", "key", [np.inf] * 6, "key holds NaN or infinite"),
    ("PositionExplorer", "base", 0.5, "base must lie between 1 and 1000000000.0"),
    ("PositionExplorer", "seed", -1, "seed is -1"),
    ("PositionExplorer", "query_position", 8, "query_position must lie between 0 and 7"),
    ("PositionExplorer", "key_position", -1, "key_position must lie between 0 and 7"),
    ("PositionExplorer", "pair", 3, "pair must lie between 0 and 2"),
    ("PositionExplorer", "everything", 1, TypeError("everything must be True or False")),
    ("PositionExplorer", "moving", 1, TypeError("moving must be True or False")),
    ("Prediction", "kind", "draw", "kind must be one of sketch, choose, place"),
    ("Prediction", "question", "", "question is empty"),
    ("Prediction", "answer", "x" * 301, "has 301 letters; expected 300"),
    ("Prediction", "across", (4, 1), "across reaches from 4 to 1; expected the lower end first"),
    ("Prediction", "across", (2, 4), "x reaches from 1 to 4, beyond the axis from 2 to 4; widen"),
    ("Prediction", "up", (0, 0.5), r"truth reaches from 0\.2 to 0\.9, beyond.*widen up"),
    ("Prediction", "ylog", True, "up reaches from 0 to 1; .* above zero on a logarithmic axis"),
    ("Prediction", "x", [1, 1, 2], r"x is .*; expected two numbers or more that rise"),
    ("Prediction", "x", None, r"x is .*; expected two numbers or more that rise"),
    ("Prediction", "x", [1, 2], "size 3 along points; expected 2"),
    ("Prediction", "guess", [0.5] * 24, "guess has 24 numbers; expected none, or 25 for 'sketch'"),
    ("Prediction", "guess", [0.5] * 26, "guess has 26 entries; expected 0 to 25"),
    ("Prediction", "guess", [1.5] * 25, r"guess reaches from 1\.5 to 1\.5; expected .* 0 and 1"),
    ("Prediction", "guess", ["low"] * 25, TypeError("guess must be a number")),
    ("Prediction", "revealed", 1, TypeError("revealed must be True or False")),
    ("SoftLookup", "names", ["Ada"], "keys has the size 2 along keys; expected 1, as in names"),
    ("SoftLookup", "names", ["Ada", LONG], "names 'x*….* has 81 letters; expected 80 at most"),
    ("SoftLookup", "keys", [[0, 0, 0], [1, 1, 1]], "keys has the size 3 along xy; expected 2"),
    ("SoftLookup", "keys", [[0, 0], [1, 2]], r"keys must lie within \[-1.5, 1.5\], but reaches"),
    ("SoftLookup", "keys", np.zeros((10_000, 2)), "size 10000 along keys; expected 24 at most"),
    ("SoftLookup", "values", [1, 2, 3], "values has the size 3 along keys; expected 2"),
    ("SoftLookup", "unit", LONG, "unit 'x*….* has 81 letters"),
    ("SoftLookup", "query", [0, 9], "query must lie within"),
    ("SoftLookup", "query", [0, 0, 0], "query has the size 3 along xy; expected 2"),
    ("SoftLookup", "temperature", 0, "temperature must lie between 0.02 and 10.0"),
    ("SoftLookup", "moving", 1, TypeError("moving must be True or False")),
    ("SoftLookup", "similarity", "euclid", "similarity must be one of distance, dot, cosine"),
    ("StarExplorer", "stars", ["Mira"], TypeError("stars is a list; expected WatchedStars; take")),
    (
        "StarExplorer",
        "stars",
        watched_stars(tuple("abcdefghijklmnopq"), nights=(9,) * 17),
        "stars has 17 entries; expected 1 to 16",
    ),
    ("StarExplorer", "stars", watched_stars(("Mira",) * 3), "stars has 'Mira' twice"),
    ("StarExplorer", "stars", watched_stars(("", "a", "b")), "stars.name is empty"),
    ("StarExplorer", "stars", watched_stars((LONG, "a", "b")), "stars.name 'x*….* 81 letters"),
    (
        "StarExplorer",
        "stars",
        watched_stars(nights=(7, 20, 20)),
        "stars has 7 to 20 nights a star; expected 8 to 120",
    ),
    (
        "StarExplorer",
        "stars",
        watched_stars(nights=(9, 121, 20)),
        "stars has 9 to 121 nights a star; expected 8 to 120",
    ),
    (
        "StarExplorer",
        "stars",
        watched_stars(days=450),
        "days apart; expected 400 at most, for which the page",
    ),
    (
        "StarExplorer",
        "astromer",
        nn.Linear(5, 4),
        TypeError("astromer is a Linear; expected a course_lib.astromer.Astromer; take that of"),
    ),
    ("StarExplorer", "astromer", diverged(astromer()), r"model\.blank holds NaN"),
    ("StarExplorer", "astromer", astromer(256, d_hidden=1024), "model has .* would weigh more"),
    ("StarExplorer", "clock", "weeks", "clock must be one of days, turns"),
    ("StarExplorer", "star", 3, "star must lie between 0 and 2, since it counts from 0"),
    ("StarExplorer", "period", 0.19, "period must lie between 0.2 and 100.0"),
    ("StarExplorer", "night", 20, "night must lie between -1 and 13"),
    ("StarExplorer", "hidden", [14], "hidden must lie between 0 and 13"),
    ("StarExplorer", "hidden", list(range(13)), "hidden leaves 1 of 14 nights; expected 2 at le"),
    ("StarExplorer", "moving", 1, TypeError("moving must be True or False")),
    ("SymplecticityMeter", "z", np.ones((7, 2)), "size 7 along tokens; expected 6 at most"),
    ("SymplecticityMeter", "z", np.ones((3, 4)), "z has the size 4 along xy; expected 2"),
    ("SymplecticityMeter", "z", np.full((3, 2), 3.0), r"z must lie within \[-2.5, 2.5\]"),
    ("SymplecticityMeter", "A", np.eye(3), "A has the size 3 along xy; expected 2"),
    ("SymplecticityMeter", "A", 200 * np.eye(2), r"A must lie within \[-100, 100\]"),
    ("SymplecticityMeter", "loop", np.ones((201, 2)), "size 201 along corners; expected 200"),
    ("SymplecticityMeter", "loop", np.ones((4, 2)), r"loop stays at \[1.0, 1.0\]; expected a way"),
    ("SymplecticityMeter", "loop", 3 * np.eye(2), r"loop must lie within \[-2.5, 2.5\]"),
    ("SymplecticityMeter", "softmax", "row", "softmax must be one of vector, matrix"),
    ("SymplecticityMeter", "formula", "2SZA", "formula must be one of full, shortcut"),
    ("SymplecticityMeter", "experiment", "fall", "experiment must be one of loop, free"),
    ("SymplecticityMeter", "moving", 1, TypeError("moving must be True or False")),
    (
        "TileStepper",
        "query",
        np.ones((10, 4)),
        "key has the size 3 along d; expected 4, as in query",
    ),
    ("TileStepper", "value", np.ones((11, 3)), "value has the size 11 along tokens; expected 12"),
    ("TileStepper", "query", np.ones((25, 3)), "size 25 along tokens; expected 24 at most"),
    ("TileStepper", "query", np.ones((10, 9)), "size 9 along d; expected 8 at most"),
    ("TileStepper", "scale", 0.0, "scale must lie between 0.001 and 1000"),
    ("TileStepper", "bytes_each", 3, "bytes_each must be one of 1, 2, 4, 8"),
    ("TileStepper", "chip_bytes", 0, "chip_bytes must lie between 1 and 1073741824"),
    ("TileStepper", "query_tile", 0, "query_tile must lie between 1 and 10"),
    ("TileStepper", "key_tile", 13, "key_tile must lie between 1 and 12"),
    ("TileStepper", "step", 10, "step must lie between 0 and 9"),
    ("TileStepper", "causal", 1, TypeError("causal must be True or False")),
    ("LetterHider", "moving", 1, TypeError("moving must be True or False")),
    ("TinyGPT", "moving", 1, TypeError("moving must be True or False")),
    ("TileStepper", "moving", 1, TypeError("moving must be True or False")),
    ("TinyGPT", "alphabet", "·abcd", "alphabet has 5 characters and model 6 ids"),
    (
        "TinyGPT",
        "start",
        "X",
        "start is 'X'; expected one character of the alphabet '·abcde', or N",
    ),
    ("TinyGPT", "stop", 0, TypeError("stop is 0; expected a character of the alphabet, or None")),
    ("TinyGPT", "prompt", "aXb", "'X', which the alphabet '·abcde' does not have"),
    ("TinyGPT", "prompt", "a·", "'·', which stands for the start or the end"),
    ("TinyGPT", "prompt", "abcdeabc", "prompt 'abcdeabc' has 8 letters; expected 7 at most"),
    ("TinyGPT", "prompt", None, TypeError("prompt is None; expected a string")),
    ("TinyGPT", "written", "X", "'X', which the alphabet"),
    ("TinyGPT", "beginnings", {"x": "X"}, "'X', which the alphabet"),
    ("TinyGPT", "beginnings", {"x": "abcdeabc"}, "has 8 letters; expected 7 at most"),
    ("TinyGPT", "beginnings", {"x": "a·"}, "'·', which stands for the start or the end"),
    ("TinyGPT", "beginnings", {LONG: "a"}, "has 81 letters; expected 80"),
    ("TinyGPT", "beginnings", ["a"], TypeError("beginnings is a list; expected a dict")),
    ("TinyGPT", "beginnings", dict.fromkeys(map(str, range(13)), "a"), "expected 0 to 12"),
    ("TinyGPT", "written", "·a", "goes on after '·'"),
    ("TinyGPT", "written", "abcdea", "written 'abcdea' has 6 letters; expected 5 at most"),
    ("TinyGPT", "temperature", 0.0, "temperature must lie between 0.1 and 5"),
    ("TinyGPT", "top_k", 7, "top_k must lie between 1 and 6"),
    ("TinyGPT", "top_p", 1.01, "top_p must lie between 0.05 and 1.0"),
    ("TinyGPT", "seed", -1, "seed must lie between 0"),
    ("TinyGPT", "draws", -1, "draws must lie between 0"),
    ("TinyGPT", "place", 8, "place must lie between -1 and 7"),
    ("TinyGPT", "option", 6, "option must lie between -1 and 5"),
    ("TinyGPT", "order", "fame", "order must be one of probability, alphabet"),
    (
        "TinyGPT",
        "model",
        nn.Linear(5, 4),
        TypeError("model is a Linear; expected a course_lib.tra"),
    ),
    ("TinyGPT", "model", Encoder(8, 2, 1), TypeError("model is a Encoder")),
    ("TinyGPT", "model", decoder(cross=True), "model has cross-attention"),
    ("TinyGPT", "model", decoder(kv_heads=1), "model has kv_heads = 1 and heads = 2"),
    ("TinyGPT", "model", decoder(6, 64, layers=3), r"150,\d+ parameters; expected 100,000"),
    ("TinyGPT", "model", decoder(tokens=65), "65 positions; expected 64 at most"),
    ("TinyGPT", "model", decoder(heads=8, layers=4), "32 heads in all layers; expected 24"),
    ("TinyGPT", "model", decoder(97), "97 letters; expected 96 at most"),
    ("TinyGPT", "model", decoder(6, 2, d_hidden=18_000, layers=1), "more than 201,000 bytes"),
    ("TinyGPT", "model", diverged(decoder()), r"model\.embedding\.token\.weight holds NaN"),
]
TOGETHER = [
    (
        "AttentionExplorer",
        {"weights": UNIFORM[None], "steps": [0, 1]},
        "size 1 along steps; expect",
    ),
    ("AttentionExplorer", {"weights": off(1)[None], "steps": [0]}, "snapshot 0, layer 1, head 0"),
    ("BreakIt", {"claim": "softmax-shares", "bend": 0.5}, "softmax-shares must be 0 or 1, a swit"),
    (
        "AttentionExplorer",
        {"weights": UNIFORM[None], "steps": [0], "losses": [1.0, 2.0]},
        "losses has the size 2 along steps; expected 1; give",
    ),
    (
        "AttentionExplorer",
        {"vocabulary": ["a", "b"], "guesses": [[0.5, 0.75]] * 3},
        "guesses have a row that is no distribution",
    ),
    (
        "AttentionExplorer",
        {"vocabulary": ["a", "b"], "guesses": [[0.5, 0.5]] * 2},
        "guesses has the size 2 along query; expected 3",
    ),
    (
        "EnergyDrift",
        {"system": None, "rollouts": {"lost": LOST}},
        "'lost' does not start from a fin",
    ),
    (
        "GateExplorer",
        {"cell": cell("RNN"), "order": "memory"},
        "order must be one of number, value",
    ),
    (
        "GraphPlayground",
        {"network": None, "rings": "parts"},
        "rings 'parts' needs network; pass network",
    ),
    (
        "MechanicsStage",
        {"system": mechanics.RigidBody(), "networks": {"mine": SympNet(3)}},
        "RigidBody has no pairs",
    ),
    (
        "MechanicsStage",
        {"system": mechanics.RigidBody(), "methods": ["stoermer_verlet"]},
        "methods must be one of explicit_euler, runge_kutta_4, implicit_midpoint",
    ),
    (
        "MechanicsStage",
        {"system": None, "rollouts": {"short": swing(0)}},
        "'short' has 1 finite states; expected two or more",
    ),
    (
        "MechanicsStage",
        {"system": None, "rollouts": dict.fromkeys("abcd", swing())},
        "methods and rollouts are 4 together",
    ),
    (
        "LatentExplorer",
        {"beside": ["Sans Bold", "Odd Black"], "tool": "arithmetic"},
        "tool 'arithmetic' needs beside with a regular, a bold and an italic of one family",
    ),
    ("PartyMemory", {"mode": "softmax", "score": None}, "mode 'softmax' needs score; pass score"),
    ("PartyMemory", {"mode": "gate", "score": None}, "mode 'gate' needs score or gate"),
    ("PartyMemory", {"mode": "query", "keys": None, "queries": None}, "needs keys and queries"),
    ("PartyMemory", {"question": "Who?", "keys": None, "queries": None}, "there are no queries"),
    ("Prediction", {"kind": "choose", "x": None}, "options is empty; give each a name and its num"),
    ("Prediction", {"kind": "place", "x": None}, "truth has 3 numbers; expected one to be placed"),
    (
        "Prediction",
        {"kind": "place", "x": None, "truth": [5.0]},
        "truth reaches from 5 to 5, beyond the axis from 1 to 4; widen across",
    ),
    (
        "Prediction",
        {"kind": "choose", "x": None, "options": ["a", "b", "c"], "guess": [0.5]},
        r"guess is 0\.5; expected the place of an option",
    ),
    (
        "TileStepper",
        {"query": np.ones((12, 3)), "key": QUERY, "value": QUERY, "causal": True},
        "a ke",
    ),
    ("TinyGPT", {"prompt": "", "start": None}, "has no start to read instead"),
]


@pytest.mark.parametrize(("kind", "argument", "value", "message"), REFUSED)
def test_a_constructor_refuses_what_cannot_be_drawn(kind, argument, value, message):
    error = type(message) if isinstance(message, TypeError) else ValueError
    with pytest.raises(error, match=str(message)):
        make(kind, **{argument: value})


@pytest.mark.parametrize(("kind", "changes", "message"), TOGETHER)
def test_a_constructor_refuses_what_does_not_go_together(kind, changes, message):
    with pytest.raises(ValueError, match=message):
        make(kind, **changes)


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
    (kind, argument, value, message)
    for kind, argument, value, message in REFUSED
    if trait_of(WIDGETS[kind], argument)
    and (kind, argument) not in BEFORE
    and (argument, value) != ("methods", [])  # all may be switched off, but not from the start
]


@pytest.mark.parametrize(("kind", "argument", "value", "message"), LATER)
def test_an_assignment_and_a_page_are_refused_alike_and_change_nothing(
    kind, argument, value, message, monkeypatch
):
    widget = make(kind)
    name, before, sent, heard = trait_of(widget, argument), state_of(widget), [], []
    error = type(message) if isinstance(message, TypeError) else ValueError
    monkeypatch.setattr(widget, "send", sent.append)
    widget.observe(heard.append, list(widget._declared()))
    with pytest.raises(error, match=str(message)):
        setattr(widget, name, value)
    with pytest.raises(error, match=str(message)) as caught:
        widget.set_state({name: sent_by_page(widget, name, value)})
    assert state_of(widget) == before
    assert sent == [{"refused": str(caught.value)}]
    assert heard == []


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


@pytest.mark.parametrize("kind", ARGUMENTS)
def test_every_state_returns_to_the_first_in_one_message_of_any_order(kind):
    widget = make(kind)
    first = {name: value for name, value in state_of(widget).items() if name in mutable(widget)}
    there = {n: sent_by_page(widget, n, value) for n, value in CHANGED[kind].items()}
    for seed in range(5):
        for message in (there, first):
            names = list(message)
            np.random.default_rng(seed).shuffle(names)
            widget.set_state({name: message[name] for name in names})
            state = state_of(widget)
            wanted = {name: sorted(x) if name == "hidden" else x for name, x in message.items()}
            assert {name: state[name] for name in wanted} == wanted


@pytest.mark.parametrize("kind", ARGUMENTS)
def test_a_message_with_nonsense_in_it_is_refused_as_a_whole(kind):
    widget = make(kind)
    good = {n: sent_by_page(widget, n, value) for n, value in CHANGED[kind].items()}
    before = state_of(widget)
    for _, argument, value, _ in [row for row in LATER if row[0] == kind]:
        name = trait_of(widget, argument)
        if name in {"letter", "plane", "place", "step", "written", "q", "p", "hidden"}:
            continue  # whether it is nonsense depends on what comes with it
        for names in ([*good, name], [name, *good]):
            bad = {name: sent_by_page(widget, name, value)}
            with pytest.raises((TypeError, ValueError)):
                widget.set_state({n: (good | bad)[n] for n in names})
        assert state_of(widget) == before


@pytest.mark.parametrize("kind", ARGUMENTS)
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


@pytest.mark.parametrize("kind", ARGUMENTS)
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

SIGNATURES = {
    "AttentionExplorer": "tokens, weights, *, attention=None, steps=None, losses=None, "
    "vocabulary=None, guesses=None, layer=0, head=0, query=0, step=0, temperature=1.0, "
    "causal=False, moving=True",
    "BasisExplorer": "field, about, *, mode='nodes', points=None, temperature=0.014, query=0.45, "
    "log_conductivity=None, load=None, head=0, moving=True",
    "BreakIt": "claim, *, bend=0.0, seed=0, moving=True",
    "EnergyDrift": "system=None, *, q=None, p=None, dt=None, steps=10000, "
    "moving=True, methods=('explicit_euler', 'stoermer_verlet'), steppers=None, rollouts=None",
    "GateExplorer": "cell, alphabet, *, text, readout=None, labels=None, quantity=None, "
    "order='number', unit=0, letter=None, all_units=False, moving=True",
    "GraphDrum": "graph='drum', *, edges=None, places=None, start='pluck', node=None, height=1.0, "
    "mode=None, seed=1, stir=0.0, stiffness=0.05, moving=True",
    "GraphPlayground": "molecules, *, network=None, drawing=None, layer='sum', rounds=1, "
    "rings='known', atom=0, partner=-1, other=-1, drag='moves', moving=True",
    "JetExplorer": "model, jets, *, jet=0, kept=None, gone=(), particle=0, layer=0, head=-1, "
    "moving=True",
    "LatentExplorer": "vae, typefaces, *, beside=None, z=None, word='hamburgefonts', plane=0, "
    "tool='walk', start=0, end=1, share=0.0, family=0, moving=True",
    "LetterHider": "model, alphabet, *, mask, word, hidden=(), place=-1, option=-1, words=(), "
    "guess_first=True, heads=False, moving=True",
    "LiveFigure": "figure",
    "MechanicsStage": "system=None, *, methods=None, networks=None, rollouts=None, z=None, "
    "dt=None, moving=True",
    "PartyMemory": "images, names, *, score=None, gate=None, keys=None, queries=None, "
    "mode='composite', decay=0.5, door=0.0, temperature=1.0, question=0, arrived=None, "
    "moving=False",
    "PositionExplorer": "*, tokens=32, d_model=16, kind='sinusoidal', learned=None, query=None, "
    "key=None, base=10000, seed=0, query_position=1, key_position=0, pair=0, everything=False, "
    "moving=True",
    "Prediction": "question, answer, truth, *, kind='place', across=(0.0, 1.0), up=(0.0, 1.0), "
    "xlog=False, ylog=False, xlabel='', ylabel='', unit='', step=0.0, options=(), "
    "wanted='largest', x=None, guess=(), revealed=False",
    "SoftLookup": "names, keys, values, *, query=(0.0, 0.0), temperature=0.3, "
    "similarity='distance', unit='', moving=True",
    "StarExplorer": "stars, *, astromer=None, clock='days', star=0, period=0.65, night=-1, "
    "hidden=(), moving=True",
    "SymplecticityMeter": "z, A, *, loop=None, softmax='vector', formula='shortcut', "
    "experiment='loop', moving=True",
    "TileStepper": "query, key, value, *, query_tile=4, key_tile=4, causal=False, scale=None, "
    "step=0, bytes_each=2, chip_bytes=None, moving=True",
    "TinyGPT": "model, alphabet, *, beginnings=None, prompt='', written='', "
    "temperature=0.8, top_k=None, top_p=None, start=None, stop=None, seed=0, place=-1, "
    "order='probability', moving=True",
}


@pytest.mark.parametrize("kind", ARGUMENTS)
def test_help_shows_what_a_constructor_takes(kind):
    shown = inspect.signature(getattr(widgets, kind)).parameters.values()
    found = [parameter.replace(annotation=parameter.empty) for parameter in shown]
    expected = inspect.signature(eval(f"lambda {SIGNATURES[kind]}: 0"))  # noqa: S307 - our own text
    by_place = [a for a in expected.parameters.values() if a.kind is a.POSITIONAL_OR_KEYWORD]
    assert found[: len(by_place)] == by_place
    assert set(map(str, expected.parameters.values())) <= set(map(str, found))
    assert all(a.kind is a.KEYWORD_ONLY for a in found[len(by_place) :])


@pytest.mark.parametrize("kind", ARGUMENTS)
def test_an_argument_that_there_is_not_is_refused_with_those_that_there_are(kind):
    with pytest.raises(TypeError, match=rf"'temprature'; expected {kind}\("):
        make(kind, temprature=1.0)


def test_an_argument_that_is_missing_is_named():
    with pytest.raises(TypeError, match="'values'; expected SoftLookup"):
        widgets.SoftLookup(["Ada"], [[0, 0]])


def test_what_every_widget_of_jupyter_takes_is_passed_on():
    assert make("SoftLookup", layout={"width": "30em"}).layout.width == "30em"
