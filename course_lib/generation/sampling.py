r"""Generation: what a decoder needs to write, a choice of the next token and a memory of the past.

A decoder gives every token of the vocabulary a logit. :func:`next_token_probabilities` turns these
into the distribution to choose from, :func:`sample` chooses, and :class:`KeyValueCache` keeps
what was computed for the tokens before. :func:`generate` puts the three together. Bad input
raises ``TypeError`` or ``ValueError`` with what was given, what was expected and what to do.
"""

import math
from collections.abc import Callable, Collection

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from course_lib.support.checks import (
    check_floating,
    check_index,
    check_not_empty,
    check_scores,
    check_size,
)
from course_lib.support.contracts import Count, Size, checked

ROUNDING = 1e-9


# Choosing the next token ----------------------------------------------------------------------


@checked
def next_token_probabilities(
    logits: Float[Tensor, "*batch vocabulary"],
    *,
    temperature: float = 1.0,
    top_k: Size | None = None,
    top_p: float | None = None,
) -> Float[Tensor, "*batch vocabulary"]:
    r"""The distribution that the next token is drawn from: $\mathrm{softmax}(z / \tau)$, cut short.

    1. ``temperature`` $\tau$ above 0 divides the logits $z$: below 1 sharpens, above 1 flattens.
    2. ``top_k`` keeps the $k$ most probable tokens. ``top_k=1`` is greedy: the most probable token
       gets probability 1, whatever the temperature.
    3. ``top_p`` in (0, 1] keeps, of what is left, the smallest set of most probable tokens whose
       probabilities add up to $p$ or more, one at least. 1 keeps all.

    After each step what is left is rescaled to sum to one, and what was cut has probability 0. Of
    equal logits, that of the lower id counts as the larger. All is computed in float64, and a sum
    within $10^{-9}$ of $p$ has reached it, so that no rounding decides. A logit of -inf forbids its
    token. Raises ``ValueError`` for a number out of its range, for logits of nan or +inf, and where
    every token is forbidden. Source: Ackley, Hinton and Sejnowski (1985) for temperature, Fan,
    Lewis and Dauphin (2018) for top-k, Holtzman et al. (2020) for top-p.
    """
    _check_choice_of_tokens(logits, temperature, top_k, top_p)
    # A stable sort leaves equals in the order of their ids.
    ranked, order = logits.double().sort(dim=-1, descending=True, stable=True)
    # The largest logit becomes 0 first: divided by a tiny temperature it would be infinite.
    probability = ((ranked - ranked[..., :1]) / temperature).softmax(dim=-1)
    if top_k is not None:
        rank = torch.arange(logits.shape[-1], device=logits.device)
        probability = _rescaled(probability.where(rank < top_k, 0.0))
    if top_p is not None and top_p < 1:
        before = probability.cumsum(dim=-1) - probability
        reached = before >= max(top_p - ROUNDING, ROUNDING)
        probability = _rescaled(probability.masked_fill(reached, 0.0))
    return torch.zeros_like(probability).scatter(-1, order, probability).to(logits.dtype)


@checked
def sample(
    probability: Float[Tensor, "*batch vocabulary"], *, generator: torch.Generator | None = None
) -> Int[Tensor, "*batch"]:
    """Draw one id from each distribution; the same ``generator`` state draws the same ids."""
    check_probabilities(probability=probability)
    rows = probability.reshape(-1, probability.shape[-1])
    # A generator lives on one device, mostly the CPU, and draws only there.
    drawn_on = rows.device if generator is None else generator.device
    drawn = torch.multinomial(rows.to(drawn_on), 1, generator=generator)
    return drawn.to(probability.device).reshape(probability.shape[:-1])


# Remembering what was read --------------------------------------------------------------------


