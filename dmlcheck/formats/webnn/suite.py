"""The tests of a file: its lists for webnn_conformance_test, and the tolerance that it states for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from dmlcheck.formats.webnn.javascript import Script, named
from dmlcheck.formats.webnn.literals import NotData, ScriptData, Wrong

if TYPE_CHECKING:
    from tree_sitter import Node

_RUNS = "webnn_conformance_test"
_FUNCTIONS = ("arrow_function", "function_expression", "function_declaration")
_ZERO = "getZeroULPTolerance"  # of the utilities that all files share
_MOST_LEVELS = 20  # from a call to the list whose items it is called with


class Stated(NamedTuple):
    """A tolerance that a file states: ULP or ATOL, with a value for all data types or one for each."""

    metric: str
    values: float | Mapping[str, float]

    def of(self, data_type: str) -> float | None:
        """Return the tolerance of a data type of WebNN."""
        return self.values.get(data_type) if isinstance(self.values, Mapping) else self.values


class Suite(NamedTuple):
    """A list of tests: their nodes, their tolerance, and the calls by which code makes more of them."""

    tests: list[Node]
    stated: Stated | None
    made_by_code: list[Node]


class _Call(NamedTuple):
    """A call that runs tests: the name of their list, and the name of the function for their tolerance."""

    tests: str | None
    tolerance: str | None


def data_of(script: Script) -> ScriptData:
    """Return the data of a file, with the constants of its outermost level."""
    return ScriptData(script, _constants(script, script.root))


def suites(script: Script, data: ScriptData) -> Iterator[Suite | NotData | Wrong]:
    """Yield the lists of tests that a file runs, each once, or the exception for one that cannot be read."""
    calls = list(_walk(script.root, "call_expression"))
    seen = set()
    for call in calls:
        if _called(script, call) != _RUNS:
            continue
        run = _run(script, data, call)
        if run.tests is None or run.tests not in data.constants or run.tests in seen:
            continue
        seen.add(run.tests)
        try:
            yield _suite(script, data, run, calls)
        except (NotData, Wrong) as reason:
            yield reason


def _suite(script: Script, data: ScriptData, run: _Call, calls: list[Node]) -> Suite:
    tests = data.items(data.constants[run.tests or ""], "the list of tests")
    made: list[Node] = []
    for call in calls:
        if _called(script, call) == f"{run.tests}.push":
            arguments = call.child_by_field_name("arguments")
            is_outermost = call.parent is not None and call.parent.parent == script.root
            if is_outermost and arguments is not None:
                tests = [*tests, *named(arguments)]
            else:
                made.append(call)
    return Suite(tests, None if run.tolerance is None else _stated(script, data, run.tolerance), made)


def _run(script: Script, data: ScriptData, call: Node) -> _Call:
    """Return a call that runs tests: with (tests, build, tolerance), or for each item with (build, tolerance, test)."""
    arguments = call.child_by_field_name("arguments")
    names = [script.text(part) if part.type == "identifier" else None for part in named(arguments)]
    names += [None] * 3
    first = data.constants.get(names[0] or "")
    if first is not None and first.type == "array":
        return _Call(names[0], names[2])
    return _Call(_looped(script, call), names[1])


def _looped(script: Script, call: Node) -> str | None:
    """Return the name of the list whose items a call is made with: `LIST.forEach(...)`, or `LIST.filter(...)` of it."""
    node: Node | None = call.parent
    for _ in range(_MOST_LEVELS):
        if node is None:
            break
        name, _, method = _called(script, node).rpartition(".") if node.type == "call_expression" else ("", "", "")
        if method == "forEach":
            return name.partition(".")[0]
        node = node.parent
    return None


def _called(script: Script, call: Node) -> str:
    """Return the names of a call's function: `tests.push`, or `tests.filter.forEach` without what filter has."""
    names: list[str] = []
    node = call.child_by_field_name("function")
    for _ in range(_MOST_LEVELS):
        if node is None:
            break
        if node.type == "identifier":
            return ".".join([script.text(node), *reversed(names)])
        if node.type == "member_expression":
            part = node.child_by_field_name("property")
            names.append("" if part is None else script.text(part))
            node = node.child_by_field_name("object")
        else:
            node = node.child_by_field_name("function")
    return ""


# ---- tolerances


def _stated(script: Script, data: ScriptData, name: str) -> Stated | None:
    """Return the tolerance that a function of the file states; None if there is no function, or it computes one."""
    if name == _ZERO:
        return Stated("ULP", 0)
    function = _function(script, data, name)
    if function is None:
        return None
    inner = ScriptData(script, {**data.constants, **_constants(script, function)})
    for made in _walk(function, "object", "subscript_expression"):
        if made.type == "object":
            try:
                return _read(inner, made)
            except (NotData, Wrong, KeyError):
                continue
    return None


def _read(data: ScriptData, node: Node) -> Stated:
    fields = data.fields(node, "a tolerance")
    metric, value = data.string(fields["metricType"], "the metric"), fields["value"]
    if value.type != "subscript_expression":
        return Stated(metric, data.number(value, "a tolerance"))
    table = value.child_by_field_name("object")
    if table is None:
        raise NotData(value, "no table")
    each = data.fields(table, "the tolerances of data types")
    return Stated(metric, {key: data.number(one, "a tolerance") for key, one in each.items()})


def _function(script: Script, data: ScriptData, name: str) -> Node | None:
    found = data.constants.get(name)
    if found is not None:
        return found if found.type in _FUNCTIONS else None
    for node in script.root.named_children if script.root is not None else ():
        label = node.child_by_field_name("name")
        if node.type == "function_declaration" and label is not None and script.text(label) == name:
            return node
    return None


# ---- the tree


def _constants(script: Script, node: Node | None) -> dict[str, Node]:
    """Return the values of the constants that are declared directly in a file or a function."""
    body = None if node is None else node.child_by_field_name("body") or node
    found: dict[str, Node] = {}
    for statement in body.named_children if body is not None else ():
        if statement.type == "lexical_declaration" and statement.children[0].type == "const":
            for one in named(statement):
                name, value = one.child_by_field_name("name"), one.child_by_field_name("value")
                if name is not None and value is not None and name.type == "identifier":
                    found.setdefault(script.text(name), value)
    return found


def _walk(root: Node | None, *types: str) -> Iterator[Node]:
    """Yield the nodes of some types in order, those inside lists and objects only if these are among the types."""
    waiting = [] if root is None else [root]
    while waiting:
        node = waiting.pop()
        if node.type in types:
            yield node
        if node.type not in ("array", "object"):
            waiting.extend(reversed(node.named_children))
