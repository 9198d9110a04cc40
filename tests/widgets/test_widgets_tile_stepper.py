import pytest
from small_widgets import make

from course_lib.tiled_attention import naive_bytes, on_chip_bytes, tiled_bytes


def test_the_scale_and_the_chip_follow_from_the_features_unless_they_are_given():
    plain, told = make("TileStepper"), make("TileStepper", scale=2.0, chip_bytes=64)
    assert (plain.scale, told.scale) == (pytest.approx(3**-0.5), 2)
    assert plain.chip_bytes == 2 * on_chip_bytes(3, query_tile=4, key_tile=4)
    assert told.chip_bytes == 64


def test_the_description_counts_the_bytes_of_both_algorithms_and_those_on_the_chip():
    tiles = {"query_tile": 5, "key_tile": 4}
    text = make("TileStepper", **tiles, bytes_each=4).describe()
    moved = tiled_bytes(10, 11, 3, **tiles, causal=True, bytes_each=4)
    assert "10 queries to 11 keys with 3 features" in text
    assert "5 of 5 tiles are visited" in text
    assert f"move {moved:,} bytes" in text
    assert f"{naive_bytes(10, 11, 3, bytes_each=4):,}." in text
    held = on_chip_bytes(3, **tiles)
    for chip_bytes, told in ((held, "fits"), (held - 1, "does not fit")):
        text = make("TileStepper", **tiles, chip_bytes=chip_bytes).describe()
        assert text.endswith(f"{held:,} bytes and {told} on the chip, which has {chip_bytes:,}.")
