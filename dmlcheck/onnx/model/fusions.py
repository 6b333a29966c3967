"""The fusions of ONNX Runtime before nodes reach the DirectML provider, unless they are turned off.

The sources are the files *_fusion.cc and matmul_integer_to_float.cc in its core/optimizer, in the order of
GenerateTransformers in graph_transformer_utils.cc. Here are the fusions whose list of providers has DirectML's, if the
fused operator can need a higher feature level than the nodes do. Needs the package onnx.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from dmlcheck.onnx.model.values import CONSTANT, Value

_NEAR = 1e-3  # of a constant: FLOAT16 is no nearer


class FusionPart(NamedTuple):
    """A node, or the result of a fusion: `replaced` has the positions of the fused nodes.

    Attributes are values, or each an onnx.AttributeProto as a node has it; `is_fused` says that the part is no node of
    the model.
    """

    operator: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Any]
    replaced: tuple[int, ...]
    is_fused: bool = False

    def get(self, name: str, default: Any = None) -> Any:
        """Return the value of an attribute."""
        from onnx import AttributeProto, helper

        value = self.attributes.get(name, default)
        return helper.get_attribute_value(value) if isinstance(value, AttributeProto) else value


class Replacement(NamedTuple):
    """The result of fusing parts, the last one of them first."""

    operator: str
    inputs: Sequence[str]
    parts: Sequence[FusionPart]
    attributes: Mapping[str, Any] = {}


class Parts:
    """The parts of a graph in their order, and its values; `kept` are those that its outputs or inner graphs read."""

    def __init__(
        self,
        parts: Iterable[FusionPart],
        values: Mapping[str, Value],
        kept: frozenset[str] = frozenset(),
        opset: int = 1,
    ) -> None:
        self.parts = list(parts)
        self.values, self.kept, self.opset = values, kept, opset
        self.makers = {name: part for part in self.parts for name in part.outputs if name}
        self.readers: dict[str, list[FusionPart]] = defaultdict(list)
        for part in self.parts:
            for name in part.inputs:
                self.readers[name].append(part)

    def maker(self, name: str, *operators: str) -> FusionPart | None:
        """Return the part that makes a value, if it is one of some operators."""
        part = self.makers.get(name)
        return part if part is not None and part.operator in operators else None

    def made_inputs(self, part: FusionPart, *operators: str) -> Iterator[tuple[FusionPart, str]]:
        """Yield the part that makes either input of a part, if it is one of some operators, and the other input."""
        if len(part.inputs) == 2:
            for name, other in (part.inputs, part.inputs[::-1]):
                maker = self.maker(name, *operators)
                if maker is not None:
                    yield maker, other

    def other_input(self, part: FusionPart, constant: float) -> str | None:
        """Return the input of a part whose other input is a constant of one element, or None."""
        if len(part.inputs) != 2:
            return None
        for name, other in (part.inputs, part.inputs[::-1]):
            number = self.number(name)
            if number is not None and abs(number - constant) <= _NEAR * abs(constant):
                return other
        return None

    def number(self, name: str) -> float | None:
        """Return the number that a constant of one element has, or None."""
        value = self.values.get(name)
        if value is None or value.numbers is None or value.numbers.size != 1 or value.numbers.dtype.kind not in "fiu":
            return None
        return float(value.numbers.reshape(-1)[0])

    def element(self, name: str) -> str:
        """Return ONNX's name of the type of a value, "" if it is not known."""
        value = self.values.get(name)
        return "" if value is None else value.element

    def sizes(self, name: str) -> tuple[int | str, ...] | None:
        """Return the sizes of a value, or None."""
        value = self.values.get(name)
        return None if value is None else value.sizes

    def is_constant(self, name: str) -> bool:
        """Whether a value is in the model."""
        value = self.values.get(name)
        return value is not None and value.origin == CONSTANT

    def are_apart(self, parts: Sequence[FusionPart]) -> bool:
        """Whether only the parts themselves read their outputs, except for the first one's outputs."""
        inside = {part.outputs for part in parts}
        return all(
            name not in self.kept and all(reader.outputs in inside for reader in self.readers[name])
            for part in parts[1:]
            for name in part.outputs
        )


# ---- an operator between DequantizeLinear and QuantizeLinear becomes one of quantized values
#
# The source is core/optimizer/qdq_transformer/selectors_actions: the rules whose list of providers has DirectML's.
# Products and convolutions are of UINT8, as on x64; on ARM they may be of INT8 too.


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


# ---- the fusions of ONNX Runtime before nodes reach the DirectML provider, unless they are turned off