class KeyValueCache:
    """The keys and values of all that a decoder has read, so that it computes none of them twice.

    Begin with an empty one, give it to every call of one model, and give every token once. A call
    adds its tokens to the cache, and they see those that came before::

        cache = KeyValueCache()
        logits = decoder(prompt, cache)  # reads the prompt
        logits = decoder(chosen, cache)  # reads on: ``chosen`` are the tokens after it

    A new sequence needs a new cache, and so does a model whose parameters have changed. Several
    continuations of one text, as in beam search, need a :meth:`fork` each.
    """

    def __init__(self) -> None:
        self._past: dict[nn.Module, tuple[Tensor, Tensor]] = {}
        self._context: dict[nn.Module, tuple[Tensor, Tensor, Tensor]] = {}

    def fork(self) -> "KeyValueCache":
        """Another cache with the same content, for the same model, that is extended by itself.

        A copy is a fork too. The two share their tensors, which no later call changes.
        """
        forked = type(self)()
        forked._past, forked._context = self._past.copy(), self._context.copy()
        return forked

    def __copy__(self) -> "KeyValueCache":
        return self.fork()

    def __deepcopy__(self, memo: dict[int, object]) -> "KeyValueCache":
        return self.fork()

    @property
    def tokens(self) -> int:
        """How many tokens have been read. Raises ``ValueError`` if a call broke off halfway."""
        lengths = {key.shape[-2] for key, _ in self._past.values()}
        if len(lengths) > 1:
            raise ValueError(
                f"the layers of the cache hold {min(lengths)} to {max(lengths)} tokens, since a "
                "call broke off; expected one number; begin with an empty KeyValueCache()"
            )
        return max(lengths, default=0)

    def check_reader(self, attentions: Collection[nn.Module]) -> None:
        """Raise ``ValueError`` unless the cache is empty or was filled by just these attentions."""
        if self._past and set(self._past) != set(attentions):
            raise ValueError(
                "the cache was filled by another model, or by a call that broke off; expected "
                "one that this model filled; begin with an empty KeyValueCache()"
            )

    def length(self, attention: nn.Module) -> int:
        """How many tokens the cache holds of one layer."""
        return self._past[attention][0].shape[-2] if attention in self._past else 0

    def extend(self, attention: nn.Module, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Keep new keys and values ``(*batch, tokens, d)`` of a layer; return old and new in one.

        Raises ``ValueError`` if the batch differs from that of earlier calls.
        """
        if attention in self._past:
            past_key, past_value = self._past[attention]
            check_floating(cache=past_key, key=key)
            if past_key.shape[:-2] != key.shape[:-2]:
                raise ValueError(
                    f"the cache holds keys of shape {tuple(past_key.shape)} and x gives "
                    f"{tuple(key.shape)}; expected the same batch and heads; give the cache the "
                    "sequences that it began with, or begin with an empty KeyValueCache()"
                )
            key = torch.cat([past_key, key], dim=-2)
            value = torch.cat([past_value, value], dim=-2)
        self._past[attention] = key, value
        return key, value

    def once(
        self,
        attention: nn.Module,
        context: Tensor,
        project: Callable[[], tuple[Tensor, Tensor]],
    ) -> tuple[Tensor, Tensor]:
        """Keys and values of a context, projected in the first call alone.

        Raises ``ValueError`` for another tensor than that of the first call.
        """
        if attention not in self._context:
            self._context[attention] = context, *project()
        known, key, value = self._context[attention]
        if known is not context:
            raise ValueError(
                "context is not the tensor that the cache was filled from; expected the very same; "
                "encode the source once, before the first call, and pass that result to all"
            )
        return key, value


# Writing --------------------------------------------------------------------------------------


@checked
@torch.no_grad()
def generate(
    model: nn.Module,
    prompt: Int[Tensor, "*batch tokens"],
    *,
    steps: Count,
    temperature: float = 1.0,
    top_k: Size | None = None,
    top_p: float | None = None,
    generator: torch.Generator | None = None,
    stop: Count | None = None,
    context: Float[Tensor, "*batch source model.d_model"] | None = None,
    context_mask: Bool[Tensor, "1 source"] | Bool[Tensor, "*#batch #heads 1 source"] | None = None,
) -> Int[Tensor, "*batch generated"]:
    """The prompt, and ``steps`` tokens that the model writes after it.

    ``model`` is a :class:`course_lib.transformer.Decoder`. Each token is drawn from
    :func:`next_token_probabilities`, which explains ``temperature``, ``top_k`` and ``top_p``;
    ``top_k=1`` is greedy, the most probable token each time. A sequence that has written ``stop``
    is filled up with it. ``context`` is for a decoder with cross-attention, and ``context_mask``,
    ``(*batch, 1, 1, source)``, is True where it may look. The model is in evaluation mode
    meanwhile, and then in its former mode. Raises ``ValueError`` where the text would not fit
    into the positions of the model.
    """
    _check_request(model, prompt, steps, stop)
    was_training = model.training
    model.eval()
    try:
        cache, ids, new = KeyValueCache(), prompt, prompt
        finished = torch.zeros_like(prompt[..., :1], dtype=torch.bool)
        for _ in range(steps):
            logits = model(new, cache, context=context, context_mask=context_mask)[..., -1, :]
            probability = next_token_probabilities(
                logits, temperature=temperature, top_k=top_k, top_p=top_p
            )
            new = sample(probability, generator=generator)[..., None].to(prompt.dtype)
            if stop is not None:
                new = new.masked_fill(finished, stop)
                finished = finished | (new == stop)
            ids = torch.cat([ids, new], dim=-1)
    finally:
        model.train(was_training)
    return ids


# What the functions above share ---------------------------------------------------------------


def _check_request(model: nn.Module, prompt: Tensor, steps: int, stop: int | None) -> None:
    if not hasattr(model, "vocabulary_size"):
        raise TypeError(
            f"model is a {type(model).__name__}; expected a Decoder; of an EncoderDecoder, pass "
            "model.decoder and context=model.encode(source)"
        )
    check_ids("prompt", prompt, model.vocabulary_size)
    longest = model.tokens
    if prompt.shape[-1] > longest:
        raise ValueError(
            f"prompt has {prompt.shape[-1]} tokens; expected {longest} at most, the positions that "
            "the model has; shorten it, or build the model with more tokens"
        )
    # The last token written is not read again.
    if steps > (room := longest - prompt.shape[-1] + 1):
        raise ValueError(
            f"steps is {steps} after a prompt of {prompt.shape[-1]} tokens; expected {room} at "
            f"most, since the model has {longest} positions; take fewer, shorten the prompt, or "
            "build the model with more tokens"
        )
    if stop is not None and stop >= model.vocabulary_size:
        raise ValueError(
            f"stop is {stop}; expected an id of the vocabulary, 0 to {model.vocabulary_size - 1}; "
            "choose the id that ends a sequence, or leave stop out"
        )


def _check_choice_of_tokens(
    logits: Tensor, temperature: float, top_k: int | None, top_p: float | None
) -> None:
    vocabulary_size = logits.shape[-1]
    check_size("vocabulary, the number of logits,", vocabulary_size)
    check_scores(logits=logits)
    if not (logits > -math.inf).any(dim=-1).all():
        raise ValueError(
            "every logit of a row is -inf, so that no token may follow; expected a finite one at "
            "least; allow a token, such as the one that ends a sequence"
        )
    if temperature <= 0:
        raise ValueError(
            f"temperature is {temperature}; expected a number above 0; for the most probable token "
            "each time, choose top_k=1"
        )
    if top_k is not None and top_k > vocabulary_size:
        raise ValueError(
            f"top_k is {top_k}; expected {vocabulary_size} at most, the size of the vocabulary; "
            "choose a smaller one, or leave top_k out to keep every token"
        )
    if top_p is not None and not 0 < top_p <= 1:
        raise ValueError(
            f"top_p is {top_p}; expected a number in (0, 1]; choose a small positive one to "
            "keep the most probable token alone, or 1 to keep every token"
        )


def _rescaled(probability: Tensor) -> Tensor:
    return probability / probability.sum(dim=-1, keepdim=True)


def check_probabilities(**tensors: Float[Tensor, "*batch symbols"]) -> None:
    """Raise ``ValueError`` unless rows hold finite numbers, none below 0 and one above it."""
    for name, tensor in tensors.items():
        check_not_empty(name, tensor, axis=-1)
        if not (tensor.isfinite() & (tensor >= 0)).all() or not (tensor > 0).any(dim=-1).all():
            raise ValueError(
                f"{name} holds a row that is no distribution; expected finite numbers, none below "
                "0 and one above 0 at least; make it with softmax, or divide counts by their sum"
            )


def check_ids(name: str, ids: Int[Tensor, "*batch tokens"], vocabulary_size: int) -> None:
    """Raise ``ValueError`` unless ``ids`` is not empty, and within the vocabulary."""
    check_not_empty(name, ids, axis=-1)
    check_index(name, ids, vocabulary_size, "the ids of the vocabulary")
