"""Checkers: right attempts pass, each wrong one gets its own counterexample and hint."""

import os
import re
import sys
import time
from collections.abc import Callable
from html import unescape
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

import attempts
import numpy as np
import pytest
import torch
from attempts.hamiltonian_mechanics import drift_first
from attempts.self_attention import dot_attention
from hypothesis import strategies as st
from mistakes import ALWAYS, ALWAYS_OF_FLAGS, changed
from torch import Tensor

from course_lib import attention
from course_lib.exercises import _checker as checker
from course_lib.exercises import check
from course_lib.exercises._checker import Exercise, Result, close

pytestmark = pytest.mark.slow

LECTURES = [import_module(f"attempts.{found.name}") for found in iter_modules(attempts.__path__)]
# Ids start with the lecture, so that `make lecture` can select them.
NAMED = [
    pytest.param(lecture, name, id=f"{lecture.__name__.partition('.')[2]}: {name}")
    for lecture in LECTURES
    for name in lecture.WRONG
]
# Properties that only attempts can break which an earlier one refuses.
FOLLOWS = {
    "the order of the edges changes nothing",
    "where no background jet passes it is infinite",
}


@pytest.mark.slow
@pytest.mark.parametrize(("lecture", "name"), NAMED)
def test_right_attempts_pass_and_each_property_refuses_a_wrong_one_without_the_solution(
    lecture: ModuleType, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checker, "SECONDS", 60.0)  # however slow the machine is
    monkeypatch.setattr(checker, "PATIENCE", 60.0)
    exercise = getattr(check, name)
    right = lecture.RIGHT[name]
    for attempt in right:
        assert exercise(attempt), attempt
    always = ALWAYS_OF_FLAGS if exercise.boolean else ALWAYS
    broken = set()
    told = [exercise.task, *(p.sentence + p.hint for p in exercise.properties)]
    for wrong in [*(f"answer {how}" for how in always), *lecture.WRONG[name]]:
        attempt = wrong if callable(wrong) else changed(right[0], exercise.arguments, wrong)
        result = exercise(attempt)
        assert not result, wrong
        assert result.transcript, wrong
        assert result.hint, wrong
        told.append(result.summary + result.hint)
        broken |= {p.sentence for p in exercise.properties if p.sentence in result.summary}
    assert {p.sentence for p in exercise.properties} - broken <= FOLLOWS
    assert [text for text in told if SPOILERS.search(text)] == []


def test_every_exercise_is_tried() -> None:
    assert {param.values[1] for param in NAMED} == set(vars(check))
    with pytest.raises(AttributeError, match="no checker 'sofmax'; choose one of attention, "):
        check.sofmax  # noqa: B018


SPOILERS = re.compile(
    r"tril|tri\(|triu|>=|torch|\.softmax|keepdim|\.max|amax|subtract|transpose|permute|einsum|"
    r"rearrange\(|unflatten|swapaxes|movedim|argmax|sqrt|\*\*|√|root|\.T\b|@|exp\([^1]"
)


def raising(score: Tensor) -> Tensor:
    return score.no_such_thing


def without_end(score: Tensor) -> Tensor:
    while score.ndim == 1 and len(score) > 2:
        pass
    return score.softmax(-1)


ODD = {
    "None": (lambda _: None, "returned None", "return statement"),
    "exception": (raising, "in the line return score.no_such_thing", "Read the message"),
    "leaving Python": (lambda _: sys.exit("enough"), "raised SystemExit: enough", "Read the"),
    "changed input": (lambda score: score.sub_(1).softmax(-1), "and changed its input", "in place"),
    "list": (lambda score: score.softmax(-1).tolist(), "returned [", "PyTorch tensor or a NumPy"),
    "words": (lambda _: np.array(["a"]), "returned array(['a']", "cannot read that"),
    "complex": (lambda score: score * 1j, "of dtype torch.complex64 instead of fl", "arithmetic"),
    "too few axes": (lambda score: score.sum(-1), "of shape (", "shape"),
    "nan": (lambda score: score / 0, "nan", "0 / 0"),
}


