"""Particle Transformer and its symmetries; test_models_weaver.py compares the authors' code."""

import math

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from seeded_tensors import assert_close, perturbed, randn

from course_lib.jets import (
    ClassAttentionBlock,
    ParticleTransformer,
    Standardization,
    pairwise_features,
    particle_features,
    without_itself,
)
from course_lib.models.tagging import load_jets

FEW = load_jets().test[:6].hardest(20)
GIVEN = (particle_features(FEW).double(), pairwise_features(FEW.momenta))


def small(*, pairs: bool = True) -> ParticleTransformer:
    torch.manual_seed(0)
    network = ParticleTransformer(5, 16, 4, 2, 2, d_pair=6).double()
    network = network.standardized_like(GIVEN[0], GIVEN[1] if pairs else None, valid=FEW.valid)
    return perturbed(network, 0.2)


@settings(max_examples=10)
@given(st.permutations(range(20)))
def test_the_order_of_particles_changes_nothing(order) -> None:
    network, (features, pairs) = small(), GIVEN
    moved = network(features[:, order], pairs[:, order][:, :, order], valid=FEW.valid[:, order])
    assert_close(moved, network(features, pairs, valid=FEW.valid), 1e-9)


@settings(max_examples=10)
@given(st.integers(1, 20), st.floats(-1e3, 1e3) | st.just(math.nan))
def test_values_in_padding_change_nothing(kept, noise) -> None:
    network, (features, pairs) = small(), GIVEN
    valid = torch.zeros_like(FEW.valid)
    valid[:, :kept] = True
    both = valid[:, :, None] & valid[:, None, :]
    there = (
        torch.where(valid[..., None], features, noise),
        torch.where(both[..., None], pairs, noise),
    )
    alone = network(features[:, :kept], pairs[:, :kept, :kept])
    found = network(*there, valid=valid)
    assert_close(found, alone, 1e-9)
    assert all(x.isfinite().all() for x in torch.autograd.grad(found.sum(), network.parameters()))


def test_the_class_block_is_its_formula() -> None:
    torch.manual_seed(0)
    layer = perturbed(ClassAttentionBlock(8, 2).double(), 0.3)
    token, x = randn(3, 1, 8), randn(3, 5, 8, seed=1)
    mask = torch.tensor([True, True, False, True, False, True])
    seen = layer.norm(torch.cat([token, x], 1))[:, mask]
    attention = torch.nn.MultiheadAttention(8, 2, batch_first=True).double()
    ours_in = [getattr(layer.attention, name) for name in ("query", "key", "value")]
    attention.load_state_dict(
        {
            "in_proj_weight": torch.cat([each.weight for each in ours_in]),
            "in_proj_bias": torch.cat([each.bias for each in ours_in]),
            "out_proj.weight": layer.attention.output.weight,
            "out_proj.bias": layer.attention.output.bias,
        }
    )
    looked = token + layer.attended[0](attention(token, seen, seen)[0])
    assert_close(layer(token, x, mask=mask[None]), looked + layer.mlp(looked), 1e-9)


def test_a_class_token_looks_at_itself_and_at_real_particles() -> None:
    network, (features, pairs) = small(), GIVEN
    valid = FEW.valid.clone()
    valid[2, 4:] = False
    weights = network.class_weights(features, pairs, valid=valid)
    assert weights.shape == (2, 6, 4, 21)
    assert_close(weights.sum(-1), torch.ones(2, 6, 4).double())
    assert (weights[:, 2, :, 5:] == 0).all()
    assert (weights[:, 2, :, :5] > 0).all()


def test_dropout_acts_in_training_alone() -> None:
    torch.manual_seed(0)
    network = ParticleTransformer(5, 16, 4, 2, 2, dropout=0.3).double()
    first, second = (network(*GIVEN, valid=FEW.valid) for _ in range(2))
    assert (first - second).abs().max() > 1e-3
    network.eval()
    assert_close(network(*GIVEN, valid=FEW.valid), network(*GIVEN, valid=FEW.valid))


def test_features_are_standardized_where_particles_are() -> None:
    network = small()
    standard = network.standard(GIVEN[0])[FEW.valid]
    assert_close(standard.mean(0), torch.zeros(15).double(), 1e-6)
    spread = standard.std(0)
    assert_close(spread[spread > 0], torch.ones_like(spread[spread > 0]), 1e-5)
    both = FEW.valid[:, :, None] & FEW.valid[:, None, :]
    assert_close(network.standard_pairs(GIVEN[1])[both].std(0), torch.ones(4).double(), 1e-5)
    assert (small(pairs=False).standard_pairs.scale == 1).all()


def test_a_constant_column_keeps_the_scale_1():
    same = torch.tensor([0.1, -7.3e5, 0.0, 1e-20])
    for dtype in (torch.float32, torch.float64):
        unit = Standardization(8).to(dtype)
        rows = torch.cat([same.expand(10, 4), same + torch.arange(10.0)[:, None] * same], dim=1)
        unit.learn(rows.to(dtype))
        assert (unit.scale == 1).tolist() == [True] * 4 + [False, False, True, False]


def test_a_token_masked_from_itself_gets_no_copies() -> None:
    features, network = GIVEN[0], without_itself(small(pairs=False))
    valid = FEW.valid
    assert (network.class_weights(features, valid=valid)[..., 0] == 0).all()
    twice = features.repeat(1, 2, 1), valid.repeat(1, 2)
    assert_close(network(twice[0], valid=twice[1]), network(features, valid=valid), 1e-9)
    usual = small(pairs=False)
    assert (usual(twice[0], valid=twice[1]) - usual(features, valid=valid)).abs().max() > 1e-3
