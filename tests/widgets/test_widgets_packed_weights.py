import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.widgets.kit.packed_weights import pack, unpack


def packed_in(bits, matrix, *, most_bytes=10**6):
    return pack({"w": matrix}, most_bytes=most_bytes, fewest_bits=bits, most_bits=bits)


@settings(max_examples=15)
@given(st.integers(7, 16), st.integers(0, 2**32 - 1), st.floats(-8, 8))
def test_the_error_of_a_number_is_at_most_half_a_step_of_its_row(bits, seed, exponent):
    random = np.random.default_rng(seed)
    rows, columns = random.integers(1, 7, size=2)
    matrix = (10**exponent * random.normal(size=(rows, columns))).astype(np.float32)
    matrix[0, 0] = 0
    packed = packed_in(bits, torch.from_numpy(matrix))
    [there] = unpack(packed, [(rows, columns)])
    # A step has 8 significant bits, so it is up to a 128th larger than the row needs.
    step = np.abs(matrix).max(axis=1, keepdims=True) / (2 ** (bits - 1) - 1) * (1 + 1 / 127)
    assert (np.abs(there - matrix.astype(np.float64)) <= 0.5 * step + 2.0**-100).all()
    assert there[0, 0] == 0


def test_rows_of_zeros_and_of_tiny_numbers_arrive_as_finite_numbers():
    matrix = torch.tensor([[0.0, 0.0], [1e-38, -1e-38]])
    [there] = unpack(packed_in(16, matrix), [(2, 2)])
    assert np.abs(there).max() <= 1e-30


def test_a_matrix_that_gets_too_few_bits_is_refused_with_its_size():
    words = "model has 1,500 parameters in 30 rows, which would weigh more than 1,700 bytes"
    with pytest.raises(ValueError, match=words):
        packed_in(7, torch.ones(30, 50), most_bytes=1700)
    assert packed_in(6, torch.ones(30, 50), most_bytes=1700)["bits"] == 6
