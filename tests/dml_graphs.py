"""DirectML graphs written as ONNX Runtime writes them: a FlatBuffer's bytes, laid out from the format's description.

A table is a list of its fields in the order of their slots: `None` where one is left out, `U8(3)` and `U64(3)` for
numbers in it, and what an offset leads to otherwise: text, bytes (of a struct), a list of those, a vector, a table.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from dmlcheck.specs.names import DATA_TYPES, ENUMS

FLOAT32 = "DML_TENSOR_DATA_TYPE_FLOAT32"


class U8(NamedTuple):
    value: int


class U64(NamedTuple):
    value: int


class Vector(NamedTuple):
    """A vector of numbers: a letter of `struct`, and the numbers."""

    letter: str
    values: Any


class Table(NamedTuple):
    fields: tuple[Any, ...]


def table(*fields: Any) -> Table:
    return Table(fields)


class Writer:
    """Appends things to a file; an offset is filled in once what it leads to has a place, which is after it."""

    def __init__(self) -> None:
        self.data = bytearray(4)

    def file(self, root: Table) -> bytes:
        self.point(0, root)
        return bytes(self.data)

    def point(self, place: int, thing: Any) -> None:
        struct.pack_into("<I", self.data, place, self.put(thing) - place)

    def aligned(self, rest: int = 0) -> int:
        self.data += bytes(-(len(self.data) + rest) % 8)
        return len(self.data)

    def put(self, thing: Any) -> int:
        if isinstance(thing, Table):
            return self.put_table(thing.fields)
        if isinstance(thing, bytes):
            place = self.aligned()
            self.data += thing
            return place
        place = self.aligned(4)
        if isinstance(thing, str):
            text = thing.encode()
            self.data += struct.pack("<I", len(text)) + text + b"\0"
        elif isinstance(thing, Vector):
            values = list(thing.values)
            self.data += struct.pack(f"<I{len(values)}{thing.letter}", len(values), *values)
        else:
            self.data += struct.pack("<I", len(thing)) + bytes(4 * len(thing))
            for index, part in enumerate(thing):
                self.point(place + 4 + 4 * index, part)
        return place

    def put_table(self, fields: tuple[Any, ...]) -> int:
        offsets, size = [], 8  # 8 bytes for a number of any size, the first after the offset to the vtable
        for field in fields:
            offsets.append(0 if field is None else size)
            size += 0 if field is None else 8
        self.data += bytes(len(self.data) % 2)
        vtable = len(self.data)
        self.data += struct.pack(f"<{2 + len(fields)}H", 4 + 2 * len(fields), size, *offsets)
        place = self.aligned()
        self.data += struct.pack("<i", place - vtable) + bytes(size - 4)
        for field, offset in zip(fields, offsets, strict=True):
            if isinstance(field, U8):
                self.data[place + offset] = field.value
            elif isinstance(field, U64):
                struct.pack_into("<Q", self.data, place + offset, field.value)
            elif field is not None:
                self.point(place + offset, field)
        return place


# ---- the tables of the schema


def tensor(sizes: list[int], data_type: str = FLOAT32, total: int | None = None, strides: Any = None) -> Table:
    count = 4
    for size in sizes:
        count *= size
    laid_out = None if strides is None else Vector("I", strides)
    return table(data_type, Vector("I", sizes), laid_out, U64(count if total is None else total))


def uint32(value: int) -> Table:
    return table("attribute", U8(3), struct.pack("<I", value))


def float32(value: float) -> Table:
    return table("attribute", U8(6), struct.pack("<f", value))


def no_activation() -> Table:
    return table(None, U8(1), None)


def activation(operator: str, *attributes: Table) -> Table:
    return table("attribute", U8(1), table(operator, list(attributes)))


def operator(
    name: str,
    type: str,
    inputs: dict[str, Table] | list[tuple[str, Table | None]],
    outputs: dict[str, Table] | list[tuple[str, Table | None]],
    *attributes: Table,
) -> Table:
    """Return an operator's node; tensors by the names of their edges, None for one that is left out."""
    ins, outs = (list(part.items()) if isinstance(part, dict) else part for part in (inputs, outputs))
    desc = table(type, [each for _, each in ins if each], [each for _, each in outs if each], list(attributes))
    return table(U8(1), desc, name, [edge for edge, _ in ins], [edge for edge, _ in outs])


def named_constant(name: str, edge: str, file: str) -> Table:
    return table(U8(2), table(U8(1), table(file)), name, [], [edge])


def raw_constant(name: str, edge: str, data: bytes) -> Table:
    return table(U8(2), table(U8(2), table(Vector("B", data))), name, [], [edge])


def graph(nodes: list[Table], inputs: list[str], outputs: list[str]) -> bytes:
    return Writer().file(table(nodes, inputs, outputs))


# ---- graphs


def gemm(name: str = "matmul", c: Any = None, out: str = "product", sizes: tuple[int, ...] = (1, 1, 1, 5)) -> Table:
    """Return a GEMM of a row of five elements by a matrix of 5 x 5, without C."""
    return operator(
        name,
        "DML_OPERATOR_GEMM",
        [("model_input", tensor([1, 1, 1, 5])), ("weights", tensor([1, 1, 5, 5])), ("", c)],
        {out: tensor(list(sizes))},
        uint32(0),
        uint32(0),
        float32(1),
        float32(0),
        no_activation(),
    )


