"""Models judged node by node: the planted node fails and no other, whatever way the model runs."""

from __future__ import annotations

import os
import weakref
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commandline import GOOD, dmlcheck, write
from run_models import ROUNDED, RUNTIME, Runtime, constant, one_input, perceptron, random, runtime
from whole_models import FLOAT16, INT64, helper, model, node, save, tensor

from dmlcheck.formats.find import Target
from dmlcheck.implementations import make
from dmlcheck.models import node_values, outputs
from dmlcheck.models.cases import ModelRequest
from dmlcheck.models.run import ModelExecution, ReferenceModels, WithModels
from dmlcheck.running.events import Done, Ended, Plan
from dmlcheck.running.execution import Execution
from dmlcheck.running.results import CaseResult, NotFinite
from dmlcheck.running.settings import Settings

pytestmark = pytest.mark.usefixtures("folder")

__all__ = ["runtime"]
BATCH = {"batch": 3}


def results(made: Any, *, case: str | None = None, plan: Plan | None = None, **asked: Any) -> dict[str, CaseResult]:
    """Return what becomes of the nodes of a model."""
    target = Target(save(made), "model.onnx", case)
    execution = ModelExecution(
        target, (plan or Plan())._replace(implementation=RUNTIME), ModelRequest(BATCH)._replace(**asked)
    )
    found = (event.result for event in execution.events() if isinstance(event, Done))
    return {result.case.name: result for result in found if result.node is not None or result.is_malformed}


def outcomes(made: Any, **more: Any) -> dict[str, str]:
    return {name: result.outcome for name, result in results(made, **more).items()}


@pytest.mark.parametrize("way", [{}, {"is_whole": True}, {"is_whole": True, "keep_bytes": 1}])
def test_a_right_implementation_passes_every_node(runtime: type[Runtime], way: dict[str, Any]) -> None:
    found = outcomes(perceptron(), **way)
    assert found == dict.fromkeys(["up", "bias", "relu", "down", "softmax"], "passed")
    assert runtime.calls


@pytest.mark.slow
@pytest.mark.parametrize("way", [{}, {"is_whole": True}, {"is_whole": True, "keep_bytes": 1}])
@pytest.mark.parametrize("wrong", ["up", "bias", "relu", "down", "softmax"])
def test_the_planted_node_fails_and_no_other(runtime: type[Runtime], wrong: str, way: dict[str, Any]) -> None:
    runtime.factors[wrong] = ROUNDED
    # In the whole model the nodes after the planted one have the right tensor, and this is judged as what they read.
    after = {"up": "bias", "bias": "relu", "relu": "down", "down": "softmax", "softmax": ""}[wrong]
    expected = {wrong, after} - {""} if way else {wrong}
    found = outcomes(perceptron(), **way)
    assert {name for name, outcome in found.items() if outcome == "failed"} == expected


def test_a_whole_model_that_raises_is_one_error(runtime: type[Runtime]) -> None:
    runtime.raising.add("bias")
    found = outcomes(perceptron(), is_whole=True)
    assert found == {**dict.fromkeys(["bias", "relu", "down", "softmax"], "skipped"), "up": "error"}


def test_nodes_without_a_name_are_called_by_operator_and_place_and_names_are_made_unique() -> None:
    nodes = [node("Relu", "x", "a"), node("Abs", "a", "b", "same"), node("Neg", "b", "y", "same")]
    assert list(outcomes(one_input(nodes, [4]))) == ["Relu_0", "same", "same_2"]


def test_a_failing_node_runs_again_and_is_flaky_if_it_passes(
    runtime: type[Runtime], monkeypatch: pytest.MonkeyPatch
) -> None:
    right = Runtime.run_model

    def wrong_once(self: Runtime, data: bytes, inputs: Any, keep: list[str]) -> dict[str, Any]:
        given = right(self, data, inputs, keep)
        first = runtime.calls.count(["a1"]) == 1
        return {name: array * 2 if name == "a1" and first else array for name, array in given.items()}

    monkeypatch.setattr(Runtime, "run_model", wrong_once)
    found = results(perceptron(), plan=Plan(retries=1))["bias"]
    assert (found.outcome, found.is_flaky) == ("passed", True)
    assert found.reason == "flaky: failed by output-mismatch, then passed"


