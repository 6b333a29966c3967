"""The constraint words over every type of field, on an operator made for it."""

from __future__ import annotations

from typing import Any

import pytest

from dmlcheck import validation
from dmlcheck.descs import read as reading
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.diagnostics.record import Finding
from dmlcheck.diagnostics.wording import pointer
from dmlcheck.specs.load import _LOADED, _spec
from dmlcheck.specs.records import OperatorSpec
from dmlcheck.validation import constraint_words

FIELDS = {
    "A": {"kind": "input_tensor"},
    "B": {"kind": "input_tensor", "optional": True},
    "Parts": {"kind": "input_tensor", "type": "TENSOR_DESC_ARRAY", "optional": True},
    "Out": {"kind": "output_tensor", "optional": True},
    "Count": {"type": "UINT", "counts": ["Windows", "Strides"]},
    "Windows": {"type": "UINT_ARRAY", "optional": True},
    "Strides": {"type": "INT_ARRAY", "optional": True},
    "Axis": {"type": "UINT", "optional": True},
    "Mode": {"type": "UINT", "enum": "DML_PADDING_MODE", "optional": True},
    "Kind": {"type": "UINT", "enum": "DML_TENSOR_DATA_TYPE", "optional": True},
    "Flag": {"type": "UINT", "boolean": True, "optional": True},
    "Alpha": {"type": "FLOAT", "optional": True},
    "Scale": {"type": "SIZE_2D", "optional": True},
    "ScaleBias": {"type": "SCALE_BIAS", "optional": True},
    "Value": {"type": "SCALAR_UNION", "data_type": "Kind", "optional": True},
    "Fused": {"type": "OPERATOR_DESC", "optional": True},
    "Many": {"type": "OPERATOR_DESC_ARRAY", "optional": True},
}
OPERATOR = "DML_OPERATOR_MADE_FOR_TESTS"
NESTED = "DML_OPERATOR_NESTED_FOR_TESTS"


def spec_of(fields: dict[str, Any], constraints: list[dict[str, Any]], name: str = OPERATOR) -> OperatorSpec:
    types = ["FLOAT32", "FLOAT16", "INT64", "UINT8"]
    tensors = {key: {"dims": "1..8", "types": types} for key, field in fields.items() if "kind" in field}
    return _spec(
        {
            "operator": name,
            "introduced": "1_0",
            "in_place": False,
            "page": {"folder": "", "file": "", "date": ""},
            "fields": fields,
            "support": [{"levels": {"1_0": tensors}}],
            "let": {"half": "A.Sizes[0] // 2", "quarter": "half // 2"},
            "constraints": constraints,
        }
    )


@pytest.fixture(autouse=True)
def _operators(monkeypatch: pytest.MonkeyPatch) -> None:
    nested = spec_of(
        {"InputTensor": {"kind": "input_tensor"}, "Steepness": {"type": "FLOAT"}},
        [{"id": "C1", "text": "Steepness is at least 1.", "at_least": {"Steepness": 1}, "until": "6_4"}],
        NESTED,
    )
    monkeypatch.setitem(_LOADED, OPERATOR, spec_of(FIELDS, []))
    monkeypatch.setitem(_LOADED, NESTED, nested)


def tensor(*sizes: int, data_type: str = "FLOAT32", **more: Any) -> dict[str, Any]:
    return {"DataType": data_type, "Sizes": list(sizes), **more}


def read(**fields: Any) -> tuple[OperatorDesc, list[Finding]]:
    found = reading.read_desc(OPERATOR, {"A": tensor(4, 6), **fields})
    assert found.desc is not None
    return found.desc, list(found.findings)


def desc(**fields: Any) -> OperatorDesc:
    subject, findings = read(**fields)
    assert findings == []
    return subject


def places(word: str, args: Any, **fields: Any) -> list[tuple[str, str]]:
    """Return what a word finds in a desc: rules and places."""
    return [(finding.rule, pointer(finding.path)) for finding in constraint_words.WORDS[word](desc(**fields), args)]


# ---- reading fields


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


def test_the_rows_of_an_operator_inside_another_hold_for_it() -> None:
    raw = {"A": tensor(4, 6), "Fused": {"Type": NESTED, "Steepness": 0.5}}
    for level, expected in (("6_3", ["desc.Fused.Steepness"]), ("6_4", [])):
        _, findings = validation.validate(OPERATOR, raw, level)
        assert [pointer(finding.path) for finding in findings] == expected
    _, (finding,) = validation.validate(OPERATOR, {**raw, "Fused": None, "Many": [raw["Fused"]]}, "1_0")
    assert pointer(finding.path) == "desc.Many[0].Steepness"
    assert (finding.rule, finding.constraint) == ("unsupported-value", "NESTED_FOR_TESTS/C1")
    assert finding.help == "accepted from DML_FEATURE_LEVEL_6_4 (DirectML 1.15.0)"
    assert validation.minimum_level(reading.read_desc(OPERATOR, raw)) == "6_4"


