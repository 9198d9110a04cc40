"""The course's transformer blocks against PyTorch's own layers: time of training and of inference.

Forward and backward of :class:`EncoderBlock` and :class:`DecoderBlock` against
``torch.nn.TransformerEncoderLayer`` and ``TransformerDecoderLayer`` of the same sizes, and forward
alone: in training, and in inference, where PyTorch's encoder layer has a fused path. Both run in
turns on one thread, measured in processor time, so that the ratios hold on a busy machine. Then the
time that the key-value cache saves a decoder. Run from the root of the project::

    python -m benchmarks.transformer
"""

import argparse
import statistics
import time
from collections.abc import Callable

import torch
from torch import Tensor, nn

from benchmarks.report import write
from course_lib.generation import generate
from course_lib.transformer import Decoder, DecoderBlock, EncoderBlock

# Batch, tokens, d_model, heads: one sequence, two sizes of the lectures, two larger ones.
SIZES = [(1, 16, 64, 4), (32, 16, 64, 4), (64, 32, 64, 4), (16, 128, 128, 4), (8, 256, 256, 8)]
ROUNDS = 11
WRITTEN = (16, 64, 256)

Run = Callable[[], Tensor]


def encoders(d_model: int, heads: int, x: Tensor) -> tuple[nn.Module, nn.Module, Run, Run]:
    """Our block and PyTorch's layer, and a forward pass of each."""
    ours = EncoderBlock(d_model, heads)
    theirs = nn.TransformerEncoderLayer(
        d_model, heads, 4 * d_model, 0.0, "gelu", batch_first=True, norm_first=True
    )
    return ours, theirs, lambda: ours(x), lambda: theirs(x)


def decoders(d_model: int, heads: int, x: Tensor) -> tuple[nn.Module, nn.Module, Run, Run]:
    """The same with cross-attention; PyTorch gets its causal mask ready-made, flagged as causal."""
    ours = DecoderBlock(d_model, heads, cross=True)
    theirs = nn.TransformerDecoderLayer(
        d_model, heads, 4 * d_model, 0.0, "gelu", batch_first=True, norm_first=True
    )
    context = torch.randn_like(x)
    mask = nn.Transformer.generate_square_subsequent_mask(x.shape[-2])
    return (
        ours,
        theirs,
        lambda: ours(x, context),
        lambda: theirs(x, context, mask, tgt_is_causal=True),
    )


def forward_and_backward(run: Run) -> Run:
    """A step of training without its optimizer."""

    def step() -> Tensor:
        loss = run().square().sum()
        loss.backward()
        return loss

    return step


def forward_alone(run: Run) -> Run:
    """Inference."""
    return torch.no_grad()(run)


def in_turns(ours: Run, theirs: Run, rounds: int = ROUNDS) -> dict[str, float]:
    """Seconds of a call of each, and the median over the rounds of their ratio."""

    def clock(run: Run, calls: int) -> float:
        begin = time.process_time()
        for _ in range(calls):
            run()
        return (time.process_time() - begin) / calls

    calls = max(1, int(0.05 / min(clock(theirs, 1) for _ in range(3))))
    clock(ours, calls)
    times = [(clock(ours, calls), clock(theirs, calls)) for _ in range(rounds)]
    return {
        # The fastest round is the least disturbed.
        "ours_seconds": min(mine for mine, _ in times),
        "theirs_seconds": min(other for _, other in times),
        "ratio": statistics.median(mine / other for mine, other in times),
    }


def measure(make: Callable, size: tuple[int, int, int, int]) -> dict:
    """One row of the table."""
    batch, tokens, d_model, heads = size
    torch.manual_seed(0)
    x = torch.randn(batch, tokens, d_model)
    ours, theirs, run, other = make(d_model, heads, x)
    training = in_turns(forward_and_backward(run), forward_and_backward(other))
    forward = in_turns(run, other)
    ours.eval()
    theirs.eval()
    inference = in_turns(forward_alone(run), forward_alone(other))
    return {
        "layer": make.__name__.removesuffix("s"),
        "batch": batch,
        "tokens": tokens,
        "d_model": d_model,
        "heads": heads,
        "forward and backward": training,
        "forward": forward,
        "inference": inference,
    }


def reading_again(model: Decoder, prompt: Tensor, steps: int) -> Tensor:
    """Greedy decoding without a cache: every step reads the whole text."""
    ids = prompt
    for _ in range(steps):
        ids = torch.cat([ids, model(ids)[..., -1:, :].argmax(dim=-1)], dim=-1)
    return ids


def measure_cache(steps: int) -> dict:
    """The time to write ``steps`` tokens without the cache and with it, and their ratio."""
    torch.manual_seed(0)
    model = Decoder(27, 64, 4, 4, tokens=steps + 1).eval()
    prompt = torch.zeros(1, 1, dtype=torch.int64)
    ways = (
        lambda: reading_again(model, prompt, steps),
        lambda: generate(model, prompt, steps=steps, top_k=1),
    )
    with torch.no_grad():
        if not torch.equal(ways[0](), ways[1]()):
            raise AssertionError("the decoder wrote different texts with and without the cache")
        row = in_turns(*ways, rounds=5)
    return {
        "tokens": steps,
        "reading_again_seconds": row["ours_seconds"],
        "cache_seconds": row["theirs_seconds"],
        "ratio": row["ratio"],
    }


def table(rows: list[dict], written: list[dict]) -> str:
    """The rows in columns."""
    lines = [
        "                              forward and backward     forward         inference",
        "layer    batch tokens d_model    ms  ours ÷ torch    ms  ÷ torch    ms  ÷ torch",
    ]
    for row in rows:
        both, forward, alone = (
            row[what] for what in ("forward and backward", "forward", "inference")
        )
        lines.append(
            f"{row['layer']:8} {row['batch']:5} {row['tokens']:6} {row['d_model']:7} "
            f"{1e3 * both['ours_seconds']:7.2f} {both['ratio']:9.2f} "
            f"{1e3 * forward['ours_seconds']:9.2f} {forward['ratio']:6.2f} "
            f"{1e3 * alone['ours_seconds']:8.2f} {alone['ratio']:6.2f}"
        )
    lines += ["", "tokens written    ms with the cache    without ÷ with"]
    lines += [
        f"{row['tokens']:14} {1e3 * row['cache_seconds']:20.1f} {row['ratio']:17.2f}"
        for row in written
    ]
    return "\n".join(lines)


def main() -> None:
    """Measure, print the table, write it with the settings to repeat it."""
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    # One thread: with more, each small operation waits for other programs.
    torch.set_num_threads(1)
    rows = [measure(make, size) for make in (encoders, decoders) for size in SIZES]
    written = [measure_cache(steps) for steps in WRITTEN]
    print(table(rows, written))
    write("transformer-cpu", "transformer", dtype="float32", rows=rows, written=written)


if __name__ == "__main__":
    main()
