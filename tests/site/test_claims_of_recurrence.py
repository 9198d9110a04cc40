"""Each claim of lecture 4 holds for the library and falls to an implementation that is wrong."""

import pytest
import torch
from claims import claims, holds_and_falls
from torch import Tensor

from course_lib import recurrent
from course_lib import recurrent as linear_recurrence

pytestmark = pytest.mark.slow

LECTURE = "04_recurrence"


def library() -> dict[str, object]:
    """Names from the library, and the network of the first claim."""
    torch.manual_seed(0)
    return {
        **vars(recurrent),
        **vars(linear_recurrence),
        "network": recurrent.RNN(5, 7).double(),
    }


class Forgetful(recurrent.RNN):
    """Ignores the initial state."""

    def forward(self, x: Tensor, state: Tensor | None = None) -> tuple[Tensor, Tensor]:  # noqa: ARG002
        return super().forward(x)


class Steep(recurrent.RNN):
    """Its tanh has slope 2 at zero."""

    def forward(self, x: Tensor, state: Tensor | None = None) -> tuple[Tensor, Tensor]:
        hidden = x.new_zeros(*x.shape[:-2], self.d_hidden) if state is None else state
        outputs = []
        for token in self.from_input(x).unbind(-2):
            hidden = (2 * (token + self.from_hidden(hidden))).tanh()
            outputs.append(hidden)
        return torch.stack(outputs, -2), hidden


class Exchanged(recurrent.GRU):
    """An update gate of 1 replaces the state, as in Chung et al. (2014)."""

    def forward(self, x: Tensor, state: Tensor | None = None) -> tuple[Tensor, Tensor]:
        hidden = x.new_zeros(*x.shape[:-2], self.d_hidden) if state is None else state
        outputs = []
        for token in self.from_input(x).unbind(-2):
            _, z, n = recurrent.gru_gates(token, self.from_hidden(hidden))
            hidden = z * n + (1 - z) * hidden
            outputs.append(hidden)
        return torch.stack(outputs, -2), hidden


def without_forgetting(from_input: Tensor, from_hidden: Tensor, cell: Tensor) -> tuple:
    i, _, g, o = recurrent.lstm_gates(from_input, from_hidden)
    cell = cell + i * g
    return o * cell.tanh(), cell


def joined_backwards(keep: Tensor, add: Tensor) -> Tensor:
    return linear_recurrence.linear_recurrence(keep.flip(-2), add.flip(-2)).flip(-2)


def without_the_present(keep: Tensor, add: Tensor) -> Tensor:
    return linear_recurrence.linear_recurrence(keep, add) - add


def steep() -> Steep:
    torch.manual_seed(0)
    return Steep(5, 7).double()


WRONG = {
    "a state not handed on": ("prop-unrolled", {"RNN": Forgetful}),
    "another slope": ("prop-bptt", {"network": steep()}),
    "a slope above one": ("prop-radius", {"RNN": Steep}),
    "update gate exchanged": ("prop-cells-torch", {"GRU": type("GRU", (Exchanged,), {})}),
    "keeps what it should replace": ("prop-carousel", {"GRU": Exchanged}),
    "no forget gate": ("prop-special", {"lstm_step": without_forgetting}),
    "from the end": ("prop-scan", {"parallel_scan": joined_backwards}),
    "the past alone": ("prop-linear-attention", {"parallel_scan": without_the_present}),
}


@pytest.mark.parametrize("label", claims(LECTURE))
def test_a_claim_holds_for_the_library_and_falls_to_a_wrong_implementation(label: str) -> None:
    holds_and_falls(LECTURE, label, WRONG, library)
