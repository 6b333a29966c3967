"""Element-wise operators: mostly one node; truth values go through BOOL, which DirectML does not have."""

from __future__ import annotations

import math
from functools import partial

from dmlcheck.descs.records import OperatorDesc, TensorDesc
from dmlcheck.formats.onnx.models._numbers import affine, field, fits, is_float, scalar, whole
from dmlcheck.formats.onnx.models.graph import Builder, Inexpressible, Mapping, Value

# The operator of ONNX for each of one input, all of opset 17 or before. Those of _KEEPS_ROUNDING give the same whether
# x * Scale + Bias is rounded before or the result after.
_UNARY = {
    "ABS": "Abs",
    "ACOS": "Acos",
    "ACOSH": "Acosh",
    "ASIN": "Asin",
    "ASINH": "Asinh",
    "ATAN": "Atan",
    "ATANH": "Atanh",
    "CEIL": "Ceil",
    "COS": "Cos",
    "COSH": "Cosh",
    "ERF": "Erf",
    "EXP": "Exp",
    "FLOOR": "Floor",
    "IDENTITY": "Identity",
    "LOG": "Log",
    "NEGATE": "Neg",
    "SIGN": "Sign",
    "SIN": "Sin",
    "SINH": "Sinh",
    "SQRT": "Sqrt",
    "TAN": "Tan",
    "TANH": "Tanh",
}
_KEEPS_ROUNDING = frozenset({"ABS", "IDENTITY"})

_BINARY = {
    "ADD": "Add",
    "DIVIDE": "Div",
    "MAX": "Max",
    "MEAN": "Mean",
    "MIN": "Min",
    "MULTIPLY": "Mul",
    "SUBTRACT": "Sub",
}
_BITS = {"BIT_AND": "BitwiseAnd", "BIT_OR": "BitwiseOr", "BIT_XOR": "BitwiseXor"}
_SHIFTS = {"BIT_SHIFT_LEFT": "LEFT", "BIT_SHIFT_RIGHT": "RIGHT"}
_TRUTHS = {"LOGICAL_AND": "And", "LOGICAL_OR": "Or", "LOGICAL_XOR": "Xor"}
_COMPARISONS = {
    "LOGICAL_EQUALS": "Equal",
    "LOGICAL_GREATER_THAN": "Greater",
    "LOGICAL_GREATER_THAN_OR_EQUAL": "GreaterOrEqual",
    "LOGICAL_LESS_THAN": "Less",
    "LOGICAL_LESS_THAN_OR_EQUAL": "LessOrEqual",
}


def scaled(g: Builder, desc: OperatorDesc, *, rounds_after: bool = False) -> Value:
    """Return InputTensor after ScaleBias, where that is exact."""
    x = g.input("InputTensor")
    change = desc.values.get("ScaleBias")
    return x if change is None else affine(g, x, change.Scale, change.Bias, rounds_after=rounds_after)


def unary(type: str, g: Builder, desc: OperatorDesc, *, rounds_after: bool = False) -> None:
    """Apply an operator of one input, after ScaleBias where there is one."""
    x = scaled(g, desc, rounds_after=rounds_after)
    g.output("OutputTensor", g.node(type, [x], x.sizes, x.data_type))


def recip(g: Builder, desc: OperatorDesc) -> None:
    """RECIP: -0 * Scale + 0 is 0, whose reciprocal is another infinity, so that this Bias of 0 is added too."""
    x = scaled(g, desc)
    change = desc.values.get("ScaleBias")
    if change is not None and field(change.Bias) == 0:
        x = g.node("Add", [x, scalar(g, 0, x.data_type)], x.sizes, x.data_type)
    g.output("OutputTensor", g.node("Reciprocal", [x], x.sizes, x.data_type))


def binary(type: str, g: Builder, desc: OperatorDesc, *, opset: int = 0, **attributes: str | int) -> None:  # noqa: ARG001
    """Apply an operator of two inputs."""
    g.at_least(opset)
    a, b = g.input("ATensor"), g.input("BTensor")
    g.output("OutputTensor", g.node(type, [a, b], a.sizes, a.data_type, **attributes))


