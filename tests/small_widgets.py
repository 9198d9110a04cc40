"""A small widget of each kind, made again with other arguments."""

import json
import re
from typing import Any

import numpy as np
import torch
from seeded import perturbed
from torch import nn

from course_lib import mechanics, widgets
from course_lib.astromer import Astromer
from course_lib.autoencoder import VAE
from course_lib.jets import CLASSES, EMPTY, Jets
from course_lib.light_curves import LightCurves
from course_lib.masked_language_model import MaskedLanguageModel
from course_lib.mechanics import Trajectory
from course_lib.molecule_network import MoleculeNetwork
from course_lib.molecules import Molecule
from course_lib.neural_field import CrossAttentionField
from course_lib.particle_transformer import ParticleTransformer
from course_lib.transformer import Decoder
from course_lib.typeface_vae import AlphabetDecoder, StyleEncoder
from course_lib.typefaces import LETTERS, LEVELS, SIZE, Typefaces
from course_lib.widgets import Widget
from course_lib.widgets.watched_stars import WatchedStars

RANDOM = np.random.default_rng(0)
QUERY, KEY, VALUE = (RANDOM.normal(size=(tokens, 3)) for tokens in (10, 12, 12))
TABLE = RANDOM.normal(size=(10, 6))
UNIFORM = np.full((2, 3, 3, 3), 1 / 3)


def seeded(make: type[nn.Module], *sizes: int, **options: Any) -> nn.Module:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return perturbed(make(*sizes, **options), 0.3)


def decoder(vocabulary: int = 6, d: int = 8, **options: Any) -> nn.Module:
    sizes = {"heads": 2, "layers": 2, "tokens": 8} | options
    return seeded(Decoder, vocabulary, d, sizes.pop("heads"), sizes.pop("layers"), **sizes)


def encoder(vocabulary: int = 6, d: int = 8, **options: Any) -> nn.Module:
    sizes = {"heads": 2, "layers": 2, "tokens": 8} | options
    heads, layers = sizes.pop("heads"), sizes.pop("layers")
    return seeded(MaskedLanguageModel, vocabulary, d, heads, layers, **sizes)


def ethanol(name: str = "ethanol", carbons: int = 2) -> Molecule:
    """A chain of carbons that ends in an oxygen."""
    bonds = [(i, i + 1, 1) for i in range(carbons)]
    return Molecule.drawn([*"C" * carbons, "O"], bonds, name=name)


def molecule_network(**sizes: int) -> MoleculeNetwork:
    made = seeded(MoleculeNetwork, **{"d": 6, "layers": 2} | sizes)
    return made.answers_like(torch.tensor([-3.0, 0.0]))


def basis_field(d: int = 8, **changes: Any) -> tuple[CrossAttentionField, dict[str, Any]]:
    """A field that nobody trained, and what a widget has to know of it."""
    sizes = {"heads": 2, "layers": 1, "d_z": 2, "d_hidden": 8, "finest": 20} | changes
    heads, layers = sizes.pop("heads"), sizes.pop("layers")
    return seeded(CrossAttentionField, d, heads, layers, **sizes), {"sensors": 9, "error": 0.5}


def swing(steps: int = 100, shape: tuple[int, ...] = (1,)) -> Trajectory:
    q = torch.full(shape, 1.2, dtype=torch.float64)
    return mechanics.integrate(mechanics.Pendulum(), q, q, dt=0.1, steps=steps)


def jets(sizes: tuple[int, ...] = (7, 5, 3), *, places: int = 8) -> Jets:
    """Particles that fly about at random, the first of each jet near its axis; no jet is full."""
    random = np.random.default_rng(5)

    def draw(**normal: float) -> torch.Tensor:
        drawn = random.normal(size=(len(sizes), places), **normal)
        return torch.from_numpy(drawn).float()

    real = torch.arange(places) < torch.tensor(sizes)[:, None]
    kind = torch.from_numpy(random.integers(5, size=real.shape))
    charge = torch.from_numpy(random.choice([-1, 1], size=real.shape))
    charge = torch.where((kind == 1) | (kind == 2), 0, charge)
    hardest = torch.tensor([200.0] + [40.0] * (places - 1))
    pt = hardest * draw(scale=0.3).exp()
    near = torch.tensor([0.02] + [0.2] * (places - 1))
    columns = {"pt": pt, "eta": 0.5 + near * draw(), "phi": 3.1 + near * draw()}
    columns |= {name: draw() * (charge != 0) for name in ("d0", "dz")}
    return Jets(
        **{name: value * real for name, value in columns.items()},
        kind=torch.where(real, kind, EMPTY),
        charge=charge * real,
        label=torch.arange(len(sizes)) % len(CLASSES),
        size=torch.tensor(sizes),
    )


def particle_transformer(d: int = 8, **changes: int) -> ParticleTransformer:
    """One that nobody trained, to which particles and pairs are about as usual as others."""
    sizes = {"heads": 2, "layers": 2, "class_layers": 1, "d_pair": 4} | changes
    classes = sizes.pop("classes", len(CLASSES))
    model = seeded(ParticleTransformer, classes, d, *(sizes.pop(n) for n in STACK), **sizes)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        for unit in (model.standard, model.standard_pairs):
            unit.learn(2 * torch.randn(50, len(unit.mean)) - 1)
    return model


