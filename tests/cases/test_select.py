"""What `-k` expressions select, which of them cannot be read, and which files and cases paths stand for."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dmlcheck.cases.find import each_once
from dmlcheck.cases.select import ExpressionError, matcher
from dmlcheck.cli.selection import targets

ID = 'cases/reduce/values.yaml::sum cancels[DataType=FLOAT16,Axes=[0,1],Value={"a":1}] (line 3)'


def outcome(expression: str, case_id: str) -> str:
    """Return what becomes of an id under an expression that may be refused."""
    try:
        return "selected" if matcher(expression)(case_id) else "left out"
    except ExpressionError as refusal:
        return "refused" if "-k" in str(refusal) else str(refusal)


@pytest.mark.parametrize(
    ("expression", "selects"),
    [
        # substrings, in any case
        ("reduce", True),
        ("REDUCE", True),
        ("Sum", True),
        ("values.yaml", True),
        ("cases/reduce/values.yaml::sum", True),
        ("argmax", False),
        ("float16", True),
        ("float32", False),
        ("::", True),
        ("reducee", False),
        # the characters of names
        ("[DataType=FLOAT16,Axes=[0,1]", True),
        ("Axes=[0,1],", True),
        ('Value={"a":1}', True),
        ("'(line 3)'", True),
        # and, or, not
        ("reduce and sum", True),
        ("reduce and argmax", False),
        ("argmax or sum", True),
        ("argmax or argmin", False),
        ("not argmax", True),
        ("not reduce", False),
        ("not not reduce", True),
        ("not not not reduce", False),
        ("reduce and not argmax", True),
        ("not argmax and not reduce", False),
        # not binds tighter than and, and than or
        ("reduce or argmax and argmin", True),
        ("argmin and argmax or reduce", True),
        ("not argmax or argmax", True),
        ("not reduce or reduce", True),
        ("not reduce and argmax or sum", True),
        ("(reduce or argmax) and argmin", False),
        ("not (reduce or argmax)", False),
        ("not (argmax or argmin) and sum", True),
        ("((reduce))", True),
        ("(reduce)and(sum)", True),
        ("not(argmax)", True),
        ("(argmax)or(sum)", True),
        # quotes
        ('"sum cancels"', True),
        ("'sum cancels'", True),
        ('"sum  cancels"', False),
        ('"SUM CANCELS"', True),
        ("'{\"a\":1}'", True),
        ('"and"', False),
        ("'not'", False),
        ('"" or argmax', True),
        ("'argmax or sum'", False),
        ('not "sum cancels"', False),
        # words of the language only where they stand alone and in lower case
        ("android", False),
        ("nothing", False),
        ("order", False),
        ("AND", False),
        ("Not", False),
        # blanks
        ("  reduce\t and\n sum  ", True),
    ],
)
def test_an_expression_selects_by_substrings(expression: str, selects: bool) -> None:
    assert matcher(expression)(ID) is selects


@pytest.mark.parametrize(
    ("expression", "case_id"),
    [
        ("f(x)", "a::f(x)"),
        ("f(x)[A=(1)]", "a::f(x)[a=(1)]"),
        ("STRASSE", "a::straße"),
        ("\u00c9", "a::é"),
        ("😀", "a::😀[Axis=0]"),
        ("it's", "a::it's"),
        ('5"', 'a::5"'),
        ("a-b_c.d", "a::a-b_c.d"),
        ("c:\\cases", "C:\\cases\\a.yaml::b"),
    ],
)
def test_a_word_may_hold_whatever_a_name_holds(expression: str, case_id: str) -> None:
    select = matcher(expression)
    assert select(case_id)
    assert not select("other")


@pytest.mark.parametrize("expression", ["sum cancels[DataType=FLOAT16]", "columns[A=1,B=[0,1]]", "plain", "it's"])
def test_the_name_of_a_case_in_quotes_selects_that_case(expression: str) -> None:
    quote = '"' if "'" in expression else "'"
    select = matcher(f"{quote}{expression}{quote}")
    assert select(f"a.yaml::{expression}")
    assert not select(f"a.yaml::{expression[:-1]}")


@pytest.mark.parametrize(
    "expression",
    [
        "",
        " ",
        "\t\n",
        "and",
        "or",
        "not",
        "reduce and",
        "reduce or",
        "and reduce",
        "or reduce",
        "reduce and and sum",
        "reduce or and sum",
        "reduce not",
        "reduce not sum",
        "reduce sum",
        "'a' 'b'",
        "(",
        ")",
        "()",
        "(reduce",
        "reduce)",
        "(reduce))",
        "((reduce)",
        "(reduce or)",
        "not ()",
        "reduce (sum)",
        "(reduce) (sum)",
        '"reduce',
        "'reduce",
        "sum and 'reduce",
        '"sum cancels',
    ],
)
def test_an_expression_that_cannot_be_read_is_refused(expression: str) -> None:
    with pytest.raises(ExpressionError) as refusal:
        matcher(expression)
    assert "-k" in str(refusal.value)


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("reduce sum", "unexpected 'sum'"),
        ("reduce and", "before 'the end'"),
        ("(reduce", "parenthesis is not closed"),
        ("reduce)", "unexpected ')'"),
        ("'reduce", "quote is not closed"),
        ("and", "before 'and'"),
    ],
)
def test_the_refusal_says_what_is_wrong(expression: str, words: str) -> None:
    with pytest.raises(ExpressionError, match=words.replace(")", r"\)")):
        matcher(expression)


@pytest.mark.parametrize("word", ["and", "or"])
def test_an_expression_may_name_thousands_of_cases(word: str) -> None:
    names = [f"case{number}" for number in range(5_000)]
    select = matcher(f" {word} ".join(names))
    assert select("x::case4999") is (word == "or")
    assert select(" ".join(names))
    assert not select("other")


@pytest.mark.parametrize(
    "expression",
    ["(" * 20_000 + "a" + ")" * 20_000, "not " * 20_000 + "a", "(" * 20_000, "not (" * 20_000],
    ids=["parentheses", "negations", "never-closed", "both"],
)
def test_an_expression_nested_without_end_is_read_or_refused(expression: str) -> None:
    assert outcome(expression, "a") in ("selected", "refused")


def test_what_is_wrong_with_a_long_expression_is_said_shortly() -> None:
    with pytest.raises(ExpressionError) as refusal:
        matcher("a " * 10_000)
    assert len(str(refusal.value)) < 200


# ---- paths

CASE = "operator: ARGMAX\ndesc: {}\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder of case files the current one."""
    for name in ("a.yaml", "b.json", "sub/c.yml", "sub/.hidden.yaml", ".git/d.yaml", "e.txt"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("{}" if name.endswith("json") else CASE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def files(*paths: str) -> list[tuple[str, str | None]]:
    """Return the files and cases that paths stand for."""
    return [(target.name, target.case) for target in targets(paths)]


@pytest.mark.usefixtures("folder")
def test_a_folder_stands_for_the_files_in_it() -> None:
    assert files("sub", ".") == [("sub/c.yml", None), ("./a.yaml", None), ("./b.json", None)]


@pytest.mark.usefixtures("folder")
def test_a_file_is_read_once_however_often_it_is_given() -> None:
    assert files("a.yaml", "./a.yaml", os.path.abspath("a.yaml"), "sub/../a.yaml") == [("a.yaml", None)]
    assert files("a.yaml::x", "a.yaml::y", "a.yaml::x") == [("a.yaml", "x"), ("a.yaml", "y")]
    assert files("a.yaml::x", "a.yaml") == [("a.yaml", None)]
    assert files("missing.yaml", "missing.yaml") == [("missing.yaml", None)]
    assert list(each_once(["a.yaml", "sub/c.yml", "./a.yaml"])) == ["a.yaml", "sub/c.yml"]


def test_a_link_to_a_file_is_that_file(folder: Path) -> None:
    try:
        (folder / "z.yaml").symlink_to(folder / "a.yaml")
    except OSError:
        pytest.skip("links cannot be made here")
    assert files("z.yaml", "a.yaml") == [("z.yaml", None)]
    assert files(".") == [("./a.yaml", None), ("./b.json", None), ("./sub/c.yml", None)]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("a.yaml::one", ("a.yaml", "one")),
        ("a.yaml::one::two", ("a.yaml", "one::two")),
        ("a.yaml::", ("a.yaml", "")),
        ("a.yaml::one[A=b::c.yaml]", ("a.yaml", "one[A=b::c.yaml]")),
        ("x::a.yaml", ("x::a.yaml", None)),
        ("x::a.yaml::one", ("x::a.yaml", "one")),
        ("x::a.yaml::one::two", ("x::a.yaml", "one::two")),
        ("x::missing.yaml::one", ("x", "missing.yaml::one")),
        ("missing.yaml::one::two", ("missing.yaml", "one::two")),
        ("missing.yaml", ("missing.yaml", None)),
    ],
)
@pytest.mark.skipif(os.name == "nt", reason="a path of Windows has no colons")
def test_a_path_with_colons_is_the_longest_that_exists(
    given: str, expected: tuple[str, str | None], folder: Path
) -> None:
    (folder / "x::a.yaml").write_text(CASE, encoding="utf-8")
    assert files(given) == [expected]


