"""Support tables as matrices of types by level."""

from __future__ import annotations

from dmlcheck.reports.conditions import condition_text
from dmlcheck.reports.site.levels import matrices
from dmlcheck.specs.load import load_spec, operator_names
from dmlcheck.specs.names import LEVELS


def test_a_matrix_marks_the_level_that_adds_a_type() -> None:
    both, indices = matrices(load_spec("DML_OPERATOR_TOP_K1"))
    assert (both.tensors, indices.tensors) == (("InputTensor", "OutputValueTensor"), ("OutputIndexTensor",))
    assert both.dimensions == "4; 1 to 8 from 3_1"
    rows = dict(both.rows)
    assert rows["FLOAT32"] == ("", "", "new", *["on"] * 12)
    assert rows["UINT64"] == (*[""] * 7, "new", *["on"] * 7)


def test_a_table_for_some_values_says_for_which() -> None:
    conditions = {matrix.condition for matrix in matrices(load_spec("DML_OPERATOR_REDUCE"))}
    assert "Function is ARGMIN or ARGMAX" in conditions


def test_a_matrix_has_what_the_tables_say_at_every_level() -> None:
    for operator in operator_names():
        spec = load_spec(operator)
        shown = {
            (matrix.condition, name, data_type, level)
            for matrix in matrices(spec)
            for name in matrix.tensors
            for data_type, states in matrix.rows
            for level, state in zip(LEVELS, states, strict=True)
            if state
        }
        from_tables = {
            (condition_text(table.when) if table.when else "", name, data_type, level)
            for table in spec.support
            for level in LEVELS
            if (heading := table.heading_at(level)) is not None
            for name, support in table.rows[heading].items()
            for data_type in support.types
        }
        assert shown == from_tables, operator
