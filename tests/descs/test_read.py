"""Reading descs: names, types, counts, enumerations, every rule of tensors, and every problem at once."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dmlcheck.descs.read import read_desc, read_tensor
from dmlcheck.descs.records import OperatorDesc, TensorDesc
from dmlcheck.descs.strides import packed_strides
from dmlcheck.diagnostics.record import Finding, collected
from dmlcheck.diagnostics.wording import pointer

INPUT = {"DataType": "FLOAT32", "Sizes": [2, 3]}
OUTPUT = {"DataType": "UINT32", "Sizes": [2, 1]}
ARGMAX: dict[str, Any] = {"InputTensor": INPUT, "OutputTensor": OUTPUT, "Axes": [1], "AxisDirection": "INCREASING"}
REDUCE: dict[str, Any] = {"Function": "SUM", "InputTensor": INPUT, "OutputTensor": INPUT, "Axes": []}
GEMM: dict[str, Any] = {
    **dict.fromkeys(("ATensor", "BTensor", "OutputTensor"), INPUT),
    "TransA": "NONE",
    "TransB": "NONE",
    "Alpha": 1,
    "Beta": 0,
}
UPSAMPLE: dict[str, Any] = {"InputTensor": INPUT, "OutputTensor": INPUT, "InterpolationMode": "LINEAR"}
FUNCTIONS = [
    "ARGMAX",
    "ARGMIN",
    "AVERAGE",
    "L1",
    "L2",
    "LOG_SUM",
    "LOG_SUM_EXP",
    "MAX",
    "MIN",
    "MULTIPLY",
    "SUM",
    "SUM_SQUARE",
]


def accepted(operator: str, raw: Any) -> OperatorDesc:
    reading = read_desc(operator, raw)
    assert reading.findings == ()
    assert reading.desc is not None
    return reading.desc


def refused(operator: str, raw: Any) -> Finding:
    """Return the one thing that is wrong with a desc's fields."""
    (finding,) = read_desc(operator, raw).findings
    return finding


def places(operator: str, raw: Any) -> list[tuple[str, str]]:
    return [(finding.rule, pointer(finding.path)) for finding in read_desc(operator, raw).findings]


def without(desc: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in desc.items() if name not in names}


# ---- operators


@pytest.mark.parametrize("name", ["ARGMAX", "ARGMIN", "REDUCE", "ACTIVATION_HARDMAX", "ACTIVATION_HARDMAX1"])
def test_an_operator_goes_by_its_full_or_its_short_name(name: str) -> None:
    for spelt in (name, "DML_OPERATOR_" + name):
        desc = read_desc(spelt, {}).desc
        assert desc is not None
        assert desc.spec.operator == "DML_OPERATOR_" + name
        assert desc.spec.short == name


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "help"),
    [
        ("ARGMAXX", "did you mean ARGMAX?"),
        ("DML_OPERATOR_ARGMAXX", "did you mean DML_OPERATOR_ARGMAX?"),
        ("argmax", "did you mean ARGMAX?"),
        ("REDUCES", "did you mean REDUCE?"),
        ("QQQQ", "`dmlcheck show` lists the operators"),
        ("DML_OPERATOR_", "`dmlcheck show` lists the operators"),
    ],
)
def test_an_unknown_operator_is_refused_with_the_closest_in_the_same_spelling(name: str, help: str) -> None:
    reading = read_desc(name, ARGMAX)
    assert reading.desc is None
    (finding,) = reading.findings
    assert (finding.rule, finding.path) == ("unknown-operator", ("operator",))
    assert finding.message == f"{name} is not an operator that dmlcheck knows"
    assert finding.help == help


@pytest.mark.parametrize("name", ["HARDMAX", "HARDMAX1", "DML_OPERATOR_HARDMAX1"])
def test_an_activation_without_its_family_is_offered_in_full(name: str) -> None:
    assert "ACTIVATION_" + name.removeprefix("DML_OPERATOR_") in (refused(name, {}).help or "")


def test_an_operator_without_a_name_is_refused() -> None:
    assert refused("", {}).message == "'' is not an operator that dmlcheck knows"


@pytest.mark.parametrize("raw", [None, [], "x", 5, True], ids=str)
def test_a_desc_is_a_mapping(raw: Any) -> None:
    finding = refused("ARGMAX", raw)
    assert (finding.rule, finding.path) == ("field-type", ("desc",))
    assert finding.params["expected"] == "a mapping with the fields of DML_OPERATOR_ARGMAX"


