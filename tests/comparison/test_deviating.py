"""Wrong outputs that known deviations of DirectML explain, and those that none does."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from judged import answering, case_of, giving, result_of
from valid_descs import product

from dmlcheck.comparison.compare import JudgedOutputs, compare
from dmlcheck.comparison.deviating import explaining
from dmlcheck.comparison.tolerances import Limit
from dmlcheck.descs.read import read_desc
from dmlcheck.reference.bounds import bounds
from dmlcheck.reference.limits.precision import Precision
from dmlcheck.specs.records import OUTPUT, Deviation, Peer, Tolerance
from dmlcheck.validation.deviations import known_deviations, of_peer

NAN, INF = np.nan, np.inf
EXACT = Limit(Tolerance(exact=True), is_own=True)


def judged(operator: str, fields: dict[str, Any], inputs: dict[str, Any], expected: Any, actual: Any) -> JudgedOutputs:
    desc = read_desc(operator, fields).desc
    assert desc is not None
    name = next(part.label for part in desc.tensors(OUTPUT))
    right = {name: (desc.values[name], expected)}
    given = {name: actual}
    compared = compare(right, given, EXACT, partial(bounds, desc, inputs))
    return JudgedOutputs(desc, inputs, right, given, {}, compared, EXACT)


def of_squares(x: list[float], expected: list[float], actual: list[float], data_type: str = "FLOAT32") -> JudgedOutputs:
    tensor = {"DataType": data_type, "Sizes": [len(x)]}
    dtype = np.float32 if data_type == "FLOAT32" else np.float16
    fields = {"InputTensor": tensor, "OutputTensor": tensor, "ScaleBias": {"Scale": 2, "Bias": 1}}
    arrays = [np.array(values, dtype) for values in (x, expected, actual)]
    return judged("ELEMENT_WISE_ABS", fields, {"InputTensor": arrays[0]}, *arrays[1:])


def texts(made: JudgedOutputs, *rows: Deviation) -> list[str]:
    return [row.text for row in explaining(made, rows)]


def row(text: str = "known", **fields: Any) -> Deviation:
    return Deviation(text, "all", "a page", **fields)


@pytest.mark.parametrize(
    ("fields", "actual", "is_known"),
    [
        ({"values": "InputTensor < 0"}, [5, 2, 3], True),
        ({"values": "InputTensor < 0"}, [5, 2, 4], False),
        ({"values": "InputTensor < 0"}, [1, 2, 3], False),  # nothing is wrong
        ({"values": "x == -1"}, [5, 2, 3], True),  # 2 * -1 + 1
        ({"values": "any(InputTensor > 2)"}, [5, 5, 5], True),
        ({"values": "any(InputTensor > 3)"}, [5, 5, 5], False),
        ({"values": "expected >= 2"}, [1, 5, 5], True),
        ({"values": "InputTensor < 0", "gives": "inf"}, [np.inf, 2, 3], True),
        ({"values": "InputTensor < 0", "gives": "inf"}, [5, 2, 3], False),
        ({"values": "InputTensor < 0", "gives": "InputTensor * -64"}, [64.9, 2, 3], True),
        ({"values": "InputTensor < 0", "gives": "InputTensor * -64"}, [65.1, 2, 3], False),
        ({"values": "InputTensor < 0", "gives": "lowest"}, [np.finfo(np.float32).min, 2, 3], True),
        ({"values": "AxisTensor < 0"}, [5, 2, 3], False),  # the desc has no such tensor
        ({"values": "InputTensor[:2] < 0"}, [5, 2, 3], False),  # not of the output's shape
    ],
)
def test_a_deviation_explains_an_output_if_all_wrong_elements_are_where_and_what_it_says(
    fields: dict[str, Any], actual: list[float], is_known: bool
) -> None:
    made = of_squares([-1, 2, 3], [1, 2, 3], actual)
    assert texts(made, row(**fields)) == (["known"] if is_known else [])


@pytest.mark.parametrize(("actual", "is_known"), [(0.015, True), (-0.014, True), (0.018, False)])
def test_what_cancels_is_near_if_its_distance_from_the_right_value_is_large(actual: float, *, is_known: bool) -> None:
    made = of_squares([-1, 2, 3], [1, 2, 3], [actual, 2, 3])
    found = texts(
        made._replace(limit=EXACT._replace(precision=Precision(is_directml=True))),
        row(values="x == -1", gives="x + 1.001"),
    )
    assert found == (["known"] if is_known else [])


@pytest.mark.parametrize(
    ("actual", "is_of_another", "is_of_directml"),
    [
        (-2.02, True, True),
        (-2.019, True, True),
        (-2.01, False, True),  # nearer to the right value than to DirectML's by far enough to be another's own error
        (-1.99, False, True),
        (-2.05, False, True),
        (-2.06, False, False),
    ],
)
def test_what_is_near_the_right_value_too_is_an_implementations_own_error(
    actual: float, *, is_of_another: bool, is_of_directml: bool
) -> None:
    made = of_squares([-1, 2], [-2, 2], [actual, 2])
    known = row(values="InputTensor < 0", gives="InputTensor * float32(2.02)")
    assert texts(made, known) == (["known"] if is_of_another else [])
    of_directml = made._replace(limit=EXACT._replace(precision=Precision(is_directml=True)))
    assert texts(of_directml, known) == (["known"] if is_of_directml else [])


def test_an_element_without_a_limit_for_other_inputs_is_not_explained() -> None:
    tensor = {"DataType": "INT32", "Sizes": [2]}
    fields = {"ATensor": tensor, "BTensor": tensor, "OutputTensor": tensor}
    inputs = {"ATensor": np.int32([6, 6]), "BTensor": np.int32([2, 2])}
    made = judged("ELEMENT_WISE_DIVIDE", fields, inputs, np.int32([3, 3]), np.int32([3, 77]))
    assert texts(made, row(values="expected == 3", as_if={"BTensor": "BTensor - 2"})) == []


def test_deviations_explain_an_output_together_and_the_others_are_not_named() -> None:
    made = of_squares([-1, 2, 3], [1, 2, 3], [5, 2, 4])
    rows = row("below", values="x < 0"), row("not here", values="x > 100"), row("above", values="x > 5")
    assert texts(made, *rows) == ["below", "above"]
    assert texts(made, *rows[:2]) == []


def test_float16_is_widened_and_results_are_rounded_to_the_type_of_the_output() -> None:
    made = of_squares([300, 2], [300, 2], [7, 2], "FLOAT16")
    assert texts(made, row(values="InputTensor * InputTensor == 90000")) == ["known"]
    assert texts(made, row(values="isfinite(expected * expected)")) == ["known"]
    assert texts(made, row(values="isinf(rounded(InputTensor * InputTensor))")) == ["known"]


@pytest.mark.parametrize(("actual", "is_known"), [([1, 1, 3], True), ([1, 2, 3], False)])
def test_an_output_that_is_right_for_other_inputs_is_explained(actual: list[float], is_known: bool) -> None:
    tensor, indices = ({"DataType": kind, "Sizes": [3]} for kind in ("FLOAT32", "INT64"))
    fields = {"InputTensor": tensor, "IndicesTensor": indices, "OutputTensor": tensor, "Axis": 0}
    inputs = {"InputTensor": np.float32([1, 2, 3]), "IndicesTensor": np.int64([2, 2, 0])}
    made = judged("GATHER_ELEMENTS", fields, inputs, np.float32([3, 3, 1]), np.float32(actual))
    given = row(values="any(IndicesTensor > 1)", as_if={"IndicesTensor": "2 - IndicesTensor"})
    assert texts(made, given) == (["known"] if is_known else [])
    assert texts(made, given._replace(as_if={"ScaleTensor": "IndicesTensor"})) == []


@pytest.mark.parametrize(("actual", "is_known"), [([-0.5, 0.75], True), ([-0.25, 0.75], False)])
def test_an_output_that_is_right_for_another_attribute_is_explained(actual: list[float], is_known: bool) -> None:
    tensor = {"DataType": "FLOAT32", "Sizes": [2]}
    activation = {"Type": "ACTIVATION_LEAKY_RELU", "Alpha": 0.25}
    fields = {"ATensor": tensor, "BTensor": tensor, "OutputTensor": tensor, "FusedActivation": activation}
    inputs = {"ATensor": np.float32([-2, 0.25]), "BTensor": np.float32([1, 0.5])}
    made = judged("ELEMENT_WISE_ADD1", fields, inputs, np.float32([-0.125, 0.75]), np.float32(actual))
    given = row(values="expected < 0", as_if={"FusedActivation.Alpha": "0.5"})
    assert texts(made, given) == (["known"] if is_known else [])
    assert texts(made, given._replace(as_if={"FusedActivation.Steepness": "0.5"})) == []


@pytest.mark.parametrize(("scale", "actual", "is_known"), [(INF, NAN, False), (3e38, INF, True), (3e38, 3.0, False)])
def test_what_follows_from_an_infinite_input_is_no_overflow(scale: float, actual: float, is_known: bool) -> None:
    fields = product([1] * 4, [1] * 4, [1] * 4, Alpha=0.125)
    inputs = {"ATensor": np.full((1, 1, 1, 1), scale, np.float32), "BTensor": np.full((1, 1, 1, 1), 4, np.float32)}
    right, wrong = (np.full((1, 1, 1, 1), value, np.float32) for value in (scale / 2, actual))
    made = judged("GEMM", fields, inputs, right, wrong)
    assert texts(made, row(values="~isfinite(actual) & may_overflow()")) == (["known"] if is_known else [])


# ---- the rows of specs: what DirectML 1.13.1 and 1.15.4 gave on vkd3d-proton on Mesa lavapipe 25.0, 2026-11-29


OUTPUTS = ("OutputSingleTensor", "OutputTensor", "OutputGradientTensor")


def outcome(operator: str, fields: dict[str, Any], tensors: dict[str, tuple[str, Any]], values: Any) -> str:
    """Return the outcome of a case on a DirectML that gives these values; tensors have a type and values."""
    desc = {name: {"DataType": kind, "Sizes": list(np.shape(given))} for name, (kind, given) in tensors.items()}
    inputs = {name: given for name, (_, given) in tensors.items() if name not in OUTPUTS}
    return result_of(case_of(operator, {**desc, **fields}, inputs), giving(values, is_directml=True)).outcome


@pytest.mark.parametrize(
    ("zero_point", "bias", "given", "expected"),
    [
        (3, [2**30, -(2**30), 100], [-128, -128, 127], "xfailed"),
        (3, [2**30, -(2**30), 100], [127, -128, 127], "passed"),
        (3, [2**30, -(2**30), 100], [0, -128, 127], "failed"),
        (3, [2**30, -(2**30), 100], [127, 127, 127], "failed"),
        (-3, [2**30, -(2**30), 100], [127, 127, 127], "xfailed"),
        (0, [2**30, -(2**30), 100], [-128, -128, 127], "failed"),
    ],
)
@pytest.mark.parametrize("dimensions", [3, 4])  # of the zero point; the output has three
def test_a_quotient_beyond_int32_wraps_with_a_zero_point(
    zero_point: int, bias: list[int], given: list[int], expected: str, dimensions: int
) -> None:
    one = ("FLOAT32", [[[1.0]]])
    tensors = {
        "InputTensor": ("INT8", [[[0]]]),
        "InputScaleTensor": one,
        "FilterTensor": ("INT8", [[[0]]] * 3),
        "FilterScaleTensor": ("FLOAT32", [[[2.0]]]),
        "BiasTensor": ("INT32", [[[each] for each in bias]]),
        "OutputScaleTensor": ("FLOAT32", np.full([1] * dimensions, 1.0).tolist()),
        "OutputZeroPointTensor": ("INT8", np.full([1] * dimensions, zero_point).tolist()),
        "OutputTensor": ("INT8", [[[0]] * 3]),
    }
    fields = {"Strides": [1], "Dilations": [1], "StartPadding": [0], "EndPadding": [0], "GroupCount": 1}
    assert outcome("QUANTIZED_LINEAR_CONVOLUTION", fields, tensors, given) == expected


def outcome_of_two_products(
    fields: dict[str, Any], padding: tuple[int, int], weights: list[float], given: float
) -> str:
    """Return what becomes of a result of a convolution of 1 and 2, with a bias of 0.5."""
    tensors = {
        "InputTensor": ("FLOAT32", [[[1.0, 2.0]]]),
        "FilterTensor": ("FLOAT32", [[weights]]),
        "BiasTensor": ("FLOAT32", [[[0.5]]]),
        "OutputTensor": ("FLOAT32", [[[given]]]),
    }
    start, end = padding
    more = {"StartPadding": [start], "EndPadding": [end], "OutputPadding": [0], "GroupCount": 1}
    return outcome("CONVOLUTION", {**fields, **more}, tensors, [[[given]]])


@pytest.mark.parametrize(
    ("padding", "dilation", "given", "expected"),
    [
        ((0, 2), 1, 0.5, "xfailed"),
        ((0, 2), 1, 10.5, "passed"),
        ((0, 2), 1, 21.5, "failed"),
        ((2, 1), 2, 21.5, "xfailed"),
        ((2, 1), 2, 0.5, "failed"),
        ((1, 1), 1, 0.5, "failed"),
    ],
)
def test_backward_to_one_element_has_no_padding_or_dilations(
    padding: tuple[int, int], dilation: int, given: float, expected: str
) -> None:
    fields = {"Mode": "CONVOLUTION", "Direction": "BACKWARD", "Strides": [1], "Dilations": [dilation]}
    assert outcome_of_two_products(fields, padding, [1.0, 10.0], given) == expected


@pytest.mark.parametrize(("given", "expected"), [(INF, "xfailed"), (0.0, "passed"), (NAN, "failed")])
def test_an_axis_of_one_element_before_and_after_is_not_resampled(given: float, expected: str) -> None:
    tensors = {
        "InputTensor": ("FLOAT32", [[0.0], [3.4028234663852886e38], [0.0]]),
        "OutputTensor": ("FLOAT32", [[given]]),
    }
    fields = {
        "InterpolationMode": "LINEAR",
        "RoundingDirection": "INCREASING",
        "Scales": [0.25, 1],
        "InputPixelOffsets": [2, 0],
        "OutputPixelOffsets": [-0.5, 1],
    }
    assert outcome("RESAMPLE2", fields, tensors, [[given]]) == expected


@pytest.mark.parametrize(("given", "expected"), [(NAN, "xfailed"), (1.0, "failed")])
@pytest.mark.parametrize("strides", [[4, 4, 2, 1], [4, 4, 1, 2]])
def test_planes_are_upsampled_along_their_height_first(strides: list[int], given: float, expected: str) -> None:
    largest = 3.4028234663852886e38
    tensors = {
        "InputTensor": ("FLOAT32", [[[[0.0, largest], [0.0, -largest]]]]),
        "OutputTensor": ("FLOAT32", [[[[0.0] * 2] * 2]]),
    }
    fields = {
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 2, 2], "Strides": strides},
        "ScaleSize": {"Width": 1, "Height": 1},
        "InterpolationMode": "LINEAR",
    }
    assert outcome("UPSAMPLE_2D", fields, tensors, [[[[given, NAN], [0.0, -largest]]]]) == expected


@pytest.mark.parametrize(
    ("padding", "dilation", "given", "expected"),
    [
        ((1, 0), 1, 0.5, "xfailed"),
        ((1, 0), 1, 2.5, "passed"),
        ((1, 0), 1, 4.5, "failed"),
        ((0, 1), 2, 4.5, "xfailed"),
        ((0, 1), 2, 0.5, "passed"),
        ((0, 1), 2, 1.5, "failed"),
        ((0, 1), 1, 0.5, "failed"),
    ],
)
def test_one_window_as_large_as_the_input_has_no_padding_or_dilations(
    padding: tuple[int, int], dilation: int, given: float, expected: str
) -> None:
    fields = {"Mode": "CROSS_CORRELATION", "Direction": "FORWARD", "Strides": [2], "Dilations": [dilation]}
    assert outcome_of_two_products(fields, padding, [0.0, 2.0], given) == expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([[-128, 127], [-128, -128]], "xfailed"),
        ([[127, 127], [-128, -128]], "passed"),
        ([[-128, -128], [-128, -128]], "xfailed"),
        ([[0, 127], [-128, -128]], "failed"),
    ],
)
def test_a_quotient_of_a_matrix_product_wraps_too(given: Any, expected: str) -> None:
    tensors = {
        "ATensor": ("INT8", [[100], [-100]]),
        "AScaleTensor": ("FLOAT32", [[1000.0]]),
        "BTensor": ("INT8", [[100, 1]]),
        "BScaleTensor": ("FLOAT32", [[1000.0]]),
        "OutputScaleTensor": ("FLOAT32", [[1.0]]),
        "OutputZeroPointTensor": ("INT8", [[3]]),
        "OutputTensor": ("INT8", [[0, 0]] * 2),
    }
    assert outcome("QUANTIZED_LINEAR_MATRIX_MULTIPLY", {}, tensors, given) == expected


LARGE, ONES = 3.4028234663852886e38, [1, -1] * 15


@pytest.mark.slow
@pytest.mark.parametrize(
    ("data_type", "x", "given", "expected"),
    [
        ("FLOAT16", [60000, *[0] * 29], [*[0] * 30, *ONES], "xfailed"),
        ("FLOAT16", [60000, *[0] * 29], [0] * 60, "failed"),
        ("FLOAT16", [400, *[0] * 29], [*[0] * 30, *ONES], "failed"),
        ("FLOAT32", [LARGE, *[0] * 29], [*[0] * 30, *ONES], "xfailed"),
        ("FLOAT32", [LARGE, *[0] * 28, LARGE], [*[np.nan] * 30, *ONES], "xfailed"),
        ("FLOAT32", [1e18, *[0] * 29], [*[0] * 30, *ONES], "failed"),
    ],
)
@pytest.mark.parametrize("version", ["", "1", "2"])
def test_a_variance_that_overflows_is_infinite_in_its_group(
    data_type: str, x: Any, given: Any, expected: str, version: str
) -> None:
    tensors = {name: (data_type, [[[x], [ONES]]]) for name in ("InputTensor", "OutputTensor")}
    chosen: dict[str, Any] = {"NormalizeVariance": True, "CrossChannel": False} if version == "" else {"Axes": [3]}
    chosen |= {"1": {"NormalizeVariance": True}, "2": {"UseMean": True, "UseVariance": True}}.get(version, {})
    found = outcome(f"MEAN_VARIANCE_NORMALIZATION{version}", {**chosen, "Epsilon": 0}, tensors, given)
    assert found == expected


@pytest.mark.parametrize(
    ("data_type", "x", "alpha", "given", "expected"),
    [
        ("FLOAT16", 300, 0.01, [0, 1], "xfailed"),
        ("FLOAT16", 300, 0.01, [0, 0], "failed"),
        ("FLOAT16", 200, 0.01, [0, 1], "failed"),
        ("FLOAT32", 1e20, 1e-30, [0, 1], "xfailed"),
        ("FLOAT32", 1e18, 1e-26, [0, 1], "failed"),
    ],
)
def test_a_sum_of_squares_that_overflows_is_infinite_in_its_region(
    data_type: str, x: float, alpha: float, given: list[float], expected: str
) -> None:
    """Without it the first result is half of the gradient / (Alpha * x ^ 2) ^ 0.25; the second is the gradient."""
    batches = {"InputTensor": [x, 0], "InputGradientTensor": [100, 1], "OutputGradientTensor": [0, 0]}
    tensors = {name: (data_type, [[[[each]]] for each in values]) for name, values in batches.items()}
    fields = {"CrossChannel": False, "LocalSize": 1, "Alpha": alpha, "Beta": 0.25, "Bias": 1}
    assert outcome("LOCAL_RESPONSE_NORMALIZATION_GRAD", fields, tensors, given) == expected


@pytest.mark.parametrize(("x", "expected"), [(200, "xfailed"), (140, "failed")])
def test_a_base_that_overflows_is_infinite(x: float, expected: str) -> None:
    """The sum of squares does not overflow, but twice it."""
    batches = {"InputTensor": [[[[x]]]], "InputGradientTensor": [[[[10]]]], "OutputGradientTensor": [[[[0]]]]}
    fields = {"CrossChannel": True, "LocalSize": 1, "Alpha": 2, "Beta": -0.5, "Bias": 1}
    tensors = {name: ("FLOAT16", values) for name, values in batches.items()}
    assert outcome("LOCAL_RESPONSE_NORMALIZATION_GRAD", fields, tensors, np.inf) == expected


@pytest.mark.parametrize(("given", "expected"), [(np.inf, "xfailed"), (5, "failed")])
def test_an_infinite_gradient_of_neighbours_is_infinite_or_nan(given: float, expected: str) -> None:
    tensors = {"InputTensor": [0], "InputGradientTensor": [np.inf], "OutputGradientTensor": [0]}
    fields = {"CrossChannel": False, "LocalSize": 1, "Alpha": 1, "Beta": 1, "Bias": 1}
    typed = {name: ("FLOAT32", [[[x]]]) for name, x in tensors.items()}
    assert outcome("LOCAL_RESPONSE_NORMALIZATION_GRAD", fields, typed, [given]) == expected


@pytest.mark.parametrize(
    ("size", "columns", "expected"), [(10, 9, "xfailed"), (10, 99, "xfailed"), (9, 9, "failed"), (10, 100, "failed")]
)
def test_a_large_region_of_few_elements_lacks_rows(size: int, columns: int, expected: str) -> None:
    """Without the row of the elements nothing is left of the sum of squares."""
    ones = [[[[1] * columns]]]
    tensors = dict.fromkeys(("InputTensor", "InputGradientTensor", "OutputGradientTensor"), ("FLOAT32", ones))
    fields = {"CrossChannel": False, "LocalSize": size, "Alpha": size, "Beta": -2, "Bias": 0}
    assert outcome("LOCAL_RESPONSE_NORMALIZATION_GRAD", fields, tensors, 0) == expected


@pytest.mark.parametrize(
    ("x", "between", "expected"),
    [(3e38, [-INF, -INF], "xfailed"), (3e38, [INF, INF], "failed"), (1e37, [-INF, -INF], "failed")],
)
def test_the_difference_of_two_elements_overflows(x: float, between: list[float], expected: str) -> None:
    tensors = {"InputTensor": ("FLOAT32", [x, -x]), "OutputTensor": ("FLOAT32", [0, 0, 0, 0])}
    fields = {"InterpolationMode": "LINEAR", "Scales": [2]}
    assert outcome("RESAMPLE", fields, tensors, [x, *between, -x]) == expected


@pytest.mark.parametrize(("x", "expected"), [(INF, "xfailed"), (1, "failed")])
def test_the_last_state_after_an_infinite_one_follows_from_a_clipped_one(x: float, expected: str) -> None:
    """ELU of minus infinity is -1, and of -3.4e38 + 3.4e38 another number."""
    tensors = {"InputTensor": [[[x]], [[3e38]]], "WeightTensor": [[[1]]], "RecurrenceTensor": [[[-1]]]}
    typed = {name: ("FLOAT32", np.reshape(each, (1, -1, 1, 1)).tolist()) for name, each in tensors.items()}
    typed["OutputSingleTensor"] = ("FLOAT32", [[[[0]]]])
    fields = {"ActivationDescs": [{"Type": "ACTIVATION_ELU", "Alpha": 1}], "Direction": "FORWARD"}
    assert outcome("RNN", fields, typed, [-0.5]) == expected


@pytest.mark.parametrize(("gradient", "given", "expected"), [(1e-45, 7e-45, "xfailed"), (1e-40, 3e-40, "failed")])
def test_the_smallest_gradients_are_off_by_some_of_the_smallest_numbers(
    gradient: float, given: float, expected: str
) -> None:
    tensors = {"InputTensor": [0], "InputGradientTensor": [gradient], "OutputGradientTensor": [0]}
    fields = {"CrossChannel": False, "LocalSize": 1, "Alpha": 1, "Beta": 1, "Bias": 1}
    typed = {name: ("FLOAT32", [[[x]]]) for name, x in tensors.items()}
    assert outcome("LOCAL_RESPONSE_NORMALIZATION_GRAD", fields, typed, [given]) == expected


@pytest.mark.parametrize(("dilation", "expected"), [(2**31 - 1, "xfailed"), (2**30, "failed")])
def test_a_dilation_near_2_to_the_31_loses_gradients(dilation: int, expected: str) -> None:
    arrays = {"InputTensor": [1, -1], "InputGradientTensor": [1, 1], "OutputGradientTensor": [0, 0]}
    tensors = {name: ("FLOAT32", [[[each]]]) for name, each in arrays.items()}
    fields = {"WindowSize": [1, 1], "Strides": [1, 1], "Dilations": [dilation, 1]}
    fields |= {"StartPadding": [0, 0], "EndPadding": [0, 0]}
    assert outcome("MAX_POOLING_GRAD", fields, tensors, [1, 0]) == expected


LOWEST = -3.4028234663852886e38


@pytest.mark.parametrize(
    ("x", "window", "dilation", "padding", "given", "expected"),
    [
        ([1, 2, 3, 4], [2, 1], 2, 1, [1, 0, 0, 0], "xfailed"),  # the first of four windows beside the row
        ([1, 2, 3, 4], [2, 1], 2, 1, [0, 1, 0, 0], "failed"),
        ([1, 2, 3, 4], [3, 1], 1, 1, [1, 1, 1, 1], "passed"),
        ([1, 2, 3, 4], [3, 1], 1, 1, [2, 1, 1, 1], "failed"),
        ([-INF, LOWEST, 3], [1, 2], 1, 0, [1, 0, 1], "xfailed"),
        ([-INF, LOWEST, 3], [1, 2], 1, 0, [0, 2, 0], "failed"),
        ([-INF, -1, 3], [1, 2], 1, 0, [1, 0, 1], "failed"),
    ],
)
def test_a_gradient_of_maxima_goes_to_the_first_element(
    x: list[float], window: list[int], dilation: int, padding: int, given: list[float], expected: str
) -> None:
    count = len(x) + 1 - window[1]
    arrays = {"InputTensor": [x], "InputGradientTensor": [[1] * count], "OutputGradientTensor": [x]}
    tensors = {name: ("FLOAT32", [[each]]) for name, each in arrays.items()}
    pads = {"StartPadding": [padding, 0], "EndPadding": [padding, 0]}
    fields = {"WindowSize": window, "Strides": [1, 1], "Dilations": [dilation, 1], **pads}
    assert outcome("MAX_POOLING_GRAD", fields, tensors, given) == expected


@pytest.mark.parametrize("operator", ["AVERAGE_POOLING", "AVERAGE_POOLING1"])
@pytest.mark.parametrize(
    ("last", "given", "expected"),
    [
        (-INF, NAN, "xfailed"),
        (-INF, -INF, "passed"),
        (-INF, INF, "failed"),
        (-INF, 0, "failed"),
        (1, INF, "xfailed"),
        (1, NAN, "failed"),
    ],
)
def test_an_average_beyond_float32_is_nan_beside_an_infinity(
    operator: str, last: float, given: float, expected: str
) -> None:
    """DirectML 1.13.1 and 1.15.4, vkd3d-proton on Mesa lavapipe 25.0, 2026-11-30: two of 3.4e38 and -infinity."""
    tensors = {"InputTensor": ("FLOAT32", [[[[3.4e38, 3.4e38, last]]]]), "OutputTensor": ("FLOAT32", [[[[given]]]])}
    fields = {"Strides": [1, 1], "WindowSize": [1, 3], "StartPadding": [0, 0], "EndPadding": [0, 0]}
    more = {"Dilations": [1, 1]} if operator[-1] == "1" else {}
    assert outcome(operator, {**fields, **more, "IncludePadding": False}, tensors, given) == expected


@pytest.mark.parametrize(("stride", "expected"), [(2**32 - 1, "xfailed"), (100, "failed")])
def test_a_stride_near_2_to_the_32_wraps(stride: int, expected: str) -> None:
    tensors = {"InputGradientTensor": ("FLOAT32", [[[[8]]]]), "OutputGradientTensor": ("FLOAT32", [[[[0] * 5]]])}
    pads = {"StartPadding": [0, 0], "EndPadding": [0, 0], "IncludePadding": False}
    fields = {"WindowSize": [1, 2], "Strides": [1, stride], **pads}
    assert outcome("AVERAGE_POOLING_GRAD", fields, tensors, [4, 0, 0, 4, 4]) == expected


@pytest.mark.parametrize(
    ("function", "b", "given", "expected"),
    [
        ("RELU", [-INF, -1], [NAN, 0], "xfailed"),
        ("RELU", [-INF, -1], [1, 0], "failed"),
        ("RELU", [-2, -1], [NAN, 0], "failed"),
        ("IDENTITY", [-INF, -1], [NAN, -1], "failed"),
    ],
)
def test_a_fused_relu_of_minus_infinity_may_be_nan(
    function: str, b: list[float], given: list[float], expected: str
) -> None:
    tensors = {"ATensor": [[[[1]]]], "BTensor": [[[b]]], "OutputTensor": [[[b]]]}
    fields = {"TransA": "NONE", "TransB": "NONE", "Alpha": 1, "Beta": 0}
    fused = {"FusedActivation": {"Type": f"ACTIVATION_{function}"}}
    typed = {name: ("FLOAT32", each) for name, each in tensors.items()}
    assert outcome("GEMM", {**fields, **fused}, typed, given) == expected


@pytest.mark.parametrize(
    ("x", "given", "expected"),
    [
        ([np.inf, 1, 1], [np.inf, np.nan, 1], "xfailed"),
        ([np.inf, 1, 1], [np.inf, 7, 1], "failed"),
        ([2, 1, 1], [2, np.nan, 1], "failed"),
    ],
)
def test_results_beside_an_infinite_gradient_may_be_nan(x: list[float], given: list[float], expected: str) -> None:
    tensors = {"InputGradientTensor": ("FLOAT32", x), "OutputGradientTensor": ("FLOAT32", [0, 0, 0])}
    fields = {"InterpolationMode": "LINEAR", "Scales": [1], "InputPixelOffsets": [0.5], "OutputPixelOffsets": [-0.5]}
    assert outcome("RESAMPLE_GRAD", fields, tensors, given) == expected
    assert outcome("RESAMPLE_GRAD1", {**fields, "RoundingDirection": "DECREASING"}, tensors, given) == expected


# ---- numbers on the way that are beyond the type

HALF = 1.5000000027488779e38  # of 3e38


@pytest.mark.parametrize(
    ("between", "expected"), [([-INF, -INF], "xfailed"), ([INF, INF], "failed"), ([HALF, 0], "failed")]
)
def test_a_difference_in_an_enlarged_image_overflows(between: list[float], expected: str) -> None:
    tensors = {"InputTensor": ("FLOAT32", [[[[3e38, -3e38]]]]), "OutputTensor": ("FLOAT32", [[[[0, 0, 0, 0]]]])}
    fields = {"InterpolationMode": "LINEAR", "ScaleSize": {"Height": 1, "Width": 2}}
    assert outcome("UPSAMPLE_2D", fields, tensors, [3e38, *between, -3e38]) == expected


@pytest.mark.parametrize(
    ("mode", "given", "expected"),
    [
        ("NEAREST_NEIGHBOR", [INF, 10], "xfailed"),
        ("NEAREST_NEIGHBOR", [1e36, 10], "failed"),
        ("NEAREST_NEIGHBOR", [0, INF], "failed"),
        ("LINEAR", [INF, -HALF], "xfailed"),
        ("LINEAR", [HALF, -1e38], "failed"),
    ],
)
def test_a_partial_sum_of_a_gradient_overflows(mode: str, given: list[float], expected: str) -> None:
    terms = [3e38, 3e38, -3e38, -3e38, 1, 2, 3, 4]
    tensors = {"InputGradientTensor": ("FLOAT32", terms), "OutputGradientTensor": ("FLOAT32", [0, 0])}
    fields = {"Scales": [4], "InputPixelOffsets": [-0.5], "OutputPixelOffsets": [0.5], "InterpolationMode": mode}
    assert outcome("RESAMPLE_GRAD", fields, tensors, given) == expected


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "given", "expected"),
    [
        ("AVERAGE", [-INF, -INF, NAN], "xfailed"),
        ("AVERAGE", [-INF, -INF, 1e36], "failed"),
        ("MAX", [LOWEST, 1, -3e38], "xfailed"),
        ("MAX", [LOWEST, 2, -3e38], "failed"),
    ],
)
@pytest.mark.parametrize("operator", ["ROI_ALIGN", "ROI_ALIGN1"])
def test_samples_of_a_region_overflow(operator: str, function: str, given: list[float], expected: str) -> None:
    tensors = {
        "InputTensor": ("FLOAT32", [[[[3e38, -3e38, 1, 2]]]]),
        "ROITensor": ("FLOAT32", [[0.5, 0, 1.5, 1], [1, 0, 3, 1], [0, 0, 2, 1]]),
        "BatchIndicesTensor": ("UINT32", [0, 0, 0]),
        "OutputTensor": ("FLOAT32", [[[[0]]]] * 3),
    }
    fields = {"ReductionFunction": function, "InterpolationMode": "LINEAR", "OutOfBoundsInputValue": 0}
    fields |= {"SpatialScaleX": 1, "SpatialScaleY": 1, "MinimumSamplesPerOutput": 2, "MaximumSamplesPerOutput": 2}
    if operator == "ROI_ALIGN1":
        fields |= {"InputPixelOffset": 0.5, "OutputPixelOffset": -0.5, "AlignRegionsToCorners": False}
    assert outcome(operator, fields, tensors, given) == expected


LINE = {"Axes": [3], "Epsilon": 0.1}
NORMALIZATIONS = {
    "MEAN_VARIANCE_NORMALIZATION": {"CrossChannel": False, "NormalizeVariance": False, "Epsilon": 0.1},
    "MEAN_VARIANCE_NORMALIZATION1": {**LINE, "NormalizeVariance": False},
    "MEAN_VARIANCE_NORMALIZATION2": {**LINE, "UseMean": True, "UseVariance": False},
}


@pytest.mark.parametrize(
    ("size", "function", "given", "expected"),
    [
        (2e38, "IDENTITY", [-INF] * 4, "xfailed"),
        (2e38, "IDENTITY", [1, 2e38, -2e38, -2e38], "failed"),
        (2e37, "IDENTITY", [-INF] * 4, "failed"),
        (2e38, "TANH", [-1] * 4, "xfailed"),
        (2e38, "TANH", [0.5, 1, -1, -1], "failed"),
        (2e37, "TANH", [-1] * 4, "failed"),
        (2e38, "RELU", [NAN] * 4, "xfailed"),
    ],
)
@pytest.mark.parametrize("operator", NORMALIZATIONS)
def test_the_sum_of_a_group_overflows(
    operator: str, size: float, function: str, given: list[float], expected: str
) -> None:
    x = ("FLOAT32", [[[[size, size, -size, -size]]]])
    fused = {"FusedActivation": {"Type": f"ACTIVATION_{function}"}}
    assert outcome(operator, {**NORMALIZATIONS[operator], **fused}, {"InputTensor": x, "OutputTensor": x}, given) == (
        expected
    )


@pytest.mark.parametrize(
    ("function", "given", "expected"),
    [
        ({"Type": "ACTIVATION_IDENTITY"}, [NAN, -INF, 0, -INF], "xfailed"),
        ({"Type": "ACTIVATION_IDENTITY"}, [7, -INF, 0, -INF], "failed"),
        ({"Type": "ACTIVATION_CELU", "Alpha": 1}, [0, -1, 0, -1], "xfailed"),
        ({"Type": "ACTIVATION_CELU", "Alpha": 1}, [-0.5, -1, 0, -1], "failed"),
    ],
)
def test_a_product_with_the_scale_overflows(function: dict[str, Any], given: list[float], expected: str) -> None:
    tensors = {
        "InputTensor": [3, 1, 2, 2],
        "ScaleTensor": [3e38] * 4,
        "BiasTensor": [-INF, 0, 0, -INF],
        "OutputTensor": [0] * 4,
    }
    fields = {**NORMALIZATIONS["MEAN_VARIANCE_NORMALIZATION1"], "NormalizeVariance": True, "FusedActivation": function}
    typed = {name: ("FLOAT32", [[[x]]]) for name, x in tensors.items()}
    assert outcome("MEAN_VARIANCE_NORMALIZATION1", fields, typed, given) == expected


@pytest.mark.parametrize(
    ("function", "given", "expected"),
    [
        ({"Type": "ACTIVATION_IDENTITY"}, ([NAN] * 4, INF, INF), "xfailed"),
        ({"Type": "ACTIVATION_CELU", "Alpha": 1}, ([0] * 4, INF, INF), "xfailed"),
        ({"Type": "ACTIVATION_CELU", "Alpha": 1}, ([2] * 4, INF, INF), "failed"),
        ({"Type": "ACTIVATION_IDENTITY"}, ([NAN] * 4, 1e36, INF), "failed"),
    ],
)
def test_the_mean_of_a_batch_overflows(function: dict[str, Any], given: Any, expected: str) -> None:
    line, one = ("FLOAT32", [[[[2e38, 2e38, -2e38, -2e38]]]]), ("FLOAT32", [[[[1]]]])
    tensors = dict.fromkeys(("InputTensor", "OutputTensor"), line)
    names = "ScaleTensor", "BiasTensor", "OutputMeanTensor", "OutputVarianceTensor"
    desc = {name: {"DataType": kind, "Sizes": list(np.shape(x))} for name, (kind, x) in tensors.items()}
    desc |= {name: {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 1]} for name in names}
    inputs = {"InputTensor": line[1], "ScaleTensor": one[1], "BiasTensor": one[1]}
    outputs = dict(zip(("OutputTensor", *names[2:]), given, strict=True))
    made = {name: np.reshape(x, np.shape(line[1]) if np.ndim(x) else (1, 1, 1, 1)) for name, x in outputs.items()}
    arrays = {name: x.astype(np.float32) for name, x in made.items()}
    case = case_of("BATCH_NORMALIZATION_TRAINING", {**desc, "Epsilon": 0.1, "FusedActivation": function}, inputs)
    assert result_of(case, answering(arrays, is_directml=True)).outcome == expected


HEADS = {"MULTIHEAD_ATTENTION": {"HeadCount": 1}, "MULTIHEAD_ATTENTION1": {"QueryHeadCount": 1, "KeyValueHeadCount": 1}}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "given", "expected"),
    [(3e38, [NAN, NAN], "xfailed"), (3e38, [1, 3], "failed"), (3e37, [NAN, NAN], "failed"), (3e38, [2, 4], "passed")],
)
@pytest.mark.parametrize("operator", HEADS)
def test_a_product_of_query_and_keys_overflows(operator: str, size: float, given: list[float], expected: str) -> None:
    """The first key has no weight, but its partial sums are infinite."""
    tensors = {"QueryTensor": [[2.5, -1.5]], "KeyTensor": [[-size, -size], [0, 0]], "ValueTensor": [[1, 3], [2, 4]]}
    typed = {name: ("FLOAT32", [each]) for name, each in {**tensors, "OutputTensor": [[0, 0]]}.items()}
    fields = {**HEADS[operator], "Scale": 0.25, "MaskFilterValue": -10000, "MaskType": "NONE"}
    assert outcome(operator, fields, typed, given) == expected


def test_an_average_of_integers_is_cut_off_and_to_the_ends_of_the_type() -> None:
    made = of_squares([-1, 2, 3], [1, 2, 3], [5, 2, 3])
    integers = made._replace(actual={"OutputTensor": np.int8([127, 2, 3])}, expected={"OutputTensor": (
        made.expected["OutputTensor"][0], np.int8([1, 2, 3]))})  # fmt: skip
    assert texts(integers, row(values="InputTensor < 0", gives="InputTensor * -200.5")) == ["known"]
    assert texts(integers, row(values="InputTensor < 0", gives="InputTensor * -125.5")) == []
    assert texts(integers, row(values="InputTensor < 0", gives="InputTensor * -126.9")) == ["known"]


# ---- rows that are shipped: what DirectML 1.13.1 and 1.15.4 gave on vkd3d-proton on Mesa lavapipe 25.0, and the like

HALVES = {"DataType": "FLOAT16", "Sizes": [1, 1, 2, 2]}
SQUARE = {"DataType": "FLOAT32", "Sizes": [1, 1, 2, 2]}
LINES = {"InputTensor": HALVES, "OutputTensor": HALVES, "Epsilon": 0}
NORM = {**LINES, "Axis": 3}
GROUPS = {**LINES, "Axes": [3], "UseMean": True, "UseVariance": True}
CLIP = {"Type": "ELEMENT_WISE_CLIP", "Min": -1, "Max": 2, "ScaleBias": {"Scale": 3, "Bias": 0}}
PRODUCT = {
    "ATensor": SQUARE, "BTensor": SQUARE, "OutputTensor": SQUARE, "TransA": "NONE", "TransB": "NONE", "Alpha": 1,
    "Beta": 0, "FusedActivation": CLIP,
}  # fmt: skip
WIDE = {"DataType": "FLOAT32", "Sizes": [1, 1, 2, 3]}
SCATTER = {
    "InputTensor": WIDE, "IndicesTensor": {"DataType": "UINT64", "Sizes": [1, 1, 2, 1]},
    "UpdatesTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 2, 1]}, "OutputTensor": WIDE, "Axis": 3,
}  # fmt: skip
ONE = {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 1]}
STEP = {
    "InputTensor": ONE, "WeightTensor": ONE, "RecurrenceTensor": ONE, "HiddenInitTensor": ONE,
    "OutputSequenceTensor": ONE, "ActivationDescs": [{"Type": "ACTIVATION_SIGMOID"}], "Direction": "FORWARD",
}  # fmt: skip


def shaped(values: list[float], dtype: Any = np.float32, columns: int = 2) -> Any:
    return np.array(values, dtype).reshape(1, 1, 2, columns)


def is_explained(made: JudgedOutputs) -> bool:
    return bool(explaining(made, known_deviations(made.desc)))


@pytest.mark.parametrize(
    ("operator", "fields", "x", "expected", "known", "unknown"),
    [
        ("LP_NORMALIZATION", {**NORM, "P": 2}, [3, 4, 300, 400], [0.6, 0.8, 0.6, 0.8], [0.6, 0.8, 0, 0], [0, 0, 0, 0]),
        ("LP_NORMALIZATION", {**NORM, "P": 1}, [1, 1, 192, 64], [0.5, 0.5, 0.8, 0.2], [0.5, 0.5, 0, 0], [0, 0.5, 0, 0]),
        ("LP_NORMALIZATION", {**NORM, "P": 2}, [254, 30, 256, 0], [1, 0, 1, 0], [1, 0, 0, 0], [0, 0, 0, 0]),
        ("LP_NORMALIZATION", {**NORM, "P": 1}, [215.875, 40, 216, 40], [1, 0, 1, 0], [1, 0, 0, 0], [0, 0, 0, 0]),
        ("MEAN_VARIANCE_NORMALIZATION2", GROUPS, [300, -300, 1, 3], [1, -1, -1, 1], [0, 0, -1, 1], [0, 0, 0, 1]),
        ("MEAN_VARIANCE_NORMALIZATION2", GROUPS, [600, 200, 300, -300], [1, -1, 1, -1], [1, -1, 0, 0], [0, -1, 0, 0]),
        (
            "MEAN_VARIANCE_NORMALIZATION2", {**GROUPS, "UseMean": False}, [300, 300, 2, 2], [1, 1, 1, 1], [0, 0, 1, 1],
            [0, 0, 1, 0],
        ),
        (
            "ACTIVATION_LOG_SOFTMAX", {"InputTensor": SQUARE, "OutputTensor": SQUARE}, [NAN, 1, 0, 0], [NAN, NAN, 1, 1],
            [NAN, 46, 1, 1], [0, NAN, 1, 1],
        ),
    ],
)  # fmt: skip
def test_a_row_explains_the_lines_that_it_is_about(
    operator: str,
    fields: dict[str, Any],
    x: list[float],
    expected: list[float],
    known: list[float],
    unknown: list[float],
) -> None:
    dtype = np.float16 if fields["InputTensor"] == HALVES else np.float32
    for actual in (known, unknown):
        arrays = [shaped(values, dtype) for values in (x, expected, actual)]
        made = judged(operator, fields, {"InputTensor": arrays[0]}, *arrays[1:])
        assert is_explained(made) == (actual is known)


@pytest.mark.parametrize(("actual", "is_known"), [([1, -1, 2, 0.5], True), ([1, -1, 2.5, 0.5], False)])
def test_a_fused_clip_without_its_scale_stays_within_its_limits(actual: list[float], *, is_known: bool) -> None:
    inputs = {"ATensor": shaped([1, 0, 0, 1]), "BTensor": shaped([1, -1, 2, 0.5])}
    assert is_explained(judged("GEMM", PRODUCT, inputs, shaped([2, -1, 2, 1.5]), shaped(actual))) == is_known


@pytest.mark.parametrize("index", [2**32 + 1, 2**64 - 2, 2**63 + 2**32 - 2])
def test_indices_are_counted_modulo_2_to_the_32(index: int) -> None:
    inputs = {
        "InputTensor": shaped([1, 2, 3, 4, 5, 6], columns=3),
        "IndicesTensor": shaped([index, 0], np.uint64, 1),
        "UpdatesTensor": shaped([8, 9], columns=1),
    }
    for actual, is_known in (([1, 8, 3, 9, 5, 6], True), ([1, 9, 3, 9, 5, 6], False), ([1, 2, 3, 9, 8, 6], False)):
        arrays = [shaped(values, columns=3) for values in ([1, 2, 3, 9, 5, 6], actual)]
        assert is_explained(judged("SCATTER", SCATTER, inputs, *arrays)) == is_known


@pytest.mark.parametrize(
    ("x", "actual", "is_known"), [(NAN, 0, True), (NAN, 1, True), (2, 0, False), (2, NAN, False), (NAN, NAN, False)]
)
def test_nan_among_the_inputs_of_steps_may_give_a_number(x: float, actual: float, *, is_known: bool) -> None:
    arrays = [np.full((1, 1, 1, 1), value, np.float32) for value in (x, 1, 1, 0)]
    inputs = dict(zip(("InputTensor", "WeightTensor", "RecurrenceTensor", "HiddenInitTensor"), arrays, strict=True))
    expected = NAN if x != x else 0.880797  # noqa: PLR0124 - NaN
    made = judged("RNN", STEP, inputs, *(np.full((1, 1, 1, 1), value, np.float32) for value in (expected, actual)))
    assert is_explained(made) == is_known


SIX = {"DataType": "FLOAT32", "Sizes": [1, 6, 1]}
ATTENTION = {
    "QueryTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 1]}, "KeyTensor": SIX,
    "ValueTensor": {"DataType": "FLOAT32", "Sizes": [1, 6, 6]},
    "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 6]},
    "RelativePositionBiasTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 6]}, "Scale": 0.5, "MaskFilterValue": -3,
}  # fmt: skip
KEYS, POSITIONS = [0, 1, 2, 3, 4, 5], [0, 0.25, -0.5, 0.75, 0.1, 0.3]


def weights_of(scores: list[float]) -> Any:
    powers = np.exp(np.array(scores, np.float64))
    return (powers / powers.sum()).astype(np.float32).reshape(1, 1, -1)


@pytest.mark.slow
@pytest.mark.parametrize("operator", HEADS)
@pytest.mark.parametrize(
    ("mask_type", "mask", "right", "given"),
    [
        ("KEY_SEQUENCE_LENGTH", [[3]], [0, 0.75, 0.5, -0.75, -0.9, -0.2], [0, 0.75, 0.5, -1.5, -1, -0.5]),
        ("KEY_SEQUENCE_END_START", [[4], [1]], [-3, 0.75, 0.5, 2.25, -0.9, -0.2], [-3, 0.75, 0.5, 2.25, -1, -0.5]),
        ("BOOLEAN", [[[[1, 1, 0, 1, 0, 1]]]], [0, 0.75, -2.5, 2.25, -0.9, 2.8], [0, 0.625, -2.25, 1.875, -0.95, 2.65]),
    ],
)
def test_masks_change_what_the_bias_of_positions_does(
    operator: str, mask_type: str, mask: Any, right: list[float], given: list[float]
) -> None:
    """The scores follow from the weights that DirectML gave; each value is of one key."""
    masking = np.array(mask, np.int32)
    fields = {**ATTENTION, **HEADS[operator], "MaskType": mask_type}
    fields["MaskTensor"] = {"DataType": "INT32", "Sizes": list(masking.shape)}
    arrays = {"QueryTensor": [1], "KeyTensor": KEYS, "ValueTensor": np.eye(6), "RelativePositionBiasTensor": POSITIONS}
    inputs = {name: np.float32(x).reshape(fields[name]["Sizes"]) for name, x in arrays.items()}
    inputs["MaskTensor"] = masking
    near = Limit(Tolerance(absolute=1e-5), is_own=True)
    for actual, is_known in ((given, True), (given[::-1], False)):
        made = judged(operator, fields, inputs, weights_of(right), weights_of(actual))
        assert is_explained(made._replace(limit=near)) == is_known


@pytest.mark.parametrize(("position", "is_known"), [(-INF, True), (INF, False)])
def test_a_boolean_mask_with_a_negative_scale_makes_minus_infinity_nan(position: float, *, is_known: bool) -> None:
    fields = {**ATTENTION, **HEADS["MULTIHEAD_ATTENTION"], "MaskType": "BOOLEAN", "Scale": -0.5}
    fields["MaskTensor"] = {"DataType": "INT32", "Sizes": [1, 1, 1, 6]}
    arrays = {"QueryTensor": [0], "KeyTensor": KEYS, "ValueTensor": np.eye(6)}
    arrays["RelativePositionBiasTensor"] = [0, position, 0, 0, 0, 0]
    inputs = {name: np.float32(x).reshape(fields[name]["Sizes"]) for name, x in arrays.items()}
    inputs["MaskTensor"] = np.ones((1, 1, 1, 6), np.int32)
    made = judged(
        "MULTIHEAD_ATTENTION", fields, inputs, weights_of([0, -INF, 0, 0, 0, 0]), np.full((1, 1, 6), NAN, np.float32)
    )
    assert is_explained(made) == is_known


@pytest.mark.parametrize(("given", "is_known"), [([0.798, 0.202], True), ([0.5, 0.5], False)])
def test_a_result_that_is_near_for_other_inputs_is_explained_without_a_limit(
    given: list[float], *, is_known: bool
) -> None:
    """Products beyond FLOAT16 have none: they may be infinite. The weights of e^(1000 * (37.5 - 37.46875) / 8 - 8)."""
    halves = {name: {**ATTENTION[name], "DataType": "FLOAT16"} for name in ATTENTION if name.endswith("Tensor")}
    sizes = {"KeyTensor": [1, 2, 1], "ValueTensor": [1, 2, 2], "OutputTensor": [1, 1, 2]}
    sizes |= {"RelativePositionBiasTensor": [1, 1, 1, 2], "MaskTensor": [1, 1, 1, 2]}
    fields = {**ATTENTION, **halves, **HEADS["MULTIHEAD_ATTENTION"], "Scale": 0.125, "MaskType": "BOOLEAN"}
    fields |= {name: {"DataType": "FLOAT16", "Sizes": own} for name, own in sizes.items()}
    fields["MaskTensor"]["DataType"] = "INT32"
    arrays = {"QueryTensor": [300], "KeyTensor": [300, 299.75], "ValueTensor": np.eye(2)}
    arrays["RelativePositionBiasTensor"] = [0, 64]
    inputs = {name: np.float16(x).reshape(fields[name]["Sizes"]) for name, x in arrays.items()}
    inputs["MaskTensor"] = np.ones((1, 1, 1, 2), np.int32)
    made = judged("MULTIHEAD_ATTENTION", fields, inputs, *(np.float16(x).reshape(1, 1, 2) for x in ([0, 1], given)))
    assert is_explained(made._replace(limit=Limit(None))) == is_known


# ---- ONNX Runtime's CPU

TWO_WAYS: dict[str, Any] = {
    "InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 2, 1]},
    "WeightTensor": {"DataType": "FLOAT32", "Sizes": [1, 2, 1, 1]},
    "RecurrenceTensor": {"DataType": "FLOAT32", "Sizes": [1, 2, 1, 1]},
    "OutputSequenceTensor": {"DataType": "FLOAT32", "Sizes": [1, 2, 2, 1]},
    "Direction": "BIDIRECTIONAL",
}


@pytest.mark.parametrize(
    ("weights", "type", "actual", "is_known"),
    [
        ([INF, 0], "ACTIVATION_IDENTITY", [NAN, NAN, 1, 2], True),
        ([INF, 0], "ACTIVATION_IDENTITY", [NAN, NAN, 1, 5], False),
        ([0, INF], "ACTIVATION_IDENTITY", [NAN, NAN, 1, 2], False),
        ([0, 0], "ACTIVATION_SOFTPLUS", [1, INF, 1, 2], True),
        ([0, 0], "ACTIVATION_SOFTPLUS", [5, INF, 1, 2], False),
        ([0, 0], "ACTIVATION_SOFTPLUS", [1, INF, 5, 2], False),
    ],
)
def test_states_of_another_direction_or_batch_element_are_not_off(
    weights: list[float], type: str, actual: list[float], *, is_known: bool
) -> None:
    fields = {**TWO_WAYS, "ActivationDescs": [{"Type": type, **({"Steepness": 1} if "SOFT" in type else {})}] * 2}
    arrays = {"InputTensor": [1, 2], "WeightTensor": [1, 1], "RecurrenceTensor": weights}
    inputs = {name: np.array(values, np.float32).reshape(TWO_WAYS[name]["Sizes"]) for name, values in arrays.items()}
    wanted, given = (np.array(values, np.float32).reshape(1, 2, 2, 1) for values in ([1, 2, 1, 2], actual))
    made = judged("RNN", fields, inputs, wanted, given)
    assert bool(explaining(made, of_peer(made.desc, Peer("onnxruntime", "1.32.0")))) == is_known


@pytest.mark.parametrize(("most", "is_known"), [(4, True), (9, True), (9.5, False)])
def test_a_maximum_of_one_more_element_is_an_element_of_its_channel(most: float, *, is_known: bool) -> None:
    x = np.array([[[[1, 2, 3, 9]], [[0, 0, 0, 50]]]], np.float32)
    fields = {
        "InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 2, 1, 4]},
        "ROITensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 5]},
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 2, 1, 3]},
        "SpatialScale": 1, "PooledSize": {"Width": 3, "Height": 1},
    }  # fmt: skip
    wanted = np.array([[[[1, 2, 3]], [[0, 0, 0]]]], np.float32)
    given = wanted.copy()
    given[0, 0, 0, 1] = most
    inputs = {"InputTensor": x, "ROITensor": np.zeros((1, 1, 1, 5), np.float32)}
    made = judged("ROI_POOLING", fields, inputs, wanted, given)
    assert bool(explaining(made, of_peer(made.desc, Peer("onnxruntime", "1.32.0")))) == is_known
