"""Values as case files write them: every form, layouts, and arrays of a caller."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tensor_values import INFINITY, WIDTHS, accepted, place, read, refused

from dmlcheck.descs.records import TensorDesc
from dmlcheck.diagnostics.record import collected
from dmlcheck.files import yaml
from dmlcheck.files.document import Overflow
from dmlcheck.values.literals import Source
from dmlcheck.values.read import bytes_needed, read_values

# ---- lists


@pytest.mark.parametrize(
    ("sizes", "raw", "expected"),
    [
        ((6,), [1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6]),
        ((2, 3), [[1, 2, 3], [4, 5, 6]], [[1, 2, 3], [4, 5, 6]]),
        ((2, 3), [1, 2, 3, 4, 5, 6], [[1, 2, 3], [4, 5, 6]]),
        ((3, 2), [1, 2, 3, 4, 5, 6], [[1, 2], [3, 4], [5, 6]]),
        ((1, 1), [[7]], [[7]]),
        ((1, 1), [7], [[7]]),
        ((2, 1, 3), [[[1, 2, 3]], [[4, 5, 6]]], [[[1, 2, 3]], [[4, 5, 6]]]),
        ((2, 1, 3), [1, 2, 3, 4, 5, 6], [[[1, 2, 3]], [[4, 5, 6]]]),
        ((1, 1, 1, 2, 1), [[[[[1], [2]]]]], [[[[[1], [2]]]]]),
    ],
)
@pytest.mark.parametrize("data_type", ["FLOAT16", "FLOAT32", "FLOAT64", "INT8", "UINT64", "INT4"])
def test_a_list_is_nested_like_the_sizes_or_flat_in_row_major_order(
    sizes: tuple[int, ...], raw: list[Any], expected: list[Any], data_type: str
) -> None:
    assert accepted(raw, data_type, *sizes) == expected


def test_lists_nested_deep_are_refused_without_recursion() -> None:
    raw: Any = 1
    for _ in range(5000):
        raw = [raw]
    assert refused(raw, "FLOAT32", 1).rule == "element-count"


def test_lists_that_share_parts_are_refused_without_being_expanded() -> None:
    row = [0] * 1000
    finding = refused([[row] * 1000] * 1000, "FLOAT32", 2, 2)  # 10^9 elements, written out
    assert finding.params["found"] == "far too many elements"


def test_a_long_ragged_list_is_refused() -> None:
    assert refused([[1]] * 200_000 + [[1, 2]], "FLOAT32", 200_001, 1).rule == "element-count"


# ---- fill


@pytest.mark.parametrize(
    ("raw", "data_type", "expected"),
    [
        (0, "FLOAT32", 0.0),
        (1.5, "FLOAT16", 1.5),
        ("-inf", "FLOAT64", -INFINITY),
        ("0x1p-1", "FLOAT16", 0.5),
        (2**64 - 1, "UINT64", 2**64 - 1),
    ],
)
def test_a_fill_repeats_one_value(raw: Any, data_type: str, expected: Any) -> None:
    assert accepted({"fill": raw}, data_type, 2, 3) == [[expected] * 3] * 2


def test_a_fill_takes_no_memory_however_large_the_tensor() -> None:
    values, findings = read({"fill": 3}, "FLOAT32", 65536, 65535)
    assert findings == []
    assert values.shape == (65536, 65535)
    assert values.strides == (0, 0)
    assert values[65535, 65534] == 3


# ---- bits


@pytest.mark.parametrize(
    ("data_type", "patterns"),
    [
        ("FLOAT16", [0x3C00, 0xBC00, 0x7C00, 0xFC00, 0x8000, 0x0001, 0x7E01, 0x7C01, 0xFFFF]),
        ("FLOAT32", [0x3F800000, 0xFF800000, 0x80000000, 1, 0x7FC00123, 0x7F800001, 0xFFFFFFFF]),
        ("FLOAT64", [0x3FF0000000000000, 0x8000000000000000, 1, 0x7FF8000000000123, 0x7FF0000000000001]),
        ("UINT8", [0, 255]),
        ("UINT64", [0, 2**64 - 1]),
    ],
)
def test_bits_are_kept_as_they_are_nan_payloads_included(data_type: str, patterns: list[int]) -> None:
    values, findings = read({"bits": patterns}, data_type, len(patterns))
    assert findings == []
    assert values.view("u" + WIDTHS[data_type][1]).tolist() == patterns


@pytest.mark.parametrize(
    ("data_type", "raw", "expected"),
    [
        ("FLOAT16", [0x3C00, 0xC000], [1.0, -2.0]),
        ("INT8", [0x7F, 0x80, 0xFF], [127, -128, -1]),
        ("INT4", [0x7, 0x8, 0xF], [7, -8, -1]),
        ("UINT4", [0, 0xF], [0, 15]),
        ("INT64", [0x8000000000000000, 0xFFFFFFFFFFFFFFFF], [-(2**63), -1]),
    ],
)
def test_bits_are_those_of_the_data_type(data_type: str, raw: list[int], expected: list[Any]) -> None:
    assert accepted({"bits": raw}, data_type, len(raw)) == expected


def test_bits_may_be_nested() -> None:
    assert accepted({"bits": [[0x3C00], [0x4000]]}, "FLOAT16", 2, 1) == [[1.0], [2.0]]


@pytest.mark.parametrize("raw", [0x10000, -1, 2**70], ids=str)
def test_bits_that_are_no_pattern_of_the_width_are_refused(raw: int) -> None:
    finding = refused({"bits": [[0], [raw]]}, "FLOAT16", 2, 1)
    assert place(finding) == ("value-not-representable", "inputs.T.bits[1][0]")
    assert finding.params["type"] == "a pattern of 16 bits"


@pytest.mark.parametrize("raw", [1.0, "0x3C00", True, None], ids=str)
def test_bits_that_are_no_whole_numbers_are_refused(raw: Any) -> None:
    finding = refused({"bits": [[0], [raw]]}, "FLOAT16", 2, 1)
    assert place(finding) == ("wrong-type", "inputs.T.bits[1][0]")
    assert finding.params["expected"] == "a whole number like 0x3C00"


def test_a_pattern_of_five_bits_does_not_fit_into_four() -> None:
    assert refused({"bits": [0x10]}, "INT4", 1).rule == "value-not-representable"


@pytest.mark.parametrize(
    ("raw", "rule"),
    [(0x3C00, "wrong-type"), ({}, "wrong-type"), ([1, 2, 3], "element-count"), ([[1, 2]], "element-count")],
)
def test_bits_need_a_list_of_as_many_as_the_sizes_take(raw: Any, rule: str) -> None:
    assert place(refused({"bits": raw}, "FLOAT16", 2)) == (rule, "inputs.T.bits")


# ---- layouts


@pytest.mark.parametrize("strides", [(3, 1), (4, 1), (1, 2), (100, 7), (4294967295, 1)], ids=str)
def test_strides_only_lay_values_out(strides: tuple[int, int]) -> None:
    raw = [[1, 2, 3], [4, 5, 6]]
    assert accepted(raw, "INT16", 2, 3, strides=strides) == raw
    assert accepted({"sequence": {"start": 1}}, "INT16", 2, 3, strides=strides) == raw


@pytest.mark.parametrize(
    ("sizes", "strides", "raw"),
    [
        ((2, 3), (0, 1), [[1, 2, 3], [1, 2, 3]]),
        ((2, 3), (1, 0), [[1, 1, 1], [2, 2, 2]]),
        ((2, 3), (0, 0), [[7, 7, 7], [7, 7, 7]]),
        ((2, 3), (1, 1), [[1, 2, 3], [2, 3, 4]]),
        ((2, 2, 2), (0, 1, 1), [[[1, 2], [2, 3]], [[1, 2], [2, 3]]]),
    ],
)
@pytest.mark.parametrize("data_type", ["FLOAT32", "UINT64"])
def test_elements_that_share_a_place_may_be_given_equal_values(
    sizes: tuple[int, ...], strides: tuple[int, ...], raw: list[Any], data_type: str
) -> None:
    assert accepted(raw, data_type, *sizes, strides=strides) == raw


def test_not_a_number_agrees_with_itself_in_a_shared_place() -> None:
    values, findings = read([["nan", 1], ["nan", 1]], "FLOAT16", 2, 2, strides=(0, 1))
    assert findings == []
    assert np.isnan(values[:, 0]).all()


def test_not_a_number_does_not_agree_with_a_number_in_a_shared_place() -> None:
    _, findings = read([["nan"], [1]], "FLOAT16", 2, 1, strides=(0, 1))
    assert [finding.rule for finding in findings] == ["conflicting-elements"]


def test_bits_of_a_shared_place_must_agree() -> None:
    _, findings = read({"bits": [1, 2]}, "UINT8", 2, strides=(0,))
    assert [finding.rule for finding in findings] == ["conflicting-elements"]


def test_an_array_of_a_shared_place_must_agree() -> None:
    _, findings = read(np.array([[1, 2], [3, 2]], dtype=np.float32), "FLOAT32", 2, 2, strides=(0, 1))
    assert [finding.rule for finding in findings] == ["conflicting-elements"]


@pytest.mark.slow
@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 3), st.integers(0, 5)), min_size=1, max_size=3),
    st.data(),
)
def test_a_buffer_is_read_through_any_strides(dims: list[tuple[int, int]], data: st.DataObject) -> None:
    sizes, strides = zip(*dims, strict=True)
    extent = 1 + sum((size - 1) * stride for size, stride in dims)
    buffer = data.draw(st.lists(st.integers(-(2**31), 2**31 - 1), min_size=extent, max_size=extent))
    values, findings = read({"buffer": buffer}, "INT32", *sizes, strides=strides)
    assert findings == []
    for index in np.ndindex(*sizes):
        assert values[index] == buffer[sum(i * stride for i, stride in zip(index, strides, strict=True))]
    # What a buffer gives can be written out, and reads back the same through the same strides.
    again, findings = read(values.tolist(), "INT32", *sizes, strides=strides)
    assert findings == []
    assert np.array_equal(again, values)


@pytest.mark.parametrize(
    ("data_type", "sizes", "strides", "total", "least", "most"),
    [
        ("FLOAT32", (3,), None, None, 3, 3),
        ("FLOAT32", (3,), None, 12, 3, 3),
        ("FLOAT32", (3,), None, 16, 3, 4),
        ("FLOAT32", (3,), None, 19, 3, 4),
        ("FLOAT16", (3,), None, None, 3, 4),  # 6 bytes, rounded up to 8
        ("UINT8", (1,), None, None, 1, 4),
        ("INT4", (3,), None, None, 3, 8),
        ("UINT64", (2, 2), (3, 1), None, 5, 5),
        ("FLOAT32", (2, 2), (0, 1), 16, 2, 4),
    ],
)
def test_a_buffer_may_reach_to_the_end_of_the_tensors_bytes(
    data_type: str, sizes: tuple[int, ...], strides: tuple[int, ...] | None, total: int | None, least: int, most: int
) -> None:
    for count in range(most + 2):
        raw = {"buffer": [1] * count}
        if least <= count <= most:
            accepted(raw, data_type, *sizes, strides=strides, total_size=total)
        elif count:
            finding = refused(raw, data_type, *sizes, strides=strides, total_size=total)
            assert place(finding) == ("element-count", "inputs.T.buffer")
            takes = f"{least}" if least == most else f"{least} to {most}"
            assert finding.params["expected"] == f"its sizes and strides take {takes}"


@pytest.mark.parametrize("raw", [[], [[1, 2, 3]], [1, [2], 3], {"fill": 1}, None, 5], ids=str)
def test_a_buffer_is_a_flat_list(raw: Any) -> None:
    assert place(refused({"buffer": raw}, "FLOAT32", 3)) == ("wrong-type", "inputs.T.buffer")


@pytest.mark.parametrize(("raw", "rule"), [(300, "value-not-representable"), ("x", "wrong-type")])
def test_an_element_of_a_buffer_is_refused_at_its_own_index(raw: Any, rule: str) -> None:
    finding = refused({"buffer": [0, 1, raw]}, "UINT8", 2, 2, strides=(0, 2))
    assert place(finding) == (rule, "inputs.T.buffer[2]")


def test_an_element_of_a_buffer_is_rounded_from_its_text() -> None:
    document = yaml.parse(b"inputs: {T: {buffer: [0, 1.0000000596046447753906251]}}", "case.yaml")
    tensor = TensorDesc("FLOAT32", (2, 1), (1, 1))
    raw = document.value["inputs"]["T"]
    values, findings = collected(read_values("T", tensor, raw, ("inputs", "T"), Source("", document.literal)))
    assert findings == []
    assert values is not None
    assert values.tolist() == [[0], [1 + 2**-23]]


@pytest.mark.parametrize(
    ("sizes", "strides", "expected"),
    [
        ((2, 3), (0, 1), [[1, 2, 3], [1, 2, 3]]),
        ((2, 3), (1, 0), [[1, 1, 1], [2, 2, 2]]),
        ((2, 3), (1, 1), [[1, 2, 3], [2, 3, 4]]),
        ((2, 2), (4, 2), [[1, 2], [3, 4]]),
    ],
)
def test_a_sequence_gives_elements_in_one_place_one_value(
    sizes: tuple[int, ...], strides: tuple[int, ...], expected: list[Any]
) -> None:
    assert accepted({"sequence": {"start": 1, "step": 1}}, "INT32", *sizes, strides=strides) == expected


def test_random_numbers_of_elements_in_one_place_are_one_number() -> None:
    rows = accepted({"random": {"seed": 1}}, "FLOAT32", 3, 4, strides=(0, 1))
    assert rows[0] == rows[1] == rows[2]
    assert len(set(rows[0])) == 4


# ---- memory


@pytest.mark.parametrize(
    ("raw", "strides", "expected"),
    [
        ([], None, 24),
        ({"fill": 1}, None, 0),
        ({"sequence": {}}, (3, 1), 24),
        ({"sequence": {}}, (0, 1), 12),
        ({"random": {"seed": 1}}, (0, 0), 4),
    ],
)
def test_the_memory_of_values_is_known_before_they_are_read(
    raw: Any, strides: tuple[int, ...] | None, expected: int
) -> None:
    assert bytes_needed(TensorDesc("FLOAT32", (2, 3), strides), raw) == expected


def test_a_generator_over_shared_places_is_known_to_fill_the_whole_extent() -> None:
    tensor = TensorDesc("FLOAT32", (2, 2, 2), (1, 1, 4294967295))
    assert bytes_needed(tensor, {"sequence": {}}) >= 4 * (1 + 1 + 1 + 4294967295)


# ---- forms


@pytest.mark.parametrize("raw", [{}, {"fill": 0, "bits": [0]}], ids=["none", "two"])
def test_a_mapping_has_exactly_one_form(raw: Any) -> None:
    assert place(refused(raw, "FLOAT32", 1)) == ("wrong-type", "inputs.T")


@pytest.mark.parametrize(
    ("raw", "rule", "path"),
    [
        ({"sequence": None}, "wrong-type", "sequence"),
        ({"sequence": [0, 1]}, "wrong-type", "sequence"),
        ({"sequence": {"start": "a"}}, "wrong-type", "sequence.start"),
        ({"sequence": {"step": True}}, "wrong-type", "sequence.step"),
        ({"sequence": {"start": INFINITY}}, "wrong-type", "sequence.start"),
        ({"sequence": {"step": float("nan")}}, "wrong-type", "sequence.step"),
        ({"sequence": {"start": Overflow("1e400")}}, "wrong-type", "sequence.start"),
        ({"sequence": {"start": 32768}}, "value-not-representable", "sequence.start"),
        ({"sequence": {"start": 32766}}, "value-not-representable", "sequence.step"),
        ({"sequence": {"start": -32767, "step": -1}}, "value-not-representable", "sequence.step"),
        ({"sequence": {"start": 0.5}}, "value-not-representable", "sequence.start"),
        ({"sequence": {"step": 0.25}}, "value-not-representable", "sequence.step"),
        ({"random": 7}, "wrong-type", "random"),
        ({"random": {}}, "missing-key", "random.seed"),
        ({"random": {"seed": None}}, "missing-key", "random.seed"),
        ({"random": {"seed": 1, "binades": -1}}, "wrong-type", "random.binades"),
        ({"random": {"seed": 1, "binades": 1.5}}, "wrong-type", "random.binades"),
        ({"random": {"seed": 1, "binades": 2048}}, "wrong-type", "random.binades"),
        ({"random": {"seed": 1.5}}, "wrong-type", "random.seed"),
        ({"random": {"seed": "1"}}, "wrong-type", "random.seed"),
        ({"random": {"seed": 1, "low": 2, "high": 1}}, "wrong-type", "random.high"),
        ({"random": {"seed": 1, "low": -32769}}, "value-not-representable", "random.low"),
        ({"random": {"seed": 1, "high": 32768}}, "value-not-representable", "random.high"),
        ({"random": {"seed": 1, "low": 0.5}}, "value-not-representable", "random.low"),
        ({"file": 5}, "wrong-type", "file"),
        ({"file": ""}, "wrong-type", "file"),
        ({"file": None}, "wrong-type", "file"),
    ],
    ids=str,
)
def test_a_wrong_setting_of_a_form_is_refused_at_the_setting(raw: Any, rule: str, path: str) -> None:
    assert place(refused(raw, "INT16", 3)) == (rule, f"inputs.T.{path}")


def test_random_floats_may_be_spread_over_binades() -> None:
    # 0x5AF, the low bits of the first number of seed 0, is 1455, which leaves 6 of 21.
    (wide,) = accepted({"random": {"seed": 0, "binades": 20}}, "FLOAT64", 1)
    (plain,) = accepted({"random": {"seed": 0}}, "FLOAT64", 1)
    assert wide == plain / 2**6


def test_a_seed_may_be_as_large_as_it_likes() -> None:
    seed = 10**400
    assert accepted({"random": {"seed": seed}}, "FLOAT32", 4) == accepted(
        {"random": {"seed": seed % 2**64}}, "FLOAT32", 4
    )


def test_a_sequence_of_a_float_type_may_end_where_a_literal_may() -> None:
    assert accepted([65519], "FLOAT16", 1) == [65504]
    assert accepted({"sequence": {"start": 65519, "step": 0}}, "FLOAT16", 1) == [65504]


# ---- arrays of the caller


def test_an_array_of_the_right_type_and_shape_is_taken_as_it_is() -> None:
    given_array = np.arange(6, dtype=np.float16).reshape(2, 3)
    values, findings = read(given_array, "FLOAT16", 2, 3)
    assert findings == []
    assert values is given_array


@pytest.mark.parametrize(
    ("data_type", "array", "rule"),
    [
        ("UINT8", np.array([256]), "value-not-representable"),
        ("INT32", np.array([0.5]), "value-not-representable"),
        ("FLOAT16", np.array([1e6]), "value-not-representable"),
    ],
)
def test_an_element_that_the_data_type_cannot_hold_is_refused(data_type: str, array: Any, rule: str) -> None:
    assert place(refused(array, data_type, 1)) == (rule, "inputs.T[0]")


@pytest.mark.skipif(np.dtype(np.longdouble).itemsize == 8, reason="long doubles are doubles here")
@pytest.mark.parametrize("data_type", ["FLOAT32", "INT8"])
def test_an_array_of_long_doubles_is_refused_as_it_is_in_a_file(data_type: str) -> None:
    finding = refused(np.array([1, 2], np.longdouble), data_type, 2)
    assert (finding.rule, finding.params["found"]) == (
        "value-not-representable",
        f"an array of {np.longdouble(0).dtype}",
    )


@pytest.mark.parametrize(
    ("data_type", "array"), [("UINT4", np.array([16], np.uint8)), ("INT4", np.array([-9], np.int8))]
)
def test_an_array_of_bytes_must_fit_into_four_bits(data_type: str, array: Any) -> None:
    assert refused(array, data_type, 1).rule == "value-not-representable"


@pytest.mark.parametrize("shape", [(2, 3), (6,)])
def test_the_array_of_a_file_has_the_sizes_or_is_flat(tmp_path: Path, shape: tuple[int, ...]) -> None:
    np.save(tmp_path / "x.npy", np.arange(6, dtype=np.float32).reshape(shape))
    source = Source(str(tmp_path / "case.yaml"))
    values, findings = read({"file": "x.npy"}, "FLOAT32", 2, 3, source=source)
    assert (values.tolist(), findings) == ([[0, 1, 2], [3, 4, 5]], [])


@pytest.mark.parametrize("shape", [(3, 2), (5,), (1, 6), ()])
def test_an_array_of_other_sizes_is_refused(tmp_path: Path, shape: tuple[int, ...]) -> None:
    np.save(tmp_path / "x.npy", np.zeros(shape, np.float32))
    finding = refused({"file": "x.npy"}, "FLOAT32", 2, 3, source=Source(str(tmp_path / "case.yaml")))
    assert finding.rule == "element-count"


@pytest.mark.parametrize(("given", "has_help"), [("no\\x.npy", True), ("no/x.npy", False)])
def test_a_path_with_backslashes_is_told_what_every_system_takes(given: str, has_help: bool) -> None:
    finding = refused({"file": given}, "FLOAT32", 1)
    assert (finding.rule, finding.help is not None) == ("file-not-found", has_help)
