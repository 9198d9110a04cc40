import numpy as np
import pytest
import torch
from small_widgets import payload

from course_lib.graph import Graph
from course_lib.graph_dynamics import components
from course_lib.widgets import GraphDrum
from course_lib.widgets.graph_drum.graph_drum import MOST_NODES
from course_lib.widgets.graph_drum.graph_shapes import SHAPES
from course_lib.widgets.kit.traits import Array


def spec_of(drum):
    return next(spec for spec in payload(drum)["state"]["graphs"] if spec["name"] == drum.graph)


def places_of(drum):
    return Array._decode(spec_of(drum)["places"], None)


def test_every_shape_has_its_name_and_fills_the_drawing():
    for name in SHAPES:
        drum = GraphDrum(name)
        places, pairs = places_of(drum), torch.tensor(spec_of(drum)["edges"])
        nodes = len(places)
        assert nodes <= MOST_NODES
        assert not components(pairs.T, nodes).any()
        assert np.abs(places).max() == pytest.approx(1)
        assert len(pairs.sort(dim=1).values.unique(dim=0)) == len(pairs)
        apart = np.linalg.norm(places[:, None] - places[None], axis=-1)
        assert apart[~np.eye(nodes, dtype=bool)].min() > 0.05


def test_a_custom_graph_comes_first_with_each_pair_once():
    graph = Graph.undirected(torch.zeros(4, 2), torch.tensor([[0, 1, 3], [1, 2, 3]]))
    drum = GraphDrum(graph, places=[[0, 0], [2, 0], [4, 0], [4, 2]], node=3)
    assert drum.graph == "own"
    assert [spec["name"] for spec in drum.graphs] == ["own", *SHAPES]
    assert spec_of(drum)["edges"] == [[0, 1], [1, 2]]
    np.testing.assert_allclose(places_of(drum), [[-1, -0.5], [0, -0.5], [1, -0.5], [1, 0.5]])


def test_without_places_a_path_is_drawn_in_order_and_pieces_on_a_circle():
    line = places_of(GraphDrum(edges=[[0, 1, 2, 3], [1, 2, 3, 4]]))[:, 0]
    assert (np.diff(line * np.sign(line[-1])) > 0).all()
    pieces = places_of(GraphDrum(edges=[[0, 2], [1, 3]]))
    assert np.linalg.norm(pieces, axis=1) == pytest.approx(1)
    # No edges, and a single node.
    none = torch.zeros(2, 0, dtype=torch.int64)
    assert len(places_of(GraphDrum(edges=none, places=[[0, 0], [1, 1]]))) == 2
    single = GraphDrum(edges=none)
    assert (single.node, single.mode) == (0, 0)
    assert np.isfinite(places_of(single)).all()
