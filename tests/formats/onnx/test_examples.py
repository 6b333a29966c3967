"""Mappings to ONNX beyond element-wise operators: models are valid, and give what the pages' examples and formulas say.

Models run on ONNX's own evaluator and on onnxruntime's CPU provider, each where it has the operator and keeps to its
page; formulas are written out here in plain loops.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dmlcheck import load_cases, validation
from dmlcheck.cases.prepare import prepare
from dmlcheck.cases.records import Case
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.formats.onnx.to_onnx.mappings import build, mappings
from dmlcheck.formats.onnx.to_onnx.records import Inexpressible
from dmlcheck.reference.kernels import Array
from dmlcheck.specs.names import NEWEST_LEVEL
from dmlcheck.specs.records import INPUT, OUTPUT
from dmlcheck.values.number_formats import NUMPY_TYPES

pytest.importorskip("onnx", reason="the extra `onnxruntime` is not installed: no package onnx")

from onnx.reference import ReferenceEvaluator
from onnx_models import check

from dmlcheck.formats.onnx.to_onnx.proto import model_proto

CASES = Path(__file__).parent.parent.parent.parent / "cases"
OURS = sorted(name for name in mappings() if not name.startswith(("ACTIVATION_", "ELEMENT_WISE_")))
MATHS = ("AVERAGE_POOLING",)  # operators whose documented values are rounded

# Documented examples that ONNX has no words for.
WITHOUT_WORDS = {
    ("RESAMPLE1", "forward-pass"): "ONNX's Resize has no such InputPixelOffsets",
    ("ROI_ALIGN1", "four-crops"): "no InterpolationMode NEAREST_NEIGHBOR",
}
# Documented examples that onnxruntime gets wrong before a version.
WRONG_BEFORE = {("REVERSE_SUBSEQUENCES", "columns"): "1.28"}


def desc_of(operator: str, desc: Any, level: str = NEWEST_LEVEL) -> OperatorDesc:
    made, findings = validation.validate(operator, desc, level)
    assert not findings, [finding.rule for finding in findings]
    return made


def labelled(values: dict[str, Any]) -> dict[str, Any]:
    """Return arrays by label, those of an array of tensors one by one."""
    flat = {}
    for name, value in values.items():
        parts = (
            {f"{name}[{index}]": part for index, part in enumerate(value)} if isinstance(value, list) else {name: value}
        )
        flat.update(parts)
    return flat


def onnx_outputs(model: Any, feed: dict[str, Array]) -> list[Array]:
    with np.errstate(all="ignore"):
        return ReferenceEvaluator(model).run(None, feed)


def onnxruntime_outputs(model: Any, feed: dict[str, Array]) -> list[Array] | None:
    """Return what the CPU provider gives, or None where it lacks a kernel or is older than the model."""
    runtime = pytest.importorskip("onnxruntime")
    options = runtime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    errors = runtime.capi.onnxruntime_pybind11_state
    try:
        session = runtime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    except errors.NotImplemented:
        return None
    except errors.Fail as error:
        if "Unsupported model IR version" not in str(error):  # as one is that is newer than this onnxruntime
            raise
        return None
    return session.run(None, feed)


def is_before(version: str) -> bool:
    """Whether the onnxruntime that is there is older; the last for Python 3.10 is 1.23."""
    found = pytest.importorskip("onnxruntime").__version__
    return tuple(map(int, found.split(".")[:2])) < tuple(map(int, version.split(".")))


EVALUATORS = {"onnx": onnx_outputs, "onnxruntime": onnxruntime_outputs}


def answers(desc: OperatorDesc, inputs: dict[str, Any], by: Iterable[str]) -> Iterator[dict[str, Array]]:
    """Yield the outputs of a desc's model, by label, from every evaluator that has its operators; at least one has."""
    model = model_proto(build(desc))
    check(model)
    feed = {value.name: labelled(inputs)[value.name] for value in model.graph.input}
    given = 0
    for name in by:
        values = EVALUATORS[name](model, feed)
        if values is not None:
            given += 1
            yield dict(zip((output.name for output in model.graph.output), values, strict=True))
    assert given


def raw(array: Array, kind: str | None = None) -> dict[str, Any]:
    kind = kind or next(kind for kind, dtype in NUMPY_TYPES.items() if dtype == array.dtype)
    return {"DataType": kind, "Sizes": list(array.shape)}


def made(operator: str, inputs: dict[str, Any], outputs: dict[str, Any], **fields: Any) -> OperatorDesc:
    """Return the desc whose tensors are those of arrays, and where a field says so, have strides too."""
    desc = dict(fields)
    for name, value in {**inputs, **outputs}.items():
        tensors = [raw(part) for part in value] if isinstance(value, list) else raw(value)
        if name in fields:  # a field of a tensor's name adds to its desc
            tensors.update(fields[name])
        desc[name] = tensors
    return desc_of(operator, desc)


def expect(
    operator: str,
    inputs: dict[str, Any],
    outputs: dict[str, Any],
    near: float = 0.0,
    by: Iterable[str] = ("onnx", "onnxruntime"),
    **fields: Any,
) -> None:
    """Let a desc's model give these outputs: every bit, or as near as that."""
    desc = made(operator, inputs, outputs, **fields)
    for answer in answers(desc, inputs, by):
        for label, wanted in labelled(outputs).items():
            actual = np.asarray(answer[label])
            assert (actual.dtype, actual.shape) == (wanted.dtype, wanted.shape)
            np.testing.assert_allclose(actual, wanted, rtol=near, atol=near)


def f32(values: Any) -> Array:
    return np.array(values, np.float32)


def whole(*sizes: int, start: int = -3, step: int = 5, wrap: int = 8) -> Array:
    """Return small whole numbers in a FLOAT32 array, so that sums of products are exact."""
    return ((np.arange(math.prod(sizes)) * step % wrap) + start).astype(np.float32).reshape(sizes)


# ---- every case that is accepted


@pytest.mark.parametrize("operator", OURS)
def test_a_model_of_every_accepted_case_passes_the_full_check_or_is_inexpressible(operator: str) -> None:
    checked, reasons = 0, set()
    for case in load_cases(CASES / operator.lower()):
        if case.invalid is not None:
            continue
        desc = desc_of(case.operator, case.desc, case.level)
        try:
            model = model_proto(build(desc))
        except Inexpressible as reason:
            reasons.add(str(reason))
            continue
        check(model)
        checked += 1
        labels = [part.label for part in desc.tensors(INPUT)]
        assert {value.name for value in model.graph.input} <= set(labels)
        assert [value.name for value in model.graph.output] == [part.label for part in desc.tensors(OUTPUT)]
    assert checked or operator in NONE_SHIPPED, reasons
    assert not [reason for reason in reasons if re.search(r"\b[a-z]+_\d+\b", reason)]  # a name of the graph's own


# Operators of which no shipped case has a model; a test below has one.
NONE_SHIPPED = {"ROI_ALIGN", "ROI_ALIGN1"}


def documented() -> Iterator[Any]:
    for operator in OURS:
        path = CASES / operator.lower() / "documented.yaml"
        if path.exists():
            for case in load_cases(path):
                if case.outputs:
                    yield pytest.param(operator, case, id=f"{operator}-{case.name}")


@pytest.mark.parametrize(("operator", "case"), list(documented()))
def test_a_model_gives_what_the_page_prints(operator: str, case: Case) -> None:
    desc = desc_of(case.operator, case.desc)
    reason = WITHOUT_WORDS.get((operator, case.name))
    if reason is not None:
        with pytest.raises(Inexpressible, match=reason):
            build(desc)
        return
    prepared = prepare(case, case.level)
    assert not prepared.findings
    wrong_before = WRONG_BEFORE.get((operator, case.name))
    by = ("onnx",) if wrong_before is not None and is_before(wrong_before) else EVALUATORS
    for answer in answers(desc, prepared.inputs, by):
        for label, (_, wanted) in prepared.expected.items():
            near = 1e-6 if operator.startswith(MATHS) else 0
            assert answer[label].dtype == wanted.dtype
            np.testing.assert_allclose(answer[label], wanted, rtol=near, atol=0)


