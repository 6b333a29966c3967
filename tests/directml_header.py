"""A DirectML.h made from the specs, and C++ that fills its structs with a desc."""

from __future__ import annotations

import math
import struct
from typing import Any

from dmlcheck.descs.fields import ScaleBias, Size2D
from dmlcheck.descs.records import OperatorDesc, TensorDesc
from dmlcheck.specs.load import load_spec, operator_names
from dmlcheck.specs.names import ENUMS, FEATURE_LEVELS, enum_prefix
from dmlcheck.specs.records import Field, OperatorSpec

_PLAIN = """\
#pragma once
#ifndef DML_TARGET_VERSION
#define DML_TARGET_VERSION 0x6400
#endif
#include <cstdint>
using HRESULT = std::int32_t;
using BOOL = int;
using UINT = unsigned int;
using INT = int;
using FLOAT = float;
using UINT64 = std::uint64_t;
using INT64 = std::int64_t;
"""
_STRUCTS = """\
struct DML_BUFFER_TENSOR_DESC {
    DML_TENSOR_DATA_TYPE DataType;
    DML_TENSOR_FLAGS Flags;
    UINT DimensionCount;
    const UINT* Sizes;
    const UINT* Strides;
    UINT64 TotalTensorSizeInBytes;
    UINT GuaranteedBaseOffsetAlignment;
};
struct DML_TENSOR_DESC { DML_TENSOR_TYPE Type; const void* Desc; };
struct DML_OPERATOR_DESC { DML_OPERATOR_TYPE Type; const void* Desc; };
struct DML_SCALE_BIAS { FLOAT Scale; FLOAT Bias; };
struct DML_SIZE_2D { UINT Width; UINT Height; };
#if DML_TARGET_VERSION >= 0x2100
union DML_SCALAR_UNION {
    std::uint8_t Bytes[8];
    std::int8_t Int8; std::uint8_t UInt8; std::int16_t Int16; std::uint16_t UInt16;
    std::int32_t Int32; std::uint32_t UInt32; INT64 Int64; UINT64 UInt64; float Float32; double Float64;
};
#endif
"""
_TYPES = {
    "TENSOR_DESC": "const DML_TENSOR_DESC*",
    "TENSOR_DESC_ARRAY": "const DML_TENSOR_DESC*",
    "OPERATOR_DESC": "const DML_OPERATOR_DESC*",
    "OPERATOR_DESC_ARRAY": "const DML_OPERATOR_DESC*",
    "SCALE_BIAS": "const DML_SCALE_BIAS*",
    "SIZE_2D": "DML_SIZE_2D",
    "SCALAR_UNION": "DML_SCALAR_UNION",
    "UINT_ARRAY": "const UINT*",
    "INT_ARRAY": "const INT*",
    "FLOAT_ARRAY": "const FLOAT*",
}