# ---- fields


def test_every_field_is_read() -> None:
    desc = accepted("ARGMAX", ARGMAX)
    assert desc.values == {
        "InputTensor": TensorDesc("FLOAT32", (2, 3)),
        "OutputTensor": TensorDesc("UINT32", (2, 1)),
        "AxisCount": 1,
        "Axes": (1,),
        "AxisDirection": "INCREASING",
    }
    assert [part.label for part in desc.tensors()] == ["InputTensor", "OutputTensor"]


def test_any_mapping_and_tuples_do() -> None:
    raw = MappingProxyType({**ARGMAX, "Axes": (1,), "InputTensor": MappingProxyType({**INPUT, "Sizes": (2, 3)})})
    assert accepted("ARGMAX", raw).values == accepted("ARGMAX", ARGMAX).values


@pytest.mark.parametrize(
    ("name", "help"),
    [
        ("AxisDirektion", "leave AxisDirektion out; AxisDirection is given already"),
        ("axes", "leave axes out; Axes is given already"),
        ("InputTensors", "leave InputTensors out; InputTensor is given already"),
        ("AxisCounter", "did you mean AxisCount?"),
        ("Qqq", "its fields are InputTensor, OutputTensor, AxisCount, Axes, AxisDirection"),
    ],
)
def test_a_misspelt_field_is_refused_at_its_key_with_the_closest(name: str, help: str) -> None:
    finding = refused("ARGMAX", {**ARGMAX, name: 1})
    assert (finding.rule, finding.path, finding.at_key) == ("unknown-field", ("desc", name), True)
    assert finding.message == f"DML_OPERATOR_ARGMAX has no field {name}"
    assert finding.help == help


def test_a_field_of_another_operator_is_unknown() -> None:
    assert places("ACTIVATION_HARDMAX", {"InputTensor": INPUT, "OutputTensor": INPUT, "Axes": [0]}) == [
        ("unknown-field", "desc.Axes")
    ]


# ---- enumerations


@pytest.mark.parametrize("function", FUNCTIONS)
def test_every_function_of_reduce_goes_by_its_full_name_or_its_suffix(function: str) -> None:
    for spelt in (function, "DML_REDUCE_FUNCTION_" + function):
        assert accepted("REDUCE", {**REDUCE, "Function": spelt}).values["Function"] == function


@pytest.mark.parametrize("direction", ["INCREASING", "DECREASING"])
def test_every_axis_direction_goes_by_its_full_name_or_its_suffix(direction: str) -> None:
    for spelt in (direction, "DML_AXIS_DIRECTION_" + direction):
        assert accepted("ARGMIN", {**ARGMAX, "AxisDirection": spelt}).values["AxisDirection"] == direction


@pytest.mark.parametrize(("number", "name"), [(0, "ARGMAX"), (10, "SUM"), (11, "SUM_SQUARE")])
def test_an_enumeration_value_may_be_its_number(number: int, name: str) -> None:
    assert accepted("REDUCE", {**REDUCE, "Function": number}).values["Function"] == name


@pytest.mark.parametrize("number", [-1, 12, 10**30])
def test_a_number_that_an_enumeration_does_not_have_is_refused(number: int) -> None:
    finding = refused("REDUCE", {**REDUCE, "Function": number})
    assert (finding.rule, finding.path) == ("unknown-enum-value", ("desc", "Function"))
    assert str(finding.note).startswith("one of ARGMAX (0) ARGMIN (1) ")


@pytest.mark.parametrize(("found", "text"), [(1.0, "1.0"), (True, "true"), (["SUM"], "a list of 1"), ({}, "a mapping")])
def test_an_enumeration_value_is_text_or_a_number(found: Any, text: str) -> None:
    finding = refused("REDUCE", {**REDUCE, "Function": found})
    assert (finding.rule, finding.path) == ("field-type", ("desc", "Function"))
    assert finding.message == f"Function is {text}; it must be a value of DML_REDUCE_FUNCTION"


# ---- counts and arrays


