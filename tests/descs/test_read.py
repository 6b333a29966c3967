"""Reading a desc's fields: names, types, counts and enumerations, and every problem at once."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest

from dmlcheck.descs.read import read_desc
from dmlcheck.descs.records import OperatorDesc, TensorDesc
from dmlcheck.diagnostics.record import Finding
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
