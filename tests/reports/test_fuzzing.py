"""Campaigns as text."""

from __future__ import annotations

from collections import Counter

from dmlcheck.fuzzing.answers import FailureKind, TrialAnswer
from dmlcheck.fuzzing.campaign import CampaignFinding, CampaignRequest, CampaignTally
from dmlcheck.reports.fuzzing import finding_lines, head_lines, progress_text, summary_lines
from dmlcheck.reports.layout import PLAIN
from dmlcheck.running.results import FAILED, PASSED, SKIPPED

GEMM = "DML_OPERATOR_GEMM"
ANSWER = TrialAnswer(FAILED, "", FailureKind("output-mismatch", "OutputTensor", "value"), "1 of 2 is wrong", "TF32")
FOUND = CampaignFinding(GEMM, "draw 3 of GEMM", ANSWER, "found/gemm.yaml", 12)


def tally(*answers: TrialAnswer) -> CampaignTally:
    made = CampaignTally()
    for answer in answers:
        made.take(answer)
    return made


def test_a_campaign_begins_with_what_is_drawn() -> None:
    few = list(head_lines(CampaignRequest((GEMM,), "x", seed=4), "engine 1.2 (a device)"))
    assert few[0].endswith(", engine 1.2 (a device)")
    assert few[1] == "draws of GEMM at DML_FEATURE_LEVEL_6_4, seed 4"
    many = list(head_lines(CampaignRequest((GEMM,) * 9, "x", with_invalid=True), "engine"))
    assert many[1] == "draws of 9 operators at DML_FEATURE_LEVEL_6_4, seed 0, every second desc invalid"


def test_a_finding_has_its_rule_its_cause_and_its_file() -> None:
    assert list(finding_lines(FOUND, PLAIN)) == [
        "FOUND GEMM: output-mismatch",
        "  1 of 2 is wrong",
        "  likely cause: TF32",
        "  found/gemm.yaml: draw 3 of GEMM; reduced by 12 trials",
    ]
    assert list(finding_lines(FOUND._replace(is_whole=False), PLAIN))[-1].endswith("trials before the time ran out")
    assert list(finding_lines(FOUND._replace(is_flaky=True), PLAIN))[-1].endswith("; it failed only now and then")


def test_a_campaign_ends_with_what_was_compared_what_was_not_and_how_to_see_it_again() -> None:
    made = tally(
        TrialAnswer(PASSED), TrialAnswer(SKIPPED, "unsupported: x"), TrialAnswer(SKIPPED, "unsupported: x"), ANSWER
    )
    made.findings.append(FOUND)
    made.repeated[GEMM] = 1
    lines = list(summary_lines(made, again="dmlcheck run found", is_interrupted=True))
    assert lines[0] == "skipped 2 draws: unsupported: x"
    assert lines[1] == "1 more draw failed by the same faults, or by faults past the limit for an operator"
    assert lines[2].startswith("interrupted: 4 draws, 2 compared, 1 finding, in 0.")
    assert lines[3:] == [
        "to see them fail: dmlcheck run found",
    ]


def test_what_failed_as_expected_is_counted_by_its_reason() -> None:
    lines = list(summary_lines(tally(TrialAnswer(PASSED)), Counter({"Epsilon": 2, "NaN": 1}), again=""))
    assert lines[:2] == ["2 draws failed as expected: Epsilon", "1 draw failed as expected: NaN"]
    assert lines[2].startswith("1 draw, 1 compared, 0 findings, in ")
    assert len(lines) == 3


def test_what_is_invalid_is_counted_apart() -> None:
    made = CampaignTally()
    made.take(TrialAnswer(PASSED), is_invalid=True)
    assert "1 compared, 1 of them invalid, 0 findings" in progress_text(made)
