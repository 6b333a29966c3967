"""The runs of the shipped cases on DirectML itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from dmlcheck.inspection.executed import CaseCounts, ExecutedRun, executed_dict, read_runs

GEMM, RNN = CaseCounts(agreed=10, known_deviations=2, skipped=1), CaseCounts(agreed=3, failed=4, errors=5)
RUN = ExecutedRun("1.15.4", "a device", "2026-11-29", {"GEMM": GEMM, "RNN": RNN})


def test_json_has_the_run_and_the_counts() -> None:
    assert executed_dict(RUN, GEMM) == {
        "directml": "1.15.4",
        "device": "a device",
        "date": "2026-11-29",
        "cases": 12,
        "agreed": 10,
        "known_deviations": 2,
        "failed": 0,
        "errors": 0,
        "skipped": 1,
    }


def test_a_file_that_is_no_yaml_is_refused(tmp_path: Path) -> None:
    (tmp_path / "runs.yaml").write_text("- [\n")
    with pytest.raises(ValueError, match="expected"):
        read_runs(str(tmp_path / "runs.yaml"))
