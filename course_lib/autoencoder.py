r"""Autoencoders, plain and variational: squeeze pictures into a few numbers, and draw new ones.

The module reads in the order of lecture 10. A plain :class:`Autoencoder` keeps a point $z$ for each
picture $x$. A :class:`VAE` keeps a cloud, $q(z \mid x) = \mathcal N(\mu, \operatorname{diag}
\sigma^2)$, whose divergence from the prior $p(z) = \mathcal N(0, I)$ enters the loss. Then the
two bounds on $\log p(x) = \log \int p(x \mid z)\, p(z)\, dz$: :func:`elbo`, which training raises,
and :func:`importance_bound`, which is tighter. Last, the one VAE whose optimum has a closed form,
:func:`probabilistic_pca`, and what it draws, :func:`redrawn_by_linear_vae`.

Pictures are rows, ``(*batch, d_x)``, codes are ``(*batch, d_z)``. The spread of a cloud is given as
``log_variance``, $\log \sigma^2$, as in Kingma and Welling (2014), appendix C: any number is valid,
and $\sigma = e^{\frac12 \log\sigma^2}$. All logarithms are natural: likelihoods, divergences and
bounds are in nats and are sums over pixels or codes, one number for each picture. With
``condition``, a number of classes, a model takes the class of each picture, an integer in
``(*batch)``, such as which letter it shows.

Bad input raises ``TypeError`` or ``ValueError`` with what was given, what was expected and what to
do.
"""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.distributions import Bernoulli, Distribution, Normal
from torch.nn import functional as F

from course_lib.support.checks import check_finite, check_shapes, check_size
from course_lib.support.contracts import NotNegative, Positive, Size, checked

# A point for each picture ---------------------------------------------------------------------


class Autoencoder(nn.Module):
    r"""A picture in, ``d_z`` numbers in the middle, the picture out: $\hat x = d(e(x))$.

    ``d_hidden`` gives the widths of the encoder's hidden layers, and in reverse of the decoder's;
    with none, ``()``, both are linear. Source: Rumelhart, Hinton and Williams (1986); Hinton and
    Salakhutdinov (2006).
    """

    @checked
    def __init__(
        self,
        d_x: Size,
        d_z: Size,
        *,
        d_hidden: Sequence[int] = (256,),
        condition: Size | None = None,
    ) -> None:
        super().__init__()
        self.d_x, self.d_z, self.condition = d_x, d_z, condition
        classes = condition or 0
        self.encoder = _network([d_x + classes, *d_hidden, d_z])
        self.decoder = _network([d_z + classes, *reversed(d_hidden), d_x])

    @checked
    def forward(
        self, x: Float[Tensor, "*batch d_x"], condition: Int[Tensor, "*batch"] | None = None
    ) -> Float[Tensor, "*batch d_x"]:
        """The reconstruction of each picture."""
        return self.decode(self.encode(x, condition), condition)

    @checked
    def encode(
        self, x: Float[Tensor, "*batch d_x"], condition: Int[Tensor, "*batch"] | None = None
    ) -> Float[Tensor, "*batch d_z"]:
        """The code of each picture. Raises ``ValueError`` for a condition that is missing."""
        return self.encoder(_with_class(x, condition, self.condition))

    @checked
    def decode(
        self, z: Float[Tensor, "*batch d_z"], condition: Int[Tensor, "*batch"] | None = None
    ) -> Float[Tensor, "*batch d_x"]:
        """The picture of each code."""
        return self.decoder(_with_class(z, condition, self.condition))


# A cloud for each picture ---------------------------------------------------------------------


@checked
def reparameterize(
    mean: Float[Tensor, "*batch d_z"],
    log_variance: Float[Tensor, "*batch d_z"],
    *,
    noise: Float[Tensor, "*batch d_z"] | None = None,
    generator: torch.Generator | None = None,
) -> Float[Tensor, "*batch d_z"]:
    r"""A draw from each cloud, as a function of its mean: $z = \mu + \sigma \odot \varepsilon$.

    $\varepsilon \sim \mathcal N(0, I)$ has the shape of $z$, a number for each code of each
    picture: pass it as ``noise``, or have it drawn. As $\varepsilon$ depends on no parameter,
    gradients reach $\mu$ and $\sigma = e^{\frac12\log\sigma^2}$.
    Source: Kingma and Welling (2014), section 2.4; Rezende, Mohamed and Wierstra (2014).
    """
    if noise is None:
        noise = torch.randn(mean.shape, generator=generator, dtype=mean.dtype, device=mean.device)
    return mean + (log_variance / 2).exp() * noise


