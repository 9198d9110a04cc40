"""Particle Transformer against its authors' code, and the symmetries that particles have."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from seeded import assert_close, perturbed, randn, randomized
from torch import Tensor

from course_lib.jets import PAIR_FEATURES, pairwise_features
from course_lib.particle_transformer import (
    ClassAttentionBlock,
    ParticleAttentionBlock,
    ParticleTransformer,
)

EXAMPLE = Path(__file__).with_name("weaver_example.npz")
EPSILON = 1e-5  # what PyTorch's batch norm adds to a variance
BLOCK = {
    "pre_attn_norm": "norm",
    "attn.out_proj": "attention.output",
    "post_attn_norm": "attended.0",
    "pre_fc_norm": "mlp.0",
    "fc1": "mlp.1",
    "post_fc_norm": "mlp.4",
    "fc2": "mlp.5",
}


# The authors' network ---------------------------------------------------------------------------


def theirs() -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """What they were given and what they answer, and their parameters by name, all in float64."""
    with np.load(EXAMPLE) as stored:
        assert str(stored["version"]) == "0.5.3"
        layout, flat = json.loads(str(stored["layout"])), torch.from_numpy(stored["parameters"])
        names = ("momenta", "features", "real", "logits", "pairs", "block")
        example = {name: torch.from_numpy(stored[name]) for name in names}
    sizes = [int(np.prod(shape)) for shape in layout.values()]
    parts = flat.double().split(sizes)
    state = {
        name: part.reshape(shape) for (name, shape), part in zip(layout.items(), parts, strict=True)
    }
    return example, state


def affine(state: dict[str, Tensor], norm: str) -> tuple[Tensor, Tensor]:
    """A batch norm at inference is x times the first plus the second."""
    scale = state[f"{norm}.weight"] / (state[f"{norm}.running_var"] + EPSILON).sqrt()
    return scale, state[f"{norm}.bias"] - scale * state[f"{norm}.running_mean"]


def block(state: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """The parameters of one of their blocks under our names."""
    found = {
        f"{ours}.{part}": state[f"{prefix}.{name}.{part}"]
        for name, ours in BLOCK.items()
        for part in ("weight", "bias")
    }
    for part in ("weight", "bias"):
        chunks = state[f"{prefix}.attn.in_proj.{part}"].chunk(3)
        for name, chunk in zip(("query", "key", "value"), chunks, strict=True):
            found[f"attention.{name}.{part}"] = chunk
    return found


def ours(state: dict[str, Tensor]) -> ParticleTransformer:
    """Our network with their parameters, their batch norms at inference among them."""
    columns = [2, 0, 1, 3]  # ours are ln Δ, ln kT, ln z, ln m²
    found = {"class_token": state["cls_token"][0]}
    scale, shift = affine(state, "embed.input_bn")
    found |= {"standard.scale": 1 / scale, "standard.mean": -shift / scale}
    scale, shift = (value[columns] for value in affine(state, "pair_embed.embed.0"))
    found |= {"standard_pairs.scale": 1 / scale, "standard_pairs.mean": -shift / scale}
    for part in ("weight", "bias"):
        for n in (0, 1, 3, 4):
            found[f"embed.{n}.{part}"] = state[f"embed.embed.{n}.{part}"]
        found |= {f"read.0.{part}": state[f"norm.{part}"], f"read.1.{part}": state[f"fc.0.{part}"]}
    for n, layer in enumerate((1, 4, 7)):
        scale, shift = affine(state, f"pair_embed.embed.{layer + 1}")
        weight = state[f"pair_embed.embed.{layer}.weight"][..., 0]
        weight = weight[:, columns] if n == 0 else weight
        found[f"embed_pairs.{2 * n}.weight"] = scale[:, None] * weight
        found[f"embed_pairs.{2 * n}.bias"] = scale * state[f"pair_embed.embed.{layer}.bias"] + shift
    for n in range(2):
        found |= {f"blocks.{n}.{k}": v for k, v in block(state, f"blocks.{n}").items()}
    found |= {f"class_blocks.0.{k}": v for k, v in block(state, "cls_blocks.0").items()}
    network = ParticleTransformer(5, 8, 2, 2, 1, d_pair=4).double()
    network.load_state_dict(found)
    return network.eval()


EXAMPLE_GIVEN, PARAMETERS = theirs()
MOMENTA = EXAMPLE_GIVEN["momenta"].mT.roll(1, dims=-1)
FEATURES, REAL = EXAMPLE_GIVEN["features"].mT, EXAMPLE_GIVEN["real"]


def test_pairwise_features_are_those_of_the_authors() -> None:
    kt, z, delta, mass = EXAMPLE_GIVEN["pairs"].unbind(1)
    expected = torch.stack([delta, kt, z, mass], dim=-1)
    found = pairwise_features(MOMENTA)
    apart = ~torch.eye(expected.shape[1], dtype=torch.bool)
    assert_close(found[:, apart], expected[:, apart], 1e-6)
    # Of a particle and itself both distances are 0, and the mass is twice its own.
    assert_close(found[:, ~apart][..., :3], expected[:, ~apart][..., :3], 1e-6)
    assert_close(found[:, ~apart][..., 3].exp(), expected[:, ~apart][..., 3].exp(), 1e-6)


def test_a_block_is_that_of_the_authors() -> None:
    network = ours(PARAMETERS)
    embedded = network.embed(network.standard(FEATURES))
    bias = network.bias(pairwise_features(MOMENTA), like=embedded)
    found = network.blocks[0](embedded, mask=REAL[:, None, None, :], bias=bias)
    assert_close(found[REAL], EXAMPLE_GIVEN["block"][REAL], 1e-6)


def test_the_network_is_that_of_the_authors() -> None:
    network = ours(PARAMETERS)
    found = network(FEATURES, pairwise_features(MOMENTA), real=REAL)
    assert_close(found, EXAMPLE_GIVEN["logits"], 1e-6)
    assert EXAMPLE_GIVEN["logits"].std(dim=0).min() > 1e-3
    assert (found - network(FEATURES, real=REAL)).abs().max() > 1e-2
