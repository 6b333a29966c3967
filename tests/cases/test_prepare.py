"""Cases made ready to run: what is read of them, and everything that is wrong with them as values."""

from __future__ import annotations

from typing import Any
from unittest.mock import Mock

import pytest
from additions import ADD, TENSOR, add, all_of, at_newest, wrong

from dmlcheck import validation
from dmlcheck.cases import prepare as preparing
from dmlcheck.cases import values as case_values
from dmlcheck.cases.prepare import LegalDescs, prepare
from dmlcheck.cases.records import Case
from dmlcheck.descs.read import read_desc
from dmlcheck.values import memory


def test_of_a_desc_that_is_not_legal_nothing_is_read() -> None:
    prepared = at_newest(add(desc={**ADD, "BTensor": {"DataType": "FLOAT16", "Sizes": [2]}}, inputs={"ATensor": "x"}))
    assert (prepared.desc, wrong(prepared)) == (None, [("data-type-mismatch", "desc.BTensor.DataType")])


def test_a_desc_is_legal_at_the_level_that_is_asked_for() -> None:
    wide = {"DataType": "INT64", "Sizes": [2]}
    case = add(desc=all_of(wide), inputs={"ATensor": [1, 2], "BTensor": [1, 2]})
    assert at_newest(case).findings == ()
    assert {rule for rule, _ in wrong(prepare(case, "3_0"))} == {"unsupported-data-type"}


def test_all_that_is_wrong_with_the_values_is_found_at_once() -> None:
    prepared = at_newest(add(inputs={"ATensor": [1], "CTensor": [1]}, outputs={"OutputTensor": ["x", 1]}))
    assert prepared.desc is not None
    assert wrong(prepared) == [
        ("unexpected-tensor", "inputs.CTensor"),
        ("element-count", "inputs.ATensor"),
        ("missing-tensor", "inputs.BTensor"),
        ("wrong-type", "outputs.OutputTensor[0]"),
    ]


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
    found = [prepare(case, case.level, descs).excess for case in given]
    assert found == [None, "too large for this machine", None]


def test_memory_that_ends_while_values_are_read_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(case_values, "plain_values", Mock(side_effect=MemoryError))
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
    found = [prepare(add(), "6_4", descs).desc for _ in range(3)]
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
        prepare(add(desc={"ATensor": {"Sizes": value}}), "6_4", descs)
    assert counting.call_count == (1 if is_known else 2)


def test_a_desc_is_known_for_its_operator_and_its_level_alone(validated: Mock) -> None:
    descs = LegalDescs()
    assert prepare(add(), "6_4", descs).desc is not None
    assert prepare(add(), "6_3", descs).desc is not None
    assert prepare(add()._replace(operator="ELEMENT_WISE_SUBTRACT"), "6_4", descs).desc is not None
    assert validated.call_count == 3


def test_a_desc_that_is_not_legal_is_told_each_time(validated: Mock) -> None:
    descs = LegalDescs()
    case = add(desc={"ATensor": TENSOR})
    first, second = (prepare(case, "6_4", descs).findings for _ in range(2))
    assert (first, validated.call_count) == (second, 2)
    assert first


def test_a_desc_that_is_gone_does_not_speak_for_another(validated: Mock) -> None:
    descs = LegalDescs()
    for size in range(1, 200):
        desc = all_of({"DataType": "FLOAT32", "Sizes": [size]})
        found = prepare(add(desc=desc), "6_4", descs).desc
        assert found is not None
        assert found.tensors()[0].tensor.sizes == (size,)
    assert validated.call_count == 199
