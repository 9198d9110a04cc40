"""Refusals of widgets in the constructor, on assignment, and from the page, in one table."""

import inspect
import json
from collections.abc import Iterator

import numpy as np
import pytest
import small_widgets as small
import torch
from small_widgets import decoder, encoder, make, swing
from torch import nn

from course_lib import mechanics, widgets
from course_lib.autoencoder import VAE
from course_lib.graph import Graph, GraphConv
from course_lib.models.molecules import MoleculeNetwork
from course_lib.symplectic import SympNet
from course_lib.transformer import Decoder, Encoder
from course_lib.widgets.graph_playground.drawings import drawing_of
from course_lib.widgets.kit.traits import Array

# Widgets check their own arguments, and their messages are tested here.
LONG = "x" * 81
PLANE = swing()._replace(q=torch.ones(101, 2), p=torch.ones(101, 2))
RIGID = mechanics.RigidBody()
LOST = swing()._replace(energy=torch.full((101,), torch.nan))


def off(amount: float) -> np.ndarray:
    weights = make("AttentionExplorer").weights.copy()
    weights[1, 0, 2, 0, 0] += amount
    return weights


def diverged(model: nn.Module) -> nn.Module:
    with torch.no_grad():
        next(model.parameters()).view(-1)[0] = torch.nan
    return model


def enlarged(model: nn.Module) -> nn.Module:
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(3)
    return model


def unmeasured() -> nn.Module:
    model = small.particle_transformer()
    model.standard.scale[3] = torch.inf
    return model


def cell(kind: str = "LSTM", letters: int = 6, units: int = 5, **options: object) -> nn.Module:
    return small.seeded(getattr(nn, kind), letters, units, **options)


def perceptron(inputs: int, units: int, outputs: int) -> nn.Module:
    return nn.Sequential(nn.Linear(inputs, units), nn.Tanh(), nn.Linear(units, outputs))


def complete(nodes: int) -> Graph:
    return Graph.complete(torch.zeros(nodes, 1))


def drawing(**changes: object) -> dict:
    return drawing_of(small.ethanol()) | changes


def beyond(widget, trait) -> Iterator[object]:
    """Values outside the declared range of a trait."""
    limits = trait.limits(widget) or {}
    low, high = limits.get("low"), limits.get("high")
    step = 1 if limits.get("kind") == "integer" else 0.1
    outside = [] if low is None else [low - step]
    outside += [] if high is None else [high + step]
    now = getattr(widget, trait.name)
    match limits.get("kind"):
        case "switch":
            yield 1
        case "choice":
            yield "no such thing"
        case "number":
            yield from filter(np.isfinite, [*outside, 0.0 if trait.name in POSITIVE else np.inf])
            yield np.nan
        case "integer":
            # The number of things may depend on other values.
            yield from [*outside, low + 0.5, *([trait._last(widget) + 1] if high is None else [])]
        case "text":
            letters = limits["alphabet"]
            yield from [""] if low else []
            yield from ["☃"] if letters else []
            yield from [(letters or "a")[0] * (high + 1)] if high else []
        case "several":
            yield "text"
            yield from [now[:1] * (high + 1)] if now and high else []
            yield from [now[:1] * 2] if now and trait.distinct else []
            yield from [["☃" * 81]] if limits["each"] else []
        case "array" if now.size:
            yield from [now[None]] if trait.read_only else []
            yield from (np.full(now.shape, one) for one in outside)
            for axis, (size, most) in enumerate(zip(limits["sizes"], limits["most"], strict=True)):
                yield from [np.repeat(now, 2, axis)] if size and not trait.read_only else []
                yield from [np.repeat(now, most + 1, axis)] if most else []


