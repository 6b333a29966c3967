"""Negative cases sent to implementations: what is sent, and what becomes of the case."""

from __future__ import annotations

from functools import partial
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from judged import answering

from dmlcheck.cases.read import read_cases
from dmlcheck.cases.records import Case
from dmlcheck.descs.read import read_desc
from dmlcheck.files import yaml
from dmlcheck.implementations import Failure, Refused, TimedOut, Unsupported, Unusable
from dmlcheck.implementations.protocol import Reference
from dmlcheck.running.one_case import Run, run_case
from dmlcheck.running.refusals import can_be_asked, wrong_desc, zeros
from dmlcheck.running.settings import Settings
from dmlcheck.specs.load import load_spec

HEAD = """\
operator: ELEMENT_WISE_ADD
desc:
  ATensor: {DataType: FLOAT32, Sizes: [2, 3]}
  BTensor: {DataType: FLOAT32, Sizes: [2, 3]}
  OutputTensor: {DataType: FLOAT32, Sizes: [2, 3]}
cases:
"""


def negative(
    desc: str, invalid: str = "[size-mismatch]", level: str = "6_4", operator: str = "ELEMENT_WISE_ADD"
) -> Case:
    """Return a negative case whose desc stands on line 7 of its file."""
    text = HEAD.replace("ELEMENT_WISE_ADD", operator)
    case = f"- {{name: one, invalid: {invalid}, feature_level: '{level}', desc: {desc}}}\n"
    (made,) = read_cases(yaml.parse((text + case).encode(), "f.yaml")).cases
    return made


SMALL = negative("{BTensor: {DataType: FLOAT32, Sizes: [2, 4]}}")


willing = partial(answering, validates=True)


def ending(case: Case, implementation: Any, level: str | None = None) -> tuple[str, str | None, list[str], bool]:
    """Return how a case ends: its outcome, why, the rules of what is wrong, and whether it was computed."""
    result = run_case(case, Run(implementation, Settings(level)))
    return result.outcome, result.reason, [found.rule for found in result.diagnostics], result.is_computed


# ---- what becomes of the case


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (Refused("E_INVALIDARG"), ("passed", "refused: E_INVALIDARG", [], True)),
        (ValueError("BTensor is\nlonger"), ("passed", "refused: BTensor is longer", [], True)),
        (ValueError(), ("passed", "refused: ValueError", [], True)),
        (RuntimeError("E_INVALIDARG"), ("passed", "refused: E_INVALIDARG", [], True)),
        (OSError("HRESULT 0x80070057"), ("passed", "refused: HRESULT 0x80070057", [], True)),
        (RuntimeError("the call failed: -2147024809"), ("passed", "refused: the call failed: -2147024809", [], True)),
        ({}, ("failed", "accepted an invalid desc", ["invalid-desc-accepted"], True)),
        (None, ("failed", "accepted an invalid desc", ["invalid-desc-accepted"], True)),
        (Unusable("wrote no file"), ("failed", "accepted an invalid desc", ["invalid-desc-accepted"], True)),
        (RuntimeError("no"), ("error", "the implementation failed", ["implementation-error"], True)),
        (RuntimeError("0x180070057"), ("error", "the implementation failed", ["implementation-error"], True)),
        (KeyError("BTensor"), ("error", "the implementation failed", ["implementation-error"], True)),
        (MemoryError(), ("error", "the implementation failed", ["implementation-error"], True)),
        (Failure("died: E_INVALIDARG"), ("error", "the implementation failed", ["implementation-error"], True)),
        (TimedOut("3"), ("error", "timed out", ["timeout"], True)),
    ],
)
def test_only_a_refusal_passes(answer: Any, expected: tuple[str, str | None, list[str], bool]) -> None:
    assert ending(SMALL, willing(answer)) == expected


def test_what_is_not_supported_is_no_refusal_and_the_desc_is_checked_without_the_implementation() -> None:
    reason = "checked without the implementation; unsupported-by-implementation: no ADD"
    expected = ("passed", reason, [], False)
    assert ending(SMALL, willing(Unsupported("no ADD"))) == expected
    unable = willing({}, "no ADD")
    assert (ending(SMALL, unable), unable.asked) == (expected, [])


