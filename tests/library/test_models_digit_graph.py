"""The graph of digits, flows as filters, and the readout, against independent implementations."""

import numpy as np
import pytest
import torch
from sklearn.linear_model import Ridge

from course_lib.graph_dynamics import Diffusion, dirichlet_energy, evolve
from course_lib.models.digit_graph import (
    FLOWS,
    accuracies,
    digit_graph,
    draw_labels,
    layer_filter,
    read_out,
    time_filter,
)

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def digits():
    return digit_graph()


def test_a_filter_of_heat_is_the_heat_that_is_integrated(digits):
    edges = torch.cat([digits.pairs, digits.pairs.flip(0)], dim=1)
    m, w = digits.metric.values()
    heat = Diffusion(edges, weights=w.repeat(2) / m[edges[1]])
    end = evolve(heat, digits.x, torch.tensor([0.0, 3.0]).double(), tolerance=1e-10)[-1]
    found = digits.through(time_filter("heat", digits.rate, 3.0))
    torch.testing.assert_close(found, end, rtol=0, atol=1e-8)
    assert dirichlet_energy(found, digits.pairs) < dirichlet_energy(digits.x, digits.pairs)


@pytest.mark.parametrize("flow", FLOWS)
def test_many_short_layers_are_the_flow(flow):
    rate = torch.linspace(0, 2, 9).double()
    layered = layer_filter(flow, rate, 100_000, 3e-5)
    torch.testing.assert_close(layered, time_filter(flow, rate, 3.0), rtol=0, atol=1e-3)
    for wrong, given in ((layer_filter, [1, 0.5]), (time_filter, [1.0])):
        with pytest.raises(ValueError, match="flow"):
            wrong("sound", rate, *given)
        with pytest.raises(ValueError, match="eigenvalues"):
            wrong(flow, rate - 1, *given)


def test_the_readout_is_ridge_regression_to_the_classes(digits):
    split = draw_labels(digits.digit, 20, range(2))
    ridge, answers = 0.1, []
    for labels in split[0]:
        h = digits.x[labels].numpy()
        size = np.linalg.eigvalsh((h - h.mean(0)) @ (h - h.mean(0)).T).clip(0).mean()
        model = Ridge(alpha=ridge * size).fit(h, np.eye(10)[digits.digit[labels]])
        answers.append(torch.from_numpy(model.predict(digits.x.numpy()).argmax(1)))
    expected = accuracies(torch.stack(answers), digits.digit, split)
    torch.testing.assert_close(read_out(digits.x, digits.digit, split, [ridge]), expected)
