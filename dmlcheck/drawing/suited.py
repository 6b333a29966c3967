"""Changes to valid descs whose results would be undefined, or would hardly show a fault."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from dmlcheck.drawing.chance import Chance
from dmlcheck.specs.names import DATA_TYPES, integer_range
from dmlcheck.specs.records import OperatorSpec
from dmlcheck.specs.shapes import pooled

Raw = dict[str, Any]


def suit(spec: OperatorSpec, raw: Raw, chance: Chance) -> None:
    """Change fields that are valid but make results undefined."""
    first: Raw = next((raw[field.name] for field in spec.inputs if isinstance(raw.get(field.name), dict)), {})
    kind = DATA_TYPES.get(first.get("DataType", ""))
    if kind is not None and kind.kind in ("int", "uint"):
        for name, field in spec.fields.items():
            if field.type == "FLOAT" and isinstance(raw.get(name), float) and spec.short.startswith(_OF_ELEMENTS):
                most = 2 ** (kind.bits - 2) * (3 if kind.kind == "uint" else 1)
                raw[name] = float(max(1, min(math.ceil(raw[name]), most)))
            if field.type == "SCALE_BIAS" and name in raw and kind.bits < _WIDE:
                raw[name] = {"Scale": 2.0, "Bias": 1.0}
    own = next((change for change in _CHANGES if change.is_for(spec)), None)
    if own is not None:
        own.make(raw, chance)


_OF_ELEMENTS = ("ACTIVATION", "ELEMENT_WISE")
_WIDE = 64  # bits of integers that take no ScaleBias, or only one that changes nothing


def _pooling_gradient(raw: Raw, _: Chance) -> None:
    """Clamp windows to the padded input, and give the incoming gradient an element for each window."""
    given, made, window = raw["OutputGradientTensor"]["Sizes"], raw["InputGradientTensor"], raw["WindowSize"]
    strides, start, end = (raw[name] for name in ("Strides", "StartPadding", "EndPadding"))
    steps = raw.get("Dilations") or [1] * len(window)
    if not len(window) == len(strides) == len(start) == len(end) == len(steps) == len(given) - 2:
        return  # which repair changes first
    for axis, size in enumerate(given[2:]):
        window[axis] = min(window[axis], (size + start[axis] + end[axis] - 1) // max(1, steps[axis]) + 1)
    counts = pooled(given, window, strides, start, end, steps)
    if counts is not None:
        made["Sizes"] = [*given[:2], *counts]


def _blocks(raw: Raw, chance: Chance) -> None:
    sizes = raw["InputTensor"]["Sizes"]
    factors = [[size for size in range(1, whole + 1) if whole % size == 0] for whole in sizes]
    scale = [chance.of(found) for found in factors]
    tensors = raw["QuantizationTensors"]
    if not all(len(tensor["Sizes"]) == len(sizes) and _divide(tensor["Sizes"], sizes) for tensor in tensors):
        for tensor in tensors:
            tensor["Sizes"] = list(scale)


def _divide(parts: list[int], whole: list[int]) -> bool:
    return all(size % part == 0 for part, size in zip(parts, whole, strict=True))


def _window(raw: Raw, chance: Chance) -> None:
    """Let padding be smaller than windows, so that each sees an element."""
    for _ in range(_PASSES):
        for name in ("StartPadding", "EndPadding"):
            raw[name] = [min(pad, size - 1) for pad, size in zip(raw[name], raw["WindowSize"], strict=False)]
        _pooling_gradient(raw, chance)


_PASSES = 3  # padding and windows of up to 3 elements limit each other


def _one_type(raw: Raw, _: Chance) -> None:
    raw["OutputTensor"]["DataType"] = raw["InputTensor"]["DataType"]


def _indices(raw: Raw, _: Chance) -> None:
    sizes, count = raw["IndicesTensor"]["Sizes"], raw["IndexDimensions"]
    raw["IndexDimensions"] = count = min(count, len(sizes))
    sizes[: len(sizes) - count] = [1] * (len(sizes) - count)
    given = raw["InputTensor"]["Sizes"]
    if 1 < count <= len(given):  # the axis can be replaced by as many index dimensions
        given[: count - 1] = [1] * (count - 1)
        raw["Axis"] = max(raw["Axis"], count - 1)


def _tuples(raw: Raw, chance: Chance) -> None:
    given, indices = raw["InputTensor"]["Sizes"], raw["IndicesTensor"]["Sizes"]
    counted = min(raw["InputDimensionCount"], len(given))
    raw["InputDimensionCount"] = counted
    raw["IndicesDimensionCount"] = min(raw["IndicesDimensionCount"], len(indices))
    given[: len(given) - counted] = [1] * (len(given) - counted)
    lead = len(indices) - raw["IndicesDimensionCount"]
    indices[:lead] = [1] * lead
    room = counted - min(raw.get("BatchDimensionCount", 0), counted - 1)
    if indices[-1] > room:
        indices[-1] = chance.integer(1, room)
    rank = len(raw["UpdatesTensor" if "UpdatesTensor" in raw else "OutputTensor"]["Sizes"])
    surplus = raw["IndicesDimensionCount"] - 1 + room - indices[-1] - rank
    if surplus > 0:  # tuples of more coordinates leave fewer dimensions
        indices[-1] = min(room, indices[-1] + surplus)
    if "UpdatesTensor" in raw:
        most = math.prod(given[len(given) - counted :][: indices[-1]])
        while math.prod(indices[:-1]) > most:
            longest = max(range(len(indices) - 1), key=lambda axis: indices[axis])
            indices[longest] = max(1, indices[longest] // 2)


def _scatter(raw: Raw, _: Chance) -> None:
    axis, given, indices = raw["Axis"], raw["InputTensor"]["Sizes"], raw["IndicesTensor"]["Sizes"]
    updates = raw["UpdatesTensor"]["Sizes"]
    if axis < min(len(given), len(indices), len(updates)) and indices[axis] > given[axis]:
        indices[axis] = updates[axis] = given[axis]


def _restarted(starts: list[int], whole: Sequence[int], chance: Chance) -> list[int]:
    """Move the starts of a slice to one of the first elements, and return the sizes of the rest of the tensor."""
    starts[:] = [chance.integer(0, min(2, most - 1)) for most in whole]
    return [most - start for most, start in zip(whole, starts, strict=True)]


def _slice(raw: Raw, chance: Chance) -> None:
    """Replace a slice that goes beyond its tensor by one that begins early and goes to the end."""
    whole, starts, sizes, strides = raw["InputTensor"]["Sizes"], raw["Offsets"], raw["Sizes"], raw["Strides"]
    if not len(whole) == len(starts) == len(sizes) == len(strides) or 0 in strides:
        return
    each = zip(starts, sizes, strides, whole, strict=True)
    if any(start + stride * (size - 1) >= most for start, size, stride, most in each):
        rest = _restarted(starts, whole, chance)
        sizes[:] = [(size - 1) // stride + 1 for size, stride in zip(rest, strides, strict=True)]
    if chance.often(0.1):
        strides[chance.integer(0, len(strides) - 1)] = 0  # repeats an element, of which the first is defined


def _window_of_slice(raw: Raw, chance: Chance) -> None:
    """Replace a window that goes beyond its tensor by most of it, and limit the slice to the window's elements."""
    is_gradient = "InputGradientTensor" in raw
    whole = raw["OutputGradientTensor" if is_gradient else "InputTensor"]["Sizes"]
    part: Raw = raw["InputGradientTensor" if is_gradient else "OutputTensor"]
    starts, sizes, strides = (raw[name] for name in _OF_WINDOWS)
    if not len(whole) == len(starts) == len(sizes) == len(strides) == len(part["Sizes"]) or 0 in strides:
        return
    if any(start + size > most for start, size, most in zip(starts, sizes, whole, strict=True)):
        rest = _restarted(starts, whole, chance)
        sizes[:] = [size - chance.integer(0, min(2, size - 1)) for size in rest]
    reach = [(size - 1) // abs(stride) + 1 for size, stride in zip(sizes, strides, strict=True)]
    if any(map(int.__gt__, part["Sizes"], reach)):
        part["Sizes"] = reach if chance.often(0.7) else list(map(min, part["Sizes"], reach))


_OF_WINDOWS = ("InputWindowOffsets", "InputWindowSizes", "InputWindowStrides")


def _samples(raw: Raw, chance: Chance) -> None:
    least = max(1, raw["MinimumSamplesPerOutput"])
    raw["MinimumSamplesPerOutput"] = least
    raw["MaximumSamplesPerOutput"] = least + (chance.integer(1, 2) if chance.often(0.1) else 0)
    if raw.get("AlignRegionsToCorners") and chance.often(0.7):
        raw["AlignRegionsToCorners"] = 0
    of_regions = raw.get("InputGradientTensor")
    if of_regions is not None and max(of_regions["Sizes"]) > _LONG and chance.often(0.7):
        raw["InterpolationMode"], raw["ReductionFunction"] = "LINEAR", "AVERAGE"  # others are often undefined


_LONG = 512


def _region(raw: Raw, _: Chance) -> None:
    """Limit the region of a gradient: DirectML goes through all its rows and columns for each element, also outside."""
    raw["LocalSize"] = min(raw["LocalSize"], _LARGEST_REGION)


_LARGEST_REGION = 128  # 65535 take minutes


def _channels(raw: Raw, chance: Chance) -> None:
    """Make ChannelCount 1 or 3, which is also a size; now and then add nothing, so that small results stay small."""
    sizes = raw["InputTensor"]["Sizes"]
    if len(sizes) > 1 and sizes[1] not in (1, 3):
        sizes[1] = chance.of((1, 3))
    if "Bias" in raw and chance.often(0.2):
        raw["Bias"] = [0.0] * len(raw["Bias"])


def _statistics(raw: Raw, _: Chance) -> None:
    """Give all tensors of statistics the sizes of the first, each of which is 1 or InputTensor's."""
    tensors = [raw[name] for name in _OF_MEANS if name in raw]
    own, whole = tensors[0]["Sizes"], raw["InputTensor"]["Sizes"]
    if len(own) == len(whole):
        sizes = [size if size == all_of_it else 1 for size, all_of_it in zip(own, whole, strict=True)]
        for tensor in tensors:
            tensor["Sizes"] = list(sizes)


_OF_MEANS = (
    "MeanTensor", "VarianceTensor", "ScaleTensor", "BiasTensor", "OutputMeanTensor", "OutputVarianceTensor",
    "OutputScaleGradientTensor", "OutputBiasGradientTensor",
)  # fmt: skip


def _power(raw: Raw, _: Chance) -> None:
    if not raw["InputTensor"]["DataType"].startswith("FLOAT"):
        raw.pop("ScaleBias", None)


def _resampled(raw: Raw, chance: Chance) -> None:
    """Let all dimensions often count pixels in one way, and an output have about the size that its scales give."""
    for name, offset in zip(("InputPixelOffsets", "OutputPixelOffsets"), chance.of(_OF_PIXELS), strict=True):
        if name in raw and len(set(raw[name])) > 1 and chance.often(0.8):
            raw[name] = [offset] * len(raw[name])
    if "InputTensor" in raw and chance.often(0.7):
        given, scales = raw["InputTensor"]["Sizes"], raw["Scales"]
        if len(given) == len(scales):
            raw["OutputTensor"]["Sizes"] = [
                max(1, round(size * scale) + (0 if scale == 1 else chance.integer(-1, 1)))
                for size, scale in zip(given, scales, strict=True)
            ]


_OF_PIXELS = ((0.5, -0.5), (0.5, -0.5), (0.0, 0.0), (0.0, -0.5), (0.5, 0.0), (0.3, -1.7))


def _unpooled(raw: Raw, chance: Chance) -> None:
    """Make the output large enough for different indices."""
    given, made = raw["InputTensor"]["Sizes"], raw["OutputTensor"]["Sizes"]
    if math.prod(made) < math.prod(given) or chance.often(0.5):
        raw["OutputTensor"]["Sizes"] = [*given[:2], *(size + chance.integer(0, 2) for size in given[2:])]


def _per_tensor(raw: Raw, chance: Chance) -> None:
    """Often have one scale and one zero point for the whole of a tensor."""
    if chance.often(0.5):
        for name in ("InputScale", "InputZeroPoint", "OutputScale", "OutputZeroPoint"):
            tensor = raw.get(f"{name}Tensor") or {"Sizes": []}
            tensor["Sizes"] = [1] * len(tensor["Sizes"])


def _products_of_bytes(raw: Raw, chance: Chance) -> None:
    """Often multiply integers of 8 bits, of which A has one scale and one zero point, as callers do."""
    if chance.often(0.4):
        kind = chance.of(("INT8", "UINT8"))
        for name in ("ATensor", "AZeroPointTensor", "BTensor", "BZeroPointTensor"):
            if raw.get(name) is not None:
                raw[name]["DataType"] = kind
        for name in ("AScaleTensor", "AZeroPointTensor"):
            if raw.get(name) is not None:
                raw[name]["Sizes"] = [1] * len(raw[name]["Sizes"])


def _groups(raw: Raw, _: Chance) -> None:
    """Let the channels be multiples of the number of groups."""
    count = raw["GroupCount"]
    for name, axis in (("InputTensor", 1), ("FilterTensor", 0)):
        sizes = raw[name]["Sizes"]
        if len(sizes) > axis and count in _GROUPS:
            sizes[axis] = -(-sizes[axis] // count) * count


_GROUPS = (2, 3, 4)


def _constants(raw: Raw, chance: Chance) -> None:
    """Draw constants from all numbers of a type of integers, and floats with full mantissas, few of them infinite."""
    kind = DATA_TYPES[raw["ValueDataType"]]
    for name in ("Value", "ValueStart", "ValueDelta"):
        if name in raw and kind.kind in ("int", "uint"):
            raw[name] = chance.integer(*integer_range(raw["ValueDataType"]))
        elif name in raw and not isinstance(raw[name], float):
            is_infinite = name == "Value" and chance.often(0.05)
            raw[name] = chance.of((math.inf, -math.inf)) if is_infinite else chance.integer(-(2**24), 2**24) / 2**16


def _scalar_limits(raw: Raw, chance: Chance) -> None:
    """Draw limits of integers from all of a type, and limits of floats of which few are infinite."""
    kind = DATA_TYPES.get(raw.get("MinMaxDataType", ""))
    if kind is None or isinstance(raw.get("Min"), float) or not {"Min", "Max"} <= raw.keys():
        return
    if kind.kind == "float":
        raw["Min"], raw["Max"] = chance.of(_FLOAT_LIMITS)
    elif kind.kind in ("int", "uint") and chance.often(0.5):
        raw["Min"], raw["Max"] = sorted(chance.integer(*integer_range(raw["MinMaxDataType"])) for _ in range(2))


_FLOAT_LIMITS = ((-1.25, 0.75), (-0.5, 1.5), (0.0, 2.0), (1.5, -0.5), (-math.inf, 0.75), (-0.5, math.inf))


def _diagonal(raw: Raw, chance: Chance) -> None:
    """Often have a diagonal in the last rows or columns, and a value that is large or small for its type."""
    name, (rows, columns) = raw["OutputTensor"]["DataType"], [1, 1, *raw["OutputTensor"]["Sizes"]][-2:]
    if chance.often(0.4):
        near = chance.integer(0, 3)
        raw["Offset"] = chance.of((min(near, rows - 1) + 1 - rows, columns - 1 - min(near, columns - 1)))
    if raw.get("Value") not in _USUAL or chance.often(0.7):
        return
    if DATA_TYPES[name].kind == "float":
        raw["Value"] = chance.of((math.inf, -math.inf, 2.0**-20, -3 * 2.0**-24))
    elif DATA_TYPES[name].kind in ("int", "uint"):
        low, high = integer_range(name)
        raw["Value"] = float(chance.integer(low // 2, high // 4 * 3 if low == 0 else high // 2))


_USUAL = (0.25, 0.5, 0.75, 1.5, 2.0, -0.5, 0.3, -1.7, 1.0)


def _parts(raw: Raw, chance: Chance) -> None:
    """Give the parts of a whole different lengths along its axis."""
    names = ("InputTensors", "OutputTensor") if "InputTensors" in raw else ("OutputTensors", "InputTensor")
    parts, whole, axis = raw[names[0]], raw[names[1]], raw["Axis"]
    if not parts or any(len(part["Sizes"]) <= axis for part in (*parts, whole)):
        return
    if sum(part["Sizes"][axis] for part in parts) != whole["Sizes"][axis]:
        for part in parts:
            part["Sizes"][axis] = chance.integer(1, max(5, part["Sizes"][axis]))
        own = parts[0]["Sizes"]
        whole["Sizes"] = [*own[:axis], sum(part["Sizes"][axis] for part in parts), *own[axis + 1 :]]


_SMALL, _LARGE = 1000, 30_000  # elements of what may be made larger, and of what is made smaller


def _padding(raw: Raw, chance: Chance) -> None:
    """Let the padding of a dimension now and then be larger than its size, and make no long tensor too large."""
    given, made = raw["InputTensor"]["Sizes"], raw["OutputTensor"]["Sizes"]
    starts, ends = raw["StartPadding"], raw["EndPadding"]
    if len(given) == len(made) == len(starts) == len(ends):
        sums = [sum(each) for each in zip(given, starts, ends, strict=True)]
        if math.prod(sums) > _LARGE:
            for pads in (starts, ends):
                pads[:] = [pad if size > 1 else 0 for pad, size in zip(pads, given, strict=True)]
        if sums != made and math.prod(sums) < _SMALL and chance.often(0.4):
            axis = chance.integer(0, len(given) - 1)
            chance.of((starts, ends))[axis] = min(given[axis], 5) + chance.integer(1, 2)
            made[:] = [sum(each) for each in zip(given, starts, ends, strict=True)]


class _Change(NamedTuple):
    """A change to the descs of the operators that have some fields, and none of others."""

    fields: tuple[str, ...]
    make: Callable[[Raw, Chance], None]
    without: tuple[str, ...] = ()

    def is_for(self, spec: OperatorSpec) -> bool:
        """Whether it is a change to an operator's descs."""
        return spec.fields.keys() >= {*self.fields} and not spec.fields.keys() & {*self.without}


_CHANGES = (  # of which the first is made
    _Change(("FilterTensor",), _groups),
    _Change(("InputGradientTensor", "IncludePadding"), _pooling_gradient),
    _Change(("InputGradientTensor", "Dilations"), _window),
    _Change(("OutputMeanTensor", "OutputVarianceTensor"), _statistics),
    _Change(("OutputScaleGradientTensor",), _statistics),
    _Change(("QuantizationTensors",), _blocks),
    _Change(("Offset",), _diagonal),
    _Change(("MinMaxDataType",), _scalar_limits),
    _Change(("ExponentTensor",), _power),
    _Change(("ValueDataType",), _constants, without=("DiagonalFillBegin",)),
    _Change(("WindowSizes",), _one_type),
    _Change(("IndexDimensions",), _indices),
    _Change(("IndicesDimensionCount",), _tuples),
    _Change(("InputTensors", "Axis"), _parts),
    _Change(("OutputTensors", "Axis"), _parts),
    _Change(("AScaleTensor", "BiasTensor"), _products_of_bytes),
    _Change(("InputTensor", "IndicesTensor"), _unpooled, without=("Axis", "BatchIndicesTensor")),
    _Change(("PaddingMode",), _padding),
    _Change(("IncludePadding", "InputScaleTensor"), _per_tensor),
    _Change(("Scales",), _resampled),
    _Change(("BatchIndicesTensor",), _samples),
    _Change(("Axis", "UpdatesTensor"), _scatter),
    _Change(("Offsets",), _slice),
    _Change(("InputWindowOffsets",), _window_of_slice),
    _Change(("ChannelCount",), _channels),
    _Change(("InputGradientTensor", "LocalSize"), _region),
)
