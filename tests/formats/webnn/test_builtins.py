"""The functions of lists, objects and numbers; the expected values are those of ECMAScript's specification."""

from __future__ import annotations

from typing import Any

import pytest
from formats.webnn.test_machine import x_of

from dmlcheck.formats.webnn import builtins


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[1, 2].map(a => [a])", [[1], [2]]),
        ("[1, 2].flatMap(a => [a, -a])", [1, -1, 2, -2]),
        ("[1, 2].flatMap(a => a)", [1, 2]),
        ("[[1], 2, [[3]]].flat()", [1, 2, [3]]),
        ("[1, 2, 3].filter(a => a !== 2)", [1, 3]),
        ("[1, 2].some(a => a > 1)", True),
        ("[1, 2].every(a => a > 1)", False),
        ("[1, 2].find(a => a > 1)", 2),
        ("[1, 2].find(a => a > 2)", None),
        ("[2, 3, 4].reduce((product, size) => product * size, 1)", 24),
        ("[2, 3].reduce((a, b) => a - b)", -1),
        ("[1].concat([2], 3)", [1, 2, 3]),
        ("[[1, 2, 3].slice(1), [1, 2, 3].slice(0, -1), [1, 2].slice()]", [[2, 3], [1, 2], [1, 2]]),
        ("[Array(2).fill(7), [1, 2, 3].fill(0, 1), [1, 2, 3].fill(0, 1, 2)]", [[7, 7], [1, 0, 0], [1, 0, 3]]),
        (
            "(() => { const a = [1, 2]; return [a.toReversed(), a, a.reverse(), a]; })()",
            [[2, 1], [2, 1], [2, 1], [2, 1]],
        ),
        ("[[1, [2, 3]].join('-'), [1, 2].join()]", ["1-2,3", "1,2"]),
        ("[['a', 'b'].indexOf('b'), ['a'].includes('c'), [1].at(-1), [1].at(1)]", [1, False, 1, None]),
        (
            "[[NaN].includes(NaN), [1, NaN].indexOf(NaN), [1].includes(NaN), [1, 2].includes(2)]",
            [True, -1, False, True],
        ),
        ("[5n === 5, 5n !== 5, 5n === 5n, [5n].includes(5)]", [False, True, True, False]),
        ("['abc'.includes(NaN), 'NaN'.includes(NaN)]", [False, True]),
        ("[...['a', 'b'].entries()]", [[0, "a"], [1, "b"]]),
        ("[...Array(3).keys()]", [0, 1, 2]),
        ("new Array(2, 3)", [2, 3]),
        ("Array.from({length: 3}, (_, index) => 2 * index)", [0, 2, 4]),
        ("Array.from([1, 2])", [1, 2]),
        ("Array.of(7)", [7]),
        ("Object.entries({a: 1})", [["a", 1]]),
        ("Object.fromEntries([['a', 1]])", {"a": 1}),
        ("[Object.keys({a: 1}), Object.values({a: 1})]", [["a"], [1]]),
        ("Object.assign({a: 1, b: 2}, {b: 3}, {c: 4})", {"a": 1, "b": 3, "c": 4}),
        (
            "(() => { const a = {b: [1]}; const c = structuredClone(a); c.b.push(2); return [a, c]; })()",
            [{"b": [1]}, {"b": [1, 2]}],
        ),
        ("[Number(true), Number(2.5), String(1.5), String([1, [2]])]", [1, 2.5, "1.5", "1,2"]),
        ("[1.0003, 2].map(Math.fround)", [1.0003000497817993, 2]),
        ("[Math.max(1, 3, 2), Math.min(2, 1), Math.abs(-2), Math.pow(2, 3)]", [3, 1, 2, 8]),
        ("[Math.floor(-1.5), Math.ceil(1.2), Math.trunc(-1.7), Math.round(2.5), Math.round(-2.5)]", [-2, 2, -1, 3, -2]),
        ("new Float32Array([0.1, 1e39])", [0.10000000149011612, float("inf")]),
        ("new Uint8Array([1, 255])", [1, 255]),
        ("new Float16Array(2)", [0, 0]),
        ("['aB'.toUpperCase(), 'aB'.toLowerCase(), 'abc'.slice(1)]", ["AB", "ab", "bc"]),
        (
            "['abc'.startsWith('ab'), 'abc'.endsWith('c'), 'abc'.includes('bc'), 'abc'.indexOf('d')]",
            [True, True, True, -1],
        ),
    ],
)
def test_a_function_gives_what_javascript_has(text: str, expected: Any) -> None:
    assert x_of(f"const x = {text};") == expected


@pytest.mark.parametrize(
    "text",
    [
        "[].reduce((a, b) => a)",
        "Array(-1)",
        "Array(1.5)",
        "new Uint8Array([256])",
        "new Uint8Array([0.5])",
        "Object.keys(1)",
        "Object.fromEntries(1)",
        "Number('1')",
        "Math.max('1')",
        "Math.sqrt(-1)",
        "[1].map()",
        "[1].map(2).map(a => a)[0]",
        "Math.random()",
        "Array.nothing(1)",
        "new Float32Array([1]).buffer.x",
    ],
)
def test_other_arguments_give_nothing_that_is_known(text: str) -> None:
    assert str(x_of(f"const x = {text};")).startswith("? ")


def test_an_item_that_is_not_known_leaves_the_others() -> None:
    text = "const x = [1, 2].map(a => { if (a === 1) { return f(); } return a; });"
    assert x_of(text) == ["? `f()` is known only when the file is run", 2]


def test_lists_and_text_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builtins, "_MOST_ITEMS", 4)
    assert x_of("const x = [Array(4).length, Array(5), [1, 2, 3].concat([4, 5])];") == [
        4,
        "? it has more than 4 items",
        "? it has more than 4 items",
    ]
    monkeypatch.setattr(builtins, "_MOST_TEXT", 4)
    assert x_of("const x = ['ab' + 'cd', 'ab' + 'cde', `${'abcd'}e`];")[0] == "abcd"
    assert all("more than 4 characters" in one for one in x_of("const x = ['ab' + 'cde', `${'abcd'}e`];"))
