"""One case to its result: every way in which a case can end."""

from __future__ import annotations

import math
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from asked_library import E_INVALIDARG, AskedLibrary
from judged import answering, giving, like_reference
from valid_descs import convolution

from dmlcheck.cases.records import Case
from dmlcheck.formats.registry import read_file
from dmlcheck.implementations import Failure, Pair, Unsupported
from dmlcheck.implementations.protocol import Reference
from dmlcheck.reference.limits import work
from dmlcheck.running import one_case
from dmlcheck.running.one_case import Limited, Run, run_case, run_cases
from dmlcheck.running.results import FOR_IMPLEMENTATIONS, FOR_REFERENCE
from dmlcheck.running.settings import Settings

CASES = Path(__file__).parents[2] / "cases"
TENSOR = {"DataType": "FLOAT32", "Sizes": [2]}
ADD = {"ATensor": TENSOR, "BTensor": TENSOR, "OutputTensor": TENSOR}
INT64 = {name: {**TENSOR, "DataType": "INT64"} for name in ADD}
INPUTS = {"ATensor": [1, 2], "BTensor": [3, 4]}
RIGHT = {"OutputTensor": [4, 6]}


def case(**fields: Any) -> Case:
    known = {"operator": "ELEMENT_WISE_ADD", "desc": ADD, "inputs": INPUTS, "outputs": RIGHT, **fields}
    return Case("f.yaml::one", "one", "f.yaml", feature_level=known.pop("feature_level", None), **known)


def ending(given: Case, implementation: Any = None, **settings: Any) -> tuple[str, str | None, list[str]]:
    """Return how a case ends: its outcome, why, and the rules of what is wrong."""
    result = run_case(given, Run(implementation or Reference(), Settings(**settings)))
    assert result.level == given.level
    return result.outcome, result.reason, [diagnostic.rule for diagnostic in result.diagnostics]


# ---- plain descs


@pytest.mark.parametrize("implementation", [None, answering({}, "no FLOAT32")])
def test_a_plain_desc_is_judged_by_its_legality(implementation: Any) -> None:
    plain = {"inputs": None, "outputs": None}
    assert ending(case(**plain), implementation) == ("passed", "a valid desc", [])
    wrong = case(desc={**ADD, "BTensor": {"DataType": "FLOAT16", "Sizes": [2]}}, **plain)
    assert ending(wrong, implementation) == ("failed", "the desc is not valid", ["data-type-mismatch"])


def test_a_plain_desc_is_judged_at_its_level() -> None:
    plain = case(desc=INT64, inputs=None, outputs=None, feature_level="4_0")
    assert ending(plain)[::2] == ("failed", ["unsupported-data-type"] * 3)
    assert ending(plain._replace(feature_level="4_1"))[0] == "passed"
    assert ending(plain._replace(feature_level="4_1"), feature_level="4_0")[0] == "skipped"


# ---- nothing to run


@pytest.mark.parametrize(
    ("fields", "most", "reason"),
    [
        ({"feature_level": "4_1"}, "4_0", "asks for DML_FEATURE_LEVEL_4_1; this run is at DML_FEATURE_LEVEL_4_0"),
        ({"feature_level": "4_1"}, "4_1", None),
        ({"desc": INT64}, "3_0", "asks for DML_FEATURE_LEVEL_4_1; this"),
        ({}, "1_0", "asks for DML_FEATURE_LEVEL_3_0; this"),
        ({}, None, None),
        ({"invalid": ("size-mismatch",)}, "1_0", None),  # what is legal nowhere asks for no level
    ],
)
def test_a_case_that_needs_a_higher_level_is_skipped(
    fields: dict[str, Any], most: str | None, reason: str | None
) -> None:
    outcome, why, _ = ending(case(**fields), feature_level=most)
    assert (outcome == "skipped") == (reason is not None)
    assert reason is None or (why or "").startswith(reason)


def test_with_nothing_independent_to_compare_with_a_case_is_skipped() -> None:
    reason = "no expected outputs: nothing independent to compare with"
    assert ending(case(outputs=None)) == ("skipped", reason, [])


RANDOM: dict[str, Any] = {"ATensor": {"random": {"seed": 1}}, "BTensor": {"fill": 0}}