@pytest.mark.parametrize(("sizes", "axes"), [((2, 3), []), ((2, 3), [1]), ((2, 3), [0, 1]), ((1,) * 8, list(range(8)))])
def test_a_count_follows_from_its_array(sizes: tuple[int, ...], axes: list[int]) -> None:
    tensor = {"DataType": "FLOAT32", "Sizes": list(sizes)}
    raw = {**REDUCE, "InputTensor": tensor, "OutputTensor": tensor, "Axes": axes}
    for extra in ({}, {"AxisCount": None}, {"AxisCount": len(axes)}):
        assert accepted("REDUCE", {**raw, **extra}).values["AxisCount"] == len(axes)


def test_a_count_without_its_array_is_not_compared() -> None:
    assert places("ARGMAX", {**without(ARGMAX, "Axes"), "AxisCount": 7}) == [("missing-field", "desc.Axes")]


def test_a_count_beside_a_wrong_array_is_not_compared() -> None:
    assert places("ARGMAX", {**ARGMAX, "Axes": ["x", 0], "AxisCount": 7}) == [("field-type", "desc.Axes[0]")]


def test_the_largest_uint_is_an_axis_as_far_as_types_go() -> None:
    assert accepted("ARGMAX", {**ARGMAX, "Axes": [2**32 - 1]}).values["Axes"] == (4294967295,)


# ---- misspelt fields


@pytest.mark.parametrize(
    ("operator", "raw", "key", "help"),
    [
        ("ARGMAX", {**without(ARGMAX, "AxisDirection"), "AxisDirektion": "UP"}, ("AxisDirektion",), "AxisDirection"),
        ("ARGMAX", {**without(ARGMAX, "InputTensor"), "InputTensr": INPUT}, ("InputTensr",), "InputTensor"),
        ("ARGMAX", {**ARGMAX, "Axes": None, "axes": [1]}, ("axes",), "Axes"),
        ("ARGMAX", {**ARGMAX, "InputTensor": {"Datatype": 5, "Sizes": [1]}}, ("InputTensor", "Datatype"), "DataType"),
        ("ARGMAX", {**ARGMAX, "InputTensor": {"DataType": "INT8", "Size": 1}}, ("InputTensor", "Size"), "Sizes"),
        ("UPSAMPLE_2D", {**UPSAMPLE, "ScaleSize": {"Width": 2, "Hight": 2}}, ("ScaleSize", "Hight"), "Height"),
        ("GEMM", {**GEMM, "FusedActivation": {"type": "ACTIVATION_RELU"}}, ("FusedActivation", "type"), "Type"),
        (
            "GEMM",
            {**GEMM, "FusedActivation": {"Type": "ACTIVATION_ELU", "desc": {}}},
            ("FusedActivation", "desc"),
            "Desc",
        ),
        ("GEMM", {**GEMM, "ATensor": {"Type": "BUFFER", "desc": INPUT}}, ("ATensor", "desc"), "Desc"),
        ("GEMM", {**GEMM, "ATensor": {"type": "BUFFER", "Desc": INPUT}}, ("ATensor", "type"), "Type"),
    ],
)
def test_a_misspelt_field_is_not_missing_as_well(operator: str, raw: Any, key: tuple[str, ...], help: str) -> None:
    finding = refused(operator, raw)
    assert (finding.rule, finding.path) == ("unknown-field", ("desc", *key))
    assert finding.help == f"did you mean {help}?"


def test_another_field_stands_for_none_that_is_missing() -> None:
    assert places("ARGMAX", {**without(ARGMAX, "AxisDirection"), "Axis": 0}) == [
        ("missing-field", "desc.AxisDirection"),
        ("unknown-field", "desc.Axis"),
    ]
    assert places("GEMM", {**without(GEMM, "BTensor"), "DTensor": INPUT}) == [
        ("missing-field", "desc.BTensor"),
        ("unknown-field", "desc.DTensor"),
    ]


def test_of_an_operator_inside_another_the_fields_that_it_may_have_there_are_named() -> None:
    help = {
        name: refused("GEMM", {**GEMM, "FusedActivation": {"Type": name, "Alpha": 1, "Colour": 1}}).help
        for name in ("ACTIVATION_ELU", "ACTIVATION_LEAKY_RELU")
    }
    assert help == dict.fromkeys(("ACTIVATION_ELU", "ACTIVATION_LEAKY_RELU"), "its fields are Alpha")
    relu = refused("GEMM", {**GEMM, "FusedActivation": {"Type": "ACTIVATION_RELU", "Colour": 1}})
    assert relu.help == "it has none here"


