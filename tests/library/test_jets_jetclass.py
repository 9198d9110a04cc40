"""The stream of JetClass gives the jets in files that are written here."""

import math
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import distributed
from torch.utils.data import DataLoader

from course_lib.jets import Jets, JetStream, transverse_momentum
from course_lib.jets.jetclass import BRANCHES, CLASSES, KINDS

pytestmark = pytest.mark.slow

awkward = pytest.importorskip("awkward", reason="JetClass needs uproot, the lectures do not")
uproot = pytest.importorskip("uproot", reason="JetClass needs uproot, the lectures do not")


def written(
    path: Path,
    jets: int,
    label: str,
    *,
    seed: int = 0,
    fault: str = "",
    called: Callable[[str], str] = str,
    number: int | None = None,
) -> dict[str, list[np.ndarray]]:
    """Write a file of one class like JetClass, with a fault in entry 3; return its content.

    ``called`` renames branches of JetClass; ``number`` is the d0 of the first jet, and so on.
    """
    random = np.random.default_rng(seed)
    size = random.integers(1, 9, jets)
    size[3:4] *= fault != "no particle"
    total, spoilt = int(size.sum()), int(size[:3].sum())
    columns = {f"part_{name}": random.normal(0, 9, total) for name in ("px", "py", "pz")}
    columns |= {f"part_{name}": random.normal(0, 1, total) for name in ("d0val", "dzval")}
    if number is not None:
        columns["part_d0val"] = np.repeat(number + np.arange(jets), size).astype(float)
    columns["part_charge"] = random.integers(-1, 2, total).astype(np.float32)
    kind = random.integers(0, len(KINDS), total)
    columns |= {f"part_is{name}": kind == n for n, name in enumerate(KINDS)}
    if fault in columns:
        columns[fault][spoilt] = math.nan
    if fault == "part_is…":
        columns[f"part_is{KINDS[kind[spoilt]]}"][spoilt] = False
    data = {name: awkward.unflatten(column, size) for name, column in columns.items()}
    data |= {f"label_{name}": np.full(jets, name == label) for name in CLASSES}
    data[f"label_{label}"][3:4] &= fault != "label_…"
    with uproot.recreate(path) as file:
        file[called("tree")] = {called(name): column for name, column in data.items()}
    return {name: [np.asarray(each) for each in column] for name, column in data.items()}


UNEQUAL = (120, 77, 1, 46, 200)


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Five files of unequal length; d0 of all particles is the number of the jet."""
    folder, number = tmp_path_factory.mktemp("ours"), 0
    paths = [folder / f"{label}.root" for label in ("QCD", "Hgg", "Wqq", "Tbqq", "Hbb")]
    for seed, (path, length) in enumerate(zip(paths, UNEQUAL, strict=True)):
        written(path, length, path.stem, seed=seed, number=number)
        number += length
    return paths


def numbers_of(found: list[Jets]) -> list[int]:
    return [int(n) for jets in found for n in jets.d0[:, 0].round()]


def test_jets_equal_those_written(tmp_path: Path) -> None:
    path = tmp_path / "one.root"
    data = written(path, 7, "Hcc")
    (jets,) = JetStream([path], batch=10, particles=5)
    assert isinstance(jets, Jets)
    assert jets.classes == CLASSES
    assert jets.label.tolist() == [CLASSES.index("Hcc")] * 7
    for n in range(7):
        p = np.stack([data[f"part_{name}"][n] for name in ("px", "py", "pz")], axis=1)
        order = np.argsort(-np.hypot(p[:, 0], p[:, 1]))[:5]
        kept = len(order)
        assert jets.size[n] == len(p)
        assert jets.valid[n].tolist() == [True] * kept + [False] * (5 - kept)
        np.testing.assert_allclose(jets.momenta[n, :kept, 1:], p[order], rtol=1e-6, atol=1e-6)
        kinds = np.stack([data[f"part_is{name}"][n] for name in KINDS], axis=1)[order]
        assert kinds[np.arange(kept), jets.kind[n, :kept]].all()
        for ours, theirs in (("d0", "d0val"), ("dz", "dzval"), ("charge", "charge")):
            found = getattr(jets, ours)[n, :kept].numpy()
            np.testing.assert_allclose(found, data[f"part_{theirs}"][n][order], rtol=1e-6)
    assert (transverse_momentum(jets.momenta).diff(dim=1) <= 1e-9).all()


@pytest.mark.parametrize(("batch", "shuffle"), [(7, False), (7, True), (500, True)])
def test_every_jet_is_read_once(ours, batch, shuffle) -> None:
    found = list(JetStream(ours, batch=batch, particles=4, shuffle=shuffle))
    assert [len(jets) for jets in found] == [batch] * (444 // batch) + [444 % batch]
    numbers = numbers_of(found)
    assert sorted(numbers) == list(range(444))
    assert (numbers == sorted(numbers)) != shuffle


@pytest.mark.parametrize(
    ("ranks", "workers", "shuffle"), [(3, 0, False), (2, 2, True), (48, 0, True)]
)
def test_ranks_and_workers_together_skip_and_repeat_nothing(ours, shuffle, ranks, workers) -> None:
    lengths_of = dict(zip(ours, UNEQUAL, strict=True))
    ours = ours[2:4] if ranks > 46 else ours  # some get no files

    found = []
    for rank in range(ranks):
        made = JetStream(ours, batch=16, particles=3, shuffle=shuffle, rank=rank, ranks=ranks)
        found.append(numbers_of(list(DataLoader(made, batch_size=None, num_workers=workers))))
    lengths = list(map(len, found))
    first = 197 if ranks > 46 else 0
    assert sorted(n for some in found for n in some) == list(
        range(first, first + sum(lengths_of[path] for path in ours))
    )
    assert max(lengths) - min(lengths) <= len(ours) * max(workers, 1)


def test_the_rank_comes_from_the_process_group(ours, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for rank in range(3):
        monkeypatch.setattr(distributed, "is_initialized", lambda: True)
        monkeypatch.setattr(distributed, "get_rank", lambda rank=rank: rank)
        monkeypatch.setattr(distributed, "get_world_size", lambda: 3)
        made = JetStream(ours, batch=16, particles=3)
        # A spawned worker has no process group.
        monkeypatch.setattr(distributed, "is_initialized", lambda: False)
        found += numbers_of(list(made))
    assert sorted(found) == list(range(sum(UNEQUAL)))


def test_persistent_workers_get_the_new_epoch(ours) -> None:
    made = JetStream(ours, batch=16, particles=3, shuffle=True)
    loader = DataLoader(made, batch_size=None, num_workers=1, persistent_workers=True)
    first = numbers_of(list(loader))
    made.set_epoch(1)
    later = numbers_of(list(loader))
    assert first != later
    assert sorted(first) == sorted(later) == list(range(sum(UNEQUAL)))


def ranges_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Record the files and the numbers of jets that are read at a time."""
    with uproot.open(path) as file:
        owner = next(each for each in type(file["tree"]).__mro__ if "arrays" in vars(each))
    read: list[tuple[str, int]] = []
    arrays = owner.arrays

    def noted(tree, *given, entry_start, entry_stop, **chosen):
        read.append((tree.file.file_path, entry_stop - entry_start))
        return arrays(tree, *given, entry_start=entry_start, entry_stop=entry_stop, **chosen)

    monkeypatch.setattr(owner, "arrays", noted)
    return read


