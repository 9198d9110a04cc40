"""The checkers of lecture 14: phases, a mask without leaks, the loss of hidden nights, a mean."""

from collections.abc import Callable

import torch
from hypothesis import strategies as st
from torch import Tensor

from course_lib import light_curves
from course_lib.exercises._checker import Attempt, Exercise, close, recognised
from course_lib.exercises._inputs import NUMBERS, SIZES, tensors
from course_lib.light_curves import astromer

DAYS = (0.0, 0.25, 0.5, 1.0, 3.0)
BEFORE = (-0.25, -0.5, -1.0, -3.0)
PERIODS = (1.0, 2.0, 0.5)


@st.composite
def _watched(draw: Callable, *, days: tuple = DAYS, periods: tuple = PERIODS) -> tuple:
    nights = draw(SIZES)
    return draw(tensors(nights, numbers=days)), draw(tensors(numbers=periods))


phase = Exercise(
    "phase",
    "phase(time, period): where in its turn a star is at each of its nights, from 0 up to but not "
    "including 1. Time counts in days from the beginning of a turn. Shapes: (nights,) and () to "
    "(nights,).",
    inputs=_watched(),
    shape=lambda time, period: time.shape,  # noqa: ARG005 - shown by name
)


@phase.property(
    "within the first turn a phase is the share of the turn that has passed",
    hint="After a quarter of a turn the phase is 0.25. What do you divide by what?",
    inputs=_watched(days=(0.0, 0.125, 0.25, 0.375)),
)
def _(attempt: Attempt, time: Tensor, period: Tensor) -> bool | str:
    answer = attempt(time, period)
    return close(answer, time / period) or recognised(
        answer,
        {
            "You fold at the frequency. How many turns does a star make in a day?": (
                (time * period) % 1
            ),
            "Your phases are days, not shares of a turn.": time % period,
        },
    )


@phase.property(
    "a whole period later the phase is the same",
    hint="Add one period to each night, and compare: what is left of a whole turn?",
)
def _(attempt: Attempt, time: Tensor, period: Tensor) -> bool:
    return close(attempt(time + period, period), light_curves.phase(time, period))


@phase.property(
    "no night has a phase below 0, nor one of 1",
    hint="A night a quarter of a turn before the beginning is at three quarters of the last turn. "
    "What does your remainder do with negative numbers?",
    inputs=_watched(days=BEFORE),
)
def _(attempt: Attempt, time: Tensor, period: Tensor) -> bool:
    answer = attempt(time, period)
    return bool(((answer >= 0) & (answer < 1)).all())


@phase.property(
    "nights before the beginning lie on the phases of those after it",
    hint="Take a period of one day. At which phase is the night 0.25 days before the beginning?",
    inputs=_watched(days=BEFORE),
)
def _(attempt: Attempt, time: Tensor, period: Tensor) -> bool:
    return close(attempt(time, period), light_curves.phase(time, period))


FLAGS = (True, False)


@st.composite
def _nights(draw: Callable, *, padded: bool = True, some_hidden: bool = True) -> tuple:
    """Draw flags of real and of hidden nights, with one visible night at least."""
    nights = draw(SIZES)
    valid = torch.tensor(draw(_flags(nights))) if padded else torch.ones(nights).bool()
    hidden = torch.tensor(draw(_flags(nights))) if some_hidden else torch.zeros(nights).bool()
    return torch.cat([torch.tensor([True]), valid]), torch.cat([torch.tensor([False]), hidden])


def _flags(count: int) -> st.SearchStrategy[list]:
    return st.lists(st.sampled_from(FLAGS), min_size=count, max_size=count)


def _seen(valid: Tensor, hidden: Tensor) -> Tensor:
    return (valid & ~hidden).expand(len(valid), -1)


visible_mask = Exercise(
    "visible_mask",
    "visible_mask(valid, hidden): which night may look at which, a row for each night that looks. "
    "True where it may. valid is False in padding, hidden is True where a magnitude is to be "
    "filled in. Shapes: (nights,) twice to (nights, nights), all of them bool.",
    inputs=_nights(),
    shape=lambda valid, hidden: (len(valid), len(valid)),  # noqa: ARG005 - shown by name
    boolean=True,
)


