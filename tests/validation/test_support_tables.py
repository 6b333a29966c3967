"""The support tables as documented, what they do not accept, and what would be accepted instead."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

import pytest
from five_operators import GOOD_ARG, LEVELS, X4, arg, hardmax, reduce, tensor
from shipped import every_case

from dmlcheck.descs.read import Reading, read_desc
from dmlcheck.diagnostics.record import Finding
from dmlcheck.diagnostics.wording import pointer
from dmlcheck.specs.load import load_spec, operator_names
from dmlcheck.specs.names import DATA_TYPES
from dmlcheck.specs.records import SupportTable, TensorSupport
from dmlcheck.validation import check, minimum_level, validate
from dmlcheck.validation.support_tables import heading_at, support_table

TYPES = [
    "UNKNOWN", "FLOAT16", "FLOAT32", "FLOAT64", "INT4", "INT8", "INT16", "INT32", "INT64", "UINT4", "UINT8", "UINT16",
    "UINT32", "UINT64",
]  # fmt: skip


# ---- the tables of five operators, typed in from the documentation: level -> ranks and types of inputs and outputs


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
INDEPENDENT = {("ARGMAX", None), ("ARGMIN", None), ("REDUCE", "ARGMAX"), ("REDUCE", "ARGMIN")}


def row_for(table: Mapping[str, Row], level: str) -> Row | None:
    """Return the row of the greatest table level that is no greater than a level."""
    reached = [head for head in LEVELS[: LEVELS.index(level) + 1] if head in table]
    return table[reached[-1]] if reached else None


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
    mismatch = ("data-type-mismatch", "desc.OutputTensor.DataType")
    is_mismatch = input_type != output_type and key not in INDEPENDENT
    support = row_for(TABLES[key], level)
    if support is None:
        return {("operator-unavailable", "operator"), *((mismatch,) if is_mismatch else ())}
    if rank not in support.input_ranks:
        found.add(("unsupported-dimension-count", "desc.InputTensor.Sizes"))
    if rank not in support.output_ranks:
        found.add(("unsupported-dimension-count", "desc.OutputTensor.Sizes"))
    if input_type not in support.input_types:
        found.add(("unsupported-data-type", "desc.InputTensor.DataType"))
    if output_type not in support.output_types:
        found.add(("unsupported-data-type", "desc.OutputTensor.DataType"))
    if is_mismatch and input_type in support.input_types and output_type in support.output_types:
        found.add(mismatch)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("key", TABLES, ids=lambda key: "-".join(filter(None, key)))
def test_the_support_tables_hold_for_every_pair_of_data_types(key: tuple[str, str | None], level: str) -> None:
    for input_type in TYPES:
        for output_type in TYPES:
            desc = ones(*key, 4, input_type, output_type)
            assert places(key[0], desc, level) == expected_places(key, level, 4, input_type, output_type), desc


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("key", TABLES, ids=lambda key: "-".join(filter(None, key)))
def test_the_support_tables_hold_for_every_dimension_count(key: tuple[str, str | None], level: str) -> None:
    output_type = "UINT32" if key in INDEPENDENT else "FLOAT16"
    for rank in range(1, 12):
        desc = ones(*key, rank, "FLOAT16", output_type)
        assert places(key[0], desc, level) == expected_places(key, level, rank, "FLOAT16", output_type), desc


@pytest.mark.slow
@pytest.mark.parametrize("key", TABLES, ids=lambda key: "-".join(filter(None, key)))
def test_the_lowest_level_follows_from_the_support_tables(key: tuple[str, str | None]) -> None:
    for rank in (1, 3, 4, 5, 6, 8, 9):
        for data_type in TYPES:
            output_type = "UINT32" if key in INDEPENDENT else data_type
            desc = ones(*key, rank, data_type, output_type)
            good = [level for level in LEVELS if not expected_places(key, level, rank, data_type, output_type)]
            assert minimum_level(read_desc(key[0], desc)) == (good[0] if good else None), desc


def test_a_number_of_dimensions_that_the_table_does_not_take_is_one_mistake() -> None:
    desc = {**ones("REDUCE", "SUM", 4, "FLOAT32", "FLOAT32"), "InputTensor": tensor("FLOAT32", 1, 1, 1)}
    desc["Axes"] = [2]
    assert places("REDUCE", desc, "2_0") == {("unsupported-dimension-count", "desc.InputTensor.Sizes")}
    assert places("REDUCE", desc, "3_0") == {("rank-mismatch", "desc.OutputTensor.Sizes")}


def only_finding(operator: str, desc: Any, level: str = "6_4") -> Finding:
    (finding,) = validate(operator, desc, level)[1]
    return finding


def gemm(**types: str) -> dict[str, Any]:
    """Return a GEMM of FLOAT32 tensors, but for those whose types are given."""
    tensors = ("ATensor", "BTensor", "CTensor", "OutputTensor")
    desc = {name: tensor(types.get(name, "FLOAT32"), 1, 1, 2, 2) for name in tensors}
    return {**desc, "TransA": "NONE", "TransB": "NONE", "Alpha": 1.0, "Beta": 0.0}


def test_a_type_that_no_level_takes_is_one_mistake_and_no_model_for_the_other_tensors() -> None:
    finding = only_finding("GEMM", gemm(ATensor="INT32"))
    assert (finding.rule, pointer(finding.path)) == ("unsupported-data-type", "desc.ATensor.DataType")
    assert finding.help == "no feature level accepts INT32 here; cast to FLOAT32"
    assert places("GEMM", gemm(ATensor="INT32", CTensor="FLOAT16"), "6_4") == {
        ("unsupported-data-type", "desc.ATensor.DataType"),
        ("data-type-mismatch", "desc.CTensor.DataType"),
    }
    assert places("GEMM", gemm(ATensor="INT32", BTensor="INT32"), "6_4") == {
        ("unsupported-data-type", "desc.ATensor.DataType"),
        ("unsupported-data-type", "desc.BTensor.DataType"),
    }


def test_the_tensor_that_is_unlike_the_others_is_the_one_that_is_wrong() -> None:
    for name in ("ATensor", "BTensor", "OutputTensor"):
        finding = only_finding("GEMM", gemm(**{name: "FLOAT16"}))
        assert (finding.rule, pointer(finding.path)) == ("data-type-mismatch", f"desc.{name}.DataType")
        assert finding.help == "use FLOAT32 for both"


@pytest.fixture(scope="module")
def shipped_descs() -> Mapping[str, Any]:
    """Return the first legal desc of each operator among the shipped cases."""
    found: dict[str, Any] = {}
    for case in every_case():
        if case.invalid is None:
            found.setdefault(case.operator, case.desc)
    return found


def with_other_types(operator: str, desc: Any) -> Iterator[tuple[Any, str, str, Finding]]:
    """Yield a desc with another type for one tensor, a tensor that something is wrong with, the level, and what."""
    for name, given in desc.items():
        if isinstance(given, dict) and "DataType" in given:
            for data_type in TYPES:
                changed = {**desc, name: {**given, "DataType": data_type}}
                for level in ("2_0", "3_0", "5_0", "6_4"):
                    for found in validate(operator, changed, level)[1]:
                        yield changed, str(found.path[1] if len(found.path) > 1 else name), level, found


def accepted(operator: str, desc: Any, name: str, level: str) -> Collection[str]:
    """Return the types that a desc's table lists for a tensor at a level, or all types where no table does."""
    read = read_desc(operator, desc).desc
    assert read is not None
    table = support_table(read)
    heading = None if table is None else heading_at(table, level)
    if table is None or heading is None or name not in table.rows[heading]:
        return DATA_TYPES
    return table.rows[heading][name].types or DATA_TYPES


