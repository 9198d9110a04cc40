"""ASTROMER: what is hidden stays hidden, what is counted, and what the trained ones were told."""

import json
import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from leaks import LeftInTheToken, WithoutResidual
from seeded import assert_close, perturbed, randn
from torch import nn
from torch.nn import functional as F
from train_astromer import error_of, losses, watched

from course_lib.astromer import (
    BRIGHTNESS,
    CLOCKS,
    PRECISION,
    Astromer,
    StarClassifier,
    empty_astromer,
    hide_nights,
    load_astromer,
    negative_log_likelihood,
    reconstruction_error,
    weights_path,
)
from course_lib.light_curves import LightCurves, time_sinusoids
from course_lib.training import parameter_count
from course_lib.transformer import Encoder

FREQUENCY = torch.tensor([1.0, 2.0, 3.0])


def shaken(frequency=FREQUENCY, **options):
    """A small model with every parameter at random, in float64."""
    torch.manual_seed(0)
    sizes = {"d_model": 8, "heads": 2, "layers": 2, "d_hidden": 12, **options}
    return perturbed(Astromer(frequency, **sizes).double(), 0.3)


def some_curves(stars=3, nights=7, seed=0):
    time = randn(stars, nights, seed=seed).abs().cumsum(dim=1)
    error = 0.01 + 0.05 * randn(stars, nights, seed=seed + 2).abs()
    real = torch.ones(stars, nights, dtype=torch.bool)
    return LightCurves(time, 15 + 0.3 * randn(stars, nights, seed=seed + 1), error, real)


def flags(rows):
    return torch.tensor(rows, dtype=torch.bool)


HIDDEN = flags([[0, 1, 0, 0, 1, 0, 0], [0, 0, 0, 0, 0, 0, 1], [1, 1, 1, 1, 1, 1, 0]])


# The model --------------------------------------------------------------------------------------


def by_hand(model, curves, hidden, star, night):
    """One night of one star from the visible nights alone, with plain linear algebra."""
    keys = [t for t in range(curves.time.shape[1]) if curves.real[star, t] and not hidden[star, t]]
    mean = sum(curves.magnitude[star, t] for t in keys) / len(keys)
    first = curves.time[star][curves.real[star]].min()

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


@given(st.integers(0, 1000), st.floats(0.1, 0.9))
def test_no_hidden_magnitude_or_error_moves_any_prediction(seed, share):
    model, curves = shaken(), some_curves(seed=seed)
    hidden = hide_nights(curves, share=share, generator=torch.Generator().manual_seed(seed))
    magnitude = curves.magnitude.clone().requires_grad_()
    error = curves.error.clone().requires_grad_()
    traced = LightCurves(curves.time, magnitude, error, curves.real)
    weights = torch.rand(magnitude.shape, generator=torch.Generator().manual_seed(seed))
    (model(traced, hidden=hidden) * weights).sum().backward()
    assert not magnitude.grad[hidden].any()  # zero to the last bit
    assert not error.grad[hidden].any()
    assert magnitude.grad[~hidden].all()
    assert error.grad[~hidden].any()


class WithoutItsQuery(WithoutResidual):
    """And hidden nights look with a query that knows their date alone: then nothing leaks."""

    def _encoded(self, since, value, visible):
        return super()._encoded(since, value.where(visible[..., None], 0.0), visible)


@pytest.mark.parametrize(
    ("kind", "leaks"), [(LeftInTheToken, True), (WithoutResidual, True), (WithoutItsQuery, False)]
)
def test_a_magnitude_in_its_token_leaks_by_the_residual_and_by_the_query(kind, leaks):
    model, curves = shaken(), some_curves()
    model.__class__ = kind
    magnitude = curves.magnitude.clone().requires_grad_()
    traced = LightCurves(curves.time, magnitude, curves.error, curves.real)
    model(traced, hidden=HIDDEN).square().sum().backward()
    largest = magnitude.grad[HIDDEN].abs().max()
    assert (largest > 1e-6) == leaks
    assert leaks or largest == 0


def test_the_loss_of_the_published_code_is_another_where_more_is_hidden_of_one_star():
    """A mean over each star first: the same if as many nights of each are hidden."""
    said, light = randn(3, 7), randn(3, 7, seed=1)

    def of_each_star(hidden):
        square = (said - light).square() * hidden
        return (square.sum(1) / hidden.sum(1)).mean().sqrt()

    alike = torch.arange(7).expand(3, -1) < 2
    assert_close(reconstruction_error(said, light, alike), of_each_star(alike), 1e-12)
    other = torch.arange(7) < torch.tensor([[1], [3], [6]])
    assert (reconstruction_error(said, light, other) - of_each_star(other)).abs() > 1e-3


