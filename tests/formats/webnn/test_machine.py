"""Expressions and statements on data: what they give, what is known only when a file is run, and what that spoils."""

from __future__ import annotations

import math
from typing import Any

import pytest

from dmlcheck.formats.webnn import machine as machines
from dmlcheck.formats.webnn.javascript import parse
from dmlcheck.formats.webnn.literals import NotData, Wrong
from dmlcheck.formats.webnn.machine import Machine, TooManySteps
from dmlcheck.formats.webnn.values import Fields, Items, ScriptValue, known


def plain(value: ScriptValue) -> Any:
    """Return a value as Python's lists, dicts and scalars; the text of an exception where it is not known."""
    try:
        found = known(value)
    except (NotData, Wrong) as reason:
        return f"? {reason}"
    if isinstance(found, Items):
        return [plain(part) for part in found]
    return {key: plain(part) for key, part in found.items()} if isinstance(found, Fields) else found


def run(text: str) -> tuple[Machine, list[str]]:
    """Evaluate a file, and return the machine, and why parts of it were not evaluated."""
    script = parse(text.encode(), "f.any.js")
    assert script.document.problems == []
    assert script.root is not None
    failed: list[str] = []
    made = Machine(script.root, {}, lambda _, reason: failed.append(str(reason)))
    made.run()
    return made, failed


def x_of(text: str) -> Any:
    """Return the x of a file."""
    return plain(run(text)[0].scope.names["x"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-1.5", -1.5),
        ("Infinity", math.inf),
        ("3 * 2 ** -25", 3 * 2**-25),
        ("(1 + 2) * 3 - 4", 5),
        ("- -1", 1),
        ("one", 1),
        ("[true, false, null, undefined]", [True, False, None, None]),
        ("\"a\" + 'b'", "ab"),
        ("`a${one}b${list}`", "a1b1,2"),
        ("'shape [' + list + ']'", "shape [1,2]"),
        ("{'a': 1, b: 2, one, 5: 3, [`c${one}`]: 4, ...{a: 9}}", {"a": 9, "b": 2, "one": 1, "5": 3, "c1": 4}),
        ("[0, ...list, ...[]]", [0, 1, 2]),
        ("list[1] + list.length", 4),
        ("[list[7], {a: 1}.b, {a: 1}['a'], 'text'.length]", [None, None, 1, 4]),
        ("one === 1 ? 'yes' : nowhere", "yes"),
        ("one === 2 && nowhere", False),
        ("one || nowhere", 1),
        ("undefined ?? 5", 5),
        ("null?.a", None),
        ("((a = 2, b = 3) => [a, b])(null, list[7])", [None, 3]),
        ("((a = 2) => a)(one && null)", None),
        ("(([a = 2], {b = 3, c: d = 4}) => [a, b, d])([], {b: null})", [2, None, 4]),
        ("((a, b = 2, ...c) => [a, b, c])(1, undefined, 3, 4)", [1, 2, [3, 4]]),
        ("(([a, {b: c}], {d, e = 5}) => [a, c, d, e])([1, {b: 2}], {d: 4})", [1, 2, 4, 5]),
        ("(function (a) { if (a > 1) { return 'above'; } else return 'below'; })(one)", "below"),
        ("list.map((each, place, all) => each * 10 + place + all.length)", [12, 23]),
        ("twice(4)", 8),
    ],
)
def test_an_expression_on_data_has_its_value(text: str, expected: Any) -> None:
    head = "const one = 1, list = [one, 2]; function twice(a) { return 2 * a; }"
    assert x_of(f"{head} const x = {text.join('()') if text.startswith('{') else text};") == expected