def bit_not(g: Builder, desc: OperatorDesc) -> None:  # noqa: ARG001
    """Invert bits: new in opset 18."""
    g.at_least(18)
    x = g.input("InputTensor")
    g.output("OutputTensor", g.node("BitwiseNot", [x], x.sizes, x.data_type))


def truths(type: str, g: Builder, desc: OperatorDesc) -> None:  # noqa: ARG001
    """AND, OR and XOR of truth values: what is not 0 is true."""
    a, b = (g.cast(g.input(label), "UINT8", "BOOL") for label in ("ATensor", "BTensor"))
    g.output("OutputTensor", g.node(type, [a, b], a.sizes, "UINT8", "BOOL"))


def logical_not(g: Builder, desc: OperatorDesc) -> None:  # noqa: ARG001
    """Whether a truth value is 0."""
    x = g.cast(g.input("InputTensor"), "UINT8", "BOOL")
    g.output("OutputTensor", g.node("Not", [x], x.sizes, "UINT8", "BOOL"))


def comparison(type: str, g: Builder, desc: OperatorDesc) -> None:  # noqa: ARG001
    """Compare two inputs: 1 where it holds."""
    a, b = g.input("ATensor"), g.input("BTensor")
    g.output("OutputTensor", g.node(type, [a, b], a.sizes, "UINT8", "BOOL"))


def is_nan(g: Builder, desc: OperatorDesc) -> None:  # noqa: ARG001
    """1 where an element is NaN."""
    x = g.input("InputTensor")
    g.output("OutputTensor", g.node("IsNaN", [x], x.sizes, "UINT8", "BOOL"))


def is_infinity(g: Builder, desc: OperatorDesc) -> None:
    """1 where an element is an infinity of the mode's sign; FLOAT16 from opset 20 on."""
    x = g.input("InputTensor")
    if x.data_type == "FLOAT16":
        g.at_least(20)
    mode = desc.values["InfinityMode"]
    found = g.node(
        "IsInf",
        [x],
        x.sizes,
        "UINT8",
        "BOOL",
        detect_negative=int(mode != "POSITIVE"),
        detect_positive=int(mode != "NEGATIVE"),
    )
    g.output("OutputTensor", found)


def choose(g: Builder, desc: OperatorDesc) -> None:  # noqa: ARG001
    """IF: an element of A where the condition is not 0, else of B."""
    condition = g.cast(g.input("ConditionTensor"), "UINT8", "BOOL")
    a, b = g.input("ATensor"), g.input("BTensor")
    g.output("OutputTensor", g.node("Where", [condition, a, b], a.sizes, a.data_type))


def add1(g: Builder, desc: OperatorDesc) -> None:
    """ADD1: only RELU after the sum rounds no more than the sum does."""
    fused = desc.values.get("FusedActivation")
    if fused is not None and fused.spec.short not in ("ACTIVATION_RELU", "ACTIVATION_IDENTITY"):
        raise Inexpressible(f"{fused.spec.short} fused into a sum: as a node of its own it would round the sum first")
    a, b = g.input("ATensor"), g.input("BTensor")
    total = g.node("Add", [a, b], a.sizes, a.data_type)
    if fused is not None and fused.spec.short == "ACTIVATION_RELU":
        total = g.node("Relu", [total], total.sizes, total.data_type)
    g.output("OutputTensor", total)


def clip(g: Builder, desc: OperatorDesc) -> None:
    """CLIP and CLIP1: ONNX takes the lesser of Max last, as CLIP does."""
    x = scaled(g, desc, rounds_after=True)
    least, most = desc.values["Min"], desc.values["Max"]
    if desc.spec.short == "ELEMENT_WISE_CLIP":
        least, most = field(least), field(most)
    least, most = whole(least, x.data_type), whole(most, x.data_type)
    if desc.spec.short == "ELEMENT_WISE_CLIP1" and least > most:
        raise Inexpressible("Min above Max, where ONNX's Clip gives Max")
    bounds = [scalar(g, bound, x.data_type) for bound in (least, most)]
    g.output("OutputTensor", g.node("Clip", [x, *bounds], x.sizes, x.data_type))


