r"""A field that maps a rod's $k, f$ to $u$, learned from solutions of $-(k u')' = f$.

A :class:`course_lib.basis.CrossAttentionField` that is given $\log k$ and $f$ at
``about["sensors"]`` evenly spaced points of [0, 1], both ends included. It is small enough for a
page. ``scripts/data/train_field.py`` trained the one that :func:`load_rod_field` returns, on rods
of :func:`course_lib.basis.random_rods`.
"""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from course_lib.basis import CrossAttentionField, Rods
from course_lib.models.stored import load


def load_rod_field() -> tuple[CrossAttentionField, dict[str, Any]]:
    r"""The trained field, in evaluation mode, and a record of its training.

    That is the ``command``, its ``seed``, ``steps``, ``rods`` and ``seconds`` of processor time;
    the arguments ``sizes`` and ``finest`` of the field; the last ``loss``, the mean of
    $\lVert \hat u - u\rVert^2/\lVert u\rVert^2$ over batches; and the ``error`` on new rods, the
    mean of $\lVert \hat u - u\rVert/\lVert u\rVert$.
    """
    return load(
        "rod_field.npz",
        lambda about: CrossAttentionField(**about["sizes"], finest=about["finest"]),
    )


def readings(rods: Rods, place: Float[Tensor, "sensors"]) -> Float[Tensor, "rods sensors 2"]:
    r"""$\log k$ and $f$ of each rod at the sensors, in float32."""
    return torch.stack([rods.log_conductivity(place), rods.load(place)], dim=-1).float()


@torch.no_grad()
def temperatures(
    field: CrossAttentionField, z: Float[Tensor, "rods sensors 2"], x: Float[Tensor, "points"]
) -> Float[Tensor, "rods points"]:
    """The temperatures that a field predicts from evenly spaced readings, in float64."""
    place = torch.linspace(0, 1, z.shape[1]).expand(len(z), -1)
    return field(x.float().expand(len(z), -1), place, z.float()).double()
