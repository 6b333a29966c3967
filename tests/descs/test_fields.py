"""Fields of every type, right and wrong, on an operator made for it."""

from __future__ import annotations

from typing import Any

import pytest
from made_operator import NESTED, desc, read, tensor

from dmlcheck.descs.fields import read_enum
from dmlcheck.diagnostics.wording import pointer

pytestmark = pytest.mark.usefixtures("made_operators")


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"Windows": [1, 2], "Strides": [-1, 1]}, {"Windows": (1, 2), "Strides": (-1, 1), "Count": 2}),
        ({"Mode": "DML_PADDING_MODE_EDGE"}, {"Mode": "EDGE"}),
        ({"Kind": "FLOAT16"}, {"Kind": "FLOAT16"}),
        ({"Flag": True}, {"Flag": True}),
        ({"Flag": 0}, {"Flag": False}),
        ({"Alpha": 1}, {"Alpha": 1}),
        ({"Alpha": "-inf"}, {"Alpha": float("-inf")}),
        ({"Scale": {"Width": 2, "Height": 3}}, {"Scale": (2, 3)}),
        ({"ScaleBias": {"Scale": 2, "Bias": -0.5}}, {"ScaleBias": (2, -0.5)}),
        ({"Kind": "UINT8", "Value": 255}, {"Value": 255}),
        ({"Kind": "UINT8", "Value": 7.0}, {"Value": 7.0}),
        ({"Kind": "FLOAT32", "Value": 0.5}, {"Value": 0.5}),
        ({"Kind": "FLOAT16", "Value": 65519}, {"Value": 65519}),
        ({"Kind": "FLOAT16", "Value": "-inf"}, {"Value": float("-inf")}),
        ({"Value": None, "Fused": None, "Parts": None}, {}),
        ({"Parts": []}, {"Parts": ()}),
    ],
)
def test_a_field_of_each_type_is_read(fields: dict[str, Any], expected: dict[str, Any]) -> None:
    values = desc(**fields).values
    assert {key: value for key, value in values.items() if key != "A"} == {
        **({"Windows": (1, 2)} if "Windows" in fields else {}),
        **{key: values[key] for key in fields if fields[key] is not None and key not in expected},
        **expected,
    }


