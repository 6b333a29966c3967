"""Steps computed in order."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from valid_descs import tensor, valid

from dmlcheck.descs.records import TensorDesc
from dmlcheck.diagnostics.record import Checking, Finding, collected
from dmlcheck.graphs import compute
from dmlcheck.graphs.compute import Load, Results, results, run_steps
from dmlcheck.graphs.records import Step
from dmlcheck.reference.limits.work import TooMuchWork
from dmlcheck.values.layouts import Array, to_bytes


def one(name: str, operator: str, reads: str, writes: str, size: int = 3) -> Step:
    desc = valid(operator, InputTensor=tensor(size), OutputTensor=tensor(size))
    return Step(name, desc, {"InputTensor": reads}, {"OutputTensor": writes}, ("nodes", 0))


def loading(given: Mapping[str, list[float]], asked: list[str] | None = None) -> Load:
    def load(name: str, tensor: TensorDesc) -> Checking[Array | None]:  # noqa: ARG001 - what it may need
        if asked is not None:
            asked.append(name)
        if name not in given:
            yield Finding("missing-tensor", (), {"tensor": name, "section": "inputs"})
            return None
        values = np.array(given[name], dtype=np.float32)
        return to_bytes(TensorDesc("FLOAT32", values.shape), values)

    return load


def ran(steps: list[Step], wanted: list[str], load: Load) -> tuple[Results, list[Finding]]:
    return collected(run_steps(tuple(steps), wanted, load))


def test_one_step_reads_what_another_writes() -> None:
    steps = [one("n", "ELEMENT_WISE_NEGATE", "x", "y"), one("a", "ELEMENT_WISE_ABS", "y", "z")]
    found, findings = ran(steps, ["y", "z"], loading({"x": [1, -2, 3]}))
    assert findings == []
    assert {name: each.values.tolist() for name, each in found.outputs.items()} == {"y": [-1, 2, -3], "z": [1, 2, 3]}
    assert found.undefined == ()


def test_a_tensor_is_loaded_once_for_all_that_read_it() -> None:
    asked: list[str] = []
    desc = valid("ELEMENT_WISE_ADD", ATensor=tensor(3), BTensor=tensor(3), OutputTensor=tensor(3))
    twice = Step("add", desc, {"ATensor": "w", "BTensor": "w"}, {"OutputTensor": "z"})
    found, _ = ran([twice], ["z"], loading({"w": [1, 2, 3]}, asked))
    assert asked == ["w"]
    assert found.outputs["z"].values.tolist() == [2, 4, 6]


def test_what_nobody_reads_any_more_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a chain of five steps at most two tensors are there at once when the next begins: one read, one written."""
    written: list[weakref.ref[Any]] = []
    most = []

    def kept(tensor: TensorDesc, values: Array) -> Array:
        made = to_bytes(tensor, values).copy()
        written.append(weakref.ref(made))
        most.append(sum(each() is not None for each in written))
        return made

    monkeypatch.setattr(compute, "to_bytes", kept)
    steps = [one(f"n{i}", "ELEMENT_WISE_NEGATE", f"t{i}", f"t{i + 1}") for i in range(5)]
    found, _ = ran(steps, ["t5"], loading({"t0": [1, 2, 3]}))
    assert found.outputs["t5"].values.tolist() == [-1, -2, -3]
    assert most == [1, 2, 2, 2]


def test_nothing_is_computed_after_a_tensor_that_is_not_there() -> None:
    steps = [one("n", "ELEMENT_WISE_NEGATE", "x", "y"), one("a", "ELEMENT_WISE_ABS", "y", "z")]
    found, findings = ran(steps, ["z"], loading({}))
    assert (found.outputs, [finding.rule for finding in findings]) == ({}, ["missing-tensor"])


def test_more_than_is_written_cannot_be_read() -> None:
    """Three FLOAT32 are 12 bytes, four are 16."""
    steps = [one("n", "ELEMENT_WISE_NEGATE", "x", "y"), one("a", "ELEMENT_WISE_ABS", "y", "z", size=4)]
    _, (finding,) = ran(steps, ["z"], loading({"x": [1, 2, 3]}))
    assert (finding.rule, finding.path) == ("edge-mismatch", ("nodes", 0, "desc", "InputTensor"))
    assert finding.message == "InputTensor of 'a' reads 16 bytes, and 12 are written"


