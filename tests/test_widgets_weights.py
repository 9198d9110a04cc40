"""How much a page weighs at most for the largest widget of each kind, and in how many bits."""

from string import ascii_lowercase

import numpy as np
import pytest
import torch
from small_widgets import (
    astromer,
    decoder,
    encoder,
    jets,
    molecule_network,
    particle_transformer,
    payload_text,
    seeded,
    watched_stars,
)
from torch import nn

from course_lib import mechanics, widgets
from course_lib.molecules import load_molecules
from course_lib.rod_field import load_rod_field
from course_lib.typeface_vae import load_typeface_vae
from course_lib.typefaces import load_typefaces
from course_lib.widgets.basis_explorer import read_off
from course_lib.widgets.break_it import CLAIMS
from course_lib.widgets.drawings import MOST_ATOMS
from course_lib.widgets.energy_drift import METHODS
from course_lib.widgets.graph_drum import MOST_NODES, MOST_SPRINGS
from course_lib.widgets.graph_playground import MOST_MOLECULES
from course_lib.widgets.jet_explorer import MOST_JETS

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("plain_calls")]

RANDOM = np.random.default_rng(0)
LETTERS = "·" + ascii_lowercase


def bytes_of(widget):
    return len(widget.static_html().encode())


def stepped(system, q, p, dt):
    q = q + dt * system.grad_p(q, p)
    return q, p - dt * system.grad_q(q, p)


def film():
    rows = np.tril(RANDOM.uniform(size=(51, 2, 2, 13, 13)))
    return widgets.AttentionExplorer(
        list("odiracmydirac"),
        rows / rows.sum(-1, keepdims=True),
        steps=range(51),
        losses=range(51),
        vocabulary=list(ascii_lowercase),
        guesses=np.full((51, 13, 26), 1 / 26),
    )


def drifts():
    system = mechanics.CoupledOscillators()
    state = torch.tensor([1.0, 0.5], dtype=torch.float64)
    run = mechanics.integrate(system, state, state, dt=0.3, steps=2000)
    runs = {f"a learned model, number {i}": run for i in range(4)}
    start = {"q": state, "p": state, "dt": 0.3}
    yield widgets.EnergyDrift(system, **start, rollouts=runs, methods=list(METHODS))
    yield widgets.EnergyDrift(system, steps=500, steppers={"mine": stepped})
    runs.popitem()
    yield widgets.MechanicsStage(system, rollouts=runs)


def drum():
    pairs = torch.triu_indices(MOST_NODES, MOST_NODES, 1)
    return widgets.GraphDrum(edges=pairs[:, :: -(-pairs.shape[1] // MOST_SPRINGS)])


def party():
    queries = {f"Who is number {i}?": RANDOM.normal(size=64) for i in range(13)}
    keys, score = RANDOM.normal(size=(5, 64)), RANDOM.normal(size=5)
    images = RANDOM.uniform(size=(5, 8, 8))
    return widgets.PartyMemory(images, list("abcde"), score=score, keys=keys, queries=queries)


def gates():
    readout, labels = seeded(nn.Linear, 32, 2), ["one", "two"]
    cell, alphabet = seeded(nn.LSTM, 28, 32), ascii_lowercase + "-'"
    return widgets.GateExplorer(cell, alphabet, text="maria", readout=readout, labels=labels)


def test_none_weighs_more_than_sixty_kilobytes_but_for_the_large_models():
    molecules = [m for m in load_molecules() if len(m.element) == MOST_ATOMS][:MOST_MOLECULES]
    table = RANDOM.normal(size=(48, 32))
    strips = {claim.lecture: name for name, claim in CLAIMS.items()}
    rod_field = widgets.BasisExplorer(*load_rod_field(), points=read_off(np.linspace(0, 1, 16)))
    largest = [
        film(),
        *drifts(),
        drum(),
        party(),
        gates(),
        widgets.GraphPlayground(molecules, network=molecule_network(d=32, layers=3)),
        widgets.PositionExplorer(tokens=48, d_model=32, learned=table),
        widgets.SymplecticityMeter(RANDOM.uniform(-1, 1, size=(6, 2)), np.eye(2)),
        widgets.TileStepper(*RANDOM.normal(size=(3, 24, 8))),
        max(map(widgets.BreakIt, strips.values()), key=lambda strip: len(str(strip._esm))),
    ]
    weights = [(bytes_of(widget), type(widget).__name__) for widget in largest]
    assert max(weights) < (60_000, "")
    assert bytes_of(rod_field) < 67_000


HIDER = {"d": 32, "heads": 4, "layers": 2, "tokens": 16}
GPT = {"d": 48, "heads": 4, "layers": 3, "tokens": 64, "d_hidden": 228}


def test_a_page_carries_as_many_bits_as_fit_into_its_budget():
    word = "strengthsstrengt"
    told = {"mask": "·", "word": word, "hidden": range(16), "words": [word] * 8}
    for shape, bits in ((HIDER | {"d": 24}, 12), (HIDER | {"d_hidden": 128}, 7)):
        hider = widgets.LetterHider(encoder(27, **shape), LETTERS, **told)
        assert hider.bits == bits
        assert len(payload_text(hider).encode()) < 60_000
    for shape, bits in (({"d": 32, "heads": 4}, 16), (GPT, 11)):
        gpt = widgets.TinyGPT(decoder(27, **shape), LETTERS, prompt="mar", start="·", stop="·")
        assert gpt.bits == bits
        assert bytes_of(gpt) <= 250_000
    names = tuple(f"star {n}: {'x' * 70}" for n in range(16))
    stars = watched_stars(names, nights=(120,) * 16, days=399)
    many = jets((48,) * MOST_JETS, places=48)
    for widget in (
        widgets.StarExplorer(stars, astromer=astromer(80, heads=4, d_hidden=320)),
        widgets.JetExplorer(particle_transformer(56, heads=8, layers=3), many),
        widgets.LatentExplorer(load_typeface_vae()[0], load_typefaces()),
    ):
        assert 6 <= widget.bits <= 8
        assert 180_000 < bytes_of(widget) < 250_000