@pytest.mark.parametrize("outputs", [None, {}])
def test_random_values_without_outputs_are_for_implementations_and_not_read(outputs: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(one_case, "prepare", None)
    made = case(inputs=RANDOM, outputs=outputs)
    result = run_case(made, Run(Reference()))
    assert (result.outcome, result.reason == FOR_IMPLEMENTATIONS, result.diagnostics) == ("skipped", True, ())


def test_the_desc_of_a_case_for_implementations_is_checked() -> None:
    wrong = {**ADD, "BTensor": {"DataType": "FLOAT16", "Sizes": [2]}}
    expected = ("failed", "the desc is not valid", ["data-type-mismatch"])
    assert ending(case(desc=wrong, inputs=RANDOM, outputs=None)) == expected
    assert ending(case(desc=INT64, inputs=RANDOM, outputs=None), feature_level="3_0")[1].startswith("asks for")  # type: ignore[union-attr]


def test_another_implementation_is_judged_on_random_values() -> None:
    run = Run(answering({"OutputTensor": np.zeros(2, np.float32)}))
    result = run_case(
        case(inputs={"ATensor": {"random": {"seed": 1, "low": 1, "high": 2}}, "BTensor": [0, 0]}, outputs=None), run
    )
    assert (result.outcome, result.is_computed) == ("failed", True)
    assert run_case(case(inputs=RANDOM, outputs=RIGHT), Run(Reference())).is_computed


# ---- cases that are wrong


def test_a_desc_that_is_not_legal_fails() -> None:
    wrong = {**ADD, "BTensor": {"DataType": "FLOAT16", "Sizes": [2]}}
    assert ending(case(desc=wrong)) == ("failed", "the desc is not valid", ["data-type-mismatch"])


def test_values_that_cannot_be_used_are_an_error_also_where_nothing_would_run() -> None:
    wrong = case(inputs={"ATensor": [1], "BTensor": [3, 4]}, outputs=None)
    assert ending(wrong) == ("error", "its values cannot be used", ["element-count"])


# ---- negative cases


@pytest.mark.parametrize(
    ("desc", "invalid", "expected"),
    [
        ({"ATensor": TENSOR, "OutputTensor": TENSOR}, ["missing-field"], ("passed", None, [])),
        (ADD, ["missing-field"], ("failed", "not the listed diagnostics", ["diagnostics-mismatch"])),
        (
            {"OutputTensor": {**TENSOR, "Flags": "OWNED_BY_DML"}},
            ["missing-field"],
            ("failed", "not the listed diagnostics", ["diagnostics-mismatch", "invalid-flags"]),
        ),
    ],
)
def test_a_negative_case_passes_where_exactly_what_it_lists_is_wrong(
    desc: dict[str, Any], invalid: list[str], expected: tuple[str, str | None, list[str]]
) -> None:
    assert ending(case(desc=desc, inputs=None, outputs=None, invalid=tuple(invalid))) == expected


def test_a_case_that_lists_nothing_wrong_is_judged_by_its_outputs() -> None:
    assert ending(case(invalid=())) == ("passed", None, [])
    assert ending(case(invalid=(), outputs={"OutputTensor": [4, 7]})) == (
        "failed", "output mismatch", ["output-mismatch"],
    )  # fmt: skip
    assert ending(case(invalid=(), inputs=None))[::2] == ("error", ["missing-tensor"] * 2)
    assert ending(case(invalid=(), outputs=None)) == ("passed", None, [])


# ---- what an implementation gives


def test_a_wrong_result_fails_at_its_first_wrong_element() -> None:
    result = run_case(case(outputs={"OutputTensor": [4, 7]}), Run(Reference()))
    assert (result.outcome, result.reason) == ("failed", "output mismatch")
    assert [(found.rule, found.pointer) for found in result.diagnostics] == [
        ("output-mismatch", "outputs.OutputTensor[1]")
    ]
    assert result.outputs["OutputTensor"].mismatches == 1


def test_memory_that_ends_in_an_implementation_is_told_with_the_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    result = run_case(case(), Run(answering(MemoryError("of 9 GiB"))))
    assert (result.outcome, result.reason) == ("error", "out of memory")
    assert [diagnostic.rule for diagnostic in result.diagnostics] == ["tensor-too-large"]
    assert result.traceback.endswith("MemoryError: of 9 GiB")
    monkeypatch.setattr(one_case, "judge", Mock(side_effect=MemoryError))
    right = {"OutputTensor": np.array([4, 6], np.float32)}
    assert run_case(case(), Run(answering(right))).traceback == ""  # of the comparison, which is dmlcheck's own


def test_without_expected_outputs_the_reference_says_what_is_right() -> None:
    right = {"OutputTensor": np.array([4, 6], np.float32)}
    assert ending(case(outputs=None), answering(right)) == ("passed", None, [])
    wrong = run_case(case(outputs=None), Run(giving([4, 7])))
    assert (wrong.outcome, wrong.diagnostics[0].pointer) == ("failed", "desc.OutputTensor")


# ---- what the documentation leaves open

INT32 = {name: {**TENSOR, "DataType": "INT32"} for name in ADD}
DIVIDE: dict[str, Any] = {"operator": "ELEMENT_WISE_DIVIDE", "desc": INT32}
ONE_BY_0 = {**DIVIDE, "inputs": {"ATensor": [6, 1], "BTensor": [2, 0]}}
ALL_BY_0 = {**DIVIDE, "inputs": {"ATensor": [6, 1], "BTensor": [0, 0]}}


def open_counts(given: Case, implementation: Any = None) -> tuple[str, str | None, int]:
    """Return how a case ends, and how many elements of its output are left open."""
    result = run_case(given, Run(implementation or Reference()))
    return result.outcome, result.reason, result.outputs["OutputTensor"].undefined


def test_the_reference_passes_any_only_where_it_leaves_the_element_open() -> None:
    assert open_counts(case(**ONE_BY_0, outputs={"OutputTensor": [3, "any"]})) == ("passed", None, 1)
    wrong = run_case(case(**ONE_BY_0, outputs={"OutputTensor": ["any", "any"]}), Run(Reference()))
    assert wrong.outcome == "failed"
    assert [(found.rule, found.pointer) for found in wrong.diagnostics] == [
        ("unspecified-mismatch", "outputs.OutputTensor[0]")
    ]


def test_a_case_with_any_says_it_of_every_element_that_the_reference_leaves_open() -> None:
    wrong = run_case(case(**ALL_BY_0, outputs={"OutputTensor": ["any", 4]}), Run(Reference()))
    assert (wrong.outcome, [found.pointer for found in wrong.diagnostics]) == ("failed", ["outputs.OutputTensor[1]"])


def test_the_reference_is_not_judged_by_a_value_for_an_open_element_of_a_case_without_any() -> None:
    for value in (4, 7, -1):
        assert open_counts(case(**ONE_BY_0, outputs={"OutputTensor": [3, value]})) == ("passed", None, 1)
    assert open_counts(case(**ONE_BY_0, outputs={"OutputTensor": [2, 4]})) == ("failed", "output mismatch", 1)


@pytest.mark.parametrize("element", ["any", 4])
@pytest.mark.parametrize("answer", [4, 7])
def test_no_other_implementation_is_judged_by_an_open_element(element: Any, answer: float) -> None:
    given = case(**ONE_BY_0, outputs={"OutputTensor": [3, element]})
    assert open_counts(given, giving([3, answer])) == ("passed", None, 1)
    assert open_counts(given, giving([2, answer])) == ("failed", "output mismatch", 1)


def test_no_implementation_is_judged_by_any_where_the_reference_does_not_leave_it_open() -> None:
    given = case(outputs={"OutputTensor": ["any", 6]})
    assert open_counts(given, giving([7, 6])) == ("passed", None, 1)


# ---- several cases


def test_an_implementation_that_is_made_for_some_cases_is_closed_and_any_other_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    closed: list[str] = []
    monkeypatch.setattr(Reference, "close", lambda implementation: closed.append(implementation.name))
    assert [result.outcome for result in run_cases([case(), case()])] == ["passed", "passed"]
    assert closed == ["reference"]
    run_cases([case()], Reference())
    assert closed == ["reference"]


def test_cases_of_one_run_share_what_holds_for_their_desc() -> None:
    run = Run(Reference())
    assert [run_case(each, run).outcome for each in (case(), case(outputs={"OutputTensor": [4, 7]}), case())] == [
        "passed",
        "failed",
        "passed",
    ]


# ---- what is known of DirectML


DIRECTML = {"is_directml": True}


@pytest.mark.parametrize("answer", [{}, {"OutputTensor": np.zeros(1, np.float16)}], ids=["error", "failed"])
def test_what_directml_gets_wrong_is_told_where_it_is_directml_that_fails(answer: Any) -> None:
    tensor = {"DataType": "FLOAT16", "Sizes": [2]}
    desc = {"InputTensor": tensor, "OutputTensor": {**tensor, "Sizes": [1]}, "Axes": [0], "Function": "SUM"}
    given = case(operator="REDUCE", desc=desc, inputs={"InputTensor": [1, 2]}, outputs={"OutputTensor": [3]})
    found = [run_case(given, Run(answering(answer, **said))).known for said in (DIRECTML, {})]
    assert [[row.text[:8] for row in known] for known in found] == [["FLOAT16 "], []]
    right = {"OutputTensor": np.full(1, 3, np.float16)}
    assert run_case(given, Run(answering(right, **DIRECTML))).known == ()


@pytest.mark.parametrize(("given", "outcomes"), [(0, ["passed", "passed"]), (7, ["failed", "passed"])])
def test_directml_alone_is_judged_by_what_was_measured(given: int, outcomes: list[str]) -> None:
    desc = {
        "InputTensor": {"DataType": "FLOAT32", "Sizes": [2]},
        "ScaleTensor": {"DataType": "FLOAT32", "Sizes": [2]},
        "OutputTensor": {"DataType": "UINT8", "Sizes": [2]},
    }
    inputs = {"InputTensor": [math.nan, 6], "ScaleTensor": [1, 2]}
    answer = {"OutputTensor": np.array([given, 3], np.uint8)}
    for outputs in ({"OutputTensor": [0, 3]}, None):
        one = case(operator="ELEMENT_WISE_QUANTIZE_LINEAR", desc=desc, inputs=inputs, outputs=outputs)
        assert [run_case(one, Run(answering(answer, **said))).outcome for said in (DIRECTML, {})] == outcomes


QUANTIZED = {
    name: {"DataType": "UINT8" if name == "OutputTensor" else "FLOAT32", "Sizes": [1]}
    for name in ("InputTensor", "ScaleTensor", "OutputTensor")
}


@pytest.mark.parametrize(
    ("output", "said", "outcome", "rules"),
    [
        (0, {}, "passed", []),
        (1, {}, "skipped", []),
        ("any", {}, "passed", []),
        (0, {"source": "DirectML 1.15.4 on a device"}, "passed", []),
        (1, {"source": "DirectML 1.15.4 on a device"}, "failed", ["output-mismatch"]),
        ("any", {"source": "DirectML 1.15.4 on a device"}, "passed", []),
        (0, {"tags": ("documented",)}, "failed", ["unspecified-mismatch"]),
        ("any", {"tags": ("documented",)}, "passed", []),
        (0, {"tags": ("documented",), "source": "DirectML 1.15.4 on a device"}, "passed", []),
    ],
)
def test_the_reference_gives_what_was_measured(
    output: Any, said: dict[str, Any], outcome: str, rules: list[str]
) -> None:
    inputs = {"InputTensor": [math.nan], "ScaleTensor": [1]}
    outputs = {"OutputTensor": [output]}
    given = case(operator="ELEMENT_WISE_QUANTIZE_LINEAR", desc=QUANTIZED, inputs=inputs, outputs=outputs, **said)
    found = run_case(given, Run(Reference()))
    assert (found.outcome, [each.rule for each in found.diagnostics]) == (outcome, rules)


def test_a_measured_value_that_the_reference_leaves_undefined_is_told() -> None:
    tensor = {"DataType": "FLOAT32", "Sizes": [2]}
    given = case(
        operator="ACTIVATION_THRESHOLDED_RELU",
        desc={"InputTensor": tensor, "OutputTensor": tensor, "Alpha": 1},
        inputs={"InputTensor": [math.nan, 2]},
        outputs={"OutputTensor": [7, 2]},
        source="DirectML 1.15.4 on a device",
    )
    (found,) = run_case(given, Run(Reference())).diagnostics
    assert (
        found.message
        == "OutputTensor[0] is 7.0, which `source` says was measured, but the reference leaves it undefined"
    )


@pytest.mark.slow
def test_the_reference_gives_the_results_of_all_cases_that_were_measured() -> None:
    run = Run(like_reference(**DIRECTML))
    cases = [one for path in sorted(CASES.glob("*/measured.yaml")) for one in read_file(str(path)).cases]
    assert len(cases) > 300
    assert [one.id for one in cases if run_case(one, run).outcome != "passed"] == []


GROUPED = convolution([1, 2, 1, 1], [2, 1, 1, 1], [1, 2, 1, 1], GroupCount=2)
CONVOLVED = {"operator": "CONVOLUTION", "desc": GROUPED, "inputs": {"InputTensor": [1, 2], "FilterTensor": [10, 20]}}
GROUPS = (
    "Wrong results of 2-D convolutions with GroupCount > 1 for some combinations of parameters; "
    "a depth-wise one with 4 groups was seen."
)


def test_an_error_is_expected_as_a_wrong_result_is() -> None:
    given = case(**CONVOLVED, outputs={"OutputTensor": [10, 40]})
    assert ending(given, answering(Failure("E_FAIL")), directml_version="1.8.0")[:2] == ("xfailed", GROUPS)
    assert ending(given, answering({}, "no groups"), directml_version="1.8.0")[0] == "skipped"


@pytest.mark.slow
@pytest.mark.parametrize(("device", "outcome"), [("", "failed"), ("Intel(R) Iris(R) Xe Graphics", "xfailed")])
def test_a_failure_of_one_device_is_expected_where_the_device_says_that_it_is_that_one(
    device: str, outcome: str
) -> None:
    desc = {
        **GROUPED,
        "InputTensor": {"DataType": "FLOAT32", "Sizes": [4, 16, 32, 32]},
        "FilterTensor": {"DataType": "FLOAT32", "Sizes": [16, 16, 3, 3]},
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [4, 16, 32, 32]},
        **{name: [1, 1] for name in ("StartPadding", "EndPadding")},
        "GroupCount": 1,
    }
    inputs = {"InputTensor": {"fill": 0}, "FilterTensor": {"fill": 0}}
    given = case(operator="CONVOLUTION", desc=desc, inputs=inputs, outputs={"OutputTensor": {"fill": 0}})
    result = run_case(given, Run(giving(1, device=device), Settings(directml_version="1.13.0")))
    assert result.outcome == outcome
    assert bool(result.known) == (device == "")


