"""The cross-attention field: a basis for every input, in any order of its tokens."""

import torch
from seeded_tensors import assert_close, randn, randomized
from torch import Tensor

from course_lib.attention import attention
from course_lib.basis import CrossAttentionField

SENSORS, POINTS, BATCH = 7, 11, 3


def field(**options: object) -> CrossAttentionField:
    return randomized(CrossAttentionField(8, 2, 1, d_z=2, **options), 0.5).eval()


def example() -> tuple[Tensor, Tensor, Tensor]:
    x, place = randn(BATCH, POINTS).sigmoid(), randn(BATCH, SENSORS, seed=1).sigmoid()
    return x, place, randn(BATCH, SENSORS, 2, seed=2)


def test_the_order_of_the_tokens_does_not_matter() -> None:
    network, (x, place, z) = field(), example()
    order = torch.randperm(SENSORS, generator=torch.Generator().manual_seed(0))
    assert_close(network(x, place[:, order], z[:, order]), network(x, place, z))
    assert_close(
        network.weights(x, place[:, order], z[:, order]), network.weights(x, place, z)[..., order]
    )


def test_the_field_is_the_blend_of_its_learned_values_by_its_learned_weights() -> None:
    network, (x, place, z) = field(), example()
    weights, values = network.weights(x, place, z), network.values(place, z)
    assert weights.shape == (BATCH, 2, POINTS, SENSORS)
    assert values.shape == (BATCH, 2, SENSORS)
    blended = (weights @ values[..., None]).squeeze(-1).sum(dim=1)
    assert_close(network(x, place, z), blended)


def test_the_field_is_the_attention_of_points_to_tokens() -> None:
    network, (x, place, z) = field(), example()
    seen = []
    for projection in (network.query, network.key, network.value):
        projection.register_forward_hook(lambda *call: seen.append(call[-1]))
    found = network(x, place, z)
    query, key, value = (s.unflatten(-1, (2, -1)).transpose(1, 2) for s in seen)
    assert_close(found, attention(query, key, value).sum(dim=1).squeeze(-1))


def test_the_field_can_be_differentiated_in_the_point() -> None:
    network, (x, place, z) = field(), example()
    x = x[0, :3].requires_grad_()
    assert torch.autograd.gradcheck(lambda x: network(x, place[0], z[0]), (x,))
