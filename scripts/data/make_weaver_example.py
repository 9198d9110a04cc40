"""Run the authors' Particle Transformer on two jets; write course_lib/data/weaver_example.npz.

    pip download --no-deps weaver-core==0.5.3
    python -m zipfile -e weaver_core-0.5.3-py3-none-any.whl elsewhere
    PYTHONPATH=.:elsewhere python scripts/data/make_weaver_example.py

Only this file of their package is needed, without its dependencies. The output contains momenta and
features of the jets, all parameters of a small network with random numbers added to them, and its
outputs, computed in float64: the logits, the pairwise features and the output of the first block.
`parameters` is one vector, `layout` contains names and shapes. tests/library/test_models_weaver.py
compares ours.
"""

import json

import numpy as np
import torch

from course_lib.jets import particle_features
from course_lib.models.stored import DATA
from course_lib.models.tagging import load_jets

TARGET = DATA / "weaver_example.npz"
VERSION = "0.5.3"
JETS, PARTICLES, CLASSES = 2, 10, 5
D_MODEL, HEADS, LAYERS, CLASS_LAYERS, D_PAIR = 8, 2, 2, 1, 4


def main() -> None:
    """Run their network once, in evaluation mode."""
    from weaver.nn.model.ParticleTransformer import ParticleTransformer, pairwise_lv_fts_pp

    jets = load_jets().test[:JETS].hardest(PARTICLES)
    momenta, features = jets.momenta.roll(-1, dims=-1).mT, particle_features(jets).double().mT
    valid = jets.valid.clone()
    valid[1, 7:] = False  # three masked particles
    torch.manual_seed(0)
    same_block = {"scale_heads": False, "scale_resids": False}
    network = ParticleTransformer(
        features.shape[1],
        CLASSES,
        embed_dims=(2 * D_MODEL, D_MODEL),
        pair_embed_dims=(D_PAIR, D_PAIR),
        num_heads=HEADS,
        num_layers=LAYERS,
        num_cls_layers=CLASS_LAYERS,
        block_params=same_block,
        cls_block_params=same_block,
        trim=False,
    )
    with torch.no_grad():
        for name, value in network.state_dict().items():
            if value.is_floating_point():
                noise = torch.randn_like(value)
                # Variances must stay positive.
                value.add_(noise.abs() if name.endswith("running_var") else noise)
    network = network.double().eval()
    answer = {
        "logits": network(features, v=momenta, mask=valid[:, None]),
        "pairs": pairwise_lv_fts_pp(momenta[..., :, None], momenta[..., None, :]),
        "block": network.blocks[0](
            network.embed(features),
            padding_mask=~valid,
            attn_mask=network.pair_embed(momenta, mask=valid[:, None]),
        ),
    }
    state = {name: value.float() for name, value in network.state_dict().items() if value.dim()}
    np.savez_compressed(
        TARGET,
        version=np.array(VERSION),
        command=np.array("PYTHONPATH=.:elsewhere python scripts/data/make_weaver_example.py"),
        momenta=momenta.numpy(),
        features=features.numpy(),
        valid=valid.numpy(),
        **{name: value.detach().numpy() for name, value in answer.items()},
        parameters=torch.cat([value.flatten() for value in state.values()]).numpy(),
        layout=np.array(json.dumps({name: value.shape for name, value in state.items()})),
    )
    print(f"{TARGET}: {TARGET.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
