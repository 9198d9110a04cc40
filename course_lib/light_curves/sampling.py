r"""Light curves: the brightness of a star on the nights when it was observed.

A pulsating star repeats itself: :func:`cosine_series` is one turn of it, and :func:`phase` folds
all nights into that turn, if its period is known. :func:`time_sinusoids` encode dates without
a period. :class:`LightCurves` are the observations; :mod:`course_lib.models.stars` has stars to
observe.

Times are days from any origin; magnitudes are the larger, the fainter a star is. Curves come
in batches, ``(*batch, nights)``, and ``valid`` is True where there is an observation and False
where a row is padded. Bad input raises ``TypeError`` or ``ValueError`` with what was given, what
was expected and what to do.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Real
from torch import Tensor

from course_lib.support.checks import check_floating, check_shapes, check_size
from course_lib.support.contracts import Positive, Size, checked

GRID = 360  # phases at which the range of a series is taken
SLIP = 1e-3  # turns by which rounding may move a date


# The phase and the shape of a curve -----------------------------------------------------------


@checked
def phase(
    time: Float[Tensor, "*batch nights"],
    period: Float[Tensor, "*#batch"],
    *,
    epoch: Float[Tensor, "*#batch"] | float = 0.0,
) -> Float[Tensor, "*batch nights"]:
    r"""Fold times at a period: $\varphi = \frac{t - t_0}{P} \bmod 1$, in [0, 1).

    ``epoch`` is $t_0$. Nights a whole number of periods apart have one phase. Raises
    ``ValueError`` unless every period is finite and above 0, and for dates that are rounded too
    much for a phase (:func:`check_dates`).
    """
    _check_positive(period)
    check_dates(time, 1 / period)
    if isinstance(epoch, Tensor):
        epoch = epoch[..., None]
    turns = ((time - epoch) / period[..., None]) % 1
    # In floating point a tiny negative number modulo 1 is 1.
    return torch.where(turns == 1, torch.zeros_like(turns), turns)


@checked
def cosine_series(
    phase: Float[Tensor, "*batch nights"],
    amplitude: Float[Tensor, "*batch"],
    ratio: Float[Tensor, "*batch harmonics"],
    shift: Float[Tensor, "*batch harmonics"],
) -> Float[Tensor, "*batch nights"]:
    r"""$m(\varphi) = \frac{A}{\mathrm{range}} \sum_k R_k \cos(2\pi k \varphi + \phi_k)$.

    ``ratio`` holds $R_k$ and ``shift`` $\phi_k$; the sum is divided by its range, so that the
    ``amplitude`` $A$ is what catalogues call one: from peak to peak. A series of zeros is 0.
    Source: Simon and Lee (1981).
    """
    turn = torch.arange(GRID, dtype=phase.dtype, device=phase.device) / GRID
    everywhere = _cosines(turn.expand(*amplitude.shape, GRID), ratio, shift)
    extent = everywhere.amax(dim=-1) - everywhere.amin(dim=-1)
    scale = torch.where(extent > 0, amplitude / extent, torch.zeros_like(extent))
    return scale[..., None] * _cosines(phase, ratio, shift)


def _cosines(phase: Tensor, ratio: Tensor, shift: Tensor) -> Tensor:
    harmonic = torch.arange(1, ratio.shape[-1] + 1, dtype=phase.dtype, device=phase.device)
    angle = 2 * math.pi * harmonic * phase[..., None] + shift[..., None, :]
    return (ratio[..., None, :] * angle.cos()).sum(dim=-1)


# Sinusoids of irregular dates -----------------------------------------------------------------


@checked
def time_sinusoids(
    time: Float[Tensor, "*batch nights"], frequency: Real[Tensor, "pairs"]
) -> Float[Tensor, "*batch nights waves"]:
    r"""$(\sin 2\pi f_1 t, \cos 2\pi f_1 t, \sin 2\pi f_2 t, \cos 2\pi f_2 t, \dots)$.

    ``frequency`` is in cycles per unit of time. On the regular grid 0, 1, 2, … and with
    ``frequency_ladder(pairs, shortest=2 * math.pi, longest=2 * math.pi * base)`` they are
    :func:`course_lib.position.sinusoidal`. Angles are computed in float64, so that far dates lose
    no digits. Source: Vaswani et al. (2017), section 3.5, with the dates of observations for
    positions, as Donoso-Oliva et al. (2023).
    """
    angle = 2 * math.pi * time.double()[..., None] * frequency.double()
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(-2).to(time.dtype)


@checked
def frequency_ladder(
    pairs: Size, *, shortest: Positive, longest: Positive
) -> Float[Tensor, "pairs"]:
    r"""Frequencies $f_i = \frac1s \left(\frac s\ell\right)^{i/n}$ from $1/s$ down towards $1/\ell$.

    $i$ runs from 0 to $n - 1$. Periods grow from the ``shortest`` $s$ by one factor each time and
    stay below the ``longest`` $\ell$. Raises ``ValueError`` unless shortest < longest.
    """
    if shortest >= longest:
        raise ValueError(
            f"shortest is {shortest} and longest is {longest}; expected shortest below longest; "
            "swap them, or choose a longer one"
        )
    step = torch.arange(pairs, dtype=torch.float64) / pairs
    return (shortest / longest) ** step / shortest


# Batches of curves ----------------------------------------------------------------------------


@checked
@dataclass(frozen=True, eq=False)
class LightCurves:
    """Observations of stars, a star in each row: days, magnitudes, errors, flags of real nights.

    Times grow along a row, and may have another dtype. Raises ``ValueError`` for a number that is
    nan or infinite, an error included, for nights out of order, for an error that is not above 0
    and for a star with fewer than two observations. Numbers in padding are ignored.
    """

    time: Real[Tensor, "stars nights"]
    magnitude: Float[Tensor, "stars nights"]
    error: Float[Tensor, "stars nights"]
    valid: Bool[Tensor, "stars nights"]

    def __post_init__(self) -> None:
        check_floating(time=self.time)
        check_nights(self.time, self.magnitude, self.error, self.valid, flags="valid")
        latest = self.time.masked_fill(~self.valid, -math.inf).cummax(dim=1).values
        if (back := self.valid[:, 1:] & (self.time[:, 1:] <= latest[:, :-1])).any():
            star, night = back.nonzero()[0].tolist()
            raise ValueError(
                f"time does not grow at night {night + 1} of star {star}; expected every "
                "observation later than those before it; sort the nights by time, magnitudes along"
            )

    def __len__(self) -> int:
        return len(self.time)

    def __getitem__(self, rows: slice | Tensor) -> "LightCurves":
        return LightCurves(
            self.time[rows], self.magnitude[rows], self.error[rows], self.valid[rows]
        )

    @checked
    def in_turns(self, period: Real[Tensor, "stars"]) -> "LightCurves":
        r"""The same curves with the time $t / P$, in which every star has the period 1."""
        _check_positive(period)
        check_shapes(time=(self.time, "stars nights"), period=(period, "stars"))
        check_dates(self.time.where(self.valid, 0.0), 1 / period)
        turns = self.time / period.to(self.time.dtype)[:, None]
        return LightCurves(turns, self.magnitude, self.error, self.valid)

    @classmethod
    @checked
    def padded(cls, curves: Sequence["LightCurves"]) -> "LightCurves":
        """Curves of different lengths in one batch: short ones are filled up at their end."""
        check_size("the number of curves", len(curves))
        nights = max(curve.time.shape[1] for curve in curves)

        def filled(name: str) -> Tensor:
            parts = (getattr(curve, name) for curve in curves)
            pads = (torch.nn.functional.pad(part, (0, nights - part.shape[1])) for part in parts)
            return torch.cat(list(pads))

        return cls(*map(filled, ("time", "magnitude", "error", "valid")))


def check_nights(
    time: Tensor, magnitude: Tensor, error: Tensor, used: Tensor, *, flags: str
) -> None:
    """Raise ``ValueError`` unless two or more are used, finite and with errors above 0.

    ``flags`` is the caller's name for ``used``.
    """
    for name, values in {"time": time, "magnitude": magnitude, "error": error}.items():
        good, wanted = values.isfinite(), "finite numbers"
        if name == "error":
            good, wanted = good & (values > 0), "finite numbers above 0"
        if (bad := used & ~good).any():
            place = tuple(bad.nonzero()[0].tolist())
            raise ValueError(
                f"{name} is {values[place].item()} at {place}; expected {wanted}; leave the "
                f"observation out, or set {flags} to False there"
            )
    if (few := used.sum(dim=-1) < 2).any():  # noqa: PLR2004 - what its message says
        star = tuple(few.nonzero()[0].tolist())
        raise ValueError(
            f"star {star} has {used[star].sum().item()} observation(s); expected two or more, "
            "since one cannot show a change; leave the star out"
        )


def check_dates(time: Tensor, frequency: Tensor) -> None:
    """Raise ``ValueError`` where rounding may move a date by a thousandth of a turn.

    In float32 Julian dates are a quarter of a day apart. ``frequency`` is in turns
    per unit of time, one for each curve, or one for all.
    """
    if not time.shape[-1]:
        return
    farthest = time.where(time.isfinite(), 0.0).abs().amax(dim=-1)
    lost = torch.finfo(time.dtype).eps * farthest * frequency.abs()
    if (bad := ~(lost <= SLIP)).any():
        raise ValueError(
            f"time reaches {farthest.expand_as(lost)[bad][0].item()} in {time.dtype}, whose dates "
            f"are rounded by {lost[bad][0].item():.2g} turns there; expected {SLIP} at most; pass "
            "float64, or take the first date off before you convert"
        )


def _check_positive(period: Tensor) -> None:
    if len(bad := period[~(period.isfinite() & (period > 0))]):
        raise ValueError(
            f"period holds {bad[0].item()}; expected finite numbers above 0; leave that entry out"
        )
