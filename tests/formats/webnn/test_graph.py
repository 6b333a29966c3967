"""A test as it is written: its tensors, its operators, and what is wrong with them, with its place."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from webnn_tests import graph, operator, page, tensor

from dmlcheck.formats.webnn.graph import GraphTest, Operand, WebnnOperator, read_test, tolerance_of
from dmlcheck.formats.webnn.javascript import parse
from dmlcheck.formats.webnn.literals import Wrong
from dmlcheck.formats.webnn.suite import Stated, Suite, suites
from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.onnx.descs.node import Unmapped

Y = {"y": tensor([0], 1)}


def read(text: str) -> GraphTest:
    script = parse(text.encode(), "f.any.js")
    assert script.document.problems == []
    (suite,) = suites(script)
    assert isinstance(suite, Suite)
    return read_test(suite.tests[0])


def of(inputs: dict[str, Any], operators: list[Any] | None = None, expected: Any = Y) -> GraphTest:
    return read(page(graph(inputs, operators or [], expected)))


@pytest.mark.parametrize(
    ("data", "kind", "expected"),
    [
        ([0.1, -0.0], "float32", np.array([0.1, -0.0], np.float32)),
        ([1.00048828125, 1.00146484375], "float16", np.array([1, 1.001953125], np.float16)),  # ties to even
        ([65520, float("-inf")], "float16", np.array([np.inf, -np.inf], np.float16)),
        (["18446744073709551615n", 0], "uint64", np.array([2**64 - 1, 0], np.uint64)),
        ([-8, 7], "int4", np.array([-8, 7], np.int8)),
        ([0, 15], "uint4", np.array([0, 15], np.uint8)),
        (3, "int32", np.array([3, 3], np.int32)),  # a number fills the tensor
    ],
)
def test_a_tensor_has_its_values_in_its_type(data: Any, kind: str, expected: np.ndarray[Any, Any]) -> None:
    x = of({"x": tensor(data, 2, type=kind)}).inputs["x"]
    assert (x.element, x.shape) == (kind.upper(), (2,))
    assert x.values is not None
    assert x.values.dtype == expected.dtype
    assert x.values.tobytes() == expected.tobytes()


def test_an_operator_is_called_with_tensors_and_values_in_order() -> None:
    """Keys of arguments say nothing; a missing argument is none, and text that no tensor has stays text."""
    called = {
        "name": "op",
        "arguments": [{"input": "x", "axis": 2}, None, {"inputs": ["x", "z"]}, {"options": {"mode": "m", "b": "x"}}],
        "outputs": ["p", "q"],
    }
    (first, second) = of({"x": tensor([1], 1)}, [called, operator("op", "p")]).operators
    assert first.given == ("x", 2, ["x", "z"])
    assert [type(one) for one in (first.given[0], *first.given[2], first.options["mode"], first.options["b"])] == [
        Operand,
        Operand,
        str,
        str,
        Operand,
    ]
    assert (first.name, first.outputs, second.outputs) == ("op", ("p", "q"), ("output",))
    assert isinstance(second.given[0], Operand)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[1, 2, 3]", "[1, 2]", "x has 2 values, and its shape 3 elements"),
        ("[3]", "[3.5]", "a size must be a whole number, not `3.5`"),
        ("[3]", "[-3]", "`[-3]` is no shape"),
        ("'shape': [3], ", "", "`shape` is missing"),
        ("'float32'", "'float8'", "`float8` is no data type of WebNN"),
        ("[1, 2, 3]", "[1, 'a', 3]", "an element must be a number, not `'a'`"),
        ("[1, 2, 3]", "[1, [2], 3]", "a single value is needed, not `[2]`"),
        ("'operators'", "'operator'", "`operators` is missing"),
        ("'a test'", "7", "the name of a test must be text, not `7`"),
        ("'graph': {", "'graph': 1, 'more': {", "the graph of a test must be an object, not `1`"),
    ],
)
def test_a_test_of_another_form_is_wrong(old: str, new: str, message: str) -> None:
    text = page(graph({"x": tensor([1, 2, 3], 3)}, [], {"y": tensor(0)}))
    assert text.count(old) == 1 or old == "'float32'"
    with pytest.raises(Wrong) as refused:
        read(text.replace(old, new, 1))
    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (tensor([], 0), "x has no elements, and a tensor of DirectML has at least one"),
        (tensor([128], 1, type="int8"), "x has the value 128, which is none of INT8"),
        (tensor([16], 1, type="uint4"), "x has the value 16, which is none of UINT4"),
        (tensor([0.5], 1, type="int32"), "x has the value 0.5, which is none of INT32"),
        (tensor([math.nan], 1, type="int32"), "x has the value nan, which is none of INT32"),
        (tensor(0, 100_000, 100_000), "x has 10,000,000,000 elements; tensors of up to 16,777,216 are imported"),
    ],
)
def test_a_tensor_that_directml_has_not_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(Unmapped) as refused:
        of({"x": given})
    assert str(refused.value) == message


# ---- tolerances of the W3C's tests: those that a file states, and those that its utilities give an operator


def zeros(*shape: int, kind: Any = np.float32) -> TensorRef:
    return TensorRef.of(np.zeros(shape, kind))


def of_operators(*operators: WebnnOperator, kind: Any = np.float32, **inputs: TensorRef) -> GraphTest:
    return GraphTest("t", inputs, operators, {"y": zeros(1, kind=kind)})


def called(name: str, *given: Any, **options: Any) -> WebnnOperator:
    return WebnnOperator(name, tuple(Operand(one) if isinstance(one, str) else one for one in given), options, ("y",))


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        (Stated("ULP", {"float32": 2}), {"ulp": 2}),
        (Stated("ULP", 0), "exact"),
        (Stated("ATOL", 1 / 1024), {"absolute": 1 / 1024}),
        (Stated("ULP", {"float16": 2}), None),
        (Stated("RTOL", 1), None),
        (Stated("ULP", -1), None),
        (Stated("ULP", float("nan")), None),
    ],
)
def test_what_a_file_states_comes_first(stated: Stated, expected: Any) -> None:
    assert tolerance_of(of_operators(called("add", "x", "x")), stated) == expected


@pytest.mark.parametrize(
    ("operator", "ulp"),
    [
        # The formulas of webnn/resources/utils.js, worked out by hand for these shapes.
        (called("add", "x", "x"), 1),
        (called("sigmoid", "x"), 34),
        (called("relu", "x"), 0),
        (called("gemm", "m", "m"), 8),  # a row of 4: products and sums
        (called("gemm", "m", "m", aTranspose=True), 6),
        (called("gemm", "m", "m", alpha=2, c="m"), 10),
        (called("gemm", "m", "m", alpha=2, c="m", beta=3), 11),
        (called("gemm", "m", "m", c="m", beta=0), 8),
        (called("matmul", "m", "m"), 8),
        (called("conv2d", "i", "f"), 48),  # 3 x 2 of 4 channels
        (called("conv2d", "i", "f", groups=2), 24),
        (called("conv2d", "i", "f", inputLayout="nhwc"), 72),  # whose channels are 6
        (called("conv2d", "i", "f", filterLayout="hwio"), 2 * 7 * 4 * 4),
        (called("convTranspose2d", "i", "f", filterLayout="ohwi"), 2 * 4 * 3 * 4),
        (called("averagePool2d", "i"), 32),  # 5 x 6
        (called("averagePool2d", "i", layout="nhwc"), 22),  # 4 x 5
        (called("l2Pool2d", "i", windowDimensions=[2, 2]), 6),
        (called("maxPool2d", "i"), 0),
        (called("softmax", "m", 0), 12),
        (called("softmax", "m"), 15),
        (called("reduceSum", "m"), 12),
        (called("reduceMean", "m", axes=[1]), 6),
        (called("reduceL2", "m", axes=[-1]), 10),
        (called("reduceLogSumExp", "m", axes=[0]), 24),
        (called("reduceSumSquare", "m", axes=[]), 2),
        (called("resample2d", "i", mode="linear"), 84),
        (called("resample2d", "i"), 0),
        (called("cumulativeSum", "m", 1), 3),
        (called("exp", "x"), None),  # which its file states
        (called("gemm", "x"), None),
        (called("reduceSum", "m", axes="all"), None),
        (called("conv2d", "i", "f", filterLayout="chwn"), None),
    ],
)
def test_the_utilities_give_an_operator_its_tolerance(operator: WebnnOperator, ulp: int | None) -> None:
    inputs = {"x": zeros(), "m": zeros(3, 4), "i": zeros(1, 4, 5, 6), "f": zeros(7, 4, 3, 2)}
    expected = None if ulp is None else {"ulp": ulp} if ulp else "exact"
    assert tolerance_of(of_operators(operator, **inputs), None) == expected
