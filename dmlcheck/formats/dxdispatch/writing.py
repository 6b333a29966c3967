"""DxDispatch models written: a desc and its inputs as a model with one dispatch that writes each output to a file.

The rules are those of DxDispatch/doc/Guide.md and of the parser beside it, in the repository microsoft/DirectML.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.descs.records import OperatorDesc, Part, TensorDesc
from dmlcheck.descs.write import notation
from dmlcheck.files.npy import Header, find, read_elements
from dmlcheck.specs.names import DATA_TYPES
from dmlcheck.specs.records import OUTPUT
from dmlcheck.values.layouts import Array, laid_out, viewed
from dmlcheck.values.number_formats import NUMPY_TYPES

MODEL = "model.json"
OUTPUTS = "outputs"  # the folder that the model writes to, in the folder that it is run in
LOG = "printed.txt"  # what was printed, and with what exit code it ended, where a script ran the model
EXIT_CODE = "exit-code.txt"
ABOUT = "about.txt"  # what the executable says of itself, beside the folders of the models
_DISPATCHABLE = "operator"
# What is not in DxDispatch/src/model/JsonParsersGenerated.cpp as of July 2025: operators, and values of fields.
_UNKNOWN = ("FOLD", "RESAMPLE3", "UNFOLD")
_UNKNOWN_VALUES = {"PaddingMode": "WRAP"}


class Output(NamedTuple):
    """An output of a model: its name in reports, the file that it is written to, its type and its sizes."""

    name: str
    file: str
    data_type: str
    sizes: tuple[int, ...]


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
    return None


def desc_of(desc: OperatorDesc) -> dict[str, Any]:
    """Return the fields of a desc as DxDispatch reads them.

    Counts are there, what is left out is not there at all. A scalar union is a whole number for integer types and, as
    no number can be infinite or NaN, an object with the member of the union for those.
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
    """Return the number with the fewest digits that DxDispatch reads as what a float type holds of a value.

    A value that the type holds exactly stays as it is: with fewer digits it is another number to who reads doubles.
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


def digest_of(desc: OperatorDesc, inputs: Mapping[str, Any]) -> str:
    """Return what tells a desc and its inputs from any other, wherever the case stands: a SHA-256 in hexadecimal.

    It covers the operator, the desc with its counts filled in, and the inputs' values in the order of the operator's
    fields, as little-endian bytes in row-major order.
    """
    digest = hashlib.sha256(json.dumps([desc.spec.operator, desc_of(desc)], sort_keys=True).encode())
    for part, values in each(desc, inputs):
        digest.update(f"\n{part.label} {values.nbytes}\n".encode())
        digest.update(np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<")).data)
    return digest.hexdigest()


def folder_name(desc: OperatorDesc, digest: str) -> str:
    """Return the name of the folder of a model, which is short: Windows' paths have an end."""
    return f"{desc.spec.short.lower()}-{digest[:16]}"


def each(desc: OperatorDesc, inputs: Mapping[str, Any]) -> Iterator[tuple[Part, Array]]:
    """Yield every input tensor of a desc with its values."""
    for field in desc.spec.inputs:
        values = inputs.get(field.name)
        arrays = [] if values is None else values if isinstance(values, list) else [values]
        yield from zip(desc.parts[field.name], arrays, strict=False)


def outputs_of(desc: OperatorDesc) -> list[Output]:
    """Return the outputs of a desc's model."""
    return [
        Output(part.label, f"{OUTPUTS}/{file_name(part.label)}", part.tensor.data_type, part.tensor.sizes)
        for part in desc.tensors(OUTPUT)
    ]