def test_an_attempt_that_misbehaves_is_told_how() -> None:
    for case, (attempt, transcript, hint) in ODD.items():
        result = check.softmax(attempt)
        assert not result, case
        assert transcript in result.transcript, case
        assert hint in result.hint, case


def test_an_attempt_that_never_returns_ends_with_the_input_that_held_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(checker, "PATIENCE", 0.5)
    result = check.softmax(without_end)
    assert not result
    assert "did not return" in result.transcript
    assert result.hint


@pytest.mark.parametrize(
    ("setting", "change", "get"),
    [
        ("records gradients", lambda: torch.set_grad_enabled(False), torch.is_grad_enabled),
        ("default dtype", lambda: torch.set_default_dtype(torch.half), torch.get_default_dtype),
        ("number of threads", lambda: torch.set_num_threads(3), torch.get_num_threads),
        ("working folder", lambda: os.chdir("/"), os.getcwd),
    ],
)
def test_an_attempt_that_changes_a_setting_of_the_session_is_told_which(
    setting: str, change: Callable, get: Callable
) -> None:
    before = get()
    result = check.softmax(lambda score: (score.softmax(-1), change())[0])
    assert not result
    assert setting in result.transcript
    assert get() == before


def test_what_is_no_function_of_these_arguments_is_told_what_was_asked_for() -> None:
    assert "not a function" in repr(check.softmax(torch.ones(3).softmax(-1)))
    assert "not a function" in repr(check.symplectic_stepper(torch.zeros(2)))
    for attempt in (lambda: 1, lambda score, axis: score + axis):
        assert "cannot be called as softmax(score)" in repr(check.softmax(attempt))
    assert check.symplectic_stepper(drift_first).attempt == "drift_first"


def test_optional_arguments_and_builtins_and_modules_are_functions_too_and_dice_are_not() -> None:
    assert check.softmax(lambda score, dim=-1: score.softmax(dim))
    assert check.softmax(torch.nn.Softmax(dim=-1))
    assert check.attention(torch.nn.functional.scaled_dot_product_attention)
    assert "sum to one" in check.softmax(lambda score: torch.rand(score.shape)).summary


def test_the_same_attempt_gets_the_same_answer_whatever_was_tried_before() -> None:
    for property_ in check.attention.properties:
        property_.drawn.clear()
    first = repr(check.attention(dot_attention(lambda *_: 1.0)))
    assert check.attention(attention.attention)
    assert repr(check.attention(dot_attention(lambda *_: 1.0))) == first


def test_a_slow_attempt_is_cut_short_and_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checker, "SECONDS", 0.05)

    def slow(tokens: int) -> Tensor:
        start = time.thread_time()
        while time.thread_time() < start + 0.02:
            pass
        return attention.causal_mask(tokens)

    result = check.causal_mask(slow)
    assert result
    assert "I stopped after 0.05 s" in repr(result)
    assert not check.causal_mask(lambda tokens: ~slow(tokens))


def test_a_check_leaves_the_session_as_it_was(
    tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before, state = torch.get_num_threads(), torch.get_rng_state()
    torch.set_num_threads(3)
    for axis in (0, -1):
        check.softmax(lambda score, axis=axis: score.softmax(axis))
    after = torch.get_num_threads()
    torch.set_num_threads(before)
    assert after == 3
    assert torch.equal(torch.get_rng_state(), state)
    assert list(tmp_path.iterdir()) == []


def test_the_page_shows_what_the_terminal_shows_with_markup_as_text() -> None:
    told = {"transcript": "mine(x)\n  x = <img src=x>", "hint": "</p><script>"}
    result = Result("<b>mine", passed=False, summary="no", **told)
    assert repr(result) == "✗ <b>mine: no\nmine(x)\n  x = <img src=x>\nHint: </p><script>"
    text = unescape(re.sub(r"<[^>]*>", "\n", result._repr_html_()))
    assert [line for line in text.split("\n") if line] == repr(result).split("\n")
    assert repr(Result("mine", passed=True, summary="yes")) == "✓ mine: yes"


def test_a_new_checker_is_an_exercise_and_its_properties(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checker, "check", checker.Checkers())
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
