"""Operator descs as C has them: the layout of each operator's struct from its spec, and a desc as an image of memory.

An image is position independent: its pointers are offsets until somebody adds the address that it has been put at.
"""

from __future__ import annotations

import struct
from functools import cache
from typing import Any, NamedTuple

from dmlcheck.descs.records import OperatorDesc, TensorDesc
from dmlcheck.specs.load import load_spec
from dmlcheck.specs.names import DATA_TYPES, ENUMS, UINT64_MAX
from dmlcheck.specs.records import Field, c_type

_BUFFER_TENSOR = struct.Struct("<iiI4xQQQI4x")  # DML_BUFFER_TENSOR_DESC
_SIZES_AT, _STRIDES_AT = 16, 24
_TYPED = struct.Struct("<i4xQ")  # DML_TENSOR_DESC and DML_OPERATOR_DESC: a type, and a pointer to what is described
_DESC_AT = 8
_IS_BUFFER = ENUMS["DML_TENSOR_TYPE"].index("BUFFER")
_POINTER = "Q"
_CODES = {"UINT": "I", "INT": "i", "FLOAT": "f", "BOOL": "i"}
_UNION = "DML_SCALAR_UNION"
_SIZE = "DML_SIZE_2D"
_ALIGNED = {"Q": (8, 8), _UNION: (8, 8), _SIZE: (8, 4)}  # size and alignment in bytes; of the others 4


class Member(NamedTuple):
    """A member of an operator's struct: its field, its offset in bytes, and the code of its type."""

    field: Field
    offset: int
    code: str


class Layout(NamedTuple):
    """The members of an operator's struct, and its size in bytes."""

    members: tuple[Member, ...]
    size: int


@cache
def layout_of(operator: str) -> Layout:
    """Return the layout of an operator's struct on a 64-bit machine."""
    members = []
    end, widest = 0, 1
    for field in load_spec(operator).fields.values():
        code = _code(c_type(field))
        size, alignment = _ALIGNED.get(code, (4, 4))
        offset = _aligned(end, alignment)
        members.append(Member(field, offset, code))
        end, widest = offset + size, max(widest, alignment)
    return Layout(tuple(members), _aligned(end, widest))


def _code(name: str) -> str:
    """Return the code of a type of the header: that of `struct` for numbers, enumerations and pointers."""
    if name.endswith("*"):
        return _POINTER
    return name if name in (_UNION, _SIZE) else _CODES.get(name, "i")


def _aligned(offset: int, alignment: int) -> int:
    return -(-offset // alignment) * alignment


class Image(NamedTuple):
    """A desc in memory: its bytes, the offsets of its pointers, and the offset of its DML_OPERATOR_DESC."""

    data: bytes
    pointers: tuple[int, ...]
    root: int


def image_of(desc: OperatorDesc) -> Image:
    """Return a desc as DirectML takes it; fields that it leaves out are 0."""
    image = _Writer()
    root = image.operators([desc])
    return Image(bytes(image.data), tuple(image.pointers), root)


class _Writer:
    """An image that grows; each method returns the offset of what it wrote."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.pointers: list[int] = []

    def put(self, data: bytes) -> int:
        """Append bytes where any type may lie."""
        self.data += bytes(-len(self.data) % 8)
        offset = len(self.data)
        self.data += data
        return offset

    def point(self, place: int, target: int) -> None:
        struct.pack_into("<Q", self.data, place, target)
        self.pointers.append(place)

    def operators(self, descs: Any) -> int:
        """Append an array of DML_OPERATOR_DESC."""
        targets = [None if desc is None else self.fields(desc) for desc in descs]
        types = [0 if desc is None else desc.spec.number for desc in descs]
        return self.typed(types, targets)

    def tensors(self, tensors: Any) -> int:
        """Append an array of DML_TENSOR_DESC."""
        targets = [None if tensor is None else self.buffer_tensor(tensor) for tensor in tensors]
        return self.typed([0 if target is None else _IS_BUFFER for target in targets], targets)

    def typed(self, types: list[int], targets: list[int | None]) -> int:
        """Append an array of structs of a type and a pointer."""
        array = self.put(b"".join(_TYPED.pack(number, 0) for number in types))
        for index, target in enumerate(targets):
            if target is not None:
                self.point(array + index * _TYPED.size + _DESC_AT, target)
        return array

    def buffer_tensor(self, tensor: TensorDesc) -> int:
        number = list(DATA_TYPES).index(tensor.data_type)
        flags = ENUMS["DML_TENSOR_FLAGS"].index(tensor.flags)
        total = tensor.implied_bytes if tensor.total_size is None else tensor.total_size
        fields = (number, flags, len(tensor.sizes), 0, 0, min(total, UINT64_MAX), tensor.alignment)
        sizes = self.array("I", tensor.sizes)
        strides = None if tensor.strides is None else self.array("I", tensor.strides)
        offset = self.put(_BUFFER_TENSOR.pack(*fields))
        self.point(offset + _SIZES_AT, sizes)
        if strides is not None:
            self.point(offset + _STRIDES_AT, strides)
        return offset

    def array(self, code: str, values: tuple[Any, ...]) -> int:
        return self.put(struct.pack(f"<{len(values)}{code}", *values))

    def fields(self, desc: OperatorDesc) -> int:
        layout = layout_of(desc.spec.operator)
        offset = self.put(bytes(layout.size))
        for member in layout.members:
            value = desc.values.get(member.field.name)
            if value is not None:
                self.member(offset + member.offset, member, value, desc)
        return offset

    def member(self, place: int, member: Member, value: Any, desc: OperatorDesc) -> None:
        field, code = member.field, member.code
        if code == _POINTER:
            target = self.target(field, value)
            if target is not None:
                self.point(place, target)
        elif code == _UNION:
            data = scalar_bytes(str(desc.value_of(field.data_type or "")), value)
            self.data[place : place + len(data)] = data
        elif code == _SIZE:
            struct.pack_into("<II", self.data, place, *value)
        else:
            number = ENUMS[field.enum].index(value) if field.enum is not None else value
            struct.pack_into(f"<{code}", self.data, place, number)

    def target(self, field: Field, value: Any) -> int | None:
        """Append the target of a pointer; None for an empty array, whose pointer is null."""
        kind = field.type.removesuffix("_ARRAY")
        values = value if field.type.endswith("_ARRAY") else (value,)
        if not values:
            return None
        if kind == "TENSOR_DESC":
            return self.tensors(values)
        if kind == "OPERATOR_DESC":
            return self.operators(values)
        return self.put(struct.pack("<ff", *value)) if kind == "SCALE_BIAS" else self.array(_CODES[kind], values)


_FLOATS = {"FLOAT16": "e", "FLOAT32": "f", "FLOAT64": "d"}


def scalar_bytes(data_type: str, value: float) -> bytes:
    """Return the bytes of a number in a DML_SCALAR_UNION; a number beyond its type's range is infinite, or wraps."""
    code = _FLOATS.get(data_type)
    if code is not None:
        try:
            return struct.pack(f"<{code}", float(value))
        except OverflowError:
            return struct.pack(f"<{code}", float("inf") if value > 0 else float("-inf"))
    bits = max(8, DATA_TYPES[data_type].bits) if data_type in DATA_TYPES else 8
    is_finite = value == value and abs(value) != float("inf")  # noqa: PLR0124 - NaN is not equal to itself
    return ((int(value) if is_finite else 0) & (1 << bits) - 1).to_bytes(bits // 8, "little")