# ---- outputs that a case leaves out

NO_OUTPUTS = "no expected outputs: nothing independent to compare with"


@pytest.mark.parametrize("outputs", [None, {}, {"OutputTensor": None}])
def test_outputs_without_values_are_none(outputs: Any) -> None:
    assert ending(case(outputs=outputs)) == ("skipped", NO_OUTPUTS, [])
    right = giving([4, 6])
    assert ending(case(outputs=outputs), right)[0] == "passed"
    wrong = giving([4, 7])
    assert ending(case(outputs=outputs), wrong)[0] == "failed"


@pytest.mark.parametrize("outputs", [{"OutputTensors": None}, {"OutputTensors": [None, None]}])
def test_neither_does_a_list_of_nothing_give_outputs(outputs: Any) -> None:
    half = {"DataType": "FLOAT32", "Sizes": [1]}
    split = {"InputTensor": TENSOR, "OutputTensors": [half, half], "Axis": 0}
    given = case(operator="SPLIT", desc=split, inputs={"InputTensor": [1, 2]}, outputs=outputs)
    assert ending(given) == ("skipped", NO_OUTPUTS, [])


def test_an_output_that_a_case_leaves_out_beside_another_is_not_compared_and_named() -> None:
    half = {"DataType": "FLOAT32", "Sizes": [1]}
    split = {"InputTensor": TENSOR, "OutputTensors": [half, half], "Axis": 0}
    given = case(operator="SPLIT", desc=split, inputs={"InputTensor": [1, 2]}, outputs={"OutputTensors": [[1], None]})
    result = run_case(given, Run(Reference()))
    assert (result.outcome, list(result.outputs), result.uncompared) == (
        "passed",
        ["OutputTensors[0]"],
        ("OutputTensors[1]",),
    )
    assert run_case(case(), Run(Reference())).uncompared == ()
    assert run_case(case(outputs=None), Run(giving([4, 6]))).uncompared == ()


