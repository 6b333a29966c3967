"""Convolutions against fractions, their properties, what is undefined, and their bounds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from bounds_of import gathered
from drawn_descs import OF_WINDOWS, draws
from elements import refused
from made_descs import Made
from products_of import Array, bound, built, evaluated, peak, random_floats

from dmlcheck.descs.records import OperatorDesc

RELU = {"Type": "ACTIVATION_RELU"}
OPERATORS = ("CONVOLUTION", "CONVOLUTION_INTEGER", "QUANTIZED_LINEAR_CONVOLUTION")


def convolutions(operator: str, count: int) -> Iterator[Made]:
    """Yield descs without padding of outputs, quantized ones with scales for which few results are limited."""
    wishes = {"FusedActivation": (None, RELU)} if operator == "CONVOLUTION" else None
    generator = np.random.default_rng(count)
    for desc, inputs in draws(operator, count, wishes, wanted=has_no_more, sizes=OF_WINDOWS):
        scales = {}
        if operator.startswith("QUANTIZED"):
            low, high = generator.choice([[0.1, 2.0], [50.0, 900.0]], p=[0.2, 0.8])
            scales = {"OutputScaleTensor": generator.uniform(low, high, inputs["OutputScaleTensor"].shape)}
            scales |= {
                name: generator.uniform(0.01, 2, inputs[name].shape)
                for name in ("InputScaleTensor", "FilterScaleTensor")
            }
        yield desc, inputs | {name: x.astype(np.float32) for name, x in scales.items()}


def has_no_more(desc: OperatorDesc) -> bool:
    """Whether nothing is added to the output beside what the filter gives."""
    return not any(desc.values.get("OutputPadding", ()))


# ---- CONVOLUTION


def convolution(x: Array, kernel: Array, sizes: tuple[int, ...], bias: Array | None = None, **fields: Any) -> Made:
    """Return a CONVOLUTION with these fields, the others as usual."""
    count = x.ndim - 2
    usual: dict[str, Any] = {
        "Mode": "CROSS_CORRELATION",
        "Direction": "FORWARD",
        "GroupCount": 1,
        "Strides": [1] * count,
        "Dilations": [1] * count,
        **dict.fromkeys(("StartPadding", "EndPadding", "OutputPadding"), [0] * count),
    }
    tensors = {"Input": x, "Filter": kernel, "Bias": bias}
    return built("CONVOLUTION", sizes, x.dtype.name.upper(), tensors, **usual | fields)


def test_what_the_filter_sees_is_never_there_all_at_once() -> None:
    x, kernel = np.ones((1, 8, 256, 256), np.float32), np.ones((8, 8, 5, 5), np.float32)
    assert peak(*convolution(x, kernel, (1, 8, 252, 252))) < 50 * 2**20  # all of it takes 97 MiB, with the output 101


def f32(values: Any) -> Array:
    return np.array(values, np.float32)


BACKWARD = {"Direction": "BACKWARD"}


def test_a_few_elements_have_their_own_readings() -> None:
    """Of a batch of 20: 12 has one reading, 30 and 0 of the third place are what the padding of the output adds."""
    made = convolution(f32([[[1, 2, 3]]] * 20), f32([[[10, 1]]]), (20, 1, 4), OutputPadding=[2])
    asked = np.zeros((20, 1, 4), bool)
    asked[3, 0, 0] = asked[7, 0, 2] = True
    given = gathered(*made, {"OutputTensor": asked})["OutputTensor"]
    assert {tuple(way.value.tolist()) for way in (given, *given.others)} == {(12, 30), (12, 0)}


# ---- the bounds of CONVOLUTION


def in_float32(made: Made) -> Array:
    """Add up the products of a forward convolution without padding in FLOAT32, one after the other."""
    desc, inputs = made
    x, kernel, bias = (inputs[f"{name}Tensor"] for name in ("Input", "Filter", "Bias"))
    under = np.lib.stride_tricks.sliding_window_view(x, kernel.shape[2:], tuple(range(2, x.ndim)))
    count = x.ndim - 2
    under = np.moveaxis(under, 1, 1 + count).reshape(len(x), 1, *under.shape[2 : 2 + count], -1)
    terms = under * kernel.reshape(1, len(kernel), *[1] * count, -1)
    sums = np.add.accumulate(terms, axis=-1, dtype=np.float32)[..., -1]
    assert desc.values["GroupCount"] == 1
    return np.asarray(sums + bias).reshape(-1)


def cancelling(channels: int, taps: int) -> Made:
    """Return a convolution whose bias is the negative of one of the sums of each channel."""
    generator = np.random.default_rng(channels * 100 + taps)
    x, kernel = (random_floats(generator, sizes, "FLOAT32") for sizes in ((2, channels, 12), (3, channels, taps)))
    sizes = (2, 3, 13 - taps)
    bias = -evaluated(*convolution(x, kernel, sizes))[:1, :, :1].reshape(1, 3, 1)
    return convolution(x, kernel, sizes, bias)


@pytest.mark.parametrize(("channels", "taps"), [(1, 1), (1, 3), (8, 5), (100, 9)])
def test_a_plain_convolution_in_float32_is_within_the_bound(channels: int, taps: int) -> None:
    made = cancelling(channels, taps)
    for is_likely in (False, True):
        assert not refused(in_float32(made), bound(*made, is_likely=is_likely)).any()


def test_faults_in_a_convolution_are_beyond_the_bound() -> None:
    desc, inputs = cancelling(8, 5)
    given = bound(desc, inputs)
    for name, change in (("Bias", 0.999), ("Filter", 1.001), ("Input", 0.99)):
        faulty = {**inputs, f"{name}Tensor": inputs[f"{name}Tensor"] * np.float32(change)}
        assert refused(in_float32((desc, faulty)), given).mean() > 0.8
    lost = inputs["FilterTensor"].copy()
    lost[:, 3, 2] = 0
    assert refused(in_float32((desc, {**inputs, "FilterTensor": lost})), given).mean() > 0.8


def test_accumulation_in_float16_is_within_the_bound_of_float16_alone() -> None:
    generator = np.random.default_rng(11)
    x, kernel = (random_floats(generator, sizes, "FLOAT16") for sizes in ((1, 40, 9), (3, 40, 3)))
    made = convolution(x, kernel, (1, 3, 7))
    under = np.lib.stride_tricks.sliding_window_view(x, 3, 2)
    terms = np.moveaxis(under, 1, 2).reshape(1, 1, 7, -1) * kernel.reshape(1, 3, 1, -1)
    found = np.add.accumulate(terms, axis=-1, dtype=np.float16)[..., -1].reshape(-1)
    assert refused(found, bound(*made)).mean() > 0.5
    assert not refused(found, bound(*made, accumulate="FLOAT16")).any()


def test_the_bound_of_a_backward_convolution_counts_the_terms_that_meet() -> None:
    generator = np.random.default_rng(8)
    x, kernel = (random_floats(generator, sizes, "FLOAT32") for sizes in ((1, 2, 5), (2, 3, 6)))
    made = convolution(x, kernel, (1, 3, 14), Strides=[2], Direction="BACKWARD")
    assert bound(*made).terms == 2 * 3
    made = convolution(x, kernel, (1, 3, 10), Direction="BACKWARD")
    assert bound(*made).terms == 2 * 6


# ---- integers


def test_quantized_sums_beside_a_half_may_go_to_either_neighbour() -> None:
    fields = {"Strides": [1], "Dilations": [1], "StartPadding": [0], "EndPadding": [0], "GroupCount": 1}
    every = np.arange(-128, 128)
    for scales, expected in (((0.2, 1, 0.4), [3, 4]), ((1, 1, 2), [4]), ((0.2, 1, 0.401), [3])):
        names = ("InputScale", "FilterScale", "OutputScale")
        tensors = dict(zip(names, (f32([scale]) for scale in scales), strict=True))
        tensors |= {"Input": np.array([[[5]]], np.int8), "Filter": np.array([[[1]]], np.int8)}
        tensors |= {"Bias": np.array([[[2]]], np.int32)}
        given = bound(*built("QUANTIZED_LINEAR_CONVOLUTION", (1, 1, 1), "INT8", tensors, **fields))
        assert every[np.abs(every - given.value) <= given.radius].tolist() == expected


@pytest.mark.slow
@pytest.mark.parametrize("operator", OPERATORS)
def test_random_descs_have_every_number_of_dimensions_and_groups(operator: str) -> None:
    descs = [desc for desc, _ in convolutions(operator, 60)]
    ranks = {len(desc.parts["InputTensor"][0].tensor.sizes) for desc in descs}
    assert ranks == ({3, 4, 5} if operator == "CONVOLUTION" else {3, 4})
    groups = {desc.values["GroupCount"] for desc in descs}
    assert groups == ({1, 2, 3, 4} if operator == "CONVOLUTION" else {1, 2, 3})
