"""The jets of lecture 13 are what their description says, and their features obey symmetries."""

import dataclasses
import math
import runpy
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from seeded import assert_close
from torch import Tensor

from course_lib.four_momenta import (
    boosted,
    boosted_along_beam,
    delta_r,
    four_momenta,
    invariant_mass,
    measured,
    rotated_about_beam,
)
from course_lib.jets import (
    CLASSES,
    DATA,
    FEATURES,
    MASSES,
    PAIR_FEATURES,
    PARTICLES,
    Jets,
    class_number,
    load_jets,
    packed_miss,
    pairwise_features,
    particle_features,
    unpacked_miss,
)

ROOT = Path(__file__).resolve().parents[1]
SIDES = load_jets()
FEW = SIDES.test[:40]


def joined(name: str) -> Tensor:
    return torch.cat([getattr(side, name) for side in SIDES])


# What the file holds ----------------------------------------------------------------------------


def test_the_file_is_small_described_beside_it_and_made_by_a_script() -> None:
    assert DATA.stat().st_size < 3_000_000
    told = DATA.with_suffix(".md").read_text(encoding="utf-8")
    with np.load(DATA) as arrays:
        assert [name for name in arrays.files if f"`{name}`" not in told] == []
    assert "Bierlich" in told
    assert "scripts/make_jets.py" in told
    assert (ROOT / "scripts" / "make_jets.py").exists()


def test_every_side_has_jets_of_every_class() -> None:
    assert [len(side) for side in SIDES] == [8750, 1250, 2500]
    assert torch.bincount(joined("label")).tolist() == [2500] * len(CLASSES)
    for side in SIDES:
        assert torch.bincount(side.label).min() > 0.17 * len(side)


def test_no_jet_stands_on_two_sides() -> None:
    jets = [tuple(row.tolist()) for row in torch.cat([joined("pt"), joined("eta")], 1)]
    assert len(set(jets)) == len(jets)


def test_the_hardest_particle_is_first_and_empty_places_are_last() -> None:
    pt, real = joined("pt"), torch.cat([side.real for side in SIDES])
    assert (pt.diff(dim=1) <= 0).all()
    assert (real.int().diff(dim=1) <= 0).all()
    assert (pt[real] > 0.49).all()
    assert (pt[~real] == 0).all()
    assert (joined("size") >= real.sum(1)).all()


def test_charges_and_tracks_belong_to_kinds() -> None:
    kind, charge = joined("kind"), joined("charge")
    neutral = (kind == PARTICLES.index("neutral hadron")) | (kind == PARTICLES.index("photon"))
    assert (charge[neutral] == 0).all()
    assert (charge[(kind >= 0) & ~neutral].abs() == 1).all()
    for name in ("d0", "dz"):
        assert (joined(name)[charge == 0] == 0).all()


def test_jets_of_which_all_is_kept_have_the_momentum_that_was_clustered() -> None:
    with np.load(DATA) as stored:
        pt, eta, phi, mass = torch.from_numpy(stored["axis"]).double().T
    total, size = joined("total"), joined("size")
    whole = size == torch.cat([side.real for side in SIDES]).sum(1)
    found = measured(total)
    assert whole.double().mean() > 0.4
    assert (found.pt / pt - 1)[whole].abs().max() < 0.02
    zero = torch.zeros_like(pt)
    axis = [four_momenta(zero + 1, e, p, zero) for e, p in ((eta, phi), (found.eta, found.phi))]
    assert delta_r(*axis)[whole].max() < 0.02
    # That hadrons are pions or kaons is a guess, which counts less the heavier the jet is.
    ratio = (found.mass / mass)[whole & (mass > 100)]
    assert ratio.median().item() == pytest.approx(1, abs=0.02)
    assert ((ratio - 1).abs() < 0.06).double().mean() > 0.95


def test_heavy_particles_leave_jets_of_their_mass() -> None:
    mass, label = invariant_mass(joined("total")), joined("label")
    for name, expected in (("W", 80.4), ("top", 172.5), ("H to bb", 125.0)):
        of_class = mass[label == class_number(name)]
        near = (of_class - expected).abs() < 0.15 * expected
        assert near.double().mean() > 0.5
    light = [mass[label == class_number(name)].median() for name in ("quark", "gluon")]
    assert light[0] < light[1] < 80


def test_tracks_of_bottom_quarks_miss_the_beam() -> None:
    displaced = torch.cat([(side.d0.abs() > 0.1).sum(1) for side in SIDES]).double()
    label = joined("label")
    mean = {name: displaced[label == n].mean() for n, name in enumerate(CLASSES)}
    assert mean["H to bb"] > 2 * mean["quark"]
    assert mean["top"] > 1.3 * mean["W"]


@given(st.floats(-50, 50))
def test_what_is_packed_is_nearly_what_was_measured(millimetres) -> None:
    given_one = torch.tensor([millimetres])
    error = (unpacked_miss(packed_miss(given_one)) - given_one).abs().item()
    assert error < max(0.00051, 0.051 * math.hypot(millimetres, 0.01))


