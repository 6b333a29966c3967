"""What is kept of failed cases."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from commandline import dmlcheck, json_of

from dmlcheck.running.keep import folder_of

CASES = """\
operator: DML_OPERATOR_JOIN
source: by hand
feature_level: "3_1"
desc:
  InputTensors: [{DataType: FLOAT32, Sizes: [2]}, {DataType: FLOAT32, Sizes: [1]}]
  OutputTensor: {DataType: FLOAT32, Sizes: [3]}
  Axis: 0
inputs: {InputTensors: [[1, 2], [3]]}
cases:
- {name: listed, outputs: {OutputTensor: [1, 2, 3]}}
- {name: 'own/"tolerance"', outputs: {OutputTensor: [1, 2, 3]}, tolerance: {absolute: 0.5}}
- {name: compared}
- {name: right, inputs: {InputTensors: [[7, 7], [7]]}, outputs: {OutputTensor: [7, 7, 7]}}
"""
SEVENS = """
import numpy as np

class Sevens:
    name = "sevens"
    errors = "a warning\\nof two lines"

    def run(self, desc, inputs):
        if desc.values["Axis"]:
            raise OSError("no device")
        return {"OutputTensor": np.full(3, 7, np.float32)}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "cases.yaml").write_text(CASES, encoding="utf-8")
    (tmp_path / "sevens.py").write_text(SEVENS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "sevens", raising=False)
    return tmp_path


run = partial(dmlcheck, "run", "cases.yaml", "--implementation", "python:sevens:Sevens")


@pytest.mark.slow
def test_a_failed_case_is_a_folder_that_runs_again_and_fails_again(folder: Path) -> None:
    result = run("--keep", "kept", "--json", "report.json")
    assert result.exit_code == 1
    report = json_of(folder / "report.json")
    kept = {case["name"]: case.get("kept") for case in report["cases"]}
    assert kept["right"] is None
    assert sorted(path.name for path in (folder / "kept").iterdir()) == sorted(
        Path(str(kept[name])).name for name in ("listed", 'own/"tolerance"', "compared")
    )
    for name in ("listed", 'own/"tolerance"', "compared"):
        place = folder / str(kept[name])
        assert f"  kept: {kept[name]}\n" in result.output
        files = sorted(path.relative_to(place).as_posix() for path in place.rglob("*") if path.is_file())
        assert files == [
            "actual/OutputTensor.npy",
            "allowed/OutputTensor.npy",
            "case.yaml",
            "expected/OutputTensor.npy",
            "inputs/InputTensors[0].npy",
            "inputs/InputTensors[1].npy",
            "stderr.txt",
        ]
        assert np.load(place / "actual" / "OutputTensor.npy").tolist() == [7, 7, 7]
        assert np.load(place / "expected" / "OutputTensor.npy").tolist() == [1, 2, 3]
        assert np.load(place / "inputs" / "InputTensors[1].npy").tolist() == [3]
        # a join moves its elements: nothing but equal ones is allowed, except by the case's own tolerance
        allowed = 0.5 if "tolerance" in name else 0
        assert np.load(place / "allowed" / "OutputTensor.npy").tolist() == [allowed] * 3
        assert (place / "stderr.txt").read_text(encoding="utf-8") == "a warning\nof two lines"
        again = dmlcheck("run", str(place / "case.yaml"), "--implementation", "python:sevens:Sevens")
        assert again.exit_code == 1, again.output
        assert "1 failed" in again.output
        own = dmlcheck("run", str(place / "case.yaml"))
        assert own.exit_code == (5 if name == "compared" else 0), own.output


