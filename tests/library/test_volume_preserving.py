import copy

import pytest
import torch
from seeded import assert_close, jacobian, randn, randomized

from course_lib.symplectic import (
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


def test_the_jacobian_determinant_is_one_for_windows_of_any_length():
    for flow in VOLUME.values():
        for tokens in [1, 2, 5]:
            assert torch.linalg.det(jacobian(flow, randn(tokens, D))).item() == pytest.approx(
                1, abs=1e-12
            )


def test_volume_preserving_maps_have_an_inverse():
    for flow in VOLUME.values():
        for batch in [(), (2,), (2, 3), (0,)]:
            z = randn(*batch, TOKENS, D)
            with torch.no_grad():
                assert_close(flow.inverse(flow(z)), z)
                assert not z.numel() or (flow(z) - z).norm() > 0.1
                assert_close(flow(flow.inverse(z)), z)


def test_half_precision_is_float32_but_for_rounding():
    torch.manual_seed(0)
    net, z = VolumePreservingTransformer(D), randn(2, TOKENS, D).float()
    for dtype, tolerance in ((torch.float16, 0.02), (torch.bfloat16, 0.1)):
        half = copy.deepcopy(net).to(dtype)
        assert_close(half(z.to(dtype)).float(), net(z), tolerance)
        assert_close(half.inverse(half(z.to(dtype))).float(), z, tolerance)


def test_volume_preserving_attention_turns_the_tokens_by_an_orthogonal_matrix():
    layer = VOLUME["attention, full matrix"]
    z = randn(TOKENS, D)
    C = z @ layer.A @ z.T
    C = (C - C.T) / 2
    one = torch.eye(TOKENS).double()
    turn = (one - C) @ torch.linalg.inv(one + C)
    assert_close(turn @ turn.T, one)
    assert_close(layer(z), turn @ z)
