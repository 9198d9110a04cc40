"""Seeded tensors and parameters in float64, and the Jacobian of a map at one of them."""

import torch


def randn(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def jacobian(function, z):
    return torch.autograd.functional.jacobian(function, z).reshape(z.numel(), z.numel())


def assert_close(actual, expected, tolerance=1e-12):
    torch.testing.assert_close(actual, expected, rtol=tolerance, atol=tolerance)


def randomized(module, scale=1.0):
    """Convert to float64 and randomize, far from the initial parameters."""
    module = module.double()
    with torch.no_grad():
        for seed, parameter in enumerate(module.parameters()):
            parameter.copy_(scale * randn(*parameter.shape, seed=100 + seed))
    return module


def perturbed(module, scale):
    """Add random numbers, so that every parameter matters; set evaluation mode."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(scale * torch.randn_like(parameter))
    return module.eval()
