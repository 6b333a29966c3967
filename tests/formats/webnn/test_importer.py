"""Files of WebNN's tests as case files: what is written, what is left out, and what is wrong, all with its place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from commandline import dmlcheck, json_of
from webnn_tests import cases, desc, graph, imported, operator, page, reason, tensor, write_page

from dmlcheck.formats.webnn import importer

ABS = graph({"x": tensor([-1, 2], 2)}, [operator("abs", "x")], {"output": tensor([1, 2], 2)}, "abs of two")
WRONG = graph({"x": tensor([-1, 2], 2)}, [operator("abs", "x")], {"output": tensor([1, 3], 2)}, "abs, expected wrongly")
TWO = graph(
    {"x": tensor([-1, 2], 2)},
    [operator("abs", "x", outputs="y"), operator("relu", "y")],
    {"output": tensor([1, 2], 2)},
    "two operators",
)
ELU = """
const getEluTolerance = () => {
  const toleranceValueDict = {float32: 18, float16: 18};
  return {metricType: 'ULP', value: toleranceValueDict[0]};
};
theTests.forEach((test) => { webnn_conformance_test(build, getEluTolerance, test); });
"""


def test_what_is_imported_is_run() -> None:
    imported(page(ABS, WRONG, end=ELU))
    result = dmlcheck("run", "cases", "--format", "concise")
    assert result.exit_code == 1
    assert "abs, expected wrongly: OutputTensor FLOAT32 {2}: 1 of 2 elements" in result.stdout
    assert "1 passed, 1 failed" in result.stdout


def test_what_is_left_out_is_named_with_the_reason() -> None:
    more = "for (const x of [1]) { theTests.push(made(x)); }"
    write_page(page(ABS, TWO).replace("\nif (nav", f"{more}\nif (nav"))
    result = dmlcheck("import", "webnn", "ops.https.any.js", "-o", "cases")
    assert result.exit_code == 0
    assert result.stdout == (
        "ops.https.any.js: left out: two operators: 2 operators are left after fusion, and a case has one: abs, relu\n"
        "ops.https.any.js: left out: the test of ops.https.any.js:7:38: `made(x)` is known only when the file is run "
        "(ops.https.any.js:7:38)\n"
        "ops.https.any.js: 1 case imported to ops.yaml\n"
    )
    manifest = json_of("cases/manifest.json")
    assert manifest["entries"] == [{"source": "ops.https.any.js", "file": "ops.yaml"}]
    assert [one["reason"].partition(":")[0] for one in manifest["left_out"]] == ["left out", "left out"]


def test_a_wrong_test_is_an_error_with_its_place_and_the_others_are_cases() -> None:
    write_page(page(ABS, graph({"x": tensor([1, 2], 3)}, [operator("abs", "x")], {"output": tensor(0)}, "short")))
    result = dmlcheck("import", "webnn", "ops.https.any.js", "-o", "cases")
    assert result.exit_code == 2
    first = result.stderr.splitlines()[0]
    assert first.startswith("ops.https.any.js:6:")
    assert first.endswith(": error[webnn-syntax]: short: x has 2 values, and its shape 3 elements")
    assert "1 case imported to ops.yaml" in result.output


@pytest.mark.parametrize(
    ("data", "first"),
    [
        (
            b"const x = (1;",
            "ops.https.any.js:1:13: error[webnn-syntax]: the file is not JavaScript: ')' is missing here",
        ),
        (
            b"const x = 1;\n\xff",
            "ops.https.any.js:2:1: error[webnn-syntax]: the byte 0xFF is not UTF-8; dmlcheck reads UTF-8",
        ),
    ],
)
def test_a_file_that_is_no_javascript_is_an_error_with_its_place(data: bytes, first: str) -> None:
    Path("ops.https.any.js").write_bytes(data)
    result = dmlcheck("import", "webnn", "ops.https.any.js", "-o", "cases")
    assert (result.exit_code, result.stderr.splitlines()[0]) == (2, first)
    assert not list(Path("cases").glob("*.yaml"))


def test_a_file_without_tests_makes_no_case() -> None:
    write_page("setup(async t => {});\n", "buffer.https.any.js")
    result = dmlcheck("import", "webnn", "buffer.https.any.js", "-o", "cases")
    assert result.exit_code == 5
    assert result.stdout == "buffer.https.any.js: left out: no test of webnn_conformance_test is written in it\n"


def test_tests_of_loops_and_functions_are_cases() -> None:
    """Two types, each once as it is and once with another sign: four cases, whose values were worked out by hand."""
    text = """