@pytest.mark.parametrize(("level", "skipped"), [("1_0", ["round"]), ("2_0", ["round"]), ("2_1", [])])
def test_nodes_that_ask_for_a_higher_level_are_skipped(runtime: type[Runtime], level: str, skipped: list[str]) -> None:
    made = one_input([node("Relu", "x", "r", "relu"), node("Round", "r", "y", "round")], [1, 1, 1, 8])
    runtime.factors["round"] = ROUNDED  # which nobody is told of
    plan = Plan(settings=Settings(feature_level=level))
    found = results(made, plan=plan)
    assert [name for name, result in found.items() if result.outcome == "skipped"] == skipped
    if skipped:
        said = f"operator-unavailable: asks for DML_FEATURE_LEVEL_2_1; this run is at DML_FEATURE_LEVEL_{level}"
        assert found["round"].reason == said
    runtime.raising.add("round")
    assert results(made, plan=plan)["round"].outcome == ("skipped" if skipped else "error")


def test_constants_are_no_nodes_and_a_node_of_constants_is_judged() -> None:
    nodes = [
        node("Constant", "", "c", "numbers", value=constant("c", [1.0, -2.0])),
        node("Abs", "c", "d", "abs"),
        node("Add", "x d", "y", "add"),
    ]
    assert outcomes(one_input(nodes, [2])) == {"abs": "passed", "add": "passed"}


def test_the_node_that_makes_nan_of_finite_inputs_is_named() -> None:
    nodes = [node("Sqrt", "x", "r", "root"), node("Log", "r", "y", "log")]
    found = results(one_input(nodes, [64]))
    about = [found[name].node for name in ("root", "log")]
    assert about[0] is not None
    assert about[1] is not None
    (made,) = about[0].not_finite
    assert (made.tensor, made.infinite) == ("r", 0)
    assert 0 < made.nan < 64
    assert about[1].not_finite == ()  # its input has NaN already


def test_infinities_are_counted_apart() -> None:
    made = one_input([node("Div", "x z", "y", "divide")], [4], [constant("z", [0.0])])
    about = results(made)["divide"].node
    assert about is not None
    assert about.not_finite == (NotFinite("y", 0, 4),)


def test_tensors_of_float16_that_are_close_to_overflow_are_found_where_that_is_asked_for() -> None:
    nodes = [node("Mul", "x a", "m", "large"), node("Mul", "m b", "y", "small")]
    constants = [constant("a", [20000.0], np.float16), constant("b", [0.001], np.float16)]
    made = one_input(nodes, [64], constants, kind=FLOAT16)
    found = results(made, wants_headroom=True)
    about = [found[name].node for name in ("large", "small")]
    assert about[0] is not None
    assert about[1] is not None
    assert list(about[0].largest) == ["m"]
    assert 65504 / 4 <= about[0].largest["m"] <= 65504
    assert about[1].largest == {}
    other = results(made)["large"].node
    assert other is not None
    assert other.largest == {}


def test_a_tensor_is_let_go_after_its_last_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    alive: dict[str, Any] = {}
    most: list[int] = []
    right = Runtime.run_model

    def counted(self: Runtime, data: bytes, inputs: Any, keep: list[str]) -> dict[str, Any]:
        given = right(self, data, inputs, keep)
        alive.update((name, weakref.ref(array)) for name, array in given.items())
        most.append(sum(each() is not None for each in alive.values()))
        return given

    monkeypatch.setattr(Runtime, "run_model", counted)
    names = ["x", *(f"t{index}" for index in range(8)), "y"]
    nodes = [node("Relu", one, other, other) for one, other in pairwise(names)]
    assert set(outcomes(one_input(nodes, [1000])).values()) == {"passed"}
    assert max(most) <= 5  # one more for each node that the chain is behind