def model_files(desc: OperatorDesc, inputs: Mapping[str, Any]) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a model, each with its name: the .npy files of its inputs, and the model itself.

    The buffers of inputs have 0xFF bytes where no element lies; those of outputs have NaN, -1 or the largest number
    everywhere before the dispatch, so that what is not written does not pass for a result.
    """
    resources: dict[str, Any] = {}
    for part, values in each(desc, inputs):
        name = file_name(part.label)
        yield name, npy_bytes(laid_out(part.tensor, values))
        resources[part.label] = _resource(part.tensor, {"sourcePath": name})
    for part in desc.tensors(OUTPUT):
        initial = {"valueCount": part.tensor.extent, "value": _unwritten(part.tensor.data_type)}
        resources[part.label] = _resource(part.tensor, initial)
    yield MODEL, json.dumps(_model(desc, resources), indent=1).encode() + b"\n"


def _model(desc: OperatorDesc, resources: dict[str, Any]) -> dict[str, Any]:
    bound: dict[str, Any] = {}
    owned: dict[str, Any] = {}
    for field in (*desc.spec.inputs, *desc.spec.outputs):
        parts = desc.parts[field.name]
        labels = [part.label for part in parts]
        if labels:
            place = owned if parts[0].tensor.flags == "OWNED_BY_DML" else bound
            place[field.name] = labels[0] if field.type == "TENSOR_DESC" else labels
    # A tensor that DirectML owns is bound once, when the operator is initialized.
    operator = {"type": desc.spec.operator, "desc": desc_of(desc), **({"bindings": owned} if owned else {})}
    commands: list[dict[str, Any]] = [{"type": "dispatch", "dispatchable": _DISPATCHABLE, "bindings": bound}]
    for part, output in zip(desc.tensors(OUTPUT), outputs_of(desc), strict=True):
        dimensions = [part.tensor.extent]
        commands.append(
            {"type": "writeFile", "resource": part.label, "targetPath": output.file, "dimensions": dimensions}
        )
    return {"resources": resources, "dispatchables": {_DISPATCHABLE: operator}, "commands": commands}


def _resource(tensor: TensorDesc, initial: dict[str, Any]) -> dict[str, Any]:
    size = max(tensor.implied_bytes, tensor.total_size or 0)
    return {
        "initialValuesDataType": tensor.data_type,
        "initialValues": initial,
        "sizeInBytes": (size + 3) // 4 * 4,
    }


def _unwritten(data_type: str) -> Any:
    kind, bits = DATA_TYPES[data_type]
    return "nan" if kind == "float" else -1 if kind == "int" else 2**bits - 1


def file_name(label: str) -> str:
    """Return the name of a tensor's file: `OutputTensors[1]` is in `OutputTensors.1.npy`."""
    return label.replace("[", ".").replace("]", "") + ".npy"


def npy_bytes(elements: Array) -> bytes:
    """Return an array as a .npy file, little-endian and of the format's version 1.0, which DxDispatch reads."""
    import io

    file = io.BytesIO()
    np.lib.format.write_array(file, elements.astype(elements.dtype.newbyteorder("<"), copy=False), version=(1, 0))
    return file.getvalue()


def read_outputs(desc: OperatorDesc, folder: str) -> dict[str, Array]:
    """Return the outputs that a model wrote in a folder; ValueError, as the rest of a sentence, where one is not right.

    The files may come from anywhere: nothing outside the folder is read, nothing is unpickled, and nothing is read
    before its header agrees with the desc.
    """
    tensors = {part.label: part.tensor for part in desc.tensors(OUTPUT)}
    return {output.name: _read_output(output, tensors[output.name], folder) for output in outputs_of(desc)}


def _read_output(output: Output, tensor: TensorDesc, folder: str) -> Array:
    path, problem = find(folder, output.file)
    if problem is not None:
        raise ValueError(f"wrote no {output.name}: {output.file}: {problem}")
    expected = NUMPY_TYPES[tensor.data_type]
    try:
        with open(path, "rb") as file:
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


def write_model(desc: OperatorDesc, inputs: Mapping[str, Any], folder: str) -> None:
    """Write the files of a model into a folder."""
    for name, data in model_files(desc, inputs):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(data)
    os.makedirs(os.path.join(folder, OUTPUTS), exist_ok=True)
