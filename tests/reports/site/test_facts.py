"""The facts of a record that a page says in words."""

from __future__ import annotations

from dmlcheck.reports.site.facts import leaves


def test_each_leaf_has_its_place() -> None:
    record = {"when": {"Function": ["MIN", "MAX"]}, "since": "4_1", "exact": True, "ulp": 1.5}
    assert list(leaves(record, "row.0")) == [
        ("row.0.when.Function", "MIN MAX"),
        ("row.0.since", "4_1"),
        ("row.0.exact", "true"),
        ("row.0.ulp", "1.5"),
    ]
