"""What a computation carries: the bytes its operators move, and what it keeps for backward."""

import weakref
from collections.abc import Callable
from typing import Any

from torch import Tensor
from torch.autograd.graph import saved_tensors_hooks
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


class TrafficMeter(TorchDispatchMode):
    """Counts the ``bytes`` that operators read and write, and the entries of what they make.

    ``largest`` is the size of the largest array, ``most`` that of all arrays that exist at a time.
    ``with TrafficMeter() as meter: ...`` sees every operator of PyTorch, each as if it read all
    its arrays from memory and wrote all its results there. A view, such as a transpose, moves
    nothing. Source: Williams, Waterman and Patterson (2009), section 3.
    """

    bytes: int = 0
    largest: int = 0
    most: int = 0
    _alive: int = 0

    def __torch_dispatch__(
        self, operator: Any, types: Any, args: tuple = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Run one operator, and add up what it takes and gives."""
        result = operator(*args, **(kwargs or {}))
        if not operator.is_view:
            read, made = _tensors((args, kwargs)), _tensors(result)
            self.bytes += sum(x.numel() * x.element_size() for x in read + made)
            for x in made:
                if not any(x is other for other in read):  # what is changed in place is not new
                    self._count(x.numel())
                    weakref.finalize(x, self._count, -x.numel())
        return result

    def _count(self, entries: int) -> None:
        self._alive += entries
        self.largest, self.most = max(self.largest, entries), max(self.most, self._alive)


def kept_entries(way: Callable[..., Any], *inputs: Tensor) -> int:
    """The entries of all arrays that ``way(*inputs)`` keeps for backward, each counted once."""
    kept: dict[int, Tensor] = {}

    def keep(x: Tensor) -> Tensor:
        kept[x.data_ptr()] = x
        return x

    with saved_tensors_hooks(keep, lambda x: x):
        way(*(x.detach().requires_grad_() for x in inputs))
    return sum(x.numel() for x in kept.values())


def _tensors(tree: Any) -> list[Tensor]:
    return [x for x in tree_leaves(tree) if isinstance(x, Tensor)]
