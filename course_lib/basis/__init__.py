"""Attention as a basis, lecture 3: hats, softmax basis, finite elements, learned operators."""

from course_lib.basis.baselines import (
    gaussian,
    kernel_regression,
    ridge_kernels,
    solve_from_sensors,
)
from course_lib.basis.elliptic import CosineSeries, Rods, random_rods, random_series, solve
from course_lib.basis.field import CrossAttentionField
from course_lib.basis.hats import (
    dropout,
    hat,
    hat_keys,
    interpolate,
    relu_network,
    relu_nodes,
    softmax_basis,
    sparsemax,
    sparsemax_basis,
)
from course_lib.basis.operators import (
    DeepONet,
    FourierOperator,
    muon_and_adamw,
    relative_errors,
    spline_matrix,
    train_operator,
)

__all__ = [
    "CosineSeries",
    "CrossAttentionField",
    "DeepONet",
    "FourierOperator",
    "Rods",
    "dropout",
    "gaussian",
    "hat",
    "hat_keys",
    "interpolate",
    "kernel_regression",
    "muon_and_adamw",
    "random_rods",
    "random_series",
    "relative_errors",
    "relu_network",
    "relu_nodes",
    "ridge_kernels",
    "softmax_basis",
    "solve",
    "solve_from_sensors",
    "sparsemax",
    "sparsemax_basis",
    "spline_matrix",
    "train_operator",
]
