"""How large models become when their functions are inlined: never smaller than onnx makes them."""

from __future__ import annotations

from graphlib import CycleError
from types import SimpleNamespace
from typing import Any

import pytest
from whole_models import model, node

from dmlcheck.onnx.model.file import inlined_size

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


def test_functions_that_call_each_other_in_a_circle_have_no_size() -> None:
    """Stand-ins for functions, which onnx never sees."""
    calls = {name: SimpleNamespace(domain="own", op_type=name, overload="", attribute=[]) for name in "FG"}
    functions = [
        SimpleNamespace(domain="own", name=name, overload="", node=[calls[other]])
        for name, other in (("F", "G"), ("G", "F"))
    ]
    with pytest.raises(CycleError):
        inlined_size(SimpleNamespace(functions=functions))
