"""Cases that expect inaccurate values: where they are written, whatever is judged, and in every report."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from commandline import dmlcheck, json_of
from judged import giving
from report_schema import checked_report

from dmlcheck.cases.records import DetachedOrigin
from dmlcheck.files.yaml import parse
from dmlcheck.formats.registry import read_document
from dmlcheck.implementations.protocol import Reference
from dmlcheck.reports.records import is_failure
from dmlcheck.running.one_case import Run, run_case
from dmlcheck.running.results import CaseResult
from dmlcheck.running.settings import Settings

RECIP = """\
operator: DML_OPERATOR_ELEMENT_WISE_RECIP
desc:
  InputTensor: {DataType: FLOAT32, Sizes: [1, 3]}
  OutputTensor: {DataType: FLOAT32, Sizes: [1, 3]}
inputs: {InputTensor: [3, 7, 2]}
tolerance: {absolute: 1e-2}
"""


def results(text: str, implementation: Any = None, **settings: Any) -> list[CaseResult]:
    """Return what becomes of the cases of a file."""
    file = read_document(parse(text.encode(), "case.yaml"))
    assert (file.problems, file.broken) == ((), {})
    run = Run(implementation or Reference(), Settings(**settings))
    return [run_case(case, run) for case in file.cases]


def result(outputs: str, implementation: Any = None, **settings: Any) -> CaseResult:
    """Return what becomes of the reciprocals of 3, 7 and 2 that are expected so."""
    (found,) = results(f"{RECIP}outputs: {{OutputTensor: {outputs}}}\n", implementation, **settings)
    return found


def named(found: CaseResult) -> list[tuple[str, str | None]]:
    return [(diagnostic.rule, diagnostic.pointer) for diagnostic in found.diagnostics]


INACCURATE = "inaccurate-expectation"


@pytest.mark.parametrize(
    ("outputs", "place"),
    [
        ("[0.3333, 0.14286, 0.5]", None),
        ("[[0.3333, 0.14286, 0.5]]", None),
        ("[0.33334, 0.142857, 0.5]", "[0]"),
        ("[[0.333333, 0.142856, 0.5]]", "[0][1]"),
        ("[0.33330, 0.142857, 0.5]", "[0]"),  # a 0 is a digit
        ("[33e-2, 1.43e-1, 5E-1]", None),
        ("[+.333, 0.143, 0.50]", None),
        ("[0.333333343, 0.142857149, 0.5]", None),  # the nearest FLOAT32 numbers
        ('["0x1.555556p-2", "0x1.24924ap-3", 0.5]', None),
        ('["0x1.5550p-2", "0x1.24924ap-3", 0.5]', "[0]"),
        ("{bits: [0x3EAAAAAB, 0x3E124925, 0x3F000000]}", None),
        ("{bits: [0x3EAAAAAB, 0x3E124935, 0x3F000000]}", ".bits[1]"),
        ("{buffer: [0.3333, 0.14286, 0.5]}", None),
        ("{buffer: [0.3333, 0.1428, 0.5]}", ".buffer[1]"),
    ],
)
@pytest.mark.parametrize("implementation", [None, giving([1 / 3, 1 / 7, 0.5])])
def test_the_digits_that_a_file_writes_count(outputs: str, place: str | None, implementation: Any) -> None:
    found = result(outputs, implementation)
    assert found.outcome == "passed"
    assert named(found) == ([] if place is None else [(INACCURATE, f"outputs.OutputTensor{place}")])
    assert all(diagnostic.severity == "warning" for diagnostic in found.diagnostics)


@pytest.mark.parametrize(("number", "is_named"), [("0.33", False), ("0.334", True), ("0.33333333", False)])
def test_the_number_of_a_fill_has_the_digits_that_are_written(number: str, is_named: bool) -> None:
    text = RECIP.replace("[3, 7, 2]", "{fill: 3}")
    (found,) = results(f"{text}outputs: {{OutputTensor: {{fill: {number}}}}}\n")
    assert (found.outcome, bool(named(found))) == ("passed", is_named)


def test_numbers_without_digits_are_measured_in_ulp_alone(tmp_path: Path) -> None:
    np.save(tmp_path / "y.npy", np.array([[0.3333, 1 / 7, 0.5]], dtype=np.float32))
    path = tmp_path / "case.yaml"
    path.write_text(RECIP + "outputs: {OutputTensor: {file: y.npy}}\n", encoding="utf-8")
    ran = dmlcheck("run", str(path), "--strict")
    assert ran.exit_code == 1
    assert "OutputTensor[0, 0] is expected to be 0.3333, and the exact result is 0.3333333333333333" in ran.stdout


def test_lists_of_no_file_have_no_digits() -> None:
    """What a Python program gives is what it gives: 0.3333 is no shorter than 0.33330."""
    file = read_document(parse(f"{RECIP}outputs: {{OutputTensor: [0.3333, 0.14286, 0.5]}}\n".encode(), "case.yaml"))
    (case,) = file.cases
    found = run_case(case._replace(origin=DetachedOrigin()), Run(Reference()))
    assert named(found) == [(INACCURATE, "outputs.OutputTensor[0]")]


def test_a_buffer_is_read_through_its_strides() -> None:
    text = RECIP.replace("Sizes: [1, 3]}\ninputs", "Sizes: [1, 3], Strides: [6, 2]}\ninputs")
    for buffer, place in (("[0.3333, 99, 0.14286, 99, 0.5]", None), ("[0.3333, 99, 0.1428, 99, 0.5]", 2)):
        (found,) = results(f"{text}outputs: {{OutputTensor: {{buffer: {buffer}}}}}\n")
        assert named(found) == ([] if place is None else [(INACCURATE, f"outputs.OutputTensor.buffer[{place}]")])


def test_what_a_matrix_puts_in_has_the_digits_of_the_matrix() -> None:
    outputs = 'outputs: {OutputTensor: ["${Third}", 0.14286, 0.5]}\n'
    found = results(f"{RECIP}matrix: {{Third: [0.3333, 0.33334]}}\n{outputs}")
    assert [named(one) for one in found] == [[], [(INACCURATE, "outputs.OutputTensor[0]")]]
    whole = "matrix: {All: [[0.3333, 0.14286, 0.5], [0.3333, 0.1428, 0.5]]}\noutputs: {OutputTensor: '${All}'}\n"
    assert [len(named(one)) for one in results(RECIP + whole)] == [0, 1]


def test_an_inherited_value_is_named_where_it_stands() -> None:
    text = RECIP + "outputs:\n  OutputTensor: [0.333333, 0.142, 0.5]\ncases:\n- {name: one}\n- {name: other}\n"
    places = [[(d.line, d.column, d.width) for d in found.diagnostics] for found in results(text)]
    assert places == [[(8, 28, 5)]] * 2


def test_the_message_has_the_worst_of_an_output_and_what_to_write() -> None:
    """1/7 is 0.142857143; 5.714e-5 is 3834.8 units of 2^-26, and 1/3 - 0.333334 is 22 units of 2^-25."""
    (found,) = result("[0.333334, 0.1428, 0.5]").diagnostics
    assert found.message == (
        "OutputTensor[0, 1] is expected to be 0.1428, and the exact result is 0.14285714285714285: 3835 ULP; "
        "the worst of 2 such of 3 elements"
    )
    assert found.help == "write 0.14285715"
    assert (found.file, found.line, found.column, found.width) == ("case.yaml", 7, 36, 6)


@pytest.mark.parametrize(
    ("outputs", "within", "is_named"),
    [
        ("[0.333, 0.143, 0.5]", 0, False),
        ("[0.33333334, 0.14285715, 0.5]", 0, False),
        ("[0.33333337, 0.14285715, 0.5]", 0, True),  # the next number, 1.3 units away
        ("[0.33333337, 0.14285715, 0.5]", 1, True),
        ("[0.33333337, 0.14285715, 0.5]", 1.5, False),
        ("[0.33334, 0.14286, 0.5]", 223, True),  # 0.33334 is rounded to 223 1/3 units from 1/3
        ("[0.33334, 0.14286, 0.5]", 224.5, False),
    ],
)
def test_how_far_a_value_may_be_is_an_option(outputs: str, within: float, is_named: bool) -> None:
    assert bool(result(outputs, expected_within=within).diagnostics) == is_named


def test_float16_counts_in_its_own_units() -> None:
    """FLOAT16 has 0.333251953125 and steps of 2^-12; 0.3345 is rounded to 0.33447265625, 4.7 units from 1/3."""
    text = RECIP.replace("FLOAT32", "FLOAT16")
    outputs = ("0.3345", "0.3342", "0.33325195", "0.33")
    found = [results(f"{text}outputs: {{OutputTensor: [{third}, 0.142857, 0.5]}}\n")[0] for third in outputs]
    assert [len(one.diagnostics) for one in found] == [1, 0, 0, 0]
    assert "4.67 ULP" in found[0].diagnostics[0].message


def test_a_result_beyond_the_largest_number_is_written_as_infinity() -> None:
    """1 / 2^-17 is 131,072, and the largest FLOAT16 is 65,504."""
    text = """\
