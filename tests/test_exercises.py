"""The checkers: right attempts pass, each wrong one gets its own counterexample and hint."""

import re
import time
from functools import cache

import numpy as np
import pytest
import torch
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional as F

from course_lib import attention, checker, mechanics
from course_lib.checker import Exercise, Result, close
from course_lib.exercises import check

EXERCISES = [
    "attention",
    "causal_mask",
    "hard_lookup",
    "soft_lookup",
    "softmax",
    "split_heads",
    "symplectic_stepper",
]


def numpy_softmax(score: Tensor) -> np.ndarray:
    score = score.numpy()
    grown = np.exp(score - score.max(axis=-1, keepdims=True))
    return grown / grown.sum(axis=-1, keepdims=True)


def looped_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    rows = []
    for q in query:
        grown = torch.stack([(q @ k / len(q) ** 0.5).exp() for k in key])
        rows.append(sum(w * v for w, v in zip(grown / grown.sum(), value, strict=True)))
    return torch.stack(rows)


def sliced_heads(x: Tensor, heads: int) -> Tensor:
    return torch.stack(x.chunk(heads, dim=-1), dim=1)


def position_verlet(system: object, q: Tensor, p: Tensor, dt: float) -> tuple[Tensor, Tensor]:
    q = q + dt / 2 * system.grad_p(q, p)
    p = p - dt * system.grad_q(q, p)
    return q + dt / 2 * system.grad_p(q, p), p


def drift_first(system: object, q: Tensor, p: Tensor, dt: float) -> tuple[Tensor, Tensor]:
    q = q + dt * system.grad_p(q, p)
    return q, p - dt * system.grad_q(q, p)


def fourth_order(system: object, q: Tensor, p: Tensor, dt: float) -> tuple[Tensor, Tensor]:
    outer = 1 / (2 - 2 ** (1 / 3))
    for part in (outer, 1 - 2 * outer, outer):
        q, p = position_verlet(system, q, p, part * dt)
    return q, p


RIGHT = {
    "softmax of torch": ("softmax", lambda score: score.softmax(-1)),
    "softmax in numpy": ("softmax", numpy_softmax),
    "softmax in a reversed view": ("softmax", lambda s: numpy_softmax(s.flip(-1))[..., ::-1]),
    "softmax in float64": ("softmax", lambda score: score.double().softmax(-1)),
    "soft lookup": ("soft_lookup", lambda q, k, v: (k @ q).softmax(0) @ v),
    "soft lookup by attention": (
        "soft_lookup",
        lambda q, k, v: attention.attention(q[None], k, v, scale=1.0)[0],
    ),
    "hard lookup": ("hard_lookup", lambda q, k, v: v[(k @ q).argmax()]),
    "hard lookup, last of the best": (
        "hard_lookup",
        lambda q, k, v: v.flip(0)[(k.flip(0) @ q).argmax()],
    ),
    "causal mask": ("causal_mask", attention.causal_mask),
    "causal mask in numpy": ("causal_mask", lambda tokens: np.tri(tokens, dtype=bool)),
    "attention": ("attention", attention.attention),
    "attention in loops": ("attention", looped_attention),
    "split heads": ("split_heads", sliced_heads),
    "split heads with gradient": (
        "split_heads",
        lambda x, heads: x.requires_grad_().unflatten(-1, (heads, -1)).transpose(1, 2),
    ),
    "drift, then kick": ("symplectic_stepper", drift_first),
    "position Verlet": ("symplectic_stepper", position_verlet),
    "position Verlet in numpy": (
        "symplectic_stepper",
        lambda *inputs: tuple(part.numpy() for part in position_verlet(*inputs)),
    ),
    "order four": ("symplectic_stepper", fourth_order),
    "symplectic Euler": ("symplectic_stepper", mechanics.symplectic_euler),
    "Störmer–Verlet": ("symplectic_stepper", mechanics.stoermer_verlet),
    "implicit midpoint": ("symplectic_stepper", mechanics.implicit_midpoint),
}