const tensor = (data, dataType) => ({data, descriptor: {shape: [data.length], dataType}});
const tests = [];
for (const dataType of ['float32', 'float16']) {
  [1, -1].forEach(sign => {
    const data = [1, 2].map(each => sign * each);
    tests.push({
      name: `abs ${dataType} ${sign > 0 ? 'above' : 'below'} 0`,
      graph: {
        inputs: {x: tensor(data, dataType)},
        operators: [{name: 'abs', arguments: [{input: 'x'}], outputs: 'y'}],
        expectedOutputs: {y: tensor([1, 2], dataType)}
      }
    });
  });
}
webnn_conformance_test(tests, buildAndExecuteGraph, getZeroULPTolerance);
"""
    found = cases(text)
    assert [(case.name, case.inputs) for case in found] == [
        ("abs float32 above 0", {"InputTensor": [1, 2]}),
        ("abs float32 below 0", {"InputTensor": [-1, -2]}),
        ("abs float16 above 0", {"InputTensor": [1, 2]}),
        ("abs float16 below 0", {"InputTensor": [-1, -2]}),
    ]
    assert {case.desc["InputTensor"]["DataType"] for case in found[2:]} == {"FLOAT16"}
    assert all(case.outputs == {"OutputTensor": [1, 2]} for case in found)


def test_a_test_whose_results_code_checks_is_left_out_by_name() -> None:
    text = "for (const n of [1, 2]) promise_test(async t => { f(n); }, `state ${n}`);\npromise_test(f, g());"
    reason = "a function of the file checks its results, and dmlcheck does not run it"
    assert imported(text).remarks == (
        f"left out: state 1: {reason}",
        f"left out: state 2: {reason}",
        f"left out: the test of ops.https.any.js:2:1: {reason}",
    )


def test_a_test_that_is_no_data_is_left_out_and_not_executed() -> None:
    text = page(ABS).replace("[-1, 2]", "require('fs').writeFileSync('made', '')", 1)
    one = imported(text)
    assert (one.cases, one.problems) == (0, ())
    (remark,) = one.remarks
    assert remark.startswith("left out: abs of two: `require('fs').writeFileSync('made', '')` is known only when")
    assert not Path("made").exists()


def test_a_file_has_no_more_elements_than_are_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importer, "_MOST_ELEMENTS", 5)
    one = imported(page(ABS, ABS))
    assert one.cases == 1
    assert one.remarks == (f"left out: abs of two: {importer._TOO_MANY}",)


def test_folders_are_searched_for_files_of_their_name() -> None:
    Path("webnn/conformance_tests").mkdir(parents=True)
    write_page(page(ABS), "webnn/conformance_tests/abs.https.any.js")
    write_page(page(ABS), "webnn/conformance_tests/utils.js")
    result = dmlcheck("import", "webnn", "webnn", "-o", "cases")
    assert result.stdout == "webnn/conformance_tests/abs.https.any.js: 1 case imported to abs.yaml\n"


@pytest.mark.parametrize("command", ["validate", "eval"])
def test_other_commands_name_the_one_that_takes_the_file(command: str) -> None:
    result = dmlcheck(command, write_page(page(ABS)))
    assert result.exit_code == 2
    said = f"ops.https.any.js is a WebNN conformance test, which `dmlcheck {command}` does not take: "
    assert f"{said}`dmlcheck import webnn` takes WebNN conformance tests" in result.stderr


# ---- what is one operator of DirectML


A, B = tensor([1, -2, 3, 4], 2, 2), tensor([1, 0, 0, 1], 2, 2)
INPUTS = {"a": A, "b": B}


def test_a_sum_with_an_activation_is_another_operator() -> None:
    called = [operator("add", "a", "b", outputs="c"), operator("relu", "c")]
    found = desc(INPUTS, called, tensor([2, 0, 3, 5], 2, 2))
    assert (found["operator"], found["FusedActivation"]["Type"]) == (
        "ELEMENT_WISE_ADD1",
        "DML_OPERATOR_ACTIVATION_RELU",
    )
    assert desc(INPUTS, operator("add", "a", "b"), tensor([2, -2, 3, 5], 2, 2))["operator"] == "ELEMENT_WISE_ADD"


OF_TWO = "notEqual becomes ELEMENT_WISE_LOGICAL_EQUALS and ELEMENT_WISE_LOGICAL_NOT, and a case has one operator"
LEFT = "2 operators are left after fusion, and a case has one: "


@pytest.mark.parametrize(
    ("called", "left_out"),
    [
        ([operator("sub", "a", "b", outputs="c"), operator("relu", "c")], f"{LEFT}sub, relu"),  # takes none
        ([operator("matmul", "a", "b", outputs="c"), operator("gelu", "c")], f"{LEFT}matmul, gelu"),  # is not fused
        (
            [operator("matmul", "a", "b", outputs="c"), operator("relu", "a")],
            f"{LEFT}matmul, relu",
        ),  # of another tensor
        ([operator("relu", "a", outputs="c"), operator("matmul", "c", "b")], f"{LEFT}relu, matmul"),
        (
            [operator("matmul", "a", "b", outputs="c"), operator("prelu", "c", "c")],
            f"{LEFT}matmul, prelu",
        ),
        ([operator("notEqual", "a", "b")], OF_TWO),
        ([operator("einsum", "a", "b")], "no operator of DirectML is known for einsum"),
        ([operator("abs", "a")] * 12, LEFT.replace("2", "12") + "abs, " * 9 + "abs ..."),
    ],
)
def test_several_operators_are_left_out(called: list[Any], left_out: str) -> None:
    assert reason(INPUTS, called, tensor([1, 0, 3, 4], 2, 2)) == left_out


def test_integers_have_no_activation() -> None:
    inputs = {"a": tensor([1, -2], 2, type="int32"), "b": tensor([0, 0], 2, type="int32")}
    called = [operator("add", "a", "b", outputs="c"), operator("relu", "c")]
    assert reason(inputs, called, tensor([1, 0], 2, type="int32")) == f"{LEFT}add, relu"


def test_transposes_are_read_by_a_product() -> None:
    """The transposes of [[1, -2], [3, 4]] and [[1, 5], [0, 1]] by each other, and through an activation."""
    inputs = {"a": A, "b": tensor([1, 5, 0, 1], 2, 2)}
    called = [
        operator("transpose", "a", outputs="p", permutation=[1, 0]),
        operator("transpose", "b", outputs="q", permutation=[1, 0]),
        operator("matmul", "p", "q"),
    ]
    found = desc(inputs, called, tensor([16, 3, 18, 4], 2, 2))
    assert (found["TransA"], found["TransB"]) == ("TRANSPOSE", "TRANSPOSE")
    called = [called[1], operator("matmul", "a", "q", outputs="c"), operator("relu", "c")]
    found = desc(inputs, called, tensor([0, 0, 23, 4], 2, 2))
    assert (found["TransA"], found["TransB"], "FusedActivation" in found) == ("NONE", "TRANSPOSE", True)


@pytest.mark.parametrize(
    "called",
    [
        [operator("transpose", "a", outputs="p", permutation=[0, 1]), operator("matmul", "p", "b")],
        [operator("transpose", "a", outputs="p"), operator("matmul", "p", "b")],  # in an order that is not written
        [operator("transpose", "a", outputs="p", permutation=[1, 0]), operator("matmul", "p", "p")],  # read twice
        [operator("transpose", "a", outputs="p", permutation=[1, 0]), operator("gemm", "p", "b")],
    ],
)
def test_other_transposes_are_operators(called: list[Any]) -> None:
    assert reason(INPUTS, called, A).startswith(f"{LEFT}transpose, ")


def test_an_output_without_expected_values_is_left_out() -> None:
    assert reason(INPUTS, operator("abs", "a", outputs="c"), A) == "no values are expected of c"
