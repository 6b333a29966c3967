"""Nodes that are wrong only when they run together, found by an implementation in which that is planted."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from run_models import RUNTIME, Runtime, constant, one_input, onnx, perceptron, plant, runtime
from whole_models import FLOAT16, INT64, model, node, save

from dmlcheck.formats.find import Target
from dmlcheck.graphs.carry import Carried
from dmlcheck.models.bisect import Check, Group, ModelBisection, Smallest
from dmlcheck.models.cases import Loaded, ModelRequest, NodeCase, loaded
from dmlcheck.models.chain import Chain
from dmlcheck.models.node_files import NodeFiles
from dmlcheck.models.node_values import NodeTensors
from dmlcheck.models.run import ModelExecution
from dmlcheck.running.events import Done, Ended, Plan
from dmlcheck.running.results import Bisected, CaseResult
from dmlcheck.running.verdict import Limits

pytestmark = pytest.mark.usefixtures("folder")

__all__ = ["runtime"]


def chain_of(count: int, kind: int = 1) -> Any:
    """Return a chain of sums and rectifiers: n0 gives t0, and so on to y."""
    dtype = np.float16 if kind == FLOAT16 else np.float32
    names = ["x", *(f"t{at}" for at in range(count - 1)), "y"]
    nodes = [
        node("Add", f"{names[at]} b", names[at + 1], f"n{at}")
        if at % 2
        else node("LeakyRelu", names[at], names[at + 1], f"n{at}")
        for at in range(count)
    ]
    return one_input(nodes, ["batch", 8], [constant("b", np.linspace(0.5, 1.5, 8), dtype)], kind=kind)


def bisect(made: Any, files: str | None = None, **asked: Any) -> tuple[dict[str, CaseResult], Bisected]:
    """Return the results of a model by name, and what came of the search."""
    more = ModelRequest({"batch": 3}, is_bisecting=True)._replace(**asked)
    target = Target(save(made), "model.onnx", None)
    written = None if files is None else NodeFiles(files, "model.onnx")
    events = list(ModelExecution(target, Plan(implementation=RUNTIME), more, written).events())
    end = events[-1]
    assert isinstance(end, Ended)
    assert end.bisected is not None
    return {event.result.case.name: event.result for event in events if isinstance(event, Done)}, end.bisected


def together(results: Mapping[str, CaseResult]) -> list[tuple[str, ...]]:
    return [result.together.names for result in results.values() if result.together is not None]


@pytest.mark.slow
@pytest.mark.parametrize("way", [{}, {"is_whole": True}])
@pytest.mark.parametrize("first", [0, 4, 9, 18])
def test_two_nodes_that_are_wrong_only_together_are_found(
    runtime: type[Runtime], monkeypatch: pytest.MonkeyPatch, first: int, way: dict[str, Any]
) -> None:
    names = f"n{first}", f"n{first + 1}"
    plant(monkeypatch, *names, between=(f"t{first}",))
    results, bisected = bisect(chain_of(20), **way)
    assert runtime.calls
    assert together(results) == [names]
    result = results["..".join(names)]
    assert (result.case.id, result.outcome) == (f"model.onnx::{names[0]}..{names[1]}", "failed")
    assert all(other.outcome == "passed" for name, other in results.items() if ".." not in name)
    assert bisected.text == (
        f"2 nodes right alone and wrong together: model.onnx::{names[0]}..{names[1]}, "
        f"found in {bisected.runs} runs of nodes together"
    )


def test_a_small_fault_is_found_too(runtime: type[Runtime], monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch, "n7", "n8", between=("t7",), factor=1 + 2.0**-9)
    assert together(bisect(chain_of(20))[0]) == [("n7", "n8")]
    assert runtime.calls


@pytest.mark.slow
@pytest.mark.parametrize("first", [0, 7, 16])
def test_nodes_that_are_three_apart_are_found_with_those_between(
    runtime: type[Runtime], monkeypatch: pytest.MonkeyPatch, first: int
) -> None:
    inner = tuple(f"t{at}" for at in range(first, first + 3))
    plant(monkeypatch, f"n{first}", f"n{first + 3}", between=inner)
    assert together(bisect(chain_of(20))[0]) == [tuple(f"n{at}" for at in range(first, first + 4))]
    assert runtime.calls


def test_a_whole_model_that_is_wrong_only_as_a_whole_is_named(
    runtime: type[Runtime], monkeypatch: pytest.MonkeyPatch
) -> None:
    names = tuple(f"n{at}" for at in range(12))
    plant(monkeypatch, *names)
    results, _ = bisect(chain_of(12))
    assert runtime.calls
    assert together(results) == [names]
    (found,) = results["n0..n11"].diagnostics
    assert found.message.startswith("n0, n1, n2, n3, n4, n5, n6, n7, n8, n9 and 2 more: each right alone, ")


@pytest.mark.slow
def test_the_runs_are_few(runtime: type[Runtime], monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch, "n49", "n50", between=("t49",))
    results, bisected = bisect(chain_of(100))
    assert together(results) == [("n49", "n50")]
    assert 0 < bisected.runs <= 20
    assert len(runtime.calls) == 100 + bisected.runs


def test_what_an_unknown_node_gives_alone_stands_for_nothing_in_a_group(
    runtime: type[Runtime], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = model([node("Det", "x", "d", "det"), node("Neg", "d", "y", "neg")], {"x": ["batch", 2, 2]}, {"y": ["batch"]})
    plant(monkeypatch, "det", "neg", between=("d",), factor=1 + 2.0**-20)
    results, bisected = bisect(made)
    assert together(results) == []
    assert bisected.text == "no nodes are wrong together; 1 run of nodes together, 1 of which cannot be judged"
    assert runtime.calls


def test_a_group_that_raises_is_not_judged(runtime: type[Runtime], monkeypatch: pytest.MonkeyPatch) -> None:
    right = Runtime.run_model

    def raising(self: Runtime, data: bytes, inputs: Mapping[str, Any], keep: list[str]) -> dict[str, Any]:
        if len(onnx.load_from_string(data).graph.node) > 1:
            raise RuntimeError("too many nodes")
        return right(self, data, inputs, keep)

    monkeypatch.setattr(Runtime, "run_model", raising)
    _, bisected = bisect(chain_of(2))
    assert bisected.text == "no nodes are wrong together; 1 run of nodes together, 1 of which cannot be judged"
    assert runtime.calls


def test_outputs_of_other_sizes_are_wrong(runtime: type[Runtime], monkeypatch: pytest.MonkeyPatch) -> None:
    right = Runtime.run_model

    def flat(self: Runtime, data: bytes, inputs: Mapping[str, Any], keep: list[str]) -> dict[str, Any]:
        given = right(self, data, inputs, keep)
        is_group = len(onnx.load_from_string(data).graph.node) > 1
        return {name: array.reshape(-1) if is_group else array for name, array in given.items()}

    monkeypatch.setattr(Runtime, "run_model", flat)
    results, _ = bisect(chain_of(2))
    (found,) = results["n0..n1"].diagnostics
    assert found.message.endswith("y is float32 [24]; the nodes alone give float32 [3, 8]")
    assert runtime.calls


@pytest.mark.parametrize(
    ("way", "said"),
    [({}, "1 node failed; look there first"), ({"is_whole": True}, "2 nodes failed; without --whole each runs alone")],
)
def test_where_a_node_fails_nothing_is_searched(runtime: type[Runtime], way: dict[str, Any], said: str) -> None:
    runtime.factors["down"] = 2.0
    results, bisected = bisect(perceptron(), **way)
    assert together(results) == []
    assert bisected == Bisected(f"no search for nodes that are wrong together: {said}", 0)


def test_without_memory_for_the_tensors_nothing_is_searched(runtime: type[Runtime]) -> None:
    _, bisected = bisect(perceptron(), keep_bytes=1000)
    assert bisected.text.endswith(": all tensors take more than --keep-memory")
    assert runtime.calls


def bisection(keep: int = 2**20) -> ModelBisection:
    """Return the search in the perceptron, before a node has gone by."""
    asked = ModelRequest({"batch": 3}, keep_bytes=keep)
    found = loaded(Target(save(perceptron()), "model.onnx", None), asked, Runtime())
    assert isinstance(found, Loaded)
    return ModelBisection(found, "model.onnx", Runtime(), Limits(), asked, is_directml=False)


def test_tensors_for_which_there_is_no_memory_are_let_go() -> None:
    search = bisection(keep=100)
    search.follow(NodeTensors({"a": np.zeros(10, np.float32)}))
    assert "a" in search.tensors
    search.follow(NodeTensors({"b": np.zeros(20, np.float32)}))
    assert search.tensors == {}
    search.follow(NodeTensors({"c": np.zeros(1, np.float32)}))
    assert search.tensors == {}


def test_a_node_that_is_not_judged_is_not_called_right(runtime: type[Runtime], monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = [node("Neg", "x", "n", "neg"), node("Shape", "n", "s", "shape"), node("Reshape", "n s", "y", "reshape")]
    plant(monkeypatch, "shape", "reshape", between=("s",))
    results, _ = bisect(one_input(nodes, ["batch", 4]))
    (found,) = results["shape..reshape"].diagnostics
    said = "shape, reshape: none of those judged is wrong alone, and wrong together: y FLOAT32 {3, 4}: "
    assert found.message.startswith(said)
    assert runtime.calls


def test_groups_run_on_the_implementation_that_optimizes_where_there_is_one(
    runtime: type[Runtime], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Optimizing(Runtime):
        factors = {"softmax": 2.0}  # noqa: RUF012 - as the class that it is made of has it

    monkeypatch.setattr(Runtime, "optimizing", lambda _: Optimizing(), raising=False)
    results, bisected = bisect(perceptron())
    assert bisected.runs > 0
    assert [len(names) for names in together(results)] == [2]
    assert runtime.calls


def test_what_alone_is_judged_wrong_too_is_not_wrong_by_running_together(
    runtime: type[Runtime], monkeypatch: pytest.MonkeyPatch
) -> None:
    def alone(self: ModelBisection, chain: Chain, each: NodeCase) -> None:
        take(self, chain, each)
        if each.case.name == "n2":  # as if the reference computed something else than what each node is judged by
            chain.held["y"] = Carried("FLOAT32", np.zeros(24))

    take = ModelBisection._take
    monkeypatch.setattr(ModelBisection, "_take", alone)
    plant(monkeypatch, "n0", "n2")
    results, bisected = bisect(chain_of(3))
    assert runtime.calls
    assert together(results) == []
    assert bisected.text.startswith("no nodes are wrong together; ")


def test_nodes_that_did_not_run_alone_do_not_run_together(
    runtime: type[Runtime], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if a division could end the process, and is not tried."""
    monkeypatch.setattr("dmlcheck.implementations.desc_models.deadly_division", lambda *_: "not tried")
    nodes = [node("Div", "x two", "d", "divide"), node("Add", "d d", "y", "add")]
    _, bisected = bisect(one_input(nodes, [4], [constant("two", [2], np.int64)], kind=INT64))
    assert bisected == Bisected("no nodes were run together: the tensors that they need are not there", 0)
    assert runtime.calls == []