def test_a_field_that_names_a_type_is_not_measured_by_a_tensor_of_the_wrong_one() -> None:
    x = tensor("FLOAT32", 1, 1, 2, 2)
    desc = {"InputTensor": x, "OutputTensor": {**x, "DataType": "FLOAT16"}, "MinMaxDataType": "FLOAT32"}
    (finding,) = validate("ELEMENT_WISE_CLIP1", {**desc, "Min": 0, "Max": 1}, "6_4")[1]
    assert pointer(finding.path) == "desc.OutputTensor.DataType"


@pytest.mark.slow
def test_a_suggested_type_is_one_that_the_level_takes_of_that_tensor(shipped_descs: Mapping[str, Any]) -> None:
    suggestions = 0
    for operator, desc in shipped_descs.items():
        for changed, name, level, found in with_other_types(operator, desc):
            types = re.findall(r"\b(?:use|cast to) (\w+(?: or \w+)*)", found.help or "")
            for suggested in (word for text in types for word in text.split(" or ") if word in DATA_TYPES):
                suggestions += 1
                assert suggested in accepted(operator, changed, name, level), (operator, level, found)
    assert suggestions > 1000


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
READS_TO_32 = "DML_FEATURE_LEVEL_3_0 reads FLOAT32 FLOAT16 INT32 INT16 INT8 UINT32 UINT16 UINT8"
READS_TO_64 = "DML_FEATURE_LEVEL_4_1 reads FLOAT32 FLOAT16 INT64 INT32 INT16 INT8 UINT64 UINT32 UINT16 UINT8"


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
        ("REDUCE", reduce("MIN", "INT16", *X4), "2_0", FROM["3_0"], "DML_FEATURE_LEVEL_1_0 reads FLOAT32 FLOAT16"),
        ("REDUCE", reduce("L1", "INT64", *X4), "4_1", FROM["5_0"], "DML_FEATURE_LEVEL_3_0 reads FLOAT32 FLOAT16"),
        (
            "REDUCE",
            reduce("MIN", "INT8", *X4),
            "2_1",
            f"{FROM['3_0']}; below it, cast to INT32",
            "DML_FEATURE_LEVEL_2_1 reads FLOAT32 FLOAT16 INT32 UINT32",
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
            "DML_FEATURE_LEVEL_4_1 writes INT64 INT32 UINT64 UINT32",
        ),
        (
            "ARGMAX",
            arg("FLOAT32", "FLOAT32", 3),
            "6_4",
            "no feature level accepts FLOAT32 here",
            "DML_FEATURE_LEVEL_4_1 writes INT64 INT32 UINT64 UINT32",
        ),
        (
            "REDUCE",
            reduce("ARGMAX", "FLOAT32", *X4, output="UINT64"),
            "2_1",
            f"{FROM['3_0']}; below it, use UINT32",
            "DML_FEATURE_LEVEL_2_1 writes UINT32",
        ),
        (
            "REDUCE",
            reduce("ARGMIN", "FLOAT32", *X4, output="INT32"),
            "2_0",
            FROM["3_0"],
            "DML_FEATURE_LEVEL_1_0 writes UINT32",
        ),
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
        (
            "REDUCE",
            reduce("SUM", "FLOAT32", 2, 3),
            "2_0",
            f"{FROM['3_0']}; below it, {ADD}, and write Axes: [3]",
            "DML_FEATURE_LEVEL_1_0 takes 4 dimensions",
        ),
        (
            "REDUCE",
            reduce("SUM", "FLOAT32", 1, *X4),
            "2_1",
            f"{FROM['3_0']}; below it, {DROP} 4, and write Axes: [3]",
            "DML_FEATURE_LEVEL_2_1 takes 4 dimensions",
        ),
        ("REDUCE", reduce("SUM", "FLOAT32", 2, *X4), "2_1", FROM["3_0"], "DML_FEATURE_LEVEL_2_1 takes 4 dimensions"),
        (
            "REDUCE",
            reduce("SUM", "FLOAT32", *(1,) * 9),
            "6_4",
            f"no feature level accepts 9 dimensions; {DROP} 8, and write Axes: [7]",
            "DML_FEATURE_LEVEL_5_0 takes 1 to 8 dimensions",
        ),
        (
            "ARGMAX",
            arg("INT8", "INT32", *(2,) * 9),
            "6_4",
            "no feature level accepts 9 dimensions",
            "DML_FEATURE_LEVEL_4_1 takes 1 to 8 dimensions",
        ),
        (
            "ACTIVATION_HARDMAX",
            hardmax("FLOAT32", 3),
            "2_0",
            f"{FROM['3_0']}; below it, {ADD}",
            "DML_FEATURE_LEVEL_2_0 takes 4 or 5 dimensions",
        ),
        (
            "ACTIVATION_HARDMAX",
            hardmax("FLOAT32", 1, 1, *X4),
            "2_1",
            f"{FROM['3_0']}; below it, {DROP} 5",
            "DML_FEATURE_LEVEL_2_0 takes 4 or 5 dimensions",
        ),
        (
            "ACTIVATION_HARDMAX",
            hardmax("FLOAT32", 1, *X4),
            "1_0",
            f"{FROM['2_0']}; below it, {DROP} 4",
            "DML_FEATURE_LEVEL_1_0 takes 4 dimensions",
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


def test_an_unknown_data_type_is_no_type_of_any_table() -> None:
    finding = finding_at("REDUCE", reduce("SUM", "UNKNOWN", *X4), "6_4", "desc.InputTensor.DataType")
    assert finding.rule == "unsupported-data-type"
    assert finding.help == "no feature level accepts UNKNOWN here"


def test_a_tensor_without_dimensions_is_refused() -> None:
    desc = {**hardmax("FLOAT32"), "Axes": []}
    finding = finding_at("ACTIVATION_HARDMAX1", desc, "6_4", "desc.InputTensor.Sizes")
    assert finding.rule == "unsupported-dimension-count"
    assert finding.params["found"] == "0 dimensions"


# ---- which table and which row


def test_a_value_whose_table_starts_later_is_refused_below_it() -> None:
    support = {
        "InputTensor": TensorSupport((2,), ("FLOAT32",)),
        "OutputTensor": TensorSupport((2,), ("UINT32",)),
    }
    tables = (
        SupportTable({"AxisDirection": ("DECREASING",)}, {"6_0": support, "5_0": support}),
        SupportTable(None, {"3_0": support}),
    )
    late, early = (_with_tables(tables, {**GOOD_ARG, "AxisDirection": name}) for name in ("DECREASING", "INCREASING"))
    (finding,) = check(late, "4_1")
    assert (finding.rule, pointer(finding.path)) == ("unsupported-value", "desc.AxisDirection")
    assert finding.message == (
        "AxisDirection is DECREASING, which DML_OPERATOR_ARGMAX does not take at DML_FEATURE_LEVEL_4_1"
    )
    assert finding.help == "accepted from DML_FEATURE_LEVEL_5_0 (DirectML 1.8.0)"
    assert minimum_level(late) == "5_0"
    assert minimum_level(early) == "3_0"


def _with_tables(tables: tuple[SupportTable, ...], raw: dict[str, Any]) -> Reading:
    """Return a desc of ARGMAX as it would be read if the operator had other support tables."""
    desc, findings = read_desc("ARGMAX", raw)
    assert desc is not None
    return Reading(desc._replace(spec=desc.spec._replace(support=tables)), findings)


def test_every_specs_tables_have_their_newest_level_first() -> None:
    for operator in operator_names():
        for table in load_spec(operator).support:
            heads = [LEVELS.index(level) for level in table.rows]
            assert heads == sorted(heads, reverse=True)


def test_the_table_of_a_desc_is_the_one_that_its_fields_select() -> None:
    for (operator, function), typed in TABLES.items():
        desc, _ = validate(operator, ones(operator, function, 4, "FLOAT32", "FLOAT32"), "6_4")
        assert desc is not None
        table = support_table(desc)
        assert table is not None
        assert list(table.rows) == sorted(typed, key=LEVELS.index, reverse=True)
        assert table.when is None or function in table.when["Function"]


@pytest.mark.parametrize(
    ("level", "expected"),
    [("1_0", None), ("2_0", None), ("2_1", "2_1"), ("4_1", "2_1"), ("5_0", "5_0"), ("6_4", "5_0")],
)
def test_a_row_of_a_support_table_holds_up_to_the_next_one(level: str, expected: str | None) -> None:
    assert heading_at(SupportTable(None, {"5_0": {}, "2_1": {}}), level) == expected
