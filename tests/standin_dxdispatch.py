"""A stand-in for DxDispatch: it carries out models as DxDispatch's guide and parser say, in plain Python.

It shares nothing with dmlcheck: files are read with `struct`, results come from the tests' oracle. Of DirectML it knows
the reductions, and of other operators just enough to tell whether arrays of tensors, operators inside operators and
scalar unions arrive. As its first argument it takes a way to misbehave.

    python standin_dxdispatch.py [--crash | --hang | --flood | --silent | --odd-file] MODEL.json [OPTION]...
"""

from __future__ import annotations

import itertools
import json
import math
import os
import re
import struct
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import oracle

CODES = dict(FLOAT16="e", FLOAT32="f", FLOAT64="d")  # noqa: C408 - to be read
CODES |= dict(INT8="b", INT16="h", INT32="i", INT64="q")  # noqa: C408
CODES |= dict(UINT8="B", UINT16="H", UINT32="I", UINT64="Q")  # noqa: C408
NPY = {"FLOAT": "f", "INT": "i", "UINT": "u"}


class Refused(Exception):
    """What DxDispatch does not take, with the words that it prints."""


# ---- models


def run(path: Path, folder: Path) -> Iterator[str]:
    """Carry out a model, writing below a folder, and yield what is printed."""
    model = json.loads(path.read_text(encoding="utf-8"))
    resources = {name: Resource(name, raw, path.parent) for name, raw in model["resources"].items()}
    operators = {name: Operator(raw, resources) for name, raw in model["dispatchables"].items()}
    yield "Running on 'Stand-in Adapter'"
    for command in model["commands"]:
        kind = command["type"].lower()
        if kind == "dispatch":
            operators[command["dispatchable"]].dispatch(command["bindings"], resources)
            yield f"Dispatch '{command['dispatchable']}': 1 iterations, 0.5 ms median (CPU)"
        elif kind == "writefile":
            resource = resources[command["resource"]]
            target = folder / command["targetPath"]
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(npy(resource, command.get("dimensions")))
        else:
            raise Refused("Unrecognized command")


