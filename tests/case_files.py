"""Case files as text, for the tests of what reads them."""

from __future__ import annotations

from dmlcheck.cases.read import read_cases
from dmlcheck.cases.records import Case, CaseFile
from dmlcheck.files import yaml

DESC = "{InputTensor: {DataType: FLOAT32, Sizes: [3]}, OutputTensor: {DataType: UINT32, Sizes: [1]}, Axes: [0]}"
PLAIN = f"operator: ARGMAX\ndesc: {DESC}\n"


def read(text: str, name: str = "folder/argmax.yaml") -> CaseFile:
    """Read text as a case file, whatever is wrong with it."""
    return read_cases(yaml.parse(text.encode(), name, is_json=name.endswith(".json")))


def cases_of(text: str, name: str = "folder/argmax.yaml") -> tuple[Case, ...]:
    """Return the cases of a file in which nothing is wrong."""
    file = read(text, name)
    assert (file.problems, file.broken) == ((), {})
    return file.cases


def names_of(text: str) -> list[str]:
    """Return the names of the cases of a file in which nothing is wrong."""
    return [case.name for case in cases_of(text)]


def rules_of(file: CaseFile) -> list[tuple[str, int | None, int | None]]:
    """Return the rule and the place of everything that is wrong with a file."""
    found = [*file.problems, *(problem for broken in file.broken.values() for problem in broken)]
    return [(problem.rule, problem.line, problem.column) for problem in found]
