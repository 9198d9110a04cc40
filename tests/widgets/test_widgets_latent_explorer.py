from functools import partial

import numpy as np
import pytest
import torch
from scipy.stats import chi2
from small_widgets import BESIDE, SANS, SERIF, TYPEFACES, make, style_vae, typefaces

from course_lib.autoencoder import kl_to_standard_normal
from course_lib.models.typefaces import load_typeface_vae, load_typefaces
from course_lib.widgets import LatentExplorer
from course_lib.widgets.kit.traits import Array

explorer = partial(make, "LatentExplorer")


@torch.no_grad()
def clouds():
    return style_vae().encode(typefaces().picture.flatten(1))


def directions_of(plane):
    return Array._decode(plane["directions"], None)


def test_the_map_has_the_codes_of_the_trained_encoder_and_the_walk_joins_two_held_out():
    vae, faces = load_typeface_vae()[0], load_typefaces()
    real = LatentExplorer(vae, faces)
    rows = [faces.name.index(name) for name in real.faces["names"]]
    with torch.no_grad():
        mean, _ = vae.encode(faces.picture[rows].flatten(1))
    assert (real.codes - mean).abs().max() < 0.01
    assert len(set(real.faces["names"])) == len(rows) > 200
    assert {faces.family[row] for row in rows} == set(faces.family)
    for place in (real.start, real.end):
        assert faces.side[rows[place]] == "test"
        assert real.faces["held"][place] == "1"


def test_it_begins_on_its_walk_unless_a_code_is_given_and_the_words_name_it():
    widget = explorer(start=2, end=5)
    start, end = (widget.codes[widget.faces["names"].index(BESIDE[i])] for i in (2, 5))
    np.testing.assert_allclose(widget.z, start + 0.25 * (end - start), rtol=0, atol=1e-6)
    words = explorer(start=1, end=0).describe()
    assert words.endswith("from Sans Bold to Sans Regular.")
    widget = explorer(z=[0.5, -1.0, 2.0])
    assert widget.z.tolist() == [0.5, -1.0, 2.0]
    with torch.no_grad():
        expected = widget.decoder.double()(torch.from_numpy(widget.z).double())
    assert torch.equal(widget.alphabet(), expected.reshape(26, 28, 28))


def test_of_a_large_family_the_map_shows_a_few_spread_evenly_and_some_stand_beside():
    names = (*SANS, *(f"Many {weight}" for weight in range(10)))
    widget = LatentExplorer(style_vae(), typefaces(names), beside=SANS)
    assert widget.faces["names"] == [*SANS, "Many 0", "Many 4", "Many 8"]


def test_families_kinds_and_what_is_held_out_are_read_off_the_names():
    widget = explorer()
    assert widget.families == [
        {"title": "Sans", "places": [0, 1, 2], "both": 3},
        {"title": "Serif", "places": [5, 6, 7], "both": -1},
    ]
    sides = [typefaces().side[TYPEFACES.index(name)] for name in widget.faces["names"]]
    assert widget.faces["held"] == "".join("01"[side != "train"] for side in sides)
    kinds = {
        "Odd Heavy Oblique": "bold italic",
        "Odd Code Bold": "fixed width",
        "Odd Thin": "other",
    }
    faces = LatentExplorer(style_vae(), typefaces(tuple(kinds)), beside=list(kinds)).faces
    assert [widget.facts["kinds"][int(kind)] for kind in faces["kinds"]] == list(kinds.values())


def test_planes_run_along_the_mean_steps_to_bold_and_to_italic_or_along_principal_components():
    widget, faces = explorer(), typefaces()
    regular, bold, italic = (
        clouds()[0][[faces.name.index(name) for name in style]].mean(dim=0)
        for style in zip(SANS[:3], SERIF, strict=True)
    )
    first, *others = widget.facts["planes"]
    across, up = torch.from_numpy(directions_of(first))
    step, slant = bold - regular, italic - regular
    assert torch.allclose(across, step / step.norm(), atol=1e-5)
    slant = slant - (slant @ across) * across
    assert torch.allclose(up, slant / slant.norm(), atol=1e-5)

    _, vectors = np.linalg.eigh(np.cov(widget.codes.double().numpy().T))
    titles = [f"components {pair}" for pair in ("1, 2", "1, 3", "2, 3")]
    assert [plane["title"] for plane in others] == titles
    for plane, pair in zip(others, ([0, 1], [0, 2], [1, 2]), strict=True):
        along = np.sum(directions_of(plane) * vectors.T[::-1][pair], axis=1)
        np.testing.assert_allclose(np.abs(along), 1, atol=1e-5)


def test_the_axes_are_those_that_cost_most_and_the_edge_that_of_the_prior():
    facts, total = explorer().facts, float(kl_to_standard_normal(*clouds()).mean())
    axes, nats = zip(*facts["axes"], strict=True)
    assert sorted(axes) == [0, 1, 2]
    assert list(nats) == sorted(nats, reverse=True)
    assert (facts["nats"], sum(nats)) == pytest.approx((total, total), rel=1e-5)
    assert chi2.cdf(facts["edge"] ** 2, 3) == pytest.approx(0.99)
