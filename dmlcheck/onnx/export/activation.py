"""Activations: one node where ONNX has their parameters, with a product by a power of two before or after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.onnx.export.builder import Builder, Maker, along, scaled, times_exactly
from dmlcheck.onnx.export.records import GraphValue, Inexpressible
from dmlcheck.onnx.export.representable import as_element, as_float32
from dmlcheck.onnx.same_operators import ACTIVATIONS

_ALONG = {"HARDMAX": "Hardmax", "LOG_SOFTMAX": "LogSoftmax", "SOFTMAX": "Softmax"}


def same(type: str, fields: Mapping[str, str], g: Builder, desc: OperatorDesc) -> None:
    """Apply an operator whose attributes are the fields."""
    attributes = {name: as_float32(desc.values[own]) for own, name in fields.items()}
    _apply(g, type, g.input("InputTensor"), **attributes)


def grouped(type: str, g: Builder, desc: OperatorDesc) -> None:
    """HARDMAX, SOFTMAX and LOG_SOFTMAX over a group: the last axis, or the axes in Axes."""
    x = g.input("InputTensor")
    g.output("OutputTensor", along(g, type, x, desc.values.get("Axes", [len(x.sizes) - 1])))


def gelu(g: Builder, _: OperatorDesc) -> None:
    """GELU: new in opset 20."""
    g.at_least(20)
    _apply(g, "Gelu", g.input("InputTensor"), approximate="none")


def hard_swish(g: Builder, desc: OperatorDesc) -> None:
    """HARD_SWISH: ONNX has the one of 1/6 and 1/2."""
    if (as_float32(desc.values["Alpha"]), as_float32(desc.values["Beta"])) != (as_float32(1 / 6), 0.5):
        raise Inexpressible("ONNX's HardSwish has Alpha 1/6 and Beta 0.5")
    _apply(g, "HardSwish", g.input("InputTensor"))


def linear(g: Builder, desc: OperatorDesc) -> None:
    """LINEAR: one product or one sum is rounded once."""
    x = g.input("InputTensor")
    g.output("OutputTensor", scaled(g, x, desc.values["Alpha"], desc.values["Beta"], rounds_after=True))


def parameterized_relu(g: Builder, _: OperatorDesc) -> None:
    """PARAMETERIZED_RELU: a slope for each element."""
    x, slope = g.input("InputTensor"), g.input("SlopeTensor")
    g.output("OutputTensor", g.node("PRelu", [x, slope], x.sizes, x.data_type))


def swish(g: Builder, desc: OperatorDesc) -> None:
    """SWISH: new in opset 24."""
    g.at_least(24)
    _apply(g, "Swish", g.input("InputTensor"), alpha=as_float32(desc.values["SigmoidInputScale"]))


def scaled_tanh(g: Builder, desc: OperatorDesc) -> None:
    """SCALED_TANH: Alpha * tanh(Beta * x)."""
    _between(g, "Tanh", ("Beta", desc.values["Beta"]), ("Alpha", desc.values["Alpha"]))


def parametric_softplus(g: Builder, desc: OperatorDesc) -> None:
    """PARAMETRIC_SOFTPLUS: Alpha * ln(1 + exp(Beta * x))."""
    _between(g, "Softplus", ("Beta", desc.values["Beta"]), ("Alpha", desc.values["Alpha"]))


def softplus(g: Builder, desc: OperatorDesc) -> None:
    """SOFTPLUS: ln(1 + exp(Steepness * x)) / Steepness."""
    steepness = desc.values["Steepness"]
    if not steepness:
        raise Inexpressible("Steepness 0 divides by 0")
    _between(g, "Softplus", ("Steepness", steepness), ("1 / Steepness", 1 / steepness))


def _between(g: Builder, type: str, inner: tuple[str, float], outer: tuple[str, float]) -> None:
    """Apply an operator between two products, each of which has to be exact."""
    x = times_exactly(g, g.input("InputTensor"), inner[1], inner[0])
    made = g.node(type, [x], x.sizes, x.data_type)
    g.output("OutputTensor", times_exactly(g, made, outer[1], outer[0]))


def _apply(g: Builder, type: str, x: GraphValue, **attributes: float | str) -> None:
    g.output("OutputTensor", g.node(type, [x], x.sizes, x.data_type, **attributes))


# ---- after another operator


def fused(g: Builder, x: GraphValue, desc: OperatorDesc) -> GraphValue:
    """Return a value after FusedActivation; Inexpressible for an activation that adds a rounding."""
    activation = desc.values.get("FusedActivation")
    if activation is None or activation.spec.short == "ACTIVATION_IDENTITY":
        return x
    if activation.spec.short == "ACTIVATION_RELU":
        return g.node("Relu", [x], x.sizes, x.data_type)
    if activation.spec.short == "ELEMENT_WISE_CLIP" and activation.values.get("ScaleBias") is None:
        limits = [g.scalar(as_element(activation.values[name], x.data_type), x.data_type) for name in ("Min", "Max")]
        return g.node("Clip", [x, *limits], x.sizes, x.data_type)
    raise Inexpressible(f"a fused {activation.spec.short} is a node of its own in ONNX, which adds a rounding")


# ---- the table

_OWN: dict[str, Maker] = {
    "GELU": gelu,
    "HARD_SWISH": hard_swish,
    "LINEAR": linear,
    "PARAMETERIZED_RELU": parameterized_relu,
    "PARAMETRIC_SOFTPLUS": parametric_softplus,
    "SCALED_TANH": scaled_tanh,
    "SOFTPLUS": softplus,
    "SWISH": swish,
}


def _both(name: str) -> Sequence[str]:
    return name, f"{name}1"


_MAPPINGS: dict[str, Maker] = {
    "IDENTITY": partial(same, "Identity", {}),
    **{own: partial(same, name, fields) for name, (own, fields) in ACTIVATIONS.items()},
    **{each: partial(grouped, own) for name, own in _ALONG.items() for each in _both(name)},
    **_OWN,
}

MAPPINGS = {f"ACTIVATION_{name}": mapping for name, mapping in _MAPPINGS.items()}