@pytest.mark.parametrize("case", RIGHT)
def test_a_right_attempt_passes_in_one_line(case: str) -> None:
    name, attempt = RIGHT[case]
    result = getattr(check, name)(attempt)
    assert result, repr(result)
    assert re.fullmatch(r"✓ .*: \d properties hold on all \d+ inputs tried\.", repr(result))


def dot_attention(scale: object, dim: int = -1) -> object:
    return lambda q, k, v: (q @ k.T * scale(q, k, v)).softmax(dim) @ v


def forgetful_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    place = torch.arange(len(key))
    return (query @ key.T / query.shape[1] ** 0.5 + place * query.norm()).softmax(-1) @ value


def crowd_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    mixed = query + query[:1]
    return (mixed @ key.T / query.shape[1] ** 0.5).softmax(-1) @ value


def restarting(system: object, q: Tensor, p: Tensor, dt: float) -> tuple[Tensor, Tensor]:
    halfway = q + dt / 2 * system.grad_p(q, p)
    p = p - dt * system.grad_q(halfway, p)
    return q + dt * system.grad_p(q, p), p


def trapezoid(system: object, q: Tensor, p: Tensor, dt: float) -> tuple[Tensor, Tensor]:
    """Symplectic where the force is linear, and only there."""
    arrived = q + dt * system.grad_p(q, p)
    halfway = q + dt / 2 * system.grad_p(q, p)
    p = p - dt / 2 * (system.grad_q(q, p) + system.grad_q(arrived, p))
    return halfway + dt / 2 * system.grad_p(q, p), p


def one_by_one(system: object, q: Tensor, p: Tensor, dt: float) -> tuple[Tensor, Tensor]:
    """Symplectic with a single pair, and only there."""
    q, p = q.clone(), p.clone()
    for i in range(q.shape[-1]):
        p[..., i] -= dt * system.grad_q(q, p)[..., i]
        q[..., i] += dt * system.grad_p(q, p)[..., i]
    return q, p


def shared(system: object, q: Tensor, p: Tensor, dt: float) -> tuple[Tensor, Tensor]:
    together = q.dim() > 1
    pull = dt**2 * q.mean(0) if together else 0 * q
    return drift_first(system, q, p - pull, dt)


def scaled(system: object, q: Tensor, p: Tensor, dt: float) -> tuple[Tensor, Tensor]:
    """Symplectic Euler that then puts the energy right."""
    new_q, new_p = mechanics.symplectic_euler(system, q, p, dt)
    ratio = (system.energy(q, p) + 1) / (system.energy(new_q, new_p) + 1)
    return new_q, new_p * ratio.abs().sqrt()[..., None]


def moved(q_part: float, p_part: float) -> object:
    """Explicit Euler with each half of the field multiplied by a number."""

    def step(system: object, q: Tensor, p: Tensor, dt: float) -> tuple[Tensor, Tensor]:
        q_dot, p_dot = system.field(q, p)
        return q + q_part * dt * q_dot, p + p_part * dt * p_dot

    return step


