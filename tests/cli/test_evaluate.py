"""What `eval` computes."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commandline import GOOD, dmlcheck
from hypothesis import given, settings
from hypothesis import strategies as st
from tensor_values import BINARY, INFINITY, LIMITS, WIDTHS, power_of_two, written

from dmlcheck.cli.evaluate import values_text
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


@pytest.fixture
def doubling(folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the name of an implementation that doubles what the reference computes, and cannot run ACTIVATION_RELU."""
    (folder / "doubling_in_eval.py").write_text(
        "from dmlcheck.implementations.protocol import Reference\n"
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


def test_eval_on_an_implementation_that_can_run_no_case_has_its_exit_code(doubling: str) -> None:
    relu = "operator: ACTIVATION_RELU\ndesc: {InputTensor: T, OutputTensor: T}\ninputs: {InputTensor: [1]}\n"
    relu = relu.replace("T,", "{DataType: FLOAT32, Sizes: [1]},").replace("T}", "{DataType: FLOAT32, Sizes: [1]}}")
    result = dmlcheck("eval", "-", "--implementation", doubling, stdin=relu)
    assert (result.exit_code, result.stdout) == (5, "# -: unsupported-by-implementation: no RELU\n")


@pytest.mark.parametrize(("sizes", "code"), [([1, 1], 5), ([1, 2], 1), ([2, 2], 0)])
def test_eval_on_an_implementation_that_fails_for_every_case_computes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sizes: list[int], code: int
) -> None:
    (tmp_path / "failing_in_eval.py").write_text(
        "class Failing:\n"
        "    def run(self, desc, inputs):\n"
        "        if inputs['InputTensor'].size == 1:\n"
        "            raise RuntimeError('one element')\n"
        "        return {'OutputTensor': inputs['InputTensor']}\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    cases = []
    for number, size in enumerate(sizes):
        tensor = f"{{DataType: FLOAT32, Sizes: [{size}]}}"
        desc = f"{{InputTensor: {tensor}, OutputTensor: {tensor}}}"
        cases.append(f"{{name: c{number}, desc: {desc}, inputs: {{InputTensor: {{fill: 1}}}}}}")
    text = f"operator: ACTIVATION_RELU\ncases: [{', '.join(cases)}]\n"
    result = dmlcheck("eval", "-", "--implementation", "python:failing_in_eval:Failing", stdin=text)
    assert (result.exit_code, result.stderr.count("one element")) == (code, sizes.count(1)), result.stderr


def test_eval_prints_a_resource_again_in_another_document() -> None:
    """A second document begins where a name comes again."""
    resources = '{"a": {"initialValuesDataType": "UINT8", "initialValues": [1, 2]}}'
    commands = '[{"type": "print", "resource": "a"}, {"type": "print", "resource": "a"}]'
    model = f'{{"resources": {resources}, "dispatchables": {{}}, "commands": {commands}}}'
    result = dmlcheck("eval", "-", stdin=model)
    assert (result.exit_code, result.stdout) == (0, "a: [1, 2]\n---\na: [1, 2]\n")


# ---- values as text


@pytest.mark.slow
@settings(deadline=None)
@given(st.sampled_from(sorted(WIDTHS)), st.data())
def test_printed_values_read_back_to_the_same_bits(data_type: str, data: st.DataObject) -> None:
    kind, width = WIDTHS[data_type][0], int(WIDTHS[data_type][1]) * 8
    sizes = data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=3).map(tuple))
    if data_type in BINARY:
        patterns = data.draw(
            st.lists(st.integers(0, 2**width - 1), min_size=math.prod(sizes), max_size=math.prod(sizes))
        )
        values = np.array(patterns, dtype=f"u{width // 8}").view(WIDTHS[data_type]).reshape(sizes)
    else:
        numbers = st.integers(*LIMITS[data_type])
        values = np.array(
            data.draw(st.lists(numbers, min_size=math.prod(sizes), max_size=math.prod(sizes))), WIDTHS[data_type]
        )
        values = values.reshape(sizes)
    again, findings = written("".join(values_text(values, data_type)), data_type, *sizes)
    assert findings == []
    if kind == "f":
        assert np.array_equal(np.isnan(again), np.isnan(values))
        again, values = np.where(np.isnan(again), 0, again), np.where(np.isnan(values), 0, values)
    assert again.tobytes() == values.tobytes()


@pytest.mark.parametrize("width", [2, 4, 8])
def test_printed_edge_values_read_back_to_the_same_bits(width: int) -> None:
    data_type = f"FLOAT{8 * width}"
    precision, least, most = BINARY[data_type]
    numbers = [
        0.0, -0.0, 1.0, -1.0, 0.1, 2.0**least, 2.0 ** (least - precision + 1), -(2.0 ** (least - precision + 1)),
        float(power_of_two(most + 1) - power_of_two(most - precision + 1)), 2.0**precision, 2.0**precision - 1,
        INFINITY, -INFINITY, 1e4, 123456.0 / 1024, 1 / 3, 6e-5, 1 + 2.0 ** (1 - precision),
    ]  # fmt: skip
    values = np.array(numbers, dtype=f"f{width}")
    again, findings = written("".join(values_text(values, data_type)), data_type, len(numbers))
    assert findings == []
    assert again.tobytes() == values.tobytes()
