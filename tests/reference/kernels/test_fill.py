"""Constants, sequences and diagonals against plain Python, what is undefined, and the bounds of what is rounded."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from bounds_of import gathered
from grouped import blocks_of
from valid_descs import valid

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.reference import engine
from dmlcheck.reference.bounds import Bound

Array = np.ndarray[Any, Any]

NAN, INF = float("nan"), float("inf")
INTEGERS = ("INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32", "UINT64")


def built(operator: str, data_type: str, sizes: list[int], **fields: Any) -> OperatorDesc:
    """Return the desc of an operator with one output, whose scalars have its type."""
    output = {"OutputTensor": {"DataType": data_type, "Sizes": sizes}}
    kind = {} if operator == "DIAGONAL_MATRIX" else {"ValueDataType": data_type}
    return valid(operator, output | kind | fields)


def computed(operator: str, data_type: str, sizes: list[int], input: Array | None = None, **fields: Any) -> list[Any]:
    """Return the results in row-major order, None where they are undefined."""
    found = engine.evaluate(built(operator, data_type, sizes, **fields), given(input))["OutputTensor"]
    assert found.values.dtype == np.dtype(data_type.lower())
    marks = [False] * found.values.size if found.undefined is None else found.undefined.reshape(-1).tolist()
    return [None if mark else value for value, mark in zip(found.values.reshape(-1).tolist(), marks, strict=True)]


def given(input: Array | None) -> dict[str, Array]:
    return {} if input is None else {"InputTensor": input}


def bound(operator: str, data_type: str, sizes: list[int], *args: Any, **fields: Any) -> Bound:
    """Return the bound of all results."""
    desc = built(operator, data_type, sizes, **fields)
    return gathered(desc, {}, {"OutputTensor": np.ones(sizes, bool)}, *args)["OutputTensor"]


def wrapped(number: int, data_type: str) -> int:
    about = np.iinfo(data_type.lower())
    return int((number - about.min) % (about.max - about.min + 1) + about.min)


# ---- FILL_VALUE_CONSTANT


@pytest.mark.parametrize("data_type", INTEGERS)
def test_integers_are_filled_with_the_limits_of_their_type(data_type: str) -> None:
    about = np.iinfo(data_type.lower())
    for value in (int(about.min), int(about.max)):
        assert computed("FILL_VALUE_CONSTANT", data_type, [2, 3], Value=value) == [value] * 6


def test_a_large_tensor_is_filled_to_its_end() -> None:
    with blocks_of(7):
        assert computed("FILL_VALUE_CONSTANT", "FLOAT16", [3, 5, 2], Value=-0.5) == [-0.5] * 30


# ---- FILL_VALUE_SEQUENCE


@pytest.mark.parametrize("data_type", INTEGERS)
def test_sequences_of_integers_wrap(data_type: str) -> None:
    about = np.iinfo(data_type.lower())
    generator = np.random.default_rng(5)
    for _ in range(20):
        start, delta = generator.integers(about.min, about.max, 2, data_type.lower(), endpoint=True).tolist()
        right = [wrapped(start + place * delta, data_type) for place in range(24)]
        with blocks_of(int(generator.integers(1, 30))):
            assert computed("FILL_VALUE_SEQUENCE", data_type, [2, 3, 4], ValueStart=start, ValueDelta=delta) == right


@pytest.mark.parametrize("data_type", ["FLOAT32", "FLOAT16"])
def test_sequences_of_floats_are_rounded_once(data_type: str) -> None:
    generator = np.random.default_rng(6)
    for _ in range(20):
        start, delta = generator.normal(size=2).astype(data_type.lower()).tolist()
        exact = [Fraction(start) + place * Fraction(delta) for place in range(40)]
        right = np.array([float(number) for number in exact]).astype(data_type.lower()).tolist()
        with blocks_of(int(generator.integers(1, 50))):
            assert computed("FILL_VALUE_SEQUENCE", data_type, [4, 10], ValueStart=start, ValueDelta=delta) == right


def test_what_depends_on_the_order_of_a_sequence_is_the_sum_or_the_product() -> None:
    def sequence(start: float, delta: float) -> str:
        return str(computed("FILL_VALUE_SEQUENCE", "FLOAT32", [3], ValueStart=start, ValueDelta=delta))

    assert sequence(1, INF) == "[nan, inf, inf]"
    assert sequence(INF, -INF) == "[nan, nan, nan]"
    assert sequence(1, NAN) == "[nan, nan, nan]"
    assert sequence(NAN, 1) == "[nan, nan, nan]"
    assert sequence(INF, 1) == "[inf, inf, inf]"
    assert sequence(-INF, float(np.float32(3e38))) == "[-inf, -inf, nan]"  # as DirectML 1.13.1 and 1.15.4 give it
    assert sequence(float(np.float32(2e38)), float(np.float32(3e38))) == "[1.9999999360571385e+38, inf, inf]"
    first, step = float(np.float32(-3e38)), float(np.float32(2e38))
    assert sequence(first, step).endswith(", inf]")  # measured, as above; the sum is finite


@pytest.mark.parametrize(("data_type", "accumulate"), [("FLOAT32", "FLOAT32"), ("FLOAT16", "FLOAT16")])
@pytest.mark.parametrize(("start", "delta"), [(0, 0.1), (5, -0.3), (-1000, 0.7), (1e-3, 1e-3)])
def test_running_sums_and_products_are_within_the_bound(
    data_type: str, accumulate: str, start: float, delta: float
) -> None:
    dtype = np.dtype(data_type.lower())
    first, step = dtype.type(start), dtype.type(delta)
    fields = {"ValueStart": float(first), "ValueDelta": float(step)}
    count = 300
    allowed = bound("FILL_VALUE_SEQUENCE", data_type, [count], accumulate, **fields)
    running = np.add.accumulate(np.array([first] + [step] * (count - 1), dtype), dtype=dtype)
    products = first + np.arange(count).astype(dtype) * step
    reach = allowed.radius + np.spacing(np.abs(allowed.value).astype(dtype)).astype(np.float64)
    for found in (running, products):
        assert (np.abs(found.astype(np.float64) - allowed.value) <= reach).all()
    if data_type == "FLOAT32":
        assert not (abs(float(step)) <= reach)[:20].any()  # one step too many or too few


def test_the_bound_of_a_sequence_grows_with_the_additions() -> None:
    found = bound("FILL_VALUE_SEQUENCE", "FLOAT32", [5], ValueStart=1, ValueDelta=1)
    assert found.radius.tolist() == [0] + [(i + 1) * 2.0**-24 * (1 + i) for i in range(1, 5)]


# ---- DIAGONAL_MATRIX


def diagonal(sizes: list[int], offset: int, value: float) -> list[float]:
    """Return matrices with a value on one diagonal, from loops."""
    *batches, height, width = sizes
    rows = [value if x - y == offset else 0 for y in range(height) for x in range(width)]
    return rows * int(np.prod(batches))


@pytest.mark.parametrize("sizes", [[3, 3], [2, 5], [5, 2], [1, 4], [2, 3, 2], [2, 1, 3, 4]])
@pytest.mark.parametrize("block", [1, 3, 4, 1000])
def test_a_value_is_on_one_diagonal_of_each_matrix(sizes: list[int], block: int) -> None:
    for offset in range(-5, 6):
        with blocks_of(block):
            found = computed("DIAGONAL_MATRIX", "INT32", sizes, Offset=offset, Value=7)
        assert found == diagonal(sizes, offset, 7)


@pytest.mark.parametrize("offset", [2**31 - 1, -(2**31)])
def test_an_offset_out_of_the_matrix_does_not_wrap(offset: int) -> None:
    assert computed("DIAGONAL_MATRIX", "INT32", [3, 4], Offset=offset, Value=7) == [0] * 12


@pytest.mark.parametrize("data_type", INTEGERS)
def test_integer_types_have_the_value_without_its_fraction_where_they_can(data_type: str) -> None:
    about = np.iinfo(data_type.lower())
    for value in (0.5, -0.5, 10.6, -10.6, 127.5, 128, 255.5, 256, -128.5, -129, 2.0**31, 2.0**63, 2.0**64, -(2.0**63)):
        whole = int(Fraction(float(np.float32(value))))
        right = whole if about.min <= whole <= about.max else None
        assert computed("DIAGONAL_MATRIX", data_type, [1, 2], Offset=1, Value=value) == [0, right], value


@pytest.mark.parametrize("value", [NAN, INF, -INF])
def test_a_value_that_no_integer_is_makes_the_diagonal_undefined(value: float) -> None:
    assert computed("DIAGONAL_MATRIX", "INT32", [2, 2], Offset=0, Value=value) == [None, 0, 0, None]
    assert str(computed("DIAGONAL_MATRIX", "FLOAT32", [2, 2], Offset=0, Value=value)) == f"[{value}, 0.0, 0.0, {value}]"


def test_float64_has_the_value_as_float32_and_float16_either_neighbour() -> None:
    assert computed("DIAGONAL_MATRIX", "FLOAT64", [1, 1], Offset=0, Value=0.1) == [float(np.float32(0.1))]
    exact = bound("DIAGONAL_MATRIX", "FLOAT32", [1, 2], Offset=0, Value=0.1)
    assert exact.radius.tolist() == [0, 0]
    assert not exact.is_rounded
    found = bound("DIAGONAL_MATRIX", "FLOAT16", [1, 2], Offset=0, Value=2049.5)
    assert [side.value.tolist() for side in (found, *found.others)] == [[2050, 0], [2048, 0]]
    found = bound("DIAGONAL_MATRIX", "FLOAT16", [1, 2], Offset=0, Value=1e6)
    assert [side.value.tolist() for side in (found, *found.others)] == [[INF, 0], [65504, 0]]
    assert bound("DIAGONAL_MATRIX", "FLOAT16", [1, 2], Offset=0, Value=0.5).others == ()


# ---- DIAGONAL_MATRIX1


@pytest.mark.parametrize("block", [2, 5, 1000])
def test_a_span_of_diagonals_or_all_but_a_span_is_filled(block: int) -> None:
    sizes = [2, 3, 4]
    input = np.arange(24, dtype=np.int32).reshape(sizes)
    edges = (-(2**31), -4, -2, -1, 0, 1, 2, 3, 4, 2**31 - 1)
    for begin, end in [(begin, end) for begin in edges for end in edges]:
        spans = (lambda t: begin <= t < end) if begin <= end else (lambda t: not end <= t < begin)  # noqa: B023
        right = [
            99 if spans(x - y) else int(input[n, y, x]) for n in range(2) for y in range(3) for x in range(4)
        ]  # fmt: skip
        fields = {"DiagonalFillBegin": begin, "DiagonalFillEnd": end, "Value": 99}
        fields["InputTensor"] = {"DataType": "INT32", "Sizes": sizes}
        with blocks_of(block):
            assert computed("DIAGONAL_MATRIX1", "INT32", sizes, input, **fields) == right, (begin, end)


def test_without_an_input_the_rest_is_0() -> None:
    found = computed("DIAGONAL_MATRIX1", "UINT64", [2, 3], DiagonalFillBegin=1, DiagonalFillEnd=3, Value=2**64 - 1)
    assert found == [0, 2**64 - 1, 2**64 - 1, 0, 0, 2**64 - 1]


@pytest.mark.parametrize("bits", ["u8", "u4", "u2"])
def test_elements_that_stay_keep_all_their_bits(bits: str) -> None:
    width = np.dtype(bits).itemsize * 8
    patterns = np.random.default_rng(1).integers(0, 2**width, (40, 50), bits, endpoint=False)
    patterns[0, :2] = (2**width - 1, 2 ** (width - 1) - 1)  # NaNs with payloads
    kind = f"FLOAT{width}"
    desc = built(
        "DIAGONAL_MATRIX1", kind, [40, 50], InputTensor={"DataType": kind, "Sizes": [40, 50]}, Value=1.5,
        DiagonalFillBegin=0, DiagonalFillEnd=0,
    )  # fmt: skip
    found = engine.run(desc, {"InputTensor": patterns.view(kind.lower())})["OutputTensor"]
    assert (found.view(bits) == patterns).all()
