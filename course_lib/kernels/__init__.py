"""Attention and symplectic attention as Triton kernels, in memory linear in the number of tokens.

They run on a CUDA device. Where ``TRITON_INTERPRET=1`` is set before this package is imported, they
run in NumPy on the CPU: slowly, so for small sizes. Importing this package imports Triton, which is
made for Linux; no other part of ``course_lib`` needs it.
"""

try:
    import triton
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "course_lib.kernels needs Triton, and it is not installed; install it with "
        "'pip install triton' (Linux), or choose backend 'reference' or 'torch' for attention",
        name=error.name,
    ) from error
else:
    # `triton.knobs` and autotuned choices that are kept on disk are as old as this.
    if [int(part) for part in triton.__version__.split(".")[:2]] < [3, 4]:
        raise ImportError(
            f"course_lib.kernels was given Triton {triton.__version__}; expected 3.4 or newer; "
            "update it with 'pip install --upgrade triton', or choose backend 'reference' or "
            "'torch' for attention"
        )

from course_lib.kernels.flash_attention import flash_attention
from course_lib.kernels.flash_decoding import flash_decoding
from course_lib.kernels.symplectic_attention import symplectic_flash

__all__ = ["flash_attention", "flash_decoding", "symplectic_flash"]