@pytest.mark.parametrize(
    ("text", "is_report"),
    [
        ('{"schema": "dmlcheck-report/1", "cases": []}', True),
        ('\n{\n  "schema" : "dmlcheck-validation/1"}', True),
        ('{"cases": [], "schema": "dmlcheck-report/1"}', True),
        ('{"schema": "dmlcheck-report/1", "cases": [', True),
        ('{"$schema": "dmlcheck-report/1"}', False),
        ('{"note": "dmlcheck-report/1", "operator": "ARGMAX", "desc": {}}', False),
        ('{"inputs": {"schema": "dmlcheck-report/1"}}', False),
        ('["dmlcheck-report/1"]', False),
        ('{"schema": 3, "note": "dmlcheck-"}', False),
        ("[", False),
        ("", False),
    ],
)
def test_a_report_in_a_folder_is_no_case_file(text: str, is_report: bool, folder: Path) -> None:
    (folder / "report.json").write_text(text, encoding="utf-8")
    (folder / "text.yaml").write_text(json.dumps({"schema": "dmlcheck-report/1"}), encoding="utf-8")
    found = [name for name, _ in files(".")]
    assert ("./report.json" in found) is not is_report
    assert "./text.yaml" in found
    # Whoever names it is told what it is.
    assert files("report.json") == [("report.json", None)]


