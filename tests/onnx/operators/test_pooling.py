"""ONNX's pooling as DirectML's."""

from __future__ import annotations

import numpy as np
import pytest
from node_graphs import computed
from onnx_nodes import agrees, descs, floats, found, node, zeros

from dmlcheck.onnx.descs.node import Unmapped
from dmlcheck.onnx.operators.table import deviation_of
from dmlcheck.validation.deviations import of_provider

X = zeros(1, 2, 5, 5)


def test_maxima_that_are_counted_by_columns_are_those_of_exchanged_rows_and_columns() -> None:
    x = np.arange(12, dtype=np.float32).reshape(1, 1, 3, 4)
    # Windows of 2 rows and 3 columns: the largest are in row 1, and 2, of column 2, and 3; 3 elements to a column.
    values, places = floats([[[6, 7], [10, 11]]]), np.array([[[[7, 10], [8, 11]]]])
    made = found("MaxPool", [x], values, places, kernel_shape=[2, 3], storage_order=1)
    assert made.fields["WindowSize"] == [3, 2]
    assert agrees(made)
    padded = found("MaxPool", [x], zeros(1, 1, 1, 1), places, pads=[1, 2, 3, 4], kernel_shape=[7, 10], storage_order=1)
    assert (padded.fields["StartPadding"], padded.fields["EndPadding"]) == ([2, 1], [4, 3])
    with pytest.raises(Unmapped, match="counts columns first, of other than two spatial dimensions"):
        found("MaxPool", [x[0]], values, places, kernel_shape=[2], storage_order=1)


@pytest.mark.parametrize(
    ("sizes", "pads", "dilations", "averages"),
    [
        # Windows of 3 at -1, 1 and 3; the last one holds the element 4, a padding, and what is beyond.
        ((4,), [1, 1], [1], [1, 3, 2]),
        ((4,), [2, 0], [1], [1 / 3, 2, 3.5]),
        # Windows of 3 by twos at -1 and 1; the second one holds 2, 4, and what is beyond.
        ((4,), [1, 1], [2], [2, 3]),
        ((1, 4), [0, 1, 0, 1], [1, 1], [1, 3, 2]),
    ],
)
def test_padding_counts_in_an_average_as_far_as_it_goes(
    sizes: tuple[int, ...], pads: list[int], dilations: list[int], averages: list[float]
) -> None:
    x = np.arange(1, 5, dtype=np.float32).reshape(1, 1, *sizes)
    ones = [1] * (len(sizes) - 1)
    attributes = {"kernel_shape": [*ones, 3], "strides": [*ones, 2], "pads": pads, "dilations": dilations}
    output = zeros(1, 1, *ones, len(averages))
    one = node("AveragePool", [x], output, opset=19, ceil_mode=1, count_include_pad=1, **attributes)
    (result,) = computed(one)
    assert result.reshape(-1) == pytest.approx(averages)


@pytest.mark.parametrize("operator", ["AveragePool", "LpPool", "MaxPool"])
@pytest.mark.parametrize(("size", "is_known"), [(2, True), (3, False)])
def test_a_window_in_the_padding_is_a_known_mistake_of_the_provider(
    operator: str, size: int, *, is_known: bool
) -> None:
    # The second window begins at 3, where the padding at the end of 2 elements does.
    attributes = {"kernel_shape": [3], "strides": [3], "pads": [1, 1], "ceil_mode": 1}
    text = deviation_of(node(operator, [zeros(1, 1, size)], zeros(1, 1, size - 1), **attributes))
    assert (text is not None and text.startswith(f"{operator} with ceil_mode gives one element more")) == is_known
    assert text is None or of_provider(text).source.endswith("this was not run") == (operator != "MaxPool")


@pytest.mark.parametrize(("counts", "ceil", "is_known"), [(1, 1, True), (0, 1, False), (1, 0, False)])
def test_padding_beyond_the_end_is_counted_by_the_provider(counts: int, ceil: int, *, is_known: bool) -> None:
    attributes = {"kernel_shape": [3], "strides": [2], "pads": [1, 1], "ceil_mode": ceil, "count_include_pad": counts}
    text = deviation_of(node("AveragePool", [zeros(1, 1, 4)], zeros(1, 1, 2 + ceil), **attributes))
    assert ("counts elements beyond the padding" in str(text)) == is_known


def test_the_provider_counts_rows_first() -> None:
    with pytest.raises(Unmapped, match="counts columns first"):
        descs("MaxPool", [X], X, X, kernel_shape=[2, 2], storage_order=1)


def test_maxima_go_back_to_indices_in_the_output_or_nowhere() -> None:
    x, indices = zeros(1, 1, 2, 2), np.array([[[[0, 3], [12, 15]]]])
    made = found("MaxUnpool", [x, indices], zeros(1, 1, 4, 4), kernel_shape=[2, 2], strides=[2, 2])
    assert made.operator == "MAX_UNPOOLING"
    assert (made.fields["IndicesTensor"].dtype, made.fields["IndicesTensor"].values.tolist()) == (
        np.uint64,
        indices.tolist(),
    )
    with pytest.raises(Unmapped, match="do not count in its output"):
        found("MaxUnpool", [x, indices], zeros(1, 1, 5, 5), kernel_shape=[2, 2], strides=[2, 2])


def test_regions_have_the_number_of_their_image() -> None:
    made = found("MaxRoiPool", [X, zeros(3, 5)], zeros(3, 2, 2, 4), pooled_shape=[2, 4], spatial_scale=0.5)
    assert (made.operator, made.fields["ROITensor"].shape) == ("ROI_POOLING", (1, 1, 3, 5))
    assert (made.fields["PooledSize"], made.fields["SpatialScale"]) == ({"Height": 2, "Width": 4}, 0.5)
