"""Measure peers: error, memory, and time in turns with others.

Peers of a cell are timed in turns, so that all of them run at the same clocks: a cool chip is
faster. A peer that fails becomes a row with its error, and the others go on.
"""

import ctypes
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

import torch
from torch import Tensor

Row = dict[str, Any]
Peer = Callable[..., Tensor]
Run = Callable[[], object]

TURNS = 5
BUDGET_MS = 60.0  # of a peer in a turn
MOST_RUNS = 40
COLD = 2**30
"""Bytes to overwrite before each run: more than any second-level cache holds, and so many that
Python has launched the run before they are written. So the time is the GPU's alone, even of a run
that takes it less than Python needs to launch it."""
PROCESSORS = 1  # the driver's name for the clock of the multiprocessors
DIRECTIONS = ("forward", "backward")


class DeviceLostError(RuntimeError):
    """The CUDA context is unusable after an illegal access; the process has to end."""


# Errors ------------------------------------------------------------------------------------------


class Exact:
    """Output and gradients in float64, for the first and the last part of the inputs.

    ``function`` is the formula. Each of ``parts`` selects from an input what the known part of the
    output depends on; an input that all parts share, such as the matrix A, is kept whole. The
    upstream gradient is zero outside the known parts, so that the gradient of a shared input is
    known, too.
    """

    def __init__(self, function: Peer, inputs: Sequence[Tensor], shared: Sequence[bool]) -> None:
        parted = [x for x, whole in zip(inputs, shared, strict=True) if not whole]
        several = {x.shape[:-2].numel() > 1 for x in parted}
        if len(several) > 1:
            raise ValueError(
                f"inputs of shapes {[tuple(x.shape) for x in parted]} cannot be told apart: the "
                "first and the last part of one are the same part of another; give it two heads"
            )
        ends = (slice(0, 1), slice(-1, None)) if several.pop() else (slice(0, 1),)
        self.places = [(end,) * (inputs[0].dim() - 2) for end in ends]
        self.shared = shared
        self.upstreams, self.outputs, gradients = [], [], []
        for place in self.places:
            own = [
                (x if whole else x[place]).double().detach().requires_grad_()
                for x, whole in zip(inputs, shared, strict=True)
            ]
            output = function(*own)
            upstream = torch.randn_like(output).to(inputs[0].dtype)
            self.upstreams.append(upstream)
            self.outputs.append(output.detach())
            gradients.append(torch.autograd.grad(output, own, upstream.double()))
        self.gradients = [
            [sum(parts)] if whole else list(parts)
            for whole, parts in zip(shared, zip(*gradients, strict=True), strict=True)
        ]

    def upstream(self, output: Tensor) -> Tensor:
        """A gradient for the whole output: known in the known parts, zero elsewhere."""
        upstream = torch.zeros_like(output)
        for place, known in zip(self.places, self.upstreams, strict=True):
            upstream[place] = known
        return upstream

    def error_of_output(self, output: Tensor) -> float:
        """The largest relative error of a known part; nan if anything is."""
        return largest(
            (output[place], true) for place, true in zip(self.places, self.outputs, strict=True)
        )

    def error_of_gradients(self, found: Sequence[Tensor]) -> float:
        """The largest relative error of a known part of any gradient; nan if anything is."""
        return largest(
            (one if whole else one[place], true)
            for one, whole, parts in zip(found, self.shared, self.gradients, strict=True)
            for place, true in zip(self.places, parts, strict=False)
        )


def largest(pairs: Iterator[tuple[Tensor, Tensor]]) -> float:
    """The largest distance of the pairs, each relative to the second."""
    distances = [(one.double() - two).norm() / two.norm() for one, two in pairs]
    return torch.stack(distances).max().item()


# Time --------------------------------------------------------------------------------------------


class Clock:
    """Milliseconds of runs on a CUDA device: device events, a cold second-level cache."""

    def __init__(self) -> None:
        self.cache = torch.empty(COLD, dtype=torch.int8, device="cuda")

    def times(self, run: Run, count: int) -> list[float]:
        """Milliseconds of each of ``count`` runs."""
        events = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(count)]
        for start, end in events:
            self.cache.zero_()
            start.record()
            run()
            end.record()
        torch.cuda.synchronize()
        return [start.elapsed_time(end) for start, end in events]


