"""The reference engine against two independent programs, ONNX Runtime's CPU provider and onnx's own evaluator.

For every element-wise and activation operator, REDUCE, ARGMAX, ARGMIN, products of matrices and convolutions, as far as
ONNX has exact words for a desc: on the inputs of the bundled cases, and on the edges of every data type or random ones.
What differs by more than the bound is a row of KNOWN, which says who is wrong and why.
"""

from __future__ import annotations

import itertools
import platform
import re
import warnings
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
import pytest
from drawn_descs import MODEST, TINY, draws
from shipped import cases_of
from valid_descs import valid

from dmlcheck import validation
from dmlcheck.cases.prepare import prepare
from dmlcheck.comparison.compare import compare
from dmlcheck.comparison.tolerances import limit_for
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.implementations import Failure, Unsupported
from dmlcheck.implementations.desc_models import with_bytes
from dmlcheck.implementations.protocol import Reference
from dmlcheck.onnx.export.mappings import build, mappings
from dmlcheck.onnx.export.records import ExportedNode, Inexpressible
from dmlcheck.reference.bounds import bounds
from dmlcheck.reference.limits.precision import Precision
from dmlcheck.specs.load import full_name, load_spec, operator_names
from dmlcheck.specs.names import NEWEST_LEVEL
from dmlcheck.specs.records import INPUT, OUTPUT
from dmlcheck.values.number_formats import NUMPY_TYPES

onnx = pytest.importorskip("onnx", reason="the package onnx is not installed")
runtime = pytest.importorskip("onnxruntime", reason="the package onnxruntime is not installed")

from onnx.reference import ReferenceEvaluator  # noqa: E402

from dmlcheck.implementations.desc_models import refuse_inexact  # noqa: E402
from dmlcheck.implementations.onnxruntime import OnnxRuntime  # noqa: E402
from dmlcheck.onnx.proto import model_proto  # noqa: E402

Array = np.ndarray[Any, Any]
Inputs = dict[str, Any]

Release = tuple[int, ...]
# The first and the last release that this was run with: what a row of KNOWN without releases of its own is known of.
# Newer releases, and other processors, may compute otherwise: what is not explained there is no failure of ours. Older
# ones are not compared: ONNX Runtime 1.23 ends the process on the way.
TRIED: dict[str, tuple[Release, Release]] = {"onnx": ((1, 23), (1, 23)), "onnxruntime": ((1, 32), (1, 32))}
FOUND: dict[str, Release] = {
    name: tuple(map(int, re.findall(r"\d+", package.__version__)[:2]))
    for name, package in (("onnx", onnx), ("onnxruntime", runtime))
}
IS_X86 = platform.machine().lower() in ("x86_64", "amd64")

# ---- descs: those that are drawn, and for operators over elements every choice of data types and several of attributes

DRAWN = (
    *("BATCH_NORMALIZATION", "BATCH_NORMALIZATION_TRAINING", "LOCAL_RESPONSE_NORMALIZATION", "LP_NORMALIZATION"),
    *("MEAN_VARIANCE_NORMALIZATION", "MEAN_VARIANCE_NORMALIZATION1", "MEAN_VARIANCE_NORMALIZATION2"),
    *("CONVOLUTION", "CONVOLUTION_INTEGER", "GEMM", "MATRIX_MULTIPLY_INTEGER", "MATRIX_MULTIPLY_INTEGER_TO_FLOAT"),
    *("QUANTIZED_LINEAR_CONVOLUTION", "QUANTIZED_LINEAR_MATRIX_MULTIPLY"),
    *("DEQUANTIZE", "DYNAMIC_QUANTIZE_LINEAR", "QUANTIZE"),
    *("AVERAGE_POOLING", "AVERAGE_POOLING1", "LP_POOLING", "LP_POOLING1"),
    *("MAX_POOLING", "MAX_POOLING1", "MAX_POOLING2", "MAX_UNPOOLING", "QUANTIZED_LINEAR_AVERAGE_POOLING"),
    *("ROI_ALIGN", "ROI_ALIGN1", "ROI_POOLING"),
    *(RESAMPLING := ("RESAMPLE", "RESAMPLE1", "RESAMPLE2", "RESAMPLE3", "UPSAMPLE_2D")),
    *("DEPTH_TO_SPACE", "DEPTH_TO_SPACE1", "JOIN", "PADDING", "PADDING1", "REVERSE_SUBSEQUENCES"),
    *("SLICE", "SLICE1", "SLICE_GRAD", "SPACE_TO_DEPTH", "SPACE_TO_DEPTH1", "SPLIT", "TILE", "FOLD", "UNFOLD"),
    *("GATHER", "GATHER_ELEMENTS", "GATHER_ND", "GATHER_ND1", "NONZERO_COORDINATES"),
    *("ONE_HOT", "SCATTER", "SCATTER_ND", "TOP_K", "TOP_K1", "CUMULATIVE_PRODUCT", "CUMULATIVE_SUMMATION"),
    *("DIAGONAL_MATRIX", "DIAGONAL_MATRIX1", "FILL_VALUE_CONSTANT", "FILL_VALUE_SEQUENCE", "VALUE_SCALE_2D"),
    *(RECURRENCES := ("GRU", "LSTM", "RNN")),
    *("MULTIHEAD_ATTENTION", "MULTIHEAD_ATTENTION1"),
)
GROUPS = ("ELEMENT_WISE_", "ACTIVATION_", "REDUCE", "ARGMAX", "ARGMIN", "CAST", *DRAWN)
DRAWS = 40
# Values of fields that ONNX has; most of what is drawn has others.
FUSED = {"FusedActivation": (None, {"Type": "ACTIVATION_RELU"})}
OF_REGIONS: dict[str, tuple[Any, ...]] = {
    "ReductionFunction": ("AVERAGE",),
    "InterpolationMode": ("LINEAR",),
    "SpatialScaleX": (0.25, 1.0),
    "SpatialScaleY": (0.25, 1.0),
    "OutOfBoundsInputValue": (0.0,),
}
WISHES: dict[str, dict[str, tuple[Any, ...]]] = {
    **{name: FUSED for name in DRAWN if "NORMALIZATION" in name or name in ("CONVOLUTION", "GEMM")},
    "BATCH_NORMALIZATION_TRAINING": FUSED | {"FusedAddTensor": (None,)},
    "LOCAL_RESPONSE_NORMALIZATION": {"CrossChannel": (1,)},
    "LP_NORMALIZATION": {"Epsilon": (0.0,)},
    "MATRIX_MULTIPLY_INTEGER_TO_FLOAT": {"BiasTensor": (None,)},
    "ROI_ALIGN": OF_REGIONS,
    "ROI_ALIGN1": OF_REGIONS
    | {"InputPixelOffset": (0.5, 0.0), "OutputPixelOffset": (-0.5,), "AlignRegionsToCorners": (0,)},
}
EDGES = ("TOP_K", "TOP_K1", "NONZERO_COORDINATES", "CUMULATIVE_PRODUCT", "CUMULATIVE_SUMMATION")
MOVED = (
    *("DEPTH_TO_SPACE", "DEPTH_TO_SPACE1", "JOIN", "PADDING", "PADDING1", "REVERSE_SUBSEQUENCES"),
    *("SLICE", "SLICE1", "SLICE_GRAD", "SPACE_TO_DEPTH", "SPACE_TO_DEPTH1", "SPLIT", "TILE", "UNFOLD"),
)
LARGEST = 2**12  # elements of a tensor of a bundled case
LARGEST_OF_RECURRENCES = 2**10  # onnx's evaluator takes long for long sequences


