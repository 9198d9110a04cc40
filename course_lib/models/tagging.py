r"""Jet taggers: boosted trees on ten numbers, a deep set, and our transformer.

:func:`load_jets` gives 12,500 simulated jets in the five classes of
:data:`course_lib.jets.CLASSES`. :func:`jet_summary` gives ten numbers by which physicists
distinguish jets, and :func:`fit_forest` trains trees on them, or on more
(:mod:`course_lib.jets.substructure`). :class:`DeepSet` maps each particle alone.
:class:`course_lib.jets.ParticleTransformer` adds attention between them, with the features of pairs
or without. All networks take features, pairs and a mask of valid particles, and
:func:`train_tagger` trains them alike. :func:`load_tagger` loads the one that
``scripts/data/train_particle_transformer.py`` trained; ``data/particle_transformer.md`` describes
it.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from jaxtyping import Bool, Float, Int, Integer
from torch import Tensor, nn
from torch.nn import functional as F

from course_lib.attention import zero_where_unseen
from course_lib.jets import (
    CLASSES,
    D_FEATURES,
    EMPTY,
    FEATURES,
    PARTICLES,
    TOGETHER,
    Jets,
    ParticleTransformer,
    Standardization,
    class_number,
    delta_phi,
    jet_summary,
    pairwise_features,
    particle_features,
)
from course_lib.jets.features import check_valid
from course_lib.models.stored import contents, load
from course_lib.support.checks import check_index, check_scores, check_shapes, check_size
from course_lib.support.contracts import Positive, Size, UnitInterval, checked
from course_lib.support.training import fit, one_cycle

if TYPE_CHECKING:
    from sklearn.ensemble import HistGradientBoostingClassifier


TRAIN, VALID = 8750, 1250
LN_PT_STEP, ANGLE_STEP = 0.02, 0.002
MISS_UNIT, MISS_STEP = 0.01, 0.1  # mm, and of the inverse hyperbolic sine


class JetSides(NamedTuple):
    """Jets for training, for validation and for the test."""

    train: Jets
    valid: Jets
    test: Jets


def load_jets() -> JetSides:
    """The bundled jets: 8,750 for training, 1,250 for validation and 2,500 for the test.

    Within a jet the hardest particle is first. ``data/jets.md`` says how they were simulated.
    Source: Pythia 8.3 of Bierlich et al. (2022), FastJet of Cacciari, Salam and Soyez (2012).
    """
    found = contents("jets.npz")
    size = found["particles"].long()
    valid = torch.arange(int(size.max())) < size[:, None]

    def spread(values: Tensor, *, empty: int = 0) -> Tensor:
        places = torch.full(valid.shape, empty, dtype=values.dtype)
        places[valid] = values
        return places

    def tracks(name: str) -> Tensor:
        miss = torch.zeros(len(charge))
        miss[charge != 0] = unpacked_miss(found[name])
        return spread(miss)

    charge = found["charge"].long()
    _, eta, phi, _ = found["axis"].float().T[..., None]
    jets = Jets(
        pt=spread(torch.exp(found["ln_pt"].float() * LN_PT_STEP)),
        eta=spread(found["eta"].float() * ANGLE_STEP) + valid * eta,
        phi=valid * delta_phi(spread(found["phi"].float() * ANGLE_STEP) + phi, torch.zeros(())),
        kind=spread(found["kind"].long(), empty=EMPTY),
        charge=spread(charge),
        d0=tracks("d0"),
        dz=tracks("dz"),
        label=found["label"].long(),
        size=found["size"].long(),
    )
    chosen = slice(TRAIN, TRAIN + VALID)
    return JetSides(jets[:TRAIN], jets[chosen], jets[chosen.stop :])


def packed_miss(millimetres: Float[Tensor, "tracks"]) -> Int[Tensor, "tracks"]:
    """Whole numbers for d0 or dz: steps of 1 μm near the beam, of a tenth far from it."""
    return torch.round(torch.asinh(millimetres / MISS_UNIT) / MISS_STEP).to(torch.int8)


def unpacked_miss(packed: Int[Tensor, "tracks"]) -> Float[Tensor, "tracks"]:
    """The inverse of :func:`packed_miss`, in mm."""
    return MISS_UNIT * torch.sinh(packed.float() * MISS_STEP)


# Inputs of the networks ---------------------------------------------------------------------------


class Inputs(NamedTuple):
    """The inputs of a network for some jets, and the class of each."""

    features: Float[Tensor, "jets particles features"]
    pairs: Float[Tensor, "jets particles particles pair_features"] | None
    valid: Bool[Tensor, "jets particles"]
    label: Integer[Tensor, "jets"]

    def some(self, which: slice | Tensor) -> "Inputs":
        """The inputs of some of the jets."""
        return Inputs(*(None if value is None else value[which] for value in self))


@checked
def jet_inputs(jets: Jets, *, pairs: bool = True) -> Inputs:
    """The features of all particles and of all pairs, in float32; ``pairs=False`` leaves out pairs.

    For 1,000 jets the pairs take 37 MB.
    """
    parts = jets.momenta.split(TOGETHER)
    found = torch.cat([pairwise_features(part).float() for part in parts]) if pairs else None
    return Inputs(particle_features(jets), found, jets.valid, jets.label.long())


KINDS = ("charge", *PARTICLES)
"""The features of a particle's kind, without its momentum and direction."""


