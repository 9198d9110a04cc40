"""Autoencoders against PyTorch's distributions, Monte Carlo, and the linear case solved exactly."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from seeded_tensors import assert_close, randn, randomized
from torch.distributions import Independent, MultivariateNormal, Normal, kl_divergence

from course_lib.autoencoder import (
    VAE,
    Autoencoder,
    ContinuousBernoulli,
    elbo,
    importance_bound,
    kl_to_standard_normal,
    probabilistic_pca,
    redrawn_by_linear_vae,
    reparameterize,
)

FINITE = st.floats(-5, 5)


def spread(pictures=60, d_x=5, seed=0):
    """Pictures that vary more in some directions than in others, away from zero."""
    mixed = randn(d_x, d_x, seed=seed + 1) * torch.tensor([3.0, 2.0, 1.0, 0.5, 0.3][:d_x])
    return randn(pictures, d_x, seed=seed) @ mixed.T.double() + 1


def exact_noise(pictures, d_z):
    """Draws ±√d along each axis, whose mean is exact for every quadratic function."""
    eye = torch.eye(d_z, dtype=torch.float64)
    points = d_z**0.5 * torch.cat([eye, -eye])
    return points[:, None].expand(2 * d_z, pictures, d_z)


def density(model):
    """The density of pictures under a linear VAE, with the codes integrated out."""
    weight, centre = model.decoder[0].weight, model.decoder[0].bias
    eye = torch.eye(len(centre), dtype=torch.float64)
    return MultivariateNormal(centre, weight @ weight.T + model.log_noise_variance.exp() * eye)


def linear_vae(d_x=5, d_z=2, seed=0):
    torch.manual_seed(seed)
    return randomized(VAE(d_x, d_z, d_hidden=()), scale=0.5)


@given(st.lists(st.tuples(FINITE, FINITE), min_size=1, max_size=6))
def test_the_divergence_is_that_of_pytorch(numbers):
    mean, log_variance = torch.tensor(numbers, dtype=torch.float64).T
    cloud = Independent(Normal(mean, (log_variance / 2).exp()), 1)
    prior = Independent(Normal(torch.zeros_like(mean), torch.ones_like(mean)), 1)
    assert_close(kl_to_standard_normal(mean, log_variance), kl_divergence(cloud, prior), 1e-10)


def test_the_divergence_is_zero_for_the_prior_and_exact_beside_it():
    zero = torch.zeros(2, 3)
    assert torch.equal(kl_to_standard_normal(zero, zero), torch.zeros(2))
    tiny = torch.full((1,), 1e-3)
    expected = (math.expm1(1e-3) - 1e-3) / 2
    assert kl_to_standard_normal(zero[0, :1], tiny).item() == pytest.approx(expected, rel=1e-3)


def test_a_draw_is_the_mean_plus_the_deviation_times_the_noise():
    mean, log_variance, noise = randn(2, 3), randn(2, 3, seed=1), randn(2, 3, seed=2)
    drawn = reparameterize(mean, log_variance, noise=noise)
    assert_close(drawn, mean + log_variance.exp() ** 0.5 * noise)


def test_the_bound_is_reconstruction_minus_beta_times_divergence():
    for likelihood in ["gaussian", "bernoulli", "continuous_bernoulli"]:
        model = VAE(6, 2, d_hidden=(8,), likelihood=likelihood).double()
        x = (randn(4, 6).sigmoid() > 0.5).double()
        noise = randn(3, 4, 2, seed=1)
        mean, log_variance = model.encode(x)
        means, log_variances = mean.expand(3, 4, 2), log_variance.expand(3, 4, 2)
        z = reparameterize(means, log_variances, noise=noise)
        expected = torch.stack([model.log_likelihood(x, one) for one in z]).mean(dim=0)
        kl = kl_to_standard_normal(mean, log_variance)
        for beta in (0, 1, 4.5):
            value, reconstruction, cost = elbo(model, x, beta=beta, noise=noise)
            assert_close(reconstruction, expected)
            assert_close(cost, kl)
            assert_close(value, expected - beta * kl)


def test_the_bernoulli_likelihood_gives_all_pictures_together_probability_one():
    model = randomized(VAE(4, 2, likelihood="bernoulli"))
    pictures = torch.cartesian_prod(*[torch.tensor([0.0, 1.0]).double()] * 4)
    z = randn(2, seed=1).expand(16, 2)
    assert_close(model.log_likelihood(pictures, z).exp().sum(), torch.tensor(1.0).double())


def test_the_continuous_bernoulli_is_a_density():
    model = randomized(VAE(1, 1, likelihood="continuous_bernoulli"))
    grey = torch.linspace(0, 1, 2001, dtype=torch.float64)[:, None]
    z = torch.full((2001, 1), 0.7, dtype=torch.float64)
    one = torch.tensor(1.0).double()
    integral = torch.trapezoid(model.log_likelihood(grey, z).exp(), grey[:, 0])
    assert_close(integral, one, 1e-5)
    mean = torch.trapezoid(grey[:, 0] * model.log_likelihood(grey, z).exp(), grey[:, 0])
    assert_close(model.decode(z[:1])[0, 0], mean, 1e-5)


def test_the_continuous_bernoulli_is_right_at_any_logit():
    logit = torch.tensor([-1e4, -100, -20, -3, -0.26, -0.24, -1e-3, 0, 1e-6, 0.3, 2, 15, 20, 100])
    narrow, wide = (logit.to(dtype).requires_grad_() for dtype in (torch.float32, torch.float64))
    # Gauss–Legendre nodes in each of many intervals, finer towards the ends.
    x, weight = (torch.from_numpy(part) for part in np.polynomial.legendre.leggauss(20))
    ends = torch.cat([torch.zeros(1).double(), torch.logspace(-6, 0, 25).double() / 2])
    ends = torch.cat([ends, 1 - ends[:-1].flip(0)])
    x = (ends[:-1, None] + ends.diff()[:, None] * (x + 1) / 2).flatten()[:, None]
    weight = (ends.diff()[:, None] * weight / 2).flatten()[:, None]
    density = (wide * x - wide.relu()).exp()
    total = (weight * density).sum(dim=0)
    mean = (weight * x * density).sum(dim=0) / total
    for asked, tolerance in ((narrow, 2e-6), (wide, 1e-11)):
        for value in (0.0, 0.3, 1.0):
            found = ContinuousBernoulli(asked).log_prob(torch.full_like(asked, value))
            expected = value * wide - wide.relu() - total.log()
            torch.testing.assert_close(found.double(), expected, rtol=tolerance, atol=tolerance)
            (slope,) = torch.autograd.grad(found.sum(), asked)
            assert_close(slope.double(), value - mean.detach(), tolerance)
        pixels = ContinuousBernoulli(asked)
        assert_close(pixels.mean.double(), mean, tolerance)
        (bend,) = torch.autograd.grad(pixels.mean.sum(), asked)
        assert bend.isfinite().all()
        torch.manual_seed(0)
        assert_close(pixels.sample((20_000,)).mean(dim=0).double(), mean, 0.01)


def test_a_posterior_of_tiny_variance_has_its_importance_bound():
    model, x = linear_vae(), spread(pictures=3)
    with torch.no_grad():
        model.encoder[0].weight[2:], model.encoder[0].bias[2:] = 0, -200.0
    noise = torch.zeros(1, 3, 2).double()
    mean, _ = model.encode(x)
    # At its mean the density of a posterior is (2π σ²)^(-1/2) for each code.
    expected = model.log_likelihood(x, mean) - mean.square().sum(dim=-1) / 2 - 200
    assert_close(importance_bound(model, x, samples=1, noise=noise), expected, 1e-9)
    narrow, x = model.float(), x.float()
    assert_close(
        importance_bound(narrow, x, samples=1, noise=noise.float()).double(), expected, 1e-5
    )
    assert importance_bound(narrow, x, samples=2).isfinite().all()


def test_each_weight_of_the_importance_bound_is_joint_over_posterior():
    model, x = linear_vae(), spread(pictures=3)
    noise = randn(4, 3, 2)
    mean, log_variance = model.encode(x)
    z = mean + (log_variance / 2).exp() * noise
    prior = MultivariateNormal(torch.zeros(2).double(), torch.eye(2).double())
    cloud = MultivariateNormal(mean, torch.diag_embed(log_variance.exp()))
    pixel = model.log_noise_variance.exp() * torch.eye(5).double()
    likelihood = MultivariateNormal(model.decode(z), pixel)
    weight = likelihood.log_prob(x) + prior.log_prob(z) - cloud.log_prob(z)
    bound = importance_bound(model, x, samples=4, noise=noise)
    assert_close(bound, weight.exp().mean(dim=0).log(), 1e-10)


def test_the_bound_of_probabilistic_pca_has_no_gap():
    for d_z in [1, 2, 4]:
        x = spread()
        model = probabilistic_pca(x, d_z)
        truth = density(model).log_prob(x)
        assert_close(elbo(model, x, noise=exact_noise(60, d_z)).value, truth, 1e-9)
        assert_close(importance_bound(model, x, samples=1), truth, 1e-9)
        other = spread(pictures=7, seed=5)
        assert_close(
            importance_bound(model, other, samples=1), density(model).log_prob(other), 1e-9
        )


def test_probabilistic_pca_scores_pictures_as_scikit_learn_does():
    pca = pytest.importorskip("sklearn.decomposition").PCA(2, svd_solver="full")
    x = spread()
    # Scikit-learn divides by n − 1, so the pictures are scaled about their mean.
    centre = x.mean(dim=0)
    score = pca.fit((centre + (x - centre) * (59 / 60) ** 0.5).numpy()).score_samples(x.numpy())
    assert_close(density(probabilistic_pca(x, 2)).log_prob(x), torch.from_numpy(score), 1e-9)


def test_a_condition_reaches_encoder_and_decoder():
    for kind in [Autoencoder, VAE]:
        torch.manual_seed(0)
        model = kind(6, 2, condition=3).double()
        x, z = randn(6).expand(3, 6), randn(2).expand(3, 2)
        classes = torch.arange(3)
        code = model.encode(x, classes)
        code = code[0] if kind is VAE else code
        assert not torch.allclose(code[0], code[1])
        decoded = model.decode(z, classes)
        assert not torch.allclose(decoded[0], decoded[1])
        assert_close(model.decode(z[:1], classes[1:2]), decoded[1:2])


def test_bounds_pass_the_condition_on():
    torch.manual_seed(0)
    model = VAE(6, 2, condition=3).double()
    x, classes = randn(4, 6), torch.tensor([0, 2, 1, 1])
    noise = randn(5, 4, 2)
    bound = importance_bound(model, x, classes, samples=5, noise=noise)
    value = elbo(model, x, classes, noise=noise).value
    for i in range(4):
        own = {"condition": classes[i], "noise": noise[:, i]}
        assert_close(importance_bound(model, x[i], samples=5, **own), bound[i])
        assert_close(elbo(model, x[i], **own).value, value[i])
    assert not torch.allclose(elbo(model, x, 0 * classes, noise=noise).value, value)


def test_samples_are_decoded_from_the_prior():
    torch.manual_seed(0)
    model = VAE(6, 2, condition=3)
    classes = torch.tensor([0, 1, 2, 2])
    made = model.sample(4, classes, generator=torch.Generator().manual_seed(3))
    z = torch.randn(4, 2, generator=torch.Generator().manual_seed(3))
    assert_close(made, model.decode(z, classes))
    assert made.shape == (4, 6)


def test_a_linear_vae_reconstructs_with_the_error_of_reverse_water_filling():
    generator = torch.Generator().manual_seed(0)
    directions, _ = torch.linalg.qr(torch.randn(5, 5, generator=generator, dtype=torch.float64))
    eigenvalues = torch.tensor([4.0, 2.0, 1.0, 0.3, 0.0], dtype=torch.float64)
    draws = torch.randn(2, 40_000, 5, generator=generator, dtype=torch.float64)
    x = eigenvalues.sqrt() * draws[0] @ directions.T
    for level in (0.1, 0.7, 3.0, 9.0):
        again = redrawn_by_linear_vae(x, directions, eigenvalues, level, noise=draws[1])
        error = ((again - x) @ directions).square().mean(0)
        torch.testing.assert_close(error, eigenvalues.clamp(max=level), rtol=0.05, atol=1e-9)
        spread = (again @ directions).square().mean(0)
        torch.testing.assert_close(spread, (eigenvalues - level).clamp(min=0), rtol=0.05, atol=1e-9)
