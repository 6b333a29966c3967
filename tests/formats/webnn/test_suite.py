"""The tests of a file: where they are listed, what states their tolerance, and what code makes."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from dmlcheck.folders.export_folder import MissingRequirement
from dmlcheck.formats.webnn import machine
from dmlcheck.formats.webnn.literals import NotData
from dmlcheck.formats.webnn.suite import CheckedByCode, Found, Stated, Suite, parse, read, require, suites
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


def places(data: bytes) -> list[tuple[str, int | None, int | None, str]]:
    script = parse(data, "f.any.js")
    assert script.root is None
    return [(one.rule, one.line, one.column, one.message) for one in script.document.problems]


def test_a_file_is_a_tree_with_places() -> None:
    script = parse("\ufeff// é\r\nconst x = [1, /* 2 */ 3];\r\n".encode(), "f.any.js")
    assert script.root is not None
    assert script.document.problems == []
    statement = script.root.named_children[1]
    assert script.text(statement) == "const x = [1, /* 2 */ 3];"
    assert script.where(statement) == "f.any.js:2:1"
    array = statement.named_children[0].named_children[1]
    assert [script.text(part) for part in array.named_children if part.type != "comment"] == ["1", "3"]
    assert script.diagnostic(array, "p", "h")[:7] == ("webnn-syntax", "p", "error", "f.any.js", 2, 11, None)


@pytest.mark.parametrize(
    ("data", "line", "column", "message"),
    [
        (b"const x = [1, 2;\n", 1, 16, "the file is not JavaScript: ']' is missing here"),
        (b"// 1\nconst x = (1 + 2;\n", 2, 17, "the file is not JavaScript: ')' is missing here"),
        ("const é = '\u00e9'; #\n".encode(), 1, 16, "the file is not JavaScript: unexpected '#'"),
        (b"const x = [" * 3, 1, 1, "the file is not JavaScript: unexpected 'const'"),
    ],
)
def test_a_syntax_error_has_its_place(data: bytes, line: int, column: int, message: str) -> None:
    rule, *found = places(data)[0]
    assert (rule, found) == ("webnn-syntax", [line, column, message])


def test_only_the_first_errors_are_told() -> None:
    assert 1 <= len(places(b"const = ;\n" * 1000)) <= 10


def test_what_is_not_utf8_is_said_with_its_place() -> None:
    message = "the byte 0xFF is not UTF-8; dmlcheck reads UTF-8"
    assert places(b"// 1\nx\xff = 1;\n") == [("webnn-syntax", 2, 2, message)]
    assert places("const x = 1;".encode("utf-16"))[0][3] == "the file is UTF-16; dmlcheck reads UTF-8"


@pytest.mark.slow
@pytest.mark.parametrize(
    "data", [b"[" * 100_000, b"[" * 100_000 + b"]" * 100_000, b"{(" * 50_000, b"- " * 100_000, bytes(range(256)) * 400]
)
def test_hostile_files_are_read_to_their_end(data: bytes) -> None:
    script = parse(data, "f.any.js")
    assert (script.root is None) == bool(script.document.problems)


def test_a_file_that_cannot_be_read_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    (problem,) = read("nowhere.any.js").document.problems
    assert (problem.rule, problem.message, problem.file) == (
        "file-not-found",
        "no such file or folder",
        "nowhere.any.js",
    )
    monkeypatch.setattr("dmlcheck.formats.webnn.suite.MAX_BYTES", 10)
    Path("large.any.js").write_text("const x = 1;", encoding="utf-8")
    (problem,) = read("large.any.js").document.problems
    assert (problem.rule, problem.message) == (
        "file-too-large",
        "large.any.js has 12 bytes; dmlcheck reads up to 10 of such a file",
    )


def test_a_missing_parser_is_said_with_what_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    require()
    monkeypatch.setitem(sys.modules, "tree_sitter_javascript", None)
    with pytest.raises(
        MissingRequirement, match="needs the packages tree-sitter and tree-sitter-javascript"
    ) as refused:
        require()
    assert 'install them with: python -m pip install "dmlcheck[webnn]"' in str(refused.value)
