"""`dmlcheck run MODEL.onnx`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import run_models
from commandline import GOOD, dmlcheck, json_of, write
from run_models import ROUNDED, RUNTIME, Runtime, constant, one_input, onnx, ort, perceptron, plant, runtime
from whole_models import node, save

from dmlcheck.reports.reading import case_result
from dmlcheck.running.events import digest, digest_of

__all__ = ["runtime"]
WORDS = ("model.onnx", "--implementation", RUNTIME, "--timeout", "0")  # in this process, as `runtime` is changed here
AGAIN = f"dmlcheck run --implementation {RUNTIME} --timeout 0 --dim batch=3"


@pytest.fixture(autouse=True)
def _model() -> None:
    save(perceptron())


run = partial(dmlcheck, "run", *WORDS, "--dim", "batch=3")


def report() -> dict[str, Any]:
    return json_of("r.json")  # type: ignore[no-any-return]


def test_a_right_model_passes() -> None:
    result = run()
    assert result.exit_code == 0
    assert "6 cases of a model, each judged by ONNX's meaning; tolerances assume sums in FLOAT32\n" in result.output
    end = "5 nodes: 5 judged, 0 not judged\nthe model's 1 output is right, computed end to end\n6 passed in "
    assert end in result.output


def test_the_table_is_by_operator_with_the_worst_share(runtime: type[Runtime]) -> None:
    runtime.factors["down"] = ROUNDED
    lines = run().output.splitlines()
    head = next(line for line in lines if line.startswith("operator"))
    assert head.split()[1:] == ["passed", "failed", "error", "skipped", "worst", "share", "worst", "ULP", "seconds"]
    (row,) = (line.split() for line in lines if line.startswith("MatMul-13"))
    assert row[1:5] == ["1", "1", "0", "0"]


def test_a_failure_is_told_and_named_as_the_first(runtime: type[Runtime]) -> None:
    runtime.factors.update(bias=ROUNDED, down=ROUNDED)
    result = run()
    assert result.exit_code == 1
    assert "FAILED model.onnx::bias   output-mismatch\n" in result.output
    node = "  node: bias (Add-14) -> ELEMENT_WISE_ADD, valid from DML_FEATURE_LEVEL_3_0 (DirectML 1.4.0)"
    assert f"{node}; judged by ONNX's meaning\n" in result.output
    assert (
        f"  again: dmlcheck run --implementation {RUNTIME} --timeout 0 --dim batch=3 model.onnx::bias\n"
        in result.output
    )
    assert "the first node that fails: model.onnx::bias (Add-14)\n" in result.output


def test_json_has_the_node_and_its_operators(runtime: type[Runtime]) -> None:
    runtime.factors["softmax"] = ROUNDED
    run("--json", "r.json")
    cases = {case["name"]: case for case in report()["cases"]}
    case = cases["softmax"]
    assert (case["id"], case["node"], case["onnx_operator"]) == ("model.onnx::softmax", "softmax", "Softmax-13")
    assert (case["dml_operators"], case["judged_by"]) == (["DML_OPERATOR_ACTIVATION_SOFTMAX1"], "onnx")
    assert (case["outcome"], case["level"]) == ("failed", "5_1")
    assert {name: case["outcome"] for name, case in cases.items() if name != "softmax"} == {
        **dict.fromkeys(["up", "bias", "relu", "down"], "passed"),
        "output:y": "failed",
    }
    output = cases["output:y"]["output"]
    assert (output["name"], output["shares"][0]["node"], output["error"] > output["tolerance"]) == (
        "y",
        "softmax",
        True,
    )


def test_all_reports_are_written(runtime: type[Runtime]) -> None:
    runtime.factors["softmax"] = ROUNDED
    runtime.raising.add("nothing")
    result = run("--junitxml", "r.xml", "--html", "r.html", "--sarif", "r.sarif", "--format", "github")
    assert result.exit_code == 1
    for file in ("r.xml", "r.html", "r.sarif"):
        assert "softmax" in Path(file).read_text(encoding="utf-8")
    assert "softmax (Softmax-13) -&gt; ACTIVATION_SOFTMAX1" in Path("r.html").read_text(encoding="utf-8")
    assert "::error file=model.onnx" in result.output


def test_a_node_is_selected_by_its_id_or_an_expression() -> None:
    assert "1 passed in" in dmlcheck("run", "model.onnx::relu", *WORDS[1:], "--dim", "batch=3").output
    assert "2 passed in" in run("-k", "up or bias").output
    assert run("-k", "none").exit_code == 5
    result = dmlcheck("run", "model.onnx::bais", *WORDS[1:], "--dim", "batch=3")
    assert result.exit_code == 5
    assert "dmlcheck: model.onnx has no case bais; did you mean bias?\n" in result.output


def test_a_node_without_a_name_is_offered_for_the_output_that_validate_names_it_by() -> None:
    model = perceptron()
    model.graph.node[1].ClearField("name")
    save(model)
    output = model.graph.node[1].output[0]
    case_id = f"{model.graph.node[1].op_type}_1"
    result = dmlcheck("run", f"model.onnx::{output}", *WORDS[1:], "--dim", "batch=3")
    assert f"dmlcheck: model.onnx has no case {output}; did you mean {case_id}?\n" in result.output


def test_what_failed_before_runs_again(runtime: type[Runtime]) -> None:
    runtime.factors["down"] = ROUNDED
    run("--json", "r.json")
    result = run("--failed", "r.json")
    assert "2 failed in" in result.output  # the node, and the output that follows from it


def test_the_ids_of_the_nodes_are_listed(runtime: type[Runtime]) -> None:
    result = dmlcheck("run", *WORDS, "--list", "-k", "bias or up")  # without sizes: nothing runs
    assert (result.exit_code, result.output) == (0, "model.onnx::up\nmodel.onnx::bias\n")
    assert runtime.calls == []
    assert run("--list", "-k", "none").exit_code == 5
    Path("model.onnx").write_bytes(b"no model")
    assert run("--list").exit_code == 2


def test_a_run_ends_after_its_first_failure(runtime: type[Runtime]) -> None:
    runtime.factors.update(bias=ROUNDED, down=ROUNDED)
    assert "1 passed, 1 failed, 4 not run in" in run("-x").output


def test_an_interrupted_run_writes_the_report_so_far(runtime: type[Runtime], monkeypatch: pytest.MonkeyPatch) -> None:
    right = Runtime.run_model

    def interrupted(self: Runtime, data: bytes, inputs: Any, keep: list[str]) -> dict[str, Any]:
        if keep == ["r1"]:
            raise KeyboardInterrupt
        return right(self, data, inputs, keep)

    runtime.factors["bias"] = ROUNDED
    monkeypatch.setattr(Runtime, "run_model", interrupted)
    result = run("--json", "r.json", "-o", "out")
    assert result.exit_code == 130
    assert [case["outcome"] for case in report()["cases"]] == ["passed", "failed"]
    assert report()["interrupted"]
    assert Path("out/manifest.json").is_file()


def test_nodes_that_are_wrong_together_are_a_case(runtime: type[Runtime], monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch, "down", "softmax", between=("m2",))
    result = run("--bisect", "--json", "r.json", "-o", "out", "--junitxml", "r.xml", "--html", "r.html")
    assert runtime.calls
    assert result.exit_code == 1
    assert "FAILED model.onnx::down..softmax   output-mismatch\n" in result.output
    assert "  nodes: down (MatMul-13), softmax (Softmax-13) -> GEMM + ACTIVATION_SOFTMAX1\n" in result.output
    assert "  kept: out/down-softmax/model.onnx\n" in result.output.replace("\\", "/")
    assert (
        f"  again: dmlcheck run --implementation {RUNTIME} --timeout 0 --dim batch=3 --bisect model.onnx\n"
        in result.output
    )
    assert "2 nodes right alone and wrong together: model.onnx::down..softmax, found in " in result.output
    assert "7 cases of a model, " in result.output
    assert "6 passed, 1 failed in" in result.output
    assert report()["digest"] == digest_of([digest(case["id"] for case in report()["cases"])])
    case = report()["cases"][-1]
    assert (case["id"], case["nodes"]) == ("model.onnx::down..softmax", ["down", "softmax"])
    assert case["onnx_operators"] == ["MatMul-13", "Softmax-13"]
    assert case["dml_operators"] == ["DML_OPERATOR_GEMM", "DML_OPERATOR_ACTIVATION_SOFTMAX1"]
    assert (case["outcome"], case["command"].endswith("--bisect model.onnx")) == ("failed", True)
    assert 0 < report()["bisect"]["runs"] <= 10
    read = case_result(case).together
    assert read is not None
    assert (read.names, read.operators) == (("down", "softmax"), ("MatMul-13", "Softmax-13"))
    assert dmlcheck("compare", "r.json", "r.json").exit_code == 0
    for file in ("r.xml", "r.html"):
        assert "down..softmax" in Path(file).read_text(encoding="utf-8")


def test_a_model_that_is_wrong_only_as_a_whole_fails_by_default(
    runtime: type[Runtime], monkeypatch: pytest.MonkeyPatch
) -> None:
    """onnxruntime#32146: each node is right alone, and the device computes some together."""
    plant(monkeypatch, "down", "softmax", between=("m2",))
    result = run("--json", "r.json")
    assert result.exit_code == 1
    assert "6 passed, 1 failed in" in result.output
    assert "FAILED model.onnx::together   output-mismatch\n" in result.output
    assert (
        " when the whole model runs: it is right when each node runs alone\n    help: run with --bisect"
        in result.output
    )
    assert f"  again: {AGAIN} model.onnx::together\n" in result.output
    assert report()["digest"] == digest_of([digest(case["id"] for case in report()["cases"])])
    case = report()["cases"][-1]
    assert (case["id"], case["outcome"], case["outputs"]["y"]["mismatches"] > 0) == (
        "model.onnx::together",
        "failed",
        True,
    )
    again = dmlcheck("run", "model.onnx::together", *WORDS[1:], "--dim", "batch=3")
    assert "1 failed in" in again.output
    write("known.yaml", "- {cases: 'model.onnx::together', expect: failed, reason: it is known}\n")
    assert "6 passed, 1 xfailed in" in run("--expectations", "known.yaml").output
    assert "1 passed in" in run("-k", "up").output
    assert runtime.calls


