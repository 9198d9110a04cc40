import base64
import zlib

import numpy as np
import pytest
import torch
from scipy.stats import chi2
from small_widgets import BESIDE, SANS, SERIF, TYPEFACES, payload, style_vae, typefaces

from course_lib.autoencoder import kl_to_standard_normal
from course_lib.typeface_vae import load_typeface_vae
from course_lib.typefaces import load_typefaces, unpacked
from course_lib.widgets import LatentExplorer
from course_lib.widgets.traits import Array

pytestmark = pytest.mark.usefixtures("plain_calls")


def explorer(**given):
    return LatentExplorer(
        given.pop("vae", None) or style_vae(),
        given.pop("typefaces", None) or typefaces(),
        **{"beside": BESIDE} | given,
    )


def code_of(widget, name):
    return widget.codes[widget.faces["names"].index(name)].double()


def test_the_map_has_the_codes_of_the_trained_encoder_and_the_walk_joins_two_held_out():
    vae, faces = load_typeface_vae()[0], load_typefaces()
    real = LatentExplorer(vae, faces)
    rows = [faces.name.index(name) for name in real.faces["names"]]
    with torch.no_grad():
        mean, _ = vae.encode(faces.picture[rows].flatten(1))
        before, after = vae.decode(mean), real.decoder(mean)
    # Rounding costs little of what the decoder misses anyway.
    wrong = (before - faces.picture[rows].flatten(1)).square().mean()
    assert (after - before).square().mean() < 0.03 * wrong
    assert (real.codes - mean).abs().max() < 0.01
    assert len(set(real.faces["names"])) == len(rows) > 200
    assert {faces.family[row] for row in rows} == set(faces.family)
    for place in (real.start, real.end):
        assert faces.side[rows[place]] == "test"
        assert real.faces["held"][place] == "1"


def test_what_the_page_draws_is_what_the_rounded_decoder_draws():
    widget = explorer(z=[0.5, -1.0, 2.0])
    drawn = widget.alphabet()
    assert drawn.shape == (26, 28, 28)
    with torch.no_grad():
        expected = widget.decoder.double()(torch.tensor([0.5, -1.0, 2.0], dtype=torch.float64))
    assert torch.equal(drawn.flatten(), expected)
    rounded = dict(widget.decoder.named_parameters())
    for name, parameter in style_vae().decoder.named_parameters():
        step = parameter.abs().max() / (2 ** (widget.bits - 1) - 1)
        assert (rounded[name] - parameter).abs().max() <= 0.51 * 1.01 * step


def test_real_letters_travel_as_they_are_and_others_not_at_all():
    faces = payload(explorer(typefaces=typefaces()))["state"]["faces"]
    packed = zlib.decompress(base64.b64decode(faces["pictures"]))
    level = unpacked(np.frombuffer(packed, dtype=np.uint8).reshape(len(BESIDE), 26, 28, 14))
    np.testing.assert_array_equal(level / np.float32(15), typefaces().picture[: len(BESIDE)])
    assert faces["names"][: len(BESIDE)] == list(BESIDE)
    assert set(faces["names"]) == set(TYPEFACES)


def test_of_a_large_family_the_map_shows_a_few_spread_evenly_and_some_stand_beside():
    chosen = LatentExplorer(style_vae(), typefaces(tuple(f"Face {i}" for i in range(50))))
    assert 2 <= chosen.facts["real"] <= 32
    names = (*SANS, *(f"Many {weight}" for weight in range(10)))
    widget = explorer(typefaces=typefaces(names), beside=SANS)
    assert widget.faces["names"] == [*SANS, "Many 0", "Many 4", "Many 8"]