# ---- words about sizes

SIZE = "size-mismatch"
JOINED = {"whole": "A", "parts": "Parts", "axis": "Axis"}
LAST = [5, "A.Sizes[1]"]


@pytest.mark.parametrize(
    ("word", "args", "fields", "expected"),
    [
        ("sizes", {"B": [4, None, "A.Sizes[1] * 2"]}, {"B": tensor(4, 9, 12)}, []),
        ("sizes", {"B": [4, None, "A.Sizes[1] * 2"]}, {"B": tensor(5, 9, 6)}, ["B.Sizes[0]", "B.Sizes[2]"]),
        ("sizes", {"B": [4, None]}, {"B": tensor(5)}, []),
        ("sizes", {"B": ["half", "quarter"]}, {"B": tensor(2, 1)}, []),
        ("sizes", {"B": ["half", "quarter"]}, {"B": tensor(2, 2)}, ["B.Sizes[1]"]),
        ("sizes", {"Parts": "A.Sizes[i]"}, {"Parts": [tensor(4, 6), tensor(4, 5)]}, ["Parts[1].Sizes[1]"]),
        ("sizes", {"B": [4]}, {}, []),
        ("sizes_are", {"B": "(1, *A.Sizes)"}, {"B": tensor(1, 4, 6)}, []),
        ("sizes_are", {"B": "(1, *A.Sizes)"}, {"B": tensor(2, 4, 7)}, ["B.Sizes[0]", "B.Sizes[2]"]),
        ("sizes_are", {"B": "(1, *A.Sizes)"}, {"B": tensor(4, 6)}, []),
        ("sizes_are", {"B": "Out.Sizes"}, {"B": tensor(4, 6)}, []),
        ("right_aligned_sizes", {"B": [None, "A.Sizes[1]"]}, {"B": tensor(1, 1, 9, 6)}, []),
        ("right_aligned_sizes", {"B": [None, "A.Sizes[1]"]}, {"B": tensor(6)}, []),
        ("right_aligned_sizes", {"B": [1, "A.Sizes[1]"]}, {"B": tensor(6)}, []),
        ("right_aligned_sizes", {"B": LAST}, {"B": tensor(2, 4, 5)}, ["B.Sizes[0]", "B.Sizes[1]", "B.Sizes[2]"]),
        ("broadcastable", {"A": ["B", "Out"]}, {"B": tensor(1, 6), "Out": tensor(4, 1)}, []),
        ("broadcastable", {"A": ["B"]}, {"B": tensor(2, 6)}, ["B.Sizes[0]"]),
        ("broadcastable", {"B": ["A"]}, {}, []),
        ("same_sizes", ["A", "B"], {"B": tensor(4, 5)}, ["B.Sizes[1]"]),
        ("joined_along", JOINED, {"Axis": 1, "Parts": [tensor(4, 2), tensor(4, 4)]}, []),
        ("joined_along", JOINED, {"Axis": 1, "Parts": [tensor(4, 2), tensor(4, 3)]}, ["A.Sizes[1]"]),
        ("joined_along", JOINED, {"Axis": 1, "Parts": [tensor(4, 2), tensor(3, 4)]}, ["Parts[1].Sizes[0]"]),
        ("joined_along", JOINED, {"Axis": 2, "Parts": [tensor(4, 2)]}, []),
        ("joined_along", JOINED, {"Axis": 1, "Parts": [tensor(4)]}, []),
        ("joined_along", JOINED, {"Axis": 1}, []),
    ],
)  # fmt: skip
def test_words_about_sizes(word: str, args: Any, fields: dict[str, Any], expected: list[str]) -> None:
    assert places(word, args, **fields) == [(SIZE, place) for place in expected]


