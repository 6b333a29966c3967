"""ONNX's backend tests as case files: its own, the round trip of the shipped cases, and models that are broken."""

from __future__ import annotations

import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import dmlcheck as api
from dmlcheck.running.one_case import run_cases
from dmlcheck.running.results import CaseResult

onnx = pytest.importorskip("onnx")

from commandline import dmlcheck  # noqa: E402
from onnx import numpy_helper  # noqa: E402
from onnx.backend.test import loader  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402
from onnx_backend_tests import write_test  # noqa: E402

from dmlcheck.onnx.operators.table import OPERATORS  # noqa: E402

EMPTY = ("every size must be at least 1", "has no elements")
REDUCING = ("Reduce", "ArgM", "Hardmax")


@pytest.fixture(scope="module")
def node_tests(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write ONNX's node tests of one operator that is imported: those of reductions, and a few of each other."""
    folder = tmp_path_factory.mktemp("node")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tests = loader.load_model_tests(kind="node")
    written: Counter[str] = Counter()
    for test in tests:
        (node, *others) = test.model.graph.node
        if not others and node.op_type in TESTED and "pool_" not in test.name:
            written[node.op_type] += 1
            if written[node.op_type] <= _MOST or node.op_type.startswith(REDUCING):
                write_test(folder / test.name, test.model, *test.data_sets)
    return folder


_MOST = 4  # tests of an operator
# But for what is exported as an operator of onnxruntime's, which onnx does not run.
TESTED = {name for name, row in OPERATORS.items() if row.make or row.exact} - {"Attention"}


@pytest.fixture(scope="module")
def imported_tests(node_tests: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("imported") / "cases"
    result = dmlcheck("import", "onnx", node_tests, "-o", folder)
    assert result.exit_code == 0
    return folder, result.output


@pytest.mark.slow
def test_onnxs_tests_of_reductions_pass_on_the_reference(node_tests: Path, imported_tests: tuple[Path, str]) -> None:
    folder, output = imported_tests
    tested = [path.name for path in node_tests.iterdir() if is_reduction(path)]
    there = {path.stem for path in folder.glob("*.yaml")}
    cases = [case for name in tested if name in there for case in api.load_cases(str(folder / f"{name}.yaml"))]
    assert Counter(result.outcome for result in run_cases(cases)) == {"passed": len(cases)}
    assert len(cases) > 100
    # What is left out has no counterpart: FLOAT64, which REDUCE does not read, and tensors without elements.
    for line in output.splitlines():
        if "left out" in line and any(f"/{name}/" in line for name in tested):
            assert "is FLOAT64, which DML_OPERATOR_REDUCE does not read" in line or any(word in line for word in EMPTY)


# Whose expected values have four digits; and whose results the documentation leaves open.
FOUR_DIGITS = {"averagepool_2d_ceil_last_window_starts_on_pad", "roialign_aligned_false", "roialign_aligned_true"}
LEFT_OPEN = {"pow_types_int32_float32"}


@pytest.mark.slow
def test_as_many_of_onnxs_node_tests_pass_as_directml_has_operators_for(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tests = loader.load_model_tests(kind="node")
    for test in tests:
        if all(isinstance(value, TENSORS) for values in test.data_sets[0] for value in values):
            write_test(tmp_path / "node" / test.name, test.model, *test.data_sets)
    result = dmlcheck("import", "onnx", tmp_path / "node", "-o", tmp_path / "imported")
    assert result.exit_code == 0
    results = list(run_cases(api.load_cases(str(tmp_path / "imported"))))
    assert len(results) >= 907
    assert {name for name, outcome in outcomes(results) if outcome == "failed"} == FOUR_DIGITS
    assert {name for name, outcome in outcomes(results) if outcome == "skipped"} == LEFT_OPEN
    assert Counter(result.outcome for result in results)["passed"] >= 903


def outcomes(results: list[CaseResult]) -> list[tuple[str, str]]:
    return [(result.case.name.removeprefix("test_"), result.outcome) for result in results]


TENSORS = (np.ndarray, np.generic, onnx.TensorProto)


def is_reduction(folder: Path) -> bool:
    return str(onnx.load(folder / "model.onnx").graph.node[0].op_type).startswith(REDUCING)


@pytest.mark.slow
def test_what_is_imported_is_still_the_operator_that_it_was(tmp_path: Path, imported_tests: tuple[Path, str]) -> None:
    """Let ONNX's evaluator run models that are made again of the imported descs, with the values of the tests."""
    folder = tmp_path / "again"
    dmlcheck("export", "--to", "onnx", imported_tests[0], "-o", folder)
    tests = [path.parent for path in sorted(folder.glob("*/model.onnx"))]
    assert len(tests) > 250
    wrong = [test.name for test in tests if not agrees(test)]
    assert wrong == []


def agrees(test: Path) -> bool:
    """Whether ONNX's evaluator gives the outputs of a test, within the tolerance of ONNX's runner."""
    model = onnx.load(test / "model.onnx")
    inputs, outputs = (
        [
            numpy_helper.to_array(onnx.load_tensor(test / "test_data_set_0" / f"{kind}_{index}.pb"))
            for index in range(len(values))
        ]
        for kind, values in (("input", model.graph.input), ("output", model.graph.output))
    )
    names = [value.name for value in model.graph.input]
    with np.errstate(all="ignore"):
        found = ReferenceEvaluator(model).run(None, dict(zip(names, inputs, strict=True)))
    return all(
        own.dtype == wanted.dtype and own.shape == wanted.shape and np.allclose(own, wanted, 1e-3, 1e-6, equal_nan=True)
        for own, wanted in zip(found, outputs, strict=True)
    )
