"""The reference engine as a program of the protocol: what it gives went through JSON, files and strides.

The first word of the command line is what it gets wrong: `last` zeroes the last element of every output, `lax` takes
every desc; without one it is right, and refuses descs that are not valid.
"""
# ruff: noqa: T201 - what it prints are its answers

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np

from dmlcheck.reference import engine
from dmlcheck.specs.names import NEWEST_LEVEL
from dmlcheck.specs.records import OUTPUT
from dmlcheck.validation import validate
from dmlcheck.values.layouts import laid_out, viewed

WRONG = sys.argv[1] if len(sys.argv) > 1 else ""


def main() -> None:
    """Answer requests until there are no more."""
    for line in sys.stdin:
        asked = json.loads(line)
        if asked["request"] == "hello":
            answer: dict[str, Any] = {"dmlcheck": 1, "name": "engine", "validates": True}
        else:
            answer = {"id": asked["id"], **answered(asked)}
        print(json.dumps(answer), flush=True)


def answered(asked: dict[str, Any]) -> dict[str, Any]:
    """Run a desc, and return the answer."""
    desc, findings = validate(asked["operator"], numbers(asked["desc"]), NEWEST_LEVEL)
    if desc is None or findings:
        return {"ok": True} if WRONG == "lax" else {"invalid": findings[0].rule if findings else "no desc"}
    inputs: dict[str, Any] = {}
    for field in desc.spec.inputs:
        given = asked["inputs"].get(field.name)
        paths = given if isinstance(given, list) else [given] if given else []
        arrays = [read(part.tensor, path) for part, path in zip(desc.parts[field.name], paths, strict=True)]
        if arrays:
            inputs[field.name] = arrays if isinstance(given, list) else arrays[0]
    outputs = engine.run(desc, inputs)
    for part in desc.tensors(OUTPUT):
        values = outputs[part.label]
        if WRONG == "last":
            values = values.copy()
            values.reshape(-1)[-1] = 0
        given = asked["outputs"][part.path[0]]
        path = given[part.path[1]] if isinstance(given, list) else given
        np.save(path, values if part.tensor.strides is None else laid_out(part.tensor, values))
    return {"ok": True}


def numbers(fields: Any) -> Any:
    """Return the fields of a desc with whole numbers in the place of their digits: those that no double holds."""
    return {
        name: int(value) if isinstance(value, str) and value.removeprefix("-").isdigit() else value
        for name, value in fields.items()
    }


def read(tensor: Any, path: str) -> Any:
    """Return the elements of a tensor from its file."""
    elements = np.load(path)
    return elements if tensor.strides is None else viewed(tensor, elements).copy()


if __name__ == "__main__":
    main()