def test_a_misspelt_field_counts_as_one_that_is_wrong() -> None:
    desc = read_desc("ARGMAX", {**without(ARGMAX, "Axes"), "Axis": [1]}).desc
    assert desc is not None
    assert desc.broken == {"Axes"}


# ---- everything at once


def test_all_that_is_wrong_with_a_desc_is_reported_at_once() -> None:
    raw = {
        "InputTensor": {"DataType": "FLOAT33", "Sizes": [2, 0]},
        "OutputTensor": {"DataType": "UINT32", "Sizes": [1], "Strides": [1, 1], "Flags": "OWNED_BY_DML"},
        "AxisCount": 3,
        "Axes": [0],
        "AxisDirektion": "INCREASING",
    }
    assert set(places("ARGMAX", raw)) >= {
        ("unknown-enum-value", "desc.InputTensor.DataType"),
        ("invalid-strides", "desc.OutputTensor.Strides"),
        ("invalid-flags", "desc.OutputTensor.Flags"),
        ("count-mismatch", "desc.AxisCount"),
        ("unknown-field", "desc.AxisDirektion"),
    }


def test_a_field_that_is_wrong_is_not_in_the_desc() -> None:
    desc = read_desc("ARGMAX", {**ARGMAX, "InputTensor": {"DataType": "X", "Sizes": [1]}, "AxisDirection": "UP"}).desc
    assert desc is not None
    assert set(desc.values) == {"OutputTensor", "AxisCount", "Axes"}
    assert [part.label for part in desc.tensors()] == ["OutputTensor"]


BITS = {
    "FLOAT16": 16, "FLOAT32": 32, "FLOAT64": 64, "INT4": 4, "INT8": 8, "INT16": 16, "INT32": 32, "INT64": 64,
    "UINT4": 4, "UINT8": 8, "UINT16": 16, "UINT32": 32, "UINT64": 64,
}  # fmt: skip


def read(given_desc: Any, *, is_output: bool = False) -> tuple[TensorDesc | None, list[Finding]]:
    """Return what a tensor desc becomes and what is found wrong with it."""
    return collected(read_tensor("T", given_desc, ("T",), is_output=is_output))


def tensor_accepted(given_desc: Any, *, is_output: bool = False) -> TensorDesc:
    tensor, findings = read(given_desc, is_output=is_output)
    assert findings == []
    assert tensor is not None
    return tensor


def tensor_places(given_desc: Any, *, is_output: bool = False) -> list[tuple[str, str]]:
    """Return the rules that a tensor desc breaks, each with its place."""
    return [(finding.rule, pointer(finding.path)) for finding in read(given_desc, is_output=is_output)[1]]


def tensor_refused(given_desc: Any, *, is_output: bool = False) -> Finding:
    """Return the one thing that is wrong with a tensor desc."""
    (finding,) = read(given_desc, is_output=is_output)[1]
    return finding


def tensor_of(*sizes: Any, data_type: Any = "FLOAT32", **fields: Any) -> dict[str, Any]:
    return {"DataType": data_type, "Sizes": list(sizes), **fields}


def offsets(sizes: tuple[int, ...], strides: tuple[int, ...]) -> list[int]:
    """Return where every element of a tensor lies, counted in elements."""
    indices = itertools.product(*map(range, sizes))
    return [sum(i * stride for i, stride in zip(index, strides, strict=True)) for index in indices]


# ---- fields


@pytest.mark.parametrize("data_type", BITS)
def test_a_data_type_may_be_given_in_full_or_by_its_suffix(data_type: str) -> None:
    assert tensor_accepted(tensor_of(2, 3, data_type=data_type)) == TensorDesc(data_type, (2, 3))
    assert tensor_accepted(tensor_of(2, 3, data_type="DML_TENSOR_DATA_TYPE_" + data_type)) == TensorDesc(
        data_type, (2, 3)
    )


def test_a_tensor_needs_only_its_data_type_and_sizes() -> None:
    assert tensor_accepted(tensor_of(2, 3)) == TensorDesc("FLOAT32", (2, 3), None, None, 0, "NONE")