# What was tried, what it breaks, the smallest input, and a word of the hint.
WRONG = {
    "over the first axis": (
        "softmax",
        lambda score: score.softmax(0),
        "weights along the last axis sum to one",
        "score = tensor([[0., 0.]])",
        "last axis",
    ),
    "one total for all rows": (
        "softmax",
        lambda score: score.exp() / score.exp().sum(),
        "weights along the last axis sum to one",
        "score = tensor([[0.],\n                  [0.]])",
        "one for each row",
    ),
    "total that lost its axis": (
        "softmax",
        lambda score: score.exp() / score.exp().sum(-1),
        "a tensor of the right kind and shape",
        "of shape (2, 2) instead of (2, 1)",
        "shape of every intermediate result",
    ),
    "not divided": (
        "softmax",
        lambda score: score.exp(),
        "weights along the last axis sum to one",
        "score = tensor([1.])",
        "total",
    ),
    "sigmoid": (
        "softmax",
        lambda score: score.sigmoid(),
        "weights along the last axis sum to one",
        "score = tensor([0.])",
        "total",
    ),
    "log of the weights": (
        "softmax",
        lambda score: score.log_softmax(-1),
        "no weight is negative",
        "score = tensor([0., 0.])",
        "any number positive",
    ),
    "square instead of exponential": (
        "softmax",
        lambda score: (score**2 + 1) / (score**2 + 1).sum(-1, keepdim=True),
        "adding the same number",
        "score = tensor([0., 1.])",
        "differences",
    ),
    "base two": (
        "softmax",
        lambda score: torch.exp2(score) / torch.exp2(score).sum(-1, keepdim=True),
        "ln 2",
        "score = tensor([0.0000, 0.6931])",
        "which base",
    ),
    "overflow": (
        "softmax",
        lambda score: score.exp() / score.exp().sum(-1, keepdim=True),
        "scores as large as 10,000",
        "score = tensor([10000.])",
        "too large for a float",
    ),
    "zero over zero": (
        "softmax",
        lambda score: score / score.sum(-1, keepdim=True),
        "a tensor of the right kind and shape",
        "returned tensor([nan])",
        "divide by",
    ),
    "hard for soft lookup": (
        "soft_lookup",
        lambda q, k, v: v[(k @ q).argmax()],
        "the mean of the values",
        "keys = tensor([[0.],\n                 [0.]])",
        "Equal scores",
    ),
    "blend of keys": (
        "soft_lookup",
        lambda q, k, _: (k @ q).softmax(0) @ k,
        "a tensor of the right kind and shape",
        "of shape (1,) instead of (2,)",
        "shape",
    ),
    "scores not normalised": (
        "soft_lookup",
        lambda q, k, v: (k @ q) @ v,
        "with one key, its value comes back",
        "returned tensor([0.])",
        "sum to one",
    ),
    "signed weights that sum to one": (
        "soft_lookup",
        lambda q, k, v: (k @ q - (k @ q).mean() + 1 / len(k)) @ v,
        "between the smallest and the largest value",
        "returned",
        "leave the range",
    ),
    "place counts": (
        "soft_lookup",
        lambda q, k, v: (k @ q + torch.arange(len(k)) * q.norm()).softmax(0) @ v,
        "reversing the order of keys and values",
        "values = tensor([[0.],\n                   [1.]])",
        "not by where it stands",
    ),
    "cosine": (
        "soft_lookup",
        lambda q, k, v: F.cosine_similarity(k, q, dim=-1).softmax(0) @ v,
        "softmax of the dot products",
        "keys = tensor([[0.],\n                 [2.]])",
        "length of the key cancel",
    ),
    "scaled too soon": (
        "soft_lookup",
        lambda q, k, v: (k @ q / len(q) ** 0.5).softmax(0) @ v,
        "softmax of the dot products",
        "query = tensor([0., 1.])",
        "Lecture 2 does that",
    ),
    "worst key most": (
        "soft_lookup",
        lambda q, k, v: (-k @ q).softmax(0) @ v,
        "softmax of the dot products",
        "returned tensor([0.2689])",
        "sign of the scores",
    ),
    "soft for hard lookup": (
        "hard_lookup",
        lambda q, k, v: (k @ q).softmax(0) @ v,
        "one of the values",
        "returned tensor([0.5000])",
        "blends nothing",
    ),
    "worst key": (
        "hard_lookup",
        lambda q, k, v: v[(k @ q).argmin()],
        "wins over a key of zeros",
        "returned tensor([0.])",
        "fits worst",
    ),
    "nearest key": (
        "hard_lookup",
        lambda q, k, v: v[(k - q).norm(dim=-1).argmin()],
        "wins over the query itself",
        "keys = tensor([[1.],\n                 [2.]])",
        "pick the nearest",
    ),
    "smallest angle": (
        "hard_lookup",
        lambda q, k, v: v[F.cosine_similarity(k, q, dim=-1).argmax()],
        "wins over the query itself",
        "keys = tensor([[1.],\n                 [2.]])",
        "length cancel",
    ),
    "first two keys alone": (
        "hard_lookup",
        lambda q, k, v: v[(k[:2] @ q).argmax()],
        "no other key has a larger dot product",
        "values = tensor([[0.],\n                   [0.],\n                   [1.]])",
        "print them",
    ),
    "all may see all": (
        "causal_mask",
        lambda tokens: torch.ones(tokens, tokens, dtype=torch.bool),
        "no token may look at a token after it",
        "tokens = 2",
        "first row",
    ),
    "transposed": (
        "causal_mask",
        lambda tokens: torch.ones(tokens, tokens, dtype=torch.bool).triu(),
        "every token may look at the tokens before it",
        "tokens = 2",
        "Rows are queries",
    ),
    "True hides": (
        "causal_mask",
        lambda tokens: torch.ones(tokens, tokens, dtype=torch.bool).triu(1),
        "every token may look at itself",
        "tokens = 1",
        "the other way round",
    ),
    "past without present": (
        "causal_mask",
        lambda tokens: torch.ones(tokens, tokens, dtype=torch.bool).tril(-1),
        "every token may look at itself",
        "tokens = 1",
        "present",
    ),
    "one step too far": (
        "causal_mask",
        lambda tokens: torch.ones(tokens, tokens, dtype=torch.bool).tril(1),
        "no token may look at a token after it",
        "tokens = 2",
        "first row",
    ),
    "numbers for bool": (
        "causal_mask",
        lambda tokens: torch.ones(tokens, tokens).tril(),
        "a tensor of the right kind and shape",
        "of dtype torch.float32 instead of torch.bool",
        "comparison gives bool",
    ),
    "no scale": (
        "attention",
        dot_attention(lambda *_: 1.0),
        "softmax of the scaled dot products",
        "query = tensor([[0., 1.]])",
        "not to be scaled",
    ),
    "scaled by d": (
        "attention",
        dot_attention(lambda q, *_: 1 / q.shape[1]),
        "softmax of the scaled dot products",
        "query = tensor([[0., 1.]])",
        "divided by d",
    ),
    "scaled by the d of values": (
        "attention",
        dot_attention(lambda *inputs: inputs[2].shape[1] ** -0.5),
        "softmax of the scaled dot products",
        "query = tensor([[1.]])",
        "that of the values",
    ),
    "scaled by the number of keys": (
        "attention",
        dot_attention(lambda *inputs: len(inputs[1]) ** -0.5),
        "softmax of the scaled dot products",
        "query = tensor([[1.]])",
        "number of keys",
    ),
    "softmax over queries": (
        "attention",
        dot_attention(lambda q, *_: q.shape[1] ** -0.5, dim=0),
        "with one key, every query gets its value",
        "query = tensor([[0.],\n                  [0.]])",
        "Over which axis",
    ),
    "no softmax": (
        "attention",
        lambda q, k, v: q @ k.T @ v,
        "with one key, every query gets its value",
        "value = tensor([[1.]])",
        "sum to one",
    ),
    "key's place counts": (
        "attention",
        forgetful_attention,
        "reversing the order of keys and values",
        "value = tensor([[0.],\n                  [1.]])",
        "not by where it stands",
    ),
    "queries mixed": (
        "attention",
        crowd_attention,
        "reversing the order of the queries",
        "query = tensor([[0.],\n                  [1.]])",
        "one query know of the others",
    ),
    "reshape alone": (
        "split_heads",
        lambda x, heads: x.reshape(len(x), heads, x.shape[1], -1),
        "row t holds features of token t alone",
        "x = tensor([[[0., 1.],\n               [2., 3.]]])",
        "knows nothing of tokens",
    ),
    "every other feature": (
        "split_heads",
        lambda x, heads: x.unflatten(-1, (-1, heads)).permute(0, 3, 1, 2),
        "first head holds the first features",
        "x = tensor([[[0., 1., 2., 3.]]])",
        "features 0 1 2 3",
    ),
    "first head for all": (
        "split_heads",
        lambda x, heads: sliced_heads(x, heads)[:, :1].expand(-1, heads, -1, -1),
        "every number of x is there once",
        "heads = 2",
        "repeat",
    ),
    "head axis in the wrong place": (
        "split_heads",
        lambda x, heads: x.unflatten(-1, (heads, -1)),
        "a tensor of the right kind and shape",
        "instead of",
        "shape",
    ),
    "explicit Euler": (
        "symplectic_stepper",
        mechanics.explicit_euler,
        "a parallelogram of states of the oscillator keeps",
        "dt = 0.5",
        "The area was -1 and becomes -1.25",
    ),
    "Runge–Kutta 4": (
        "symplectic_stepper",
        mechanics.runge_kutta_4,
        "a parallelogram of states of the oscillator keeps",
        "dt = 1.0",
        "becomes -0.9878",
    ),
    "drift from the start again": (
        "symplectic_stepper",
        restarting,
        "a parallelogram of states of the oscillator keeps",
        "p = tensor([[0.],\n              [1.],\n              [0.]])",
        "Mind the old values",
    ),
    "energy put right by force": (
        "symplectic_stepper",
        scaled,
        "a parallelogram of states of the oscillator keeps",
        "system = HarmonicOscil",
        "a corner and its two neighbours",
    ),
    "symplectic for linear forces": (
        "symplectic_stepper",
        trapezoid,
        "a small parallelogram of states of the pendulum keeps",
        "system = Pendulum",
        "a corner and its two neighbours",
    ),
    "coordinates one by one": (
        "symplectic_stepper",
        one_by_one,
        "with two pairs, the oriented areas in both planes",
        "system = CoupledOscill",
        "The area was 0",
    ),
    "backwards in time": (
        "symplectic_stepper",
        moved(-1, -1),
        "a tiny step goes where the field points",
        "dt = 0.001",
        "backwards",
    ),
    "force of the wrong sign": (
        "symplectic_stepper",
        lambda system, q, p, dt: drift_first(system, q, p + 2 * dt * system.grad_q(q, p), dt),
        "a tiny step goes where the field points",
        "dt = 0.001",
        "force pushes the wrong way",
    ),
    "no step at all": (
        "symplectic_stepper",
        moved(0, 0),
        "a tiny step goes where the field points",
        "dt = 0.001",
        "stay where you are",
    ),
    "two steps": (
        "symplectic_stepper",
        moved(2, 2),
        "a tiny step goes where the field points",
        "dt = 0.001",
        "twice as far",
    ),
    "half a step": (
        "symplectic_stepper",
        moved(0.5, 0.5),
        "a tiny step goes where the field points",
        "dt = 0.001",
        "half as far",
    ),
    "momentum alone": (
        "symplectic_stepper",
        moved(0, 1),
        "a tiny step goes where the field points",
        "dt = 0.001",
        "Compare the change of q",
    ),
    "states that feel each other": (
        "symplectic_stepper",
        shared,
        "each state of a batch moves as it would alone",
        "p = tensor([[0.],\n              [0.]])",
        "states of a batch meet",
    ),
    "one answer for two": (
        "symplectic_stepper",
        lambda system, q, p, dt: q + dt * system.grad_p(q, p),
        "a tensor of the right kind and shape",
        "not enough values to unpack (expected 2, got 1)",
        "Read the message",
    ),
}


