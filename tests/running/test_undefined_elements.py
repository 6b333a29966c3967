"""What the reference leaves open of outputs, against `any` in a case."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dmlcheck.cases.prepare import Prepared
from dmlcheck.cases.records import Case
from dmlcheck.descs.records import TensorDesc
from dmlcheck.reference.engine import ComputedOutput
from dmlcheck.running.undefined_elements import disagreements, is_all_any, masks_of, path_in_case, union

A, B, NONE = ([[True, False], [False, False]], [[True, False], [True, True]], [[False, False], [False, False]])
VALUES = np.array([[5, 6], [7, 8]], np.int32)
TENSOR = TensorDesc("INT32", (2, 2))
NOT_ANY = "but the result is undefined, and the case has `any` for other elements"


def mask(rows: Any) -> Any:
    return np.array(rows)


def prepared(is_any: Any = None) -> Prepared:
    """Return a case of one output, whose expected elements are 1 to 4."""
    expected = {"Out": (TENSOR, np.array([[1, 2], [3, 4]], np.int32))}
    return Prepared(None, expected=expected, is_any={} if is_any is None else {"Out": mask(is_any)})


def told(is_any: Any, is_undefined: Any) -> list[tuple[str, Any]]:
    """Return what is said where a case and the reference disagree, and at which place."""
    case = Case("f::one", "one", "f", "ARGMAX", None, {}, outputs={"Out": [[1, 2], [3, 4]]})
    marks = {} if is_undefined is None else {"Out": mask(is_undefined)}
    found = disagreements(case, prepared(is_any), {"Out": VALUES}, marks)
    return [(finding.message, finding.path[2:]) for finding in found]


def test_only_outputs_with_undefined_elements_have_a_mask() -> None:
    found = masks_of({"A": ComputedOutput(VALUES), "B": ComputedOutput(VALUES, mask(A))})
    assert {name: marks.tolist() for name, marks in found.items()} == {"B": A}


def test_what_was_measured_is_defined_for_directml_alone() -> None:
    both, known = mask([[True, True], [False, False]]), mask([[False, True], [False, False]])
    found = {"A": ComputedOutput(VALUES, both, known), "B": ComputedOutput(VALUES, known, known)}
    assert {name: marks.tolist() for name, marks in masks_of(found, with_measured=True).items()} == {"A": A}
    assert [marks.tolist() for marks in masks_of(found).values()] == [both.tolist(), known.tolist()]


def test_a_case_may_have_any_or_the_value_of_what_was_measured() -> None:
    case = Case("f::one", "one", "f", "ARGMAX", None, {}, outputs={"Out": [[1, 2], [3, 4]]})
    for is_any in (A, [[True, True], [False, False]]):
        marks = {"Out": mask(A)}, {"Out": mask([[True, True], [False, False]])}
        assert not list(disagreements(case, prepared(is_any), {"Out": VALUES}, *marks))


def test_masks_of_two_kinds_become_one() -> None:
    both = union({"a": mask(A), "b": mask(A)}, {"b": mask([[False, True], [False, False]]), "c": mask(B)})
    assert {name: marks.tolist() for name, marks in both.items()} == {
        "a": A,
        "b": [[True, True], [False, False]],
        "c": B,
    }


@pytest.mark.parametrize(("is_any", "right"), [(None, False), (A, False), ([[True, True], [True, True]], True)])
def test_a_case_is_all_any_where_no_element_has_a_value(is_any: Any, right: bool) -> None:
    assert is_all_any(prepared(is_any)) is right


def test_a_case_without_outputs_is_not_all_any() -> None:
    assert not is_all_any(Prepared(None))


@pytest.mark.parametrize(("is_any", "is_undefined"), [(None, None), (A, A), (NONE, None), (None, NONE), (None, A)])
def test_where_both_agree_or_the_case_has_no_any_nothing_is_said(is_any: Any, is_undefined: Any) -> None:
    assert told(is_any, is_undefined) == []


@pytest.mark.parametrize(
    ("is_any", "is_undefined", "expected"),
    [
        (A, None, [("Out[0, 0] is `any`, but the result is defined: the reference engine gives 5", (0, 0))]),
        (A, NONE, [("Out[0, 0] is `any`, but the result is defined: the reference engine gives 5", (0, 0))]),
        (A, B, [(f"Out[1, 0] is 3, {NOT_ANY} (and 1 more element like it)", (1, 0))]),
        (
            [[False, True], [False, False]],
            A,
            [
                ("Out[0, 1] is `any`, but the result is defined: the reference engine gives 6", (0, 1)),
                (f"Out[0, 0] is 1, {NOT_ANY}", (0, 0)),
            ],
        ),
    ],
)
def test_each_kind_of_disagreement_is_told_at_its_first_element(is_any: Any, is_undefined: Any, expected: Any) -> None:
    assert told(is_any, is_undefined) == expected


# ---- where the outputs of a case stand in it


@pytest.mark.parametrize(
    ("name", "given", "element", "path"),
    [
        ("Out", {"Out": [[1, 2], [3, 4]]}, (1, 0), ("outputs", "Out", 1, 0)),
        ("Out", {"Out": [1, 2, 3, 4]}, (1, 0), ("outputs", "Out", 2)),
        ("Out", {"Out": {"fill": 1}}, (1, 0), ("outputs", "Out")),
        ("Out", {"Out": [1, 2, 3, 4]}, None, ("outputs", "Out")),
        ("Out", {}, (1, 0), ("desc", "Out")),
        ("Outs[1]", {"Outs": [[1], [1, 2, 3, 4]]}, (0, 1), ("outputs", "Outs", 1, 1)),
        ("Outs[1]", {}, (0, 1), ("desc", "Outs", 1)),
    ],
)
def test_an_element_is_found_as_the_case_writes_it(name: str, given: Any, element: Any, path: Any) -> None:
    assert path_in_case(name, given, (2, 2), element) == path
