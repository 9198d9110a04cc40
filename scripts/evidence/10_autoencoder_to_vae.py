"""Evidence of lecture 10: drawn letters, comparisons in nats and in ink, and new typefaces.

    python scripts/evidence/10_autoencoder_to_vae.py [experiment ...]

The networks of ``letters_read`` and ``seeds`` were trained by
``scripts/data/compare_letter_models.py``.
"""

import json
import math
import sys
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
import torch
from scipy.stats import chi2
from sklearn.mixture import GaussianMixture
from torch import Tensor
from torch.nn import functional as F

from course_lib.autoencoder import (
    VAE,
    elbo,
    importance_bound,
    redrawn_by_linear_vae,
    reparameterize,
)
from course_lib.models.stored import DATA
from course_lib.models.typefaces import (
    LETTERS,
    SIDES,
    ink_distance,
    load_typeface_vae,
    load_typefaces,
)
from course_lib.support.evidence import Row, compute, experiment
from course_lib.support.training import fit, seed

MEASURED = DATA / "letter_models.json"
NOISES = (0.001, 0.002, 0.003, 0.004, 0.005, 0.006, 0.007, 0.008, 0.01, 0.012)
FINER = (0.0001, 0.0002, 0.0003, 0.0005, *NOISES)
DIMENSIONS, COMPONENTS = (16, 64, 300, 600), (1, 2, 4)
GAINS = (0, 3, 6, 9, 12)
WORDS = {"italic": ("Italic", "Oblique"), "bold": ("Bold",)}
TASKS = {("bold", False): "rb", ("bold", True): "br"}
TASKS |= {("italic", False): "ui", ("italic", True): "iu"}
PLAIN = ("", "Regular", "Roman", "Book")
FOUR = ("JetBrains Mono", "Roboto", "Vollkorn", "STIXGeneral")
Principal = tuple[Tensor, Tensor, Tensor]
Change = Callable[[Tensor], Tensor]
SEEDS = 5
NETWORKS = {f"ae{d_z}": ("autoencoder", None, d_z) for d_z in (2, 8, 32)}
NETWORKS |= {f"vae{beta}": ("vae", beta, 32) for beta in (1, 8)}

typefaces = load_typefaces()
every = typefaces.picture.flatten(1)
alphabets = {side: typefaces.where(side).picture.flatten(1) for side in SIDES}
vae = load_typeface_vae()[0]


@cache
def measured() -> Row:
    """The file that ``scripts/data/compare_letter_models.py`` wrote."""
    return json.loads(MEASURED.read_text(encoding="utf-8"))


def rows_of(subject: str, kind: str, beta: int | None, d_z: int) -> list[Row]:
    """The five seeds of one kind of network, without longer training."""
    found = [
        row
        for row in measured()["rows"]
        if (row["subject"], row["kind"], row["beta"], row["d_z"]) == (subject, kind, beta, d_z)
        and row.get("steps") in {None, measured()["steps"]["letters"]}
    ]
    if len(found) != SEEDS:
        raise ValueError(f"{len(found)} networks are {kind} {beta} {d_z}; expected {SEEDS}")
    return found


# Letters ---------------------------------------------------------------------------------------


def plus_minus(middle: float, error: float, form: str = ".0f") -> str:
    """Format a mean with its spread or its error."""
    return f"{middle:{form}} ± {error:{form.removeprefix('+')}}"


def over_seeds(values: Sequence[float]) -> str:
    """Format the mean over seeds, with the standard deviation."""
    spread = np.std(values, ddof=1)
    return plus_minus(np.mean(values), spread, ".1f" if spread < 1 else ".0f")


@experiment([{"network": name} for name in NETWORKS])
def letters_read(*, network: str) -> Row:
    """Legibility (in %) of letters that five networks draw: means beat covariances."""
    rows, found = rows_of("letters", *NETWORKS[network]), {}
    for way in ("prior", "fitted", "fitted_each", "own_means", "own_shapes", "neither"):
        read = [100 * row[way]["legible"] for row in rows]
        found |= {f"{network}_{way}": read, f"read_{network}_{way}": over_seeds(read)}
        found[f"near_{network}_{way}"] = float(np.mean([row[way]["nearest"] for row in rows]))
    if network.startswith("vae"):
        nats = [row["validation"]["elbo"] for row in rows]
        found |= {f"{network}_nats": nats, f"letter_nats_{network[3:]}": over_seeds(nats)}
        told = [row["validation"]["kl"] for row in rows]
        found[f"letter_kl_{network[3:]}"] = float(np.mean(told))
    return found