def threshold(g: Builder, desc: OperatorDesc) -> None:
    """THRESHOLD: a Clip, whose Max is the largest finite number of a type where it is left out.

    For integers Min is a whole number where the result is not left open.
    """
    x = scaled(g, desc, rounds_after=True)
    least = field(desc.values["Min"])
    if not is_float(x.data_type) and not fits(least, x.data_type):
        raise Inexpressible(f"Min {least:g} is not a number of {x.data_type}")
    most = scalar(g, math.inf, x.data_type) if is_float(x.data_type) else None
    bounds = [scalar(g, whole(least, x.data_type), x.data_type), most]
    g.output("OutputTensor", g.node("Clip", [x, *bounds], x.sizes, x.data_type))


def constant_pow(g: Builder, desc: OperatorDesc) -> None:
    """CONSTANT_POW: the exponent keeps its own type."""
    x = scaled(g, desc)
    exponent = scalar(g, desc.values["Exponent"], "FLOAT32")
    g.output("OutputTensor", g.node("Pow", [x, exponent], x.sizes, x.data_type))


def power(g: Builder, desc: OperatorDesc) -> None:
    """POW: ScaleBias is for the bases."""
    x = scaled(g, desc)
    g.output("OutputTensor", g.node("Pow", [x, g.input("ExponentTensor")], x.sizes, x.data_type))


def modulus_floor(g: Builder, desc: OperatorDesc) -> None:
    """MODULUS_FLOOR: ONNX has it for integers alone."""
    if is_float(g.input("ATensor").data_type):
        raise Inexpressible("ONNX's Mod of floats has the sign of the dividend")
    binary("Mod", g, desc, fmod=0)


def rounded(g: Builder, desc: OperatorDesc) -> None:
    """ROUND: ONNX rounds halves to even."""
    mode = desc.values["RoundingMode"]
    if mode != "HALVES_TO_NEAREST_EVEN":
        raise Inexpressible(f"ONNX's Round rounds halves to even, not {mode}")
    unary("Round", g, desc)


def quantize_linear(g: Builder, desc: OperatorDesc) -> None:
    """QUANTIZE_LINEAR: without a zero point it is 0 of the output's type."""
    x = g.input("InputTensor")
    kind = desc.values["OutputTensor"].data_type
    form = _Form(g, desc, ("ScaleTensor", "ZeroPointTensor"))
    scale = form.take("ScaleTensor")
    zero = form.take("ZeroPointTensor") if g.has("ZeroPointTensor") else None
    if zero is None and kind != "UINT8":
        zero = g.constant([0] * math.prod(scale.sizes), kind, scale.sizes)
    if x.data_type == "FLOAT16":
        g.at_least(19)
    if scale.data_type != x.data_type and (x.data_type, scale.data_type) != ("INT32", "FLOAT32"):
        g.at_least(23)
    made = g.node("QuantizeLinear", [x, scale, zero], x.sizes, kind, **form.attributes)
    g.output("OutputTensor", made)


def dequantize_linear(g: Builder, desc: OperatorDesc) -> None:
    """DEQUANTIZE_LINEAR: FLOAT16 is from opset 19 on, 16 bits from 21 on, and a result of another type from 23 on."""
    x = g.input("InputTensor")
    kind = desc.values["OutputTensor"].data_type
    form = _Form(g, desc, ("ScaleTensor", "ZeroPointTensor"))
    scale = form.take("ScaleTensor")
    zero = form.take("ZeroPointTensor") if g.has("ZeroPointTensor") else None
    if zero is not None and x.data_type == "INT32":
        raise Inexpressible("ONNX's DequantizeLinear has no zero point for INT32")
    g.at_least(19)
    if x.data_type in ("INT16", "UINT16"):
        g.at_least(21)
    if kind != scale.data_type:
        g.at_least(23)
    own = None if kind == scale.data_type else "FLOAT" if kind == "FLOAT32" else kind
    made = g.node("DequantizeLinear", [x, scale, zero], x.sizes, kind, output_dtype=own, **form.attributes)
    g.output("OutputTensor", made)


