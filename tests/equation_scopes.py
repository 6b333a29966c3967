"""What names in the equations of specs/about are for a case: elements of tensors, ranges of variables, attributes.

`pairs` yields each element of the first output as the operator's equations give it, beside the written one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from equation_gradients import averaged_back, largest_back, local_back, resampled_back, restored, trained_back
from equation_networks import attended, normalized, products, recurrent
from equation_regions import cropped, cropped_back, pooled_regions
from equation_tensors import Names, Pair, array, attributes_of, checked, inputs_of, output_of, places, reads
from equations import RANGE, Lazy, computed, elements, parts_of

from dmlcheck.cases.records import Case
from dmlcheck.specs.load import load_spec
from dmlcheck.specs.names import integer_range

# ---- groups along axes


def along(axes: Sequence[int], sizes: Sequence[int]) -> Callable[[Mapping[str, Any]], Any]:
    """Return the places of a group, that of the place `i` along some axes."""
    others = [axis for axis in range(len(sizes)) if axis not in axes]
    return lambda names: [k for k in places(sizes) if all(k[axis] == names["i"][axis] for axis in others)]


def grouped(case: Case, equations: Sequence[str]) -> Iterator[Pair]:
    """Operators whose element i is made of a group along Axes, or along Axis or the last dimension."""
    x = inputs_of(case)["InputTensor"]
    axes = case.desc.get("Axes", [case.desc.get("Axis", x.ndim - 1)])
    group = along(axes, x.shape)
    first = Lazy(lambda names: max(group(names), key=lambda k: float(x[k])))  # max keeps the first of equal ones
    names = {**attributes_of(case), "x": reads(x), RANGE + "j": group, "m": first}
    return checked(equations, {"i": places(x.shape)}, names, reads(output_of(case)))


def reduced(case: Case, equations: Sequence[str]) -> Iterator[Pair]:
    """REDUCE: the equation of the function, for a group along Axes; an index is not computed."""
    x, y, function = inputs_of(case)["InputTensor"], output_of(case), case.desc["Function"]
    own = [part.partition(": } ")[2] for part in parts_of(equations) if part.startswith(rf"\text{{{function}: ")]
    for place in places(y.shape):
        group = along(case.desc["Axes"], x.shape)({"i": place})
        names = {"x": reads(x), "n": len(group), RANGE + "i": group}
        yield from checked(own, {}, names, lambda place=place: float(y[place]))


def of_rows(case: Case, equations: Sequence[str]) -> Iterator[Pair]:
    """LP_NORMALIZATION and LOCAL_RESPONSE_NORMALIZATION: one element, and those around it."""
    x, y = inputs_of(case)["InputTensor"], output_of(case)
    half = case.desc.get("LocalSize", 0) // 2
    for place in places(x.shape):
        row = along([case.desc.get("Axis", 1)], x.shape)({"i": place})
        near = [k for k in row if not half or abs(k[1] - place[1]) <= half]
        names = {**attributes_of(case), "x": float(x[place]), "x_": reads(x), RANGE + "j": near}
        yield from checked(equations, {}, names, lambda place=place: float(y[place]))


def sequences(case: Case, equations: Sequence[str]) -> Iterator[Pair]:
    """REVERSE_SUBSEQUENCES: each sequence along Axis with its length."""
    given, axis = inputs_of(case), case.desc["Axis"]
    lines, written = (np.moveaxis(values, axis, -1) for values in (given["InputTensor"], output_of(case)))
    lengths = np.moveaxis(given["SequenceLengthsTensor"], axis, -1)[..., 0]
    for place in places(lengths.shape):
        names = {"Input": reads(lines[place]), "L": int(lengths[place])}
        yield from checked(equations, {"i": range(lines.shape[-1])}, names, reads(written[place]))


# ---- places that move


def separable(case: Case, equations: Sequence[str]) -> Iterator[Pair]:
    """Operators that copy from a place which follows dimension by dimension."""
    x, y = inputs_of(case)["InputTensor"], output_of(case)
    maps = [
        {int(index[0]): int(value) for index, value in elements(equations, {"c": range(y.shape[axis])}, names)}
        for axis, names in enumerate(_of_dimensions(case, x))
    ]
    for place in places(y.shape):
        yield float(x[tuple(one[at] for one, at in zip(maps, place, strict=True))]), float(y[place])


def _of_dimensions(case: Case, x: Any) -> Iterator[Names]:
    """Yield the names of each dimension: one element of each list, and the coordinate for the element at it."""
    for axis, size in enumerate(x.shape):
        lists = {name: value for name, value in case.desc.items() if isinstance(value, list) and len(value) == x.ndim}
        own = {
            name: int(value[axis]) if float(value[axis]).is_integer() else value[axis] for name, value in lists.items()
        }
        yield {**own, "n": size, "Input": lambda at: at, "InputGradient": lambda at: at}


def scattered_slice(case: Case, equations: Sequence[str]) -> Iterator[Pair]:
    """SLICE_GRAD: each gradient goes to a place which follows dimension by dimension, and the rest is 0."""
    x, y = inputs_of(case)["InputGradientTensor"], output_of(case)
    maps = [
        {int(value): int(index[0]) for index, value in elements(equations, {"c": range(x.shape[axis])}, names)}
        for axis, names in enumerate(_of_dimensions(case, x))
    ]
    found = np.zeros(y.shape)
    for place in places(x.shape):
        found[tuple(one[at] for one, at in zip(maps, place, strict=True))] = x[place]
    yield from zip(found.ravel().tolist(), y.astype(float).ravel().tolist(), strict=True)


def interpolated(case: Case, equations: Sequence[str]) -> Iterator[Pair]:
    """RESAMPLE to RESAMPLE3: the equation along each dimension, one after another."""
    x, y = inputs_of(case)["InputTensor"], output_of(case)
    ordered = sorted(equations, key=lambda text: not text.startswith("y_o"))
    for axis in range(x.ndim):
        x = np.apply_along_axis(lambda line, axis=axis: _resized(case, ordered, line, y.shape[axis], axis), axis, x)
    yield from zip(x.ravel().tolist(), y.astype(float).ravel().tolist(), strict=True)


def _resized(case: Case, equations: Sequence[str], line: Any, size: int, axis: int) -> Any:
    lists = ("Scales", "InputPixelOffsets", "OutputPixelOffsets")
    names = {name: case.desc[name][axis] for name in lists if name in case.desc}
    modes = {name: value for name, value in case.desc.items() if isinstance(value, str)}
    edge = {"Input": lambda at: float(line[min(max(int(at), 0), len(line) - 1)])}
    return [float(value) for _, value in elements(equations, {"o": range(size)}, {**names, **modes, **edge})]


def upsampled(case: Case, equations: Sequence[str]) -> Iterator[Pair]:
    """UPSAMPLE_2D with NEAREST_NEIGHBOR: the last two dimensions."""
    x, y = inputs_of(case)["InputTensor"], output_of(case)
    for plane in places(y.shape[:-2]):
        variables = {"y": range(y.shape[-2]), "x": range(y.shape[-1])}
        yield from checked(equations, variables, {**case.desc["ScaleSize"], "Input": reads(x[plane])}, reads(y[plane]))


def blocks(case: Case, equations: Sequence[str]) -> Iterator[Pair]:
    """DEPTH_TO_SPACE and SPACE_TO_DEPTH: n, c, y, r, x and q of the smaller number of channels."""
    x, y, side = inputs_of(case)["InputTensor"], output_of(case), case.desc["BlockSize"]
    few = min(x.shape[1], y.shape[1])
    height, width = (min(x.shape[axis], y.shape[axis]) for axis in (2, 3))
    counts = {"n": x.shape[0], "c": few, "y": height, "r": side, "x": width, "q": side}
    names = {**attributes_of(case), "B": side, "C": few, "Input": reads(x)}
    return checked(equations, {name: range(count) for name, count in counts.items()}, names, reads(y))


def parts(case: Case, equations: Sequence[str]) -> Iterator[Pair]:
    """JOIN and SPLIT: the whole tensor, and its parts along Axis."""
    axis = case.desc["Axis"]
    name = "InputTensors" if "InputTensors" in case.desc else "OutputTensors"
    side = case.inputs if name == "InputTensors" else case.outputs
    each = [array(*pair) for pair in zip(case.desc[name], (side or {})[name], strict=True)]
    starts = np.cumsum([0, *(part.shape[axis] for part in each)])
    whole = output_of(case) if name == "InputTensors" else inputs_of(case)["InputTensor"]
    names = {"start": lambda k: int(starts[int(k)]), "Input": reads(whole)}
    names["InputTensors"] = lambda k, *place: reads(each[int(k)])(*place)
    for k, part in enumerate(each):
        before, after = places(part.shape[:axis]), places(part.shape[axis + 1 :])
        variables = {"k": [k], "l": before, "i": range(part.shape[axis]), "r": after}
        written = reads(whole) if name == "InputTensors" else names["InputTensors"]
        yield from checked(equations, variables, names, written)


# ---- windows


def windows(case: Case, equations: Sequence[str]) -> Iterator[Pair]:
    """Poolings: a plane at a time."""
    given, y = inputs_of(case), output_of(case)
    x = given.pop("InputTensor")
    window = [np.array(place) for place in places(case.desc["WindowSize"])]
    others = {"OutputZeroPoint": 0, "InputZeroPoint": 0, **attributes_of(case), **_limits(case)}
    counts_all = case.desc.get("IncludePadding", False)
    for plane in places(x.shape[:2]):
        read = reads(x[plane])
        of_channel = {name: values.ravel()[plane[1] % values.size] for name, values in given.items()}
        names = {**others, **{name.removesuffix("Tensor"): float(value) for name, value in of_channel.items()}}
        outside = None if "MAX" in case.operator else names["InputZeroPoint"]
        names |= {"Input": reads(x[plane], outside), RANGE + "w": window}
        start = -names["StartPadding"]
        step = names.get("Dilations", 1)
        names["n_o"] = Lazy(
            lambda names, read=read, start=start, step=step: sum(
                counts_all or read(names["o"] * names["Strides"] + w * step + start) is not None for w in window
            )
        )
        spots = [np.array(place) for place in places(y.shape[2:])]
        yield from checked(equations, {"o": spots}, names, reads(y[plane]))


def convolved(case: Case, equations: Sequence[str]) -> Iterator[Pair]:
    """CONVOLUTION forward and without groups, CONVOLUTION_INTEGER and QUANTIZED_LINEAR_CONVOLUTION."""
    given, y = inputs_of(case), output_of(case)
    x, kernel = given["InputTensor"], given["FilterTensor"]
    names: Names = {**attributes_of(case), "Filter": reads(kernel), "FusedActivation": lambda total: total}
    names["Bias"] = lambda k: float(np.ravel(given.get("BiasTensor", np.zeros(y.shape[1])))[int(k)])
    for name in ("InputZeroPoint", "InputScale", "OutputScale", "OutputZeroPoint"):
        names[name] = float(np.ravel(given.get(f"{name}Tensor", 0))[0])
    for name in ("FilterZeroPoint", "FilterScale"):
        of_channels = np.ravel(given.get(f"{name}Tensor", 0))
        names[name] = lambda k, own=of_channels: float(own[int(k) % own.size])
    names |= _limits(case)
    names[RANGE + "c"] = range(kernel.shape[1])
    names[RANGE + "w"] = [np.array(place) for place in places(kernel.shape[2:])]
    spots = [np.array(place) for place in places(y.shape[2:])]
    equations = [text for text in equations if "BACKWARD" not in text]
    for image in range(x.shape[0]):
        variables = {"k": range(y.shape[1]), "o": spots}
        yield from checked(
            equations, variables, {**names, "Input": reads(x[image], names["InputZeroPoint"])}, reads(y[image])
        )


def unfolded(case: Case, equations: Sequence[str]) -> Iterator[Pair]:
    """UNFOLD of one dimension."""
    x, y = inputs_of(case)["InputTensor"], output_of(case)
    (count,) = case.desc["WindowSizes"]
    names = {name: int(value[0]) for name, value in case.desc.items() if isinstance(value, list)}
    variables = {"n": range(x.shape[0]), "c": range(x.shape[1]), "w": range(count), "b": range(y.shape[2])}
    return checked(equations, variables, {**names, "P": count, "Input": reads(x, 0.0)}, reads(y))


def folded(case: Case, equations: Sequence[str]) -> Iterator[Pair]:
    """FOLD of one dimension."""
    x, y = inputs_of(case)["InputTensor"], output_of(case)
    names = {name: int(value[0]) for name, value in case.desc.items() if isinstance(value, list)}
    names |= {"P": names["WindowSizes"], RANGE + "w": range(names["WindowSizes"]), RANGE + "b": range(x.shape[2])}
    variables = {name: range(size) for name, size in zip("nci", y.shape, strict=True)}
    return checked(equations, variables, {**names, "Input": reads(x)}, reads(y))


# ---- matrices, fills and indices


def matrices(case: Case, equations: Sequence[str]) -> Iterator[Pair]:
    """Products of integer matrices, whose scales and zero points are one for all rows or columns."""
    given, y = inputs_of(case), output_of(case)
    names: Names = {"A": reads(given["ATensor"]), "B": reads(given["BTensor"])}
    names[RANGE + "k"] = range(given["ATensor"].shape[1])
    for name in ("AZeroPoint", "BZeroPoint", "AScale", "BScale", "OutputScale", "OutputZeroPoint"):
        value = float(np.ravel(given.get(f"{name}Tensor", 0 if "Zero" in name else 1))[0])
        names[name] = lambda _, value=value: value
    if "BiasTensor" in given:
        names["Bias"] = reads(given["BiasTensor"])
    names |= _limits(case)
    return checked(equations, {"r": range(y.shape[0]), "c": range(y.shape[1])}, names, reads(y))


def _limits(case: Case) -> Names:
    data_type = case.desc[load_spec(case.operator).outputs[0].name]["DataType"]
    return dict(zip(("lo", "hi"), integer_range(data_type), strict=True)) if "INT" in data_type else {}


def diagonals(case: Case, equations: Sequence[str]) -> Iterator[Pair]:
    """DIAGONAL_MATRIX and DIAGONAL_MATRIX1 of two dimensions."""
    y = output_of(case)
    begin, end = (case.desc.get(f"DiagonalFill{which}", 0) for which in ("Begin", "End"))
    names = {**attributes_of(case), "Input": reads(inputs_of(case).get("InputTensor", np.zeros(y.shape)))}
    names["filled"] = lambda at: begin <= at < end
    return checked(equations, {"r": range(y.shape[0]), "c": range(y.shape[1])}, names, reads(y))


def filled(case: Case, equations: Sequence[str]) -> Iterator[Pair]:
    """FILL_VALUE_CONSTANT and FILL_VALUE_SEQUENCE."""
    y = output_of(case).ravel()
    for i, value in enumerate(y.tolist()):
        yield from checked(equations, {}, {**attributes_of(case), "i": i}, lambda *_, value=value: value)


def scaled(case: Case, equations: Sequence[str]) -> Iterator[Pair]:
    """VALUE_SCALE_2D."""
    x, y = inputs_of(case)["InputTensor"], output_of(case)
    variables = {name: range(size) for name, size in zip("nchw", x.shape, strict=True)}
    names = {**attributes_of(case), "Input": reads(x), "Bias": lambda c: case.desc["Bias"][int(c)]}
    return checked(equations, variables, names, reads(y))


def blocked(case: Case, equations: Sequence[str]) -> Iterator[Pair]:
    """QUANTIZE and DEQUANTIZE, with scale and zero point."""
    x, y = inputs_of(case)["InputTensor"], output_of(case)
    pairs_of = zip(case.desc["QuantizationTensors"], (case.inputs or {})["QuantizationTensors"], strict=True)
    scale, zero = (array(*pair) for pair in pairs_of)
    for place in places(x.shape):
        block = tuple(at * few // size for at, few, size in zip(place, scale.shape, x.shape, strict=True))
        names = {
            "x": float(x[place]),
            "Scale_b": float(scale[block]),
            "ZeroPoint_b": float(zero[block]),
            **_limits(case),
        }
        yield computed(tuple(equations), names), float(y[place])


def indexed(case: Case, equations: Sequence[str]) -> Iterator[Pair]:
    """Operators that read by indices, whose results come in the order of the variables."""
    given = inputs_of(case)
    indices = given["IndicesTensor"]
    variables, names = _INDEXED[case.operator.removeprefix("DML_OPERATOR_")](case, given, indices)
    values = [float(value) for _, value in elements(equations, variables, names)]
    yield from zip(values, output_of(case).astype(float).ravel().tolist(), strict=True)


def _gather(case: Case, given: Mapping[str, Any], indices: Any) -> tuple[dict[str, Any], Names]:
    x, axis = given["InputTensor"], case.desc["Axis"]
    own = indices.reshape(indices.shape[indices.ndim - case.desc["IndexDimensions"] :])
    variables = {"l": places(x.shape[:axis]), "b": places(own.shape), "t": places(x.shape[axis + 1 :])}
    return variables, {"Input": reads(x), "Indices": reads(own)}


def _of_lines(case: Case, given: Mapping[str, Any], indices: Any) -> tuple[dict[str, Any], Names]:
    sizes, axis = output_of(case).shape, case.desc["Axis"]
    variables = {"l": places(sizes[:axis]), "i": range(sizes[axis]), "t": places(sizes[axis + 1 :])}
    names: Names = {"Indices": reads(indices)}
    if "InputTensor" in given:
        names["Input"] = reads(given["InputTensor"])
    if "ValuesTensor" in given:
        names["Values"] = reads(given["ValuesTensor"].ravel())
    return variables, names


def _tuples(case: Case, given: Mapping[str, Any], indices: Any) -> tuple[dict[str, Any], Names]:
    x = given["InputTensor"]
    x = x.reshape(x.shape[x.ndim - case.desc["InputDimensionCount"] :])
    own = indices.reshape(indices.shape[indices.ndim - case.desc["IndicesDimensionCount"] :])
    batch = case.desc.get("BatchDimensionCount", 0)
    rest = x.shape[batch + own.shape[-1] :]
    variables = {"b": places(x.shape[:batch]), "m": places(own.shape[batch:-1]), "t": places(rest)}
    at = {"Indices": lambda *place: own[tuple(int(number) for part in place for number in np.ravel(part))]}
    return variables, {"Input": reads(x), **at}


_INDEXED: dict[str, Callable[..., tuple[dict[str, Any], Names]]] = {
    "GATHER": _gather,
    "GATHER_ELEMENTS": _of_lines,
    "ONE_HOT": _of_lines,
    "GATHER_ND": _tuples,
    "GATHER_ND1": _tuples,
}


def updated(case: Case, equations: Sequence[str]) -> Iterator[Pair]:
    """SCATTER and SCATTER_ND: the input, and then the updates."""
    given, y = inputs_of(case), output_of(case)
    found, updates = given["InputTensor"].astype(float), given["UpdatesTensor"]
    axis = case.desc.get("Axis")
    if axis is None:
        variables, names = _tuples(case, given, given["IndicesTensor"])
        found = found.reshape(found.shape[found.ndim - case.desc["InputDimensionCount"] :])
        updates = updates.reshape(*given["IndicesTensor"].shape[:-1], *found.shape[given["IndicesTensor"].shape[-1] :])
    else:
        sizes = updates.shape
        variables = {"l": places(sizes[:axis]), "i": range(sizes[axis]), "t": places(sizes[axis + 1 :])}
        names = {"Indices": reads(given["IndicesTensor"])}
    names["Updates"] = reads(updates)
    for index, value in elements(equations[1:], variables, names):
        found[tuple(int(number) for part in index for number in np.ravel(part))] = value
    yield from zip(found.ravel().tolist(), y.astype(float).ravel().tolist(), strict=True)


def extremes(case: Case, equations: Sequence[str]) -> Iterator[Pair]:
    """ARGMAX and ARGMIN: the element that the index names is the extreme of its group."""
    x, y = inputs_of(case)["InputTensor"], output_of(case)
    (axis,) = case.desc["Axes"]
    lines, written = np.moveaxis(x, axis, -1), np.moveaxis(y, axis, -1)
    for place in places(written.shape):
        line = lines[place[:-1]]
        names = {"x": reads(line), RANGE + "i": range(len(line)), "y": int(written[place])}
        for _, value in elements(equations, {}, names):
            yield float(line[int(written[place])]), float(value)


_FAMILIES: dict[Callable[[Case, Sequence[str]], Iterator[Pair]], str] = {
    grouped: """ACTIVATION_HARDMAX ACTIVATION_HARDMAX1 ACTIVATION_SOFTMAX ACTIVATION_SOFTMAX1 ACTIVATION_LOG_SOFTMAX
        ACTIVATION_LOG_SOFTMAX1 CUMULATIVE_SUMMATION CUMULATIVE_PRODUCT""",
    reduced: "REDUCE",
    of_rows: "LP_NORMALIZATION LOCAL_RESPONSE_NORMALIZATION",
    sequences: "REVERSE_SUBSEQUENCES",
    separable: "SLICE SLICE1 TILE",
    scattered_slice: "SLICE_GRAD",
    interpolated: "RESAMPLE RESAMPLE1 RESAMPLE2 RESAMPLE3",
    upsampled: "UPSAMPLE_2D",
    blocks: "DEPTH_TO_SPACE DEPTH_TO_SPACE1 SPACE_TO_DEPTH SPACE_TO_DEPTH1",
    parts: "JOIN SPLIT",
    windows: """MAX_POOLING MAX_POOLING1 MAX_POOLING2 AVERAGE_POOLING AVERAGE_POOLING1 LP_POOLING LP_POOLING1
        QUANTIZED_LINEAR_AVERAGE_POOLING""",
    averaged_back: "AVERAGE_POOLING_GRAD",
    largest_back: "MAX_POOLING_GRAD",
    restored: "MAX_UNPOOLING",
    trained_back: "BATCH_NORMALIZATION_TRAINING_GRAD",
    local_back: "LOCAL_RESPONSE_NORMALIZATION_GRAD",
    resampled_back: "RESAMPLE_GRAD RESAMPLE_GRAD1",
    cropped: "ROI_ALIGN ROI_ALIGN1",
    cropped_back: "ROI_ALIGN_GRAD",
    pooled_regions: "ROI_POOLING",
    convolved: "CONVOLUTION CONVOLUTION_INTEGER QUANTIZED_LINEAR_CONVOLUTION",
    unfolded: "UNFOLD",
    folded: "FOLD",
    matrices: "MATRIX_MULTIPLY_INTEGER MATRIX_MULTIPLY_INTEGER_TO_FLOAT QUANTIZED_LINEAR_MATRIX_MULTIPLY",
    diagonals: "DIAGONAL_MATRIX DIAGONAL_MATRIX1",
    filled: "FILL_VALUE_CONSTANT FILL_VALUE_SEQUENCE",
    scaled: "VALUE_SCALE_2D",
    blocked: "QUANTIZE DEQUANTIZE",
    indexed: "GATHER GATHER_ELEMENTS ONE_HOT GATHER_ND GATHER_ND1",
    updated: "SCATTER SCATTER_ND",
    extremes: "ARGMAX ARGMIN",
    normalized: """BATCH_NORMALIZATION BATCH_NORMALIZATION_TRAINING BATCH_NORMALIZATION_GRAD
        MEAN_VARIANCE_NORMALIZATION MEAN_VARIANCE_NORMALIZATION1 MEAN_VARIANCE_NORMALIZATION2""",
    recurrent: "RNN GRU LSTM",
    products: "GEMM",
    attended: "MULTIHEAD_ATTENTION MULTIHEAD_ATTENTION1",
}
SCOPES = {f"DML_OPERATOR_{name}": scope for scope, names in _FAMILIES.items() for name in names.split()}


def pairs(case: Case, equations: Sequence[str]) -> list[Pair]:
    """Return each element of a case's first output, as the equations give it and as it is written."""
    found = list(SCOPES[case.operator](case, equations))
    assert found
    assert not any(math.isnan(value) for value, _ in found)
    return found
