"""The input elements that an output element is made of, against places worked out by hand."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from shipped import example_case

from dmlcheck.cases.prepare import prepare
from dmlcheck.reports.site.pictures.influence import Place, influences


def of(operator: str) -> Mapping[Place, tuple[Place, ...]]:
    name = f"DML_OPERATOR_{operator}"
    case = example_case(name)
    prepared = prepare(case)
    assert prepared.desc is not None
    return influences(prepared.desc, prepared.inputs)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("operator", "output", "expected"),
    [
        # windows of 2 by 2 with a dilation of 2
        ("MAX_POOLING2", (0, 0, 0, 1), {"InputTensor": [(0, 0, y, x) for y in (0, 2) for x in (1, 3)]}),
        # a row of A, a column of B, and the element of C at the same place
        ("GEMM", (1, 0), {
            "ATensor": [(1, 0), (1, 1), (1, 2)], "BTensor": [(0, 0), (1, 0), (2, 0)], "CTensor": [(1, 0)],
        }),
        # along axis 0, all elements up to its own
        ("CUMULATIVE_SUMMATION", (1, 2, 1), {"InputTensor": [(0, 2, 1), (1, 2, 1)]}),
        # strides of 2 and 3 from row 1
        ("SLICE", (0, 0, 1, 1), {"InputTensor": [(0, 0, 3, 3)]}),
        # REFLECTION with one row and two columns in front: row 0 is row 1, column 0 is column 2
        ("PADDING", (0, 0), {"InputTensor": [(1, 2)]}),
        # the second of a row's groups of two has the second scale and zero point
        ("DEQUANTIZE", (1, 3), {
            "InputTensor": [(1, 3)], "QuantizationTensors[0]": [(1, 1)], "QuantizationTensors[1]": [(1, 1)],
        }),
        # the zero point of the input moves all products, also where the input is the zero point
        ("CONVOLUTION_INTEGER", (0, 0, 0), {
            "InputTensor": [(0, 0, 0), (0, 0, 1), (0, 0, 2)],
            "InputZeroPointTensor": [(0,)],
            "FilterTensor": [(0, 0, 0), (0, 0, 1), (0, 0, 2)],
        }),
    ],
)  # fmt: skip
def test_an_element_is_made_of_these(
    operator: str, output: tuple[int, ...], expected: dict[str, list[tuple[int, ...]]]
) -> None:
    found = of(operator)["OutputTensor", output]
    assert sorted(found) == sorted((label, index) for label, indices in expected.items() for index in indices)
