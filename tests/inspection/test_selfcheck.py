"""The self-check: it finds nothing in what is shipped, and every fault that is planted."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from dmlcheck.diagnostics.record import Diagnostic
from dmlcheck.files.yaml import parse
from dmlcheck.formats.registry import read_document
from dmlcheck.inspection import selfcheck
from dmlcheck.inspection.selfcheck import condition_problems, row_problems, unreached
from dmlcheck.specs.load import load_spec, operator_names
from dmlcheck.specs.records import Constraint, Deviation, Half, OperatorSpec, SupportTable, TensorSupport, Tolerance

SPEC = load_spec("DML_OPERATOR_REDUCE")
Change = Callable[[OperatorSpec], OperatorSpec]


def with_row(**fields: Any) -> Change:
    """Return what changes the first constraint of a spec."""
    return lambda spec: spec._replace(constraints=(spec.constraints[0]._replace(**fields), *spec.constraints[1:]))


def with_deviation(**fields: Any) -> Change:
    return lambda spec: spec._replace(known_deviations=(Deviation("wrong", "all", "a page", **fields),))


def with_tolerance(**fields: Any) -> Change:
    return lambda spec: spec._replace(tolerance=(Tolerance(**{"source": "a page", **fields}),))


def with_table(rows: dict[str, Any], when: Any = None) -> Change:
    return lambda spec: spec._replace(support=(SupportTable(when, rows),))


def found(problems: Iterable[str], words: str) -> bool:
    return any(words in problem for problem in problems)


def test_the_shipped_specs_have_nothing_wrong_in_themselves() -> None:
    assert list(selfcheck._spec_problems(SPEC)) == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (with_row(id="C2"), "two constraints are called C2"),
        (with_row(word="sames_sizes"), "C1 uses the word sames_sizes, which constraint_words.py does not have"),
        (with_row(present=("Biass",)), "C1 asks for the field Biass, which does not exist"),
        (with_row(given=("C2",)), "C1 is given C2, which does not stand before it"),
        (with_row(given=("C1",)), "C1 is given C1, which does not stand before it"),
        (with_row(when={"Functoin": ("SUM",)}), "C1 asks for the field Functoin, which does not exist"),
        (with_row(unless={"Function": ("SUMM",)}), "C1: SUMM is not a value of DML_REDUCE_FUNCTION"),
        (with_row(when={"InputTensor": ("FLOAT23",)}), "C1 has the type FLOAT23"),
        (
            with_row(when={"InputTensor.DataType": ("FLOAT32",)}),
            "C1 asks for the field InputTensor.DataType, which does not exist",
        ),
        (with_row(when={"Function": ()}), "C1 asks for no value of Function"),
        (with_row(word="value", args={"Axes": "i < AxesCount"}), "C1: AxesCount in an expression is not a field"),
        (with_deviation(when={"DataType": ("FLOAT8",)}), 'the known deviation "wrong" has the type FLOAT8'),
        (with_deviation(when={"InputTensor": ("INT24",)}), 'the known deviation "wrong" has the type INT24'),
        (with_deviation(absent=("Mask",)), 'the known deviation "wrong" names Mask, which is not a field'),
        (with_deviation(strided=("Output",)), 'the known deviation "wrong" names Output, which is not a field'),
        (with_deviation(where="Axis == 0"), 'the known deviation "wrong" names Axis, which is not a field'),
        (lambda spec: spec._replace(half=Half(("it",), "a page", ("Bias",))), "half names Bias, which is not a field"),
        (lambda spec: spec._replace(half=Half(("it",), "a page", (), "all")), "half is stored as all, which is not"),
        (lambda spec: spec._replace(half=Half(("it",), "a page", parts_beyond=8)), "half counts products, which `let`"),
        (with_deviation(until="1.x"), 'the known deviation "wrong": 1.x is no version'),
        (with_deviation(values="Input < 0"), 'the known deviation "wrong" names Input, which is not a field'),
        (with_deviation(gives="0"), 'the known deviation "wrong" says what DirectML gives, and not where'),
        (with_deviation(refusal="8000"), 'the known deviation "wrong": 8000 is no code of a refusal'),
        (with_tolerance(), "row 1 of the tolerance must either be exact or have limits"),
        (with_tolerance(exact=True, ulp=1.0), "row 1 of the tolerance must either be exact or have limits"),
        (with_tolerance(exact=True, source=""), "row 1 of the tolerance has no source"),
        (with_tolerance(exact=True, present=("Bias",)), "row 1 of the tolerance names Bias, which is not a field"),
        (with_table({"9_9": {}}), "a support table has the level 9_9, which does not exist"),
        (with_table({"1_0": {}, "2_0": {}}), "the rows of a support table do not stand newest first"),
        (with_table({"1_0": {"Axes": TensorSupport((), ())}}), "a support table names Axes, which is no tensor"),
        (
            with_table({"1_0": {"InputTensor": TensorSupport((), ("FLOAT8",))}}),
            "InputTensor at 1_0 has the type FLOAT8",
        ),
        (with_table({}, {"Function": ("SUMM",)}), "support table 1: SUMM is not a value of DML_REDUCE_FUNCTION"),
        (
            lambda spec: spec._replace(
                fields={**spec.fields, "AxisCount": spec.fields["AxisCount"]._replace(counts=("Axis",))}
            ),
            "AxisCount counts Axis, which does not exist",
        ),
    ],
)
def test_a_fault_in_a_spec_is_found(change: Change, words: str) -> None:
    assert found(selfcheck._spec_problems(change(SPEC)), words), list(selfcheck._spec_problems(change(SPEC)))


def test_what_is_wrong_with_a_bundled_file_is_told_with_its_place() -> None:
    file = read_document(parse(b"operator: REDUCE\ntags: 3\n", "reduce/a.yaml"))
    problems = list(selfcheck._file_problems([file]))
    assert found(problems, "reduce/a.yaml:2: wrong-type: ")
    assert Diagnostic.__name__ not in "".join(problems)


def test_a_folder_of_no_operator_is_found() -> None:
    assert list(selfcheck._problems([], {"reduze": []}))[-1] == "cases/reduze: no operator of this name"


def test_a_spec_that_cannot_be_read_is_told_and_nothing_else_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(operator: str) -> OperatorSpec:
        if operator == "DML_OPERATOR_GEMM":
            raise ValueError("DML_OPERATOR_GEMM, erratum E1: basis is None; write one of ...")
        return load_spec(operator)

    monkeypatch.setattr(selfcheck, "load_spec", load)
    assert selfcheck.check() == selfcheck.SelfCheck(
        ["DML_OPERATOR_GEMM, erratum E1: basis is None; write one of ..."],
        "specs that cannot be read; nothing else was checked: 1 problem",
    )


# ---- conditions of specs that no desc can meet are found, and none is in the shipped specs


REDUCE = load_spec("DML_OPERATOR_REDUCE")  # INT64 from 4_1 on, INT32 as the indices of ARGMAX from 3_0 on
JOIN = load_spec("DML_OPERATOR_JOIN")
CONVOLUTION = load_spec("DML_OPERATOR_CONVOLUTION")
AVERAGE_POOLING = load_spec("DML_OPERATOR_AVERAGE_POOLING")


def row(**fields: Any) -> Constraint:
    return REDUCE.constraints[0]._replace(id="C1", is_unconditional=False, **fields)


def test_the_shipped_rows_can_be_met() -> None:
    specs = map(load_spec, operator_names())
    assert [problem for spec in specs for one in spec.constraints for problem in row_problems(spec, one)] == []


@pytest.mark.parametrize(
    ("spec", "condition", "problem"),
    [
        (REDUCE, {"InputTensor": ("FLOAT64",)}, "C1: no support table gives InputTensor the type FLOAT64"),
        (REDUCE, {"DataType": ("FLOAT64", "FLOAT32")}, "C1: no support table gives DataType the type FLOAT64"),
        (REDUCE, {"Axes": ("FLOAT32",)}, "C1 compares Axes, which is neither one value nor a tensor"),
        (REDUCE, {"AxisCount": ("1",)}, "C1: AxisCount is never 1"),
        (REDUCE, {"AxisCount": (True,)}, "C1: AxisCount is never True"),
        (JOIN, {"InputTensors": ("FLOAT32",)}, "C1 compares InputTensors, of which there may be several"),
        (AVERAGE_POOLING, {"IncludePadding": ("true",)}, "C1: IncludePadding is never true"),
        (CONVOLUTION, {"FusedActivation": ("ACTIVATION_RELU",)}, "C1 compares FusedActivation, which is neither"),
    ],
)
def test_a_value_that_a_field_never_has_is_found(spec: Any, condition: Any, problem: str) -> None:
    (found,) = condition_problems(spec, "C1", condition)
    assert found.startswith(problem)


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"since": "4_0", "until": "4_0"}, "C1 is for no feature level from 1_0 on"),
        ({"until": "1_0"}, "C1 is for no feature level from 1_0 on"),
        (
            {"until": "3_0", "when": {"InputTensor": ("INT64",)}},
            "C1: no support table gives InputTensor the type INT64",
        ),
        ({"absent": ("Axes",), "present": ("Axes",)}, "C1 asks for Axes and that it is left out"),
        ({"absent": ("Function",), "when": {"Function": ("SUM",)}}, "C1 asks for Function and that it is left out"),
        ({"when": {"Function": ("SUM",)}, "unless": {"Function": ("SUM", "MAX")}}, "C1 is for no desc: unless is met"),
    ],
)
def test_a_row_that_is_for_no_desc_is_found(fields: Any, problem: str) -> None:
    found = list(row_problems(REDUCE, row(**fields)))
    assert len(found) == 1
    assert found[0].startswith(problem)


def test_a_row_behind_one_for_the_same_descs_is_never_reached() -> None:
    narrow, wide = {"Function": ("SUM",)}, {"Function": ("SUM", "MAX")}
    assert list(unreached("row 2", narrow, [wide])) == ["row 2 is never reached: an earlier one is for the same descs"]
    assert list(unreached("row 2", narrow, [None]))
    assert list(unreached("row 2", None, [None]))
    assert list(unreached("row 2", wide, [narrow])) == []
    assert list(unreached("row 1", narrow, [])) == []
