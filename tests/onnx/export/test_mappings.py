"""Descs to ONNX graphs, all of them: valid for every data type and every shipped case, and what the pages print."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from onnx_models import CASES, EVALUATORS, INF, A, B, answers, check, desc_of, evaluate, is_before, of, simple
from shipped import cases_of

from dmlcheck import load_cases, validation
from dmlcheck.cases.prepare import prepare
from dmlcheck.cases.records import Case
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.onnx.export.mappings import build, mappings
from dmlcheck.onnx.export.records import Inexpressible
from dmlcheck.onnx.proto import model_proto
from dmlcheck.specs.load import full_name, load_spec
from dmlcheck.specs.names import NEWEST_LEVEL
from dmlcheck.specs.records import INPUT, OUTPUT

# Fields of operators that cannot do without them.
FIELDS = {
    "ACTIVATION_CELU": {"Alpha": 2.0},
    "ACTIVATION_ELU": {"Alpha": 2.0},
    "ACTIVATION_HARDMAX1": {"Axes": [0, 1]},
    "ACTIVATION_HARD_SIGMOID": {"Alpha": 0.25, "Beta": 0.5},
    "ACTIVATION_HARD_SWISH": {"Alpha": 1 / 6, "Beta": 0.5},
    "ACTIVATION_LEAKY_RELU": {"Alpha": 0.5},
    "ACTIVATION_LINEAR": {"Alpha": 2.0, "Beta": 1.0},
    "ACTIVATION_LOG_SOFTMAX1": {"Axes": [0, 1]},
    "ACTIVATION_PARAMETRIC_SOFTPLUS": {"Alpha": 2.0, "Beta": 0.5},
    "ACTIVATION_SCALED_ELU": {"Alpha": 1.5, "Gamma": 2.0},
    "ACTIVATION_SCALED_TANH": {"Alpha": 2.0, "Beta": 0.5},
    "ACTIVATION_SHRINK": {"Bias": 1.0, "Threshold": 1.0},
    "ACTIVATION_SOFTMAX1": {"Axes": [0, 1]},
    "ACTIVATION_SOFTPLUS": {"Steepness": 2.0},
    "ACTIVATION_SWISH": {"SigmoidInputScale": 2.0},
    "ACTIVATION_THRESHOLDED_RELU": {"Alpha": 1.0},
    "ELEMENT_WISE_CLIP": {"Min": 1.0, "Max": 2.0},
    "ELEMENT_WISE_CLIP1": {"MinMaxDataType": "${T}", "Min": 1, "Max": 2},
    "ELEMENT_WISE_CLIP_GRAD": {"Min": 1.0, "Max": 2.0},
    "ELEMENT_WISE_CLIP_GRAD1": {"MinMaxDataType": "${T}", "Min": 1, "Max": 2},
    "ELEMENT_WISE_CONSTANT_POW": {"Exponent": 2.0},
    "ELEMENT_WISE_IS_INFINITY": {"InfinityMode": "EITHER"},
    "ELEMENT_WISE_ROUND": {"RoundingMode": "HALVES_TO_NEAREST_EVEN"},
    "ELEMENT_WISE_THRESHOLD": {"Min": 1.0},
}


ELEMENTWISE = sorted(name for name in mappings() if name.startswith(("ACTIVATION_", "ELEMENT_WISE_")))


def valid_descs(operator: str) -> Iterator[OperatorDesc]:
    """Yield a valid desc for every choice of data types that the newest support table allows."""
    spec = load_spec(full_name(operator))
    row = next(iter(spec.support[0].rows.values()))
    tensors = [field.name for field in spec.fields.values() if field.kind in (INPUT, OUTPUT)]
    for kinds in itertools.product(*(row[name].types for name in tensors)):
        if len(kinds) > 2 and len(set(kinds)) > 2:
            continue
        sizes = {name: [1, 1] if "QUANTIZED" in operator and name[1:] != "Tensor" else [2, 3] for name in tensors}
        desc = {name: {"DataType": kind, "Sizes": sizes[name]} for name, kind in zip(tensors, kinds, strict=True)}
        if "OutputTensor" in desc and "QUANTIZED" in operator:
            desc["OutputTensor"]["Sizes"] = [2, 3]
        fields = {key: kinds[0] if raw == "${T}" else raw for key, raw in FIELDS.get(operator, {}).items()}
        made, findings = validation.validate(operator, desc | fields, NEWEST_LEVEL)
        if not findings:
            yield made


@pytest.mark.slow
@pytest.mark.parametrize("operator", ELEMENTWISE)
def test_a_model_of_every_data_type_passes_the_full_check_or_is_inexpressible(operator: str) -> None:
    reasons, checked = set(), 0
    for desc in valid_descs(operator):
        try:
            model = model_proto(build(desc))
        except Inexpressible as reason:
            reasons.add(str(reason))
            continue
        check(model)
        checked += 1
        assert [value.name for value in model.graph.input] == [part.label for part in desc.tensors(INPUT)]
        assert [value.name for value in model.graph.output] == [part.label for part in desc.tensors(OUTPUT)]
    assert checked, reasons


def test_graphs_of_the_simplest_operators_are_one_node_without_constants() -> None:
    for operator, own in (("ELEMENT_WISE_ADD", "Add"), ("ACTIVATION_RELU", "Relu"), ("ELEMENT_WISE_TANH", "Tanh")):
        graph = build(next(valid_descs(operator)))
        assert [node.type for node in graph.nodes] == [own]
        assert not graph.constants


def test_an_operator_without_a_counterpart_is_named() -> None:
    inputs = {A: of("FLOAT32", 1, 2), B: of("FLOAT32", 1, 2)}
    with pytest.raises(Inexpressible, match="ONNX has no operator for DML_OPERATOR_ELEMENT_WISE_ATAN_YX"):
        build(simple("ELEMENT_WISE_ATAN_YX", inputs))


@pytest.mark.parametrize(("kind", "opset"), [("FLOAT32", 17), ("FLOAT16", 20)])
def test_a_model_asks_for_no_newer_opset_than_it_uses(kind: str, opset: int) -> None:
    x = of(kind, 1, INF)
    desc = simple("ELEMENT_WISE_IS_INFINITY", {"InputTensor": x}, ("UINT8",), InfinityMode="EITHER")
    assert build(desc).opset == opset
    assert evaluate(desc, {"InputTensor": x})["OutputTensor"].tolist() == [[0, 1]]


@pytest.mark.parametrize(
    ("operator", "fields", "reason"),
    [
        (
            "RESAMPLE",
            {"InterpolationMode": "LINEAR", "Scales": [1, 1e38]},
            "Resize would give more elements on the way",
        ),
        ("PADDING", {"PaddingMode": "SYMMETRIC", "StartPadding": [0, 2**23]}, "would hold 8,388,610 indices"),
    ],
)
def test_a_model_that_would_be_out_of_all_proportion_is_inexpressible(
    operator: str, fields: dict[str, Any], reason: str
) -> None:
    sizes = [1, 2]
    if operator == "PADDING":
        fields = {**fields, "EndPadding": [0, 0], "PaddingValue": 0}
        sizes = [1, 2 + 2**23]
    tensors = {
        "InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 2]},
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": sizes},
    }
    with pytest.raises(Inexpressible, match=reason):
        build(desc_of(operator, tensors | fields))


def test_operators_of_onnxruntime_bring_their_domain() -> None:
    (desc, *_) = (d for d in valid_descs("ELEMENT_WISE_QUANTIZED_LINEAR_ADD") if _is_of_one_type(d))
    model = model_proto(build(desc))
    assert [entry.domain for entry in model.opset_import] == ["", "com.microsoft"]
    (node,) = (node for node in model.graph.node if node.op_type == "QLinearAdd")
    assert node.domain == "com.microsoft"


def _is_of_one_type(desc: OperatorDesc) -> bool:
    return len({desc.tensor(name).data_type for name in (A, B, "OutputTensor")}) == 1


OTHERS = sorted(name for name in mappings() if not name.startswith(("ACTIVATION_", "ELEMENT_WISE_")))


MATHS = ("AVERAGE_POOLING",)  # operators whose documented values are rounded


# Documented examples that ONNX has no words for.
WITHOUT_WORDS = {
    ("RESAMPLE1", "forward-pass"): "ONNX's Resize has no such InputPixelOffsets",
    ("ROI_ALIGN1", "four-crops"): "no InterpolationMode NEAREST_NEIGHBOR",
}


# Documented examples that onnxruntime gets wrong before a version.
WRONG_BEFORE = {("REVERSE_SUBSEQUENCES", "columns"): "1.28"}


@pytest.mark.slow
@pytest.mark.parametrize("operator", OTHERS)
def test_a_model_of_every_accepted_case_passes_the_full_check_or_is_inexpressible(operator: str) -> None:
    checked, reasons = 0, set()
    for case in cases_of(operator):
        if case.invalid is not None:
            continue
        desc = desc_of(case.operator, case.desc, case.level)
        try:
            model = model_proto(build(desc))
        except Inexpressible as reason:
            reasons.add(str(reason))
            continue
        check(model)
        checked += 1
        labels = [part.label for part in desc.tensors(INPUT)]
        assert {value.name for value in model.graph.input} <= set(labels)
        assert [value.name for value in model.graph.output] == [part.label for part in desc.tensors(OUTPUT)]
    assert checked or operator in NONE_SHIPPED, reasons
    assert not [reason for reason in reasons if re.search(r"\b[a-z]+_\d+\b", reason)]  # a name of the graph's own


# Operators of which no shipped case has a model; a test below has one.
NONE_SHIPPED = {"ROI_ALIGN", "ROI_ALIGN1"}


def documented() -> Iterator[Any]:
    for operator in OTHERS:
        path = CASES / operator.lower() / "documented.yaml"
        if path.exists():
            for case in load_cases(path):
                if case.outputs:
                    yield pytest.param(operator, case, id=f"{operator}-{case.name}")


@pytest.mark.slow
@pytest.mark.parametrize(("operator", "case"), list(documented()))
def test_a_model_gives_what_the_page_prints(operator: str, case: Case) -> None:
    desc = desc_of(case.operator, case.desc)
    reason = WITHOUT_WORDS.get((operator, case.name))
    if reason is not None:
        with pytest.raises(Inexpressible, match=reason):
            build(desc)
        return
    prepared = prepare(case)
    assert not prepared.findings
    wrong_before = WRONG_BEFORE.get((operator, case.name))
    by = ("onnx",) if wrong_before is not None and is_before(wrong_before) else EVALUATORS
    for answer in answers(desc, prepared.inputs, by):
        for label, (_, wanted) in prepared.expected.items():
            near = 1e-6 if operator.startswith(MATHS) else 0
            assert answer[label].dtype == wanted.dtype
            np.testing.assert_allclose(answer[label], wanted, rtol=near, atol=0)


def test_the_documented_examples_of_these_operators_are_checked() -> None:
    found = {parameter.values[0] for parameter in documented()}
    assert len(found) > 30
    assert {"GATHER_ND1", "ONE_HOT", "PADDING1", "SLICE1", "TOP_K1", "UNFOLD"} <= found