def test_what_is_computed_from_undefined_elements_is_named() -> None:
    """ARGMAX of a row with NaN: which index it gives is undefined."""
    desc = valid(
        "ARGMAX",
        InputTensor=tensor(1, 3),
        OutputTensor=tensor(1, 1, data_type="UINT32"),
        Axes=[1],
        AxisDirection="INCREASING",
    )
    argmax = Step("argmax", desc, {"InputTensor": "x"}, {"OutputTensor": "y"})
    same = valid(
        "ELEMENT_WISE_IDENTITY",
        InputTensor=tensor(1, 1, data_type="UINT32"),
        OutputTensor=tensor(1, 1, data_type="UINT32"),
    )
    identity = Step("identity", same, {"InputTensor": "y"}, {"OutputTensor": "z"})
    found, findings = ran([argmax, identity], ["y", "z"], loading({"x": [1, float("nan"), 3]}))
    assert findings == []
    assert found.undefined == ("y",)
    assert found.outputs["y"].undefined is not None
    assert found.outputs["y"].undefined.all()


NEGATE = valid("ELEMENT_WISE_NEGATE", InputTensor=tensor(3), OutputTensor=tensor(3))


@pytest.mark.parametrize(
    ("error", "rule"), [(TooMuchWork("many sums"), "too-much-work"), (MemoryError(), "tensor-too-large")]
)
def test_what_the_engine_cannot_do_is_a_finding(error: Exception, rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise error

    monkeypatch.setattr("dmlcheck.reference.engine.evaluate", refuse)
    found, findings = collected(results(NEGATE, {"InputTensor": np.zeros(3, dtype=np.float32)}))
    assert (found, [finding.rule for finding in findings]) == (None, [rule])


def test_an_output_that_no_memory_holds_is_refused_before_it_is_made() -> None:
    wide = {"DataType": "FLOAT32", "Sizes": [2], "Strides": [2**25], "TotalTensorSizeInBytes": 2**27 + 4}
    desc = valid("ELEMENT_WISE_NEGATE", InputTensor=tensor(2), OutputTensor=wide)
    found, (finding,) = collected(results(desc, {"InputTensor": np.zeros(2, dtype=np.float32)}))
    assert (found, finding.rule) == (None, "too-much-work")
    assert "the strides of OutputTensor spread 2 elements over" in finding.message


def test_values_that_a_constraint_refuses_are_findings() -> None:
    """Indices of SCATTER_ELEMENTS name each element at most once."""
    desc = valid(
        "SCATTER",
        InputTensor=tensor(1, 1, 1, 3),
        IndicesTensor=tensor(1, 1, 1, 2, data_type="UINT32"),
        UpdatesTensor=tensor(1, 1, 1, 2),
        OutputTensor=tensor(1, 1, 1, 3),
        Axis=3,
    )
    inputs = {
        "InputTensor": np.zeros((1, 1, 1, 3), dtype=np.float32),
        "IndicesTensor": np.array([[[[1, 1]]]], dtype=np.uint32),
        "UpdatesTensor": np.zeros((1, 1, 1, 2), dtype=np.float32),
    }
    found, findings = collected(results(desc, inputs))
    assert found is None
    assert findings[0].rule


@pytest.mark.parametrize("sizes", [(2, 3), (3, 2)])
def test_a_tensor_is_there_for_all_its_readers_as_large_as_the_largest_needs(sizes: tuple[int, int]) -> None:
    """A constant and a result that two steps read, each of its own size, with a step between them."""
    asked: list[tuple[str, int]] = []

    def load(name: str, tensor: TensorDesc) -> Checking[Array | None]:
        asked.append((name, tensor.element_count))
        values = np.arange(1, tensor.element_count + 1, dtype=np.float32)
        return to_bytes(TensorDesc("FLOAT32", values.shape), values)
        yield

    steps = [
        one("n", "ELEMENT_WISE_NEGATE", "w", "y", size=3),
        one("a", "ELEMENT_WISE_ABS", "y", "a", size=sizes[0]),
        one("s", "ELEMENT_WISE_SIGN", "w", "s", size=2),
        one("b", "ELEMENT_WISE_IDENTITY", "y", "b", size=sizes[1]),
    ]
    found, findings = ran(steps, ["a", "s", "b"], load)
    assert (findings, asked) == ([], [("w", 3)])
    assert {name: each.values.tolist() for name, each in found.outputs.items()} == {
        "a": [1, 2, 3][: sizes[0]],
        "s": [1, 1],
        "b": [-1, -2, -3][: sizes[1]],
    }


def test_what_is_wrong_with_a_step_stands_at_the_step(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise TooMuchWork("many sums")

    monkeypatch.setattr("dmlcheck.reference.engine.evaluate", refuse)
    _, (finding,) = ran([one("n", "ELEMENT_WISE_NEGATE", "x", "y")], ["y"], loading({"x": [1, 2, 3]}))
    assert (finding.rule, finding.path) == ("too-much-work", ("nodes", 0))
