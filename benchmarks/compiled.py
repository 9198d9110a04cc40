"""Compile the forward kernel for an H100 and report registers, memory and overlap.

    python -m benchmarks.compiled

needs Triton, which contains NVIDIA's assembler, but no GPU: it compiles for compute capability 9.0
and reads the resources from the binary. Nothing runs, and nothing is timed. The inputs are float16
with 128 features, without a mask; a tile is (queries, keys, warps, stages). Keys and values come by
address or by descriptor, and a product may overlap with the next exponentials. Writes
``compiled-h100.json``. Left out after Triton 3.7.1 had compiled them:

- the product QKᵀ of the next tile before the softmax of this one: a wait for all products follows
  at once, so nothing overlaps, and 64 features take 246 registers instead of 154;
- one persistent program per multiprocessor: the same code with and without ``flatten``, no tile is
  fetched ahead of the loop over keys, 18 to 52 registers more;
- descriptors for float32 in full precision: 620 or more spilled bytes instead of none;
- ``warp_specialize``: with 8 warps the code is the same, with 4 the pass NVGPUWarpSpecialization
  fails, also on a plain matrix product.

Not tried: Gluon, Triton's language below Triton, where warps are specialised by hand. It has no
interpreter, so such a kernel cannot be tested without a GPU.
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
WAYS = (
    {"descriptors": False, "overlap": False},
    {"descriptors": True, "overlap": False},
    {"descriptors": True, "overlap": True},
)
ALIGNED = [["tt.divisibility", 16]]
STRIDES = ("i64", "i64", "i32")
ARGUMENTS = {
    **dict.fromkeys(("query", "key", "value", "output"), "*fp16"),
    **dict.fromkeys(("query_strides", "key_strides", "value_strides"), STRIDES),
    **dict.fromkeys(("heads", "queries", "keys", "together", "size"), "i32"),
    "logsumexp": "*fp32",
    "scale": "fp32",
}
# Arguments that are multiples of 16 in a launch of a whole model.
MULTIPLES = {"query", "key", "value", "output", "logsumexp", "queries", "keys"}


def main() -> None:
    """Compile every tile in every variant, and write the resources."""
    rows = [resources(*tile, **way) for way in WAYS for tile in TILES]
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


def resources(
    block: int, step: int, warps: int, stages: int, *, descriptors: bool, overlap: bool
) -> dict[str, int | bool]:
    """Registers and spilled bytes of a thread, shared memory of a program, overlap."""
    fixed = {"D": FEATURES, "WIDTH": FEATURES, "CAUSAL": False, "PRECISION": "ieee", "SHARE": 1}
    fixed |= {"BLOCK": block, "STEP": step, "DESCRIPTORS": descriptors, "OVERLAP": overlap}
    names = forward_kernel.arg_names
    types = {name: ARGUMENTS.get(name, "constexpr") for name in names}
    if descriptors:
        types |= dict.fromkeys(("key", "value"), f"tensordesc<fp16[1, 1, {step}, {FEATURES}]>")
    aligned = {}
    for place, name in enumerate(names):
        if name in MULTIPLES and not types[name].startswith("tensordesc"):
            aligned[(place,)] = ALIGNED
        if ARGUMENTS.get(name) == STRIDES:
            aligned |= {(place, axis): ALIGNED for axis in range(len(STRIDES))}
    source = ASTSource(
        forward_kernel,
        types,
        constexprs={(names.index(name),): value for name, value in fixed.items()},
        attrs=aligned,
    )
    compiled = triton.compile(
        source, target=H100, options={"num_warps": warps, "num_stages": stages}
    )
    tile = {"query_tile": block, "key_tile": step, "warps": warps, "stages": stages}
    return {
        **tile,
        "descriptors": descriptors,
        "overlap": exponentials_overlap(compiled.asm["ptx"]),
        **registers(compiled.asm["cubin"]),
        "shared_bytes": compiled.metadata.shared,
    }


def exponentials_overlap(code: str) -> bool:
    """Whether there are exponentials between a product and the wait for it."""
    begun = code.split("wgmma.commit_group")[1:]
    return any("ex2" in rest.split("wgmma.wait_group")[0] for rest in begun)


def registers(binary: bytes) -> dict[str, int]:
    """Registers and spilled bytes of a thread of the one kernel in ``binary``."""
    reader = Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / "cuobjdump"
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(binary)
        file.flush()
        said = subprocess.run(  # noqa: S603 - the reader that came with Triton
            [reader, "-res-usage", file.name], capture_output=True, text=True, check=True
        ).stdout
    found = dict(re.findall(r"(REG|STACK):(\d+)", said))
    return {"registers": int(found["REG"]), "spilled_bytes": int(found["STACK"])}


if __name__ == "__main__":
    main()
