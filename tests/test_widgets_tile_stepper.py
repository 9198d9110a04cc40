from functools import partial

import pytest
from small_widgets import make

from course_lib.tiled_attention import naive_bytes, on_chip_bytes, tiled_bytes

stepper = partial(make, "TileStepper")


def test_the_scale_and_the_chip_follow_from_the_features_unless_they_are_given():
    assert stepper().scale == pytest.approx(3**-0.5)
    assert stepper(scale=2.0).scale == 2
    assert stepper().chip_bytes == 2 * on_chip_bytes(3, query_tile=4, key_tile=4)
    assert stepper(chip_bytes=64).chip_bytes == 64


def test_the_description_counts_the_bytes_of_both_algorithms_and_those_on_the_chip():
    text = stepper(query_tile=5, key_tile=4, causal=True, bytes_each=4).describe()
    moved = tiled_bytes(10, 12, 3, query_tile=5, key_tile=4, causal=True, bytes_each=4)
    assert "10 queries to 12 keys with 3 features" in text
    assert "0 of 5 tiles are visited" in text
    assert f"move {moved:,} bytes" in text
    assert f"{naive_bytes(10, 12, 3, bytes_each=4):,}." in text
    held = on_chip_bytes(3, query_tile=5, key_tile=4)
    for chip_bytes, told in ((held, "fits"), (held - 1, "does not fit")):
        text = stepper(query_tile=5, key_tile=4, chip_bytes=chip_bytes).describe()
        assert text.endswith(f"{held:,} bytes and {told} on the chip, which has {chip_bytes:,}.")


def test_a_step_stays_within_the_plan_when_larger_tiles_shorten_it():
    # Tiles of 4 by 6 over 10 by 12: three times two.
    assert stepper(query_tile=4, key_tile=6, step=6).step == 6
    found = stepper(query_tile=2, key_tile=2, step=30)
    found.query_tile = 10
    assert found.step == 6
    found.causal = True
    assert found.step == 6
    found.key_tile = 12
    assert found.step == 1
