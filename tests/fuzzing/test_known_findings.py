"""What is known of an implementation is no finding: by operator, rule, data type, kind of difference, and error."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from pathlib import Path

import pytest
from valid_descs import tensor, valid

from dmlcheck.files.yaml import read
from dmlcheck.fuzzing.answers import FailureKind, TrialAnswer
from dmlcheck.fuzzing.known_findings import KnownFindings
from dmlcheck.running.expectations import read_expectations
from dmlcheck.running.results import ERRORED, FAILED

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
