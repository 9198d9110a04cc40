"""LetterHider: hide letters of a word, and see what a trained encoder expects there."""

from collections.abc import Iterable
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from course_lib.transformer import MaskedLanguageModel, masked_loss
from course_lib.widgets.kit.letters import Mark, visible
from course_lib.widgets.kit.packed_weights import Limits, ModelWidget, model_of, transformer_facts
from course_lib.widgets.kit.traits import Index, Several, Switch, Text, brief

STACK = "encoder."


def _unmasked(hider: Any, word: str) -> str:
    if (mask := hider.alphabet[hider.mask]) in word:
        raise ValueError(
            f"the word {brief(word)} holds {mask!r}, which stands for a hidden letter; write the "
            "true letter and give its place in hidden"
        )
    return word


def _no_mask(hider: Any, option: int) -> int:
    if option == hider.mask:
        raise ValueError(f"option is {option}, the id of the mask; expected that of a letter")
    return option


WORD = {
    "alphabet": lambda self: self.alphabet,
    "shortest": 1,
    "longest": lambda self: self.facts["tokens"],
    "rule": _unmasked,
}


class LetterHider(ModelWidget):
    r"""A trained encoder that guesses hidden letters, in the page and in the reader's hands.

    ``model`` is a :class:`course_lib.transformer.MaskedLanguageModel` of at most 27,000
    parameters, 24 positions and 64 ids, with 16 heads at most in all layers; positions and norms
    may be of any kind. Character i of ``alphabet`` is id i, and ``mask`` is the character that the
    model sees in place of a hidden letter. The page shows what :func:`expected_letters` computes: a
    letter is never expected to be the mask, so the mask takes no part in the softmax. Of a letter
    that is not hidden it shows what the model would expect if that letter were hidden too.

    The weights travel rounded: a parameter is a whole number of 7 to 16 bits times the step of its
    row, a bfloat16. It has the most bits that fit into 33,200 bytes: ``widget.bits``, 7 for
    26,000 parameters and 9 for 20,000. ``widget.model`` is the model with just these weights; all
    that the page shows is computed from them, in double precision.
    ``widget.losses(ids, hidden)`` says what the rounding costs.

    Traits, synced both ways: ``word`` (1 letter to as many as the model has positions), ``hidden``
    (the places of its hidden letters, which count from 0; the page counts from 1), ``place`` (the
    letter whose guesses are shown; -1 for the first hidden one, or the first), ``option`` (the id
    whose numbers are shown; -1 for the true letter), ``guess_first`` (whether the reader foretells
    what the model expects before the page shows it) and ``heads`` (whether it shows where each head
    looks). Up to 8 ``words`` are offered as examples; of each that letter is hidden of which the
    model is surest, rightly or wrongly. At first sight the page hides three other letters, each
    time the one of which the model is surest, and shows what it expects there, unless the reader
    has asked for less motion or you for none with ``moving``. Raises ``TypeError`` and
    ``ValueError`` for what cannot be read, or run in the page.
    Source: Devlin et al. (2019), section 3.1.
    """

    _limits = Limits(
        parameters=27_000, tokens=24, letters=64, heads=16, weight_bytes=33_200, bits=7
    )
    _stack = STACK

    mask = Mark()
    words = Several(Text(**WORD), most=8, default=(), read_only=True)
    word = Text(**WORD)
    hidden = Several(
        Index(of=lambda self: len(self.word)),
        default=(),
        rule=lambda _, places: sorted(set(places)),
    )
    place = Index(of=lambda self: len(self.word), unset=True)
    option = Index(of=lambda self: self.facts["vocabulary"], unset=True, rule=_no_mask)
    guess_first = Switch(default=True)
    heads = Switch(default=False)

    def __init__(
        self,
        model: MaskedLanguageModel,
        alphabet: str,
        **given: Any,
    ) -> None:
        super().__init__(model, _facts_of(model), alphabet, **given)

    @property
    def model(self) -> MaskedLanguageModel:
        """The model with the weights that travel, in float32, which holds them exactly."""
        return masked_model_of(self.facts, self.weights)

    def expected(self) -> Float[Tensor, "tokens vocabulary"]:
        """What the page shows: :func:`expected_letters` at every place of the word, in float64."""
        ids = torch.tensor([self.alphabet.index(letter) for letter in self.word])
        return expected_letters(self.model.double(), ids, hidden=self.hidden, mask=self.mask)

    def losses(
        self,
        ids: Int[Tensor, "*batch tokens"],
        hidden: Bool[Tensor, "*batch tokens"],
        *,
        valid: Bool[Tensor, "*batch tokens"] | None = None,
    ) -> tuple[float, float]:
        """The mean surprise at hidden letters before and after rounding, in float64.

        ``ids`` are the true ones, ``hidden`` is True where the model sees the mask, and ``valid``
        False where a batch is padded. The difference is what the page loses to the lecture.
        """
        seen = ids.masked_fill(hidden, self.mask)
        with torch.no_grad():
            before, after = (
                masked_loss(model(seen, valid=valid), ids, hidden).item() for model in self._both()
            )
        return before, after

    def describe(self) -> str:
        """The model, what it sees of the word, and its first guesses for the hidden letters."""
        seen = "".join("?" if t in self.hidden else letter for t, letter in enumerate(self.word))
        said = (
            f"An encoder of {self._size()}, that guesses hidden letters. Of "
            f"“{visible(self.word)}” it sees “{visible(seen)}”."
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
    return model_of(MaskedLanguageModel, facts, packed, stack=STACK, leave_out=("tied",))


def _facts_of(model: object) -> dict[str, Any]:
    if not isinstance(model, MaskedLanguageModel):
        raise TypeError(
            f"model is a {type(model).__name__}; expected a "
            "course_lib.transformer.MaskedLanguageModel"
        )
    return transformer_facts(model.embedding, model.encoder.blocks, tied=True)
