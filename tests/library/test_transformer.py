"""Transformers against PyTorch's own layers, and cached decoding against the full computation."""

import copy
import math
from collections.abc import Iterator
from functools import partial

import pytest
import torch
from seeded_tensors import assert_close_for_its_dtype as assert_close
from seeded_tensors import gradients, perturbed, randn, some_ids
from torch import Tensor, nn

from course_lib.attention import MultiHeadAttention, causal_mask
from course_lib.generation import KeyValueCache
from course_lib.position import rotary
from course_lib.support.training import parameter_count
from course_lib.transformer import (
    BlockAttention,
    Decoder,
    DecoderBlock,
    Encoder,
    EncoderBlock,
    EncoderDecoder,
    TokenEmbedding,
)

NORMS = ["pre", "post"]
POSITIONS = ["learned", "sinusoidal", "rotary", "none"]


shaken = partial(perturbed, scale=0.3)


# Blocks against PyTorch's layers ----------------------------------------------------------------


def pairs_of_attention(
    ours: MultiHeadAttention, theirs: nn.MultiheadAttention
) -> Iterator[tuple[nn.Parameter, nn.Parameter, slice]]:
    """Each of our parameters, PyTorch's, and its rows in PyTorch's."""
    d_model = theirs.embed_dim
    for i, linear in enumerate((ours.query, ours.key, ours.value)):
        rows = slice(i * d_model, (i + 1) * d_model)
        yield linear.weight, theirs.in_proj_weight, rows
        yield linear.bias, theirs.in_proj_bias, rows
    yield ours.output.weight, theirs.out_proj.weight, slice(None)
    yield ours.output.bias, theirs.out_proj.bias, slice(None)


def pairs(
    ours: EncoderBlock | DecoderBlock, theirs: nn.Module
) -> Iterator[tuple[nn.Parameter, nn.Parameter, slice]]:
    """Equivalent parameters of a block and of PyTorch's layer."""
    yield from pairs_of_attention(ours.attention, theirs.self_attn)
    modules = [(ours.attention_residual.norm, theirs.norm1)]
    if isinstance(ours, DecoderBlock):
        yield from pairs_of_attention(ours.cross_attention, theirs.multihead_attn)
        modules += [
            (ours.cross_residual.norm, theirs.norm2),
            (ours.mlp_residual.norm, theirs.norm3),
        ]
    else:
        modules += [(ours.mlp_residual.norm, theirs.norm2)]
    modules += [(ours.mlp.expand, theirs.linear1), (ours.mlp.contract, theirs.linear2)]
    for our_module, their_module in modules:
        yield our_module.weight, their_module.weight, slice(None)
        yield our_module.bias, their_module.bias, slice(None)


def twins(kind: str, norm: str, dtype: torch.dtype) -> tuple[nn.Module, nn.Module]:
    """Our block and PyTorch's layer with the same parameters."""
    torch.manual_seed(0)
    ours = EncoderBlock(8, 2, d_hidden=20, norm=norm) if kind == "encoder" else None
    ours = ours or DecoderBlock(8, 2, d_hidden=20, norm=norm, cross=True)
    ours = shaken(ours.to(dtype))
    layer = nn.TransformerEncoderLayer if kind == "encoder" else nn.TransformerDecoderLayer
    theirs = layer(8, 2, 20, 0.0, "gelu", batch_first=True, norm_first=norm == "pre", dtype=dtype)
    copied = list(pairs(ours, theirs))
    assert {id(parameter) for parameter, _, _ in copied} == {id(p) for p in ours.parameters()}
    with torch.no_grad():
        for parameter, other, rows in copied:
            other[rows] = parameter
    return ours, theirs


def assert_same(ours: nn.Module, theirs: nn.Module, output: Tensor, expected: Tensor) -> None:
    """Compare outputs and the gradients of all parameters."""
    assert_close(output, expected)
    covector = randn(*output.shape, dtype=output.dtype, seed=5)
    output.backward(covector)
    expected.backward(covector)
    for parameter, other, rows in pairs(ours, theirs):
        assert_close(parameter.grad, other.grad[rows])


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("masked", ["everything", "a mask for each head", "padding"])
def test_an_encoder_block_equals_pytorchs_layer(masked: str, norm: str) -> None:
    dtype = torch.float32 if masked == "everything" else torch.float64
    ours, theirs = twins("encoder", norm, dtype)
    x, twin = (randn(3, 5, 8, dtype=dtype).requires_grad_() for _ in range(2))
    mask, given = None, {}
    if masked == "a mask for each head":
        mask = (randn(3, 2, 5, 5, seed=1) > 0) | torch.eye(5, dtype=torch.bool)
        given = {"src_mask": ~mask.flatten(0, 1)}
    elif masked == "padding":
        valid = torch.arange(5) < torch.tensor([[5], [2], [4]])
        mask, given = valid[:, None, None, :], {"src_key_padding_mask": ~valid}
    output, expected = ours(x, mask=mask), theirs(twin, **given)
    assert_same(ours, theirs, output, expected)
    assert_close(x.grad, twin.grad)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("masked", [False, True], ids=["unmasked", "masked"])