def test_every_field_of_a_tensor_is_read() -> None:
    given_desc = tensor_of(
        2, 3, Flags="OWNED_BY_DML", DimensionCount=2, Strides=[4, 1], TotalTensorSizeInBytes=64,
        GuaranteedBaseOffsetAlignment=16,
    )  # fmt: skip
    assert tensor_accepted(given_desc) == TensorDesc("FLOAT32", (2, 3), (4, 1), 64, 16, "OWNED_BY_DML")


def test_optional_fields_may_be_null() -> None:
    given_desc = tensor_of(
        2, 3, Flags=None, DimensionCount=None, Strides=None, TotalTensorSizeInBytes=None,
        GuaranteedBaseOffsetAlignment=None,
    )  # fmt: skip
    assert tensor_accepted(given_desc) == TensorDesc("FLOAT32", (2, 3))


def test_numbers_are_read_as_the_header_has_them() -> None:
    # DML_TENSOR_DATA_TYPE_FLOAT16 is 2, DML_TENSOR_FLAG_OWNED_BY_DML is 1, DML_TENSOR_TYPE_BUFFER is 1.
    tensor, findings = read({"Type": 1, "Desc": tensor_of(2, data_type=2, Flags=1)})
    assert findings == []
    assert tensor is not None
    assert (tensor.data_type, tensor.flags) == ("FLOAT16", "OWNED_BY_DML")


@pytest.mark.parametrize("key", ["Sizes", "Strides"])
@pytest.mark.parametrize(
    ("element", "text"),
    [
        (True, "true"), (False, "false"), (1.0, "1.0"), (1.5, "1.5"), ("1", "'1'"), (-1, "-1"), (2**32, "4294967296"),
        (None, "null"), ([1], "a list of 1"), ({}, "a mapping"), (float("nan"), "nan"),
    ],
    ids=str,
)  # fmt: skip
def test_an_element_that_is_no_uint_is_refused_where_it_stands(key: str, element: Any, text: str) -> None:
    finding = tensor_refused({**tensor_of(1, 1), key: [1, element]})
    assert (finding.rule, finding.path) == ("field-type", ("T", key, 1))
    assert finding.message == f"T.{key}[1] is {text}; it must be a whole number from 0 to 4294967295"


@pytest.mark.parametrize("key", ["Sizes", "Strides"])
@pytest.mark.parametrize("found", [3, True, 1.5, "1, 2", {"0": 1}], ids=str)
def test_sizes_and_strides_are_lists(key: str, found: Any) -> None:
    finding = tensor_refused({**tensor_of(1), key: found})
    assert (finding.rule, finding.path) == ("field-type", ("T", key))
    assert finding.help == ("write [3]" if found == 3 else None)


