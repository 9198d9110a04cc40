import torch
from torch import Tensor

from course_lib.tiled_attention import naive_bytes, tiled_bytes


def stepped(maximum: Tensor, total: Tensor, score: Tensor) -> Tensor:
    """One score after the other."""
    for s in score:
        higher = torch.maximum(maximum, s)
        total = (maximum - higher).exp() * total + (s - higher).exp()
        maximum = higher
    return torch.stack([maximum, total])


def mended(first: Tensor, second: Tensor) -> Tensor:
    maximum = torch.maximum(first[:1], second[:1])
    unit = maximum.nan_to_num(neginf=0.0)
    sums = (first[:1] - unit).exp() * first[1:] + (second[:1] - unit).exp() * second[1:]
    return torch.cat([maximum, sums])


def counted(query: int, key: int, d: int, query_tile: int) -> Tensor:
    tiled = tiled_bytes(query, key, d, query_tile=query_tile)
    return torch.tensor([naive_bytes(query, key, d), tiled], dtype=torch.float64)


RIGHT = {
    "online_softmax": [stepped],
    "merge_partials": [mended],
    "attention_bytes": [counted],
}


def unsafe_step(maximum: Tensor, total: Tensor, score: Tensor) -> Tensor:
    higher = torch.maximum(maximum, score.max())
    whole = score.exp().sum() + (maximum.exp() * total if total else 0)
    return torch.stack([higher, whole / higher.exp()])


def blends_added(first: Tensor, second: Tensor) -> Tensor:
    return torch.cat([mended(first, second)[:2], first[2:] + second[2:]])


def unsafe_merge(first: Tensor, second: Tensor) -> Tensor:
    maximum = torch.maximum(first[:1], second[:1])
    whole = first[:1].exp() * first[1:] + second[:1].exp() * second[1:]
    return torch.cat([maximum, whole / maximum.exp()])


def without_nothing(first: Tensor, second: Tensor) -> Tensor:
    maximum = torch.maximum(first[:1], second[:1])
    sums = (first[:1] - maximum).exp() * first[1:] + (second[:1] - maximum).exp() * second[1:]
    return torch.cat([maximum, sums])


def part_of_a_tile(query: int, key: int, d: int, query_tile: int) -> Tensor:
    tiled = 4 * d * (query + key * query / query_tile)
    return torch.tensor([naive_bytes(query, key, d), tiled], dtype=torch.float64)


def table_alone(query: int, key: int, d: int, query_tile: int) -> Tensor:
    return torch.stack([torch.tensor(8.0 * query * key), counted(query, key, d, query_tile)[1]])


WRONG = {
    "online_softmax": ["maximum one more", "total doubled", unsafe_step],
    "merge_partials": [
        "first rounded",
        "answer rounded",
        blends_added,
        unsafe_merge,
        without_nothing,
    ],
    "attention_bytes": ["query_tile doubled", part_of_a_tile, table_alone],
}