def test_the_script_packs_what_the_loader_unpacks(tmp_path: Path) -> None:
    pack = runpy.run_path(str(ROOT / "scripts" / "make_jets.py"))["pack"]
    jets = FEW[:5]
    axis = measured(jets.total)
    raw = {name: getattr(jets, name).numpy() for name in ("pt", "d0", "dz", "charge")}
    raw |= {
        "eta": (jets.eta - axis.eta[:, None]).numpy(),
        "phi": torch.remainder(jets.phi - axis.phi[:, None] + math.pi, 2 * math.pi).numpy()
        - math.pi,
        "pid": jets.kind.numpy(),
        "jet": torch.stack([*axis, jets.size], dim=1).float().numpy(),
        "label": jets.label.numpy(),
    }
    np.savez(tmp_path / "raw.npz", **raw)
    packed = pack(tmp_path / "raw.npz")
    with np.load(DATA) as stored:
        assert set(packed) == set(stored.files)
    real = jets.real.numpy()
    assert np.abs(np.exp(0.02 * packed["ln_pt"]) / raw["pt"][real] - 1).max() < 0.0101
    assert np.abs(0.002 * packed["phi"] - raw["phi"][real]).max() < 0.00101
    assert (packed["particles"] == real.sum(1)).all()


# What the network is told -----------------------------------------------------------------------


def test_the_features_of_a_particle_are_those_of_the_formula() -> None:
    jets, found = FEW, particle_features(FEW)
    total = jets.momenta.sum(1)
    for n, a in ((0, 0), (3, 1), (7, 5)):
        row = dict(zip(FEATURES, found[n, a].tolist(), strict=True))
        kind = int(jets.kind[n, a])
        pt, eta, phi = (float(getattr(jets, name)[n, a]) for name in ("pt", "eta", "phi"))
        energy = math.sqrt((pt * math.cosh(eta)) ** 2 + MASSES[kind] ** 2)
        jet_energy, x, y, z = total[n].tolist()
        jet_pt = math.hypot(x, y)
        deta, dphi = eta - math.asinh(z / jet_pt), phi - math.atan2(y, x)
        dphi = math.atan2(math.sin(dphi), math.cos(dphi))
        expected = [
            math.log(pt),
            math.log(energy),
            math.log(pt / jet_pt),
            math.log(energy / jet_energy),
            deta,
            dphi,
            math.hypot(deta, dphi),
            float(jets.charge[n, a]),
            *(float(kind == number) for number in range(len(PARTICLES))),
            math.tanh(float(jets.d0[n, a]) / 0.2),
            math.tanh(float(jets.dz[n, a]) / 0.2),
        ]
        assert list(row.values()) == pytest.approx(expected, abs=2e-5)


def test_empty_places_have_no_features() -> None:
    found = particle_features(FEW)
    assert found.shape == (40, 48, len(FEATURES))
    assert found.isfinite().all()
    assert (found[~FEW.real] == 0).all()
    assert (~FEW.real).any()


def test_the_features_of_a_pair_are_those_of_the_formula() -> None:
    jets = FEW
    found = pairwise_features(jets.momenta)
    assert found.shape == (40, 48, 48, len(PAIR_FEATURES))
    for n, a, b in ((0, 0, 1), (3, 4, 2), (9, 1, 7)):
        (ea, *pa), (eb, *pb) = jets.momenta[n, [a, b]].tolist()
        pta, ptb = math.hypot(*pa[:2]), math.hypot(*pb[:2])
        y = [0.5 * math.log((e + p[2]) / (e - p[2])) for e, p in ((ea, pa), (eb, pb))]
        dphi = math.atan2(pa[1], pa[0]) - math.atan2(pb[1], pb[0])
        delta = math.hypot(y[0] - y[1], math.atan2(math.sin(dphi), math.cos(dphi)))
        squared = (ea + eb) ** 2 - sum((i + j) ** 2 for i, j in zip(pa, pb, strict=True))
        softer = min(pta, ptb)
        expected = [delta, softer * delta, softer / (pta + ptb), squared]
        assert found[n, a, b].exp().tolist() == pytest.approx(expected, rel=1e-6)


def test_two_particles_are_told_the_same_of_each_other() -> None:
    found = pairwise_features(FEW.momenta)
    assert_close(found, found.transpose(1, 2))
    assert found.isfinite().all()


def apart(features: Tensor) -> Tensor:
    """Those of two different particles: of one and itself, rounding decides the logarithm."""
    return features[:, ~torch.eye(features.shape[1], dtype=torch.bool)]


HARD = FEW.hardest(8).momenta


@given(st.floats(-7, 7), st.floats(-2, 2))
def test_rotations_about_the_beam_and_boosts_along_it_change_no_feature_of_a_pair(
    angle, shift
) -> None:
    moved = boosted_along_beam(rotated_about_beam(HARD, angle), shift)
    before, after = apart(pairwise_features(HARD)), apart(pairwise_features(moved))
    assert_close(after[..., :3], before[..., :3], 1e-5)
    assert_close(after[..., 3].exp(), before[..., 3].exp(), 1e-5)


