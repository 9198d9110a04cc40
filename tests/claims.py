"""The cells of a lecture that check its claims, to be run with wrong implementations."""

import math
from pathlib import Path

import nbformat
import torch
from einops import rearrange
from torch import Tensor, nn
from torch.autograd.functional import jacobian
from torch.nn import functional as F
from torch.utils.flop_counter import FlopCounterMode

from course_lib.training import parameter_count, seed

LECTURES = Path(__file__).resolve().parents[1] / "lectures"
COMMON = {
    "math": math,
    "torch": torch,
    "nn": nn,
    "F": F,
    "rearrange": rearrange,
    "jacobian": jacobian,
    "FlopCounterMode": FlopCounterMode,
    "parameter_count": parameter_count,
    "seed": seed,
}


def claims(stem: str) -> dict[str, str]:
    """The cell that checks each claim, by the label of the claim."""
    found, label = {}, ""
    for cell in nbformat.read(LECTURES / f"{stem}.ipynb", as_version=4).cells:
        if cell.cell_type == "markdown" and ":label: prop-" in cell.source:
            label = "prop-" + cell.source.split(":label: prop-")[1].split()[0]
        elif "claim" in cell.metadata.get("tags", []):
            found[label] = cell.source
    return found


def check(stem: str, label: str, names: dict[str, object]) -> None:
    """Run the cell of a claim with these names, those of ``COMMON``, and ``normal``."""
    torch.manual_seed(0)
    random = torch.Generator().manual_seed(2)

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=random, dtype=torch.float64)

    exec(claims(stem)[label], COMMON | {"random": random, "normal": normal} | names)  # noqa: S102