TWO_OUTPUTS = """\
operator: DML_OPERATOR_TOP_K
source: by hand
desc:
  InputTensor: {DataType: FLOAT32, Sizes: [1, 1, 1, 3]}
  OutputValueTensor: {DataType: FLOAT32, Sizes: [1, 1, 1, 1]}
  OutputIndexTensor: {DataType: UINT32, Sizes: [1, 1, 1, 1]}
  Axis: 3
  K: 1
inputs: {InputTensor: [[[[1, 3, 2]]]]}
cases:
- {name: one, outputs: {OutputValueTensor: [[[[3]]]], OutputIndexTensor: null}}
- {name: none, outputs: {OutputValueTensor: null, OutputIndexTensor: null}}
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["one", "none"])
def test_what_is_kept_of_a_case_that_expects_nothing_of_an_output_runs_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (tmp_path / "cases.yaml").write_text(TWO_OUTPUTS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    zeros = ("--implementation", "python:judged:zeros")
    assert dmlcheck("run", f"cases.yaml::{name}", *zeros, "--keep", "kept").exit_code == 1
    (place,) = (tmp_path / "kept").iterdir()
    again = dmlcheck("run", str(place / "case.yaml"), *zeros)
    assert again.exit_code == 1, again.output
    assert "output-mismatch" in again.output
    right = dmlcheck("run", str(place / "case.yaml"), "--expected-within", "1")
    assert right.exit_code == (0 if name == "one" else 5), right.output


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
def test_what_a_program_wrote_is_in_the_message() -> None:
    (result,) = [line for line in run("-k", "listed").output.splitlines() if "error[output-mismatch]" in line]
    assert result.endswith("; it wrote: a warning / of two lines")


@pytest.mark.slow
def test_a_case_without_a_result_is_kept_too(folder: Path) -> None:
    text = (folder / "cases.yaml").read_text(encoding="utf-8")
    sizes = text.replace("[2]}, {DataType: FLOAT32, Sizes: [1]}", "[1, 2]}, {DataType: FLOAT32, Sizes: [1, 1]}")
    one = sizes.partition("- {name: 'own")[0].replace("Sizes: [3]", "Sizes: [1, 3]").replace("Axis: 0", "Axis: 1")
    one = one.replace("[1, 2], [3]", "[[1, 2]], [[3]]").replace("OutputTensor: [1, 2, 3]", "OutputTensor: [[1, 2, 3]]")
    (folder / "cases.yaml").write_text(one, encoding="utf-8")
    result = run("--keep", "kept")
    assert "1 error" in result.output, result.output
    (place,) = (folder / "kept").iterdir()
    assert not list(place.glob("actual/*"))
    assert np.load(place / "expected" / "OutputTensor.npy").tolist() == [[1, 2, 3]]


@pytest.mark.slow
def test_a_second_run_replaces_what_the_first_kept(folder: Path) -> None:
    run("--keep", "kept", "-k", "listed")
    (place,) = (folder / "kept").iterdir()
    (place / "actual" / "Other.npy").write_bytes(b"")
    run("--keep", "kept", "-k", "listed")
    assert [path.name for path in (place / "actual").iterdir()] == ["OutputTensor.npy"]
    assert [path.name for path in (folder / "kept").iterdir()] == [place.name]


@pytest.mark.slow
def test_where_nothing_can_be_kept_the_verdict_stands(folder: Path) -> None:
    (folder / "kept").mkdir()
    (folder / "kept" / folder_of("cases.yaml::listed")).write_text("a file", encoding="utf-8")
    result = run("--keep", "kept", "-k", "listed")
    assert result.exit_code == 1
    assert "  kept: nothing: " in result.output
    assert dmlcheck("run", "cases.yaml", "--keep", "cases.yaml").exit_code == 2


@pytest.mark.parametrize("name", ["a/b\\c:d*?<>|", "ä" * 200, "", "con", "x[A=1,B=[2,3]]"])
def test_a_folder_has_a_name_that_every_system_takes(name: str) -> None:
    found = folder_of(f"cases.yaml::{name}")
    assert len(found) < 80
    assert found.isascii()
    assert not set(found) & set('/\\:*?<>|"[] .')
    assert found != folder_of(f"others.yaml::{name}")