# ---- masked arrays


@pytest.mark.parametrize("mask", [True, [False, True], False])
def test_a_masked_array_is_no_output(mask: Any) -> None:
    answer = np.ma.masked_array(np.float32([4, 6]), mask)
    result = run_case(case(), Run(answering({"OutputTensor": answer})))
    assert (result.outcome, [found.rule for found in result.diagnostics]) == ("error", ["implementation-error"])
    assert "returned a masked array for OutputTensor" in result.diagnostics[0].message


def test_a_masked_array_is_no_input() -> None:
    masked = np.ma.masked_array(np.float32([1, 2]), True)
    outcome, _, rules = ending(case(inputs={"ATensor": masked, "BTensor": [3, 4]}))
    assert (outcome, rules) == ("error", ["wrong-type"])


@pytest.mark.parametrize("tiles", [0, 1])  # in the second place the result is there, and its tolerance is not
def test_the_reference_has_a_time_limit_in_this_process(tiles: int, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, *[1.0] * tiles, *[3.0] * 9])
    timer = SimpleNamespace(monotonic=lambda: next(clock), perf_counter=time.perf_counter)
    monkeypatch.setattr(work, "time", timer)
    monkeypatch.setattr(one_case, "time", timer)
    late = run_case(case(outputs={"OutputTensor": [4, 7]}), Run(Reference(), timeout=2.0))
    assert (late.outcome, late.reason, [found.rule for found in late.diagnostics]) == (
        "error",
        "timed out",
        ["timeout"],
    )
    assert "2 s" in late.diagnostics[0].message


