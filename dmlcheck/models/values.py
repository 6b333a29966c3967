"""Evaluation of an ONNX model by the reference: the values of its outputs."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from dmlcheck.diagnostics.record import Diagnostic
from dmlcheck.diagnostics.wording import cut
from dmlcheck.formats.registry import Opened
from dmlcheck.graphs.tensors import TensorRef
from dmlcheck.models.cases import Loaded, ModelRequest, UnusableModel, given_model, inputs_text
from dmlcheck.models.node_verdict import KNOWN_TYPES
from dmlcheck.models.reference_nodes import ReferenceNodes, Uncomputed, evaluator_text
from dmlcheck.onnx.descs.node import Unmapped
from dmlcheck.onnx.exporter import require
from dmlcheck.running.evaluate import Evaluated, EvaluationRequest
from dmlcheck.values.layouts import Array

_MOST_NAME = 100  # characters that are shown


def evaluated_model(file: Opened, wanted: EvaluationRequest) -> Iterator[Evaluated]:
    """Yield the outputs of a model after remarks on them, or the diagnostics; MissingRequirement without onnx."""
    require()
    name = file.document.name
    model = given_model(file.path, name, ModelRequest(wanted.sizes, wanted.seed, wanted.inputs))
    if isinstance(model, UnusableModel):
        yield Evaluated(None, diagnostics=model.diagnostics, is_wrong=True)
        return
    outputs = [value.name for value in model.proto.graph.output]
    way = ReferenceNodes(model, outputs)
    for node, found in way.nodes(
        [one.case.name for one in model.nodes if not set(outputs).isdisjoint(one.node.output)]
    ):
        if isinstance(found, Uncomputed):
            text = f"the node {node.case.name} ({node.operator}) is not computed: {found.reason}"
            yield Evaluated(None, diagnostics=(Diagnostic(found.rule, text, file=node.case.file),))
            return
    yield from (Evaluated(None, remark=remark) for remark in _remarks(model, way, wanted))
    yield from _outputs(os.path.splitext(os.path.basename(name))[0], name, way, outputs)


def _remarks(model: Loaded, way: ReferenceNodes, wanted: EvaluationRequest) -> Iterator[str]:
    yield inputs_text(model, wanted.seed, wanted.inputs)
    yield from evaluator_text(way.evaluated)
    for name, remark in way.remarks.items():
        yield f"{cut(name, _MOST_NAME)}: {remark}"
    for name in way.undefined:
        yield f"elements of {cut(name, _MOST_NAME)!r} are undefined, and with them the results that follow from it"


def _outputs(stem: str, file: str, way: ReferenceNodes, names: Sequence[str]) -> Iterator[Evaluated]:
    """Yield the outputs, and before them remarks on those that are not printed, or printed as another type."""
    printed: dict[str, tuple[Array, str]] = {}
    masks: dict[str, Array] = {}
    for name in names:
        try:
            value = way.value(name)
        except Unmapped as why:
            yield Evaluated(None, diagnostics=(Diagnostic("missing-tensor", str(why), file=file),))
            return
        for label, array in _labelled(name, value).items():
            shown = _printable(array)
            if shown is None:
                yield Evaluated(None, remark=f"{label!r} is not printed: it is {_kind(array)}")
                continue
            if shown[0].dtype != array.dtype and array.dtype != bool:
                yield Evaluated(None, remark=f"{label!r} is {array.dtype}, and printed as {shown[1]}")
            printed[label] = shown
        if name in way.masks and name in printed:
            masks[name] = way.masks[name]
    yield Evaluated(stem, printed, undefined=masks, nothing=None if printed else f"{file} has no output to print")


def _labelled(name: str, value: Any) -> Mapping[str, Any]:
    """Return the tensors of an output by the names that they are printed with: of a sequence each with its number."""
    label = cut(name, 1000)
    if not isinstance(value, list):
        return {label: value}
    return {f"{label}[{number}]": each for number, each in enumerate(value)}


def _printable(array: Any) -> tuple[Array, str] | None:
    """Return an array as one of a data type of DirectML, with that type; None if there is none."""
    if not isinstance(array, np.ndarray):
        return None
    if array.dtype in KNOWN_TYPES:
        shown = array.view(np.uint8) if array.dtype == bool else array
        return shown, TensorRef.of(shown[:0] if shown.ndim else shown).data_type
    for wider in (np.float32, np.int8, np.uint8):  # floats of 16 bits and fewer, integers of 4
        if array.dtype.itemsize <= 2 and np.can_cast(array.dtype, wider):
            shown = array.astype(wider)
            return shown, TensorRef.of(shown).data_type
    return None


def _kind(value: Any) -> str:
    return f"an array of {value.dtype}" if isinstance(value, np.ndarray) else "no tensor"
