"""`pytest --dmlcheck`: cases as tests, in one process and under pytest-xdist, in pytest's own reports."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

HERE = Path(__file__).parent
FILE = """\
operator: DML_OPERATOR_REDUCE
source: by hand
desc:
  Function: SUM
  InputTensor: {DataType: FLOAT32, Sizes: [3]}
  OutputTensor: {DataType: FLOAT32, Sizes: [1]}
  Axes: [0]
inputs: {InputTensor: [1, 2, 3]}
cases:
- {name: right, outputs: {OutputTensor: [6]}}
- {name: wrong, outputs: {OutputTensor: [7]}}
- {name: nothing}
- {name: illegal, desc: {Axes: [1]}, outputs: {OutputTensor: [6]}}
- {name: malformed, output: 3}
- {name: many, matrix: {N: [5, 6, 7]}, outputs: {OutputTensor: ["${N}"]}}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "cases").mkdir()
    (tmp_path / "cases" / "sum.yaml").write_text(FILE, encoding="utf-8")
    (tmp_path / "cases" / "broken.yaml").write_text("operator: [\n", encoding="utf-8")
    (tmp_path / "cases" / "report.json").write_text('{"schema": "dmlcheck-report/1", "cases": []}', encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words: str) -> subprocess.CompletedProcess[str]:
    """Run pytest in a process of its own."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:hypothesispytest", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def counts(words: str) -> str:
    return words.splitlines()[-1].partition(" in ")[0].strip("= ")


@pytest.mark.slow
@pytest.mark.parametrize("processes", ["0", "2"])
def test_every_case_is_a_test(processes: str) -> None:
    result = run("--dmlcheck", "cases", "-n", processes, "--junitxml", "r.xml")
    assert (result.returncode, counts(result.stdout)) == (1, "6 failed, 2 passed, 1 skipped")
    cases = {case.get("name"): case for case in ET.parse("r.xml").iter("testcase")}  # noqa: S314 - our own file
    assert cases.keys() == {
        "file", "right", "wrong", "nothing", "illegal", "malformed", "many[N=5]", "many[N=6]", "many[N=7]",
    }  # fmt: skip
    failure = cases["wrong"].find("failure")
    assert failure is not None
    assert "expected 7 (0x1.cp+2)  actual 6 (0x1.8p+2)" in (failure.text or "")
    assert "again: dmlcheck run cases/sum.yaml::wrong" in (failure.text or "")
    assert cases["nothing"].find("skipped") is not None
    assert cases["right"].find("failure") is None


@pytest.mark.slow
def test_a_failure_shows_the_line_and_no_traceback() -> None:
    result = run("--dmlcheck", "cases/sum.yaml")
    assert "error[axis-out-of-range]: Axes[0] is 1" in result.stdout
    assert "error[unknown-key]: a case has no key output" in result.stdout
    assert "runtest" not in result.stdout


@pytest.mark.slow
def test_one_case_may_be_asked_for() -> None:
    assert counts(run("--dmlcheck", "cases/sum.yaml::right").stdout) == "1 passed"
    assert counts(run("--dmlcheck", "cases", "-k", "many and 6").stdout) == "1 passed, 8 deselected"


@pytest.mark.slow
def test_nothing_is_collected_unasked() -> None:
    assert run("cases").returncode == 5


@pytest.mark.slow
def test_an_implementation_and_its_level_may_be_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(HERE))
    words = ["--dmlcheck", "cases/sum.yaml::right", "--dmlcheck-implementation", "python:misbehaving:Misbehaving"]
    assert counts(run(*words).stdout) == "1 passed"
    assert counts(run(*words, "--dmlcheck-feature-level", "1_0").stdout) == "1 skipped"


@pytest.mark.parametrize("words", [["--dmlcheck-implementation", "nobody"], ["--dmlcheck-feature-level", "9_9"]])
def test_options_that_mean_nothing_are_refused(words: list[str]) -> None:
    result = run("--dmlcheck", "cases", *words)
    assert (result.returncode, words[1] in result.stderr) == (4, True)


def test_the_plugin_costs_nothing_where_it_is_not_used() -> None:
    script = "import sys, dmlcheck.pytest_plugin; assert not {'numpy', 'yaml', 'click', 'rich'} & sys.modules.keys()"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
