"""Reducing graphs: the steps, sizes and values that a fault needs are left, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from valid_descs import tensor, valid

from dmlcheck.cases.records import Case
from dmlcheck.descs.records import TensorDesc
from dmlcheck.diagnostics.record import Diagnostic
from dmlcheck.drawing.graphs import DrawnGraph, DrawnStep
from dmlcheck.fuzzing.reducing_graphs import FailingGraph, GraphReducer, kind_of
from dmlcheck.running.results import FAILED, CaseResult, NodeOfCase, Together
from dmlcheck.specs.names import NEWEST_LEVEL

SIZES = (1, 2, 4, 9)
X = tensor(*SIZES)
NAMES = ("ACTIVATION_RELU", "ELEMENT_WISE_ABS", "ELEMENT_WISE_SQRT", "ELEMENT_WISE_NEGATE", "ELEMENT_WISE_EXP")


def chain() -> DrawnGraph:
    """Return RELU -> ABS -> SQRT -> NEGATE -> EXP."""
    steps = [
        DrawnStep(valid(f"DML_OPERATOR_{name}", InputTensor=X, OutputTensor=X), {"InputTensor": f"t{at - 1}"}, f"t{at}")
        for at, name in enumerate(NAMES)
    ]
    return DrawnGraph(tuple(steps), {"t-1": TensorDesc("FLOAT32", SIZES)})


def result(message: str = "t4 is wrong", **more: Any) -> CaseResult:
    case = Case("model.onnx::x", "x", "model.onnx", "", None, {})
    return CaseResult(case, FAILED, "output mismatch", (Diagnostic("output-mismatch", message),), **more)


TOGETHER = result(together=Together(("a", "b"), ("A", "B")))
NODE = result(node=NodeOfCase("a", "Abs-13"))


class Fault:
    """Judges graphs: wrong with both of two steps, at least three elements in a row, and a value above 2 among them."""

    def __init__(self, first: str, last: str, *wrong: CaseResult) -> None:
        self.names = {f"DML_OPERATOR_{first}", f"DML_OPERATOR_{last}"}
        self.wrong = wrong or (TOGETHER,)
        self.seen: list[str] = []

    def __call__(self, graph: DrawnGraph, inputs: Mapping[str, Any]) -> Sequence[CaseResult]:
        self.seen.append(repr((graph, [array.tolist() for array in inputs.values()])))
        assert graph.inputs.keys() == inputs.keys()
        assert all(inputs[name].shape == one.sizes for name, one in graph.inputs.items())
        has_steps = self.names <= {step.desc.spec.operator for step in graph.steps}
        is_large = any(array.shape[-1] >= 3 and (array > 2).any() for array in inputs.values())
        return self.wrong if has_steps and is_large else ()


def reduced(fault: Fault, start: CaseResult, seconds: float | None = None) -> GraphReducer:
    values = {"t-1": np.full(SIZES, 5.25, np.float32)}
    made = GraphReducer(fault, FailingGraph(chain(), values, start), NEWEST_LEVEL, seconds)
    assert made.ended().is_whole is (seconds is None)
    return made


@pytest.mark.parametrize(
    ("first", "last", "left"),
    [
        ("ELEMENT_WISE_ABS", "ELEMENT_WISE_SQRT", NAMES[1:3]),
        ("ACTIVATION_RELU", "ELEMENT_WISE_SQRT", (NAMES[0], NAMES[2])),
        ("ELEMENT_WISE_ABS", "ELEMENT_WISE_ABS", NAMES[1:2]),
    ],
)
def test_the_steps_the_sizes_and_the_values_that_a_fault_needs_are_left(
    first: str, last: str, left: tuple[str, ...]
) -> None:
    fault = Fault(first, last)
    made = reduced(fault, TOGETHER)
    assert tuple(step.desc.spec.short for step in made.now.graph.steps) == left
    shapes = {array.shape for array in made.now.inputs.values()}
    assert (1, 1, 1, 3) in shapes
    elements = np.concatenate([array.reshape(-1) for array in made.now.inputs.values()])
    assert elements.max() == 3
    assert np.count_nonzero(elements) == 1
    assert len(fault.seen) == len(set(fault.seen)) == made.trials


def test_without_time_the_graph_stays_as_it_is() -> None:
    made = reduced(Fault("ELEMENT_WISE_ABS", "ELEMENT_WISE_SQRT"), TOGETHER, -1.0)
    assert (len(made.now.graph.steps), made.trials) == (5, 0)


@pytest.mark.parametrize(
    ("wrong", "is_taken"), [([TOGETHER], True), ([NODE], False), ([result()], False), ([NODE, TOGETHER], False)]
)
def test_a_graph_that_fails_in_another_way_is_not_taken(wrong: list[CaseResult], is_taken: bool) -> None:
    values = {"t-1": np.full(SIZES, 5.25, np.float32)}
    fault = Fault("ELEMENT_WISE_ABS", "ELEMENT_WISE_SQRT", *wrong)
    made = GraphReducer(fault, FailingGraph(chain(), values, TOGETHER), NEWEST_LEVEL, None)
    assert (made.with_inputs({"t-1": values["t-1"] - 1}) is not None) is is_taken


def test_how_a_model_fails_has_no_name_of_a_tensor() -> None:
    assert kind_of(TOGETHER) == kind_of(result("t7 is wrong", together=TOGETHER.together))
    assert len({kind_of(one)[0] for one in (TOGETHER, NODE, result())}) == 3
