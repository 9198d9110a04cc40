"""BreakIt: random cases against a claim, whose assumption the reader bends until it breaks."""

from __future__ import annotations

import dataclasses
from typing import Any

from course_lib.widgets.kit.base import MovingWidget
from course_lib.widgets.kit.traits import Choice, Data, Integer, Number


@dataclasses.dataclass(frozen=True)
class Claim:
    """What a claim says, what the reader bends, and which error is more than rounding.

    The module of its ``lecture`` tries it. A ``switch`` or a ``slider`` bends what it assumes.
    ``formula`` says in symbols what ``says`` says in plain words; ``picture`` says what is drawn.
    """

    lecture: str
    says: str
    picture: str
    switch: str = ""
    slider: str = ""
    formula: str = ""
    tolerance: float = 1e-9


_LOOKS = "a row a token; the stronger the blue, the more it looks there"
_ORDER = "where each token goes"
_SHARES = "bars are the weights that come out, orange marks the true ones"
_LOOP = "the Jacobian M of this force is symmetric, so that no closed loop gains energy"
_MIRROR = "M, how each push answers each move; the framed two should be equal; orange is negative"

CLAIMS = {
    "softmax-shares": Claim(
        "soft_lookup",
        says="adding one constant to all scores changes no weight",
        switch="Gates in place of the softmax, divided by their sum",
        picture="blue bars are the weights after adding, orange marks those before",
    ),
    "equal-lengths": Claim(
        "soft_lookup",
        says="among keys of equal length, distance gives the same weights as the dot product at "
        "half the temperature",
        slider="Lengths differ by",
        picture="small dots are keys, the large one is the query",
    ),
    "causal-past": Claim(
        "self_attention",
        says="under the causal mask no output depends on a later token",
        switch="Let each token see one ahead",
        picture=_LOOKS,
    ),
    "any-order": Claim(
        "self_attention",
        says="tokens in another order get the same outputs, in that order",
        switch="Hide the future",
        picture=_ORDER,
    ),
    "hats-are-straight": Claim(
        "attention_as_a_basis",
        says="a blend by hats is the straight line between two neighbours",
        switch="Softmax in place of hats",
        picture="blue is the straight line, the orange dot the blend",
    ),
    "basis-is-attention": Claim(
        "attention_as_a_basis",
        says="the softmax basis is attention with a bias",
        slider="Bias left out",
        picture="bars are weights of the basis, orange marks those of attention",
    ),
    "read-in-pieces": Claim(
        "recurrence",
        says="a text may be read in two pieces, if the state is handed on",
        slider="State lost between them",
        picture="a row a letter, the state after it; orange is negative",
    ),
    "any-grouping": Claim(
        "recurrence",
        says="linear steps may be joined in any grouping",
        switch="A tanh at each joint",
        picture="above a, below b of each step; orange is negative",
    ),
    "places-do-not-matter": Claim(
        "position",
        says="without positions, tokens in another order get the same outputs, in that order",
        slider="Position added",
        picture=_ORDER,
    ),
    "difference-alone": Claim(
        "position",
        says="the score of a turned query and a turned key depends on how far apart they are",
        slider="Query's clock faster by",
        picture="hands of the query (blue) and of the key (orange)",
    ),
    "padding": Claim(
        "encoder",
        says="padding that no query looks at changes no output at a real token",
        switch="Let queries look at it",
        picture=_LOOKS,
    ),
    "all-paths": Claim(
        "encoder",
        says="a stack of layers passes on the sum over all paths, through or around each layer",
        formula="two layers: (I + J₂)(I + J₁) = I + J₁ + J₂ + J₂J₁",
        slider="Way around, open by",
        picture="left the stack (its Jacobian), right the sum over paths; orange is negative",
    ),
    "cache-pieces": Claim(
        "decoder",
        says="a text read in pieces, with a cache, gets what it gets when read at once",
        switch="The cache loses its first token",
        picture=_LOOKS,
    ),
    "draft-and-judge": Claim(
        "decoder",
        says="drafts kept or replaced by the rule come as often as the large model writes them",
        slider="A more lenient judge",
        picture="bars are what comes out, orange marks the large model",
    ),
    "renumbered": Claim(
        "graph_networks",
        says="a graph that is renumbered gets the same outputs, renumbered",
        slider="Each node told its number, times",
        picture="the graph",
    ),
    "two-rounds": Claim(
        "graph_networks",
        says="after two rounds a node has heard nothing from farther than two steps",
        switch="One more node, joined to all",
        picture="the graph; the orange node is raised",
    ),
    "adjoint": Claim(
        "graph_dynamics",
        says="counted node by node (inflow times height) or edge by edge (flow times climb), the "
        "sum is the same",
        formula="⟨f, δ*g⟩ = ⟨δf, g⟩",
        slider="Flow lost on its way",
        picture="what flows from row to column; orange is negative",
    ),
    "wave-energy": Claim(
        "graph_dynamics",
        says="a wave on springs keeps its energy: what it loses in stretching it gains in speed",
        switch="The double bracket in its place",
        picture="dots are pulled up (blue) or down (orange), larger the farther",
    ),
    "price-of-a-cloud": Claim(
        "autoencoder",
        says="the formula for the price of a cloud is the integral that defines it",
        switch="Take σ for σ²",
        picture="a dot a code, at its mean, larger the wider",
    ),
    "beta-is-noise": Claim(
        "autoencoder",
        says="to weigh the price of a code by β is to expect β times as much noise",
        formula="E[log p(x | z)] − β KL = β ELBO with noise β s², up to a constant",
        switch="Leave the noise as it was",
        picture="the price of each network",
    ),
    "step-areas": Claim(
        "hamiltonian_mechanics",
        says="a step of Störmer–Verlet keeps every small area",
        slider="Friction",
        picture="a small square before (grey) and after (blue)",
        tolerance=1e-7,
    ),
    "there-and-back": Claim(
        "hamiltonian_mechanics",
        says="a step of Störmer–Verlet with the momentum reversed leads back",
        switch="Symplectic Euler in its place",
        picture="pendulum at the start (blue), there (grey), back (orange)",
    ),
    "symmetric-matrix": Claim(
        "symplectic_attention",
        says=_LOOP,
        formula="2 Sᵀ Z A, matrix softmax, symmetric A: M = Mᵀ",
        slider="Skew part of A",
        picture=_MIRROR,
    ),
    "both-terms": Claim(
        "symplectic_attention",
        says=_LOOP,
        formula="S Z Aᵀ + Sᵀ Z A, vector softmax: M = Mᵀ",
        switch="Leave out the first term, double the second",
        picture=_MIRROR,
    ),
    "pairs-boosted": Claim(
        "jets",
        says="a boost along the beam changes none of a pair's four features",
        switch="Pseudorapidity in place of rapidity",
        picture="two particles before (grey) and after (blue) the boost",
        tolerance=1e-6,
    ),
    "jet-order": Claim(
        "jets",
        says="particles in another order, and their pairs with them, make the same jet",
        switch="Leave the pairs where they were",
        picture="what each pair adds; orange is negative",
    ),
    "same-phase": Claim(
        "light_curves",
        says="a night a whole number of periods later has the same phase",
        slider="Period too long by",
        picture="both nights on the circle of phases",
    ),
    "hidden-stay-hidden": Claim(
        "light_curves",
        says="no prediction depends on a hidden magnitude",
        switch="Leave the magnitude in its token",
        picture="bars are predictions before, orange marks those after",
    ),
    "order-of-tiles": Claim(
        "gpu_attention",
        says="reports of tiles add up to the softmax in any order",
        switch="Add without rescaling",
        picture=_SHARES,
    ),
    "keys-shared-out": Claim(
        "gpu_attention",
        says="two programs that share the keys out give the attention of all",
        switch="Take the mean of their outputs",
        picture=_SHARES,
    ),
}


