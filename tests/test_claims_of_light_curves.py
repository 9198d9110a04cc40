"""Each claim of lecture 14 holds for the library and falls to an implementation that is wrong."""

import math
from functools import partial

import pytest
import torch
from claims import check, claims
from leaks import LeftInTheToken, WithoutResidual
from torch import Tensor

from course_lib.astromer import BRIGHTNESS, Astromer, StarClassifier
from course_lib.light_curves import LightCurves, frequency_ladder, time_sinusoids
from course_lib.periodogram import lomb_scargle

LECTURE = "14_light_curves"


# Folding and periodograms -----------------------------------------------------------------------


def folded(turn, period, epoch):
    return (turn - epoch[:, None]) / period[:, None]


PHASES = {
    "a phase that goes on": lambda t, p, *, epoch: folded(t, p, epoch),
    "a remainder with a sign": lambda t, p, *, epoch: torch.fmod(folded(t, p, epoch), 1.0),
    "a phase without epoch": lambda t, p, *, epoch: folded(t, p, 0 * epoch) % 1,
    "a phase at the frequency": lambda t, p, *, epoch: folded(t, 1 / p, epoch) % 1,
    "a phase that runs twice": lambda t, p, *, epoch: 2 * folded(t, p, epoch) % 1,
}


def without_constant(time, magnitude, error, frequency):
    """The periodogram of Lomb and Scargle, of magnitudes whose mean was taken off before."""
    weight = error**-2
    y = magnitude - (weight * magnitude).sum() / weight.sum()
    power = []
    for f in frequency:
        angle = 2 * math.pi * f * time
        basis = torch.stack([angle.cos(), angle.sin()], 1) / error[:, None]
        left = y / error - basis @ torch.linalg.lstsq(basis, (y / error)[:, None]).solution[:, 0]
        power.append(1 - left.square().sum() / (y / error).square().sum())
    return torch.stack(power)


def with_the_smallest_floor(time, magnitude, error, frequency):
    """Zechmeister and Kürster's quotient, whatever its rounded denominator is."""
    weight = error**-2 / (error**-2).sum()
    x = magnitude - (weight * magnitude).sum()
    wave = (2j * math.pi * frequency[:, None] * time).exp()
    c, s = (weight * wave.real).sum(1), (weight * wave.imag).sum(1)
    xc, xs = (weight * x * wave.real).sum(1), (weight * x * wave.imag).sum(1)
    cc = (weight * wave.real**2).sum(1) - c**2
    ss = (weight * wave.imag**2).sum(1) - s**2
    cs = (weight * wave.real * wave.imag).sum(1) - c * s
    whole = (weight * x**2).sum() * (cc * ss - cs**2)
    return ((ss * xc**2 + cc * xs**2 - 2 * cs * xc * xs) / whole.clamp(min=1e-300)).clamp(0, 1)


POWERS = {
    "power that divides by rounding": with_the_smallest_floor,
    "power without a constant": without_constant,
    "power without weights": lambda t, m, e, f: lomb_scargle(t, m, torch.ones_like(e), f),
    "power of angular frequencies": lambda t, m, e, f: lomb_scargle(t, m, e, f / (2 * math.pi)),
    "weights 1/σ": lambda t, m, e, f: lomb_scargle(t, m, e.sqrt(), f),
    "amplitude for power": lambda *given: lomb_scargle(*given).sqrt(),
}


# Dates ------------------------------------------------------------------------------------------


def cosines_first(time, frequency):
    return time_sinusoids(time, frequency).unflatten(-1, (-1, 2)).flip(-1).flatten(-2)


def sines_then_cosines(time, frequency):
    return time_sinusoids(time, frequency).unflatten(-1, (-1, 2)).mT.flatten(-2)


SINUSOIDS = {
    "angular frequencies": lambda t, f: time_sinusoids(t, f / (2 * math.pi)),
    "cosines first": cosines_first,
    "sines, then cosines": sines_then_cosines,
    "sines alone": lambda t, f: time_sinusoids(t, f) * (torch.arange(2 * len(f)) % 2 == 0),
    "places for dates": lambda t, f: time_sinusoids(torch.arange(t.numel()).double(), f),
}


def closed_ladder(pairs, *, shortest, longest):
    """A ladder whose last period is the longest."""
    step = torch.arange(pairs, dtype=torch.float64) / (pairs - 1)
    return (shortest / longest) ** step / shortest


def upside_down(pairs, **ends):
    return frequency_ladder(pairs, **ends).flip(0)