def test_the_documented_examples_of_these_operators_are_checked() -> None:
    found = {parameter.values[0] for parameter in documented()}
    assert len(found) > 30
    assert {"GATHER_ND1", "ONE_HOT", "PADDING1", "SLICE1", "TOP_K1", "UNFOLD"} <= found


# ---- moved and converted data


def test_cast_drops_fractions_and_wraps_nothing() -> None:
    expect("CAST", {"InputTensor": f32([[1.75, -2.5, 3]])}, {"OutputTensor": np.array([[1, -2, 3]], np.int32)})


@pytest.mark.parametrize(
    ("mode", "low", "high", "expected"),
    [
        ("EDGE", 2, 1, [1, 1, 1, 2, 3, 3]),
        ("REFLECTION", 2, 1, [3, 2, 1, 2, 3, 2]),
        ("REFLECTION", 3, 4, [2, 3, 2, 1, 2, 3, 2, 1, 2, 3]),
        ("SYMMETRIC", 2, 4, [2, 1, 1, 2, 3, 3, 2, 1, 1]),
        ("WRAP", 1, 2, [3, 1, 2, 3, 1, 2]),
    ],
)
def test_padding_repeats_the_axis_in_every_mode(mode: str, low: int, high: int, expected: list[int]) -> None:
    fields = {"PaddingMode": mode, "PaddingValue": 0, "StartPadding": [0, low], "EndPadding": [0, high]}
    expect("PADDING", {"InputTensor": f32([[1, 2, 3]])}, {"OutputTensor": f32([expected])}, **fields)


def test_a_step_of_0_repeats_one_element() -> None:
    fields = {"Offsets": [0, 1], "Sizes": [2, 3], "Strides": [1, 0]}
    expect("SLICE", {"InputTensor": f32([[1, 2], [3, 4]])}, {"OutputTensor": f32([[2] * 3, [4] * 3])}, **fields)


def test_a_channel_is_scaled_and_has_a_summand_of_its_own() -> None:
    x = whole(1, 3, 1, 2)
    wanted = x * 2 + f32([1, -1, 0.5]).reshape(3, 1, 1)
    expect("VALUE_SCALE_2D", {"InputTensor": x}, {"OutputTensor": wanted}, Scale=2, Bias=[1, -1, 0.5])


def test_one_hot_of_one_index_is_a_vector() -> None:
    inputs = {"IndicesTensor": np.array([2], np.uint32), "ValuesTensor": f32([5, 7])}
    expect("ONE_HOT", inputs, {"OutputTensor": f32([5, 5, 7, 5])}, Axis=0)


def test_ignored_dimensions_of_indices_have_one_place() -> None:
    x, indices = f32([[1, 2], [3, 4], [5, 6]]), np.array([[2, 0]], np.uint32)
    expect(
        "GATHER", {"InputTensor": x, "IndicesTensor": indices}, {"OutputTensor": x[[2, 0]]}, Axis=0, IndexDimensions=1
    )
    inputs = {"InputTensor": x, "IndicesTensor": indices.repeat(2, 0)}
    desc = made("GATHER", inputs, {"OutputTensor": x[[2, 0]]}, Axis=0, IndexDimensions=1)
    with pytest.raises(Inexpressible, match="dimensions of IndicesTensor that are ignored are not all of size 1"):
        build(desc)


def test_integers_of_a_sequence_wrap() -> None:
    fields = {"ValueDataType": "UINT8", "ValueStart": 250, "ValueDelta": 4}
    expect("FILL_VALUE_SEQUENCE", {}, {"OutputTensor": np.array([[250, 254, 2, 6]], np.uint8)}, **fields)


def test_max_unpooling_puts_elements_where_the_indices_say() -> None:
    x = f32([[[[5, 6], [7, 8]]]])
    wanted = np.zeros((1, 1, 4, 4), np.float32)
    wanted.flat[[0, 15, 6, 9]] = [5, 6, 7, 8]
    indices = np.array([[[[0, 15], [6, 9]]]], np.uint32)
    expect("MAX_UNPOOLING", {"InputTensor": x, "IndicesTensor": indices}, {"OutputTensor": wanted}, by=("onnxruntime",))


# ---- windows


def padded(x: Array, low: Sequence[int], high: Sequence[int], fill: float) -> Array:
    return np.pad(x, [(0, 0), (0, 0), *zip(low, high, strict=True)], constant_values=fill)


