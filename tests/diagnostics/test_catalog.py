"""The table of rules: every page's wrong example breaks its rule, the right one breaks none, and all can be met."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from dmlcheck.cli import main
from dmlcheck.diagnostics.catalog import RULES
from dmlcheck.files import yaml
from dmlcheck.formats.read import read_document
from dmlcheck.implementations.reference import Reference
from dmlcheck.running.one_case import Run, run_case
from dmlcheck.validation import validate

PACKAGE = Path(__file__).parent.parent.parent / "dmlcheck"
FIXED = (  # noqa: SIM905 - as the contract lists them
    "file-not-found yaml-syntax duplicate-key unknown-key missing-key wrong-type file-too-large "
    "unknown-operator unknown-field missing-field field-type unknown-enum-value count-mismatch "
    "invalid-sizes invalid-strides tensor-too-small invalid-alignment invalid-flags "
    "operator-unavailable unsupported-dimension-count unsupported-data-type unsupported-value "
    "rank-mismatch size-mismatch data-type-mismatch axis-out-of-range duplicate-axis value-out-of-range "
    "missing-tensor unexpected-tensor element-count value-not-representable "
    "output-mismatch implementation-error timeout unsupported-by-implementation"
).split()
# Rules that no file can break by itself: they need a full disk of values, another implementation or an earlier report.
NO_EXAMPLE = {
    "too-much-work",  # which values may decide
    "onnx-syntax",
    "graph-syntax",  # of files that are not text
    "dangling-edge",
    "edge-mismatch",
    "no-provider",  # of the nodes of models
    "runs-elsewhere",
    "unknown-sizes",
    "not-mapped",
    "known-deviation",  # a note of a legal desc
    "unlikely-error",
    "unlimited-tolerance",
    "systematic-error",  # the reference has no errors
    "too-many-problems",
    "near-the-bound",
    "accuracy-drift",
    "flaky-case",
    "skipped-case",
    "unmatched-expectation",
    "expired-expectation",
    "file-too-large",
    "tensor-too-large",
    "implementation-error",
    "invalid-desc-accepted",
    "timeout",
    "unsupported-by-implementation",
}
# What the reduction family cannot emit yet: no operator of it has such a constraint, and runs have no other judge.
NOT_YET: set[str] = set()


def rules_of(text: str) -> set[str]:
    """Return every rule that running and validating a file reports."""
    file = read_document(yaml.parse(text.encode(), "example.yaml"))
    found = {problem.rule for problem in (*file.problems, *file.notes)}
    found |= {problem.rule for problems in file.broken.values() for problem in problems}
    for case in file.cases:
        if case.id in file.broken:
            continue
        if case.invalid is None:
            found |= {finding.rule for finding in validate(case.operator, case.desc, case.feature_level or "6_4")[1]}
        result = run_case(case, Run(Reference()))
        found |= {diagnostic.rule for diagnostic in result.diagnostics}
    return found


def test_the_rules_of_the_contract_are_all_there() -> None:
    assert set(FIXED) <= set(RULES)


@pytest.mark.parametrize("rule", RULES)
def test_a_page_says_what_is_wrong_and_why(rule: str) -> None:
    page = RULES[rule]
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", rule)
    assert page.group in {"file", "desc", "tensor", "feature level", "operator", "data", "run"}
    assert page.summary[0].islower() or page.summary.startswith(("TotalTensorSize", "Guaranteed"))
    assert len(page.why) > 40
    printed = CliRunner().invoke(main, ["explain", rule]).stdout
    for text in (page.why.split()[0], *page.wrong.splitlines(), *page.right.splitlines()):
        assert text in printed


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule not in NO_EXAMPLE])
def test_the_wrong_example_breaks_its_rule(rule: str) -> None:
    assert RULES[rule].wrong
    assert rule in rules_of(RULES[rule].wrong)


@pytest.mark.parametrize("rule", [rule for rule in RULES if RULES[rule].right])
def test_the_right_example_breaks_none(rule: str) -> None:
    assert rules_of(RULES[rule].right) == set()


@pytest.mark.parametrize("rule", sorted(NO_EXAMPLE))
def test_a_rule_without_an_example_has_a_reason_to_have_none(rule: str) -> None:
    assert rule in RULES
    assert RULES[rule].wrong == ""


def test_every_rule_is_emitted_somewhere() -> None:
    sources = {path: path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")}
    code = "\n".join(text for path, text in sources.items() if path.name != "catalog.py")
    silent = {rule for rule in RULES if f'"{rule}"' not in code}
    assert silent == NOT_YET