def _on_or_off(widget: Any, bend: float) -> float:
    if CLAIMS[widget.claim].switch and bend not in (0, 1):
        raise ValueError(f"bend of {widget.claim} must be 0 or 1, a switch, but was given {bend}")
    return bend


class BreakIt(MovingWidget):
    """Random cases fly by, until the reader bends what a ``claim`` assumes.

    Each case leaves a dot at its error, on a logarithmic scale with the tolerance drawn. ``bend``
    is how far the assumption is bent, from 0 to 1; for a switch it is one of the two. Then a case
    breaks the claim, and is made smaller for as long as it does: fewer entries, plainer numbers.
    The cases of a ``seed`` are the same whenever they are drawn. They come by themselves while the
    strip is in view, unless the reader has asked for less motion or you for none with ``moving``.

    Traits, synced both ways: ``bend``, ``seed``. Raises ``TypeError`` and ``ValueError`` for a
    claim that is not there and a bend that cannot be. Shrinking as in MacIver et al. (2019).
    """

    claim = Choice(*CLAIMS, read_only=True)
    about = Data(lambda self: dataclasses.asdict(CLAIMS[self.claim]))
    bend = Number(0.0, 1.0, default=0.0, rule=_on_or_off)
    seed = Integer(0, 2**31 - 1, default=0)

    def __init__(self, claim: str, **given: Any) -> None:
        if isinstance(claim, str) and claim in CLAIMS:
            # A page carries the claims of its own lecture alone.
            self._module = f"break_it/{CLAIMS[claim].lecture}.js"
        super().__init__(claim=claim, **given)

    def describe(self) -> str:
        """Which claim is on trial, and what can be bent."""
        about = CLAIMS[self.claim]
        symbols = f" In symbols: {about.formula}." if about.formula else ""
        return (
            f"Break it: {about.says}.{symbols} The figure tries random cases, and the reader can "
            f"bend the claim: {about.switch or about.slider}."
        )
