"""What draws exercise, and which planted faults they find: samples of what the scripts measure whole."""

from __future__ import annotations

import drawn_coverage
import fuzz_faults
import pytest

SAMPLE = {"ELEMENT_WISE_CLIP": 250, "GATHER": 250, "TOP_K1": 250}
FAULTS = {
    "GEMM": ("ignored:TransB", "inputs-tf32", "tail-32:height"),
    "GATHER": ("negative-index", "next-index", "strides-ignored", "index-in-16-bits"),
    "PADDING": ("ignored:PaddingMode", "last-row", "tail-1024:batch"),
    "SLICE1": ("tail-1024:width", "tail-256:batch", "ignored:InputWindowStrides"),
    "MULTIHEAD_ATTENTION1": ("absent:RelativePositionBiasTensor", "exchanged:QueryHeadCount-KeyValueHeadCount"),
    "RESAMPLE3": ("ignored:Antialiased",),
    "ROI_ALIGN": ("exchanged:MinimumSamplesPerOutput-MaximumSamplesPerOutput", "ignored:OutOfBoundsInputValue"),
    "ELEMENT_WISE_CLIP": ("int64-as-float32", "largest-for-infinity"),
    "ELEMENT_WISE_ADD": ("int64-as-int32", "first-group", "float16-denormals", "broadcast-ignored"),
}


@pytest.mark.slow
@pytest.mark.parametrize("short", SAMPLE)
def test_draws_exercise_every_type_rank_value_layout_and_option(short: str) -> None:
    found = drawn_coverage.measured(f"DML_OPERATOR_{short}", SAMPLE[short])
    assert found.missing == ()
    assert found.valid >= 0.95 * found.draws


def test_what_draws_do_not_have_is_named() -> None:
    found = drawn_coverage.measured("DML_OPERATOR_ACTIVATION_RELU", 1)
    assert any("type" in text for text in found.missing)
    assert any("dimensions" in text for text in found.missing)


@pytest.mark.slow
@pytest.mark.parametrize("short", FAULTS)
def test_faults_that_matter_are_found_within_2000_draws(short: str) -> None:
    found = fuzz_faults.found(f"DML_OPERATOR_{short}", fuzz_faults.DRAWS, FAULTS[short])
    assert set(FAULTS[short]) <= found.keys()
