r"""Recurrence: read a sequence one token at a time, and keep what matters in a state of fixed size.

The module reads in the order of lecture 4. First one step of each cell, one function a formula: the
plain network, then the two that put gates on its memory, GRU and LSTM. Then the layers that repeat
a step along a sequence, always with the same weights. Last come linear recurrences, whose steps can
be joined in any grouping.

A step gets the two sums that it combines, one from the new token and one from the hidden state,
``from_input`` $W_{ih}x + b_{ih}$ and ``from_hidden`` $W_{hh}h + b_{hh}$. So the body of a step is
its formula, and a layer computes ``from_input`` for the whole sequence at once. A cell with gates
stacks the sums of its gates along the last axis, in the order of their named tuple.

Sequences are rows, ``(*batch, tokens, d_in)``. A state is ``(*batch, d_hidden)``; that of an LSTM
is a pair of these, the hidden and the cell state. ``torch.nn`` puts an axis of layers in front of a
state, ``(1, batch, d_hidden)``: ``state.unsqueeze(0)`` and ``state.squeeze(0)`` convert. Parameters
have the names, shapes and meaning of a ``torch.nn`` layer with ``batch_first``, so that
``load_state_dict`` works both ways. Bad input raises ``TypeError`` or ``ValueError`` with what was
given, what was expected and what to do.
"""

import math
from typing import ClassVar, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from course_lib.support.checks import check_shapes, check_size
from course_lib.support.contracts import Size, checked

# One step, one formula -----------------------------------------------------------------------


class GRUGates(NamedTuple):
    """The reset and the update gate, in (0, 1), and the candidate for a new state, in (-1, 1)."""

    reset: Tensor
    update: Tensor
    candidate: Tensor


class LSTMGates(NamedTuple):
    """The input and forget gates, the candidate for the cell in (-1, 1), and the output gate."""

    input: Tensor
    forget: Tensor
    candidate: Tensor
    output: Tensor


@checked
def rnn_step(
    from_input: Float[Tensor, "*batch d_hidden"], from_hidden: Float[Tensor, "*batch d_hidden"]
) -> Float[Tensor, "*batch d_hidden"]:
    r"""The next hidden state of a plain network: $h' = \tanh(W_{ih}x + b_{ih} + W_{hh}h + b_{hh})$.

    The two sums are given; see :class:`RNN`. Source: Elman (1990).
    """
    return (from_input + from_hidden).tanh()


@checked
def gru_gates(
    from_input: Float[Tensor, "*batch stacked"], from_hidden: Float[Tensor, "*batch stacked"]
) -> GRUGates:
    r"""The gates of a GRU: $r = \sigma(a_r + b_r)$, $z = \sigma(a_z + b_z)$, and a candidate $n$.

    $a$ is ``from_input`` and $b$ is ``from_hidden``, each stacked in the order $r, z, n$. The reset
    gate decides how much of the past the candidate sees: $n = \tanh(a_n + r \odot b_n)$. Each gate
    is ``(*batch, d_hidden)``, where ``stacked`` is 3 ``d_hidden``.
    Source: Cho et al. (2014), eqs. 5, 6 and 8; $r$ acts after the matrix, as in ``torch.nn.GRU``.
    """
    _check_stacked(from_input, GRUGates)
    a, b = (GRUGates(*sums.chunk(3, dim=-1)) for sums in (from_input, from_hidden))
    reset = (a.reset + b.reset).sigmoid()
    update = (a.update + b.update).sigmoid()
    candidate = (a.candidate + reset * b.candidate).tanh()
    return GRUGates(reset, update, candidate)


