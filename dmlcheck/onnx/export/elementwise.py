"""Element-wise operators: mostly one node; truth values go through BOOL, which DirectML does not have."""

from __future__ import annotations

import math
from functools import partial

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.onnx.export.builder import Builder, Maker, scaled
from dmlcheck.onnx.export.records import GraphValue, Inexpressible
from dmlcheck.onnx.export.representable import as_element, as_float32, fits, is_float, multiplies_exactly
from dmlcheck.onnx.same_operators import BINARY, BITWISE, COMPARISONS, LOGICAL, UNARY

# All of opset 17 or before. Those of _KEEPS_ROUNDING give the same whether x * Scale + Bias is rounded before or the
# result after.
_UNARY = {**UNARY, "Abs": "ABS", "Tanh": "TANH"}
_KEEPS_ROUNDING = frozenset({"ABS", "IDENTITY"})

_BINARY = {**BINARY, "Max": "MAX", "Mean": "MEAN", "Min": "MIN"}
_SHIFTS = {"BIT_SHIFT_LEFT": "LEFT", "BIT_SHIFT_RIGHT": "RIGHT"}


def input_of(g: Builder, desc: OperatorDesc, name: str = "InputTensor", *, rounds_after: bool = False) -> GraphValue:
    """Return an input after ScaleBias, where that is exact."""
    x = g.input(name)
    change = desc.values.get("ScaleBias")
    return x if change is None else scaled(g, x, change.Scale, change.Bias, rounds_after=rounds_after)


def unary(type: str, g: Builder, desc: OperatorDesc, *, rounds_after: bool = False) -> None:
    """Apply an operator of one input, after ScaleBias if it is given."""
    x = input_of(g, desc, rounds_after=rounds_after)
    g.output("OutputTensor", g.node(type, [x], x.sizes, x.data_type))


def recip(g: Builder, desc: OperatorDesc) -> None:
    """RECIP: -0 * Scale + 0 is 0, whose reciprocal is another infinity, so that this Bias of 0 is added too."""
    x = input_of(g, desc)
    change = desc.values.get("ScaleBias")
    if change is not None and as_float32(change.Bias) == 0:
        x = g.with_number("Add", x, 0)
    g.output("OutputTensor", g.node("Reciprocal", [x], x.sizes, x.data_type))


def binary(type: str, g: Builder, _: OperatorDesc, *, opset: int = 0, **attributes: str | int) -> None:
    """Apply an operator of two inputs."""
    g.at_least(opset)
    a, b = g.input("ATensor"), g.input("BTensor")
    g.output("OutputTensor", g.node(type, [a, b], a.sizes, a.data_type, **attributes))


def bit_not(g: Builder, _: OperatorDesc) -> None:
    """Invert bits: new in opset 18."""
    g.at_least(18)
    x = g.input("InputTensor")
    g.output("OutputTensor", g.node("BitwiseNot", [x], x.sizes, x.data_type))


def truths(type: str, g: Builder, _: OperatorDesc) -> None:
    """AND, OR and XOR of truth values: any number but 0 is true."""
    a, b = (g.cast(g.input(label), "UINT8", "BOOL") for label in ("ATensor", "BTensor"))
    g.output("OutputTensor", g.node(type, [a, b], a.sizes, "UINT8", "BOOL"))


def logical_not(g: Builder, _: OperatorDesc) -> None:
    """Whether a truth value is 0."""
    x = g.cast(g.input("InputTensor"), "UINT8", "BOOL")
    g.output("OutputTensor", g.node("Not", [x], x.sizes, "UINT8", "BOOL"))


def comparison(type: str, g: Builder, _: OperatorDesc) -> None:
    """Compare two inputs: 1 where the comparison is true."""
    a, b = g.input("ATensor"), g.input("BTensor")
    g.output("OutputTensor", g.node(type, [a, b], a.sizes, "UINT8", "BOOL"))


def is_nan(g: Builder, _: OperatorDesc) -> None:
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


def choose(g: Builder, _: OperatorDesc) -> None:
    """IF: an element of A where the condition is not 0, else of B."""
    condition = g.cast(g.input("ConditionTensor"), "UINT8", "BOOL")
    a, b = g.input("ATensor"), g.input("BTensor")
    g.output("OutputTensor", g.node("Where", [condition, a, b], a.sizes, a.data_type))


def add1(g: Builder, desc: OperatorDesc) -> None:
    """ADD1: only RELU after the sum adds no rounding."""
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
    x = input_of(g, desc, rounds_after=True)
    least, most = desc.values["Min"], desc.values["Max"]
    if desc.spec.short == "ELEMENT_WISE_CLIP":
        least, most = as_float32(least), as_float32(most)
    least, most = as_element(least, x.data_type), as_element(most, x.data_type)
    if desc.spec.short == "ELEMENT_WISE_CLIP1" and least > most:
        raise Inexpressible("Min above Max, where ONNX's Clip gives Max")
    bounds = [g.scalar(bound, x.data_type) for bound in (least, most)]
    g.output("OutputTensor", g.node("Clip", [x, *bounds], x.sizes, x.data_type))


