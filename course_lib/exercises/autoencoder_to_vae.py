"""The checkers of lecture 10: the cost of a cloud, a draw from it, and the bound of both."""

import math
from collections.abc import Callable

import torch
from hypothesis import strategies as st
from torch import Tensor

from course_lib import autoencoder as library
from course_lib.exercises._checker import Attempt, Exercise, close, recognised
from course_lib.exercises._inputs import NUMBERS, SIZES, tensors

ZERO = (0.0,)
POSITIVE = (1.0, 2.0, 3.0)
QUADRUPLE = math.log(4)  # of a variance: twice the deviation
ROUNDING = 1e-4
ENTROPY = math.log(2 * math.pi) / 2  # the cost of a pixel that is exactly right


@st.composite
def _clouds(
    draw: Callable, *, mean: tuple = NUMBERS, log_variance: tuple = NUMBERS
) -> tuple[Tensor, Tensor]:
    pictures, d_z = draw(SIZES), draw(SIZES)
    return (
        draw(tensors(pictures, d_z, numbers=mean)),
        draw(tensors(pictures, d_z, numbers=log_variance)),
    )


kl_to_standard_normal = Exercise(
    "kl_to_standard_normal",
    "kl_to_standard_normal(mean, log_variance): what the cloud of each picture costs, its "
    "Kullback-Leibler divergence from the standard normal, in nats. Shapes: (pictures, d_z) twice "
    "to (pictures,). log_variance is the logarithm of the square of the deviation.",
    inputs=_clouds(),
    shape=lambda mean, log_variance: (len(mean),),  # noqa: ARG005 - shown by name
)


@kl_to_standard_normal.property(
    "a cloud that is the prior itself costs nothing",
    hint="Mean 0 and variance 1 in every code: then log_variance is 0. What does each of your "
    "terms give there?",
    inputs=_clouds(mean=ZERO, log_variance=ZERO),
)
def _(attempt: Attempt, mean: Tensor, log_variance: Tensor) -> bool:
    return close(attempt(mean, log_variance), torch.zeros(len(mean)))


@kl_to_standard_normal.property(
    "no cloud costs less than nothing",
    hint="A divergence is never negative. Which of your terms have the wrong sign?",
)
def _(attempt: Attempt, mean: Tensor, log_variance: Tensor) -> bool:
    return bool((attempt(mean, log_variance) > -ROUNDING).all())


@kl_to_standard_normal.property(
    "a cloud of variance 1 costs half the square of its distance from the origin",
    hint="Take one code with the mean 1 and the variance 1, and compute its cost by hand.",
    inputs=_clouds(log_variance=ZERO),
)
def _(attempt: Attempt, mean: Tensor, log_variance: Tensor) -> bool | str:
    answer, square = attempt(mean, log_variance), mean.square()
    return close(answer, square.sum(-1) / 2) or recognised(
        answer,
        {
            "Every answer is twice as large as it should be. Which factor is missing?": (
                square.sum(-1)
            ),
            "Codes are independent, so their costs add up. Do you take their mean?": (
                square.mean(-1) / 2
            ),
            "Codes are independent, so their costs add up. Do you take their mean? And a factor "
            "is missing.": square.mean(-1),
        },
    )


@kl_to_standard_normal.property(
    "the spread of a cloud costs what the formula says",
    hint="Take one code with the mean 0, and compute its cost by hand from its variance: which of "
    "the terms is the variance, and which its logarithm?",
)
def _(attempt: Attempt, mean: Tensor, log_variance: Tensor) -> bool | str:
    answer, right = attempt(mean, log_variance), library.kl_to_standard_normal
    return close(answer, right(mean, log_variance)) or recognised(
        answer,
        {
            "You take log_variance for the logarithm of the deviation. It is that of the deviation "
            "squared.": right(mean, 2 * log_variance),
            "You take log_variance for the variance in one place. Which function undoes a "
            "logarithm?": (mean.square() + log_variance.square() - log_variance - 1).sum(-1) / 2,
        },
    )


