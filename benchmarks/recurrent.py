"""Time our recurrent layers, a Python loop over one formula, relative to torch's.

Time of a forward pass and of a training step (forward and backward) of RNN, GRU and LSTM, ours and
``torch.nn``'s, with the same parameters on the same batch. Rounds of the two alternate, so that
load affects both, and the ratio is the median over rounds. The program exits with 1 if a training
step takes more than ``BUDGET`` times that of torch. Run from the root of the project::

    python -m benchmarks.recurrent [--threads 1] [--rounds 15]
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable

import torch
from torch import Tensor, nn

from benchmarks.report import write
from course_lib.recurrent import GRU, LSTM, RNN

BATCH = 64
TOKENS = 128
FEATURES = 128
BUDGET = 4.0
PAIRS = ((RNN, nn.RNN), (GRU, nn.GRU), (LSTM, nn.LSTM))


def forward(model: nn.Module, x: Tensor) -> Tensor:
    """All outputs, without a graph for gradients."""
    with torch.no_grad():
        return model(x)[0]


def training(model: nn.Module, x: Tensor) -> Tensor:
    """The gradient of a loss on all outputs in all parameters; returns that of the recurrence."""
    model.zero_grad()
    model(x)[0].square().mean().backward()
    return model.weight_hh_l0.grad


def seconds(ways: dict[str, Callable[[], Tensor]], rounds: int) -> dict[str, list[float]]:
    """The time of a call of each function, in rounds, after one warm-up round."""
    times = {way: [] for way in ways}
    for _ in range(rounds + 1):
        for way, run in ways.items():
            begin = time.perf_counter()
            run()
            times[way].append(time.perf_counter() - begin)
    return {way: taken[1:] for way, taken in times.items()}


def measure(
    ours: type, theirs: type, *, batch: int, tokens: int, features: int, rounds: int
) -> dict:
    """One row of the table: ours and torch's, forward and in training."""
    torch.manual_seed(0)
    model, reference = ours(features, features), theirs(features, features, batch_first=True)
    reference.load_state_dict(model.state_dict())
    x = torch.randn(batch, tokens, features)
    row = {"cell": ours.__name__}
    for what in (forward, training):
        ways = {"ours": lambda w=what: w(model, x), "torch": lambda w=what: w(reference, x)}
        torch.testing.assert_close(ways["ours"](), ways["torch"](), rtol=1e-3, atol=1e-5)
        times = seconds(ways, rounds)
        pairs = zip(times["ours"], times["torch"], strict=True)
        row[what.__name__] = {
            # The fastest round is the least disturbed.
            "ours_seconds": min(times["ours"]),
            "torch_seconds": min(times["torch"]),
            "ratio": statistics.median(mine / other for mine, other in pairs),
        }
    return row


def table(rows: list[dict]) -> str:
    """The rows in columns: milliseconds of both, and ours as a multiple of torch's."""
    lines = [
        "        forward                  forward and backward",
        "cell    ours ms  torch ms  ratio  ours ms  torch ms  ratio",
    ]
    for row in rows:
        columns = [
            f"{1e3 * row[what]['ours_seconds']:8.1f} {1e3 * row[what]['torch_seconds']:9.1f} "
            f"{row[what]['ratio']:6.2f}"
            for what in ("forward", "training")
        ]
        lines.append(f"{row['cell']:6} {' '.join(columns)}")
    return "\n".join(lines)


def main() -> None:
    """Measure, print the table, write it with the settings to repeat it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=15)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    sizes = {"batch": BATCH, "tokens": TOKENS, "features": FEATURES}
    rows = [measure(*pair, **sizes, rounds=arguments.rounds) for pair in PAIRS]
    print(table(rows))
    write("recurrent-cpu", "recurrent", **sizes, dtype="float32", budget_ratio=BUDGET, rows=rows)
    slow = [row["cell"] for row in rows if row["training"]["ratio"] > BUDGET]
    if slow:
        sys.exit(f"{', '.join(slow)} missed the budget of {BUDGET} times torch")


if __name__ == "__main__":
    main()
