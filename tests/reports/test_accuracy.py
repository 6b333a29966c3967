"""Accuracy: bounds and shares worked out by hand, what comes near its bound, and what became worse."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from click.testing import Result
from commandline import dmlcheck, json_of
from report_schema import checked_report
from without_roundings import no_roundings

from dmlcheck.comparison import compare
from dmlcheck.comparison.records import Element
from dmlcheck.comparison.tolerances import Limit
from dmlcheck.descs.records import TensorDesc
from dmlcheck.files.yaml import parse
from dmlcheck.formats.registry import read_document
from dmlcheck.reports.accuracy import Spot, Worst, worst_text
from dmlcheck.specs.records import Tolerance

NAME = "python:answering:Answering"
SUMS = """\
operator: DML_OPERATOR_REDUCE
source: by hand
desc:
  Function: SUM
  InputTensor: {DataType: FLOAT32, Sizes: [1, 4]}
  OutputTensor: {DataType: FLOAT32, Sizes: [1, 1]}
  Axes: [1]
cases:
  - {name: six, inputs: {InputTensor: [[1, -2, 3, 4]]}, outputs: {OutputTensor: [[6]]}}
  - {name: hundred, inputs: {InputTensor: [[10, 20, 30, 40]]}, outputs: {OutputTensor: [[100]]}}
