"""Campaigns: each distinct fault is found once, as a case that fails again, and everything else is counted."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import fuzzed
import pytest
from asked_library import E_INVALIDARG, AskedLibrary

from dmlcheck.descs.read import read_desc
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.descs.write import notation
from dmlcheck.drawing.units import Unit
from dmlcheck.files import yaml
from dmlcheck.formats.registry import read_file
from dmlcheck.fuzzing.answers import TrialAnswer
from dmlcheck.fuzzing.campaign import Campaign, CampaignFinding, CampaignRequest, CampaignTally, failing_of
from dmlcheck.fuzzing.finding_files import FindingFiles, KnownFindings
from dmlcheck.fuzzing.trials import NO_DRAW, BenchHere, Trial
from dmlcheck.implementations.protocol import Reference
from dmlcheck.running.expectations import read_expectations
from dmlcheck.running.one_case import Run, run_case
from dmlcheck.running.results import FAILED, PASSED, SKIPPED
from dmlcheck.running.settings import Settings
from dmlcheck.specs.names import NEWEST_LEVEL
from dmlcheck.validation.deviations import is_accepted

ABS, GEMM = "DML_OPERATOR_ELEMENT_WISE_ABS", "DML_OPERATOR_GEMM"


def campaign(implementation: Any, folder: Path, *operators: str, examples: int = 30, **more: Any) -> Campaign:
    asked = CampaignRequest(operators or (ABS, GEMM), implementation.name, examples=examples, **more)
    return Campaign(asked, BenchHere(implementation, Settings()), FindingFiles(str(folder)))


def findings(made: Campaign) -> list[CampaignFinding]:
    found = [event for event in made.events() if isinstance(event, CampaignFinding)]
    made.files.close()
    return found


@pytest.mark.slow
def test_a_right_implementation_has_no_findings_and_no_folder(tmp_path: Path) -> None:
    made = campaign(fuzzed.Right(), tmp_path / "found")
    assert findings(made) == []
    assert made.tally.draws == 30
    assert made.tally.compared > 25
    assert not (tmp_path / "found").exists()


@pytest.mark.slow
def test_a_fault_is_found_once_for_each_operator_and_fails_again(tmp_path: Path) -> None:
    made = campaign(fuzzed.LosesLast(), tmp_path / "found")
    found = findings(made)
    assert {one.operator for one in found} == {ABS, GEMM}
    assert len({(one.operator, one.answer.fault) for one in found}) == len(found)
    assert sum(made.tally.repeated.values()) > len(found)
    for one in found:
        assert not one.is_flaky
        (case,) = read_file(one.path).cases
        assert run_case(case, Run(fuzzed.LosesLast())).outcome == FAILED
        assert run_case(case, Run(Reference())).outcome == PASSED
        assert "--seed 0" in (case.source or "")


@pytest.mark.slow
def test_a_refusal_of_a_valid_desc_is_a_finding(tmp_path: Path) -> None:
    found = findings(campaign(fuzzed.RefusesMany(), tmp_path / "found", ABS))
    assert [one.answer.difference.rule for one in found if one.answer.difference] == ["implementation-error"]
    (case,) = read_file(found[0].path).cases
    assert case.desc["InputTensor"]["Sizes"] == [1, 1, 1, 1]


def test_a_desc_that_a_library_refuses_is_reduced_alone(tmp_path: Path) -> None:
    def refuses(desc: OperatorDesc) -> int:
        return E_INVALIDARG if len(desc["InputTensor"].sizes) > 3 else 0

    library = AskedLibrary(refuses, "1.13.1", "6_2")
    (found,) = findings(campaign(library, tmp_path / "found", ABS, level="6_2", is_of_descs=True))
    (case,) = read_file(found.path).cases
    assert (case.is_plain_desc, case.desc["InputTensor"]["Sizes"]) == (True, [1, 1, 1, 1])
    assert not found.is_flaky
    again = run_case(case, Run(library))
    assert (again.outcome, [problem.rule for problem in again.diagnostics]) == (FAILED, ["unforeseen-answer"])


@pytest.mark.slow
def test_answers_of_a_library_that_are_foreseen_are_no_findings(tmp_path: Path) -> None:
    def foreseen(desc: OperatorDesc) -> int:
        return 0 if is_accepted(read_desc(ABS, notation(desc)), "1.8.2") else E_INVALIDARG

    # of the draws: 1.8.2 takes some that are not valid at 3_0, and refuses some that are valid at 6_4
    for level in ("3_0", "5_0", "6_4"):
        library = AskedLibrary(foreseen, "1.8.2", "5_0")
        asked = {"level": level, "is_of_descs": True, "with_invalid": True}
        made = campaign(library, tmp_path / "found", ABS, examples=120, **asked)
        made.bench = BenchHere(library, Settings(level))
        assert findings(made) == []
        assert (made.tally.compared > 60, made.tally.invalid > 20) == (True, True)
    answers = {bool(foreseen(desc)) for desc in library.asked}
    assert answers == {True, False}


@pytest.mark.slow
def test_what_takes_descs_that_are_not_valid_has_a_finding_for_each_kind_of_mistake(tmp_path: Path) -> None:
    found = findings(campaign(fuzzed.TakesAll(), tmp_path / "found", ABS, examples=40, with_invalid=True))
    assert {one.answer.difference.rule for one in found if one.answer.difference} == {"invalid-desc-accepted"}
    entries = [read_file(one.path).cases[0].invalid for one in found]
    assert all(one.work.startswith("drawn by dmlcheck fuzz --invalid --seed 0, draw ") for one in found)
    assert len(set(entries)) == len(entries) >= 3
    for one in found:
        (case,) = read_file(one.path).cases
        assert run_case(case, Run(Reference())).outcome == PASSED
        assert run_case(case, Run(fuzzed.TakesAll())).outcome == FAILED


def test_what_refuses_descs_that_are_not_valid_has_none(tmp_path: Path) -> None:
    made = campaign(fuzzed.Right(), tmp_path / "found", ABS, examples=20, with_invalid=True)
    assert findings(made) == []
    assert made.tally.invalid >= 8


def test_a_failure_that_does_not_come_again_is_flaky(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzzed.Flaky, "count", 0)
    found = findings(campaign(fuzzed.Flaky(), tmp_path / "found", ABS, examples=4))
    assert [one.is_flaky for one in found] == [True]


@pytest.mark.slow
def test_what_is_expected_is_counted_and_is_neither_reduced_nor_written(tmp_path: Path) -> None:
    path = tmp_path / "known.yaml"
    path.write_text("- {cases: '*wise_abs-output-mismatch-*', expect: failed, reason: loses one}\n", encoding="utf-8")
    made = campaign(fuzzed.LosesLast(), tmp_path / "found")
    entries = read_expectations(yaml.read(str(path)), "loses-last", None, dt.date.min)
    made.expected = KnownFindings(entries, str(tmp_path / "found"))
    found = findings(made)
    assert {one.operator for one in found} == {GEMM}
    assert made.expected.counts["loses one"] >= 8
    assert made.tally.repeated[ABS] == 0
    assert made.tally.compared > 25


def test_operators_take_turns_and_a_draw_depends_on_its_number_alone(tmp_path: Path) -> None:
    units = list(campaign(fuzzed.Right(), tmp_path / "a", ABS, GEMM, examples=5, seed=3).units())
    assert units == [Unit(ABS, 3, 0), Unit(GEMM, 3, 0), Unit(ABS, 3, 1), Unit(GEMM, 3, 1), Unit(ABS, 3, 2)]
    with_invalid = campaign(fuzzed.Right(), tmp_path / "b", ABS, examples=4, with_invalid=True).units()
    assert [unit.is_invalid for unit in with_invalid] == [False, True, False, True]


def test_the_time_ends_a_campaign(tmp_path: Path) -> None:
    made = campaign(fuzzed.Right(), tmp_path / "a", seconds=-1.0)
    assert list(made.events()) == []


def test_an_interrupt_while_a_finding_is_reduced_ends_the_campaign_with_the_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = campaign(fuzzed.LosesLast(), tmp_path / "found")

    def interrupted(*_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr("dmlcheck.fuzzing.reducing.Reducer.work", interrupted)
    with pytest.raises(KeyboardInterrupt):
        findings(made)
    (found,) = made.tally.findings
    assert (Path(found.path).exists(), found.is_whole, found.is_flaky) == (True, False, False)


def test_an_interrupt_while_a_finding_is_tried_again_ends_the_campaign_with_the_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As of one that hangs: the draw itself is judged through `answers`."""
    made = campaign(fuzzed.LosesLast(), tmp_path / "found")
    answer = made.bench.answer

    def interrupted(work: Any) -> Any:
        if isinstance(work, Unit):
            return answer(work)
        raise KeyboardInterrupt

    monkeypatch.setattr(made.bench, "answer", interrupted)
    with pytest.raises(KeyboardInterrupt):
        findings(made)
    (found,) = made.tally.findings
    assert (Path(found.path).exists(), found.trials, found.is_whole) == (True, 0, False)


def test_a_tally_counts_what_was_compared_and_why_the_rest_was_not() -> None:
    tally = CampaignTally()
    for answer in (TrialAnswer(PASSED), TrialAnswer(SKIPPED, NO_DRAW), TrialAnswer(SKIPPED, "unsupported")):
        tally.take(answer, is_invalid=True)
    assert (tally.draws, tally.compared, tally.undrawn, tally.invalid) == (3, 1, 1, 1)
    assert tally.reasons == {"unsupported": 1}


def test_a_trial_whose_desc_cannot_be_read_is_nothing_to_reduce() -> None:
    with pytest.raises(ValueError, match="GEMM"):
        failing_of(Trial("NO_SUCH_GEMM", {}, {}, NEWEST_LEVEL), TrialAnswer(FAILED))