# DirectML.h's operators in its order, by the DML_TARGET_VERSION from which on it has them: their numbers count from 1.
_SINCE = {
    0x1000: """ELEMENT_WISE_IDENTITY ELEMENT_WISE_ABS ELEMENT_WISE_ACOS ELEMENT_WISE_ADD ELEMENT_WISE_ASIN
        ELEMENT_WISE_ATAN ELEMENT_WISE_CEIL ELEMENT_WISE_CLIP ELEMENT_WISE_COS ELEMENT_WISE_DIVIDE ELEMENT_WISE_EXP
        ELEMENT_WISE_FLOOR ELEMENT_WISE_LOG ELEMENT_WISE_LOGICAL_AND ELEMENT_WISE_LOGICAL_EQUALS
        ELEMENT_WISE_LOGICAL_GREATER_THAN ELEMENT_WISE_LOGICAL_LESS_THAN ELEMENT_WISE_LOGICAL_NOT
        ELEMENT_WISE_LOGICAL_OR ELEMENT_WISE_LOGICAL_XOR ELEMENT_WISE_MAX ELEMENT_WISE_MEAN ELEMENT_WISE_MIN
        ELEMENT_WISE_MULTIPLY ELEMENT_WISE_POW ELEMENT_WISE_CONSTANT_POW ELEMENT_WISE_RECIP ELEMENT_WISE_SIN
        ELEMENT_WISE_SQRT ELEMENT_WISE_SUBTRACT ELEMENT_WISE_TAN ELEMENT_WISE_THRESHOLD ELEMENT_WISE_QUANTIZE_LINEAR
        ELEMENT_WISE_DEQUANTIZE_LINEAR ACTIVATION_ELU ACTIVATION_HARDMAX ACTIVATION_HARD_SIGMOID ACTIVATION_IDENTITY
        ACTIVATION_LEAKY_RELU ACTIVATION_LINEAR ACTIVATION_LOG_SOFTMAX ACTIVATION_PARAMETERIZED_RELU
        ACTIVATION_PARAMETRIC_SOFTPLUS ACTIVATION_RELU ACTIVATION_SCALED_ELU ACTIVATION_SCALED_TANH ACTIVATION_SIGMOID
        ACTIVATION_SOFTMAX ACTIVATION_SOFTPLUS ACTIVATION_SOFTSIGN ACTIVATION_TANH ACTIVATION_THRESHOLDED_RELU
        CONVOLUTION GEMM REDUCE AVERAGE_POOLING LP_POOLING MAX_POOLING ROI_POOLING SLICE CAST SPLIT JOIN PADDING
        VALUE_SCALE_2D UPSAMPLE_2D GATHER SPACE_TO_DEPTH DEPTH_TO_SPACE TILE TOP_K BATCH_NORMALIZATION
        MEAN_VARIANCE_NORMALIZATION LOCAL_RESPONSE_NORMALIZATION LP_NORMALIZATION RNN LSTM GRU""",
    0x2000: """ELEMENT_WISE_SIGN ELEMENT_WISE_IS_NAN ELEMENT_WISE_ERF ELEMENT_WISE_SINH ELEMENT_WISE_COSH
        ELEMENT_WISE_TANH ELEMENT_WISE_ASINH ELEMENT_WISE_ACOSH ELEMENT_WISE_ATANH ELEMENT_WISE_IF ELEMENT_WISE_ADD1
        ACTIVATION_SHRINK MAX_POOLING1 MAX_UNPOOLING DIAGONAL_MATRIX SCATTER ONE_HOT RESAMPLE""",
    0x2100: """ELEMENT_WISE_BIT_SHIFT_LEFT ELEMENT_WISE_BIT_SHIFT_RIGHT ELEMENT_WISE_ROUND ELEMENT_WISE_IS_INFINITY
        ELEMENT_WISE_MODULUS_TRUNCATE ELEMENT_WISE_MODULUS_FLOOR FILL_VALUE_CONSTANT FILL_VALUE_SEQUENCE
        CUMULATIVE_SUMMATION REVERSE_SUBSEQUENCES GATHER_ELEMENTS GATHER_ND SCATTER_ND MAX_POOLING2 SLICE1 TOP_K1
        DEPTH_TO_SPACE1 SPACE_TO_DEPTH1 MEAN_VARIANCE_NORMALIZATION1 RESAMPLE1 MATRIX_MULTIPLY_INTEGER
        QUANTIZED_LINEAR_MATRIX_MULTIPLY CONVOLUTION_INTEGER QUANTIZED_LINEAR_CONVOLUTION""",
    0x3000: """ELEMENT_WISE_BIT_AND ELEMENT_WISE_BIT_OR ELEMENT_WISE_BIT_XOR ELEMENT_WISE_BIT_NOT ELEMENT_WISE_BIT_COUNT
        ELEMENT_WISE_LOGICAL_GREATER_THAN_OR_EQUAL ELEMENT_WISE_LOGICAL_LESS_THAN_OR_EQUAL ACTIVATION_CELU
        ACTIVATION_RELU_GRAD AVERAGE_POOLING_GRAD MAX_POOLING_GRAD RANDOM_GENERATOR NONZERO_COORDINATES RESAMPLE_GRAD
        SLICE_GRAD ADAM_OPTIMIZER ARGMIN ARGMAX ROI_ALIGN GATHER_ND1""",
    0x3100: """ELEMENT_WISE_ATAN_YX ELEMENT_WISE_CLIP_GRAD ELEMENT_WISE_DIFFERENCE_SQUARE
        LOCAL_RESPONSE_NORMALIZATION_GRAD CUMULATIVE_PRODUCT BATCH_NORMALIZATION_GRAD""",
    0x4000: "ELEMENT_WISE_QUANTIZED_LINEAR_ADD DYNAMIC_QUANTIZE_LINEAR ROI_ALIGN1",
    0x4100: "ROI_ALIGN_GRAD BATCH_NORMALIZATION_TRAINING BATCH_NORMALIZATION_TRAINING_GRAD",
    0x5000: "ELEMENT_WISE_CLIP1 ELEMENT_WISE_CLIP_GRAD1 PADDING1 ELEMENT_WISE_NEGATE",
    0x5100: """ACTIVATION_GELU ACTIVATION_SOFTMAX1 ACTIVATION_LOG_SOFTMAX1 ACTIVATION_HARDMAX1 RESAMPLE2 RESAMPLE_GRAD1
        DIAGONAL_MATRIX1""",
    0x6100: "MULTIHEAD_ATTENTION",
    0x6200: """LP_POOLING1 AVERAGE_POOLING1 ACTIVATION_SWISH ACTIVATION_HARD_SWISH QUANTIZED_LINEAR_AVERAGE_POOLING
        MATRIX_MULTIPLY_INTEGER_TO_FLOAT""",
    0x6300: "MEAN_VARIANCE_NORMALIZATION2 MULTIHEAD_ATTENTION1 QUANTIZE DEQUANTIZE",
    0x6400: "RESAMPLE3 FOLD UNFOLD",
}
_RECORDED = {name: version for version, names in _SINCE.items() for name in names.split()}
_LATER = [spec for spec in map(load_spec, operator_names()) if spec.short not in _RECORDED]
VERSIONS = _RECORDED | {
    spec.short: FEATURE_LEVELS[spec.introduced].value for spec in sorted(_LATER, key=lambda spec: spec.number)
}
_ALWAYS = 0x1000


