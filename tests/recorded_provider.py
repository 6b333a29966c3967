"""What ONNX Runtime's DirectML provider made of ONNX's own tests of operators, for the tests that compare it.

onnxruntime.dll 1.24.4 with DirectML.dll 1.15.4, under Wine on a software device that takes all levels, 2026-11-29; the
models are those of `collect_testcases` of onnx 1.23.2 (without sequences and floats of 8 and 4 bits as inputs). The
file has the descs, each once as text, and a row for each model:

- its name and the beginning of a digest of its graph;
- "done", or what ended it without graph optimizations: "session", when it was loaded, or "run";
- the descs without graph optimizations, by number, one for each operator that was created;
- the descs by default, in graphs that are compiled, by number, each once; null where no session was created;
- the largest difference from the expected outputs, relative to 1 and their magnitude, without and with optimizations;
- whether a node was on DirectML.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.onnx.descs.graph import fields_of
from dmlcheck.onnx.descs.node import Counterpart

FILE = Path(__file__).parent / "onnx" / "provider" / "recorded_node_tests.json.gz"
ONNX = "1.23.2"


class Recorded(NamedTuple):
    """A row of the file, its descs as text."""

    name: str
    digest: str
    stage: str
    descs: list[str]
    default: list[str] | None
    differences: tuple[float | None, float | None]
    is_on_directml: bool


@cache
def recorded() -> dict[str, Recorded]:
    """Return the rows by the names of their models."""
    document = json.loads(gzip.decompress(FILE.read_bytes()))
    texts = document["descs"]
    rows = [
        Recorded(
            name,
            digest,
            stage,
            [texts[number] for number in plain],
            None if default is None else [texts[number] for number in default],
            (differences[0], differences[1]),
            is_on_directml,
        )
        for name, digest, stage, plain, default, differences, is_on_directml in document["models"]
    ]
    return {row.name: row for row in rows}


def digest_of(model: Any) -> str:
    """Return the beginning of a digest of a graph and the opsets of a model."""
    parts = [model.graph.SerializeToString(deterministic=True)]
    parts += [each.SerializeToString(deterministic=True) for each in model.opset_import]
    return hashlib.sha256(b"".join(parts)).hexdigest()[:12]


def text_of(made: Counterpart) -> str:
    """Return an operator as the text that a desc of the file has."""
    return desc_text(made.operator, fields_of(made.fields))


def desc_text(operator: str, fields: Mapping[str, Any]) -> str:
    """Return a desc as text: its fields by name, without those that are left out."""
    given = (f"{name}={_text(value)}" for name, value in sorted(fields.items()) if value not in (None, []))
    return f"{operator} {'; '.join(given)}"


def _text(value: Any) -> str:
    if isinstance(value, Mapping) and "Sizes" in value:
        return _tensor(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name}={_text(each)}" for name, each in sorted(value.items())) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(_text, value))}]"
    return value if isinstance(value, str) else _number(value)


def _number(value: float) -> str:
    """Return a number with the digits of its FLOAT32, or as a whole number."""
    if not np.isfinite(value) or value != int(value):
        return str(np.float32(value))
    return str(int(value) if isinstance(value, int) else int(np.float32(value)))


def _tensor(given: Mapping[str, Any]) -> str:
    """Return a tensor with the strides of what has more than one element, if they are not those of packed elements."""
    sizes = given["Sizes"]
    own, packed = given.get("Strides") or _packed(sizes), _packed(sizes)
    strides = [step for step, size in zip(own, sizes, strict=True) if size > 1]
    is_packed = strides == [step for step, size in zip(packed, sizes, strict=True) if size > 1]
    return f"{given['DataType']} {_numbers(sizes)}" + ("" if is_packed else f" by {_numbers(strides)}")


def _numbers(values: Iterable[int]) -> str:
    return " ".join(map(str, values))


def _packed(sizes: list[int]) -> list[int]:
    return [int(np.prod(sizes[place + 1 :], dtype=np.int64)) for place in range(len(sizes))]
