"""What SymplecticityMeter displays, and what course_lib says it should."""

import math

import torch
from playwright.sync_api import Locator
from reading import assert_scientific, scientific_number, state_of
from torch import Tensor

from course_lib import mechanics, symplectic


def shortcut_force(z: Tensor, A: Tensor, softmax: str) -> Tensor:
    """2 S Z A, which the notes take for the gradient; course_lib has no use for it."""
    C = z @ A @ z.mT
    one = torch.zeros_like(C[:1])
    if softmax == "matrix":
        partition = torch.logsumexp(torch.cat([one[0, :1], C.flatten()]), 0)
    else:
        partition = torch.logsumexp(torch.cat([one, C]), 0)
    return 2 * (C - partition).exp() @ z @ A


def symplecticity_meter(widget: Locator) -> None:
    state = state_of(widget)
    z, A, softmax, dt = state["z"], state["A"], state["softmax"], state["dt"]
    if state["matrix"] == "symmetric":
        A = (A + A.mT) / 2

    def force(z: Tensor) -> Tensor:
        if state["formula"] == "full":
            return symplectic.symplectic_attention(z, A, softmax=softmax)
        return shortcut_force(z, A, softmax)

    M = torch.autograd.functional.jacobian(force, z).reshape(z.numel(), z.numel())
    asymmetry = float((M - M.mT).norm() / M.norm())
    kick = mechanics.symplecticity_error(
        lambda q, p: (q, p - dt * force(q)), z, torch.zeros_like(z)
    )
    q, p, energies = z, torch.zeros_like(z), []
    with torch.no_grad():
        for _ in range(state["steps"] + 1):
            potential = symplectic.attention_potential(q, A, softmax=softmax)
            energies.append((p.square().sum() + q.square().sum()) / 2 + potential)
            p = p - dt / 2 * (q + force(q))
            q = q + dt * p
            p = p - dt / 2 * (q + force(q))
    energy = torch.stack(energies)
    largest = float((energy - energy[0]).abs().max() / energy[0].abs())

    reading = {
        name: widget.locator(f"[data-reading={name}]").inner_text()
        for name in ("asymmetry", "kick", "energy")
    }
    assert_scientific(reading["asymmetry"], asymmetry, doubt=1e-13)
    assert_scientific(reading["kick"], kick, doubt=1e-13)
    # Twelve coupled coordinates may be chaotic: the largest error is compared in size.
    if math.isfinite(largest):
        assert abs(math.log10(scientific_number(reading["energy"]) / largest)) < 0.5
    else:
        assert reading["energy"].startswith("lost at step")
    verdict = widget.locator(".cw-readout").inner_text()
    assert ("is not symmetric" in verdict) == (asymmetry > 1e-10)
