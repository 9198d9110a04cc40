"""What a widget refuses: in its constructor, on assignment, and from the page. A table for all."""

import inspect
import json

import numpy as np
import pytest
import torch
import traitlets
from small_widgets import (
    ARGUMENTS,
    QUERY,
    TABLE,
    UNIFORM,
    decoder,
    encoder,
    ethanol,
    make,
    particle_transformer,
    seeded,
    swing,
)
from torch import nn

from course_lib import mechanics, widgets
from course_lib.autoencoder import VAE
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
    ("AttentionExplorer", "weights", off(0.25)),
    ("AttentionExplorer", "steps", 5),
    ("AttentionExplorer", "attention", 3),
    ("AttentionExplorer", "layer", 2),
    ("AttentionExplorer", "head", 3),
    ("AttentionExplorer", "query", 3),
    ("AttentionExplorer", "step", 1),
    ("AttentionExplorer", "temperature", 0.09),
    ("AttentionExplorer", "causal", 1),
    ("AttentionExplorer", "guesses", [[1.0]] * 3),
    ("AttentionExplorer", "losses", [[1.0]]),
    ("AttentionExplorer", "vocabulary", ["a", "a"]),
    ("AttentionExplorer", "moving", 1),
    ("EnergyDrift", "system", "Kepler"),
    ("BasisExplorer", "field", nn.Linear(5, 4)),
    ("BasisExplorer", "about", {"seed": 0}),
    ("BasisExplorer", "mode", "hats"),
    ("BasisExplorer", "points", [[0, 0]]),
    ("BasisExplorer", "temperature", 0.0),
    ("BasisExplorer", "query", 1.1),
    ("BasisExplorer", "log_conductivity", np.zeros(124)),
    ("BasisExplorer", "load", np.full(125, -3.6)),
    ("BasisExplorer", "head", 2),
    ("BasisExplorer", "moving", 1),
    ("BreakIt", "claim", "softmax"),
    ("BreakIt", "bend", 1.5),
    ("BreakIt", "seed", -1),
    ("BreakIt", "moving", 1),
    ("EnergyDrift", "q", [1.0]),
    ("EnergyDrift", "p", [0, 1e38]),
    ("EnergyDrift", "dt", 0.0),
    ("EnergyDrift", "steps", 99),
    ("EnergyDrift", "plane", 3),
    ("EnergyDrift", "methods", []),
    ("EnergyDrift", "moving", 1),
    ("EnergyDrift", "steppers", [len]),
    ("EnergyDrift", "rollouts", [1]),
    ("GateExplorer", "alphabet", ""),
    ("GateExplorer", "text", ""),
    ("GateExplorer", "quantity", "reset"),
    ("GateExplorer", "order", "fame"),
    ("GateExplorer", "unit", 4),
    ("GateExplorer", "letter", 4),
    ("GateExplorer", "all_units", 1),
    ("GateExplorer", "moving", 1),
    ("GateExplorer", "cell", "LSTM"),
    ("GateExplorer", "labels", []),
    ("GateExplorer", "readout", nn.Linear(5, 2)),
    ("GraphDrum", "graph", "harp"),
    ("GraphDrum", "start", "kick"),
    ("GraphDrum", "node", 99),
    ("GraphDrum", "mode", -1),
    ("GraphDrum", "height", 1.5),
    ("GraphDrum", "seed", -1),
    ("GraphDrum", "stir", 2.0),
    ("GraphDrum", "stiffness", 0.0),
    ("GraphDrum", "moving", 1),
    ("GraphPlayground", "moving", 1),
    ("GraphPlayground", "molecules", []),
    ("GraphPlayground", "network", nn.Linear(5, 4)),
    ("GraphPlayground", "drawing", 3),
    ("GraphPlayground", "rounds", 7),
    ("GraphPlayground", "layer", "max"),
    ("GraphPlayground", "atom", 3),
    ("GraphPlayground", "partner", 3),
    ("GraphPlayground", "other", 2),
    ("GraphPlayground", "drag", "turns"),
    ("JetExplorer", "model", unmeasured()),
    ("JetExplorer", "jets", [1, 2]),
    ("JetExplorer", "jet", 3),
    ("JetExplorer", "kept", 0),
    ("JetExplorer", "gone", [7]),
    ("JetExplorer", "particle", 7),
    ("JetExplorer", "layer", 2),
    ("JetExplorer", "head", 2),
    ("JetExplorer", "moving", 1),
    ("LatentExplorer", "vae", VAE(4, 2)),
    ("LatentExplorer", "typefaces", ["Sans"]),
    ("LatentExplorer", "beside", [1, 2]),
    ("LatentExplorer", "z", [1.0, 2.0]),
    ("LatentExplorer", "word", ""),
    ("LatentExplorer", "plane", 4),
    ("LatentExplorer", "tool", "flight"),
    ("LatentExplorer", "start", 8),
    ("LatentExplorer", "end", -1),
    ("LatentExplorer", "share", 1.5),
    ("LatentExplorer", "family", 2),
    ("LatentExplorer", "moving", 1),
    ("LetterHider", "alphabet", "ab·cd"),
    ("LetterHider", "mask", 2),
    ("LetterHider", "word", ""),
    ("LetterHider", "hidden", [4]),
    ("LetterHider", "place", 4),
    ("LetterHider", "option", 6),
    ("LetterHider", "guess_first", 1),
    ("LetterHider", "heads", None),
    ("LetterHider", "words", "bead"),
    ("LetterHider", "model", encoder(65)),
    ("MechanicsStage", "system", mechanics.HenonHeiles()),
    ("LiveFigure", "figure", "root"),
    ("LiveFigure", "dimension", 0),
    ("LiveFigure", "power", 1.5),
    ("LiveFigure", "seed", -1),
    ("MechanicsStage", "z", [1.0, 2.0]),
    ("MechanicsStage", "dt", 0.001),
    ("MechanicsStage", "methods", []),
    ("MechanicsStage", "networks", [1]),
    ("MechanicsStage", "rollouts", [1]),
    ("MechanicsStage", "moving", 1),
    ("PartyMemory", "images", np.zeros((3, 8))),
    ("PartyMemory", "names", [1, 2, 3]),
    ("PartyMemory", "score", [1.0, 2.0]),
    ("PartyMemory", "gate", [1.0]),
    ("PartyMemory", "keys", [[1.0, 2.0]]),
    ("PartyMemory", "queries", {}),
    ("PartyMemory", "mode", "telepathy"),
    ("PartyMemory", "decay", 1.5),
    ("PartyMemory", "door", np.nan),
    ("PartyMemory", "temperature", 0.0),
    ("PartyMemory", "question", 2),
    ("PartyMemory", "arrived", -1),
    ("PositionExplorer", "tokens", 49),
    ("PositionExplorer", "d_model", 5),
    ("PositionExplorer", "kind", "learned"),
    ("PositionExplorer", "learned", TABLE[:7]),
    ("PositionExplorer", "query", [1.0, 2.0]),
    ("PositionExplorer", "key", [np.inf] * 6),
    ("PositionExplorer", "base", 0.5),
    ("PositionExplorer", "seed", -1),
    ("PositionExplorer", "query_position", 8),
    ("PositionExplorer", "key_position", -1),
    ("PositionExplorer", "pair", 3),
    ("PositionExplorer", "everything", 1),
    ("PositionExplorer", "moving", 1),
    ("Prediction", "kind", "draw"),
    ("Prediction", "question", ""),
    ("Prediction", "answer", "x" * 301),
    ("Prediction", "across", (4, 1)),
    ("Prediction", "up", (0, 0.5)),
    ("Prediction", "x", [1, 2]),
    ("Prediction", "guess", [0.5] * 24),
    ("Prediction", "revealed", 1),
    ("SoftLookup", "names", ["Ada"]),
    ("SoftLookup", "keys", [[0, 0], [1, 2]]),
    ("SoftLookup", "values", [1, 2, 3]),
    ("SoftLookup", "unit", LONG),
    ("SoftLookup", "query", [0, 9]),
    ("SoftLookup", "temperature", 0),
    ("SoftLookup", "moving", 1),
    ("SoftLookup", "similarity", "euclid"),
    ("StarExplorer", "stars", ["Mira"]),
    ("StarExplorer", "astromer", nn.Linear(5, 4)),
    ("StarExplorer", "clock", "weeks"),
    ("StarExplorer", "star", 3),
    ("StarExplorer", "period", 0.19),
    ("StarExplorer", "night", 20),
    ("StarExplorer", "hidden", [14]),
    ("StarExplorer", "moving", 1),
    ("SymplecticityMeter", "z", np.ones((7, 2))),
    ("SymplecticityMeter", "A", np.eye(3)),
    ("SymplecticityMeter", "loop", 3 * np.eye(2)),
    ("SymplecticityMeter", "softmax", "row"),
    ("SymplecticityMeter", "formula", "2SZA"),
    ("SymplecticityMeter", "experiment", "fall"),
    ("SymplecticityMeter", "moving", 1),
    ("TileStepper", "query", np.ones((10, 4))),
    ("TileStepper", "value", np.ones((11, 3))),
    ("TileStepper", "scale", 0.0),
    ("TileStepper", "bytes_each", 3),
    ("TileStepper", "chip_bytes", 0),
    ("TileStepper", "query_tile", 0),
    ("TileStepper", "key_tile", 13),
    ("TileStepper", "step", 10),
    ("TileStepper", "causal", 1),
    ("LetterHider", "moving", 1),
    ("TinyGPT", "moving", 1),
    ("TileStepper", "moving", 1),
    ("TinyGPT", "alphabet", "·abcd"),
    ("TinyGPT", "start", "X"),
    ("TinyGPT", "stop", 0),
    ("TinyGPT", "prompt", "a·"),
    ("TinyGPT", "written", "X"),
    ("TinyGPT", "beginnings", ["a"]),
    ("TinyGPT", "temperature", 0.0),
    ("TinyGPT", "top_k", 7),
    ("TinyGPT", "top_p", 1.01),
    ("TinyGPT", "seed", -1),
    ("TinyGPT", "draws", -1),
    ("TinyGPT", "place", 8),
    ("TinyGPT", "option", 6),
    ("TinyGPT", "order", "fame"),
    ("TinyGPT", "model", decoder(97)),
]
TOGETHER = [
    ("Prediction", {"up": (0.0, 1.0), "ylog": True}),
    ("AttentionExplorer", {"weights": off(1)[None], "steps": [0]}),
    ("AttentionExplorer", {"weights": UNIFORM[None], "steps": [0, 1]}),
    ("BreakIt", {"claim": "softmax-shares", "bend": 0.5}),
    ("EnergyDrift", {"system": None, "rollouts": {"lost": LOST}}),
    ("GateExplorer", {"cell": cell("RNN"), "order": "memory"}),
    ("GraphPlayground", {"network": None, "rings": "parts"}),
    ("MechanicsStage", {"system": None, "rollouts": {"short": swing(0)}}),
    ("MechanicsStage", {"system": None, "rollouts": dict.fromkeys("abcd", swing())}),
    ("LatentExplorer", {"beside": ["Sans Bold", "Odd Black"], "tool": "arithmetic"}),
    ("PartyMemory", {"mode": "gate", "score": None}),
    ("PartyMemory", {"mode": "softmax", "score": None}),
    ("Prediction", {"kind": "place", "x": None}),
    ("TileStepper", {"query": np.ones((12, 3)), "key": QUERY, "value": QUERY, "causal": True}),
    ("TinyGPT", {"prompt": "", "start": None}),
]


of_every_kind = pytest.mark.parametrize("kind", ARGUMENTS)


@of_every_kind
def test_a_constructor_refuses_what_cannot_be_drawn_and_names_it(kind):
    for argument, value in [row[1:] for row in REFUSED if row[0] == kind]:
        with pytest.raises((TypeError, ValueError), match=argument.rstrip("s")):
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
        with pytest.raises((TypeError, ValueError), match=argument.rstrip("s")):
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