_EPSILON = 1e-5  # of a normalization whose constant is not known
_ROOT = math.sqrt(2 / math.pi)
_CUBIC = 0.044715
_FLOATS = ("FLOAT", "FLOAT16")
_HAS_GELU = 20  # the opset since which ONNX has it: it comes before nodes are given to providers
_MOST_STEPS = 16
_NORMALIZATIONS = ("LayerNormalization", f"{OWN}SkipLayerNormalization")
_SCALES = ("Add", "Cast", "Div", "Mul", "Where")
_PROJECTIONS = ("Add", "Gemm", "MatMul", "Mul", "Div", "Reshape", "Split", "Squeeze", "Transpose")
_LEAST_INPUTS = {"LayerNormalization": 2}  # of operators that onnx does not check
_WITH_ATTRIBUTES = ("AveragePool", "Conv", "LayerNormalization", "ReduceMean")

_Match = Callable[[Parts, FusionPart], "Iterator[Replacement]"]


class Fusion(NamedTuple):
    """A node that ONNX Runtime makes, as an onnx.NodeProto, and the positions of the nodes that it replaces."""

    node: Any
    replaced: tuple[int, ...]


class Fused(NamedTuple):
    """The fusions of a graph, and possible further ones: an operator, and the position of a node of it."""

    fusions: list[Fusion]
    possible: list[tuple[str, int]]


def fusions(
    nodes: Sequence[tuple[str, Any, bool]], values: Mapping[str, Value], kept: frozenset[str], opset: int
) -> Fused:
    """Return the fusions of the nodes of a graph, given with their operators and whether DirectML takes them.

    `kept` are the values that the graph's outputs or inner graphs read.
    """
    parts = [_part(position, *node) for position, node in enumerate(nodes)]
    for anchors, match in _STAGES:
        if any(part.operator in anchors for part in parts):
            parts = _after(Parts(parts, values, kept, opset), anchors, match)
    made = [Fusion(_proto(part), part.replaced) for part in parts if part.is_fused]
    return Fused(made, list(_possible(Parts(parts, values, kept, opset))))


def _part(position: int, operator: str, node: Any, is_taken: bool) -> FusionPart:  # noqa: FBT001 - as the caller has it
    is_whole = is_taken and len(node.input) >= _LEAST_INPUTS.get(operator, 1) and len(node.output) > 0
    read = node.attribute if is_whole and operator in _WITH_ATTRIBUTES else ()
    attributes = {attribute.name: attribute for attribute in read}
    return FusionPart(operator if is_whole else "", tuple(node.input), tuple(node.output), attributes, (position,))


def _after(index: Parts, anchors: Sequence[str], match: _Match) -> list[FusionPart]:
    gone: dict[tuple[int, ...], FusionPart | None] = {}
    for part in index.parts:
        found = _first(index, part, match, gone) if part.operator in anchors and part.replaced not in gone else None
        if found is not None:
            gone.update((each.replaced, None) for each in found.parts)
            replaced = tuple(sorted(place for each in found.parts for place in each.replaced))
            gone[part.replaced] = FusionPart(
                found.operator, tuple(found.inputs), part.outputs[:1], found.attributes, replaced, is_fused=True
            )
    return [made for part in index.parts if (made := gone.get(part.replaced, part)) is not None]


def _first(
    index: Parts, part: FusionPart, match: _Match, gone: Mapping[tuple[int, ...], FusionPart | None]
) -> Replacement | None:
    """Return the first replacement of parts that are not fused yet and whose inner values nothing else reads."""
    free = (found for found in match(index, part) if not any(each.replaced in gone for each in found.parts))
    return next((found for found in free if index.are_apart(found.parts)), None)


def _proto(part: FusionPart) -> Any:
    from onnx import AttributeProto, helper

    domain, _, operator = part.operator.rpartition(".")
    node = helper.make_node(operator, part.inputs, part.outputs, domain=domain)
    for name, value in part.attributes.items():
        named = value if isinstance(value, AttributeProto) else helper.make_attribute(name, value)
        node.attribute.add().CopyFrom(named)
        node.attribute[-1].name = name
    return node


# ---- normalizations


