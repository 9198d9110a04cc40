"""The GPU benchmark, rehearsed in Triton's interpreter on tiny shapes."""

import json
import os
import time

import pytest
import torch
from interpreted_kernels import ON_GPU

from benchmarks import gpu

TINY = [
    gpu.Cell("decode", "one query", "bfloat16", 16, 24),
    gpu.Cell("attention", "grouped causal", "float16", 16, 24),
    gpu.Cell("symplectic", "general", "float32", 16, 24),
    gpu.Cell("attention", "causal", "float32", 16, 21, timed=False, same_bits=True),
]


@pytest.fixture(autouse=True)
def _tiny(monkeypatch):
    if not ON_GPU:
        monkeypatch.setenv("TRITON_INTERPRET", "1")
    monkeypatch.setattr(torch, "compile", lambda function, **_: function)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    fakes = {"peak_memory": lambda *_: 0.0, "do_bench": lambda run, **_: [run() and 1.0]}
    tiny = {"CELLS": TINY, "IN_A_BATCH": 48, "D_MODEL": 64, "TEXTS": 1}
    for name, value in (tiny | fakes).items():
        monkeypatch.setattr(gpu, name, value)


def rehearse(path):
    gpu.measure_all(path / "gpu.json", {"device": "A GPU"}, 0, time.monotonic() + 600, "cpu")
    return json.loads((path / "gpu.json").read_text())["rows"]


def test_every_kind_of_cell_is_measured_and_right(tmp_path):
    rows = [row for row in rehearse(tmp_path) if not row["peer"].startswith("torch")]
    assert [len([row for row in rows if row.get("ms") == n]) for n in (1, None)] == [12, 2]
    assert all(row.get("right") for row in rows)


def test_what_fails_is_a_row_and_a_lost_device_a_new_process(tmp_path, monkeypatch):
    def fail(*_):
        raise RuntimeError("an illegal memory access")

    started = []
    monkeypatch.setattr(gpu, "flash_decoding", fail)
    monkeypatch.setattr(gpu, "CELLS", TINY[:1])
    failed, eager, *_ = rows = rehearse(tmp_path)
    assert ("illegal" in failed["failed"], eager["right"]) == (True, True)
    assert len(rehearse(tmp_path)) == len(rows)
    monkeypatch.setattr(os, "execv", lambda _, command: started.extend(command))
    monkeypatch.setattr(torch.cuda, "synchronize", fail)
    assert "illegal" in rehearse(tmp_path)[0]["failed"]
    assert "--first=1" in started