def test_an_unsupported_that_raises_is_the_cases_error() -> None:
    odd = willing({}, unsupported=Mock(side_effect=KeyError("Alpha")))
    assert ending(SMALL, odd)[::2] == ("error", ["implementation-error"])


def test_an_accepted_desc_is_told_with_what_is_wrong_with_it_and_where() -> None:
    (found,) = run_case(SMALL, Run(willing({}))).diagnostics
    assert found.message == (
        "fake accepts a desc that DML_FEATURE_LEVEL_6_4 does not allow: "
        "size-mismatch (ELEMENT_WISE_ADD/C3) at line 7: BTensor.Sizes[1] is 4; it must be 3"
    )
    assert (found.line, found.pointer, found.severity) == (7, "desc.BTensor.Sizes[1]", "error")


def test_of_many_mistakes_the_first_three_are_told() -> None:
    tensors = {"ATensor": [2, 3], "BTensor": [2, 4], "OutputTensor": [2, 3]}
    desc = ", ".join(f"{name}: {{DataType: FLOAT64, Sizes: {sizes}}}" for name, sizes in tensors.items())
    case = negative(f"{{{desc}}}")
    wrong = wrong_desc(case, "6_4")
    assert wrong is not None
    assert [found.rule for found in wrong.findings].count("unsupported-data-type") == 3
    case = case._replace(invalid=tuple({found.rule for found in wrong.findings}))
    (found,) = run_case(case, Run(willing({}))).diagnostics
    assert found.message.count(" at line 7: ") == 3
    assert found.message.endswith("; and 1 more")


@pytest.mark.parametrize("validates", [False, None, 0])
def test_who_does_not_say_that_it_refuses_descs_is_not_asked(validates: Any) -> None:
    silent = answering({}, validates=validates)
    assert (ending(SMALL, silent), silent.asked) == (("passed", None, [], False), [])
    assert ending(SMALL, Reference()) == ("passed", None, [], False)


def test_a_case_that_does_not_list_what_is_wrong_fails_before_anybody_is_asked() -> None:
    asked = willing(Refused("no"))
    wrong = SMALL._replace(invalid=("rank-mismatch",))
    assert ending(wrong, asked) == (
        "failed",
        "not the listed diagnostics",
        ["diagnostics-mismatch", "size-mismatch"],
        False,
    )
    assert asked.asked == []


# ---- what is sent


def test_a_desc_is_sent_as_it_is_with_zeros() -> None:
    asked = willing(Refused("no"))
    ending(SMALL, asked)
    ((desc, inputs),) = asked.asked
    assert desc.tensor("BTensor").sizes == (2, 4)  # type: ignore[union-attr]
    assert {name: (values.dtype, values.tolist()) for name, values in inputs.items()} == {
        "ATensor": (np.float32, [[0, 0, 0], [0, 0, 0]]),
        "BTensor": (np.float32, [[0, 0, 0, 0], [0, 0, 0, 0]]),
    }


def test_an_array_of_tensors_gets_a_list_of_zeros() -> None:
    tensor = {"DataType": "INT8", "Sizes": [2]}
    desc = {"InputTensors": [tensor, tensor], "OutputTensor": {**tensor, "Sizes": [5]}, "Axis": 0}
    case = Case("f::one", "one", "f", "JOIN", None, desc, invalid=("size-mismatch",))
    wrong = wrong_desc(case, "6_4")
    assert wrong is not None
    assert [values.tolist() for values in zeros(wrong.desc)["InputTensors"]] == [[0, 0], [0, 0]]


INT64 = "{ATensor: {DataType: INT64}, BTensor: {DataType: INT64}, OutputTensor: {DataType: INT64}}"


