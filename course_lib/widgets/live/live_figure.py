"""LiveFigure: still pictures that became live, each a row of one table and a module of the page."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Mapping
from typing import Any

from course_lib.transformer import EncoderDecoder
from course_lib.widgets.kit.base import MovingWidget
from course_lib.widgets.kit.packed_weights import Network, transformer_facts
from course_lib.widgets.kit.runs import METHODS
from course_lib.widgets.kit.traits import (
    Array,
    Choice,
    Data,
    Ink,
    Integer,
    Number,
    Several,
    Switch,
    Text,
    Trait,
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Figure:
    """What a live figure is called, what it shows, what a hand turns, and what a cell gives it.

    ``knobs`` are the traits that the reader changes, each made by :func:`knob`; ``data`` those that
    the notebook gives, all of them ``read_only``.
    """

    title: str
    shows: str
    knobs: Mapping[str, Trait]
    data: Mapping[str, Trait] = dataclasses.field(default_factory=dict)


def knob(trait: Trait, label: str, **look: Any) -> Trait:
    """A trait with a ``label`` that the reader turns; its kind makes its control.

    ``look`` may say: ``logarithmic``, ``step``, ``digits``, ``unit`` and what stands ``before`` a
    number, the ``base`` of which it is an exponent, ``names`` of the options of a choice,
    ``button`` for an integer that a press takes to the next, such as a seed, ``hidden`` for one
    that the figure lets the reader change in its picture alone, and ``more`` for one that is folded
    at first.
    """
    return trait.tag(knob={"label": label, **look})


def _seed(**look: Any) -> Trait:
    return knob(Integer(0, 999, default=0), "Draw again", button=True, **look)


def _particle(name: str, place: int) -> Trait:
    """One of two particles, counted from the hardest on."""
    most = Integer(0, lambda self: len(self.momenta) - 1, default=place)
    return knob(most, f"Particle {name}", more=True)


DISC_METHODS = {
    name: METHODS[name]
    for name in ("explicit_euler", "symplectic_euler", "stoermer_verlet", "runge_kutta_4")
}
FIGURES = {
    "root-d": Figure(
        title="Why divide by √d? Scores of a random query and 16 random keys",
        shows=(
            "The scores of a random query with sixteen random keys, feature by feature: undivided "
            "they spread like the root of d. Beside them the weights, of which one comes to have "
            "all, and the gradient that the softmax of this query still lets through."
        ),
        knobs={
            "dimension": knob(Integer(1, 1024, default=1024), "Dimension d", logarithmic=True),
            "power": knob(
                Number(0.0, 1.0, default=0.0),
                "Divide by dᵖ",
                more=True,
                step=0.05,
                digits=2,
                before="p = ",
            ),
            "seed": _seed(),
        },
    ),
    "spectral-radius": Figure(
        title="Vanishing or exploding: a pair of eigenvalues, a signal and the gradient",
        shows=(
            "A recurrent network of two units without input. A hand moves the complex pair of "
            "eigenvalues of its matrix; along the steps the signal dies, lives or runs away, and "
            "the gradient vanishes or explodes with the power of the spectral radius."
        ),
        knobs={
            "tanh": knob(Switch(default=False), "tanh"),
            "radius": knob(Number(0.0, 2.0, default=1.2), "Spectral radius ρ", step=0.01),
            "angle": knob(Integer(0, 180, default=30), "Angle", unit="°", more=True),
            "stretch": knob(
                Number(1.0, 5.0, default=1.0), "Stretch of W", step=0.1, digits=1, more=True
            ),
        },
    ),
    "roofline": Figure(
        title="Attention under the roofline of a machine",
        shows=(
            "How many operations attention makes for each byte that it moves, by the formula and "
            "in tiles, under the roofline of a machine, with speeds that others have measured; "
            "beside it two chips, of whose lights as many burn as it calculates, and the others "
            "wait for memory."
        ),
        knobs={
            "query_count": knob(
                Integer(1, 65_536, default=8192), "Queries", logarithmic=True, more=True
            ),
            "key_count": knob(
                Integer(1, 65_536, default=8192), "Keys", logarithmic=True, more=True
            ),
            "features": knob(Choice(64, 128, 256, default=128), "Features d", more=True),
            "tile": knob(Integer(1, 1024, default=128), "Queries in a tile", logarithmic=True),
        },
        data={
            "peak": Number(1e-3, 1e6, read_only=True),
            "bandwidth": Number(1e-3, 1e6, read_only=True),
            "ways": Several(Text(), "way", optional=True, read_only=True),
            "speeds": Array("way", within=(0, 1_000_000), optional=True, read_only=True),
        },
    ),
    "disc-of-pendulums": Figure(
        title="A disc of pendulums in phase space",
        shows=(
            "A disc of pendulums over angle and momentum, carried by a method step by step, beside "
            "the true shape; and its area as a bar, beside a mark for that of the start."
        ),
        knobs={
            "method": knob(
                Choice(*DISC_METHODS, default="explicit_euler"), "Method", names=DISC_METHODS
            ),
            "dt": knob(Number(0.05, 0.5, default=0.25), "Step size h", step=0.05),
            "steps": knob(Integer(0, 24, default=18), "Steps"),
            "angle": knob(Number(-math.pi, math.pi, default=0.0), "Angle", hidden=True),
            "momentum": knob(Number(-2.0, 2.0, default=1.3), "Momentum", hidden=True),
        },
    ),
    "shadow-energy": Figure(
        title="The shadow energy of symplectic Euler on an oscillator",
        shows=(
            "Steps of symplectic Euler on an oscillator in phase space, on a level line of the "
            "shadow energy: an ellipse, and for steps longer than 2 a hyperbola. Beside it the "
            "true energy, step by step, between the two bounds that the ellipse sets."
        ),
        knobs={
            "dt": knob(Number(0.1, 2.1, default=1.5), "Step size h", step=0.01),
            "angle": knob(Integer(0, 359, default=0), "Start", hidden=True),
        },
    ),
    "codes-that-die": Figure(
        title="Which codes of a linear VAE are alive",
        shows=(
            "The eigenvalues of the data, with the noise as water that covers some of them, and a "
            "letter drawn again from the codes above the water; those below have collapsed."
        ),
        knobs={
            "noise": knob(
                Number(0.002, 20.0, default=0.85), "Noise s²", logarithmic=True, digits=3
            ),
            "beta": knob(Number(0.1, 10.0, default=1.0), "β", logarithmic=True),
        },
        data={
            "eigenvalues": Array("direction", within=(0, 1_000_000), read_only=True),
            "levels": Array("level", within=(0, 1_000_000), read_only=True),
            "redrawn": Ink("level", "pixel", read_only=True),
            "letter": Ink("pixel", read_only=True),
        },
    ),
    "error-of-blends": Figure(
        title="The errors of hats and of a softmax, as nodes come closer",
        shows=(
            "A function and what hats and a softmax make of its values at even nodes, a few of "
            "them enlarged. Beside it, on logarithmic axes, the largest error of either against "
            "the number of intervals, by the rule for the temperature that the reader chooses."
        ),
        knobs={
            "law": knob(
                Choice("fixed", "ratio", "logarithm", default="fixed"),
                "Temperature τ",
                names={
                    "fixed": "fixed: c/1000",
                    "ratio": "c h²",
                    "logarithm": "c h² ln(1/h)/π²",
                },
            ),
            "intervals": knob(Integer(4, 1024, default=1024), "Intervals, 1/h", logarithmic=True),
            "factor": knob(
                Number(0.1, 3.0, default=1.0), "Factor c of τ", logarithmic=True, more=True
            ),
            "shape": knob(
                Choice("wave", "square", "root", default="wave"),
                "Function u",
                more=True,
                names={"wave": "sin 7x + x", "square": "x²", "root": "√x"},
            ),
            "where": knob(
                Choice("middle", "whole", "reflected", default="middle"),
                "Errors of",
                more=True,
                names={
                    "middle": "the middle half",
                    "whole": "all",
                    "reflected": "all, ends reflected",
                },
            ),
            "all": knob(Switch(default=False), "Show all three rules", more=True),
        },
    ),
    "fading-modes": Figure(
        title="What heat, wave and bracket leave of the modes of the digits",
        shows=(
            "Some modes of the graph of digits, each with the factor by which a flow has changed "
            "it after a time, the slowest ones in another colour. Beside them how many digits "
            "are recognised after that time, exactly and in 8 or 64 layers."
        ),
        knobs={
            "power": knob(Integer(-2, 12, default=7), "Time T", base=2),
            "flow": knob(Choice("heat", "wave", "bracket", default="heat"), "Flow"),
        },
        data={
            "rates": Array("mode", within=(0, 100), read_only=True),
            "slow": Integer(1, 1000, read_only=True),
            "recognised": Array("flow", "time", within=(0, 100), read_only=True),
            "spread": Array("flow", "time", within=(0, 100), read_only=True),
            "times": Array("depth", "run", within=(0, 10_000), read_only=True),
            "layered": Array("flow and depth", "run", within=(0, 100), read_only=True),
        },
    ),
    "deep-stack": Figure(
        title="What depth does to tokens and to gradients, in five stacks",
        shows=(
            "Five towers of up to sixty small layers. Two tokens go up each, as far apart as they "
            "still differ and as thick as they are loud, and a gradient comes down; of the chosen "
            "tower, all layers of both vectors are drawn. In a bare "
            "stack both tokens become one; with a way around each layer and a norm before it they "
            "stay apart, and the gradient arrives."
        ),
        knobs={
            "depth": knob(Integer(1, 60, default=60), "Layers", more=True),
            "gain": knob(Number(0.5, 2.0, default=0.58), "Gain of the weights", step=0.02),
            "kind": knob(
                Choice("bare", "norm", "around", "post", "pre", default="bare"),
                "Stack",
                hidden=True,
            ),
            "biases": knob(Switch(default=True), "Biases", more=True),
            "seed": _seed(more=True),
            "layer": knob(Integer(0, 60, default=60), "Layer", hidden=True),
        },
    ),
    "translator": Figure(
        title="Where a translator looks while it writes a number",
        shows=(
            "An English number, word by word, and the German one that is written, piece by piece. "
            "Lines and a map show how much the decoder looks at each word before it writes a "
            "piece. Where units come before tens, the lines cross."
        ),
        knobs={
            "number": knob(Integer(1, 9999, default=7543), "Number", hidden=True),
            "place": knob(Integer(0, 15, default=6), "Piece", hidden=True),
        },
        data={
            "network": Network(
                EncoderDecoder,
                lambda model: transformer_facts(
                    model.decoder.embedding, model.decoder.blocks, tied=True
                ),
                most_bytes=30_000,
                fewest_bits=5,
            ),
        },
    ),
    "next-letter": Figure(
        title="Choosing the next letter: temperature, top-k and top-p",
        shows=(
            "The probabilities that a decoder gives the next letter, the largest first, and those "
            "from which the letter is drawn: temperature sharpens or flattens them, top-k and "
            "top-p cut off the least probable, and what is left is rescaled to sum to one."
        ),
        knobs={
            "temperature": knob(
                Number(0.1, 2.0, default=1.0), "Temperature τ", step=0.05, before="τ = "
            ),
            "top_k": knob(Integer(1, 100, default=100), "Top-k", logarithmic=True),
            "top_p": knob(Number(0.05, 1.0, default=1.0), "Top-p", step=0.05),
            "after": knob(Integer(0, 99, default=0), "After", hidden=True),
        },
        data={
            "beginnings": Several(Text(), "beginning", read_only=True),
            "letters": Several(Text(), "letter", read_only=True),
            "logits": Array("beginning", "letter", read_only=True),
        },
    ),
    "which-country": Figure(
        title="Bayes’ rule: which country is a name from?",
        shows=(
            "The name of a town, letter by letter, and the probability of each of ten countries "
            "after the letters so far, by Bayes’ rule from a decoder that only writes. Before any "
            "letter the probabilities are those of the prior."
        ),
        knobs={
            "prior": knob(
                Choice("even", "towns", default="even"),
                "Prior",
                names={"even": "all countries alike", "towns": "by their number of towns"},
            ),
            "place": knob(Integer(0, 20, default=20), "Letters read", hidden=True),
            "name": knob(Integer(0, 99, default=0), "Town", hidden=True),
        },
        data={
            "countries": Several(Text(), "country", read_only=True),
            "towns": Array("country", within=(1, 1_000_000), read_only=True),
            "names": Several(Text(), "name", read_only=True),
            "truth": Array("name", within=(0, 99), read_only=True),
            "logs": Array("name", "country", "letter", within=(-1000, 0), read_only=True),
        },
    ),
    "kv-cache": Figure(
        title="Writing with a KV cache and without",
        shows=(
            "A text, letter by letter, and the keys and values of one head of a decoder, a column "
            "for each letter. A frame shows which columns are computed for the last letter: all of "
            "them without a cache, one with it. Beside it the work so far."
        ),
        knobs={
            "cached": knob(Switch(default=True), "Keep keys and values"),
            "written": knob(
                Integer(1, lambda self: len(self.text), default=lambda self: len(self.text)),
                "Letters written",
            ),
        },
        data={
            "text": Several(Text(), "letter", read_only=True),
            "key_rows": Array("letter", "feature", read_only=True),
            "value_rows": Array("letter", "feature", read_only=True),
            "layers": Integer(1, 1000, read_only=True),
            "width": Integer(1, 100_000, read_only=True),
        },
    ),
    "drafts": Figure(
        title="A small decoder drafts, a large one judges",
        shows=(
            "Calls of a large decoder, a row each. A small decoder has drafted some letters; the "
            "call keeps them up to the first that it refuses, and adds a letter of its own. Beside "
            "it what both decoders give each drafted letter, and what the draw asks for."
        ),
        knobs={
            "ahead": knob(Integer(1, 8, default=4), "Drafted at once"),
            "call": knob(Integer(1, 22, default=22), "Call", hidden=True),
            "town": knob(Integer(0, 99, default=0), "Text", hidden=True),
        },
        data={
            "texts": Several(Text(), "text", read_only=True),
            "drafts": Several(Text(longest=400), "text", read_only=True),
            "p": Array("text", "place", within=(0, 1), read_only=True),
            "q": Array("text", "place", within=(0, 1), read_only=True),
            "u": Array("text", "place", within=(0, 1), read_only=True),
        },
    ),
    "two-gradients": Figure(
        title="Two estimates of one gradient, from the same draws",
        shows=(
            "Draws from a cloud with the value of a function at each. Beside them, what each draw "
            "says of the gradient of the mean: by the slope at the draw (pathwise), and by the "
            "value times the score of the draw. Both are right on average; one is far noisier."
        ),
        knobs={
            "dimension": knob(Integer(1, 64, default=16), "Dimension d", logarithmic=True),
            "shape": knob(
                Choice("bowl", "wave", default="bowl"),
                "f(z)",
                names={"bowl": "½‖z‖²", "wave": "sin 8z₁"},
            ),
            "baseline": knob(Switch(default=False), "Subtract the mean of f"),
            "centre": knob(Number(-2.0, 2.0, default=0.0), "Centre", hidden=True),
            "seed": _seed(),
        },
    ),
    "shared-keys": Figure(
        title="The keys of one query, shared out over a chip",
        shows=(
            "The multiprocessors of a chip, each as dark as it has keys to read. Beside it, "
            "against the number of parts into which the keys of each head are split: how many "
            "keys the busiest multiprocessor reads, and how many bytes move, reports included."
        ),
        knobs={
            "parts": knob(Integer(1, 256, default=4), "Parts of the keys", logarithmic=True),
            "heads": knob(Integer(1, 256, default=32), "Heads", logarithmic=True),
            "key_count": knob(
                Integer(1, 1_000_000, default=100_000), "Keys", logarithmic=True, more=True
            ),
            "features": knob(Choice(64, 128, 256, default=128), "Features d", more=True),
        },
        data={"multiprocessors": Integer(1, 1000, read_only=True)},
    ),
    "programs": Figure(
        title="The tiles that each program of a kernel visits, and when it runs",
        shows=(
            "A table of queries by keys in tiles. A row of tiles belongs to one program, which "
            "sees the keys before the mark cut whole, checks those up to the mark end, and skips "
            "the rest. Beside it, when each program runs on a few multiprocessors."
        ),
        knobs={
            "causal": knob(Switch(default=True), "Causal mask"),
            "last_first": knob(Switch(default=True), "Last queries first"),
            "program": knob(Integer(0, 35, default=1), "Program", hidden=True),
            "tile": knob(Integer(1, 12, default=4), "Tile", more=True),
            "query_count": knob(Integer(1, 36, default=24), "Queries", more=True),
            "ahead": knob(Integer(0, 12, default=4), "Keys ahead", more=True),
            "multiprocessors": knob(Integer(1, 6, default=3), "Multiprocessors", more=True),
        },
    ),
    "hidden-night": Figure(
        title="Hide a night of a star, guess it, and see what others fill in",
        shows=(
            "The nights of a star around one that is hidden, in days or folded at the period. The "
            "reader moves a ring to a guess; then the night is shown with what the star did, and "
            "how far off the guess is, and how far off are the values that others fill in."
        ),
        knobs={
            "folded": knob(Switch(default=False), "Fold"),
            "asked": knob(Switch(default=False), "Show the night"),
            "night": knob(
                Integer(0, lambda self: len(self.time) - 1, default=0), "Hidden night", hidden=True
            ),
            "guess": knob(Number(0.0, 1.0, default=0.5), "Guess", hidden=True),
        },
        data={
            "time": Array("night", within=(0, 1000), read_only=True),
            "magnitude": Array("night", read_only=True),
            "error": Array("night", within=(0, 100), read_only=True),
            "period": Number(0.01, 1000, read_only=True),
            "own_period": Number(0.01, 1000, read_only=True),
            "light": Array("moment", read_only=True),
            "ways": Several(Text(), "way", read_only=True),
            "said": Array("way", "night", read_only=True),
        },
    ),
    "few-nights": Figure(
        title="What three ways make of few nights of a star, and of many",
        shows=(
            "Some nights of a star, folded at its period, with the curves that a library of "
            "shapes, a network and a series of cosines draw through them, and what the star did. "
            "Beside it the error of each way over many stars, against the number of nights."
        ),
        knobs={
            "step": knob(
                Integer(0, lambda self: len(self.counts) - 1, default=0),
                "Visible nights",
                hidden=True,
            ),
            "star": knob(Integer(0, 9, default=0), "Star", hidden=True),
        },
        data={
            "stars": Several(Text(), "star", read_only=True),
            "counts": Several(Integer(1, 1000), "count", read_only=True),
            "ways": Several(Text(), "way", read_only=True),
            "phases": Array("star", "night", within=(0, 1), read_only=True),
            "magnitude": Array("star", "night", read_only=True),
            "error": Array("star", "night", within=(0, 100), read_only=True),
            "light": Array("star", "moment", read_only=True),
            "said": Array("row", "moment", read_only=True),
            "errors": Array("way", "count", within=(0, 100), read_only=True),
            "spreads": Array("way", "count", within=(0, 100), read_only=True),
        },
    ),
    "stated-bands": Figure(
        title="How many hidden nights a band holds, against what it states",
        shows=(
            "Some hidden nights, each with the band that a method states for it, and whether the "
            "band holds it. Beside them the share of all hidden nights that bands hold, against "
            "the share that they state: on the diagonal a band holds what it states."
        ),
        knobs={
            "stated": knob(Integer(1, 99, default=68), "Stated", unit="%"),
            "way": knob(Integer(0, 9, default=0), "Bands of", hidden=True),
            "period": knob(
                Choice("all", "right", "wrong", default="all"),
                "Period",
                names={"all": "any", "right": "right", "wrong": "wrong"},
            ),
        },
        data={
            "ways": Several(Text(), "way", read_only=True),
            "widths": Array("level", within=(0, 10), read_only=True),
            "held": Array("group", "level", within=(0, 1), read_only=True),
            "off": Array("group", "night", read_only=True),
            "deviation": Array("group", "night", within=(0, 100), read_only=True),
        },
    ),
    "boosted-jet": Figure(
        title="What a boost leaves unchanged of a jet’s particles",
        shows=(
            "The particles of a jet over rapidity and azimuth, before a boost and after it. Beside "
            "them how a boost changes what two chosen particles have in common: along the beam all "
            "four pair features stay, along the jet only the mass."
        ),
        knobs={
            "direction": knob(
                Choice("beam", "jet", default="beam"),
                "Boost",
                names={"beam": "along the beam", "jet": "along the jet"},
            ),
            "shift": knob(Number(-1.0, 1.0, default=0.7), "Rapidity s", step=0.05),
            "first": _particle("a", 0),
            "second": _particle("b", 1),
        },
        data={"momenta": Array("particle", "component", read_only=True)},
    ),
    "pair-bias": Figure(
        title="What a trained head adds to the score of two particles",
        shows=(
            "The particles of a jet, with the bias that a head of the trained network gives each "
            "of them together with a chosen one. Beside them the bias of all pairs against their "
            "distance."
        ),
        knobs={
            "head": knob(Integer(1, lambda self: self.bias.shape[0], default=1), "Head"),
            "first": _particle("a", 0),
            "second": _particle("b", 1),
        },
        data={
            "momenta": Array("particle", "component", read_only=True),
            "bias": Array("head", "particle", "particle", read_only=True),
        },
    ),
    "resonance": Figure(
        title="Four oscillators, coupled weakly by attention",
        shows=(
            "Four oscillators that attention couples weakly. Energy wanders slowly from one to "
            "another and back, while the total hardly changes; with frequencies apart hardly any "
            "wanders. A hand may put each elsewhere."
        ),
        knobs={
            "alike": knob(Switch(default=False), "Begin alike"),
            "epsilon": knob(
                Number(0.003, 0.1, default=0.03), "Coupling ε", logarithmic=True, digits=3
            ),
            "apart": knob(Number(0.0, 0.2, default=0.0), "Out of tune by", step=0.01),
            "start": knob(Integer(0, 9, default=0), "Begin elsewhere", hidden=True),
            "placed": knob(
                Several(Number(-10.0, 10.0), most=8, default=()), "Where they began", hidden=True
            ),
        },
        data={
            "q": Array("start", "token", read_only=True),
            "p": Array("start", "token", read_only=True),
        },
    ),
    "listening": Figure(
        title="How much of a far node is heard",
        shows=(
            "A node of a graph listens through rounds of message passing. The share of each node "
            "in what it hears is drawn on the graph and against the rounds: in a tree one far "
            "node all but vanishes, until one edge joins it to the listener; and after many rounds "
            "all nodes hear much the same."
        ),
        knobs={
            "rounds": knob(Integer(1, 30, default=9), "Rounds"),
            "graph": knob(Choice("row", "ring", "tree", "grid", default="tree"), "Graph"),
            "layer": knob(
                Choice("neighbours", "sum", "normalized", default="neighbours"),
                "A node hears",
                more=True,
                names={
                    "neighbours": "its neighbours",
                    "sum": "itself too",
                    "normalized": "both, normalized",
                },
            ),
            "joined": knob(Switch(default=False), "Listener and far node joined", hidden=True),
            "listener": knob(Integer(0, 62, default=16), "Listener", hidden=True),
        },
    ),
}


class LiveFigure(MovingWidget):
    """The live ``figure`` of a name, with its knobs and data as traits of their own.

    Each of ``FIGURES`` has its own module here, which alone a page carries. It is
    ``moving`` once it is seen, unless the reader has asked for less motion or you for none. All
    traits but the data are synced both ways. Raises ``TypeError`` and ``ValueError`` for a name
    that is not there and for what a knob cannot be turned to.
    """

    _module = "live/live_figure.js"

    figure = Choice(*FIGURES, read_only=True)
    about = Data(lambda self: self._about())

    def __new__(cls, figure: str = "", *_by_place: Any, **_given: Any) -> LiveFigure:
        """A figure's traits belong to a class of its own."""
        known = isinstance(figure, str) and figure in FIGURES
        return super().__new__(_class_of(figure) if cls is LiveFigure and known else cls)

    def describe(self) -> str:
        """What the picture shows."""
        about = FIGURES[self.figure]
        end = "" if about.title.endswith("?") else "."
        return f"{about.title}{end} {about.shows}"

    def _about(self) -> dict[str, Any]:
        about = FIGURES[self.figure]
        knobs = {
            name: {**(trait.limits(self) or {}), **trait.metadata["knob"]}
            for name, trait in about.knobs.items()
        }
        axes = {name: len(getattr(trait, "axes", ())) for name, trait in about.data.items()}
        return {"title": about.title, "knobs": knobs, "data": axes}


@functools.cache
def _class_of(figure: str) -> type[LiveFigure]:
    about = FIGURES[figure]
    module = f"live/{figure.replace('-', '_')}.js"
    traits = {"_module": module, "__doc__": LiveFigure.__doc__, "__module__": __name__}
    return type("LiveFigure", (LiveFigure,), {**traits, **about.data, **about.knobs})