def test_a_result_in_time_passes_and_only_the_reference_keeps_the_limit() -> None:
    assert run_case(case(), Run(Reference(), timeout=60.0)).outcome == "passed"
    assert not isinstance(Run(answering(None), timeout=1.0).time_limit, Limited)


def test_there_is_no_limit_outside_of_a_block() -> None:
    with Limited(0.0):
        pass
    assert list(work.in_time(range(3))) == [0, 1, 2]


# ---- DirectML's library, which is asked and computes nothing


PLAIN: dict[str, Any] = {"inputs": None, "outputs": None}


LATER = {
    "operator": "ELEMENT_WISE_NEGATE",  # of DML_FEATURE_LEVEL_5_0
    "desc": {"InputTensor": TENSOR, "OutputTensor": TENSOR},
    "inputs": None,
    "outputs": None,
}


@pytest.mark.parametrize(
    ("fields", "hresult", "ended"),
    [
        (LATER, E_INVALIDARG, ("passed", "refused, as foreseen: E_INVALIDARG", [])),
        (
            {**LATER, "inputs": {"InputTensor": [1, 2]}},
            E_INVALIDARG,
            ("error", "the implementation failed", ["implementation-error"]),
        ),
    ],
)
def test_a_valid_desc_above_the_level_of_a_library_is_refused_as_foreseen(
    fields: dict[str, Any], hresult: int, ended: tuple[str, str, list[str]]
) -> None:
    assert ending(case(**fields), AskedLibrary(hresult, "1.4.0", "3_0"), feature_level="6_4") == ended


