"""The pages that list something across operators."""

from __future__ import annotations

from functools import cache

from dmlcheck.reports.site.lists import (
    corrections_values,
    level_values,
    levels_values,
    messages_values,
    rule_groups,
    rule_values,
    takers,
    type_values,
)
from dmlcheck.reports.site.mistakes import Mistake
from dmlcheck.specs.load import load_spec, operator_names
from dmlcheck.specs.names import LEVELS
from dmlcheck.specs.records import OperatorSpec


@cache
def specs() -> tuple[OperatorSpec, ...]:
    return tuple(load_spec(name) for name in operator_names())


def test_a_level_has_its_new_operators_and_those_that_accept_more() -> None:
    found = level_values(specs(), "4_1")
    assert (found["value"], found["directml"], found["before"], found["after"]) == ("0x4100", "1.7.0", "4_0", "5_0")
    assert "ROI_ALIGN_GRAD" in found["new"]
    changed = dict(found["changed"])
    assert any("INT64" in text for text in changed["ARGMAX"])
    assert not set(found["new"]) & changed.keys()


def test_the_first_level_has_none_before_it_and_the_last_none_after() -> None:
    first, last = (level_values(specs(), level) for level in (LEVELS[0], LEVELS[-1]))
    assert (first["before"], first["changed"], last["after"]) == (None, [], None)


def test_new_operators_of_all_levels_are_all_operators() -> None:
    assert sum(row["new"] for row in levels_values(specs())["levels"]) == len(specs())


def test_levels_name_the_windows_that_has_them() -> None:
    windows = {row["level"]: row["windows"] for row in levels_values(specs())["levels"]}
    assert windows["1_0"].name == "Windows 10 1903"
    assert windows["6_4"] is None
    assert level_values(specs(), "2_0")["windows"] == windows["2_0"]


def test_a_data_type_lists_who_takes_it_from_which_level_on() -> None:
    rows = {operator: (level, tensors) for operator, level, tensors in takers(specs(), "INT64")}
    assert rows["ARGMAX"] == ("3_0", ["InputTensor", "OutputTensor"])
    assert type_values(specs(), "INT4")["lede"].startswith("An element is a signed integer of 4 bits.")


def test_rules_are_in_groups_with_their_summaries() -> None:
    groups = rule_groups()
    assert ("size-mismatch", "a tensor has a size that does not fit the other tensors and the attributes") in groups[
        "operator"
    ]


def test_a_rule_lists_the_constraints_that_give_it() -> None:
    found = {"GEMM": {"C1": Mistake((), "data-type-mismatch", ""), "C10": Mistake((), "size-mismatch", "")}}
    found["GEMM"]["C3"] = Mistake((), "size-mismatch", "")
    values = rule_values("size-mismatch", found)
    assert values["constraints"] == [("GEMM", ["C3", "C10"])]
    assert values["output"].startswith("desc.yaml:4:47: error[size-mismatch]")
    assert values["lede"] == "A tensor has a size that does not fit the other tensors and the attributes."


def test_corrections_are_by_kind_and_deviations_by_operator() -> None:
    found = corrections_values(specs())
    listed = [(operator, row.id) for rows in found["told"].values() for operator, row in rows]
    assert sorted(listed) == sorted((spec.short, row.id) for spec in specs() for row in spec.errata)
    assert {row.kind for _, row in found["told"]["error"]} == {"error"}
    assert found["silences"]["ACTIVATION_CELU"] == ["E1", "E2"]
    shown = [(one["operator"], one["id"], one["row"]) for one in found["deviations"]]
    assert len(shown) == sum(len(spec.known_deviations) for spec in specs()) > 30
    convolution = [row for row in shown if row[0] == "CONVOLUTION"]
    assert [(label, row.until, row.device) for _, label, row in convolution] == [
        ("D1", None, None),
        ("D2", "1.8.2", None),
        ("D3", None, "Intel(R) Iris(R) Xe"),
        ("D4", None, None),
        ("D5", None, None),
        ("D6", "1.15.0", None),
        ("D7", None, None),
    ]


def test_messages_have_places_of_their_own_and_no_bars() -> None:
    rows = messages_values()["messages"]
    assert [row["id"] for row in rows[:2]] == ["M1", "M2"]
    assert not any(" | " in pattern for row in rows for pattern in row["patterns"])
