"""JUnit XML, as Jenkins' xunit plugin and GitLab read it: a test suite for each file, a test case for each case."""

from __future__ import annotations

import re
from collections.abc import Callable

from dmlcheck import __version__
from dmlcheck.reports.accuracy import drifts, warnings
from dmlcheck.reports.elements import open_lines
from dmlcheck.reports.failure import failure_text, reason_text, rules_text
from dmlcheck.reports.files import PartedFile
from dmlcheck.reports.records import EACH_ITS_OWN, RunInfo, Summary, is_failure
from dmlcheck.running.results import ERRORED, PASSED, CaseResult
from dmlcheck.specs.load import full_name
from dmlcheck.specs.names import short_operator

# Characters that XML 1.0 cannot have, not even as a reference.
_IMPOSSIBLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_IN_TEXT = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;"})
_IN_ATTRIBUTE = {**_IN_TEXT, ord('"'): "&quot;", ord("\n"): "&#10;", ord("\t"): "&#9;"}


class JunitReport:
    """A run as JUnit XML; a case that passes and makes the run fail, being less accurate than before, is a failure.

    A suite begins with its counts, so its cases are put aside, out of memory, until all counts are known.
    """

    def __init__(self, path: str, info: RunInfo, *, again: Callable[[CaseResult], str] | None = None) -> None:
        self.file = PartedFile(path)
        self.info = info
        self.again = again
        self.suites: dict[str, _Suite] = {}

    def case(self, result: CaseResult) -> None:
        """Put one case aside."""
        case = result.case
        suite = self.suites.get(case.path)
        if suite is None:
            suite = self.suites[case.path] = _Suite(case.file)
        suite.count(result)
        suite.add(self.file.put_aside(self.testcase(result)))

    def testcase(self, result: CaseResult) -> str:
        """Return the element of one case."""
        case = result.case
        head = _tag("  <testcase", classname=_classname(case.path), name=case.name, time=_seconds(result.seconds))
        if is_failure(result):
            inside = self.failure(result)
        elif result.outcome == PASSED:
            noted = (f"{found.severity}: {found.message}" for found in (*warnings(result), *drifts(result)))
            said = "\n".join((*noted, *open_lines(result)))
            inside = f"<system-out>{_text(said)}</system-out>" if said else ""
        else:
            inside = _tag("<skipped", message=result.reason or "no reason given", type=result.outcome) + "/>"
        return f"{head}>\n   {inside}\n  </testcase>\n" if inside else f"{head}/>\n"

    def failure(self, result: CaseResult) -> str:
        """Return the element of a failure, with the text report of it."""
        element = "error" if result.outcome == ERRORED else "failure"
        start = _tag(f"<{element}", message=reason_text(result), type=rules_text(result) or result.outcome)
        return f"{start}>{_text(failure_text(result, self.again))}</{element}>"

    def finish(self, summary: Summary) -> None:
        """Write the suites with their counts and cases, and put the report in place."""
        suites = self.suites.values()
        root = _tag(
            "<testsuites",
            name="dmlcheck",
            tests=str(sum(suite.tests for suite in suites)),
            failures=str(sum(suite.failures for suite in suites)),
            errors=str(sum(suite.errors for suite in suites)),
            time=_seconds(summary.seconds),
        )
        self.file.write(f'<?xml version="1.0" encoding="UTF-8"?>\n{root}>\n')
        for name, suite in self.suites.items():
            self.file.write(self.suite_head(name, suite, summary))
            for start, end in suite.parts:
                self.file.take_back(start, end)
            self.file.write(" </testsuite>\n")
        self.file.write("</testsuites>\n")
        self.file.close()

    def suite_head(self, name: str, suite: _Suite, summary: Summary) -> str:
        """Return the beginning of a suite, up to its cases."""
        start = _tag(
            " <testsuite",
            name=name,
            tests=str(suite.tests),
            failures=str(suite.failures),
            errors=str(suite.errors),
            skipped=str(suite.skipped),
            time=_seconds(suite.seconds),
            file=suite.file,
        )
        info = self.info
        properties = {
            "dmlcheck": __version__,
            "implementation": info.implementation,
            "implementation_version": info.version,
            "device": info.device,
            "feature_level": info.settings.feature_level or EACH_ITS_OWN,
            "cases": str(sum(suite.tests for suite in self.suites.values())),
            "computed": str(summary.computed),
            "descs_checked": str(summary.descs),
            "accumulate": info.settings.precision.accumulate,
            "inputs": info.settings.precision.factors,
            "operators": " ".join(sorted(suite.operators)),
        }
        lines = [f"   {_tag('<property', name=key, value=value)}/>\n" for key, value in properties.items() if value]
        return f"{start}>\n  <properties>\n{''.join(lines)}  </properties>\n"


class _Suite:
    """The counts of one file's cases, and where the cases themselves were put aside."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.tests = self.failures = self.errors = self.skipped = 0
        self.seconds = 0.0
        self.operators: set[str] = set()
        self.parts: list[tuple[int, int]] = []

    def count(self, result: CaseResult) -> None:
        self.tests += 1
        self.seconds += result.seconds
        if result.outcome == ERRORED:
            self.errors += 1
        elif is_failure(result):
            self.failures += 1
        elif result.outcome != PASSED:
            self.skipped += 1
        operator = full_name(result.case.operator)
        if operator is not None:
            self.operators.add(short_operator(operator))

    def add(self, part: tuple[int, int]) -> None:
        """Add a case by its place; one that follows the last one makes that longer."""
        if self.parts and self.parts[-1][1] == part[0]:
            self.parts[-1] = self.parts[-1][0], part[1]
        else:
            self.parts.append(part)


def _classname(file: str) -> str:
    """Return the path of ids as the dotted name by which readers group cases: `cases/sum.yaml` as cases.sum.

    Any other ending stays, so that two files never share a name that tells nothing of where they differ.
    """
    steps = file.removesuffix(".yaml").replace("\\", "/").split("/")
    return ".".join(step.replace(".", "_") for step in steps if step not in ("", ".", "..")) or file


def _seconds(seconds: float) -> str:
    return f"{seconds:.3f}"


def _tag(start: str, **attributes: str) -> str:
    return start + "".join(
        f' {name}="{_possible(value).translate(_IN_ATTRIBUTE)}"' for name, value in attributes.items()
    )


def _text(text: str) -> str:
    return _possible(text).translate(_IN_TEXT)


def _possible(text: str) -> str:
    return _IMPOSSIBLE.sub("\N{REPLACEMENT CHARACTER}", text)
