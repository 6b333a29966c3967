"""What became of a case."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from dmlcheck.diagnostics.record import Diagnostic

if TYPE_CHECKING:
    from dmlcheck.files.document import Position
from dmlcheck.cases.records import Case
from dmlcheck.comparison.records import OutputResult

PASSED = "passed"
FAILED = "failed"
ERRORED = "error"
SKIPPED = "skipped"
OUTCOMES = (PASSED, FAILED, ERRORED, SKIPPED, "xfailed", "xpassed")


class Drift(NamedTuple):
    """An output that is less accurate than in an earlier report: its largest error then and now, as `max_ulp` has it.

    `is_failure` where that is more than the run allows.
    """

    output: str
    old_ulp: float
    new_ulp: float
    is_failure: bool


class Placed(NamedTuple):
    """What reports need of the file that a case is from: where the case starts, and some of the file's lines.

    It takes the place of a case's origin where the file itself is not at hand: in another process, or later.
    """

    start: Position
    lines: Mapping[int, str] = {}

    def position(self) -> Position:
        """Return where the case starts."""
        return self.start

    @property
    def document(self) -> Placed:
        """The lines, which reports ask the file for."""
        return self

    def line(self, number: int) -> str:
        """Return the text of a line, "" where it is not known."""
        return self.lines.get(number, "")


class CaseResult(NamedTuple):
    """What became of one case; `is_malformed` where it is the file that is wrong, and nothing was run.

    `ordinal` counts the cases of the whole set before it, where the run is one shard of several. `warned` names the
    outputs of a passed case that come close to their bound, where the run asks for it; `drift` has those that became
    less accurate.
    """

    case: Case
    outcome: str
    reason: str | None = None
    diagnostics: tuple[Diagnostic, ...] = ()
    outputs: Mapping[str, OutputResult] = {}
    seconds: float = 0.0
    level: str | None = None
    is_malformed: bool = False
    ordinal: int | None = None
    warned: tuple[str, ...] = ()
    drift: tuple[Drift, ...] = ()
