r"""Periodograms: at which frequency a wave explains irregular observations best.

:func:`lomb_scargle` measures how well a sinusoid of each frequency fits, :func:`find_period` picks
the best one, with the harmonics of a star's curve, and :func:`fit_harmonics` gives the
series of that period, with values at any time. All of it is least squares, each observation
weighted by $1/\sigma^2$, for a whole batch of stars at once.

Curves are ``(*batch, nights)``; ``seen`` is True at the observations that may be used, padding and
hidden nights are False. Bad input raises ``TypeError`` or ``ValueError`` with what was given, what
was expected and what to do.
"""

import math
from dataclasses import dataclass

import torch
from einops import einsum
from jaxtyping import Bool, Float, Real
from torch import Tensor

from course_lib.light_curves.sampling import check_dates, check_nights, time_sinusoids
from course_lib.support.checks import check_finite, check_shapes, check_size
from course_lib.support.contracts import LARGEST, Positive, Size, checked

OVERSAMPLING = 5  # trial frequencies in the width of a peak
CHUNK = 64  # stars at a time: arrays are stars × frequencies × nights
ABOUT = 2  # trial frequencies on either side of a peak between which series are tried
FINER = 10  # series on either side of a peak: a third harmonic's is a third as wide
FLAT = 100  # roundings of 1: a determinant or a spread below that is 0
FEW = 4  # roundings of its mean: a star that changes by no more is constant
RIDGE = 1e-6  # keeps a fit with more numbers than nights solvable


@checked
def frequency_grid(
    days: Positive, *, highest: Positive, oversampling: Size = OVERSAMPLING
) -> Float[Tensor, "frequencies"]:
    r"""Trial frequencies from $1/2T$ up to ``highest``, in steps of $1/(\mathrm{oversampling}\,T)$.

    A peak is about $1/T$ wide if observations span $T$ = ``days``. Raises ``ValueError`` if none
    lies below ``highest``. Source: VanderPlas (2018), section 7.1.
    """
    if highest <= (lowest := 0.5 / days):
        raise ValueError(
            f"highest is {highest}; expected it above {lowest:.3g}, the lowest frequency "
            f"for {days} days; choose a higher one"
        )
    if (trials := (highest - lowest) * oversampling * days) > LARGEST:
        raise ValueError(
            f"highest is {highest} of {days} days, which makes {trials:.1g} trial frequencies; "
            f"expected {LARGEST} at most; choose a lower one"
        )
    return torch.arange(lowest, highest, 1 / (oversampling * days), dtype=torch.float64)


@checked
def lomb_scargle(
    time: Float[Tensor, "*batch nights"],
    magnitude: Float[Tensor, "*batch nights"],
    error: Float[Tensor, "*batch nights"],
    frequency: Real[Tensor, "frequencies"],
    *,
    seen: Bool[Tensor, "*batch nights"] | None = None,
) -> Float[Tensor, "*batch frequencies"]:
    r"""The share of the scatter that a sinusoid explains: $1 - \chi^2(f) / \chi^2_0$, in [0, 1].

    Both are weighted sums of squares: $\chi^2(f)$ is left by the best constant and sinusoid of
    frequency $f$, $\chi^2_0$ by the best constant alone. Where all nights have one phase there is
    nothing to fit, and the power is 0, as it is of a star that does not change; where sine and
    cosine are multiples of each other, as on two nights, one of them fits. Source: Lomb (1976),
    Scargle (1982); Zechmeister and Kürster (2009), eqs. 5 to 15, for the constant.
    """
    time, weight, x = _weighed(time, magnitude, error, seen)
    check_finite(frequency=frequency)
    frequency = frequency.to(time.dtype)
    check_dates(time[..., None, :], frequency)
    turn = 2 * math.pi * time[..., None, :] * frequency[:, None]
    cosine, sine = turn.cos(), turn.sin()

    def mean(values: Tensor) -> Tensor:
        return (weight[..., None, :] * values).sum(dim=-1)

    c, s = mean(cosine), mean(sine)
    xc, xs = mean(x[..., None, :] * cosine), mean(x[..., None, :] * sine)
    cc, ss = mean(cosine.square()) - c.square(), mean(sine.square()) - s.square()
    cs = mean(cosine * sine) - c * s
    explained = ss * xc.square() + cc * xs.square() - 2 * cs * xc * xs
    scatter = (weight * x.square()).sum(dim=-1)[..., None]
    whole, spread = cc * ss - cs.square(), cc + ss
    info = torch.finfo(time.dtype)
    rounded = info.eps * 2 * math.pi * time.abs().amax(dim=-1)[..., None] * frequency
    flat = FLAT * info.eps + rounded.square()  # rounding of angles and of what follows
    both = explained / whole.clamp(min=info.tiny)
    one = (xc.square() + xs.square()) / spread.clamp(min=info.tiny)
    power = both.where(whole > flat * spread, one) / scatter.clamp(min=info.tiny)
    return power.where(spread > flat, 0.0).clamp(0, 1)