def test_a_desc_that_is_valid_at_the_level_of_the_run_is_not_sent() -> None:
    """ADD takes INT64 from 4_1 on."""
    case = negative(_whole(INT64), "[unsupported-data-type]", "4_0")
    assert wrong_desc(case, "4_1") is None
    asked = willing({})
    assert (ending(case, asked), asked.asked) == (("passed", None, [], False), [])
    assert ending(case, willing({}), "6_2")[0] == "passed"
    assert ending(case, willing({}), "4_0")[2] == ["invalid-desc-accepted"]
    assert (
        "DML_FEATURE_LEVEL_4_0 does not allow"
        in run_case(case, Run(willing({}), Settings("4_0"))).diagnostics[0].message
    )


def _whole(desc: str) -> str:
    return desc.replace("INT64}", "INT64, Sizes: [2, 3]}")


@pytest.mark.parametrize(
    ("desc", "invalid"),
    [
        ("{CTensor: {DataType: FLOAT32, Sizes: [2]}}", "unknown-field"),
        ("{BTensor: null}", "missing-field"),
        ("{BTensor: 3}", "field-type"),
        ("{BTensor: {DataType: FLOAT33, Sizes: [2, 3]}}", "unknown-enum-value"),
        ("{BTensor: {DataType: FLOAT32, Sizes: [2, 3], DimensionCount: 3}}", "count-mismatch"),
        ("{BTensor: {DataType: FLOAT32, Sizes: [2, 0]}}", "invalid-sizes"),  # there is no such array
        ("{BTensor: {DataType: FLOAT32, Sizes: [2, 3], Strides: [1]}}", "invalid-strides"),  # nor is this one strided
        ("{BTensor: {DataType: UNKNOWN, Sizes: [2, 3]}}", "unsupported-data-type"),
        ("{BTensor: {DataType: FLOAT32, Sizes: [8192, 8192]}}", "size-mismatch"),  # 256 MiB
    ],
)
def test_a_mistake_that_an_implementation_cannot_see_is_not_sent(desc: str, invalid: str) -> None:
    assert wrong_desc(negative(desc, f"[{invalid}]"), "6_4") is None


@pytest.mark.parametrize(
    ("desc", "rule"),
    [
        ("{OutputTensor: {DataType: FLOAT32, Sizes: [2, 3], Flags: OWNED_BY_DML}}", "invalid-flags"),
        ("{OutputTensor: {DataType: FLOAT32, Sizes: [2, 3], Strides: [1, 1]}}", "invalid-strides"),
        ("{BTensor: {DataType: FLOAT32, Sizes: [2, 3], TotalTensorSizeInBytes: 20}}", "tensor-too-small"),
        ("{BTensor: {DataType: FLOAT32, Sizes: [2, 3], GuaranteedBaseOffsetAlignment: 3}}", "invalid-alignment"),
        ("{BTensor: {DataType: FLOAT16, Sizes: [2, 3]}}", "data-type-mismatch"),
    ],
)
def test_a_mistake_of_a_tensor_is_sent(desc: str, rule: str) -> None:
    wrong = wrong_desc(negative(desc, f"[{rule}]"), "6_4")
    assert wrong is not None
    assert [found.rule for found in wrong.findings] == [rule]


def test_an_operator_that_came_later_is_sent_at_the_levels_before_it() -> None:
    tensor = {"DataType": "FLOAT32", "Sizes": [2]}
    case = Case("f::one", "one", "f", "ACTIVATION_GELU", "3_0", {"InputTensor": tensor, "OutputTensor": tensor})
    assert wrong_desc(case, "6_4") is None
    wrong = wrong_desc(case, "3_0")
    assert wrong is not None
    assert [found.rule for found in wrong.findings] == ["operator-unavailable"]


