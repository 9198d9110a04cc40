"""JetExplorer: a small one, what it displays, and what course_lib says it should."""

import torch
from torch import Tensor

from course_lib.particle_transformer import ParticleTransformer


def attention_weights_of(model: ParticleTransformer, features: Tensor, pairs: Tensor) -> Tensor:
    """How much each particle looks at each: layers, jets, heads, queries, keys."""
    weights = []
    hooks = [
        block.attention.register_forward_pre_hook(
            lambda attention, inputs, given: weights.append(attention.weights(*inputs, **given)),
            with_kwargs=True,
        )
        for block in model.blocks
    ]
    model(features, pairs)
    for hook in hooks:
        hook.remove()
    return torch.stack(weights)


def make():
    return make_small("JetExplorer")


def displayed(widget): ...
