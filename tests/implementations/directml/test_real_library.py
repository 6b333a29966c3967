"""The real DirectML 1.13.1: its answers to all shipped descs are those that were recorded from its DLL for Windows.

The record, answers.txt.gz, is of 2026-11-29: nineteen builds of DirectML.dll, each asked by another program than this
one. The first line has the builds, the others the beginning of a desc's digest and a letter for each build: `.` for
S_OK, `X` for E_INVALIDARG, `F` for E_UNEXPECTED.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from commandline import dmlcheck
from directml_wheel import VERSION, wheel

from dmlcheck import load_cases
from dmlcheck.cases.records import Case
from dmlcheck.descs.read import read_desc
from dmlcheck.implementations import make
from dmlcheck.implementations.directml import DirectMLLibrary

ANSWERS = Path(__file__).parent / "answers.txt.gz"
CASES = Path(__file__).parents[3] / "cases"
LETTERS = {0: ".", 0x80070057: "X", 0x8000FFFF: "F"}


def digest(case: Case) -> str:
    """Return the key of a case's desc in the record."""
    text = json.dumps([case.operator, case.desc], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:10]


def recorded() -> dict[str, str]:
    """Return the letter of the release for each desc."""
    builds, *rows = gzip.decompress(ANSWERS.read_bytes()).decode().splitlines()
    column = builds.split().index(VERSION)
    return {key: letters[column] for key, letters in map(str.split, rows)}


@pytest.fixture(scope="module")
def library() -> Iterator[DirectMLLibrary]:
    made: Any = make(f"directml:{wheel()},device=none")
    yield made
    made.close()


def test_the_library_says_its_release_and_its_level(library: DirectMLLibrary) -> None:
    assert (library.version, library.feature_level, library.device) == (VERSION, "6_2", "none")


@pytest.mark.slow
def test_every_shipped_desc_gets_the_recorded_answer(library: DirectMLLibrary) -> None:
    known = recorded()
    asked = {digest(case): case for case in load_cases(CASES)}
    compared = 0
    for key, case in asked.items():
        desc = read_desc(case.operator, case.desc).desc
        if key in known and desc is not None and not desc.broken:
            compared += 1
            answer = library.create_operator(desc)
            assert (case.id, LETTERS.get(answer.hresult)) == (case.id, known[key])
    assert compared > 20_000


ADD = """\
operator: DML_OPERATOR_ELEMENT_WISE_ADD
desc:
  ATensor: {DataType: FLOAT32, Sizes: [1, 1, 2, 3]}
  BTensor: {DataType: FLOAT32, Sizes: [1, 1, 2, SIZE]}
  OutputTensor: {DataType: FLOAT32, Sizes: [1, 1, 2, 3]}
"""


@pytest.mark.parametrize(
    ("size", "answer", "accepted", "hresult"),
    [("3", "accepts it", True, "0x00000000"), ("4", "refuses it: E_INVALIDARG", False, "0x80070057")],
)
def test_validate_adds_the_answer(tmp_path: Path, size: str, answer: str, accepted: bool, hresult: str) -> None:
    path = tmp_path / "add.yaml"
    path.write_text(ADD.replace("SIZE", size), encoding="utf-8")
    library = str(wheel())
    text = dmlcheck("validate", str(path), "--library", library)
    assert f"DirectML {VERSION} {answer}\n" in text.output
    assert text.exit_code == int(not accepted)
    found = json.loads(dmlcheck("validate", str(path), "--library", library, "--format", "json").output)
    assert found["descs"][0]["library"] == {"version": VERSION, "accepted": accepted, "hresult": hresult}


def test_a_run_without_a_device_asks_and_skips_what_it_would_have_to_compute(tmp_path: Path) -> None:
    cases = ADD.replace("SIZE", "3") + "cases:\n  - {name: plain}\n"
    cases += (
        "  - {name: values, inputs: {ATensor: {fill: 1}, BTensor: {fill: 2}}, outputs: {OutputTensor: {fill: 3}}}\n"
    )
    cases += "  - {name: wrong, desc: {BTensor: {DataType: FLOAT32, Sizes: [1, 1, 2, 4]}}, invalid: [size-mismatch]}\n"
    path, report = tmp_path / "add.yaml", tmp_path / "report.json"
    path.write_text(cases, encoding="utf-8")
    done = dmlcheck("run", str(path), "--implementation", f"directml:{wheel()},device=none", "--json", str(report))
    found = json.loads(report.read_text(encoding="utf-8"))
    assert done.exit_code == 0, done.output
    assert (found["implementation_version"], found["device"], found["feature_level"]) == (VERSION, "none", "6_2")
    endings = {case["name"]: (case["outcome"], case["reason"]) for case in found["cases"]}
    assert endings == {
        "plain": ("passed", "accepts it"),
        "values": ("skipped", "no device"),
        "wrong": ("passed", "refused: E_INVALIDARG"),
    }
