"""TinyGPT: type a beginning, and a decoder that runs in the page writes on."""

from __future__ import annotations

from typing import Any

import torch
import traitlets
from torch import Tensor
from torch.nn import functional as F

from course_lib.generation import next_token_probabilities
from course_lib.transformer import Decoder
from course_lib.widgets.base import Widget
from course_lib.widgets.letters import check_alphabet, check_letters, id_of, visible
from course_lib.widgets.packed_weights import (
    check_size_of_model,
    model_of,
    pack,
    parameters_of,
    transformer_facts,
    transformer_shapes,
)
from course_lib.widgets.traits import number_between, one_of

MOST_PARAMETERS = 100_000
MOST_WEIGHT_BYTES = 201_000
FEWEST_BITS = 11
MOST_LETTERS = 96
MOST_TOKENS = 64
MOST_HEADS = 24
COLDEST, HOTTEST = 0.1, 5.0
LEAST_SHARE = 0.05
LARGEST_SEED = 2**32 - 1
ORDERS = ("probability", "alphabet")


class TinyGPT(Widget):
    r"""A trained decoder that runs in the page, in the reader's hands.

    ``model`` is a :class:`course_lib.transformer.Decoder` of at most 100,000 parameters, with
    learned, sinusoidal, rotary or no positions, pre- or post-norm, tied or not, without
    cross-attention. Character i of ``alphabet`` is id i. ``start`` is the character that stands
    before every text in training, ``stop`` the one after it; they may be the same one, and without
    a ``start`` a text needs a ``prompt``. The page computes, for every letter, the distribution
    that it was chosen from and what every head looked at, and writes on letter by letter with
    ``temperature``, ``top_k`` and ``top_p`` as in
    :func:`course_lib.generation.next_token_probabilities`.

    The weights travel rounded: a parameter is a whole number of 11 to 16 bits times the step of its
    row, a bfloat16. It has the most bits that fit into the page: ``widget.bits``, 13 for 90,000
    parameters, 16 for 70,000.
    ``widget.model`` is the decoder with just these weights. All that the page shows is computed
    from them, in double precision; ``widget.losses(ids, targets)`` says what the rounding costs.

    Draw n of the page is a $u_n \in [0, 1)$ that is mixed from ``seed`` and n alone, and falls on
    the first id at which the probabilities add up to more. ``draws``, how many were taken so far,
    is part of the state, so the same state writes the same text.

    Traits, synced both ways: ``prompt``, ``written`` (letters after the prompt), ``temperature``
    (0.1 to 5), ``top_k``, ``top_p`` (0.05 to 1; the vocabulary's size and 1 cut nothing), ``seed``,
    ``draws``, ``place`` (the letter whose choice is shown; -1 for the last, the coming one if there
    is one), ``option`` (the id that is looked at; -1 for the one chosen there) and ``order`` of the
    letters (``"probability"`` or ``"alphabet"``). Raises ``TypeError`` and ``ValueError`` for what
    cannot run in the page. Sources: Radford et al. (2018); Holtzman et al. (2020) for top-p.
    """

    _module = "tiny_gpt.js"

    facts = traitlets.Dict(read_only=True).tag(sync=True)
    weights = traitlets.Dict(read_only=True).tag(sync=True)
    alphabet = traitlets.Unicode(read_only=True).tag(sync=True)
    start = traitlets.Int(read_only=True).tag(sync=True)
    stop = traitlets.Int(read_only=True).tag(sync=True)
    prompt = traitlets.Unicode().tag(sync=True)
    written = traitlets.Unicode().tag(sync=True)
    temperature = traitlets.Float(0.8).tag(sync=True)
    top_k = traitlets.Int().tag(sync=True)
    top_p = traitlets.Float(1.0).tag(sync=True)
    seed = traitlets.Int().tag(sync=True)
    draws = traitlets.Int().tag(sync=True)
    place = traitlets.Int(-1).tag(sync=True)
    option = traitlets.Int(-1).tag(sync=True)
    order = traitlets.Unicode("probability").tag(sync=True)

    def __init__(
        self,
        model: Decoder,
        alphabet: str,
        *,
        prompt: str = "",
        written: str = "",
        temperature: float | int = 0.8,
        top_k: int | None = None,
        top_p: float | int | None = None,
        start: str | None = None,
        stop: str | None = None,
        seed: int = 0,
        place: int = -1,
        order: str = "probability",
        **dom: Any,
    ) -> None:
        facts = _facts_of(model)
        check_alphabet(alphabet, facts["vocabulary"])
        self._original = parameters_of(model, transformer_shapes(facts))
        self.set_trait("facts", facts)
        weights = pack(self._original, most_bytes=MOST_WEIGHT_BYTES, fewest_bits=FEWEST_BITS)
        self.set_trait("weights", weights)
        self.set_trait("alphabet", alphabet)
        self.set_trait("start", _place_of("start", start, alphabet))
        self.set_trait("stop", _place_of("stop", stop, alphabet))
        for name, value in (("prompt", prompt), ("written", written)):
            if not isinstance(value, str):
                raise TypeError(f"{name} is {value!r}; expected a string of letters")
        self._check_prompt(prompt)
        self._check_written(prompt, written)
        integers = {"seed": seed, "place": place}
        integers["top_k"] = facts["vocabulary"] if top_k is None else top_k
        for name, value in integers.items():
            if isinstance(value, bool) or not isinstance(value, int):
                raise TypeError(f"{name} must be an integer; given {value!r}")
        super().__init__(
            prompt=prompt,
            written=written,
            temperature=number_between("temperature", temperature, COLDEST, HOTTEST),
            top_p=number_between("top_p", 1.0 if top_p is None else top_p, LEAST_SHARE, 1.0),
            order=order,
            **integers,
            **dom,
        )

    @property
    def model(self) -> Decoder:
        """The decoder with the weights that travel, in float32, which holds them exactly."""
        return decoder_of(self.facts, self.weights)

    @property
    def bits(self) -> int:
        """How many bits a parameter has on its way to the page."""
        return self.weights["bits"]

    def losses(self, ids: Tensor, targets: Tensor) -> tuple[float, float]:
        """Mean cross-entropy of the ``targets`` before and after rounding, in float64.

        ``ids`` and ``targets`` are ``(*batch, tokens)``; a target of -100 is left out. The
        difference is what the page loses to the lecture.
        """
        there = self.model.double()
        here = decoder_of(self.facts, self.weights).double()
        here.load_state_dict(self._original, strict=False)
        with torch.no_grad():
            logits = (decoder(ids).flatten(0, -2) for decoder in (here, there))
            before, after = (F.cross_entropy(z, targets.flatten()).item() for z in logits)
        return before, after

    def describe(self) -> str:
        """The model, the text so far, and the letters that are most probable after it."""
        facts = self.facts
        count = sum(rows * columns for rows, columns in transformer_shapes(facts).values())
        text = self.prompt + self.written
        said = (
            f"A decoder of {count:,} parameters, {facts['layers']} layers of {facts['heads']} "
            f"heads each, that writes letter by letter. So far: “{visible(text)}”."
        )
        ids = [*([self.start] if self.start >= 0 else []), *map(self.alphabet.index, text)]
        if self._finished(text) or len(ids) > facts["tokens"]:
            return f"{said} It is finished."
        with torch.no_grad():
            logits = self.model.double()(torch.tensor(ids))[-1]
        probability = next_token_probabilities(
            logits, temperature=self.temperature, top_k=self.top_k, top_p=self.top_p
        )
        best = probability.sort(descending=True, stable=True)
        listed = ", ".join(
            f"{visible(self.alphabet[place])} {share:.3f}"
            for share, place in zip(best.values[:3], best.indices[:3], strict=True)
        )
        return f"{said} What may come next, the most probable first: {listed}."

    def _finished(self, text: str) -> bool:
        return self.stop >= 0 and text.endswith(self.alphabet[self.stop])

    def _room(self) -> int:
        """How many letters the model can read."""
        return self.facts["tokens"] - (self.start >= 0)

    def _check_prompt(self, prompt: str) -> None:
        check_letters("prompt", prompt, self.alphabet)
        marks = {self.alphabet[mark] for mark in (self.start, self.stop) if mark >= 0}
        if found := sorted(marks & set(prompt)):
            raise ValueError(
                f"prompt {prompt!r} holds {', '.join(map(repr, found))}, which stands for the "
                "start or the end of a text; leave it out: start is set before every text"
            )
        if not prompt and self.start < 0:
            raise ValueError(
                "prompt is empty and the model has no start to read instead; expected one letter "
                "at least; give a prompt, or name the character that begins every text as start"
            )
        if len(prompt) > self._room():
            raise ValueError(
                f"prompt has {len(prompt)} letters; expected {self._room()} at most, since the "
                f"model has {self.facts['tokens']} positions; shorten it"
            )

    def _check_written(self, prompt: str, written: str) -> None:
        check_letters("written", written, self.alphabet)
        if self.stop >= 0 and self.alphabet[self.stop] in written[:-1]:
            raise ValueError(
                f"written {written!r} goes on after {self.alphabet[self.stop]!r}, where a text "
                "ends; cut it there"
            )
        # The last letter is not read, so there may be one more than the model can read.
        if len(prompt) + len(written) > self._room() + 1:
            raise ValueError(
                f"prompt and written have {len(prompt) + len(written)} letters; expected "
                f"{self._room() + 1} at most, since the model has {self.facts['tokens']} positions"
            )

    @traitlets.validate("prompt")
    def _prompt_can_be_read(self, proposal: dict[str, Any]) -> str:
        self._check_prompt(proposal["value"])
        return proposal["value"]

    @traitlets.validate("written")
    def _written_can_be_read(self, proposal: dict[str, Any]) -> str:
        self._check_written("", proposal["value"])
        return proposal["value"]

    @traitlets.validate("order")
    def _order_is_offered(self, proposal: dict[str, Any]) -> str:
        return one_of("order", proposal["value"], ORDERS)

    @traitlets.validate("temperature", "top_k", "top_p", "seed", "draws", "place", "option")
    def _within(self, proposal: dict[str, Any]) -> float | int:
        name, value = proposal["trait"].name, proposal["value"]
        low, high = {
            "temperature": (COLDEST, HOTTEST),
            "top_k": (1, self.facts["vocabulary"]),
            "top_p": (LEAST_SHARE, 1.0),
            "seed": (0, LARGEST_SEED),
            "draws": (0, LARGEST_SEED),
            "place": (-1, self._room()),
            "option": (-1, self.facts["vocabulary"] - 1),
        }[name]
        number_between(name, value, low, high)
        return value

    @traitlets.observe("prompt")
    def _begin_anew(self, change: dict[str, Any]) -> None:
        """What does not fit behind a longer prompt was written after another one."""
        if len(change["new"]) + len(self.written) > self._room() + 1:
            self.written = ""