STACK = ("heads", "layers", "class_layers")
SANS = ("Sans Regular", "Sans Bold", "Sans Italic", "Sans Bold Italic")
SERIF = ("Serif Roman", "Serif Bold", "Serif Italic")
BESIDE = (*SANS, "Mono Regular", *SERIF)
TYPEFACES = (*BESIDE, "Mono Bold", "Odd Black", "Odd Heavy Italic")


def style_vae(d_z: int = 3, *, d_letter: int = 5, d_hidden: int = 6) -> VAE:
    """Small, with weights large enough that its letters differ."""

    def make() -> VAE:
        networks = {
            "encoder": StyleEncoder(d_z, d_hidden=8),
            "decoder": AlphabetDecoder(d_z, d_letter=d_letter, d_hidden=d_hidden),
        }
        return VAE(len(LETTERS) * SIZE**2, d_z, noise_variance=0.1, **networks)

    return seeded(make).eval()


def typefaces(names: tuple[str, ...] = TYPEFACES) -> Typefaces:
    """Pictures of nothing: grey blocks, in other places in each typeface."""
    random = np.random.default_rng(7)
    coarse = random.integers(LEVELS, size=(len(names), len(LETTERS), 7, 7)) / (LEVELS - 1)
    picture = torch.from_numpy(coarse.repeat(4, axis=2).repeat(4, axis=3)).float()
    family = tuple(name.partition(" ")[0] for name in names)
    side = tuple("test" if i % 3 else "train" for i in range(len(names)))
    return Typefaces(picture, tuple(names), family, side, family)


def astromer(
    d: int = 8,
    *,
    heads: int = 2,
    layers: int = 2,
    d_hidden: int = 12,
    frequency: tuple[float, ...] = (0.4, 1.0, 2.0),
) -> Astromer:
    """One that nobody trained, but whose answers differ."""
    sizes = {"d_model": d, "heads": heads, "layers": layers, "d_hidden": d_hidden}
    return seeded(Astromer, torch.tensor(frequency, dtype=torch.float64), **sizes).eval()


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


ARGUMENTS = {
    "AttentionExplorer": lambda: {"tokens": ["the", "cat", "sat"], "weights": UNIFORM},
    "BasisExplorer": lambda: dict(zip(("field", "about"), basis_field(), strict=True)),
    "BreakIt": lambda: {"claim": "equal-lengths", "moving": False},
    "EnergyDrift": lambda: {"system": mechanics.Kepler(), "steps": 100, "moving": False},
    "GateExplorer": lambda: {
        "cell": seeded(nn.LSTM, 5, 4),
        "alphabet": "abcde",
        "text": "bead",
        "readout": seeded(nn.Linear, 4, 2),
        "labels": ["one", "two"],
    },
    "GraphDrum": lambda: {"graph": "ring", "moving": False},
    "GraphPlayground": lambda: {
        "molecules": [ethanol(), ethanol("propanol", 3)],
        "network": molecule_network(),
        "moving": False,
    },
    "JetExplorer": lambda: {"model": particle_transformer(), "jets": jets(), "moving": False},
    "LatentExplorer": lambda: {"vae": style_vae(), "typefaces": typefaces(), "beside": BESIDE},
    "LetterHider": lambda: {
        "model": encoder(),
        "alphabet": "ab·cde",
        "mask": "·",
        "word": "bead",
        "hidden": [1],
        "words": ["cab"],
        "moving": False,
    },
    "LiveFigure": lambda: {"figure": "root-d", "moving": False},
    "MechanicsStage": lambda: {"system": mechanics.Kepler(), "moving": False},
    "PartyMemory": lambda: {
        "images": np.linspace(0, 1, 24).reshape(3, 2, 4),
        "names": ["Ada", "Ben", "Cleo"],
        "score": [0.0, 1.0, -2.0],
        "keys": [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]],
        "queries": {"Who sings?": [2.0, 0.0], "Who cooks?": [0.0, 2.0]},
    },
    "PositionExplorer": lambda: {"tokens": 8, "d_model": 6},
    "Prediction": lambda: {
        "kind": "sketch",
        "question": "How far does it see?",
        "answer": "Farther than you think.",
        "x": [1.0, 2.0, 4.0],
        "truth": [0.2, 0.5, 0.9],
        "across": (1.0, 4.0),
    },
    "SoftLookup": lambda: {
        "names": ["Ada", "Ben"],
        "keys": [[0.0, 0.5], [1.0, -1.0]],
        "values": [1.0, 2.0],
        "moving": False,
    },
    "StarExplorer": lambda: {"stars": watched_stars(), "astromer": astromer(), "moving": False},
    "SymplecticityMeter": lambda: {"z": np.arange(6.0).reshape(3, 2) / 10, "A": np.eye(2)},
    "TileStepper": lambda: {"query": QUERY, "key": KEY, "value": VALUE, "moving": False},
    "TinyGPT": lambda: {
        "model": decoder(),
        "alphabet": "·abcde",
        "prompt": "bad",
        "start": "·",
        "stop": "·",
        "moving": False,
    },
}


def make(kind: str, /, **changes: Any) -> Widget:
    """A valid widget, but for the arguments that the test changes."""
    return getattr(widgets, kind)(**ARGUMENTS[kind]() | changes)


def payload_text(shown: Widget) -> str:
    """What a page carries for a widget, but for the script that starts it."""
    script = r'<script type="application/json">(.*?)</script>'
    return re.search(script, shown.static_html())[1]


def payload(shown: Widget) -> dict[str, Any]:
    return json.loads(payload_text(shown))