SCALINGS = [None, *({"Scale": scale, "Bias": bias} for scale, bias in ((2, 0), (1, 3), (-1, 0), (0.25, 0)))]

ATTRIBUTES: dict[str, list[dict[str, Any]]] = {
    "ACTIVATION_CELU": [{"Alpha": alpha} for alpha in (1, 0.3, 4, -2)],
    "ACTIVATION_ELU": [{"Alpha": alpha} for alpha in (1, 0.3, -2, 0)],
    "ACTIVATION_HARDMAX1": [{"Axes": axes} for axes in ([1], [0], [0, 1], [2, 0])],
    "ACTIVATION_HARD_SIGMOID": [{"Alpha": a, "Beta": b} for a, b in ((0.2, 0.5), (1, 0), (-0.3, 0.7), (0, 2))],
    "ACTIVATION_HARD_SWISH": [{"Alpha": 1 / 6, "Beta": 0.5}],
    "ACTIVATION_LEAKY_RELU": [{"Alpha": alpha} for alpha in (0.01, -2, 0, 3)],
    "ACTIVATION_LINEAR": [{"Alpha": a, "Beta": b} for a, b in ((1, 0), (0.3, 0), (1, 0.1), (-2, 0.5), (0, 1))],
    "ACTIVATION_LOG_SOFTMAX1": [{"Axes": axes} for axes in ([1], [0], [0, 1], [2, 0])],
    "ACTIVATION_PARAMETRIC_SOFTPLUS": [{"Alpha": a, "Beta": b} for a, b in ((1, 1), (2, 0.5), (-4, 2))],
    "ACTIVATION_SCALED_ELU": [{"Alpha": a, "Gamma": b} for a, b in ((1.6732, 1.0507), (1, 1), (-2, 0.3))],
    "ACTIVATION_SCALED_TANH": [{"Alpha": a, "Beta": b} for a, b in ((1, 0.5), (2, 1), (-4, -2))],
    "ACTIVATION_SHRINK": [{"Bias": a, "Threshold": b} for a, b in ((0, 0.5), (1, 2), (0.3, 0.7), (-2, 0))],
    "ACTIVATION_SOFTMAX1": [{"Axes": axes} for axes in ([1], [0], [0, 1], [2, 0])],
    "ACTIVATION_SOFTPLUS": [{"Steepness": steepness} for steepness in (1, 2, 0.25)],
    "ACTIVATION_SWISH": [{"SigmoidInputScale": scale} for scale in (1, 1.7, -0.5, 0)],
    "ACTIVATION_THRESHOLDED_RELU": [{"Alpha": alpha} for alpha in (1, 0.3, 0)],
    "ARGMAX": [{"Axes": a, "AxisDirection": d} for a in ([1], [0, 2]) for d in ("INCREASING", "DECREASING")],
    "ARGMIN": [{"Axes": a, "AxisDirection": d} for a in ([1], [0, 2]) for d in ("INCREASING", "DECREASING")],
    "ELEMENT_WISE_ADD1": [{}, {"FusedActivation": {"Type": "ACTIVATION_RELU"}}],
    "ELEMENT_WISE_CLIP": [{"Min": a, "Max": b} for a, b in ((0, 6), (-1.5, 0.3), (3, 1), (2, 2))],
    "ELEMENT_WISE_CLIP1": [{"Min": a, "Max": b} for a, b in ((0, 6), (-3, 3), (2, 2))],
    "ELEMENT_WISE_CONSTANT_POW": [{"Exponent": exponent} for exponent in (2, 3, 0.5, -1, 0, 1, 2.5, -0.5, 30)],
    "ELEMENT_WISE_IS_INFINITY": [{"InfinityMode": mode} for mode in ("EITHER", "POSITIVE", "NEGATIVE")],
    "ELEMENT_WISE_ROUND": [{"RoundingMode": "HALVES_TO_NEAREST_EVEN"}],
    "ELEMENT_WISE_THRESHOLD": [{"Min": least} for least in (0, -1.5, 3)],
    "REDUCE": [
        {"Axes": axes, "Function": function}
        for axes in ([1], [0, 2])
        for function in (
            *("ARGMAX", "ARGMIN", "AVERAGE", "L1", "L2", "LOG_SUM", "LOG_SUM_EXP"),
            *("MAX", "MIN", "MULTIPLY", "SUM", "SUM_SQUARE"),
        )
    ],
}


def attributes_of(operator: str) -> Iterator[dict[str, Any]]:
    """Yield attributes to try: those of the table, with and without ScaleBias where the operator has it."""
    spec = load_spec(operator)
    scalings = SCALINGS if "ScaleBias" in spec.fields else [None]
    for given, scaling in itertools.product(ATTRIBUTES.get(spec.short, [{}]), scalings):
        yield given if scaling is None else {**given, "ScaleBias": scaling}


def typed(operator: str) -> list[dict[str, str]]:
    """Return the choices of data types for the tensors of an operator that its rows let through.

    Where tensors are optional, each choice is there without them too.
    """
    spec = load_spec(operator)
    same = [row.args for row in spec.constraints if row.word == "same_data_type" and row.is_unconditional]
    found: list[dict[str, str]] = []
    for table in spec.support:
        row = next(iter(table.rows.values()))
        for types in itertools.product(*(support.types for support in row.values())):
            chosen = dict(zip(row, types, strict=True))
            is_same = all(len({chosen[name] for name in names if name in chosen}) == 1 for names in same)
            if is_same and chosen not in found:
                found.append(chosen)
    optional = {field.name for field in spec.inputs if field.optional}
    fewer = [{name: kind for name, kind in types.items() if name not in optional} for types in found if optional]
    return found + [types for index, types in enumerate(fewer) if types not in fewer[:index]]


# ---- values: the edges of each type, and seeded ones between