@st.composite
def _noisy(
    draw: Callable,
    *,
    mean: tuple = NUMBERS,
    log_variance: tuple = (0.0, QUADRUPLE, -QUADRUPLE),
    noise: tuple = NUMBERS,
) -> tuple[Tensor, Tensor, Tensor]:
    pictures, d_z = draw(SIZES), draw(SIZES)
    return tuple(
        draw(tensors(pictures, d_z, numbers=numbers)) for numbers in (mean, log_variance, noise)
    )


reparameterize = Exercise(
    "reparameterize",
    "reparameterize(mean, log_variance, noise): a draw from the cloud of each picture, made of "
    "standard normal noise that is given. All four have the shape (pictures, d_z). log_variance is "
    "the logarithm of the square of the deviation.",
    inputs=_noisy(),
    shape=lambda mean, log_variance, noise: mean.shape,  # noqa: ARG005 - shown by name
)


@reparameterize.property(
    "where the noise is 0, the draw is the mean",
    hint="Noise of 0 is the middle of the cloud. What does your line give there? And is the noise "
    "that you use the one that you are given?",
    inputs=_noisy(noise=ZERO),
)
def _(attempt: Attempt, mean: Tensor, log_variance: Tensor, noise: Tensor) -> bool:
    return close(attempt(mean, log_variance, noise), mean)


@reparameterize.property(
    "every code of every picture has noise of its own",
    hint="Change one number of the noise: one number of the draw should follow. How many numbers "
    "of noise do you use, and what is their shape?",
    inputs=_noisy(mean=ZERO, log_variance=ZERO),
)
def _(attempt: Attempt, mean: Tensor, log_variance: Tensor, noise: Tensor) -> bool | str:
    answer = attempt(mean, log_variance, noise)
    return close(answer.sign(), noise.sign()) or recognised(
        answer.sign(), {"Your draws move away from the noise. Which sign has it?": -noise.sign()}
    )


@reparameterize.property(
    "a cloud of variance 1 passes the noise on as it is",
    hint="A log_variance of 0 is a variance of 1. By which number do you multiply the noise then?",
    inputs=_noisy(log_variance=ZERO),
)
def _(attempt: Attempt, mean: Tensor, log_variance: Tensor, noise: Tensor) -> bool | str:
    answer = attempt(mean, log_variance, noise)
    return close(answer, mean + noise) or recognised(
        answer,
        {
            "You take log_variance for the deviation itself, which may then be 0 or less. Which "
            "function undoes a logarithm?": mean,
            "Your deviation is 2.718 where it should be 1. Is the logarithm undone twice?": (
                mean + math.e * noise
            ),
        },
    )


@reparameterize.property(
    "a log_variance larger by ln 4 = 1.3863 doubles the noise",
    hint="Four times the variance is twice the deviation, and the noise is multiplied by one of "
    "the two. Which one?",
)
def _(attempt: Attempt, mean: Tensor, log_variance: Tensor, noise: Tensor) -> bool | str:
    answer, right = attempt(mean, log_variance, noise), library.reparameterize
    return close(answer, right(mean, log_variance, noise=noise)) or recognised(
        answer,
        {
            "You multiply the noise by the variance, not by the deviation.": right(
                mean, 2 * log_variance, noise=noise
            ),
            "Your clouds shrink where they should grow. Which sign has the exponent?": right(
                mean, -log_variance, noise=noise
            ),
            "Your clouds are as wide for every log_variance. Where does it enter?": mean + noise,
        },
    )