operator: DML_OPERATOR_ELEMENT_WISE_RECIP
desc: {InputTensor: &one {DataType: FLOAT16, Sizes: [1]}, OutputTensor: *one}
inputs: {InputTensor: [0x1p-17]}
outputs: {OutputTensor: [60000]}
"""
    ((found,),) = [one.diagnostics for one in results(text, giving(60000))]
    assert found.help == "write .inf"


def test_what_is_any_is_not_measured() -> None:
    answering = giving([9, 1 / 7, 0.5])
    assert named(result("[any, 0.142857, 0.5]", answering)) == []
    assert named(result("[any, 0.142, 0.5]", answering)) == [(INACCURATE, "outputs.OutputTensor[1]")]


def test_without_a_tolerance_of_its_own_a_case_is_measured_the_same() -> None:
    """The page of SIN allows 2^-11 at sin(1) = 0.8414709848."""
    text = """\
operator: DML_OPERATOR_ELEMENT_WISE_SIN
desc: {InputTensor: &one {DataType: FLOAT32, Sizes: [1]}, OutputTensor: *one}
inputs: {InputTensor: [1]}
cases:
- {name: rounded, outputs: {OutputTensor: [0.84147]}}
- {name: off, outputs: {OutputTensor: [0.84149]}}
"""
    found = results(text)
    assert [(one.outcome, len(one.diagnostics)) for one in found] == [("passed", 0), ("passed", 1)]


def test_infinity_is_named_where_an_implementation_gives_it_too() -> None:
    found = result("[0.333333, 0.142857, inf]", giving([1 / 3, 1 / 7, np.inf]))
    assert (found.outcome, named(found)) == ("passed", [(INACCURATE, "outputs.OutputTensor[2]")])
    assert "is expected to be .inf, and the exact result is 0.5" in found.diagnostics[0].message
    (found,) = results(RECIP.replace("[3, 7, 2]", "[3, 7, 1e-39]") + "outputs: {OutputTensor: [0.333, 0.143, inf]}\n")
    assert (found.outcome, named(found)) == ("passed", [])  # 1e39 is infinite in FLOAT32


def test_what_the_reference_finds_wrong_is_told_once_and_of_others_both_are() -> None:
    wrong = result("[0.333333, 0.142857, 0.7]")
    assert (wrong.outcome, [rule for rule, _ in named(wrong)]) == ("failed", ["output-mismatch"])
    right = result("[0.333333, 0.142857, 1]", giving([1 / 3, 1 / 7, 0.5]))
    assert [(one.rule, one.severity) for one in right.diagnostics] == [("output-mismatch", "error")]  # 0.5 to 1.5
    right = result("[0.333333, 0.142857, 0.7]", giving([1 / 3, 1 / 7, 0.5]))
    assert [(one.rule, one.severity) for one in right.diagnostics] == [
        ("output-mismatch", "error"),
        (INACCURATE, "warning"),
    ]


@pytest.mark.parametrize("implementation", [None, giving([1 / 3, 1 / 7, 0.5])])
def test_a_strict_run_fails_the_case(implementation: Any) -> None:
    found = result("[0.33334, 0.142857, 0.5]", implementation, is_strict=True)
    assert (found.outcome, found.reason, is_failure(found)) == ("failed", "inaccurate expectation", True)
    assert [(one.rule, one.severity) for one in found.diagnostics] == [(INACCURATE, "error")]
    assert result("[0.3333, 0.14286, 0.5]", implementation, is_strict=True).outcome == "passed"


@pytest.mark.parametrize("implementation", [None, giving([1, *[0] * 27, 0.74170806, 1.2582919, 0, 0])])
def test_what_rounding_decides_is_measured_whatever_is_judged(implementation: Any) -> None:
    """The second place is 28.63, or 0 in FLOAT32: an implementation may give either, a case is to have the first."""
    text = f"""\
