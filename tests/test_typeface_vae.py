"""The VAE of whole typefaces: its formula, and the trained one with what is said of it."""

import json

import numpy as np
import pytest
import torch
from seeded import assert_close, randn, randomized

from course_lib.autoencoder import elbo
from course_lib.training import parameter_count
from course_lib.typeface_vae import (
    PAPER,
    PIXELS,
    SHARPNESS,
    WEIGHTS,
    AlphabetDecoder,
    StyleEncoder,
    load_typeface_vae,
    typeface_vae,
)
from course_lib.typefaces import load_typefaces


def silu(x):
    return x / (1 + (-x).exp())


@pytest.fixture(scope="module")
def trained():
    return load_typeface_vae()


@pytest.fixture(scope="module")
def test_side():
    return load_typefaces().where("test").picture.flatten(1)


def test_the_decoder_is_its_formula():
    torch.manual_seed(0)
    decoder = randomized(AlphabetDecoder(3, d_letter=4, d_hidden=5), scale=0.5)
    z = randn(2, 3)
    drawn = decoder(z).reshape(2, 26, PIXELS)
    for i in range(2):
        for letter in (0, 7, 25):
            first = silu(decoder.style[letter] @ z[i] + decoder.letter[letter])
            second = silu(decoder.hidden.weight @ first + decoder.hidden.bias)
            ink = decoder.pixels.weight @ second + decoder.pixels.bias
            assert_close(drawn[i, letter], (SHARPNESS * ink + PAPER).sigmoid())


def test_the_encoder_is_a_mean_over_what_it_sees_in_each_letter():
    torch.manual_seed(0)
    encoder = randomized(StyleEncoder(2, d_hidden=3), scale=0.1).eval()
    x = randn(26, PIXELS).abs()
    seen = sum(
        silu(
            encoder.hidden.weight
            @ silu(encoder.pixels.weight @ x[i] + encoder.pixels.bias + encoder.letter[i])
            + encoder.hidden.bias
        )
        for i in range(26)
    )
    style = silu(encoder.style.weight @ seen / 26 + encoder.style.bias)
    expected = encoder.code.weight @ style + encoder.code.bias
    assert_close(encoder(x.flatten()), expected, 1e-10)


def test_a_page_can_carry_the_decoder(trained):
    model, about = trained
    assert parameter_count(model.decoder) == about["parameters"]["decoder"] < 180_000
    assert parameter_count(model.encoder) == about["parameters"]["encoder"]


def test_the_file_says_how_it_was_made(trained):
    _, about = trained
    assert set(about) == {
        "command", "seed", "d_z", "steps", "beta", "seconds", "torch", "parameters", "draws",
        "elbo",
    }  # fmt: skip
    options = f"--steps {about['steps']} --beta {about['beta']:g}"
    assert about["command"].endswith(f"scripts/train_typefaces.py {options}")
    assert 0 < about["seconds"] < 25 * 60
    with np.load(WEIGHTS) as data:
        assert json.loads(str(data["about"])) == about


@pytest.mark.slow
def test_held_out_typefaces_have_the_bound_that_the_file_says(trained, test_side):
    model, about = trained
    with torch.no_grad():
        found = elbo(model, test_side, samples=4, generator=torch.Generator().manual_seed(1))
    said = about["elbo"]["test"]
    assert found.value.mean().item() == pytest.approx(said["elbo"], abs=50)  # of 20,384 pixels
    assert found.kl.mean().item() == pytest.approx(said["kl"], rel=0.01)


@pytest.mark.slow
def test_a_style_that_was_never_seen_is_drawn_nearer_than_its_nearest_neighbour(trained, test_side):
    model, _ = trained
    with torch.no_grad():
        drawn = model.decode(model.encode(test_side)[0])
    train = load_typefaces().where("train").picture.flatten(1)
    # A copy of the nearest neighbour is a model too; what is asked is the squared error.
    nearest = torch.cdist(test_side, train).square().amin(dim=1)
    error = (test_side - drawn).square().sum(dim=1)
    assert error.mean() < nearest.mean()


@pytest.mark.slow
def test_the_clouds_of_all_typefaces_together_have_the_moments_of_the_prior(trained):
    model, _ = trained
    with torch.no_grad():
        mean, log_variance = model.encode(load_typefaces().where("train").picture.flatten(1))
    assert mean.mean(dim=0).abs().max() < 0.02
    assert ((mean.square() + log_variance.exp()).mean(dim=0) - 1).abs().max() < 0.02


def test_in_training_letters_are_hidden():
    torch.manual_seed(0)
    encoder, x = StyleEncoder(2, hidden=0.5), torch.rand(3, 26 * PIXELS)
    assert not torch.equal(encoder(x), encoder(x))
    assert torch.equal(encoder.eval()(x), encoder(x))
    assert encoder(x[0]).shape == (4,)
    assert encoder.train()(x[0]).shape == (4,)


def test_loading_draws_no_random_number():
    before = torch.get_rng_state()
    load_typeface_vae()
    assert torch.equal(torch.get_rng_state(), before)


def test_a_fresh_model_draws_paper():
    torch.manual_seed(0)
    drawn = typeface_vae(4).sample(3)
    assert drawn.shape == (3, 26 * PIXELS)
    assert drawn.mean() < 0.2
