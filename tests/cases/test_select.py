"""What `-k` expressions select, which of them cannot be read, and how shards are written."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dmlcheck.cases.select import ExpressionError, matcher, parse_shard

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
        ("reduce sum", "join parts of ids by and, or, not; put one with spaces in quotes"),
        (" ", "-k is empty; write a part of the ids, such as gemm"),
        ("reduce and", "expects a substring at its end"),
        ("(reduce", "parenthesis is not closed"),
        ("reduce)", "unexpected ')'"),
        ("'reduce", "quote is not closed"),
        ("and", "before 'and'"),
    ],
)
def test_the_refusal_says_what_is_wrong(expression: str, words: str) -> None:
    with pytest.raises(ExpressionError, match=words.replace(")", r"\)")):
        matcher(expression)


@pytest.mark.slow
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


@pytest.mark.slow
@settings(deadline=None, max_examples=200)
@given(tree=EXPRESSIONS, parts=st.sets(st.sampled_from(WORDS)))
def test_an_expression_means_what_its_words_mean(tree: Any, parts: set[str]) -> None:
    case_id = "|".join(sorted(parts))
    assert matcher(spelt(tree))(case_id) is holds(tree, case_id)


@pytest.mark.slow
@settings(deadline=None, max_examples=200)
@given(text=st.text(st.sampled_from("ab ()\"'\t[]=andort"), max_size=20))
def test_any_text_is_an_expression_or_refused(text: str) -> None:
    assert outcome(text, "a b") in ("selected", "left out", "refused")


@pytest.mark.parametrize(
    ("text", "shard"),
    [
        ("1/1", (1, 1)),
        ("2/5", (2, 5)),
        ("5/5", (5, 5)),
        ("6/5", None),
        ("0/5", None),
        ("-1/5", None),
        ("1", None),
        ("1/2/3", None),
        (" 1/2", None),
        ("1/2\n", None),
        ("\u0661/2", None),
        ("1/1000000000", None),
        ("", None),
    ],
)
def test_a_shard_is_a_number_of_so_many(text: str, shard: tuple[int, int] | None) -> None:
    assert parse_shard(text) == shard
