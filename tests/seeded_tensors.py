"""Seeded tensors and parameters in float64, and what is compared of a map of them."""

import torch

TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-12}


def randn(*shape, dtype=torch.float64, seed=0):
    """Other numbers for another shape."""
    generator = torch.Generator().manual_seed(seed + 1000 * len(shape) + sum(shape))
    return torch.randn(shape, dtype=dtype, generator=generator)


def some_ids(*shape, vocabulary=11, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(vocabulary, shape, generator=generator)


def jacobian(function, z):
    return torch.autograd.functional.jacobian(function, z).reshape(z.numel(), z.numel())


def gradients(output, *inputs):
    # A fixed random covector: a plain sum would hide errors that cancel.
    return torch.autograd.grad(output, inputs, randn(*output.shape, dtype=output.dtype, seed=3))


def assert_close(actual, expected, tolerance=1e-12):
    torch.testing.assert_close(actual, expected, rtol=tolerance, atol=tolerance)


def assert_close_for_its_dtype(actual, expected):
    """Compare tensors or tuples of them, as closely as their dtype allows."""
    first = expected[0] if isinstance(expected, list | tuple) else expected
    assert_close(actual, expected, TOLERANCE[first.dtype])


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
