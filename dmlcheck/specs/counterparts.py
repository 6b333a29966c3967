"""Where other libraries describe the operators that DirectML's compute: the address of a name's page."""

from __future__ import annotations

from typing import NamedTuple

from dmlcheck.specs.about import AboutOperator
from dmlcheck.specs.records import OperatorSpec

_ONNX = "https://onnx.ai/onnx/operators/onnx__{}.html"
_CONTRIBUTED = "https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#{}"
_EXPERIMENTAL = "https://github.com/onnx/onnx/blob/v1.3.0/docs/Operators.md#{}"
_OF_ONNX_RUNTIME = (
    "https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/graph/contrib_ops/contrib_defs.cc"
)
_WEBNN = "https://www.w3.org/TR/webnn/#dom-mlgraphbuilder-{}"
_PYTORCH = "https://docs.pytorch.org/docs/stable/generated/{}.html"
_TORCHVISION = "https://docs.pytorch.org/vision/stable/generated/{}.html"
_TENSORFLOW = "https://www.tensorflow.org/api_docs/python/{}"

# Operators that ONNX had as experiments up to 1.3, and one that ONNX Runtime has in ONNX's domain without a page.
_ELSEWHERE = {
    **dict.fromkeys(("Affine", "Crop", "ImageScaler", "ParametricSoftplus", "ScaledTanh"), _EXPERIMENTAL),
    "SimplifiedLayerNormalization": _OF_ONNX_RUNTIME,
}

# The packages in which the names in specs/about were found: a test compares them with the list of what they have.
FOUND_IN = {
    "PyTorch": ("torch 2.11.0", "torchvision 0.26.0"),
    "TensorFlow": ("tensorflow 2.21.0", "keras 3.15.1"),
}


class LibraryCounterpart(NamedTuple):
    """An operator of another library that computes the same, or a case of it, and the address that describes it."""

    library: str
    name: str
    source: str


def counterparts(spec: OperatorSpec, about: AboutOperator) -> list[LibraryCounterpart]:
    """Return the counterparts of an operator in ONNX, WebNN, PyTorch and TensorFlow."""
    both = (*spec.names.items(), *about.names.items())
    return [LibraryCounterpart(library, name, _source(library, name)) for library, names in both for name in names]


def _source(library: str, name: str) -> str:
    """Return the address of the page that describes a name."""
    if library == "ONNX":
        contributed = name.startswith("com.microsoft.")
        return (_CONTRIBUTED if contributed else _ELSEWHERE.get(name, _ONNX)).format(name)
    if library == "WebNN":
        return _WEBNN.format(name.lower())
    if library == "PyTorch":
        return (_TORCHVISION if name.startswith("torchvision.") else _PYTORCH).format(name)
    return _TENSORFLOW.format(name.replace(".", "/"))
