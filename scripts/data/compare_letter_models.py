"""Train the models that lecture 10 compares, with five seeds: course_lib/data/letter_models.json.

    OMP_NUM_THREADS=1 python scripts/data/compare_letter_models.py

Two subjects. *Letters*: single letters, conditioned on the letter, by autoencoders with 2, 8 and 32
latents and by VAEs with 32 latents and two betas, all for the same number of steps; one VAE is
trained for twice as many. *Typefaces*: the VAE of course_lib.models.typefaces, for fewer steps than
the bundled one, and that one. Noise is set on the validation side; the test side decides nothing.
For the bundled VAE the posteriors of the test side are also refined, by gradient ascent on the ELBO
from the encoder's.

Nats are means over the pictures of a letter. Samples are decoded from the prior, or from Gaussians
fitted to the codes of the training side (``ways_to_draw``). "legible" is the share of samples that
a classifier reads as the right letter; "grey" is the sum of 4x(1 - x) over that of x, for pixels x
in [0, 1]; "nearest" is the mean distance of a sampled code to the nearest training code, after
whitening.
"""

import json
import math
import time
from collections.abc import Callable
from functools import partial

import torch
from provenance import provenance
from torch import Tensor, nn
from torch.nn import functional as F
from train_typefaces import BETA, D_Z, train

from course_lib.autoencoder import VAE, Autoencoder, elbo, kl_to_standard_normal
from course_lib.models.stored import DATA
from course_lib.models.typefaces import (
    LETTERS,
    PIXELS,
    SIDES,
    SIZE,
    ink_distance,
    load_typeface_vae,
    load_typefaces,
)

RESULTS = DATA / "letter_models.json"
SEEDS, RATE = 5, 2e-3
TYPEFACE_STEPS = 4000
LETTER_STEPS, LETTER_BATCH = 3000, 128
READER_STEPS, READER_ACCURACY = 900, 0.95
DRAWS, REFINEMENTS = 200, 150
ALPHABET = len(LETTERS)

TYPEFACES = {side: load_typefaces().where(side).picture.flatten(1) for side in SIDES}
PICTURES = {
    side: (x.reshape(-1, PIXELS), torch.arange(ALPHABET).repeat(len(x)))
    for side, x in TYPEFACES.items()
}


def descend(
    parameters: object, loss: Callable[[], Tensor], *, steps: int, rate: float, decay: float
) -> None:
    """AdamW with a cosine; ``loss()`` draws its own batch."""
    descent = torch.optim.AdamW(parameters, lr=rate, weight_decay=decay, fused=True)
    plan = torch.optim.lr_scheduler.CosineAnnealingLR(descent, steps)
    for _ in range(steps):
        value = loss()
        descent.zero_grad()
        value.backward()
        descent.step()
        plan.step()


