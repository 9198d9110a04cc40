"""The checkers of the exercises: ``from course_lib.exercises import check``, ``check.softmax(fn)``.

An attempt gets a result that is true or false and shows the smallest counterexample and a hint.
Each lecture has a module of its own here, and importing it adds its checkers to ``check``. How to
add one: see :mod:`course_lib.exercises._checker`.
"""

from course_lib.exercises import (
    attention_as_a_basis,
    autoencoder_to_vae,
    decoder,
    encoder,
    gpu_attention,
    graph_dynamics,
    graph_networks,
    hamiltonian_mechanics,
    jets,
    light_curves,
    position,
    recurrence,
    self_attention,
    soft_lookup,
    symplectic_attention,
)
from course_lib.exercises._checker import check

__all__ = [
    "attention_as_a_basis",
    "autoencoder_to_vae",
    "check",
    "decoder",
    "encoder",
    "gpu_attention",
    "graph_dynamics",
    "graph_networks",
    "hamiltonian_mechanics",
    "jets",
    "light_curves",
    "position",
    "recurrence",
    "self_attention",
    "soft_lookup",
    "symplectic_attention",
]