class Resource:
    """A buffer: its bytes, and the type that it was filled with."""

    def __init__(self, name: str, raw: dict[str, Any], folder: Path) -> None:
        initial = raw["initialValues"]
        self.data_type = short(raw.get("initialValuesDataType", "UNKNOWN"))
        if isinstance(initial, dict) and "sourcePath" in initial:
            found, filled = read_npy(folder / initial["sourcePath"])
            if self.data_type not in ("UNKNOWN", found):
                raise Refused(f"Data type from file '{initial['sourcePath']}' does not match field")
            self.data_type = found
        elif isinstance(initial, dict):
            filled = struct.pack("<" + self.code, number(initial["value"], self.data_type)) * initial["valueCount"]
        else:
            filled = b"".join(struct.pack("<" + self.code, number(value, self.data_type)) for value in initial)
        if not filled:
            raise Refused("'initialValues' must be non-empty.")
        self.filled = len(filled)
        size = raw.get("sizeInBytes", (len(filled) + 3) // 4 * 4)
        if len(filled) > size:
            raise Refused(f"The buffer size ({size} bytes) is too small for {name}")
        self.data = bytearray(filled) + bytearray(size - len(filled))

    @property
    def code(self) -> str:
        return CODES[self.data_type]


class Operator:
    """A dispatchable: its desc, and what it binds itself."""

    def __init__(self, raw: dict[str, Any], resources: dict[str, Resource]) -> None:
        self.name = raw["type"].removeprefix("DML_OPERATOR_")
        self.desc = raw["desc"]
        self.owned = {field: resources[name] for field, name in raw.get("bindings", {}).items()}
        if self.name not in OPERATORS:
            raise Refused("Unknown operator type.")
        for field in REQUIRED.get(self.name, ("InputTensor", "OutputTensor")):
            if field not in self.desc:
                raise Refused(f"Field '{field}' is required.")
        if any(value is None for value in self.desc.values()):
            raise Refused("Expected a non-null JSON object.")

    def dispatch(self, bindings: dict[str, Any], resources: dict[str, Resource]) -> None:
        bound: dict[str, list[Resource]] = {field: [resource] for field, resource in self.owned.items()}
        for field, given in bindings.items():
            if field in self.owned:
                raise Refused(f"{field} is owned, and bound when it is dispatched")
            bound[field] = [resources[name] for name in (given if isinstance(given, list) else [given])]
        tensors: dict[str, list[Tensor]] = {}
        for field, buffers in bound.items():
            descs = self.desc[field] if isinstance(self.desc[field], list) else [self.desc[field]]
            if len(descs) != len(buffers):
                raise Refused(f"Bind point '{field}' requires {len(descs)} resources, but {len(buffers)} were bound.")
            tensors[field] = [Tensor(desc, buffer) for desc, buffer in zip(descs, buffers, strict=True)]
            is_owned = [desc.get("Flags", "NONE").endswith("OWNED_BY_DML") for desc in descs]
            if is_owned != [field in self.owned] * len(descs):
                raise Refused(f"{field}: what is OWNED_BY_DML is bound by the dispatchable, and nothing else is")
        declared = {field for field in self.desc if field.endswith(("Tensor", "Tensors"))}
        if declared != set(tensors):
            raise Refused(f"bound {sorted(tensors)} instead of {sorted(declared)}")
        OPERATORS[self.name](self.desc, tensors)


class Tensor:
    """A tensor in a buffer, through its strides."""

    def __init__(self, desc: dict[str, Any], buffer: Resource) -> None:
        self.sizes: list[int] = desc["Sizes"]
        self.data_type = short(desc["DataType"])
        packed = [math.prod(self.sizes[axis + 1 :]) for axis in range(len(self.sizes))]
        self.strides = desc.get("Strides") or packed
        self.buffer = buffer
        self.size = struct.calcsize("<" + CODES[self.data_type])
        extent = 1 + sum((size - 1) * stride for size, stride in zip(self.sizes, self.strides, strict=True))
        least = (extent * self.size + 3) // 4 * 4
        if desc.get("TotalTensorSizeInBytes", least) > len(buffer.data) or least > len(buffer.data):
            raise Refused(f"a buffer of {len(buffer.data)} bytes is bound to a tensor of {least}")

    def places(self) -> Iterator[int]:
        for index in itertools.product(*map(range, self.sizes)):
            yield self.size * sum(step * stride for step, stride in zip(index, self.strides, strict=True))

    def read(self) -> list[Any]:
        code = "<" + CODES[self.data_type]
        return [struct.unpack_from(code, self.buffer.data, place)[0] for place in self.places()]

    def write(self, values: list[Any]) -> None:
        code = "<" + CODES[self.data_type]
        for place, value in zip(self.places(), values, strict=True):
            struct.pack_into(code, self.buffer.data, place, value)


def short(data_type: str) -> str:
    return data_type.removeprefix("DML_TENSOR_DATA_TYPE_")


def number(value: Any, data_type: str) -> Any:
    """Return a number as DxDispatch parses it for a type."""
    if data_type.startswith("FLOAT"):
        if isinstance(value, str):
            if value.lower() not in ("nan", "inf", "-inf"):
                raise Refused("Expected 'NaN', 'Inf', or '-Inf'.")
            return float(value)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise Refused("Expected a number or 'NaN', 'Inf', or '-Inf'.")
        return float(value)
    if type(value) is not int:
        raise Refused("Expected an integer.")
    return value


def uint(desc: dict[str, Any], field: str) -> int:
    if type(desc[field]) is not int or desc[field] < 0:
        raise Refused(f"Error parsing field '{field}': Expected an unsigned integer.")
    return int(desc[field])


def scalar(desc: dict[str, Any], field: str, data_type: str) -> Any:
    """Return a scalar union: a number, or an object with the member of the union."""
    value = desc[field]
    if isinstance(value, dict):
        if data_type == "FLOAT16":
            return struct.unpack("<e", struct.pack("<H", value["UInt16"]))[0]
        return number(value[data_type.capitalize().replace("Uint", "UInt")], data_type)
    if isinstance(value, (str, bool)):
        raise Refused("Expected a non-null JSON object or number.")
    return number(value, data_type)


# ---- .npy files


def read_npy(path: Path) -> tuple[str, bytes]:
    """Return the type and the bytes of a file as DxDispatch's reader finds them."""
    data = path.read_bytes()
    if data[:6] != b"\x93NUMPY" or data[6] != 1:
        raise Refused("NumPy array header signature is invalid.")
    (length,) = struct.unpack_from("<H", data, 8)
    head = data[10 : 10 + length].decode("ascii")
    found = re.search(r"'descr': '([<|])([fiu])([1248])', 'fortran_order': False, 'shape': \(([0-9, ]*)\)", head)
    if found is None:
        raise Refused(f"its header is {head}")
    kinds = {code: kind for kind, code in NPY.items()}
    name = f"{kinds[found[2]]}{8 * int(found[3])}"
    count = math.prod(int(size) for size in found[4].replace(",", " ").split())
    body = data[10 + length :]
    if len(body) != count * int(found[3]):
        raise Refused("its data are not what its shape says")
    return name, body


def npy(resource: Resource, dimensions: list[int] | None) -> bytes:
    """Return a buffer as DxDispatch writes it: all of its bytes, also those behind the elements."""
    size = struct.calcsize("<" + resource.code)
    shape = "".join(f"{number}," for number in dimensions or [len(resource.data) // size])
    kind = NPY[resource.data_type.rstrip("0123456789")]
    head = f"{{'descr':'<{kind}{size}', 'fortran_order':False, 'shape':({shape}), }}"
    length = (10 + len(head) + 1 + 63) // 64 * 64 - 10
    return b"\x93NUMPY\1\0" + struct.pack("<H", length) + head.ljust(length - 1).encode() + b"\n" + resource.data


# ---- operators

_Tensors = dict[str, list[Tensor]]


def reduce(desc: dict[str, Any], tensors: _Tensors) -> None:
    (source,), (target,) = tensors["InputTensor"], tensors["OutputTensor"]
    axes = counted_axes(desc)
    function = desc["Function"].removeprefix("DML_REDUCE_FUNCTION_")
    target.write(oracle.reduce(function, source.read(), source.sizes, axes, source.data_type))


def argument(desc: dict[str, Any], tensors: _Tensors, *, largest: bool) -> None:
    (source,), (target,) = tensors["InputTensor"], tensors["OutputTensor"]
    last = desc["AxisDirection"].removeprefix("DML_AXIS_DIRECTION_") == "DECREASING"
    axes = counted_axes(desc)
    target.write(oracle.argument(source.read(), source.sizes, axes, largest=largest, last=last))


def hardmax(desc: dict[str, Any], tensors: _Tensors) -> None:
    (source,), (target,) = tensors["InputTensor"], tensors["OutputTensor"]
    if "Axes" in desc:
        target.write(oracle.hardmax1(source.read(), source.sizes, counted_axes(desc)))
    else:
        target.write(oracle.hardmax(source.read(), source.sizes))


def counted_axes(desc: dict[str, Any]) -> list[int]:
    axes: list[int] = desc["Axes"]
    if uint(desc, "AxisCount") != len(axes):
        raise Refused("AxisCount")
    return axes


def split(desc: dict[str, Any], tensors: _Tensors) -> None:
    """Split along the first axis."""
    if desc["Axis"] != 0 or uint(desc, "OutputCount") != len(desc["OutputTensors"]):
        raise Refused("only along the first axis")
    values = tensors["InputTensor"][0].read()
    for part in tensors["OutputTensors"]:
        count = math.prod(part.sizes)
        part.write(values[:count])
        values = values[count:]


def add1(desc: dict[str, Any], tensors: _Tensors) -> None:
    """Add, then apply f(x) = max(Alpha x, x)."""
    fused = desc.get("FusedActivation", {"Type": "ACTIVATION_IDENTITY"})
    kind = fused["Type"].removeprefix("DML_OPERATOR_")
    slope = {"ACTIVATION_IDENTITY": 1.0, "ACTIVATION_RELU": 0.0}.get(kind)
    slope = fused["Alpha"] if slope is None else slope
    sums = map(sum, zip(tensors["ATensor"][0].read(), tensors["BTensor"][0].read(), strict=True))
    tensors["OutputTensor"][0].write([max(slope * value, value) for value in sums])


def fill(desc: dict[str, Any], tensors: _Tensors) -> None:
    (target,) = tensors["OutputTensor"]
    value = scalar(desc, "Value", short(desc["ValueDataType"]))
    target.write([value] * math.prod(target.sizes))


OPERATORS: dict[str, Callable[[dict[str, Any], _Tensors], None]] = {
    "REDUCE": reduce,
    "ARGMAX": lambda desc, tensors: argument(desc, tensors, largest=True),
    "ARGMIN": lambda desc, tensors: argument(desc, tensors, largest=False),
    "ACTIVATION_HARDMAX": hardmax,
    "ACTIVATION_HARDMAX1": hardmax,
    "SPLIT": split,
    "ELEMENT_WISE_ADD1": add1,
    "FILL_VALUE_CONSTANT": fill,
}
REQUIRED: dict[str, tuple[str, ...]] = {
    "REDUCE": ("Function", "InputTensor", "OutputTensor", "AxisCount", "Axes"),
    "ARGMAX": ("InputTensor", "OutputTensor", "AxisCount", "Axes", "AxisDirection"),
    "ARGMIN": ("InputTensor", "OutputTensor", "AxisCount", "Axes", "AxisDirection"),
    "ACTIVATION_HARDMAX1": ("InputTensor", "OutputTensor", "AxisCount", "Axes"),
    "SPLIT": ("InputTensor", "OutputCount", "OutputTensors", "Axis"),
    "ELEMENT_WISE_ADD1": ("ATensor", "BTensor", "OutputTensor"),
    "FILL_VALUE_CONSTANT": ("OutputTensor", "ValueDataType", "Value"),
}


# ---- the program

# What is printed, and the exit code: 1 is S_FALSE, of what ran no model.
SAYS = {
    "--help": ("dxdispatch version 0.17.0\n  DirectML     : NuGet (Microsoft.AI.DirectML.1.15.4)\n", 1),
    "--show_adapters": ("\nStand-in Adapter\n-Version: 1.0\n\nAnother Adapter\n-Version: 2.0\n", 1),
    "--crash": ("Failed to execute dispatchable: 0x887A0005 the GPU device instance has been suspended\n", 5),
    "--silent": ("Failed to write resource to file: no space\n", 0),
}
REFUSED = 0xFF  # what is left of E_UNEXPECTED where an exit code is a byte


def installed(folder: Path, *mode: str) -> str:
    """Return the path of an executable file, made in a folder, that runs the stand-in in one of its ways."""
    words = f'"{sys.executable}" "{Path(__file__).resolve()}" {" ".join(mode)}'
    folder.mkdir(parents=True, exist_ok=True)
    if sys.platform == "win32":
        path = folder / "dxdispatch.cmd"
        path.write_text(f"@{words} %*\n", encoding="utf-8")
    else:
        path = folder / "dxdispatch"
        path.write_text(f'#!/bin/sh\nexec {words} "$@"\n', encoding="utf-8")
        path.chmod(0o755)
    return str(path)


def main(arguments: list[str]) -> int:
    mode = arguments.pop(0) if arguments[0].startswith("--") and len(arguments) > 1 else ""
    if arguments[0] in SAYS or mode in SAYS:
        text, code = SAYS.get(arguments[0]) or SAYS[mode]
        sys.stdout.write(text)
        return code
    if mode == "--hang":
        sys.stdout.write("Running on 'Stand-in Adapter'\n")
        sys.stdout.flush()
        time.sleep(600)
    if mode == "--flood":
        for _ in range(8000):
            sys.stdout.write("x" * 1023 + "\n")
    try:
        for line in run(Path(arguments[0]), Path.cwd()):
            sys.stdout.write(line + "\n")
    except (Refused, KeyError, OSError) as error:
        sys.stderr.write(f"Failed to parse the model: {error}\n")
        return REFUSED
    if mode == "--odd-file":
        for file in Path("outputs").iterdir():
            file.write_bytes(file.read_bytes()[:-8])
    return 0


if __name__ == "__main__":
    ended_with = main(sys.argv[1:])
    sys.stdout.flush()
    os._exit(ended_with)  # as fast as a program ends that is not Python
