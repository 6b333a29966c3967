"""Fusions of ONNX Runtime: an operator between DequantizeLinear and QuantizeLinear becomes one of quantized values.

The source is its core/optimizer/qdq_transformer/selectors_actions: the rules whose list of providers has DirectML's.
Products and convolutions are of UINT8, as on x64; on ARM they may be of INT8 too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dmlcheck.onnx.model.fusion_parts import FusionPart, Parts, Replacement

OWN = "com.microsoft."
_BYTES = ("INT8", "UINT8")
_PRODUCTS = ("Conv", "MatMul")
_TARGETS = {  # the fused operator, and the number of dequantized inputs
    "Add": (f"{OWN}QLinearAdd", 2),
    "AveragePool": (f"{OWN}QLinearAveragePool", 1),
    "Conv": ("QLinearConv", 2),
    "GlobalAveragePool": (f"{OWN}QLinearGlobalAveragePool", 1),
    "MatMul": ("QLinearMatMul", 2),
    "Sigmoid": (f"{OWN}QLinearSigmoid", 1),
}


def quantized(index: Parts, last: FusionPart) -> Iterator[Replacement]:
    """Yield the fusion of a QuantizeLinear and the operator before it; its attributes stay."""
    target = index.maker(last.inputs[0], *_TARGETS)
    if target is None or len(last.inputs) < 3:
        return
    operator, count = _TARGETS[target.operator]
    given = _dequantized(index, target, count)
    bias = _bias(index, target)
    if given is None or bias is None or index.element(last.inputs[2]) != index.element(given[0].inputs[0]):
        return
    inputs = [name for each in given for name in each.inputs[:3]]
    own = [part for part in (*given, *bias) if _is_read_once(index, part)]
    made = (*inputs, *last.inputs[1:3], *(part.inputs[0] for part in bias))
    yield Replacement(operator, made, (last, target, *own), target.attributes)


def dequantized_product(index: Parts, last: FusionPart) -> Iterator[Replacement]:
    """Yield the fusion of a MatMul of dequantized factors, whose result is not quantized."""
    given = _dequantized(index, last, 2)
    if given is not None:
        a, b = given
        inputs = (a.inputs[0], b.inputs[0], a.inputs[1], b.inputs[1], a.inputs[2], b.inputs[2])
        own = [part for part in given if _is_read_once(index, part)]
        yield Replacement(f"{OWN}MatMulIntegerToFloat", inputs, (last, *own))


def _dequantized(index: Parts, target: FusionPart, count: int) -> Sequence[FusionPart] | None:
    """Return the nodes that dequantize the first inputs of a part, or None."""
    made = [index.maker(name, "DequantizeLinear") for name in target.inputs[:count]]
    given = [part for part in made if part is not None and len(part.inputs) == 3]
    kinds = [index.element(part.inputs[0]) for part in given]
    if len(given) < count or not all(kind in _BYTES for kind in kinds):
        return None
    is_right = kinds[0] == "UINT8" if target.operator in _PRODUCTS else len(set(kinds)) == 1
    return given if is_right else None


def _bias(index: Parts, target: FusionPart) -> Sequence[FusionPart] | None:
    """Return the node that dequantizes the bias of a Conv, [] without a bias, None for another kind of bias."""
    if target.operator != "Conv" or len(target.inputs) < 3 or not target.inputs[2]:
        return []
    part = index.maker(target.inputs[2], "DequantizeLinear")
    return [part] if part is not None and index.element(part.inputs[0]) == "INT32" else None


def _is_read_once(index: Parts, part: FusionPart) -> bool:
    """Whether only one part reads the output of another; ONNX Runtime gives each reader a DequantizeLinear."""
    return len(index.readers[part.outputs[0]]) == 1 and part.outputs[0] not in index.kept