# A picture divides by these.
POSITIVE = {"temperature", "dt", "stiffness", "base", "scale", "period"}
# Rules beside the declared ranges.
REFUSED = {
    "AttentionExplorer": {
        "weights": [np.full((4, 2, 3, 5, 4), 0.25), np.full((1, 1, 5, 5), 0.2), off(2e-3), off(-2)],
        "steps": [[0, 1], 5],
        "attention": [3],
        "guesses": [np.full((4, 5, 3), 1 / 3), np.full((4, 5, 4), 0.3)],
        "losses": [[2.0, 1.0]],
        "vocabulary": [list(map(str, range(257)))],
        "rivals": [["e"]],
    },
    "BasisExplorer": {
        "field": [
            nn.Linear(5, 4), small.basis_field(d_z=1)[0], small.basis_field(18, heads=9)[0],
            small.basis_field(64, d_hidden=256)[0], diverged(small.basis_field()[0]),
        ],
        "about": [None, {"seed": 0}, {"sensors": 2}, {"sensors": 65}],
        "points": [[[0, 0], [0.5, 0]], [[0, 0], [0.6, 0], [0.5, 0], [1, 0]], [[0, 0]]],
    },
    "EnergyDrift": {
        "system": [mechanics.RigidBody(), "Kepler"],
        "q": [[1.0, 2.0]],
        "steppers": [[len], {"mine": 3}],
        "rollouts": [
            [1], {"mine": 3}, {LONG: swing()}, dict.fromkeys("abcdef", 1), {"r": PLANE},
            {"r": swing(5, 3, 1)},
        ],
    },
    "GateExplorer": {
        "alphabet": ["abcda ", "abcdefg"],
        "cell": [
            nn.Linear(5, 4), cell(num_layers=2), cell(bidirectional=True), cell(proj_size=2),
            cell("RNN", nonlinearity="relu"), cell(bias=False), cell(units=65), diverged(cell()),
        ],
        "labels": [None, ["f", "f"], ["a", "b", "c"]],
        "readout": [None, nn.Linear(6, 2), torch.ones(2, 5)],
    },
    "GraphDrum": {
        "graph": [3, complete(40), complete(0)],
        "edges": [[[0.0], [1.0]], [[0], [-1]], [[0], [100]]],
        "places": [[[0, 0]]],
    },
    "GraphPlayground": {
        "molecules": [[], [small.ethanol()] * 2, [small.ethanol("wax", 24)], ["CCO"]],
        "network": [
            nn.Linear(5, 4), MoleculeNetwork(lambda d: GraphConv(d, d)),
            small.molecule_network(d=64), diverged(small.molecule_network()),
        ],
        "drawing": [
            3, {"name": "x"}, drawing(element=["C", "C", "X"]), drawing(charge=[0, 0, 2]),
            drawing(hydrogens=[0, 0, 9]), drawing(place=[[0, 9]] * 3), drawing(bonds=[[0, 3, 1]]),
            drawing(bonds=[[1, 0, 1]]), drawing(bonds=[[0, 1, 5]]), drawing(bonds=[[0, 1, 1]] * 2),
        ],
    },
    "JetExplorer": {
        "model": [
            nn.Linear(3, 2), small.particle_transformer(classes=4),
            small.particle_transformer(d_pair_features=3), small.particle_transformer(64, layers=4),
            diverged(small.particle_transformer()), unmeasured(),
        ],
        "jets": [[1, 2], small.jets()[:0], small.jets((49,), places=50)],
        "gone": [[7], [1, 1]],
    },
    "LatentExplorer": {
        "vae": [
            VAE(4, 2), small.style_vae(1), diverged(small.style_vae()),
            small.style_vae(d_hidden=600), enlarged(small.style_vae()),
        ],
        "typefaces": [["Sans"], small.typefaces((*small.BESIDE, LONG))],
        "beside": ["Sans Bold", ["Sans Bold", "Sand"], ["Sans Bold"], ["Sans Bold"] * 2],
    },
    "LetterHider": {
        "alphabet": ["·abcdea", "·abcde<"],
        "mask": ["X", "ab", 2],
        "word": ["a·", "abcdeabcde"],
        "hidden": [[7]],
        "option": [0],
        "model": [
            Decoder(8, 8, 2, 1, tokens=9), encoder(d=40), encoder(tokens=25), encoder(65),
            encoder(heads=8, layers=3), encoder(d=2, d_hidden=5_380, layers=1), diverged(encoder()),
        ],
    },
    "LiveFigure": {"figure": ["root", ["root-d"]]},
    "MechanicsStage": {
        "system": [mechanics.HenonHeiles(), mechanics.RigidBody(weights=(1.0, 2.0, 1.0))],
        "z": [[1.0]],
        "methods": [["explicit_euler", "stoermer_verlet", "runge_kutta_4"]],
        "networks": [
            [1], {"mine": nn.Linear(2, 2)}, {"mine": perceptron(2, 5, 1)}, {"mine": SympNet(2)},
            {"mine": perceptron(2, 999, 2)}, {"mine": SympNet(1, width=200)},
            {"mine": diverged(SympNet(1))}, {name: SympNet(1) for name in "abc"},
        ],
        "rollouts": [[1], {LONG: swing()}, {"r": swing(0)}, dict.fromkeys("abcd", swing())],
    },
    "PartyMemory": {
        "images": [np.zeros((4, 28, 28))],
        "names": [["Ada", "Ben"]],
        "score": [[1.0, 2.0]],
        "gate": [[1.0]],
        "keys": [[[1.0, 2.0, 3.0]], None],
        "queries": [None, [[1.0, 0.0, 1.0]], {"Who?": [1.0]}, {LONG: [1.0, 0.0, 1.0]}],
        "question": [2, "Who drives?"],
    },
    "PositionExplorer": {
        "d_model": [5],
        "learned": [np.ones((24, 4)), np.ones((23, 6))],
        "query": [[1.0, 2.0]],
        "seed": [-1],
    },
    "Prediction": {
        "across": [(32, 1), (2, 32)],
        "up": [(0, 50)],
        "x": [[1, 1, 2, 4, 8, 16], None, [1, 2]],
        "guess": [[0.5] * 24, [-0.5] * 25],
    },
    "SoftLookup": {"names": [["Ada"]], "values": [[1, 2]]},
    "StarExplorer": {
        "stars": [
            ["Mira"], small.watched_stars(tuple("abcdefghijklmnopq"), nights=(9,) * 17),
            small.watched_stars(("Mira",) * 3), small.watched_stars(nights=(7, 20, 20)),
            small.watched_stars(nights=(9, 121, 20)), small.watched_stars(days=450),
            small.watched_stars(days=0.5),
        ],
        "astromer": [diverged(small.astromer()), small.astromer(256, d_hidden=1024)],
        "hidden": [[14], list(range(13))],
    },
    "SymplecticityMeter": {"A": [np.eye(3)], "loop": [np.ones((4, 2))]},
    "TileStepper": {"query": [np.ones((10, 4))], "value": [np.ones((10, 3))]},
    "TinyGPT": {
        "alphabet": ["·abcde"],
        "start": ["X"],
        "stop": [0],
        "prompt": ["a·", "abcdeabcdeab"],
        "beginnings": [{"x": "X"}, {LONG: "a"}, ["a"], dict.fromkeys(map(str, range(13)), "a")],
        "written": ["X", "·a", "abcdeabcdeab"],
        "model": [
            Encoder(8, 2, 1), decoder(cross=True), decoder(kv_heads=1), decoder(d=64, layers=3),
            decoder(tokens=65), decoder(heads=8, layers=4), decoder(97), diverged(decoder()),
        ],
    },
}  # fmt: skip
TOGETHER = [
    ("AttentionExplorer", {"vocabulary": None, "rivals": None}),  # of guesses
    ("BreakIt", {"claim": "softmax-shares", "bend": 0.5}),
    ("EnergyDrift", {"system": mechanics.Kepler(), "rollouts": None, "q": [0, 0]}),
    ("EnergyDrift", {"rollouts": {"lost": LOST}}),
    ("GateExplorer", {"cell": cell("RNN"), "order": "memory"}),
    ("GraphDrum", {"graph": complete(3), "edges": [[0], [1]]}),
    ("GraphDrum", {"graph": complete(3), "places": [[0, 0], [1, 1]]}),
    ("GraphDrum", {"edges": [[0], [5]], "places": [[0, 0], [1, 1]]}),
    ("GraphPlayground", {"network": None, "rings": "parts"}),
    ("MechanicsStage", {"system": mechanics.Kepler(), "rollouts": None, "z": [0, 0, 1, 1]}),
    ("MechanicsStage", {"system": RIGID, "rollouts": None, "networks": {"mine": SympNet(3)}}),
    ("MechanicsStage", {"rollouts": None, "methods": []}),
    ("MechanicsStage", {"system": RIGID, "rollouts": None, "methods": ["stoermer_verlet"]}),
    ("LatentExplorer", {"beside": ["Sans Bold", "Odd Black"], "tool": "arithmetic"}),
    ("PartyMemory", {"mode": "softmax", "score": None}),
    ("PartyMemory", {"mode": "query", "keys": None, "queries": None}),
    ("PartyMemory", {"question": "Who?", "keys": None, "queries": None}),
    ("PositionExplorer", {"learned": None, "before": None, "kind": "learned"}),
    ("Prediction", {"up": (0.0, 100.0), "ylog": True}),
    ("Prediction", {"kind": "place", "x": None, "truth": [50.0]}),
    ("Prediction", {"kind": "choose", "x": None, "options": list("abcdef"), "guess": [0.5]}),
    ("TileStepper", {"query": np.ones((12, 3))}),  # causal
    ("TinyGPT", {"prompt": "", "start": None}),
]


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


