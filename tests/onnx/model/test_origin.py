"""Where a node comes from, as exporters leave it in the node."""

from __future__ import annotations

from typing import Any

import pytest
from whole_models import node

from dmlcheck.onnx.metadata import NodeOrigin, origin_of

TRACE = """\
  File "train.py", line 3, in forward
    y = self.net(x)
  File "site-packages/own/layers.py", line 120, in forward
    return self.proj(x) * self.scale
  File "site-packages/torch/nn/modules/linear.py", line 134, in forward
    return F.linear(input, self.weight, self.bias)
"""
OLD = """\
/opt/python/site-packages/torch/nn/modules/conv.py(458): _conv_forward
/home/me/net.py(23): forward
/home/me/train.py(9): <module>
"""


def noted(name: str = "n", doc: str = "", **notes: str) -> Any:
    made = node("Relu", "x", "y", name)
    made.doc_string = doc
    for key, value in notes.items():
        made.metadata_props.add(key=key.replace("__", "."), value=value)
    return made


def test_the_line_is_the_innermost_that_is_not_the_exporters() -> None:
    line = "site-packages/own/layers.py:120 in forward: return self.proj(x) * self.scale"
    assert origin_of(noted(pkg__torch__onnx__stack_trace=TRACE)) == NodeOrigin("", line)
    assert origin_of(noted(doc=OLD)).line == "/home/me/net.py:23 in forward"


def test_of_lines_of_the_exporter_alone_the_innermost_is_taken() -> None:
    only = 'File "torch/a.py", line 1, in f\n  g()\nFile "torch/b.py", line 2, in g\n  h()\n'
    assert origin_of(noted(doc=only)).line == "torch/b.py:2 in g: h()"


@pytest.mark.parametrize(
    ("notes", "module"),
    [
        ({"pkg__torch__onnx__name_scopes": "['', 'm', 'm.h.0', 'm.h.0.mlp', 'addmm_3']"}, "m.h.0.mlp"),
        ({"namespace": ": W/m: own.Model/m.h.0: own.Block/addmm_3: aten.addmm.default"}, "m.h.0"),
        ({"pkg__torch__onnx__name_scopes": "[[[["}, ""),
        ({"pkg__torch__onnx__name_scopes": "7"}, ""),
        ({}, ""),
    ],
)
def test_the_module_is_in_the_scopes_or_the_namespace(notes: dict[str, str], module: str) -> None:
    assert origin_of(noted(**notes)).module == module


def test_the_module_may_be_in_the_name() -> None:
    assert origin_of(noted("/model/layers.0/mlp/MatMul_1")).module == "model.layers.0.mlp"
    assert origin_of(noted("MatMul_1")).module == ""


def test_long_lines_are_cut() -> None:
    assert len(origin_of(noted(doc=f'File "a.py", line 1, in f\n  {"x" * 1000}\n')).line) <= 200


def test_texts_that_are_not_utf_8_are_read_as_far_as_they_are() -> None:
    from onnx import NodeProto

    data = noted(doc='File "a.py", line 1, in f', namespace=": W/m: own.Model/n: x").SerializeToString()
    broken = NodeProto.FromString(data.replace(b"a.py", b"\xff.py").replace(b"own.", b"o\xffn."))
    assert origin_of(broken) == NodeOrigin("m", "\ufffd.py:1 in f")
