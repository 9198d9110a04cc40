"""LetterHider: hide letters of a word, and see what a trained encoder expects there."""

from collections.abc import Iterable
from typing import Any

import torch
import traitlets
from jaxtyping import Bool, Float, Int
from torch import Tensor

from course_lib.masked_language_model import MaskedLanguageModel, masked_loss
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
from course_lib.widgets.traits import number_between, texts

MOST_PARAMETERS = 30_000
MOST_WEIGHT_BYTES = 38_800
FEWEST_BITS = 7
MOST_LETTERS = 64
MOST_TOKENS = 24
MOST_HEADS = 16
MOST_WORDS = 8
STACK = "encoder."


class LetterHider(Widget):
    r"""A trained encoder that guesses hidden letters, in the page and in the reader's hands.

    ``model`` is a :class:`course_lib.masked_language_model.MaskedLanguageModel` of at most 30,000
    parameters, 24 positions and 64 ids, with 16 heads at most in all layers; positions and norms
    may be of any kind. Character i of ``alphabet`` is id i, and ``mask`` is the character that the
    model sees in place of a hidden letter. The page shows what :func:`expected_letters` computes: a
    letter is never expected to be the mask, so the mask takes no part in the softmax. Of a letter
    that is not hidden it shows what the model would expect if that letter were hidden too.

    The weights travel rounded: a parameter is a whole number of 7 to 16 bits times the step of its
    row, a bfloat16. It has the most bits that fit into 60 kB with all else: ``widget.bits``, 8 for
    27,000 parameters and 11 for 20,000. ``widget.model`` is the model with just these weights; all
    that the page shows is computed from them, in double precision.
    ``widget.losses(ids, hidden)`` says what the rounding costs.

    Traits, synced both ways: ``word`` (1 letter to as many as the model has positions), ``hidden``
    (the places of its hidden letters, which count from 0; the page counts from 1), ``place`` (the
    letter whose guesses are shown; -1 for the first hidden one, or the first) and ``option`` (the
    id whose numbers are shown; -1 for the true letter). Up to 8 ``words`` are offered as examples.
    Raises ``TypeError`` and ``ValueError`` for what cannot be read, or run in the page.
    Source: Devlin et al. (2019), section 3.1.
    """

    _module = "letter_hider.js"

    facts = traitlets.Dict(read_only=True).tag(sync=True)
    weights = traitlets.Dict(read_only=True).tag(sync=True)
    alphabet = traitlets.Unicode(read_only=True).tag(sync=True)
    mask = traitlets.Int(read_only=True).tag(sync=True)
    words = traitlets.List(traitlets.Unicode(), read_only=True).tag(sync=True)
    word = traitlets.Unicode().tag(sync=True)
    hidden = traitlets.List(traitlets.Int()).tag(sync=True)
    place = traitlets.Int(-1).tag(sync=True)
    option = traitlets.Int(-1).tag(sync=True)

    def __init__(
        self,
        model: MaskedLanguageModel,
        alphabet: str,
        *,
        mask: str,
        word: str,
        hidden: Iterable[int] = (),
        place: int = -1,
        option: int = -1,
        words: Iterable[str] = (),
        **dom: Any,
    ) -> None:
        facts = _facts_of(model)
        check_alphabet(alphabet, facts["vocabulary"])
        self._original = parameters_of(model, _shapes(facts))
        weights = pack(self._original, most_bytes=MOST_WEIGHT_BYTES, fewest_bits=FEWEST_BITS)
        self.set_trait("facts", facts)
        self.set_trait("weights", weights)
        self.set_trait("alphabet", alphabet)
        self.set_trait("mask", id_of("mask", mask, alphabet))
        self.set_trait("words", self._examples(words))
        if not isinstance(word, str):
            raise TypeError(f"word is {word!r}; expected a string of letters")
        self._check_word("word", word)
        for name, value in (("place", place), ("option", option)):
            if isinstance(value, bool) or not isinstance(value, int):
                raise TypeError(f"{name} must be an integer; given {value!r}")
        super().__init__(word=word, hidden=_places(hidden), place=place, option=option, **dom)

    @property
    def model(self) -> MaskedLanguageModel:
        """The model with the weights that travel, in float32, which holds them exactly."""
        return masked_model_of(self.facts, self.weights)

    @property
    def bits(self) -> int:
        """How many bits a parameter has on its way to the page."""
        return self.weights["bits"]

    def expected(self) -> Float[Tensor, "tokens vocabulary"]:
        """What the page shows: :func:`expected_letters` at every place of the word, in float64."""
        ids = torch.tensor([self.alphabet.index(letter) for letter in self.word])
        return expected_letters(self.model.double(), ids, hidden=self.hidden, mask=self.mask)

    def losses(
        self,
        ids: Int[Tensor, "*batch tokens"],
        hidden: Bool[Tensor, "*batch tokens"],
        *,
        real: Bool[Tensor, "*batch tokens"] | None = None,
    ) -> tuple[float, float]:
        """The mean surprise at hidden letters before and after rounding, in float64.

        ``ids`` are the true ones, ``hidden`` is True where the model sees the mask, and ``real``
        False where a batch is padded. The difference is what the page loses to the lecture.
        """
        there, here = self.model.double(), self.model.double()
        here.load_state_dict(self._original)
        seen = ids.masked_fill(hidden, self.mask)
        with torch.no_grad():
            before, after = (
                masked_loss(model(seen, real=real), ids, hidden).item() for model in (here, there)
            )
        return before, after

    def describe(self) -> str:
        """The model, what it sees of the word, and its first guesses for the hidden letters."""
        facts = self.facts
        count = sum(rows * columns for rows, columns in _shapes(facts).values())
        seen = "".join("?" if t in self.hidden else letter for t, letter in enumerate(self.word))
        said = (
            f"An encoder of {count:,} parameters, {facts['layers']} layers of {facts['heads']} "
            f"heads each, that guesses hidden letters. Of “{visible(self.word)}” it sees "
            f"“{visible(seen)}”."
        )
        if not self.hidden:
            return f"{said} No letter is hidden."
        expected = self.expected()
        guesses = ", ".join(
            f"{visible(self.alphabet[expected[t].argmax()])} {expected[t].max():.3f} for letter "
            f"{t + 1}, {visible(self.word[t])}"
            for t in self.hidden
        )
        return f"{said} Its first guesses: {guesses}."

    def _examples(self, words: Iterable[str]) -> list[str]:
        if not isinstance(words, str) and not (words := list(words)):
            return []
        words = texts("words", words)
        if len(words) > MOST_WORDS:
            raise ValueError(f"words holds {len(words)} strings; expected {MOST_WORDS} at most")
        for word in words:
            self._check_word("words", word)
        return words

    def _check_word(self, name: str, word: str) -> None:
        if not word:
            raise ValueError(f"{name} is empty; expected one letter at least")
        check_letters(name, word, self.alphabet)
        if (mask := self.alphabet[self.mask]) in word:
            raise ValueError(
                f"{name} {word!r} holds {mask!r}, which stands for a hidden letter; write the true "
                "letter and give its place in hidden"
            )
        if len(word) > self.facts["tokens"]:
            raise ValueError(
                f"{name} {word!r} has {len(word)} letters; expected {self.facts['tokens']} at "
                "most, the positions that the model has; choose a shorter one"
            )

    @traitlets.validate("word")
    def _word_can_be_read(self, proposal: dict[str, Any]) -> str:
        self._check_word("word", proposal["value"])
        return proposal["value"]

    @traitlets.validate("hidden")
    def _hidden_within(self, proposal: dict[str, Any]) -> list[int]:
        places = sorted(set(proposal["value"]))
        for place in places:
            _check_place("hidden", place, self.word, first=0)
        return places

    @traitlets.validate("place")
    def _place_within(self, proposal: dict[str, Any]) -> int:
        _check_place("place", proposal["value"], self.word, first=-1)
        return proposal["value"]

    @traitlets.validate("option")
    def _option_is_a_letter(self, proposal: dict[str, Any]) -> int:
        option = proposal["value"]
        number_between("option", option, -1, self.facts["vocabulary"] - 1)
        if option == self.mask:
            raise ValueError(f"option is {option}, the id of the mask; expected that of a letter")
        return option

    @traitlets.observe("word")
    def _stay_within(self, change: dict[str, Any]) -> None:
        """A shorter word has fewer places."""
        self.hidden = [place for place in self.hidden if place < len(change["new"])]
        if self.place >= len(change["new"]):
            self.place = -1