def test_all_wrong_elements_are_reported() -> None:
    assert tensor_places(tensor_of(-1, 2, "x", 2**32)) == [
        ("field-type", "T.Sizes[0]"), ("field-type", "T.Sizes[2]"), ("field-type", "T.Sizes[3]"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("key", "most"),
    [
        ("DimensionCount", 2**32 - 1),
        ("GuaranteedBaseOffsetAlignment", 2**32 - 1),
        ("TotalTensorSizeInBytes", 2**64 - 1),
    ],
)
def test_a_number_has_the_width_that_the_struct_gives_it(key: str, most: int) -> None:
    for found in (True, 4.0, "4", -1, [4], {}, float("inf"), most + 1, 10**30):
        finding = tensor_refused(tensor_of(1, **{key: found}))
        assert (finding.rule, finding.path) == ("field-type", ("T", key))
        assert finding.params["expected"] == f"a whole number from 0 to {most}"


def test_a_number_of_more_digits_than_python_prints_is_refused() -> None:
    assert tensor_places(tensor_of(int("f" * 3990, 16))) == [("field-type", "T.Sizes[0]")]


def test_the_largest_total_size_is_read() -> None:
    assert tensor_accepted(tensor_of(1, TotalTensorSizeInBytes=2**64 - 1)).total_size == 2**64 - 1


# ---- sizes


@pytest.mark.parametrize(
    ("sizes", "at"), [((0,), [0]), ((0, 3), [0]), ((3, 0), [1]), ((2, 0, 4, 0), [1, 3]), ((0, 4294967295), [0])]
)
@pytest.mark.parametrize("is_output", [False, True])
def test_no_size_may_be_0(sizes: tuple[int, ...], at: list[int], is_output: bool) -> None:
    tensor, findings = read(tensor_of(*sizes), is_output=is_output)
    assert tensor is None
    assert [(finding.rule, finding.path) for finding in findings] == [
        ("invalid-sizes", ("T", "Sizes", axis)) for axis in at
    ]
    assert findings[0].message == f"T.Sizes has a 0 at dimension {at[0]}; every size must be at least 1"


@pytest.mark.parametrize(
    "sizes", [(2**32 - 1,), (1, 2**32 - 1, 1), (65535, 65537), (3, 5, 17, 257, 65537), (2,) * 31, (1,) * 20]
)
@pytest.mark.parametrize("data_type", ["UINT4", "FLOAT64"])
def test_a_tensor_may_have_2_to_the_32nd_minus_1_elements(sizes: tuple[int, ...], data_type: str) -> None:
    assert tensor_accepted(tensor_of(*sizes, data_type=data_type)).sizes == sizes


@pytest.mark.parametrize(
    ("sizes", "count"),
    [
        ((65536, 65536), "4,294,967,296"),
        ((2,) * 32, "4,294,967,296"),
        ((2, 2**31), "4,294,967,296"),
        ((2, 2**32 - 1), "8,589,934,590"),
        ((2**32 - 1, 2**32 - 1), "18,446,744,065,119,617,025"),
    ],
)
@pytest.mark.parametrize("fields", [{}, {"Flags": "NONE"}], ids=["short", "long"])
def test_a_tensor_may_not_have_2_to_the_32nd_elements(sizes: tuple[int, ...], count: str, fields: Any) -> None:
    tensor, (finding,) = read(tensor_of(*sizes, **fields))
    assert tensor is None
    assert (finding.rule, finding.path) == ("invalid-sizes", ("T", "Sizes"))
    assert finding.message == f"T.Sizes make {count} elements; a tensor has at most 4,294,967,295"


# ---- counts


@pytest.mark.parametrize("sizes", [(3,), (2, 3), (1,) * 8])
def test_the_dimension_count_agrees_with_the_sizes(sizes: tuple[int, ...]) -> None:
    assert tensor_accepted(tensor_of(*sizes, DimensionCount=len(sizes))).sizes == sizes
    for wrong in {0, len(sizes) - 1, len(sizes) + 1, 2**32 - 1} - {len(sizes)}:
        finding = tensor_refused(tensor_of(*sizes, DimensionCount=wrong))
        assert (finding.rule, finding.path) == ("count-mismatch", ("T", "DimensionCount"))
        assert (
            finding.message
            == f"T.DimensionCount is {wrong}, and T.Sizes has {len(sizes)} element{'s' * (len(sizes) > 1)}"
        )
        assert finding.help == f"write {len(sizes)}, or leave DimensionCount out"


# ---- overlap


@pytest.mark.parametrize(
    ("sizes", "strides"),
    [
        ((2, 3), (3, 1)), ((2, 3), (1, 2)), ((2, 3), (4, 1)), ((1, 3), (0, 1)), ((3, 1), (1, 0)), ((1, 1), (0, 0)),
        ((2, 2), (2, 1)), ((2, 2), (3, 2)), ((2, 3), (5, 2)), ((2, 3), (3, 2)), ((3, 3), (2, 5)), ((4, 3), (3, 4)),
        ((2, 2), (2**32 - 1, 1)), ((65536, 65535), (65535, 1)),
    ],
)  # fmt: skip
def test_an_output_may_have_strides_that_give_every_element_its_place(
    sizes: tuple[int, ...], strides: tuple[int, ...]
) -> None:
    assert tensor_accepted(tensor_of(*sizes, Strides=list(strides)), is_output=True).strides == strides


def test_a_stride_of_0_on_an_output_is_named_by_its_dimension() -> None:
    finding = tensor_refused(tensor_of(2, 3, 4, Strides=[12, 0, 1]), is_output=True)
    assert (finding.rule, finding.path) == ("invalid-strides", ("T", "Strides", 1))
    assert finding.params["problem"] == "has a 0 at dimension 1 of size 3; an output's elements may not share memory"
    assert finding.help == "packed strides are [12, 4, 1], as if Strides were left out"


@pytest.mark.parametrize("strides", [[0, 1], [1, 0], [0, 0], [1, 1], [2, 1]], ids=str)
def test_an_inputs_elements_may_overlap(strides: list[int]) -> None:
    assert tensor_accepted(tensor_of(2, 3, Strides=strides)).strides == tuple(strides)


DIMS = st.lists(st.tuples(st.integers(1, 5), st.integers(0, 30)), min_size=1, max_size=4)


# ---- bytes


@pytest.mark.parametrize(
    ("data_type", "sizes", "strides", "needed"),
    [
        ("FLOAT32", (3, 3), None, 36),
        ("FLOAT32", (1,), None, 4),
        ("FLOAT16", (1,), None, 4),  # 2 bytes, rounded up
        ("FLOAT16", (3,), None, 8),  # 6, rounded up
        ("UINT8", (4,), None, 4),
        ("UINT8", (5,), None, 8),
        ("FLOAT64", (3,), None, 24),
        ("INT4", (8,), None, 4),  # two a byte
        ("INT4", (9,), None, 8),  # 4.5 bytes: 5, rounded up
        ("UINT4", (1,), None, 4),
        ("FLOAT32", (3, 3), (4, 1), 44),  # (2*4 + 2*1 + 1) * 4
        ("FLOAT32", (3, 3), (0, 1), 12),
        ("FLOAT32", (3, 3), (0, 0), 4),
        ("FLOAT32", (3, 3), (1, 3), 36),
        ("UINT8", (2, 2), (100, 3), 104),
        ("FLOAT64", (2**32 - 1,), None, 34359738360),
        ("FLOAT64", (2,), (2**32 - 1,), 34359738368),
        ("UINT4", (2**32 - 1,), None, 2147483648),
    ],
)
@pytest.mark.parametrize("is_output", [False, True])
def test_the_total_size_is_at_least_what_the_elements_reach_over(
    data_type: str, sizes: tuple[int, ...], strides: tuple[int, ...] | None, needed: int, is_output: bool
) -> None:
    fields: dict[str, Any] = {} if strides is None else {"Strides": list(strides)}
    if is_output and strides is not None and 0 in strides:
        return
    for enough in (needed, needed + 1, needed + 4, 2**64 - 1):
        desc = tensor_of(*sizes, data_type=data_type, **fields, TotalTensorSizeInBytes=enough)
        assert tensor_accepted(desc, is_output=is_output).implied_bytes == needed
    for little in (needed - 1, needed - 4, 0):
        desc = tensor_of(*sizes, data_type=data_type, **fields, TotalTensorSizeInBytes=little)
        finding = tensor_refused(desc, is_output=is_output)
        assert (finding.rule, finding.path) == ("tensor-too-small", ("T", "TotalTensorSizeInBytes"))
        assert finding.params == {"tensor": "T", "found": little, "needed": needed}
        assert finding.help == f"write {needed} or more, or leave TotalTensorSizeInBytes out"


@settings(deadline=None)
@given(st.sampled_from(sorted(BITS)), DIMS, st.booleans())
def test_the_implied_size_agrees_with_the_last_byte_of_the_last_element(
    data_type: str, dims: list[tuple[int, int]], is_packed: bool
) -> None:
    sizes = tuple(size for size, _ in dims)
    strides = packed_strides(sizes) if is_packed else tuple(stride for _, stride in dims)
    last_bit = max((offset + 1) * BITS[data_type] for offset in offsets(sizes, strides))
    needed = 0
    while needed * 8 < last_bit:
        needed += 4
    desc = tensor_of(*sizes, data_type=data_type, **({} if is_packed else {"Strides": list(strides)}))
    assert tensor_accepted(desc).implied_bytes == needed
    assert tensor_places({**desc, "TotalTensorSizeInBytes": needed}) == []
    assert tensor_places({**desc, "TotalTensorSizeInBytes": needed - 1}) == [
        ("tensor-too-small", "T.TotalTensorSizeInBytes")
    ]


# ---- alignment


@pytest.mark.parametrize("data_type", BITS)
def test_an_alignment_is_0_or_a_power_of_two_from_16_on(data_type: str) -> None:
    for alignment in (0, *(2**power for power in range(4, 32))):
        desc = tensor_of(2, data_type=data_type, GuaranteedBaseOffsetAlignment=alignment)
        assert tensor_accepted(desc).alignment == alignment
    for alignment in (1, 2, 4, 8, 3, 5, 6, 7, 12, 24, 2**31 + 1, 2**32 - 1):
        finding = tensor_refused(tensor_of(2, data_type=data_type, GuaranteedBaseOffsetAlignment=alignment))
        assert (finding.rule, finding.path) == ("invalid-alignment", ("T", "GuaranteedBaseOffsetAlignment"))
        assert finding.params == {"tensor": "T", "found": alignment, "least": 16}
        holds_an_element = alignment in (1, 2, 4, 8) and alignment * 8 >= BITS[data_type]
        assert finding.is_measured == holds_an_element  # which is all that the page asks for


# ---- flags


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ("NONE", "NONE"),
        ("DML_TENSOR_FLAG_NONE", "NONE"),
        ("OWNED_BY_DML", "OWNED_BY_DML"),
        ("DML_TENSOR_FLAG_OWNED_BY_DML", "OWNED_BY_DML"),
        ([], "NONE"),
        (["NONE"], "NONE"),
        (["DML_TENSOR_FLAG_OWNED_BY_DML"], "OWNED_BY_DML"),
        (["NONE", "OWNED_BY_DML"], "OWNED_BY_DML"),
    ],
    ids=str,
)
def test_flags_are_one_or_a_list(flags: Any, expected: str) -> None:
    assert tensor_accepted(tensor_of(2, Flags=flags)).flags == expected


