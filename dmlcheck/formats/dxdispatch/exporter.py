"""Cases as DxDispatch models in a folder, with scripts that run them elsewhere and a manifest of the cases."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from dmlcheck.cases.records import Case
from dmlcheck.descs.records import OperatorDesc, TensorDesc
from dmlcheck.descs.write import notation
from dmlcheck.files.npy import Header, find, npy_bytes, read_elements
from dmlcheck.files.plain import open_plain
from dmlcheck.folders.export_folder import Exported, Folder, each, ready, tensor_file
from dmlcheck.formats.dxdispatch.form import MODEL
from dmlcheck.specs.names import DATA_TYPES
from dmlcheck.specs.records import OUTPUT
from dmlcheck.values.layouts import Array, laid_out, viewed, wide_span
from dmlcheck.values.number_formats import NUMPY_TYPES

FORM = "dxdispatch"
OUTPUTS = "outputs"  # the folder that the model writes to, in the folder that it is run in
LOG = "printed.txt"  # the output of a script's run of a model, and its exit code
EXIT_CODE = "exit-code.txt"
ABOUT = "about.txt"  # the executable's description of itself, next to the folders of the models
_NAMES = {"MODEL": MODEL, "OUTPUTS": OUTPUTS, "LOG": LOG, "EXIT_CODE": EXIT_CODE, "ABOUT": ABOUT}  # in the scripts


def export(cases: Iterable[Case], folder: str) -> list[Exported]:
    """Write a model for each distinct operator, desc and inputs among cases, and return the result for each case.

    OSError if the folder cannot be written, Occupied if it has other contents than an earlier export.
    """
    with Folder(folder, FORM) as place:
        exported = each(cases, lambda case: _exported(case, place))
        place.write("README.md", script("README.md").encode())
        place.write("run.cmd", script("run.cmd").replace("\n", "\r\n").encode())
        place.write("run.sh", script("run.sh").encode())
        left_out = [{"case": one.case, "reason": one.reason} for one in exported if one.reason is not None]
        place.finish(left_out)
    return exported


def script(name: str) -> str:
    """Return a file next to exported models, which runs them where dmlcheck is not, or says how.

    A script removes an earlier run's results first, so that they are not taken for those of a program that dies. In
    run.cmd no parenthesis may enclose a variable: a path under "Program Files (x86)" would end it.
    """
    with open(os.path.join(os.path.dirname(__file__), "scripts", name), encoding="utf-8") as file:
        text = file.read()
    for word, value in _NAMES.items():
        text = text.replace(f"@{word}@", value)
    return text


def _exported(case: Case, place: Folder) -> Exported:
    going = ready(case)
    if isinstance(going, Exported):
        return going
    reason = unsupported(going.desc)
    if reason is not None:
        return Exported(case.id, reason=reason)
    digest = digest_of(going.desc, going.inputs)
    # The name is short: Windows' paths have an end.
    name = f"{going.desc.spec.short.lower()}-{digest[:16]}"
    if name not in place.entries:
        for file, data in model_files(going.desc, going.inputs):
            place.write(f"{name}/{file}", data)
        place.entries[name] = _entry(name, digest, going.desc)
    place.entries[name]["cases"].append(case.id)
    return Exported(case.id, name)


def _entry(name: str, digest: str, desc: OperatorDesc) -> dict[str, Any]:
    outputs = [
        {"name": output.name, "file": output.file, "type": output.data_type, "sizes": list(output.sizes)}
        for output in outputs_of(desc)
    ]
    return {"folder": name, "digest": digest, "operator": desc.spec.operator, "cases": [], "outputs": outputs}


# ---- DxDispatch models written: a desc and its inputs as a model with one dispatch that writes each output to a file

# The rules come from DxDispatch/doc/Guide.md and the parser next to it, in the repository microsoft/DirectML.


_DISPATCHABLE = "operator"


def write_model(desc: OperatorDesc, inputs: Mapping[str, Any], folder: str) -> None:
    """Write the files of a model into a folder."""
    for name, data in model_files(desc, inputs):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(data)
    os.makedirs(os.path.join(folder, OUTPUTS), exist_ok=True)


def model_files(desc: OperatorDesc, inputs: Mapping[str, Any]) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a model, each with its name: the .npy files of its inputs, and the model itself.

    Input buffers have 0xFF bytes between elements; output buffers have NaN, -1 or the largest number
    everywhere before the dispatch, so that an unwritten element does not pass for a result.
    """
    resources: dict[str, Any] = {}
    for part, values in desc.inputs_with(inputs):
        name = tensor_file(part.label)
        yield name, npy_bytes(laid_out(part.tensor, values))
        resources[part.label] = _resource(part.tensor, {"sourcePath": name})
    for part in desc.tensors(OUTPUT):
        kind, bits = DATA_TYPES[part.tensor.data_type]
        initial = {
            "valueCount": part.tensor.extent,
            "value": "nan" if kind == "float" else -1 if kind == "int" else 2**bits - 1,
        }
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
    size = tensor.buffer_bytes
    return {
        "initialValuesDataType": tensor.data_type,
        "initialValues": initial,
        "sizeInBytes": (size + 3) // 4 * 4,
    }


# ---- what tells one model from another


def digest_of(desc: OperatorDesc, inputs: Mapping[str, Any]) -> str:
    """Return the identity of a desc and its inputs, wherever the case is: a SHA-256 in hexadecimal.

    It covers the operator, the desc with its counts filled in, and the inputs' values in the order of the operator's
    fields, as little-endian bytes in row-major order.
    """
    digest = hashlib.sha256(json.dumps([desc.spec.operator, desc_of(desc)], sort_keys=True).encode())
    for part, values in desc.inputs_with(inputs):
        digest.update(f"\n{part.label} {values.nbytes}\n".encode())
        digest.update(np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<")).data)
    return digest.hexdigest()


# ---- descs in DxDispatch's notation, what it cannot read, and the outputs that it writes

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
