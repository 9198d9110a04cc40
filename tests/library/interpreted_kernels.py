"""Import the kernels for tests: on a GPU, or in Triton's interpreter on the CPU.

Kernels learn where they run when they are imported, and Triton looks once more when they first do.
A test imports this before anything of Triton, which its name sees to where imports are sorted.
The tests of other modules never see the switch.
"""

import importlib
import os

import pytest
import torch

ON_GPU = torch.cuda.is_available()
if ON_GPU:
    # Some versions of PyTorch need it for products under deterministic algorithms.
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
with pytest.MonkeyPatch.context() as patch:
    if not ON_GPU:
        patch.setenv("TRITON_INTERPRET", "1")
    pytest.importorskip("triton", reason="Triton is made for Linux")
    flash = importlib.import_module("course_lib.kernels.flash_attention")
    decoding = importlib.import_module("course_lib.kernels.flash_decoding")
    symplectic = importlib.import_module("course_lib.kernels.symplectic_attention")
    tiles = importlib.import_module("course_lib.kernels.tiles")


def add_by_descriptor(builder, _kind, descriptor, value, offsets):
    """Hopper's addition of a tile to global memory, which Triton's interpreter lacks."""
    ir = importlib.import_module("triton.runtime.interpreter")._ir
    pointers, inside = descriptor.materialize_pointers(offsets)
    order = ir.MEM_SEMANTIC.RELAXED, ir.MEM_SYNC_SCOPE.GPU
    return builder.create_atomic_rmw(ir.ATOMIC_OP.FADD, pointers, value, inside, *order)
