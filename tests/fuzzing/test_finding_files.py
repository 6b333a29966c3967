"""The files of findings."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from commandline import json_of
from valid_descs import tensor, valid

from dmlcheck.descs.records import OperatorDesc
from dmlcheck.folders.export_folder import Occupied
from dmlcheck.formats.registry import read_file
from dmlcheck.fuzzing.answers import FailureKind, TrialAnswer
from dmlcheck.fuzzing.finding_files import FindingFiles, FindingSource, expected, finding_name, write_case
from dmlcheck.fuzzing.reducing import Failing, Taken
from dmlcheck.running.results import FAILED

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
    found = expected(desc, {"InputTensor": np.array([[np.nan, 1]], np.float32)})
    assert np.ma.getmaskarray(found["OutputTensor"]).tolist() == [[True]]
