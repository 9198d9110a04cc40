r"""Calculus on a graph: the gradient along edges, its adjoint, and the metric of both.

A field on nodes is ``(nodes, d)``, one on edges ``(E, d)``; ``edges`` is ``(2, E)``, source above
target. An undirected graph stands here with **each pair once**, in either direction: an edge is an
oriented spring. With both directions every sum over edges counts twice, so that
$\delta_0^*\delta_0$ doubles.

Two inner products, $\langle f, g\rangle = \sum_i w_i\, f_i \cdot g_i$ with positive weights on
nodes and on edges, are the **metric**. Weights that are left out are 1. Bad input raises
``TypeError`` or ``ValueError`` with what was given, what was expected and what to do.
"""

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from course_lib.graph.structure import check_node_numbers
from course_lib.support.checks import check_finite, check_floating
from course_lib.support.contracts import Count, checked


@checked
def gradient(f: Float[Tensor, "nodes d"], edges: Int64[Tensor, "2 E"]) -> Float[Tensor, "E d"]:
    r"""The difference along each edge: $(\delta_0 f)_e = f_{\text{target}} - f_{\text{source}}$.

    No metric enters. A loop from a node to itself gives 0. Raises ``ValueError`` for an edge to a
    node that is not there. Source: Hirani (2003); Lim (2020), section 2.
    """
    check_node_numbers("edges", edges, len(f))
    source, target = edges
    return f[target] - f[source]


@checked
def divergence(
    g: Float[Tensor, "E d"],
    edges: Int64[Tensor, "2 E"],
    nodes: Count,
    *,
    node_weights: Float[Tensor, "nodes"] | None = None,
    edge_weights: Float[Tensor, "E"] | None = None,
) -> Float[Tensor, "nodes d"]:
    r"""The adjoint of the gradient: $\langle f, \delta_0^* g\rangle = \langle\delta_0 f, g\rangle$.

    $(\delta_0^* g)_i = \frac1{m_i}\big(\sum_{e \to i} w_e g_e - \sum_{e \leftarrow i} w_e
    g_e\big)$, with ``node_weights`` $m$ and ``edge_weights`` $w$: what flows in, less what flows
    out. The divergence of vector calculus counts the other way, and is $-\delta_0^*$. Raises
    ``ValueError`` for weights that are not positive, where the metric is singular.
    Source: Lim (2020), section 2.
    """
    check_node_numbers("edges", edges, nodes)
    check_metric(node_weights=node_weights, edge_weights=edge_weights)
    source, target = edges
    weighted = g if edge_weights is None else edge_weights[:, None] * g
    zero = g.new_zeros(nodes, g.shape[1])
    inflow = zero.index_add(0, target, weighted).index_add(0, source, -weighted)
    return inflow if node_weights is None else inflow / node_weights[:, None]


@checked
def inner(
    f: Float[Tensor, "places d"],
    g: Float[Tensor, "places d"],
    *,
    weights: Float[Tensor, "places"] | None = None,
) -> Float[Tensor, ""]:
    r"""$\langle f, g\rangle = \sum_i w_i\, f_i \cdot g_i$, on nodes or on edges."""
    check_metric(weights=weights)
    product = (f * g).sum(dim=-1)
    return (product if weights is None else weights * product).sum()


@checked
def laplacian(
    edges: Int64[Tensor, "2 E"],
    nodes: Count,
    *,
    node_weights: Float[Tensor, "nodes"] | None = None,
    edge_weights: Float[Tensor, "E"] | None = None,
    dtype: torch.dtype | None = None,
) -> Float[Tensor, "nodes nodes"]:
    r"""The matrix of $\delta_0^*\delta_0$: without weights, degrees less adjacency.

    Dense, for teaching; with both directions of each pair it is twice that. It is self-adjoint in
    the inner product of the nodes, so $ML$ is symmetric, though $L$ need not be. ``dtype`` is that
    of the weights, or the default.
    """
    metric = {"node_weights": node_weights, "edge_weights": edge_weights}
    given = {name: weights for name, weights in metric.items() if weights is not None}
    dtype = dtype or next((weights.dtype for weights in given.values()), None)
    identity = torch.eye(nodes, dtype=dtype, device=edges.device)
    check_floating(identity=identity, **given)
    return divergence(gradient(identity, edges), edges, nodes, **metric)


