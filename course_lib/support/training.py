"""What every training loop in the course repeats: a seed, a loop, a count of parameters."""

import copy
import math
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Annotated, Any, TypeVar

import torch
from torch import Tensor, nn
from torch.func import functional_call, stack_module_state, vmap
from torch.optim import Adam, AdamW, Optimizer
from torch.optim.lr_scheduler import (
    CosineAnnealingLR,
    LambdaLR,
    LinearLR,
    LRScheduler,
    OneCycleLR,
    SequentialLR,
)

from course_lib.support.checks import check_some
from course_lib.support.contracts import Between, Call, Count, Positive, Size, checked, test_of

Batch = TypeVar("Batch")


@checked(calls_back=True)
def fit(
    model: nn.Module,
    loss: Callable[[nn.Module, Batch], Tensor],
    batches: Iterable[Batch],
    *,
    steps: Size,
    learning_rate: Positive = 1e-3,
    optimizer: Callable[..., Optimizer | list[Optimizer]] = AdamW,
    schedule: Callable[[Optimizer, int], LRScheduler] | None = None,
    clip: Positive | None = None,
    progress: bool = True,
    callback: Callable[[int, float], object] | None = None,
) -> list[float]:
    r"""Take ``steps`` steps down the gradient of ``loss(model, batch)``; return the loss at each.

    When ``batches`` ends it starts again, as a list or a ``DataLoader`` can; a generator cannot,
    and has to be long enough. ``optimizer`` is called with the parameters and
    ``lr=learning_rate``; if it makes several, each takes its step. ``schedule(optimizer,
    steps)`` changes the rate, as :func:`one_cycle` does. ``clip`` limits the norm of the
    gradient. ``callback(step, loss)`` runs after each step. The model is in training mode
    meanwhile, and then in its former mode. The progress bar goes to stderr. Raises
    ``ValueError`` if the loss is no scalar or does not depend on the parameters, or if the batches
    run out, and ``FloatingPointError`` that names the step as soon as the loss is nan or infinite;
    that step changes no parameter.
    """
    made = optimizer(model.parameters(), lr=learning_rate)
    optimizers = made if isinstance(made, list) else [made]
    plans = [schedule(each, steps) for each in optimizers] if schedule else []
    test_of(list[Optimizer])(Call(), "the result of optimizer", optimizers)
    test_of(list[LRScheduler])(Call(), "the result of schedule", plans)
    history: list[float] = []
    supply = _again(batches)
    was_training = model.training
    model.train()
    try:
        for step in _steps(steps, history, progress=progress):
            try:
                batch = next(supply)
            except StopIteration:
                raise ValueError(
                    f"batches ran out at step {step} of {steps}; expected one for each step; "
                    "pass a list or a DataLoader, which start again, or a longer generator"
                ) from None
            value = loss(model, batch)
            _check_scalar(value)
            _check_loss(value, step, history)
            for each in optimizers:
                each.zero_grad()
            value.backward()
            if clip is not None:
                nn.utils.clip_grad_norm_(model.parameters(), clip)
            for each in (*optimizers, *plans):
                each.step()
            history.append(value.item())
            if callback is not None:
                callback(step, history[-1])
    finally:
        model.train(was_training)
    return history


def one_cycle(optimizer: Optimizer, steps: int) -> LRScheduler:
    """Rates rise in the first third of the steps to those of ``optimizer``, then fall to 0.

    Source: Smith and Topin (2019).
    """
    largest = [group["lr"] for group in optimizer.param_groups]
    return OneCycleLR(optimizer, largest, total_steps=steps + 1)


def warmed_up(optimizer: Optimizer, steps: int) -> LRScheduler:
    """Rates rise for a hundred steps to those of ``optimizer``, and fall to 0 along a cosine."""
    return LambdaLR(
        optimizer,
        lambda step: min(1, (step + 1) / 100) * (1 + math.cos(math.pi * step / steps)) / 2,
    )


