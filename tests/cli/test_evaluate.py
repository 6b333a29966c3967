"""What `eval` computes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from commandline import GOOD, dmlcheck

from dmlcheck.reference import engine


def test_memory_that_ends_in_eval_is_a_diagnostic(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*_: Any) -> None:
        raise MemoryError

    monkeypatch.setattr(engine, "evaluate", run)
    result = dmlcheck("eval", "-", stdin=GOOD)
    assert result.exit_code == 1
    assert "error[tensor-too-large]" in result.output


OPEN = """\
operator: ELEMENT_WISE_DIVIDE
desc:
  ATensor: {DataType: INT32, Sizes: [2, 2]}
  BTensor: {DataType: INT32, Sizes: [2, 2]}
  OutputTensor: {DataType: INT32, Sizes: [2, 2]}
inputs: {ATensor: [[4, 10], [3, 8]], BTensor: [[4, 2], [0, 2]]}
"""


def test_what_eval_prints_are_outputs_that_the_reference_passes(tmp_path: Path) -> None:
    printed = dmlcheck("eval", "-", stdin=OPEN).output
    assert printed == '"-":\n  OutputTensor: [[1, 5], [any, 4]]\n'
    outputs = printed.partition("OutputTensor:")[2]
    (tmp_path / "divide.yaml").write_text(f"{OPEN}outputs:\n  OutputTensor:{outputs}", encoding="utf-8")
    assert dmlcheck("run", str(tmp_path)).exit_code == 0


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("cases:\n- {name: wrong, invalid: [missing-field]}\n", 5),
        ("cases:\n- {name: wrong, invalid: [missing-field]}\n- {name: right}\n", 0),
        ("cases:\n- {name: wrong, invalid: [missing-field]}\n- {name: two, inputs: {ATensor: [1]}}\n", 1),
    ],
)
def test_eval_of_nothing_that_can_be_computed_has_its_exit_code(text: str, code: int) -> None:
    assert dmlcheck("eval", "-", stdin=OPEN + text).exit_code == code


@pytest.fixture
def doubling(folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the name of an implementation that doubles what the reference computes, and cannot run ACTIVATION_RELU."""
    (folder / "doubling_in_eval.py").write_text(
        "from dmlcheck.implementations.reference import Reference\n"
        "class Doubling(Reference):\n"
        "    name = 'doubling'\n"
        "    def unsupported(self, desc):\n"
        "        return 'no RELU' if desc.spec.short == 'ACTIVATION_RELU' else None\n"
        "    def run(self, desc, inputs):\n"
        "        return {name: 2 * values for name, values in super().run(desc, inputs).items()}\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(str(folder))
    return "python:doubling_in_eval:Doubling"


def test_eval_prints_what_an_implementation_computes(doubling: str) -> None:
    assert dmlcheck("eval", "-", stdin=GOOD).stdout == '"-":\n  OutputTensor: [6]\n'
    result = dmlcheck("eval", "-", "--implementation", doubling, stdin=GOOD)
    assert (result.exit_code, result.stdout) == (0, '"-":\n  OutputTensor: [12]\n')


def test_eval_on_an_implementation_that_can_run_no_case_has_its_exit_code(doubling: str) -> None:
    relu = "operator: ACTIVATION_RELU\ndesc: {InputTensor: T, OutputTensor: T}\ninputs: {InputTensor: [1]}\n"
    relu = relu.replace("T,", "{DataType: FLOAT32, Sizes: [1]},").replace("T}", "{DataType: FLOAT32, Sizes: [1]}}")
    result = dmlcheck("eval", "-", "--implementation", doubling, stdin=relu)
    assert (result.exit_code, result.stdout) == (5, "# -: unsupported-by-implementation: no RELU\n")


def test_eval_refuses_an_implementation_that_cannot_be_had() -> None:
    result = dmlcheck("eval", "-", "--implementation", "nothing", stdin=GOOD)
    assert (result.exit_code, "nothing is not an implementation" in result.stderr) == (2, True)


def test_eval_computes_a_model_on_the_reference_alone(doubling: str) -> None:
    model = '{"resources": {}, "dispatchables": {}, "commands": []}'
    result = dmlcheck("eval", "-", "--implementation", doubling, stdin=model)
    assert (result.exit_code, "is a DxDispatch model" in result.stderr) == (2, True)


@pytest.mark.parametrize("option", [["-k", "x"], ["--implementation", "onnxruntime"]])
def test_eval_of_a_model_takes_no_option_for_cases(option: list[str]) -> None:
    result = dmlcheck("eval", "-", *option, stdin='{"resources": {}, "dispatchables": {}, "commands": []}')
    assert (result.exit_code, f"{option[0]} is for case files" in result.stderr) == (2, True)


def test_eval_computes_one_case_of_a_file(folder: Path) -> None:
    cases = "cases:\n- {name: a::b}\n- {name: two, inputs: {InputTensor: [4, 5, 6]}}\n- {name: wrong, bogus: 1}\n"
    (folder / "sums.yaml").write_text(GOOD + cases, encoding="utf-8")
    assert dmlcheck("eval", "sums.yaml::two").stdout == "two:\n  OutputTensor: [15]\n"
    assert dmlcheck("eval", "sums.yaml::a::b").stdout == '"a::b":\n  OutputTensor: [6]\n'
    assert dmlcheck("eval", "sums.yaml::two", "-k", "nowhere").exit_code == 5
    result = dmlcheck("eval", "sums.yaml::three")
    assert (result.exit_code, result.stdout, result.stderr) == (5, "", "dmlcheck: sums.yaml has no case three\n")


def test_eval_prints_a_resource_again_in_another_document() -> None:
    """A second document begins where a name comes again."""
    resources = '{"a": {"initialValuesDataType": "UINT8", "initialValues": [1, 2]}}'
    commands = '[{"type": "print", "resource": "a"}, {"type": "print", "resource": "a"}]'
    model = f'{{"resources": {resources}, "dispatchables": {{}}, "commands": {commands}}}'
    result = dmlcheck("eval", "-", stdin=model)
    assert (result.exit_code, result.stdout) == (0, "a: [1, 2]\n---\na: [1, 2]\n")


def test_eval_of_a_model_without_commands_computes_nothing() -> None:
    assert dmlcheck("eval", "-", stdin='{"resources": {}, "dispatchables": {}, "commands": []}').exit_code == 5
