"""What an implementation computes for a desc, and why it may compute nothing."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from judged import Fake, answering

from dmlcheck import run_cases
from dmlcheck.cases.records import Case
from dmlcheck.descs.read import read_desc
from dmlcheck.implementations import Failure, Refused, Unsupported
from dmlcheck.implementations.protocol import Reference
from dmlcheck.running.computed import (
    Computed,
    NoOutputs,
    computed,
    is_reference,
    refusal,
    tensors_of,
    traceback_text,
    why_unsupported,
)

TENSOR = {"DataType": "FLOAT32", "Sizes": [2]}
DESC = read_desc("ELEMENT_WISE_MAX", {"ATensor": TENSOR, "BTensor": TENSOR, "OutputTensor": TENSOR}).desc
INPUTS = {
    "ATensor": np.array([5, np.nan], dtype=np.float32),
    "BTensor": np.array([3, 4], dtype=np.float32),
}


def given_by(implementation: Any) -> Computed | NoOutputs:
    assert DESC is not None
    return computed(DESC, INPUTS, ["OutputTensor"], implementation)


def test_memory_that_ends_is_not_a_failure_of_the_implementation() -> None:
    with pytest.raises(MemoryError):
        given_by(answering(MemoryError()))


def test_an_implementation_may_write_to_its_inputs() -> None:
    def run(_: Any, __: Any, inputs: dict[str, Any]) -> dict[str, Any]:
        inputs["ATensor"] += 1
        return {"OutputTensor": inputs["ATensor"]}

    assert DESC is not None
    given = {"ATensor": np.array([1, 2], np.float32), "BTensor": np.broadcast_to(np.float32(0), 2)}
    found = computed(DESC, given, ["OutputTensor"], type("Writing", (), {"run": run})())
    assert isinstance(found, Computed)
    assert (found.values["OutputTensor"].tolist(), given["ATensor"].tolist()) == ([2, 3], [1, 2])


def test_an_implementation_that_is_called_reference_is_not_taken_for_the_engine() -> None:
    namesake = answering({"OutputTensor": np.array([9, 9], np.float32)})
    namesake.name = "reference"
    assert (is_reference(Reference()), is_reference(namesake)) == (True, False)
    assert not is_reference(type("Derived", (Reference,), {})())
    case = Case("c.yaml::c", "c", "c.yaml", DESC.spec.operator, None, {}) if DESC else None
    assert case is not None
    given = case._replace(
        desc=dict.fromkeys(("ATensor", "BTensor", "OutputTensor"), TENSOR),
        inputs={"ATensor": [1, 2], "BTensor": [0, 3]},
    )
    (result,) = run_cases([given], namesake)
    assert result.outcome == "failed"


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (Refused("no"), "no"),
        (ValueError("no"), "no"),
        ("anything", None),
        (Unsupported("no 4 bits"), NoOutputs("unsupported-by-implementation: no 4 bits")),
    ],
)
def test_a_desc_is_refused_or_taken(answer: Any, expected: str | NoOutputs | None) -> None:
    assert DESC is not None
    assert refusal(DESC, INPUTS, answering(answer)) == expected


class Unsure:
    """An implementation that fails to say what it can run."""

    name = "unsure"

    def unsupported(self, desc: Any) -> str | None:
        return str(desc["Colour"])


def test_what_fails_to_say_what_it_can_run_has_failed() -> None:
    nothing = why_unsupported(DESC, Unsure())
    assert nothing is not None
    assert nothing.finding is not None
    assert nothing.finding.message.startswith("unsure raised KeyError: ")
    assert "has no field Colour; it has ATensor, " in nothing.finding.message
    assert 'return str(desc["Colour"])' in nothing.traceback
    assert "in why_unsupported" not in nothing.traceback


def test_memory_that_ends_before_a_desc_is_run_is_a_failure_with_its_traceback() -> None:
    implementation = Fake(lambda *_: {})
    implementation.unsupported = Mock(side_effect=MemoryError("of 9 GiB"))  # type: ignore[method-assign]
    nothing = why_unsupported(DESC, implementation)
    assert nothing is not None
    assert nothing.finding is not None
    assert nothing.finding.message == "fake raised MemoryError: of 9 GiB"
    assert nothing.traceback.endswith("MemoryError: of 9 GiB")


class Panic(BaseException):
    """What bindings of native code raise where nobody is to catch it."""


class Wordless(Exception):
    def __str__(self) -> str:
        raise TypeError("no words")


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (Panic("index out of bounds"), "raised Panic: index out of bounds"),
        (GeneratorExit(), "raised GeneratorExit: "),
        (Wordless(), "raised Wordless: <exception str() failed>"),
    ],
)
def test_any_exception_but_the_end_of_the_process_is_a_failure(error: BaseException, words: str) -> None:
    found = given_by(answering(error))
    assert isinstance(found, NoOutputs)
    assert found.finding is not None
    assert found.finding.message.endswith(words)
    assert "test_computed.py" in found.traceback or "judged.py" in found.traceback


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt()])
def test_the_end_of_the_process_is_not_a_failure_of_a_case(error: BaseException) -> None:
    with pytest.raises(type(error)):
        given_by(answering(error))


def models(answer: Any) -> Any:
    """Return an implementation that gives one answer for each model, or raises it."""
    fake = answering(answer)
    return SimpleNamespace(name="fake", run_model=lambda model, inputs, _: fake.run(model, inputs))


def test_an_implementation_may_write_to_the_inputs_of_a_model() -> None:
    def run_model(_: Any, __: bytes, inputs: dict[str, Any], keep: list[str]) -> dict[str, Any]:
        inputs["x"] += 1
        inputs["s"][0] += 1
        return dict.fromkeys(keep, inputs["x"])

    given = {"x": np.zeros(2), "s": [np.zeros(1)], "none": None}
    found = tensors_of(b"", given, ["y"], type("Writing", (), {"run_model": run_model})())
    assert isinstance(found, dict)
    assert (found["y"].tolist(), given["x"].tolist(), given["s"][0].tolist()) == ([1, 1], [0, 0], [0])


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (None, "returned NoneType instead of its outputs by name"),
        ({}, "returned no x"),
        ({"X": np.zeros(1), 0: np.zeros(1)}, "returned no x, but X, 0"),
        ({"x": 1.0}, "returned float for x instead of an array"),
        ({"x": [1.0, 2.0]}, "returned list for x instead of an array"),
        ({"x": [np.zeros(1), 2.0]}, "returned list for x instead of an array"),
        (ValueError("so"), "raised ValueError: so"),
        (Failure("is off"), "is off"),
        (MemoryError("of 9 GiB"), "ran out of memory: of 9 GiB"),
    ],
)
def test_an_implementation_that_gives_no_tensors_has_failed(answer: Any, problem: str) -> None:
    found = tensors_of(b"", {}, ["x"], models(answer))
    assert isinstance(found, NoOutputs)
    assert found.finding is not None
    assert found.finding.message == f"fake {problem}"
    assert bool(found.traceback) == (isinstance(answer, Exception) and not isinstance(answer, Failure))


def test_no_implementation_changes_the_inputs_that_the_reference_computes_from() -> None:
    def writing(_: Any, inputs: Any) -> Any:
        inputs["ATensor"][:] = 0
        return {"OutputTensor": np.zeros(2, dtype=np.float32)}

    given = given_by(Fake(writing))
    assert isinstance(given, Computed)
    assert INPUTS["ATensor"][0] == 5


# ---- tracebacks of what implementations raise, as reports have them


def raised(depth: int, message: str) -> BaseException:
    """Return an exception that was raised so many calls deep, no two in a row of one function."""

    def even(left: int) -> None:
        odd(left - 1)

    def odd(left: int) -> None:
        if left <= 0:
            raise ValueError(message)
        even(left - 1)

    try:
        even(depth)
    except ValueError as error:
        return error
    raise AssertionError


def test_a_traceback_has_the_lines_that_led_to_the_exception() -> None:
    lines = traceback_text(raised(0, "no device")).splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert "    raise ValueError(message)" in lines
    assert lines[-1] == "ValueError: no device"


def test_a_long_traceback_loses_lines_of_its_middle_and_the_ends_of_long_lines() -> None:
    lines = traceback_text(raised(200, "x" * 10_000)).splitlines()
    assert len(lines) == 41
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[10].strip().startswith("... ")
    assert lines[10].strip().endswith(" lines left out ...")
    assert lines[-1].startswith("ValueError: xxx")
    assert len(lines[-1]) <= 510