WIDGETS = {kind: make(kind) for kind in small.ARGUMENTS}
REFUSALS = [
    *(
        (kind, name, one)
        for kind, rows in REFUSED.items()
        for name, many in rows.items()
        for one in many
    ),
    *(
        (kind, trait.called, value)
        for kind, widget in WIDGETS.items()
        for trait in widget._declared().values()
        if trait.argument
        for value in beyond(widget, trait)
    ),
]
# Conversions of arguments by the constructor before the trait gets them.
BEFORE = {
    ("EnergyDrift", "system"),
    ("GraphDrum", "graph"),
    ("MechanicsStage", "system"),
    ("PartyMemory", "question"),
    ("TinyGPT", "beginnings"),
}
LATER = [
    (kind, argument, value)
    for kind, argument, value in REFUSALS
    if trait_of(WIDGETS[kind], argument) and (kind, argument) not in BEFORE
]


of_every_kind = pytest.mark.parametrize("kind", small.ARGUMENTS)
# Words for an argument in messages that do not use its name.
MODEL = dict.fromkeys(("astromer", "cell", "field", "model", "network", "networks", "vae"), "model")
IN_ITS_PLACE = MODEL | {"beginnings": "prompt", "beside": "name", "edges": "graph", "z": "q"}


def named(argument: str) -> str:
    return rf"{argument.rstrip('s')}|\b{IN_ITS_PLACE.get(argument, argument)}\b"