operator: DML_OPERATOR_RESAMPLE_GRAD
desc:
  InputGradientTensor: {{DataType: FLOAT32, Sizes: [2]}}
  OutputGradientTensor: {{DataType: FLOAT32, Sizes: [32]}}
  InterpolationMode: LINEAR
  Scales: [1.5e-7]
  InputPixelOffsets: [-149]
  OutputPixelOffsets: [999999936]
inputs: {{InputGradientTensor: [1, 2]}}
outputs: {{OutputGradientTensor: [3{", 0" * 31}]}}
"""
    (found,) = results(text, implementation)
    assert found.outcome == "passed"
    assert named(found) == [(INACCURATE, "outputs.OutputGradientTensor[0]")]


def test_each_output_has_a_diagnostic_of_its_own() -> None:
    text = """\
operator: DML_OPERATOR_SPLIT
desc:
  InputTensor: {DataType: FLOAT32, Sizes: [3]}
  OutputTensors: [{DataType: FLOAT32, Sizes: [2]}, {DataType: FLOAT32, Sizes: [1]}]
  Axis: 0
inputs: {InputTensor: [1.5, 2.5, 3.5]}
outputs: {OutputTensors: [[1.5001, 2.5004], [3.5001]]}
tolerance: {absolute: 0.1}
"""
    (found,) = results(text)
    assert named(found) == [(INACCURATE, "outputs.OutputTensors[0][1]"), (INACCURATE, "outputs.OutputTensors[1][0]")]
    assert found.diagnostics[1].message == (
        "OutputTensors[1][0] is expected to be 3.5001, and the exact result is 3.5: 419 ULP"
    )


# ---- reports

FILE = (
    RECIP
    + """\