@cache
def answer_to(case: str) -> Result:
    name, attempt, *_ = WRONG[case]
    return getattr(check, name)(attempt)


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_attempt_gets_its_counterexample_and_its_hint(case: str) -> None:
    *_, sentence, transcript, hint = WRONG[case]
    result = answer_to(case)
    assert not result
    assert sentence in result.summary
    assert transcript in result.transcript
    assert hint in result.hint
    assert all(part in repr(result) for part in (result.summary, result.transcript, result.hint))


SPOILERS = re.compile(
    r"tril|tri\(|triu|>=|torch|\.softmax|keepdim|\.max|amax|subtract|transpose|permute|einsum|"
    r"rearrange\(|unflatten|swapaxes|movedim|argmax|sqrt|\*\*|√|root|\.T\b|@|exp\([^1]"
)


@pytest.mark.parametrize("name", EXERCISES)
def test_no_checker_tells_the_solution(name: str) -> None:
    exercise = getattr(check, name)
    told = [exercise.task, *(p.sentence + p.hint for p in exercise.properties)]
    results = [answer_to(case) for case, (exercise, *_) in WRONG.items() if exercise == name]
    told += [result.summary + result.hint for result in results]
    assert [text for text in told if SPOILERS.search(text)] == []


def no_return(score: Tensor) -> None:
    score.softmax(-1)