"""
# 4 terms, magnitudes 10: 40 * 2^-24 = 5 * 2^-21, and 1 ULP of 6, which is 2^-21: 6 units.
SIX = 2.0**-21
# 4 terms, magnitudes 100: 400 * 2^-24 = 3.125 * 2^-17, and 1 ULP of 100, which is 2^-17: 4.125 units.
HUNDRED = 2.0**-17


class Answering:
    """Exact sums of small whole numbers but for those that `answers` has another result for; integers wrap."""

    name = "answering"
    version = "1.0"
    answers: Mapping[float, float] = {}

    def unsupported(self, desc: Any) -> str | None:
        """Take everything."""

    def run(self, desc: Any, inputs: dict[str, Any]) -> dict[str, Any]:
        """Add up a row."""
        total = float(inputs["InputTensor"].astype(np.float64).sum())
        output = desc.tensor("OutputTensor")
        value = np.array(self.answers.get(total, total), dtype=output.data_type.lower())
        return {"OutputTensor": np.full(output.sizes, value)}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Run every test in an empty folder with the sums in it; what `answers` a test changes is set back."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "answering", SimpleNamespace(Answering=Answering))  # type: ignore[misc]
    monkeypatch.setattr(Answering, "answers", {})
    monkeypatch.setattr(Answering, "version", "1.0")
    Path("sums.yaml").write_text(SUMS, encoding="utf-8")
    return tmp_path


def run(*words: str, implementation: str = NAME, cases: str = "sums.yaml", **answers: float) -> Result:
    """Judge an implementation that answers `six` and `hundred` as given."""
    Answering.answers = {float({"six": 6, "hundred": 100}[name]): value for name, value in answers.items()}
    return dmlcheck("run", cases, "--implementation", implementation, "--timeout", "0", *words)


def report(*words: str, path: str = "report.json", **answers: float) -> dict[str, Any]:
    """Return the JSON report of a run, which is as its schema says."""
    run(*words, "--json", path, **answers)
    return checked_report(path)


def refused(result: Result) -> str:
    """Return what a command says that was used wrongly."""
    assert result.exit_code == 2, result.output
    assert isinstance(result.exception, SystemExit)
    return result.stderr


# ---- bounds and shares


@pytest.mark.slow
@pytest.mark.parametrize(
    ("data_type", "accumulate", "unit", "units", "bound"),
    [
        # 4 terms, magnitudes 10, u = 2^-24: 5 * 2^-21, and 1 ULP of 6.
        ("FLOAT32", "float32", 2.0**-21, 3, 6),
        ("FLOAT32", "float32", 2.0**-21, 7, 6),
        # u = 2^-11: 40 * 2^-11 = 5 * 2^-8 = 40960 * 2^-21, and 1.
        ("FLOAT32", "float16", 2.0**-21, 20000, 40961),
        ("FLOAT32", "float16", 2.0**-21, 40962, 40961),
        # A unit of 6 is 2^-8 in FLOAT16: 40 * 2^-24 = 5 * 2^-13 of it, and 1.
        ("FLOAT16", "float32", 2.0**-8, 1, 1 + 5 * 2.0**-13),
        ("FLOAT16", "float32", 2.0**-8, 2, 1 + 5 * 2.0**-13),
        ("FLOAT16", "float16", 2.0**-8, 4, 6),
        ("FLOAT16", "float16", 2.0**-8, 7, 6),
    ],
)
def test_a_share_of_an_accumulations_bound_is_what_it_is_by_hand(
    data_type: str, accumulate: str, unit: float, units: int, bound: float
) -> None:
    Path("sums.yaml").write_text(SUMS.replace("FLOAT32", data_type), encoding="utf-8")
    found = report("--accumulate", accumulate, six=6 + units * unit)
    six, hundred = found["cases"]
    assert six["outcome"] == ("passed" if units <= bound else "failed")
    output = six["outputs"]["OutputTensor"]
    assert output["max_ulp"] == units
    assert output["max_share"] == pytest.approx(units / bound, rel=1e-12)
    assert output["closest"]["index"] == [0, 0]
    assert output["closest"]["share"] == output["max_share"]
    assert (hundred["outputs"]["OutputTensor"]["max_share"], hundred["outputs"]["OutputTensor"]["closest"]) == (0, None)
    assert found["accumulate"] == accumulate


def test_what_may_only_be_equal_has_no_share() -> None:
    Path("sums.yaml").write_text(SUMS.replace("FLOAT32", "INT32"), encoding="utf-8")
    found = report(six=9)
    output = found["cases"][0]["outputs"]["OutputTensor"]
    assert (output["max_ulp"], output["max_share"], output["closest"]) == (3, None, None)
    (worst,) = found["accuracy"]
    assert (worst["max_ulp"], worst["max_share"], worst["closest"]) == (3, None, None)


def test_the_largest_share_is_found_wherever_in_a_large_output_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shares of 1/4, 3/4 and 1/2, each in a region of its own."""
    monkeypatch.setattr(compare, "_BLOCK", 2)
    expected = np.ones(6, dtype=np.float32)
    actual = expected + np.array([0, 1, 3, 0, 0, 2], dtype=np.float32) * np.float32(2.0**-23)
    limit = Limit(Tolerance(ulp=4), is_own=True)
    outputs = compare.compare({"Out": (TensorDesc("FLOAT32", (6,)), expected)}, {"Out": actual}, limit, no_roundings)
    result = outputs["Out"].result
    assert (result.max_ulp, result.max_share) == (3, 0.75)
    assert result.most_off == result.closest == Element((2,), 1.0, 1 + 3 * 2.0**-23, 3, 0.75)


# ---- the table


def test_the_report_has_the_worst_by_operator_and_type() -> None:
    """4 of 6 units are the largest error; 3 of 4.125 are the largest share."""
    whole = "{InputTensor: {DataType: INT32, Sizes: [1, 4]}, OutputTensor: {DataType: INT32, Sizes: [1, 1]}}"
    values = "inputs: {InputTensor: [[1, 2, 3, 5]]}, outputs: {OutputTensor: [[11]]}"
    Path("sums.yaml").write_text(f"{SUMS}  - {{name: whole, desc: {whole}, {values}}}\n", encoding="utf-8")
    result = run("--json", "report.json", six=6 + 4 * SIX, hundred=100 + 3 * HUNDRED)
    six, hundred = (
        {"case": f"sums.yaml::{name}", "output": "OutputTensor", "index": [0, 0]} for name in ("six", "hundred")
    )
    nowhere = dict.fromkeys(six)
    assert checked_report("report.json")["accuracy"] == [
        {
            "operator": "DML_OPERATOR_REDUCE",
            "data_type": "FLOAT32",
            "max_ulp": 4,
            "max_share": pytest.approx(3 / 4.125, rel=1e-12),
            **six,
            "closest": hundred,
        },
        {
            "operator": "DML_OPERATOR_REDUCE",
            "data_type": "INT32",
            "max_ulp": 0,
            "max_share": None,
            **nowhere,
            "closest": None,
        },
    ]
    (line,) = [line for line in result.stdout.splitlines() if line.startswith("largest error")]
    ulp, _, share = line.partition("; ")
    assert ulp == "largest error of REDUCE FLOAT32: 4 ULP, sums.yaml::six OutputTensor[0, 0]"
    assert share == "closest to its tolerance: 72.7 %, sums.yaml::hundred OutputTensor[0, 0]"


