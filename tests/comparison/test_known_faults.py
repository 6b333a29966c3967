"""Likely causes: named where a fault gives exactly what was found, and not otherwise."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from judged import like_reference
from shipped import cases_in
from valid_descs import valid

from dmlcheck import load_cases, run_cases
from dmlcheck.comparison import known_faults
from dmlcheck.comparison.compare import compare
from dmlcheck.comparison.known_faults import MOST, likely_cause
from dmlcheck.comparison.tolerances import Limit, limit_for
from dmlcheck.comparison.wrong_output import WrongOutput
from dmlcheck.descs.records import OperatorDesc, TensorDesc
from dmlcheck.reference.bounds import bounds
from dmlcheck.reference.limits.precision import Precision
from dmlcheck.specs.records import Tolerance

Array = np.ndarray[Any, Any]
CASES = Path(__file__).parent.parent.parent / "cases"
TYPES = {"FLOAT16": np.float16, "FLOAT32": np.float32, "UINT32": np.uint32}


def reduction(
    function: str, sizes: list[int], axes: list[int], data_type: str = "FLOAT32", **tensor: Any
) -> OperatorDesc:
    kept = [1 if axis in axes else size for axis, size in enumerate(sizes)]
    found = "UINT32" if function.startswith("ARG") else data_type
    return desc_of(
        "REDUCE",
        InputTensor={"DataType": data_type, "Sizes": sizes, **tensor},
        OutputTensor={"DataType": found, "Sizes": kept},
        Axes=axes,
        Function=function,
    )


def desc_of(operator: str, **fields: Any) -> OperatorDesc:
    return valid(operator, fields)


def cause(desc: OperatorDesc, given: Any, expected: Any, actual: Any, limit: Limit | None = None) -> str | None:
    """Return the likely cause for values of the input and the output, lists or arrays."""
    (source, _), (target, _) = ((part.tensor, part.label) for part in desc.tensors())
    values = np.array(given, dtype=TYPES[source.data_type]).reshape(source.sizes)
    wanted, found = (np.array(v, dtype=TYPES[target.data_type]).reshape(target.sizes) for v in (expected, actual))
    limit = limit_for(desc, None) if limit is None else limit
    return cause_of(desc, {"InputTensor": values}, (target, wanted), found, limit)


def cause_of(
    desc: OperatorDesc, inputs: dict[str, Array], wanted: tuple[TensorDesc, Array], found: Array, limit: Limit
) -> str | None:
    """Return the likely cause of what a comparison finds wrong."""
    bounds_of = partial(bounds, desc, inputs, precision=limit.precision)
    marks = compare({"OutputTensor": wanted}, {"OutputTensor": found}, limit, bounds_of)["OutputTensor"].refused
    wrong = None if marks is None else WrongOutput(desc, inputs, "OutputTensor", *wanted, found, limit, marks)
    return None if wrong is None else likely_cause(wrong)


# ---- what is named


def test_a_wrong_expectation_is_named_when_the_reference_finds_what_the_implementation_found() -> None:
    desc = reduction("SUM", [1, 3], [1])
    assert cause(desc, [1, 2, 1e-40], 4, 3) == (
        "likely cause: the reference engine agrees with the result: is the expected value of the case wrong?"
    )


def test_a_sum_of_ones_that_stops_at_2048_is_one_in_float16() -> None:
    desc = reduction("SUM", [1, 4096], [1], "FLOAT16")
    words = cause(desc, [1] * 4096, 4096, 2048)
    assert (
        words
        == "likely cause: the result is what adding up in FLOAT16 gives: is the accumulator FLOAT16 instead of FLOAT32?"
    )


def test_known_faults_are_not_tried_when_the_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_faults, "SECONDS", 0.0)
    words = cause(reduction("SUM", [1, 4096], [1], "FLOAT16"), [1] * 4096, 4096, 2048)
    assert "accumulator" not in (words or "")


def test_a_float16_accumulator_is_no_fault_where_it_is_asked_for() -> None:
    desc = reduction("SUM", [1, 4096], [1], "FLOAT16")
    limit = Limit(Tolerance(ulp=1.0), is_own=True, precision=Precision("FLOAT16"))
    assert cause(desc, [1] * 4096, 4096, 2048, limit) is None


def test_a_square_beyond_float32_is_named_where_the_root_is_not() -> None:
    desc = reduction("L2", [1, 2], [1])
    words = cause(desc, [3e20, 4e20], 5e20, np.inf)
    assert words is not None
    assert words == "likely cause: a square overflows FLOAT32 on the way"


def test_powers_that_overflow_on_the_way_are_named() -> None:
    desc = reduction("LOG_SUM_EXP", [2, 1], [1])
    words = cause(desc, [100, -200], [100, -200], [np.inf, -np.inf])
    assert words is not None
    assert "is the largest element taken out of the exponents?" in words


def test_both_are_named_where_two_faults_give_the_same() -> None:
    desc = reduction("ARGMAX", [1, 2, 2], [1, 2], Strides=[4, 1, 2])
    words = cause(desc, [7, 0, 7, 7], 0, 3)
    assert words == "likely cause: the last of equal elements seems to be chosen; REDUCE asks for the first"
    words = cause(desc, [1, 0, 2, 2], 2, 3)
    assert words is not None
    assert "; or " in words or words.endswith("REDUCE asks for the first")


def test_denormal_inputs_are_told_from_denormal_results() -> None:
    desc = reduction("SUM", [1, 2], [1])
    tiny = 2.0**-127
    exact = Limit(Tolerance(exact=True), is_own=True)  # the bound of a sum in FLOAT32 lets denormals be flushed
    assert cause(desc, [tiny, tiny], 2.0**-126, 0, exact) == "likely cause: denormal inputs seem to be flushed to 0"
    normal = 2.0**-126
    assert cause(desc, [1.5 * normal, -normal], normal / 2, 0, exact) == (
        "likely cause: denormal results seem to be flushed to 0"
    )


@pytest.mark.parametrize(
    ("found", "order"),
    [(1, "in the order of Axes, [0, 2, 1];"), (2, "with the first one the fastest (column-major);")],
)
def test_axes_that_are_walked_along_in_another_order_are_named(found: int, order: str) -> None:
    desc = reduction("ARGMAX", [2, 2, 3], [0, 2, 1])
    words = cause(desc, [[[0, 0, 0], [9, 0, 0]], [[0, 0, 0], [0, 0, 0]]], 3, found)
    assert words is not None
    assert f"the axes seem to be walked along {order}" in words


def test_marks_of_axes_in_another_order_are_named() -> None:
    tensor = {"DataType": "FLOAT32", "Sizes": [2, 2]}
    desc = desc_of("ACTIVATION_HARDMAX1", InputTensor=tensor, OutputTensor=tensor, Axes=[1, 0])
    words = cause(desc, [[0, 5], [5, 5]], [[0, 1], [0, 0]], [[0, 0], [1, 0]])
    assert "walked along in the order of Axes, [1, 0], or column-major;" in str(words)


@pytest.mark.parametrize(
    ("function", "found", "number"), [("SUM", 10, "0"), ("MULTIPLY", 25, "1"), ("LOG_SUM_EXP", 5.6931472, "-inf")]
)
def test_the_number_is_named_that_is_taken_for_nan(function: str, found: float, number: str) -> None:
    words = cause(reduction(function, [1, 3], [1]), [np.nan, 5, 5], np.nan, found)
    assert words == f"likely cause: NaN in inputs seems to be ignored, as if it were {number}"


def addition(**strides: list[int]) -> OperatorDesc:
    tensor = {"DataType": "FLOAT32", "Sizes": [1, 1, 2, 3]}
    tensors = {
        name: {**tensor, **({"Strides": strides[name]} if name in strides else {})}
        for name in ("ATensor", "BTensor", "OutputTensor")
    }
    return desc_of("ELEMENT_WISE_ADD", **tensors)


def cause_of_sum(desc: OperatorDesc, a: Any, b: Any, expected: Any, actual: Any) -> str | None:
    arrays = [np.array(values, dtype=np.float32).reshape(1, 1, 2, 3) for values in (a, b, expected, actual)]
    output = desc.parts["OutputTensor"][0].tensor
    inputs = {"ATensor": arrays[0], "BTensor": arrays[1]}
    return cause_of(desc, inputs, (output, arrays[2]), arrays[3], limit_for(desc, None))


COUNTED = [[0, 1, 2], [3, 4, 5]]  # in a buffer with the strides 1 and 2: 0 3 1 4 2 5
NOTHING = [[0, 0, 0], [0, 0, 0]]


def test_the_one_input_is_named_whose_strides_are_ignored() -> None:
    columns = [6, 6, 1, 2]
    desc = addition(ATensor=columns, BTensor=columns)
    words = cause_of_sum(
        desc, [[10, 20, 30], [40, 50, 60]], COUNTED, [[10, 21, 32], [43, 54, 65]], [[10, 23, 31], [44, 52, 65]]
    )
    assert words is not None
    assert words.startswith("likely cause: the strides of BTensor seem to be ignored")


def test_an_output_written_packed_is_named() -> None:
    desc = addition(OutputTensor=[6, 6, 1, 2])
    # The buffer 0 1 2 3 4 5, read with the strides 1 and 2.
    words = cause_of_sum(desc, COUNTED, NOTHING, COUNTED, [[0, 2, 4], [1, 3, 5]])
    assert words is not None
    assert words.startswith("likely cause: the strides of OutputTensor seem to be ignored")


# ---- what is not


def test_one_element_that_is_right_without_the_fault_clears_it() -> None:
    desc = reduction("ARGMAX", [2, 3], [1])
    rows = [[5, 5, 1], [2, 7, 7]]
    assert cause(desc, rows, [0, 1], [1, 2]) is not None
    assert cause(desc, rows, [0, 1], [1, 1]) is None


@pytest.mark.slow
def test_a_float_that_is_only_near_a_prediction_is_not_explained_by_it() -> None:
    desc = reduction("SUM", [1, 4096], [1], "FLOAT16")
    assert cause(desc, [1] * 4096, 4096, 2046) is None


def test_denormals_are_not_blamed_for_what_they_do_not_change() -> None:
    desc = reduction("SUM", [1, 2], [1])
    assert cause(desc, [1, 1e-40], 1, 3) is None


def test_nothing_is_named_for_what_is_right() -> None:
    assert cause(reduction("SUM", [1, 2], [1]), [1, 2], 3, 3) is None


def mistaken(mistake: str) -> Any:
    """Return the reference, with what it gives changed by no fault that is known."""

    def change(outputs: dict[str, Array]) -> dict[str, Array]:
        found = outputs["OutputTensor"]
        with np.errstate(all="ignore"):
            return {"OutputTensor": np.ascontiguousarray(MISTAKES[mistake](found).astype(found.dtype))}

    return like_reference(change)


MISTAKES: dict[str, Callable[[Array], Array]] = {
    "negated": lambda found: -found,
    "doubled": lambda found: found * found.dtype.type(2),
    "one-more": lambda found: found + found.dtype.type(1),
    "reversed": lambda found: found[::-1],
}


@pytest.mark.slow
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_that_is_no_known_fault_is_given_no_cause_but_by_chance(mistake: str) -> None:
    folders = ("reduce", "argmax")
    cases = [
        case for folder in folders for case in cases_in(folder) if case.outputs is not None and "large" not in case.file
    ]
    results = run_cases(cases, mistaken(mistake))
    helps = [found.help for result in results if result.outcome == "failed" for found in result.diagnostics]
    assert len(helps) > 100
    # An index that is one more, say, is that of the last of two equal elements in a few cases.
    wrong = [help for help in helps if help and not help.endswith("every element is +1 off")]
    assert len(wrong) <= len(helps) / 50


# ---- what it may cost


def test_tensors_beyond_the_limit_are_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at: list[WrongOutput] = []
    fits, beyond = (reduction("ARGMAX", [1, size], [1]) for size in (MOST - 1, MOST))
    row = np.zeros(MOST, np.float32)
    assert "last of equal" in str(cause(fits, row[1:], 0, MOST - 2))
    monkeypatch.setattr(known_faults, "KNOWN_FAULTS", (looked_at.append,))
    cause(fits, row[1:], 0, MOST - 2)
    assert cause(beyond, row, 0, MOST - 1) is None
    assert [wrong.desc for wrong in looked_at] == [fits]


def test_a_suspect_that_fails_leaves_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: Any) -> str | None:
        raise MemoryError

    monkeypatch.setattr(known_faults, "KNOWN_FAULTS", (broken, *known_faults.KNOWN_FAULTS))
    assert "last of equal" in str(cause(reduction("ARGMAX", [1, 2], [1]), [1, 1], 0, 1))


@pytest.mark.parametrize("error", [MemoryError, ValueError, KeyError])
def test_a_search_that_fails_costs_the_cause_and_not_the_verdict(
    error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> str | None:
        raise error

    monkeypatch.setattr(known_faults, "likely_cause", broken)
    result = next(
        result
        for result in run_cases(load_cases(CASES / "argmax" / "documented.yaml"), mistaken("one-more"))
        if result.outcome != "skipped"
    )
    assert (result.outcome, result.diagnostics[0].help) == ("failed", None)


@pytest.mark.slow
def test_a_run_that_passes_does_not_load_the_suspects() -> None:
    program = (
        "import sys, dmlcheck\n"
        f"results = dmlcheck.run_cases(dmlcheck.load_cases({str(CASES / 'argmax' / 'documented.yaml')!r}))\n"
        "assert {result.outcome for result in results} <= {'passed', 'skipped'}\n"
        "assert 'dmlcheck.running.one_case' in sys.modules\n"
        "assert 'dmlcheck.comparison.known_faults' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize(
    ("operator", "actual", "is_directml", "is_named"),
    [
        ("EXP", [1, 2.7185, 7.389056], True, True),
        ("EXP", [1, 2.7185, 7.389056], False, False),
        ("EXP", [1, 2.7192, 7.389056], True, False),
        ("EXP", [1, np.nan, 7.389056], True, False),
        ("SQRT", [0, 1.0001, 1.41421356], True, False),
    ],
)
def test_small_errors_of_a_function_are_the_devices_where_directml_is_judged(
    operator: str, actual: list[float], is_directml: bool, is_named: bool
) -> None:
    tensor = {"DataType": "FLOAT32", "Sizes": [3]}
    desc = desc_of(f"ELEMENT_WISE_{operator}", InputTensor=tensor, OutputTensor=tensor)
    function = getattr(np, operator.lower())
    text = cause(
        desc, [0, 1, 2], function([0, 1, 2]), actual, limit_for(desc, None, Precision(is_directml=is_directml))
    )
    assert ("the device's exp: all errors are small" in (text or "")) == is_named