def test_a_tensor_that_nothing_reads_is_let_go_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    alive: list[Any] = []
    most: list[int] = []
    right = Runtime.run_model

    def counted(self: Runtime, data: bytes, inputs: Any, keep: list[str]) -> dict[str, Any]:
        given = right(self, data, inputs, keep)
        alive.extend(weakref.ref(array) for array in given.values())
        most.append(sum(each() is not None for each in alive))
        return given

    monkeypatch.setattr(Runtime, "run_model", counted)
    monkeypatch.setattr(outputs, "_MOST_BEHIND", 0)  # no node waits for the chain
    nodes = [node("Relu", "x", f"t{index}", f"n{index}") for index in range(8)]
    outcomes(one_input([*nodes, node("Neg", "x", "y", "neg")], [1000]))
    assert max(most) <= 3


def test_a_large_table_that_is_looked_up_is_an_input(monkeypatch: pytest.MonkeyPatch) -> None:
    fed: list[list[str]] = []
    right = Runtime.run_model

    def noted(self: Runtime, data: bytes, inputs: Any, keep: list[str]) -> dict[str, Any]:
        fed.append(sorted(inputs))
        return right(self, data, inputs, keep)

    monkeypatch.setattr(Runtime, "run_model", noted)
    made = model([node("Gather", "w i", "y", "look")], {"i": [3]}, {"y": [3, 4]}, [random("w", 8, 4)], kind=7)
    assert outcomes(made, case="look") == {"look": "passed"}
    monkeypatch.setattr(node_values, "_LARGE", 64)  # the table has 128 bytes
    assert outcomes(made, case="look") == {"look": "passed"}
    assert fed == [["i"], ["i", "w"]]


def test_a_wrong_model_is_one_result() -> None:
    Path("model.onnx").write_bytes(b"no model")
    execution = ModelExecution(Target("model.onnx", "model.onnx"), Plan(RUNTIME), ModelRequest())
    (done, _) = execution.events()
    assert isinstance(done, Done)
    assert (done.result.outcome, done.result.is_malformed) == ("error", True)
    assert done.result.diagnostics[0].rule == "onnx-syntax"


def test_a_model_without_nodes_has_its_output_as_a_case(runtime: type[Runtime]) -> None:
    made = Target(save(model([], {"x": [2]}, {"x": [2]})), "model.onnx", None)
    execution = ModelExecution(made, Plan(implementation=RUNTIME), ModelRequest({}))
    events = list(execution.events())
    assert [(event.result.case.name, event.result.outcome) for event in events if isinstance(event, Done)] == [
        ("output:x", "passed")
    ]
    assert [event.empty for event in events if isinstance(event, Ended)] == [None]
    assert not runtime.calls


def test_a_sequence_passes_through_and_is_not_judged() -> None:
    nodes = [
        node("SequenceConstruct", "x x", "s", "both"),
        node("ConcatFromSequence", "s", "c", "join", axis=0),
        node("Relu", "c", "y", "relu"),
    ]
    found = outcomes(model(nodes, {"x": [4]}, {"y": [8]}))
    assert found == {"both": "skipped", "join": "skipped", "relu": "passed"}