@pytest.mark.parametrize(
    ("fields", "rule", "place"),
    [
        ({"Windows": [1, -2]}, "field-type", "desc.Windows[1]"),
        ({"Windows": 3}, "field-type", "desc.Windows"),
        ({"Strides": [2**31]}, "field-type", "desc.Strides[0]"),
        ({"Axis": True}, "field-type", "desc.Axis"),
        ({"Axis": 1.0}, "field-type", "desc.Axis"),
        ({"Mode": "ROUND"}, "unknown-enum-value", "desc.Mode"),
        ({"Flag": 2}, "field-type", "desc.Flag"),
        ({"Flag": "TRUE"}, "field-type", "desc.Flag"),
        ({"Alpha": 1e39}, "field-type", "desc.Alpha"),
        ({"Alpha": "much"}, "field-type", "desc.Alpha"),
        ({"Alpha": 10**400}, "field-type", "desc.Alpha"),
        ({"Scale": [2, 3]}, "field-type", "desc.Scale"),
        ({"Scale": {"Width": 2}}, "missing-field", "desc.Scale.Height"),
        ({"Scale": {"Width": 2, "Height": 2, "Depth": 1}}, "unknown-field", "desc.Scale.Depth"),
        ({"Scale": {"Width": 2, "Height": -2}}, "field-type", "desc.Scale.Height"),
        ({"ScaleBias": {"Scale": "x", "Bias": 0}}, "field-type", "desc.ScaleBias.Scale"),
        ({"Kind": "UINT8", "Value": 256}, "value-not-representable", "desc.Value"),
        ({"Kind": "UINT8", "Value": 0.5}, "value-not-representable", "desc.Value"),
        ({"Kind": "INT64", "Value": "nan"}, "value-not-representable", "desc.Value"),
        ({"Value": [1]}, "field-type", "desc.Value"),
        ({"Parts": tensor(1)}, "field-type", "desc.Parts"),
        ({"Parts": [tensor(1), tensor(0)]}, "invalid-sizes", "desc.Parts[1].Sizes[0]"),
        ({"Parts": [tensor(1), None]}, "field-type", "desc.Parts[1]"),
        ({"Fused": "ACTIVATION_RELU"}, "field-type", "desc.Fused"),
        ({"Fused": {"Type": "NO_SUCH"}}, "unknown-operator", "desc.Fused.Type"),
        ({"Fused": {"Type": NESTED}}, "missing-field", "desc.Fused.Steepness"),
        ({"Fused": {"Type": NESTED, "Steepness": "x"}}, "field-type", "desc.Fused.Steepness"),
        ({"Fused": {"Type": NESTED, "Desc": 3}}, "field-type", "desc.Fused.Desc"),
        (
            {"Fused": {"Type": NESTED, "Desc": {"Steepness": 1}, "Steepness": 2}},
            "unknown-field",
            "desc.Fused.Steepness",
        ),
        ({"Fused": {"Steepness": 1}}, "missing-field", "desc.Fused.Type"),
        ({"Fused": {"Type": 5}}, "field-type", "desc.Fused.Type"),
        ({"Kind": "FLOAT32", "Value": 1e39}, "value-not-representable", "desc.Value"),
        ({"Kind": "FLOAT16", "Value": 65520}, "value-not-representable", "desc.Value"),
        ({"Kind": "FLOAT64", "Value": 10**400}, "value-not-representable", "desc.Value"),
        ({"Fused": {"Type": NESTED, "Desc": {"Steepness": 1, "Gamma": 2}}}, "unknown-field", "desc.Fused.Desc.Gamma"),
        (
            {"Fused": {"Type": NESTED, "Steepness": 1, "InputTensor": tensor(1)}},
            "excluded-field",
            "desc.Fused.InputTensor",
        ),
        ({"Many": {"Type": NESTED}}, "field-type", "desc.Many"),
        ({"Many": [{"Type": NESTED, "Steepness": 1}, None]}, "field-type", "desc.Many[1]"),
        ({"Count": 3, "Windows": [1, 2]}, "count-mismatch", "desc.Count"),
        ({"Windows": [1, 2], "Strides": [1]}, "count-mismatch", "desc.Strides"),
    ],
)
def test_a_field_of_the_wrong_type_is_refused(fields: dict[str, Any], rule: str, place: str) -> None:
    _, findings = read(**fields)
    assert [(finding.rule, pointer(finding.path)) for finding in findings] == [(rule, place)]


def test_an_operator_inside_another_may_write_null_for_its_tensors() -> None:
    subject = desc(Fused={"Type": NESTED, "InputTensor": None, "Steepness": 2}, Many=[])
    assert subject.values["Fused"].spec.operator == NESTED
    assert subject.values["Fused"].values == {"Steepness": 2}
    assert desc(Fused={"Type": NESTED, "Desc": {"Steepness": 2}}).values["Fused"].values == {"Steepness": 2}


@pytest.mark.parametrize(("word", "help"), [("yes", "write true"), ("OFF", "write false"), ("maybe", None)])
def test_a_word_for_true_or_false_is_offered_as_such(word: str, help: str | None) -> None:
    _, findings = read(Flag=word)
    assert [(finding.rule, finding.help) for finding in findings] == [("field-type", help)]


@pytest.mark.parametrize(
    ("enum", "name", "own"),
    [
        ("DML_REDUCE_FUNCTION", "MEAN", "AVERAGE"),
        ("DML_REDUCE_FUNCTION", "Product", "MULTIPLY"),
        ("DML_RECURRENT_NETWORK_DIRECTION", "both", "BIDIRECTIONAL"),
    ],
)
def test_the_name_that_another_library_has_for_a_value_is_offered_as_directmls(enum: str, name: str, own: str) -> None:
    (finding,) = read_enum(enum, "Mode", name, ("Mode",))
    assert (finding.rule, finding.help) == ("unknown-enum-value", f"did you mean {own}?")
