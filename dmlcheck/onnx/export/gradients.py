"""Gradients that pass in places and are 0 elsewhere: comparisons and a Where."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.onnx.export.builder import Builder, Maker
from dmlcheck.onnx.export.records import Inexpressible
from dmlcheck.onnx.export.representable import as_float32, fits


def relu(g: Builder, _: OperatorDesc) -> None:
    """RELU_GRAD: the gradient where the input is above 0."""
    _passed(g, [("Greater", 0)])


def clip(g: Builder, desc: OperatorDesc) -> None:
    """CLIP_GRAD and CLIP_GRAD1: the gradient where the input is between Min and Max."""
    kind, bounds = g.tensor("InputTensor").data_type, [desc.values["Min"], desc.values["Max"]]
    if desc.spec.short == "ELEMENT_WISE_CLIP_GRAD":
        bounds = list(map(as_float32, bounds))
    if not all(fits(bound, kind) for bound in bounds):
        raise Inexpressible(f"Min or Max is not a number of {kind}")
    _passed(g, zip(("Greater", "Less"), bounds, strict=True))


def _passed(g: Builder, conditions: Iterable[tuple[str, float]]) -> None:
    """Let the gradient pass where the input meets all conditions."""
    x, gradient = g.input("InputTensor"), g.input("InputGradientTensor")
    tests = [g.node(name, [x, g.scalar(bound, x.data_type)], x.sizes, "UINT8", "BOOL") for name, bound in conditions]
    inside = reduce(lambda one, other: g.node("And", [one, other], x.sizes, "UINT8", "BOOL"), tests)
    zero = g.scalar(0, gradient.data_type)
    g.output("OutputGradientTensor", g.node("Where", [inside, gradient, zero], x.sizes, gradient.data_type))


MAPPINGS: dict[str, Maker] = {
    "ACTIVATION_RELU_GRAD": relu,
    "ELEMENT_WISE_CLIP_GRAD": clip,
    "ELEMENT_WISE_CLIP_GRAD1": clip,
}