def test_a_model_that_is_right_as_a_whole_is_a_case_where_it_is_asked_for(runtime: type[Runtime]) -> None:
    assert "6 passed in" in run().output
    assert runtime.calls[-1] == ["y"]
    result = dmlcheck("run", "model.onnx::together", *WORDS[1:], "--dim", "batch=3")
    assert (result.exit_code, "1 passed in" in result.output) == (0, True)


@pytest.mark.parametrize(
    "words", [["--shard", "1/1"], ["-k", "not together"], ["--whole"], ["--bisect"]], ids=lambda words: words[0]
)
def test_an_expectation_of_the_whole_model_is_not_asked_for_where_it_does_not_run(
    runtime: type[Runtime], words: list[str]
) -> None:
    write("known.yaml", "- {cases: 'model.onnx::together', expect: failed, reason: it is known}\n")
    result = run("--expectations", "known.yaml", *words)
    assert (result.exit_code, "6 passed in" in result.output) == (0, True), result.output
    assert runtime.calls


def test_an_expectation_of_the_whole_model_is_not_asked_for_where_a_node_fails_to_run(runtime: type[Runtime]) -> None:
    runtime.raising.add("bias")
    write("known.yaml", "- {cases: 'model.onnx::together', expect: failed, reason: it is known}\n")
    assert run("--expectations", "known.yaml").exit_code == 1


