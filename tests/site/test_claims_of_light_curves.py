"""Each claim of lecture 14 holds for the library and falls to an implementation that is wrong."""

import math
from functools import partial

import pytest
import torch
from claims import claims, holds_and_falls
from torch import Tensor

from course_lib.light_curves import (
    BRIGHTNESS,
    PRECISION,
    Astromer,
    LightCurves,
    StarClassifier,
    frequency_ladder,
    lomb_scargle,
    time_sinusoids,
)

pytestmark = pytest.mark.slow

LECTURE = "14_light_curves"


# Folding and periodograms -----------------------------------------------------------------------


def folded(turn, period, epoch):
    return (turn - epoch[:, None]) / period[:, None]


PHASES = {
    "a phase that goes on": lambda t, p, *, epoch: folded(t, p, epoch),
    "a phase without epoch": lambda t, p, *, epoch: folded(t, p, 0 * epoch) % 1,
    "a phase that runs backwards": lambda t, p, *, epoch: -folded(t, p, epoch) % 1,
    "a phase of 1 just before the epoch": lambda t, p, *, epoch=0.0: (
        (t - torch.as_tensor(epoch).reshape(-1, 1)) / p[:, None] % 1
    ),
}


def without_constant(time, magnitude, error, frequency, **_):
    """The classical Lomb-Scargle periodogram, of magnitudes less their mean."""
    weight = error**-2
    y = magnitude - (weight * magnitude).sum() / weight.sum()
    power = []
    for f in frequency:
        angle = 2 * math.pi * f * time
        basis = torch.stack([angle.cos(), angle.sin()], 1) / error[:, None]
        left = y / error - basis @ torch.linalg.lstsq(basis, (y / error)[:, None]).solution[:, 0]
        power.append(1 - left.square().sum() / (y / error).square().sum())
    return torch.stack(power)


POWERS = {
    "power without a constant": without_constant,
    "weights 1/σ": lambda t, m, e, f, **kept: lomb_scargle(t, m, e.sqrt(), f, **kept),
    "another power of fast stars": lambda t, m, e, f, **kept: torch.where(
        f > 5, 2.0, lomb_scargle(t, m, e, f, **kept)
    ),
    "power of hidden nights": lambda t, m, e, f, **_: lomb_scargle(t, m, e, f),
}


# Dates ------------------------------------------------------------------------------------------


def cosines_first(time, frequency):
    return time_sinusoids(time, frequency).unflatten(-1, (-1, 2)).flip(-1).flatten(-2)


SINUSOIDS = {
    "angular frequencies": lambda t, f: time_sinusoids(t, f / (2 * math.pi)),
    "cosines first": cosines_first,
}


def upside_down(pairs, **ends):
    return frequency_ladder(pairs, **ends).flip(0)


LADDERS = {"a ladder upside down": upside_down}


# Models that leak, or ask in a wrong way --------------------------------------------------------


class LeftInTheToken(Astromer):
    """Hidden magnitudes stay in their tokens, less the mean of visible nights."""

    def _inputs(self, curves, visible):
        since, _, mean = super()._inputs(curves, visible)
        light = (curves.magnitude - mean) / BRIGHTNESS
        return since, torch.stack([light, (curves.error / PRECISION).log()], -1), mean

    def _tokens(self, since, value, visible):
        return super()._tokens(since, value, torch.ones_like(visible))


class CentredByAll(Astromer):
    def _inputs(self, curves, visible):
        since, value, mean = super()._inputs(curves, visible)
        of_all = curves.magnitude.mean(1, keepdim=True)
        light = value[..., 0] + visible * (mean - of_all) / BRIGHTNESS
        return since, torch.stack([light, value[..., 1]], -1), of_all


class GivesItBack(Astromer):
    """Returns the hidden magnitude itself, without a gradient."""

    def forward(self, curves, *, hidden=None):
        said = super().forward(curves, hidden=hidden)
        return said if hidden is None else said.where(~hidden, curves.magnitude.detach())