def add(reads: Table | None = None, name: str = "product") -> Table:
    return operator(
        "add",
        "DML_OPERATOR_ELEMENT_WISE_ADD1",
        {name: reads or tensor([1, 1, 1, 5]), "bias": tensor([1, 1, 1, 5])},
        {"model_output": tensor([1, 1, 1, 5])},
        no_activation(),
    )


def matmul_add(*, nodes: list[Table] | None = None) -> bytes:
    """Return the graph of MatMul, then Add, of five elements, with weights beside it and a bias in it."""
    constants = [named_constant("w", "weights", "w_0"), raw_constant("b", "bias", bytes(20))]
    return graph([*constants, *(nodes or [gemm(), add()])], ["model_input"], ["model_output"])


def save(data: bytes, name: str = "Partition_0.bin") -> str:
    Path(name).write_bytes(data)
    return name


# ---- any desc

_LETTERS = {"UINT": "I", "INT": "i", "FLOAT": "f", "BOOL": "I"}
_PLAIN = {"UINT": 3, "BOOL": 3, "INT": 5, "FLOAT": 6, "UINT_ARRAY": 7, "INT_ARRAY": 8, "FLOAT_ARRAY": 9}
_FORMS = {"float16": "<e", "float32": "<f", "float64": "<d", "uint": "<Q", "int": "<q"}


def _attribute(field: Any, value: Any, values: Any) -> Table:
    """Return an attribute as the schema has it; a BOOL is a UINT in DirectML's structs, an enumeration its number."""
    if field.type == "OPERATOR_DESC":
        return no_activation() if value is None else table("a", U8(1), _activation(value))
    if field.type == "OPERATOR_DESC_ARRAY":
        return table("a", U8(2), None if value is None else table([_activation(each) for each in value]))
    if field.type.endswith("_ARRAY"):
        letter = _LETTERS[field.type.removesuffix("_ARRAY")]
        return table("a", U8(_PLAIN[field.type]), table(Vector(letter, value or ())))
    return _number_or_struct(field, value, values)


def _number_or_struct(field: Any, value: Any, values: Any) -> Table:
    if field.type == "SCALE_BIAS":
        return table("a", U8(10), None if value is None else struct.pack("<ff", value.Scale, value.Bias))
    if field.type == "SIZE_2D":
        return table("a", U8(11), struct.pack("<II", value.Width, value.Height))
    if field.type == "SCALAR_UNION":
        kind, bits = DATA_TYPES[values[field.data_type]]
        form = _FORMS[f"float{bits}" if kind == "float" else kind]
        return table("a", U8(12), table(U8(1), struct.pack(form, value).ljust(8, b"\0")))
    if field.enum is not None:
        value = ENUMS[field.enum].index(value)
    return table("a", U8(_PLAIN[field.type]), struct.pack("<" + _LETTERS[field.type], value))


def _activation(desc: Any) -> Table:
    return table(desc.spec.operator, _attributes(desc))


def _attributes(desc: Any) -> list[Table]:
    fields = [field for field in desc.spec.fields.values() if not field.is_tensor]
    return [_attribute(field, desc.values.get(field.name), desc.values) for field in fields]


def one_node(desc: Any) -> bytes:
    """Return a graph of one node of a desc that was read, each tensor an input or an output of the graph."""
    sides: list[list[tuple[str, Table | None]]] = []
    for fields in (desc.spec.inputs, desc.spec.outputs):
        ends: list[tuple[str, Table | None]] = []
        for field in fields:
            parts = [
                (
                    part.label,
                    tensor(
                        list(part.tensor.sizes),
                        _PREFIX + part.tensor.data_type,
                        _total(part.tensor),
                        part.tensor.strides,
                    ),
                )
                for part in desc.parts[field.name]
            ]
            ends += parts or [("", None)]
        sides.append(ends)
    node = operator("node", desc.spec.operator, *sides, *_attributes(desc))
    return graph([node], *[[name for name, each in ends if each] for ends in sides])


def _total(part: Any) -> int:
    return int(part.implied_bytes if part.total_size is None else part.total_size)


_PREFIX = "DML_TENSOR_DATA_TYPE_"


# ---- changed bytes


def mutations(data: bytes) -> list[Callable[[random.Random], bytes]]:
    """Return ways to change a file: bytes, numbers, cut short, parts twice or not at all."""

    def bytes_changed(draw: random.Random) -> bytes:
        changed = bytearray(data)
        for _ in range(draw.choice([1, 1, 2, 8])):
            changed[draw.randrange(len(changed))] = draw.choice([0, 1, 4, 0x7F, 0x80, 0xFF, draw.randrange(256)])
        return bytes(changed)

    def number_changed(draw: random.Random) -> bytes:
        changed = bytearray(data)
        value = draw.choice([0, 1, 2**31 - 1, 2**31, 2**32 - 1, draw.randrange(2 * len(data))])
        struct.pack_into("<I", changed, draw.randrange(0, len(data) - 4, 4), value)
        return bytes(changed)

    def cut(draw: random.Random) -> bytes:
        return data[: draw.randrange(len(data))]

    def doubled(draw: random.Random) -> bytes:
        place = draw.randrange(len(data))
        return data[:place] + data[draw.randrange(len(data)) :]

    return [bytes_changed, number_changed, cut, doubled]
