"""The descs of a file validated: what is said of each, at its level, at another, and at all of them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from asked_library import E_INVALIDARG, AskedLibrary

from dmlcheck.cases.records import Case
from dmlcheck.descs import read as reading
from dmlcheck.diagnostics.record import NOTE, Diagnostic
from dmlcheck.files import yaml
from dmlcheck.formats.registry import read_document
from dmlcheck.implementations import Failure, LibraryAnswer
from dmlcheck.running import legality
from dmlcheck.running.legality import LevelRequest, Validated, all_problems, errors_in, validated
from dmlcheck.specs.names import LEVELS

TENSOR = {"DataType": "FLOAT32", "Sizes": [2, 3]}
REDUCE = {
    "operator": "REDUCE",
    "desc": {"Function": "SUM", "InputTensor": TENSOR, "OutputTensor": {**TENSOR, "Sizes": [2, 1]}, "Axes": [1]},
}
TOO_FAR = {**REDUCE, "desc": {**REDUCE["desc"], "Axes": [2]}}  # type: ignore[dict-item]
INT64 = {"DataType": "INT64", "Sizes": [2, 3]}
WIDE = {**REDUCE, "desc": {**REDUCE["desc"], "InputTensor": INT64, "OutputTensor": {**INT64, "Sizes": [2, 1]}}}  # type: ignore[dict-item]


def all_of(content: Any, level: str | None = None, **more: Any) -> list[Validated]:
    return list(
        validated(read_document(yaml.parse(json.dumps(content).encode(), "a.yaml")), LevelRequest(level, **more))
    )


def rules(desc: Validated) -> list[tuple[str, str]]:
    return [(diagnostic.constraint or diagnostic.rule, diagnostic.severity) for diagnostic in desc.diagnostics]


def test_a_legal_desc_has_its_lowest_level() -> None:
    (desc,) = all_of(REDUCE)
    assert (desc.is_valid, desc.minimum, desc.feature_level, desc.operator) == (
        True,
        "3_0",
        "6_4",
        "DML_OPERATOR_REDUCE",
    )
    assert (desc.label, desc.name, desc.is_plain) == ("a.yaml", "a", True)


@pytest.mark.parametrize(
    ("own", "asked", "level", "is_valid"),
    [(None, None, "6_4", True), ("2_1", None, "2_1", False), ("2_1", "4_0", "4_0", True), (None, "2_0", "2_0", False)],
)
def test_a_desc_is_validated_at_the_level_that_is_asked_for_or_at_its_own(
    own: str | None, asked: str | None, level: str, is_valid: bool
) -> None:
    (desc,) = all_of({**REDUCE, "feature_level": own}, asked)
    assert (desc.feature_level, desc.is_valid, desc.minimum) == (level, is_valid, "3_0")


def test_what_is_wrong_is_in_the_order_of_the_file_and_what_no_release_refuses_comes_last() -> None:
    wrong = {**REDUCE["desc"], "Axes": [1, 1, 2], "Extra": 1}  # type: ignore[dict-item]
    (desc,) = all_of({"operator": "REDUCE", "desc": wrong})
    assert [rule for rule, _ in rules(desc)] == ["REDUCE/C2", "unknown-field", "REDUCE/C5"]
    places = [diagnostic.place() for diagnostic in desc.diagnostics]
    assert places[:2] == sorted(places[:2])
    assert "DirectML 1.4.0 to 1.15.4 accept it" in (desc.diagnostics[2].help or "")
    assert (desc.minimum, desc.is_valid, desc.errors, errors_in([desc, desc])) == (None, False, 3, 6)


def test_all_levels_are_told_with_the_first_reason() -> None:
    (desc,) = all_of(WIDE, all_levels=True)
    assert [at.level for at in desc.levels] == list(LEVELS)
    assert [at.level for at in desc.levels if at.is_valid] == list(LEVELS[LEVELS.index("5_0") :])
    assert all((at.reason is None) is at.is_valid for at in desc.levels)
    assert desc.levels[0].reason == (
        "unsupported-data-type: InputTensor is INT64, which DML_OPERATOR_REDUCE does not read at DML_FEATURE_LEVEL_1_0"
    )


def test_a_desc_is_read_once_whatever_the_number_of_levels(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def counted(operator: str, raw: Any) -> reading.Reading:
        read.append(operator)
        return reading.read_desc(operator, raw)

    monkeypatch.setattr(legality, "read_desc", counted)
    content = {**REDUCE, "cases": [{"name": name} for name in ("one", "two")]}
    assert all(len(desc.levels) == 15 for desc in all_of(content, all_levels=True))
    assert read == ["REDUCE", "REDUCE"]


# ---- negative cases


def test_what_a_negative_case_lists_is_a_note() -> None:
    (desc,) = all_of({**TOO_FAR, "invalid": ["REDUCE/C2"]})
    assert rules(desc) == [("REDUCE/C2", NOTE)]
    assert (desc.errors, desc.is_valid) == (0, False)


@pytest.mark.parametrize(
    ("more", "errors"),
    [
        ({"invalid": ["missing-tensor"]}, 0),
        ({"invalid": ["REDUCE/C2"], "inputs": {}}, 1),
        ({"invalid": ["element-count"]}, 0),
    ],
)
def test_a_negative_case_about_values_cannot_be_judged_here(more: dict[str, Any], errors: int) -> None:
    (desc,) = all_of({**REDUCE, **more})
    assert desc.errors == errors


# ---- files


def test_a_case_that_is_not_well_formed_is_told_with_what_its_desc_breaks() -> None:
    content = {"cases": [{**TOO_FAR, "name": "one", "tags": 3}, {**REDUCE, "name": "two"}]}
    one, two = all_of(content, all_levels=True)
    assert {rule for rule, _ in rules(one)} == {"wrong-type", "REDUCE/C2"}
    assert (one.minimum, one.levels, one.operator) == (None, (), "DML_OPERATOR_REDUCE")
    assert (two.is_valid, two.label) == (True, "a.yaml::two")


def test_of_a_case_without_an_operator_or_a_desc_the_form_alone_is_wrong() -> None:
    of_form = (Diagnostic("wrong-type", "tags is 1", line=9),)
    for operator, desc in (("", REDUCE["desc"]), ("REDUCE", {})):
        case = Case("a.yaml::one", "one", "a.yaml", operator, None, desc)
        assert all_problems(case, of_form) == of_form


def test_a_legal_desc_that_is_known_to_come_out_wrong_has_a_note_and_stays_legal() -> None:
    tensor = {"DataType": "FLOAT16", "Sizes": [2, 3]}
    known = {**REDUCE, "desc": {**REDUCE["desc"], "InputTensor": tensor, "OutputTensor": {**tensor, "Sizes": [2, 1]}}}  # type: ignore[dict-item]
    (desc,) = all_of(known)
    assert (desc.is_valid, desc.errors, desc.diagnostics) == (True, 0, ())
    (note,) = desc.notes
    assert (note.rule, note.severity, note.pointer, note.line) == ("known-deviation", NOTE, "operator", 1)
    assert all_of(REDUCE)[0].notes == ()


def test_a_desc_that_is_not_legal_and_a_negative_case_have_no_notes() -> None:
    tensor = {"DataType": "FLOAT16", "Sizes": [2, 3]}
    wrong = {**REDUCE, "desc": {**REDUCE["desc"], "InputTensor": tensor, "OutputTensor": tensor}}  # type: ignore[dict-item]
    (desc,) = all_of(wrong)
    assert (desc.is_valid, desc.notes) == (False, ())
    (desc,) = all_of({**wrong, "invalid": ["size-mismatch"]})
    assert (desc.errors, desc.notes) == (0, ())


# ---- DirectML's library


def told(desc: Validated) -> list[tuple[str, str, str]]:
    return [(note.rule, note.severity, note.message) for note in desc.notes]


@pytest.mark.parametrize(
    ("content", "hresult", "warned"),
    [
        (REDUCE, 0, []),
        (TOO_FAR, E_INVALIDARG, []),
        (REDUCE, E_INVALIDARG, ["DirectML 1.13.1 refuses it: E_INVALIDARG; dmlcheck foresees that it accepts it"]),
        (TOO_FAR, 0, ["DirectML 1.13.1 accepts it; dmlcheck foresees that it refuses it"]),
    ],
)
def test_a_library_that_is_asked_answers_and_an_unforeseen_answer_is_a_warning(
    content: Any, hresult: int, warned: list[str]
) -> None:
    (desc,) = all_of(content, library=AskedLibrary(hresult))
    assert desc.answer == LibraryAnswer("1.13.1", hresult)
    assert told(desc) == [("unforeseen-answer", "warning", text) for text in warned]
    assert desc.is_valid == (content is REDUCE)


def test_an_answer_is_foreseen_at_the_level_of_the_release_whatever_level_is_asked_for() -> None:
    (desc,) = all_of(WIDE, "2_1", library=AskedLibrary(0))
    assert (desc.is_valid, told(desc)) == (False, [])


@pytest.mark.parametrize("hresult", [0, E_INVALIDARG])
def test_nothing_is_foreseen_of_a_library_older_than_those_that_were_asked(hresult: int) -> None:
    for content in (REDUCE, TOO_FAR):
        (desc,) = all_of(content, library=AskedLibrary(hresult, "1.1.0", "2_0"))
        assert (desc.answer, told(desc)) == (LibraryAnswer("1.1.0", hresult), [])


def test_a_desc_that_ends_the_library_has_no_answer_and_a_warning() -> None:
    (desc,) = all_of(REDUCE, library=AskedLibrary(Failure("ended with SIGSEGV")))
    assert desc.answer is None
    assert told(desc) == [("implementation-error", "warning", "directml ended with SIGSEGV")]


def test_a_desc_that_cannot_be_said_in_c_is_not_asked_about() -> None:
    library = AskedLibrary()
    (desc,) = all_of({**REDUCE, "desc": {**REDUCE["desc"], "Axes": "all"}}, library=library)  # type: ignore[dict-item]
    assert (desc.answer, library.asked) == (None, [])