@pytest.mark.parametrize(
    ("word", "args", "fields", "expected"),
    [
        ("element_count", {"B": 1}, {"B": tensor(1, 1)}, []),
        ("element_count", {"B": 1}, {"B": tensor(1, 2)}, [("size-mismatch", "B.Sizes")]),
        ("element_count", {"B": "half"}, {"B": tensor(2)}, []),
        ("dimension_count", {"B": "A.DimensionCount"}, {"B": tensor(1, 1)}, []),
        ("dimension_count", {"B": "A.DimensionCount"}, {"B": tensor(1)}, [("rank-mismatch", "B.Sizes")]),
        ("data_type", {"B": ["UINT8", "INT64"]}, {"B": tensor(1, data_type="INT64")}, []),
        ("data_type", {"B": ["UINT8"]}, {"B": tensor(1)}, [("data-type-mismatch", "B.DataType")]),
        ("data_type", {"Parts": ["UINT8"]}, {"Parts": [tensor(1)]}, [("data-type-mismatch", "Parts[0].DataType")]),
        ("right_aligned_sizes", {"B": [4, 6]}, {"B": tensor(6)}, [("rank-mismatch", "B.Sizes")]),
        ("data_type_of", {"Kind": "A"}, {"Kind": "FLOAT32"}, []),
        ("data_type_of", {"Kind": "A"}, {"Kind": "FLOAT16"}, [("data-type-mismatch", "Kind")]),
        ("data_type_of", {"Kind": "A"}, {}, []),
        ("holds", {"A": "A.Sizes[0] > A.Sizes[1]"}, {}, [("size-mismatch", "A.Sizes")]),
        ("holds", {"A.DataType": "A.DataType == 'UINT8'"}, {}, [("data-type-mismatch", "A.DataType")]),
        ("holds", {"A.DataType": "A.DataType == 'FLOAT32'"}, {}, []),
        ("not_owned_by_dml", ["A", "B"], {"B": tensor(1)}, []),
        ("not_owned_by_dml", ["A", "B"], {"B": tensor(1, Flags="OWNED_BY_DML")}, [("invalid-flags", "B.Flags")]),
    ],
)
def test_words_about_tensors(word: str, args: Any, fields: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    assert places(word, args, **fields) == expected


# ---- words about values


@pytest.mark.parametrize(
    ("word", "args", "fields", "expected"),
    [
        ("at_least", {"Axis": 2}, {"Axis": 2}, []),
        ("at_least", {"Axis": 2}, {"Axis": 1}, ["Axis"]),
        ("at_least", {"Windows": 1}, {"Windows": [1, 0, 2, 0]}, ["Windows[1]", "Windows[3]"]),
        ("at_least", {"Alpha": 0}, {"Alpha": "nan"}, ["Alpha"]),
        ("at_least", {"Scale.Height": 1}, {"Scale": {"Width": 0, "Height": 0}}, ["Scale.Height"]),
        ("at_least", {"Axis": 2}, {}, []),
        ("at_most", {"Windows": "A.Sizes[i]"}, {"Windows": [4, 6]}, []),
        ("at_most", {"Windows": "A.Sizes[i]"}, {"Windows": [5, 7]}, ["Windows[0]", "Windows[1]"]),
        ("at_most", {"Windows": "A.Sizes[i]"}, {"Windows": [1, 1, 99]}, []),
        ("between", {"Alpha": [0, 1]}, {"Alpha": 1.0}, []),
        ("between", {"Alpha": [0, 1]}, {"Alpha": 1.5}, ["Alpha"]),
        ("between", {"Alpha": [0, 1]}, {"Alpha": -0.5}, ["Alpha"]),
        ("between", {"Axis": ["half", "A.Sizes[0]"]}, {"Axis": 1}, ["Axis"]),
        ("value", {"Axis": "A.DimensionCount"}, {"Axis": 2}, []),
        ("value", {"Axis": "A.DimensionCount"}, {"Axis": 3}, ["Axis"]),
        ("value", {"Count": "A.DimensionCount"}, {"Windows": [1]}, ["Windows"]),
        ("value", {"Count": "A.DimensionCount"}, {"Windows": [1], "Count": 1}, ["Count"]),
        ("one_of", {"Axis": [1, 3]}, {"Axis": 3}, []),
        ("one_of", {"Axis": [1, 3]}, {"Axis": 2}, ["Axis"]),
        ("one_of", {"Mode": ["EDGE"]}, {"Mode": "EDGE"}, []),
        ("one_of", {"Mode": ["EDGE"]}, {"Mode": "CONSTANT"}, ["Mode"]),
        ("not_zero", ["Strides"], {"Strides": [1, -1]}, []),
        ("not_zero", ["Strides"], {"Strides": [1, 0]}, ["Strides[1]"]),
        ("holds", {"A": "A.Sizes[0] < A.Sizes[1]"}, {}, []),
        ("holds", {"Axis": "Axis < 1"}, {"Axis": 1}, ["Axis"]),
        ("holds", {"Axis": "Axis > B.Sizes[0]"}, {"Axis": 0}, []),
        ("axes_within", {"Axis": "A"}, {"Axis": 1}, []),
        ("unchecked", "needs the values", {}, []),
    ],
)
def test_words_about_values(word: str, args: Any, fields: dict[str, Any], expected: list[str]) -> None:
    assert places(word, args, **fields) == [("value-out-of-range", place) for place in expected]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, []),
        ({"Fused": {"Type": NESTED, "Steepness": 1}}, ["Fused.Type"]),
        ({"Many": [{"Type": NESTED, "Steepness": 1}]}, []),
    ],
)
def test_operators_inside_others_are_those_of_a_list(fields: dict[str, Any], expected: list[str]) -> None:
    claim = {"Fused": ["ACTIVATION_RELU"], "Many": ["NESTED_FOR_TESTS"]}
    assert places("operators", claim, **fields) == [("value-out-of-range", place) for place in expected]


