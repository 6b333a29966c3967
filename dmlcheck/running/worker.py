"""A process of a run: it runs the files that it gets and sends events, many in a message.

A message costs about as much as a small case. So a process keeps its events for a moment, and names the case that it is
about to run only if it is asked to: that is one message a case.
"""

from __future__ import annotations

import gc
import threading
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from dmlcheck.cases.records import Case, DetachedOrigin
from dmlcheck.comparison.records import OutputResult
from dmlcheck.diagnostics.wording import brief
from dmlcheck.files.document import Position
from dmlcheck.formats.find import Target
from dmlcheck.formats.registry import read_file
from dmlcheck.implementations import make_all
from dmlcheck.processes.body import questions, tell
from dmlcheck.running.events import Done, Event, Plan, file_events
from dmlcheck.running.results import PASSED, SKIPPED, CaseResult

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

MOST = 100  # events of a message
PAUSE = 0.1  # seconds that an event is kept for at most
RARE = 100_000  # objects between two searches for cycles, of which a run makes few

_MAX_LINE = 10_000  # characters of a line that are worth taking along


class Task(NamedTuple):
    """A file to run, but for its first few cases; `announces` asks for the name of each case before it runs.

    `tried` says how the first case that runs ended before, each time.
    """

    target: Target
    skip: int = 0
    announces: bool = False
    tried: tuple[str, ...] = ()


class Started(NamedTuple):
    """A case that is about to run, or has been running for a while."""

    case: Case


Row = tuple[Any, ...]  # what there is to send of a case that passed or was skipped
Message = list["Event | Started | Row"]


def serve(connection: Connection, plan: Plan) -> None:
    """Run requested files and send the events."""
    gc.set_threshold(RARE)
    implementation = make_all(plan.implementation, plan.against, plan.timeout)
    outbox = Outbox(connection)
    outbox.start()
    try:
        for task in questions(connection):
            outbox.announces = task.announces
            target = task.target
            file = read_file(target.file, target.name)
            for event in file_events(file, target, plan, implementation, outbox.begin, task.skip, task.tried):
                outbox.add(portable(event, details=plan.details))
            outbox.send()
    finally:
        implementation.close()
        gc.freeze()  # everything goes with the process: there is no garbage to search for


class Outbox:
    """The events of a process, on their way to another: sent if they are many, or have been kept for long enough."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.announces = False
        self._kept: Message = []
        self._case: Case | None = None  # that runs and was not announced
        self._lock = threading.Lock()

    def start(self) -> None:
        """Begin to send the events that have been kept for long enough, even while a case is running."""
        threading.Thread(target=self._send_now_and_then, daemon=True).start()

    def _send_now_and_then(self) -> None:
        pause = threading.Event()
        while not pause.wait(PAUSE):
            self.send()

    def begin(self, case: Case) -> None:
        """Note that a case is about to run, and announce it at once if that is asked for."""
        with self._lock:
            self._case = case
        if self.announces:
            self.send()

    def add(self, event: Event | Row) -> None:
        """Take an event, as it is sent; no case is running after it."""
        with self._lock:
            self._case = None
            self._kept.append(event)
        if len(self._kept) >= MOST:
            self.send()

    def send(self) -> None:
        """Send the events, and the case that is running."""
        with self._lock:
            if self._case is not None:
                self._kept.append(Started(bare(self._case)))
                self._case = None
            if self._kept:
                tell(self.connection, self._kept)
                self._kept = []


# ---- what goes from one process to another


def portable(event: Event, *, details: bool) -> Event | Row:
    """Return an event without the file that its case is from, to be sent; `whole` makes it an event again.

    The parts of the file that reports show go with it: for a case that did not pass, or any with `details`, the lines
    of diagnostics, and inputs as brief text. Most cases have neither, and are plain tuples, which take a third of the
    time to send.
    """
    if not isinstance(event, Done):
        return event
    result = event.result
    if result.outcome not in (PASSED, SKIPPED) or details or result.diagnostics or result.against is not None:
        return Done(_detailed(result))
    case = result.case
    outputs = {label: tuple(output) for label, output in result.outputs.items()}
    return case[:_NAMED], tuple(case.position), result.outcome, result.reason, outputs, result[_REST:]


def whole(sent: Event | Started | Row) -> Event | Started:
    """Return the event that was sent; the case of a plain tuple has only its name and its place."""
    if type(sent) is not tuple:
        return cast("Event | Started", sent)
    (case_id, name, file, operator, level), start, outcome, reason, outputs, rest = sent
    case = Case(case_id, name, file, operator, level, desc={}, origin=DetachedOrigin(Position(*start)))
    results = {label: OutputResult(*output) for label, output in outputs.items()}
    return Done(CaseResult(case, outcome, reason, (), results, *rest))


_NAMED = Case._fields.index("desc")  # fields of a case before this one
_REST = CaseResult._fields.index("outputs") + 1


def bare(case: Case) -> Case:
    """Return a case with only its name and its place."""
    origin = DetachedOrigin(case.position)
    return Case(case.id, case.name, case.file, case.operator, case.feature_level, desc={}, origin=origin)


def _detailed(result: CaseResult) -> CaseResult:
    case = result.case
    numbers = {diagnostic.line for diagnostic in result.diagnostics if diagnostic.line is not None}
    lines = {number: case.origin.line(number)[:_MAX_LINE] for number in numbers}
    inputs = None if case.inputs is None else {name: brief(raw) for name, raw in case.inputs.items()}
    outputs = None if case.outputs is None else dict.fromkeys(case.outputs)
    origin = DetachedOrigin(case.position, lines)
    against = result.against and result.against._replace(result=_detailed(result.against.result))
    return result._replace(case=case._replace(origin=origin, inputs=inputs, outputs=outputs), against=against)