def test_families_kinds_and_what_is_held_out_are_read_off_the_names():
    widget = explorer()
    assert widget.families == [
        {"title": "Sans", "places": [0, 1, 2], "both": 3},
        {"title": "Serif", "places": [5, 6, 7], "both": -1},
    ]
    assert explorer(beside=(*SANS[:2], *SERIF[:2])).families == []
    sides = [typefaces().side[TYPEFACES.index(name)] for name in widget.faces["names"]]
    assert widget.faces["held"] == "".join("01"[side != "train"] for side in sides)
    names = ("Odd Heavy Oblique", "Odd Black", "Odd Oblique", "Odd Code Bold", "Odd Thin")
    faces = explorer(typefaces=typefaces(names), beside=names).faces
    kinds = ["bold italic", "bold", "italic", "fixed width", "other"]
    assert [widget.facts["kinds"][int(kind)] for kind in faces["kinds"]] == kinds


def test_the_first_plane_runs_along_the_mean_steps_to_bold_and_to_italic():
    faces, widget = typefaces(), explorer()
    with torch.no_grad():
        mean, _ = style_vae().encode(faces.picture.flatten(1))
    regular, bold, italic = (
        mean[[faces.name.index(name) for name in style]].mean(dim=0)
        for style in zip(SANS[:3], SERIF, strict=True)
    )
    plane = widget.facts["planes"][0]
    across, up = torch.from_numpy(Array._decode(plane["directions"], None))
    step = bold - regular
    assert torch.allclose(across, step / step.norm(), atol=1e-5)
    slant = italic - regular
    slant = slant - (slant @ across) * across
    assert torch.allclose(up, slant / slant.norm(), atol=1e-5)


def test_the_other_planes_are_those_of_principal_components():
    widget = explorer()
    codes = widget.codes.double().numpy()
    _, vectors = np.linalg.eigh(np.cov(codes.T))
    planes = widget.facts["planes"][1:]
    assert [plane["title"] for plane in planes] == [
        f"components {pair}" for pair in ("1, 2", "1, 3", "2, 3")
    ]
    for plane, (i, j) in zip(planes, ((0, 1), (0, 2), (1, 2)), strict=True):
        found = Array._decode(plane["directions"], None)
        expected = vectors.T[::-1][[i, j]]
        np.testing.assert_allclose(np.abs(np.sum(found * expected, axis=1)), 1, atol=1e-5)
    names = ("One", "Two", "Three")
    bare = explorer(typefaces=typefaces(names), beside=names)
    assert bare.facts["planes"][0]["title"] == "components 1, 2"


def test_the_axes_are_those_that_cost_most_and_the_edge_that_of_the_prior():
    widget = explorer()
    with torch.no_grad():
        cloud = style_vae().encode(typefaces().picture.flatten(1))
    total = kl_to_standard_normal(*cloud).mean()
    assert widget.facts["nats"] == pytest.approx(float(total), rel=1e-5)
    axes, nats = zip(*widget.facts["axes"], strict=True)
    assert sorted(axes) == [0, 1, 2]
    assert list(nats) == sorted(nats, reverse=True)
    assert sum(nats) == pytest.approx(float(total), rel=1e-5)
    assert chi2.cdf(widget.facts["edge"] ** 2, 3) == pytest.approx(0.99)


def test_a_model_in_training_or_in_double_precision_is_taken_too_and_left_as_it_is():
    vae = style_vae().double().train()
    widget = explorer(vae=vae)
    assert vae.training
    assert next(vae.parameters()).dtype == torch.float64
    assert torch.allclose(widget.codes, explorer().codes, atol=1e-5)


def test_it_begins_on_its_walk_unless_a_code_is_given_and_the_words_name_it():
    widget = explorer(start=2, end=5, share=0.25)
    start, end = code_of(widget, BESIDE[2]), code_of(widget, BESIDE[5])
    np.testing.assert_allclose(widget.z, start + 0.25 * (end - start), rtol=0, atol=1e-6)
    assert explorer(z=[1, 2, 3], share=0.5).z.tolist() == [1, 2, 3]
    words = explorer(start=1, end=0).describe()
    assert words.startswith("Map of 11 typefaces in the 3 numbers")
    assert words.endswith("from Sans Bold to Sans Regular.")
