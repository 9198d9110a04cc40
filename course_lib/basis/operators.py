r"""Networks that learn a map from functions to functions, to compare with a cross-attention field.

All are called as :class:`course_lib.basis.CrossAttentionField` is: ``network(x, place, z)``,
with points ``(batch, points)``, the places of sensors ``(batch, sensors)`` and what they measured,
``(batch, sensors, d_z)``, to the solution at the points. :class:`DeepONet` and
:class:`FourierOperator` are made for one set of sensors, and their answers do not depend on
``place``. :func:`train_operator` trains any of them, and :func:`relative_errors` compares any
solution with the true one.
"""

import math
from collections.abc import Iterable
from functools import partial
from itertools import pairwise

import torch
from einops import einsum, rearrange
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F
from torch.optim import AdamW, Optimizer

from course_lib.basis.hats import check_nodes, hat
from course_lib.support.contracts import NotNegative, Positive, Size, checked
from course_lib.support.training import fit, one_cycle

Batch = tuple[Tensor, Tensor, Tensor, Tensor]
"""Points, places of sensors, what they measured, and the solution at the points."""


@checked
def spline_matrix(
    x: Float[Tensor, "points"], nodes: Float[Tensor, "nodes"]
) -> Float[Tensor, "points nodes"]:
    """The weights of the cubic spline through nodal values, which are neither positive nor local.

    A drop-in for :func:`course_lib.basis.hat`; between the last two nodes on either side the cubic
    is one and the same (*not a knot*). Needs four nodes. Source: SciPy's ``CubicSpline``.
    """
    from scipy.interpolate import CubicSpline

    check_nodes(nodes, minimum=4)
    one = torch.eye(len(nodes), dtype=torch.float64)
    return torch.as_tensor(CubicSpline(nodes.double().numpy(), one.numpy())(x.numpy())).to(nodes)


# Networks -------------------------------------------------------------------------------------


class DeepONet(nn.Module):
    r"""Learned functions blended by learned numbers: $u(x \mid z) = \sum_j b_j(z)\, t_j(x) + b_0$.

    The branch net turns all that was measured into the numbers $b_j$, the trunk net the point $x$
    into the functions $t_j$: a basis for all inputs, as finite elements have one. Both are
    perceptrons with ``layers`` hidden layers of ``width``. Source: Lu et al. (2021), eq. 2.
    """

    @checked
    def __init__(self, sensors: Size, *, d_z: Size = 1, width: Size = 64, layers: Size = 2) -> None:
        super().__init__()
        self.sensors, self.d_z = sensors, d_z
        self.branch = _perceptron(sensors * d_z, width, layers)
        self.trunk = _perceptron(1, width, layers)
        self.bias = nn.Parameter(torch.zeros(()))

    @checked
    def forward(
        self,
        x: Float[Tensor, "batch points"],
        place: Float[Tensor, "batch sensors"],  # noqa: ARG002 - the sensors stay where they are
        z: Float[Tensor, "batch sensors d_z"],
    ) -> Float[Tensor, "batch points"]:
        """The solution at the points ``x``."""
        coefficient = self.branch(rearrange(z, "batch sensors d_z -> batch (sensors d_z)"))
        function = self.trunk(2 * x[..., None] - 1)
        blend = einsum(coefficient, function, "batch j, batch points j -> batch points")
        return blend / math.sqrt(coefficient.shape[-1]) + self.bias


class FourierOperator(nn.Module):
    r"""Fourier neural operator: layers $v \mapsto \sigma(W v + \mathcal F^{-1} R\,\mathcal F v)$.

    $\mathcal F$ is the discrete Fourier transform on a ``grid`` of equal steps over the sensors'
    interval, and $R$ multiplies each of its lowest ``modes`` by a matrix of its own; all others are
    cut off. A cubic spline interpolates measurements to the grid, and hats the solution from there
    to the points. As the rod is not periodic, the grid is padded by a quarter of zeros. Raises
    ``ValueError`` for more modes than half of that. Source: Li et al. (2021), eqs. 4, 5.
    """

    @checked
    def __init__(
        self,
        sensors: Float[Tensor, "sensors"],
        *,
        d_z: Size = 1,
        width: Size = 16,
        modes: Size = 12,
        layers: Size = 4,
        grid: Size = 64,
    ) -> None:
        super().__init__()
        check_nodes(sensors, minimum=4)
        self.sensors, self.d_z, self.modes, self.grid = len(sensors), d_z, modes, grid
        self.length = grid + grid // 4
        if modes > self.length // 2:
            raise ValueError(
                f"modes is {modes}; expected at most {self.length // 2}, half of the {grid} places "
                "of the grid and the zeros after it; take fewer modes or a finer grid"
            )
        nodes = torch.linspace(sensors[0].item(), sensors[-1].item(), grid, dtype=sensors.dtype)
        self.register_buffer("nodes", nodes)
        self.register_buffer("to_grid", spline_matrix(nodes, sensors))
        self.lift = nn.Linear(d_z + 1, width)
        self.mixed = nn.ModuleList(nn.Linear(width, width) for _ in range(layers))
        # Complex numbers as pairs, so that optimizers and counts of parameters see real ones.
        shape = (layers, modes, width, width, 2)
        self.spectral = nn.Parameter(torch.randn(shape) / math.sqrt(2) / width)
        self.project = nn.Sequential(
            nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, 1)
        )

    @checked
    def forward(
        self,
        x: Float[Tensor, "batch points"],
        place: Float[Tensor, "batch sensors"],  # noqa: ARG002 - the sensors stay where they are
        z: Float[Tensor, "batch sensors d_z"],
    ) -> Float[Tensor, "batch points"]:
        """The solution at the points ``x``."""
        on_grid = self.on_grid(z)
        weights = hat(x.flatten(), self.nodes).unflatten(0, x.shape)
        return einsum(weights, on_grid, "batch points grid, batch grid -> batch points")

    @checked
    def on_grid(self, z: Float[Tensor, "batch sensors d_z"]) -> Float[Tensor, "batch grid"]:
        """The solution at the places of the grid."""
        v = einsum(self.to_grid, z, "grid sensors, batch sensors d_z -> batch grid d_z")
        where = self.nodes[:, None].expand(len(z), -1, 1)
        v = F.pad(
            self.lift(torch.cat([v, where], dim=-1)), (0, 0, 0, self.length - len(self.nodes))
        )
        for layer, (mixed, spectral) in enumerate(zip(self.mixed, self.spectral, strict=True)):
            v = mixed(v) + self._convolved(v, torch.view_as_complex(spectral))
            v = F.gelu(v) if layer < len(self.mixed) - 1 else v
        return self.project(v[:, : len(self.nodes)])[..., 0]

    def _convolved(self, v: Tensor, spectral: Tensor) -> Tensor:
        low = torch.fft.rfft(v, dim=1)[:, : self.modes]
        turned = einsum(low, spectral, "batch mode d, mode d e -> batch mode e")
        return torch.fft.irfft(turned, n=self.length, dim=1)