def _layer_normalization(index: Parts, last: FusionPart) -> Iterator[Replacement]:
    """LayerNormFusion: (x - mean) / sqrt(mean of squares + epsilon) * scale + bias, over the last dimension."""
    for scaled, bias in index.made_inputs(last, "Mul"):
        for ratio, scale in index.made_inputs(scaled, "Div"):
            centred, root = (
                index.maker(name, operator) for name, operator in zip(ratio.inputs, ("Sub", "Sqrt"), strict=False)
            )
            shifted = None if root is None else index.maker(root.inputs[0], "Add")
            if centred is None or root is None or shifted is None:
                continue
            for spread, epsilon in index.made_inputs(shifted, "ReduceMean"):
                moments = _moments(index, centred, spread)
                is_last = moments is not None and _are_of_last(index, moments[-1], spread)
                if moments is None or not is_last or not all(_is_vector(index, name) for name in (scale, bias)):
                    continue
                number = index.number(epsilon)
                attributes = {"axis": -1, "epsilon": _EPSILON if number is None else number}
                parts = (last, scaled, ratio, root, shifted, spread, *moments)
                yield Replacement("LayerNormalization", (centred.inputs[0], scale, bias), parts, attributes)


def _moments(index: Parts, centred: FusionPart, spread: FusionPart) -> list[FusionPart] | None:
    """Return the parts before the mean of squared differences from a mean: the square, differences, the mean last."""
    power = index.maker(spread.inputs[0], "Pow")
    if power is None or index.number(power.inputs[1]) != 2:
        return None
    cast = index.maker(power.inputs[0], "Cast")
    again = index.maker((cast or power).inputs[0], "Sub")
    mean = index.maker(centred.inputs[1], "ReduceMean")
    if again is None or mean is None or again.inputs != centred.inputs or mean.inputs[0] != centred.inputs[0]:
        return None
    return [power, *([cast] if cast else []), centred, *([] if again is centred else [again]), mean]


def _are_of_last(index: Parts, mean: FusionPart, spread: FusionPart) -> bool:
    """Whether two means are over the last dimension, of floats."""
    x = mean.inputs[0]
    is_float = x in index.values and index.values[x].element in _FLOATS
    return is_float and all(_is_of_last(index, part, index.sizes(x)) for part in (mean, spread))


def _is_of_last(index: Parts, mean: FusionPart, sizes: Sequence[int | str] | None) -> bool:
    axes = mean.get("axes")
    if len(mean.inputs) > 1:
        given = index.values.get(mean.inputs[1])
        axes = None if given is None or given.numbers is None else given.numbers.reshape(-1).tolist()
    if not axes or len(axes) > 1 or not mean.get("keepdims", 1):
        return False
    return axes[0] == -1 or (sizes is not None and axes[0] == len(sizes) - 1)


def _is_vector(index: Parts, name: str) -> bool:
    return len(index.sizes(name) or ()) == 1


def _skip_normalization(index: Parts, last: FusionPart) -> Iterator[Replacement]:
    """SkipLayerNormFusion: a sum of two before a normalization of the last dimension, and a bias before that."""
    total = index.maker(last.inputs[0], "Add")
    if total is None or last.get("axis", -1) not in (-1, 2):
        return
    if len(last.outputs) > 1:
        return
    a, b = total.inputs
    if not _are_alike(index.sizes(a), index.sizes(b)) or index.values[a].element not in _FLOATS:
        return
    beta = last.inputs[2] if len(last.inputs) > 2 else ""
    attributes = {"epsilon": last.attributes.get("epsilon", _EPSILON)}
    for biased, other in index.made_inputs(total, "Add"):
        if _is_biased(index, biased):
            inputs = (biased.inputs[0], other, last.inputs[1], beta, biased.inputs[1])
            yield Replacement(f"{OWN}SkipLayerNormalization", inputs, (last, total, biased), attributes)
    yield Replacement(f"{OWN}SkipLayerNormalization", (a, b, last.inputs[1], beta), (last, total), attributes)


def _is_biased(index: Parts, total: FusionPart) -> bool:
    """Whether a sum is of three dimensions and a constant vector."""
    sizes, bias = index.sizes(total.inputs[0]), total.inputs[1]
    return bool(sizes) and len(sizes or ()) == 3 and index.is_constant(bias) and index.sizes(bias) == (sizes or ())[2:]


def _are_alike(a: Sequence[int | str] | None, b: Sequence[int | str] | None) -> bool:
    """Whether two tensors have the same three sizes, which may be names."""
    return a is not None and b is not None and len(a) == 3 and tuple(a) == tuple(b) and "" not in a


# ---- activations


