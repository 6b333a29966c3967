"""The pages of the rules: every wrong example breaks its rule, and the right one breaks none."""

from __future__ import annotations

from pathlib import Path

import pytest
from commandline import dmlcheck

from dmlcheck.diagnostics.catalog import RULES
from dmlcheck.diagnostics.pages import page
from dmlcheck.files import yaml
from dmlcheck.formats.registry import read_document
from dmlcheck.implementations.protocol import Reference
from dmlcheck.running.one_case import Run, run_case
from dmlcheck.validation import validate

FOLDER = Path(__file__).parent.parent.parent / "dmlcheck" / "diagnostics" / "pages"
# Rules that no file can break by itself: they need a full disk of values, another implementation or an earlier report.
NO_EXAMPLE = {
    "too-much-work",  # which values may decide
    "onnx-syntax",
    "webnn-syntax",
    "graph-syntax",  # of files that are not text
    "dangling-edge",
    "edge-mismatch",
    "no-provider",  # of the nodes of models
    "provider-refuses",
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
    "unforeseen-answer",
    "timeout",
    "unsupported-by-implementation",
}


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


def test_every_rule_has_a_page_and_every_page_a_rule() -> None:
    assert {path.stem for path in FOLDER.iterdir()} == set(RULES)


def test_a_page_is_markdown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "# a file is wrong\n\nIt has {braces}\nand `code`.\n"
    text += "\n```yaml wrong\na: 1\n\nb: 2\n```\n\n```text table\nx   y\n```\n"
    (tmp_path / "some-rule.md").write_text(text, encoding="utf-8")
    monkeypatch.setattr("dmlcheck.diagnostics.pages._FOLDER", str(tmp_path))
    assert page("some-rule") == ("a file is wrong", "It has {braces} and `code`.", "a: 1\n\nb: 2\n", "", "x   y")


@pytest.mark.parametrize("rule", RULES)
def test_a_page_says_what_is_wrong_and_why(rule: str) -> None:
    found = page(rule)
    assert found.summary[0].islower() or found.summary.startswith(("TotalTensorSize", "Guaranteed"))
    assert len(found.why) > 40
    printed = dmlcheck("explain", rule).stdout
    for text in (found.why.split()[0], *found.wrong.splitlines(), *found.right.splitlines()):
        assert text in printed


def test_every_rule_has_a_wrong_example_but_for_those_that_no_file_breaks() -> None:
    assert {rule for rule in RULES if not page(rule).wrong} == NO_EXAMPLE
    assert [rule for rule in RULES if rule not in NO_EXAMPLE and rule not in rules_of(page(rule).wrong)] == []


def test_the_right_examples_break_no_rule() -> None:
    assert {rule: found for rule in RULES if page(rule).right and (found := rules_of(page(rule).right))} == {}