def test_rates_of_the_published_code_share_no_frequency_so_products_know_the_date():
    d, date = 16, torch.tensor([0.0, 10.0, 200.0], dtype=torch.float64)
    rate = 10_000.0 ** (-2 * torch.arange(d, dtype=torch.float64) / d)

    def published(t):
        angle = t[:, None] * rate
        return torch.where(torch.arange(d) % 2 == 0, angle.sin(), angle.cos())

    product = (published(date) * published(date + 1)).sum(1)
    assert product.std() > 0.1
    ours = time_sinusoids(date, rate / (2 * math.pi))
    later = time_sinusoids(date + 1, rate / (2 * math.pi))
    assert (ours * later).sum(1).std() < 1e-9


def test_how_far_off_a_magnitude_may_be_is_the_formula_of_the_second_readout():
    model, curves = shaken(), some_curves()
    tokens = model.encode(curves, hidden=HIDDEN)
    exponent = tokens @ model.doubt.weight[0] + model.doubt.bias
    spread = model.spread(curves, hidden=HIDDEN)
    assert_close(spread, BRIGHTNESS * exponent.exp(), 1e-12)
    assert spread.std() > 1e-3
    said, beside = model.belief_at(curves, curves.time, hidden=HIDDEN)
    assert_close(beside[HIDDEN], spread[HIDDEN], 1e-12)
    assert_close(said, model.at(curves, curves.time, hidden=HIDDEN), 1e-12)


@given(st.integers(0, 1000), st.floats(0.1, 0.9))
def test_no_hidden_magnitude_or_error_moves_any_deviation(seed, share):
    model, curves = shaken(), some_curves(seed=seed)
    hidden = hide_nights(curves, share=share, generator=torch.Generator().manual_seed(seed))
    magnitude = curves.magnitude.clone().requires_grad_()
    error = curves.error.clone().requires_grad_()
    spread = model.spread(LightCurves(curves.time, magnitude, error, curves.real), hidden=hidden)
    assert (spread > 0).all()
    spread.square().sum().backward()
    assert not magnitude.grad[hidden].any()  # zero to the last bit
    assert not error.grad[hidden].any()
    assert error.grad[~hidden].any()


def test_a_readout_without_an_opinion_says_one_number_and_draws_none():
    torch.manual_seed(3)
    model = empty_astromer("turns")
    after = torch.rand(1)
    curves = some_curves()
    few = LightCurves(
        *(part.float() for part in (curves.time, curves.magnitude, curves.error)), curves.real
    )
    assert torch.equal(model.spread(few, hidden=HIDDEN), torch.full((3, 7), BRIGHTNESS))
    torch.manual_seed(3)
    parts = (nn.Linear(16, 64), nn.Linear(2, 64), Encoder(64, 4, 2, d_hidden=128), nn.Linear(64, 1))
    assert torch.equal(parts[-1].weight, model.readout.weight)
    assert torch.equal(torch.rand(1), after)


def test_a_hidden_magnitude_may_be_anything():
    model, curves = shaken(), some_curves()
    other = LightCurves(
        curves.time,
        curves.magnitude.masked_fill(HIDDEN, 1e30),
        curves.error.masked_fill(HIDDEN, 1e-30),
        curves.real,
    )
    assert torch.equal(model(other, hidden=HIDDEN), model(curves, hidden=HIDDEN))
    assert torch.equal(model.embed(other, hidden=HIDDEN), model.embed(curves, hidden=HIDDEN))


def test_a_night_can_be_asked_for_whether_or_not_others_are():
    model, curves = shaken(), some_curves()
    found = model(curves, hidden=HIDDEN)
    order = torch.tensor([6, 4, 1])
    asked = model.at(curves, curves.time[:, order], hidden=HIDDEN)
    expected, where = found[:, order], HIDDEN[:, order]
    assert_close(asked[where], expected[where], 1e-12)
    fewer = LightCurves(
        *(values[:2, [0, 2, 3, 5, 6]] for values in (curves.time, curves.magnitude, curves.error)),
        curves.real[:2, :5],
    )
    alone = model.at(fewer, curves.time[:2, [4]], hidden=None)
    assert_close(alone[0], found[0, [4]], 1e-12)


@given(st.floats(-1e4, 1e4), st.floats(-20, 20))
def test_dates_and_magnitudes_have_no_zero(days, magnitudes):
    model, curves = shaken(), some_curves()
    moved = LightCurves(
        curves.time + days, curves.magnitude + magnitudes, curves.error, curves.real
    )
    expected = model(curves, hidden=HIDDEN) + magnitudes
    assert_close(model(moved, hidden=HIDDEN), expected, 1e-7)