def _gelu(index: Parts, last: FusionPart) -> Iterator[Replacement]:
    """GeluFusion: x * 0.5 * (erf(x / sqrt(2)) + 1), in two orders."""
    halved = index.other_input(last, 0.5)
    middle = None if halved is None else index.maker(halved, "Mul")
    if middle is not None:  # (x * (erf + 1)) * 0.5
        for total, x in index.made_inputs(middle, "Add"):
            yield from _with_erf(index, x, total, (last, middle))
    for total, name in index.made_inputs(last, "Add"):  # (x * 0.5) * (erf + 1)
        half = index.maker(name, "Mul")
        halved_x = None if half is None else index.other_input(half, 0.5)
        if half is not None and halved_x is not None:
            yield from _with_erf(index, halved_x, total, (last, half))


def _with_erf(index: Parts, x: str, total: FusionPart, parts: Sequence[FusionPart]) -> Iterator[Replacement]:
    """Yield a Gelu where a sum is erf(x / sqrt(2)) + 1."""
    if index.other_input(total, 1) is None:
        return
    for erf, _ in index.made_inputs(total, "Erf"):
        scaled = index.maker(erf.inputs[0], "Div")
        if scaled is not None and scaled.inputs[0] == x and index.other_input(scaled, math.sqrt(2)) == x:
            made = "Gelu" if index.opset >= _HAS_GELU else f"{OWN}Gelu"
            yield Replacement(made, (x,), (*parts, total, erf, scaled))


def _fast_gelu(index: Parts, last: FusionPart) -> Iterator[Replacement]:
    """FastGeluFusion: x * 0.5 * (tanh(sqrt(2 / pi) * (x + 0.044715 * x ** 3)) + 1), in two orders."""
    if last.outputs[0] in index.kept:
        return
    for total, name in index.made_inputs(last, "Add"):
        half = index.maker(name, "Mul")
        x = None if half is None else index.other_input(half, 0.5)
        if half is None or x is None or index.other_input(total, 1) is None:
            continue
        for tanh, _ in index.made_inputs(total, "Tanh"):
            scaled = index.maker(tanh.inputs[0], "Mul")
            if scaled is None:
                continue
            for cubic in (*_cubic(index, scaled, x), *_factored_cubic(index, scaled, x)):
                yield Replacement(f"{OWN}FastGelu", (x,), (last, half, total, tanh, scaled, *cubic))


def _cubic(index: Parts, scaled: FusionPart, x: str) -> Iterator[list[FusionPart]]:
    """Yield the parts of x + 0.044715 * x ** 3, which is scaled."""
    name = index.other_input(scaled, _ROOT)
    total = None if name is None else index.maker(name, "Add")
    if total is None:
        return
    for product, other in index.made_inputs(total, "Mul"):
        cube = index.other_input(product, _CUBIC)
        power = None if cube is None else index.maker(cube, "Pow")
        if other == x and power is not None and power.inputs[0] == x and index.number(power.inputs[1]) == 3:
            yield [total, product, power]


def _factored_cubic(index: Parts, scaled: FusionPart, x: str) -> Iterator[list[FusionPart]]:
    """Yield the parts of x * sqrt(2 / pi) times 1 + x * (0.044715 * x)."""
    for total, name in index.made_inputs(scaled, "Add"):
        factor = index.maker(name, "Mul")
        if factor is None or index.other_input(factor, _ROOT) != x or index.other_input(total, 1) is None:
            continue
        for square, _ in index.made_inputs(total, "Mul"):
            for inner, other in index.made_inputs(square, "Mul"):
                if other == x and index.other_input(inner, _CUBIC) == x:
                    yield [total, factor, square, inner]


def _quick_gelu(index: Parts, last: FusionPart) -> Iterator[Replacement]:
    """QuickGeluFusion: x * sigmoid(alpha * x), alpha often 1."""
    for sigmoid, x in index.made_inputs(last, "Sigmoid"):
        if sigmoid.inputs[0] == x:
            yield Replacement(f"{OWN}QuickGelu", (x,), (last, sigmoid), {"alpha": 1.0})
        scaled = index.maker(sigmoid.inputs[0], "Mul")
        if scaled is None or x not in scaled.inputs:
            continue
        alpha = index.number(scaled.inputs[scaled.inputs[0] == x])
        if alpha is not None:
            yield Replacement(f"{OWN}QuickGelu", (x,), (last, sigmoid, scaled), {"alpha": alpha})


def _bias_gelu(index: Parts, last: FusionPart) -> Iterator[Replacement]:
    """BiasGeluFusion: a vector is added before a Gelu or a FastGelu."""
    total = index.maker(last.inputs[0], "Add")
    if total is None or len(last.inputs) > 1:
        return
    made = "FastGelu" if last.operator == f"{OWN}FastGelu" else "BiasGelu"
    for bias, x in (total.inputs, total.inputs[::-1]):
        sizes = index.sizes(x)
        if sizes and isinstance(sizes[-1], int) and index.sizes(bias) == (sizes[-1],):
            yield Replacement(f"{OWN}{made}", (x, bias), (last, total))