@checked
def eigenmodes(
    edges: Int64[Tensor, "2 E"],
    nodes: Count,
    *,
    node_weights: Float[Tensor, "nodes"] | None = None,
    edge_weights: Float[Tensor, "E"] | None = None,
    dtype: torch.dtype | None = None,
) -> tuple[Float[Tensor, "nodes"], Float[Tensor, "nodes nodes"]]:
    r"""Eigenvalues of :func:`laplacian`, ascending, and its modes, ``modes[:, k]`` the k-th.

    The modes are orthonormal in the inner product of the nodes. The eigenvalue 0 appears once for
    each connected component. Dense: time grows with the cube of the nodes.
    """
    L = laplacian(edges, nodes, node_weights=node_weights, edge_weights=edge_weights, dtype=dtype)
    root = L.new_ones(nodes) if node_weights is None else node_weights.sqrt()
    # Similar to L and symmetric, so that eigh takes it.
    symmetric = root[:, None] * L / root
    values, vectors = torch.linalg.eigh((symmetric + symmetric.T) / 2)
    return values, vectors / root[:, None]


@checked
def spectral_gap(
    edges: Int64[Tensor, "2 E"],
    nodes: Count,
    *,
    node_weights: Float[Tensor, "nodes"] | None = None,
    edge_weights: Float[Tensor, "E"] | None = None,
    dtype: torch.dtype | None = None,
) -> Float[Tensor, ""]:
    r"""The second eigenvalue of :func:`laplacian`: the rate at which heat evens out.

    Raises ``ValueError`` for a graph in several components, or of one node, since the second
    eigenvalue is then 0 or missing.
    """
    count = len(components(edges, nodes).unique())
    if nodes <= 1 or count > 1:
        raise ValueError(
            f"the graph has {nodes} nodes in {count} components; expected two nodes or more, all "
            "connected, or no one rate exists; take each component alone"
        )
    values, _ = eigenmodes(
        edges, nodes, node_weights=node_weights, edge_weights=edge_weights, dtype=dtype
    )
    return values[1]


