r"""Speculative decoding: a small model drafts, a large one reads all of the draft in a single call.

What is written has the distribution of the large model, the target $p$, for any small one, the
draft $q$. :func:`accept_or_replace` decides about one drafted token;
:func:`speculative_decoding` writes; :func:`acceptance_rate` is how often a draft is kept. All
random choices are made by one function, ``choose``, so that :func:`exact_distribution` can try
every outcome in turn.

Bad input raises ``TypeError`` or ``ValueError`` with what was given, what was expected and what to
do.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable

import torch
from jaxtyping import Float, Int, Real
from torch import Tensor

from course_lib.generation.sampling import check_probabilities, next_token_probabilities, sample
from course_lib.support.checks import check_not_empty, check_shapes
from course_lib.support.contracts import Count, Positive, checked

Choose = Callable[..., Int[Tensor, ""]]
Model = Callable[[Tensor], Real[Tensor, "_ symbols"]]


@checked
def acceptance_rate(
    p: Float[Tensor, "*batch symbols"], q: Float[Tensor, "*batch symbols"]
) -> Float[Tensor, "*batch"]:
    r"""$\sum_x \min(p(x), q(x))$: how likely it is that a token drawn from $q$ is accepted.

    1 where the two are equal, 0 where they have no token in common; 1 less the total variation
    distance. Source: Leviathan, Kalman and Matias (2023), theorem 3.5.
    """
    return torch.minimum(p, q).sum(-1)


@checked
def accept_or_replace(
    drafted: Count,
    p: Float[Tensor, "symbols"],
    q: Float[Tensor, "symbols"],
    *,
    generator: torch.Generator | None = None,
    choose: Choose = sample,
) -> tuple[int, bool]:
    r"""A token distributed as $p$, from one that was drawn from $q$; and whether it is that one.

    The drafted $x$ is accepted with probability $\min(1, p(x) / q(x))$. Otherwise the token is
    drawn anew from $\max(p - q, 0)$, rescaled to sum to one. ``choose(probability, generator=...)``
    draws an id. Raises ``ValueError`` where $q(x) = 0$, since $x$ cannot be drawn then.
    Source: Leviathan, Kalman and Matias (2023), section 2.3; Chen et al. (2023), algorithm 2.
    """
    check_probabilities(p=p, q=q)
    if drafted >= len(q) or q[drafted] <= 0:
        raise ValueError(
            f"drafted is {drafted}, which q gives no probability; expected a token drawn from q; "
            "pass the q that the token was drawn from"
        )
    accept = (p[drafted] / q[drafted]).clamp(max=1)
    if choose(torch.stack([1 - accept, accept]), generator=generator).item():
        return drafted, True
    left = (p - q).clamp(min=0)
    if not left.any():
        return drafted, True  # p and q differ by rounding alone
    return int(choose(left / left.sum(), generator=generator)), False


@checked(calls_back=True)
@torch.no_grad()
def speculative_decoding(
    target: Model,
    draft: Model,
    prompt: Int[Tensor, "prompt"],
    *,
    ahead: Count,
    tokens: Count,
    generator: torch.Generator | None = None,
    temperature: Positive = 1.0,
    stop: int | None = None,
    choose: Choose = sample,
) -> tuple[Int[Tensor, "written"], int]:
    r"""The prompt with ``tokens`` more, and how often the target was called.

    ``target`` and ``draft`` take ids ``(n,)`` and give logits ``(n, symbols)``, as a
    :class:`course_lib.transformer.Decoder` in evaluation mode does; of the draft only the last row
    is read, so a table of n-grams may give that row alone, the logarithms of its probabilities.

    In each round the draft writes ``ahead`` tokens, one after the other, and one call of the target
    judges all of them. Those up to the first that is not accepted stay, this one is replaced, and
    if all stay the target adds a token that it has computed anyway. So a call yields 1 to
    ``ahead + 1`` tokens, each distributed as if the target alone had drawn it. ``temperature``
    holds for both. Writing ends with the token ``stop``, if one is given. Neither model keeps a
    cache here. Source: Leviathan, Kalman and Matias (2023), algorithm 1; Chen et al. (2023).
    """
    check_not_empty("prompt", prompt, axis=-1)

    def distribution(logits: Tensor) -> Tensor:
        return next_token_probabilities(logits.double(), temperature=temperature)

    ids, calls, end = prompt, 0, len(prompt) + tokens
    while len(ids) < end and (stop is None or len(ids) == len(prompt) or ids[-1] != stop):
        drafted, guesses = ids, []
        # The target adds one token in any case, so the last place is not drafted.
        for _ in range(min(ahead, end - len(ids) - 1)):
            guesses.append(distribution(draft(drafted)[-1]))
            drafted = _longer(drafted, int(choose(guesses[-1], generator=generator)))
        judged = target(drafted)
        check_shapes(target=(judged, f"{len(drafted)} symbols"))
        wanted = distribution(judged[len(ids) - 1 :])
        calls += 1
        for place, q in enumerate(guesses):
            p, token = wanted[place], int(drafted[len(ids)])
            token, accepted = accept_or_replace(token, p, q, generator=generator, choose=choose)
            ids = _longer(ids, token)
            if not accepted or token == stop:
                break
        else:
            ids = _longer(ids, int(choose(wanted[-1], generator=generator)))
    return ids, calls


def exact_distribution(process: Callable[[Choose], Hashable]) -> dict[Hashable, float]:
    """The probability of everything that ``process(choose)`` can return.

    All randomness of ``process`` has to come from ``choose(probability)``. It is run once for each
    way in which the choices can turn out, and the probabilities of those that end alike are added:
    no sampling, so no error but that of rounding.
    """
    found: defaultdict[Hashable, float] = defaultdict(float)
    waiting: list[list[int]] = [[]]
    while waiting:
        result, probability, others = _followed(process, waiting.pop())
        found[result] += probability
        waiting += others
    return dict(found)


def _followed(
    process: Callable[[Choose], Hashable], path: list[int]
) -> tuple[Hashable, float, list[list[int]]]:
    """Choose along ``path``, then the first id each time; return also the paths left out."""
    taken, probability, others = [], 1.0, []

    def choose(distribution: Tensor, *, generator: torch.Generator | None = None) -> Tensor:
        nonlocal probability
        del generator
        if len(taken) < len(path):
            taken.append(path[len(taken)])
        else:
            first, *rest = distribution.nonzero().flatten().tolist()
            others.extend([*taken, other] for other in rest)
            taken.append(first)
        probability *= distribution[taken[-1]].item()
        return torch.tensor(taken[-1])

    result = process(choose)
    return result, probability, others


def _longer(ids: Tensor, token: int) -> Tensor:
    return torch.cat([ids, ids.new_tensor([token])])