def header() -> str:
    """Return the header: types, enumerations, operators and structs, each from its level on."""
    specs = [load_spec(name) for name in operator_names()]
    enums = [
        f"enum {enum} {{ {', '.join(f'{enum_prefix(enum)}{name} = {i}' for i, name in enumerate(names))} }};"
        for enum, names in ENUMS.items()
    ]
    operators = "\n".join(_since(name, f"    DML_OPERATOR_{name},") for name in VERSIONS)
    types = f"enum DML_OPERATOR_TYPE {{\n    DML_OPERATOR_INVALID,\n{operators}\n}};"
    return "\n".join([_PLAIN, *enums, types, _STRUCTS, *(_since(spec.short, _struct(spec)) for spec in specs)])


def _since(name: str, code: str) -> str:
    version = VERSIONS[name]
    return code if version == _ALWAYS else f"#if DML_TARGET_VERSION >= {version}\n{code}\n#endif"


def _struct(spec: OperatorSpec) -> str:
    members = "".join(f"    {_type(field)} {field.name};\n" for field in spec.fields.values())
    return f"struct DML_{spec.short}_OPERATOR_DESC {{\n{members}}};"


def _type(field: Field) -> str:
    return field.enum or ("BOOL" if field.boolean else _TYPES.get(field.type, field.type))


