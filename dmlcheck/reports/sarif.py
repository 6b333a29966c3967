"""SARIF 2.1.0, as code scanning reads it: of a run, and of validated descs."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from dmlcheck import __version__
from dmlcheck.diagnostics.catalog import RULES
from dmlcheck.diagnostics.pages import page
from dmlcheck.diagnostics.record import ERROR, WARNING, Diagnostic
from dmlcheck.reports.diagnostics import ReportedMistakes, validated_problems
from dmlcheck.reports.failure import encodable, full_message, path_inside, problems_of, repository_path
from dmlcheck.reports.files import PartedFile
from dmlcheck.reports.layout import printed
from dmlcheck.reports.records import RunInfo, Summary, end_text
from dmlcheck.reports.rule_page import rule_lines
from dmlcheck.running.legality import Validated
from dmlcheck.running.results import CaseResult

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
VERSION = "2.1.0"
_SEVERITIES = (ERROR, WARNING)
_OUTCOMES = {
    "failed": "a case failed",
    "error": "a case could not be run",
    "xpassed": "a case that is expected to fail passes",
}


class SarifReport:
    """A run as SARIF: its description, the tool with the rules that were named, the outcome, and the problems.

    The problems are put aside, out of memory, until the other parts are known.
    """

    def __init__(self, path: str, info: RunInfo) -> None:
        self.file = PartedFile(path)
        self.info = info
        self.results = _Results()
        self.end = 0

    def case(self, result: CaseResult) -> None:
        """Write the problems of one case."""
        case = result.case
        for found in self.results.of(case.id, case.name, problems_of(result)):
            if result.traceback and found["level"] == ERROR:
                found["properties"]["traceback"] = encodable(result.traceback)
            _, self.end = self.file.put_aside(("," if self.end else "") + "\n" + _dump(found))

    def finish(self, summary: Summary) -> None:
        """Write the description of the run, its outcome and its problems, and put the report in place."""
        head = {
            "properties": _properties(self.info, summary),
            "tool": self.results.tool(),
            "invocations": [_invocation(summary)],
            "columnKind": "unicodeCodePoints",
        }
        self.file.write(f'{{"$schema": {_dump(SCHEMA)}, "version": {_dump(VERSION)}, "runs": [')
        self.file.write(f'{_dump(head)[:-1]}, "results": [')
        self.file.take_back(0, self.end)
        self.file.write("\n]}]}\n")
        self.file.close()


def _properties(info: RunInfo, summary: Summary) -> dict[str, Any]:
    """Return the description of a run, null for unknown parts."""
    return {
        "implementation": encodable(info.implementation),
        "implementationVersion": encodable(info.version) or None,
        "device": encodable(info.device) or None,
        "featureLevel": info.settings.feature_level,
        "cases": summary.total,
        "computed": summary.computed,
        "descsChecked": summary.descs,
        "accumulate": info.settings.precision.accumulate,
        "inputs": info.settings.precision.factors,
    }


def sarif_text(descs: Iterable[Validated]) -> str:
    """Return the report of `validate --format sarif`."""
    results = _Results()
    found: list[dict[str, Any]] = []
    for desc in descs:
        name = desc.label
        found.extend(results.of(name, desc.name, [problem for _, problem in validated_problems([desc])]))
    run = {"columnKind": "unicodeCodePoints", "results": found, "tool": results.tool()}
    return json.dumps({"$schema": SCHEMA, "version": VERSION, "runs": [run]}, indent=2, allow_nan=False)


class _Results:
    """Problems as results, each mistake of a file once, and the rules that they name, numbered as they come."""

    def __init__(self) -> None:
        self.rules: dict[str, dict[str, Any]] = {}
        self.reported = ReportedMistakes()

    def of(self, id: str, name: str, problems: Iterable[Diagnostic]) -> list[dict[str, Any]]:
        """Return the problems of a case as results."""
        times: dict[tuple[str, ...], int] = {}
        found = []
        for problem in self.reported.new(problems, id):
            what = (problem.rule, problem.constraint or "", problem.pointer or "")
            times[what] = times.get(what, 0) + 1
            found.append(self.result(id, name, problem, "\0".join((id, *what, str(times[what])))))
        return found

    def result(self, id: str, name: str, problem: Diagnostic, identity: str) -> dict[str, Any]:
        """Return a problem as a result; `identity` tells it from others, wherever it moves in its file."""
        rule = encodable(problem.rule)
        if rule not in self.rules:
            self.rules[rule] = {**_rule(rule), "defaultConfiguration": {"level": _level(problem)}}
        location: dict[str, Any] = {
            "logicalLocations": [{"name": encodable(name), "fullyQualifiedName": encodable(id)}],
        }
        if problem.file:
            location["physicalLocation"] = _place(problem)
        fingerprint = hashlib.sha256(encodable(identity).encode()).hexdigest()[:32]
        extra = {"pointer": problem.pointer, "constraint": problem.constraint}
        text = encodable(full_message(problem))
        return {
            "ruleId": rule,
            "ruleIndex": list(self.rules).index(rule),
            "level": _level(problem),
            "message": {"text": text.replace("{", "{{").replace("}", "}}").replace("](", "] (")},
            "locations": [location],
            "partialFingerprints": {"dmlcheckProblem/v1": fingerprint},
            "properties": {key: encodable(value) for key, value in extra.items() if value},
        }

    def tool(self) -> dict[str, Any]:
        return {"driver": {"name": "dmlcheck", "version": __version__, "rules": list(self.rules.values())}}


def _rule(rule: str) -> dict[str, Any]:
    """Return the entry of a rule; an outcome without rule, or a rule of another version, has a shorter one.

    Help texts hold no placeholders, so their braces stay as they are.
    """
    if rule not in RULES:
        text = _OUTCOMES.get(rule, rule)
        return {"id": rule, "shortDescription": {"text": _sentence(text)}, "help": {"text": _sentence(text)}}
    found = page(rule)
    markdown = [_sentence(found.summary), found.why, *([f"```\n{found.table}\n```"] if found.table else [])]
    for title, file in (("Wrong:", found.wrong), ("Right:", found.right)):
        if file:
            markdown += [title, f"```yaml\n{file.rstrip()}\n```"]
    return {
        "id": rule,
        "shortDescription": {"text": _sentence(found.summary)},
        "fullDescription": {"text": found.why},
        "help": {"text": "\n".join(printed(rule_lines(rule), None)), "markdown": "\n\n".join(markdown)},
        "properties": {"tags": [RULES[rule].group]},
    }


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."


def _level(problem: Diagnostic) -> str:
    return problem.severity if problem.severity in _SEVERITIES else "note"


def _place(problem: Diagnostic) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": {"uri": file_uri(problem.file or "")}}
    if problem.line is not None:
        place["region"] = {"startLine": problem.line}
        if problem.column is not None:
            end = problem.column + max(1, problem.width)
            place["region"].update(startColumn=problem.column, endColumn=end)
    return place


def file_uri(file: str) -> str:
    """Return a file's name as a URI: relative if it is in the repository or in the folder that this runs in."""
    path = repository_path(file)
    if os.path.isabs(path):
        path = path_inside(path, os.getcwd()) or path
    if not os.path.isabs(path):
        return quote(_bytes(path), safe="/")
    return "file://" + ("" if path.startswith("/") else "/") + quote(_bytes(path), safe="/:")


def _bytes(path: str) -> bytes:
    """Return a path as the system spells it, in UTF-8."""
    try:
        return path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return encodable(path).encode()


def _invocation(summary: Summary) -> dict[str, Any]:
    if not summary.interrupted:
        return {"executionSuccessful": True}
    text = end_text(summary)
    return {
        "executionSuccessful": False,
        "toolExecutionNotifications": [{"level": "error", "message": {"text": text}}],
    }


def _dump(value: Any) -> str:
    return json.dumps(value, allow_nan=False)
