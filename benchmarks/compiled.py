"""What the compiler makes of the forward kernel for an H100: registers and shared memory.

    python -m benchmarks.compiled

needs Triton, which brings NVIDIA's assembler with it, and no GPU: it compiles for compute
capability 9.0 and reads the resources from the binary. Nothing runs, and nothing is timed. The
inputs are float16 with 128 features, without a mask; a tile is (queries, keys, warps, stages).
Writes ``results/compiled-h100.json``.
"""

import re
import subprocess
import tempfile
from pathlib import Path

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from benchmarks.report import SHOWN, write
from course_lib.kernels.flash_attention import forward_kernel

H100 = GPUTarget("cuda", 90, 32)
FEATURES = 128
TILES = ((128, 64, 8, 2), (128, 64, 8, 3), (128, 128, 8, 2))
ALIGNED = [["tt.divisibility", 16]]
STRIDES = ("i64", "i64", "i32")
ARGUMENTS = {
    **dict.fromkeys(("query", "key", "value", "output"), "*fp16"),
    **dict.fromkeys(("query_strides", "key_strides", "value_strides"), STRIDES),
    **dict.fromkeys(("heads", "queries", "keys", "size"), "i32"),
    "logsumexp": "*fp32",
    "scale": "fp32",
}
# What a launch of a whole model finds to be multiples of 16.
MULTIPLES = {"query", "key", "value", "output", "logsumexp", "queries", "keys"}


def main() -> None:
    """Compile every tile, and write down what it takes."""
    rows = [resources(*tile) for tile in TILES]
    for row in rows:
        print(row)
    write(
        "compiled-h100",
        "compiled",
        folder=SHOWN,
        device="compiled for compute capability 9.0 (H100)",
        compiler=f"Triton {triton.__version__}",
        rows=rows,
    )


def resources(block: int, step: int, warps: int, stages: int) -> dict[str, int]:
    """The registers of a thread and the shared memory of a program, in bytes."""
    fixed = {"D": FEATURES, "WIDTH": FEATURES, "CAUSAL": False, "PRECISION": "ieee"}
    fixed |= {"BLOCK": block, "STEP": step, "DESCRIPTORS": False}
    names = forward_kernel.arg_names
    aligned = {}
    for place, name in enumerate(names):
        if name in MULTIPLES:
            aligned[(place,)] = ALIGNED
        if ARGUMENTS.get(name) == STRIDES:
            aligned |= {(place, axis): ALIGNED for axis in range(len(STRIDES))}
    source = ASTSource(
        forward_kernel,
        {name: ARGUMENTS.get(name, "constexpr") for name in names},
        constexprs={(names.index(name),): value for name, value in fixed.items()},
        attrs=aligned,
    )
    compiled = triton.compile(
        source, target=H100, options={"num_warps": warps, "num_stages": stages}
    )
    tile = {"query_tile": block, "key_tile": step, "warps": warps, "stages": stages}
    return {
        **tile,
        "registers": registers(compiled.asm["cubin"]),
        "shared_bytes": compiled.metadata.shared,
    }


def registers(binary: bytes) -> int:
    """How many registers a thread of the one kernel in ``binary`` holds."""
    reader = Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / "cuobjdump"
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(binary)
        file.flush()
        said = subprocess.run(  # noqa: S603 - the reader that came with Triton
            [reader, "-res-usage", file.name], capture_output=True, text=True, check=True
        ).stdout
    return int(re.search(r"REG:(\d+)", said)[1])


if __name__ == "__main__":
    main()