@checked(calls_back=True)
def fit_side_by_side(
    models: Sequence[nn.Module],
    loss: Callable[[Callable[..., Any], Any], Tensor],
    batches: Iterable[Any],
    *,
    steps: Size,
    learning_rate: Positive = 1e-3,
    warm_up: Count = 0,
) -> None:
    """Train models of one architecture, such as several seeds, as fast as one if they are small.

    Adam, with a learning rate that rises for ``warm_up`` of the steps and then falls to zero along
    a cosine. ``loss(model, batch)`` is called once, under ``torch.func.vmap``: ``model`` takes what
    the models take, and ``batch`` is one model's share of what ``batches`` yields, tensors with the
    models along their first axis. The models share nothing, so each learns as it would alone.
    Raises ``ValueError`` for no models, and for a warm-up that leaves no step.
    """
    if warm_up >= steps:
        raise ValueError(
            f"warm_up is {warm_up} of {steps} steps; expected fewer, to let the rate fall"
        )
    check_some(models=models)
    stacked, _ = stack_module_state(list(models))
    skeleton = copy.deepcopy(models[0]).to("meta")

    def one(weights: dict[str, Tensor], batch: Any) -> Tensor:
        value = loss(lambda *args, **more: functional_call(skeleton, weights, args, more), batch)
        _check_scalar(value)
        return value

    losses = vmap(one)
    adam = Adam(stacked.values(), lr=learning_rate, fused=True)
    schedule: LRScheduler = CosineAnnealingLR(adam, steps - warm_up)
    if warm_up:
        rise = LinearLR(adam, start_factor=1 / warm_up, total_iters=warm_up - 1)
        schedule = SequentialLR(adam, [rise, schedule], [warm_up])
    for step, batch in enumerate(islice(_again(batches), steps)):
        total = losses(stacked, batch).sum()
        _check_loss(total, step)
        adam.zero_grad()
        total.backward()
        adam.step()
        schedule.step()
    for place, model in enumerate(models):
        model.load_state_dict({name: each[place].detach() for name, each in stacked.items()})


@checked
def seed(value: Annotated[int, Between(0, 2**32 - 1)] = 0) -> torch.Generator:
    """Seed ``random``, NumPy and PyTorch; return a CPU generator of its own, seeded alike.

    Raises ``ValueError`` for a seed outside [0, 2³² − 1], the range that NumPy takes.
    """
    random.seed(value)
    # PyTorch runs without NumPy; where there is none, there is nothing to seed.
    with suppress(ModuleNotFoundError):
        import numpy as np

        np.random.seed(value)  # noqa: NPY002 - the global state is what is to be seeded
    torch.manual_seed(value)
    return torch.Generator().manual_seed(value)


def parameter_count(model: nn.Module) -> int:
    """How many numbers training may change; a parameter shared by two layers counts once."""
    return sum(parameter.numel() for parameter in model.parameters() if parameter.requires_grad)


def _again(batches: Iterable[Batch]) -> Iterator[Batch]:
    """All batches, then all again, for as long as going through them yields any."""
    empty = False
    while not empty:
        empty = True
        for batch in batches:
            empty = False
            yield batch


def _steps(steps: int, history: list[float], *, progress: bool) -> Iterator[int]:
    if not progress:
        yield from range(steps)
        return
    from tqdm import tqdm

    with tqdm(range(steps), desc="training", unit="step") as bar:
        for step in bar:
            yield step
            bar.set_postfix(loss=f"{history[-1]:.4g}", refresh=False)


def _check_scalar(value: Tensor) -> None:
    if not isinstance(value, Tensor):
        raise TypeError(
            f"loss gave a {type(value).__name__}; expected a torch.Tensor; "
            "compute it from the model's output, without item()"
        )
    if value.dim():
        raise ValueError(
            f"loss has shape {tuple(value.shape)}; expected a scalar; reduce it with loss.mean()"
        )


def _check_loss(value: Tensor, step: int, history: Sequence[float] = ()) -> None:
    if not value.requires_grad:
        raise ValueError(
            "loss does not depend on the parameters; expected one that does; "
            "compute it from the model's output, without detach(), item() or torch.no_grad()"
        )
    if not math.isfinite(value.item()):
        before = f", {history[-1]:.4g} one step before" if history else ""
        raise FloatingPointError(
            f"loss is {value.item()} at step {step}{before}; expected a finite number; lower "
            "learning_rate, pass clip=1.0, or look at the batch"
        )
