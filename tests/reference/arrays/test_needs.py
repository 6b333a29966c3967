"""What a tile needs of each tensor, picked by hand from small ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from dmlcheck.descs.records import TensorDesc
from dmlcheck.reference.arrays import needs

X = np.arange(24).reshape(2, 3, 4)


def test_places_are_taken_along_one_axis() -> None:
    assert needs.taken(1, of=0)(X, [range(1, 3)], {}).tolist() == X[:, 1:3].tolist()
    assert needs.taken(2, of=1)(X, [range(9), range(2, 3)], {}).tolist() == X[:, :, 2:3].tolist()


def test_batches_channels_and_regions_are_taken_along_the_axes_that_have_them() -> None:
    places = [range(1, 2), range(2), range(1, 3)]
    assert needs.BATCHES(X, places, {}).tolist() == X[1:2].tolist()
    assert needs.CHANNELS(X, places, {}).tolist() == X[:, :2].tolist()
    assert needs.REGIONS(X, places, {}).tolist() == X[:, :, 1:2].tolist()


def test_lines_have_all_of_their_axis() -> None:
    places = [range(1, 2), range(1), range(3, 4)]
    assert needs.LINES(X, places, {"axis": 1}).tolist() == X[1:2, :, 3:4].tolist()
    assert needs.WHOLE(X, places, {}) is X


def test_joined_tensors_have_the_parts_that_are_in_a_tile() -> None:
    parts = [np.arange(4), np.arange(4, 6), np.arange(6, 9)]
    found = [part.tolist() for part in needs.joined_parts(parts, [range(3, 7)], {"axis": 0})]
    assert found == [[3], [4, 5], [6]]
    assert [part.tolist() for part in needs.joined_parts(parts, [range(6, 8)], {"axis": 0})] == [[6, 7]]


def test_a_channel_of_depth_needs_one_channel_of_each_place_in_a_block() -> None:
    """8 channels are 2 by 2 places with 2 of depth, which is the last of their axes or the first."""
    x, places = np.arange(16).reshape(2, 8, 1, 1), [range(1, 2), range(1, 2), range(2), range(2)]
    assert needs.channels_in_blocks(x, places, {"block_size": 2}).ravel().tolist() == [9, 11, 13, 15]
    given = {"block_size": 2, "order": "COLUMN_ROW_DEPTH"}
    assert needs.channels_in_blocks(x, places, given).ravel().tolist() == [12, 13, 14, 15]


def test_a_row_of_blocks_needs_the_rows_in_them() -> None:
    x = np.arange(12).reshape(1, 1, 6, 2)
    found = needs.rows_in_blocks(x, [range(1), range(4), range(1, 2), range(1)], {"block_size": 2})
    assert found.ravel().tolist() == [4, 5, 6, 7]


def test_gathering_needs_lines_of_the_input_and_its_own_indices() -> None:
    """The output is {2, 2 indices, 4}; axis 1 of the input is replaced."""
    given: dict[str, Any] = {"axis": 1, "index_dimensions": 1, "input": X}
    places = [range(1, 2), range(1, 2), range(3)]
    assert needs.lines_of_gather(X, places, given).tolist() == X[1:2, :, 0:3].tolist()
    assert needs.indices_of_gather(np.array([7, 8]), places, given).tolist() == [8]


def test_tuples_need_the_axes_that_they_index_as_a_whole() -> None:
    """2 tuples of one index: the output is {2, 3, 4} of an input {2, 3, 4}, and the updates have its rows."""
    tuples = np.array([[1], [0]])
    given: dict[str, Any] = {
        "input": X, "indices": tuples, "input_dimension_count": 3, "indices_dimension_count": 2,
    }  # fmt: skip
    places = [range(1, 2), range(3), range(2, 4)]
    assert needs.parts_of_gather_nd(X, places, given).tolist() == X[:, :, 2:4].tolist()
    assert needs.tuples_of_gather_nd(tuples, places, given).tolist() == [[0]]
    assert needs.axes_after_tuples(given) == (1, 2)
    assert needs.updates_after_tuples(X, [range(2), range(1), range(1, 3)], given).tolist() == X[:, :1, 1:3].tolist()


def test_all_axes_but_one() -> None:
    assert needs.axes_but_axis({"input": X, "axis": 1}) == (0, 2)


def test_quantizations_are_repeated_over_their_blocks() -> None:
    """4 columns of the input share 2 scales; each of its 2 rows has its own."""
    given = {"input": np.zeros((2, 4))}
    (found,) = needs.repeated([np.array([[1, 2], [3, 4]])], [range(1, 2), range(1, 4)], given)
    assert found.tolist() == [[3, 4, 4]]


def test_numbers_of_places_are_in_the_type_of_the_step() -> None:
    given = {"output": TensorDesc("FLOAT32", (2, 3)), "value_delta": 0.5}
    found = needs.row_major_index(None, [range(1, 2), range(3)], given)
    assert (found.tolist(), found.dtype.kind) == ([[3, 4, 5]], "f")
    assert needs.row_major_index(None, [range(1), range(3)], given | {"value_delta": 1}).dtype == np.uint64
