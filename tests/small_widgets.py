"""A small widget of each kind, with changeable arguments."""

import inspect
import json
import re
from typing import Any

import numpy as np
import torch
from seeded_tensors import perturbed
from torch import nn

from course_lib import mechanics, widgets
from course_lib.autoencoder import VAE
from course_lib.basis import CrossAttentionField
from course_lib.jets import CLASSES, EMPTY, Jets, ParticleTransformer
from course_lib.light_curves import Astromer, LightCurves
from course_lib.mechanics import Trajectory
from course_lib.models.molecules import Molecule, MoleculeNetwork
from course_lib.models.typefaces import (
    LETTERS,
    LEVELS,
    SIZE,
    AlphabetDecoder,
    StyleEncoder,
    Typefaces,
)
from course_lib.symplectic import SympNet
from course_lib.transformer import Decoder, MaskedLanguageModel
from course_lib.widgets import Widget
from course_lib.widgets.star_explorer.watched_stars import WatchedStars


def drawn(*shape: int, seed: int = 0, scale: float = 1.0) -> np.ndarray:
    return np.random.default_rng(seed).normal(scale=scale, size=shape)


def distributions(*shape: int, seed: int = 0, scale: float = 1.0) -> torch.Tensor:
    return torch.from_numpy(drawn(*shape, seed=seed, scale=scale)).softmax(-1)


def seeded(make: type[nn.Module], *sizes: int, **options: Any) -> nn.Module:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return perturbed(make(*sizes, **options), 0.3)


def stacked(
    kind: type[nn.Module], *sizes: int, heads: int = 2, layers: int = 2, **options: Any
) -> nn.Module:
    return seeded(kind, *sizes, heads, layers, **options)


def decoder(vocabulary: int = 7, d: int = 8, **options: Any) -> nn.Module:
    return stacked(Decoder, vocabulary, d, **{"tokens": 12} | options)


def encoder(vocabulary: int = 8, d: int = 8, **options: Any) -> nn.Module:
    return stacked(MaskedLanguageModel, vocabulary, d, **{"tokens": 9} | options)


def ethanol(name: str = "ethanol", carbons: int = 2) -> Molecule:
    """A chain of carbons that ends in an oxygen."""
    bonds = [(i, i + 1, 1) for i in range(carbons)]
    return Molecule.drawn([*"C" * carbons, "O"], bonds, name=name)


def decalin() -> Molecule:
    """Two rings of six that share a bond."""
    ring = [(i, (i + 1) % 10, 1) for i in range(10)]
    return Molecule.drawn(["C"] * 10, [*ring, (0, 5, 1)], name="decalin")


def bicyclopentyl() -> Molecule:
    """Two rings of five that a bond joins."""
    five = [(i, (i + 1) % 5, 1) for i in range(5)]
    bonds = [*five, *((i + 5, j + 5, 1) for i, j, _ in five), (0, 5, 1)]
    return Molecule.drawn(["C"] * 10, bonds, name="bicyclopentyl")


def acid(name: str) -> Molecule:
    """Glycine as an ion, with a fluorine: letters, charges and a double bond."""
    bonds = [(0, 1, 1), (1, 2, 1), (2, 3, 2), (2, 4, 1), (1, 5, 1)]
    place = torch.tensor([[-2.0, 0], [-1, 0.6], [0, 0], [0, -1.2], [1, 0.6], [-1, 1.8]])
    atoms = ["N", "C", "C", "O", "O", "F"]
    return Molecule.drawn(atoms, bonds, name=name, charge=[1, 0, 0, 0, -1, 0], place=place)


def molecule_network(**sizes: int) -> MoleculeNetwork:
    made = seeded(MoleculeNetwork, **{"d": 6, "layers": 2} | sizes)
    return made.answers_like(torch.tensor([-3.0, 0.0]))


def basis_field(d: int = 8, **changes: Any) -> tuple[CrossAttentionField, dict[str, Any]]:
    """An untrained field, and its ``about`` for a widget."""
    sizes = {"layers": 1, "d_z": 2, "d_hidden": 8, "finest": 20} | changes
    return stacked(CrossAttentionField, d, **sizes), {"sensors": 9, "error": 0.5}


def swing(steps: int = 100, *shape: int, start: float = 1.2, **given: Any) -> Trajectory:
    q = torch.full(shape or (1,), start, dtype=torch.float64)
    return mechanics.integrate(mechanics.Pendulum(), q, 0 * q, **{"dt": 0.1} | given, steps=steps)


