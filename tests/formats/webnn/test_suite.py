"""The tests of a file: where they are listed, what states their tolerance, and what code makes."""

from __future__ import annotations

import pytest

from dmlcheck.formats.webnn.javascript import parse
from dmlcheck.formats.webnn.literals import NotData, Wrong
from dmlcheck.formats.webnn.suite import Stated, Suite, data_of, suites

TESTS = "const xTests = [{name: 'a'}, {name: 'b'}];\n"
IF = """
if (navigator.ml) {
  xTests.filter(isTargetTest).forEach((test) => {
    webnn_conformance_test(buildAndExecuteGraph, getTolerance, test);
  });
} else {
  test(() => f());
}
"""
DICT = """
const getTolerance = (graphResources) => {
  const toleranceValueDict = {float32: 2, float16: 1 / 512};
  const expectedDataType =
      getExpectedDataTypeOfSingleOutput(graphResources.expectedOutputs);
  return {metricType: 'ULP', value: toleranceValueDict[expectedDataType]};
};
"""


def found(text: str) -> list[Suite | NotData | Wrong]:
    script = parse(text.encode(), "f.any.js")
    assert script.document.problems == []
    return list(suites(script, data_of(script)))


def names(text: str) -> list[list[str]]:
    """Return the names of the tests of each list."""
    script = parse(text.encode(), "f.any.js")
    data = data_of(script)
    lists = [suite for suite in suites(script, data) if isinstance(suite, Suite)]
    return [[data.string(data.fields(test, "t")["name"], "n") for test in suite.tests] for suite in lists]


def stated(text: str, name: str = "getTolerance") -> Stated | None:
    (suite,) = found(f"{text}\n{TESTS}webnn_conformance_test(xTests, build, {name});")
    assert isinstance(suite, Suite)
    return suite.stated


@pytest.mark.parametrize(
    "run",
    [
        "webnn_conformance_test(xTests, buildAndExecuteGraph, getTolerance);",
        "xTests.forEach((test) => { webnn_conformance_test(buildAndExecuteGraph, getTolerance, test); });",
        "xTests.forEach(test => webnn_conformance_test(buildAndExecuteGraph, getTolerance, test));",
        IF,
        "webnn_conformance_test(xTests, a, getTolerance);\nwebnn_conformance_test(xTests, b, getTolerance);",
    ],
)
def test_a_list_is_found_however_it_is_run(run: str) -> None:
    assert names(TESTS + run) == [["a", "b"]]
    (suite,) = found(TESTS + DICT + run)
    assert isinstance(suite, Suite)
    assert suite.stated == Stated("ULP", {"float32": 2, "float16": 1 / 512})


def test_each_list_of_a_file_is_found() -> None:
    more = "const yTests = [{name: 'c'}];\nyTests.forEach(t => webnn_conformance_test(f, g, t));\n"
    assert names(f"{TESTS}{more}webnn_conformance_test(xTests, f, g);") == [["c"], ["a", "b"]]


@pytest.mark.parametrize(
    "text",
    [
        TESTS,
        f"{TESTS}run(xTests);",
        "webnn_conformance_test(f, g, test);",
        "webnn_conformance_test();",
        "const x = 1;",
        "",
        f"{TESTS}(() => webnn_conformance_test(f, g, test))();",
        f"{TESTS}f(1)(2)[3](webnn_conformance_test(f, g, x));",
    ],
)
def test_a_file_may_run_no_list(text: str) -> None:
    assert found(text) == []


def test_tests_that_are_added_on_the_outermost_level_are_data() -> None:
    text = TESTS + "xTests.push({name: 'c'}, {name: 'd'});\nfor (const t of [1]) { xTests.push({name: 'e' + t}); }\n"
    text += "webnn_conformance_test(xTests, f, g);"
    assert names(text) == [["a", "b", "c", "d"]]
    (suite,) = found(text)
    assert isinstance(suite, Suite)
    script = parse(text.encode(), "f.any.js")
    assert [script.where(node) for node in suite.made_by_code] == ["f.any.js:3:24"]


def test_a_list_that_code_makes_is_said_to_be_no_data() -> None:
    (reason,) = found("const xTests = [...others];\nwebnn_conformance_test(xTests, f, g);")
    assert isinstance(reason, NotData)
    assert str(reason) == "`...others` is known only when the file is run"


# ---- tolerances


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (DICT, Stated("ULP", {"float32": 2, "float16": 1 / 512})),
        ("const getTolerance = () => { return {metricType: 'ATOL', value: 1 / 1024}; };", Stated("ATOL", 1 / 1024)),
        ("const getTolerance = () => ({metricType: 'ULP', value: 3});", Stated("ULP", 3)),
        ("function getTolerance() { return {metricType: 'ULP', value: 4}; }", Stated("ULP", 4)),
        ("const getTolerance = () => { const n = 5; return {metricType: 'ULP', value: n}; };", Stated("ULP", 5)),
        ("const getTolerance = (g) => { return {metricType: 'ULP', value: g.inputs.length}; };", None),
        ("const getTolerance = (g) => { const n = f(g); return {metricType: 'ULP', value: {float32: n}[g]}; };", None),
        ("const getTolerance = 5;", None),
        ("", None),  # of the utilities that all files share
    ],
)
def test_a_tolerance_is_what_a_function_states(text: str, expected: Stated | None) -> None:
    assert stated(text) == expected


def test_the_tolerance_of_a_type_is_looked_up() -> None:
    assert stated("", "getZeroULPTolerance") == Stated("ULP", 0)
    each = Stated("ULP", {"float32": 2})
    assert (each.of("float32"), each.of("float16"), Stated("ULP", 3).of("int8")) == (2, None, 3)