@checked
def kinds_alone(jets: Jets, *, above: float = 1.0) -> Inputs:
    """Quark and gluon jets with only the kinds and charges of particles ``above`` a pT in GeV.

    All other features are 0, so that a jet is given by its number of particles of each kind.
    """
    light = torch.isin(jets.label, torch.tensor([class_number(n) for n in ("quark", "gluon")]))
    jets = jets[light]
    inputs = jet_inputs(jets, pairs=False)
    told = torch.tensor([float(name in KINDS) for name in FEATURES])
    return inputs._replace(features=inputs.features * told, valid=jets.pt > above)


# Ten numbers and some trees ---------------------------------------------------------------------


def fit_forest(
    jets: Jets,
    *,
    seed: int = 0,
    trees: int = 100,
    learning_rate: float = 0.08,
    leaves: int = 15,
    smallest: int = 20,
    share: float = 0.5,
    summary: Callable[[Jets], Float[Tensor, "jets columns"]] = jet_summary,
) -> "HistGradientBoostingClassifier":
    """Fit boosted trees to the ``summary`` of jets; ``predict_proba`` takes that of other jets.

    A tree has at most ``leaves`` leaves, each of at least ``smallest`` jets. Each split chooses
    among a random ``share`` of the columns. Source: Friedman (2001), as scikit-learn builds it.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier

    check_size("trees", trees)
    forest = HistGradientBoostingClassifier(
        max_iter=trees,
        learning_rate=learning_rate,
        max_leaf_nodes=leaves,
        min_samples_leaf=smallest,
        max_features=share,
        random_state=seed,
    )
    return forest.fit(summary(jets).numpy(), jets.label.numpy())


# A network without attention --------------------------------------------------------------------


class DeepSet(nn.Module):
    r"""A deep set: each particle is mapped alone and all are added, $\rho(\sum_a \varphi(x_a))$.

    $\varphi$ and $\rho$ are networks of two layers, ``d_hidden`` wide; $\rho$ takes the sum,
    divided by ``full``, and the mean. ``pairs`` are ignored. Source: Zaheer et al. (2017), theorem
    2; Komiske, Metodiev and Thaler (2019) for jets.
    """

    @checked
    def __init__(
        self,
        n_classes: Size,
        *,
        d_hidden: Size = 192,
        d_features: Size = D_FEATURES,
        full: Size = 48,
    ) -> None:
        super().__init__()
        self.n_classes, self.d_features = n_classes, d_features
        self.full = full  # not the padded length, which depends on the batch
        self.standard = Standardization(d_features)
        self.say = nn.Sequential(
            nn.Linear(d_features, d_hidden),
            nn.GELU(),
            nn.Linear(d_hidden, d_hidden),
            nn.GELU(),
        )
        self.conclude = nn.Sequential(
            nn.Linear(2 * d_hidden, d_hidden), nn.GELU(), nn.Linear(d_hidden, n_classes)
        )

    @checked
    def standardized_like(
        self,
        features: Float[Tensor, "jets particles d_features"],
        pairs: Tensor | None = None,  # noqa: ARG002 - all networks are called alike
        *,
        valid: Bool[Tensor, "jets particles"],
    ) -> "DeepSet":
        """Standardize features to mean 0 and deviation 1 over these jets; return the network."""
        self.standard.learn(features[valid])
        return self

    @checked
    def forward(
        self,
        features: Float[Tensor, "*batch particles d_features"],
        pairs: Tensor | None = None,  # noqa: ARG002 - all networks are called alike
        *,
        valid: Bool[Tensor, "*batch particles"] | None = None,
    ) -> Float[Tensor, "*batch n_classes"]:
        """The logits of each class. Raises ``ValueError`` for a jet without particles."""
        valid = torch.ones_like(features[..., 0], dtype=torch.bool) if valid is None else valid
        check_valid(valid)
        said = self.say(self.standard(zero_where_unseen(features, valid))) * valid[..., None]
        total = said.sum(dim=-2)
        count = valid.sum(dim=-1, keepdim=True)
        return self.conclude(torch.cat([total / self.full, total / count], dim=-1))


TAGGERS: dict[str, tuple[Callable[[], nn.Module], bool]] = {
    "deep set": (lambda: DeepSet(len(CLASSES)), False),
    "without pairs": (lambda: ParticleTransformer(len(CLASSES), 48, 4, 3, 1, dropout=0.1), False),
    "with pairs": (lambda: ParticleTransformer(len(CLASSES), 48, 4, 3, 1, dropout=0.1), True),
}
"""The networks that lecture 13 compares, and whether they take pairs."""

# Training and evaluation --------------------------------------------------------------------------


@checked
def train_tagger(
    model: nn.Module,
    inputs: Inputs,
    *,
    epochs: Size,
    seed: int = 0,
    batch: Size = 64,
    learning_rate: Positive = 2e-3,
    progress: bool = True,
    callback: Callable[[int, float], object] | None = None,
) -> list[float]:
    r"""Train ``model`` on the cross-entropy of the class; return the loss at every step.

    Jets are shuffled anew in every epoch, and each is mirrored at random, see :func:`mirrored`.
    AdamW with a weight decay of 0.05; the rate rises in the first third and falls to 0 in the rest.
    ``callback(step, loss)`` runs after each step.
    """
    random = torch.Generator().manual_seed(seed)
    steps = math.ceil(len(inputs.label) / batch)

    def batches() -> Iterator[Inputs]:
        for _ in range(epochs):
            for chosen in torch.randperm(len(inputs.label), generator=random).split(batch):
                part = inputs.some(chosen)
                yield part._replace(features=mirrored(part.features, random))

    def loss(model: nn.Module, part: Inputs) -> Tensor:
        logits = model(part.features, part.pairs, valid=part.valid)
        return F.cross_entropy(logits, part.label)

    return fit(
        model,
        loss,
        batches(),
        steps=epochs * steps,
        learning_rate=learning_rate,
        optimizer=partial(torch.optim.AdamW, weight_decay=0.05),
        schedule=one_cycle,
        clip=1.0,
        progress=progress,
        callback=callback,
    )


@checked
def mirrored(
    features: Float[Tensor, "jets particles features"], random: torch.Generator
) -> Float[Tensor, "jets particles features"]:
    r"""Reflect each jet along the beam and across it, each with probability one half.

    The first flips the sign of $\Delta\eta$ and $d_z$, the second that of $\Delta\varphi$ and
    $d_0$; all four images are equally frequent in nature, and have the same pair features.
    """
    check_shapes(features=(features, f"jets particles {len(FEATURES)}"))
    signs = torch.ones(len(features), 1, len(FEATURES))
    for names in (("Δη", "tanh dz"), ("Δφ", "tanh d0")):
        sign = 2.0 * torch.randint(2, (len(features), 1), generator=random) - 1
        for name in names:
            signs[:, :, FEATURES.index(name)] = sign
    return features * signs.to(features)


@checked
@torch.no_grad()
def logits_of(model: nn.Module, inputs: Inputs, *, batch: Size = 250) -> Float[Tensor, "jets k"]:
    """The logits of all jets, in evaluation mode, a batch at a time."""
    was_training = model.training
    model.eval()
    try:
        parts = zip(
            inputs.features.split(batch),
            [None] * len(inputs.label) if inputs.pairs is None else inputs.pairs.split(batch),
            inputs.valid.split(batch),
            strict=inputs.pairs is not None,
        )
        return torch.cat([model(x, pairs, valid=valid) for x, pairs, valid in parts])
    finally:
        model.train(was_training)


class Evaluation(NamedTuple):
    """How well a tagger distinguishes jets.

    ``loss`` is the cross-entropy in nats, ``accuracy`` the share of right answers. Row a, column b
    of ``confusion`` counts the jets of class a that were predicted as class b.
    """

    loss: float
    accuracy: float
    confusion: Int[Tensor, "classes classes"]


@checked
def evaluate(logits: Float[Tensor, "jets classes"], label: Integer[Tensor, "jets"]) -> Evaluation:
    """Evaluate logits, or logarithms of probabilities, where the class is ``label``."""
    check_scores(logits=logits)
    classes, chosen = logits.shape[1], logits.argmax(dim=1)
    check_index("label", label, classes, "the classes of the logits")
    confusion = torch.bincount(classes * label.long() + chosen, minlength=classes**2)
    right = (chosen == label).double().mean()
    return Evaluation(
        F.cross_entropy(logits, label.long()).item(),
        right.item(),
        confusion.reshape(classes, classes),
    )


@checked
def rejection(
    logits: Float[Tensor, "jets classes"],
    label: Integer[Tensor, "jets"],
    *,
    signal: str,
    background: Sequence[str] = ("quark", "gluon"),
    classes: tuple[str, ...] = CLASSES,
    efficiency: UnitInterval = 0.5,
) -> float:
    r"""Background rejection: one of how many background jets passes at a signal ``efficiency``.

    Jets are ordered by $p_S / (p_S + \sum_B p_B)$; the answer is the inverse of the share of the
    background above the cut, infinite if none is above. Taggers are compared by it in physics.
    Logits are of ``classes``, for JetClass those of its jets. Raises ``ValueError`` without signal
    or without background jets, and for logits that cannot be ordered. Source: Qu, Li and Qian
    (2022), who call it Rej50.
    """
    if logits.shape[1] != len(classes):
        raise ValueError(
            f"logits are of {logits.shape[1]} classes; expected {len(classes)}, those of classes = "
            f"{classes}; pass classes=jets.classes"
        )
    wanted, *others = (class_number(name, classes) for name in (signal, *background))
    logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
    score = logits[:, wanted] - logits[:, others].logsumexp(dim=1)
    is_signal, is_background = label == wanted, torch.isin(label, torch.tensor(others))
    for side, found in (("signal", is_signal), ("background", is_background)):
        if not found.any():
            raise ValueError(f"label has no jet of the {side}; expected one at least; add some")
    if (lost := score.isnan()).any():
        raise ValueError(
            f"logits of jet {lost.nonzero()[0].item()} hold nan, or -inf for signal and background "
            "at once; expected numbers to order jets by; find them with logits.isfinite()"
        )
    cut = score[is_signal].quantile(1 - efficiency)
    kept = (score[is_background] > cut).double().mean().item()
    return 1 / kept if kept else math.inf


# The network that comes with the course -----------------------------------------------------------


def load_tagger() -> tuple[nn.Module, dict[str, Any]]:
    """A trained Particle Transformer, in evaluation mode, and a record of its training.

    That is ``command``, ``seed``, ``epochs``, ``processor_seconds``, and loss and accuracy on each
    side.
    """
    return load("particle_transformer.npz", lambda _: TAGGERS["with pairs"][0]())