@pytest.mark.parametrize("flags", ["OWNED_BY_DML", "DML_TENSOR_FLAG_OWNED_BY_DML", ["NONE", "OWNED_BY_DML"]], ids=str)
def test_an_output_may_not_be_owned_by_directml(flags: Any) -> None:
    finding = tensor_refused(tensor_of(2, Flags=flags), is_output=True)
    assert (finding.rule, finding.path) == ("invalid-flags", ("T", "Flags"))
    assert finding.message == "T.Flags is OWNED_BY_DML; only an input can be owned by DirectML"
    assert finding.help == "leave Flags out"


@pytest.mark.parametrize("flags", ["NONE", [], None], ids=str)
def test_an_output_may_say_that_it_has_no_flags(flags: Any) -> None:
    assert tensor_accepted(tensor_of(2, Flags=flags), is_output=True).flags == "NONE"


# ---- the long form


@pytest.mark.parametrize("kind", ["BUFFER", "DML_TENSOR_TYPE_BUFFER", None])
def test_a_tensor_may_be_given_as_a_type_and_a_desc(kind: str | None) -> None:
    assert tensor_accepted({"Type": kind, "Desc": tensor_of(2, 3)}) == TensorDesc("FLOAT32", (2, 3))


def test_either_part_of_the_long_form_may_stand_alone() -> None:
    assert tensor_accepted({"Desc": tensor_of(2, 3)}) == TensorDesc("FLOAT32", (2, 3))
    assert tensor_accepted({"Type": "BUFFER", **tensor_of(2, 3)}) == TensorDesc("FLOAT32", (2, 3))


