"""The cross-attention field: a basis for every input, whatever the order of its tokens."""

import pytest
import torch
from seeded import assert_close, randn, randomized
from torch import Tensor

from course_lib import basis
from course_lib.attention import attention
from course_lib.neural_field import CrossAttentionField

SENSORS, POINTS, BATCH = 7, 11, 3


def field(**options: object) -> CrossAttentionField:
    return randomized(CrossAttentionField(8, 2, 1, d_z=2, **options), 0.5).eval()


def example() -> tuple[Tensor, Tensor, Tensor]:
    x, place = randn(BATCH, POINTS).sigmoid(), randn(BATCH, SENSORS, seed=1).sigmoid()
    return x, place, randn(BATCH, SENSORS, 2, seed=2)


def test_the_field_can_be_had_where_bases_are() -> None:
    assert basis.CrossAttentionField is CrossAttentionField


def test_the_order_of_the_tokens_does_not_matter() -> None:
    network, (x, place, z) = field(), example()
    order = torch.randperm(SENSORS, generator=torch.Generator().manual_seed(0))
    assert_close(network(x, place[:, order], z[:, order]), network(x, place, z))
    assert_close(
        network.weights(x, place[:, order], z[:, order]), network.weights(x, place, z)[..., order]
    )


def test_where_a_sensor_stands_matters() -> None:
    network, (x, place, z) = field(), example()
    change = network(x, place[:, [1, 0, *range(2, SENSORS)]], z) - network(x, place, z)
    assert change.abs().max() > 1e-3


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


def test_the_learned_weights_are_not_negative_and_sum_to_one() -> None:
    weights = field().weights(*example())
    assert (weights >= 0).all()
    assert_close(weights.sum(dim=-1), torch.ones(BATCH, 2, POINTS, dtype=torch.float64))


def test_each_point_is_answered_for_itself_on_any_mesh() -> None:
    network, (x, place, z) = field(), example()
    whole = network(x, place, z)
    some = [4, 0, 4]
    assert_close(network(x[:, some], place, z), whole[:, some])


def test_each_input_of_a_batch_is_answered_for_itself() -> None:
    network, (x, place, z) = field(), example()
    for i, alone in enumerate(network(x, place, z)):
        assert_close(network(x[i], place[i], z[i]), alone)


def test_the_number_of_sensors_may_change() -> None:
    network, (x, place, z) = field(), example()
    assert network(x, place[:, :2], z[:, :2]).shape == (BATCH, POINTS)


def test_the_field_can_be_differentiated_in_the_point() -> None:
    network, (x, place, z) = field(), example()
    x = x[0, :3].requires_grad_()
    assert torch.autograd.gradcheck(lambda x: network(x, place[0], z[0]), (x,))


def test_every_parameter_takes_part() -> None:
    network = field()
    network(*example()).square().sum().backward()
    # Not the key's bias: it adds one number to all scores of a query, which no softmax sees.
    silent = [name for name, p in network.named_parameters() if p.grad.abs().max() < 1e-12]
    assert set(silent) == {"key.bias", "encoder.blocks.0.attention.key.bias"}


# Bad input ------------------------------------------------------------------------------------

NET = CrossAttentionField(8, 2, 1)
X, PLACE, Z = torch.rand(2, 5), torch.rand(2, 4), torch.rand(2, 4, 1)


@pytest.mark.usefixtures("plain_calls")
@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: NET(X, PLACE, Z[..., 0]), ValueError, r"z has shape \(2, 4\); expected"),
        (lambda: NET(X, PLACE, Z.expand(-1, -1, 2)), ValueError, r"z has shape \(2, 4, 2\)"),
        (lambda: NET(X, PLACE[:, :3], Z), ValueError, r"z has shape .* sensors = 3, as in place"),
        (lambda: NET(X[:1], PLACE, Z), ValueError, r"shape .*make the two equal"),
        (
            lambda: NET(X, PLACE[:, :0], Z[:, :0]),
            ValueError,
            r"place has shape \(2, 0\), no sensor",
        ),
        (lambda: NET(X.double(), PLACE, Z), TypeError, r"x has dtype torch.float64 and parameters"),
        (lambda: NET(X, PLACE, Z.double()), TypeError, r"z has dtype torch.float64 and param"),
        (lambda: NET(X, PLACE.long(), Z), TypeError, r"place has dtype torch.int64"),
        (lambda: CrossAttentionField(7, 1, 1), ValueError, r"d_model is 7; expected an even"),
        (lambda: CrossAttentionField(8, 3, 1), ValueError, r"heads is 3, which does not divide"),
        (lambda: CrossAttentionField(8, 2, 0), ValueError, r"layers is 0; expected 1 or more"),
        (lambda: CrossAttentionField(8, 2, 1, d_z=0), ValueError, r"d_z is 0; expected 1 or more"),
        (lambda: CrossAttentionField(8, 2, 1, finest=0), ValueError, r"finest is 0; expected .*1"),
        (lambda: CrossAttentionField(8, 2, 1, dropout=2), ValueError, r"dropout is 2; expected"),
    ],
)
def test_bad_input_is_told_what_was_given_and_what_to_do(
    call: object, error: type, message: str
) -> None:
    with pytest.raises(error, match=message):
        call()