@pytest.mark.parametrize(
    "text",
    [
        "nowhere",
        "nowhere(1)",
        "one.two",
        "new Date()",
        "class {}",
        "/a/",
        "await 1",
        "`${undefined}`",
        "1 + undefined",
        "(async () => 1)()",
        "(function* () { yield 1; })()",
        "(() => { while (true) { return 1; } })()",
        "(() => { throw 1; })()",
        "[...nowhere]",
        "[, 1]",
        "[1, /* 2 */, 3]",
        "(([, a]) => a)([1, 2])",
        "{...nowhere}",
        "{f() { return 1; }}",
        "delete one",
        "- " * 500 + "1",
        "[1].constructor.constructor('return 1')()",
        "(() => 1).call()",
        "({}).__proto__.x",
        "eval('1')",
        "Function('return 1')()",
        "process.exit(1)",
        "import('fs')",
        "f(f)",
    ],
)
def test_what_is_known_only_when_the_file_is_run_is_no_data(text: str) -> None:
    assert str(x_of(f"const one = 1; const f = g => g(g); const x = ({text});")).startswith("? ")


def test_a_key_that_stands_twice_is_wrong() -> None:
    assert x_of("const x = {a: 1, 'a': 2};") == "? the key `a` stands here twice"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("for (const a of [1, 2]) for (const b of ['p', 'q']) x.push(a + b);", ["1p", "1q", "2p", "2q"]),
        ("for (const [a, {b}] of [[1, {b: 2}]]) { x.push(a, b); }", [1, 2]),
        ("for (const a in {p: 1, q: 2}) x.push(a);", ["p", "q"]),
        ("for (let i = 0; i < 5; ++i) { if (i === 1) continue; if (i > 3) break; x.push(i); }", [0, 2, 3]),
        ("for (let i = 3; i > 0; i -= 1) x.push(i);", [3, 2, 1]),
        ("[1, 2].forEach(a => { x.push(a); });", [1, 2]),
        ("let n = 1; n += 2; const before = n++; x.push(before, n);", [3, 4]),
        ("const o = {a: {}}; o.a.b = 1; o['c'] = 2; x.push(o);", [{"a": {"b": 1}, "c": 2}]),
        ("const a = [1]; a[0] = 5; a[1] = 6; x.push(a);", [[5, 6]]),
        ("const shared = [1]; x.push(shared, shared); shared.push(2);", [[1, 2], [1, 2]]),
        ("const f = () => { for (const a of [1, 2]) { if (a === 2) return a; } }; x.push(f());", [2]),
        ("const add = n => x.push(n); add(7); { const x = []; x.push(8); }", [7]),
        ("function late() { return constant; } const constant = 9; x.push(late());", [9]),
        ("{ var a = 5; } x.push(a);", [5]),
        ("var a = 1; for (const b of [2, 3]) { var a = a + b; } x.push(a);", [6]),
        ("var a = 5; var a; x.push(a);", [5]),
        ("for (var i = 0; i < 2; ++i) { var b = i; } x.push(i, b);", [2, 1]),
        ("for (var i of [3, 4]) {} x.push(i);", [4]),
        ("var a = 1; const f = () => { if (a) { var b = a; } return b; }; x.push(f());", [1]),
        ("var a = 1; const f = () => { { var a = 2; } return a; }; x.push(f(), a);", [2, 1]),
        ("let a = 1; { let a = 2; x.push(a); } x.push(a);", [2, 1]),
        (";", []),
    ],
)
def test_statements_make_lists(text: str, expected: Any) -> None:
    made, failed = run(f"'use strict'; const x = []; {text}")
    assert (plain(made.scope.names["x"]), failed) == (expected, [])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # What is pushed is not known, and what stands there is.
        ("x.push(f());", [1, "? `f()` is known only when the file is run"]),
        ("while (f()) { x.push(2); }", [1, "? `while (f()) { x.push(2); }` is known only when the file is run"]),
        ("if (f()) x.push(2);", [1, "? `f()` is known only when the file is run"]),
        ("[2].forEach(a => { if (f()) return; x.push(a); });", [1, "? `f()` is known only when the file is run"]),
        ("for (const a of f()) { x.push(a); }", [1, "? `f()` is known only when the file is run"]),
        # Anything else may have changed the list.
        ("change(x);", "? `change(x)` is known only when the file is run"),
        ("const y = change(x);", "? `change(x)` is known only when the file is run"),
        ("const y = change({x});", "? `change({x})` is known only when the file is run"),
        ("x.sort();", "? `x.sort()` is known only when the file is run"),
        ("x[f()] = 2;", "? `f()` is known only when the file is run"),
        ("const o = {x}; change(o);", "? `change(o)` is known only when the file is run"),
        ("delete x[0];", "? `delete x[0]` is known only when the file is run"),
        ("switch (1) { case 1: x.push(2); }", [1, "? `switch (1) { case 1: x.push(2); }` is known only when…"]),
        ("Object.assign(x, {a: 1});", "? `Object.assign(x, {a: 1})` is known only when the file is run"),
        # Other methods of lists change nothing.
        ("const y = x.toSorted();", [1]),
        ("const y = x.map(f);", [1]),
        ("const y = g.h(5);", [1]),
    ],
)
def test_what_code_may_have_changed_is_not_known(text: str, expected: Any) -> None:
    found = x_of(f"const x = [1]; {text}")
    if isinstance(expected, list) and len(expected) == 2 and expected[1].endswith("…"):
        assert (found[0], len(found)) == (1, 2)
    else:
        assert found == expected