@experiment()
def seeds() -> Row:
    """Further results: longer training, the typefaces of five seeds, the model of the page."""
    twice = 2 * measured()["steps"]["letters"]
    [longer] = [row for row in measured()["rows"] if row.get("steps") == twice]
    bundled, found = measured()["bundled"], {}
    for side in ("validation", "test"):
        nats = [row[side]["elbo"] for row in rows_of("typefaces", "vae", 32, 16)]
        found |= {f"typeface_seeds_{side}": over_seeds(nats), f"seeds_{side}": float(np.mean(nats))}
    gap = bundled["refinement"]
    return found | {
        "gap_encoder": gap["encoder"],
        "gap_shrunk": gap["shrunk"],
        "gap_refined": gap["refined"],
        "gap_amortised": gap["refined"] - gap["encoder"],
        "variance_factor": 1 / gap["variance_factor"],
        "longer_nats": longer["validation"]["elbo"],
        "letter_steps": measured()["steps"]["letters"],
        "typeface_steps": measured()["steps"]["typefaces"],
        "read_real": 100 * measured()["read"]["test"],
        "read_prior": 100 * bundled["prior"]["legible"],
        "greyer": bundled["prior"]["grey"] / measured()["grey"],
    }


@experiment([{"steps": 50}, {"steps": 400}], within=0.1)
def one_letter(*, steps: int) -> Row:
    """Prior samples explain no letter, and the score function is far noisier than the pathwise one.

    The VAE of letters has 32 latent dimensions and the noise 0.02; the letter is a test letter.
    """
    generator = seed(0)
    letters = typefaces.where("train").picture.flatten(2).flatten(0, 1)
    which = torch.arange(26).repeat(len(letters) // 26)
    model = VAE(784, 32, condition=26, noise_variance=0.02)
    model.log_noise_variance.requires_grad_(requires_grad=False)
    chosen = torch.randint(len(letters), (steps, 128), generator=generator)
    fit(
        model,
        lambda own, batch: -elbo(own, *batch, generator=generator).value.mean() / 784,
        ((letters[some], which[some]) for some in chosen),
        steps=steps,
        learning_rate=2e-3,
        progress=False,
    )
    place = torch.tensor([6])
    x = typefaces.where("test").picture.flatten(2).flatten(0, 1)[place]

    def explains(z: Tensor) -> Tensor:
        return model.log_likelihood(x.expand(len(z), -1), z, place.expand(len(z)))

    with torch.no_grad():
        mean, log_variance = model.encode(x, place)
        tries = explains(torch.randn(1000, 32, generator=generator))
        single = elbo(model, x, place, generator=generator).value.item()
        noise = torch.randn(4000, 32, generator=generator)
        middle = explains(mean + (log_variance / 2).exp() * noise).mean()
    centre = mean.expand_as(noise).clone().requires_grad_()
    f = explains(reparameterize(centre, log_variance.expand_as(noise), noise=noise))
    through = torch.autograd.grad(f.sum(), centre)[0]
    score = noise / (log_variance / 2).exp()  # ∇ log q
    found = {"short_of": single - (tries.logsumexp(0).item() - math.log(1000))}
    for name, baseline in (("noisier", 0.0), ("noisier_baseline", middle)):
        estimate = (f.detach() - baseline)[:, None] * score
        found[name] = (estimate.var(0) / through.var(0)).mean().item()
    return found | {"which_letter": LETTERS[6]}


@experiment(within=1e-2)
def water() -> Row:
    """The error of a linear VAE along each direction is the reverse water-filling min(λ, βs²)."""
    generator = torch.Generator().manual_seed(0)
    double = {"generator": generator, "dtype": torch.float64}
    variances = torch.tensor([6.0, 3.5, 2.0, 0.9, 0.4, 0.1], dtype=torch.float64)
    draws = torch.randn(100, 6, **double)
    white, _ = torch.linalg.qr(draws - draws.mean(0))
    turned, _ = torch.linalg.qr(torch.randn(6, 6, **double))
    pictures = 10 * white * variances.sqrt() @ turned
    noise = torch.randn(4000, 100, 6, **double)
    pictures = pictures.expand(4000, -1, -1)
    drawn = redrawn_by_linear_vae(pictures, turned.T, variances, 0.6, noise=noise)
    error = ((pictures - drawn) @ turned.T).square().mean((0, 1))
    return {"water": (error / variances.clamp(max=0.6) - 1).abs().max().item()}


@experiment()
def waves() -> Row:
    """For cos ωz the pathwise gradient varies less for slow waves, the score for fast ones."""
    mean, generator = 0.4, torch.Generator().manual_seed(0)
    z = mean + torch.randn(400_000, generator=generator, dtype=torch.float64)
    found = {}
    for name, frequency in (("slow", 0.3), ("fast", 6.0)):
        through = -frequency * (frequency * z).sin()
        score = (frequency * z).cos() * (z - mean)
        found[name] = (through.var() / score.var()).item()
    return found


# Nats ------------------------------------------------------------------------------------------


def principal(pictures: Tensor) -> Principal:
    """Mean, eigenvalues of the covariance and principal directions, largest first."""
    centre = pictures.mean(0)
    off = (pictures - centre).double()
    values, vectors = torch.linalg.eigh(off @ off.T)
    values, vectors = values.flip(0).clamp(min=1e-9), vectors.flip(1)
    directions = (off.T @ vectors) / values.sqrt()
    return centre, (values / len(pictures)).float(), directions.float()


@cache
def fitted() -> Principal:
    """The principal components of whole alphabets."""
    return principal(alphabets["train"])


def pca_nats(found: Principal, pictures: Tensor, q: int, s2: float) -> Tensor:
    """The exact log p(x) of probabilistic PCA with q dimensions and a given noise."""
    centre, values, directions = found
    off = pictures - centre
    along = off @ directions[:, :q]
    kept, d_x = values[:q].clamp(min=s2), off.shape[1]
    rest = off.square().sum(1) - along.square().sum(1)
    logarithms = d_x * math.log(2 * math.pi) + kept.log().sum() + (d_x - q) * math.log(s2)
    return -(logarithms + (along.square() / kept).sum(1) + rest / s2) / 2


def mixture_nats(mixture: GaussianMixture, q: int, side: str, s2: float) -> Tensor:
    """The exact log p(x) of a mixture in q principal directions with noise in the others."""
    centre, _, directions = fitted()
    off = alphabets[side] - centre
    along = off @ directions[:, :q]
    rest, others = off.square().sum(1) - along.square().sum(1), off.shape[1] - q
    inside = torch.from_numpy(mixture.score_samples(along.numpy()))
    return inside - (rest / s2 + others * math.log(2 * math.pi * s2)) / 2


def tuned(nats_of: Callable[[str, float], Tensor], noises: Sequence[float] = NOISES) -> Row:
    """The nats of each picture with the noise that is best on the validation side."""
    s2 = max(noises, key=lambda noise: nats_of("validation", noise).mean().item())
    return {"noise": s2} | {side: nats_of(side, s2) for side in ("validation", "test")}


@cache
def tuned_pca(q: int) -> Row:
    """The nats of probabilistic PCA with q dimensions and the best noise."""
    return tuned(lambda side, s2: pca_nats(fitted(), alphabets[side], q, s2))


def mean_and_error(values: Tensor, side: str = "test") -> list[float]:
    """The mean over typefaces, and its standard error with families as clusters."""
    own = typefaces.where(side).family
    middle, found = values.mean().item(), sorted(set(own))
    off = values - middle
    sums = torch.stack([off[[f == name for f in own]].sum() for name in found])
    scale = math.sqrt(len(found) / (len(found) - 1)) / len(values)
    return [middle, scale * sums.norm().item()]


@cache
def bounds() -> dict[str | int, Tensor]:
    """The VAE's ELBO in nats per letter on both sides, and with more draws on the test side.

    Draws are the same at every call.
    """
    generator, found = torch.Generator().manual_seed(0), {}
    with torch.no_grad():
        for side in ("test", "validation"):
            nats = elbo(vae, alphabets[side], samples=4, generator=generator).value
            found[side] = nats / 26
        for k in (1, 4, 16):
            nats = importance_bound(vae, alphabets["test"], samples=k, generator=generator)
            found[k] = nats / 26
    return found


@experiment(within=2e-2)
def with_sixteen_numbers() -> Row:
    """Sixteen latents and sixteen principal components tie; more draws raise the bound."""
    own, rival, found = bounds(), tuned_pca(16), {}
    for name, nats in ((1, own[1]), (4, own[4]), (16, own[16])):
        found[f"bound_{name}"] = nats.mean().item()
    for side in ("validation", "test"):
        found[f"sixteen_{side}"] = rival[side].mean().item() / 26
        found[f"vae_{side}"] = own[side].mean().item()
    for name, side, nats in (
        ("validation", "validation", own["validation"]),
        ("test", "test", own["test"]),
        ("draws", "test", own[16]),
    ):
        middle, error = mean_and_error(nats - rival[side] / 26, side)
        found |= {f"lead_{name}": plus_minus(middle, error, "+.0f"), f"sure_{name}": middle / error}
    found["nats_VAE, 16: ELBO"] = mean_and_error(own["test"])
    found["nats_VAE, 16: 16 draws"] = mean_and_error(own[16])
    return found | {
        "gap_lead": measured()["bundled"]["refinement"]["refined"] - found["sixteen_test"]
    }


@cache
def tuned_mixture(q: int, components: int) -> Row:
    """The nats of a mixture in q principal directions, with the best noise in the others."""
    along = ((alphabets["train"] - fitted()[0]) @ fitted()[2][:, :q]).numpy()
    mixture = GaussianMixture(components, reg_covar=0.1, random_state=0).fit(along)
    return tuned(lambda side, s2: mixture_nats(mixture, q, side, s2))


@experiment([{"largest": 16}, {"largest": 600}], within=0.1)
def with_more_numbers(*, largest: int) -> Row:
    """PCA with more dimensions beats the VAE; a mixture is hardly better than one normal.

    Noise, dimensions and components are chosen on the validation side.
    """
    tried = [q for q in DIMENSIONS if q <= largest]
    mixtures = {(q, k): tuned_mixture(q, k) for q in tried for k in COMPONENTS}
    best = max(tried, key=lambda q: tuned_pca(q)["validation"].mean())
    q, components = max(mixtures, key=lambda it: mixtures[it]["validation"].mean())
    found = {
        "dimensions_tried": ", ".join(map(str, tried)),
        "dimensions_pca": best,
        "dimensions_mixture": q,
        "components": components,
    }
    for side in ("validation", "test"):
        more = mixtures[q, components][side] - mixtures[q, 1][side]
        found["several" if side == "test" else "several_validation"] = more.mean().item() / 26
    mixed = [mixtures[16, k]["test"] - tuned_pca(16)["test"] for k in COMPONENTS]
    found["sixteen_mixed"] = max(abs(more.mean().item()) / 26 for more in mixed)
    rivals = {f"PCA, {k}": tuned_pca(k) for k in sorted({16, min(64, largest), best})}
    rivals["mixture"] = mixtures[q, components]
    for name, rival in rivals.items():
        found[f"nats_{name}"] = mean_and_error(rival["test"] / 26)
        middle, error = mean_and_error(rival["test"] / 26 - bounds()[16])
        label = "best" if name == f"PCA, {best}" else name.removeprefix("PCA, ")
        found |= {f"behind_{label}": plus_minus(middle, error), f"sure_{label}": middle / error}
    return found


@experiment([{"dimensions": q} for q in (8, 32, 150)], within=2e-2)
def pca_of_each_letter(*, dimensions: int) -> Row:
    """Twenty-six PCAs, one per letter, with the best noise for validation letters."""
    each = [principal(letters) for letters in typefaces.where("train").picture.flatten(2).unbind(1)]

    def nats_of(side: str, s2: float) -> Tensor:
        letters = typefaces.where(side).picture.flatten(2).unbind(1)
        pairs = zip(each, letters, strict=True)
        return torch.stack([pca_nats(found, own, dimensions, s2) for found, own in pairs]).mean(1)

    return {f"letter_pca_{dimensions}": tuned(nats_of, FINER)["validation"].mean().item()}


# Ink -------------------------------------------------------------------------------------------


def contrast(pictures: Tensor, gain: float) -> Tensor:
    """A logistic curve from paper to ink; gain 0 leaves a picture as it is."""
    if not gain:
        return pictures.clamp(0, 1)
    low = 1 / (1 + math.exp(gain / 2))
    return ((torch.sigmoid(gain * (pictures - 0.5)) - low) / (1 - 2 * low)).clamp(0, 1)


def ink_off(drawn: Tensor, real: Tensor) -> Tensor:
    """The ink distance of each drawing to its own original."""
    return (drawn - real).abs().sum(1) / torch.minimum(drawn.sum(1), real.sum(1))


def pca_codec(q: int) -> tuple[Change, Change]:
    """The encoder and the decoder of PCA with q numbers."""
    centre, values, directions = fitted()
    shrink = (1 - tuned_pca(q)["noise"] / values[:q]).clamp(min=0)
    return (
        lambda pictures: (pictures - centre) @ directions[:, :q] * shrink,
        lambda codes: centre + codes @ directions[:, :q].T,
    )


def codecs() -> dict[str, tuple[Change, Change]]:
    """The encoder and the decoder of each method."""
    return {
        "VAE16": (lambda pictures: vae.encode(pictures)[0], vae.decode),
        "PCA16": pca_codec(16),
        "PCA64": pca_codec(64),
        "pixels": (lambda pictures: pictures, lambda pictures: pictures),
    }


def twins(words: Sequence[str], *sides: str) -> Tensor:
    """Pairs of typefaces whose names differ only in one of these words, as two rows of indices."""
    at = {name: place for place, name in enumerate(typefaces.name)}
    pairs = []
    for name, place in at.items():
        for word in set(name.split()) & set(words):
            for plain in PLAIN:
                twin = " ".join(name.replace(word, plain).split())
                if twin in at and typefaces.side[place] in sides:
                    pairs.append((at[twin], place))
    return torch.tensor(pairs).T


def by_family(values: Tensor, places: Sequence[int]) -> np.ndarray:
    """The mean of each family, families in a fixed order."""
    own = np.array([typefaces.family[place] for place in places])
    return np.array([values.double().numpy()[own == name].mean() for name in sorted(set(own))])


def off_by(drawn: Tensor, real: Tensor, places: Sequence[int], *, may_gain: bool) -> np.ndarray:
    """The distance of each family, with the contrast of the least mean distance."""
    gains = GAINS if may_gain else (0,)
    return min(
        (by_family(ink_off(contrast(drawn, gain), real), places) for gain in gains), key=np.mean
    )


def sheared(pictures: Tensor, slope: float, shift: float) -> Tensor:
    """Every letter with its rows moved sideways in proportion to their height."""
    letters = pictures.reshape(-1, 1, 28, 28)
    move = torch.tensor([[1.0, slope, shift], [0.0, 1.0, 0.0]]).expand(len(letters), 2, 3)
    grid = F.affine_grid(move, letters.shape, align_corners=False)
    return F.grid_sample(letters, grid, align_corners=False).reshape(pictures.shape)


def best_shear(known: Tensor) -> tuple[float, float]:
    """The slope and the shift with the least ink distance between the training pairs."""
    tries = [(k / 20, shift) for k in range(-6, 7) if k for shift in (-0.04, 0.0, 0.04)]
    start, end = every[known]

    def off(move: tuple[float, float]) -> float:
        return by_family(ink_off(sheared(start, *move), end), known[0].tolist()).mean()

    return min(tries, key=off)


def steps_added(
    code: Change,
    draw: Change,
    known: Tensor,
    held: Tensor,
    before: Change = lambda pictures: pictures,
) -> Tensor:
    """Held-out alphabets, moved by the mean step of the training families."""
    start, end = before(every[known[0]]), every[known[1]]
    own = [typefaces.family[place] for place in known[0].tolist()]
    weight = torch.tensor([1 / own.count(name) for name in own])
    step = (weight[:, None] * (code(end) - code(start))).sum(0) / weight.sum()
    return draw(code(before(every[held[0]])) + step)


def of_rivals(task: str, off: dict[str, np.ndarray]) -> Row:
    """The ink distance of each method, and its difference from the VAE's."""
    found = {f"families_{task}": len(off["VAE16"])}
    for name, values in off.items():
        error = values.std(ddof=1) / math.sqrt(len(values))
        found[f"off_{task}_{name}"] = values.mean()
        found[f"ink_{task}_{name}"] = [values.mean(), error]
        if name != "VAE16":
            lead = values - off["VAE16"]
            middle, error = lead.mean(), lead.std(ddof=1) / math.sqrt(len(lead))
            said = "ink_lead" if middle > 0 else "behind"
            found[f"{said}_{task}_{name}"] = plus_minus(abs(middle), error, ".3f")
            found[f"sure_{task}_{name}"] = middle / error
    return found


@experiment(within=1e-2)
def drawn_again() -> Row:
    """The ink distance of reconstructed test alphabets: with sixteen numbers PCA and VAE tie."""
    places = [place for place, side in enumerate(typefaces.side) if side == "test"]
    real, off, plain = alphabets["test"], {}, {}
    with torch.no_grad():
        for name in ("VAE16", "PCA16", "PCA64"):
            code, draw = codecs()[name]
            drawn = draw(code(real))
            off[name] = off_by(drawn, real, places, may_gain=name != "VAE16")
            plain[f"plain_{name}"] = float(
                by_family(ink_off(contrast(drawn, 0), real), places).mean()
            )
    return of_rivals("again", off) | plain


@experiment([{"kind": kind, "back": back} for kind in ("bold", "italic") for back in (False, True)])
def step_added(*, kind: str, back: bool) -> Row:
    """The ink distance after adding bold or italic to a held-out typeface, or removing it."""
    known, held = twins(WORDS[kind], "train"), twins(WORDS[kind], "validation", "test")
    if back:
        known, held = known.flip(0), held.flip(0)
    real, places, off, slope = every[held[1]], held[1].tolist(), {}, {}
    with torch.no_grad():
        for name, codec in codecs().items():
            drawn = steps_added(*codec, known, held)
            off[name] = off_by(drawn, real, places, may_gain=name != "VAE16")
        if kind == "italic":
            move = best_shear(known)
            drawn = steps_added(
                *codecs()["pixels"], known, held, lambda pictures: sheared(pictures, *move)
            )
            off["shear"] = off_by(drawn, real, places, may_gain=True)
            slope[f"slope_{TASKS[kind, back]}"] = move[0]
    return of_rivals(TASKS[kind, back], off) | slope


# New typefaces ---------------------------------------------------------------------------------


def code_of(name: str) -> Tensor:
    """The code of one typeface."""
    return vae.encode(typefaces.named(name).reshape(1, -1))[0][0]


@experiment()
def codes_summed() -> Row:
    """The distance of bold − regular + italic, and of each step alone, to the real bold italic."""
    off, alone, side = {}, {}, {}
    with torch.no_grad():
        for name in FOUR:
            regular, bold, italic, truth = (
                code_of(f"{name} {style}") for style in ("Regular", "Bold", "Italic", "Bold Italic")
            )
            off[name] = (bold - regular + italic - truth).norm().item()
            alone[name] = min((bold - truth).norm().item(), (italic - truth).norm().item())
            places = [typefaces.name.index(f"{name} {style}") for style in ("Bold", "Italic")]
            side[name] = {typefaces.side[place] for place in places}
    *held, known = FOUR
    return {
        "sum_least": min(off.values()),
        "sum_next": max(off[name] for name in held),
        "sum_most": off[known],
        "sum_share": max(off[name] / alone[name] for name in held),
        "italic_alone": alone[known],
        "learnt_from": ", ".join(name for name in FOUR if side[name] == {"train"}),
        "held_out": ", ".join(name for name in FOUR if side[name] == {"test"}),
    }


@experiment(
    [{"drawing": it} for it in ("again", "real", "drawn", "at_2", "at_4", "at_8")], within=0.02
)
def from_the_nearest_known(*, drawing: str) -> Row:
    """Samples are farther from all training alphabets than real new ones, more so farther out.

    Reconstructed training alphabets are nearest; ``at_4`` are samples of code norm 4.
    """
    generator, known = torch.Generator().manual_seed(0), alphabets["train"]
    with torch.no_grad():
        if drawing == "again":
            pictures = vae.decode(vae.encode(known[::7])[0])
        elif drawing == "real":
            pictures = alphabets["test"]
        elif drawing == "drawn":
            pictures = vae.sample(60, generator=generator)
        else:
            somewhere = F.normalize(torch.randn(60, 16, generator=generator))
            pictures = vae.decode(int(drawing.removeprefix("at_")) * somewhere)
    nearest = ink_distance(pictures, known).min(1).values
    name = drawing if drawing.startswith("at_") else f"known_{drawing}"
    return {name: nearest.mean().item(), f"{name}_least": nearest.min().item()}


@experiment(within=0.02)
def circle() -> Row:
    """The share of training codes (in %) beyond the circle, and the norm of a halfway point."""
    edge = math.sqrt(chi2.ppf(0.99, 16))
    with torch.no_grad():
        codes = vae.encode(alphabets["train"])[0]
        middle = (code_of("JetBrains Mono Regular") + code_of("Vollkorn Bold Italic")) / 2
    return {
        "edge": edge,
        "beyond": 100 * (codes.norm(dim=1) > edge).float().mean().item(),
        "halfway_norm": middle.norm().item(),
        "halfway_nearer": 100 * float(chi2.cdf(middle.norm().item() ** 2, 16)),
    }


if __name__ == "__main__":
    compute(__file__, globals(), sys.argv[1:])
