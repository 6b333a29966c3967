"""Values of models before a run: types and sizes without memory, and the numbers of constants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from whole_models import INT64, node, numbers, weight

from dmlcheck.onnx.model.values import CONSTANT, Value, computed, initial, of_numbers, sequence_parts

TensorProto = pytest.importorskip("onnx").TensorProto
helper = pytest.importorskip("onnx.helper")


def value(*sizes: Any, kind: int = 1) -> Value:
    return Value(helper.make_tensor_type_proto(kind, list(sizes)))


def results(made: Any, inputs: Sequence[Value], *outputs: Value) -> list[Any]:
    return [each.tolist() for each in computed(made, inputs, outputs, {"": 17})]


def test_an_array_of_sizes_alone_takes_no_memory() -> None:
    tensor = value(65536, 65536, kind=10).tensor()
    assert tensor is not None
    assert (tensor.shape, tensor.element, tensor.values) == ((65536, 65536), "FLOAT16", None)
    four = value(4, kind=22).tensor()
    assert four is not None
    assert four.data_type == "INT4"


def test_sizes_are_known_open_or_not_there() -> None:
    assert (value(2, "n").sizes, value(2, "n").is_sized) == ((2, "n"), False)
    assert (value(2, 3).sizes, value(2, 3).is_sized) == ((2, 3), True)
    assert (value().sizes, value().is_sized) == ((), True)
    assert (Value(None).sizes, Value(None).element) == (None, "")
    assert (value(-1).sizes, value(-1).is_sized) == (("",), False)
    assert not value(2**40, 2**40).is_sized
    assert (value(*[1] * 32).is_sized, value(*[1] * 33).is_sized) == (True, False)
    assert (value(0, 2**58).is_sized, value(0, 2**59).is_sized) == (True, False)  # of bytes that NumPy can count


def test_small_constants_have_their_numbers() -> None:
    assert initial(numbers("a", [3, 4])).numbers.tolist() == [3, 4]
    assert initial(numbers("a", [3, 4])).origin == CONSTANT
    assert initial(numbers("many", range(1025))).numbers is None
    assert initial(weight("w", [1025])).numbers is None
    assert initial(weight("outside", [4])).numbers is None
    assert initial(TensorProto(name="short", data_type=1, dims=[4], raw_data=b"1234")).numbers is None


FIVE, EIGHT = of_numbers(np.array(5)), of_numbers(np.array([8.0], np.float32))


@pytest.mark.parametrize(
    ("made", "opset", "inputs", "output", "expected"),
    [
        (node("Unsqueeze", "x", "y", axes=[0]), 12, [FIVE], value(1, kind=INT64), [5]),
        (node("Unsqueeze", "x", "y", axes=[-1, 0]), 11, [FIVE], value(1, 1, kind=INT64), [[5]]),
        (node("Unsqueeze", "x a", "y"), 13, [FIVE, of_numbers(np.array([0]))], value(1, kind=INT64), [5]),
        (node("Reciprocal", "x", "y"), 13, [EIGHT], value(1), [0.125]),
        (node("Sqrt", "x", "y"), 13, [of_numbers(np.array([16.0], np.float32))], value(1), [4]),
        (node("Clip", "x", "y", max=6.0), 10, [EIGHT], value(1), [6]),
        (node("Clip", "x", "y", min=6.0), 10, [EIGHT], value(1), [8]),
        (node("Clip", "x", "y"), 10, [EIGHT], value(1), [8]),
        (node("GreaterOrEqual", "x x", "y"), 12, [FIVE, FIVE], value(kind=9), True),
        (node("NonZero", "x", "y"), 13, [of_numbers(np.array([0, 3, 4]))], value(1, "", kind=INT64), [[1, 2]]),
        (
            node("Tile", "x n", "y"),
            13,
            [of_numbers(np.array([7])), of_numbers(np.array([2]))],
            value(2, kind=INT64),
            [7, 7],
        ),
    ],
)
def test_more_operators_are_reckoned_with(
    made: Any, opset: int, inputs: list[Value], output: Value, expected: Any
) -> None:
    assert [each.tolist() for each in computed(made, inputs, [output], {"": opset})] == [expected]


@pytest.mark.parametrize(
    ("made", "inputs", "output"),
    [
        (node("NonZero", "x", "y"), [of_numbers(np.ones((2, 513)))], value(2, "", kind=INT64)),  # 2,052 numbers
        (node("Unsqueeze", "x", "y", axes=[0, 0]), [FIVE], value(1, 1, kind=INT64)),
        (node("Shape", "x", "y"), [value(2, "n")], value(2, kind=INT64)),
        (node("Add", "x x", "y"), [value(2)], value(2)),
        (node("Expand", "x s", "y"), [of_numbers(np.ones(1)), of_numbers(np.array([2000]))], value(2000)),
        (node("Relu", "x", "y"), [of_numbers(np.ones(1))], value(1)),
    ],
)
def test_what_is_not_known_or_large_is_not_reckoned(made: Any, inputs: list[Value], output: Value) -> None:
    assert results(made, inputs, output) == []


def test_what_would_be_large_is_not_computed_first(monkeypatch: pytest.MonkeyPatch) -> None:
    evaluated: list[Any] = []
    monkeypatch.setattr("dmlcheck.onnx.model.values.evaluate_node", lambda *_: evaluated.append(1) or [np.ones(4)])
    made, inputs = node("Expand", "x s", "y"), [of_numbers(np.ones(1)), of_numbers(np.array([4]))]
    assert (results(made, inputs, value(1024)), evaluated) == ([[1, 1, 1, 1]], [1])
    assert (results(made, inputs, value(1025)), evaluated) == ([], [1])


@pytest.mark.parametrize(
    ("operator", "place", "left"),
    [
        ("SequenceErase", 0, [3]),
        ("SequenceErase", -1, [2]),
        ("SequenceErase", 2, None),  # which ONNX does not allow: there are two
        ("SequenceErase", -3, None),
        ("SequenceInsert", 0, [5, 2, 3]),
        ("SequenceInsert", -1, [2, 5, 3]),
        ("SequenceInsert", 2, [2, 3, 5]),
        ("SequenceInsert", 3, None),
    ],
)
def test_a_sequence_changes_at_a_place_that_it_has(operator: str, place: int, left: list[int] | None) -> None:
    sequence, at = Value(None, parts=(value(2), value(3))), of_numbers(np.array(place))
    inputs = [sequence, value(5), at] if operator == "SequenceInsert" else [sequence, at]
    made = sequence_parts(node(operator, " ".join("abc"[: len(inputs)]), "y"), inputs)
    assert (None if made is None else [part.sizes for part in made]) == (left and [(size,) for size in left])


def test_a_sequence_has_a_number_of_parts_that_are_followed() -> None:
    full = Value(None, parts=(value(1),) * 256)
    assert sequence_parts(node("SequenceConstruct", "x", "s"), full.parts or ()) == full.parts
    assert sequence_parts(node("SequenceConstruct", "x", "s"), [value(1)] * 257) is None
    assert sequence_parts(node("SequenceInsert", "s x", "t"), [full, value(1)]) is None
    assert len(sequence_parts(node("SequenceErase", "s", "t"), [full]) or ()) == 255
