"""Files with mistakes, and the diagnostics that each of them must give: `tests/broken/NAME` and `NAME.expect`.

An expectation has a line for each diagnostic: `LINE:COLUMN rule pointer`, with `-` where there is no pointer. It was
written by hand, and holds both ways: nothing else may be said of the file.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dmlcheck import validation
from dmlcheck.diagnostics.catalog import RULES
from dmlcheck.diagnostics.record import Diagnostic
from dmlcheck.formats.registry import read_file
from dmlcheck.running.legality import all_problems

FOLDER = Path(__file__).parent / "broken"
EXPECTATIONS = sorted(path.name for path in FOLDER.glob("*.expect"))
FILES = sorted(path.name for path in FOLDER.iterdir() if path.suffix not in (".expect", ".obeyed"))
STATIC_GROUPS = ("file", "desc", "tensor", "feature level", "operator")
NOT_STATIC = {
    "unmatched-expectation": "of expectations, not of case files",
    "expired-expectation": "as above",
    "too-many-problems": "takes more than 1,000 lines to expect; tests/cli/test_too_many_problems.py has it",
    "file-not-found": "the file is there",
    "onnx-syntax": "of an import, or of a model, not of case files",
    "webnn-syntax": "of JavaScript; tests/formats/webnn/test_importer.py has it",
    "graph-syntax": "of a DirectML graph, which is no text; tests/cli/test_validate_graphs.py has it",
    "dangling-edge": "as above",
    "edge-mismatch": "as above",
    "no-provider": "of a node of a model",
    "provider-refuses": "of a node of a model",
    "runs-elsewhere": "a note of a node of a model",
    "unknown-sizes": "a note of a node of a model",
    "not-mapped": "a note of a node of a model",
    "known-deviation": "a note on a legal desc; tests/cli/test_validate.py has it",
}

DESC = """\
desc:
  InputTensor: {DataType: FLOAT32, Sizes: [3, 3]}
  OutputTensor: {DataType: UINT32, Sizes: [1, 3]}
  Axes: [0]
  AxisDirection: INCREASING
"""
ARGMAX = "operator: DML_OPERATOR_ARGMAX\n" + DESC
MODEL = (
    '{"resources": {"in": {"initialValues": [1]}}, "dispatchables": {"argmax": {"type": "ARGMAX"}}, "commands": [%s]}'
)


def diagnostics(path: Path) -> list[Diagnostic]:
    """Return everything that is said of a file: of its form, and of the descs that can be read."""
    file = read_file(str(path))
    found = [*file.problems, *file.notes]
    for case in file.cases:
        if case.id in file.broken:
            found.extend(all_problems(case, file.broken[case.id]))
        else:
            _, findings = validation.validate(case.operator, case.desc, case.level)
            found.extend(case.origin.diagnostic(finding) for finding in findings)
    return found


def lines_of(path: Path) -> list[str]:
    """Return a file's lines as an editor counts them."""
    return re.split(r"\r\n|\r|\n", path.read_bytes().decode("utf-8-sig", "replace"))


def row(diagnostic: Diagnostic) -> str:
    """Return a diagnostic as an expectation has it."""
    return f"{diagnostic.line}:{diagnostic.column} {diagnostic.rule} {diagnostic.pointer or '-'}"


def helps(text: str, path: Path) -> list[str]:
    """Return the help of everything that is said of a file with this text."""
    path.write_text(text, encoding="utf-8")
    return [diagnostic.help or "" for diagnostic in diagnostics(path)]


def test_every_file_has_its_expectation_and_every_expectation_its_file() -> None:
    assert [name.removesuffix(".expect") for name in EXPECTATIONS] == FILES


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_a_broken_file_gives_exactly_the_diagnostics_that_are_expected(name: str) -> None:
    path = FOLDER / name
    expected = (FOLDER / f"{name}.expect").read_text(encoding="utf-8").splitlines()
    found = diagnostics(path)
    assert expected
    assert sorted(map(row, found)) == sorted(expected)
    lines = lines_of(path)
    for diagnostic in found:
        assert diagnostic.file == path.as_posix()
        assert diagnostic.line is not None
        assert diagnostic.column is not None
        assert 1 <= diagnostic.line <= len(lines)
        end = len(lines[diagnostic.line - 1]) + 1
        assert 1 <= diagnostic.column <= end
        assert 1 <= diagnostic.width <= max(1, end - diagnostic.column)
        assert diagnostic.message


