"""Transformers against PyTorch's own layers, and cached decoding against the full computation."""

import copy
from collections.abc import Iterator

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from course_lib.attention import MultiHeadAttention, causal_mask
from course_lib.position import rotary
from course_lib.training import parameter_count
from course_lib.transformer import (
    Decoder,
    DecoderBlock,
    Encoder,
    EncoderBlock,
    EncoderDecoder,
    KeyValueCache,
    TokenEmbedding,
)
from course_lib.transformer_parts import BlockAttention

DTYPES = [torch.float32, torch.float64]
TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-10}
NORMS = ["pre", "post"]
POSITIONS = ["learned", "sinusoidal", "rotary", "none"]


def randn(*shape: int, dtype: torch.dtype = torch.float64, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed + 1000 * len(shape) + sum(shape))
    return torch.randn(shape, dtype=dtype, generator=generator)


def some_ids(*shape: int, vocabulary: int = 11, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(vocabulary, shape, generator=generator)


def assert_close(actual: Tensor, expected: Tensor) -> None:
    tolerance = TOLERANCE[expected.dtype]
    torch.testing.assert_close(actual, expected, rtol=tolerance, atol=tolerance)


def shaken(model: nn.Module) -> nn.Module:
    """The model with every parameter at random: norms and biases are not at their neutral start."""
    with torch.no_grad():
        for seed, parameter in enumerate(model.parameters()):
            parameter.add_(0.3 * randn(*parameter.shape, dtype=parameter.dtype, seed=seed))
    return model


# Blocks against PyTorch's layers ----------------------------------------------------------------


def pairs_of_attention(
    ours: MultiHeadAttention, theirs: nn.MultiheadAttention
) -> Iterator[tuple[nn.Parameter, nn.Parameter, slice]]:
    """Each parameter of ours, PyTorch's, and which rows of PyTorch's it is."""
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
    """The parameters of a block and of PyTorch's layer that mean the same."""
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


def assert_same_gradients(ours: nn.Module, theirs: nn.Module) -> None:
    for parameter, other, rows in pairs(ours, theirs):
        assert_close(parameter.grad, other.grad[rows])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("masked", ["everything", "a mask", "a mask for each head", "padding"])
def test_an_encoder_block_equals_pytorchs_layer(masked: str, norm: str, dtype: torch.dtype) -> None:
    ours, theirs = twins("encoder", norm, dtype)
    x, twin = (randn(3, 5, 8, dtype=dtype).requires_grad_() for _ in range(2))
    mask, given = None, {}
    if masked == "a mask":
        mask = (randn(5, 5, seed=1) > 0) | torch.eye(5, dtype=torch.bool)
        given = {"src_mask": ~mask}
    elif masked == "a mask for each head":
        mask = (randn(3, 2, 5, 5, seed=1) > 0) | torch.eye(5, dtype=torch.bool)
        given = {"src_mask": ~mask.flatten(0, 1)}
    elif masked == "padding":
        real = torch.arange(5) < torch.tensor([[5], [2], [4]])
        mask, given = real[:, None, None, :], {"src_key_padding_mask": ~real}
    output, expected = ours(x, mask=mask), theirs(twin, **given)
    assert_close(output, expected)
    covector = randn(3, 5, 8, dtype=dtype, seed=5)
    output.backward(covector)
    expected.backward(covector)
    assert_close(x.grad, twin.grad)
    assert_same_gradients(ours, theirs)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("masked", [False, True], ids=["unmasked", "masked"])
def test_a_decoder_block_equals_pytorchs_layer(
    *, masked: bool, norm: str, dtype: torch.dtype
) -> None:
    ours, theirs = twins("decoder", norm, dtype)
    x, twin = (randn(3, 5, 8, dtype=dtype).requires_grad_() for _ in range(2))
    context, other = (randn(3, 4, 8, dtype=dtype, seed=2).requires_grad_() for _ in range(2))
    causal, given, more = causal_mask(5), {}, {}
    if masked:
        mask = (randn(5, 5, seed=1) > 0) | torch.eye(5, dtype=torch.bool)
        real = torch.arange(4) < torch.tensor([[4], [2], [1]])
        given = {"mask": mask, "context_mask": real[:, None, None, :]}
        causal, more = causal & mask, {"memory_key_padding_mask": ~real}
    output, expected = ours(x, context, **given), theirs(twin, other, ~causal, **more)
    assert_close(output, expected)
    covector = randn(3, 5, 8, dtype=dtype, seed=5)
    output.backward(covector)
    expected.backward(covector)
    assert_close(x.grad, twin.grad)
    assert_close(context.grad, other.grad)
    assert_same_gradients(ours, theirs)


@pytest.mark.parametrize("norm", NORMS)
def test_a_decoder_block_without_context_is_an_encoder_block_with_the_causal_mask(
    norm: str,
) -> None:
    encoder = shaken(EncoderBlock(8, 2, norm=norm).double())
    decoder = DecoderBlock(8, 2, norm=norm).double()
    decoder.load_state_dict(encoder.state_dict())
    x = randn(2, 5, 8)
    assert_close(decoder(x), encoder(x, mask=causal_mask(5)))


@pytest.mark.parametrize("norm", NORMS)
def test_a_stack_equals_pytorchs_stack(norm: str) -> None:
    torch.manual_seed(0)
    encoder = shaken(Encoder(8, 2, 3, d_hidden=20, norm=norm).double())
    layer = nn.TransformerEncoderLayer(8, 2, 20, 0.0, "gelu", batch_first=True, norm_first=True)
    layer.norm_first = norm == "pre"
    final = nn.LayerNorm(8) if norm == "pre" else None
    theirs = nn.TransformerEncoder(layer, 3, final, enable_nested_tensor=False).double()
    with torch.no_grad():
        for block, other in zip(encoder.blocks, theirs.layers, strict=True):
            for parameter, twin, rows in pairs(block, other):
                twin[rows] = parameter
    if norm == "pre":
        final.load_state_dict(encoder.norm.state_dict())
    x = randn(2, 5, 8)
    assert_close(encoder(x), theirs(x))


@pytest.mark.parametrize("cross", [False, True])
def test_block_attention_equals_multi_head_attention(*, cross: bool) -> None:
    plain = shaken(MultiHeadAttention(8, 2).double())
    quick = BlockAttention(8, 2).double()
    quick.load_state_dict(plain.state_dict())
    x, context = randn(2, 3, 8), randn(2, 5, 8) if cross else None
    keys = 5 if cross else 3
    given = {"mask": torch.ones(3, keys).tril().bool(), "bias": randn(2, 2, 3, keys)}
    assert_close(quick(x, context, **given), plain(x, context, **given))
    assert_close(quick.weights(x, context, **given), plain.weights(x, context, **given))


@pytest.mark.parametrize("kv_heads", [1, 2])
def test_block_attention_with_grouped_queries_equals_multi_head_attention(kv_heads: int) -> None:
    plain = shaken(MultiHeadAttention(8, 4, kv_heads=kv_heads).double())
    quick = BlockAttention(8, 4, kv_heads=kv_heads).double()
    quick.load_state_dict(plain.state_dict())
    x, context = randn(2, 3, 8), randn(2, 5, 8)
    for seen in ((x,), (x, context)):
        assert_close(quick(*seen), plain(*seen))
        assert_close(quick.weights(*seen), plain.weights(*seen))


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


@pytest.mark.parametrize("make", [EncoderBlock, DecoderBlock])
def test_dropout_reaches_every_layer_of_a_block(make: type) -> None:
    block = make(8, 2, dropout=0.5)
    probabilities = [module.p for module in block.modules() if isinstance(module, nn.Dropout)]
    assert probabilities == [0.5] * 4
    assert torch.equal(*(block.eval()(randn(3, 8, dtype=torch.float32)) for _ in range(2)))


# Encoder ----------------------------------------------------------------------------------------


def test_an_encoder_is_permutation_equivariant_and_positions_end_that() -> None:
    encoder, order = shaken(Encoder(8, 2, 2).double()), [3, 0, 4, 2, 1]
    x, position = randn(2, 5, 8), torch.arange(5)
    assert_close(encoder(x[:, order]), encoder(x)[:, order])
    turned = encoder(x, position=position)
    assert (encoder(x[:, order], position=position) - turned[:, order]).abs().max() > 1e-3


def test_an_encoder_with_rotary_positions_sees_differences_alone() -> None:
    encoder, x = shaken(Encoder(8, 2, 2).double()), randn(2, 5, 8)
    assert_close(encoder(x, position=torch.arange(5)), encoder(x, position=torch.arange(5) + 100))


@pytest.mark.parametrize("norm", NORMS)
def test_the_attention_weights_of_an_encoder_are_those_of_its_blocks(norm: str) -> None:
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
    real = torch.arange(7)[None] < 3
    assert_close(encoder(padded, mask=real[:, None, None, :])[:, :3], encoder(x))


# Embedding --------------------------------------------------------------------------------------


@pytest.mark.parametrize("position", POSITIONS)
def test_an_embedding_goes_on_where_it_was_told(position: str) -> None:
    embedding = TokenEmbedding(11, 8, tokens=9, position=position).double()
    ids = some_ids(2, 9)
    assert torch.equal(embedding(ids)[:, 4:], embedding(ids[:, 4:], start=4))


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


@pytest.mark.parametrize("position", POSITIONS)
@pytest.mark.parametrize("norm", NORMS)
def test_no_logits_depend_on_the_future(norm: str, position: str) -> None:
    model, ids = decoder(norm=norm, position=position), some_ids(2, 9)
    changed = ids.clone()
    changed[:, 6:] = (ids[:, 6:] + 1) % 11
    logits, other = model(ids), model(changed)
    assert_close(other[:, :6], logits[:, :6])
    assert (other[:, 6:] - logits[:, 6:]).abs().amax(dim=-1).min() > 1e-6


@pytest.mark.parametrize("position", ["learned", "sinusoidal", "rotary"])
def test_positions_let_a_decoder_tell_orders_apart_in_one_block(position: str) -> None:
    # One block without positions sees the past as a set; with them it does not.
    torch.manual_seed(0)
    ids, swapped = torch.tensor([1, 2, 3]), torch.tensor([2, 1, 3])
    bare = shaken(Decoder(11, 8, 2, 1, tokens=3, position="none").double())
    assert_close(bare(ids)[-1], bare(swapped)[-1])
    model = shaken(Decoder(11, 8, 2, 1, tokens=3, position=position).double())
    assert (model(ids)[-1] - model(swapped)[-1]).abs().max() > 1e-3


@pytest.mark.parametrize("norm", NORMS)
def test_a_decoder_is_embedding_blocks_norm_and_readout(norm: str) -> None:
    model, ids = decoder(norm=norm, tied=False), some_ids(2, 6)
    x = model.embedding(ids)
    for block in model.blocks:
        x = block(x)
    x = model.norm(x) if norm == "pre" else x
    assert_close(model(ids), x @ model.readout.weight.T)


def test_a_tied_readout_is_the_embedding_also_after_training_and_copying() -> None:
    tied, separate = decoder(), decoder(tied=False)
    assert parameter_count(separate) - parameter_count(tied) == 11 * 8
    tied(some_ids(2, 6)).square().mean().backward()
    torch.optim.SGD(tied.parameters(), lr=0.1).step()
    for model in (tied, copy.deepcopy(tied)):
        assert model.readout.weight is model.embedding.token.weight
    fresh = decoder()
    fresh.load_state_dict(tied.state_dict())
    assert torch.equal(fresh(some_ids(2, 6)), tied(some_ids(2, 6)))


def test_a_new_decoder_finds_every_token_about_equally_likely() -> None:
    torch.manual_seed(0)
    for position in POSITIONS:
        model = Decoder(27, 64, 4, 4, tokens=32, position=position)
        ids = some_ids(8, 32, vocabulary=27)
        loss = nn.functional.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
        assert abs(loss.item() - torch.tensor(27.0).log()) < 0.15, position


@pytest.mark.parametrize("position", POSITIONS)
def test_a_decoder_has_right_gradients(position: str) -> None:
    torch.manual_seed(0)
    model = shaken(Decoder(3, 4, 2, 1, tokens=3, d_hidden=4, position=position).double())
    ids = torch.tensor([2, 0, 1])
    weight = model.embedding.token.weight.detach().clone().requires_grad_()

    def logits(weight: Tensor) -> Tensor:
        # Tied: the same tensor embeds and reads out.
        names = ("embedding.token.weight", "readout.weight")
        return torch.func.functional_call(
            model, dict.fromkeys(names, weight), (ids,), tie_weights=True
        )

    assert torch.autograd.gradcheck(logits, (weight,))


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


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("position", POSITIONS)
@pytest.mark.parametrize(
    ("batch", "dtype"), [((2, 3), torch.float32), ((), torch.float64)], ids=str
)
def test_cached_decoding_equals_the_full_computation(
    batch: tuple[int, ...], norm: str, position: str, dtype: torch.dtype
) -> None:
    model = decoder(norm=norm, position=position).to(dtype)
    ids, cache = some_ids(*batch, 12), KeyValueCache()
    parts = [model(ids[..., 5 * 0 : 5], cache)]
    assert cache.tokens == 5
    parts += [model(ids[..., i : i + 1], cache) for i in range(5, 9)]
    parts.append(model(ids[..., 9:], cache))
    assert cache.tokens == 12
    assert_close(torch.cat(parts, dim=-2), model(ids))


@settings(max_examples=20)
@given(st.lists(st.integers(1, 5), min_size=1, max_size=6), st.sampled_from(POSITIONS))
def test_however_a_text_is_cut_the_logits_are_the_same(lengths: list, position: str) -> None:
    model = decoder(position=position, tokens=30)
    ids, cache = some_ids(2, sum(lengths)), KeyValueCache()
    parts = [model(piece, cache) for piece in ids.split(lengths, dim=-1)]
    assert_close(torch.cat(parts, dim=-2), model(ids))


@pytest.mark.parametrize("kv_heads", [None, 1])
def test_cached_decoding_with_a_context_equals_the_full_computation(kv_heads: int | None) -> None:
    model, cache = decoder(cross=True, kv_heads=kv_heads), KeyValueCache()
    ids, context = some_ids(3, 9), randn(3, 5, 8)
    real = torch.arange(5) < torch.tensor([[5], [2], [4]])
    given = {"context": context, "context_mask": real[:, None, None, :]}
    parts = [model(ids[:, i : i + 1], cache, **given) for i in range(9)]
    assert_close(torch.cat(parts, dim=-2), model(ids, **given))


@pytest.mark.parametrize("position", POSITIONS)
def test_a_cache_holds_the_keys_and_values_that_grouped_queries_share(position: str) -> None:
    torch.manual_seed(0)
    model = shaken(Decoder(11, 16, 4, 2, tokens=12, kv_heads=2, position=position).double())
    ids, cache = some_ids(3, 9), KeyValueCache()
    parts = [model(ids[:, :4], cache)] + [model(ids[:, i : i + 1], cache) for i in range(4, 9)]
    assert_close(torch.cat(parts, dim=-2), model(ids))
    held = [tensor.shape for pair in cache._past.values() for tensor in pair]
    assert held == [(3, 2, 9, 4)] * 4


def test_a_cache_projects_each_token_and_the_context_once() -> None:
    model, cache = decoder(cross=True), KeyValueCache()
    ids, context, count = some_ids(1, 6), randn(1, 5, 8), {"own": 0, "context": 0}

    def counts(name: str) -> object:
        def add(_: nn.Module, inputs: tuple) -> None:
            count[name] += inputs[0].shape[-2]

        return add

    block = model.blocks[1]
    block.attention.key.register_forward_pre_hook(counts("own"))
    block.cross_attention.value.register_forward_pre_hook(counts("context"))
    for i in range(6):
        model(ids[:, i : i + 1], cache, context=context)
    assert count == {"own": 6, "context": 5}


def test_gradients_flow_through_a_cache() -> None:
    model, ids, cache = decoder(), some_ids(2, 6), KeyValueCache()
    model(ids).square().sum().backward()
    expected = [parameter.grad.clone() for parameter in model.parameters()]
    model.zero_grad()
    parts = [model(ids[:, :4], cache), model(ids[:, 4:], cache)]
    torch.cat(parts, dim=-2).square().sum().backward()
    for parameter, wanted in zip(model.parameters(), expected, strict=True):
        assert_close(parameter.grad, wanted)


# Encoder and decoder ----------------------------------------------------------------------------


def translator(**options: object) -> EncoderDecoder:
    torch.manual_seed(0)
    return shaken(EncoderDecoder(7, 11, 8, 2, 2, tokens=12, d_hidden=20, **options).double())


@pytest.mark.parametrize("position", POSITIONS)
@pytest.mark.parametrize("norm", NORMS)
def test_padding_of_the_source_changes_no_logits(norm: str, position: str) -> None:
    model = translator(norm=norm, position=position)
    source, ids = some_ids(1, 4, vocabulary=7), some_ids(1, 6)
    padded = torch.cat([source, some_ids(1, 3, vocabulary=7, seed=4)], dim=-1)
    real = torch.arange(7)[None] < 4
    assert_close(model(padded, ids, source_mask=real), model(source, ids))
    assert (model(padded, ids) - model(source, ids)).abs().max() > 1e-6


def test_every_token_written_sees_the_whole_source_and_its_own_past() -> None:
    model, source, ids = translator(), some_ids(2, 5, vocabulary=7), some_ids(2, 6)
    other = source.clone()
    other[:, -1] = (source[:, -1] + 1) % 7
    logits = model(source, ids)
    assert (model(other, ids) - logits).abs().amax(dim=-1).min() > 1e-6
    changed = ids.clone()
    changed[:, -1] = (ids[:, -1] + 1) % 11
    assert_close(model(source, changed)[:, :-1], logits[:, :-1])


def test_cross_attention_weights_are_those_of_the_blocks() -> None:
    model = translator()
    source, ids = some_ids(3, 5, vocabulary=7), some_ids(3, 6)
    real = torch.arange(5) < torch.tensor([[5], [2], [4]])
    weights = model.cross_attention_weights(source, ids, source_mask=real)
    assert weights.shape == (2, 3, 2, 6, 5)
    assert_close(weights.sum(dim=-1), torch.ones(2, 3, 2, 6, dtype=torch.float64))
    assert not weights.movedim(1, 0).movedim(-1, 1)[~real].any()
    block = model.decoder.blocks[0]
    x = model.decoder.embedding(ids)
    x = x + block.attention(block.attention_residual.norm(x), mask=causal_mask(6))
    context = model.encode(source, source_mask=real)
    first = block.cross_attention.weights(
        block.cross_residual.norm(x), context, mask=real[:, None, None, :]
    )
    assert_close(weights[0], first)


# Bad input --------------------------------------------------------------------------------------


def filled(model: Decoder, *shape: int) -> KeyValueCache:
    cache = KeyValueCache()
    model(some_ids(*shape), cache)
    return cache


def broken_off(model: Decoder, *, at: int) -> KeyValueCache:
    """A cache whose call ended in an exception in one of the layers, after an earlier call."""
    cache = filled(model, 2, 3) if at else KeyValueCache()
    hook = model.blocks[1].register_forward_pre_hook(lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        model(some_ids(2, 1), cache)
    hook.remove()
    return cache


def crossed(**options: object) -> Decoder:
    return decoder(cross=True, **options)


def second_context() -> None:
    model, cache = crossed(), KeyValueCache()
    for seed in range(2):
        model(some_ids(2, 1), cache, context=randn(2, 3, 8, seed=seed))


X = randn(2, 3, 8)
IDS = some_ids(2, 3)
MODEL = decoder()


@pytest.mark.usefixtures("plain_calls")
@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        # The makers
        (lambda: EncoderBlock(8, 3), ValueError, r"heads is 3, which does not divide d_model = 8"),
        (lambda: EncoderBlock(8, 2, norm="both"), ValueError, r"norm is 'both'; .*'pre', 'post'"),
        (lambda: DecoderBlock(8, 4, kv_heads=3), ValueError, r"kv_heads is 3, .* heads = 4"),
        (lambda: Decoder(5, 8, 4, 1, tokens=4, kv_heads=8), ValueError, r"kv_heads is 8, .*4"),
        (lambda: DecoderBlock(8, 2, d_hidden=0), ValueError, r"d_hidden is 0; expected 1 or more"),
        (lambda: EncoderBlock(8, 2, dropout=2), ValueError, r"dropout is 2; .*\[0, 1\]"),
        (lambda: Encoder(8, 2, 0), ValueError, r"layers is 0; expected 1 or more"),
        (lambda: Decoder(0, 8, 2, 1, tokens=4), ValueError, r"vocabulary is 0"),
        (lambda: Decoder(5, 8, 2, 1, tokens=0), ValueError, r"tokens is 0"),
        (lambda: Decoder(5, 8, 2, 0, tokens=4), ValueError, r"layers is 0"),
        (
            lambda: Decoder(5, 8, 2, 1, tokens=4, position="sine"),
            ValueError,
            r"position is 'sine'; expected one of 'learned', 'sinusoidal', 'rotary', 'none'",
        ),
        (
            lambda: Decoder(5, 6, 2, 1, tokens=4, position="rotary"),
            ValueError,
            r"a head has .* = 3 features; expected an even number for rotary",
        ),
        (
            lambda: Decoder(5, 9, 3, 1, tokens=4, position="sinusoidal"),
            ValueError,
            r"d_model is 9; expected an even number",
        ),
        # Vectors
        (lambda: encoder(X[:, :0]), ValueError, r"x has shape \(2, 0, 8\), a sequence of no tok"),
        (lambda: encoder(X[..., :5]), ValueError, r"x has shape \(2, 3, 5\); .*8\); got 5"),
        (lambda: encoder(X.float()), TypeError, r"x has dtype torch.float32 and parameters"),
        (
            lambda: BlockAttention(8, 2).double()(X[..., :5]),
            ValueError,
            r"x has shape \(2, 3, 5\); expected \(\*batch, query, 8\)",
        ),
        (
            lambda: BlockAttention(8, 2).double()(X, X, position=torch.arange(3)),
            ValueError,
            r"position was given with a context",
        ),
        (
            lambda: encoder(X, mask=torch.zeros(3, 3, dtype=torch.bool)),
            ValueError,
            r"a query may look at nothing",
        ),
        (
            lambda: encoder(X, mask=torch.ones(2, 3, 3, dtype=torch.bool)),
            ValueError,
            r"mask has shape \(2, 3, 3\).*insert a head axis",
        ),
        (lambda: encoder(X[0, 0]), ValueError, r"x has shape \(8,\); expected .*at least 2 axes"),
        # Ids
        (lambda: MODEL(IDS[:, :0]), ValueError, r"ids has shape \(2, 0\), a sequence of no tokens"),
        (lambda: MODEL(IDS[0, 0]), ValueError, r"ids has shape \(\); expected .* at least 1 axes"),
        (lambda: MODEL(IDS + 9), ValueError, r"ids holds 1\d; expected 0 to 10, the ids of the"),
        (lambda: MODEL(IDS - 11), ValueError, r"ids holds -\d+; expected 0 to 10"),
        (lambda: MODEL(IDS.double()), TypeError, r"ids has dtype torch.float64; .*ids.long\(\)"),
        (lambda: MODEL("text"), TypeError, r"ids is a str; expected a torch.Tensor"),
        (
            lambda: MODEL(some_ids(2, 13)),
            ValueError,
            r"has 13 tokens, 0 of them read before; expected 12 at most.*shorten the sequence",
        ),
        (lambda: TokenEmbedding(5, 4, tokens=3)(IDS % 5, start=-1), ValueError, r"start is -1"),
        # Contexts
        (lambda: crossed()(IDS), ValueError, r"cross-attention got no context; expected one"),
        (lambda: MODEL(IDS, context=X), ValueError, r"context was given to a decoder without"),
        (
            lambda: MODEL.cross_attention_weights(IDS, context=X),
            ValueError,
            r"context was given to a decoder without cross-attention; .*build the decoder with",
        ),
        (
            lambda: crossed()(IDS, context=X[:1]),
            ValueError,
            r"context has shape \(1, 3, 8\); .*\*batch = \(2,\)",
        ),
        (
            lambda: translator()(some_ids(2, 0, vocabulary=7), IDS),
            ValueError,
            r"a sequence of no tokens; expected one at least; begin it with a token",
        ),
        # Caches
        (
            lambda: MODEL(some_ids(2, 3), filled(MODEL, 2, 10)),
            ValueError,
            r"has 13 tokens, 10 of them read before; expected 12 at most",
        ),
        (
            lambda: MODEL(IDS, filled(MODEL, 3, 2)),
            ValueError,
            r"cache holds keys of shape \(3, 2, 2, 4\) and x gives \(2, 2, 3, 4\); .*same batch",
        ),
        (
            lambda: MODEL(IDS, filled(decoder(), 2, 3)),
            ValueError,
            r"cache was filled by another model.*begin with an empty KeyValueCache\(\)",
        ),
        (
            lambda: decoder().float()(IDS, filled(MODEL, 2, 3)),
            ValueError,
            r"cache was filled by another model",
        ),
        (
            lambda: MODEL(IDS, broken_off(MODEL, at=0)),
            ValueError,
            r"or by a call that broke off; .*begin with an empty KeyValueCache\(\)",
        ),
        (
            lambda: MODEL(IDS, broken_off(MODEL, at=3)),
            ValueError,
            r"layers of the cache hold 3 to 4 tokens, since a call broke off",
        ),
        (second_context, ValueError, r"context is not the tensor that the cache was filled from"),
    ],
)
def test_bad_input_gets_a_message_that_helps(call: object, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        call()


@pytest.mark.usefixtures("plain_calls")
def test_a_model_that_changed_its_dtype_cannot_go_on_with_its_cache() -> None:
    model = decoder()
    cache = filled(model, 2, 3)
    with pytest.raises(TypeError, match=r"key has dtype torch.float32 and cache has torch.float64"):
        model.float()(IDS, cache)


def encoder(x: Tensor, **given: object) -> Tensor:
    return Encoder(8, 2, 1).double()(x, **given)