class _Form:
    """How scales and zero points repeat: one for all, one for each index of an axis, or one for each element.

    DirectML has them in the size of the input, with a stride of 0 where they repeat. ONNX has a number, a vector for an
    axis, or blocks; a block of one element is one for each element, from opset 21 on.
    """

    def __init__(self, g: Builder, desc: OperatorDesc, names: tuple[str, ...]) -> None:
        self.g = g
        tensors = [tensor for name in names if (tensor := desc.tensor(name)) is not None]
        rank = len(tensors[0].sizes)
        self.own = [axis for axis in range(rank) if any(_varies(tensor, axis) for tensor in tensors)]
        self.attributes: dict[str, int] = {}
        if len(self.own) == 1:
            self.attributes = {"axis": self.own[0]}
        elif self.own:
            g.at_least(21)
            self.attributes = {"axis": rank - 1, "block_size": 1}

    def take(self, label: str) -> Value:
        """Return a tensor without its repetitions."""
        value = self.g.input(label)
        if len(self.own) > 1:
            return value
        cut = [axis for axis, size in enumerate(value.sizes) if size > 1 and axis not in self.own]
        if cut:
            sizes = [1 if axis in cut else size for axis, size in enumerate(value.sizes)]
            ends = [self.g.constant(numbers) for numbers in ([0] * len(cut), [1] * len(cut), cut)]
            value = self.g.node("Slice", [value, *ends], sizes, value.data_type)
        return self.g.reshape(value, [value.sizes[axis] for axis in self.own])


def _varies(tensor: TensorDesc, axis: int) -> bool:
    return tensor.sizes[axis] > 1 and (tensor.strides is None or tensor.strides[axis] != 0)


def quantized_linear_add(g: Builder, desc: OperatorDesc) -> None:
    """QUANTIZED_LINEAR_ADD: an operator of onnxruntime's own, whose formula is the same."""
    a, b = g.input("ATensor"), g.input("BTensor")
    kind = desc.values["OutputTensor"].data_type
    if not a.data_type == b.data_type == kind:
        raise Inexpressible("QLinearAdd has one data type for both addends and the sum")
    names = ("AScaleTensor", "AZeroPointTensor", "BScaleTensor", "BZeroPointTensor")
    numbers = [
        g.reshape(g.input(name), ()) if g.has(name) else scalar(g, 0, kind)  # only zero points may be left out
        for name in (*names, "OutputScaleTensor", "OutputZeroPointTensor")
    ]
    inputs = [a, *numbers[:2], b, *numbers[2:]]
    g.output("OutputTensor", g.node("com.microsoft.QLinearAdd", inputs, a.sizes, kind))


_OWN: dict[str, Mapping] = {
    "ADD1": add1,
    "BIT_NOT": bit_not,
    "CLIP": clip,
    "CLIP1": clip,
    "CONSTANT_POW": constant_pow,
    "DEQUANTIZE_LINEAR": dequantize_linear,
    "IF": choose,
    "IS_INFINITY": is_infinity,
    "IS_NAN": is_nan,
    "LOGICAL_NOT": logical_not,
    "MODULUS_FLOOR": modulus_floor,
    "MODULUS_TRUNCATE": partial(binary, "Mod", fmod=1),
    "POW": power,
    "QUANTIZE_LINEAR": quantize_linear,
    "QUANTIZED_LINEAR_ADD": quantized_linear_add,
    "RECIP": recip,
    "ROUND": rounded,
    "THRESHOLD": threshold,
}

_MAPPINGS: dict[str, Mapping] = {
    **{name: partial(unary, own, rounds_after=name in _KEEPS_ROUNDING) for name, own in _UNARY.items()},
    **{name: partial(binary, own) for name, own in _BINARY.items()},
    **{name: partial(binary, own, opset=18) for name, own in _BITS.items()},
    **{name: partial(binary, "BitShift", direction=direction) for name, direction in _SHIFTS.items()},
    **{name: partial(truths, own) for name, own in _TRUTHS.items()},
    **{name: partial(comparison, own) for name, own in _COMPARISONS.items()},
    **_OWN,
}

MAPPINGS = {f"ELEMENT_WISE_{name}": mapping for name, mapping in _MAPPINGS.items()}
