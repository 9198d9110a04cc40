"""The GPU benchmark handles failures of a GPU; here it runs on the CPU, with a fake clock."""

import json

import pytest
import torch
from interpreted_kernels import ON_GPU

from benchmarks import attention as program
from benchmarks import gpu_cells, measured, measuring
from benchmarks.gpu_cells import SLICES

RUN = {"device": "A GPU 100 (80GB)", "date": "2026-01-01", "command": "python x", "ceiling": 1.0}
SMALL = {"device": "cpu", "shrink": 256}


class CountingClock:
    """Every run takes a millisecond."""

    def times(self, run, count):
        for _ in range(count):
            run()
        return [1.0] * count


@pytest.fixture(autouse=True)
def _interpreter(monkeypatch):
    if not ON_GPU:
        monkeypatch.setenv("TRITON_INTERPRET", "1")


@pytest.fixture
def report(tmp_path):
    return measured.Report(tmp_path, RUN)


def row(**other):
    given = {"kernel": "attention", "direction": "forward", "variant": "full", "dtype": "float16"}
    given |= {"d": 64, "tokens": 1024, "peer": measured.OURS, "ms": 1.0, "error": 1e-4}
    return given | other


def test_only_our_own_rows_of_this_run_are_judged_each_by_its_dtype(report, tmp_path):
    for number, (change, is_wrong) in enumerate(
        (
            ({}, False),
            ({"error": 0.01}, True),
            ({"error": 0.01, "dtype": "bfloat16"}, False),
            ({"error": float("nan")}, True),
            ({"failed": "TritonError: no"}, True),
            ({"peer": "other", "error": 1.0}, False),
        )
    ):
        one = measured.Report(tmp_path / str(number), RUN)
        one.add([row(**change)])
        assert bool(one.wrong()) == is_wrong, change
    report.add([row(error=1.0)])
    later = measured.Report(tmp_path, RUN)
    later.add([row(tokens=2048)])
    assert later.wrong() == []


def test_a_lost_device_ends_the_run_and_keeps_what_was_measured(report, monkeypatch):
    def lost():
        raise RuntimeError("an illegal memory access was encountered")

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "synchronize", lost)
    with pytest.raises(measuring.DeviceLostError), measuring.failing_alone({}):
        lost()

    report.add([row()])
    monkeypatch.setattr(
        program,
        "measured",
        lambda *_, **__: (_ for _ in ()).throw(
            measuring.DeviceLostError("an illegal memory access")
        ),
    )
    said = program.run_slices(report, ["decode"], CountingClock())
    assert "decode one query" in said
    assert len(json.loads(report.path.read_text())["rows"]) == 1


def symplectic_case():
    torch.manual_seed(0)
    z, A = torch.randn(3, 8, 4), torch.randn(4, 4) / 4
    return (z, A), measuring.Exact(gpu_cells.formula, (z, A), (False, True))


def gradients_of(function, inputs, exact):
    inputs = [x.detach().requires_grad_() for x in inputs]
    output = function(*inputs)
    return torch.autograd.grad(output, inputs, exact.upstream(output))


def test_a_wrong_head_and_a_wrong_gradient_are_found():
    inputs, exact = symplectic_case()
    output = gpu_cells.formula(*inputs)
    for_z, for_A = gradients_of(gpu_cells.formula, inputs, exact)
    assert exact.error_of_output(output) < 1e-5
    assert exact.error_of_gradients((for_z, for_A)) < 1e-5
    assert exact.error_of_gradients(gradients_of(gpu_cells.by_autograd, inputs, exact)) < 1e-5
    output[-1] += 1
    assert exact.error_of_output(output) > 0.1
    assert exact.error_of_gradients((for_z, for_A.mT)) > 0.1


@pytest.mark.slow
@pytest.mark.parametrize("name", ["symplectic-64", "decode"])
def test_a_slice_runs_whole_on_small_shapes(name, report, monkeypatch):
    """Every peer that runs on the CPU is measured and right; ours runs in the interpreter."""
    shortest = [SLICES[name][place] for place in program.shortest_of_a_kind(SLICES[name])]
    monkeypatch.setitem(SLICES, name, shortest)
    heads = 2 * gpu_cells.SHARE if name in {"grouped", "decode"} else 2
    monkeypatch.setattr(gpu_cells, "D_MODEL", heads * shortest[0].d)
    monkeypatch.setattr(gpu_cells, "TEXTS", 2)
    monkeypatch.setattr(measuring, "TURNS", 1)
    monkeypatch.setattr(measuring, "MOST_RUNS", 1)
    assert program.run_slices(report, [name], CountingClock(), **SMALL) == ""
    found = json.loads(report.path.read_text())
    assert {(r["kernel"], r["variant"]) for r in found["rows"]} == {
        (one.kernel, one.variant) for one in shortest
    }
    assert [r for r in found["rows"] if "failed" in r] == []
    assert report.wrong() == []
    assert all(r["error"] < measured.WORST[r["dtype"]] * 4 for r in found["rows"])
    assert name in found["seconds"]
