"""Networks that learn operators, against independent splines, transforms and ranks."""

import math

import pytest
import torch
from scipy.interpolate import CubicSpline
from seeded_tensors import assert_close, randn
from torch import Tensor

from course_lib.basis import (
    DeepONet,
    FourierOperator,
    muon_and_adamw,
    relative_errors,
    spline_matrix,
)
from course_lib.support.training import seed

PLACES = torch.linspace(0, 1, 6, dtype=torch.float64)


def deeponet() -> DeepONet:
    seed(0)
    return DeepONet(6, d_z=2, width=4).double()


def fourier_operator() -> FourierOperator:
    seed(0)
    return FourierOperator(PLACES, d_z=2, width=3, modes=4, layers=2, grid=16).double()


def asked(rods: int, points: int) -> tuple[Tensor, Tensor, Tensor]:
    x = torch.rand(rods, points, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    return x, PLACES.expand(rods, -1), randn(rods, 6, 2, seed=5)


def test_the_matrix_of_a_spline_blends_values_as_scipy_does() -> None:
    nodes, values = torch.tensor([0.0, 0.3, 0.4, 0.9, 1.0], dtype=torch.float64), randn(5, seed=0)
    x = torch.linspace(0, 1, 40, dtype=torch.float64)
    expected = torch.as_tensor(CubicSpline(nodes.numpy(), values.numpy())(x.numpy()))
    assert_close(spline_matrix(x, nodes) @ values, expected, 1e-12)


@pytest.mark.parametrize("make", [deeponet, fourier_operator])
@torch.no_grad()
def test_the_answer_at_a_point_does_not_depend_on_other_points_or_rods(make: object) -> None:
    network, (x, place, z) = make(), asked(4, 7)
    whole = network(x, place, z)
    alone = network(x[2:3, 5:6], place[2:3], z[2:3])
    assert whole.shape == (4, 7)
    assert_close(alone[0, 0], whole[2, 5], 1e-12)
    assert whole.std() > 0.003


@torch.no_grad()
def test_a_fourier_layer_multiplies_low_frequencies_and_cuts_off_the_others() -> None:
    network, size = fourier_operator(), 20
    v = randn(1, size, 3, seed=3)
    matrix = torch.view_as_complex(network.spectral[0])
    place = torch.arange(size, dtype=torch.float64) / size
    expected = torch.zeros(size, 3, dtype=torch.float64)
    for frequency in range(4):
        wave = torch.exp(2j * math.pi * frequency * place)
        turned = (wave.conj()[:, None] * v[0]).mean(0) @ matrix[frequency]
        part = (wave[:, None] * turned).real
        expected += part if frequency == 0 else 2 * part
    assert_close(network._convolved(v, matrix)[0], expected, 1e-12)


@torch.no_grad()
def test_a_fourier_operator_interpolates_linearly_between_grid_points() -> None:
    network, (_, place, z) = fourier_operator(), asked(3, 1)
    grid = network.nodes
    assert_close(network(grid.expand(3, -1), place, z), network.on_grid(z), 1e-12)
    middle = (grid[1:] + grid[:-1]) / 2
    halves = (network.on_grid(z)[:, 1:] + network.on_grid(z)[:, :-1]) / 2
    assert_close(network(middle.expand(3, -1), place, z), halves, 1e-12)


HIDDEN = ("branch.2.weight", "trunk.2.weight")


def test_muon_trains_the_named_parameters_and_adamw_all_others() -> None:
    network = deeponet()
    muon, adamw = muon_and_adamw(network, HIDDEN, muon_rate=0.02, adamw_rate=0.003)
    named = dict(network.named_parameters())
    by_muon, by_adamw = (
        {id(p) for group in part.param_groups for p in group["params"]} for part in (muon, adamw)
    )
    assert by_muon == {id(named[name]) for name in HIDDEN}
    assert by_adamw == {id(p) for p in named.values()} - by_muon
    assert (muon.defaults["lr"], adamw.defaults["lr"]) == (0.02, 0.003)


def test_an_error_is_relative_to_its_own_solution() -> None:
    truth, answer = torch.tensor([[3.0, 4.0], [30, 40]]), torch.tensor([[3.0, 3.0], [30, 40]])
    assert_close(relative_errors(answer, truth), torch.tensor([0.2, 0.0]), 1e-6)
    assert_close(relative_errors(10 * answer, 10 * truth), torch.tensor([0.2, 0.0]), 1e-6)