def test_told_in_turns_every_prediction_repeats_with_the_period():
    model, curves = shaken(), some_curves().in_turns(torch.tensor([0.7, 2.0, 0.3]))
    time = curves.time.amin(dim=1, keepdim=True) + torch.linspace(0, 3, 7, dtype=torch.float64)
    assert_close(model.at(curves, time + 5), model.at(curves, time), 1e-9)
    ladder = shaken(torch.tensor([1.0, math.sqrt(2)]))
    assert (ladder.at(curves, time + 5) - ladder.at(curves, time)).abs().max() > 1e-3


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


def test_stars_of_a_batch_do_not_see_each_other():
    model, curves = shaken(), some_curves()
    both = model(curves, hidden=HIDDEN)
    for star in range(3):
        rows = slice(star, star + 1)
        assert_close(model(curves[rows], hidden=HIDDEN[rows]), both[rows])


def test_the_embedding_is_the_mean_of_what_visible_nights_became():
    model, curves = shaken(), some_curves()
    tokens = model.encode(curves, hidden=HIDDEN)
    for star in range(3):
        expected = torch.stack([tokens[star, t] for t in range(7) if not HIDDEN[star, t]]).mean(0)
        assert_close(model.embed(curves, hidden=HIDDEN)[star], expected)


def test_nobody_looks_at_hidden_nights():
    model, curves = shaken(), some_curves()
    weights = model.attention_weights(curves, hidden=HIDDEN)
    assert weights.shape == (2, 3, 2, 7, 7)
    assert_close(weights.sum(-1), torch.ones(2, 3, 2, 7, dtype=torch.float64))
    assert not weights.masked_select(HIDDEN[None, :, None, None, :]).any()


def test_the_classifier_reads_the_embedding_and_what_else_is_known():
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


# What is hidden, and what is counted ------------------------------------------------------------


@given(st.integers(2, 30), st.floats(0.01, 1), st.integers(0, 1000))
def test_as_many_real_nights_are_hidden_as_asked_and_one_stays(nights, share, seed):
    curves = LightCurves.padded([some_curves(1, nights), some_curves(1, 30)])
    random = torch.Generator().manual_seed(seed)
    hidden = hide_nights(curves, share=share, generator=random)
    assert not (hidden & ~curves.real).any()
    counts = hidden.sum(dim=1).tolist()
    # PyTorch rounds in float32, so a product may stand a hair on either side of a half.
    for count, length in zip(counts, (nights, 30), strict=True):
        assert abs(count - min(max(1, share * length), length - 1)) <= 0.5 + 1e-4
    again = hide_nights(curves, share=share, generator=torch.Generator().manual_seed(seed))
    assert torch.equal(hidden, again)


def test_every_night_is_equally_likely_to_be_hidden():
    curves = some_curves(1, 10)[torch.zeros(4000, dtype=torch.int64)]
    hidden = hide_nights(curves, generator=torch.Generator().manual_seed(0))
    share = hidden.double().mean(0)
    assert ((share - 0.3).abs() < 4 * math.sqrt(0.21 / 4000)).all()


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


def test_how_unlikely_hidden_nights_are_is_the_density_of_a_normal_variable():
    said, light = randn(3, 7), randn(3, 7, seed=1)
    deviation = randn(3, 7, seed=2).abs() + 0.1
    found = negative_log_likelihood(said, deviation, light, HIDDEN)
    density = torch.distributions.Normal(said, deviation).log_prob(light)
    assert_close(found, -density[HIDDEN].mean(), 1e-12)
    library = F.gaussian_nll_loss(
        said[HIDDEN], light[HIDDEN], deviation[HIDDEN].square(), full=True, eps=1e-12
    )
    assert_close(found, library, 1e-9)


@given(st.floats(0.3, 3))
def test_if_one_deviation_serves_all_the_best_is_the_reconstruction_error(factor):
    said, light = randn(3, 7), randn(3, 7, seed=1)
    best = reconstruction_error(said, light, HIDDEN).expand(3, 7)
    least = negative_log_likelihood(said, best, light, HIDDEN)
    assert_close(least, best[0, 0].log() + (1 + math.log(2 * math.pi)) / 2, 1e-12)
    assert negative_log_likelihood(said, factor * best, light, HIDDEN) >= least - 1e-12


# The trained ones -------------------------------------------------------------------------------


@pytest.mark.parametrize("clock", CLOCKS)
def test_the_file_says_how_it_was_made(clock):
    model, about = load_astromer(clock)
    assert not model.training
    assert about["command"].endswith(f"scripts/train_astromer.py {clock}")
    assert 0 < about["seconds"] < 20 * 60
    assert about["threads"] == 1
    assert about["steps"] > 0
    assert about["seed"] == 0
    assert parameter_count(model) == about["parameters"]
    with np.load(weights_path(clock)) as stored:
        assert json.loads(str(stored["about"])) == about
    told = weights_path("days").with_name("astromer.md").read_text(encoding="utf-8")
    assert [key for key in [*about, *about["doubt"]] if f"`{key}`" not in told] == []
    doubt = about["doubt"]
    assert doubt["command"].endswith(f"scripts/train_astromer.py {clock} --only-doubt")
    assert doubt["threads"] == 1
    # Who says a deviation for each night is ahead of the best one for all, on every side.
    assert all(doubt["loss"][side] < doubt["constant_loss"][side] for side in doubt["loss"])