# Training and judging -------------------------------------------------------------------------


@checked
def relative_errors(
    answer: Float[Tensor, "*batch points"], truth: Float[Tensor, "*batch points"]
) -> Float[Tensor, "*batch"]:
    r"""$\lVert u - \hat u \rVert / \lVert u \rVert$ of each solution; all points count alike.

    Raises ``ValueError`` for a solution that is 0 everywhere.
    """
    size = truth.norm(dim=-1)
    if not (size > 0).all():
        raise ValueError(
            "truth holds a solution that is 0 everywhere; expected a norm above 0 to divide by; "
            "leave it out"
        )
    return (answer - truth).norm(dim=-1) / size


@checked
def muon_and_adamw(
    network: nn.Module,
    inner: tuple[str, ...],
    *,
    muon_rate: Positive = 0.01,
    adamw_rate: Positive = 2e-3,
    weight_decay: NotNegative = 1e-3,
) -> list[Optimizer]:
    """Muon for the matrices whose names end as one of ``inner``, AdamW for all else.

    Muon replaces the step of a matrix by the nearest one that stretches all directions alike; it
    does not suit biases and the first and last layers. Raises ``ValueError`` where no name ends so.
    Source: Jordan et al. (2024).
    """
    from torch.optim import Muon

    within = {name: p for name, p in network.named_parameters() if name.endswith(inner)}
    if not within:
        raise ValueError(
            f"inner is {inner}; expected ends of names among "
            f"{[name for name, _ in network.named_parameters()]}; name a matrix"
        )
    rest = [p for name, p in network.named_parameters() if name not in within]
    return [
        Muon(list(within.values()), lr=muon_rate, weight_decay=weight_decay),
        AdamW(rest, lr=adamw_rate, weight_decay=weight_decay, foreach=True),
    ]


def train_operator(
    network: nn.Module,
    batches: Iterable[Batch],
    *,
    steps: int,
    learning_rate: float = 3e-3,
    inner: tuple[str, ...] = (),
    muon_rate: float = 0.01,
    progress: bool = True,
) -> list[float]:
    """Train ``network`` on the mean of :func:`relative_errors`; return the loss of each step.

    A batch is ``(x, place, z, u)``. AdamW moves the parameters, and where ``inner`` names matrices,
    Muon moves these (:func:`muon_and_adamw`). ``learning_rate`` is AdamW's. The rates rise and fall
    as :func:`course_lib.support.training.one_cycle` says.
    """

    def both(_: object, lr: float) -> list[Optimizer]:
        return muon_and_adamw(network, inner, muon_rate=muon_rate, adamw_rate=lr)

    def loss(network: nn.Module, batch: Batch) -> Tensor:
        *asked, truth = batch
        return relative_errors(network(*asked), truth).mean()

    return fit(
        network,
        loss,
        batches,
        steps=steps,
        learning_rate=learning_rate,
        optimizer=both if inner else partial(AdamW, foreach=True),
        schedule=one_cycle,
        clip=1.0,
        progress=progress,
    )


# What the networks share ----------------------------------------------------------------------


def _perceptron(d_in: int, width: int, layers: int) -> nn.Sequential:
    """``layers`` hidden layers of ``width``, each followed by GELU, and a linear one at the end."""
    sizes = [d_in, *[width] * layers]
    hidden = [
        piece
        for before, after in pairwise(sizes)
        for piece in (nn.Linear(before, after), nn.GELU())
    ]
    return nn.Sequential(*hidden, nn.Linear(width, width))