@dataclass(frozen=True, eq=False)
class HarmonicFit:
    r"""$m(t) = c_0 + \sum_k a_k \sin 2\pi k f t + b_k \cos 2\pi k f t$.

    ``coefficient`` is $(c_0, a_1, b_1, a_2, b_2, \dots)$, ``chi_square`` that of the residuals.
    """

    frequency: Float[Tensor, "*batch"]
    coefficient: Float[Tensor, "*batch numbers"]
    chi_square: Float[Tensor, "*batch"]

    @checked
    def at(self, time: Float[Tensor, "*batch nights"]) -> Float[Tensor, "*batch nights"]:
        """The fitted magnitudes at any times."""
        check_shapes(frequency=(self.frequency, "*batch"), time=(time, "*batch nights"))
        harmonics = self.coefficient.shape[-1] // 2
        basis = _waves(time, self.frequency, harmonics)
        return einsum(basis, self.coefficient, "... nights n, ... n -> ... nights")


@checked
def fit_harmonics(
    time: Float[Tensor, "*batch nights"],
    magnitude: Float[Tensor, "*batch nights"],
    error: Float[Tensor, "*batch nights"],
    frequency: Float[Tensor, "*batch"],
    *,
    harmonics: Size = 3,
    seen: Bool[Tensor, "*batch nights"] | None = None,
) -> HarmonicFit:
    """Weighted least squares of a constant and ``harmonics`` sinusoids of each star's frequency.

    Numbers stay finite where there are fewer observations than coefficients. Source: Schwarzenberg-
    Czerny (1996) for several harmonics in a search for periods.
    """
    dates, weight, x = _weighed(time, magnitude, error, seen)
    basis = _waves(dates, frequency, harmonics)
    square = einsum(basis, weight, basis, "... t n, ... t, ... t m -> ... n m")
    right = einsum(basis, weight, x, "... t n, ... t, ... t -> ... n")
    ridge = RIDGE * torch.eye(square.shape[-1], dtype=time.dtype, device=time.device)
    found = torch.linalg.solve(square + ridge, right)
    left = x - einsum(basis, found, "... t n, ... n -> ... t")
    used = torch.ones_like(time, dtype=torch.bool) if seen is None else seen
    chi_square = (left / error).square().where(used, 0.0).sum(dim=-1)
    # The magnitudes that were fitted are differences from their mean.
    mean = (weight * magnitude.where(used, 0.0)).sum(dim=-1)
    found = torch.cat([found[..., :1] + mean[..., None], found[..., 1:]], dim=-1)
    return HarmonicFit(frequency, found, chi_square)