def test_strides_that_are_not_as_many_as_sizes_cannot_be_said_in_c() -> None:
    tensors = {name: {"DataType": "FLOAT32", "Sizes": [2]} for name in ("ATensor", "BTensor", "OutputTensor")}
    tensors["ATensor"]["Strides"] = [2, 1]
    wrong = Case("a", "a", "a.yaml", "ELEMENT_WISE_ADD", None, tensors, invalid=("invalid-strides",))
    assert wrong_desc(wrong, "6_4", is_asked=True) is None
    tensors["ATensor"]["Strides"] = [0]
    tensors["OutputTensor"]["Strides"] = [0]
    overlapping = wrong_desc(wrong, "6_4", is_asked=True)
    assert overlapping is not None
    assert [finding.rule for finding in overlapping.findings] == ["invalid-strides"]


def test_a_desc_that_is_for_no_implementation_is_not_sent_whatever_else_is_broken() -> None:
    tensors: dict[str, Any] = {
        "InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 8, 2, 3]},
        "OutputTensor": {"DataType": "INT32", "Sizes": [1, 2, 4, 6]},
    }
    for size, is_sent in ((2, True), (1 << 16, False)):
        case = Case(
            "a", "a", "a.yaml", "DEPTH_TO_SPACE", None, {**tensors, "BlockSize": size}, invalid=("size-mismatch",)
        )
        for is_asked in (False, True):
            assert (wrong_desc(case, "6_4", is_asked=is_asked) is not None) == is_sent


def tensor_of(data_type: str, sizes: list[int]) -> dict[str, Any]:
    return {"DataType": data_type, "Sizes": sizes}


@pytest.mark.parametrize(("dilation", "is_sent"), [(0x7FFFFFFF, True), (0x80000000, False)])
def test_a_dilation_that_directml_does_not_end_with_is_not_sent(dilation: int, is_sent: bool) -> None:
    names = ("InputTensor", "InputGradientTensor", "OutputGradientTensor")
    wrong = {name: tensor_of("INT32", [1, 1, 4, 4]) for name in names}  # which no release takes
    window = {"Strides": [1, 1], "WindowSize": [1, 1], "StartPadding": [0, 0], "EndPadding": [0, 0]}
    desc = {**wrong, **window, "Dilations": [1, dilation]}
    assert can_be_asked(read_desc("DML_OPERATOR_MAX_POOLING_GRAD", desc)) == is_sent


@pytest.mark.parametrize("operator", ["DML_OPERATOR_MULTIHEAD_ATTENTION", "DML_OPERATOR_MULTIHEAD_ATTENTION1"])
def test_a_mask_type_without_a_mask_is_not_sent(operator: str) -> None:
    names = ("QueryTensor", "KeyTensor", "ValueTensor", "OutputTensor")
    desc: dict[str, Any] = {name: tensor_of("INT32", [1, 1, 1]) for name in names}  # which no release takes
    desc |= {"Scale": 1, "MaskFilterValue": 0, "MaskType": "KEY_SEQUENCE_LENGTH"}
    desc |= {
        name: 1 for name in ("HeadCount", "QueryHeadCount", "KeyValueHeadCount") if name in load_spec(operator).fields
    }
    assert not can_be_asked(read_desc(operator, desc))
    assert can_be_asked(read_desc(operator, {**desc, "MaskType": "NONE"}))
    assert can_be_asked(read_desc(operator, {**desc, "MaskTensor": tensor_of("INT32", [1, 1])}))


@pytest.mark.parametrize(
    ("fields", "is_said"),
    [
        ({"StartPadding": [0, 0]}, True),
        ({"StartPadding": [0, 0, 0]}, False),  # of as many elements as EndPadding in C
        ({"PaddingValue": None}, False),  # which is 0 in C
        ({"OutputTensor": None}, True),
    ],
)
def test_arrays_share_their_count_in_c_and_no_number_is_missing_there(fields: dict[str, Any], is_said: bool) -> None:
    tensor = {"DataType": "FLOAT32", "Sizes": [2, 3]}
    desc = {"InputTensor": tensor, "OutputTensor": tensor, "PaddingMode": "EDGE", "PaddingValue": 0}
    reading = read_desc("DML_OPERATOR_PADDING", {**desc, "StartPadding": [0, 0], "EndPadding": [0, 0], **fields})
    assert can_be_asked(reading) == is_said