@given(st.tuples(*[st.floats(0.05, 0.5)] * 3))
def test_no_boost_changes_the_mass_of_a_pair_but_those_across_the_beam_change_the_rest(
    velocity,
) -> None:
    before, after = (
        apart(pairwise_features(HARD)),
        apart(pairwise_features(boosted(HARD, velocity))),
    )
    assert_close(after[..., 3].exp(), before[..., 3].exp(), 1e-5)
    for column in range(3):
        assert (after[..., column] - before[..., column]).abs().max() > 1e-3


@given(st.permutations(range(8)))
def test_features_follow_their_particles(order) -> None:
    features = pairwise_features(HARD)
    assert_close(pairwise_features(HARD[:, order]), features[:, order][:, :, order])


def test_the_network_is_told_nothing_of_where_around_the_beam_the_jet_flew() -> None:
    phi = FEW.real * (torch.remainder(FEW.phi + 2 + math.pi, 2 * math.pi) - math.pi)
    turned = dataclasses.replace(FEW, phi=phi)
    assert_close(particle_features(turned), particle_features(FEW), 1e-4)


# Some of the jets, and bad input ----------------------------------------------------------------


def one_jet(**changed: Tensor) -> Jets:
    floats, whole = torch.ones(1, 2), torch.zeros(1, 2, dtype=torch.int64)
    given_ones = dict.fromkeys(("pt", "eta", "phi", "d0", "dz"), floats)
    given_ones |= {"kind": whole, "charge": whole, "label": whole[:, 0], "size": whole[:, 0] + 2}
    return Jets(**(given_ones | changed))


def test_some_jets_are_themselves() -> None:
    part = SIDES.train[torch.tensor([5, 2])]
    assert len(part) == 2
    assert torch.equal(part.pt, SIDES.train.pt[[5, 2]])
    assert_close(part.hardest(3).momenta, SIDES.train.momenta[[5, 2], :3])
    assert len(one_jet()) == 1


def test_small_integers_will_do() -> None:
    small = {name: getattr(FEW, name).to(torch.int8) for name in ("kind", "charge", "label")}
    jets = dataclasses.replace(FEW, **small)
    assert torch.equal(jets.momenta, FEW.momenta)
    assert torch.equal(particle_features(jets), particle_features(FEW))


@pytest.mark.usefixtures("plain_calls")
@pytest.mark.parametrize(
    ("changed", "error", "told"),
    [
        ({"pt": torch.tensor([[1.0, -2.0]])}, ValueError, "pt holds -2; expected 0 or more"),
        (
            {"eta": torch.tensor([[1.0, math.nan]])},
            ValueError,
            "eta holds nan or inf; expected finite",
        ),
        (
            {"dz": torch.tensor([[1.0, math.inf]])},
            ValueError,
            "dz holds nan or inf; expected finite",
        ),
        ({"kind": torch.tensor([[-1, -1]])}, ValueError, r"jet \(0,\) has no particles"),
        ({"kind": torch.tensor([[0, 5]])}, ValueError, "kind holds 5; expected -1 to 4"),
        ({"label": torch.tensor([5])}, ValueError, "label holds 5; expected 0 to 4"),
        ({"label": torch.tensor([-1])}, ValueError, "label holds -1; expected 0 to 4"),
        ({"label": torch.tensor([1.0])}, TypeError, "label has dtype torch.float32; expected int"),
        ({"phi": torch.ones(1, 3)}, ValueError, r"phi has shape \(1, 3\); expected"),
        ({"label": torch.tensor([1, 1])}, ValueError, r"label has shape \(2,\); expected"),
        ({"pt": torch.tensor([[1.0, 0.0]])}, ValueError, "pt is 0 where a particle is, or not"),
        ({"kind": torch.tensor([[1, -1]])}, ValueError, "expected it above 0 exactly where kind"),
        ({"charge": None}, TypeError, "charge is a NoneType; expected a torch.Tensor"),
    ],
)
def test_what_is_no_jet_is_refused(changed, error, told) -> None:
    with pytest.raises(error, match=told):
        one_jet(**changed)


@pytest.mark.usefixtures("plain_calls")
def test_momenta_that_are_none_have_no_pairs() -> None:
    with pytest.raises(ValueError, match="momenta holds nan or inf; expected finite"):
        pairwise_features(torch.full((2, 4), math.nan))
    with pytest.raises(ValueError, match=r"expected \(\*batch, particles, 4\)"):
        pairwise_features(torch.ones(2, 3))
    with pytest.raises(ValueError, match="the energy of momenta holds -1"):
        pairwise_features(-torch.ones(2, 4))


def test_an_unknown_class_is_refused() -> None:
    assert [class_number(name) for name in CLASSES] == [0, 1, 2, 3, 4]
    with pytest.raises(ValueError, match="class is 'Z'; expected one of 'quark', 'gluon', 'W'"):
        class_number("Z")