@checked
def kl_to_standard_normal(
    mean: Float[Tensor, "*batch d_z"], log_variance: Float[Tensor, "*batch d_z"]
) -> Float[Tensor, "*batch"]:
    r"""Divergence of a cloud: $\frac12 \sum_j (\mu_j^2 + \sigma_j^2 - \log \sigma_j^2 - 1)$ nats.

    The Kullback-Leibler divergence of $q = \mathcal N(\mu, \operatorname{diag} \sigma^2)$ from
    $p = \mathcal N(0, I)$: never negative, and 0 for $p$ itself alone.
    Source: Kingma and Welling (2014), appendix B, where the sign is the opposite one.
    """
    # σ² − log σ² − 1 by expm1, which loses no digits for a cloud close to the prior.
    return (mean.square() + log_variance.expm1() - log_variance).sum(dim=-1) / 2


class VAE(nn.Module):
    r"""A variational autoencoder: an encoder $q(z \mid x)$, a prior $\mathcal N(0, I)$, a decoder.

    ``likelihood`` is the distribution of a pixel given its code:

    - ``"gaussian"``: $\mathcal N(\hat x, s^2)$, with one learned $s^2$ for all pixels, which begins
      at ``noise_variance``; any pictures;
    - ``"bernoulli"``: black with probability $\hat x$; pictures of 0 and 1 alone;
    - ``"continuous_bernoulli"``: a density on [0, 1]; grey pictures. The Bernoulli formula of a
      grey pixel is no likelihood: its integral over [0, 1] is not 1, and depends on $\hat x$.

    ``d_hidden`` gives the widths of the encoder's hidden layers, and in reverse of the decoder's;
    with none, ``()``, both are linear. In their place ``encoder`` and ``decoder`` take networks of
    your own, from ``d_x`` to 2 ``d_z`` numbers and from ``d_z`` to ``d_x``, each with the classes
    in one-hot code behind its input if there is a ``condition``.
    Source: Kingma and Welling (2014); Rezende, Mohamed and Wierstra (2014); Sohn, Lee and Yan
    (2015) for the condition; Loaiza-Ganem and Cunningham (2019) for the continuous Bernoulli.
    """

    @checked
    def __init__(
        self,
        d_x: Size,
        d_z: Size,
        *,
        d_hidden: Sequence[int] = (256,),
        condition: Size | None = None,
        likelihood: Literal["gaussian", "bernoulli", "continuous_bernoulli"] = "gaussian",
        noise_variance: Positive = 1.0,
        encoder: nn.Module | None = None,
        decoder: nn.Module | None = None,
    ) -> None:
        super().__init__()
        self.d_x, self.d_z, self.condition = d_x, d_z, condition
        classes = condition or 0
        self.likelihood = likelihood
        self.encoder = _network([d_x + classes, *d_hidden, 2 * d_z]) if encoder is None else encoder
        if decoder is None:
            decoder = _network([d_z + classes, *reversed(d_hidden), d_x])
        self.decoder = decoder
        if likelihood == "gaussian":
            self.log_noise_variance = nn.Parameter(torch.tensor(math.log(noise_variance)))

    @checked
    def encode(
        self, x: Float[Tensor, "*batch d_x"], condition: Int[Tensor, "*batch"] | None = None
    ) -> tuple[Float[Tensor, "*batch d_z"], Float[Tensor, "*batch d_z"]]:
        """The mean and the log variance of each picture's cloud.

        Raises ``ValueError`` for a condition that is missing, and for pixels that the likelihood
        excludes.
        """
        self._check_pictures(x)
        mean, log_variance = self.encoder(_with_class(x, condition, self.condition)).chunk(2, -1)
        return mean, log_variance

    @checked
    def decode(
        self, z: Float[Tensor, "*batch d_z"], condition: Int[Tensor, "*batch"] | None = None
    ) -> Float[Tensor, "*batch d_x"]:
        """The expected picture of each code, $E[x | z]$."""
        return self.pixels(z, condition).mean

    @checked
    def log_likelihood(
        self,
        x: Float[Tensor, "*batch d_x"],
        z: Float[Tensor, "*batch d_z"],
        condition: Int[Tensor, "*batch"] | None = None,
    ) -> Float[Tensor, "*batch"]:
        r"""How well each code explains its picture: $\log p(x \mid z)$, a sum over the pixels."""
        self._check_pictures(x)
        return self.pixels(z, condition).log_prob(x).sum(dim=-1)

    @checked
    def pixels(
        self, z: Float[Tensor, "*batch d_z"], condition: Int[Tensor, "*batch"] | None = None
    ) -> Distribution:
        r"""The distribution of every pixel, $p(x_i \mid z)$, given the code: they are independent.

        Draw a picture with its noise by ``.sample()``.
        """
        decoded = self.decoder(_with_class(z, condition, self.condition))
        if self.likelihood == "gaussian":
            deviation = (self.log_noise_variance / 2).exp()
            return Normal(decoded, deviation, validate_args=False)
        if self.likelihood == "bernoulli":
            return Bernoulli(logits=decoded, validate_args=False)
        return ContinuousBernoulli(decoded)

    @checked
    def sample(
        self,
        count: Size,
        condition: Int[Tensor, "count"] | None = None,
        *,
        generator: torch.Generator | None = None,
    ) -> Float[Tensor, "count d_x"]:
        """Expected pictures of ``count`` codes from the prior."""
        like = next(self.parameters())
        z = torch.randn(
            (count, self.d_z), generator=generator, dtype=like.dtype, device=like.device
        )
        return self.decode(z, condition)

    def _check_pictures(self, x: Tensor) -> None:
        if self.likelihood == "gaussian":
            return
        if not ((x >= 0) & (x <= 1)).all():
            raise ValueError(
                f"x reaches from {x.min().item():.4g} to {x.max().item():.4g}; expected pixels in "
                f'[0, 1] for likelihood="{self.likelihood}"; rescale them, or take "gaussian"'
            )
        if self.likelihood == "bernoulli" and (grey := x[(x > 0) & (x < 1)]).numel():
            raise ValueError(
                f"x holds the grey pixel {grey[0].item():.4g}; expected 0 and 1 alone for "
                'likelihood="bernoulli", which gives grey no probability; take '
                '"continuous_bernoulli", or round with (x > 0.5).to(x.dtype)'
            )


