"""A wrong desc for each constraint, with the output of `validate`, and the lines that correct it."""

from __future__ import annotations

import pytest

from dmlcheck.cases.records import Case
from dmlcheck.formats.find import find_files
from dmlcheck.formats.registry import read_file
from dmlcheck.reports.site.mistakes import DescLine, Mistake, mistakes
from dmlcheck.specs.load import data_folder, load_spec
from dmlcheck.validation import validate

FIELDS = {"DataType": "FLOAT32", "Sizes": [2, 3]}
ARGMAX = {
    "InputTensor": FIELDS,
    "OutputTensor": {"DataType": "UINT32", "Sizes": [2, 1]},
    "Axes": [1],
    "AxisDirection": "INCREASING",
}


def negative(desc: dict[str, object], *invalid: str, name: str = "wrong") -> Case:
    return Case(f"a.yaml::{name}", name, "a.yaml", "DML_OPERATOR_ARGMAX", None, {**ARGMAX, **desc}, invalid=invalid)


def of(*cases: Case) -> dict[str, Mistake]:
    return mistakes(load_spec("DML_OPERATOR_ARGMAX"), cases)


def texts(mistake: Mistake, mark: str) -> list[str]:
    return [line.text for line in mistake.lines if line.mark == mark]


def test_a_mistake_has_the_wrong_line_the_right_one_and_the_output() -> None:
    found = of(negative({"OutputTensor": {"DataType": "UINT32", "Sizes": [2, 3]}}, "ARGMAX/C3"))["C3"]
    assert texts(found, "-") == ["  OutputTensor: {DataType: UINT32, Sizes: [2, 3]}"]
    assert texts(found, "+") == ["  OutputTensor: {DataType: UINT32, Sizes: [2, 1]}"]
    assert found.lines[0] == DescLine(" ", "operator: DML_OPERATOR_ARGMAX")
    assert found.rule == "size-mismatch"
    first, source, *_ = found.output.splitlines()
    assert first.startswith("desc.yaml:4:47: error[size-mismatch]: OutputTensor.Sizes[1] is 3; it must be 1")
    assert source == "  4 |   OutputTensor: {DataType: UINT32, Sizes: [2, 3]}"


def test_the_case_that_breaks_nothing_else_is_taken_then_the_shortest() -> None:
    both = negative({"Axes": [1, 1, 2]}, "ARGMAX/C2", "ARGMAX/C4", name="both")
    long = negative({"Axes": [0, 2]}, "ARGMAX/C2", name="long")
    short = negative({"Axes": [2]}, "ARGMAX/C2", name="short")
    assert texts(of(both, long, short)["C2"], "-") == ["  Axes: [2]"]


def test_a_constraint_on_values_alone_has_none() -> None:
    assert of(negative({}, "ARGMAX/C1")) == {}


def test_the_case_itself_stays_as_it_is() -> None:
    case = negative({"OutputTensor": {"DataType": "UINT32", "Sizes": [2]}}, "ARGMAX/C1")
    of(case)
    assert case.desc["OutputTensor"] == {"DataType": "UINT32", "Sizes": [2]}


@pytest.mark.slow
@pytest.mark.parametrize("operator", ["GEMM", "CONVOLUTION", "RESAMPLE2"])
def test_every_constraint_on_descs_has_a_mistake_and_its_correction(operator: str) -> None:
    spec = load_spec(f"DML_OPERATOR_{operator}")
    paths = find_files(f"{data_folder('cases')}/{operator.lower()}") or []
    found = mistakes(spec, [case for path in paths for case in read_file(path, path).cases if case.invalid])
    assert found.keys() == {row.id for row in spec.constraints if not row.is_unasked}
    for mistake in found.values():
        assert texts(mistake, "-")
        assert texts(mistake, "+")


def test_a_correction_is_valid() -> None:
    found = of(negative({"Axes": [2]}, "ARGMAX/C2"))["C2"]
    (line,) = texts(found, "+")
    axes = [int(part) for part in line.partition("[")[2].rstrip("]").split(",")]
    assert validate("ARGMAX", {**ARGMAX, "Axes": axes}, "6_4")[1] == []