@pytest.mark.parametrize(
    "text",
    [
        "x = f();",
        "while (f()) { x += 1; }",
        "if (f()) { x++; }",
        "[x] = f();",
        "[x = 3] = f();",
        "[...x] = f();",
        "({x} = f());",
        "({x = 3} = f());",
        "({a: x} = f());",
        "({a: [x = 3]} = f());",
        "({...x} = f());",
        "while (f()) { (x) = 2; }",
        "for (x of f()) {}",
        "for (x in f()) {}",
        "for ([x] of f()) {}",
        "for ({a: x} of f()) {}",
        "f(() => { x = 2; });",
        "const set = () => { x = 2; }; f(set);",
        "function set() { x = 2; } f(set);",
        "const set = () => { x = 2; }, outer = () => set(); f(outer);",
        "const set = () => { x = 2; }, all = {sets: [set]}; f(all);",
        "const set = () => { x = 2; }; const y = f(...[set]);",
    ],
)
def test_a_name_that_code_gives_a_value_is_not_known(text: str) -> None:
    assert str(x_of(f"let x = 1; {text}")).startswith("? ")


@pytest.mark.parametrize("text", ["while (f()) { var x = 2; }", "for (var x of f()) {}", "for (var [x] of f()) {}"])
def test_var_in_a_block_that_is_not_evaluated_gives_the_name_around_it_a_value(text: str) -> None:
    assert str(x_of(f"var x = 1; {text}")).startswith("? ")


def test_functions_that_name_each_other_are_looked_at_once() -> None:
    text = "let x = 1; function f() { g(); } function g() { f(); x = 2; } nowhere(f);"
    assert str(x_of(text)).startswith("? ")


def test_a_pattern_that_does_not_fit_gives_names_that_are_not_known() -> None:
    text = "const a = 1; const f = () => { const {a} = g(); return a; }; const [b] = 5; const x = [f(), b, a];"
    assert x_of(text) == ["? `g()` is known only when the file is run", "? `[b]` is known only when the file is run", 1]


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "for (;;) {}",
        "const f = () => f(); const x = f();",
        "const a = []; a.push(a); const x = structuredClone(a); const y = `${a}`; g(a);",
        "let x = 'a'; for (const i of Array(100)) { x = x + x; }",
        "const x = []; for (const i of x) {} ",
        f"const x = {'[' * 400}1{']' * 400};",
        f"const x = {'+'.join(['1'] * 5000)};",
        f"const x = {'(' * 400}1{')' * 400};",
        "const x = Array(1e9);",
        "const x = Array(2 ** 20).fill([]);",
    ],
)
def test_hostile_files_end(text: str) -> None:
    run(text)


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "for (let i = 0; i < 1e9; ++i) {}",
        "const x = [1]; for (let i = 0; i < 100; ++i) { x.push(...x); }",
        "const n = Array(3000).fill(0); n.map(() => n.map(() => n.map(() => 1)));",
        "const n = Array(1e6).fill(0); for (let i = 0; i < 99; ++i) { [...n]; }",
    ],
)
def test_work_is_limited(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machines, "_MOST_STEPS", 50_000)
    with pytest.raises(TooManySteps, match=r"the file has more than 50,000 steps up to here"):
        run(text)
