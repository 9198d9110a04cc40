"""What the meter counts, against sizes known by hand."""

import torch

from course_lib.attention import attention
from course_lib.tiled_attention import TrafficMeter, kept_entries


def test_a_meter_counts_what_operators_read_and_write_and_no_view():
    a, b = torch.zeros(3, 4), torch.zeros(4, 5, dtype=torch.float64)
    with TrafficMeter() as meter:
        product = a.double() @ b.view(4, 5)
        product.mT.add_(1)
    converted, multiplied, added = 12 * 4 + 12 * 8, (12 + 20 + 15) * 8, (15 + 15) * 8
    assert meter.bytes == converted + multiplied + added
    assert meter.largest == 15
    assert meter.most == 12 + 15


def test_a_meter_knows_what_exists_at_a_time():
    x = torch.zeros(10)
    with TrafficMeter() as passing:
        for _ in range(4):
            x = x + 1
    with TrafficMeter() as keeping:
        kept = [x + 1 for _ in range(4)]
    assert len(kept) == 4
    assert passing.most == 20
    assert keeping.most == 40


def test_attention_keeps_its_inputs_and_its_weights_for_backward_each_once():
    query, key, value = torch.ones(5, 4), torch.ones(7, 4), torch.ones(7, 3)
    kept = kept_entries(attention, query, key, value)
    assert kept >= query.numel() + key.numel() + value.numel() + 5 * 7
    assert kept_entries(lambda x: x * x, query) == query.numel()
