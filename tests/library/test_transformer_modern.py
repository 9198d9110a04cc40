"""The modern block against PyTorch's layers, a loop over tokens, and its own properties."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from seeded_tensors import assert_close, gradients, randn, randomized
from torch import Tensor, nn
from torch.nn import functional as F

from course_lib.attention import causal_mask
from course_lib.position import rotary
from course_lib.transformer import MixtureOfExperts, ModernBlock, RMSNorm, SwiGLU

BATCHES = [(), (2, 3), (2, 0)]
SEEDS = st.integers(0, 1000)


def test_rms_norm_and_its_gradients_equal_pytorchs() -> None:
    for batch in BATCHES:
        for epsilon in [1e-6, 0.5]:
            ours, theirs = (
                RMSNorm(5, epsilon=epsilon),
                nn.RMSNorm(5, eps=epsilon, dtype=torch.float64),
            )
            theirs.load_state_dict(randomized(ours).state_dict())
            x, twin = (randn(*batch, 5).requires_grad_() for _ in range(2))
            output, expected = ours(x), theirs(twin)
            assert_close(output, expected)
            found = gradients(output, x, ours.weight)
            assert_close(found, gradients(expected, twin, theirs.weight))


def test_rms_norm_computes_in_float32_where_half_precision_would_overflow() -> None:
    for dtype in (torch.float16, torch.bfloat16):
        x = torch.tensor([[300.0, -300, 300, 600], [0, 1e-3, 2, 6e4]]).to(dtype)
        ours, theirs = RMSNorm(4).to(dtype), nn.RMSNorm(4, eps=1e-6, dtype=dtype)
        torch.testing.assert_close(ours(x), theirs(x))


def test_experts_work_under_autocast() -> None:
    torch.manual_seed(0)
    block = ModernBlock(16, 4, kv_heads=2, d_hidden=10, experts=3, active=2)
    x = torch.randn(2, 5, 16)
    with torch.autocast("cpu", torch.bfloat16):
        found = block(x)
    torch.testing.assert_close(found, block(x), rtol=0.05, atol=0.05)


def test_rms_norm_of_zeros_is_zero_and_has_a_gradient() -> None:
    x = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    output = RMSNorm(3).double()(x)
    output.sum().backward()
    assert not output.any()
    assert x.grad.isfinite().all()


def test_swiglu_is_its_formula_for_every_token() -> None:
    mlp, x = randomized(SwiGLU(4, 7)), randn(2, 3, 4)
    W1, W3, W2 = (part.weight for part in (mlp.gate, mlp.expand, mlp.contract))
    output = mlp(x)
    for place in ((b, t) for b in range(2) for t in range(3)):
        gate = W1 @ x[place]
        assert_close(output[place], W2 @ (gate / (1 + (-gate).exp()) * (W3 @ x[place])))


def one_by_one(mixture: MixtureOfExperts, x: Tensor) -> Tensor:
    """Each token alone through its top experts, weighted by their softmax."""
    outputs = []
    for token in x.reshape(-1, x.shape[-1]):
        score = mixture.router.weight @ token
        best = sorted(range(len(score)), key=lambda e: -score[e])[: mixture.active]
        weights = [score[e].exp() / sum(score[i].exp() for i in best) for e in best]
        outputs.append(
            sum(w * mixture.experts[e](token) for w, e in zip(weights, best, strict=True))
        )
    return torch.stack(outputs).reshape(x.shape) if outputs else x


@settings(max_examples=20)
@given(seed=SEEDS, experts=st.integers(1, 5), data=st.data())
def test_a_mixture_is_the_loop_over_tokens(seed: int, experts: int, data: st.DataObject) -> None:
    active = data.draw(st.integers(1, experts))
    mixture = randomized(MixtureOfExperts(4, 6, experts, active))
    x = randn(*data.draw(st.sampled_from(BATCHES)), 4, seed=seed)
    assert_close(mixture(x), one_by_one(mixture, x), 1e-10)


def test_gradients_of_a_mixture_are_those_of_the_loop() -> None:
    mixture = randomized(MixtureOfExperts(4, 6, 3, 2))
    x, mix = randn(5, 4).requires_grad_(), randn(5, 4, seed=1)
    leaves = (x, *mixture.parameters())
    found, wanted = (
        torch.autograd.grad((output * mix).sum(), leaves)
        for output in (mixture(x), one_by_one(mixture, x))
    )
    assert found[1].abs().max() > 1e-6
    assert_close(found, wanted)


@settings(max_examples=20)
@given(seed=SEEDS)
def test_shares_sum_to_one_over_the_most_probable_experts(seed: int) -> None:
    mixture = randomized(MixtureOfExperts(4, 6, 5, 2))
    x = randn(7, 4, seed=seed)
    shares, probability = mixture.shares(x), (x @ mixture.router.weight.T).softmax(dim=-1)
    assert ((shares > 0).sum(dim=-1) == 2).all()
    assert_close(shares.sum(dim=-1), torch.ones(7, dtype=torch.float64))
    working = shares > 0
    least = torch.where(working, probability, 1).amin(dim=-1)
    assert (least >= torch.where(working, 0, probability).amax(dim=-1)).all()


def by_pytorch(block: ModernBlock, x: Tensor, position: Tensor, mask: Tensor | None) -> Tensor:
    """A block of PyTorch's norm and attention operator, with PyTorch's grouped queries."""
    heads, attention = block.attention.heads, block.attention

    def split(linear: nn.Linear, tokens: Tensor) -> Tensor:
        return (tokens @ linear.weight.T).unflatten(-1, (-1, x.shape[-1] // heads)).transpose(1, 2)

    seen = F.rms_norm(x, x.shape[-1:], block.attention_norm.weight, 1e-6)
    query, key, value = (split(p, seen) for p in (attention.query, attention.key, attention.value))
    query, key = rotary(query, position=position), rotary(key, position=position)
    blended = F.scaled_dot_product_attention(query, key, value, attn_mask=mask, enable_gqa=True)
    x = x + blended.transpose(1, 2).flatten(-2) @ attention.output.weight.T
    return x + block.mlp(F.rms_norm(x, x.shape[-1:], block.mlp_norm.weight, 1e-6))


@pytest.mark.parametrize(
    ("kv_heads", "masked", "mixed"),
    [(1, True, {}), (2, False, {"experts": 3, "active": 2}), (4, True, {})],
)
def test_a_block_is_made_of_pytorchs_parts(*, masked: bool, kv_heads: int, mixed: dict) -> None:
    block = randomized(ModernBlock(16, 4, kv_heads=kv_heads, d_hidden=10, **mixed), 0.4)
    x, mask, position = randn(2, 5, 16), causal_mask(5) if masked else None, torch.arange(5)
    expected = by_pytorch(block, x, position, mask)
    assert_close(block(x, mask=mask, position=position), expected)
    assert_close(block(x, mask=mask), expected)