@checked
def gru_step(
    from_input: Float[Tensor, "*batch stacked"],
    from_hidden: Float[Tensor, "*batch stacked"],
    hidden: Float[Tensor, "*batch d_hidden"],
) -> Float[Tensor, "*batch d_hidden"]:
    r"""The next hidden state of a GRU: $h' = (1 - z) \odot n + z \odot h$.

    The gates are those of :func:`gru_gates`: an update gate $z$ at 1 keeps the state as it is.
    Source: Cho et al. (2014), eq. 7.
    """
    gate = gru_gates(from_input, from_hidden)
    check_shapes(gate=(gate.update, "*batch d_hidden"), hidden=(hidden, "*batch d_hidden"))
    return (1 - gate.update) * gate.candidate + gate.update * hidden


@checked
def lstm_gates(
    from_input: Float[Tensor, "*batch stacked"], from_hidden: Float[Tensor, "*batch stacked"]
) -> LSTMGates:
    r"""Gates of an LSTM: $i, f, o = \sigma(a + b)$ and the candidate $g = \tanh(a_g + b_g)$.

    $a$ is ``from_input`` and $b$ is ``from_hidden``, each stacked in the order $i, f, g, o$. Each
    gate is ``(*batch, d_hidden)``, where ``stacked`` is 4 ``d_hidden``.
    Source: Gers, Schmidhuber and Cummins (2000), who added the forget gate $f$ to the LSTM of
    Hochreiter and Schmidhuber (1997).
    """
    _check_stacked(from_input, LSTMGates)
    i, f, g, o = (from_input + from_hidden).chunk(4, dim=-1)
    return LSTMGates(i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid())


@checked
def lstm_step(
    from_input: Float[Tensor, "*batch stacked"],
    from_hidden: Float[Tensor, "*batch stacked"],
    cell: Float[Tensor, "*batch d_hidden"],
) -> tuple[Float[Tensor, "*batch d_hidden"], Float[Tensor, "*batch d_hidden"]]:
    r"""The next states of an LSTM, $h' = o \odot \tanh c'$ and $c' = f \odot c + i \odot g$.

    Returns the pair (hidden, cell). The gates are those of :func:`lstm_gates`. They see of the cell
    only the hidden state, which is what the output gate let through one step earlier.
    Source: Gers, Schmidhuber and Cummins (2000).
    """
    gate = lstm_gates(from_input, from_hidden)
    check_shapes(gate=(gate.forget, "*batch d_hidden"), cell=(cell, "*batch d_hidden"))
    cell = gate.forget * cell + gate.input * gate.candidate
    return gate.output * cell.tanh(), cell


# The same step along a sequence --------------------------------------------------------------


class _Recurrent(nn.Module):
    """The four parameters of every cell, whose step combines ``sums`` stacked sums."""

    sums: ClassVar[int]

    @checked
    def __init__(self, d_in: Size, d_hidden: Size) -> None:
        super().__init__()
        self.d_in, self.d_hidden = d_in, d_hidden
        rows = self.sums * d_hidden
        self.weight_ih_l0 = nn.Parameter(torch.empty(rows, d_in))
        self.weight_hh_l0 = nn.Parameter(torch.empty(rows, d_hidden))
        self.bias_ih_l0 = nn.Parameter(torch.empty(rows))
        self.bias_hh_l0 = nn.Parameter(torch.empty(rows))
        bound = 1 / math.sqrt(d_hidden)
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -bound, bound)

    def extra_repr(self) -> str:
        """The sizes, for ``print(model)``."""
        return f"d_in={self.d_in}, d_hidden={self.d_hidden}"

    @checked
    def from_input(
        self, x: Float[Tensor, "*batch tokens d_in"]
    ) -> Float[Tensor, "*batch tokens stacked"]:
        """What every token adds to the sums of its step, for the whole sequence at once."""
        check_size("tokens, the length of the sequence x", x.shape[-2])
        return F.linear(x, self.weight_ih_l0, self.bias_ih_l0)

    @checked
    def from_hidden(
        self, hidden: Float[Tensor, "*batch d_hidden"]
    ) -> Float[Tensor, "*batch stacked"]:
        """What the hidden state adds to the sums of a step."""
        return F.linear(hidden, self.weight_hh_l0, self.bias_hh_l0)

    def _zeros(self, x: Tensor) -> Tensor:
        """The state before the first token, unless one is given."""
        return x.new_zeros(*x.shape[:-2], self.d_hidden)


