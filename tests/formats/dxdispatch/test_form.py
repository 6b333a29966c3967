"""The findings that parts of a model have in common."""

from __future__ import annotations

from typing import Any

import pytest
from dxdispatch_models import DESC, model_of

from dmlcheck.diagnostics.record import Finding
from dmlcheck.formats.dxdispatch import form
from dmlcheck.formats.dxdispatch.form import data_type
from dmlcheck.specs.names import DATA_TYPES
from dmlcheck.validation import validate

PATH = ("resources", "x")


def messages(findings: Any) -> list[str]:
    return [finding.message for finding in findings]


def test_a_key_that_is_not_there_is_named_with_what_needs_it() -> None:
    assert form.missing_key((*PATH, "type"), "the resource x", "type") == Finding(
        "missing-key", (*PATH, "type"), {"where": "the resource x", "key": "type"}
    )


@pytest.mark.parametrize(
    ("value", "is_count"), [(0, True), (9, True), (10, False), (-1, False), (1.0, False), (True, False), ("1", False)]
)
def test_a_count_is_a_whole_number_up_to_the_most(value: Any, is_count: bool) -> None:
    found = list(form.count_findings({"size": value}, "size", PATH, 9))
    assert [finding.path for finding in found] == ([] if is_count else [(*PATH, "size")])


def test_a_count_may_be_left_out_and_may_have_a_least() -> None:
    assert list(form.count_findings({}, "valueCount", PATH, 9, least=1)) == []
    (found,) = form.count_findings({"valueCount": 0}, "valueCount", PATH, 9000, least=1)
    assert found.message.endswith("a whole number from 1 to 9,000")


@pytest.mark.parametrize(
    ("value", "is_right"), [("a/b.npy", True), ("", False), ("a\0b", False), (None, False), (1, False)]
)
def test_the_path_of_a_file_is_a_text_that_a_path_can_be(value: Any, is_right: bool) -> None:
    assert (list(form.file_path_findings(value, (*PATH, "sourcePath"))) == []) is is_right


@pytest.mark.parametrize(
    ("names", "helps"), [({"input": 1}, []), ({"inputs": 1}, ["did you mean inputs?"]), ({}, [None]), (None, [])]
)
def test_a_name_is_one_of_its_section_where_that_can_be_read(names: Any, helps: list[str | None]) -> None:
    found = list(form.name_findings("resources", "input", names, PATH))
    assert [finding.help for finding in found] == helps
    assert {finding.rule for finding in found} <= {"unknown-key"}


# ---- what DxDispatch writes in another way than case files


@pytest.mark.parametrize("name", DATA_TYPES)
def test_the_type_of_a_resource_may_be_given_in_full(name: str) -> None:
    assert data_type(name) == data_type(f"DML_TENSOR_DATA_TYPE_{name}") == name


@pytest.mark.parametrize("raw", ["float32", "FLOAT31", "", "DML_TENSOR_DATA_TYPE_", 1, None, ["FLOAT32"]])
def test_what_is_no_data_type_has_none(raw: Any) -> None:
    assert data_type(raw) is None


@pytest.mark.parametrize(
    ("tensor", "normal"),
    [
        ({"Strides": []}, {}),
        ({"TotalTensorSizeInBytes": 0}, {}),
        ({"Strides": [], "TotalTensorSizeInBytes": 0, "Flags": "NONE"}, {"Flags": "NONE"}),
        ({"Strides": [3, 1], "TotalTensorSizeInBytes": 36}, {"Strides": [3, 1], "TotalTensorSizeInBytes": 36}),
        ({"TotalTensorSizeInBytes": False}, {"TotalTensorSizeInBytes": False}),
        ({"Strides": None}, {"Strides": None}),
    ],
)
@pytest.mark.parametrize("is_long", [False, True])
def test_no_strides_and_a_size_of_0_are_left_out_of_tensors(
    tensor: dict[str, Any], normal: dict[str, Any], is_long: bool
) -> None:
    def wrapped(fields: dict[str, Any]) -> dict[str, Any]:
        whole = {**DESC["InputTensor"], **fields}  # type: ignore[dict-item]
        return {"Type": "DML_TENSOR_TYPE_BUFFER", "Desc": whole} if is_long else whole

    model = model_of(dispatchables={"argmax": {"type": "ARGMAX", "desc": {**DESC, "InputTensor": wrapped(tensor)}}})
    case = model.operators["argmax"]
    assert case.desc == {**DESC, "InputTensor": wrapped(normal)}
    if normal != {"TotalTensorSizeInBytes": False}:
        assert validate(case.operator, case.desc, "6_4")[1] == []


def test_fields_of_an_operator_are_left_as_they_are() -> None:
    desc = {**DESC, "Strides": [], "Axes": [], "TotalTensorSizeInBytes": 0}
    assert model_of(dispatchables={"argmax": {"type": "ARGMAX", "desc": desc}}).operators["argmax"].desc == desc