def test_both_files_together_are_small():
    assert sum(weights_path(clock).stat().st_size for clock in CLOCKS) <= 400_000


@pytest.mark.slow
@pytest.mark.parametrize("clock", CLOCKS)
def test_held_out_stars_have_the_error_that_the_file_says(clock):
    model, about = load_astromer(clock)
    found = error_of(model, *watched("test", clock, value=1))
    assert found == pytest.approx(about["error"]["test"], rel=1e-3)
    again = losses(model, clock, about["doubt"]["constant"], sides=["test"])
    for name, by_side in again.items():
        assert by_side["test"] == pytest.approx(about["doubt"][name]["test"], rel=1e-3)


def test_loading_draws_no_random_number():
    before = torch.get_rng_state()
    load_astromer("turns")
    assert torch.equal(torch.get_rng_state(), before)


# Bad input --------------------------------------------------------------------------------------


@pytest.mark.usefixtures("plain_calls")
def test_a_star_whose_every_night_is_hidden_is_refused():
    model, curves = shaken(), some_curves()
    all_of_one = HIDDEN.clone()
    all_of_one[2] = True
    for call in (model, model.encode, model.embed, model.attention_weights):
        with pytest.raises(ValueError, match=r"every night of star 2 is hidden; expected one"):
            call(curves, hidden=all_of_one)
    with pytest.raises(ValueError, match="every night of star 2 is hidden"):
        model.at(curves, curves.time, hidden=all_of_one)


@pytest.mark.usefixtures("plain_calls")
def test_hidden_has_to_be_flags_for_every_night():
    model, curves = shaken(), some_curves()
    with pytest.raises(TypeError, match=r"hidden has dtype torch.int64; expected torch.bool"):
        model(curves, hidden=HIDDEN.long())
    with pytest.raises(ValueError, match="hidden has shape"):
        model(curves, hidden=HIDDEN[:, :5])


@pytest.mark.usefixtures("plain_calls")
def test_what_cannot_be_is_refused():
    curves = some_curves()
    with pytest.raises(ValueError, match="hidden is False everywhere"):
        reconstruction_error(curves.magnitude, curves.magnitude, ~curves.real)
    with pytest.raises(ValueError, match="hidden is False everywhere"):
        negative_log_likelihood(*[curves.magnitude] * 3, ~curves.real)
    for bad in (0.0, -0.1, math.nan):
        deviation = torch.ones_like(curves.error).masked_fill(HIDDEN, bad)
        with pytest.raises(ValueError, match=rf"deviation is {bad} at \(0, 1\); expected numbers"):
            negative_log_likelihood(curves.magnitude, deviation, curves.magnitude, HIDDEN)
    with pytest.raises(ValueError, match=r"deviation has shape \(3,\)"):
        negative_log_likelihood(curves.magnitude, curves.error[:, 0], curves.magnitude, HIDDEN)
    for share in (0, 1.5, math.nan):
        with pytest.raises(ValueError, match=f"share is {share}"):
            hide_nights(curves, share=share)
    with pytest.raises(ValueError, match="clock is 'sundial'; expected one of 'days', 'turns'"):
        load_astromer("sundial")
    with pytest.raises(ValueError, match="classes is 1"):
        StarClassifier(shaken(), 1)
    with pytest.raises(ValueError, match=r"extra has shape \(3, 2\)"):
        StarClassifier(shaken(), 4, extras=1).double()(curves, randn(3, 2))
    with pytest.raises(ValueError, match="the number of frequencies is 0"):
        Astromer(torch.zeros(0))
    with pytest.raises(ValueError, match="time has shape"):
        shaken().at(curves, curves.time[0])
    for bad in (math.nan, math.inf):
        asked = curves.time.clone()
        asked[1, 2] = bad
        with pytest.raises(ValueError, match=rf"time is {bad} at \(1, 2\); expected finite"):
            shaken().at(curves, asked)


def test_fresh_models_have_one_body_and_two_clocks():
    days, turns = map(empty_astromer, CLOCKS)
    assert isinstance(days.readout, nn.Linear)
    assert turns.frequency.tolist() == list(range(1, 9))
    assert (1 / days.frequency).max() < 200
    assert parameter_count(days.encoder) == parameter_count(turns.encoder)
