"""Graphs as ONNX's own models."""

from __future__ import annotations

import pytest

from dmlcheck.onnx.export.builder import Builder
from dmlcheck.onnx.export.mappings import build
from dmlcheck.onnx.export.records import ExportedGraph, ExportedNode, GraphValue, Inexpressible, Initializer
from dmlcheck.onnx.proto import model_proto

onnx = pytest.importorskip("onnx", reason="the extra `onnxruntime` is not installed: no package onnx")

from onnx import helper, numpy_helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402
from onnx_models import check, desc_of, identity  # noqa: E402


def test_a_wrong_shape_or_type_of_a_value_does_not_pass_the_check() -> None:
    for sizes, kind in (((3, 2), "FLOAT32"), ((2, 3), "INT32")):
        g = Builder(identity())
        made = g.node("Neg", [g.input("InputTensor")], sizes, kind)
        g.output("OutputTensor", made)
        with pytest.raises((onnx.checker.ValidationError, onnx.shape_inference.InferenceError, Inexpressible)):
            check(model_proto(g.graph()))


def test_a_type_that_an_operator_lacks_is_inexpressible_when_the_model_is_made() -> None:
    tensors = {
        "InputTensor": {"DataType": "INT16", "Sizes": [2, 2]},
        "OutputTensor": {"DataType": "INT16", "Sizes": [2, 1]},
    }
    graph = build(desc_of("REDUCE", tensors | {"Function": "MAX", "Axes": [1]}))
    with pytest.raises(Inexpressible, match="ONNX's ReduceMax has no INT16 for data"):
        model_proto(graph)


def test_attributes_take_the_type_that_the_operator_gives_them() -> None:
    x = GraphValue("x", "FLOAT32", (2,))
    y = GraphValue("y", "FLOAT16", (2,))
    nodes = (
        ExportedNode("Elu", ("x",), ("e",), {"alpha": 1}),
        ExportedNode("Cast", ("e",), ("y",), {"to": "FLOAT16"}),
    )
    model = model_proto(ExportedGraph("test", 17, nodes, (x,), (y,), (), (GraphValue("e", "FLOAT32", (2,)),)))
    elu, cast = model.graph.node
    assert elu.attribute[0].f == 1.0
    assert elu.attribute[0].type == onnx.AttributeProto.FLOAT
    assert cast.attribute[0].i == onnx.TensorProto.FLOAT16
    check(model)
    fill = Initializer(GraphValue("value", "INT64", (1,)), (7,))
    of_shape = ExportedGraph(
        "test",
        17,
        (ExportedNode("ConstantOfShape", ("s",), ("y",), {"value": fill}),),
        (),
        (GraphValue("y", "INT64", (3,)),),
        (Initializer(GraphValue("s", "INT64", (1,)), (3,)),),
    )
    model = model_proto(of_shape)
    check(model)
    assert ReferenceEvaluator(model).run(None, {})[0].tolist() == [7, 7, 7]


def test_an_opset_that_this_onnx_does_not_have_is_inexpressible() -> None:
    newest = onnx.defs.onnx_opset_version()
    graph = build(identity())._replace(opset=newest + 1)
    with pytest.raises(Inexpressible, match=f"opsets up to {newest}, and opset {newest + 1} is needed"):
        model_proto(graph)


def test_constants_keep_every_bit() -> None:
    elements = (2**64 - 1, 2**53 + 1)
    graph = ExportedGraph("test", 17, (), (), (), (Initializer(GraphValue("c", "UINT64", (2,)), elements),))
    assert numpy_helper.to_array(model_proto(graph).graph.initializer[0]).tolist() == list(elements)


def test_a_model_is_in_the_oldest_file_format_that_has_its_opset() -> None:
    model = model_proto(build(identity()))
    assert model.ir_version == helper.find_min_ir_version_for(model.opset_import)
    assert model.producer_name == "dmlcheck"
