"""BreakIt: random cases against a claim, whose assumption the reader bends until it breaks."""

from __future__ import annotations

import dataclasses
from typing import Any

from course_lib.widgets.base import Widget
from course_lib.widgets.modules import module_source, stylesheet
from course_lib.widgets.traits import Choice, Data, Integer, Number, Switch


@dataclasses.dataclass(frozen=True, kw_only=True)
class Claim:
    """What a claim says, what the reader bends, and which error is more than rounding.

    ``lecture`` names the module of JavaScript that tries it.
    """

    lecture: str
    says: str
    bend: str
    switch: bool = False
    tolerance: float = 1e-9


CLAIMS = {
    "softmax-shares": Claim(
        lecture="soft_lookup",
        says="adding one constant to all scores changes no weight",
        bend="Gates in place of the softmax, divided by their sum",
        switch=True,
    ),
    "equal-lengths": Claim(
        lecture="soft_lookup",
        says="among keys of equal length, distance and dot product give the same weights",
        bend="Lengths differ by",
    ),
    "causal-past": Claim(
        lecture="self_attention",
        says="under the causal mask no output depends on a later token",
        bend="Let each token see one ahead",
        switch=True,
    ),
    "any-order": Claim(
        lecture="self_attention",
        says="tokens in another order get the same outputs, in that order",
        bend="Hide the future",
        switch=True,
    ),
    "hats-are-straight": Claim(
        lecture="attention_as_a_basis",
        says="a blend by hats is the straight line between two neighbours",
        bend="Softmax in place of hats",
        switch=True,
    ),
    "basis-is-attention": Claim(
        lecture="attention_as_a_basis",
        says="the softmax basis is attention with a bias",
        bend="Bias left out",
    ),
    "read-in-pieces": Claim(
        lecture="recurrence",
        says="a text may be read in two pieces, if the state is handed on",
        bend="State lost between them",
    ),
    "any-grouping": Claim(
        lecture="recurrence",
        says="linear steps may be joined in any grouping",
        bend="A tanh at each joint",
        switch=True,
    ),
    "places-do-not-matter": Claim(
        lecture="position",
        says="without positions, tokens in another order get the same outputs, in that order",
        bend="Position added",
    ),
    "difference-alone": Claim(
        lecture="position",
        says="the score of a turned query and a turned key depends on how far apart they are",
        bend="Query's clock faster by",
    ),
    "padding": Claim(
        lecture="encoder",
        says="padding that no query looks at changes no output at a real token",
        bend="Let queries look at it",
        switch=True,
    ),
    "all-paths": Claim(
        lecture="encoder",
        says="the Jacobian of a residual stack is the sum over all paths",
        bend="Way around, open by",
    ),
    "cache-pieces": Claim(
        lecture="decoder",
        says="a text read in pieces, with a cache, gets what it gets when read at once",
        bend="The cache loses its first token",
        switch=True,
    ),
    "draft-and-judge": Claim(
        lecture="decoder",
        says="drafts that are kept or replaced by the rule have the large model's distribution",
        bend="A more lenient judge",
    ),
    "renumbered": Claim(
        lecture="graph_networks",
        says="a graph that is renumbered gets the same outputs, renumbered",
        bend="Each node told its number, times",
    ),
    "two-rounds": Claim(
        lecture="graph_networks",
        says="after two rounds a node has heard nothing from farther than two steps",
        bend="One more node, joined to all",
        switch=True,
    ),
    "adjoint": Claim(
        lecture="graph_dynamics",
        says="the products of f with δ*g and of δf with g are equal",
        bend="Flow lost on its way",
    ),
    "wave-energy": Claim(
        lecture="graph_dynamics",
        says="a wave keeps its energy",
        bend="The double bracket in its place",
        switch=True,
    ),
    "price-of-a-cloud": Claim(
        lecture="autoencoder",
        says="the formula for the price of a cloud is the integral that defines it",
        bend="Take σ for σ²",
        switch=True,
    ),
    "beta-is-noise": Claim(
        lecture="autoencoder",
        says="what a β-VAE makes as large as it can is β times an ELBO, up to a constant",
        bend="Leave the noise as it was",
        switch=True,
    ),
    "step-areas": Claim(
        lecture="hamiltonian_mechanics",
        says="a step of Störmer–Verlet keeps every small area",
        bend="Friction",
        tolerance=1e-7,
    ),
    "there-and-back": Claim(
        lecture="hamiltonian_mechanics",
        says="a step of Störmer–Verlet with the momentum reversed leads back",
        bend="Symplectic Euler in its place",
        switch=True,
    ),
    "symmetric-matrix": Claim(
        lecture="symplectic_attention",
        says="with the matrix softmax and a symmetric A, 2 Sᵀ Z A is a gradient",
        bend="Skew part of A",
    ),
    "both-terms": Claim(
        lecture="symplectic_attention",
        says="with the vector softmax S Z Aᵀ + Sᵀ Z A is a gradient",
        bend="Leave out the first term, double the second",
        switch=True,
    ),
    "pairs-boosted": Claim(
        lecture="jets",
        says="a boost along the beam changes none of the four features of a pair",
        bend="Pseudorapidity in place of rapidity",
        switch=True,
        tolerance=1e-6,
    ),
    "jet-order": Claim(
        lecture="jets",
        says="particles in another order, and their pairs with them, make the same jet",
        bend="Leave the pairs where they were",
        switch=True,
    ),
    "same-phase": Claim(
        lecture="light_curves",
        says="a night some whole periods later has the same phase",
        bend="Period too long by",
    ),
    "hidden-stay-hidden": Claim(
        lecture="light_curves",
        says="what is said of any night does not depend on a hidden magnitude",
        bend="Leave it in its token, where others may not look",
        switch=True,
    ),
    "order-of-tiles": Claim(
        lecture="gpu_attention",
        says="reports of tiles add up to the softmax in any order",
        bend="Add without rescaling",
        switch=True,
    ),
    "keys-shared-out": Claim(
        lecture="gpu_attention",
        says="two programs that share the keys out give the attention of all",
        bend="Take the mean of their outputs",
        switch=True,
    ),
}