def test_a_stale_expectation_of_the_whole_model_is_an_error(runtime: type[Runtime]) -> None:
    write("known.yaml", "- {cases: 'model.onnx::together', expect: failed, reason: it is known}\n")
    result = run("--expectations", "known.yaml")
    assert (result.exit_code, "error[unmatched-expectation]" in result.output) == (2, True)
    assert runtime.calls


def test_where_no_nodes_are_wrong_together_a_line_says_so(runtime: type[Runtime]) -> None:
    result = run("--bisect", "--json", "r.json")
    text = "outputs are right also when only they are kept; 1 run of nodes together"
    assert (result.exit_code, f"\n{text}\n6 passed in" in result.output) == (0, True)
    assert report()["bisect"] == {"text": text, "runs": 1}
    assert runtime.calls[-1] == ["y"]


def test_an_interrupted_search_writes_the_report_so_far(
    runtime: type[Runtime], monkeypatch: pytest.MonkeyPatch
) -> None:
    right = Runtime.run_model

    def interrupted(self: Runtime, data: bytes, inputs: Any, keep: list[str]) -> dict[str, Any]:
        if len(onnx.load_from_string(data).graph.node) > 1:
            raise KeyboardInterrupt
        return right(self, data, inputs, keep)

    monkeypatch.setattr(Runtime, "run_model", interrupted)
    result = run("--bisect", "--json", "r.json")
    assert (result.exit_code, len(report()["cases"]), report()["interrupted"]) == (130, 6, True)
    assert "while model.onnx::up..softmax, run 1 of nodes together was running" in result.output
    assert runtime.calls


def test_expectations_are_for_nodes_that_are_wrong_together(
    runtime: type[Runtime], monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch, "up", "bias", between=("m1",))
    write("known.yaml", "- {cases: 'model.onnx::up..bias', expect: failed, reason: it is known}\n")
    assert "6 passed, 1 xfailed in" in run("--bisect", "--expectations", "known.yaml").output
    assert runtime.calls


