"""Descs in DxDispatch's notation, what DxDispatch cannot read, and the outputs that it writes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dmlcheck.descs.records import OperatorDesc, TensorDesc
from dmlcheck.descs.write import notation
from dmlcheck.files.npy import Header, find, read_elements
from dmlcheck.files.plain import open_plain
from dmlcheck.folders.export_folder import tensor_file
from dmlcheck.specs.names import DATA_TYPES
from dmlcheck.specs.records import OUTPUT
from dmlcheck.values.layouts import Array, viewed, wide_span
from dmlcheck.values.number_formats import NUMPY_TYPES

# Operators and values of fields that DxDispatch/src/model/JsonParsersGenerated.cpp lacks as of July 2025.
_UNKNOWN = ("FOLD", "RESAMPLE3", "UNFOLD")
_UNKNOWN_VALUES = {"PaddingMode": "WRAP"}


def unsupported(desc: OperatorDesc) -> str | None:
    """Return why a desc cannot be written as a model, or None when it can."""
    if desc.spec.short in _UNKNOWN:
        return f"DxDispatch does not know {desc.spec.operator}"
    for name, value in _UNKNOWN_VALUES.items():
        if desc.values.get(name) == value:
            return f"DxDispatch does not know the {name} {value}"
    for part in desc.tensors():
        if DATA_TYPES[part.tensor.data_type].bits < 8:
            return f"DxDispatch has no buffers of {part.tensor.data_type}"
    for field in (*desc.spec.inputs, *desc.spec.outputs):
        tensors = desc.values.get(field.name) or () if field.type == "TENSOR_DESC_ARRAY" else ()
        if None in tensors:
            return f"DxDispatch takes no null in {field.name}"
        if len({tensor.flags for tensor in tensors}) > 1:
            return f"DxDispatch binds the tensors of {field.name} all at once: all or none can be OWNED_BY_DML"
    return wide_span(desc)


def desc_of(desc: OperatorDesc) -> dict[str, Any]:
    """Return the fields of a desc as DxDispatch reads them.

    Counts are given, and missing fields have no key. A scalar union is a whole number for integer types; infinities and
    NaN, for which JSON has no numbers, are an object with the member of the union.
    """
    fields = notation(desc)
    for field in desc.spec.fields.values():
        value = desc.values.get(field.name)
        if value is not None and field.data_type is not None:
            fields[field.name] = _scalar(value, desc.values[field.data_type])
        elif value is not None and field.type in ("FLOAT", "FLOAT_ARRAY", "SCALE_BIAS"):
            fields[field.name] = _floats(fields[field.name])
    return fields


def _floats(value: Any) -> Any:
    """Return numbers as the FLOAT32 that they are rounded to, so that reading them rounds no more."""
    if isinstance(value, dict):
        return {key: _floats(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_floats(part) for part in value]
    return _spelt(np.float32(value), value) if isinstance(value, (int, float)) else value


def _spelt(held: Any, value: float) -> float:
    """Return the number with the fewest digits that DxDispatch reads as a value rounded to a float type.

    A value that the type holds exactly keeps its digits: with fewer, a reader of doubles gets another number.
    """
    if float(held) == value:  # as doubles: NumPy would round the value first
        return float(value)
    short = float(str(held))
    return short if held.dtype.type(np.float32(short) if held.itemsize < 8 else short) == held else float(held)


def _scalar(value: float, data_type: str) -> Any:
    if DATA_TYPES[data_type].kind != "float":
        return int(value)
    with np.errstate(over="ignore"):
        held = NUMPY_TYPES[data_type].type(value)
    if np.isfinite(held):
        return _spelt(held, value)
    if data_type == "FLOAT16":
        return {"UInt16": int(held.view(np.uint16))}
    return {data_type.capitalize(): "nan" if np.isnan(held) else "inf" if held > 0 else "-inf"}


# ---- the outputs that a model writes: which files they are, and their values, read with care


OUTPUTS = "outputs"  # the folder that the model writes to, in the folder that it is run in


class OutputFile(NamedTuple):
    """An output of a model: its name in reports, the file that it is written to, its type and its sizes."""

    name: str
    file: str
    data_type: str
    sizes: tuple[int, ...]


def outputs_of(desc: OperatorDesc) -> list[OutputFile]:
    """Return the outputs of a desc's model."""
    return [
        OutputFile(part.label, f"{OUTPUTS}/{tensor_file(part.label)}", part.tensor.data_type, part.tensor.sizes)
        for part in desc.tensors(OUTPUT)
    ]


def read_outputs(desc: OperatorDesc, folder: str) -> dict[str, Array]:
    """Return the outputs that a model wrote in a folder; ValueError, as the rest of a sentence, if one is not right.

    The files may come from anywhere: nothing outside the folder is read, nothing is unpickled, and nothing is read
    before its header agrees with the desc.
    """
    tensors = {part.label: part.tensor for part in desc.tensors(OUTPUT)}
    return {output.name: _read_output(output, tensors[output.name], folder) for output in outputs_of(desc)}


def _read_output(output: OutputFile, tensor: TensorDesc, folder: str) -> Array:
    path, problem = find(folder, output.file)
    if problem is not None:
        raise ValueError(f"wrote no {output.name}: {output.file}: {problem}")
    expected = NUMPY_TYPES[tensor.data_type]
    try:
        with open_plain(path) as file:
            header = Header(file)
            found = header.dtype.newbyteorder("="), header.shape
            elements = read_elements(file, header) if found == (expected, (tensor.extent,)) else None
    except OSError as error:
        raise ValueError(f"wrote {output.file}, which cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        raise ValueError(f"wrote {output.file}, which cannot be used: {error}") from None
    if elements is None:
        wanted = f"{tensor.data_type} [{tensor.extent}]"
        raise ValueError(f"wrote {output.file} as {header.dtype} {list(header.shape)}, and {wanted} is expected")
    return viewed(tensor, elements)