class Code:
    """C++ statements that fill structs; each method returns the expression of what it made."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.count = 0

    def made(self, declaration: str, value: str) -> str:
        """Declare a variable; a `#` in the declaration is its name."""
        self.count += 1
        name = f"v{self.count}"
        self.lines.append(f"    {declaration.replace('#', name)} = {value};")
        return name

    def array(self, type: str, values: list[str]) -> str:
        return self.made(f"const {type} #[]", f"{{{', '.join(values)}}}") if values else "nullptr"

    def tensor(self, tensor: TensorDesc) -> str:
        sizes = self.array("UINT", [f"{size}u" for size in tensor.sizes])
        strides = "nullptr" if tensor.strides is None else self.array("UINT", [f"{size}u" for size in tensor.strides])
        parts = [
            f"DML_TENSOR_DATA_TYPE_{tensor.data_type}",
            f"DML_TENSOR_FLAG_{tensor.flags}",
            f"{len(tensor.sizes)}u",
            sizes,
            strides,
            f"{tensor.total_size}ull",
            f"{tensor.alignment}u",
        ]
        buffer = self.made("const DML_BUFFER_TENSOR_DESC #", f"{{{', '.join(parts)}}}")
        return f"{{DML_TENSOR_TYPE_BUFFER, &{buffer}}}"

    def operator(self, desc: OperatorDesc) -> str:
        name = self.made(f"DML_{desc.spec.short}_OPERATOR_DESC #", "{}")
        for field in desc.spec.fields.values():
            value = desc.values.get(field.name)
            if field.type == "SCALAR_UNION":
                self.lines.append(f"    {name}.{field.name}.UInt64 = 0xA5A5A5A5A5A5A5A5u;")  # which is not to be read
                member, number = _scalar(desc.values[field.data_type or ""], value)
                self.lines.append(f"    {name}.{field.name}.{member} = {number};")
            elif value is not None:
                self.lines.append(f"    {name}.{field.name} = {self.value(field, value)};")
        return f"{{{desc.spec.operator}, &{name}}}"

    def value(self, field: Field, value: Any) -> str:
        kind = field.type.removesuffix("_ARRAY")
        if isinstance(value, tuple) and not isinstance(value, (TensorDesc, OperatorDesc, Size2D, ScaleBias)):
            return self.array(
                f"DML_{kind}" if kind.endswith("DESC") else kind, [self.part(kind, each) for each in value]
            )
        if field.enum is not None:
            return enum_prefix(field.enum) + value
        part = self.part(kind, value)
        return "&" + self.made(f"const DML_{kind} #", part) if _type(field).endswith("*") else part

    def part(self, kind: str, value: Any) -> str:
        """Return one value of a type."""
        if kind == "TENSOR_DESC":
            return self.tensor(value)
        if kind == "OPERATOR_DESC":
            return self.operator(value)
        if kind == "SCALE_BIAS":
            return f"{{{_float(value.Scale)}, {_float(value.Bias)}}}"
        if kind == "SIZE_2D":
            return f"{{{value.Width}u, {value.Height}u}}"
        if kind == "FLOAT":
            return _float(value)
        return str(int(value)) if kind != "UINT" or isinstance(value, bool) else f"{value}u"


def _float(value: float, type: str = "float") -> str:
    if math.isnan(value):
        return f"std::numeric_limits<{type}>::quiet_NaN()"
    if math.isinf(value):
        return f"{'-' if value < 0 else ''}std::numeric_limits<{type}>::infinity()"
    return float(value).hex() + ("f" if type == "float" else "")


def _scalar(data_type: str, value: Any) -> tuple[str, str]:
    """Return the member of the union for a data type, and the number that it gets."""
    if data_type == "FLOAT16":
        return "UInt16", str(int.from_bytes(struct.pack("<e", value), "little"))
    if data_type.startswith("FLOAT"):
        return data_type.replace("FLOAT", "Float"), _float(value, "double" if data_type == "FLOAT64" else "float")
    member = data_type.replace("UINT", "UInt") if data_type[0] == "U" else data_type.replace("INT", "Int")
    return member, f"-{-int(value) - 1}ll - 1" if value < 0 else f"{int(value)}u" + "ll" * ("64" in data_type)
