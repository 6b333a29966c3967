"""Results and diagnostics as a terminal, a pipe or a log may have them: one line a text, and every character visible.

A report may come from a file that anyone wrote (`merge`), and so may any name, reason or message in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from dmlcheck.diagnostics.record import Diagnostic
from dmlcheck.diagnostics.wording import visible

if TYPE_CHECKING:  # diagnostics are shown where nothing has run
    from dmlcheck.comparison.records import OutputResult
    from dmlcheck.reports.records import RunInfo
    from dmlcheck.running.results import CaseResult

Text = TypeVar("Text", str, "str | None")

_BAR = "  | "
_PASSED = "passed"  # as running.results has it, which `validate` does not load


def shown(text: Text) -> Text:
    """Return a text as one line, None as it is."""
    return text if text is None or text.isprintable() else visible(text)


def shown_lines(text: str) -> str:
    """Return a program's output as text: its lines, those after the first behind a bar, without commands for GitHub."""
    first, *rest = map(visible, text.split("\n"))
    return "\n".join([first, *(line if line.startswith(_BAR) else _BAR + line for line in rest)])


def shown_diagnostic(diagnostic: Diagnostic) -> Diagnostic:
    """Return a diagnostic whose texts are visible."""
    return diagnostic._replace(
        rule=shown(diagnostic.rule),
        message=shown_lines(diagnostic.message),
        severity=shown(diagnostic.severity),
        file=shown(diagnostic.file),
        help=shown(diagnostic.help),
        constraint=shown(diagnostic.constraint),
        note=shown(diagnostic.note),
    )


def shown_result(result: CaseResult) -> CaseResult:
    """Return a result whose names, reason and diagnostics are visible."""
    if _is_plain(result):
        return result
    case = result.case
    case = case._replace(
        id=shown(case.id),
        name=shown(case.name),
        file=shown(case.file),
        operator=shown(case.operator),
        source=shown(case.source),
        inputs=None if case.inputs is None else {shown(str(name)): raw for name, raw in case.inputs.items()},
    )
    diagnostics = tuple(map(shown_diagnostic, result.diagnostics))
    return result._replace(
        case=case,
        reason=shown(result.reason),
        traceback="\n".join(map(visible, result.traceback.split("\n"))),
        diagnostics=diagnostics,
        outputs={shown(name): _shown_output(output) for name, output in result.outputs.items()},
        warned=tuple(map(visible, result.warned)),
        uncompared=tuple(map(shown, result.uncompared)),
        drift=tuple(drift._replace(output=shown(drift.output)) for drift in result.drift),
        known=tuple(
            row._replace(text=shown(row.text), versions=shown(row.versions), source=shown(row.source))
            for row in result.known
        ),
    )


def _is_plain(result: CaseResult) -> bool:
    """Whether a result is one of the many that pass without a remark, and its printed text is all visible."""
    case = result.case
    if result.outcome != _PASSED or result.diagnostics or result.warned or result.drift:
        return False
    outputs = "".join((*result.outputs, *result.uncompared))
    text = f"{case.id}{case.name}{case.operator}{case.source or ''}{result.reason or ''}{outputs}"
    return text.isprintable() and case.file.isprintable()


def _shown_output(output: OutputResult) -> OutputResult:
    return output._replace(bound=shown(output.bound), decided_by=shown(output.decided_by), shape=shown(output.shape))


def shown_info(info: RunInfo) -> RunInfo:
    """Return the description of a run with only visible characters."""
    earlier = info.compared_to
    if earlier is not None:
        earlier = earlier._replace(
            file=shown(earlier.file), version=shown(earlier.version), implementation=shown(earlier.implementation)
        )
    level, directml = shown(info.settings.feature_level), shown(info.settings.directml_version)
    return info._replace(
        implementation=shown(info.implementation),
        settings=info.settings._replace(feature_level=level, directml_version=directml),
        version=shown(info.version),
        device=shown(info.device),
        compared_to=earlier,
        against=info.against and shown_info(info.against),
    )
