"""The runs of the shipped cases on DirectML itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from dmlcheck.inspection.executed import CaseCounts, ExecutedRun, executed_dict, executed_runs, read_runs, runs_of
from dmlcheck.specs.load import operator_names
from dmlcheck.specs.names import OPERATOR_PREFIX, parse_version

GEMM, RNN = CaseCounts(agreed=10, known_deviations=2, skipped=1), CaseCounts(agreed=3, failed=4, errors=5)
RUN = ExecutedRun("1.15.4", "a device", "2026-11-29", {"GEMM": GEMM, "RNN": RNN})


def test_cases_that_were_skipped_were_not_asked() -> None:
    assert (GEMM.asked, RNN.asked) == (12, 12)


def test_the_counts_of_all_operators_are_added() -> None:
    assert RUN.counts("DML_OPERATOR_GEMM") == RUN.counts("GEMM") == GEMM
    assert RUN.counts("DML_OPERATOR_JOIN") == CaseCounts()
    assert RUN.counts() == CaseCounts(agreed=13, known_deviations=2, failed=4, errors=5, skipped=1)


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


def test_the_shipped_runs_are_of_operators_and_releases_the_newest_first() -> None:
    runs = executed_runs()
    assert {"1.13.1", "1.15.4"} <= {run.directml for run in runs}
    versions = [parse_version(run.directml) or () for run in runs]
    assert versions == sorted(versions, reverse=True)
    assert () not in versions
    for run in runs:
        assert {OPERATOR_PREFIX + name for name in run.operators} <= set(operator_names())
        assert all(map(any, run.operators.values()))


def test_an_operator_has_the_runs_that_computed_it() -> None:
    found = runs_of("DML_OPERATOR_GEMM")
    assert [run for run, _ in found] == list(executed_runs())
    assert [counts for _, counts in found] == [run.operators["GEMM"] for run in executed_runs()]
    assert runs_of("DML_OPERATOR_NONE") == []


def test_a_file_that_is_no_yaml_is_refused(tmp_path: Path) -> None:
    (tmp_path / "runs.yaml").write_text("- [\n")
    with pytest.raises(ValueError, match="expected"):
        read_runs(str(tmp_path / "runs.yaml"))