def jets(sizes: tuple[int, ...] = (7, 5, 3), *, places: int = 8) -> Jets:
    """Random particles, the first of each jet near its axis; no jet is full."""
    random = np.random.default_rng(5)

    def draw(**normal: float) -> torch.Tensor:
        drawn = random.normal(size=(len(sizes), places), **normal)
        return torch.from_numpy(drawn).float()

    valid = torch.arange(places) < torch.tensor(sizes)[:, None]
    kind = torch.from_numpy(random.integers(5, size=valid.shape))
    charge = torch.from_numpy(random.choice([-1, 1], size=valid.shape))
    charge = torch.where((kind == 1) | (kind == 2), 0, charge)
    hardest = torch.tensor([200.0] + [40.0] * (places - 1))
    pt = hardest * draw(scale=0.3).exp()
    near = torch.tensor([0.02] + [0.2] * (places - 1))
    columns = {"pt": pt, "eta": 0.5 + near * draw(), "phi": 3.1 + near * draw()}
    columns |= {name: draw() * (charge != 0) for name in ("d0", "dz")}
    return Jets(
        **{name: value * valid for name, value in columns.items()},
        kind=torch.where(valid, kind, EMPTY),
        charge=charge * valid,
        label=torch.arange(len(sizes)) % len(CLASSES),
        size=torch.tensor(sizes),
    )


def particle_transformer(
    d: int = 8, *, classes: int = len(CLASSES), **sizes: int
) -> ParticleTransformer:
    """An untrained network with standardized particles and pairs."""
    model = stacked(ParticleTransformer, classes, d, **{"class_layers": 1, "d_pair": 4} | sizes)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        for unit in (model.standard, model.standard_pairs):
            unit.learn(2 * torch.randn(50, len(unit.mean)) - 1)
    return model


SANS = ("Sans Regular", "Sans Bold", "Sans Italic", "Sans Bold Italic")
SERIF = ("Serif Roman", "Serif Bold", "Serif Italic")
MONO = "Mono Regular"
BESIDE = (*SANS, MONO, *SERIF)
TYPEFACES = (*BESIDE, "Mono Bold", "Odd Black", "Odd Heavy Italic")


def style_vae(d_z: int = 3, *, d_letter: int = 5, d_hidden: int = 6) -> VAE:
    """Small, with weights large enough that its letters differ."""

    def make() -> VAE:
        decoder = AlphabetDecoder(d_z, d_letter=d_letter, d_hidden=d_hidden)
        networks = {"encoder": StyleEncoder(d_z, d_hidden=8), "decoder": decoder}
        return VAE(len(LETTERS) * SIZE**2, d_z, noise_variance=0.1, **networks)

    return seeded(make).eval()


def typefaces(names: tuple[str, ...] = TYPEFACES) -> Typefaces:
    """Grey blocks instead of letters, at other positions in each typeface."""
    random = np.random.default_rng(7)
    coarse = random.integers(LEVELS, size=(len(names), len(LETTERS), 7, 7)) / (LEVELS - 1)
    picture = torch.from_numpy(coarse.repeat(4, axis=2).repeat(4, axis=3)).float()
    family = tuple(name.partition(" ")[0] for name in names)
    side = tuple("test" if i % 3 else "train" for i in range(len(names)))
    return Typefaces(picture, tuple(names), family, side, family)


def astromer(
    d: int = 8, *, frequency: tuple[float, ...] = (0.4, 1.0, 2.0), **sizes: int
) -> Astromer:
    """An untrained model with distinct predictions."""
    standard = {"d_model": d, "heads": 2, "layers": 2, "d_hidden": 12}
    return seeded(Astromer, torch.tensor(frequency, dtype=torch.float64), **standard | sizes).eval()


def watched_stars(
    names: tuple[str, ...] = ("Mira", "Algol", "Polaris"),
    *,
    nights: tuple[int, ...] = (14, 20, 12),
    days: float = 20.0,
) -> WatchedStars:
    """Waves of known periods with noise, seen at random."""
    random, curves = np.random.default_rng(5), []
    periods = torch.tensor([0.7 + 0.9 * n for n in range(len(names))], dtype=torch.float64)
    for period, count in zip(periods.tolist(), nights, strict=True):
        time = np.sort(random.uniform(0, days, size=count))
        error = random.uniform(0.01, 0.05, size=count)
        turn = 2 * np.pi * time / period
        light = 15 + 0.3 * np.sin(turn) + 0.1 * np.cos(2 * turn) + error * random.normal(size=count)
        columns = [torch.from_numpy(values)[None] for values in (time, light, error)]
        curves.append(LightCurves(*columns, torch.ones(1, count, dtype=torch.bool)))
    pulsates = tuple(name != "Algol" for name in names)
    prior = (0.04, 0.03, 0.03, 0.01, 0.01, 0.002, 0.002)
    return WatchedStars(
        tuple(names), LightCurves.padded(curves), periods, pulsates=pulsates, prior=prior
    )