def raising(score: Tensor) -> Tensor:
    return score.no_such_thing


def in_place(score: Tensor) -> Tensor:
    score -= score.amax(-1, keepdim=True)
    return score.softmax(-1)


ODD = {
    "None": (no_return, "returned None", "return statement"),
    "exception": (raising, "raised AttributeError: 'Tensor' object has no", "Read the message"),
    "exception's line": (raising, "in the line return score.no_such_thing", "this very call"),
    "changed input": (in_place, "and changed its input", "in place"),
    "list": (lambda score: score.softmax(-1).tolist(), "returned [", "PyTorch tensor or a NumPy"),
    "words": (lambda _: np.array(["a"]), "returned array(['a']", "cannot read that"),
    "integers": (lambda score: score.long(), "of dtype torch.int64 instead of fl", "arithmetic"),
    "complex": (lambda score: score * 1j, "of dtype torch.complex64", "arithmetic"),
    "too few axes": (lambda score: score.sum(-1), "of shape (", "shape"),
    "nan": (lambda score: score / 0, "nan", "0 / 0"),
}


@pytest.mark.parametrize("case", ODD)
def test_an_attempt_that_misbehaves_is_told_how(case: str) -> None:
    attempt, transcript, hint = ODD[case]
    result = check.softmax(attempt)
    assert not result
    assert transcript in result.transcript
    assert hint in result.hint


