"""ASTROMER: hidden nights have no effect, losses, and the trained models."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from seeded_tensors import assert_close, perturbed, randn
from torch.nn import functional as F

from course_lib.light_curves import (
    BRIGHTNESS,
    PRECISION,
    Astromer,
    LightCurves,
    StarClassifier,
    hide_nights,
    negative_log_likelihood,
    reconstruction_error,
)

FREQUENCY = torch.tensor([1.0, 2.0, 3.0])


def shaken(frequency=FREQUENCY, **options):
    """A small model with every parameter at random, in float64."""
    torch.manual_seed(0)
    sizes = {"d_model": 8, "heads": 2, "layers": 2, "d_hidden": 12, **options}
    return perturbed(Astromer(frequency, **sizes).double(), 0.3)


def some_curves(stars=3, nights=7, seed=0):
    time = randn(stars, nights, seed=seed).abs().cumsum(dim=1)
    error = 0.01 + 0.05 * randn(stars, nights, seed=seed + 2).abs()
    valid = torch.ones(stars, nights, dtype=torch.bool)
    return LightCurves(time, 15 + 0.3 * randn(stars, nights, seed=seed + 1), error, valid)


def flags(rows):
    return torch.tensor(rows, dtype=torch.bool)


HIDDEN = flags([[0, 1, 0, 0, 1, 0, 0], [0, 0, 0, 0, 0, 0, 1], [1, 1, 1, 1, 1, 1, 0]])


def by_hand(model, curves, hidden, star, night):
    """One night of one star from the visible nights alone, with plain linear algebra."""
    keys = [t for t in range(curves.time.shape[1]) if curves.valid[star, t] and not hidden[star, t]]
    mean = sum(curves.magnitude[star, t] for t in keys) / len(keys)
    first = curves.time[star, keys].min()

    def token(t, seen):
        angle = 2 * math.pi * (curves.time[star, t] - first) * model.frequency
        date = model.date(torch.stack([angle.sin(), angle.cos()], dim=1).flatten())
        if not seen:
            return date + model.blank
        value = [
            (curves.magnitude[star, t] - mean) / BRIGHTNESS,
            math.log(curves.error[star, t] / PRECISION),
        ]
        return date + model.light(torch.tensor(value, dtype=torch.float64))

    x = torch.stack([token(t, seen=True) for t in keys] + [token(night, seen=night in keys)])
    for block in model.encoder.blocks:
        part = block.attention
        normed = block.attention_residual.norm(x)
        q, k, v = (
            f(normed).unflatten(1, (part.heads, -1)) for f in (part.query, part.key, part.value)
        )
        blend = []
        for head in range(part.heads):
            score = q[:, head] @ k[:-1, head].T / math.sqrt(part.d_head)
            blend.append(score.softmax(dim=1) @ v[:-1, head])
        x = x + part.output(torch.cat(blend, dim=1))
        inner = F.gelu(block.mlp.expand(block.mlp_residual.norm(x)))
        x = x + block.mlp.contract(inner)
    return mean + BRIGHTNESS * model.readout(model.encoder.norm(x[-1]))[0]


def test_a_prediction_is_its_formula_over_the_visible_nights_alone():
    model, curves = shaken(), some_curves()
    found = model(curves, hidden=HIDDEN)
    for star in range(3):
        for night in range(7):
            assert_close(found[star, night], by_hand(model, curves, HIDDEN, star, night), 1e-10)


@settings(max_examples=15)
@given(st.integers(0, 1000), st.floats(0.1, 0.9))
def test_no_hidden_magnitude_or_error_moves_any_prediction(seed, share):
    model, curves = shaken(), some_curves(seed=seed)
    hidden = hide_nights(curves, share=share, generator=torch.Generator().manual_seed(seed))
    magnitude = curves.magnitude.clone().requires_grad_()
    error = curves.error.clone().requires_grad_()
    traced = LightCurves(curves.time, magnitude, error, curves.valid)
    weights = torch.rand(magnitude.shape, generator=torch.Generator().manual_seed(seed))
    (model(traced, hidden=hidden) * weights).sum().backward()
    assert not magnitude.grad[hidden].any()  # zero to the last bit
    assert not error.grad[hidden].any()
    assert magnitude.grad[~hidden].all()
    assert error.grad[~hidden].any()


def test_the_deviation_of_a_magnitude_is_the_formula_of_the_second_readout():
    model, curves = shaken(), some_curves()
    tokens = model.encode(curves, hidden=HIDDEN)
    exponent = tokens @ model.doubt.weight[0] + model.doubt.bias
    spread = model.spread(curves, hidden=HIDDEN)
    assert_close(spread, BRIGHTNESS * exponent.exp(), 1e-12)
    assert spread.std() > 1e-3
    said, beside = model.belief_at(curves, curves.time, hidden=HIDDEN)
    assert_close(beside[HIDDEN], spread[HIDDEN], 1e-12)
    assert_close(said, model.at(curves, curves.time, hidden=HIDDEN), 1e-12)


@settings(max_examples=12)
@given(st.floats(-1e4, 1e4), st.floats(-20, 20))
def test_zero_points_of_dates_and_magnitudes_do_not_matter(days, magnitudes):
    model, curves = shaken(), some_curves()
    moved = LightCurves(
        curves.time + days, curves.magnitude + magnitudes, curves.error, curves.valid
    )
    expected = model(curves, hidden=HIDDEN) + magnitudes
    assert_close(model(moved, hidden=HIDDEN), expected, 1e-7)


def test_in_turns_every_prediction_repeats_with_the_period():
    model, curves = shaken(), some_curves().in_turns(torch.tensor([0.7, 2.0, 0.3]))
    time = curves.time.amin(dim=1, keepdim=True) + torch.linspace(0, 3, 7, dtype=torch.float64)
    assert_close(model.at(curves, time + 5), model.at(curves, time), 1e-9)
    ladder = shaken(torch.tensor([1.0, math.sqrt(2)]))
    assert (ladder.at(curves, time + 5) - ladder.at(curves, time)).abs().max() > 1e-3


def test_curves_in_float64_are_read_by_a_model_in_float32():
    model, curves = shaken(), some_curves()
    curves = LightCurves(curves.time + 58000, curves.magnitude, curves.error, curves.valid)
    asked = curves.time[:, :2] + 0.1
    expected = model(curves, hidden=HIDDEN), *model.belief_at(curves, asked)
    found = model.float()(curves, hidden=HIDDEN), *model.belief_at(curves, asked)
    for each, other in zip(found, expected, strict=True):
        assert_close(each, other, 1e-5)


def test_padding_changes_nothing():
    model, curves, more = shaken(), some_curves(), 3
    nonsense = torch.full((3, more), math.nan, dtype=torch.float64)
    columns = (curves.time, curves.magnitude, curves.error)
    padded = LightCurves(
        *(torch.cat([values, nonsense], dim=1) for values in columns),
        torch.arange(7 + more).expand(3, -1) < 7,
    )
    hidden = F.pad(HIDDEN, (0, more))
    assert_close(model(padded, hidden=hidden)[:, :7], model(curves, hidden=HIDDEN))
    assert_close(model.embed(padded, hidden=hidden), model.embed(curves, hidden=HIDDEN))
    asked = curves.time[:, :2] + 0.1
    assert_close(model.at(padded, asked), model.at(curves, asked))


def test_nan_in_padding_does_not_spoil_gradients():
    model = shaken()
    curves = LightCurves.padded([some_curves(1, 5), some_curves(1, 7)])
    curves.magnitude[0, 5:] = math.nan
    hidden = hide_nights(curves, generator=torch.Generator().manual_seed(0))
    said, spread = model(curves, hidden=hidden), model.spread(curves, hidden=hidden)
    negative_log_likelihood(said, spread, curves.magnitude, hidden).backward()
    assert all(parameter.grad.isfinite().all() for parameter in model.parameters())


def test_the_classifier_reads_the_embedding_and_the_extra_features():
    model, curves = shaken(), some_curves()
    torch.manual_seed(1)
    classifier = StarClassifier(model, 4, extras=1, d_hidden=5).double()
    extra = randn(3, 1, seed=9)
    joined = torch.cat([model.embed(curves), extra], dim=1)
    first, _, second = classifier.head
    expected = F.gelu(joined @ first.weight.T + first.bias) @ second.weight.T + second.bias
    assert_close(classifier(curves, extra), expected)
    assert StarClassifier(model, 4).double()(curves).shape == (3, 4)
    classifier(curves, extra).sum().backward()
    assert model.date.weight.grad.any()


@given(st.integers(2, 30), st.floats(0.01, 1), st.integers(0, 1000))
def test_as_many_real_nights_are_hidden_as_asked_and_one_stays(nights, share, seed):
    curves = LightCurves.padded([some_curves(1, nights), some_curves(1, 30)])
    random = torch.Generator().manual_seed(seed)
    hidden = hide_nights(curves, share=share, generator=random)
    assert not (hidden & ~curves.valid).any()
    counts = hidden.sum(dim=1).tolist()
    # PyTorch rounds in float32, so a product near a half may go either way.
    for count, length in zip(counts, (nights, 30), strict=True):
        assert abs(count - min(max(1, share * length), length - 1)) <= 0.5 + 1e-4
    again = hide_nights(curves, share=share, generator=torch.Generator().manual_seed(seed))
    assert torch.equal(hidden, again)


def test_the_error_is_that_of_hidden_nights_alone():
    predicted, magnitude = randn(3, 7).requires_grad_(), randn(3, 7, seed=1)
    error = reconstruction_error(predicted, magnitude, HIDDEN)
    squares = [
        (predicted[i, t] - magnitude[i, t]).item() ** 2 for i, t in HIDDEN.nonzero().tolist()
    ]
    assert error.item() == pytest.approx(math.sqrt(sum(squares) / len(squares)), rel=1e-12)
    error.backward()
    assert not predicted.grad[~HIDDEN].any()
    assert predicted.grad[HIDDEN].all()


def test_the_likelihood_of_hidden_nights_is_a_normal_density():
    said, light = randn(3, 7), randn(3, 7, seed=1)
    deviation = randn(3, 7, seed=2).abs() + 0.1
    found = negative_log_likelihood(said, deviation, light, HIDDEN)
    density = torch.distributions.Normal(said, deviation).log_prob(light)
    assert_close(found, -density[HIDDEN].mean(), 1e-12)


def test_the_embedding_is_the_mean_over_visible_nights():
    model, curves = shaken(), some_curves()
    tokens = model.encode(curves, hidden=HIDDEN)
    for star in range(3):
        expected = torch.stack([tokens[star, t] for t in range(7) if not HIDDEN[star, t]]).mean(0)
        assert_close(model.embed(curves, hidden=HIDDEN)[star], expected)


def test_attention_to_hidden_nights_is_zero():
    model, curves = shaken(), some_curves()
    weights = model.attention_weights(curves, hidden=HIDDEN)
    assert weights.shape == (2, 3, 2, 7, 7)
    assert_close(weights.sum(-1), torch.ones(2, 3, 2, 7, dtype=torch.float64))
    assert not weights.masked_select(HIDDEN[None, :, None, None, :]).any()