class RNN(_Recurrent):
    r"""A plain recurrent network: :func:`rnn_step` along a sequence.

    $h_t = \tanh(W_{ih}x_t + b_{ih} + W_{hh}h_{t-1} + b_{hh})$. Parameters: ``weight_ih_l0`` of
    shape ``(d_hidden, d_in)``, ``weight_hh_l0`` ``(d_hidden, d_hidden)``, ``bias_ih_l0`` and
    ``bias_hh_l0``, of which only the sum matters. Equal to ``torch.nn.RNN`` with the same
    parameters. Raises ``ValueError`` for an empty sequence, for other features than ``d_in``, and
    for a state that does not fit. Source: Elman (1990).
    """

    sums = 1

    @checked
    def forward(
        self,
        x: Float[Tensor, "*batch tokens d_in"],
        state: Float[Tensor, "*batch d_hidden"] | None = None,
    ) -> tuple[Float[Tensor, "*batch tokens d_hidden"], Float[Tensor, "*batch d_hidden"]]:
        """The hidden state after every token, and after the last one; it starts at zero."""
        from_input = self.from_input(x)
        hidden = self._zeros(x) if state is None else state
        outputs = []
        for token in from_input.unbind(dim=-2):
            hidden = rnn_step(token, self.from_hidden(hidden))
            outputs.append(hidden)
        return torch.stack(outputs, dim=-2), hidden


class GRU(_Recurrent):
    r"""A gated recurrent unit: :func:`gru_step` along a sequence.

    Parameters are those of :class:`RNN` with three times the rows, for the sums of reset gate,
    update gate and candidate. The candidate's two biases differ in effect, since the reset gate
    acts on one of them. Equal to ``torch.nn.GRU`` with the same parameters; errors as
    in :class:`RNN`. Source: Cho et al. (2014), section 2.3.
    """

    sums = len(GRUGates._fields)

    @checked
    def forward(
        self,
        x: Float[Tensor, "*batch tokens d_in"],
        state: Float[Tensor, "*batch d_hidden"] | None = None,
    ) -> tuple[Float[Tensor, "*batch tokens d_hidden"], Float[Tensor, "*batch d_hidden"]]:
        """The hidden state after every token, and after the last one; it starts at zero."""
        from_input = self.from_input(x)
        hidden = self._zeros(x) if state is None else state
        outputs = []
        for token in from_input.unbind(dim=-2):
            hidden = gru_step(token, self.from_hidden(hidden), hidden)
            outputs.append(hidden)
        return torch.stack(outputs, dim=-2), hidden


class LSTM(_Recurrent):
    r"""A long short-term memory: :func:`lstm_step` along a sequence.

    Parameters are those of :class:`RNN` with four times the rows, for the sums of input gate,
    forget gate, candidate and output gate. Equal to ``torch.nn.LSTM`` with the same parameters;
    errors as in :class:`RNN`, and ``TypeError`` for a state that is no pair.
    Source: Gers, Schmidhuber and Cummins (2000).
    """

    sums = len(LSTMGates._fields)

    @checked
    def forward(
        self,
        x: Float[Tensor, "*batch tokens d_in"],
        state: tuple[Float[Tensor, "*batch d_hidden"], Float[Tensor, "*batch d_hidden"]]
        | None = None,
    ) -> tuple[
        Float[Tensor, "*batch tokens d_hidden"],
        tuple[Float[Tensor, "*batch d_hidden"], Float[Tensor, "*batch d_hidden"]],
    ]:
        """The hidden state after every token, and the pair (hidden, cell) after the last one.

        ``state`` is such a pair, zeros if it is not given.
        """
        from_input = self.from_input(x)
        hidden, cell = [self._zeros(x)] * 2 if state is None else state
        outputs = []
        for token in from_input.unbind(dim=-2):
            hidden, cell = lstm_step(token, self.from_hidden(hidden), cell)
            outputs.append(hidden)
        return torch.stack(outputs, dim=-2), (hidden, cell)


