"""Results without a limit: few operators have any on random values, and each of them for a reason."""

from __future__ import annotations

import pytest
import unlimited
from guide_pages import PAGES, section

from dmlcheck.specs.load import full_name

SAMPLE = (
    "MEAN_VARIANCE_NORMALIZATION1",
    "MEAN_VARIANCE_NORMALIZATION2",
    "BATCH_NORMALIZATION_TRAINING",
    "LP_NORMALIZATION",
    "CONVOLUTION",
    "GEMM",
    "REDUCE",
    "ACTIVATION_SOFTMAX",
    "ELEMENT_WISE_SIN",
    "RESAMPLE",
    "CUMULATIVE_SUMMATION",
    "AVERAGE_POOLING",
)


@pytest.mark.slow
@pytest.mark.parametrize("short", SAMPLE)
def test_random_values_of_any_mean_have_limits(short: str) -> None:
    found = unlimited.shares(str(full_name(short)), draws=6, is_fused=False)
    assert all(count.elements > 0 for count in found.values())
    assert [count.unlimited for count in found.values()] == [0] * len(unlimited.MEANS)


def test_what_has_no_limit_is_in_the_guide_with_its_reason() -> None:
    table = section(PAGES["derivation.md"], "Elements without a limit")
    for short, reason in unlimited.REASONS.items():
        (row,) = (line for line in table.splitlines() if line.startswith(f"| {short} |"))
        assert row.endswith(f"| {reason} |")