def test_a_call_in_place_of_the_function_is_recognised() -> None:
    result = check.softmax(torch.ones(3).softmax(-1))
    assert not result
    assert "not a function" in repr(result)
    assert "check.softmax(my_function)" in repr(result)


@pytest.mark.parametrize(
    "attempt", [lambda: 1, lambda score, axis: score + axis], ids=["none", "two"]
)
def test_a_function_of_other_arguments_is_recognised(attempt: object) -> None:
    result = check.softmax(attempt)
    assert not result
    assert "cannot be called as softmax(score)" in repr(result)
    assert check.softmax.task in repr(result)


def test_the_checker_of_steppers_tells_a_misuse_like_the_others() -> None:
    assert "not a function" in repr(check.symplectic_stepper(torch.zeros(2)))
    assert "cannot be called" in repr(check.symplectic_stepper(lambda q, p: (q, p)))
    assert check.symplectic_stepper(drift_first).attempt == "drift_first"


def test_optional_arguments_and_builtins_and_modules_are_functions_too() -> None:
    assert check.softmax(lambda score, dim=-1: score.softmax(dim))
    assert check.softmax(torch.nn.Softmax(dim=-1))
    assert check.attention(torch.nn.functional.scaled_dot_product_attention)


def test_an_attempt_that_rolls_dice_fails_and_does_not_raise() -> None:
    result = check.softmax(lambda score: torch.rand(score.shape))
    assert not result
    assert "sum to one" in result.summary


