"""One command records how the shipped cases end on DirectML itself, from the reports of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import record_executed
from record_executed import BEGIN, END, Unrecorded, page_text, recorded, text_of, with_run

from dmlcheck.inspection.executed import FILE, CaseCounts, ExecutedRun, executed_runs, read_runs
from dmlcheck.specs.load import operator_names
from dmlcheck.specs.names import short_operator

SHIPPED = {"a.yaml::1": "GEMM", "a.yaml::2": "GEMM", "b.yaml::1": "RNN", "c.yaml::1": "JOIN"}
OLD = ExecutedRun("1.15.4", "a device", "2026-11-01", {"GEMM": CaseCounts(7), "JOIN": CaseCounts(5)})


def report(
    *ended: tuple[str, str, str], version: str | None = "1.15.4", device: str | None = "a device"
) -> dict[str, Any]:
    cases = [
        {"id": name, "operator": f"DML_OPERATOR_{operator}", "outcome": outcome} for name, operator, outcome in ended
    ]
    return {"implementation_version": version, "device": device, "cases": cases}


GEMM = report(("a.yaml::1", "GEMM", "passed"), ("a.yaml::2", "GEMM", "xfailed"), ("a.yaml::3", "GEMM", "failed"))


def test_cases_with_values_are_counted_by_operator_and_how_they_ended() -> None:
    found = recorded([GEMM, report(("b.yaml::1", "RNN", "error"))], SHIPPED, None, "2026-11-29")
    assert found == ExecutedRun(
        "1.15.4",
        "a device",
        "2026-11-29",
        {"GEMM": CaseCounts(agreed=1, known_deviations=1), "RNN": CaseCounts(errors=1)},
    )


def test_the_device_may_be_named() -> None:
    assert recorded([GEMM], SHIPPED, "my GPU", "2026-11-29").device == "my GPU"


@pytest.mark.parametrize(
    ("reports", "message"),
    [
        ([report(("a.yaml::1", "GEMM", "passed"))], "lack 1 shipped cases of their operators, such as a.yaml::2"),
        ([GEMM, report(version="1.13.1")], "several releases or devices"),
        ([GEMM, report(device="another")], "several releases or devices"),
        ([report(version=None)], "None is no release of DirectML"),
        ([report(version="dev")], "'dev' is no release of DirectML"),
        ([report(device=None)], "None no device"),
        ([report(("b.yaml::1", "RNN", "xpassed"))], "b.yaml::1 ended as xpassed: run without --expectations"),
    ],
)
def test_other_reports_are_refused(reports: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(Unrecorded, match=message):
        recorded(reports, SHIPPED, None, "2026-11-29")


def test_the_operators_of_a_run_replace_those_of_the_same_release_and_device() -> None:
    new = OLD._replace(date="2026-11-29", operators={"RNN": CaseCounts(1), "GEMM": CaseCounts(2)})
    earlier = OLD._replace(directml="1.9.1")
    gpu = OLD._replace(device="my GPU")
    both = new._replace(operators={"GEMM": CaseCounts(2), "JOIN": CaseCounts(5), "RNN": CaseCounts(1)})
    assert with_run([earlier, OLD, gpu], new) == [gpu, both, earlier]
    assert list(with_run([OLD], new)[0].operators) == ["GEMM", "JOIN", "RNN"]


def test_the_written_file_is_read_as_it_was(tmp_path: Path) -> None:
    runs = (OLD, OLD._replace(directml="1.9.1", device='a "GPU": 1', operators={"GEMM": CaseCounts(1, 2, 3, 4, 5)}))
    (tmp_path / "runs.yaml").write_text(text_of(runs))
    assert read_runs(str(tmp_path / "runs.yaml")) == runs


def test_the_page_has_a_row_for_each_run() -> None:
    page = page_text(f"before\n{BEGIN}\nold\n{END}\nafter\n", [OLD])
    assert page.startswith(f"before\n{BEGIN}\n\n| DirectML |")
    assert "\n| 1.15.4 | a device | 2026-11-01 | 12 | 12 | 0 | 0 | 0 | 0 |\n" in page
    assert page.endswith(f"\n\n{END}\nafter\n")


def test_the_shipped_file_and_page_are_as_they_are_written() -> None:
    assert Path(FILE).read_text(encoding="utf-8") == text_of(executed_runs())
    page = record_executed.PAGE.read_text(encoding="utf-8")
    assert page == page_text(page, executed_runs())


@pytest.mark.slow
def test_shipped_cases_with_values_have_the_ids_of_reports() -> None:
    found = record_executed.shipped_with_values()
    assert len(found) > 20_000
    assert set(found.values()) <= {short_operator(name) for name in operator_names()}
    assert all(name.startswith("cases/") and "\\" not in name for name in found)


def test_what_cannot_be_recorded_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert record_executed.main(["no-such.json"]) == 1
    assert "no-such.json" in capsys.readouterr().err
