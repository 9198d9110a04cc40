import pytest
import torch
from scipy.integrate import solve_ivp
from seeded import assert_close, jacobian, randn, randomized

from course_lib.symplectic import LiePoissonLayer, LiePoissonNet

TURNS = {f"about axis {axis}": randomized(LiePoissonLayer(axis)) for axis in (1, 2, 3)}
TURNS["net"] = randomized(LiePoissonNet(), 0.5)


def cross_matrix(z):
    return torch.linalg.cross(z.expand(3, 3), torch.eye(3).double())


def test_lie_poisson_layers_keep_the_length_the_volume_and_the_poisson_structure():
    for flow in TURNS.values():
        z = randn(3)
        M, image = jacobian(flow, z), flow(z)
        assert_close(image.norm(), z.norm())
        assert torch.linalg.det(M).item() == pytest.approx(1, abs=1e-12)
        assert_close(M @ cross_matrix(z) @ M.T, cross_matrix(image))
        assert (image - z).norm() > 0.01


def test_lie_poisson_layers_have_an_inverse():
    for flow in TURNS.values():
        for batch in [(), (5,), (2, 4), (0,)]:
            z = randn(*batch, 3)
            assert_close(flow.inverse(flow(z)), z)


@pytest.mark.parametrize("axis", [1, 2, 3])
def test_a_lie_poisson_layer_is_the_flow_of_its_hamiltonian(axis):
    layer, z = TURNS[f"about axis {axis}"], randn(3)

    def field(_, z):
        slope = torch.zeros(3).double()
        slope[axis - 1] = (layer.w * z[axis - 1] + layer.b).tanh() @ layer.v
        return torch.linalg.cross(torch.from_numpy(z), slope).detach().numpy()

    end = solve_ivp(field, (0, 1), z.numpy(), rtol=1e-11, atol=1e-11).y[:, -1]
    assert_close(layer(z), torch.from_numpy(end), 1e-8)