@visible_mask.property(
    "if nothing is hidden and nothing is padding, every night looks at every night",
    hint="A mask is True where a query may look. Is yours the other way round?",
    inputs=_nights(padded=False, some_hidden=False),
)
def _(attempt: Attempt, valid: Tensor, hidden: Tensor) -> bool:
    return bool(attempt(valid, hidden).all())


@visible_mask.property(
    "no night looks at padding",
    hint="Numbers in padding mean nothing. Which of your columns are those of padding?",
    inputs=_nights(some_hidden=False),
)
def _(attempt: Attempt, valid: Tensor, hidden: Tensor) -> bool:
    return not attempt(valid, hidden)[:, ~valid].any()


@visible_mask.property(
    "no night looks at a hidden night, not even this night itself",
    hint="A hidden magnitude is predicted from others. Which rows of your table look at it?",
)
def _(attempt: Attempt, valid: Tensor, hidden: Tensor) -> bool | str:
    answer = attempt(valid, hidden)
    if not answer[:, hidden].any():
        return True
    itself = torch.eye(len(valid), dtype=torch.bool)
    if not (answer & ~itself)[:, hidden].any():
        return "A hidden night sees itself, and then it has only to repeat what it sees."
    if torch.equal(answer, valid & ~hidden[:, None]):
        return "You close the rows of hidden nights. Rows look, columns are looked at."
    return False


@visible_mask.property(
    "hidden nights look at the visible ones like all others",
    hint="A hidden night is a query, too. Which entries of its row are True in your table?",
)
def _(attempt: Attempt, valid: Tensor, hidden: Tensor) -> bool:
    return bool(attempt(valid, hidden)[valid][:, valid & ~hidden].all())  # rows of padding are free


@st.composite
def _filled(draw: Callable, *, all_hidden: bool = False, right_elsewhere: bool = False) -> tuple:
    """Draw predicted and true magnitudes of some stars, and which were hidden."""
    stars, nights = draw(SIZES), draw(SIZES) + 1
    magnitude = draw(tensors(stars, nights))
    predicted = draw(tensors(stars, nights))
    hidden = torch.ones(stars, nights).bool()
    if not all_hidden:
        hidden = torch.tensor(draw(_flags(stars * nights))).reshape(stars, nights)
        hidden[0, 0] = True
    if right_elsewhere:
        predicted = predicted.where(hidden, magnitude)
    return predicted, magnitude, hidden


reconstruction_error = Exercise(
    "reconstruction_error",
    "reconstruction_error(predicted, magnitude, hidden): the RMS error over all hidden nights, in "
    "magnitudes. Shapes: (stars, nights) three times to (). hidden is "
    "bool, and True somewhere.",
    inputs=_filled(),
    shape=lambda predicted, magnitude, hidden: (),  # noqa: ARG005 - shown by name
)


@reconstruction_error.property(
    "with every night hidden it is the RMS of all errors",
    hint="Take one star with two nights, of which one is off by 1 and the other right. What is the "
    "mean of the squares, and is that a number of magnitudes?",
    inputs=_filled(all_hidden=True),
)
def _(attempt: Attempt, predicted: Tensor, magnitude: Tensor, hidden: Tensor) -> bool | str:
    answer, off = attempt(predicted, magnitude, hidden), predicted - magnitude
    return close(answer, off.square().mean() ** 0.5) or recognised(
        answer,
        {
            "That is the mean of the squares. Which letter of RMS is missing?": off.square().mean(),
            "That is the mean distance. Which letters of RMS are missing?": off.abs().mean(),
            "You add the squares up. A mean is asked for.": off.square().sum() ** 0.5,
            "Every star has an error of its own in your line. The mean runs over all nights of "
            "all stars at once.": (off.square().mean(1) ** 0.5).mean(),
        },
    )