def threshold(g: Builder, desc: OperatorDesc) -> None:
    """THRESHOLD: a Clip, whose Max is the largest finite number of a type if it is left out.

    For integers Min is a whole number wherever the result is defined.
    """
    x = input_of(g, desc, rounds_after=True)
    least = as_float32(desc.values["Min"])
    if not is_float(x.data_type) and not fits(least, x.data_type):
        raise Inexpressible(f"Min {least:g} is not a number of {x.data_type}")
    most = g.scalar(math.inf, x.data_type) if is_float(x.data_type) else None
    bounds = [g.scalar(as_element(least, x.data_type), x.data_type), most]
    g.output("OutputTensor", g.node("Clip", [x, *bounds], x.sizes, x.data_type))


def constant_pow(g: Builder, desc: OperatorDesc) -> None:
    """CONSTANT_POW: the exponent keeps its own type."""
    x = input_of(g, desc)
    exponent = g.scalar(desc.values["Exponent"], "FLOAT32")
    g.output("OutputTensor", g.node("Pow", [x, exponent], x.sizes, x.data_type))


def power(g: Builder, desc: OperatorDesc) -> None:
    """POW: ScaleBias is for the bases and the exponents."""
    x, y = (input_of(g, desc, name) for name in ("InputTensor", "ExponentTensor"))
    g.output("OutputTensor", g.node("Pow", [x, y], x.sizes, x.data_type))


def modulus_floor(g: Builder, desc: OperatorDesc) -> None:
    """MODULUS_FLOOR: ONNX has it only for integers."""
    if is_float(g.input("ATensor").data_type):
        raise Inexpressible("ONNX's Mod of floats has the sign of the dividend")
    binary("Mod", g, desc, fmod=0)


def rounded(g: Builder, desc: OperatorDesc) -> None:
    """ROUND: ONNX rounds halves to even."""
    mode = desc.values["RoundingMode"]
    if mode != "HALVES_TO_NEAREST_EVEN":
        raise Inexpressible(f"ONNX's Round rounds halves to even, not {mode}")
    unary("Round", g, desc)


def value_scale(g: Builder, desc: OperatorDesc) -> None:
    """VALUE_SCALE_2D: one factor and a summand for each channel."""
    x = g.input("InputTensor")
    factor = as_float32(desc.values["Scale"])
    summands = [as_float32(value) for value in desc.values["Bias"]]
    if not all(fits(value, x.data_type) for value in (factor, *summands)):
        raise Inexpressible(f"Scale or Bias is not a number of {x.data_type}")
    if any(summands) and not multiplies_exactly(factor):
        raise Inexpressible("x * Scale + Bias would be rounded twice")
    made = g.times(x, factor)
    if any(summands):
        bias = g.constant(summands, x.data_type, (len(summands), 1, 1))
        made = g.node("Add", [made, bias], x.sizes, x.data_type)
    g.output("OutputTensor", made)


def cast(g: Builder, _: OperatorDesc) -> None:
    """CAST: both drop fractions; the output's type asks for the node."""
    g.output("OutputTensor", g.input("InputTensor"))


_OWN: dict[str, Maker] = {
    "ADD1": add1,
    "BIT_NOT": bit_not,
    "CLIP": clip,
    "CLIP1": clip,
    "CONSTANT_POW": constant_pow,
    "IF": choose,
    "IS_INFINITY": is_infinity,
    "IS_NAN": is_nan,
    "LOGICAL_NOT": logical_not,
    "MODULUS_FLOOR": modulus_floor,
    "MODULUS_TRUNCATE": partial(binary, "Mod", fmod=1),
    "POW": power,
    "RECIP": recip,
    "ROUND": rounded,
    "THRESHOLD": threshold,
}

_MAPPINGS: dict[str, Maker] = {
    **{own: partial(unary, name, rounds_after=own in _KEEPS_ROUNDING) for name, own in _UNARY.items()},
    **{own: partial(binary, name) for name, own in _BINARY.items()},
    **{own: partial(binary, name, opset=18) for name, own in BITWISE.items()},
    **{name: partial(binary, "BitShift", direction=direction) for name, direction in _SHIFTS.items()},
    **{own: partial(truths, name) for name, own in LOGICAL.items()},
    **{own: partial(comparison, name) for name, own in COMPARISONS.items()},
    **_OWN,
}

MAPPINGS = {
    **{f"ELEMENT_WISE_{name}": mapping for name, mapping in _MAPPINGS.items()},
    "CAST": cast,
    "VALUE_SCALE_2D": value_scale,
}