class ContinuousBernoulli(Distribution):
    r"""A grey pixel: the density $e^{\ell x} / \int_0^1 e^{\ell t}\, dt$ on [0, 1], for any $\ell$.

    The ``logits`` are $\ell$. PyTorch's own class takes the probability $\sigma(\ell)$, which
    float32 rounds to 1 beyond a logit of 16.
    Source: Loaiza-Ganem and Cunningham (2019).
    """

    has_rsample = True

    def __init__(self, logits: Float[Tensor, "*pixels"]) -> None:
        super().__init__(logits.shape, validate_args=False)
        self.logits = logits
        self._near = logits.abs() < 0.25  # noqa: PLR2004 - where the series are exact
        self._far = logits.where(~self._near, 1.0)

    @property
    def mean(self) -> Float[Tensor, "*pixels"]:
        r"""$\frac12 + \frac12 \coth\frac\ell2 - \frac1\ell$."""
        far, square = self._far, self.logits.square()
        slope = 1 / 12 - square * (1 / 720 - square * (1 / 30240 - square / 1209600))
        beyond = 0.5 + 0.5 / (far / 2).tanh() - 1 / far
        return torch.where(self._near, 0.5 + self.logits * slope, beyond)

    def log_prob(self, value: Float[Tensor, "*#pixels"]) -> Float[Tensor, "*pixels"]:
        r"""$\ell x - \log \frac{e^\ell - 1}{\ell}$."""
        size, square = self._far.abs(), self.logits.square()
        bend = 1 / 24 - square * (1 / 2880 - square * (1 / 181440 - square / 9676800))
        beyond = self._far.relu() + (-torch.expm1(-size)).log() - size.log()
        whole = torch.where(self._near, self.logits / 2 + square * bend, beyond)
        return self.logits * value - whole

    def rsample(self, sample_shape: Sequence[int] = ()) -> Float[Tensor, "..."]:
        """The quantile at a number drawn uniformly from [0, 1)."""
        u = torch.rand((*sample_shape, *self.logits.shape)).to(self.logits)
        size = self.logits.abs().clamp(min=torch.finfo(u.dtype).eps)
        below = -torch.log1p(u * torch.expm1(-size)) / size
        return torch.where(self.logits < 0, below, 1 - below)


# Two bounds on log p(x) -----------------------------------------------------------------------


class Elbo(NamedTuple):
    """The bound of each picture and its two parts: ``value = reconstruction - beta * kl``."""

    value: Tensor
    reconstruction: Tensor
    kl: Tensor


