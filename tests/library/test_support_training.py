"""The training loop, the seed, and the count of parameters."""

import math
import random

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from course_lib.support.training import (
    fit,
    fit_side_by_side,
    one_cycle,
    parameter_count,
    seed,
    warmed_up,
)


def squared_error(model: nn.Module, batch: tuple[Tensor, Tensor]) -> Tensor:
    x, y = batch
    return (model(x) - y).square().mean()


@pytest.fixture
def line() -> tuple[nn.Module, list[tuple[Tensor, Tensor]]]:
    """A linear model and four batches of points of the line y = 3 x - 1."""
    generator = seed(0)
    x = torch.randn(4, 16, 1, generator=generator)
    return nn.Linear(1, 1), [(batch, 3 * batch - 1) for batch in x]


def test_fit_steps_as_a_loop_written_out_does(line: tuple) -> None:
    model, batches = line
    twin = nn.Linear(1, 1)
    twin.load_state_dict(model.state_dict())
    optimizer = torch.optim.AdamW(twin.parameters(), lr=0.01)
    expected = []
    for step in range(6):
        optimizer.zero_grad()
        loss = squared_error(twin, batches[step % 4])
        loss.backward()
        nn.utils.clip_grad_norm_(twin.parameters(), 0.5)
        optimizer.step()
        expected.append(loss.item())
    history = fit(
        model, squared_error, batches, steps=6, learning_rate=0.01, clip=0.5, progress=False
    )
    assert history == expected
    assert torch.equal(model.weight, twin.weight)


def test_one_cycle_rises_in_the_first_third_and_falls_to_zero(line: tuple) -> None:
    model, batches = line
    both = [
        torch.optim.AdamW([p], lr=rate)
        for p, rate in zip(model.parameters(), (0.1, 0.01), strict=True)
    ]
    rates: list[list[float]] = []
    for optimizer in both:
        optimizer.register_step_pre_hook(
            lambda o, *_: rates.append([o.param_groups[0]["lr"], o.defaults["lr"]])
        )
    before = [p.detach().clone() for p in model.parameters()]
    options = {"optimizer": lambda *_, **__: both, "schedule": one_cycle, "progress": False}
    history = fit(model, squared_error, batches, steps=30, **options)
    shares = torch.tensor(rates)[:, 0] / torch.tensor(rates)[:, 1]
    assert len(history) == 30
    torch.testing.assert_close(shares[0::2], shares[1::2])
    assert shares[0::2].argmax() in (9, 10)
    assert shares.max().item() == pytest.approx(1, abs=0.02)
    assert shares[-1] < 0.02
    assert all((p != b).any() for p, b in zip(model.parameters(), before, strict=True))


def test_rates_warm_up_for_a_hundred_steps_and_fall_to_zero_along_a_cosine(line: tuple) -> None:
    descent = torch.optim.SGD(line[0].parameters(), lr=0.5)
    plan, rates = warmed_up(descent, 400), []
    for _ in range(400):
        rates.append(descent.param_groups[0]["lr"])
        descent.step()
        plan.step()
    assert rates[49] == pytest.approx(0.25 * (1 + math.cos(math.pi * 49 / 400)) / 2)
    assert rates[200] == pytest.approx(0.25)
    assert 0 < rates[-1] < 1e-4


def test_the_model_trains_in_training_mode_and_comes_back_as_it_was(line: tuple) -> None:
    model, batches = line
    modes = []
    for training in (True, False):
        model.train(training)
        fit(model, squared_error, batches, steps=1, progress=False,
            callback=lambda *_: modes.append(model.training))  # fmt: skip
        assert model.training is training
    assert modes == [True, True]


def test_the_progress_bar_goes_to_stderr_and_can_be_left_out(
    line: tuple, capsys: pytest.CaptureFixture
) -> None:
    model, batches = line
    fit(model, squared_error, batches, steps=3, progress=False)
    assert capsys.readouterr() == ("", "")
    history = fit(model, squared_error, batches, steps=3)
    out, err = capsys.readouterr()
    assert out == ""
    assert "training: 100%" in err
    assert f"loss={history[-1]:.4g}" in err