# ---- products


def _biased_product(index: Parts, last: FusionPart) -> Iterator[Replacement]:
    """MatMulIntegerToFloatFusion, with a bias."""
    bias = last.inputs[1]
    scaled = index.maker(last.inputs[0], "Mul")
    if scaled is not None and _is_row(index, bias):
        for found in _product_of_integers(index, scaled):
            yield found._replace(inputs=(*found.inputs, bias), parts=(last, *found.parts))


def _product_of_integers(index: Parts, last: FusionPart) -> Iterator[Replacement]:
    """MatMulIntegerToFloatFusion: a MatMulInteger that is converted and scaled."""
    for cast, name in index.made_inputs(last, "Cast"):
        scale, product = index.maker(name, "Mul"), index.maker(cast.inputs[0], "MatMulInteger")
        if scale is not None and product is not None:
            zeros = (*product.inputs[2:], "", "")[:2]
            inputs = (*product.inputs[:2], *scale.inputs, *zeros)
            yield Replacement(f"{OWN}MatMulIntegerToFloat", inputs, (last, cast, scale, product))


def _is_row(index: Parts, name: str) -> bool:
    """Whether a value is a constant row of more than one element."""
    sizes = index.sizes(name)
    if not sizes or not index.is_constant(name):
        return False
    return all(size == 1 for size in sizes[:-1]) and isinstance(sizes[-1], int) and sizes[-1] > 1


# ---- what may come about besides


def _possible(index: Parts) -> Iterator[tuple[str, int]]:
    """Yield the operators that ONNX Runtime may make around normalizations, with a node of each.

    AttentionFusion and EmbedLayerNormFusion ask for more than is looked at here: masks of a few forms, how positions
    are made.
    """
    for part in index.parts:
        if part.operator == "Softmax" and _attends(index, part):
            yield f"{OWN}Attention", part.replaced[-1]
        elif part.operator in _NORMALIZATIONS and _embeds(index, part):
            yield f"{OWN}EmbedLayerNormalization", part.replaced[-1]


def _attends(index: Parts, softmax: FusionPart) -> bool:
    """Whether queries, keys and values of a softmax come from one normalization."""
    for product in index.readers[softmax.outputs[0]]:
        scores = index.maker(_through(index, softmax.inputs[0], _SCALES), "MatMul")
        if product.operator == "MatMul" and scores is not None:
            ends = [_through(index, name, _PROJECTIONS) for name in (*scores.inputs, product.inputs[1])]
            return len(set(ends)) == 1 and index.maker(ends[0], *_NORMALIZATIONS) is not None
    return False


def _through(index: Parts, name: str, operators: Sequence[str]) -> str:
    """Return the first value of a chain of parts of some operators, followed up along values that are not constant."""
    for _ in range(_MOST_STEPS):
        part = index.maker(name, *operators)
        inputs = [each for each in part.inputs if index.makers.get(each)] if part is not None else []
        if not inputs:
            break
        name = inputs[0]
    return name


def _embeds(index: Parts, normalization: FusionPart) -> bool:
    """Whether the input of a normalization is a sum of two or three rows of tables and nothing else."""
    added = normalization.inputs[: 2 if normalization.is_fused and normalization.operator.startswith(OWN) else 1]
    tables = [is_table for name in added for is_table in _tables(index, name, 2)]
    return len(tables) in (2, 3) and all(tables)


def _tables(index: Parts, name: str, depth: int) -> Iterator[bool]:
    """Yield of each value that is added whether it is rows of a constant table, or constant itself."""
    part = index.maker(name, "Add", "Gather")
    if part is not None and part.operator == "Add" and depth:
        for each in part.inputs:
            yield from _tables(index, each, depth - 1)
    else:
        is_row = part is not None and part.operator == "Gather" and index.is_constant(part.inputs[0])
        yield is_row or index.is_constant(name)


_STAGES: Sequence[tuple[Sequence[str], _Match]] = (
    (("Mul",), _gelu),
    (("Add",), _layer_normalization),
    (("QuantizeLinear",), quantized),
    (("MatMul",), dequantized_product),
    (("Add",), _biased_product),
    (("Mul",), _product_of_integers),
    ((f"{OWN}Gelu",), _bias_gelu),
    (("LayerNormalization",), _skip_normalization),
    (("Mul",), _fast_gelu),
    (("Mul",), _quick_gelu),
    ((f"{OWN}FastGelu",), _bias_gelu),
)