def test_every_rule_that_a_file_can_break_has_a_broken_file() -> None:
    rows = [line for name in EXPECTATIONS for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()]
    covered = {line.split(" ")[1] for line in rows}
    static = {name for name, rule in RULES.items() if rule.group in STATIC_GROUPS}
    assert covered <= static
    assert static - covered == NOT_STATIC.keys()


@pytest.mark.parametrize(
    ("text", "suggestion"),
    [
        (ARGMAX + "tolerence: exact\n", "did you mean tolerance?"),
        (ARGMAX + "feature-level: 3.0\n", "did you mean feature_level?"),
        (ARGMAX + "case:\n- name: one\n", "did you mean cases?"),
        (ARGMAX + "cases:\n- {name: one, toleranse: exact}\n", "did you mean tolerance?"),
        (ARGMAX + "tolerance: {ulps: 1}\n", "did you mean ulp?"),
        (ARGMAX + "tolerance: {relativ: 1}\n", "did you mean relative?"),
        (ARGMAX + "matrix: {Axis: [0]}\nnote: ${Axes}\n", "did you mean Axis?"),
        (ARGMAX + "feature_level: 7_0\n", "the nearest is 6_4"),
        ("operator: ARGMAXX\n" + DESC, "did you mean ARGMAX?"),
        ("operator: DML_OPERATOR_ARGNIM\n" + DESC, "did you mean DML_OPERATOR_ARGMIN?"),
        ("operator: reduce\ndesc: {}\n", "did you mean REDUCE?"),
        (ARGMAX.replace("AxisDirection", "AxisDirektion"), "did you mean AxisDirection?"),
        (ARGMAX.replace("InputTensor", "inputTensor"), "did you mean InputTensor?"),
        (ARGMAX.replace("DataType: FLOAT32", "Datatype: FLOAT32"), "did you mean DataType?"),
        (ARGMAX.replace("Sizes: [3, 3]", "Sizes: [3, 3], Stride: [3, 1]"), "did you mean Strides?"),
        (ARGMAX.replace("FLOAT32", "FLAOT32"), "did you mean FLOAT32?"),
        (ARGMAX.replace("FLOAT32", "DML_TENSOR_DATA_TYPE_INT23"), "did you mean INT32?"),
        (ARGMAX.replace("INCREASING", "Increasing"), "did you mean INCREASING?"),
        (ARGMAX.replace("Sizes: [3, 3]", "Sizes: [3, 3], Flags: OWNED_BY_D3D"), "did you mean OWNED_BY_DML?"),
        (ARGMAX.replace("Axes: [0]", "Axes: 0"), "write [0]"),
    ],
)
def test_a_misspelt_name_comes_with_the_right_one(text: str, suggestion: str, tmp_path: Path) -> None:
    assert suggestion in helps(text, tmp_path / "misspelt.yaml")


@pytest.mark.parametrize(
    ("command", "suggestion"),
    [
        ('{"type": "dispatch", "dispatchable": "argmx", "bindings": {}}', "did you mean argmax?"),
        ('{"type": "print", "resource": "inn"}', "did you mean in?"),
        ('{"type": "writeFile", "resource": "In", "targetPath": "x.npy"}', "did you mean in?"),
    ],
)
def test_a_misspelt_name_of_a_model_comes_with_the_right_one(command: str, suggestion: str, tmp_path: Path) -> None:
    assert suggestion in helps(MODEL % command, tmp_path / "misspelt.json")


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        (ARGMAX + "colour: red\n", "its keys are "),
        (ARGMAX + "tolerance: {colour: 1}\n", "its keys are absolute, relative, ulp"),
        (ARGMAX + "matrix: {Axis: [0], Type: [INT8]}\nnote: ${Colour}\n", "it has Axis, Type"),
        (ARGMAX + "  Colour: red\n", "its fields are InputTensor, OutputTensor, "),
        ("operator: CONVOLVE_COLOURS\n" + DESC, "`dmlcheck show` lists the operators"),
    ],
)
def test_a_name_like_no_other_comes_with_those_that_there_are(text: str, remedy: str, tmp_path: Path) -> None:
    assert any(remedy in help for help in helps(text, tmp_path / "unknown.yaml"))