@checked
def elbo(
    model: VAE,
    x: Float[Tensor, "*batch model.d_x"],
    condition: Int[Tensor, "*batch"] | None = None,
    *,
    beta: NotNegative = 1.0,
    samples: Size = 1,
    noise: Float[Tensor, "draws *batch d_z"] | None = None,
    generator: torch.Generator | None = None,
) -> Elbo:
    r"""The evidence lower bound of each picture, in nats, to be raised by training.

    $$E_{q(z \mid x)} \log p(x \mid z) - \beta\, \mathrm{KL}(q(z \mid x) \,\|\, p(z))
    \;\overset{\beta = 1}{=}\; \log p(x) - \mathrm{KL}(q(z \mid x) \,\|\, p(z \mid x))$$

    The expectation is a mean over ``samples`` draws, or over those that you pass as ``noise``; the
    divergence is exact. For $\beta \ge 1$ it is a bound; below it need not be one.
    Source: Kingma and Welling (2014), eq. 10; Higgins et al. (2017) for $\beta$.
    """
    mean, log_variance = model.encode(x, condition)
    noise = _noise(mean, samples, noise, generator)
    x, condition, *cloud = _for_each_draw(noise, x, condition, mean, log_variance)
    z = reparameterize(*cloud, noise=noise)
    reconstruction = model.log_likelihood(x, z, condition).mean(dim=0)
    kl = kl_to_standard_normal(mean, log_variance)
    return Elbo(reconstruction - beta * kl, reconstruction, kl)


@checked
def importance_bound(
    model: VAE,
    x: Float[Tensor, "*batch model.d_x"],
    condition: Int[Tensor, "*batch"] | None = None,
    *,
    samples: Size,
    noise: Float[Tensor, "draws *batch d_z"] | None = None,
    generator: torch.Generator | None = None,
) -> Float[Tensor, "*batch"]:
    r"""The importance-weighted bound with $k$ = ``samples`` draws $z_i \sim q(z \mid x)$, in nats.

    $$\log \frac1k \sum_{i=1}^k \frac{p(x \mid z_i)\, p(z_i)}{q(z_i \mid x)}$$

    Its expectation is the ELBO for $k = 1$, never falls as $k$ grows, and tends to $\log p(x)$; a
    single value can lie above that. If $q$ is the true posterior, every weight is $p(x)$ and a
    single draw gives $\log p(x)$. Raises ``ValueError`` for pictures so large that $z$ overflows.
    Source: Burda, Grosse and Salakhutdinov (2016), eq. 8 and theorem 1.
    """
    mean, log_variance = model.encode(x, condition)
    noise = _noise(mean, samples, noise, generator)
    x, condition, *cloud = _for_each_draw(noise, x, condition, mean, log_variance)
    z = reparameterize(*cloud, noise=noise)
    check_finite(z=z)
    # Both without −½ log 2π a code, which cancels; q from the noise, since σ may round to 0.
    log_prior = -z.square().sum(dim=-1) / 2
    log_q = -(noise.square() + log_variance).sum(dim=-1) / 2
    log_weight = model.log_likelihood(x, z, condition) + log_prior - log_q
    return log_weight.logsumexp(dim=0) - math.log(len(log_weight))


# The linear VAE, in closed form ---------------------------------------------------------------


