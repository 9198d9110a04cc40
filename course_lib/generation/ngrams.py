r"""N-gram language models: count which symbol follows which context.

:class:`AbsoluteDiscounting` takes a little from every count, and gives it to the distribution after
the shorter context. A sequence is a list of ids, ``0`` to ``symbols - 1``, or a tensor of one axis.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from course_lib.support.checks import check_size
from course_lib.support.contracts import Count, Size, UnitInterval, checked

START = -1
"""Marks the beginning in a context, after the symbols that are kept."""

Ids = Sequence[int] | Tensor
Context = tuple[tuple[int, ...], tuple[int, ...]]


class AbsoluteDiscounting:
    r"""Interpolated absolute discounting: every count gives $D$ to the shorter contexts.

    Let $c(h, x)$ be how often symbol $x$ stands after context $h$ in ``sequences``, $c(h)$ the sum
    over $x$, $N(h)$ the number of different symbols after $h$, and $h'$ the context $h$ without its
    oldest symbol. Then

    $$P(x \mid h) = \frac{\max(c(h, x) - D, 0)}{c(h)} + \frac{D\,N(h)}{c(h)}\,P(x \mid h') ,$$

    and $P(x \mid h) = P(x \mid h')$ where $h$ was never seen. Below the empty context $P$ is
    uniform. $h$ are the ``order - 1`` symbols before $x$, of which the first may be a mark that
    the text begins, and $D$ is ``discount`` in $[0, 1]$.

    The first ``keep`` symbols of a sequence name its kind, such as a country: they stay in every
    context, beside the others. Give sequences with their mark at the end, so that the model learns
    to end.

    With ``continuation`` this is interpolated Kneser-Ney: for a context that has a longer one,
    $c(h, x)$ counts the *different* symbols that stand before $h x$, not how often $h x$ stands.
    A shorter context is used where the longer one is not enough; there a symbol that follows one
    longer context alone, however often, is improbable.

    Raises ``ValueError`` for sequences without symbols, ids outside the range, and numbers out of
    theirs. Source: Ney, Essen and Kneser (1994); Kneser and Ney (1995) for ``continuation``; both
    are compared with others by Chen and Goodman (1999).
    """

    @checked
    def __init__(
        self,
        sequences: Iterable[Ids],
        *,
        symbols: Size,
        order: Size,
        discount: UnitInterval = 0.75,
        keep: Count = 1,
        continuation: bool = False,
    ) -> None:
        self.symbols = symbols
        self.order = order
        self.discount = discount
        self.keep = keep
        self.counts: defaultdict[Context, Counter[int]] = defaultdict(Counter)
        for sequence in sequences:
            ids = self._checked("sequences", sequence)
            for place, symbol in enumerate(ids):
                for context in self._contexts(ids[:place]):
                    self.counts[context][symbol] += 1
        if not self.counts:
            raise ValueError("sequences hold no symbol; expected one at least; pass texts to count")
        if continuation:
            self.counts.update(self._continuations())

    @checked
    def probabilities(self, context: Ids) -> Float[Tensor, "symbols"]:
        """The distribution of the symbol after ``context``, which is all symbols so far.

        In float64. Where ``discount`` is 0, a symbol never seen there has probability 0.
        """
        ids = self._checked("context", context)
        distribution = torch.full((self.symbols,), 1 / self.symbols, dtype=torch.float64)
        for known in self._contexts(ids):
            if known not in self.counts:
                break
            after = self.counts[known]
            total = after.total()
            distribution *= self.discount * len(after) / total
            seen, count = torch.tensor([*after.items()]).T
            distribution[seen] += (count.double() - self.discount) / total
        return distribution

    @checked
    def bits(self, sequences: Iterable[Ids]) -> Float[Tensor, "all"]:
        r"""$-\log_2 P$ of every symbol given those before it, one sequence after the other.

        Infinite where the probability is 0.
        """
        every = [self._checked("sequences", sequence) for sequence in sequences]
        return torch.tensor(
            [self._surprise(ids[place], ids[:place]) for ids in every for place in range(len(ids))],
            dtype=torch.float64,
        )

    def _continuations(self) -> defaultdict[Context, Counter[int]]:
        """How many different symbols stand before each context and the symbol after it."""
        different: defaultdict[Context, Counter[int]] = defaultdict(Counter)
        for (kind, rest), after in self.counts.items():
            if rest:
                different[kind, rest[1:]].update(after.keys())
        return different

    def _surprise(self, symbol: int, before: tuple[int, ...]) -> float:
        # The recursion of `probabilities`, for one symbol: a distribution for each takes longer.
        probability = 1 / self.symbols
        for known in self._contexts(before):
            if known not in self.counts:
                break
            after = self.counts[known]
            lent = self.discount * len(after) * probability
            probability = (max(after[symbol] - self.discount, 0) + lent) / after.total()
        return -math.log2(probability) if probability > 0 else math.inf

    def _contexts(self, before: tuple[int, ...]) -> list[Context]:
        """The context of each length, the shortest first."""
        kind, rest = before[: self.keep], before[self.keep :]
        rest = (START, *rest) if len(before) >= self.keep else rest
        longest = min(self.order - 1, len(rest))
        return [(kind, rest[len(rest) - length :]) for length in range(longest + 1)]

    def _checked(self, name: str, ids: Ids) -> tuple[int, ...]:
        listed = tuple(ids.tolist() if isinstance(ids, Tensor) else ids)
        for symbol in set(listed):
            check_size(f"a symbol of {name}", symbol, minimum=0)
            if symbol >= self.symbols:
                raise ValueError(
                    f"{name} holds the symbol {symbol}; expected 0 to {self.symbols - 1}; "
                    "number the symbols from 0, or pass more symbols"
                )
        return listed
