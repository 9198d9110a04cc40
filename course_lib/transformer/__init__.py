"""Transformers, lectures 6 and 7: parts, blocks, encoder, decoder, masked language model."""

from course_lib.generation import KeyValueCache, generate
from course_lib.transformer.blocks import (
    Decoder,
    DecoderBlock,
    Encoder,
    EncoderBlock,
    EncoderDecoder,
)
from course_lib.transformer.masked import MaskedLanguageModel, hide, masked_loss
from course_lib.transformer.modern import MixtureOfExperts, ModernBlock, RMSNorm, SwiGLU
from course_lib.transformer.parts import MLP, BlockAttention, Position, Residual, TokenEmbedding

__all__ = [
    "MLP",
    "BlockAttention",
    "Decoder",
    "DecoderBlock",
    "Encoder",
    "EncoderBlock",
    "EncoderDecoder",
    "KeyValueCache",
    "MaskedLanguageModel",
    "MixtureOfExperts",
    "ModernBlock",
    "Position",
    "RMSNorm",
    "Residual",
    "SwiGLU",
    "TokenEmbedding",
    "generate",
    "hide",
    "masked_loss",
]