def windows(
    x: Array, window: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
) -> Iterator[tuple[tuple[int, ...], Array]]:
    """Yield each place of a window with what it sees of every channel, batch and channels first."""
    spans = [(size - 1) * gap + 1 for size, gap in zip(window, dilations, strict=True)]
    counts = [(size - span) // step + 1 for size, span, step in zip(x.shape[2:], spans, strides, strict=True)]
    for place in itertools.product(*map(range, counts)):
        starts = [at * step for at, step in zip(place, strides, strict=True)]
        cut = tuple(slice(start, start + span, gap) for start, span, gap in zip(starts, spans, dilations, strict=True))
        yield place, x[(slice(None), slice(None), *cut)].reshape(*x.shape[:2], -1)


def pooled(
    x: Array,
    function: Callable[[Array], Array],
    window: Sequence[int],
    strides: Sequence[int],
    low: Sequence[int],
    high: Sequence[int],
    dilations: Sequence[int] | None = None,
    fill: float = math.nan,
) -> Array:
    dilations = dilations or [1] * len(window)
    seen = {place: function(part) for place, part in windows(padded(x, low, high, fill), window, strides, dilations)}
    last = max(seen)
    made = np.empty((*x.shape[:2], *(at + 1 for at in last)), x.dtype)
    for place, value in seen.items():
        made[(slice(None), slice(None), *place)] = value
    return made


SHAPE = {"WindowSize": [2, 3], "Strides": [1, 2], "StartPadding": [1, 0], "EndPadding": [0, 2]}
PLACES = ([2, 3], [1, 2], [1, 0], [0, 2])


@pytest.mark.parametrize("include", [False, True])
@pytest.mark.parametrize("dilations", [None, [2, 1]])
def test_an_average_counts_padding_only_where_asked_to(include: bool, dilations: Sequence[int] | None) -> None:
    x = whole(1, 2, 4, 5)
    mean = (lambda part: part.mean(2)) if include else (lambda part: np.nanmean(part, 2))
    wanted = pooled(x, mean, *PLACES, dilations, fill=0 if include else math.nan)
    fields = {**SHAPE, "IncludePadding": include}
    operator = "AVERAGE_POOLING1" if dilations else "AVERAGE_POOLING"
    if dilations:
        fields["Dilations"] = dilations
    expect(operator, {"InputTensor": x}, {"OutputTensor": wanted}, 1e-6, **fields)


@pytest.mark.parametrize(("order", "dilations"), [(1, None), (2, None), (2, [2, 1])])
def test_lp_pooling_takes_the_root_of_the_sum_of_powers(order: int, dilations: Sequence[int] | None) -> None:
    x = whole(1, 2, 4, 5)
    wanted = pooled(x, lambda part: (np.abs(part) ** order).sum(2) ** (1 / order), *PLACES, dilations, fill=0)
    fields = {**SHAPE, "P": order, **({"Dilations": dilations} if dilations else {})}
    expect("LP_POOLING1" if dilations else "LP_POOLING", {"InputTensor": x}, {"OutputTensor": wanted}, 1e-6, **fields)


@pytest.mark.parametrize(
    ("operator", "dilations"), [("MAX_POOLING", None), ("MAX_POOLING1", None), ("MAX_POOLING2", [2, 1])]
)
def test_max_pooling_ignores_padding_and_counts_indices_in_the_whole_tensor(
    operator: str, dilations: Sequence[int] | None
) -> None:
    x = -np.arange(40, dtype=np.float32).reshape(1, 2, 4, 5) * 7 % 41
    wanted = pooled(x, lambda part: np.nanmax(part, 2), *PLACES, dilations)
    outputs = {"OutputTensor": wanted}
    if operator != "MAX_POOLING":  # all elements differ
        outputs["OutputIndicesTensor"] = np.array([np.flatnonzero(x == each)[0] for each in wanted.flat], np.uint32)
        outputs["OutputIndicesTensor"] = outputs["OutputIndicesTensor"].reshape(wanted.shape)
    fields = {**SHAPE, **({"Dilations": dilations} if dilations else {})}
    expect(operator, {"InputTensor": x}, outputs, by=("onnxruntime",), **fields)


def test_a_region_is_pooled_by_its_rounded_corners() -> None:
    x = np.arange(32, dtype=np.float32).reshape(1, 2, 4, 4)
    regions = f32([[[[0, 0, 0, 3, 3], [0, 2, 4, 6, 6]]]])  # the image, then x1 y1 x2 y2; the scale halves them
    # region 0: columns and rows 0 to round(1.5) = 2; region 1: columns 1 to 3, rows 2 to 3
    wanted = np.zeros((2, 2, 1, 1), np.float32)
    wanted[0, :, 0, 0] = x[0, :, 0:3, 0:3].max((1, 2))
    wanted[1, :, 0, 0] = x[0, :, 2:4, 1:4].max((1, 2))
    fields = {"SpatialScale": 0.5, "PooledSize": {"Height": 1, "Width": 1}}
    expect(
        "ROI_POOLING", {"InputTensor": x, "ROITensor": regions}, {"OutputTensor": wanted}, by=("onnxruntime",), **fields
    )


def test_a_region_is_split_into_height_and_width() -> None:
    x = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
    wanted = f32([[[[13, 15]]]])  # one row of two halves
    fields = {"SpatialScale": 1, "PooledSize": {"Height": 1, "Width": 2}}
    inputs = {"InputTensor": x, "ROITensor": f32([[[[0, 0, 0, 3, 3]]]])}
    expect("ROI_POOLING", inputs, {"OutputTensor": wanted}, by=("onnxruntime",), **fields)


ALIGN = {
    "ReductionFunction": "AVERAGE",
    "InterpolationMode": "LINEAR",
    "SpatialScaleX": 0.5,
    "SpatialScaleY": 0.5,
    "OutOfBoundsInputValue": 0,
    "MinimumSamplesPerOutput": 2,
    "MaximumSamplesPerOutput": 2,
}
ALIGN1 = {"InputPixelOffset": 0.5, "OutputPixelOffset": -0.5, "AlignRegionsToCorners": False}


def aligned(x: Array, regions: Array, images: Array, sizes: Sequence[int], scale: float, samples: int) -> Array:
    """Follow the page's formulas for samples inside of the input, with the y scale taken from the y sizes."""
    made = np.empty((len(regions), x.shape[1], *sizes))
    for r, (region, image) in enumerate(zip(regions * scale, images, strict=True)):
        steps = [(region[2 + axis] - region[axis]) / (sizes[1 - axis] * samples) for axis in (0, 1)]
        for row, column in np.ndindex(*sizes):
            total = np.zeros(x.shape[1])
            for j, i in np.ndindex(samples, samples):
                across = (column * samples + i + 0.5) * steps[0] + region[0] - 0.5
                down = (row * samples + j + 0.5) * steps[1] + region[1] - 0.5
                for y, wy in ((math.floor(down), 1 - down % 1), (math.floor(down) + 1, down % 1)):
                    for z, wz in ((math.floor(across), 1 - across % 1), (math.floor(across) + 1, across % 1)):
                        total += x[image, :, min(y, x.shape[2] - 1), min(z, x.shape[3] - 1)] * wy * wz
            made[r, :, row, column] = total / samples**2
    return made.astype(np.float32)


@pytest.mark.parametrize(("operator", "fields"), [("ROI_ALIGN", ALIGN), ("ROI_ALIGN1", ALIGN | ALIGN1)])
def test_a_region_is_aligned_by_samples_between_elements(operator: str, fields: dict[str, Any]) -> None:
    x = whole(2, 2, 5, 6)
    regions = f32([[1, 2, 9, 8], [2, 1, 7, 4]])
    images = np.array([1, 0], np.uint32)
    wanted = aligned(x, regions, images, (2, 3), 0.5, 2)
    inputs = {"InputTensor": x, "ROITensor": regions, "BatchIndicesTensor": images}
    expect(operator, inputs, {"OutputTensor": wanted}, 1e-5, **fields)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"InterpolationMode": "NEAREST_NEIGHBOR"}, "InterpolationMode NEAREST_NEIGHBOR"),
        ({"ReductionFunction": "MAX"}, "ReductionFunction MAX"),
        ({"SpatialScaleY": 1}, "one factor"),
        ({"InputPixelOffset": 0}, "no such InputPixelOffset"),
        ({"AlignRegionsToCorners": True}, "corners"),
        ({"OutOfBoundsInputValue": 1}, "reads 0 outside"),
        ({"MaximumSamplesPerOutput": 3}, "fixed number of samples"),
    ],
)
def test_what_roi_align_does_otherwise_is_refused(changed: dict[str, Any], reason: str) -> None:
    x = whole(1, 1, 4, 4)
    inputs = {"InputTensor": x, "ROITensor": f32([[0, 0, 2, 2]]), "BatchIndicesTensor": np.array([0], np.uint32)}
    desc = made("ROI_ALIGN1", inputs, {"OutputTensor": x[:, :, :1, :1]}, **(ALIGN | ALIGN1 | changed))
    with pytest.raises(Inexpressible, match=reason):
        build(desc)


# ---- convolutions