def in_turns(clock: Clock, runs: Mapping[str, Run]) -> dict[str, Row]:
    """Median and spread of the time of each run in milliseconds, or its error.

    In each turn every peer runs for about ``BUDGET_MS``, and another one is first.
    """
    rows: dict[str, Row] = {}
    counts: dict[str, int] = {}
    times: dict[str, list[float]] = {}
    for name, run in runs.items():
        with failing_alone(rows.setdefault(name, {})):
            clock.times(run, 2)
            once = statistics.median(clock.times(run, 3))
            counts[name] = max(2, min(MOST_RUNS, int(BUDGET_MS / max(once, 1e-3))))
            times[name] = []
    names = list(counts)
    for turn in range(TURNS):
        shift = turn % max(1, len(names))
        for name in names[shift:] + names[:shift]:
            if "failed" not in rows[name]:
                with failing_alone(rows[name]):
                    times[name] += clock.times(runs[name], counts[name])
    for name, found in times.items():
        if "failed" not in rows[name]:
            low, middle, high = statistics.quantiles(found, n=4, method="inclusive")
            rows[name] |= {"ms": middle, "quartiles_ms": [low, high], "runs": len(found)}
    return rows


@contextmanager
def failing_alone(row: Row) -> Iterator[None]:
    """Write an error within into ``row``; only a lost device ends the run."""
    try:
        yield
    except Exception as reason:  # noqa: BLE001 - a peer may fail in any way of its own
        first_line = str(reason).strip().split("\n")[0][:200]
        row["failed"] = f"{type(reason).__name__}: {first_line}"
        try:
            if torch.cuda.is_available():
                torch.cuda.synchronize()
                torch.cuda.empty_cache()
        except Exception as lost:
            raise DeviceLostError(row["failed"]) from lost


# One cell --------------------------------------------------------------------------------------


def measure(
    peers: Mapping[str, Peer],
    inputs: Sequence[Tensor],
    exact: Exact,
    clock: Clock,
    directions: Sequence[str] = DIRECTIONS,
) -> Iterator[Row]:
    """A row for each peer and direction: error, time, memory, and the first call separately."""
    for direction in directions:
        rows: dict[str, Row] = {name: {"peer": name, "direction": direction} for name in peers}
        runs: dict[str, Run] = {}
        for name, peer in peers.items():
            with failing_alone(rows[name]):
                row, run = (forward if direction == "forward" else backward)(peer, inputs, exact)
                rows[name] |= row
                runs[name] = run
        state = chip()
        for name, timed in in_turns(clock, runs).items():
            rows[name] |= timed
        if state:
            for row in rows.values():
                row["chip"] = {"before": state, "after": chip()}
        runs.clear()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        yield from rows.values()


def forward(peer: Peer, inputs: Sequence[Tensor], exact: Exact) -> tuple[Row, Run]:
    """Error and memory of the output, and the function to time."""

    def run() -> Tensor:
        with torch.no_grad():
            return peer(*inputs)

    output, seconds = first_call(run)
    error = exact.error_of_output(output)
    del output
    return {"error": error, "first_call_s": seconds, **peak_memory(run)}, run


def backward(peer: Peer, inputs: Sequence[Tensor], exact: Exact) -> tuple[Row, Run]:
    """Error of the gradients, memory of both directions together, and the function to time."""
    inputs = [x.detach().requires_grad_() for x in inputs]

    def both() -> tuple[Tensor, ...]:
        output = peer(*inputs)
        return torch.autograd.grad(output, inputs, exact.upstream(output))

    gradients, seconds = first_call(both)
    error = exact.error_of_gradients(gradients)
    del gradients
    memory = peak_memory(both)
    output = peer(*inputs)
    upstream = torch.randn_like(output)

    def run() -> object:
        return torch.autograd.grad(output, inputs, upstream, retain_graph=True)

    return {"error": error, "first_call_s": seconds, **memory}, run


def first_call(run: Callable[[], Any]) -> tuple[Any, float]:
    """The result and the seconds of the first call, which are mostly compilation and tuning."""
    begun = time.perf_counter()
    result = run()
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return result, time.perf_counter() - begun


def peak_memory(run: Run) -> Row:
    """The peak of additional memory of a run in MB; nothing on a CPU."""
    if not torch.cuda.is_available():
        return {}
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    run()
    torch.cuda.synchronize()
    return {"peak_mb": (torch.cuda.max_memory_allocated() - before) / 1e6}


def chip() -> Row:
    """Clock in MHz, power in W and temperature in °C, if the driver reports them."""
    found: Row = {}
    with suppress(Exception):  # the sensors may be missing, or may be refused
        driver = ctypes.CDLL("libnvidia-ml.so.1")  # installed with the driver
        device, value = ctypes.c_void_p(), ctypes.c_uint()
        here = torch.cuda.get_device_properties(torch.cuda.current_device()).uuid
        driver.nvmlInit_v2()
        driver.nvmlDeviceGetHandleByUUID(f"GPU-{here}".encode(), ctypes.byref(device))
        for name, ask, unit in (
            ("MHz", partial(driver.nvmlDeviceGetClockInfo, device, PROCESSORS), 1),
            ("W", partial(driver.nvmlDeviceGetPowerUsage, device), 1000),
            ("C", partial(driver.nvmlDeviceGetTemperature, device, 0), 1),
        ):
            if ask(ctypes.byref(value)) == 0:
                found[name] = value.value / unit
    return found
