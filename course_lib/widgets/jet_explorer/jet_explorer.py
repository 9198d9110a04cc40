"""JetExplorer: a jet of particles, what a network takes it for, and which attends to which."""

from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from course_lib.jets import (
    CLASSES,
    EMPTY,
    FEATURES,
    PAIR_FEATURES,
    PARTICLES,
    Jets,
    ParticleTransformer,
    invariant_mass,
)
from course_lib.models.tagging import jet_inputs, logits_of
from course_lib.widgets.kit.packed_weights import WeightsWidget, pack, with_weights
from course_lib.widgets.kit.traits import (
    Array,
    Data,
    Index,
    Integer,
    Number,
    Several,
    finite_array,
)

MOST_JETS = 15
MOST_PARTICLES = 48
RIGHT, WRONG = 2, 1  # of each class
AT_A_TIME = 50
MOST_BYTES = 250_000
CODE_BYTES = 32_000  # of the page, for the widget's own code and what holds it
JET_BYTES = 26_000
FEWEST_BITS, MOST_BITS = 6, 10
LANDMARKS = {"W": 80.37, "H": 125.20, "top": 172.57}
"""Masses in GeV. Source: Particle Data Group (2024)."""
COLUMNS = ("pt", "eta", "phi", "d0", "dz")


class JetExplorer(WeightsWidget):
    r"""A jet, particle by particle, and what a trained Particle Transformer takes it for.

    ``model`` is a :class:`course_lib.jets.ParticleTransformer` with a logit for each of
    :data:`course_lib.jets.CLASSES`, as :func:`course_lib.models.tagging.load_tagger` gives it.
    ``jets`` are :class:`course_lib.jets.Jets`, of 48 particles at most, among which the reader
    chooses. Of more than 15 the widget takes, in their order, the first two of each class that the
    model gets right and the first that it gets wrong.

    The page runs the model itself, in double precision, on the particles that are there:
    the ``kept`` hardest ones but for those that are ``gone``. As for a jet of its own, features
    are taken from the axis and the momentum of what is there. The mass is that of the sum of the
    four-momenta. The weights travel rounded, as :func:`~course_lib.widgets.kit.packed_weights.pack`
    says: ``widget.bits`` is 10, or fewer if a page has no room for them. ``widget.network`` is the
    model with just these weights, ``widget.there`` the jet of the particles that are there, and
    ``widget.probabilities()`` is what the page shows.

    Traits, synced both ways: ``jet`` (a place among those that can be chosen), ``kept`` and
    ``gone``, ``particle`` (whose attention is shown, counted from the hardest on; -1 for none),
    ``layer`` and ``head`` (-1 for the mean of all heads), ``zoom`` and the middle of what is
    enlarged, (``eta``, ``phi``) from the jet's axis. Once seen, the jet comes in by itself,
    the hardest particle first (``moving``), unless the reader has asked for less motion or you for
    none. Raises ``TypeError`` and ``ValueError`` for a model that the page cannot run and jets that
    it cannot draw. Source: Qu, Li and Qian (2022), eqs. 3 to 7.
    """

    jets = Data()
    jet = Index(of=lambda self: len(self.jets))
    kept = Integer(1, lambda self: self._size(), default=lambda self: self._size())
    gone = Several(
        Index(of=lambda self: self._size()), most=MOST_PARTICLES, distinct=True, default=()
    )
    particle = Index(of=lambda self: self._size(), unset=True, default=0)
    layer = Index(of=lambda self: self.facts["layers"])
    head = Index(of=lambda self: self.facts["heads"], unset=True)
    zoom = Number(1.0, 16.0, default=1.0)
    eta = Number(-2.0, 2.0, default=0.0)
    phi = Number(-2.0, 2.0, default=0.0)

    def __init__(self, model: ParticleTransformer, jets: Jets, **given: Any) -> None:
        self.set_trait("facts", _facts_of(model))
        most = MOST_BYTES - CODE_BYTES - JET_BYTES
        packed = pack(model, most_bytes=most, fewest_bits=FEWEST_BITS, most_bits=MOST_BITS)
        self.set_trait("weights", packed)
        _check_jets(jets)
        shown = jets if len(jets) <= MOST_JETS else jets[right_and_wrong(self.network, jets)]
        self.set_trait("jets", [_entry(shown[i : i + 1]) for i in range(len(shown))])
        super().__init__(**given)

    @property
    def network(self) -> ParticleTransformer:
        """The model with the weights that travel, in float32, which holds them exactly."""
        return network_of(self.facts, self.weights)

    @property
    def there(self) -> Jets:
        """The jet of the particles that are there. Raises ``ValueError`` if none is."""
        places = [i for i in range(self.kept) if i not in self.gone]
        return jet_of(self.jets[self.jet], places)

    @torch.no_grad()
    def probabilities(self) -> Float[Tensor, "classes"]:
        """What the page shows: the probability of each class, in float64."""
        inputs = jet_inputs(self.there)
        model = self.network.double()
        return model(inputs.features.double(), inputs.pairs.double()).softmax(dim=-1)[0]

    def describe(self) -> str:
        """Which jet is shown, without the answer, which waits for a guess."""
        jet = f"Jet {self.jet + 1} of {len(self.jets)} in a detector"
        if len(set(self.gone) & set(range(self.kept))) == self.kept:
            return f"{jet}, all particles taken away."
        mass = float(invariant_mass(self.there.total)[0])
        return (
            f"{jet}: {self.there.pt.shape[1]} of its {self._size()} particles around the jet's "
            f"axis, together of {mass:.1f} GeV. What made it? A trained network's answer waits "
            "for your guess. Particles can be taken away, and each shows which it attends to."
        )

    def _size(self) -> int:
        return len(self.jets[self.jet]["kind"])


