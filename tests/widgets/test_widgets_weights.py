"""The size of a page with the largest widget of each kind, and its bits per weight."""

from string import ascii_lowercase

import numpy as np
import pytest
import small_widgets as small
import torch
from torch import nn

from course_lib import mechanics, widgets
from course_lib.models.molecules import MoleculeNetwork, load_molecules
from course_lib.models.rods import load_rod_field
from course_lib.models.stars import load_astromer
from course_lib.models.typefaces import load_typeface_vae, load_typefaces
from course_lib.models.words.induction import StringReader
from course_lib.widgets.basis_explorer.basis_explorer import read_off
from course_lib.widgets.break_it.break_it import CLAIMS
from course_lib.widgets.graph_drum.graph_drum import MOST_NODES, MOST_SPRINGS
from course_lib.widgets.graph_playground.drawings import MOST_ATOMS
from course_lib.widgets.graph_playground.graph_playground import MOST_MOLECULES
from course_lib.widgets.jet_explorer.jet_explorer import MOST_JETS
from course_lib.widgets.kit.runs import METHODS
from course_lib.widgets.star_explorer.watched_stars import stars_to_watch

pytestmark = pytest.mark.slow

LETTERS = "·" + ascii_lowercase


def bytes_of(widget):
    return len(widget.static_html().encode())


def largest_of_all_but_those_with_large_models():
    rows = np.tril(small.distributions(21, 2, 2, 13, 13).numpy())
    yield widgets.AttentionExplorer(
        list("odiracmydirac"),
        rows / rows.sum(-1, keepdims=True),
        steps=range(21),
        losses=range(21),
        vocabulary=list(ascii_lowercase),
        guesses=np.full((21, 13, 26), 1 / 26),
        reader=StringReader(),
    )

    system = mechanics.CoupledOscillators()
    state = torch.tensor([1.0, 0.5], dtype=torch.float64)
    run = mechanics.integrate(system, state, state, dt=0.3, steps=2000)
    runs = {f"a learned model, number {i}": run for i in range(4)}
    start = {"q": state, "p": state, "dt": 0.3}
    yield widgets.EnergyDrift(system, **start, rollouts=runs, methods=list(METHODS))
    runs.popitem()
    yield widgets.MechanicsStage(system, rollouts=runs)

    cell, alphabet = small.seeded(nn.LSTM, 28, 32), ascii_lowercase + "-'"
    readout = small.seeded(nn.Linear, 32, 2)
    yield small.make("GateExplorer", cell=cell, alphabet=alphabet, text="maria", readout=readout)

    pairs = torch.triu_indices(MOST_NODES, MOST_NODES, 1)
    yield widgets.GraphDrum(edges=pairs[:, :: -(-pairs.shape[1] // MOST_SPRINGS)])
    molecules = [m for m in load_molecules() if len(m.element) == MOST_ATOMS][:MOST_MOLECULES]
    network = small.molecule_network(d=32, layers=3)
    yield small.make("GraphPlayground", molecules=molecules, network=network)

    queries = {f"Who is number {i}?": small.drawn(64, seed=i) for i in range(13)}
    images = np.random.default_rng(0).uniform(size=(5, 8, 8))
    given = {"score": small.drawn(5), "keys": small.drawn(5, 64), "queries": queries}
    yield widgets.PartyMemory(images, list("abcde"), **given)
    yield widgets.PositionExplorer(tokens=48, d_model=32, learned=small.drawn(48, 32))
    yield small.make("SymplecticityMeter", z=small.drawn(6, 2, scale=0.5))
    yield widgets.TileStepper(*small.drawn(3, 24, 8))
    strips = {claim.lecture: name for name, claim in CLAIMS.items()}
    yield max(map(widgets.BreakIt, strips.values()), key=lambda strip: len(str(strip._esm)))


def test_none_exceeds_sixty_kilobytes_except_the_large_models():
    for widget in largest_of_all_but_those_with_large_models():
        assert bytes_of(widget) < 60_000, widget


HIDER = {"d": 32, "heads": 4, "layers": 2, "tokens": 16, "d_hidden": 128}
GPT = {"d": 48, "heads": 4, "layers": 3, "tokens": 64, "d_hidden": 228}


def test_a_page_has_as_many_bits_as_fit_into_its_budget():
    word = "strengthsstrengt"
    told = {"alphabet": LETTERS, "word": word, "hidden": range(16), "words": [word] * 8}
    hider = small.make("LetterHider", model=small.encoder(27, **HIDER), **told)
    assert hider.bits == 7
    assert len(small.payload_text(hider).encode()) < 60_000
    gpt = small.make("TinyGPT", model=small.decoder(27, **GPT), alphabet=LETTERS, prompt="mar")
    assert gpt.bits == 12
    assert bytes_of(gpt) <= 250_000
    names = tuple(f"star {n}: {'x' * 70}" for n in range(16))
    stars = small.watched_stars(names, nights=(120,) * 16, days=399)
    many = small.jets((48,) * MOST_JETS, places=48)
    for widget in (
        widgets.StarExplorer(stars, astromer=small.astromer(80, heads=4, d_hidden=320)),
        widgets.JetExplorer(small.particle_transformer(56, heads=8, layers=3), many),
    ):
        assert 6 <= widget.bits <= 8
        assert 180_000 < bytes_of(widget) < 250_000


def test_a_trained_model_of_the_course_is_rounded_little_and_its_page_is_not_too_heavy():
    vae, watched = load_typeface_vae()[0], stars_to_watch()
    places = read_off(np.linspace(0, 1, 16))
    for widget, bits, most_bytes in (
        (widgets.BasisExplorer(*load_rod_field(), points=places), 8, 67_000),
        (small.make("GraphPlayground", network=MoleculeNetwork()), 13, 60_000),
        (widgets.LatentExplorer(vae, load_typefaces()), 6, 250_000),
        *(
            (widgets.StarExplorer(watched, astromer=load_astromer(clock)[0]), 8, 150_000)
            for clock in ("days", "turns")
        ),
    ):
        assert widget.bits == bits
        assert bytes_of(widget) < most_bytes
