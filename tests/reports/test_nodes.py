"""What reports say of the nodes of a model."""

from __future__ import annotations

from results import case, failed

from dmlcheck.reports.nodes import NodesOverview, node_facts
from dmlcheck.running.results import CaseResult, ModelOutput, NodeOfCase, NotFinite

NODE = NodeOfCase("c1", "Conv-11", ("DML_OPERATOR_CONVOLUTION",), "onnx", "1_0", "net.c1", "net.py:7 in forward: c(x)")


FIRST = "DML_FEATURE_LEVEL_1_0 (DirectML 1.0.0)"


def passed(node: NodeOfCase) -> CaseResult:
    return CaseResult(case(node.name), "passed", node=node)


def said(*results: CaseResult) -> list[str]:
    overview = NodesOverview()
    for result in results:
        overview.add(result)
    return list(overview.lines())


def test_a_node_that_failed_is_told_with_its_operators_its_level_and_where_it_is_from() -> None:
    assert dict(node_facts(NODE)) == {
        "node": f"c1 (Conv-11) -> CONVOLUTION, valid from {FIRST}; judged by ONNX's meaning",
        "module": "net.c1",
        "program": "net.py:7 in forward: c(x)",
    }
    assert list(node_facts(NodeOfCase("c1", "Conv-11"))) == [("node", "c1 (Conv-11)")]


def test_several_operators_and_the_provider_are_named() -> None:
    ((_, line),) = node_facts(NodeOfCase("m", "Max-13", ("DML_OPERATOR_ELEMENT_WISE_MAX",) * 2, "provider"))
    assert line == (
        "m (Max-13) -> ELEMENT_WISE_MAX + ELEMENT_WISE_MAX; judged by the descs of ONNX Runtime's DirectML provider"
    )


def test_the_first_that_failed_is_named() -> None:
    first = failed("a")._replace(node=NODE)
    second = failed("b")._replace(node=NODE._replace(name="c2", line=""))
    assert said(first, second) == [
        "2 nodes: 2 judged, 0 not judged",
        f"the first node that fails: {first.case.id} (Conv-11), from net.py:7 in forward: c(x)",
    ]
    assert said(second)[-1] == f"the first node that fails: {second.case.id} (Conv-11), from net.c1"


def test_nodes_are_counted_by_what_judged_them() -> None:
    other = NODE._replace(meaning="provider")
    skipped = CaseResult(case("s"), "skipped", "not-mapped: so", node=NodeOfCase("s", "Shape-13"))
    assert said(passed(NODE), passed(other), skipped) == [
        "3 nodes: 2 judged, 1 not judged",
        "1 node judged by the descs of ONNX Runtime's DirectML provider, the others by ONNX's meaning",
    ]
    assert said(CaseResult(case("no-node"), "passed")) == []


def test_outputs_are_counted_by_why_they_are_not_judged() -> None:
    outputs = [
        CaseResult(case(name), outcome, reason, output=ModelOutput(name, 0.0, 0.0))
        for name, outcome, reason in (
            ("a", "passed", None),
            ("b", "skipped", "missing-tensor: the implementation gave nothing for it"),
            ("c", "skipped", "nothing to compare: it has no elements"),
            ("d", "skipped", "the carried tolerance becomes infinite"),
            ("e", "skipped", "the carried tolerance is too wide to be of use"),
        )
    ]
    assert said(passed(NODE), *outputs)[1] == (
        "of the model's 5 outputs, 1 is right, computed end to end; 1 that the implementation did not give;"
        " 1 without elements; 2 without a usable tolerance"
    )


def test_what_makes_nan_is_named_the_first_apart() -> None:
    nodes = [NODE._replace(name=f"n{index}", not_finite=(NotFinite("t", index, 2),)) for index in range(12)]
    lines = said(*map(passed, nodes))[1:]
    assert lines[0] == "the first node that makes NaN or infinities of finite inputs: n0 (Conv-11): 2 infinite in t"
    assert lines[1] == "so does: n1 (Conv-11): 1 NaN and 2 infinite in t"
    assert lines[-1] == "and 2 more tensors with NaN or infinities"


def test_tensors_close_to_overflow_are_listed_the_largest_first() -> None:
    found = said(
        passed(NODE._replace(largest={"a": 20000.0})), passed(NODE._replace(name="c2", largest={"b": 60000.0}))
    )
    assert found[1:] == [
        "2 FLOAT16 tensors close to overflow, which is at 65,504:",
        "  60000 in b of c2 (Conv-11)",
        "  20000 in a of c1 (Conv-11)",
    ]