def convolved(
    x: Array,
    kernel: Array,
    strides: Sequence[int],
    dilations: Sequence[int],
    low: Sequence[int],
    high: Sequence[int],
    groups: int = 1,
) -> Array:
    """Slide a filter over the padded input as it is stored."""
    x = padded(x, low, high, 0)
    count, own = kernel.shape[0] // groups, x.shape[1] // groups
    found = {}
    for place, part in windows(x, kernel.shape[2:], strides, dilations):
        flat = kernel.reshape(*kernel.shape[:2], -1)
        found[place] = np.stack(
            [
                np.einsum("bck,ck->b", part[:, own * (o // count) : own * (o // count + 1)], flat[o])
                for o in range(kernel.shape[0])
            ],
            1,
        )
    last = max(found)
    made = np.empty((x.shape[0], kernel.shape[0], *(at + 1 for at in last)), x.dtype)
    for place, value in found.items():
        made[(slice(None), slice(None), *place)] = value
    return made


def transposed(
    x: Array,
    kernel: Array,
    strides: Sequence[int],
    dilations: Sequence[int],
    low: Sequence[int],
    high: Sequence[int],
    more: Sequence[int],
    groups: int = 1,
) -> Array:
    """Add to the output what each input element gives it, the filter as it is stored; then cut, or add zeros."""
    own, count = x.shape[1] // groups, kernel.shape[1]
    spans = [
        (size - 1) * step + (reach - 1) * gap + 1
        for size, step, reach, gap in zip(x.shape[2:], strides, kernel.shape[2:], dilations, strict=True)
    ]
    made = np.zeros(
        (x.shape[0], count * groups, *(span + extra for span, extra in zip(spans, more, strict=True))), x.dtype
    )
    for c, place in itertools.product(range(x.shape[1]), itertools.product(*map(range, x.shape[2:]))):
        group = c // own
        for reach in itertools.product(*map(range, kernel.shape[2:])):
            at = tuple(p * s + k * d for p, s, k, d in zip(place, strides, reach, dilations, strict=True))
            values = np.outer(x[(slice(None), c, *place)], kernel[(c, slice(None), *reach)])
            made[(slice(None), slice(group * count, (group + 1) * count), *at)] += values
    ends = [size - cut for size, cut in zip(made.shape[2:], high, strict=True)]
    return made[(slice(None), slice(None), *(slice(a, b) for a, b in zip(low, ends, strict=True)))].copy()


STEPS = {"Strides": [1, 2], "Dilations": [2, 1], "StartPadding": [1, 0], "EndPadding": [0, 2]}
GAPS = ([1, 2], [2, 1], [1, 0], [0, 2])
FORWARD = {"Mode": "CROSS_CORRELATION", "Direction": "FORWARD", "OutputPadding": [0, 0], "GroupCount": 1}


@pytest.mark.parametrize("mode", ["CROSS_CORRELATION", "CONVOLUTION"])
@pytest.mark.parametrize("groups", [1, 2])
def test_a_convolution_slides_the_filter_in_groups(mode: str, groups: int) -> None:
    x, kernel, bias = whole(2, 4, 5, 6), whole(6, 4 // groups, 2, 3, step=3), whole(1, 6, 1, 1)
    turned = kernel[:, :, ::-1, ::-1] if mode == "CONVOLUTION" else kernel
    wanted = convolved(x, turned, *GAPS, groups) + bias
    inputs = {"InputTensor": x, "FilterTensor": kernel, "BiasTensor": bias}
    expect("CONVOLUTION", inputs, {"OutputTensor": wanted}, **(FORWARD | STEPS | {"Mode": mode, "GroupCount": groups}))


@pytest.mark.parametrize("mode", ["CROSS_CORRELATION", "CONVOLUTION"])
@pytest.mark.parametrize("groups", [1, 2])
def test_a_backward_convolution_is_transposed_and_flips_once_more(mode: str, groups: int) -> None:
    x, kernel = whole(1, 4, 3, 4), whole(4, 3, 2, 3, step=3)
    turned = kernel[:, :, ::-1, ::-1] if mode == "CONVOLUTION" else kernel
    wanted = transposed(x, turned, *GAPS, (0, 0), groups)
    fields = FORWARD | STEPS | {"Mode": mode, "Direction": "BACKWARD", "GroupCount": groups}
    inputs = {"InputTensor": x, "FilterTensor": kernel}
    expect("CONVOLUTION", inputs, {"OutputTensor": wanted}, by=("onnxruntime",), **fields)


def test_output_padding_adds_zeros_and_larger_sizes_show_what_is_cut() -> None:
    x, kernel = whole(1, 2, 3, 4), whole(2, 3, 2, 3, step=3)
    fields = FORWARD | STEPS | {"Direction": "BACKWARD"}
    inputs = {"InputTensor": x, "FilterTensor": kernel}
    plain = transposed(x, kernel, *GAPS, (0, 0))
    zeros = np.pad(plain, [(0, 0), (0, 0), (0, 2), (0, 1)])
    expect("CONVOLUTION", inputs, {"OutputTensor": zeros}, by=("onnxruntime",), **(fields | {"OutputPadding": [2, 1]}))
    larger = transposed(x, kernel, [1, 2], [2, 1], [1, 0], [0, 1], (0, 0))
    assert larger.shape != plain.shape
    expect("CONVOLUTION", inputs, {"OutputTensor": larger}, by=("onnxruntime",), **fields)


def test_a_fused_activation_comes_after_the_bias() -> None:
    x, kernel, bias = whole(1, 2, 3, 3), whole(2, 2, 1, 1), f32([[[[-4]], [[2]]]])
    steps = {"Strides": [1, 1], "Dilations": [1, 1], "StartPadding": [0, 0], "EndPadding": [0, 0]}
    wanted = np.maximum(convolved(x, kernel, *steps.values()) + bias, 0)
    fields = FORWARD | steps | {"FusedActivation": {"Type": "ACTIVATION_RELU"}}
    inputs = {"InputTensor": x, "FilterTensor": kernel, "BiasTensor": bias}
    expect("CONVOLUTION", inputs, {"OutputTensor": wanted}, **fields)
    desc = made(
        "CONVOLUTION", inputs, {"OutputTensor": wanted}, **(fields | {"FusedActivation": {"Type": "ACTIVATION_TANH"}})
    )
    with pytest.raises(Inexpressible, match="ACTIVATION_TANH is fused with would be rounded"):
        build(desc)


def test_integers_are_convolved_after_their_zero_points() -> None:
    if is_before("1.24"):
        pytest.skip("before 1.24 onnxruntime has no ConvInteger of UINT8 and INT8")
    x = (whole(1, 2, 4, 5) + 10).astype(np.uint8)
    kernel = whole(3, 2, 2, 3, step=3).astype(np.int8)
    points = {
        "InputZeroPointTensor": np.full((1, 1, 1, 1), 9, np.uint8),
        "FilterZeroPointTensor": np.full((1, 1, 1, 1), -2, np.int8),
    }
    wanted = convolved(x.astype(np.int32) - 9, kernel.astype(np.int32) + 2, *GAPS)
    inputs = {"InputTensor": x, "FilterTensor": kernel, **points}
    expect("CONVOLUTION_INTEGER", inputs, {"OutputTensor": wanted}, **STEPS, GroupCount=1, by=("onnxruntime",))


def ones(value: float, kind: str, rank: int = 4) -> Array:
    return np.full((1,) * rank, value, NUMPY_TYPES[kind])


def requantized(value: Any, scale: Any, point: float, kind: str) -> Array:
    limits = np.iinfo(NUMPY_TYPES[kind])
    return np.clip(np.rint(value / scale) + point, limits.min, limits.max).astype(NUMPY_TYPES[kind])


def test_a_quantized_convolution_scales_each_output_channel() -> None:
    x = (whole(1, 2, 4, 5) + 10).astype(np.uint8)
    kernel = whole(3, 2, 2, 3, step=3).astype(np.int8)
    scales = f32([0.5, 0.25, 1]).reshape(1, 3, 1, 1)
    bias = np.array([4, -8, 16], np.int32).reshape(1, 3, 1, 1)
    total = convolved(x.astype(np.int32) - 9, kernel.astype(np.int32), *GAPS) + bias
    wanted = requantized(total * (0.5 * scales), 4.5, 100, "UINT8")
    inputs = {
        "InputTensor": x,
        "InputScaleTensor": ones(0.5, "FLOAT32"),
        "InputZeroPointTensor": ones(9, "UINT8"),
        "FilterTensor": kernel,
        "FilterScaleTensor": scales,
        "FilterZeroPointTensor": ones(0, "INT8"),
        "BiasTensor": bias,
        "OutputScaleTensor": ones(4.5, "FLOAT32"),
        "OutputZeroPointTensor": ones(100, "UINT8"),
    }
    expect("QUANTIZED_LINEAR_CONVOLUTION", inputs, {"OutputTensor": wanted}, **STEPS, GroupCount=1, by=("onnxruntime",))


def test_a_quantized_average_is_taken_of_what_the_numbers_stand_for() -> None:
    x = (whole(1, 2, 4, 4) * 8 + 100).astype(np.uint8)
    mean = pooled((x.astype(np.float64) - 90) * 0.5, lambda part: part.mean(2), [2, 2], [2, 2], [0, 0], [0, 0])
    wanted = requantized(mean, 0.25, 3, "UINT8")
    inputs = {
        "InputTensor": x,
        "InputScaleTensor": ones(0.5, "FLOAT32"),
        "InputZeroPointTensor": ones(90, "UINT8"),
        "OutputScaleTensor": ones(0.25, "FLOAT32"),
        "OutputZeroPointTensor": ones(3, "UINT8"),
    }
    shape = {"WindowSize": [2, 2], "Strides": [2, 2], "Dilations": [1, 1], "StartPadding": [0, 0], "EndPadding": [0, 0]}
    expect(
        "QUANTIZED_LINEAR_AVERAGE_POOLING",
        inputs,
        {"OutputTensor": wanted},
        by=("onnxruntime",),
        IncludePadding=False,
        **shape,
    )


# ---- products of matrices


@pytest.mark.parametrize("turns", ["NONE NONE", "TRANSPOSE NONE", "NONE TRANSPOSE"])
@pytest.mark.parametrize("batches", [(1, 1), (2, 2)])
@pytest.mark.parametrize(("alpha", "beta"), [(2, 0), (3, -2)])
def test_gemm_multiplies_every_batch(turns: str, batches: tuple[int, int], alpha: float, beta: float) -> None:
    of_a, of_b = turns.split()
    a, b, c = whole(*batches, 2, 3), whole(*batches, 3, 4, step=3), whole(*batches, 2, 4)
    wanted = alpha * (a @ b) + beta * c
    inputs = {
        "ATensor": a if of_a == "NONE" else a.swapaxes(-1, -2).copy(),
        "BTensor": b if of_b == "NONE" else b.swapaxes(-1, -2).copy(),
        "CTensor": c,
    }
    if not beta:
        del inputs["CTensor"]
    expect("GEMM", inputs, {"OutputTensor": wanted}, TransA=of_a, TransB=of_b, Alpha=alpha, Beta=beta)


def bytes_of(values: Any, kind: str) -> Array:
    return values.astype(NUMPY_TYPES[kind])


@pytest.mark.parametrize("per_row", [False, True])
def test_integer_products_take_zero_points_of_rows_and_columns(per_row: bool) -> None:
    a, b = bytes_of(whole(1, 1, 2, 3) + 5, "UINT8"), bytes_of(whole(1, 1, 3, 4, step=3), "INT8")
    of_a = np.array([4, 6], np.uint8).reshape(1, 1, 2, 1) if per_row else ones(4, "UINT8")
    of_b = np.array([1, 0, -1, 2], np.int8).reshape(1, 1, 1, 4) if per_row else ones(1, "INT8")
    wanted = (a.astype(np.int32) - of_a) @ (b.astype(np.int32) - of_b)
    inputs = {"ATensor": a, "AZeroPointTensor": of_a, "BTensor": b, "BZeroPointTensor": of_b}
    by = ("onnx",) if per_row else ("onnx", "onnxruntime")  # onnxruntime has one zero point for A
    expect("MATRIX_MULTIPLY_INTEGER", inputs, {"OutputTensor": wanted.astype(np.int32)}, by=by)


def quantized_inputs(a: Array, b: Array, scale: Any) -> dict[str, Array]:
    return {
        "ATensor": a,
        "AScaleTensor": ones(0.5, "FLOAT32"),
        "AZeroPointTensor": ones(4, "UINT8"),
        "BTensor": b,
        "BScaleTensor": scale,
        "BZeroPointTensor": ones(1, "UINT8"),
    }


def test_a_quantized_product_is_scaled_by_column() -> None:
    a, b = bytes_of(whole(1, 1, 2, 3) + 5, "UINT8"), bytes_of(whole(1, 1, 3, 4, step=3) + 3, "UINT8")
    scale = f32([0.5, 0.25, 1, 2]).reshape(1, 1, 1, 4)
    exact = ((a.astype(np.int32) - 4) @ (b.astype(np.int32) - 1)) * (0.5 * scale)
    inputs = {
        **quantized_inputs(a, b, scale),
        "OutputScaleTensor": ones(0.75, "FLOAT32"),
        "OutputZeroPointTensor": ones(30, "UINT8"),
    }
    wanted = requantized(exact, 0.75, 30, "UINT8")
    by = ("onnxruntime",)
    expect("QUANTIZED_LINEAR_MATRIX_MULTIPLY", inputs, {"OutputTensor": wanted}, by=by)
    bias = whole(1, 1, 1, 4)
    row = {**quantized_inputs(a[:, :, :1].copy(), b, scale), "BiasTensor": bias}
    expect("MATRIX_MULTIPLY_INTEGER_TO_FLOAT", row, {"OutputTensor": f32(exact[:, :, :1] + bias)}, by=by)
    expect("MATRIX_MULTIPLY_INTEGER_TO_FLOAT", quantized_inputs(a, b, scale), {"OutputTensor": f32(exact)}, by=by)
    a, b = bytes_of(whole(1, 2, 2, 3) + 5, "UINT8"), bytes_of(whole(1, 2, 3, 4, step=3) + 3, "UINT8")
    exact = ((a.astype(np.int32) - 4) @ (b.astype(np.int32) - 1)) * 0.125
    batches = quantized_inputs(a, b, ones(0.25, "FLOAT32"))
    expect("MATRIX_MULTIPLY_INTEGER_TO_FLOAT", batches, {"OutputTensor": f32(exact)}, by=by)


# ---- quantization


def test_a_quantized_range_has_its_scale_and_zero_point() -> None:
    x = f32([[-1, 0, 1.55, 4.1]])  # 5.1 / 255 = 0.02
    outputs = {
        "OutputTensor": np.array([[0, 50, 128, 255]], np.uint8),
        "OutputScaleTensor": f32([[5.1 / 255]]),
        "OutputZeroPointTensor": np.array([[50]], np.uint8),
    }
    expect("DYNAMIC_QUANTIZE_LINEAR", {"InputTensor": x}, outputs, 1e-7)


FORMS = [("one", [1, 1], None), ("rows", [2, 4], [1, 0]), ("columns", [1, 4], None), ("elements", [2, 4], None)]


@pytest.mark.parametrize(("form", "sizes", "strides"), FORMS, ids=[form[0] for form in FORMS])
def test_scales_and_zero_points_repeat_as_their_sizes_and_strides_say(
    form: str, sizes: Sequence[int], strides: Sequence[int] | None
) -> None:
    full = np.array([[0.5, 0.25, 1, 2], [4, 2, 0.5, 8]], np.float32)
    scale = {"one": full[:1, :1], "rows": full[:, :1].repeat(4, 1), "columns": full[:1], "elements": full}[form].copy()
    point = (scale * 4).astype(np.uint8)
    stored = np.array([[10, 20, 30, 40], [50, 60, 70, 80]], np.uint8)
    floats = (stored.astype(np.float32) - point) * scale
    tensors = [raw(scale), raw(point)]
    if strides:
        tensors = [{**tensor, "Strides": strides} for tensor in tensors]
    assert tensors[0]["Sizes"] == sizes
    by = ("onnx",) if form == "elements" else tuple(EVALUATORS)
    for operator, x, wanted in (("QUANTIZE", floats, stored), ("DEQUANTIZE", stored, floats)):
        desc = desc_of(
            operator,
            {
                "InputTensor": raw(x),
                "QuantizationType": "SCALE_ZERO_POINT",
                "QuantizationTensors": tensors,
                "OutputTensor": raw(wanted),
            },
        )
        for answer in answers(desc, {"InputTensor": x, "QuantizationTensors": [scale, point]}, by):
            assert answer["OutputTensor"].dtype == wanted.dtype
            assert answer["OutputTensor"].tolist() == wanted.tolist()


def test_without_a_zero_point_it_is_0_of_the_outputs_type() -> None:
    x = f32([[-3, 1, 200]])
    fields = {"QuantizationType": "SCALE"}
    inputs = {"InputTensor": x, "QuantizationTensors": [f32([[0.5]])]}
    expect("QUANTIZE", inputs, {"OutputTensor": np.array([[-6, 2, 127]], np.int8)}, **fields)


# ---- normalizations


def normalized(x: Array, axes: tuple[int, ...], epsilon: float) -> Array:
    mean, variance = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    return (x - mean) / np.sqrt(variance + epsilon)


@pytest.mark.parametrize("sizes", [(1, 3, 1, 1), (1, 3, 1, 5), (1, 1, 1, 1), (2, 3, 4, 5)])
def test_batch_normalization_follows_the_shape_of_its_tensors(sizes: Sequence[int]) -> None:
    x = whole(2, 3, 4, 5).astype(np.float64)
    scale, bias, mean = (whole(*sizes, step=step).astype(np.float64) for step in (3, 5, 7))
    variance = np.abs(whole(*sizes, step=11).astype(np.float64)) + 1
    wanted = scale * (x - mean) / np.sqrt(variance + 0.25) + bias
    inputs = {"InputTensor": f32(x), "MeanTensor": f32(mean), "VarianceTensor": f32(variance)}
    inputs |= {"ScaleTensor": f32(scale), "BiasTensor": f32(bias)}
    expect("BATCH_NORMALIZATION", inputs, {"OutputTensor": f32(wanted)}, 1e-5, Spatial=True, Epsilon=0.25)


def test_training_normalizes_by_the_statistics_that_it_gives() -> None:
    x = whole(2, 3, 4, 5).astype(np.float64)
    scale, bias = whole(1, 3, 1, 1), whole(1, 3, 1, 1, step=3)
    axes = (0, 2, 3)
    outputs = {
        "OutputTensor": f32(scale * normalized(x, axes, 0.25) + bias),
        "OutputMeanTensor": f32(x.mean(axes, keepdims=True)),
        "OutputVarianceTensor": f32(x.var(axes, keepdims=True)),
    }
    inputs = {"InputTensor": f32(x), "ScaleTensor": scale, "BiasTensor": bias}
    expect("BATCH_NORMALIZATION_TRAINING", inputs, outputs, 1e-5, Epsilon=0.25)


@pytest.mark.parametrize(
    ("operator", "axes", "sizes", "fields"),
    [
        ("MEAN_VARIANCE_NORMALIZATION", (2, 3), (1, 3, 1, 1), {"CrossChannel": False, "NormalizeVariance": True}),
        ("MEAN_VARIANCE_NORMALIZATION", (1, 2, 3), None, {"CrossChannel": True, "NormalizeVariance": True}),
        ("MEAN_VARIANCE_NORMALIZATION1", (2, 3), (1, 3, 1, 1), {"Axes": [3, 2], "NormalizeVariance": True}),
        ("MEAN_VARIANCE_NORMALIZATION1", (0, 2), (1, 3, 1, 5), {"Axes": [0, 2], "NormalizeVariance": True}),
        ("MEAN_VARIANCE_NORMALIZATION1", (1, 3), (1, 3, 1, 5), {"Axes": [1, 3], "NormalizeVariance": True}),
        ("MEAN_VARIANCE_NORMALIZATION2", (3,), (1, 1, 1, 5), {"Axes": [3], "UseMean": True, "UseVariance": True}),
    ],
)
def test_mean_and_variance_are_those_of_the_axes(
    operator: str, axes: tuple[int, ...], sizes: Sequence[int], fields: dict[str, Any]
) -> None:
    x = whole(2, 3, 4, 5, step=7, wrap=13).astype(np.float64)
    inputs = {"InputTensor": f32(x)}
    wanted = normalized(x, axes, 0.25)
    if sizes:
        inputs["ScaleTensor"], inputs["BiasTensor"] = whole(*sizes), whole(*sizes, step=3)
        if operator == "MEAN_VARIANCE_NORMALIZATION1" and axes == (0, 2):
            inputs["BiasTensor"] = whole(1, 3, 1, 1)
        wanted = wanted * inputs["ScaleTensor"] + inputs["BiasTensor"]
    expect(operator, inputs, {"OutputTensor": f32(wanted)}, 1e-5, Epsilon=0.25, **fields)


def test_a_local_response_is_taken_over_neighbouring_channels() -> None:
    x = whole(1, 5, 2, 2).astype(np.float64)
    sums = np.stack([(x[:, max(c - 1, 0) : c + 2] ** 2).sum(1) for c in range(5)], 1)
    wanted = x / (2 + 0.5 / 3 * sums) ** 0.75
    fields = {"CrossChannel": True, "LocalSize": 3, "Alpha": 0.5, "Beta": 0.75, "Bias": 2}
    expect(
        "LOCAL_RESPONSE_NORMALIZATION",
        {"InputTensor": f32(x)},
        {"OutputTensor": f32(wanted)},
        1e-5,
        ("onnxruntime",),
        **fields,
    )


@pytest.mark.parametrize("order", [1, 2])
def test_a_norm_is_that_of_its_axis(order: int) -> None:
    x = f32([[[[3, -4], [1, 2]]]])
    wanted = x / (np.abs(x) ** order).sum(2, keepdims=True) ** (1 / order)
    fields = {"Axis": 2, "Epsilon": 1e-5, "P": order}
    expect("LP_NORMALIZATION", {"InputTensor": x}, {"OutputTensor": wanted}, 1e-6, ("onnxruntime",), **fields)


# ---- resampling


def resampled(
    x: Array,
    sizes: Sequence[int],
    scales: Sequence[float],
    offsets: Sequence[tuple[float, float]],
    mode: str,
    to_floor: bool,
) -> Array:
    """Follow the formula of the page: where an output element lies in the input, beyond whose edges these repeat."""
    made = np.empty(sizes)
    for place in np.ndindex(*sizes):
        at = [(o - after) / s - before for o, s, (before, after) in zip(place, scales, offsets, strict=True)]
        if mode == "NEAREST_NEIGHBOR":
            near = [math.floor(each) if to_floor else math.ceil(each) for each in at]
            made[place] = x[tuple(min(max(each, 0), size - 1) for each, size in zip(near, x.shape, strict=True))]
            continue
        total = 0.0
        for ends in itertools.product((0, 1), repeat=len(at)):
            weight, index = 1.0, []
            for each, end, size in zip(at, ends, x.shape, strict=True):
                weight *= each % 1 if end else 1 - each % 1
                index.append(min(max(math.floor(each) + end, 0), size - 1))
            total += weight * x[tuple(index)]
        made[place] = total
    return made


CENTRES = [(0.5, -0.5)] * 2
CORNERS = [(0, 0)] * 2


@pytest.mark.parametrize("offsets", [CENTRES, CORNERS], ids=["centres", "corners"])
@pytest.mark.parametrize("direction", ["INCREASING", "DECREASING"])
@pytest.mark.parametrize(("mode", "scales", "sizes"), [
    ("NEAREST_NEIGHBOR", (2, 1.5), (6, 6)),
    ("NEAREST_NEIGHBOR", (0.5, 1), (1, 4)),
    ("LINEAR", (2, 1.5), (6, 6)),
    ("LINEAR", (2, 1), (7, 3)),
])  # fmt: skip
def test_resampling_finds_elements_by_scales_and_offsets(
    offsets: Sequence[tuple[float, float]], direction: str, mode: str, scales: Sequence[float], sizes: Sequence[int]
) -> None:
    x = whole(3, 4, wrap=13)
    wanted = resampled(x, sizes, scales, offsets, mode, direction == "DECREASING")
    before, after = zip(*offsets, strict=True)
    fields = {"Scales": list(scales), "InputPixelOffsets": list(before), "OutputPixelOffsets": list(after)}
    expect(
        "RESAMPLE2",
        {"InputTensor": x},
        {"OutputTensor": f32(wanted)},
        1e-5,
        InterpolationMode=mode,
        RoundingDirection=direction,
        **fields,
    )


@pytest.mark.parametrize(
    ("operator", "fields"),
    [("RESAMPLE", {}), ("RESAMPLE1", {}), ("RESAMPLE3", {"RoundingDirection": "DECREASING", "Antialiased": True})],
)
def test_every_version_of_resampling_takes_the_same_centres(operator: str, fields: dict[str, Any]) -> None:
    x = whole(3, 4, wrap=13)
    wanted = resampled(x, (6, 6), (2, 1.5), CENTRES, "LINEAR", to_floor=True)
    if operator != "RESAMPLE":
        fields = fields | {"InputPixelOffsets": [0.5, 0.5], "OutputPixelOffsets": [-0.5, -0.5]}
    fields = fields | {"InterpolationMode": "LINEAR", "Scales": [2, 1.5]}
    expect(operator, {"InputTensor": x}, {"OutputTensor": f32(wanted)}, 1e-5, **fields)


def test_a_filter_that_takes_effect_is_refused() -> None:
    x = whole(8, 4)
    fields = {"InputPixelOffsets": [0.5, 0.5], "OutputPixelOffsets": [-0.5, -0.5], "RoundingDirection": "DECREASING"}
    fields |= {"InterpolationMode": "LINEAR", "Scales": [0.25, 1], "Antialiased": True}
    desc = made("RESAMPLE3", {"InputTensor": x}, {"OutputTensor": x[:2]}, **fields)
    with pytest.raises(Inexpressible, match="the filter of Antialiased is not documented"):
        build(desc)


@pytest.mark.parametrize("mode", ["NEAREST_NEIGHBOR", "LINEAR"])
def test_upsampling_takes_pixel_centres(mode: str) -> None:
    x = whole(1, 2, 2, 3)
    at = [(o + 0.5) / 3 - 0.5 for o in range(6)], [(o + 0.5) / 2 - 0.5 for o in range(6)]
    wanted = np.empty((1, 2, 6, 6))
    for channel in range(2):
        image = x[0, channel]
        if mode == "NEAREST_NEIGHBOR":
            wanted[0, channel] = image.repeat(3, 0).repeat(2, 1)
        else:
            rows = np.stack([np.interp(at[0], range(2), image[:, column]) for column in range(3)], 1)
            wanted[0, channel] = np.stack([np.interp(at[1], range(3), row) for row in rows])
    fields = {"ScaleSize": {"Height": 3, "Width": 2}, "InterpolationMode": mode}
    expect("UPSAMPLE_2D", {"InputTensor": x}, {"OutputTensor": f32(wanted)}, 1e-5, **fields)


# ---- recurrent networks: the equations of the literature, in the pages' order of gates


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def steps_of(direction: str, length: int) -> range:
    return range(length) if direction == "FORWARD" else range(length - 1, -1, -1)


def small(*sizes: int, step: int = 5) -> Array:
    return whole(*sizes, step=step) / 8


def network(gates: int, direction: str, **more: Array) -> tuple[dict[str, Array], str]:
    """Return inputs of 3 steps, a batch of 2, 2 elements in and a hidden size of 2."""
    return {
        "InputTensor": small(1, 3, 2, 2),
        "WeightTensor": small(1, 1, 2 * gates, 2, step=3),
        "RecurrenceTensor": small(1, 1, 2 * gates, 2, step=7),
        "BiasTensor": small(1, 1, 1, 4 * gates, step=11),
        "HiddenInitTensor": small(1, 1, 2, 2, step=13),
        **more,
    }, direction


def pieces(inputs: dict[str, Any], gates: int) -> tuple[Any, ...]:
    x, w, r = inputs["InputTensor"][0], inputs["WeightTensor"][0, 0], inputs["RecurrenceTensor"][0, 0]
    return x, np.split(w, gates), np.split(r, gates), np.split(inputs["BiasTensor"][0, 0, 0], 2 * gates)


@pytest.mark.parametrize("direction", ["FORWARD", "BACKWARD"])
def test_rnn_follows_its_equation(direction: str) -> None:
    inputs, _ = network(1, direction)
    x, (w,), (r,), (bw, br) = pieces(inputs, 1)
    h = inputs["HiddenInitTensor"][0, 0]
    made = np.empty((3, 1, 2, 2), np.float32)
    for t in steps_of(direction, 3):
        h = np.tanh(x[t] @ w.T + h @ r.T + bw + br)
        made[t, 0] = h
    outputs = {"OutputSequenceTensor": made, "OutputSingleTensor": f32(h).reshape(1, 1, 2, 2)}
    fields = {"ActivationDescs": [{"Type": "ACTIVATION_TANH"}], "Direction": direction}
    expect("RNN", inputs, outputs, 1e-5, by=("onnxruntime",), **fields)


@pytest.mark.parametrize("direction", ["FORWARD", "BACKWARD"])
@pytest.mark.parametrize("linear_before_reset", [False, True])
def test_gru_has_update_reset_and_hidden_gates_in_this_order(direction: str, linear_before_reset: bool) -> None:
    inputs, _ = network(3, direction)
    x, (wz, wr, wh), (rz, rr, rh), (bz, br, bh, cz, cr, ch) = pieces(inputs, 3)
    h = inputs["HiddenInitTensor"][0, 0]
    made = np.empty((3, 1, 2, 2), np.float32)
    for t in steps_of(direction, 3):
        z = sigmoid(x[t] @ wz.T + h @ rz.T + bz + cz)
        r = sigmoid(x[t] @ wr.T + h @ rr.T + br + cr)
        inner = r * (h @ rh.T + ch) if linear_before_reset else (r * h) @ rh.T + ch
        h = (1 - z) * np.tanh(x[t] @ wh.T + inner + bh) + z * h
        made[t, 0] = h
    fields = {
        "ActivationDescs": [{"Type": "ACTIVATION_SIGMOID"}, {"Type": "ACTIVATION_TANH"}],
        "Direction": direction,
        "LinearBeforeReset": linear_before_reset,
    }
    outputs = {"OutputSequenceTensor": made, "OutputSingleTensor": f32(h).reshape(1, 1, 2, 2)}
    expect("GRU", inputs, outputs, 1e-5, by=("onnxruntime",), **fields)


@pytest.mark.parametrize("direction", ["FORWARD", "BACKWARD"])
@pytest.mark.parametrize("clip", [None, 0.75])
def test_lstm_has_input_output_forget_and_cell_gates_in_this_order(direction: str, clip: float | None) -> None:
    inputs, _ = network(4, direction, CellMemInitTensor=small(1, 1, 2, 2), PeepholeTensor=small(1, 1, 1, 6))
    x, (wi, wo, wf, wc), (ri, ro, rf, rc), biases = pieces(inputs, 4)
    bi, bo, bf, bc = (first + second for first, second in zip(biases[:4], biases[4:], strict=True))
    pi, po, pf = np.split(inputs["PeepholeTensor"][0, 0, 0], 3)
    h, c = inputs["HiddenInitTensor"][0, 0], inputs["CellMemInitTensor"][0, 0]

    clipped = 0

    def cut(value: Any) -> Array:
        nonlocal clipped
        clipped += clip is not None and np.abs(value).max() > clip
        return value if clip is None else np.clip(value, -clip, clip)

    made = np.empty((3, 1, 2, 2), np.float32)
    for t in steps_of(direction, 3):
        i = sigmoid(cut(x[t] @ wi.T + h @ ri.T + pi * c + bi))
        f = sigmoid(cut(x[t] @ wf.T + h @ rf.T + pf * c + bf))
        c = f * c + i * np.tanh(cut(x[t] @ wc.T + h @ rc.T + bc))
        o = sigmoid(cut(x[t] @ wo.T + h @ ro.T + po * c + bo))
        h = o * np.tanh(c)  # within the limits, beyond which onnxruntime does not clip it
        assert clip is None or np.abs(c).max() < clip
        made[t, 0] = h
    assert clipped or clip is None
    fields = {
        "ActivationDescs": [{"Type": f"ACTIVATION_{name}"} for name in ("SIGMOID", "TANH", "TANH")],
        "Direction": direction,
        "UseClipThreshold": clip is not None,
        "ClipThreshold": clip or 0,
        "CoupleInputForget": False,
    }
    single = {"OutputSingleTensor": f32(h), "OutputCellSingleTensor": f32(c)}
    outputs = {"OutputSequenceTensor": made, **{name: value.reshape(1, 1, 2, 2) for name, value in single.items()}}
    expect("LSTM", inputs, outputs, 1e-5, by=("onnxruntime",), **fields)


def test_numbers_of_activations_go_to_those_that_have_them() -> None:
    if is_before("1.29"):
        pytest.skip("before 1.29 onnxruntime ends the process where not every activation of an RNN has numbers")
    inputs, _ = network(1, "FORWARD")
    both = {name: np.concatenate([value, value], 1 if value.shape[2] > 1 else 2) for name, value in inputs.items()}
    both["InputTensor"] = inputs["InputTensor"]
    both["BiasTensor"] = inputs["BiasTensor"].repeat(2, 2)
    x, (w,), (r,), (bw, br) = pieces(inputs, 1)

    def leaky(value: Any) -> Array:
        return np.where(value < 0, 0.25 * value, value)

    made = np.empty((3, 2, 2, 2), np.float32)
    for place, function, order in ((0, np.tanh, "FORWARD"), (1, leaky, "BACKWARD")):
        h = inputs["HiddenInitTensor"][0, 0]
        for t in steps_of(order, 3):
            h = function(x[t] @ w.T + h @ r.T + bw + br)
            made[t, place] = h
    activations = [{"Type": "ACTIVATION_TANH"}, {"Type": "ACTIVATION_LEAKY_RELU", "Alpha": 0.25}]
    fields = {"ActivationDescs": activations, "Direction": "BIDIRECTIONAL"}
    expect("RNN", both, {"OutputSequenceTensor": made}, 1e-5, by=("onnxruntime",), **fields)


# ---- attention


def attended(
    q: Array, k: Array, v: Array, heads: int, scale: float, added: Array | float = 0.0
) -> tuple[Array, Array, Array]:
    """Return the softmax of each head's products of query and key, times its values; heads side by side."""

    def apart(x: Array) -> Array:
        return x.reshape(*x.shape[:2], heads, -1).transpose(0, 2, 1, 3)

    scores = apart(q) @ apart(k).swapaxes(-1, -2) * scale + added
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    mixed = weights / weights.sum(-1, keepdims=True) @ apart(v)
    return mixed.transpose(0, 2, 1, 3).reshape(*q.shape[:2], -1), apart(k), apart(v)


ATTENTION = {"Scale": 0.5, "MaskFilterValue": -100.0, "HeadCount": 2, "MaskType": "NONE"}
BY_RUNTIME = ("onnxruntime",)


def test_attention_adds_its_biases_and_gives_the_present_key_and_value() -> None:
    q, k, v = small(2, 3, 4), small(2, 5, 4, step=3), small(2, 5, 6, step=7)
    bias, position = small(14, step=11), small(2, 2, 3, 5, step=9)
    wanted, present_k, present_v = attended(q + bias[:4], k + bias[4:8], v + bias[8:], 2, 0.5, position)
    inputs = {"QueryTensor": q, "KeyTensor": k, "ValueTensor": v, "BiasTensor": bias}
    inputs["RelativePositionBiasTensor"] = position
    outputs = {"OutputTensor": wanted, "OutputPresentKeyTensor": present_k, "OutputPresentValueTensor": present_v}
    outputs = {name: f32(value) for name, value in outputs.items()}
    expect("MULTIHEAD_ATTENTION", inputs, outputs, 1e-5, BY_RUNTIME, **ATTENTION)
    fields = {name: value for name, value in ATTENTION.items() if name != "HeadCount"}
    expect("MULTIHEAD_ATTENTION1", inputs, outputs, 1e-5, BY_RUNTIME, QueryHeadCount=2, KeyValueHeadCount=2, **fields)


@pytest.mark.parametrize("form", ["StackedQueryKeyTensor", "StackedKeyValueTensor", "StackedQueryKeyValueTensor"])
def test_attention_unstacks_query_key_and_value(form: str) -> None:
    q, k, v = small(2, 3, 4), small(2, 3, 4, step=3), small(2, 3, 4, step=7)
    wanted, _, _ = attended(q, k, v, 2, 0.5)
    parts = {"Query": q, "Key": k, "Value": v}
    stacked = [value.reshape(2, 3, 2, 2) for name, value in parts.items() if name in form]
    inputs = {f"{name}Tensor": value for name, value in parts.items() if name not in form}
    inputs[form] = np.stack(stacked, 3)
    expect("MULTIHEAD_ATTENTION", inputs, {"OutputTensor": f32(wanted)}, 1e-5, BY_RUNTIME, **ATTENTION)


def test_attention_puts_the_past_before_this_step_or_takes_it_alone() -> None:
    q, k, v = small(2, 3, 4), small(2, 2, 4, step=3), small(2, 2, 4, step=7)
    past_k, past_v = small(2, 2, 3, 2, step=11), small(2, 2, 3, 2, step=13)

    def side_by_side(past: Array, step: Array) -> Array:
        return np.concatenate([past.transpose(0, 2, 1, 3).reshape(2, 3, 4), step], 1)

    wanted, present_k, present_v = attended(q, side_by_side(past_k, k), side_by_side(past_v, v), 2, 0.5)
    past = {"PastKeyTensor": past_k, "PastValueTensor": past_v}
    outputs = {"OutputTensor": wanted, "OutputPresentKeyTensor": present_k, "OutputPresentValueTensor": present_v}
    outputs = {name: f32(value) for name, value in outputs.items()}
    inputs = {"QueryTensor": q, "KeyTensor": k, "ValueTensor": v, **past}
    expect("MULTIHEAD_ATTENTION", inputs, outputs, 1e-5, BY_RUNTIME, **ATTENTION)
    alone, _, _ = attended(q, side_by_side(past_k, k)[:, :3], side_by_side(past_v, v)[:, :3], 2, 0.5)
    inputs = {"QueryTensor": q, **past}
    expect("MULTIHEAD_ATTENTION", inputs, {"OutputTensor": f32(alone)}, 1e-5, BY_RUNTIME, **ATTENTION)


def test_attention_masks_keys_by_length_or_one_by_one() -> None:
    q, k, v = small(2, 3, 4), small(2, 5, 4, step=3), small(2, 5, 4, step=7)
    seen = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 0]])
    inputs = {"QueryTensor": q, "KeyTensor": k, "ValueTensor": v}
    wanted, _, _ = attended(q, k, v, 2, 0.5, (1 - seen[:, None, None]) * -100.0)
    lengths = {**inputs, "MaskTensor": np.array([[3, 4]], np.int32)}
    fields = ATTENTION | {"MaskType": "KEY_SEQUENCE_LENGTH"}
    expect("MULTIHEAD_ATTENTION", lengths, {"OutputTensor": f32(wanted)}, 1e-5, BY_RUNTIME, **fields)
    mask = np.ones((2, 2, 3, 5), np.int32)
    mask[0, :, 1, 2] = mask[1, :, 2, 0] = 0
    wanted, _, _ = attended(q, k, v, 2, 0.5, (1 - mask) * -100.0)
    fields = ATTENTION | {"MaskType": "BOOLEAN", "MaskTensor": {"Strides": [15, 0, 5, 1]}}
    masked = {**inputs, "MaskTensor": mask}
    expect("MULTIHEAD_ATTENTION", masked, {"OutputTensor": f32(wanted)}, 1e-5, BY_RUNTIME, **fields)


# ---- operators without a counterpart


@pytest.mark.parametrize("operator", ["AVERAGE_POOLING_GRAD", "RESAMPLE_GRAD1", "ADAM_OPTIMIZER", "RANDOM_GENERATOR"])
def test_an_operator_without_a_counterpart_says_so(operator: str) -> None:
    case = next(case for case in load_cases(CASES / operator.lower()) if case.invalid is None)
    with pytest.raises(Inexpressible, match=f"ONNX has no operator for DML_OPERATOR_{operator}$"):
        build(desc_of(case.operator, case.desc))