def test_the_nodes_are_written_as_a_model_that_is_wrong_again(
    runtime: type[Runtime], monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch, "n4", "n5", between=("t4",))
    results, _ = bisect(chain_of(10), files="out")
    assert Path(results["n4..n5"].kept).as_posix() == "out/n4-n5/model.onnx"
    assert Path("out/n4-n5/test_data_set_0/input_0.pb").is_file()
    again, _ = bisect(onnx.load("out/n4-n5/model.onnx"), inputs="out/n4-n5/test_data_set_0", sizes={})
    assert together(again) == [("n4", "n5")]
    assert runtime.calls


def wrong_with(*nodes: int) -> Check:
    """Return a check by which a group is wrong that has some nodes."""
    return lambda group: set(nodes) <= set(group)


def wrong_in_a_row(first: int, last: int) -> Check:
    """Return a check by which a group is wrong that has all nodes from one to another."""
    return wrong_with(*range(first, last + 1))


def test_a_group_within_one_that_is_right_is_not_looked_at() -> None:
    checked: list[Group] = []

    def check(group: Group) -> bool | None:
        checked.append(group)
        return None if len(group) == 100 else False

    assert Smallest(100, check).found() is None
    assert checked == [tuple(range(100)), tuple(range(50)), tuple(range(25, 75)), tuple(range(50, 100))]


@pytest.mark.parametrize(
    ("check", "most"),
    [(wrong_with(50, 51), 20), (wrong_with(49, 50), 20), (wrong_in_a_row(40, 60), 80), (wrong_in_a_row(0, 99), 100)],
)
def test_the_checks_are_few(check: Check, most: int) -> None:
    search = Smallest(100, check)
    assert search.found() is not None
    assert search.checks <= most


@pytest.mark.parametrize("check", [lambda _: None, lambda group: len(group) % 3 == 0 or None, lambda g: len(g) > 60])
def test_the_checks_are_never_more_than_n_log_n(check: Callable[[Group], bool | None]) -> None:
    search = Smallest(100, check)
    search.found()
    assert search.checks <= 100 * math.ceil(math.log2(100)) + 16


def test_after_the_most_checks_the_smallest_group_so_far_stands() -> None:
    search = Smallest(100, wrong_with(49, 50))
    search.most = 4
    found = search.found()
    assert found is not None
    assert {49, 50} <= set(found)
    assert (len(found) > 2, search.checks) == (True, 4)
