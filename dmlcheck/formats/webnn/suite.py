"""The tests of a file: its calls of webnn_conformance_test, and the tolerance that it states for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from dmlcheck.formats.webnn.javascript import Script
from dmlcheck.formats.webnn.literals import NotData, Wrong, text_of_node
from dmlcheck.formats.webnn.machine import Machine, TooManySteps, walk
from dmlcheck.formats.webnn.values import (
    Block,
    Builtin,
    Fields,
    Function,
    ScriptValue,
    Unknown,
    fields,
    known,
    number_in,
    string,
)

if TYPE_CHECKING:
    from tree_sitter import Node

_RUNS = "webnn_conformance_test"
_ZERO = "getZeroULPTolerance"  # of the utilities that all files share


class Stated(NamedTuple):
    """A tolerance that a file states: ULP or ATOL, with a value for all data types or one for each."""

    metric: str
    values: float | Mapping[str, float]

    def of(self, data_type: str) -> float | None:
        """Return the tolerance of a data type of WebNN."""
        return self.values.get(data_type) if isinstance(self.values, Mapping) else self.values


class Suite(NamedTuple):
    """Tests that are run together, and their tolerance."""

    tests: list[ScriptValue]
    stated: Stated | None


class CheckedByCode(NamedTuple):
    """A test whose results a function of the file checks; its name where that is known."""

    node: Node
    name: str | None


Found = Suite | CheckedByCode | NotData | Wrong


def suites(script: Script) -> list[Found]:
    """Return the tests that a file runs, each once, in order, with the exceptions for those that cannot be read."""
    if script.root is None:
        return []
    return _Reading(script.root).found


class _Reading:
    """The evaluation of a file of tests, with the functions that all of them share."""

    def __init__(self, root: Node) -> None:
        self.found: list[Found] = []
        self._seen: set[int] = set()
        harness = {
            _RUNS: Builtin(self._run),
            "promise_test": Builtin(self._check),
            "promise_setup": Builtin(_ignore),
            "test": Builtin(_ignore),
            "isTargetTest": Builtin(lambda *_: True),
            "navigator": Fields(ml=ScriptValue(root, "there")),
        }
        self._machine = Machine(root, harness, self._fail)
        try:
            self._machine.run()
        except TooManySteps as end:
            self.found.append(NotData(end.node, str(end)))

    def _fail(self, node: Node, reason: NotData | Wrong) -> None:
        """Note a part of the file that would run tests, and is not evaluated."""
        if any(_is_run(call) for call in walk(node, ("call_expression",))):
            self.found.append(reason)

    def _check(self, site: Any, *given: ScriptValue) -> None:
        name = given[1].of if len(given) > 1 else None
        self.found.append(CheckedByCode(site.node, name if isinstance(name, str) else None))

    def _run(self, site: Any, *given: ScriptValue) -> None:
        """Note the tests of a call: (tests, build, tolerance), or for each of them (build, tolerance, test)."""
        first, second, third = [*given, *[ScriptValue(site.node, None)] * 3][:3]
        is_single = isinstance(third.of, Fields) or (len(given) > 2 and _is_elsewhere(first))
        try:
            tests = [third] if is_single else known(first)
        except (NotData, Wrong) as reason:
            self.found.append(reason)
            return
        if not isinstance(tests, list):
            return
        new = [test for test in tests if id(test.of) not in self._seen]
        self._seen.update(id(test.of) for test in new)
        if new:
            self.found.append(Suite(new, self._stated(second if is_single else third)))

    # ---- tolerances

    def _stated(self, tolerance: ScriptValue) -> Stated | None:
        """Return the tolerance that a function states; None if it is none of the file, or computes it."""
        function = tolerance.of
        if not isinstance(function, Function):
            return Stated("ULP", 0) if _is_elsewhere(tolerance) and text_of_node(tolerance.node) == _ZERO else None
        scope = Block({}, function.scope)
        for made in self._objects(function.node, scope):
            try:
                return self._read(made, scope)
            except (NotData, Wrong, KeyError):
                continue
        return None

    def _objects(self, function: Node, scope: Block) -> Iterator[Node]:
        """Yield the objects that a function writes, each after the constants that stand before it have their values."""
        for node in walk(function, ("variable_declarator", "object")):
            if node.type == "object":
                yield node
                continue
            name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
            if name is not None and value is not None and name.type == "identifier":
                scope.names[text_of_node(name)] = self._machine.value(value, scope)

    def _read(self, node: Node, scope: Block) -> Stated:
        parts = fields(self._machine.exact(node, scope), "a tolerance")
        metric, value = string(parts["metricType"], "the metric"), parts["value"]
        if value.node.type != "subscript_expression":  # of a table by data type, which is not known here
            return Stated(metric, number_in(value, "a tolerance"))
        table = value.node.child_by_field_name("object")
        if table is None:
            raise NotData(value.node)
        each = fields(self._machine.exact(table, scope), "the tolerances of data types")
        return Stated(metric, {key: number_in(one, "a tolerance") for key, one in each.items()})


def _ignore(*_: Any) -> None:
    """Do nothing for a call that has no test."""


def _is_run(call: Node) -> bool:
    function = call.child_by_field_name("function")
    return function is not None and text_of_node(function) == _RUNS


def _is_elsewhere(value: ScriptValue) -> bool:
    """Whether a value is a name that the file does not declare: one of the utilities."""
    return isinstance(value.of, Unknown) and value.of.reason.node == value.node and value.node.type == "identifier"
