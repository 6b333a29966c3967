"""The outputs of models: right where every node is, wrong where one is off, and skipped where nothing can be said."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto
from run_models import ROUNDED, RUNTIME, Runtime, constant, onnx, perceptron, random, runtime
from whole_models import INT64, model, node, numbers, save, tensor

from dmlcheck.formats.find import Target
from dmlcheck.models.cases import ModelRequest
from dmlcheck.models.outputs import Behind, one_ahead
from dmlcheck.models.run import ModelExecution
from dmlcheck.running.events import Done, Plan, Selection
from dmlcheck.running.results import CaseResult, ModelOutput

pytestmark = pytest.mark.usefixtures("folder")

__all__ = ["runtime"]
INT32 = TensorProto.INT32
NODES = ["up", "bias", "relu", "down", "softmax"]


def results(made: Any, expression: str | None = None, **asked: Any) -> dict[str, CaseResult]:
    plan = Plan(implementation=RUNTIME)
    if expression is not None:
        plan = plan._replace(selection=Selection(expression))
    more = ModelRequest({"batch": 3})._replace(**asked)
    execution = ModelExecution(Target(save(made), "model.onnx", None), plan, more)
    return {event.result.case.name: event.result for event in execution.events() if isinstance(event, Done)}


def test_an_output_of_right_nodes_is_right_from_the_inputs_on(runtime: type[Runtime]) -> None:
    found = results(perceptron())
    assert list(found) == [*NODES, "output:y"]
    assert runtime.calls
    result = found["output:y"]
    assert (result.outcome, result.case.id) == ("passed", "model.onnx::output:y")
    assert result.output is not None
    assert 0 < (result.output.error or 0) < (result.output.tolerance or 0) < 1e-2
    assert sum(share for _, share in result.output.shares) == pytest.approx(1)


def test_an_output_that_the_reference_gave_in_the_place_of_the_implementation_is_not_judged() -> None:
    lstm = node("LSTM", "x w r", "y", "recurrent", hidden_size=2, layout=1)
    made = model([lstm], {"x": [3, 1, 2]}, {"y": [3, 1, 1, 2]}, [random("w", 1, 8, 2), random("r", 1, 8, 2)])
    execution = ModelExecution(Target(save(made), "model.onnx", None), Plan("onnxruntime"), ModelRequest())
    found = {event.result.case.name: event.result for event in execution.events() if isinstance(event, Done)}
    assert {name: result.outcome for name, result in found.items()} == {"recurrent": "skipped", "output:y": "skipped"}
    assert (found["recurrent"].reason or "").startswith("unsupported-by-implementation: CPUExecutionProvider: Batch")
    assert found["output:y"].reason == "missing-tensor: the implementation gave nothing for it"


def test_an_output_without_elements_is_called_so(runtime: type[Runtime]) -> None:
    chosen = node("Compress", "x none", "y", "chosen", axis=0)
    made = model([chosen], {"x": [4]}, {"y": ["n"]}, [constant("none", [0], bool)])
    found = results(made)["output:y"]
    assert runtime.calls
    assert (found.outcome, found.reason) == ("skipped", "nothing to compare: it has no elements")
    assert found.output == ModelOutput("y", None, None)


def test_an_output_of_a_node_that_is_off_in_a_known_way_has_no_tolerance() -> None:
    made = model([node("ReduceProd", "x", "y", "product", axes=[1], keepdims=0)], {}, {"y": [2]})
    made.graph.input.append(tensor("x", [2, 4], INT32))
    made.graph.output[0].type.tensor_type.elem_type = INT32
    np.savez("x.npz", x=np.array([[1 << 20, 1 << 20, 3, 1], [1, 2, 3, 4]], np.int32))
    asked = ModelRequest(inputs="x.npz")
    execution = ModelExecution(Target(save(made), "model.onnx", None), Plan("onnxruntime"), asked)
    found = {event.result.case.name: event.result for event in execution.events() if isinstance(event, Done)}
    if found["product"].outcome == "passed":
        pytest.skip("this ONNX Runtime multiplies integers right")  # as 1.23 does, the last one for Python 3.10
    assert {name: result.outcome for name, result in found.items()} == {"product": "xfailed", "output:y": "skipped"}
    assert (found["output:y"].reason or "").startswith("product is off in a known way")


# ---- the whole model run once beside its nodes: what is compared, what is only said, and where it does not run


def together(made: Any, *, case: str | None = None, plan: Plan = Plan(), **asked: Any) -> CaseResult | None:  # noqa: B008
    """Return the case of a model as a whole, None where there is none."""
    request = ModelRequest({"batch": 3})._replace(**asked)
    execution = ModelExecution(Target(save(made), "model.onnx", case), plan._replace(implementation=RUNTIME), request)
    found = [event.result for event in execution.events() if isinstance(event, Done)]
    return next((result for result in found if result.case.name == "together"), None)


def change_whole(monkeypatch: pytest.MonkeyPatch, change: Any) -> None:
    """Change the outputs of all models of more than one node."""
    right = Runtime.run_model

    def changed(self: Runtime, data: bytes, inputs: Mapping[str, Any], keep: list[str]) -> dict[str, Any]:
        found = right(self, data, inputs, keep)
        is_whole = len(onnx.load_from_string(data).graph.node) > 1
        return {name: change(array) for name, array in found.items()} if is_whole else found

    monkeypatch.setattr(Runtime, "run_model", changed)


def test_a_difference_beyond_it_is_a_failure_with_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    change_whole(monkeypatch, lambda array: array * np.float32(1.5))
    found = together(perceptron())
    assert found is not None
    assert (found.outcome, found.diagnostics[0].rule) == ("failed", "output-mismatch")
    assert "y differs by 0.5 of the largest element when the whole model runs" in found.diagnostics[0].message
    assert "--bisect" in (found.diagnostics[0].help or "")


def test_other_sizes_are_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    change_whole(monkeypatch, lambda array: array[:1])
    found = together(perceptron())
    assert found is not None
    text = "y is float32 [1, 8] when the whole model runs; the nodes alone give float32 [3, 8]"
    assert (found.outcome, text in found.diagnostics[0].message) == ("failed", True)


def test_an_output_that_is_wrong_without_the_whole_too_is_not_called_right(
    runtime: type[Runtime], monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime.factors["softmax"] = ROUNDED
    change_whole(monkeypatch, lambda array: array * np.float32(1.5))
    found = together(perceptron(), case="together")
    assert found is not None
    assert found.outcome == "skipped"
    assert str(found.reason).endswith("when the whole model runs, and is wrong when each node runs alone, too")


def test_a_whole_model_that_does_not_run_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def ends(_: Any) -> Any:
        raise RuntimeError("out of breath")

    change_whole(monkeypatch, ends)
    found = together(perceptron())
    assert found is not None
    assert (found.outcome, "the whole model does not run: " in str(found.reason)) == ("skipped", True)
    assert "out of breath" in str(found.reason)


def test_a_model_with_a_node_that_does_not_run_does_not_run_as_a_whole(runtime: type[Runtime]) -> None:
    runtime.raising.add("bias")
    assert together(perceptron()) is None
    assert all(len(keep) == 1 for keep in runtime.calls)
    found = together(perceptron(), case="together")
    assert found is not None
    assert (found.outcome, found.reason) == ("skipped", "a node of it did not run alone")


# ---- work ahead of a run: its order, its errors, and its end


def test_items_come_in_their_order_and_one_is_made_ahead() -> None:
    made: list[int] = []
    is_second = threading.Event()

    def items() -> Iterator[int]:
        for number in range(5):
            made.append(number)
            if number == 1:
                is_second.set()
            yield number

    ahead = one_ahead(items())
    assert next(ahead) == 0
    assert is_second.wait(60)
    assert made == [0, 1]
    assert list(ahead) == [1, 2, 3, 4]


def test_an_error_comes_in_the_place_of_its_item() -> None:
    def items() -> Iterator[int]:
        yield 1
        raise ValueError("the second")

    ahead = one_ahead(items())
    assert next(ahead) == 1
    with pytest.raises(ValueError, match="the second"):
        next(ahead)


def test_who_ends_early_does_not_wait_for_the_next_item() -> None:
    is_over = threading.Event()

    def items() -> Iterator[int]:
        yield 1
        is_over.wait(60)
        yield 2

    ahead = one_ahead(items())
    assert next(ahead) == 1
    ahead.close()  # type: ignore[attr-defined]
    assert not is_over.is_set()
    is_over.set()


def test_calls_are_made_in_their_order() -> None:
    found: list[int] = []
    behind = Behind()
    for number in range(20):
        behind.call(found.append, number)
    behind.finish()
    assert found == list(range(20))
    behind.close()


def test_an_error_of_a_call_is_raised_at_the_end() -> None:
    def fail() -> None:
        raise ValueError("of a call")

    behind = Behind()
    behind.call(fail)
    with pytest.raises(ValueError, match="of a call"):
        behind.finish()
    behind.close()


@pytest.mark.parametrize(("size", "most"), [(0, 4), (40 * 2**20, 1), (80 * 2**20, 1), (20 * 2**20, 3)])
def test_the_caller_is_few_calls_before_the_thread(size: int, most: int) -> None:
    may_go, found = threading.Event(), list[int]()
    behind = Behind()
    behind.call(may_go.wait, 60, size=size)
    for number in range(1, most):
        behind.call(found.append, number, size=size)
    assert not found
    threading.Timer(0.05, may_go.set).start()
    behind.call(found.append, most, size=size)
    assert may_go.is_set()
    behind.finish()
    assert found == list(range(1, most + 1))
    behind.close()


def test_indices_are_judged_though_directml_has_another_type_for_them(runtime: type[Runtime]) -> None:
    nodes = [node("TopK", "x k", "v y", "top"), node("Neg", "v", "n", "neg")]
    k = numbers("k", [2])
    made = model(nodes, {"x": ["batch", 8]}, {"n": ["batch", 2]}, [k])
    made.graph.output.append(tensor("y", ["batch", 2], INT64))
    found = results(made)
    assert runtime.calls
    assert {name: result.outcome for name, result in found.items()} == dict.fromkeys(
        ["top", "neg", "output:n", "output:y"], "passed"
    )


def test_a_constant_that_is_an_output_is_called_so() -> None:
    given = node("Constant", "", "c", "given", value=onnx.helper.make_tensor("", TensorProto.FLOAT, [2], [1.0, 2.0]))
    made = model([given, node("Relu", "x", "y", "relu")], {"x": [2]}, {"y": [2], "c": [2]})
    found = results(made)["output:c"]
    said = "not-mapped: it is a constant of the model, which no node computes"
    assert (found.outcome, found.reason) == ("skipped", said)


# ---- random numbers, which are others in each run


def drawn(random: Any) -> Any:
    """Return a model with a node that draws numbers; it is not the first, by whose place the numbers are chosen."""
    nodes = [node("Relu", "x", "z", "relu"), random, node("Mul", "r x", "y", "scale")]
    return model(nodes, {"x": [64]}, {"y": [64], "z": [64]}, [constant("yes", True, bool)])


@pytest.mark.parametrize(
    "random",
    [
        node("RandomNormal", "", "r", "noise", shape=[64]),
        node("Dropout", "x - yes", "r", "noise"),
    ],
    ids=lambda each: each.op_type,
)
def test_what_follows_from_random_numbers_may_differ_when_the_whole_model_runs(random: Any) -> None:
    found = together(drawn(random))
    assert found is not None
    assert found.outcome == "skipped"
    assert "noise" in str(found.reason)


def test_what_follows_from_no_random_numbers_must_not_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    change_whole(monkeypatch, lambda array: array * np.float32(1.5))
    quiet = node("Dropout", "x", "r", "quiet")
    for other in (node("RandomNormal", "", "r", "noise", shape=[64]), quiet):
        found = together(drawn(other))
        assert found is not None
        assert (found.outcome, found.diagnostics[0].rule) == ("failed", "output-mismatch")
