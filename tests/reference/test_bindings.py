"""A desc and its kernel: what each parameter of a formula gets."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from bounds_of import gathered
from installed import GEMM, Install, described, floats, install

from dmlcheck.reference import bindings, engine
from dmlcheck.reference.rows import EVERYTHING, UNCUT, Kernel, elementwise, exact_row

__all__ = ["install"]
Array = np.ndarray[Any, Any]
INF, NAN = float("inf"), float("nan")


@pytest.mark.parametrize(
    ("field", "name"),
    [
        ("InputTensor", "input"),
        ("ATensor", "a"),
        ("OutputIndicesTensor", "output_indices"),
        ("InputTensors", "inputs"),
        ("OutputTensors[1]", "outputs[1]"),
        ("Axes", "axes"),
        ("KernelCornerROI", "kernel_corner_roi"),
        ("TransA", "trans_a"),
    ],
)
def test_a_parameter_is_named_like_its_field(field: str, name: str) -> None:
    assert bindings.parameter(field) == name


def test_a_kernel_gets_the_fields_that_its_parameters_name(install: Install) -> None:
    seen: list[Any] = []

    def gemm(a: Any, c: Any, *, trans_b: str, alpha: float, fused_activation: Any, output: Any) -> Any:
        seen.extend([c, trans_b, alpha, output.sizes])
        return fused_activation(a * alpha)

    install("GEMM", Kernel(gemm, UNCUT))
    a = floats(1, -2, 3, -4).reshape(1, 1, 2, 2)
    found = engine.evaluate(described("GEMM", **GEMM), {"ATensor": a, "BTensor": a})["OutputTensor"].values
    tenth = float(np.float32(0.1))
    assert seen == [None, "TRANSPOSE", tenth, (1, 1, 2, 2)]
    assert found.tolist() == (a * np.float32(0.1)).tolist()
    relu = {"FusedActivation": {"Type": "ACTIVATION_LEAKY_RELU", "Alpha": 0.5}}
    found = engine.evaluate(described("GEMM", **GEMM, **relu), {"ATensor": a, "BTensor": a})["OutputTensor"].values
    assert found.reshape(-1).tolist() == floats(tenth, -tenth, 3 * tenth, -2 * tenth).tolist()


def test_an_array_of_floats_is_an_array_of_numbers_of_float32(install: Install) -> None:
    def resample(input: Any, *, scales: Any) -> Any:
        return input * scales

    install("RESAMPLE", Kernel(resample, UNCUT))
    fields = dict.fromkeys(("InputTensor", "OutputTensor"), ("FLOAT32", 1, 2))
    desc = described("RESAMPLE", **fields, InterpolationMode="LINEAR", Scales=[0.1, 3])
    inputs = {"InputTensor": floats(1, 1).reshape(1, 2)}
    assert engine.run(desc, inputs)["OutputTensor"].tolist() == [[np.float32(0.1), 3]]
    asked = {"OutputTensor": np.ones((1, 2), bool)}
    assert gathered(desc, inputs, asked)["OutputTensor"].radius.max() < 1e-6
    rounding = gathered(desc, inputs, asked, "FLOAT16")["OutputTensor"].radius
    assert rounding[0] >= abs(float(np.float32(0.1)) - float(np.float16(0.1)))


@pytest.mark.parametrize(
    "outputs", [["OutputSingleTensor"], ["OutputSequenceTensor"], ["OutputSequenceTensor", "OutputSingleTensor"]]
)
def test_an_array_of_operators_comes_as_functions_whatever_outputs_there_are(
    install: Install, outputs: list[str]
) -> None:
    def rnn(input: Any, *, activation_descs: Any) -> Any:
        first, second = activation_descs
        return dict.fromkeys(("output_single", "output_sequence"), np.repeat(second(first(input)), 2, 1))

    install("RNN", Kernel(rnn, EVERYTHING))
    sizes = {"OutputSingleTensor": (1, 2, 1, 1), "OutputSequenceTensor": (1, 2, 1, 1)}
    relu = {"Type": "ACTIVATION_LINEAR", "Alpha": 2, "Beta": 3}
    desc = described(
        "RNN",
        InputTensor=("FLOAT16", 1, 1, 1, 1),
        WeightTensor=("FLOAT16", 1, 2, 1, 1),
        RecurrenceTensor=("FLOAT16", 1, 2, 1, 1),
        ActivationDescs=[relu, {"Type": "ACTIVATION_LEAKY_RELU", "Alpha": 0.5}],
        Direction="BIDIRECTIONAL",
        **{name: ("FLOAT16", *sizes[name]) for name in outputs},
    )
    found = engine.evaluate(desc, {"InputTensor": np.full((1, 1, 1, 1), -4, np.float16)})
    assert {name: part.values[0, 0, 0, 0].item() for name, part in found.items()} == dict.fromkeys(outputs, -2.5)


@pytest.mark.parametrize(
    ("scale", "bias", "expected"), [(0.1, 0, (0.3, 0.7, 9, 0)), (1, 1.1, (4.1, 8.1, 9, 0))], ids=["scale", "bias"]
)
def test_a_nested_operator_has_its_scale_and_bias(
    install: Install, scale: float, bias: float, expected: tuple[float, ...]
) -> None:
    def add1(a: Any, *, fused_activation: Any) -> Any:
        return fused_activation(a)

    install("GEMM", elementwise(add1))
    clip = {"Type": "ELEMENT_WISE_CLIP", "ScaleBias": {"Scale": scale, "Bias": bias}, "Min": 0, "Max": 9}
    desc = described("GEMM", **{**GEMM, "FusedActivation": clip})
    x = floats(3, 7, 300, -300).reshape(1, 1, 2, 2)
    found = engine.evaluate(desc, {"ATensor": x, "BTensor": x})["OutputTensor"].values
    assert found.reshape(-1).tolist() == floats(*expected).tolist()
    asked = {"OutputTensor": np.ones(x.shape, bool)}
    given = gathered(desc, {"ATensor": x, "BTensor": x}, asked)["OutputTensor"]
    assert (given.radius[:2] > 0).all()
    assert (given.radius < 1e-6).all()


def test_integer_tensors_may_have_a_function_of_their_own(install: Install) -> None:
    row = elementwise(lambda input: input + 0.5, integers=lambda input: input // 2)
    install("ELEMENT_WISE_IDENTITY", row)
    for data_type, expected in (("FLOAT32", [1.5, 7.5]), ("INT8", [0, 3]), ("UINT64", [0, 3])):
        desc = described("ELEMENT_WISE_IDENTITY", InputTensor=(data_type, 2), OutputTensor=(data_type, 2))
        x = np.array([1, 7], data_type.lower())
        assert engine.evaluate(desc, {"InputTensor": x})["OutputTensor"].values.tolist() == expected


def test_arrays_of_tensors_come_as_lists(install: Install) -> None:
    def join(inputs: Any, *, axis: int) -> Any:
        first, second = inputs
        return np.concatenate([first, -second], axis)

    install("JOIN", exact_row(join, UNCUT))
    desc = described("JOIN", InputTensors=[("INT32", 2), ("INT32", 3)], OutputTensor=("INT32", 5), Axis=0)
    parts = [np.array([1, 2], np.int32), np.array([3, 4, 5], np.int32)]
    assert engine.evaluate(desc, {"InputTensors": parts})["OutputTensor"].values.tolist() == [1, 2, -3, -4, -5]


def test_an_array_of_integer_tensors_has_the_formula_for_integers(install: Install) -> None:
    def join(inputs: Any, *, change: Callable[[Any], Any]) -> Any:
        return change(np.concatenate(inputs))

    floats, integers = partial(join, change=np.positive), partial(join, change=np.negative)
    install("JOIN", exact_row(floats, UNCUT, integers=integers))
    for data_type, expected in (("FLOAT32", [1, 2]), ("INT32", [-1, -2])):
        desc = described("JOIN", InputTensors=[(data_type, 1)] * 2, OutputTensor=(data_type, 2), Axis=0)
        parts = [np.array([number], data_type.lower()) for number in (1, 2)]
        assert engine.evaluate(desc, {"InputTensors": parts})["OutputTensor"].values.tolist() == expected
