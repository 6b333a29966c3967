"""The real DirectML 1.13.1: it answers as its DLL for Windows did when that was recorded, and as dmlcheck foresees."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import recorded_answers as record
from commandline import dmlcheck, json_of
from directml_wheel import VERSION, wheel
from recorded_answers import LETTERS
from shipped import every_case

from dmlcheck.descs.read import read_desc
from dmlcheck.implementations import make
from dmlcheck.implementations.directml import DirectMLLibrary


@pytest.fixture(scope="module")
def library() -> Iterator[DirectMLLibrary]:
    made: Any = make(f"directml:{wheel()},device=none")
    yield made
    made.close()


@pytest.mark.slow
def test_the_library_says_its_release_and_its_level(library: DirectMLLibrary) -> None:
    assert (library.version, library.feature_level, library.device) == (VERSION, "6_2", "none")


@pytest.mark.slow
def test_a_shipped_desc_gets_the_recorded_answer(library: DirectMLLibrary, request: pytest.FixtureRequest) -> None:
    """Every sixth, or with --all-cases each; `.ci/run` asks about all of them."""
    step = 1 if request.config.getoption("--all-cases") else 6
    builds, letters = record.read_shipped()
    column = builds.index(VERSION)
    asked = {record.key_of(case): case for case in every_case()}
    compared = 0
    for key, case in list(asked.items())[::step]:
        desc = read_desc(case.operator, case.desc).desc
        if key in letters and desc is not None and not desc.broken:
            compared += 1
            answer = library.create_operator(desc)
            assert (case.id, LETTERS.get(answer.hresult)) == (case.id, letters[key][column])
    assert compared > 3_300


@pytest.mark.slow
def test_some_of_the_other_descs_get_the_recorded_answer(library: DirectMLLibrary) -> None:
    """`python tests/record_answers.py` asks about all of them."""
    descs = record.read_descs()
    for row in descs.rows[::25]:
        letter = LETTERS.get(library.create_operator(row.desc).hresult)
        assert letter == descs.letter(row, VERSION), row


@pytest.mark.slow
def test_no_answer_to_a_drawn_desc_is_unforeseen(tmp_path: Path) -> None:
    words = ("--invalid", "--examples", "1020", "--seed", "46", "-o", str(tmp_path / "found"))  # 6 of each operator
    done = dmlcheck("fuzz", *words, "--implementation", f"directml:{wheel()},device=none")
    assert (done.exit_code, "1,020 draws" in done.output) == (0, True), done.output


ADD = """\
operator: DML_OPERATOR_ELEMENT_WISE_ADD
desc:
  ATensor: {DataType: FLOAT32, Sizes: [1, 1, 2, 3]}
  BTensor: {DataType: FLOAT32, Sizes: [1, 1, 2, SIZE]}
  OutputTensor: {DataType: FLOAT32, Sizes: [1, 1, 2, 3]}
"""


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_run_without_a_device_asks_and_skips_what_it_would_have_to_compute(tmp_path: Path) -> None:
    cases = ADD.replace("SIZE", "3") + "cases:\n  - {name: plain}\n"
    cases += (
        "  - {name: values, inputs: {ATensor: {fill: 1}, BTensor: {fill: 2}}, outputs: {OutputTensor: {fill: 3}}}\n"
    )
    cases += "  - {name: wrong, desc: {BTensor: {DataType: FLOAT32, Sizes: [1, 1, 2, 4]}}, invalid: [size-mismatch]}\n"
    path, report = tmp_path / "add.yaml", tmp_path / "report.json"
    path.write_text(cases, encoding="utf-8")
    done = dmlcheck("run", str(path), "--implementation", f"directml:{wheel()},device=none", "--json", str(report))
    found = json_of(report)
    assert done.exit_code == 0, done.output
    assert (found["implementation_version"], found["device"], found["feature_level"]) == (VERSION, "none", "6_2")
    endings = {case["name"]: (case["outcome"], case["reason"]) for case in found["cases"]}
    assert endings == {
        "plain": ("passed", "accepts it"),
        "values": ("skipped", "no device"),
        "wrong": ("passed", "refused: E_INVALIDARG"),
    }
