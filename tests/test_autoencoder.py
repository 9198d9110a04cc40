"""Autoencoders against PyTorch's distributions, Monte Carlo, and the linear case solved exactly."""

import math
import re

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from seeded import assert_close, randn, randomized
from torch.distributions import Independent, MultivariateNormal, Normal, kl_divergence

from course_lib.autoencoder import (
    VAE,
    Autoencoder,
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
    """Draws whose mean is the expectation of every quadratic: ±√d along each axis."""
    eye = torch.eye(d_z, dtype=torch.float64)
    points = d_z**0.5 * torch.cat([eye, -eye])
    return points[:, None].expand(2 * d_z, pictures, d_z)


def density(model):
    """What a linear VAE says of pictures once the codes are integrated out."""
    weight, centre = model.decoder[0].weight, model.decoder[0].bias
    eye = torch.eye(len(centre), dtype=torch.float64)
    return MultivariateNormal(centre, weight @ weight.T + model.log_noise_variance.exp() * eye)


def posterior(model, x):
    """The true posterior of a linear VAE, by Bayes' rule for Gaussians."""
    weight, centre = model.decoder[0].weight, model.decoder[0].bias
    variance = model.log_noise_variance.exp()
    eye = torch.eye(weight.shape[1], dtype=torch.float64)
    covariance = torch.linalg.inv(eye + weight.T @ weight / variance)
    return MultivariateNormal((x - centre) @ weight @ covariance / variance, covariance)


def linear_vae(d_x=5, d_z=2, seed=0):
    torch.manual_seed(seed)
    return randomized(VAE(d_x, d_z, d_hidden=()), scale=0.5)


# The divergence -------------------------------------------------------------------------------


@given(st.lists(st.tuples(FINITE, FINITE), min_size=1, max_size=6))
def test_the_divergence_is_that_of_pytorch(numbers):
    mean, log_variance = torch.tensor(numbers, dtype=torch.float64).T
    cloud = Independent(Normal(mean, (log_variance / 2).exp()), 1)
    prior = Independent(Normal(torch.zeros_like(mean), torch.ones_like(mean)), 1)
    assert_close(kl_to_standard_normal(mean, log_variance), kl_divergence(cloud, prior), 1e-10)


def test_the_divergence_is_the_mean_log_ratio_of_the_densities():
    mean, log_variance = randn(3), randn(3, seed=1)
    cloud = Normal(mean, (log_variance / 2).exp())
    z = mean + (log_variance / 2).exp() * randn(200_000, 3, seed=2)
    ratio = (cloud.log_prob(z) - Normal(0.0, 1.0).log_prob(z)).sum(dim=-1)
    error = (ratio.std() / len(z) ** 0.5).item()
    assert abs(ratio.mean() - kl_to_standard_normal(mean, log_variance)) < 4 * error


@given(st.lists(st.tuples(FINITE, FINITE), min_size=1, max_size=4))
def test_the_divergence_is_never_negative(numbers):
    mean, log_variance = torch.tensor(numbers).T
    assert kl_to_standard_normal(mean, log_variance) >= 0


def test_the_divergence_is_zero_for_the_prior_and_exact_beside_it():
    zero = torch.zeros(2, 3)
    assert torch.equal(kl_to_standard_normal(zero, zero), torch.zeros(2))
    tiny = torch.full((1,), 1e-3)
    expected = (math.expm1(1e-3) - 1e-3) / 2
    assert kl_to_standard_normal(zero[0, :1], tiny).item() == pytest.approx(expected, rel=1e-3)


# Draws and their gradient ---------------------------------------------------------------------


def test_a_draw_is_the_mean_plus_the_deviation_times_the_noise():
    mean, log_variance, noise = randn(2, 3), randn(2, 3, seed=1), randn(2, 3, seed=2)
    drawn = reparameterize(mean, log_variance, noise=noise)
    assert_close(drawn, mean + log_variance.exp() ** 0.5 * noise)


def test_draws_have_the_mean_and_variance_asked_for_and_are_independent():
    mean, log_variance = torch.tensor([1.0, -2.0]), torch.tensor([1.0, -3.0])
    many = 100_000
    drawn = reparameterize(
        mean.expand(many, 2),
        log_variance.expand(many, 2),
        generator=torch.Generator().manual_seed(0),
    )
    assert_close(drawn.mean(dim=0), mean, 0.03)
    assert_close(drawn.T.cov(), log_variance.exp().diag(), 0.03)


def test_the_generator_decides_the_draw():
    zero = torch.zeros(4, 2)

    def drawn(seed):
        return reparameterize(zero, zero, generator=torch.Generator().manual_seed(seed))

    assert torch.equal(drawn(1), drawn(1))
    assert not torch.equal(drawn(1), drawn(2))


def test_the_reparameterized_gradient_is_the_score_functions_in_expectation_and_quieter():
    # E[f(z)] for f(z) = sum of z⁴ and z³; the true gradient comes from the moments of a normal.
    mean, log_variance = torch.tensor([0.7, -0.4]).double(), torch.tensor([-0.5, 0.3]).double()
    many = 400_000
    noise = randn(many, 2)
    means, log_variances = (
        t.expand(many, 2).clone().requires_grad_() for t in (mean, log_variance)
    )
    z = reparameterize(means, log_variances, noise=noise)
    value = (z**4 + z**3).sum(dim=-1)
    pathwise = torch.stack(torch.autograd.grad(value.sum(), (means, log_variances)))

    cloud = Normal(means, (log_variances / 2).exp())
    surprise = (value.detach() * cloud.log_prob(z.detach()).sum(dim=-1)).sum()
    score = torch.stack(torch.autograd.grad(surprise, (means, log_variances)))

    variance = log_variance.exp()
    exact = torch.stack(
        [
            4 * mean**3 + 12 * mean * variance + 3 * mean**2 + 3 * variance,
            6 * mean**2 * variance + 6 * variance**2 + 3 * mean * variance,
        ]
    )
    for estimate in (pathwise, score):
        error = estimate.std(dim=1) / many**0.5
        assert ((estimate.mean(dim=1) - exact).abs() < 4 * error).all()
    assert (score.var(dim=1) > 2 * pathwise.var(dim=1)).all()


# The bounds -----------------------------------------------------------------------------------


@pytest.mark.parametrize("likelihood", ["gaussian", "bernoulli", "continuous_bernoulli"])
def test_the_bound_is_reconstruction_minus_beta_times_divergence(likelihood):
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


def test_the_gaussian_likelihood_is_a_sum_over_pixels_of_normal_densities():
    model = randomized(VAE(3, 2, noise_variance=0.25))
    x, z = randn(4, 3), randn(4, 2, seed=1)
    s2 = model.log_noise_variance.exp()
    error = (x - model.decode(z)).square().sum(dim=-1)
    expected = -error / (2 * s2) - 1.5 * (2 * torch.pi * s2).log()
    assert_close(model.log_likelihood(x, z), expected)


def test_the_noise_begins_where_asked():
    assert VAE(3, 2, noise_variance=0.25).log_noise_variance.exp().item() == pytest.approx(0.25)


def test_the_bernoulli_likelihood_gives_all_pictures_together_probability_one():
    model = randomized(VAE(4, 2, likelihood="bernoulli"))
    pictures = torch.cartesian_prod(*[torch.tensor([0.0, 1.0]).double()] * 4)
    z = randn(2, seed=1).expand(16, 2)
    assert_close(model.log_likelihood(pictures, z).exp().sum(), torch.tensor(1.0).double())


def test_the_continuous_bernoulli_is_a_density_and_the_plain_formula_is_none():
    model = randomized(VAE(1, 1, likelihood="continuous_bernoulli"))
    grey = torch.linspace(0, 1, 2001, dtype=torch.float64)[:, None]
    z = torch.full((2001, 1), 0.7, dtype=torch.float64)
    one = torch.tensor(1.0).double()
    integral = torch.trapezoid(model.log_likelihood(grey, z).exp(), grey[:, 0])
    assert_close(integral, one, 1e-5)
    mean = torch.trapezoid(grey[:, 0] * model.log_likelihood(grey, z).exp(), grey[:, 0])
    assert_close(model.decode(z[:1])[0, 0], mean, 1e-5)
    p = model.pixels(z[:1]).probs
    plain = (p.log() * grey + (1 - p).log() * (1 - grey)).exp()[:, 0]
    assert torch.trapezoid(plain, grey[:, 0]) < 0.99


def test_the_gap_of_the_bound_is_the_divergence_from_the_true_posterior():
    model, x = linear_vae(), spread()
    mean, log_variance = model.encode(x)
    cloud = MultivariateNormal(mean, torch.diag_embed(log_variance.exp()))
    gap = kl_divergence(cloud, posterior(model, x))
    bound = elbo(model, x, noise=exact_noise(60, 2)).value
    assert gap.min() > 0.1
    assert_close(density(model).log_prob(x) - bound, gap, 1e-9)


def test_the_importance_bound_climbs_with_its_samples_to_the_truth():
    x = spread(pictures=8)
    model = probabilistic_pca(spread(), 2)
    with torch.no_grad():  # an encoder that is unsure and off: the decoder's truth stays
        model.encoder[0].bias += torch.tensor([0.1, -0.1, 0.8, 0.4])
    truth = density(model).log_prob(x).detach().mean()
    noise = randn(512, 100, 8, 2)
    bounds = [
        importance_bound(model, x.expand(100, 8, 5), samples=1, noise=noise[:k]).mean().item()
        for k in (1, 8, 64, 512)
    ]
    below = elbo(model, x, noise=exact_noise(8, 2)).value.mean().item()
    gaps = truth - torch.tensor([below, *bounds])
    assert abs(gaps[0] - gaps[1]) < 0.05 * gaps[0]  # one draw is the ELBO, in expectation
    assert (gaps[1:].diff() < 0).all()
    assert abs(gaps[-1]) < 0.02 * gaps[0]


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


# The VAE that can be solved -------------------------------------------------------------------


@pytest.mark.parametrize("d_z", [1, 2, 4])
def test_the_bound_of_probabilistic_pca_has_no_gap(d_z):
    x = spread()
    model = probabilistic_pca(x, d_z)
    truth = density(model).log_prob(x)
    assert_close(elbo(model, x, noise=exact_noise(60, d_z)).value, truth, 1e-9)
    assert_close(importance_bound(model, x, samples=1), truth, 1e-9)
    other = spread(pictures=7, seed=5)
    assert_close(importance_bound(model, other, samples=1), density(model).log_prob(other), 1e-9)


@pytest.mark.parametrize("d_z", [1, 3])
def test_probabilistic_pca_keeps_the_largest_eigenvalues_and_the_mean_of_the_rest(d_z):
    x = spread()
    model = probabilistic_pca(x, d_z)
    expected = torch.linalg.eigvalsh(x.T.cov(correction=0)).flip(0)
    expected[d_z:] = expected[d_z:].mean()
    assert_close(torch.linalg.eigvalsh(density(model).covariance_matrix).flip(0), expected, 1e-10)
    assert_close(model.decoder[0].bias, x.mean(dim=0))


def test_probabilistic_pca_scores_pictures_as_scikit_learn_does():
    pca = pytest.importorskip("sklearn.decomposition").PCA(2, svd_solver="full")
    x = spread()
    # Scikit-learn divides by n − 1: the same pictures, so much further from their mean.
    centre = x.mean(dim=0)
    score = pca.fit((centre + (x - centre) * (59 / 60) ** 0.5).numpy()).score_samples(x.numpy())
    assert_close(density(probabilistic_pca(x, 2)).log_prob(x), torch.from_numpy(score), 1e-9)


def test_no_step_improves_the_bound_of_probabilistic_pca():
    x = spread()
    model = probabilistic_pca(x, 2)
    elbo(model, x, noise=exact_noise(60, 2)).value.mean().backward()
    for parameter in model.parameters():
        assert parameter.grad.abs().max() < 1e-10
    # And it is no saddle: every change of all parameters together makes it worse.
    best = elbo(model, x, noise=exact_noise(60, 2)).value.mean()
    for seed in range(20):
        moved = probabilistic_pca(x, 2)
        with torch.no_grad():
            for i, parameter in enumerate(moved.parameters()):
                parameter.add_(1e-3 * randn(*parameter.shape, seed=100 * seed + i))
        assert elbo(moved, x, noise=exact_noise(60, 2)).value.mean() < best


@pytest.mark.slow
def test_training_a_linear_vae_finds_probabilistic_pca():
    x = spread()
    torch.manual_seed(0)
    model = VAE(5, 2, d_hidden=()).double()
    descent = torch.optim.LBFGS(model.parameters(), max_iter=300, line_search_fn="strong_wolfe")

    def loss():
        descent.zero_grad()
        value = -elbo(model, x, noise=exact_noise(60, 2)).value.mean()
        value.backward()
        return value

    descent.step(loss)
    best = density(probabilistic_pca(x, 2)).log_prob(x).mean()
    assert_close(density(model).log_prob(x).mean(), best, 1e-5)
    assert_close(-loss(), best, 1e-5)


def test_a_direction_that_varies_less_than_the_noise_collapses():
    # The best linear VAE with the noise held at s² keeps the directions of variance above s².
    x = spread()
    eigenvalue = torch.linalg.eigvalsh(x.T.cov(correction=0)).flip(0)
    torch.manual_seed(0)
    between = float(eigenvalue[1] * eigenvalue[2]) ** 0.5
    model = VAE(5, 4, d_hidden=(), noise_variance=between).double()
    model.log_noise_variance.requires_grad_(requires_grad=False)
    kept = [p for p in model.parameters() if p.requires_grad]
    descent = torch.optim.LBFGS(kept, max_iter=100, line_search_fn="strong_wolfe")

    def loss():
        descent.zero_grad()
        value = -elbo(model, x, noise=exact_noise(60, 4)).value.mean()
        value.backward()
        return value

    descent.step(loss)
    mean, log_variance = model.encode(x)
    cost = kl_to_standard_normal(mean[..., None], log_variance[..., None]).mean(dim=0)
    assert ((cost > 0.01).sum()) == 2


# Models ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [Autoencoder, VAE])
@pytest.mark.parametrize("d_hidden", [(), (7,), (9, 7)], ids=str)
def test_the_decoder_mirrors_the_encoder(kind, d_hidden):
    model = kind(6, 2, d_hidden=d_hidden)
    widths = [layer.in_features for layer in model.encoder[::2]]
    assert widths == [6, *d_hidden]
    assert [layer.out_features for layer in model.decoder[::2]] == [*reversed(d_hidden), 6]


def test_an_autoencoder_codes_and_decodes_pictures_of_any_batch():
    model = Autoencoder(6, 2).double()
    x = randn(3, 4, 6)
    assert model.encode(x).shape == (3, 4, 2)
    assert_close(model(x), model.decode(model.encode(x)))
    assert_close(model(x)[1, 2], model(x[1, 2]))


def test_a_linear_autoencoder_reconstructs_as_well_as_principal_components_at_best():
    x = spread()
    torch.manual_seed(0)
    model = Autoencoder(5, 2, d_hidden=()).double()
    descent = torch.optim.LBFGS(model.parameters(), max_iter=200, line_search_fn="strong_wolfe")

    def loss():
        descent.zero_grad()
        value = (model(x) - x).square().sum(dim=-1).mean()
        value.backward()
        return value

    descent.step(loss)
    left = torch.linalg.eigvalsh(x.T.cov(correction=0))[:3].sum()
    assert_close(loss().detach(), left, 1e-6)


@pytest.mark.parametrize("kind", [Autoencoder, VAE])
def test_a_condition_is_heard_by_both_halves(kind):
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


def test_networks_of_your_own_take_the_place_of_the_usual_ones():
    encoder, decoder = torch.nn.Linear(6 + 3, 4), torch.nn.Linear(2 + 3, 6)
    model = VAE(6, 2, condition=3, encoder=encoder, decoder=decoder).double()
    x, classes = randn(4, 6), torch.tensor([0, 2, 1, 1])
    told = torch.cat([x, torch.eye(3).double()[classes]], dim=-1)
    assert_close(torch.cat(model.encode(x, classes), dim=-1), encoder(told))


def test_what_the_model_makes_up_is_what_it_decodes_from_the_prior():
    torch.manual_seed(0)
    model = VAE(6, 2, condition=3)
    classes = torch.tensor([0, 1, 2, 2])
    made = model.sample(4, classes, generator=torch.Generator().manual_seed(3))
    z = torch.randn(4, 2, generator=torch.Generator().manual_seed(3))
    assert_close(made, model.decode(z, classes))
    assert made.shape == (4, 6)


def test_pictures_with_their_noise_have_the_noise_that_the_model_says():
    model = VAE(3, 2, noise_variance=0.04)
    torch.manual_seed(0)
    z = torch.zeros(20_000, 2)
    assert_close(
        (model.pixels(z).sample() - model.decode(z)).std().detach(), torch.tensor(0.2), 0.01
    )


# Bad input ------------------------------------------------------------------------------------

GREY = torch.full((1, 6), 0.5)
PLAIN = VAE(6, 2)
TOLD = VAE(6, 2, condition=3)
BLACK = VAE(6, 2, likelihood="bernoulli")
ZERO = torch.zeros(4, 2)

BAD = {
    "log variance of another shape": (
        lambda: kl_to_standard_normal(ZERO, torch.zeros(2)),
        "log_variance has shape (2,)",
    ),
    "log variance of one number": (
        lambda: reparameterize(ZERO, torch.zeros(4, 1)),
        "log_variance has shape (4, 1)",
    ),
    "noise for the batch alone": (
        lambda: reparameterize(ZERO, ZERO, noise=torch.zeros(4)),
        "noise has shape (4,)",
    ),
    "noise of one picture": (
        lambda: reparameterize(ZERO, ZERO, noise=torch.zeros(1, 2)),
        "noise has shape (1, 2)",
    ),
    "pictures of another size": (lambda: PLAIN.encode(torch.zeros(4, 5)), "x has shape (4, 5)"),
    "codes of another size": (lambda: PLAIN.decode(torch.zeros(4, 3)), "z has shape (4, 3)"),
    "code and picture of two batches": (
        lambda: PLAIN.log_likelihood(torch.zeros(4, 6), torch.zeros(3, 2)),
        "z has shape (3, 2)",
    ),
    "above one": (
        lambda: elbo(BLACK, 4 * GREY),
        "x reaches from 2 to 2; expected pixels in [0, 1]",
    ),
    "below zero": (lambda: elbo(BLACK, -GREY), "x reaches from -0.5 to -0.5"),
    "nan": (lambda: elbo(BLACK, GREY * math.nan), "x reaches from nan to nan"),
    "above one, continuous": (
        lambda: VAE(6, 2, likelihood="continuous_bernoulli").encode(4 * GREY),
        "expected pixels in [0, 1]",
    ),
    "grey": (lambda: elbo(BLACK, GREY), "x holds the grey pixel 0.5; expected 0 and 1 alone"),
    "negative beta": (lambda: elbo(PLAIN, GREY, beta=-1), "beta is -1; expected a finite number"),
    "infinite beta": (lambda: elbo(PLAIN, GREY, beta=math.inf), "beta is inf"),
    "no sample": (lambda: importance_bound(PLAIN, GREY, samples=0), "samples is 0; expected 1"),
    "no sample of the bound": (lambda: elbo(PLAIN, GREY, samples=0), "samples is 0; expected 1"),
    "noise without an axis of samples": (
        lambda: elbo(PLAIN, GREY, noise=torch.zeros(1, 2)),
        "noise has shape (1, 2); expected (samples, *batch, d_z)",
    ),
    "noise of no sample": (
        lambda: elbo(PLAIN, GREY, noise=torch.zeros(0, 1, 2)),
        "noise has shape (0, 1, 2)",
    ),
    "no condition": (lambda: TOLD.encode(GREY), "condition is None; expected the class of each"),
    "a condition for a model without": (
        lambda: PLAIN.encode(GREY, torch.tensor([1])),
        "condition is given, and this model has none",
    ),
    "a condition too large": (
        lambda: TOLD.encode(GREY, torch.tensor([3])),
        "condition holds 3; expected 0 to 2",
    ),
    "a condition below zero": (
        lambda: TOLD.decode(ZERO[:1], torch.tensor([-1])),
        "condition holds -1",
    ),
    "a condition for all": (
        lambda: TOLD.encode(GREY, torch.tensor(1)),
        "condition has shape (); expected (1,)",
    ),
    "another likelihood": (lambda: VAE(6, 2, likelihood="poisson"), "likelihood is 'poisson'"),
    "no noise": (lambda: VAE(6, 2, noise_variance=0), "noise_variance is 0; expected a finite"),
    "no pixel": (lambda: VAE(0, 2), "d_x is 0; expected 1 or more"),
    "no code": (lambda: Autoencoder(6, 0), "d_z is 0; expected 1 or more"),
    "no width": (lambda: VAE(6, 2, d_hidden=(4, 0)), "d_hidden[1] is 0"),
    "no class": (lambda: VAE(6, 2, condition=0), "condition is 0; expected 1 or more"),
    "nothing made up": (lambda: PLAIN.sample(0), "count is 0; expected 1 or more"),
    "as many codes as directions": (
        lambda: probabilistic_pca(randn(4, 6), 3),
        "d_z is 3 and x, of shape (4, 6), varies in 3 directions",
    ),
    "one picture again and again": (
        lambda: probabilistic_pca(torch.ones(4, 6), 1),
        "varies in 0 directions",
    ),
}


@pytest.mark.usefixtures("plain_calls")
@pytest.mark.parametrize("case", BAD)
def test_bad_values_are_told_what_was_given_and_expected(case):
    call, message = BAD[case]
    with pytest.raises(ValueError, match=re.escape(message)):
        call()


@pytest.mark.usefixtures("plain_calls")
def test_bad_types_are_told_what_was_given_and_expected():
    with pytest.raises(TypeError, match=r"mean is a list; expected a torch.Tensor"):
        kl_to_standard_normal([0.0], [0.0])
    with pytest.raises(TypeError, match=r"log_variance has dtype torch.float64 and mean has"):
        reparameterize(torch.zeros(1), torch.zeros(1).double())
    with pytest.raises(TypeError, match=r"x has dtype torch.uint8; expected floating point"):
        elbo(PLAIN, torch.zeros(1, 6, dtype=torch.uint8))
    with pytest.raises(TypeError, match=r"condition has dtype torch.float32; expected integers"):
        TOLD.encode(GREY, torch.zeros(1))
    with pytest.raises(TypeError, match="beta is a str"):
        elbo(PLAIN, GREY, beta="1")


def test_a_linear_vae_draws_again_with_the_level_as_its_error_and_forgets_what_lies_below():
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
