r"""Six ways to stack layers, to see what depth does to signals and gradients.

A layer is an :class:`~course_lib.transformer.MLP` $f$, bare or with a norm, a residual connection,
or both. ``scripts/data/train_deep_stacks.py`` trains some of them, 60 layers deep;
``data/spelling.md`` says where the results are.
"""

from typing import Literal, get_args

import torch
from jaxtyping import Float
from torch import Tensor, nn

from course_lib.support.contracts import Size, checked
from course_lib.transformer import MLP

Kind = Literal["bare", "bare, tuned", "norm only", "way around only", "post-norm", "pre-norm"]
KINDS = get_args(Kind)
EDGE_OF_CHAOS = 1.5


class StackedLayer(nn.Module):
    r"""An MLP $f$, bare, with a norm, with a residual connection, or with both.

    All are initialized as PyTorch does, except ``"bare, tuned"``: its biases are zero and its
    weights normal with variance 1.5 over the number of inputs. For GELU that is about the edge
    between stacks that shrink differences and stacks that amplify them. Source: Poole et al. (2016)
    for the edge.
    """

    @checked
    def __init__(self, kind: Kind, d: Size) -> None:
        super().__init__()
        self.d = d
        self.kind = kind
        self.f = MLP(d, 2 * d)
        self.norm = nn.LayerNorm(d)
        if kind == "bare, tuned":
            for linear in (self.f.expand, self.f.contract):
                nn.init.normal_(linear.weight, std=(EDGE_OF_CHAOS / linear.in_features) ** 0.5)
                nn.init.zeros_(linear.bias)

    @checked
    def forward(self, x: Float[Tensor, "*batch d"]) -> Float[Tensor, "*batch d"]:
        """Return the output of a layer of this kind."""
        match self.kind:
            case "norm only":
                return self.f(self.norm(x))
            case "way around only":
                return x + self.f(x)
            case "post-norm":
                return self.norm(x + self.f(x))
            case "pre-norm":
                return x + self.f(self.norm(x))
            case _:
                return self.f(x)


@checked
def deep_stack(kind: Kind, layers: Size, d: Size) -> nn.Sequential:
    """Stack ``layers`` layers of one kind."""
    return nn.Sequential(*(StackedLayer(kind, d) for _ in range(layers)))


def birth(layers: nn.Sequential, d: int = 32) -> tuple[float, float]:
    r"""How different tokens still are after an untrained stack, and its first gradient.

    The first is $\lVert y - \bar y \rVert / \lVert y \rVert$ for 256 random tokens, the second the
    norm of the gradient for the parameters of the first layer, back from a random covector.
    """
    x, covector = torch.randn(2, 256, d, generator=torch.Generator().manual_seed(0)).to(
        layers[0].norm.weight
    )
    output = layers(x)
    (output * covector).sum().backward()
    left = (output - output.mean(0)).norm() / output.norm()
    gradient = torch.stack([p.grad.norm() for p in layers[0].f.parameters()]).norm()
    return left.item(), gradient.item()


def middle_letter_model(kind: Kind, layers: Size, d: Size) -> nn.Sequential:
    """Map the four letters around a letter, one-hot (4 x 26), to the logits of that letter."""
    model = nn.Sequential(
        nn.Linear(4 * 26, d), deep_stack(kind, layers, d), nn.LayerNorm(d), nn.Linear(d, 26)
    )
    with torch.no_grad():
        model[0].weight.mul_(4)  # so that letters start out as large as the layers expect
    return model