@pytest.mark.slow
def test_onnxruntime_runs_nodes_together_optimized() -> None:
    result = dmlcheck("run", "model.onnx", "--implementation", "onnxruntime", "--dim", "batch=3", "--bisect")
    assert result.exit_code == 0
    assert "outputs are right also when only they are kept; 1 run of nodes together\n" in result.output


def test_expectations_are_for_nodes_too(runtime: type[Runtime]) -> None:
    runtime.factors["down"] = ROUNDED
    entries = [
        f"- {{cases: 'model.onnx::{name}', expect: failed, reason: it is known}}\n" for name in ("down", "output:*")
    ]
    write("known.yaml", "".join(entries))
    result = run("--expectations", "known.yaml")
    assert (result.exit_code, "4 passed, 2 xfailed in" in result.output) == (0, True)
    runtime.factors.clear()
    assert run("--expectations", "known.yaml").exit_code == 1


def test_the_whole_model_runs_at_once_where_that_is_asked_for(runtime: type[Runtime]) -> None:
    result = run("--whole", "--keep-memory", "1MiB")
    assert (result.exit_code, len(runtime.calls)) == (0, 2)  # once for the shapes
    assert "m1" in runtime.calls[1]


@pytest.mark.slow
def test_onnxruntime_itself_is_judged() -> None:
    for more in ((), ("--whole",), ("--optimized",)):
        result = dmlcheck("run", "model.onnx", "--implementation", "onnxruntime", "--dim", "batch=3", *more)
        assert (result.exit_code, "failed" in result.output.splitlines()[-1]) == (0, False)
    assert "FusedGemm" in result.output or "Gemm" in result.output


def test_recorded_tensors_are_judged(runtime: type[Runtime]) -> None:
    made = onnx.load("model.onnx")
    names = ["m1", "a1", "r1", "m2", "y"]
    del made.graph.output[:]
    made.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
    session = ort.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    x = np.random.default_rng(5).standard_normal((2, 16)).astype(np.float32)
    kept = dict(zip(names, session.run(names, {"x": x}), strict=True))
    np.savez("run.npz", x=x, **kept)
    words = ("run", "model.onnx", "--implementation", "recorded:run.npz")
    assert "6 passed in" in dmlcheck(*words).output
    kept["r1"] = kept["r1"] * np.float32(ROUNDED)
    np.savez("run.npz", x=x, **{name: array for name, array in kept.items() if name != "y"})
    result = dmlcheck(*words)
    assert "FAILED model.onnx::relu " in result.output
    assert "skipped 1: missing-tensor: y is not in the recorded file\n" in result.output
    assert "skipped 1: missing-tensor: the implementation gave nothing for it\n" in result.output
    assert runtime.calls == []


