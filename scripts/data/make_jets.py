"""Make course_lib/data/jets.npz, the jets that lecture 13 classifies.

    python -m venv elsewhere
    elsewhere/bin/pip install pythia8mc==8.318.0 fastjet numpy
    elsewhere/bin/python scripts/data/make_jets.py --simulate raw.npz 2500
    python scripts/data/make_jets.py raw.npz

The first command simulates, the second packs the results and needs only course_lib. Protons collide
at 13 TeV in Pythia 8.318 (Monash tune, underlying event included). FastJet clusters all stable
visible particles with pT > 0.5 GeV and |eta| < 3 into anti-kT jets of radius 0.8; kept are jets
with 500 to 700 GeV and |eta| < 2, at most two from each collision. In a jet of a W, a top or a
Higgs boson all quarks of the decay are within 0.8 of its axis; a quark or gluon is within 0.4 of
it. The 48 hardest particles are kept. There is no detector, but impact parameters are smeared by
0.02 mm across the beam and 0.03 mm along it. course_lib/data/jets.md describes the arrays.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

KEEP, RADIUS, CORE = 48, 0.8, 0.4
LEAST_PT, MOST_PT, MOST_ETA = 500.0, 700.0, 2.0
SOFTEST, WIDEST = 0.5, 3.0
BLUR = (0.02, 0.03)  # mm
FARTHEST = 50.0  # mm
HARD_PROCESS = 22  # Pythia's status of decaying products of the hard process
NEUTRINOS = {12, 14, 16}
KINDS = {22: 2, 11: 3, 13: 4}  # photon, electron, muon; other particles are 0 if charged, else 1

# The processes, the decaying particle if there is one, and its number of quarks.
CLASSES: dict[str, tuple[tuple[str, ...], int | None, int]] = {
    "quark": (("HardQCD:qq2qq = on",), None, 0),
    "gluon": (("HardQCD:gg2gg = on",), None, 0),
    "W": (
        (
            *("WeakBosonAndParton:qqbar2Wg = on", "WeakBosonAndParton:qg2Wq = on"),
            *("24:onMode = off", "24:onIfAny = 1 2 3 4 5"),
        ),
        24,
        2,
    ),
    "top": (
        (
            *("Top:gg2ttbar = on", "Top:qqbar2ttbar = on"),
            *("24:onMode = off", "24:onIfAny = 1 2 3 4 5"),
        ),
        6,
        3,
    ),
    "H to bb": (
        (
            *("HiggsSM:ffbar2HZ = on", "25:onMode = off", "25:onIfAny = 5"),
            *("23:onMode = off", "23:onIfAny = 12 14 16"),
        ),
        25,
        2,
    ),
}
COLLIDER = (
    *("Print:quiet = on", "Beams:eCM = 13000.", "Random:setSeed = on"),
    *("PhaseSpace:pTHatMin = 470.", "PhaseSpace:pTHatMax = 760."),
)


# Simulation --------------------------------------------------------------------------------------


def distance(particle: Any, jet: Any) -> float:
    """The angular distance of a particle from the axis of a jet."""
    return math.hypot(particle.eta() - jet.eta(), turn(particle.phi() - jet.phi()))


def turn(angle: float) -> float:
    """The same angle between minus pi and pi."""
    return (angle + math.pi) % (2 * math.pi) - math.pi


def quarks_of(event: Any, number: int) -> list[int]:
    """The decay products of a particle after radiation; for a W, its quarks."""
    same = event[number].id()
    while copies := [d for d in event[number].daughterList() if event[d].id() == same]:
        number = copies[0]
    found: list[int] = []
    for daughter in event[number].daughterList():
        is_w = abs(event[daughter].id()) == 24  # noqa: PLR2004 - the number of the W
        found += quarks_of(event, daughter) if is_w else [daughter]
    return found


def cores(event: Any, name: str) -> list[list[int]]:
    """The quarks or gluons that must all be in a jet of this class."""
    _, parent, prongs = CLASSES[name]
    if parent is None:
        wanted = {21} if name == "gluon" else {1, 2, 3}
        return [[i] for i in (5, 6) if i < event.size() and abs(event[i].id()) in wanted]
    born = [
        i
        for i in range(event.size())
        if abs(event[i].id()) == parent and abs(event[i].status()) == HARD_PROCESS
    ]
    return [core for core in (quarks_of(event, i) for i in born) if len(core) == prongs]


def particle_row(particle: Any, jet: Any, random: np.random.Generator) -> tuple[float, ...]:
    """A particle relative to its jet: pT, angles, charge, impact parameters, and kind."""
    charge = round(particle.charge())
    d0 = dz = 0.0
    if charge:
        px, py, pt = particle.px(), particle.py(), particle.pT()
        along = (particle.xProd() * px + particle.yProd() * py) / pt**2
        d0 = (particle.xProd() * py - particle.yProd() * px) / pt + random.normal(0, BLUR[0])
        dz = particle.zProd() - along * particle.pz() + random.normal(0, BLUR[1])
    eta, phi = particle.eta() - jet.eta(), turn(particle.phi() - jet.phi())
    kind = KINDS.get(abs(particle.id()), 0 if charge else 1)
    near = np.clip([d0, dz], -FARTHEST, FARTHEST)
    return (particle.pT(), eta, phi, charge, *near, kind)


def jets(name: str, seed: int) -> Iterator[tuple[np.ndarray, tuple[float, ...]]]:
    """Endless jets of one class: their particles and their properties."""
    import fastjet
    import pythia8mc

    settings, parent, _ = CLASSES[name]
    pythia = pythia8mc.Pythia("", False)  # noqa: FBT003 - Pythia's interface: no banner
    for line in (*settings, *COLLIDER, f"Random:seed = {seed}"):
        pythia.readString(line)
    pythia.init()
    random = np.random.default_rng(seed)
    definition = fastjet.JetDefinition(fastjet.antikt_algorithm, RADIUS)
    while True:
        if not pythia.next():
            continue
        event = pythia.event
        visible = [
            p
            for p in event
            if p.isFinal()
            and abs(p.id()) not in NEUTRINOS
            and abs(p.eta()) < WIDEST
            and p.pT() > SOFTEST
        ]
        inputs = [fastjet.PseudoJet(p.px(), p.py(), p.pz(), p.e()) for p in visible]
        for number, each in enumerate(inputs):
            each.set_user_index(number)
        clusters = fastjet.ClusterSequence(inputs, definition)
        near = RADIUS if parent else CORE
        for jet in fastjet.sorted_by_pt(clusters.inclusive_jets(LEAST_PT))[:2]:
            inside = (
                all(distance(event[i], jet) < near for i in core) for core in cores(event, name)
            )
            if jet.pt() > MOST_PT or abs(jet.eta()) >= MOST_ETA or not any(inside):
                continue
            found = [visible[each.user_index()] for each in jet.constituents()]
            hardest = sorted(found, key=lambda p: -p.pT())[:KEEP]
            rows = np.zeros((KEEP, 7), np.float32)
            rows[:, 6] = -1
            rows[: len(hardest)] = [particle_row(p, jet, random) for p in hardest]
            yield rows, (jet.pt(), jet.eta(), jet.phi(), jet.m(), len(found))


def simulate(target: Path, each: int) -> None:
    """Write ``each`` jets of every class, in a random order."""
    rows, whole = [], []
    for number, name in enumerate(CLASSES):
        source = jets(name, seed=1000 + number)
        for _, (particles, jet) in zip(range(each), source, strict=False):
            rows.append(particles)
            whole.append(jet)
    order = np.random.default_rng(0).permutation(len(rows))
    columns = np.stack(rows)[order].transpose(2, 0, 1)
    names = ("pt", "eta", "phi", "charge", "d0", "dz", "pid")
    np.savez_compressed(
        target,
        **dict(zip(names, columns, strict=True)),
        jet=np.array(whole, np.float32)[order],
        label=np.repeat(np.arange(len(CLASSES), dtype=np.int8), each)[order],
    )


# Packing ----------------------------------------------------------------------------------------


def pack(raw: Path) -> dict[str, np.ndarray]:
    """The arrays that jets.md describes."""
    import torch

    from course_lib.models.tagging import ANGLE_STEP, LN_PT_STEP, packed_miss

    with np.load(raw) as stored:
        found = {name: stored[name] for name in stored.files}
    valid = found["pid"] >= 0
    flat = {name: found[name][valid] for name in ("pt", "eta", "phi", "charge", "d0", "dz", "pid")}
    tracks = flat["charge"] != 0

    def steps(values: np.ndarray, step: float) -> np.ndarray:
        return np.round(values.astype(np.float64) / step).astype(np.int16)

    def missed(name: str) -> np.ndarray:
        return packed_miss(torch.from_numpy(flat[name][tracks].astype(np.float32))).numpy()

    return {
        "particles": valid.sum(axis=1).astype(np.int16),
        "size": found["jet"][:, 4].astype(np.int16),
        "label": found["label"].astype(np.int8),
        "axis": found["jet"][:, :4].astype(np.float16),
        "ln_pt": steps(np.log(flat["pt"].astype(np.float64)), LN_PT_STEP),
        "eta": steps(flat["eta"], ANGLE_STEP),
        "phi": steps(flat["phi"], ANGLE_STEP),
        "kind": flat["pid"].astype(np.int8),
        "charge": flat["charge"].astype(np.int8),
        "d0": missed("d0"),
        "dz": missed("dz"),
    }


def main() -> None:
    """Simulate or pack."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--simulate", action="store_true")
    parser.add_argument("raw", type=Path)
    parser.add_argument("each", type=int, nargs="?", default=2500)
    asked = parser.parse_args()
    if asked.simulate:
        simulate(asked.raw, asked.each)
        return
    from course_lib.models.stored import DATA

    path = DATA / "jets.npz"
    np.savez_compressed(path, **pack(asked.raw))
    print(f"{path}: {path.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