def test_a_large_error_that_the_tolerance_allows_is_no_number() -> None:
    where = Spot("a.yaml::one", "OutputTensor", (0,))
    near_0 = Worst("GEMM", "FLOAT32", 9544372.0, 0.55, where, where)
    error, _, place = worst_text(near_0).rpartition(", ")
    assert error == "largest error of GEMM FLOAT32: over 1000 ULP (within the tolerance), 55 % of the tolerance"
    assert place == "a.yaml::one OutputTensor[0]"
    assert "9544372 ULP" in worst_text(near_0._replace(max_share=1.5))


def test_an_error_of_half_a_unit_is_said_to_be_the_rounding_of_the_right_result() -> None:
    where = Spot("a.yaml::one", "OutputTensor", (0,))
    worst = Worst("GEMM", "FLOAT32", 0.397, 0.0221, where, where, is_unrounded=True)
    error = "0.397 ULP from the unrounded result (the rounding of the right result), 2.21 % of the tolerance"
    assert worst_text(worst).startswith(f"largest error of GEMM FLOAT32: {error}, ")
    assert "(the rounding" not in worst_text(worst._replace(max_ulp=0.6))


def test_an_error_whose_bound_is_infinite_has_no_share_of_it() -> None:
    where = Spot("a.yaml::one", "OutputTensor", (0,))
    alone = Worst("REDUCE", "FLOAT32", 7.0, 0.0, where, None, is_unlimited=True)
    assert (
        worst_text(alone)
        == "largest error of REDUCE FLOAT32: 7 ULP, a.yaml::one OutputTensor[0], where the tolerance is infinite"
    )
    other = Spot("b.yaml::two", "OutputTensor", (1,))
    text = worst_text(alone._replace(max_share=0.25, of_share=other))
    assert text == worst_text(alone) + "; closest to its tolerance: 25 %, b.yaml::two OutputTensor[1]"
    beyond = worst_text(alone._replace(max_share=2.5, of_share=other))
    assert beyond == worst_text(alone) + "; furthest beyond its tolerance: 2.5 times, b.yaml::two OutputTensor[1]"


def test_one_place_may_be_the_worst_in_both_ways() -> None:
    result = run(six=6 + 4 * SIX)
    assert (
        "largest error of REDUCE FLOAT32: 4 ULP, 66.7 % of the tolerance, sums.yaml::six OutputTensor[0, 0]\n"
        in result.stdout
    )


