"""Files of WebNN's tests as case files: what is written, what is left out, and what is wrong, all with its place."""

from __future__ import annotations

from pathlib import Path

import pytest
from commandline import dmlcheck, json_of
from webnn_tests import cases, graph, imported, operator, page, tensor, write_page

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


def test_each_test_is_a_case_with_its_source_and_tolerance() -> None:
    (case,) = cases(page(ABS))
    assert (case.name, case.operator) == ("abs of two", "DML_OPERATOR_ELEMENT_WISE_ABS")
    assert case.source == "WebNN conformance test abs of two, ops.https.any.js"
    assert (case.inputs, case.outputs) == ({"InputTensor": [-1, 2]}, {"OutputTensor": [1, 2]})
    assert case.tolerance is None  # the utilities that all files share have none for abs
    (case,) = cases(page(ABS, end=ELU))
    assert case.tolerance is not None
    assert case.tolerance.ulp == 18


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


def test_values_that_do_not_go_together_are_left_out() -> None:
    given = graph({"x": tensor([1, 2], 2)}, [operator("relu", "x")], {"output": tensor([1], 1, type="int32")})
    (remark,) = imported(page(given)).remarks
    assert remark.startswith("left out: a test: DML_OPERATOR_ACTIVATION_RELU does not take it: ")
    given = graph({"x": tensor([1, 2], 2)}, [operator("resample2d", "x", scales=[1, 1])], {"output": tensor([1, 2], 2)})
    assert "left out" in imported(page(given)).remarks[0]


def test_tests_of_one_name_have_names_that_differ() -> None:
    assert [case.name for case in cases(page(ABS, ABS))] == ["abs of two", "abs of two-2"]


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