HALVES = (0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 7.0, 10.0)
FRACTIONS = (1e-3, 0.1, 1 / 3, 0.75, np.pi / 2, np.pi, 88.7, 91.25, 104.0, 1e4)
WHOLE_EDGES = (0, 1, 2, 3, 5, 7, 8, 31, 32, 63, 100)


@cache
def edges(data_type: str) -> Array:
    """Return the edges of a type: signed zeros, denormals, infinities, NaN, limits, halves, large and small numbers."""
    dtype = NUMPY_TYPES[data_type]
    if dtype.kind != "f":
        limits = np.iinfo(dtype)
        found = {*WHOLE_EDGES, *(-each for each in WHOLE_EDGES), limits.max, limits.max - 1, limits.max // 2 + 1}
        found |= {limits.min, limits.min + 1, 2**24 + 1, 2**31 - 1, 2**53 + 1, 46341, -46341}
        return np.array(sorted(each for each in found if limits.min <= each <= limits.max), dtype)
    about = np.finfo(dtype)
    least, normal = about.smallest_subnormal, about.smallest_normal
    sizes = [dtype.type(each) for each in (*HALVES, *FRACTIONS)]
    sizes += [least, normal - least, normal, about.max, np.nextafter(dtype.type(1), dtype.type(0)), 1 + about.eps]
    sizes += [np.sqrt(about.max), np.sqrt(normal), dtype.type(np.inf)]
    return np.array([*sizes, *(-each for each in sizes), np.nan], dtype)


def between(data_type: str, count: int, seed: int) -> Array:
    """Return ordinary numbers of a type, and for floats as many of all magnitudes."""
    random = np.random.default_rng(seed)
    dtype = NUMPY_TYPES[data_type]
    if dtype.kind != "f":
        limits = np.iinfo(dtype)
        small = random.integers(max(limits.min, -20), 20, count // 2).astype(dtype)
        large = random.integers(limits.min, limits.max, count - count // 2, dtype, endpoint=True)
        return np.concatenate([small, large])
    plain = random.normal(size=count // 2) * 3
    bits = random.integers(0, 1 << 8 * dtype.itemsize, count - count // 2, f"u{dtype.itemsize}")
    return np.concatenate([plain.astype(dtype), bits.view(dtype)])


def elements(data_types: list[str]) -> list[Array]:
    """Return arrays, one for each type: every combination of edges, then what is between, element by element."""
    lists = [np.array([0, 1, 2, 255], np.uint8)] * (len(data_types) - 2) + [edges(kind) for kind in data_types[-2:]]
    grids = np.meshgrid(*lists, indexing="ij")
    return [
        np.concatenate([grid.reshape(-1), between(kind, 400, seed)])
        for seed, (grid, kind) in enumerate(zip(grids, data_types, strict=True))
    ]


def block(data_type: str) -> Array:
    """Return a block to reduce: ordinary numbers, and in its second half edges among them."""
    random = np.random.default_rng(11)
    values = between(data_type, 2 * 8 * 6 * 5, 3)[: 8 * 6 * 5].copy()
    chosen = np.flatnonzero(random.random(values.size) < 0.15)
    chosen = chosen[chosen > values.size // 2]
    values[chosen] = random.choice(edges(data_type), chosen.size)
    return values.reshape(8, 6, 5)


def of_table(operator: str) -> Iterator[tuple[OperatorDesc, Inputs]]:
    """Yield every desc to try of an operator, with its inputs."""
    short = load_spec(operator).short
    if short in DRAWN:
        styles = ("bits",) if short in MOVED else ("edges",) if short in EDGES else ("normal",)
        sizes = TINY if short in RECURRENCES else MODEST
        yield from draws(short, DRAWS, WISHES.get(short), wanted=is_expressible, sizes=sizes, styles=styles)
        return
    for types in typed(operator):
        for attributes in attributes_of(operator):
            made = with_inputs(operator, types, attributes)
            if made is not None:
                yield made


def is_expressible(desc: OperatorDesc) -> bool:
    """Whether ONNX has a desc."""
    try:
        build(desc)
    except Inexpressible:
        return False
    return True


def with_inputs(operator: str, types: dict[str, str], attributes: dict[str, Any]) -> tuple[OperatorDesc, Inputs] | None:
    """Return a desc of these types and attributes with its inputs, or None where it is not valid."""
    spec = load_spec(operator)
    names = [field.name for field in spec.inputs if field.name in types]
    kinds = [types[name] for name in names]
    if "QUANTIZE" in operator:
        arrays = quantization(spec.short, names, kinds)
    elif ("MAX" in spec.short and spec.short.startswith("ACTIVATION")) or spec.short in ("REDUCE", "ARGMAX", "ARGMIN"):
        arrays = [block(kinds[0])]
    else:
        arrays = elements(kinds)
    if "DIVIDE" in operator or "MODULUS" in operator:
        arrays[1] = dividing(*arrays)
    arrays[0] = without_overflow(arrays[0], attributes, FACTORS.get(spec.short, ""))
    inputs = dict(zip(names, arrays, strict=True))
    desc: dict[str, Any] = {**attributes}
    if "MinMaxDataType" in spec.fields:
        desc["MinMaxDataType"] = kinds[0]
    for name, kind in types.items():
        sizes = inputs[name].shape if name in inputs else arrays[0].shape
        if name == "OutputTensor" and not spec.short.startswith(("ACTIVATION", "CAST", "ELEMENT_WISE")):
            sizes = tuple(1 if axis in attributes["Axes"] else size for axis, size in enumerate(sizes))
        desc[name] = {"DataType": kind, "Sizes": list(sizes)}
    made, findings = validation.validate(operator, desc, NEWEST_LEVEL)
    return None if findings or made is None else (made, inputs)


# The field that the elements are multiplied by, in a graph by a node of its own, where that is not ScaleBias.
FACTORS = {
    "ACTIVATION_LINEAR": "Alpha",
    "ACTIVATION_PARAMETRIC_SOFTPLUS": "Beta",
    "ACTIVATION_SCALED_TANH": "Beta",
    "ACTIVATION_SOFTPLUS": "Steepness",
}


def without_overflow(x: Array, attributes: dict[str, Any], name: str) -> Array:
    """Return elements without those whose product with a factor leaves their type, which would be rounded twice."""
    factor = attributes.get(name, attributes.get("ScaleBias", {}).get("Scale", 1))
    if x.dtype.kind != "f" or np.abs(np.frexp(factor)[0]) != 0.5:
        return x
    with np.errstate(all="ignore"):
        product, exact = x * x.dtype.type(factor), x.astype(np.float64) * factor
    return np.where((product == exact) | np.isnan(exact), x, x.dtype.type(1))


def dividing(above: Array, below: Array) -> Array:
    """Return divisors without those of integers that could end the process, whose results are undefined."""
    if below.dtype.kind == "f":
        return below
    deadly = (below == 0) | ((below.astype(np.int64) == -1) & (above == np.iinfo(above.dtype).min))
    return np.where(deadly, 3, below).astype(below.dtype)


def quantization(operator: str, names: list[str], kinds: list[str]) -> list[Array]:
    """Return inputs of the quantizing operators: scales are positive and ordinary."""
    random = np.random.default_rng(5)
    count = 1 if "ADD" in operator else 256
    arrays = []
    for name, kind in zip(names, kinds, strict=True):
        dtype = NUMPY_TYPES[kind]
        if "Scale" in name:
            arrays.append(random.choice([0.1, 0.5, 1.0, 2.0, 3.7], count).astype(dtype))
        elif "ZeroPoint" in name:
            arrays.append(random.integers(max(0, np.iinfo(dtype).min), 100, count, dtype))
        else:
            arrays.append(np.resize(np.concatenate([edges(kind), between(kind, 200, 4)]), 256))
    return arrays


def of_cases(operator: str) -> Iterator[tuple[OperatorDesc, Inputs]]:
    """Yield the descs of the bundled cases of an operator with their inputs."""
    for case in cases_of(operator):
        if case.inputs is None or case.invalid is not None:
            continue
        desc, findings = validation.validate(case.operator, case.desc, case.level)
        largest = LARGEST_OF_RECURRENCES if desc is not None and desc.spec.short in RECURRENCES else LARGEST
        if desc is None or findings or any(part.tensor.element_count > largest for part in desc.tensors()):
            continue
        prepared = prepare(case)
        assert not prepared.findings, case.id
        yield desc, prepared.inputs


# ---- the comparison


class Seen(NamedTuple):
    """A result of another program beside ours, for what KNOWN says of it."""

    desc: OperatorDesc
    inputs: Inputs
    expected: Array

    @property
    def x(self) -> Array:
        """The first input in FLOAT64, after ScaleBias."""
        x: Array = next(iter(self.inputs.values())).astype(np.float64)
        change = self.desc.values.get("ScaleBias")
        return x if change is None else x * change.Scale + change.Bias

    @property
    def most(self) -> float:
        """The largest number of the first input's type."""
        return float(np.finfo(next(iter(self.inputs.values())).dtype).max)

    def value(self, name: str) -> Any:
        """Return a field."""
        return self.desc.values[name]

    def reduced(self, ufunc: np.ufunc, values: Array) -> Array:
        """Return a reduction along Axes in FLOAT64."""
        result: Array = ufunc.reduce(values, tuple(self.value("Axes")), keepdims=True)
        return result


def by_label(inputs: Inputs) -> dict[str, Array]:
    """Return each array by its label: those of an array of tensors one by one."""
    lists = {name: values for name, values in inputs.items() if isinstance(values, list)}
    parts = {f"{name}[{index}]": part for name, values in lists.items() for index, part in enumerate(values)}
    return {name: values for name, values in inputs.items() if name not in lists} | parts


# MaxPool takes the padding of one dimension for another's, also in the sizes; the other one is not there. With
# ceil_mode the average and the norm of a rest are multiplied by what it lacks.
# GatherElements takes the size from an index that is outside until it is inside, which may not end.
WITHOUT = ("GatherElements", "MaxPool", "MaxRoiPool")


def ignores(node: ExportedNode) -> bool:
    """Whether onnx's evaluator ignores a part of a recurrence: lengths, activations but its own, clip, input_forget."""
    ways = 2 if node.attributes["direction"] == "bidirectional" else 1
    own = {"RNN": ["Tanh"], "GRU": ["Sigmoid", "Tanh"], "LSTM": ["Sigmoid", "Tanh", "Tanh"]}[node.type]
    has_lengths = len(node.inputs) > 4 and node.inputs[4] != ""
    is_changed = node.attributes.get("clip") is not None or node.attributes.get("input_forget", 0) != 0
    return has_lengths or is_changed or node.attributes["activations"] != own * ways


class Evaluator:
    """onnx's own evaluator of models, on NumPy."""

    def run(self, desc: OperatorDesc, inputs: Inputs) -> dict[str, Array]:
        """Return the outputs of a desc; Failure where the evaluator raises."""
        graph = build(desc)
        if any("." in node.type for node in graph.nodes):
            raise Unsupported("an operator of onnxruntime's own")
        if any(node.type in WITHOUT or node.attributes.get("ceil_mode") for node in graph.nodes):
            raise Unsupported("an operator that the evaluator does not have, or that it computes wrong")
        if any(node.type in RECURRENCES and ignores(node) for node in graph.nodes):
            raise Unsupported("a recurrence of which the evaluator ignores a part")
        refuse_inexact(graph, inputs)
        evaluator = ReferenceEvaluator(model_proto(with_bytes(graph)))
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                values = evaluator.run(None, by_label(inputs))
            except Exception as error:
                raise Failure(f"{type(error).__name__}: {error}") from error
        return dict(zip((value.name for value in graph.outputs), values, strict=True))


PROGRAMS = ("onnxruntime", "onnx")


class Known(NamedTuple):
    """A disagreement that is explained: of which programs, in which operators, for which data types of the first input.

    `where` gives the elements that may differ. `fails` is in the place of that where there is no result to compare, and
    is found in the message. Each row has to be seen for each of these, by the releases that it is known of: those
    from `since` on, up to `until`.
    """

    programs: tuple[str, ...]
    operators: tuple[str, ...]
    types: tuple[str, ...]
    why: str
    where: Callable[[Seen], Any] = lambda seen: False  # noqa: ARG005
    fails: str = ""
    since: Release | None = None
    until: Release | None = None

    def is_of(self, release: Release) -> bool:
        """Whether a release may differ so: one that is not tried yet may, where the last that was did."""
        return (self.since is None or self.since <= release) and (self.until is None or release <= self.until)


def is_tried(program: str, release: Release) -> bool:
    """Whether it is known of a release of a program on this machine what differs."""
    first, last = TRIED[program]
    return IS_X86 and first <= release <= last


FLOATS = ("FLOAT32", "FLOAT16")


def quotient(seen: Seen) -> Array:
    """Return x / Scale, divided in the type of the scales."""
    x, scale = (seen.inputs[name] for name in ("InputTensor", "ScaleTensor"))
    divided: Array = (x.astype(scale.dtype) / scale).astype(np.float64)
    return divided


def quotient_of_sum(seen: Seen) -> Any:
    """Return the sum of two quantized tensors by the scale of the output."""
    given = {name: values.astype(np.float64) for name, values in seen.inputs.items()}
    first, second = (
        (given[f"{n}Tensor"] - given.get(f"{n}ZeroPointTensor", 0)) * given[f"{n}ScaleTensor"] for n in "AB"
    )
    return (first + second) / given["OutputScaleTensor"]


def beyond_whole(seen: Seen) -> Any:
    """Where integers that are added or multiplied in FLOAT64 are no longer exact, or no longer of their type."""
    sizes, most = np.abs(seen.x), 2.0**53 if seen.expected.dtype == np.int64 else 2.0**31
    match seen.value("Function"):
        case "SUM" | "L1":
            return seen.reduced(np.add, sizes) >= most
        case "SUM_SQUARE":
            return seen.reduced(np.add, sizes**2) >= most
        case "MULTIPLY":
            return seen.reduced(np.multiply, np.maximum(sizes, 1)) >= most
    return False


def products_beyond_type(seen: Seen) -> Any:
    """Whether a sum of products of the first two inputs may be infinite on the way."""
    first, second = list(seen.inputs.values())[:2]
    a, b = (np.abs(each[np.isfinite(each)]).max(initial=0).astype(np.float64) for each in (first, second))
    return a * b * min(first.size, second.size) > seen.most


def leaves_range(seen: Seen) -> Any:
    """Where a float on the way is infinite or denormal."""
    about = np.finfo(next(iter(seen.inputs.values())).dtype)
    sizes = np.abs(seen.x)
    match seen.value("Function"):
        case "L2":
            squares = seen.reduced(np.add, sizes**2)
            return (squares > about.max) | (squares < about.smallest_normal)
        case "MULTIPLY":
            large = seen.reduced(np.multiply, np.maximum(sizes, 1))
            small = seen.reduced(np.multiply, np.minimum(sizes, 1))
            return (large > about.max) | (small < about.smallest_normal)
        case "SUM" | "AVERAGE":
            return seen.reduced(np.add, sizes) > about.max
    return False


@cache
def limits_pairs() -> bool:
    """Whether onnxruntime limits sums of two products of UINT8 and INT8 to INT16, as it does by AVX2."""
    tensors = {name: {"DataType": kind, "Sizes": [2, 2]} for name, kind in PAIRED.items()}
    desc = valid("MATRIX_MULTIPLY_INTEGER", tensors)
    inputs = {"ATensor": np.full((2, 2), 255, np.uint8), "BTensor": np.full((2, 2), 127, np.int8)}
    found = OnnxRuntime().run(desc, inputs)["OutputTensor"]
    return bool((found == np.iinfo(np.int16).max).all())


PAIRED = {"ATensor": "UINT8", "BTensor": "INT8", "OutputTensor": "INT32"}


def exceeds_pairs(seen: Seen) -> bool:
    """Whether two products of a UINT8 tensor and an INT8 tensor may add up to more than INT16 holds."""
    factors = [
        seen.inputs[name] for name in ("ATensor", "BTensor", "InputTensor", "FilterTensor") if name in seen.inputs
    ]
    first, second = (np.abs(factor.astype(np.int64)).max() for factor in factors)
    are_mixed = {factor.dtype for factor in factors} == {np.dtype(np.uint8), np.dtype(np.int8)}
    return are_mixed and 2 * first * second > np.iinfo(np.int16).max


def has_rows(seen: Seen) -> bool:
    """Whether there is a zero point or a scale for each row of A."""
    return any(seen.inputs[name].size > 1 for name in ("AZeroPointTensor", "AScaleTensor") if name in seen.inputs)


def batch_beyond_float16(seen: Seen) -> Any:
    """Where a difference, or a variance with Epsilon, is infinite in FLOAT16."""
    mean, variance = (seen.inputs[name].astype(np.float64) for name in ("MeanTensor", "VarianceTensor"))
    return (np.abs(seen.x - mean) > FLOAT16_MOST) | (variance + seen.value("Epsilon") > FLOAT16_MOST)


def squares_beyond_float16(seen: Seen) -> Any:
    """Whether the square of an element is infinite in FLOAT16."""
    return np.max(np.abs(seen.x)) ** 2 > FLOAT16_MOST


def is_far_from_0(seen: Seen) -> Any:
    """Whether the mean of what is normalized is so large that the mean of the squares loses the variance."""
    x, axes = seen.x.astype(np.float64), tuple(seen.value("Axes"))
    return x.mean(axis=axes, keepdims=True) ** 2 > 2.0**16 * x.var(axis=axes, keepdims=True)


def has_function(seen: Seen, name: str) -> bool:
    """Whether an activation with this in its name is one of those of a recurrence."""
    return any(name in each.spec.short for each in seen.value("ActivationDescs"))


FLOAT16_MOST = 65504.0


def is_spread(seen: Seen) -> bool:
    """Whether a window has gaps, in other than two spatial dimensions."""
    dimensions = zip(seen.value("WindowSizes"), seen.value("Dilations"), strict=True)
    return seen.expected.ndim != 4 and any(size > 1 and gap > 1 for size, gap in dimensions)


KNOWN = [
    Known(
        ("onnxruntime",),
        ("FOLD",),
        FLOATS,
        "in one spatial dimension, and in three or more, puts the elements of a window with gaps in wrong places",
        is_spread,
    ),
    Known(
        PROGRAMS,
        ("ACTIVATION_CELU",),
        ("FLOAT32",),
        "computes the exponential in FLOAT32, where it may be infinite and its product with Alpha not",
        lambda seen: seen.x / seen.value("Alpha") > np.log(np.finfo(np.float32).max),
    ),
    Known(
        ("onnx",),
        ("ACTIVATION_ELU",),
        FLOATS,
        "multiplies 0 by Alpha too, which gives NaN for an infinite one; the formula has x at 0",
        lambda seen: (seen.x == 0) & np.isinf(seen.value("Alpha")),
    ),
    Known(
        ("onnx",),
        ("ACTIVATION_LEAKY_RELU",),
        FLOATS,
        "adds 0 * Alpha to x above 0, which gives NaN for an infinite Alpha; the formula has x there",
        lambda seen: (seen.x >= 0) & np.isinf(seen.value("Alpha")),
    ),
    Known(
        ("onnx",),
        ("ACTIVATION_LOG_SOFTMAX", "ACTIVATION_LOG_SOFTMAX1"),
        FLOATS,
        "takes the logarithm of the softmax, which is denormal or 0 there",
        lambda seen: seen.expected < np.log(np.finfo(seen.expected.dtype).smallest_normal),
    ),
    Known(
        ("onnx",),
        ("ACTIVATION_PARAMETERIZED_RELU",),
        FLOATS,
        "multiplies 0 by the slope too, which gives NaN for one that is not finite; the formula has x at 0",
        lambda seen: (seen.x == 0) & ~np.isfinite(seen.inputs["SlopeTensor"]),
    ),
    Known(
        ("onnxruntime",),
        ("ACTIVATION_SIGMOID",),
        ("FLOAT32",),
        "a rational approximation whose error is absolute, up to 1.6e-7: too many units in the last place below 1/16",
        lambda seen: seen.expected < 2**-4,
    ),
    Known(
        ("onnxruntime",),
        ("ACTIVATION_SWISH",),
        FLOATS,
        "x times a sigmoid whose error is absolute, up to 1.6e-7: too many units in the last place below 1/16",
        lambda seen: seen.x * seen.value("SigmoidInputScale") < -2.7,
    ),
    Known(
        ("onnx",),
        ("ELEMENT_WISE_POW",),
        ("INT32",),
        "NumPy raises no integers to negative powers, whatever the base",
        fails="ValueError: Integers to negative integer powers are not allowed",
    ),
    Known(
        ("onnx",),
        ("ELEMENT_WISE_QUANTIZE_LINEAR",),
        ("FLOAT32", "FLOAT16", "INT32"),
        "quotients are made INT32 before they are limited",
        lambda seen: quotient(seen) >= 2**31,
    ),
    Known(
        ("onnxruntime",),
        ("ELEMENT_WISE_QUANTIZED_LINEAR_ADD",),
        ("INT8",),
        "quotients are made INT32 before they are limited",
        lambda seen: quotient_of_sum(seen) >= 2**31,
    ),
    Known(
        ("onnx",),
        ("CONVOLUTION",),
        FLOATS,
        "takes the groups of a transposed convolution apart wrongly",
        lambda seen: seen.value("Direction") == "BACKWARD" and seen.value("GroupCount") > 1,
        fails=r"(?s)'BACKWARD'.*'GroupCount': [2-9].*ValueError",
    ),
    Known(
        ("onnx",),
        ("CONVOLUTION",),
        FLOATS,
        "takes what an output has beyond its windows, by OutputPadding or dilations, off what the filter slides over",
        fails=r"(?s)'BACKWARD'.*ValueError.*number of sliding blocks",
    ),
    Known(
        ("onnx",),
        ("CONVOLUTION_INTEGER", "QUANTIZED_LINEAR_CONVOLUTION"),
        ("INT8", "UINT8"),
        "gives what is one for each output channel two spatial dimensions, where there is one",
        fails="'DimensionCount': 1.*(ValueError|the result is)",
    ),
    Known(
        ("onnx",),
        ("MATRIX_MULTIPLY_INTEGER",),
        ("INT8",),
        "takes what is one for each row of A as one for each column",
        has_rows,
        fails="could not be broadcast together with shapes|doesn't match the broadcast shape",
    ),
    Known(
        ("onnx",),
        ("QUANTIZED_LINEAR_MATRIX_MULTIPLY",),
        ("INT8", "UINT8"),
        "takes what is one for each row of A as one for each column",
        has_rows,
        fails="could not be broadcast together with shapes|doesn't match the broadcast shape",
    ),
    *(
        Known(
            ("onnxruntime",),
            (operator,),
            types,
            "adds products of UINT8 and INT8 in pairs that are limited to INT16, where the processor has no VNNI",
            exceeds_pairs,
        )
        for operator, types in (
            ("CONVOLUTION_INTEGER", ("INT8",)),
            ("MATRIX_MULTIPLY_INTEGER", ("UINT8",)),
            ("QUANTIZED_LINEAR_CONVOLUTION", ("UINT8",)),
            ("QUANTIZED_LINEAR_MATRIX_MULTIPLY", ("UINT8",)),
        )
        if limits_pairs()
    ),
    Known(
        ("onnxruntime",),
        ("REDUCE",),
        ("INT32", "INT64"),
        "adds and multiplies integers in FLOAT64, and limits the result to the type instead of wrapping",
        beyond_whole,
    ),
    Known(
        ("onnxruntime",),
        ("REDUCE",),
        ("FLOAT32",),
        "squares and multiplies in FLOAT32, where what is on the way is infinite, or denormal",
        leaves_range,
    ),
    Known(
        ("onnx",),
        ("REDUCE",),
        FLOATS,
        "adds, squares and multiplies in the type itself, where what is on the way is infinite, or denormal",
        leaves_range,
    ),
    Known(
        ("onnx",),
        ("REDUCE",),
        FLOATS,
        "subtracts the largest element, which gives NaN if it is infinite",
        lambda seen: seen.value("Function") == "LOG_SUM_EXP" and np.isinf(seen.reduced(np.maximum, seen.x)),
    ),
    Known(
        ("onnx",),
        ("REDUCE",),
        ("INT32", "UINT32"),
        "NumPy adds 32-bit integers in 64 bits, and the sum of squares stays there",
        fails=r"SUM_SQUARE.*: the result is u?int64 .* instead of u?int32",
    ),
    Known(
        ("onnx",),
        ("BATCH_NORMALIZATION",),
        ("FLOAT16",),
        "subtracts and adds in FLOAT16, where what is on the way is infinite",
        batch_beyond_float16,
    ),
    Known(
        ("onnx",),
        (
            "BATCH_NORMALIZATION_TRAINING",
            "LP_NORMALIZATION",
            "MEAN_VARIANCE_NORMALIZATION",
            "MEAN_VARIANCE_NORMALIZATION1",
            "MEAN_VARIANCE_NORMALIZATION2",
        ),
        ("FLOAT16",),
        "squares in FLOAT16, where what is on the way is infinite",
        squares_beyond_float16,
    ),
    Known(
        PROGRAMS,
        ("CONVOLUTION", "GEMM"),
        ("FLOAT32",),
        "adds in FLOAT32 and multiplies by Alpha last, where a sum is infinite on the way",
        products_beyond_type,
    ),
    Known(
        PROGRAMS,
        ("MEAN_VARIANCE_NORMALIZATION1", "MEAN_VARIANCE_NORMALIZATION2"),
        ("FLOAT32",),
        "the variance is the mean of the squares less the square of the mean",
        is_far_from_0,
    ),
    Known(
        ("onnx",),
        ("LOCAL_RESPONSE_NORMALIZATION",),
        FLOATS,
        "takes the size of the batch for the number of channels: the sums of the others stay 0",
        lambda seen: np.arange(seen.x.shape[1])[:, None, None] >= seen.x.shape[0],
    ),
    Known(
        ("onnx",),
        ("LOCAL_RESPONSE_NORMALIZATION",),
        FLOATS,
        "takes the size of the batch for the number of channels, which may be less",
        fails="IndexError: index .* is out of bounds for axis 1",
    ),
    Known(
        ("onnx",),
        ("LOCAL_RESPONSE_NORMALIZATION",),
        ("FLOAT16",),
        "squares in FLOAT16, where what is on the way is infinite",
        squares_beyond_float16,
    ),
    Known(
        ("onnxruntime",),
        ("LOCAL_RESPONSE_NORMALIZATION",),
        FLOATS,
        "subtracts the squares that leave the region from a running sum, and after large ones the small ones are lost",
        lambda seen: np.abs(seen.x).max(axis=1, keepdims=True) > np.abs(seen.x),
    ),
    Known(
        PROGRAMS,
        ("LOCAL_RESPONSE_NORMALIZATION",),
        ("FLOAT32",),
        "computes squares in FLOAT32, where they may be infinite",
        lambda seen: np.abs(seen.x).max(axis=1, keepdims=True) > np.sqrt(np.finfo(np.float32).max) / 2,
    ),
    Known(
        ("onnxruntime",),
        ("MAX_UNPOOLING",),
        FLOATS,
        "refuses an index beyond the output",
        fails="Index value out of bounds",
    ),
    Known(
        ("onnx",),
        ("MAX_UNPOOLING",),
        FLOATS,
        "takes no index beyond the output",
        fails="IndexError: index .* is out of bounds for axis 0",
    ),
    Known(
        ("onnx",),
        ("LP_NORMALIZATION",),
        FLOATS,
        "adds up the elements instead of their magnitudes",
        lambda seen: seen.value("P") == 1 and bool((seen.x < 0).any()),
    ),
    Known(
        ("onnx",),
        ("QUANTIZE",),
        FLOATS,
        "quotients are made INT32 before they are limited",
        lambda seen: seen.x >= 2**20,
    ),
    Known(
        PROGRAMS,
        ("AVERAGE_POOLING", "AVERAGE_POOLING1"),
        ("FLOAT32",),
        "adds in FLOAT32, where the sum is infinite",
        lambda seen: np.max(np.abs(seen.x)) >= 2.0**127,
    ),
    *(
        Known(
            (program,),
            ("LP_POOLING", "LP_POOLING1"),
            types,
            "takes powers in the type itself, where they are infinite",
            lambda seen: np.isfinite(seen.x).all() and np.max(np.abs(seen.x)) ** seen.value("P") > seen.most,
        )
        for program, types in (("onnxruntime", ("FLOAT32",)), ("onnx", FLOATS))
    ),
    Known(
        ("onnx",),
        ("AVERAGE_POOLING", "AVERAGE_POOLING1", "LP_POOLING", "LP_POOLING1"),
        FLOATS,
        "takes NaN for padding",
        lambda seen: np.isnan(seen.expected),
    ),
    Known(
        ("onnx",),
        RESAMPLING,
        FLOATS,
        "multiplies all elements with weights, most of them 0, and limits results to finite numbers",
        lambda seen: not np.isfinite(seen.x).all(),
    ),
    Known(
        PROGRAMS,
        ("ROI_ALIGN", "ROI_ALIGN1"),
        FLOATS,
        "refuses regions that are not finite",
        fails="onnxruntime: .*running RoiAlign node|onnx: .*cannot convert float NaN to integer",
    ),
    Known(
        ("onnxruntime",),
        ("MAX_POOLING",),
        ("FLOAT32",),
        "pads with the lowest finite number, which is above -infinity",
        lambda seen: np.isneginf(seen.expected),
    ),
    Known(
        ("onnxruntime",),
        ("ROI_POOLING",),
        FLOATS,
        "refuses numbers of images that there are not",
        fails="running MaxRoiPool node",
    ),
    Known(
        ("onnxruntime",),
        ("ROI_POOLING",),
        ("FLOAT32",),
        "begins with the lowest finite number, which is above -infinity",
        lambda seen: np.isneginf(seen.expected),
    ),
    Known(
        ("onnxruntime",),
        ("LSTM",),
        FLOATS,
        "without a threshold it clips sums at the largest number, which makes numbers of infinity and NaN",
        lambda seen: any(not np.isfinite(x).all() for x in seen.inputs.values()),
    ),
    Known(
        ("onnxruntime",),
        ("GRU",),
        FLOATS,
        "without a threshold it clips sums at the largest number, which makes numbers of infinity and NaN",
        lambda seen: ~np.isfinite(seen.expected) | any(not np.isfinite(x).all() for x in seen.inputs.values()),
    ),
    Known(
        ("onnxruntime",),
        ("GRU",),
        FLOATS,
        "a softplus whose exponential overflows above 88",
        lambda seen: (np.abs(seen.expected).max() > 88) & has_function(seen, "SOFTPLUS"),
    ),
    Known(
        ("onnxruntime",),
        ("GATHER", "GATHER_ELEMENTS", "GATHER_ND", "GATHER_ND1", "SCATTER", "SCATTER_ND"),
        ("FLOAT32",),
        "refuses an index that is outside",
        fails="out of data bounds|invalid ind|Out of range",
    ),
    Known(
        ("onnx",),
        ("GATHER", "GATHER_ND", "GATHER_ND1", "SCATTER", "SCATTER_ND"),
        ("FLOAT32",),
        "refuses an index that is outside",
        fails="IndexError",
    ),
    Known(
        ("onnx",),
        ("ONE_HOT",),
        ("INT32", "INT64", "UINT32", "UINT64"),
        "computes off + (on - off) * 0 or 1, in which a small value is lost beside a large one, and digits of any",
        lambda seen: seen.inputs["ValuesTensor"].dtype.kind == "f",
    ),
]


# ---- the test


OPERATORS = [
    name
    for name in operator_names()
    if (short := load_spec(name).short).startswith(GROUPS) and short in mappings() and load_spec(name).kernel
]


class Tally(NamedTuple):
    """What the comparisons of an operator found: how many results, what is not explained, and which rows were met."""

    compared: dict[str, int]
    unexplained: list[str]
    met: set[tuple[str, int, str]]


def crosscheck(operator: str, programs: dict[str, Any]) -> Tally:
    """Compare all results of an operator with those of programs."""
    tally = Tally(dict.fromkeys(programs, 0), [], set())
    for desc, inputs in itertools.chain(of_table(operator), of_cases(operator)):
        expected = Reference().run(desc, inputs)
        for program, implementation in programs.items():
            try:
                actual = implementation.run(desc, inputs)
            except (Inexpressible, Unsupported):
                continue
            except Failure as error:
                judge_failure(program, desc, str(error), tally)
                continue
            tally.compared[program] += 1
            judge(program, desc, inputs, expected, actual, tally)
    return tally


def rows(program: str, desc: OperatorDesc) -> Iterator[tuple[tuple[str, int, str], Known]]:
    """Yield the rows of KNOWN for a program, and a desc, each with what it is met as."""
    kind = (desc.tensors(INPUT) or desc.tensors())[0].tensor.data_type
    for index, known in enumerate(KNOWN):
        is_about = program in known.programs and desc.spec.short in known.operators and kind in known.types
        if is_about and known.is_of(FOUND[program]):
            yield (program, index, kind), known


def judge(
    program: str, desc: OperatorDesc, inputs: Inputs, expected: dict[str, Array], actual: dict[str, Array], tally: Tally
) -> None:
    outputs = {label: (tensor, expected[label]) for label, _, tensor in desc.tensors(OUTPUT)}
    # onnx's evaluator rounds every step to the type of its tensors, where DirectML may accumulate in FLOAT32.
    is_half = any(tensor.data_type == "FLOAT16" for tensor, _ in outputs.values())
    limit = limit_for(desc, None, Precision("FLOAT16" if program == "onnx" and is_half else "FLOAT32"))
    bounds_of = partial(bounds, desc, inputs, precision=limit.precision)
    for label, (found, marks) in compare(outputs, actual, limit, bounds_of).items():
        if found.shape:
            judge_failure(program, desc, f"the result {found.shape}", tally)
        elif marks is not None:
            judge_marks(program, desc, inputs, (expected[label], actual[label]), marks, tally)


def judge_marks(
    program: str, desc: OperatorDesc, inputs: Inputs, pair: tuple[Array, Array], marks: Array, tally: Tally
) -> None:
    """Note the elements outside the tolerance as explained by a row of KNOWN, or as not."""
    refused = marks.copy()
    seen = Seen(desc, inputs, pair[0])
    with np.errstate(all="ignore"):
        for key, known in rows(program, desc):
            explained = refused & known.where(seen)
            if explained.any():
                tally.met.add(key)
                refused &= ~explained
    if refused.any():
        tally.unexplained.append(said(program, desc, inputs, pair, refused))


def judge_failure(program: str, desc: OperatorDesc, message: str, tally: Tally) -> None:
    text = f"{program}: {described(desc)}: {message}"
    for key, known in rows(program, desc):
        if known.fails and re.search(known.fails, text):
            tally.met.add(key)
            return
    tally.unexplained.append(text)


def described(desc: OperatorDesc) -> str:
    fields = {name: value for name, value in desc.values.items() if not desc.spec.fields[name].is_tensor}
    return f"{'/'.join(part.tensor.data_type for part in desc.tensors())} {fields or ''}"


def said(program: str, desc: OperatorDesc, inputs: Inputs, pair: tuple[Array, Array], refused: Array) -> str:
    """Return a disagreement in words: the first element of those that differ."""
    place = tuple(int(each) for each in np.argwhere(refused)[0])
    given = [values[place].item() for values in by_label(inputs).values() if values.shape == refused.shape]
    ours, theirs = (values[place].item() for values in pair)
    return (
        f"{program}: {described(desc)}: {int(refused.sum())} of {refused.size} elements, first {list(place)}: "
        f"{given} gives {theirs!r} there and {ours!r} here"
    )


# What only one of the two programs has: an operator of onnxruntime's own, or one that the evaluator computes wrong.
ONE_PROGRAM = {
    "DML_OPERATOR_GATHER_ELEMENTS",
    "DML_OPERATOR_ELEMENT_WISE_QUANTIZED_LINEAR_ADD",
    "DML_OPERATOR_MATRIX_MULTIPLY_INTEGER_TO_FLOAT",
    "DML_OPERATOR_MAX_POOLING",
    "DML_OPERATOR_MAX_POOLING1",
    "DML_OPERATOR_MAX_POOLING2",
    "DML_OPERATOR_MULTIHEAD_ATTENTION",
    "DML_OPERATOR_MULTIHEAD_ATTENTION1",
    "DML_OPERATOR_QUANTIZED_LINEAR_AVERAGE_POOLING",
    "DML_OPERATOR_ROI_POOLING",
}


def test_what_is_known_is_about_operators_that_are_compared() -> None:
    assert {full_name(operator) for known in KNOWN for operator in known.operators} <= set(OPERATORS)
    assert len(OPERATORS) >= 89


@pytest.mark.slow
@pytest.mark.parametrize("operator", OPERATORS)
def test_the_reference_and_two_other_programs_agree_but_where_it_is_known_why(operator: str) -> None:
    made = dict(zip(PROGRAMS, (OnnxRuntime(), Evaluator()), strict=True))
    programs = {program: made[program] for program in PROGRAMS if FOUND[program] >= TRIED[program][0]}
    if not programs:
        pytest.skip(f"{FOUND} are older than what was tried")
    tally = crosscheck(operator, programs)
    tried = [program for program in PROGRAMS if is_tried(program, FOUND[program])]
    assert [text for text in tally.unexplained if text.startswith(tuple(f"{program}:" for program in tried))] == []
    unmet = [
        f"{program}: {kind}: {known.why}"
        for index, known in enumerate(KNOWN)
        if operator in map(full_name, known.operators)
        for program in known.programs
        for kind in known.types
        if program in tried and known.is_of(FOUND[program]) and (program, index, kind) not in tally.met
    ]
    assert unmet == [], "what is listed as a disagreement is none any more"
    assert all(tally.compared.values()) or operator in ONE_PROGRAM, tally.compared
    if tally.unexplained:
        pytest.xfail(f"not tried with {FOUND} on {platform.machine()}: {tally.unexplained[0]}")


def test_rows_are_known_of_releases() -> None:
    known = Known(("onnx",), ("REDUCE",), ("FLOAT32",), "why", since=(1, 20), until=(1, 23))
    assert [known.is_of(release) for release in ((1, 19), (1, 20), (1, 23), (1, 24))] == [False, True, True, False]
    assert known._replace(until=None).is_of((2, 0))
    assert known._replace(since=None).is_of((1, 0))
    assert all(known.is_of(TRIED[program][1]) or known.until for known in KNOWN for program in known.programs)


@pytest.mark.slow
def test_a_difference_of_a_newer_release_fails_no_test(monkeypatch: pytest.MonkeyPatch) -> None:
    operator = "DML_OPERATOR_LP_NORMALIZATION"  # onnx adds up elements instead of magnitudes
    monkeypatch.setitem(globals(), "KNOWN", [])
    monkeypatch.setitem(FOUND, "onnx", (99, 0))
    monkeypatch.setitem(FOUND, "onnxruntime", (99, 0))
    with pytest.raises(pytest.xfail.Exception, match="not tried with"):
        test_the_reference_and_two_other_programs_agree_but_where_it_is_known_why(operator)
    monkeypatch.setitem(FOUND, "onnx", TRIED["onnx"][1])
    if IS_X86:
        with pytest.raises(AssertionError):
            test_the_reference_and_two_other_programs_agree_but_where_it_is_known_why(operator)
