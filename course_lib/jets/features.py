r"""Jets: sprays of particles that one quark, gluon or heavy particle left behind.

A :class:`Jets` is a batch of them, each with the same number of places, of which some are empty.
:func:`particle_features` are the measured properties of every particle, and
:func:`pairwise_features` the distance and common mass of every two, which Particle Transformer
adds to its scores. :class:`course_lib.jets.JetStream` reads 100 million
more.

Bad input raises ``TypeError`` or ``ValueError`` with what was given, what was expected and what to
do. Source: Qu, Li and Qian (2022), arXiv 2202.03772.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cached_property

import torch
from jaxtyping import Bool, Float, Integer
from torch import Tensor
from torch.nn.functional import one_hot

from course_lib.jets.kinematics import (
    check_not_negative,
    delta_phi,
    delta_r,
    four_momenta,
    mass_squared,
    measured,
    transverse_momentum,
)
from course_lib.support.checks import check_choice, check_finite
from course_lib.support.contracts import Size, checked

CLASSES = ("quark", "gluon", "W", "top", "H to bb")
"""The origin of a jet: a light quark, a gluon, or a W, top quark or Higgs boson that decayed."""

PARTICLES = ("charged hadron", "neutral hadron", "photon", "electron", "muon")
MASSES = (0.13957, 0.49761, 0.0, 0.000511, 0.10566)
"""In GeV, of each of :data:`PARTICLES`. A detector cannot tell hadrons apart: all charged ones
count as pions, all neutral ones as kaons. Source: Particle Data Group (2024)."""

EMPTY = -1
"""The ``kind`` of an empty place."""

FEATURES = (
    *("ln pT", "ln E", "ln pT/pT(jet)", "ln E/E(jet)", "Δη", "Δφ", "ΔR", "charge"),
    *PARTICLES,
    *("tanh d0", "tanh dz"),
)
"""The columns of :func:`particle_features`."""

PAIR_FEATURES = ("ln Δ", "ln kT", "ln z", "ln m²")
"""The columns of :func:`pairwise_features`."""

SMALLEST = 1e-8  # as in the authors' code, so that the logarithm of 0 is finite
IMPACT = 0.2  # mm: about how far tracks of a B hadron miss the beam


@checked
@dataclass(frozen=True, eq=False)
class Jets:
    r"""Jets and their particles; an empty place has ``kind`` -1 and zeros elsewhere.

    ``pt`` is in GeV; ``eta`` and ``phi`` are the direction, ``d0`` and ``dz`` how far
    its track misses the beam's centre, across the beam and along it, in mm (0 without a charge).
    ``kind`` holds places in :data:`PARTICLES`, ``label`` places in :data:`CLASSES`, ``size`` how
    many particles the jet had before all but the hardest were left out. Other data than ours may
    have other ``classes``. Raises ``ValueError`` for negative or infinite numbers, an unknown kind
    or label, and a jet without particles.
    """

    pt: Float[Tensor, "jets particles"]
    eta: Float[Tensor, "jets particles"]
    phi: Float[Tensor, "jets particles"]
    kind: Integer[Tensor, "jets particles"]
    charge: Integer[Tensor, "jets particles"]
    d0: Float[Tensor, "jets particles"]
    dz: Float[Tensor, "jets particles"]
    label: Integer[Tensor, "jets"]
    size: Integer[Tensor, "jets"]
    classes: tuple[str, ...] = CLASSES

    def __post_init__(self) -> None:
        check_finite(pt=self.pt, eta=self.eta, phi=self.phi, d0=self.d0, dz=self.dz)
        check_not_negative("pt", self.pt)
        _check_places("kind", self.kind, PARTICLES, minimum=EMPTY)
        _check_places("label", self.label, self.classes, minimum=0)
        check_valid(self.valid)
        if not torch.equal(self.pt > 0, self.valid):
            raise ValueError(
                "pt is 0 at a particle, or not 0 at an empty place; expected it above 0 exactly "
                f"where kind is not {EMPTY}; change one of them"
            )

    def __len__(self) -> int:
        return len(self.label)

    def __getitem__(self, which: slice | Tensor) -> "Jets":
        """Some of the jets."""
        return self._each(lambda values: values[which])

    @property
    def valid(self) -> Bool[Tensor, "jets particles"]:
        """True where a particle is."""
        return self.kind != EMPTY

    @cached_property
    def momenta(self) -> Float[Tensor, "jets particles 4"]:
        """The four-momenta, 0 where no particle is, in float64, since masses are small."""
        mass = torch.tensor([*MASSES, 0.0], dtype=torch.float64, device=self.pt.device)
        mass = mass[self.kind.long()]
        return four_momenta(self.pt.double(), self.eta.double(), self.phi.double(), mass)

    @cached_property
    def total(self) -> Float[Tensor, "jets 4"]:
        """The four-momentum of each jet, the sum over its particles."""
        return self.momenta.sum(dim=-2)

    @checked
    def hardest(self, particles: Size) -> "Jets":
        """The same jets with the first ``particles`` places, which hold those of largest pT."""
        return self._each(lambda values: values[:, :particles] if values.dim() > 1 else values)

    def _each(self, change: Callable[[Tensor], Tensor]) -> "Jets":
        names = [field.name for field in fields(self) if field.name != "classes"]
        return replace(self, **{name: change(getattr(self, name)) for name in names})


def class_number(name: str, classes: tuple[str, ...] = CLASSES) -> int:
    """The place of a class among ``classes``. Raises ``ValueError`` for an unknown one."""
    check_choice("class", name, classes)
    return classes.index(name)


# The inputs of the network ----------------------------------------------------------------------


@checked
def particle_features(jets: Jets) -> Float[Tensor, "jets particles features"]:
    r"""The features of each particle, the columns :data:`FEATURES`; 0 at empty places.

    Logarithms of $p_T$ and $E$ in GeV, and of their shares in the jet's; the direction
    relative to the jet's axis; the charge; 1 in the column of its kind; and $\tanh$ of $d_0$ and
    $d_z$ in units of 0.2 mm. Source: the particle features of Qu, Li and Qian (2022), who
    take $d_0$ and $d_z$ in mm, add their errors, which are the same for all tracks here, and turn
    the sign of $\Delta\eta$ where the jet flies backwards.
    """
    _, eta, phi, _ = measured(jets.total)
    momenta, valid = jets.momenta, jets.valid
    energy, pt = momenta[..., 0], jets.pt.double()
    jet_energy, jet_pt = jets.total[:, :1], transverse_momentum(jets.total)[:, None]
    from_axis = (jets.eta.double() - eta[:, None], delta_phi(jets.phi.double(), phi[:, None]))
    columns = (
        pt.log(),
        energy.log(),
        (pt / jet_pt).log(),
        (energy / jet_energy).log(),
        *from_axis,
        torch.hypot(*from_axis),
        jets.charge,
    )
    tracks = torch.stack([jets.d0, jets.dz], dim=-1) / IMPACT
    kinds = one_hot(jets.kind.long().clamp(min=0), len(PARTICLES))
    known = torch.cat([torch.stack(columns, dim=-1), kinds, tracks.tanh()], dim=-1)
    return torch.where(valid[..., None], known, 0).float()


@checked
def pairwise_features(
    momenta: Float[Tensor, "*batch particles 4"],
) -> Float[Tensor, "*batch particles particles 4"]:
    r"""The features of each two particles, the columns :data:`PAIR_FEATURES`.

    The logarithms of the distance $\Delta = \sqrt{(y_a - y_b)^2 + (\varphi_a - \varphi_b)^2}$; of
    the momentum of one across the other, $k_T = \min(p_{T,a}, p_{T,b})\,\Delta$; of the share of
    the softer one, $z = \min(p_{T,a}, p_{T,b}) / (p_{T,a} + p_{T,b})$; and of the squared mass of
    the two together, $m^2 = (E_a + E_b)^2 - |\vec p_a + \vec p_b|^2$.

    Rotations about the beam and boosts along it change none of them, and no boost changes $m^2$.
    What is below 1e-8 counts as 1e-8, so that a particle and itself, or an empty place, have finite
    logarithms. Equal to ``pairwise_lv_fts_pp`` of ``weaver-core``, whose columns stand in the order
    ln kT, ln z, ln Δ, ln m² and whose momenta end with $E$.
    Source: Qu, Li and Qian (2022), "interaction features".
    """
    check_finite(momenta=momenta)
    check_not_negative("momenta[..., 0]", momenta[..., 0])
    first, second = momenta[..., :, None, :], momenta[..., None, :, :]
    pt = transverse_momentum(momenta)
    softer = torch.minimum(pt[..., :, None], pt[..., None, :])
    both = pt[..., :, None] + pt[..., None, :]
    distance = delta_r(first, second)
    columns = (
        distance,
        softer * distance,
        softer / both.clamp(min=SMALLEST),
        mass_squared(first + second),
    )
    return torch.stack(columns, dim=-1).clamp(min=SMALLEST).log()


# What the functions above share -----------------------------------------------------------------


def check_valid(valid: Bool[Tensor, "*batch particles"]) -> None:
    """Raise ``ValueError`` for a jet without particles."""
    if not (some := valid.any(dim=-1)).all():
        which = tuple((~some).nonzero()[0].tolist())
        raise ValueError(f"jet {which} has no particles; expected one at least; leave it out")


def _check_places(name: str, values: Tensor, among: tuple[str, ...], *, minimum: int) -> None:
    outside = values[(values < minimum) | (values >= len(among))]
    if outside.numel():
        raise ValueError(
            f"{name} holds {int(outside[0])}; expected {minimum} to {len(among) - 1}, places in "
            f"{among}; choose one of these"
        )