@st.composite
def _pictured(
    draw: Callable,
    *,
    right: bool = False,
    pixels: tuple = NUMBERS,
    mean: tuple = NUMBERS,
    log_variance: tuple = NUMBERS,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Draw pictures, decoded pictures, and their clouds."""
    pictures, d_x, d_z = draw(SIZES), draw(SIZES), draw(SIZES)
    x = draw(tensors(pictures, d_x, numbers=pixels))
    decoded = x.clone() if right else torch.zeros_like(x)
    clouds = (draw(tensors(pictures, d_z, numbers=n)) for n in (mean, log_variance))
    return x, decoded, *clouds


def _likelihood(x: Tensor, decoded: Tensor) -> Tensor:
    return -((x - decoded).square() / 2 + ENTROPY).sum(-1)


elbo = Exercise(
    "elbo",
    "elbo(x, decoded, mean, log_variance): the evidence lower bound of each picture, in nats. "
    "decoded is the decoder's output for one draw from the picture's cloud; each "
    "pixel is normal around it with variance 1. Shapes: (pictures, d_x) twice and (pictures, d_z) "
    "twice to (pictures,).",
    inputs=_pictured(),
    shape=lambda x, decoded, mean, log_variance: (len(x),),  # noqa: ARG005 - shown by name
)


@elbo.property(
    "a worse picture has a lower bound",
    hint="The bound is a log likelihood, to be made as large as possible; a loss is the negative "
    "of one. Which sign has your squared error?",
    inputs=_pictured(pixels=POSITIVE),
)
def _(attempt: Attempt, x: Tensor, decoded: Tensor, mean: Tensor, log_variance: Tensor) -> bool:
    perfect = attempt(x, x, mean, log_variance)
    return bool((attempt(x, decoded, mean, log_variance) < perfect).all())


@elbo.property(
    "a cloud off the prior has a lower bound than the prior",
    hint="A cloud costs its divergence. Which sign has a cost in a bound that is to be raised?",
    inputs=_pictured(mean=POSITIVE),
)
def _(attempt: Attempt, x: Tensor, decoded: Tensor, mean: Tensor, log_variance: Tensor) -> bool:
    prior = attempt(x, decoded, torch.zeros_like(mean), torch.zeros_like(mean))
    return bool((attempt(x, decoded, mean, log_variance) < prior).all())


@elbo.property(
    "a pixel that is off by 1 costs half a nat, however many others there are",
    hint="Compare the bound with that of a perfect picture: how much does it fall for each pixel "
    "that is wrong?",
)
def _(
    attempt: Attempt, x: Tensor, decoded: Tensor, mean: Tensor, log_variance: Tensor
) -> bool | str:
    cost = attempt(x, x, mean, log_variance) - attempt(x, decoded, mean, log_variance)
    square = (x - decoded).square()
    return close(cost, square.sum(-1) / 2) or recognised(
        cost,
        {
            "Pixels are independent given the code, so their log likelihoods add up. Do you take "
            "their mean?": square.mean(-1) / 2,
            "Your errors count twice. What does the logarithm of a normal density divide the "
            "square by?": square.sum(-1),
            "Pixels are independent given the code, so their log likelihoods add up. Do you take "
            "their mean, and what does a normal density divide the square by?": square.mean(-1),
        },
    )


@elbo.property(
    "a cloud costs its divergence from the prior",
    hint="How much does the bound fall when the cloud of a picture leaves the prior? Compare with "
    "kl_to_standard_normal, which has a checker of its own.",
)
def _(
    attempt: Attempt, x: Tensor, decoded: Tensor, mean: Tensor, log_variance: Tensor
) -> bool | str:
    prior = attempt(x, decoded, torch.zeros_like(mean), torch.zeros_like(mean))
    cost = prior - attempt(x, decoded, mean, log_variance)
    right = library.kl_to_standard_normal(mean, log_variance)
    return close(cost, right) or recognised(
        cost,
        {
            "Your clouds cost twice as much as they should. Which factor is missing?": 2 * right,
            "The costs of the codes add up. Do you take their mean?": right / mean.shape[-1],
            "You take log_variance for the logarithm of the deviation. It is that of the deviation "
            "squared.": library.kl_to_standard_normal(mean, 2 * log_variance),
        },
    )


@elbo.property(
    "a perfect picture from the prior costs 0.9189 nats a pixel",
    hint="That is the logarithm of a standard normal density at its middle. Which part of the "
    "density does your line leave out? Without it a number is no log likelihood, and two models "
    "cannot be compared.",
    inputs=_pictured(right=True, mean=ZERO, log_variance=ZERO),
)
def _(attempt: Attempt, x: Tensor, decoded: Tensor, mean: Tensor, log_variance: Tensor) -> bool:
    return close(attempt(x, decoded, mean, log_variance), _likelihood(x, decoded))