@checked
def probabilistic_pca(x: Float[Tensor, "pictures d_x"], d_z: Size) -> VAE:
    r"""The linear VAE that explains ``x`` best, in closed form, whose ELBO is $\log p(x)$ itself.

    With the covariance of the pictures $S = U \Lambda U^\top$, eigenvalues falling: $s^2$ is the
    mean of the eigenvalues left out, $W = U_q (\Lambda_q - s^2 I)^{1/2}$, $\hat x = W z + \bar x$,
    so that $p(x) = \mathcal N(\bar x, W W^\top + s^2 I)$. The encoder has the true posterior:
    $\mu = (\Lambda_q - s^2 I)^{1/2} \Lambda_q^{-1} U_q^\top (x - \bar x)$ and $\sigma^2 =
    s^2 \Lambda_q^{-1}$. Raises ``ValueError`` unless the pictures vary in more than ``d_z``
    directions, for then $p(x)$ has no maximum.
    Source: Tipping and Bishop (1999), eqs. 7 and 8; Lucas et al. (2019) for the ELBO.
    """
    pictures, d_x = x.shape
    check_size("the number of pictures", pictures)
    check_finite(x=x)
    centre = x.mean(dim=0)
    _, singular, directions = torch.linalg.svd(x - centre, full_matrices=False)
    eigenvalue = singular.square() / pictures
    rank = int((singular > singular[0] * max(x.shape) * torch.finfo(x.dtype).eps).sum())
    if d_z >= rank:
        raise ValueError(
            f"d_z is {d_z} and x, of shape {tuple(x.shape)}, varies in {rank} directions; expected "
            "fewer codes than that, so that some variance is left as noise; choose a smaller d_z, "
            "or pass more pictures"
        )
    noise_variance = eigenvalue[d_z:].sum() / (d_x - d_z)
    kept, directions = eigenvalue[:d_z], directions[:d_z]
    length = (kept - noise_variance).sqrt()
    with torch.random.fork_rng(devices=[]):  # the random weights are replaced at once
        model = VAE(d_x, d_z, d_hidden=()).to(x)
    encode = (length / kept)[:, None] * directions
    state = {
        "encoder.0.weight": torch.cat([encode, torch.zeros_like(encode)]),
        "encoder.0.bias": torch.cat([-encode @ centre, (noise_variance / kept).log()]),
        "decoder.0.weight": directions.T * length,
        "decoder.0.bias": centre,
        "log_noise_variance": noise_variance.log(),
    }
    model.load_state_dict(state)
    return model


@checked
def redrawn_by_linear_vae(
    x: Float[Tensor, "*batch d_x"],
    directions: Float[Tensor, "d_x d_x"],
    eigenvalues: Float[Tensor, "d_x"],
    level: NotNegative,
    *,
    noise: Float[Tensor, "*#batch d_x"],
) -> Float[Tensor, "*batch d_x"]:
    r"""What the optimal linear VAE draws for centred pictures ``x``, from their clouds.

    ``directions`` are the eigenvectors of the covariance, as columns, with their ``eigenvalues``
    $\lambda_j$; ``level`` is the noise $\beta s^2$. Along a direction with $\lambda_j$ above it the
    code keeps the part $1 - \beta s^2 / \lambda_j$ of the picture, and its cloud adds ``noise``
    with the variance $\beta s^2 (1 - \beta s^2 / \lambda_j)$; the other directions become 0.
    Source: Lucas et al. (2019), section 4, with the decoder of Tipping and Bishop (1999), eq. 7.
    """
    kept = (1 - level / eigenvalues).clamp(min=0)
    return (kept * (x @ directions) + (level * kept).sqrt() * noise) @ directions.T


# What the parts above share -------------------------------------------------------------------


def _network(widths: Sequence[int]) -> nn.Sequential:
    """Linear layers with a SiLU between each two."""
    layers: list[nn.Module] = []
    for before, after in pairwise(widths):
        check_size("a width in d_hidden", after)
        layers += [nn.Linear(before, after), nn.SiLU()]
    return nn.Sequential(*layers[:-1])


def _with_class(x: Tensor, condition: Tensor | None, classes: int | None) -> Tensor:
    """The input with its class in one-hot code behind it, if there are classes."""
    if classes is None:
        if condition is not None:
            raise ValueError(
                "condition is given, and this model has none; expected None; leave it out, or "
                "build the model with condition=, the number of classes"
            )
        return x
    if condition is None:
        raise ValueError(
            f"condition is None; expected the class of each picture, 0 to {classes - 1}; pass an "
            "integer for each"
        )
    outside = condition[(condition < 0) | (condition >= classes)]
    if len(outside):
        raise ValueError(
            f"condition holds {outside[0].item()}; expected 0 to {classes - 1}, the classes of "
            "this model; number them from 0"
        )
    return torch.cat([x, F.one_hot(condition.long(), classes).to(x.dtype)], dim=-1)


def _noise(
    mean: Tensor, samples: int, noise: Tensor | None, generator: torch.Generator | None
) -> Float[Tensor, "draws *batch d_z"]:
    """Noise for ``samples`` draws from each cloud, or the given ``noise``, checked."""
    if noise is None:
        like = {"dtype": mean.dtype, "device": mean.device}
        noise = torch.randn((samples, *mean.shape), generator=generator, **like)
    check_shapes(noise=(noise, f"draws {' '.join(map(str, mean.shape))}"))
    check_size("the number of draws in noise", len(noise))
    return noise


def _for_each_draw(noise: Tensor, *given: Tensor | None) -> list[Tensor | None]:
    """Tensors for one picture each, with the axis of the draws in front."""
    return [None if one is None else one.expand(len(noise), *one.shape) for one in given]
