"""What releases of DirectML take: by their level, and by the findings that are none of their reasons to refuse."""

from __future__ import annotations

from typing import Any

import pytest

from dmlcheck import accepted
from dmlcheck.descs.read import Reading, read_desc
from dmlcheck.diagnostics.record import Finding
from dmlcheck.specs.names import LEVEL_ORDER, RELEASES
from dmlcheck.validation import releases
from dmlcheck.validation.releases import accepted_by, are_taken, difference, is_accepted, releases_text

ALL = tuple(RELEASES)
FORBIDDEN = Finding("made", ("desc",), {})


def identity(**fields: Any) -> Reading:
    plain = {"DataType": "FLOAT32", "Sizes": [2, 3]}
    return read_desc("ELEMENT_WISE_IDENTITY", {"InputTensor": plain, "OutputTensor": plain, **fields})


def gelu() -> Reading:
    """Return a desc of an operator of DML_FEATURE_LEVEL_5_1."""
    plain = {"DataType": "FLOAT32", "Sizes": [2, 3]}
    return read_desc("ACTIVATION_GELU", {"InputTensor": plain, "OutputTensor": plain})


def find(monkeypatch: pytest.MonkeyPatch, *findings: Finding, before: str = "9_9") -> None:
    """Let every desc have findings, up to a level or at all levels."""

    def check(_: Reading, level: str) -> list[Finding]:
        return [*findings] if LEVEL_ORDER[level] < LEVEL_ORDER.get(before, 99) else []

    monkeypatch.setattr(releases, "check", check)


# ---- whether a desc is taken


def test_a_valid_desc_is_taken_by_the_releases_that_have_its_operator() -> None:
    assert accepted_by(identity()) == ALL
    assert accepted_by(gelu()) == ("1.9.1", "1.10.1", "1.12.1", "1.13.1", "1.14.2", "1.15.4")


@pytest.mark.parametrize(
    ("version", "is_taken"),
    [("1.8.2", False), ("1.9.0", False), ("1.9.1", True), ("1.10.0", True), ("1.15", True), ("2.0", True)],
)
def test_a_version_stands_for_the_nearest_release_before_it(version: str, is_taken: bool) -> None:
    assert is_accepted(gelu(), version) is is_taken
    plain = {"DataType": "FLOAT32", "Sizes": [2, 3]}
    assert accepted("ACTIVATION_GELU", {"InputTensor": plain, "OutputTensor": plain}, version) is is_taken


@pytest.mark.parametrize("version", ["1.3.9", "1.0.0", "", "newest", "1"])
def test_a_version_before_the_first_release_and_no_version_are_errors(version: str) -> None:
    for reading in (identity(), Reading(None, ())):
        with pytest.raises(ValueError, match=r"is not a version of DirectML from 1\.4\.0 on; write 1\.13\.1$"):
            is_accepted(reading, version)


def test_a_desc_that_cannot_be_read_is_taken_by_none() -> None:
    assert accepted_by(read_desc("NO_SUCH_OPERATOR", {})) == ()
    assert accepted_by(read_desc("ELEMENT_WISE_IDENTITY", 17)) == ()
    assert accepted_by(identity(OutputTensor=None)) == ()


def test_a_desc_is_taken_where_no_finding_is_a_reason_to_refuse_it(monkeypatch: pytest.MonkeyPatch) -> None:
    early, late = FORBIDDEN._replace(taken_by=ALL[:3]), FORBIDDEN._replace(taken_by=ALL[2:])
    assert are_taken([], "1.4.0")
    assert [are_taken([early], release) for release in ALL[:4]] == [True, True, True, False]
    assert not any(are_taken([early, FORBIDDEN], release) for release in ALL)
    find(monkeypatch, early, late)
    assert accepted_by(identity()) == ("1.7.0",)


def test_the_strides_of_an_output_have_the_librarys_own_rule() -> None:
    def with_strides(*strides: int) -> Reading:
        output = {"DataType": "FLOAT32", "Sizes": [3, 3], "Strides": list(strides)}
        reading = identity(InputTensor={"DataType": "FLOAT32", "Sizes": [3, 3]}, OutputTensor=output)
        assert [finding.rule for finding in reading.findings] == ["invalid-strides"]
        return reading

    assert accepted_by(with_strides(2, 4)) == ALL  # two elements are in place 4, and there are 13 places
    assert accepted_by(with_strides(2, 1)) == ()  # 9 elements in 7 places
    assert accepted_by(with_strides(3, 0)) == ()


def add(operator: str = "ELEMENT_WISE_ADD", **types: str) -> Reading:
    """Return a sum of FLOAT32 tensors, but for those whose types are given."""
    names = ("ATensor", "BTensor", "OutputTensor")
    return read_desc(operator, {name: {"DataType": types.get(name, "FLOAT32"), "Sizes": [2, 3]} for name in names})