@pytest.mark.parametrize("shuffle", [False, True])
def test_no_file_is_read_whole(ours, shuffle, monkeypatch: pytest.MonkeyPatch) -> None:
    read = ranges_read(ours[0], monkeypatch)
    list(JetStream(ours, batch=1000, particles=3, shuffle=shuffle))
    lengths = dict(zip(map(str, ours), UNEQUAL, strict=True))
    assert sum(jets for _, jets in read) == sum(UNEQUAL)
    assert all(jets <= lengths[path] / 2 for path, jets in read if lengths[path] > 1)


def test_unequal_files_are_mixed_to_the_end(tmp_path: Path) -> None:
    paths = [tmp_path / f"{label}.root" for label in ("QCD", "Hbb", "Tbl")]
    for seed, (path, jets) in enumerate(zip(paths, (1200, 1200, 300), strict=True)):
        written(path, jets, path.stem, seed=seed)

    found = JetStream(paths, batch=10, particles=2, shuffle=True)
    label = torch.cat([jets.label for jets in found])
    parts = [Counter(part.tolist()) for part in label.split(300)]
    rare, common = CLASSES.index("Tbl"), CLASSES.index("QCD")
    # 33 and 133 on average; jets that were read together stay near each other.
    assert all(part[rare] < 96 and 48 < part[common] < 228 for part in parts)


FAULTS = ("no particle", "part_px", "part_d0val", "part_charge", "part_is…", "label_…")


@pytest.mark.parametrize("fault", FAULTS)
def test_an_unusable_jet_is_named_or_skipped_and_counted(tmp_path: Path, fault) -> None:
    path = tmp_path / "own.root"
    written(path, 7, "Hcc", fault=fault)
    with pytest.raises(ValueError, match=rf"own\.root: the jet of entry 3 .*{fault}"):
        list(JetStream(path, batch=2))
    written(tmp_path / "whole.root", 7, "Hcc")
    (whole,) = JetStream(tmp_path / "whole.root", batch=10)
    for workers in (0, 2):
        made = JetStream(str(path), batch=10, leave_out=True)
        found = list(DataLoader(made, batch_size=None, num_workers=workers))
        assert sum(map(len, found)) == 6
        assert made.left_out == 1
    if fault != "no particle":
        kept = torch.arange(7) != 3
        assert torch.equal(torch.cat([jets.pt for jets in found]), whole.pt[kept])


def test_custom_data_may_have_other_names_and_classes(tmp_path: Path) -> None:
    one, other = tmp_path / "one.root", tmp_path / "other.root"
    written(one, 7, "Tbqq")
    written(other, 7, "Tbqq", called="own.{}".format)
    parts = [name for name in BRANCHES if "label" not in name]
    columns = {name: f"own.{name}" for name in ("tree", *parts, "label_QCD", "label_Tbqq")}
    (expected,) = JetStream(one, batch=10)
    (found,) = JetStream(other, batch=10, classes=("QCD", "Tbqq"), columns=columns)
    assert torch.equal(found.momenta, expected.momenta)
    assert {found.classes[n] for n in found.label} == {"Tbqq"}
    with pytest.raises(ValueError, match=r"other\.root has no 'tree'"):
        next(iter(JetStream(other, batch=10)))
    with pytest.raises(ValueError, match=r"one\.root has no 'label_Z'"):
        next(iter(JetStream(one, batch=10, classes=("Z", "Tbqq"))))


@pytest.mark.parametrize("harm", ["cut", "junk"])
def test_a_broken_file_is_named(ours, tmp_path: Path, harm) -> None:
    broken = tmp_path / "broken.root"
    content = ours[4].read_bytes()
    broken.write_bytes({"cut": content[: len(content) // 2], "junk": b"junk" * 100}[harm])
    made = JetStream([ours[0], broken, ours[1]], batch=16, particles=3)
    with pytest.raises(ValueError, match=r"broken\.root is broken"):
        list(made)
