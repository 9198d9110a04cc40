"""StarExplorer: fold a star's nights at a period, hide some, and see who fills them in."""

from __future__ import annotations

import json
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from course_lib.light_curves import (
    BRIGHTNESS,
    CLOCKS,
    OVERSAMPLING,
    PRECISION,
    Astromer,
    LightCurves,
)
from course_lib.light_curves.sampling import check_dates
from course_lib.models.stars import FASTEST
from course_lib.widgets.kit.packed_weights import WeightsWidget, pack, with_weights
from course_lib.widgets.kit.traits import (
    Array,
    Choice,
    Data,
    Index,
    Number,
    Several,
    Text,
)
from course_lib.widgets.star_explorer.watched_stars import WatchedStars

MOST_STARS = 16
FEWEST_NIGHTS, MOST_NIGHTS = 8, 120
FEWEST_DAYS, MOST_DAYS = 1, 400  # a grid of frequencies that the page computes at once
FEWEST_VISIBLE = 2  # nights: one says nothing of a change
SHORTEST, LONGEST = 1 / FASTEST, 100.0
START = 0.65  # days, the period of no star of the course: a figure begins at a cloud
MOST_BYTES = 250_000
CODE_BYTES = 45_000  # of the page, for the widget's own code and what holds it
FEWEST_BITS, MOST_BITS = 6, 8


def _some_left(widget: StarExplorer, hidden: list[int]) -> list[int]:
    nights = widget.nights[widget.star]
    if (left := nights - len(set(hidden))) < FEWEST_VISIBLE:
        raise ValueError(
            f"hidden leaves {left} of {nights} nights; expected {FEWEST_VISIBLE} at least, since "
            "one says nothing of a change; hide fewer"
        )
    return sorted(set(hidden))


class StarExplorer(WeightsWidget):
    r"""A star night for night, folded at a period in the reader's hand, with nights to hide.

    ``stars`` are up to 16 of :class:`~course_lib.widgets.star_explorer.watched_stars.WatchedStars`,
    of 8 to 120 nights each within 400 days. The page shows a curve in time and folded at
    ``period``, and the :func:`course_lib.light_curves.lomb_scargle` of its visible nights; once the
    period is found, its highest peak and the frequencies that nights whole days apart do not tell
    from it are marked. It says what share of the scatter the series of the period in hand explains,
    and whether that is the star's own period or an alias of it. Hidden nights are filled in by the
    straight line between neighbours, by :func:`course_lib.light_curves.fit_harmonics` at the period
    in hand and, if it is given, by ``astromer``, a trained
    :class:`course_lib.light_curves.Astromer`; ``clock`` says whether its time runs in "days" or in
    "turns" of the period in hand. If ``stars.prior`` is known, a band shows what
    :func:`course_lib.models.stars.posterior_at_period` believes at that period, 1.96 standard
    deviations to each side, within which a normal variable lies in 95 % of cases, and how many
    hidden nights it holds. Another is that of ``astromer``, as wide in deviations, of its
    :meth:`~course_lib.light_curves.Astromer.belief_at`. A disc, as large at all times, shines as
    bright as the fit says; what does not pulsate is a point. Below runs what the fit says between
    the nights.

    Weights travel rounded, as :func:`~course_lib.widgets.kit.packed_weights.pack` says: of 8 bits,
    or as many as fit into 250 kB with all else, ``widget.bits``. ``widget.astromer`` is the model
    with just these weights. Dates, counted from a star's first night, magnitudes and errors travel
    in float32: ``widget.curve()``.

    Traits, synced both ways: ``star``, ``period`` in days, ``night`` (the one that is pointed at;
    -1 for none) and ``hidden`` (places of nights, which count from 0). At first sight the season is
    folded up from its whole length to ``period``, and the star pulsates, unless the reader has
    asked for less motion or you, with ``moving``, for none. A star that the reader chooses begins
    likewise. Every star begins at 0.65 days, so that its own period is left to find. Raises
    ``TypeError`` and ``ValueError`` for what cannot be drawn or computed in the page. Sources: Lomb
    (1976), Scargle (1982), VanderPlas (2018); Donoso-Oliva et al. (2023).
    """

    names = Data()
    nights = Data()
    periods = Data()
    scales = Data()
    pulsates = Data()
    prior = Data()
    time = Data()
    magnitude = Data()
    error = Data()
    within = Data(
        lambda _: {
            "period": [SHORTEST, LONGEST],
            "start": START,
            "highest": FASTEST,
            "oversampling": OVERSAMPLING,
        }
    )
    clock = Choice(*CLOCKS, default="days", read_only=True)
    star = Index(of=lambda self: len(self.names))
    period = Number(SHORTEST, LONGEST, default=START)
    night = Index(of=lambda self: self.nights[self.star], unset=True)
    hidden = Several(Index(of=lambda self: self.nights[self.star]), default=(), rule=_some_left)

    def __init__(
        self, stars: WatchedStars, *, astromer: Astromer | None = None, **given: Any
    ) -> None:
        curves = _checked(stars).curves
        called = Text(shortest=1, called="stars.name")
        self.set_trait("names", [called.validate(self, name) for name in stars.name])
        self.set_trait("nights", curves.valid.sum(dim=1).tolist())
        self.set_trait("periods", stars.period.tolist())
        self.set_trait("scales", list(stars.scale))
        self.set_trait("pulsates", list(stars.pulsates))
        self.set_trait("prior", list(stars.prior) or None)
        for name in ("time", "magnitude", "error"):
            values = getattr(_since(curves), name).where(curves.valid, 0.0)
            self.set_trait(name, Array._encode(values.float().numpy(), None))
        self.set_trait("facts", None if astromer is None else _facts_of(astromer))
        left = MOST_BYTES - CODE_BYTES - 16 * curves.time.numel() - len(json.dumps(self.facts))
        bits = {"fewest_bits": FEWEST_BITS, "most_bits": MOST_BITS}
        self.set_trait("weights", astromer and pack(astromer, most_bytes=left, **bits))
        super().__init__(**given)

    @property
    def astromer(self) -> Astromer | None:
        """The model with the weights that travel, in float32, which holds them exactly."""
        return None if self.facts is None else astromer_of(self.facts, self.weights)

    def curve(self) -> LightCurves:
        """The star that is shown, as the page has it, in float64."""
        nights = self.nights[self.star]
        columns = (
            torch.from_numpy(Array._decode(values, None))[self.star : self.star + 1, :nights]
            for values in (self.time, self.magnitude, self.error)
        )
        valid = torch.ones(1, nights, dtype=torch.bool)
        return LightCurves(*(column.double() for column in columns), valid)

    def describe(self) -> str:
        """Which star is shown, how often it was seen, and at what period it is folded."""
        model = (
            ""
            if self.facts is None
            else (" A trained ASTROMER fills in what is hidden, and says how far off it may be.")
        )
        return (
            f"Star explorer: {self.names[self.star]}, seen {self.nights[self.star]} times, folded "
            f"at a period of {self.period:.6g} days. {len(self.hidden)} nights are hidden.{model}"
        )