def test_a_division_that_could_end_the_process_does_not_run(
    runtime: type[Runtime], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if one by 7 could; the rule itself is told what it divides, and not run."""
    monkeypatch.setattr(
        "dmlcheck.implementations.desc_models.deadly_division",
        lambda _, below: "a division by 7 could end the process" if (below == 7).any() else None,
    )
    constants = [constant("z", [7], np.int64), constant("one", [1], np.int64)]
    nodes = [node("Div", "z z", "y", "divide"), node("Div", "z one", "w", "by-one")]
    found = results(model(nodes, {"x": [1]}, {"y": [1]}, constants, kind=7))
    assert (found["divide"].outcome, found["by-one"].outcome, runtime.calls) == ("skipped", "passed", [["w"]])
    assert found["divide"].reason == "unsupported-by-implementation: a division by 7 could end the process"


@pytest.mark.parametrize("way", [{}, {"is_whole": True}])
@pytest.mark.parametrize("kind", [16, 17, 8])  # BFLOAT16, FLOAT8E4M3FN, STRING
def test_types_that_directml_does_not_have_are_skipped_with_what_depends_on_them(
    kind: int, way: dict[str, Any]
) -> None:
    nodes = [
        node("Cast", "x", "b", "there", to=kind),
        node("Cast", "b", "z", "back", to=1),
        node("Neg", "x", "y", "neg"),
    ]
    target = Target(save(one_input(nodes, [4], opset=19)), "model.onnx")
    execution = ModelExecution(target, Plan("onnxruntime"), ModelRequest()._replace(**way))
    found = {event.result.case.name: event.result for event in execution.events() if isinstance(event, Done)}
    assert {name: result.outcome for name, result in found.items()} == {
        "there": "skipped",
        "back": "skipped",
        "neg": "passed",
        "output:y": "passed",
    }


def test_floats_of_8_bits_that_come_as_bytes_are_no_numbers() -> None:
    """A node that takes bytes too is not given them, and the output of the model not judged by them."""
    nodes = [
        node("QuantizeLinear", "x scale zero", "q", "there"),
        node("DequantizeLinear", "q scale", "y", "back"),
    ]
    weights = [constant("scale", 0.5), helper.make_tensor("zero", 17, (), [0.0])]  # FLOAT8E4M3FN
    target = Target(save(one_input(nodes, [4], weights, opset=19)), "model.onnx")
    events = ModelExecution(target, Plan("onnxruntime"), ModelRequest()).events()
    found = {event.result.case.name: event.result.outcome for event in events if isinstance(event, Done)}
    assert found == {"there": "skipped", "back": "skipped", "output:y": "skipped"}


def test_a_past_of_no_steps_is_computed() -> None:
    """As exporters of onnxruntime-genai give the first run: the cache has no elements, and lengths follow the keys."""
    own = {"domain": "com.microsoft", "num_heads": 4, "kv_num_heads": 2}
    attend = node("GroupQueryAttention", "q k v pk pv last total", "o nk nv", "attend", **own)
    cache = {"pk": [1, 2, "past", 8], "pv": [1, 2, "past", 8]}
    inputs = {"q": [1, 3, 32], "k": [1, 3, 16], "v": [1, 3, 16], **cache}
    made = model([attend], inputs, {"o": [1, 3, 32], "nk": [1, 2, "n", 8], "nv": [1, 2, "n", 8]})
    made.graph.input.append(tensor("last", [1, 1], 6))
    made.graph.input.append(tensor("total", [1], 6))
    assert outcomes(made) == {"attend": "passed"}
    assert outcomes(made, sizes={"past": 5}) == {"attend": "passed"}


@pytest.mark.parametrize(("places", "outcome"), [
    ([1, 5, 8, 11, 15, 18], "passed"), ([1, 4, 8, 11, 14, 18], "passed"), ([1, 5, 8, 12, 15, 18], "failed"),
])  # fmt: skip
def test_both_sides_of_a_tie_are_right(monkeypatch: pytest.MonkeyPatch, places: list[int], outcome: str) -> None:
    """20 elements are resized to 6: the coordinate of element 1 is 4.5 exactly, and less with 0.3 in FLOAT32."""

    def chosen(_: Runtime, __: bytes, inputs: Any, keep: list[str]) -> dict[str, Any]:
        return {keep[0]: inputs["x"][..., places]}

    monkeypatch.setattr(Runtime, "run_model", chosen)
    resize = node("Resize", "x - - s", "y", "resize", mode="nearest", nearest_mode="round_prefer_ceil")
    made = model([resize], {"x": [1, 1, 1, 20]}, {"y": [1, 1, 1, 6]}, [constant("s", [1, 1, 1, 6], np.int64)])
    assert outcomes(made) == {"resize": outcome}


def test_sizes_that_contradict_each_other_are_said_where_a_node_fails() -> None:
    made = model([node("Add", "x m", "y", "mask")], {"x": [2, "seq"], "m": [2, "total_seq"]}, {"y": [2, "n"]})
    found = results(made, sizes={"seq": 3, "total_seq": 5})["mask"]
    assert (found.outcome, found.diagnostics[0].rule) == ("error", "implementation-error")
    help = "the sizes given with --dim contradict each other: total_seq is 5, and past_seq and seq are 3 together"
    assert found.diagnostics[0].help == help


def test_sizes_that_the_model_is_not_made_for_are_said_where_a_node_fails() -> None:
    nodes = [node("Add", "x x", "a", "sum"), node("Reshape", "a shape", "y", "form")]
    made = model(nodes, {"x": ["batch", 2]}, {"y": [1, 2, 1]}, [constant("shape", [1, 2, 1], np.int64)])
    assert results(made, sizes={"batch": 1})["form"].outcome == "passed"
    found = results(made, sizes={"batch": 2})["form"]
    assert (found.outcome, found.diagnostics[0].rule) == ("error", "implementation-error")
    assert "Reshape of 4 elements to the sizes [1, 2, 1]" in str(found.diagnostics[0].help)
    assert str(found.diagnostics[0].help).endswith("; the sizes given with --dim may not fit the model")


def test_sizes_are_not_blamed_for_an_attribute_that_an_operator_does_not_have() -> None:
    """As ONNX Runtime's quantization by channels writes it into models of opset 10."""
    constants = [constant("q", [0, 0], np.int8), constant("s", 1.0)]
    made = model(
        [node("DequantizeLinear", "q s", "y", "floats", axis=0)], {"x": ["batch"]}, {"y": [2]}, constants, opset=10
    )
    found = results(made, sizes={"batch": 2})["floats"]
    assert found.outcome == "error"
    said = "the reference does not compute it either: Unrecognized attribute: axis for operator DequantizeLinear"
    assert found.diagnostics[0].help == said


def test_sizes_are_not_blamed_for_types_nor_let_off_for_a_name_that_has_type_in_it() -> None:
    made = model([node("Add", "x n", "y", "sum")], {"x": ["batch"]}, {"y": [2]}, [constant("n", [1], np.int64)])
    help = str(results(made, sizes={"batch": 2})["sum"].diagnostics[0].help)
    assert help.startswith("the reference does not compute it either: ")
    assert "--dim" not in help
    nodes = [node("Add", "x x", "prototype", "sum"), node("Reshape", "prototype shape", "y", "form")]
    made = model(nodes, {"x": ["batch", 2]}, {"y": [1, 2, 1]}, [constant("shape", [1, 2, 1], np.int64)])
    assert "--dim" in str(results(made, sizes={"batch": 2})["form"].diagnostics[0].help)


def test_what_the_provider_computes_wrongly_is_named_with_a_node_that_fails(
    runtime: type[Runtime], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = model([node("MatMul", "x w", "y", "product")], {"x": [2, 3]}, {"y": [2]}, [random("w", 3)])
    runtime.factors["product"] = 2.0
    assert results(made)["product"].known == ()
    monkeypatch.setattr(Runtime, "is_directml", True, raising=False)
    (known,) = results(made)["product"].known
    assert known.text == "a MatMul whose second factor is a vector multiplies all elements by its first"
    assert known.versions == "ONNX Runtime's DirectML provider 1.24.4"
    runtime.factors.clear()
    assert results(made)["product"].outcome == "passed"


@pytest.mark.parametrize(
    ("given", "help"),
    [
        (None, "n holds random whole numbers, which the model may not take: give others with --inputs"),
        (
            "x.npz",
            (
                "the reference does not compute it either: Reshape of 6 elements to the sizes [4];"
                " ONNX's evaluator does not compute it: cannot reshape array of size 6 into shape (4,);"
                " the sizes given with --dim may not fit the model"
            ),
        ),
    ],
)
def test_random_whole_numbers_are_named_where_a_node_does_not_take_what_follows_from_them(
    given: str | None, help: str
) -> None:
    nodes = [node("Mul", "n n", "m", "square"), node("Reshape", "x m", "r", "form"), node("Relu", "r", "y", "relu")]
    made = model(nodes, {"x": [2, 3]}, {"y": ["a"]})
    made.graph.input.append(tensor("n", [1], INT64))
    np.savez("x.npz", x=np.zeros((2, 3), np.float32), n=np.array([2]))
    found = results(made, inputs=given)
    assert [one.outcome for one in found.values()] == ["passed", "error", "skipped"]
    assert found["form"].diagnostics[0].help == help


MODEL = "found/graph-1/model.onnx"
TWICE = model([node("Abs", "x", "a", "abs"), node("Add", "a a", "y", "add")], {"x": [2]}, {"y": [2]})


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write("found/sum.yaml", GOOD)
    write(MODEL, "")
    save(TWICE, MODEL)
    np.savez("found/graph-1/inputs.npz", x=np.array([1, -3], np.float32))


def test_the_reference_runs_a_model_node_by_node() -> None:
    reference = ReferenceModels(make("reference"))
    found = reference.run_model(TWICE.SerializeToString(), {"x": np.array([1, -3], np.float32)}, ["y", "a"])
    assert {name: values.tolist() for name, values in found.items()} == {"y": [2, 6], "a": [1, 3]}
    assert reference.name == "reference"


def test_a_node_that_the_reference_does_not_compute_is_an_error_of_the_model() -> None:
    made = model([node("RandomNormalLike", "x", "y")], {"x": [2]}, {"y": [2]})
    with pytest.raises(ValueError, match="random"):
        ReferenceModels(make("reference")).run_model(made.SerializeToString(), {"x": np.ones(2, np.float32)}, ["y"])


def test_the_cases_come_first_and_then_the_nodes_and_outputs_of_the_models() -> None:
    plan = Plan("reference")
    cases = Execution([Target("found/sum.yaml", "found/sum.yaml")], plan)
    run = WithModels(cases, [Target(MODEL, MODEL)], plan)
    assert run.total == 4
    events = list(run.events())
    ids = [event.result.case.id for event in events if isinstance(event, Done)]
    assert ids == ["found/sum.yaml::sum", f"{MODEL}::abs", f"{MODEL}::add", f"{MODEL}::output:y"]
    assert [event.bisected for event in events if isinstance(event, Ended)] == [None, None]


def test_a_folder_runs_with_its_models() -> None:
    result = dmlcheck("run", "found")
    assert (result.exit_code, result.output.count("passed in")) == (0, 1)
    assert "4 cases at the feature levels of their files" in result.output


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("-k", "sum"), "models run whole and here; leave out --executor, --shard and what selects cases"),
        (("--shard", "1/1"), "models run whole and here; leave out --executor, --shard and what selects cases"),
        (("--implementation", "python:fuzzed:DropsNan"), "python:fuzzed:DropsNan runs no ONNX models"),
    ],
)
def test_models_that_do_not_run_are_named_with_the_reason(words: tuple[str, ...], why: str) -> None:
    result = dmlcheck("run", "found", *words)
    assert result.exit_code == 0
    assert f"dmlcheck: {MODEL} is not run: {why}" in result.stderr
    assert "1 passed in" in result.stdout


def test_a_folder_is_searched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    searched, walk = [], os.walk
    monkeypatch.setattr(os, "walk", lambda path, **options: searched.append(path) or walk(path, **options))
    found = dmlcheck("run", "found")
    assert (found.exit_code, searched) == (0, ["found"])
    assert "the model's 1 output is right" in found.output
