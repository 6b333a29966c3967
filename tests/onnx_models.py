"""ONNX models for tests: made of descs, checked, and run by ONNX's own evaluator and by onnxruntime."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dmlcheck import validation
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.implementations.desc_models import with_bytes
from dmlcheck.onnx.export.mappings import build
from dmlcheck.onnx.proto import model_proto
from dmlcheck.specs.load import full_name, load_spec
from dmlcheck.specs.names import NEWEST_LEVEL
from dmlcheck.values.number_formats import NUMPY_TYPES

pytest.importorskip("onnx", reason="the extra `onnxruntime` is not installed: no package onnx")

from onnx import checker
from onnx.reference import ReferenceEvaluator

Array = np.ndarray[Any, Any]


def check(model: Any) -> None:
    """Raise onnx's own error where a model is not valid, or a value's shape or type is not what its operator gives."""
    checker.check_model(model, full_check=True)


NAN, INF = math.nan, math.inf


def simple(
    operator: str, inputs: dict[str, Any], outputs: tuple[str, ...] = ("FLOAT32",), **fields: Any
) -> OperatorDesc:
    """Return a desc whose input tensors are the arrays', and whose outputs are as large as the first."""
    spec = load_spec(full_name(operator))
    desc = dict(fields)
    for name, array in inputs.items():
        kind = next(kind for kind, dtype in NUMPY_TYPES.items() if dtype == array.dtype)
        desc[name] = {"DataType": kind, "Sizes": list(array.shape)}
    first = next(iter(inputs.values()))
    for field, kind in zip(spec.outputs, outputs, strict=True):
        desc[field.name] = {"DataType": kind, "Sizes": list(first.shape)}
    return desc_of(operator, desc)


def evaluate(desc: OperatorDesc, inputs: dict[str, Any]) -> dict[str, Any]:
    """Return the outputs of a desc's model, computed by ONNX's own evaluator, after a full check of the model."""
    model = model_proto(build(desc))
    check(model)
    with np.errstate(all="ignore"):
        values = ReferenceEvaluator(model).run(None, inputs)
    return dict(zip((output.name for output in model.graph.output), values, strict=True))


def of(kind: str, *values: float) -> Array:
    return np.array([values], NUMPY_TYPES[kind])


E = math.e


A, B = "ATensor", "BTensor"


def identity(sizes: tuple[int, ...] = (2, 3), kind: str = "FLOAT32") -> OperatorDesc:
    tensor = {"DataType": kind, "Sizes": list(sizes)}
    return desc_of("ELEMENT_WISE_IDENTITY", {"InputTensor": tensor, "OutputTensor": tensor})


CASES = Path(__file__).parent.parent / "cases"


def desc_of(operator: str, desc: Any, level: str = NEWEST_LEVEL) -> OperatorDesc:
    made, findings = validation.validate(operator, desc, level)
    assert not findings, [finding.rule for finding in findings]
    return made


def labelled(values: dict[str, Any]) -> dict[str, Any]:
    """Return arrays by label, those of an array of tensors one by one."""
    flat = {}
    for name, value in values.items():
        parts = (
            {f"{name}[{index}]": part for index, part in enumerate(value)} if isinstance(value, list) else {name: value}
        )
        flat.update(parts)
    return flat


def onnx_outputs(model: Any, feed: dict[str, Array]) -> list[Array]:
    with np.errstate(all="ignore"):
        return ReferenceEvaluator(model).run(None, feed)


def onnxruntime_outputs(model: Any, feed: dict[str, Array]) -> list[Array] | None:
    """Return what the CPU provider gives, or None where it lacks a kernel or is older than the model."""
    runtime = pytest.importorskip("onnxruntime")
    options = runtime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    errors = runtime.capi.onnxruntime_pybind11_state
    try:
        session = runtime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    except errors.NotImplemented:
        return None
    except errors.Fail as error:
        if "Unsupported model IR version" not in str(error):  # as one is that is newer than this onnxruntime
            raise
        return None
    return session.run(None, feed)


def is_before(version: str) -> bool:
    """Whether the onnxruntime that is there is older; the last for Python 3.10 is 1.23."""
    found = pytest.importorskip("onnxruntime").__version__
    return tuple(map(int, found.split(".")[:2])) < tuple(map(int, version.split(".")))


EVALUATORS = {"onnx": onnx_outputs, "onnxruntime": onnxruntime_outputs}


def answers(desc: OperatorDesc, inputs: dict[str, Any], by: Iterable[str]) -> Iterator[dict[str, Array]]:
    """Yield the outputs of a desc's model, by label, from every evaluator that has its operators; at least one has."""
    model = model_proto(with_bytes(build(desc)))
    check(model)
    feed = {value.name: labelled(inputs)[value.name] for value in model.graph.input}
    given = 0
    for name in by:
        values = EVALUATORS[name](model, feed)
        if values is not None:
            given += 1
            yield dict(zip((output.name for output in model.graph.output), values, strict=True))
    assert given


def raw(array: Array, kind: str | None = None) -> dict[str, Any]:
    kind = kind or next(kind for kind, dtype in NUMPY_TYPES.items() if dtype == array.dtype)
    return {"DataType": kind, "Sizes": list(array.shape)}


def made(operator: str, inputs: dict[str, Any], outputs: dict[str, Any], **fields: Any) -> OperatorDesc:
    """Return the desc whose tensors are those of arrays, and where a field says so, have strides too."""
    desc = dict(fields)
    for name, value in {**inputs, **outputs}.items():
        tensors = [raw(part) for part in value] if isinstance(value, list) else raw(value)
        if name in fields:  # a field of a tensor's name adds to its desc
            tensors.update(fields[name])
        desc[name] = tensors
    return desc_of(operator, desc)


def expect(
    operator: str,
    inputs: dict[str, Any],
    outputs: dict[str, Any],
    near: float = 0.0,
    by: Iterable[str] = ("onnx", "onnxruntime"),
    **fields: Any,
) -> None:
    """Let a desc's model give these outputs: every bit, or as near as that."""
    desc = made(operator, inputs, outputs, **fields)
    for answer in answers(desc, inputs, by):
        for label, wanted in labelled(outputs).items():
            actual = np.asarray(answer[label])
            assert (actual.dtype, actual.shape) == (wanted.dtype, wanted.shape)
            np.testing.assert_allclose(actual, wanted, rtol=near, atol=near)


def f32(values: Any) -> Array:
    return np.array(values, np.float32)


def whole(*sizes: int, start: int = -3, step: int = 5, wrap: int = 8) -> Array:
    """Return small whole numbers in a FLOAT32 array, so that sums of products are exact."""
    return ((np.arange(math.prod(sizes)) * step % wrap) + start).astype(np.float32).reshape(sizes)


def small(*sizes: int, step: int = 5) -> Array:
    return whole(*sizes, step=step) / 8
