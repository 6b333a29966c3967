"""What the self-check finds in the files of specs/about, and what an example must be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pytest
from shipped import example_case

from dmlcheck.api import evaluate
from dmlcheck.cases.records import Case
from dmlcheck.inspection import selfcheck
from dmlcheck.inspection.selfcheck import about_problems
from dmlcheck.specs.about import load_about
from dmlcheck.specs.load import load_spec, operator_names
from dmlcheck.values.literals import ANY

SPEC = load_spec("DML_OPERATOR_RESAMPLE1")
ABOUT = load_about(SPEC.operator)
RECIPE = ABOUT.recipes[0]
CASE = Case("resample1/example.yaml::example", "example", "", SPEC.operator, None, {}, {}, {"O": [1]}, source="by hand")


@pytest.fixture(scope="module")
def examples() -> dict[str, Case]:
    return {operator: example_case(operator) for operator in operator_names()}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, None),
        ({"purpose": "Resizes a tensor " + "very " * 25 + "much."}, "a sentence has more than 25 words: Resizes"),
        ({"purpose": "Resizes a tensor"}, "a sentence has no full stop: Resizes a tensor"),
        ({"where": {"q": "a number"}}, "no equation has the symbol q"),
        ({"changes": ""}, "changes must say what the operator changed of RESAMPLE"),
        ({"typical": {"Scale": 1}}, "typical has Scale, which is not a field"),
        (
            {"recipes": (RECIPE._replace(text="Give " + "very " * 25 + "much."),)},
            "a sentence has more than 25 words: Give",
        ),
        ({"recipes": (RECIPE._replace(desc={"Axis": 1}),)}, "the desc of Bilinear with half pixels is not valid: "),
        ({"example": "values.yaml::none"}, "the example values.yaml::none is not a case of the operator"),
    ],
)
def test_a_fault_is_found(change: dict[str, Any], words: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selfcheck, "load_about", lambda _: ABOUT._replace(**change))
    found = list(about_problems(SPEC, [CASE]))
    assert [words in text for text in found] == ([True] * max(1, len(found)) if words else []), found


def test_changes_of_an_operator_that_is_the_first_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    first = load_spec("DML_OPERATOR_RESAMPLE")
    monkeypatch.setattr(selfcheck, "load_about", lambda _: load_about(first.operator)._replace(changes="None."))
    assert any("there is none before this one" in text for text in about_problems(first, [CASE]))


@pytest.mark.parametrize("change", [{"outputs": None}, {"source": None}])
def test_an_example_without_outputs_or_source_is_found(change: dict[str, Any]) -> None:
    (found,) = about_problems(SPEC, [CASE._replace(**change)])
    assert "must give outputs and say their source" in found


def test_a_missing_and_an_unreadable_file_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: str) -> None:
        raise ValueError("resample1.yaml: broken")

    monkeypatch.setattr(selfcheck, "load_about", broken)
    assert list(about_problems(SPEC, [CASE])) == ["resample1.yaml: broken"]
    monkeypatch.setattr(selfcheck, "has_about", lambda _: False)
    assert list(about_problems(SPEC, [CASE])) == ["there is no specs/about/resample1.yaml"]


def numbers(value: Any) -> Iterator[Any]:
    if isinstance(value, list):
        for part in value:
            yield from numbers(part)
    else:
        yield value


def outputs(written: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the outputs by name, those of an array of tensors each."""
    for name, value in written.items():
        if name == "OutputTensors":
            yield from ((f"{name}[{index}]", part) for index, part in enumerate(value))
        else:
            yield name, value


@pytest.mark.slow
@pytest.mark.parametrize("operator", operator_names())
def test_an_example_is_small_and_equals_what_is_evaluated(operator: str, examples: dict[str, Case]) -> None:
    case = examples[operator]
    found = evaluate(operator, case.desc, case.inputs or {})
    written = dict(outputs(case.outputs or {}))
    assert written.keys() == found.keys()
    assert sum(len(list(numbers(part))) for part in [*written.values(), *(case.inputs or {}).values()]) <= 80
    for name, values in written.items():
        pairs = zip(np.ravel(found[name]).tolist(), numbers(values), strict=True)
        defined = [(float(each), float(own)) for each, own in pairs if own != ANY]
        assert defined
        np.testing.assert_allclose(*zip(*defined, strict=True), rtol=2e-6, atol=1e-7)


# Their numbers are truth values or indices, say that two elements are equal, or are those of a square region.
ALIKE = {"comparisons", "indexing", "regions"}
WITH_EQUAL_NUMBERS = {"ROI_ALIGN_GRAD", "GRU", "MULTIHEAD_ATTENTION1", "QUANTIZE", "DEQUANTIZE"}


@pytest.mark.slow
def test_the_inputs_of_an_example_differ_in_every_place(examples: dict[str, Case]) -> None:
    for operator, case in examples.items():
        if load_about(operator).family in ALIKE or operator.removeprefix("DML_OPERATOR_") in WITH_EQUAL_NUMBERS:
            continue
        for name, values in (case.inputs or {}).items():
            flat = [str(each) for each in numbers(values)]
            assert len(flat) == len(set(flat)), (operator, name)
