"""Values for the inputs of a single node: its constants, and random values in place of other nodes' results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dmlcheck.cases.prepare import too_large, value_findings
from dmlcheck.descs.records import OperatorDesc, TensorDesc, TensorPart
from dmlcheck.graphs.buffers import Array
from dmlcheck.specs.names import DATA_TYPES, NEWEST_LEVEL, integer_range
from dmlcheck.specs.records import INPUT
from dmlcheck.values.generators import random, sequence

_FLOATS = (-1, 1)
_WHOLE = (0, 100)  # range of integers that are not indices and have more than 8 bits

Literal = dict[str, Any]


def node_inputs(desc: OperatorDesc, constants: Mapping[str, Array]) -> dict[str, Any] | None:
    """Return the values of a desc's inputs by field: arrays for constants, and the notation of case files for others.

    None if no values satisfy the operator's constraints, or this machine cannot hold them.
    """
    for made in _candidates(desc):
        values: Mapping[str, Any] = {**made, **constants}
        if too_large(desc, _by_field(desc, made), {}) is not None:
            return None
        arrays = {label: _array(values[label], part.tensor) for label, part in _inputs(desc)}
        if not value_findings(desc, _by_field(desc, arrays), NEWEST_LEVEL):
            return _by_field(desc, values)
    return None


def _candidates(desc: OperatorDesc) -> Iterator[dict[str, Literal]]:
    """Yield values to try: random ones, then integers that are all different, then 0."""
    drawn = {label: {"random": _range(part, desc, seed)} for seed, (label, part) in enumerate(_inputs(desc), 1)}
    whole = [label for label, part in _inputs(desc) if DATA_TYPES[part.tensor.data_type].kind != "float"]
    yield drawn
    yield {**drawn, **{label: {"sequence": {"start": 0, "step": 1}} for label in whole}}
    yield {**drawn, **{label: {"sequence": {"start": 0, "step": 0}} for label in whole}}


def _inputs(desc: OperatorDesc) -> Iterator[tuple[str, TensorPart]]:
    return ((part.label, part) for part in desc.tensors(INPUT))


def _range(part: TensorPart, desc: OperatorDesc, seed: int) -> Literal:
    """Return the random numbers for a tensor, in the notation; indices are inside the dimension that they index."""
    kind, bits = DATA_TYPES[part.tensor.data_type]
    low, high = _FLOATS if kind == "float" else _WHOLE if bits > 8 else integer_range(part.tensor.data_type)
    if kind != "float" and "Indices" in part.label:
        low, high = 0, _indexed(part, desc) - 1
    return {"seed": seed, "low": low, "high": high}


def _indexed(part: TensorPart, desc: OperatorDesc) -> int:
    """Return the number of valid indices, in the smallest dimension that an index may be about."""
    sizes = desc.tensors()[0].tensor.sizes
    if part.label.startswith("Batch"):
        return sizes[0]
    axis = desc.get("Axis")
    return sizes[axis] if isinstance(axis, int) and axis < len(sizes) else min(sizes)


def _array(given: Any, tensor: TensorDesc) -> Array:
    if not isinstance(given, dict):
        return given  # type: ignore[no-any-return]
    count = tensor.element_count
    ((kind, of),) = given.items()
    if kind == "random":
        flat = random(tensor.data_type, count, of["seed"], of["low"], of["high"])
    else:
        flat = sequence(tensor.data_type, count, of["start"], of["step"])
    return flat.reshape(tensor.sizes)


def _by_field(desc: OperatorDesc, values: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for field in desc.spec.inputs:
        parts = [values[part.label] for part in desc.parts[field.name]]
        if parts:
            found[field.name] = parts[0] if field.type == "TENSOR_DESC" else parts
    return found
