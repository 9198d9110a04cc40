"""Stars to watch in a figure: what was seen of each, and the period that it has.

:func:`stars_to_watch` gives those of the course: a star of each class of the OGLE-III catalogue,
watched for a season of real nights, and the periodic objects among the curves of MACHO.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from course_lib.light_curves import LightCurves, fit_harmonics, frequency_grid
from course_lib.models.stars import (
    CLASSES,
    DAYS,
    LARGEST_ERROR,
    Stars,
    harmonic_variance,
    load_macho,
    load_stars,
    observe,
    seasons,
)
from course_lib.support.checks import check_floating, check_shapes

SEED = 14
ROUGH = {"1.3568.288.B": 0.5556, "1.3444.614.B": 0.937, "1.4652.1527.B": 0.4973}
"""MACHO's periodic objects: of these alone, of those with a season of nights, one series explains
more than half of what changed in seven years. Days, rounded; :func:`sharpened` gives the rest."""
ECLIPSING = ("1.3568.288.B", "1.3444.614.B")
"""Those whose curve is level but for dips: binaries, of which one star passes before the other. If
an orbit has two dips alike it takes twice the period that is given. The third is an RR Lyrae star.
"""
WIDTH = 1 / DAYS  # cycles a day, about as wide as the peak of a season
FEW = 200  # trial frequencies at a time: each is fitted to all nights of seven years


@dataclass(frozen=True, eq=False)
class WatchedStars:
    """Stars to choose from: what each is called, what was seen of it, and its period in days.

    A period of 0 says that nobody knows it. ``scale`` says on what scale the magnitudes of each
    star are: "magnitude" unless told otherwise. ``pulsates`` is False for what changes for another
    reason, as binaries do that eclipse each other. ``prior`` holds the
    :func:`course_lib.models.stars.harmonic_variance` of such stars, if it is known.
    """

    name: tuple[str, ...]
    curves: LightCurves
    period: Float[Tensor, "stars"]
    scale: tuple[str, ...] = ()
    pulsates: tuple[bool, ...] = ()
    prior: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        for called, usual in (("scale", "magnitude"), ("pulsates", True)):
            if not getattr(self, called):
                object.__setattr__(self, called, (usual,) * len(self.name))
        check_floating(period=self.period)
        check_shapes(period=(self.period, "stars"), time=(self.curves.time, "stars nights"))
        for called, values in (
            ("name", self.name),
            ("scale", self.scale),
            ("pulsates", self.pulsates),
        ):
            if len(values) != len(self.curves):
                raise ValueError(
                    f"{called} has {len(values)} entries and curves has {len(self.curves)} stars; "
                    f"expected a {called} for each star"
                )
        if (bad := ~(self.period.isfinite() & (self.period >= 0))).any():
            raise ValueError(
                f"period holds {self.period[bad][0].item()}; expected days, or 0 where nobody "
                "knows them"
            )
        if self.prior and not (len(self.prior) % 2 and min(self.prior) > 0):
            raise ValueError(
                f"prior is {self.prior}; expected a variance above 0 of the mean and two of each "
                "harmonic; take harmonic_variance(stars)"
            )


def stars_to_watch() -> WatchedStars:
    """A star of each class, watched for a season, and the three periodic objects of MACHO.

    Of each class it is the star of the test side whose period is the median of that side; its
    nights, errors and noise are drawn from a seed, as :func:`course_lib.models.stars.observe`
    says; its name goes without the OGLE before it, so that a telephone shows it whole. Of an object
    of MACHO it is the season, in the blue band, of which the series of its period leaves the
    smallest share; its magnitudes are the instrument's own.
    """
    catalogue = load_stars()
    stars = catalogue.where("test")
    rows = torch.stack([_middle(stars, kind) for kind in range(len(CLASSES))])
    chosen = stars[rows]
    macho = load_macho()
    nights = seasons(list(macho.values()))
    made = observe(chosen, nights, generator=torch.Generator().manual_seed(SEED))
    real = {name: sharpened(macho[name], rough) for name, rough in ROUGH.items()}
    best = [clearest(seasons([macho[name]]), period) for name, period in real.items()]
    called = [
        f"{kind}: {name.removeprefix('OGLE-')}"
        for kind, name in zip(CLASSES, chosen.name, strict=True)
    ]
    called += [
        f"{'Eclipsing' if name in ECLIPSING else 'RRab'}: MACHO {name.removesuffix('.B')}"
        for name in real
    ]
    periods = torch.cat([chosen.period[:, 0].double(), torch.tensor(list(real.values()))])
    scales = ("magnitude",) * len(chosen) + ("instrumental magnitude",) * len(real)
    pulsates = (True,) * len(chosen) + tuple(name not in ECLIPSING for name in real)
    prior = tuple(harmonic_variance(catalogue.where("train")).tolist())
    curves = LightCurves.padded([made, *best])
    return WatchedStars(tuple(called), curves, periods, scales, pulsates, prior)


def sharpened(curve: LightCurves, rough: float) -> float:
    """The period near a ``rough`` one whose series of three harmonics leaves the least of a curve.

    Near is within the width of a peak of a season.
    """
    good = (curve.valid & (curve.error <= LARGEST_ERROR))[0]
    time = curve.time[:, good] - curve.time[:, good][:, :1]
    seen = time, curve.magnitude[:, good], curve.error[:, good]
    grid = frequency_grid(float(time[0, -1]), highest=1 / rough + WIDTH)
    near = grid[grid > 1 / rough - WIDTH]
    left = [
        fit_harmonics(*(part.expand(len(few), -1) for part in seen), few).chi_square
        for few in near.split(FEW)
    ]
    return float(1 / near[torch.cat(left).argmin()])


def explained(curves: LightCurves, period: float) -> Float[Tensor, "stars"]:
    """The share of what changes in each curve that a series of three harmonics explains."""
    seen = curves.time.double(), curves.magnitude.double(), curves.error.double()
    frequency = torch.full((len(curves),), 1 / period, dtype=torch.float64)
    left = fit_harmonics(*seen, frequency, seen=curves.valid).chi_square
    weight = curves.error.double().where(curves.valid, torch.inf) ** -2
    mean = (weight * seen[1]).sum(dim=1, keepdim=True) / weight.sum(dim=1, keepdim=True)
    return 1 - left / (weight * (seen[1] - mean).square()).sum(dim=1)


def clearest(curves: LightCurves, period: float) -> LightCurves:
    """The one curve of which the series of a period leaves the smallest share."""
    best = int(explained(curves, period).argmax())
    return curves[best : best + 1]


def _middle(stars: Stars, kind: int) -> Tensor:
    """The place of the star whose period is the median of its class."""
    places = (stars.kind == kind).nonzero()[:, 0]
    return places[stars.period[places, 0].median(dim=0).indices]
