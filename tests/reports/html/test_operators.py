"""The table by operator on the page."""

from __future__ import annotations

import re

import pytest
from results import OUTPUT, case, failed

from dmlcheck.comparison.records import Element
from dmlcheck.reports.html.report import Operators
from dmlcheck.running.results import CaseResult

OFF = OUTPUT._replace(most_off=Element((0, 3), 21.0, 22.0, 5.0, None))


def seen(*results: CaseResult, anchor: str | None = None) -> Operators:
    operators = Operators()
    for result in results:
        operators.of(result.case.operator)[1].add(result, anchor)
    return operators


def passed(operator: str) -> CaseResult:
    return CaseResult(case(operator=operator), "passed", seconds=1.5)


def names(text: str) -> list[str]:
    return re.findall(r'<a class="pick" href="#operator=([^"]*)">', text)


def test_an_operator_has_its_counts_its_largest_error_and_where_that_is() -> None:
    result = failed(outputs={"OutputTensor": OFF})
    text = "".join(seen(passed("REDUCE"), result, anchor="c2").texts())
    assert names(text) == ["REDUCE"]
    assert '<td class="passed">1</td><td class="failed">1</td><td class="zero">0</td><td class="zero">0</td>' in text
    assert "<td>1.75</td>" in text
    assert '<td class="">5 ULP</td>' in text
    assert '<a href="#c2">cases/sum.yaml::sum OutputTensor[0, 3]</a>' in text


def test_those_with_failures_stand_first() -> None:
    results = [passed("A"), passed("B"), failed()._replace(case=case(operator="C"))]
    assert names("".join(seen(*results).texts())) == ["C", "A", "B"]


def test_of_many_those_without_failures_are_folded_away() -> None:
    good = [passed(f"A{number:02}") for number in range(12)]
    assert "<details" not in "".join(seen(*good).texts())
    text = "".join(seen(*good, failed()).texts())
    before, _, after = text.partition("<details")
    assert (names(before), len(names(after))) == (["REDUCE"], 12)
    assert "12 operators without failures" in after


def test_no_more_operators_are_told_apart_than_there_is_room_for() -> None:
    operators = seen(*[passed(f"A{number}") for number in range(500)])
    assert len(operators.rows) == 401
    assert operators.rows["(others)"].counts["passed"] == 100


@pytest.mark.parametrize(("given", "name"), [("", "(none)"), ("DML_OPERATOR_GEMM", "GEMM"), ("a\x00b", "a\\x00b")])
def test_an_operator_goes_by_what_can_be_printed_of_its_name(given: str, name: str) -> None:
    assert Operators().of(given)[0] == name


def test_there_is_no_table_of_nothing() -> None:
    assert list(Operators().texts()) == []