@pytest.mark.parametrize(
    ("version", "hresult", "ended"),
    [
        ("1.4.0", E_INVALIDARG, ("passed", "refused: E_INVALIDARG", [])),
        ("1.4.0", 0, ("failed", "accepted an invalid desc", ["invalid-desc-accepted"])),
        ("1.8.2", 0, ("passed", None, [])),  # valid at its level: it is not asked
    ],
)
def test_a_negative_case_is_foreseen_at_the_level_of_the_release_whatever_that_of_the_run(
    version: str, hresult: int, ended: tuple[str, str | None, list[str]]
) -> None:
    given = case(**{**LATER, "invalid": ["operator-unavailable"], "feature_level": "3_0"})
    assert ending(given, AskedLibrary(hresult, version), feature_level="4_1") == ended


def test_a_library_older_than_those_that_were_asked_refuses_negative_cases() -> None:
    tensor = {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 2]}
    wrong = {"ATensor": tensor, "BTensor": tensor, "OutputTensor": {**tensor, "DataType": "FLOAT16"}}
    given = case(**{**PLAIN, "desc": wrong, "invalid": ["data-type-mismatch"], "feature_level": "2_0"})
    assert ending(given, AskedLibrary(E_INVALIDARG, "1.1.0", "2_0")) == ("passed", "refused: E_INVALIDARG", [])