def test_types_that_releases_take_each_are_not_taken_beside_others() -> None:
    # Asked: CreateOperator of the ten releases, 2026-11-29.
    assert "1.4.0" in accepted_by(add(ATensor="INT8", BTensor="INT8", OutputTensor="INT8"))
    assert accepted_by(add(ATensor="INT8")) == ()
    assert accepted_by(add(ATensor="INT8", BTensor="INT16", OutputTensor="INT8")) == ()
    integers = add("ELEMENT_WISE_ADD1", ATensor="UINT32", BTensor="UINT32", OutputTensor="UINT32")
    assert accepted_by(integers) == ("1.4.0", "1.5.1")
    assert accepted_by(add("ELEMENT_WISE_ADD1", ATensor="UINT32", BTensor="UINT32")) == ()


def fused(activation: dict[str, Any]) -> tuple[str, ...]:
    plain = {"DataType": "FLOAT32", "Sizes": [2, 3]}
    names = ("ATensor", "BTensor", "OutputTensor")
    return accepted_by(read_desc("ELEMENT_WISE_ADD1", {**dict.fromkeys(names, plain), "FusedActivation": activation}))


def test_an_operator_that_no_list_has_is_taken_inside_another_one_by_some_releases() -> None:
    # Asked: CreateOperator of the ten releases, 2026-11-29.
    assert fused({"Type": "ACTIVATION_SWISH", "SigmoidInputScale": 1}) == ("1.13.1", "1.14.2", "1.15.4")
    assert fused({"Type": "ACTIVATION_HARDMAX"}) == ()
    plain = {"DataType": "FLOAT32", "Sizes": [2, 3]}
    alone = {"InputTensor": plain, "OutputTensor": plain, "Steepness": 0.5}
    assert accepted_by(read_desc("ACTIVATION_SOFTPLUS", alone)) == ("1.15.4",)
    assert fused({"Type": "ACTIVATION_SOFTPLUS", "Steepness": 0.5}) == ALL


# ---- what is said of it


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (ALL, "DirectML 1.4.0 to 1.15.4"),
        (("1.9.1",), "DirectML 1.9.1"),
        (("1.10.1", "1.9.1"), "DirectML 1.9.1 to 1.10.1"),
        (("1.4.0", "1.7.0", "1.8.2", "1.15.4"), "DirectML 1.4.0 and 1.7.0 to 1.8.2 and 1.15.4"),
    ],
)
def test_releases_in_a_row_are_told_by_the_first_and_the_last(given: tuple[str, ...], text: str) -> None:
    assert releases_text(given) == text


@pytest.mark.parametrize(
    ("taken_by", "text"),
    [
        (ALL, "DirectML 1.4.0 to 1.15.4 accept this desc"),
        (ALL[1:3], "DirectML 1.5.1 to 1.7.0 accept this desc"),
        (("1.13.1",), "DirectML 1.13.1 accepts this desc"),
        ((), None),
    ],
)
def test_releases_that_take_what_the_documentation_forbids_are_told(
    monkeypatch: pytest.MonkeyPatch, taken_by: tuple[str, ...], text: str | None
) -> None:
    found = FORBIDDEN._replace(taken_by=taken_by)
    find(monkeypatch, found)
    assert difference(identity(), [found]) == text


def test_releases_that_refuse_a_desc_for_another_reason_are_not_told_to_take_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = [FORBIDDEN._replace(taken_by=ALL), FORBIDDEN]
    find(monkeypatch, *found)
    assert difference(identity(), found) is None


@pytest.mark.parametrize(
    ("taken_by", "before", "text"),
    [
        ((), "9_9", "DirectML 1.9.1 to 1.15.4 refuse this desc"),  # of those that have the operator
        (ALL[:5], "9_9", "DirectML 1.10.1 to 1.15.4 refuse this desc"),
        ((), "5_2", "DirectML 1.9.1 refuses this desc"),
        (ALL, "9_9", None),
    ],
)
def test_releases_that_refuse_what_the_documentation_allows_are_told(
    monkeypatch: pytest.MonkeyPatch, taken_by: tuple[str, ...], before: str, text: str | None
) -> None:
    found = FORBIDDEN._replace(is_measured=True, taken_by=taken_by)
    find(monkeypatch, found, before=before)
    assert difference(gelu(), [found]) == text


def test_where_documentation_and_releases_agree_nothing_is_said() -> None:
    assert difference(identity(), []) is None
    reading = identity(OutputTensor={"DataType": "FLOAT32", "Sizes": [3]})
    found = releases.check(reading, "6_4")
    assert found
    assert difference(reading, found) is None
    early = releases.check(gelu(), "3_0")  # later releases take it, as the documentation says
    assert early
    assert difference(gelu(), early) is None


def test_of_a_desc_that_cannot_be_read_no_release_is_told() -> None:
    assert difference(Reading(None, ()), [FORBIDDEN._replace(is_measured=True)]) is None
    assert difference(Reading(None, ()), [FORBIDDEN._replace(taken_by=ALL)]) is None
