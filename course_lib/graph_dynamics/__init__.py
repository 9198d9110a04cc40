"""Equations on graphs, lecture 9: gradient and divergence, heat, waves and brackets."""

from course_lib.graph_dynamics.calculus import (
    attention_metric,
    components,
    dirichlet_energy,
    divergence,
    eigenmodes,
    equilibrium,
    gradient,
    hodge_decomposition,
    inner,
    laplacian,
    spectral_gap,
)
from course_lib.graph_dynamics.flows import (
    SOLVERS,
    Diffusion,
    DoubleBracketFlow,
    HamiltonianFlow,
    WaveEquation,
    energy,
    euler_step,
    evolve,
)

__all__ = [
    "SOLVERS",
    "Diffusion",
    "DoubleBracketFlow",
    "HamiltonianFlow",
    "WaveEquation",
    "attention_metric",
    "components",
    "dirichlet_energy",
    "divergence",
    "eigenmodes",
    "energy",
    "equilibrium",
    "euler_step",
    "evolve",
    "gradient",
    "hodge_decomposition",
    "inner",
    "laplacian",
    "spectral_gap",
]
