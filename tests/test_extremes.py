"""Memory and time follow the tensors, not the attributes: each attribute at its extremes, and what was found."""

from __future__ import annotations

import subprocess
import sys
import time
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commandline import dmlcheck as command
from judged import case_of, giving, like_reference, result_of

import dmlcheck

ROOT = Path(__file__).parents[1]
OPERATORS = sorted(folder.name.upper() for folder in (ROOT / "cases").iterdir() if folder.is_dir())
SHARES = 4

limited = pytest.mark.skipif(sys.platform != "linux", reason="only Linux keeps a process to an address space")


@pytest.mark.slow
@limited
@pytest.mark.parametrize("share", range(SHARES))
def test_no_extreme_of_an_attribute_takes_more_than_its_tensors(share: int) -> None:
    """It is computed within 1.5 GiB of address space and 5 s, with its bounds, or refused with the number."""
    script = [sys.executable, str(ROOT / "tests" / "extremes.py"), *OPERATORS[share::SHARES]]
    done = subprocess.run(script, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    *problems, computed = done.stdout.splitlines()
    assert problems == []
    assert int(computed) > 400


# ---- descs of four elements that took gigabytes, or minutes

FAR = 3 * 10**8
FOUR = np.array([[[[1, 2], [3, 4]]]], np.float32)
TENSOR = {"DataType": "FLOAT32", "Sizes": [1, 1, 2, 2]}
SAMPLED = {
    "InputTensor": TENSOR,
    "ROITensor": {"DataType": "FLOAT32", "Sizes": [1, 4]},
    "BatchIndicesTensor": {"DataType": "UINT32", "Sizes": [1]},
    "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 1]},
    "ReductionFunction": "AVERAGE",
    "InterpolationMode": "LINEAR",
    "SpatialScaleX": 1,
    "SpatialScaleY": 1,
    "OutOfBoundsInputValue": 0,
}
REGION = {"InputTensor": FOUR, "ROITensor": [[0, 0, 1, 1]], "BatchIndicesTensor": [0]}
CORNERS = {
    "InputTensor": TENSOR,
    "OutputTensor": TENSOR,
    "Strides": [FAR + 1] * 2,
    "StartPadding": [FAR] * 2,
    "EndPadding": [FAR + 1] * 2,
    "DimensionCount": 2,
}

# Expected by hand. Windows at the places 0 and 1 along an axis begin at -3e8 and at 1: the first sees the padding
# alone, or of 3e8 + 1 elements the element 0 at its end; the second the element 1 at its start.
SMALL: dict[str, tuple[str, dict[str, Any], dict[str, Any], Any]] = {
    "convolution-of-far-padding": (
        "CONVOLUTION",
        CORNERS
        | {
            "FilterTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 2, 1]},
            "Mode": "CROSS_CORRELATION",
            "Direction": "FORWARD",
            "Dilations": [FAR, 1],
            "EndPadding": [FAR + FAR, FAR],
            "OutputPadding": [0, 0],
            "GroupCount": 1,
        },
        {"InputTensor": FOUR, "FilterTensor": np.array([[[[10], [100]]]], np.float32)},
        [[0, 200], [0, 40]],
    ),
    "average-of-far-padding": (
        "AVERAGE_POOLING",
        CORNERS | {"WindowSize": [FAR + 1] * 2, "EndPadding": [2 * FAR] * 2, "IncludePadding": False},
        {"InputTensor": FOUR},
        [[1, 2], [3, 4]],
    ),
    "maximum-of-far-padding": (
        "MAX_POOLING",
        CORNERS | {"WindowSize": [FAR + 2] * 2, "StartPadding": [FAR] * 2, "EndPadding": [2 * FAR + 1] * 2},
        {"InputTensor": FOUR},
        [[4, 4], [4, 4]],
    ),
    "norm-of-a-large-window": (
        "LP_POOLING",
        {
            "InputTensor": TENSOR,
            "OutputTensor": TENSOR,
            "Strides": [1, 1],
            "WindowSize": [30_000] * 2,
            "StartPadding": [29_999] * 2,
            "EndPadding": [0, 0],
            "P": 1,
            "DimensionCount": 2,
        },
        {"InputTensor": FOUR},
        [[1, 3], [4, 10]],
    ),
    "gradient-of-far-elements": (
        "MAX_POOLING_GRAD",
        {
            "InputTensor": TENSOR,
            "InputGradientTensor": TENSOR,
            "OutputGradientTensor": TENSOR,
            "Strides": [1, 1],
            "WindowSize": [2, 2],
            "StartPadding": [FAR, FAR],
            "EndPadding": [0, 0],
            "Dilations": [FAR, FAR],
            "DimensionCount": 2,
        },
        {"InputTensor": FOUR, "InputGradientTensor": 10 * FOUR},
        [[10, 20], [30, 40]],
    ),
    "samples": (
        "ROI_ALIGN",
        SAMPLED | {"MinimumSamplesPerOutput": 1_000, "MaximumSamplesPerOutput": 1_000},
        REGION,
        [[1.375]],
    ),
}


@pytest.mark.parametrize("name", SMALL)
def test_small_tensors_take_little_whatever_the_attributes(name: str) -> None:
    operator, desc, inputs, right = SMALL[name]
    assert dmlcheck.validate(operator, desc) == []
    tracemalloc.start()
    try:
        (found,) = dmlcheck.evaluate(operator, desc, inputs).values()
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found[0, 0].tolist() == right
    assert most < 256 * 2**20


@pytest.mark.slow
@pytest.mark.parametrize("name", SMALL)
def test_the_bounds_of_small_tensors_take_little_whatever_the_attributes(name: str) -> None:
    operator, desc, inputs, _ = SMALL[name]
    given = {field: np.asarray(x).tolist() for field, x in inputs.items()}
    larger = like_reference(
        lambda outputs: {label: np.nextafter(x, np.float32(np.inf)) for label, x in outputs.items()}
    )
    tracemalloc.start()
    try:
        result = result_of(case_of(operator, desc, given), larger)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # What is computed may be 1 ULP off, what is only moved may not.
    assert result.outcome == ("failed" if operator == "MAX_POOLING" else "passed")
    assert most < 256 * 2**20


def test_neighbours_of_all_channels_take_the_time_of_the_channels() -> None:
    """70,000 channels of 1, of which x / (1 + n / LocalSize)^1 has n up to 70,000."""
    tensor = {"DataType": "FLOAT32", "Sizes": [1, 70_000, 1, 1]}
    fields = {"CrossChannel": True, "Alpha": 1.0, "Beta": 1.0, "Bias": 1.0}
    x = np.ones((1, 70_000, 1, 1), np.float32)
    start = time.perf_counter()
    for size, seen in ((2**31 - 1, 70_000), (100_001, 50_001), (20_001, 10_001)):
        desc = {"InputTensor": tensor, "OutputTensor": tensor, "LocalSize": size, **fields}
        (found,) = dmlcheck.evaluate("LOCAL_RESPONSE_NORMALIZATION", desc, {"InputTensor": x}).values()
        assert found[0, 0, 0, 0] == np.float32(1 / (1 + seen / size))
    gradient = {"InputTensor": tensor, "InputGradientTensor": tensor, "OutputGradientTensor": tensor, **fields}
    given = {"InputTensor": x, "InputGradientTensor": x}
    for size, seen in ((3, 2), (2**31 - 1, 70_000), (20_001, 10_001)):
        desc = {**gradient, "LocalSize": size}
        (found,) = dmlcheck.evaluate("LOCAL_RESPONSE_NORMALIZATION_GRAD", desc, given).values()
        base = 1 + np.minimum(seen + np.arange(seen), min(size, 70_000)) / size  # of the channels that see channel 0
        right = 1 / base[0] - 2 / size * (base**-2).sum()
        assert found[0, 0, 0, 0] == pytest.approx(right, rel=1e-6)
    assert time.perf_counter() - start < 20


# ---- what is too much


CASE = """\
operator: ROI_ALIGN
desc:
  InputTensor: {DataType: FLOAT32, Sizes: [1, 1, 2, 2]}
  ROITensor: {DataType: FLOAT32, Sizes: [1, 4]}
  BatchIndicesTensor: {DataType: UINT32, Sizes: [1]}
  OutputTensor: {DataType: FLOAT32, Sizes: [1, 1, 1, 1]}
  ReductionFunction: AVERAGE
  InterpolationMode: LINEAR
  SpatialScaleX: 1
  SpatialScaleY: 1
  OutOfBoundsInputValue: 0
  MinimumSamplesPerOutput: 30000
  MaximumSamplesPerOutput: 30000
inputs: {InputTensor: [[[[1, 2], [3, 4]]]], ROITensor: [[0, 0, 1, 1]], BatchIndicesTensor: [0]}
cases:
  - {name: given, outputs: {OutputTensor: [[[[1.375]]]]}}
  - {name: asked}
"""
NUMBER = "too much work: about 900,000,000 samples"


def test_what_is_too_much_is_refused_with_the_number() -> None:
    desc = SAMPLED | {"MinimumSamplesPerOutput": 30_000, "MaximumSamplesPerOutput": 30_000}
    with pytest.raises(dmlcheck.InvalidInput) as refused:
        dmlcheck.evaluate("ROI_ALIGN", desc, REGION)
    (diagnostic,) = refused.value.diagnostics
    assert (diagnostic.rule, diagnostic.pointer) == ("too-much-work", "desc")
    assert diagnostic.message.startswith(NUMBER)


def test_a_case_of_too_much_work_is_skipped_with_the_number(tmp_path: Path) -> None:
    path = tmp_path / "case.yaml"
    path.write_text(CASE, encoding="utf-8")
    for implementation, reasons in ((None, [NUMBER, "no expected outputs"]), (giving(1.3750001), [NUMBER, NUMBER])):
        results = dmlcheck.run_cases(dmlcheck.load_cases(path), implementation)
        assert [result.outcome for result in results] == ["skipped", "skipped"]
        for result, reason in zip(results, reasons, strict=True):
            assert str(result.reason).startswith(reason)
    done = command("eval", str(path))
    assert done.exit_code == 5
    assert done.stdout.count(NUMBER) == 2
