"""What there is to read of operators: the files in specs/about, and what the reader says of broken ones."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from dmlcheck.specs import about
from dmlcheck.specs.about import (
    FAMILIES,
    SYMBOLS,
    LibraryCounterpart,
    counterparts,
    has_about,
    lineage,
    load_about,
    older_operator,
    version,
)
from dmlcheck.specs.load import load_spec, operator_names
from dmlcheck.specs.names import LEVEL_ORDER

WHOLE: dict[str, Any] = {
    "purpose": "Adds.",
    "family": "arithmetic",
    "keywords": ["sum"],
    "equations": ["y = a + b"],
    "example": "values.yaml::one",
}


def test_every_operator_has_a_file_that_is_read() -> None:
    assert [name for name in operator_names() if not has_about(name)] == []
    assert {load_about(name).family for name in operator_names()} == FAMILIES.keys()


def test_every_file_is_of_an_operator() -> None:
    files = {path.stem for path in (Path(about.data_folder("specs")) / "about").iterdir()}
    assert files == {name.removeprefix("DML_OPERATOR_").lower() for name in operator_names()}


def test_the_common_symbols_come_before_those_of_an_operator() -> None:
    read = about._about({**WHOLE, "symbols": ["a", "b"], "where": {"y": "the sum"}})
    assert list(read.where.items()) == [("a", SYMBOLS["a"]), ("b", SYMBOLS["b"]), ("y", "the sum")]


def test_every_common_symbol_is_used() -> None:
    used = {symbol for name in operator_names() for symbol in load_about(name).where}
    assert SYMBOLS.keys() - used == set()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"pourpose": "Adds."}, "unknown key pourpose; write one of changes, "),
        ({"purpose": ""}, "purpose must be a text, and is ''"),
        ({"purpose": 3}, "purpose must be a text, and is 3"),
        ({"family": "sums"}, "unknown family sums; write one of activations, "),
        ({"keywords": "sum"}, "keywords must be a list of texts, and is 'sum'"),
        ({"keywords": []}, "keywords must be a list of texts"),
        ({"names": {"PyTroch": ["torch.add"]}}, "names has PyTroch; write one of PyTorch, TensorFlow"),
        ({"names": {"PyTorch": "torch.add"}}, "PyTorch must be a list of texts"),
        ({"equations": [r"y = \fraction{a}{b}"]}, r"\fraction is not in the subset of LaTeX"),
        ({"equations": ["y = a_{1"]}, "y = a_{1: the braces do not match"),
        ({"equations": ["y = }a{"]}, "y = }a{: the braces do not match"),
        ({"symbols": ["q"]}, "symbols has q; write one of x, y"),
        ({"where": {"q": None}}, "where, q must be a text, and is None"),
        ({"changes": []}, "changes must be a text"),
    ],
)
def test_a_broken_file_is_told_what_is_wrong(change: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        about._about({**WHOLE, **change})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("purpose: Adds.\n", "'family'"),
        ("- purpose\n", "AttributeError"),
        ("purpose: [\n", "broken.yaml: "),
        ("purpose: Adds.\nfamily: sums\n", "unknown family sums"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(
    text: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "about").mkdir()
    (tmp_path / "about" / "broken.yaml").write_text(text)
    monkeypatch.setattr(about, "data_folder", lambda _: str(tmp_path))
    with pytest.raises(ValueError, match=r"broken\.yaml") as told:
        load_about("DML_OPERATOR_BROKEN")
    assert words in str(told.value)


# ---- the versions of an operator


def spec_of(short: str):  # noqa: ANN201 - an OperatorSpec
    return load_spec(f"DML_OPERATOR_{short}")


@pytest.mark.parametrize(
    ("short", "older"),
    [
        ("RESAMPLE", None),
        ("RESAMPLE1", "RESAMPLE"),
        ("RESAMPLE3", "RESAMPLE2"),
        ("ELEMENT_WISE_CLIP1", "ELEMENT_WISE_CLIP"),
        ("ARGMAX", "REDUCE"),
        ("UPSAMPLE_2D", None),
        ("GEMM", None),
    ],
)
def test_the_operator_before_is_the_version_before_or_the_one_superseded(short: str, older: str | None) -> None:
    assert older_operator(spec_of(short)) == (older and f"DML_OPERATOR_{older}")


def test_what_is_superseded_comes_before() -> None:
    for name in operator_names():
        if load_spec(name).supersedes:
            assert older_operator(load_spec(name)) == load_spec(name).supersedes[0]


def test_the_versions_stand_in_the_order_in_which_they_came() -> None:
    versions = lineage(spec_of("RESAMPLE1"))
    assert [each.operator[13:] for each in versions] == ["RESAMPLE", "RESAMPLE1", "RESAMPLE2", "RESAMPLE3"]
    assert [each.added for each in versions] == [
        (),
        ("DimensionCount", "InputPixelOffsets", "OutputPixelOffsets"),
        ("RoundingDirection",),
        ("Antialiased",),
    ]
    assert versions[1].removed == ("ScaleCount",)
    assert versions[0].text == ""
    assert all(each.text for each in versions[1:])
    for name in operator_names():
        levels = [LEVEL_ORDER[each.introduced] for each in lineage(load_spec(name))]
        assert levels == sorted(levels)


def test_an_operator_of_one_version_has_no_lineage() -> None:
    assert lineage(spec_of("GEMM")) == ()
    assert version(spec_of("GEMM")) == ("DML_OPERATOR_GEMM", "1_0", "", (), ())


def test_fields_that_a_version_adds_are_named_in_what_it_changed() -> None:
    untold = {
        (each.operator[13:], name)
        for operator in operator_names()
        for each in [version(load_spec(operator))]
        for name in each.added
        if name not in each.text
    }
    assert {name for _, name in untold} == {"AxisCount", "DimensionCount"}  # which follow from their arrays


# ---- operators of other libraries, and the addresses that describe them


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