@checked
def find_period(
    time: Float[Tensor, "stars nights"],
    magnitude: Float[Tensor, "stars nights"],
    error: Float[Tensor, "stars nights"],
    frequency: Real[Tensor, "frequencies"],
    *,
    harmonics: Size = 3,
    candidates: Size = 5,
    seen: Bool[Tensor, "stars nights"] | None = None,
) -> Float[Tensor, "stars"]:
    """The period near one of the ``candidates`` highest peaks whose series fits best.

    Peaks are those of :func:`lomb_scargle`, series those of :func:`fit_harmonics`, tried in finer
    steps about each peak, since a harmonic's peak is narrower and may lie beside it. Raises
    ``ValueError`` for fewer trial frequencies than three, and for a star of which none explains
    anything, such as a constant one.
    """
    check_size("the number of frequencies", len(frequency), minimum=3)
    periods = []
    for rows in torch.arange(len(time)).split(CHUNK):
        few = [values[rows] for values in (time, magnitude, error)]
        used = None if seen is None else seen[rows]
        power = lomb_scargle(*few, frequency, seen=used)
        if (flat := ~(power > 0).any(dim=1)).any():
            raise ValueError(
                f"of star {rows[flat][0].item()} no frequency explains anything; expected "
                "magnitudes that change; leave the star out"
            )
        inner = power[:, 1:-1]
        peak = (inner >= power[:, :-2]) & (inner >= power[:, 2:])
        height = inner.masked_fill(~peak, -1.0)
        best = height.topk(min(candidates, height.shape[1]), dim=1).indices + 1
        trial = _finer(frequency.to(power.dtype), best).flatten(1)
        wide = [_for_each(values, trial) for values in (*few, used)]
        left = fit_harmonics(*wide[:3], trial, harmonics=harmonics, seen=wide[3]).chi_square
        periods.append(1 / trial.gather(1, left.argmin(dim=1, keepdim=True))[:, 0])
    return torch.cat(periods)


def _finer(frequency: Tensor, place: Tensor) -> Tensor:
    """Frequencies from ``ABOUT`` steps before each place to as many after, in finer steps."""
    low = frequency[(place - ABOUT).clamp(min=0)]
    high = frequency[(place + ABOUT).clamp(max=len(frequency) - 1)]
    share = torch.linspace(0, 1, 2 * FINER + 1, dtype=frequency.dtype, device=frequency.device)
    return low[..., None] + share * (high - low)[..., None]


def _for_each(values: Tensor | None, trial: Tensor) -> Tensor | None:
    """The nights of each star, repeated for each trial frequency."""
    return None if values is None else values[:, None].expand(-1, trial.shape[1], -1)


def _waves(time: Tensor, frequency: Tensor, harmonics: int) -> Tensor:
    """1, and sines and cosines of all multiples of the frequency, at each time."""
    check_dates(time, frequency)
    turns = time * frequency[..., None]
    multiple = torch.arange(1, harmonics + 1, dtype=torch.float64, device=time.device)
    return torch.cat([torch.ones_like(turns)[..., None], time_sinusoids(turns, multiple)], dim=-1)


def _weighed(
    time: Tensor, magnitude: Tensor, error: Tensor, seen: Tensor | None
) -> tuple[Tensor, Tensor, Tensor]:
    """Dates, weights that sum to one, magnitudes minus their mean; all 0 where not seen."""
    seen = torch.ones_like(time, dtype=torch.bool) if seen is None else seen
    check_nights(time, magnitude, error, seen, flags="seen")
    weight = (seen / error.where(seen, 1.0).square()).to(time.dtype)
    weight = weight / weight.sum(dim=-1, keepdim=True)
    known = magnitude.where(seen, 0.0)
    mean = (weight * known).sum(dim=-1, keepdim=True)
    x = (known - mean).where(seen, 0.0)
    # A constant minus its mean is rounding, which waves would fit as well as real changes.
    change = x.where(seen, -math.inf).amax(dim=-1) - x.where(seen, math.inf).amin(dim=-1)
    constant = change[..., None] <= FEW * torch.finfo(x.dtype).eps * mean.abs()
    return time.where(seen, 0.0), weight, x.masked_fill(constant, 0.0)