def test_findings_in_the_long_form_stand_inside_desc() -> None:
    given_desc = {"Type": "BUFFER", "Desc": tensor_of(2, 0, data_type="FLOAT33", Strides=[1])}
    assert sorted(tensor_places(given_desc)) == [
        ("invalid-sizes", "T.Desc.Sizes[1]"),
        ("invalid-strides", "T.Desc.Strides"),
        ("unknown-enum-value", "T.Desc.DataType"),
    ]


@pytest.mark.parametrize("inner", [None, [], "x", 5], ids=str)
def test_the_desc_of_the_long_form_is_a_mapping(inner: Any) -> None:
    tensor, findings = read({"Type": "BUFFER", "Desc": inner})
    assert tensor is None
    assert [(finding.rule, pointer(finding.path)) for finding in findings] == [("field-type", "T.Desc")]


def test_fields_beside_desc_are_refused() -> None:
    finding = tensor_refused({"Type": "BUFFER", "Desc": tensor_of(2), "Strides": [1]})
    assert (finding.rule, finding.path, finding.at_key) == ("unknown-field", ("T", "Strides"), True)
    assert finding.help == "with Desc, all fields but Type belong inside it"


def test_a_desc_inside_a_desc_is_not_unwrapped_again() -> None:
    found = tensor_places({"Desc": {"Type": "BUFFER", "Desc": tensor_of(2)}})
    assert ("unknown-field", "T.Desc.Desc") in found
    assert ("missing-field", "T.Desc.Sizes") in found