# ---- properties

WORDS = ("a", "b", "c", "and", "x y", "(")
EXPRESSIONS = st.recursive(
    st.sampled_from(WORDS),
    lambda inner: (
        st.tuples(st.just("not"), inner)
        | st.tuples(inner, st.sampled_from(["and", "or"]), inner)
        | st.tuples(st.just("("), inner, st.just(")"))
    ),
    max_leaves=8,
)
PRECEDENCE = {"or": 0, "and": 1, "not": 2}


def spelt(tree: Any, above: int = 0) -> str:
    """Return an expression as text, with parentheses only where precedence needs them, or where the tree has some."""
    if isinstance(tree, str):
        return tree if tree in "abc" else f"'{tree}'"
    if tree[0] == "(":
        return f"({spelt(tree[1])})"
    word = tree[0] if tree[0] == "not" else tree[1]
    own = PRECEDENCE[word]
    text = f"not {spelt(tree[1], own)}" if word == "not" else f"{spelt(tree[0], own)} {word} {spelt(tree[2], own)}"
    return f"({text})" if own < above else text


def holds(tree: Any, case_id: str) -> bool:
    """Return what an expression says of an id."""
    if isinstance(tree, str):
        return tree in case_id
    if tree[0] == "(":
        return holds(tree[1], case_id)
    if tree[0] == "not":
        return not holds(tree[1], case_id)
    left, right = holds(tree[0], case_id), holds(tree[2], case_id)
    return (left and right) if tree[1] == "and" else (left or right)


@settings(deadline=None, max_examples=200)
@given(tree=EXPRESSIONS, parts=st.sets(st.sampled_from(WORDS)))
def test_an_expression_means_what_its_words_mean(tree: Any, parts: set[str]) -> None:
    case_id = "|".join(sorted(parts))
    assert matcher(spelt(tree))(case_id) is holds(tree, case_id)


@settings(deadline=None, max_examples=200)
@given(text=st.text(st.sampled_from("ab ()\"'\t[]=andort"), max_size=20))
def test_any_text_is_an_expression_or_refused(text: str) -> None:
    assert outcome(text, "a b") in ("selected", "left out", "refused")
