"""Solver from sensors and kernel ridge, against scikit-learn and solutions by hand."""

from functools import partial

import torch
from seeded_tensors import assert_close, randn
from sklearn.kernel_ridge import KernelRidge

from course_lib.basis import (
    gaussian,
    kernel_regression,
    ridge_kernels,
    solve_from_sensors,
    spline_matrix,
)

PLACES = torch.linspace(0, 1, 6, dtype=torch.float64)


def test_sensors_of_a_smooth_rod_are_enough_for_its_solution() -> None:
    z = torch.stack([0 * PLACES, 6 * PLACES], dim=-1)[None]
    x = torch.linspace(0, 1, 33, dtype=torch.float64)
    assert_close(solve_from_sensors(x, PLACES, z)[0], x - x**3, 1e-4)
    cooled = solve_from_sensors(x, PLACES, z, spline_matrix, q=4)[0]
    exact = 1.5 * (x - torch.sinh(2 * x) / torch.sinh(torch.tensor(2.0, dtype=torch.float64)))
    assert_close(cooled, exact, 1e-4)


def test_kernel_ridge_is_that_of_scikit_learn_with_weighted_rods() -> None:
    z, u, asked = randn(9, 6, 2, seed=0), randn(9, 4, seed=1), randn(5, 6, 2, seed=2)
    kernel = partial(gaussian, length=1.5)
    size = u.square().mean(-1) / u.square().mean()
    model = KernelRidge(kernel="precomputed", alpha=0.1).fit(
        kernel(z, z).numpy(), u.numpy(), sample_weight=1 / size.numpy()
    )
    expected = torch.as_tensor(model.predict(kernel(asked, z).numpy()))
    assert_close(kernel_regression(asked, z, u, kernel, strength=0.1), expected, 1e-9)


def test_one_kernel_makes_answers_that_are_linear_in_the_load_and_the_other_does_not() -> None:
    z, u, asked = randn(9, 6, 2, seed=0), randn(9, 4, seed=1), randn(5, 6, 2, seed=2)
    twice = asked * torch.tensor([1.0, 2.0])
    linear, plain = (
        ridge_kernels(1.5)["kernel ridge, linear in f"],
        ridge_kernels(1.5)["kernel ridge"],
    )
    once = kernel_regression(asked, z, u, linear, strength=0.1)
    assert_close(kernel_regression(twice, z, u, linear, strength=0.1), 2 * once, 1e-9)
    once = kernel_regression(asked, z, u, plain, strength=0.1)
    assert (kernel_regression(twice, z, u, plain, strength=0.1) - 2 * once).abs().max() > 0.01
