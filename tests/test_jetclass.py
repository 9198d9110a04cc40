"""The stream of JetClass gives what was written, in files that are made here."""

import random
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import distributed
from torch.utils.data import DataLoader, IterableDataset

from course_lib import jetclass
from course_lib.four_momenta import transverse_momentum
from course_lib.jet_tagging import jet_inputs
from course_lib.jetclass import BRANCHES, CLASSES, KINDS, JetStream
from course_lib.jets import Jets, load_jets, stream

awkward = pytest.importorskip("awkward", reason="JetClass needs uproot, the lectures do not")
uproot = pytest.importorskip("uproot", reason="JetClass needs uproot, the lectures do not")


def written(path: Path, jets: int, label: str, *, seed: int = 0) -> dict[str, list[np.ndarray]]:
    """A file of one class, as those of JetClass are; what is in it."""
    random = np.random.default_rng(seed)
    size = random.integers(1, 9, jets)
    total = int(size.sum())
    columns = {f"part_{name}": random.normal(0, 9, total) for name in ("px", "py", "pz")}
    columns |= {f"part_{name}": random.normal(0, 1, total) for name in ("d0val", "dzval")}
    columns["part_charge"] = random.integers(-1, 2, total).astype(np.float32)
    kind = random.integers(0, len(KINDS), total)
    columns |= {f"part_is{name}": kind == n for n, name in enumerate(KINDS)}
    data = {name: awkward.unflatten(column, size) for name, column in columns.items()}
    data |= {f"label_{name}": np.full(jets, name == label) for name in CLASSES}
    with uproot.recreate(path) as file:
        file["tree"] = data
    return {name: [np.asarray(each) for each in column] for name, column in data.items()}


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / f"{label}.root" for label in ("QCD", "Hbb", "Tbl")]
    for seed, path in enumerate(paths):
        written(path, 25, path.stem, seed=seed)
    return paths


def test_jets_are_those_that_were_written(tmp_path: Path) -> None:
    path = tmp_path / "one.root"
    data = written(path, 7, "Hcc")
    (jets,) = stream([path], batch=10, particles=5)
    assert isinstance(jets, Jets)
    assert jets.classes == CLASSES
    assert jets.label.tolist() == [CLASSES.index("Hcc")] * 7
    for n in range(7):
        p = np.stack([data[f"part_{name}"][n] for name in ("px", "py", "pz")], axis=1)
        order = np.argsort(-np.hypot(p[:, 0], p[:, 1]))[:5]
        kept = len(order)
        assert jets.size[n] == len(p)
        assert jets.real[n].tolist() == [True] * kept + [False] * (5 - kept)
        np.testing.assert_allclose(jets.momenta[n, :kept, 1:], p[order], rtol=1e-6, atol=1e-6)
        kinds = np.stack([data[f"part_is{name}"][n] for name in KINDS], axis=1)[order]
        assert kinds[np.arange(kept), jets.kind[n, :kept]].all()
        for ours, theirs in (("d0", "d0val"), ("dz", "dzval"), ("charge", "charge")):
            found = getattr(jets, ours)[n, :kept].numpy()
            np.testing.assert_allclose(found, data[f"part_{theirs}"][n][order], rtol=1e-6)
    assert (transverse_momentum(jets.momenta).diff(dim=1) <= 1e-9).all()


