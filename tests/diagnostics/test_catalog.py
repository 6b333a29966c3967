"""The table of rules: those of the contract are there, in known groups, and each is reported somewhere."""

from __future__ import annotations

import re
from pathlib import Path

from dmlcheck.diagnostics.catalog import RULES

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


def test_the_rules_of_the_contract_are_all_there() -> None:
    assert set(FIXED) <= set(RULES)


def test_a_rule_has_a_plain_name_a_known_group_and_a_message() -> None:
    assert [name for name in RULES if not re.fullmatch(r"[a-z]+(-[a-z]+)*", name)] == []
    assert {rule.group for rule in RULES.values()} == {
        "file", "desc", "tensor", "feature level", "operator", "data", "run"
    }  # fmt: skip
    assert [name for name, rule in RULES.items() if "{" not in rule.message] == []


def test_every_rule_is_emitted_somewhere() -> None:
    sources = {path: path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")}
    code = "\n".join(text for path, text in sources.items() if path.name != "catalog.py")
    silent = {rule for rule in RULES if f'"{rule}"' not in code}
    assert silent == set()
