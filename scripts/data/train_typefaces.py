"""Train the VAE of whole typefaces that lecture 10 draws with: course_lib/data/typeface_vae.npz.

    OMP_NUM_THREADS=1 python scripts/data/train_typefaces.py

On one core; the file contains the time. The noise of a pixel is kept near the validation error, and
set to it exactly at the end: on the training side it would keep falling as the model overfits. The
divergence has the factor BETA, since the errors of the 20,384 pixels of a typeface are correlated,
and less informative than independent ones; the ELBO that is reported has the factor 1. At the end
the codes are scaled to fit their prior. The test side is used once, at the end.
"""

import argparse
import json
import math
import time
from functools import partial

import numpy as np
import torch
from torch import Tensor

from course_lib.autoencoder import VAE, elbo
from course_lib.models.stored import DATA
from course_lib.models.typefaces import SIDES, load_typefaces, typeface_vae
from course_lib.support.training import fit, parameter_count, seed, warmed_up

SEED, D_Z, BATCH, STEPS, BETA = 0, 16, 16, 10_000, 32
NOISE_VARIANCE = 0.007
LEARNING_RATE, WEIGHT_DECAY = 2e-3, 0.02
REPORT = 2000
DRAWS = 16  # from each posterior, for the final numbers


def bound(model: VAE, x: Tensor, *, draws: int = 1) -> dict[str, float]:
    """The ELBO and its parts in nats, the mean over typefaces."""
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        # A few typefaces at a time: an alphabet has 20,384 pixels, once for each draw.
        parts = [
            torch.stack(elbo(model, few, samples=draws, generator=generator)) for few in x.split(32)
        ]
    value, reconstruction, kl = torch.cat(parts, dim=1).mean(dim=1).tolist()
    return {"elbo": value, "reconstruction": reconstruction, "kl": kl}


def calibrate(model: VAE, x: Tensor) -> None:
    """Set the noise to its best value for ``x``: the mean squared error of a pixel."""
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        mean, log_variance = model.encode(x)
        noise = torch.randn(mean.shape, generator=generator)
        drawn = model.decode(mean + (log_variance / 2).exp() * noise)
        model.log_noise_variance.copy_((x - drawn).square().mean().log())


def standardize(model: VAE, x: Tensor) -> None:
    """Standardize the aggregate posterior to mean 0 and variance 1 in each code, as the prior.

    Encoder and decoder compensate, so that no picture changes; among all shifts and scales of a
    code, this one has the least divergence.
    """
    with torch.no_grad():
        mean, log_variance = model.encode(x)
        centre = mean.mean(dim=0)
        scale = ((mean - centre).square() + log_variance.exp()).mean(dim=0).sqrt()
        code, decoder = model.encoder.code, model.decoder
        code.weight[:D_Z] /= scale[:, None]
        code.bias[:D_Z] = (code.bias[:D_Z] - centre) / scale
        code.bias[D_Z:] -= 2 * scale.log()
        decoder.letter += decoder.style @ centre
        decoder.style *= scale


def train(steps: int, beta: float, *, value: int = SEED) -> tuple[VAE, float]:
    """The model of that seed, and the seconds of processor time that it took."""
    seed(value)
    typefaces = load_typefaces()
    x, held = (typefaces.where(side).picture.flatten(1) for side in ("train", "validation"))
    model = typeface_vae(D_Z)
    with torch.no_grad():
        model.log_noise_variance.fill_(math.log(NOISE_VARIANCE))
    model.log_noise_variance.requires_grad_(requires_grad=False)
    start = time.process_time()

    def report(step: int, _: float) -> None:
        if not (step + 1) % REPORT:
            model.eval()
            nats = bound(model, held)["elbo"]
            seconds = time.process_time() - start
            print(f"{step + 1} steps, {seconds:.0f} s: validation {nats:.0f} nats", flush=True)
            model.train()

    fit(
        model,
        lambda model, few: -elbo(model, few, beta=beta).value.mean() / x.shape[1],
        (x[torch.randint(len(x), (BATCH,))] for _ in range(steps)),
        steps=steps,
        learning_rate=LEARNING_RATE,
        optimizer=partial(torch.optim.AdamW, weight_decay=WEIGHT_DECAY),
        schedule=warmed_up,
        progress=False,
        callback=report,
    )
    model.eval()
    calibrate(model, held)
    standardize(model, x)
    return model, time.process_time() - start


def main() -> None:
    """Train, write the weights, and print the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--beta", type=float, default=BETA)
    given = parser.parse_args()
    torch.set_num_threads(1)
    model, seconds = train(given.steps, given.beta)
    # Stored weights are rounded, so the numbers are those of the rounded model.
    half = {name: value.half() for name, value in model.state_dict().items()}
    model.load_state_dict(half)
    typefaces = load_typefaces()
    figures = {
        side: bound(model, typefaces.where(side).picture.flatten(1), draws=DRAWS) for side in SIDES
    }
    about = {
        "command": "OMP_NUM_THREADS=1 python scripts/data/train_typefaces.py "
        f"--steps {given.steps} --beta {given.beta:g}",
        "beta": given.beta,
        "seed": SEED,
        "d_z": D_Z,
        "steps": given.steps,
        "seconds": round(seconds),
        "torch": torch.__version__,
        "parameters": {
            "encoder": parameter_count(model.encoder),
            "decoder": parameter_count(model.decoder),
        },
        "draws": DRAWS,
        "elbo": figures,
    }
    arrays = {name: value.numpy() for name, value in half.items()}
    np.savez_compressed(DATA / "typeface_vae.npz", about=np.array(json.dumps(about)), **arrays)
    print(json.dumps(about, indent=2))


if __name__ == "__main__":
    main()
