"""Cases made ready to run: what is read of them, and everything that is wrong with them as values."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from additions import TENSOR, add, all_of, at_newest, wrong
from case_files import cases_of

from dmlcheck import validation
from dmlcheck.cases import prepare as preparing
from dmlcheck.cases.prepare import LegalDescs, bytes_needed, prepare, read_expected
from dmlcheck.cases.records import Case
from dmlcheck.descs.read import read_desc
from dmlcheck.descs.records import TensorDesc
from dmlcheck.diagnostics.record import Finding, collected
from dmlcheck.diagnostics.wording import pointer
from dmlcheck.values import memory
from dmlcheck.values.literals import Source


def test_values_are_held_against_the_rows_that_are_about_them() -> None:
    desc = {"InputTensor": {"DataType": "INT8", "Sizes": [2]}, "ScaleTensor": TENSOR, "OutputTensor": TENSOR}
    inputs = {"InputTensor": [1, 2], "ScaleTensor": [1, 0]}
    prepared = at_newest(Case("", "", "", "ELEMENT_WISE_DEQUANTIZE_LINEAR", None, desc, inputs))
    (finding,) = prepared.findings
    assert (finding.rule, finding.constraint) == ("value-out-of-range", "ELEMENT_WISE_DEQUANTIZE_LINEAR/C6")


# ---- negative cases


@pytest.mark.parametrize(
    ("inputs", "invalid", "expected"),
    [
        (None, ["element-count"], []),
        ({"ATensor": [1]}, ["element-count"], [("element-count", "inputs.ATensor")]),
        (None, ["missing-tensor"], [("missing-tensor", "inputs.ATensor"), ("missing-tensor", "inputs.BTensor")]),
        ({"ATensor": [1, 2]}, ["missing-tensor"], [("missing-tensor", "inputs.BTensor")]),
    ],
)
def test_a_negative_case_misses_inputs_only_where_it_says_so(
    inputs: Any, invalid: list[str], expected: list[tuple[str, str]]
) -> None:
    assert wrong(at_newest(add(inputs=inputs, invalid=tuple(invalid)))) == expected


def test_a_negative_case_without_values_needs_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: 0)
    large = add(desc=all_of({"DataType": "FLOAT32", "Sizes": [2**20]}), invalid=("size-mismatch",))
    assert at_newest(large).findings == ()
    assert at_newest(large._replace(inputs={"ATensor": {"fill": 1}})).excess == "too large for this machine"


# ---- memory


def test_what_does_not_fit_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: 2**28)
    large = {"DataType": "FLOAT32", "Sizes": [2**20]}
    prepared = at_newest(add(desc=all_of(large), inputs={"ATensor": "x"}))
    assert (prepared.excess, wrong(prepared)) == ("too large for this machine", [("tensor-too-large", "desc")])
    assert "ATensor FLOAT32 {1048576}" in prepared.findings[0].message


def test_each_desc_is_asked_for_its_size_after_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: 0)
    small, large = ({"DataType": "FLOAT32", "Sizes": [size]} for size in (2, 2**20))
    descs = LegalDescs()
    given = [add(desc=all_of(tensor), inputs={"ATensor": {"fill": 1}}) for tensor in (small, large, small)]
    found = [prepare(case, descs).excess for case in given]
    assert found == [None, "too large for this machine", None]


def test_memory_that_ends_while_values_are_read_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preparing, "plain_values", Mock(side_effect=MemoryError))
    prepared = at_newest(add(inputs={"ATensor": [1, 2], "BTensor": [3, 4]}))
    assert (prepared.excess, wrong(prepared)) == ("out of memory", [("tensor-too-large", "desc")])


# ---- descs that are known to be legal


@pytest.fixture
def validated(monkeypatch: pytest.MonkeyPatch) -> Mock:
    """Return what counts how often a desc is validated."""
    counting = Mock(side_effect=validation.check)
    monkeypatch.setattr(validation, "check", counting)
    return counting


def test_cases_that_share_a_desc_validate_it_once(validated: Mock) -> None:
    descs = LegalDescs()
    found = [prepare(add(), descs).desc for _ in range(3)]
    assert (validated.call_count, found[0]) == (1, found[1])
    assert found[1] is found[2]


@pytest.mark.parametrize(
    ("one", "other", "is_known"),
    [
        ([1, 2], [1, 2], True),
        (1.5, 1.5, True),
        (1, 2, False),
        (1, 1.0, False),
        (1, True, False),
        (0.0, -0.0, False),
    ],
)
def test_descs_are_the_same_by_their_values_and_the_types_of_these(
    one: Any, other: Any, is_known: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    counting = Mock(return_value=[])
    monkeypatch.setattr(validation, "check", counting)
    monkeypatch.setattr(preparing, "read_desc", Mock(return_value=read_desc("ELEMENT_WISE_ADD", add().desc)))
    descs = LegalDescs()
    for value in (one, other):
        prepare(add(desc={"ATensor": {"Sizes": value}}), descs)
    assert counting.call_count == (1 if is_known else 2)


def test_a_desc_is_known_for_its_operator_and_its_level_alone(validated: Mock) -> None:
    descs = LegalDescs()
    assert prepare(add(), descs).desc is not None
    assert prepare(add()._replace(feature_level="6_3"), descs).desc is not None
    assert prepare(add()._replace(operator="ELEMENT_WISE_SUBTRACT"), descs).desc is not None
    assert validated.call_count == 3


def test_a_desc_that_is_not_legal_is_told_each_time(validated: Mock) -> None:
    descs = LegalDescs()
    case = add(desc={"ATensor": TENSOR})
    first, second = (prepare(case, descs).findings for _ in range(2))
    assert (first, validated.call_count) == (second, 2)
    assert first


@pytest.mark.slow
def test_a_desc_that_is_gone_does_not_speak_for_another(validated: Mock) -> None:
    descs = LegalDescs()
    for size in range(1, 200):
        desc = all_of({"DataType": "FLOAT32", "Sizes": [size]})
        found = prepare(add(desc=desc), descs).desc
        assert found is not None
        assert found.tensors()[0].tensor.sizes == (size,)
    assert validated.call_count == 199


# ---- values


def test_a_tensor_whose_values_have_a_misspelt_name_has_values() -> None:
    (finding,) = at_newest(add(inputs={"ATensor": [1, 2], "bTensor": [1, 2]})).findings
    assert (finding.rule, finding.path, finding.help) == (
        "unexpected-tensor",
        ("inputs", "bTensor"),
        "did you mean BTensor?",
    )


def test_each_tensor_has_room_for_what_is_wrong_with_it() -> None:
    desc = all_of({"DataType": "INT8", "Sizes": [20]})
    prepared = at_newest(add(desc=desc, inputs={"ATensor": [1000] * 20, "BTensor": [1000] * 20}))
    assert [finding.path[1] for finding in prepared.findings] == ["ATensor"] * 10 + ["BTensor"] * 10


def test_no_tensor_of_an_array_goes_without_values() -> None:
    desc = {"InputTensors": [TENSOR, TENSOR], "OutputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, "Axis": 0}
    prepared = at_newest(Case("", "", "", "JOIN", None, desc, {"InputTensors": [[1, 2], None]}))
    assert wrong(prepared) == [("missing-tensor", "inputs.InputTensors[1]")]


def test_files_lie_beside_the_case_file(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.array([1, 2], np.float32))
    case = add(inputs={"ATensor": {"file": "a.npy"}, "BTensor": [0, 0]})._replace(file=str(tmp_path / "case.yaml"))
    assert at_newest(case).inputs["ATensor"].tolist() == [1, 2]


def test_numbers_are_read_from_their_text() -> None:
    tensor = "{DataType: FLOAT32, Sizes: [1]}"
    desc = f"{{InputTensor: {tensor}, OutputTensor: {tensor}}}"
    text = f"operator: ELEMENT_WISE_ABS\ndesc: {desc}\ninputs: {{InputTensor: [1.0000000596046447753906251]}}\n"
    (case,) = cases_of(text)
    assert at_newest(case).inputs["InputTensor"].tolist() == [1 + 2**-23]


def test_inputs_and_both_kinds_of_outputs_take_memory() -> None:
    desc = at_newest(add(inputs={"ATensor": [1, 2], "BTensor": [3, 4]})).desc
    assert desc is not None
    given = {"ATensor": [1, 2], "BTensor": {"fill": 1}}
    assert bytes_needed(desc, given, {}) == 8 + 0 + 8
    assert bytes_needed(desc, given, {"OutputTensor": [1, 2]}) == 8 + 0 + 8 + 8


# ---- values with `any`


def read(raw: Any, data_type: str = "FLOAT32", *sizes: int, **layout: Any) -> tuple[Any, Any, list[Finding]]:
    """Return the values, the mask of `any`, and what is wrong."""
    tensor = TensorDesc(data_type, sizes or (2, 2), **layout)
    (values, mask), findings = collected(read_expected("T", tensor, raw, ("outputs", "T"), Source()))
    return values, mask, findings


@pytest.mark.parametrize("raw", [[1, 2, 3, 4], [[1, 2], [3, 4]], {"fill": 0}, [[1, "nan"], ["0x1p+1", 4]]])
def test_without_any_there_is_no_mask(raw: Any) -> None:
    values, mask, findings = read(raw)
    assert (values.shape, mask, findings) == ((2, 2), None, [])


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ([1, "any", 3, 4], [[False, True], [False, False]]),
        ([[1, 2], ["any", 4.5]], [[False, False], [True, False]]),
        ([[1, "Any"], ["nan", " any "]], [[False, True], [False, True]]),
        ({"fill": "any"}, [[True, True], [True, True]]),
        ({"bits": [[0, 0x3F800000], ["any", 0]]}, [[False, False], [True, False]]),
        ({"buffer": [1, 2, "any", 4]}, [[False, False], [True, False]]),
    ],
)
def test_elements_that_are_any_are_in_the_mask(raw: Any, expected: Any) -> None:
    values, mask, findings = read(raw)
    assert (mask.tolist(), findings) == (expected, [])
    assert values.dtype == np.float32


def test_other_elements_keep_their_values() -> None:
    assert read([[1, 2], ["any", 4.5]])[0][[0, 0, 1], [0, 1, 1]].tolist() == [1, 2, 4.5]
    assert read({"bits": [0x3F800000, "any", 0x40000000, 0]})[0][1].tolist() == [2, 0]


@pytest.mark.parametrize("data_type", ["FLOAT16", "INT4", "UINT64", "INT8"])
def test_any_stands_in_every_data_type(data_type: str) -> None:
    assert read(["any", 1], data_type, 2)[1].tolist() == [True, False]
    assert read({"bits": ["any", 1]}, data_type, 2)[1].tolist() == [True, False]


def test_a_buffer_is_marked_through_its_strides() -> None:
    _, mask, findings = read({"buffer": ["any", 1, 2, 3]}, "FLOAT32", 2, 2, strides=(1, 2))
    assert (mask.tolist(), findings) == ([[True, False], [False, False]], [])
    assert read({"buffer": [0, "any", 2, 3]}, "FLOAT32", 2, 2, strides=(1, 2))[1].tolist() == [
        [False, False],
        [True, False],
    ]


@pytest.mark.parametrize(
    ("raw", "rule", "place"),
    [
        (["any", 1, 2], "element-count", "outputs.T"),
        ([["any", 1], [2, "x"]], "wrong-type", "outputs.T[1][1]"),
        (["any", 1, 2, {}], "wrong-type", "outputs.T[3]"),
        ({"bits": ["any", -1, 0, 0]}, "value-not-representable", "outputs.T.bits[1]"),
        ({"sequence": {"start": "any"}}, "wrong-type", "outputs.T.sequence.start"),
        ("any", "wrong-type", "outputs.T"),
    ],
)
def test_what_is_wrong_beside_any_is_told_at_its_place(raw: Any, rule: str, place: str) -> None:
    values, mask, findings = read(raw)
    assert (values, mask) == (None, None)
    assert [(found.rule, pointer(found.path)) for found in findings] == [(rule, place)]


def test_a_bare_any_is_told_how_to_say_it() -> None:
    ((found,)) = read("any")[2]
    assert found.help == "write {fill: any}"
