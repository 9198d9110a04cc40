import numpy as np
from torch import Tensor
from torch.nn import functional as F

from course_lib import attention


def numpy_softmax(score: Tensor) -> np.ndarray:
    score = score.numpy()
    grown = np.exp(score - score.max(axis=-1, keepdims=True))
    return grown / grown.sum(axis=-1, keepdims=True)


RIGHT = {
    "softmax": [lambda score: score.double().softmax(-1), numpy_softmax],
    "soft_lookup": [
        lambda q, k, v: (k @ q).softmax(0) @ v,
        lambda q, k, v: attention.attention(q[None], k, v, scale=1.0)[0],
    ],
    "hard_lookup": [lambda q, k, v: v[(k @ q).argmax()]],
}

WRONG = {
    "softmax": [
        "score squared",
        "score doubled",
        lambda score: score.exp() / score.exp().sum(-1, keepdim=True),
    ],
    "soft_lookup": [
        "query one more",
        lambda q, k, v: v[(k @ q).argmax()],
        lambda q, k, v: (k @ q - (k @ q).mean() + 1 / len(k)) @ v,
        "keys off by one",
        lambda q, k, v: F.cosine_similarity(k, q, dim=-1).softmax(0) @ v,
    ],
    "hard_lookup": [
        lambda q, k, v: (k @ q).softmax(0) @ v,
        "query negated",
        lambda q, k, v: v[(k - q).norm(dim=-1).argmin()],
        lambda q, k, v: v[(k[:2] @ q).argmax()],
    ],
}