# The arguments of each kind; those that show names take one.
ARGUMENTS = {
    "AttentionExplorer": lambda name="Ada": {
        "tokens": [name, "b", "c", "b", "c"],
        "weights": distributions(4, 2, 3, 5, 5),
        "steps": [0, 10, 20, 30],
        "losses": [3.0, 2.5, 0.75, 0.5],
        "vocabulary": [name, "b", "c", "d"],
        "guesses": distributions(4, 5, 4, scale=2),
        "question": name,
        "rivals": ["d", name],
        "step": 3,
    },
    "BasisExplorer": lambda: dict(zip(("field", "about"), basis_field(), strict=True)),
    "BreakIt": lambda: {"claim": "equal-lengths"},
    "EnergyDrift": lambda name="Ada": {"steps": 500, "rollouts": {name: swing(500)}},
    "GateExplorer": lambda name="Ada": {
        "cell": seeded(nn.LSTM, 6, 5),
        "alphabet": "abcde ",
        "text": "bad cab",
        "readout": seeded(nn.Linear, 5, 2),
        "labels": [name, "b"],
        "unit": 2,
        "letter": 4,
    },
    "GraphDrum": lambda: {"graph": "molecule"},
    "GraphPlayground": lambda name="Ada": {
        "molecules": [acid(name), decalin(), bicyclopentyl()],
        "network": molecule_network(),
        "rounds": 2,
    },
    "JetExplorer": lambda: {"model": particle_transformer(), "jets": jets()},
    "LatentExplorer": lambda name=MONO: {
        "vae": style_vae(),
        "typefaces": typefaces(tuple(name if own == MONO else own for own in TYPEFACES)),
        "beside": [name if own == MONO else own for own in BESIDE],
        "start": 4,
        "end": 1,
        "share": 0.25,
        "word": "abz",
    },
    "LetterHider": lambda: {
        "model": encoder(),
        "alphabet": "·abcde<f",
        "mask": "·",
        "words": ["cab", "deface", "bead"],
        "word": "badface",
        "hidden": [2, 5],
    },
    "LiveFigure": lambda: {"figure": "root-d"},
    # Two networks leave no room for integrators.
    "MechanicsStage": lambda name="": (
        {"networks": {title: seeded(SympNet, 1, layers=2) for title in (name, "other")}}
        if name
        else {"rollouts": {"Ada": swing(200, dt=0.05)}}
    ),
    "PartyMemory": lambda name="Ada": {
        "images": np.random.default_rng(3).uniform(size=(4, 6, 5)),
        "names": [name, "Ben", "Cleo", "Dora"],
        "score": drawn(4),
        "keys": drawn(4, 3, seed=1),
        "queries": {name: drawn(3, seed=2), "Who is fun?": drawn(3, seed=3)},
        "arrived": 1,
    },
    "PositionExplorer": lambda: {
        "tokens": 24,
        "d_model": 6,
        "learned": drawn(24, 6),
        "before": drawn(2, 24, 6, seed=1),
        "base": 100,
    },
    "Prediction": lambda name="How much is still read after so many layers?": {
        "kind": "sketch",
        "question": name,
        "x": [1, 2, 4, 8, 16, 32],
        "truth": [62, 81, 90, 84, 40, 12],
        "across": (1, 32),
        "up": (0, 100),
        "xlog": True,
        "xlabel": "layers",
        "ylabel": "right (%)",
        "unit": "%",
        "answer": "Each layer blends neighbours, and in the end all are alike.",
    },
    "SoftLookup": lambda name="Ada": {
        "names": [name, "Ben", "Cleo"],
        "keys": [[-0.9, 0.8], [1.0, 0.4], [0.2, -1.0]],
        "values": [3.0, 40.0, 12.5],
        "query": [-0.2, 0.1],
        "unit": name,
    },
    "StarExplorer": lambda name="Ada": {
        "stars": watched_stars((name, "Algol", "Polaris")),
        "astromer": astromer(),
        "clock": "turns",
        "period": 1.3,
        "night": 3,
        "hidden": [2, 5, 6],
    },
    "SymplecticityMeter": lambda: {
        "z": [[-1.2, -0.6], [-0.2, 1.3], [0.9, -0.35]],
        "A": [[0.7, -0.4], [-0.4, 1.1]],
    },
    "TileStepper": lambda: {
        "query": drawn(10, 3),
        "key": drawn(11, 3, seed=1),
        "value": drawn(11, 3, seed=2),
        "query_tile": 4,
        "key_tile": 3,
        "causal": True,
        "step": 5,
    },
    "TinyGPT": lambda: {
        "model": decoder(norm="post"),  # it ends its text before the room is used up
        "alphabet": "·abcde<",
        "prompt": "bad",
        "written": "ce",
        "start": "·",
        "stop": "·",
        "top_k": 5,
        "top_p": 0.9,
        "beginnings": {"to a": "a", "to b": "b"},
    },
}
# The kinds that show names from outside.
TAKE_TEXT = [kind for kind, make in ARGUMENTS.items() if inspect.signature(make).parameters]


def make(kind: str, /, *name: str, **changes: Any) -> Widget:
    """A valid widget at rest, with the changed arguments of the test."""
    made = getattr(widgets, kind)
    still = {"moving": False} if "moving" in made.class_traits() else {}
    return made(**still | ARGUMENTS[kind](*name) | changes)


def payload_text(shown: Widget) -> str:
    """The payload of a widget in a page, without the script that starts it."""
    script = r'<script type="application/json">(.*?)</script>'
    return re.search(script, shown.static_html())[1]


def payload(shown: Widget) -> dict[str, Any]:
    return json.loads(payload_text(shown))