def shifted() -> Any:
    """Return a model of |x| + 2: a loop of two turns adds 1 each, and zeros of its sizes are added."""
    body = onnx.helper.make_graph(
        [node("Add", "held one", "more"), node("Identity", "go", "goes")],
        "turn",
        [onnx.ValueInfoProto(name=name) for name in ("i", "go", "held")],
        [onnx.ValueInfoProto(name=name) for name in ("goes", "more")],
    )
    nodes = [
        node("Abs", "x", "a"),
        node("Loop", "turns - a", "l", body=body),
        node("Shape", "l", "s"),
        node("ConstantOfShape", "s", "z"),
        node("Add", "l z", "y"),
    ]
    turns = onnx.numpy_helper.from_array(np.array(2), "turns")
    return one_input(nodes, [2], [constant("one", [1.0]), turns])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("y", "code", "said"),
    [
        ([4.0, 5.0], 0, "1 passed, 5 skipped"),
        ([3.0, 4.0], 1, "FAILED shifted.onnx::output:y "),
        ([[4.0, 5.0]], 1, "y is float32 {1, 2} instead of float32 {2}"),
    ],
)
def test_recorded_outputs_are_judged_without_the_tensors_before_them(y: list[Any], code: int, said: str) -> None:
    save(shifted(), "shifted.onnx")
    np.savez("run.npz", x=np.array([-2, 3], np.float32), y=np.array(y, np.float32))  # |x| + 2
    result = dmlcheck("run", "shifted.onnx", "--implementation", "recorded:run.npz")
    assert (result.exit_code, said in result.output) == (code, True), result.output
    assert "missing-tensor: a is not in the recorded file\n" in result.output
    assert "--bisect" not in result.output  # which runs nothing here


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("model.onnx",), "reference runs no ONNX models; judge a model with --implementation onnxruntime[:PROVIDER]"),
        ((*WORDS, "--dim", "bathc=3"), "--dim bathc: no size has that name; did you mean batch?"),
        ((*WORDS, "--dim", "batch=x"), "'batch=x' is not NAME=SIZE"),
        ((*WORDS, "--keep-memory", "lots"), "'lots' is not an amount of memory; write 512MiB or 2GiB"),
        ((*WORDS, "--dim", "batch=1", "--optimized"), "--optimized is for --implementation onnxruntime"),
        (("model.onnx", "--implementation", "recorded:in.npz", "--whole"), "--whole: nothing is run"),
        ((*WORDS, "--type", "FLOAT16"), "--type and --tag are for cases"),
        ((*WORDS, "good.yaml"), "a model is run by itself: name one, and nothing else"),
        (("model.onnx", "--implementation", "recorded:in.npz", "--bisect"), "--bisect: nothing is run"),
        ((*WORDS, "--bisect", "-k", "up"), "--bisect is for all nodes of a model: leave out -k, --failed, --shard and"),
        ((*WORDS, "--bisect", "--shard", "1/2"), "--bisect is for all nodes of a model"),
        (("model.onnx::up", *WORDS[1:], "--bisect"), "--bisect is for all nodes of a model"),
        (("good.yaml", "--bisect"), "--bisect: only for an ONNX model, and no path is one"),
        (("good.yaml", "--whole", "--dim", "a=1"), "--dim, --whole: only for an ONNX model, and no path is one"),
        (WORDS, "the model's inputs have sizes without a number: batch"),
        ((*WORDS, "--inputs", "none.npz"), "none.npz"),
        (("none.onnx", *WORDS[1:]), "none.onnx"),
    ],
)
def test_a_wrong_command_line_is_said(words: tuple[str, ...], said: str) -> None:
    write("good.yaml", GOOD)
    np.savez("in.npz", x=np.zeros(1))
    result = dmlcheck("run", *words)
    assert result.exit_code == 2
    assert said in " ".join(result.output.split())


def test_shards_are_merged_to_the_whole_run(runtime: type[Runtime]) -> None:
    runtime.factors["down"] = ROUNDED
    for index in ("1", "2"):
        run("--shard", f"{index}/2", "--json", f"{index}.json")
    result = dmlcheck("merge", "1.json", "2.json", "--json", "r.json")
    assert result.exit_code == 1
    assert "the first node that fails: model.onnx::down (MatMul-13)\n" in result.output
    names = ["up", "bias", "relu", "down", "softmax", "output:y"]
    assert [case["name"] for case in report()["cases"]] == names


def test_headroom_is_listed_where_it_is_asked_for() -> None:
    from whole_models import FLOAT16, model, node

    save(model([node("Mul", "x x", "y", "square")], {"x": [64]}, {"y": [64]}, kind=FLOAT16))
    np.savez("in.npz", x=np.full(64, 200, np.float16))
    result = dmlcheck("run", *WORDS, "--inputs", "in.npz", "--headroom")
    assert "1 FLOAT16 tensor close to overflow, which is at 65,504:\n  40000 in y of square (Mul-14)\n" in result.output


def test_a_model_is_known_by_its_first_bytes_whatever_its_name() -> None:
    Path("model.onnx").rename("network")
    result = dmlcheck("run", "network", *WORDS[1:], "--dim", "batch=3")
    assert (result.exit_code, "6 passed in" in result.output) == (0, True)


def test_a_file_of_another_format_says_what_takes_it() -> None:
    write("graph.bin", "")
    result = dmlcheck("run", "graph.bin", *WORDS[1:])
    assert result.exit_code == 2
    said = "`dmlcheck validate`, `dmlcheck eval` and `dmlcheck import graph` take DirectML graphs"
    assert said in result.output


CRASHES = """
import os
import run_models

class Crashing(run_models.Runtime):
    def run_model(self, data, inputs, keep):
        if b"relu" in data:
            os._exit(9)
        return super().run_model(data, inputs, keep)
"""


@pytest.mark.slow
def test_a_node_that_ends_its_process_is_an_error_and_the_run_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("crashing.py").write_text(CRASHES, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(Path(run_models.__file__).parent))
    result = dmlcheck("run", WORDS[0], "--implementation", "python:crashing:Crashing", "--dim", "batch=3")
    assert result.exit_code == 1
    assert "ERROR model.onnx::relu   " in result.output
    assert "ended the process with exit code 9" in result.output
    assert " 2 passed, 1 error, 3 skipped in " in f" {result.output.splitlines()[-1]}"