# The journey of the weights ---------------------------------------------------------------------


def decoder_of(facts: dict[str, Any], packed: dict[str, Any]) -> Decoder:
    """The decoder, in float32 and in evaluation mode, whose weights travel as ``packed``."""
    names = ("vocabulary", "d_model", "heads", "layers")
    options = {name: value for name, value in facts.items() if name not in names}

    def make() -> Decoder:
        return Decoder(*(facts[name] for name in names), **options)

    return model_of(make, transformer_shapes(facts), packed, strict=not facts["tied"])


# What cannot run in the page --------------------------------------------------------------------


def _facts_of(model: object) -> dict[str, Any]:
    """All that has to be known of a decoder besides its weights."""
    if not isinstance(model, Decoder):
        raise TypeError(
            f"model is a {type(model).__name__}; expected a course_lib.transformer.Decoder"
        )
    if model.blocks[0].cross:
        raise ValueError(
            "model has cross-attention, for which the page has no source to look at; expected a "
            "Decoder made with cross=False"
        )
    facts = transformer_facts(model.embedding, model.blocks)
    facts["tied"] = model.readout.weight is model.embedding.token.weight
    check_size_of_model(
        facts,
        transformer_shapes(facts),
        most_parameters=MOST_PARAMETERS,
        most_tokens=MOST_TOKENS,
        most_letters=MOST_LETTERS,
        most_heads=MOST_HEADS,
    )
    return facts


def _place_of(name: str, mark: object, alphabet: str) -> int:
    """The id of ``start`` or ``stop``; -1 if there is none."""
    return -1 if mark is None else id_of(name, mark, alphabet, others=", or None")