def network_of(facts: dict[str, Any], packed: dict[str, Any]) -> ParticleTransformer:
    """The model, in float32 and in evaluation mode, whose weights travel as ``packed``."""
    sizes = ("d_model", "heads", "layers", "class_layers")
    numbers = [len(facts["classes"]), *(facts[name] for name in sizes)]
    network = with_weights(lambda: ParticleTransformer(*numbers, d_pair=facts["d_pair"]), packed)
    for name, unit in (("standard", network.standard), ("pairs", network.standard_pairs)):
        unit.mean.copy_(torch.tensor(facts[name]["mean"]))
        unit.scale.copy_(torch.tensor(facts[name]["scale"]))
    return network


def jet_of(entry: dict[str, Any], places: list[int]) -> Jets:
    """A jet of the particles at ``places`` of one that travels. Raises ``ValueError`` for none."""
    numbers = torch.from_numpy(Array._decode(entry["numbers"], None))[places].T
    columns = {name: row[None] for name, row in zip(COLUMNS, numbers, strict=True)}
    whole = {name: torch.tensor(entry[name])[places][None] for name in ("kind", "charge")}
    label, size = torch.tensor([entry["label"]]), torch.tensor([entry["size"]])
    return Jets(**columns, **whole, label=label, size=size)


def right_and_wrong(model: ParticleTransformer, jets: Jets) -> Tensor:
    """Of each class the first two jets that the model gets right and the first that it does not.

    They stand in the order of ``jets``; of a class that has fewer there are fewer.
    """
    left = [[WRONG, RIGHT] for _ in CLASSES]
    found = []
    for start in range(0, len(jets), AT_A_TIME):
        part = jets[start : start + AT_A_TIME]
        right = logits_of(model, jet_inputs(part)).argmax(dim=1) == part.label
        for i, (label, is_right) in enumerate(
            zip(part.label.tolist(), right.tolist(), strict=True)
        ):
            if left[label][is_right]:
                left[label][is_right] -= 1
                found.append(start + i)
        if not any(map(any, left)):
            break
    return torch.tensor(found)


def _entry(jet: Jets) -> dict[str, Any]:
    """One jet as it travels: its particles alone, the hardest first."""
    order = jet.pt[0].argsort(descending=True, stable=True)
    order = order[jet.kind[0, order] != EMPTY]
    numbers = torch.stack([getattr(jet, name)[0, order] for name in COLUMNS], dim=1)
    return {
        "label": jet.label.item(),
        "size": jet.size.item(),
        "kind": jet.kind[0, order].tolist(),
        "charge": jet.charge[0, order].tolist(),
        "numbers": Array._encode(finite_array("jets", numbers, ("particles", "numbers")), None),
    }


def _check_jets(jets: object) -> None:
    if not isinstance(jets, Jets):
        raise TypeError(
            f"jets is a {type(jets).__name__}; expected course_lib.jets.Jets; take those of "
            "load_jets().test"
        )
    if not len(jets):
        raise ValueError("jets has no jet; expected one at least, to be shown; give another part")
    if (most := int(jets.valid.sum(dim=1).max())) > MOST_PARTICLES:
        raise ValueError(
            f"jets has one of {most} particles; expected {MOST_PARTICLES} at most, with which a "
            f"page keeps up; pass jets.hardest({MOST_PARTICLES})"
        )


def _facts_of(model: object) -> dict[str, Any]:
    """All that has to be known of a model besides its weights."""
    if not isinstance(model, ParticleTransformer):
        raise TypeError(
            f"model is a {type(model).__name__}; expected a "
            "course_lib.jets.ParticleTransformer, which the page can compute; take "
            "that of load_tagger()"
        )
    found = (model.read[1].out_features, len(model.standard.mean), len(model.standard_pairs.mean))
    expected = (len(CLASSES), len(FEATURES), len(PAIR_FEATURES))
    if found != expected:
        raise ValueError(
            f"model has {found[0]} classes, {found[1]} features a particle and {found[2]} a pair; "
            f"expected {expected[0]}, {expected[1]} and {expected[2]}, those of course_lib.jets; "
            "train one on these"
        )
    units = {"standard": model.standard, "pairs": model.standard_pairs}
    return {
        "classes": list(CLASSES),
        "particles": list(PARTICLES),
        "landmarks": [list(landmark) for landmark in LANDMARKS.items()],
        "d_model": model.class_token.shape[1],
        "heads": model.blocks[0].attention.heads,
        "layers": len(model.blocks),
        "class_layers": len(model.class_blocks),
        "d_pair": model.embed_pairs[0].out_features,
        **{
            name: {
                part: _listed(f"model.{name}.{part}", getattr(unit, part))
                for part in ("mean", "scale")
            }
            for name, unit in units.items()
        },
    }


def _listed(name: str, column: Tensor) -> list[float]:
    return np.asarray(finite_array(name, column, ("columns",)), dtype=np.float64).tolist()
