"""The description of a run, its counts, and the interface of its reports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from dmlcheck.diagnostics.wording import counted, is_or_are, plural
from dmlcheck.reports.accuracy import Compared, inaccurate_warnings, unlikely_errors, unlimited_warnings
from dmlcheck.running.results import (
    ERRORED,
    FAILURES,
    FOR_IMPLEMENTATIONS,
    LEGAL,
    NO_ANSWER,
    OUTCOMES,
    PASSED,
    SKIPPED,
    XFAILED,
    Bisected,
    CaseResult,
)
from dmlcheck.running.settings import Settings
from dmlcheck.specs.names import LEVELS, level_and_version

CHECKED = "checked"  # in place of passed, where only dmlcheck checked a desc
HEADS = {CHECKED: "descs checked"}  # of columns
EACH_ITS_OWN = "each case's own"  # the feature level of a run that is limited to none


class OfClass(NamedTuple):
    """How many failures, and how many passed cases with unlikely errors, rounding of inputs to a type would explain."""

    failures: int = 0
    warnings: int = 0

    def __str__(self) -> str:
        counts = {"failure": self.failures, "unlikely error": self.warnings}
        return " and ".join(counted(count, what) for what, count in counts.items() if count)

    def text(self, data_type: str) -> str:
        """Return it in words: `12 failures are consistent with TF32 inputs`."""
        verb = is_or_are(self.failures + self.warnings)
        allowed = f"`--input-precision {data_type.lower()}` allows that"
        return f"{self} {verb} consistent with {data_type} inputs: {allowed}"


class Summary(NamedTuple):
    """The counts of a run: the number of cases by outcome, and the seconds it took.

    `digest` identifies the whole case set, of which a shard runs a part; None if the run did not see all of it.
    `warned`, `worse` and `drifted` count passed cases: close to their tolerance, less accurate than in the earlier run
    of `compared`, and making the run fail; `unlikely` those beyond the likely error, `legal` the plain descs. `not_run`
    counts the cases left after a run ended early because of failures.

    `judged` counts the cases that the implementation was asked about, with any outcome, and `computed` the passed
    ones of these; `for_implementations` the skipped cases that only another implementation than the reference can run.
    `inaccurate` counts the cases with inaccurate expected values, passed or failed. `consistent` counts the cases whose
    errors a type of inputs would explain, by this type. `unanswered` counts the judged cases for which the
    implementation gave no result, `unlimited` those with errors where the tolerance has no limit. `running` is the case
    that was running when the run was interrupted, and for how many seconds. `flaky` counts the cases that passed after
    they had failed. `bisected` is the result of the search for nodes of a model that are wrong only together. `against`
    counts the cases that fail in a second implementation.
    """

    counts: dict[str, int]
    seconds: float
    interrupted: bool = False
    digest: str | None = None
    warned: int = 0
    worse: int = 0
    drifted: int = 0
    compared: Compared | None = None
    unlikely: int = 0
    legal: int = 0
    not_run: int = 0
    computed: int = 0
    judged: int = 0
    for_implementations: int = 0
    is_of_reference: bool = True
    inaccurate: int = 0
    consistent: Mapping[str, OfClass] = {}
    unanswered: int = 0
    running: tuple[str, float] | None = None
    flaky: int = 0
    unlimited: int = 0
    bisected: Bisected | None = None
    against: int = 0

    @property
    def is_dead(self) -> bool:
        """Whether the implementation gave a result for no case that it was given, and none of that is a failure."""
        return 0 < self.judged == self.unanswered == self.counts.get(XFAILED, 0)

    @property
    def descs(self) -> int:
        """The number of passed cases whose desc was checked only by dmlcheck."""
        return self.counts.get(PASSED, 0) - self.computed

    @property
    def kinds(self) -> dict[str, int]:
        """The number of cases by outcome, with passed cases that the implementation computed apart from others."""
        rest = {outcome: self.counts.get(outcome, 0) for outcome in OUTCOMES if outcome != PASSED}
        return {PASSED: self.computed, CHECKED: self.descs, **rest}

    @property
    def is_vain(self) -> bool:
        """Whether nothing was checked: all cases were skipped, or the implementation under test was asked nothing."""
        return not (self.checked if self.is_of_reference else self.judged)

    @property
    def total(self) -> int:
        """The number of cases that have a result."""
        return sum(self.counts.values())

    @property
    def checked(self) -> int:
        """The number of cases with a result: those that were not skipped."""
        return self.total - self.counts.get(SKIPPED, 0)

    @property
    def failed(self) -> int:
        """The number of cases whose outcome makes the run fail."""
        return sum(self.counts.get(outcome, 0) for outcome in FAILURES)

    @property
    def failures(self) -> int:
        """The number of results that make the run fail: passed cases that have drifted too, and the second ones."""
        return self.failed + self.drifted + self.against


class RunInfo(NamedTuple):
    """The description of a run: the implementation, the settings, and its shard (1 of 3).

    `version` and `device` are the implementation's description of itself, "" without one. `warn_above` and
    `compared_to` ask for warnings about passed cases. `options` are words of the command line that affect the result
    of any case, for the command that runs one again. `is_selection` says that the command line selects only some cases
    of its files. `model` says how the nodes of a model are judged, if these are the cases, `against` describes the
    second implementation of a run of two.
    """

    implementation: str
    settings: Settings = Settings()
    shard: tuple[int, int] | None = None
    version: str = ""
    device: str = ""
    warn_above: float | None = None
    compared_to: Earlier | None = None
    options: tuple[str, ...] = ()
    is_selection: bool = False
    model: str = ""
    against: RunInfo | None = None

    @property
    def judged(self) -> str:
        """The implementation in words: `onnxruntime 1.31.1 (CPUExecutionProvider on x86_64)`."""
        named = f"{self.implementation} {self.version}".rstrip()
        return f"{named} ({self.device})" if self.device else named

    def scope(self, cases: int) -> str:
        """Return how many cases it has, in words, with their highest feature level, the arithmetic and the shard."""
        settings = self.settings
        most = settings.feature_level
        own = "at the feature level of its file" if cases == 1 else "at the feature levels of their files"
        level = f"{counted(cases, 'case')} {own if most is None else f'up to {level_text(most)}'}"
        level = f"{counted(cases, 'case')} of a model, {self.model}" if self.model else level
        shard = "" if self.shard is None else f", shard {self.shard[0]} of {self.shard[1]}"
        directml = settings.directml_version
        known = "" if directml is None else f", with the known failures of DirectML {directml}"
        precision = settings.precision
        inputs = "" if precision.factors == "FLOAT32" else f", inputs in {precision.factors}"
        ways = f", {' and '.join(precision.algorithms)} allowed" if precision.algorithms else ""
        return f"{level}; tolerances assume sums in {precision.accumulate}{inputs}{ways}{shard}{known}{self._halves}"

    @property
    def _halves(self) -> str:
        """The intermediate results that DirectML keeps in FLOAT16 in words, if it is known that this is DirectML."""
        settings = self.settings
        version = self.version if self.implementation.partition(":")[0] == "directml" else settings.directml_version
        if not version or settings.precision.accumulate != "FLOAT32":
            return ""
        return f"; FLOAT16: intermediate results in FLOAT16, as DirectML {version} does"

    @property
    def is_of_reference(self) -> bool:
        """Whether it is the reference engine that is judged."""
        return self.implementation == "reference"


def level_text(level: str) -> str:
    """Return a feature level with its DirectML version; one of another version of this tool as it is."""
    return level_and_version(level) if level in LEVELS else level


class Earlier(NamedTuple):
    """The report that a run is compared with, its implementation and version, and the allowed drift."""

    file: str
    version: str | None = None
    max_drift: float | None = None
    implementation: str = ""

    def __str__(self) -> str:
        about = " ".join(text for text in (self.implementation, self.version) if text)
        return f"{self.file} ({about})" if about else self.file


class Reporter(Protocol):
    """Takes the results of a run one by one, in order.

    A reporter keeps no results: a run may have any number of cases. Where it writes a file it goes through
    `reports.files.ReportFile`, as `file`.
    """

    def case(self, result: CaseResult) -> None:
        """Take the result of one case."""

    def finish(self, summary: Summary) -> None:
        """Take the end of the run; called on interruption too."""


# ---- the results of cases


def is_quiet(result: CaseResult) -> bool:
    """Whether a case passed without a remark, as most do."""
    is_noted = result.diagnostics or result.warned or result.drift or result.uncompared or result.is_flaky
    return result.outcome == PASSED and not is_noted and result.consistent is None and result.against is None


def is_for_implementations(result: CaseResult) -> bool:
    """Whether a case is skipped because the reference engine would only be compared with itself."""
    return result.outcome == SKIPPED and result.reason == FOR_IMPLEMENTATIONS


def has_drifted(result: CaseResult) -> bool:
    """Whether a case passes, but lost more accuracy than the run allows."""
    return any(drift.is_failure for drift in result.drift)


def is_failure(result: CaseResult) -> bool:
    """Whether a case makes its run fail by the implementation under test."""
    return result.outcome in FAILURES or has_drifted(result)


def kind_of(result: CaseResult) -> str:
    """Return the count that a case goes into: its outcome, or that only dmlcheck checked its desc."""
    return CHECKED if result.outcome == PASSED and result.is_unrun else result.outcome


class Tally:
    """The counts of a run as its results come in; `noted` has the ones that are fields of a summary, by their names."""

    def __init__(self, *, is_of_reference: bool = True) -> None:
        self.is_of_reference = is_of_reference
        self.counts = dict.fromkeys(OUTCOMES, 0)
        self.noted = Counter[str]()
        self.consistent: dict[str, OfClass] = {}

    @property
    def total(self) -> int:
        """The number of cases so far."""
        return sum(self.counts.values())

    @property
    def failures(self) -> int:
        """The number of results that make the run fail."""
        return sum(self.counts[outcome] for outcome in FAILURES) + self.noted["drifted"] + self.noted["against"]

    def add(self, result: CaseResult) -> None:
        """Count a result."""
        is_computed = result.is_computed
        self.counts[result.outcome] += 1
        self.noted["legal"] += kind_of(result) == CHECKED and result.reason == LEGAL
        self.noted["judged"] += is_computed
        self.noted["computed"] += is_computed and result.outcome == PASSED
        if not is_quiet(result):
            self._note(result)

    def _note(self, result: CaseResult) -> None:
        """Count the remarks on a result, as opposed to its outcome."""
        other = None if result.against is None else result.against.result
        self.noted.update(
            warned=bool(result.warned),
            unlikely=bool(unlikely_errors(result)),
            unanswered=result.is_computed and any(found.rule in NO_ANSWER for found in result.diagnostics),
            for_implementations=is_for_implementations(result),
            inaccurate=bool(inaccurate_warnings(result)),
            unlimited=bool(unlimited_warnings(result)),
            worse=bool(result.drift),
            drifted=has_drifted(result),
            flaky=result.is_flaky,
            against=other is not None and is_failure(other) and other.is_computed,
        )
        is_wrong = is_failure(result)
        if result.consistent is not None and (is_wrong or result.outcome == PASSED):
            failures, warnings = self.consistent.get(result.consistent, OfClass())
            more = OfClass(failures + is_wrong, warnings + (not is_wrong))
            self.consistent[result.consistent] = more

    def summary(self, seconds: float, *, is_interrupted: bool = False, **more: Any) -> Summary:
        """Return the counts of the run so far; `more` are other fields of the summary."""
        more = {**more, **self.noted, "consistent": dict(self.consistent), "is_of_reference": self.is_of_reference}
        return Summary(dict(self.counts), seconds, is_interrupted, **more)


def outcomes_text(summary: Summary) -> str:
    """Return the outcomes in words: `12 passed, 2 descs checked, 1 failed`, with notes about them.

    Only cases that the implementation computed count as passed.
    """
    counts = {**summary.kinds, "not run": summary.not_run}
    others = f" ({summary.for_implementations} for implementations)" if summary.for_implementations else ""
    dead = " (the implementation gave no result for any case)" if summary.is_dead else ""
    words = {
        XFAILED: XFAILED + dead,
        CHECKED: f"{plural(summary.descs, 'desc')} checked",
        ERRORED: plural(counts.get(ERRORED, 0), ERRORED),
        SKIPPED: SKIPPED + others,
    }
    parts = [f"{count} {words.get(outcome, outcome)}" for outcome, count in counts.items() if count]
    noted = {
        "flaky": summary.flaky,
        "drifted": summary.drifted,
        "less accurate": summary.worse - summary.drifted,
        "beyond the likely error": summary.unlikely,
        "with an unlimited tolerance": summary.unlimited,
        "close to the tolerance": summary.warned,
        "with an inaccurate expectation": summary.inaccurate,
        "failed in the other implementation": summary.against,
    }
    notes = ", ".join(f"{count} {note}" for note, count in noted.items() if count)
    return (", ".join(parts) or "nothing ran") + (f" ({notes})" if notes else "")


def end_text(summary: Summary) -> str:
    """Return the outcomes of a run, or of its part until it was interrupted: `interrupted after 3 passed`."""
    if not summary.interrupted:
        return outcomes_text(summary)
    return f"interrupted after {outcomes_text(summary)}" if summary.total else "interrupted with no case done"
