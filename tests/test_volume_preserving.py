import pytest
import torch
from seeded import assert_close, jacobian, randn, randomized

from course_lib.volume_preserving import (
    VolumePreservingAttention,
    VolumePreservingLayer,
    VolumePreservingTransformer,
)

TOKENS, D = 4, 3
VOLUME = {
    "attention": VolumePreservingAttention(D),
    "attention, full matrix": VolumePreservingAttention(D, skew=False),
    "lower": VolumePreservingLayer(D),
    "upper": VolumePreservingLayer(D, triangle="upper"),
    "transformer": VolumePreservingTransformer(D),
    "transformer, full matrix": VolumePreservingTransformer(D, skew=False),
}
VOLUME = {name: randomized(module, 0.7) for name, module in VOLUME.items()}
by_volume = pytest.mark.parametrize("flow", VOLUME.values(), ids=VOLUME)


@by_volume
@pytest.mark.parametrize("tokens", [1, 2, 3, 5, 8])
def test_the_jacobian_determinant_is_one_for_windows_of_any_length(flow, tokens):
    assert torch.linalg.det(jacobian(flow, randn(tokens, D))).item() == pytest.approx(1, abs=1e-12)


@by_volume
@pytest.mark.parametrize("batch", [(), (2,), (2, 3), (0,)], ids=str)
def test_volume_preserving_maps_have_an_inverse(flow, batch):
    z = randn(*batch, TOKENS, D)
    with torch.no_grad():
        assert_close(flow.inverse(flow(z)), z)
        assert_close(flow(flow.inverse(z)), z)


@by_volume
def test_volume_preserving_maps_are_not_the_identity(flow):
    z = randn(TOKENS, D)
    assert (flow(z) - z).norm() > 0.1


def test_volume_preserving_attention_turns_the_tokens_by_an_orthogonal_matrix():
    layer = VOLUME["attention, full matrix"]
    z = randn(TOKENS, D)
    C = z @ layer.A @ z.T
    C = (C - C.T) / 2
    one = torch.eye(TOKENS).double()
    turn = (one - C) @ torch.linalg.inv(one + C)
    assert_close(turn @ turn.T, one)
    assert_close(layer(z), turn @ z)


def test_only_the_skew_part_of_the_matrix_enters():
    full, skew = VolumePreservingAttention(D, skew=False), VolumePreservingAttention(D)
    row, column = torch.triu_indices(D, D, offset=1)
    with torch.no_grad():
        skew.weight.copy_(((full.A - full.A.T) / 2)[row, column])
    assert_close(skew.A, -skew.A.T)
    z = randn(TOKENS, D).float()
    torch.testing.assert_close(skew(z), full(z))


@pytest.mark.usefixtures("plain_calls")
class TestBadInput:
    @by_volume
    def test_a_state_of_another_dimension_in_a_volume_preserving_map(self, flow):
        for call in (flow, flow.inverse):
            with pytest.raises(ValueError, match=r"z has shape \(4, 2\)"):
                call(randn(TOKENS, 2))

    def test_sizes_and_names_of_the_constructors(self):
        for make in (VolumePreservingAttention, VolumePreservingLayer, VolumePreservingTransformer):
            with pytest.raises(ValueError, match="is 0; expected 1 or more"):
                make(0)
            with pytest.raises(TypeError, match=r"is 1\.5, a float"):
                make(1.5)
        with pytest.raises(ValueError, match="triangle is 'full'"):
            VolumePreservingLayer(D, triangle="full")