def test_the_same_attempt_gets_the_same_answer() -> None:
    first, second = (repr(check.attention(dot_attention(lambda *_: 1.0))) for _ in range(2))
    assert first == second


def test_the_answer_comes_within_about_a_second() -> None:
    check.attention(attention.attention)
    start = time.process_time()
    check.attention(attention.attention)
    assert time.process_time() - start < 2


def test_a_slow_attempt_is_cut_short_and_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checker, "SECONDS", 0.05)

    def slow(tokens: int) -> Tensor:
        start = time.thread_time()
        while time.thread_time() < start + 0.02:
            pass
        return attention.causal_mask(tokens)

    calls = []
    result = check.causal_mask(lambda tokens: (calls.append(tokens), slow(tokens))[1])
    assert result
    assert "I stopped after 0.05 s" in repr(result)
    assert len(calls) < 10
    assert not check.causal_mask(lambda tokens: ~slow(tokens))


def test_a_check_leaves_the_session_as_it_was(
    tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before, state = torch.get_num_threads(), torch.get_rng_state()
    torch.set_num_threads(3)
    check.softmax(lambda score: score.softmax(0))
    check.softmax(lambda score: score.softmax(-1))
    after = torch.get_num_threads()
    torch.set_num_threads(before)
    assert after == 3
    assert torch.equal(torch.get_rng_state(), state)
    assert list(tmp_path.iterdir()) == []


def test_the_page_shows_markup_as_text() -> None:
    def attempt(score: Tensor) -> Tensor:
        raise ValueError(f"</pre><script>alert({score})</script>")

    attempt.__name__ = "<img src=x onerror=alert(1)>"
    html = check.softmax(attempt)._repr_html_()
    assert "<script" not in html
    assert "<img" not in html
    assert "&lt;script&gt;" in html
    assert "&lt;img src=x" in html


def test_the_page_shows_what_the_terminal_shows() -> None:
    result = Result("mine", passed=False, summary="no", transcript="mine(x)\n  x = 1", hint="why?")
    assert repr(result) == "✗ mine: no\nmine(x)\n  x = 1\nHint: why?"
    text = re.sub(r"<[^>]*>", "\n", result._repr_html_())
    assert [line for line in text.split("\n") if line] == repr(result).split("\n")
    passed = Result("mine", passed=True, summary="yes")
    assert repr(passed) == "✓ mine: yes"
    assert "pre" not in passed._repr_html_().replace("pre-wrap", "")


def test_check_lists_its_checkers() -> None:
    assert sorted(vars(check)) == EXERCISES
    assert all(f"Check {name}(" in getattr(check, name).__doc__ for name in EXERCISES)
    with pytest.raises(
        AttributeError, match="no checker 'sofmax'; choose one of attention, causal"
    ):
        check.sofmax  # noqa: B018


def test_a_new_checker_is_an_exercise_and_its_properties(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checker, "check", checker.Checks())
    numbers = st.integers(0, 9).map(lambda n: (torch.arange(float(n)),))
    doubled = Exercise("doubled", "doubled(x): twice x.", inputs=numbers, shape=lambda x: x.shape)

    @doubled.property("one becomes two", hint="Usual.", inputs=st.just((torch.ones(1),)))
    def _(attempt: object, x: Tensor) -> bool:
        return close(attempt(x), 2 * x)

    @doubled.property("order stays", hint="Usual.")
    def _(attempt: object, x: Tensor) -> bool | str:
        return close(attempt(x), 2 * x) or (len(x) == 2 and "Special.")

    assert checker.check.doubled is doubled
    assert doubled(lambda x: x + x)
    assert doubled(lambda x: x).summary == "this does not hold: one becomes two."
    assert doubled(lambda x: 2 * x.flip(0)).hint == "Special."
    assert "x = tensor([0., 1., 2.])" in doubled(lambda x: 2 * x + (x > 1)).transcript
    assert doubled(lambda x: 2 * x + (x > 1)).hint == "Usual."