@of_every_kind
def test_a_constructor_refuses_what_cannot_be_drawn_and_names_it(kind):
    for argument, value in [row[1:] for row in REFUSALS if row[0] == kind]:
        with pytest.raises((TypeError, ValueError), match=named(argument)):
            make(kind, **{argument: value})
    for changes in [row[1] for row in TOGETHER if row[0] == kind]:
        with pytest.raises((TypeError, ValueError), match="|".join(map(named, changes))):
            make(kind, **changes)
    with pytest.raises(TypeError, match=rf"'temprature'; expected {kind}\("):
        make(kind, temprature=1.0)


CHANGED = {
    "AttentionExplorer": {
        "layer": 1, "head": 2, "query": 1, "step": 0, "temperature": 2.0, "causal": True,
    },
    "BasisExplorer": {
        "mode": "rod", "points": [[0, 1], [0.5, 0], [1, 1]], "temperature": 1.0, "query": 0.0,
        "log_conductivity": np.ones(125), "load": np.zeros(125), "head": 1,
    },
    "BreakIt": {"bend": 0.5, "seed": 7},
    "EnergyDrift": {
        "system": "Kepler", "dt": 0.05, "q": np.array([0.8, 0.1]), "p": np.array([0.1, 1.2]),
        "plane": 2, "methods": ["runge_kutta_4"],
    },
    "GateExplorer": {
        "text": "a", "letter": 0, "unit": 3, "quantity": "vote", "order": "memory",
        "all_units": True,
    },
    "GraphDrum": {
        "graph": "drum", "start": "random", "node": 60, "height": -0.5, "mode": 60, "seed": 7,
        "stir": 0.5, "stiffness": 1.0, "large": "heat",
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
        "word": "beaded", "hidden": [0, 5], "place": 5, "option": 1, "guess_first": False,
        "heads": True,
    },
    "LiveFigure": {"dimension": 200, "power": 0.5, "seed": 7},
    "MechanicsStage": {
        "system": "RigidBody", "z": np.array([1.0, 0.5, 0.25]), "dt": 0.5,
        "methods": ["runge_kutta_4"],
    },
    "PartyMemory": {
        "mode": "query", "decay": 0.1, "door": 1.0, "temperature": 3.0, "question": "Who is fun?",
        "arrived": 3,
    },
    "PositionExplorer": {
        "kind": "rotary", "query_position": 0, "key_position": 7, "pair": 2, "stage": 0,
        "everything": True,
    },
    "Prediction": {"guess": [0.25] * 25, "revealed": True},
    "SoftLookup": {
        "query": np.array([1.0, 1.0]), "key_points": np.ones((3, 2)), "temperature": 1.0,
        "similarity": "dot",
    },
    "StarExplorer": {"star": 1, "period": 2.5, "night": 19, "hidden": [4, 17]},
    "SymplecticityMeter": {
        "z": np.ones((3, 2)), "loop": np.eye(2), "softmax": "matrix", "formula": "full",
        "experiment": "free",
    },
    "TileStepper": {"query_tile": 1, "key_tile": 1, "step": 110, "causal": False},
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


def test_hidden_places_are_sorted_unique_and_dropped_with_their_letters():
    widget = make("LetterHider", hidden=(n for n in (3, 0, 3)), place=3)
    assert widget.hidden == [0, 3]
    widget.set_state({"word": "be"})
    assert (widget.hidden, widget.place) == ([0], -1)
    widget = make("StarExplorer", hidden=[3, 0], star=1, night=19)
    widget.set_state({"star": 2})
    assert (widget.hidden, widget.night) == ([0, 3], -1)


# Whether it is valid depends on the other values.
DEPENDS = {"hidden", "letter", "mode", "night", "node", "p", "place", "plane", "q", "step"}
DEPENDS |= {"written", "z"}


@of_every_kind
def test_an_assignment_and_a_message_with_nonsense_in_it_are_refused_alike_and_change_nothing(
    kind, monkeypatch
):
    widget = make(kind)
    good = {n: sent_by_page(widget, n, value) for n, value in CHANGED[kind].items()}
    before, sent, states, heard = state_of(widget), [], [], []
    monkeypatch.setattr(widget, "send", sent.append)
    monkeypatch.setattr(widget, "send_state", states.append)
    widget.observe(heard.append, list(widget._declared()))
    for argument, value in [row[1:] for row in LATER if row[0] == kind]:
        name = trait_of(widget, argument)
        with pytest.raises((TypeError, ValueError), match=named(argument)):
            setattr(widget, name, value)
        beside = {} if name in DEPENDS else good
        with pytest.raises((TypeError, ValueError)) as caught:
            widget.set_state(beside | {name: sent_by_page(widget, name, value)})
        # The page gets the reason, and its own values back.
        assert sent.pop() == {"refused": str(caught.value)}
        assert set(states.pop()) == {*beside, name}
        assert state_of(widget) == before
    assert sent == heard == []


def test_help_shows_what_a_constructor_takes_and_what_is_missing_is_named():
    shown = inspect.signature(widgets.SoftLookup).parameters
    assert list(shown)[:3] == ["names", "keys", "values"]
    assert shown["temperature"].default == 0.3
    with pytest.raises(TypeError, match="'values'; expected SoftLookup"):
        widgets.SoftLookup(["Ada"], [[0, 0]])
    # Arguments of all Jupyter widgets are passed on.
    assert make("SoftLookup", layout={"width": "30em"}).layout.width == "30em"
