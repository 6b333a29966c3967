"""dxdispatch:EXE: what a program makes of the cases is judged."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from commandline import DESC, dmlcheck, json_of
from dxdispatch_cases import CASES, COUNT, TENSOR, desc_of, folder
from standin_dxdispatch import installed

from dmlcheck.implementations import Failure, dxdispatch, make
from dmlcheck.implementations._program import Exited

__all__ = ["folder"]


def run(exe: str, *words: str) -> Any:
    result = dmlcheck("run", "a.yaml", "--implementation", f"dxdispatch:{exe}", "--json", "report.json", *words)
    assert result.exit_code in (0, 1), result.output
    return json_of("report.json")


def outcomes(report: Any) -> list[str]:
    return [case["outcome"] for case in report["cases"]]


def messages(report: Any) -> list[str]:
    return [diagnostic["message"] for case in report["cases"] for diagnostic in case["diagnostics"]]


@pytest.mark.slow
def test_the_executable_is_judged_on_what_it_wrote(folder: Path) -> None:
    report = run(installed(folder / "a folder"))
    assert outcomes(report) == ["passed"] * (COUNT + 1), messages(report)
    assert report["implementation_version"] == "0.17.0"
    assert report["device"] == "Stand-in Adapter"


@pytest.mark.slow
def test_a_wrong_expectation_fails(folder: Path) -> None:
    (folder / "a.yaml").write_text(CASES.replace("[[6], [15]]", "[[6], [16]]"), encoding="utf-8")
    report = run(installed(folder / "bin"), "-k", "strides")
    assert outcomes(report) == ["failed"]
    assert "1 of 2 elements is outside the tolerance" in messages(report)[0]


WRONG = {
    "--crash": r"dxdispatch ended with exit code 5; it printed\nFailed to execute dispatchable: 0x887A0005 ",
    "--silent": r"dxdispatch wrote no OutputTensor: outputs/OutputTensor.npy: .*it printed\nFailed to write resource",
    "--odd-file": r"dxdispatch wrote outputs/OutputTensor.npy, which cannot be used: ",
}


@pytest.mark.slow
@pytest.mark.parametrize("mode", WRONG)
def test_an_executable_that_goes_wrong_is_the_cases_error_with_what_it_printed(folder: Path, mode: str) -> None:
    report = run(installed(folder / "bin", mode), "-k", "strides or on-purpose")
    assert outcomes(report) == ["error", "passed"]  # the negative case is valid at the newest level: nobody is asked
    assert re.match(WRONG[mode], messages(report)[0], re.DOTALL), messages(report)


def judged(case: Any) -> tuple[str, str, bool]:
    return case["outcome"], case["reason"], case["computed"]


@pytest.mark.slow
def test_an_executable_has_to_refuse_a_desc_that_is_not_valid_at_the_level_of_the_run(folder: Path) -> None:
    """The stand-in sums INT64 at any level."""
    (case,) = run(installed(folder / "bin"), "-k", "on-purpose", "--feature-level", "3_0")["cases"]
    assert judged(case) == ("failed", "accepted an invalid desc", True)
    (found,) = case["diagnostics"]
    assert found["rule"] == "invalid-desc-accepted"
    assert (
        "dxdispatch accepts a desc that DML_FEATURE_LEVEL_3_0 does not allow: unsupported-data-type" in found["message"]
    )


NO_SUCH_AXIS = DESC.replace("FLOAT32", "INT32").replace("Axes: [0]", "Axes: [1]") + "invalid: [axis-out-of-range]\n"


@pytest.mark.parametrize(
    ("code", "text", "expected"),
    [
        (1, "ERROR creating dispatchable 'operator': 0x80070057", ("passed", True)),
        (255, "Failed to parse the model", ("passed", True)),
        (0, "nothing was written", ("failed", True)),
        (1, "Failed to create a device: no adapter", ("error", True)),
        (5, "0x887A0005 the GPU device instance has been suspended", ("error", True)),
        (139, "Segmentation fault", ("error", True)),
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="exit codes of a shell")
def test_an_exit_code_of_its_own_refuses_a_desc(folder: Path, code: int, text: str, expected: tuple[str, bool]) -> None:
    (folder / "a.yaml").write_text(NO_SUCH_AXIS, encoding="utf-8")
    path = folder / "program"
    path.write_text(f'#!/bin/sh\necho "{text}"\nexit {code}\n', encoding="utf-8")
    path.chmod(0o755)
    (case,) = run(str(path))["cases"]
    assert (case["outcome"], case["computed"]) == expected
    assert expected[0] == "failed" or text in (case["reason"] + json.dumps(case["diagnostics"]))


def test_an_hresult_is_an_exit_code_of_its_own_and_an_ntstatus_is_a_crash() -> None:
    codes = {0x80070057: True, 0x8000FFFF: True, 0xC0000005: False, 0x887A0005: False, 1: True}
    assert {code: dxdispatch._refuses(Exited(code, "")) for code in codes} == codes
    assert dxdispatch._refuses(Exited(0x80070057 - 2**32, ""))


@pytest.mark.slow
def test_an_executable_that_hangs_is_ended_in_time(folder: Path) -> None:
    report = run(installed(folder / "bin", "--hang"), "-k", "strides", "--timeout", "0.7")
    assert outcomes(report) == ["error"]
    assert report["cases"][0]["reason"] == "timed out"


def test_without_the_executable_it_says_where_it_is_to_be_had(folder: Path) -> None:
    (folder / "text.txt").write_text("no program", encoding="utf-8")
    for place, problem in (("nowhere/dxdispatch.exe", "is not there"), ("text.txt", "is not executable")):
        if sys.platform == "win32" and place == "text.txt":
            continue
        result = dmlcheck("run", "a.yaml", "--implementation", f"dxdispatch:{place}")
        assert result.exit_code == 2
        assert f"{place} {problem}; dxdispatch, for Windows, is among the releases of" in " ".join(
            result.output.split()
        )


def test_an_executable_that_says_nothing_of_itself_is_judged_all_the_same(folder: Path) -> None:
    assert make(f"dxdispatch:{installed(folder / 'bin', '--silent')}").about == ("0.17.0", "Stand-in Adapter", "")
    path = folder / ("mute.cmd" if sys.platform == "win32" else "mute")
    path.write_text("@exit /b 7\n" if sys.platform == "win32" else "#!/bin/sh\nexit 7\n", encoding="utf-8")
    path.chmod(0o755)
    mute = make(f"dxdispatch:{path}")
    assert mute.about == ("", "", "")
    desc = desc_of("ACTIVATION_IDENTITY", InputTensor=TENSOR, OutputTensor=TENSOR)
    with pytest.raises(Failure, match="ended with exit code 7, and printed nothing"):
        mute.run(desc, {})
