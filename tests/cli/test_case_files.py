"""Case files that a command reads one after the other."""

from __future__ import annotations

from collections.abc import Callable

import click
import pytest
from commandline import GOOD, many, write

from dmlcheck.cases.records import Case
from dmlcheck.cli import main
from dmlcheck.cli.case_files import CaseFiles, by_operator
from dmlcheck.cli.selection import targets
from dmlcheck.diagnostics.record import Diagnostic


def read(*paths: str, selected: Callable[[str], bool] = lambda _: True) -> tuple[list[str], CaseFiles]:
    """Return the ids of the cases of some paths, and what read them."""
    with click.Context(main):
        files = CaseFiles(targets(paths), selected)
        return [case.id for case in files.cases()], files


def test_the_cases_come_file_by_file_and_only_those_that_are_wanted() -> None:
    write("a.yaml", many(3))
    write("b.yaml", many(1))
    assert read("b.yaml", "a.yaml")[0] == ["b.yaml::c0", "a.yaml::c0", "a.yaml::c1", "a.yaml::c2"]
    assert read("a.yaml::c1", "b.yaml")[0] == ["a.yaml::c1", "b.yaml::c0"]
    assert read("a.yaml", selected=lambda case_id: case_id.endswith("2"))[0] == ["a.yaml::c2"]


def test_what_is_wrong_with_a_file_is_printed_and_its_good_cases_come_all_the_same(
    capsys: pytest.CaptureFixture[str],
) -> None:
    write("a.yaml", many(2) + "- {name: c2, tags: 3}\n")
    write("b.yaml", "operator: [")
    ids, files = read("a.yaml", "b.yaml")
    assert ids == ["a.yaml::c0", "a.yaml::c1"]
    assert files.has_wrong_file
    printed = capsys.readouterr().err
    assert "a.yaml:11:20: error[wrong-type]" in printed
    assert "b.yaml:1:" in printed
    assert "error[yaml-syntax]" in printed


def test_what_is_wrong_with_a_case_is_printed_with_the_line_of_its_file(capsys: pytest.CaptureFixture[str]) -> None:
    write("a.yaml", GOOD)
    _, files = read("a.yaml")
    assert not files.has_wrong_file
    with click.Context(main):
        files.show([Diagnostic("wrong-type", "no", file="a.yaml", line=6, column=9, width=3)])
    assert capsys.readouterr().err == "a.yaml:6:9: error[wrong-type]: no\n  6 |   Axes: [0]\n    |         ^^^\n"


def test_cases_go_by_the_full_name_of_an_operator_that_there_is() -> None:
    cases = [Case("", name, "", name, None, {}) for name in ("GEMM", "DML_OPERATOR_GEMM", "JOIN", "GEM")]
    assert by_operator(cases) == {"DML_OPERATOR_GEMM": cases[:2], "DML_OPERATOR_JOIN": cases[2:3]}
    assert by_operator(cases, ["DML_OPERATOR_JOIN"]) == {"DML_OPERATOR_JOIN": cases[2:3]}