LADDERS = {"a ladder with its last rung": closed_ladder, "a ladder upside down": upside_down}


# Models that leak, or ask in a wrong way --------------------------------------------------------


class CentredByAll(Astromer):
    def _inputs(self, curves, visible):
        since, value, mean = super()._inputs(curves, visible)
        of_all = curves.magnitude.mean(1, keepdim=True)
        light = value[..., 0] + visible * (mean - of_all) / BRIGHTNESS
        return since, torch.stack([light, value[..., 1]], -1), of_all


class WithItsError(Astromer):
    """The error of a hidden night stays in its token."""

    def _inputs(self, curves, visible):
        since, value, mean = super()._inputs(curves, visible)
        return since, torch.stack([value[..., 0], curves.error.log()], -1), mean

    def _tokens(self, since, value, visible):
        return super()._tokens(since, value, visible) + self.light(value)


class MeanOfAllTokens(Astromer):
    """The embedding is the mean of all nights, hidden ones and padding too."""

    def embed(self, curves, *, hidden=None):
        return self.encode(curves, hidden=hidden).mean(1)


class TrueAtHidden(Astromer):
    """What is said of a hidden night is what was observed."""

    def forward(self, curves, *, hidden=None):
        said = super().forward(curves, hidden=hidden)
        return said if hidden is None else torch.where(hidden, curves.magnitude, said)


class FromNought(Astromer):
    """Dates that are asked for do not count from the first night."""

    def at(self, curves, time, *, hidden=None):
        first = curves.time.amin(1, keepdim=True)
        return super().at(curves, time + first + 1, hidden=hidden)


class InARow(Astromer):
    """Dates are answered in the order of time."""

    def at(self, curves, time, *, hidden=None):
        return super().at(curves, time.sort(1).values, hidden=hidden)


class SeesWhatIsAsked(Astromer):
    """Dates that are asked for shift each other's answers."""

    def at(self, curves, time, *, hidden=None):
        said = super().at(curves, time, hidden=hidden)
        return said + 0.1 * time.mean(1, keepdim=True)


class FromTheFirstSeen(Astromer):
    """Dates count from the first visible night, so that no hidden one is of account."""

    def _inputs(self, curves, visible):
        since, value, mean = super()._inputs(curves, visible)
        return self._later(since, curves, visible), value, mean

    def belief_at(self, curves, time, *, hidden=None):
        first = self._later(torch.zeros_like(time), curves, ~hidden)
        return super().belief_at(curves, time + first, hidden=hidden)

    def _later(self, since, curves, visible):
        seen = curves.time.masked_fill(~visible, math.inf).amin(1, keepdim=True)
        return since - (seen - curves.time[:, :1])


class SeesHiddenDates(Astromer):
    """Where other hidden nights are shifts what is said, by whomever it is asked."""

    def forward(self, curves, *, hidden=None):
        return super().forward(curves, hidden=hidden) + self._shift(curves, hidden)

    def at(self, curves, time, *, hidden=None):
        return super().at(curves, time, hidden=hidden) + self._shift(curves, hidden)

    def _shift(self, curves, hidden):
        return 0.1 * (curves.time * hidden).mean(1, keepdim=True)


class SeesTheDate(Astromer):
    """A token has the date itself besides its sinusoids."""

    def _tokens(self, since, value, visible):
        tokens = super()._tokens(since, value, visible)
        return torch.cat([tokens[..., :-1], tokens[..., -1:] + since[..., None]], -1)


class LooksAtPadding(Astromer):
    """Padding is looked at like any other night."""

    def _encoded(self, since, value, visible):
        return self.encoder(self._tokens(since, value, visible))


class WithoutExponential(Astromer):
    """The second readout is linear: what it says may be below 0."""

    def spread_of(self, tokens):
        return BRIGHTNESS * self.doubt(tokens)[..., 0]


class AsFarAsItIs(Astromer):
    """A deviation of hidden nights is how far off the guess is."""

    def spread(self, curves, *, hidden=None):
        off = (self(curves, hidden=hidden) - curves.magnitude).abs()
        return torch.where(hidden, off, super().spread(curves, hidden=hidden))


class OfWhoLooks(Astromer):
    """The error of a night is part of its deviation, hidden or not."""

    def spread(self, curves, *, hidden=None):
        return torch.hypot(super().spread(curves, hidden=hidden), curves.error)


class OneForAll(Astromer):
    """A deviation that no night moves."""

    def spread_of(self, tokens):
        return torch.full_like(tokens[..., 0], BRIGHTNESS) + 0 * tokens[..., 0]