def test_a_decoder_block_equals_pytorchs_layer(*, masked: bool, norm: str) -> None:
    dtype = torch.float64 if masked else torch.float32
    ours, theirs = twins("decoder", norm, dtype)
    x, twin = (randn(3, 5, 8, dtype=dtype).requires_grad_() for _ in range(2))
    context, other = (randn(3, 4, 8, dtype=dtype, seed=2).requires_grad_() for _ in range(2))
    causal, given, more = causal_mask(5), {}, {}
    if masked:
        mask = (randn(5, 5, seed=1) > 0) | torch.eye(5, dtype=torch.bool)
        valid = torch.arange(4) < torch.tensor([[4], [2], [1]])
        given = {"mask": mask, "context_mask": valid[:, None, None, :]}
        causal, more = causal & mask, {"memory_key_padding_mask": ~valid}
    output, expected = ours(x, context, **given), theirs(twin, other, ~causal, **more)
    assert_same(ours, theirs, output, expected)
    assert_close(x.grad, twin.grad)
    assert_close(context.grad, other.grad)


def test_block_attention_equals_multi_head_attention() -> None:
    for kv_heads in [None, 1, 2]:
        plain = shaken(MultiHeadAttention(8, 4, kv_heads=kv_heads).double())
        quick = BlockAttention(8, 4, kv_heads=kv_heads).double()
        quick.load_state_dict(plain.state_dict())
        x, context = randn(2, 3, 8), randn(2, 5, 8)
        for seen in ((x,), (x, context)):
            keys = seen[-1].shape[-2]
            given = {"mask": torch.ones(3, keys).tril().bool(), "bias": randn(2, 4, 3, keys)}
            assert_close(quick(*seen, **given), plain(*seen, **given))
            assert_close(quick.weights(*seen, **given), plain.weights(*seen, **given))


def test_rotary_positions_turn_the_keys_that_grouped_queries_share() -> None:
    block, x, position = BlockAttention(8, 2, kv_heads=1).double(), randn(3, 5, 8), torch.arange(5)
    query = block.query(x).unflatten(-1, (2, 4)).transpose(1, 2)
    turned, key = rotary(query, position=position), rotary(block.key(x), position=position)
    expected = (turned @ key[:, None].mT / 2).softmax(dim=-1)
    assert_close(block.weights(x, position=position), expected)


def test_dropout_acts_in_training_alone_and_keeps_the_mean() -> None:
    torch.manual_seed(0)
    block = BlockAttention(4, 2, dropout=0.5).double()
    x = randn(3, 4)
    calm = block.eval()(x)
    assert torch.equal(block(x), calm)
    noisy = block.train()(x.expand(20_000, 3, 4))
    assert not torch.equal(noisy[0], calm)
    torch.testing.assert_close(noisy.mean(dim=0), calm, rtol=0, atol=0.02)


# Encoder ----------------------------------------------------------------------------------------


def test_the_attention_weights_of_an_encoder_are_those_of_its_blocks() -> None:
    for norm in NORMS:
        encoder, x = shaken(Encoder(8, 2, 2, norm=norm).double()), randn(3, 5, 8)
        given = {"mask": causal_mask(5), "bias": randn(5, 5), "position": torch.arange(5)}
        weights = encoder.attention_weights(x, **given)
        assert weights.shape == (2, 3, 2, 5, 5)
        for block, shown in zip(encoder.blocks, weights, strict=True):
            seen = block.attention_residual.norm(x) if norm == "pre" else x
            assert_close(shown, block.attention.weights(seen, **given))
            x = block(x, **given)
        assert_close(weights.sum(dim=-1), torch.ones(2, 3, 2, 5, dtype=torch.float64))
        assert not any(block.attention._forward_pre_hooks for block in encoder.blocks)


