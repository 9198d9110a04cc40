"""Particle Transformer against its authors' code."""

import torch
from seeded_tensors import assert_close

from course_lib.jets import ParticleTransformer, pairwise_features
from course_lib.models.weaver import load_weaver_example

EXAMPLE, PARAMETERS = load_weaver_example()
REAL = EXAMPLE.valid


def ours() -> ParticleTransformer:
    """Our network with their parameters."""
    network = ParticleTransformer(5, 8, 2, 2, 1, d_pair=4).double()
    network.load_state_dict(PARAMETERS)
    return network.eval()


def test_pairwise_features_equal_the_authors() -> None:
    expected, found = EXAMPLE.pairs, pairwise_features(EXAMPLE.momenta)
    apart = ~torch.eye(expected.shape[1], dtype=torch.bool)
    assert_close(found[:, apart], expected[:, apart], 1e-6)
    # For a particle with itself both distances are 0, and the mass is twice its own.
    assert_close(found[:, ~apart][..., :3], expected[:, ~apart][..., :3], 1e-6)
    assert_close(found[:, ~apart][..., 3].exp(), expected[:, ~apart][..., 3].exp(), 1e-6)


def test_the_network_equals_the_authors() -> None:
    network = ours()
    found = network(EXAMPLE.features, pairwise_features(EXAMPLE.momenta), valid=REAL)
    assert_close(found, EXAMPLE.logits, 1e-6)
    assert EXAMPLE.logits.std(dim=0).min() > 1e-3
    assert (found - network(EXAMPLE.features, valid=REAL)).abs().max() > 1e-2
