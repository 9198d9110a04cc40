"""Text from a decoder, lecture 7: sampling, speculative decoding, n-grams, byte pairs."""

from course_lib.generation.byte_pairs import decode, encode, learn_merges
from course_lib.generation.ngrams import AbsoluteDiscounting
from course_lib.generation.sampling import KeyValueCache, generate, next_token_probabilities, sample
from course_lib.generation.speculative import (
    accept_or_replace,
    acceptance_rate,
    exact_distribution,
    speculative_decoding,
)

__all__ = [
    "AbsoluteDiscounting",
    "KeyValueCache",
    "accept_or_replace",
    "acceptance_rate",
    "decode",
    "encode",
    "exact_distribution",
    "generate",
    "learn_merges",
    "next_token_probabilities",
    "sample",
    "speculative_decoding",
]