source: by hand
cases:
- {name: off, outputs: {OutputTensor: [0.33334, 0.142857, 0.5]}}
- {name: right, outputs: {OutputTensor: [0.3333, 0.14286, 0.5]}}
"""
)
SAID = "OutputTensor[0, 0] is expected to be 0.33334, and the exact result is 0.3333333333333333: 223 ULP"
AT = "case.yaml:9:40"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("case.yaml").write_text(FILE, encoding="utf-8")
    return tmp_path


run = partial(dmlcheck, "run", "case.yaml")


def report(*words: str, path: str = "report.json") -> dict[str, Any]:
    run(*words, "--json", path)
    return checked_report(path)


@pytest.mark.usefixtures("folder")
def test_the_text_report_names_the_case_and_the_place() -> None:
    ran = run("-v")
    assert ran.exit_code == 0
    lines = ran.stdout.splitlines()
    assert f"  warning[{INACCURATE}]: {SAID}" in lines
    at = lines.index("1 case with an inaccurate expectation:")
    assert lines[at + 1] == f"  {AT}: off: {SAID}"
    assert lines[-1].startswith("2 passed (1 with an inaccurate expectation) in ")


@pytest.mark.usefixtures("folder")
def test_a_strict_text_report_fails_and_says_how_to_see_it_again() -> None:
    ran = run("--strict", "--expected-within", "2.5")
    assert ran.exit_code == 1
    lines = ran.stdout.splitlines()
    assert f"FAILED case.yaml::off   {INACCURATE}" in lines
    assert f"  {AT}: error[{INACCURATE}]: {SAID}" in lines
    assert "    help: write 0.33333334" in lines
    assert "  again: dmlcheck run --strict --expected-within 2.5 case.yaml::off" in lines
    concise = run("--strict", "--format", "concise").stdout.splitlines()
    assert concise[0] == f"{AT}: {INACCURATE}: case.yaml::off: {SAID}"


@pytest.mark.usefixtures("folder")
def test_a_mismatch_of_another_implementation_has_the_warning_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "answering", SimpleNamespace(Ones=lambda: giving(1)))
    lines = run(
        "--timeout", "0", "--implementation", "python:answering:Ones", "--expected-within", "3"
    ).stdout.splitlines()
    assert "FAILED case.yaml::off   output-mismatch" in lines
    assert f"  {AT}: warning[{INACCURATE}]: {SAID}" in lines
    again = "dmlcheck run --implementation python:answering:Ones --timeout 0 --expected-within 3 case.yaml::off"
    assert f"  again: {again}" in lines
    assert lines[-1].startswith("2 failed (1 with an inaccurate expectation) in ")


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("strict", [False, True])
def test_the_json_report_has_the_diagnostic(strict: bool) -> None:
    found = report(*["--strict"] * strict)
    off, right = found["cases"]
    assert (found["strict"], found.get("inaccurate"), found.get("expected_within")) == (
        (True, None, None) if strict else (False, 1, None)
    )
    assert (off["outcome"], off["reason"]) == (("failed", "inaccurate expectation") if strict else ("passed", None))
    (diagnostic,) = off["diagnostics"]
    assert (diagnostic["rule"], diagnostic["severity"]) == (INACCURATE, "error" if strict else "warning")
    assert (diagnostic["line"], diagnostic["column"], diagnostic["message"]) == (9, 40, SAID)
    assert (right["outcome"], right["diagnostics"]) == ("passed", [])
    assert report("--expected-within", "300")["expected_within"] == 300


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
def test_merged_shards_tell_the_same_as_the_whole() -> None:
    words = ["--expected-within", "3"]
    whole = report(*words, path="whole.json")
    for number in ("1", "2"):
        report(*words, "--shard", f"{number}/2", path=f"{number}.json")
    merged = dmlcheck("merge", "1.json", "2.json", "--json", "merged.json")
    assert (merged.exit_code, "(1 with an inaccurate expectation)" in merged.stdout) == (0, True)
    found = json_of("merged.json")
    for part in (found["summary"], whole["summary"], *found["cases"], *whole["cases"]):
        part["seconds"] = 0
    assert found == whole
    report("--shard", "2/2", path="2.json")
    refused = dmlcheck("merge", "1.json", "2.json")
    assert refused.exit_code == 2
    assert "another --expected-within than" in refused.stderr


@pytest.mark.parametrize("word", ["-1", "nan", "inf", "near"])
@pytest.mark.usefixtures("folder")
def test_a_distance_is_a_number_from_0_on(word: str) -> None:
    ran = run("--expected-within", word)
    assert ran.exit_code == 2
    assert "--expected-within" in ran.stderr