def test_a_loader_is_iterated_again_and_a_generator_once(line: tuple) -> None:
    model, batches = line
    x, y = torch.cat([x for x, _ in batches]), torch.cat([y for _, y in batches])
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=32)
    assert len(fit(model, squared_error, loader, steps=5, progress=False)) == 5
    assert len(fit(model, squared_error, iter(batches), steps=4, progress=False)) == 4
    with pytest.raises(ValueError, match=r"batches ran out at step 4 of 5; .* a list"):
        fit(model, squared_error, iter(batches), steps=5, progress=False)
    with pytest.raises(ValueError, match="batches ran out at step 0 of 5"):
        fit(model, squared_error, [], steps=5, progress=False)


def test_a_loss_that_is_not_finite_stops_training_at_its_step(line: tuple) -> None:
    model, batches = line
    steps = []
    with pytest.raises(FloatingPointError, match="step 2"):
        fit(
            model,
            lambda model, batch: squared_error(model, batch) * (math.nan if len(steps) == 2 else 1),
            batches,
            steps=5,
            progress=False,
            callback=lambda *_: steps.append(model.weight.detach().clone()),
        )
    assert len(steps) == 2
    assert torch.equal(model.weight, steps[-1])


def draws() -> tuple:
    return random.random(), np.random.rand(), torch.rand(()).item()  # noqa: NPY002, S311


def test_the_seed_fixes_the_random_numbers_of_every_library() -> None:
    first = seed(3)
    expected = draws()
    again = seed(3)
    assert draws() == expected
    assert torch.equal(torch.rand(4, generator=first), torch.rand(4, generator=again))
    seed(4)
    assert all(a != b for a, b in zip(draws(), expected, strict=True))


def test_parameters_are_counted_once_and_only_if_they_are_trained() -> None:
    model = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 4), nn.Linear(4, 4, bias=False))
    assert parameter_count(model) == (3 * 4 + 4) + (4 * 4 + 4) + 4 * 4
    model[2].weight = model[1].weight
    assert parameter_count(model) == (3 * 4 + 4) + (4 * 4 + 4)
    model[0].requires_grad_(requires_grad=False)
    assert parameter_count(model) == 4 * 4 + 4
    assert parameter_count(nn.ReLU()) == 0


def lines(count):
    """Models that learn a line each, their batches, and the loss."""
    models = []
    for value in range(count):
        seed(value)
        models.append(nn.Linear(1, 1).double())
    x = torch.linspace(-1, 1, 8).double()[None, :, None].expand(count, 8, 1)
    slope = torch.arange(count).double()[:, None, None]
    return models, [(x, slope * x)], lambda model, xy: (model(xy[0]) - xy[1]).square().mean()


def test_models_side_by_side_learn_each_its_own_and_as_they_would_alone():
    models, batches, loss = lines(3)
    fit_side_by_side(models, loss, batches, steps=300, learning_rate=0.1)
    for value, model in enumerate(models):
        assert model.weight.item() == pytest.approx(value, abs=1e-2)
        again, [(x, y)], _ = lines(3)
        fit_side_by_side(
            [again[value]], loss, [(x[:1], y[value, None])], steps=300, learning_rate=0.1
        )
        torch.testing.assert_close(again[value].weight, model.weight)


def test_a_warm_up_raises_the_rate_evenly_and_leaves_the_rest_to_the_cosine():
    class Walker(nn.Module):
        def __init__(self):
            super().__init__()
            self.place = nn.Parameter(torch.zeros(1, dtype=torch.float64))

        def forward(self, slope):
            return (slope * self.place).sum()

    walker, slope = Walker(), torch.ones(1, 1, dtype=torch.float64)
    fit_side_by_side(
        [walker], lambda model, batch: model(batch), [slope], steps=8, learning_rate=0.1, warm_up=4
    )
    # With a constant slope, each of Adam's steps is as long as the rate.
    rising = sum(0.1 * (n + 1) / 4 for n in range(4))
    falling = sum(0.05 * (1 + math.cos(math.pi * n / 4)) for n in range(4))
    assert walker.place.item() == pytest.approx(-(rising + falling), rel=1e-6)