def astromer_of(facts: dict[str, Any], packed: dict[str, Any]) -> Astromer:
    """The model, in float32 and in evaluation mode, whose weights travel as ``packed``."""
    frequency = torch.tensor(facts["frequency"], dtype=torch.float64)
    sizes = {name: facts[name] for name in ("d_model", "heads", "layers", "d_hidden")}
    return with_weights(lambda: Astromer(frequency, **sizes), packed)


def believed(
    model: Astromer, curve: LightCurves, time: Float[Tensor, "stars queries"], **asked: Any
) -> tuple[Float[Tensor, "stars queries"], Float[Tensor, "stars queries"]]:
    """What the page computes: ``model.belief_at`` in float64, with the frequencies that travel."""
    with torch.no_grad():
        return model.double().belief_at(curve, time, **asked)


def _facts_of(model: object) -> dict[str, Any]:
    """All that has to be known of a model besides its weights."""
    if not isinstance(model, Astromer):
        raise TypeError(
            f"astromer is a {type(model).__name__}; expected a course_lib.light_curves.Astromer; "
            "take that of load_astromer(clock)"
        )
    block = model.encoder.blocks[0]
    return {
        "frequency": model.frequency.tolist(),
        "d_model": model.date.out_features,
        "heads": block.attention.heads,
        "layers": len(model.encoder.blocks),
        "d_hidden": block.mlp.expand.out_features,
        "brightness": BRIGHTNESS,
        "precision": PRECISION,
    }


def _since(curves: LightCurves) -> LightCurves:
    """The same curves with dates from their first night, which float32 can hold."""
    check_dates(curves.time.where(curves.valid, 0.0), torch.tensor(FASTEST))
    time = (curves.time - curves.time[:, :1]).where(curves.valid, 0.0)
    return LightCurves(time, curves.magnitude, curves.error, curves.valid)


def _checked(stars: object) -> WatchedStars:
    if not isinstance(stars, WatchedStars):
        raise TypeError(
            f"stars is a {type(stars).__name__}; expected WatchedStars; take stars_to_watch()"
        )
    curves = stars.curves
    if not 1 <= len(curves) <= MOST_STARS:
        raise ValueError(
            f"stars has {len(curves)} entries; expected 1 to {MOST_STARS}, among which a reader "
            "can choose; show fewer"
        )
    if len(set(stars.name)) < len(stars.name):
        twice = next(name for name in stars.name if stars.name.count(name) > 1)
        raise ValueError(f"stars has {twice!r} twice; give each once")
    if (curves.valid[:, :-1] < curves.valid[:, 1:]).any():
        raise ValueError("stars has padding between nights; expected it behind them; move it there")
    nights = curves.valid.sum(dim=1)
    if not (nights.min() >= FEWEST_NIGHTS and nights.max() <= MOST_NIGHTS):
        raise ValueError(
            f"stars has {nights.min().item()} to {nights.max().item()} nights a star; expected "
            f"{FEWEST_NIGHTS} to {MOST_NIGHTS}, which can be told apart; give a season of each"
        )
    days = (curves.time - curves.time[:, :1]).where(curves.valid, 0.0).amax(dim=1)
    if not (days.min() >= FEWEST_DAYS and days.max() <= MOST_DAYS):
        raise ValueError(
            f"stars has seasons of {days.min():.6g} to {days.max():.6g} days; expected "
            f"{FEWEST_DAYS} to {MOST_DAYS}, for which the page can compute a periodogram; give a "
            "season of each"
        )
    return stars
