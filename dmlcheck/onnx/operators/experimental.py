"""Experimental operators of ONNX up to opset 9, which onnx does not know any more, and onnxruntime still does.

From DmlOperatorAffine.cpp, DmlOperatorCrop.cpp, DmlOperatorValueScale2D.cpp and DmlOperatorActivation.cpp of ONNX
Runtime's DirectML provider. Defaults of attributes are from ONNX Runtime's contrib_defs.cc, or else from the provider's
OperatorUtility.cpp.
"""

from __future__ import annotations

from functools import partial

from dmlcheck.onnx.descs.node import Counterpart, OnnxNode, Unmapped, shortest
from dmlcheck.onnx.operators.row import Row

_LAST_OPSET = 9


def _affine(node: OnnxNode) -> list[Counterpart]:
    factors = {"Scale": shortest(node.get("alpha", 1.0)), "Bias": shortest(node.get("beta", 0.0))}
    return [Counterpart("ELEMENT_WISE_IDENTITY", {**node.tensors(), "ScaleBias": factors})]


def _activation(operator: str, node: OnnxNode) -> list[Counterpart]:
    factors = {"Alpha": shortest(node.get("alpha", 1.0)), "Beta": shortest(node.get("beta", 1.0))}
    return [Counterpart(operator, {**node.tensors(), **factors})]


def _image(node: OnnxNode) -> list[Counterpart]:
    """VALUE_SCALE_2D: all channels have one factor, and each has its own term."""
    bias = node.get("bias") or []
    if node.input(0).ndim != 4 or len(bias) != node.input(0).shape[1]:
        raise Unmapped(f"{node.type} with {len(bias)} terms for images of the sizes {list(node.input(0).shape)}")
    fields = {"Scale": shortest(node.get("scale", 1.0)), "Bias": [shortest(term) for term in bias]}
    return [Counterpart("VALUE_SCALE_2D", {**node.tensors(), **fields})]


def _crop(node: OnnxNode) -> list[Counterpart]:
    """SLICE from the left and upper border on, to the right and lower ones, or of a height and a width."""
    x, border, size = node.input(0), node.get("border") or [], node.get("scale")
    if x.ndim != 4 or len(border) != 4 or len(size or [0, 0]) != 2:
        raise Unmapped(f"{node.type} of {x.ndim} dimensions with the border {border}")
    left, top, right, bottom = border
    height, width = size or (x.shape[2] - top - bottom, x.shape[3] - left - right)
    fields = {"Offsets": [0, 0, top, left], "Sizes": [*x.shape[:2], height, width], "Strides": [1] * 4}
    return [Counterpart("SLICE", {**node.tensors(), **fields})]


OPERATORS: dict[str, Row] = {
    "Affine": Row(_affine, last_opset=_LAST_OPSET),
    "Crop": Row(_crop, last_opset=_LAST_OPSET),
    "ImageScaler": Row(_image, last_opset=_LAST_OPSET),
    "ParametricSoftplus": Row(partial(_activation, "ACTIVATION_PARAMETRIC_SOFTPLUS"), last_opset=_LAST_OPSET),
    "ScaledTanh": Row(partial(_activation, "ACTIVATION_SCALED_TANH"), last_opset=_LAST_OPSET),
}
