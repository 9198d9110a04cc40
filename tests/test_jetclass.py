"""The loader of JetClass gives what was written, in files that are made here."""

from pathlib import Path

import numpy as np
import pytest
import torch

from course_lib.four_momenta import transverse_momentum
from course_lib.jet_tagging import jet_inputs
from course_lib.jetclass import BRANCHES, CLASSES, KINDS, stream
from course_lib.jets import Jets

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
        next(stream([], batch=2))
    with pytest.raises(FileNotFoundError, match="gone is no file"):
        next(stream([*files, tmp_path / "gone"], batch=2))
    with pytest.raises(ValueError, match="batch is 0; expected 1 or more"):
        next(stream(files, batch=0))
    empty = tmp_path / "empty.root"
    with uproot.recreate(empty) as file:
        file["leaves"] = {"x": np.ones(3)}
    with pytest.raises(ValueError, match="has no 'tree'; expected a file of JetClass"):
        next(stream([empty], batch=2))
    with uproot.recreate(empty) as file:
        file["tree"] = {name: np.ones(3) for name in BRANCHES if name != "part_d0val"}
    with pytest.raises(ValueError, match="has no branch 'part_d0val'"):
        next(stream([empty], batch=2))
