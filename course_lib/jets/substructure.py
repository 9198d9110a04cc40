r"""Further observables of a jet: cores and their masses, displaced tracks, kinds.

:func:`jet_numbers` are the ten of :func:`course_lib.jets.jet_summary` and the columns
:data:`SUBSTRUCTURE` of :func:`jet_substructure`, the strongest rival of a network in lecture 13.
The cores are :func:`subjets`, which the kT algorithm finds.
"""

import itertools
import math

import torch
from einops import reduce
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from course_lib.jets.features import PARTICLES, Jets
from course_lib.jets.kinematics import delta_r, invariant_mass, transverse_momentum
from course_lib.support.contracts import Size, checked

SUMMARY = (
    *("mass", "pT", "particles", "width", "pT dispersion", "hardest share"),
    *("ln e2", "ln D2", "displaced tracks", "lepton share"),
)
"""The columns of :func:`jet_summary`."""

DISPLACED = 0.1  # mm: five times the error of d0
TOGETHER = 500  # jets whose pairs are in memory in float64, 9 MB for each number
POWERS = (0.2, 0.5, 2.0)
MISSES = (0.05, 0.2, 0.5, 1.0, 2.0)  # mm
ALONG = 0.15  # mm: five times the error of dz
FARTHEST = 5  # tracks
HARD = (2.0, 5.0)  # GeV

SUBSTRUCTURE = (
    *("τ1", "τ2", "τ3", "τ2/τ1", "τ3/τ2"),
    *("lightest of 3 pairs", "middle of 3 pairs", "heaviest of 3 pairs"),
    *("lightest of 3 cores", "middle of 3 cores", "heaviest of 3 cores"),
    *("lighter of 2 cores", "heavier of 2 cores", "share of the softer of 2 cores"),
    *(f"{name}, β = {power}" for power in POWERS for name in ("ln e2", "ln D2")),
    *(f"tracks with |d0| > {miss} mm" for miss in MISSES),
    *(f"|d0| of track {n + 1}" for n in range(FARTHEST)),
    *("share of displaced tracks", f"tracks with |dz| > {ALONG} mm"),
    *(f"{name} of {kind}s" for kind in PARTICLES for name in ("number", "share")),
    *("size of the jet charge", "second share", *(f"particles above {pt} GeV" for pt in HARD)),
)
"""The columns of :func:`jet_substructure`."""


@checked
def jet_summary(jets: Jets) -> Float[Tensor, "jets columns"]:
    r"""Ten standard observables of a jet, the columns :data:`SUMMARY`, in float64.

    With $z_a = p_{T,a} / \sum_b p_{T,b}$ and $\Delta$ of two particles, or of one and the jet:
    mass and $p_T$ of the jet in GeV; its number of particles, including those that were left out;
    the width $\sum_a z_a \Delta_a$; the dispersion $\sqrt{\sum_a z_a^2}$; the largest $z_a$;
    $\ln e_2$ and $\ln D_2$ with $e_2 = \sum_{a<b} z_a z_b \Delta_{ab}$,
    $e_3 = \sum_{a<b<c} z_a z_b z_c \Delta_{ab} \Delta_{bc} \Delta_{ca}$ and $D_2 = e_3 / e_2^3$,
    small where a jet has two cores; how many tracks miss the beam by more than 0.1 mm; and the
    share of electrons and muons in $p_T$. Source: Larkoski, Moult and Neill (2014) for $D_2$.
    """
    if len(jets) > TOGETHER:
        starts = range(0, len(jets), TOGETHER)
        return torch.cat([jet_summary(jets[start : start + TOGETHER]) for start in starts])
    valid, total = jets.valid, jets.total
    share = jets.pt.double() / reduce(jets.pt.double(), "jets particles -> jets 1", "sum")
    axis = delta_r(jets.momenta, total[:, None]) * valid
    ln_e2, ln_d2 = energy_correlations(share, distances(jets))
    lepton = jets.kind >= PARTICLES.index("electron")
    columns = (
        invariant_mass(total),
        transverse_momentum(total),
        jets.size,
        (share * axis).sum(1),
        share.square().sum(1).sqrt(),
        share.amax(1),
        ln_e2,
        ln_d2,
        (jets.d0.abs() > DISPLACED).sum(1),
        (share * lepton).sum(1),
    )
    return torch.stack([column.double() for column in columns], dim=1)


@checked
def distances(jets: Jets) -> Float[Tensor, "jets particles particles"]:
    r"""$\Delta$ of every two particles, 0 with an empty place."""
    both = jets.valid[:, :, None] & jets.valid[:, None, :]
    return delta_r(jets.momenta[:, :, None], jets.momenta[:, None]) * both


@checked
def energy_correlations(
    share: Float[Tensor, "jets particles"],
    apart: Float[Tensor, "jets particles particles"],
    *,
    power: float = 1.0,
) -> tuple[Float[Tensor, "jets"], Float[Tensor, "jets"]]:
    r"""$\ln e_2$ and $\ln D_2 = \ln e_3 - 3 \ln e_2$ of shares of momentum and distances.

    ``power`` is the exponent $\beta$ of the distances. Source: Larkoski, Salam and Thaler (2013).
    """
    # In the trace of a cube every three particles count six times, and Δ is 0 for one with itself.
    weighted = share[:, :, None] * apart**power
    e2 = (weighted * share[:, None, :]).sum((1, 2)) / 2
    e3 = torch.einsum("nab, nbc, nca -> n", weighted, weighted, weighted) / 6
    ln_e2, ln_e3 = (value.clamp(min=torch.finfo(e2.dtype).tiny).log() for value in (e2, e3))
    return ln_e2, ln_e3 - 3 * ln_e2


