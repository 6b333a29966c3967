"""The files of findings."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from commandline import json_of
from valid_descs import tensor, valid

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.files.yaml import read
from dmlcheck.folders.export_folder import Occupied
from dmlcheck.formats.registry import read_file
from dmlcheck.fuzzing.answers import FailureKind, TrialAnswer
from dmlcheck.fuzzing.finding_files import (
    FindingFiles,
    FindingSource,
    KnownFindings,
    expected,
    finding_name,
    write_case,
)
from dmlcheck.fuzzing.reducing import Failing, Taken
from dmlcheck.running.expectations import read_expectations
from dmlcheck.running.results import ERRORED, FAILED

ABOUT = FindingSource("drawn by a test", "5_0", "python:x:Y", "a cause")
ANSWER = TrialAnswer(FAILED, "", FailureKind("output-mismatch", "OutputTensor", "value"), "OutputTensor\nis wrong")


def relu(*sizes: int) -> OperatorDesc:
    return valid("DML_OPERATOR_ACTIVATION_RELU", InputTensor=tensor(*sizes), OutputTensor=tensor(*sizes))


def failing(count: int) -> Failing:
    return Failing(relu(count), {"InputTensor": np.linspace(-1, 1, count, dtype=np.float32)}, ANSWER)


def test_a_finding_is_a_case_file_with_where_it_is_from_and_what_is_right(tmp_path: Path) -> None:
    files = FindingFiles(str(tmp_path / "found"))
    path, name = files.write(failing(3), ABOUT)
    files.close()
    (case,) = read_file(path).cases
    assert (case.name, name) == ("activation_relu-output-mismatch-float32",) * 2
    assert (case.source, case.note, case.feature_level) == ("drawn by a test", "likely cause: a cause", "5_0")
    assert case.outputs == {"OutputTensor": [0, 0, 1]}
    assert Path(path).read_text(encoding="utf-8").startswith("# OutputTensor is wrong\n# Found by dmlcheck ")
    manifest = json_of(tmp_path / "found" / "manifest.json")
    assert manifest["format"] == "findings"


def test_names_are_not_taken_twice(tmp_path: Path) -> None:
    files = FindingFiles(str(tmp_path / "found"))
    names = [files.write(failing(3), ABOUT)[1] for _ in range(2)]
    assert names == ["activation_relu-output-mismatch-float32", "activation_relu-output-mismatch-float32-2"]


@pytest.mark.parametrize(
    ("difference", "name"),
    [
        (FailureKind("output-mismatch", "OutputTensor", "nan"), "activation_relu-output-mismatch-float32-nan"),
        (
            FailureKind("output-mismatch", "OutputTensor", "sign of zero"),
            "activation_relu-output-mismatch-float32-sign-of-zero",
        ),
        (FailureKind("systematic-error", "OutputTensor"), "activation_relu-systematic-error-float32"),
        (FailureKind("implementation-error", "", "raised ValueError: #"), "activation_relu-implementation-error"),
        (None, "activation_relu-failed"),
    ],
)
def test_a_finding_is_called_by_its_operator_rule_data_type_and_kind(difference: FailureKind | None, name: str) -> None:
    assert finding_name(relu(3), ANSWER._replace(difference=difference)) == name


def test_the_folder_of_an_earlier_campaign_is_cleared_and_no_other(tmp_path: Path) -> None:
    files = FindingFiles(str(tmp_path / "found"))
    path, _ = files.write(failing(3), ABOUT)
    files.close()
    FindingFiles(str(tmp_path / "found")).close()
    assert not Path(path).exists()
    (tmp_path / "mine.txt").write_text("x")
    with pytest.raises(Occupied):
        FindingFiles(str(tmp_path))


def test_a_desc_that_is_taken_though_it_is_not_valid_lists_what_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    write_case(str(path), Taken(relu(3), "invalid-alignment", ANSWER), ABOUT)
    (case,) = read_file(str(path)).cases
    assert (case.name, case.invalid, case.inputs) == ("x", ("invalid-alignment",), None)


def test_a_case_of_its_own_has_larger_values_beside_it_and_is_written_over(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "x.yaml"
    for count in (1000, 2):
        write_case(str(path), failing(count), ABOUT)
        (case,) = read_file(str(path)).cases
        assert case.desc["InputTensor"]["Sizes"] == [count]
    assert (tmp_path / "deep" / "x").is_dir()


def test_what_is_undefined_is_hidden_in_what_is_expected() -> None:
    desc = valid(
        "DML_OPERATOR_ARGMAX",
        InputTensor=tensor(1, 2),
        OutputTensor=tensor(1, 1, data_type="UINT32"),
        Axes=[1],
        AxisDirection="INCREASING",
    )
    inputs = {"InputTensor": np.array([[np.nan, 1]], np.float32)}
    hidden = expected(desc, inputs, is_of_directml=False)["OutputTensor"]
    assert np.ma.getmaskarray(hidden).tolist() == [[True]]


def test_what_was_measured_is_expected_of_directml() -> None:
    """CAST of -2 to UINT8: DirectML 1.15.4, vkd3d-proton on Mesa lavapipe 25.0, 2026-11-30."""
    fields = {"InputTensor": tensor(2, data_type="INT32"), "OutputTensor": tensor(2, data_type="UINT8")}
    inputs = {"InputTensor": np.array([-2, 7], np.int32)}
    hidden, shown = (
        expected(valid("DML_OPERATOR_CAST", **fields), inputs, is_of_directml=each)["OutputTensor"]
        for each in (False, True)
    )
    assert np.ma.getmaskarray(hidden).tolist() == [True, False]
    assert np.ma.getmaskarray(shown).tolist() == [False, False]
    assert shown.tolist() == [255, 7]


# ---- what is known of an implementation is no finding: by operator, rule, data type, kind of difference, and error


RELU = valid("DML_OPERATOR_ACTIVATION_RELU", InputTensor=tensor(3), OutputTensor=tensor(3))
WRONG = TrialAnswer(FAILED, "", FailureKind("output-mismatch", "OutputTensor", "value"), max_ulp=4.0)
NAN = WRONG._replace(difference=FailureKind("output-mismatch", "OutputTensor", "nan"))
RAISED = TrialAnswer(ERRORED, "", FailureKind("implementation-error", "", "engine raised ValueError"))


def known(folder: Path, entry: str) -> KnownFindings:
    path = folder / "known.yaml"
    path.write_text(f"- {{{entry}, reason: of old}}\n", encoding="utf-8")
    expectations = read_expectations(read(str(path)), "engine", None, dt.date.min)
    assert not expectations.problems
    return KnownFindings(expectations, "found")


@pytest.mark.parametrize(
    ("entry", "answers"),
    [
        ("cases: '*relu-output-mismatch*', expect: failed", [WRONG, NAN]),
        ("cases: 'found/activation_relu-output-mismatch-float32.yaml::*', expect: failed", [WRONG]),
        ("cases: '*::activation_relu-output-mismatch-*-nan', expect: failed", [NAN]),
        ("cases: '*', expect: failed, rule: output-mismatch, max_ulp: 4", [WRONG, NAN]),
        ("cases: '*', expect: failed, rule: systematic-error", []),
        ("cases: '*', expect: failed, max_ulp: 3", []),
        ("cases: '*', expect: error", [RAISED]),
        ("cases: '*gemm*', expect: failed", []),
        ("cases: '*relu*', expect: failed, implementation: other", []),
    ],
)
def test_an_entry_is_for_what_its_finding_would_be_called(
    tmp_path: Path, entry: str, answers: list[TrialAnswer]
) -> None:
    found = known(tmp_path, entry)
    assert [answer for answer in (WRONG, NAN, RAISED) if found.is_known(RELU, answer)] == answers
    assert found.counts == Counter({"of old": len(answers)} if answers else {})


def test_an_entry_may_be_for_a_model_of_a_graph(tmp_path: Path) -> None:
    found = known(tmp_path, "cases: '*/model.onnx::output:*', expect: failed")
    assert found.is_known_in("graph-3/model.onnx", "output:y", WRONG)
    assert not found.is_known_in("graph-3/model.onnx", "s0_Add", WRONG)


def test_without_a_file_nothing_is_known() -> None:
    assert not KnownFindings(None, "found").is_known(RELU, WRONG)
