"""The sums that messages have beside the number that must be, each worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest
from made_operator import desc, tensor
from valid_descs import convolution, product

from dmlcheck.specs.load import load_spec, operator_names
from dmlcheck.specs.names import NEWEST_LEVEL
from dmlcheck.validation import validate
from dmlcheck.validation.worked import broken_claims, limit_relation, span_text, sum_text

pytestmark = pytest.mark.usefixtures("made_operators")


@pytest.mark.parametrize(
    ("expression", "expected", "text"),
    [
        ("A.Sizes[i] + Windows[i]", 7, " = 4 + 3"),
        ("A.Sizes[i] * (Windows[i] + 1)", 16, " = 4 * (3 + 1)"),
        ("A.Sizes[i] // 2 - 1 if Axis == 1 else 9", 1, " = 4 // 2 - 1"),
        ("A.Sizes[i] // 2 - 1 if Axis == 2 else 9", 9, ""),
        ("min(A.Sizes[i] + 1, 100)", 5, " = 4 + 1"),
        ("prod(Windows)", 15, " = 5 * 3"),
        ("A.Sizes[i]", 4, ""),
        ("A.Sizes[i] + 1", 6, ""),
        (12, 12, ""),
    ],
)
def test_a_sum_has_the_numbers_of_the_desc(expression: Any, expected: int, text: str) -> None:
    subject = desc(A=tensor(2, 4), Windows=[5, 3], Axis=1)
    assert sum_text(expression, subject, expected, 1) == text


WINDOW = "[10, 20], [3, 5], [2, 4], [1, 0], [1, 2]"


@pytest.mark.parametrize(
    ("expression", "at", "expected", "text"),
    [
        (f"pooled({WINDOW})", 0, 5, " = (10 + 1 + 1 - 3) // 2 + 1"),  # 9 // 2 + 1
        (f"pooled({WINDOW})", 1, 5, " = (20 + 0 + 2 - 5) // 4 + 1"),  # 17 // 4 + 1
        (f"pooled({WINDOW}, [1, 3])", 1, 3, " = (20 + 0 + 2 - ((5 - 1) * 3 + 1)) // 4 + 1"),  # 9 // 4 + 1
        (f"[7, 7] + pooled({WINDOW})", 0, 7, ""),
        (f"[7, 7] + list(pooled({WINDOW}))", 2, 5, ""),
        (f"(7, 7) + pooled({WINDOW})", 2, 5, " = (10 + 1 + 1 - 3) // 2 + 1"),
        (f"transposed({WINDOW}, [1, 1], [0, 1])", 0, 19, " = (10 - 1) * 2 + 3 + 0 - 1 - 1"),
        (f"transposed({WINDOW}, [1, 1], [0, 1])", 1, 80, " = (20 - 1) * 4 + 5 + 1 - 0 - 2"),
        ("(*A.Sizes[:1], 2 * A.Sizes[1])", 0, 2, ""),
        ("(*A.Sizes[:1], 2 * A.Sizes[1])", 1, 8, " = 2 * 4"),
    ],
)
def test_one_of_several_sizes_has_a_sum_of_its_own(expression: str, at: int, expected: int, text: str) -> None:
    assert sum_text(expression, desc(A=tensor(2, 4)), expected, at=at) == text


@pytest.mark.parametrize(
    ("expression", "expected", "word"),
    [
        ("min(B.Sizes[i], A.Sizes[i])", 4, "at_most"),
        ("max(B.Sizes[i], A.Sizes[i])", 9, "at_least"),
        ("min(A.Sizes[i], 7)", 4, "equal"),
        ("1 if i == 0 else min(B.Sizes[i], A.Sizes[i])", 4, "at_most"),
        ("A.Sizes[i]", 4, "equal"),
        (3, 3, "equal"),
    ],
)
def test_an_expression_that_limits_a_size_does_not_fix_it(expression: Any, expected: int, word: str) -> None:
    subject = desc(A=tensor(2, 4), B=tensor(2, 6))
    assert limit_relation(expression, subject, "B.Sizes[i]", 6, expected, 1) == word


def test_a_window_is_as_wide_as_its_dilation_makes_it() -> None:
    subject = desc(A=tensor(5), Windows=[3], Strides=[3])
    claim = "(A.Sizes[i] + 1 - 1) // Strides[i] + 1"
    words = ": with Strides[0] = 3 the window spans 7 elements, and the padded size is 6 = 5 + 1"
    assert span_text(claim, subject, 3, 0) == words
    assert span_text("A.Sizes[i]", subject, 3, 0) == ""
    assert span_text(claim, desc(A=tensor(5), Strides=[1]), 3, 0) == ""


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("A.Sizes[-1] % Axis == 0", [("divides", 4, "a divisor of 4, the last size of A")]),
        (
            "A.Sizes[0] % Axis == 0 and A.Sizes[1] % Axis == 0",
            [("divides", 2, "a divisor of 2, A.Sizes[0]"), ("divides", 4, "a divisor of 4, A.Sizes[1]")],
        ),
        ("A.element_count >= 9", [("at_least", 9, "at least 9")]),
        ("A.Sizes[1] in (A.Sizes[0] + 6, 7)", [("one_of", (8, 7), "8 or 7")]),
        ("A.Sizes[1] - A.Sizes[0] in (0, 3)", [("one_of", (2, 5), "2 or 5 = 2 + 3")]),
        ("A.DataType == 'UINT8'", [("equal", "UINT8", "UINT8")]),
        ("A.Sizes[0] == A.Sizes[1]", [("equal", 4, "")]),
        ("all(size < 2 for size in A.Sizes)", [("", None, "")]),
    ],
)
def test_a_claim_asks_for_a_number(claim: str, expected: list[tuple[str, Any, str]]) -> None:
    assert list(broken_claims(claim, desc(A=tensor(2, 4), Axis=3))) == expected


@pytest.mark.slow
def test_every_expression_of_every_spec_has_a_sum_or_none_without_an_error() -> None:
    """An expression whose fields are not there has no sum; none of them makes the report fail."""
    for name in operator_names():
        spec = load_spec(name)
        empty = desc(A=tensor(2, 4))._replace(spec=spec, values={})
        for row in spec.constraints:
            for claim in row.args.values() if isinstance(row.args, dict) else ():
                for part in claim if isinstance(claim, list) else [claim]:
                    if isinstance(part, str) and row.word in ("sizes", "sizes_are", "value", "at_most"):
                        assert sum_text(part, empty, 1, 0) == ""


# ---- in messages


PAIRS = {"Strides": [2, 2], "StartPadding": [3, 3], "EndPadding": [3, 3]}
CONVOLUTION = convolution([1, 3, 224, 224], [64, 3, 7, 7], [1, 64, 112, 112], **PAIRS)
GEMM = product([1, 1, 2, 768], [1, 1, 768, 3072], [1, 1, 2, 3072])


def told(operator: str, desc: dict[str, Any]) -> list[tuple[str, str | None]]:
    return [(finding.message, finding.help) for finding in validate(operator, desc, NEWEST_LEVEL)[1]]


def test_a_size_of_a_convolution_is_worked_out() -> None:
    output = {"DataType": "FLOAT32", "Sizes": [1, 64, 113, 112]}
    assert told("CONVOLUTION", {**CONVOLUTION, "OutputTensor": output}) == [
        (
            "OutputTensor.Sizes[2] is 113; it must be 112 = (224 + 3 + 3 - 7) // 2 + 1",
            "DirectML 1.4.0 to 1.15.4 accept it, so it is not the reason for an E_INVALIDARG there",
        )
    ]


def test_a_group_count_has_the_number_that_it_must_divide() -> None:
    messages = [message for message, _ in told("CONVOLUTION", {**CONVOLUTION, "GroupCount": 2})]
    assert messages[-1] == "GroupCount is 2; it must be a divisor of 3, InputTensor.Sizes[1]"


def test_a_matrix_that_is_transposed_by_mistake_is_advised_not_to_be() -> None:
    assert told("GEMM", GEMM) == []
    message = "BTensor.Sizes[3] is 3072; it must be 768, as ATensor.Sizes[3] is"
    assert told("GEMM", {**GEMM, "TransB": "TRANSPOSE"}) == [(message, "write TransB: NONE if that is meant")]


def test_sizes_that_no_transposition_mends_have_no_such_advice() -> None:
    output = {"DataType": "FLOAT32", "Sizes": [1, 1, 2, 3071]}
    ((_, help),) = told("GEMM", {**GEMM, "OutputTensor": output})
    assert help is None