@pytest.mark.slow
def test_a_run_in_several_processes_has_the_same_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other processes import the implementation from a file."""
    Path("slightly.py").write_text(
        "import numpy as np\n"
        "class Off:\n"
        "    name = 'off'\n"
        "    def run(self, desc, inputs):\n"
        "        total = inputs['InputTensor'].sum()\n"
        f"        return {{'OutputTensor': np.full((1, 1), total + (total == 6) * {4 * SIX!r}, np.float32)}}\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(".")
    monkeypatch.setenv("PYTHONPATH", ".")
    Path("more.yaml").write_text(SUMS, encoding="utf-8")
    words = ("run", "more.yaml", "sums.yaml", "--timeout", "0", "--implementation", "python:slightly:Off")
    for jobs in ("1", "2"):
        result = dmlcheck(*words, "-j", jobs, "--json", f"{jobs}.json")
        assert result.exit_code == 0, result.output
    one, two = checked_report("1.json"), checked_report("2.json")
    assert one["accuracy"] == two["accuracy"]
    assert (one["warned"], two["warned"]) == (2, 2)
    (worst,) = one["accuracy"]
    assert (worst["case"], worst["max_ulp"]) == ("more.yaml::six", 4)


# ---- close to the tolerance


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "units", "warned"),
    [
        ((), 3, False),  # half of the 6 is not above it
        ((), 4, True),
        (("--warn-above", "0.5"), 3, False),
        (("--warn-above", "0.49"), 3, True),
        (("--warn-above", "0.7"), 4, False),
        (("--warn-above", "0"), 1, True),
        (("--warn-above", "0"), 0, False),
        (("--warn-above", "1"), 6, False),
        ((), 7, False),  # it fails
    ],
)
def test_a_case_above_the_share_is_named_and_passes(words: tuple[str, ...], units: int, warned: bool) -> None:
    result = run(*words, "--json", "report.json", six=6 + units * SIX)
    assert result.exit_code == (1 if units > 6 else 0)
    found = checked_report("report.json")
    share = pytest.approx(units / 6, rel=1e-12)
    warnings = [{"output": "OutputTensor", "share": share, "ulp": units, "index": [0, 0]}] if warned else None
    assert found["cases"][0].get("warnings") == warnings
    assert "warnings" not in found["cases"][1]
    assert found["warned"] == warned
    assert found["warn_above"] == float(words[1] if words else 0.5)
    line = f"1 case close to the tolerance:\n  sums.yaml::six OutputTensor[0, 0]: {units} ULP, "
    assert (line in result.stdout) == warned
    assert ("(1 close to the tolerance)" in result.stdout) == warned
    assert ("near-the-bound" in run(*words, "-v", six=6 + units * SIX).stdout) == warned


def test_the_reference_is_not_warned_of_unless_asked_for() -> None:
    """6 + 4 * 2^-21 is what the case expects, within 6 units, and 6 what the reference computes."""
    text = SUMS.replace("desc:", "tolerance: {ulp: 6}\ndesc:").replace("[[6]]", f"[[{6 + 4 * SIX!r}]]")
    Path("sums.yaml").write_text(text, encoding="utf-8")
    result = run("--json", "report.json", implementation="reference")
    assert (result.exit_code, "close to the tolerance" in result.stdout) == (0, False)
    assert checked_report("report.json")["warn_above"] is None
    assert "(1 close to the tolerance)" in run("--warn-above", "0.5", implementation="reference").stdout


@pytest.mark.parametrize("share", ["1.5", "-0.1", "nan", "inf", "half"])
def test_a_share_is_from_0_to_1(share: str) -> None:
    assert "--warn-above" in refused(run("--warn-above", share))


# ---- drift


def earlier(**answers: float) -> None:
    """Write the report of an earlier run, `old.json`."""
    report(path="old.json", **answers)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "units", "outcome"),
    [
        ((), 2, None),
        ((), 1, None),
        ((), 3, "worse"),
        (("--max-drift", "0"), 2, None),
        (("--max-drift", "0"), 3, "drifted"),
        (("--max-drift", "1"), 3, None),  # no more than 1
        (("--max-drift", "1"), 4, "drifted"),
        (("--max-drift", "0.5"), 3, "drifted"),
        (("--max-drift", "100"), 6, None),
    ],
)
def test_a_run_fails_where_an_error_rose_by_more_than_it_may(
    words: tuple[str, ...], units: int, outcome: str | None
) -> None:
    earlier(six=6 + 2 * SIX)
    result = run("--compare-to", "old.json", *words, "--json", "new.json", six=6 - units * SIX)
    assert result.exit_code == (outcome == "drifted"), result.output
    found = checked_report("new.json")
    drift = {"output": "OutputTensor", "old_ulp": 2, "new_ulp": units, "failure": outcome == "drifted"}
    assert found["cases"][0]["outcome"] == "passed"
    assert found["cases"][0].get("drift") == ([drift] if outcome else None)
    assert found["drift"] == ([{"case": "sums.yaml::six", **drift}] if outcome else [])
    assert found["compared"] == {"cases": 2, "new": 0}
    assert found["compared_to"] == {
        "file": "old.json",
        "version": "1.0",
        "max_drift": float(words[1]) if words else None,
        "implementation": NAME,
    }
    said = f"OutputTensor[0, 0]: {units} ULP, and was 2 ULP"
    assert (said in result.stdout) == bool(outcome)
    assert ("DRIFTED sums.yaml::six   accuracy-drift\n" in result.stdout) == (outcome == "drifted")
    assert (f"1 case less accurate than before:\n  sums.yaml::six {said}\n" in result.stdout) == (outcome == "worse")
    assert f"compared with old.json ({NAME} 1.0): 2 cases; 0 not in it\n" in result.stdout


@pytest.mark.slow
def test_every_case_that_drifted_is_told_with_the_command_that_shows_it_again() -> None:
    earlier()
    words = ("--compare-to", "old.json", "--max-drift", "0.5")
    result = run(*words, six=6 + SIX, hundred=100 - 2 * HUNDRED)
    assert result.stdout.count("DRIFTED") == 4  # in full, and in the closing list
    assert "  error[accuracy-drift]: OutputTensor[0, 0]: 1 ULP, and was 0 ULP\n" in re.sub(
        r"sums\.yaml:\d+:\d+: ", "", result.stdout
    )
    assert "2 passed (2 drifted)" in result.stdout
    options = "--timeout 0 --compare-to old.json --max-drift 0.5"
    again = f"again: dmlcheck run --implementation {NAME} {options} sums.yaml::hundred\n"
    assert again in result.stdout
    first = run(*words, "-x", six=6 + SIX, hundred=100 - 2 * HUNDRED)
    assert (first.exit_code, first.stdout.count("DRIFTED")) == (1, 1)


def test_integers_drift_by_units() -> None:
    Path("sums.yaml").write_text(SUMS.replace("FLOAT32", "INT32") + "tolerance: {absolute: 5}\n", encoding="utf-8")
    earlier(six=7)
    result = run("--compare-to", "old.json", "--max-drift", "2", six=10)
    assert (result.exit_code, "OutputTensor[0, 0]: off by 4, and was off by 1" in result.stdout) == (1, True)
    assert run("--compare-to", "old.json", "--max-drift", "3", six=10).exit_code == 0


@pytest.mark.slow
def test_only_what_was_right_and_is_right_is_compared() -> None:
    Path("sums.yaml").write_text(f"{SUMS}tolerance: {{ulp: 1}}\n", encoding="utf-8")
    earlier(six=6 + 2 * SIX)  # wrong then, by less than what is right now
    Path("sums.yaml").write_text(SUMS, encoding="utf-8")
    mended = run("--compare-to", "old.json", "--max-drift", "0", "--json", "new.json", six=6 + 5 * SIX)
    assert (mended.exit_code, checked_report("new.json")["drift"]) == (0, [])
    earlier()
    broken = run("--compare-to", "old.json", "--max-drift", "0", "--json", "new.json", six=7.0)
    assert (broken.exit_code, checked_report("new.json")["drift"], "DRIFTED" in broken.stdout) == (1, [], False)


def test_a_case_that_the_earlier_report_does_not_have_is_counted() -> None:
    Path("sums.yaml").write_text(SUMS.rpartition("  - ")[0], encoding="utf-8")
    earlier()
    Path("sums.yaml").write_text(SUMS, encoding="utf-8")
    result = run("--compare-to", "old.json", "--max-drift", "0", hundred=100 + HUNDRED)
    assert (result.exit_code, "1 case; 1 not in it" in result.stdout) == (0, True)


@pytest.mark.slow
def test_another_version_is_what_a_report_is_compared_with() -> None:
    earlier()
    Answering.version = "2.0"
    result = run("--compare-to", "old.json", "--max-drift", "0", "--json", "new.json")
    assert (result.exit_code, f"compared with old.json ({NAME} 1.0)" in result.stdout) == (0, True)
    assert checked_report("new.json")["implementation_version"] == "2.0"


def test_another_place_of_the_same_kind_of_implementation_may_be_compared() -> None:
    earlier()
    spoil("old.json", implementation="python:older_build:Answering")
    assert run("--compare-to", "old.json", "--max-drift", "0").exit_code == 0


@pytest.mark.parametrize(
    ("here", "old", "new"),
    [
        (".", "sums.yaml", "./sums.yaml"),
        (".", "./sums.yaml", "{full}/sums.yaml"),
        ("below", "sums.yaml", "../sums.yaml"),
        ("below", "{full}/sums.yaml", "../sums.yaml"),
    ],
)
def test_cases_are_compared_from_whichever_folder_a_run_is_started_in(
    folder: Path, monkeypatch: pytest.MonkeyPatch, here: str, old: str, new: str
) -> None:
    full = folder.as_posix()
    run("--json", f"{full}/old.json", cases=old.format(full=full))
    (folder / "below").mkdir()
    monkeypatch.chdir(folder / here)
    result = run("--compare-to", f"{full}/old.json", "--max-drift", "0", cases=new.format(full=full), six=6 + 3 * SIX)
    assert (result.exit_code, "2 cases; 0 not in it" in result.stdout) == (1, True), result.output


def test_a_new_file_is_not_compared_with_one_of_the_same_name(folder: Path) -> None:
    earlier()
    (folder / "below").mkdir()
    (folder / "below" / "sums.yaml").write_text(SUMS, encoding="utf-8")
    assert "0 cases; 2 not in it" in run("--compare-to", "old.json", cases="below").stdout


def spoil(path: str, **keys: Any) -> None:
    """Change keys of a report."""
    found = json_of(path)
    Path(path).write_text(json.dumps({**found, **keys}), encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("drift", ["-1", "nan", "inf", "much"])
def test_a_drift_is_a_number_from_0_on(drift: str) -> None:
    earlier()
    assert "--max-drift" in refused(run("--compare-to", "old.json", "--max-drift", drift))


def test_a_drift_from_nothing_is_refused() -> None:
    assert "--compare-to" in refused(run("--max-drift", "1"))


@pytest.mark.slow
def test_the_earlier_report_is_not_written_over() -> None:
    earlier()
    before = Path("old.json").read_bytes()
    assert "old.json is read by this command" in refused(run("--compare-to", "old.json", "--json", "old.json"))
    assert Path("old.json").read_bytes() == before


# ---- shards


def shards(*words: str, **answers: float) -> list[str]:
    """Run two shards, each with a case or two of its own, and return their reports."""
    names = ["1.json", "2.json"]
    for number, name in enumerate(names, 1):
        run(*words, "--shard", f"{number}/2", "--json", name, **answers)
        assert checked_report(name)["cases"]
    return names


merge = partial(dmlcheck, "merge")


def timeless(path: str) -> dict[str, Any]:
    found = checked_report(path)
    for part in (found["summary"], *found["cases"]):
        part["seconds"] = 0
    return found


WIDE = SUMS + "".join(
    f"  - {{name: {name}, inputs: {{InputTensor: [[1, -2, 3, 4]]}}, outputs: {{OutputTensor: [[6]]}}}}\n"
    for name in "abcdef"
)


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--warn-above", "0.6", "--accumulate", "float32"),
        ("--compare-to", "old.json"),
        ("--compare-to", "old.json", "--max-drift", "1"),
    ],
)
def test_merged_shards_have_the_accuracy_of_the_whole(words: tuple[str, ...]) -> None:
    Path("sums.yaml").write_text(WIDE, encoding="utf-8")
    earlier()
    answers = {"six": 6 + 4 * SIX, "hundred": 100 + 3 * HUNDRED}
    whole = run(*words, "--json", "whole.json", **answers)
    merged = merge(*shards(*words, **answers), "--json", "merged.json")
    assert merged.exit_code == whole.exit_code == ("--max-drift" in words), merged.output
    assert timeless("merged.json") == timeless("whole.json")
    assert len(checked_report("merged.json")["accuracy"]) == 1
    assert _stable(merged.stdout) == _stable(whole.stdout)


def _stable(text: str) -> list[str]:
    """Return the lines of a text report without times and without the lines of the source."""
    return [re.sub(r"\d+\.\d\d( s)?$", "", line) for line in text.splitlines()]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "name"),
    [
        (("--warn-above", "0.7"), "another --warn-above"),
        (("--accumulate", "float16"), "another --accumulate"),
        (("--input-precision", "tf32"), "another --input-precision"),
        (("--algorithms", "winograd"), "another --algorithms"),
        (("--strict",), "another --strict"),
        (("--compare-to", "old.json"), "another --compare-to"),
    ],
)
def test_shards_of_runs_with_other_options_are_no_run(words: tuple[str, ...], name: str) -> None:
    earlier()
    Path("sums.yaml").write_text(WIDE, encoding="utf-8")
    names = shards()
    run(*words, "--shard", "2/2", "--json", "2.json")
    assert name in refused(merge(*names))


@pytest.mark.slow
@pytest.mark.parametrize(
    "keys",
    [
        {"compared_to": 5},
        {"compared_to": {"file": 5}},
        {"compared_to": {"file": "old.json", "max_drift": "much"}},
        {"compared_to": {"file": "old.json", "version": None, "extra": 1}},
        {"compared": None},
        {"compared": {"cases": "2", "new": 0}},
        {"accumulate": 16},
        {"cases": [{"id": "a", "outcome": "failed", "consistent_with": "float8"}]},
        {"warn_above": "half"},
        {"summary": []},
        {"cases": [{"id": "a", "outcome": "passed", "ordinal": None}]},
        {"cases": [{"id": "a", "outcome": "passed", "outputs": 5}]},
        {
            "cases": [
                {"id": "a", "outcome": "passed", "outputs": {"O": {"elements": 1, "mismatches": 0, "max_ulp": "1"}}}
            ]
        },
        {"cases": [{"id": "a", "outcome": "passed", "warnings": [{"output": "O"}]}]},
        {"cases": [{"id": "a", "outcome": "passed", "drift": [{"output": "O"}]}]},
        {"cases": [{"id": "a", "outcome": "passed", "drift": 1}]},
    ],
)
def test_a_shard_that_somebody_changed_is_refused_and_not_stumbled_over(keys: dict[str, Any]) -> None:
    Path("sums.yaml").write_text(WIDE, encoding="utf-8")
    earlier()
    names = shards("--compare-to", "old.json", "--max-drift", "1", six=6 + 4 * SIX)
    for name in names:
        spoil(name, **keys)
    assert "as `dmlcheck run`" in refused(merge(*names, "--json", "merged.json"))
    assert not Path("merged.json").exists()


# ---- tolerances of cases, and why


def test_a_case_says_why_it_has_a_tolerance_of_its_own() -> None:
    file = read_document(parse(f"{SUMS}tolerance: {{ulp: 2, reason: a source}}\n".encode(), "sums.yaml"))
    assert [case.tolerance for case in file.cases] == [Tolerance(ulp=2, source="the case", reason="a source")] * 2
    Path("sums.yaml").write_text(SUMS + "tolerance: {ulp: 2, reason: rounded by hand}\n", encoding="utf-8")
    result = run(six=6 + 3 * SIX)
    assert "  tolerance of OutputTensor: 2 ULP\n    from the case's own tolerance: rounded by hand\n" in result.stdout


def test_what_the_bound_follows_from_is_named() -> None:
    lines = run(six=7.0).stdout.splitlines()
    formula = "the formula of the operator, with each operation rounded to FLOAT32, sums of up to 4 terms in any order"
    assert [line for line in lines if line.startswith("    from ")] == [f"    from {formula}"]