def test_a_negative_case_about_notation_is_no_question_for_a_library() -> None:
    library = AskedLibrary()
    given = case(desc={**ADD, "Axes": [1]}, inputs=None, outputs=None, invalid=["unknown-field"])
    assert ending(given, library) == ("passed", None, [])
    assert library.asked == []


def test_a_case_for_the_reference_alone_is_skipped_by_others_and_its_desc_is_checked() -> None:
    case = Case("it", "it", "it.yaml", "ELEMENT_WISE_ADD", None, ADD, INPUTS, RIGHT, tags=("reference-only",))
    assert run_case(case, Run(Reference())).outcome == "passed"
    found = run_case(case, Run(answering(AssertionError())))
    assert (found.outcome, found.reason) == ("skipped", FOR_REFERENCE)
    broken = case._replace(desc={**ADD, "BTensor": {**TENSOR, "Sizes": [3]}})
    assert run_case(broken, Run(answering(AssertionError()))).outcome == "failed"


# ---- two implementations


def both(given: Case, first: Any, second: Any, **settings: Any) -> tuple[str, str, dict[str, tuple[int, int]]]:
    """Return how a case ends with each of two implementations, and how many elements differ, and are beyond."""
    result = run_case(given, Run(Pair(first, second), Settings(**settings)))
    assert result.against is not None
    found = {name: (one.differing, one.beyond) for name, one in result.against.differences.items()}
    return result.outcome, result.against.result.outcome, found


def test_two_implementations_are_judged_and_compared() -> None:
    right, near, off = giving([4, 6]), giving([4, np.nextafter(np.float32(6), np.float32(7))]), giving([5, 6])
    assert both(case(), right, right) == ("passed", "passed", {"OutputTensor": (0, 0)})
    assert both(case(), right, near) == ("passed", "passed", {"OutputTensor": (1, 0)})
    assert both(case(), right, off) == ("passed", "failed", {"OutputTensor": (1, 1)})
    assert both(case(), off, near) == ("failed", "passed", {"OutputTensor": (2, 1)})
    assert both(case(), off, off) == ("failed", "failed", {"OutputTensor": (0, 0)})


def test_a_case_without_outputs_is_judged_in_both_by_the_reference() -> None:
    assert both(case(outputs=None), giving([4, 6]), giving([4, 7])) == ("passed", "failed", {"OutputTensor": (1, 1)})


def test_elements_that_are_left_open_are_not_compared() -> None:
    given = case(outputs={"OutputTensor": ["any", 6]})
    assert both(given, giving([1, 6]), giving([2, 6])) == ("passed", "passed", {"OutputTensor": (0, 0)})


def test_an_implementation_without_results_leaves_the_other_one_judged() -> None:
    gone = answering(Failure("the device is gone"))
    assert both(case(), gone, giving([4, 6])) == ("error", "passed", {})
    assert both(case(), giving([4, 6]), answering(Unsupported("no"))) == ("passed", "skipped", {})
    wrong_form = answering({"OutputTensor": np.zeros(3, np.float32)})
    assert both(case(), wrong_form, wrong_form) == ("failed", "failed", {})


def test_a_case_without_a_part_for_implementations_is_the_same_in_both() -> None:
    assert both(case(outputs=None, inputs=None), giving([4, 6]), giving([5, 6])) == ("passed", "passed", {})
    assert both(case(desc=INT64, feature_level="1_0"), giving([4, 6]), giving([5, 6])) == ("failed", "failed", {})


def test_what_is_known_of_a_version_or_kept_is_of_the_first_one(tmp_path: Path) -> None:
    run = Run(Pair(giving([5, 6]), giving([5, 6])), Settings(directml_version="1.8.0", keep=str(tmp_path)))
    assert run.against is not None
    assert (run.against.settings.directml_version, run.against.settings.keep) == (None, None)
    result = run_case(case(), run)
    assert result.kept
    assert result.against is not None
    assert not result.against.result.kept
