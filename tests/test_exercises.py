"""The checkers: right attempts pass, each wrong one gets its own counterexample and hint."""

import re
import time
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

import attempts
import numpy as np
import pytest
import torch
from attempts.hamiltonian_mechanics import drift_first
from attempts.self_attention import dot_attention
from hypothesis import strategies as st
from torch import Tensor

from course_lib import attention, checker
from course_lib.checker import Exercise, Result, close
from course_lib.exercises import check

LECTURES = [import_module(f"attempts.{found.name}") for found in iter_modules(attempts.__path__)]


def gathered(table: str) -> dict[str, tuple]:
    """The attempts of all lectures, each case under the name of its lecture."""
    return {
        f"{lecture.__name__.partition('.')[2]}: {case}": attempt
        for lecture in LECTURES
        for case, attempt in getattr(lecture, table).items()
    }


RIGHT, WRONG = gathered("RIGHT"), gathered("WRONG")
EXERCISES = sorted(vars(check))


@pytest.mark.slow
@pytest.mark.parametrize("case", RIGHT)
def test_a_right_attempt_passes_in_one_line(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checker, "SECONDS", 60.0)  # however slow the machine is
    name, attempt = RIGHT[case]
    result = getattr(check, name)(attempt)
    assert result, repr(result)
    assert re.fullmatch(r"✓ .*: \d properties hold on all \d+ inputs tried\.", repr(result))


@cache
def answer_to(case: str) -> Result:
    name, attempt, *_ = WRONG[case]
    return getattr(check, name)(attempt)


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.fixture
def fresh() -> Exercise:
    """The checker of attention as it is before the first attempt."""
    for property_ in check.attention.properties:
        property_.drawn.clear()
    return check.attention


def test_the_same_attempt_gets_the_same_answer_whatever_was_tried_before(fresh: Exercise) -> None:
    first = repr(fresh(dot_attention(lambda *_: 1.0)))
    assert fresh(attention.attention)
    assert repr(fresh(dot_attention(lambda *_: 1.0))) == first


def test_inputs_are_drawn_for_the_first_right_attempt_alone(
    fresh: Exercise, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = fresh(attention.attention)
    monkeypatch.setattr(checker, "find", None)
    assert fresh(attention.attention) == first


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
    assert {name for name, _ in RIGHT.values()} == set(EXERCISES)
    assert {name for name, *_ in WRONG.values()} == set(EXERCISES)
    assert all(f"Check {name}(" in getattr(check, name).__doc__ for name in EXERCISES)
    with pytest.raises(AttributeError, match="no checker 'sofmax'; choose one of attention, "):
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