LEAKS = {
    "magnitudes left in tokens": LeftInTheToken,
    "magnitudes left in queries": WithoutResidual,
    "the mean of all nights": CentredByAll,
    "errors left in tokens": WithItsError,
    "hidden magnitudes repeated": TrueAtHidden,
}
DOUBTS = {
    "magnitudes left in tokens": LeftInTheToken,
    "magnitudes left in queries": WithoutResidual,
    "errors left in tokens": WithItsError,
    "a linear deviation": WithoutExponential,
    "the error itself": AsFarAsItIs,
    "the error of who looks": OfWhoLooks,
    "one deviation for all": OneForAll,
}
ANSWERS = {
    "dates from nought": FromNought,
    "dates in a row": InARow,
    "dates that see each other": SeesWhatIsAsked,
    "dates from the first that was seen": FromTheFirstSeen,
    "hidden dates that are seen": SeesHiddenDates,
    "hidden magnitudes repeated": TrueAtHidden,
}
PADDED = {"a mean over padding": MeanOfAllTokens, "padding looked at": LooksAtPadding}


class CountsNights(StarClassifier):
    """The logits know how long the row is."""

    def forward(self, curves: LightCurves, extra: Tensor | None = None) -> Tensor:
        return super().forward(curves, extra) * curves.time.shape[1]


# The loss ---------------------------------------------------------------------------------------


def of_each_star(predicted, magnitude, hidden):
    square = (predicted - magnitude).square() * hidden
    return (square.sum(1) / hidden.sum(1).clamp(min=1)).mean().sqrt()


LOSSES = {
    "a loss of all nights": lambda p, m, _: (p - m).square().mean().sqrt(),
    "a loss divided by all nights": lambda p, m, h: ((p - m) * h).square().mean().sqrt(),
    "a loss without its root": lambda p, m, h: (p - m)[h].square().mean(),
    "a loss of visible nights": lambda p, m, h: (p - m)[~h].square().mean().sqrt(),
    "a loss star for star": of_each_star,
}

HALF_LOG = math.log(2 * math.pi) / 2


def likelihood(predicted, deviation, magnitude, hidden, *, of=1.0, weigh=0.5, log=1.0):
    off = ((magnitude - predicted) / deviation**of)[hidden]
    return (log * deviation[hidden].log() + weigh * off.square()).mean() + HALF_LOG


LIKELIHOODS = {
    "a likelihood without its logarithm": partial(likelihood, log=0.0),
    "a likelihood of the variance's logarithm": partial(likelihood, log=2.0),
    "a likelihood without its half": partial(likelihood, weigh=1.0),
    "a variance for a deviation": partial(likelihood, of=2.0),
    "a likelihood of all nights": lambda p, d, m, h: likelihood(p, d, m, torch.ones_like(h)),
    "a likelihood of visible nights": lambda p, d, m, h: likelihood(p, d, m, ~h),
    "a likelihood without its constant": lambda *given: likelihood(*given) - HALF_LOG,
}

TABLES = {
    "prop-fold": ("phase", PHASES),
    "prop-power": ("lomb_scargle", POWERS),
    "prop-dates": ("time_sinusoids", SINUSOIDS),
    "prop-dates ": ("frequency_ladder", LADDERS),
    "prop-hidden": ("Astromer", LEAKS),
    "prop-anytime": ("Astromer", ANSWERS),
    "prop-loss": ("reconstruction_error", LOSSES),
    "prop-doubt": ("Astromer", DOUBTS),
    "prop-doubt ": ("negative_log_likelihood", LIKELIHOODS),
    "prop-padded-nights": ("Astromer", PADDED),
    "prop-padded-nights ": ("StarClassifier", {"a classifier that counts nights": CountsNights}),
    "prop-turns": ("Astromer", {"the date itself": SeesTheDate}),
}
WRONG = {
    f"{label.strip()}: {case}": (label.strip(), {name: implementation})
    for label, (name, cases) in TABLES.items()
    for case, implementation in cases.items()
}


@pytest.mark.parametrize("label", claims(LECTURE))
def test_a_claim_holds_for_the_library(label: str) -> None:
    check(LECTURE, label, {})


@pytest.mark.parametrize("case", WRONG)
def test_a_claim_falls_to_a_wrong_implementation(case: str) -> None:
    label, wrong = WRONG[case]
    with pytest.raises(AssertionError):
        check(LECTURE, label, wrong)


def test_every_claim_falls_to_something() -> None:
    assert {label for label, _ in WRONG.values()} == set(claims(LECTURE))