def test_padding_changes_nothing_for_the_tokens_that_are_real() -> None:
    encoder, x = shaken(Encoder(8, 2, 2).double()), randn(1, 3, 8)
    padded = torch.cat([x, randn(1, 4, 8)], dim=1)
    valid = torch.arange(7)[None] < 3
    parameters = list(encoder.parameters())
    expected = encoder(x)
    slopes = gradients(expected, *parameters)
    for tokens in (padded, padded.where(valid[..., None], math.nan)):
        found = encoder(tokens, mask=valid[:, None, None, :])[:, :3]
        assert_close(found, expected)
        assert_close(gradients(found, *parameters), slopes)


# Embedding --------------------------------------------------------------------------------------


def test_an_embedding_is_token_plus_position() -> None:
    same = torch.zeros(4, dtype=torch.int64)
    learned = TokenEmbedding(11, 9, tokens=5, position="learned")
    assert torch.equal(learned(same), 3 * learned.token.weight[same] + learned.learned.weight[:4])
    for position in ("rotary", "none"):
        plain = TokenEmbedding(11, 9, tokens=5, position=position)
        assert torch.equal(plain(same), 3 * plain.token.weight[same])


# Decoder ----------------------------------------------------------------------------------------


def decoder(**options: object) -> Decoder:
    torch.manual_seed(0)
    given = {"tokens": 12, "d_hidden": 20, **options}
    return shaken(Decoder(11, 8, 2, 2, **given).double())


def test_no_logits_depend_on_the_future() -> None:
    for position in POSITIONS:
        for norm in NORMS:
            model, ids = decoder(norm=norm, position=position), some_ids(2, 9)
            changed = ids.clone()
            changed[:, 6:] = (ids[:, 6:] + 1) % 11
            logits, other = model(ids), model(changed)
            assert_close(other[:, :6], logits[:, :6])
            assert (other[:, 6:] - logits[:, 6:]).abs().amax(dim=-1).min() > 1e-6


def test_a_decoder_is_embedding_blocks_norm_and_readout() -> None:
    for norm in NORMS:
        model, ids = decoder(norm=norm, tied=False), some_ids(2, 6)
        x = model.embedding(ids)
        for block in model.blocks:
            x = block(x)
        x = model.norm(x) if norm == "pre" else x
        assert_close(model(ids), x @ model.lm_head.weight.T)


def test_a_tied_readout_is_the_embedding_also_after_training_and_copying() -> None:
    tied, separate = decoder(), decoder(tied=False)
    assert parameter_count(separate) - parameter_count(tied) == 11 * 8
    tied(some_ids(2, 6)).square().mean().backward()
    torch.optim.SGD(tied.parameters(), lr=0.1).step()
    for model in (tied, copy.deepcopy(tied)):
        assert model.lm_head.weight is model.embedding.token.weight
    fresh = decoder()
    fresh.load_state_dict(tied.state_dict())
    assert torch.equal(fresh(some_ids(2, 6)), tied(some_ids(2, 6)))


def test_the_attention_weights_of_a_decoder_see_the_past_alone() -> None:
    model, ids = decoder(position="rotary"), some_ids(5)
    weights = model.attention_weights(ids)
    assert weights.shape == (2, 2, 5, 5)
    assert not weights.triu(1).any()
    assert_close(weights.sum(dim=-1), torch.ones(2, 2, 5, dtype=torch.float64))
    x = model.embedding(ids)
    first = model.blocks[0].attention.weights(
        model.blocks[0].attention_residual.norm(x), mask=causal_mask(5), position=torch.arange(5)
    )
    assert_close(weights[0], first)


# The cache --------------------------------------------------------------------------------------


def test_cached_decoding_equals_the_full_computation() -> None:
    for batch, norm, dtype in [((2, 3), "pre", torch.float32), ((), "post", torch.float64)]:
        for position in POSITIONS:
            model = decoder(norm=norm, position=position).to(dtype)
            ids, cache = some_ids(*batch, 12), KeyValueCache()
            parts = [model(ids[..., 5 * 0 : 5], cache)]
            assert cache.tokens == 5
            parts += [model(ids[..., i : i + 1], cache) for i in range(5, 9)]
            parts.append(model(ids[..., 9:], cache))
            assert cache.tokens == 12
            assert_close(torch.cat(parts, dim=-2), model(ids))


