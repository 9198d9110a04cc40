"""TinyGPT: type a beginning, and a decoder that runs in the page writes on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from course_lib.generation import next_token_probabilities
from course_lib.transformer import Decoder
from course_lib.widgets.kit.letters import Mark, visible
from course_lib.widgets.kit.packed_weights import Limits, ModelWidget, model_of, transformer_facts
from course_lib.widgets.kit.traits import (
    Choice,
    Data,
    Index,
    Integer,
    Number,
    Several,
    Text,
    brief,
    named,
)

LARGEST_SEED = 2**32 - 1


def _without_marks(gpt: Any, prompt: str) -> str:
    marks = {gpt.alphabet[mark] for mark in (gpt.start, gpt.stop) if mark >= 0}
    if found := sorted(marks & set(prompt)):
        raise ValueError(
            f"prompt {brief(prompt)} holds {', '.join(map(repr, found))}, which stands for the "
            "start or the end of a text; leave it out: start is set before every text"
        )
    if not prompt and gpt.start < 0:
        raise ValueError(
            "prompt is empty and the model has no start to read instead; expected one letter at "
            "least; give a prompt, or name the character that begins every text as start"
        )
    return prompt


def _not_beyond_the_end(gpt: Any, written: str) -> str:
    if gpt.stop >= 0 and (stop := gpt.alphabet[gpt.stop]) in written[:-1]:
        raise ValueError(
            f"written {brief(written)} goes on after {stop!r}, where a text ends; cut it there"
        )
    return written


class TinyGPT(ModelWidget):
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
    is part of the state, so the same state writes the same text. The page lays the probabilities
    end to end, and a needle falls on them.

    ``beginnings`` maps names to prompts; each becomes a button, which writes after that prompt.
    At first sight the page writes one text to its end, unless a hand stops it, the reader has asked
    for less motion or you for none with ``moving``.

    Traits, synced both ways: ``prompt``, ``written`` (letters after the prompt), ``temperature``
    (0.1 to 2), ``top_k``, ``top_p`` (0.05 to 1; the vocabulary's size and 1 cut nothing), ``seed``,
    ``draws``, ``place`` (the letter whose choice is shown; -1 for the last, the coming one if there
    is one), ``option`` (the id that is looked at; -1 for the one chosen there) and ``order`` of the
    letters (``"probability"`` or ``"alphabet"``). Raises ``TypeError`` and ``ValueError`` for what
    cannot run in the page. Sources: Radford et al. (2018); Holtzman et al. (2020) for top-p.
    """

    _limits = Limits(
        parameters=100_000, tokens=64, letters=96, heads=24, weight_bytes=201_000, bits=11
    )

    start = Mark(optional=True)
    stop = Mark(optional=True)
    prompt = Text(
        alphabet=lambda self: self.alphabet,
        longest=lambda self: self._room(),
        default="",
        rule=_without_marks,
    )
    beginnings = Several(
        Text(
            alphabet=lambda self: self.alphabet,
            longest=lambda self: self._room(),
            rule=_without_marks,
        ),
        most=12,
        default=(),
        read_only=True,
    )
    beginning_names = Data(lambda self: self._names)
    # The last letter is not read, so there may be one more than the model can read.
    written = Text(
        alphabet=lambda self: self.alphabet,
        longest=lambda self: self._room() + 1 - len(self.prompt),
        default="",
        rule=_not_beyond_the_end,
    )
    temperature = Number(0.1, 2.0, default=0.8)
    top_k = Integer(
        1, lambda self: self.facts["vocabulary"], default=lambda self: self.facts["vocabulary"]
    )
    top_p = Number(0.05, 1.0, default=lambda _: 1.0)
    seed = Integer(0, LARGEST_SEED, default=0)
    draws = Integer(0, LARGEST_SEED, default=0)
    place = Index(of=lambda self: self._room() + 1, unset=True)
    option = Index(of=lambda self: self.facts["vocabulary"], unset=True)
    order = Choice("probability", "alphabet", default="probability")

    def __init__(
        self,
        model: Decoder,
        alphabet: str,
        *,
        beginnings: Mapping[str, str] | None = None,
        **given: Any,
    ) -> None:
        table = named("beginnings", beginnings)
        self._names = list(table)
        prompts = {"beginnings": list(table.values())} if table else {}
        super().__init__(model, _facts_of(model), alphabet, **prompts, **given)

    @property
    def model(self) -> Decoder:
        """The decoder with the weights that travel, in float32, which holds them exactly."""
        return decoder_of(self.facts, self.weights)

    def losses(self, ids: Tensor, targets: Tensor) -> tuple[float, float]:
        """Mean cross-entropy of the ``targets`` before and after rounding, in float64.

        ``ids`` and ``targets`` are ``(*batch, tokens)``; a target of -100 is left out. The
        difference is what the page loses to the lecture.
        """
        with torch.no_grad():
            logits = (decoder(ids).flatten(0, -2) for decoder in self._both())
            before, after = (F.cross_entropy(z, targets.flatten()).item() for z in logits)
        return before, after

    def describe(self) -> str:
        """The model, the text so far, and the letters that are most probable after it."""
        text = self.prompt + self.written
        said = (
            f"A decoder of {self._size()}, that writes letter by letter. So far: “{visible(text)}”."
        )
        ids = [*([self.start] if self.start >= 0 else []), *map(self.alphabet.index, text)]
        if self._finished(text) or len(ids) > self.facts["tokens"]:
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


def decoder_of(facts: dict[str, Any], packed: dict[str, Any]) -> Decoder:
    """The decoder, in float32 and in evaluation mode, whose weights travel as ``packed``."""
    return model_of(Decoder, facts, packed)


def _facts_of(model: object) -> dict[str, Any]:
    if not isinstance(model, Decoder):
        raise TypeError(
            f"model is a {type(model).__name__}; expected a course_lib.transformer.Decoder"
        )
    if model.blocks[0].cross:
        raise ValueError(
            "model has cross-attention, for which the page has no source to look at; expected a "
            "Decoder made with cross=False"
        )
    attention = model.blocks[0].attention
    if attention.kv_heads != attention.heads:
        raise ValueError(
            f"model has kv_heads = {attention.kv_heads} and heads = {attention.heads}, and the "
            "page lets no heads share keys; expected as many of both; train a Decoder without "
            "kv_heads"
        )
    tied = model.lm_head.weight is model.embedding.token.weight
    return transformer_facts(model.embedding, model.blocks, tied=tied)
