"""Outputs and parameters of the authors' Particle Transformer, to compare with ours.

The file comes from ``weaver-core`` 0.5.3; ``data/weaver_example.md`` says how it was made.
Source: Qu, Li and Qian (2022).
"""

import json
import math
from typing import NamedTuple

from jaxtyping import Bool, Float
from torch import Tensor

from course_lib.models.stored import contents

VERSION = "0.5.3"
COLUMNS = [2, 0, 1, 3]  # theirs are ln kT, ln z, ln Δ, ln m², ours ln Δ, ln kT, ln z, ln m²
EPSILON = 1e-5  # what PyTorch's batch norm adds to a variance
ENDS = ("weight", "bias")
BLOCK = {
    "pre_attn_norm": "norm",
    "attn.out_proj": "attention.output",
    "post_attn_norm": "attended.0",
    "pre_fc_norm": "mlp.0",
    "fc1": "mlp.1",
    "post_fc_norm": "mlp.4",
    "fc2": "mlp.5",
}


class WeaverExample(NamedTuple):
    """Two jets as inputs of our network, and the outputs of the authors', in float64."""

    momenta: Float[Tensor, "jets particles 4"]
    features: Float[Tensor, "jets particles features"]
    valid: Bool[Tensor, "jets particles"]
    pairs: Float[Tensor, "jets particles particles 4"]
    block: Float[Tensor, "jets particles d_model"]
    logits: Float[Tensor, "jets classes"]


def load_weaver_example() -> tuple[WeaverExample, dict[str, Tensor]]:
    """Inputs and outputs of the authors' network, and its parameters under our names.

    ``block`` is the output of its first block. The parameters fit ``ParticleTransformer(5, 8, 2, 2,
    1, d_pair=4)`` in float64.
    """
    found = contents("weaver_example.npz")
    if found["version"] != VERSION:
        raise ValueError(
            f"weaver_example.npz is of weaver-core {found['version']}; expected {VERSION}, whose "
            "names are mapped here; make it again with scripts/data/make_weaver_example.py"
        )
    layout, flat = json.loads(found["layout"]), found["parameters"]
    given = {name: found[name] for name in WeaverExample._fields}
    given |= {
        "momenta": given["momenta"].mT.roll(1, dims=-1),  # theirs end with E
        "features": given["features"].mT,
        "pairs": given["pairs"][:, COLUMNS].movedim(1, -1),
    }
    parts = flat.double().split([math.prod(shape) for shape in layout.values()])
    state = {
        name: part.reshape(shape) for (name, shape), part in zip(layout.items(), parts, strict=True)
    }
    return WeaverExample(**given), _renamed(state)


def _renamed(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """Their parameters under our names, with batch norms as affine maps."""
    found = {"class_token": state["cls_token"][0]}
    for ours, norm, order in (
        ("standard", "embed.input_bn", slice(None)),
        ("standard_pairs", "pair_embed.embed.0", COLUMNS),
    ):
        scale, shift = (value[order] for value in _affine(state, norm))
        found |= {f"{ours}.scale": 1 / scale, f"{ours}.mean": -shift / scale}
    for n, layer in enumerate((1, 4, 7)):
        scale, shift = _affine(state, f"pair_embed.embed.{layer + 1}")
        weight = state[f"pair_embed.embed.{layer}.weight"][..., 0]
        weight = weight[:, COLUMNS] if n == 0 else weight
        found[f"embed_pairs.{2 * n}.weight"] = scale[:, None] * weight
        found[f"embed_pairs.{2 * n}.bias"] = scale * state[f"pair_embed.embed.{layer}.bias"] + shift
    for end in ENDS:
        for n in (0, 1, 3, 4):
            found[f"embed.{n}.{end}"] = state[f"embed.embed.{n}.{end}"]
        found |= {f"read.0.{end}": state[f"norm.{end}"], f"read.1.{end}": state[f"fc.0.{end}"]}
    blocks = {f"blocks.{n}": f"blocks.{n}" for n in range(2)} | {"class_blocks.0": "cls_blocks.0"}
    for ours, theirs in blocks.items():
        found |= {f"{ours}.{name}": value for name, value in _block(state, theirs).items()}
    return found


def _block(state: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    found = {
        f"{ours}.{end}": state[f"{prefix}.{theirs}.{end}"]
        for theirs, ours in BLOCK.items()
        for end in ENDS
    }
    for end in ENDS:
        chunks = state[f"{prefix}.attn.in_proj.{end}"].chunk(3)
        for role, chunk in zip(("query", "key", "value"), chunks, strict=True):
            found[f"attention.{role}.{end}"] = chunk
    return found


def _affine(state: dict[str, Tensor], norm: str) -> tuple[Tensor, Tensor]:
    """A batch norm at inference is x times the first plus the second."""
    scale = state[f"{norm}.weight"] / (state[f"{norm}.running_var"] + EPSILON).sqrt()
    return scale, state[f"{norm}.bias"] - scale * state[f"{norm}.running_mean"]
