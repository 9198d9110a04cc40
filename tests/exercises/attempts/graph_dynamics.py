from course_lib import graph_dynamics as library

RIGHT = {
    "graph_gradient": [library.gradient],
    "graph_divergence": [
        lambda g, edges, nodes, m, w: library.divergence(
            g, edges, nodes, node_weights=m, edge_weights=w
        ),
    ],
    "double_bracket": [
        lambda slope, J: J @ slope + J @ (J @ slope),
        lambda slope, J: J @ slope - J.T @ J @ slope,
    ],
}


WRONG = {
    "graph_gradient": ["answer without sign"],
    "graph_divergence": ["node_weights one"],
    "double_bracket": [
        lambda slope, J: J @ slope,
        lambda slope, J: (
            J @ slope - slope * (J @ slope).square().sum() / slope.square().sum().clamp(min=1)
        ),
        "J transposed",
    ],
}