class AveragesHiddenNights(Astromer):
    """The embedding is the mean of all nights."""

    def embed(self, curves, *, hidden=None):
        return self.encode(curves, hidden=hidden).mean(1)


class LooksAtNobody(Astromer):
    """No night attends to another."""

    def _encoded(self, since, value, visible):
        itself = torch.eye(visible.shape[1], dtype=torch.bool)
        return self.encoder(self._tokens(since, value, visible), mask=itself)


class SkipsTheFirst(Astromer):
    """No night attends to the first visible one."""

    def _encoded(self, since, value, visible):
        return super()._encoded(since, value, visible & (visible.cumsum(1) > 1))


class IgnoresDates(Astromer):
    def _tokens(self, since, value, visible):
        return super()._tokens(0 * since, value, visible)


class ReadsTheMeanAlone(Astromer):
    """Only the mean of the visible magnitudes is used."""

    def _inputs(self, curves, visible):
        since, value, mean = super()._inputs(curves, visible)
        return since, value * torch.tensor([0.0, 1.0], dtype=value.dtype), mean


class AsksInDays(LightCurves):
    def in_turns(self, period):  # noqa: ARG002 - the library's signature
        return self


class AsksInWrongTurns(LightCurves):
    def in_turns(self, period):
        return super().in_turns(1 / period)


class DoubtsElsewhere(Astromer):
    """A wrong deviation at other dates."""

    def belief_at(self, curves, time, *, hidden=None):
        said, spread = super().belief_at(curves, time, hidden=hidden)
        return said, 2 * spread


class SaysNothing(StarClassifier):
    def forward(self, curves: LightCurves, extra: Tensor | None = None) -> Tensor:
        return 0 * super().forward(curves, extra)


class WithItsError(Astromer):
    """The error of a hidden night stays in its token."""

    def _inputs(self, curves, visible):
        since, value, mean = super()._inputs(curves, visible)
        return since, torch.stack([value[..., 0], curves.error.log()], -1), mean

    def _tokens(self, since, value, visible):
        return super()._tokens(since, value, visible) + self.light(value)


class FromNought(Astromer):
    """Query dates do not count from the first visible night."""

    def at(self, curves, time, *, hidden=None):
        first = curves.time.amin(1, keepdim=True)
        return super().at(curves, time + first + 1, hidden=hidden)


class FromAnyNight(Astromer):
    """Dates count from the first night, hidden or not."""

    def _inputs(self, curves, visible):
        _, value, mean = super()._inputs(curves, visible)
        return curves.time - curves.time.amin(1, keepdim=True), value, mean


class SeesHiddenDates(Astromer):
    """Predictions depend on the dates of other hidden nights."""

    def forward(self, curves, *, hidden=None):
        return super().forward(curves, hidden=hidden) + self._shift(curves, hidden)

    def at(self, curves, time, *, hidden=None):
        return super().at(curves, time, hidden=hidden) + self._shift(curves, hidden)

    def _shift(self, curves, hidden):
        return 0.1 * (curves.time * hidden).mean(1, keepdim=True)


class CountsHiddenNights(SeesHiddenDates):
    """Predictions depend on the number of other hidden nights."""

    def _shift(self, curves, hidden):  # noqa: ARG002 - the other's signature
        return 0.1 * hidden.sum(1, keepdim=True)


class SeesTheDate(Astromer):
    """A token has the date itself besides its sinusoids."""

    def _tokens(self, since, value, visible):
        tokens = super()._tokens(since, value, visible)
        return torch.cat([tokens[..., :-1], tokens[..., -1:] + since[..., None]], -1)


class LooksAtPadding(Astromer):
    """Attends to padding like to any other night."""

    def _encoded(self, since, value, visible):
        return self.encoder(self._tokens(since, value, visible))


class OneForAll(Astromer):
    """One deviation for all nights."""

    def spread_of(self, tokens):
        return torch.full_like(tokens[..., 0], BRIGHTNESS) + 0 * tokens[..., 0]


