"""Results and diagnostics as a terminal or a log may have them."""

from __future__ import annotations

import pytest
from results import OUTPUT, case, failed

from dmlcheck.diagnostics.record import Diagnostic
from dmlcheck.reports.diagnostics import diagnostic_text
from dmlcheck.reports.records import Earlier, RunInfo
from dmlcheck.reports.visible import shown_diagnostic, shown_info, shown_lines, shown_result
from dmlcheck.running.results import CaseResult, Drift

HOSTILE = "a\n::error::b\x1b[31m\r\u202ec"
SHOWN = r"a\n::error::b\x1b[31m\r\u202ec"


def test_every_text_of_a_diagnostic_is_shown_on_one_line() -> None:
    found = Diagnostic(HOSTILE, HOSTILE, HOSTILE, HOSTILE, 1, 2, None, HOSTILE, HOSTILE, HOSTILE)
    shown = shown_diagnostic(found)
    message = "a\n  | ::error::b" + SHOWN[13:]
    assert shown == Diagnostic(SHOWN, message, SHOWN, SHOWN, 1, 2, None, SHOWN, SHOWN, SHOWN)
    assert diagnostic_text(found).split("\n") == [
        f"{SHOWN}:1:2: {SHOWN}[{SHOWN}]: a",
        f"  | {message.partition('| ')[2]}   ({SHOWN})",
        f"  {SHOWN}",
        f"  help: {SHOWN}",
    ]


def test_what_is_shown_once_is_shown_alike_again() -> None:
    assert shown_lines("a\nb\x07\nc") == "a\n  | b\\x07\n  | c" == shown_lines(shown_lines("a\nb\x07\nc"))


def test_every_text_of_a_result_is_shown_on_one_line() -> None:
    made = case()._replace(
        id=HOSTILE, name=HOSTILE, file=HOSTILE, operator=HOSTILE, source=HOSTILE, inputs={HOSTILE: HOSTILE}
    )
    output = OUTPUT._replace(bound=HOSTILE, decided_by=HOSTILE, shape=HOSTILE)
    drift = Drift(HOSTILE, 1.0, 2.0, is_failure=False)
    result = failed()._replace(
        case=made, reason=HOSTILE, outputs={HOSTILE: output}, warned=(HOSTILE,), drift=(drift,), diagnostics=()
    )
    shown = shown_result(result)
    assert [shown.case.id, shown.case.name, shown.case.file, shown.case.operator, shown.case.source] == [SHOWN] * 5
    assert (shown.reason, shown.warned, shown.drift[0].output) == (SHOWN, (SHOWN,), SHOWN)
    assert list(shown.outputs) == list(shown.case.inputs or ()) == [SHOWN]
    kept = shown.outputs[SHOWN]
    assert (kept.bound, kept.decided_by, kept.shape) == (SHOWN, SHOWN, SHOWN)


@pytest.mark.parametrize("field", ["id", "name", "file", "operator", "source"])
def test_of_a_case_that_passes_every_text_is_shown_too(field: str) -> None:
    result = CaseResult(case()._replace(**{field: HOSTILE}), "passed")
    assert getattr(shown_result(result).case, field) == SHOWN
    plain = CaseResult(case(), "passed", "a legal desc", outputs={"OutputTensor": OUTPUT})
    assert shown_result(plain) is plain
    assert shown_result(plain._replace(reason=HOSTILE)).reason == SHOWN
    assert list(shown_result(plain._replace(outputs={HOSTILE: OUTPUT})).outputs) == [SHOWN]
    assert shown_result(plain._replace(warned=(HOSTILE,))).warned == (SHOWN,)


def test_what_a_run_is_of_is_shown_on_one_line() -> None:
    info = RunInfo(HOSTILE, version=HOSTILE, device=HOSTILE, compared_to=Earlier(HOSTILE, HOSTILE, 1.0, HOSTILE))
    shown = RunInfo(SHOWN, version=SHOWN, device=SHOWN, compared_to=Earlier(SHOWN, SHOWN, 1.0, SHOWN))
    assert shown_info(info) == shown
    assert shown_info(RunInfo("reference")) == RunInfo("reference")
