"""One desc at one feature level: the support tables as documented, the constraints, and the lowest level."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import pytest

from dmlcheck.descs.read import read_desc
from dmlcheck.diagnostics.record import Finding
from dmlcheck.diagnostics.wording import pointer
from dmlcheck.specs.load import _LOADED, load_spec, operator_names
from dmlcheck.specs.names import FEATURE_LEVELS, LEVEL_ORDER
from dmlcheck.specs.records import Constraint, SupportTable, TensorSupport
from dmlcheck.validation import check, minimum_level, validate
from dmlcheck.validation.support_tables import support_table

LEVELS = ["1_0", "2_0", "2_1", "3_0", "3_1", "4_0", "4_1", "5_0", "5_1", "5_2", "6_0", "6_1", "6_2", "6_3", "6_4"]
TYPES = [
    "UNKNOWN", "FLOAT16", "FLOAT32", "FLOAT64", "INT4", "INT8", "INT16", "INT32", "INT64", "UINT4", "UINT8", "UINT16",
    "UINT32", "UINT64",
]  # fmt: skip


def test_the_levels_are_ordered_as_directml_brought_them() -> None:
    assert list(FEATURE_LEVELS) == LEVELS
    assert [LEVEL_ORDER[level] for level in LEVELS] == list(range(15))
    # 4_1 is 0x4100 in DirectML.h.
    assert [level.value for level in FEATURE_LEVELS.values()] == [
        int(name[0]) * 0x1000 + int(name[2]) * 0x100 for name in LEVELS
    ]
    assert [level.directml for level in FEATURE_LEVELS.values()] == [
        "1.0.0", "1.1.0", "1.2.0", "1.4.0", "1.5.0", "1.6.0", "1.7.0", "1.8.0", "1.9.0", "1.10.0", "1.11.0", "1.12.0",
        "1.13.0", "1.15.0", "1.15.0",
    ]  # fmt: skip


# ---- the support tables, typed in from the documentation: level -> input ranks and types, output ranks and types


class Row(NamedTuple):
    """What a table says from one level on."""

    input_ranks: range
    input_types: frozenset[str]
    output_ranks: range
    output_types: frozenset[str]


def row(ranks: range, input_types: str, output_types: str | None = None) -> Row:
    inputs = frozenset(input_types.split())
    return Row(ranks, inputs, ranks, inputs if output_types is None else frozenset(output_types.split()))


ANY = range(1, 9)
FOUR = range(4, 5)
FLOATS = "FLOAT32 FLOAT16"
TO_32_BITS = "FLOAT32 FLOAT16 INT32 INT16 INT8 UINT32 UINT16 UINT8"
TO_64_BITS = "FLOAT32 FLOAT16 INT64 INT32 INT16 INT8 UINT64 UINT32 UINT16 UINT8"
WIDE = "FLOAT32 FLOAT16 INT64 INT32 UINT64 UINT32"
INDICES = "INT64 INT32 UINT64 UINT32"

ARG = {"4_1": row(ANY, TO_64_BITS, INDICES), "3_0": row(ANY, TO_32_BITS, INDICES)}
REDUCE_ARG = {**ARG, "2_1": row(FOUR, TO_32_BITS, "UINT32"), "1_0": row(FOUR, FLOATS, "UINT32")}
REDUCE_MEAN = {"3_0": row(ANY, FLOATS), "1_0": row(FOUR, FLOATS)}
REDUCE_NORM = {"5_0": row(ANY, WIDE), **REDUCE_MEAN}
REDUCE_EXTREME = {
    "5_0": row(ANY, TO_64_BITS),
    "3_0": row(ANY, TO_32_BITS),
    "2_1": row(FOUR, "FLOAT32 FLOAT16 INT32 UINT32"),
    "1_0": row(FOUR, FLOATS),
}
REDUCE_SUM = {
    "5_0": row(ANY, WIDE),
    "3_0": row(ANY, "FLOAT32 FLOAT16 INT32 UINT32"),
    "2_1": row(FOUR, "FLOAT32 FLOAT16 INT32 UINT32"),
    "1_0": row(FOUR, FLOATS),
}
TABLES: dict[tuple[str, str | None], dict[str, Row]] = {
    ("ARGMAX", None): ARG,
    ("ARGMIN", None): ARG,
    ("REDUCE", "ARGMAX"): REDUCE_ARG,
    ("REDUCE", "ARGMIN"): REDUCE_ARG,
    ("REDUCE", "AVERAGE"): REDUCE_MEAN,
    ("REDUCE", "L2"): REDUCE_MEAN,
    ("REDUCE", "LOG_SUM"): REDUCE_MEAN,
    ("REDUCE", "LOG_SUM_EXP"): REDUCE_MEAN,
    ("REDUCE", "L1"): REDUCE_NORM,
    ("REDUCE", "SUM_SQUARE"): REDUCE_NORM,
    ("REDUCE", "MIN"): REDUCE_EXTREME,
    ("REDUCE", "MAX"): REDUCE_EXTREME,
    ("REDUCE", "MULTIPLY"): REDUCE_SUM,
    ("REDUCE", "SUM"): REDUCE_SUM,
    ("ACTIVATION_HARDMAX", None): {
        "3_0": row(ANY, FLOATS),
        "2_0": row(range(4, 6), FLOATS),
        "1_0": row(FOUR, FLOATS),
    },
    ("ACTIVATION_HARDMAX1", None): {"5_1": row(ANY, FLOATS)},
}
INTRODUCED = {
    "ARGMAX": "3_0",
    "ARGMIN": "3_0",
    "REDUCE": "1_0",
    "ACTIVATION_HARDMAX": "1_0",
    "ACTIVATION_HARDMAX1": "5_1",
}
INDEPENDENT = {("ARGMAX", None), ("ARGMIN", None), ("REDUCE", "ARGMAX"), ("REDUCE", "ARGMIN")}


def row_for(table: Mapping[str, Row], level: str) -> Row | None:
    """Return the row of the greatest table level that is no greater than a level."""
    reached = [head for head in LEVELS[: LEVELS.index(level) + 1] if head in table]
    return table[reached[-1]] if reached else None


def tensor(data_type: str, *sizes: int) -> dict[str, Any]:
    return {"DataType": data_type, "Sizes": list(sizes)}


def ones(operator: str, function: str | None, rank: int, input_type: str, output_type: str) -> dict[str, Any]:
    """Return a desc of an operator over tensors of size 1, which breaks no constraint on sizes or axes."""
    desc: dict[str, Any] = {
        "InputTensor": tensor(input_type, *(1,) * rank),
        "OutputTensor": tensor(output_type, *(1,) * rank),
    }
    if operator != "ACTIVATION_HARDMAX":
        desc["Axes"] = [rank - 1]
    if operator in {"ARGMAX", "ARGMIN"}:
        desc["AxisDirection"] = "DECREASING"
    if function is not None:
        desc["Function"] = function
    return desc


def places(operator: str, desc: Any, level: str) -> set[tuple[str, str]]:
    return {(finding.rule, pointer(finding.path)) for finding in validate(operator, desc, level)[1]}


def expected_places(
    key: tuple[str, str | None], level: str, rank: int, input_type: str, output_type: str
) -> set[tuple[str, str]]:
    """Work out from the typed tables what must be found wrong."""
    found: set[tuple[str, str]] = set()
    if input_type != output_type and key not in INDEPENDENT:
        found.add(("data-type-mismatch", "desc.OutputTensor.DataType"))
    support = row_for(TABLES[key], level)
    if support is None:
        return {*found, ("operator-unavailable", "operator")}
    if rank not in support.input_ranks:
        found.add(("unsupported-dimension-count", "desc.InputTensor.Sizes"))
    if rank not in support.output_ranks:
        found.add(("unsupported-dimension-count", "desc.OutputTensor.Sizes"))
    if input_type not in support.input_types:
        found.add(("unsupported-data-type", "desc.InputTensor.DataType"))
    if output_type not in support.output_types:
        found.add(("unsupported-data-type", "desc.OutputTensor.DataType"))
    return found


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("key", TABLES, ids=lambda key: "-".join(filter(None, key)))
def test_the_support_tables_hold_for_every_pair_of_data_types(key: tuple[str, str | None], level: str) -> None:
    for input_type in TYPES:
        for output_type in TYPES:
            desc = ones(*key, 4, input_type, output_type)
            assert places(key[0], desc, level) == expected_places(key, level, 4, input_type, output_type), desc


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("key", TABLES, ids=lambda key: "-".join(filter(None, key)))
def test_the_support_tables_hold_for_every_dimension_count(key: tuple[str, str | None], level: str) -> None:
    output_type = "UINT32" if key in INDEPENDENT else "FLOAT16"
    for rank in range(1, 12):
        desc = ones(*key, rank, "FLOAT16", output_type)
        assert places(key[0], desc, level) == expected_places(key, level, rank, "FLOAT16", output_type), desc


@pytest.mark.parametrize("key", TABLES, ids=lambda key: "-".join(filter(None, key)))
def test_the_lowest_level_follows_from_the_support_tables(key: tuple[str, str | None]) -> None:
    for rank in (1, 3, 4, 5, 6, 8, 9):
        for data_type in TYPES:
            output_type = "UINT32" if key in INDEPENDENT else data_type
            desc = ones(*key, rank, data_type, output_type)
            good = [level for level in LEVELS if not expected_places(key, level, rank, data_type, output_type)]
            assert minimum_level(read_desc(key[0], desc)) == (good[0] if good else None), desc


def test_the_tensors_of_a_desc_may_have_different_dimension_counts_only_where_both_are_wrong() -> None:
    desc = {**ones("REDUCE", "SUM", 4, "FLOAT32", "FLOAT32"), "InputTensor": tensor("FLOAT32", 1, 1, 1)}
    desc["Axes"] = [2]
    assert places("REDUCE", desc, "2_0") == {
        ("unsupported-dimension-count", "desc.InputTensor.Sizes"),
        ("rank-mismatch", "desc.OutputTensor.Sizes"),
    }


# ---- the lowest level

X4 = (1, 1, 2, 3)


def reduce(function: str, data_type: str, *sizes: int, output: str | None = None) -> dict[str, Any]:
    kept = (*sizes[:-1], 1)
    return {
        "Function": function, "InputTensor": tensor(data_type, *sizes),
        "OutputTensor": tensor(output or data_type, *kept), "Axes": [len(sizes) - 1],
    }  # fmt: skip


def arg(input_type: str, output_type: str, *sizes: int) -> dict[str, Any]:
    desc = {**reduce("ARGMAX", input_type, *sizes, output=output_type), "AxisDirection": "INCREASING"}
    del desc["Function"]
    return desc


def hardmax(data_type: str, *sizes: int, axes: list[int] | None = None) -> dict[str, Any]:
    desc: dict[str, Any] = {"InputTensor": tensor(data_type, *sizes), "OutputTensor": tensor(data_type, *sizes)}
    return desc if axes is None else {**desc, "Axes": axes}


LOWEST: list[tuple[str, dict[str, Any], str | None]] = [
    ("ARGMAX", arg("FLOAT32", "UINT32", 3, 3), "3_0"),
    ("ARGMAX", arg("UINT8", "INT64", *X4), "3_0"),
    ("ARGMAX", arg("INT64", "UINT32", 3, 3), "4_1"),
    ("ARGMAX", arg("UINT64", "INT32", 1, 1, 1, 1, 1, 1, 2, 3), "4_1"),
    ("ARGMAX", arg("FLOAT64", "UINT32", 3, 3), None),
    ("ARGMAX", arg("FLOAT32", "UINT16", 3, 3), None),
    ("ARGMIN", arg("FLOAT16", "UINT64", 5), "3_0"),
    ("ARGMIN", arg("INT64", "INT64", 5), "4_1"),
    ("ARGMIN", arg("INT4", "INT32", 5), None),
    ("REDUCE", reduce("ARGMAX", "FLOAT32", *X4, output="UINT32"), "1_0"),
    ("REDUCE", reduce("ARGMIN", "INT8", *X4, output="UINT32"), "2_1"),
    ("REDUCE", reduce("ARGMIN", "FLOAT32", *X4, output="INT32"), "3_0"),
    ("REDUCE", reduce("ARGMAX", "FLOAT32", 2, 3, output="UINT32"), "3_0"),
    ("REDUCE", reduce("ARGMAX", "UINT64", *X4, output="UINT32"), "4_1"),
    ("REDUCE", reduce("ARGMAX", "FLOAT32", *X4, output="FLOAT32"), None),
    ("REDUCE", reduce("AVERAGE", "FLOAT16", *X4), "1_0"),
    ("REDUCE", reduce("L2", "FLOAT32", 3), "3_0"),
    ("REDUCE", reduce("LOG_SUM", "INT32", *X4), None),
    ("REDUCE", reduce("LOG_SUM_EXP", "FLOAT32", 1, 1, 1, 2, 3), "3_0"),
    ("REDUCE", reduce("L1", "FLOAT32", *X4), "1_0"),
    ("REDUCE", reduce("L1", "INT32", *X4), "5_0"),
    ("REDUCE", reduce("SUM_SQUARE", "UINT64", 2, 3), "5_0"),
    ("REDUCE", reduce("SUM_SQUARE", "INT16", 2, 3), None),
    ("REDUCE", reduce("MIN", "INT32", *X4), "2_1"),
    ("REDUCE", reduce("MIN", "INT32", 2, 3), "3_0"),
    ("REDUCE", reduce("MAX", "UINT8", *X4), "3_0"),
    ("REDUCE", reduce("MAX", "INT64", *X4), "5_0"),
    ("REDUCE", reduce("MAX", "UINT4", *X4), None),
    ("REDUCE", reduce("SUM", "UINT32", *X4), "2_1"),
    ("REDUCE", reduce("SUM", "UINT32", 1, *X4), "3_0"),
    ("REDUCE", reduce("MULTIPLY", "INT64", *X4), "5_0"),
    ("REDUCE", reduce("SUM", "INT8", *X4), None),
    ("REDUCE", reduce("SUM", "FLOAT32", 1, 1, 1, 1, 1, *X4), None),
    ("REDUCE", reduce("SUM", "FLOAT32", *X4, output="FLOAT16"), None),
    ("ACTIVATION_HARDMAX", hardmax("FLOAT32", *X4), "1_0"),
    ("ACTIVATION_HARDMAX", hardmax("FLOAT16", 1, *X4), "2_0"),
    ("ACTIVATION_HARDMAX", hardmax("FLOAT32", 7), "3_0"),
    ("ACTIVATION_HARDMAX", hardmax("FLOAT32", 1, 1, 1, 1, *X4), "3_0"),
    ("ACTIVATION_HARDMAX", hardmax("FLOAT32", 2, 1, 2, 3), None),
    ("ACTIVATION_HARDMAX", hardmax("FLOAT64", *X4), None),
    ("ACTIVATION_HARDMAX1", hardmax("FLOAT32", 2, 2, 2, 3, axes=[0, 3]), "5_1"),
    ("ACTIVATION_HARDMAX1", hardmax("INT32", 2, 3, axes=[1]), None),
    ("ACTIVATION_HARDMAX1", hardmax("FLOAT32", 2, 3, axes=[2]), None),
]


@pytest.mark.parametrize(("operator", "desc", "lowest"), LOWEST)
def test_the_lowest_level_of_a_desc_is_the_first_that_accepts_it(
    operator: str, desc: dict[str, Any], lowest: str | None
) -> None:
    assert minimum_level(read_desc(operator, desc)) == lowest
    assert minimum_level(read_desc("DML_OPERATOR_" + operator, desc)) == lowest


@pytest.mark.parametrize(("operator", "desc", "lowest"), LOWEST)
def test_a_desc_is_accepted_from_its_lowest_level_on_and_refused_below(
    operator: str, desc: dict[str, Any], lowest: str | None
) -> None:
    good = [level for level in LEVELS if not validate(operator, desc, level)[1]]
    assert good == ([] if lowest is None else LEVELS[LEVELS.index(lowest) :])


@pytest.mark.parametrize(("operator", "desc", "lowest"), LOWEST)
def test_a_desc_that_was_read_once_is_checked_at_every_level(
    operator: str, desc: dict[str, Any], lowest: str | None
) -> None:
    reading = read_desc(operator, desc)
    good = [level for level in LEVELS if not check(reading, level)]
    assert good == ([] if lowest is None else LEVELS[LEVELS.index(lowest) :])
    assert all(check(reading, level) == validate(operator, desc, level)[1] for level in LEVELS)


@pytest.mark.parametrize(
    ("operator", "desc"),
    [
        ("ARGMAXX", arg("FLOAT32", "UINT32", 3)),
        ("ARGMAX", None),
        ("ARGMAX", {}),
        ("ARGMAX", {**arg("FLOAT32", "UINT32", 3), "AxisCount": 2}),
        ("ARGMAX", {**arg("FLOAT32", "UINT32", 3), "AxisDirection": "UP"}),
        ("ARGMAX", {**arg("FLOAT32", "UINT32", 3), "Extra": 1}),
        ("REDUCE", {**reduce("SUM", "FLOAT32", 2, 3), "Axes": [1, 1]}),
    ],
)
def test_a_desc_that_is_wrong_in_itself_has_no_lowest_level(operator: str, desc: Any) -> None:
    assert minimum_level(read_desc(operator, desc)) is None


def test_a_desc_of_a_wrong_operator_is_not_read_at_any_level() -> None:
    desc, findings = validate("ARGMAXX", {}, "6_4")
    assert desc is None
    assert [finding.rule for finding in findings] == ["unknown-operator"]


# ---- what would make it right


def finding_at(operator: str, desc: Any, level: str, path: str) -> Finding:
    (finding,) = [found for found in validate(operator, desc, level)[1] if pointer(found.path) == path]
    return finding


FROM = {
    "2_0": "accepted from DML_FEATURE_LEVEL_2_0 (DirectML 1.1.0)",
    "3_0": "accepted from DML_FEATURE_LEVEL_3_0 (DirectML 1.4.0)",
    "4_1": "accepted from DML_FEATURE_LEVEL_4_1 (DirectML 1.7.0)",
    "5_0": "accepted from DML_FEATURE_LEVEL_5_0 (DirectML 1.8.0)",
}
READS_TO_32 = "3_0 reads FLOAT32 FLOAT16 INT32 INT16 INT8 UINT32 UINT16 UINT8"
READS_TO_64 = "4_1 reads FLOAT32 FLOAT16 INT64 INT32 INT16 INT8 UINT64 UINT32 UINT16 UINT8"


@pytest.mark.parametrize(
    ("operator", "desc", "level", "help", "note"),
    [
        ("ARGMAX", arg("INT64", "UINT32", 3), "3_0", f"{FROM['4_1']}; below it, cast to INT32", READS_TO_32),
        ("ARGMAX", arg("UINT64", "UINT32", 3), "4_0", f"{FROM['4_1']}; below it, cast to UINT32", READS_TO_32),
        (
            "ARGMIN",
            arg("FLOAT64", "INT32", 3),
            "6_4",
            "no feature level accepts FLOAT64 here; cast to FLOAT32",
            READS_TO_64,
        ),
        ("ARGMIN", arg("INT4", "INT32", 3), "6_4", "no feature level accepts INT4 here; cast to INT8", READS_TO_64),
        ("REDUCE", reduce("MIN", "INT16", *X4), "2_0", FROM["3_0"], "1_0 reads FLOAT32 FLOAT16"),
        ("REDUCE", reduce("L1", "INT64", *X4), "4_1", FROM["5_0"], "3_0 reads FLOAT32 FLOAT16"),
        (
            "REDUCE",
            reduce("MIN", "INT8", *X4),
            "2_1",
            f"{FROM['3_0']}; below it, cast to INT32",
            "2_1 reads FLOAT32 FLOAT16 INT32 UINT32",
        ),
        ("REDUCE", reduce("MIN", "UINT64", *X4), "3_1", f"{FROM['5_0']}; below it, cast to UINT32", READS_TO_32),
    ],
)
def test_an_inputs_data_type_is_told_from_which_level_it_is_read_and_what_to_cast_to_below(
    operator: str, desc: Any, level: str, help: str, note: str
) -> None:
    finding = finding_at(operator, desc, level, "desc.InputTensor.DataType")
    found, prose = desc["InputTensor"]["DataType"], f"DML_FEATURE_LEVEL_{level}"
    assert finding.rule == "unsupported-data-type"
    assert finding.message == f"InputTensor is {found}, which DML_OPERATOR_{operator} does not read at {prose}"
    assert (finding.help, finding.note) == (help, note)


@pytest.mark.parametrize(
    ("operator", "desc", "level", "help", "note"),
    [
        (
            "ARGMAX",
            arg("FLOAT32", "UINT16", 3),
            "6_4",
            "no feature level accepts UINT16 here; use UINT32",
            "4_1 writes INT64 INT32 UINT64 UINT32",
        ),
        (
            "ARGMAX",
            arg("FLOAT32", "FLOAT32", 3),
            "6_4",
            "no feature level accepts FLOAT32 here",
            "4_1 writes INT64 INT32 UINT64 UINT32",
        ),
        (
            "REDUCE",
            reduce("ARGMAX", "FLOAT32", *X4, output="UINT64"),
            "2_1",
            f"{FROM['3_0']}; below it, use UINT32",
            "2_1 writes UINT32",
        ),
        ("REDUCE", reduce("ARGMIN", "FLOAT32", *X4, output="INT32"), "2_0", FROM["3_0"], "1_0 writes UINT32"),
    ],
)
def test_an_outputs_data_type_is_told_from_which_level_it_is_written_and_what_to_use_below(
    operator: str, desc: Any, level: str, help: str, note: str
) -> None:
    finding = finding_at(operator, desc, level, "desc.OutputTensor.DataType")
    found, prose = desc["OutputTensor"]["DataType"], f"DML_FEATURE_LEVEL_{level}"
    assert finding.rule == "unsupported-data-type"
    assert finding.message == f"OutputTensor is {found}, which DML_OPERATOR_{operator} does not write at {prose}"
    assert (finding.help, finding.note) == (help, note)


ADD = "add leading dimensions of size 1 to rank 4"
DROP = "drop leading dimensions of size 1 to rank"


@pytest.mark.parametrize(
    ("operator", "desc", "level", "help", "note"),
    [
        ("REDUCE", reduce("SUM", "FLOAT32", 2, 3), "2_0", f"{FROM['3_0']}; below it, {ADD}", "1_0 takes 4 dimensions"),
        (
            "REDUCE",
            reduce("SUM", "FLOAT32", 1, *X4),
            "2_1",
            f"{FROM['3_0']}; below it, {DROP} 4",
            "2_1 takes 4 dimensions",
        ),
        ("REDUCE", reduce("SUM", "FLOAT32", 2, *X4), "2_1", FROM["3_0"], "2_1 takes 4 dimensions"),
        (
            "REDUCE",
            reduce("SUM", "FLOAT32", *(1,) * 9),
            "6_4",
            f"no feature level accepts that many; {DROP} 8",
            "5_0 takes 1 to 8 dimensions",
        ),
        (
            "ARGMAX",
            arg("INT8", "INT32", *(2,) * 9),
            "6_4",
            "no feature level accepts that many",
            "4_1 takes 1 to 8 dimensions",
        ),
        (
            "ACTIVATION_HARDMAX",
            hardmax("FLOAT32", 3),
            "2_0",
            f"{FROM['3_0']}; below it, {ADD}",
            "2_0 takes 4 or 5 dimensions",
        ),
        (
            "ACTIVATION_HARDMAX",
            hardmax("FLOAT32", 1, 1, *X4),
            "2_1",
            f"{FROM['3_0']}; below it, {DROP} 5",
            "2_0 takes 4 or 5 dimensions",
        ),
        (
            "ACTIVATION_HARDMAX",
            hardmax("FLOAT32", 1, *X4),
            "1_0",
            f"{FROM['2_0']}; below it, {DROP} 4",
            "1_0 takes 4 dimensions",
        ),
    ],
)
def test_a_dimension_count_is_told_from_which_level_it_is_taken_and_what_to_do_below(
    operator: str, desc: Any, level: str, help: str, note: str
) -> None:
    for name in ("InputTensor", "OutputTensor"):
        finding = finding_at(operator, desc, level, f"desc.{name}.Sizes")
        count = len(desc[name]["Sizes"])
        assert finding.rule == "unsupported-dimension-count"
        assert finding.message == (
            f"{name} has {count} dimension{'s' if count > 1 else ''}, which DML_OPERATOR_{operator} does not take at "
            f"DML_FEATURE_LEVEL_{level}"
        )
        assert (finding.help, finding.note) == (help, note)


@pytest.mark.parametrize(
    ("operator", "desc", "level", "came", "older"),
    [
        ("ARGMAX", arg("FLOAT32", "UINT32", 3), "2_1", "DML_FEATURE_LEVEL_3_0 (DirectML 1.4.0)", "REDUCE"),
        ("ARGMIN", arg("FLOAT32", "UINT32", 3), "1_0", "DML_FEATURE_LEVEL_3_0 (DirectML 1.4.0)", "REDUCE"),
        (
            "ACTIVATION_HARDMAX1",
            hardmax("FLOAT32", 3, axes=[0]),
            "5_0",
            "DML_FEATURE_LEVEL_5_1 (DirectML 1.9.0)",
            "ACTIVATION_HARDMAX",
        ),
    ],
)
def test_an_operator_that_came_later_is_told_when_and_what_it_supersedes(
    operator: str, desc: Any, level: str, came: str, older: str
) -> None:
    finding = finding_at(operator, desc, level, "operator")
    assert finding.rule == "operator-unavailable"
    assert finding.message == f"DML_OPERATOR_{operator} does not exist at DML_FEATURE_LEVEL_{level}"
    assert finding.help == (
        f"it came with {came}; DML_OPERATOR_{older}, which it supersedes, exists from DML_FEATURE_LEVEL_1_0"
    )


def test_an_unknown_data_type_is_no_type_of_any_table() -> None:
    finding = finding_at("REDUCE", reduce("SUM", "UNKNOWN", *X4), "6_4", "desc.InputTensor.DataType")
    assert finding.rule == "unsupported-data-type"
    assert finding.help == "no feature level accepts UNKNOWN here"


def test_a_tensor_without_dimensions_is_refused() -> None:
    desc = {**hardmax("FLOAT32"), "Axes": []}
    finding = finding_at("ACTIVATION_HARDMAX1", desc, "6_4", "desc.InputTensor.Sizes")
    assert finding.rule == "unsupported-dimension-count"
    assert finding.params["found"] == "0 dimensions"


# ---- constraints

IN, OUT = "desc.InputTensor", "desc.OutputTensor"
GOOD_ARG = arg("FLOAT32", "UINT32", 2, 3)
GOOD_SUM = reduce("SUM", "FLOAT32", 2, 3)
GOOD_HARDMAX = hardmax("FLOAT32", 1, 1, 2, 3)
GOOD_HARDMAX1 = hardmax("FLOAT32", 2, 3, axes=[1])
GOOD = [
    ("ARGMAX", GOOD_ARG), ("ARGMIN", GOOD_ARG), ("REDUCE", GOOD_SUM), ("ACTIVATION_HARDMAX", GOOD_HARDMAX),
    ("ACTIVATION_HARDMAX1", GOOD_HARDMAX1),
]  # fmt: skip


@pytest.mark.parametrize(("operator", "desc"), GOOD)
def test_a_good_desc_breaks_nothing(operator: str, desc: Any) -> None:
    assert validate(operator, desc, "6_4")[1] == []


def broken() -> Iterator[tuple[str, dict[str, Any], set[tuple[str, str, str]]]]:
    """Yield a desc for every way to break a constraint, with what must be found: constraint, rule, place."""
    for operator in ("ARGMAX", "ARGMIN"):
        yield operator, {**GOOD_ARG, "OutputTensor": tensor("UINT32", 2)}, {("C1", "rank-mismatch", f"{OUT}.Sizes")}
        yield (
            operator,
            {**GOOD_ARG, "OutputTensor": tensor("UINT32", 2, 1, 1)},
            {("C1", "rank-mismatch", f"{OUT}.Sizes")},
        )
        yield operator, {**GOOD_ARG, "Axes": [2]}, {("C2", "axis-out-of-range", "desc.Axes[0]")}
        yield (
            operator,
            {**GOOD_ARG, "Axes": [1, 2, 4294967295]},
            {("C2", "axis-out-of-range", "desc.Axes[1]"), ("C2", "axis-out-of-range", "desc.Axes[2]")},
        )
        yield (
            operator,
            {**GOOD_ARG, "OutputTensor": tensor("UINT32", 2, 3)},
            {("C3", "size-mismatch", f"{OUT}.Sizes[1]")},
        )
        yield (
            operator,
            {**GOOD_ARG, "OutputTensor": tensor("UINT32", 1, 1)},
            {("C3", "size-mismatch", f"{OUT}.Sizes[0]")},
        )
        yield operator, {**GOOD_ARG, "Axes": []}, {("C3", "size-mismatch", f"{OUT}.Sizes[1]")}
        yield operator, {**GOOD_ARG, "Axes": [1, 1]}, {("C4", "duplicate-axis", "desc.Axes[1]")}
    yield "REDUCE", {**GOOD_SUM, "OutputTensor": tensor("FLOAT32", 2)}, {("C1", "rank-mismatch", f"{OUT}.Sizes")}
    yield "REDUCE", {**GOOD_SUM, "Axes": [2]}, {("C2", "axis-out-of-range", "desc.Axes[0]")}
    yield "REDUCE", {**GOOD_SUM, "Axes": [0]}, {
        ("C3", "size-mismatch", f"{OUT}.Sizes[0]"), ("C3", "size-mismatch", f"{OUT}.Sizes[1]"),
    }  # fmt: skip
    yield (
        "REDUCE",
        {**GOOD_SUM, "OutputTensor": tensor("FLOAT16", 2, 1)},
        {("C4", "data-type-mismatch", f"{OUT}.DataType")},
    )
    yield "REDUCE", {**GOOD_SUM, "Axes": [1, 1, 1]}, {
        ("C5", "duplicate-axis", "desc.Axes[1]"), ("C5", "duplicate-axis", "desc.Axes[2]"),
    }  # fmt: skip
    for operator, good, last in (("ACTIVATION_HARDMAX", GOOD_HARDMAX, 3), ("ACTIVATION_HARDMAX1", GOOD_HARDMAX1, 1)):
        sizes = good["InputTensor"]["Sizes"]
        other = tensor("FLOAT16", *sizes)
        yield operator, {**good, "OutputTensor": other}, {("C1", "data-type-mismatch", f"{OUT}.DataType")}
        more = tensor("FLOAT32", 1, *sizes)
        yield operator, {**good, "OutputTensor": more}, {("C2", "rank-mismatch", f"{OUT}.Sizes")}
        narrow = tensor("FLOAT32", *sizes[:-1], 1)
        yield operator, {**good, "OutputTensor": narrow}, {("C3", "size-mismatch", f"{OUT}.Sizes[{last}]")}
    yield (
        "ACTIVATION_HARDMAX",
        hardmax("FLOAT32", 4, 1, 2, 3),
        {("C4", "size-mismatch", f"{IN}.Sizes[0]")},
    )
    yield "ACTIVATION_HARDMAX", hardmax("FLOAT32", 2, 2, 3), {("C4", "size-mismatch", f"{IN}.Sizes[0]")}
    yield "ACTIVATION_HARDMAX1", {**GOOD_HARDMAX1, "Axes": [0, 2]}, {("C4", "axis-out-of-range", "desc.Axes[1]")}
    yield "ACTIVATION_HARDMAX1", {**GOOD_HARDMAX1, "Axes": [0, 1, 0]}, {("C5", "duplicate-axis", "desc.Axes[2]")}


@pytest.mark.parametrize(("operator", "desc", "expected"), list(broken()))
def test_a_constraint_that_is_broken_is_named_with_its_row_and_place(
    operator: str, desc: Any, expected: set[tuple[str, str, str]]
) -> None:
    findings = validate(operator, desc, "6_4")[1]
    found = {(finding.constraint or "", finding.rule, pointer(finding.path)) for finding in findings}
    assert found == {(f"{operator}/{label}", rule, path) for label, rule, path in expected}
    texts = {row.id: row.text for row in load_spec("DML_OPERATOR_" + operator).constraints}
    assert all(finding.note == texts[str(finding.constraint).partition("/")[2]] for finding in findings)


def test_every_constraint_of_the_five_operators_is_broken_above() -> None:
    seen = {(operator, label) for operator, _, expected in broken() for label, _, _ in expected}
    operators = ["ARGMAX", "ARGMIN", "REDUCE", "ACTIVATION_HARDMAX", "ACTIVATION_HARDMAX1"]
    assert seen == {(name, row.id) for name in operators for row in load_spec("DML_OPERATOR_" + name).constraints}


def test_a_rank_mismatch_is_not_a_size_mismatch_as_well() -> None:
    desc = {**arg("FLOAT32", "UINT32", 3, 3), "OutputTensor": tensor("UINT32", 3), "Axes": [0]}
    assert places("ARGMAX", desc, "6_4") == {("rank-mismatch", f"{OUT}.Sizes")}
    desc = {**arg("FLOAT32", "UINT32", 3), "OutputTensor": tensor("UINT32", 1, 3), "Axes": [0]}
    assert places("ARGMAX", desc, "6_4") == {("rank-mismatch", f"{OUT}.Sizes")}


def test_hardmax_points_to_the_operator_without_its_limit() -> None:
    finding = finding_at("ACTIVATION_HARDMAX", hardmax("FLOAT32", 2, 2, 3), "6_4", f"{IN}.Sizes[0]")
    assert finding.help == "DML_OPERATOR_ACTIVATION_HARDMAX1 has no such limit, from DML_FEATURE_LEVEL_5_1"


def test_indices_need_not_have_the_inputs_data_type() -> None:
    for function in ("ARGMIN", "ARGMAX"):
        assert validate("REDUCE", reduce(function, "FLOAT32", *X4, output="UINT32"), "1_0")[1] == []


def test_no_axes_leave_every_size_as_it_is() -> None:
    desc = {**GOOD_SUM, "OutputTensor": tensor("FLOAT32", 2, 3), "Axes": []}
    assert validate("REDUCE", desc, "6_4")[1] == []


def test_problems_of_every_kind_are_reported_together() -> None:
    desc = {**arg("INT64", "FLOAT32", 2, 3), "Axes": [1, 1, 5], "AxisCount": 9, "Extra": 1}
    desc["OutputTensor"] = {"DataType": "FLOAT32", "Sizes": [2], "Strides": [0]}
    assert places("ARGMAX", desc, "3_0") == {
        ("unsupported-data-type", f"{IN}.DataType"), ("unsupported-data-type", f"{OUT}.DataType"),
        ("rank-mismatch", f"{OUT}.Sizes"), ("axis-out-of-range", "desc.Axes[2]"), ("duplicate-axis", "desc.Axes[1]"),
        ("count-mismatch", "desc.AxisCount"), ("unknown-field", "desc.Extra"), ("invalid-strides", f"{OUT}.Strides[0]"),
    }  # fmt: skip


def test_constraints_are_checked_below_the_operators_level_too() -> None:
    desc = {**GOOD_ARG, "Axes": [2]}
    assert places("ARGMAX", desc, "2_1") == {
        ("operator-unavailable", "operator"),
        ("axis-out-of-range", "desc.Axes[0]"),
    }


@pytest.mark.parametrize("name", ["Function", "InputTensor", "OutputTensor", "Axes"])
def test_a_missing_field_is_the_only_thing_said_of_it(name: str) -> None:
    desc = {**reduce("SUM", "FLOAT32", 2, 3), "OutputTensor": tensor("INT64", 2, 1)}
    del desc[name]
    found = places("REDUCE", desc, "4_1")
    assert ("missing-field", f"desc.{name}") in found
    assert all(rule == "missing-field" or not path.startswith(f"desc.{name}") for rule, path in found)
    # Without the function, neither the table nor the unless of C4 can be told.
    if name == "Function":
        assert found == {("missing-field", "desc.Function")}


# ---- when a row applies


def rows_of_argmax(monkeypatch: pytest.MonkeyPatch, *constraints: Constraint) -> None:
    spec = load_spec("DML_OPERATOR_ARGMAX")
    monkeypatch.setitem(_LOADED, spec.operator, spec._replace(constraints=constraints))


def levels_that_find(rule: str, desc: dict[str, Any]) -> list[str]:
    return [level for level in LEVELS if rule in {finding.rule for finding in validate("ARGMAX", desc, level)[1]}]


TWICE = {**GOOD_ARG, "Axes": [1, 1]}
DISTINCT = Constraint("X1", "No axis is named twice.", "distinct_axes", ["Axes"])


@pytest.mark.parametrize(
    ("since", "until", "expected"),
    [
        (None, None, LEVELS),
        ("4_0", None, LEVELS[5:]),
        (None, "4_0", LEVELS[:5]),
        ("2_1", "5_1", LEVELS[2:8]),
        ("6_4", None, ["6_4"]),
        ("1_0", None, LEVELS),
        (None, "1_0", []),
        ("5_0", "5_0", []),
    ],
)
def test_a_row_applies_since_a_level_and_until_below_another(
    monkeypatch: pytest.MonkeyPatch, since: str | None, until: str | None, expected: list[str]
) -> None:
    rows_of_argmax(monkeypatch, DISTINCT._replace(since=since, until=until))
    assert levels_that_find("duplicate-axis", TWICE) == expected


@pytest.mark.parametrize(
    ("when", "unless", "direction", "applies"),
    [
        (("INCREASING",), None, "INCREASING", True),
        (("INCREASING",), None, "DECREASING", False),
        (("INCREASING", "DECREASING"), None, "DECREASING", True),
        (None, ("INCREASING",), "INCREASING", False),
        (None, ("INCREASING",), "DECREASING", True),
        (("DECREASING",), ("INCREASING",), "DECREASING", True),
        (("INCREASING",), None, None, False),
        (None, ("INCREASING",), None, False),
    ],
)
def test_a_row_applies_when_a_field_has_a_value_and_not_unless_it_has(
    monkeypatch: pytest.MonkeyPatch,
    when: tuple[str, ...] | None,
    unless: tuple[str, ...] | None,
    direction: str | None,
    applies: bool,
) -> None:
    row_that_depends = DISTINCT._replace(
        when=None if when is None else {"AxisDirection": when},
        unless=None if unless is None else {"AxisDirection": unless},
    )
    rows_of_argmax(monkeypatch, row_that_depends)
    found = levels_that_find("duplicate-axis", {**TWICE, "AxisDirection": direction})
    assert found == (LEVELS if applies else [])


def test_a_row_is_silent_where_the_row_that_it_builds_on_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    within = Constraint("X0", "Every axis is a dimension.", "axes_within", {"Axes": "InputTensor"})
    rows_of_argmax(monkeypatch, within, DISTINCT._replace(given=("X0",)))
    assert levels_that_find("duplicate-axis", TWICE) == LEVELS
    assert levels_that_find("duplicate-axis", {**TWICE, "Axes": [2, 2]}) == []
    assert levels_that_find("axis-out-of-range", {**TWICE, "Axes": [2, 2]}) == LEVELS


def test_a_row_may_bring_its_own_help(monkeypatch: pytest.MonkeyPatch) -> None:
    within = Constraint("X0", "A claim.", "axes_within", {"Axes": "InputTensor"}, help="a remedy")
    rows_of_argmax(monkeypatch, within)
    finding = finding_at("ARGMAX", {**GOOD_ARG, "Axes": [2]}, "6_4", "desc.Axes[0]")
    assert (finding.help, finding.note, finding.constraint) == ("a remedy", "A claim.", "ARGMAX/X0")


def test_a_value_whose_table_starts_later_is_refused_below_it(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = load_spec("DML_OPERATOR_ARGMAX")
    support = {
        "InputTensor": TensorSupport((2,), ("FLOAT32",)),
        "OutputTensor": TensorSupport((2,), ("UINT32",)),
    }
    tables = (
        SupportTable({"AxisDirection": ("DECREASING",)}, {"6_0": support, "5_0": support}),
        SupportTable(None, {"3_0": support}),
    )
    monkeypatch.setitem(_LOADED, spec.operator, spec._replace(support=tables))
    late = {**GOOD_ARG, "AxisDirection": "DECREASING"}
    finding = finding_at("ARGMAX", late, "4_1", "desc.AxisDirection")
    assert finding.rule == "unsupported-value"
    assert finding.message == (
        "AxisDirection is DECREASING, which DML_OPERATOR_ARGMAX does not take at DML_FEATURE_LEVEL_4_1"
    )
    assert finding.help == "accepted from DML_FEATURE_LEVEL_5_0 (DirectML 1.8.0)"
    assert minimum_level(read_desc("ARGMAX", late)) == "5_0"
    assert minimum_level(read_desc("ARGMAX", GOOD_ARG)) == "3_0"


# ---- tables


def test_every_specs_tables_have_their_newest_level_first() -> None:
    for operator in operator_names():
        for table in load_spec(operator).support:
            heads = [LEVELS.index(level) for level in table.rows]
            assert heads == sorted(heads, reverse=True)


@pytest.mark.parametrize(
    ("level", "expected"),
    [("1_0", None), ("2_0", None), ("2_1", "2_1"), ("4_1", "2_1"), ("5_0", "5_0"), ("6_4", "5_0")],
)
def test_a_row_holds_up_to_the_next_one(level: str, expected: str | None) -> None:
    assert SupportTable(None, {"5_0": {}, "2_1": {}}).heading_at(level) == expected


def test_the_table_of_a_desc_is_the_one_that_its_fields_select() -> None:
    for (operator, function), typed in TABLES.items():
        desc, _ = validate(operator, ones(operator, function, 4, "FLOAT32", "FLOAT32"), "6_4")
        assert desc is not None
        table = support_table(desc)
        assert table is not None
        assert list(table.rows) == sorted(typed, key=LEVELS.index, reverse=True)
        assert table.when is None or function in table.when["Function"]
