"""Operators of other libraries, and the addresses that describe them."""

from __future__ import annotations

import re

import pytest

from dmlcheck.specs.about import load_about
from dmlcheck.specs.counterparts import LibraryCounterpart, counterparts
from dmlcheck.specs.load import load_spec, operator_names

ALL = [each for name in operator_names() for each in counterparts(load_spec(name), load_about(name))]


@pytest.mark.parametrize(
    ("library", "name", "source"),
    [
        ("ONNX", "Conv", "https://onnx.ai/onnx/operators/onnx__Conv.html"),
        (
            "ONNX",
            "com.microsoft.FastGelu",
            "https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.FastGelu",
        ),
        ("ONNX", "ImageScaler", "https://github.com/onnx/onnx/blob/v1.3.0/docs/Operators.md#ImageScaler"),
        ("WebNN", "averagePool2d", "https://www.w3.org/TR/webnn/#dom-mlgraphbuilder-averagepool2d"),
        ("PyTorch", "torch.nn.ELU", "https://docs.pytorch.org/docs/stable/generated/torch.nn.ELU.html"),
        (
            "PyTorch",
            "torchvision.ops.roi_align",
            "https://docs.pytorch.org/vision/stable/generated/torchvision.ops.roi_align.html",
        ),
        ("TensorFlow", "tf.nn.elu", "https://www.tensorflow.org/api_docs/python/tf/nn/elu"),
    ],
)
def test_a_name_has_the_address_of_its_page(library: str, name: str, source: str) -> None:
    assert LibraryCounterpart(library, name, source) in ALL


def test_the_names_are_spelt_as_their_libraries_spell_them() -> None:
    spelt = {
        "ONNX": r"(com\.microsoft\.)?[A-Z]\w+",
        "WebNN": r"[a-z]\w+",
        "PyTorch": r"torch(vision)?(\.\w+)+",
        "TensorFlow": r"tf(\.\w+)+",
    }
    assert [each for each in ALL if not re.fullmatch(spelt[each.library], each.name)] == []


def test_the_names_of_onnx_that_have_a_page_there_are_operators_of_onnx() -> None:
    onnx = pytest.importorskip("onnx")
    pages = {each.name for each in ALL if each.source.startswith("https://onnx.ai/")}
    schemas = {schema.name for schema in onnx.defs.get_all_schemas_with_history()}
    assert pages - schemas == set()


def test_the_names_of_pytorch_exist() -> None:
    torch = pytest.importorskip("torch")
    missing = []
    for each in ALL:
        if each.name.startswith("torch."):
            found = torch
            for part in each.name.split(".")[1:]:
                found = getattr(found, part, None)
            if found is None:
                missing.append(each.name)
    assert missing == []
