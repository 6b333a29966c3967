"""Models that dmlcheck exported: each becomes the case that it was, with the values that lie beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dmlcheck import validation
from dmlcheck.descs.records import OperatorDesc, TensorPart
from dmlcheck.folders.case_file import Written
from dmlcheck.graphs.tensors import Array, TensorRef
from dmlcheck.onnx import metadata
from dmlcheck.onnx.backend_tests.read import BackendTest
from dmlcheck.onnx.descs.node import Unmapped
from dmlcheck.onnx.export.mappings import build
from dmlcheck.onnx.export.records import Inexpressible
from dmlcheck.onnx.proto import model_proto
from dmlcheck.specs.names import NEWEST_LEVEL
from dmlcheck.specs.records import Field

_KEYS = ("feature_level", "source", "tolerance", "tags", "note")


def own_case(test: BackendTest) -> Written | None:
    """Return the case that a model was exported from, or None if its metadata and its graph do not agree."""
    kept = metadata.case_metadata(test.model)
    desc = _desc(kept, test.model)
    if desc is None:
        return None
    given = {label: values for label, values in test.outputs.items() if label in kept.get("given", ())}
    inputs = _by_field(desc, desc.spec.inputs, test.inputs, needed=True)
    outputs = _by_field(desc, desc.spec.outputs, given, needed=False)
    more = {key: kept.get(key) for key in _KEYS}
    more["source"] = more["source"] or f"exported from {kept.get('case')}"
    return Written("", desc, inputs, outputs or None, {key: value for key, value in more.items() if value})


def _desc(kept: Mapping[str, Any], model: Any) -> OperatorDesc | None:
    """Return the desc in a model's metadata, None if the desc's graph is another than the model's."""
    if "operator" not in kept or "desc" not in kept:
        return None
    level = kept.get("feature_level") or NEWEST_LEVEL
    try:
        desc, findings = validation.validate(kept["operator"], kept["desc"], level)
        return desc if desc is not None and not findings and _is_model_of(desc, model) else None
    except (Inexpressible, ArithmeticError, LookupError, TypeError, ValueError):
        return None


def _is_model_of(desc: OperatorDesc, model: Any) -> bool:
    made = model_proto(build(desc))
    return bool(made.graph == model.graph and list(made.opset_import) == list(model.opset_import))


def _by_field(
    desc: OperatorDesc, fields: Sequence[Field], given: Mapping[str, TensorRef], *, needed: bool
) -> dict[str, Any]:
    """Return values by field instead of by label; Unmapped if they have not the types and sizes of the desc."""
    section: dict[str, Any] = {}
    for field in fields:
        parts = [part for part in desc.parts[field.name] if needed or part.label in given]
        arrays = [_checked(part, given.get(part.label)) for part in parts]
        if arrays:
            section[field.name] = arrays[0] if field.type == "TENSOR_DESC" else arrays
    return section


def _checked(part: TensorPart, given: TensorRef | None) -> Array:
    values = None if given is None else given.values
    if values is None or given is None or (given.data_type, given.shape) != (part.tensor.data_type, part.tensor.sizes):
        raise Unmapped(f"the values of {part.label} are not those of its tensor")
    return values