def _on_or_off(widget: Any, bend: float) -> float:
    if CLAIMS[widget.claim].switch and bend not in (0, 1):
        raise ValueError(f"bend of {widget.claim} must be 0 or 1, a switch, but was given {bend}")
    return bend


class BreakIt(Widget):
    """Random cases fly by, until the reader bends what a ``claim`` assumes.

    Each case leaves a dot at its error, on a logarithmic scale with the tolerance drawn. ``bend``
    is how far the assumption is bent, from 0 to 1; for a switch it is one of the two. Then a case
    breaks the claim, and is made smaller for as long as it does: fewer entries, plainer numbers.
    The cases of a ``seed`` are the same whenever they are drawn. They come by themselves while the
    strip is in view, unless the reader has asked for less motion or you for none with ``moving``.

    Traits, synced both ways: ``bend``, ``seed``. Raises ``TypeError`` and ``ValueError`` for a
    claim that is not there and a bend that cannot be. Shrinking as in MacIver et al. (2019).
    """

    _module = "break_it.js"

    claim = Choice(*CLAIMS, read_only=True)
    about = Data(lambda self: dataclasses.asdict(CLAIMS[self.claim]))
    bend = Number(0.0, 1.0, default=0.0, rule=_on_or_off)
    seed = Integer(0, 2**31 - 1, default=0)
    moving = Switch(default=True, read_only=True)

    def __init__(self, claim: str, **given: Any) -> None:
        if isinstance(claim, str) and claim in CLAIMS:
            # A page carries the claims of its own lecture alone.
            self._module = f"js/break_it/{CLAIMS[claim].lecture}.js"
            self._esm, self._css = module_source(self._module), stylesheet(self._module)
        super().__init__(claim=claim, **given)

    def describe(self) -> str:
        """Which claim is on trial, and what can be bent."""
        about = CLAIMS[self.claim]
        return (
            f"Break it: random cases against the claim that {about.says}. The reader can bend it: "
            f"{about.bend}."
        )
