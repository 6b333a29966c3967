"""Cases as folders in the layout of ONNX's backend tests: a model, its inputs, and the outputs that they must give.

Needs the package onnx.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from dmlcheck.cases.records import Case
from dmlcheck.folders.export_folder import Exported, Folder, MissingRequirement, Ready, each, ready
from dmlcheck.onnx import metadata
from dmlcheck.onnx.export.mappings import build
from dmlcheck.onnx.export.records import ExportedGraph, Inexpressible
from dmlcheck.onnx.proto import model_proto, tensor_proto
from dmlcheck.reference.limits.work import TooMuchWork
from dmlcheck.specs.records import OUTPUT

FORM = "onnx"
INSTALL = "python -m pip install onnx"
MODEL = "model.onnx"
DATA = "test_data_set_0"
LIMITS = "data.json"  # where ONNX's runner looks for the tolerance of a test
_RTOL, _ATOL = 1e-3, 1e-7  # ONNX's own, where a test has none
_MOST_BYTES = 2**31 - 1  # the most that a protobuf holds
_UNSAFE = re.compile(r"[^A-Za-z0-9]+")
_MAX_NAME = 40  # characters of a case's name in its folder's


class ExportedValues(NamedTuple):
    """The values of a graph's inputs and outputs, by label, and which outputs the case itself gives."""

    inputs: Mapping[str, Any]
    outputs: Mapping[str, Any]
    given: tuple[str, ...]


def export(cases: Iterable[Case], folder: str) -> list[Exported]:
    """Write a folder for each case that ONNX can express, and return the result for each case.

    OSError if the folder cannot be written, Occupied if it has other contents than an earlier export,
    MissingRequirement without onnx.
    """
    require()
    with Folder(folder, FORM) as place:
        exported = each(cases, lambda case: _exported(case, place))
        left_out = [{"case": one.case, "reason": one.reason} for one in exported if one.reason is not None]
        place.finish(left_out)
    return exported


def require() -> None:
    """Raise MissingRequirement if onnx cannot be imported."""
    try:
        import onnx  # noqa: F401 - what everything here is made with
    except ImportError as error:
        raise MissingRequirement(
            f"ONNX's files need the package {error.name or 'onnx'}; install it with: {INSTALL}"
        ) from None


def _exported(case: Case, place: Folder) -> Exported:
    going = ready(case, with_outputs=True)
    if isinstance(going, Exported):
        return going
    if going.has_any:
        return Exported(case.id, reason="elements of its outputs are `any`, which ONNX cannot say")
    try:
        graph = build(going.desc)
        model = model_proto(graph)
        tensors = _tensors(going)
        limits = _limits(going)
    except (Inexpressible, TooMuchWork) as reason:
        return Exported(case.id, reason=str(reason))
    largest = max(array.nbytes for array in (*tensors.inputs.values(), *tensors.outputs.values()))
    if largest > _MOST_BYTES - 2**16:
        return Exported(case.id, reason="a tensor takes more than 2 GiB, which a protobuf cannot hold")
    # A name that no other case has, with the beginning that ONNX's runner requires.
    words = _UNSAFE.sub("_", going.case.name)[:_MAX_NAME].strip("_").lower()
    name = f"test_{going.desc.spec.short.lower()}_{words}_{len(place.entries):05}"
    for file, data in _files(going, graph, model, tensors, limits):
        place.write(f"{name}/{file}", data)
    place.entries[name] = {"folder": name, "operator": going.desc.spec.operator, "cases": [case.id]}
    return Exported(case.id, name)


# ---- values


def _tensors(going: Ready) -> ExportedValues:
    """Return the values of a case; outputs that it does not give are the reference engine's."""
    outputs = {label: values for label, (_, values) in going.expected.items()}
    inputs = {part.label: values for part, values in going.desc.inputs_with(going.inputs)}
    labels = [part.label for part in going.desc.tensors(OUTPUT)]
    if any(label not in outputs for label in labels):
        from dmlcheck.reference import engine

        outputs = {**engine.run(going.desc, going.inputs), **outputs}
    return ExportedValues(inputs, {label: outputs[label] for label in labels}, tuple(going.expected))


# ---- files


def _files(
    going: Ready, graph: ExportedGraph, model: Any, tensors: ExportedValues, limits: dict[str, float] | None
) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a case's folder, each with its name."""
    metadata.add(model, going.case, going.desc, tensors.given)
    yield MODEL, model.SerializeToString(deterministic=True)
    for kind, values, arrays in (("input", graph.inputs, tensors.inputs), ("output", graph.outputs, tensors.outputs)):
        for index, value in enumerate(values):
            tensor = tensor_proto(value, arrays[value.name])
            yield f"{DATA}/{kind}_{index}.pb", tensor.SerializeToString(deterministic=True)
    if limits is not None:
        yield LIMITS, (json.dumps(limits) + "\n").encode()


# ---- the tolerance of ONNX's runner


def _limits(going: Ready) -> dict[str, float] | None:
    """Return the rtol and atol of a test, |difference| <= atol + rtol * |expected|; None if ONNX's defaults suffice.

    ONNX has no units in the last place, and no tolerance for each element: the rest of the widest tolerance beyond rtol
    is the atol. Inexpressible if the documentation leaves an element undefined, as ONNX cannot except it.
    """
    from dmlcheck.comparison.tolerances import limit_for

    own = going.case.tolerance
    limit = limit_for(going.desc, own)
    largest = _largest_bound(going)
    if not any(limit.has_bound(part.tensor.data_type) for part in going.desc.tensors(OUTPUT)):
        return {"rtol": 0.0, "atol": largest}
    if own is not None and own.ulp is None:
        return {"rtol": float(own.relative or 0), "atol": float(own.absolute or 0)}
    return {"rtol": _RTOL, "atol": largest} if largest > _ATOL else None


def _largest_bound(going: Ready) -> float:
    """Return the most that an element may differ by beyond rtol, where that follows from the operator's formula."""
    import numpy as np

    from dmlcheck.reference.bounds import bounds

    largest = 0.0
    every = {part.label: np.ones(part.tensor.sizes, dtype=bool) for part in going.desc.tensors(OUTPUT)}
    for label, _, bound in bounds(going.desc, going.inputs, every):
        if bound.undefined.any() or bound.others:
            raise Inexpressible(f"elements of {label} are undefined, which ONNX cannot express")
        with np.errstate(invalid="ignore"):
            beyond = bound.radius - (_RTOL * np.abs(bound.value) if bound.value.dtype.kind == "f" else 0)
        largest = max(largest, float(beyond[np.isfinite(beyond)].max(initial=0)))
    return largest