def expected_letters(
    model: MaskedLanguageModel,
    ids: Int[Tensor, "tokens"],
    *,
    hidden: Iterable[int],
    mask: int,
) -> Float[Tensor, "tokens vocabulary"]:
    r"""The distribution over letters that the model expects at each place of a word.

    Row t is the softmax of the model's logits at place t, without the id ``mask``, which gets 0,
    where the model sees ``mask`` at t and at all places in ``hidden``, and ``ids`` elsewhere.
    """
    places = torch.arange(len(ids))
    seen = ids.repeat(len(ids), 1)
    seen[:, torch.tensor(list(hidden), dtype=torch.long)] = mask
    seen[places, places] = mask
    with torch.no_grad():
        logits = model(seen)[places, places]
    logits[:, mask] = -torch.inf
    return logits.softmax(dim=-1)


def masked_model_of(facts: dict[str, Any], packed: dict[str, Any]) -> MaskedLanguageModel:
    """The model, in float32 and in evaluation mode, whose weights travel as ``packed``."""
    sizes = ("vocabulary", "d_model", "heads", "layers")
    options = ("tokens", "d_hidden", "position", "norm")

    def make() -> MaskedLanguageModel:
        return MaskedLanguageModel(
            *(facts[name] for name in sizes), **{name: facts[name] for name in options}
        )

    return model_of(make, _shapes(facts), packed)


def _shapes(facts: dict[str, Any]) -> dict[str, tuple[int, int]]:
    return transformer_shapes(facts, stack=STACK)


def _facts_of(model: object) -> dict[str, Any]:
    """All that has to be known of a model besides its weights."""
    if not isinstance(model, MaskedLanguageModel):
        raise TypeError(
            f"model is a {type(model).__name__}; expected a "
            "course_lib.masked_language_model.MaskedLanguageModel"
        )
    facts = transformer_facts(model.embedding, model.encoder.blocks) | {"tied": True}
    check_size_of_model(
        facts,
        _shapes(facts),
        most_parameters=MOST_PARAMETERS,
        most_tokens=MOST_TOKENS,
        most_letters=MOST_LETTERS,
        most_heads=MOST_HEADS,
    )
    return facts


def _places(hidden: object) -> list[int]:
    listed = isinstance(hidden, Iterable) and not isinstance(hidden, str)
    places = list(hidden) if listed else []
    if not listed or any(isinstance(t, bool) or not isinstance(t, int) for t in places):
        raise TypeError(
            f"hidden is {hidden!r}; expected the places of the hidden letters, such as [0, 2]"
        )
    return places


def _check_place(name: str, place: int, word: str, *, first: int) -> None:
    if not first <= place < len(word):
        raise ValueError(
            f"{name} must lie between {first} and {len(word) - 1}, since it counts from 0 and "
            f"{word!r} has {len(word)} letters, but was given {place}"
        )
