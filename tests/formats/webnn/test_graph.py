"""A test as it is written: its tensors, its operators, and what is wrong with them, with its place."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from webnn_tests import graph, operator, page, tensor

from dmlcheck.formats.webnn import graph as reading
from dmlcheck.formats.webnn.graph import GraphTest, Operand, name_of, read_test
from dmlcheck.formats.webnn.javascript import parse
from dmlcheck.formats.webnn.literals import NotData, Wrong
from dmlcheck.formats.webnn.suite import Suite, suites
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


def test_a_scalar_has_no_dimensions_and_nan_stays() -> None:
    x = of({"x": tensor([math.nan])}).inputs["x"]
    assert x.shape == ()
    assert x.values is not None
    assert np.isnan(x.values)


def test_a_shape_has_an_earlier_name() -> None:
    assert read(page(graph({"x": tensor([1, 2], 2)}, [], Y)).replace("shape", "dimensions")).inputs["x"].shape == (2,)


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


def test_values_that_code_makes_are_no_data() -> None:
    with pytest.raises(NotData, match="`new Other"):
        read(page(graph({"x": tensor([1], 1)}, [], Y)).replace("[1]", "new Other(1)", 1))


def test_a_name_is_cut() -> None:
    script = parse(page(graph({}, [], Y, name="a" * 300)).encode(), "f.any.js")
    (suite,) = suites(script)
    assert isinstance(suite, Suite)
    assert len(name_of(suite.tests[0])) == reading._MOST_NAME