def test_cached_decoding_with_a_context_equals_the_full_computation() -> None:
    for kv_heads in [None, 1]:
        model, cache = decoder(cross=True, kv_heads=kv_heads), KeyValueCache()
        ids, context = some_ids(3, 9), randn(3, 5, 8)
        valid = torch.arange(5) < torch.tensor([[5], [2], [4]])
        given = {"context": context, "context_mask": valid[:, None, None, :]}
        parts = [model(ids[:, i : i + 1], cache, **given) for i in range(9)]
        assert_close(torch.cat(parts, dim=-2), model(ids, **given))


def test_a_fork_of_a_cache_reads_on_by_itself() -> None:
    for fork in (KeyValueCache.fork, copy.copy, copy.deepcopy):
        model, cache = decoder(cross=True), KeyValueCache()
        ids, context = some_ids(3, 6), randn(3, 5, 8)
        model(ids[:, :2], cache, context=context)
        for ending in (ids[:, 2:], ids[:, 2:].flip(-1)):
            other = fork(cache)
            found = model(ending, other, context=context)
            whole = model(torch.cat([ids[:, :2], ending], dim=-1), context=context)
            assert_close(found, whole[:, 2:])
            assert (cache.tokens, other.tokens) == (2, 6)


def test_a_cache_holds_the_keys_and_values_that_grouped_queries_share() -> None:
    for position in POSITIONS:
        torch.manual_seed(0)
        model = shaken(Decoder(11, 16, 4, 2, tokens=12, kv_heads=2, position=position).double())
        ids, cache = some_ids(3, 9), KeyValueCache()
        parts = [model(ids[:, :4], cache)] + [model(ids[:, i : i + 1], cache) for i in range(4, 9)]
        assert_close(torch.cat(parts, dim=-2), model(ids))
        held = [tensor.shape for pair in cache._past.values() for tensor in pair]
        assert held == [(3, 2, 9, 4)] * 4


def test_gradients_flow_through_a_cache() -> None:
    model, ids, cache = decoder(), some_ids(2, 6), KeyValueCache()
    model(ids).square().sum().backward()
    expected = [parameter.grad.clone() for parameter in model.parameters()]
    model.zero_grad()
    parts = [model(ids[:, :4], cache), model(ids[:, 4:], cache)]
    torch.cat(parts, dim=-2).square().sum().backward()
    assert_close([parameter.grad for parameter in model.parameters()], expected)


# Encoder and decoder ----------------------------------------------------------------------------


def translator(**options: object) -> EncoderDecoder:
    torch.manual_seed(0)
    return shaken(EncoderDecoder(7, 11, 8, 2, 2, tokens=12, d_hidden=20, **options).double())


def test_padding_of_the_source_changes_no_logits() -> None:
    for position in POSITIONS:
        for norm in NORMS:
            model = translator(norm=norm, position=position)
            source, ids = some_ids(1, 4, vocabulary=7), some_ids(1, 6)
            padded = torch.cat([source, some_ids(1, 3, vocabulary=7, seed=4)], dim=-1)
            valid = torch.arange(7)[None] < 4
            assert_close(model(padded, ids, source_mask=valid), model(source, ids))
            assert (model(padded, ids) - model(source, ids)).abs().max() > 1e-6


def test_cross_attention_weights_are_those_of_the_blocks() -> None:
    model = translator()
    source, ids = some_ids(3, 5, vocabulary=7), some_ids(3, 6)
    valid = torch.arange(5) < torch.tensor([[5], [2], [4]])
    weights = model.cross_attention_weights(source, ids, source_mask=valid)
    assert weights.shape == (2, 3, 2, 6, 5)
    assert_close(weights.sum(dim=-1), torch.ones(2, 3, 2, 6, dtype=torch.float64))
    assert not weights.movedim(1, 0).movedim(-1, 1)[~valid].any()
    block = model.decoder.blocks[0]
    x = model.decoder.embedding(ids)
    x = x + block.attention(block.attention_residual.norm(x), mask=causal_mask(6))
    context = model.encode(source, source_mask=valid)
    first = block.cross_attention.weights(
        block.cross_residual.norm(x), context, mask=valid[:, None, None, :]
    )
    assert_close(weights[0], first)


def test_dropout_reaches_every_layer_of_a_block() -> None:
    for make in [EncoderBlock, DecoderBlock]:
        block = make(8, 2, dropout=0.5)
        probabilities = [module.p for module in block.modules() if isinstance(module, nn.Dropout)]
        assert probabilities == [0.5] * 4
        assert torch.equal(*(block.eval()(randn(3, 8, dtype=torch.float32)) for _ in range(2)))
