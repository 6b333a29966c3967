"""How large models become when their functions are inlined: never smaller than onnx makes them."""

from __future__ import annotations

from graphlib import CycleError
from types import SimpleNamespace
from typing import Any

import pytest
from whole_models import model, node

from dmlcheck.onnx.model.file import all_nodes, graphs_of, inlined_size

helper = pytest.importorskip("onnx.helper")
OPSETS = [helper.make_opsetid("own", 1), helper.make_opsetid("", 17)]


def function(name: str, *nodes: Any, attributes: tuple[str, ...] = ()) -> Any:
    return helper.make_function("own", name, ["a"], ["b"], list(nodes), OPSETS, attributes=list(attributes))


def call(name: str, inputs: str = "x", outputs: str = "y", **attributes: Any) -> Any:
    return node(name, inputs, outputs, domain="own", **attributes)


def of(*functions: Any, nodes: list[Any]) -> Any:
    return model(nodes, {"x": [4]}, {"y": [4]}, functions=functions)


def inlined(made: Any) -> Any:
    from onnx import inliner

    return inliner.inline_local_functions(made)


def referring(name: str) -> Any:
    made = node("Mine", "a", "m", domain="other")
    made.attribute.add(name="text", ref_attr_name=name, type=3)
    return made


def test_nodes_are_counted_as_often_as_they_come() -> None:
    twice = function("Twice", node("Relu", "a", "m"), node("Neg", "m", "b"))
    four = function("Four", call("Twice", "a", "m"), call("Twice", "m", "b"))
    made = of(twice, four, nodes=[call("Four", "x", "m"), call("Four", "m", "n"), node("Abs", "n", "y")])
    assert inlined_size(made).nodes == 9 == len(inlined(made).graph.node)
    assert inlined_size(made).depth == 2


def test_nodes_of_branches_are_counted() -> None:
    branch = helper.make_graph([call("F", "a", "z")], "branch", [], [])
    chosen = node("If", "a", "b", then_branch=branch, else_branch=branch)
    made = of(function("F", node("Relu", "a", "b")), function("G", chosen), nodes=[call("G")])
    assert inlined_size(made).nodes == 3
    assert [graph.name for graph in graphs_of(made.functions[1])] == ["G", "branch", "branch"]
    assert [each.op_type for each in all_nodes(made.functions[1])] == ["If", "F", "F"]


@pytest.mark.parametrize(
    "made",
    [
        # A long name goes to wherever the function has a short one.
        of(function("F", *(node("Relu", "a", f"b{i}") for i in range(50))), nodes=[call("F", "n" * 1000)]),
        of(function("F", *(node("Relu", "a", "b") for _ in range(50))), nodes=[call("F", "x", "n" * 1000)]),
        # So does an attribute, also through another function, and one that is a default.
        of(
            function("F", *(referring("s") for _ in range(50)), attributes=("s",)),
            nodes=[call("F", s="s" * 1000)],
        ),
        of(
            function("F", *(referring("s") for _ in range(50)), attributes=("s",)),
            function("G", *(call("F", "a", f"b{i}", s="s" * (i * 100)) for i in range(5))),
            nodes=[call("G")],
        ),
        # What a function has of its own comes with each call.
        of(function("F", node("Mine", "a", "b", domain="other", s="s" * 1000)), nodes=[call("F") for _ in range(50)]),
    ],
)
def test_there_are_no_more_bytes_than_that(made: Any) -> None:
    size = inlined(made).graph.ByteSize()
    assert size > 20_000
    assert size < inlined_size(made).bytes < 4 * size


def test_an_attribute_that_is_passed_on_counts_where_it_ends() -> None:
    outer = call("F", "a", "b")
    outer.attribute.add(name="s", ref_attr_name="t", type=3)
    inner = function("F", *(referring("s") for _ in range(50)), attributes=("s",))
    made = of(inner, function("G", outer, attributes=("t",)), nodes=[call("G", t="t" * 1000)])
    assert inlined_size(made).bytes > 50_000


def test_functions_that_call_each_other_in_a_circle_have_no_size() -> None:
    """Stand-ins for functions, which onnx never sees."""
    calls = {name: SimpleNamespace(domain="own", op_type=name, overload="", attribute=[]) for name in "FG"}
    functions = [
        SimpleNamespace(domain="own", name=name, overload="", node=[calls[other]])
        for name, other in (("F", "G"), ("G", "F"))
    ]
    with pytest.raises(CycleError):
        inlined_size(SimpleNamespace(functions=functions))
