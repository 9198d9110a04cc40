r"""JetClass, the 100 million jets that Particle Transformer was made for, a batch at a time.

:class:`JetStream` reads the ROOT files of Qu, Li and Qian (2022), which anyone may fetch from
https://zenodo.org/records/6619768, and gives :class:`course_lib.jets.Jets` of the ten classes
:data:`CLASSES`. It needs ``uproot``, which the lectures do without. Bad input raises ``TypeError``
or ``ValueError`` with what was given, what was expected and what to do.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, distributed
from torch.utils.data import IterableDataset, get_worker_info

from course_lib.jets.features import EMPTY, Jets
from course_lib.support.checks import check_choice
from course_lib.support.contracts import Count, Size, checked

if TYPE_CHECKING:
    import awkward


def _labels(classes: Sequence[str]) -> list[str]:
    return [f"label_{name}" for name in classes]


CLASSES = ("QCD", "Hbb", "Hcc", "Hgg", "H4q", "Hqql", "Zqq", "Wqq", "Tbqq", "Tbl")
"""The origin of a jet, as the branches of the files are called: ``label_QCD`` and so on."""

KINDS = ("ChargedHadron", "NeutralHadron", "Photon", "Electron", "Muon")
NUMBERS = ("px", "py", "pz", "charge", "d0val", "dzval")
PARTS = (*(f"part_{name}" for name in NUMBERS), *(f"part_is{name}" for name in KINDS))
BRANCHES = (*PARTS, *_labels(CLASSES))

POOL = 20
"""The number of batches in the pool that is shuffled."""

OPEN = 32
"""The mean number of whole files among which the next jets are mixed."""

SMALLEST_READ = 64
"""At least this many jets are read at a time, since each read has a fixed cost."""

WORKERS = 256
"""The number of workers that count unusable jets separately."""


class JetStream(IterableDataset):
    r"""All jets of ``files`` once, in batches of ``batch``, the last maybe fewer.

    A jet keeps its ``particles`` hardest. Of every file each rank of ``torch.distributed`` reads
    its own range of jets, and each worker of a ``DataLoader`` a part of that: together they skip
    none and repeat none in an epoch, and their numbers of jets differ by as many as there are
    files at most. Pass it to ``DataLoader(..., batch_size=None)``, since it yields batches
    already, and make it after ``init_process_group``, or give ``rank`` and ``ranks``.

    No file is in memory whole: :data:`SMALLEST_READ` jets, or a quarter of a batch if that is more,
    are read at a time, and never more than half of a file. ``shuffle`` reads parts of several
    files, each in proportion to its jets left, so that unequal files end together; the next file is
    opened as soon as fewer jets are left than :data:`OPEN` files of mean size hold. Jets are then
    shuffled in a pool of :data:`POOL` batches. ``seed`` and :meth:`set_epoch` determine the order.
    As in our own data, a particle's mass follows from its kind.

    Other files may have other ``classes``, each with its ``label_…``, and other names: ``columns``
    maps names of :data:`BRANCHES`, and "tree", to those in the files. A jet is unusable if it has
    no particle or a number that is nan or infinite, and unless one label of it and one
    ``part_is…`` of each particle are true. ``leave_out`` skips such jets and counts them in
    :attr:`left_out`; else the first raises.

    Raises ``ModuleNotFoundError`` without ``uproot``, ``FileNotFoundError`` for a missing file, and
    ``ValueError`` for no files and, once it is read, for a file that is broken or not like
    JetClass, and for an unusable jet, with its file and entry.
    """

    @checked
    def __init__(
        self,
        files: str | Path | Iterable[str | Path],
        *,
        batch: Size,
        particles: Size = 128,
        shuffle: bool = False,
        seed: Count = 0,
        classes: Sequence[str] | None = None,
        columns: Mapping[str, str] | None = None,
        leave_out: bool = False,
        rank: Count | None = None,
        ranks: Size | None = None,
    ) -> None:
        super().__init__()
        files = [files] if isinstance(files, str | Path) else files
        self.paths = [Path(file) for file in files]
        if not self.paths:
            raise ValueError("files is empty; expected one at least; pass the paths of ROOT files")
        for path in self.paths:
            if not path.is_file():
                raise FileNotFoundError(f"{path} is no file; expected a ROOT file of JetClass")
        if (rank is None) != (ranks is None):
            raise ValueError(f"rank is {rank} and ranks is {ranks}; expected both or none of them")
        if ranks is not None and rank >= ranks:
            raise ValueError(f"rank is {rank} of {ranks}; expected one of 0 to {ranks - 1}")
        self.classes = CLASSES if classes is None else tuple(classes)
        self.names = {name: name for name in ("tree", *PARTS, *_labels(self.classes))}
        for name in columns or {}:
            check_choice("a name in columns", name, self.names)
        self.names |= columns or {}
        self.batch, self.particles, self.shuffle, self.seed = batch, particles, shuffle, seed
        self.leave_out = leave_out
        self._given = None if ranks is None else (rank, ranks)
        self._made_at = _rank_and_ranks()
        self._epoch = torch.zeros((), dtype=torch.int64).share_memory_()  # workers see it change
        self._left_out = torch.zeros(WORKERS, dtype=torch.int64).share_memory_()

    @checked
    def set_epoch(self, epoch: Count) -> None:
        """Set the epoch, which changes the order; call it on every rank."""
        self._epoch.fill_(epoch)

    @property
    def left_out(self) -> int:
        """The number of unusable jets that this rank has skipped, in all epochs."""
        return int(self._left_out.sum())

    def __iter__(self) -> Iterator[Jets]:
        """The jets that are this rank's and this worker's, in batches."""
        share, shares = self._share()
        parts = self._mixed(share, shares) if self.shuffle else self._in_order(share, shares)
        return _batches(parts, self.batch)

    def _share(self) -> tuple[int, int]:
        """The share that is read here, and the number of shares."""
        # A spawned worker has no process group, unlike the process that made the stream.
        now = _rank_and_ranks()
        rank, ranks = self._given or (self._made_at if now == (0, 1) else now)
        worker = get_worker_info()
        if worker is None:
            return rank, ranks
        return rank * worker.num_workers + worker.id, ranks * worker.num_workers

    def _file(self, number: int, share: int, shares: int) -> "_Part":
        # The share with one jet more, where division leaves a rest, changes from file to file.
        return _Part(self, self.paths[number], (share + number) % shares, shares)

    def _in_order(self, share: int, shares: int) -> Iterator[Jets]:
        for number in range(len(self.paths)):
            part = self._file(number, share, shares)
            while part.left:
                yield part.read()
            part.close()

    def _mixed(self, share: int, shares: int) -> Iterator[Jets]:
        """Jets of several files at a time, mixed."""
        random = Random(f"{self.seed} {int(self._epoch)} {share}")  # noqa: S311 - no secret
        generator = torch.Generator().manual_seed(random.getrandbits(63))
        waiting = random.sample(range(len(self.paths)), len(self.paths))
        open_parts: list[_Part] = []
        sizes: list[int] = []
        pool: list[Jets] = []
        enough = POOL * self.batch

        def few_are_left() -> bool:
            # At most what OPEN files of the mean size so far hold.
            return len(sizes) * sum(part.left for part in open_parts) <= OPEN * sum(sizes)

        while True:
            while waiting and few_are_left():
                part = self._file(waiting.pop(), share, shares)
                part.mix(random)
                sizes.append(part.left)
                open_parts.append(part)
            for part in open_parts:
                if not part.left:
                    part.close()
            open_parts = [part for part in open_parts if part.left]
            if not open_parts:
                break
            weights = [part.left for part in open_parts]
            pool.append(random.choices(open_parts, weights)[0].read())
            if sum(map(len, pool)) >= enough:
                mixed = _joined(pool)
                mixed = mixed[torch.randperm(len(mixed), generator=generator)]
                yield mixed[: enough // 2]
                pool = [mixed[enough // 2 :]]
        if pool:
            mixed = _joined(pool)
            yield mixed[torch.randperm(len(mixed), generator=generator)]


class _Part:
    """The jets of one file that one share reads, some at a time."""

    def __init__(self, stream: Any, path: Path, share: int, shares: int) -> None:
        self.stream, self.path = stream, path
        try:
            import uproot
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(
                "JetClass is stored as ROOT files, which uproot reads; pip install uproot==5.7.7"
            ) from error
        with _blamed(path):
            self.file = uproot.open(path, array_cache=None)  # what was read is not kept
            self.tree = self.file.get(stream.names["tree"])
            there = [] if self.tree is None else [stream.names["tree"], *self.tree.keys()]
        if missing := [name for name in stream.names.values() if name not in there]:
            raise ValueError(
                f"{path} has no {missing[0]!r}; expected a file like those of JetClass; leave it "
                "out, or give the names in this file as columns"
            )
        jets = int(self.tree.num_entries)
        first, last = jets * share // shares, jets * (share + 1) // shares
        step = max(1, min(max(stream.batch // 4, SMALLEST_READ), jets // 2))
        self.ranges = [(start, min(start + step, last)) for start in range(first, last, step)]
        self.ranges.reverse()  # the next one is popped from the end
        self.left = last - first

    def mix(self, random: Random) -> None:
        random.shuffle(self.ranges)

    def read(self) -> Jets:
        """The next jets."""
        start, stop = self.ranges.pop()
        self.left -= stop - start
        stream, worker = self.stream, get_worker_info()
        _, *branches = stream.names.values()
        with _blamed(self.path):
            read = self.tree.arrays(branches, entry_start=start, entry_stop=stop, library="ak")
            found = {name: read[theirs] for name, theirs in stream.names.items() if name != "tree"}
            faults = _faults(found, stream.classes)
            unusable = torch.stack(list(faults.values())).any(dim=0)
        if unusable.any() and not stream.leave_out:
            entry = int(unusable.nonzero()[0])
            fault = next(fault for fault, jets in faults.items() if jets[entry])
            raise ValueError(
                f"{self.path}: the jet of entry {start + entry} {fault}; mend it, or pass "
                "leave_out=True, which leaves such jets out and counts them"
            )
        stream._left_out[worker.id % WORKERS if worker else 0] += unusable.sum()
        with _blamed(self.path):
            used = {name: values[(~unusable).numpy()] for name, values in found.items()}
            return _jets(used, stream.particles, stream.classes)

    def close(self) -> None:
        self.file.close()


@contextmanager
def _blamed(path: Path) -> Iterator[None]:
    """Raise every error again with the name of the file."""
    try:
        yield
    except Exception as error:  # a broken file raises almost anything
        raise ValueError(
            f"{path} is broken ({type(error).__name__}: {error}); expected a ROOT file of "
            "JetClass; fetch it again, or leave it out"
        ) from error


def _rank_and_ranks() -> tuple[int, int]:
    """Of this process, from its process group or the variables that ``torchrun`` sets."""
    if distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank(), distributed.get_world_size()
    if {"RANK", "WORLD_SIZE"} <= os.environ.keys():
        return int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    return 0, 1


def _batches(parts: Iterable[Jets], batch: int) -> Iterator[Jets]:
    """The jets of all parts, in batches."""
    rest: list[Jets] = []
    waiting = 0
    for part in parts:
        rest.append(part)
        waiting += len(part)
        if waiting < batch:
            continue
        whole = _joined(rest)
        whole_batches = waiting - waiting % batch
        for first in range(0, whole_batches, batch):
            yield whole[first : first + batch]
        rest, waiting = [whole[whole_batches:]] if waiting % batch else [], waiting % batch
    if waiting:
        yield _joined(rest)


def _joined(parts: Sequence[Jets]) -> Jets:
    names = [field.name for field in fields(Jets) if field.name != "classes"]
    columns = {name: torch.cat([getattr(part, name) for part in parts]) for name in names}
    return Jets(**columns, classes=parts[0].classes)


def _faults(found: dict[str, "awkward.Array"], classes: tuple[str, ...]) -> dict[str, Tensor]:
    """For each possible fault, which jets have it."""
    import awkward
    import numpy as np

    flies = (found["part_px"] != 0) | (found["part_py"] != 0)
    kinds, labels = (
        sum(found[name] != 0 for name in names)
        for names in ([f"part_is{kind}" for kind in KINDS], _labels(classes))
    )
    faults = {"has no particle; expected one at least": ~awkward.any(flies, axis=1)}
    for name in (f"part_{name}" for name in NUMBERS):
        good = awkward.all(np.isfinite(found[name]), axis=1)
        faults[f"has a {name} that is nan or infinite; expected finite numbers"] = ~good
    faults["has a particle with no part_is… or several; expected one"] = awkward.any(
        kinds != 1, axis=1
    )
    faults["has no label_… or several; expected one"] = labels != 1
    return {fault: torch.from_numpy(awkward.to_numpy(jets)) for fault, jets in faults.items()}


def _jets(found: dict[str, "awkward.Array"], particles: int, classes: tuple[str, ...]) -> Jets:
    """The jets read, hardest particles first."""
    import awkward

    pt = found["part_px"] ** 2 + found["part_py"] ** 2
    order = awkward.argsort(pt, ascending=False)[:, :particles]

    def padded(name: str, *, empty: float | int = 0) -> Tensor:
        places = awkward.pad_none(found[name][order], particles, clip=True)
        return torch.from_numpy(awkward.to_numpy(awkward.fill_none(places, empty))).double()

    x, y, z, charge, d0, dz = (padded(f"part_{name}") for name in NUMBERS)
    here = torch.stack([padded(f"part_is{name}") for name in KINDS])
    labels = torch.stack([torch.from_numpy(found[c].to_numpy()).long() for c in _labels(classes)])
    pt = torch.hypot(x, y)
    valid = pt > 0
    return Jets(
        pt=pt,
        eta=torch.where(valid, (z / pt).asinh(), 0),
        phi=torch.where(valid, torch.atan2(y, x), 0),
        kind=torch.where(valid, here.argmax(dim=0), EMPTY),
        charge=charge.long(),
        d0=d0,
        dz=dz,
        label=labels.argmax(dim=0),
        size=torch.from_numpy(awkward.num(found["part_px"]).to_numpy()).long(),
        classes=classes,
    )
