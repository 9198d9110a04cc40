"""The trained field of rods, and its record."""

import pytest
import torch

from course_lib.basis import random_rods
from course_lib.models.rods import load_rod_field
from course_lib.support.training import parameter_count


@pytest.fixture(scope="module")
def trained():
    return load_rod_field()


def error(field, about, rods):
    """The mean of ‖û − u‖ / ‖u‖ over rods."""
    nodes = about["test"]["nodes"]
    place = torch.linspace(0, 1, about["sensors"], dtype=torch.float64)
    z = torch.stack([rods.log_conductivity(place), rods.load(place)], dim=-1).float()
    u = rods.solve(torch.linspace(0, 1, nodes, dtype=torch.float64)).float()
    x = torch.linspace(0, 1, nodes).expand(len(z), -1)
    with torch.no_grad():
        missed = field(x, place.float().expand(len(z), -1), z) - u
    return (missed.norm(dim=-1) / u.norm(dim=-1)).mean().item()


@pytest.mark.slow
def test_the_error_on_new_rods_is_the_recorded_one(trained):
    field, about = trained
    generator = torch.Generator().manual_seed(about["test"]["seed"])
    found = error(field, about, random_rods(about["test"]["rods"], generator=generator))
    assert found == pytest.approx(about["error"], rel=1e-3)
    assert found < 0.06


def test_the_field_has_its_recorded_size_and_loading_draws_no_random_numbers(trained):
    field, about = trained
    assert parameter_count(field) == about["parameters"]
    assert not field.training
    assert str(about["steps"]) in about["command"]
    draws = torch.get_rng_state()
    load_rod_field()
    assert torch.equal(torch.get_rng_state(), draws)