# Steps that can be joined in any grouping ------------------------------------------------------


@checked
def linear_recurrence(
    keep: Float[Tensor, "*batch tokens d"], add: Float[Tensor, "*batch tokens d"]
) -> Float[Tensor, "*batch tokens d"]:
    r"""The states $h_t = a_t \odot h_{t-1} + b_t$ from $h_0 = 0$, one after the other.

    ``keep`` is $a$ and ``add`` is $b$. Raises ``ValueError`` for an empty sequence.
    """
    check_size("tokens, the length of the sequence", add.shape[-2])
    state, states = torch.zeros_like(add[..., 0, :]), []
    for a, b in zip(keep.unbind(-2), add.unbind(-2), strict=True):
        state = a * state + b
        states.append(state)
    return torch.stack(states, dim=-2)


@checked
def parallel_scan(
    keep: Float[Tensor, "*batch tokens d"], add: Float[Tensor, "*batch tokens d"]
) -> Float[Tensor, "*batch tokens d"]:
    r"""The same states in $\lceil \log_2 T \rceil$ rounds, each of which joins all steps at once.

    After a round with the stride $s$ each place holds the joint step of the $2s$ tokens that end
    there. Where a product of many $a$ overflows, the states are computed one after the other.
    Errors are those of :func:`linear_recurrence`.
    Source: Hillis and Steele (1986); for recurrent networks, Martin and Cundy (2018).
    """
    check_size("tokens, the length of the sequence", add.shape[-2])
    stride, tokens, given = 1, keep.shape[-2], (keep, add)
    while stride < tokens:
        earlier = (0, 0, stride, -stride)
        add = keep * F.pad(add, earlier) + add
        keep = keep * F.pad(keep, earlier, value=1.0)
        stride *= 2
    return add if math.isfinite(add.detach().sum().item()) else linear_recurrence(*given)


class MinGRU(nn.Module):
    r"""A GRU whose gate and candidate depend on the token alone, so it can be scanned.

    $z_t = \sigma(W_z x_t + b_z)$, $n_t = W_n x_t + b_n$ and
    $h_t = (1 - z_t) \odot n_t + z_t \odot h_{t-1}$. As in :class:`course_lib.recurrent.GRU` an
    update gate of 1 keeps the state; the paper has $1 - z$ for our $z$. The state starts at 0.
    Raises ``ValueError`` for an empty sequence and for other features than ``d_in``.
    Source: Feng et al. (2024), section 3.1.
    """

    @checked
    def __init__(self, d_in: Size, d_hidden: Size) -> None:
        super().__init__()
        self.d_in, self.d_hidden = d_in, d_hidden
        self.update = nn.Linear(d_in, d_hidden)
        self.candidate = nn.Linear(d_in, d_hidden)

    @checked
    def forward(
        self, x: Float[Tensor, "*batch tokens d_in"]
    ) -> Float[Tensor, "*batch tokens d_hidden"]:
        """The state after every token."""
        update = self.update(x).sigmoid()
        return parallel_scan(update, (1 - update) * self.candidate(x))


# What the functions above share ---------------------------------------------------------------


def _check_stacked(from_input: Tensor, gates: type[tuple]) -> None:
    """Raise unless there are equally many sums for each of the ``gates``."""
    names = gates._fields
    if from_input.shape[-1] % len(names):
        raise ValueError(
            f"from_input has shape {tuple(from_input.shape)}; expected (*batch, {len(names)} * "
            f"d_hidden), the sums of {', '.join(names)}; join them with torch.cat(..., dim=-1)"
        )