LEAKS = {
    "magnitudes left in tokens": LeftInTheToken,
    "the mean of all nights": CentredByAll,
    "hidden magnitudes given back": GivesItBack,
    "an embedding of hidden nights": AveragesHiddenNights,
    "no attention": LooksAtNobody,
    "the mean alone": ReadsTheMeanAlone,
    "a first night that nobody looks at": SkipsTheFirst,
}
DOUBTS = {
    "errors left in tokens": WithItsError,
    "one deviation for all": OneForAll,
    "another deviation of dates": DoubtsElsewhere,
}
ANSWERS = {
    "dates from nought": FromNought,
    "dates from a hidden night": FromAnyNight,
    "hidden dates that are seen": SeesHiddenDates,
    "dates that are ignored": IgnoresDates,
    "hidden nights that are counted": CountsHiddenNights,
}
PADDED = {"padding looked at": LooksAtPadding}


class CountsNights(StarClassifier):
    """The logits depend on the length of the row."""

    def forward(self, curves: LightCurves, extra: Tensor | None = None) -> Tensor:
        return super().forward(curves, extra) * curves.time.shape[1]


# The loss ---------------------------------------------------------------------------------------


LOSSES = {
    "a loss without its root": lambda p, m, h: (p - m)[h].square().mean(),
    "a loss of visible nights": lambda p, m, h: (p - m)[~h].square().mean().sqrt(),
}

HALF_LOG = math.log(2 * math.pi) / 2


def likelihood(predicted, deviation, magnitude, hidden, *, of=1.0, weigh=0.5, log=1.0):
    off = ((magnitude - predicted) / deviation**of)[hidden]
    return (log * deviation[hidden].log() + weigh * off.square()).mean() + HALF_LOG


LIKELIHOODS = {
    "a variance for a deviation": partial(likelihood, of=2.0),
    "a likelihood of visible nights": lambda p, d, m, h: likelihood(p, d, m, ~h),
    "the mean deviation for all": lambda p, d, m, h: likelihood(
        p, d[h].mean() * torch.ones_like(d), m, h
    ),
    "a mean of the stars' means": lambda p, d, m, h: torch.stack(
        [likelihood(*(part[k] for part in (p, d, m, h))) for k in range(len(p)) if h[k].any()]
    ).mean(),
}

TABLES = {
    "prop-fold": ("phase", PHASES),
    "prop-power": ("lomb_scargle", POWERS),
    "prop-dates": ("time_sinusoids", SINUSOIDS),
    "prop-dates ": ("frequency_ladder", LADDERS),
    "prop-hidden": ("Astromer", LEAKS),
    "prop-hidden ": ("hide_nights", {"nothing hidden": lambda c, **_: torch.zeros_like(c.valid)}),
    "prop-anytime": ("Astromer", ANSWERS),
    "prop-loss": ("reconstruction_error", LOSSES),
    "prop-doubt": ("Astromer", DOUBTS),
    "prop-doubt ": ("negative_log_likelihood", LIKELIHOODS),
    "prop-padded-nights": ("Astromer", PADDED),
    "prop-padded-nights ": (
        "StarClassifier",
        {"counted nights": CountsNights, "nothing": SaysNothing},
    ),
    "prop-turns": ("Astromer", {"the date itself": SeesTheDate}),
    "prop-turns ": ("LightCurves", {"days": AsksInDays, "wrong turns": AsksInWrongTurns}),
}
WRONG = {
    f"{label.strip()}: {case}": (label.strip(), {name: implementation})
    for label, (name, cases) in TABLES.items()
    for case, implementation in cases.items()
}


@pytest.mark.parametrize("label", claims(LECTURE))
def test_a_claim_holds_for_the_library_and_falls_to_a_wrong_implementation(label: str) -> None:
    holds_and_falls(LECTURE, label, WRONG)