@checked
def jet_numbers(jets: Jets) -> Float[Tensor, "jets columns"]:
    """The columns of :func:`jet_summary`, and then those of :func:`jet_substructure`."""
    return torch.cat([jet_summary(jets), jet_substructure(jets)], dim=1)


@checked
def jet_substructure(jets: Jets) -> Float[Tensor, "jets columns"]:
    r"""The columns :data:`SUBSTRUCTURE`, in float64.

    With $z_a$ the share of a particle in $p_T$ and $\Delta$ as in :func:`jet_summary`:
    N-subjettiness $\tau_N = \sum_a z_a \min_k \Delta_{ak}$ over the cores $k$ that
    :func:`subjets` finds, small where the jet has $N$ cores or fewer, and ratios; masses in GeV of
    cores and of pairs of cores; $\ln e_2$ and $\ln D_2$ with distances to other powers; how many
    tracks miss the beam and by how much; number and share of each kind of particle; the size of
    the jet charge $\sum_a \sqrt{z_a}\,q_a$. A column is 0 for a jet with too few particles.
    Source: Thaler and Van Tilburg (2011), Larkoski, Salam and Thaler (2013), Krohn et al. (2013).
    """
    if len(jets) > TOGETHER:
        starts = range(0, len(jets), TOGETHER)
        return torch.cat([jet_substructure(jets[start : start + TOGETHER]) for start in starts])
    pt = jets.pt.double()
    share = pt / pt.sum(dim=1, keepdim=True)
    cores = subjets(jets, 3)
    two, three = cores[1:]
    tau = [_subjettiness(jets, share, axes) for axes in cores]
    pairs = [three[:, a] + three[:, b] for a, b in itertools.combinations(range(3), 2)]
    of_pairs = invariant_mass(torch.stack(pairs, dim=1)).sort(dim=1).values
    of_three, of_two = (invariant_mass(found).sort(dim=1).values for found in (three, two))
    core_pt = transverse_momentum(two)
    apart = distances(jets)
    d0, dz = jets.d0.abs().double(), jets.dz.abs()
    is_kind = [jets.kind == kind for kind in range(len(PARTICLES))]
    columns = (
        *tau,
        *(_ratio(tau[n], tau[n - 1]) for n in (1, 2)),
        *of_pairs.T,
        *of_three.T,
        *of_two.T,
        _ratio(core_pt.amin(dim=1), core_pt.sum(dim=1)),
        *(c for power in POWERS for c in energy_correlations(share, apart, power=power)),
        *((d0 > miss).sum(dim=1) for miss in MISSES),
        *_largest(d0, FARTHEST).T,
        (share * (d0 > DISPLACED)).sum(dim=1),
        (dz > ALONG).sum(dim=1),
        *(c for kind in is_kind for c in (kind.sum(dim=1), (share * kind).sum(dim=1))),
        (share.sqrt() * jets.charge).sum(dim=1).abs(),
        _largest(share, 2)[:, 1],
        *((pt > least).sum(dim=1) for least in HARD),
    )
    return torch.stack([column.double() for column in columns], dim=1)


def _largest(values: Tensor, count: int) -> Tensor:
    """The ``count`` largest of each row, in order, and 0 where a row is shorter."""
    return F.pad(values, (0, count)).topk(count, dim=1).values


def _ratio(part: Tensor, whole: Tensor) -> Tensor:
    return torch.where(whole > 0, part / whole, 0)


def _subjettiness(
    jets: Jets, share: Float[Tensor, "jets particles"], axes: Float[Tensor, "jets axes 4"]
) -> Float[Tensor, "jets"]:
    apart = delta_r(jets.momenta[:, :, None], axes[:, None])
    none = transverse_momentum(axes)[:, None] == 0
    nearest = apart.masked_fill(none, math.inf).amin(dim=2)
    return (share * nearest.nan_to_num(posinf=0.0)).sum(dim=1)


@checked
def subjets(jets: Jets, most: Size) -> list[Float[Tensor, "jets cores 4"]]:
    r"""The four-momenta of each jet's 1, 2, … and ``most`` cores, 0 where a jet has too few.

    The two particles of least $\min(p_{T,a}, p_{T,b})\,\Delta_{ab}$ become one, their sum, until
    as many are left: the exclusive kT algorithm. Source: Catani et al. (1993).
    """
    momenta, left = jets.momenta.clone(), jets.valid.clone()
    found = [momenta.new_zeros(len(jets), count, 4) for count in range(1, most + 1)]
    apart = _kt_distance(momenta[:, :, None], momenta[:, None])
    alone = torch.eye(left.shape[1], dtype=torch.bool)
    apart.masked_fill_(~(left[:, :, None] & left[:, None]) | alone, math.inf)
    for count in range(left.shape[1], 0, -1):
        here = (left.sum(dim=1) == count).nonzero()[:, 0]
        if count <= most:
            found[count - 1][here] = momenta[here][left[here]].reshape(-1, count, 4)
        if count == 1 or not len(here):
            continue
        nearest = apart[here].flatten(1).argmin(dim=1)
        kept, gone = nearest // left.shape[1], nearest % left.shape[1]
        momenta[here, kept] += momenta[here, gone]
        left[here, gone] = False
        row = _kt_distance(momenta[here, kept][:, None], momenta[here])
        row.masked_fill_(~left[here] | alone[kept], math.inf)
        apart[here, kept] = apart[here, :, kept] = row
        apart[here, gone] = apart[here, :, gone] = math.inf
    return found


def _kt_distance(first: Tensor, second: Tensor) -> Tensor:
    pt = torch.minimum(transverse_momentum(first), transverse_momentum(second))
    return pt * delta_r(first, second)
