"""Each claim of lecture 7 holds for the library and falls to an implementation that is wrong."""

import itertools
from collections import Counter
from functools import cache

import numpy as np
import pytest
import torch
from claims import claims, holds_and_falls
from torch import Tensor
from torch.nn import functional as F

from course_lib import attention, generation
from course_lib import transformer as library_of_blocks
from course_lib.generation import KeyValueCache, byte_pairs
from course_lib.generation import speculative as speculative_decoding
from course_lib.models.words import name_decoder
from course_lib.models.words.name_decoder import (
    LONGEST,
    load_name_decoder,
    load_towns,
    town_bits,
    town_rows,
)
from course_lib.transformer import Decoder, EncoderDecoder

pytestmark = pytest.mark.slow

LECTURE = "07_decoder"


def log_probability(decoder: Decoder, ids: Tensor) -> Tensor:
    bets = decoder(ids[:, :-1]).log_softmax(-1)
    return bets.gather(-1, ids[:, 1:, None]).squeeze(-1).sum(-1)


def small(kind: type[Decoder] = Decoder, **options: object) -> Decoder:
    torch.manual_seed(1)
    return kind(len(load_towns().alphabet), 48, 4, 2, tokens=LONGEST, **options).eval()


def crossing(which: Tensor) -> Tensor:
    """Cross-attention of thirteen pieces to six words, and of the last three reversed."""
    weights = torch.zeros(len(which), 13, 6)
    for piece, word in ((10, 5), (11, 4), (12, 4)):
        weights[:, piece, word] = 1
    return weights


@cache
def library() -> dict[str, object]:
    """Names from the library and from earlier cells of the lecture."""
    towns, letters = load_towns(), 13
    torch.manual_seed(0)
    tiny = Decoder(3, 8, 2, 1, tokens=6).double()
    rows = town_rows(towns.unseen, towns.alphabet)
    modules = (
        attention,
        byte_pairs,
        generation,
        library_of_blocks,
        name_decoder,
        speculative_decoding,
    )
    found = {name: value for module in modules for name, value in vars(module).items()}
    return {
        **found,
        **towns._asdict(),
        "np": np,
        "itertools": itertools,
        "Counter": Counter,
        "speculative_decoding": speculative_decoding,
        "writer": small(),
        "text": town_rows(["fi Lappajärvi"], towns.alphabet)[0, :-1],
        "each": town_bits(load_name_decoder(), rows),
        "tiny": tiny,
        "log_probability": log_probability,
        "fresh": torch.arange(20, 1020),
        "strange": torch.arange(1020, 1100),
        "source": torch.ones(1200, 6),
        "target": torch.ones(1200, letters),
        "looks": crossing,
    }


TRAINED = {"prop-nucleus"}  # its two prompts need a trained decoder


class Peeking(Decoder):
    """Leaks the next letter: it becomes a little more probable."""

    def forward(self, ids: Tensor, *given: object, **more: object) -> Tensor:
        ahead = F.one_hot(ids.roll(-1, -1), self.vocabulary_size)
        return super().forward(ids, *given, **more) + ahead


class ProjectsAgain(KeyValueCache):
    """Right results, but all keys are projected anew."""

    def extend(self, layer: torch.nn.Module, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        key, value = super().extend(layer, key, value)
        layer.key(torch.zeros(key.shape[-2], layer.key.in_features))
        return key, value


class Deaf(EncoderDecoder):
    """Ignores the source."""

    def forward(self, source: Tensor, ids: Tensor, **more: Tensor) -> Tensor:
        return super().forward(torch.ones_like(source), ids, **more)


def hotter(logits: Tensor, *, temperature: float = 1.0, **more: object) -> Tensor:
    return generation.next_token_probabilities(logits, temperature=1 / temperature, **more)


def not_rescaled(logits: Tensor, *, top_p: float = 1.0) -> Tensor:
    probability = logits.softmax(-1)
    return probability * (generation.next_token_probabilities(logits, top_p=top_p) > 0)


def rarest_first(words: list[str], count: int) -> list[tuple[str, str]]:
    return byte_pairs.learn_merges(words, count)[::-1]


def product(p: Tensor, q: Tensor) -> Tensor:
    return (p * q).sum(-1)


def in_a_line(which: Tensor) -> Tensor:
    weights = torch.zeros(len(which), 13, 6)
    for piece, word in ((10, 4), (11, 4), (12, 5)):
        weights[:, piece, word] = 1
    return weights


WRONG = {
    "a text that knows its next letter": ("prop-chain", {"Decoder": Peeking}),
    "a look ahead": ("prop-future", {"writer": small(Peeking)}),
    "merges in reverse": ("prop-tokens", {"learn_merges": rarest_first}),
    "a readout of its own": ("prop-tied", {"writer": small(tied=False)}),
    "multiplied by the temperature": ("prop-temperature", {"next_token_probabilities": hotter}),
    "not rescaled": ("prop-nucleus", {"next_token_probabilities": not_rescaled}),
    "keys made again": ("prop-cache", {"KeyValueCache": ProjectsAgain}),
    "a product for a rate": ("prop-speculative", {"acceptance_rate": product}),
    "a source not read": ("prop-cross", {"EncoderDecoder": Deaf}),
    "no crossing": ("prop-reversal", {"looks": in_a_line}),
}


def known(label: str) -> dict[str, object]:
    return library() | ({"writer": load_name_decoder()} if label in TRAINED else {})


@pytest.mark.parametrize("label", claims(LECTURE))
def test_a_claim_holds_for_the_library_and_falls_to_a_wrong_implementation(label: str) -> None:
    holds_and_falls(LECTURE, label, WRONG, lambda: known(label))