def test_a_network_takes_what_is_streamed(files) -> None:
    for jets in stream(files, batch=20, particles=6):
        inputs = jet_inputs(jets)
        assert inputs.features.isfinite().all()
        assert inputs.pairs.isfinite().all()


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("batch", [1, 7, 25, 100])
def test_every_jet_comes_once(files, batch, shuffle) -> None:
    found = list(stream(files, batch=batch, particles=4, shuffle=shuffle))
    sizes = [len(jets) for jets in found]
    assert sizes == [batch] * (75 // batch) + [75 % batch] * (75 % batch > 0)
    pt = torch.cat([jets.pt[:, 0] for jets in found])
    in_order = torch.cat([jets.pt[:, 0] for jets in stream(files, batch=75, particles=4)])
    assert torch.equal(pt.sort().values, in_order.sort().values)
    assert torch.equal(pt, in_order) != shuffle


def test_shuffled_batches_mix_classes_and_a_seed_gives_them_again(files) -> None:
    first, again, other = (
        list(stream(files, batch=15, shuffle=True, seed=seed)) for seed in (0, 0, 1)
    )
    assert all(len(set(jets.label.tolist())) == 3 for jets in first)
    assert all(torch.equal(a.pt, b.pt) for a, b in zip(first, again, strict=True))
    assert not all(torch.equal(a.pt, b.pt) for a, b in zip(first, other, strict=True))


def test_what_is_not_jetclass_is_refused(tmp_path: Path, files) -> None:
    with pytest.raises(ValueError, match="files is empty; expected one at least"):
        next(iter(stream([], batch=2)))
    with pytest.raises(FileNotFoundError, match="gone is no file"):
        next(iter(stream([*files, tmp_path / "gone"], batch=2)))
    with pytest.raises(ValueError, match="batch is 0; expected 1 or more"):
        next(iter(stream(files, batch=0)))
    empty = tmp_path / "empty.root"
    with uproot.recreate(empty) as file:
        file["leaves"] = {"x": np.ones(3)}
    with pytest.raises(ValueError, match="has no 'tree'; expected a file of JetClass"):
        next(iter(stream([empty], batch=2)))
    with uproot.recreate(empty) as file:
        file["tree"] = {name: np.ones(3) for name in BRANCHES if name != "part_d0val"}
    with pytest.raises(ValueError, match="has no branch 'part_d0val'"):
        next(iter(stream([empty], batch=2)))


# Jets of ours, written as those of JetClass are ------------------------------------------------

KIND_OF = dict(enumerate(KINDS))
SOURCE = load_jets().test
CALLED = ("QCD", "Hgg", "Wqq", "Tbqq", "Hbb")  # what ours, in the order of CLASSES, are there


def as_jetclass(path: Path, jets: Jets, *, number: int) -> None:
    """Write jets of ours; d0 of its particles holds the number of the jet."""
    size = jets.real.sum(1).tolist()
    columns = {f"part_p{x}": jets.momenta[..., n] for n, x in enumerate("xyz", 1)}
    d0 = (number + torch.arange(len(jets))).double()[:, None].expand(jets.pt.shape)
    columns |= {"part_d0val": d0, "part_dzval": jets.dz.double(), "part_charge": jets.charge}
    columns |= {f"part_is{name}": jets.kind == n for n, name in KIND_OF.items()}
    data = {
        name: awkward.unflatten(column[jets.real].numpy(), size) for name, column in columns.items()
    }
    called = np.array(CALLED)[jets.label.numpy()]
    data |= {f"label_{name}": called == name for name in CLASSES}
    with uproot.recreate(path) as file:
        file["tree"] = data


UNEQUAL = (120, 77, 1, 46, 200)


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Five files of unequal length, one a class, as those of JetClass."""
    paths, number = [], 0
    for label, length in enumerate(UNEQUAL):
        jets = SOURCE[SOURCE.label == label][:length].hardest(12)
        paths.append(tmp_path_factory.getbasetemp() / f"ours_{label}.root")
        as_jetclass(paths[-1], jets, number=number)
        number += length
    return paths


def numbers_of(found: list[Jets]) -> list[int]:
    return [int(n) for jets in found for n in jets.d0[:, 0].round()]


def test_jets_of_ours_come_back(ours) -> None:
    (found,) = stream(ours, batch=1000, particles=12)
    assert numbers_of([found]) == list(range(sum(UNEQUAL)))
    start = 0
    for label, length in enumerate(UNEQUAL):
        asked = SOURCE[SOURCE.label == label][:length].hardest(12)
        part = found[start : start + length]
        torch.testing.assert_close(part.total, asked.total, rtol=1e-5, atol=1e-3)
        for name in ("kind", "charge", "dz"):  # two that are as hard may change places
            value = getattr(part, name).double().sort(dim=1).values
            expected = getattr(asked, name).double().sort(dim=1).values
            torch.testing.assert_close(value, expected, rtol=1e-5, atol=1e-6)
        start += length


def over_all(
    make: Callable[[int, int], JetStream], ranks: int, workers: int
) -> tuple[list[int], list[int]]:
    """What all ranks, with as many workers each, get of an epoch; how many jets each rank gets."""
    found = [
        numbers_of(list(DataLoader(make(rank, ranks), batch_size=None, num_workers=workers)))
        for rank in range(ranks)
    ]
    return [number for some in found for number in some], list(map(len, found))


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize(("ranks", "workers"), [(1, 0), (1, 2), (3, 0), (2, 2), (60, 0)])
def test_ranks_and_workers_together_skip_and_repeat_nothing(ours, shuffle, ranks, workers) -> None:
    lengths_of = dict(zip(ours, UNEQUAL, strict=True))
    ours = ours[2:4] if ranks > 46 else ours  # some get nothing

    def make(rank: int, ranks: int) -> JetStream:
        return JetStream(ours, batch=16, particles=3, shuffle=shuffle, rank=rank, ranks=ranks)

    found, lengths = over_all(make, ranks, workers)
    first = 197 if ranks > 46 else 0
    assert sorted(found) == list(range(first, first + sum(lengths_of[path] for path in ours)))
    assert max(lengths) - min(lengths) <= len(ours) * max(workers, 1)


def test_a_process_group_tells_the_rank(ours, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for rank in range(3):
        monkeypatch.setattr(distributed, "is_initialized", lambda: True)
        monkeypatch.setattr(distributed, "get_rank", lambda rank=rank: rank)
        monkeypatch.setattr(distributed, "get_world_size", lambda: 3)
        made = stream(ours, batch=16, particles=3)
        # In a worker that was spawned there is no group.
        monkeypatch.setattr(distributed, "is_initialized", lambda: False)
        found += numbers_of(list(made))
    assert sorted(found) == list(range(sum(UNEQUAL)))


def test_torchrun_tells_the_rank(ours, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for rank in ("0", "1"):
        monkeypatch.setenv("RANK", rank)
        monkeypatch.setenv("WORLD_SIZE", "2")
        found.append(numbers_of(list(stream(ours, batch=16, particles=3))))
    assert not set(found[0]) & set(found[1])
    assert sorted(found[0] + found[1]) == list(range(sum(UNEQUAL)))


WRONG = {
    "workers are not told apart": lambda self: self._given,
    "ranks are not told apart": lambda _: (
        (info.id, info.num_workers) if (info := jetclass.get_worker_info()) else (0, 1)
    ),
    "one share more than there is": lambda self: (right(self)[0], right(self)[1] + 1),
    "workers before ranks, by the number of ranks alone": lambda self: (
        self._given[0] + (info.id if (info := jetclass.get_worker_info()) else 0),
        self._given[1] * 2,
    ),
}
right = JetStream._share


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_share_is_noticed(ours, case, monkeypatch: pytest.MonkeyPatch) -> None:
    def make(rank: int, ranks: int) -> JetStream:
        return JetStream(ours, batch=16, particles=3, rank=rank, ranks=ranks)

    monkeypatch.setattr(JetStream, "_share", WRONG[case])
    found, _ = over_all(make, 2, 2)
    assert sorted(found) != list(range(sum(UNEQUAL)))


def test_it_is_a_data_set_of_pytorch(ours) -> None:
    assert isinstance(stream(ours, batch=2), IterableDataset)
    made = stream(ours, batch=16, particles=3, shuffle=True)
    first, again = numbers_of(list(made)), numbers_of(list(made))
    made.set_epoch(1)
    later = numbers_of(list(made))
    assert first == again
    assert first != later
    assert sorted(first) == sorted(later)


def test_workers_that_stay_hear_of_a_new_epoch(ours) -> None:
    made = stream(ours, batch=16, particles=3, shuffle=True)
    loader = DataLoader(made, batch_size=None, num_workers=1, persistent_workers=True)
    first = numbers_of(list(loader))
    made.set_epoch(1)
    later = numbers_of(list(loader))
    assert first != later
    assert sorted(first) == sorted(later) == list(range(sum(UNEQUAL)))


def ranges_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """From which file how many jets are read at a time, as it happens."""
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
    list(stream(ours, batch=1000, particles=3, shuffle=shuffle))
    lengths = dict(zip(map(str, ours), UNEQUAL, strict=True))
    assert sum(jets for _, jets in read) == sum(UNEQUAL)
    assert all(jets <= lengths[path] / 2 for path, jets in read if lengths[path] > 1)


@pytest.mark.parametrize("shuffle", [False, True])
def test_files_are_opened_when_their_turn_has_come(
    files, shuffle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jetclass, "OPEN", 3)
    opened, closed = [], []
    real_open, real_close = uproot.open, jetclass._Part.close

    def noted(path, **chosen):
        opened.append(path)
        return real_open(path, **chosen)

    def shut(part):
        closed.append(part.path)
        real_close(part)

    monkeypatch.setattr(uproot, "open", noted)
    monkeypatch.setattr(jetclass._Part, "close", shut)
    batches = iter(stream(files * 10, batch=1, particles=3, shuffle=shuffle))
    next(batches)
    assert len(opened) <= 7
    list(batches)
    assert sorted(opened) == sorted(closed) == sorted(files * 10)


def unmixed(self: JetStream, share: int, shares: int) -> Iterator[Jets]:
    """File after file, with a pool: how not to do it."""
    yield jetclass._joined(list(self._in_order(share, shares)))


def test_unequal_files_are_mixed_to_the_end(tmp_path: Path, monkeypatch) -> None:
    paths = [tmp_path / f"{label}.root" for label in ("QCD", "Hbb", "Tbl")]
    for seed, (path, jets) in enumerate(zip(paths, (2000, 2000, 500), strict=True)):
        written(path, jets, path.stem, seed=seed)

    def fair() -> bool:
        found = stream(paths, batch=10, particles=2, shuffle=True)
        label = torch.cat([jets.label for jets in found])
        parts = [Counter(part.tolist()) for part in label.split(500)]
        rare, common = CLASSES.index("Tbl"), CLASSES.index("QCD")
        # 56 and 222 in the mean; what was read together comes near each other.
        return all(part[rare] < 160 and 80 < part[common] < 380 for part in parts)

    assert fair()
    monkeypatch.setattr(JetStream, "_mixed", unmixed)
    assert not fair()


def test_equal_turns_would_leave_the_longest_for_the_end(tmp_path: Path, monkeypatch) -> None:
    paths = [tmp_path / f"{label}.root" for label in ("QCD", "Tbl")]
    for path, jets in zip(paths, (3000, 300), strict=True):
        written(path, jets, path.stem)

    def last_rare() -> float:
        label = torch.cat(
            [jets.label for jets in stream(paths, batch=10, particles=2, shuffle=True)]
        )
        place = (label == CLASSES.index("Tbl")).nonzero()
        return (place.double().mean() / len(label)).item()

    fairly = last_rare()
    monkeypatch.setattr(random.Random, "choices", lambda self, among, _: [self.choice(among)])
    assert last_rare() < 0.3 < fairly


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("harm", ["cut", "junk", "hole"])
def test_a_broken_file_is_named(ours, tmp_path: Path, harm, workers) -> None:
    broken = tmp_path / "broken.root"
    content = ours[4].read_bytes()
    third = len(content) // 3
    broken.write_bytes(
        {
            "cut": content[: len(content) // 2],
            "junk": b"junk" * 100,
            "hole": content[:third] + b"\xff" * third + content[2 * third :],
        }[harm]
    )
    made = stream([ours[0], broken, ours[1]], batch=16, particles=3)
    with pytest.raises(ValueError, match=r"broken\.root is broken"):
        list(DataLoader(made, batch_size=None, num_workers=workers))


@pytest.mark.usefixtures("plain_calls")
def test_ranks_that_cannot_be_are_refused(ours) -> None:
    with pytest.raises(ValueError, match="rank is 2 of 2; expected one of 0 to 1"):
        JetStream(ours, batch=2, rank=2, ranks=2)
    with pytest.raises(ValueError, match="expected both or none"):
        JetStream(ours, batch=2, rank=0)
    with pytest.raises(ValueError, match="epoch is -1; expected 0 or more"):
        stream(ours, batch=2).set_epoch(-1)
