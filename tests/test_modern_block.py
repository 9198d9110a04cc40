"""The modern block against PyTorch's layers, a loop over tokens, and its own properties."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from seeded import assert_close, randn, randomized
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.flop_counter import FlopCounterMode

from course_lib.attention import causal_mask
from course_lib.modern_block import MixtureOfExperts, ModernBlock, RMSNorm, SwiGLU
from course_lib.position import rotary
from course_lib.training import parameter_count

BATCHES = [(), (3,), (2, 3), (0,), (2, 0)]
SEEDS = st.integers(0, 1000)


# RMSNorm ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch", BATCHES, ids=str)
@pytest.mark.parametrize("epsilon", [1e-6, 0.5])
def test_rms_norm_and_its_gradients_equal_pytorchs(batch: tuple[int, ...], epsilon: float) -> None:
    ours, theirs = RMSNorm(5, epsilon=epsilon), nn.RMSNorm(5, eps=epsilon, dtype=torch.float64)
    theirs.load_state_dict(randomized(ours).state_dict())
    x, twin = (randn(*batch, 5).requires_grad_() for _ in range(2))
    output, expected = ours(x), theirs(twin)
    assert_close(output, expected)
    covector = randn(*batch, 5, seed=1)
    output.backward(covector)
    expected.backward(covector)
    assert_close(x.grad, twin.grad)
    assert_close(ours.weight.grad, theirs.weight.grad)


@given(seed=SEEDS, factor=st.floats(1e-2, 1e3))
def test_rms_norm_forgets_the_length_and_keeps_the_direction(seed: int, factor: float) -> None:
    norm, x = RMSNorm(6, epsilon=1e-30).double(), randn(4, 6, seed=seed)
    normed = norm(x)
    assert_close(norm(factor * x), normed)
    assert_close(norm(-x), -normed)
    assert_close(normed.square().mean(dim=-1), torch.ones(4, dtype=torch.float64))
    assert_close(F.cosine_similarity(normed, x, dim=-1), torch.ones(4, dtype=torch.float64))


@given(seed=SEEDS)
def test_rms_norm_keeps_a_shift_that_layer_norm_forgets(seed: int) -> None:
    norm, x = RMSNorm(6).double(), randn(4, 6, seed=seed)
    assert (norm(x + 3) - norm(x)).abs().max() > 0.1
    assert_close(F.layer_norm(x + 3, (6,)), F.layer_norm(x, (6,)), 1e-9)


@given(seed=SEEDS)
def test_rms_norm_of_features_without_a_mean_is_layer_norm(seed: int) -> None:
    x = randn(4, 6, seed=seed)
    centred = x - x.mean(dim=-1, keepdim=True)
    assert_close(RMSNorm(6).double()(centred), F.layer_norm(centred, (6,), eps=1e-6))


def test_rms_norm_of_zeros_is_zero_and_has_a_gradient() -> None:
    x = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    output = RMSNorm(3).double()(x)
    output.sum().backward()
    assert not output.any()
    assert x.grad.isfinite().all()


# SwiGLU -----------------------------------------------------------------------------------------


def test_swiglu_is_its_formula_for_every_token() -> None:
    mlp, x = randomized(SwiGLU(4, 7)), randn(2, 3, 4)
    W1, W3, W2 = (part.weight for part in (mlp.gate, mlp.expand, mlp.contract))
    output = mlp(x)
    for place in ((b, t) for b in range(2) for t in range(3)):
        gate = W1 @ x[place]
        assert_close(output[place], W2 @ (gate / (1 + (-gate).exp()) * (W3 @ x[place])))


def test_swiglu_has_three_matrices_and_no_bias() -> None:
    assert parameter_count(SwiGLU(6, 16)) == 3 * 6 * 16
    # Eight thirds of the width: as many numbers as an MLP of four times the width has in matrices.
    assert parameter_count(SwiGLU(6, 16)) == 2 * 6 * (4 * 6)


def test_a_gate_far_above_zero_opens_and_far_below_closes() -> None:
    mlp = SwiGLU(1, 1).double()
    with torch.no_grad():
        for parameter in mlp.parameters():
            parameter.fill_(1.0)
    # silu(a) is a or 0 far from zero, so the output is the square of the input or nothing.
    assert_close(
        mlp(torch.tensor([50.0, -50.0]).double()[:, None]).T, torch.tensor([[2500.0, 0]]).double()
    )


# Experts ----------------------------------------------------------------------------------------


def one_by_one(mixture: MixtureOfExperts, x: Tensor) -> Tensor:
    """Each token alone through the experts of the highest scores, weighed by their softmax."""
    outputs = []
    for token in x.reshape(-1, x.shape[-1]):
        score = mixture.router.weight @ token
        best = sorted(range(len(score)), key=lambda e: -score[e])[: mixture.active]
        weights = [score[e].exp() / sum(score[i].exp() for i in best) for e in best]
        outputs.append(
            sum(w * mixture.experts[e](token) for w, e in zip(weights, best, strict=True))
        )
    return torch.stack(outputs).reshape(x.shape)


@given(seed=SEEDS, experts=st.integers(1, 5), data=st.data())
def test_a_mixture_is_the_loop_over_tokens(seed: int, experts: int, data: st.DataObject) -> None:
    active = data.draw(st.integers(1, experts))
    mixture = randomized(MixtureOfExperts(4, 6, experts, active))
    x = randn(2, 3, 4, seed=seed)
    assert_close(mixture(x), one_by_one(mixture, x), 1e-10)


@pytest.mark.parametrize("batch", BATCHES, ids=str)
def test_experts_take_any_batch_even_an_empty_one(batch: tuple[int, ...]) -> None:
    mixture = randomized(MixtureOfExperts(4, 6, 3, 2))
    x = randn(*batch, 4)
    assert mixture.shares(x).shape == (*batch, 3)
    output = mixture(x)
    assert output.shape == x.shape
    if 0 not in batch:
        assert_close(output, one_by_one(mixture, x))


def test_gradients_of_a_mixture_are_those_of_the_loop() -> None:
    mixture = randomized(MixtureOfExperts(4, 6, 3, 2))
    x, mix = randn(5, 4).requires_grad_(), randn(5, 4, seed=1)
    leaves = (x, *mixture.parameters())
    found, wanted = (
        torch.autograd.grad((output * mix).sum(), leaves)
        for output in (mixture(x), one_by_one(mixture, x))
    )
    assert mixture.router.weight.shape == found[1].shape
    assert found[1].abs().max() > 1e-6
    for ours, theirs in zip(found, wanted, strict=True):
        assert_close(ours, theirs)


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


def test_experts_that_score_the_same_are_as_many_as_shall_be_active() -> None:
    mixture = MixtureOfExperts(4, 6, 5, 2).double()
    nn.init.zeros_(mixture.router.weight)
    assert mixture.shares(randn(7, 4)).sort().values.tolist() == [[0, 0, 0, 0.5, 0.5]] * 7


def test_all_experts_at_equal_scores_give_their_mean() -> None:
    mixture, x = randomized(MixtureOfExperts(4, 6, 3, 3)), randn(5, 4)
    nn.init.zeros_(mixture.router.weight)
    assert_close(mixture(x), torch.stack([expert(x) for expert in mixture.experts]).mean(dim=0))


def test_copies_of_one_expert_are_that_expert_however_they_are_routed() -> None:
    mixture, x = randomized(MixtureOfExperts(4, 6, 3, 2)), randn(5, 4)
    for expert in mixture.experts:
        expert.load_state_dict(mixture.experts[0].state_dict())
    assert_close(mixture(x), mixture.experts[0](x))


@pytest.mark.parametrize("active", [1, 2, 4])
def test_work_grows_with_the_active_experts_and_not_with_all(active: int) -> None:
    def work(experts: int) -> int:
        mixture = MixtureOfExperts(8, 16, experts, active)
        with FlopCounterMode(display=False) as counter:
            mixture(torch.randn(10, 8))
        return counter.get_total_flops() - 2 * 10 * 8 * experts  # the router sees all of them

    assert work(4) == work(8) == 10 * active * 2 * 3 * 8 * 16


# Balance ----------------------------------------------------------------------------------------


def by_count(mixture: MixtureOfExperts, x: Tensor) -> float:
    """The loss of Fedus et al., with choices that are counted."""
    probability = (x @ mixture.router.weight.T).softmax(dim=-1)
    experts, loss = probability.shape[-1], 0.0
    for e in range(experts):
        taken = sum(e in row.argsort(descending=True)[: mixture.active] for row in probability)
        loss += experts * taken / (len(x) * mixture.active) * probability[:, e].mean().item()
    return loss


@given(seed=SEEDS, active=st.integers(1, 4))
def test_balance_loss_counts_choices_and_averages_probabilities(seed: int, active: int) -> None:
    mixture, x = randomized(MixtureOfExperts(3, 2, 4, active)), randn(9, 3, seed=seed)
    assert mixture.balance_loss(x).item() == pytest.approx(by_count(mixture, x), abs=1e-12)
    assert mixture.balance_loss(x.reshape(3, 3, 3)).item() == mixture.balance_loss(x).item()


def routed(rows: list[list[float]], active: int = 1) -> tuple[MixtureOfExperts, Tensor]:
    """A mixture whose scores are the rows of x themselves."""
    x = torch.tensor(rows, dtype=torch.float64)
    mixture = MixtureOfExperts(x.shape[-1], 2, x.shape[-1], active).double()
    with torch.no_grad():
        mixture.router.weight.copy_(torch.eye(x.shape[-1]))
    return mixture, x


@pytest.mark.parametrize("active", [1, 2, 3, 4])
def test_balance_loss_is_one_at_equal_probabilities(active: int) -> None:
    mixture, x = routed([[0.0] * 4] * 5, active)
    assert mixture.balance_loss(x).item() == pytest.approx(1)


@pytest.mark.parametrize("active", [1, 2, 3, 4])
def test_balance_loss_is_one_where_all_experts_are_chosen_equally_often(active: int) -> None:
    # Token t scores the experts t, t + 1, t + 2, ... in this order, and all but token 0 less.
    falling = torch.stack([torch.tensor([4.0, 3.0, 2.0, 1.0]).roll(t) for t in range(4)])
    mixture, x = routed((torch.tensor([2.0, 1, 1, 1])[:, None] * falling).tolist(), active)
    probability = x.softmax(dim=-1).mean(dim=0)
    assert probability.max() - probability.min() > 0.01
    assert mixture.balance_loss(x).item() == pytest.approx(1)


@pytest.mark.parametrize(("active", "worst"), [(1, 4.0), (2, 2.0), (4, 1.0)])
def test_balance_loss_is_largest_where_one_expert_takes_all(active: int, worst: float) -> None:
    mixture, x = routed([[50.0, 0, 0, 0]] * 6, active)
    assert mixture.balance_loss(x).item() == pytest.approx(worst)


def test_descent_on_the_balance_loss_spreads_the_tokens() -> None:
    mixture, x = routed((torch.eye(4) + torch.tensor([3.0, 0, 0, 0])).tolist())
    assert set(mixture.shares(x).argmax(dim=-1).tolist()) == {0}
    descent = torch.optim.SGD([mixture.router.weight], lr=0.5)
    for _ in range(200):
        descent.zero_grad()
        mixture.balance_loss(x).backward()
        descent.step()
    assert set(mixture.shares(x).argmax(dim=-1).tolist()) != {0}
    assert mixture.balance_loss(x).item() < 1.2


def test_only_the_balance_loss_teaches_the_router_of_one_active_expert() -> None:
    mixture, x = randomized(MixtureOfExperts(4, 6, 3, 1)), randn(5, 4)
    mixture(x).square().sum().backward()
    assert mixture.router.weight.grad.abs().max() < 1e-12
    mixture.balance_loss(x).backward()
    assert mixture.router.weight.grad.abs().max() > 1e-6


# The block --------------------------------------------------------------------------------------


def by_pytorch(block: ModernBlock, x: Tensor, position: Tensor, mask: Tensor | None) -> Tensor:
    """The block of PyTorch's norm and operator, with grouped queries of PyTorch's own."""
    heads, attention = block.attention.heads, block.attention

    def split(linear: nn.Linear, tokens: Tensor) -> Tensor:
        return (tokens @ linear.weight.T).unflatten(-1, (-1, x.shape[-1] // heads)).transpose(1, 2)

    seen = F.rms_norm(x, x.shape[-1:], block.attention_norm.weight, 1e-6)
    query, key, value = (split(p, seen) for p in (attention.query, attention.key, attention.value))
    query, key = rotary(query, position=position), rotary(key, position=position)
    blended = F.scaled_dot_product_attention(query, key, value, attn_mask=mask, enable_gqa=True)
    x = x + blended.transpose(1, 2).flatten(-2) @ attention.output.weight.T
    return x + block.mlp(F.rms_norm(x, x.shape[-1:], block.mlp_norm.weight, 1e-6))


@pytest.mark.parametrize("mixed", [{}, {"experts": 3, "active": 2}], ids=["one MLP", "experts"])
@pytest.mark.parametrize("kv_heads", [1, 2, 4])
@pytest.mark.parametrize("masked", [False, True], ids=["unmasked", "causal"])
def test_a_block_is_made_of_pytorchs_parts(*, masked: bool, kv_heads: int, mixed: dict) -> None:
    block = randomized(ModernBlock(16, 4, kv_heads=kv_heads, d_hidden=10, **mixed), 0.4)
    x, mask, position = randn(2, 5, 16), causal_mask(5) if masked else None, torch.arange(5)
    expected = by_pytorch(block, x, position, mask)
    assert_close(block(x, mask=mask, position=position), expected)
    assert_close(block(x, mask=mask), expected)


def test_a_block_has_no_biases_and_fewer_numbers_with_fewer_key_heads() -> None:
    block = ModernBlock(16, 4, kv_heads=2, d_hidden=10)
    assert {name.split(".")[-1] for name, _ in block.named_parameters()} == {"weight"}
    assert parameter_count(block) == 2 * 16**2 + 2 * 16 * 8 + 3 * 16 * 10 + 2 * 16
    assert parameter_count(ModernBlock(16, 4, kv_heads=4, d_hidden=10)) == (
        parameter_count(block) + 2 * 16 * 8
    )


def test_a_block_sees_the_distance_of_tokens_and_not_their_places() -> None:
    block, x = randomized(ModernBlock(8, 2, kv_heads=1, d_hidden=10)), randn(2, 5, 8)
    places = torch.arange(5)
    assert_close(block(x, position=places + 100), block(x), 1e-9)
    assert (block(x, position=2 * places) - block(x)).abs().max() > 1e-3
    order = [3, 0, 4, 2, 1]
    assert (block(x[:, order]) - block(x)[:, order]).abs().max() > 1e-3
    assert_close(block(x[:, order], position=places[order]), block(x)[:, order])


def test_the_way_around_both_parts_of_a_block_is_clear() -> None:
    block, x = ModernBlock(8, 2, kv_heads=1, d_hidden=10).double(), randn(2, 5, 8)
    nn.init.zeros_(block.attention.output.weight)
    nn.init.zeros_(block.mlp.contract.weight)
    assert torch.equal(block(x), x)


# Bad input --------------------------------------------------------------------------------------

X = randn(2, 3, 8)
MIXTURE = MixtureOfExperts(8, 4, 3, 2).double()


def block(**given: object) -> ModernBlock:
    return ModernBlock(8, 2, **{"kv_heads": 1, "d_hidden": 4, **given}).double()


BAD = {
    "no feature": (lambda: RMSNorm(0), ValueError, r"d is 0"),
    "epsilon": (lambda: RMSNorm(8, epsilon=0), ValueError, r"epsilon is 0; .* above 0"),
    "dtype of a norm": (lambda: RMSNorm(8)(X), TypeError, r"x has dtype torch.float64 and param"),
    "width of a norm": (lambda: RMSNorm(4).double()(X), ValueError, r"x has .*batch, 4\); got 8"),
    "no hidden feature": (lambda: SwiGLU(8, 0), ValueError, r"d_hidden is 0"),
    "MLP of nothing": (lambda: SwiGLU(0, 8), ValueError, r"d is 0"),
    "dtype of an MLP": (lambda: SwiGLU(8, 4)(X), TypeError, r"x has dtype torch.float64 and param"),
    "width of an MLP": (lambda: SwiGLU(4, 4).double()(X), ValueError, r"x has .*batch, 4\); got 8"),
    "experts for nothing": (lambda: MixtureOfExperts(0, 4, 3, 2), ValueError, r"d is 0"),
    "no experts": (lambda: MixtureOfExperts(8, 4, 0, 2), ValueError, r"experts is 0"),
    "none active": (lambda: MixtureOfExperts(8, 4, 3, 0), ValueError, r"active is 0"),
    "too many active": (
        lambda: MixtureOfExperts(8, 4, 3, 4),
        ValueError,
        r"active is 4 and experts is 3; expected .* choose fewer active ones, or more experts",
    ),
    "dtype of experts": (lambda: MIXTURE(X.float()), TypeError, r"x has dtype torch.float32 and"),
    "width of experts": (lambda: MIXTURE(X[..., :4]), ValueError, r"x has .*batch, 8\); got 4"),
    "width of shares": (lambda: MIXTURE.shares(X[..., 1:]), ValueError, r"x has .*8\); got 7"),
    "no token to balance": (
        lambda: MIXTURE.balance_loss(X[:0]),
        ValueError,
        r"tokens, the number of rows of x, is 0; expected 1 or more",
    ),
    "key heads": (lambda: block(kv_heads=3), ValueError, r"kv_heads is 3, .* heads = 2; .* 1, 2"),
    "odd heads": (
        lambda: ModernBlock(6, 2, kv_heads=1, d_hidden=4),
        ValueError,
        r"d_model / heads, the features of a head, is 3; expected an even number",
    ),
    "heads": (lambda: ModernBlock(8, 3, kv_heads=1, d_hidden=4), ValueError, r"heads is 3, which"),
    "experts alone": (lambda: block(experts=3), ValueError, r"experts is 3 and active is None; .*"),
    "active alone": (lambda: block(active=3), ValueError, r"experts is None and active is 3; .*"),
    "dtype of a block": (lambda: block()(X.float()), TypeError, r"x has dtype torch.float32 and p"),
    "one token": (lambda: block()(X[0, 0]), ValueError, r"x has shape \(8,\); .*tokens, 8\)"),
    "width of a block": (lambda: block()(X[..., :4]), ValueError, r"x has .*tokens, 8\); got 4"),
    "positions": (
        lambda: block()(X, position=torch.arange(2)),
        ValueError,
        r"position has shape \(2,\); expected .* tokens = 3",
    ),
    "mask": (lambda: block()(X, mask=X[0] > 0), ValueError, r"mask has shape \(3, 8\)"),
}


@pytest.mark.usefixtures("plain_calls")
@pytest.mark.parametrize("case", BAD)
def test_bad_input_gets_a_message_that_helps(case: str) -> None:
    call, error, message = BAD[case]
    with pytest.raises(error, match=message):
        call()
