"""SymplecticityMeter: a small one, what it displays, and what course_lib says it should."""

import math

import numpy as np
import torch
from playwright.sync_api import Locator
from reading import assert_scientific, scientific_number, state_of
from torch import Tensor
from torch.nn import functional as F

from course_lib import mechanics, symplectic
from course_lib.widgets import SymplecticityMeter

# How opaque the middle of each cell is, from 0 to 1, row by row.
READ_CELLS = """(el, size) => {
  const canvas = el.querySelector("canvas");
  const { data, width } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const middle = (i) => Math.floor(((i + 0.5) * width) / size);
  return Array.from({ length: size * size }, (_, i) =>
    data[4 * (middle(Math.floor(i / size)) * width + middle(i % size)) + 3] / 255);
}"""
CHAOTIC = 0.1  # decades between errors of runs whose starts differ by rounding


def shortcut_force(z: Tensor, A: Tensor, softmax: str) -> Tensor:
    """2 Sᵀ Z A, twice standard attention; course_lib has no use for it."""
    C = z @ A @ z.mT
    scores = C.flatten(-2)[..., None] if softmax == "matrix" else C
    partition = torch.logsumexp(F.pad(scores, (0, 0, 1, 0)), dim=-2, keepdim=True)
    return 2 * (C - partition).exp().mT @ z @ A


def make() -> SymplecticityMeter:
    random = np.random.default_rng(5)
    return SymplecticityMeter(random.normal(size=(3, 2)), random.normal(size=(2, 2)))


def displayed(widget: Locator) -> None:
    state = state_of(widget)
    z, A, softmax, dt = state["z"], state["A"], state["softmax"], state["dt"]
    if state["matrix"] == "symmetric":
        A = (A + A.mT) / 2

    def force(z: Tensor) -> Tensor:
        if state["formula"] == "full":
            return symplectic.symplectic_attention(z, A, softmax=softmax)
        return shortcut_force(z, A, softmax)

    M = torch.autograd.functional.jacobian(force, z).reshape(z.numel(), z.numel())
    asymmetry = float((M - M.mT).norm() / (M.norm() or 1))
    kick = mechanics.symplecticity_error(
        lambda q, p: (q, p - dt * force(q)), z, torch.zeros_like(z)
    )
    # Twelve coupled coordinates may be chaotic, and what runs away does so at a rate that rounding
    # sways. Starts that differ by as much as rounding say how large the error may be.
    nudges = 1 + 1e-13 * torch.arange(-4, 5, dtype=z.dtype)
    q = z * nudges[:, None, None]
    p, energies = torch.zeros_like(q), []
    with torch.no_grad():
        for _ in range(state["steps"] + 1):
            potential = symplectic.attention_potential(q, A, softmax=softmax)
            energies.append((p.square() + q.square()).sum((-2, -1)) / 2 + potential)
            p = p - dt / 2 * (q + force(q))
            q = q + dt * p
            p = p - dt / 2 * (q + force(q))
    energy = torch.stack(energies)
    largest = ((energy - energy[0]).abs().amax(0) / energy[0].abs()).tolist()

    reading = {
        name: widget.locator(f"[data-reading={name}]").inner_text()
        for name in ("asymmetry", "kick", "energy")
    }
    assert_scientific(reading["asymmetry"], asymmetry, doubt=1e-13)
    assert_scientific(reading["kick"], kick, doubt=1e-13)
    sizes = [math.log10(error) for error in largest if math.isfinite(error)]
    least, most = min(sizes, default=math.inf), max(sizes, default=math.inf)
    spread = most - least if sizes else 0
    if len(sizes) < len(largest) or spread > CHAOTIC:
        most = math.inf  # where such starts part, one of many runs away
    lost = reading["energy"].startswith("lost at step")
    size = math.inf if lost else math.log10(scientific_number(reading["energy"]))
    assert least - spread - 0.5 <= size <= most + 0.5
    verdict = widget.locator(".cw-readout").inner_text()
    assert ("is not symmetric" in verdict) == (asymmetry > 1e-10)
    assert widget.locator(".cw-seal").count() == (asymmetry <= 1e-10)
    depths = torch.tensor(widget.evaluate(READ_CELLS, len(M)), dtype=M.dtype).view_as(M)
    exact = ((M - M.mT).abs() / (M.abs().max() or 1)).clamp(max=1)
    torch.testing.assert_close(depths, exact, rtol=0, atol=1 / 255)