# ---- words about what is there


@pytest.mark.parametrize(
    ("word", "args", "fields", "expected"),
    [
        ("required", ["Axis", "Mode"], {"Axis": 1}, [("missing-field", "Mode")]),
        ("required", ["B"], {"B": tensor(1)}, []),
        ("excluded", ["Axis", "B"], {"B": tensor(1)}, [("excluded-field", "B")]),
        ("excluded", ["Axis"], {}, []),
        ("some_of", ["B", "Out"], {}, [("missing-field", "B")]),
        ("some_of", ["B", "Out"], {"Out": tensor(1)}, []),
        ("all_or_none", ["B", "Out"], {}, []),
        ("all_or_none", ["B", "Out"], {"B": tensor(1), "Out": tensor(1)}, []),
        ("all_or_none", ["B", "Out"], {"Out": tensor(1)}, [("missing-field", "B")]),
    ],
)
def test_words_about_what_is_there(
    word: str, args: Any, fields: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    assert places(word, args, **fields) == expected


@pytest.mark.parametrize("word", ["required", "some_of", "all_or_none"])
def test_a_field_that_is_wrong_in_itself_is_not_missing(word: str) -> None:
    subject, findings = read(B={"DataType": "FLOAT32"}, Out=tensor(1))
    assert findings != []
    assert list(constraint_words.WORDS[word](subject, ["B", "Out"])) == []


# ---- when rows apply


@pytest.mark.parametrize(
    ("condition", "fields", "applies"),
    [
        ({"present": ["B"]}, {"B": tensor(4, 6)}, True),
        ({"present": ["B"]}, {}, False),
        ({"absent": ["B"]}, {}, True),
        ({"absent": ["B"]}, {"B": tensor(4, 6)}, False),
        ({"when": {"Flag": [True]}}, {"Flag": True}, True),
        ({"when": {"Flag": [True]}}, {"Flag": False}, False),
        ({"unless": {"Mode": ["EDGE"]}}, {"Mode": "EDGE"}, False),
        ({"unless": {"Mode": ["EDGE"]}}, {"Mode": "CONSTANT"}, True),
        ({"unless": {"Mode": ["EDGE"]}}, {}, True),
    ],
)
def test_a_row_applies_under_its_conditions(
    condition: dict[str, Any], fields: dict[str, Any], applies: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = {"id": "C1", "text": "A has 9 rows.", "sizes": {"A": [9, None]}, **condition}
    monkeypatch.setitem(_LOADED, OPERATOR, spec_of(FIELDS, [row]))
    _, findings = validation.validate(OPERATOR, {"A": tensor(4, 6), **fields}, "6_4")
    assert bool(findings) is applies


def test_a_row_that_a_higher_level_lifts_says_which() -> None:
    row = {"id": "C1", "text": "B is given.", "required": ["B"], "until": "6_2"}
    same = {"id": "C2", "text": "B is given.", "required": ["B"], "since": "6_2", "until": "6_3"}
    for_ever = {**same, "until": None}
    for constraints, help in (
        ([row], "accepted from DML_FEATURE_LEVEL_6_2 (DirectML 1.13.0)"),
        ([row, same], "accepted from DML_FEATURE_LEVEL_6_3 (DirectML 1.15.0)"),
        ([row, for_ever], None),
    ):
        _LOADED[OPERATOR] = spec_of(FIELDS, constraints)
        _, (finding,) = validation.validate(OPERATOR, {"A": tensor(4, 6)}, "6_1")
        assert (finding.rule, finding.help) == ("missing-field", help)


def test_a_value_that_needs_a_higher_level_is_unsupported_below_it() -> None:
    first = {"id": "C1", "text": "Mode is EDGE.", "one_of": {"Mode": ["EDGE"]}, "until": "4_0"}
    then = {"id": "C2", "text": "Mode is EDGE or SYMMETRIC.", "one_of": {"Mode": ["EDGE", "SYMMETRIC"]}, "since": "4_0"}
    _LOADED[OPERATOR] = spec_of(FIELDS, [first, then])
    _, (finding,) = validation.validate(OPERATOR, {"A": tensor(4, 6), "Mode": "SYMMETRIC"}, "2_0")
    assert (finding.rule, finding.help) == (
        "unsupported-value",
        "accepted from DML_FEATURE_LEVEL_4_0 (DirectML 1.6.0)",
    )
    assert finding.message.endswith(
        "Mode is SYMMETRIC, which DML_OPERATOR_MADE_FOR_TESTS does not take at DML_FEATURE_LEVEL_2_0"
    )
    _, (finding,) = validation.validate(OPERATOR, {"A": tensor(4, 6), "Mode": "CONSTANT"}, "2_0")
    assert (finding.rule, finding.help) == ("value-out-of-range", None)


def test_an_operator_inside_another_must_exist_at_the_level(monkeypatch: pytest.MonkeyPatch) -> None:
    later = _LOADED[NESTED]._replace(introduced="5_1")
    monkeypatch.setitem(_LOADED, NESTED, later)
    raw = {"A": tensor(4, 6), "Fused": {"Type": NESTED, "Steepness": 1}}
    _, (finding,) = validation.validate(OPERATOR, raw, "5_0")
    assert (finding.rule, pointer(finding.path)) == ("operator-unavailable", "desc.Fused.Type")
    assert finding.help == "it came with DML_FEATURE_LEVEL_5_1 (DirectML 1.9.0)"
    assert validation.minimum_level(reading.read_desc(OPERATOR, raw)) == "5_1"


def test_a_finding_inside_an_operator_in_its_long_form_stands_in_its_desc() -> None:
    raw = {"A": tensor(4, 6), "Fused": {"Type": NESTED, "Desc": {"Steepness": 0.5}}}
    _, (finding,) = validation.validate(OPERATOR, raw, "1_0")
    assert pointer(finding.path) == "desc.Fused.Desc.Steepness"


def test_a_count_that_disagrees_is_one_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    row = {"id": "C1", "text": "There are two.", "value": {"Count": 2}}
    monkeypatch.setitem(_LOADED, OPERATOR, spec_of(FIELDS, [row]))
    _, (finding,) = validation.validate(OPERATOR, {"A": tensor(4, 6), "Count": 3, "Windows": [1, 2]}, "1_0")
    assert finding.rule == "count-mismatch"


def test_a_claim_without_a_word_of_its_own_is_told_by_its_text(monkeypatch: pytest.MonkeyPatch) -> None:
    row = {"id": "C1", "text": "Axis is odd.", "holds": {"Axis": "Axis % 2 == 1"}}
    monkeypatch.setitem(_LOADED, OPERATOR, spec_of(FIELDS, [row]))
    _, (finding,) = validation.validate(OPERATOR, {"A": tensor(4, 6), "Axis": 2}, "1_0")
    assert finding.message == "Axis is 2; it must be as the row says: Axis is odd."


def test_a_row_may_depend_on_the_data_type_of_a_tensor(monkeypatch: pytest.MonkeyPatch) -> None:
    row = {"id": "C1", "text": "A byte has 9 rows.", "sizes": {"A": [9, None]}, "when": {"A.DataType": ["UINT8"]}}
    monkeypatch.setitem(_LOADED, OPERATOR, spec_of(FIELDS, [row]))
    for data_type, places_found in (("UINT8", ["desc.A.Sizes[0]"]), ("FLOAT32", [])):
        _, findings = validation.validate(OPERATOR, {"A": tensor(4, 6, data_type=data_type)}, "6_4")
        assert [pointer(finding.path) for finding in findings] == places_found


def test_the_help_of_a_row_goes_before_that_of_its_word(monkeypatch: pytest.MonkeyPatch) -> None:
    row = {"id": "C1", "text": "Both or none.", "all_or_none": ["B", "Out"], "until": "5_2", "help": "give both"}
    monkeypatch.setitem(_LOADED, OPERATOR, spec_of(FIELDS, [row]))
    _, (finding,) = validation.validate(OPERATOR, {"A": tensor(4, 6), "B": tensor(1)}, "5_1")
    assert finding.help == "give both; accepted from DML_FEATURE_LEVEL_5_2 (DirectML 1.10.0)"