@reconstruction_error.property(
    "predictions for nights that are not hidden do not count",
    hint="Change the prediction for a night that is not hidden: does your answer move?",
)
def _(attempt: Attempt, predicted: Tensor, magnitude: Tensor, hidden: Tensor) -> bool:
    elsewhere = predicted.where(hidden, magnitude)
    return close(attempt(predicted, magnitude, hidden), attempt(elsewhere, magnitude, hidden))


@reconstruction_error.property(
    "the mean runs over hidden nights alone",
    hint="By which number do you divide the sum of squares: by that of all nights, or of those "
    "that are hidden?",
    inputs=_filled(right_elsewhere=True),
)
def _(attempt: Attempt, predicted: Tensor, magnitude: Tensor, hidden: Tensor) -> bool | str:
    answer = attempt(predicted, magnitude, hidden)
    square = (predicted - magnitude).square() * hidden
    each = square.sum(1) / hidden.sum(1).clamp(min=1)
    return close(answer, astromer.reconstruction_error(predicted, magnitude, hidden)) or recognised(
        answer,
        {
            "You take the mean of each star first. Then a night of a star with few hidden nights "
            "counts more than others.": each.mean() ** 0.5,
        },
    )


@st.composite
def _tokens(draw: Callable, *, padded: bool = True, filling: tuple = NUMBERS) -> tuple:
    stars, nights, features = draw(SIZES), draw(SIZES) + 1, draw(SIZES)
    tokens = draw(tensors(stars, nights, features))
    length = torch.tensor(draw(st.lists(st.integers(1, nights), min_size=stars, max_size=stars)))
    valid = torch.arange(nights) < (length[:, None] if padded else nights)
    valid = valid.expand(stars, -1)
    padding = draw(tensors(stars, nights, features, numbers=filling))
    return torch.where(valid[..., None], tokens, padding), valid


def _mean(tokens: Tensor, valid: Tensor) -> Tensor:
    kept = torch.where(valid[..., None], tokens, torch.zeros_like(tokens))
    return kept.sum(1) / valid.sum(1, keepdim=True)


mean_of_nights = Exercise(
    "mean_of_nights",
    "mean_of_nights(tokens, valid): the mean over the real nights of each star. In padding, where "
    "valid is False, any number may be. Shapes: (stars, nights, features) and (stars, nights) to "
    "(stars, features).",
    inputs=_tokens(),
    shape=lambda tokens, valid: (len(tokens), tokens.shape[-1]),  # noqa: ARG005 - shown by name
)


@mean_of_nights.property(
    "without padding it is the mean over nights",
    hint="Which of the three axes are the nights?",
    inputs=_tokens(padded=False),
)
def _(attempt: Attempt, tokens: Tensor, valid: Tensor) -> bool | str:
    answer = attempt(tokens, valid)
    return close(answer, tokens.mean(1)) or recognised(
        answer, {"You add the nights up. A mean is asked for.": tokens.sum(1)}
    )


@mean_of_nights.property(
    "padding of zeros changes nothing",
    hint="A star has as many nights as its flags say, however long its row is. By which number do "
    "you divide?",
    inputs=_tokens(filling=(0.0,)),
)
def _(attempt: Attempt, tokens: Tensor, valid: Tensor) -> bool | str:
    answer = attempt(tokens, valid)
    return close(answer, _mean(tokens, valid)) or recognised(
        answer,
        {
            "You divide by the length of the row, which counts padding.": tokens.mean(1),
            "You divide by the real nights of the whole batch. Each star has its own.": (
                tokens.sum(1) / valid.sum()
            ),
        },
    )


@mean_of_nights.property(
    "numbers in padding do not count",
    hint="Change a number where valid is False: does your answer move?",
)
def _(attempt: Attempt, tokens: Tensor, valid: Tensor) -> bool:
    return close(attempt(tokens, valid), _mean(tokens, valid))


@mean_of_nights.property(
    "infinity in padding spoils nothing",
    hint="Nothing times infinity is nan. How do you leave a number out without multiplying it?",
    inputs=_tokens(filling=(float("inf"),)),
)
def _(attempt: Attempt, tokens: Tensor, valid: Tensor) -> bool:
    return close(attempt(tokens, valid), _mean(tokens, valid))
