import json
import re

import numpy as np
import pytest
import torch
from small_widgets import drawn, make, seeded
from torch import nn

from course_lib import recurrent
from course_lib.widgets.gate_explorer.gate_explorer import Rows

QUANTITIES = {
    "RNN": ["hidden"],
    "GRU": ["reset", "update", "candidate", "hidden"],
    "LSTM": ["forget", "input", "candidate", "cell", "output", "hidden"],
}


@pytest.mark.parametrize("module", [nn, recurrent])
@pytest.mark.parametrize("kind", QUANTITIES)
def test_a_cell_of_torch_or_of_the_course_is_sent_with_its_quantities(module, kind):
    mine = type("Mine", (getattr(module, kind),), {})
    layer, readout = seeded(mine, 6, 5), seeded(nn.Linear, 5, 2)
    widget = make("GateExplorer", cell=layer, readout=readout)
    assert widget.kind == kind
    assert widget.orders == ["number", "value", "memory"][: 2 if kind == "RNN" else 3]
    assert widget.quantities == [*QUANTITIES[kind], "vote"]

    text = widget.describe()
    x = nn.functional.one_hot(torch.tensor(["abcde ".index(c) for c in "bad cab"]), 6).float()
    with torch.no_grad():
        share = float(readout(layer(x)[0][-1]).softmax(-1)[0])
    assert float(re.search(r"Ada (\d\.\d+)", text)[1]) == pytest.approx(share, abs=1.5e-3)
    assert "“bad cab”" in text
    mute = make("GateExplorer", cell=layer, readout=None, labels=None)
    assert mute.quantities == QUANTITIES[kind]
    assert "the model says" not in mute.describe()


def test_sixteen_bits_miss_an_entry_by_at_most_half_a_step_of_its_row():
    matrix = drawn(6, 4).astype(np.float32) * np.float32([[0], [1e-30], [1e-3], [1], [9], [1e3]])
    there = Rows.exactly(json.loads(json.dumps(Rows._encode(matrix, None))))
    step = np.abs(matrix).max(axis=1, keepdims=True).astype(np.float64) / 32767
    assert (np.abs(there - matrix) <= 0.5001 * step + 1e-40).all()
