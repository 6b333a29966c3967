"""WebNN's conformance tests for tests: small files in the form of the W3C's, and the cases that they become."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import dmlcheck
from dmlcheck.folders.export_folder import Imported
from dmlcheck.formats.webnn.importer import import_

Tensor = dict[str, Any]
_HEAD = """\
// META: title=test WebNN API
// META: script=../resources/utils.js

'use strict';
"""
_LOOP = """
if (navigator.ml) {
  theTests.filter(isTargetTest).forEach((test) => {
    webnn_conformance_test(buildAndExecuteGraph, getPrecisionTolerance, test);
  });
} else {
  test(() => assert_implements(navigator.ml, 'missing navigator.ml'));
}
"""


def tensor(data: Any, *shape: int, type: str = "float32") -> Tensor:
    """Return a tensor of a test."""
    return {"data": data, "descriptor": {"shape": list(shape), "dataType": type}}


def js(value: Any) -> str:
    """Return a value as JavaScript has it; numbers as they are, BigInt as text of digits and an n."""
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, str):
        return value if value[:-1].lstrip("-").isdigit() and value.endswith("n") else f"'{value}'"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"'{key}': {js(one)}" for key, one in value.items()) + "}"
    if isinstance(value, Sequence):
        return "[" + ", ".join(map(js, value)) + "]"
    return {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}.get(repr(value), repr(value))


def operator(name: str, *given: Any, outputs: Any = "output", **options: Any) -> dict[str, Any]:
    """Return an operator of a test, called with tensors by name or other values, in order."""
    arguments: list[Any] = [{f"argument{place}": value} for place, value in enumerate(given)]
    return {"name": name, "arguments": arguments + ([{"options": options}] if options else []), "outputs": outputs}


def graph(
    inputs: Mapping[str, Tensor], operators: Sequence[Any], expected: Mapping[str, Tensor], name: str = "a test"
) -> dict[str, Any]:
    """Return a test."""
    return {"name": name, "graph": {"inputs": inputs, "operators": operators, "expectedOutputs": expected}}


def page(*tests: Any, end: str = _LOOP) -> str:
    """Return a file of tests."""
    return f"{_HEAD}\nconst theTests = {js(tests)};\n{end}"


def write_page(text: str | bytes, name: str = "ops.https.any.js") -> str:
    """Write a file of tests, and return its name."""
    Path(name).write_bytes(text.encode() if isinstance(text, str) else text)
    return name


def imported(text: str | bytes) -> Imported:
    """Return what became of a file."""
    (one,) = import_([write_page(text)], "cases")
    return one


def cases(text: str) -> list[dmlcheck.Case]:
    """Return the cases that the tests of a file become; none may be left out."""
    one = imported(text)
    assert (one.remarks, one.problems) == ((), ())
    return dmlcheck.load_cases("cases/ops.yaml")


def case(inputs: Mapping[str, Tensor], called: Any, expected: Any) -> dmlcheck.Case:
    """Return the case of one test, after the reference engine gave what the test expects."""
    outputs = {"output": expected} if "descriptor" in expected else expected
    (one,) = cases(page(graph(inputs, called if isinstance(called, list) else [called], outputs)))
    (result,) = dmlcheck.run_cases([one])
    assert (result.outcome, result.reason) == ("passed", None), result
    return one


def desc(inputs: Mapping[str, Tensor], called: Any, expected: Any) -> dict[str, Any]:
    """Return the operator and the fields of the case of one test, as `case`, its tensors as type, sizes and strides."""
    one = case(inputs, called, expected)
    fields = {name: _short(value) for name, value in one.desc.items()}
    return {"operator": one.operator.removeprefix("DML_OPERATOR_"), **fields}


def _short(value: Any) -> Any:
    if isinstance(value, list):
        return [_short(one) for one in value]
    if isinstance(value, dict) and "Sizes" in value:
        strides = [value["Strides"]] if "Strides" in value else []
        return " ".join(map(str, [value["DataType"], value["Sizes"], *strides]))
    return value


def reason(inputs: Mapping[str, Tensor], called: Any, expected: Any) -> str:
    """Return why a test is left out."""
    outputs = {"output": expected} if "descriptor" in expected else expected
    one = imported(page(graph(inputs, called if isinstance(called, list) else [called], outputs)))
    assert (one.cases, one.problems) == (0, ())
    (remark,) = one.remarks
    return remark.removeprefix("left out: a test: ")