def trained_reader() -> nn.Module:
    """A small convolutional classifier of letters, trained on the training families only."""
    torch.manual_seed(0)
    reader = nn.Sequential(
        nn.Unflatten(-1, (1, SIZE, SIZE)),
        nn.Conv2d(1, 16, 5, stride=2, padding=2),
        nn.SiLU(),
        nn.Conv2d(16, 32, 5, stride=2, padding=2),
        nn.SiLU(),
        nn.Flatten(),
        nn.Linear(32 * (SIZE // 4) ** 2, 128),
        nn.SiLU(),
        nn.Dropout(0.3),
        nn.Linear(128, ALPHABET),
    )
    x, letter = PICTURES["train"]

    def loss() -> Tensor:
        chosen = torch.randint(len(x), (128,))
        noisy = x[chosen] + 0.1 * torch.randn(128, PIXELS)
        return F.cross_entropy(reader(noisy), letter[chosen])

    descend(reader.parameters(), loss, steps=READER_STEPS, rate=1e-3, decay=0.01)
    return reader.eval()


def accuracy(reader: nn.Module, x: Tensor, letter: Tensor) -> float:
    """The share of pictures that are classified correctly."""
    with torch.no_grad():
        said = torch.cat([reader(some).argmax(-1) for some in x.clamp(0, 1).split(1024)])
    return (said == letter).float().mean().item()


def greyness(x: Tensor) -> float:
    """Sum of 4x(1 - x) over the ink: 0 for black and white."""
    x = x.clamp(0, 1)
    return ((4 * x * (1 - x)).sum() / x.sum()).item()


def gaussian_like(codes: Tensor, count: int) -> Tensor:
    """Draws from the Gaussian with the mean and the covariance of the codes."""
    spread = torch.linalg.cholesky(codes.T.cov() + 1e-6 * torch.eye(codes.shape[1]))
    return codes.mean(0) + torch.randn(count, codes.shape[1]) @ spread.T


def calibrated(model: VAE, x: Tensor, letter: Tensor) -> None:
    """Set the noise to the mean squared error of reconstructions of ``x``."""
    torch.manual_seed(0)
    with torch.no_grad():
        mean, log_variance = model.encode(x, letter)
        z = mean + (log_variance / 2).exp() * torch.randn_like(mean)
        model.log_noise_variance.copy_((x - model.decode(z, letter)).square().mean().log())


def bound(model: VAE, mean: Tensor, log_variance: Tensor, x: Tensor, *, draws: int) -> Tensor:
    """The ELBO of each alphabet with the given posteriors."""
    deviation, total = (log_variance / 2).exp(), torch.zeros(len(x))
    for _ in range(draws):
        z = mean + deviation * torch.randn_like(mean)
        total = total + model.log_likelihood(x, z)
    return total / draws - kl_to_standard_normal(mean, log_variance)


def refined(model: VAE, x: Tensor) -> dict[str, float]:
    """ELBO of x in nats a letter: by the encoder, with one factor for its variances, and refined.

    Refined: gradient ascent of mean and variance of each posterior from the encoder's.
    """
    torch.manual_seed(0)
    with torch.no_grad():
        held = TYPEFACES["validation"]
        clouds, own = model.encode(held), model.encode(x)
        shrink = max(
            (-k * math.log(2) for k in range(9)),
            key=lambda k: bound(model, clouds[0], clouds[1] + k, held, draws=4).mean().item(),
        )
        encoded = bound(model, *own, x, draws=8).mean().item()
        shrunk = bound(model, own[0], own[1] + shrink, x, draws=8).mean().item()
    mean, log_variance = own[0].clone().requires_grad_(), (own[1] + shrink).requires_grad_()
    for parameter in model.parameters():
        parameter.requires_grad_(requires_grad=False)
    descend(
        [mean, log_variance],
        lambda: -bound(model, mean, log_variance, x, draws=1).sum(),
        steps=REFINEMENTS,
        rate=0.05,
        decay=0.0,
    )
    with torch.no_grad():
        best = bound(model, mean, log_variance, x, draws=8).mean().item()
        better = (x - model.decode(mean)).square().mean().item()
    return {
        "encoder": encoded / ALPHABET,
        "variance_factor": math.exp(shrink),
        "shrunk": shrunk / ALPHABET,
        "refined": best / ALPHABET,
        "refined_error": better,
    }


def ink_error(drawn: Tensor, x: Tensor) -> float:
    """The mean ink distance of each drawing to its own original."""
    pairs = zip(drawn.clamp(0, 1), x, strict=True)
    return sum(ink_distance(a[None], b[None]).item() for a, b in pairs) / len(x)


def typeface_row(reader: nn.Module, kind: str, d_z: int, beta: float | None, seed: int) -> dict:
    """Train one network of whole typefaces, as train_typefaces.py does, and measure it."""
    model, _ = train(TYPEFACE_STEPS, beta, value=seed)
    return {"subject": "typefaces", "kind": kind, "beta": beta, "d_z": d_z, "seed": seed} | (
        typeface_figures(reader, model)
    )


def typeface_figures(reader: nn.Module, model: VAE) -> dict:
    """Measurements of a network of whole typefaces on unseen families."""
    torch.manual_seed(0)
    row: dict = {}
    with torch.no_grad():
        for side in ("validation", "test"):
            x = TYPEFACES[side]
            drawn = model.decode(model.encode(x)[0])
            row[side] = {"error": (x - drawn).square().mean().item(), "ink": ink_error(drawn, x)}
            parts = elbo(model, x, samples=8)
            row[side] |= {
                "elbo": parts.value.mean().item() / ALPHABET,
                "kl": parts.kl.mean().item() / ALPHABET,
            }
        codes = model.encode(TYPEFACES["train"])[0]
        ways = {"fitted": gaussian_like(codes, DRAWS), "prior": torch.randn(DRAWS, D_Z)}
        for way, z in ways.items():
            drawn = model.decode(z)
            cover = ink_distance(TYPEFACES["test"], drawn).min(1).values
            row[way] = {
                "legible": accuracy(
                    reader, drawn.reshape(-1, PIXELS), torch.arange(ALPHABET).repeat(DRAWS)
                ),
                "grey": greyness(drawn),
                "nearest_draw": cover.mean().item(),
            }
    return row


def trained_letters(d_z: int, beta: float | None, seed: int, steps: int) -> VAE | Autoencoder:
    """A network of single letters: a VAE, or without a beta an autoencoder."""
    torch.manual_seed(seed)
    x, letter = PICTURES["train"]
    if beta is None:
        model: VAE | Autoencoder = Autoencoder(PIXELS, d_z, condition=ALPHABET)
    else:
        model = VAE(PIXELS, d_z, condition=ALPHABET, noise_variance=0.02)

    def loss() -> Tensor:
        chosen = torch.randint(len(x), (LETTER_BATCH,))
        some, told = x[chosen], letter[chosen]
        if beta is None:
            return (some - model(some, told)).square().mean()
        return -elbo(model, some, told, beta=beta).value.mean() / PIXELS

    descend(model.parameters(), loss, steps=steps, rate=RATE, decay=0.01)
    return model


def ways_to_draw(codes: Tensor, told: Tensor) -> dict[str, Tensor]:
    """Random codes, one for each letter in ``told``, of the prior and of fitted Gaussians.

    *fitted*: one Gaussian for the codes of all letters. *fitted_each*: one for each letter. Between
    them are Gaussians with only the means or only the covariances of each letter: *own_means* with
    the covariance about them, averaged over the letters, and *own_shapes* about the mean of all.
    *neither* has that average about the mean of all.
    """
    letter = PICTURES["train"][1]
    middle = codes.mean(0)
    centres = torch.stack([codes[letter == k].mean(0) for k in range(ALPHABET)])
    within = codes - centres[letter]
    shaped = torch.empty(len(told), codes.shape[1])
    for k in range(ALPHABET):
        shaped[told == k] = gaussian_like(within[letter == k], int((told == k).sum()))
    averaged = gaussian_like(within, len(told))
    return {
        "prior": torch.randn(len(told), codes.shape[1]),
        "fitted": gaussian_like(codes, len(told)),
        "fitted_each": centres[told] + shaped,
        "own_means": centres[told] + averaged,
        "own_shapes": middle + shaped,
        "neither": middle + averaged,
    }


def letter_row(
    reader: nn.Module,
    kind: str,
    d_z: int,
    beta: float | None,
    seed: int,
    *,
    steps: int = LETTER_STEPS,
) -> dict:
    """Train one network of single letters and measure it."""
    model = trained_letters(d_z, beta, seed, steps)
    row: dict = {"subject": "letters", "kind": kind, "beta": beta, "d_z": d_z, "seed": seed}
    row["steps"] = steps
    told = torch.arange(ALPHABET).repeat(DRAWS // 5)
    x, letter = PICTURES["train"]
    with torch.no_grad():
        if beta is not None:
            calibrated(model, *PICTURES["validation"])
            for side in ("validation", "test"):
                parts = elbo(model, *PICTURES[side], samples=4)
                row[side] = {"elbo": parts.value.mean().item(), "kl": parts.kl.mean().item()}
            codes = model.encode(x, letter)[0]
        else:
            codes = model.encode(x, letter)
            for side in ("validation", "test"):
                pictures, which = PICTURES[side]
                error = (pictures - model(pictures, which)).square().mean().item()
                row[side] = {"error": error}
        spread = codes.T.cov() + 1e-6 * torch.eye(d_z)
        whiten = torch.linalg.inv(torch.linalg.cholesky(spread)).T
        for way, z in ways_to_draw(codes, told).items():
            drawn = model.decode(z, told)
            nearest = torch.cdist(z @ whiten, codes @ whiten).min(1).values
            row[way] = {
                "legible": accuracy(reader, drawn, told),
                "grey": greyness(drawn),
                "nearest": nearest.mean().item(),
            }
    return row


def main() -> None:
    """Train every kind with every seed, and write the results after each."""
    torch.set_num_threads(1)
    began = time.process_time()
    reader = trained_reader()
    read = {side: accuracy(reader, *PICTURES[side]) for side in SIDES}
    if read["validation"] < READER_ACCURACY:
        raise RuntimeError(
            f"the classifier reads {read['validation']:.3f} of the validation letters; expected "
            f"{READER_ACCURACY} or more, so that legible means something; train it for longer"
        )
    bundled = load_typeface_vae()[0]
    measured = provenance() | {
        "steps": {"typefaces": TYPEFACE_STEPS, "letters": LETTER_STEPS, "reader": READER_STEPS},
        "optimizer": {"name": "AdamW", "rate": RATE},
        "read": read,
        "grey": greyness(TYPEFACES["test"]),
    }
    measured["bundled"] = typeface_figures(reader, bundled) | {
        "refinement": refined(bundled, TYPEFACES["test"])
    }
    measured["rows"] = []
    kinds: list[tuple[Callable[..., dict], str, int, float | None]] = [
        (letter_row, "autoencoder", 2, None),
        (letter_row, "autoencoder", 8, None),
        (letter_row, "autoencoder", 32, None),
        (letter_row, "vae", 32, 1),
        (letter_row, "vae", 32, 8),
        (typeface_row, "vae", D_Z, BETA),
    ]
    jobs = [
        partial(row_of, reader, *kind, seed) for row_of, *kind in kinds for seed in range(SEEDS)
    ]
    jobs.append(partial(letter_row, reader, "vae", 32, 1, 0, steps=2 * LETTER_STEPS))
    for job in jobs:
        measured["rows"].append(job())
        measured["seconds"] = round(time.process_time() - began)
        RESULTS.write_text(json.dumps(measured, indent=1) + "\n")
        print(measured["seconds"], "s:", json.dumps(measured["rows"][-1]), flush=True)


if __name__ == "__main__":
    main()
