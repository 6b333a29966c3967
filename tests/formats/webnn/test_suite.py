"""The tests of a file: where they are listed, what states their tolerance, and what code makes."""

from __future__ import annotations

import pytest

from dmlcheck.formats.webnn import machine
from dmlcheck.formats.webnn.javascript import parse
from dmlcheck.formats.webnn.literals import NotData
from dmlcheck.formats.webnn.suite import CheckedByCode, Found, Stated, Suite, suites
from dmlcheck.formats.webnn.values import fields, string

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


def found(text: str) -> list[Found]:
    script = parse(text.encode(), "f.any.js")
    assert script.document.problems == []
    return suites(script)


def names(text: str) -> list[str]:
    """Return the names of the tests of a file."""
    lists = [suite for suite in found(text) if isinstance(suite, Suite)]
    return [string(fields(test, "t")["name"], "n") for suite in lists for test in suite.tests]


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
    assert names(TESTS + run) == ["a", "b"]
    for suite in found(TESTS + DICT + run):
        assert isinstance(suite, Suite)
        assert suite.stated == Stated("ULP", {"float32": 2, "float16": 1 / 512})


@pytest.mark.parametrize(
    "text",
    [
        TESTS,
        f"{TESTS}run(xTests);",
        "webnn_conformance_test();",
        "webnn_conformance_test(5, f, g);",
        "const x = 1;",
        "",
        "test(() => webnn_conformance_test(f, g, h));",
        "promise_setup(f);",
    ],
)
def test_a_file_may_run_no_list(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "webnn_conformance_test(made(), f, g);",
        "webnn_conformance_test(...made());",
        "made().forEach(t => webnn_conformance_test(f, g, t));",
        "while (made()) { webnn_conformance_test(f, g, {}); }",
        "const xTests = []; change(xTests); webnn_conformance_test(xTests, f, g);",
    ],
)
def test_tests_that_code_makes_are_said_to_be_no_data(text: str) -> None:
    (reason,) = found(text)
    assert isinstance(reason, NotData)
    assert "is known only when the file is run" in str(reason)


def test_a_file_with_too_much_work_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "_MOST_STEPS", 1000)
    first, end = found(f"{TESTS}webnn_conformance_test(xTests, f, g); for (let i = 0; i < 1e9; ++i) {{}}")
    assert isinstance(first, Suite)
    assert str(end) == "the file has more than 1,000 steps up to here"


def test_a_test_that_code_checks_has_its_name() -> None:
    one, two = found("for (const n of [1]) promise_test(async t => {}, `n is ${n}`); promise_test(f);")
    assert isinstance(one, CheckedByCode)
    assert isinstance(two, CheckedByCode)
    assert (one.name, two.name) == ("n is 1", None)


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
        ("const getTolerance = g => ({metricType: 'ULP', value: f(g).value + 1});", None),
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