@checked
def components(edges: Int64[Tensor, "2 E"], nodes: Count) -> Int64[Tensor, "nodes"]:
    """The connected component of each node, numbered from 0."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    check_node_numbers("edges", edges, nodes)
    if nodes == 0:
        return edges.new_zeros(0)
    source, target = edges.cpu().numpy()
    links = coo_array((source >= 0, (source, target)), shape=(nodes, nodes))
    _, labels = connected_components(links, directed=False)
    return torch.from_numpy(labels).to(edges)


@checked
def equilibrium(
    h: Float[Tensor, "nodes d"],
    edges: Int64[Tensor, "2 E"],
    *,
    node_weights: Float[Tensor, "nodes"] | None = None,
) -> Float[Tensor, "nodes d"]:
    r"""Where heat comes to rest: at every node the weighted mean of its component.

    The projection on the kernel of $\delta_0$. The weights of the edges change the rate only.
    """
    check_metric(node_weights=node_weights)
    label = components(edges, len(h))
    m = torch.ones_like(h[:, :1]) if node_weights is None else node_weights[:, None]
    total = torch.zeros_like(h).index_add(0, label, m * h)
    mass = torch.zeros_like(m).index_add(0, label, m)
    return total[label] / mass[label]


@checked
def hodge_decomposition(
    g: Float[Tensor, "E d"],
    edges: Int64[Tensor, "2 E"],
    nodes: Count,
    *,
    edge_weights: Float[Tensor, "E"] | None = None,
) -> tuple[Float[Tensor, "nodes d"], Float[Tensor, "E d"]]:
    r"""A potential $f$ and a rest in cycles, $r$: $g = \delta_0 f + r$ with $\delta_0^* r = 0$.

    The two parts are orthogonal in the metric of the edges; the metric of the nodes does not
    matter. $f$ sums to 0 on each component, and a tree has $r = 0$. Dense, for teaching.
    Source: Jiang, Lim, Yao and Ye (2011).
    """
    source = divergence(g, edges, nodes, edge_weights=edge_weights)
    L = laplacian(edges, nodes, edge_weights=edge_weights, dtype=g.dtype)
    f = torch.linalg.pinv(L, hermitian=True) @ source
    return f, g - gradient(f, edges)


@checked
def dirichlet_energy(
    h: Float[Tensor, "nodes d"],
    edges: Int64[Tensor, "2 E"],
    *,
    weights: Float[Tensor, "E"] | None = None,
) -> Float[Tensor, ""]:
    r"""How far neighbours differ: $\frac12\|\delta_0 h\|^2 = \frac12\sum_e w_e |h_j - h_i|^2$.

    0 for a field that is constant on each component, and only then. Its gradient, in the inner
    product of the nodes, is $\delta_0^*\delta_0 h$.
    """
    difference = gradient(h, edges)
    return inner(difference, difference, weights=weights) / 2


@checked
def attention_metric(
    score: Float[Tensor, "E"], pairs: Int64[Tensor, "2 E"], nodes: Count
) -> tuple[Float[Tensor, "nodes"], Float[Tensor, "E"]]:
    r"""The metric that makes attention a Laplacian: weights of nodes, $Z_i$, and of edges, $e^a$.

    ``score`` holds one $a_{ij} = a_{ji}$ for each pair, ``pairs`` each pair once. With
    $Z_i = \sum_{j \sim i} e^{a_{ij}}$ and the softmax over neighbours $\alpha_{ij} =
    e^{a_{ij}}/Z_i$, exactly $-(\delta_0^*\delta_0 h)_i = \sum_{j \sim i}
    \alpha_{ij}(h_j - h_i)$. With both directions of each pair as edges, halve the edge weights.
    Only ratios count, so the largest $e^a$ is scaled to 1. A node without neighbours gets weight 1;
    any would do.

    Other attention is no Laplacian of any weights, unless the product of $\alpha$ around each cycle
    is the same both ways (Kolmogorov's criterion). Raises ``ValueError`` for scores that are not
    finite, or so far apart that the smallest $e^a$ is 0 in their dtype. Source: Gruber, Lee and
    Trask (2023).
    """
    check_node_numbers("pairs", pairs, nodes)
    check_finite(score=score)
    edge_weights = (score - score.amax()).exp() if score.numel() else score
    if (edge_weights == 0).any():
        raise ValueError(
            f"score runs from {score.amin().item():g} to {score.amax().item():g}, so that an edge "
            f"weighs 0 in {score.dtype}, a singular metric; expected scores closer together; leave "
            "such pairs out, or raise the temperature"
        )
    source, target = pairs
    once = torch.where(source == target, 0, edge_weights)
    total = score.new_zeros(nodes).index_add(0, target, edge_weights).index_add(0, source, once)
    return torch.where(total == 0, 1, total), edge_weights


# Checks ---------------------------------------------------------------------------------------


@checked
def check_edges(edges: Int64[Tensor, "2 E"], nodes: Count | None = None) -> None:
    """Raise unless ``edges`` lead between the nodes; ``None`` if their number is not known."""
    check_node_numbers("edges", edges, nodes)


def check_metric(**metric: Tensor | None) -> None:
    """Raise ``ValueError`` unless all weights, each of which may be ``None``, are above 0."""
    for name, weights in metric.items():
        if weights is not None and not (weights.isfinite() & (weights > 0)).all():
            raise ValueError(
                f"{name} holds {weights[~(weights > 0) | ~weights.isfinite()][0].item():g}, a "
                "singular metric; expected finite numbers above 0; leave out edges that should "
                "not count"
            )
