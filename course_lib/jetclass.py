r"""JetClass, the 100 million jets that Particle Transformer was made for, a batch at a time.

:func:`stream` reads the ROOT files of Qu, Li and Qian (2022), which anyone may fetch from
https://zenodo.org/records/6619768, and gives :class:`course_lib.jets.Jets` of the ten classes
:data:`CLASSES`. It needs ``uproot``, which the lectures do without. Bad input raises ``TypeError``
or ``ValueError`` with what was given, what was expected and what to do.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from itertools import chain, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from course_lib.checks import check_size
from course_lib.jets import EMPTY, Jets

if TYPE_CHECKING:
    import awkward

CLASSES = ("QCD", "Hbb", "Hcc", "Hgg", "H4q", "Hqql", "Zqq", "Wqq", "Tbqq", "Tbl")
"""What left the jet, as the branches of the files are called: ``label_QCD`` and so on."""

KINDS = ("ChargedHadron", "NeutralHadron", "Photon", "Electron", "Muon")
NUMBERS = ("px", "py", "pz", "charge", "d0val", "dzval")
BRANCHES = (
    *(f"part_{name}" for name in NUMBERS),
    *(f"part_is{name}" for name in KINDS),
    *(f"label_{name}" for name in CLASSES),
)

POOL = 20
"""In how many batches, at least, jets are mixed that are to be shuffled."""


def stream(
    files: Iterable[str | Path],
    *,
    batch: int,
    particles: int = 128,
    shuffle: bool = False,
    seed: int = 0,
) -> Iterator[Jets]:
    """All jets of ``files`` once, ``batch`` at a time, the last of them maybe fewer.

    A jet keeps its ``particles`` hardest. Each file of JetClass holds one class, so jets that
    ``shuffle`` asks to mix, in an order that ``seed`` decides, come from all files in turn, and
    some :data:`POOL` batches of them are in memory. As in our own data, a particle's mass follows
    from its kind. Raises ``ModuleNotFoundError`` without ``uproot``, ``FileNotFoundError`` for a
    file that is not there, and ``ValueError`` for no files and for one that is not JetClass.
    """
    check_size("batch", batch)
    check_size("particles", particles)
    check_size("seed", seed, minimum=0)
    paths = [Path(file) for file in files]
    if not paths:
        raise ValueError("files is empty; expected one at least; pass the paths of ROOT files")
    for path in paths:
        if not path.is_file():
            raise FileNotFoundError(f"{path} is no file; expected a ROOT file of JetClass")
    step = -(-POOL * batch // len(paths)) if shuffle else batch
    sources = [_parts(path, step, particles) for path in paths]
    if not shuffle:
        yield from _batches(chain.from_iterable(sources), batch)
        return
    random = torch.Generator().manual_seed(seed)
    rounds = zip_longest(*sources)
    pools = (_joined([part for part in parts if part is not None]) for parts in rounds)
    mixed = (pool[torch.randperm(len(pool), generator=random)] for pool in pools)
    yield from _batches(mixed, batch)


def _batches(parts: Iterable[Jets], batch: int) -> Iterator[Jets]:
    """The jets of all parts, in batches that do not end where a part does."""
    rest: list[Jets] = []
    for part in parts:
        rest.append(part)
        while (found := sum(map(len, rest))) >= batch:
            whole = _joined(rest)
            yield whole[:batch]
            rest = [whole[batch:]] if found > batch else []
    if rest:
        yield _joined(rest)


def _joined(parts: Sequence[Jets]) -> Jets:
    names = [field.name for field in fields(Jets) if field.name != "classes"]
    columns = {name: torch.cat([getattr(part, name) for part in parts]) for name in names}
    return Jets(**columns, classes=parts[0].classes)


def _parts(path: Path, step: int, particles: int) -> Iterator[Jets]:
    """The jets of one file, ``step`` at a time."""
    try:
        import uproot
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "JetClass is stored as ROOT files, which uproot reads; pip install uproot==5.7.7"
        ) from error
    with uproot.open(path) as file:
        if "tree" not in file:
            raise ValueError(f"{path} has no 'tree'; expected a file of JetClass; leave it out")
        tree = file["tree"]
        if missing := sorted(set(BRANCHES) - set(tree.keys())):
            raise ValueError(
                f"{path} has no branch {missing[0]!r}; expected a file of JetClass; leave it out"
            )
        for part in tree.iterate(list(BRANCHES), step_size=step, library="ak"):
            yield _jets(part, particles)


def _jets(found: "awkward.Array", particles: int) -> Jets:
    """What was read, hardest particles first."""
    import awkward

    pt = found["part_px"] ** 2 + found["part_py"] ** 2
    order = awkward.argsort(pt, ascending=False)[:, :particles]

    def padded(name: str, *, empty: float | int = 0) -> Tensor:
        places = awkward.pad_none(found[name][order], particles, clip=True)
        return torch.from_numpy(awkward.to_numpy(awkward.fill_none(places, empty))).double()

    x, y, z, charge, d0, dz = (padded(f"part_{name}") for name in NUMBERS)
    here = torch.stack([padded(f"part_is{name}") for name in KINDS])
    labels = torch.stack([torch.from_numpy(found[f"label_{c}"].to_numpy()).long() for c in CLASSES])
    pt = torch.hypot(x, y)
    real = pt > 0
    return Jets(
        pt=pt,
        eta=torch.where(real, (z / pt).asinh(), 0),
        phi=torch.where(real, torch.atan2(y, x), 0),
        kind=torch.where(real, here.argmax(dim=0), EMPTY),
        charge=charge.long(),
        d0=d0,
        dz=dz,
        label=labels.argmax(dim=0),
        size=torch.from_numpy(awkward.num(found["part_px"]).to_numpy()).long(),
        classes=CLASSES,
    )
